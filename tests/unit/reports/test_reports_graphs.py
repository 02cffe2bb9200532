"""Pictures of graphs say what the labels say."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from maxmargin.reports.drawing import (  # noqa: E402
    draw_edge_confusion,
    draw_graph,
    draw_grid,
    draw_margin_curve,
    edge_confusion,
    pair_names,
)


@pytest.fixture(autouse=True)
def _close():
    yield
    matplotlib.pyplot.close("all")


def test_grid_shows_codes():
    ax = draw_grid([2, 0, 1, 1, 0, 2], (2, 3), [0, 1, 2], title="snake")
    assert ax.images[0].get_array().tolist() == [[2, 0, 1], [1, 0, 2]]
    assert ax.get_title() == "snake"


def test_graph_rings_wrong_nodes():
    at = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    ax = draw_graph([[0, 1], [1, 2]], "aab", "ab", truth="abb", positions=at)
    lines, nodes, rings = ax.collections
    assert len(lines.get_segments()) == 2
    assert len(nodes.get_offsets()) == 3
    assert rings.get_offsets().tolist() == [[1.0, 0.0]]


def test_edge_confusion_counts_unordered_pairs():
    graphs = [(None, [[0, 1], [2, 1]])]
    counts = edge_confusion(graphs, ["aba"], ["abb"], "ab")
    assert counts.sum() == 2
    names = pair_names("ab")
    assert counts[names.index("a-b"), names.index("a-b")] == 1
    assert counts[names.index("a-b"), names.index("b-b")] == 1
    ax = draw_edge_confusion(counts, "ab")
    np.testing.assert_allclose(ax.images[0].get_array().sum(axis=1), [0, 1, 0])


def test_margin_curve():
    ax = draw_margin_curve([0, 1], [0.1, 0.9])
    assert ax.lines[0].get_ydata().tolist() == [0.1, 0.9]
