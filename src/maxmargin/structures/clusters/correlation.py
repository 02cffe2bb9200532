"""Correlation clustering: clusters scored by all pairs inside them.

    psi(x, y) = sum over pairs in one cluster of x_ij

There is no hidden part, and the best partition is hard to find. "greedy": clusters are
merged, the pair that gains most first, while that gains. The answer may be worse than
the best (undergenerating, as in [1]); during training it is never worse than the truth.
Primal values and gaps are then those of the greedy oracle. "relaxed": a linear program
over pairs (`inference.cluster.partition`), whose fractional answers become planes like
any other (overgenerating); primal values are then above the exact ones.

A row is the cluster of each item, numbered by first appearance.

[1] Finley and Joachims 2005 (SVM-cluster); the baseline in Yu 2011, Table 5.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Labels, Ragged, Rows
from maxmargin.core.data.validation import check_types, require
from maxmargin.core.jit import inner_loop, loop
from maxmargin.core.loss import LossForm
from maxmargin.core.structure import Answer, Augment, Found, Pieces, Structure
from maxmargin.inference.cluster import partition
from maxmargin.inference.graph.tables import sum_by
from maxmargin.structures.clusters.coreference import (
    MentionPairs,
    as_pairs,
    check_clusters,
    encode_pairs,
    pair_scores,
)

INFERENCE = ("greedy", "relaxed")
MOST = 150  # items of a document that the linear program takes


@dataclass(frozen=True)
class Correlation(Structure):
    """Partitions, every pair of a cluster scored.

    Parameters
    ----------
    inference : {"greedy", "relaxed"}
        How partitions are found.
    """

    inference: str = "greedy"
    dim: int = 0
    losses: ClassVar[tuple[LossForm, ...]] = ("clustered-pairs",)
    exact: bool = False

    def validate(self) -> None:
        """A known way of inference, and a size that is not negative."""
        check_types(self)
        require(self.inference in INFERENCE, f"inference={self.inference!r}")
        require(not self.exact, "clusters by correlation are never exact")
        require(self.dim >= 0, f"dim={self.dim} is negative")

    def bind(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Know the number of pair features."""
        if self.inference not in INFERENCE:
            names = " nor ".join(map(repr, INFERENCE))
            raise ValueError(f"inference={self.inference!r} is neither {names}")
        return replace(self, dim=max(int(as_pairs(x, 0).features.shape[1]) for x in X))

    def encode(self, X: Sequence[Any]) -> MentionPairs:
        """As `Coreference`."""
        x = encode_pairs(X, self.dim)
        large = np.flatnonzero(x.mentions > MOST)
        if self.inference == "relaxed" and len(large):
            i = int(large[0])
            raise ValueError(
                f"document {i} has {x.mentions[i]} mentions: inference='relaxed' takes "
                f"{MOST} at most, use 'greedy'"
            )
        return x

    @property
    def certificate(self) -> str:
        """How good primal values are: a greedy oracle may miss worse outputs."""
        return "relaxed" if self.inference == "relaxed" else "reduced"

    def encode_labels(self, x: MentionPairs, Y: Sequence[Any]) -> Ragged:
        """Cluster of each item."""
        rows = []
        for i, y in enumerate(Y):
            check_clusters(y, i, int(x.mentions[i]))
            names: dict[Any, int] = {}
            items = np.asarray(y).tolist()
            rows.append([names.setdefault(c, len(names)) for c in items])
        return Ragged.pack(rows)

    def decode_labels(self, x: MentionPairs, labels: Ragged) -> list[list[int]]:
        """Cluster of each item."""
        return labels.unpack()

    def features(self, x: MentionPairs, ids: Ints, labels: Ragged) -> Rows:
        """Sum over the pairs of each cluster."""
        if len(ids) == 0:
            return Rows.empty()
        return Rows.from_dense(
            _sums(x.start, x.ptr, x.idx, x.val, ids, *labels, self.dim)
        )

    def argmax(
        self, x: MentionPairs, ids: Ints, w: Floats, augment: Augment | None = None
    ) -> Found:
        """Greedy merging; with a truth at hand, not worse than the truth."""
        rows, score, bound = [], np.zeros(len(ids)), np.zeros(len(ids))
        for q, i in enumerate(ids):
            pairs, constant = self._scores(x, int(i), w, augment)
            m = int(x.mentions[i])
            row, total = _greedy(m, pairs)
            if self.inference == "relaxed":
                z, bound[q] = partition.relax(m, pairs)
                other = _greedy(m, z - 0.5)[0]
                if _within(other, pairs) > total:
                    row, total = other, _within(other, pairs)
            if augment is not None and _within(augment.truth.row(i), pairs) > total:
                row = augment.truth.row(i).copy()
                total = _within(row, pairs)
            rows.append(row)
            score[q] = constant + total
            bound[q] = max(bound[q] + constant, score[q])
        if self.inference == "greedy":
            bound = score
        return Found(Ragged.pack(rows), score, bound)

    def _scores(
        self, x: MentionPairs, i: int, w: Floats, augment: Augment | None
    ) -> tuple[Floats, float]:
        """Scores of pairs being together, and what the loss adds to all partitions."""
        pairs = pair_scores(x.ptr, x.idx, x.val, x.start[i], x.start[i + 1], w)
        if augment is None:
            return pairs, 0.0
        step = 100.0 * float(augment.weight[i]) / max(len(pairs), 1)
        return pairs, step * _add_loss(pairs, augment.truth.row(i), step)

    def cuts(self, x: MentionPairs, ids: Ints, w: Floats, augment: Augment) -> Answer:
        """Differences to the truth; relaxed partitions are no rows."""
        if self.inference == "greedy":
            return super().cuts(x, ids, w, augment)
        change, delta, slack = [], np.zeros(len(ids)), np.zeros(len(ids))
        for q, i in enumerate(ids):
            cluster = augment.truth.row(i)
            pairs, constant = self._scores(x, int(i), w, augment)
            z, value = partition.relax(int(x.mentions[i]), pairs)
            together = _together(cluster)
            delta[q] = 100.0 * np.abs(z - together).sum() / max(len(z), 1)
            some = slice(int(x.start[i]), int(x.start[i + 1]))
            change.append(_weighted(x, some, together - z, self.dim))
            plain = pair_scores(x.ptr, x.idx, x.val, x.start[i], x.start[i + 1], w)
            slack[q] = value + constant - float(together @ plain)
        dpsi = Rows.from_dense(np.array(change)) if len(ids) else Rows.empty()
        return Answer(Ragged.pack([[] for _ in ids]), dpsi, delta, slack)

    def explain_pieces(self, x: MentionPairs, i: int, row: Labels) -> Pieces:
        """One part per pair of a cluster."""
        names, parts = [], []
        for j, i_ in zip(*np.tril_indices(len(row), -1), strict=True):
            if row[j] == row[i_]:
                p = int(x.start[i]) + j * (j - 1) // 2 + i_
                some = slice(int(x.ptr[p]), int(x.ptr[p + 1]))
                names.append(f"pair {i_}-{j}")
                parts.append((x.idx[some], x.val[some]))
        return Pieces(names, Rows.pack(parts))

    def work(self, x: MentionPairs) -> Floats:
        """Pairs, their features, and the merging."""
        each = x.ptr[x.start[1:]] - x.ptr[x.start[:-1]]
        return (each + 20 * np.diff(x.start)).astype(np.float64)


