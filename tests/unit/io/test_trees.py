"""Dependency trees in CoNLL-U, and from phrases by head rules."""

import os

import pytest

from maxmargin import DependencySVM
from maxmargin.io import parse_trees, read_treebank
from maxmargin.io.trees import (
    dependencies_of_tree,
    read_dependencies,
    write_dependencies,
)
from maxmargin.structures.dependency import is_projective

UD = """\
# sent_id = 1
# text = Vámonos ya
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\tV\tMood=Imp\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tP\t_\t1\texpl:pv\t_\t_
3\tya\tya\tADV\tR\t_\t1\tadvmod\t_\tSpaceAfter=No

"""


def convert(text):
    found = dependencies_of_tree(parse_trees(text).trees[0])
    return [word for word, _ in found.tokens], found.arcs


def test_conllu_trees_are_read_and_written_with_all_else_kept(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(UD, encoding="utf-8")
    bank = read_dependencies(path)
    assert bank.X == [[("Vamos", "VERB"), ("nos", "PRON"), ("ya", "ADV")]]
    assert bank.y == [[(0, "root"), (1, "expl:pv"), (1, "advmod")]]
    assert read_dependencies(path, tag="xpos", subtypes=False).y[0][1] == (1, "expl")
    assert read_dependencies(path, tag="xpos").X[0][0] == ("Vamos", "V")
    assert read_dependencies(path, tag="none").X == [["Vamos", "nos", "ya"]]
    write_dependencies(tmp_path / "b.conllu", bank.sentences, bank.y)
    assert (tmp_path / "b.conllu").read_text(encoding="utf-8") == UD
    write_dependencies(tmp_path / "c.conllu", bank.sentences, [[3, 1, 0]])
    lines = (tmp_path / "c.conllu").read_text(encoding="utf-8").splitlines()
    assert lines[3].split("\t")[6:8] == ["3", "dep"]
    assert lines[5].split("\t")[6:8] == ["0", "root"]
    with pytest.raises(ValueError, match="3 words, its tree 2"):
        write_dependencies(tmp_path / "d.conllu", bank.sentences, [[0, 1]])
    with pytest.raises(ValueError, match="tag='pos' is not one of"):
        read_dependencies(path, tag="pos")


def test_missing_and_wrong_heads(tmp_path):
    path = tmp_path / "a.conllu"
    bare = UD.replace("\t0\troot", "\t_\t_").replace("\t1\t", "\t_\t")
    path.write_text(bare, encoding="utf-8")
    assert read_dependencies(path).y is None
    path.write_text(UD.replace("\t1\tadvmod", "\t9\tadvmod"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"sentence 0 \(1\), word 3: its head is '9'"):
        read_dependencies(path)


def test_heads_of_noun_phrases_verbs_and_prepositions():
    words, arcs = convert(
        "( (S (NP-SBJ (DT the) (JJ old) (NN cat)) (VP (VBD sat) (PP-LOC (IN on) "
        "(NP (DT a) (NN mat)))) (. .)) )"
    )
    assert words == ["the", "old", "cat", "sat", "on", "a", "mat", "."]
    assert arcs == [
        (3, "DT"), (3, "JJ"), (4, "SBJ"), (0, "root"), (4, "LOC"), (7, "DT"),
        (5, "NP"), (4, "."),
    ]  # fmt: skip


def test_empty_elements_and_numbers_of_traces_leave_no_mark():
    words, arcs = convert(
        "(S (NP-SBJ-1 (NNP Ann)) (VP (VBD tried) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) "
        "(VP (VB go))))))"
    )
    assert words == ["Ann", "tried", "to", "go"]
    assert arcs == [(2, "SBJ"), (0, "root"), (2, "S"), (3, "VP")]


def test_possessives_and_nested_noun_phrases():
    _, arcs = convert("(NP (NP (NNP Ann) (POS 's)) (JJ old) (NNS cats))")
    assert arcs == [(2, "NNP"), (4, "NP"), (4, "JJ"), (0, "root")]
    _, arcs = convert("(NP (NP (NN cup)) (PP (IN of) (NP (NN tea))))")
    assert arcs == [(0, "root"), (1, "PP"), (2, "NP")]


def test_a_word_without_a_tag_is_refused():
    with pytest.raises(ValueError, match="'the' has no tag"):
        dependencies_of_tree(("NP", "the", "cat"))


@pytest.mark.skipif("MAXMARGIN_DATA" not in os.environ, reason="needs the treebank")
def test_the_penn_sample_becomes_projective_trees():
    path = os.environ["MAXMARGIN_DATA"] + "/ptb_sample/wsj_sample.mrg.txt.gz"
    for tree in read_treebank(path, strip=False).trees[:300]:
        found = dependencies_of_tree(tree)
        heads = [head for head, _ in found.arcs]
        assert heads.count(0) == 1 and is_projective(heads)


@pytest.mark.parametrize(
    ("heads", "circle"),
    [
        ((2, 1, 0), "1 -> 2 -> 1"),
        ((1, 0), "1 -> 1"),
        ((2, 3, 4, 2, 0), "2 -> 3 -> 4 -> 2"),
    ],
)
def test_heads_in_a_circle_are_named_by_sentence_and_word(tmp_path, heads, circle):
    rows = [f"{t}\tw\t_\tX\t_\t_\t{h}\td\t_\t_" for t, h in enumerate(heads, 1)]
    path = tmp_path / "bad.conllu"
    path.write_text("# sent_id = news-7\n" + "\n".join(rows) + "\n\n")
    with pytest.raises(ValueError, match=rf"sentence 0 \(news-7\): .*{circle} "):
        read_dependencies(path)
    with pytest.raises(ValueError, match=f"sentence 0: .*{circle} "):
        DependencySVM().fit([["w"] * len(heads)], [list(heads)])
