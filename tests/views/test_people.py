"""Colleagues come by invitation, have a role in a survey, and lose it again."""

import hashlib
import re
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from server.store.models import ColleagueInvitation, Researcher
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published
from tests.support.sign_in_form import PASSWORD, alert, enter, is_in

ACCOUNT = {"name": "Ben B", "login": "ben", "password": PASSWORD, "again": PASSWORD}


def path(survey: Published, page: str = "") -> str:
    return f"/manage/surveys/{survey.slug}{page}"


def read_link(answer: TestResponse) -> str:
    """The path of the link that a page shows once."""
    assert answer.status_code == 201
    return re.findall(r'id="given">http://localhost(/manage/[\w/-]+)<', answer.text)[0]


def invite(owner: FlaskClient, survey: Published | None = None, role: str = "editor") -> str:
    """Invite Ben to a survey, or to the installation; the path of the link."""
    where = "/manage/colleagues" if survey is None else path(survey, "/people")
    return read_link(owner.post(f"{where}/invite", data={"name": "Ben", "role": role}))


def statuses(client: FlaskClient, survey: Published) -> list[int]:
    """Whether somebody may see a survey, edit it, and decide who takes part."""
    return [client.get(path(survey, page)).status_code for page in ("", "/edit", "/people")]


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """What several do at once is tested on both databases, in test_people_at_once.py."""
    return sqlite(True)


@pytest.fixture
def ben(app: Flask, database_url: str) -> FlaskClient:
    """A colleague with an account and no role anywhere, signed in."""
    number = factories.account(database_url, "ben")
    return factories.sign_in(app.test_client(), factories.link_of(database_url, number))


def number_of(database_url: str, login: str) -> int:
    with factories.writing(database_url) as session:
        return session.scalars(sa.select(Researcher.id).where(Researcher.login == login)).one()


@pytest.mark.parametrize(("role", "expected"), [("editor", [200, 200, 403]), ("viewer", [200, 403, 403])])
def test_colleague_makes_an_account_by_an_invitation_to_a_survey(
    role: str, expected: list[int], app: Flask, signed_in: FlaskClient, survey: Published
) -> None:
    link = invite(signed_in, survey, role)
    newcomer = app.test_client()
    assert "Exams" in newcomer.get(link).text

    answer = newcomer.post(link, data=ACCOUNT)

    assert (answer.status_code, answer.location) == (303, path(survey))
    assert statuses(newcomer, survey) == expected
    assert survey.slug in newcomer.get("/manage/surveys").text
    assert enter(app.test_client(), "ben", PASSWORD).status_code == 303
    assert app.test_client().get(link).status_code == 404


def test_colleague_with_an_account_accepts_with_one_button(
    signed_in: FlaskClient, ben: FlaskClient, survey: Published
) -> None:
    assert statuses(ben, survey) == [404, 404, 404]
    link = invite(signed_in, survey, "viewer")
    assert "Accept the invitation" in ben.get(link).text
    assert ben.post(link).status_code == 303
    assert statuses(ben, survey) == [200, 403, 403]

    # A second invitation gives its role instead.
    assert ben.post(invite(signed_in, survey, "editor")).status_code == 303
    assert statuses(ben, survey) == [200, 200, 403]


def test_invitation_leads_through_signing_in(
    app: Flask, signed_in: FlaskClient, survey: Published, ana: int
) -> None:
    link = invite(signed_in, survey)
    browser = app.test_client()
    secret = link.rpartition("/")[2]
    assert f"/manage/sign-in?invitation={secret}" in browser.get(link).text
    assert f'value="{secret}"' in browser.get(f"/manage/sign-in?invitation={secret}").text

    form = {"login": "ana", "password": PASSWORD, "code": "", "invitation": secret}
    answer = browser.post("/manage/sign-in", data=form)

    assert (answer.status_code, answer.location) == (303, link)
    form["invitation"] = "//example.org/x"
    answer = browser.post("/manage/sign-in", data=form)
    assert answer.location.startswith("/manage/invitation/")


def test_colleague_of_the_installation_sees_nobodys_survey(
    app: Flask, signed_in: FlaskClient, survey: Published
) -> None:
    newcomer = app.test_client()
    link = invite(signed_in)
    assert newcomer.post(link, data=ACCOUNT).location == "/manage/surveys"

    assert is_in(newcomer)
    assert statuses(newcomer, survey) == [404, 404, 404]
    assert newcomer.get("/manage/colleagues").status_code == 403


