"""Waiting requests are put to the model together.

One question runs at a time, in a thread beside the event loop. While it runs, further
requests wait; those that want predictions are then answered by one call of the model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Answer = Callable[[list[Any]], list[Any]]


class BusyError(Exception):
    """Too many requests are waiting."""


@dataclass
class Job:
    """The inputs of one request, the question, and where the answers go."""

    question: Answer
    items: list[Any]
    future: asyncio.Future[list[Any]]


class Batcher:
    """Puts requests to a model, one batch at a time.

    Parameters
    ----------
    most : int
        Inputs in one batch, unless a single request has more.
    waiting : int
        Requests that may wait; more are refused with `BusyError`.
    """

    def __init__(self, most: int = 256, waiting: int = 1000) -> None:
        self.most = most
        self._jobs: asyncio.Queue[Job] = asyncio.Queue(waiting)
        self._held: Job | None = None  # taken from the queue, for the next batch
        self.batches = self.answered = 0

    async def ask(self, question: Answer, items: list[Any]) -> list[Any]:
        """The answers to some inputs, one per input."""
        job = Job(question, items, asyncio.get_running_loop().create_future())
        try:
            self._jobs.put_nowait(job)
        except asyncio.QueueFull:
            raise BusyError from None
        return await job.future

    async def run(self) -> None:
        """Answer until cancelled."""
        while True:
            batch = await self._next_batch()
            await self._answer([job for job in batch if not job.future.done()])

    async def _next_batch(self) -> list[Job]:
        """The next job, and those behind it that ask the same, up to `most` inputs."""
        first = self._held or await self._jobs.get()
        self._held = None
        batch, size = [first], len(first.items)
        while not self._jobs.empty():
            job = self._jobs.get_nowait()
            if job.question != first.question or size + len(job.items) > self.most:
                self._held = job
                break
            batch.append(job)
            size += len(job.items)
        return batch

    async def _answer(self, jobs: list[Job]) -> None:
        """One call for all of them; if it fails, one call each, so that none suffers."""
        if not jobs:
            return
        items = [item for job in jobs for item in job.items]
        self.batches += 1
        try:
            answers = await asyncio.to_thread(jobs[0].question, items)
        except asyncio.CancelledError:
            for job in jobs:
                job.future.cancel()
            raise
        except Exception as error:
            if len(jobs) > 1:
                for job in jobs:
                    await self._answer([job])
            elif not jobs[0].future.done():
                jobs[0].future.set_exception(error)
            return
        at = 0
        for job in jobs:
            some = answers[at : at + len(job.items)]
            at += len(job.items)
            self.answered += 1
            if not job.future.done():  # the client may have given up
                job.future.set_result(some)
