"""Nothing that anybody sees or downloads changes by fewer responses than the survey's minimum: an attack.

Random surveys are answered, some of the responses are taken back, and both are looked at in random order, by every exit
over HTTP and on the command line, until they are closed and after that; then all pairs of looks are compared
(`observers.find_told`).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from ipaddress import IPv4Address

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from server.collect import batches
from server.collect.batches.cells import cell_id
from server.collect.batches.removing import take_out
from server.people import survey_access
from server.store.models import State, Stratum
from tests.support import factories
from tests.support.observers import Looker, find_told
from tests.support.sample_releases import grant
from tests.support.scale import choose_size

MINIMUM = 3
"""The smallest that a survey may have."""
TREES = ("", "A\nB\nC", "North > A\nNorth > B\nSouth > C\nSouth > D\nE")
DAY = date(2026, 5, 1)


@dataclass
class Study:
    """A survey, its links, and codes that nobody has used yet."""

    client: FlaskClient
    database_url: str
    published: factories.Published
    links: list[str]
    weights: list[int]
    random: random.Random
    codes: dict[str, list[str]] = field(default_factory=dict)
    receipts: list[tuple[str, object]] = field(default_factory=list)
    unused: list[int] = field(default_factory=list)
    numbers: dict[str, str] = field(default_factory=dict)
    versions: int = 1

    @property
    def slug(self) -> str:
        """The name of the survey for good, which is its own link."""
        return self.published.slug

    def respond(self) -> None:
        """Somebody answers, by some link."""
        (link,) = self.random.choices(self.links, self.weights)
        # Each reports what nobody else does: so rows that are equal are of one person.
        number = self.unused.pop()
        body = self.published.response(
            [number >> place & 1 for place in range(len(self.published.definition["questions"]))]
        )
        if self.codes:
            body["invitation"] = self.codes[link].pop()
        answer = self._send(link, "responses", body)
        assert answer.status_code == 201, answer.text
        self.receipts.append((link, body["id"]))

    def key_in(self, number: int) -> None:
        """Somebody keys sheets of paper in, for some link that asks for no code."""
        (link,) = self.random.choices(self.links, self.weights)
        count = len(self.published.definition["questions"])
        numbers = [self.unused.pop() for _ in range(number)]
        lines = ["".join("BA"[each >> place & 1] for place in range(count)) for each in numbers]
        form = {
            "version": str(self.versions),
            "batch": f"{self.random.randrange(1 << 128):032x}",
            "stratum": self.numbers.get(link, ""),
            "sheets": "\n".join(lines),
        }
        answer = self.client.post(f"/manage/surveys/{self.slug}/paper", data=form)
        assert answer.status_code == 303, answer.text

    def take_back(self) -> None:
        """Somebody who answered takes it back."""
        link, receipt = self.receipts.pop(self.random.randrange(len(self.receipts)))
        answer = self._send(link, "withdrawal.json", {"receipt": receipt})
        assert answer.json == {"status": "absent"}, answer.text

    def _send(self, link: str, name: str, body: object) -> TestResponse:
        # Of each study from another address: what comes often from one waits, or is sent away.
        number = self.published.definition["title"].removeprefix("Study ")
        address = str(IPv4Address("10.0.0.0") + int(number))
        return self.client.post(f"/s/{link}/{name}", json=body, environ_base={"REMOTE_ADDR": address})

    def publish_again(self) -> None:
        """A second version; what one question asks is another thing now."""
        first, *others = self.published.definition["questions"]
        changed = [first, *others[:-1], {**others[-1], "text": "Something else?"}]
        document = {**self.published.definition, "questions": changed}
        self.published = factories.publish(self.database_url, document, self.published.slug)
        self.versions += 1


def study(client: FlaskClient, database_url: str, seed: int) -> Study:
    """A random survey: with strata or not, by invitation or not. Some links are hardly used."""
    draw = random.Random(seed)
    # Eight coins, so that the strings of reports can all be different, as in a survey of some length.
    document = factories.definition([0.25] * 8, title=f"Study {seed}")
    published = factories.publish(database_url, document, minimum=MINIMUM)
    tree = draw.choice(TREES)
    paths = factories.plant(database_url, published.slug, tree) if tree else {}
    leaves = [
        slug for path, slug in paths.items() if not any(other.startswith(f"{path} >") for other in paths)
    ]
    links = [published.slug, *leaves]
    weights = [draw.choice((0, 1, 1, 8, 20)) for _ in links[:-1]] + [20]
    if draw.random() < 0.5:
        grant(database_url, published.slug, neighbours=draw.choice(("unbounded", "bounded")))
    made = Study(client, database_url, published, links, weights, draw)
    made.unused = draw.sample(range(1 << len(document["questions"])), 1 << len(document["questions"]))
    with factories.writing(database_url) as session:
        made.numbers = {each.slug: str(each.id) for each in session.scalars(sa.select(Stratum))}
    if draw.random() < 0.3:
        made.codes = {link: factories.invite(database_url, published.slug, 60, link) for link in links}
    return made


def attack(client: FlaskClient, database_url: str, seed: int) -> list[str]:
    """What a random schedule of answers and looks tells of a few."""
    made = study(client, database_url, seed)
    on_paper = not made.codes and made.random.random() < 0.7
    draw, slug = made.random, made.published.slug
    looker = Looker(client, database_url, slug, draw)
    looker.look(is_open=True)
    again = draw.randrange(2, 5) if draw.random() < 0.4 else 0
    for turn in range(1, draw.randrange(3, 6)):
        if turn == again:
            made.publish_again()
            looker.versions = 2
        for _ in range(draw.choice((1, 1, 2, 4, 9))):
            made.respond()
        if on_paper and (number := draw.choice((0, 1, 4, 9))):
            made.key_in(number)
        for _ in range(min(draw.choice((0, 0, 1, 1, 2, 5)), len(made.receipts))):
            made.take_back()
        looker.look(is_open=True)
    if draw.random() < 0.8:
        assert client.post(f"/manage/surveys/{slug}/close").status_code == 303
        looker.look(is_open=False)
    return list(find_told(looker.looks, MINIMUM))


@pytest.mark.scaled
def test_no_two_looks_tell_of_fewer_responses_than_the_minimum(
    signed_in: FlaskClient, database_url: str
) -> None:
    """1,000 schedules in `make test-long`, half of them on each kind of database."""
    found = {seed: attack(signed_in, database_url, seed) for seed in range(choose_size(3, 500))}

    assert {seed: lines for seed, lines in found.items() if lines} == {}


def store(
    database_url: str, survey: factories.Published, rows: Sequence[Sequence[int]], minimum: int
) -> None:
    """Enter responses into the books as if the survey had this minimum."""
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        assert found.current is not None
        group = batches.Group(minimum, [bytes(row) for row in rows], {DAY: len(rows)})
        batches.count(session.connection(), {found.id: len(rows)})
        key = batches.CellKey(found.current.id, None)
        batches.add(session.connection(), found.id, {key: group})


def test_a_reader_who_counts_everything_is_caught(signed_in: FlaskClient, database_url: str) -> None:
    """The twin: every response is shown at once, as if each were counted where it is stored."""
    survey = factories.publish(database_url, factories.definition([0.25] * 8), minimum=MINIMUM)
    draw = random.Random(1)
    looker = Looker(signed_in, database_url, survey.slug, draw)
    for number in (4, 1):
        store(database_url, survey, [[draw.randrange(2) for _ in range(8)] for _ in range(number)], 1)
        looker.look(is_open=True)

    found = list(find_told(looker.looks, MINIMUM))

    assert any("stand alone" in line for line in found)
    assert {f"('{place}',): 4 becomes 5" for place in ("n", "listed", "collected")} <= set(found)


def test_what_is_taken_out_at_once_is_caught(signed_in: FlaskClient, database_url: str) -> None:
    """The twin: what is taken back leaves its batch at once, and without another batch beside it."""
    survey = factories.publish(database_url, factories.definition([0.25] * 8), minimum=MINIMUM)
    draw = random.Random(1)
    looker = Looker(signed_in, database_url, survey.slug, draw)
    rows = [[draw.randrange(2) for _ in range(8)] for _ in range(MINIMUM + 1)]
    store(database_url, survey, rows, 1)
    looker.look(is_open=True)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        assert found.current is not None
        cell = cell_id(batches.CellKey(found.current.id, None))
        take_out(session.connection(), found.id, cell, {bytes(rows[0]): 1}, 8)
    looker.look(is_open=True)

    assert any("falls by 1" in line for line in find_told(looker.looks, MINIMUM))


def test_a_remainder_that_closing_shows_is_caught(signed_in: FlaskClient, database_url: str) -> None:
    """The twin: batches have the minimum, nothing is held back, and closing shows a remainder of one all the same."""
    survey = factories.publish(database_url, factories.definition([0.25] * 8), minimum=MINIMUM)
    draw = random.Random(1)
    looker = Looker(signed_in, database_url, survey.slug, draw)
    rows = [[draw.randrange(2) for _ in range(8)] for _ in range(MINIMUM + 1)]
    store(database_url, survey, rows[:MINIMUM], 1)
    store(database_url, survey, rows[MINIMUM:], MINIMUM)
    looker.look(is_open=True)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        batches.seal_all(session.connection(), found.id, DAY, 1)
        found.state = State.CLOSED
    looker.look(is_open=False)

    assert any("1 responses to version 1 stand alone" in line for line in find_told(looker.looks, MINIMUM))
