"""Unfinished forms of people who are not signed in, over real sockets: they keep nobody else out."""

import re
import socket
import time
from contextlib import ExitStack, closing
from urllib.parse import urlsplit

from server.web.body_limits import FORM
from server.web.front.messages import DEADLINE, Sender
from tests.conftest import NewDatabase
from tests.support import factories

SIGN_IN = "/manage/sign-in"


def _begin_form(url: str) -> socket.socket:
    """All but the last byte of the largest form, on a connection that stays."""
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port), timeout=60)
    head = (
        f"POST {SIGN_IN} HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {FORM.size}",
    )
    connection.sendall("\r\n".join([*head, "", ""]).encode() + b"a" * (FORM.size - 1))
    return connection


def test_unfinished_forms_of_strangers_keep_out_neither_respondents_nor_researchers(
    sqlite: NewDatabase,
) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    form = {"next": "/manage/"}
    with factories.serving(database_url) as served, ExitStack() as stack:
        _status, headers, _body = factories.fill_in(served.sign_in_link, {})
        cookie = re.match("[^;]+", headers["Set-Cookie"])
        assert cookie is not None
        page = f"{served.url}/manage/surveys/{survey.slug}/strata"

        def send_as_stranger() -> int:
            return factories.fill_in(served.url + SIGN_IN, form)[0]

        assert send_as_stranger() != 503
        for _ in range(Sender.STRANGER.value // FORM.size):
            stack.enter_context(closing(_begin_form(served.url)))
        until = time.monotonic() + DEADLINE
        while send_as_stranger() != 503:  # a form may have met the probe, and been refused itself
            assert time.monotonic() < until, "strangers may take more than their share"
            stack.enter_context(closing(_begin_form(served.url)))
            time.sleep(0.1)

        assert factories.ask(served.url + survey.url, survey.response())[0] == 201
        lines = {"lines": "North", "under": "", "action": "add"}
        made_up = f"{cookie[0].partition('=')[0]}=made-up"
        assert factories.fill_in(page, lines, Cookie=made_up)[0] == 503
        assert factories.fill_in(page, lines, Cookie=cookie[0])[0] == 303

        stack.close()  # they hang up
        until = time.monotonic() + DEADLINE
        while send_as_stranger() == 503:
            assert time.monotonic() < until, "what they took up was not given back"
            time.sleep(0.05)
