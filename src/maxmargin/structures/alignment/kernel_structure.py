"""Alignments whose matches are scored by a function of two positions.

    <w, psi(x, y)> = scale * (sum over matches f(s_i, t_j) + scores of letters and gaps)

A position is a row of numbers (`inputs.positions`), a match of i with j the two rows
[s_i, t_j] side by side, each two rows once. f = <u, phi([s_i, t_j])> with a map phi of
such rows, or an expansion over points that are pairs of positions,

    f(s, t) = sum_k beta_k K(s, p_k) K(t, q_k)

so that training can choose pairs (p_k, q_k) as it goes. The scores of all cells are a
table, which the loops of `Alignment` read as one more pair of symbols: the number of a
position on the left, and its place in the sequence on the right.

This structure is for training. What it leads to is an `Alignment` with the positions that
occur in some pair: see `unfolded`.

[1] Yu 2011, sections 6.4 to 6.6. [2] Tsochantaridis et al. 2005, Proposition 21.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    Ragged,
    Rows,
    Vectors,
    pointers,
)
from maxmargin.core.data.validation import FeatureMap, require
from maxmargin.core.structure import Answer, Augment, OuterCoordinates
from maxmargin.inference.alignment.best_path import DELETE, INSERT, MATCH
from maxmargin.structures.alignment.inputs.encoding import (
    MatchCells,
    SequencePairs,
    Side,
    distinct_sequences,
)
from maxmargin.structures.alignment.inputs.letters import LetterReader
from maxmargin.structures.alignment.inputs.positions import (
    KERNEL_VIEW,
    TRACK,
    Positions,
)
from maxmargin.structures.alignment.inputs.views import Pair
from maxmargin.structures.alignment.layout import AlignmentLayout, lay_weights
from maxmargin.structures.alignment.oracle import PairScores
from maxmargin.structures.alignment.structure import Alignment


@dataclass(frozen=True, eq=False)
class KernelAlignment(Alignment):
    """Alignments with a map, or a kernel, of the two positions of a match.

    Parameters
    ----------
    rows : Positions
        How positions become rows; without a map of its own.
    phi : map of two rows side by side, optional
        None: the two rows as they are.

    Examples
    --------
    >>> from maxmargin.kernels import Rbf, exact
    >>> from maxmargin.structures.alignment.inputs.positions import learn_positions
    >>> X, Y = [("abb", "ab")], [[(0, 0), (1, -1), (2, 1)]]
    >>> places = learn_positions(X[0])
    >>> structure = KernelAlignment(model=(), rows=places).bind(X, Y)
    >>> matches = structure.input_matrix(structure.encode(X))
    >>> matches.shape  # "a" and "b" on either side
    (4, 4)
    >>> structure.mapped(exact(Rbf(1.0), matches)[0]).dim - structure.layout.dim
    4
    """

    rows: Positions | None = None
    phi: FeatureMap | None = field(default=None, repr=False)

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> KernelAlignment:
        """Learn letters and symbols; the weights of matches come first."""
        bound = super().bind(X, Y)
        assert isinstance(bound, KernelAlignment)
        return replace(bound, dim=bound.dim + bound._width_of_matches)

    def validate(self) -> None:
        """The alignment without the kernel is valid, and the map takes two rows."""
        plain = {f.name: getattr(self, f.name) for f in fields(Alignment)}
        size = 0 if self.layout is None else self.layout.dim
        Alignment(**plain | {"dim": size})._check_parts()
        require(self.rows is not None, "there are no rows of positions")
        wide = 0 if self.layout is None else size + self._width_of_matches
        require(self.dim == wide, f"dim={self.dim} is not {wide}")
        if self.phi is not None:
            fits = self.phi.inputs in (None, 2 * self._rows.width)
            require(fits, "the map takes other rows")

    def _encoded(self, X: Sequence[Any], reader: LetterReader) -> SequencePairs:
        x = super()._encoded(X, reader)
        cells = match_cells(self._rows, X, x)
        if self.phi is not None:
            cells = cells._replace(vectors=self.phi(cells.vectors))
        return x._replace(cells=cells)

    def mapped(self, phi: Any) -> Self:
        """The same alignments over phi of two positions in place of their rows."""
        return replace(self, phi=phi, dim=self._bound_layout.dim + int(phi.width))

    def input_matrix(self, x: SequencePairs) -> Any:
        """Pairs of positions as rows, each once."""
        return _cells(x).vectors

    def with_inputs(self, x: SequencePairs, matrix: Any) -> SequencePairs:
        """The same sequences with other vectors of their pairs of positions."""
        return x._replace(cells=_cells(x)._replace(vectors=matrix))

    def split_weights(self, w: Floats) -> tuple[Floats, Floats]:
        """Weights of pairs of positions (features, 1), and those of letters and gaps."""
        inputs, rest = np.split(w, [self._width_of_matches])
        return inputs.reshape(-1, 1), rest

    def join_weights(self, inputs: Floats, rest: Floats) -> Floats:
        """Undo `split_weights`."""
        return np.concatenate((inputs.ravel(), rest))

    def feature_names(self) -> Sequence[str] | None:
        """Those of the alignment, and the features of two positions."""
        names = super().feature_names()
        if names is None:
            return None
        return [*(f"{TRACK} {k}" for k in range(self._width_of_matches)), *names]

    def outer_coordinates(self, x: SequencePairs) -> OuterCoordinates | None:
        """Pairs of positions, then the weights of letters and gaps.

        Any example may have any of the pairs, so that they count as those of each.
        """
        vectors = _cells(x).vectors
        rows = vectors.shape[0]
        if rows + self.dim >= 2**31:
            return None
        own = Vectors.of(vectors, sp.issparse(vectors))
        return OuterCoordinates(own, 1, np.array([0, rows], np.int64))

    def outer_cuts(
        self, x: SequencePairs, ids: Ints, w: Floats, augment: Augment
    ) -> Answer:
        """As `cuts`, in the coordinates of `outer_coordinates`."""
        found = self.argmax(x, ids, w, augment)
        truth = augment.truth.take(ids)
        dpsi = self._counts(x, ids, truth, found.labels)
        delta = augment.loss.value(truth, found.labels)
        own = self.features(x, ids, truth).dot(w)
        return Answer(found.labels, dpsi, delta, found.score - own)

    def outer_features(self, x: SequencePairs, ids: Ints, labels: Ragged) -> Rows:
        """As `features`, in the coordinates of `outer_coordinates`."""
        nothing = Ragged(np.zeros(labels.n + 1, np.int64), np.empty(0, np.int32))
        return self._counts(x, ids, labels, nothing)

    def unfolded(
        self, phi: FeatureMap, weights: Floats, rest: Floats
    ) -> tuple[Alignment, Floats]:
        """The alignment whose matches score phi(s)' W phi(t), and its weights.

        Parameters
        ----------
        phi : map of one position
        weights : array (phi.width, phi.width)
            W; symmetric where the alignment is.
        rest : array
            Weights of letters and gaps.
        """
        pair, size = Pair(KERNEL_VIEW, KERNEL_VIEW), int(phi.width)
        symbols = replace(self.symbols, widths={**self.symbols.widths, TRACK: size})
        plain = {f.name: getattr(self, f.name) for f in fields(Alignment)}
        made = Alignment(**plain | {
            "model": (*(self.model or ()), pair), "pairs": (*self.pairs, pair),
            "positions": replace(self._rows, phi=phi), "symbols": symbols,
        })  # fmt: skip
        layout = lay_weights(
            symbols, made.pairs, made.gaps, made._views(0), made._views(1),
            bool(made.symmetric), KERNEL_VIEW,
        )  # fmt: skip
        own = weights.ravel()
        if self.symmetric:
            twice = np.where(np.eye(size, dtype=bool), 1.0, np.sqrt(2.0))
            own = (twice * weights)[np.triu_indices(size)]
        ahead = self._weights_of_letters()
        w = np.concatenate((rest[:ahead], own, rest[ahead:]))
        return replace(made, layout=layout, dim=layout.dim), w

    def _weights_of_letters(self) -> int:
        """Number of weights of matches of letters; those of gaps come behind them."""
        size = self.symbols.size
        entries = sum(size(pair.left) * size(pair.right) for pair in self.pairs)
        home = self._bound_layout.home
        return len(np.unique(home[:entries])) if len(home) else entries

    @property
    def _bound_layout(self) -> AlignmentLayout:
        assert self.layout is not None
        return self.layout

    @property
    def _rows(self) -> Positions:
        assert self.rows is not None
        return self.rows

    @property
    def _width_of_matches(self) -> int:
        return 2 * self._rows.width if self.phi is None else int(self.phi.width)

    def _scores(self, x: SequencePairs, ids: Ints, w: Floats) -> PairScores:
        weights, rest = self.split_weights(w)
        found = super()._scores(x, ids, rest)
        cells, (rows, cols) = _cells(x), x.sizes
        asked = Ragged(cells.ptr, cells.row).take(ids).data
        scores = _row_scores(cells.vectors, asked, weights)
        widest = int(cols[ids].max(initial=1))
        inside = np.arange(widest) < np.repeat(cols[ids], rows[ids])[:, None]
        table = np.zeros(inside.shape)
        table[inside] = scores[asked]
        return _with_table(found, table)

    def _difference(
        self, x: SequencePairs, ids: Ints, plus: Ragged, minus: Ragged
    ) -> Rows:
        counts, plain = self._parts(x, ids, plus, minus)
        own = sp.csr_array(counts @ _cells(x).vectors)
        return Rows.from_csr(sp.hstack([own, plain], format="csr"))

    def _counts(self, x: SequencePairs, ids: Ints, plus: Ragged, minus: Ragged) -> Rows:
        """As `_difference`, in the coordinates of `outer_coordinates`."""
        return Rows.from_csr(sp.hstack(self._parts(x, ids, plus, minus), format="csr"))

    def _parts(
        self, x: SequencePairs, ids: Ints, plus: Ragged, minus: Ragged
    ) -> tuple[Any, Any]:
        """How often each pair of positions is matched, and features of letters and gaps."""
        plain = super()._difference(x, ids, plus, minus)
        cells, scale = _cells(x), self._scale(x, ids)
        columns = x.sizes[1][ids]
        counts = sp.csr_array((len(ids), cells.vectors.shape[0]))
        for paths, sign in ((plus, 1.0), (minus, -1.0)):
            owner, inside = matched_cells(paths, columns)
            row = cells.row[cells.ptr[ids[owner]] + inside]
            value = sign * scale[owner]
            counts = counts + sp.csr_array((value, (owner, row)), counts.shape)
        counts.eliminate_zeros()
        return counts, plain.csr(self._bound_layout.dim)


def match_cells(places: Positions, X: Sequence[Any], x: SequencePairs) -> MatchCells:
    """The two positions of every cell of every pair of sequences."""
    (left, left_names), (right, right_names), _ = distinct_sequences(X)
    sides = [(left, left_names, x.s), (right, right_names, x.t)]
    rows = [
        [places.rows(s, name) for s, name in zip(sequences, names, strict=True)]
        for sequences, names, _ in sides
    ]
    both = np.concatenate([*rows[0], *rows[1]])
    distinct, number = np.unique(both, axis=0, return_inverse=True)
    number = number.ravel()
    first = int(x.s.ptr[-1])
    parts = [np.empty(0, np.int64)]
    for a, b in zip(x.left, x.right, strict=True):
        i = number[x.s.ptr[a] : x.s.ptr[a + 1]]
        j = number[first + x.t.ptr[b] : first + x.t.ptr[b + 1]]
        parts.append(np.add.outer(i * len(distinct), j).ravel())
    keys, row = np.unique(np.concatenate(parts), return_inverse=True)
    i, j = np.divmod(keys, max(len(distinct), 1))
    vectors = np.hstack([distinct[i], distinct[j]])
    m, n = x.sizes
    return MatchCells(pointers(m * n), row.ravel().astype(np.int32), vectors)


def matched_cells(paths: Ragged, columns: Ints) -> tuple[Ints, Ints]:
    """Path and cell (row by row, `columns` of each path) of every match.

    Examples
    --------
    >>> path = Ragged.pack([[0, 1, MATCH, DELETE, MATCH]])
    >>> owner, cell = matched_cells(path, np.array([4]))
    >>> cell.tolist()  # (0, 1) and (2, 2)
    [1, 10]
    """
    there = np.flatnonzero(paths.sizes)
    sizes, begin = paths.sizes[there], paths.ptr[there]
    owner = np.repeat(np.arange(len(there)), sizes)
    moves = paths.take(there).data
    first = pointers(sizes)[:-1]
    moving = np.ones(len(moves), bool)
    moving[first], moving[first + 1] = False, False

    def at(start: Ints, steps: Ints) -> Ints:
        before = np.cumsum(steps) - steps
        return start[owner] + before - before[first][owner]

    i = at(paths.data[begin].astype(np.int64), moving & (moves != INSERT))
    j = at(paths.data[begin + 1].astype(np.int64), moving & (moves != DELETE))
    match = moving & (moves == MATCH)
    owner = there[owner[match]]
    return owner, i[match] * columns[owner] + j[match]


def _cells(x: SequencePairs) -> MatchCells:
    assert x.cells is not None
    return x.cells


def _row_scores(vectors: Any, asked: Labels, weights: Floats) -> Floats:
    """Scores of the rows asked for; others are zero where all would be more work."""
    if vectors.shape[0] <= len(asked):
        return np.asarray(vectors @ weights).ravel()
    rows, out = np.unique(asked), np.zeros(vectors.shape[0])
    out[rows] = np.asarray(vectors[rows] @ weights).ravel()
    return out


def _with_table(found: PairScores, table: Floats) -> PairScores:
    """Scores with a row of the table added to each position on the left.

    Each pair of sequences gets a left sequence of its own.
    """
    s, t = found.sides
    own = _repeated(s, found.left)
    place = np.arange(int(t.ptr[-1])) - np.repeat(t.ptr[:-1], np.diff(t.ptr))
    numbers = np.arange(len(table), dtype=np.int32), place.astype(np.int32)
    sides = [
        side._replace(codes=np.concatenate([side.codes, number[None]]))
        for side, number in zip((own, t), numbers, strict=True)
    ]
    layout, full = found.layout, found.full
    block = [len(t.codes), len(s.codes), len(full), *table.shape, 0, 0, 1, 1]
    blocks = np.concatenate([layout.blocks, np.array([block])])
    return PairScores(
        np.arange(len(found.left)), found.right, (sides[0], sides[1]),
        layout._replace(blocks=blocks), np.concatenate([full, table.ravel()]),
    )  # fmt: skip


def _repeated(side: Side, which: Ints) -> Side:
    """The sequences `which`, one after the other; a slot is behind each position."""
    positions = _numbers(side.ptr).take(which)
    slots = _numbers(side.ptr + np.arange(len(side.ptr))).take(which)
    return side._replace(
        ptr=positions.ptr, codes=side.codes[:, positions.data],
        slots=np.ascontiguousarray(side.slots[:, slots.data]), real=side.real[positions.data],
    )  # fmt: skip


def _numbers(ptr: Ints) -> Ragged:
    """The number of each entry."""
    return Ragged(ptr, np.arange(int(ptr[-1]), dtype=np.int32))
