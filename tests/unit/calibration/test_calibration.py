"""Temperatures, increasing functions and conformal sets against plain definitions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.isotonic import IsotonicRegression

from maxmargin.calibration import (
    Candidates,
    ConformalSets,
    Isotonic,
    Temperature,
    best_f1_threshold,
    expected_calibration_error,
    fit_sigmoid,
    log_loss,
    reliability,
    span_confidences,
)
from maxmargin.calibration.conformal import coverage_of


def sample(n, k=4, scale=2.5, seed=0):
    """Scores `scale` times as large as the log-odds from which truths are drawn."""
    rng = np.random.default_rng(seed)
    logits = 1.5 * rng.normal(size=(n, k))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = (rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1)
    return Candidates.of_table(scale * logits), np.minimum(truth, k - 1)


def test_the_temperature_is_found():
    scores, truth = sample(20_000)
    fitted = Temperature.fit(scores, truth)
    assert fitted.temperature == pytest.approx(2.5, rel=0.05)
    p = fitted(scores)
    assert np.allclose(p.scores.reshape(-1, 4).sum(axis=1), 1.0)
    assert log_loss(p, truth) < log_loss(Temperature(1.0)(scores), truth)


def test_scores_against_the_truth_say_nothing():
    """However small the scores are: the best 1/T is zero."""
    for size in (10.0, 0.1):
        fitted = Temperature.fit(Candidates.of_rows([[size, 0.0]] * 3), [1, 1, 0])
        assert fitted.inverse == 0.0 and fitted.temperature == np.inf


def test_nothing_held_out_promises_nothing():
    none = Candidates(np.zeros(1, np.int64), np.empty(0))
    assert none.tops().shape == (0,)
    sets = ConformalSets.fit(none, [], per="sequence", sequences=[0, 0, 0])
    assert sets.thresholds(0.5).tolist() == [np.inf]


def test_candidates_of_score_minus_infinity_are_impossible():
    rows = Candidates.of_rows([[0.0, -np.inf, 1.0]])
    assert Temperature(0.0)(rows).scores.tolist() == [0.5, 0.0, 0.5]
    p = Temperature(1.0)(rows).scores
    plain = [[0.0, 1.0], [2.0, -1.0], [0.5, 0.0]]
    more = [[0.0, 1.0, -np.inf], [2.0, -1.0, -np.inf], [0.5, 0.0, -np.inf]]
    known, found = (
        Temperature.fit(Candidates.of_rows(r), [1, 0, 1]) for r in (plain, more)
    )
    assert 0.0 < known.inverse < np.inf
    assert found.inverse == pytest.approx(known.inverse, rel=1e-8)
    assert p[1] == 0.0 and p[2] == pytest.approx(1.0 / (1.0 + np.exp(-1.0)))


def test_the_threshold_with_the_best_f1():
    """Against the F1 of every threshold between two scores, and beyond them."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 12):
        scores, truth = rng.normal(size=n).round(1), rng.integers(0, 2, n)
        truth[0] = 1
        threshold, f1 = best_f1_threshold(scores, truth)

        def measured(t, scores=scores, truth=truth):
            said = scores > t
            return 2.0 * (said & (truth == 1)).sum() / (said.sum() + truth.sum())

        assert measured(threshold) == pytest.approx(f1)
        assert f1 == pytest.approx(max(measured(t) for t in np.arange(-5, 5, 0.05)))
    assert best_f1_threshold([1.0, -2.0], [0, 0]) == (0.0, 0.0)


