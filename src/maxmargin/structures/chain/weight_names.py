"""Names for the weights of a chain, and what each of them adds to a score."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from maxmargin.core.data.arrays import Floats, Ints, Rows, Vectors
from maxmargin.core.data.lazy_names import LazyNames
from maxmargin.core.data.tokens.token_features import TokenReader
from maxmargin.core.structure import Pieces
from maxmargin.structures.chain.layout import ChainLayout


def other_name(name: str, taken: Sequence[str]) -> str:
    """The name of a built-in feature, told apart from a feature of the user's.

    Examples
    --------
    >>> other_name("bias", ["word"]), other_name("bias", ["bias"])
    ('bias', 'bias (built in)')
    """
    return f"{name} (built in)" if name in taken else name


class InputNames(LazyNames):
    """Names of the features of templates and of columns beside them."""

    def __init__(self, reader: TokenReader, beside: Sequence[str]) -> None:
        self.reader, self.beside = reader, beside

    def __len__(self) -> int:
        return self.reader.n_features + len(self.beside)

    def name_of(self, at: int) -> str:
        """Name of feature number `at`."""
        n = self.reader.n_features
        return self.reader.name(at) if at < n else self.beside[at - n]


WORD_KEYS = ("word", "w", "form", "text", "token", "word.lower()")


def words_of_dicts(tokens: Any) -> tuple[str, ...]:
    """Words of feature dicts that have one under a usual key; else none.

    Examples
    --------
    >>> words_of_dicts([{"w": "Ana", "cap": True}]), words_of_dicts([["w=Ana"]])
    (('Ana',), ())
    """
    rows = list(tokens) if isinstance(tokens, list | tuple) else []
    if not rows or not all(isinstance(token, dict) for token in rows):
        return ()
    for key in WORD_KEYS:
        if all(isinstance(token.get(key), str) for token in rows):
            return tuple(token[key] for token in rows)
    return ()


def first_column(token: Any) -> str:
    """The word of a token: a string, the first of a row, or the first value of a dict."""
    if isinstance(token, str):
        return token
    return str(next(iter(token.values())) if isinstance(token, dict) else token[0])


def edge_names(reader: TokenReader | None) -> Sequence[str]:
    """Names of the features that bigram templates make."""
    if reader is None:
        return []
    return [reader.edge_name(f) for f in range(reader.n_edge_features)]


class WeightNames(LazyNames):
    """Names of all weights, each made when it is asked for.

    Parameters
    ----------
    layout : ChainLayout
        Where the parts of w begin.
    labels, inputs : sequences
        Names of labels and of input features.
    sparse : bool
        Whether input weights are feature-major.
    edges : sequence
        Names of edge features.

    Examples
    --------
    >>> from maxmargin.structures.chain.layout import layout_of
    >>> layout = layout_of(2, 1, 1, start_end=True, bias=False, edge=False)
    >>> list(WeightNames(layout, ("B", "O"), ["cap"], True))[1:4]
    ['cap / O', 'B -> B', 'B -> O']
    """

    def __init__(
        self,
        layout: ChainLayout,
        labels: Sequence[Hashable],
        inputs: Sequence[str],
        sparse: bool,
        edges: Sequence[str] = (),
    ) -> None:
        self.edges = edges
        self.layout, self.labels, self.inputs = layout, labels, inputs
        self.sparse = sparse
        self.constant = other_name("bias", inputs)

    def __len__(self) -> int:
        return self.layout.dim

    def name_of(self, at: int) -> str:
        """Name of weight number `at`."""
        spot, k = self.layout, len(self.labels)
        if at < spot.width * k:
            f, y = self._feature(at, k, spot.width)
            return f"{self.inputs[f]} / {self.labels[y]}"
        if 0 <= spot.edge <= at:
            f, y = self._feature(at - spot.edge, k * k, len(self.edges))
            a, b = divmod(y, k)
            return f"{self.edges[f]} / {self.labels[a]} -> {self.labels[b]}"
        if 0 <= spot.bias <= at:
            return f"{self.constant} / {self.labels[at - spot.bias]}"
        if 0 <= spot.end <= at:
            return f"{self.labels[at - spot.end]} -> end"
        if 0 <= spot.start <= at:
            return f"start -> {self.labels[at - spot.start]}"
        return self._tuple(at - spot.pairs, k)

    def _feature(self, at: int, k: int, width: int) -> tuple[int, int]:
        """Feature and label of a weight among those of `width` features, `k` labels."""
        if self.sparse:
            return divmod(at, k)
        y, f = divmod(at, width)
        return f, y

    def _tuple(self, at: int, k: int) -> str:
        size = 2
        while at >= k**size:
            at -= k**size
            size += 1
        names = []
        for _ in range(size):
            at, y = divmod(at, k)
            names.append(str(self.labels[y]))
        return " -> ".join(reversed(names))


def input_weights(layout: ChainLayout, w: Floats, sparse: bool) -> Floats:
    """(features, labels) view of the weights of the input."""
    block = w[: layout.width * layout.labels]
    if sparse:
        return block.reshape(layout.width, layout.labels)
    return block.reshape(layout.labels, layout.width).T


def token_parts(structure: Any, x: Any, i: int, row: Sequence[int]) -> Pieces:
    """What each token adds to psi of the labels `row` of sequence i."""
    spot, k, eta = structure.layout, len(structure.labels), float(structure.eta)
    vectors, names, parts = x.vectors, [], []
    for t, y in enumerate(row):
        r = int(x.ptr[i]) + t
        idx, val = _entries(vectors, r)
        step, jump = vectors.stride(k)
        at = [idx * step + y * jump]
        size = [val]
        if spot.edge >= 0 and t > 0:
            idx, val = _entries(x.edge_vectors, r)
            step, jump = x.edge_vectors.stride(k * k)
            at.append(spot.edge + idx * step + (row[t - 1] * k + y) * jump)
            size.append(val)
        alone = _label_only(spot, k, row, t)
        at.append(np.array(alone, np.int64))
        size.append(np.full(len(alone), eta))
        if spot.bias >= 0:
            at.append(np.array([spot.bias + y]))
            size.append(np.ones(1))
        parts.append((np.concatenate(at), np.concatenate(size)))
        names.append(f"token {t}: {structure.labels[y]}")
    return Pieces(names, Rows.pack(parts))


def _entries(vectors: Vectors, r: int) -> tuple[Ints, Floats]:
    """Coordinates and values of vector r."""
    some = slice(vectors.ptr[r], vectors.ptr[r + 1])
    val = vectors.val[some]
    idx = vectors.idx[some] if vectors.sparse else np.arange(len(val))
    return idx.astype(np.int64), val


def _label_only(spot: ChainLayout, k: int, row: Sequence[int], t: int) -> list[int]:
    at, code, begin = [], row[t], spot.pairs
    for j in range(1, min(spot.order, t) + 1):
        code += row[t - j] * k**j
        at.append(begin + code)
        begin += k ** (j + 1)
    if t == 0 and spot.start >= 0:
        at.append(spot.start + row[0])
    if t == len(row) - 1 and spot.end >= 0:
        at.append(spot.end + row[t])
    return at