def test_invitation_to_the_installation_is_not_used_up_by_somebody_with_an_account(
    app: Flask, signed_in: FlaskClient, ben: FlaskClient
) -> None:
    link = invite(signed_in)
    assert "Accept the invitation" not in ben.get(link).text
    assert ben.post(link).status_code == 409
    assert app.test_client().post(link, data={**ACCOUNT, "login": "carla"}).status_code == 303


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"name": " "}, 422, "must have 1 to 200 characters"),
        ({"login": "ana"}, 409, "is taken"),
        ({"login": "b b"}, 422, "no spaces"),
        ({"password": "short", "again": "short"}, 422, "12 to 128 characters; it has 5"),
        ({"again": "another"}, 422, "once more"),
    ],
)
def test_account_that_is_refused_leaves_the_invitation_unused(
    changes: dict[str, str],
    status: int,
    said: str,
    app: Flask,
    signed_in: FlaskClient,
    ana: int,
    database_url: str,
) -> None:
    link = invite(signed_in)
    before = factories.dump(database_url)

    answer = app.test_client().post(link, data={**ACCOUNT, **changes})

    assert answer.status_code == status
    assert said in alert(answer)
    assert factories.dump(database_url) == before
    kept = {**ACCOUNT, **changes}
    assert PASSWORD not in answer.text
    if kept["name"].strip():
        assert f'value="{kept["name"]}"' in answer.text


def test_invitation_ends_when_it_is_old_or_withdrawn_or_its_giver_may_no_more(
    app: Flask, signed_in: FlaskClient, ben: FlaskClient, survey: Published, database_url: str
) -> None:
    ben.post(invite(signed_in, survey))
    old, withdrawn, lost = (invite(signed_in, survey) for _ in range(3))
    colleague = invite(signed_in)

    def works(link: str) -> bool:
        return app.test_client().get(link).status_code == 200

    with factories.writing(database_url) as session:
        newest = session.scalars(sa.select(ColleagueInvitation)).all()
        hashed = hashlib.sha256(old.rpartition("/")[2].encode()).digest()
        for row in newest:
            if row.secret_hash == hashed:
                row.expires_at -= timedelta(days=7)
    assert [works(link) for link in (old, withdrawn, lost, colleague)] == [False, True, True, True]

    page = signed_in.get(path(survey, "/people")).text
    number = hashlib.sha256(withdrawn.rpartition("/")[2].encode()).hexdigest()
    assert number in page
    assert signed_in.post(path(survey, "/people/withdraw"), data={"invitation": number}).status_code == 303
    assert [works(link) for link in (withdrawn, lost)] == [False, True]

    person = number_of(database_url, "ben")
    signed_in.post(path(survey, "/people/hand-over"), data={"person": person})
    assert [works(link) for link in (lost, colleague)] == [False, True]

    signed_in.post("/manage/colleagues/administrator", data={"person": person})
    ben.post("/manage/colleagues/no-administrator", data={"person": 1})
    assert not works(colleague)


def test_roles_are_changed_and_taken_back_at_once(
    signed_in: FlaskClient, ben: FlaskClient, survey: Published, database_url: str
) -> None:
    ben.post(invite(signed_in, survey, "viewer"))
    person = number_of(database_url, "ben")

    signed_in.post(path(survey, "/people/role"), data={"person": person, "role": "editor"})
    assert statuses(ben, survey) == [200, 200, 403]
    signed_in.post(path(survey, "/people/remove"), data={"person": person})
    assert statuses(ben, survey) == [404, 404, 404]
    assert survey.slug not in ben.get("/manage/surveys").text


def test_handing_over_swaps_owner_and_member(
    signed_in: FlaskClient, ben: FlaskClient, survey: Published, database_url: str
) -> None:
    ben.post(invite(signed_in, survey, "viewer"))
    answer = signed_in.post(
        path(survey, "/people/hand-over"), data={"person": number_of(database_url, "ben")}
    )

    assert (answer.status_code, answer.location) == (303, path(survey))
    assert statuses(ben, survey) == [200, 200, 200]
    assert statuses(signed_in, survey) == [200, 200, 403]


