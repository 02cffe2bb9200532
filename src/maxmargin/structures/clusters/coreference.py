"""Clusters of mentions, held together by a hidden spanning forest.

An output y is a partition of m mentions; the hidden part h is a forest whose trees are
the clusters. Features are summed over the links of the forest,

    psi(x, y, h) = sum_{(i, j) in h} x_ij,

so the best (y, h) is a maximum spanning forest, links with negative score left out.
The loss adds up over links too, so augmented inference is the same problem; so is the
completion of h, cluster by cluster.

A row is the parent of each mention in its tree, whose root is its first mention (see
`inference.cluster.spanning`). It holds y as well: the trees. The row of a truth starts
with each mention linked to the one before it in its cluster.

[1] Yu 2011, section 5.4.2, equation 5.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    Ragged,
    Rows,
    check_ordered,
    pointers,
    usable,
)
from maxmargin.core.data.validation import (
    check_range,
    check_sparse,
    check_types,
    is_missing,
    require,
)
from maxmargin.core.jit import inner_loop, loop
from maxmargin.core.loss import LossForm
from maxmargin.core.structure import (
    NOT_COMPLETED,
    Augment,
    Found,
    Pieces,
    Structure,
)
from maxmargin.inference.cluster.spanning import (
    components,
    spanning_forest,
    spanning_trees,
)
from maxmargin.losses.clusters import ForestLoss


class PairFeatures(NamedTuple):
    """Features of all pairs of mentions of a document, pair i < j at j(j-1)/2 + i."""

    mentions: int
    features: Any  # (mentions (mentions - 1) / 2, width), dense or sparse


class LinkInputs(NamedTuple):
    """Encoded inputs of `Coreference`: pairs with the same features share a row.

    Indicators of pairs take few combinations of values, so that a document has some
    hundred times fewer rows than pairs.
    """

    mentions: Ints  # (n,)
    start: Ints  # (n + 1,) first pair of each document
    first: Ints  # (n + 1,) first row of each document
    row: Labels  # (pairs,) row of features of each pair
    ptr: Ints  # (rows + 1,)
    idx: Labels
    val: Floats

    @property
    def n(self) -> int:
        """Number of documents."""
        return len(self.mentions)


class MentionPairs(NamedTuple):
    """Encoded inputs with the features of each pair."""

    mentions: Ints  # (n,)
    start: Ints  # (n + 1,) first pair of each document
    ptr: Ints  # (pairs + 1,)
    idx: Any  # int32
    val: Floats

    @property
    def n(self) -> int:
        """Number of documents."""
        return len(self.mentions)


@dataclass(frozen=True)
class Coreference(Structure):
    """Partitions by latent forests."""

    dim: int = 0
    losses: ClassVar[tuple[LossForm, ...]] = ("forest",)

    def validate(self) -> None:
        """A size that is not negative; all else is checked with the inputs."""
        check_types(self)
        require(self.dim >= 0, f"dim={self.dim} is negative")

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know the number of pair features."""
        return replace(self, dim=max(int(as_pairs(x, 0).features.shape[1]) for x in X))

    def encode(self, X: Sequence[Any]) -> LinkInputs:
        """`PairFeatures`, or matrices of pairs (the mentions are then counted back)."""
        return encode_links(X, self.dim)

    def encode_labels(self, x: LinkInputs, Y: Sequence[Any]) -> Ragged:
        """Cluster of each mention; each is linked to the one before it."""
        return Ragged.pack(
            [chain_of(y, int(x.mentions[i]), i) for i, y in enumerate(Y)]
        )

    def decode_labels(self, x: LinkInputs, labels: Ragged) -> list[list[int]]:
        """Clusters, numbered by first mention."""
        return [components(labels.row(i)).tolist() for i in range(labels.n)]

    def features(self, x: LinkInputs, ids: Ints, labels: Ragged) -> Rows:
        """Sum of the features of the links."""
        if len(ids) == 0:
            return Rows.empty()
        links = _links(x.start, ids, *labels)
        return Rows.from_dense(_sums(x.ptr, x.idx, x.val, x.row, *links, self.dim))

    def argmax(
        self, x: LinkInputs, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Maximum spanning forest of <w, x_ij>, with the loss of each link added."""
        rows, score = [], np.zeros(len(ids))
        for q, i in enumerate(ids):
            m = int(x.mentions[i])
            pairs = self._scores(x, int(i), w)
            constant = 0.0
            if augment is not None:
                cluster = components(augment.truth.row(i))
                loss = augment.loss
                assert isinstance(loss, ForestLoss)
                weight = float(augment.weight[i])
                _add_loss(pairs, cluster, weight, weight * float(loss.r))
                constant = weight * (m - (int(cluster.max()) + 1 if m else 0))
            parent = spanning_forest(m, pairs)
            rows.append(parent)
            score[q] = constant + _total(parent, pairs)
        return Found(Ragged.pack(rows), score, score)

    def complete(self, x: LinkInputs, ids: Ints, w: Floats, truth: Ragged) -> Ragged:
        """Maximum spanning tree of each cluster."""
        return Ragged.pack([
            spanning_trees(components(truth.row(i)), self._scores(x, int(i), w))
            for i in ids
        ])  # fmt: skip

    def check_completed(self, x: Any, truth: Ragged, completed: Ragged) -> None:
        """Links lead to mentions of the same cluster, without going in circles."""
        require(np.array_equal(truth.ptr, completed.ptr), NOT_COMPLETED)
        for i in range(truth.n):
            row = completed.row(i)
            check_range(row, 0, len(row), NOT_COMPLETED)
            top = row
            for _ in range(len(row).bit_length()):
                top = top[top]  # twice as far up
            require((row[top] == top).all(), NOT_COMPLETED)
            same = np.array_equal(components(row), components(truth.row(i)))
            require(same, NOT_COMPLETED)

    def guess(self, x: LinkInputs, truth: Ragged, rng: np.random.Generator) -> Ragged:
        """Chains in order of mention: what `encode_labels` has made."""
        rows = [components(truth.row(i)) for i in range(truth.n)]
        return Ragged.pack([chain_of(r, len(r), i) for i, r in enumerate(rows)])

    def explain_pieces(self, x: LinkInputs, i: int, row: Labels) -> Pieces:
        """One part per link."""
        linked = [(v, u) for v, u in enumerate(row.tolist()) if u != v]
        single = np.tile(np.arange(len(row), dtype=np.int32), (len(linked), 1))
        for q, (v, u) in enumerate(linked):
            single[q, v] = u
        names = [f"link {min(v, u)}-{max(v, u)}" for v, u in linked]
        ids = np.full(len(linked), i)
        return Pieces(names, self.features(x, ids, Ragged.pack(single)))

    def runner_up(self, x: LinkInputs, i: int, w: Floats, row: Labels) -> Labels | None:
        """The weakest link cut, or the best one across two clusters added."""
        pairs, cluster = self._scores(x, i, w), components(row)
        m, best, found = len(row), -np.inf, None
        for v, u in enumerate(row.tolist()):
            score = -pairs[_pair(v, u)] if u != v else -np.inf
            if score > best:
                best, found = score, (v, v)
        for v in range(m):
            for u in range(v):
                if cluster[u] != cluster[v] and pairs[_pair(v, u)] > best:
                    best, found = pairs[_pair(v, u)], (v, u)
        if found is None:
            return None
        links = row.copy()
        links[found[0]] = found[0]  # cut, unless the two are of different clusters
        if found[0] != found[1]:
            joined = np.where(cluster == cluster[found[0]], cluster[found[1]], cluster)
            links = np.array(chain_of(joined, m, i), np.int32)
        return spanning_trees(components(links), pairs)

    def _scores(self, x: LinkInputs, i: int, w: Floats) -> Floats:
        return _link_scores(
            x.ptr, x.idx, x.val, x.row, *x.first[i : i + 2], *x.start[i : i + 2], w
        )

    def work(self, x: LinkInputs) -> Floats:
        """Pairs and their features."""
        each = x.ptr[x.first[1:]] - x.ptr[x.first[:-1]]
        return (each + 4 * np.diff(x.start)).astype(np.float64)


def _pair(u: int, v: int) -> int:
    """Where the pair of two mentions stands."""
    a, b = min(u, v), max(u, v)
    return b * (b - 1) // 2 + a


def as_pairs(x: Any, i: int) -> PairFeatures:
    """Document i as PairFeatures: a matrix has as many mentions as its rows tell."""
    if isinstance(x, PairFeatures):
        pairs = x
    elif isinstance(x, str) or not (hasattr(x, "shape") or hasattr(x, "__len__")):
        raise ValueError(
            f"document {i} is a {type(x).__name__}: neither a Document nor a matrix with "
            "one row per pair of mentions"
        )
    elif (
        isinstance(x, list)
        and x
        and isinstance(x[0], str | list | tuple)
        and (isinstance(x[0], str) or any(isinstance(word, str) for word in x[0]))
    ):
        raise ValueError(
            f"document {i} has words, but no mentions: give Document(sentences, "
            "find_mentions(sentences)), both from maxmargin.structures.clusters"
        )
    elif isinstance(x, tuple) and len(x) == 2:
        raise ValueError(
            f"document {i} is a tuple of two: give Document(sentences, mentions), from "
            "maxmargin.structures.clusters"
        )
    else:
        rows = x.shape[0] if hasattr(x, "shape") else len(x)
        m = round((1 + np.sqrt(1 + 8 * rows)) / 2)
        pairs = PairFeatures(m, x if sp.issparse(x) else np.atleast_2d(x))
    if sp.issparse(pairs.features):
        check_sparse(pairs.features, f"document {i}")
    m, rows = pairs.mentions, pairs.features.shape[0]
    if rows != m * (m - 1) // 2:
        raise ValueError(
            f"document {i} has {rows} pairs, but {m} mentions make {m * (m - 1) // 2}"
        )
    return pairs


def encode_links(X: Sequence[Any], dim: int) -> LinkInputs:
    """Features of pairs, each combination of values once per document."""
    mentions, sizes, rows, number, first = [], [], [], [], 0
    for i, x in enumerate(X):
        m, whole = _checked_pairs(x, i, dim)
        own, kept = _distinct_rows(*whole)
        mentions.append(m)
        sizes.append(whole.n)
        number.append(own + np.int32(first))
        rows.append(whole.take(kept))
        first += len(kept)
    joined = Rows.concat(rows)
    return LinkInputs(
        np.array(mentions, np.int64), pointers(sizes), pointers([r.n for r in rows]),
        np.concatenate(number) if number else np.empty(0, np.int32), *joined,
    )  # fmt: skip


def _checked_pairs(x: Any, i: int, dim: int) -> tuple[int, Rows]:
    """Mentions of document i, and the features of its pairs."""
    document = as_pairs(x, i)
    width = document.features.shape[1]
    if width != dim and document.features.shape[0]:
        raise ValueError(f"document {i} has {width} features per pair, not {dim}")
    matrix = sp.csr_array(document.features)
    matrix.sort_indices()
    rows = Rows.from_csr(matrix)
    if not usable(rows.val).all():
        raise ValueError("a pair feature is not finite, or too large")
    return document.mentions, rows


def encode_pairs(X: Sequence[Any], dim: int) -> MentionPairs:
    """Pair features of all documents as one sparse matrix."""
    found = [_checked_pairs(x, i, dim) for i, x in enumerate(X)]
    rows = Rows.concat([part for _, part in found])
    mentions = np.array([m for m, _ in found], np.int64)
    start = pointers([part.n for _, part in found])
    return MentionPairs(mentions, start, rows.ptr, rows.idx, rows.val)


def check_clusters(clusters: Any, i: int, m: int) -> None:
    """Refuse what is not a list with the cluster of each of m mentions."""
    check_ordered(clusters, f"document {i}")
    if not hasattr(clusters, "__len__"):
        raise ValueError(
            f"document {i}: {clusters!r:.40} is not a list with the cluster of each mention"
        )
    if any(isinstance(c, list | set | frozenset | tuple | dict) for c in clusters):
        raise ValueError(
            f"document {i}: y has the cluster of each mention, as in [0, 1, 0]; "
            "clusters_of of maxmargin.metrics makes it of entities, sets of mentions"
        )
    if len(clusters) != m:
        raise ValueError(f"document {i} has {m} mentions, but {len(clusters)} clusters")


def chain_of(clusters: Any, m: int, i: int) -> list[int]:
    """Each mention linked to the one before it in its cluster."""
    check_clusters(clusters, i, m)
    last: dict[Any, int] = {}
    row = []
    for t, c in enumerate(np.asarray(clusters).tolist()):
        if is_missing(c):
            raise ValueError(
                f"document {i}, mention {t}: its cluster is {c}; a mention that stands "
                "alone has a cluster of its own"
            )
        row.append(last.get(c, t))
        last[c] = t
    return row


@loop
def pair_scores(ptr, idx, val, a, b, w):
    """<w, x_ij> of the pairs a .. b - 1."""
    out = np.empty(b - a)
    for p in range(a, b):
        s = 0.0
        for e in range(ptr[p], ptr[p + 1]):
            s += val[e] * w[idx[e]]
        out[p - a] = s
    return out


@loop
def _add_loss(pairs, cluster, inside, across):
    """A link inside a true cluster lowers the loss, one across raises it."""
    for j in range(len(cluster)):
        for i in range(j):
            p = j * (j - 1) // 2 + i
            pairs[p] += -inside if cluster[i] == cluster[j] else across


@loop
def _total(parent, pairs):
    s = 0.0
    for v in range(len(parent)):
        if parent[v] != v:
            a, b = min(v, parent[v]), max(v, parent[v])
            s += pairs[b * (b - 1) // 2 + a]
    return s


@loop
def _links(start, ids, row_ptr, rows):
    """Pairs that are linked: of each row, (ptr, pair)."""
    out, pair = np.zeros(len(ids) + 1, np.int64), np.empty(len(rows), np.int64)
    n = 0
    for q in range(len(ids)):
        for t in range(row_ptr[q], row_ptr[q + 1]):
            v, u = t - row_ptr[q], np.int64(rows[t])
            if u != v:
                a, b = min(u, v), max(u, v)
                pair[n] = start[ids[q]] + b * (b - 1) // 2 + a
                n += 1
        out[q + 1] = n
    return out, pair


@loop
def _sums(ptr, idx, val, row, link_ptr, link, dim):
    out = np.zeros((len(link_ptr) - 1, dim))
    for q in range(len(link_ptr) - 1):
        for t in range(link_ptr[q], link_ptr[q + 1]):
            r = row[link[t]]
            for e in range(ptr[r], ptr[r + 1]):
                out[q, idx[e]] += val[e]
    return out


@loop
def _link_scores(ptr, idx, val, row, first, last, a, b, w):
    """<w, x_ij> of the pairs a .. b - 1, whose rows are first .. last - 1."""
    each, out = np.empty(last - first), np.empty(b - a)
    for r in range(first, last):
        s = 0.0
        for e in range(ptr[r], ptr[r + 1]):
            s += val[e] * w[idx[e]]
        each[r - first] = s
    for p in range(a, b):
        out[p - a] = each[row[p] - first]
    return out


@loop
def _distinct_rows(ptr, idx, val):
    """For each row its number among distinct rows, and one row for each number."""
    n = len(ptr) - 1
    size = 8
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, np.int64)
    number, kept = np.empty(n, np.int32), np.empty(n, np.int64)
    count = 0
    for r in range(n):
        mixed = np.uint64(14695981039346656037)
        for e in range(ptr[r], ptr[r + 1]):
            mixed = (mixed ^ np.uint64(idx[e])) * np.uint64(1099511628211)
            mixed = (mixed ^ np.uint64(abs(val[e]) * 1e6 % 4e9)) * np.uint64(
                1099511628211
            )
        at = np.int64((mixed ^ (mixed >> np.uint64(29))) % np.uint64(size))
        while table[at] >= 0 and not _same_row(ptr, idx, val, kept[table[at]], r):
            at = (at + 1) % size
        if table[at] < 0:
            table[at], kept[count] = count, r
            count += 1
        number[r] = table[at]
    return number, kept[:count].copy()


@inner_loop
def _same_row(ptr, idx, val, r, q):
    if ptr[r + 1] - ptr[r] != ptr[q + 1] - ptr[q]:
        return False
    for e in range(ptr[r + 1] - ptr[r]):
        if idx[ptr[r] + e] != idx[ptr[q] + e] or val[ptr[r] + e] != val[ptr[q] + e]:
            return False
    return True
