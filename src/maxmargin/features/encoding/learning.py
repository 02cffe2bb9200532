"""From sentences to the features that templates make of them."""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Ints, Labels, Ragged
from maxmargin.features.encoding import loops
from maxmargin.features.encoding.fitted import FittedTemplates
from maxmargin.features.encoding.plan import KindPlan, TemplatePlan
from maxmargin.features.encoding.strings import Strings
from maxmargin.features.encoding.tokens import TokenColumns
from maxmargin.features.encoding.type_tables import (
    learn_values,
    padded_types,
    type_jumps,
    type_strings,
)
from maxmargin.features.templates import Templates


def learn_features(templates: Templates, X: Any) -> FittedTemplates:
    """Features of sentences, in the order of their first tokens; see `Templates.fit`.

    So weights of features that occur together lie together, which training and
    prediction read at once.
    """
    plan, sentences = templates.plan(), templates.sentences(X)
    columns, flat = _learn_types(plan, sentences, templates.width)
    strings = type_strings(plan, columns)
    value_at, values, numbers = learn_values(plan, strings)
    words = {
        s: plan.trie(s).word_ids(columns[source.column])
        for s, source in enumerate(plan.sources)
        if source.gazetteer is not None
    }
    types = padded_types(plan, sentences.ptr, flat, words)
    keys = []
    for first, kind in enumerate(plan.kinds):
        counter = _Counter(plan, kind, sentences.ptr, types, strings, first)
        found, counts, met = counter.keys(value_at, values)
        kept = np.flatnonzero(counts >= templates.min_count)
        keys.append(found.take(kept[np.argsort(met[kept], kind="stable")]))
    used = np.zeros(max(numbers.values(), default=0) + 1, np.bool_)
    inner = [_inner(some) for some in keys]
    for some, mask in zip(keys, inner):
        used[some.data[mask]] = True
    renumbered = np.where(used, np.cumsum(used, dtype=np.int32), 0) - np.int32(1)
    for some, mask in zip(keys, inner):
        some.data[mask] = renumbered[some.data[mask]]
    keep = used[list(numbers.values())].tolist() if numbers else []
    kept_values = Strings.of(compress(numbers, keep))
    every = tuple(Strings.of(some) for some in columns)
    fitted = FittedTemplates(templates, every, kept_values, keys[0], keys[1])
    known = np.where(values < 0, np.int32(-1), renumbered[values])
    fitted.keep_tables(strings, value_at, known)
    return fitted


def _learn_types(
    plan: TemplatePlan, sentences: TokenColumns, width: int
) -> tuple[list[list[str]], dict[int, Labels]]:
    """Distinct strings of each column that is read, and the type of each token."""
    columns: list[list[str]] = [[] for _ in range(width)]
    flat = {}
    outside = len(plan.symbols)
    for c in plan.columns:
        ids: dict[str, int] = {}
        for text in sentences.strings(c):
            ids.setdefault(text, len(ids))
        columns[c] = list(ids)
        types = np.array([ids[text] for text in sentences.column(c)], np.int32)
        flat[c] = (types + np.int32(outside))[sentences.number]
    return columns, flat


class _Counter:
    """Counts the features of one kind.

    Tokens before `first` in a sentence have none of that kind.
    """

    def __init__(
        self,
        plan: TemplatePlan,
        kind: KindPlan,
        ptr: Ints,
        types: Labels,
        strings: list[list[str]],
        first: int,
    ) -> None:
        self.plan, self.kind, self.ptr, self.types = plan, kind, ptr, types
        self.sizes = [len(some) for some in strings]
        self.jumps = type_jumps(plan, kind, strings)
        self.counted = np.ones(ptr[-1], np.int64)
        if first:
            self.counted[ptr[:-1][np.diff(ptr) > 0]] = 0

    def keys(self, value_at: Ints, values: Labels) -> tuple[Ragged, Ints, Ints]:
        """All keys that occur, how often, and the first token of each."""
        kind, every = self.kind, np.arange(self.ptr[-1])
        ptr, data = np.zeros(513, np.int64), np.empty(2048, np.int32)
        counts, first = np.zeros((2, 512), np.int64)
        state = np.full(1024, -1, np.int64), ptr, data, counts, first, 0
        for b, (source, place) in enumerate(zip(kind.block_source, kind.block_place)):
            seen = self._seen(source, place)[self.counted > 0]
            times = np.bincount(seen, minlength=self.sizes[source])
            where = np.zeros(len(times), np.int64)
            where[seen[::-1]] = every[self.counted > 0][
                ::-1
            ]  # the first is written last
            for j in range(kind.block_ptr[b], kind.block_ptr[b + 1]):
                at = value_at[kind.single_atom[j]]
                value = values[at : at + len(times)]
                state = _add(state, kind.single_skeleton[j], [value], times, where)
        for j, skeleton in enumerate(kind.joint_skeleton):
            columns = []
            for p in range(kind.joint_ptr[j], kind.joint_ptr[j + 1]):
                seen = self._seen(kind.slot_source[p], kind.slot_place[p])
                columns.append(values[value_at[kind.slot_atom[p]] + seen])
            state = _add(state, skeleton, columns, self.counted, every)
        _, ptr, data, counts, first, n = state
        keys = Ragged(ptr[: n + 1].copy(), data[: ptr[n]].copy())
        return keys, counts[:n].copy(), first[:n].copy()

    def _seen(self, source: int, place: int) -> Labels:
        """Type of a source that each token sees at a place."""
        kind, (at, jumps) = self.kind, self.jumps
        return loops.place_types(
            self.ptr, self.types, source, self.plan.reach, kind.place_mode[place],
            kind.place_offset[place], kind.place_via[place],
            jumps[at[place] : at[place + 1]],
        )  # fmt: skip


def _add(
    state: Any, skeleton: int, columns: list[Labels], times: Ints, where: Ints
) -> Any:
    keys = np.empty((len(times), len(columns) + 1), np.int32)
    keys[:, 0] = skeleton
    for j, column in enumerate(columns, 1):
        keys[:, j] = column
    return loops.add_keys(*state, keys, times, where)


def _inner(keys: Ragged) -> Any:
    """Which entries of keys are values, not templates."""
    mask = np.ones(len(keys.data), np.bool_)
    mask[keys.ptr[:-1]] = False
    return mask
