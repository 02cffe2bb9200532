"""Pictures of labelled graphs: grids, graphs, and confusion over edges.

Each function draws on a matplotlib axis (a new one if none is given) and returns it;
`edge_confusion` returns the counts behind its picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from maxmargin.core.data.arrays import Floats, Ints


def _axis(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _codes(labels: Sequence[Any], classes: Sequence[Any]) -> Ints:
    place = {label: c for c, label in enumerate(classes)}
    return np.array([place[label] for label in labels], dtype=np.int64)


def _colours(count: int) -> Any:
    import matplotlib as mpl

    name = "tab10" if count <= 10 else "tab20" if count <= 20 else "nipy_spectral"
    return mpl.colormaps[name].resampled(max(count, 2))


def draw_grid(
    labels: Any, shape: tuple[int, int], classes: Sequence[Any], ax: Any = None,
    title: str = "",
) -> Any:  # fmt: skip
    """A labelled grid as an image with one colour per label.

    Parameters
    ----------
    labels : sequence
        Labels of the nodes in row-major order.
    shape : (rows, columns)
    classes : sequence
        All labels, in the order of the colours.
    ax : matplotlib axis, optional
    title : str

    Examples
    --------
    >>> ax = draw_grid(["a", "b", "b", "a"], (2, 2), ["a", "b"])
    >>> ax.images[0].get_array().tolist()
    [[0, 1], [1, 0]]
    """
    ax = _axis(ax)
    image = _codes(list(labels), classes).reshape(shape)
    ax.imshow(
        image, cmap=_colours(len(classes)), vmin=-0.5, vmax=max(len(classes), 2) - 0.5
    )
    ax.set(xticks=[], yticks=[], title=title)
    _legend(ax, classes)
    return ax


def draw_graph(
    edges: ArrayLike,
    labels: Sequence[Any],
    classes: Sequence[Any],
    truth: Sequence[Any] | None = None,
    positions: ArrayLike | None = None,
    ax: Any = None,
    title: str = "",
) -> Any:
    """A labelled graph: nodes coloured by label, wrong ones ringed in black.

    Parameters
    ----------
    edges : int array (m, 2)
    labels : sequence
        Label of each node.
    classes : sequence
        All labels, in the order of the colours.
    truth : sequence, optional
        True labels: nodes that differ are ringed.
    positions : array (n, 2), optional
        Where the nodes are; otherwise found by springs (networkx) or on a circle.

    Examples
    --------
    >>> ax = draw_graph([[0, 1]], ["a", "b"], ["a", "b"], truth=["a", "a"])
    >>> len(ax.collections)
    3
    """
    ax = _axis(ax)
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    at = place_nodes(pairs, len(labels)) if positions is None else np.asarray(positions)
    from matplotlib.collections import LineCollection

    ax.add_collection(
        LineCollection(list(at[pairs]), colors="#bbbbbb", lw=0.6, zorder=1)
    )
    codes = _codes(list(labels), classes)
    colours = _colours(len(classes))
    ax.scatter(*at.T, c=codes, cmap=colours, vmin=-0.5,
               vmax=max(len(classes), 2) - 0.5, s=24, zorder=2)  # fmt: skip
    if truth is not None:
        wrong = codes != _codes(list(truth), classes)
        ax.scatter(*at[wrong].T, s=60, facecolors="none", edgecolors="k", zorder=3)
    ax.set(xticks=[], yticks=[], title=title)
    ax.autoscale_view()
    _legend(ax, classes)
    return ax


def _legend(ax: Any, classes: Sequence[Any]) -> None:
    """What the colours mean, beside the picture."""
    from matplotlib.patches import Patch

    norm = max(len(classes), 2)
    colours = _colours(len(classes))
    patches = [
        Patch(color=colours((c + 0.5) / norm), label=str(name))
        for c, name in enumerate(classes)
    ]
    ax.legend(handles=patches, loc="center left", bbox_to_anchor=(1.0, 0.5),
              frameon=False, fontsize="small", handlelength=1.0)  # fmt: skip


def edge_confusion(
    graphs: Sequence[Any], truth: Sequence[Any], found: Sequence[Any],
    classes: Sequence[Any],
) -> Floats:  # fmt: skip
    """How often edges with true labels (row) got found labels (column).

    Pairs of labels are unordered and counted in the order of
    `pair_names`; the matrix is square over these pairs.

    Parameters
    ----------
    graphs : sequence of Graph or tuples
        Only the edges, the second field, are read.
    truth, found : sequences of label sequences

    Examples
    --------
    >>> edge_confusion([(None, [[0, 1]])], [["a", "b"]], [["a", "a"]], ["a", "b"])[1]
    array([1., 0., 0.])
    """
    k = len(classes)
    where = np.zeros((k, k), np.int64)
    names = [(a, b) for a in range(k) for b in range(a, k)]
    for q, (a, b) in enumerate(names):
        where[a, b] = where[b, a] = q
    out = np.zeros((len(names), len(names)))
    for graph, true, guess in zip(graphs, truth, found, strict=True):
        pairs = np.asarray(graph[1], dtype=np.int64).reshape(-1, 2)
        t, g = _codes(list(true), classes), _codes(list(guess), classes)
        rows = where[t[pairs[:, 0]], t[pairs[:, 1]]]
        columns = where[g[pairs[:, 0]], g[pairs[:, 1]]]
        np.add.at(out, (rows, columns), 1.0)
    return out


def pair_names(classes: Sequence[Any]) -> list[str]:
    """Names of the unordered pairs of labels.

    Examples
    --------
    >>> pair_names(["a", "b"])
    ['a-a', 'a-b', 'b-b']
    """
    k = len(classes)
    return [f"{classes[a]}-{classes[b]}" for a in range(k) for b in range(a, k)]


def draw_edge_confusion(counts: Floats, classes: Sequence[Any], ax: Any = None) -> Any:
    """The confusion over edges, rows scaled to one."""
    ax = _axis(ax)
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    ax.imshow(counts / total, cmap="Blues", vmin=0.0, vmax=1.0)
    names = pair_names(classes)
    ax.set(xticks=range(len(names)), yticks=range(len(names)), xlabel="found",
           ylabel="true")  # fmt: skip
    ax.set_xticklabels(names, rotation=90)
    ax.set_yticklabels(names)
    return ax


def draw_margin_curve(gammas: ArrayLike, losses: ArrayLike, ax: Any = None) -> Any:
    """The gamma-margin per-label loss against gamma."""
    ax = _axis(ax)
    ax.plot(np.asarray(gammas), np.asarray(losses), marker=".")
    ax.set(xlabel="gamma", ylabel="gamma-margin per-label loss", ylim=(0.0, 1.02))
    return ax


def place_nodes(edges: Ints, n: int) -> Floats:
    """Positions of nodes: every component by springs, or on a circle without networkx.

    The largest component takes the middle; the others stand in rows below, each with
    room in proportion to the root of its size.
    """
    links = sp.csr_array(
        (np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)
    )
    count, part = connected_components(links, directed=False)
    sizes = np.bincount(part, minlength=count)
    at = np.zeros((n, 2))
    x, y, tall = -1.0, -1.25, 0.0
    for c in np.argsort(-sizes, kind="stable"):
        own = np.flatnonzero(part == c)
        radius = float(np.sqrt(sizes[c] / sizes.max()))
        local = _springs(edges[part[edges[:, 0]] == c], own)
        if tall == 0.0:
            at[own] = local
            tall = 1e-9
            continue
        room = 2.0 * radius + 0.1
        if x + room > 1.1:
            x, y, tall = -1.0, y - tall, 0.1
        at[own] = [x + radius, y - radius] + 0.9 * radius * local
        x, tall = x + room, max(tall, room)
    return at


def _springs(edges: Ints, own: Ints) -> Floats:
    """Positions of one component in the unit disc."""
    if len(own) == 1:
        return np.zeros((1, 2))
    angle = 2.0 * np.pi * np.arange(len(own)) / len(own)
    circle: Floats = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    try:
        import networkx as nx
    except ImportError:
        return circle
    graph = nx.Graph(edges.tolist())
    start = dict(zip(own.tolist(), circle, strict=True))
    layout = nx.spring_layout(graph, pos=start, seed=0, iterations=100)
    found = np.array([layout[v] for v in own.tolist()])
    found -= found.mean(axis=0)
    return found / max(float(np.linalg.norm(found, axis=1).max()), 1e-9)