ROWS = st.lists(
    st.lists(st.floats(-5, 5).map(lambda v: round(v, 2)), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)


@given(rows=ROWS, data=st.data())
def test_the_temperature_has_the_best_likelihood(rows, data):
    scores = Candidates.of_rows(rows)
    truth = [data.draw(st.integers(-1, len(row) - 1)) for row in rows]
    if max(truth) < 0:
        with pytest.raises(ValueError, match="no truth is among"):
            Temperature.fit(scores, truth)
        return
    fitted = Temperature.fit(scores, truth)

    seen = [(np.array(row), t) for row, t in zip(rows, truth) if t >= 0]

    def value(beta):  # of the truths, and of a coin that is thrown for the best two
        log = [beta * row[t] - logsumexp(beta * row) for row, t in seen]
        coins = []
        for row, _ in seen:
            two = beta * np.sort(row)[-2:]
            coins.append((two - logsumexp(two)).mean() if len(two) > 1 else 0.0)
        return -sum(log) - np.mean(coins)

    best = value(fitted.inverse)
    for beta in [0.0, 0.1, 0.5, 1.0, 3.0, fitted.inverse * 1.01, fitted.inverse * 0.99]:
        assert best <= value(beta) + 1e-9 * (1.0 + abs(best))


def test_impossible_candidates_have_no_probability():
    table = np.array([[1.0, -np.inf, 0.0], [0.0, 2.0, -np.inf]])
    scores = Candidates.of_table(np.tile(table, (20, 1)))
    for bias in (False, True):
        fitted = Temperature.fit(scores, [0, 1] * 19 + [2, 0], bias=bias)
        p = fitted(scores).scores.reshape(-1, 3)
        assert (p[::2, 1] == 0).all() and (p[1::2, 2] == 0).all()
        assert np.allclose(p.sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="no possible candidate"):
        Candidates.of_rows([[1.0], [-np.inf, -np.inf]])
    with pytest.raises(ValueError, match="not a number below infinity"):
        Candidates.of_rows([[np.nan]])
    # A truth that is impossible is left out: no temperature can make it likely.
    assert Temperature.fit(scores, [0, 1] * 19 + [1, 0]).inverse > 0


@pytest.mark.parametrize("options", [{}, {"power": True}, {"bias": True}])
def test_no_certainty_where_all_held_out_examples_are_right(options):
    few, many = (Candidates.of_table([[2.0, 0.0, 0.5]] * n) for n in (10, 10_000))
    few_p, many_p = (
        Temperature.fit(some, [0] * some.n, **options)(some).row(0)[0]
        for some in (few, many)
    )
    most = 0.999 if options.get("bias") else 0.99
    assert 0.8 < few_p < most and few_p < many_p < 1 - 1e-6
    weighted = Temperature.fit(few, [0] * 10, sample_weight=[5.0] * 10, **options)
    assert weighted(few).row(0)[0] == pytest.approx(few_p, abs=1e-3)


def test_biases_minimise_the_likelihood():
    scores, truth = sample(400, k=3, scale=1.7, seed=1)
    truth = np.where(truth == 2, 1, truth)  # label 2 never is the truth
    fitted = Temperature.fit(scores, truth, bias=True)
    table = scores.below_top().scores.reshape(-1, 3)

    def value(v):
        logits = v[0] * table + v[1:]
        log = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        two = v[0] * np.sort(table, axis=1)[:, 1:]
        coin = (two - np.logaddexp.reduce(two, axis=1, keepdims=True)).mean() / 400
        likely = log[np.arange(400), truth].mean() + coin
        return -likely + 0.5 * 1e-3 * v[1:] @ v[1:]

    found = minimize(value, np.zeros(4), method="Nelder-Mead",
                     options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 20_000})  # fmt: skip
    ours = value(np.append(fitted.inverse, fitted.bias))
    assert ours <= found.fun + 1e-7
    plain = Temperature.fit(scores, truth)
    assert log_loss(fitted(scores), truth) < log_loss(plain(scores), truth)
    with pytest.raises(ValueError, match="needs rows of 3 scores"):
        fitted(Candidates.of_rows([[1.0]]))


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 1), st.integers(1, 3)), min_size=1
    )
)
def test_increasing_functions_are_those_of_scikit_learn(pairs):
    x, y, w = np.array(pairs, float).T
    ours = Isotonic.fit(x, y, w)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(x, y, w)
    grid = np.linspace(-1, 7, 33)
    assert np.allclose(ours(grid), theirs.predict(grid))
    assert (np.diff(ours.y) >= 0).all()


def test_increasing_functions_refuse_nonsense():
    with pytest.raises(ValueError, match="fall"):
        Isotonic(np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="not finite"):
        Isotonic.fit([np.inf], [1])
    with pytest.raises(ValueError, match="1 confidences, 2 answers"):
        Isotonic.fit([0.5], [1, 0])


