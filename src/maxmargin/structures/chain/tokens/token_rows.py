"""Tokens of sequences as rows of one matrix, whatever form they come in.

A sequence is one of

    a dense array (length, features) or a scipy.sparse matrix of that shape,
    a list of feature dicts  {"word": "Madrid", "is_title": True, "length": 6.0},
    a list of feature lists  ["word=Madrid", "is_title"],  or of single strings,

and all sequences together are a list of those or a `Sequences`: one flat matrix with
offsets, taken as it is. Dicts follow CRFsuite: a string value makes the feature
"key:value", a number or bool is the value of feature "key", lists and dicts nest. An
array of numbers, {"emb": vector}, makes the features "emb[0]", "emb[1]", ..
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from itertools import accumulate
from itertools import chain as concatenated
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core.data.arrays import (
    Floats,
    Ints,
    Labels,
    Ragged,
    Vectors,
    pointers,
    real_numbers,
    usable,
)
from maxmargin.core.data.tokens.sequences import Sequences, place, same_lengths
from maxmargin.core.data.tokens.token_features import TokenReader
from maxmargin.core.data.validation import check_sparse, require
from maxmargin.core.jit import loop
from maxmargin.structures.chain.tokens.named_and_dense import (
    check_beside,
    split_pairs,
    with_columns,
)
from maxmargin.structures.chain.tokens.named_tokens import (
    NamedTokens,
    is_numeric,
    named_vectors,
    vocabulary,
)

if TYPE_CHECKING:
    from maxmargin.structures.chain.structure import Chain

DENSE = 0.3  # share of non-zeros above which dense rows are faster


class Gathered(NamedTuple):
    """All tokens of all sequences: a matrix, or feature dicts and lists one by one."""

    matrix: Any  # dense (tokens, features) or sparse; None where tokens are named
    named: list[Any]  # feature dicts, lists or strings
    ptr: Ints  # (n + 1,) first token of each sequence


def _rows(X: Any) -> list[Any]:
    """Sequences as a list."""
    if type(X) is list:
        return X
    if not hasattr(X, "__iter__"):
        raise TypeError(f"X is one {type(X).__name__}, not a list of sequences")
    return list(X)


def gather(X: Any) -> Gathered:
    """One matrix, or one list of named tokens, from sequences in any known form."""
    if isinstance(X, Sequences):
        if sp.issparse(X.flat):
            check_sparse(X.flat, "the matrix of all tokens")
        return Gathered(_check_matrix(X.flat, X.offsets), [], X.offsets)
    rows = _rows(X)
    quick = _named_tokens(rows)
    if quick is not None:
        return quick
    kinds = [_kind(row, i) for i, row in enumerate(rows)]
    known = sorted({k for k in kinds if k})
    if len(known) > 1:
        i, j = kinds.index(known[0]), kinds.index(known[1])
        raise ValueError(
            f"sequence {i} holds {known[0]} but sequence {j} holds {known[1]}: "
            "all sequences must come in one form"
        )
    ptr = pointers([row.shape[0] if sp.issparse(row) else len(row) for row in rows])
    if not known:
        return Gathered(np.zeros((0, 0)), [], ptr)
    if known[0] == "named features":
        return Gathered(None, list(concatenated.from_iterable(rows)), ptr)
    filled = [row for row, kind in zip(rows, kinds) if kind]
    if known[0] == "sparse matrices":
        widths = [row.shape[1] for row in filled]
    else:
        filled = [_dense(row, i) for i, row in enumerate(rows) if kinds[i]]
        widths = [row.shape[1] for row in filled]
    if len(set(widths)) > 1:
        j = next(j for j, width in enumerate(widths) if width != widths[0])
        i = [i for i, kind in enumerate(kinds) if kind][j]
        raise ValueError(
            f"sequence {i} has {widths[j]} features per token, others {widths[0]}"
        )
    matrix = (
        sp.vstack(filled, "csr") if sp.issparse(filled[0]) else np.concatenate(filled)
    )
    return Gathered(_check_matrix(matrix, ptr), [], ptr)


def _named_tokens(rows: list[Any]) -> Gathered | None:
    """Plain lists of feature dicts, lists or strings; None for all else.

    One sentence at a time, the checks of `_kind` would take longer than the encoding.
    """
    if set(map(type, rows)) != {list}:
        return None
    tokens = list(concatenated.from_iterable(rows))
    kinds = set(map(type, tokens))
    if kinds == {list}:
        if not all(map(_begins_with_name, rows)):
            return None
    elif kinds not in ({dict}, {str}):
        return None
    ptr = np.zeros(len(rows) + 1, np.int64)
    ptr[1:] = list(accumulate(map(len, rows)))
    return Gathered(None, tokens, ptr)


def _begins_with_name(row: list[Any]) -> bool:
    """Whether the first feature of the first token is a string, not a number."""
    return not row or (bool(row[0]) and type(row[0][0]) is str)


def _kind(row: Any, i: int) -> str:
    if sp.issparse(row):
        check_sparse(row, f"sequence {i}")
        return "sparse matrices"
    if isinstance(row, str | bytes | Mapping | Set) or not hasattr(row, "__len__"):
        advice = "X is a list of sequences, so write [X] for a single one"
        if isinstance(row, str | bytes):
            advice = "split text into words, and write [X] for a single sequence"
        elif isinstance(row, Set):
            advice = "a set has no order"
        raise ValueError(
            f"sequence {i} is a {type(row).__name__}, not a list of tokens: {advice}"
        )
    if hasattr(row, "iloc") and row.ndim == 2:
        raise ValueError(
            f"sequence {i} is a {type(row).__name__}, not a list of tokens: give "
            "its to_numpy(), or its to_dict('records') for named features"
        )
    if len(row) == 0:
        return ""
    if isinstance(row, np.ndarray) and row.dtype != object:
        return "arrays"
    named = [
        isinstance(token, Mapping | str | list | tuple | set | frozenset)
        for token in row
    ]
    if isinstance(row[0], list | tuple) and is_numeric(row[0]):
        return "arrays"
    if all(named):
        return "named features"
    if not any(named):
        return "arrays"
    t = named.index(not named[0])
    raise ValueError(
        f"sequence {i}, token {t}: a {type(row[t]).__name__} among tokens given as "
        f"{type(row[0]).__name__}: dicts and arrays cannot be mixed"
    )


def _dense(row: Any, i: int) -> Any:
    try:
        array = real_numbers(row)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sequence {i} is not an array of numbers: {error}") from None
    if array.ndim != 2:
        raise ValueError(
            f"sequence {i} has shape {array.shape}, but (length, features) is needed; for "
            "a single sequence write [X]"
        )
    return array


def _check_matrix(matrix: Any, ptr: Ints) -> Any:
    if matrix.ndim != 2:
        raise ValueError("tokens must be rows of a matrix (tokens, features)")
    values = matrix.data if sp.issparse(matrix) else matrix
    if values.dtype.kind not in "biuf":
        kind = "Python objects" if values.dtype == object else str(values.dtype)
        raise ValueError(f"features must be numbers, not {kind}")
    if values.dtype.kind == "f" and not usable(values).all():
        dense = sp.csr_array(matrix) if sp.issparse(matrix) else matrix
        bad = (
            int(
                np.searchsorted(
                    dense.indptr, np.flatnonzero(~usable(dense.data))[0], "right"
                )
            )
            - 1
            if sp.issparse(matrix)
            else int(np.argwhere(~usable(dense))[0][0])
        )
        i = int(np.searchsorted(ptr, bad, "right")) - 1
        raise ValueError(
            f"sequence {i}, token {bad - ptr[i]}: a feature is not finite, or so large "
            "that its square overflows"
        )
    return matrix


def windowed(matrix: Any, ptr: Ints, reach: int) -> Any:
    """Beside each row the rows before and after it, zero beyond the sequence."""
    if reach == 0:
        return matrix
    n = matrix.shape[0]
    owner = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    parts = []
    for shift in range(-reach, reach + 1):
        source = np.arange(n) + shift
        inside = (source >= 0) & (source < n)
        inside[inside] = owner[source[inside]] == owner[inside]
        if sp.issparse(matrix):
            pick = np.flatnonzero(inside)
            ones = np.ones(len(pick)), (pick, source[pick])
            parts.append(sp.csr_array(ones, shape=(n, n)) @ matrix)
        else:
            part = np.zeros(matrix.shape)
            part[inside] = matrix[source[inside]]
            parts.append(part)
    return sp.hstack(parts, "csr") if sp.issparse(matrix) else np.hstack(parts)


def is_sparse(matrix: Any) -> bool:
    """Whether rows are better kept without their zeros."""
    if sp.issparse(matrix):
        return True
    return matrix.size == 0 or np.count_nonzero(matrix) < DENSE * matrix.size


def vectors_of(matrix: Any, sparse: bool) -> Vectors:
    """Rows of a matrix in the layout asked for; zeros of a dense one are left out."""
    if not sparse or sp.issparse(matrix):
        return Vectors.of(matrix, sparse)
    dense = np.ascontiguousarray(matrix, dtype=np.float64)
    return Vectors(*(*_compress(dense), dense.shape[1]))


@loop
def _compress(dense):
    """CSR parts of a dense matrix; scipy's way there takes ten times as long."""
    n, width = dense.shape
    ptr = np.zeros(n + 1, np.int64)
    for r in range(n):
        count = 0
        for f in range(width):
            count += dense[r, f] != 0.0
        ptr[r + 1] = ptr[r] + count
    idx, val = np.empty(ptr[n] + 1, np.int32), np.empty(ptr[n] + 1)
    for r in range(n):
        m = ptr[r]
        for f in range(width):
            idx[m] = f  # written over if the value is zero: no branch
            val[m] = dense[r, f]
            m += dense[r, f] != 0.0
    return ptr, idx[: ptr[n]], val[: ptr[n]]


