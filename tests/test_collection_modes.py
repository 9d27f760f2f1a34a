"""Responses from browsers and from paper: pooled in estimates, apart in diagnostics, and nobody few told by either."""

import json
import random
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from server import reports
from server.collect import batches
from server.inputs.schema import violations
from server.people import survey_access
from server.store.models import Mode
from tests.support import factories
from tests.support.paper_sheets import key_in
from tests.support.report_readers import pdf_text
from tests.support.scale import choose_size

MINIMUM = 5


def read_report(database_url: str, slug: str) -> dict[str, Any]:
    done = factories.run(database_url, "report", slug, "--format", "json")
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def publish(database_url: str) -> factories.Published:
    return factories.publish(database_url, factories.definition([0.25]), minimum=MINIMUM)


def test_estimates_pool_both_ways_and_diagnostics_tell_them_apart(database_url: str, tmp_path: Path) -> None:
    """By hand: 60 of 100 browsers and 30 of 50 sheets report Yes; 2 x 90/150 - 1/2 is 0.7, and so is each alone."""
    survey = publish(database_url)
    factories.store(database_url, survey, [((1,), 60), ((0,), 40)])
    assert key_in(database_url, survey.slug, tmp_path / "a.csv", ["A"] * 30 + ["B"] * 20).exit_code == 0
    factories.close(database_url, survey.slug)

    report = read_report(database_url, survey.slug)

    assert (report["n"], report["questions"][0]["counts"]) == (150, [60, 90])
    modes = report["modes"]
    assert modes["n"] == {"browser": 100, "paper": 50}
    assert modes["left_out"] is False
    (yes,) = modes["differences"]
    assert (yes["question"], yes["answer"]) == ("q1", "yes")
    assert (yes["browser"], yes["paper"]) == (pytest.approx(0.7), pytest.approx(0.7))
    assert yes["difference"] == pytest.approx(0)
    low, high = yes["interval"]
    assert low < 0 < high
    assert not violations(report, "report")


def test_a_difference_is_told_and_none_is_told_of_none(database_url: str, tmp_path: Path) -> None:
    """Reported Yes: 75 of 100 on paper, which is everybody, and 25 of 100 by browsers, which is nobody."""
    survey = publish(database_url)
    factories.store(database_url, survey, [((1,), 25), ((0,), 75)])
    assert key_in(database_url, survey.slug, tmp_path / "a.csv", ["A"] * 75 + ["B"] * 25).exit_code == 0
    factories.close(database_url, survey.slug)

    (yes,) = read_report(database_url, survey.slug)["modes"]["differences"]

    assert (yes["browser"], yes["paper"], yes["difference"]) == (
        pytest.approx(0),
        pytest.approx(1),
        pytest.approx(-1),
    )
    assert yes["interval"][1] < 0


def test_every_format_says_so(database_url: str, tmp_path: Path) -> None:
    survey = publish(database_url)
    factories.store(database_url, survey, [((1,), 25), ((0,), 75)])
    assert key_in(database_url, survey.slug, tmp_path / "a.csv", ["A"] * 75 + ["B"] * 25).exit_code == 0
    factories.close(database_url, survey.slug)
    files = {ending: tmp_path / f"report.{ending}" for ending in ("html", "pdf", "xlsx", "csv", "json")}
    outputs = [word for file in files.values() for word in ("--output", str(file))]

    done = factories.run(database_url, "report", survey.slug, *outputs)

    assert done.exit_code == 0, done.output
    page = files["html"].read_text("utf-8")
    paper = pdf_text(files["pdf"].read_bytes(), "Exams")
    for text in (page, paper):
        joined = "".join(text.split())
        for words in ("On paper, keyed in", "Device and paper compared", "higher on paper", "-100.0"):
            assert "".join(words.split()) in joined.replace("\N{MINUS SIGN}", "-"), words
    table = files["csv"].read_text("utf-8")
    assert "modes.paper.n,100," in table
    assert "modes.share.yes.difference" in table
    assert json.loads(files["json"].read_text("utf-8"))["modes"]["n"] == {"browser": 100, "paper": 100}


