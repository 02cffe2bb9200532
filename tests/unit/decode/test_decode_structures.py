"""Every structure of scores against enumeration of all its outputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_cases import CASES, same

from maxmargin.core import Formulation
from maxmargin.decode import (
    Alignment,
    Chain,
    DependencyTree,
    Matching,
    Segments,
    SpanTree,
    most_violated,
)
from maxmargin.decode.machinery import batch as batches

seeds = st.integers(0, 2**32 - 1)
every_case = pytest.mark.parametrize("name", CASES)


def made(name, seed):
    rng = np.random.default_rng(seed)
    return CASES[name](rng), rng


def tolerance(case):
    main = case.scores[case.structure.tables[0]]
    return 1e-5 if main.dtype == np.float32 else 1e-9


@every_case
@settings(max_examples=15)
@given(seed=seeds)
def test_best_is_the_best_of_all(name, seed):
    case, _ = made(name, seed)
    found = case.structure.best(case.scores, case.mask)
    for b, every in enumerate(case.outputs):
        top = max(case.score(b, y) for y in every)
        assert found.score[b] == pytest.approx(top, abs=tolerance(case))
        assert found.bound[b] >= top - tolerance(case)
        y = same(case.structure, found.outputs[b])
        assert case.score(b, y) == pytest.approx(top, abs=tolerance(case))


@every_case
def test_a_batch_may_be_empty(name):
    case, _ = made(name, 0)
    tables = case.structure.tables
    shapes = case.structure.side_shapes(case.scores[tables[0]].shape)
    scores = {
        k: v[:0] if k == tables[0] or v.ndim > len(shapes[k]) else v
        for k, v in case.scores.items()
    }
    found = case.structure.best(scores)
    assert len(found.outputs) == len(found.score) == len(found.bound) == 0
    assert case.structure.nbest(scores, 2).outputs == []


@every_case
@settings(max_examples=10)
@given(seed=seeds, n=st.integers(1, 12))
def test_n_best_are_the_best_in_order(name, seed, n):
    case, _ = made(name, seed)
    found = case.structure.nbest(case.scores, n, case.mask)
    for b, every in enumerate(case.outputs):
        top = sorted((case.score(b, y) for y in every), reverse=True)[:n]
        assert found.score[b] == pytest.approx(top, abs=tolerance(case))
        outputs = [same(case.structure, y) for y in found.outputs[b]]
        assert len(set(outputs)) == len(top)
        for y, s in zip(outputs, top, strict=True):
            assert case.score(b, y) == pytest.approx(s, abs=tolerance(case))


@every_case
@settings(max_examples=8)
@given(seed=seeds)
def test_max_marginals(name, seed):
    """The best output that has a cell: found by the indicators of all outputs."""
    case, _ = made(name, seed)
    if name == "ranking":
        return check_places(case)
    found = case.structure.max_marginals(case.scores, case.mask)
    expected = np.full(found.shape, -np.inf)
    for b, every in enumerate(case.outputs):
        for y in every:
            has = main_indicator(case, b, y)
            expected[b][has] = np.maximum(expected[b][has], case.score(b, y))
    np.testing.assert_allclose(found, expected, atol=tolerance(case))


def check_places(case):
    found = case.structure.max_marginals(case.scores, case.mask)
    for b, every in enumerate(case.outputs):
        n = len(every[0])
        expected = np.full((n, n), -np.inf)
        for y in every:
            for place, item in enumerate(y):
                expected[item, place] = max(expected[item, place], case.score(b, y))
        np.testing.assert_allclose(found[b, :n, :n], expected, atol=1e-9)


def main_indicator(case, b, y):
    """Which cells of the main table an output has, from `indicators`."""
    return indicator_tables(case, b, y)[case.structure.tables[0]][b] > 0


def indicator_tables(case, b, y):
    others = [every[0] for every in case.outputs]
    others[b] = y
    return case.structure.indicators(case.scores, case.given(others), case.mask)


@every_case
@settings(max_examples=5)
@given(seed=seeds)
def test_score_is_the_sum_over_indicators(name, seed):
    case, rng = made(name, seed)
    if name == "ranking":
        return
    targets = case.targets(rng)
    score = case.structure.score(case.scores, case.given(targets), case.mask)
    tables = case.structure.indicators(case.scores, case.given(targets), case.mask)
    total = sum((tables[k] * case.scores[k]).sum() for k in case.scores)
    expected = [case.score(b, y) for b, y in enumerate(targets)]
    np.testing.assert_allclose(score, expected, atol=tolerance(case))
    assert total == pytest.approx(sum(expected), abs=1e-4)


@every_case
@settings(max_examples=8)
@given(seed=seeds)
def test_sums_over_all_outputs(name, seed):
    case, _ = made(name, seed)
    if not case.sums:
        with pytest.raises(NotImplementedError, match=r"exactly|forests only"):
            case.structure.marginals(case.scores, case.mask)
        return
    found = case.structure.marginals(case.scores, case.mask)
    expected = {k: np.zeros(v.shape) for k, v in found.tables.items()}
    for b, every in enumerate(case.outputs):
        values = np.array([case.score(b, y) for y in every])
        log_z = np.logaddexp.reduce(values)
        assert found.log_z[b] == pytest.approx(log_z, abs=tolerance(case))
        if len(every) > 150:
            continue
        for y, p in zip(every, np.exp(values - log_z), strict=True):
            for key, table in indicator_tables(case, b, y).items():
                if key == case.structure.tables[0]:
                    expected[key][b] += p * table[b]
    main = case.structure.tables[0]
    for b, every in enumerate(case.outputs):
        if len(every) <= 150:
            np.testing.assert_allclose(
                found.tables[main][b], expected[main][b], atol=10 * tolerance(case)
            )


@every_case
@settings(max_examples=3)
@given(seed=seeds)
def test_marginals_of_side_tables_are_derivatives_of_log_z(name, seed):
    case, _ = made(name, seed)
    if not case.sums:
        return
    tables = case.structure.marginals(case.scores, case.mask).tables
    for key in list(case.scores)[1:]:
        for at in list(np.ndindex(case.scores[key].shape))[:12]:
            value = []
            for step in (1e-4, -1e-4):
                moved = {k: v.astype(np.float64) for k, v in case.scores.items()}
                moved[key][at] += step
                value.append(case.structure.marginals(moved, case.mask).log_z.sum())
            slope = (value[0] - value[1]) / 2e-4
            assert tables[key][at] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("penalty", ["linear", "squared"])
@every_case
@settings(max_examples=5)
@given(seed=seeds)
def test_most_violated(name, rescaling, penalty, seed):
    case, rng = made(name, seed)
    formulation = Formulation(rescaling, penalty)
    targets = case.targets(rng)
    for loss, value in case.losses.items():
        found, delta, xi = most_violated(
            case.structure, case.scores, case.given(targets), case.mask, loss,
            rescaling, penalty,
        )  # fmt: skip
        for b, every in enumerate(case.outputs):
            own = case.score(b, targets[b])
            worst = max(
                violation(formulation, value(targets[b], y, b), own - case.score(b, y))
                for y in every
            )
            assert xi[b] == pytest.approx(worst, abs=10 * tolerance(case)), loss
            y = same(case.structure, found[b])
            assert delta[b] == pytest.approx(value(targets[b], y, b), abs=1e-9)
            again = violation(formulation, delta[b], own - case.score(b, y))
            assert again == pytest.approx(worst, abs=10 * tolerance(case))


def violation(formulation, delta, margin):
    return float(formulation.criterion.value(np.array([delta]), np.array([margin]))[0])


def ranking_losses(order, grades):
    g = [grades[i] for i in order]
    n = len(g)
    pairs = [(g[i], g[j]) for i in range(n) for j in range(i + 1, n)]
    relevant = [x > 0 for x in g]
    hits = [sum(relevant[: k + 1]) / (k + 1) for k in range(n) if relevant[k]]
    wrong = sum(not a and b for i, a in enumerate(relevant) for b in relevant[i + 1 :])
    total = sum(relevant) * (n - sum(relevant))
    return {
        "pairs": sum(max(b - a, 0) for a, b in pairs) / len(pairs),
        "average-precision": 1.0 - float(np.mean(hits)) if hits else 0.0,
        "roc-area": wrong / total if total else 0.0,
        "zero-one": float(any(b > a for a, b in pairs)),
    }


@settings(max_examples=40)
@given(seed=seeds)
def test_worst_orders(seed):
    case, rng = made("ranking", seed)
    width = case.scores["scores"].shape[1]
    grades = rng.integers(0, 3, (len(case.outputs), width))
    for loss in case.structure.losses:
        _, _, xi = most_violated(case.structure, case.scores, grades, case.mask, loss)
        for b, every in enumerate(case.outputs):
            costs = {y: ranking_losses(y, grades[b])[loss] for y in every}
            right = [y for y in every if ranking_losses(y, grades[b])["zero-one"] == 0]
            own = max(case.score(b, y) for y in right)
            worst = max(costs[y] + case.score(b, y) - own for y in every)
            assert xi[b] == pytest.approx(max(worst, 0.0), abs=1e-9), loss


@pytest.mark.parametrize(
    "name",
    [
        "chain",
        "chain-wide",
        "chain-2",
        "trees",
        "segments",
        "alignment",
        "alignment-local",
        "projective",
        "projective-many-roots",
        "projective-labels",
        "non-projective",
        "non-projective-many-roots",
        "non-projective-labels",
        "forest",
        "classes",
        "taxonomy",
    ],
)
@pytest.mark.parametrize("scale", [300.0, 3000.0])
def test_sums_survive_extreme_scores(name, scale):
    """Where probabilities vanish, the sums are done with logarithms."""
    case, _ = made(name, 5)
    case.scores = {k: scale * v for k, v in case.scores.items()}
    batch = case.structure.read(case.scores, case.mask)
    ones = np.ones(batch.rows)
    log_z, tables = case.structure.weighted_marginals(batch, ones)
    for b, every in enumerate(case.outputs):
        values = [scale * case.score(b, y) for y in every]
        assert log_z[b] == pytest.approx(np.logaddexp.reduce(values), rel=1e-9)
    assert all(np.isfinite(table).all() for table in tables)
    counts = case.structure.indicators(
        case.scores, case.given([y[0] for y in case.outputs]), case.mask
    )
    if name not in ("segments", "alignment", "alignment-local"):  # as many cells each
        assert tables[0].sum() == pytest.approx(counts[case.structure.tables[0]].sum())


def test_threads_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(batches, "WORTH_THREADS", 0.0)  # also for small batches
    rng = np.random.default_rng(0)
    scores = {
        "emissions": rng.normal(size=(40, 9, 5)),
        "transitions": rng.normal(size=(5, 5)),
    }
    one = Chain().marginals(scores, n_jobs=1)
    two = Chain().marginals(scores, n_jobs=3)
    for key in one.tables:
        assert (one.tables[key] == two.tables[key]).all()
    assert (
        Chain().best(scores).outputs == Chain().best(scores, n_jobs=3).outputs
    ).all()


@pytest.mark.parametrize(
    "structure, shape",
    [
        (SpanTree(), (20, 6, 6, 2)),
        (Segments(), (20, 6, 3, 2)),
        (DependencyTree(), (20, 6, 7, 2)),
        (DependencyTree(projective=False), (20, 6, 7, 2)),
        (Matching(), (20, 5, 6)),
        (Alignment(), (20, 5, 6)),
    ],
    ids=lambda x: type(x).__name__ if not isinstance(x, tuple) else "",
)
def test_every_structure_decodes_alike_on_threads(monkeypatch, structure, shape):
    asked = []
    together = batches.work_together

    def watched(task, chunks, n_jobs):
        asked.append(n_jobs)
        return together(task, chunks, n_jobs)

    monkeypatch.setattr(batches, "work_together", watched)
    scores = np.random.default_rng(0).normal(size=shape)
    one = structure.best(scores, n_jobs=3)
    assert asked == [1]  # a small batch is not worth a thread
    monkeypatch.setattr(batches, "WORTH_THREADS", 0.0)
    two = structure.best(scores, n_jobs=3)
    assert asked == [1, 3]
    assert (one.score == two.score).all()
    assert same(one.outputs, two.outputs)


@pytest.mark.parametrize("labels", [1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 21])
@pytest.mark.parametrize("wide", [False, True])
def test_viterbi_of_any_number_of_labels(labels, wide):
    """Label rows are taken eight and four at a time: every remainder is right."""
    rng = np.random.default_rng(labels)
    emissions = rng.normal(size=(3, 6, labels))
    pairs = rng.normal(size=(3, 5, labels, labels) if wide else (labels, labels))
    forbidden = rng.random(pairs.shape) < 0.2
    forbidden[..., 0, :] = False  # so that there is always a sequence
    pairs[forbidden] = -np.inf
    lengths, ends = [6, 1, 4], rng.normal(size=labels)
    scores = {"emissions": emissions, "transitions": pairs, "end": ends}
    found = Chain().best(scores, lengths)
    for b, n in enumerate(lengths):
        value = emissions[b, 0]
        for t in range(1, n):
            table = pairs[b, t - 1] if wide else pairs
            value = (value[:, None] + table).max(axis=0) + emissions[b, t]
        assert found.score[b] == pytest.approx((value + ends).max(), abs=1e-12)
        y = found.outputs[b, :n]
        own = emissions[b, np.arange(n), y].sum() + ends[y[-1]]
        table = pairs[b, np.arange(n - 1)] if wide else np.stack([pairs] * (n - 1 or 1))
        own += sum(table[t, y[t], y[t + 1]] for t in range(n - 1))
        assert own == pytest.approx(found.score[b], abs=1e-12)


@pytest.mark.parametrize("labels", [1, 3, 4, 5, 8, 11])
def test_span_trees_of_any_number_of_labels(labels):
    """Labels of a span are compared four at a time: every remainder is right."""
    scores = np.random.default_rng(labels).normal(size=(2, 5, 5, labels))
    found = SpanTree().best(scores)
    best = SpanTree().best(scores.max(axis=3, keepdims=True))
    assert (found.score == best.score).all()
    for b, spans in enumerate(found.outputs):
        assert all(c == scores[b, i, j].argmax() for i, j, c in spans)
        assert [s[:2] for s in spans] == [s[:2] for s in best.outputs[b]]


@pytest.mark.parametrize("tokens", [1, 2, 5])
@pytest.mark.parametrize("labels", [1, 3, 4, 6])
def test_sums_of_rows_with_transitions_of_their_own(tokens, labels):
    """Nine rows are a chunk and one more, which is alone; garbage stands in the padding."""
    rng = np.random.default_rng(labels)
    emissions = rng.normal(size=(9, tokens, labels))
    pairs = rng.normal(size=(9, tokens - 1, labels, labels))
    sizes = rng.integers(1, tokens + 1, 9)
    emissions[np.arange(tokens) >= sizes[:, None]] = np.nan
    found = Chain().marginals({"emissions": emissions, "transitions": pairs}, sizes)
    for b, n in enumerate(sizes):
        own = {"emissions": emissions[b : b + 1, :n]}
        if n > 1:
            own["transitions"] = pairs[b : b + 1, : n - 1]
        alone = Chain().marginals(own)
        assert found.log_z[b] == pytest.approx(alone.log_z[0], abs=1e-12)
        table = found.tables["emissions"][b, :n]
        np.testing.assert_allclose(table, alone.tables["emissions"][0], atol=1e-12)
        np.testing.assert_allclose(table.sum(axis=1), 1.0)
        if n > 1:
            table = found.tables["transitions"][b, : n - 1]
            np.testing.assert_allclose(
                table, alone.tables["transitions"][0], atol=1e-12
            )
            sums = table.sum(axis=1), table.sum(axis=2)
            np.testing.assert_allclose(sums[0], found.tables["emissions"][b, 1:n])
            np.testing.assert_allclose(sums[1], found.tables["emissions"][b, : n - 1])
