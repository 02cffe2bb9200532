"""Lanes that work side by side, a round at a time, each on weights of its own.

In a round, each lane makes its steps on some examples and writes the changes to its own
copy of w. Then every lane adds what the others have changed, so that all copies are the
same again, rounding apart.

Steps of two lanes in the same direction would overshoot. They do so where both change
the same weights: those of label tuples, constants and frequent features, the *shared*
ones. So in the steps of a lane the quadratic term of the dual counts these with a factor
above 1 [1]: within a round a lane applies its own changes of them times this factor, as if
the other lanes made the same ones; at the end the plain changes are added.
Most rows of w belong to rare features, which two lanes hardly ever change in the same
round. After each pass the rise of the dual is compared with what the lanes predicted, and
`stretch`, a further factor, is set accordingly.

Results depend on the number of lanes, not on the threads that work on them.

[1] Ma et al.: Adding vs. averaging in distributed primal-dual optimization, 2015; there
    all weights have the same factor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Vectors, pointers
from maxmargin.solvers.lanes import rounds
from maxmargin.solvers.lanes.islands import Islands, Map, Part, parts_of
from maxmargin.solvers.lanes.loops import Lane, SequenceTask, TokenInputs, average

SHARED = 0.03  # a feature is shared if this share of the examples has it
SHARED_BYTES = 2**19  # for shared weights of a lane at most
PAIR = 0.1  # what the second of two lanes adds to the factor on shared weights
SPREAD = 0.3  # and every further lane where there are more
DENSE = 0.5  # and what it adds to the stretch at the start where all are shared
MORE, LESS = 1.25, 0.9  # factors of the stretch where the rise was too low, or high
LOW, HIGH = 0.8, 0.95  # and what is too low, or high, as a share of the prediction

BEGIN = np.zeros(1, np.int64)

Loop = Callable[[Lane, Ints], float]


class Sharing(NamedTuple):
    """Which weights several lanes share, and how much these count in steps."""

    lanes: int
    rows: Ints  # first place in w of each row of shared weights of inputs
    size: int  # weights of a row
    features: Ints  # of these rows; dense: empty
    factor: float  # on inner products of shared features and label tuples
    weight: Floats  # (features,) the same for each feature; empty: 1 for all


def share_out(task: SequenceTask, vectors: Vectors, lanes: int) -> Sharing:
    """The weights that so many lanes share."""
    none, layout = np.empty(0, np.int64), task.layout
    if lanes == 1:
        return Sharing(1, none, 1, none, 1.0, np.empty(0))
    if not len(vectors.idx):
        rows = np.arange(layout.labels) * layout.width
        return Sharing(lanes, rows, layout.width, none, 1.0, np.empty(0))
    count = np.zeros(vectors.width, np.int64)
    seen = np.full(vectors.width, -1, np.int64)
    rounds.count_examples(vectors.ptr, task.ptr, vectors.idx, count, seen)
    most = max(SHARED_BYTES // (8 * layout.labels), 1)
    order = np.argsort(-count, kind="stable")[:most]
    features = np.sort(order[count[order] > SHARED * (len(task.ptr) - 1)])
    factor = 1.0 + (PAIR if lanes == 2 else SPREAD * (lanes - 1))
    weight = np.ones(vectors.width)
    weight[features] = factor
    K = layout.labels
    return Sharing(lanes, features * K, K, features, factor, weight)


class Crew:
    """The lanes of a run, and the inputs as these see them.

    Parameters
    ----------
    islands : Islands
        The constraints that lanes work on.
    w : array
        The weights; the first lane writes them directly.
    sharing : Sharing
        The number of lanes, and what they share.
    side_by_side : callable
        The map of an engine.
    """

    def __init__(
        self, islands: Islands, w: Floats, sharing: Sharing, side_by_side: Map = map
    ) -> None:
        self.w, self.inputs, self.stretch = w, islands.inputs, 1.0
        many, self._sharing = sharing.lanes, sharing
        self.lanes = [islands.lane(w)]
        if many == 1:
            return
        layout, vectors = islands.task.layout, islands.vectors
        self._K, self._base = layout.labels, len(w) - layout.others
        if len(vectors.idx):
            self.inputs = _shared_first(islands.vectors, sharing.features, side_by_side)
        else:
            self.stretch = 1.0 + DENSE * (many - 1)
        self.lanes += [islands.lane(w.copy()) for _ in range(many - 1)]
        own = self.inputs.ptr[1:] - self.inputs.mid
        self._others = pointers(own)  # entries not shared before each token
        size = len(sharing.rows) * sharing.size
        # Of each lane: shared rows and the weights after those of inputs, when the round
        # began, and their changes in it.
        self._rows, self._row_changes = np.zeros((2, many, size))
        self._tail, self._tail_changes = np.zeros((2, many, layout.others))

    def fit(self, islands: Islands) -> None:
        """Scratch space for constraints that have moved."""
        self.lanes = [lane._replace(**islands.scratch()) for lane in self.lanes]

    def begin(self, side_by_side: Map) -> None:
        """All lanes take w as it is now."""
        if len(self.lanes) == 1:
            return
        rows, size = self._sharing.rows, self._sharing.size
        places = (rows[:, None] + np.arange(size)).ravel()

        def begin(k: int) -> None:
            if k > 0:
                self.lanes[k].w[:] = self.w
            self._rows[k] = self.w[places]
            self._tail[k] = self.w[self._base :]

        list(side_by_side(begin, range(len(self.lanes))))

    def round(
        self, side_by_side: Map, loop: Loop, ids: Ints, work: Floats, first: Ints
    ) -> float:
        """loop(lane, its share of the ids) in all lanes: the rise of the dual.

        `work` is that of each id, to share them out fairly, and `first` has the first
        token of every id there is, and the end of the last. The rise is what the lanes
        predict.
        """
        if len(self.lanes) == 1:
            return float(loop(self.lanes[0], ids))
        many = len(self.lanes)
        done = np.cumsum(work)
        ends = np.searchsorted(done, np.arange(1, many) / many * done[-1])
        shares = np.split(ids, ends)
        for k, share in enumerate(shares):
            begin, end = first[share], first[share + 1]
            entries = int((self._others[end] - self._others[begin]).sum())
            self._make_room(k, int((end - begin).sum()), entries)
        rise = sum(side_by_side(lambda k: self._run(loop, k, shares[k]), range(many)))
        list(side_by_side(self._take, range(many)))
        return float(rise)

    def _run(self, loop: Loop, k: int, ids: Ints) -> float:
        """Run the loop in lane k and see what it changed."""
        lane, sharing = self.lanes[k], self._sharing
        rise = float(loop(lane, ids))
        rounds.shared_change(
            lane.w, sharing.rows, sharing.size, self._rows[k], self._row_changes[k],
            lane.times,
        )  # fmt: skip
        rounds.shared_change(
            lane.tail, BEGIN, len(lane.tail), self._tail[k], self._tail_changes[k],
            lane.times,
        )  # fmt: skip
        return rise

    def _take(self, k: int) -> None:
        """Add what all lanes have changed to the weights of lane k."""
        lane, sharing = self.lanes[k], self._sharing
        rounds.add_shared(
            lane.w, sharing.rows, sharing.size, self._rows[k], self._row_changes
        )
        rounds.add_shared(
            lane.tail, BEGIN, len(lane.tail), self._tail[k], self._tail_changes
        )
        for j, other in enumerate(self.lanes):
            if j != k:
                rounds.add_log(
                    lane.w, other.log_from[: other.logged[0] + 1], other.log_feature,
                    other.log_value, other.log_at, other.log_column, other.log_change,
                    self._K,
                )  # fmt: skip

    def take_mean(self, side_by_side: Map, mean: Floats, share: float) -> None:
        """Move the mean by `share` of the way towards w."""
        ends = np.linspace(0, len(mean), len(self.lanes) + 1).astype(int)

        def move(k: int) -> None:
            part = slice(ends[k], ends[k + 1])
            average(mean[part], self.w[part], share)

        list(side_by_side(move, range(len(self.lanes))))

    def judge(self, rise: float, predicted: float) -> None:
        """Set the stretch by the rise of the dual in a pass."""
        if len(self.lanes) > 1 and predicted > 0.0:
            share = rise / predicted
            factor = MORE if share < LOW else LESS if share > HIGH else 1.0
            many = float(len(self.lanes))
            self.stretch = float(np.clip(factor * self.stretch, 1.0, many))

    def _make_room(self, k: int, tokens: int, entries: int) -> None:
        """An empty log with room for all that lane k may change in this round.

        That is so many tokens, with so many features that are not shared.
        """
        lane = self.lanes[k]._replace(times=self.stretch * self._sharing.factor)
        if len(self.inputs.idx) and entries > len(lane.log_feature):
            lane = lane._replace(
                log_feature=np.empty(2 * entries, np.int32),
                log_value=np.empty(2 * entries),
            )
        if len(self.inputs.idx) and tokens >= len(lane.log_from):
            lane = lane._replace(
                log_from=np.zeros(2 * tokens + 1, np.int64),
                log_at=np.zeros(2 * tokens + 1, np.int64),
                log_column=np.empty(2 * tokens * self._K, np.int32),
                log_change=np.empty(2 * tokens * self._K),
            )
        lane.logged[0] = 0
        self.lanes[k] = lane


def _shared_first(vectors: Vectors, features: Ints, side_by_side: Map) -> TokenInputs:
    """Tokens with their shared features before the others."""
    ptr, idx, val, width = vectors
    shared = np.zeros(width, np.int64)
    shared[features] = 1
    mid, new = (
        np.empty(len(ptr) - 1, np.int64),
        (np.empty_like(idx), np.empty_like(val)),
    )

    def sort(part: Part) -> None:
        begin, end = part
        own = ptr[begin : end + 1], idx, val, shared, mid[begin:end]
        rounds.sort_features(*own, *new)

    list(side_by_side(sort, parts_of(len(mid))))
    return TokenInputs(ptr, mid, *new)
