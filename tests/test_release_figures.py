"""A figure and a sentence for each release: of tables too, in documents and on the command line alike."""

import io
import json
import math
import random
import re
import resource
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from server.cli import main
from server.cli.release_output import print_figures
from server.output.documents import Document, FindingBlock
from server.releases import Figure, Released
from server.releases.basis import load_basis
from server.releases.dividing import divide
from server.releases.kinds import draw_item
from server.releases.noise_shapes import AddedNoise, ChoiceOdds, expect_noise, read_noise
from server.releases.plans.items import Item, ItemKind
from server.releases.plans.plan_reader import parse_plan
from server.releases.survey_shapes import Source
from server.releases.table_columns import parse_columns
from server.releases.table_files import read_table
from server.releases.table_releases import release_table, table_source
from server.releases.values import Covers
from server.reports.contents.column_texts import say_columns
from server.reports.contents.figures import numbers
from server.reports.contents.finding_texts import explain_sureness
from server.reports.contents.table_release_document import NO_SURVEY, build_table_document
from server.reports.report_words import ReportWords
from tests.support import factories, sample_ledger
from tests.support.sample_releases import find_survey, grant, ledger, release

COLUMNS = {
    "sex": {"categories": ["female", "male", ""]},
    "age": {"low": 0, "high": 119, "bins": 4},
    "pay": {"low": -100, "high": 9000, "step": 0.5},
    "home": {"path": ["state", "town"], "leaves": [["North", "Alba"], ["North", "Bruma"], ["South", "Cala"]]},
}
ITEMS: list[dict[str, Any]] = [
    {"kind": "count"},
    {"kind": "count", "where": [{"column": "age", "at_least": 65}]},
    {"kind": "share", "question": "sex", "option": "male"},
    {"kind": "mean", "question": "age"},
    {"kind": "sum", "question": "pay"},
    {"kind": "variance", "question": "pay"},
    {"kind": "quantiles", "question": "pay", "levels": [0.25, 0.5]},
    {"kind": "histogram", "question": "age", "breaks": [18, 40, 65]},
    {"kind": "table", "questions": ["sex", "age"]},
    {"kind": "table", "question": "sex", "by_stratum": True},
    {"kind": "hierarchy"},
    {"kind": "most_common", "question": "sex"},
    {"kind": "top", "question": "sex", "how_many": 2},
    {"kind": "exceeding", "questions": ["sex"], "share": 0.3, "positives": 1},
]
LANGUAGES = ["en", "es"]


def people(counts: dict[str, int]) -> bytes:
    rng, lines = random.Random(17), ["sex,age,pay,state,town"]
    for sex, number in counts.items():
        for _ in range(number):
            state, town = rng.choice([("North", "Alba"), ("North", "Bruma"), ("South", "Cala")])
            lines.append(f"{sex},{rng.randint(0, 100)},{rng.randint(0, 17000) / 2},{state},{town}")
    return "\n".join(lines).encode() + b"\n"


DATA = people({"male": 30, "female": 27, "": 20})


def source(neighbours: str = "unbounded") -> Source:
    columns = parse_columns({"columns": COLUMNS, "neighbours": neighbours})
    return table_source(read_table(io.BytesIO(DATA), columns, lambda _: None))


def make(*items: dict[str, Any], epsilon: float = 20) -> tuple[Released, ...]:
    """What a table gives, without a file."""
    rows = source()
    plan = parse_plan({"format": 1, "items": list(items), "epsilon": epsilon, "people": 77})
    return release_table(divide(plan, rows.shape), rows)


@pytest.fixture(scope="module")
def made_releases() -> tuple[Released, ...]:
    return make(*ITEMS)


