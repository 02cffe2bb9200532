"""Images as graphs of patches or of superpixels.

A patch is a square of pixels; its features are means and standard deviations of the
channels. Superpixels are connected pieces of similar colour, made by SLIC: k-means on
(colour, place), where each centre competes for the pixels around it only.

    distance^2 = |colour - colour of the centre|^2 + (compactness / step)^2 |place - ..|^2

[1] Achanta et al. 2012, SLIC superpixels compared to state-of-the-art methods.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import ndimage

from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.structures.network.graphs.graph import Graph, grid_edges

ROUNDS = 10  # of k-means
SMALLEST = 0.25  # of the mean size of a superpixel; smaller pieces join a neighbour


def patch_graph(
    image: ArrayLike, size: int = 8, neighbours: int = 4
) -> tuple[Graph, Ints]:
    """A grid of square patches, and the patch of each pixel.

    Parameters
    ----------
    image : array (rows, columns) or (rows, columns, channels)
    size : int
        Rows and columns of a patch; those at the right and lower border may be smaller.
    neighbours : {4, 8}
        Which patches are joined. Each direction is an edge type.

    Returns
    -------
    graph : Graph
        A node per patch: mean and standard deviation of each channel.
    segments : int array (rows, columns)
        Node of each pixel; ``labels[segments]`` is the labelled image.

    Examples
    --------
    >>> graph, segments = patch_graph(np.arange(16.0).reshape(4, 4), size=2)
    >>> graph.nodes[:, 0].tolist(), segments.tolist()[0]
    ([2.5, 4.5, 10.5, 12.5], [0, 0, 1, 1])
    """
    pixels = _pixels(image)
    if size < 1:
        raise ValueError(f"size={size}: a patch has at least one pixel")
    rows, columns = pixels.shape[:2]
    down, across = -(-rows // size), -(-columns // size)
    segments = (np.arange(rows) // size)[:, None] * across + np.arange(columns) // size
    edges, kinds = grid_edges(down, across, neighbours)
    return Graph(_moments(pixels, segments), edges, None, None, kinds), segments


def superpixel_graph(
    image: ArrayLike, n: int = 200, compactness: float = 0.3, segments: Any = None
) -> tuple[Graph, Ints]:
    """Superpixels and which of them touch, and the superpixel of each pixel.

    Parameters
    ----------
    image : array (rows, columns) or (rows, columns, channels)
        Channels are compared as they are, relative to the range of the image.
    n : int
        Number of superpixels, roughly.
    compactness : float
        How much places count against colours; large values give squares.
    segments : int array (rows, columns), optional
        Superpixels made elsewhere, such as by ``skimage.segmentation.slic``.

    Returns
    -------
    graph : Graph
        A node per superpixel: mean and standard deviation of each channel. An edge where
        two touch: absolute difference of their means, and the share of the shorter border
        that they have in common.
    segments : int array (rows, columns)
        Node of each pixel; ``labels[segments]`` is the labelled image.

    Examples
    --------
    >>> image = np.zeros((20, 20))
    >>> image[:, 10:] = 1.0
    >>> graph, segments = superpixel_graph(image, n=4)
    >>> sorted(set(graph.nodes[:, 0].tolist()))
    [0.0, 1.0]
    """
    pixels = _pixels(image)
    if segments is None:
        if n < 1:
            raise ValueError(f"n={n}: at least one superpixel is needed")
        segments = slic(pixels, n, compactness)
    else:
        segments = np.asarray(segments)
        if segments.shape != pixels.shape[:2] or segments.dtype.kind not in "iu":
            raise ValueError(
                f"segments has shape {segments.shape} and type {segments.dtype}: whole "
                f"numbers of shape {pixels.shape[:2]} are needed"
            )
        segments = np.unique(segments, return_inverse=True)[1].reshape(segments.shape)
    nodes = _moments(pixels, segments)
    edges, border = _touching(segments)
    around = np.zeros(len(nodes))
    np.add.at(around, edges.ravel(), np.repeat(border, 2))
    means = nodes[:, : pixels.shape[2]]
    apart = np.abs(means[edges[:, 0]] - means[edges[:, 1]])
    shorter = np.minimum(around[edges[:, 0]], around[edges[:, 1]])
    share = border / np.maximum(shorter, 1.0)
    return Graph(nodes, edges, np.c_[apart, share]), segments


def majority_labels(segments: ArrayLike, labels: ArrayLike) -> Any:
    """The most frequent label of the pixels of each node; of equals the first.

    Examples
    --------
    >>> majority_labels([[0, 0, 1]], [["sky", "sky", "sea"]]).tolist()
    ['sky', 'sea']
    """
    where, told = np.asarray(segments), np.asarray(labels)
    if where.shape != told.shape:
        raise ValueError(
            f"labels has shape {told.shape}, but segments has {where.shape}"
        )
    names, codes = np.unique(told.ravel(), return_inverse=True)
    counts = np.zeros((int(where.max()) + 1, len(names)), np.int64)
    np.add.at(counts, (where.ravel(), codes), 1)
    return names[counts.argmax(axis=1)]


def slic(pixels: Floats, n: int, compactness: float) -> Ints:
    """Connected superpixels of an image (rows, columns, channels), numbered from 0."""
    rows, columns, _ = pixels.shape
    step = max(float(np.sqrt(rows * columns / n)), 1.0)
    spread = float(np.ptp(pixels)) or 1.0
    place = np.moveaxis(np.mgrid[:rows, :columns], 0, 2) * (compactness / step)
    points = np.concatenate([pixels / spread, place], axis=2)
    at_rows = np.arange(step / 2.0, rows, step)
    at_columns = np.arange(step / 2.0, columns, step)
    seeds = np.array([(r, c) for r in at_rows for c in at_columns], np.int64)
    centres = points[seeds[:, 0], seeds[:, 1]].astype(np.float64)
    where, reach = seeds.astype(np.float64), int(np.ceil(2.0 * step))
    owner = np.zeros((rows, columns), np.int64)
    for _ in range(ROUNDS):
        nearest = np.full((rows, columns), np.inf)
        for k, (centre, (r, c)) in enumerate(zip(centres, where, strict=True)):
            down = slice(max(int(r) - reach, 0), int(r) + reach + 1)
            across = slice(max(int(c) - reach, 0), int(c) + reach + 1)
            far = ((points[down, across] - centre) ** 2).sum(axis=2)
            closer = far < nearest[down, across]
            nearest[down, across][closer] = far[closer]
            owner[down, across][closer] = k
        flat = owner.ravel()
        size = np.maximum(np.bincount(flat, minlength=len(centres)), 1)
        for d in range(points.shape[2]):
            total = np.bincount(flat, points[..., d].ravel(), len(centres))
            centres[:, d] = total / size
        where = centres[:, -2:] / (compactness / step)
    return _connected(owner, SMALLEST * rows * columns / len(centres))


def _connected(owner: Ints, smallest: float) -> Ints:
    """Pieces that hang together; small ones become part of a piece beside them."""
    pieces, count = np.zeros(owner.shape, np.int64), 0
    for k in np.unique(owner).tolist():
        parts, found = ndimage.label(owner == k)
        pieces[parts > 0] = parts[parts > 0] + count - 1
        count += found
    size = np.bincount(pieces.ravel())
    edges, border = _touching(pieces)
    parent = np.arange(count)
    for k in np.argsort(size, kind="stable").tolist():
        if size[k] >= smallest:
            break
        mine = np.flatnonzero((edges == k).any(axis=1))
        if len(mine) == 0:
            continue
        longest = edges[mine[int(np.argmax(border[mine]))]]
        other = int(longest[0] if longest[1] == k else longest[1])
        root = _root(parent, other)
        if root != k:
            parent[k] = root
            size[root] += size[k]
    roots = np.array([_root(parent, k) for k in range(count)])
    return np.unique(roots, return_inverse=True)[1][pieces]


def _root(parent: Ints, k: int) -> int:
    while parent[k] != k:
        k = int(parent[k])
    return k


def _touching(segments: Ints) -> tuple[Ints, Floats]:
    """Pairs of segments with a common border, and how many pixel sides it has."""
    beside = [
        (segments[:, :-1], segments[:, 1:]),
        (segments[:-1], segments[1:]),
    ]
    pairs = np.concatenate([np.c_[a.ravel(), b.ravel()] for a, b in beside])
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    edges, border = np.unique(pairs, axis=0, return_counts=True)
    return edges.reshape(-1, 2).astype(np.int64), border.astype(np.float64)


def _moments(pixels: Floats, segments: Ints) -> Floats:
    """Mean and standard deviation of each channel in each segment."""
    flat, size = segments.ravel(), np.bincount(segments.ravel())
    columns = []
    for d in range(pixels.shape[2]):
        values = pixels[..., d].ravel()
        mean = np.bincount(flat, values) / size
        spread = np.bincount(flat, (values - mean[flat]) ** 2) / size
        columns.append((mean, np.sqrt(spread)))
    return np.stack([m for m, _ in columns] + [s for _, s in columns], axis=1)


def _pixels(image: ArrayLike) -> Floats:
    """(rows, columns, channels) as finite numbers."""
    pixels = np.asarray(image, dtype=np.float64)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.ndim != 3 or 0 in pixels.shape:
        raise ValueError(
            f"an image has shape (rows, columns) or (rows, columns, channels), not "
            f"{np.shape(image)}"
        )
    bad = np.argwhere(~np.isfinite(pixels))
    if len(bad):
        r, c, d = bad[0].tolist()
        raise ValueError(f"pixel ({r}, {c}), channel {d}: the value is not finite")
    return pixels
