"""What cannot be computed afterwards is refused where it is read, and a draft that holds it can be mended."""

from datetime import datetime
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from server.inputs import InputError
from server.people import survey_access
from server.study import surveys
from server.study.definitions.definition_reader import parse_definition
from tests.conftest import NewDatabase
from tests.support import factories, sample_archives
from tests.support.factories import Published

CLOSE: list[dict[str, Any]] = [
    {"mechanism": "warner", "truth": 0.5000000001},
    {"mechanism": "crosswise", "prevalence": 0.4999999999, "innocuous": "Born in May?"},
    {"mechanism": "kuk", "if_yes": 0.5, "if_no": 0.5000000001},
]
WORDS = "must give reports that tell the answers apart"


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """What is read does not depend on the database."""
    return sqlite(True)


def asking(design: dict[str, Any]) -> dict[str, Any]:
    document = factories.definition([0.25, 0.25])
    document["questions"][1]["design"] = design
    return document


@pytest.mark.parametrize("design", CLOSE)
def test_chances_that_are_one_in_32_bits_are_refused(design: dict[str, Any]) -> None:
    for more in ({}, {"budget": 5}):
        with pytest.raises(InputError) as caught:
            parse_definition({**asking(design), **more})
        (problem,) = caught.value.problems
        assert problem.field == "questions[1].design"
        assert problem.template.startswith(WORDS)
    name = next(name for name in design if name in ("truth", "prevalence", "if_no"))
    parse_definition(asking({**design, name: 0.500001}))


@pytest.mark.parametrize("design", CLOSE)
def test_a_draft_that_holds_them_is_shown_and_mended(
    signed_in: FlaskClient, database_url: str, survey: Published, design: dict[str, Any]
) -> None:
    """As one save of the editor left it, in a survey that is running."""
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        surveys.save_draft(session, found, asking(design))

    home = f"/manage/surveys/{survey.slug}"
    for page in (
        "",
        "/edit",
        "/edit?check=1",
        "/preview",
        "/simulate",
        "/results",
        "/definition.json",
        "/keeping",
    ):
        assert signed_in.get(home + page).status_code == 200, page
    assert WORDS in signed_in.get(f"{home}/edit?check=1").text
    assert signed_in.get(f"{home}/preview/survey.json").status_code == 422
    for form in ("publish", "simulate"):
        refused = signed_in.post(f"{home}/{form}")
        assert refused.status_code == 422
        assert WORDS in refused.text
    factories.save(database_url, survey.slug, asking({**design, **MENDED[design["mechanism"]]}))
    assert signed_in.post(f"{home}/publish").status_code in (303, 409)


MENDED = {"warner": {"truth": 0.7}, "crosswise": {"prevalence": 0.3}, "kuk": {"if_no": 0.2}}


def test_an_impossible_plan_is_no_plan(signed_in: FlaskClient, database_url: str, survey: Published) -> None:
    for respondents in (10**31 - 1, 10**400, 0, -1, 1.5, "many", True):
        document = {**factories.definition(), "plan": {"respondents": respondents, "margin": 1e-300}}
        with factories.writing(database_url) as session:
            found = survey_access.find(session, survey.slug)
            assert found is not None
            surveys.save_draft(session, found, document)
        factories.store(database_url, survey, [([1, 0], 40)])
        for page in ("", "/edit?check=1", "/results", "/report.json"):
            assert signed_in.get(f"/manage/surveys/{survey.slug}{page}").status_code == 200, (
                respondents,
                page,
            )


@pytest.mark.parametrize(
    "time", ["0001-01-01T00:00:00", "1999-12-01T00:00:00", "2200-01-02T00:00:00", "9999-12-31T23:59:00"]
)
@pytest.mark.parametrize("field", ["opens_at", "closes_at"])
def test_times_that_no_form_takes_are_refused_in_archives(
    signed_in: FlaskClient, database_url: str, field: str, time: str
) -> None:
    body = sample_archives.pack(database_url, factories.draft(database_url, factories.definition()))
    answer = sample_archives.send(signed_in, sample_archives.change_manifest(field, value=time)(body))
    assert answer.status_code == 422
    assert "must be a day and time from 2000-01-01" in answer.text
    assert field in answer.text


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles"])
def test_times_at_the_ends_that_are_stored_already_are_shown_and_mended(
    signed_in: FlaskClient, database_url: str, survey: Published, zone: str
) -> None:
    ends = {"opens_at": datetime(1, 1, 1), "closes_at": datetime(9999, 12, 31, 23, 59)}  # noqa: DTZ001
    factories.settle(database_url, survey.slug, time_zone=zone, **ends)
    for page in ("", "/schedule", "/results"):
        assert signed_in.get(f"/manage/surveys/{survey.slug}{page}").status_code == 200
    assert signed_in.get(f"/s/{survey.slug}").status_code == 200
    form = {"time_zone": zone, "opens_at": "", "closes_at": "", "cap": "", "minimum": "3"}
    assert signed_in.post(f"/manage/surveys/{survey.slug}/schedule", data=form).status_code == 303


def test_a_part_that_cannot_be_drawn_leaves_the_rest(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    page = app.jinja_env.from_string(
        "{% macro huge() %}<b>{{ (10**400 / 3)|percent }}</b>{% endmacro %}"
        "{% macro whole() %}<b>{{ (1 / 2)|percent }}</b>{% endmacro %}"
        "<h1>Page</h1>{{ part(huge) }}{{ part(whole) }}<p>end</p>"
    )
    with app.test_request_context("/manage/surveys"):
        app.preprocess_request()
        drawn = page.render(request=None)

    assert drawn.startswith("<h1>Page</h1>")
    assert drawn.endswith("<b>50.0</b><p>end</p>")
    assert "This part cannot be shown" in drawn
    (record,) = caplog.records
    assert record.message.startswith("OverflowError at ")
    assert record.message.endswith("while drawing a part of manage.surveys_page")
