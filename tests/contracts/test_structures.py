"""What every structure promises, checked against enumeration of all its outputs."""

import pickle
from itertools import product
from typing import NamedTuple

import cases
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core import (
    Augment,
    ByLoss,
    FewOutputs,
    Formulation,
    NBest,
    Ragged,
    Rows,
    Structure,
)

CASES = cases.modules()
seeds = st.integers(0, 2**31)
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


class Instance(NamedTuple):
    """A bound tiny problem, its outputs enumerated, at random weights."""

    structure: Structure
    X: object
    Y: object
    x: object
    truth: Ragged
    w: np.ndarray
    outputs: list  # per example: Ragged of all outputs
    psi: list  # per example: Rows of all outputs
    rng: np.random.Generator


def instance(case, seed):
    rng = np.random.default_rng(seed)
    unbound, X, Y = case.tiny(rng)
    structure = unbound.bind(X, Y)
    x = structure.encode(X)
    truth = structure.encode_labels(x, Y)
    w = rng.normal(size=structure.dim) * rng.choice([0.1, 1.0, 3.0])
    outputs = [Ragged.pack(case.outputs(structure, x, i)) for i in range(x.n)]
    psi = [
        structure.features(x, np.full(o.n, i), o) if o.n else Rows.empty()
        for i, o in enumerate(outputs)
    ]
    return Instance(structure, X, Y, x, truth, w, outputs, psi, rng)


def losses(case, it):
    """Every loss of the case, augmenting with random weights."""
    for loss in case.LOSSES:
        bound = loss.bind(it.structure.label_count())
        weight = it.rng.choice([0.0, 0.3, 1.0, 5.0], size=it.x.n) + 0.01
        yield bound, Augment(it.truth, bound, weight)


def values(loss, truth, i, outputs):
    """Loss of all outputs of example i."""
    return loss.value(truth.take(np.full(outputs.n, i)), outputs)


def snapshot(thing):
    return pickle.dumps(thing)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def same_rows(a, b, dim):
    close(a.csr(dim).toarray(), b.csr(dim).toarray())


@each_case
@given(seed=seeds)
@settings(max_examples=15)
def test_argmax_is_the_best_of_all_outputs(case, seed):
    it = instance(case, seed)
    ids = np.arange(it.x.n)
    found = it.structure.argmax(it.x, ids, it.w)
    best = np.array([p.dot(it.w).max() for p in it.psi])
    check_found(it, found, best, it.structure.features(it.x, ids, found.labels))


@each_case
@given(seed=seeds)
@settings(max_examples=15)
def test_augmented_argmax_is_the_best_of_all_outputs(case, seed):
    it = instance(case, seed)
    ids = np.arange(it.x.n)
    for loss, augment in losses(case, it):
        found = it.structure.argmax(it.x, ids, it.w, augment)
        totals = [
            it.psi[i].dot(it.w)
            + augment.weight[i] * values(loss, it.truth, i, it.outputs[i])
            for i in ids
        ]
        best = np.array([t.max() for t in totals])
        gain = augment.weight * loss.value(it.truth, found.labels)
        psi = it.structure.features(it.x, ids, found.labels)
        check_found(it, found, best, psi, gain)


def check_found(it, found, best, psi, gain=0.0):
    close(found.score, psi.dot(it.w) + gain)
    if it.structure.exact:
        close(found.score, best)
        close(found.bound, best)
    else:
        assert (found.score <= best + 1e-9 * (1 + np.abs(best))).all()
        assert (found.bound >= best - 1e-9 * (1 + np.abs(best))).all()


@each_case
@given(seed=seeds)
@settings(max_examples=8)
def test_losses_are_zero_at_the_truth_and_never_negative(case, seed):
    it = instance(case, seed)
    for loss, _ in losses(case, it):
        assert (loss.value(it.truth, it.truth) == 0).all()
        for i, o in enumerate(it.outputs):
            assert (values(loss, it.truth, i, o) >= 0).all()


