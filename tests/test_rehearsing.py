"""Made-up people come by the links of a survey's strata, with codes of their own where these are asked for."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from flask.testing import FlaskClient

from server import simulation
from server.cli import main
from server.inputs import InputError
from server.people import survey_access
from server.simulation import Assumptions, Rehearsal
from server.store.models import Stratum, Survey
from server.study import strata, surveys
from server.study.definitions.definition_reader import parse_definition
from tests.support import factories
from tests.support.factories import Published, dump, writing

SPAIN = "Spain > Madrid, 600\nSpain > Murcia, 300\nKenya, 100"


def rehearse(database_url: str, slug: str, respondents: int, path: str = "") -> Rehearsal:
    with writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        setting, definition = simulation.setting_of(session, survey), surveys.draft(survey)
    return simulation.rehearse(definition, respondents, Assumptions(), setting, path)


def numbers(rehearsal: Rehearsal) -> dict[str, int]:
    """How many came by the link of each smallest stratum."""
    report = rehearsal.report
    leaves = {node.path for node in strata.list_leaves(report.nodes)}
    return {group.path: group.n or 0 for group in report.strata(report.questions[0]) if group.path in leaves}


def by_stratum(database_url: str) -> Counter[str]:
    """The stored responses by the path of their stratum."""
    with writing(database_url) as session:
        survey = session.get_one(Survey, 1)
        paths = {node.stratum.id: node.path for node in strata.walk(strata.tree(session, survey))}
    return Counter(paths.get(row[4], "") for row in factories.list_responses(database_url))  # type: ignore[call-overload]


@pytest.mark.parametrize("invited", [False, True])
def test_a_rehearsal_walks_the_strata_and_touches_nothing(
    invited: bool, survey: Published, database_url: str
) -> None:
    factories.plant(database_url, survey.slug, SPAIN)
    factories.settle(database_url, survey.slug, by_invitation=invited)
    before = dump(database_url)
    rehearsal = rehearse(database_url, survey.slug, 200)
    assert numbers(rehearsal) == {"Spain > Madrid": 120, "Spain > Murcia": 60, "Kenya": 20}
    assert rehearsal.spread == simulation.Spread(links=3, by_population=True)
    assert dump(database_url) == before


def test_rehearsals_at_the_same_moment_do_not_meet() -> None:
    """Each has a database of its own: a copy of one that nobody writes to."""
    definition = parse_definition(factories.definition())
    sizes = range(20, 28)
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda size: simulation.rehearse(definition, size, Assumptions()), sizes))
    assert [rehearsal.report.n for rehearsal in made] == list(sizes)


def test_a_rehearsal_of_one_part(survey: Published, database_url: str) -> None:
    factories.plant(database_url, survey.slug, SPAIN)
    assert numbers(rehearse(database_url, survey.slug, 90, "Spain"))["Spain > Madrid"] == 60
    assert numbers(rehearse(database_url, survey.slug, 90, "Kenya"))["Kenya"] == 90
    with pytest.raises(InputError) as refusal:
        rehearse(database_url, survey.slug, 90, "France")
    assert (refusal.value.status, refusal.value.problems[0].field) == (422, "stratum")


def test_without_every_population_people_are_spread_evenly(survey: Published, database_url: str) -> None:
    factories.plant(database_url, survey.slug, "North, 900\nSouth\nEast")
    rehearsal = rehearse(database_url, survey.slug, 100)
    assert sorted(numbers(rehearsal).values()) == [33, 33, 34]
    assert not rehearsal.spread.by_population


@pytest.mark.parametrize("invited", ["survey", "stratum"])
def test_simulated_people_bring_codes_that_nobody_else_has(
    invited: str, survey: Published, database_url: str
) -> None:
    links = factories.plant(database_url, survey.slug, SPAIN)
    if invited == "survey":
        factories.settle(database_url, survey.slug, by_invitation=True)
    with writing(database_url) as session:
        for stratum in session.scalars(sa.select(Stratum).where(Stratum.name == "Kenya")):
            stratum.by_invitation = True if invited == "stratum" else None
    if invited == "survey":
        factories.invite(database_url, survey.slug, 30, links["Kenya"])
    before = dump(database_url)["invitations"]

    ran = CliRunner(env={"DATABASE_URL": database_url}).invoke(
        main, ["simulate", survey.slug, "--respondents", "1000"]
    )

    assert ran.exit_code == 0, ran.output
    assert by_stratum(database_url) == {"Spain > Madrid": 600, "Spain > Murcia": 300, "Kenya": 100}
    rows = dump(database_url)
    assert all(row in rows["invitations"] for row in before)
    assert all(spent for _key, batch, spent in set(rows["invitations"]) - set(before))
    made_for = sorted(row[5] for row in rows["invitation_batches"] if row[3] == "Made-up respondents")
    assert made_for == ([100, 300, 600] if invited == "survey" else [100])


def test_the_command_rehearses_one_stratum(survey: Published, database_url: str) -> None:
    factories.plant(database_url, survey.slug, SPAIN)
    runner = CliRunner(env={"DATABASE_URL": database_url})
    ask = ["simulate", survey.slug, "--dry-run", "--respondents", "50", "--stratum"]
    ran = runner.invoke(main, [*ask, "Spain > Madrid"])
    assert ran.exit_code == 0, ran.output
    wrong = runner.invoke(main, [*ask, "Atlantis"])
    assert wrong.exit_code == 2
    assert "stratum: must be the path of a stratum; it is Atlantis" in wrong.output


def test_the_page_offers_the_strata_and_says_how_people_were_spread(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.plant(database_url, survey.slug, SPAIN)
    factories.settle(database_url, survey.slug, by_invitation=True)
    path = f"/manage/surveys/{survey.slug}/simulate"
    assert 'value="Spain &gt; Madrid"' in signed_in.get(path).text
    page = signed_in.post(path, data={"respondents": "100", "stratum": ""}).text
    assert "They came by the links of 3 strata, in proportion to their populations." in page
    by_stratum = page.partition("By stratum")[2].partition("<h2>")[0]
    assert by_stratum.count(">Madrid</th>") == 2  # a table for each question
    answer = signed_in.post(path, data={"respondents": "100", "stratum": "Atlantis"})
    assert answer.status_code == 422
    assert "Who answers" in answer.text
