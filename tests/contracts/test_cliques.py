"""Networks with cliques against a dense QP with all constraints."""

import pytest
from cases import network_cliques
from dense import ROWS, make, optimum

from maxmargin.solvers import BlockDual, OneSlack


@pytest.mark.parametrize("name", [row for row in ROWS if row not in ("SVM0", "LSE")])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_optimum_is_that_of_all_constraints(name, seed):
    loss = -1 if ROWS[name][0] is None else 0
    problem, dense = make(network_cliques, seed, name, loss=loss)
    assert problem.exact
    best, _ = optimum(dense)
    for trainer in (BlockDual(1e-7), OneSlack(1e-5)):
        result = trainer.solve(problem).result
        assert result.converged
        assert result.primal == pytest.approx(best, rel=2e-5)
        assert result.dual == pytest.approx(best, rel=2e-5)
        assert dense.primal(result.w) == pytest.approx(result.primal, rel=1e-6)
