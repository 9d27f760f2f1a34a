"""Weighted shares and means in releases: from noisy cells that were paid for by stratum, and nothing else."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import openpyxl
import pytest

import server
from server.privacy.designs import coin_flip
from server.releases import divide, expect_results, read_ledger
from server.releases.kinds.weighted_figures import strata_weights
from server.releases.noisy_cells import Counts, Noise
from server.releases.plans.plan_reader import parse_plan
from server.releases.ratio_estimates import cell_row, people_row
from server.releases.survey_shapes import Coins, Leaf, Shape, Variable, VariableVersion
from server.releases.values import Figure
from server.reports import public_json, read_published
from server.study import surveys
from tests.conftest import NewDatabase
from tests.support import factories, sample_documents
from tests.support.report_readers import plain
from tests.support.sample_releases import find_survey, grant

SCHEMAS = Path(server.__file__).parent / "schemas"
COINS = Coins(2, coin_flip(0.25))
ROW, PEOPLE = cell_row([COINS], [1]), people_row([COINS])
PLACE = (("q1", "yes"),)


def _read_first_sheet(file: Path) -> str:
    rows = openpyxl.load_workbook(file).worksheets[0].iter_rows(values_only=True)
    return " ".join(map(str, rows))


READERS: dict[str, Callable[[Path], str]] = {
    "xlsx": _read_first_sheet,
    "html": Path.read_text,
    "pdf": lambda file: "".join(
        page.extract_text() for page in sample_documents.reader(file.read_bytes()).pages
    ),
}


def leaves(*populations: int | None) -> list[Leaf]:
    named = (Leaf((f"s{number}",), (number,), size) for number, size in enumerate(populations))
    return [Leaf((), ()), *named]


def weight_cells(
    strata: Sequence[Leaf], cells: Sequence[Sequence[int]], epsilon: float = 1.0
) -> tuple[Figure | None, Any]:
    noise = Noise("geometric", 1, epsilon, 0.0)
    table: Counts = np.array(cells)
    weights = strata_weights(strata, [table], [PEOPLE], noise, ())
    if weights is None:
        return None, {}
    return weights.figure(
        "weighted_share", PLACE, [table], [ROW], [PEOPLE], noise, 0.95, sampled=True
    ), weights.notes


def test_strata_count_as_their_populations_and_those_without_stratum_do_not() -> None:
    figure, notes = weight_cells(leaves(9000, 1000), [[5, 5], [700, 300], [450, 550]])
    assert figure is not None
    assert figure.value == pytest.approx(0.9 * (0.3 - 0.25) / 0.5 + 0.1 * (0.55 - 0.25) / 0.5)
    assert notes == {"weighted_population": 10_000}
    # The twin: every response counting the same, 0.36 instead of 0.15.
    assert figure.value != pytest.approx((855 / 2010 - 0.25) / 0.5, abs=0.05)


def test_which_strata_stand_alone_follows_from_noisy_numbers() -> None:
    figure, notes = weight_cells(leaves(100, 200, 300), [[0, 0], [300, 100], [4, 2], [-3, 9]], 2.0)
    assert figure is not None
    # 6 and 6 are 12 together: enough for a cell of 500 people.
    assert notes["strata_together"] == "s1 + s2"
    assert figure.value == pytest.approx((0.25 - 0.25) / 0.5 / 6 + 5 / 6 * (11 / 12 - 0.25) / 0.5)
    _, few = weight_cells(leaves(100, 200, 300), [[0, 0], [300, 100], [1, 2], [-3, 4]], 2.0)
    assert few["strata_not_used"] == "s1; s2"


def test_a_missing_population_leaves_the_release_unweighted() -> None:
    assert weight_cells(leaves(9000, None), [[0, 0], [700, 300], [450, 550]]) == (None, {})


def test_the_interval_holds_the_weighted_share_as_often_as_it_says() -> None:
    """800 studies at a false-alarm rate of 1e-6; the twin, unweighted, misses almost always."""
    generator = np.random.default_rng(20261122)
    truths, sizes, noise = (0.1, 0.6), (300, 900), Noise("geometric", 1, 0.5, 0.0)
    true = 0.9 * truths[0] + 0.1 * truths[1]
    hits = twins = 0
    for _ in range(800):
        cells = np.zeros((3, 2), dtype=np.int64)
        for place, (share, size) in enumerate(zip(truths, sizes, strict=True), 1):
            yes = generator.binomial(size, 0.25 + 0.5 * share)
            cells[place] = size - yes, yes
        (noisy,) = noise.add([cells])
        weights = strata_weights(leaves(9000, 1000), [noisy], [PEOPLE], noise, ())
        assert weights is not None
        figure = weights.figure("weighted_share", PLACE, [noisy], [ROW], [PEOPLE], noise, 0.95, sampled=True)
        assert figure is not None
        assert figure.low is not None
        assert figure.high is not None
        hits += figure.low <= true <= figure.high
        alike = float((noisy @ ROW).sum() / (noisy @ PEOPLE).sum())
        twins += abs(alike - true) <= (figure.high - figure.low) / 2
    assert hits >= 800 * 0.95 - 4.76 * (800 * 0.95 * 0.05) ** 0.5
    assert twins < 80


def test_a_release_by_stratum_says_the_weighted_share_first_and_names_the_other(
    sqlite: NewDatabase, tmp_path: Path
) -> None:
    """By the command line and in the public report: strata of 9,000 and 1,000 people, 15 % weighted, 55 % not."""
    database_url = sqlite(True)
    survey = factories.publish(database_url, factories.definition([0.25]))
    links = factories.plant(database_url, survey.slug, "large, 9000\nsmall, 1000")
    factories.store(database_url, survey, [([1], 300), ([0], 700)], links["large"])
    factories.store(database_url, survey, [([1], 4950), ([0], 4050)], links["small"])
    factories.close(database_url, survey.slug)
    grant(database_url, survey.slug, epsilon="100")
    plan = tmp_path / "plan.json"
    plan.write_text(
        '{"format": 1, "items": [{"kind": "table", "questions": ["q1"], "by_stratum": true}], "epsilon": "50"}'
    )

    done = factories.run(database_url, "release", survey.slug, "--plan", str(plan), "--yes")

    assert done.exit_code == 0, done.output

    lines = [line for line in done.stdout.splitlines() if "q1 = yes" in line and "share" in line]
    assert "weighted_share" in lines[0]
    assert "0.15" in lines[0]
    assert "share, not weighted" in lines[-1]
    with factories.writing(database_url) as session:
        text = public_json(
            read_published(
                session,
                find_survey(session, survey.slug),
                read_ledger(session, find_survey(session, survey.slug)),
            )
        )
    released = text[text.index('"references"') :]
    assert released.index('"weighted_share"') < released.index('"share"')

    # Two numbers of one question stand in a file beside each other: each says how responses count in it.
    plan.write_text(
        '{"format": 1, "items": [{"kind": "share", "question": "q1", "option": "yes"}], "epsilon": "20"}'
    )
    done = factories.run(database_url, "release", survey.slug, "--plan", str(plan), "--yes")
    assert done.exit_code == 0, done.output
    # Which to quote is said once, of the one that a reader is not to take for everybody.
    for ending, read in READERS.items():
        file = tmp_path / f"public.{ending}"
        done = factories.run(database_url, "report", survey.slug, "--public", "--output", str(file))
        assert done.exit_code == 0, done.output
        first = plain(read(file)).partition(plain("How answers were protected"))[0]
        assert plain("Each group counts as much as its population.") in first
        quote = "To speak of the whole population, quote the result in which each group counts as much as its"
        alike = "Not weighted: every response counts the same."
        counted = [first.count(plain(text)) for text in (alike, quote, f"{alike} {quote}")]
        assert counted == [1, 1, 1], ending


def test_a_plan_for_a_stratum_expects_the_error_of_as_many_people_as_are_there() -> None:
    """A stratum of a hundredth of the population: the noise of its share is a hundred times that of all."""
    shape = Shape(
        neighbours="unbounded",
        versions=(1,),
        variables=(
            Variable("q1", "q1", ("no", "yes"), False, False, 0, None, None, (VariableVersion(1, (COINS,)),)),
        ),
        leaves=tuple(leaves(9900, 100)),
        sampled=True,
        respondents=None,
    )

    def error(**item: object) -> float:
        asked = {"kind": "share", "question": "q1", "option": "yes", "epsilon": "1", **item}
        plan = parse_plan({"format": 1, "items": [asked], "people": 10_000, "division": "given"})
        (found,) = expect_results(divide(plan, shape), shape)
        assert found.standard_error is not None
        assert found.error is not None
        return found.error

    assert error(stratum=["s1"]) / error() == pytest.approx(100, rel=0.01)
    assert error(stratum=["s0"]) / error() == pytest.approx(1 / 0.99, rel=0.01)


def test_the_interval_of_a_weighted_mean_holds_it_as_often_as_it_says() -> None:
    """800 studies of hours, 0 to 40, at a false-alarm rate of 1e-6; the twin, unweighted, misses almost always."""
    generator = np.random.default_rng(20261123)
    means, sizes, noise = (4.0, 24.0), (300, 900), Noise("geometric", 1, 0.5, 0.0)
    true = 0.9 * means[0] + 0.1 * means[1]
    ends = 40 * ROW
    hits = twins = 0
    for _ in range(800):
        cells = np.zeros((3, 2), dtype=np.int64)
        for place, (mean, size) in enumerate(zip(means, sizes, strict=True), 1):
            high = generator.binomial(size, 0.25 + 0.5 * mean / 40)
            cells[place] = size - high, high
        (noisy,) = noise.add([cells])
        weights = strata_weights(leaves(9000, 1000), [noisy], [PEOPLE], noise, ())
        assert weights is not None
        figure = weights.figure(
            "weighted_mean",
            (("hours", ""),),
            [noisy],
            [ends],
            [PEOPLE],
            noise,
            0.95,
            sampled=True,
            reach=(0.0, 40.0),
        )
        assert figure is not None
        assert figure.low is not None
        assert figure.high is not None
        hits += figure.low <= true <= figure.high
        alike = float((noisy @ ends).sum() / (noisy @ PEOPLE).sum())
        twins += abs(alike - true) <= (figure.high - figure.low) / 2
    assert hits >= 800 * 0.95 - 4.76 * (800 * 0.95 * 0.05) ** 0.5
    assert twins < 80


HOURS = {
    "kind": "number",
    "name": "hours",
    "text": "Hours?",
    "low": 0,
    "high": 40,
    "step": 1,
    "design": {"mechanism": "stochastic_rounding", "epsilon": 1.0986122886681098},
}


def test_a_mean_by_stratum_is_weighted_first_and_every_other_number_says_that_it_is_not(
    sqlite: NewDatabase, tmp_path: Path
) -> None:
    """Strata of 9,000 and 1,000 people with means of 4 and 24: 6 weighted, about 22 not; in every format."""
    database_url = sqlite(True)
    document = factories.definition([0.25])
    survey = factories.publish(database_url, {**document, "questions": [*document["questions"], HOURS]})
    links = factories.plant(database_url, survey.slug, "large, 9000\nsmall, 1000")
    factories.store(database_url, survey, [([0, 1], 300), ([0, 0], 700)], links["large"])
    factories.store(database_url, survey, [([1, 1], 4950), ([1, 0], 4050)], links["small"])
    factories.close(database_url, survey.slug)
    grant(database_url, survey.slug, epsilon="100")
    items = [
        {"kind": "mean", "question": "hours", "by_stratum": True},
        {"kind": "mean", "question": "hours"},
        {"kind": "share", "question": "q1", "option": "yes"},
    ]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"format": 1, "items": items, "epsilon": "90", "people": 10_000}))

    done = factories.run(database_url, "release", survey.slug, "--plan", str(plan), "--yes")

    assert done.exit_code == 0, done.output
    told = [line.split() for line in done.stdout.splitlines() if line.startswith("1  ")]
    assert told[0][1] == "weighted_mean"
    assert float(told[0][3]) == pytest.approx(4 * 0.9 + 24 * 0.1, abs=0.3)
    today = surveys.today().isoformat()
    assert f"as they have stood since {today}, 10000 people in all." in done.stdout
    files = {kind: tmp_path / f"public.{kind}" for kind in ("html", "csv", "json")}
    outputs = [word for path in files.values() for word in ("--output", str(path))]
    written = factories.run(database_url, "report", survey.slug, "--public", *outputs)
    assert written.exit_code == 0, written.output
    found = json.loads(files["json"].read_text())
    jsonschema.validate(found, json.loads((SCHEMAS / "public_report.schema.json").read_text()))
    figures = [figure for entry in found["entries"] for figure in entry["figures"]]
    kinds = {figure["statistic"]: figure["weighting"] for figure in figures}
    assert kinds == {
        "weighted_mean": "population",
        "mean": "responses",
        "share": "responses",
        "reports": None,
    }
    assert found["entries"][0]["notes"]["populations_since"] == today
    # Each stratum has its own mean, before that of all responses.
    means = [figure["value"] for figure in figures if figure["statistic"] == "mean"]
    assert means[1:3] == [pytest.approx(4, abs=0.5), pytest.approx(24, abs=0.5)]
    rows = list(csv.DictReader(io.StringIO(files["csv"].read_text(encoding="utf-8-sig"))))
    assert {(row["statistic"], row["weighting"]) for row in rows} == {
        ("weighted_mean", "population"),
        ("mean", "responses"),
        ("share", "responses"),
        ("reports", ""),
        ("disclosure", ""),
    }
    assert {row["populations_since"] for row in rows if row["entry"] == "1"} == {today}
    page = files["html"].read_text()
    assert page.index("Estimated mean, weighted by population") < page.index("Estimated mean, not weighted")
    assert "10,000 people in all, as the strata have stood since" in page
    assert "Estimated shares, not weighted, with 95 % intervals" in page.replace("\N{NO-BREAK SPACE}", " ")


def test_a_mean_by_stratum_expects_the_noise_of_every_stratum() -> None:
    """Noise in the cells of three leaves (two strata, the own link): the root of 3 times that of one."""
    line = Variable("h", "h", (), False, False, 2, (0.0, 40.0), None, (VariableVersion(1, (COINS,)),))
    shape = Shape("unbounded", (1,), (line,), tuple(leaves(9000, 1000)), True, None)

    def error(**item: object) -> float:
        asked = {"kind": "mean", "question": "h", "epsilon": "1", **item}
        plan = parse_plan({"format": 1, "items": [asked], "people": 10_000, "division": "given"})
        (found,) = expect_results(divide(plan, shape), shape)
        assert found.error is not None
        return found.error

    assert error(by_stratum=True) / error() == pytest.approx(3**0.5)
