"""A refusal names a field as the page beside it does: of every form, with something wrong in each of its fields."""

import html
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from server.inputs import form_fields
from server.web.problem_texts import FIELDS, TABLES
from tests.support import every_kind, factories
from tests.support.every_form import FORMS
from tests.support.full_installation import Scene, routes
from tests.support.sampling import choose
from tests.support.scale import scale

WRONG = ("", "x" * 5000)
"""Of which `make test` sends one for each field, drawn by the commit."""
WHOLE = "what was sent"
"""What is said of a message as a whole, that is none a page would send."""
_NAME = re.compile(
    r"<(?:li|p class=\"error\")[^>]*>\s*<(?:strong|a href=[^>]*)>([^<]*?):?</(?:strong|a)>:?\s"
)
_LABELS = re.compile(
    r"<(label|legend|summary|th|h\d|option|button)\b[^>]*>(.*?)</\1>|aria-label=\"([^\"]*)\"", re.DOTALL
)


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split()).casefold()


def list_named(page: str) -> list[str]:
    """What its refusals are about."""
    return [html.unescape(name) for name in _NAME.findall(page)]


def labels(page: str) -> list[str]:
    """What the fields of a page are called, and the parts of it that hold several."""
    return [plain(found[1] or found[2]) for found in _LABELS.findall(page)]


def is_named(name: str, known: list[str]) -> bool:
    """Whether a label says it; "Question 2, wording" is the field "Wording" of the second one."""
    part = plain(name.rpartition(", ")[2] if re.match(r"(Question|Item) \d", name) else name)
    return bool(re.fullmatch(rf"(question|item|line) \d+|{WHOLE}", part)) or any(
        part in label for label in known
    )


def is_shown(field: str, page: str) -> bool:
    """Whether a person can fill a field in; what is hidden only comes back as it was sent."""
    controls = re.findall(rf'<(?:input|select|textarea)\b[^>]*\bname="{re.escape(field)}"[^>]*>', page)
    return any('type="hidden"' not in control for control in controls)


def find_unnamed(page: str) -> set[str]:
    known = labels(page)
    return {name for name in list_named(page) if not is_named(name, known)}


def mistakes(endpoint: str, fields: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each field with something wrong in it."""
    for field in fields:
        wrong = WRONG if scale() == "long" else [choose(f"{endpoint} {field}", WRONG)]
        yield from ((field, value) for value in wrong)


@pytest.mark.scaled
@pytest.mark.parametrize("new_database", ["sqlite"], indirect=True)
def test_every_refusal_of_a_form_names_the_field_as_its_page_does(scene: Scene) -> None:
    rules = {rule.endpoint: rule for method, rule in routes(scene.app) if method == "POST"}
    found, refusals = {}, 0
    for endpoint, (person, fill) in FORMS.items():
        form: dict[str, Any] = {}
        fields = [name for name in fill(scene) if name != "in path"]
        scene.replace_survey()
        for field, value in mistakes(endpoint, fields):
            if not form:
                form = dict(fill(scene))
                path = scene.path(rules[endpoint], **form.pop("in path", {}))
            client = scene.app.test_client() if person == "signed out" else scene.people[person]
            answer = client.post(path, data={**form, field: value})
            assert answer.status_code < 500
            if answer.status_code < 400:
                scene.replace_survey()  # this one may be used up
                form = {}
            else:  # what was refused has changed nothing, so the same form is in order still
                refusals += len(list_named(answer.text))
                if is_shown(field, answer.text) and (wrong := find_unnamed(answer.text)):
                    found[endpoint, field, value[:20]] = wrong
    assert found == {}
    assert refusals > 50


@pytest.mark.parametrize("new_database", ["sqlite"], indirect=True)
def test_the_editor_names_every_field_of_every_kind_as_its_label_does(
    signed_in: FlaskClient, database_url: str
) -> None:
    """All fields of a survey of every kind, with the same mistake in each that is typed."""
    kept = re.compile(r"(language|format|.*\.(kind|name|mechanism|question|any_of|options))")
    typed = form_fields({**every_kind.document(), "plan": {"respondents": 100, "margin": 0.1}})
    said = set()
    for value in ("", "-1", "x" * 5000):
        draft = factories.draft(database_url, every_kind.document())
        wrong = {name: text if kept.fullmatch(name) else value for name, text in typed.items()}
        answer = signed_in.post(f"/manage/surveys/{draft}/edit", data={**wrong, "action": "save"})
        assert answer.status_code == 303
        page = signed_in.get(f"/manage/surveys/{draft}/edit?check=1").text
        assert find_unnamed(page) == set()
        said |= {name.rpartition(", ")[2] for name in list_named(page)}
    assert len(said) > 12


def test_no_field_is_called_something_in_two_places() -> None:
    assert len(FIELDS) == sum(map(len, TABLES))


def test_another_name_is_noticed() -> None:
    page = (
        '<label for="a">Budget ε for all releases together</label><ul><li><strong>{}:</strong> no</li></ul>'
    )
    assert find_unnamed(page.format("Loss ε")) == {"Loss ε"}
    assert find_unnamed(page.format("Budget ε for all releases together")) == set()
    assert find_unnamed(page.format("questions[0].x")) == {"questions[0].x"}
