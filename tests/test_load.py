"""Many respondents at once, on the served process."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from time import perf_counter

import pytest

from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import list_responses
from tests.support.load_client import post_all

CLIENTS = 32
RESPONSES = 5_000
YES = (2_000, 2_500)
"""How many of the responses report "yes" to each of the two questions."""


def test_5000_responses_from_32_clients_are_all_stored_once(new_database: NewDatabase) -> None:
    database_url = new_database(True)
    survey = factories.publish(database_url)
    bodies = [survey.response([int(k < YES[0]), k % 2]) for k in range(RESPONSES)]
    # Every tenth is sent a second time, and by another client: the next one in turn.
    shares = [bodies[client::CLIENTS] for client in range(CLIENTS)]
    shares = [[*share, *shares[client - 1][::10]] for client, share in enumerate(shares)]
    # The other way round, so that both copies of many are under way at the same moment.
    shares = [share if client % 2 else share[::-1] for client, share in enumerate(shares)]
    sent = sum(map(len, shares))
    assert sent >= RESPONSES * 1.1

    with factories.serving(database_url) as served, ThreadPoolExecutor(CLIENTS) as clients:
        started = perf_counter()
        statuses = Counter(
            chain.from_iterable(
                clients.map(lambda share: list(post_all(served.url, survey.url, share)), shares)
            )
        )
        print(
            f"{sent / (perf_counter() - started):.0f} responses a second, on {database_url.partition(':')[0]}"
        )

    # A response that somebody was sent away with may be stored all the same, and be known when it comes again.
    assert statuses.total() == sent
    assert statuses.keys() <= {200, 201}
    assert statuses[201] <= RESPONSES
    rows = list_responses(database_url)
    assert {bytes(row[0]) for row in rows} == {factories.stored_id(body) for body in bodies}  # type: ignore[call-overload]
    assert len(rows) == RESPONSES
    reports = [bytes(row[2]) for row in rows]  # type: ignore[call-overload]
    assert tuple(sum(report[question] for report in reports) for question in range(2)) == YES

    report = json.loads(factories.run(database_url, "report", survey.slug, "--json").stdout)
    shares = [question["estimate"]["shares"][1] for question in report["questions"]]
    # (0.4 - 0.25) / (0.75 - 0.25) and (0.5 - 0.4) / (0.6 - 0.4); gamma 1/10 is rounded to a multiple of 2**-32.
    assert shares == pytest.approx([0.3, 0.5], abs=1e-8)
    assert report["n"] == RESPONSES
