"""`python -m server user`: an operator adds researchers and helps those who are locked out."""

import json
import re
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import Flask

from server.cli import main
from server.people import second_factors
from server.store.models import Researcher
from server.store.sealed_secrets import seal
from tests.support import factories
from tests.support.sign_in_form import PASSWORD, enter, is_in


def run(database_url: str, *arguments: str) -> Result:
    return CliRunner(env={"DATABASE_URL": database_url}).invoke(main, ["user", *arguments])


def document(database_url: str, *arguments: str) -> Any:
    done = run(database_url, *arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_added_researcher_signs_in_by_the_printed_link(app: Flask, database_url: str) -> None:
    first = document(database_url, "add", "Ana Flores", "--administrator")
    assert (first["name"], first["login"], first["administrator"]) == ("Ana Flores", None, True)
    browser = app.test_client()
    path = re.fullmatch(r"http://127\.0\.0\.1:8000(/manage/sign-in/[\w-]{43})", first["sign_in_link"])
    assert path is not None
    assert browser.post(path[1]).status_code == 303
    assert browser.get("/manage/colleagues").status_code == 200

    second = document(database_url, "add", "Ben")
    assert second["administrator"] is False
    listed = document(database_url, "list")["users"]
    assert [(row["number"], row["name"], row["password"]) for row in listed] == [
        (first["number"], "Ana Flores", False),
        (second["number"], "Ben", False),
    ]
    table = run(database_url, "list").output
    assert "Ana Flores" in table
    assert "number  login  name" in table


def test_researcher_is_named_by_login_or_number(app: Flask, database_url: str) -> None:
    number = factories.account(database_url, "ana", PASSWORD)
    factories.account(database_url, "boss", administrator=True)
    for who in ("ANA", str(number)):
        assert document(database_url, "link", who)["login"] == "ana"

    browser = factories.sign_in(app.test_client(), factories.link_of(database_url, number))
    assert document(database_url, "disable", "ana")["disabled"] is not None
    assert not is_in(browser)
    assert enter(app.test_client(), "ana", PASSWORD).status_code == 403
    refused = run(database_url, "link", "ana")
    assert (refused.exit_code, "enable them first" in refused.output) == (2, True)

    assert document(database_url, "enable", "ana")["disabled"] is None
    assert enter(app.test_client(), "ana", PASSWORD).status_code == 303


def test_lost_codes_are_reset(app: Flask, database_url: str) -> None:
    number = factories.account(database_url, "ana", PASSWORD)
    with factories.writing(database_url) as session:
        researcher = session.get_one(Researcher, number)
        researcher.totp_sealed = seal(second_factors.new_totp_secret(), number)
        second_factors.new_recovery_codes(session, researcher)
    assert enter(app.test_client(), "ana", PASSWORD).status_code == 403

    assert document(database_url, "reset-totp", "ana")["codes"] is False

    assert enter(app.test_client(), "ana", PASSWORD).status_code == 303
    assert factories.dump(database_url)["recovery_codes"] == []


def test_log_says_that_it_was_done_on_the_command_line(app: Flask, database_url: str) -> None:
    boss = factories.account(database_url, "boss", administrator=True)
    number = document(database_url, "add", "Ana")["number"]
    for command in ("link", "disable", "enable", "reset-totp"):
        document(database_url, command, str(number))
    browser = factories.sign_in(app.test_client(), factories.link_of(database_url, boss))

    page = browser.get("/manage/log").text

    assert page.count("command line") == 5
    for sentence in ("added Ana", "link for Ana", "shut Ana out", "let Ana in", "codes of Ana off"):
        assert sentence in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["link", "nobody"], "person: is not known; it is nobody"),
        (["disable", "0"], "person: is not known; it is 0"),
        (["enable", "9" * 30], "is not known"),
        (["reset-totp", "\x1b[2J"], "is not known"),
        (["add", ""], "name: must have 1 to 200 characters"),
        (["add", "x" * 201], "name: must have 1 to 200 characters"),
        (["disable", "boss"], "must stay, as the only administrator"),
    ],
)
def test_bad_input_ends_with_status_2_and_changes_nothing(
    arguments: list[str], said: str, database_url: str
) -> None:
    factories.account(database_url, "boss", administrator=True)
    before = factories.dump(database_url)

    done = run(database_url, *arguments)

    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert "\x1b" not in done.stderr
    assert factories.dump(database_url) == before
