"""Whatever strangers send to what takes JSON of respondents, nothing breaks, and what is refused leaves no trace.

Bodies are those of a browser, with one thing or several altered, and such as no browser makes; sent by links of surveys
in every state, and by links that are none.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from server.config import Config
from tests.conftest import NewDatabase
from tests.support import completion_claims, factories, ticket_buyers
from tests.support.cached_dump import CachedDump, Copied
from tests.support.factories import Published
from tests.support.front_client import create_app
from tests.support.odd_inputs import odd_values
from tests.support.scale import choose_size
from tests.support.withdrawal_lists import list_of

pytestmark = pytest.mark.scaled

ADDRESSES = ("responses", "code.json", "ticket.json", "completion.json", "receipt.json", "withdrawal.json")
EACH = choose_size(30, -(-40_000 // len(ADDRESSES)))
"""Bodies sent to each address: 40,000 in all where they are many."""
BLINDED = b"\4" * 256
"""A number below every modulus."""
KINDS = ["application/json", "application/json; charset=utf-8", "Application/JSON", "text/plain", ""]


@dataclass
class Target:
    """An installation, what is known of it, and how often each address answered with each status."""

    client: FlaskClient
    database_url: str
    database: CachedDump
    surveys: Mapping[str, Published]
    codes: Mapping[str, list[str]]
    seen: Counter[tuple[str, int]] = field(default_factory=Counter)
    number: int = 0

    def make_body(self, name: str, address: str, place: int) -> dict[str, object]:
        """What a browser sends there, of a few people: so the site soon knows their responses, and some codes."""
        survey, code = self.surveys[name], [*self.codes.get(name, []), *["0" * 16] * 11][place % 11]
        receipt = f"{place % 10:032x}" if name != "completed" else hashlib.sha256(BLINDED).hexdigest()[:32]
        blinded = ticket_buyers.write_text(BLINDED)
        bodies: dict[str, dict[str, object]] = {
            "responses": survey.response(id=receipt) | ({"invitation": code} if name == "invited" else {}),
            "code.json": {"invitation": code},
            "ticket.json": {"invitation": code, "blinded": blinded},
            "completion.json": {"blinded": blinded},
        }
        return bodies.get(address, {"receipt": receipt})

    def send(self, name: str, address: str, body: bytes, kind: str) -> int:
        """The status of an answer; each body comes from an address of its own, so that no limit hides the rest."""
        self.number += 1
        parts = divmod(self.number, 250)
        sender = {"REMOTE_ADDR": f"9.{parts[0] % 250}.{parts[1]}.9"}
        slug = self.surveys[name].slug if name in self.surveys else name
        before = self.read()
        answer = self.client.post(
            f"/s/{slug}/{address}", data=body, content_type=kind or None, environ_base=sender
        )
        self.seen[address, answer.status_code] += 1
        assert_nothing_is_left(answer.status_code, before, self.read())
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.is_json
        return answer.status_code

    def read(self) -> tuple[Copied, bytes]:
        """What is stored, in the database and beside it."""
        beside = list_of(self.database_url)
        return self.database.read(), beside.read_bytes() if beside.exists() else b""


def assert_nothing_is_left(status: int, before: object, after: object) -> None:
    """Nothing broke, and a refusal changed nothing."""
    assert status < 500
    assert status < 400 or before == after


@pytest.fixture(scope="module")
def target(sqlite: NewDatabase) -> Iterator[Target]:
    """Surveys in every state."""
    database_url = sqlite(True)
    plain = {name: factories.publish(database_url) for name in ("open", "invited", "paused", "closed")}
    codes = {name: factories.invite(database_url, plain[name].slug, 9) for name in ("invited", "closed")}
    factories.settle(database_url, plain["paused"].slug, paused=True)
    factories.close(database_url, plain["closed"].slug)
    ticketed, _links = ticket_buyers.publish(database_url)
    codes["ticketed"] = factories.invite(database_url, ticketed.slug, 9)
    completed = completion_claims.publish(database_url)
    app = create_app(Config(database_url=database_url))
    with closing(CachedDump(database_url)) as database:
        surveys = {**plain, "ticketed": ticketed, "completed": completed}
        yield Target(app.test_client(), database_url, database, surveys, codes)
    app.extensions["moneda.engine"].dispose()


LINKS = ["open", "invited", "paused", "closed", "ticketed", "completed", "unknown", "%00", "a" * 500, "é"]
RAW = st.binary(max_size=40) | st.sampled_from(
    [b"", b"[" * 3000, b"\xff\xfe{", b"{" + b'"a":1,' * 900, b"nan"]
)


@st.composite
def alterations(draw: st.DrawFn) -> tuple[set[str], dict[str, Any]]:
    """Which fields of a body are left out, and what stands in others."""
    fields = ["id", "version", "reports", "invitation", "work", "ticket", "blinded", "receipt"]
    gone = draw(st.sets(st.sampled_from(fields), max_size=2))
    odd = draw(st.dictionaries(st.sampled_from([*fields, "", "more", "\x00"]), odd_values, max_size=2))
    return gone, odd


@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_that_a_stranger_sends_breaks_anything(target: Target, address: str) -> None:
    @given(
        name=st.sampled_from(LINKS),
        place=st.integers(0, 30),
        altered=st.just((set[str](), dict[str, Any]())) | alterations(),
        raw=st.none() | st.none() | st.none() | RAW,
        kind=st.sampled_from(["application/json"] * 6 + KINDS),
    )
    @settings(max_examples=EACH, database=None)
    def send(
        name: str, place: int, altered: tuple[set[str], dict[str, Any]], raw: bytes | None, kind: str
    ) -> None:
        known = name if name in target.surveys else "open"
        gone, odd = altered
        whole = target.make_body(known, address, place)
        body = {key: value for key, value in whole.items() if key not in gone} | odd
        target.send(name, address, json.dumps(body).encode() if raw is None else raw, kind)

    send()
    statuses = {status for asked, status in target.seen if asked == address}
    assert statuses & {400, 404, 410, 422}
    # What nobody altered is taken: such bodies are not refused before they are read.
    names = {"ticket.json": "ticketed", "code.json": "ticketed", "completion.json": "completed"}
    name = names.get(address, "open")
    for asked in ("responses", address) if address == "completion.json" else (address,):
        whole = json.dumps(target.make_body(name, asked, 8)).encode()
        assert target.send(name, asked, whole, "application/json") in (200, 201)


def test_a_refusal_that_changes_something_and_what_breaks_are_noticed(target: Target) -> None:
    """The twin."""
    before = target.read()
    target.client.post(target.surveys["open"].url, json=target.surveys["open"].response())
    after = target.read()
    assert_nothing_is_left(201, before, after)
    for status in (422, 500):
        with pytest.raises(AssertionError):
            assert_nothing_is_left(status, before, after)
