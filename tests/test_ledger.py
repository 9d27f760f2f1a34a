"""Budgets and the ledger: what may be spent, what it bought, and that neither changes afterwards."""

import json
from concurrent.futures import Future, ThreadPoolExecutor, wait
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from server import __version__, people, releases
from server.collect import responses
from server.inputs import InputError
from server.people import survey_access
from server.releases.plans.plan_reader import parse_plan
from server.store.engines import make_engine
from server.store.models import Researcher
from server.study import surveys
from tests.support import factories, sample_releases
from tests.support.factories import Published
from tests.support.sample_releases import grant, ledger, problem, release

COUNT = {"kind": "count", "anew": True}
ROWS = [((0, 0), 300), ((1, 0), 100), ((0, 1), 120), ((1, 1), 90)]


@pytest.fixture
def survey(database_url: str) -> Published:
    """A published survey of two questions with 610 responses."""
    made = factories.publish(database_url)
    factories.store(database_url, made, ROWS)
    return made


@pytest.mark.parametrize(
    ("budget", "field", "message"),
    [
        ({"epsilon": "0"}, "epsilon", "must be more than 0 and at most 100; it is 0"),
        ({"epsilon": "101"}, "epsilon", "must be more than 0 and at most 100; it is 101"),
        ({"epsilon": "much"}, "epsilon", "must be more than 0 and at most 100; it is much"),
        ({"epsilon": "NaN"}, "epsilon", "must be more than 0 and at most 100; it is NaN"),
        (
            {"epsilon": "1." + "1" * 21},
            "epsilon",
            f"must have at most 20 digits after the point; it is 1.{'1' * 21}",
        ),
        (  # written out, it would have as many zeros
            {"delta": "1e-99999999999"},
            "delta",
            "must have at most 20 digits after the point; it is 1e-99999999999",
        ),
        ({"delta": "0.01"}, "delta", "must be from 0 to 0.001; it is 0.01"),
        ({"delta": "-1"}, "delta", "must be from 0 to 0.001; it is -1"),
        ({"neighbours": "both"}, "neighbours", "must be one of unbounded, bounded; it is both"),
    ],
)
def test_a_budget_out_of_range_is_refused(
    database_url: str, survey: Published, budget: dict[str, str], field: str, message: str
) -> None:
    with pytest.raises(InputError) as error:
        grant(database_url, survey.slug, **budget)

    assert problem(error) == (422, field, message)
    assert ledger(database_url, survey.slug).budget is None


def test_only_the_owner_sets_the_budget_and_only_before_the_first_release(
    database_url: str, survey: Published
) -> None:
    stranger = factories.account(database_url, "ana")
    with factories.writing(database_url) as session:
        found = sample_releases.find_survey(session, survey.slug)
        with pytest.raises(InputError) as error:
            releases.set_budget(session, found, 1, 0, "bounded", session.get_one(Researcher, stranger))
        assert problem(error) == (403, "survey", "allows this to its owner only")
        owner = people.first_researcher(session)
        releases.set_budget(session, found, 1, 0, "bounded", owner)
        releases.set_budget(session, found, Decimal("2.50"), "1e-6", "unbounded", owner)

    release(database_url, survey.slug, COUNT, epsilon="0.5")
    with pytest.raises(InputError) as again:
        grant(database_url, survey.slug, "50")

    assert problem(again) == (409, "budget", "must stay as it was before the first release")
    book = ledger(database_url, survey.slug)
    assert book.budget == releases.Budget(Decimal("2.5"), Decimal("0.000001"), "unbounded")
    assert book.left == 2


def test_a_draft_and_a_survey_without_budget_release_nothing(database_url: str) -> None:
    slug = factories.draft(database_url, factories.definition())
    grant(database_url, slug)
    with pytest.raises(InputError) as error:
        release(database_url, slug, COUNT)
    assert problem(error) == (409, "survey", "must be published first; a draft has no results")

    published = factories.publish(database_url)
    with pytest.raises(InputError) as none:
        release(database_url, published.slug, COUNT)
    assert problem(none) == (409, "budget", "must be set first")


