"""The help: every link of every chapter leads somewhere, words are found, and nobody gets more than pages."""

import gzip
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient

from server.output.languages import LANGUAGES
from server.web.handbook import LONGEST_QUERY, find_address, find_place, list_words, read_handbook
from server.web.handbook.chapter_writer import write_chapter
from server.web.handbook.help_places import PLACES
from tests.conftest import NewDatabase
from tests.support.factories import ROOT

QUERIES = ["withdraw", "contraseña"]


class Links(HTMLParser):
    """The links, pictures and anchors of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[dict[str, str | None]] = []
        self.pictures: list[dict[str, str | None]] = []
        self.anchors: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "a":
            self.links.append(named)
        if tag == "img":
            self.pictures.append(named)
        if named.get("id"):
            self.anchors.append(str(named["id"]))


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """The help does not touch the database."""
    return sqlite(True)


def find_all(client: FlaskClient, query: str, language: str = "en") -> str:
    answer = client.get("/help", query_string={"q": query, "lang": language})
    assert answer.status_code == 200
    return answer.text


@pytest.fixture
def crawled_pages(client: FlaskClient) -> Mapping[str, Links]:
    """Every page that is reached from the contents in either language, by its address."""
    found: dict[str, Links] = {}
    waiting = [f"/help?lang={code}" for code in LANGUAGES]
    while waiting:
        address = waiting.pop()
        if address not in found:
            answer = client.get(address)
            assert answer.status_code == 200, address
            found[address] = Links(answer.text)
            links = (urljoin(address, str(link["href"])) for link in found[address].links)
            waiting += [link.partition("#")[0] for link in links if link.startswith("/help")]
    return found


def test_every_link_and_anchor_leads_somewhere(
    client: FlaskClient, crawled_pages: Mapping[str, Links]
) -> None:
    assert len(crawled_pages) >= len(read_handbook().chapters)
    for address, page in crawled_pages.items():
        assert len(set(page.anchors)) == len(page.anchors), address
        for link in page.links:
            target, _, anchor = urljoin(address, str(link["href"])).partition("#")
            if target.startswith("/help"):
                assert not anchor or unquote(anchor) in crawled_pages[target].anchors, (address, link)
            elif not urlsplit(target).scheme:
                assert client.get(target).status_code == 200, (address, link)


def test_every_file_of_docs_is_reached_in_every_language(
    app: Flask, crawled_pages: Mapping[str, Links]
) -> None:
    files = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    chapters = read_handbook().chapters.values()
    assert {chapter.file for chapter in chapters} == {PurePosixPath(path) for path in files}
    for code, order in read_handbook().orders.items():
        there = {chapter.others.get(code, chapter.name) for chapter in chapters}
        assert set(order) == there
        with app.test_request_context():
            assert {
                find_address(read_handbook().chapters[name], code) for name in order
            } <= crawled_pages.keys()


def test_pictures_have_their_size_and_their_words(
    client: FlaskClient, crawled_pages: Mapping[str, Links]
) -> None:
    pictures = {str(picture["src"]): picture for page in crawled_pages.values() for picture in page.pictures}
    assert len(pictures) > 50
    for address, picture in pictures.items():
        assert picture["loading"] == "lazy"
        assert picture["alt"]
        assert int(picture["width"] or 0) > 100
        assert int(picture["height"] or 0) > 100
        assert "immutable" in client.get(address).headers["Cache-Control"]
    some = next(iter(pictures))
    content = client.get(some)
    assert (content.mimetype, content.data[:4]) == ("image/png", b"\x89PNG")
    assert client.get(some.replace("/help/images/", "/help/images/0")).status_code == 404


def test_a_chapter_and_its_translation_have_the_same_sections() -> None:
    chapters = read_handbook().chapters
    pairs = [(chapter, chapters[name]) for chapter in chapters.values() for name in chapter.others.values()]
    assert len(pairs) >= 6
    for one, other in pairs:
        assert [section.level for section in one.sections] == [section.level for section in other.sections]
        assert one.language != other.language
        assert one.name in other.others.values()


@pytest.fixture
def one_chapter_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another docs/, with a chapter in English alone: ours may have each in both languages."""
    contents = {"README.md": "# Help\n\n[Español](LEEME.md)", "LEEME.md": "# Ayuda\n\n[English](README.md)"}
    for name, text in contents.items():
        (tmp_path / name).write_text(f"{text} · [alone](alone.md)\n", "utf-8")
    (tmp_path / "alone.md").write_text("# Alone\n\nIn English.\n", "utf-8")
    monkeypatch.setattr("server.web.handbook.chapters.DOCS", tmp_path)
    for kept in (read_handbook, write_chapter):
        kept.cache_clear()
    yield
    for kept in (read_handbook, write_chapter):
        kept.cache_clear()


