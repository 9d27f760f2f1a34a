"""`python -m server verify`: what a site of this release serves agrees; what one serves that alters it is named."""

import asyncio
import hashlib
import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from click.testing import Result

from server.config import Config
from server.output.languages import RESPONDENT_LANGUAGES
from server.store.models import Stratum, Survey
from server.study import study_sheets, surveys
from server.web.app import create_app
from server.web.assets import read_assets
from server.web.page_manifest import make_manifest
from server.web.verifying.shells import ShellDrawer
from server.web.verifying.site_comparison import SiteComparison, compare_site
from tests.conftest import NewDatabase
from tests.support import every_kind, factories, ticket_buyers
from tests.support.tampering_proxy import Asked, Reply, Tamper, tampering

Site = tuple[str, dict[str, str]]
Answers = tuple[int, dict[str, list[str]], dict[str, dict[str, str]]]


SHEET = {
    "sponsor": 'The <b>union</b> & "co"',
    "contact_name": "Ana, 555 0100",
    "shown": True,
    "hand_over": {"ar": "نحن من <النقابة>.", "en": "We come from the union."},
    "thanks": {"en": "Thank you.\n\nSoon we know more."},
    "help_lines": {
        "en": "Samaritans: 116 123\nAdvice: https://advice.example/",
        "es": "Consejo: 900 100 200",
    },
    "completion_code": 'A"1',
    "completion_link": "https://panel.example/back?a=1&b=2",
}


@pytest.fixture(scope="module")
def site(sqlite: NewDatabase) -> Iterator[Site]:
    """A server, and a link in every state."""
    database_url = sqlite(True)
    whole = factories.publish(database_url)
    planted = factories.plant(database_url, whole.slug, 'North\nSouth <b> & "co"\nWest')
    factories.plant(database_url, whole.slug, "West > Coast")
    north, south, west = planted.values()
    with factories.writing(database_url) as session:
        for stratum in session.scalars(sa.select(Stratum)):
            stratum.population = 1537 if stratum.slug == north else None
    links = {"whole": whole.slug, "north": north, "south": south, "west": west, "unknown": "nothing"}
    later, earlier = surveys.now() + timedelta(days=2), surveys.now() - timedelta(days=2)
    settings: dict[str, dict[str, Any]] = {
        "plain": {},
        "invited": {"by_invitation": True, "forgets": True},
        "paused": {"paused": True, "forgets": True},
        "early": {"opens_at": later, "time_zone": "America/Mexico_City"},
        "over": {"closes_at": earlier},
        "full": {"cap": 1},
        "simulated": {"simulated": True, "keep_rows": 30, "keep_counts": 60, "keep_rest": 365},
        "asked": {"tablet": True},
        "offline": {"offline": True, "tablet": True, "keep_rows": 9},
    }
    published = {}
    for name, changes in settings.items():
        document = factories.definition([0.25] * (1 + len(name) % 3), title=f"Survey {name}", family="a" * 32)
        published[name] = factories.publish(database_url, document)
        links[name] = published[name].slug
        factories.settle(database_url, links[name], **changes)
    with factories.writing(database_url) as session:
        for survey in session.scalars(
            sa.select(Survey).where(Survey.slug.in_([links["asked"], links["paused"]]))
        ):
            study_sheets.save_study_sheet(session, survey, study_sheets.parse_study_sheet(SHEET))
            study_sheets.save_logo(session, survey, b"a picture")
    ticketed, shut = (ticket_buyers.publish(database_url, text)[0].slug for text in ("North\nSouth", ""))
    factories.settle(database_url, shut, paused=True)
    links |= {"ticketed": ticketed, "shut": shut}
    links["kinds"] = factories.publish(database_url, every_kind.document()).slug
    with factories.serving(database_url) as served:
        assert factories.ask(served.url + published["full"].url, published["full"].response())[0] == 201
        yield served.url, links


