"""The books: batches agree with the rows, and nothing that is shown depends on a few responses."""

import secrets
from collections import Counter
from collections.abc import Callable
from datetime import datetime

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy.orm import Session

from server import batches, collected, responses, surveys
from server.collected import Key
from server.db import make_engine, open_session
from server.inputs import InputError, Submission
from server.models import Response, Survey
from server.responses import Acceptance, Arrival
from server.tallies import Tally
from tests import factories
from tests.conftest import NewDatabase

NOW = datetime(2026, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times
MINIMUM = 3

Look = dict[Key, Counter[bytes]]


def counters(tallies: dict[Key, Tally]) -> Look:
    """What there is of a survey, report string by report string."""
    return {key: Counter(tally.expanded()) for key, tally in tallies.items()}


def rows(session: Session, survey: Survey) -> dict[Key, Tally]:
    """The stored responses, counted one by one."""
    found: dict[Key, list[bytes]] = {}
    query = sa.select(Response.version_id, Response.stratum_id, Response.reports)
    for version, stratum, reports in session.execute(query):
        if version in {each.id for each in survey.versions}:
            found.setdefault((version, stratum), []).append(reports)
    return {key: Tally.of(b"".join(strings), len(strings[0])) for key, strings in found.items()}


def shown_and_waiting(session: Session, survey: Survey) -> dict[Key, Tally]:
    """The broken twin: what an open batch holds is shown as soon as it is there."""
    return collected.stored_tallies(session, survey)


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
    look = staticmethod(collected.tallies)

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
            outcomes = responses.accept_all(connection, group, NOW)
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

    @rule()
    def recount(self) -> None:
        with open_session(self.engine, writes=True) as session, session.begin():
            survey = surveys.find(session, self.survey.slug)
            assert survey is not None
            assert batches.rebuild(session, survey, NOW.date()).agrees

    @rule(really=st.sampled_from([False, False, True]))
    def close(self, really: bool) -> None:
        if really:
            factories.close(self.database_url, self.survey.slug)
            self.closed = True

    @invariant()
    def books_agree_with_the_rows(self) -> None:
        with open_session(self.engine, writes=False) as session:
            survey = surveys.find(session, self.survey.slug)
            assert survey is not None
            stored = counters(rows(session, survey))
            assert counters(collected.stored_tallies(session, survey)) == stored
            assert batches.recount(session.connection(), survey.id).agrees
            assert collected.stored(session, survey) == self.taken == sum(map(Counter.total, stored.values()))
            shown = collected.sizes(session, survey)
            by_day = collected.by_day(session, survey)
            for key, n in collected.stored_sizes(session, survey).items():
                assert n - shown.get(key, 0) < max(collected.waiting_limit(survey), 1)
                assert sum(by_day.get(key, {}).values()) == shown.get(key, 0)
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
    _play(Books, new_database, 15)


def test_counting_what_waits_would_be_noticed(sqlite: NewDatabase) -> None:
    """The broken twin."""

    class Eager(Books):
        look = staticmethod(shown_and_waiting)

    with pytest.raises(AssertionError):
        _play(Eager, sqlite, 15)
