"""Publishing, sharing, previewing and closing a survey."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import rfc8785
from flask import Flask
from flask.testing import FlaskClient
from lxml.html import document_fromstring

from tests.support import editor_form, factories
from tests.support.factories import Published, dump

VECTOR = json.loads((factories.ROOT / "tests" / "vectors" / "definition.json").read_text("utf-8"))


def _path(slug: str) -> str:
    return f"/manage/surveys/{slug}"


def _retype(signed_in: FlaskClient, slug: str, gamma: float) -> None:
    """Change the title, and the first question's gamma, in the editor."""
    changes = {"title": "Again", "questions[0].design.gamma": str(gamma)}
    assert editor_form.edit(signed_in, slug).type(changes).press("keep").answer.status_code == 200


def test_published_definition_is_canonical_and_named_by_its_hash(
    client: FlaskClient, database_url: str
) -> None:
    """The vector's hash was worked out by hand: its canonical text and hashlib."""
    document = json.loads(VECTOR["canonical"])
    del document["epsilon"]
    for question in document["questions"]:
        del question["designs"], question["epsilon"]
    survey = factories.publish(database_url, document)

    answer = client.get(f"/s/{survey.slug}/survey.json")

    assert answer.get_json() == {"definition": VECTOR["definition"], "version": VECTOR["sha256"]}
    assert VECTOR["canonical"].encode() in answer.data
    assert hashlib.sha256(rfc8785.dumps(answer.get_json()["definition"])).hexdigest() == survey.version


def test_publishing_freezes_and_opens(signed_in: FlaskClient, client: FlaskClient, database_url: str) -> None:
    slug = factories.draft(database_url, factories.definition())
    assert client.get(f"/s/{slug}").status_code == 404
    assert client.get(f"/s/{slug}/survey.json").status_code == 404

    answer = signed_in.post(f"{_path(slug)}/publish")

    assert (answer.status_code, answer.location) == (303, _path(slug))
    assert client.get(f"/s/{slug}").status_code == 200
    version = client.get(f"/s/{slug}/survey.json").get_json()["version"]
    overview = signed_in.get(_path(slug)).text
    assert version in overview
    assert f"http://localhost/s/{slug}" in overview


@pytest.mark.parametrize(("number", "folds"), [(10, 0), (11, 1)])
def test_the_wordings_of_many_questions_are_folded_to_a_line(
    number: int, folds: int, signed_in: FlaskClient, database_url: str
) -> None:
    questions = [factories.question(f"q{place}", f"Question {place}?") for place in range(number)]
    survey = factories.publish(database_url, factories.definition(questions=questions, budget=number * 2))
    page = document_fromstring(signed_in.get(_path(survey.slug)).text)

    assert len(page.xpath("//ol[contains(@class, 'wording')]/li")) == number
    assert len(page.xpath("//details[ol[contains(@class, 'wording')]]")) == folds


def test_editing_a_published_survey_changes_nothing_for_respondents(
    signed_in: FlaskClient, client: FlaskClient, survey: Published
) -> None:
    before = client.get(f"/s/{survey.slug}/survey.json").data

    _retype(signed_in, survey.slug, 0.1)

    assert client.get(f"/s/{survey.slug}/survey.json").data == before
    signed_in.post(f"{_path(survey.slug)}/publish")
    assert client.get(f"/s/{survey.slug}/survey.json").data != before


