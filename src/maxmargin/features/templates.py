"""Feature templates: which strings of a sentence make the features of a token.

A template is literal text with slots; a slot reads one column of one token, at an
offset from the current one, and takes it through steps (lower case, suffix, ..):

    U05:%x[-1,0]/%x[0,0]     ->   "U05:" word[-1] "/" word[0]     ->   U05:el/rey

Two templates with the same literal text share their features, as in CRF++, where
`U:%x[-1,0]` and `U:%x[1,0]` make a bag of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maxmargin.features.columns import Column, Conjunction
from maxmargin.features.encoding.plan import TemplatePlan
from maxmargin.features.encoding.tokens import TokenColumns, sentences_of
from maxmargin.features.slots import Template
from maxmargin.features.template_files import parse_template, read_template_lines

if TYPE_CHECKING:
    from maxmargin.features.encoding.fitted import FittedTemplates


@dataclass(frozen=True)
class Templates:
    """The templates of a model.

    Parameters
    ----------
    unigrams : list
        Templates of features that meet the label of a token: `Column`s, columns joined
        by `&`, lines of a template file as text, `Template`s, or plain text without a
        slot for a feature of all tokens.
    bigrams : list
        The same for features that meet the labels of a token and of the one before.
    columns : list of str
        Names of the columns, where templates use names.
    symbol : {"_B", "_x"}
        What stands for tokens outside the sentence: _B-1 (CRF++) or _x-1 (Wapiti).
    min_count : int
        Features that occur less often in training are left out.
    transitions : bool
        Whether label pairs have weights of their own, a line `B` in a template file.

    Examples
    --------
    >>> word, tag = Column("word"), Column("tag")
    >>> templates = Templates(
    ...     [word, word.lower()[-1], word.suffix(2), tag[-1] & tag[0]],
    ...     columns=["word", "tag"],
    ... )
    >>> fitted = templates.fit([[("La", "D"), ("casa", "N")]])
    >>> fitted.named([[("una", "D"), ("casa", "N")]])[0][1]
    ['word[0]=casa', 'word.suffix2[0]=sa', 'tag[-1]=D|tag[0]=N']
    """

    unigrams: tuple[Template, ...]
    bigrams: tuple[Template, ...] = ()
    columns: tuple[str, ...] = ()
    symbol: str = "_B"
    min_count: int = 1
    transitions: bool = True

    def __init__(
        self,
        unigrams: Iterable[Any],
        bigrams: Iterable[Any] = (),
        columns: Iterable[str] = (),
        symbol: str = "_B",
        min_count: int = 1,
        transitions: bool = True,
    ) -> None:
        names = tuple(columns)
        put = object.__setattr__
        put(self, "columns", names)
        put(self, "symbol", symbol)
        put(self, "min_count", min_count)
        put(self, "transitions", bool(transitions))
        put(self, "unigrams", tuple(_template(item, names) for item in unigrams))
        put(self, "bigrams", tuple(_template(item, names) for item in bigrams))
        self.validate()

    def validate(self) -> None:
        """Refuse wrong parameters, and no templates at all."""
        if len(set(self.columns)) != len(self.columns):
            raise ValueError(
                f"two columns have the same name: {', '.join(self.columns)}"
            )
        if self.symbol not in ("_B", "_x"):
            raise ValueError(
                f"symbol={self.symbol!r} is not '_B' (CRF++) or '_x' (Wapiti)"
            )
        if type(self.min_count) is not int or self.min_count < 1:
            raise ValueError(f"min_count={self.min_count!r} is not a whole number > 0")
        if not self.unigrams and not self.bigrams:
            raise ValueError("there are no templates")

    def __repr__(self) -> str:
        counts = f"{len(self.unigrams)} unigrams, {len(self.bigrams)} bigrams"
        return f"Templates({counts}, {self.width} columns)"

    @classmethod
    def read(
        cls,
        path: str | Path,
        dialect: str = "auto",
        encoding: str = "utf-8",
        min_count: int = 1,
    ) -> Templates:
        """Read a template file of CRF++ or Wapiti.

        Parameters
        ----------
        path : path
        dialect : {"auto", "crf++", "wapiti"}
            "auto" takes a file for Wapiti's if it uses what CRF++ does not have.
        encoding : str
        min_count : int
            See above.
        """
        found = read_template_lines(path, dialect, encoding)
        return cls(
            found.unigrams, found.bigrams, symbol=found.symbol, min_count=min_count,
            transitions=found.transitions,
        )  # fmt: skip

    @cached_property
    def width(self) -> int:
        """Number of columns that tokens need to have."""
        slots = [s for t in (*self.unigrams, *self.bigrams) for s in t.slots]
        return max((slot.widest + 1 for slot in slots), default=1)

    def plan(self) -> TemplatePlan:
        """The templates as arrays, for compiled loops."""
        return TemplatePlan(self.unigrams, self.bigrams, self.symbol)

    def sentences(self, X: Any) -> TokenColumns:
        """Sentences whose tokens have the columns that the templates read."""
        return sentences_of(X, self.width, self.columns, self._widest)

    @cached_property
    def _widest(self) -> str:
        """Where the template that reads the last column was written."""
        for template in (*self.unigrams, *self.bigrams):
            if any(slot.widest + 1 == self.width for slot in template.slots):
                return template.source
        return "a template"

    def fit(self, X: Any) -> FittedTemplates:
        """Learn the vocabulary of sentences."""
        from maxmargin.features.encoding.learning import (
            learn_features,  # it knows this class
        )

        return learn_features(self, X)


def _template(item: Any, columns: Sequence[str]) -> Template:
    if isinstance(item, Template):
        return item
    if isinstance(item, Column):
        item = Conjunction((item,))
    if isinstance(item, Conjunction):
        return item.template(columns)
    if isinstance(item, str):
        return parse_template(item)
    raise TypeError(
        f"a template is a Column, columns joined by &, or text, not {item!r:.80}"
    )
