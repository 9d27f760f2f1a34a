"""Whatever state its survey is in, no page holds a text outside the catalogues, or a form without its end."""

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from babel.messages.mofile import write_mo
from werkzeug.exceptions import MethodNotAllowed, NotFound

from server.config import Config
from server.web.form_ends import FIELD, NAME, VALUE
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.catalogue_words import catalogue, find_untranslated, missing_on, outside, pseudo
from tests.support.every_page import Reader, walk
from tests.support.form_client import read_posted_forms
from tests.support.front_client import create_app
from tests.support.webhook_pages import walk_silent


@pytest.fixture(scope="module")
def pseudo_program(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """A copy of the program whose Spanish catalogue wraps every message in brackets: how it is started."""
    tmp_path = tmp_path_factory.mktemp("program")
    for folder in ("server", "templates", "client", "docs"):
        shutil.copytree(factories.ROOT / folder, tmp_path / folder)
    for path in (tmp_path / "docs").rglob("*.md"):
        path.write_text(re.sub(r"\A# (.+)", "# " + pseudo(r"\1"), path.read_text("utf-8")), "utf-8")
    # One chapter as if nobody had translated it yet.
    (tmp_path / "docs/cluster.md").unlink()
    for name, link, instead in (
        ("spark", "[Español](cluster.md)", ""),
        ("LEEME", "(cluster.md)", "(spark.md)"),
    ):
        path = tmp_path / f"docs/{name}.md"
        path.write_text(path.read_text("utf-8").replace(link, instead), "utf-8")
    wrapped = catalogue("es")
    for message in wrapped:
        if message.id:
            message.string = (
                pseudo(message.id) if isinstance(message.id, str) else tuple(map(pseudo, message.id))
            )
    with (tmp_path / "server/translations/es/LC_MESSAGES/messages.mo").open("wb") as file:
        write_mo(file, wrapped)
    return {"PYTHONSAFEPATH": "1", "PYTHONPATH": str(tmp_path)}


@pytest.fixture(scope="module")
def pseudo_site(sqlite: NewDatabase, pseudo_program: Mapping[str, str]) -> Iterator[factories.Served]:
    """The real server, from that copy."""
    with factories.serving(sqlite(True), MONEDA_WEBHOOKS="on", **pseudo_program) as running:
        yield running


@pytest.fixture(scope="module")
def readers(
    sqlite: NewDatabase, pseudo_site: factories.Served, pseudo_program: Mapping[str, str]
) -> list[Reader]:
    """Everybody who opened every page, also of a server that may send nothing and asks for work."""
    with factories.serving(sqlite(True), MONEDA_PROOF_OF_WORK="always", **pseudo_program) as silent:
        owner = Reader(silent, factories.sign_in_secret(silent.database_url))
        walk_silent(owner, silent.database_url)
    with factories.staying_connected(pseudo_site.database_url):
        return [*walk(pseudo_site), owner]


def endpoints(site: factories.Served, requests: list[tuple[str, str]]) -> tuple[set[str], set[str]]:
    """The endpoints that some requests reached, and all that there are."""
    app = create_app(Config(database_url=site.database_url))
    app.extensions["moneda.engine"].dispose()
    address, reached = app.url_map.bind("localhost"), set()
    for method, path in requests:
        with suppress(NotFound, MethodNotAllowed):
            reached.add(address.match(urlsplit(path).path, method)[0])
    # Programs are answered with JSON, and refused in the words of the pages.
    pages = {rule.endpoint for rule in app.url_map.iter_rules() if not rule.endpoint.startswith("api.")}
    return reached & pages, pages


def test_no_page_holds_a_text_outside_the_catalogues(
    pseudo_site: factories.Served, readers: list[Reader]
) -> None:
    found = {
        f"{seen}: {word}"
        for reader in readers
        for seen, page in reader.pages.items()
        for word in find_untranslated(page)
    }
    assert found == set()
    assert [message for reader in readers for message in reader.errors.values() if outside(message)] == []

    reached, existing = endpoints(pseudo_site, [request for reader in readers for request in reader.requests])
    assert reached == existing
    missed = missing_on([page for reader in readers for page in reader.pages.values()])
    assert missed == [], "these texts were on none of the pages: walk() must reach them, or they are not used"


def test_no_page_fails_but_the_one_whose_table_is_gone(readers: list[Reader]) -> None:
    failed = [
        seen for reader in readers for seen in [*reader.pages, *reader.errors] if seen.endswith(": 500")
    ]
    assert len(failed) == 1, failed


def test_every_form_of_every_page_ends_with_the_field_that_a_cut_one_has_lost(
    readers: list[Reader],
) -> None:
    forms = {
        (seen, place): fields
        for reader in readers
        for seen, page in reader.pages.items()
        for place, fields in enumerate(read_posted_forms(page))
    }
    assert len(forms) > 500
    last = ("input", "hidden", NAME, VALUE)
    assert [where for where, fields in forms.items() if fields[-1:] != [last]] == []
    assert [where for where, fields in forms.items() if [each[2] for each in fields].count(NAME) != 1] == []


def test_a_field_behind_the_last_one_is_noticed() -> None:
    end = str(FIELD)
    assert read_posted_forms(f'<form method="post"><p><button></button>{end}</p></form>')[0][-1][2] == NAME
    for page in (
        f'<form method="post">{end}<button></button></form>',
        f'<form method="post" id="a">{end}</form><p><textarea name="b" form="a"></textarea></p>',
        f'<form method="post"></form>{end}',
    ):
        assert [each[2] for each in read_posted_forms(page)[0]][-1:] != [NAME]


def test_an_untranslated_text_is_noticed() -> None:
    translated = (
        f'<p title="{pseudo("Send")}">{pseudo("No <b>one</b>")} ε = 1,10 · 0fe2a4b91c <a>Moneda</a></p>'
    )
    assert find_untranslated(translated) == []
    assert find_untranslated(f"<p>{pseudo('No <b>one')}</b> knows</p>") == ["knows"]
    for attribute in ("aria-label", "title", "alt", "placeholder", "data-done"):
        assert find_untranslated(f'<p {attribute}="Copied">{pseudo("Copy")}</p>') == ["Copied"]


def test_style_sheets_hold_no_text() -> None:
    for sheet in (factories.ROOT / "client").glob("*.css"):
        contents = re.findall(r"content:\s*([^;}]+)", sheet.read_text("utf-8"))
        assert [shown for shown in contents if re.search(r"""["'][^"']*\w""", shown)] == [], sheet.name