def test_an_archive_carries_how_responses_were_collected(database_url: str, tmp_path: Path) -> None:
    survey = publish(database_url)
    factories.store(database_url, survey, [((1,), 25), ((0,), 75)])
    assert key_in(database_url, survey.slug, tmp_path / "a.csv", ["A"] * 75 + ["B"] * 25).exit_code == 0
    factories.close(database_url, survey.slug)
    file = tmp_path / "survey.zip"
    assert factories.run(database_url, "survey", "export", survey.slug, "--zip", str(file)).exit_code == 0
    with zipfile.ZipFile(file) as archive:
        lines = archive.read("versions/1/responses.csv").decode().splitlines()
    assert lines[0] == "stratum,stratum_path,mode,q1"
    assert Counter(lines[1:]) == {",,browser,0": 75, ",,browser,1": 25, ",,paper,0": 25, ",,paper,1": 75}

    done = factories.run(database_url, "survey", "import", str(file), "--json")

    assert done.exit_code == 0, done.output
    copy = json.loads(done.stdout)["survey"]
    before, after = (read_report(database_url, slug)["modes"] for slug in (survey.slug, copy))
    assert after == before
    with factories.writing(database_url) as session:
        found = survey_access.find(session, copy)
        assert found is not None
        assert batches.recount(session.connection(), found.id).agrees


def test_an_archive_with_another_way_is_refused(database_url: str, tmp_path: Path) -> None:
    survey = publish(database_url)
    factories.store(database_url, survey, [((1,), 25), ((0,), 75)])
    assert key_in(database_url, survey.slug, tmp_path / "a.csv", ["A"] * 100).exit_code == 0
    factories.close(database_url, survey.slug)
    file, changed = tmp_path / "survey.zip", tmp_path / "changed.zip"
    assert factories.run(database_url, "survey", "export", survey.slug, "--zip", str(file)).exit_code == 0
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(changed, "w") as other:
        for name in archive.namelist():
            other.writestr(name, archive.read(name).replace(b",,paper,1", b",,phone,1"))

    done = factories.run(database_url, "survey", "import", str(changed))

    assert done.exit_code == 2
    assert "mode: must be one of browser, paper; it is phone" in done.stderr


def test_without_paper_nothing_is_said(database_url: str) -> None:
    survey = publish(database_url)
    factories.store(database_url, survey, [((1,), 25), ((0,), 75)])

    assert read_report(database_url, survey.slug)["modes"] is None


def answer_with_few_of_a(database_url: str, folder: Path) -> str:
    """Of A only paper came, and too little; it is withheld, and C, of which only browsers came, with it."""
    survey = publish(database_url)
    paths = factories.plant(database_url, survey.slug, "A\nB\nC")
    for name, number in (("B", 20), ("C", 15)):
        factories.store(database_url, survey, [((1,), number)], paths[name])
    for name, number in (("A", 3), ("B", 20)):
        file = folder / f"{name}.csv"
        assert key_in(database_url, survey.slug, file, ["A"] * number, "--stratum", name).exit_code == 0
    factories.close(database_url, survey.slug)
    return survey.slug


def test_strata_with_a_few_of_one_way_are_left_out(database_url: str, tmp_path: Path) -> None:
    slug = answer_with_few_of_a(database_url, tmp_path)

    modes = read_report(database_url, slug)["modes"]

    assert modes["left_out"] is True
    assert modes["n"] == {"browser": 20, "paper": 20}


@dataclass(frozen=True)
class Told:
    """What is told of a survey: cells of responses by stratum and way; which strata are shown, and which apart."""

    cells: Counter[tuple[int | None, Mode]]
    shown: frozenset[int | None]
    apart: frozenset[int | None]
    sizes: Mapping[Mode, int]