def test_fifty_fiftieths_of_a_budget_are_granted_and_nothing_more(
    database_url: str, survey: Published
) -> None:
    grant(database_url, survey.slug, "1")
    for _ in range(10):
        release(database_url, survey.slug, *[COUNT] * 5, epsilon=0.02)

    with pytest.raises(InputError) as error:
        release(database_url, survey.slug, COUNT, epsilon=0.0001)

    assert problem(error)[:2] == (409, "epsilon")
    assert "0 is left, and this needs 0.0001" in problem(error)[2]
    book = ledger(database_url, survey.slug)
    assert [entry.entry for entry in book.released] == list(range(1, 51))
    assert [entry.release for entry in book.released] == [number for number in range(1, 11) for _ in range(5)]
    assert (book.spent.epsilon, book.spent.sequential, book.left) == (1, 1, 0)
    # dp_accounting's privacy loss distribution of 50 releases at 0.02 and delta 1e-6: 0.6463 (test_accounting).
    assert book.spent.best is not None
    assert 0.5 < book.spent.best < 0.75


def test_a_plan_that_does_not_fit_is_refused_as_a_whole(database_url: str, survey: Published) -> None:
    grant(database_url, survey.slug, "1")
    before = factories.dump(database_url)

    with pytest.raises(InputError) as error:
        release(database_url, survey.slug, COUNT, {"kind": "histogram", "question": "q1"}, epsilon="0.6")

    assert problem(error) == (
        409,
        "epsilon",
        "must leave what the releases together may lose at 1 or less; 1 is left, and this needs 1.2",
    )
    assert factories.dump(database_url) == before


def test_what_was_released_is_returned_free_until_it_is_wanted_anew(
    database_url: str, survey: Published
) -> None:
    grant(database_url, survey.slug, "3")
    item = {"kind": "histogram", "question": "q1"}
    (first,) = release(database_url, survey.slug, item, epsilon=1)
    factories.store(database_url, survey, [((1, 1), 5000)])

    again, count = release(database_url, survey.slug, item, {"kind": "count"}, epsilon="0.5")
    both = release(database_url, survey.slug, {**item, "anew": True}, {**item, "anew": True}, epsilon="0.25")
    (newest,) = release(database_url, survey.slug, {**item, "epsilon": 2})

    assert again == first
    assert (count.entry, count.release) == (2, 2)
    assert [entry.entry for entry in both] == [3, 4]
    assert newest == both[1]
    assert ledger(database_url, survey.slug).spent.epsilon == 2


def test_another_question_of_the_same_name_is_another_question(database_url: str, survey: Published) -> None:
    grant(database_url, survey.slug, "3")
    item = {"kind": "share", "question": "q1", "option": "yes"}
    (first,) = release(database_url, survey.slug, item, epsilon=1)

    tighter = factories.definition(gammas=(0.2, 0.1))
    factories.publish(database_url, tighter, survey.slug)
    (same,) = release(database_url, survey.slug, item, epsilon=1)
    tighter["questions"][0]["text"] = "Something else?"
    factories.publish(database_url, tighter, survey.slug)
    (other,) = release(database_url, survey.slug, item, epsilon=1)

    assert same == first
    assert other.entry == 2
    assert other.notes["versions"] == "3"


def test_disjoint_strata_cost_their_maximum_where_a_response_is_added_or_removed(
    database_url: str, survey: Published
) -> None:
    factories.plant(database_url, survey.slug, "North > Alba\nNorth > Bruma\nSouth")
    grant(database_url, survey.slug, "2")
    alba, bruma, south, north = (
        {"kind": "count", "stratum": path, "anew": True}
        for path in (["North", "Alba"], ["North", "Bruma"], ["South"], ["North"])
    )

    release(database_url, survey.slug, alba, {**bruma, "epsilon": "0.5"}, south, epsilon=1)
    assert ledger(database_url, survey.slug).spent.epsilon == 1
    release(database_url, survey.slug, north, epsilon="0.75")
    book = ledger(database_url, survey.slug)
    assert (book.spent.epsilon, book.spent.sequential, book.left) == (
        Decimal("1.75"),
        Decimal("3.25"),
        Decimal("0.25"),
    )
    with pytest.raises(InputError) as error:
        release(database_url, survey.slug, {**COUNT, "epsilon": "0.3"})
    assert "0.25 is left, and this needs 0.3" in problem(error)[2]
    release(database_url, survey.slug, {**south, "epsilon": 1}, {**bruma, "epsilon": "0.75"})
    with pytest.raises(InputError) as all_of_it:
        release(database_url, survey.slug, COUNT, epsilon="0.0001")
    assert "0 is left, and this needs 0.0001" in problem(all_of_it)[2]
    assert ledger(database_url, survey.slug).spent.epsilon == 2


