"""An import in parts: nobody waits for it, nobody sees a part of it, and what died on its way is cleared away."""

import io
import signal
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from server.archives import arriving
from server.inputs import InputError
from server.store.engines import make_engine, open_session
from server.store.models import Survey
from server.store.own_tables import invitations_of
from server.study import surveys
from tests.support import factories, sample_archives
from tests.support.factories import Published, Rows
from tests.support.forked_servers import ForkedServer
from tests.support.interrupted_imports import bring

ROWS = 1_200
PARTS = 3
"""So many parts are stored of them, after one look at all of them."""
CHECKED = 1

HELD = ("surveys", "survey_versions", "responses", "invitations", "cells", "batches", "strata", "drafts")


def make_archive(client: FlaskClient, database_url: str, codes: int = 0) -> tuple[bytes, Published]:
    """The archive of a closed survey with many responses, or of an open one with invitations; the survey."""
    survey = factories.publish(database_url)
    reports = [(first, second) for first in (0, 1) for second in (0, 1)]
    factories.store(database_url, survey, [(each, ROWS // 4) for each in reports])
    factories.settle(database_url, survey.slug, minimum=3)  # none waits, also of an open one
    if codes:
        factories.invite(database_url, survey.slug, codes)
        return sample_archives.pack(database_url, survey.slug), survey  # a closed one takes no codes along
    factories.close(database_url, survey.slug)
    factories.keep_house(client.application)
    return sample_archives.export(client, survey.slug), survey


def kill_at(database_url: str, folder: Path, body: bytes, told: int) -> None:
    """Import it in a process that is killed when it is told for the nth time."""
    path = folder / "survey.zip"
    path.write_bytes(body)
    command, environment = [database_url, str(path), str(told)], factories.environment(database_url)
    killed = ForkedServer(command, environment, module="tests.support.interrupted_imports")
    killed.communicate(120)
    assert killed.returncode == -signal.SIGKILL


def list_held(database_url: str) -> Rows:
    return {name: rows for name, rows in factories.dump(database_url).items() if name in HELD}


def arriving_slugs(database_url: str) -> list[str]:
    with factories.writing(database_url) as session:
        links = sa.select(Survey.slug).where(Survey.arriving_until.is_not(None))
        return list(session.scalars(links))


@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_what_dies_on_its_way_is_seen_by_nobody_and_removed(
    signed_in: FlaskClient, database_url: str, tmp_path: Path, part: int
) -> None:
    body, survey = make_archive(signed_in, database_url)
    before, listed = list_held(database_url), signed_in.get("/manage").text
    recounted = factories.run(database_url, "recount", "--json").stdout

    kill_at(database_url, tmp_path, body, CHECKED + part)

    (slug,) = arriving_slugs(database_url)
    assert len(list_held(database_url)["responses"]) > ROWS  # some of it is there
    assert signed_in.get("/manage").text == listed
    assert factories.run(database_url, "recount", "--json").stdout == recounted
    for path in (f"/s/{slug}", f"/s/{slug}/survey.json", f"/manage/surveys/{slug}", f"/r/{slug}"):
        assert signed_in.get(path).status_code == 404
    assert signed_in.post(f"/s/{slug}/responses", json=survey.response()).status_code == 404
    assert factories.run(database_url, "results", slug).exit_code != 0

    engine = make_engine(database_url)
    with open_session(engine, writes=True) as session, session.begin():
        arriving.give_up_late(session, surveys.now())
    assert arriving_slugs(database_url) == [slug]  # it might still be coming
    with open_session(engine, writes=True) as session, session.begin():
        session.execute(sa.update(Survey).where(Survey.slug == slug).values(arriving_until=surveys.now()))
    engine.dispose()
    factories.keep_house(signed_in.application)
    assert list_held(database_url) == before

    assert sample_archives.send(signed_in, body).status_code == 201  # nothing is in its way


def test_others_send_while_an_import_is_under_way(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    body, _survey = make_archive(signed_in, database_url)
    statuses: list[int] = []

    def send(_told: int) -> None:
        statuses.append(signed_in.post(survey.url, json=survey.response()).status_code)

    slug = bring(database_url, io.BytesIO(body), send)

    assert statuses == [201] * (CHECKED + PARTS)
    report = signed_in.get(f"/manage/surveys/{slug}/report.json").json
    assert report is not None
    assert report["n"] == ROWS


@pytest.mark.parametrize("new_database", ["sqlite"], indirect=True)
def test_an_import_in_one_transaction_would_keep_them_waiting(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    body, _survey = make_archive(signed_in, database_url)
    statuses: list[int] = []

    def send(told: int) -> None:
        if told == CHECKED + 1:
            statuses.append(signed_in.post(survey.url, json=survey.response()).status_code)

    bring(database_url, io.BytesIO(body), send, turns=False)

    assert statuses == [503]


def test_a_mistake_on_the_way_leaves_nothing(signed_in: FlaskClient, database_url: str) -> None:
    body, _survey = make_archive(signed_in, database_url)
    before = list_held(database_url)

    def fail(told: int) -> None:
        if told == CHECKED + 2:
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        bring(database_url, io.BytesIO(body), fail)

    factories.keep_house(signed_in.application)
    assert list_held(database_url) == before


def test_what_was_given_up_does_not_come_back(signed_in: FlaskClient, database_url: str) -> None:
    body, _survey = make_archive(signed_in, database_url)
    before = list_held(database_url)

    def clear_away(told: int) -> None:
        if told == CHECKED + 2:
            with factories.writing(database_url) as session:
                arriving.give_up_late(session, surveys.now() + 2 * arriving.PATIENCE)

    with pytest.raises(InputError, match="took too long"):
        bring(database_url, io.BytesIO(body), clear_away)

    factories.keep_house(signed_in.application)
    assert list_held(database_url) == before


def test_invitations_that_are_known_are_left_out_wherever_they_stand(
    signed_in: FlaskClient, database_url: str
) -> None:
    body, _survey = make_archive(signed_in, database_url, codes=2_500)
    with factories.writing(database_url) as session:
        (number,) = session.scalars(sa.select(Survey.id))
        codes = invitations_of(number).c.code_hash
        last = session.scalar(sa.select(sa.func.max(codes)))
        session.execute(sa.delete(invitations_of(number)).where(codes < last))

    answer = sample_archives.send(signed_in, body)

    assert answer.status_code == 201
    assert "no invitations" in answer.text
    found = factories.dump(database_url)
    assert (len(found["invitations"]), len(found["invitation_batches"])) == (1, 1)
    assert len(found["responses"]) == 2 * ROWS
