"""Once a survey is closed its batches are brought into one order: in short transactions, and seen by nobody."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date

import numpy as np
import pytest
import sqlalchemy as sa

from server import batches, surveys
from server.batches.cells import cell_id
from server.batches.contents import decode, encode
from server.batches.merging import PIECE, row_of
from server.db import make_engine, snapshot
from server.models import Batch, Cell
from server.tallies import Tally
from tests import books, factories
from tests.factories import Published

QUESTIONS = 30
LARGE, SMALL = (40_000,) * 8, (40, 50, 60)
"""Responses of the batches of two cells, nearly all of them different: 10 MB, and some kilobytes."""
DAYS = date(2026, 5, 1), date(2026, 5, 2)


@pytest.fixture
def closed(database_url: str) -> Published:
    """A closed survey with such batches, by the link of a stratum and by its own."""
    survey = factories.publish(database_url, factories.definition([0.25] * QUESTIONS))
    factories.plant(database_url, survey.slug, "North")
    generator = np.random.default_rng(7)
    with factories.writing(database_url) as session:
        found = surveys.find(session, survey.slug)
        assert found is not None
        (version,) = found.versions
        stratum = sa.text("SELECT id FROM strata")
        for place, sizes in ((session.scalar(stratum), LARGE), (None, SMALL)):
            key = batches.CellKey(version.id, place)
            session.execute(
                sa.insert(Cell).values({**key._asdict(), "id": cell_id(key), "waiting_n": 0, "waiting": b""})
            )
            for number, size in enumerate(sizes):
                strings = generator.integers(0, 2, (size, QUESTIONS), dtype=np.uint8)
                content = encode(batches.add_up([Tally.of(strings.tobytes(), QUESTIONS)]))
                row = row_of(cell_id(key), size, {DAYS[number % 2]: size}, content, QUESTIONS)
                session.execute(sa.insert(Batch), row)
        surveys.close(found)
    return survey


def looked_at(database_url: str, survey: Published) -> list[object]:
    """Everything that is shown."""
    engine = make_engine(database_url)
    with snapshot(engine) as session:
        found = surveys.find(session, survey.slug)
        assert found is not None
        tallies = [
            (key, [batches.add_up([tally]).patterns.tobytes(), tally.n])
            for key, tally in sorted(books.shown(session, found).items(), key=repr)
        ]
        days = batches.shown_by_day(session, found)
    engine.dispose()
    return [tallies, days]


def order(database_url: str, survey: Published, after: Callable[[sa.Connection], None]) -> None:
    """Bring them into order; `after` is called at the end of each transaction, before it is committed."""
    engine = make_engine(database_url)

    @contextmanager
    def turn() -> Iterator[sa.Connection]:
        with engine.execution_options(moneda_writes=True).begin() as connection:
            yield connection
            after(connection)

    try:
        with snapshot(engine) as session:
            found = surveys.find(session, survey.slug)
            assert found is not None
            batches.put_in_order(session.connection(), turn, found.id)
    finally:
        engine.dispose()


class KilledError(Exception):
    """In the middle of it."""


def test_whoever_looks_sees_the_same_all_the_while(database_url: str, closed: Published) -> None:
    before = looked_at(database_url, closed)
    attempts = turns = 0

    def die_later(connection: sa.Connection) -> None:
        nonlocal turns
        turns += 1
        if turns > attempts:
            raise KilledError

    while True:
        attempts, turns = attempts + 1, 0
        try:
            order(database_url, closed, die_later)
        except KilledError:
            if attempts % 3 == 0:
                assert looked_at(database_url, closed) == before
        else:
            break

    assert attempts > 5
    assert looked_at(database_url, closed) == before
    cells: dict[object, list[Tally]] = {}
    with factories.writing(database_url) as session:
        for cell, content in session.execute(sa.select(Batch.cell_id, Batch.content).order_by(Batch.id)):
            assert len(content) <= PIECE
            cells.setdefault(cell, []).append(decode(content, QUESTIONS))
    assert sorted(sum(tally.n for tally in tallies) for tallies in cells.values()) == [sum(SMALL), sum(LARGE)]
    assert sorted(map(len, cells.values())) == [1, 3]
    for tallies in cells.values():
        keys = np.concatenate([batches.as_keys(tally.patterns) for tally in tallies])
        assert bool((keys[:-1] <= keys[1:]).all())


def test_no_transaction_does_more_than_a_few_megabytes(database_url: str, closed: Published) -> None:
    sizes: list[int] = []
    total = sa.select(sa.func.coalesce(sa.func.sum(sa.func.length(Batch.content)), 0))
    engine = make_engine(database_url)

    def note(connection: sa.Connection) -> None:
        with engine.connect() as other:  # what was committed before
            sizes.append(abs(int(connection.scalar(total) or 0) - int(other.scalar(total) or 0)))

    order(database_url, closed, note)

    engine.dispose()
    assert max(sizes) <= PIECE
    assert sum(sizes) > 2 * PIECE


def test_books_that_are_made_anew_meanwhile_are_left_alone(database_url: str, closed: Published) -> None:
    turns = 0

    def make_anew(connection: sa.Connection) -> None:
        nonlocal turns
        turns += 1
        if turns == 3:
            connection.execute(sa.update(Cell).values(series=Cell.series + 1))
            connection.execute(sa.update(Batch).where(Batch.series == 0).values(series=1))

    with pytest.raises(batches.ChangedError):
        order(database_url, closed, make_anew)


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
