"""Batches: answers go to those who asked, and one bad request spoils no other."""

import asyncio

import pytest

from maxmargin.serve.batching import Batcher, BusyError


def together(batcher, asked):
    """The answers, or errors, of questions that are asked at the same time."""

    async def run():
        worker = asyncio.create_task(batcher.run())
        out = await asyncio.gather(
            *(batcher.ask(q, items) for q, items in asked), return_exceptions=True
        )
        worker.cancel()
        return out

    return asyncio.run(run())


def double(items):
    if "bad" in items:
        raise ValueError("bad")
    return [2 * v for v in items]


def triple(items):
    return [3 * v for v in items]


def test_answers_go_to_those_who_asked():
    batcher = Batcher()
    asked = [(double, [k, k + 1]) for k in range(20)]
    assert together(batcher, asked) == [[2 * k, 2 * k + 2] for k in range(20)]
    assert batcher.batches == 1


def test_a_bad_request_fails_alone():
    found = together(Batcher(), [(double, [1]), (double, ["bad"]), (double, [3])])
    assert found[0] == [2] and found[2] == [6]
    assert isinstance(found[1], ValueError)


def test_different_questions_are_not_mixed():
    batcher = Batcher()
    asked = [(double, [1]), (triple, [1]), (triple, [2]), (double, [2])]
    assert together(batcher, asked) == [[2], [3], [6], [4]]
    assert batcher.batches == 3


def test_batches_have_a_size():
    batcher = Batcher(most=3)
    assert together(batcher, [(double, [k]) for k in range(7)]) == [
        [2 * k] for k in range(7)
    ]
    assert batcher.batches == 3


def test_too_many_are_refused():
    found = together(Batcher(waiting=2), [(double, [k]) for k in range(4)])
    assert [f for f in found if not isinstance(f, BusyError)] == [[0], [2]]
    assert sum(isinstance(f, BusyError) for f in found) == 2


def test_a_client_that_has_gone_is_left_out():
    async def run():
        batcher = Batcher()
        gone = asyncio.ensure_future(batcher.ask(double, [1]))
        await asyncio.sleep(0)
        gone.cancel()
        worker = asyncio.create_task(batcher.run())
        found = await batcher.ask(double, [5])
        worker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        return found, batcher.answered

    assert asyncio.run(run()) == ([10], 1)
