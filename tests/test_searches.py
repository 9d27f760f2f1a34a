"""Searches of a survey: paid for once, asked one thing at a time, never answered twice with fresh noise."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from server.inputs import InputError
from server.people import survey_access
from server.releases.searches import (
    SearchState,
    ask_search,
    find_search,
    open_search,
    parse_terms,
)
from server.releases.searches.search_secrets import unseal_search
from server.store.models import Debit, Search, SearchAnswer
from tests.conftest import NewDatabase
from tests.support import factories, sample_releases
from tests.support.factories import Published
from tests.support.sample_releases import grant, ledger, problem
from tests.test_restored import back_up, declare
from tests.test_rights import run, run_json

TERMS = {"share": "0.5", "positives": 2, "epsilon": "4"}
ROWS = [((0, 0), 400), ((1, 1), 4000)]
"""Reports to two questions under two fair coins and under coins that hide more: by far most have copied."""


@pytest.fixture
def survey(database_url: str) -> Published:
    """A closed survey of two questions, with a budget."""
    return close_answered(database_url)


def close_answered(url: str, budget: str = "10", **changes: str) -> Published:
    made = factories.publish(url, minimum=10)
    links = factories.plant(url, made.slug, "North\nSouth")
    factories.store(url, made, ROWS, links["North"])
    factories.store(url, made, [((0, 0), 4000)], links["South"])
    factories.close(url, made.slug)
    grant(url, made.slug, budget, **changes)
    return made


def start_search(url: str, slug: str, **terms: Any) -> int:
    with factories.writing(url) as session:
        return open_search(
            session, sample_releases.find_survey(session, slug), parse_terms({**TERMS, **terms}), None
        )


def ask_stratum(url: str, slug: str, number: int, question: str, *stratum: str) -> bool:
    with factories.writing(url) as session:
        survey = sample_releases.find_survey(session, slug)
        survey_access.lock(session, survey)
        return ask_search(session, survey, number, question, "yes", stratum)


def state_of(url: str, slug: str, number: int) -> SearchState:
    with factories.writing(url) as session:
        return find_search(session, sample_releases.find_survey(session, slug), number).state


def answers(url: str, slug: str) -> list[tuple[tuple[tuple[str, str], ...], Any]]:
    (entry,) = ledger(url, slug).released
    return [(figure.place, figure.value) for figure in entry.figures]


def test_all_of_its_price_is_booked_when_it_is_opened_and_nothing_after(
    database_url: str, survey: Published
) -> None:
    number = start_search(database_url, survey.slug)

    before = ledger(database_url, survey.slug)
    assert (before.spent.epsilon, before.left) == (4, 6)
    assert ask_stratum(database_url, survey.slug, number, "q1", "North") is True
    assert ask_stratum(database_url, survey.slug, number, "q1", "South") is False
    after = ledger(database_url, survey.slug)
    assert (after.spent, after.left) == (before.spent, before.left)
    assert answers(database_url, survey.slug) == [
        ((("*stratum", "North"), ("q1", "yes")), 1),
        ((("*stratum", "South"), ("q1", "yes")), 0),
    ]


def test_after_as_many_above_as_there_may_be_nothing_more_is_said(
    database_url: str, survey: Published
) -> None:
    number = start_search(database_url, survey.slug)
    assert ask_stratum(database_url, survey.slug, number, "q1", "North")
    assert state_of(database_url, survey.slug, number) == SearchState.GOES_ON
    assert ask_stratum(database_url, survey.slug, number, "q2", "North")
    assert state_of(database_url, survey.slug, number) == SearchState.FOUND

    with pytest.raises(InputError) as error:
        ask_stratum(database_url, survey.slug, number, "q1", "South")

    said = "has found as many answers above its limit as it may, %(limit)s; nothing more is said"
    assert problem(error) == (409, "search", said % {"limit": 2})
    assert ask_stratum(database_url, survey.slug, number, "q1", "North")  # as it was answered


def test_asked_again_it_is_answered_alike_though_noise_would_say_otherwise(database_url: str) -> None:
    """At so small a loss each answer is nearly a fair coin: twenty-two are alike by chance once in 2**21."""
    survey = close_answered(database_url)
    number = start_search(database_url, survey.slug, epsilon="0.0001", positives=100)

    first = ask_stratum(database_url, survey.slug, number, "q1")
    assert {ask_stratum(database_url, survey.slug, number, "q1") for _ in range(21)} == {first}
    # The broken twin: as many searches, each with noise of its own.
    grown = {
        ask_stratum(
            database_url, survey.slug, start_search(database_url, survey.slug, epsilon="0.0001"), "q1"
        )
        for _ in range(21)
    }
    assert grown == {False, True}


def test_the_noise_of_the_threshold_is_sealed_and_stays_the_same(
    database_url: str, survey: Published
) -> None:
    number = start_search(database_url, survey.slug, share="0.9")
    with factories.writing(database_url) as session:
        kept = session.scalars(sa.select(Search)).one()
        entry, before = kept.entry_id, kept.sealed
    assert "offset" not in before

    assert ask_stratum(database_url, survey.slug, number, "q1", "South") is False

    with factories.writing(database_url) as session:
        after = session.scalars(sa.select(Search)).one()
        first = unseal_search(Search(entry_id=entry, sealed=before, paid=1), 2, 2)
        assert unseal_search(after, 2, 2) == first


def test_one_threshold_is_drawn_for_a_search_and_a_new_one_for_another(database_url: str) -> None:
    """Thirty searches whose thresholds' noise has a scale of 2**20 / 0.0003: two are alike once in 1e7 times."""
    survey = close_answered(database_url)
    for _ in range(30):
        start_search(database_url, survey.slug, epsilon="0.001")
    with factories.writing(database_url) as session:
        offsets = {unseal_search(each, 2, 2).offset for each in session.scalars(sa.select(Search))}
    assert len(offsets) == 30


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"share": "0"}, "share", "must be from 0.0001 to 0.9999; it is 0"),
        ({"share": None}, "share", "is required, or a number of people"),
        ({"limit": 5}, "limit", "must be missing where there is a share to exceed"),
        ({"positives": 101}, "positives", "must be from 1 to 100; it is 101"),
        ({"positives": "1.5"}, "positives", "must be a whole number; it is 1.5"),
        ({"epsilon": "no"}, "epsilon", "must be from 0.0001 to 100; it is no"),
        ({"delta": "0.01"}, "delta", "must be from 0 to 0.001; it is 0.01"),
        ({"most": 0}, "most", "must be from 1 to 10000; it is 0"),
    ],
)
def test_terms_out_of_range_are_refused_by_name(changes: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        parse_terms({**TERMS, **changes})
    (found,) = error.value.problems
    assert (found.field, found.template % found.values) == (field, said)


def test_what_the_budget_does_not_cover_is_not_opened(database_url: str, survey: Published) -> None:
    start_search(database_url, survey.slug, epsilon="9")
    with pytest.raises(InputError) as error:
        start_search(database_url, survey.slug, epsilon="2")
    assert (error.value.status, error.value.problems[0].field) == (409, "epsilon")
    with pytest.raises(InputError) as error:
        start_search(database_url, survey.slug, epsilon="0.1", delta="0.001", positives=100)
    assert (error.value.status, error.value.problems[0].field) == (409, "delta")
    assert ledger(database_url, survey.slug).left == 1


def test_a_delta_that_helps_nothing_is_not_spent(database_url: str) -> None:
    survey = close_answered(database_url, delta="0.001")
    start_search(database_url, survey.slug, delta="0.001")
    assert ledger(database_url, survey.slug).spent.delta == 0
    start_search(database_url, survey.slug, delta="0.001", positives=100, epsilon="1")
    assert ledger(database_url, survey.slug).spent.delta == Decimal("0.001")


def test_a_survey_that_is_open_is_not_searched(database_url: str) -> None:
    made = factories.publish(database_url)
    factories.store(database_url, made, ROWS)
    grant(database_url, made.slug)
    with pytest.raises(InputError) as error:
        start_search(database_url, made.slug)
    said = "must be closed: all answers of a search are about the same responses"
    assert problem(error) == (409, "survey", said)


def test_as_many_questions_as_were_announced_are_answered(database_url: str, survey: Published) -> None:
    number = start_search(database_url, survey.slug, share="0.9", most=1)
    ask_stratum(database_url, survey.slug, number, "q1", "South")
    assert state_of(database_url, survey.slug, number) == SearchState.ASKED
    with pytest.raises(InputError) as error:
        ask_stratum(database_url, survey.slug, number, "q2", "South")
    assert "has been asked as many questions as it may, 1;" in problem(error)[2] % {"limit": 1}


def test_a_number_of_people_can_be_the_limit(database_url: str, survey: Published) -> None:
    """In the North 5,800 are estimated to say Yes, 2 R - n / 2 of 4,400: impossible, and above 3,000."""
    number = start_search(database_url, survey.slug, share=None, limit=3000, positives=5)
    assert ask_stratum(database_url, survey.slug, number, "q1", "North") is True
    other = start_search(database_url, survey.slug, share=None, limit=9000)
    assert ask_stratum(database_url, survey.slug, other, "q1", "North") is False


@pytest.mark.parametrize("question", ["q9", ""])
def test_what_there_is_not_cannot_be_asked(database_url: str, survey: Published, question: str) -> None:
    number = start_search(database_url, survey.slug)
    for call, field in (((question,), "question"), (("q1", "West"), "stratum")):
        with pytest.raises(InputError) as error:
            ask_stratum(database_url, survey.slug, number, *call)
        assert (error.value.status, error.value.problems[0].field) == (422, field)
    with pytest.raises(InputError) as error:
        ask_stratum(database_url, survey.slug, number + 1, "q1")
    assert (error.value.status, error.value.problems[0].field) == (404, "search")


def test_what_was_answered_cannot_be_changed(database_url: str, survey: Published) -> None:
    number = start_search(database_url, survey.slug)
    ask_stratum(database_url, survey.slug, number, "q1", "North")
    for command in (sa.update(SearchAnswer).values(above=False), sa.delete(SearchAnswer)):
        with (
            pytest.raises(sa.exc.DatabaseError, match="search_answers"),
            factories.writing(database_url) as session,
        ):
            session.execute(command)


def test_a_restored_database_answers_nothing_more(new_database: NewDatabase) -> None:
    url = new_database(migrated=True)
    survey = close_answered(url)

    def command_search(number: int, stratum: str) -> str:
        done = run(
            url, "survey", "search", "ask", survey.slug, str(number), "q1", "yes", "--stratum", stratum
        )
        return done.stdout or " ".join(done.stderr.split())

    terms = ["--share", "0.5", "--positives", "2", "--epsilon", "4", "--yes"]
    number = run_json(url, "survey", "search", "open", survey.slug, *terms)["search"]
    restore = back_up(url)
    assert command_search(number, "North") == "above\n"

    restore()

    assert "may have been restored from a backup" in command_search(number, "South")
    declare(url, survey.slug, "0")
    assert state_of(url, survey.slug, number) == SearchState.ENDED
    assert "has ended: it was opened elsewhere, or the survey was restored" in command_search(number, "South")
    # A declaration alone ends nothing: the database knows all that it answered.
    other = start_search(url, survey.slug, epsilon="1")
    declare(url, survey.slug, "0.1")
    assert state_of(url, survey.slug, other) == SearchState.GOES_ON


def test_those_who_ask_the_same_at_once_are_told_the_same(database_url: str) -> None:
    """At so small a loss six answers with noise of their own would be alike once in 32 times; four rounds: 1e-6."""
    survey = close_answered(database_url)
    for _ in range(4):
        number = start_search(database_url, survey.slug, epsilon="0.0001", positives=9)
        with ThreadPoolExecutor(6) as pool:
            told = list(
                pool.map(lambda _, n=number: ask_stratum(database_url, survey.slug, n, "q1"), range(6))
            )
        assert len(set(told)) == 1
        with factories.writing(database_url) as session:
            entry = find_search(session, sample_releases.find_survey(session, survey.slug), number).entry
        assert [figure.value for figure in entry.figures] == [int(told[0])]


def test_what_was_not_committed_was_never_answered(database_url: str, survey: Published) -> None:
    number = start_search(database_url, survey.slug, positives=1)
    before = factories.dump(database_url)

    def ask_and_die() -> None:
        with factories.writing(database_url) as session:
            found = sample_releases.find_survey(session, survey.slug)
            assert ask_search(session, found, number, "q1", "yes", ["North"])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask_and_die()
    assert factories.dump(database_url) == before
    assert state_of(database_url, survey.slug, number) == SearchState.GOES_ON


def test_every_answer_is_marked_outside_the_database(database_url: str, survey: Published) -> None:
    number = start_search(database_url, survey.slug)
    with factories.writing(database_url) as session:
        before = session.scalars(sa.select(Debit.token)).all()
    ask_stratum(database_url, survey.slug, number, "q1", "North")
    ask_stratum(database_url, survey.slug, number, "q1", "North")
    with factories.writing(database_url) as session:
        assert len(session.scalars(sa.select(Debit.token)).all()) == len(before) + 1


def test_a_copy_brings_the_answers_along_and_not_the_search(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    here, there = new_database(migrated=True), new_database(migrated=True)
    survey = close_answered(here)
    number = start_search(here, survey.slug)
    ask_stratum(here, survey.slug, number, "q1", "North")
    file = tmp_path / "archive.zip"
    assert run(here, "survey", "export", survey.slug, "--zip", str(file)).exit_code == 0

    copy = run_json(there, "survey", "import", str(file))["survey"]

    assert answers(there, copy) == answers(here, survey.slug)
    assert state_of(there, copy, number) == SearchState.ENDED
    with pytest.raises(InputError) as error:
        ask_stratum(there, copy, number, "q1", "South")
    assert error.value.status == 409


def test_the_command_line_opens_asks_and_shows(new_database: NewDatabase) -> None:
    url = new_database(migrated=True)
    survey = close_answered(url)
    terms = ["--share", "0.5", "--positives", "2", "--epsilon", "4", "--most", "9"]
    looked = run_json(url, "survey", "search", "open", survey.slug, *terms)
    assert (looked["search"], looked["epsilon"], ledger(url, survey.slug).released) == (None, "4", ())

    made = run_json(url, "survey", "search", "open", survey.slug, *terms, "--yes")
    number = str(made["search"])
    assert made["error_people"] == pytest.approx(looked["error_people"])
    said = run(url, "survey", "search", "ask", survey.slug, number, "q1", "yes", "--stratum", "North")
    assert said.stdout == "above\n"

    assert run_json(url, "survey", "search", "show", survey.slug)["searches"][0]["answers"] == [
        {"question": "q1", "answer": "yes", "stratum": "North", "above": True}
    ]
    table = run(url, "survey", "search", "show", survey.slug, number).stdout
    assert table.split() == "stratum question answer North q1 yes above".split()


def test_the_command_line_says_of_what_there_is_not_which_field_it_is_and_what_there_is(
    new_database: NewDatabase,
) -> None:
    url = new_database(migrated=True)
    survey = close_answered(url)
    number = str(start_search(url, survey.slug))
    for words, said in (
        (("show", survey.slug, "x"), "'[NUMBER]': 'x' is not a whole number in the range 1<=x."),
        (("ask", survey.slug, "x", "q1", "yes"), "'NUMBER': 'x' is not a whole number in the range 1<=x."),
        (("ask", survey.slug, "0", "q1", "yes"), "'NUMBER': 0 is not in the range x>=1."),
        (("ask", survey.slug, number, "q9", "yes"), "question: must be one of q1, q2; it is q9"),
        (("ask", survey.slug, number, "q1", "maybe"), "answer: must be one of yes; it is maybe"),
        (("ask", survey.slug, number, "q1", "yes", "--stratum", "W"), "stratum: must be a stratum"),
    ):
        done = run(url, "survey", "search", *words)
        assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
