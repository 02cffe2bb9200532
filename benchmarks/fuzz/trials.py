"""Trials in child processes: a crash, a hang or a memory hog ends the child alone.

A child is forked from the parent, which has compiled all loops, so that a new one is
ready at once. It takes numbers of mutants from a pipe and answers with outcomes.
"""

import os
import resource
import select
import signal
import struct
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.exceptions import NotFittedError

from maxmargin import ModelFileError

SECONDS, MEMORY = 10.0, 1.5e9  # per trial; bytes beyond what the parent has
PORTION = 1000  # trials of one child at most, so that what it leaks is bounded
OURS = (ModelFileError, ValueError)
SAID = (NotFittedError,)  # raised for us by scikit-learn


class Tally:
    """Outcomes by kind, and what must not happen."""

    def __init__(self):
        self.counts, self.bad, self.slowest = Counter(), [], 0.0

    def note(self, kind, seed, outcome, seconds):
        self.counts[kind, outcome.split(":")[0]] += 1
        self.slowest = max(self.slowest, seconds)
        if outcome.startswith("BAD"):
            self.bad.append((kind, seed, outcome))


def run(subjects, number, seed, tally, seconds=SECONDS, until=np.inf):
    """`number` trials, subject after subject; fewer if it is `until` before that."""
    jobs = [(k % len(subjects), seed * 10**9 + k) for k in range(number)]
    for start in range(0, number, PORTION):
        if time.time() > until:
            return
        some, at = jobs[start : start + PORTION], 0
        while at < len(some):
            at = _one_child(subjects, some, at, tally, seconds)


def _one_child(subjects, jobs, at, tally, seconds):
    """Trials in one child until it ends; returns the number of the next job."""
    down, up = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(down[1])
        os.close(up[0])
        _serve(subjects, down[0], up[1])
    os.close(down[0])
    os.close(up[1])
    alive = True
    while alive and at < len(jobs):
        which, number = jobs[at]
        kind = subjects[which].name
        os.write(down[1], struct.pack("<qq", which, number))
        ready = select.select([up[0]], [], [], seconds)[0]
        text = os.read(up[0], 2000).decode("utf8", "replace") if ready else ""
        if text:
            took, outcome = text.split(" ", 1)
            tally.note(kind, number, outcome, float(took))
        else:
            alive = False
            if not ready:
                os.kill(pid, signal.SIGKILL)
            status = os.waitpid(pid, 0)[1]
            ended = f"BAD: signal {os.waitstatus_to_exitcode(status)}"
            tally.note(kind, number, ended if ready else "BAD: too slow", seconds)
        at += 1
    os.close(down[1])
    os.close(up[0])
    if alive:
        os.waitpid(pid, 0)
    return at


def _serve(subjects, jobs, answers):
    """In the child: answer until there are no more jobs."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    room = pages * resource.getpagesize() + int(MEMORY)
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    while job := os.read(jobs, 16):
        which, number = struct.unpack("<qq", job)
        before = os.times()
        outcome = trial(subjects[which], number)
        after = os.times()
        took = after.user + after.system - before.user - before.system
        os.write(answers, f"{took:.3f} {outcome}"[:1900].encode())
    os._exit(0)


def raised_in(error):
    """The file whose code raised an error."""
    return traceback.extract_tb(error.__traceback__)[-1].filename


def trial(subject, number):
    """Outcome of one mutant in this process."""
    try:
        return subject.use(subject.mutant(np.random.default_rng(number)))
    except OURS as error:
        name, where = type(error).__name__, raised_in(error)
        if not str(error):
            return f"BAD: {name} without words"
        ours = "maxmargin" in where or isinstance(error, SAID)
        return name if ours else f"BAD: {name} of {where}: {error}"
    except Exception as error:
        return f"BAD: {type(error).__name__}: {error}"
