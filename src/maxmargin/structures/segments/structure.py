"""Segmentations: labelled spans that do not overlap, scored as wholes (semi-Markov).

y cuts L tokens into segments (a, b, k) of at most W tokens with a label k, and tokens
outside, and

    psi(x, y) = [ sum_t x_t (x) e(role and label of t),  sum_t x_t (x) e(label of t),
                  sum over segments g(x, a, b) (x) e(k),  counts of label pairs of
                  neighbours,  first and last label ].

The best y is found by the semi-Markov form of Viterbi's algorithm. Losses: "table" adds
to tokens, "spans" to segments; "zero-one" is the best output other than the truth.

[1] Sarawagi and Cohen 2004, Semi-Markov conditional random fields.
[2] Tsochantaridis et al. 2005, section 4.3, for chains.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows, Vectors
from maxmargin.core.data.tokens.label_schemes import SCHEMES
from maxmargin.core.data.tokens.sequences import in_order
from maxmargin.core.data.validation import (
    check_distinct,
    check_types,
    require,
    same_fields,
)
from maxmargin.core.loss import Loss
from maxmargin.core.structure import (
    Answer,
    Augment,
    Found,
    Layers,
    OuterCoordinates,
    Pieces,
    Structure,
)
from maxmargin.features.encoding.fitted import FittedTemplates
from maxmargin.features.tables import Gazetteer
from maxmargin.features.templates import Templates
from maxmargin.inference.chain import segment_variants as variants
from maxmargin.inference.chain.variants import check_layers, have_unit, whole_costs
from maxmargin.losses.spans import SpanLoss, span_counts
from maxmargin.structures.chain.layout import some_rows, unit_vectors
from maxmargin.structures.chain.tokens.named_tokens import (
    NamedTokens,
    PairColumns,
    named_vectors,
    vocabulary,
)
from maxmargin.structures.chain.tokens.token_rows import is_sparse, vectors_of, windowed
from maxmargin.structures.segments.constraints import (
    check_neighbours,
    check_possible,
    check_settings,
    legal_pairs,
)
from maxmargin.structures.segments.evidence import (
    SEEN,
    check_evidence,
    cross_fitted,
    evidence_of,
    n_seen,
    seen_names,
    with_evidence,
)
from maxmargin.structures.segments.inputs import (
    SegmentInputs,
    Sentences,
    read_sentences,
    selected,
)
from maxmargin.structures.segments.layout import (
    ROLES,
    SegmentLayout,
    differences,
    layout_of,
    widened,
)
from maxmargin.structures.segments.oracle import best_rows, cost_tables, join, tables
from maxmargin.structures.segments.spans import (
    Span,
    codes_of,
    given_spans,
    spans_of,
    split_long,
    written,
)
from maxmargin.structures.segments.vocabulary import FAMILIES, SegmentVocabulary
from maxmargin.structures.segments.weight_names import SegmentNames, segment_parts

_NO_CODES, _NO_COST, _NOTHING = np.empty(0, np.int32), np.empty((0, 0)), np.empty(0)
NOT_BOUND = SegmentLayout(*[0] * 15)
OUTSIDE = "O"


@dataclass(frozen=True)
class Segments(Structure):
    """Labelled spans that do not overlap (see the module docstring).

    Parameters
    ----------
    max_length : int, default=6
        Tokens of the longest segment.
    roles : {"bioes", "bio", None}, default="bioes"
        What is told apart of the tokens of a segment: first, inner, last and single
        ones; first and later ones; nothing.
    shared : bool, default=True
        Whether features of tokens also have weights by label, whatever the role.
    segment_features : tuple of str
        Features of whole segments, see `structures.segments.vocabulary`, and "seen",
        see `structures.segments.evidence`.
    gazetteers : tuple of Gazetteer
        Lists of names; a segment that is one of them has a feature.
    templates : Templates, optional
        How tokens get their features; otherwise they come with features.
    words : str, optional
        Where the word of a token is: key of its dict, prefix in its list of features,
        or column of the templates.
    window : int, default=0
        Features of this many tokens before and after are features of a token too.
    forbidden : set of (label, next label), optional
        Neighbours that may not occur; "O" stands for tokens outside.
    start_end : bool, default=True
        Whether first and last labels have weights.
    skip_pairs : bool, default=True
        Whether pairs of labels have weights, too, where tokens outside lie between.
    longer : {"error", "split"}, default="error"
        What to do with true segments of more than `max_length` tokens.
    told_scheme : {"bio", "iob1", "bioes", "bilou"}, optional
        Scheme of label sequences; by default it is recognised.

    Examples
    --------
    >>> X = [["Ana", "Ruiz", "vive"], ["en", "Lima"]]
    >>> segments = Segments(max_length=2).bind(X, [[(0, 2, "PER")], [(1, 2, "LOC")]])
    >>> segments.labels, segments.scheme
    (('O', 'LOC', 'PER'), None)
    """

    max_length: int = 6
    roles: str | None = "bioes"
    shared: bool = True
    segment_features: tuple[str, ...] = FAMILIES
    gazetteers: tuple[Gazetteer, ...] = ()
    templates: Templates | None = None
    words: str | None = None
    window: int = 0
    forbidden: Any = None
    start_end: bool = True
    skip_pairs: bool = True
    longer: str = "error"
    told_scheme: str | None = None
    dim: int = 0
    labels: tuple[Hashable, ...] = ()
    scheme: str | None = None
    names: dict[str, int] | None = field(default=None, repr=False)
    fitted: FittedTemplates | None = field(default=None, repr=False, compare=False)
    vocabulary: SegmentVocabulary | None = field(
        default=None, repr=False, compare=False
    )
    evidence: Ragged | None = field(default=None, repr=False, compare=False)
    seen_from: int = field(default=0, repr=False)  # true segments, for "seen"
    sparse: bool = field(default=True, repr=False)
    columns: int = field(default=0, repr=False)
    legal: Floats = field(
        default_factory=lambda: np.empty(0), repr=False, compare=False
    )
    layout: SegmentLayout = field(default=NOT_BOUND, repr=False)

    losses = ("zero-one", "table", "spans")

    def validate(self) -> None:
        """The layout and the mask are those of the labels, features and settings."""
        check_types(self)
        check_settings(self)
        if not self.labels:
            require(self.layout == NOT_BOUND and self.dim == 0, "there are no labels")
            return
        check_distinct(self.labels, "labels")
        require(self.scheme in (None, *SCHEMES), "the scheme of labels is not known")
        require(self.labels[0] == OUTSIDE, "the first label is not 'O'")
        if self.names is not None:
            numbers = sorted(self.names.values())
            require(numbers == list(range(self.columns)), "features are numbered wrong")
        if self.vocabulary is not None:
            self.vocabulary.validate()
        if self.evidence is not None and self.vocabulary is not None:
            check_evidence(self.evidence, self.vocabulary.n, self.n_pieces)
        if self.fitted is not None:
            self.fitted.validate()
            same = self.columns == self.fitted.n_features and self.window == 0
            require(same, "the templates have other features")
        require((self.templates is None) == (self.fitted is None), "templates are lost")
        layout = self._layout_of(self.labels, self.columns, self.n_pieces)
        same_fields(self.layout, layout, "layout of the weights")
        require(self.dim == layout.dim, f"dim={self.dim} is not {layout.dim}")
        legal = legal_pairs(self.labels, self.forbidden)
        require(np.array_equal(self.legal, legal), "the mask does not fit the labels")

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know labels, features and layout of the data."""
        check_settings(self)
        if len(X) == 0:
            raise ValueError("there are no sequences to learn from")
        given = read_sentences(X, self.templates, self.words)
        spans, scheme = given_spans(Y, given.ptr, self.told_scheme)
        found = {label for row in spans for _, _, label in row}
        if not found:
            raise ValueError("there are no spans in y: nothing can be learned")
        labels = (OUTSIDE, *in_order(found))
        names, sparse, fitted, tokens = None, True, None, given.tokens
        if tokens is None:
            assert self.templates is not None
            fitted = self.templates.fit(X)
            columns = fitted.n_features
        elif tokens.matrix is None:
            names = vocabulary(NamedTokens(tokens.named, tokens.ptr))
            columns = len(names)
        else:
            columns = tokens.matrix.shape[1]
            sparse = is_sparse(tokens.matrix)
        cut = split_long(spans, self.max_length, self.longer)
        known = self._vocabulary(given, cut)
        codes = codes_of(cut, labels, given.ptr)
        evidence, extra = None, 0
        if SEEN in self.segment_features and sum(map(len, cut)) >= self.seen_from:
            pieces = known.encode(given.words, given.ptr, int(self.max_length))
            sizes = len(found), int(self.max_length)
            evidence, extra = (
                evidence_of(known, pieces, codes, *sizes),
                n_seen(len(found)),
            )
        layout = self._layout_of(labels, columns, known.n + extra)
        if layout.dim >= 2**31:
            raise ValueError(f"{layout.dim} weights are too many: use fewer features")
        bound = replace(
            self, dim=layout.dim, labels=labels, scheme=scheme, names=names,
            fitted=fitted, vocabulary=known, sparse=sparse, columns=columns,
            legal=legal_pairs(labels, self.forbidden), layout=layout, evidence=evidence,
        )  # fmt: skip
        check_neighbours(labels, bound.legal, codes)
        return bound

    def _vocabulary(
        self, given: Sentences, spans: list[list[Span]]
    ) -> SegmentVocabulary:
        if self.gazetteers and given.words is None:
            raise ValueError(
                "gazetteers need the words of the tokens: say where they are by words="
            )
        flat = [
            (int(at) + a, int(at) + b)
            for at, row in zip(given.ptr, spans, strict=False)
            for a, b, _ in row
        ]
        families = tuple(f for f in self.segment_features if f != SEEN)
        return SegmentVocabulary.learn(
            families, self.gazetteers, given.words, given.ptr,
            np.array(flat, np.int64).reshape(-1, 2), int(self.max_length),
        )  # fmt: skip

    def _layout_of(
        self, labels: Sequence[Hashable], columns: int, n_pieces: int
    ) -> SegmentLayout:
        return layout_of(
            len(labels), ROLES[self.roles], bool(self.shared), int(self.max_length),
            columns * (2 * int(self.window) + 1), n_pieces,
            bool(self.start_end), bool(self.skip_pairs),
        )  # fmt: skip

    def encode(self, X: Sequence[Any]) -> SegmentInputs:
        """Tokens as rows, in the layout that `bind` chose, and features of segments."""
        given = read_sentences(X, self.templates, self.words)
        assert self.vocabulary is not None
        pieces = self.vocabulary.encode(given.words, given.ptr, int(self.max_length))
        if self.evidence is not None:
            pieces = with_evidence(pieces, self.evidence)
        if self.fitted is not None:
            return SegmentInputs(self.fitted.encode(X).unigrams, pieces, given.ptr)
        return SegmentInputs(self._vectors(given), pieces, given.ptr)

    def cross_fitted(self, x: SegmentInputs, truth: Ragged) -> SegmentInputs:
        """The training data, whose evidence comes from other tenths of them."""
        if self.evidence is None or self.vocabulary is None:
            return x
        sizes = len(self.labels) - 1, int(self.max_length)
        return x._replace(pieces=cross_fitted(self.vocabulary, x.pieces, truth, *sizes))

    def _vectors(self, given: Sentences) -> Vectors:
        tokens = given.tokens
        assert tokens is not None
        matrix = tokens.matrix
        if self.names is not None:
            if matrix is not None and matrix.shape[0] > 0:
                raise ValueError("this model was trained on named features, not arrays")
            named = NamedTokens(tokens.named, tokens.ptr)
            vectors = named_vectors(named, self.names, self._pairs)
            if self.window == 0:
                return vectors
            matrix = vectors.csr()
        elif matrix is None:
            raise ValueError("this model was trained on arrays, not named features")
        elif matrix.shape[0] == 0:
            matrix = np.zeros((0, self.columns))
        if matrix.shape[1] != self.columns:
            raise ValueError(
                f"tokens have {matrix.shape[1]} features, in training {self.columns}"
            )
        return vectors_of(windowed(matrix, given.ptr, self.window), self.sparse)

    @cached_property
    def _pairs(self) -> PairColumns:
        """Columns of named features by key and value, as they are met."""
        return PairColumns()

    def encode_labels(self, x: SegmentInputs, Y: Sequence[Any]) -> Ragged:
        """Spans as codes; refuses unknown labels, long spans and forbidden neighbours."""
        spans = given_spans(Y, x.ptr, self.told_scheme).rows
        rows = self._codes(spans, x.ptr, self.longer)
        check_neighbours(self.labels, self.legal, rows)
        return rows

    def near_labels(self, x: SegmentInputs, Y: Sequence[Any]) -> Ragged:
        """As `encode_labels`, for outputs that no prediction could be equal to.

        Spans that are too long come in pieces, and labels need not be in one scheme.
        """
        return self._codes(given_spans(Y, x.ptr, "bio").rows, x.ptr, "split")

    def _codes(self, spans: list[list[Span]], ptr: Ints, longer: str) -> Ragged:
        return codes_of(split_long(spans, self.max_length, longer), self.labels, ptr)

    def decode_labels(self, x: SegmentInputs, labels: Ragged) -> list[Any]:
        """Outputs in the form of the training data: label sequences or spans."""
        return written(
            spans_of(labels, self.labels), labels.sizes.tolist(), self.scheme
        )

    def spans(self, labels: Ragged) -> list[list[Span]]:
        """Outputs as lists of spans."""
        return spans_of(labels, self.labels)

    def features(self, x: SegmentInputs, ids: Ints, labels: Ragged) -> Rows:
        """psi(x_i, y)."""
        return self._alone(x, ids, labels, _own_rows(x), self.layout)

    def argmax(
        self, x: SegmentInputs, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Semi-Markov Viterbi; with the zero-one loss, in two layers."""
        if augment is not None and augment.loss.form == "zero-one":
            return self._other(x, ids, w, augment)
        ptr, codes, score, _, _ = self._best(x, ids, w, augment)
        check_possible(ids, score)
        return Found(Ragged(ptr, codes), score, score)

    def cuts(self, x: SegmentInputs, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """Table, loss and Viterbi in one loop, the difference in another."""
        return self._cuts(x, ids, w, augment, _own_rows(x), self.layout)

    def outer_coordinates(self, x: SegmentInputs) -> OuterCoordinates | None:
        """(token, token label) pairs, then the other weights."""
        k = self.layout.tokens
        if x.vectors.n * k + self.dim >= 2**31:
            return None
        return OuterCoordinates(x.vectors, k, x.ptr)

    def outer_cuts(
        self, x: SegmentInputs, ids: Ints, w: Floats, augment: Augment
    ) -> Answer:
        """As `cuts`, with differences in the coordinates of `outer_coordinates`."""
        layout = widened(self.layout, x.vectors.n)
        return self._cuts(x, ids, w, augment, _unit_rows(x), layout)

    def outer_features(self, x: SegmentInputs, ids: Ints, labels: Ragged) -> Rows:
        """As `features`, in these coordinates."""
        layout = widened(self.layout, x.vectors.n)
        return self._alone(x, ids, labels, _unit_rows(x), layout)

    def _alone(
        self, x: SegmentInputs, ids: Ints, labels: Ragged, rows: Any,
        layout: SegmentLayout,
    ) -> Rows:  # fmt: skip
        none = np.zeros(len(ids) + 1, np.int64)
        inputs = *rows, *x.pieces, x.ptr, x.ptr, ids, layout
        sides = labels.ptr[:-1], labels.data, none, _NO_CODES
        return Rows(*differences(*inputs, *sides))

    def _cuts(
        self, x: SegmentInputs, ids: Ints, w: Floats, augment: Augment, rows: Any,
        layout: SegmentLayout,
    ) -> Answer:  # fmt: skip
        truth, loss = augment.truth, augment.loss
        start = truth.ptr[ids]
        if loss.form == "zero-one":
            found = self._other(x, ids, w, augment)
            labels, delta = found.labels, loss.value(truth.take(ids), found.labels)
        else:
            ptr, flat, score, true_score, delta = self._best(x, ids, w, augment)
            check_possible(ids, score)
            labels, slack = Ragged(ptr, flat), score - true_score
        inputs = *x.pieces, x.ptr, x.ptr, ids
        sides = start, truth.data, *labels
        dpsi = Rows(*differences(*rows, *inputs, layout, *sides))
        if loss.form == "zero-one":
            plain = dpsi
            if layout is not self.layout:
                own = differences(*_own_rows(x), *inputs, self.layout, *sides)
                plain = Rows(*own)
            slack = augment.weight[ids] * delta - plain.dot(w)
        return Answer(labels, dpsi, delta, slack)

    def layered(self, loss: Loss) -> bool:
        """Costs must be multiples of a common unit."""
        if isinstance(loss, SpanLoss):
            return have_unit(np.array([loss.wrong, loss.missed]))
        return loss.form == "zero-one" or have_unit(loss.table)

    def argmax_by_loss(
        self, x: SegmentInputs, ids: Ints, w: Floats, augment: Augment
    ) -> Layers:
        """Best codes for each attainable value of the loss."""
        truth, loss = augment.truth.take(ids), augment.loss
        codes = self.label_count()
        wrong = missed = 0
        if loss.form == "zero-one":
            table, most = 1.0 - np.eye(codes), np.minimum(truth.sizes, 1)
        elif isinstance(loss, SpanLoss):
            wrong, missed = whole_costs(np.array([loss.wrong, loss.missed])).tolist()
            table = np.zeros((codes, codes))
            most = missed * span_counts(truth) + wrong * truth.sizes
        else:
            table = whole_costs(loss.table).astype(np.float64)
            total = np.concatenate(([0], np.cumsum(table.max(axis=1)[truth.data])))
            most = total[truth.ptr[1:]] - total[truth.ptr[:-1]]
        most = most.astype(np.int64)
        check_layers(ids, most)
        units = cost_tables(*truth, *self._shape, table, float(wrong), float(missed))
        scores = self.tables(x, ids, w)
        whole = np.rint(units).astype(np.int64)
        return Layers.of(ids, *variants.best_by_cost(scores, whole, most), augment)

    def nbest(
        self, x: SegmentInputs, ids: Ints, w: Floats, k: int,
        augment: Augment | None = None,
    ) -> Layers:  # fmt: skip
        """Find the k best segmentations, best first."""
        scores = self.tables(x, ids, w)
        if augment is not None:
            if augment.loss.form == "zero-one":
                raise ValueError("nbest adds losses of tokens or spans only")
            truth = augment.truth.take(ids)
            extra = cost_tables(*truth, *self._shape, *self._costs(augment.loss))
            factor = augment.weight[ids] * augment.loss.scale(truth)
            per_token = np.repeat(factor, truth.sizes)
            extra = extra.reshape(len(per_token), -1) * per_token[:, None]
            scores = scores._replace(segments=scores.segments + extra.ravel())
        found = variants.best_many(scores, k)
        return Layers.of(ids, *found, augment, augmented=True)

    def max_marginals(self, x: SegmentInputs, ids: Ints, w: Floats) -> Floats:
        """(tokens of the ids, codes): score of the best output with that code there."""
        return variants.max_marginals(self.tables(x, ids, w))

    def tables(self, x: SegmentInputs, ids: Ints, w: Floats) -> variants.SegmentTables:
        """Scores of all segments, for inference on tables."""
        ptr, segments = tables(*self._loop_inputs(x, ids, w))
        pair, first, last = join(w, self.layout, self.legal)
        return variants.SegmentTables(ptr, segments, pair, first, last, *self._shape)

    @property
    def _shape(self) -> tuple[int, int, int]:
        """Widest segment, states and labels of segments, of tables."""
        return int(self.max_length), self.layout.states, len(self.labels) - 1

    def slice(self, x: SegmentInputs, start: int, stop: int) -> SegmentInputs:
        """Some neighbouring sentences; their entries are views."""
        return selected(x, start, stop, int(self.max_length))

    def label_count(self) -> int:
        """Number of codes of tokens."""
        return 2 * len(self.labels) - 1

    def code_names(self) -> list[str]:
        """What each code of a token stands for: O, B-PER, I-PER, .."""
        inside = [f"{c}-{label}" for label in self.labels[1:] for c in "BI"]
        return [str(self.labels[0]), *inside]

    def work(self, x: SegmentInputs) -> Floats:
        """Multiply-adds of one search: tokens, segments and transitions."""
        spot = self.layout
        tokens = np.diff(x.vectors.ptr[x.ptr]).astype(np.float64)
        pieces = np.diff(x.pieces.ptr[x.ptr * spot.widest]).astype(np.float64)
        steps = 3.0 * spot.widest * spot.labels + float(spot.states) ** 2
        search = np.diff(x.ptr) * steps
        return tokens * spot.tokens + pieces * (spot.labels - 1) + search + 1.0

    def explain_pieces(self, x: SegmentInputs, i: int, row: Labels) -> Pieces:
        """One part per segment and per token outside."""
        return segment_parts(self, x, i, row)

    def feature_names(self) -> Sequence[str]:
        """Name of each weight, made when asked for."""
        inputs, pieces = self.inputs(), self.piece_names()
        return SegmentNames(self.layout, self.labels, inputs, pieces, self.sparse)

    def piece_names(self) -> list[str]:
        """Name of each feature of segments."""
        names = self.vocabulary.names() if self.vocabulary is not None else []
        return names + (
            seen_names(self.labels[1:]) if self.evidence is not None else []
        )

    @property
    def n_pieces(self) -> int:
        """Number of features of segments."""
        known = self.vocabulary.n if self.vocabulary is not None else 0
        extra = n_seen(len(self.labels) - 1) if self.evidence is not None else 0
        return known + extra

    def inputs(self) -> Sequence[str]:
        """Name of each feature of tokens; those of neighbours carry '[-1]', '[+1]', .."""
        if self.fitted is not None:
            return self.fitted.names()
        plain = (
            list(self.names) if self.names else [f"x{j}" for j in range(self.columns)]
        )
        reach = range(-self.window, self.window + 1)
        return [f"{name}[{d:+d}]" if d else name for d in reach for name in plain]

    def _loop_inputs(self, x: SegmentInputs, ids: Ints, w: Floats) -> Any:
        return *_own_rows(x), *x.pieces, x.ptr, ids, w, self.layout

    def _costs(self, loss: Loss) -> tuple[Floats, float, float]:
        """Cost of each pair of codes, of a wrong and of a missed span."""
        if isinstance(loss, SpanLoss):
            codes = self.label_count()
            return np.zeros((codes, codes)), float(loss.wrong), float(loss.missed)
        return loss.table, 0.0, 0.0

    def _best(
        self, x: SegmentInputs, ids: Ints, w: Floats, augment: Augment | None
    ) -> Any:
        asked: tuple[Any, ...] = (
            x.ptr,
            _NO_CODES,
            _NO_COST,
            0.0,
            0.0,
            _NOTHING,
            _NOTHING,
        )
        if augment is not None:
            scale = augment.loss.scale(some_rows(augment.truth, ids))
            costs = self._costs(augment.loss)
            asked = *augment.truth, *costs, scale, augment.weight
        ends = join(w, self.layout, self.legal)
        return best_rows(*self._loop_inputs(x, ids, w), *ends, *asked)

    def _other(self, x: SegmentInputs, ids: Ints, w: Floats, augment: Augment) -> Found:
        """Argmax for the zero-one loss: truth, or the best other output."""
        found = self.argmax_by_loss(x, ids, w, augment).better_of_two(ids, augment)
        check_possible(ids, found.score)
        return found


def _own_rows(x: SegmentInputs) -> tuple[Ints, Labels, Floats]:
    return x.vectors[:3]


def _unit_rows(x: SegmentInputs) -> tuple[Ints, Labels, Floats]:
    """Tokens as unit vectors: psi over them is psi in outer coordinates."""
    return unit_vectors(x.vectors.n)[:3]
