"""A process that stores responses until somebody ends it.

Run as `python -m tests.support.endless_writers URL VERSION LINK...`: it says "ready" once its first are stored.
"""

import secrets
import sys
from datetime import datetime
from typing import NoReturn

import sqlalchemy as sa

from server.collect import responses
from server.collect.responses import Arrival
from server.collect.submissions import Submission
from server.store.engines import make_engine

MOMENT = datetime(2026, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times


def write(database_url: str, version: str, links: list[str]) -> NoReturn:
    """Store groups of 1 to 40 responses of a survey with two questions, each by any of the links."""
    engine = make_engine(database_url).execution_options(moneda_writes=True)
    _store_group(engine, version, links)
    print("ready", flush=True)
    while True:
        _store_group(engine, version, links)


def _store_group(engine: sa.Engine, version: str, links: list[str]) -> None:
    group = [
        Arrival(secrets.choice(links), Submission(secrets.token_bytes(16), version, bytes([k % 2, 0])))
        for k in range(1 + secrets.randbelow(40))
    ]
    with engine.begin() as connection:
        responses.accept_all(connection, group, MOMENT, responses.Links())


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], sys.argv[3:])
