"""A cluster of machines, through dask.distributed.

Parts of the data are sent to the workers once and stay there. A pass sends w once; each
worker answers for its parts, and the answers are summed on the workers along the fixed
tree, so that one vector comes back.

When a worker dies:

- `ask` and `total` send the data that it held, and its questions, to other workers.
  Answers depend on w and the data alone and a pass is one sum over named spans, so
  nothing is counted twice.
- `call_shards` keeps each shard on one worker. The shards of a dead worker move to
  others with an empty memory, and the question says so in its reply.

A worker without a sign of life for `patience` seconds gets no more work as long as there
are others. When there has been no worker at all for `patience` seconds,
`ClusterGoneError` says what to do.
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

from maxmargin.core.compiled.compiling import workers_compiled
from maxmargin.core.data.arrays import Floats, Ints
from maxmargin.core.data.vector_changes import (
    Change,
    StaleWeightsError,
    Weights,
    add_changes,
    update_of,
)
from maxmargin.core.engine import (
    FAN,
    Add,
    ClusterGoneError,
    D,
    Engine,
    M,
    Question,
    R,
    ShardQuestion,
    Sliceable,
    Span,
    T,
)
from maxmargin.engines import dask_tasks as tasks
from maxmargin.engines.shipment import check_versions, open_shipment, pack

# Weights and parts of the data are sent as arguments of tasks, which the scheduler
# keeps: it can make again what a dead worker held.
LARGE_GRAPHS = dask.config.set(
    {"distributed.admin.large-graph-warning-threshold": "1TB"}
)
# What Dask raises when a part of the cluster fails; other errors come from the oracle.
FAULTS = (
    CancelledError, ClosedClientError, KilledWorker, CommClosedError, OSError,
    AsyncTimeout,
)  # fmt: skip
POLL = 0.5  # seconds between two checks of which workers are alive
TRIES = 20  # faults in one pass before giving up


class DaskEngine(Engine):
    """The engine for several machines.

    Data and answers travel as pickles, which run code when they are opened: whoever
    runs the scheduler, a worker or another client of the cluster must be trusted, and
    must trust you. Use clusters of your own, with TLS (``tls://``) outside your network.

    Parameters
    ----------
    client : distributed.Client or str
        A client, or the address of a scheduler ("tcp://host:8786").
    patience : float
        Seconds to wait for a worker, or for a sign of life of one.
    """

    remote = True

    def __init__(self, client: Any, patience: float = 60.0) -> None:
        super().__init__()
        self._connected_here = isinstance(client, str)
        if not self._connected_here and client.scheduler is None:
            raise ClusterGoneError("the dask client is closed: make a new one")
        self.address = client if self._connected_here else client.scheduler.address
        self.client: Any = (
            _connect(client, patience) if self._connected_here else client
        )
        self.patience = patience
        self._placed: list[tuple[Any, dict[Span | None, Future[Any]]]] = []
        self._owners: dict[tuple[str, Span], str] = {}
        self._versions: dict[str, dict[str, int]] = {}  # of w, by run and worker
        self._ties: dict[tuple[str, str], Future[Any]] = {}  # by run and worker
        self._hung: dict[str, int] = {}  # how often each worker fell silent
        self._everyone: dict[str, int] = {}
        self._seen = -np.inf  # time of the last check
        self._check_versions()
        self.client.subscribe_topic(tasks.COMPILED, _compiled)

    @property
    def workers(self) -> int:
        """Threads of all workers."""
        return max(1, sum(self._alive().values()))

    def map(self, task: Callable[[T], R], chunks: Sequence[T]) -> Iterable[R]:
        """task(chunk) for each chunk, in this process: only shared data are sent."""
        return map(task, chunks)

    def ask(
        self,
        shared_data: D,
        question: Question[D, T, R],
        w: Floats,
        chunks: Sequence[T],
    ) -> Iterable[R]:
        """question(shared_data, w, chunk) for each chunk, several chunks to a task."""
        size = -(-len(chunks) // (4 * self.workers))
        groups = [chunks[s : s + size] for s in range(0, len(chunks), size)]
        futures: list[Future[Any] | None] = [None] * len(groups)

        def submit() -> list[Future[Any]]:
            sent, data = self._send(w), self._ship(shared_data, None)
            for k, group in enumerate(groups):
                if not _good(futures[k]):
                    task = tasks.answers, data, question, sent, group
                    futures[k] = self._submit(*task)
            return [future for future in futures if future is not None]

        for answers in self._retry(submit, futures):
            yield from answers

    def total(
        self,
        shared_data: D,
        question: Question[D, Ints, R],
        add: Add[R],
        w: Floats,
        spans: Sequence[Span],
    ) -> R:
        """question(shared_data, w, ids of the span), summed on the workers."""
        size = FAN if len(spans) >= 2 * FAN * len(self._alive()) else 1
        groups = [spans[s : s + size] for s in range(0, len(spans), size)]
        leaves: list[Future[Any] | None] = [None] * len(groups)

        def submit() -> list[Future[Any]]:
            sent, alive = self._send(w), sorted(self._alive())
            for k, group in enumerate(groups):
                if not _good(leaves[k]):
                    owner = alive[k * len(alive) // len(groups)]
                    data = self._ship(shared_data, (group[0][0], group[-1][1]), owner)
                    task = tasks.group_sum, data, question, add, sent, group
                    leaves[k] = self._submit(*task)
            return [self._tree(add, leaves)]

        total: R = self._retry(submit, leaves)[0]
        return total

    def call_shards(
        self,
        run: str,
        shared_data: Sliceable,
        question: ShardQuestion[M, R],
        weights: Weights,
        shards: Sequence[Span],
        messages: Sequence[M],
    ) -> tuple[Change, list[R]]:
        """question(part of the data, memory, lease of w, message), where the memory is.

        Workers that have the last version of w are sent what is new in it.
        """
        for _ in range(TRIES):
            alive = self._wait_for_workers()
            owners = self._assign_shards(run, shards, alive)
            try:
                futures = self._submit_shards(
                    run, shared_data, question, weights, shards, messages, owners, alive
                )
                self._wait_until(partial(self._done, [f for f, _ in futures]), owners)
                replies = [self._submit(tasks.second, future) for future, _ in futures]
                total = self._sum_changes(futures, len(shards))
                change, *found = self._fetch([total, *replies], owners)
                self._versions[run] = dict.fromkeys(owners, weights.version)
                known = {k: reply for part in found for k, reply in part.items()}
                return change, [known[k] for k in range(len(shards))]
            except (*FAULTS, StaleWeightsError):
                self._versions.pop(run, None)
                self._seen = -np.inf
        raise ClusterGoneError(self._sentence(f"shards failed {TRIES} times in a row"))

    def _submit_shards(
        self,
        run: str,
        shared_data: Sliceable,
        question: Any,
        weights: Weights,
        shards: Sequence[Span],
        messages: Sequence[Any],
        owners: list[str],
        alive: dict[str, int],
    ) -> list[tuple[Future[Any], list[int]]]:
        """A task per thread of the workers, and the shards that it is about."""
        known = self._versions.get(run, {})
        sent: dict[bool, Future[Any]] = {}
        out = []
        for owner in sorted(set(owners), key=owners.index):
            whole = known.get(owner, -1) < weights.version - 1 or weights.news is None
            if whole not in sent:
                sent[whole] = self._send(update_of(weights, whole))
            own = [k for k in range(len(shards)) if owners[k] == owner]
            for some in np.array_split(own, min(alive[owner], len(own))):
                asked = [(int(k), shards[k], messages[k]) for k in some]
                data = [self._ship(shared_data, shards[k], owner) for k in some]
                tie = self._tie(run, owner)
                task = tasks.call_shards, run, tie, question, sent[whole], asked, data
                future = self._submit(*task, len(shards), workers=[owner])
                out.append((future, some.tolist()))
        return out

    def _tie(self, run: str, owner: str) -> Future[Any]:
        """What keeps the memories of a run on a worker, as long as this client lives."""
        if not _good(self._ties.get((run, owner))):
            self._ties[run, owner] = self._submit(tasks.Tie, run, workers=[owner])
        return self._ties[run, owner]

    def _sum_changes(
        self, futures: list[tuple[Future[Any], list[int]]], count: int
    ) -> Future[Any]:
        """The sum of all changes along the fixed tree, formed on the workers."""
        parts = [(self._submit(tasks.first, future), own) for future, own in futures]
        nodes = []
        for start in range(0, count, FAN):
            members = range(start, min(start + FAN, count))
            needed = [part for part, own in parts if not set(own).isdisjoint(members)]
            nodes.append(self._submit(tasks.node, list(members), *needed))
        return self._tree(add_changes, nodes)

    def _assign_shards(
        self, run: str, shards: Sequence[Span], alive: dict[str, int]
    ) -> list[str]:
        """The worker of each shard; shards of dead workers go to the least loaded ones."""
        load = dict.fromkeys(alive, 0)
        for (_, _), owner in self._owners.items():
            if owner in load:
                load[owner] += 1
        if not any(key[0] == run for key in self._owners):  # neighbours together
            slots = [a for a in sorted(alive) for _ in range(alive[a])]
            for k, shard in enumerate(shards):
                self._owners[run, shard] = slots[k * len(slots) // len(shards)]
        out = []
        for shard in shards:
            owner = self._owners.get((run, shard), "")
            if owner not in alive:
                owner = min(load, key=lambda a: (load[a] / alive[a], a))
                load[owner] += 1
                self._owners[run, shard] = owner
            out.append(owner)
        return out

    def end_run(self, run: str) -> None:
        """Forget what the shards of a run keep, without waiting for silent workers."""
        owners = {who for (r, _), who in self._owners.items() if r == run}
        self._owners = {k: v for k, v in self._owners.items() if k[0] != run}
        self._versions.pop(run, None)
        self._ties = {k: v for k, v in self._ties.items() if k[0] != run}
        with suppress(*FAULTS):  # a dead worker keeps nothing
            for owner in sorted(owners & set(self._alive())):
                fire_and_forget(self._submit(tasks.forget, run, workers=[owner]))

    def round_trip(self, w: Floats) -> float:
        """Seconds to send w to all workers and to get one such vector back."""
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
        """Forget what was sent; disconnect, if this engine made the connection."""
        super().close()
        self._placed, self._ties = [], {}
        if self._connected_here:
            self.client.close(timeout=5)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the address of the scheduler."""
        return (DaskEngine, (self.address, self.patience))

    def _tree(self, add: Add[Any], leaves: Sequence[Any]) -> Future[Any]:
        """The sum of futures, formed on the workers."""
        level: list[Future[Any]] = list(leaves)
        while len(level) > 1:
            groups = [level[s : s + FAN] for s in range(0, len(level), FAN)]
            level = [self._submit(tasks.added, add, group) for group in groups]
        return level[0]

    def _retry(
        self, submit: Callable[[], list[Future[Any]]], leaves: list[Future[Any] | None]
    ) -> list[Any]:
        """Results of the futures that `submit` returns; submit again after a fault."""
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

    def _fetch(self, goals: list[Future[Any]], owners: Sequence[str] = ()) -> list[Any]:
        """Results of the goals; a fault if an owner dies while they are on their way."""
        self._wait_until(partial(self._done, goals), owners)
        coming = asyncio.run_coroutine_threadsafe(
            self.client.gather(goals, asynchronous=True),
            self.client.loop.asyncio_loop,
        )
        try:
            self._wait_until(lambda: bool(threads.wait([coming], POLL).done), owners)
            results: list[Any] = coming.result()
            return results
        finally:
            coming.cancel()

    def _wait_until(
        self, ended: Callable[[], bool], owners: Sequence[str] = ()
    ) -> None:
        """Wait; raise when an owner died, a worker fell silent, or none is left."""
        there = time.monotonic()
        while not ended():
            alive = self._alive()
            silent = self._silent() & set(alive)
            if alive and not silent and all(owner in alive for owner in owners):
                there = time.monotonic()
                continue
            self._avoid(silent)
            if silent or alive or time.monotonic() - there > self.patience:
                raise TimeoutError("workers are gone or silent")

    def _done(self, futures: list[Future[Any]]) -> bool:
        """Whether all end within `POLL` seconds."""
        try:
            with self.client.as_current():
                wait(futures, POLL)
        except TimeoutError:
            return False
        return True

    def _silent(self) -> set[str]:
        """Workers whose last sign of life is `patience` older than the newest one."""
        info = self.client.scheduler_info
        many = {"n_workers": -1} if "n_workers" in signature(info).parameters else {}
        workers = info(**many).get("workers", {})  # empty if the scheduler is gone
        seen = {a: float(w.get("last_seen", 0.0)) for a, w in workers.items()}
        newest = max(seen.values(), default=0.0)
        return {a for a, t in seen.items() if newest - t > self.patience}

    def _avoid(self, workers: set[str]) -> None:
        """Prefer the workers that fell silent least often from now on."""
        for address in workers:
            self._hung[address] = self._hung.get(address, 0) + 1
        self._placed = []

    def _alive(self) -> dict[str, int]:
        """Threads of each worker that can be used, checked at most `POLL` seconds ago."""
        now = time.monotonic()
        if self.client.status == "closed":  # it has given up on the scheduler
            return {}
        if now - self._seen > POLL:
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
            time.sleep(POLL)
        return alive

    def _sentence(self, what: str) -> str:
        return (
            f"the cluster at {self.address} went away: {what} (waited "
            f"{self.patience:g} s). Start it again and call fit again; with "
            "checkpoint=path training goes on from the last checkpoint"
        )

    def _submit(self, task: Any, *given: Any, workers: Any = None) -> Future[Any]:
        workers = workers or (list(self._alive()) if self._hung else None)
        future: Future[Any] = self.client.submit(
            task, *given, pure=False, workers=workers
        )
        return future

    def _send(self, w: Any) -> Future[Any]:
        """Put w, or what is new in it, on one worker; the others copy it from there."""
        with LARGE_GRAPHS:
            return self._submit(tasks.same, w)

    def _ship(
        self, shared_data: Any, part: Span | None, owner: str | None = None
    ) -> Future[Any]:
        """A part of the data (None: all) on the cluster; sent at its first use."""
        placed = [futures for known, futures in self._placed if known is shared_data]
        futures = placed[0] if placed else {}
        if not placed:
            self._placed = [*self._placed[-3:], (shared_data, futures)]
        if part is not None and _good(futures.get(part)):
            return futures[part]
        content = shared_data
        if part is not None:
            content = shared_data.slice(*part)
            if content[0] is shared_data:  # cannot be cut: all of it, to everyone
                content, part = shared_data, None
        if not _good(futures.get(part)):
            near: Any = [owner] if part else None  # preferred, not required
            if self._hung:  # a silent worker must not take it over
                near = list(self._alive())
            loose, data = bool(near) and not self._hung, pack(content)
            with LARGE_GRAPHS:
                futures[part] = self.client.submit(
                    open_shipment,
                    data,
                    pure=False,
                    workers=near,
                    allow_other_workers=loose,
                )
        return futures[part]

    def _check_versions(self) -> None:
        def theirs() -> dict[
            str, str
        ]:  # sent by value: the worker may lack the package
            try:
                from maxmargin.engines.shipment import versions
            except ImportError:
                return {}
            return versions()

        for where, found in self.client.run(theirs).items():
            check_versions(found, where)


def _compiled(event: tuple[Any, tuple[str, float]]) -> None:
    """A worker says for how long it has compiled; here it may be this very process."""
    _, (process, seconds) = event
    if process != tasks.PROCESS:
        workers_compiled(seconds)


def _connect(address: str, patience: float) -> Client:
    try:
        return Client(address, timeout=patience, set_as_default=False)
    except OSError as error:
        raise ClusterGoneError(
            f"there is no dask scheduler at {address} ({error}): start one with "
            "`dask scheduler`, and workers with `dask worker ADDRESS`"
        ) from error


def _good(future: Future[Any] | None) -> bool:
    return future is not None and future.status in ("finished", "pending")
