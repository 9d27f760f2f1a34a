"""The books: batches agree with the rows, and nothing that is shown depends on a few responses."""

import json
import random
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from threading import Thread
from time import sleep

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy.orm import Session

from server.collect import batches, responses
from server.collect.batches import Key, Recount
from server.collect.batches.encoding import add_up
from server.collect.batches.merging import PIECE
from server.collect.responses import Acceptance, Arrival
from server.collect.submissions import Submission
from server.collect.tallies import Tally
from server.inputs import InputError, normalise_code
from server.people import survey_access
from server.store.engines import make_engine, open_session
from server.store.models import Survey
from server.store.own_tables import batches_of, cells_of, counters_of, removals_of, responses_of
from server.study.smallest_group import waiting_limit
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.forked_servers import ForkedServer

NOW = datetime(2026, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times
MINIMUM = 3

Look = dict[Key, Counter[bytes]]


def counters(tallies: dict[Key, Tally]) -> Look:
    """What there is of a survey, report string by report string."""
    found: Look = {}
    for key, tally in tallies.items():
        strings = [row.tobytes() for row in tally.patterns]
        found[key] = Counter()
        for string, n in zip(strings, tally.counts.tolist(), strict=True):
            found[key][string] += n
    return found


def rows(session: Session, survey: Survey) -> dict[Key, Tally]:
    """The stored responses, counted one by one."""
    found: dict[Key, list[bytes]] = {}
    stored = responses_of(survey.id).c
    query = sa.select(stored.version_id, stored.stratum_id, stored.reports)
    for version, stratum, reports in session.execute(query):
        found.setdefault((version, stratum), []).append(reports)
    return {key: Tally.of(b"".join(strings), len(strings[0])) for key, strings in found.items()}


def read_shown(session: Session, survey: Survey) -> dict[Key, Tally]:
    """What anybody is shown of a survey."""
    return together(batches.read_sealed(session, survey))


def read_counted(session: Session, survey: Survey) -> dict[Key, Tally]:
    """All that is in the books, what waits included."""
    return together([*batches.read_sealed(session, survey), *batches.read_waiting(session, survey)])


def together(parts: Iterable[tuple[Key, Tally]]) -> dict[Key, Tally]:
    """Pieces added up."""
    found: dict[Key, list[Tally]] = {}
    for key, tally in parts:
        found.setdefault(key, []).append(tally)
    return {key: add_up(own) for key, own in found.items()}


def changes_by_the_minimum(before: Look, after: Look, minimum: int) -> bool:
    """Whether in no version, stratum or sum of them two looks differ by fewer than the minimum."""
    for key in before.keys() | after.keys():
        old, new = before.get(key, Counter()), after.get(key, Counter())
        if old - new or (new != old and (new - old).total() < minimum):
            return False
    return True


class Books(RuleBasedStateMachine):
    """People answer by several links, in groups of any size; surveys get versions, restart, merge and close."""

    make: Callable[[bool], str]
    look = staticmethod(read_shown)

    @initialize(minimum=st.sampled_from([2, MINIMUM, 5]), cap=st.sampled_from([None, None, 40]))
    def publish(self, minimum: int, cap: int | None) -> None:
        self.database_url = self.make(True)
        self.minimum = minimum
        self.survey = factories.publish(self.database_url, minimum=minimum)
        slugs = factories.plant(self.database_url, self.survey.slug, "A\nB")
        self.links = [self.survey.slug, *slugs.values()]
        factories.settle(self.database_url, self.survey.slug, cap=cap)
        self.engine = make_engine(self.database_url).execution_options(moneda_writes=True)
        self.sent: list[Arrival] = []
        self.taken = 0
        self.closed = False
        self.last: Look = {}

    @rule(data=st.data(), commits=st.sampled_from([True, True, True, False]))
    def send(self, data: st.DataObject, commits: bool) -> None:
        """A group: new ones, some sent before, some with another's id, some that are refused."""
        size = data.draw(st.integers(1, 4 * self.minimum))
        group = []
        for _ in range(size):
            what = data.draw(st.sampled_from(["new"] * 6 + ["again", "other", "refused"]))
            reports = data.draw(st.sampled_from([b"\0\0", b"\0\1", b"\1\0", b"\1\1"]))
            link = data.draw(st.sampled_from(self.links))
            arrival = Arrival(link, Submission(secrets.token_bytes(16), self.survey.version, reports))
            if what in ("again", "other") and self.sent:
                arrival = data.draw(st.sampled_from(self.sent))
                if what == "other":
                    flipped = bytes(1 - report for report in arrival.submission.reports)
                    arrival = Arrival(
                        arrival.slug, Submission(arrival.submission.id, self.survey.version, flipped)
                    )
            if what == "refused":
                arrival = Arrival(link, Submission(secrets.token_bytes(16), self.survey.version, b"\7\7"))
            group.append(arrival)
        with self.engine.connect() as connection:
            outcomes = responses.accept_all(connection, group, NOW, responses.Links())
            if not commits:
                return
            connection.commit()
        self.sent.extend(
            arrival for arrival, got in zip(group, outcomes, strict=True) if got == Acceptance.STORED
        )
        self.taken += outcomes.count(Acceptance.STORED)

    @rule()
    def restart(self) -> None:
        self.engine.dispose()

    @rule(gamma=st.sampled_from([0.3, 0.4]))
    def publish_another_version(self, gamma: float) -> None:
        if not self.closed:
            document = factories.definition((gamma, gamma))
            try:
                self.survey = factories.publish(self.database_url, document, self.survey.slug)
            except InputError:
                return  # that version was there before

    @rule(really=st.sampled_from([False, False, True]))
    def close(self, really: bool) -> None:
        if really:
            factories.close(self.database_url, self.survey.slug)
            self.closed = True

    @invariant()
    def books_agree_with_the_rows(self) -> None:
        with open_session(self.engine, writes=False) as session:
            survey = survey_access.find(session, self.survey.slug)
            assert survey is not None
            stored = counters(rows(session, survey))
            assert counters(read_counted(session, survey)) == stored
            number = sum(n.total() for n in stored.values())
            assert batches.recount(session.connection(), survey.id) == Recount((), number, number)
            assert number == self.taken
            sizes = batches.count_sealed(session, survey)
            by_day = batches.count_sealed_by_day(session, survey)
            limit = 1 if self.closed else waiting_limit(survey.minimum)
            for key, n in stored.items():
                assert n.total() - sizes.get(key, 0) < limit
                assert sum(by_day.get(key, {}).values()) == sizes.get(key, 0)
            look = counters(type(self).look(session, survey))
        if self.closed:
            # A cell that never had the minimum is shown now; reports withhold it.
            look = {key: n for key, n in look.items() if n.total() >= self.minimum}
        assert changes_by_the_minimum(self.last, look, self.minimum)
        self.last = look

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.engine.dispose()


def _play(books: type[Books], new_database: NewDatabase, examples: int) -> None:
    machine = type(books.__name__, (books,), {"make": staticmethod(new_database)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=10,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
            phases=[Phase.generate],  # a failure is told as it was found: making it smaller takes minutes
        ),
    )


def test_books_agree_with_the_rows_and_looks_differ_by_whole_batches(new_database: NewDatabase) -> None:
    _play(Books, new_database, 10)


def test_counting_what_waits_would_be_noticed(sqlite: NewDatabase) -> None:
    """The broken twin: what waits is shown as soon as it is there."""

    class Eager(Books):
        look = staticmethod(read_counted)

    with pytest.raises(AssertionError):
        _play(Eager, sqlite, 15)


@contextmanager
def open_survey(database_url: str, slug: str) -> Iterator[tuple[Session, Survey]]:
    """A survey in a transaction that may write; rolled back unless it is committed."""
    engine = make_engine(database_url)
    try:
        with open_session(engine, writes=True) as session:
            survey = survey_access.find(session, slug)
            assert survey is not None
            yield session, survey
    finally:
        engine.dispose()


def arrivals(survey: factories.Published, number: int, links: Sequence[str] = ()) -> list[Arrival]:
    """New responses, by chance."""
    return [
        Arrival(
            secrets.choice(links or [survey.slug]),
            Submission(secrets.token_bytes(16), survey.version, secrets.choice([b"\0\0", b"\1\0", b"\0\1"])),
        )
        for _ in range(number)
    ]


def agree(database_url: str, slug: str) -> int:
    """Hold the books against the rows; how many there are."""
    with open_survey(database_url, slug) as (session, survey):
        found = batches.recount(session.connection(), survey.id)
    assert found.agrees
    return found.rows


def test_writers_that_are_killed_and_that_write_at_once_leave_books_that_agree(
    database_url: str, tmp_path: Path
) -> None:
    """Two processes on the same cells, three times killed in the middle of what they do."""
    survey = factories.publish(database_url, minimum=5)
    links = [survey.slug, *factories.plant(database_url, survey.slug, "A\nB").values()]
    before = 0
    environment, complaints = factories.environment(database_url), tmp_path / "stderr"
    for _ in range(3):
        with complaints.open("w") as log:
            writers = [
                ForkedServer(
                    [database_url, survey.version, *order], environment, log, "tests.support.endless_writers"
                )
                for order in (links, links[::-1])
            ]
        for writer in writers:
            assert writer.stdout.readline() == "ready\n"
        sleep(0.5 + secrets.randbelow(300) / 1000)
        for writer in writers:
            assert writer.poll() is None  # it has not failed: no deadlock
            writer.kill()
        assert [writer.communicate() for writer in writers] == ["", ""]
        assert complaints.read_text() == ""
        now = agree(database_url, survey.slug)
        assert now > before
        before = now


def test_groups_of_several_surveys_at_once_are_counted_once(new_database: NewDatabase) -> None:
    """Threads, each with its groups of both surveys in another order; one of them has a cap, which is kept."""
    database_url = new_database(True)
    one, other = (factories.publish(database_url, minimum=4) for _ in range(2))
    factories.settle(database_url, other.slug, cap=60)
    engine = make_engine(database_url).execution_options(moneda_writes=True)
    stored: list[int] = []
    failed: list[Exception] = []

    def write(order: int) -> None:
        try:
            for _ in range(12):
                group = [*arrivals(one, 3), *arrivals(other, 3)][::order]
                with engine.begin() as connection:
                    outcomes = responses.accept_all(connection, group, NOW, responses.Links())
                stored.append(outcomes.count(Acceptance.STORED))
        except Exception as error:  # told by the test, which a thread's would not be
            failed.append(error)

    threads = [Thread(target=write, args=[order]) for order in (1, -1, 1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.dispose()

    assert failed == []
    assert agree(database_url, other.slug) == 60
    assert agree(database_url, one.slug) == 3 * 12 * 4 == sum(stored) - 60


def test_an_invitation_lets_one_response_in_however_many_arrive_at_once(new_database: NewDatabase) -> None:
    database_url = new_database(True)
    survey = factories.publish(database_url)
    codes = [normalise_code(code) for code in factories.invite(database_url, survey.slug, 10)]
    engine = make_engine(database_url).execution_options(moneda_writes=True)
    outcomes: list[object] = []

    def write(order: int) -> None:
        group = [
            Arrival(survey.slug, Submission(secrets.token_bytes(16), survey.version, b"\0\0", code))
            for code in codes
        ]
        with engine.begin() as connection:
            outcomes.extend(responses.accept_all(connection, group[::order], NOW, responses.Links()))

    threads = [Thread(target=write, args=[order]) for order in (1, -1, 1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.dispose()

    assert outcomes.count(Acceptance.STORED) == 10
    assert sum(isinstance(outcome, InputError) and outcome.status == 409 for outcome in outcomes) == 30
    assert agree(database_url, survey.slug) == 10


def test_batches_stay_few_and_tidying_leaves_one_for_each_cell_and_week(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url, minimum=10)
    engine = make_engine(database_url).execution_options(moneda_writes=True)
    for _ in range(150):
        with engine.begin() as connection:
            responses.accept_all(connection, arrivals(survey, 25), NOW, responses.Links())
    engine.dispose()

    assert agree(database_url, survey.slug) == 3750
    assert 1 <= len(factories.dump(database_url)["batches"]) < 40
    factories.close(database_url, survey.slug)
    assert agree(database_url, survey.slug) == 3750
    assert factories.run(database_url, "tidy").exit_code == 0
    one, other = (batch[3] for batch in factories.dump(database_url)["batches"])
    assert (one + other, other) == (3750, 10)  # type: ignore[operator]  # what waited is shown today
    assert agree(database_url, survey.slug) == 3750


def test_a_minimum_that_is_raised_holds_for_what_comes_later(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url, minimum=3)
    with open_survey(database_url, survey.slug) as (session, found):
        last: Look = {}
        steps = set()
        for place in range(80):
            if place == 20:
                found.minimum = 8
                session.flush()
            responses.accept_all(session.connection(), arrivals(survey, 1), NOW, responses.Links())
            look = counters(read_shown(session, found))
            assert changes_by_the_minimum(last, look, found.minimum)
            steps.add(sum(n.total() for n in look.values()) - sum(n.total() for n in last.values()))
            last = look
    assert steps == {0, 3, 8}


def test_tallies_of_any_size_are_put_in_order_part_by_part(sqlite: NewDatabase) -> None:
    """A million bytes of long strings, many of them equal, in batches of both forms."""
    database_url = sqlite(True)
    document = factories.definition([0.25] * 100)
    survey = factories.publish(database_url, document, minimum=1)
    generator = np.random.default_rng(7)
    few = generator.integers(0, 2, (40, 100), dtype=np.uint8)
    for seed in range(4):
        chosen = few[generator.integers(0, len(few), 1000)] if seed % 2 else few[:1]
        new = generator.integers(0, 2, (1500, 100), dtype=np.uint8)
        rows = [(row.tolist(), 1) for row in np.concatenate([chosen, new])]
        factories.store(database_url, survey, rows)
    number = agree(database_url, survey.slug)
    with open_survey(database_url, survey.slug) as (session, found):
        before = counters(read_shown(session, found))

    factories.close(database_url, survey.slug)
    assert factories.run(database_url, "tidy").exit_code == 0

    with open_survey(database_url, survey.slug) as (session, found):
        pieces = [tally for _key, tally in batches.read_sealed(session, found)]
        after = counters(read_shown(session, found))
    assert (after, agree(database_url, survey.slug)) == (before, number)
    strings = [row.tobytes() for tally in pieces for row in tally.patterns]
    assert strings == sorted(strings)


@contextmanager
def reading_rows_while_holding() -> Iterator[list[str]]:
    """Statements that read responses in transactions that write: whoever wants to write waits for as long."""
    held: list[str] = []

    def look(connection: sa.Connection, _cursor: object, statement: str, *_rest: object) -> None:
        if connection.get_execution_options().get("moneda_writes") and "FROM responses_" in statement:
            held.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", look)
    yield held
    sa.event.remove(sa.Engine, "before_cursor_execute", look)


@contextmanager
def doing_while_it_reads(do: Callable[[], None]) -> Iterator[None]:
    """Do something before the first question for rows or books of a session that only reads, and every eighth."""
    at_work = False
    asked = 0

    def look(connection: sa.Connection, _cursor: object, statement: str, *_rest: object) -> None:
        nonlocal at_work, asked
        reads = connection.get_execution_options().get("moneda_writes") is False
        if reads and not at_work and re.search("FROM (responses|batches|cells)_", statement):
            asked += 1
            at_work = asked % 8 == 1
            if at_work:
                do()
            at_work = False

    sa.event.listen(sa.Engine, "before_cursor_execute", look)
    yield
    sa.event.remove(sa.Engine, "before_cursor_execute", look)


def differ_by_the_minimum(before: Look, after: Look, minimum: int) -> bool:
    """Whether in no version and stratum two looks differ by fewer than the minimum, in either direction."""
    for key in before.keys() | after.keys():
        old, new = before.get(key, Counter()), after.get(key, Counter())
        if old != new and ((old - new) + (new - old)).total() < minimum:
            return False
    return True


KINDS = ["lost", "twice", "waiting", "number", "cell", "rows", "leaving", "counter", "waits"]


def spoil(connection: sa.Connection, kind: str, generator: random.Random) -> None:
    """Do something to the books, or the rows, of the first survey that nothing of ours would do."""
    cells, held, rows, removals = cells_of(1), batches_of(1), responses_of(1), removals_of(1)
    cell = generator.choice(connection.scalars(sa.select(cells.c.id).order_by(cells.c.id)).all())
    own = held.c.cell_id == cell
    numbers = connection.scalars(sa.select(held.c.id).where(own).order_by(held.c.id)).all()
    this = held.c.id == (generator.choice(numbers) if numbers else 0)
    if kind == "lost":
        connection.execute(sa.delete(held).where(this))
    if kind == "twice":
        others = [column for column in held.c if column is not held.c.id]
        copy = sa.select(sa.literal(generator.getrandbits(60)), *others).where(this)
        connection.execute(sa.insert(held).from_select(list(held.c), copy))
    if kind == "waiting":
        connection.execute(sa.update(cells).where(cells.c.id == cell).values(waiting=b"\1\1" * 3))
    if kind == "number":
        connection.execute(sa.update(held).where(this).values(n=held.c.n + generator.choice([1, 30])))
    if kind == "cell":
        connection.execute(sa.delete(cells).where(cells.c.id == cell))
    if kind == "rows":
        gone = connection.scalars(sa.select(rows.c.id).limit(generator.choice([1, 15]))).all()
        connection.execute(sa.delete(rows).where(rows.c.id.in_(gone)))
    if kind == "leaving":
        connection.execute(sa.delete(removals).where(removals.c.cell_id == cell))
        connection.execute(sa.insert(removals).values(cell_id=cell, n=3, strings=b"\0\1\1\1"))
    if kind == "counter":
        connection.execute(sa.update(counters_of(1)).values(n=counters_of(1).c.n + 3))
    if kind == "waits":
        connection.execute(sa.update(cells).where(cells.c.id == cell).values(waiting_n=99))


@pytest.mark.parametrize("closed", [False, True])
def test_books_that_were_spoilt_are_put_right_while_responses_come(
    new_database: NewDatabase, closed: bool
) -> None:
    """Whoever looks in between sees no change of a few, and each response in the end."""
    url = new_database(True)
    survey = factories.publish(url, minimum=MINIMUM)
    links = [survey.slug, *factories.plant(url, survey.slug, "A\nB").values()]
    other = factories.publish(url, minimum=MINIMUM)
    engine = make_engine(url).execution_options(moneda_writes=True)
    generator = random.Random(5)
    came = 0
    last: Look = {}

    def send(number: int, to: factories.Published, by: Sequence[str] = ()) -> None:
        with engine.begin() as connection:
            outcomes = responses.accept_all(connection, arrivals(to, number, by), NOW, responses.Links())
        assert outcomes == [Acceptance.STORED] * number

    def look() -> Look:
        with open_session(engine, writes=True) as session:
            found = survey_access.find(session, survey.slug)
            assert found is not None
            return counters(read_shown(session, found))

    def look_and_send() -> None:
        nonlocal last, came
        now = look()
        assert closed or differ_by_the_minimum(last, now, MINIMUM)
        last = now
        send(1, *((other,) if closed else (survey, links)))
        came += 1

    send(100, survey, links)
    if closed:
        factories.close(url, survey.slug)
    for kinds in [*([kind] for kind in KINDS), *(generator.sample(KINDS, 3) for _ in range(2))]:
        with engine.begin() as connection:
            for kind in kinds:
                spoil(connection, kind, generator)
        last, before = look(), came
        with reading_rows_while_holding() as held, doing_while_it_reads(look_and_send):
            mended = factories.run(url, "recount", survey.slug)
        if mended.exception is not None and not isinstance(mended.exception, SystemExit):
            raise mended.exception
        assert "again and again" not in mended.output
        assert (held, came > before) == ([], True)
        agree(url, survey.slug)
        if not closed:
            send(20, survey, links)
    engine.dispose()


def test_books_of_any_size_are_put_right_in_pieces(database_url: str) -> None:
    """Five megabytes that are missing, and then are too much."""
    length, number = 90, 60_000
    survey = factories.publish(database_url, factories.definition([0.25] * length), minimum=10)
    strings = np.random.default_rng(7).integers(0, 2, (number, length), dtype=np.uint8)
    rows = responses_of(1)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        values = {"version_id": found.versions[0].id, "stratum_id": None, "day": NOW.date()}
        session.execute(
            sa.insert(rows),
            [{"id": secrets.token_bytes(16), "reports": string.tobytes(), **values} for string in strings],
        )
    sizes = [0]

    def measure(connection: sa.Connection) -> None:
        if connection.get_execution_options().get("moneda_writes"):
            size = connection.exec_driver_sql("SELECT coalesce(sum(length(content)), 0) FROM batches_1")
            sizes.append(int(size.scalar_one()))

    def mend() -> tuple[int, int]:
        """The most that the books grew in one transaction, and how large they are."""
        sizes[1:] = []
        sa.event.listen(sa.Engine, "commit", measure)
        told = factories.run(database_url, "recount", "--json")
        sa.event.remove(sa.Engine, "commit", measure)
        assert told.exit_code == 1
        most = max(abs(after - before) for before, after in pairwise(sizes))
        sizes[0] = sizes[-1]
        return most, sizes[-1]

    most, size = mend()
    assert most <= PIECE // 2
    assert size > PIECE
    assert agree(database_url, survey.slug) == number
    with factories.writing(database_url) as session:
        kept = session.scalars(sa.select(rows.c.id).limit(1000)).all()
        session.execute(sa.delete(rows).where(rows.c.id.not_in(kept)))
    most, size = mend()
    assert most <= PIECE // 2
    assert size < PIECE // 8
    assert agree(database_url, survey.slug) == 1000


def test_what_somebody_else_puts_right_is_not_put_right_twice(database_url: str) -> None:
    survey = factories.publish(database_url, minimum=4)
    engine = make_engine(database_url).execution_options(moneda_writes=True)
    with engine.begin() as connection:
        responses.accept_all(connection, arrivals(survey, 40), NOW, responses.Links())
        connection.execute(sa.delete(batches_of(1)))
    engine.dispose()
    others: list[int] = []

    def mend_too() -> None:
        if not others:
            others.append(0)
            others[0] = factories.run(database_url, "recount").exit_code

    with doing_while_it_reads(mend_too):
        assert factories.run(database_url, "recount").exit_code == 1

    assert others == [1]
    assert agree(database_url, survey.slug) == 40


@pytest.mark.parametrize("spoilt", [["lost"], ["rows", "twice"]])
def test_books_of_a_survey_that_is_closed_meanwhile_are_put_right(
    database_url: str, spoilt: Sequence[str]
) -> None:
    survey = factories.publish(database_url, minimum=4)
    engine = make_engine(database_url).execution_options(moneda_writes=True)
    with engine.begin() as connection:
        responses.accept_all(connection, arrivals(survey, 60), NOW, responses.Links())
        for kind in spoilt:
            spoil(connection, kind, random.Random(1))
    engine.dispose()
    asked = 0

    def close_at_last() -> None:
        nonlocal asked
        asked += 1
        if asked == 2:  # what differs was looked at once before
            factories.close(database_url, survey.slug)

    with doing_while_it_reads(close_at_last):
        assert factories.run(database_url, "recount").exit_code == 1

    assert asked > 2
    agree(database_url, survey.slug)
    assert factories.run(database_url, "tidy").exit_code == 0
    agree(database_url, survey.slug)


def test_recount_tells_what_differs_and_mends_it(database_url: str) -> None:
    """Books that somebody has spoilt: batches are gone, what waits is another, the counter is wrong."""
    survey, other = (factories.publish(database_url, minimum=4) for _ in range(2))
    links = [survey.slug, *factories.plant(database_url, survey.slug, "A\nB").values()]
    engine = make_engine(database_url).execution_options(moneda_writes=True)
    with engine.begin() as connection:
        responses.accept_all(connection, arrivals(survey, 60, links), NOW, responses.Links())
        responses.accept_all(connection, arrivals(other, 10), NOW, responses.Links())
    assert factories.run(database_url, "recount").exit_code == 0
    with engine.begin() as connection:
        cells, counts, counter = cells_of(1), batches_of(1), counters_of(2)
        gone = connection.scalar(sa.select(counts.c.cell_id).limit(1))
        connection.execute(sa.delete(counts).where(counts.c.cell_id == gone))
        strings = connection.scalar(sa.select(cells.c.waiting).where(cells.c.id != gone).limit(1))
        other_ones = bytes(1 - report for report in strings)
        connection.execute(sa.update(cells).where(cells.c.waiting == strings).values(waiting=other_ones))
        connection.execute(sa.update(counter).values(n=counter.c.n + 1))
    engine.dispose()

    with reading_rows_while_holding() as held:
        told = factories.run(database_url, "recount", "--json")
    assert held == []

    documents = {entry["survey"]: entry for entry in json.loads(told.stdout)}
    assert told.exit_code == 1
    assert not documents[survey.slug]["agrees"]
    assert documents[other.slug]["differences"][-1]["counted_without_response"] == 1
    assert agree(database_url, survey.slug) == 60
    again = factories.run(database_url, "recount", survey.slug, other.slug)
    assert (again.exit_code, again.stdout.count("agrees")) == (0, 2)


def test_reading_that_breaks_off_leaves_no_cursor_open(postgresql: NewDatabase) -> None:
    """Also while somebody still holds the error, and with it where it came from."""
    url = postgresql(True)
    survey = factories.publish(url, factories.definition([0.25, 0.25]))
    factories.store(url, survey, [([0, 1], 20)])
    factories.close(url, survey.slug)
    with factories.writing(url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        session.execute(sa.update(batches_of(found.id)).values(content=b"odd"))
        with pytest.raises(ValueError, match="multiple") as caught:
            list(batches.read_sealed(session, found))
        assert session.scalar(sa.text("SELECT count(*) FROM pg_cursors")) == 0
        assert caught.value is not None
        session.rollback()


def test_nothing_is_left_of_a_cell_whose_rows_are_gone(database_url: str) -> None:
    survey = factories.publish(database_url, minimum=4)
    engine = make_engine(database_url).execution_options(moneda_writes=True)
    with engine.begin() as connection:
        responses.accept_all(connection, arrivals(survey, 40), NOW, responses.Links())
        connection.execute(sa.delete(responses_of(1)))
    engine.dispose()

    told = factories.run(database_url, "recount", "--json")

    (document,) = json.loads(told.stdout)
    assert document["differences"][0]["counted_without_response"] == 40
    rows = factories.dump(database_url)
    assert [rows[name] for name in ("cells", "batches", "removals")] == [[], [], []]


def test_what_was_to_leave_and_is_in_no_batch_does_not_count_once_more(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url, minimum=4)
    engine = make_engine(database_url).execution_options(moneda_writes=True)
    with engine.begin() as connection:
        responses.accept_all(connection, arrivals(survey, 40), NOW, responses.Links())
        cell = sa.select(cells_of(1).c.id).scalar_subquery()
        connection.execute(sa.insert(removals_of(1)).values(cell_id=cell, n=1, strings=b"\1\1"))
    assert factories.run(database_url, "recount").exit_code == 1
    with engine.begin() as connection:
        responses.accept_all(connection, arrivals(survey, 40), NOW, responses.Links())
    engine.dispose()

    assert agree(database_url, survey.slug) == 80
