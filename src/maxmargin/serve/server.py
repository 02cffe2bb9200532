"""Listening on an address, and stopping without losing requests."""

from __future__ import annotations

import ipaddress
import socket
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn

from maxmargin.estimators.saving.checkpoint import terminable
from maxmargin.serve.app import Limits, make_app

LOCAL = ("localhost", "127.0.0.1", "[::1]")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; OSError where that is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sets TCP_NODELAY; otherwise each answer waits 40 ms.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(2048)  # from here on, requests wait until the server runs
    except OSError as error:
        made.close()
        raise OSError(
            f"cannot listen on {host}:{port} ({error.strerror}): another port may be "
            "free (--port 0 finds one)"
        ) from None
    return made


def serve(
    model: Any, *, host: str = "127.0.0.1", port: int = 8000, name: str = "model",
    limits: Limits | None = None, browser: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> None:  # fmt: skip
    """Serve a model until Ctrl-C or SIGTERM; requests under way are answered first.

    Parameters
    ----------
    model : estimator
    host, port : str, int
        Address; by default only this machine can reach it. Port 0 takes any free one.
    name : str
        What the page calls the model.
    limits : Limits, optional
    browser : bool
        Whether to open the page in a browser.
    say : callable
        Told the address, and that the server has stopped.
    """
    with listening_socket(host, port) as sock:
        local = is_loopback(host)
        hosts = LOCAL if local else ("*",)
        app = make_app(model, limits=limits, name=name, hosts=(*hosts, host))
        _compile(app.state.service)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, timeout_graceful_shutdown=10,
            limit_concurrency=2000, h11_max_incomplete_event_size=65536,
            server_header=False,
        )  # fmt: skip
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{sock.getsockname()[1]}/"
        say(f"{name}: {address}   (Ctrl-C stops)")
        if not local:
            say(f"{host} can be reached from other machines, and there is no password")
        if browser:
            import webbrowser

            webbrowser.open(address)
        with terminable(), suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[sock])
    say("stopped")


def _compile(service: Any) -> None:
    """Answer the example once, so that the first request does not wait for compiling."""
    with suppress(ValueError, TypeError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about letters or words that are made up here
        item = service.reader.read(service.reader.example)
        service.answers.predict([item])
        service.answers.draw([item])
