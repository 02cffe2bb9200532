"""The routes of the server, their limits and their errors.

Every error is JSON, {"error": text}, with a status that says whose fault it is: 4xx for
a request that cannot be answered, 503 and 504 for a server that is too busy or too slow.
A request never names a file and never contains code.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from maxmargin import __version__
from maxmargin.reports.style import OUTPUT_CSS
from maxmargin.serve.answers import Answers, read_items
from maxmargin.serve.batching import Answer, Batcher, BusyError
from maxmargin.serve.inputs import BadInputError, parse_json, reader_of
from maxmargin.serve.schema import api_schema

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' "
    "'unsafe-inline'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
HINTS = {
    404: "there is no such page: the page is /, and programs POST to /predict, /nbest "
    "and /explain; /schema describes them",
    405: "send a POST request with a JSON body; /schema describes it",
}
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Limits:
    """What one request may ask for.

    Attributes
    ----------
    body : int
        Bytes of a request.
    inputs : int
        Inputs of a request to /predict; /nbest and /explain take a tenth.
    size : int
        Size of one input: tokens, letters, nodes, documents.
    seconds : float
        Until an answer, waiting included.
    waiting : int
        Requests that may wait for the model.
    """

    body: int = 1_000_000
    inputs: int = 1000
    size: int = 2000
    seconds: float = 30.0
    waiting: int = 1000


class _Service:
    """The endpoints of one model."""

    def __init__(self, model: Any, limits: Limits, name: str) -> None:
        self.model, self.limits, self.name = model, limits, name
        self.reader = reader_of(model)
        self.answers = Answers(model, self.reader)
        self.batcher = Batcher(waiting=limits.waiting)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """The batcher runs while the server does."""
        task = asyncio.create_task(self.batcher.run())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    async def page(self, request: Request) -> Response:
        """The page for people."""
        text = files("maxmargin.serve").joinpath("page/index.html").read_text("utf-8")
        filled = {
            "model": self.name, "kind": self.reader.kind, "hint": self.reader.hint,
            "example": self.reader.example, "estimator": type(self.model).__name__,
            "version": __version__,
        }  # fmt: skip
        for key, value in filled.items():
            text = text.replace(f"{{{{{key}}}}}", escape(value))
        return HTMLResponse(text, headers=HEADERS)

    async def health(self, request: Request) -> Response:
        """Whether the server is up, and what it serves."""
        return self._json(
            {
                "status": "ok", "model": self.name, "kind": self.reader.kind,
                "estimator": type(self.model).__name__, "version": __version__,
                "answered": self.batcher.answered, "batches": self.batcher.batches,
            }
        )  # fmt: skip

    async def schema(self, request: Request) -> Response:
        """The API as OpenAPI."""
        return self._json(api_schema(self.reader, self.limits.inputs))

    async def predict(self, request: Request) -> Response:
        """The best output of each input."""
        body = await self._body(request, {"inputs"})
        items = self._read(body, self.limits.inputs)
        return self._json({"outputs": await self._ask(self.answers.predict, items)})

    async def nbest(self, request: Request) -> Response:
        """The k best outputs of each input with their scores."""
        body = await self._body(request, {"inputs", "k"})
        k = body.get("k", 5)
        if type(k) is not int or not 1 <= k <= 50:
            raise BadInputError(f'"k" is {k!r:.40}: a whole number from 1 to 50')
        items = self._read(body, max(self.limits.inputs // 10, 1))
        return self._json({"nbest": await self._ask(self.answers.nbest(k), items)})

    async def explain(self, request: Request) -> Response:
        """Why each input has the output that it has."""
        body = await self._body(request, {"inputs", "html"})
        html = body.get("html", False)
        if not isinstance(html, bool):
            raise BadInputError('"html" is true or false')
        items = self._read(body, max(self.limits.inputs // 10, 1))
        question = self.answers.draw if html else self.answers.explain
        return self._json({"explanations": await self._ask(question, items)})

    def _read(self, body: dict[str, Any], most: int) -> list[Any]:
        return read_items(self.reader, body.get("inputs"), most, self.limits.size)

    async def _ask(self, question: Answer, items: list[Any]) -> list[Any]:
        return await asyncio.wait_for(
            self.batcher.ask(question, items), self.limits.seconds
        )

    async def _body(self, request: Request, known: set[str]) -> dict[str, Any]:
        """The JSON object of a request, at most `limits.body` bytes of it."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind != "application/json":  # other sites cannot send this type unasked
            raise HTTPException(415, "send JSON, with Content-Type: application/json")
        async with asyncio.timeout(self.limits.seconds):
            data = bytearray()
            async for chunk in request.stream():
                data += chunk
                if len(data) > self.limits.body:
                    raise HTTPException(
                        413, f"the request has more than {self.limits.body} bytes"
                    )
        body = parse_json(bytes(data))
        if not isinstance(body, dict):
            raise BadInputError('send an object, as in {"inputs": [..]}')
        strange = sorted(body.keys() - known)
        if strange:
            raise BadInputError(
                f"{strange[0]!r:.40} is not known here; this takes "
                f"{', '.join(sorted(known))}"
            )
        return body

    def _json(self, content: Any, status: int = 200, **more: str) -> Response:
        return JSONResponse(content, status, headers=HEADERS | more)

    def answering(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint, with errors as JSON."""

        async def answered(request: Request) -> Response:
            try:
                return await endpoint(request)
            except HTTPException as error:
                return self._json({"error": error.detail}, error.status_code)
            except BusyError:
                text = "too many requests are waiting: try again in a second"
                return self._json({"error": text}, 503, **{"Retry-After": "1"})
            except TimeoutError:
                text = f"no answer within {self.limits.seconds:g} s: send less at once"
                return self._json({"error": text}, 504)
            except (
                ValueError,
                TypeError,
            ) as error:  # BadInputError, or refused by the model
                return self._json({"error": str(error)}, 422)
            except ClientDisconnect:
                return self._json({"error": "the client has gone"}, 400)

        return answered


def _static(name: str, kind: str) -> Endpoint:
    text = files("maxmargin.serve").joinpath("page").joinpath(name).read_text("utf-8")
    if kind == "text/css":
        text += OUTPUT_CSS

    async def send(request: Request) -> Response:
        return Response(text, headers=HEADERS, media_type=kind)

    return send


def make_app(
    model: Any, *, limits: Limits | None = None, name: str = "model",
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]"),
) -> Starlette:  # fmt: skip
    """The application for a fitted model.

    Parameters
    ----------
    model : estimator
    limits : Limits, optional
    name : str
        What the page calls the model.
    hosts : tuple of str
        Names that a request may use for this server; others are refused, so that a
        web site cannot reach it under a name of its own.
    """
    service = _Service(model, limits or Limits(), name)
    safe = service.answering
    routes = [
        Route("/", service.page),
        Route("/page.css", _static("page.css", "text/css")),
        Route("/page.js", _static("page.js", "text/javascript")),
        Route("/health", service.health),
        Route("/schema", service.schema),
        Route("/predict", safe(service.predict), methods=["POST"]),
        Route("/nbest", safe(service.nbest), methods=["POST"]),
        Route("/explain", safe(service.explain), methods=["POST"]),
    ]

    async def failed(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        text = error.detail if isinstance(error, HTTPException) else "an error of ours"
        text = HINTS.get(status, text)
        return service._json({"error": text}, status)

    guard = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    app = Starlette(
        routes=routes, lifespan=service.lifespan, middleware=[guard],
        exception_handlers={HTTPException: failed, 500: failed},
    )  # fmt: skip
    app.state.service = service
    return app
