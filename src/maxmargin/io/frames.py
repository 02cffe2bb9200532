"""Data frames as lists of sequences, graphs and queries, and predictions back as columns.

A long table has one row per token, node or document, and a column that says to which
sentence, graph or query the row belongs. pandas, polars and Arrow tables are read alike,
through narwhals, which is imported when a frame is handed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

READ_AS_MISSING = (
    " (pandas.read_csv reads words such as NA and null as missing, unless "
    "keep_default_na=False)"
)


class FrameSequences(NamedTuple):
    """Sequences read from a frame."""

    X: list[Any]  # a list of dictionaries {column: value} per sequence
    y: list[list[Any]] | None  # labels
    rows: list[Ints]  # which rows of the frame they are


def sequences_from_frame(
    frame: Any,
    by: str,
    label: str | None = None,
    columns: Sequence[str] | None = None,
    order: str | None = None,
) -> FrameSequences:
    """The sequences of a long table, as `ChainSVM` and `SegmentSVM` take them.

    Parameters
    ----------
    frame : pandas, polars or Arrow table
        One row per token.
    by : str
        The column that names the sequence of each row. Sequences are in the order in
        which they first appear; their rows need not stand together.
    label : str, optional
        The column of labels; None for data without.
    columns : sequence of str, optional
        The columns that become features; by default all others. Strings are categories,
        numbers are values.
    order : str, optional
        A column to sort the rows of each sequence by; by default as they stand.

    Examples
    --------
    >>> import pandas as pd
    >>> from maxmargin.io import sequences_from_frame
    >>> frame = pd.DataFrame({"sentence": [1, 1, 2], "word": ["Ana", "sings", "Bob"],
    ...                       "tag": ["PER", "O", "PER"]})
    >>> X, y, rows = sequences_from_frame(frame, by="sentence", label="tag")
    >>> X
    [[{'word': 'Ana'}, {'word': 'sings'}], [{'word': 'Bob'}]]
    >>> y
    [['PER', 'O'], ['PER']]
    """
    table = _Table(frame)
    known = [name for name in (by, label, order) if name is not None]
    table.require([*known, *(columns or ())])
    names = [c for c in table.names if c not in known] if columns is None else columns
    if not names:
        raise ValueError("the frame has no column left for features")
    rows = table.groups(by, order)
    lists = {name: table.values(name, "feature") for name in names}
    X = [[{name: lists[name][r] for name in names} for r in part] for part in rows]
    if label is None:
        return FrameSequences(X, None, rows)
    labels = table.values(label, "label")
    return FrameSequences(X, [[labels[r] for r in part] for part in rows], rows)


def column_of_predictions(rows: Sequence[Ints], predicted: Sequence[Any]) -> list[Any]:
    """What was predicted for each example, in the order of the frame's rows.

    Examples
    --------
    >>> column_of_predictions([np.array([0, 2]), np.array([1])], [["a", "b"], ["c"]])
    ['a', 'c', 'b']
    """
    total = sum(len(part) for part in rows)
    out: list[Any] = [None] * total
    for k, (part, labels) in enumerate(zip(rows, predicted, strict=True)):
        if len(part) != len(labels):
            raise ValueError(
                f"example {k} has {len(part)} rows, but {len(labels)} predictions"
            )
        for r, value in zip(part.tolist(), labels, strict=True):
            out[r] = value
    return out


def column_apart(frame: Any, name: str) -> tuple[Any, list[Any]]:
    """A table without one of its columns, and that column as plain values.

    Examples
    --------
    >>> import pandas as pd
    >>> rest, query = column_apart(pd.DataFrame({"q": ["a"], "bm25": [1.0]}), "q")
    >>> list(rest.columns), query
    (['bm25'], ['a'])
    """
    table = _Table(frame)
    table.require([name])
    return table.without(name), table.values(name, "entry")


class FrameQueries(NamedTuple):
    """Queries read from a frame."""

    X: list[NDArray[np.float64]]  # features of the documents of each query
    y: list[NDArray[np.int64]] | None  # their grades
    rows: list[Ints]  # which rows of the frame they are


def queries_from_frame(
    frame: Any,
    by: str,
    grade: str | None = None,
    columns: Sequence[str] | None = None,
) -> FrameQueries:
    """The queries of a long table, as `RankingSVM` takes them.

    Parameters
    ----------
    frame : pandas, polars or Arrow table
        One row per document.
    by : str
        The column that names the query of each row. Queries are in the order in which
        they first appear; their rows need not stand together.
    grade : str, optional
        The column of grades 0, 1, 2, ...; None for data without.
    columns : sequence of str, optional
        The columns of numbers that are features; by default all others.

    Examples
    --------
    >>> import pandas as pd
    >>> from maxmargin.io import queries_from_frame
    >>> frame = pd.DataFrame({"query": ["a", "b", "a"], "bm25": [1.0, 2.0, 3.0],
    ...                       "grade": [0, 1, 2]})
    >>> X, y, rows = queries_from_frame(frame, by="query", grade="grade")
    >>> X[0].tolist(), y[0].tolist(), rows[0].tolist()
    ([[1.0], [3.0]], [0, 2], [0, 2])
    """
    table = _Table(frame)
    known = [name for name in (by, grade) if name is not None]
    table.require([*known, *(columns or ())])
    names = [c for c in table.names if c not in known] if columns is None else columns
    if not names:
        raise ValueError("the frame has no column left for features")
    features, rows = table.matrix(names), table.groups(by)
    X = [features[part] for part in rows]
    if grade is None:
        return FrameQueries(X, None, rows)
    grades = table.matrix([grade])[:, 0]
    wrong = np.flatnonzero(~np.isfinite(grades) | (grades != np.rint(grades)))
    if len(wrong):
        raise ValueError(
            f"row {wrong[0]}: the grade {grades[wrong[0]]} in column {grade!r} is not a "
            "whole number"
        )
    whole = grades.astype(np.int64)
    return FrameQueries(X, [whole[part] for part in rows], rows)


class FrameGraphs(NamedTuple):
    """Graphs read from two frames."""

    X: list[tuple[Any, ...]]  # (nodes, edges), or (nodes, edges, edge features)
    y: list[list[Any]] | None  # labels of the nodes
    rows: list[Ints]  # which rows of the frame of nodes they are


def graphs_from_frames(
    nodes: Any,
    edges: Any,
    node: str,
    ends: tuple[str, str] = ("source", "target"),
    label: str | None = None,
    by: str | None = None,
    columns: Sequence[str] | None = None,
    edge_columns: Sequence[str] = (),
) -> FrameGraphs:
    """Graphs from a table of nodes and a table of edges, as `NetworkSVM` takes them.

    Parameters
    ----------
    nodes, edges : pandas, polars or Arrow tables
        One row per node, and one per edge.
    node : str
        The column that names each node.
    ends : pair of str
        The columns of `edges` that name the two nodes.
    label : str, optional
        The column of labels of `nodes`; None for data without.
    by : str, optional
        The column of both tables that names the graph; without it there is one graph.
    columns : sequence of str, optional
        The columns of numbers that are features of nodes; by default all others.
    edge_columns : sequence of str
        The columns of numbers that are features of edges.

    Examples
    --------
    >>> import pandas as pd
    >>> from maxmargin.io import graphs_from_frames
    >>> nodes = pd.DataFrame({"id": ["a", "b"], "size": [1.0, 2.0], "kind": ["x", "y"]})
    >>> edges = pd.DataFrame({"source": ["a"], "target": ["b"]})
    >>> X, y, rows = graphs_from_frames(nodes, edges, node="id", label="kind")
    >>> X[0][0].tolist(), X[0][1].tolist(), y
    ([[1.0], [2.0]], [[0, 1]], [['x', 'y']])
    """
    table, links = _Table(nodes), _Table(edges)
    known = [name for name in (node, label, by) if name is not None]
    table.require([*known, *(columns or ())])
    links.require([*ends, *edge_columns, *([by] if by else [])])
    names = [c for c in table.names if c not in known] if columns is None else columns
    features = table.matrix(names)
    rows = table.groups(by)
    name_of = table.values(node, "node")
    graph_of = [None] * table.n if by is None else table.values(by, "graph")
    place: dict[Any, tuple[int, int]] = {}
    for g, part in enumerate(rows):
        for i, r in enumerate(part.tolist()):
            key = (graph_of[r], name_of[r])
            if key in place:
                raise ValueError(f"row {r} of nodes: {key[1]!r} is there twice")
            place[key] = (g, i)
    pairs, kept = _edges(links, ends, by, place, len(rows))
    extra = links.matrix(edge_columns) if edge_columns else None
    X: list[tuple[Any, ...]] = []
    for g, part in enumerate(rows):
        one: tuple[Any, ...] = (features[part], pairs[g])
        X.append(one if extra is None else (*one, extra[kept[g]]))
    if label is None:
        return FrameGraphs(X, None, rows)
    labels = table.values(label, "label")
    return FrameGraphs(X, [[labels[r] for r in part] for part in rows], rows)


def _edges(
    links: _Table,
    ends: tuple[str, str],
    by: str | None,
    place: dict[Any, tuple[int, int]],
    graphs: int,
) -> tuple[list[Ints], list[Ints]]:
    """Pairs of node numbers of each graph, and the rows of the table they come from."""
    graph_of = [None] * links.n if by is None else links.values(by, "graph")
    first, second = (links.values(end, "end") for end in ends)
    pairs: list[list[tuple[int, int]]] = [[] for _ in range(graphs)]
    kept: list[list[int]] = [[] for _ in range(graphs)]
    for r in range(links.n):
        found = []
        for value in (first[r], second[r]):
            if (graph_of[r], value) not in place:
                where = "" if by is None else f" in graph {graph_of[r]!r}"
                raise ValueError(f"row {r} of edges: there is no node {value!r}{where}")
            found.append(place[graph_of[r], value])
        pairs[found[0][0]].append((found[0][1], found[1][1]))
        kept[found[0][0]].append(r)
    arrays = [np.array(p, np.int64).reshape(-1, 2) for p in pairs]
    return arrays, [np.array(k, np.int64) for k in kept]


class _Table:
    """A data frame of any kind, by columns."""

    def __init__(self, frame: Any) -> None:
        try:
            import narwhals as nw
        except ImportError as error:  # scikit-learn 1.9 and later bring it along
            raise ImportError(
                "data frames are read by narwhals: pip install narwhals"
            ) from error
        try:
            self._frame = nw.from_native(frame, eager_only=True)
        except TypeError as error:
            raise TypeError(
                f"a pandas, polars or Arrow table is needed, not a {type(frame).__name__}"
            ) from error
        self.names: list[str] = list(self._frame.columns)
        self.n = len(self._frame)

    def require(self, names: Sequence[str]) -> None:
        """Refuse names that are no columns."""
        for name in names:
            if name not in self.names:
                raise ValueError(
                    f"the frame has no column {name!r}; it has "
                    f"{', '.join(map(repr, self.names))}"
                )

    def without(self, name: str) -> Any:
        """The table without a column, of the kind that it came as."""
        return self._frame.drop(name).to_native()

    def values(self, name: str, what: str) -> list[Any]:
        """A column as plain values; refuses missing ones."""
        column = self._frame[name]
        missing = column.is_null().to_numpy()
        plain: list[Any] = column.to_list()
        lost = [
            r for r in range(self.n) if missing[r] or plain[r] != plain[r]
        ]  # NaN differs from itself
        if lost:
            text = any(isinstance(value, str) for value in plain)
            raise ValueError(
                f"row {lost[0]}: the {what} in column {name!r} is missing"
                f"{READ_AS_MISSING if text else ''}"
            )
        return plain

    def matrix(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Columns of numbers side by side."""
        parts = []
        for name in names:
            values = self.values(name, "feature")
            try:
                parts.append(np.array(values, dtype=np.float64))
            except (TypeError, ValueError):
                raise ValueError(
                    f"column {name!r} does not hold numbers: leave it out of `columns`, "
                    "or encode it"
                ) from None
        return np.stack(parts, axis=1) if parts else np.zeros((self.n, 0))

    def groups(self, by: str | None, order: str | None = None) -> list[Ints]:
        """Rows of each group, groups in the order in which they first appear."""
        if self.n == 0:
            raise ValueError("the frame has no rows")
        if by is None:
            return [np.arange(self.n)]
        members: dict[Any, list[int]] = {}
        for r, name in enumerate(self.values(by, "group")):
            members.setdefault(name, []).append(r)
        if order is None:
            return [np.array(rows, np.int64) for rows in members.values()]
        keys = self.values(order, "position")
        return [
            np.array(sorted(rows, key=keys.__getitem__), np.int64)
            for rows in members.values()
        ]
