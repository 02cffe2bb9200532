"""What reads the features of tokens from sentences, as structures see it.

    templates.fit(X) -> reader,      reader.encode(X) -> TokenFeatures

`maxmargin.features.Templates` and `FittedTemplates` are the pair that the package has.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

from maxmargin.core.data.arrays import Ints, Vectors


class TokenFeatures(NamedTuple):
    """Features of all tokens of all sentences, as rows of ones at their numbers."""

    unigrams: Vectors  # meet the label of a token
    bigrams: Vectors  # meet the labels of a token and of the one before
    ptr: Ints  # (n + 1,) first token of each sentence


class TokenParts(NamedTuple):
    """The unigrams of tokens as sums of rows: features = tokens @ rows.

    Tokens share rows (say, all features of a word at an offset), so that scores of the
    rows, computed once, give those of the tokens with fewer additions.
    """

    tokens: Vectors  # ones at the rows of each token
    rows: Vectors  # ones at the features of each row
    ptr: Ints  # (n + 1,) first token of each sentence


@runtime_checkable
class TokenReader(Protocol):
    """Features of tokens, with the vocabulary of the training sentences."""

    @property
    def n_features(self) -> int:
        """Number of features that meet single labels."""

    @property
    def n_edge_features(self) -> int:
        """Number of features that meet pairs of labels."""

    def encode(self, X: Any) -> TokenFeatures:
        """Features of sentences; unknown ones are left out."""

    def parts(self, X: Any) -> TokenParts:
        """The same unigrams as sums of rows that tokens share."""

    def name(self, f: int) -> str:
        """Name of a feature of single labels."""

    def edge_name(self, f: int) -> str:
        """Name of a feature of label pairs."""

    def validate(self) -> None:
        """Raise ValueError unless loops can use it."""


@runtime_checkable
class TokenTemplates(Protocol):
    """What the features of tokens are, before a vocabulary is known."""

    def fit(self, X: Any) -> TokenReader:
        """Learn the vocabulary of sentences."""
