"""ChainSVM on words: templates, files, matrices beside tokens, one sentence at a time."""

import io

import numpy as np
import pytest
from small.models import same

import maxmargin as mm
from maxmargin import ChainSVM
from maxmargin.features import Column, Templates, builtin_templates

WORDS = [
    ["Ana", "vive", "en", "Lima", "."],
    ["Eva", "no", "vive", "en", "Cusco", "."],
    ["hoy", "ríe", "Juan", "en", "Puno", "."],
]
LABELS = [
    ["B-PER", "O", "O", "B-LOC", "O"],
    ["B-PER", "O", "O", "O", "B-LOC", "O"],
    ["O", "O", "B-PER", "O", "B-LOC", "O"],
]
ROWS = [[(word, word[:1].upper()) for word in row] for row in WORDS]


def again(model):
    file = io.BytesIO()
    model.save(file)
    return mm.load(io.BytesIO(file.getvalue()))


def lists(templates, X):
    return templates.fit(X).named(X)


def test_templates_are_the_same_as_lists_of_their_features():
    by_templates = ChainSVM(C=1.0, features="ner").fit(WORDS, LABELS)
    by_lists = ChainSVM(C=1.0).fit(lists(builtin_templates("ner"), WORDS), LABELS)
    assert np.isclose(by_templates.result_.primal, by_lists.result_.primal, rtol=2e-3)
    assert same(by_templates.predict(WORDS), by_lists.predict(lists_of(WORDS)))


def lists_of(X):
    return lists(builtin_templates("ner"), X)


@pytest.mark.parametrize("X", [WORDS, ROWS], ids=["words", "rows"])
def test_names_read_as_many_columns_as_tokens_have(X):
    model = ChainSVM(C=1.0, features="ner").fit(X, LABELS)
    names = [name for name, _ in model.top_features("B-PER", 10**6)]
    assert any(name.startswith("p=") for name in names) == (X is ROWS)
    assert model.score(X, LABELS) == 1.0


def test_files_travel_in_the_model(tmp_path):
    path = tmp_path / "template.txt"
    path.write_text("U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nB\nB1:%x[0,0]\n")
    model = ChainSVM(C=1.0, features=path).fit(WORDS, LABELS)
    path.unlink()
    loaded = again(model)
    assert same(loaded.predict(WORDS), model.predict(WORDS))
    assert loaded.features == str(path)
    assert "B1:Lima / O -> B-LOC" in list(loaded.structure_.feature_names())


def test_bigram_templates_have_weights_of_label_pairs():
    """What only a pair of labels tells: the label after 'x' depends on that before."""
    X = [["a", "x"], ["b", "x"], ["a", "x", "x"], ["b", "x", "x"]]
    y = [["P", "Q"], ["Q", "P"], ["P", "Q", "P"], ["Q", "P", "Q"]]
    flip = ChainSVM(C=10.0, features=Templates([Column()], [Column()])).fit(X, y)
    assert flip.score(X, y) == 1.0
    assert flip.structure_.n_edges == 1  # the first token of a sentence has no pair
    told = flip.explain(X[2])
    assert np.isclose(sum(part.score for part in told.parts), told.score)
    assert any("x / P -> Q" in t.feature for part in told.parts for t in part.terms)


def test_hidden_labels_and_order_two():
    y = [[None if t == 1 else v for t, v in enumerate(row)] for row in LABELS]
    bigram = Templates([Column(), Column()[-1]], [Column()])
    model = ChainSVM(C=1.0, features=bigram, order=2).fit(WORDS, y)
    assert model.score(WORDS, y) == 1.0


def test_a_matrix_beside_the_tokens_counts():
    rng = np.random.default_rng(0)
    X = [["w"] * n for n in (3, 4, 5, 2)]
    beside = [rng.normal(size=(len(row), 2)) for row in X]
    y = [np.where(m[:, 0] > 0, "up", "down").tolist() for m in beside]
    for tokens in (X, [[{"w": w} for w in row] for row in X]):
        pairs = list(zip(tokens, beside, strict=True))
        made = {} if isinstance(tokens[0][0], dict) else {"features": "pos"}
        model = ChainSVM(C=100.0, **made).fit(pairs, y)
        assert model.score(pairs, y) == 1.0
        assert ChainSVM(C=100.0, **made).fit(tokens, y).score(tokens, y) < 1.0
        loaded = again(model)
        assert same(loaded.predict(pairs), model.predict(pairs))
        assert model.structure_.inputs()[-2:] == ["x0", "x1"]
        with pytest.raises(ValueError, match="a matrix of 2 columns beside them; here"):
            model.predict(tokens)


