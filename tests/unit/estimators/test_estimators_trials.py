"""What trials by new users found: results that were wrong without a word."""

import io
import os
import pickle
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import (
    ConvergenceWarning,
    NotFittedError,
    UnsetMetadataPassedError,
)
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small.models import ALIGNED, PAIRS, sentences

from maxmargin import (
    AlignmentSVM,
    ChainSVM,
    GrammarSVM,
    KernelSVM,
    MotifSVM,
    MulticlassSVM,
    NetworkSVM,
    PathCV,
    SegmentSVM,
    StructuralSVM,
    load,
)
from maxmargin.solvers import Status
from maxmargin.solvers.certificate import MEANINGS

IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("name", MEANINGS)
def test_only_an_exact_certificate_claims_optimality(name):
    claims = "no weights have an objective below the dual" in MEANINGS[name]
    assert claims == (name == "exact")


def test_hidden_parts_have_a_local_certificate(tmp_path):
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    model = MotifSVM(length=4, order=0, C=1.0).fit(X, [1, 1, 1, 0, 0, 0])
    assert model.result_.certificate == "local" and "(local)" in model.result_.summary()
    model.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf8")
    assert "the problem is not convex" in page and "no weights have" not in page
    file = io.BytesIO()
    model.save(file)
    assert load(io.BytesIO(file.getvalue())).result_.certificate == "local"


def test_labels_that_are_all_seen_are_a_convex_problem():
    X, y = sentences()
    assert ChainSVM().fit(X, y).result_.certificate == "exact"
    hidden = [[None, *row[1:]] for row in y]
    assert ChainSVM().fit(X, [*hidden[:1], *y[1:]]).result_.certificate == "local"


def test_a_basis_certifies_the_basis_only():
    few = KernelSVM(kernel_method="nystroem", n_basis=5).fit(*IRIS)
    assert few.result_.certificate == "basis"
    assert KernelSVM().fit(*IRIS).result_.certificate == "exact"


@pytest.mark.parametrize("through", ["fit", "pickle", "file"])
def test_partial_fit_goes_on_from_the_model(through):
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    model = MulticlassSVM().fit(X[:900], y[:900])
    if through == "pickle":
        model = pickle.loads(pickle.dumps(model))
    elif through == "file":
        file = io.BytesIO()
        model.save(file)
        model = load(io.BytesIO(file.getvalue()))
    before = model.score(X[900:], y[900:])
    model.partial_fit(X[900:910], y[900:910])
    assert model.score(X[900:], y[900:]) >= before - 0.01
    assert model.result_.certificate == "reduced"


def test_first_batches():
    X, y = IRIS
    model = MulticlassSVM().partial_fit(X[:20], y[:20], classes=[0, 1, 2])
    model.partial_fit(X, y)
    assert model.score(X, y) > 0.9
    with pytest.raises(
        ValueError, match=r"y\[50\] is 1, which is not among the 2 classes"
    ):
        MulticlassSVM().partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="are not those of the model"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="'balanced' needs all data at once"):
        MulticlassSVM(class_weight="balanced").partial_fit(X, y)
    weighted = MulticlassSVM(class_weight={1: 5.0}).partial_fit(X, y).result_
    assert weighted.primal > MulticlassSVM().partial_fit(X, y).result_.primal
    chain = ChainSVM().partial_fit([[["a"]]], [["A"]], classes=["A", "B"])
    assert chain.partial_fit([[["a"], ["b"]]], [["A", "B"]]).classes_ == ["A", "B"]
    with pytest.raises(ValueError, match="'C' is not among the 2 classes given"):
        ChainSVM().partial_fit([[["a"]]], [["C"]], classes=["A", "B"])


def test_kernels_have_no_partial_fit():
    assert hasattr(MulticlassSVM(), "partial_fit")
    for model in (KernelSVM(), MulticlassSVM(kernel="rbf"), ChainSVM(kernel="rbf")):
        assert not hasattr(model, "partial_fit")


def test_path_cv_goes_by_position():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16.0, y[:300]
    order = np.random.default_rng(0).permutation(300)
    plain = PathCV(MulticlassSVM(), Cs=[0.01, 0.1]).fit(X, y)
    series = PathCV(MulticlassSVM(), Cs=[0.01, 0.1]).fit(X, pd.Series(y, index=order))
    assert series.scores_ == plain.scores_
    assert series.score(X, y) == plain.score(X, y) > 0.9


