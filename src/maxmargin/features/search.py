r"""RegexSearch by a regular expression, in a time that grows slowly with the string.

Python's `re` tries one way to match after the other. For some expressions there are
exponentially many: `(a+)+$` in "aaaa...b", or fifty times `.?`. A model file may name any
expression, and strings come from users, so a search must end in bounded time.

Each expression is parsed, and the number of ways to match is bounded: a loop that has no
choices inside counts the length of the string, an option counts two, and what stands
side by side is multiplied. Where this says that `re` is quick for a string, `re` is used,
which is so for all words of usual length and usual expressions. Otherwise all ways are
followed side by side, character by character [1, 2]:

    thread    an instruction of the program that the expression becomes
    step      all threads read one character; of two at the same instruction the first stays
    priority  threads are in the order in which `re` would try them

Where an expression looks ahead or behind, one walk from the end of the string to its start
says from which places the inner part matches. So the time is at most a constant times
length of the string times size of the program.
What is found is what `re` finds, but for loops around parts that may match nothing:
`re` leaves such a loop after an empty turn, here longer matches are found as well.

[1] Thompson 1968, Regular expression search algorithm. [2] Pike 1987, The text editor sam.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

QUICK = 1e6  # steps of `re` for a string at most, about ten milliseconds
FARTHEST = 1000  # characters of a string that `re` searches at most
LARGEST = 1000  # instructions of a program at most
LONGEST = 100_000  # characters of an expression at most
MANY = 64.0  # 2 to this number of ways: too many for any string
LOOKS = (_constants.ASSERT, _constants.ASSERT_NOT)
LOOPS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)
FLAGS = (
    re.IGNORECASE | re.MULTILINE | re.DOTALL | re.ASCII
)  # those that change what an item matches


class Ways(NamedTuple):
    """How many ways to match there are in n characters: at most 2^power * n^degree."""

    power: float
    degree: float

    def times(self, other: Ways) -> Ways:
        """Ways of two parts side by side."""
        return Ways(self.power + other.power, self.degree + other.degree)

    @property
    def one(self) -> bool:
        """Whether there is no choice."""
        return self.power == 0.0 and self.degree == 0.0

    def longest(self, size: float) -> int:
        """The longest string for which `re` is quick; -1 if there is none.

        From each place in the string each way takes a step per character, and some for
        parts without characters, of which there may be as many as `size`.
        """
        if not self.power < MANY or not self.degree < MANY:
            return -1

        def steps(n: int) -> float:
            return float(2.0**self.power * n ** (self.degree + 1.0) * (n + size))

        return bisect_right(range(FARTHEST + 1), QUICK, key=steps) - 1


ENDLESS = Ways(float("inf"), 0.0)


Known = dict[int, set[int]]  # by the id of a program, where its matches begin


class Instruction(NamedTuple):
    """One instruction; the next is the one after it, unless `to` says otherwise.

    `test` is a pattern for one character ("char"), or for a place ("place"); `to` are
    the instructions to go on at, the first choice first ("jump"); a "look" tests whether
    another program matches here, or `back` characters before, or that it does not.
    """

    kind: str
    test: re.Pattern[str] | None = None
    to: tuple[int, ...] = ()
    program: Program | None = None
    back: int = -1  # before the place for "look behind"; -1 looks ahead
    holds: bool = True


@dataclass
class Program:
    """Instructions; the last one is a match."""

    code: list[Instruction]

    def first(self, s: str, known: Known | None = None) -> tuple[int, int] | None:
        """Where the first match begins and ends."""
        known = {} if known is None else known
        threads: list[tuple[int, int]] = []  # (instruction, where the match begins)
        best: tuple[int, int] | None = None
        for at in range(len(s) + 1):
            if best is None:
                threads.append((0, at))
            if not threads:
                break
            after: list[tuple[int, int]] = []
            for where, begun in self._ready(threads, s, at, known):
                step = self.code[where]
                if step.kind == "match":
                    best = begun, at
                    break  # those after it come later in the order
                assert step.test is not None
                if at < len(s) and step.test.match(s, at):
                    after.append((where + 1, begun))
            threads = after
        return best

    def _ready(
        self, threads: Sequence[tuple[int, int]], s: str, at: int,
        known: Known,
    ) -> Iterator[tuple[int, int]]:  # fmt: skip
        """Threads that read a character next, or match: each instruction once."""
        seen: set[int] = set()
        for first, begun in threads:
            left = [first]
            while left:
                where = left.pop()
                if where in seen:
                    continue
                seen.add(where)
                step = self.code[where]
                if step.kind in ("char", "match"):
                    yield where, begun
                elif step.kind == "jump":
                    left.extend(reversed(step.to))
                elif self._holds(where, s, at, known):
                    left.append(where + 1)

    def _holds(self, where: int, s: str, at: int, known: Known) -> bool:
        """Whether a test of a place holds."""
        step = self.code[where]
        if step.test is not None:
            return step.test.match(s, at) is not None
        inner = step.program
        assert inner is not None
        if id(inner) not in known:
            known[id(inner)] = inner.begins(s, known)
        return (at - max(step.back, 0) in known[id(inner)]) is step.holds

    def begins(self, s: str, known: Known) -> set[int]:
        """All places where a match begins: one walk from the end of `s` to its start.

        An instruction leads to a match if the next one does, one character later where it
        reads a character.
        """
        out: set[int] = set()
        leading: set[int] = set()  # instructions that lead to a match from `at`
        before = self._before()
        for at in range(len(s), -1, -1):
            left = [len(self.code) - 1]
            for after in leading:
                step = self.code[after - 1]
                if step.kind == "char" and step.test and step.test.match(s, at):
                    left.append(after - 1)
            leading = set()
            while left:
                where = left.pop()
                if where in leading:
                    continue
                leading.add(where)
                left.extend(
                    k for k in before[where]
                    if self.code[k].kind == "jump" or self._holds(k, s, at, known)
                )  # fmt: skip
            if 0 in leading:
                out.add(at)
        return out

    def _before(self) -> list[list[int]]:
        """Of each instruction, those that lead to it without reading a character."""
        out: list[list[int]] = [[] for _ in self.code]
        for k, step in enumerate(self.code):
            if step.kind in ("place", "look"):
                out[k + 1].append(k)
            for to in step.to:
                out[to].append(k)
        return out


class RegexSearch:
    r"""The first match of a regular expression in a string, as `re.search` finds it.

    Backreferences, conditions on groups, and atomic groups are refused: no bound on
    their time is known.

    Examples
    --------
    >>> RegexSearch("[0-9]+")("B-747")
    '747'
    >>> RegexSearch("(a+)+$")("a" * 2000 + "b") is None
    True
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._compiled, self._tree, self._longest = _parsed(pattern)
        self._made: Program | None = None

    def __reduce__(self) -> tuple[type[RegexSearch], tuple[str]]:
        """Pickle the expression."""
        return RegexSearch, (self.pattern,)

    def __call__(self, s: str) -> str | None:
        """What is matched, or None."""
        if len(s) <= self._longest:
            found = self._compiled.search(s)
            return None if found is None else found.group()
        if self._made is None:
            self._made = program_of(self._tree)
        place = self._made.first(s)
        return None if place is None else s[place[0] : place[1]]

    def each(self, strings: Sequence[str]) -> list[str | None]:
        """What is matched in each of some strings."""
        if max(map(len, strings), default=0) > self._longest:
            return [self(s) for s in strings]
        found = map(self._compiled.search, strings)
        return [None if match is None else match.group() for match in found]