@pytest.mark.parametrize("per", ["token", "label", "sequence"])
@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_sets_cover_as_promised(per, coverage):
    k, length, some = 4, 5, []
    for seed in range(5):
        scores, truth = sample(4000, k, seed=seed)
        p = Temperature(1.0)(scores)  # badly calibrated: the promise holds all the same
        half = 2000
        first = Candidates(p.ptr[: half + 1], p.scores[: half * k])
        last = Candidates(p.ptr[: half + 1], p.scores[half * k :])
        ends = np.arange(0, half + 1, length)
        sets = ConformalSets.fit(first, truth[:half], per=per, sequences=ends)
        inside = sets.members(last, coverage, empty=True)
        right = inside.reshape(-1, k)[np.arange(half), truth[half:]]
        if per == "sequence":
            right = right.reshape(-1, length).all(axis=1)
        groups = truth[half:] if per == "label" else np.zeros(len(right), int)
        some.append([right[groups == g].mean() for g in np.unique(groups)])
        never_empty = sets.members(last, coverage).reshape(-1, k)
        assert never_empty.any(axis=1).all()
        assert (never_empty >= inside.reshape(-1, k)).all()
    n = half if per == "token" else half / k if per == "label" else half / length
    error = math.sqrt(2 * coverage * (1 - coverage) / n / 5)  # held-out and new
    found = np.mean(some, axis=0)
    assert (found > coverage - 4 * error).all()
    assert (found < coverage + 4 * error + 2 / n).all()


@given(
    values=st.lists(st.floats(0, 1), min_size=1, max_size=30),
    coverage=st.sampled_from([0.1, 0.5, 0.8, 0.9, 0.95]),
)
def test_thresholds_are_order_statistics(values, coverage):
    scores = Candidates.of_rows([[v] for v in values])
    q = ConformalSets.fit(scores, np.zeros(len(values), int)).thresholds(coverage)[0]
    if math.isinf(q):
        assert math.ceil((len(values) + 1) * coverage - 1e-9) > len(values)
        return
    below = sum(-v <= q for v in values)
    assert below >= (len(values) + 1) * coverage - 1e-6
    assert sum(-v < q for v in values) < (len(values) + 1) * coverage


def test_sets_of_outputs_in_lists():
    lists = Candidates.of_rows([[3.0, 2.5, 0.0], [1.0], [2.0, 1.9]]).below_top()
    sets = ConformalSets.fit(lists, [1, 0, -1])
    assert sets.thresholds(0.5).tolist() == [0.5]
    assert sets.thresholds(0.9).tolist() == [np.inf]
    assert sets.sets(lists, 0.5).unpack() == [[0, 1], [0], [0, 1]]
    assert coverage_of(sets.members(lists, 0.5), lists, [1, 0, -1]) == {
        "coverage": 2 / 3, "size": 5 / 3,
    }  # fmt: skip
    with pytest.raises(ValueError, match="coverage=1"):
        sets.thresholds(1)
    with pytest.raises(ValueError, match="per='all'"):
        ConformalSets.fit(lists, [0, 0, 0], per="all")
    with pytest.raises(ValueError, match="example 1: there is no candidate 1"):
        ConformalSets.fit(lists, [0, 1, 0])


def test_reliability_by_hand():
    p, right = [0.05, 0.15, 0.95, 0.85, 1.0], [0, 1, 1, 1, 0]
    wide = reliability(p, right, bins=10)
    assert wide.counts.tolist() == [1, 1, 1, 2]
    assert wide.accuracy.tolist() == [0, 1, 1, 0.5]
    error = (0.05 + 0.85 + 0.15 + 2 * 0.475) / 5
    assert wide.error == pytest.approx(error)
    even = reliability(p, right, bins=2, equal="count")
    assert even.counts.tolist() == [3, 2]
    assert expected_calibration_error([], []) == 0.0
    with pytest.raises(ValueError, match="between 0 and 1"):
        reliability([1.5], [1])


def test_span_confidences_add_up_what_competes():
    outputs = [["B-P", "I-P", "O"], ["B-P", "O", "O"], ["B-P", "I-P", "B-Q"]]
    found = span_confidences(outputs, [0.5, 0.3, 0.2])
    assert [tuple(s)[:3] for s in found] == [("P", 0, 1)]
    assert found[0].confidence == pytest.approx(0.7)
    with pytest.raises(ValueError, match="1 outputs but 2"):
        span_confidences([["O"]], [0.5, 0.5])
    (alone,) = span_confidences([["B-P"], ["O"]], [1.0, 0.0])
    assert alone.confidence == 1.0