def test_replaced_responses_may_move_so_that_strata_add_up(database_url: str, survey: Published) -> None:
    factories.plant(database_url, survey.slug, "North\nSouth")
    grant(database_url, survey.slug, "2", neighbours="bounded")

    release(
        database_url,
        survey.slug,
        *({"kind": "count", "stratum": [path]} for path in ("North", "South")),
        epsilon=1,
    )

    book = ledger(database_url, survey.slug)
    assert (book.spent.epsilon, book.left) == (2, 0)
    assert {entry.covers.respondents for entry in book.released} == {610}


def test_an_entry_says_what_when_by_whom_from_what(database_url: str, survey: Published) -> None:
    grant(database_url, survey.slug, "3", delta="0.0001")
    factories.plant(database_url, survey.slug, "North > Alba\nSouth")
    before = surveys.now()
    with factories.writing(database_url) as session:
        found = sample_releases.find_survey(session, survey.slug)
        plan = parse_plan(
            {
                "format": 1,
                "epsilon": "0.1",
                "confidence": 0.9,
                "items": [{"kind": "count", "stratum": ["North"]}],
            }
        )
        (entry,) = releases.make(session, found, plan, people.first_researcher(session))
        stratum = next(
            node for node in sample_releases.leaves(session, found) if node.names == ("North", "Alba")
        )
        owner = f"researcher {people.first_researcher(session).id}"  # who has chosen no name yet
    factories.close(database_url, survey.slug)
    (closed,) = release(database_url, survey.slug, COUNT, epsilon=1)

    assert entry.item.stratum == ("North",)
    assert (entry.mechanism, entry.epsilon, entry.delta, entry.neighbours) == (
        "geometric",
        Decimal("0.1"),
        0,
        "unbounded",
    )
    assert (entry.made_by, entry.confidence, entry.software) == (owner, 0.9, f"Moneda {__version__}")
    assert before <= entry.made_at <= surveys.now()
    assert entry.strata == (stratum.stratum.id,)
    assert entry.covers == releases.Covers((1,), "open", surveys.today(), None)
    assert (closed.strata, closed.made_by, closed.covers.state) == (None, "", "closed")


def test_every_kind_is_kept_as_it_was_returned(database_url: str) -> None:
    document = factories.definition()
    scale = [{"name": name, "text": name.title()} for name in ("bad", "fair", "good")]
    design = {"mechanism": "k_ary", "epsilon": 1}
    document["questions"].append(
        {"name": "mood", "kind": "scale", "text": "How are you?", "options": scale, "design": design}
    )
    made = factories.publish(database_url, document)
    links = factories.plant(database_url, made.slug, "North > Alba\nSouth")
    factories.store(database_url, made, [((0, 1, 0), 70), ((1, 0, 2), 60)], links["South"])
    factories.store(database_url, made, [((1, 1, 1), 50)])
    grant(database_url, made.slug, "10", "0.001", "bounded")
    items: list[dict[str, Any]] = [
        {"kind": "count", "stratum": ["North"]},
        {"kind": "share", "question": "q1", "option": "yes", "noise": "laplace"},
        {"kind": "histogram", "question": "mood", "stratum": ["South"]},
        {"kind": "mean", "question": "mood"},
        {"kind": "mean", "question": "mood", "noise": "gaussian", "delta": "0.0001"},
        {"kind": "table", "questions": ["q1", "q2", "mood"]},
        {"kind": "table", "question": "q2", "by_stratum": True},
        {"kind": "hierarchy"},
        {"kind": "most_common", "question": "mood"},
        {"kind": "most_common", "question": "mood", "noise": "exponential"},
        {"kind": "exceeding", "questions": ["q1", "q2"], "share": "0.3", "values": True},
    ]

    released = release(database_url, made.slug, *items, division="equally", epsilon="5.5")
    (tallies,) = release(database_url, made.slug, {"kind": "shuffled"}, division="equally")

    book = ledger(database_url, made.slug)
    assert book.released == (*released, tallies)
    assert {entry.epsilon for entry in released} == {Decimal("0.5")}
    assert book.spent.epsilon == Decimal("5.5") + tallies.epsilon
    assert all(entry.figures for entry in book.released)
    again = release(database_url, made.slug, *items, division="equally", epsilon="0.1")
    assert again == released
    assert all(entry.covers.respondents == 180 for entry in released)
    for entry, whole in ((released[7], "respondents"), (released[5], "fitted"), (released[6], "fitted")):
        figures = [figure for figure in entry.figures if figure.statistic == whole]
        cells = figures[:1] if whole == "respondents" else [each for each in figures if len(each.place) > 1]
        assert sum(int(each.value or 0) for each in cells) == 180


