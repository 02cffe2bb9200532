"""explain and support_structures of every estimator."""

from html.parser import HTMLParser

import numpy as np
import pytest
from small.problems import Sign

import maxmargin
from maxmargin.structures import Matching
from maxmargin.structures.clusters import Document, Mention

SENTENCES = [
    [{"w": "Ana", "cap": True}, {"w": "sleeps"}],
    [{"w": "today"}, {"w": "Bob", "cap": True}, {"w": "ran"}],
    [{"w": "Eva", "cap": True}, {"w": "ran"}, {"w": "today"}],
]
TAGS = [["NAME", "VERB"], ["TIME", "NAME", "VERB"], ["NAME", "VERB", "TIME"]]


def chain():
    return maxmargin.ChainSVM(C=1.0), SENTENCES, TAGS


def chain_slack():
    return maxmargin.ChainSVM(C=1.0, rescaling="slack"), SENTENCES, TAGS


def multiclass():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    return maxmargin.MulticlassSVM(C=0.3), X, np.array(["a", "b", "c"])[X.argmax(1)]


def taxonomy():
    _, X, y = multiclass()
    tree = {"a": "top", "b": "low", "c": "low", "low": "top"}
    return maxmargin.MulticlassSVM(C=0.3, taxonomy=tree, loss="taxonomy"), X, y


def summed():
    model, X, y = chain()
    return model.set_params(penalty="summed", C=0.05, max_iter=30), X, y


def grammar():
    thing = ("NP", ("DT", "a"), ("NN", "dog"))
    near = ("PP", ("IN", "with"), ("NP", ("DT", "a"), ("NN", "hat")))
    tags = ["DT", "NN", "VBD", "DT", "NN", "IN", "DT", "NN"]
    y = [
        ("S", thing, ("VP", ("VBD", "saw"), thing, near)),
        ("S", thing, ("VP", ("VBD", "saw"), ("NP", thing, near))),
        ("S", thing, ("VP", ("VBD", "saw"), ("NP", thing, near))),
    ]
    return maxmargin.GrammarSVM(C=1.0), [tags] * 3, y


def alignment():
    X = [("HEAGAWGHEE", "PAWHEAE"), ("HEAGAW", "EAAW")]
    y = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("HEAGAW", "-EA-AW")]
    return maxmargin.AlignmentSVM(C=10.0), X, y


def homology():
    X = [("ABBA", ["CCAC", "ABA"]), ("BAB", ["BA", "CAC"])]
    return (
        maxmargin.HomologySVM(C=10.0),
        X,
        [(1, ("ABBA", "AB-A")), (0, ("BAB", "BA-"))],
    )


def segment():
    X = [["Ana", "Ruiz", "ríe"], ["hoy", "ríe", "Eva"], ["Eva", "Ruiz", "va"]]
    y = [["B-P", "I-P", "O"], ["O", "O", "B-P"], ["B-P", "I-P", "O"]]
    return maxmargin.SegmentSVM(C=1.0, max_length=2), X, y


def network():
    link = [[0, 1]]
    X = [([[1.0], [0.0]], link), ([[-1.0], [0.0]], link)]
    return maxmargin.NetworkSVM(C=10.0), X, [["hot", "warm"], ["cold", "cool"]]


def motif():
    X = ["ccTATAgc", "gTATAccg", "cgcTATAc", "gcgcgccg", "ccggcgcc", "gcccggcg"]
    model = maxmargin.MotifSVM(length=4, order=0, C=1.0, random_state=0)
    return model, X, ["+", "+", "+", "-", "-", "-"]


def coreference():
    text = [["Ann", "met", "Bob", "."], ["Ann", "saw", "Bob", "."]]
    mentions = [Mention(0, 0, 0), Mention(0, 2, 2), Mention(1, 0, 0), Mention(1, 2, 2)]
    return maxmargin.CoreferenceSVM(C=1.0), [Document(text, mentions)], [[0, 1, 0, 1]]


def ranking():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(12, 3)) for _ in range(8)]
    y = [(x[:, 0] + 0.3 * x[:, 1] > 0.5).astype(int) for x in X]
    y[2][:] = 0  # a query that takes no part
    return maxmargin.RankingSVM(k=3), X, y


def own():
    X, y = [[1.0, 0.2], [-2.0, 0.1], [1.5, -0.3]], [1, -1, 1]
    return maxmargin.StructuralSVM(Sign(), C=1.0), X, y


def matching():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 3, 2)) for _ in range(6)]
    y = [np.argsort(np.argsort(-x[:, 0, 0])).tolist() for x in X]
    return maxmargin.StructuralSVM(Matching(), C=1.0), X, y


class Balanced(HTMLParser):
    """Elements that are still open; void ones never are."""

    VOID = ("meta", "path", "polyline", "br")  # others are closed, or <.. />

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


