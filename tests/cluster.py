"""A real dask cluster of processes on loopback, whose workers can be killed."""

import os
import signal
import subprocess
import sys
import threading
import time

HOST = "127.0.0.1"
START = "import sys; from distributed.cli.dask_{} import main; main(sys.argv[1:])"


class Cluster:
    """A scheduler and workers, each a process of its own; all end with the `with`."""

    def __init__(self, workers=2, port=0, scratch="/tmp", preload=None):
        self.scheduler, self.port, self.scratch = None, port, str(scratch)
        self._more = ["--preload", preload] if preload else []
        self.workers, self._count = [], workers

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.scheduler, line = _process(
            "scheduler", "--host", HOST, "--port", str(self.port), "--no-dashboard",
            "--no-jupyter", until="Scheduler at:",
        )  # fmt: skip
        self.port = int(line.rsplit(":", 1)[1])
        for _ in range(self._count):
            self.add_worker()

    @property
    def address(self):
        return f"tcp://{HOST}:{self.port}"

    def add_worker(self):
        process, _ = _process(
            "worker", self.address, "--host", HOST, "--nthreads", "1", "--no-nanny",
            "--no-dashboard", "--local-directory", self.scratch, *self._more,
            until="Registered to",
        )  # fmt: skip
        self.workers.append(process)

    def kill(self, k, sign=signal.SIGKILL):
        """Kill a worker: no goodbye, its data are lost."""
        self.workers[k].send_signal(sign)
        if sign == signal.SIGKILL:
            self.workers.pop(k).wait()

    def stop(self):
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()
            process.stdout.close()
        self.workers = []  # stopping twice does no harm


def _process(kind, *options, until):
    env = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}
    env["OMP_NUM_THREADS"] = "1"
    process = subprocess.Popen(
        [sys.executable, "-c", START.format(kind), *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    for line in process.stdout:
        if until in line:
            _drain(process)
            return process, line.strip()
        if time.monotonic() > deadline:
            break
    raise RuntimeError(f"dask {kind} did not start")


def _drain(process):
    """Read what else it says, so that its pipe does not fill up."""

    def read():
        try:
            for _ in process.stdout:
                pass
        except ValueError:
            pass

    threading.Thread(target=read, daemon=True).start()
