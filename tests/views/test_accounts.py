"""Signing in with password and codes, one's own account, and where sign-ins end."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pyotp
import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server.store.models import SignIn
from tests.support import factories
from tests.support.sign_in_form import CHANGED, FIREFOX, PASSWORD, enter, is_in, save, turn_on


def test_name_and_password_sign_in(app: Flask, ana: int, database_url: str) -> None:
    browser = app.test_client()
    answer = enter(browser, " ANA ", PASSWORD, User_Agent=FIREFOX)

    assert (answer.status_code, answer.location) == (303, "/manage/surveys")
    assert is_in(browser)
    with factories.writing(database_url) as session:
        (row,) = session.scalars(sa.select(SignIn))
        assert (row.researcher_id, row.device) == (ana, "Firefox, Linux")


def test_first_researcher_is_asked_for_a_password_and_may_put_it_off(signed_in: FlaskClient) -> None:
    asked = "Choose a name and a password"
    assert asked in signed_in.get("/manage/surveys").text
    assert signed_in.get("/manage/surveys/new").status_code == 200

    # Nobody has a password to give yet; the new one is needed.
    assert save(signed_in, current="").status_code == 422
    assert save(signed_in, current="", password=PASSWORD, again=PASSWORD).status_code == 303

    assert asked not in signed_in.get("/manage/surveys").text


def test_codes_are_asked_for_once_they_are_on_and_work_once(
    app: Flask, browser: FlaskClient, database_url: str
) -> None:
    secret, recovery = turn_on(browser)
    now = pyotp.TOTP(secret).now()

    assert len(set(recovery)) == 10
    assert enter(app.test_client(), "ana", PASSWORD).status_code == 403
    assert enter(app.test_client(), "ana", "wrong password", now).status_code == 403
    assert enter(app.test_client(), "ana", PASSWORD, now).status_code == 303
    assert enter(app.test_client(), "ana", PASSWORD, now).status_code == 403
    for typed in (recovery[0], recovery[1].upper().replace("-", " ")):
        assert enter(app.test_client(), "ana", PASSWORD, typed).status_code == 303
        assert enter(app.test_client(), "ana", PASSWORD, typed).status_code == 403
    assert "8 recovery codes are left" in browser.get("/manage/account").text
    held = repr(factories.dump(database_url))
    assert not [code for code in recovery if code in held or code.replace("-", "") in held]


def test_one_code_signs_in_one_of_many_browsers(app: Flask, browser: FlaskClient) -> None:
    _secret, recovery = turn_on(browser)

    with ThreadPoolExecutor(4) as people:
        statuses = list(
            people.map(lambda _: enter(app.test_client(), "ana", PASSWORD, recovery[0]).status_code, range(4))
        )

    assert statuses.count(303) == 1


def test_one_time_link_stands_in_for_the_password_but_not_for_codes(
    app: Flask, browser: FlaskClient, ana: int, database_url: str
) -> None:
    _secret, recovery = turn_on(browser)
    path = f"/manage/sign-in/{factories.link_of(database_url, ana)}"
    other = app.test_client()

    assert 'name="code"' in other.get(path).text
    assert other.post(path).status_code == 403
    assert other.post(path, data={"code": "123456"}).status_code == 403
    assert not is_in(other)
    assert other.post(path, data={"code": recovery[0]}).status_code == 303
    assert is_in(other)


@pytest.fixture
def elsewhere(app: Flask, browser: FlaskClient) -> FlaskClient:
    """A second browser of Ana's."""
    other = app.test_client()
    enter(other, "ana", PASSWORD, User_Agent=FIREFOX)
    return other


def number_of(client: FlaskClient) -> list[str]:
    """What the buttons that end other sign-ins send."""
    return re.findall(r'name="sign_in" value="([0-9a-f]{64})"', client.get("/manage/account").text)


def test_one_sign_in_is_ended_and_the_others_stay(
    browser: FlaskClient, elsewhere: FlaskClient, app: Flask
) -> None:
    third = app.test_client()
    enter(third, "ana", PASSWORD)
    page = browser.get("/manage/account").text
    assert page.count("this browser") == 1
    assert "Firefox, Linux" in page
    (number,) = set(number_of(browser)) & set(number_of(third))

    assert browser.post("/manage/account/sign-ins/end", data={"sign_in": number}).status_code == 303

    assert [is_in(client) for client in (browser, elsewhere, third)] == [True, False, True]
    assert browser.post("/manage/account/sign-ins/end", data={"sign_in": number}).status_code == 404


def test_all_other_sign_ins_are_ended(browser: FlaskClient, elsewhere: FlaskClient) -> None:
    browser.post("/manage/account/sign-ins/end", data={"sign_in": "others"})
    assert [is_in(client) for client in (browser, elsewhere)] == [True, False]


def test_somebody_elses_sign_in_cannot_be_ended(
    app: Flask, browser: FlaskClient, elsewhere: FlaskClient, database_url: str
) -> None:
    factories.account(database_url, "ben", PASSWORD)
    other = app.test_client()
    enter(other, "ben", PASSWORD)
    assert number_of(other) == []
    for number in (*number_of(browser), "0" * 64, "", "x", "others'", "\x00"):
        assert other.post("/manage/account/sign-ins/end", data={"sign_in": number}).status_code == 404

    other.post("/manage/account/sign-ins/end", data={"sign_in": "others"})
    assert [is_in(client) for client in (browser, elsewhere)] == [True, True]


def test_new_password_ends_all_other_sign_ins_and_links(
    app: Flask, browser: FlaskClient, elsewhere: FlaskClient, ana: int, database_url: str
) -> None:
    link = factories.link_of(database_url, ana)
    assert save(browser, name="Anna").status_code == 303
    assert [is_in(client) for client in (browser, elsewhere)] == [True, True]

    assert save(browser, password=CHANGED, again=CHANGED).status_code == 303

    assert [is_in(client) for client in (browser, elsewhere)] == [True, False]
    assert app.test_client().post(f"/manage/sign-in/{link}").status_code == 403


def test_signing_in_again_ends_the_sign_in_before_on_this_browser(
    app: Flask, browser: FlaskClient, database_url: str
) -> None:
    cookie = browser.get_cookie("moneda_sign_in", path="/manage")
    assert cookie is not None
    enter(browser, "ana", PASSWORD)
    thief = app.test_client()
    thief.set_cookie("moneda_sign_in", cookie.value, path="/manage")

    assert (is_in(browser), is_in(thief)) == (True, False)


def test_day_of_use_is_noted_once_a_day(browser: FlaskClient, database_url: str) -> None:
    def read_day() -> object:
        with factories.writing(database_url) as session:
            return session.scalars(sa.select(SignIn.seen_on)).one()

    today = read_day()
    with factories.writing(database_url) as session:
        for row in session.scalars(sa.select(SignIn)):
            row.seen_on -= timedelta(days=3)

    assert is_in(browser)
    factories.keep_house(browser.application)
    assert read_day() == today
