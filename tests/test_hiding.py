"""What closing hides where responses were taken back: beside no earlier look a few responses stand alone."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import combinations, combinations_with_replacement, product

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect import acceptance, batches
from server.collect.batches import closing, hiding
from server.collect.batches.hiding import Size, choose_numbers
from server.store.models import Stratum, Survey
from server.store.own_tables import batches_of, cells_of, removals_of
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.scale import choose_size

MINIMUM = 3
LENGTH = 2
TURNS, STEPS, AT_ONCE = (1, 2, 3, 4), (3, 6, 9, 60), (1, 1, 2, 5)
MOST = max(TURNS) * max(STEPS) * max(AT_ONCE)
"""Responses of a survey, each of which answers like no other."""
DAY = date(2026, 5, 1)


def count_differing(sizes: Sequence[Size], hidden: dict[int, int], shown_then: Sequence[bool]) -> int:
    """Of the responses of whole batches and those that are not hidden, how many stand in one of the two only."""
    return sum(
        hidden.get(number, 0) if then else n - hidden.get(number, 0)
        for (number, _level, n), then in zip(sizes, shown_then, strict=True)
    )


@pytest.mark.parametrize("minimum", [3, 4, 5, 10])
def test_whichever_batches_were_shown_then_the_minimum_differs_or_nothing(minimum: int) -> None:
    most = 2 * minimum + 1
    for parts in (1, 2, 3, 4):
        for numbers in combinations_with_replacement(
            range(1, most, 1 if minimum < 10 or parts < 3 else 4), parts
        ):
            sizes = [(place, 0, n) for place, n in enumerate(numbers)]
            hidden = choose_numbers(sizes, minimum)
            left = sum(numbers) - sum(hidden.values())
            for shown in product([False, True], repeat=parts):
                differ = count_differing(sizes, hidden, shown)
                if left:
                    assert differ >= minimum, (numbers, hidden, shown)


def test_no_more_are_hidden_than_have_to_be() -> None:
    assert sum(choose_numbers([(1, 0, 10), (2, 0, 10)], 10).values()) == 10
    assert sum(choose_numbers([(1, 0, 20), (2, 1, 400)], 10).values()) == 10
    assert choose_numbers([(1, 0, 20)], 10) == {1: 10}
    # One of ten cannot lose one and be shown.
    assert choose_numbers([(1, 0, 9)], 10) == {1: 9}
    # Which of them were sealed together is not known any more.
    assert sum(choose_numbers([(1, 1, 160), (2, 2, 4_000)], 10).values()) == 20


@pytest.fixture
def session(sqlite: NewDatabase) -> Iterator[Session]:
    """With one survey, that nobody has answered."""
    database_url = sqlite(True)
    factories.publish(database_url, factories.definition([0.25] * LENGTH), minimum=MINIMUM)
    with factories.writing(database_url) as opened:
        yield opened


def play(session: Session, seed: int, hide: Callable[..., dict[int, int]]) -> Iterator[str]:
    """Which looks at a survey that is answered at random differ by a few from what is shown when it is closed."""
    draw = random.Random(seed)
    unused = [pair.to_bytes(LENGTH) for pair in draw.sample(range(256**LENGTH), MOST)]
    living: list[bytes] = []
    looks: list[Counter[bytes]] = []
    played = session.begin_nested()
    found = session.scalars(sa.select(Survey)).one()
    assert found.current is not None
    connection, key = session.connection(), batches.CellKey(found.current.id, None)

    def look() -> None:
        shown: Counter[bytes] = Counter()
        for _key, tally in batches.read_sealed(session, found):
            for pattern, number in zip(tally.patterns, tally.counts, strict=True):
                shown[pattern.tobytes()] += int(number)
        looks.append(shown)

    def take_back(reports: bytes) -> None:
        living.remove(reports)
        batches.remove(connection, found.id, key, [reports])

    def read_waiting() -> list[bytes]:
        strings = connection.scalars(sa.select(cells_of(found.id).c.waiting)).one()
        return [strings[start : start + LENGTH] for start in range(0, len(strings), LENGTH)]

    for _turn in range(draw.choice(TURNS)):
        for _ in range(draw.choice(STEPS)):
            together = [unused.pop() for _ in range(draw.choice(AT_ONCE))]
            group = batches.Group(MINIMUM, together, {DAY: len(together)})
            batches.add(connection, found.id, {key: group})
            living += together
            look()
        for reports in draw.sample(living, min(draw.choice((0, 0, 1, 2)), len(living))):
            take_back(reports)
    if draw.random() < 0.8:
        # Few that wait, so that no last batch makes up for what leaves; and of those that are shown the newest leave.
        waiting = read_waiting()
        for reports in draw.sample(waiting, max(len(waiting) - draw.randrange(MINIMUM), 0)):
            take_back(reports)
        for reports in living[-draw.randrange(1, 7) :][:2]:
            take_back(reports)
    look()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(hiding, "choose_numbers", hide)
        acceptance.close_survey(found)
        acceptance.close_survey(found)  # pressed twice
    look()
    assert not connection.scalar(sa.select(sa.func.count()).select_from(removals_of(found.id)))
    assert looks[-1] + Counter(read_waiting()) == Counter(living), (
        "what is shown and what waits are all that were not taken back"
    )
    days = connection.scalars(sa.select(batches_of(found.id).c.days)).all()
    assert sum(sum(batches.weeks.decode_days(text).values()) for text in days) == looks[-1].total()
    played.rollback()
    *before, after = looks
    for place, shown in enumerate(before):
        if not shown and after.total() < MINIMUM:
            continue  # all that there is, in a group too small to be shown by itself
        differ = ((shown - after) + (after - shown)).total()
        if 0 < differ < MINIMUM:
            yield f"survey {seed}: {differ} differ between look {place} of {shown.total()} and the end"


def hide_at_random(sizes: Sequence[Size], minimum: int) -> dict[int, int]:
    """The twin: as many as the minimum, from wherever."""
    whole = sum(n for _number, _level, n in sizes)
    if not whole:  # all that was sealed was taken back
        return {}
    drawn = random.Random(1).sample(
        [number for number, _level, _n in sizes],
        min(minimum, whole),
        counts=[n for _number, _level, n in sizes],
    )
    return dict(Counter(drawn))


@pytest.mark.scaled
def test_no_look_and_the_end_differ_by_a_few(session: Session) -> None:
    for seed in range(choose_size(25, 1_500)):
        assert list(play(session, seed, choose_numbers)) == []


def test_hiding_the_minimum_at_random_is_caught(session: Session) -> None:
    # Who waits is drawn: of runs of 100 seeds about one in twenty catches nothing.
    assert any(list(play(session, seed, hide_at_random)) for seed in range(700))


LINKS = "A\nB\nC"


@pytest.fixture
def stratified_session(sqlite: NewDatabase) -> Iterator[Session]:
    """With one survey of three strata, that nobody has answered."""
    database_url = sqlite(True)
    survey = factories.publish(database_url, factories.definition([0.25] * LENGTH), minimum=MINIMUM)
    factories.plant(database_url, survey.slug, LINKS)
    with factories.writing(database_url) as opened:
        yield opened


def play_links(session: Session, seed: int) -> Iterator[str]:
    """Which looks at a sum of links differ by a few from what is shown of the same links when all is closed."""
    draw = random.Random(seed)
    unused = [pair.to_bytes(LENGTH) for pair in draw.sample(range(256**LENGTH), 200)]
    played = session.begin_nested()
    found = session.scalars(sa.select(Survey)).one()
    assert found.current is not None
    connection, version = session.connection(), found.current.id
    places = [None, *session.scalars(sa.select(Stratum.id))]
    living: dict[int | None, list[bytes]] = {place: [] for place in places}
    looks: list[dict[int | None, Counter[bytes]]] = []

    def look() -> None:
        shown: dict[int | None, Counter[bytes]] = {place: Counter() for place in places}
        for (_version, place), tally in batches.read_sealed(session, found):
            for pattern, number in zip(tally.patterns, tally.counts, strict=True):
                shown[place][pattern.tobytes()] += int(number)
        looks.append(shown)

    for _turn in range(draw.choice((4, 8, 16))):
        place = draw.choice(places)
        together = [unused.pop() for _ in range(draw.choice((1, 1, 2, 3, 7)))]
        living[place] += together
        key = batches.CellKey(version, place)
        batches.add(connection, found.id, {key: batches.Group(MINIMUM, together, {DAY: len(together)})})
        look()
        # Mostly of those that wait, as none of these leaves a batch.
        for place in draw.sample(places, draw.choice((0, 0, 1, 2))):
            shown = looks[-1][place]
            wait = [reports for reports in living[place] if reports not in shown or draw.random() < 0.05]
            for reports in wait[: draw.choice((1, 2, 9))]:
                living[place].remove(reports)
                batches.remove(connection, found.id, batches.CellKey(version, place), [reports])
    acceptance.close_survey(found)
    acceptance.close_survey(found)  # pressed twice
    look()
    played.rollback()
    *before, end = looks
    for number, shown in enumerate(before):
        for links in (links for size in range(1, 5) for links in combinations(places, size)):
            then, now = (_add_up([one[place] for place in links]) for one in (shown, end))
            if now.total() < MINIMUM and not then:
                continue  # withheld
            differ = ((then - now) + (now - then)).total()
            if 0 < differ < MINIMUM:
                yield f"survey {seed}: {differ} differ of links {links} between look {number} and the end"


def _add_up(counters: Sequence[Counter[bytes]]) -> Counter[bytes]:
    total: Counter[bytes] = Counter()
    for counter in counters:
        total += counter
    return total


@pytest.mark.scaled
def test_no_sum_of_links_and_the_end_differ_by_a_few(stratified_session: Session) -> None:
    for seed in range(choose_size(100, 2_000)):
        assert list(play_links(stratified_session, seed)) == []


def test_showing_a_few_beside_a_link_where_nothing_is_new_is_caught(
    stratified_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "_hide_few", lambda *_given: ((), {}))
    assert any(list(play_links(stratified_session, seed)) for seed in range(700))


def test_fewer_than_a_raised_minimum_wait_for_good(database_url: str) -> None:
    survey = factories.publish(database_url, factories.definition([0.25] * LENGTH), minimum=3)
    for _ in range(20):
        factories.store(database_url, survey, [((0, 1), 1)])
    shown = _read_n(database_url, survey.slug)
    factories.settle(database_url, survey.slug, minimum=10)
    factories.close(database_url, survey.slug)
    assert 10 <= shown == _read_n(database_url, survey.slug) < 20


def _read_n(database_url: str, slug: str) -> int:
    number: int = json.loads(factories.run(database_url, "report", slug, "--format", "json").stdout)["n"]
    return number
