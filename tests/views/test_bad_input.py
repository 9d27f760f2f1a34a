"""Whatever is sent to a researcher's page is kept or refused: never a mistake of ours, never half of a change."""

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict
from werkzeug.routing import IntegerConverter
from werkzeug.test import TestResponse

from server.config import Config
from server.inputs import form_fields
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.form_client import write_multipart
from tests.support.front_client import create_app
from tests.support.scale import choose_size

WORDS = [
    *("", " ", "0", "-1", "7", "0.3", "1,5", "1e308", "-1e308", "1e-320", "9" * 299, "nan", "inf", "²", "٣", "1; 2; x"),
    *("true", "no", "yes", "red", "a b", "=1+1", "\r\n", "\u202e", "\N{COIN}", "é" * 5000, "<script>alert(1)</script>"),
    *("prefer_not_to_say", "unknown", "text", "section", "check", "yes_no", "select_one", "scale", "number"),
    *("k_ary", "unary", "ordinal", "kuk", "coin_flip", "party", "cups", "q1", "[a](javascript:b)", "{{ 7*7 }}"),
]  # fmt: skip
STRANGE = [
    *("\x00", "title\x00", "title.x", "title[0]", "questions", "questions[0]", "questions[x].text", "format", ""),
    *("questions[0].options", "questions[0].options[0]", "questions[0].design", "questions[0].show_if[0]", "plan"),
    *("questions[-1].text", "questions[101].text", "questions[9999].text", "plan.x", "a" * 5000, "[0]", "."),
]  # fmt: skip
QUERIES = [
    *"at option said check version draft framed lang margin gamma questions".split(),
    *"interval question figure row column row_answer column_answer".split(),
]
ASKED = [
    "",
    "0",
    "1",
    "-1",
    "1.5",
    "9" * 5000,
    "x",
    "²",
    "\x00",
    "%00",
    "<script>alert(1)</script>",
    "../..",
    "es",
]


@dataclass(frozen=True)
class Site:
    """One application for all tests of this file, with a published survey of every kind."""

    app: Flask
    client: FlaskClient
    database_url: str
    published: str


@pytest.fixture(scope="module")
def site(sqlite: NewDatabase) -> Iterator[Site]:
    database_url = sqlite(True)
    app = create_app(Config(database_url=database_url))
    client = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    yield Site(app, client, database_url, factories.publish(database_url, short()).slug)
    app.extensions["moneda.engine"].dispose()


def short() -> dict[str, Any]:
    """A survey of every kind, with less of each than `kinds.document`."""
    names = ("dice", "both", "paid", "party", "drugs", "mood", "mugs", "bins", "after")
    document = every_kind.document()
    asked = [entry for entry in document["questions"] if entry["name"] in names]
    check = {
        "name": "sure",
        "kind": "check",
        "text": "Sure?",
        "options": asked[3]["options"],
        "correct": "red",
    }
    shown = [{"name": "part", "kind": "section", "text": "Part"}, {**check, "feedback": "So."}]
    return {
        **document,
        "budget": 40,
        "plan": {"respondents": 100, "margin": 0.1},
        "questions": [*shown, *asked],
    }


def fields() -> dict[str, str | list[str]]:
    return form_fields(short())


def is_told(answer: TestResponse) -> bool:
    """Whether an answer is a page or an error as this site gives them: nothing that broke, nothing that runs."""
    if answer.status_code >= 500 or not (answer.content_type or "").startswith("text/html"):
        return answer.status_code < 500
    return "Traceback" not in answer.text and "<script>alert(1)" not in answer.text


def every_page(site: Site, slug: str) -> None:
    """All pages of a survey can be opened, whatever its draft holds."""
    for page in ("", "/edit", "/edit?check=1&at=0", "/preview", "/simulate", "/definition.json"):
        answer = site.client.get(f"/manage/surveys/{slug}{page}")
        assert (page, answer.status_code) == (page, 200)
        assert is_told(answer)


MISTAKES = st.dictionaries(
    st.sampled_from([*fields(), *fields(), "base", "current", "division", "slider", "added"])
    | st.sampled_from(STRANGE)
    | st.builds("questions[{}].{}".format, st.integers(0, 12), st.sampled_from(["kind", "show_if.question", "low"])),
    st.lists(st.sampled_from(WORDS) | st.text(max_size=20), min_size=1, max_size=2),
    max_size=4,
)  # fmt: skip
BUTTONS = "save keep add mine undo delete-0 up-9 renew-3 delete_option-3-1 x-² -".split()


@pytest.mark.parametrize("typed", ["x", "1e400", "-9"])
@pytest.mark.parametrize(
    ("place", "name"),
    [(8, "low"), (8, "high"), (8, "step"), (9, "low"), (9, "high"), (9, "step"), (9, "cuts")],
)
def test_a_range_that_is_none_yet_is_kept_in_the_draft_and_can_be_mended(
    site: Site, place: int, name: str, typed: str
) -> None:
    draft = factories.draft(site.database_url, short())
    form = {**fields(), f"questions[{place}].{name}": typed}

    answer = site.client.post(f"/manage/surveys/{draft}/edit", data={**form, "action": "keep"})

    assert answer.status_code == 303
    every_page(site, draft)
    assert f'name="questions[{place}].{name}"' in site.client.get(f"/manage/surveys/{draft}/edit").text


