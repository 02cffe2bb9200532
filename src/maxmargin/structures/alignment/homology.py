"""Homology detection: which of several candidates, and how it aligns.

x is a native sequence with candidates z_0 .. z_k; y is (candidate c, alignment a), and

    psi(x, y) = psi of `Alignment` for the pair (native, z_c) and a,

so the best output is the best aligned candidate, by exhaustive search. For a candidate
whose alignment is known (the true homolog of a training example), that alignment is the
only one: the constraints are those of [1], every decoy under all its alignments against
the homolog under its own, with the zero-one loss.

With `hidden=True` alignments are hidden parts, as at prediction: every decoy under all
its alignments against the homolog under the best of its own. A structural alignment of
distant relatives scores less than the best local alignment of some decoy, whatever the
weights are, so that with [1] nothing can be learned from it.

[1] Tsochantaridis et al. 2005, section 4.4.1, equations 15 and 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows, pointers
from maxmargin.core.data.foreign.data_frames import rows_of_frame
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.loss import LossForm
from maxmargin.core.structure import (
    NOT_COMPLETED,
    Augment,
    Found,
    Latent,
    P,
    Pieces,
    Structure,
)
from maxmargin.inference.alignment.best_path import DELETE, INSERT
from maxmargin.structures.alignment.inputs.encoding import SequencePairs
from maxmargin.structures.alignment.inputs.views import Prior
from maxmargin.structures.alignment.structure import Alignment


class Search(NamedTuple):
    """Encoded examples: pairs ptr[i]:ptr[i + 1] are the candidates of example i."""

    ptr: Ints  # (n + 1,)
    pairs: SequencePairs  # (native, candidate), all of them
    known: Ragged  # (pairs) the path of each pair whose alignment is given, else empty

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.ptr) - 1


@dataclass(frozen=True)
class Homology(Structure):
    """Candidates and their alignments.

    Inputs are (native, candidates) or (native, candidates, {candidate: alignment});
    outputs are (candidate, columns), or just the candidate where nothing is matched.

    Parameters
    ----------
    alignment : Alignment
        How a candidate is aligned with the native sequence; local by default.
    hidden : bool
        Whether alignments are hidden parts; outputs may then be just candidates.
    """

    alignment: Alignment = Alignment(mode="local")
    dim: int = 0
    hidden: bool = False
    losses: ClassVar[tuple[LossForm, ...]] = ("zero-one",)

    def validate(self) -> None:
        """The alignment is valid and has these weights."""
        check_types(self)
        require(
            self.dim == self.alignment.dim, f"dim={self.dim} is not the alignment's"
        )
        self.alignment.validate()

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Homology:
        """Bind the alignment to all pairs of natives and candidates."""
        bound = self.alignment.bind(_pairs(X)[1], [])
        return replace(self, alignment=bound, dim=bound.dim)

    def encode(self, X: Sequence[Any]) -> Search:
        """Check that every example has candidates; encode all pairs."""
        sizes, pairs, known = _pairs(X)
        if self.hidden:
            known = [None] * len(known)
        inputs = self.alignment.encode(pairs)
        given = [k for k, written in enumerate(known) if written is not None]
        rows = self.alignment.encode_labels(
            _some(inputs, np.array(given, np.int64)), [known[k] for k in given]
        )
        room = np.zeros(len(pairs), np.int64)
        room[given] = rows.sizes
        return Search(pointers(sizes), inputs, Ragged(pointers(room), rows.data))

    def encode_labels(self, x: Search, Y: Sequence[Any]) -> Ragged:
        """(candidate, alignment), or a candidate whose alignment the input gives."""
        rows = []
        for q, written in enumerate(Y):
            size = int(x.ptr[q + 1] - x.ptr[q])
            alone, c = is_number(written), candidate_number(q, written, size)
            if self.hidden:
                rows.append(
                    [c, *self._written_path(x, q, c, None if alone else written[1])]
                )
                continue
            path = x.known.row(int(x.ptr[q]) + c)
            if len(path) == 0:
                raise ValueError(
                    f"example {q}: the alignment of candidate {c} must be part of the "
                    "input, (native, candidates, {candidate: alignment})"
                )
            if not alone:
                one = _some(x.pairs, x.ptr[q : q + 1] + c)
                other = self.alignment.encode_labels(one, [written[1]]).row(0)
                if other.tolist() != path.tolist():
                    raise ValueError(
                        f"example {q}: the alignment of candidate {c} differs from the "
                        "one in the input"
                    )
            rows.append([c, *path])
        return Ragged.pack(rows)

    def _written_path(self, x: Search, q: int, c: int, written: Any) -> Labels:
        """The path of an alignment; the empty one where none is given."""
        if written is None:
            return np.zeros(2, np.int32)
        one = _some(x.pairs, x.ptr[q : q + 1] + c)
        return self.alignment.encode_labels(one, [written]).row(0)

    def start_weights(self) -> Floats | None:
        """Those of the known scores of a `Prior` alone, if the model has one."""
        offset = 0
        out: Floats | None = None
        for pair in self.alignment.pairs:
            if isinstance(pair.table, Prior):
                assert self.alignment.layout is not None
                out = np.zeros(self.dim) if out is None else out
                out[self.alignment.layout.home[offset]] = 1.0
            size = self.alignment.symbols.size
            offset += size(pair.left) * size(pair.right)
        return out

    def offers(self, capability: type[P]) -> P | None:
        """Completion where alignments are hidden."""
        if capability is Latent and not self.hidden:
            return None
        return super().offers(capability)

    def complete(self, x: Search, ids: Ints, w: Floats, truth: Ragged) -> Ragged:
        """The true candidates under their best alignments."""
        chosen = truth.data[truth.ptr[ids]]
        paths = self.alignment.argmax(x.pairs, x.ptr[ids] + chosen, w).labels
        return Ragged.pack([[c, *paths.row(k)] for k, c in enumerate(chosen)])

    def check_completed(self, x: Search, truth: Ragged, completed: Ragged) -> None:
        """Candidates are unchanged, and paths lie within the two sequences."""
        require(truth.n == completed.n and (completed.sizes >= 3).all(), NOT_COMPLETED)
        chosen = truth.data[truth.ptr[:-1]]
        same = np.array_equal(chosen, completed.data[completed.ptr[:-1]])
        require(same, NOT_COMPLETED)
        rows, cols = x.pairs.sizes
        for q in range(completed.n):
            pair, path = int(x.ptr[q] + chosen[q]), completed.row(q)[1:]
            steps = path[2:]
            known = bool(((steps >= 0) & (steps <= 2)).all() and (path[:2] >= 0).all())
            ends = (
                path[0] + int((steps != INSERT).sum()) <= rows[pair],
                path[1] + int((steps != DELETE).sum()) <= cols[pair],
            )
            require(known and all(ends), NOT_COMPLETED)

    def decode_labels(self, x: Search, labels: Ragged) -> list[Any]:
        """(candidate, columns)."""
        out = []
        for q in range(labels.n):
            row = labels.row(q)
            one = _some(x.pairs, x.ptr[q : q + 1] + row[0])
            columns = self.alignment.decode_labels(one, Ragged.pack([row[1:]]))[0]
            out.append((int(row[0]), columns))
        return out

    def features(self, x: Search, ids: Ints, labels: Ragged) -> Rows:
        """Those of the chosen candidate's alignment."""
        which = x.ptr[ids] + labels.data[labels.ptr[:-1]]
        return self.alignment.features(x.pairs, which, _paths(labels))

    def argmax(
        self, x: Search, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Best candidate of each example, with the loss added where asked."""
        ptr, which = _candidates(x, ids)
        sizes = np.diff(ptr)
        score = self._best_scores(x, which, w)
        if augment is not None:
            true = augment.truth.data[augment.truth.ptr[ids]]
            wrong = np.arange(ptr[-1]) != np.repeat(ptr[:-1] + true, sizes)
            score = score + np.repeat(augment.weight[ids], sizes) * wrong
        best = np.array(
            [a + np.argmax(score[a:b]) for a, b in pairwise(ptr.tolist())], np.int64
        )
        paths = self._best_paths(x, which[best], w)
        rows = [[b - a, *paths.row(q)] for q, (a, b) in enumerate(zip(ptr, best))]
        return Found(Ragged.pack(rows), score[best], score[best])

    def scores(self, x: Search, ids: Ints, w: Floats) -> Floats:
        """Score of every candidate of the examples, one example after the other."""
        return self._best_scores(x, _candidates(x, ids)[1], w)

    def work(self, x: Search) -> Floats:
        """Cost of all candidates together."""
        return np.add.reduceat(self.alignment.work(x.pairs), x.ptr[:-1])

    def explain_pieces(self, x: Search, i: int, row: Labels) -> Pieces:
        """The columns of the chosen candidate's alignment."""
        return self.alignment.explain_pieces(
            x.pairs, int(x.ptr[i]) + int(row[0]), row[1:]
        )

    def feature_names(self) -> Sequence[str] | None:
        """Those of the alignment."""
        return self.alignment.feature_names()

    def _best_scores(self, x: Search, which: Ints, w: Floats) -> Floats:
        """Scores of known paths where given, of best ones elsewhere."""
        given = x.known.sizes[which] > 0
        fixed = x.known.take(which[given])
        score = np.empty(len(which))
        score[~given] = self.alignment.scores(x.pairs, which[~given], w)
        score[given] = self.alignment.features(x.pairs, which[given], fixed).dot(w)
        return score

    def _best_paths(self, x: Search, which: Ints, w: Floats) -> Ragged:
        """Known paths where given, best ones elsewhere."""
        given = x.known.sizes[which] > 0
        free = self.alignment.argmax(x.pairs, which[~given], w).labels
        order = np.empty(len(which), np.int64)
        order[~given] = np.arange(free.n)
        order[given] = free.n + np.arange(given.sum())
        return Ragged.concat([free, x.known.take(which[given])]).take(order)


def is_number(written: Any) -> bool:
    """Whether an output is the number of a candidate, without an alignment."""
    whole = isinstance(written, int | np.integer)
    return whole and not isinstance(written, bool | np.bool_)


def candidate_number(q: int, written: Any, size: int) -> int:
    """The candidate of output q, which is a number or (number, alignment).

    Examples
    --------
    >>> candidate_number(0, 2, 5), candidate_number(0, (1, None), 5)
    (2, 1)
    >>> candidate_number(3, True, 5)
    Traceback (most recent call last):
    ValueError: example 3: the output must be a candidate or (candidate, alignment), ...
    """
    pair = isinstance(written, tuple | list) and len(written) == 2
    c = written[0] if pair else written
    if not is_number(c):
        raise ValueError(
            f"example {q}: the output must be a candidate or (candidate, alignment), "
            f"with the number of the candidate, and not {written!r:.40}"
        )
    if not 0 <= c < size:
        raise ValueError(
            f"example {q}: candidate {c} is not one of {size}, which count from 0"
        )
    return int(c)


def _candidates(x: Search, ids: Ints) -> tuple[Ints, Ints]:
    """Pointers to the candidates of the examples, and the numbers of their pairs."""
    sizes = np.diff(x.ptr)[ids]
    ptr = pointers(sizes)
    return ptr, np.arange(ptr[-1]) + np.repeat(x.ptr[ids] - ptr[:-1], sizes)


def _pairs(X: Sequence[Any]) -> tuple[list[int], list[Any], list[Any]]:
    """Candidates per example, all pairs, and the alignments that are given."""
    sizes, pairs, known = [], [], []
    for q, example in enumerate(
        rows_of_frame(X, [2, 3], "a sequence and its candidates")
    ):
        if not isinstance(example, tuple | list) or len(example) not in (2, 3):
            raise ValueError(
                f"example {q}: (native, candidates) expected, perhaps with a mapping "
                f"{{candidate: alignment}}, not {example!r:.40}"
            )
        native, candidates = example[0], example[1]
        given = example[2] if len(example) == 3 else {}
        if len(candidates) == 0:
            raise ValueError(f"example {q}: there are no candidates")
        for c in given:
            if not 0 <= c < len(candidates):
                raise ValueError(
                    f"example {q}: alignment of candidate {c}, but there are "
                    f"{len(candidates)}"
                )
        sizes.append(len(candidates))
        pairs += [(native, candidate) for candidate in candidates]
        known += [given.get(c) for c in range(len(candidates))]
    return sizes, pairs, known


def _some(pairs: SequencePairs, which: Ints) -> SequencePairs:
    return pairs._replace(left=pairs.left[which], right=pairs.right[which])


def _paths(labels: Ragged) -> Ragged:
    """Rows without their first entry."""
    keep = np.ones(len(labels.data), bool)
    keep[labels.ptr[:-1]] = False
    return Ragged(labels.ptr - np.arange(labels.n + 1), labels.data[keep])
