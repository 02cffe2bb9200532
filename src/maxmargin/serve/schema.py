"""The API described as OpenAPI, with the inputs of the model that is served."""

from __future__ import annotations

from typing import Any

from maxmargin import __version__
from maxmargin.serve.inputs import Reader

ERRORS = {
    "413": "the request is too long", "415": "not sent as application/json",
    "422": "an input is wrong; the text says which and what to do",
    "503": "too many requests are waiting", "504": "no answer in time",
}  # fmt: skip


def api_schema(reader: Reader, most: int) -> dict[str, Any]:
    """The schema for a model whose inputs `reader` reads."""
    few = max(most // 10, 1)
    score = {"type": ["number", "null"]}
    pair = {"type": "object", "properties": {"output": {}, "score": score}}
    why = {
        "type": "object",
        "properties": {
            "output": {}, "score": score, "runner_up": {}, "margin": score,
            "parts": {"type": "array", "items": {"type": "object"}},
            "html": {"type": "string", "description": "the output drawn"},
        },
    }  # fmt: skip
    k = {"k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5}}
    html = {"html": {"type": "boolean", "default": False}}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"maxmargin: {reader.kind}", "version": __version__},
        "paths": {
            "/predict": _post("The best output of each input", {}, most,
                              "outputs", {}),
            "/nbest": _post("The k best outputs of each input, with scores", k, few,
                            "nbest", {"type": "array", "items": pair}),
            "/explain": _post("Why: the score of each part, feature by feature", html,
                              few, "explanations", why),
            "/health": {"get": {"summary": "Whether the server is up",
                                "responses": {"200": {"description": "it is"}}}},
        },
        "components": {"schemas": {"Input": dict(reader.schema)}},
    }  # fmt: skip


def _post(
    summary: str, more: dict[str, Any], most: int, name: str, item: dict[str, Any]
) -> dict[str, Any]:
    inputs = {
        "type": "array", "minItems": 1, "maxItems": most,
        "items": {"$ref": "#/components/schemas/Input"},
    }  # fmt: skip
    asked = {
        "type": "object", "required": ["inputs"], "additionalProperties": False,
        "properties": {"inputs": inputs, **more},
    }  # fmt: skip
    told = {"type": "object", "properties": {name: {"type": "array", "items": item}}}
    answers: dict[str, Any] = {
        "200": {"description": "one answer per input, in order", **_content(told)}
    }
    answers |= {code: {"description": text} for code, text in ERRORS.items()}
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, **_content(asked)},
            "responses": answers,
        }
    }


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}
