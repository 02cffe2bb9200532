"""DependencySVM: what it learns, reads, draws and keeps."""

import os

import numpy as np
import pytest
from small.models import parsed_sentences

from maxmargin import DependencySVM, load, save
from maxmargin.io import read_treebank
from maxmargin.io.sequences import read_conllu
from maxmargin.io.trees import dependencies_of_tree, write_dependencies
from maxmargin.metrics import attachment_scores


def words(text):
    return [tuple(token.split("/")) for token in text.split()]


def grammar_of_toys(n, seed):
    """Sentences "det noun verb (det noun)" and their trees."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        nouns = rng.choice(["cat", "dog", "cow", "fox", "hen"], 2)
        verb = rng.choice(["saw", "bit", "met"])
        X.append(words(f"the/DET {nouns[0]}/NOUN {verb}/VERB a/DET {nouns[1]}/NOUN"))
        y.append([(2, "det"), (3, "nsubj"), (0, "root"), (5, "det"), (3, "obj")])
    return X, y


def test_learns_heads_and_labels():
    X, y = grammar_of_toys(20, 0)
    model = DependencySVM(C=1.0, tol=1e-3).fit(X, y)
    assert model.result_.converged and model.result_.certificate == "exact"
    new, truth = grammar_of_toys(10, 1)
    assert model.score(new, truth) == 1.0
    assert model.predict([words("a/DET newt/NOUN slept/VERB")])[0] == [
        (2, "det"), (3, "nsubj"), (0, "root"),
    ]  # fmt: skip
    assert model.predict([[]])[0] == []


def test_heads_alone_and_the_same_objective_as_one_label():
    X, y = parsed_sentences()
    heads = [[head for head, _ in tree] for tree in y]
    plain = DependencySVM(C=0.5, rare=0, tol=1e-6).fit(X, heads)
    assert [list(tree) for tree in plain.predict(X)] == heads
    assert all(isinstance(head, int) for head in plain.predict(X)[0])


@pytest.mark.parametrize("loss", ["hamming", "heads", "hamming-mean", "zero-one"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_trainers_agree(loss, rescaling):
    X, y = parsed_sentences()
    found = [
        DependencySVM(
            C=0.1, rare=0, loss=loss, rescaling=rescaling, solver=solver, tol=0.01
        )
        .fit(X, y)
        .result_
        for solver in ("block-dual", "one-slack")
    ]
    assert all(result.gap <= 0.011 for result in found)
    assert found[0].primal == pytest.approx(found[1].primal, rel=0.03)


def test_sentences_of_a_file_go_in_and_come_out(tmp_path):
    X, y = parsed_sentences()
    path, out = tmp_path / "a.conllu", tmp_path / "b.conllu"
    write_dependencies(path, X, y)
    sentences = read_conllu(path)
    model = DependencySVM(C=1.0, rare=0).fit(sentences, y)
    assert model.score(sentences, y) == 1.0
    write_dependencies(out, sentences, model.predict(sentences))
    assert out.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


def test_the_best_trees_and_margins_of_arcs():
    X, y = parsed_sentences()
    model = DependencySVM(C=1.0, rare=0).fit(X, y)
    best = model.predict_nbest(X[:1], 2)[0]
    assert best[0][0] == model.predict(X[:1])[0]
    assert best[0][1] > best[1][1]
    margins = model.arc_margins(X[0])
    assert margins.shape == (3,)
    assert margins.min() == pytest.approx(best[0][1] - best[1][1])


def test_hard_sentences_are_drawn_and_unknown_labels_are_left_out(tmp_path):
    X, y = parsed_sentences()
    model = DependencySVM(C=1.0, rare=0).fit(X, y)
    wrong = [[(2, "det"), (3, "never seen"), (0, "root")], *y[1:]]
    cases = model.hardest(X, wrong, 10)
    assert 0 not in [case.example for case in cases]
    assert all(case.picture.startswith("<svg") for case in cases)
    model.report(tmp_path / "page.html", X, wrong)
    assert 'class="wrong"' not in cases[0].picture
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf8")
    assert model.score(X, wrong) < 1.0


def test_errors_name_the_sentence_also_in_later_batches():
    X, y = parsed_sentences()
    model = DependencySVM(C=1.0, rare=0).fit(X, y)
    with pytest.raises(ValueError, match="sentence 3, token 1: 5 is neither"):
        model.predict([*X[:3], [("a", "DET"), 5]])


@pytest.mark.skipif("MAXMARGIN_DATA" not in os.environ, reason="needs the treebank")
def test_a_converted_treebank_is_learned():
    path = os.path.join(os.environ["MAXMARGIN_DATA"], "trees_gum", "gum_trees.txt.gz")
    trees = read_treebank(path, strip=False).trees
    data = [dependencies_of_tree(tree) for tree in trees]
    short = [d for d in data if 3 <= len(d.tokens) <= 8][:160]
    X, y = [d.tokens for d in short], [d.arcs for d in short]
    model = DependencySVM(C=0.05, tol=0.1).fit(X[:120], y[:120])
    scores = attachment_scores(y[120:], list(model.predict(X[120:])))
    assert scores.uas > 0.6 and scores.las > 0.5


def test_words_are_tagged_by_a_tagger_inside(tmp_path):
    X, y = grammar_of_toys(60, seed=0)
    test, truth = grammar_of_toys(20, seed=1)
    bare = [[word for word, _ in sentence] for sentence in test]
    model = DependencySVM(tagger="chain", rare=0).fit(X, y)
    assert model.tagged(bare) == test
    assert model.score(bare, truth) == model.score(test, truth) == 1.0
    assert model.predict_nbest(bare[:1], k=1)[0][0][0] == truth[0]
    save(model, tmp_path / "m.mm")
    assert load(tmp_path / "m.mm").score(bare, truth) == 1.0
    with pytest.raises(ValueError, match="sentence 0 has words without tags: a tagger"):
        DependencySVM(tagger="chain").fit(bare, truth)
    with pytest.raises(ValueError, match="tagger='other'"):
        DependencySVM(tagger="other").fit(X, y)


def test_words_without_tags_are_refused_where_training_had_tags():
    X, y = grammar_of_toys(20, seed=0)
    bare = [[word for word, _ in sentence] for sentence in X]
    model = DependencySVM(rare=0).fit(X, y)
    for ask in (model.predict, model.predict_nbest, lambda x: model.arc_margins(x[0])):
        with pytest.raises(ValueError, match="sentence 0 has words without tags, and"):
            ask(bare)
    assert DependencySVM(rare=0).fit(bare, y).score(bare, y) == 1.0
