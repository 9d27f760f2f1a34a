"""Work of a request that may take long: so many at once, and so long at most."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from server.inputs import N_, refuse

LONGEST = 60
"""Seconds that reading a table and explaining an answer may take together; or comparing surveys."""
AT_ONCE = 2
"""Works that a process does at once: each takes one core and, at worst, 600 MB."""

_places = BoundedSemaphore(AT_ONCE)


@contextmanager
def take_place(field: str) -> Iterator[None]:
    """A place among those whose work is done now.

    Raises
    ------
    InputError
        503, of this field, if all are taken.
    """
    if not _places.acquire(blocking=False):
        template = N_(
            "cannot be taken at this moment, as too much else is on its way; send it again in a while"
        )
        raise refuse(503, field, template)
    try:
        yield
    finally:
        _places.release()


def limit_time(field: str) -> Callable[[], None]:
    """What work calls at each of its steps: it raises an InputError (413, of this field) once `LONGEST` is over."""
    end = time.monotonic() + LONGEST

    def check() -> None:
        if time.monotonic() > end:
            template = N_(
                "must be worked out in %(limit)d seconds, and was not; a command line has no such limit"
            )
            raise refuse(413, field, template, limit=LONGEST)

    return check