def test_path_cv_is_a_citizen_of_scikit_learn():
    X, y = IRIS
    pipe = make_pipeline(StandardScaler(), MulticlassSVM())
    model = PathCV(pipe, Cs=[0.1, 1.0], cv=3, scoring="f1_macro")
    model.fit(X, y, sample_weight=np.ones(len(y)))
    assert is_classifier(model) and model.classes_.tolist() == [0, 1, 2]
    assert model.decision_function(X).shape == (150, 3)
    assert model.estimator_[-1].C == model.C_
    groups = np.arange(150) % 5
    PathCV(MulticlassSVM(), Cs=[0.1], cv=GroupKFold(3)).fit(X, y, groups=groups)
    with pytest.raises(TypeError, match="PathCV tunes estimators of maxmargin"):
        PathCV(StandardScaler()).fit(X, y)
    gram = PathCV(KernelSVM(kernel="precomputed"), Cs=[0.1, 1.0]).fit(X @ X.T, y)
    assert gram.score(X @ X.T, y) > 0.9


def test_path_cv_passes_metadata_on():
    """What is asked for reaches fit and score; what is not asked for is refused."""
    X, y = IRIS
    weight = np.where(np.arange(150) % 3, 1.0, 5.0)
    told = PathCV(MulticlassSVM(), Cs=[0.1], cv=3).fit(X, y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError, match=r"for MulticlassSVM\.fit"):
            PathCV(MulticlassSVM(), Cs=[0.1]).fit(X, y, sample_weight=weight)
        inner = MulticlassSVM().set_fit_request(sample_weight=True)
        model = PathCV(inner.set_score_request(sample_weight=True), Cs=[0.1], cv=3)
        routed = clone(model).fit(X, y, sample_weight=weight)
        weighted = {"sample_weight": weight}
        scores = cross_val_score(model, X, y, params=weighted, error_score="raise")
    assert routed.estimator_.result_.primal == told.estimator_.result_.primal
    assert routed.scores_ != PathCV(inner, Cs=[0.1], cv=3).fit(X, y).scores_
    assert np.isfinite(scores).all()


def test_a_label_unseen_in_training_is_an_error_of_the_prediction():
    X, y = IRIS
    model = MulticlassSVM().fit(X[:100], y[:100])
    assert model.score(X, y) == pytest.approx(2 / 3)
    with pytest.warns(UserWarning, match="none of them is the same"):
        assert model.score(X[:3], [7, 8, 9]) == 0.0
    with pytest.raises(ValueError, match="text is never equal to a number"):
        model.score(X[:3], ["a", "b", "c"])
    names = np.array(["a", "b", "c"])[y]
    names[0] = "rare"
    search = GridSearchCV(MulticlassSVM(), {"C": [0.1, 1.0]}, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, names)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    X, y = sentences()
    assert 0.0 < ChainSVM().fit(X, y).score(X, [["?", *row[1:]] for row in y]) < 1.0


def test_ctrl_c_ends_a_search():
    def interrupt(row):
        raise KeyboardInterrupt

    model = MulticlassSVM(callbacks=interrupt)
    for search in (GridSearchCV(model, {"C": [0.1]}, cv=2), PathCV(model), model):
        with pytest.raises(KeyboardInterrupt):
            search.fit(*IRIS)
    assert model.result_.status is Status.INTERRUPTED


@pytest.mark.parametrize("gaps", ["affine", "linear", "structural"])
def test_a_symmetric_alignment_is_symmetric(gaps):
    model = AlignmentSVM(C=10.0, symmetric=True, gaps=gaps).fit(PAIRS, ALIGNED)
    swapped = [(t, s) for s, t in PAIRS]
    assert np.allclose(model.alignment_scores(PAIRS), model.alignment_scores(swapped))


def test_real_valued_tracks_are_used():
    def record(text, numbers):
        return {"residue": text, "h": numbers(text)}

    def floats(text):
        return [0.1 * ord(c) for c in text]

    def lists(text):
        return [[0.1 * ord(c)] for c in text]

    plain = AlignmentSVM(C=10.0).fit(PAIRS, ALIGNED)
    found = []
    for numbers in (floats, lists):
        X = [tuple(record(s, numbers) for s in pair) for pair in PAIRS]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found.append(AlignmentSVM(C=10.0, max_iter=3).fit(X, ALIGNED))
    assert np.array_equal(found[0].coef_, found[1].coef_)
    assert len(found[0].coef_) > len(plain.coef_)
    with pytest.warns(UserWarning, match="real-valued tracks 'h' are not used"):
        AlignmentSVM(C=10.0, features="tensor").fit(X, ALIGNED)