def run_apart(*arguments: str) -> Result:
    """A command that runs a loop of its own, where this thread may have one: that of a browser's tests."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(factories.run, "", *arguments).result()


def verify(url: str, *links: str) -> Answers:
    """The exit status, the problems of each thing that was compared, and what pages say of their surveys."""
    return read_answers(run_apart("verify", url, *links, "--json"))


def read_answers(done: Result) -> Answers:
    """What a comparison found."""
    document = json.loads(done.stdout)
    problems = {found["what"]: found["problems"] for found in document["compared"]}
    assert document["agrees"] == (done.exit_code == 0)
    return done.exit_code, problems, document["data"]


def assert_webcat_takes(manifest: dict[str, Any], url: str, slug: str, *logos: str) -> None:
    """As its browser extension does: extension/src/webcat/validators.ts, validateManifest, and response.ts."""
    assert manifest["files"]["/" + manifest["default_index"]]
    assert manifest["files"][manifest["default_fallback"]]
    assert manifest["wasm"] is not None
    assert "," not in manifest["default_csp"]
    assert manifest["default_csp"].startswith("default-src 'none';")
    fingerprint = read_assets().fingerprint
    # Also what a script fetches is held against its path, where that is named; what follows a ? is no part of it.
    beside = (f"/s/{slug}/{page}" for page in ("screens", "how", "receipt"))
    # So is a picture (PASS_THROUGH_TYPES), under the same policy as pages; the name is its SHA-256.
    shown = (f"/s/{one}/logo/{hashlib.sha256(b'a picture').hexdigest()}.png" for one in logos)
    for path in ("/", f"/s/{slug}", *beside, f"/client/{fingerprint}/answer.js", *shown):
        answer = httpx.get(f"{url}{path}?lang=es")
        digest = hashlib.sha256(answer.content).digest()
        assert answer.headers["Content-Security-Policy"] == manifest["default_csp"]
        named = manifest["files"]["/index.html" if path == "/" else path]
        assert urlsafe_b64decode(named + "=") == digest, path


def test_site_of_this_release_agrees_in_every_state(site: Site, tmp_path: Path) -> None:
    url, links = site
    written = tmp_path / "webcat.json"
    asked = ("--webcat", str(written), "--language", "es")
    done = run_apart("verify", url, *links.values(), "--json", *asked)
    status, problems, data = read_answers(done)
    assert [found for found in problems.items() if found[1]] == []
    manifest = json.loads(written.read_text())["manifest"]
    assert_webcat_takes(manifest, url, links["plain"], links["asked"], links["paused"])
    assert status == 0
    # It is written all the same, and those are named that WEBCAT will block.
    (told,) = (line for line in done.stderr.splitlines() if "WEBCAT" in line)
    kept = [links["offline"], f"{links['offline']}/tablet", f"{links['asked']}/tablet"]
    assert sorted(re.findall("/s/[^ ,:]+", told)) == sorted(f"/s/{page}" for page in kept)
    states = {name: data[slug]["state"] for name, slug in links.items()}
    assert states == {
        "whole": "open",
        "west": "divided",
        "north": "open",
        "south": "open",
        "unknown": "unknown",
        "plain": "open",
        "invited": "open, by invitation, without a note",
        "ticketed": "open, by invitation",
        "shut": "paused",
        "paused": "paused",
        "early": "early",
        "over": "closed",
        "full": "full",
        "simulated": "open, simulated",
        "asked": "open",
        "offline": "open, offline",
        "kinds": "open",
    }
    # Of others the numbers are not known that pages beside the link's own are drawn from: nobody says that they agree.
    shut = {links[name] for name, state in states.items() if not state.startswith("open")}
    beside = [one["what"] for one in json.loads(done.stdout)["compared"] if not one["whole"]]
    assert {what.split(",")[0] for what in beside} == {
        f"{what} of {slug}" for what in ("survey", "screens", "explanation", "tablet") for slug in shut
    }
    written = run_apart("verify", url, links["shut"]).stdout
    assert re.search(f"explanation of {links['shut']} +headers agree, .*not compared otherwise", written)
    assert re.search(f"receipts of {links['shut']} +same", written)
    assert data[links["north"]]["population"] == "1537"
    assert data[links["south"]]["group"] == 'South <b> & "co"'
    assert data[links["early"]]["zone"] == "America/Mexico City"
    assert data[links["plain"]]["title"] == "Survey plain"
    assert data[links["ticketed"]]["ticket keys"] == "3"
    for name in ("asked", "paused"):
        asked = json.loads(data[links[name]]["sender (es)"])
        assert asked["name"] == {"language": "", "text": SHEET["sponsor"]}
        assert asked["logo"] == hashlib.sha256(b"a picture").hexdigest()
        assert asked["help_lines"] == {"language": "es", "text": "Consejo: 900 100 200"}
    assert "family" in data[links["kinds"]]
    assert "family" not in data[links["plain"]], "what the definition says is no data"


def test_whatever_is_altered_is_named_with_who_met_it(site: Site) -> None:
    """Each attack at a page or a file of its own, all in one run; what nobody touched is the same."""
    url, links = site
    files = sorted(read_assets().contents)
    address = f"/client/{read_assets().fingerprint}/"

    def add_script(asked: Asked, reply: Reply) -> None:
        if "rv:140" in asked.agent:
            reply.replace(b"</head>", b'<script src="https://evil.example/x.js"></script></head>')

    def change_byte(asked: Asked, reply: Reply) -> None:
        if asked.language.startswith("es"):
            reply.body = reply.body[:-1] + bytes([reply.body[-1] ^ 1])

    def add_handler(asked: Asked, reply: Reply) -> None:
        reply.replace(b'<main id="main"', b'<main onfocus="steal()" id="main"')

    def add_handler_for_one(asked: Asked, reply: Reply) -> None:
        """Of a page with a thousand variants, all of which are drawn in each language to find the nearest."""
        if asked.language.startswith("es"):
            add_handler(asked, reply)

    def send_elsewhere(asked: Asked, reply: Reply) -> None:
        reply.replace(b'data-responses="/s/', b'data-responses="/S/')

    def keep_response(asked: Asked, reply: Reply) -> None:
        reply.replace(b'data-withdraws="/s/', b'data-withdraws="/S/')

    def answer_second(asked: Asked, reply: Reply) -> None:
        if asked.before == 1:
            reply.replace(b"<noscript>", b"<noscript >")

    def drop_policy(asked: Asked, reply: Reply) -> None:
        if asked.before == 1:
            reply.headers = [pair for pair in reply.headers if pair[0].lower() != "content-security-policy"]

    def set_cookie(asked: Asked, reply: Reply) -> None:
        reply.headers.append(("Set-Cookie", "who=1"))

    def loosen_policy(asked: Asked, reply: Reply) -> None:
        if "Android" in asked.agent:
            reply.headers = [
                (name, value.replace("connect-src 'self'", "connect-src *")) for name, value in reply.headers
            ]

    def mark_visitor(asked: Asked, reply: Reply) -> None:
        if "Android" not in asked.agent:
            place = reply.body.index(b'data-round="') + len(b'data-round="')
            reply.body = reply.body[:place] + b"d" * 32 + reply.body[place + 32 :]

    def put_markup(asked: Asked, reply: Reply) -> None:
        reply.replace(b">North</strong>", b"><i>North</i></strong>")

    def redirect(asked: Asked, reply: Reply) -> None:
        reply.status, reply.body = 302, b""
        reply.headers.append(("Location", "https://evil.example/"))

    def cut(asked: Asked, reply: Reply) -> None:
        reply.cut = 1

    def answer_plain(asked: Asked, reply: Reply) -> None:
        if asked.encoding == "identity":
            reply.body += b"\n"

    def preload(asked: Asked, reply: Reply) -> None:
        reply.headers.append(("Link", "<https://evil.example/>; rel=preconnect"))

    def divert_later(asked: Asked, reply: Reply) -> None:
        reply.headers.append(("Alt-Svc", 'h3=":443"; ma=60, h2="evil.example:443"'))

    def speak_quic(asked: Asked, reply: Reply) -> None:
        reply.headers.append(("Alt-Svc", 'h3=":443"; ma=2592000'))

    def weaken(asked: Asked, reply: Reply) -> None:
        if "rv:145" in asked.agent:
            reply.replace(b"Question 1?", b"Question 1!")

    def forge(asked: Asked, reply: Reply) -> None:
        made_up = b'{"questions":[{"kind":"none","designs":3}]}'
        version = hashlib.sha256(made_up).hexdigest().encode()
        reply.status, reply.body = 200, b'{"definition":%b,"version":"%b"}' % (made_up, version)

    def divert_call(asked: Asked, reply: Reply) -> None:
        reply.replace(b'"tel:116123"', b'"tel:900123"')

    def load_other_picture(asked: Asked, reply: Reply) -> None:
        reply.replace(b'<img src="/s/', b'<img src="/S/')

    def lengthen_keeping(asked: Asked, reply: Reply) -> None:
        reply.replace("٦٠".encode(), "٦٠<b>٠</b>".encode())

    def lengthen_later(asked: Asked, reply: Reply) -> None:
        if asked.before == 1:
            reply.replace(b">60<", b">70<")

    def say_otherwise(asked: Asked, reply: Reply) -> None:
        if asked.path.endswith("arab") or asked.language.startswith("ar"):
            reply.replace("نحن من".encode(), "لسنا من".encode())

    def ask_for_more(asked: Asked, reply: Reply) -> None:
        if "rv:145" in asked.agent:
            reply.replace(b'<template id="review">', b'<template id="review"><img src="/s/told">')

    def reword_second(asked: Asked, reply: Reply) -> None:
        if asked.before == 1:
            reply.replace(b"<h1>", b"<h1> ")

    def change_worker(asked: Asked, reply: Reply) -> None:
        if asked.before == 1:
            reply.replace(b"10000", b"10001")

    def serve_another(asked: Asked, reply: Reply) -> None:
        if asked.language.startswith("fr"):
            reply.body = read_assets().contents["respondent_blinding.js"]

    def swell(asked: Asked, reply: Reply) -> None:
        reply.body = b" " * (5 << 20)

    def s(name: str) -> str:
        return f"/s/{links[name]}"

    tampers: dict[str, Tamper] = {
        s("plain"): add_script,
        f"{s('plain')}?lang=ar-u-nu-arab": add_handler,
        f"{s('plain')}/survey.json": weaken,
        s("asked"): divert_call,
        f"{s('asked')}/how": load_other_picture,
        f"{s('whole')}/how": add_handler,
        f"{s('invited')}/how?lang=es": add_handler,
        f"{s('asked')}/logo/{hashlib.sha256(b'a picture').hexdigest()}.png": set_cookie,
        f"{s('simulated')}/how?lang=ar-u-nu-arab": lengthen_keeping,
        f"{s('simulated')}/how": lengthen_later,
        f"{s('asked')}/tablet": say_otherwise,
        f"{s('asked')}/tablet?lang=ar-u-nu-arab": say_otherwise,
        f"{s('kinds')}/receipt?lang=ar-u-nu-arab": keep_response,
        f"{s('kinds')}/receipt": keep_response,
        s("whole"): add_handler,
        s("invited"): send_elsewhere,
        s("kinds"): answer_second,
        s("simulated"): mark_visitor,
        s("north"): put_markup,
        s("south"): redirect,
        s("paused"): add_handler_for_one,
        f"{s('paused')}/survey.json": forge,
        f"{s('kinds')}/survey.json": set_cookie,
        "/": loosen_policy,
        "/?lang=fr": add_handler,
        "/?lang=pt": drop_policy,
        f"{s('plain')}/screens": ask_for_more,
        f"{s('asked')}/screens?lang=pt": reword_second,
        f"{s('whole')}/screens?lang=fr": cut,
        address + "respondent_sending.js": serve_another,
        address + files[0]: change_byte,
        address + files[1]: cut,
        address + files[2]: answer_plain,
        address + files[3]: preload,
        address + files[4]: set_cookie,
        address + files[5]: redirect,
        address + files[6]: swell,
        address + files[7]: divert_later,
        address + files[8]: speak_quic,
        address + "offline_worker.js": change_worker,
    }
    touched = ("asked", "plain", "whole", "invited", "kinds", "simulated", "north", "south", "paused")
    with tampering(url, tampers) as through:
        status, problems, _ = verify(through, *(s(name) for name in touched))
    assert status == 1

    def page(name: str) -> str:
        return f"page of {links[name]}"

    def of(what: str) -> str:
        return " ".join(problems.pop(what))

    script = of(page("plain"))
    assert "loads 'https://evil.example/x.js', which is not in the manifest (Tor Browser, English" in script
    assert "phone" not in script
    eastern = " · ".join((RESPONDENT_LANGUAGES["ar"].name, RESPONDENT_LANGUAGES["ar"].digits["arab"]))
    assert "onfocus" in of(f"{page('plain')}, in {eastern}")
    assert "desk, English, visit 1" in (found := of(f"survey of {links['plain']}"))
    assert "phone" not in found
    assert "<main> has onfocus='steal()' (each of the visits)" in of(page("whole"))
    assert "tel:900123" in of(page("asked"))
    assert "loads '/S/" in of(f"explanation of {links['asked']}")
    assert "onfocus" in of(f"explanation of {links['whole']}")
    assert "its counts is '70', and was '60' before (" in (
        found := of(f"explanation of {links['simulated']}")
    )
    assert "visit 1" not in found
    assert "onfocus='steal()' (each of the visits)" in of(f"explanation of {links['invited']}, in Español")
    assert "'/s/told'" in (found := of(f"screens of {links['plain']}"))
    assert "desk, English, visit 1" in found
    assert "phone" not in found
    assert "English, visit 2" in (found := of(f"screens of {links['asked']}, in Português"))
    assert "visit 1" not in found
    assert "no whole answer" in of(f"screens of {links['whole']}, in Français")
    assert "(phone, French, visit 1; phone, French, visit 2)" in of(address + "respondent_sending.js")
    assert "set-cookie" in of(f"logo of {links['asked']}")
    assert "<b>٠</b>" in of(f"explanation of {links['simulated']}, in {eastern}")
    assert "لسنا" in (found := of(f"tablet of {links['asked']}"))
    assert "desk, Arabic, visit 2" in found
    assert "English" not in found
    assert "لسنا" in of(f"tablet of {links['asked']}, in {eastern}")
    assert 'data-withdraws="/S/' in of(f"receipts of {links['kinds']}, in {eastern}")
    assert 'data-withdraws="/S/' in of(f"receipts of {links['kinds']}")
    assert 'data-responses="/S/' in of(page("invited"))
    assert "visit 1" not in (found := of(page("kinds")))
    assert "'<noscript >' instead of '<noscript>' (phone, English, visit 2;" in found
    assert f"its round is {'d' * 32!r}, and was" in (found := of(page("simulated")))
    assert "phone" not in found
    assert "><i>North</i></strong> (1,537 people)" in of(page("north"))
    assert "sends a header location: 'https://evil.example/'" in of(page("south"))
    assert "onfocus" in (found := of(page("paused")))
    assert "English" not in found
    assert "not a published survey" in of(f"survey of {links['paused']}")
    assert "sends a header set-cookie: 'who=1', which the release does not (each of the visits)" in of(
        f"survey of {links['kinds']}"
    )
    assert "its header content-security-policy is" in (found := of("front page"))
    assert "connect-src *" in found
    assert "desk" not in found
    assert "SHA-256" in of("front page, in Français")
    assert "sends no header content-security-policy" in (found := of("front page, in Português"))
    assert "visit 1" not in found
    assert "visit 1" not in of(address + "offline_worker.js")
    assert "SHA-256" in (found := of(address + files[0]))
    assert "English" not in found
    assert "no whole answer" in of(address + files[1])
    assert "visit 1" not in (found := of(address + files[2]))
    assert "phone, French, visit 2" in found
    assert "link" in of(address + files[3])
    assert "set-cookie" in of(address + files[4])
    assert "answers with status 302 instead of 200" in of(address + files[5])
    assert "more than" in of(address + files[6])
    assert "evil.example:443\"', which may lead to another host" in of(address + files[7])
    assert {what: found for what, found in problems.items() if found} == {}


def test_a_site_that_drips_or_is_not_there(site: Site, tmp_path: Path) -> None:
    url, _links = site

    def drip(asked: Asked, reply: Reply) -> None:
        reply.pause = 0.5

    def alter_first(asked: Asked, reply: Reply) -> None:
        if "Android" in asked.agent and asked.language.startswith("en") and not asked.before:
            reply.replace(b"<h1>", b"<h1> ")

    with tampering(url, {"/client/manifest.json": drip, "/": alter_first}) as through:
        compared = compare_quickly(through, tmp_path)
    front, dripping = (found for found in compared.findings if found.problems)
    assert (front.what, dripping.what) == ("front page", "/client/manifest.json")
    assert front.problems[0].endswith("(phone, English, before the visits)")
    (problem,) = dripping.problems
    assert problem.startswith("no whole answer within 15 seconds; not asked for again (")
    done = run_apart("verify", f"http://127.0.0.1:{factories.free_port()}")
    assert done.exit_code == 2
    assert "cannot be reached" in done.output


def compare_quickly(url: str, folder: Path) -> SiteComparison:
    """The files and the front page alone, with less patience: a busy machine answers in time whatever does not drip."""
    app = create_app(Config(database_url=f"sqlite:///{folder / 'none.sqlite3'}"))
    manifest = make_manifest(read_assets())
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(
            lambda: asyncio.run(compare_site(app, manifest, url, [], lambda _done, _of: None, longest=15))
        ).result()


def test_a_page_is_looked_for_first_where_one_like_it_was_met(tmp_path: Path) -> None:
    """A closed link's page has a thousand variants: in its other languages it is that of the language before."""
    app = create_app(Config(database_url=f"sqlite:///{tmp_path / 'none.sqlite3'}"))
    drawer = ShellDrawer(app)
    english = list(islice(drawer.draw_shut("abc", "en", forgets=False), 40))
    drawer.note_match(english[10])
    drawer.note_match(english[30])
    for language in ("es", "ar"):
        first, second, third, *_ = drawer.draw_shut("abc", language, forgets=False)
        variants = [shell.variant for shell in (first, second, third)]
        assert variants == [english[place].variant for place in (30, 10, 0)]


@pytest.mark.parametrize(
    "url", ["survey.example", "ftp://survey.example", "https://u@survey.example", "https://a/s/x"]
)
def test_what_is_no_site_is_refused(url: str) -> None:
    done = run_apart("verify", url)
    assert done.exit_code == 2
    assert "URL must" in done.output


def test_a_link_of_another_site_is_refused() -> None:
    done = run_apart("verify", "https://a.example", "https://b.example/s/abc")
    assert done.exit_code == 2
    assert "must begin with https://a.example/s/" in done.output