@pytest.mark.usefixtures("one_chapter_alone")
def test_a_chapter_in_one_language_says_so_and_is_marked(client: FlaskClient) -> None:
    page = client.get("/help/alone?lang=es").text
    assert '<html lang="es">' in page
    assert '<article class="from-docs" lang="en">' in page
    assert 'Esta página no está traducida. Está en: <span lang="en">English</span>' in page
    assert '<a href="/help/alone?lang=es" hreflang="en"' in client.get("/help?lang=es").text
    assert "not translated" not in client.get("/help/alone?lang=en").text


def test_a_chapter_in_several_languages_is_in_its_own_from_top_to_end(client: FlaskClient) -> None:
    page = client.get("/help/guia", headers={"Accept-Language": "en"}).text
    assert '<html lang="es">' in page
    assert "no está traducida" not in page
    assert '<a href="/help/guide" lang="en">English</a>' in page
    assert 'href="/help/guide" hreflang="en" lang="en"' in page


def test_a_file_that_is_not_served_is_said_plainly(client: FlaskClient) -> None:
    page = client.get("/help/guide").text
    assert "(how to start it, file README.md of the source code)" in page
    assert "(cómo se inicia, archivo README.md del código fuente, en inglés)" in client.get("/help/guia").text


def test_html_of_a_file_stays_text(client: FlaskClient) -> None:
    page = client.get("/help/guide").text
    assert "<script" not in page
    assert " style=" not in page


# --- Search ---------------------------------------------------------------------------


def test_known_things_are_found_in_both_languages(client: FlaskClient) -> None:
    assert "<mark>withdrawn</mark>" in find_all(client, "withdraw")
    for query in ("contraseña", "CONTRASENA", "contrasen\u0303a"):
        found = find_all(client, query, "es")
        assert "<mark>contraseña</mark>" in found
        assert "/help/guia/" in found
    assert 'hreflang="es"' in find_all(client, "contraseña")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("estratificacion", "postestratificación"),
        ("ESTRATIFICACIÓN", "postestratificación"),
        ("embed figure", "Embed a figure in a page of your own"),
        ("insertar figura", "Insertar una figura en una página tuya"),
        ("ponderación", "<mark>pondera"),
        ("traducir", "En varios idiomas"),
        ("Arrastrar", "<mark>arrastra</mark>"),
    ],
)
def test_words_are_found_within_words_with_other_endings_and_figures_by_their_name(
    query: str, found: str, client: FlaskClient
) -> None:
    language = "en" if "embed" in query else "es"
    page = client.get("/help", query_string={"q": query, "lang": language}).text
    told = page if found.startswith("<mark>") else re.sub(r"</?mark>", "", page)
    assert found.lower() in told.lower()


def test_what_is_in_the_language_of_the_reader_comes_first(client: FlaskClient) -> None:
    hits = re.findall(r'hreflang="(..)">', find_all(client, "moneda", "es"))
    assert hits == sorted(hits, reverse=True)
    assert hits[0] == "es"


def test_every_hit_leads_to_its_section(client: FlaskClient) -> None:
    for query in QUERIES:
        for link in Links(find_all(client, query)).links:
            address, _, anchor = str(link["href"]).partition("#")
            if anchor and link.get("hreflang"):
                assert unquote(anchor) in Links(client.get(address).text).anchors


def test_some_of_the_words_are_better_than_none(client: FlaskClient) -> None:
    found = find_all(client, "password xyzzy")
    assert "No section has all of these words" in found
    assert "<mark>password</mark>" in found
    assert "Nothing was found" in find_all(client, "xyzzy")


@pytest.mark.parametrize(
    ("query", "language", "content"),
    [
        ("margen de error", "es", "margen error"),
        ("¿Cómo se hace una publicación?", "es", "hace publicación"),
        ("How do I delete a survey?", "en", "delete survey"),
    ],
)
def test_small_words_tell_nothing_where_there_are_others(
    query: str, language: str, content: str, client: FlaskClient
) -> None:
    asked, meant = (
        re.findall(r"<ol class=.hits.>.*</ol>", find_all(client, each, language), re.DOTALL)
        for each in (query, content)
    )
    assert asked == meant
    assert "<mark>" in asked[0]


