"""An ASGI application called in this process, without a network."""

import asyncio
import json


class Reply:
    def __init__(self, status, headers, body):
        self.status_code, self.headers, self.text = status, headers, body.decode()

    def json(self):
        return json.loads(self.text)


class Web:
    """`with Web(app) as web: web.post("/predict", {"inputs": [..]})`."""

    def __init__(self, app, host="localhost"):
        self.app, self.host = app, host

    def __enter__(self):
        self._runner = asyncio.Runner()
        self._life = self.app.state.service.lifespan(self.app)
        self._runner.run(self._life.__aenter__())
        return self

    def __exit__(self, *_):
        self._runner.run(self._life.__aexit__(None, None, None))
        self._runner.close()

    def get(self, path):
        return self._runner.run(self._call("GET", path, b"", None))

    def post(self, path, body, kind="application/json"):
        return self._runner.run(self._call("POST", path, _bytes(body), kind))

    def post_all(self, path, bodies):
        """Several requests at the same time."""

        async def together():
            calls = [
                self._call("POST", path, _bytes(b), "application/json") for b in bodies
            ]
            return await asyncio.gather(*calls)

        return self._runner.run(together())

    async def _call(self, method, path, body, kind):
        headers = [(b"host", self.host.encode())]
        headers += [(b"content-type", kind.encode())] if kind else []
        scope = {
            "type": "http", "method": method, "path": path, "raw_path": path.encode(),
            "headers": headers, "query_string": b"", "http_version": "1.1",
            "scheme": "http", "server": (self.host, 80), "client": ("127.0.0.1", 1),
            "root_path": "", "asgi": {"version": "3.0"},
        }  # fmt: skip
        parts = [body[k : k + 1000] for k in range(0, len(body), 1000)] or [b""]
        sent, status, told = iter(parts), [], {}
        out = bytearray()

        async def receive():
            part = next(sent, None)
            if part is None:
                await asyncio.sleep(3600)
            more = part is not parts[-1]
            return {"type": "http.request", "body": part, "more_body": more}

        async def send(message):
            if message["type"] == "http.response.start":
                status.append(message["status"])
                told.update({k.decode(): v.decode() for k, v in message["headers"]})
            else:
                out.extend(message.get("body", b""))

        await self.app(scope, receive, send)
        return Reply(status[0], told, bytes(out))


def _bytes(body):
    return body if isinstance(body, bytes) else json.dumps(body).encode()
