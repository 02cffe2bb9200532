"""The path over C, C by cross-validation, streams, and what `auto` says."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small.problems import chain_problem, multiclass_problem

from maxmargin import load, save
from maxmargin.core import Formulation, Problem
from maxmargin.estimators import ChainSVM, MulticlassSVM, PathCV, StructuralSVM
from maxmargin.losses import ZeroOne
from maxmargin.solvers import Auto, Costs, decide
from maxmargin.solvers.enumerated import EnumeratedStream
from maxmargin.solvers.enumerated.loops import slacks
from maxmargin.solvers.n_slack import BlockDual, StreamDual
from maxmargin.structures.chain import Chain
from maxmargin.structures.classes import Multiclass


def words(seed, n, labels=3):
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(labels, 4))
    Y = [rng.integers(labels, size=rng.integers(1, 5)).tolist() for _ in range(n)]
    Y[0] = list(range(labels))
    X = [centres[y] + 0.8 * rng.normal(size=(len(y), 4)) for y in Y]
    return X, Y


@pytest.mark.parametrize("structure", [Chain(), Multiclass()], ids=["chain", "classes"])
@pytest.mark.parametrize("penalty", ["linear", "squared"])
def test_path_equals_cold_fits(structure, penalty):
    X, Y = words(1, 40)
    if isinstance(structure, Multiclass):
        X, Y = np.vstack(X), np.concatenate(Y)
    Cs = [1.0, 0.01, 0.1]
    model = StructuralSVM(structure, C=5.0, penalty=penalty, tol=1e-4)
    path = model.fit_path(X, Y, Cs)
    assert model.C == 5.0 and model.result_ is path[0]  # fits write no parameter
    assert [result.notes["C"] for result in path] == Cs
    for C, result in zip(Cs, path, strict=True):
        cold = clone(model).set_params(C=C).fit(X, Y).result_
        assert result.converged and cold.converged
        assert abs(result.primal - cold.primal) <= 2e-4 * cold.primal
        # strong convexity bounds the distance of both to the optimum
        away = np.sum((result.w - cold.w) ** 2)
        assert away <= 8e-4 * cold.primal
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.coef_, model.coef_)


def test_path_asks_less_than_cold_fits():
    X, Y = words(2, 80)
    Cs = np.logspace(-2, 0, 6)
    model = StructuralSVM(Chain(), tol=1e-3)
    path = model.fit_path(X, Y, Cs)
    cold = [clone(model).set_params(C=C).fit(X, Y).result_.oracle_calls for C in Cs]
    assert sum(r.oracle_calls for r in path) < sum(cold)


def test_path_refuses_bad_penalties():
    X, Y = words(3, 5)
    for bad in ([], [0.1, -1.0], [np.nan]):
        with pytest.raises(ValueError, match="Cs="):
            StructuralSVM(Chain()).fit_path(X, Y, bad)


def test_cv_finds_a_good_C_and_stops_early():
    X, Y = words(4, 120)
    test = words(5, 200)
    model = PathCV(StructuralSVM(Chain()), cv=3, random_state=0).fit(X, Y)
    assert model.estimator_.C == model.C_
    scores = [np.mean(s) for s in model.scores_.values()]
    assert list(model.scores_)[int(np.argmax(scores))] == model.C_
    fixed = [StructuralSVM(Chain(), C=C).fit(X, Y).score(*test) for C in (1e-3, 10.0)]
    assert model.score(*test) >= max(fixed) - 0.02
    assert model.predict(X).shape == (120,)
    one = PathCV(StructuralSVM(Chain()), Cs=[0.1, 0.2]).fit(X, Y)
    assert all(len(s) == 1 for s in one.scores_.values())


def test_stream_comes_close_to_training_on_all():
    X, Y = words(6, 120)
    test = words(7, 300)
    whole = StructuralSVM(Chain(), C=0.3).fit(X, Y)
    model = StructuralSVM(Chain(), C=0.3)
    for s in range(0, 120, 40):
        model.partial_fit(X[s : s + 40], Y[s : s + 40])
        assert model.result_.converged
    assert model.result_.certificate == "reduced"
    assert "80 before" in model.result_.notes["certifies"]
    # old examples have the planes held only: a lower bound on the whole problem
    assert model.result_.dual <= whole.result_.primal * (1 + 1e-9)
    assert model.result_.dual >= 0.9 * whole.result_.dual
    assert model.score(*test) >= whole.score(*test) - 0.1


def test_stream_of_classes():
    X, Y = words(8, 150)
    X, y = np.vstack(X), np.array(["a", "b", "c"])[np.concatenate(Y)]
    whole = MulticlassSVM(C=0.1).fit(X, y)
    model = MulticlassSVM(C=0.1)
    for s in range(0, len(y), 100):
        model.partial_fit(X[s : s + 100], y[s : s + 100])
    assert model.coef_.shape == whole.coef_.shape
    assert model.score(X, y) >= whole.score(X, y) - 0.05
    with pytest.raises(ValueError, match=r"y\[1\] is 'd', .* the first batch fixes"):
        model.partial_fit(X[:2], ["a", "d"])


@pytest.mark.parametrize("penalty", ["linear", "squared"])
def test_stream_of_classes_ends_where_a_fit_does(penalty):
    X, Y = words(8, 100)
    X, y = np.vstack(X), np.concatenate(Y)
    settings = {"C": 0.5, "penalty": penalty, "tol": 1e-5}
    whole = MulticlassSVM(**settings).fit(X, y).result_
    model = MulticlassSVM(**settings)
    for s in range(0, len(y), 40):
        model.partial_fit(X[s : s + 40], y[s : s + 40], classes=[0, 1, 2])
    assert model.result_.certificate == "exact" and model.result_.converged
    assert model.result_.primal == pytest.approx(whole.primal, rel=2e-5)
    assert np.sum((model.result_.w - whole.w) ** 2) <= 8e-5 * whole.primal


@pytest.mark.parametrize("penalty", ["linear", "squared"])
def test_stream_without_room_bounds_the_objective(penalty):
    """Examples that no longer fit count with their tangent, which lies below their cost."""
    X, Y = words(8, 100)
    X, y = np.vstack(X), np.concatenate(Y)
    formulation = Formulation("margin", penalty)

    def problem(rows):
        structure = Multiclass(k=3).bind(X, y)
        x = structure.encode(X[rows])
        truth = structure.encode_labels(x, y[rows])
        loss = ZeroOne().bind(3)
        C = np.full(truth.n, 0.5)
        return Problem(structure, loss, formulation, x, truth, C)

    whole, _ = Auto(tol=1e-5).solve(problem(slice(None)))
    solver, state = EnumeratedStream(tol=1e-5, memory=9000.0), None
    for s in range(0, len(y), 40):
        result, state = solver.solve(problem(slice(s, s + 40)), warm=state)
        assert result.converged
    assert result.certificate == "reduced" and 0 < state.folded < len(y)
    assert len(state.alpha) == len(y) - state.folded
    assert 0.9 * whole.dual < result.dual <= whole.primal * (1 + 1e-9)
    # the reduced objective at the weights of the whole is below the whole one
    cost = formulation.cost(state.C, slacks(state.tables, whole.w)).sum()
    tangent = state.height - state.centre @ whole.w
    reduced = 0.5 * whole.w @ whole.w + tangent + cost
    assert result.dual <= reduced + 1e-9 and reduced <= whole.primal * (1 + 1e-9)


def test_a_batch_costs_about_as_much_as_a_fit():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16.0, y[:600]
    whole = MulticlassSVM().fit(X, y).result_
    model, calls = MulticlassSVM(), 0
    for s in range(0, 600, 50):
        model.partial_fit(X[s : s + 50], y[s : s + 50], classes=range(10))
        calls += model.result_.oracle_calls
    assert calls <= 12 * whole.oracle_calls
    assert model.result_.primal == pytest.approx(whole.primal, rel=2e-3)


def test_pickles_leave_out_zero_weights():
    X, Y = words(8, 10)
    model = StructuralSVM(Chain(), tol=0.1).fit(X, Y)
    w = np.zeros(100_000)
    w[[3, 70_000]] = 1.5, -2.0
    model.result_ = replace(model.result_, w=w)
    model.coef_ = model.result_.w
    data = pickle.dumps(model)
    again = pickle.loads(data)
    assert len(data) < 50_000
    np.testing.assert_array_equal(again.coef_, w)
    assert again.coef_ is again.result_.w
    model.coef_ = np.ones(3)  # not those of the result: stored on their own
    assert pickle.loads(pickle.dumps(model)).coef_.tolist() == [1.0, 1.0, 1.0]


def test_folds_side_by_side_choose_the_same():
    X, Y = words(40, 60)
    one = PathCV(StructuralSVM(Chain()), Cs=[0.01, 0.1], cv=3).fit(X, Y)
    two = PathCV(StructuralSVM(Chain()), Cs=[0.01, 0.1], cv=3, n_jobs=2).fit(X, Y)
    assert two.scores_ == one.scores_ and two.C_ == one.C_
    np.testing.assert_array_equal(two.estimator_.coef_, one.estimator_.coef_)


def test_first_batch_of_a_stream_is_a_fit():
    problem = chain_problem(8, n=20)
    first, _ = StreamDual(tol=1e-4).solve(problem)
    block, _ = BlockDual(tol=1e-4).solve(problem)
    assert first.certificate == "exact"
    assert abs(first.primal - block.primal) <= 2e-4 * block.primal


def test_auto_says_what_it_chose_and_why():
    chain, classes = chain_problem(9), multiclass_problem(9)
    for problem, kind in ((chain, "BlockDual"), (classes, "Enumerated")):
        result, _ = Auto(tol=1e-3).solve(problem)
        assert result.converged
        assert result.notes["chosen"] == kind
        assert result.notes["counted"]["n"] == problem.n
        assert result.notes["why"]
    summed, _ = Auto(tol=1e-2).solve(chain_problem(9, penalty="summed"))
    assert summed.notes["chosen"] == "SDCD" and summed.notes["outputs_asked"] == 4


@pytest.mark.parametrize(
    ("costs", "penalty", "kind"),
    [
        (Costs(1000, 50, 1e3, 0.0, 10), "summed", "Enumerated"),
        (Costs(10**9, 50, 1e3, 10.0, 10), "linear", "OneSlack"),
        (Costs(10**5, 10**6, 1e4, 500.0, 0), "linear", "BlockDual"),
        (Costs(10**6, 10**6, 1e4, 500.0, 0), "squared", "OneSlack"),
        (Costs(10**4, 10**6, 1e4, 500.0, 0), "squared", "BlockDual"),
    ],
)
def test_auto_decides_by_counts(costs, penalty, kind):
    assert decide(costs, penalty, 4e9)[0].__name__ == kind


class Scores:
    """Scores of the folds as given, one list for each C, whatever the model is."""

    def __init__(self, by_C):
        self.by_C, self.asked = by_C, {}

    def __call__(self, model, X, y):
        C = model.result_.notes["C"]
        k = self.asked[C] = self.asked.get(C, -1) + 1
        return self.by_C[C][k % len(self.by_C[C])]


TRIED = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]
NOISE = [[0.9, 1.0, 0.8], [1.0, 0.8, 0.85], [0.95, 0.9, 0.8]]  # means .900 .883 .883
FALL = [[0.9, 1.0, 0.8], [0.7, 0.8, 0.6], [0.7, 0.8, 0.6]]


@pytest.mark.parametrize(
    ("scores", "tried", "chosen"),
    [
        ([*NOISE, [1.0] * 3, *FALL[1:]], 6, 0.04),  # noise does not end the path
        ([*FALL, *FALL], 3, 0.01),  # two falls beyond the noise do
        ([NOISE[0], NOISE[1], FALL[1], *FALL], 3, 0.01),
        ([*NOISE, NOISE[1], [1.0] * 3, FALL[0]], 4, 0.01),  # nor does it go on forever
    ],
)
def test_a_fall_within_its_standard_error_counts_half(scores, tried, chosen):
    X, Y = words(41, 30)
    given = Scores(dict(zip(TRIED, scores, strict=True)))
    model = PathCV(StructuralSVM(Chain()), TRIED, cv=3, scoring=given).fit(X, Y)
    assert (list(model.scores_), model.C_) == (TRIED[:tried], chosen)


@pytest.mark.parametrize(("fall", "tried"), [(0.1, 4), (0.2, 3)])
def test_one_example_of_a_single_fold_may_be_chance(fall, tried):
    X, Y = words(42, 40)  # 10 are held out
    first = TRIED[0]
    given = Scores({v: [0.9 if v == first else 0.9 - fall] for v in TRIED})
    model = PathCV(StructuralSVM(Chain()), TRIED, scoring=given).fit(X, Y)
    assert (list(model.scores_), model.C_) == (TRIED[:tried], first)


def test_noise_at_small_C_does_not_end_the_path():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = PathCV(MulticlassSVM(), cv=3).fit(X, y)
    assert model.C_ == 0.1 and len(model.scores_) < 9
    chosen, first = (np.mean(model.scores_[C]) for C in (0.1, 0.001))
    assert chosen > first


def test_methods_of_the_chosen_estimator():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = PathCV(MulticlassSVM(calibration=3), [0.01, 0.1])
    assert not hasattr(model, "predict_proba")  # as of an estimator that is not fitted
    model.fit(X, y)
    best = model.estimator_
    np.testing.assert_array_equal(model.predict_proba(X), best.predict_proba(X))
    assert model.predict_set(X[:5], 0.8) == best.predict_set(X[:5], 0.8)
    assert str(model.explain(X[0])) == str(best.explain(X[0]))
    piped = PathCV(make_pipeline(StandardScaler(), MulticlassSVM(calibration=3)), [0.1])
    piped.fit(X, y)
    proba = piped.estimator_.predict_proba(X)
    np.testing.assert_array_equal(piped.predict_proba(X), proba)
    with pytest.raises(AttributeError, match="explain"):
        piped.explain(X[0])
    plain = PathCV(MulticlassSVM(), [0.1]).fit(X, y)
    with pytest.raises(AttributeError, match="predict_proba") as told:
        plain.predict_proba(X)
    assert "calibration=3 before fit" in str(told.value.__cause__.__cause__)
    tagger = PathCV(ChainSVM(), [0.1]).fit(*words(43, 20))
    sentence = words(44, 1)[0]
    assert tagger.predict_nbest(sentence, 2) == tagger.estimator_.predict_nbest(
        sentence, 2
    )
    assert not hasattr(tagger, "predict_proba") and not hasattr(plain, "predict_nbest")


def test_a_stream_of_classes_lacks_earlier_rows_after_a_pickle(tmp_path):
    X, Y = words(8, 60)
    X, y = np.vstack(X), np.concatenate(Y)
    model = MulticlassSVM(C=0.1).partial_fit(X[:80], y[:80])
    save(model, tmp_path / "m.mm")
    copies = [pickle.loads(pickle.dumps(model)), load(tmp_path / "m.mm")]
    assert model.partial_fit(X[80:], y[80:]).result_.certificate == "exact"
    for copy in copies:
        assert copy.partial_fit(X[80:], y[80:]).result_.certificate == "reduced"
