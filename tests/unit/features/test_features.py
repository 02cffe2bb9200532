"""Features by templates: equal to plain Python, on real and on made-up templates."""

import pickle
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import plain_templates as plain

from maxmargin.features import Clusters, Column, Gazetteer, Templates, builtin_templates
from maxmargin.io import FormatError
from maxmargin.io.sequences import ner as plain_ner
from maxmargin.io.sequences import pos as plain_pos

# The example of CRF++ for base noun phrases, and Wapiti's for named phrases.
CRFPP = """\
# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]

U10:%x[-2,1]
U15:%x[-2,1]/%x[-1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]
U:%x[-1,0]
U:%x[1,0]

# Bigram
B
B05:%x[-1,1]/%x[0,1]
"""
WAPITI = r"""
*
U:Wrd-1 X=%x[ 0,0]
U:wrd-1LL=%X[-2,0]
*:Pos-1LL=%x[-2,1]   # both
u:Pre-3 X=%m[ 0,0,"^.?.?.?"]
U:Suf-4 X=%M[ 0,0,".?.?.?.?$"]
*:Caps? L=%t[-1,0,"\u"]
*:AllC? X=%t[ 0,0,"^\u*$"]
b:InsP? X=%t[ 0,0,".\p."]
U:Numb? R=%t[ 1,0,"\d"]
U:first=%x[@1,0] last=%x[@-1,1] far=%x[-7,0]
"""
SENTENCES = [
    [("El", "DA"), ("presidente", "NC"), ("de", "SP"), ("EE.UU.", "NP"), (".", "F")],
    [("Año", "NC"), ("2002", "Z")],
    [("Éxito", "NC")],
    [("el", "DA"), ("B-747", "Z"), ("el", "DA"), ("ÑANDÚ", "NC")],
]


