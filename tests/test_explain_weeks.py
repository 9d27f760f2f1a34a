"""Weeks in which responses were first shown, as what an answer goes with: only whole batches tell of them."""

import json
import random
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from datetime import date, timedelta
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from server import reports
from server.cli import main
from server.collect import batches
from server.collect.batches import adding, closing, removing
from server.collect.batches.removing import Removed
from server.collect.batches.weeks import drop_week
from server.people import survey_access
from server.reports.explaining.shown_weeks import group_weeks
from server.store.models import Survey
from server.store.own_tables import batches_of
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.scale import choose_size

MONDAY = date(2026, 4, 27)
MINIMUM, LENGTH = 3, 2


def find_day(week: int) -> date:
    return MONDAY + timedelta(days=7 * week + 2)


def collect_weeks(url: str, weeks: int = 4, strata: str = "") -> factories.Published:
    """A survey in which Yes is said more often each week, and q2 never changes; 300 are shown a week."""
    survey, rng = factories.publish(url, minimum=10), np.random.default_rng(5)
    links = list(factories.plant(url, survey.slug, strata).values()) if strata else [survey.slug]
    for week in range(weeks):
        truth = rng.random(300) < 0.2 + 0.15 * week
        told = [(rng.random(300) < np.where(one, 0.75, 0.25)).astype(int) for one in (truth, truth & False)]
        rows = [([int(report) for report in row], 1) for row in np.stack(told, axis=1)]
        for link, own in zip(links, (rows[k :: len(links)] for k in range(len(links))), strict=True):
            factories.store(url, survey, own, link, find_day(week))
    return survey


