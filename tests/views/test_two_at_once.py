"""Two who change one survey at the same moment: the second waits, and is then judged by what the first has left.

On PostgreSQL, which lets several write. Each step is forced: the first holds the survey, the second
sends its form and is seen waiting, and only then does the first change something and commit.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from time import sleep
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from server import archives, people
from server.collect import invitation_batches
from server.people import api_tokens, survey_access
from server.store.engines import make_engine, open_session
from server.store.models import ApiToken, Researcher, Survey
from server.study import strata, surveys
from server.study.definitions.definition_reader import parse_definition
from server.web.api.kept_replies import HEADER
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.every_form import CHANGES_NOTHING, FORMS
from tests.support.full_installation import ADMINISTRATOR, EDITOR, OWNER, VIEWER, Scene, invitation, routes

UNKNOWN = "is not known; check the link"


@pytest.fixture
def database_url(postgresql: NewDatabase) -> str:
    """SQLite has one writer at a time by itself."""
    return postgresql(True)


@pytest.fixture
def waiting(database_url: str) -> Iterator[Callable[[Future[TestResponse]], bool]]:
    """Whether a request waits for a lock, once it does or is answered."""
    engine = make_engine(database_url).execution_options(isolation_level="AUTOCOMMIT")
    waits = sa.text(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'"
    )

    def wait(sent: Future[TestResponse]) -> bool:
        with engine.connect() as connection:
            while not sent.done():
                if connection.scalar(waits):
                    return True
                sleep(0.002)
        return False

    yield wait
    engine.dispose()


@pytest.fixture
def meanwhile(
    database_url: str, waiting: Callable[[Future[TestResponse]], bool]
) -> Iterator[Callable[..., TestResponse]]:
    """Sends a form while another transaction holds the survey, or all who administer, and then changes it."""
    engine = make_engine(database_url)
    with ThreadPoolExecutor(1) as pool:

        def send(
            client: FlaskClient,
            path: str,
            form: Mapping[str, Any],
            slug: str | None,
            change: Callable[[Session, Survey | None], object],
        ) -> TestResponse:
            with open_session(engine, writes=True) as session, session.begin():
                survey = None
                if slug is None:
                    people.lock_administrators(session)
                else:
                    survey = survey_access.find(session, slug)
                    assert survey is not None
                    survey_access.lock(session, survey)
                sent = pool.submit(client.post, path, data=dict(form))
                assert waiting(sent), (path, sent.result().status_code)
                change(session, survey)
            answer = sent.result(60)
            answer.close()
            return answer

        yield send
    engine.dispose()


CHANGING = {
    rule: FORMS[rule]
    for rule in FORMS
    if rule not in CHANGES_NOTHING
    and rule.partition(".")[0] not in ("account", "colleagues", "settings", "imports", "programs")
    and rule not in ("editor.create", "joining.accept", "lesson_board.make")
}
"""What changes a survey that is there."""


def delete(session: Session, survey: Survey) -> None:
    archives.delete(session, survey)


def forms(scene: Scene) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Endpoint, person, path and fields of everything that changes a survey, each on a survey of its own."""
    posts = {rule.endpoint: rule for method, rule in routes(scene.app) if method == "POST"}
    for endpoint, (person, fill) in CHANGING.items():
        scene.new_survey()
        form = dict(fill(scene))
        yield endpoint, person, scene.path(posts[endpoint], **form.pop("in path", {})), form


def test_whoever_changes_a_deleted_survey_is_told_that_there_is_none(
    scene: Scene, meanwhile: Callable[..., TestResponse]
) -> None:
    assert len(CHANGING) > 20
    for endpoint, person, path, form in forms(scene):
        answer = meanwhile(scene.people[person], path, form, scene.slug, delete)
        assert (endpoint, answer.status_code) == (endpoint, 404)
        assert UNKNOWN in answer.text, endpoint


def test_whoever_lost_a_role_meanwhile_changes_nothing(
    scene: Scene, meanwhile: Callable[..., TestResponse]
) -> None:
    for endpoint, person, path, form in forms(scene):

        def change(session: Session, survey: Survey, person: str = person) -> None:
            if person == OWNER:
                there = session.get_one(Researcher, scene.numbers[VIEWER])
                people.hand_over(session, survey, there)
            else:
                people.remove_member(session, survey, session.get_one(Researcher, scene.numbers[person]))

        answer = meanwhile(scene.people[person], path, form, scene.slug, change)

        refused = {EDITOR: 404, VIEWER: 404, OWNER: 403}[person]
        assert (endpoint, answer.status_code) == (endpoint, refused)
        with factories.writing(scene.database_url) as session:
            survey = survey_access.find(session, scene.slug)
            assert survey is not None
            expected = scene.numbers[VIEWER] if person == OWNER else scene.numbers[OWNER]
            assert survey.owner_id == expected


def test_whoever_was_shut_out_meanwhile_is_signed_out(
    scene: Scene, meanwhile: Callable[..., TestResponse], database_url: str
) -> None:
    def shut_out(session: Session, _survey: Survey) -> None:
        people.disable(session, session.get_one(Researcher, scene.numbers[EDITOR]))

    path = f"/manage/surveys/{scene.slug}/close"
    answer = meanwhile(scene.people[EDITOR], path, {}, scene.slug, shut_out)

    assert answer.location == "/manage/sign-in"
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, scene.slug)
        assert survey is not None
        assert survey.state == "open"


def draft_survey(scene: Scene) -> str:
    """A draft of the owner's: whose strata may still become branches."""
    slug = factories.draft(scene.database_url, factories.definition())
    factories.settle(scene.database_url, slug, owner_id=scene.numbers[OWNER])
    return slug