def label_rows(labels: Sequence[Hashable], flat: Sequence[Any], ptr: Ints) -> Ragged:
    """Labels as numbers; a label that is not among `labels` is named with its place."""
    where = {label: k for k, label in enumerate(labels)}
    try:
        data = np.fromiter(map(where.__getitem__, flat), np.int32, len(flat))
    except KeyError as error:
        row = next(t for t, y in enumerate(flat) if y not in where)
        known = ", ".join(repr(label) for label in labels[:8])
        raise ValueError(
            f"{place(row, ptr)}: unknown label {error.args[0]!r}; known are {known}"
            + (", .." if len(labels) > 8 else "")
        ) from None
    return Ragged(ptr, data)


_NO_LABELS = np.empty(0, np.int32)


class Tokens(NamedTuple):
    """Encoded inputs: the tokens of all sequences as rows."""

    vectors: Vectors
    ptr: Ints  # (n + 1,) first token of each sequence
    forced: Labels  # (tokens,) label that must stand there or -1; empty: none
    edges: Vectors | None = None  # edge features, if they are not those of `vectors`

    @property
    def edge_vectors(self) -> Vectors:
        """Edge features, where the structure has any."""
        return self.vectors if self.edges is None else self.edges

    @property
    def n(self) -> int:
        """Number of sequences."""
        return len(self.ptr) - 1