def test_survey_is_not_handed_to_who_is_shut_out(
    signed_in: FlaskClient, ben: FlaskClient, survey: Published, database_url: str
) -> None:
    ben.post(invite(signed_in, survey, "viewer"))
    person = number_of(database_url, "ben")
    signed_in.post("/manage/colleagues/disable", data={"person": person})
    assert signed_in.post(path(survey, "/people/hand-over"), data={"person": person}).status_code == 409
    assert statuses(signed_in, survey) == [200, 200, 200]


def test_least_is_offered_first(signed_in: FlaskClient, survey: Published) -> None:
    """Who does not look at the choice gives a viewer's role."""
    chosen = (
        signed_in.get(path(survey, "/people"))
        .text.partition('<select id="role"')[2]
        .partition("</select>")[0]
    )
    assert re.findall(r'value="(\w+)"( selected)?', chosen)[0] == ("viewer", " selected")


def test_only_known_roles_are_given(signed_in: FlaskClient, survey: Published, database_url: str) -> None:
    before = factories.dump(database_url)
    for role in ("owner", "", "Editor", "administrator", "x" * 1000):
        answer = signed_in.post(path(survey, "/people/invite"), data={"name": "Ben", "role": role})
        assert answer.status_code == 422
        assert "must be one of viewer, editor" in alert(answer)
        assert 'value="Ben"' in answer.text
    assert factories.dump(database_url) == before


def test_unknown_people_are_refused(signed_in: FlaskClient, survey: Published, database_url: str) -> None:
    before = factories.dump(database_url)
    for person in ("", "0", "-1", "9" * 400, "²", "1 OR 1", "\x00", "2.0", "999999999"):
        tried = [f"/people/{page}" for page in ("role", "remove", "hand-over")]
        form = {"person": person, "role": "editor"}
        assert [signed_in.post(path(survey, page), data=form).status_code for page in tried] == [404] * 3
        for page in ("disable", "enable", "administrator", "no-administrator", "link"):
            answer = signed_in.post(f"/manage/colleagues/{page}", data={"person": person})
            assert (page, answer.status_code) == (page, 404)
    assert factories.dump(database_url) == before


def test_who_is_shut_out_is_signed_out_at_once_and_let_in_again(
    app: Flask, signed_in: FlaskClient, ana: int, database_url: str
) -> None:
    browser = factories.sign_in(app.test_client(), factories.link_of(database_url, ana))
    link = factories.link_of(database_url, ana)
    assert signed_in.post("/manage/colleagues/disable", data={"person": ana}).status_code == 303

    assert not is_in(browser)
    assert app.test_client().post(f"/manage/sign-in/{link}").status_code == 403
    assert enter(app.test_client(), "ana", PASSWORD).status_code == 403
    assert signed_in.post("/manage/colleagues/link", data={"person": ana}).status_code == 409

    signed_in.post("/manage/colleagues/enable", data={"person": ana})
    assert not is_in(browser)
    assert enter(app.test_client(), "ana", PASSWORD).status_code == 303


def test_administrator_makes_a_link_for_who_is_locked_out(
    app: Flask, signed_in: FlaskClient, ana: int
) -> None:
    link = read_link(signed_in.post("/manage/colleagues/link", data={"person": ana}))
    browser = app.test_client()
    assert browser.post(link).status_code == 303
    assert "Account" in browser.get("/manage/account").text


def test_somebody_always_administers(app: Flask, signed_in: FlaskClient, ana: int, database_url: str) -> None:
    first = 1 if ana != 1 else 2
    assert signed_in.post("/manage/colleagues/disable", data={"person": first}).status_code == 409
    assert signed_in.post("/manage/colleagues/no-administrator", data={"person": first}).status_code == 409

    signed_in.post("/manage/colleagues/administrator", data={"person": ana})
    browser = factories.sign_in(app.test_client(), factories.link_of(database_url, ana))
    assert browser.get("/manage/colleagues").status_code == 200
    answer = signed_in.post("/manage/colleagues/no-administrator", data={"person": first})
    assert answer.status_code == 303
    assert signed_in.get("/manage/colleagues").status_code == 403
    assert browser.post("/manage/colleagues/no-administrator", data={"person": ana}).status_code == 409


def test_names_that_carry_scripts_are_shown_as_they_are(signed_in: FlaskClient, survey: Published) -> None:
    odd = "<script>alert(1)</script>"
    for where in ("/manage/colleagues", path(survey, "/people")):
        answer = signed_in.post(f"{where}/invite", data={"name": odd, "role": "viewer"})
        assert odd not in answer.text
        assert "&lt;script&gt;alert(1)" in answer.text
