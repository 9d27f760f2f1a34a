"""The tree of strata: what lines say, what is kept, and what is refused whole."""

from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from server.inputs import InputError
from server.people import survey_access
from server.store.engines import make_engine, open_session
from server.store.models import InvitationBatch, Stratum, Survey
from server.store.own_tables import invitations_of, responses_of
from server.study import strata, surveys
from server.study.strata import StratumLine
from tests.conftest import NewDatabase
from tests.support import factories

SPAIN = "Spain > Madrid > Getafe, 183000\nSpain > Madrid > Parla, 132000\nSpain > Murcia\nFrance"


@pytest.fixture
def session_and_survey(database_url: str) -> Iterator[tuple[Session, Survey]]:
    """A published survey and an open session, on SQLite and on PostgreSQL."""
    slug = factories.publish(database_url).slug
    engine = make_engine(database_url)
    with open_session(engine, writes=True) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        yield session, survey
    engine.dispose()


def plant(session: Session, survey: Survey, text: str, under: strata.Node | None = None) -> int:
    return strata.add_strata(session, survey, strata.parse_lines(text), under)


def paths(session: Session, survey: Survey) -> list[str]:
    return [node.path for node in strata.walk(strata.tree(session, survey))]


def at(session: Session, survey: Survey, path: str) -> strata.Node:
    (found,) = [node for node in strata.walk(strata.tree(session, survey)) if node.path == path]
    return found


def catch_refusal(act: Callable[[], object]) -> tuple[int, list[str]]:
    """The status and the problems of what an act is refused with."""
    with pytest.raises(InputError) as caught:
        act()
    return caught.value.status, [f"{problem.field}: {problem.message}" for problem in caught.value.problems]


def answer(session: Session, survey: Survey, stratum: Stratum) -> None:
    current = survey.current
    assert current is not None
    row = {"id": b"r" * 16, "version_id": current.id, "reports": b"\0\0", "day": surveys.today()}
    session.execute(sa.insert(responses_of(survey.id)).values(**row, stratum_id=stratum.id))


def test_tree_knows_paths_depths_leaves_and_sums(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey

    assert plant(session, survey, SPAIN) == 6

    nodes = strata.tree(session, survey)
    assert [(node.path, node.depth, node.leaf, node.population) for node in strata.walk(nodes)] == [
        ("Spain", 1, False, None),
        ("Spain > Madrid", 2, False, 315_000),
        ("Spain > Madrid > Getafe", 3, True, 183_000),
        ("Spain > Madrid > Parla", 3, True, 132_000),
        ("Spain > Murcia", 2, True, None),
        ("France", 1, True, None),
    ]
    assert [node.stratum.name for node in strata.list_leaves(nodes)] == [
        "Getafe",
        "Parla",
        "Murcia",
        "France",
    ]
    slugs = {node.stratum.slug for node in strata.walk(nodes)}
    assert len(slugs) == 6
    assert survey.slug not in slugs


@pytest.mark.parametrize(
    ("line", "names", "population"),
    [
        ("Madrid", ("Madrid",), None),
        ("  Spain  >  Madrid  ", ("Spain", "Madrid"), None),
        ("Spain > Madrid, 12", ("Spain", "Madrid"), 12),
        ("Spain\tMadrid\t12", ("Spain", "Madrid"), 12),
        ("Spain\tMadrid\t\t", ("Spain", "Madrid"), None),
        ("Madrid;12.345.678", ("Madrid",), 12_345_678),
        ("Madrid, 12,345", ("Madrid",), 12_345),
        ("Madrid,12 345", ("Madrid",), 12_345),
        ('"Washington, D.C.",700000', ("Washington, D.C.",), 700_000),
        ("Washington, D.C.", ("Washington, D.C.",), None),
        ('"Say ""A"" > B",1', ('Say "A"', "B"), 1),
        ("Age >65", ("Age >65",), None),
        ("Ward 5, 6, 700", ("Ward 5, 6",), 700),
        ("\u0645\N{ZERO WIDTH NON-JOINER}x", ("\u0645\N{ZERO WIDTH NON-JOINER}x",), None),
        ("e\N{COMBINING ACUTE ACCENT}", ("é",), None),
    ],
)  # fmt: skip
def test_line_is_read_as_it_is_meant(line: str, names: tuple[str, ...], population: int | None) -> None:
    assert strata.parse_lines(line) == (StratumLine(1, names, population),)


def test_lines_may_come_with_a_header_a_byte_order_mark_and_blank_lines() -> None:
    pasted = "\ufeffstratum,population\r\nA,1\r\n\r\n  \r\nB,2\r\n"
    assert strata.parse_lines(pasted) == (StratumLine(2, ("A",), 1), StratumLine(5, ("B",), 2))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "lines: must be 1 to 2000 lines; it has 0"),
        ("x\n" * 2001, "lines: must be 1 to 2000 lines; it has 2001"),
        ("A\x00", "lines: must not contain a NUL character"),
        ("A, 0", "lines[1]: its population must be a whole number from 1 to 10000000000; it is 0"),
        ("A\nB, 1.5", "lines[2]: its population must be a whole number from 1 to 10000000000; it is 1.5"),
        ("A; -3", "lines[1]: its population must be a whole number from 1 to 10000000000; it is -3"),
        ("A, 10000000001", "must be a whole number from 1 to 10000000000; it is 10000000001"),
        ("A," + "9" * 5000, "its population must be a whole number from 1 to 10000000000; it is 9999"),
        ("A > ", "lines[1]: a name must not contain “>” between spaces, or begin or end with it; it is A >"),
        ("A > > B", "a name must not contain “>” between spaces, or begin or end with it; it is > B"),
        ("A\t\tB", "lines[1]: a name must have 1 to 200 characters; it has 0"),
        ("x" * 201, "lines[1]: a name must have 1 to 200 characters; it has 201"),
        ("A\x07", "lines[1]: a name must not contain control characters; it is A\N{REPLACEMENT CHARACTER}"),
        (" > ".join("ABCDEFG"), "lines[1]: must be at most 6 levels deep; it has 7"),
        ("A > B\na >  b, 3", "lines[2]: is the same stratum as line 1"),
    ],
)
def test_line_that_is_wrong_is_named(text: str, said: str) -> None:
    status, problems = catch_refusal(lambda: strata.parse_lines(text))
    assert status == 422
    assert said in problems[0]


