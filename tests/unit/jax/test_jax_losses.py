"""Losses of label sequences for JAX: enumeration, differences, jit, vmap, errors."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

jax = pytest.importorskip("jax", reason="JAX is not installed")
import jax.numpy as jnp  # noqa: E402

from maxmargin.core import Formulation  # noqa: E402
from maxmargin.decode import Chain, SpanTree  # noqa: E402
from maxmargin.jax import LOSSES, decode, structured_loss  # noqa: E402

NAMES = ("O", "B-X", "I-X")
BIO = Chain(labels=NAMES, scheme="bio")
seeds = st.integers(0, 2**32 - 1)


def tables(rng, K=3, rows=2, tokens=4, scale=1.0):
    made = {
        "emissions": (rows, tokens, K), "transitions": (K, K),
        "start": (K,), "end": (K,),
    }  # fmt: skip
    return {k: scale * rng.normal(size=shape) for k, shape in made.items()}


def score(t, b, y):
    s = t["start"][y[0]] + t["end"][y[-1]]
    s += sum(t["emissions"][b, i, k] for i, k in enumerate(y))
    return s + sum(t["transitions"][a, k] for a, k in pairwise(y))


def as_jax(t):
    return {k: jnp.asarray(v, jnp.float32) for k, v in t.items()}


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("penalty", ["linear", "squared"])
@settings(max_examples=5)
@given(seed=seeds)
def test_values_by_enumeration(kind, rescaling, penalty, seed):
    if kind != "hinge" and (rescaling, penalty) != ("margin", "linear"):
        return
    rng = np.random.default_rng(seed)
    t, lengths = tables(rng), [4, 2]
    y = rng.integers(0, 3, (2, 4))
    options = {"rescaling": rescaling, "penalty": penalty} if kind == "hinge" else {}
    layer = structured_loss(kind, Chain(), reduction="none", **options)
    value = layer(as_jax(t), jnp.asarray(y), jnp.asarray(lengths))
    for b, n in enumerate(lengths):
        true = y[b, :n]
        every = [np.array(o) for o in product(range(3), repeat=n)]
        ahead = np.array([score(t, b, o) for o in every]) - score(t, b, true)
        delta = np.array([float((o != true).sum()) for o in every])
        expected = {
            "perceptron": max(ahead),
            "log-likelihood": np.logaddexp.reduce(ahead),
            "softmax-margin": np.logaddexp.reduce(ahead + delta),
        }
        if kind == "hinge":
            form = Formulation(rescaling, penalty)
            xi = max(form.criterion.value(delta, -ahead).max(), 0.0)
            expected["hinge"] = 0.5 * xi**2 if penalty == "squared" else xi
        assert value[b] == pytest.approx(expected[kind], abs=1e-3, rel=1e-4)


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("order", [1, 2])
def test_gradients_are_those_of_differences(kind, order):
    rng = np.random.default_rng(3)
    t = tables(rng)
    if order == 2:
        t["triples"] = rng.normal(size=(3, 3, 3))
    y, lengths = rng.integers(0, 3, (2, 4)), jnp.array([4, 3])
    layer = structured_loss(kind, Chain(order=order), reduction="none")
    factor = jnp.array([1.0, -0.5])
    made = as_jax(t)
    found = jax.grad(lambda s: (factor * layer(s, y, lengths)).sum())(made)
    for name, table in made.items():
        for _ in range(6):
            step = np.zeros(table.shape, np.float32)
            step.flat[rng.integers(step.size)] = 0.01
            up, down = (
                (factor * layer(made | {name: table + s}, y, lengths)).sum()
                for s in (step, -step)
            )
            slope = float((found[name] * step).sum()) / 0.01
            assert (up - down) / 0.02 == pytest.approx(slope, abs=2e-3)


@pytest.mark.parametrize(
    "options", [{"rescaling": "slack"}, {"penalty": "squared"}, {"loss": "zero-one"}]
)
def test_gradients_of_other_hinges(options):
    rng = np.random.default_rng(5)
    made, y = as_jax(tables(rng)), rng.integers(0, 3, (2, 4))
    layer = structured_loss("hinge", Chain(), **options)
    found = jax.grad(layer)(made, y)["emissions"]
    for _ in range(8):
        step = np.zeros(found.shape, np.float32)
        step.flat[rng.integers(step.size)] = 0.01
        up, down = (
            layer(made | {"emissions": made["emissions"] + s}, y) for s in (step, -step)
        )
        assert (up - down) / 0.02 == pytest.approx(
            float((found * step).sum()) / 0.01, abs=5e-3
        )


@pytest.mark.parametrize("kind", LOSSES)
def test_jit_and_vmap_change_nothing(kind):
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(5, 2, 4, 3)), jnp.float32)
    y = jnp.zeros((5, 2, 4), int)
    layer = structured_loss(kind, BIO)
    plain = [jax.value_and_grad(layer)(a, b) for a, b in zip(x, y, strict=True)]
    quick = jax.jit(jax.value_and_grad(layer))
    mapped = jax.vmap(jax.value_and_grad(layer))(x, y)
    for i, (value, slope) in enumerate(plain):
        assert quick(x[i], y[i])[0] == value and mapped[0][i] == value
        np.testing.assert_array_equal(quick(x[i], y[i])[1], slope)
        np.testing.assert_array_equal(mapped[1][i], slope)


def test_large_batches_pass_under_jit():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(64, 128, 20)), jnp.float32)
    y = jnp.asarray(rng.integers(0, 20, (64, 128)))
    layer = structured_loss("hinge", Chain(), n_jobs=2)
    value, slope = jax.jit(jax.value_and_grad(layer))(x, y)
    assert value > 0 and float(jnp.abs(slope.sum(axis=2)).max()) < 1e-6


def test_decoding_is_legal_and_padded():
    rng = np.random.default_rng(1)
    x = jnp.asarray(rng.normal(size=(30, 12, 3)), jnp.float32)
    lengths = jnp.asarray(rng.integers(1, 13, 30))
    found = np.asarray(jax.jit(lambda s, n: decode(BIO, s, n))(x, lengths))
    assert found.shape == (30, 12)
    np.testing.assert_array_equal(found, BIO.best(np.asarray(x), lengths).outputs)
    for row, n in zip(found, lengths, strict=True):
        assert (row[n:] == -1).all() and (row[:n] >= 0).all()
        before = np.r_[0, row[: n - 1]]
        assert not ((row[:n] == 2) & (before == 0)).any()
    mask = jnp.arange(12) < lengths[:, None]
    np.testing.assert_array_equal(decode(BIO, x, mask), found)


def test_transitions_are_learned():
    y = jnp.array([[0, 1, 0, 1]] * 4)
    layer = structured_loss("hinge", Chain())
    emissions, learned = jnp.zeros((4, 4, 2)), {"transitions": jnp.zeros((2, 2))}
    step = jax.jit(
        jax.value_and_grad(lambda p: layer({"emissions": emissions, **p}, y))
    )
    for _ in range(100):
        value, slope = step(learned)
        learned = {k: v - 0.05 * slope[k] for k, v in learned.items()}
    assert value == 0.0
    assert (decode(Chain(), {"emissions": emissions, **learned}) == y).all() or (
        learned["transitions"][0, 1] > learned["transitions"][0, 0]
    )


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32])
def test_types(dtype):
    x = jnp.ones((2, 3, 2), dtype)
    value, slope = jax.value_and_grad(structured_loss("hinge", Chain()))(
        x, jnp.zeros((2, 3), int)
    )
    assert value.dtype == jnp.float32 and slope.dtype == dtype


def test_double_precision():
    with jax.enable_x64(True):
        x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3, 2)))
        value, slope = jax.value_and_grad(structured_loss("log-likelihood", Chain()))(
            x, jnp.zeros((2, 3), int)
        )
    assert value.dtype == slope.dtype == jnp.float64


def test_mistakes_name_the_row():
    layer = structured_loss("hinge", BIO)
    x, y = jnp.zeros((3, 2, 3)), jnp.array([[0, 0], [0, 2], [0, 0]])
    with pytest.raises(Exception, match="row 1, token 1: 'I-X' may not follow 'O'"):
        layer(x, y).block_until_ready()
    with pytest.raises(Exception, match=r"row 2: emissions\[1, 0\] is nan"):
        layer(x.at[2, 1, 0].set(jnp.nan), 0 * y).block_until_ready()
    with pytest.raises(Exception, match="row 1 is empty"):
        layer(x, 0 * y, jnp.array([2, 0, 1])).block_until_ready()
    with pytest.raises(ValueError, match="must be"):
        layer(x[0], y)
    with pytest.raises(TypeError, match="label sequences only"):
        structured_loss("hinge", SpanTree())
    with pytest.raises(ValueError, match="'hing' is not one of"):
        structured_loss("hing", BIO)
    with pytest.raises(ValueError, match="of the hinge"):
        structured_loss("perceptron", BIO, rescaling="slack")
    with pytest.raises(ValueError, match="'emissions' is missing"):
        layer({"start": jnp.zeros(3)}, y)
    with pytest.raises(ValueError, match="reduction"):
        structured_loss("hinge", BIO, reduction="median")


@pytest.mark.parametrize("temperature", [0.3, 2.0])
def test_softmax_margin_at_other_temperatures_and_costs(temperature):
    rng = np.random.default_rng(7)
    t, y = tables(rng), rng.integers(0, 3, (2, 4))
    cost = rng.uniform(0.0, 2.0, (3, 3)) * (1 - np.eye(3))
    layer = structured_loss(
        "softmax-margin", Chain(), loss=cost, temperature=temperature, reduction="none"
    )
    value = layer(as_jax(t), jnp.asarray(y))
    slope = jax.grad(lambda s: layer(s, y).sum())(as_jax(t))["emissions"]
    for b in range(2):
        every = [np.array(o) for o in product(range(3), repeat=4)]
        ahead = np.array([score(t, b, o) for o in every]) - score(t, b, y[b])
        total = ahead + [cost[y[b], o].sum() for o in every]
        log_z = np.logaddexp.reduce(total / temperature)
        assert value[b] == pytest.approx(temperature * log_z, abs=1e-3)
        p = np.exp(total / temperature - log_z)
        counts = np.zeros((4, 3))
        for o, q in zip(every, p, strict=True):
            counts[np.arange(4), o] += q
        counts[np.arange(4), y[b]] -= 1.0
        np.testing.assert_allclose(slope[b], counts, atol=1e-4)


@pytest.mark.parametrize(
    "kind, options, message",
    [
        ("softmax-margin", {"penalty": "squared"}, "are of the hinge"),
        ("perceptron", {"loss": "hamming"}, "loss is of hinge and softmax-margin"),
        ("hinge", {"temperature": 0.5}, "temperature is of softmax-margin"),
        ("softmax-margin", {"temperature": 0.0}, "must be a positive number"),
    ],
)
def test_options_that_a_loss_does_not_have(kind, options, message):
    with pytest.raises(ValueError, match=message):
        structured_loss(kind, Chain(), **options)
