"""Coreference files: CoNLL-2012 and CorefUD, read and written."""

import pytest

from maxmargin.io import FormatError
from maxmargin.io.coreference import (
    CoreferenceDocument,
    read_conll2012,
    read_corefud,
    write_conll2012,
    write_corefud,
)

CONLL = """\
#begin document (nw/a); part 001
nw/a\t1\t0\tAnn\tNNP\t(3
nw/a\t1\t1\tSmith\tNNP\t3)
nw/a\t1\t2\tsaw\tVBD\t-
nw/a\t1\t3\ther\tPRP$\t(7|(3)
nw/a\t1\t4\tdog\tNN\t7)

nw/a\t1\t0\tIt\tPRP\t(7)
nw/a\t1\t1\tsat\tVBD\t-

#end document
"""
UD = """\
# newdoc id = a
# global.Entity = eid-etype-head-other
# sent_id = 1
1\tAnn\t_\tPROPN\t_\t_\t0\troot\t_\tEntity=(e1-person-1-
2\tSmith\t_\tPROPN\t_\t_\t1\tflat\t_\tEntity=e1)|SpaceAfter=No
3\tsaw\t_\tVERB\t_\t_\t1\tdep\t_\t_
4\ther\t_\tPRON\t_\t_\t5\tdet\t_\tEntity=(e2-animal-2-(e1-person-1-)
5\tdog\t_\tNOUN\t_\t_\t3\tobj\t_\tEntity=e2)
5.1\t_\t_\t_\t_\t_\t_\t_\t_\tEntity=(e2-animal-1-)

1\tIt\t_\tPRON\t_\t_\t0\troot\t_\tEntity=(e2-animal-1-)

"""
SPANS = [(0, 0, 1), (0, 3, 4), (0, 3, 3), (1, 0, 0)]


def test_conll_2012_round_trip(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text(CONLL)
    (document,) = read_conll2012(path)
    assert document.name == "(nw/a); part 001"
    assert document.sentences == [["Ann", "Smith", "saw", "her", "dog"], ["It", "sat"]]
    assert document.spans == SPANS and document.clusters == [3, 7, 3, 7]
    assert document.tags[0][3] == "PRP$"
    write_conll2012(tmp_path / "b.conll", [document])
    assert (tmp_path / "b.conll").read_text() == CONLL
    write_conll2012(tmp_path / "c.conll", [document], [["x", "y", "z", "x"]])
    (again,) = read_conll2012(tmp_path / "c.conll")
    assert again.spans == SPANS and again.clusters == [0, 1, 2, 0]
    bare = CoreferenceDocument([["Ann", "slept"]], [(0, 0, 0)], [5])
    write_conll2012(tmp_path / "d.conll", [bare])
    assert read_conll2012(tmp_path / "d.conll")[0].entities() == [[(0, 0, 0)]]
    with pytest.raises(ValueError, match="4 mentions, but 1 clusters"):
        write_conll2012(tmp_path / "e.conll", [document], [[1]])


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("3)\n", "4)\n", "line 3: a mention of entity 4 closes that was not opened"),
        ("7)\n", "-\n", "line 7: a mention of entity 7 is never closed"),
        ("(3)", "(3", "line 7: a mention of entity 3 is never closed"),
        ("(7|(3)", "seven", "line 5: 'seven' in the last column"),
        ("#end document\n", "", "no #end document"),
        ("#begin document (nw/a); part 001\n", "", "a token before #begin"),
        ("nw/a\t1\t2\tsaw\tVBD\t-", "saw -", "line 4: 2 columns"),
    ],
)
def test_mistakes_in_conll_2012_are_named(old, new, message, tmp_path):
    path = tmp_path / "a.conll"
    path.write_text(CONLL.replace(old, new, 1))
    with pytest.raises(FormatError, match=message):
        read_conll2012(path)


def test_names_and_words_with_blanks(tmp_path):
    """The name stood in a column of its own as several, so words were misread."""
    sentences, spans = [["Ann", "slept"], ["She", "woke"]], [(0, 0, 0), (1, 0, 0)]
    document = CoreferenceDocument(sentences, spans, [5, 5], name="A long title")
    write_conll2012(tmp_path / "a.conll", [document])
    (again,) = read_conll2012(tmp_path / "a.conll")
    assert (again.sentences, again.entities()) == (sentences, [spans])
    assert again.name == "A long title"
    odd = document._replace(sentences=[["Ann Lee", "slept"], ["She", "woke"]])
    with pytest.raises(ValueError, match="sentence 0, token 0: 'Ann Lee' is not one"):
        write_conll2012(tmp_path / "b.conll", [odd])


def test_corefud_round_trip(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(UD)
    (document,) = read_corefud(path)
    assert document.name == "a" and document.spans == SPANS
    assert document.clusters == ["e1", "e2", "e1", "e2"]
    write_corefud(tmp_path / "b.conllu", [document])
    (again,) = read_corefud(tmp_path / "b.conllu")
    assert again[:5] == document[:5]
    text = (tmp_path / "b.conllu").read_text()
    assert "# sent_id = 1" in text and "Entity=e1)|SpaceAfter=No" in text
    write_corefud(tmp_path / "c.conllu", [document], [[0, 1, 2, 0]])
    assert read_corefud(tmp_path / "c.conllu")[0].clusters == ["e1", "e2", "e3", "e1"]


def test_pieces_of_a_mention_are_joined_and_mistakes_are_named(tmp_path):
    path = tmp_path / "a.conllu"
    apart = UD.replace("(e1-person-1-\n", "(e1[1/2]-person-1-)\n")
    apart = apart.replace("Entity=e1)", "_").replace(
        "dep\t_\t_", "dep\t_\tEntity=(e1[2/2])"
    )
    path.write_text(apart)
    assert read_corefud(path)[0].spans[0] == (0, 0, 2)
    path.write_text(UD.replace("Entity=e1)", "Entity=e9)"))
    with pytest.raises(ValueError, match="sentence 0: word 2: a mention of e9 closes"):
        read_corefud(path)
    path.write_text(UD.replace("Entity=e2)", "_"))
    with pytest.raises(ValueError, match="sentence 0: a mention of e2 is never closed"):
        read_corefud(path)
