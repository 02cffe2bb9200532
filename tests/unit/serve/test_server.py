"""A real server on 127.0.0.1, started by the command line."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys

import pytest
from small.models import MODELS

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = tmp_path_factory.mktemp("serve") / "tagger.mm"
    MODELS["chain"]()[0].save(path)
    command = [sys.executable, "-m", "maxmargin", "serve", str(path), "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
    if not found:
        process.kill()
        pytest.fail(f"no address: {line} {process.stderr.read()}")
    yield process, int(found.group(1))
    if process.poll() is None:
        process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()


def ask(port, method, path, body=None):
    web = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json"} if body is not None else {}
    web.request(method, path, json.dumps(body) if body is not None else None, headers)
    reply = web.getresponse()
    out = reply.status, reply.read()
    web.close()
    return out


def test_it_answers_and_stops_in_peace(server):
    process, port = server
    model, X = MODELS["chain"]()
    status, told = ask(port, "POST", "/predict", {"inputs": X})
    assert status == 200
    assert json.loads(told)["outputs"] == [list(y) for y in model.predict(X)]
    assert json.loads(ask(port, "GET", "/health")[1])["status"] == "ok"
    assert ask(port, "POST", "/predict", {"inputs": 1})[0] == 422
    status, page = ask(port, "GET", "/")
    assert status == 200 and b"tagger.mm" in page
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert "Traceback" not in process.stderr.read()


def test_a_taken_port_is_an_error_with_advice(tmp_path):
    import socket

    from maxmargin.serve.server import listening_socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="--port 0"):
            listening_socket("127.0.0.1", taken.getsockname()[1])


def test_the_command_says_what_is_missing(tmp_path):
    path = tmp_path / "m.mm"
    MODELS["coreference"]()[0].save(path)
    done = subprocess.run(
        [sys.executable, "-m", "maxmargin", "serve", str(path), "--port", "0"],
        capture_output=True, text=True, check=False, timeout=120, env=os.environ,
    )  # fmt: skip
    assert done.returncode == 3
    assert "CoreferenceSVM cannot be served" in done.stderr
