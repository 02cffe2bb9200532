"""Mistakes of somebody's first day that used to go by without a word, or with a riddle."""

import warnings
from io import StringIO

import numpy as np
import pytest
from small.problems import Sign

from maxmargin import (
    AlignmentSVM,
    ChainSVM,
    CoreferenceSVM,
    DependencySVM,
    HomologySVM,
    MotifSVM,
    MulticlassSVM,
    MultilabelSVM,
    NetworkSVM,
    RankingSVM,
    SegmentSVM,
    StructuralSVM,
    check_structure,
)
from maxmargin.core import convert_scheme
from maxmargin.io import sequences_from_frame
from maxmargin.structures.clusters import Document

WORDS = [["Ana", "sings"], ["Bob", "ran"], ["Eva", "sings"]]
NAMES = [["B-PER", "O"]] * 3
PAIR = np.array([[0, 1]])
GRAPHS = [(np.array([[1.0], [-1.0]]), PAIR)] * 3
SIDES = [["up", "down"]] * 3
POINTS = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.1]]
KINDS = ["cat", "dog", "cat", "dog"]
BASES = ["ccTATAgc", "gTATAccg", "gcgcgccg", "ccggcgcc"]
TAGGED = [[("dogs", "NOUN"), ("bark", "VERB")], [("cats", "NOUN"), ("sleep", "VERB")]]
ARCS = [[(2, "nsubj"), (0, "root")]] * 2
SEARCH = [("ABBA", ["CCAC", "ABA"]), ("BAB", ["BA", "CAC"])]


@pytest.fixture(scope="module")
def tagger():
    return ChainSVM(features="ner").fit(WORDS, NAMES)


@pytest.fixture(scope="module")
def network():
    return NetworkSVM().fit(GRAPHS, SIDES)


class TestScores:
    """Labels that cannot be right, whatever the model predicts."""

    def test_text_is_never_equal_to_numbers(self, tagger, network):
        classes = MulticlassSVM().fit(POINTS, KINDS)
        sets = MultilabelSVM().fit(POINTS, [[kind] for kind in KINDS])
        spans = SegmentSVM(features="ner").fit(WORDS, [[(0, 1, "PER")]] * 3)
        for model, X, y in (
            (classes, POINTS, [0, 1, 0, 1]),
            (sets, POINTS, [[5], [6], [5], [6]]),
            (tagger, WORDS, [[1, 0]] * 3),
            (network, GRAPHS, [[1, 0]] * 3),
            (spans, WORDS, [[(0, 1, 7)]] * 3),
        ):
            with pytest.raises(ValueError, match="text is never equal to a number"):
                model.score(X, y)

    def test_none_of_the_labels_is_known(self, tagger, network):
        parser = DependencySVM(rare=0).fit(TAGGED, ARCS)
        for model, X, y in (
            (MulticlassSVM().fit(POINTS, KINDS), POINTS, ["Cat", "Dog", "Cat", "Dog"]),
            (tagger, WORDS, [["b-per", "o"]] * 3),
            (network, GRAPHS, [["UP", "DOWN"]] * 3),
            (parser, TAGGED, [[(2, "NSUBJ"), (0, "ROOT")]] * 2),
        ):
            with pytest.warns(UserWarning, match="none of them is the same"):
                assert model.score(X, y) == 0.0

    def test_some_that_are_known_are_enough(self, tagger):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert tagger.score(WORDS[:1], [["B-PER", "NEW"]]) == 0.5

    def test_no_known_label_is_no_full_mark(self, tagger, network):
        with pytest.raises(ValueError, match="nothing to score"):
            tagger.score(WORDS, [[None, None]] * 3)
        with pytest.raises(ValueError, match="nothing to score"):
            network.score(GRAPHS, [[None, None]] * 3)

    def test_motifs_have_two_labels(self):
        model = MotifSVM(length=4, order=0).fit(BASES, ["+", "+", "-", "-"])
        with pytest.raises(ValueError, match=r"y\[0\] is 'yes', but the labels"):
            model.hardest(BASES, ["yes", "yes", "no", "no"])
        with pytest.warns(UserWarning, match="none of them is the same"):
            assert model.score(BASES, ["yes", "yes", "no", "no"]) == 0.0
        assert model.score(BASES, ["+", "+", "-", "?"]) == 0.75
        assert model.score(BASES, ["+", "+", "-", "-"]) == 1.0
        assert model.score(BASES, list("++--"), sample_weight=[1, 1, 0, 0]) == 1.0

    @pytest.mark.parametrize("wrong", [np.nan, -1, "2", 0.5])
    def test_grades(self, wrong):
        X = [np.array([[1.0], [0.0], [-1.0]])] * 2
        model = RankingSVM(k=1).fit(X, [[1, 0, 0]] * 2)
        with pytest.raises(ValueError, match="grade"):
            model.score(X, [[1, 0, 0], [wrong, 0, 0]])

    def test_candidates_are_numbers(self):
        model = HomologySVM().fit(SEARCH, [1, 0])
        assert model.score(SEARCH, [1, 0]) == 1.0
        for wrong in (["1", "0"], [True, False], [1.0, 0.0]):
            for ask in (model.score, model.fit):
                with pytest.raises(ValueError, match="the output must be a candidate"):
                    ask(SEARCH, wrong)
        with pytest.raises(ValueError, match="candidate 9 is not one of 2"):
            model.score(SEARCH, [9, 0])

    def test_nothing_wrong_is_zero_and_not_minus_zero(self):
        X, y = [[1.0, 0.2], [-2.0, 0.1]], [1, -1]
        assert str(StructuralSVM(Sign()).fit(X, y).score(X, y)) == "0.0"