def test_no_codes_are_issued_for_a_stratum_that_became_a_branch(
    scene: Scene, meanwhile: Callable[..., TestResponse], database_url: str
) -> None:
    slug = draft_survey(scene)
    factories.plant(database_url, slug, "North")
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        (north,) = strata.tree(session, survey)

    def grow(session: Session, survey: Survey) -> None:
        strata.add_strata(session, survey, strata.parse_lines("North > A"))

    form = {"size": "2", "label": "Class 3B", "stratum": str(north.stratum.id)}
    answer = meanwhile(scene.people[OWNER], f"/manage/surveys/{slug}/invitations", form, slug, grow)

    assert answer.status_code == 422
    assert "without parts of its own" in answer.text
    assert factories.dump(database_url)["invitation_batches"] == []


def test_a_stratum_with_codes_becomes_no_branch(
    scene: Scene, meanwhile: Callable[..., TestResponse], database_url: str
) -> None:
    slug = draft_survey(scene)
    factories.plant(database_url, slug, "North")
    factories.settle(database_url, slug, by_invitation=True)

    def issue(session: Session, survey: Survey) -> None:
        (north,) = strata.tree(session, survey)
        invitation_batches.issue(session, survey, north.stratum, 2, "Class 3B")

    form = {"lines": "North > A", "action": "add"}
    answer = meanwhile(scene.people[OWNER], f"/manage/surveys/{slug}/strata", form, slug, issue)

    assert answer.status_code == 409
    assert "has invitations or may have let responses in" in answer.text


def test_nobody_joins_a_survey_that_changed_hands_or_is_gone(
    scene: Scene, meanwhile: Callable[..., TestResponse]
) -> None:
    def hand_over(session: Session, survey: Survey) -> None:
        people.hand_over(session, survey, session.get_one(Researcher, scene.numbers[EDITOR]))

    for change in (hand_over, delete):
        scene.new_survey()
        path = f"/manage/invitation/{invitation(scene, OWNER, to_survey=True)}"
        answer = meanwhile(scene.people["stranger"], path, {}, scene.slug, change)
        assert answer.status_code == 404
        assert scene.people["stranger"].get(f"/manage/surveys/{scene.slug}").status_code == 404


def test_a_survey_that_goes_while_its_page_is_answered_is_unknown(scene: Scene, database_url: str) -> None:
    """What changes nothing waits for nobody, and finds that there is nothing any more."""
    editor = scene.people[EDITOR]
    engine: sa.Engine = scene.app.extensions["moneda.engine"]

    def delete_survey(_connection: sa.Connection) -> None:
        with factories.writing(database_url) as session:
            survey = survey_access.find(session, scene.slug)
            assert survey is not None
            archives.delete(session, survey)

    sa.event.listen(engine, "rollback", delete_survey, once=True)
    answer = editor.post(f"/manage/surveys/{scene.slug}/simulate", data={"respondents": "10"})

    assert answer.status_code == 404
    assert UNKNOWN in answer.text
    assert editor.get(f"/manage/surveys/{scene.slug}").status_code == 404


def test_two_administrators_do_not_take_each_others_right(
    scene: Scene, meanwhile: Callable[..., TestResponse], database_url: str
) -> None:
    other = factories.account(database_url, "the-other", administrator=True)
    first = scene.numbers[ADMINISTRATOR]

    def unmake(session: Session, _nothing: None) -> None:
        people.allow(session, session.get_one(Researcher, first), administrator=False)

    path = "/manage/colleagues/no-administrator"
    answer = meanwhile(scene.people[ADMINISTRATOR], path, {"person": other}, None, unmake)

    assert answer.status_code == 403
    with factories.writing(database_url) as session:
        assert session.get_one(Researcher, other).administrator


class Program:
    """Sends JSON with a token, where a browser would send a form."""

    def __init__(self, client: FlaskClient, secret: str) -> None:
        self._client = client
        self._secret = secret

    def post(self, path: str, data: Mapping[str, Any]) -> TestResponse:
        headers = {"Authorization": f"Bearer {self._secret}", HEADER: "new"}
        return self._client.post(path, json=data, headers=headers)


def shut_out(session: Session, _survey: Survey | None) -> None:
    owner = session.scalars(sa.select(Researcher).where(Researcher.login == "ana")).one()
    owner.disabled_on = api_tokens.now().date()


def revoke(session: Session, _survey: Survey | None) -> None:
    session.execute(sa.delete(ApiToken))


@pytest.mark.parametrize("change", [shut_out, revoke])
def test_a_token_that_ends_while_its_request_waits_changes_nothing(
    app: Flask, database_url: str, meanwhile: Callable[..., TestResponse], change: Callable[..., None]
) -> None:
    """Also where it is the researcher who is shut out, and where there is no survey yet to wait for."""
    number = factories.account(database_url, "ana", administrator=True)
    with factories.writing(database_url) as session:
        ana = session.get_one(Researcher, number)
        secret = api_tokens.create_token(session, ana, None, "editor", "nightly", "30")
        slug = surveys.create(session, ana, parse_definition(factories.definition())).slug
    before = factories.dump(database_url)
    program = Program(app.test_client(), secret)
    for path, body, of in (
        (f"/api/v1/surveys/{slug}/publish", {}, slug),
        ("/api/v1/surveys", factories.definition(), None),
    ):
        answer = meanwhile(program, path, body, of, change)
        assert (path, answer.status_code) == (path, 401)
        with factories.writing(database_url) as session:
            session.get_one(Researcher, number).disabled_on = None
            if change is revoke:
                ana = session.get_one(Researcher, number)
                secret = api_tokens.create_token(session, ana, None, "editor", "nightly", "30")
                program = Program(app.test_client(), secret)
    after = factories.dump(database_url)
    changed = {name for name in after if after[name] != before[name]}
    assert changed <= {"api_tokens", "researchers"}