@lru_cache(maxsize=256)
def _parsed(pattern: str) -> tuple[re.Pattern[str], Any, int]:
    """An expression compiled by `re`, its parts, and the longest string for `re`."""
    if len(pattern) > LONGEST:
        raise ValueError(
            f"a regular expression of {len(pattern)} characters is too long: "
            f"{LONGEST} at most"
        )
    try:
        tree = _parser.parse(pattern)
        ways, size = _ways(tree), _size(tree)
        if size > LARGEST:
            raise ValueError(
                f"the regular expression {pattern[:60]!r} is too large: counted out, "
                f"its repetitions have more than {LARGEST} parts"
            )
        compiled = re.compile(pattern)
    except RecursionError:
        raise ValueError(
            f"the regular expression {pattern[:60]!r} has too many parts within parts"
        ) from None
    except (re.error, OverflowError) as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
    return compiled, tree, ways.longest(size)


def _ways(items: Any) -> Ways:
    """Bound on the ways in which items match, one after the other."""
    out = Ways(0.0, 0.0)
    for op, given in items:
        out = out.times(_ways_of(op, given))
    return out


def _ways_of(op: Any, given: Any) -> Ways:
    if op is _constants.SUBPATTERN:
        return _ways(given[3])
    if op in LOOKS:
        return _ways(given[1])
    if op is _constants.BRANCH:
        each = [_ways(branch) for branch in given[1]]
        power = max(ways.power for ways in each) + float(len(each).bit_length())
        return Ways(power, max(ways.degree for ways in each))
    if op in LOOPS:
        least, most, body = given
        inner = _ways(body)
        if least == most and inner.one:
            return inner
        if most is _constants.MAXREPEAT or most > 2**16:
            alone = inner.one and _narrowest(body) > 0
            return Ways(1.0, 1.0) if alone else ENDLESS
        return Ways(
            inner.power * most + float((most - least + 1).bit_length()),
            inner.degree * most,
        )
    if op in (_constants.GROUPREF, _constants.GROUPREF_EXISTS):
        raise ValueError(
            "backreferences and conditions on groups cannot be used here: no bound on the "
            "time of their search is known"
        )
    if op in _UNBOUNDED:
        raise ValueError(
            "atomic groups and possessive repetitions cannot be used here: write the "
            "expression without them"
        )
    return Ways(0.0, 0.0)