def test_vectors_in_dicts_are_features_by_place():
    rng = np.random.default_rng(1)
    X = [
        [{"emb": rng.normal(size=3), "w": "a"} for _ in range(n)] for n in (3, 4, 5, 2)
    ]
    y = [["up" if t["emb"][1] > 0 else "down" for t in row] for row in X]
    model = ChainSVM(C=100.0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert set(model.structure_.inputs()) == {"emb[0]", "emb[1]", "emb[2]", "w:a"}
    flat = [[{"w": "a", **{f"emb[{j}]": v for j, v in enumerate(t["emb"])}} for t in row]
            for row in X]  # fmt: skip
    assert same(model.predict(flat), model.predict(X))
    lists = [[{"w": "a", "emb": t["emb"].tolist()} for t in row] for row in X]
    assert same(model.predict(lists), model.predict(X))
    bad = [[{"emb": np.array([1.0, np.nan, 0.0])}]]
    with pytest.raises(
        ValueError, match="sequence 0, token 0: a feature is not finite"
    ):
        model.predict(bad)
    with pytest.raises(ValueError, match="'emb' has 2 numbers, others have 3"):
        model.predict([[{"emb": np.ones(2)}]])


MISTAKES = {
    "unknown name": ({"features": "nre"}, WORDS, "neither a built-in template"),
    "no templates": ({"features": 7}, WORDS, "is not a Templates"),
    "window": ({"features": "pos", "window": 1}, WORDS, "exclude each other"),
    "strings": ({"features": "pos"}, ["Ana", "Eva", "hoy"], "sentence 0 is a str"),
    "ragged": (
        {"features": "ner"},
        [ROWS[0], ROWS[1], [*ROWS[2][:2], ("Juan",), *ROWS[2][3:]]],
        "sequence 2, token 2 has 1 columns where 2 were before",
    ),
    "missing column": (
        {"features": Templates(["U1:%x[0,3]"])}, ROWS, "reads column 3, but sequence 0",
    ),
    "lengths": ({"features": "pos"}, [WORDS[0][:2], *WORDS[1:]], "sequence 0 has 2 tok"),
    "one pair": (
        {"features": "pos"}, [(WORDS[0], np.ones((5, 1))), *WORDS[1:]], "is a pair",
    ),
    "rows of pairs": (
        {"features": "pos"}, [(row, np.ones((2, 1))) for row in WORDS],
        r"sequence 0: the matrix beside 5 tokens has shape \(2, 1\)",
    ),
    "both": (
        {"features": Templates(["U:%x[0,0]"], ["B:%x[0,0]"]), "edge_features": True},
        WORDS, "exclude each other",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(name):
    made, X, message = MISTAKES[name]
    with pytest.raises((ValueError, TypeError), match=message):
        ChainSVM(**made).fit(X, LABELS)


def test_bad_files_are_named_with_their_line(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("U0:%x[0,0]\nU1:%x[0 0]\n")
    with pytest.raises(ValueError, match=r"bad\.txt.*2.*offset,column"):
        ChainSVM(features=str(path)).fit(WORDS, LABELS)


def test_one_sentence_at_a_time_is_the_same():
    for X, made in ((WORDS, {"features": "ner"}), (lists_of(WORDS), {}),
                    ([[{"w": w, "n": float(len(w))} for w in row] for row in WORDS], {})):  # fmt: skip
        model = ChainSVM(C=1.0, **made).fit(X, LABELS)
        assert [model.tag(x) for x in X] == list(model.predict(X))
    with pytest.raises(Exception, match="not fitted"):
        ChainSVM().tag(WORDS[0])


@pytest.mark.filterwarnings("ignore:hardly anything was learned")  # random labels
@pytest.mark.parametrize("order", [1, 2])
def test_one_sentence_of_any_named_features(order):
    rng = np.random.default_rng(order)
    tokens = [
        [{"w": str(rng.integers(9)), "n": float(rng.integers(3)), "b": bool(t % 2)}
         for t in range(rng.integers(1, 8))]
        for _ in range(60)
    ]  # fmt: skip
    names = [[[f"{k}={v}" for k, v in t.items()] for t in row] for row in tokens]
    y = [[str(rng.choice(["B-X", "B-Y", "O"])) for _ in row] for row in tokens]
    for X in (tokens, names):
        model = ChainSVM(C=1.0, order=order, tol=0.1).fit(X[:30], y[:30])
        strange = [[*X[31], {"new": 1} if X is tokens else ["new"]]]
        for x in (*X[30:], *strange):
            assert model.tag(x) == model.predict([x])[0]
        with pytest.warns(UserWarning, match="none of the features"):
            assert len(model.tag([{"z": "z"}] if X is tokens else [["z"]])) == 1
        assert model.tag([]) == []
        with pytest.raises(ValueError, match="token 1 has no features"):
            model.tag([X[0][0], type(X[0][0])()])
    with pytest.raises(ValueError, match="feature names must be strings"):
        model.tag([[{}]])


def test_sums_of_shared_rows_score_as_features_do():
    model = ChainSVM(C=1.0, features="ner").fit(ROWS, LABELS)
    X = [*ROWS, [("Eva", "E"), ("canta", "C")], []]
    chain, w, ids = model.structure_, model.coef_, np.arange(len(X))
    other, x, summed = chain.in_parts(X, w)
    assert x.vectors.width < chain.layout.width
    one, two = chain.tables(chain.encode(X), ids, w), other.tables(x, ids, summed)
    np.testing.assert_allclose(two.nodes, one.nodes, atol=1e-12)
    np.testing.assert_array_equal(two.pair, one.pair)
    forced = [{0: "O"}, None, None, None, None]
    assert model.predict(X, forced=forced)[0][0] == "O"


def test_names_of_sklearn_crfsuite():
    model = ChainSVM(C=1.0, features="ner").fit(WORDS, LABELS)
    assert model.transition_features_ == {
        k: v for k, v in model.transitions().items() if v
    }
    top = max(model.state_features_, key=model.state_features_.get)
    name, weight = model.top_features(top[1], 1)[0]
    assert model.state_features_[name, top[1]] == weight
    info = model.info()
    assert list(info.labels) == model.classes_
    assert info.attributes[name] == model.structure_.inputs().index(name)


def test_auto_follows_the_scheme_of_the_labels_and_forgives_errors():
    strict = ChainSVM(features="pos").fit(WORDS, LABELS)
    assert strict.structure_.scheme is None  # there is no I-: nothing to forbid
    X, y = [["a", "b", "c"], ["c", "a"]], [["B-P", "I-P", "O"], ["O", "B-P"]]
    found = ChainSVM().fit(X, y).structure_
    assert (found.scheme, found.order) == ("bio", 2)
    assert ChainSVM().fit(X, [["N", "V", "N"], ["N", "V"]]).structure_.order == 1
    assert ChainSVM(scheme=None).fit(X, y).structure_.scheme is None
    wrong = [["B-P", "I-P", "O"], ["O", "I-Q"]]
    with pytest.warns(UserWarning, match="some spans of y are not as BIO"):
        model = ChainSVM().fit(X, wrong)
    labels, legal = model.classes_, model.structure_.legal
    mask = np.isfinite(legal[: len(labels) ** 2]).reshape(len(labels), -1)
    assert mask[labels.index("O"), labels.index("I-Q")]
    assert not mask[labels.index("O"), labels.index("I-P")]
    assert not mask[labels.index("B-P"), labels.index("I-Q")]
    part = ChainSVM().partial_fit(X, y, classes=["B-P", "I-P", "O"])
    part.partial_fit(X, [["O", "I-P", "O"], ["I-P", "O"]])  # later batches may break it


def test_calibration_names_a_sequence_whose_labels_do_not_fit():
    model = ChainSVM(features="ner", tol=0.1).fit(WORDS, LABELS)
    with pytest.raises(ValueError, match="sequence 1 has 6 tokens but 5 labels"):
        model.calibrate(WORDS, [LABELS[0], LABELS[0], LABELS[2]])


def test_one_token_of_a_wrong_kind_is_named():
    model = ChainSVM(features="ner", tol=0.1).fit(WORDS, LABELS)
    with pytest.raises(ValueError, match=r"token 0 is .* int, where a string or a row"):
        model.tag([1, 2])