@pytest.mark.scaled
@settings(max_examples=choose_size(25, 800))
@given(
    mistakes=MISTAKES,
    action=st.sampled_from(BUTTONS),
    gone=st.sets(st.sampled_from(list(fields())), max_size=3),
)
def test_whatever_the_editor_sends_is_kept_or_refused_whole(
    site: Site, mistakes: Mapping[str, list[str]], action: str, gone: set[str]
) -> None:
    form = {name: value for name, value in fields().items() if name not in gone} | mistakes
    factories.forget_surveys(site.database_url, site.published)
    draft = factories.draft(site.database_url, short())
    before = factories.dump(site.database_url)

    answer = site.client.post(f"/manage/surveys/{draft}/edit", data={**form, "action": action})

    assert is_told(answer)
    if answer.status_code == 303:
        every_page(site, draft)
    else:
        assert answer.status_code in (400, 409, 422)
        assert factories.dump(site.database_url) == before


SHARES = [f"share {name}" for name in every_kind.assumed_shares()]


@pytest.mark.scaled
@settings(max_examples=choose_size(20, 600))
@given(
    form=st.dictionaries(
        st.sampled_from([*SHARES, "mean mugs", "mean bins", "share x.y", "share ", "mean", "\x00"]),
        st.sampled_from([word for word in WORDS if word != "7"]) | st.text(max_size=10),
        max_size=5,
    ),
    respondents=st.sampled_from(["20", "", "0", "1", "-1", "1e1", "2.5", "10001", "9" * 299, "1e308", "nan", "x"]),
)  # fmt: skip
def test_whatever_is_assumed_is_tried_or_refused(
    site: Site, form: Mapping[str, str], respondents: str
) -> None:
    before = factories.dump(site.database_url)

    answer = site.client.post(
        f"/manage/surveys/{site.published}/simulate", data={**form, "respondents": respondents}
    )

    assert is_told(answer)
    assert answer.status_code in (200, 422)
    assert factories.dump(site.database_url) == before


LINES = [
    "A > B, 3",
    "A\tB\t3",
    "A; 0",
    "> >",
    ", 7",
    "A > " * 9 + "B",
    '"A',
    "A > B > C\nA",
    "\ufeffpath,population\n1,1",
]
SETTINGS = {
    **{"time_zone": "Europe/Madrid", "opens_at": "2190-01-01T00:00", "closes_at": "2191-01-01T00:00"},
    **{"cap": "100", "minimum": "10", "by_invitation": "yes"},
}


@pytest.mark.scaled
@settings(max_examples=choose_size(20, 600))
@given(
    page=st.sampled_from(["strata", "schedule"]),
    form=st.dictionaries(
        st.sampled_from(
            [*SETTINGS, "lines", "under", "action", "name.1", "population.1", "name.99", "name.\x00"]
        ),
        st.sampled_from(WORDS + LINES + ["add", "up-1", "delete-1", "below-x", "up-" + "9" * 30])
        | st.text(max_size=12),
        max_size=5,
    ),
)
def test_whatever_strata_and_settings_hold_is_kept_or_refused_whole(
    site: Site, page: str, form: Mapping[str, str]
) -> None:
    factories.forget_surveys(site.database_url, site.published)
    slug = factories.draft(site.database_url, factories.definition())
    before = factories.dump(site.database_url)

    answer = site.client.post(f"/manage/surveys/{slug}/{page}", data={**SETTINGS, **form})

    assert is_told(answer)
    assert answer.status_code in (303, 404, 409, 422)
    for shown in ("", "/links", "/strata", "/schedule", "/links/sheet"):
        after = site.client.get(f"/manage/surveys/{slug}{shown}")
        assert is_told(after)
        assert after.status_code == 200
    if answer.status_code != 303:
        assert factories.dump(site.database_url) == before


def addresses(site: Site, method: str) -> list[str]:
    """Every address of researchers that takes this method, of the published survey."""
    adapter, rules = site.app.url_map.bind("localhost"), site.app.url_map.iter_rules()
    ours = [rule for rule in rules if rule.rule.startswith("/manage") and "secret" not in rule.arguments]
    taken = [rule for rule in ours if method in (rule.methods or ())]
    assert len(taken) > 7
    found = []
    for rule in taken:
        numbers = {name for name in rule.arguments if isinstance(rule._converters[name], IntegerConverter)}
        found.append(
            adapter.build(
                rule.endpoint,
                {name: 1 if name in numbers else site.published for name in rule.arguments},
            )
        )
    return found


