"""Parameters chosen on held-out data: by one rule for all methods, never at an edge.

`search` tries a grid and widens it while its best value lies at an end. What was chosen
from which grid goes into the record of the experiment that runs; the runner warns of
values that lie on an edge all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

WIDER = 4  # times that a grid may grow by one value


class Choice(NamedTuple):
    """A value and the grid that it was chosen from."""

    name: str
    value: float
    grid: tuple[float, ...]
    ends: bool = False  # the ends of the grid are natural ones (as r = 1, or k = 1)

    @property
    def on_edge(self) -> bool:
        """Whether a wider grid might have a better value."""
        one = len(self.grid) > 1 and self.value in (min(self.grid), max(self.grid))
        return one and not self.ends


_made: ContextVar[list[Choice] | None] = ContextVar("made", default=None)


@contextmanager
def watched() -> Iterator[list[Choice]]:
    """Collect the choices that are made inside."""
    made: list[Choice] = []
    token = _made.set(made)
    try:
        yield made
    finally:
        _made.reset(token)


def note(name: str, value: float, grid: Sequence[float], ends: bool = False) -> Choice:
    """Write down a choice, also one that an earlier run made and kept."""
    choice = Choice(name, float(value), tuple(sorted(map(float, grid))), ends)
    made = _made.get()
    if made is not None:
        made.append(choice)
    return choice


def search(
    name: str, grid: Sequence[float], loss: Callable[[float], float], wider: int = WIDER
) -> Choice:
    """The value with the least loss; among equals the middle one.

    The grid is taken as geometric: while its best value lies at an end it grows there
    by the ratio of the two values at that end, at most `wider` times.
    """
    values = sorted(map(float, grid))
    found = {v: loss(v) for v in values}
    for _ in range(wider if len(values) > 1 else 0):
        best = _best(found)
        if best == min(found):
            low, high = sorted(found)[:2]
            new = low * low / high
        elif best == max(found):
            low, high = sorted(found)[-2:]
            new = high * high / low
        else:
            break
        new = float(f"{new:.6g}")
        found[new] = loss(new)
    return note(name, _best(found), list(found))


def _best(found: dict[float, float]) -> float:
    least = min(found.values())
    equal = [v for v in sorted(found) if found[v] == least]
    return equal[len(equal) // 2]


def summary(made: Sequence[Choice]) -> list[dict[str, Any]]:
    """Per name: the grid, how often which value was chosen, how often on an edge."""
    out = []
    for name in dict.fromkeys(choice.name for choice in made):
        own = [choice for choice in made if choice.name == name]
        grid = sorted({v for choice in own for v in choice.grid})
        count = Counter(choice.value for choice in own)
        out.append({
            "name": name, "grid": grid,
            "chosen": {f"{v:g}": count[v] for v in sorted(count)},
            "on edge": sum(choice.on_edge for choice in own),
        })  # fmt: skip
    return out


def shown(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What was chosen, in a line each."""
    for row in rows:
        grid = ", ".join(f"{v:g}" for v in row["grid"])
        times = ", ".join(f"{v} ({k} times)" for v, k in row["chosen"].items())
        edge = row["on edge"]
        warning = f"; **{edge} times on the edge of the grid**" if edge else ""
        yield f"- {row['name']}, from {grid}: {times}{warning}"
