"""Once a survey is closed its batches are brought into one order: in short transactions, and seen by nobody."""

from collections.abc import Callable
from datetime import date

import numpy as np
import sqlalchemy as sa

from server.collect import acceptance, batches, tidying
from server.collect.batches.cells import cell_id
from server.collect.batches.encoding import decode, encode
from server.collect.batches.merging import PIECE, row_of
from server.collect.tallies import Tally
from server.collect.tidying import Patience
from server.people import survey_access
from server.store.engines import make_engine, snapshot
from server.store.models import SurveyVersion
from server.store.own_tables import BATCHES, batches_of, cells_of, table
from tests.conftest import NewDatabase
from tests.support import batch_dumps, factories
from tests.support.factories import Published

QUESTIONS = 30
LARGE, SMALL = (40_000,) * 8, (40, 50, 60)
"""Responses of the batches of two cells, nearly all of them different: 10 MB, and some kilobytes."""
DAYS = date(2026, 5, 1), date(2026, 5, 2)


def close(database_url: str) -> Published:
    """A closed survey with such batches, by the link of a stratum and by its own."""
    survey = factories.publish(database_url, factories.definition([0.25] * QUESTIONS))
    factories.plant(database_url, survey.slug, "North")
    generator = np.random.default_rng(7)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        (version,) = found.versions
        stratum = sa.text("SELECT id FROM strata")
        for place, sizes in ((session.scalar(stratum), LARGE), (None, SMALL)):
            key = batches.CellKey(version.id, place)
            empty = {"id": cell_id(key), "waiting_n": 0, "waiting": b""}
            session.execute(sa.insert(cells_of(found.id)).values({**key._asdict(), **empty}))
            for number, size in enumerate(sizes):
                strings = generator.integers(0, 2, (size, QUESTIONS), dtype=np.uint8)
                content = encode(batches.add_up([Tally.of(strings.tobytes(), QUESTIONS)]))
                row = row_of(cell_id(key), size, {DAYS[number % 2]: size}, content, QUESTIONS)
                session.execute(sa.insert(batches_of(found.id)), row)
        acceptance.close_survey(found)
    return survey


def looked_at(database_url: str, survey: Published) -> list[object]:
    """Everything that is shown."""
    engine = make_engine(database_url)
    with snapshot(engine) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        tallies = [
            (key, [batches.add_up([tally]).patterns.tobytes(), tally.n])
            for key, tally in sorted(batch_dumps.dump_shown(session, found).items(), key=repr)
        ]
        days = batches.count_sealed_by_day(session, found)
    engine.dispose()
    return [tallies, days]


def tidy(database_url: str, before_commit: Callable[[sa.Connection], None]) -> None:
    """Tidy; something is called at the end of each transaction."""
    engine = make_engine(database_url)
    sa.event.listen(engine, "commit", before_commit)
    try:
        tidying.tidy(engine, Patience(600))
    finally:
        engine.dispose()


class KilledError(Exception):
    """In the middle of it."""


def test_whoever_looks_sees_the_same_all_the_while(database_url: str) -> None:
    survey = close(database_url)
    before = looked_at(database_url, survey)
    killed = commits = 0

    def die_later(_connection: sa.Connection) -> None:
        nonlocal commits
        commits += 1
        # Ever later: how many commits there are depends on how long each took.
        if commits == 1 + killed * (killed + 1) // 2:
            raise KilledError

    while True:
        commits = 0
        try:
            tidy(database_url, die_later)
        except KilledError:
            killed += 1
            assert looked_at(database_url, survey) == before
        else:
            break

    assert killed > (5 if database_url.startswith("sqlite") else 0)  # PostgreSQL needs few transactions
    assert looked_at(database_url, survey) == before
    cells: dict[object, list[Tally]] = {}
    ordered = batches_of(1)
    with factories.writing(database_url) as session:
        rows = session.execute(sa.select(ordered).order_by(ordered.c.id)).all()
    assert [row.id for row in rows] == [1, 2, 3, 4]  # which depends on what there is, not on when it came
    for row in rows:
        assert len(row.content) <= PIECE
        cells.setdefault(row.cell_id, []).append(decode(row.content, QUESTIONS))
    assert sorted(sum(tally.n for tally in tallies) for tallies in cells.values()) == [sum(SMALL), sum(LARGE)]
    assert sorted(map(len, cells.values())) == [1, 3]
    for tallies in cells.values():
        keys = np.concatenate([batches.as_keys(tally.patterns) for tally in tallies])
        assert bool((keys[:-1] <= keys[1:]).all())
    with factories.writing(database_url) as session:
        (version,) = session.scalars(sa.select(SurveyVersion))
        assert batches.count_wrong_sums(session, version) == 0


