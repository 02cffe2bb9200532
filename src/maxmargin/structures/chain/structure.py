"""Label sequences: one label per token, label tuples of neighbours scored together.

y = (y_1, .., y_L), labels from a set of K, and with order m

    psi(x, y) = [ sum_t x_t (x) e(y_t),  eta * counts of label tuples of 2 .. m + 1
                  neighbours,  eta * first and last label,  counts of labels,
                  sum_t e_t (x) e(y_{t-1}, y_t) ],

where e_t are edge features: those of the input again (`edge_features`), or those of the
bigram templates. The best y is Viterbi's. Loss: "table" adds to the node scores;
"zero-one" is the best sequence other than the truth, Viterbi in two layers.

[1] Tsochantaridis et al. 2005, section 4.3 (and 5.2 for its use).
[2] Taskar, Guestrin, Koller 2003; Yu 2011, chapter 2.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
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
)
from maxmargin.core.data.tokens.sequences import (
    flat_labels,
    in_order,
    place,
    same_lengths,
)
from maxmargin.core.data.tokens.token_features import TokenReader, TokenTemplates
from maxmargin.core.data.validation import (
    FeatureMap,
    check_distinct,
    check_finite,
    check_types,
    require,
    same_fields,
)
from maxmargin.core.loss import Loss
from maxmargin.core.structure import (
    Answer,
    Augment,
    Found,
    LabelSequences,
    Layers,
    OuterCoordinates,
    Pieces,
    SequenceLayout,
    Structure,
)
from maxmargin.inference.chain import variants as chains
from maxmargin.structures.chain.constraints import (
    check_truth,
    forced_labels,
    legal_scores,
)
from maxmargin.structures.chain.layout import (
    ChainLayout,
    differences,
    layout_of,
    some_rows,
    unit_inputs,
    widened,
)
from maxmargin.structures.chain.oracle import best_sequences, join, row_weights, tables
from maxmargin.structures.chain.tokens.named_tokens import PairColumns
from maxmargin.structures.chain.tokens.token_rows import (
    Tokens,
    encode_tokens,
    known_inputs,
    label_rows,
    validate_inputs,
)
from maxmargin.structures.chain.weight_names import (
    InputNames,
    WeightNames,
    edge_names,
    token_parts,
)

_NO_LABELS, _NO_COST = np.empty(0, np.int32), np.empty((0, 0))
_NOTHING = np.empty(0)
NOT_BOUND = ChainLayout(*[0] * 9)
WIDEST = 1000  # window


@dataclass(frozen=True)
class Chain(Structure):
    """Sequences of labels (see the module docstring).

    Parameters
    ----------
    eta : float, default=1.0
        Size of the label-only features, relative to those of the input.
    window : int, default=0
        Features of this many tokens before and after are features of a token too.
    order : {1, 2, 3}, default=1
        How many labels before a token enter its score together with its own.
    edge_features : bool, default=False
        Whether input features also meet pairs of neighbouring labels.
    start_end : bool, default=True
        Whether first and last labels have weights.
    bias : bool, default=True
        Whether labels have weights of their own (a constant feature).
    allowed : array (K, K) of bool or set of label pairs, optional
        Legal transitions [before, after], labels in sorted order. In training, too.
    scheme : {"bio", "bioes"}, optional
        Derive the legal transitions, first and last labels from the label names.
    templates : TokenTemplates, optional
        Templates that read the features of sentences, given as lists of strings or of
        rows of columns.

    Examples
    --------
    >>> X = [[["cap"], ["low"]], [["low"]]]
    >>> chain = Chain().bind(X, [["B", "O"], ["O"]])
    >>> chain.labels, chain.dim
    (('B', 'O'), 14)
    """

    eta: float = 1.0
    window: int = 0
    order: int = 1
    edge_features: bool = False
    start_end: bool = True
    bias: bool = True
    allowed: Any = None
    scheme: str | None = None
    dim: int = 0
    labels: tuple[Hashable, ...] = ()
    names: dict[str, int] | None = field(default=None, repr=False)
    sparse: bool = field(default=True, repr=False)
    columns: int = field(default=0, repr=False)
    legal: Floats = field(
        default_factory=lambda: np.empty(0), repr=False, compare=False
    )
    layout: ChainLayout = field(default=NOT_BOUND, repr=False)
    phi: FeatureMap | None = field(default=None, repr=False, compare=False)
    templates: TokenTemplates | None = field(default=None, compare=False)
    reader: TokenReader | None = field(default=None, repr=False, compare=False)
    beside: int = field(default=0, repr=False)  # columns of matrices beside the tokens

    losses = ("zero-one", "table")

    def validate(self) -> None:
        """The layout and the mask are those of the labels, features and settings."""
        check_types(self)
        require(self.order in (1, 2, 3), f"order={self.order!r} is not 1, 2 or 3")
        require(0 <= self.window <= WIDEST, f"window={self.window!r} is out of range")
        check_finite(self.eta, "eta")
        if not self.labels:
            require(self.layout == NOT_BOUND and self.dim == 0, "there are no labels")
            return
        check_distinct(self.labels, "labels")
        validate_inputs(self)
        width = self.columns * (2 * self.window + 1)
        require(0 <= width < 2**31, f"{width} features are too many")
        if self.phi is not None:
            require(self.phi.inputs in (None, width), "the map takes other features")
            require(self.sparse == self.phi.sparse, "the map has another layout")
            width = self.phi.width
        layout = layout_of(
            len(self.labels), int(self.order), width, bool(self.start_end),
            bool(self.bias), self.n_edges,
        )  # fmt: skip
        same_fields(self.layout, layout, "layout of the weights")
        require(self.dim == layout.dim, f"dim={self.dim} is not {layout.dim}")
        legal = legal_scores(self.labels, self.scheme, self.allowed)
        require(np.array_equal(self.legal, legal), "the mask does not fit the labels")

    def _check_settings(self) -> None:
        if self.order not in (1, 2, 3):
            raise ValueError(f"order={self.order!r} is not 1, 2 or 3")
        if self.window < 0:
            raise ValueError(f"window={self.window!r} is negative")

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know labels, features and layout of the data."""
        self._check_settings()
        if len(X) == 0:
            raise ValueError("there are no sequences to learn from")
        flat, ptr = flat_labels(Y)
        known = known_inputs(self, X, ptr)
        labels = in_order(self._declared(flat))
        knowing = replace(self, reader=known.reader, beside=known.beside)
        bound = knowing.sized(labels, known.names, known.columns, known.sparse)
        if len(bound.legal):
            check_truth(labels, bound.legal, label_rows(bound.labels, flat, ptr))
        return bound

    def _declared(self, flat: Sequence[Hashable]) -> set[Hashable]:
        """The labels given beforehand, or those of the data."""
        seen, known = set(flat), set(self.labels)
        for label in flat if known else ():
            if label not in known:
                raise ValueError(
                    f"label {label!r} is not among the {len(known)} classes given"
                )
        return known or seen

    def sized(
        self,
        labels: tuple[Hashable, ...],
        names: dict[str, int] | None,
        columns: int,
        sparse: bool,
    ) -> Self:
        """Bind to labels and features that are known already."""
        legal = np.empty(0)
        if self.scheme is not None or self.allowed is not None:
            legal = legal_scores(labels, self.scheme, self.allowed)
        edges = replace(self, columns=columns).n_edges
        width = columns * (2 * self.window + 1)
        layout = layout_of(
            len(labels), self.order, width, self.start_end, self.bias, edges
        )
        _check_size(layout)
        return replace(
            self,
            dim=layout.dim,
            labels=labels,
            names=names,
            sparse=sparse,
            columns=columns,
            legal=legal,
            layout=layout,
        )

    @property
    def n_edges(self) -> int:
        """Number of edge features; those that are the inputs' own are mapped, too."""
        if self.edge_features and self.phi is not None:
            return self.phi.width
        if self.edge_features:
            return self.columns * (2 * self.window + 1)
        return 0 if self.reader is None else self.reader.n_edge_features

    def encode(self, X: Sequence[Any]) -> Tokens:
        """Tokens as rows, in the layout that `bind` chose."""
        return encode_tokens(self, X)

    def in_parts(self, X: Sequence[Any], w: Floats) -> tuple[Self, Tokens, Floats]:
        """(chain, tokens, weights) with the same scores, quicker to predict with.

        Where templates read the features, tokens are sums of rows that they share,
        and the weights are those of the rows. Otherwise nothing changes.
        """
        if self.reader is None or self.n_edges or self.beside or self.phi is not None:
            return self, self.encode(X), w
        parts = self.reader.parts(X)
        rows = row_weights(*parts.rows[:3], w, self.layout)
        layout = widened(self.layout, parts.rows.n)
        chain = replace(
            self, layout=layout, dim=layout.dim, templates=None, reader=None,
            columns=parts.rows.n,
        )  # fmt: skip
        return chain, Tokens(parts.tokens, parts.ptr, _NO_LABELS), rows

    @cached_property
    def plainly_named(self) -> bool:
        """Whether tokens are named features and nothing else."""
        plain = self.names is not None and not self.n_edges
        return plain and self.phi is None and self.window == self.beside == 0

    @cached_property
    def pairs(self) -> PairColumns:
        """Columns of named features by key and value, as they are met."""
        return PairColumns()

    def encode_labels(self, x: Tokens, Y: Sequence[Any]) -> Ragged:
        """Labels as numbers; refuses unknown ones and those the mask forbids."""
        flat, ptr = flat_labels(Y)
        same_lengths(x.ptr, ptr)
        rows = label_rows(self.labels, flat, ptr)
        if len(self.legal):
            check_truth(self.labels, self.legal, rows)
        if len(x.forced):
            bad = np.flatnonzero((x.forced >= 0) & (x.forced != rows.data))
            if len(bad):
                raise ValueError(f"{place(bad[0], ptr)}: another label is forced here")
        return rows

    def decode_labels(self, x: Tokens, labels: Ragged) -> list[Any]:
        """Turn numbers into lists of the labels given to `bind`."""
        names = np.empty(len(self.labels), object)
        names[:] = self.labels
        flat, ptr = names[labels.data].tolist(), labels.ptr.tolist()
        return [flat[a:b] for a, b in pairwise(ptr)]

    def mapped(self, phi: Any) -> Self:
        """The same labels, and pairs of labels, over phi(x_t) in place of x_t.

        Features of bigram templates stay as they are, and so do their weights.
        """
        over = replace(self, phi=phi, sparse=phi.sparse)
        layout = layout_of(
            len(self.labels), self.order, phi.width, self.start_end, self.bias,
            over.n_edges,
        )  # fmt: skip
        _check_size(layout)
        return replace(over, layout=layout, dim=layout.dim)

    def input_matrix(self, x: Tokens) -> Any:
        """Tokens as rows."""
        return x.vectors.matrix()

    def with_inputs(self, x: Tokens, matrix: Any) -> Tokens:
        """The same sequences with other tokens."""
        return x._replace(vectors=Vectors.of(matrix, sp.issparse(matrix)))

    def split_weights(self, w: Floats) -> tuple[Floats, Floats]:
        """Weights of the inputs (features, K), and all others.

        With edge features, pairs of labels are K^2 further columns: phi(x_t) meets y_t and
        (y_{t-1}, y_t).
        """
        k, at = len(self.labels), self.layout
        inputs, rest = np.split(w, [at.width * k])
        if not self.edge_features:
            return self._by_feature(inputs, k), rest
        rest, pairs = np.split(rest, [at.edge - at.width * k])
        both = self._by_feature(inputs, k), self._by_feature(pairs, k * k)
        return np.hstack(both), rest

    def join_weights(self, inputs: Floats, rest: Floats) -> Floats:
        """Undo `split_weights`."""
        single, pairs = np.split(inputs, [len(self.labels)], axis=1)
        parts = (single, pairs) if self.sparse else (single.T, pairs.T)
        return np.concatenate((parts[0].ravel(), rest, parts[1].ravel()))

    def _by_feature(self, w: Floats, kinds: int) -> Floats:
        return w.reshape(-1, kinds) if self.sparse else w.reshape(kinds, -1).T

    def constrain(self, x: Tokens, forced: Sequence[Any]) -> Tokens:
        """Force labels: per sequence {token: label}, or a list with None where free."""
        return x._replace(forced=forced_labels(self.labels, x.ptr, forced))

    def features(self, x: Tokens, ids: Ints, labels: Ragged) -> Rows:
        """psi(x_i, y)."""
        none = Ragged(np.zeros(len(ids) + 1, np.int64), _NO_LABELS)
        return self._differences(x, ids, labels.ptr[:-1], labels.data, none)

    def argmax(
        self, x: Tokens, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Viterbi; with the zero-one loss, in two layers."""
        if augment is not None and augment.loss.form == "zero-one":
            return self._other(x, ids, w, augment)
        ptr, labels, score, _, _ = self._best(x, ids, w, augment)
        _check_possible(ids, score)
        return Found(Ragged(ptr, labels), score, score)

    def cuts(self, x: Tokens, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """Table, loss and Viterbi in one loop, the difference in another."""
        inputs = *x.vectors[:3], *x.edge_vectors[:3], x.ptr, ids
        return self._cuts(x, ids, w, augment, inputs, self.layout)

    def outer_coordinates(self, x: Tokens) -> OuterCoordinates | None:
        """(token, label) pairs, then the other weights."""
        k = len(self.labels)
        if self.n_edges or x.vectors.n * k + self.dim >= 2**31:
            return None
        return OuterCoordinates(x.vectors, k, x.ptr)

    def label_sequences(self, x: Tokens) -> LabelSequences | None:
        """The sequences as they are; None with edge features or a feature map."""
        at, labels = self.layout, len(self.labels)
        if self.edge_features or self.phi is not None or labels >= 2**15:
            return None
        base = at.width * labels
        starts = (at.pairs, at.start, at.end, at.bias)
        layout = SequenceLayout(
            labels, at.order, at.width, at.dim - base,
            *(k - base if k >= 0 else -1 for k in starts),
        )  # fmt: skip
        eta = float(self.eta)
        return LabelSequences(x.vectors, x.ptr, x.forced, layout, eta, self.legal)

    def outer_cuts(self, x: Tokens, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """As `cuts`, with differences in the coordinates of `outer_coordinates`."""
        inputs = unit_inputs(x.vectors.n, x.ptr, ids)
        layout = widened(self.layout, x.vectors.n)
        return self._cuts(x, ids, w, augment, inputs, layout)

    def outer_features(self, x: Tokens, ids: Ints, labels: Ragged) -> Rows:
        """As `features`, in the coordinates of `outer_coordinates`."""
        layout, none = (
            widened(self.layout, x.vectors.n),
            np.zeros(len(ids) + 1, np.int64),
        )
        return Rows(
            *differences(
                *unit_inputs(x.vectors.n, x.ptr, ids), layout, float(self.eta),
                labels.ptr[:-1], labels.data, none, _NO_LABELS,
            )
        )  # fmt: skip

    def _cuts(
        self,
        x: Tokens,
        ids: Ints,
        w: Floats,
        augment: Augment,
        inputs: tuple[Any, ...],
        layout: ChainLayout,
    ) -> Answer:
        truth, loss = augment.truth, augment.loss
        if loss.form == "zero-one":
            found = self._other(x, ids, w, augment)
            labels, delta = found.labels, loss.value(truth.take(ids), found.labels)
            difference = self._differences(x, ids, truth.ptr[ids], truth.data, labels)
            slack = augment.weight[ids] * delta - difference.dot(w)
        else:
            ptr, flat, score, true_score, delta = self._best(x, ids, w, augment)
            _check_possible(ids, score)
            labels, slack = Ragged(ptr, flat), score - true_score
        dpsi = differences(
            *inputs, layout, float(self.eta), truth.ptr[ids], truth.data, *labels,
        )  # fmt: skip
        return Answer(labels, Rows(*dpsi), delta, slack)

    def layered(self, loss: Loss) -> bool:
        """Costs must be multiples of a common unit."""
        return loss.form == "zero-one" or chains.have_unit(loss.table)

    def argmax_by_loss(
        self, x: Tokens, ids: Ints, w: Floats, augment: Augment
    ) -> Layers:
        """Best labels for each attainable value of the loss."""
        truth = augment.truth.take(ids)
        scores = self.tables(x, ids, w)
        if augment.loss.form == "zero-one":
            units, most = 1 - np.eye(len(self.labels), dtype=np.int64), 1
        else:
            units, most = chains.whole_costs(augment.loss.table), chains.LAYERS
            chains.check_layers(ids, truth.sizes * int(units.max()))
        return Layers.of(ids, *chains.best_by_cost(scores, truth, units, most), augment)

    def nbest(
        self, x: Tokens, ids: Ints, w: Floats, k: int, augment: Augment | None = None
    ) -> Layers:
        """Find the k best label sequences, best first."""
        scores = self.tables(x, ids, w)
        if augment is not None:
            if augment.loss.form == "zero-one":
                raise ValueError("nbest adds losses of form 'table' only")
            truth = augment.truth.take(ids)
            factor = augment.weight[ids] * augment.loss.scale(truth)
            extra = augment.loss.table[truth.data]
            extra = extra * np.repeat(factor, truth.sizes)[:, None]
            scores = scores._replace(nodes=scores.nodes + extra.ravel())
        found = chains.best_many(scores, k)
        return Layers.of(ids, *found, augment, augmented=True)

    def max_marginals(self, x: Tokens, ids: Ints, w: Floats) -> Floats:
        """(tokens of the ids, K): score of the best sequence with that label there."""
        return chains.max_marginals(self.tables(x, ids, w))

    def slice(self, x: Tokens, start: int, stop: int) -> Tokens:
        """Some neighbouring sequences; their entries are views."""
        a, b = int(x.ptr[start]), int(x.ptr[stop])
        forced = x.forced[a:b] if len(x.forced) else x.forced
        edges = None if x.edges is None else x.edges.slice(a, b)
        ptr = x.ptr[start : stop + 1] - a
        return Tokens(x.vectors.slice(a, b), ptr, forced, edges)

    def label_count(self) -> int:
        """K."""
        return len(self.labels)

    def work(self, x: Tokens) -> Floats:
        """Multiply-adds of one Viterbi: table and transitions."""
        k, order = len(self.labels), self.order
        adds = np.diff(x.vectors.ptr[x.ptr]) * float(k)
        if self.n_edges:
            adds += np.diff(x.edge_vectors.ptr[x.ptr]) * float(k * k)
        return adds + np.diff(x.ptr) * float(k) ** (order + 1) + 1.0

    def explain_pieces(self, x: Tokens, i: int, row: Labels) -> Pieces:
        """One part per token."""
        return token_parts(self, x, i, row.tolist())

    def feature_names(self) -> Sequence[str]:
        """Name of each weight, made when asked for."""
        inputs = self.inputs()
        edges = inputs if self.edge_features else edge_names(self.reader)
        return WeightNames(self.layout, self.labels, inputs, self.sparse, edges)

    def inputs(self) -> Sequence[str]:
        """Name of each input feature; those of neighbours carry '[-1]', '[+1]', .."""
        named = self.columns - self.beside if self.names or self.reader else 0
        dense = [f"x{j}" for j in range(self.columns - named)]
        if self.reader is not None:
            return InputNames(self.reader, dense)
        plain = [*(self.names or ()), *dense]
        reach = range(-self.window, self.window + 1)
        return [f"{name}[{d:+d}]" if d else name for d in reach for name in plain]

    def _loop_inputs(self, x: Tokens, ids: Ints, w: Floats) -> Any:
        v, e = x.vectors[:3], x.edge_vectors[:3]
        return *v, *e, x.ptr, x.forced, ids, w, self.layout

    def _join(self, w: Floats) -> Any:
        return join(w, self.layout, float(self.eta), self.legal)

    def _best(self, x: Tokens, ids: Ints, w: Floats, augment: Augment | None) -> Any:
        inputs = self._loop_inputs(x, ids, w)
        if augment is None:
            asked = x.ptr, _NO_LABELS, _NO_COST, _NOTHING, _NOTHING
        else:
            truth, loss = augment.truth, augment.loss
            scale = loss.scale(some_rows(truth, ids))
            asked = *truth, loss.table, scale, augment.weight
        return best_sequences(*(*inputs, *self._join(w), *asked))

    def _differences(
        self, x: Tokens, ids: Ints, start: Ints, data: Labels, other: Ragged
    ) -> Rows:
        """Psi of the labels that begin at `start` minus psi of the rows of `other`."""
        inputs = *x.vectors[:3], *x.edge_vectors[:3], x.ptr, ids
        sides = self.layout, float(self.eta), start, data, *other
        return Rows(*differences(*(*inputs, *sides)))

    def tables(self, x: Tokens, ids: Ints, w: Floats) -> chains.ChainTables:
        """All scores of the sequences, for inference on tables."""
        parts = tables(*self._loop_inputs(x, ids, w))
        ends = *self._join(w), len(self.labels), self.order
        return chains.ChainTables(*(*parts, *ends))

    def _other(self, x: Tokens, ids: Ints, w: Floats, augment: Augment) -> Found:
        """Argmax for the zero-one loss: truth, or the best other labels."""
        found = self.argmax_by_loss(x, ids, w, augment).better_of_two(ids, augment)
        _check_possible(ids, found.score)
        return found


def _check_size(layout: ChainLayout) -> None:
    """Refuse more weights than places can be counted by 32 bits."""
    if layout.dim >= 2**31:
        raise ValueError(
            f"{layout.dim} weights are too many: use fewer features, a lower order or "
            "edge_features=False; with a kernel, fewer tokens or edge_features=False"
        )


def _check_possible(ids: Ints, score: Floats) -> None:
    """Refuse scores that are not finite: no labels fit the mask."""
    if not np.isfinite(score).all():
        i = int(ids[np.flatnonzero(~np.isfinite(score))[0]])
        raise ValueError(
            f"sequence {i}: no label sequence is possible under the transition mask "
            "and the forced labels"
        )
