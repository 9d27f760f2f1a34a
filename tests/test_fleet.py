"""Four servers on one PostgreSQL, as on four machines: what one of them has done holds at all the others."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from http.client import HTTPException
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest
import sqlalchemy as sa

from server.people import api_tokens
from server.store.engines import make_engine
from server.store.models import ApiToken, KeptReply, Researcher, State, Survey, Untidied
from server.study import surveys
from server.web.api.kept_replies import HEADER
from tests.conftest import NewDatabase
from tests.support import factories, sample_releases
from tests.support.factories import Published, Served
from tests.support.load_client import post_all
from tests.support.scale import choose_size
from tests.support.sign_in_form import CHANGED, PASSWORD

SERVERS = 4

pytestmark = pytest.mark.scaled


class Fleet:
    """Running servers, one after the other or all at once."""

    def __init__(self, database_url: str, servers: Sequence[Served], log: Path) -> None:
        self.database_url = database_url
        self.servers = servers
        self.log = log
        self._people = ThreadPoolExecutor(4 * SERVERS)

    def kill_two(self) -> None:
        """End two of the four without asking: two machines, or two workers."""
        if self.servers[1] is self.servers[0]:
            for worker in psutil.Process(self.servers[0].process.pid).children()[:2]:
                worker.kill()
            return
        for each in self.servers[:2]:
            os.killpg(each.process.pid, signal.SIGKILL)
            each.process.wait(30)

    def url(self, place: int) -> str:
        """Where one of them is: the next one for the next number."""
        return self.servers[place % len(self.servers)].url

    def enter(self, place: int, password: str, address: str) -> tuple[int, str]:
        """Sign in at one of them, as from an address: status and cookie."""
        form = {"login": "ana", "password": password, "code": ""}
        url = self.url(place) + "/manage/sign-in"
        status, headers, _page = factories.fill_in(url, form, **{"X-Forwarded-For": address})
        return status, str(headers.get("Set-Cookie", "")).partition(";")[0]

    def are_in(self, cookie: str) -> list[bool]:
        """At which of them this cookie is signed in."""
        pages = [factories.ask(each.url + "/manage/surveys", Cookie=cookie) for each in self.servers]
        return [status == 200 for status, _headers, _page in pages]

    def call(
        self, place: int, token: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        """What one of them answers to a program: status and body."""
        url = f"{self.url(place)}/api/v1{path}"
        status, _headers, answer = factories.ask(url, body, Authorization=f"Bearer {token}", **headers)
        return status, json.loads(answer)

    def call_all(
        self, token: str, path: str, bodies: Sequence[object], keys: Sequence[str]
    ) -> list[tuple[int, dict[str, Any]]]:
        """What they answer, in turn, to requests that are made at once, each with its key."""
        calls = enumerate(zip(bodies, keys, strict=True))
        asking = [
            self._people.submit(self.call, place, token, path, body, **{HEADER: key})
            for place, (body, key) in calls
        ]
        return [each.result() for each in asking]

    def post(self, path: str, bodies: Sequence[dict[str, object]]) -> Counter[int]:
        """Respondents at all of them at once; each body goes to two of them."""
        shares = [bodies[start :: len(self.servers)] for start in range(len(self.servers))]
        pairs = [
            *zip(self.servers, shares, strict=True),
            *zip(self.servers, [*shares[1:], shares[0]], strict=True),
        ]
        posting = [
            self._people.submit(lambda url=each.url, share=share: list(post_all(url, path, share)))
            for each, share in pairs
        ]
        return Counter(status for each in posting for status in each.result())


@pytest.fixture(
    scope="module", params=[1, SERVERS][: choose_size(1, 2)], ids=["machines", "workers"][: choose_size(1, 2)]
)
def fleet(
    request: pytest.FixtureRequest, postgresql: NewDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    """Four of them, each as by itself: they have the database, the marks and the key in common, and nothing else.

    Or one with four workers, which answer in no known order.
    """
    workers = request.param
    database_url = postgresql(True)
    factories.account(database_url, "ana", PASSWORD)
    log = tmp_path_factory.mktemp("fleet") / "log"
    with ExitStack() as running, log.open("w") as written:
        servers = [
            running.enter_context(
                factories.serving(database_url, written, workers, MONEDA_TRUSTED_PROXIES="127.0.0.1")
            )
            for _ in range(SERVERS // workers)
        ]
        yield Fleet(database_url, servers * workers, log)
    # Where a connection is cut in the middle of a statement, psycopg says of its pipeline that it could not end it.
    complaints = [line for line in log.read_text().splitlines() if "psycopg a line of another" not in line]
    assert all("Unexpected exit from worker" in line for line in complaints), complaints
    assert len(complaints) in ({0} if workers == 1 else {0, 2})


def publish(fleet: Fleet) -> Published:
    """A published survey of hers."""
    made = factories.publish(fleet.database_url)
    with factories.writing(fleet.database_url) as session:
        ana = session.scalars(sa.select(Researcher.id).where(Researcher.login == "ana")).one()
        sample_releases.find_survey(session, made.slug).owner_id = ana
    return made


def read_column(fleet: Fleet, column: sa.orm.InstrumentedAttribute[Any], survey: Published) -> object:
    """What the database has of a survey."""
    with factories.writing(fleet.database_url) as session:
        return session.scalar(sa.select(column).where(Survey.slug == survey.slug))


@pytest.fixture
def token(fleet: Fleet) -> str:
    """What a program of hers signs in with."""
    with factories.writing(fleet.database_url) as session:
        ana = session.scalars(sa.select(Researcher).where(Researcher.login == "ana")).one()
        session.execute(sa.delete(ApiToken))
        return api_tokens.create_token(session, ana, None, "editor", "nightly", "30")


def test_wrong_sign_ins_are_counted_together(fleet: Fleet, token: str) -> None:
    """As many as one server lets through, in whatever order they are asked; from elsewhere she comes in."""
    statuses = [fleet.enter(place * 7, "wrong", "192.0.2.1")[0] for place in range(90)]
    assert set(statuses) == {403}
    # Wrong tokens of programs count with them.
    headers = {"X-Forwarded-For": "192.0.2.1"}
    answers = [fleet.call(place, "nonsense", "/surveys", None, **headers)[0] for place in range(10)]
    assert set(answers) == {401}
    assert [fleet.enter(place, PASSWORD, "192.0.2.1")[0] for place in range(SERVERS)] == [429] * SERVERS
    assert [fleet.call(place, "more", "/surveys", None, **headers)[0] for place in range(SERVERS)] == [
        429
    ] * SERVERS
    assert fleet.enter(1, PASSWORD, "192.0.2.2")[0] == 303
    assert fleet.call(2, token, "/surveys", None, **headers)[0] == 200


def test_a_sign_in_holds_and_ends_at_all(fleet: Fleet) -> None:
    here, there = [fleet.enter(place, PASSWORD, "192.0.2.3")[1] for place in (0, 1)]
    assert fleet.are_in(here) == fleet.are_in(there) == [True] * SERVERS
    status, _headers, _page = factories.fill_in(fleet.url(2) + "/manage/sign-out", {}, Cookie=there)
    assert status == 303
    assert fleet.are_in(there) == [False] * SERVERS

    there = fleet.enter(3, PASSWORD, "192.0.2.3")[1]
    changed = {"name": "Ana", "login": "ana", "password": CHANGED, "again": CHANGED, "current": PASSWORD}
    assert factories.fill_in(fleet.url(1) + "/manage/account", changed, Cookie=here)[0] == 303
    assert (fleet.are_in(here), fleet.are_in(there)) == ([True] * SERVERS, [False] * SERVERS)
    back = {**changed, "password": PASSWORD, "again": PASSWORD, "current": CHANGED}
    assert factories.fill_in(fleet.url(2) + "/manage/account", back, Cookie=here)[0] == 303


def test_of_one_key_at_all_at_once_one_thing_is_done(fleet: Fleet, token: str) -> None:
    for key in ("one", "two", "three"):
        bodies = [factories.definition(title=key)] * SERVERS
        made = fleet.call_all(token, "/surveys", bodies, [key] * SERVERS)
        assert {status for status, _body in made} == {201}
        assert len({body["slug"] for _status, body in made}) == 1
    with factories.writing(fleet.database_url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(KeptReply)) == 3


def test_a_budget_for_five_pays_for_five(fleet: Fleet, token: str) -> None:
    survey = publish(fleet)
    factories.store(fleet.database_url, survey, [((0, 1), 40)])
    sample_releases.grant(fleet.database_url, survey.slug, "0.5")
    plan = {"format": 1, "division": "given", "items": [{"kind": "count", "epsilon": "0.1", "anew": True}]}
    status, price = fleet.call(0, token, f"/surveys/{survey.slug}/releases/price", plan)
    assert (status, price["epsilon"]) == (200, "0.1")
    payment = {"plan": price["paying"], **{name: price[name] for name in ("epsilon", "delta", "cells")}}

    path, keys = f"/surveys/{survey.slug}/releases", [f"key {place // 2}" for place in range(16)]
    keys = [key.replace(" ", "-") for key in keys]
    paid = fleet.call_all(token, path, [payment] * 16, keys)

    # Each key came twice, at two servers.
    assert len({keys[place] for place, (status, _body) in enumerate(paid) if status < 300}) == 5
    assert all(paid[place][0] == paid[place + 1][0] for place in range(0, 16, 2))
    book = sample_releases.ledger(fleet.database_url, survey.slug)
    assert (len(book.released), book.left) == (5, 0)


def test_what_a_link_shows_has_changed_at_all(fleet: Fleet, token: str) -> None:
    """A change that one has confirmed is what the others show from then on, whatever they have in memory."""
    slug = publish(fleet).slug
    shown: dict[str, set[bytes]] = {"pause": set(), "resume": set()}
    for place in range(2 * SERVERS):
        for change, pages in shown.items():
            assert fleet.call(place, token, f"/surveys/{slug}/{change}", {})[0] == 200
            pages.update(factories.ask(f"{each.url}/s/{slug}")[2] for each in fleet.servers)
    assert [len(pages) for pages in shown.values()] == [1, 1]
    assert shown["pause"] != shown["resume"]


def test_a_closing_time_closes_once(fleet: Fleet) -> None:
    """All of them watch the clock: one closes and tidies, and none has anything to complain of."""
    closing = [publish(fleet) for _ in range(3)]
    for survey in closing:
        assert fleet.post(survey.url, [survey.response([0, 1]) for _ in range(40)]) == {201: 40, 200: 40}
        factories.settle(fleet.database_url, survey.slug, closes_at=surveys.now() + timedelta(seconds=1))
    while not all(read_column(fleet, Survey.tidied_on, survey) for survey in closing):
        time.sleep(0.5)
    assert {read_column(fleet, Survey.state, survey) for survey in closing} == {State.CLOSED}
    with factories.writing(fleet.database_url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Untidied)) == 0
    for survey in closing:
        report = json.loads(factories.run(fleet.database_url, "report", survey.slug, "--json").stdout)
        assert report["n"] == 40


def test_a_cap_and_codes_let_in_as_many_as_there_are(fleet: Fleet) -> None:
    capped = publish(fleet)
    factories.settle(fleet.database_url, capped.slug, cap=100)
    statuses = fleet.post(capped.url, [capped.response([1, 0]) for _ in range(200)])
    assert statuses[201] == 100
    invited = publish(fleet)
    codes = factories.invite(fleet.database_url, invited.slug, 50)
    bodies = [invited.response([1, 0], invitation=code) for code in codes * 2]
    statuses = fleet.post(invited.url, bodies)
    assert statuses[201] == 50


def test_cut_connections_are_replaced(fleet: Fleet) -> None:
    """As by a restart of PostgreSQL: the next who asks notices nothing."""
    survey = publish(fleet)
    engine = make_engine(fleet.database_url)
    with engine.connect() as connection:
        cut = connection.execute(
            sa.text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name = 'moneda serve'"
            )
        ).all()
    engine.dispose()
    assert len(cut) >= SERVERS
    for each in fleet.servers:
        assert factories.ask(each.url + survey.url, survey.response([0, 1]))[0] == 201
        assert factories.ask(f"{each.url}/s/{survey.slug}")[0] == 200


def test_servers_that_do_not_share_their_files_are_refused(fleet: Fleet, tmp_path: Path) -> None:
    """Marks of their own would not notice what others spent; what one key has sealed no other opens."""
    marks = factories.run_forked(fleet.database_url, "serve", MONEDA_MARKS=str(tmp_path / "elsewhere"))
    assert (marks.returncode, "MONEDA_MARKS must be the folder of the other servers" in marks.stderr) == (
        2,
        True,
    )
    key = factories.run_forked(fleet.database_url, "serve", MONEDA_SECRETS_KEY=str(tmp_path / "own.key"))
    assert (key.returncode, "MONEDA_SECRETS_KEY must name a file with the key" in key.stderr) == (2, True)


def test_what_two_that_were_killed_leave_is_counted_right(fleet: Fleet) -> None:
    """The last test of the file: two of four are gone after it. What was acknowledged is there, and counted once."""
    survey = publish(fleet)
    acknowledged: set[bytes] = set()
    enough = Event()

    def post(place: int) -> None:
        """Respondents at one server, one after the other, until it is gone or all have been there."""
        for number in range(200):
            body = survey.response([number % 2, 1])
            try:
                status, _headers, _answer = factories.ask(fleet.url(place) + survey.url, body)
            except (OSError, HTTPException):
                return
            assert status == 201
            acknowledged.add(factories.stored_id(body))
            if len(acknowledged) > 100:
                enough.set()

    with ThreadPoolExecutor(2 * SERVERS) as people:
        posting = [people.submit(post, place) for place in range(2 * SERVERS)]
        assert enough.wait(120)
        fleet.kill_two()
        for posted in posting:
            posted.result()

    stored = {bytes(row[0]) for row in factories.list_responses(fleet.database_url)}  # type: ignore[call-overload]
    factories.settle(fleet.database_url, survey.slug, closes_at=surveys.now())
    while not read_column(fleet, Survey.tidied_on, survey):
        time.sleep(0.5)
    assert acknowledged <= stored
    report = json.loads(factories.run(fleet.database_url, "report", survey.slug, "--json").stdout)
    # Beyond those, only what was under way when the two died.
    assert len(acknowledged) <= report["n"] <= len(acknowledged) + SERVERS
    checked = factories.run(fleet.database_url, "check")
    assert checked.exit_code == 0, checked.output
