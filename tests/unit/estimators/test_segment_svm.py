"""SegmentSVM: what users call."""

import io
from dataclasses import replace

import numpy as np
import pytest
from small import models as small

import maxmargin as mm
from maxmargin.features import Column, Gazetteer, Templates
from maxmargin.losses import SpanLoss

split = str.split
WORDS = [
    split("Ana Ruiz vive en Lima ."),
    split("en Buenos Aires ríe Eva ."),
    split("Eva Ruiz va a Buenos Aires"),
    split("hoy no ríe Ana"),
]
SPANS = [
    [(0, 2, "PER"), (4, 5, "LOC")],
    [(1, 3, "LOC"), (4, 5, "PER")],
    [(0, 2, "PER"), (4, 6, "LOC")],
    [(3, 4, "PER")],
]


@pytest.fixture(scope="module")
def model():
    return mm.SegmentSVM(C=1.0, max_length=3).fit(WORDS, SPANS)


def test_learns_and_finds_spans(model):
    assert model.score(WORDS, SPANS) == 1.0
    assert list(model.predict(WORDS)) == SPANS == model.predict_spans(WORDS)
    assert model.classes_ == ["LOC", "PER"]
    assert model.result_.certificate == "exact"
    assert model.predict([]).tolist() == model.predict_spans([]) == []


