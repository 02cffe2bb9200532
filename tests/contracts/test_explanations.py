"""Pieces add up to psi, and the runner-up is the best of all other outputs."""

import cases
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_structures import close, instance

from maxmargin.core import Ragged
from maxmargin.inference.cluster import components

CASES = cases.modules()
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
seeds = st.integers(0, 2**31)


@each_case
@given(seed=seeds)
@settings(max_examples=6)
def test_pieces_add_up(case, seed):
    it = instance(case, seed)
    found = it.structure.argmax(it.x, np.arange(it.x.n), it.w).labels
    for i in range(it.x.n):
        for row in (found.row(i), it.outputs[i].row(0)):
            names, psi, _ = it.structure.explain_pieces(it.x, i, row)
            assert len(names) == psi.n
            whole = it.structure.features(it.x, np.array([i]), Ragged.pack([row]))
            close(psi.total(it.structure.dim), whole.total(it.structure.dim))


def visible(structure):
    """What of a row counts as the output; hidden parts do not."""
    name = type(structure).__name__
    if name == "OwnStructure":
        return None  # the first on the hull of (loss, score), not the best of all
    if name in ("Motif", "Homology"):
        return lambda row, _: row[0]
    if name == "Coreference":
        return lambda row, _: components(np.array(row, np.int32)).tolist()
    if name == "Ranking":
        return lambda _, score: round(score, 12)  # orders that score the same tie
    return lambda row, _: row


@each_case
@given(seed=seeds)
@settings(max_examples=6)
def test_runner_up_is_the_best_other_output(case, seed):
    it = instance(case, seed)
    structure = it.structure
    found = structure.argmax(it.x, np.arange(it.x.n), it.w).labels
    for i in range(it.x.n):
        row = found.row(i)
        other = structure.runner_up(it.x, i, it.w, row)
        score = it.psi[i].dot(it.w)
        best = score.max()
        if other is None:
            continue
        one = Ragged.pack([other])
        own = structure.features(it.x, np.array([i]), one).dot(it.w)[0]
        assert other.tolist() in it.outputs[i].unpack()
        assert other.tolist() != row.tolist()
        assert own <= best + 1e-9
        seen = visible(structure)
        if structure.exact and seen is not None:
            rows = it.outputs[i].unpack()
            pairs = zip(score, rows, strict=True)
            assert own == pytest.approx(
                max(s for s, r in pairs if seen(r, s) != seen(row.tolist(), best)),
                abs=1e-9,
            )
