"""How far long work has come: for whoever asked for it, while it is done, and never of more than fit."""

import io
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import count, islice

import pytest
from flask import Flask
from flask.testing import FlaskClient

from server.archives.checking import STORING
from server.output.progress import ProgressReporter
from server.web import work_progress
from server.web.work_progress import WorkParts, WorkTable
from tests.conftest import NewDatabase
from tests.support import factories, sample_archives
from tests.support.foreign_data import ADDRESS, FILES, write_study

ANA, BEN = b"Ana's sign-in", b"Ben's sign-in"
NOTHING = WorkParts(0, 0)


class WatchedWorks(WorkTable):
    """The table of an application, and everything that works told it under a name."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[str, list[tuple[int, int]]] = {}

    def follow(self, reader: bytes, name: str) -> AbstractContextManager[ProgressReporter]:
        return self._watch(super().follow(reader, name), self.told.setdefault(name, []))

    @contextmanager
    def _watch(
        self, followed: AbstractContextManager[ProgressReporter], told: list[tuple[int, int]]
    ) -> Iterator[ProgressReporter]:
        with followed as report_progress:

            def note(done: int, of: int) -> None:
                told.append((done, of))
                report_progress(done, of)

            yield note


def names() -> Iterator[str]:
    """As pages draw them, but in turn."""
    return (f"{number:032x}" for number in count())


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """No work is kept in a database."""
    return sqlite(True)


def test_a_work_is_known_while_it_is_done_and_to_who_asked_for_it() -> None:
    works, name = WorkTable(), next(names())

    def fail_midway() -> None:
        with works.follow(ANA, name) as report_progress:
            assert works.find(ANA, name) == NOTHING
            report_progress(3, 8)
            assert works.find(ANA, name) == WorkParts(3, 8)
            assert works.find(BEN, name) == NOTHING
            with works.follow(BEN, name):
                pass
            assert works.find(ANA, name) == WorkParts(3, 8)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_midway()
    assert works.find(ANA, name) == NOTHING
    assert len(works) == 0


def test_reports_are_kept_ten_times_a_second_and_forgotten_when_no_more_come() -> None:
    time = [0.0]
    works, (first, second) = WorkTable(lambda: time[0]), islice(names(), 2)
    with works.follow(ANA, first) as report_first, works.follow(ANA, second) as report_second:
        for done in range(1, 51):  # each hundredth of a second
            report_first(done, 100)
            assert works.find(ANA, first).done in {done - late for late in range(11)}
            time[0] = done / 100
        assert works.find(ANA, first).done < 50
        time[0] += work_progress.LONGEST + 1
        assert works.find(ANA, first) == NOTHING
        report_second(1, 2)
        assert len(works) == 1


def test_no_more_works_are_kept_than_fit_and_only_under_names_that_pages_draw() -> None:
    works, drawn = WorkTable(), names()
    asked = [next(drawn) for _ in range(work_progress.MOST + 3)]
    with ExitStack() as open_works:
        for name in asked:
            open_works.enter_context(works.follow(ANA, name))(1, 2)
        for name in ("", "a", "f" * 31, "f" * 33, "F" * 32, "f" * 32 + "\n"):
            open_works.enter_context(works.follow(ANA, name))(1, 2)
            assert works.find(ANA, name) == NOTHING
        assert len(works) == work_progress.MOST
        assert [name for name in asked if works.find(ANA, name) == NOTHING] == asked[:3]
    assert len(works) == 0


def test_the_page_learns_two_numbers_and_no_cache_keeps_them(signed_in: FlaskClient) -> None:
    address = f"/manage/progress/{next(names())}.json"
    answer = signed_in.get(address)
    assert (answer.status_code, answer.get_json()) == (200, {"done": 0, "of": 0})
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in answer.headers


def test_each_work_that_has_countable_parts_tells_of_them(
    app: Flask, signed_in: FlaskClient, database_url: str
) -> None:
    works = app.extensions["moneda.works"] = WatchedWorks()
    survey = factories.publish(database_url, minimum=3)
    factories.store(database_url, survey, [([1, 0], 600)])
    factories.close(database_url, survey.slug)
    archive = sample_archives.pack(database_url, survey.slug)
    trial = f"/manage/surveys/{factories.draft(database_url, factories.definition())}/simulate"
    sampled = {**FILES, "study_file": write_study(sampling={"population": 9_000})}

    def send(address: str, work: str, files: dict[str, bytes], **fields: str) -> int:
        form = {name: (io.BytesIO(body), f"{name}.zip") for name, body in files.items()}
        return signed_in.post(address, data={**form, **fields, work_progress.FIELD: work}).status_code

    importing, rehearsing, reading, explaining, sampling, exporting = islice(names(), 6)
    assert send(f"/manage/surveys/{survey.slug}/export.zip", exporting, {}) == 200
    assert works.told[exporting][-1] == (600, 600)
    assert send(sample_archives.IMPORT, importing, {"definition": archive}) == 201
    assert send(trial, rehearsing, {}, respondents="1200") == 200
    assert send(ADDRESS, reading, dict(FILES)) == 200
    assert send(ADDRESS, explaining, dict(FILES), explain="cheated", by="sex") == 200
    assert send(ADDRESS, sampling, sampled) == 200

    # Each of 600 is checked, and stored in parts of 500.
    whole = 600 * (1 + STORING)
    assert works.told[importing] == [(600, whole), (600 + 500 * STORING, whole), (whole, whole)]
    assert works.told[rehearsing] == [(500, 1200), (1000, 1200), (1200, 1200)]
    size = len(FILES["data"])
    assert {of for _done, of in works.told[reading]} == {size}
    assert works.told[reading] == sorted(works.told[reading])
    assert works.told[reading][-1] == (size, size)
    # Reading is the smaller part of these, and the other one is not counted.
    assert works.told[explaining] == works.told[sampling] == []
    assert len(works) == 0
