"""The routes of `maxmargin serve`: answers, limits, and errors that say what is wrong."""

import io
import json
import time

import numpy as np
import pytest
import scipy.sparse as sp
from small.models import MODELS

pytest.importorskip("starlette", reason="starlette is not installed")

from small.web import Web

import maxmargin as mm
from maxmargin.serve.app import Limits, make_app

SERVED = [
    "chain", "chain_arrays", "grammar", "grammar_words", "alignment", "alignment_tracks",
    "homology", "network", "motif", "ranking", "multiclass", "multiclass_taxonomy",
    "segment", "segment_templates", "multilabel",
]  # fmt: skip
KERNELS = ["kernel", "kernel_two", "chain_kernel", "network_kernel"]  # networks explain


def client(model, **limits):
    return Web(make_app(model, limits=Limits(**limits)))


def as_json(x):
    """An input of the small models as a request contains it."""
    if sp.issparse(x):
        x = x.toarray().ravel()
    if isinstance(x, np.ndarray):
        return x.tolist()
    if isinstance(x, tuple) and isinstance(x[0], np.ndarray):
        return {"nodes": x[0].tolist(), "edges": x[1].tolist()}
    if isinstance(x, tuple) and isinstance(x[1], list):
        return {"native": x[0], "candidates": x[1]}
    return list(x) if isinstance(x, tuple) else x


def rows(X):
    return [X[i] for i in range(X.shape[0] if hasattr(X, "shape") else len(X))]


@pytest.mark.parametrize("name", [*SERVED, *KERNELS])
def test_predictions_are_those_of_the_model(name):
    model, X = MODELS[name]()
    some = rows(X)[:3]
    with client(model) as web:
        reply = web.post("/predict", {"inputs": [as_json(x) for x in some]})
        assert reply.status_code == 200, reply.text
        want = json.loads(json.dumps([plain(y) for y in model.predict(X)[: len(some)]]))
        assert reply.json()["outputs"] == want


def plain(y):
    if isinstance(y, np.ndarray | np.generic):
        return y.tolist()
    return [plain(v) for v in y] if isinstance(y, list | tuple) else y


@pytest.mark.parametrize("name", SERVED)
def test_explanations_and_runners_up(name):
    model, X = MODELS[name]()
    x = rows(X)[0]
    with client(model) as web:
        asked = {"inputs": [as_json(x)]}
        why = web.post("/explain", {**asked, "html": True})
        assert why.status_code == 200, why.text
        told = why.json()["explanations"][0]
        few = web.post("/nbest", {**asked, "k": 2}).json()["nbest"][0]
        assert told["html"] and told["parts"]
        drawn = ["<svg" in one.get("html", "") for one in told["nbest"]]
        assert all(drawn) == name.startswith("alignment")
        assert few[0]["output"] == told["output"]
        assert few[0]["score"] == pytest.approx(told["score"])
        if told["margin"] is not None:
            assert few[1]["score"] == pytest.approx(told["score"] - told["margin"])
        schema = web.get("/schema").json()
        assert {"/predict", "/nbest", "/explain"} < set(schema["paths"])


@pytest.mark.parametrize("name", KERNELS[:3])
def test_a_kernel_has_an_answer_without_reasons(name):
    """The page asks for explanations: it must show the answer of a kernel, too."""
    model, X = MODELS[name]()
    some = rows(X)[:3]
    asked = {"inputs": [as_json(x) for x in some], "html": True}
    with client(model) as web:
        told = web.post("/explain", asked).json()["explanations"]
        answers = web.post("/predict", {"inputs": asked["inputs"]}).json()["outputs"]
    for why, answer in zip(told, answers, strict=True):
        assert why["output"] == answer == why["nbest"][0]["output"]
        assert why["html"] and why["parts"] == []
        if name.startswith("kernel"):
            scores = [one["score"] for one in why["nbest"]]
            assert (
                why["margin"] == pytest.approx(scores[0] - scores[1])
                and why["margin"] >= 0
            )
            assert why["runner_up"] == why["nbest"][1]["output"]


