"""The list of pages and their states that pictures draw from is whole: no page is missing in it, and each is there."""

import string
from urllib.parse import urlsplit

import pytest
from flask import Flask

from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.page_list import NEWCOMER, OWNER, PAGES, VISITOR, WITH_PASSWORD
from tests.support.page_scenes import build_scene, make_link_of_password

NOT_LISTED = {
    "client": "a file",
    "help.picture": "a picture",
    "manage.home": "leads elsewhere",
    "respond.screens": "a part of a survey's page, which loads it",
    "public.figure": "a part of the public report, for others' pages",
}
"""Beside files to download and pictures, which have an ending."""


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what is listed does not depend on the database."""
    return sqlite(True)


def is_file(rule: str) -> bool:
    """Whether an address is that of a file: it has an ending."""
    return "." in rule.rpartition("/")[2]


def test_every_page_is_in_the_list(app: Flask) -> None:
    address = app.url_map.bind("localhost")
    listed = set()
    for page in PAGES:
        held = {name: "x" for _, name, _, _ in string.Formatter().parse(page.path) if name}
        if page.path != "/nowhere":
            listed.add(address.match(urlsplit(page.path.format(**held)).path, "GET")[0])
    pages = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ()) and not rule.endpoint.startswith("api.") and not is_file(rule.rule)
    }
    assert pages - listed == {name for name in NOT_LISTED if name in pages}
    assert len({page.name for page in PAGES}) == len(PAGES)
    assert sum(page.often for page in PAGES) == 10


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_page_of_the_list_is_there(app: Flask, database_url: str, language: str) -> None:
    scene = build_scene(database_url, language)
    newcomer = factories.sign_in_secret(database_url, owner=NEWCOMER)
    people = {
        VISITOR: app.test_client(),
        OWNER: factories.sign_in(app.test_client(), factories.sign_in_secret(database_url)),
        NEWCOMER: factories.sign_in(app.test_client(), newcomer),
        WITH_PASSWORD: factories.sign_in(app.test_client(), make_link_of_password(database_url, "ana")),
    }
    wrong = []
    for page in PAGES:
        answer = people[page.who].get(scene.address(page.path), headers={"Accept-Language": language})
        if (answer.status_code, answer.mimetype) != (page.status, "text/html"):
            wrong.append((page.name, answer.status_code, answer.mimetype))
        _, _, menu = answer.text.partition('<nav class="side"')
        if menu and menu.partition("</nav>")[0].count(" aria-current=") != 1:
            wrong.append((page.name, menu.partition("</nav>")[0].count(" aria-current=")))
    assert wrong == []
