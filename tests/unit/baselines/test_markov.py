"""The network trained by pseudo-likelihood."""

import numpy as np
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression
from small.graphs import ring_data

from maxmargin.baselines import MarkovNetwork, conditionals
from maxmargin.core import Rows
from maxmargin.structures.network import Network, loops


def test_gradient_of_the_pseudo_likelihood():
    rng = np.random.default_rng(0)
    X, Y = ring_data(rng, n=4, k=3)
    network = Network().bind(X, Y)
    x = network.encode(X)
    truth = network.encode_labels(x, Y)
    ids = np.arange(x.n)
    true = network.local_labels(x, ids, truth)

    def value(w):
        return conditionals(network.tables(x, ids, w), true)[0]

    def gradient(w):
        t = network.tables(x, ids, w)
        _, node, edge_ptr, edge = conditionals(t, true)
        rows = loops.expected_difference(
            ids, *x[:10], network.layout, network.dim, truth.ptr, true, t.label_ptr,
            node, t.edge_ptr, edge_ptr, edge,
        )  # fmt: skip
        return -Rows(*rows).total(network.dim)

    w = rng.normal(size=network.dim)
    assert check_grad(value, gradient, w) < 1e-5


def test_without_edges_it_is_logistic_regression():
    rng = np.random.default_rng(1)
    X, Y = ring_data(rng, n=30, k=3, edges=[])
    model = MarkovNetwork(c2=0.5, structure=Network(bias=False)).fit(X, Y)
    other = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8)
    other.fit(np.concatenate([g.nodes for g in X]), np.concatenate(Y))
    w = model.coef_.reshape(3, 3)
    np.testing.assert_allclose(w - w.mean(axis=0), other.coef_, atol=1e-3)


def test_it_learns_rings():
    X, Y = ring_data(np.random.default_rng(2), n=20)
    model = MarkovNetwork(c2=0.01).fit(X, Y)
    right = [np.mean(a == np.array(b)) for a, b in zip(model.predict(X), Y)]
    assert np.mean(right) > 0.9
