"""A cluster, by way of dask.distributed.

Parts of the data go to the workers once and stay there. A pass sends w out once;
each worker answers for its parts, and the answers are added on the workers along the
fixed tree, so that one vector comes back.

Faults. Answers of `ask` and `total` depend on w and the data alone: when a worker dies
what it held is sent again and what it owed is asked again; nothing is counted twice,
because a pass is one sum over named parts. A worker that gives no sign of life
for `patience` seconds is not asked any more while there are better ones. `visit` pins each
shard to a worker; if that one dies the shard moves, with an empty memory, and the
question says so in its reply.
When no worker is left for `patience` seconds, `ClusterGoneError` says what to do.
"""

from __future__ import annotations

import asyncio
import time
from asyncio import TimeoutError as AsyncTimeout
from collections.abc import Callable, Iterable, Sequence
from concurrent import futures as threads
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from inspect import signature
from typing import Any

import dask.config
import numpy as np
from distributed import Client, Future, KilledWorker, fire_and_forget, wait
from distributed.client import ClosedClientError
from distributed.comm.core import CommClosedError

from maxmargin.core.arrays import Floats
from maxmargin.core.engine import (
    FAN,
    Add,
    Call,
    ClusterGoneError,
    Engine,
    Question,
    R,
    Span,
    T,
)
from maxmargin.engines import dask_tasks as tasks
from maxmargin.engines.shipment import check_versions, opened, pack, versions

# Weights and parts of the data are sent as arguments of tasks, which the scheduler
# remembers: what a dead worker held is made again without us.
LARGE_GRAPHS = dask.config.set(
    {"distributed.admin.large-graph-warning-threshold": "1TB"}
)
# What a cluster throws when a part of it fails; all else comes from the oracle.
FAULTS = (
    CancelledError, ClosedClientError, KilledWorker, CommClosedError, OSError,
    AsyncTimeout,
)  # fmt: skip
LOOK = 0.5  # seconds between two looks at who is alive
TRIES = 20  # faults in one pass before we give up


