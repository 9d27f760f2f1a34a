"""Those who are answered together and come back are a group again, however long it takes to answer them."""

import asyncio
import statistics
import time
from collections.abc import Sequence
from threading import Thread

from server.web.front.group_commits import CROWD, Groups

CLIENTS = 16
ROUNDS = 40


def list_sizes(slow: float) -> list[int]:
    """Sizes of groups where as many clients come back as soon as all of them were answered, each in so many seconds."""
    sizes: list[int] = []

    def work(items: Sequence[int]) -> Sequence[int]:
        sizes.append(len(items))
        time.sleep(0.001)  # as a disk does
        return items

    async def client(groups: Groups[int, int], number: int) -> None:
        for _ in range(ROUNDS):
            assert await groups.submit(number) == number
            time.sleep(slow)  # nobody else is answered meanwhile
            await asyncio.sleep(0)

    async def run() -> None:
        groups: Groups[int, int] = Groups(work, size=256, places=256, patience=5.0)
        await asyncio.gather(*(client(groups, number) for number in range(CLIENTS)))
        groups.close()

    thread = Thread(target=lambda: asyncio.run(run()))
    thread.start()
    thread.join()
    assert sum(sizes) == CLIENTS * ROUNDS
    return sizes


def test_those_who_come_back_are_one_group() -> None:
    assert statistics.median(list_sizes(0.0)) == CLIENTS


def test_those_who_are_answered_slowly_are_one_group() -> None:
    """Answering all takes longer than the queue is given to grow."""
    assert statistics.median(list_sizes(0.0005)) == CLIENTS


def test_those_who_come_back_are_not_sent_away_for_a_group_that_took_long() -> None:
    """It has ended when they come; while others gather nobody waits for it."""
    patience = 0.5
    slow: list[int] = []
    answered: list[int] = []

    def work(items: Sequence[int]) -> Sequence[int]:
        if len(items) >= CROWD and not slow:
            slow.append(len(items))
            time.sleep(1.2 * patience)
        return items

    async def client(groups: Groups[int, int], number: int) -> None:
        answered.extend([await groups.submit(number), await groups.submit(number)])

    async def run() -> None:
        groups: Groups[int, int] = Groups(work, size=256, places=256, patience=patience)
        await asyncio.gather(*(client(groups, number) for number in range(CLIENTS)))
        groups.close()

    thread = Thread(target=lambda: asyncio.run(run()))
    thread.start()
    thread.join()
    assert len(slow) == 1
    assert sorted(answered) == sorted(2 * [*range(CLIENTS)])
