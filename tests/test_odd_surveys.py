"""Whatever is imported, typed or restored: every page answers, and none with a mistake of ours.

60 examples of odd definitions, drafts and archives in `make test`, 10,000 in `make test-long`; which pages
are opened of each, before it is published and after it was answered, is drawn too.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from server.config import Config
from server.inputs import form_fields
from tests.conftest import NewDatabase
from tests.support import every_kind, factories, sample_archives
from tests.support.front_client import create_app
from tests.support.odd_inputs import bent, odd_archives, odd_documents
from tests.support.scale import choose_size
from tests.support.strategies import documents

pytestmark = pytest.mark.scaled

EXAMPLES = choose_size(20, 139)
"""Of each kind (definitions, drafts, archives) in a part, which has a database of its own: beside thousands of surveys
a page would do little else than to read which tables there are."""
PARTS = choose_size(1, 24)
"""Each draws other examples; side by side where there are cores."""
LOOKS = choose_size(2, 4)
"""Pages that are opened of a survey at a time, each once."""
PATIENCE = 5
"""How often something is asked for that cannot be had at the moment."""
_MISTAKE = re.compile("(Type|Index|Key|Attribute|Name|Undefined|UnboundLocal|Recursion|Assertion)Error")
"""What no input explains; a number that cannot be computed is said in its part of a page."""
SLOW = {"results.report_pdf"}
"""Opened once in a while: a page of PDF takes as long as twenty others."""


@dataclass
class Site:
    """An application, its owner's browser, and what it logged of mistakes."""

    app: Flask
    client: FlaskClient
    database_url: str
    log: list[str]

    def ask(self, path: str, form: Any = None, **more: Any) -> TestResponse:
        """Open a page, or send a form; the answer is none with a mistake of ours.

        A machine that is too busy says when to come again: whoever does is answered.
        """
        for _ in range(PATIENCE):
            answer = self.client.get(path) if form is None else self.client.post(path, data=form, **more)
            if "Retry-After" not in answer.headers:
                break
            time.sleep(1)
        assert answer.status_code < 500, (path, answer.status_code, self.log)
        assert not any(map(_MISTAKE.match, self.log)), (path, self.log)
        return answer

    def pages(self, slug: str) -> list[str]:
        """Every page of a survey."""
        known = {"slug": slug, "link": slug, "number": 1}
        address = self.app.url_map.bind("localhost")
        return [
            address.build(rule.endpoint, {name: known[name] for name in rule.arguments})
            for rule in self.app.url_map.iter_rules()
            if "GET" in (rule.methods or ())
            and "slug" in rule.arguments
            and rule.arguments <= known.keys()
            and rule.endpoint not in SLOW
        ]


@pytest.fixture
def site(sqlite: NewDatabase) -> Iterator[Site]:
    database_url = sqlite(True)
    app = create_app(Config(database_url=database_url))
    client = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    log: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: log.append(record.getMessage())  # type: ignore[method-assign]
    app.logger.addHandler(handler)
    yield Site(app, client, database_url, log)
    app.extensions["moneda.engine"].dispose()


@pytest.fixture
def whole(site: Site) -> bytes:
    """The archive of a study with everything in it."""
    return sample_archives.export(site.client, sample_archives.study(site.client, site.database_url))


def walk(site: Site, slug: str, draw: st.DataObject) -> None:
    """Open pages, rehearse, publish, answer, open pages again."""
    home = f"/manage/surveys/{slug}"
    pages = site.pages(slug)

    def look() -> None:
        for path in draw.draw(st.lists(st.sampled_from(pages), min_size=LOOKS, max_size=LOOKS, unique=True)):
            site.ask(path)

    look()
    site.ask(f"{home}/edit?check=1")
    if draw.draw(st.booleans()):
        site.ask(
            f"{home}/simulate", {"respondents": draw.draw(st.sampled_from(["1", "20", "0", "1e9", "nan"]))}
        )
    if site.ask(f"{home}/publish", {"despite_plan": "yes"}).status_code == 303:
        published = site.ask(f"/s/{slug}/survey.json").get_json()
        reports = [0] * sum(len(entry.get("designs", ())) for entry in published["definition"]["questions"])
        for number in range(draw.draw(st.sampled_from([0, 1, 12]))):
            body = {"id": f"{number:032x}", "version": published["version"], "reports": reports}
            site.ask(f"/s/{slug}/responses", json.dumps(body), content_type="application/json")
        factories.settle(site.database_url, slug, minimum=3)
    look()
    site.ask(f"{home}/results")
    if draw.draw(st.integers(1, 100)) == 77:  # hypothesis likes the ends
        site.ask(f"{home}/report.pdf")


def slug_in(answer: TestResponse) -> str:
    """The survey that a form's answer leads to."""
    return answer.location.partition("/surveys/")[2].partition("/")[0].partition("?")[0]


def _can_be_sent(written: str) -> bool:
    return "\\ud" not in written and not any("\ud800" <= letter <= "\udfff" for letter in written)


def try_examples(part: int, check: Callable[..., None], **drawn: st.SearchStrategy[Any]) -> None:
    """Draw the examples of a part, the same in each run, and check each."""
    seed(part)(settings(max_examples=EXAMPLES)(given(draw=st.data(), **drawn)(check)))()


@pytest.mark.parametrize("part", range(PARTS))
def test_odd_definitions(site: Site, part: int) -> None:
    def check(document: Any, draw: st.DataObject) -> None:
        body = json.dumps(document).encode("utf-8", "surrogatepass")
        form, kind = sample_archives.form_of(body, "survey.json")
        answer = site.ask(sample_archives.IMPORT, form, content_type=kind)
        if answer.status_code == 303:
            walk(site, slug_in(answer), draw)

    try_examples(part, check, document=odd_documents)


@pytest.mark.parametrize("part", range(PARTS))
def test_odd_drafts(site: Site, part: int) -> None:
    def check(document: Any, draw: st.DataObject) -> None:
        fields = form_fields(document)
        # A browser sends no half of a surrogate pair.
        written = {
            name: text
            for name, text in fields.items()
            if all(map(_can_be_sent, [name, *([text] if isinstance(text, str) else text)]))
        }
        action = draw.draw(
            st.sampled_from(["save", "add", "division", "up-1", "duplicate-0", "delete-0", "option-0"])
        )
        form = {**written, "action": action, "slider": draw.draw(st.sampled_from(["", "0.25", "0.5", "9"]))}
        answer = site.ask(
            "/manage/surveys/new", {**form, **draw.draw(st.sampled_from([{}, {"division": "equal"}]))}
        )
        if answer.status_code == 303:
            walk(site, slug_in(answer), draw)

    bent_documents = documents().flatmap(lambda whole: bent(whole, 12))
    try_examples(part, check, document=st.one_of(odd_documents, bent_documents))


@pytest.mark.parametrize("part", range(PARTS))
def test_odd_archives(site: Site, whole: bytes, part: int) -> None:
    def check(draw: st.DataObject) -> None:
        answer = sample_archives.send(site.client, draw.draw(odd_archives(whole)))
        assert answer.status_code < 500, site.log
        if answer.status_code == 201:
            slug = answer.text.partition('<a class="button primary" href="/manage/surveys/')[2].partition(
                '"'
            )[0]
            walk(site, slug, draw)

    try_examples(part, check)


def test_nothing_is_odd_about_every_kind(site: Site) -> None:
    """What the examples are made from is opened as it is, on every page."""
    slug = factories.publish(site.database_url, every_kind.document(), minimum=3).slug
    for path in [*site.pages(slug), f"/manage/surveys/{slug}/report.pdf"]:
        site.ask(path)