@pytest.mark.parametrize("value", ASKED, ids=lambda value: value[:20])
def test_whatever_a_page_is_asked_for_is_shown_or_refused(value: str, site: Site) -> None:
    client = factories.sign_in(site.app.test_client(), factories.sign_in_secret(site.database_url))
    before = factories.dump(site.database_url)

    for path in addresses(site, "GET"):
        answer = client.get(path, query_string=dict.fromkeys(QUERIES, value))
        assert is_told(answer), path
        assert answer.status_code in (200, 302, 404, 409, 422), path
    assert factories.dump(site.database_url) == before


URLENCODED = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", None),
        (b"title=x", URLENCODED),
        (b"\xff\xfe\x00&form_end=whole", URLENCODED),
        (b'{"title": "x"}', "application/json"),
        (b"form_end=whole", "text/plain"),
        (b"--X\r\nnothing", "multipart/form-data; boundary=X"),
        (b"nothing", "multipart/form-data"),
        (b"x" * 100, "multipart/form-data; boundary=" + "X" * 5000),
    ],
)
def test_what_is_no_whole_form_changes_nothing(body: bytes, kind: str | None, site: Site) -> None:
    before = factories.dump(site.database_url)
    for path in addresses(site, "POST"):
        answer = site.client.post(path, data=body, content_type=kind)
        assert (path, answer.status_code) == (path, 400)
        assert is_told(answer)
    assert factories.dump(site.database_url) == before


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"form_end=whole", URLENCODED),
        (b"title=%ff%00&title[=1&=&&%&form_end=whole", URLENCODED),
        write_multipart(),
        write_multipart(b"Content-Disposition: form-data\r\n\r\nx"),
    ],
)
def test_other_forms_than_ours_change_nothing_that_is_published(body: bytes, kind: str, site: Site) -> None:
    after = factories.dump(site.database_url)
    for path in addresses(site, "POST"):
        if path.endswith(("/close", "/sign-out")):
            continue  # their form has no field of its own
        before = after
        answer = site.client.post(path, data=body, content_type=kind)
        after = factories.dump(site.database_url)
        assert is_told(answer), path
        refused = 403 if path == "/manage/sign-in" else 422  # there everything wrong is one and the same
        assert answer.status_code in (200, 201, 303, 400, 404, 409, 413, 415, refused), path
        assert all(after[table] == before[table] for table in ("survey_versions", "responses")), path


def test_huge_forms_are_refused_with_413(site: Site) -> None:
    before = factories.dump(site.database_url)
    part = b'Content-Disposition: form-data; name="definition"; filename="a.json"\r\n\r\n'
    forms = [
        (b"title=" + b"x" * (5 << 20) + b"&form_end=whole", URLENCODED),
        write_multipart(part + b" " * (5 << 20)),
    ]

    for path in addresses(site, "POST"):
        if path == "/manage/elsewhere":
            continue  # takes tables: how large they may be, is in tests/views/test_elsewhere.py
        for body, kind in forms:
            answer = site.client.post(path, data=body, content_type=kind)
            assert (path, kind, answer.status_code) == (path, kind, 413)
            assert is_told(answer)
            assert len(answer.data) < 20_000
    assert factories.dump(site.database_url) == before


def test_wrong_method_is_refused_on_every_address(site: Site) -> None:
    posted, got = addresses(site, "POST"), addresses(site, "GET")
    for path in {*posted, *got}:
        for method in ("PUT", "PATCH", "DELETE", *(() if path in posted else ("POST",))):
            answer = site.client.open(path, method=method)
            assert (method, path, answer.status_code) == (method, path, 405)
            assert is_told(answer)


@pytest.mark.parametrize(
    "changes",
    [
        {"questions": {}},
        {"questions": [[]]},
        {"questions": [{"kind": []}]},
        {"questions": [{"kind": "scale", "options": {}}]},
        {"budget": "1"},
        {"budget": 1e308},
        {"budget": 10**300},
        {"plan": []},
        {"plan": {"respondents": 1.5, "margin": None}},
        {"plan": {"respondents": 10**300, "margin": 1}},
    ],
    ids=str,
)
def test_definition_of_wrong_types_is_refused_by_field(changes: dict[str, Any], site: Site) -> None:
    before = factories.dump(site.database_url)
    document = json.dumps(short() | changes).encode()

    answer = site.client.post(
        "/manage/surveys/import",
        data=MultiDict([("definition", (io.BytesIO(document), "a.json")), ("language", "en")]),
        headers={"Accept-Language": "en"},
    )

    assert answer.status_code == 422
    assert is_told(answer)
    assert "must" in answer.text
    assert factories.dump(site.database_url) == before


def test_a_page_that_broke_is_noticed(site: Site) -> None:
    answer = site.client.get("/manage/surveys")
    assert is_told(answer)
    for status, text in (
        (500, "fine"),
        (200, "Traceback (most recent call last)"),
        (422, "<script>alert(1)"),
    ):
        answer = TestResponse([text.encode()], str(status), answer.headers, answer.request)
        assert not is_told(answer)