def test_span_confidences_are_marginals_when_all_outputs_compete():
    rng = np.random.default_rng(0)
    labels = ["B-P", "I-P", "O"]
    outputs = [list(y) for y in itertools.product(labels, repeat=3)]
    scores = rng.normal(size=len(outputs))
    order = np.argsort(-scores)
    p = Temperature(1.0)(Candidates.of_rows([scores[order]])).scores
    best = [outputs[j] for j in order]
    for kind, first, last, confidence in span_confidences(best, p):
        holds = [
            q for y, q in zip(best, p)
            if y[first][2:] == kind and (y[first][0] == "B" or first == 0 or y[first - 1] == "O")
            and all(v == "I-P" for v in y[first + 1 : last + 1])
            and (last == 2 or y[last + 1] != "I-P")
        ]  # fmt: skip
        assert confidence == pytest.approx(sum(holds))


def test_the_power_is_that_of_the_data():
    """Truths drawn from  p(c) ~ exp(-below(c)^power / T)  give power and T back."""
    rng = np.random.default_rng(0)
    scores = Candidates.of_table(rng.gamma(1.0, 2.0, size=(20000, 3)))
    drawn = Temperature(inverse=1.5, power=0.6)(scores).scores.reshape(-1, 3)
    truth = (rng.random((20000, 1)) > np.cumsum(drawn, axis=1)).sum(axis=1)
    fitted = Temperature.fit(scores, np.minimum(truth, 2), power=True)
    assert fitted.power == pytest.approx(0.6, abs=0.06)
    assert fitted.inverse == pytest.approx(1.5, abs=0.1)
    plain = Temperature.fit(scores, np.minimum(truth, 2))
    assert log_loss(fitted(scores), truth) < log_loss(plain(scores), truth)


def test_the_power_keeps_the_order_and_impossible_candidates():
    scores = Candidates.of_table([[2.0, -np.inf, 0.5], [0.0, 1.0, -3.0]])
    p = Temperature(inverse=0.7, power=0.5)(scores)
    assert p.scores[1] == 0.0
    for i in range(2):
        order = np.argsort(scores.row(i), kind="stable")
        assert (np.argsort(p.row(i), kind="stable") == order).all()
        assert p.row(i).sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="power"):
        Temperature(power=0.0)


def test_sigmoids_have_the_best_likelihood_of_platt():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    yes = rng.random(300) < 1.0 / (1.0 + np.exp(-(2.0 * x - 1.0)))
    slope, offset = fit_sigmoid(x, yes)
    n = yes.sum()
    t = np.where(yes, (n + 1) / (n + 2), 1 / (len(x) - n + 2))

    def cost(v):
        p = 1.0 / (1.0 + np.exp(-(v[0] * x + v[1])))
        return -np.mean(t * np.log(p) + (1 - t) * np.log(1 - p))

    best = minimize(cost, [0.0, 0.0], tol=1e-12).x
    np.testing.assert_allclose([slope, offset], best, atol=1e-3)
    assert abs(slope - 2.0) < 0.6 and abs(offset + 1.0) < 0.4
    for scale in (1e-6, 1e6):  # margins have no scale of their own
        other = fit_sigmoid(scale * x, yes)
        np.testing.assert_allclose(
            [other[0] * scale, other[1]], [slope, offset], rtol=1e-5
        )


@pytest.mark.parametrize(
    ("margins", "yes", "share"),
    [([1.0, 2.0], [0, 0], 0.25), ([1.0, 2.0], [1, 1], 0.75), ([1.0, 1.0], [0, 1], 0.5)],
)
def test_sigmoids_of_little_data_are_not_certain(margins, yes, share):
    slope, offset = fit_sigmoid(margins, yes)
    p = 1.0 / (1.0 + np.exp(-(slope * np.array(margins) + offset)))
    np.testing.assert_allclose(p, share, atol=1e-3)


def test_sigmoids_never_fall():
    assert fit_sigmoid([-2.0, -1.0, 1.0, 2.0], [1, 1, 0, 0])[0] == 0.0
    with pytest.raises(ValueError, match="margin 1 is not finite"):
        fit_sigmoid([0.0, np.inf], [0, 1])