def test_a_response_that_arrives_meanwhile_is_in_none_of_the_numbers(
    database_url: str, survey: Published
) -> None:
    """It waits for the release, which has locked the survey as its page and command do, and is stored afterwards."""
    grant(database_url, survey.slug, neighbours="bounded")
    factories.plant(database_url, survey.slug, "North\nSouth")
    items = [{"kind": "table", "questions": ["q1", "q2"]}, {"kind": "hierarchy"}]
    document = {"format": 1, "division": "given", "items": [{**item, "epsilon": 1} for item in items]}
    writing = make_engine(database_url).execution_options(moneda_writes=True)

    def respond() -> responses.Acceptance:
        with writing.begin() as connection:
            body = json.dumps(survey.response([1, 1])).encode()
            return responses.accept(connection, survey.slug, body, surveys.now())

    with ThreadPoolExecutor(1) as someone, factories.writing(database_url) as session:
        found = sample_releases.find_survey(session, survey.slug)
        survey_access.lock(session, found)
        late: list[Future[responses.Acceptance]] = []
        engine = session.get_bind().engine

        def meanwhile(_: Any, __: Any, statement: str, *___: Any) -> None:
            if "batches" in statement and not late:
                late.append(someone.submit(respond))
                wait(late, timeout=1)  # it comes as far as it can

        sa.event.listen(engine, "before_cursor_execute", meanwhile)
        try:
            table, tree = releases.make(session, found, parse_plan(document), None)
        finally:
            sa.event.remove(engine, "before_cursor_execute", meanwhile)
        assert not late[0].done()
        session.commit()
        assert late[0].result(60) == responses.Acceptance.STORED
    writing.dispose()

    assert (table.covers.respondents, tree.covers.respondents) == (610, 610)
    assert sample_releases.values(tree, "respondents")["",] == 610
    fitted = sample_releases.values(table, "fitted")
    assert sum(value for place, value in fitted.items() if len(place) > 1) == 610
    assert len(factories.list_responses(database_url)) == 611


TABLES = {
    "releases": "made_by",
    "ledger_entries": "mechanism",
    "released_values": "document",
    "privacy_budgets": "epsilon",
}


@pytest.mark.parametrize("table", TABLES)
def test_the_database_refuses_to_change_or_delete_what_was_released(
    database_url: str, survey: Published, table: str
) -> None:
    grant(database_url, survey.slug)
    release(database_url, survey.slug, COUNT)
    before = factories.dump(database_url)
    engine = make_engine(database_url)
    changes: list[Any] = [
        sa.text(f"UPDATE {table} SET {TABLES[table]} = '9'"),  # noqa: S608 - names of this test
        sa.text(f"DELETE FROM {table}"),  # noqa: S608
    ]

    for change in changes:
        with pytest.raises(sa.exc.DBAPIError), engine.begin() as connection:
            connection.execute(change)

    engine.dispose()
    assert factories.dump(database_url) == before


def test_what_is_kept_is_json_without_a_number_that_was_not_released(
    database_url: str, survey: Published
) -> None:
    grant(database_url, survey.slug)
    release(database_url, survey.slug, {"kind": "share", "question": "q1", "option": "yes"}, epsilon=1)

    rows = factories.dump(database_url)
    ((_, document),) = rows["released_values"]
    assert set(json.loads(str(document))) == {"confidence", "figures", "notes"}
    ((*_, covers),) = rows["releases"]
    assert json.loads(str(covers))["respondents"] is None