def read_told(database_url: str, slug: str) -> Told:
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        report = reports.read(session, survey)
        (wave,) = report.waves
        places = {place for place, n in zip(wave.strata, wave.sizes.tolist(), strict=True) if n}
        cells = Counter[tuple[int | None, Mode]]()
        for ((_version, place), mode), n in batches.count_sealed_by_mode(session, survey).items():
            if place in places:
                cells[place, mode] = n
        apart: set[int | None] = set()
        if report.modes is not None:
            for (own,) in report.modes.waves.values():
                apart |= {place for place, n in zip(own.strata, own.sizes.tolist(), strict=True) if n}
        sizes = {} if report.modes is None else report.modes.sizes
        assert reports.follow_surveys(session, [(survey, None)])[survey.id].by_mode == sizes
        shown = frozenset(place for place in places if report.shows(place))
        return Told(cells, shown, frozenset(apart), sizes)


def subtract_all(groups: Sequence[Counter[Any]], minimum: int) -> list[Counter[Any]]:
    """Groups of cells that are fewer people than the minimum, alone or as the difference of two."""
    found = [group for group in groups if 0 < group.total() < minimum]
    for first, second in combinations(groups, 2):
        rest = (first - second) + (second - first)
        if (first >= second or second >= first) and 0 < rest.total() < minimum:
            found.append(rest)
    return found


def list_groups(told: Told, apart: Set[int | None]) -> list[Counter[Any]]:
    """Everything together, each stratum that is shown, each way, and these less strata that are shown."""
    cells = told.cells

    def select(places: Set[int | None], modes: Set[Mode]) -> Counter[Any]:
        return Counter({key: n for key, n in cells.items() if key[0] in places and key[1] in modes})

    every, both = frozenset(place for place, _mode in cells), frozenset(Mode)
    groups = [select(every, both), *(select({place}, both) for place in told.shown)]
    some = [
        frozenset(chosen) for size in range(4) for chosen in combinations(sorted(told.shown, key=str), size)
    ]
    groups += [select(every - chosen, both) for chosen in some]
    groups += [select(apart - chosen, {mode}) for chosen in some for mode in Mode]
    return [group for group in groups if group]


def mix_ways(database_url: str, folder: Path, seed: int) -> Told:
    """A closed survey whose strata were answered in both ways, by few or many."""
    draw = random.Random(seed)
    survey = publish(database_url)
    paths = {"": survey.slug, **factories.plant(database_url, survey.slug, "A\nB\nC\nD")}
    for place, link in paths.items():
        if number := draw.choice((0, 2, 7, 20)):
            factories.store(database_url, survey, [((1,), number)], link)
        if number := draw.choice((0, 2, 7, 20)):
            options = ("--stratum", place) if place else ()
            file = folder / f"{seed}{place}.csv"
            assert key_in(database_url, survey.slug, file, ["A"] * number, *options).exit_code == 0
    factories.close(database_url, survey.slug)
    return read_told(database_url, survey.slug)


@pytest.mark.scaled
def test_nothing_that_is_told_apart_tells_of_a_few(database_url: str, tmp_path: Path) -> None:
    for seed in range(choose_size(6, 200)):
        told = mix_ways(database_url, tmp_path, seed)
        assert subtract_all(list_groups(told, told.apart), MINIMUM) == [], f"seed {seed}"
        for mode, n in told.sizes.items():
            own = sum(n for (place, way), n in told.cells.items() if place in told.apart and way == mode)
            assert own == n


def test_all_told_apart_would_tell_of_a_few(database_url: str, tmp_path: Path) -> None:
    """The twin: also of what is withheld. All paper less that of B, which is shown, is the three of A."""
    told = read_told(database_url, answer_with_few_of_a(database_url, tmp_path))

    assert subtract_all(list_groups(told, told.apart), MINIMUM) == []
    every = frozenset(place for place, _mode in told.cells)
    assert subtract_all(list_groups(told, every), MINIMUM)
