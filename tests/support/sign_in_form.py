"""Signing in as people do, with the form."""

import re
import time

import pyotp
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

PASSWORD = "correct horse battery"
CHANGED = "another staple entirely"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


def enter(
    client: FlaskClient,
    login: str,
    password: str,
    code: str = "",
    address: str = "203.0.113.7",
    **headers: str,
) -> TestResponse:
    """Send the sign-in form."""
    form = {"login": login, "password": password, "code": code}
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post("/manage/sign-in", data=form, headers=sent, environ_base={"REMOTE_ADDR": address})


def is_in(client: FlaskClient) -> bool:
    return client.get("/manage/surveys").status_code == 200


def alert(answer: TestResponse) -> str:
    """What the page complains of, as text on one line."""
    found = answer.text.partition('role="alert"')[2].partition("</div>")[0].partition(">")[2]
    return " ".join(re.sub(r"<[^>]*>", " ", found).split())


def save(client: FlaskClient, **changes: str) -> TestResponse:
    """Send the form of name and password."""
    form = {"name": "Ana", "login": "ana", "password": "", "again": "", "current": PASSWORD, **changes}
    return client.post("/manage/account", data=form)


def turn_on(client: FlaskClient) -> tuple[str, list[str]]:
    """Set up codes: the app's secret, and the recovery codes."""
    secret = re.findall(r'name="secret" value="([A-Z2-7]{32})"', client.get("/manage/account/codes").text)[0]
    # The code of the step before, so that the tests have the present one still to use. It holds for as long as the
    # present step does: one that is about to end is waited for.
    while time.time() % 30 > 27:
        time.sleep(0.1)
    code = pyotp.TOTP(secret).at(int(time.time()) - 30)
    answer = client.post("/manage/account/codes", data={"secret": secret, "code": code})
    assert answer.status_code == 200
    return secret, re.findall(r"\b(?:[2-9b-z]{4}-){3}[2-9b-z]{4}\b", answer.text)