def write(tmp_path, text, name="template.txt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def found(fitted, X, kind="U"):
    """Names of the features of each token."""
    rows = fitted.encode(X)
    vectors = rows.unigrams if kind == "U" else rows.bigrams
    names = fitted.names() if kind == "U" else fitted.edge_names()
    tokens = [
        [names[f] for f in vectors.idx[a:b]]
        for a, b in zip(vectors.ptr[:-1], vectors.ptr[1:])
    ]
    return [tokens[a:b] for a, b in zip(rows.ptr[:-1], rows.ptr[1:])]


def same(one, two):
    """Equal up to the order of the features of a token."""
    assert [[sorted(t) for t in s] for s in one] == [
        [sorted(t) for t in s] for s in two
    ]


@pytest.mark.parametrize("text, dialect", [(CRFPP, "crf++"), (WAPITI, "wapiti")])
def test_files_make_the_features_of_plain_python(tmp_path, text, dialect):
    templates = Templates.read(write(tmp_path, text))
    assert templates.symbol == {"crf++": "_B", "wapiti": "_x"}[dialect]
    assert templates.transitions
    lines = [line.partition("#")[0].rstrip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    fitted = templates.fit(SENTENCES)
    for kind in "UB":
        expected = plain.strings(lines, SENTENCES, dialect, kind)
        same(found(fitted, SENTENCES, kind), expected)
        names = fitted.names() if kind == "U" else fitted.edge_names()
        assert set(names) == {f for s in expected for t in s for f in t}
    new = [[("El", "DA"), ("nuevo", "AQ"), ("B-747", "Z")], [], [("¡", "F")]]
    for kind in "UB":
        names = set(fitted.names() if kind == "U" else fitted.edge_names())
        expected = plain.strings(lines, new, dialect, kind)
        expected = [[[f for f in t if f in names] for t in s] for s in expected]
        same(found(fitted, new, kind), expected)


LETTERS = st.sampled_from("aAbBñÑ0-./_xX+é東 ")
WORDS = st.text(LETTERS, max_size=4)
ROWS = st.tuples(WORDS, st.sampled_from(["N", "V", "-1", "2", "x", " 1z"]))
TEXTS = st.lists(st.lists(ROWS, max_size=5), max_size=4)
LITERALS = st.text(st.sampled_from("U0:/ =ab"), max_size=3)
CHARACTERS = st.sampled_from(
    [".", "a", "A", "-", "ñ", *(f"\\{c}" for c in "adlpsuwADLPSUW.*?")]
)
PATTERNS = st.builds(
    lambda head, items, tail: head + "".join(items) + tail,
    st.sampled_from(["", "^"]),
    st.lists(
        st.builds(str.__add__, CHARACTERS, st.sampled_from(["", "*", "?"])), max_size=3
    ),
    st.sampled_from(["", "$"]),
)


@st.composite
def slots(draw, dialect):
    offset, column = draw(st.integers(-6, 6)), draw(st.integers(0, 1))
    if dialect == "crf++":
        return f"%x[{offset},{column}]"
    command = draw(st.sampled_from("xXtTmM"))
    mark = draw(st.sampled_from(["", "", "@", "*"]))
    offset = draw(st.integers(0, 1)) if mark == "*" else offset
    pattern = f',"{draw(PATTERNS)}"' if command in "tTmM" else ""
    return f"%{command}[{mark}{draw(st.sampled_from(['', ' ']))}{offset},{column}{pattern}]"


@st.composite
def lines(draw, dialect):
    kind = draw(st.sampled_from("UB" if dialect == "crf++" else "UuBb*"))
    parts = draw(st.lists(st.tuples(LITERALS, slots(dialect)), max_size=3))
    return kind + "".join(a + b for a, b in parts) + draw(LITERALS).rstrip()


@pytest.mark.parametrize("dialect", ["crf++", "wapiti"])
@given(data=st.data())
def test_any_template_makes_the_features_of_plain_python(
    tmp_path_factory, dialect, data
):
    text = data.draw(st.lists(lines(dialect), min_size=1, max_size=5))
    if not any(line[0] in "Uu*" or "%" in line for line in text):
        text.append("U")
    X, Z = data.draw(TEXTS), data.draw(TEXTS)
    path = write(tmp_path_factory.mktemp("templates"), "\n".join(text))
    templates = Templates.read(path, dialect=dialect)
    fitted = templates.fit(X)
    for kind in "UB":
        expected = plain.strings(text, X, dialect, kind)
        same(found(fitted, X, kind), expected)
        names = fitted.names() if kind == "U" else fitted.edge_names()
        assert set(names) == {f for s in expected for t in s for f in t}
        known = {
            f for s in plain.features(text, X, dialect, kind) for t in s for f in t
        }
        again = [
            [["".join(f) for f in t if f in known] for t in s]
            for s in plain.features(text, Z, dialect, kind)
        ]
        same(found(fitted, Z, kind), again)
    parts, rows = fitted.parts(Z), fitted.encode(Z).unigrams
    assert (parts.tokens.csr() @ parts.rows.csr() != rows.csr()).nnz == 0


def test_templates_of_the_same_text_share_their_features():
    templates = Templates(["U:%x[-1,0]", "U:%x[1,0]", "U1:%x[1,0]"])
    fitted = templates.fit([["a", "b", "a"]])
    assert sorted(fitted.names()) == [
        "u1:_B+1", "u1:a", "u1:b", "u:_B+1", "u:_B-1", "u:a", "u:b"
    ]  # fmt: skip
    rows = fitted.encode([["a", "b", "a"]])
    bag = fitted.names().index("u:a")
    middle = rows.unigrams.idx[rows.unigrams.ptr[1] : rows.unigrams.ptr[2]]
    assert (middle == bag).sum() == 2


@pytest.mark.parametrize("width", [1, 2])
def test_ner_is_what_it_was_in_python(width):
    X = [[row[:width] for row in sentence] for sentence in SENTENCES]
    fitted = builtin_templates("ner", width).fit(X)
    same(found(fitted, X), [plain_ner(sentence) for sentence in X])


def test_pos_is_what_it_was_in_python():
    X = [[row[0] for row in sentence] for sentence in SENTENCES]
    fitted = builtin_templates("pos").fit(X)
    expected = []
    for sentence in SENTENCES:
        rows = plain_pos(sentence)
        # In Python the suffix of a missing neighbour was that of its name, <none>.
        expected.append(
            [[f for f in row if not re.match("suf.1=ne>", f)] for row in rows]
        )
    same(found(fitted, X), expected)


@pytest.mark.data
def test_ner_of_spanish_names_is_that_of_the_peers(data):
    from maxmargin.io.sequences import read_conll

    sentences = read_conll(data / "conll2002_esp" / "esp.testa.txt.gz")
    X = [[row[:2] for row in sentence] for sentence in sentences]
    fitted = builtin_templates("ner", 2).fit(X)
    same(found(fitted, X), [plain_ner(sentence) for sentence in X])
    stored = np.load(data / "conll2002_esp" / "features.npz")
    ours = fitted.encode(X).unigrams
    # The stored rows leave out what does not occur in the training part.
    assert (np.diff(ours.ptr) >= np.diff(stored["testa_indptr"])).all()


def test_columns_written_in_python():
    word, tag = Column("word"), Column("tag")
    templates = Templates(
        [
            word, word.lower()[-1], word.prefix(2)[1], word.shape(), word.is_("title"),
            *tag.window(-1, 0), (tag[-1] & tag[0]).titled("pp="), word.matches("^.$"),
            word.find("[aeiou]+"), tag[-2].outside_only().titled("second"),
        ],
        bigrams=[tag],
        columns=["word", "tag"],
    )  # fmt: skip
    X = [[("La", "D"), ("Villa", "N"), ("a", "P")]]
    fitted = templates.fit(X)
    middle = found(fitted, X)[0][1]
    assert sorted(middle) == sorted(
        [
            "word[0]=Villa", "word.lower[-1]=la", "word.prefix2[1]=a",
            "word.shape[0]=Xx", "word.title[0]=", "tag[-1]=D", "tag[0]=N", "pp=D|N",
            "word.matches(^.$)[0]=false", "word.find([aeiou]+)[0]=i", "second",
        ]
    )  # fmt: skip
    assert found(fitted, X, "B")[0] == [[], ["tag[0]=N"], ["tag[0]=P"]]
    dicts = [[{"tag": t, "word": w, "other": 1.0} for w, t in X[0]]]
    same(found(fitted, dicts), found(fitted, X))
    assert fitted.n_features == len(set(fitted.names()))


def test_gazetteers_find_the_longest_names(tmp_path):
    path = write(
        tmp_path, "Buenos Aires\nnueva york\n\nYork\nCabo de  Hornos\n", "places.txt"
    )
    word = Column()
    fitted = Templates([word.listed(path), word.listed(path)[1]]).fit(
        [
            [
                "De",
                "BUENOS",
                "aires",
                "a",
                "Nueva",
                "York",
                "York",
                "Cabo",
                "de",
                "Hornos",
            ]
        ]
    )
    same(
        found(fitted, [["Cabo", "de", "Buenos", "Aires", "York"]])[:1],
        [[
            [],
            ["0.places[1]=B"],
            ["0.places[0]=B", "0.places[1]=E"],
            ["0.places[0]=E", "0.places[1]=S"],
            ["0.places[0]=S"],
        ]],
    )  # fmt: skip
    strict = Gazetteer.of(["York"], lower=False)
    fitted = Templates([word.listed(strict), word]).fit([["York"], ["york"]])
    assert found(fitted, [["York", "york"]])[0][1] == ["0[0]=york"]


NAMES = st.lists(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1, max_size=6
)


@given(names=NAMES, sentence=st.lists(st.sampled_from("abcd"), max_size=8))
def test_gazetteers_against_a_plain_search(names, sentence):
    gazetteer = Gazetteer.of(" ".join(name) for name in names)
    fitted = Templates([Column().listed(gazetteer).titled("")]).fit(
        [[*name, "d"] for name in names] + [["a", "b", "c", "a", "b", "c"], sentence]
    )
    expected, t = [], 0
    while t < len(sentence):
        sizes = [len(n) for n in names if sentence[t : t + len(n)] == n]
        size = max(sizes, default=0)
        part = {0: [""], 1: ["S"]}.get(size, ["B", *"I" * (size - 2), "E"])
        expected += part
        t += max(size, 1)
    got = [token[0][-1] if token else "" for token in found(fitted, [sentence])[0]]
    assert got == expected


def test_clusters_in_both_orders(tmp_path):
    brown = write(
        tmp_path, "0110\tlunes\t3\n0111\tmartes\t2\n10\tAna\t1\n", "paths.txt"
    )
    plain_file = write(tmp_path, "lunes A\nmartes A\n\n", "days.txt")
    word = Column()
    fitted = Templates([word.cluster(brown, 3), word.lower().cluster(plain_file)]).fit(
        [["Lunes", "martes", "Ana", "lunes"]]
    )
    assert found(fitted, [["Lunes", "martes", "Ana", "x"]])[0] == [
        ["0.lower.days[0]=A"],
        ["0.paths3[0]=011", "0.lower.days[0]=A"],
        ["0.paths3[0]=10"],
        [],
    ]
    assert len(Clusters.read(brown)) == 3


def test_templates_say_how_many_they_are():
    fitted = all_kinds().fit(KINDS)
    assert repr(fitted.templates) == "Templates(13 unigrams, 2 bigrams, 2 columns)"
    assert repr(fitted).startswith(
        f"FittedTemplates(Templates(13 unigrams, 2 bigrams, 2 columns), {fitted.n_features} features, 8"
    )


def test_rare_features_are_left_out():
    X = [["a", "b", "a"], ["c", "a"]]
    fitted = Templates([Column(), Column()[-1] & Column()], min_count=2).fit(X)
    assert fitted.names() == ["0[0]=a"]
    assert fitted.values.all == ["a"]


def test_features_come_in_the_order_of_their_first_tokens():
    fitted = Templates([Column(), Column()[1]]).fit([["c", "a", "a", "b"], ["b", "d"]])
    assert fitted.names() == [
        "0[0]=c", "0[1]=a", "0[0]=a", "0[1]=b", "0[0]=b", "0[1]=d", "0[0]=d",
    ]  # fmt: skip


def test_tables_of_learning_are_those_of_a_loaded_model():
    fitted = all_kinds().fit(KINDS)
    loaded = pickle.loads(pickle.dumps(fitted))
    learned, made = vars(fitted)["_tables"], loaded._tables
    for one, other in zip(learned[:3], made[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(learned[3:], made[3:], strict=True):
        for some, others in zip(one, other, strict=True):
            for a, b in zip(some, others, strict=True):
                np.testing.assert_array_equal(a, b)


def test_many_keys_grow_the_table():
    rng = np.random.default_rng(0)
    X = [[str(v) for v in rng.integers(0, 60, 40)] for _ in range(100)]
    word = Column()
    fitted = Templates([word[-1] & word & word[1], word & word[1]]).fit(X)
    expected = set()
    for s in X:
        expected |= {(a, b) for a, b in pairwise(s)}
        expected |= {(a, b, c) for a, b, c in zip(s[:-2], s[1:-1], s[2:])}
    assert fitted.n_features == len(expected)
    idx = fitted.encode(X).unigrams.idx
    assert len(idx) == 100 * (39 + 38)
    found, first = np.unique(idx, return_index=True)
    assert (found == np.arange(len(expected))).all() and (np.diff(first) > 0).all()


MISTAKES = {
    "X00:%x[0,0]": "a template begins with U, B or *",
    "U00:%y[0,0]": "%x %X %t %T %m %M is expected, not %y",
    "U00:%x[0]": r"offset,column\] with whole numbers is expected",
    "U00:%x[a,0]": r"offset,column\] with whole numbers is expected",
    "U00:%x[0,0": r"\] is expected after '%x\[0,0'",
    "U00:%x[0,-1]": "with whole numbers is expected",
    "U00:%t[0,0]": "regular expression",
    'U00:%t[0,0,"a]': "regular expression",
    'U00:%t[0,0,"*a"]': "where a character is expected",
    r'U00:%m[0,0,"a**"]': "where a character is expected",
    "U00:%x[101,0]": "at most 100 tokens",
    "U00:100%": "is expected, not %,",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_bad_templates_name_file_and_line(tmp_path, line):
    path = write(tmp_path, f"# comment\nU01:%x[0,0]\n{line}\n")
    with pytest.raises(FormatError, match=re.escape(f"{path}, line 3: ")) as caught:
        Templates.read(path)
    assert re.search(MISTAKES[line], str(caught.value))


def test_an_empty_template_file_is_refused(tmp_path):
    with pytest.raises(FormatError, match="no template in the file"):
        Templates.read(write(tmp_path, "# nothing\n\n"))
    with pytest.raises(ValueError, match="dialect='x'"):
        Templates.read(write(tmp_path, "U\n"), dialect="x")


def test_bad_rows_are_named(tmp_path):
    templates = Templates.read(write(tmp_path, "U00:%x[0,0]\nU01:%x[0,2]\n"))
    with pytest.raises(
        ValueError,
        match=r"template\.txt, line 2 reads column 2, but sequence 0, token 0",
    ):
        templates.fit([[("a", "b")]])
    with pytest.raises(ValueError, match="sequence 1, token 1 has 2 columns where 3"):
        templates.fit([[("a", "b", "c")], [("a", "b", "c"), ("a", "b")]])
    with pytest.raises(ValueError, match=r"line 2 reads column 2.*single string, 'a'"):
        templates.fit([["a"]])
    one = Templates([Column()])
    with pytest.raises(ValueError, match="sentence 0 is a str, not a list of tokens"):
        one.fit(["Ana ríe"])
    with pytest.raises(
        ValueError, match="sequence 0, token 1, column 0: 3 is of type int"
    ):
        one.fit([[("a",), (3,)]])
    with pytest.raises(
        ValueError, match="sequence 0, token 1 is of type int, where a string"
    ):
        one.fit([["a", 3]])
    fitted = one.fit([["a"]])
    with pytest.raises(
        ValueError, match="sequence 0, token 0, column 0: None is of type None"
    ):
        fitted.encode([[(None,)]])
    with pytest.raises(ValueError, match="no column 'tag'; columns are: word"):
        Templates([Column("tag")], columns=["word"])
    named = Templates([Column("word")], columns=["word"])
    with pytest.raises(ValueError, match="sequence 0, token 1 has no column 'word'"):
        named.fit([[{"word": "a"}, {"w": "b"}]])
    with pytest.raises(ValueError, match="give Templates the names of their columns"):
        one.fit([[{"word": "a"}]])


def test_columns_that_are_not_read_may_hold_anything():
    templates = Templates(["U:%x[0,0]", "U:%x[0,2]"])
    rows = [[("a", ["x"], "N", 1), ("b", None, "V", 2), ("a", ["y"], "N", 3)]]
    plain = [[(word, tag) for word, _, tag, _ in s] for s in rows]
    expected = Templates(["U:%x[0,0]", "U:%x[0,1]"]).fit(plain).named(plain)
    assert templates.fit(rows).named(rows) == expected
    as_lists = [[list(row) for row in s] for s in rows]
    assert templates.fit(rows).named(as_lists) == expected
    with pytest.raises(ValueError, match=r"token 0, column 0: \['a'\] is of type list"):
        templates.fit([[(["a"], "x", "N")]])


def test_bad_tables_are_named(tmp_path):
    with pytest.raises(
        FormatError, match="line 1: a word and its cluster are expected"
    ):
        Clusters.read(write(tmp_path, "lunes\n"))
    with pytest.raises(FormatError, match="line 2: 'a' is in cluster 'x' already"):
        Clusters.read(write(tmp_path, "a x\na y\n"))
    with pytest.raises(FormatError, match="one name per line"):
        Gazetteer.read(write(tmp_path, "\n\n"))


def test_bad_templates_in_python_are_refused():
    with pytest.raises(ValueError, match="whole number of characters > 0"):
        Column().prefix(0)
    with pytest.raises(ValueError, match="not a regular expression"):
        Column().find("(")
    with pytest.raises(ValueError, match="'loud' is not one of"):
        Column().is_("loud")
    with pytest.raises(ValueError, match="there are no templates"):
        Templates([])
    with pytest.raises(TypeError, match="a template is a Column"):
        Templates([3])
    with pytest.raises(ValueError, match="min_count=0"):
        Templates([Column()], min_count=0)
    with pytest.raises(ValueError, match="without other steps"):
        Column().lower().listed(Gazetteer.of(["a"]))
    with pytest.raises(ValueError, match="no templates 'nerr'; known: ner, pos, chunk"):
        builtin_templates("nerr")


def test_no_sentences_and_empty_ones():
    fitted = builtin_templates("chunk", 2).fit([[("a", "N")], []])
    rows = fitted.encode([])
    assert rows.unigrams.n == 0 and rows.ptr.tolist() == [0]
    rows = fitted.encode([[], [("b", "N")], []])
    assert rows.unigrams.n == 1 and rows.ptr.tolist() == [0, 0, 1, 1]


def all_kinds():
    """Templates with every kind of slot and step."""
    word, tag = Column("word"), Column("tag")
    places = Gazetteer.of(["Cabo de Hornos", "Lima"], "places")
    days = Clusters.from_dict({"lunes": "01", "martes": "00"}, "days")
    items = [
        word, word.lower().suffix(2)[-1], word.prefix(1), word.shape() & tag[1],
        word.is_("upper"), word.matches("^a"), word.find("[aeiou]"), tag[-1] & tag & word,
        word.listed(places), word.lower().cluster(days, 1), word[1].outside_only(),
        'u:%m[@1,0,"^.?"]', "u:%x[*1,0]",
    ]  # fmt: skip
    return Templates(items, bigrams=[tag, word & tag], columns=["word", "tag"])


KINDS = [[("El", "1"), ("Cabo", "-1"), ("de", "2"), ("Hornos", "x"), ("LUNES", "1")]]


def test_fitted_templates_travel_in_model_files():
    import io

    from maxmargin.estimators.saving.model_files import class_of, tag_of
    from maxmargin.io.model_file.model import read_model, write_model

    fitted = all_kinds().fit(KINDS)
    file = io.BytesIO()
    write_model(fitted, file, tag_of, {})
    loaded, _ = read_model(io.BytesIO(file.getvalue()), class_of, {})
    new = [*KINDS, [("Lima", "0"), ("a", "1")]]
    for kind in "UB":
        assert found(loaded, new, kind) == found(fitted, new, kind)
    again = io.BytesIO()
    write_model(loaded, again, tag_of, {})
    assert again.getvalue() == file.getvalue()


def test_fitted_templates_can_be_pickled():
    import pickle

    fitted = all_kinds().fit(KINDS)
    before = len(pickle.dumps(fitted))
    expected = found(fitted, KINDS)
    assert len(pickle.dumps(fitted)) == before
    assert found(pickle.loads(pickle.dumps(fitted)), KINDS) == expected


def damaged():
    fitted = all_kinds().fit(KINDS)
    keys = fitted.unigrams
    yield "belongs to no template", {"unigrams": keys._replace(data=keys.data + 99)}
    wrong = keys.data.copy()
    wrong[1] = 10**6
    yield "has a value that is not known", {"unigrams": keys._replace(data=wrong)}
    yield "not whole", {"unigrams": keys._replace(ptr=keys.ptr[:-1])}
    yield "not whole", {"bigrams": keys._replace(ptr=keys.ptr * 2)}
    yield "types of 1", {"types": fitted.types[:1]}
    yield "not have the slots", {"bigrams": keys, "unigrams": fitted.bigrams}
    twice = keys.take([0, *range(keys.n)])
    yield "the same key", {"unigrams": twice}


@pytest.mark.parametrize("case", range(7))
def test_damaged_vocabularies_are_refused(case):
    from dataclasses import replace

    message, changed = list(damaged())[case]
    with pytest.raises(ValueError, match=message):
        replace(all_kinds().fit(KINDS), **changed).encode(KINDS)


def test_damaged_strings_are_refused():
    from maxmargin.features.encoding.strings import Strings

    good = Strings.of(["ab", "ñ"])
    for text, ptr in [
        (good.text, good.ptr[:-1]),
        (good.text, np.array([0, 3, 2])),
        (good.text[:-1], good.ptr),
        (good.text, np.array([0, 2, 9])),
        (good.text.astype(np.int64), good.ptr),
        (np.frombuffer(b"aa", np.uint8), np.array([0, 1, 2])),
    ]:
        with pytest.raises(ValueError, match="list of strings"):
            Strings(text, ptr)
    assert Strings.of(["", "\n", "\ud800"]).all == ["", "\n", "\ud800"]


def test_languages_without_capitals_have_shapes():
    from maxmargin.features import shape

    assert shape("東京タワー") == "漢ア"
    assert shape("हिन्दी") == "o" and shape("\u05e9\u05dc2") == "o0"
    assert shape("e\u0301tat") == "x"
