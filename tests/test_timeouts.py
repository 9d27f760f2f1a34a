"""Waits that end after a while: those that are over, only those, and in the task that waits."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any, TypeVar

import pytest

from server.web.front.timeouts import STEP, Deadlines, Timeouts

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it in a thread of its own: the browser's tests leave a loop behind that runs in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def test_a_wait_ends_when_its_time_is_over_and_not_before() -> None:
    async def wait() -> float:
        timeouts, begun = Timeouts(), monotonic()
        with pytest.raises(TimeoutError), timeouts.after(STEP / 2):
            await asyncio.Event().wait()
        await asyncio.sleep(0)  # the task goes on; nothing of the cancelling is left
        assert not asyncio.current_task().cancelling()  # type: ignore[union-attr]
        return monotonic() - begun

    assert run(wait()) >= STEP / 2


def test_others_wait_on_and_what_is_ready_in_time_is_taken() -> None:
    async def wait() -> tuple[list[object], int]:
        timeouts = Timeouts()

        async def one(seconds: float, until: asyncio.Future[str]) -> str:
            with timeouts.after(seconds):
                return await until

        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in range(3)]
        tasks = [asyncio.ensure_future(one(s, f)) for s, f in zip((0, 60, 60), futures, strict=True)]
        await asyncio.wait(tasks[:1])
        still = sum(not each.done() for each in tasks)
        for each in futures[1:]:
            each.set_result("ready")
        return await asyncio.gather(*tasks, return_exceptions=True), still

    outcomes, still = run(wait())

    assert [type(outcome) for outcome in outcomes] == [TimeoutError, str, str]
    assert still == 2


def test_who_cancels_a_task_that_waits_cancels_it() -> None:
    async def wait() -> None:
        timeouts = Timeouts()

        async def one() -> None:
            with timeouts.after(0):
                await asyncio.Event().wait()

        task = asyncio.ensure_future(one())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(wait())


def test_futures_end_when_their_time_is_over_and_those_that_are_ready_are_left_alone() -> None:
    async def wait() -> tuple[list[object], float]:
        deadlines, begun = Deadlines(STEP * 2, TimeoutError), monotonic()
        futures = [asyncio.get_running_loop().create_future() for _ in range(3)]
        for future in futures:
            deadlines.begin(future)
        futures[0].set_result("ready")
        futures[2].cancel()
        outcomes = await asyncio.gather(*futures, return_exceptions=True)
        return outcomes, monotonic() - begun

    outcomes, seconds = run(wait())

    assert [type(outcome) for outcome in outcomes] == [str, TimeoutError, asyncio.CancelledError]
    assert seconds >= STEP * 2


def test_nothing_is_looked_at_while_nothing_waits() -> None:
    async def wait() -> list[object]:
        timeouts, ready = Timeouts(), asyncio.get_running_loop().create_future()
        with timeouts.after(60):
            pass
        Deadlines(60, TimeoutError).begin(ready)
        ready.set_result(None)
        await asyncio.sleep(STEP * 2)
        # A loop without timers has nothing of its own to wake up for.
        return list(asyncio.get_running_loop()._scheduled)  # type: ignore[attr-defined]

    assert run(wait()) == []
