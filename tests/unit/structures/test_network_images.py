"""Images as graphs of patches and superpixels, and graphs of PyTorch Geometric."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import ndimage

from maxmargin import NetworkSVM
from maxmargin.structures.network import (
    graph_from_pyg,
    majority_labels,
    patch_graph,
    superpixel_graph,
)


def disc(seed, size=40):
    """A bright disc on a dark ground, with noise, and its mask."""
    rng = np.random.default_rng(seed)
    at = np.mgrid[:size, :size] - rng.uniform(12, 28, size=(2, 1, 1))
    mask = (at**2).sum(axis=0) < 100
    image = np.stack([mask, 1.0 - mask, 0.5 * mask], axis=2)
    return image + rng.normal(scale=0.3, size=image.shape), mask


def test_patches():
    image, _ = disc(0)
    graph, segments = patch_graph(image, size=8, neighbours=8)
    assert graph.nodes.shape == (25, 6) and segments.shape == (40, 40)
    assert np.allclose(graph.nodes[7, :3], image[8:16, 16:24].mean(axis=(0, 1)))
    assert np.allclose(graph.nodes[7, 3:], image[8:16, 16:24].std(axis=(0, 1)))
    uneven, _ = patch_graph(image[:37, :33], size=8)
    assert uneven.n == 5 * 5


def test_superpixels_are_connected_and_follow_colours():
    image, mask = disc(1)
    graph, segments = superpixel_graph(image, n=60)
    assert 20 <= graph.n <= 90
    assert sorted(np.unique(segments)) == list(range(graph.n))
    for k in range(graph.n):
        assert ndimage.label(segments == k)[1] == 1
    told = majority_labels(segments, mask)
    assert np.mean(told[segments] == mask) > 0.95
    touching = {tuple(e) for e in graph.edges.tolist()}
    a, b = segments[:, :-1].ravel(), segments[:, 1:].ravel()
    across = {tuple(sorted(p)) for p in zip(a.tolist(), b.tolist(), strict=True)}
    assert {p for p in across if p[0] != p[1]} <= touching
    assert graph.edge_features.shape == (len(graph.edges), 4)
    assert (graph.edge_features[:, 3] > 0).all() and (graph.edge_features <= 2).all()


def test_superpixels_of_others():
    image, _ = disc(2)
    made = np.where(np.arange(40) < 20, 7, 3)[:, None] * np.ones(40, int)
    graph, segments = superpixel_graph(image, segments=made)
    assert graph.n == 2 and graph.edges.tolist() == [[0, 1]]
    assert segments[0, 0] == 1 and segments[-1, 0] == 0
    with pytest.raises(ValueError, match=r"segments has shape \(3,\)"):
        superpixel_graph(image, segments=np.zeros(3, int))


def test_images_are_labelled():
    X, y = [], []
    for seed in range(12):
        image, mask = disc(seed)
        graph, segments = superpixel_graph(image, n=60)
        X.append(graph)
        y.append(majority_labels(segments, mask))
    model = NetworkSVM(pairwise="potts").fit(X[:8], y[:8])
    assert model.score(X[8:], y[8:]) > 0.95


def test_bad_images_are_refused():
    with pytest.raises(ValueError, match="an image has shape"):
        patch_graph(np.zeros(4))
    broken = np.zeros((3, 4, 2))
    broken[1, 2, 1] = np.nan
    with pytest.raises(ValueError, match=r"pixel \(1, 2\), channel 1"):
        superpixel_graph(broken)
    with pytest.raises(ValueError, match="size=0"):
        patch_graph(np.zeros((3, 4)), size=0)
    with pytest.raises(ValueError, match="n=0"):
        superpixel_graph(np.zeros((3, 4)), n=0)
    with pytest.raises(ValueError, match=r"labels has shape \(2,\)"):
        majority_labels(np.zeros(3, int), ["a", "b"])


def test_graphs_of_pytorch_geometric():
    arcs = np.array([[0, 1, 2, 2], [1, 0, 2, 0]])
    data = SimpleNamespace(
        x=np.eye(3), edge_index=arcs, edge_attr=np.arange(4.0), y=np.array([0, 1, 1])
    )
    graph, labels = graph_from_pyg(data)
    assert graph.edges.tolist() == [[0, 1], [2, 0]]
    assert graph.edge_features.tolist() == [[0.0], [3.0]]
    assert labels.tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="lacks x or edge_index"):
        graph_from_pyg(SimpleNamespace(x=np.eye(2)))
    with pytest.raises(ValueError, match=r"edge_index has shape \(4, 2\)"):
        graph_from_pyg(SimpleNamespace(x=np.eye(3), edge_index=arcs.T))


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    data = SimpleNamespace(
        x=torch.eye(2, requires_grad=True), edge_index=torch.tensor([[0], [1]]), y=None
    )
    graph, labels = graph_from_pyg(data)
    assert graph.nodes.tolist() == [[1.0, 0.0], [0.0, 1.0]] and labels is None
