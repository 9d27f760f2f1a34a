"""Too many responses from one address are asked to come later; nobody's are lost, and nothing of it is kept."""

import gc
import time
from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from server.config import Config
from server.people.throttling import find_client
from server.web.front import address_memory, arrival_limits
from server.web.front.address_memory import AddressMemory
from server.web.front.arrival_limits import AT_ONCE, KEPT, ArrivalLimit
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.front_client import create_app

ADDRESS, OTHER = "9.9.9.9", "8.8.8.8"
CLASSES = 15


@pytest.fixture
def behind_a_proxy(sqlite: NewDatabase) -> Iterator[tuple[Flask, str]]:
    """The site behind a proxy on its own machine."""
    database_url = sqlite(True)
    app = create_app(Config(database_url=database_url, proxies=(ip_network("127.0.0.1"),)))
    yield app, database_url
    app.extensions["moneda.engine"].dispose()


def test_who_sends_too_much_is_asked_to_wait_and_loses_nothing(behind_a_proxy: tuple[Flask, str]) -> None:
    """Fifteen classes at once behind one address are let in; then one response a second. The page obeys Retry-After."""
    app, database_url = behind_a_proxy
    survey = factories.publish(database_url)
    client = app.test_client()

    def send(body: dict[str, object], address: str) -> TestResponse:
        return client.post(survey.url, json=body, headers={"X-Forwarded-For": address})

    known, late = survey.response([0, 1]), survey.response([1, 0])
    assert AT_ONCE == CLASSES * 40
    assert {send(known, ADDRESS).status_code for _ in range(AT_ONCE)} == {200, 201}
    refused = send(late, ADDRESS)
    while refused.status_code != 429:  # as long as it took, so many more may come
        late = survey.response([1, 0])
        refused = send(late, ADDRESS)
    assert refused.headers["Retry-After"] == "1"
    assert refused.json == {
        "error": {
            "field": "responses",
            "message": "came too often from this address; send the same again after 1 s",
        }
    }
    # What would not be stored anyhow is refused for what it is, and counts for nobody.
    assert send({"id": "0"}, ADDRESS).status_code == 422
    assert send(known, OTHER).status_code == 200
    # Who comes by Tor, or by a proxy that is not named, has an address of this machine or network.
    for shared in ("127.0.0.1", "10.0.0.7", "192.168.1.1", "fd00::1", "100.64.0.9"):
        assert {send(known, shared).status_code for _ in range(3)} == {200}
    time.sleep(1)
    assert send(late, ADDRESS).status_code == 201


@pytest.mark.parametrize("written", ["%s", "%s:4433", " ::ffff:%s", "[::ffff:%s]:4433", "8.8.8.8, %s:1"])
def test_an_address_is_known_however_a_proxy_writes_it(written: str) -> None:
    proxies = [ip_network("127.0.0.1")]
    assert find_client("127.0.0.1", (written % ADDRESS).split(","), proxies) == ADDRESS


def test_local_addresses_are_never_counted() -> None:
    limit = ArrivalLimit(1)
    for shared in ("127.0.0.1", "10.0.0.7", "192.168.1.1", "fd00::/64", "None", ""):
        assert [limit.find_delay(shared) for _ in range(2 * AT_ONCE)] == [0] * (2 * AT_ONCE)


def test_processes_share_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Together they let in what one would, at once and afterwards."""
    now = 0.0
    monkeypatch.setattr(arrival_limits, "monotonic", lambda: now)
    for processes in (1, 4, 64):
        now = 0.0
        limits = [ArrivalLimit(processes) for _ in range(processes)]

        def let_in(limits: list[ArrivalLimit] = limits, tries: int = AT_ONCE // processes + 70) -> int:
            return sum(limit.find_delay(ADDRESS) == 0 for limit in limits for _ in range(tries))

        assert AT_ONCE - processes < let_in() <= AT_ONCE
        assert let_in() == 0
        now = 60.0
        assert 60 - processes <= let_in() <= 60 + processes


def test_an_address_is_hashed_and_forgotten_within_the_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    for module in (arrival_limits, address_memory):
        monkeypatch.setattr(module, "monotonic", lambda: now)
    limit = ArrivalLimit(1)
    assert [limit.find_delay(ADDRESS) for _ in range(AT_ONCE)] == [0] * AT_ONCE
    assert limit.find_delay(ADDRESS) == 1
    held = vars(limit.memory.recall())
    assert ADDRESS not in repr(held)
    (hashed,) = held["values"]
    now = KEPT
    assert KEPT < 3600
    assert limit.find_delay(OTHER) == 0
    assert hashed not in limit.memory.recall().values
    assert len(limit.memory.recall().values) == 1
    # Under the new salt the same address has another name.
    assert limit.find_delay(ADDRESS) == 0
    assert hashed not in limit.memory.recall().values
    # However many come, no more are kept.
    monkeypatch.setattr(address_memory, "MOST", 20)
    for number in range(50):
        assert limit.find_delay(f"9.9.{number}.9") == 0
    assert len(limit.memory.recall().values) <= 20


def test_what_is_known_of_addresses_is_forgotten_also_where_nobody_comes_any_more(
    monkeypatch: pytest.MonkeyPatch, sqlite: NewDatabase
) -> None:
    """By the job of the process, whatever is counted by it: all that this process remembers is looked at."""
    now = 0.0
    for module in (arrival_limits, address_memory):
        monkeypatch.setattr(module, "monotonic", lambda: now)
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    (code,) = factories.invite(database_url, survey.slug, 1)
    before = find_memories()
    app = create_app(Config(database_url=database_url))
    client = app.test_client()
    for path, body in {
        "responses": survey.response(),
        "code.json": {"invitation": code},
        "receipt.json": {"receipt": "0" * 32},
        "completion.json": {"blinded": "A" * 342},
    }.items():
        sent = {"json": body, "environ_base": {"REMOTE_ADDR": ADDRESS}}
        assert client.post(f"/s/{survey.slug}/{path}", **sent).status_code < 429
    memories = [memory for memory in find_memories() if memory not in before]
    kept = [vars(memory)["_current"] for memory in memories]
    assert [len(each.values) for each in kept] == [1] * 4
    housekeeper = app.extensions["moneda.housekeeper"]
    for elapsed, gone in ((0.0, 0), (600.0, 1), (3600.0, 4)):
        now = elapsed
        housekeeper.start()
        housekeeper.stop()
        left = [vars(memory)["_current"] for memory in memories]
        assert sum(each not in left for each in kept) == gone
    assert [dict(each.values) for each in left] == [{}] * 4
    app.extensions["moneda.engine"].dispose()


def find_memories() -> list[AddressMemory[object]]:
    """Every one that this process has."""
    return [each for each in gc.get_objects() if isinstance(each, AddressMemory)]
