"""A little of `benchmarks/fuzz` and `benchmarks/certificates`, in each run of the tests."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from benchmarks.certificates import checks as certificates
from benchmarks.fuzz import subjects, trials


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="children are bounded by /proc")
def test_mutants_are_refused_or_used_within_bounds():
    names = ["model chain", "model motif", "model multiclass", "encoded", "sdm"]
    known, tally = subjects.every(names), trials.Tally()
    for subject in known:
        assert [subject.use(data) for data in subject.originals()][-1] == "used"
    trials.run(known, 40 * len(known), 7, tally, seconds=60.0)
    assert tally.bad == []
    outcomes = {outcome for _, outcome in tally.counts}
    assert {"refused", "used"} <= outcomes


def test_every_class_of_a_file_is_in_a_subject_of_the_fuzzer():
    """A class of the table that no mutant ever reaches would be trusted, not tried."""
    assert subjects.uncovered(subjects.every()) == []


def test_certificates_are_right_in_fractions():
    told = []
    for problem, C, form, tol in certificates.fits(5, 3):
        told += certificates.check(problem, C, form, tol, ["block-dual", "one-slack"])
    assert [t for t in told if t[1].startswith("false")] == []
    assert sum(t[1] == "true" for t in told) >= 6


def test_a_false_certificate_is_noticed():
    problem, C, form, tol = next(certificates.fits(1, 0))

    class Wrong:
        def __init__(self, made):
            self.made_well = made

        def __call__(self, **settings):
            model = self.made_well(**settings)
            object.__setattr__(model.result_, "dual", 2.0 * model.result_.primal + 1.0)
            return model

    problem.made = Wrong(problem.made)
    told = list(certificates.check(problem, C, form, tol, ["block-dual"]))
    assert told[0][1].startswith("false: dual")