@pytest.mark.parametrize("gammas", [[0.26, 0.1], [0.25, 0.11], [0.4, 0.4]])
def test_new_version_with_less_privacy_is_refused(
    gammas: list[float], signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    """Promised: epsilon ln 3 = 1.0987 for gamma 1/4 and ln 1.5 = 0.4055 for gamma 1/10, rounded up."""
    factories.save(database_url, survey.slug, factories.definition(gammas))
    before = dump(database_url)

    answer = signed_in.post(f"{_path(survey.slug)}/publish")

    assert answer.status_code == 409
    limit, value = {0.26: ("1.0987", "1.1527"), 0.25: ("0.4055", "0.4474"), 0.4: ("1.0987", "2.1973")}[
        gammas[0]
    ]
    said = answer.text.partition('role="alert"')[2].partition("</ul>")[0]
    assert limit in said
    assert value in said
    assert dump(database_url) == before


@pytest.mark.parametrize("gammas", [[0.25, 0.09], [0.2, 0.1], [0.001, 0.001], [0.25, 0.1, 0.499]])
def test_new_version_with_as_much_privacy_is_published(
    gammas: list[float], signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    newer = factories.publish(database_url, factories.definition(gammas, title="Again"), survey.slug)

    assert newer.version != survey.version
    assert "2" in signed_in.get(_path(survey.slug)).text
    assert len(dump(database_url)["survey_versions"]) == 2


def test_question_under_another_name_keeps_its_promise(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, factories.definition([0.25]))
    wordings = ["Question 1?", "QUESTION  1?\n", "¿Quéstion, 1"]
    for text in wordings:
        renamed = factories.definition(questions=[factories.question("renamed", text, gamma=0.26)])
        factories.save(database_url, survey.slug, renamed)
        before = dump(database_url)

        answer = signed_in.post(f"{_path(survey.slug)}/publish")

        assert answer.status_code == 409, text
        assert "1.0987" in answer.text
        assert dump(database_url) == before


def test_privacy_once_tightened_is_not_loosened_again(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, factories.definition([0.25]))
    factories.publish(database_url, factories.definition([0.1]), survey.slug)
    factories.publish(
        database_url, factories.definition([0.1], questions=[factories.question("other")]), survey.slug
    )
    factories.save(database_url, survey.slug, factories.definition([0.1]))
    _retype(signed_in, survey.slug, 0.2)

    assert signed_in.post(f"{_path(survey.slug)}/publish").status_code == 409
    assert len(dump(database_url)["survey_versions"]) == 3


def test_button_pressed_many_times_publishes_one_version(
    app: Flask, signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition())
    cookie = signed_in.get_cookie("moneda_sign_in", path="/manage")
    assert cookie is not None
    together = Barrier(8)

    def press(_number: int) -> int:
        browser = app.test_client()
        browser.set_cookie("moneda_sign_in", cookie.value, path="/manage")
        together.wait()
        return browser.post(f"{_path(slug)}/publish").status_code

    with ThreadPoolExecutor(8) as presses:
        statuses = set(presses.map(press, range(8)))

    assert statuses == {303}
    assert len(dump(database_url)["survey_versions"]) == 1


def test_preview_shows_the_draft_and_stores_nothing(
    signed_in: FlaskClient, client: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition())
    before = dump(database_url)

    page = signed_in.get(f"{_path(slug)}/preview")
    definition = signed_in.get(f"{_path(slug)}/preview/survey.json").get_json()

    assert page.status_code == 200
    assert definition["version"] in page.text
    assert 'data-responses=""' in page.text
    response = {"id": "0" * 32, "version": definition["version"], "reports": [0, 0]}
    assert client.post(f"/s/{slug}/responses", json=response).status_code == 404
    assert dump(database_url) == before


def test_closing_ends_a_survey_and_keeps_its_results(
    signed_in: FlaskClient, client: FlaskClient, survey: Published, database_url: str
) -> None:
    client.post(survey.url, json=survey.response([1, 1]))

    assert signed_in.post(f"{_path(survey.slug)}/close").status_code == 303

    assert client.get(f"/s/{survey.slug}").status_code == 410
    assert client.get(f"/s/{survey.slug}/survey.json").status_code == 410
    assert client.post(survey.url, json=survey.response()).status_code == 410
    assert signed_in.get(f"{_path(survey.slug)}/report.json").get_json()["n"] == 1
    assert signed_in.post(f"{_path(survey.slug)}/publish").status_code == 409
    assert len(dump(database_url)["responses"]) == 1


def test_draft_has_nothing_to_close_or_to_report(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.draft(database_url, factories.definition())

    assert signed_in.post(f"{_path(slug)}/close").status_code == 409
    for page in ("results", "report.html", "report.csv", "report.json", "responses.csv", "codebook.csv"):
        assert signed_in.get(f"{_path(slug)}/{page}").status_code == 409


def test_pages_without_scripts_offer_respondents_no_form(client: FlaskClient, survey: Published) -> None:
    page = client.get(f"/s/{survey.slug}").text

    assert "<noscript>" in page
    outside = page.partition("<template")[0]
    assert not [tag for tag in ("<form", "<input", "<button", "<select", "<textarea") if tag in outside]


def test_a_survey_with_a_stratum_of_too_few_people_is_not_published(
    signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition())
    factories.settle(database_url, slug, minimum=10)
    factories.plant(database_url, slug, "A, 30\nB, 12")
    factories.settle(database_url, slug, minimum=13)
    form = {"despite_plan": "yes"}

    answer = signed_in.post(f"/manage/surveys/{slug}/publish", data=form)

    assert answer.status_code == 409
    assert "at least as many people as the smallest group shown, 13; “B” has 12" in answer.text
    factories.settle(database_url, slug, minimum=12)
    assert signed_in.post(f"/manage/surveys/{slug}/publish", data=form).status_code == 303


def test_what_publishing_has_decided_says_so_before_it_is_explained(
    signed_in: FlaskClient, database_url: str
) -> None:
    """Explanations are folded; why a box cannot be ticked any more is not."""
    slug = factories.publish(database_url).slug
    page = signed_in.get(f"/manage/surveys/{slug}/schedule").text
    for name in ("tickets", "completions"):
        box, _, after = page.partition(f'name="{name}"')[2].partition("<details")
        assert " disabled" in box
        assert "This was decided when the survey was published, and stays so." in box
        assert f'id="hint-{name}"' in after.partition("</details>")[0]
    assert "decided when" not in page.partition('name="offline"')[2].partition("<details")[0]
    page = signed_in.get(
        f"/manage/surveys/{factories.draft(database_url, factories.definition([0.25]))}/schedule"
    ).text
    for name, said in (
        ("tickets", "Once the survey is published, this stays as it is."),
        ("forgets", "Once the survey is published, this can be switched on, never off."),
    ):
        assert said in page.partition(f'name="{name}"')[2].partition("<details")[0]
