"""Pairwise alignment of annotated sequences.

x is a pair of sequences s, t; y is an alignment: a set of matches (i, j), increasing in
both, and the gaps between them. With phi from a model of views (`inputs/views.py`),

    <w, psi(x, y)> = scale * (sum over matches <w, phi(i, j)> + sum over gaps <w, gap>)

scale = 1, or 1 / (|s| + |t|). The scores of all pairs of positions are filled into a
table; the best path through it is the best alignment (`inference.alignment`: global,
semi-global, local; linear or affine gaps; banded). Losses of the form "aligned-pairs" (Q, Q4)
are subtracted from the cells they concern; "zero-one" needs the best other path; slack
rescaling is exact by layers of correct matches.

[1] Tsochantaridis et al. 2005, section 4.4. [2] Yu 2011, chapter 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isqrt
from typing import Any, ClassVar

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows, pointers
from maxmargin.core.data.foreign.data_frames import rows_of_frame
from maxmargin.core.data.validation import Validated, check_types, require, same_fields
from maxmargin.core.loss import LossForm
from maxmargin.core.structure import Answer, Augment, Found, Layers, Pieces, Structure
from maxmargin.inference.alignment.best_other import other_paths
from maxmargin.inference.alignment.best_path import (
    DELETE,
    INSERT,
    MODES,
    AlignmentTables,
    band,
)
from maxmargin.inference.alignment.layers import paths_by_count
from maxmargin.inference.alignment.path_hypergraph import (
    path_of_cells,
    table_hypergraph,
)
from maxmargin.inference.hypergraph import k_best, sum_product
from maxmargin.losses.pairs import AlignedPairs
from maxmargin.structures.alignment.features import (
    collapse,
    correct_cells,
    fill_tables,
    path_features,
    runs_of_cells,
)
from maxmargin.structures.alignment.inputs.encoding import (
    SequencePairs,
    Symbols,
    distinct_sequences,
    encode_side,
    is_real,
    lay_out,
    learn_letters,
    learn_symbols,
    own_names,
    shown_letters,
    tracks_of,
)
from maxmargin.structures.alignment.inputs.letters import (
    LetterReader,
    check_rule,
    named_alphabets,
)
from maxmargin.structures.alignment.inputs.positions import (
    KERNEL_VIEW,
    TRACK,
    Positions,
)
from maxmargin.structures.alignment.inputs.views import Gaps, Pair, Prior, View, simple
from maxmargin.structures.alignment.layout import (
    EXTEND,
    OPEN,
    SLOT,
    WIDE,
    AlignmentLayout,
    count_entries,
    lay_weights,
    weight_names,
)
from maxmargin.structures.alignment.oracle import (
    WHOLE,
    PairScores,
    PathRules,
    Penalty,
    best_alignments,
)
from maxmargin.structures.alignment.paths import (
    check_columns,
    columns_of,
    decode_paths,
    encode_path,
    outside_band,
)

GAPS = INSERT, DELETE  # the move that leaves out a sequence
CELLS = 2**19  # of tables filled at a time: fewer would cost more in calls


@dataclass(frozen=True)
class Alignment(Structure):
    """Alignments of pairs of annotated sequences.

    Parameters
    ----------
    mode : {"global", "semiglobal", "local"}, default="global"
    model : tuple of Pair, optional
        Features of a match, see `inputs/views.py`; default: every track of letters
        against every track of letters.
    gaps : Gaps, default=Gaps()
        Features of gaps, and whether they are affine.
    symmetric : bool, default=False
        Weights that do not change when the two sequences change places.
    normalize : bool, default=False
        Divide features by |s| + |t|.
    band : int, optional
        Only cells this far from the diagonal, for long sequences.
    alphabets : mapping from track to letters, or {"protein", "dna", "rna"}, optional
        Default: the letters that occur, see `letters.py`.
    unknown : {"warn", "ignore", "error"} or mapping, default="error"
        What to do with other letters, see `letters.py`.
    """

    mode: str = "global"
    model: tuple[Pair, ...] | None = None
    gaps: Gaps = Gaps()
    symmetric: bool = False
    normalize: bool = False
    band: int | None = None
    alphabets: Mapping[str, Sequence[Any]] | str | None = None
    unknown: str | Mapping[str, str] = "error"
    positions: Positions | None = None  # adds a track of kernel features
    dim: int = 0
    pairs: tuple[Pair, ...] = ()
    symbols: Symbols = field(default_factory=Symbols, repr=False)
    layout: AlignmentLayout | None = field(default=None, repr=False)
    losses: ClassVar[tuple[LossForm, ...]] = ("zero-one", "aligned-pairs")

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Alignment:
        """Learn letters and symbols, and lay out the weights."""
        if self.mode not in MODES:
            names = ", ".join(map(repr, MODES))
            raise ValueError(f"mode={self.mode!r} is not one of {names}")
        if self.band is not None and self.band < 0:
            raise ValueError(f"band={self.band} must not be negative")
        if self.gaps.ends and self.mode != "global":
            raise ValueError(
                f"mode={self.mode!r} has no gaps at the ends that cost anything: costs of "
                "end gaps are there with mode='global'"
            )
        check_rule(self.unknown)
        reader, X = self._learn_letters(X)
        (left, left_names), (right, right_names), _ = distinct_sequences(X)
        letters, widths = learn_letters(
            [*left, *right], [*left_names, *right_names], reader.letters
        )
        reader.letters = letters
        pairs = self.model
        if pairs is None:
            first = tracks_of(left[0], left_names[0])
            pairs = simple([k for k, v in first.items() if not is_real(v)])
        bound = replace(self, pairs=pairs)
        parts = []
        for seqs, names, views in (
            (left, left_names, bound._views(0)), (right, right_names, bound._views(1)),
        ):  # fmt: skip
            needed = [(v, False) for v in views] + [(v, True) for v in self.gaps.around]
            everything = [*views, *self.gaps.around]
            at = lay_out(seqs, names, everything, reader, widths)
            parts.append((at, needed))
        symbols = learn_symbols(parts, letters, widths, self.unknown != "error")
        layout = lay_weights(
            symbols, pairs, self.gaps, bound._views(0), bound._views(1), self.symmetric,
            None if self.positions is None else KERNEL_VIEW,
        )  # fmt: skip
        return replace(bound, symbols=symbols, layout=layout, dim=layout.dim)

    def _learn_letters(self, X: Sequence[Any]) -> tuple[LetterReader, Sequence[Any]]:
        """A reader for the letters of the data, and the data as it reads them."""
        (left, left_names), (right, right_names), _ = distinct_sequences(X)
        letters, _ = learn_letters(
            [*left, *right], [*left_names, *right_names],
            named_alphabets(self.alphabets), self.unknown == "error",
        )  # fmt: skip
        reader = LetterReader(letters, self.unknown)
        X = reader.pairs(X)
        return reader, X if self.positions is None else self.positions(X)

    def validate(self) -> None:
        """The layout is that of the views and symbols."""
        require(self.layout is None or self.pairs, "there are no pairs of views")
        self._check_parts()

    def _check_parts(self) -> None:
        """As `validate`; matches may be scored by something else than views."""
        check_types(self)
        check_rule(self.unknown)
        require(self.mode in MODES, f"mode={self.mode!r} is not known")
        require(self.band is None or 0 <= self.band <= 2**40, "band is out of range")
        parts: list[Validated] = [self.gaps, self.symbols, *self.pairs]
        parts += [*(self.model or ()), *([self.positions] if self.positions else [])]
        for part in parts:
            part.validate()
        if self.positions is not None:
            require(self.positions.phi is not None, "positions have no map")
        if self.layout is None:
            require(self.dim == 0, "there is no layout of the weights")
            return
        self._check_views()
        entries = count_entries(self.symbols, self.pairs, self.gaps)
        known = len(self.layout.home) or self.dim
        require(entries == known, f"{entries} weights are needed, not {known}")
        laid = (
            self.symbols, self.pairs, self.gaps, self._views(0), self._views(1),
            bool(self.symmetric),
        )  # fmt: skip
        layout = lay_weights(*laid, None if self.positions is None else KERNEL_VIEW)
        if (self.layout.factor == 1.0).all():  # files of 0.1: tied weights count once
            layout = lay_weights(*laid)
        same_fields(self.layout, layout, "layout of the weights")
        require(self.dim == layout.dim, f"dim={self.dim} is not {layout.dim}")

    def _check_views(self) -> None:
        """Refuse views whose symbols are not known."""
        for view in {*self._views(0), *self._views(1)}:
            known = (
                view.tracks[0] in self.symbols.widths
                if view.real
                else (view, False) in self.symbols.keys
            )
            require(known, f"view {view.name!r} has no symbols")
        for view in self.gaps.around:
            known = (view, True) in self.symbols.keys
            require(known, f"view {view.name!r} has no symbols of slots")
        if self.positions is not None and self.positions.phi is not None:
            width = self.symbols.widths.get(TRACK, self.positions.phi.width)
            require(width == self.positions.phi.width, "the kernel has another width")

    def _views(self, side: int) -> list[View]:
        """Distinct views of one side, in the order they are coded."""
        views = [p.left if side == 0 else p.right for p in self.pairs]
        views += [*self.gaps.opening, *self.gaps.extension]
        if any(isinstance(p.table, Prior) for p in self.pairs):
            views.append(View())
        return list(dict.fromkeys(views))

    def encode(self, X: Sequence[Any]) -> SequencePairs:
        """Pairs (s, t) of sequences, each a string or a mapping of tracks."""
        rule = self.unknown if self.symbols.unknown else "error"
        reader = LetterReader(self.symbols.letters, rule)
        X = reader.pairs(rows_of_frame(X, [2], "the sequences of each pair"))
        x = self._encoded(X if self.positions is None else self.positions(X), reader)
        reader.warn()
        return x

    def _encoded(self, X: Sequence[Any], reader: LetterReader) -> SequencePairs:
        """Pairs as the reader has read them."""
        (left, left_names), (right, right_names), (a, b) = distinct_sequences(X)
        sides = []
        for seqs, names, views in (
            (left, left_names, self._views(0)), (right, right_names, self._views(1)),
        ):  # fmt: skip
            everything = [*views, *self.gaps.around]
            at = lay_out(seqs, names, everything, reader, self.symbols.widths)
            side = encode_side(at, self.symbols, views, self.gaps.around)
            sides.append(side._replace(names=own_names(seqs)))
        return SequencePairs(a, b, sides[0], sides[1])

    def encode_labels(self, x: SequencePairs, Y: Sequence[Any]) -> Ragged:
        """Alignments as columns (k, 2), -1 for a gap, or as two strings with gaps."""
        rows, cols = x.sizes
        mode, out = MODES[self.mode], []
        for q, written in enumerate(rows_of_frame(Y, [1, 2], "alignments", "y")):
            where, m, n = x.name(q), int(rows[q]), int(cols[q])
            columns = columns_of(written, where)
            check_columns(columns, (m, n), self.mode == "global", where)
            if not (columns >= 0).all(axis=1).any():
                raise ValueError(f"{where}: the alignment matches no positions")
            path = encode_path(columns, m, n, mode)
            lo, hi, _ = band(rows[q : q + 1], cols[q : q + 1], self._width)
            if outside_band(path, lo, hi) >= 0:
                raise ValueError(
                    f"{where}: the alignment leaves the band of width {self.band}"
                )
            out.append(path)
        return Ragged.pack(out)

    def decode_labels(self, x: SequencePairs, labels: Ragged) -> list[Any]:
        """Columns (k, 2) of positions, -1 for a gap."""
        rows, cols = (sizes[: labels.n] for sizes in x.sizes)
        return list(decode_paths(labels, rows, cols, MODES[self.mode]))

    def features(self, x: SequencePairs, ids: Ints, labels: Ragged) -> Rows:
        """psi(x_i, y) of each row."""
        nothing = Ragged(np.zeros(labels.n + 1, np.int64), np.empty(0, np.int32))
        return self._difference(x, ids, labels, nothing)

    def argmax(
        self, x: SequencePairs, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Best alignment of each pair in `ids`, with the loss added where asked."""
        if augment is not None and augment.loss.form == "zero-one":
            return self._argmax_zero_one(x, ids, w, augment)
        gain, scale = np.zeros(len(ids)), self._scale(x, ids)
        penalty = Penalty(Ragged.pack([]), 0, gain)
        if augment is not None:
            truth, loss = augment.truth.take(ids), augment.loss
            assert isinstance(loss, AlignedPairs)
            gain = augment.weight[ids]
            penalty = Penalty(truth, loss.shift, gain / (loss.matches(truth) * scale))
        scores = self._scores(x, ids, w)
        labels, value = best_alignments(*scores, self._rules(), penalty)
        score = value * scale + gain
        return Found(labels, score, score)

    def scores(self, x: SequencePairs, ids: Ints, w: Floats) -> Floats:
        """Score of the best alignment of each pair: as `argmax`, without the paths."""
        nothing = Penalty(Ragged.pack([]), 0, np.zeros(len(ids)))
        rules = self._rules()._replace(traced=False)
        _, value = best_alignments(*self._scores(x, ids, w), rules, nothing)
        return value * self._scale(x, ids)

    def _rules(self) -> PathRules:
        affine = bool(self.gaps.affine)
        even = self.gaps == Gaps(affine=self.gaps.affine, tied=self.gaps.tied)
        return PathRules(self._width, MODES[self.mode], affine, even)

    def cuts(self, x: SequencePairs, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """As the default, with both alignments counted in one walk."""
        found = self.argmax(x, ids, w, augment)
        truth = augment.truth.take(ids)
        dpsi = self._difference(x, ids, truth, found.labels)
        delta = augment.loss.value(truth, found.labels)
        height = augment.weight[ids] * delta - dpsi.dot(w)
        return Answer(found.labels, dpsi, delta, height)

    def argmax_by_loss(
        self, x: SequencePairs, ids: Ints, w: Floats, augment: Augment
    ) -> Layers:
        """Best alignment for each number of correct matches."""
        if augment.loss.form == "zero-one":
            return self._layers_zero_one(x, ids, w, augment)
        loss = augment.loss
        assert isinstance(loss, AlignedPairs)
        sizes, found, scores, losses = [], [], [], []
        for some, tables in self._tables(x, ids, w, cells=1):
            truth = augment.truth.take(some)
            total = loss.matches(truth)
            counts = correct_cells(tables, truth, loss.shift)
            one = self._one_state(tables)
            layers = paths_by_count(one, counts, total + 1, MODES[self.mode])
            size = np.diff(layers.ptr)
            sizes.append(size)
            found.append(layers.paths)
            scores.append(layers.score * np.repeat(self._scale(x, some), size))
            losses.append(1.0 - layers.hits / np.repeat(total, size))
        return Layers(
            pointers(_flat(sizes)), Ragged.concat(found), _flat(scores), _flat(losses)
        )

    def nbest(
        self, x: SequencePairs, ids: Ints, w: Floats, k: int,
        augment: Augment | None = None,
    ) -> Layers:  # fmt: skip
        """The k best alignments of each pair, best first."""
        if augment is not None and augment.loss.form == "zero-one":
            raise ValueError("the k best alignments know losses of aligned pairs only")
        sizes, rows, scores = [], [], []
        for some, tables in self._one_by_one(x, ids, w, augment):
            graph, score = table_hypergraph(tables, MODES[self.mode])
            found, value = k_best(graph, score, k)
            rows += [path_of_cells(found.row(r), tables) for r in range(found.n)]
            sizes.append(found.n)
            scores.append(value * self._scale(x, some))
        labels, value, owner = Ragged.pack(rows), _flat(scores), np.repeat(ids, sizes)
        loss = np.zeros(len(value))
        if augment is not None:
            loss = augment.loss.value(augment.truth.take(owner), labels)
            value = self.features(x, owner, labels).dot(w)
        return Layers(pointers(sizes), labels, value, loss)

    def match_probabilities(
        self, x: SequencePairs, i: int, w: Floats, temperature: float
    ) -> Floats:
        """P(position a is matched with b), (rows, cols), under P(y) ~ exp(score / T).

        Scores are those of whole alignments, not divided by the length.
        """
        ((_, tables),) = self._one_by_one(x, np.array([i]), w, None)
        graph, score = table_hypergraph(tables, MODES[self.mode])
        _, share = sum_product(graph, score / temperature)
        out = np.zeros((int(tables.rows[0]), int(tables.cols[0])))
        for r, (a, b) in enumerate(zip(tables.lo, tables.hi, strict=True)):
            out[r, a:b] = share[tables.start[r] : tables.start[r + 1]]
        return out

    def _one_by_one(
        self, x: SequencePairs, ids: Ints, w: Floats, augment: Augment | None
    ) -> Iterator[tuple[Ints, AlignmentTables]]:
        """Filled table of each pair, with the loss added where asked."""
        for some, tables in self._tables(x, ids, w, cells=1):
            if augment is not None:
                loss, truth = augment.loss, augment.truth.take(some)
                assert isinstance(loss, AlignedPairs)
                total = loss.matches(truth) * self._scale(x, some)
                gain = augment.weight[some] / total
                correct = correct_cells(tables, truth, loss.shift)
                tables = tables._replace(match=tables.match - gain * correct)
            yield some, self._one_state(tables)

    def _other(
        self, x: SequencePairs, ids: Ints, w: Floats, augment: Augment
    ) -> tuple[Ragged, Floats, Floats]:
        """Best alignments that are not the truth, their scores, those of the truth."""
        found, scores = [], []
        for some, tables in self._tables(x, ids, w):
            truth = augment.truth.take(some)
            one = self._one_state(tables)
            labels, score = other_paths(one, truth, MODES[self.mode])
            found.append(labels)
            scores.append(score * self._scale(x, some))
        truth_score = self.features(x, ids, augment.truth.take(ids)).dot(w)
        return Ragged.concat(found), _flat(scores), truth_score

    def _argmax_zero_one(
        self, x: SequencePairs, ids: Ints, w: Floats, augment: Augment
    ) -> Found:
        other, score, truth_score = self._other(x, ids, w, augment)
        score = score + augment.weight[ids]
        both = Ragged.concat([augment.truth.take(ids), other])
        best = np.arange(len(ids)) + len(ids) * (score > truth_score)
        score = np.maximum(score, truth_score)
        return Found(both.take(best), score, score)

    def _layers_zero_one(
        self, x: SequencePairs, ids: Ints, w: Floats, augment: Augment
    ) -> Layers:
        other, score, truth_score = self._other(x, ids, w, augment)
        both = Ragged.concat([augment.truth.take(ids), other])
        n, exists = len(ids), score > -np.inf
        rows = np.stack([np.arange(n), n + np.arange(n)], axis=1)
        keep = np.stack([np.ones(n, bool), exists], axis=1)
        return Layers(
            pointers(1 + exists), both.take(rows[keep]),
            np.stack([truth_score, score], axis=1)[keep],
            np.broadcast_to([0.0, 1.0], (n, 2))[keep],
        )  # fmt: skip

    def work(self, x: SequencePairs) -> Floats:
        """Cells times what filling and aligning one costs."""
        rows, cols = x.sizes
        return np.asarray(rows * cols * (8.0 + 2.0 * len(self.pairs)), np.float64)

    def explain_pieces(self, x: SequencePairs, i: int, row: Labels) -> Pieces:
        """One part per column: what each move adds to those before it."""
        ends = range(2, len(row))
        ids = np.full(len(ends), i)
        longer = Ragged.pack([row[: end + 1] for end in ends])
        psi = self._difference(x, ids, longer, Ragged.pack([row[:end] for end in ends]))
        place, names = row[:2].tolist(), []
        letters = [
            shown_letters(self.symbols, self._views(k), side, which[i])
            for k, (side, which) in enumerate([(x.s, x.left), (x.t, x.right)])
        ]
        for move in row[2:].tolist():
            at = [None if move == gap else place[k] for k, gap in enumerate(GAPS)]
            name = "/".join("-" if a is None else str(a) for a in at)
            if letters[0] and letters[1]:
                spelt = zip(letters, at, strict=True)
                name += ": " + "/".join("-" if a is None else s[a] for s, a in spelt)
            names.append(f"column {name}")
            place = [place[0] + (move != INSERT), place[1] + (move != DELETE)]
        return Pieces(names, psi)

    def feature_names(self) -> Sequence[str] | None:
        """Such as "residue=A|residue=C" and "insert open any=*"."""
        if self.layout is None:
            return None
        return weight_names(
            self.symbols, self.pairs, self.gaps, self.layout, self.symmetric
        )

    def substitution(
        self, w: Floats, track: str, unknown: bool = False
    ) -> tuple[tuple[Any, ...], Floats]:
        """Letters of a track, and scores of each pair; with `unknown`, "?" comes last."""
        assert self.layout is not None
        view, full = View((track,)), self.layout.full(w)
        letters = self.symbols.letters.get(track, ())
        k = len(letters) + (unknown and self.symbols.unknown)
        total, offset, found = np.zeros((k, k)), 0, False
        for pair in self.pairs:
            size = self.symbols.size(pair.left) * self.symbols.size(pair.right)
            if pair.left == pair.right == view:
                total += full[offset : offset + size].reshape(isqrt(size), -1)[:k, :k]
                found = True
            offset += size
        if not found:
            raise ValueError(f"the model has no pair of {track!r} with {track!r}")
        return letters, total

    def gap_scores(self, w: Floats) -> dict[str, tuple[float, float]]:
        """(open, extend) of "deletion" and "insertion", where they do not depend on letters.

        With weights for the ends also of "end deletion" and "end insertion".
        """
        gaps = self.gaps
        if gaps != Gaps(affine=gaps.affine, tied=gaps.tied, ends=gaps.ends):
            raise ValueError(
                "gap costs depend on letters here: they are not two numbers, and other "
                "programs cannot use them"
            )
        assert self.layout is not None
        full = self.layout.full(w)

        def score(rows: Ints, first: int, symbol: int) -> tuple[float, float]:
            kinds = (first, first + EXTEND) if gaps.affine else (first, first)
            opening, extension = (
                sum(float(full[row[3] + symbol]) for row in rows if row[0] == kind)
                for kind in kinds
            )
            return opening, extension

        sides = {"deletion": self.layout.left_gaps, "insertion": self.layout.right_gaps}
        out = {name: score(rows, OPEN, 0) for name, rows in sides.items()}
        if gaps.ends:
            # A deletion falls into a slot of the right sequence, and the other way round.
            slots = reversed(sides.values())
            for (name, plain), rows in zip(list(out.items()), slots, strict=True):
                more = score(rows, SLOT, 1)
                out[f"end {name}"] = (plain[0] + more[0], plain[1] + more[1])
        return out

    @property
    def _width(self) -> int:
        return WHOLE if self.band is None else self.band

    def _scale(self, x: SequencePairs, ids: Ints) -> Floats:
        if not self.normalize:
            return np.ones(len(ids))
        rows, cols = x.sizes
        total: Floats = (rows[ids] + cols[ids]).astype(np.float64)
        return np.reciprocal(total)

    def _tables(
        self, x: SequencePairs, ids: Ints, w: Floats, cells: int = CELLS
    ) -> Iterator[tuple[Ints, AlignmentTables]]:
        """Filled tables of all ids, some at a time."""
        rows, cols = x.sizes
        left, right, sides, layout, full = self._scores(x, ids, w)
        begin = 0
        for end in runs_of_cells(self._area(x, ids), cells):
            part = slice(begin, end)
            some = ids[part]
            lo, hi, start = band(rows[some], cols[some], self._width)
            where = left[part], right[part], lo, hi, start
            yield some, fill_tables(*where, sides, layout, full)
            begin = end

    def _area(self, x: SequencePairs, ids: Ints) -> Ints:
        rows, cols = x.sizes
        area: Ints = rows[ids] * np.minimum(cols[ids], 2 * self._width + 2)
        return area

    def _scores(self, x: SequencePairs, ids: Ints, w: Floats) -> PairScores:
        """Sequences, layout and weights; of many cells, with joint letters tabulated."""
        assert self.layout is not None
        sides, layout, full = (x.s, x.t), self.layout, self.layout.full(w)
        grid = len(x.s.first) * len(x.t.first)
        local = (layout.blocks[:, WIDE] == 0).sum()
        if local > 1 and self._area(x, ids).sum() > grid:
            sides, layout, full = collapse(sides, layout, full)
        return PairScores(x.left[ids], x.right[ids], sides, layout, full)

    def _one_state(self, tables: AlignmentTables) -> AlignmentTables:
        """Tables whose gaps extend at their opening scores, unless affine."""
        if self.gaps.affine:
            return tables
        first = [0, 0, 2, 2]
        row_gap, col_gap = tables.row_gap[first], tables.col_gap[first]
        return tables._replace(row_gap=row_gap, col_gap=col_gap)

    def _difference(
        self, x: SequencePairs, ids: Ints, plus: Ragged, minus: Ragged
    ) -> Rows:
        assert self.layout is not None
        return path_features(
            x.left[ids], x.right[ids], (x.s, x.t), self.layout, self.gaps.affine,
            plus, minus, self._scale(x, ids),
        )  # fmt: skip


def _flat(parts: Sequence[Any]) -> Any:
    return np.concatenate(parts) if parts else np.empty(0)
