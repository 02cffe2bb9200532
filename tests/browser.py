"""Headless Chromium, driven through a pipe (DevTools protocol): no package needed.

with Browser() as browser:
    page = browser.open("http://127.0.0.1:8000/", width=390, dark=True)
    page.value("document.title"), page.errors, page.overflow()
    page.picture("shot.png")
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def program():
    """Path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="maxmargin-browser-")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def connect():  # the browser reads from 3 and writes to 4
            a, b = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(a, 3)
            os.dup2(b, 4)

        command = [program(), *FLAGS, f"--user-data-dir={self.folder}", "about:blank"]
        self.process = subprocess.Popen(
            command, preexec_fn=connect, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self.reads, self.writes = ours_in, ours_out
        self.number, self.buffer, self.events = 0, b"", []
        self.context = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        os.close(self.reads)
        os.close(self.writes)
        shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, method, session=None, **params):
        """Call a method of the protocol and wait for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            told = self.receive(deadline)
            if told.get("id") == self.number:
                assert "error" not in told, told["error"]
                return told["result"]
            self.events.append(told)

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            assert left > 0 and select.select([self.reads], [], [], left)[0], (
                "no answer"
            )
            self.buffer += os.read(self.reads, 1 << 20)
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, address, width=1280, height=900, dark=False):
        """A loaded page; the one before is closed."""
        if self.context is not None:
            self.send("Target.disposeBrowserContext", browserContextId=self.context)
        # A context of its own: pages remember the choice of light and dark.
        self.context = self.send("Target.createBrowserContext")["browserContextId"]
        return Page(self, address, width, height, dark)


class Page:
    def __init__(self, browser, address, width, height, dark):
        self.browser = browser
        browser.events.clear()
        target = browser.send(
            "Target.createTarget", url="about:blank", browserContextId=browser.context
        )["targetId"]
        self.session = browser.send(
            "Target.attachToTarget", targetId=target, flatten=True
        )["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def value(self, expression):
        """Value of a JavaScript expression."""
        told = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True,
            awaitPromise=True,
        )  # fmt: skip
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait(self, expression, seconds=30):
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.value(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.05)

    @property
    def errors(self):
        """Exceptions and error messages of the console."""
        self.value("1")  # so that all events have arrived
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"]["text"])
            if event["method"] == "Log.entryAdded":
                entry = params["entry"]
                if entry["level"] == "error":
                    found.append(f"{entry['text']} {entry.get('url', '')}")
        return found

    def overflow(self):
        """How far the page is wider than its window, in pixels."""
        return self.value(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )

    def missing_images(self):
        """Addresses of images that did not load, also of those further down."""
        self.value("for (const i of document.images) i.loading = 'eager'")
        self.wait("[...document.images].every(i => i.complete)")
        return self.value(
            "[...document.images].filter(i => !i.naturalWidth).map(i => i.src)"
        )

    def picture(self, path, whole=False):
        """Save a screenshot."""
        shot = self.send(
            "Page.captureScreenshot", format="png", captureBeyondViewport=whole
        )
        Path(path).write_bytes(base64.b64decode(shot["data"]))
