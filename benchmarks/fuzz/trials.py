"""Trials in child processes: a crash, a hang or a memory hog ends the child alone.

A child is forked from the parent, which has compiled all loops, so that a new one is
ready at once. It takes numbers of mutants from a pipe and answers with outcomes.
"""

import dis
import os
import resource
import select
import signal
import struct
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.exceptions import NotFittedError

from maxmargin import ModelFileError
from maxmargin.core.compiled.compiling import compile_seconds

SECONDS, MEMORY = 10.0, 1.5e9  # of the processor per trial; bytes beyond the parent's
PATIENCE = 60  # a busy machine: so many times the seconds by the clock on the wall
AGAIN = 6  # a trial that was too slow gets so many times the seconds: it may compile
PORTION = 2000  # trials of one child at most, so that what it leaks is bounded
OURS = (ModelFileError, ValueError, ImportError)  # of our own files, in our own words


class Tally:
    """Outcomes by kind, and what must not happen."""

    def __init__(self):
        self.counts, self.bad, self.slowest = Counter(), [], 0.0
        self.examples = {}  # of what is neither used nor refused: a number and its words

    def note(self, kind, seed, outcome, seconds):
        self.counts[kind, outcome.split(":")[0]] += 1
        self.slowest = max(self.slowest, seconds)
        if outcome not in ("used", "refused"):
            some = self.examples.setdefault(f"{kind}: {outcome[:60]}", [])
            some[3:] or some.append(f"{seed}: {outcome[:300]}")
        if outcome.startswith("BAD"):
            print(f"{kind} {seed}: {outcome[:300]}", file=sys.stderr, flush=True)
            self.bad.append((kind, seed, outcome))


def run(
    subjects, number, seed, tally, seconds=SECONDS, until=np.inf, after=lambda: None
):
    """`number` trials, subject after subject; fewer if it is `until` before that.

    `after` is called after each portion.
    """
    jobs = [(k % len(subjects), seed * 10**9 + k) for k in range(number)]
    for start in range(0, number, PORTION):
        if time.time() > until:
            return
        some, at = jobs[start : start + PORTION], 0
        while at < len(some):
            at = _one_child(subjects, some, at, tally, seconds)
        after()


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
        ready = _answered(pid, up[0], seconds)
        text = os.read(up[0], 2000).decode("utf8", "replace") if ready else ""
        if text:
            took, outcome = text.split(" ", 1)
            slow = float(took) > SECONDS
            tally.note(kind, number, "BAD: too slow" if slow else outcome, float(took))
        else:
            alive = False
            if not ready:
                os.kill(pid, signal.SIGKILL)
            status = os.waitpid(pid, 0)[1]
            ended = f"BAD: signal {os.waitstatus_to_exitcode(status)}"
            if not ready and seconds <= SECONDS * AGAIN / 2:
                _one_child(subjects, jobs[at : at + 1], 0, tally, AGAIN * seconds)
            else:
                tally.note(kind, number, ended if ready else "BAD: too slow", seconds)
        at += 1
    os.close(down[1])
    os.close(up[0])
    if alive:
        os.waitpid(pid, 0)
    return at


def _answered(pid, pipe, seconds):
    """Whether there is an answer, or an end, within the time of a trial."""
    begun, by = _worked(pid), time.monotonic() + PATIENCE * seconds
    while not select.select([pipe], [], [], min(seconds, 1.0))[0]:
        if _worked(pid) - begun > seconds or time.monotonic() > by:
            return False
    return True


def _worked(pid):
    """Seconds that a process has had of the processor."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


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
        before, compiled = os.times(), compile_seconds()
        outcome = trial(subjects[which], number)
        after = os.times()
        took = after.user + after.system - before.user - before.system
        took -= compile_seconds() - compiled  # loops that no original needs
        os.write(answers, f"{took:.3f} {outcome}"[:1900].encode())
    os._exit(0)


def raised_by_us(error):
    """Whether a `raise` of the package, or of scikit-learn's checks, made an error.

    An operation of NumPy that fails in a line of ours does not count: such errors do not
    say what is wrong with the file.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    code = frame.f_code
    raising = dis.opname[code.co_code[last.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")
    place = Path(code.co_filename).parts
    return raising and ("maxmargin" in place or place[-3:-1] == ("sklearn", "utils"))


def trial(subject, number):
    """Outcome of one mutant in this process."""
    try:
        return subject.use(subject.mutant(np.random.default_rng(number)))
    except OURS as error:
        name = type(error).__name__
        if not str(error):
            return f"BAD: {name} without words"
        if isinstance(
            error, NotFittedError
        ):  # what is missing was to be noticed before
            return f"BAD: {name}: {error}"
        ours = raised_by_us(error)
        return f"{name}: {error}" if ours else f"BAD: {name}, not of ours: {error}"
    except Exception as error:
        return f"BAD: {type(error).__name__}: {error}"
