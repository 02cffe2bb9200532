"""What people type becomes what `predict` takes, or a message that says what to do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.serve import inputs
from maxmargin.serve.inputs import BadInputError

READERS = [
    inputs.sentence_reader({}), inputs.sentence_reader({"columns": 3}),
    inputs.token_reader(), inputs.tree_reader(), inputs.pair_reader(),
    inputs.homology_reader(), inputs.row_reader(4), inputs.query_reader(4),
    inputs.graph_reader(), inputs.dna_reader(), inputs.document_reader(),
]  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["nodes", "edges", "1", "9", "residue", "native"])
            | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("reader", READERS, ids=lambda r: f"{r.kind} {r.unit}")
@given(item=values)
def test_anything_is_read_or_refused_with_a_reason(reader, item):
    try:
        x = reader.read(item)
    except BadInputError as wrong:
        assert str(wrong)
        return
    assert reader.size(x) >= 0


@given(st.text(max_size=60))
def test_splitting_loses_no_letter(text):
    words = inputs.split_words(text)
    assert "".join(words) == "".join(text.split())
    assert all(words)


def test_rows_and_pairs_are_the_same():
    reader = inputs.row_reader(3)
    forms = ["1:0.5 3:2", "0.5, 0, 2", [0.5, 0, 2], {"1": 0.5, "3": 2}]
    for form in forms:
        assert reader.read(form).toarray().tolist() == [[0.5, 0.0, 2.0]]


@pytest.mark.parametrize(
    "item, text",
    [
        ("1 2", "2 numbers, but the model has 3 features"),
        ("4:1", "feature '4' is not one of 1 .. 3"),
        ("1:x", "'x' is not a number"),
        ([1, 2, float("nan")], "finite"),
        ("a b c", "'a' is not a number"),
    ],
)
def test_wrong_rows_are_named(item, text):
    with pytest.raises(BadInputError, match=text):
        inputs.row_reader(3).read(item)


def test_documents_have_numbers():
    reader = inputs.query_reader(2)
    read = reader.read("1:0.5 # first\n2:1 # second")
    assert np.array_equal(read, [[0.5, 0.0], [0.0, 1.0]])
    with pytest.raises(BadInputError, match="document 2: feature '7'"):
        reader.read("1:1\n7:1")


def test_fasta_and_lines():
    reader = inputs.pair_reader()
    assert reader.read(">a\nHE\nAG\n>b\nPA") == ("HEAG", "PA")
    assert reader.read("HEAG\nPA") == ("HEAG", "PA")
    with pytest.raises(BadInputError, match="two sequences"):
        reader.read("HEAG")
