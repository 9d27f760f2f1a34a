"""Whoever looks while others answer sees one moment: the number of responses and the days agree, and so do files."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from threading import Event, Thread

from flask.testing import FlaskClient

from server.collect import batches
from server.reports import read
from server.store.engines import make_engine, snapshot
from server.store.models import Survey
from tests.support import factories
from tests.support.scale import choose_size

FIRST = date(2026, 5, 1)


@contextmanager
def answering(database_url: str, survey: factories.Published) -> Iterator[None]:
    """Ten people at a time answer, each group on another day, for as long as somebody looks."""
    done = Event()
    engine = make_engine(database_url)

    def answer() -> None:
        day = 0
        while not done.wait(0.002):
            day += 1
            on = FIRST + timedelta(days=day % 200)
            group = batches.Group(1, [bytes([day % 2, 0])] * 10, {on: 10})
            with engine.execution_options(moneda_writes=True).begin() as connection:
                batches.add(connection, 1, {batches.CellKey(1, None): group})

    writer = Thread(target=answer)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()
        engine.dispose()


def test_reports_and_files_are_of_one_moment(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url)
    home = f"/manage/surveys/{survey.slug}"
    seen = set()
    with answering(database_url, survey):
        for _ in range(choose_size(8, 80)):
            report = json.loads(signed_in.get(f"{home}/report.json").text)
            seen.add(report["n"])
            assert sum(period["n"] for period in report["days"]) == report["n"]
            assert {sum(question["counts"]) for question in report["questions"]} == {report["n"]}
            packed = signed_in.get(f"{home}/microdata.zip").data
            with zipfile.ZipFile(io.BytesIO(packed)) as archive:
                rows = archive.read("responses.csv").decode().splitlines()[1:]
                estimates = archive.read("estimates.csv").decode()
            told = csv.DictReader(io.StringIO(estimates, newline=""))
            numbers = {int(row["n"] or 0) for row in told if row["statistic"] not in ("text", "disclosure")}
            assert numbers == {len(rows)}
    assert len(seen) > 1, "nobody answered meanwhile"


def test_what_is_read_later_is_of_the_same_moment(database_url: str) -> None:
    """The report, then responses, then pairs of answers: all of it from one snapshot, however many come in between."""
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([1, 0], 30), ([0, 1], 20)])
    engine = make_engine(database_url)
    with snapshot(engine) as session:
        report = read(session, session.get_one(Survey, 1))
        factories.store(database_url, survey, [([1, 1], 15)])
        (wave,) = report.waves
        assert report.n == sum(block.tally.n for block in wave.blocks()) == 50
    with snapshot(engine) as session:
        assert read(session, session.get_one(Survey, 1)).n == 65
    engine.dispose()
