"""What new users get wrong, each answered by a message that names it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from small.models import MODELS
from small.problems import Sign

from maxmargin import (
    AlignmentSVM,
    ChainSVM,
    CoreferenceSVM,
    GrammarSVM,
    HomologySVM,
    KernelSVM,
    MotifSVM,
    MulticlassSVM,
    NetworkSVM,
    RankingSVM,
    StructuralSVM,
)
from maxmargin.core import OracleError
from maxmargin.estimators import CorrelationSVM
from maxmargin.estimators.fitting import check_same_length
from maxmargin.kernels import named_kernel
from maxmargin.structures import Matching
from maxmargin.structures.clusters import Document, Mention, pair_features
from maxmargin.structures.network import Graph, graph_from_networkx

CHAINS = [[["a"], ["b"]], [["b"], ["a"]]], [["A", "B"], ["B", "A"]]
LINKED = (np.eye(3), [[0, 1], [1, 2]])
TEXT = [["Ann", "met", "Bob", "."], ["Ann", "saw", "Bob", "."]]
SPANS = [(0, 0, 0), (0, 2, 2), (1, 0, 0), (1, 2, 2)]
DOCUMENT = Document(TEXT, [Mention(*s) for s in SPANS])
SEARCH = [("ABBA", ["CCAC", "ABA"]), ("BAB", ["BA", "CAC"])]
FOUND = [(1, ("ABBA", "AB-A")), (0, ("BAB", "BA-"))]
BASES = ["ccTATAgc", "gTATAccg", "gcgcgccg", "ccggcgcc"]


def queries(n=4):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(6, 2)) for _ in range(n)]
    return X, [(x[:, 0] > np.median(x[:, 0])).astype(int) for x in X]


POINTS = [[1.0, 0.2], [-2.0, 0.1], [0.5, -0.3], [-0.4, 1.0]], [1, -1, -1, 1]


class TestOwnStructures:
    def test_a_class_is_no_object(self):
        with pytest.raises(
            TypeError, match=r"is a class: give an object of it, Sign\("
        ):
            StructuralSVM(Sign).fit(*POINTS)

    def test_a_loss_that_blames_the_truth(self):
        class Own(Sign):
            def loss(self, y, y_hat):
                return 1.0

        with pytest.raises(ValueError, match=r"example 0: .* against itself is 1.0"):
            StructuralSVM(Own()).fit(*POINTS)

    def test_a_loss_that_is_no_number(self):
        class Own(Sign):
            def loss(self, y, y_hat):
                return 0.0 if y == y_hat else np.nan

        with pytest.raises(ValueError, match="the loss of an output is nan"):
            StructuralSVM(Own()).fit(*POINTS)

    def test_inference_that_forgets_the_loss_has_no_certificate(self):
        class Own(Sign):
            def argmax(self, w, x, y=None):
                return super().argmax(w, x)

        with pytest.raises(OracleError, match=r"the dual, .* exceeds the primal"):
            StructuralSVM(Own(), C=1.0).fit(*POINTS)

    def test_weights_cannot_be_written_to(self):
        class Own(Sign):
            def argmax(self, w, x, y=None):
                w *= 2.0
                return super().argmax(w, x, y)

        with pytest.raises(ValueError, match="read-only"):
            StructuralSVM(Own()).fit(*POINTS)

    def test_features_that_are_no_vector(self):
        class Own(Sign):
            def joint_feature(self, x, y):
                return {"x": 1.0}

        with pytest.raises(ValueError, match="joint_feature must return vectors"):
            StructuralSVM(Own()).fit(*POINTS)

    @pytest.mark.parametrize(
        "loss, said",
        [("hamming", "choose from 'auto', 'zero-one'"), (np.eye(2), "none")],
    )
    def test_losses_of_labels_are_not_for_them(self, loss, said):
        with pytest.raises(ValueError, match=said):
            StructuralSVM(Sign(), loss=loss).fit(*POINTS)

    def test_weights_go_by_the_names_they_are_shown_with(self):
        model = StructuralSVM(Sign(), C=1.0).fit(*POINTS)
        name = model.top_weights(1)[0][0]
        assert model.support_structures(name, *POINTS).feature == name


@pytest.mark.parametrize(
    "options, said",
    [
        ({"loss": None}, "loss=None is neither a name"),
        ({"loss": {("A", "B"): 2.0}}, "is neither a name"),
        ({"tol": "small"}, "tol='small'"),
        ({"max_time": "long"}, "max_time='long'"),
        ({"max_time": -1.0}, "max_time=-1.0"),
        ({"max_iter": 1.5}, "max_iter=1.5"),
        ({"C": np.inf}, "penalty='hard'"),
    ],
)
def test_options(options, said):
    with pytest.raises(ValueError, match=said):
        ChainSVM(**options).fit(*CHAINS)


@pytest.mark.parametrize(
    "X, y, error, said",
    [
        ((x for x in "ab"), ["A", "B"], TypeError, r"list\(X\)"),
        ({0: "a"}, ["A"], TypeError, "X is one dict"),
        ("ab", ["A", "B"], TypeError, "X is one str"),
        (["a", None], ["A", "B"], ValueError, r"X\[1\] is None"),
        (["a", "b"], ["A", None], ValueError, r"y\[1\] is None"),
        (5, ["A"], TypeError, "X is one int"),
    ],
)
def test_what_is_no_list_of_examples(X, y, error, said):
    with pytest.raises(error, match=said):
        check_same_length(X, y)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, "small"])
def test_gamma(gamma):
    with pytest.raises(ValueError, match=r"gamma=.*greater than zero"):
        named_kernel("rbf", np.eye(2), gamma=gamma)


def test_degree():
    with pytest.raises(ValueError, match=r"degree=2.5"):
        named_kernel("poly", np.eye(2), degree=2.5)


def test_kernels_say_what_they_cannot_tell():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    model = KernelSVM().fit(X, y)
    with pytest.raises(ValueError, match="explain is about the weights of features"):
        model.explain(X[0])
    assert len(model.hardest(X, y)) == len(X)  # it needs scores only


def test_a_page_needs_a_model(tmp_path):
    with pytest.raises(NotFittedError):
        MulticlassSVM().report(tmp_path / "page.html")


class TestGraphs:
    def test_the_names_of_networkx_are_no_part_of_the_graph(self):
        nx = pytest.importorskip("networkx")
        g = nx.Graph([("a", "b")])
        nx.set_node_attributes(g, {"a": 1.0, "b": 2.0}, "x")
        made = graph_from_networkx(g)
        assert made[0].nodes.tolist() == [[1.0], [2.0]]
        with pytest.raises(ValueError, match="graph, names ="):
            NetworkSVM().fit([made], [["A", "B"]])

    @pytest.mark.parametrize(
        "X, y, said",
        [
            (Graph(*LINKED), ["A", "B", "A"], r"write \[X\]"),
            ([LINKED], [["A", np.nan, "A"]], "graph 0, node 1: the label is nan"),
            ([([{"w": 1}, {"w": 2}], [[0, 1]])], [["A", "B"]], "vectors of numbers"),
            ([LINKED], [None], r"y\[0\] is None"),
        ],
    )
    def test_data(self, X, y, said):
        with pytest.raises(ValueError, match=said):
            NetworkSVM().fit(X, y)

    @pytest.mark.parametrize(
        "method, said",
        [("exact", "same features"), ("nystroem", "need kernel_method='exact'")],
    )
    def test_kernels_on_nodes_of_two_types(self, method, said):
        graph = Graph([[1.0, 0.0], [2.0]], [[0, 1]], node_types=["book", "author"])
        with pytest.raises(ValueError, match=said):
            NetworkSVM(kernel="rbf", kernel_method=method).fit([graph], [["A", "B"]])


class TestRankings:
    @pytest.mark.parametrize(
        "change, options, said",
        [
            (lambda X, y: (X, y), {"k": 0}, "k=0: the number of places"),
            (lambda X, y: (np.vstack(X), np.concatenate(y)), {}, "pass qid="),
            (lambda X, y: ([sp.csr_array(x) * np.nan for x in X], y), {}, "is nan"),
            (lambda X, y: (X, [g.astype(str) for g in y]), {}, "list of grades"),
        ],
    )
    def test_data(self, change, options, said):
        X, y = change(*queries())
        with pytest.raises(ValueError, match=said):
            RankingSVM(**{"k": 2, **options}).fit(X, y)

    def test_no_weight_at_all(self):
        X, y = queries()
        with pytest.raises(ValueError, match="all sample weights are zero"):
            RankingSVM(k=2).fit(X, y, sample_weight=np.zeros(len(X)))

    def test_series_go_by_position(self):
        pd = pytest.importorskip("pandas")
        X, y = queries()
        model = RankingSVM(k=2).fit(X, y)
        again = RankingSVM(k=2).fit(pd.Series(X, index=range(7, 11)), pd.Series(y))
        np.testing.assert_array_equal(again.coef_, model.coef_)

    def test_batches_and_sums_are_not_for_hidden_parts(self):
        X, y = queries()
        with pytest.raises(ValueError, match="partial_fit is not available"):
            RankingSVM(k=2).partial_fit(X, y)
        with pytest.raises(ValueError, match="CCCP cannot train penalty='summed'"):
            RankingSVM(k=2, penalty="summed").fit(X, y)
        with pytest.raises(ValueError, match="penalty='hard', or no rescaling"):
            RankingSVM(k=2, penalty="hard").fit(X, y)
        said = RankingSVM(k=2).fit(X, y).result_.summary()
        assert "last convex problem: dual" in said


class TestMotifs:
    def test_one_string(self):
        model = MotifSVM(length=4, order=0, restarts=1).fit(BASES, [1, 1, 0, 0])
        with pytest.raises(ValueError, match=r"write \[X\]"):
            model.predict("ggTATA")

    def test_numbers_in_an_array_of_objects(self):
        y = np.array([1, 1, 0, 0], dtype=object)
        model = MotifSVM(length=4, order=0, restarts=1).fit(BASES, y)
        assert model.classes_.tolist() == [0, 1]

    def test_class_weight(self):
        with pytest.raises(ValueError, match="neither 'balanced' nor a dict"):
            MotifSVM(length=4, class_weight="equal").fit(BASES, [1, 1, 0, 0])


class TestDocuments:
    def test_mentions_are_triples(self):
        plain, named = pair_features(Document(TEXT, SPANS)), pair_features(DOCUMENT)
        assert (plain.features != named.features).nnz == 0

    @pytest.mark.parametrize(
        "X, y, said",
        [
            (DOCUMENT, [0, None, 0, 1], "document 0, mention 1: its cluster is None"),
            ("Ann met Bob", [0, 1], "document 0 is a str"),
        ],
    )
    def test_data(self, X, y, said):
        with pytest.raises(ValueError, match=said):
            CoreferenceSVM().fit([X], [y])

    def test_a_second_batch(self):
        model = CorrelationSVM(C=1.0)
        for _ in range(2):
            model.partial_fit([DOCUMENT], [[0, 1, 0, 1]])
        assert model.predict([DOCUMENT])[0] == [0, 1, 0, 1]


class TestAlignments:
    def test_no_sequence(self):
        with pytest.raises(ValueError, match=r"pair 0, first sequence: .* None"):
            AlignmentSVM().fit([(None, "A")], [("A", "A")])

    @pytest.mark.parametrize(
        "X, y, said",
        [
            (SEARCH, [(0, ("ABBA", "AB-A")), FOUND[1]], "example 0: the second row"),
            ([("ABBA", "ABA")], [(0, ("ABBA", "AB-A"))], "candidates are one string"),
        ],
    )
    def test_homologs(self, X, y, said):
        with pytest.raises(ValueError, match=said):
            HomologySVM().fit(X, y)

    def test_a_second_batch_of_homologs(self):
        model = HomologySVM(C=10.0, alignments="given", start=None)
        for _ in range(2):
            model.partial_fit(SEARCH, FOUND)
        assert model.predict(SEARCH).tolist() == [1, 0]


class TestTrees:
    TREES = (("S", ("NP", ("N", "I")), ("V", "ran")), ("S", ("V", "ran"), ("N", "I")))

    def test_trees_outside_of_the_grammar_are_left_out(self):
        model = GrammarSVM().fit([["N", "V"]], self.TREES[:1])
        cases = model.hardest([["V", "N"], ["N", "V"]], self.TREES[::-1])
        assert [case.example for case in cases] == [1]

    def test_trees_of_nltk(self):
        nltk = pytest.importorskip("nltk")
        tree = nltk.Tree.fromstring("(S (N I) (V ran))")
        model = GrammarSVM().fit([[("I", "N"), ("ran", "V")]], [tree])
        assert model.predict([[("I", "N"), ("ran", "V")]])[0] == tree


def test_unknown_labels_are_none_not_nan():
    with pytest.raises(ValueError, match="a label is nan; None marks"):
        ChainSVM().fit(CHAINS[0], [["A", np.nan], ["B", "A"]])
    with pytest.raises(ValueError, match="None cannot be trained with a kernel"):
        ChainSVM(kernel="rbf").fit(CHAINS[0], [["A", None], ["B", "A"]])


def test_nothing_to_predict():
    X = [np.random.default_rng(i).normal(size=(2, 2, 1)) for i in range(3)]
    model = StructuralSVM(Matching()).fit(X, [[0, 1], [1, 0], [0, 1]])
    assert model.predict([]).shape == (0,)


@pytest.mark.parametrize("name", MODELS)
def test_scoring_nothing_is_not_called_learning(name):
    model, X = MODELS[name]()[:2]
    table = len(getattr(X, "shape", ())) == 2
    with pytest.raises(ValueError) as told:
        model.score(X[:0] if table else [], [])
    assert "learn" not in str(told.value)
    if not table and name != "motif":  # which answers as scikit-learn does
        assert "X and y are empty: there is nothing to score" in str(told.value)


def test_a_model_is_not_scored_without_truth():
    model = ChainSVM().fit(*CHAINS)
    with pytest.raises(ValueError, match="score requires y to be passed"):
        model.score(CHAINS[0], None)


def test_a_first_batch_of_one_class_is_told_of_classes():
    X, y = np.eye(3), ["a", "a", "a"]
    with pytest.raises(ValueError, match=r"one class only.*classes=\[\.\.\]"):
        MulticlassSVM().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"one class only: a classifier needs"):
        MulticlassSVM().fit(X, y)
    model = MulticlassSVM().partial_fit(X, y, classes=["a", "b"])
    assert model.classes_.tolist() == ["a", "b"]
    words = [[["a"], ["b"]], [["b"], ["a"]]], [["O", "O"], ["O", "O"]]
    with pytest.warns(UserWarning, match=r"all labels are 'O'.*classes=\[\.\.\]"):
        ChainSVM().partial_fit(*words)