class TestLabels:
    def test_quantities_are_no_classes(self):
        signal = [np.array([[0.5], [1.5], [2.5]])]
        for model in (ChainSVM(), SegmentSVM()):
            y = [[(0, 1, 0.5)]] if isinstance(model, SegmentSVM) else [[0.5, 1.5, 2.5]]
            with pytest.raises(ValueError, match="numbers with fractions"):
                model.fit(signal, y)
        with pytest.raises(ValueError, match="numbers with fractions"):
            NetworkSVM().fit(GRAPHS[:1], [np.array([0.25, 0.75])])
        with pytest.raises(ValueError, match="numbers with fractions"):
            MultilabelSVM().fit(POINTS, [[0.5], [1.5], [0.5], [1.5]])
        assert ChainSVM().fit(signal, [[0.0, 1.0, 1.0]]).classes_ == [0.0, 1.0]

    @pytest.mark.parametrize(
        "row", [np.array([["a"], ["b"]]), np.eye(2, dtype=int), [["a"], ["b"]]]
    )
    def test_one_label_for_each_token(self, row):
        with pytest.raises(ValueError, match="one label for each token"):
            ChainSVM().fit([np.eye(2)], [row])

    def test_forced_labels_are_a_list(self, tagger):
        with pytest.raises(ValueError, match="an entry for each sequence"):
            tagger.predict(WORDS[:1], forced={0: "O"})
        with pytest.raises(ValueError, match="forced is the string 'OO'"):
            tagger.predict(WORDS[:1], forced=["OO"])
        assert tagger.predict(WORDS[:1], forced=[{0: "O"}])[0][0] == "O"


class TestTags:
    def test_some_words_have_tags(self):
        bare = [word for word, _ in TAGGED[0]]
        with pytest.raises(ValueError, match="sentence 0 has words without tags"):
            DependencySVM().fit([bare, TAGGED[1]], ARCS)
        with pytest.raises(ValueError, match="all words a tag, or none"):
            DependencySVM().fit([["dogs", ("bark", "VERB")], TAGGED[1]], ARCS)

    def test_tags_that_training_has_not_shown(self):
        model = DependencySVM(rare=0).fit(TAGGED, ARCS)
        swapped = [[(tag, word) for word, tag in TAGGED[0]]]
        with pytest.warns(UserWarning, match="none of the tags occurred in training"):
            model.predict(swapped)