class DaskEngine(Engine):
    """The engine for many machines.

    Parameters
    ----------
    client : distributed.Client or str
        A client, or the address of a scheduler ("tcp://host:8786").
    patience : float
        Seconds without a worker, or without a sign of life of one, that are waited for.
    """

    remote = True

    def __init__(self, client: Any, patience: float = 60.0) -> None:
        super().__init__()
        self._own = isinstance(client, str)
        self.address = client if self._own else client.scheduler.address
        self.client: Any = _connect(client, patience) if self._own else client
        self.patience = patience
        self._placed: list[tuple[Any, dict[Span | None, Future]]] = []
        self._owners: dict[tuple[str, Span], str] = {}
        self._hung: dict[str, int] = {}  # how often workers fell silent
        self._everyone: dict[str, int] = {}
        self._seen = -np.inf  # when we last looked who is there
        self._check_versions()

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Threads of all workers."""
        return max(1, sum(self._alive().values()))

    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> Iterable[R]:
        """task(chunk) for each chunk, here: what has no home is not sent."""
        return map(task, chunks)

    def ask(
        self, home: Any, question: Question, w: Floats, chunks: Sequence[Any]
    ) -> Iterable[Any]:
        """question(home, w, chunk) for each chunk, several chunks to a task."""
        size = -(-len(chunks) // (4 * self.workers))
        groups = [chunks[s : s + size] for s in range(0, len(chunks), size)]
        futures: list[Future | None] = [None] * len(groups)

        def submit() -> list[Future]:
            sent, parcel = self._send(w), self._parcel(home, None)
            for k, group in enumerate(groups):
                if not _good(futures[k]):
                    task = tasks.answers, parcel, question, sent, group
                    futures[k] = self._submit(*task)
            return list(futures)  # type: ignore[arg-type]

        for answers in self._insist(submit, futures):
            yield from answers

    def total(
        self, home: Any, question: Question, add: Add, w: Floats, parts: Sequence[Span]
    ) -> Any:
        """question(home, w, ids of the part), added up on the workers."""
        size = FAN if len(parts) >= 2 * FAN * len(self._alive()) else 1
        groups = [parts[s : s + size] for s in range(0, len(parts), size)]
        leaves: list[Future | None] = [None] * len(groups)

        def submit() -> list[Future]:
            sent, alive = self._send(w), sorted(self._alive())
            for k, group in enumerate(groups):
                if not _good(leaves[k]):
                    owner = alive[k * len(alive) // len(groups)]
                    parcel = self._parcel(home, (group[0][0], group[-1][1]), owner)
                    task = tasks.group_sum, parcel, question, add, sent, group
                    leaves[k] = self._submit(*task)
            return [self._tree(add, leaves)]

        return self._insist(submit, leaves)[0]

    def visit(
        self,
        run: str,
        home: Any,
        question: Call,
        w: Floats,
        shards: Sequence[Span],
        messages: Sequence[Any],
    ) -> tuple[Floats, list[Any]]:
        """question(part of home, memory, w, message) where the memory is."""
        for _ in range(TRIES):
            alive = self._wait_for_workers()
            owners = self._settle(run, shards, alive)
            try:
                sent, futures = self._send(w), []
                for k, shard in enumerate(shards):
                    parcel = self._parcel(home, shard, owners[k])
                    task = tasks.visit, parcel, run, question, sent, shard, messages[k]
                    futures.append(self._submit(*task, workers=[owners[k]]))
                self._watch(partial(self._done, futures), owners)
                replies = [self._submit(tasks.second, future) for future in futures]
                vector = self._tree(
                    np.add, [self._submit(tasks.first, f) for f in futures]
                )
                total, *found = self._fetch([vector, *replies], owners)
                return total, found
            except FAULTS:
                self._seen = -np.inf
        raise ClusterGoneError(self._sentence(f"shards failed {TRIES} times in a row"))

    def _settle(
        self, run: str, shards: Sequence[Span], alive: dict[str, int]
    ) -> list[str]:
        """The worker of each shard; those of dead ones go to the least burdened."""
        load = dict.fromkeys(alive, 0)
        for (_, _), owner in self._owners.items():
            if owner in load:
                load[owner] += 1
        out = []
        for shard in shards:
            owner = self._owners.get((run, shard), "")
            if owner not in alive:
                owner = min(load, key=lambda a: (load[a] / alive[a], a))
                load[owner] += 1
                self._owners[run, shard] = owner
            out.append(owner)
        return out

    def leave(self, run: str) -> None:
        """Forget the memories of a run, without waiting for a worker that is silent."""
        owners = {who for (r, _), who in self._owners.items() if r == run}
        self._owners = {k: v for k, v in self._owners.items() if k[0] != run}
        with suppress(*FAULTS):  # who is gone has forgotten
            for owner in sorted(owners & set(self._alive())):
                fire_and_forget(self._submit(tasks.forget, run, workers=[owner]))

    def round_trip(self, w: Floats) -> float:
        """Seconds to send w to every worker and to get one such vector back."""
        clock = []
        for _ in range(3):
            start = time.perf_counter()
            sent = self._send(w)
            copies = [
                self._submit(tasks.same, sent, workers=[a]) for a in self._alive()
            ]
            with self.client.as_current():
                wait(copies, self.patience)
            copies[0].result()
            clock.append(time.perf_counter() - start)
        return min(clock)

    def close(self) -> None:
        """Forget what was sent; disconnect, if the connection is ours."""
        super().close()
        self._placed = []
        if self._own:
            self.client.close(timeout=5)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the address of the scheduler."""
        return (DaskEngine, (self.address, self.patience))

    def _tree(self, add: Add, leaves: Sequence[Any]) -> Future:
        """The sum of futures, formed on the workers."""
        level = list(leaves)
        while len(level) > 1:
            groups = [level[s : s + FAN] for s in range(0, len(level), FAN)]
            level = [self._submit(tasks.added, add, group) for group in groups]
        return level[0]

    def _insist(
        self, submit: Callable[[], list[Future]], leaves: list[Future | None]
    ) -> list[Any]:
        """Results of the futures that `submit` returns, faults or not."""
        for _ in range(TRIES):
            self._wait_for_workers()
            try:
                return self._fetch(submit())
            except FAULTS:
                self._seen = -np.inf
                for k, future in enumerate(leaves):
                    if future is not None and future.status != "finished":
                        future.cancel()
                        leaves[k] = None
        raise ClusterGoneError(self._sentence(f"a pass failed {TRIES} times in a row"))

    def _fetch(self, goals: list[Future], owners: Sequence[str] = ()) -> list[Any]:
        """Results of the goals; an owner may also die while they are on their way."""
        self._watch(partial(self._done, goals), owners)
        coming = asyncio.run_coroutine_threadsafe(
            self.client.gather(goals, asynchronous=True),
            self.client.loop.asyncio_loop,
        )
        try:
            self._watch(lambda: bool(threads.wait([coming], LOOK).done), owners)
            return coming.result()
        finally:
            coming.cancel()

    def _watch(self, ended: Callable[[], bool], owners: Sequence[str] = ()) -> None:
        """Wait; a fault when an owner died, a worker fell silent, or none is left."""
        there = time.monotonic()
        while not ended():
            alive = self._alive()
            silent = self._silent() & set(alive)
            if alive and not silent and all(owner in alive for owner in owners):
                there = time.monotonic()
                continue
            self._shun(silent)
            if silent or alive or time.monotonic() - there > self.patience:
                raise TimeoutError("workers are gone or silent")

    def _done(self, futures: list[Future]) -> bool:
        """Whether all have ended, or do so within `LOOK` seconds."""
        try:
            with self.client.as_current():
                wait(futures, LOOK)
        except TimeoutError:
            return False
        return True

    def _silent(self) -> set[str]:
        """Workers whose last sign of life is `patience` older than the newest one."""
        info = self.client.scheduler_info
        many = {"n_workers": -1} if "n_workers" in signature(info).parameters else {}
        workers = info(**many).get("workers", {})  # none: the scheduler is gone
        seen = {a: float(w.get("last_seen", 0.0)) for a, w in workers.items()}
        newest = max(seen.values(), default=0.0)
        return {a for a, t in seen.items() if newest - t > self.patience}

    def _shun(self, workers: set[str]) -> None:
        """From now on ask those that fell silent least often."""
        for address in workers:
            self._hung[address] = self._hung.get(address, 0) + 1
        self._placed = []

    def _alive(self) -> dict[str, int]:
        """Threads of each worker that we can use, at most `LOOK` seconds old."""
        now = time.monotonic()
        if self.client.status == "closed":  # it gave the scheduler up
            return {}
        if now - self._seen > LOOK:
            try:
                self._everyone = dict(self.client.nthreads())
                self._seen = now
            except (*FAULTS, RuntimeError):  # RuntimeError: the client is closing
                return {}
        everyone = self._everyone
        least = min((self._hung.get(a, 0) for a in everyone), default=0)
        return {a: t for a, t in everyone.items() if self._hung.get(a, 0) == least}

    def _wait_for_workers(self) -> dict[str, int]:
        start = time.monotonic()
        while not (alive := self._alive()):
            if time.monotonic() - start > self.patience:
                raise ClusterGoneError(self._sentence("no worker is left"))
            time.sleep(LOOK)
        return alive

    def _sentence(self, what: str) -> str:
        return (
            f"the cluster at {self.address} went away: {what} (waited "
            f"{self.patience:g} s). Start it again and call fit again; with "
            "checkpoint=path training goes on from the last checkpoint"
        )

    def _submit(self, task: Any, *given: Any, workers: Any = None) -> Future:
        workers = workers or (list(self._alive()) if self._hung else None)
        return self.client.submit(task, *given, pure=False, workers=workers)

    def _send(self, w: Floats) -> Future:
        """W on one worker; the others take it from there and from each other."""
        with LARGE_GRAPHS:
            return self._submit(tasks.same, w)

    def _parcel(self, home: Any, part: Span | None, owner: str | None = None) -> Future:
        """The part (None: all of it) on the cluster; sent at its first use."""
        placed = [futures for known, futures in self._placed if known is home]
        futures = placed[0] if placed else {}
        if not placed:
            self._placed = [*self._placed[-3:], (home, futures)]
        content = home
        if part is not None:
            content = home.slice(*part)
            if content[0] is home:  # cannot be cut: all of it, to everyone
                content, part = home, None
        if not _good(futures.get(part)):
            near: Any = [owner] if part else None  # better there, but not only
            if self._hung:  # nobody who is silent may steal it
                near = list(self._alive())
            loose, data = bool(near) and not self._hung, pack(content)
            with LARGE_GRAPHS:
                futures[part] = self.client.submit(
                    opened, data, pure=False, workers=near, allow_other_workers=loose
                )
        return futures[part]

    def _check_versions(self) -> None:
        def theirs() -> dict[str, str]:  # by value: the worker may not know us
            try:
                from maxmargin.engines.shipment import versions
            except ImportError:
                return {}
            return versions()

        assert versions()
        for where, found in self.client.run(theirs).items():
            check_versions(found, where)


def _connect(address: str, patience: float) -> Client:
    try:
        return Client(address, timeout=patience, set_as_default=False)
    except OSError as error:
        raise ClusterGoneError(
            f"there is no dask scheduler at {address} ({error}): start one with "
            "`dask scheduler`, and workers with `dask worker ADDRESS`"
        ) from error


def _good(future: Future | None) -> bool:
    return future is not None and future.status in ("finished", "pending")
