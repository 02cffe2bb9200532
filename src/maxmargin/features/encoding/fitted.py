"""Templates with the vocabulary of the training sentences.

Features are rows of integers, their *keys*: the number of the template's literal text,
then the numbers of the strings in its slots. Names are put together from those when
someone asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.data.arrays import Ints, Labels, Ragged, Vectors
from maxmargin.core.data.tokens.token_features import TokenFeatures, TokenParts
from maxmargin.features.encoding import loops
from maxmargin.features.encoding.plan import KindPlan, TemplatePlan
from maxmargin.features.encoding.strings import Strings
from maxmargin.features.encoding.tokens import TokenColumns
from maxmargin.features.encoding.type_tables import (
    KeyTable,
    TypeTables,
    atom_numbers,
    padded_types,
    tables_of,
    type_strings,
    type_values,
)
from maxmargin.features.templates import Templates


class _Read(NamedTuple):
    """Sentences as types."""

    ptr: Ints  # first token of each sentence
    types: Labels  # (sources, padded tokens)
    more: TypeTables  # of types that are new


@dataclass(frozen=True, eq=False)
class FittedTemplates:
    """Templates and the features that they have made of the training sentences.

    Parameters
    ----------
    templates : Templates
    types : tuple of Strings
        Distinct strings of each column; what is found for them is kept at hand.
    values : Strings
        Strings that stand in the slots of features.
    unigrams, bigrams : Ragged
        Keys of the features.

    Examples
    --------
    >>> from maxmargin.features import Column, Templates
    >>> fitted = Templates([Column().lower(), Column().suffix(2)[-1]]).fit([["La", "vi"]])
    >>> fitted.n_features, sorted(fitted.names())
    (3, ['0.lower[0]=la', '0.lower[0]=vi', '0.suffix2[-1]=La'])
    >>> fitted.encode([["la", "la"]]).unigrams.ptr.tolist()
    [0, 1, 2]
    """

    templates: Templates
    types: tuple[Strings, ...]
    values: Strings
    unigrams: Ragged
    bigrams: Ragged

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Keys stay within the templates and the values."""
        if len(self.types) != self.templates.width:
            raise ValueError(
                f"the templates read {self.templates.width} columns, but there are "
                f"types of {len(self.types)}"
            )
        _check_keys(self._plan.kinds[0], self.unigrams, len(self.values))
        _check_keys(self._plan.kinds[1], self.bigrams, len(self.values))
        _ = self._keys  # refuses equal keys

    def __repr__(self) -> str:
        counts = f"{self.n_features} features, {self.n_edge_features} of label pairs"
        return f"FittedTemplates({self.templates}, {counts})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields, without the tables that follow from them."""
        made = self.templates, self.types, self.values, self.unigrams, self.bigrams
        return FittedTemplates, made

    @property
    def n_features(self) -> int:
        """Number of features that meet single labels."""
        return self.unigrams.n

    @property
    def n_edge_features(self) -> int:
        """Number of features that meet label pairs."""
        return self.bigrams.n

    def encode(self, X: Any) -> TokenFeatures:
        """Features of sentences: lists of strings, or of rows of strings.

        Features that were not there in training are left out.
        """
        read = self._read(X)
        unigrams, bigrams = (self._rows(kind, read) for kind in (0, 1))
        return TokenFeatures(unigrams, bigrams, read.ptr)

    def parts(self, X: Any) -> TokenParts:
        """The same unigrams as sums of rows that tokens share."""
        read = self._read(X)
        ptr, ids, table = self._parts(0, read)
        ids, row_ptr, row_idx = loops.rows_in_use(ids, *table)
        rows = Vectors(row_ptr, row_idx, np.ones(len(row_idx)), self.n_features)
        tokens = Vectors(ptr, ids, np.ones(len(ids)), rows.n)
        return TokenParts(tokens, rows, read.ptr)

    def _read(self, X: Any) -> _Read:
        """Types of all tokens, with tables for those that are new."""
        plan = self._plan
        sentences = self.templates.sentences(X)
        flat, new = self._types_of(sentences)
        more = self._tables_of(new) if any(new.values()) else self._no_tables
        words = {
            s: np.append(known, plan.trie(s).word_ids(new[plan.sources[s].column]))
            for s, known in self._words.items()
        }
        return _Read(
            sentences.ptr, padded_types(plan, sentences.ptr, flat, words), more
        )

    def _rows(self, k: int, read: _Read) -> Vectors:
        """Unigrams (0) or bigrams (1) of all tokens."""
        n = len(self._keys[k].ptr) - 1
        if n == 0:
            none = np.zeros(read.ptr[-1] + 1, np.int64)
            return Vectors(none, np.empty(0, np.int32), np.empty(0), 0)
        ptr, ids, table = self._parts(k, read)
        rows, idx = loops.joined_rows(ptr, ids, *table)
        return Vectors(rows, idx, np.ones(len(idx)), n)

    def _parts(self, k: int, read: _Read) -> tuple[Ints, Labels, tuple[Any, ...]]:
        """(ptr, parts of the tokens, tables of the parts), see `loops.token_parts`."""
        plan, tables, keys, more = self._plan, self._tables, self._keys[k], read.more
        kind = plan.kinds[k]
        ptr, ids = loops.token_parts(
            read.ptr, read.types, plan.reach, k, tables.sizes,
            kind.place_mode, kind.place_offset, kind.place_via,
            *tables.jumps[k], *more.jumps[k],
            kind.block_source, kind.block_place,
            tables.rows[k][0], more.rows[k][0],
            kind.joint_ptr, kind.joint_skeleton, kind.slot_source,
            kind.slot_place, kind.slot_atom,
            tables.value_at, tables.values, more.value_at, more.values,
            keys.table, keys.ptr, keys.data,
        )  # fmt: skip
        return ptr, ids, (*tables.rows[k][1:], *more.rows[k][1:])

    def named(self, X: Any) -> list[list[list[str]]]:
        """Names of the features of each token, for the curious and for tests."""
        rows = self.encode(X)
        names, ptr, idx = self.names(), rows.unigrams.ptr, rows.unigrams.idx
        tokens = [[names[f] for f in idx[a:b]] for a, b in pairwise(ptr)]
        return [tokens[a:b] for a, b in pairwise(rows.ptr)]

    def name(self, f: int) -> str:
        """Name of a feature."""
        return self._name(self._plan.kinds[0], self.unigrams.row(f))

    def names(self) -> list[str]:
        """Names of all features."""
        return [self.name(f) for f in range(self.n_features)]

    def edge_name(self, f: int) -> str:
        """Name of a feature that meets label pairs."""
        return self._name(self._plan.kinds[1], self.bigrams.row(f))

    def edge_names(self) -> list[str]:
        """Names of all features that meet label pairs."""
        return [self.edge_name(f) for f in range(self.n_edge_features)]

    def _name(self, kind: KindPlan, key: Labels) -> str:
        texts = self.values.all
        return kind.templates[key[0]].name([texts[v] for v in key[1:]])

    def _types_of(
        self, sentences: TokenColumns
    ) -> tuple[dict[int, Labels], dict[int, list[str]]]:
        """Type of each token in each column, and the strings of types that are new."""
        flat, new = {}, {}
        outside = np.int32(len(self._plan.symbols))
        for c in self._plan.columns:
            known, texts = self.types[c].index, sentences.strings(c)
            types = np.fromiter(map(known.get, texts, repeat(-1)), np.int32, len(texts))
            strange: dict[str, int] = {}
            missing = (types < 0).nonzero()[0]
            if len(missing):
                some = [texts[k] for k in missing.tolist()]
                for text in some:
                    strange.setdefault(text, len(known) + len(strange))
                types[missing] = [strange[text] for text in some]
            flat[c], new[c] = (types + outside)[sentences.number], list(strange)
        return flat, new

    @cached_property
    def _plan(self) -> TemplatePlan:
        return self.templates.plan()

    @cached_property
    def _keys(self) -> tuple[KeyTable, KeyTable]:
        return KeyTable.of(self.unigrams), KeyTable.of(self.bigrams)

    @cached_property
    def _words(self) -> dict[int, Labels]:
        """Of sources with a gazetteer: number of each known type among its words."""
        plan = self._plan
        return {
            s: plan.trie(s).word_ids(self.types[source.column])
            for s, source in enumerate(plan.sources)
            if source.gazetteer is not None
        }

    def _tables_of(self, new: Mapping[int, list[str]]) -> TypeTables:
        """Tables for types with new strings."""
        plan = self._plan
        strings = [[] if s.gazetteer else new[s.column] for s in plan.sources]
        values = type_values(plan, strings, 0, self._numbers)
        return tables_of(plan, strings, values, self._keys)

    @cached_property
    def _numbers(self) -> list[dict[str, int]]:
        tables = self._tables
        return atom_numbers(tables.value_at, tables.values, self.values.all)

    @cached_property
    def _no_tables(self) -> TypeTables:
        return self._tables_of({c: [] for c in self._plan.columns})

    def keep_tables(
        self, strings: list[list[str]], value_at: Ints, values: Labels
    ) -> None:
        """Make the tables from what learning has found, see `type_values`."""
        tables = tables_of(self._plan, strings, (value_at, values), self._keys)
        vars(self)["_tables"] = tables

    @cached_property
    def _tables(self) -> TypeTables:
        plan = self._plan
        strings = type_strings(plan, [some.all for some in self.types])
        known = repeat(self.values.index, len(plan.atoms))
        values = type_values(plan, strings, len(plan.symbols), list(known))
        return tables_of(plan, strings, values, self._keys)


def _check_keys(kind: KindPlan, keys: Ragged, n_values: int) -> None:
    """Refuse keys, say of a damaged file, that would be read past the end of a table."""
    ptr, data = keys
    whole = ptr.dtype == np.int64 and data.dtype == np.int32 and ptr.ndim == 1
    whole = whole and len(ptr) > 0 and ptr[0] == 0 and ptr[-1] == len(data)
    if not whole or (keys.n and (np.diff(ptr) < 1).any()):
        raise ValueError("the keys of the features are not whole")
    if keys.n == 0:
        return
    skeleton = data[ptr[:-1]]
    if skeleton.min() < 0 or skeleton.max() >= len(kind.templates):
        raise ValueError("a feature belongs to no template")
    slots = np.array([len(template.slots) for template in kind.templates])
    if (np.diff(ptr) != slots[skeleton] + 1).any():
        raise ValueError("a feature does not have the slots of its template")
    inner = np.delete(data, ptr[:-1])
    if len(inner) and (inner.min() < 0 or inner.max() >= n_values):
        raise ValueError("a feature has a value that is not known")
