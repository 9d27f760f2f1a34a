"""What respondents load comes from memory, and is never older than the last change: two servers beside bare Flask."""

import gzip
import random
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask, Response, request
from flask.testing import FlaskClient

from server import archives
from server.config import Config
from server.inputs import InputError
from server.people import survey_access
from server.store.models import Stratum
from server.study import surveys
from server.web.app import create_app as create_wsgi_app
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published
from tests.support.front_client import create_app
from tests.support.scale import choose_size

CHANGES = choose_size(8, 12)
"""Each kind of change, and some again."""
LANGUAGES = ({}, {"Accept-Language": "es"})


class Study:
    """A survey that somebody keeps changing."""

    def __init__(self, database_url: str, seed: int) -> None:
        self.database_url = database_url
        self.random = random.Random(seed)
        self.survey = factories.publish(database_url)
        self.links = [
            self.survey.slug,
            *factories.plant(database_url, self.survey.slug, "North\nSouth").values(),
        ]
        self.versions = 1

    def settle(self, **settings: object) -> None:
        """Set something that its settings hold."""
        factories.settle(self.database_url, self.survey.slug, **settings)

    def publish(self) -> None:
        """A new version of it."""
        self.versions += 1
        document = factories.definition(title=f"Exams {self.versions}")
        with suppress(InputError):  # once its closing time has come it stays closed
            self.survey = factories.publish(self.database_url, document, self.survey.slug)

    def pause(self) -> None:
        """Pause it, or go on."""
        self.settle(paused=self.random.random() < 0.5)

    def invite(self) -> None:
        """Ask for codes, or for none."""
        self.settle(by_invitation=self.random.random() < 0.5)

    def invite_some(self) -> None:
        """Let a stratum be open, or by invitation, or as the survey."""
        with factories.writing(self.database_url) as session:
            parts = session.scalars(sa.select(Stratum)).all()
            self.random.choice(parts).by_invitation = self.random.choice([None, False, True])

    def hand_round(self) -> None:
        """A tablet may be handed round, or no more."""
        self.settle(tablet=self.random.random() < 0.5)

    def divide(self) -> None:
        """A stratum more."""
        name = f"Part {self.random.randrange(10**6)}"
        self.links = [self.survey.slug, *factories.plant(self.database_url, self.survey.slug, name).values()]

    def let_time_pass(self) -> None:
        """A moment of opening or of closing that passes while it is looked at."""
        soon = surveys.now() + timedelta(seconds=0.3)
        which = self.random.choice(["opens_at", "closes_at"])
        self.settle(**{"opens_at": None, "closes_at": None, which: soon})

    def take_back_times(self) -> None:
        """No times any more."""
        self.settle(opens_at=None, closes_at=None)

    def limit(self) -> None:
        """A cap that a single response fills, or none."""
        number = len(factories.list_responses(self.database_url))
        self.settle(cap=self.random.choice([None, number + 1]))

    @property
    def changes(self) -> list[Callable[[], None]]:
        """All that can happen to an open survey, but responses."""
        return [
            self.publish,
            self.pause,
            self.invite,
            self.invite_some,
            self.hand_round,
            self.divide,
            self.let_time_pass,
            self.take_back_times,
            self.limit,
        ]


NAMES = ("survey.json", "screens", "how", "tablet")


def _differences(study: Study, fronts: list[FlaskClient], bare: FlaskClient) -> list[str]:
    """Addresses at which a front does not answer what Flask answers now; each is asked twice."""
    found = []
    for link in study.links:
        for path in (f"/s/{link}", *(f"/s/{link}/{name}" for name in NAMES)):
            for language in LANGUAGES:
                expected = bare.get(path, headers=language)
                for front in (*fronts, *fronts):
                    answer = front.get(path, headers=language)
                    if (answer.status_code, answer.data) != (expected.status_code, expected.data):
                        found.append(path)
    return found


@pytest.mark.scaled
@pytest.mark.parametrize("seed", range(choose_size(1, 20)))
def test_no_page_is_older_than_the_last_change(database_url: str, seed: int) -> None:
    study = Study(database_url, seed)
    bare = create_wsgi_app(Config(database_url=database_url)).test_client()
    fronts = [create_app(Config(database_url=database_url)).test_client() for _ in range(2)]
    happened = []
    every = study.random.sample(study.changes, len(study.changes))
    more = study.random.choices(study.changes, k=CHANGES - len(every))
    for number, change in enumerate([*every, *more]):
        change()
        happened.append(change.__name__)
        if change == study.let_time_pass:
            _differences(study, fronts, bare)  # both fronts keep what holds until then
            time.sleep(0.4)
        assert _differences(study, fronts, bare) == [], happened
        body = study.survey.response()
        fronts[number % 2].post(study.survey.url, json=body)
        assert _differences(study, fronts, bare) == [], [*happened, "a response"]
    factories.close(database_url, study.survey.slug)
    assert _differences(study, fronts, bare) == []
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, study.survey.slug)
        assert survey is not None
        archives.delete(session, survey)
    assert _differences(study, fronts, bare) == []
    assert fronts[0].get(f"/s/{study.survey.slug}").status_code == 404
    for client in (*fronts, bare):
        client.application.extensions["moneda.engine"].dispose()


def test_a_page_is_made_once_for_all_that_ask(sqlite: NewDatabase) -> None:
    """Two times: once to learn which survey it is of, and once to keep."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    app = create_app(Config(database_url=database_url))
    made = _count_made(app)
    client = app.test_client()
    answers = {client.get(f"/s/{survey.slug}", query_string={"x": k}).data for k in range(20)}
    assert (len(answers), made) == (1, [f"/s/{survey.slug}"] * 2)
    app.extensions["moneda.engine"].dispose()


def _count_made(app: Flask) -> list[str]:
    made: list[str] = []

    @app.after_request
    def note(response: Response) -> Response:
        made.append(request.path)
        return response

    return made


def test_what_is_kept_depends_on_nothing_else_of_the_request(client: FlaskClient, survey: Published) -> None:
    """A cookie, an address, a query, a header: none of them is in what the next respondent gets."""
    plain = [client.get(f"/s/{survey.slug}").data for _ in range(3)][-1]
    client.set_cookie("moneda_sign_in", "of somebody", path="/")
    odd = client.get(
        f"/s/{survey.slug}?lang=en&utm_source=mail&x=%22%3E",
        headers={"Host": "elsewhere.example", "User-Agent": "Somebody", "X-Forwarded-For": "203.0.113.7"},
    )
    assert odd.data == plain
    assert "Set-Cookie" not in odd.headers


def test_pages_are_compressed_once_and_head_has_no_body(client: FlaskClient, survey: Published) -> None:
    path = f"/s/{survey.slug}"
    packed = client.get(path, headers={"Accept-Encoding": "gzip"})
    plain = client.get(path)
    head = client.head(path)
    assert gzip.decompress(packed.data) == plain.data
    assert (head.data, head.headers["Content-Length"]) == (b"", str(len(plain.data)))
