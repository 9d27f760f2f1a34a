"""Writing a survey: what is saved, and that nothing typed is ever lost."""

import html
import io
import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests import factories
from tests.conftest import NewDatabase
from tests.factories import dump

FORM: dict[str, Any] = {
    "language": "es",
    "title": "  Exámenes ",
    "introduction": "Quién pregunta\r\ny para qué",
    "gamma": "0.3",
    "name": ["", "paid", ""],
    "text": ["¿Ha copiado?", "¿Ha pagado?", "¿Se hizo pasar\r\npor otro?"],
}
NEW = "/manage/surveys/new"


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here happens before anything reaches a database."""
    return sqlite(True)


def _definition(client: FlaskClient, path: str) -> Any:
    return client.get(f"{path}/definition.json").get_json()


def _keeps(page: str, form: dict[str, Any]) -> bool:
    """Whether the editor on this page still has everything that was typed."""
    page = html.unescape(page)
    return (
        all(
            text.replace("\r\n", "\n") in page
            for text in (form["title"], form["introduction"], *form["text"])
        )
        and f'value="{form["language"]}" lang="{form["language"]}" selected' in page
        and f'value="{form["gamma"]}"' in page
        and all(f'name="name" value="{name}"' in page for name in form["name"] if name)
    )


def test_survey_is_saved_as_it_was_written(signed_in: FlaskClient) -> None:
    answer = signed_in.post(NEW, data=FORM)

    assert answer.status_code == 303
    saved = _definition(signed_in, answer.location)
    assert (saved["language"], saved["title"]) == ("es", "Exámenes")
    assert saved["introduction"] == "Quién pregunta\ny para qué"
    assert [question["name"] for question in saved["questions"]] == ["q1", "paid", "q2"]
    assert [question["text"] for question in saved["questions"]] == [
        "¿Ha copiado?",
        "¿Ha pagado?",
        "¿Se hizo pasar\npor otro?",
    ]
    assert {question["design"]["gamma"] for question in saved["questions"]} == {0.3}
    named = {**FORM, "title": "Exámenes", "name": ["q1", "paid", "q2"]}
    assert _keeps(signed_in.get(f"{answer.location}/edit").text, named)


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ({"title": ""}, None),
        ({"title": " \t "}, None),
        ({"title": "x" * 10_000}, "10000"),
        ({"title": "a\x00b"}, None),
        ({"introduction": "x" * 10_000}, "10000"),
        ({"language": "fr"}, "fr"),
        ({"gamma": "0.5"}, "0.5"),
        ({"gamma": "0.0"}, "0"),
        ({"gamma": "-0.1"}, "-0.1"),
        ({"gamma": "much"}, "much"),
        ({"gamma": ""}, None),
        ({"gamma": "nan"}, "nan"),
        ({"gamma": "1e999"}, "1e999"),
        ({"text": ["", "¿Ha pagado?", "x" * 501]}, "501"),
        ({"name": ["paid", "paid", ""]}, "paid"),
        ({"name": ["1st", "=1+1", ""]}, "1st"),
        ({"title": '"><script>alert(1)</script>', "gamma": "9.0"}, "9"),
    ],
    ids=str,
)
def test_refused_survey_keeps_everything_that_was_typed(
    changes: dict[str, Any], value: str | None, signed_in: FlaskClient, database_url: str
) -> None:
    before = dump(database_url)
    form = {**FORM, **changes}

    answer = signed_in.post(NEW, data=form)

    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    if value is not None:
        assert value in answer.text.partition('role="alert"')[2].partition("</ul>")[0]
    if "language" in changes:
        assert " selected" not in answer.text
    else:
        assert _keeps(answer.text, form)
    assert dump(database_url) == before


def test_adding_a_question_keeps_everything(signed_in: FlaskClient, database_url: str) -> None:
    answer = signed_in.post(NEW, data={**FORM, "action": "add"})

    assert answer.status_code == 200
    assert _keeps(answer.text, FORM)
    assert answer.text.count('name="text"') == 4
    assert not dump(database_url)["surveys"]


def test_removing_a_question_keeps_the_others(signed_in: FlaskClient, database_url: str) -> None:
    answer = signed_in.post(NEW, data={**FORM, "action": "remove-1"})

    assert answer.status_code == 200
    assert _keeps(answer.text, {**FORM, "name": ["", ""], "text": [FORM["text"][0], FORM["text"][2]]})
    assert "¿Ha pagado?" not in answer.text
    assert not dump(database_url)["surveys"]


@pytest.mark.parametrize(
    "action", ["remove-3", "remove--1", "remove-", "remove-x", "remove-" + "9" * 5000, "remove-²"]
)
def test_removing_a_question_that_is_not_there_removes_none(action: str, signed_in: FlaskClient) -> None:
    answer = signed_in.post(NEW, data={**FORM, "action": action})

    assert answer.status_code == 200
    assert answer.text.count('name="text"') == 3


def test_last_question_is_replaced_by_an_empty_one(signed_in: FlaskClient) -> None:
    answer = signed_in.post(NEW, data={**FORM, "name": "", "text": "¿Única?", "action": "remove-0"})

    assert answer.text.count('name="text"') == 1
    assert "¿Única?" not in answer.text


def test_draft_is_changed_by_the_editor(signed_in: FlaskClient) -> None:
    path = signed_in.post(NEW, data=FORM).location

    answer = signed_in.post(
        f"{path}/edit", data={**FORM, "title": "Otra", "name": "paid", "text": "¿Ha pagado?"}
    )

    assert (answer.status_code, answer.location) == (303, path)
    saved = _definition(signed_in, path)
    assert (saved["title"], [question["name"] for question in saved["questions"]]) == ("Otra", ["paid"])


def test_form_without_questions_is_refused(signed_in: FlaskClient, database_url: str) -> None:
    for form in ({}, {"title": "T"}, {**FORM, "name": [], "text": []}):
        assert signed_in.post(NEW, data=form).status_code == 422
    assert signed_in.post(NEW, data={**FORM, "name": ["a"]}).status_code == 422
    assert not dump(database_url)["surveys"]


@pytest.mark.parametrize(
    "query",
    [
        "gamma=0.25",
        "gamma=0.25&questions=3",
        "gamma=0.001&questions=0",
        "gamma=0.499&questions=" + "9" * 400,
        "",
    ],
)
def test_consequences_of_a_setting_are_shown(query: str, signed_in: FlaskClient) -> None:
    answer = signed_in.get(f"/manage/consequences?{query}")

    assert answer.status_code == 200
    assert "recorded as Yes" in answer.text


@pytest.mark.parametrize("gamma", ["0", "0.5", "-1", "nan", "inf", "1e-12"])
def test_consequences_of_an_impossible_setting_are_refused(gamma: str, signed_in: FlaskClient) -> None:
    assert signed_in.get(f"/manage/consequences?gamma={gamma}").status_code == 422


def test_definition_is_imported_from_a_file(signed_in: FlaskClient) -> None:
    document = factories.definition([0.1, 0.2, 0.3])
    file = io.BytesIO(json.dumps(document).encode())

    answer = signed_in.post("/manage/surveys/import", data={"definition": (file, "survey.json")})

    assert answer.status_code == 303
    assert _definition(signed_in, answer.location) == document


@pytest.mark.parametrize(
    "body",
    [b"", b"not JSON", b"\xff", b"[" * 100_000, b'{"format": 1}', b"null"],
    ids=lambda body: str(body)[:20],
)
def test_bad_file_is_refused(body: bytes, signed_in: FlaskClient, database_url: str) -> None:
    answer = signed_in.post("/manage/surveys/import", data={"definition": (io.BytesIO(body), "survey.json")})

    assert answer.status_code in (400, 422)
    assert 'role="alert"' in answer.text
    assert not dump(database_url)["surveys"]
    assert signed_in.post("/manage/surveys/import", data={}).status_code in (400, 422)


def test_saving_an_imported_survey_keeps_every_questions_own_setting(signed_in: FlaskClient) -> None:
    imported = factories.definition(gammas=[0.25, 0.1])
    file = (io.BytesIO(json.dumps(imported).encode()), "survey.json")
    place = signed_in.post("/manage/surveys/import", data={"definition": file}).location
    page = signed_in.get(f"{place}/edit").text
    assert "The questions have different settings" in page
    form = {
        "language": "en",
        "title": "Changed",
        "introduction": "",
        "name": [question["name"] for question in imported["questions"]],
        "text": [question["text"] for question in imported["questions"]],
        "question_gamma": ["0.25", "0.1"],
        "gamma_before": "0.25",
    }

    def saved(gamma: str) -> list[float]:
        signed_in.post(f"{place}/edit", data={**form, "gamma": gamma})
        stored = signed_in.get(f"{place}/definition.json").json
        return [question["design"]["gamma"] for question in stored["questions"]]

    assert saved("0.25") == [0.25, 0.1]
    # The slider, once moved, is for all of them.
    assert saved("0.2") == [0.2, 0.2]


@pytest.mark.parametrize("version", ["abc", "0", "2", "1.0", "-1", "9" * 40])
def test_a_version_that_does_not_exist_is_refused_with_the_range(
    signed_in: FlaskClient, database_url: str, version: str
) -> None:
    slug = factories.publish(database_url).slug
    answer = signed_in.get(f"/manage/surveys/{slug}/report.json?version={version}")
    assert answer.status_code == 404
    assert "from 1 to 1" in answer.json["error"]["message"]


@pytest.mark.parametrize("gamma", ["x", "0", "0.5", "nan"])
def test_consequences_of_a_setting_out_of_range_are_refused(signed_in: FlaskClient, gamma: str) -> None:
    answer = signed_in.get(f"/manage/consequences?gamma={gamma}")
    assert answer.status_code == 422
    assert f"it is {gamma}" in answer.text
