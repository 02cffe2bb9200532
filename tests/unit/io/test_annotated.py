"""Raw text with spans in characters, as annotation tools write it."""

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.io.sequences import (
    AnnotatedText,
    load_annotated,
    read_annotated,
    spans_in_text,
    split_text,
)
from maxmargin.io.text import FormatError

TEXT = "Ana lives in Buenos Aires, not in the (old) U.S."
SPANS = ((0, 3, "PER"), (13, 25, "LOC"))


def written(path, *records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "record",
    [
        {"text": TEXT, "entities": [[0, 3, "PER"], [13, 25, "LOC"]]},
        [TEXT, {"entities": [[13, 25, "LOC"], [0, 3, "PER"]]}],
        {"text": TEXT, "label": [[0, 3, "PER"], [13, 25, "LOC"]]},
        {"text": TEXT, "spans": [{"start": 0, "end": 3, "label": "PER"},
                                 {"start": 13, "end": 26 - 1, "label": "LOC"}]},
        {"text": TEXT, "entities": [
            {"id": 1, "start_offset": 0, "end_offset": 4, "label": "PER"},  # a blank
            {"id": 2, "start_offset": 13, "end_offset": 25, "label": "LOC"}]},
    ],
)  # fmt: skip
def test_files_of_annotation_tools(tmp_path, record):
    (found,) = read_annotated(written(tmp_path / "a.jsonl", record))
    assert found == AnnotatedText(TEXT, SPANS)
    X, y = load_annotated(tmp_path / "a.jsonl")
    assert X[0][:6] == ["Ana", "lives", "in", "Buenos", "Aires", ","]
    assert X[0][-4:] == ["(", "old", ")", "U.S."]
    assert y[0][:6] == ["B-PER", "O", "O", "B-LOC", "I-LOC", "O"]
    assert spans_in_text(found.words(), y[0]) == list(SPANS)


def test_ends_of_spans_divide_words(tmp_path):
    text = AnnotatedText("pre-Lima-born", ((4, 8, "LOC"),))
    assert [w.text for w in text.words()] == ["pre-", "Lima", "-born"]
    assert text.labels() == ["O", "B-LOC", "O"]


@given(st.text(alphabet="ab .,(\"' \n\tU", max_size=30))
def test_words_stand_where_they_say(text):
    words = split_text(text)
    assert all(text[w.start : w.end] == w.text for w in words)
    assert "".join(w.text for w in words) == "".join(text.split())


@given(st.text(alphabet="ab .,(", min_size=1, max_size=20), st.data())
def test_spans_go_there_and_back(text, data):
    places = [i for i, c in enumerate(text) if c.strip()]
    if not places:
        return
    start = data.draw(st.sampled_from(places))
    end = data.draw(st.sampled_from([p for p in places if p >= start])) + 1
    one = AnnotatedText(text, ((start, end, "X"),))
    assert spans_in_text(one.words(), one.labels()) == [(start, end, "X")]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (
            {"text": "Ana", "entities": [[0, 9, "X"]]},
            "0 .. 9 is not in the text, which",
        ),
        ({"text": "Ana", "entities": [[2, 1, "X"]]}, "not in the text"),
        ({"text": "Ana b", "entities": [[0, 3, "X"], [1, 5, "Y"]]}, "overlap"),
        ({"text": "Ana b", "entities": [[3, 4, "X"]]}, "blanks only"),
        ({"text": "Ana", "entities": [[0, 1]]}, "a span is"),
        ({"text": "Ana", "spans": [{"start": 0, "end": 2}]}, "a span is"),
        ({"words": []}, "not a text with spans"),
        (["Ana"], "not a text with spans"),
    ],
)
def test_wrong_records_are_named(tmp_path, record, said):
    path = written(tmp_path / "a.jsonl", {"text": "", "entities": []}, record)
    with pytest.raises(FormatError, match=f"a.jsonl, line 2: .*{said}"):
        read_annotated(path)


def test_what_is_no_json_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_text("{'text': 1}\n")
    with pytest.raises(FormatError, match="line 1"):
        read_annotated(tmp_path / "a.jsonl")


def test_spans_that_divide_words_are_counted(tmp_path):
    records = [
        {"text": TEXT, "entities": [[0, 3, "PER"], [13, 25, "LOC"]]},
        {"text": "Bo saw (Eva).", "entities": [[0, 1, "PER"], [8, 11, "PER"]]},
        {"text": "Bo saw Eva.", "entities": [[7, 11, "PER"]]},  # with the full stop
        {"text": "pre-Lima-born", "entities": [[4, 8, "LOC"]]},
    ]
    path = written(tmp_path / "a.jsonl", *records)
    said = r"line 2: the span 0 \.\. 1 \(PER\) divides 'Bo', and 2 of 6 spans divide"
    with pytest.warns(UserWarning, match=said):
        read_annotated(path)
    written(path, records[0], records[2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_annotated(path)