class TestMessages:
    def test_documents_as_plain_tuples(self, tmp_path):
        sentences, mentions = [["Ann", "met", "Bob"]], [(0, 0, 0), (0, 2, 2)]
        with pytest.raises(ValueError, match=r"give Document\(sentences, mentions\)"):
            CoreferenceSVM().fit([(sentences, mentions)], [[0, 1]])
        with pytest.raises(ValueError, match="mention 0: 'Ann' is not"):
            CoreferenceSVM().fit([Document(sentences, ["Ann", "Bob"])], [[0, 1]])
        text = [["Ann", "met", "Bob"], ["Ann", "ran"]]
        X = [Document(text, [*mentions, (1, 0, 0)])]
        model = CoreferenceSVM().fit(X, [[0, 1, 0]])
        model.report(tmp_path / "page.html", X, [[0, 1, 1]])
        assert "Ann" in (tmp_path / "page.html").read_text()

    def test_matched_pairs_alone_are_no_alignment(self):
        with pytest.raises(ValueError, match=r"skips positions; .* complete_al"):
            AlignmentSVM().fit([("ACD", "AD")], [[(0, 0), (2, 1)]])

    def test_a_matrix_of_links_is_no_list_of_edges(self):
        with pytest.raises(ValueError, match="graph_from_adjacency"):
            NetworkSVM().fit([(np.eye(3), np.eye(3))], [["a", "b", "a"]])
        with pytest.raises(ValueError, match="edges must be an integer array"):
            NetworkSVM().fit([(np.eye(2), [[0, 1], [1]])], [["a", "b"]])

    def test_reports_begin_with_the_file(self, tagger):
        with pytest.raises(
            TypeError, match=r"report\('page.html', X, y\), and not a list"
        ):
            tagger.report(WORDS, NAMES)

    def test_sets_of_labels_have_probabilities_only(self):
        sets = [[kind] for kind in KINDS]
        model = MultilabelSVM().fit(POINTS, sets).calibrate(POINTS, sets)
        with pytest.raises(ValueError, match="predict_proba gives the probability"):
            model.predict_set(POINTS)

    def test_own_structures_are_told_where_to_look(self):
        class Own(Sign):
            def argmax(self, w, x, y=None):
                raise ZeroDivisionError("oh")

        X, y = [[1.0, 0.2], [-2.0, 0.1]], [1, -1]
        with pytest.raises(ZeroDivisionError) as caught:
            StructuralSVM(Own()).fit(X, y)
        assert "in argmax of Own" in caught.value.__notes__[0]
        for X, y in (([], []), ([[1.0, 0.2]], [1, -1])):
            with pytest.raises(ValueError, match="a few examples with their true out"):
                check_structure(Sign(), X, y)


class TestSpans:
    def test_slips_are_told(self):
        y = [["B-PER", "O"], ["O", "I-PER"], ["B-PER", "I-PER"]]
        with pytest.warns(UserWarning, match="some spans of y are not as BIO"):
            ChainSVM(features="ner").fit(WORDS, y)
        with pytest.raises(ValueError, match="sequence 1, token 1"):
            ChainSVM(features="ner", scheme="bio").fit(WORDS, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ChainSVM(features="ner").fit(WORDS, convert_scheme(y, "bio", "iob1")[0])
            ChainSVM(features="ner", scheme=None).fit(WORDS, y)


class TestTables:
    def test_words_that_pandas_reads_as_missing(self):
        pd = pytest.importorskip("pandas")
        frame = pd.read_csv(StringIO("s,w,tag\n1,NA,B\n1,ran,O\n"))
        with pytest.raises(ValueError, match=r"row 0: .*keep_default_na=False"):
            sequences_from_frame(frame, by="s", label="tag")
        frame["w"], frame["tag"] = [1.0, 2.0], [0.0, np.nan]
        with pytest.raises(ValueError, match=r"row 1: .* is missing$"):
            sequences_from_frame(frame, by="s", label="tag")

    def test_texts_are_no_numbers(self):
        pd = pytest.importorskip("pandas")
        texts = ["how far is it", "who was first", "how tall is he", "who wrote it"]
        for X in (texts, pd.Series(texts), pd.DataFrame({"text": texts})):
            with pytest.raises(ValueError, match="TfidfVectorizer"):
                MulticlassSVM().fit(X, KINDS)
        with pytest.raises(ValueError, match="DictVectorizer"):
            MulticlassSVM().fit([{"a": 1.0}] * 4, KINDS)

    def test_pairs_with_a_hole(self):
        pd = pytest.importorskip("pandas")
        pairs = pd.DataFrame({"a": ["ACD", "AC"], "b": ["AD", np.nan]})
        rows = pd.DataFrame({"a": ["ACD", "AC"], "b": ["A-D", "A-"]})
        with pytest.raises(ValueError, match=r"X\[1\]: nan stands where a sequence"):
            AlignmentSVM().fit(pairs, rows)