class KnownInputs(NamedTuple):
    """What training knows about the features of tokens."""

    names: dict[str, int] | None  # column of each named feature
    reader: TokenReader | None  # templates with their vocabulary
    columns: int  # number of features, with those of a matrix beside the tokens
    beside: int  # columns of that matrix
    sparse: bool  # whether zeros are left out


def known_inputs(chain: Chain, X: Any, ptr: Ints) -> KnownInputs:
    """Look at the training inputs, whose labels begin at `ptr`."""
    X, beside = _split(X)
    more = 0 if beside is None else beside.shape[1]
    if chain.templates is not None:
        reader = chain.templates.fit(X)
        same_lengths(pointers([len(row) for row in X]), ptr)
        check_templates(chain, reader)
        return KnownInputs(None, reader, reader.n_features + more, more, True)
    tokens = gather(X)
    same_lengths(tokens.ptr, ptr)
    if tokens.matrix is None:
        names = vocabulary(NamedTokens(tokens.named, tokens.ptr))
        return KnownInputs(names, None, len(names) + more, more, True)
    if beside is not None:
        raise ValueError(
            "a matrix can stand beside named features, not beside arrays: put the "
            "columns into one array"
        )
    sparse = is_sparse(tokens.matrix)
    return KnownInputs(None, None, tokens.matrix.shape[1], 0, sparse)


