"""What two people press at the same moment happens once, on both databases."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server.people import invite
from server.store.models import Researcher, Survey
from tests.support import factories
from tests.support.factories import Published

CROWD = 4


@pytest.fixture
def numbers(app: Flask, database_url: str) -> list[int]:
    """Some administrators."""
    return [factories.account(database_url, f"person{k}", administrator=True) for k in range(CROWD)]


@pytest.fixture
def people(app: Flask, database_url: str, numbers: list[int]) -> list[FlaskClient]:
    """Their browsers, signed in."""
    return [
        factories.sign_in(app.test_client(), factories.link_of(database_url, number)) for number in numbers
    ]


def at_once(people: Sequence[FlaskClient], press: Callable[[int, FlaskClient], int]) -> list[int]:
    """The statuses that they get."""
    together = Barrier(len(people))

    def press_together(place: int) -> int:
        together.wait()
        return press(place, people[place])

    with ThreadPoolExecutor(len(people)) as pool:
        return sorted(pool.map(press_together, range(len(people))))


def test_invitation_works_for_one_of_many(
    survey: Published, people: list[FlaskClient], database_url: str
) -> None:
    with factories.writing(database_url) as session:
        found = session.scalars(sa.select(Survey)).one()
        secret = invite(session, session.get_one(Researcher, found.owner_id), "Guest", found, "viewer")

    statuses = at_once(people, lambda _, client: client.post(f"/manage/invitation/{secret}").status_code)

    assert statuses == [303] + [404] * (CROWD - 1)
    assert len(factories.dump(database_url)["members"]) == 1


def test_administrators_who_shut_each_other_out_leave_one(
    people: list[FlaskClient], numbers: list[int], database_url: str
) -> None:
    def shut_out_the_next(place: int, client: FlaskClient) -> int:
        person = numbers[(place + 1) % CROWD]
        return client.post("/manage/colleagues/disable", data={"person": person}).status_code

    at_once(people, shut_out_the_next)

    with factories.writing(database_url) as session:
        assert session.scalars(sa.select(Researcher).where(Researcher.disabled_on.is_(None))).all()


def test_survey_is_handed_over_once(
    signed_in: FlaskClient, numbers: list[int], survey: Published, database_url: str
) -> None:
    for number in numbers:
        factories.join(database_url, survey.slug, number, "viewer")
    path = f"/manage/surveys/{survey.slug}/people/hand-over"
    cookie = signed_in.get_cookie("moneda_sign_in", path="/manage")
    assert cookie is not None
    windows = [signed_in.application.test_client() for _ in numbers]
    for window in windows:
        window.set_cookie("moneda_sign_in", cookie.value, path="/manage")

    at_once(windows, lambda place, client: client.post(path, data={"person": numbers[place]}).status_code)

    with factories.writing(database_url) as session:
        owner = session.scalars(sa.select(Survey.owner_id)).one()
    members = {row[1] for row in factories.dump(database_url)["members"]}
    assert owner in numbers
    assert len(members) == CROWD
    assert owner not in members