@pytest.mark.parametrize("loss", ["spans", "spans-mean", "hamming-mean", "zero-one"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_all_losses_and_rescalings_learn(loss, rescaling):
    model = mm.SegmentSVM(C=10.0, max_length=3, loss=loss, rescaling=rescaling)
    assert model.fit(WORDS, SPANS).score(WORDS, SPANS) == 1.0
    assert model.result_.certificate == "exact"


def test_labels_in_labels_out(model):
    y = [["O"] * len(row) for row in WORDS]
    for row, spans in zip(y, SPANS, strict=True):
        for a, b, label in spans:
            row[a] = f"S-{label}" if b == a + 1 else f"B-{label}"
            if b > a + 1:
                row[b - 1] = f"E-{label}"
    tagged = mm.SegmentSVM(C=1.0, max_length=3).fit(WORDS, y)
    assert list(tagged.predict(WORDS)) == y
    assert tagged.predict_spans(WORDS) == SPANS
    assert tagged.score(WORDS, SPANS) == model.score(WORDS, y) == 1.0  # either form


def test_one_sentence_at_a_time(model):
    assert [model.tag(row) for row in WORDS] == SPANS


def test_evidence_of_training_comes_from_other_tenths():
    X = [["Ana", "ríe"], ["Eva", "va"], ["Ana", "va"]]
    y = [[(0, 1, "PER")]] * 3
    model = mm.SegmentSVM(C=1.0, segment_features=["phrase", "seen"]).fit(X, y)

    def seen(x, i):
        names = model.structure_.piece_names()
        row = x.pieces.row(int(x.ptr[i]) * model.max_length)
        return [names[f] for f in row if names[f].startswith("seen phrase")]

    trained = model._training_data(X, y, None).x
    assert [seen(trained, i) for i in range(3)] == [
        ["seen phrase: PER 1x >=90%"], [], ["seen phrase: PER 1x >=90%"],
    ]  # fmt: skip
    later = model.structure_.encode(X)
    assert seen(later, 0) == ["seen phrase: PER 2-3x >=90%"]
    assert any("seen phrase" in n for n, _ in model.top_segment_features("PER", 3))
    file = io.BytesIO()
    model.save(file)
    again = mm.load(io.BytesIO(file.getvalue()))
    assert again.predict_nbest(X, 2) == model.predict_nbest(X, 2)
    damaged = again.structure_.evidence._replace(
        data=again.structure_.evidence.data + 999
    )
    with pytest.raises(ValueError, match="evidence"):
        replace(again.structure_, evidence=damaged).validate()
    few, many = (mm.SegmentSVM(tol=0.5).fit(X * n, y * n) for n in (666, 667))
    assert few.structure_.evidence is None  # 1998 spans
    assert many.structure_.evidence is not None
    with pytest.raises(ValueError, match="segment_features: 'a' is not known"):
        mm.SegmentSVM(segment_features="all").fit(X, y)


def test_n_best_begins_with_the_best(model):
    for listed, best in zip(model.predict_nbest(WORDS, 3), SPANS, strict=True):
        assert listed[0][0] == best and len(listed) == 3
        scores = [score for _, score in listed]
        assert scores == sorted(scores, reverse=True)


def test_max_marginals_reach_the_best_score(model):
    best = [listed[0][1] for listed in model.predict_nbest(WORDS, 1)]
    for table, row, score in zip(model.max_marginals(WORDS), WORDS, best, strict=True):
        assert table.shape == (len(row), 5)
        np.testing.assert_allclose(table.max(axis=1), score)
    assert model.structure_.code_names() == ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]


def test_scores_by_label(model):
    found = model.span_scores(WORDS[:1], [[(0, 2, "PER"), (3, 5, "LOC")]])
    assert found["PER"].f1 == 1.0 and found["LOC"].f1 == 0.0


def test_spans_longer_than_max_length_count_as_missed(model):
    assert model.score(WORDS[:1], [[(0, 6, "PER")]]) == 0.0
    assert model.hardest(WORDS[:1], [[(0, 6, "PER")]])[0].short_by > 0


def test_a_phrase_is_more_than_its_words():
    """Only the pair of words tells the label: no weights of single words can."""
    X = [["a", "a"], ["b", "b"], ["a", "b"], ["b", "a"]]
    y = [[(0, 2, "P")], [(0, 2, "P")], [(0, 2, "Q")], [(0, 2, "Q")]]
    whole = mm.SegmentSVM(C=100.0, segment_features=["phrase"]).fit(X, y)
    parts = mm.SegmentSVM(C=100.0, segment_features=["length"]).fit(X, y)
    assert whole.score(X, y) == 1.0 > parts.score(X, y)


def test_gazetteers_tell_unknown_names():
    X = [[f"w{i}", "x", f"v{i}"] for i in range(8)]
    y = [[(0, 1, "LOC")] if i % 2 else [] for i in range(8)]
    names = Gazetteer.of([f"W{i}" for i in range(1, 20, 2)], name="odd")
    options = {"C": 10.0, "segment_features": (), "features": Templates([Column()[5]])}
    model = mm.SegmentSVM(gazetteers=[names], **options).fit(X, y)
    assert model.predict_spans([["w17", "x", "y"], ["w18", "x", "y"]]) == [
        [(0, 1, "LOC")], [],
    ]  # fmt: skip
    assert model.top_segment_features("LOC", 1)[0][0] == "gazetteer=odd"


def test_templates_by_name_and_from_a_file(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("U00:%x[0,0]\nU01:%x[-1,0]\n")
    for features in ("ner", str(file), Templates([Column()])):
        model = mm.SegmentSVM(C=1.0, features=features).fit(WORDS, SPANS)
        assert model.score(WORDS, SPANS) == 1.0
        stored = io.BytesIO()
        model.save(stored)
        again = mm.load(io.BytesIO(stored.getvalue()))
        assert again.predict_spans(WORDS) == SPANS
    with pytest.raises(ValueError, match="features='names' is neither one of 'ner'"):
        mm.SegmentSVM(features="names").fit(WORDS, SPANS)
    with pytest.raises(
        ValueError, match="is neither Templates, nor a name, nor the path"
    ):
        mm.SegmentSVM(features=file).fit(WORDS, SPANS)


def test_costs_of_spans_shift_precision_and_recall():
    """With slack rescaling: margin rescaling shifts margins, whatever they cost."""
    rng = np.random.default_rng(0)
    X = [rng.choice(["a", "b", "c"], size=6).tolist() for _ in range(30)]
    y = [
        [(t, t + 1, "P") for t, w in enumerate(row) if w == "a" and rng.random() < 0.5]
        for row in X
    ]
    options = {"C": 0.01, "rescaling": "slack", "max_length": 1}
    few = mm.SegmentSVM(loss=SpanLoss(missed=0.2), **options).fit(X, y)
    many = mm.SegmentSVM(loss=SpanLoss(wrong=0.2), **options).fit(X, y)
    count = [sum(map(len, m.predict_spans(X))) for m in (few, many)]
    assert count[0] < count[1]


def test_explains_segments(model):
    told = model.explain(WORDS[0])
    assert [part.name for part in told.parts] == [
        "tokens 0-1: PER", "token 2: O", "token 3: O", "token 4: LOC", "token 5: O",
    ]  # fmt: skip
    assert np.isclose(sum(part.score for part in told.parts), told.score)
    names = {term.feature for term in told.parts[0].terms}
    assert {"length=2 / PER", "phrase=ana ruiz / PER", "Ana / B-PER"} <= names


def test_transitions_and_names(model):
    assert set(model.transitions()) == {
        (a, b) for a in ("O", "LOC", "PER") for b in ("O", "LOC", "PER")
    }
    names = model.structure_.feature_names()
    assert len(names) == len(model.coef_) == len(set(names))
    with pytest.raises(ValueError, match="unknown label 'ORG'"):
        model.top_segment_features("ORG")


def test_unknown_labels_and_long_spans_are_refused(model):
    with pytest.raises(ValueError, match="sequence 0, token 0: unknown label 'ORG'"):
        model.hardest(WORDS[:1], [[(0, 1, "ORG")]])
    with pytest.raises(ValueError, match="more than max_length=1"):
        mm.SegmentSVM(max_length=1).fit(WORDS, SPANS)


def test_models_of_segments_are_whole():
    for name in ("segment", "segment_templates"):
        model, X = small.MODELS[name]()
        model.structure_.validate()
        assert len(model.predict(X)) == len(X)


def test_better_than_a_chain_on_names(data):
    """On 600 sentences of Spanish news."""
    pytest.importorskip("scipy")
    from benchmarks.segments import chain, segments, spanish

    if not (data / "conll2002_esp").is_dir():
        pytest.skip("no Spanish names here")
    parts = {part: spanish(part, 600) for part in ("train", "testa", "testb")}
    ours = segments(parts, C=0.06, max_length=10, tol=0.05)
    theirs = chain(parts, C=0.12, tol=0.05)
    assert ours["testa F1"] > theirs["testa F1"]
