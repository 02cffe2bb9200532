"""Bounds for outputs with hidden parts, and the mean slack above the mean loss."""

from dataclasses import replace

import numpy as np
import pytest
from cases import chain, coreference, motif, ranking
from small.problems import chain_problem, multiclass_problem

from maxmargin import MotifSVM, RankingSVM, bounds
from maxmargin.core import Formulation, Ragged
from maxmargin.solvers import OneSlack, Status
from maxmargin.solvers.n_slack import NSlack

FORMS = [(r, p) for r in ("margin", "slack") for p in ("linear", "squared")]


def largest(structure, x, outputs):
    """max ||psi(y) - psi(y')|| over all outputs of all examples."""
    best = 0.0
    for i in range(x.n):
        rows = Ragged.pack(outputs(structure, x, i))
        psi = structure.features(x, np.full(rows.n, i), rows)
        psi = psi.csr(structure.dim).toarray()
        apart = psi[:, None] - psi[None, :]
        best = max(best, np.sqrt(np.einsum("ijk,ijk->ij", apart, apart).max()))
    return best


def tiny(case, seed):
    structure, X, Y = case.tiny(np.random.default_rng(seed))
    structure = structure.bind(X, Y)
    return structure, structure.encode(X), X


@pytest.mark.parametrize("seed", range(4))
def test_norm_of_motifs_by_enumeration(seed):
    structure, x, _ = tiny(motif, seed)
    true = largest(structure, x, motif.outputs)
    assert 0.0 < true <= bounds.motif_difference(structure.length) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_norms_of_forests_and_rankings_by_enumeration(seed):
    structure, x, X = tiny(coreference, seed)
    length = max(np.linalg.norm(p.features, axis=1).max(initial=0.0) for p in X)
    true = largest(structure, x, coreference.outputs)
    assert 0.0 < true <= bounds.forest_difference(4, length, nonnegative=False)
    structure, x, X = tiny(ranking, seed)
    length = max(np.linalg.norm(row, axis=1).max() for row in X)
    true = largest(structure, x, ranking.outputs)
    assert 0.0 < true <= bounds.top_difference(length, nonnegative=False)
    structure = structure.bind([np.abs(row) for row in X], None)
    x = structure.encode([np.abs(row) for row in X])
    true = largest(structure, x, ranking.outputs)
    assert 0.0 < true <= bounds.top_difference(length)


@pytest.mark.parametrize("make", [chain_problem, multiclass_problem])
@pytest.mark.parametrize(("rescaling", "penalty"), FORMS)
def test_the_mean_slack_is_above_the_mean_loss(make, rescaling, penalty):
    problem = make(3, C=0.5)
    problem = replace(problem, formulation=Formulation(rescaling, penalty))
    rng = np.random.default_rng(1)
    for size in (0.0, 0.01, 1.0, 100.0):
        row = bounds.risk_bound(problem, size * rng.normal(size=problem.dim))
        assert row.holds and row.bound > 0.0
    assert row.source.endswith("2" if rescaling == "slack" else "1")
    if make is chain_problem:  # of the example that errs most
        structure, x = problem.structure, problem.x
        w = rng.normal(size=problem.dim)
        own = np.zeros(problem.n)
        for i in range(problem.n):
            rows = Ragged.pack(chain.outputs(structure, x, i))
            psi = structure.features(x, np.full(rows.n, i), rows)
            best = rows.take(np.array([int(np.argmax(psi.dot(w)))]))
            own[i] = problem.loss.value(problem.truth.take(np.array([i])), best)[0]
        assert bounds.risk_bound(problem, w).happened == pytest.approx(own.mean())


@pytest.mark.parametrize("epsilon", [0.3, 0.05])
@pytest.mark.parametrize("kind", [OneSlack, NSlack])
def test_completions_of_algorithm_5_1(kind, epsilon):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACGT"), size=12)) for _ in range(30)]
    y = ["+" if "AC" in row else "-" for row in X]
    model = MotifSVM(3, 0, False, 1.0, sweeps=0, restarts=1, random_state=2)
    model.set_params(solver=kind(epsilon=epsilon, tol=0.0)).fit(X, y)
    result = model.result_
    assert result.status is Status.WITHIN_EPSILON
    falls = -np.diff(result.outer["objective"])
    assert (falls[:-1] > epsilon * 30).all() and len(falls) == len(result.outer) - 1
    rows = model.bounds(X, y, epsilon, R=bounds.motif_difference(3), Delta=1.0)
    found = {row.name: row for row in rows}
    assert 0 < found["completions"].happened <= found["completions"].bound
    assert found["completions"].happened == len(result.outer)
    counted = "cuts" if kind is OneSlack else "constraints"
    assert 0 < found[counted].happened <= found[counted].bound
    loss = np.mean(model.predict(X) != np.array(y))
    assert found["training loss"].happened == pytest.approx(loss)
    assert found["training loss"].holds


def test_completions_are_counted_where_they_end_by_epsilon():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(6, 3)) for _ in range(8)]
    y = [(x[:, 0] > 0).astype(int) for x in X]
    rows = RankingSVM(3).fit(X, y).bounds(X, y, 0.1, R=10.0, Delta=1.0)
    assert "completions" not in [row.name for row in rows]
    with pytest.raises(ValueError, match=r"epsilon=0\.0"):
        bounds.most_completions(0.0, 1.0)


def test_places_of_motifs_may_start_uniformly():
    X, y = ["ACGTACGTAA", "TTTTTTTTTT"] * 5, ["+", "-"] * 5
    assert MotifSVM(3, sweeps=0, random_state=0).fit(X, y).score(X, y) == 1.0
    with pytest.raises(ValueError, match="sweeps=-1"):
        MotifSVM(3, sweeps=-1).fit(X, y)