@pytest.fixture
def tagger(tmp_path):
    """A model as `maxmargin train` writes it, for sentences."""
    from maxmargin.io.sequences import templates

    rows = [[("Ana",), ("lives",), ("in",), ("Lima",)], [("Eva",), ("eats",)]]
    y = [["B-PER", "O", "O", "B-LOC"], ["B-PER", "O"]]
    model = mm.ChainSVM(C=1.0).fit([templates.ner(r) for r in rows], y)
    out = io.BytesIO()
    options = {"template": "ner", "columns": 2, "label_column": -1}
    mm.save(model, out, notes={"format": "conll", "options": options})
    return mm.load(io.BytesIO(out.getvalue()))


def test_a_sentence_is_split_and_drawn(tagger):
    with client(tagger) as web:
        reply = web.post("/explain", {"inputs": ["Ana lives in Lima."], "html": True})
        told = reply.json()["explanations"][0]
        assert told["output"][:4] == ["B-PER", "O", "O", "B-LOC"]
        assert told["words"] == ["Ana", "lives", "in", "Lima", "."]
        assert "<b>Lima</b>" in told["html"]


def test_what_is_typed_cannot_become_html(tagger):
    with client(tagger) as web:
        evil = {"inputs": [["<img src=x onerror=alert(1)>"]], "html": True}
        told = web.post("/explain", evil).json()["explanations"][0]
        assert "<img" not in told["html"] and "&lt;img" in told["html"]
        page = web.get("/")
        assert "default-src 'none'" in page.headers["content-security-policy"]


@pytest.mark.parametrize(
    "body, text",
    [
        ({"inputs": []}, "at least one input"),
        ({"inputs": "Ana"}, "is a list"),
        ({"inputs": ["Ana", ""]}, "input 1: there are no words"),
        ({"inputs": [[["a", "b"]]]}, "token 0 is"),
        ({"inputs": [7]}, "input 0: an input is a sentence"),
        ({"inputs": ["a"], "file": "/etc/passwd"}, "'file' is not known here"),
        ({"inputs": ["a"] * 6}, "6 inputs in one request: at most 5"),
        ({"inputs": ["a " * 21]}, "21 tokens: at most 20"),
        ([], "send an object"),
    ],
)
def test_wrong_requests_say_why(tagger, body, text):
    with client(tagger, inputs=5, size=20) as web:
        reply = web.post("/predict", body)
        assert reply.status_code == 422
        assert text in reply.json()["error"]


def test_other_refusals(tagger):
    with client(tagger, body=100) as web:
        assert web.post("/predict", b"{").status_code == 422
        nan = web.post("/predict", b'{"inputs": [NaN]}')
        assert "NaN is not a number of JSON" in nan.json()["error"]
        assert web.post("/predict", b"{}", "text/plain").status_code == 415
        long = web.post("/predict", {"inputs": ["a" * 200]})
        assert long.status_code == 413 and "100 bytes" in long.json()["error"]
        assert web.post("/nbest", {"inputs": ["a"], "k": 0}).status_code == 422
        assert web.post("/nbest", {"inputs": ["a"], "k": True}).status_code == 422
        asked = web.get("/predict")
        assert asked.status_code == 405
        assert "POST request with a JSON body" in asked.json()["error"]
        asked = web.get("/secret")
        assert asked.status_code == 404
        assert "programs POST to /predict" in asked.json()["error"]
    with client(tagger) as web:
        deep = b'{"inputs": ' + b"[" * 200_000
        assert web.post("/predict", deep).status_code == 422


def test_other_names_of_the_server_are_refused(tagger):
    with Web(make_app(tagger), host="evil.example") as web:
        assert web.get("/health").status_code == 400


