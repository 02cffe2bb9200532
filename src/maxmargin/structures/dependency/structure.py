"""Dependency trees with features of single arcs.

x is a sentence, y a tree: the head of each token, with a label if labels are given.

    <w, psi(x, y)> = sum_m  <w, arc(x, head(m), m)> + <w, lab(x, head(m), m) (x) e(label(m))>

The features of arcs are those of McDonald et al. (see `arc_features`). The loss adds up
over arcs too, so the most violated tree is a best tree: by Eisner's algorithm if trees
are projective (no arcs cross), else by Chu-Liu/Edmonds. A row has head * labels + label
of each token; head 0 is the root.

[1] McDonald, Crammer, Pereira 2005, Online large-margin training of dependency parsers.
[2] McDonald et al. 2005, Non-projective dependency parsing using spanning trees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    Ragged,
    Rows,
    Vectors,
    pointers,
)
from maxmargin.core.data.memory import MEMORY, refuse_larger
from maxmargin.core.data.validation import check_distinct, check_types, require
from maxmargin.core.loss import Loss, LossForm
from maxmargin.core.structure import (
    Answer,
    Augment,
    ByLoss,
    Found,
    Layers,
    OuterCoordinates,
    Pieces,
    Structure,
)
from maxmargin.inference.tree.dependency_trees import (
    best_tree,
    best_trees,
    best_trees_by_cost,
    tree_max_marginals,
)
from maxmargin.losses.trees import ArcLoss
from maxmargin.structures.dependency.arc_features import (
    ArcFeatures,
    encode_arcs,
    fill_arcs,
    gather_arcs,
    key_table,
    outer_arcs,
    true_keys,
)
from maxmargin.structures.dependency.feature_names import ArcWeightNames
from maxmargin.structures.dependency.tokens import (
    Token,
    Vocabulary,
    checked_sentence,
    read_vocabulary,
)
from maxmargin.structures.dependency.trees import (
    check_allowed,
    checked_arcs,
    is_projective,
)

P = TypeVar("P")


def _no_keys() -> Ints:
    return np.empty(0, np.int64)


class DependencyInputs(NamedTuple):
    """Encoded sentences."""

    ptr: Ints  # (n + 1,) tokens of each sentence
    first: Ints  # (n + 1,) first arc of each sentence
    arcs: ArcFeatures
    tokens: list[list[Token]]

    @property
    def n(self) -> int:
        """Number of sentences."""
        return len(self.ptr) - 1


@dataclass(frozen=True, eq=False)
class Dependency(Structure):
    """Dependency trees, with or without labels.

    Parameters
    ----------
    projective : bool or None
        Whether arcs may not cross. None: they may not if they do not in the training trees.
    single_root : bool
        Whether one token only may have the root as its head.
    rare : int
        Words seen at most this often in training count as unknown.

    Examples
    --------
    >>> X = [[("I", "PRP"), ("saw", "VBD"), ("it", "PRP")]]
    >>> structure = Dependency(rare=0).bind(X, [[2, 0, 2]])
    >>> x = structure.encode(X)
    >>> truth = structure.encode_labels(x, [[2, 0, 2]])
    >>> w = structure.features(x, np.array([0]), truth).total(structure.dim)
    >>> structure.decode_labels(x, structure.argmax(x, np.array([0]), w).labels)
    [[2, 0, 2]]
    """

    projective: bool | None = None
    single_root: bool = True
    rare: int = 1
    labels: tuple[str, ...] = ()
    vocabulary: Vocabulary = Vocabulary()
    keys: Ints = field(default_factory=_no_keys)
    label_keys: Ints = field(default_factory=_no_keys)
    dim: int = 0

    losses: ClassVar[tuple[LossForm, ...]] = ("zero-one", "arcs")

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know words, tags, labels and the features of the true arcs."""
        self._check()
        if len(X) != len(Y):
            raise ValueError(f"{len(X)} sentences, but {len(Y)} trees")
        tokens = [checked_sentence(i, sentence) for i, sentence in enumerate(X)]
        if not any(tokens):
            raise ValueError("there are no words: features are read off trees")
        trees = [checked_arcs(i, y, len(tokens[i])) for i, y in enumerate(Y)]
        known = read_vocabulary(tokens, self.rare)
        labels = _labels_of(trees)
        heads = np.array([h for tree in trees for h, _ in tree], np.int32)
        keys, label_keys = true_keys(*known.encode(tokens), heads)
        label_keys = label_keys if labels else _no_keys()
        projective = self.projective
        if projective is None:
            projective = all(is_projective(tree) for tree in trees)
        return replace(
            self, projective=projective, labels=labels, vocabulary=known, keys=keys,
            label_keys=label_keys, dim=len(keys) + len(label_keys) * max(len(labels), 1),
        )  # fmt: skip

    def validate(self) -> None:
        """Keys are sorted, labels distinct, and there are `dim` weights."""
        check_types(self)
        self._check()
        self.vocabulary.validate()
        check_distinct(self.labels, "labels")
        for keys in (self.keys, self.label_keys):
            require(keys.ndim == 1 and len(keys) < 2**31, "keys are no list")
            rising = (keys[1:] > keys[:-1]).all() and (len(keys) == 0 or keys[0] >= 0)
            require(rising, "keys are not sorted")
        require(bool(self.labels) or len(self.label_keys) == 0, "there are no labels")
        dim = len(self.keys) + len(self.label_keys) * max(len(self.labels), 1)
        require(self.dim == dim, f"dim={self.dim} is not {dim}")
        require(self.dim < 2**31, f"{self.dim} weights are too many")
        bound = self.projective is not None
        require(bound or self.dim == 0, "it is not known whether arcs may cross")

    def _check(self) -> None:
        if not isinstance(self.projective, bool | None):
            raise ValueError(f"projective={self.projective!r}: True, False or None")
        if not isinstance(self.single_root, bool):
            raise ValueError(f"single_root={self.single_root!r}: True or False")
        if not isinstance(self.rare, int) or not 0 <= self.rare < 2**31:
            raise ValueError(f"rare={self.rare!r}: a number of occurrences, 0 or more")

    @cached_property
    def _tables(self) -> tuple[Ints, Ints]:
        return key_table(self.keys), key_table(self.label_keys)

    def encode(self, X: Sequence[Any]) -> DependencyInputs:
        """Features of all arcs of all sentences."""
        tokens = [checked_sentence(i, sentence) for i, sentence in enumerate(X)]
        sizes = np.array([len(s) for s in tokens], np.int64)
        arcs = sizes * (sizes + 1)
        refuse_larger(
            400.0 * float(arcs.sum()), MEMORY, f"the features of {arcs.sum()} arcs",
            "give fewer or shorter sentences at a time, or set MAXMARGIN_MEMORY",
        )  # fmt: skip
        codes = self.vocabulary.encode(tokens)
        found = encode_arcs(*codes, *self._tables)
        return DependencyInputs(codes.ptr, pointers(arcs), found, tokens)

    def encode_labels(self, x: DependencyInputs, Y: Sequence[Any]) -> Ragged:
        """Heads and labels as rows; ValueError where a label is not known."""
        number = {label: c for c, label in enumerate(self.labels)}
        sizes, rows = np.diff(x.ptr).tolist(), []
        for i, tree in enumerate(Y):
            arcs = checked_arcs(i, tree, sizes[i])
            heads = [head for head, _ in arcs]
            check_allowed(i, heads, bool(self.projective), self.single_root)
            row = []
            for t, (head, label) in enumerate(arcs):
                if self.labels and label not in number:
                    raise ValueError(
                        f"sentence {i}, token {t}: no training tree has the label {label!r}"
                    )
                row.append(head * self._width + number.get(label, 0))
            rows.append(row)
        return Ragged.pack(rows)

    def decode_labels(self, x: DependencyInputs, labels: Ragged) -> list[Any]:
        """Heads, or (head, label) pairs."""
        rows, names = labels.unpack(), self.labels
        if not names:
            return rows
        return [[(v // len(names), names[v % len(names)]) for v in row] for row in rows]

    def features(self, x: DependencyInputs, ids: Ints, labels: Ragged) -> Rows:
        """Features of all arcs of each tree."""
        return self._rows(x, labels.ptr, *self._arcs(x, ids, labels))

    def _arcs(
        self, x: DependencyInputs, ids: Ints, labels: Ragged
    ) -> tuple[Ints, Ints]:
        """Numbers of the arcs of the rows, one after the other, and their labels."""
        owner = np.repeat(np.arange(labels.n), labels.sizes)
        token = np.arange(len(owner)) - labels.ptr[owner]
        width = labels.sizes[owner] + 1
        heads, kinds = np.divmod(labels.data.astype(np.int64), self._width)
        return x.first[np.asarray(ids)[owner]] + token * width + heads, kinds

    def _rows(self, x: DependencyInputs, group: Ints, arcs: Ints, kinds: Ints) -> Rows:
        ptr, idx = gather_arcs(*x.arcs, group, arcs, kinds, len(self.keys), self._width)
        return Rows(ptr, idx, np.ones(len(idx)))

    def argmax(
        self, x: DependencyInputs, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Best tree of each sentence, with the loss of each arc added."""
        rows, score = [], np.zeros(len(ids))
        if augment is not None and augment.loss.form == "zero-one":
            for q, i in enumerate(ids):
                truth, weight = augment.truth.row(i), float(augment.weight[i])
                row, score[q] = self._unlike(self._table(x, i, w), truth, weight)
                rows.append(row)
            return Found(Ragged.pack(rows), score, score)
        costs = None if augment is None else self._costs(augment)
        for q, i in enumerate(ids):
            row, score[q] = self._best(self._table(x, i, w, augment, costs))
            rows.append(row)
        return Found(Ragged.pack(rows), score, score)

    def cuts(
        self, x: DependencyInputs, ids: Ints, w: Floats, augment: Augment
    ) -> Answer:
        """As `argmax`, then differences of the arcs that the trees do not share."""
        return self._cuts(x, ids, w, augment, self._rows)

    def outer_coordinates(self, x: DependencyInputs) -> OuterCoordinates:
        """One coordinate for each arc, then the weights of features that meet labels."""
        ones = _ones(len(x.arcs.idx))
        vectors = Vectors(x.arcs.ptr, x.arcs.idx, ones, len(self.keys))
        return OuterCoordinates(vectors, 1, x.first)

    def outer_cuts(
        self, x: DependencyInputs, ids: Ints, w: Floats, augment: Augment
    ) -> Answer:
        """As `cuts`, in the coordinates of `outer_coordinates`."""
        return self._cuts(x, ids, w, augment, self._outer_rows)

    def outer_features(self, x: DependencyInputs, ids: Ints, labels: Ragged) -> Rows:
        """As `features`, in the coordinates of `outer_coordinates`."""
        return self._outer_rows(x, labels.ptr, *self._arcs(x, ids, labels))

    def _cuts(
        self,
        x: DependencyInputs,
        ids: Ints,
        w: Floats,
        augment: Augment,
        rows: Callable[[DependencyInputs, Ints, Ints, Ints], Rows],
    ) -> Answer:
        found = self.argmax(x, ids, w, augment)
        truth = augment.truth.take(ids)
        differs = truth.data != found.labels.data
        group = np.concatenate(([0], np.cumsum(differs)))[truth.ptr]
        parts = []
        for labels in (truth, found.labels):
            arcs, kinds = self._arcs(x, ids, labels)
            parts.append(rows(x, group, arcs[differs], kinds[differs]))
        delta = augment.loss.value(truth, found.labels)
        truth_score = self.features(x, ids, truth).dot(w)
        return Answer(
            found.labels, parts[0].minus(parts[1]), delta, found.score - truth_score
        )

    def _outer_rows(
        self, x: DependencyInputs, group: Ints, arcs: Ints, kinds: Ints
    ) -> Rows:
        known = len(x.arcs.ptr) - 1
        ptr, idx = outer_arcs(
            x.arcs.label_ptr, x.arcs.label_idx, group, arcs, kinds, known, self._width
        )
        return Rows(ptr, idx, np.ones(len(idx)))

    def nbest(
        self,
        x: DependencyInputs,
        ids: Ints,
        w: Floats,
        k: int,
        augment: Augment | None = None,
    ) -> Layers:
        """The k best trees of each sentence, best first."""
        if augment is not None and augment.loss.form == "zero-one":
            raise ValueError("the k best trees know losses of arcs only")
        costs = None if augment is None else self._costs(augment)
        rows: list[Labels] = []
        score: list[float] = []
        sizes = []
        for i in ids:
            table = self._table(x, i, w, augment, costs)
            trees, values = best_trees(
                table, k, bool(self.projective), self.single_root
            )
            rows, score = rows + trees, score + values
            sizes.append(len(trees))
        found = pointers(sizes), Ragged.pack(rows), np.array(score)
        return Layers.of(ids, *found, augment, augmented=True)

    def offers(self, capability: type[P]) -> P | None:
        """The best tree for each loss is known for projective trees only."""
        if capability is ByLoss and not self.projective:
            return None
        return super().offers(capability)

    def layered(self, loss: Loss) -> bool:
        """Costs must be multiples of a common unit."""
        known = not isinstance(loss, ArcLoss) or loss.unit() > 0
        return bool(self.projective) and known

    def argmax_by_loss(
        self, x: DependencyInputs, ids: Ints, w: Floats, augment: Augment
    ) -> Layers:
        """Best tree of each sentence for every value of the loss."""
        rows: list[Labels] = []
        score: list[float] = []
        sizes = []
        for i in ids:
            table, truth = self._table(x, i, w), augment.truth.row(i)
            if isinstance(augment.loss, ArcLoss):
                units = augment.loss.units(truth, table.shape)
                trees, values = best_trees_by_cost(table, units, self.single_root)
            else:
                trees, values = self._two(table, truth)
            rows, score = rows + trees, score + values
            sizes.append(len(trees))
        found = pointers(sizes), Ragged.pack(rows), np.array(score)
        return Layers.of(ids, *found, augment)

    def _two(self, table: Floats, truth: Labels) -> tuple[list[Labels], list[float]]:
        """The truth, and the best tree other than it if there is one."""
        each = np.arange(len(truth))
        rows = [truth]
        values = [float(table.reshape(len(truth), -1)[each, truth].sum())]
        weight = 1.0 + 2.0 * float(np.abs(table).sum())  # any other tree is better then
        other, score = self._unlike(table, truth, weight)
        if not np.array_equal(other, truth):
            rows, values = [*rows, other], [*values, score - weight]
        return rows, values

    def max_marginals(self, x: DependencyInputs, ids: Ints, w: Floats) -> Floats:
        """Best score of a tree with each arc and label, sentence by sentence, flat."""
        parts = [
            tree_max_marginals(
                self._table(x, i, w), bool(self.projective), self.single_root
            ).ravel()
            for i in ids
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def _table(
        self,
        x: DependencyInputs,
        i: int,
        w: Floats,
        augment: Augment | None = None,
        costs: Floats | None = None,
    ) -> Floats:
        """Score of each arc of sentence i with each label, (n, n + 1, labels)."""
        n = int(x.ptr[i + 1] - x.ptr[i])
        table = np.empty((n, n + 1, self._width))
        truth, cost = np.empty(0, np.int32), np.zeros(2)
        if augment is not None and costs is not None:
            truth, cost = augment.truth.row(i), costs[i]
        fill_arcs(*x.arcs, x.first[i], w, len(self.keys), truth, *cost, table)
        return table

    def _costs(self, augment: Augment) -> Floats:
        """What a wrong head and a wrong label add, for each sentence."""
        loss = augment.loss
        assert isinstance(loss, ArcLoss)
        each = augment.weight * loss.scale(augment.truth)
        return np.stack((each, each * loss.label_cost), axis=1)

    def _best(self, table: Floats) -> tuple[Labels, float]:
        return best_tree(table, bool(self.projective), self.single_root)

    def _unlike(
        self, table: Floats, truth: Labels, weight: float
    ) -> tuple[Labels, float]:
        """Best of the truth and, `weight` richer, the best tree other than it.

        A tree other than the truth lacks one of its arcs: forbid each in turn.
        """
        n, cells = len(truth), table.reshape(len(truth), -1)
        best, score = truth.copy(), float(cells[np.arange(n), truth].sum())
        for m in range(n):
            kept = cells[m, truth[m]]
            cells[m, truth[m]] = -np.inf
            row, value = self._best(table)
            cells[m, truth[m]] = kept
            if value + weight > score:
                best, score = row, value + weight
        return best, score

    def slice(self, x: DependencyInputs, start: int, stop: int) -> DependencyInputs:
        """Sentences start .. stop - 1."""
        ptr, first = x.ptr[start : stop + 1], x.first[start : stop + 1]
        arcs = slice(int(first[0]), int(first[-1]) + 1)
        a, b = x.arcs.ptr[arcs], x.arcs.label_ptr[arcs]
        part = ArcFeatures(
            a - a[0], x.arcs.idx[a[0] : a[-1]], b - b[0], x.arcs.label_idx[b[0] : b[-1]]
        )
        return DependencyInputs(
            ptr - ptr[0], first - first[0], part, x.tokens[start:stop]
        )

    def label_count(self) -> int:
        """Labels of arcs, one if there are none."""
        return self._width

    @property
    def _width(self) -> int:
        return max(len(self.labels), 1)

    def work(self, x: DependencyInputs) -> Floats:
        """Scores of the arcs, and the search for the tree."""
        n = np.diff(x.ptr).astype(np.float64)
        each = x.arcs.ptr[x.first[1:]] - x.arcs.ptr[x.first[:-1]]
        labelled = x.arcs.label_ptr[x.first[1:]] - x.arcs.label_ptr[x.first[:-1]]
        return 1000.0 + each + labelled * float(self._width) + n**3

    def explain_pieces(self, x: DependencyInputs, i: int, row: Labels) -> Pieces:
        """One part per arc."""
        arcs, kinds = self._arcs(x, np.array([i]), Ragged.pack([row]))
        psi = self._rows(x, np.arange(len(row) + 1), arcs, kinds)
        words = ["root", *(word for word, _ in x.tokens[i])]
        names = []
        for t, value in enumerate(row.tolist()):
            head, label = divmod(value, self._width)
            suffix = f" ({self.labels[label]})" if self.labels else ""
            names.append(f"{words[head]} -> {words[t + 1]}{suffix}")
        return Pieces(names, psi)

    def feature_names(self) -> Sequence[str]:
        """Features of arcs, then those that meet labels, by label."""
        return ArcWeightNames(self.keys, self.label_keys, self.labels, self.vocabulary)


@lru_cache(maxsize=2)
def _ones(n: int) -> Floats:
    return np.ones(n)


def _labels_of(trees: Sequence[Sequence[tuple[int, str]]]) -> tuple[str, ...]:
    """Labels of all arcs; () if no arc has one."""
    found: dict[str, int] = {}
    for i, tree in enumerate(trees):
        for _, label in tree:
            found.setdefault(label, i)
    if set(found) == {""}:
        return ()
    if "" in found:
        raise ValueError(
            f"sentence {found['']} has arcs without a label, others have labels: give "
            "all arcs a label, or none"
        )
    return tuple(sorted(found))