TASKS = [
    chain, chain_slack, segment, summed, multiclass, taxonomy, grammar, alignment, homology,
    network, motif, coreference, ranking, own, matching,
]  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module", params=TASKS, ids=lambda task: task.__name__)
def fitted(request):
    model, X, y = request.param()
    return model.fit(X, y), X, y


def test_explain_adds_up_and_beats_the_runner_up(fitted):
    model, X, _ = fitted
    why = model.explain(X[0])
    said = model.predict(X[:1])[0]
    if type(model).__name__ not in ("HomologySVM", "RankingSVM"):
        assert np.array_equal(np.asarray(why.output, object), np.asarray(said, object))
    assert sum(part.score for part in why) == pytest.approx(why.score)
    assert sum(row["adds"] for row in why.rows) == pytest.approx(why.score)
    assert why.margin >= -1e-9
    assert len(str(why).splitlines()) > len(why)
    assert set(why.to_frame().columns) == {"part", "feature", "value", "weight", "adds"}
    assert sum(value for _, value in why.features()) == pytest.approx(why.score)
    assert all(len(part.terms) <= 1 for part in model.explain(X[0], n=1))


def test_support_structures_add_up_to_the_weight(fitted):
    model, X, y = fitted
    w = model._weights()
    at = int(np.argmax(np.abs(w)))
    names = model._weight_names()
    feature = at if names is None else names[at]
    table = model.support_structures(feature, X, y, n=10**6)
    assert table.weight == pytest.approx(w[at], rel=0.2, abs=0.05)
    assert sum(row.adds for row in table) == pytest.approx(table.weight)
    assert all(row.alpha > 0 for row in table)
    assert any(row.wrong is not None for row in table)
    assert len(table.to_frame()) == len(table)
    assert str(table).startswith(table.feature)
    assert len(model.support_structures(at, X, y, n=1)) <= 1


def test_report_is_one_whole_page(fitted, tmp_path):
    model, X, y = fitted
    model.report(tmp_path / "page.html", X, y, title="A <title>", command="make it")
    text = (tmp_path / "page.html").read_text(encoding="utf8")
    checker = Balanced()
    checker.feed(text)
    assert checker.open == []
    assert "A &lt;title&gt;" in text
    assert "make it" in text
    assert all(
        h in text for h in ("Certificate", "What it learned", "Hardest examples")
    )
    assert ("Confusion" in text) == hasattr(model, "classes_")
    outside = text.replace("http://www.w3.org/2000/svg", "")
    assert "http" not in outside
    assert "<script" not in outside


def test_hardest_come_first(fitted):
    model, X, y = fitted
    cases = model.hardest(X, y, n=10**6)
    assert sorted(c.example for c in cases) == list(range(min(len(y), 500)))
    short = [c.short_by for c in cases]
    assert short == sorted(short, reverse=True)
    for case in cases[:2]:
        scores = [score for _, score in case.best]
        assert scores == sorted(scores, reverse=True)


def test_hardest_of_series_go_by_position():
    pandas = pytest.importorskip("pandas")
    model = maxmargin.ChainSVM().fit(SENTENCES, TAGS)
    X, y = (pandas.Series(rows, index=[2, 0, 1]) for rows in (SENTENCES, TAGS))
    expected = model.hardest(SENTENCES, TAGS)
    assert [c.truth for c in model.hardest(X, y)] == [c.truth for c in expected]


def test_hardest_refuses_a_class_that_training_has_not_seen():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "c", "c"]
    model = maxmargin.MulticlassSVM().fit(X, y)
    with pytest.raises(ValueError, match=r"y\[1\] is 'b', which is not among the 2"):
        model.hardest(X, ["a", "b", "c", "c"])


def test_a_kernel_is_explained_by_training_nodes():
    _, X, y = network()
    model = maxmargin.NetworkSVM(C=10.0, kernel="quadratic").fit(X, y)
    why = model.explain(X[0])
    x = model.structure_.encode(X[:1])
    found = model.structure_.argmax(x, np.array([0]), model.coef_)
    assert why.score == pytest.approx(found.score[0])
    assert sum(row["adds"] for row in why.rows) == pytest.approx(why.score)
    assert why.margin > 0
    assert any("like training node" in row["feature"] for row in why.rows)
    with pytest.raises(ValueError, match="no weights to ask about"):
        model.support_structures(0, X, y)


def test_a_weight_without_a_name_is_refused():
    model, X, y = own()
    model.fit(X, y)
    with pytest.raises(ValueError, match="not the name of a weight"):
        model.support_structures("size", X, y)
    with pytest.raises(ValueError, match="there are 2 weights"):
        model.support_structures(2, X, y)


def test_a_model_fitted_again_without_its_kernel_has_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] > 0, "right", "left")
    model = maxmargin.MulticlassSVM(kernel="quadratic").fit(X, y)
    with pytest.raises(ValueError, match="a kernel has none"):
        model.top_weights(1)
    model.set_params(kernel=None).fit(X, y)
    assert model.top_weights(1)[0][0].startswith("x0")
    assert model.explain(X[0]).output == y[0]
