"""A form that ends early is never acted on, wherever it ends."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.test import EnvironBuilder, TestResponse

from server.web.form_ends import FIELD, NAME, VALUE, CutForm, FormRequest
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.form_client import end_fields, plain, write_multipart
from tests.support.full_installation import routes

Pair = tuple[str, str]
URLENCODED = "application/x-www-form-urlencoded"
TEMPLATES = Path(factories.ROOT, "templates")


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """A cut form is refused before any database is asked."""
    return sqlite(True)


def send(client: FlaskClient, path: str, body: bytes, kind: str = URLENCODED) -> TestResponse:
    return client.post(path, data=body, content_type=kind, headers={"Accept-Language": "en"})


def is_refused(answer: TestResponse) -> bool:
    return answer.status_code == 400 and "did not arrive whole, so nothing was changed" in answer.text


def part(name: str, text: str) -> bytes:
    return f'Content-Disposition: form-data; name="{name}"\r\n\r\n{text}'.encode()


def form(**fields: object) -> bytes:
    return urlencode(end_fields(fields.items()), doseq=True).encode()


def schedule() -> bytes:
    """Responses by invitation only, none of a group smaller than 100 shown."""
    return form(time_zone="UTC", opens_at="", closes_at="", cap="", minimum="100", by_invitation="yes")


def strata() -> bytes:
    return form(lines="\n".join(f"Place number {place}" for place in range(40, 50)), under="", action="add")


def budget() -> bytes:
    return form(epsilon="15", delta="0", neighbours="bounded")


def draft() -> bytes:
    fields: dict[str, object] = {"title": "Exams", "introduction": "", "language": "en", "base": "1"}
    for place in range(6):
        entry = f"questions[{place}]"
        fields |= {
            f"{entry}.name": f"q{place}",
            f"{entry}.kind": "yes_no",
            f"{entry}.text": f"Number {place}?",
        }
        fields[f"{entry}.design.mechanism"] = "coin_flip"
    return form(**{**fields, "action": "save"})


@pytest.mark.parametrize(
    ("page", "body"),
    [("schedule", schedule()), ("strata", strata()), ("releases/budget", budget()), ("edit", draft())],
)
def test_a_form_cut_at_any_byte_changes_nothing(
    page: str, body: bytes, signed_in: FlaskClient, database_url: str
) -> None:
    """Cut forms switched invitations off, added a "Place number 4", made a budget of 15 one of 1, lost questions."""
    slug = factories.publish(database_url).slug
    browser, path = plain(signed_in), f"/manage/surveys/{slug}/{page}"
    before = factories.dump(database_url)

    wrong = [end for end in range(len(body)) if not is_refused(send(browser, path, body[:end]))]

    assert wrong == []
    assert factories.dump(database_url) == before
    assert send(browser, path, body).status_code == 303
    assert factories.dump(database_url) != before


def test_an_import_cut_at_any_byte_changes_nothing(signed_in: FlaskClient, database_url: str) -> None:
    file = b'Content-Disposition: form-data; name="definition"; filename="a.json"\r\n\r\n'
    body, kind = write_multipart(file + b'{"format": 1, "title": "--X--&form_end=whole"}')
    browser, path = plain(signed_in), "/manage/surveys/import"
    before = factories.dump(database_url)

    wrong = [end for end in range(len(body)) if not is_refused(send(browser, path, body[:end], kind))]

    assert wrong == []
    assert send(browser, path, body, kind).status_code == 422
    assert factories.dump(database_url) == before


FIELDS = st.lists(
    st.tuples(st.text(), st.text() | st.sampled_from(["&form_end=whole", "form_end=whole", "whole"])),
    max_size=5,
).map(lambda fields: [(name, text) for name, text in fields if name != NAME])


@settings(max_examples=300)
@given(fields=FIELDS, data=st.data())
def test_whatever_a_form_holds_no_beginning_of_it_is_read(fields: list[Pair], data: st.DataObject) -> None:
    body = urlencode(end_fields(fields)).encode()
    end = data.draw(st.integers(0, len(body) - 1))

    with pytest.raises(CutForm):
        read(body[:end])
    assert sorted(read(body)) == sorted(fields)


@pytest.mark.parametrize(
    "fields",
    [
        [(NAME, VALUE), ("a", "b")],
        [("a", "b")],
        [("a", "b"), (NAME, "")],
        [("a", "b"), (NAME, "Whole")],
        [(NAME, VALUE), ("a", "b"), (NAME, VALUE)],
        [("a", "b"), (f"x{NAME}", VALUE)],
        [],
    ],
)
def test_the_field_must_be_the_last_and_whole_and_there_once(fields: list[Pair]) -> None:
    parts = [b"--X\r\n" + part(name, text) + b"\r\n" for name, text in fields]
    for body, kind in (
        (urlencode(fields).encode(), URLENCODED),
        (b"".join(parts) + b"--X--\r\n", "multipart/form-data; boundary=X"),
    ):
        with pytest.raises(CutForm):
            read(body, kind)


def test_a_file_behind_the_last_field_is_refused() -> None:
    body, kind = write_multipart(part("a", "b"))
    file = b'--X\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\nf\r\n--X--\r\n'

    assert read(body, kind) == [("a", "b")]
    for wrong in ((body.removesuffix(b"--X--\r\n") + file, kind), (body, kind.replace("=X", "=Y"))):
        with pytest.raises(CutForm):
            read(*wrong)


def test_every_route_refuses_what_is_no_whole_form(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.publish(database_url).slug
    browser, app = plain(signed_in), signed_in.application
    before = factories.dump(database_url)
    json = {f"respond.{name}" for name in "store look sell complete check_receipt take_back".split()}
    posted = [
        rule
        for method, rule in routes(app)
        # Programs send JSON: an object that ends early is none, and refused as such.
        if method == "POST" and rule.endpoint not in json and not rule.endpoint.startswith("api.")
    ]
    assert len(posted) > 40
    for rule in posted:
        known = {"slug": slug, "batch": 1, "number": 1, "search": 1, "secret": "unknown", "link": slug}
        path = app.url_map.bind("localhost").build(
            rule.endpoint, {name: known[name] for name in rule.arguments}
        )
        for body, kind in (
            (b"", ""),
            (b"", URLENCODED),
            (b"a=b", URLENCODED),
            (b"--X--\r\n", "multipart/form-data; boundary=X"),
            (b"{}", "application/json"),
            (b"form_end=whole", "text/plain"),
        ):
            assert is_refused(send(browser, path, body, kind)), (path, kind)
    assert factories.dump(database_url) == before


def test_the_refusal_is_told_in_both_languages(client: FlaskClient) -> None:
    for language, said in (("en", "nothing was changed"), ("es", "no se ha cambiado nada")):
        answer = plain(client).post(f"/manage/sign-in?lang={language}", data={"login": "ana"})
        assert answer.status_code == 400
        assert said in answer.text


def test_every_form_of_a_template_ends_with_the_field() -> None:
    found = 0
    for template in TEMPLATES.rglob("*.html"):
        for form in re.findall(r"<form\b.*?</form>", template.read_text("utf-8"), re.DOTALL):
            if 'method="post"' in form:
                found += 1
                assert re.search(r"\{\{ form_end \}\}\n?</form>\Z", form), (template.name, form)
            assert form.count("<form") == 1
    assert found > 40
    scripts = [script.read_text("utf-8") for script in Path(factories.ROOT, "client").glob("*.js")]
    assert [script for script in scripts if re.search(r"createElement\(.form.\)|<form", script)] == []


def test_the_field_is_hidden_and_nobody_s_text() -> None:
    assert f'<input type="hidden" name="{NAME}" value="{VALUE}">' == FIELD


def read(body: bytes, kind: str = URLENCODED) -> list[Pair]:
    """The fields that a view is given."""
    asked = FormRequest(EnvironBuilder(method="POST", data=body, content_type=kind).get_environ())
    return list(asked.form.items(multi=True))
