"""No page holds a text outside the catalogues, whatever state its survey is in."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from babel.messages.mofile import write_mo
from werkzeug.exceptions import MethodNotAllowed, NotFound

from server import surveys
from server.app import create_app
from server.config import Config
from tests import factories
from tests.conftest import NewDatabase
from tests.words import catalogue, missing_on, outside, pseudo, untranslated

SPANISH = {"Accept-Language": "es"}


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


class Reader:
    """A browser that reads Spanish, follows redirects and keeps every page that it was shown."""

    def __init__(self, site: factories.Served, secret: str = "") -> None:
        self.host = urlsplit(site.url).netloc
        self.cookies: SimpleCookie = SimpleCookie()
        self.pages: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.requests: list[tuple[str, str]] = []
        if secret:
            self.get(f"/manage/sign-in/{secret}")
            self.post(f"/manage/sign-in/{secret}")

    def get(self, path: str) -> None:
        self._ask("GET", path)

    def post(self, path: str, body: bytes | Mapping[str, object] = b"", **headers: str) -> None:
        if isinstance(body, Mapping):
            body = urlencode(body, doseq=True).encode()
            headers["Content_Type"] = "application/x-www-form-urlencoded"
        self._ask("POST", path, body, {name.replace("_", "-"): value for name, value in headers.items()})

    def _ask(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = SPANISH) -> None:
        cookies = "; ".join(f"{cookie.key}={cookie.value}" for cookie in self.cookies.values())
        with closing(HTTPConnection(self.host, timeout=60)) as connection:
            connection.request(method, path, body, {**SPANISH, **headers, "Cookie": cookies})
            answer = connection.getresponse()
            content, kind = answer.read(), answer.headers.get_content_type()
        self.requests.append((method, path))
        self.cookies.load(answer.getheader("Set-Cookie", ""))
        seen = f"{len(self.requests)}. {method} {path}: {answer.status}"
        if answer.status in (302, 303):
            self.get(answer.headers["Location"])
        elif kind == "text/html":
            self.pages[seen] = content.decode()
        elif answer.status >= 400:
            self.errors[seen] = json.loads(content)["error"]["message"]


def wrapped_definition(title: str = "Exams") -> dict[str, object]:
    """A definition whose own texts are in brackets, so that they pass for translated."""
    questions = [
        factories.question(name, pseudo(f"{name}?"), gamma) for name, gamma in (("a", 0.25), ("b", 0.25))
    ]
    return factories.definition(title=pseudo(title), introduction=pseudo("Who asks"), questions=questions)


def edited(title: str, *wordings: str, gamma: str = "0.25", action: str = "save") -> dict[str, object]:
    """The fields of the editor."""
    fixed = {"title": title, "introduction": "", "language": "es", "gamma": gamma, "action": action}
    return {**fixed, "name": [""] * len(wordings), "text": list(wordings)}


def walk(site: factories.Served) -> list[Reader]:
    """Open every page in every state that it can be in."""
    database, document = site.database_url, wrapped_definition()
    draft = factories.draft(database, document)
    mixed = wrapped_definition()
    mixed["questions"][0]["design"]["gamma"] = 0.1
    different = factories.draft(database, mixed)
    empty, chance, impossible, closed, changed = (factories.publish(database, document) for _ in range(5))
    for survey, responses in ((chance, 8), (impossible, 80)):
        for _ in range(responses):
            factories.ask(site.url + survey.url, survey.response([0, 1]))
    factories.close(database, closed.slug)
    with factories.writing(database) as session:
        shown = surveys.find(session, chance.slug)
        assert shown is not None
        shown.simulated = True

    stranger = Reader(site)
    stranger.get("/")
    stranger.get(f"/s/{empty.slug}")
    for slug in ("unknown", closed.slug, draft):
        stranger.get(f"/s/{slug}")
        stranger.get(f"/s/{slug}/survey.json")
    for body in (
        b"{",
        b"[]",
        json.dumps(closed.response()).encode(),
        json.dumps(empty.response([7, 0])).encode(),
    ):
        for survey in (empty, closed):
            stranger.post(survey.url, body, Content_Type="application/json")
    stranger.post(empty.url, b"", Content_Type="text/plain")
    stranger.post(empty.url, b"{}", Content_Type="application/json", Sec_Fetch_Site="cross-site")
    stranger.get("/manage/sign-in")
    stranger.get("/manage/sign-in/secret")
    stranger.post("/manage/sign-in/secret")
    stranger.get("/nowhere")
    stranger.get("/client/0123456789abcdef/none.js")
    stranger.post("/")

    newcomer = Reader(site, factories.sign_in_secret(database, owner="newcomer"))
    newcomer.get("/manage/surveys")
    newcomer.get(f"/manage/surveys/{draft}")

    owner = Reader(site, factories.sign_in_secret(database))
    owner.get("/manage/")
    owner.get("/manage/surveys/new")
    owner.get(f"/manage/surveys/{different}/edit")
    owner.post("/manage/surveys/new", edited(pseudo("New"), pseudo("c?"), action="add"))
    owner.post("/manage/surveys/new", edited(pseudo("New"), pseudo("c?"), pseudo("d?"), action="remove-0"))
    owner.post("/manage/surveys/new", edited("", "", pseudo("d?"), gamma="0.7"))
    owner.post("/manage/surveys/new", edited(pseudo("New"), pseudo("c?")))
    for body in (b"", b"\xff", b'{"format": 1}'):
        part = (
            b'--X\r\nContent-Disposition: form-data; name="definition"; filename="a"\r\n\r\n%b\r\n--X--\r\n'
            % body
        )
        owner.post("/manage/surveys/import", part, Content_Type="multipart/form-data; boundary=X")
    for query in ("", "?gamma=0.1&questions=3", "?gamma=0.49", "?gamma=0.7"):
        owner.get(f"/manage/consequences{query}")
    owner.post(f"/manage/surveys/{changed.slug}/edit", edited(pseudo("Changed"), pseudo("c?")))
    for survey in (draft, *(published.slug for published in (empty, chance, impossible, closed, changed))):
        for page in (
            "",
            "/edit",
            "/preview",
            "/preview/survey.json",
            "/definition.json",
            "/qr.svg",
            "/results",
        ):
            owner.get(f"/manage/surveys/{survey}{page}")
        for page in (
            "report.html",
            "report.csv",
            "report.json",
            "responses.csv",
            "codebook.csv",
            "results?version=9",
        ):
            owner.get(f"/manage/surveys/{survey}/{page}")
    for action, survey in (
        ("publish", closed.slug),
        ("publish", changed.slug),
        ("close", draft),
        ("close", empty.slug),
    ):
        owner.post(f"/manage/surveys/{survey}/{action}")
    owner.post("/manage/surveys/new", edited(pseudo("x"), pseudo("c?")), Sec_Fetch_Site="cross-site")
    with factories.writing(database) as session:
        session.connection().exec_driver_sql("DROP TABLE responses")
    owner.get(f"/manage/surveys/{chance.slug}/results")
    owner.post("/manage/sign-out")
    return [stranger, newcomer, owner]


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
