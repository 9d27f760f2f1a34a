"""The demonstration: its survey, its plan and what is assumed of its people fit together."""

import json

import pytest

from server import people, reports, simulation
from server.collect import acceptance
from server.privacy.planning import Headline
from server.simulation import Assumptions, demonstration
from server.study import planning, surveys
from tests.conftest import NewDatabase
from tests.support import factories


def test_something_is_assumed_of_every_answer_and_the_report_comes_near(sqlite: NewDatabase) -> None:
    with factories.writing(sqlite(True)) as session:
        survey = demonstration.create(session, people.first_researcher(session))
        assert demonstration.find(session) == survey
        version = survey.current
        assert version is not None
        definition = surveys.definition_of(version)
        shares, means = simulation.assumption_names(definition)
        assert {name.removesuffix(".yes") for name in shares} == demonstration.SHARES.keys()
        assert set(means) == demonstration.MEANS.keys()
        assumptions = Assumptions(demonstration.SHARES, demonstration.MEANS)
        for _ in simulation.simulate(session, survey, 400, assumptions):
            pass
        acceptance.close_survey(survey)
        report = reports.read(session, survey)
    assert report.simulated
    assert report.n == 400
    for entry in report.questions:
        for row in entry.shown:
            share = demonstration.SHARES.get(f"{entry.question.name}.{row.answer}")
            if share is None:
                share = demonstration.SHARES[entry.question.name]
            assert row.column.estimate is not None
            error = row.column.estimate.standard_errors[row.code]
            assert row.column.estimate.shares[row.code] == pytest.approx(share, abs=6 * error)


def test_the_plan_is_kept_by_as_many_respondents_as_are_simulated() -> None:
    definition = demonstration.definition()
    assert definition.plan is not None
    assert definition.plan.respondents == demonstration.RESPONDENTS
    made = planning.plan(definition)
    assert made.shortfalls == ()
    assert made.left == 0


def test_of_the_demonstration_nobody_can_be_sure() -> None:
    assert demonstration.definition().guesses.headline == Headline.NOBODY_SURE


def test_every_kind_of_answer_is_shown_once() -> None:
    document = json.loads(demonstration.definition().to_canonical())
    assert [entry["kind"] for entry in document["questions"]] == [
        *["yes_no"] * 3,
        "section",
        "select_one",
        "number",
        "scale",
    ]
