"""The whole audit: everything shipped, everything published and wrong, on all cores."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache

from server.privacy.auditing import published_errors, shipped
from server.privacy.auditing.cases import Case, Verdict, judge
from server.releases.claims import question_cases, release_cases, search_cases


def list_shipped_cases() -> list[Case]:
    """What the library and the pages and commands run."""
    return [*shipped.cases(), *question_cases.cases(), *release_cases.cases(), *search_cases.cases()]


def cases() -> list[Case]:
    """What is tried, in the order of the table: shipped first."""
    return [*list_shipped_cases(), *published_errors.cases()]


def judge_all(begin: Callable[[], None]) -> Iterator[Verdict]:
    """Try every case; yields in the order of the table.

    Parameters
    ----------
    begin : callable
        What each process does first: there are as many as cores, four at most.
    """
    # Fresh processes: a forked copy of a process with threads may hang. Noise is dealt in them, not here.
    context = multiprocessing.get_context("spawn")
    number = min(4, os.cpu_count() or 1)
    others = multiprocessing.active_children()
    with ProcessPoolExecutor(number, mp_context=context, initializer=begin) as pool:
        try:
            yield from pool.map(_judge, range(len(cases())))
        except BaseException:
            # With Ctrl-C too: nobody waits for trials that nobody will look at.
            for process in multiprocessing.active_children():
                if process not in others:
                    process.kill()
            raise


def _judge(index: int) -> Verdict:
    return judge(_kept_cases()[index])


@cache
def _kept_cases() -> list[Case]:
    """The table of this process: making it takes as long as many a trial."""
    return cases()