def test_a_word_is_looked_for_once_however_often_it_is_written() -> None:
    """Fifty times the same word took nine seconds of the server's time, from anybody."""
    assert len(list_words("a " * 50)) == 1
    assert len(list_words("contraseña CONTRASENA contrasen\u0303a Moneda")) == 2


def test_a_small_word_alone_is_looked_for(client: FlaskClient) -> None:
    assert "<mark>de</mark>" in find_all(client, "de", "es")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("a" * 300, f"at most {LONGEST_QUERY} characters; these were 300"),
        ("?!… ''", "There is no word"),
        ('"', "There is no word"),
        ("_", "There is no word"),
        ("\0", "There is no word"),
    ],
)
def test_what_cannot_be_looked_for_is_said(client: FlaskClient, query: str, said: str) -> None:
    answer = client.get("/help", query_string={"q": query})
    assert answer.status_code == 422
    assert said in answer.text


@pytest.mark.parametrize(
    "query",
    [
        '"coin" OR',
        "coin*",
        "NEAR(coin, 2)",
        "title:coin",
        "AND OR NOT",
        "^coin - coin",
        "coin'); --",
        "²½ ෴ 漢字",
        "a " * 50,
        "\ud7ff x",
    ],
)
def test_nothing_in_a_query_has_a_meaning(client: FlaskClient, query: str) -> None:
    assert client.get("/help", query_string={"q": query}).status_code == 200


def test_a_query_is_shown_as_text(client: FlaskClient) -> None:
    for query in ('"><b>coin</b>', "<mark>coin</mark>", "coin\x02\x03"):
        page = client.get("/help", query_string={"q": query}).text
        assert "<b>coin" not in page
        assert "<mark>coin</mark>&gt;" not in page
        assert page.count("<mark>") == page.count("</mark>")


# --- Nobody in particular -------------------------------------------------------------


def test_nothing_is_remembered_of_who_reads(client: FlaskClient, signed_in: FlaskClient) -> None:
    for browser in (client, signed_in):
        for address in ("/help?lang=es", "/help/guide?lang=es", "/help?q=coin"):
            assert "Set-Cookie" not in browser.get(address).headers
    assert client.get("/help/guide").data == signed_in.get("/help/guide").data


def test_who_has_the_newest_page_gets_no_second_copy(client: FlaskClient) -> None:
    first = client.get("/help/guide")
    again = client.get("/help/guide", headers={"If-None-Match": first.headers["ETag"]})
    assert (first.headers["Cache-Control"], again.status_code, again.data) == ("no-cache", 304, b"")
    assert client.get("/help?q=coin").headers["Cache-Control"] == "no-store"


def test_a_chapter_is_small_on_the_wire(client: FlaskClient) -> None:
    plain = client.get("/help/definition")
    small = client.get("/help/definition", headers={"Accept-Encoding": "gzip, br"})
    assert gzip.decompress(small.data) == plain.data
    assert len(small.data) < 45_000 < len(plain.data)
    assert small.headers["ETag"] != plain.headers["ETag"]
    assert "Accept-Encoding" in small.headers["Vary"]
    assert "Content-Encoding" not in client.get("/help?q=a", headers={"Accept-Encoding": "gzip"}).headers


@pytest.mark.parametrize(
    "address",
    ["/help/README", "/help/guide/README.md", "/help/../README", "/help/deploy"],
)
def test_there_is_nothing_else(client: FlaskClient, address: str) -> None:
    assert client.get(address).status_code == 404


# --- From the pages -------------------------------------------------------------------


def test_help_on_each_page_of_researchers_leads_to_its_section(app: Flask, client: FlaskClient) -> None:
    with app.test_request_context():
        addresses = [find_place(place, code) for place in PLACES for code in LANGUAGES]
        assert find_place("nothing", "es") == "/help?lang=es"
    for address in addresses:
        page, _, anchor = address.partition("#")
        assert unquote(anchor) in Links(client.get(page).text).anchors, address
    assert set(PLACES) <= set(app.blueprints)


def test_pages_of_researchers_lead_to_the_help(client: FlaskClient, signed_in: FlaskClient) -> None:
    assert (
        'href="/help/guide/questions#the-kinds-of-questions"'
        in signed_in.get("/manage/surveys/new?lang=en").text
    )
    assert 'href="/help?lang=en"' in client.get("/").text
