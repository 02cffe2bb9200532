"""Drawn outputs: what differs is marked, and what users give is escaped."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small.models import MODELS

from maxmargin.reports.confusion import natural_key
from maxmargin.reports.drawing import (
    clusters_html,
    graph_svg,
    ranking_html,
    site_html,
    tagging_html,
)
from maxmargin.reports.drawing.graph_svg import grid_shape

TAGS = re.compile(r"<[^>]*>")
letters = st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), max_size=8)


@given(st.lists(letters, min_size=1, max_size=5))
def test_words_are_text_and_never_tags(words):
    labels = ["<b>&" for _ in words]
    for drawn in (
        tagging_html(words, labels, truth=["O"] * len(words)),
        ranking_html(range(len(words)), titles=words),
        clusters_html(words, [0] * len(words)),
    ):
        left = TAGS.sub(" ", drawn)
        assert "<" not in left
        for word in words:
            assert " ".join(word.split()) in " ".join(html.unescape(left).split())


def test_what_differs_is_marked():
    drawn = tagging_html(["a", "b", "c"], ["X", "Y", "O"], truth=["X", "O", "X"])
    assert drawn.count(" wrong") == 2
    assert graph_svg([[0, 1], [1, 2]], "aab", truth=list("abb")).count(" ring") == 1


def test_grids_are_recognised():
    edges = [[0, 1], [1, 2], [3, 4], [4, 5], [0, 3], [1, 4], [2, 5]]
    assert grid_shape(edges, 6) == (2, 3)
    assert grid_shape(edges[:-1], 6) is None
    drawn = graph_svg(edges, list("abcabc"))
    assert drawn.count("<rect") == 6 and "<circle" not in drawn


def test_sites_at_both_ends():
    assert "<mark" in site_html("TATA", 0, 4)
    assert site_html("ccTATA", 2, 4).endswith("</mark></code>")


def test_numbers_in_labels_are_sorted_by_value():
    labels = ["10", "9", "2", "B-2", "B-10", "a"]
    assert sorted(labels, key=natural_key) == ["2", "9", "10", "B-2", "B-10", "a"]


@pytest.mark.parametrize(
    "name",
    ["chain", "grammar", "alignment", "homology", "network", "motif", "ranking",
     "coreference", "multiclass", "structural"],
)  # fmt: skip
def test_every_model_draws_its_outputs(name, tmp_path):
    model, X = MODELS[name]()
    x = X[:1] if hasattr(X, "shape") else X[0]
    drawing = model.draw(x)
    assert drawing.html in drawing._repr_html_()
    drawing.save(tmp_path / "drawn.html")
    assert "<style>" in (tmp_path / "drawn.html").read_text(encoding="utf8")


def test_results_and_explanations_have_pictures_in_notebooks():
    model, X = MODELS["chain"]()
    shown = model.result_._repr_html_()
    assert "<polyline" in shown and model.result_.meaning() in shown
    why = model.explain(X[0])
    shown = why._repr_html_()
    assert shown.count("<tr><th") == len(why)
    assert html.escape(why[0].terms[0].feature) in shown


def test_a_site_in_a_sequence_without_motif_is_marked_as_such():
    model, X = MODELS["motif"]()
    found = model.predict(X)
    notes = ["No motif" in model.draw(x).html for x in X]
    assert notes == [label != model.classes_[1] for label in found]
    assert len(set(notes)) == 2


def test_clusters_with_other_numbers_are_the_same():
    """The truth is drawn beside the answer only where it differs."""
    model, X = MODELS["coreference"]()
    first = model.predict(X[:1])[0]
    renamed = [7 + number for number in first]
    assert model.draw(X[0], first, renamed).html == model.draw(X[0], first).html
    other = list(range(len(first)))
    assert "<h4>truth" in model.draw(X[0], first, other).html
