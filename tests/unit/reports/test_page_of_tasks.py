"""What a report says first for each task, and how the hardest examples are drawn."""

import re

import numpy as np
import pytest
from small.models import MODELS

import maxmargin
from maxmargin.datasets import load_litbank
from maxmargin.estimators import CoreferenceSVM
from maxmargin.reports.drawing import svg_arcs
from maxmargin.reports.drawing.marked_text import clustered_text, ranking_html


def written(path, model, X, y):
    model.report(path, X, y)
    return path.read_text(encoding="utf8")


@pytest.mark.parametrize(
    ("name", "quoted"),
    [("chain_constrained", ["F1 of spans", "sentences without error"]),
     ("segment", ["F1 of spans"]), ("multiclass", ["F1, mean of classes"]),
     ("multilabel", ["F1, mean of labels", "sets without error"]),
     ("grammar", ["bracket precision", "exact match", "unparsed"]),
     ("dependency", ["UAS: right heads", "trees without error"]),
     ("alignment", ["Q4: up to 4 positions away"]),
     ("coreference", ["MUC F1", "B-cubed F1", "CEAF of entities F1"])],
)  # fmt: skip
def test_reports_begin_with_what_people_quote(tmp_path, name, quoted):
    model, X = MODELS[name]()
    text = written(tmp_path / "page.html", model, X, model.predict(X))
    tiles = text[: text.index("<nav>")]
    for words in quoted:
        assert f"<b>1.0000</b><span>{words}" in tiles or words == "unparsed", words
        assert words in tiles


def test_rankings_name_their_measure_and_its_k(tmp_path):
    model, X = MODELS["ranking"]()
    y = [(x[:, 0] > 0.5).astype(int) for x in X]
    text = written(tmp_path / "page.html", model, X, y)
    for words in ("precision among the first 3", "NDCG@3", "precision@1", "MAP"):
        assert words in text


def test_sets_of_labels_of_other_sizes_than_the_truth(tmp_path):
    """This ended in an error: sets were compared label by label."""
    model, X = MODELS["multilabel"]()
    y = [["cow"], *model.predict(X)[1:]]
    text = written(tmp_path / "page.html", model, X, y)
    assert "Scores by class" in text and "Confusion" not in text
    assert "<b>1.0000</b><span>sets without error" not in text
    assert "too many" in text and "missing" in text
    table = np.array([[1 * (c in row) for c in model.classes_] for row in y])
    again = maxmargin.MultilabelSVM().fit(X, table)
    assert "sets without error" in written(tmp_path / "page.html", again, X, table)


def test_clusters_are_drawn_in_their_text(tmp_path):
    html = clustered_text(
        [["Ana", "'s", "dog", "saw", "Ana"], ["it", "ran"]],
        [(0, 0, 2), (0, 0, 0), (0, 4, 4), (1, 0, 0)], ["dog", "ana", "ana", "dog"],
    )  # fmt: skip
    assert html.startswith(
        '<div class="clusters"><span class="mention hue0"><span class="mention hue1">'
        "Ana</span> &#x27;s dog</span> saw"
    )
    assert html.count("<span") == html.count("</span") == 4
    novels = [novel.document for novel in load_litbank()[:4]]
    truth = [document.clusters for document in novels]
    model = CoreferenceSVM(C=0.2, tol=0.1).fit(novels, truth)
    text = written(tmp_path / "page.html", model, novels, truth)
    assert 'class="clusters"' in text and "Kellynch" in text


def test_ranked_lists_mark_what_is_relevant():
    html = ranking_html([2, 0], [0.1, 0.2, 0.9], grades=[1, 2, 0])
    assert html.count('class="good"') == 1
    assert "document 2" in html and "not here: document 1 (grade 2)" in html


def test_the_style_of_arcs_does_not_reach_the_page():
    svg = svg_arcs(["I", "slept"], [2, 0])
    style = svg[svg.index("<style>") + 7 : svg.index("</style>")]
    assert all(rule.startswith(".arcs ") for rule in style.split("}") if rule)
    assert "#222" not in svg, "dark pages"


def test_mistakes_out_of_reach_are_shown(tmp_path):
    """Only mistakes with a known true tree were; right examples stood in their place."""
    model, X = MODELS["grammar"]()
    found = list(model.predict(X))
    other = ("NEW", *found[1][1:])  # a label that training has not shown
    text = written(tmp_path / "page.html", model, X, [found[0], other, *found[2:]])
    hard = text[text.index('id="hardest-examples"') :]
    hard = hard[: hard.index("</section>")]
    assert "wrong; the truth has parts that training has not shown" in hard
    assert "NEW" in hard and ">right<" not in hard


def test_a_report_without_mistakes_says_so(tmp_path):
    model, X = MODELS["chain"]()
    text = written(tmp_path / "page.html", model, X, model.predict(X))
    assert "All of the first 500 examples are right" not in text
    assert "All examples are right" in text and "The mistakes of which" not in text


def test_no_figure_stands_there_twice(tmp_path):
    for name in ("segment", "ranking", "dependency", "coreference"):
        model, X = MODELS[name]()
        y = model.predict(X)
        if name == "ranking":
            y = [(x[:, 0] > 0.5).astype(int) for x in X]
        text = written(tmp_path / "page.html", model, X, y)
        captions = re.findall(r"</b><span>(.*?)</span>", text[: text.index("<nav>")])
        assert len(captions) >= 5 and len(set(captions)) == len(captions), name


def test_outputs_as_text_have_no_arrays(tmp_path):
    for name in ("homology", "multilabel"):
        model, X = MODELS[name]()
        text = written(tmp_path / "page.html", model, X, model.predict(X))
        assert "array(" not in text and "dtype" not in text and "&#x27;,)" not in text
