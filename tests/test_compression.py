"""What a respondent's browser loads is small on the wire; what holds secrets is never compressed."""

import gzip
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from server.output.languages import RESPONDENT_LANGUAGES
from tests.browser import question_screens
from tests.support import every_kind, factories

MOST_BYTES = 50_000
"""Of a first load, in all (experience.md, Respondent 9)."""
MOST_BEFORE_START = 30_000
"""Until *Start* can be pressed: what stands in the page's head, the page and the definition."""

GZIP = {"Accept-Encoding": "gzip, deflate"}


def load_visit(client: FlaskClient, slug: str, **headers: str) -> dict[str, bytes]:
    """All that a visit loads until answers are sent: page, definition, later screens, and the files that they name."""
    texts = [client.get(f"/s/{slug}{path}").get_data(as_text=True) for path in ("", "/screens")]
    page = re.sub(r'<template id="spelling">.*?</template>', "", "".join(texts), flags=re.DOTALL)
    paths = re.findall(r'(?:src|href)="(/client/[^"]+)"', page)
    assert (
        len(paths) == len({*paths}) >= 9
    )  # an icon, style sheets, joined modules, and what plays once it is asked for
    return {
        path: client.get(path, headers=headers).get_data()
        for path in {f"/s/{slug}", f"/s/{slug}/screens", f"/s/{slug}/survey.json", *paths}
    }


@pytest.mark.parametrize("whole", [False, True], ids=["yes/no", "every kind"])
def test_a_first_load_is_small_on_the_wire(client: FlaskClient, database_url: str, whole: bool) -> None:
    document = every_kind.document() if whole else factories.definition()
    slug = factories.publish(database_url, document).slug
    plain = load_visit(client, slug)
    packed = load_visit(client, slug, **GZIP)
    unpacked = {
        path: gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body for path, body in packed.items()
    }
    assert unpacked == plain
    total = sum(map(len, packed.values()))
    print(f"\nFirst load: {total:,} bytes compressed, {sum(map(len, plain.values())):,} otherwise")
    assert total < MOST_BYTES


AGREED = {"consent": "I know **what** this is for.", "least_age": 18}
EVERYTHING = question_screens.everything(**AGREED)
LONG = EVERYTHING["questions"] * 3
"""Sixty entries of every kind, named anew."""
INVITED = {"by_invitation": True}
TICKETS = {**INVITED, "tickets": True}
SURVEYS: dict[str, tuple[dict[str, Any], dict[str, bool]]] = {
    "yes/no": (factories.definition(), {}),
    "agreed, checked, offline": (
        question_screens.survey(question_screens.CHECK, question_screens.QUESTIONS["stole"], **AGREED),
        {"offline": True},
    ),
    "sixty yes/no": (factories.definition([0.25] * 60), {}),
    "every kind": (every_kind.document(), {}),
    "by invitation": (factories.definition(), INVITED),
    "by invitation, every kind": (EVERYTHING, {**INVITED, "offline": True}),
    "tickets": (factories.definition(), TICKETS),
    "all there is": (EVERYTHING, {**TICKETS, "completions": True, "forgets": True, "offline": True}),
    "all there is, sixty entries": (
        question_screens.survey(
            *({**entry, "name": f"{entry['name']}{place}"} for place, entry in enumerate(LONG)), **AGREED
        ),
        {**TICKETS, "completions": True, "forgets": True, "offline": True},
    ),
}
"""What is asked, and how: all that makes a page larger but the researcher's own words and logo."""


@pytest.mark.parametrize("name", SURVEYS)
def test_little_is_loaded_until_start_can_be_pressed(
    client: FlaskClient, database_url: str, name: str
) -> None:
    """Of any survey, and all that comes later is pinned as well."""
    document, settings = SURVEYS[name]
    slug = factories.draft(database_url, document)
    factories.settle(database_url, slug, **settings)
    factories.publish(database_url, document, slug)
    for language in RESPONDENT_LANGUAGES:
        asked = {**GZIP, "Accept-Language": language}
        page = gzip.decompress(client.get(f"/s/{slug}", headers=asked).get_data()).decode()
        head, rest = page.split("</head>")
        assert f'<html lang="{language}"' in head
        assert f'data-screens="/s/{slug}/screens?lang={language}"' in rest
        paths = [f"/s/{slug}", f"/s/{slug}/survey.json", *re.findall(r'(?:src|href)="(/client/[^"]+)"', head)]
        total = sum(len(client.get(path, headers=asked).get_data()) for path in paths)
        print(f"\nUntil Start, {language}: {total:,} bytes compressed, {len(paths)} files")
        assert total <= MOST_BEFORE_START, language
        (later,) = re.findall('<template id="later">(.*?)</template>', rest, re.DOTALL)
        assert re.findall("<(?:script|link) [^>]*>", later) == re.findall("<[^>]* integrity=[^>]*>", later)
        assert not {*re.findall('/client/[^"]+', later)} & {*paths}


def test_the_same_page_is_the_same_bytes(client: FlaskClient, database_url: str) -> None:
    slug = factories.publish(database_url).slug
    bodies = {client.get(f"/s/{slug}/survey.json", headers=GZIP).get_data() for _ in range(2)}
    assert len(bodies) == 1


@pytest.mark.parametrize("accepted", ["", "identity", "br", "gzip;q=0", "*;q=0"])
def test_who_takes_no_gzip_gets_none(client: FlaskClient, database_url: str, accepted: str) -> None:
    slug = factories.publish(database_url).slug
    answer = client.get(f"/s/{slug}", headers={"Accept-Encoding": accepted} if accepted else {})
    assert "Content-Encoding" not in answer.headers
    assert answer.get_data().startswith(b"<!doctype html>")
    assert "Accept-Encoding" in answer.headers["Vary"]


def test_no_page_of_a_researcher_and_no_answer_to_a_form_is_compressed(
    signed_in: FlaskClient, survey: factories.Published
) -> None:
    stored = signed_in.post(survey.url, json=survey.response(), headers=GZIP)
    for answer in (stored, signed_in.get(f"/manage/surveys/{survey.slug}", headers=GZIP)):
        assert answer.status_code in (200, 201)
        assert "Content-Encoding" not in answer.headers
