"""An acknowledged response survives kill -9, and is there once."""

import os
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from threading import Event

from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, Served, list_responses

CLIENTS = 8
ENOUGH = 200
"""Acknowledged responses after which the server is killed."""


def _post_until_killed(
    served: Served, survey: Published, acknowledged: list[dict[str, object]], enough: Event
) -> None:
    """Post one response after the other until the connection breaks; keep what was acknowledged."""
    while True:
        body = survey.response([1, 0])
        try:
            status, _headers, _answer = factories.ask(served.url + survey.url, body)
        except (OSError, HTTPException):
            return
        assert status == 201
        acknowledged.append(body)
        if len(acknowledged) >= ENOUGH:
            enough.set()


def test_acknowledged_responses_survive_kill_9(new_database: NewDatabase) -> None:
    database_url = new_database(True)
    survey = factories.publish(database_url)
    acknowledged: list[dict[str, object]] = []
    enough = Event()
    with factories.serving(database_url) as served, ThreadPoolExecutor(CLIENTS) as clients:
        posting = [
            clients.submit(_post_until_killed, served, survey, acknowledged, enough) for _ in range(CLIENTS)
        ]
        assert enough.wait(120)
        os.killpg(served.process.pid, signal.SIGKILL)
        served.process.wait(30)
        for client in posting:
            client.result()

    with factories.serving(database_url) as served:
        retries = [factories.ask(served.url + survey.url, body)[0] for body in acknowledged[-20:]]

    ids = Counter(bytes(row[0]).hex() for row in list_responses(database_url))  # type: ignore[call-overload]
    assert {factories.stored_id(body).hex() for body in acknowledged} <= ids.keys()
    assert set(ids.values()) == {1}
    assert set(retries) == {200}
    # Beyond those, only what was under way when the server died: at most one for each client.
    assert len(ids) <= len(acknowledged) + CLIENTS
