"""No page holds a text outside the catalogues, whatever state its survey is in."""

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from babel.messages.mofile import write_mo
from werkzeug.exceptions import MethodNotAllowed, NotFound

from server.config import Config
from tests import factories
from tests.conftest import NewDatabase
from tests.fronted import create_app
from tests.walking import walk
from tests.words import catalogue, missing_on, outside, pseudo, untranslated


@pytest.fixture
def pseudo_site(sqlite: NewDatabase, tmp_path: Path) -> Iterator[factories.Served]:
    """The real server, from a copy of the program whose Spanish catalogue wraps every message in brackets."""
    for folder in ("server", "templates", "client"):
        shutil.copytree(
            factories.ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    wrapped = catalogue("es")
    for message in wrapped:
        if message.id:
            message.string = (
                pseudo(message.id) if isinstance(message.id, str) else tuple(map(pseudo, message.id))
            )
    with (tmp_path / "server/translations/es/LC_MESSAGES/messages.mo").open("wb") as file:
        write_mo(file, wrapped)
    copy = {"PYTHONSAFEPATH": "1", "PYTHONPATH": str(tmp_path)}
    with factories.serving(sqlite(True), **copy) as running:
        yield running


def endpoints(site: factories.Served, requests: list[tuple[str, str]]) -> tuple[set[str], set[str]]:
    """The endpoints that some requests reached, and all that there are."""
    app = create_app(Config(database_url=site.database_url))
    app.extensions["moneda.engine"].dispose()
    address, reached = app.url_map.bind("localhost"), set()
    for method, path in requests:
        with suppress(NotFound, MethodNotAllowed):
            reached.add(address.match(urlsplit(path).path, method)[0])
    return reached, {rule.endpoint for rule in app.url_map.iter_rules()}


def test_no_page_holds_a_text_outside_the_catalogues(pseudo_site: factories.Served) -> None:
    readers = walk(pseudo_site)
    found = {
        f"{seen}: {word}"
        for reader in readers
        for seen, page in reader.pages.items()
        for word in untranslated(page)
    }
    assert found == set()
    assert [message for reader in readers for message in reader.errors.values() if outside(message)] == []

    reached, existing = endpoints(pseudo_site, [request for reader in readers for request in reader.requests])
    assert reached == existing
    missed = missing_on([page for reader in readers for page in reader.pages.values()])
    assert missed == [], "these texts were on none of the pages: walk() must reach them, or they are not used"


def test_an_untranslated_text_is_noticed() -> None:
    translated = (
        f'<p title="{pseudo("Send")}">{pseudo("No <b>one</b>")} ε = 1,10 · 0fe2a4b91c <a>Moneda</a></p>'
    )
    assert untranslated(translated) == []
    assert untranslated(f"<p>{pseudo('No <b>one')}</b> knows</p>") == ["knows"]
    for attribute in ("aria-label", "title", "alt", "placeholder", "data-done"):
        assert untranslated(f'<p {attribute}="Copied">{pseudo("Copy")}</p>') == ["Copied"]


def test_style_sheets_hold_no_text() -> None:
    for sheet in (factories.ROOT / "client").glob("*.css"):
        contents = re.findall(r"content:\s*([^;}]+)", sheet.read_text("utf-8"))
        assert [shown for shown in contents if re.search(r"""["'][^"']*\w""", shown)] == [], sheet.name