@each_case
@given(seed=seeds)
@settings(max_examples=8)
def test_cuts_are_argmax_then_the_difference(case, seed):
    it = instance(case, seed)
    ids = it.rng.permutation(it.x.n)
    for loss, augment in losses(case, it):
        fused = it.structure.cuts(it.x, ids, it.w, augment)
        plain = Structure.cuts(it.structure, it.x, ids, it.w, augment)
        close(fused.bound, plain.bound)
        slack = augment.weight[ids] * fused.delta - fused.dpsi.dot(it.w)
        if it.structure.exact:
            close(slack, fused.bound)
        if fused.labels.sizes.any() or not it.truth.sizes.any():
            truth = it.truth.take(ids)
            close(fused.delta, loss.value(truth, fused.labels))
            features = it.structure.features
            dpsi = features(it.x, ids, truth).minus(features(it.x, ids, fused.labels))
            same_rows(fused.dpsi, dpsi, it.structure.dim)


@each_case
@given(seed=seeds)
@settings(max_examples=8)
def test_layers_hold_the_best_output_for_each_loss(case, seed):
    it = instance(case, seed)
    if it.structure.offers(ByLoss) is None:
        pytest.skip("not provided")
    ids = it.rng.permutation(it.x.n)
    for loss, augment in losses(case, it):
        layers = it.structure.argmax_by_loss(it.x, ids, it.w, augment)
        check_layers(it, ids, layers)
        for q, i in enumerate(ids):
            span = slice(layers.ptr[q], layers.ptr[q + 1])
            expected = best_by(
                values(loss, it.truth, i, it.outputs[i]), it.psi[i].dot(it.w)
            )
            found = best_by(layers.loss[span], layers.score[span])
            if getattr(case, "PRUNED", False):
                own = it.structure.features(it.x, ids[q : q + 1], it.truth.take([i]))
                check_worst(found, expected, own.dot(it.w)[0])
                continue
            assert found.keys() == expected.keys(), f"example {i}, {loss}"
            close([found[k] for k in expected], list(expected.values()))
        rows = np.repeat(ids, np.diff(layers.ptr))
        close(layers.loss, loss.value(it.truth.take(rows), layers.labels))


def check_worst(found, expected, own):
    """Layers may be left out if the worst violation of every formulation is there."""
    assert found.keys() <= expected.keys()
    for rescaling, penalty in product(("margin", "slack"), ("linear", "squared")):
        worst = [
            Formulation(rescaling, penalty)
            .criterion.value(np.array(list(d)), own - np.array(list(d.values())))
            .max(initial=0.0)
            for d in (found, expected)
        ]
        close(*worst)


def best_by(loss, score):
    out = {}
    for key, value in zip(np.round(loss, 9) + 0.0, score, strict=True):
        out[key] = max(value, out.get(key, -np.inf))
    return out


def check_layers(it, ids, layers):
    rows = np.repeat(ids, np.diff(layers.ptr))
    assert layers.labels.n == layers.ptr[-1] == len(layers.score) == len(layers.loss)
    close(layers.score, it.structure.features(it.x, rows, layers.labels).dot(it.w))


@each_case
@given(seed=seeds, k=st.integers(1, 6))
@settings(max_examples=10)
def test_nbest_are_the_best_distinct_outputs_in_order(case, seed, k):
    it = instance(case, seed)
    if it.structure.offers(NBest) is None:
        pytest.skip("not provided")
    ids = it.rng.permutation(it.x.n)
    check_nbest(it, ids, it.structure.nbest(it.x, ids, it.w, k), None, k)
    for loss, augment in losses(case, it):
        try:
            layers = it.structure.nbest(it.x, ids, it.w, k, augment)
        except ValueError:  # a structure may refuse a loss here, in words
            continue
        check_nbest(it, ids, layers, augment, k)
        rows = np.repeat(ids, np.diff(layers.ptr))
        close(layers.loss, loss.value(it.truth.take(rows), layers.labels))


def check_nbest(it, ids, layers, augment, k):
    check_layers(it, ids, layers)
    for q, i in enumerate(ids):
        span = np.arange(layers.ptr[q], layers.ptr[q + 1])
        rank, expected = layers.score[span], it.psi[i].dot(it.w)
        if augment is not None:
            weight = augment.weight[i]
            rank = rank + weight * layers.loss[span]
            loss = values(augment.loss, it.truth, i, it.outputs[i])
            expected = expected + weight * loss
        close(rank, np.sort(expected)[::-1][:k])
        rows = [tuple(layers.labels.row(r)) for r in span]
        assert len(set(rows)) == len(rows)