def test_no_transaction_does_more_than_a_few_megabytes(sqlite: NewDatabase) -> None:
    """Whoever wants to write waits for one of these at most. On PostgreSQL nobody waits for the tables meant here."""
    database_url = sqlite(True)
    close(database_url)
    tables = [table(BATCHES, 1, suffix) for suffix in ("", "_tidied", "_untidied")]
    before = {each.name: 0 for each in tables}
    changed: list[int] = []

    def note(connection: sa.Connection) -> None:
        there = set(sa.inspect(connection).get_table_names())
        sizes = {each.name: 0 for each in tables}
        for each in tables:
            if each.name in there:
                total = sa.func.coalesce(sa.func.sum(sa.func.length(each.c.content)), 0)
                sizes[each.name] = connection.scalar(sa.select(total)) or 0
        if sorted(sizes.values()) != sorted(before.values()):  # and not renamed
            changed.append(sum(abs(sizes[name] - before[name]) for name in sizes))
        before.update(sizes)

    note_all = make_engine(database_url)
    with note_all.connect() as connection:
        note(connection)
    note_all.dispose()
    changed.clear()

    tidy(database_url, note)

    assert max(changed) <= PIECE
    assert sum(changed) > 4 * PIECE  # all was written anew, and all removed from where it was


def test_books_of_a_closed_survey_that_are_mended_are_tidied_again(database_url: str) -> None:
    """Whoever tidies at that very moment begins anew, as with codes that are withdrawn."""
    survey = factories.publish(database_url, minimum=1)
    for _ in range(3):
        factories.store(database_url, survey, [((0, 1), 4), ((1, 1), 3)])
    factories.close(database_url, survey.slug)
    assert factories.run(database_url, "tidy").exit_code == 0
    before = factories.dump(database_url)["batches"]
    with factories.writing(database_url) as session:
        session.execute(sa.delete(batches_of(1)))

    assert factories.run(database_url, "recount").exit_code == 1

    assert len(factories.dump(database_url)["untidied"]) == 1
    assert factories.run(database_url, "tidy").exit_code == 0
    after = factories.dump(database_url)["batches"]
    assert [row[0] for row in before] == [row[0] for row in after] == [1]
    assert [row[-1] for row in before] == [row[-1] for row in after]


def test_closing_writes_what_waited_and_nothing_else(database_url: str) -> None:
    survey = factories.publish(database_url, minimum=10)
    for _ in range(30):
        factories.store(database_url, survey, [((0, 1), 25), ((1, 1), 15)])
    before = factories.dump(database_url)["batches"]

    factories.close(database_url, survey.slug)

    after = factories.dump(database_url)["batches"]
    (new,) = set(after) - set(before)
    assert set(before) < set(after)
    assert looked_at(database_url, survey)[0][0][1][1] == 1200  # type: ignore[index]
    assert new[3] == 10  # type: ignore[comparison-overlap]


def test_closing_takes_no_more_statements_for_more_strata(database_url: str) -> None:
    """Others wait meanwhile, on SQLite all who write."""
    numbers = []
    for strata in (2, 30):
        survey = factories.publish(database_url, minimum=3)
        names = [f"Place {number}" for number in range(strata)]
        for link in factories.plant(database_url, survey.slug, "\n".join(names)).values():
            factories.store(database_url, survey, [((0, 1), 7)], link)
        asked: list[str] = []
        with factories.writing(database_url) as session:
            found = survey_access.find(session, survey.slug)
            assert found is not None
            sa.event.listen(
                session.connection(), "before_cursor_execute", lambda *given, to=asked: to.append(given[2])
            )
            acceptance.close_survey(found)
            session.flush()
        numbers.append(len(asked))
    assert numbers[0] == numbers[1]