def check_templates(chain: Chain, reader: TokenReader) -> None:
    """Refuse settings that say twice what templates say."""
    if chain.window:
        raise ValueError(
            f"window={chain.window} and templates exclude each other: templates read "
            "other tokens by their offsets"
        )
    if chain.edge_features and reader.n_edge_features:
        raise ValueError(
            "edge_features=True and bigram templates exclude each other: leave one out"
        )


def validate_inputs(chain: Chain) -> None:
    """Features are numbered from 0 on, without gaps."""
    named = chain.columns - chain.beside
    require(0 <= chain.beside <= chain.columns, "a matrix has too many columns")
    if chain.names is not None:
        numbers = sorted(chain.names.values())
        require(numbers == list(range(named)), "features are numbered wrong")
    elif chain.reader is None:
        require(chain.beside == 0, "a matrix stands beside nothing")
    if chain.reader is not None:
        chain.reader.validate()
        require(chain.names is None, "templates and names exclude each other")
        require(named == chain.reader.n_features, "the templates have other features")
        require(chain.sparse or chain.phi, "features of templates are sparse")
        check_templates(chain, chain.reader)


def encode_tokens(chain: Chain, X: Sequence[Any]) -> Tokens:
    """Tokens as rows, in the layout that `bind` chose."""
    X, beside = _split(X)
    if chain.reader is not None:
        read = chain.reader.encode(X)
        edges = read.bigrams if chain.reader.n_edge_features else None
        return _finished(chain, read.unigrams, read.ptr, beside, edges)
    tokens = gather(X)
    matrix = tokens.matrix
    if chain.names is not None:
        if matrix is not None and matrix.shape[0] > 0:
            raise ValueError("this model was trained on named features, not arrays")
        vectors = named_vectors(
            NamedTokens(tokens.named, tokens.ptr), chain.names, chain.pairs
        )
        return _finished(chain, vectors, tokens.ptr, beside)
    if matrix is None:
        raise ValueError("this model was trained on arrays, not named features")
    if beside is not None:
        check_beside(beside, 0)
    if matrix.shape[0] == 0:
        matrix = np.zeros((0, chain.columns))
    if matrix.shape[1] != chain.columns:
        raise ValueError(
            f"tokens have {matrix.shape[1]} features, in training {chain.columns}"
        )
    return _seen_through(chain, matrix, tokens.ptr)


def _finished(
    chain: Chain, vectors: Vectors, ptr: Ints, beside: Floats | None,
    edges: Vectors | None = None,
) -> Tokens:  # fmt: skip
    """Named features with the matrix beside them, the window and the map."""
    if beside is not None or (chain.beside and len(ptr) > 1):
        check_beside(beside, chain.beside)
        assert beside is not None
        vectors = with_columns(vectors, beside)
    if chain.window == 0 and chain.phi is None:
        return Tokens(vectors, ptr, _NO_LABELS, edges)
    return _seen_through(chain, vectors.csr(), ptr)._replace(edges=edges)


def _seen_through(chain: Chain, matrix: Any, ptr: Ints) -> Tokens:
    """Rows of a matrix with their windows, mapped, in the layout of training."""
    matrix = windowed(matrix, ptr, chain.window)
    if chain.phi is not None:
        matrix = chain.phi(matrix)
    vectors = vectors_of(matrix, chain.sparse)
    if vectors.width != chain.layout.width:
        raise ValueError(
            f"tokens have {vectors.width} features, the weights {chain.layout.width}"
        )
    return Tokens(vectors, ptr, _NO_LABELS)


def _split(X: Any) -> tuple[Any, Floats | None]:
    """Tokens, and the matrices beside them where sequences are pairs."""
    if isinstance(X, Sequences):
        return X, None
    rows = _rows(X)
    if any(isinstance(row, tuple) for row in rows):
        return split_pairs(rows)
    return rows, None
