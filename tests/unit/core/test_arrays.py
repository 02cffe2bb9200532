"""Ragged, Rows and Vectors against numpy."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core import Ragged, Rows, Vectors, add_scores, fill_scores, pointers

lists = st.lists(st.lists(st.integers(-5, 5), max_size=4), max_size=6)
seeds = st.integers(0, 2**31)


def matrix(seed, n=5, dim=7, density=0.4):
    rng = np.random.default_rng(seed)
    out = rng.normal(size=(n, dim))
    out[rng.random(out.shape) > density] = 0.0
    return out


@given(rows=lists, data=st.data())
def test_ragged_rows(rows, data):
    ragged = Ragged.pack(rows)
    assert ragged.n == len(rows)
    assert ragged.unpack() == rows
    assert ragged.sizes.tolist() == [len(r) for r in rows]
    assert [ragged.row(i).tolist() for i in range(ragged.n)] == rows
    if rows:
        ids = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
        assert ragged.take(ids).unpack() == [rows[i] for i in ids]
    both = Ragged.concat([ragged, Ragged.pack([[9]]), ragged])
    assert both.unpack() == [*rows, [9], *rows]
    assert (both.ptr.dtype, both.data.dtype) == (np.int64, np.int32)
    assert Ragged.concat([]).n == 0


def test_single_and_pointers():
    assert Ragged.single([3, 1]).unpack() == [[3], [1]]
    assert pointers([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert pointers([]).tolist() == [0]


@given(seed=seeds)
@settings(max_examples=30)
def test_rows_are_sparse_vectors(seed):
    rng = np.random.default_rng(seed)
    A, B, w = matrix(seed), matrix(seed + 1), rng.normal(size=7)
    a, b = Rows.from_dense(A), Rows.from_csr(sp.csr_array(B))
    factor = rng.normal(size=5)
    np.testing.assert_allclose(a.dot(w), A @ w, atol=1e-12)
    np.testing.assert_allclose(a.total(7), A.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(a.total(7, factor), factor @ A, atol=1e-12)
    np.testing.assert_allclose(a.scale(factor).csr(7).toarray(), factor[:, None] * A)
    np.testing.assert_allclose(a.minus(b).csr(7).toarray(), A - B)
    ids = rng.integers(5, size=8)
    np.testing.assert_allclose(a.take(ids).csr(7).toarray(), A[ids])
    both = Rows.concat([a, b, Rows.empty(2)]).csr(7).toarray()
    np.testing.assert_allclose(both, np.vstack([A, B, np.zeros((2, 7))]))
    for rows in (a, b, a.minus(b), a.take(ids), Rows.empty(3), Rows.concat([])):
        assert (rows.ptr.dtype, rows.idx.dtype, rows.val.dtype) == (
            np.int64, np.int32, np.float64,
        )  # fmt: skip


def test_coordinates_may_repeat_and_what_cancels_is_left_out():
    a = Rows(np.array([0, 3]), np.array([1, 1, 4], np.int32), np.array([1.0, 2.0, 5.0]))
    assert a.dot(np.arange(5.0)).tolist() == [23.0]
    b = Rows(np.array([0, 1]), np.array([4], np.int32), np.array([5.0]))
    left = a.minus(b)
    assert (left.idx.tolist(), left.val.tolist()) == ([1], [3.0])


@given(seed=seeds, dim=st.sampled_from([3, 40, 1000]))
@settings(max_examples=30, deadline=None)
def test_differences_of_long_rows_are_sorted(seed, dim):
    rng = np.random.default_rng(seed)
    a, b = (
        Rows(
            pointers(sizes),
            rng.integers(dim, size=sizes.sum()).astype(np.int32),
            rng.integers(-3, 4, size=sizes.sum()).astype(float),
        )
        for sizes in rng.integers(100, size=(2, 4))
    )
    left = a.minus(b)
    expected = Rows.from_dense((a.csr(dim) - b.csr(dim)).toarray())
    assert all(np.array_equal(x, y) for x, y in zip(left, expected, strict=True))


@given(seed=seeds, k=st.integers(1, 5), sparse=st.booleans())
@settings(max_examples=30)
def test_vectors_meet_labels(seed, k, sparse):
    rng = np.random.default_rng(seed)
    X = matrix(seed, density=0.6)
    vectors = Vectors.of(sp.csr_array(X) if rng.integers(2) else X, sparse)
    assert (vectors.n, vectors.width) == X.shape
    np.testing.assert_allclose(vectors.csr().toarray(), X)
    W = rng.normal(size=(k, 7))
    per_feature, per_label = vectors.stride(k)
    w = np.empty(7 * k + 3)
    for f in range(7):
        for y in range(k):
            w[f * per_feature + y * per_label] = W[y, f]
    out, coef = np.empty(k), rng.normal(size=k)
    coef[0] = 0.0
    for r in range(5):
        fill_scores(*vectors, r, w, k, out)
        np.testing.assert_allclose(out, W @ X[r], atol=1e-12)
        changed = w.copy()
        add_scores(*vectors, r, coef, k, changed)
        for f in range(7):
            for y in range(k):
                place = f * per_feature + y * per_label
                assert changed[place] == pytest.approx(W[y, f] + coef[y] * X[r, f])
        assert (changed[7 * k :] == w[7 * k :]).all()


def test_sparse_vectors_without_entries():
    vectors = Vectors.of(sp.csr_array((2, 3)), True)
    assert vectors.sparse
    out = np.ones(4)
    fill_scores(*vectors, 0, np.ones(12), 4, out)
    assert (out == 0).all()
    assert vectors.csr().shape == (2, 3)