def list_findings(document: Document, entry: int) -> list[FindingBlock]:
    (section,) = (section for _, section in document.walk() if section.name == f"entry-{entry}")
    return [block for block in section.blocks if isinstance(block, FindingBlock)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_release_from_a_table_has_a_figure_and_a_sentence(
    made_releases: tuple[Released, ...], language: str
) -> None:
    document = build_table_document(
        made_releases, (made_releases[0].epsilon, made_releases[0].delta), language
    )

    for entry in made_releases:
        blocks = list_findings(document, entry.entry)
        assert blocks[0].charts, entry.item.kind
        assert blocks[0].sentence, entry.item.kind
        for chart in blocks[0].charts:
            # What is drawn is told as well, to whoever does not see it.
            assert chart.caption in chart.svg
            assert len(chart.alternative) > len(chart.caption)


def test_the_command_line_says_what_the_document_says(
    made_releases: tuple[Released, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    document = build_table_document(made_releases, (made_releases[0].epsilon, made_releases[0].delta), "en")

    print_figures(made_releases, NO_SURVEY)

    lines = capsys.readouterr().out.splitlines()
    for entry in made_releases:
        own = [line for line in lines if line.startswith(f"Entry {entry.entry}, ")]
        blocks = list_findings(document, entry.entry)
        assert len(own) == len(blocks)
        for line, block in zip(own, blocks, strict=True):
            told_with = block.sentence, block.meaning, explain_sureness(ReportWords("en"), entry)
            assert line.endswith(f": {' '.join(filter(None, told_with))}")


def read_numbers(sentence: str) -> list[float]:
    plain = sentence.replace("\N{MINUS SIGN}", "-").replace(",", "")
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", plain)]


def make_up_numbers() -> Iterator[tuple[Released, Figure]]:
    """Sums of every size, with whatever limits: the entries of a column of numbers."""
    rng = np.random.default_rng(17)
    for _ in range(2_000):
        width = float(10 ** rng.uniform(-3, 5))
        value, reach = float(rng.normal(0, 100 * width)), float(width * 10 ** rng.uniform(-3, 2))
        figure = Figure("sum", (("pay", ""),), value, reach / 2, value - reach, value + reach * 0.7)
        entry = replace(
            sample_ledger.entry(1, Item(ItemKind.SUM, ("pay",)), [figure]),
            covers=Covers((), "table", sample_ledger.COVERS.until, None),
            notes={"lowest": 0.0, "highest": width},
        )
        yield entry, figure


def test_no_sentence_of_a_sum_says_more_than_its_interval() -> None:
    words, too_much = ReportWords("en"), 0
    for entry, figure in make_up_numbers():
        ((sentence, _meaning),) = say_columns(words, entry, NO_SURVEY)
        assert figure.low is not None
        assert figure.high is not None
        slack = 1e-9 * max(abs(figure.low), abs(figure.high))
        if figure.high < 0:
            assert sentence == "So near 0 that noise hides the sum."  # of numbers from 0 on
            continue
        low, high = read_numbers(sentence)
        assert 0 <= low <= max(figure.low, 0) + slack
        assert high >= figure.high - slack
        # The twin: limits as the table has them, to the nearest.
        nearest = [read_numbers(cell.text)[0] for cell in numbers(words, entry, figure, NO_SURVEY)[2:]]
        too_much += nearest[0] > figure.low + slack or nearest[1] < figure.high - slack
    assert too_much > 250


def drawn_range(svg: str) -> tuple[float, float]:
    """Where the interval of the only row is drawn, in units."""
    ((begin, end),) = re.findall(r'class="range" d="M([\d.]+) [\d.]+H([\d.]+)"', svg)
    return float(begin), float(end)


def test_the_interval_of_a_sum_is_drawn_where_it_is() -> None:
    (entry,) = make({"kind": "sum", "question": "pay"}, epsilon=1)
    (figure,) = entry.figures
    assert figure.low is not None
    assert figure.high is not None
    assert figure.value is not None

    def draw(shown: Figure) -> tuple[float, float]:
        document = build_table_document(
            (replace(entry, figures=(shown,)),), (entry.epsilon, entry.delta), "en"
        )
        return drawn_range(list_findings(document, 1)[0].charts[0].svg)

    # The axis reaches three times as far as the wider half, from 10 to 350.
    reach = 3 * max(figure.value - figure.low, figure.high - figure.value)
    expected = [180 + 170 * (end - figure.value) / reach for end in (figure.low, figure.high)]
    assert draw(figure) == pytest.approx(expected, abs=0.05)
    # The twin: an interval whose lower half is missing.
    assert draw(replace(figure, low=figure.value)) != pytest.approx(expected, abs=0.05)


DRAWS = 4_000
SURE = 4.9  # standard errors: a false alarm in 10**6


@pytest.mark.parametrize("noise", ["exponential", "noisy_maximum"])
def test_what_is_behind_is_chosen_no_more_often_than_is_said(noise: str) -> None:
    rows = source()
    (item,) = divide(
        parse_plan(
            {
                "format": 1,
                "items": [{"kind": "most_common", "question": "sex", "noise": noise}],
                "epsilon": 0.2,
            }
        ),
        rows.shape,
    ).items
    shape = expect_noise(item, rows.shape)
    assert isinstance(shape, ChoiceOdds)
    chosen = Counter(draw_item(item, rows, "item", 0.95).figures[0].place[0][1] for _ in range(DRAWS))

    def holds(rate: float) -> bool:
        """Of female, three rows behind male, and of nothing, ten behind: within the error of the draws."""
        for name, behind in (("female", 3), ("(empty)", 10)):
            error = math.sqrt(1 / chosen[name] + 1 / chosen["male"])
            if math.log(chosen[name] / chosen["male"]) > -rate * behind + SURE * error:
                return False
        return True

    assert holds(shape.rate)
    assert not holds(3 * shape.rate)  # the twin
    if noise == "exponential":  # whose odds are these, and no smaller
        error = math.sqrt(1 / chosen["(empty)"] + 1 / chosen["male"])
        assert math.log(chosen["(empty)"] / chosen["male"]) > -shape.rate * 10 - SURE * error
        assert not holds(1.5 * shape.rate)


def test_sets_with_one_other_answer_are_chosen_as_often_as_is_said() -> None:
    rows = source()
    asked = {"kind": "top", "question": "sex", "how_many": 2}
    (item,) = divide(parse_plan({"format": 1, "items": [asked], "epsilon": 0.2}), rows.shape).items
    shape = expect_noise(item, rows.shape)
    assert isinstance(shape, ChoiceOdds)
    chosen = Counter(
        frozenset(figure.place[0][1] for figure in draw_item(item, rows, "item", 0.95).figures)
        for _ in range(DRAWS)
    )
    best, other = chosen[frozenset(("male", "female"))], chosen[frozenset(("male", "(empty)"))]
    fallen, error = -math.log(other / best), SURE * math.sqrt(1 / best + 1 / other)

    assert abs(fallen - 7 * shape.rate) < error  # nothing is seven rows behind female
    assert abs(fallen - 7 * 1.5 * shape.rate) > error  # the twin


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_what_is_shown_before_paying_is_shown_after(database_url: str, neighbours: str) -> None:
    survey = factories.publish(database_url)
    factories.plant(database_url, survey.slug, "North\n North > Alba\nSouth")
    factories.store(database_url, survey, [([1, 0], 70), ([0, 1], 50)])
    factories.close(database_url, survey.slug)
    grant(database_url, survey.slug, neighbours=neighbours)
    kinds = [{"kind": "hierarchy"}, {"kind": "share", "question": "q1", "option": "yes"}]
    kinds.append({"kind": "most_common", "question": "q1"})
    release(database_url, survey.slug, *kinds, epsilon="0.7")

    with factories.writing(database_url) as session:
        shape = load_basis(session, find_survey(session, survey.slug)).shape
    for entry in ledger(database_url, survey.slug).released:
        before = expect_noise(replace(entry.item, epsilon=entry.epsilon, delta=entry.delta), shape)
        after = read_noise(entry)
        assert before is not None
        if isinstance(before, AddedNoise):
            assert before == after
        else:
            assert isinstance(after, ChoiceOdds)
            assert after.rate == pytest.approx(before.rate)


def run(folder: Path, *arguments: str) -> Any:
    (folder / "data.csv").write_bytes(DATA)
    plan = {"format": 1, "columns": COLUMNS, "items": ITEMS, "epsilon": 20, "people": 77}
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    files = ["--data", str(folder / "data.csv"), "--plan", str(folder / "plan.json"), "--yes"]
    return CliRunner(env={"DATABASE_URL": "sqlite:////proc/nowhere"}).invoke(
        main, ["release", *files, *arguments]
    )


def test_a_run_is_written_as_numbers_and_as_a_document(tmp_path: Path) -> None:
    outputs = [tmp_path / f"made.{ending}" for ending in ("json", "html", "pdf", "xlsx")]

    done = run(tmp_path, *(part for path in outputs for part in ("--output", str(path))), "--language", "es")

    assert done.exit_code == 0, done.output
    entries = json.loads(outputs[0].read_text("utf-8"))["released"]
    page = outputs[1].read_text("utf-8")
    assert '<html lang="es"' in page
    for place, _entry in enumerate(entries, 1):
        assert f'id="entry-{place}"' in page
    (total,) = (entry["figures"][0] for entry in entries if entry["what"]["kind"] == "sum")
    assert f"{math.floor(total['low']):,}".replace(",", ".") in page  # one run, the same numbers
    assert [path.read_bytes()[:4] for path in outputs[2:]] == [b"%PDF", b"PK\3\4"]


def test_what_cannot_be_written_after_it_was_paid_for_is_printed(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    outputs = [tmp_path / f"made.{ending}" for ending in ("json", "html")]
    budget = ("--ledger", str(tmp_path / "people.json"), "--budget-epsilon", "50")
    try:
        # Room for the ledger and for numbers, none for their figures.
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
        done = run(tmp_path, *(part for path in outputs for part in ("--output", str(path))), *budget)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert done.exit_code == 2
    assert "File too large" in done.stderr
    assert not any(path.exists() for path in outputs)
    assert len(json.loads((tmp_path / "people.json").read_text())["runs"]) == 1
    assert len(json.loads(done.stdout)["released"]) == len(ITEMS)


def test_nothing_is_released_where_one_of_the_files_cannot_be_written(tmp_path: Path) -> None:
    taken = tmp_path / "taken.html"
    taken.write_text("kept")
    budget = ("--ledger", str(tmp_path / "people.json"), "--budget-epsilon", "50")

    done = run(tmp_path, "--output", str(tmp_path / "made.json"), "--output", str(taken), *budget)

    assert done.exit_code == 2
    assert taken.read_text() == "kept"
    assert not (tmp_path / "made.json").exists()
    assert not (tmp_path / "people.json").exists()
