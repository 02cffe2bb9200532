"""Why an output, and where a weight comes from: tables to read or to work with.

    score(y) = sum over parts of sum over features of  weight * value
    w_f = sum over training examples i and wrong outputs y of  alpha_iy * a_iy[f]

`Explanation` holds the first sum for one output, `SupportTable` the second for one
weight. Both print as text and turn into data frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

NAME, WIDE = 44, 100  # letters of a name, and of an output, that are printed


@dataclass(frozen=True)
class Term:
    """One feature of a part: `adds` = weight * value."""

    feature: str
    value: float
    weight: float
    adds: float


@dataclass(frozen=True)
class Part:
    """A part of the output: a token, a node, a column, a rule ..."""

    name: str
    score: float
    terms: tuple[Term, ...]  # largest first; they add up to `score` unless cut short
    label: Any = None  # where parts have labels: its own,
    rival: Any = None  # the best other one here,
    margin: float | None = None  # and what the whole output would lose by it


@dataclass(frozen=True)
class Explanation:
    """Why a model predicts `output`.

    Attributes
    ----------
    output : object
        The best output.
    score : float
        Its score, the sum over its parts.
    parts : tuple of Part
        In the order of the output.
    rival : object
        The runner-up, the best other output; None where there is none.
    margin : float or None
        How much less the runner-up scores.

    Examples
    --------
    >>> term = Term("cap / NAME", 1.0, 0.5, 0.5)
    >>> why = Explanation("NAME", 0.5, (Part("token 0", 0.5, (term,)),), "VERB", 0.7)
    >>> print(why)
    NAME
    score 0.5, runner-up -0.2 (margin 0.7): VERB
      token 0                                       +0.5000
        cap / NAME                                  +0.5000
    """

    output: Any
    score: float
    parts: tuple[Part, ...]
    rival: Any = None
    margin: float | None = None

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def __getitem__(self, at: int) -> Part:
        """Part number `at`."""
        return self.parts[at]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dict for each feature of each part."""
        return [
            {"part": part.name, **asdict(term)}
            for part in self.parts
            for term in part.terms
        ]

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        from pandas import DataFrame

        return DataFrame(
            self.rows, columns=["part", "feature", "value", "weight", "adds"]
        )

    def features(self) -> list[tuple[str, float]]:
        """What each feature adds over all parts, largest first."""
        total: dict[str, float] = {}
        for part in self.parts:
            for term in part.terms:
                total[term.feature] = total.get(term.feature, 0.0) + term.adds
        return sorted(total.items(), key=lambda pair: -abs(pair[1]))

    def __str__(self) -> str:
        lines = [shortened(self.output, WIDE), f"score {self.score:.4g}"]
        if self.margin is not None:
            lines[-1] += (
                f", runner-up {self.score - self.margin:.4g} (margin "
                f"{self.margin:.4g}): {shortened(self.rival, WIDE)}"
            )
        for part in self.parts:
            against = ""
            if part.margin is not None:
                against = f"   {part.margin:.4g} before {part.rival}"
            name = shortened(part.name, NAME)
            lines.append(f"  {name:<{NAME}}  {part.score:+.4f}{against}")
            for term in part.terms[:8]:
                name = shortened(term.feature, NAME - 2)
                lines.append(f"    {name:<{NAME - 2}}  {term.adds:+.4f}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Parts and their largest features as bars, for notebooks."""
        most = (
            max((abs(t.adds) for part in self for t in part.terms), default=1.0) or 1.0
        )
        out = [
            f"<p><b>{escape(shortened(self.output, WIDE))}</b>, score {self.score:.4g}"
        ]
        if self.margin is not None:
            rival = escape(shortened(self.rival, WIDE))
            out.append(f"; {self.margin:.4g} ahead of {rival}")
        out.append('</p><table style="border-collapse:collapse">')
        for part in self.parts:
            out.append(
                f"<tr><th style='text-align:left' colspan=2>{escape(part.name)}</th>"
                f"<th>{part.score:+.4f}</th></tr>"
            )
            for term in part.terms[:8]:
                colour = "#1d7fd1" if term.adds >= 0 else "#d1495b"
                out.append(
                    f"<tr><td style='text-align:left'>{escape(term.feature)}</td>"
                    f"<td style='width:8em'><div style='height:.7em;background:{colour};"
                    f"width:{100 * abs(term.adds) / most:.0f}%'></div></td>"
                    f"<td>{term.adds:+.4f}</td></tr>"
                )
        return "".join([*out, "</table>"])


@dataclass(frozen=True)
class Support:
    """A constraint that shaped a weight: example `example` against `wrong`."""

    example: int
    truth: Any
    wrong: Any  # None for an average of several outputs
    loss: float
    alpha: float
    adds: float  # alpha times the difference of the feature


RIGHT = 1e-9  # up to this difference of scores the truth is the answer


@dataclass(frozen=True)
class Hard:
    """An example that is hard for a model."""

    example: int
    truth: Any
    short_by: float  # score of the best output minus score of the truth
    best: list[tuple[Any, float]]  # the best outputs with their scores
    picture: str = ""  # of the best output, as SVG or HTML
    words: tuple[str, ...] = ()  # of label sequences, where the inputs have words
    name: str = ""  # of the example, where the data have names
    possible: bool = True  # whether the model could have answered with the truth
    tied: bool = False  # whether the answer is another output with the same score

    @property
    def right(self) -> bool:
        """Whether the model answers with the truth."""
        return self.possible and not self.tied and self.short_by <= RIGHT


@dataclass(frozen=True)
class SupportTable:
    """The training examples and wrong outputs behind one weight, largest first.

    Attributes
    ----------
    feature : str
    weight : float
        Sum of `adds` over ALL rows, also those that are not kept.
    rows : tuple of Support
    """

    feature: str
    weight: float
    rows: tuple[Support, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Support]:
        return iter(self.rows)

    def __getitem__(self, at: int) -> Support:
        """Row number `at`."""
        return self.rows[at]

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        from pandas import DataFrame

        names = ["example", "truth", "wrong", "loss", "alpha", "adds"]
        return DataFrame([asdict(row) for row in self.rows], columns=names)

    def __str__(self) -> str:
        lines = [f"{self.feature}: weight {self.weight:.4g}"]
        for row in self.rows:
            lines.append(
                f"  {row.adds:+.4f}  example {row.example}: "
                f"{shortened(row.truth, 60)} against {shortened(row.wrong, 60)}"
            )
        return "\n".join(lines)


def shortened(thing: Any, most: int) -> str:
    """Text of an output in at most `most` letters.

    Examples
    --------
    >>> shortened(("NP", ("DT", "the"), ("NN", "cat")), 40)
    '(NP (DT the) (NN cat))'
    >>> import numpy as np
    >>> shortened((1, np.array([[0, 0], [1, -1]])), 40), shortened(("insect",), 40)
    ('(1, [[0, 0], [1, -1]])', '(insect)')
    """
    text = thing if isinstance(thing, str) else _plain(thing)
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 3] + "..."


def _plain(thing: Any) -> str:
    """Arrays as lists, labels side by side, trees in brackets, numbers without type."""
    if isinstance(thing, tuple) and _is_tree(thing):
        return _bracketed(thing)
    plain = _without_arrays(thing)
    if isinstance(plain, list) and plain and all(isinstance(v, str) for v in plain):
        return " ".join(plain)
    if isinstance(plain, tuple) and all(isinstance(v, str) for v in plain):
        return f"({' '.join(plain)})"  # a set of labels
    return str(plain)


def _without_arrays(thing: Any) -> Any:
    """Arrays as lists, also those within a tuple."""
    if type(thing) is tuple:
        return tuple(map(_without_arrays, thing))
    return thing.tolist() if hasattr(thing, "tolist") else thing


def _is_tree(thing: Any) -> bool:
    """Whether it is a node (label, child, ...); leaves are words."""
    if not isinstance(thing, tuple):
        return isinstance(thing, str)
    return len(thing) > 1 and isinstance(thing[0], str) and all(map(_is_tree, thing))


def _bracketed(tree: Any) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(_bracketed, tree))})"
