"""Structured losses on tensors: values by enumeration, gradients by differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_cases import CASES

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from maxmargin.core import Formulation  # noqa: E402
from maxmargin.decode import Chain, Classes, Ranking  # noqa: E402
from maxmargin.torch import (  # noqa: E402
    LOSSES,
    LogLikelihood,
    Perceptron,
    PerturbedLoss,
    SoftmaxMargin,
    SparseMAP,
    StructuredHinge,
    structured_loss,
)

seeds = st.integers(0, 2**32 - 1)
EXACT = [n for n in CASES if n != "ranking"]
DOUBLE = [n for n in EXACT if "float32" not in n]
every_case = pytest.mark.parametrize("name", EXACT)


def made(name, seed, grad=False):
    rng = np.random.default_rng(seed)
    case = CASES[name](rng)
    targets = case.targets(rng)
    tensors = {k: torch.tensor(v, requires_grad=grad) for k, v in case.scores.items()}
    return case, targets, tensors


def tolerance(case):
    main = case.scores[case.structure.tables[0]]
    return 1e-4 if main.dtype == np.float32 else 1e-8


def margins(case, targets, b):
    own = case.score(b, targets[b])
    return [(y, case.score(b, y) - own) for y in case.outputs[b]]


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("penalty", ["linear", "squared"])
@every_case
@settings(max_examples=3)
@given(seed=seeds)
def test_hinge_by_enumeration(name, rescaling, penalty, seed):
    case, targets, tensors = made(name, seed)
    for loss, delta in case.losses.items():
        layer = StructuredHinge(
            case.structure, loss, rescaling, penalty, learn=False, reduction="none"
        )
        value = layer(tensors, case.given(targets), case.mask)
        for b in range(len(targets)):
            rows = margins(case, targets, b)
            d = np.array([delta(targets[b], y, b) for y, _ in rows])
            xi = Formulation(rescaling, penalty).criterion.value(
                d, -np.array([m for _, m in rows])
            )
            worst = max(xi.max(), 0.0)
            expected = 0.5 * worst**2 if penalty == "squared" else worst
            assert value[b].item() == pytest.approx(expected, abs=10 * tolerance(case))


@every_case
@settings(max_examples=4)
@given(seed=seeds)
def test_perceptron_and_likelihood_by_enumeration(name, seed):
    case, targets, tensors = made(name, seed)
    options = {"learn": False, "reduction": "none"}
    first = Perceptron(case.structure, **options)
    value = first(tensors, case.given(targets), case.mask)
    every = [[m for _, m in margins(case, targets, b)] for b in range(len(targets))]
    expected = [max(rows) for rows in every]
    np.testing.assert_allclose(value, expected, atol=tolerance(case))
    if case.sums:
        second = LogLikelihood(case.structure, **options)
        value = second(tensors, case.given(targets), case.mask)
        expected = [np.logaddexp.reduce(rows) for rows in every]
        np.testing.assert_allclose(value, expected, atol=tolerance(case))


@every_case
@settings(max_examples=3)
@given(seed=seeds, temperature=st.sampled_from([0.3, 1.0, 2.0]))
def test_softmax_margin_by_enumeration(name, seed, temperature):
    case, targets, tensors = made(name, seed)
    if not case.sums:
        return
    for loss, delta in case.losses.items():
        layer = SoftmaxMargin(
            case.structure, loss, temperature, learn=False, reduction="none"
        )
        whole = isinstance(loss, str) and loss == "zero-one"
        if whole and not isinstance(case.structure, Classes):
            with pytest.raises(NotImplementedError, match="not a sum over parts"):
                layer(tensors, case.given(targets), case.mask)
            continue
        value = layer(tensors, case.given(targets), case.mask)
        for b in range(len(targets)):
            rows = margins(case, targets, b)
            total = np.array([delta(targets[b], y, b) + m for y, m in rows])
            expected = temperature * np.logaddexp.reduce(total / temperature)
            assert value[b].item() == pytest.approx(expected, abs=10 * tolerance(case))


def test_softmax_margin_lies_between_its_relatives():
    """Without a loss it is the likelihood; at temperature 0 it is the hinge."""
    case, targets, tensors = made("chain", 5)
    options = {"learn": False, "reduction": "none"}
    given = tensors, case.given(targets), case.mask
    hinge = StructuredHinge(case.structure, **options)(*given)
    cold = SoftmaxMargin(case.structure, temperature=1e-4, **options)(*given)
    np.testing.assert_allclose(cold, hinge, atol=1e-2)
    labels = tensors["emissions"].shape[2]
    free = SoftmaxMargin(case.structure, np.zeros((labels, labels)), **options)(*given)
    exact = LogLikelihood(case.structure, **options)(*given)
    np.testing.assert_allclose(free, exact, atol=1e-6)
    with pytest.raises(ValueError, match="temperature"):
        SoftmaxMargin(case.structure, temperature=0.0, **options)


def simplex_qp(gram, s):
    """max s p - 1/2 p G p over the simplex, by an interior point method."""
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    n = len(s)
    A = sparse.csc_matrix(np.vstack([np.ones((1, n)), -np.eye(n)]))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n)]
    options = clarabel.DefaultSettings()
    options.verbose = False
    P = sparse.csc_matrix(np.triu(gram))
    b = np.r_[1.0, np.zeros(n)]
    found = clarabel.DefaultSolver(P, -s, A, b, cones, options).solve()
    return -found.obj_val


@pytest.mark.parametrize("name", DOUBLE)
@settings(max_examples=3)
@given(seed=seeds)
def test_sparsemap_by_enumeration(name, seed):
    case, targets, tensors = made(name, seed)
    layer = SparseMAP(case.structure, learn=False, reduction="none")
    value = layer(tensors, case.given(targets), case.mask)
    main = case.structure.tables[0]
    assert (layer.gap <= 1e-8).all()
    for b, every in enumerate(case.outputs):
        if len(every) > 100:
            continue
        others = list(targets)
        rows = []
        for y in every:
            others[b] = y
            table = case.structure.indicators(
                case.scores, case.given(others), case.mask
            )[main]
            rows.append(table[b].ravel())
        V = np.array(rows)
        s = np.array([case.score(b, y) for y in every])
        own = every.index(targets[b])
        top = simplex_qp(V @ V.T, s)
        expected = top - (s[own] - 0.5 * V[own] @ V[own])
        assert value[b].item() == pytest.approx(expected, abs=1e-5)


def options_of(kind):
    return {"perturbed": {"samples": 3, "seed": 5}}.get(kind, {})


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("name", DOUBLE)
def test_gradients_are_those_of_differences(name, kind):
    case, targets, tensors = made(name, 11, grad=True)
    if kind in ("log-likelihood", "softmax-margin") and not case.sums:
        pytest.skip("no sum over all outputs")
    layer = structured_loss(kind, case.structure, learn=False, **options_of(kind))
    names = list(tensors)

    def value(*tables):
        if kind == "perturbed":
            layer.reset()
        scores = dict(zip(names, tables, strict=True))
        return layer(scores, case.given(targets), case.mask)

    assert torch.autograd.gradcheck(value, tuple(tensors.values()), atol=1e-5)


@pytest.mark.parametrize(
    "name", ["chain", "segments", "trees", "alignment", "matching"]
)
@pytest.mark.parametrize(
    "rescaling, penalty", [("slack", "linear"), ("margin", "squared")]
)
def test_gradients_of_rescaled_hinges(name, rescaling, penalty):
    case, targets, tensors = made(name, 3, grad=True)
    layer = StructuredHinge(
        case.structure, rescaling=rescaling, penalty=penalty, learn=False
    )
    names = list(tensors)

    def value(*tables):
        scores = dict(zip(names, tables, strict=True))
        return layer(scores, case.given(targets), case.mask)

    assert torch.autograd.gradcheck(value, tuple(tensors.values()), atol=1e-5)


@pytest.mark.parametrize("loss", Ranking.losses)
def test_gradients_of_rankings(loss):
    rng = np.random.default_rng(2)
    scores = torch.tensor(rng.normal(size=(3, 5)), requires_grad=True)
    grades = torch.tensor(rng.integers(0, 3, (3, 5)))
    layer = StructuredHinge(Ranking(), loss)
    assert torch.autograd.gradcheck(
        lambda s: layer(s, grades, torch.tensor([5, 3, 4])), (scores,), atol=1e-5
    )


def test_gumbel_noise_on_classes_estimates_the_likelihood():
    scores, target = torch.tensor([[0.3, -1.0, 0.8]]), torch.tensor([1])
    layer = PerturbedLoss(Classes(), samples=4000, reduction="none")
    exact = LogLikelihood(Classes(), reduction="none")(scores, target)
    value = layer(scores, target)
    assert abs(value - exact).item() < 4 * layer.standard_error[0]
    assert 0 < layer.standard_error[0] < 0.05


def test_the_likelihood_of_pytorch_crf():
    """Their parameters mean the same here: docs/coming_from.md."""
    torchcrf = pytest.importorskip("torchcrf")
    torch.manual_seed(0)
    crf = torchcrf.CRF(4, batch_first=True)
    layer = LogLikelihood(Chain(), n_labels=4)
    layer.load_state_dict(
        {
            "transitions": crf.transitions,
            "start": crf.start_transitions,
            "end": crf.end_transitions,
        }
    )
    x, y = torch.randn(5, 7, 4), torch.randint(0, 4, (5, 7))
    mask = torch.arange(7) < torch.tensor([7, 1, 3, 5, 2])[:, None]
    theirs = -crf(x, y, mask, reduction="mean")
    theirs.backward()
    ours = layer(x, y, mask)
    ours.backward()
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(layer.transitions.grad, crf.transitions.grad)
    rows = [row[row >= 0].tolist() for row in layer.decode(x, mask)]
    assert rows == crf.decode(x, mask)
