"""The consequences of the slider, the plan beside a survey, and the launch that asks first."""

import html
import math
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import dump

TOO_FEW = {"respondents": 300, "margin": 0.05}
ENGLISH, SPANISH = {"Accept-Language": "en"}, {"Accept-Language": "es"}


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here is the same on every database."""
    return sqlite(True)


def words(page: str) -> str:
    """What a page says, on one line."""
    return " ".join(html.unescape(page).replace("\N{NO-BREAK SPACE}", " ").split())


def _sharing(questions: int, **changes: object) -> dict[str, Any]:
    """Questions that share a budget of ln 3 for each."""
    made = factories.definition([0.25] * questions, budget=questions * math.log(3), **changes)
    for question in made["questions"]:
        question["design"] = {"mechanism": "coin_flip"}
    return made


def _slider(client: FlaskClient, slug: str, language: dict[str, str]) -> str:
    """What the editor says of the setting of its slider."""
    page = client.get(f"/manage/surveys/{slug}/edit", headers=language).text
    return words(page.partition('id="consequences"')[2].partition("</dl>")[0])


def test_the_slider_shows_what_its_setting_means_for_the_margin_that_was_chosen(
    signed_in: FlaskClient, database_url: str
) -> None:
    plan = {"respondents": 300, "margin": 0.1}
    slug = factories.draft(database_url, _sharing(3, plan=plan))

    said = _slider(signed_in, slug, ENGLISH)

    assert (
        "Of 100 people who enter No, 25 are recorded as Yes. Of 100 who enter Yes, 75 are recorded as Yes."
        in said
    )
    assert "with γ = 0.25" in said
    assert "ε = 1.10" in said
    assert "respondents for ± 10 points, 4.0 times as many as if asked directly" in said
    assert "<dd>385</dd>" in said  # z^2 / 4 / (0.5 * 0.1)^2
    assert "<dd>25.0 %</dd>" in said


def test_without_a_plan_the_slider_speaks_of_five_points(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.draft(database_url, _sharing(1))

    said = _slider(signed_in, slug, ENGLISH)

    assert "± 5 points" in said
    assert "<dd>1,537</dd>" in said
    assert "<dd>1537</dd>" in _slider(signed_in, slug, SPANISH)


def _publish(client: FlaskClient, slug: str, language: dict[str, str] | None = None, **form: str) -> Any:
    return client.post(f"/manage/surveys/{slug}/publish", data=form, headers=language or ENGLISH)


def test_publishing_asks_first_when_the_plan_cannot_be_kept(
    signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition([0.49, 0.25], plan=TOO_FEW))
    before = dump(database_url)

    asked = _publish(signed_in, slug)

    assert asked.status_code == 409
    said = words(asked.text)
    # 0.98 / (0.5 sqrt(300)) = 11.316 points; 0.98 / (0.98 sqrt(300)) = 5.774 points
    assert (
        "With 300 respondents, question 2 can be estimated to within ± 11.4 points, not ± 5 points. "
        "You would need 1,537." in said
    )
    assert "question 1 can be estimated to within ± 5.8 points, not ± 5 points. You would need 400." in said
    assert "Publish all the same" in said
    assert f"/manage/surveys/{slug}/edit" in asked.text
    assert dump(database_url) == before

    assert _publish(signed_in, slug, despite_plan="yes").status_code == 303
    assert signed_in.get(f"/s/{slug}").status_code == 200


def test_what_was_looked_at_is_asked_for_again_with_the_confirmation(
    signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition([0.25], plan=TOO_FEW))
    looked_at = signed_in.get(f"/manage/surveys/{slug}").text.partition('name="draft" value="')[2][:64]

    asked = _publish(signed_in, slug, draft=looked_at)

    assert f'name="draft" value="{looked_at}"' in asked.text
    factories.save(database_url, slug, factories.definition([0.3], plan=TOO_FEW))
    assert _publish(signed_in, slug, draft=looked_at, despite_plan="yes").status_code == 409
    assert not dump(database_url)["survey_versions"]


def test_the_questions_own_unit_is_named(signed_in: FlaskClient, database_url: str) -> None:
    number = {
        "name": "hours",
        "kind": "number",
        "text": "How many?",
        "low": 0,
        "high": 40,
        "step": 1,
        "unit": "hours",
        "design": {"mechanism": "stochastic_rounding", "epsilon": 1.0986122886681098},
    }
    slug = factories.draft(database_url, factories.definition(questions=[number], plan=TOO_FEW))

    said = words(_publish(signed_in, slug).text).replace('<span dir="auto">', "").replace("</span>", "")

    assert (
        "With 300 respondents, the mean of question 1 can be estimated to within ± 4.6 hours, not ± 2 hours. "
        "You would need 1,537." in said
    )


@pytest.mark.parametrize("plan", [{}, {"plan": {"respondents": 1537, "margin": 0.05}}])
def test_a_plan_that_can_be_kept_is_published_at_once(
    plan: dict[str, Any], signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition([0.25], **plan))

    assert _publish(signed_in, slug).status_code == 303


def test_a_survey_that_cannot_be_published_is_not_asked_about(
    signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.publish(database_url, factories.definition([0.25], plan=TOO_FEW)).slug
    factories.close(database_url, slug)

    answer = _publish(signed_in, slug)

    assert answer.status_code == 409
    assert "Publish all the same" not in answer.text


@pytest.mark.parametrize(("language", "needed"), [(ENGLISH, "1,537"), (SPANISH, "1537")])
@pytest.mark.parametrize("page", ["", "/edit"])
def test_the_plan_stands_beside_the_survey(
    page: str, language: dict[str, str], needed: str, signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition([0.25, 0.4], plan=TOO_FEW, budget=5))

    said = words(signed_in.get(f"/manage/surveys/{slug}{page}", headers=language).text)

    assert 'id="plan-total"' in said
    assert needed in said