def test_parameters_of_prediction_can_be_set_on_a_fitted_model():
    model = AlignmentSVM(C=10.0).fit(PAIRS, ALIGNED)
    free = model.alignment_scores(PAIRS)
    narrow = model.set_params(band=4).alignment_scores(PAIRS)
    assert model.structure_.band == 4 and (narrow <= free + 1e-12).all()
    s, t = "A" * 8 + "CGTTCGTTCGTT", "CGTTCGTTCGTT" + "A" * 8  # shifted by eight
    model = AlignmentSVM(C=10.0).fit([(s, t)], [(s + "-" * 8, "-" * 8 + t)])
    free = model.alignment_scores([(s, t)])
    assert (model.set_params(band=1).alignment_scores([(s, t)]) < free - 0.05).all()


def warnings_of(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return " | ".join(str(w.message) for w in caught)


def test_hints_on_scale():
    X, y = load_wine(return_X_y=True)
    said = warnings_of(MulticlassSVM(max_iter=20), X, y)
    assert "features differ in size by a factor of" in said and "StandardScaler" in said
    said = warnings_of(MulticlassSVM(C=1e-9), X / 1000.0, y)
    assert "weights stay close to zero" in said and "try C = " in said
    said = warnings_of(MulticlassSVM(), X / 1e6, y)  # beside a constant feature of one
    assert "weights stay close to zero" in said and "StandardScaler" in said
    model = MulticlassSVM(max_iter=20)
    assert "features are large for this C" in warnings_of(model, X * 1e8, y)
    assert model.result_.primal <= 0.2 * len(y)  # never worse than zero weights
    assert warnings_of(MulticlassSVM(), *IRIS) == ""


def test_large_features_start_at_a_smaller_C():
    """The same optimum as from zero; all inference is counted, limits hold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = AlignmentSVM(normalize=False, C=300.0, tol=1e-4).fit(PAIRS, ALIGNED)
        plain = AlignmentSVM(normalize=False, C=300.0, tol=1e-4, solver="block-dual")
        plain.fit(PAIRS, ALIGNED)
        seconds = AlignmentSVM(normalize=False, C=300.0, tol=1e-9, max_time=0.0)
        seconds.fit(PAIRS, ALIGNED)
    result = model.result_
    Cs = result.notes["smaller_C"]
    assert Cs == sorted(Cs) and Cs[-1] == pytest.approx(30.0) and result.converged
    assert result.primal == pytest.approx(plain.result_.primal, rel=1e-3)
    assert "smaller_C" not in plain.result_.notes
    assert seconds.result_.status is Status.MAX_TIME
    history = result.history
    assert history["iteration"].tolist() == list(range(1, result.iterations + 1))
    assert (np.diff(history["oracle_calls"]) >= 0).all()
    assert (np.diff(history["seconds"]) >= 0).all()
    assert result.oracle_calls == history["oracle_calls"][-1]
    assert np.isinf(history["primal"][0]) and np.isfinite(history["primal"][-1])
    assert "smaller_C" not in MulticlassSVM().fit(*IRIS).result_.notes


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("penalty", ["linear", "squared"])
@pytest.mark.parametrize("scale", [1e-6, 1e-8, 1e-12])
def test_tiny_features_lose_no_digits(scale, penalty):
    """Dual variables sum to C, whatever the scale: a dual above the primal proves nothing."""
    model = MulticlassSVM(fit_intercept=False, penalty=penalty)
    result = model.fit(scale * IRIS[0], IRIS[1]).result_
    assert result.converged and result.dual <= result.primal * (1.0 + 1e-12)
    zero = 0.2 * len(IRIS[1]) * (0.5 if penalty == "squared" else 1.0)
    assert result.primal == pytest.approx(zero, rel=1e-6)


def test_l1_says_when_nothing_was_learned():
    said = warnings_of(MulticlassSVM(regularizer="l1"), 1e-8 * IRIS[0], IRIS[1])
    assert "all weights are zero" in said and "scale the features up" in said
    assert warnings_of(MulticlassSVM(regularizer="l1"), *IRIS) == ""
    X, y = load_wine(return_X_y=True)
    said = warnings_of(MulticlassSVM(regularizer="l1", max_iter=20), X, y)
    assert "features differ in size by a factor of" in said


@pytest.mark.parametrize("make", [MulticlassSVM, ChainSVM])
def test_batches_are_not_for_l1(make):
    data = IRIS if make is MulticlassSVM else sentences()
    with pytest.raises(
        ValueError, match="partial_fit is not available for regularizer='l1'"
    ):
        make(regularizer="l1").partial_fit(*data)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_runs_at_smaller_C_are_seen_and_limited(tmp_path):
    """Callbacks see every step, max_iter counts all, and a checkpoint changes nothing."""
    data = PAIRS, ALIGNED
    options = {"normalize": False, "C": 1000.0, "tol": 1e-4}
    rows = []
    whole = AlignmentSVM(**options, callbacks=rows.append).fit(*data).result_
    assert [row["iteration"] for row in rows] == list(range(1, whole.iterations + 1))
    assert np.isinf(rows[0]["primal"]) and np.isinf(rows[0]["gap"])
    assert np.isfinite(rows[0]["dual"])
    for most in (1, 2, 3):
        few = AlignmentSVM(**options, max_iter=most).fit(*data).result_
        assert few.iterations == most and np.isfinite(few.primal)
    stopped = AlignmentSVM(**options, callbacks=lambda row: True).fit(*data).result_
    assert stopped.status is Status.STOPPED and stopped.iterations == 1
    assert stopped.dual <= stopped.primal < np.inf
    path = tmp_path / "run.ck"
    kept = AlignmentSVM(**options, checkpoint=path).fit(*data).result_
    assert kept.notes["smaller_C"] == whole.notes["smaller_C"]
    assert kept.iterations == whole.iterations
    assert np.isclose(kept.primal, whole.primal, rtol=1e-9) and not path.exists()
    steps = int(np.isinf(whole.history["gap"]).sum()) + 1
    short = AlignmentSVM(**options, max_iter=steps, checkpoint=path).fit(*data).result_
    assert short.iterations == steps and path.exists()
    went_on = AlignmentSVM(**options, max_iter=10**4, checkpoint=path)
    assert went_on.fit(*data).result_.converged


def test_kernels_that_see_one_column_only():
    X, y = load_wine(return_X_y=True)
    for rows in (X, sp.csr_array(X)):
        with pytest.warns(UserWarning, match=r"column 12 makes up 99\.\d\d% of the sq"):
            model = KernelSVM().fit(rows, y)
    assert model.score(X, y) < 0.9
    scaled = StandardScaler().fit_transform(X)
    assert warnings_of(model, scaled, y) == "" and model.score(scaled, y) > 0.95
    assert warnings_of(KernelSVM(), X[:, 12:], y) == ""  # there is no other column
    assert warnings_of(KernelSVM(kernel="precomputed"), X @ X.T / 1e6, y) == ""


def test_untagged_words_are_no_tags():
    X = [["DT", "NN", "VBD"]]
    y = [("S", ("NP", ("DT", "the"), ("NN", "cat")), ("VP", ("VBD", "sat")))]
    model = GrammarSVM(C=1.0, fallback="flat").fit(X, y)
    with pytest.raises(ValueError, match="The model parses tags: give"):
        model.predict([["the", "cat", "sat"]])
    with pytest.raises(ValueError, match="token 1: 'XX' is not a tag of the training"):
        model.predict([["DT", "XX"]])
    with pytest.warns(UserWarning, match="'XX': tags that no training tree has"):
        found = model.predict([[("the", "DT"), ("cat", "XX"), ("sat", "VBD")]])[0]
    assert found == ("S", ("NP", ("DT", "the"), ("XX", "cat")), ("VP", ("VBD", "sat")))


RUN = """
from maxmargin import ChainSVM
X = [[{"f": {"a", "b", "c"}}, {"d", "e", "f"}]] * 2
print(list(ChainSVM().fit(X, [["A", "B"]] * 2).structure_.names))
"""


def test_sets_do_not_depend_on_the_hash_seed():
    said = set()
    for seed in ("1", "2", "3"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        out = subprocess.run(
            [sys.executable, "-c", RUN],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        said.add(out.stdout)
    assert len(said) == 1


def test_a_feature_called_bias_is_told_apart():
    model = ChainSVM().fit([[["bias"], ["x"]]] * 2, [["A", "B"]] * 2)
    names = list(model.structure_.feature_names())
    assert len(set(names)) == len(names)
    frame = pd.DataFrame({"constant": IRIS[0][:, 0], "b": IRIS[0][:, 1]})
    names = list(MulticlassSVM().fit(frame, IRIS[1])._weight_names())
    assert len(set(names)) == len(names)


def test_accepted_no_longer():
    tokens = [[["a"], ["b"]]]
    with pytest.raises(ValueError, match="labels are one string, 'AB'"):
        ChainSVM().fit(tokens, ["AB"])
    with pytest.raises(ValueError, match="labels are of several types, int and str"):
        ChainSVM().fit(tokens, [["A", 1]])
    with pytest.raises(ValueError, match="labels are of several types"):
        MulticlassSVM().fit([[0.0], [1.0]], ["a", 1])
    with pytest.raises(ValueError, match=r"y\[1\] is None"):
        MulticlassSVM().fit([[0.0], [1.0]], ["a", None])
    with pytest.raises(NotFittedError, match="there is nothing to save"):
        ChainSVM().save(io.BytesIO())
    with pytest.raises(ValueError, match=r"write \[X\], \[y\] for a single"):
        ChainSVM().fit([{"w": "a"}, {"w": "b"}], ["A", "B"])
    with pytest.raises(
        ValueError, match=r"sequence 0 is a str, .*: split text into words"
    ):
        ChainSVM().fit(["a b", "c"], [["A", "B"], ["A"]])
    with pytest.raises(ValueError, match=r"token 1: feature 'w' .* leave out what is"):
        ChainSVM().fit([[{"w": "a"}, {"w": None}]], [["A", "B"]])
    model = ChainSVM().fit([[{"w": "a"}, {"w": "b"}]], [["A", "B"]])
    with pytest.warns(UserWarning, match="none of the features of these tokens"):
        model.predict([["a", "b"]])
    with pytest.raises(ValueError, match="X\\[0\\] is a sequence of rows"):
        MulticlassSVM().fit([np.eye(2), np.eye(2)], [0, 1])
    far = np.array([[0.0], [1e300]])
    with pytest.raises(ValueError, match="row 1, column 0: 1e\\+300 is too large"):
        MulticlassSVM().fit(far, [0, 1])
    with pytest.raises(ValueError, match="not finite, or so large"):
        ChainSVM().fit([far], [["A", "B"]])
    for settings in ({"verbose": "x"}, {"callbacks": "x"}, {"warm_start": "no"}):
        with pytest.raises(ValueError, match=f"{next(iter(settings))}='"):
            MulticlassSVM(**settings).fit(*IRIS)
    with pytest.raises(ValueError, match=r"n_basis=1\.5: a whole number"):
        KernelSVM(kernel_method="cpsp", n_basis=1.5).fit(*IRIS)
    with pytest.raises(ValueError, match="support_structures is about the weights"):
        KernelSVM().fit(*IRIS).support_structures(0, *IRIS)


class Hidden:
    """A label, and which row it was read from; `complete` needs weights."""

    def joint_feature(self, x, y):
        return (2 * y[0] - 1) * np.asarray(x[y[1]])

    def loss(self, y, z):
        return (1 + 0.3 * z[1]) * float((y[0] if isinstance(y, tuple) else y) != z[0])

    def argmax(self, w, x, y=None):
        def worth(z):
            return w @ self.joint_feature(x, z) + (0 if y is None else self.loss(y, z))

        return max(((c, h) for c in (0, 1) for h in range(len(x))), key=worth)

    def complete(self, w, x, y):
        label = y[0] if isinstance(y, tuple) else y
        rows = ((label, h) for h in range(len(x)))
        return max(rows, key=lambda z: w @ self.joint_feature(x, z))


class HiddenByLoss(Hidden):
    """The same, and the best output for each value of the loss."""

    def argmax_by_loss(self, w, x, y):
        best = {}
        for z in ((c, h) for c in (0, 1) for h in range(len(x))):
            score = w @ self.joint_feature(x, z)
            if score > best.get(self.loss(y, z), (-np.inf, None))[0]:
                best[self.loss(y, z)] = score, z
        return [z for _, z in best.values()]


@pytest.mark.parametrize(
    "settings", [{}, {"rescaling": "slack"}, {"penalty": "squared"}]
)
def test_own_structures_with_hidden_parts_end(settings):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(2, 3)) for _ in range(8)]
    y = [int(x[:, 0].max() > 0.8) for x in X]
    model = StructuralSVM(Hidden(), C=1.0, max_time=120.0, **settings)
    said = warnings_of(model, X, y)
    if not settings:
        assert model.result_.converged and said == ""
        return
    assert model.result_.status is Status.NO_PROGRESS
    assert f"with {next(iter(settings))}='" in said and "argmax_by_loss" in said
    exact = StructuralSVM(HiddenByLoss(), C=1.0, max_time=120.0, **settings)
    assert warnings_of(exact, X, y) == "" and exact.result_.converged
    assert exact.result_.primal <= model.result_.primal * (1 + 1e-3)


def test_argmax_by_loss_of_ones_own_must_return_outputs():
    class Empty(HiddenByLoss):
        def argmax_by_loss(self, w, x, y):
            return []

    with pytest.raises(
        ValueError, match="example 0: argmax_by_loss returned no output"
    ):
        StructuralSVM(Empty(), rescaling="slack").fit([np.ones((2, 3))] * 2, [0, 1])


def test_max_time_does_not_count_compiling():
    start = time.perf_counter()
    model = KernelSVM(max_time=60.0).fit(*IRIS)
    assert 0.0 <= model.result_.notes["compiling"] <= time.perf_counter() - start


@pytest.mark.parametrize("penalty", ["linear", "squared"])
@pytest.mark.parametrize("solver", ["auto", "block-dual"])
def test_primal_and_gap_are_those_of_the_formulas(solver, penalty):
    X, y = IRIS
    model = MulticlassSVM(solver=solver, penalty=penalty, tol=0.05).fit(X, y)
    result, scores = model.result_, model.decision_function(X)
    assert result.gap == pytest.approx((result.primal - result.dual) / result.primal)
    slack = (1.0 - (y[:, None] == model.classes_) + scores).max(axis=1)
    slack -= scores[np.arange(len(y)), y]
    cost = slack if penalty == "linear" else 0.5 * slack**2
    objective = 0.5 * result.w @ result.w + model.C * cost.sum()
    assert result.primal == pytest.approx(objective)


def test_jobs_of_a_fitted_model_are_checked():
    model = ChainSVM().fit([[["a"], ["b"]]] * 4, [["x", "y"]] * 4).set_params(n_jobs=0)
    with pytest.raises(ValueError, match="n_jobs=0: a number of threads"):
        model.predict([[["a"]]])


def test_the_seed_is_used():
    X, y = load_digits(return_X_y=True)
    X, y = X[:200] / 16.0, y[:200]
    runs = [
        KernelSVM(kernel_method="nystroem", n_basis=10, random_state=s).fit(X, y)
        for s in (0, 0, 1)
    ]
    w = [model.dual_coef_ for model in runs]
    assert np.array_equal(w[0], w[1]) and not np.array_equal(w[0], w[2])
    blocks = [
        MulticlassSVM(solver="block-dual", random_state=s).fit(X, y) for s in (0, 1)
    ]
    assert not np.array_equal(blocks[0].coef_, blocks[1].coef_)


def test_labels_that_differ_in_case_only():
    """They stay two labels, and a warning names them."""
    X, y = sentences()
    mixed = [["per" if v == "P" and i % 2 else "PER" if v == "P" else v for v in row]
             for i, row in enumerate(y)]  # fmt: skip
    spans = [["O" if v == "O" else f"B-{v}ER" for v in row] for row in mixed]
    points = np.array(["High", "high ", "LOW"])[IRIS[1]]
    graphs = [(np.eye(2), [(0, 1)])] * 2, [["up", "down"], ["Up", "down"]]
    for model, data in [
        (ChainSVM(), (X, mixed)), (SegmentSVM(), (X, spans)),
        (MulticlassSVM(), (IRIS[0], points)), (NetworkSVM(), graphs),
    ]:  # fmt: skip
        with pytest.warns(UserWarning, match="differ in case or blanks only"):
            model.fit(*data)
    assert (
        warnings_of(MulticlassSVM(), IRIS[0], np.array(["a", "A", "b"])[IRIS[1]]) == ""
    )