@each_case
@given(seed=seeds)
@settings(max_examples=8)
def test_outputs_survive_encoding(case, seed):
    it = instance(case, seed)
    same = getattr(case, "same", lambda y, z: np.array_equal(y, z))
    decoded = it.structure.decode_labels(it.x, it.truth)
    assert len(decoded) == len(it.Y)
    assert all(same(y, z) for y, z in zip(it.Y, decoded, strict=True))
    again = it.structure.encode_labels(it.x, decoded)
    assert again.unpack() == it.truth.unpack()


@each_case
@given(seed=seeds)
@settings(max_examples=8)
def test_examples_may_come_in_any_order_and_more_than_once(case, seed):
    it = instance(case, seed)
    ids = it.rng.integers(it.x.n, size=2 * it.x.n)
    _, augment = next(losses(case, it))
    for asked in (None, augment):
        whole = it.structure.argmax(it.x, ids, it.w, asked)
        for q, i in enumerate(ids):
            one = it.structure.argmax(it.x, np.array([i]), it.w, asked)
            close(one.score[0], whole.score[q])
            assert one.labels.row(0).tolist() == whole.labels.row(q).tolist()
    rows = it.structure.features(it.x, ids, it.truth.take(ids))
    alone = it.structure.features(it.x, np.arange(it.x.n), it.truth)
    same_rows(rows, alone.take(ids), it.structure.dim)
    nobody = it.structure.argmax(it.x, np.empty(0, np.int64), it.w, augment)
    assert nobody.labels.n == len(nobody.score) == 0


@each_case
@given(seed=seeds)
@settings(max_examples=5)
def test_nothing_given_is_altered(case, seed):
    it = instance(case, seed)
    ids = it.rng.permutation(it.x.n)
    for _, augment in losses(case, it):
        given_things = (it.structure, it.X, it.Y, it.x, it.truth, it.w, ids, augment)
        before = snapshot(given_things)
        it.structure.bind(it.X, it.Y).encode_labels(it.structure.encode(it.X), it.Y)
        found = it.structure.argmax(it.x, ids, it.w, augment)
        it.structure.decode_labels(it.structure.encode(it.X), it.truth)
        it.structure.cuts(it.x, ids, it.w, augment)
        it.structure.features(it.x, ids, found.labels)
        it.structure.work(it.x)
        if (by_loss := it.structure.offers(ByLoss)) is not None:
            by_loss.argmax_by_loss(it.x, ids, it.w, augment)
        if (few := it.structure.offers(FewOutputs)) is not None:
            few.outer_product(it.x)
        assert snapshot(given_things) == before


@each_case
@given(seed=seeds)
@settings(max_examples=5)
def test_structures_and_inputs_survive_pickling(case, seed):
    it = instance(case, seed)
    structure, x = pickle.loads(pickle.dumps((it.structure, it.x)))
    ids = np.arange(it.x.n)
    for _, augment in losses(case, it):
        a = it.structure.argmax(it.x, ids, it.w, augment)
        b = structure.argmax(x, ids, it.w, augment)
        assert (a.score == b.score).all()
        assert a.labels.unpack() == b.labels.unpack()


@each_case
def test_shapes_and_types(case):
    it = instance(case, 0)
    ids = np.arange(it.x.n)
    found = it.structure.argmax(it.x, ids, it.w)
    rows = it.structure.features(it.x, ids, it.truth)
    for ragged in (it.truth, found.labels):
        assert ragged.ptr.dtype == np.int64
        assert ragged.data.dtype == np.int32
    assert (rows.ptr.dtype, rows.idx.dtype, rows.val.dtype) == (
        np.int64, np.int32, np.float64,
    )  # fmt: skip
    assert len(rows.idx) == 0 or rows.idx.max() < it.structure.dim
    work = it.structure.work(it.x)
    assert work.shape == (it.x.n,)
    assert (work >= 0).all()
    names = it.structure.feature_names()
    assert names is None or len(names) == it.structure.dim