def test_slow_answers_end_and_do_not_stop_the_server(tagger):
    with client(tagger, seconds=0.3) as web:
        service = web.app.state.service
        fast = service.answers.predict

        def slow(items):
            time.sleep(0.8)
            return fast(items)

        service.answers.predict = slow
        reply = web.post("/predict", {"inputs": ["Ana"]})
        assert reply.status_code == 504 and "0.3 s" in reply.json()["error"]
        service.answers.predict = fast
        time.sleep(0.8)
        assert web.post("/predict", {"inputs": ["Ana"]}).status_code == 200


def test_inputs_that_the_model_refuses():
    model, _ = MODELS["chain_arrays"]()
    with client(model) as web:
        reply = web.post("/predict", {"inputs": [[[1.0, 2.0]]]})
        assert reply.status_code == 422 and reply.json()["error"]


def test_models_without_a_text_form_are_refused():
    for name in ("structural", "coreference"):  # coreference with features of its own
        model, _ = MODELS[name]()
        with pytest.raises(ValueError, match="cannot be served"):
            make_app(model)


def test_many_at_once_are_answered_by_few_calls(tagger):
    bodies = [{"inputs": ["Ana"] if i % 5 else [""]} for i in range(50)]
    with client(tagger) as web:
        replies = web.post_all("/predict", bodies)
        batcher = web.app.state.service.batcher
    assert [r.status_code for r in replies] == [
        200 if i % 5 else 422 for i in range(50)
    ]
    assert batcher.answered == 40
    assert batcher.batches < 10


def test_segments_of_a_typed_sentence():
    X, y = (
        [["Ana", "Ruiz", "sings"], ["Eva", "sings"]],
        [[(0, 2, "PER")], [(0, 1, "PER")]],
    )
    model = mm.SegmentSVM(features="ner").fit(X, y)
    with client(model) as web:
        asked = {"inputs": ["Ana Ruiz sings"]}
        assert web.post("/predict", asked).json() == {"outputs": [[[0, 2, "PER"]]]}
        drawn = web.post("/explain", {**asked, "html": True}).json()
        told = drawn["explanations"][0]
        assert told["words"] == ["Ana", "Ruiz", "sings"]
        assert "B-PER" in told["html"] and "Ruiz" in told["html"]


@pytest.fixture(scope="module")
def resolver():
    """A model that takes pronouns for the name or noun of their gender."""
    from maxmargin.structures.clusters import Document, find_mentions

    text = [["Ann", "fed", "her", "old", "dog", "."], ["It", "slept", "."]]
    document = Document(text, find_mentions(text))
    return mm.CoreferenceSVM(C=10.0).fit([document] * 2, [[0, 1, 0, 1]] * 2)


def test_entities_of_a_typed_text(resolver):
    with client(resolver) as web:
        typed = web.post("/predict", {"inputs": ["Ann fed her old dog. It slept."]})
        entities = typed.json()["outputs"][0]
        assert [[m["text"] for m in e] for e in entities] == [
            ["Ann", "her"],
            ["her old dog", "It"],
        ]
        assert entities[1][1]["place"] == [1, 0, 0]
        given = {
            "sentences": [["Ann", "fed", "it", "."]],
            "mentions": [[0, 0, 0], [0, 2, 2]],
        }
        told = web.post("/explain", {"inputs": [given], "html": True}).json()
        why = told["explanations"][0]
        assert {m["text"] for e in why["output"] for m in e} == {"Ann", "it"}
        assert "Ann" in why["html"]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("", "there is no pronoun"),
        ({"sentences": [["a", 3]]}, "sentence 0 is not a list of words"),
        ({"sentences": [["a"]], "mentions": [[0, 0, 1]]}, "mention 0 is"),
        ({"sentences": [["a"]], "mentions": 3}, "is a list of"),
        (7, "a text or"),
    ],
)
def test_texts_that_cannot_be_used(resolver, item, message):
    with client(resolver) as web:
        reply = web.post("/predict", {"inputs": [item]})
        assert reply.status_code == 422 and message in reply.json()["error"]