def _weighted(x: MentionPairs, some: slice, factor: Floats, dim: int) -> Floats:
    """Sum of the features of the pairs, each times its factor."""
    ptr = x.ptr[some.start : some.stop + 1]
    entries = slice(int(ptr[0]), int(ptr[-1]))
    values = x.val[entries] * np.repeat(factor, np.diff(ptr))
    return sum_by(x.idx[entries], values, dim)


@loop
def _together(cluster):
    """1 for the pairs of one cluster."""
    out = np.zeros(len(cluster) * (len(cluster) - 1) // 2)
    for j in range(len(cluster)):
        for i in range(j):
            if cluster[i] == cluster[j]:
                out[j * (j - 1) // 2 + i] = 1.0
    return out


@loop
def _add_loss(pairs, cluster, step):
    """Pairs apart in the truth gain, pairs together lose; returns those together."""
    together = 0
    for j in range(len(cluster)):
        for i in range(j):
            p = j * (j - 1) // 2 + i
            if cluster[i] == cluster[j]:
                pairs[p] -= step
                together += 1
            else:
                pairs[p] += step
    return together


@loop
def _within(cluster, pairs):
    s = 0.0
    for j in range(len(cluster)):
        for i in range(j):
            if cluster[i] == cluster[j]:
                s += pairs[j * (j - 1) // 2 + i]
    return s


@inner_loop
def _best_partner(S, alive, r):
    best = -1
    for c in range(r):
        if alive[c] and (best < 0 or S[r, c] > S[r, best]):
            best = c
    return best


@loop
def _greedy(m, pairs):
    """Merge the two clusters that gain most while they gain; (clusters, score)."""
    S = np.zeros((m, m))
    for j in range(m):
        for i in range(j):
            S[j, i] = S[i, j] = pairs[j * (j - 1) // 2 + i]
    alive = np.ones(m, np.bool_)
    partner = np.full(m, -1, np.int64)  # the best cluster before this one
    for r in range(1, m):
        partner[r] = _best_partner(S, alive, r)
    cluster = np.arange(m).astype(np.int32)
    total = 0.0
    while True:
        a = -1
        for r in range(1, m):
            gain = S[r, partner[r]] if alive[r] and partner[r] >= 0 else -np.inf
            if gain > -np.inf and (a < 0 or gain > S[a, partner[a]]):
                a = r
        if a < 0 or S[a, partner[a]] <= 0.0:
            break
        b = partner[a]  # b < a: a joins b
        total += S[a, b]
        alive[a] = False
        for c in range(m):
            if cluster[c] == a:
                cluster[c] = b
            if alive[c] and c != b:
                S[b, c] += S[a, c]
                S[c, b] = S[b, c]
        partner[b] = _best_partner(S, alive, b)
        for r in range(b + 1, m):
            if alive[r]:
                if partner[r] == a or partner[r] == b:
                    partner[r] = _best_partner(S, alive, r)
                elif S[r, b] > S[r, partner[r]]:
                    partner[r] = b
    name, count = np.full(m, -1, np.int32), 0
    for c in range(m):
        if name[cluster[c]] < 0:
            name[cluster[c]] = count
            count += 1
        cluster[c] = name[cluster[c]]
    return cluster, total


@loop
def _sums(start, ptr, idx, val, ids, row_ptr, rows, dim):
    out = np.zeros((len(ids), dim))
    for q in range(len(ids)):
        cluster = rows[row_ptr[q] : row_ptr[q + 1]]
        for j in range(len(cluster)):
            for i in range(j):
                if cluster[i] == cluster[j]:
                    p = start[ids[q]] + j * (j - 1) // 2 + i
                    for e in range(ptr[p], ptr[p + 1]):
                        out[q, idx[e]] += val[e]
    return out