_UNBOUNDED = tuple(
    getattr(_constants, name)
    for name in ("ATOMIC_GROUP", "POSSESSIVE_REPEAT")
    if hasattr(_constants, name)
)


def _narrowest(body: Any) -> int:
    """Characters that a part matches at least."""
    return int(body.getwidth()[0])


def _size(items: Any) -> float:
    """Instructions of a program, about; repetitions are counted out."""
    total = 0.0
    for op, given in items:
        if op is _constants.SUBPATTERN:
            total += _size(given[3])
        elif op in LOOKS:
            total += 2.0 + _size(given[1])
        elif op is _constants.BRANCH:
            total += sum(2.0 + _size(branch) for branch in given[1])
        elif op in LOOPS:
            least, most, body = given
            copies = least + 1 if most is _constants.MAXREPEAT else most
            total += (copies + 1.0) * (1.0 + _size(body))
        else:
            total += 1.0
    return total


def program_of(tree: Any) -> Program:
    """The program of a parsed expression."""
    code: list[Instruction] = []
    _write(code, tree, tree.state.flags & FLAGS)
    code.append(Instruction("match"))
    return Program(code)


def _write(code: list[Instruction], items: Any, flags: int) -> None:
    """Append the instructions of items, one after the other."""
    for op, given in items:
        if op is _constants.SUBPATTERN:
            _, more, fewer, body = given
            _write(code, body, (flags | more) & ~fewer & FLAGS)
        elif op is _constants.BRANCH:
            _write_branches(code, given[1], flags)
        elif op in LOOPS:
            _write_loop(code, given, flags, op is _constants.MIN_REPEAT)
        elif op in LOOKS:
            direction, body = given
            inner: list[Instruction] = []
            _write(inner, body, flags)
            inner.append(Instruction("match"))
            back = -1 if direction > 0 else int(body.getwidth()[0])
            holds = op is _constants.ASSERT
            code.append(
                Instruction("look", program=Program(inner), back=back, holds=holds)
            )
        elif op is _constants.FAILURE:
            code.append(Instruction("jump"))  # to nowhere
        else:
            kind = "place" if op is _constants.AT else "char"
            code.append(Instruction(kind, _one(op, given, flags)))


def _write_branches(code: list[Instruction], branches: Any, flags: int) -> None:
    """Alternatives: the first is tried first."""
    ends, fork = [], len(code)
    code.append(Instruction("jump"))
    starts = []
    for branch in branches:
        starts.append(len(code))
        _write(code, branch, flags)
        ends.append(len(code))
        code.append(Instruction("jump"))
    code[fork] = Instruction("jump", to=tuple(starts))
    for end in ends:
        code[end] = Instruction("jump", to=(len(code),))


def _write_loop(code: list[Instruction], given: Any, flags: int, short: bool) -> None:
    """A part again and again; as often as possible, or as rarely (`short`)."""
    least, most, body = given
    for _ in range(least):
        _write(code, body, flags)
    if most is _constants.MAXREPEAT:
        _write_endless(code, body, flags, short)
        return
    forks = []
    for _ in range(most - least):
        forks.append(len(code))
        code.append(Instruction("jump"))
        _write(code, body, flags)
    for fork in forks:
        code[fork] = _fork(fork + 1, len(code), short)


def _write_endless(code: list[Instruction], body: Any, flags: int, short: bool) -> None:
    """Any number of times; of a part that may be empty, the part once or more, or not."""
    fork = len(code)
    code.append(Instruction("jump"))
    _write(code, body, flags)
    again, empty = len(code), _narrowest(body) == 0
    code.append(Instruction("jump"))
    end = len(code)
    if empty:
        code[again] = _fork(fork + 1, end, short)
    else:
        code[again] = Instruction("jump", to=(fork,))
    code[fork] = _fork(fork + 1, end, short)


def _fork(inside: int, outside: int, short: bool) -> Instruction:
    return Instruction("jump", to=(outside, inside) if short else (inside, outside))


def _one(op: Any, given: Any, flags: int) -> re.Pattern[str]:
    """The pattern of `re` for one item: a character, or a place."""
    state = _parser.State()
    state.flags = flags if flags & re.ASCII else flags | re.UNICODE
    only = _parser.SubPattern(state, [(op, given)])
    made: re.Pattern[str] = _compiler.compile(only, state.flags)
    return made