def read(url: str, *arguments: str) -> dict[str, Any]:
    done = CliRunner(env={"DATABASE_URL": url}).invoke(main, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("closed", [False, True])
def test_weeks_and_their_trend_explain_an_answer(new_database: NewDatabase, closed: bool) -> None:
    """From 20 % by 15 points a week to 65 %: log odds rise by 0.67 a week (from the logits of the ends, a third)."""
    url = new_database(True)
    survey = collect_weeks(url)
    if closed:
        factories.close(url, survey.slug)
        assert factories.run(url, "tidy").exit_code == 0
    found = read(url, "estimate", survey.slug, "--explain", "q1", "--by", "trend")
    ((step,),) = (predictor["steps"] for predictor in found["predictors"])
    truth = (np.log(0.65 / 0.35) - np.log(0.2 / 0.8)) / 3
    # The last ten are shown on closing, at whatever day that is.
    if not closed:
        assert step["coefficient_interval"][0] < truth < step["coefficient_interval"][1]
    assert step["coefficient_interval"][0] > 0
    levels = read(url, "estimate", survey.slug, "--explain", "q1", "--by", "week", "--by", "q2")
    weeks = levels["predictors"][0]
    assert weeks["reference"] == "2026-04-27/2026-05-03"
    assert [each["step"] for each in weeks["steps"]][:3] == [
        "2026-05-04/2026-05-10",
        "2026-05-11/2026-05-17",
        "2026-05-18/2026-05-24",
    ]
    assert weeks["steps"][2]["odds_ratio_interval"][0] > 1
    assert (levels["n"], levels["without_week"]) == (1200 if closed else 1190, 0)
    assert any("first shown" in note for note in levels["notes"])


def test_weeks_of_strata_with_populations_are_weighted_too(sqlite: NewDatabase) -> None:
    """Two that answered alike: as large as each other they change nothing, and else they do."""
    found = []
    for populations in ((500, 500), (900, 100)):
        url = sqlite(True)
        survey = collect_weeks(url, 4, "A, {}\nB, {}".format(*populations))
        factories.close(url, survey.slug)
        found.append(read(url, "estimate", survey.slug, "--explain", "q1", "--by", "trend"))
    for own in found:
        assert (own["weighting"], own["without_week"], own["n"]) == ("by population", 0, 1200)
    steps = [own["predictors"][0]["steps"][0] for own in (*found, found[0]["unweighted"])]
    assert steps[0]["odds_ratio"] == pytest.approx(steps[2]["odds_ratio"], rel=1e-8)
    assert steps[1]["odds_ratio"] != pytest.approx(steps[2]["odds_ratio"], rel=1e-3)


def test_the_page_offers_weeks_and_says_what_the_command_says(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = collect_weeks(database_url)
    address = f"/manage/surveys/{survey.slug}/explain"
    page = signed_in.get(f"{address}?explain=q1&by=week").text
    assert re.findall(r'name="by" value="([\w.]+)"', page) == ["week", "trend", "q1", "q2"]
    assert "May 4, 2026 to May 10, 2026 / April 27, 2026 to May 3, 2026" in page
    found = read(database_url, "estimate", survey.slug, "--explain", "q1", "--by", "week")
    assert all(f"{step['odds_ratio']:.3g} times the odds" in page for step in found["predictors"][0]["steps"])
    assert "a week later" in signed_in.get(f"{address}?explain=q1&by=trend").text
    for ending in ("html", "pdf", "xlsx", "csv", "json"):
        assert (
            signed_in.get(f"/manage/surveys/{survey.slug}/report.{ending}?explain=q1&by=week").status_code
            == 200
        )


def test_one_week_is_no_predictor_and_two_names_of_weeks_are_one(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = collect_weeks(database_url, weeks=1)
    address = f"/manage/surveys/{survey.slug}/explain"
    assert 'value="week"' not in signed_in.get(address).text
    refused = signed_in.get(f"{address}?explain=q1&by=week")
    assert refused.status_code == 422
    assert (
        "needs two weeks or more in which responses were first shown, with at least 10 in each"
        in refused.text
    )
    other = collect_weeks(database_url, weeks=2)
    twice = signed_in.get(f"/manage/surveys/{other.slug}/explain?explain=q1&by=week&by=trend")
    assert "must have the weeks once: each by itself, or as a trend" in twice.text


def test_of_an_archive_no_week_is_known(new_database: NewDatabase, tmp_path: Any) -> None:
    """Which of them was shown when is not in it: days are dealt among its rows."""
    url = new_database(True)
    survey = collect_weeks(url)
    factories.close(url, survey.slug)
    packed = tmp_path / "survey.zip"
    done = CliRunner(env={"DATABASE_URL": url}).invoke(
        main, ["survey", "export", survey.slug, "--zip", str(packed)]
    )
    assert done.exit_code == 0, done.output
    other = new_database(True)
    factories.publish(other)
    done = CliRunner(env={"DATABASE_URL": other}).invoke(main, ["survey", "import", str(packed)])
    assert done.exit_code == 0, done.output
    slug = survey.slug
    refused = CliRunner(env={"DATABASE_URL": other}).invoke(
        main, ["estimate", slug, "--explain", "q1", "--by", "week"]
    )
    assert refused.exit_code == 2
    assert "needs two weeks or more" in refused.output


Looked = Mapping[str | None, Counter[bytes]]


def look_at(session: Session, survey: Survey) -> Looked:
    """What is known of each week, None of those whose week is not; of fewer than the minimum pages tell nothing."""
    found: dict[str | None, Counter[bytes]] = {}
    for _key, week, tally in batches.read_sealed_weeks(session, survey):
        own = found.setdefault(week, Counter())
        for pattern, number in zip(tally.patterns, tally.counts, strict=True):
            own[pattern.tobytes()] += int(number)
    return found if sum(own.total() for own in found.values()) >= MINIMUM else {}


def compare(one: Looked, other: Looked) -> Iterator[int]:
    """Of how many responses any weeks together tell in one look more or less than any in the other."""
    names = sorted({*one, *other}, key=str)
    for size in range(1, len(names) + 1):
        for some in combinations(names, size):
            before, after = (
                sum((look.get(name, Counter()) for name in some), Counter()) for look in (one, other)
            )
            yield ((before - after) + (after - before)).total()


def play(session: Session, seed: int) -> Iterator[str]:
    """Which two looks at the weeks of a survey that is answered at random differ by a few."""
    draw = random.Random(seed)
    unused = [pair.to_bytes(LENGTH) for pair in draw.sample(range(256**LENGTH), 600)]
    living: list[bytes] = []
    played = session.begin_nested()
    found = session.scalars(sa.select(Survey)).one()
    assert found.current is not None
    connection, key = session.connection(), batches.CellKey(found.current.id, None)
    looks: list[Looked] = []
    for week in range(draw.choice((2, 3, 4))):
        for _ in range(draw.choice((2, 4, 8, 30))):
            together = [unused.pop() for _ in range(draw.choice((1, 1, 2, 5)))]
            living += together
            group = batches.Group(MINIMUM, together, {find_day(week): len(together)})
            batches.add(connection, found.id, {key: group})
            looks.append(look_at(session, found))
            if living and draw.random() < 0.25:
                reports = living.pop(draw.randrange(len(living)))
                batches.remove(connection, found.id, key, [reports])
    if draw.random() < 0.5:
        for reports in draw.sample(living, min(draw.choice((1, 3, 8)), len(living))):
            batches.remove(connection, found.id, key, [reports])
    looks.append(look_at(session, found))
    batches.seal_all(connection, found.id, find_day(week + 1), MINIMUM)
    looks.append(look_at(session, found))
    played.rollback()
    for place, other in enumerate(looks):
        for before in looks[:place]:
            if any(0 < differ < MINIMUM for differ in compare(before, other)):
                yield f"survey {seed}: a look before look {place} differs by a few"


@pytest.fixture
def session(sqlite: NewDatabase) -> Iterator[Session]:
    """With one survey, that nobody has answered."""
    url = sqlite(True)
    factories.publish(url, factories.definition([0.25] * LENGTH), minimum=MINIMUM)
    with factories.writing(url) as opened:
        yield opened


@pytest.mark.scaled
def test_no_two_looks_at_weeks_differ_by_a_few(session: Session) -> None:
    for seed in range(choose_size(10, 600)):
        assert list(play(session, seed)) == []


def test_weeks_that_outlast_what_was_taken_back_are_caught(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: a batch keeps its week though a response has left it."""
    monkeypatch.setattr("server.collect.batches.removing.drop_week", lambda text: text)
    assert any(list(play(session, seed)) for seed in range(40))


def test_a_week_that_loses_one_batch_alone_is_caught(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: of a week only the batch goes that loses a response, and others that came in the place of some stay."""
    kept = removing.forget_weeks

    def forget_newest(
        connection: sa.Connection, survey_id: int, cell: int, weeks: Container[str | None] | None = None
    ) -> None:
        table = batches_of(survey_id)
        some = sa.select(table.c.id, table.c.days).where(table.c.cell_id == cell).limit(1)
        if weeks is None:
            kept(connection, survey_id, cell)
            return
        for number, text in connection.execute(some).all():
            connection.execute(sa.update(table).where(table.c.id == number).values(days=drop_week(text)))

    monkeypatch.setattr(removing, "forget_weeks", forget_newest)
    assert any(list(play(session, seed)) for seed in range(60))


def test_a_new_batch_that_keeps_its_week_is_caught(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: those that come in the place of what was taken back have a week, what they came beside has none."""
    kept = adding.take_out_removals

    def keep_week(connection: sa.Connection, survey_id: int, cell: int, length: int, week: str) -> Removed:
        return Removed(kept(connection, survey_id, cell, length, week).days, week)

    monkeypatch.setattr(adding, "take_out_removals", keep_week)
    monkeypatch.setattr(closing, "take_out_removals", keep_week)
    assert any(list(play(session, seed)) for seed in range(40))


PARTS = ("a", "b")


def test_no_level_of_weeks_tells_of_a_few_of_any_part() -> None:
    """Three weeks and those without one, in two parts, each of 0, 2, 3 or 7: all 65,536; the minimum is three."""
    sizes, told = (0, 2, 3, 7), 0
    for number in range(len(sizes) ** 8):
        digits = [sizes[number // len(sizes) ** place % len(sizes)] for place in range(8)]
        weeks = [None, *(f"2026-05-{day:02}" for day in (4, 11, 18))]
        counts = {
            (week, part): digits[2 * k + p] for k, week in enumerate(weeks) for p, part in enumerate(PARTS)
        }
        found = group_weeks(counts, 3)
        if found is None:
            continue
        told += 1
        for p, part in enumerate(PARTS):
            total = sum(digits[p::2])
            level: Counter[int] = Counter()
            for (week, own), n in counts.items():
                if own == part and week is not None and n:
                    level[found.level_of[week]] += n
            for n in (*level.values(), counts[None, part]):
                assert n == 0 or n >= 3 or n == total, (counts, found)
    assert told > 10_000


def test_many_weeks_are_taken_together_and_none_is_lost() -> None:
    weeks = [find_day(k) - timedelta(days=2) for k in range(60)]
    found = group_weeks({(week.isoformat(), "a"): 10 for week in weeks}, 10)
    assert found is not None
    assert len(found.spans) == 12
    assert found.positions == tuple(5.0 * k + 2 for k in range(12))
    assert found.spans[0] == (MONDAY, MONDAY + timedelta(days=34))


def test_weeks_survive_merging_and_tidying(sqlite: NewDatabase) -> None:
    """Forty batches a week for five weeks become few, and of each week the sum stays what it was."""
    url = sqlite(True)
    survey = factories.publish(url, minimum=3)
    stored: Counter[str] = Counter()
    for week in range(5):
        for _ in range(40):
            factories.store(url, survey, [([0, 1], 2), ([week % 2, 0], 3)], day=find_day(week))
            stored[(find_day(week) - timedelta(days=2)).isoformat()] += 5
    with factories.writing(url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        before = look_at(session, found)
        assert (session.scalar(sa.select(sa.func.count()).select_from(batches_of(found.id))) or 0) < 40
    assert {week: own.total() for week, own in before.items()}.keys() == stored.keys()

    assert 3 <= stored.total() - sum(own.total() for own in before.values()) < 6
    factories.close(url, survey.slug)
    assert factories.run(url, "tidy").exit_code == 0
    with factories.writing(url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        after = look_at(session, found)
        report = reports.read(session, found)
        assert report.n == stored.total()
    assert {week: after[week] for week in before} == before