def test_every_wrong_line_is_named_at_once() -> None:
    _status, problems = catch_refusal(lambda: strata.parse_lines("A, 0\nB\n>\nC, 1.2"))
    assert [problem.partition(":")[0] for problem in problems] == ["lines[1]", "lines[3]", "lines[4]"]


@given(st.text(max_size=60) | st.from_regex(r"[A> \t;,0-9.\"]{1,40}", fullmatch=True))
def test_whatever_is_pasted_is_read_or_refused(text: str) -> None:
    try:
        lines = strata.parse_lines(text)
    except InputError:
        return
    for line in lines:
        # What was read can be written as a path again, and is the same.
        assert strata.parse_lines(" > ".join(line.names) + " ; 7") == (StratumLine(1, line.names, 7),)


def test_what_is_there_already_is_kept_and_only_added_to(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey
    plant(session, survey, SPAIN)
    before = {node.path: node.stratum.slug for node in strata.walk(strata.tree(session, survey))}

    assert plant(session, survey, "spain > MURCIA, 5\nFrance > Lyon\nItaly") == 2

    assert at(session, survey, "Spain > Murcia").population == 5
    after = {node.path: node.stratum.slug for node in strata.walk(strata.tree(session, survey))}
    assert list(after) == [*before, "France > Lyon", "Italy"]
    assert before.items() <= after.items()
    assert plant(session, survey, "Nice", under=at(session, survey, "France")) == 1
    assert "France > Nice" in paths(session, survey)


def test_what_cannot_be_added_is_refused_whole(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey
    plant(session, survey, SPAIN)
    session.commit()
    before = paths(session, survey)
    many = "\n".join(f"Italy > {number}" for number in range(1994))
    deep = at(session, survey, "Spain > Madrid > Getafe")
    answer(session, survey, at(session, survey, "France").stratum)
    session.commit()
    its = "its population must be"
    for act, status, said in [
        (lambda: plant(session, survey, "New\nfrance"), 422, "lines[2]: is there already"),
        (lambda: plant(session, survey, many), 422, "strata: must be at most 2000 in one survey; it has 2001"),
        (
            lambda: plant(session, survey, "A > B > C > D", deep),
            422, "lines[1]: must be at most 6 levels deep; it has 7",
        ),
        (lambda: plant(session, survey, "New\nFrance > Lyon"), 409, "lines[2]: must not be below “France”"),
        (
            lambda: plant(session, survey, "New\nSpain > Madrid, 315001"),
            422, f"Spain > Madrid: {its} the sum of its parts, 315000; it is 315001",
        ),
        (
            lambda: plant(session, survey, "Spain, 314999"),
            422, f"Spain: {its} at least what is known of its parts, 315000; it is 314999",
        ),
    ]:  # fmt: skip
        found, problems = catch_refusal(act)
        session.rollback()
        assert (found, said in problems[0]) == (status, True), problems
        assert paths(session, survey) == before
    assert plant(session, survey, "Spain, 315000\n" + many.rpartition("\n")[0]) == 1994
    assert len(paths(session, survey)) == strata.MOST_STRATA


def test_known_parts_leave_room_for_unknown_ones(session_and_survey: tuple[Session, Survey]) -> None:
    """Sums over more than one level, some of whose parts are not known."""
    session, survey = session_and_survey
    plant(session, survey, "A, 10\nA > B, 4\nA > C > D, 5\nA > C > E")
    session.commit()
    assert [at(session, survey, path).population for path in ("A", "A > C")] == [10, None]
    for line, said in [
        ("A > C > E, 2", "A: its population must be the sum of its parts, 11; it is 10"),
        ("A > C > F, 2", "A: its population must be at least what is known of its parts, 11; it is 10"),
        ("A > C, 6\nA > C > E, 2", "A > C: its population must be the sum of its parts, 7; it is 6"),
        ("A > C, 7\nA > C > E, 2", "A: its population must be the sum of its parts, 11; it is 10"),
    ]:
        _status, problems = catch_refusal(lambda: plant(session, survey, line))  # noqa: B023
        session.rollback()
        assert problems == [said]
    plant(session, survey, "A > C, 6\nA > C > E, 1")
    assert at(session, survey, "A > C").population == 6


def test_names_and_populations_change_together(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey
    plant(session, survey, "A, 3\nA > B, 1\nA > C, 2")
    a, b, c = (at(session, survey, path).stratum.id for path in ("A", "A > B", "A > C"))

    # Two names exchanged; a sum that only fits when all are changed.
    changed = strata.change(session, survey, {b: "C", c: " B "}, {a: "1,005", b: "1000", c: "5"})

    assert changed == 3
    assert [(node.path, node.population) for node in strata.walk(strata.tree(session, survey))] == [
        ("A", 1005),
        ("A > C", 1000),
        ("A > B", 5),
    ]
    assert strata.change(session, survey, {a: "A"}, {a: "1005"}) == 0
    assert strata.change(session, survey, {}, {a: "", b: " "}) == 2
    assert at(session, survey, "A").population is None


def test_change_that_is_refused_names_the_stratum(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey
    plant(session, survey, "A > B, 1\nA > C, 2")
    session.commit()
    b = at(session, survey, "A > B").stratum.id
    for names, populations, status, said in [
        ({b: ""}, {}, 422, "A > B: a name must have 1 to 200 characters; it has 0"),
        ({b: "c"}, {}, 422, "A > C: must not have the same name as “A > B” beside it"),
        ({}, {b: "x"}, 422, "A > B: its population must be a whole number from 1 to 10000000000; it is x"),
        ({b + 1000: "D"}, {}, 404, "stratum: is not known"),
    ]:  # fmt: skip
        found, problems = catch_refusal(lambda n=names, p=populations: strata.change(session, survey, n, p))  # type: ignore[misc]
        session.rollback()
        assert (found, said in problems[0]) == (status, True), problems
    assert paths(session, survey) == ["A", "A > B", "A > C"]


def test_strata_change_places_with_those_beside_them_only(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey
    plant(session, survey, "A > 1\nA > 2\nA > 3\nB")
    session.commit()

    def move_stratum(path: str, *, up: bool) -> str:
        strata.move(session, survey, at(session, survey, path).stratum.id, up=up)
        return " ".join(node.stratum.name for node in strata.walk(strata.tree(session, survey)))

    assert move_stratum("A > 3", up=True) == "A 1 3 2 B"
    assert move_stratum("A > 1", up=True) == "A 1 3 2 B"
    assert move_stratum("A > 1", up=False) == "A 3 1 2 B"
    assert move_stratum("A > 2", up=False) == "A 3 1 2 B"
    assert move_stratum("A", up=False) == "B A 3 1 2"
    strata.remove(session, survey, at(session, survey, "A > 3").stratum.id)
    plant(session, survey, "A > 4")
    assert move_stratum("A > 4", up=True) == "B A 1 4 2"


@pytest.mark.parametrize("use", ["response", "invitations"])
def test_stratum_whose_link_was_used_stays_a_leaf(
    session_and_survey: tuple[Session, Survey], use: str
) -> None:
    session, survey = session_and_survey
    plant(session, survey, "A > B\nA > C\nD > E")
    stratum = at(session, survey, "A > B").stratum
    if use == "response":
        answer(session, survey, stratum)
    else:
        batch = InvitationBatch(
            survey_id=survey.id, stratum_id=stratum.id, label="", issued_on=surveys.today(), size=1
        )
        session.add(batch)
        session.flush()
        row = {"code_hash": b"h" * 32, "batch_id": batch.id, "spent": False}
        session.execute(sa.insert(invitations_of(survey.id)).values(**row))
    session.commit()

    assert strata.list_used(session, survey) == {stratum.id}
    for path in ("A", "A > B"):
        number = at(session, survey, path).stratum.id
        status, problems = catch_refusal(lambda n=number: strata.remove(session, survey, n))  # type: ignore[misc]
        assert (status, problems) == (
            409,
            ["A > B: must stay; its link has invitations or may have let responses in"],
        )
    assert catch_refusal(lambda: plant(session, survey, "A > B > F"))[0] == 409
    session.rollback()
    strata.remove(session, survey, at(session, survey, "A > C").stratum.id)
    strata.remove(session, survey, at(session, survey, "D").stratum.id)
    session.commit()
    assert paths(session, survey) == ["A", "A > B"]
    assert session.scalar(sa.select(sa.func.count()).select_from(Stratum)) == 2


def test_strata_of_another_survey_do_not_exist(
    session_and_survey: tuple[Session, Survey], database_url: str
) -> None:
    session, survey = session_and_survey
    plant(session, survey, "A")
    session.commit()
    other = survey_access.find(session, factories.publish(database_url).slug)
    assert other is not None
    plant(session, other, "B")
    session.commit()
    theirs = at(session, other, "B").stratum.id
    for act in (
        lambda: strata.find(session, survey, theirs),
        lambda: strata.find(session, survey, "x"),
        lambda: strata.change(session, survey, {theirs: "C"}, {}),
        lambda: strata.move(session, survey, theirs, up=True),
        lambda: strata.remove(session, survey, theirs),
    ):
        assert catch_refusal(act)[0] == 404
        session.rollback()
    assert (paths(session, survey), paths(session, other)) == (["A"], ["B"])


def test_two_thousand_strata_are_added_and_read_in_moments(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    slug = factories.publish(database_url).slug
    text = "\n".join(f"R{n // 100} > P{n // 10 % 10} > M{n % 10}, {n + 1}" for n in range(1000, 2800))
    assert len(factories.plant(database_url, slug, text)) == 18 * (1 + 10) + 1800


def test_a_stratum_of_fewer_people_than_the_smallest_group_is_not_made(
    session_and_survey: tuple[Session, Survey],
) -> None:
    session, survey = session_and_survey
    survey.minimum = 10
    plant(session, survey, "A, 10\nB")
    session.commit()
    before = paths(session, survey)
    beside = at(session, survey, "B").stratum.id
    said = "its population must be at least the smallest group shown, 10; it is 9"
    for act in (
        lambda: plant(session, survey, "C, 9"),
        lambda: plant(session, survey, "E > D, 1\nE > F, 9"),
        lambda: strata.change(session, survey, {}, {beside: "9"}),
    ):
        status, problems = catch_refusal(act)
        session.rollback()
        assert (status, said in problems[-1]) == (422, True), problems
        assert paths(session, survey) == before
    strata.change(session, survey, {}, {beside: "10"})
    survey.minimum = 11  # what was there before can still get another name
    assert strata.change(session, survey, {beside: "Better"}, {beside: "10"}) == 1
