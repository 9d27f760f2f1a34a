"""What `release --data` tells of a number beside its mean, of rows under conditions, of people with several rows."""

import io
import json
import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.inputs import InputError
from server.privacy.auditing.cases import judge
from server.privacy.noise import geometric_variance
from server.releases import kinds
from server.releases.claims import release_cases
from server.releases.claims.invented_people import InventedSurvey, coin, question
from server.releases.kinds.quantiles import Quantiles
from server.releases.plans.plan_reader import parse_item, parse_plan, plan_json
from server.releases.table_columns import parse_columns
from server.releases.table_files import _OwnRows, read_table
from server.releases.table_releases import table_source

COLUMNS = {
    "sex": {"categories": ["female", "male", ""]},
    "age": {"low": 0, "high": 110},
    "pay": {"low": -2.5, "high": 40, "step": 0.1},
    "home": {"path": ["town"], "leaves": [["Alba"], ["Bruma"]]},
}
Row = tuple[str, int, str, str]


def people(number: int) -> list[Row]:
    rng = random.Random(number)
    return [
        (
            rng.choice(["female", "male", ""]),
            rng.randint(0, 90),
            f"{rng.randint(-25, 400) / 10:g}",
            rng.choice(["Alba", "Bruma"]),
        )
        for _ in range(number)
    ]


PEOPLE = people(501)


def csv_of(rows: Sequence[Sequence[object]], names: str = "sex,age,pay,town") -> bytes:
    return "\n".join([names, *(",".join(map(str, row)) for row in rows)]).encode() + b"\n"


def run(folder: Path, data: bytes, document: Mapping[str, Any], *arguments: str) -> Result:
    (folder / "data.csv").write_bytes(data)
    (folder / "plan.json").write_text(json.dumps({"format": 1, "columns": COLUMNS, **document}), "utf-8")
    files = ["--data", str(folder / "data.csv"), "--plan", str(folder / "plan.json")]
    return CliRunner(env={"DATABASE_URL": "sqlite:////proc/nowhere"}).invoke(
        main, ["release", *files, *arguments]
    )


def release_statistics(folder: Path, data: bytes, *items: Mapping[str, Any], **rest: Any) -> Any:
    """With a loss of 100 each: a count is wrong with probability 2 exp(-50), a share of a range by 1 in 10**9 parts."""
    document = {"items": [{"epsilon": 100, **item} for item in items], "division": "given", **rest}
    done = run(folder, data, document, "--yes", "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def figures(entry: Mapping[str, Any], statistic: str) -> list[Any]:
    return [figure["value"] for figure in entry["figures"] if figure["statistic"] == statistic]


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_what_is_released_is_what_is_in_the_table(neighbours: str, tmp_path: Path) -> None:
    """Against the standard library's own statistics."""
    grown_women = [
        {"column": "sex", "equal": "female"},
        {"column": "age", "at_least": 18, "less_than": "65.5"},
    ]
    asked: list[dict[str, Any]] = [
        {"kind": "sum", "question": "pay"},
        {"kind": "sum", "question": "pay", "where": grown_women},
        {"kind": "variance", "question": "pay"},
        {"kind": "quantiles", "question": "age", "levels": ["0.25", "0.5", "0.9"]},
        {"kind": "quantiles", "question": "pay"},
        {"kind": "histogram", "question": "age", "breaks": [18, 40, "65"]},
        {
            "kind": "count",
            "where": [{"column": "age", "more_than": 40}, {"column": "sex", "in": ["", "male"]}],
        },
        {"kind": "mean", "question": "age", "where": grown_women, "stratum": ["Alba"]},
    ]
    done = release_statistics(tmp_path, csv_of(PEOPLE), *asked, neighbours=neighbours)
    total, part, spread, ranks, median, bins, few, mean = done["released"]

    pays, ages = [Fraction(row[2]) for row in PEOPLE], [row[1] for row in PEOPLE]
    women = [row for row in PEOPLE if row[0] == "female" and 18 <= row[1] < 65.5]
    assert figures(total, "sum") == [pytest.approx(float(sum(pays)), abs=20)]  # noise of scale 0.4
    assert figures(part, "sum") == [pytest.approx(float(sum(Fraction(row[2]) for row in women)), abs=20)]
    assert figures(spread, "variance") == [pytest.approx(statistics.pvariance(map(float, pays)), abs=2)]
    assert figures(spread, "standard_deviation") == [
        pytest.approx(statistics.pstdev(map(float, pays)), abs=0.1)
    ]
    for level, found in zip(("0.25", "0.5", "0.9"), figures(ranks, "quantile"), strict=True):
        off = ranks["notes"][f"rows_off_{level}"]
        assert sum(age < found for age in ages) <= float(level) * len(ages) + off
        assert sum(age > found for age in ages) <= (1 - float(level)) * len(ages) + off
    assert abs(sum(float(pay) < figures(median, "quantile")[0] for pay in pays) - 250) < 4
    assert figures(bins, "reports") == [
        sum(age < 18 for age in ages),
        sum(18 <= age < 40 for age in ages),
        sum(40 <= age <= 65 for age in ages),
        sum(age > 65 for age in ages),
    ]
    assert figures(few, "respondents") == [sum(row[1] > 40 and row[0] in ("", "male") for row in PEOPLE)]
    there = [row[1] for row in women if row[3] == "Alba"]
    assert figures(mean, "mean") == [pytest.approx(statistics.mean(there), abs=0.5)]
    assert [entry["what"].get("where") for entry in (part, mean)] == [
        [{"column": "sex", "equal": "female"}, {"column": "age", "at_least": "18", "less_than": "65.5"}]
    ] * 2

    twin = release_statistics(tmp_path, csv_of(PEOPLE[1:]), *asked, neighbours=neighbours)["released"]
    assert figures(twin[5], "reports") != figures(bins, "reports")


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ({"at_least": 0.3}, lambda pay: pay >= Fraction("0.3")),
        ({"more_than": "0.30"}, lambda pay: pay > Fraction("0.3")),
        ({"at_most": 0.3}, lambda pay: pay <= Fraction("0.3")),
        ({"less_than": "0.3000000000000000001"}, lambda pay: pay <= Fraction("0.3")),
        ({"at_least": 0.1 + 0.2}, lambda pay: pay > Fraction("0.3")),
        ({"equal": "0.3"}, lambda pay: pay == Fraction("0.3")),
        ({"in": [0.3, -2.5, "4e1"]}, lambda pay: pay in (Fraction("0.3"), Fraction("-2.5"), 40)),
    ],
)
def test_a_threshold_is_compared_exactly(
    condition: Mapping[str, Any], holds: Callable[[Fraction], bool], tmp_path: Path
) -> None:
    """Every number of a grid whose floats are none of its numbers; 0.1 + 0.2 is more than 0.3."""
    grid = [Fraction(tenths, 10) for tenths in range(-25, 401)]
    rows = [("male", 1, f"{float(pay):g}", "Alba") for pay in grid]
    item = {"kind": "count", "where": [{"column": "pay", **condition}]}
    (entry,) = release_statistics(tmp_path, csv_of(rows), item)["released"]
    assert figures(entry, "respondents") == [sum(map(holds, grid))]


def test_only_what_is_proved_to_be_disjoint_costs_the_most_of_it(tmp_path: Path) -> None:
    def price(*conditions: list[dict[str, Any]], neighbours: str = "unbounded", **more: Any) -> float:
        items = [{"kind": "count", "epsilon": 1, "where": where, **more} for where in conditions]
        looked = run(
            tmp_path,
            csv_of(PEOPLE),
            {"items": items, "division": "given", "neighbours": neighbours},
            "--json",
        )
        assert looked.exit_code == 0, looked.output
        return float(json.loads(looked.stdout)["epsilon"])

    young, grown = [{"column": "age", "less_than": 18}], [{"column": "age", "at_least": "17.5"}]
    overlapping, women = [{"column": "age", "at_least": 17}], [{"column": "sex", "equal": "female"}]
    assert price(young, grown) == 1
    assert price(young, overlapping) == 2
    assert price(young, women) == 2
    assert price(young, [*grown, *women], [*grown, {"column": "sex", "in": ["", "male"]}], women) == 2
    assert price(young, grown, neighbours="bounded") == 2, "a replaced row may go from one to the other"
    many = [[{"column": "age", "in": [number, 110]}] for number in range(14)]
    assert price(*many) == 14, "all of them may hold of the same row"
    # More types of rows than are looked at: everything is added up, which is never too little.
    older = [[{"column": "age", "at_least": at}] for at in range(70)]
    richer = [[{"column": "pay", "at_least": at / 2}] for at in range(70)]
    assert price(*older, *richer, young, grown) == 142


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_no_row_under_the_conditions_is_answered_by_noise_alone(neighbours: str, tmp_path: Path) -> None:
    """As many figures of the same names, whether a row fulfils the conditions or none does."""
    where = [{"column": "age", "at_least": 100}]
    items: list[dict[str, Any]] = [
        {"kind": kind, "where": where, "epsilon": "0.01", **more}
        for kind, more in {
            "count": {},
            "sum": {"question": "pay"},
            "mean": {"question": "pay"},
            "variance": {"question": "pay"},
            "quantiles": {"question": "pay"},
            "histogram": {"question": "age", "breaks": [0, 110]},
            "share": {"question": "sex", "option": "male"},
            "most_common": {"question": "sex"},
            "top": {"question": "sex", "how_many": 1},
            "exceeding": {"questions": ["sex"], "share": "0.4"},
            "table": {"questions": ["sex"], "by_stratum": True},
            "hierarchy": {},
        }.items()
    ]
    names = []
    for rows in (PEOPLE[:1], [("male", 109, "40", "Bruma")]):
        done = release_statistics(tmp_path, csv_of(rows), *items, neighbours=neighbours)["released"]
        names.append([sorted({figure["statistic"] for figure in entry["figures"]}) for entry in done])
    assert names[0] == names[1]


def test_how_many_fulfil_conditions_is_never_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin takes their number for that of all rows, which is public under bounded neighbours: it is refuted."""
    cases = [case for case in release_cases.cases() if "bounded: mean under conditions" in case.mechanism]
    assert [judge(case).verdict for case in cases] == ["not refuted"] * 2
    narrow = kinds.narrow_shape
    monkeypatch.setattr(
        kinds,
        "narrow_shape",
        lambda item, shape, field: replace(narrow(item, shape, field), respondents=shape.respondents),
    )
    verdicts = {case.mechanism: judge(case).verdict for case in cases}
    assert [verdict for name, verdict in verdicts.items() if ", bounded" in name] == ["certified above"]


@pytest.mark.parametrize("level", ["0.5", "0.2", "0.7"])
@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_quantiles_of_all_small_tables_lose_no_more_than_they_say(neighbours: str, level: str) -> None:
    """All tables of up to four rows with five numbers, and their neighbours, enumerated: chances are in proportion to
    exp(epsilon u / 2 sensitivity). The twin, with half of the sensitivity, loses more than it says.
    """
    columns = parse_columns({"columns": {"n": {"low": 0, "high": 80}}, "neighbours": neighbours})
    source = table_source(read_table(io.BytesIO(b"n\n1\n"), columns))
    item = parse_item({"kind": "quantiles", "question": "n", "levels": [level]})
    query = Quantiles.of(item, source.shape, "items[0]")
    (share,) = query.levels

    def log_chances(rows: tuple[int, ...], sensitivity: float) -> Any:
        utilities = query.utilities(np.bincount(rows, minlength=81).astype(np.int64), share)
        assert utilities.max() == 0
        scores = utilities / (2 * sensitivity)
        return scores - np.log(np.exp(scores).sum())

    def worst(sensitivity: float) -> float:
        sizes = range(4) if neighbours == "unbounded" else range(1, 5)
        return max(
            float(np.abs(log_chances(here, sensitivity) - log_chances(there, sensitivity)).max())
            for size in sizes
            for here in combinations_with_replacement((0, 1, 2, 40, 80), size)
            for there in (
                [(*here, number) for number in (0, 1, 2, 40, 80)]
                if neighbours == "unbounded"
                else [(*here[1:], number) for number in (0, 1, 2, 40, 80)]
            )
        )

    sensitivity = query.sensitivity(share)
    assert worst(sensitivity) <= 1 + 1e-9
    assert worst(sensitivity / 2) > 1


def test_the_interval_of_a_variance_holds_it(tmp_path: Path) -> None:
    """400 draws at 80 % hold it 0.8 * 400 times or more, but for chance: fewer than 278 have a probability of 1e-6.

    The twin, intervals of a fifth of their length about their middle, does not.
    """
    ages = [row[1] for row in PEOPLE]
    true = statistics.pvariance(ages)
    items = [{"kind": "variance", "question": "age", "epsilon": 1}] * 200
    held = narrow = 0
    for _ in range(2):
        for entry in release_statistics(tmp_path, csv_of(PEOPLE), *items, confidence=0.8)["released"]:
            low, high = entry["figures"][0]["low"], entry["figures"][0]["high"]
            held += low <= true <= high
            narrow += abs(true - (low + high) / 2) <= (high - low) / 10
    assert held >= 278 > narrow


def test_the_error_told_of_a_released_variance_is_that_of_the_noise(tmp_path: Path) -> None:
    """Mean squares of 400 draws, and of what is told, differ by chance by 0.56 at most: a false alarm of 1e-6.

    That is 4.9 times the root of (6 - 1) / 400, six being the kurtosis of Laplace noise. The twin tells the worst case.
    """
    ages = [row[1] for row in PEOPLE]
    true, items = statistics.pvariance(ages), [{"kind": "variance", "question": "age", "epsilon": 1}] * 200
    drawn = [
        entry["figures"][0]
        for _ in range(2)
        for entry in release_statistics(tmp_path, csv_of(PEOPLE), *items)["released"]
    ]
    moved = statistics.fmean((figure["value"] - true) ** 2 for figure in drawn)
    assert moved / statistics.fmean(figure["standard_error"] ** 2 for figure in drawn) == pytest.approx(
        1, abs=0.56
    )
    own = math.sqrt(geometric_variance(1, Fraction(1, 3)))
    assert moved / (math.hypot(1.5 * own, 2 * own, own / 2) / len(ages) * 55**2) ** 2 < 0.44


def test_the_first_rows_of_each_person_are_counted_at_the_price_of_all(tmp_path: Path) -> None:
    """Whose rows come between does not matter, nor do rows of nobody."""
    mine = [("male", 10, 1, "Alba", "ann"), ("male", 20, 2, "Alba", "ann"), ("male", 100, 3, "Alba", "ann")]
    others = [
        ("female", 40, 4, "Bruma", " bea "),
        ("", 90, 5, "Bruma", ""),
        ("female", 60, 6, "Bruma", "bea"),
    ]
    names = "sex,age,pay,town,who"
    items = [{"kind": "sum", "question": "age"}, {"kind": "count", "epsilon": 1}]
    for rows in ([*mine, *others], [row for pair in zip(others, mine, strict=True) for row in pair]):
        summed, counted = release_statistics(
            tmp_path, csv_of(rows, names), *items, person={"column": "who", "rows": 2}
        )["released"]
        assert figures(summed, "sum") == [pytest.approx(10 + 20 + 40 + 60, abs=50)]
        a = math.exp(-1 / 2)  # of a count whose sensitivity is 2: methods, section 3
        assert counted["figures"][0]["standard_error"] == pytest.approx(math.sqrt(2 * a) / (1 - a))
        assert counted["notes"]["rows_each"] == 2


def test_a_person_whose_rows_are_not_cut_off_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [case for case in release_cases.cases() if "two rows a person" in case.mechanism]
    monkeypatch.setattr(_OwnRows, "takes", lambda self, owner: True)
    assert cases
    assert {judge(case).verdict for case in cases} == {"certified above"}


def test_a_ledger_knows_whom_it_takes_for_a_person(tmp_path: Path) -> None:
    document = {"items": [{"kind": "count"}], "epsilon": 1}
    owned = {**document, "person": {"column": "who", "rows": 1}}
    data = csv_of([("male", 10, 1, "Alba", "ann")], "sex,age,pay,town,who")
    kept = ["--yes", "--ledger", str(tmp_path / "ledger.json"), "--budget-epsilon", "3"]
    assert run(tmp_path, data, owned, *kept).exit_code == 0
    assert run(tmp_path, data, owned, *kept).exit_code == 0
    other = run(tmp_path, data, document, *kept)
    assert (other.exit_code, 'must be who, as the ledger says; it is ""' in other.output) == (2, True)


def test_numbers_that_were_not_declared_are_clamped_where_that_is_said(tmp_path: Path) -> None:
    columns = {"pay": {"low": 0, "high": 10, "step": 0.5, "clamp": True}}
    cells = ["-1e400", "-3", "1e-400", "0.25", "0.2499999999999999999999", "9.74", "10.1", "9" * 500]
    data = "\n".join(["pay", *cells, ""]).encode()
    (entry,) = release_statistics(tmp_path, data, {"kind": "histogram", "question": "pay"}, columns=columns)[
        "released"
    ]
    numbers = [
        figure["place"][0][1]
        for figure in entry["figures"]
        if figure["statistic"] == "reports" and figure["value"]
    ]
    assert dict(zip(numbers, [v for v in figures(entry, "reports") if v], strict=True)) == {
        "0": 4, "0.5": 1, "9.5": 1, "10": 2
    }  # fmt: skip
    for cell in ("nan", "inf", "", "1_0", "ten"):
        refused = run(
            tmp_path,
            f"pay\n1\n{cell}\n".encode(),
            {"columns": columns, "items": [{"kind": "count"}], "epsilon": 1},
        )
        assert (refused.exit_code, "data[3].pay: must be from 0 to 10" in refused.output) == (2, True), cell


def condition(**asked: Any) -> dict[str, Any]:
    return {"kind": "count", "where": [asked]}


BAD = {
    "other column": (condition(column="a", equal=1), "where[0].column: must be one of sex, age, pay; it is a"),
    "nothing asked": (condition(column="age"), "where[0]: must have at least one of equal, in, at_least"),
    "no list": ({"kind": "count", "where": {"column": "age"}}, "items[0].where: must be a list"),
    "unknown test": (condition(column="age", above=3), "where[0].above: is not known here"),
    "reversed": (condition(column="age", at_least=65, less_than=18), "where[0]: must leave something that age can be"),
    "beyond": (condition(column="age", more_than=110), "must leave something that age can be"),
    "side of a text": (condition(column="sex", at_least="a"), "at_least: goes with numbers only; sex has categories"),
    "other text": (condition(column="sex", equal="Female"), "must be one of female, male, (empty); it is Female"),
    "off the grid": (condition(column="age", equal=1.5), "equal: must be from 0 to 110 in steps of 1; it is 1.5"),
    "no number": (condition(column="age", at_least="old"), "at_least: must be from -1000000000000000 to"),
    "huge": (condition(column="age", at_least="1e99999"), "at_least: must be from"),
    "people": ({"kind": "count", "people": 3}, "items[0].people: goes with conditions (where) only; it is 3"),
    "falling": ({"kind": "histogram", "question": "age", "breaks": [9, 5]}, "breaks[0]: must rise"),
    "empty bin": ({"kind": "histogram", "question": "age", "breaks": [1, 1.2, 1.8, 3]}, "breaks[1]: must rise"),
    "one break": ({"kind": "histogram", "question": "age", "breaks": [1]}, "breaks: must have at least 2 entries"),
    "breaks of texts": ({"kind": "histogram", "question": "sex", "breaks": [1, 2]}, "sex is not"),
    "sum of texts": ({"kind": "sum", "question": "sex"}, "must be a number that is known exactly"),
    "level": ({"kind": "quantiles", "question": "age", "levels": [1]}, "levels[0]: must be from 0.0001"),
    "fine level": ({"kind": "quantiles", "question": "age", "levels": [0.33333]}, "at most 4 digits after the point"),
    "level twice": ({"kind": "quantiles", "question": "age", "levels": [0.5, "0.50"]}, "levels[1]: must be unique"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_a_plan_cannot_ask_is_said_before_the_table_is_read(name: str, tmp_path: Path) -> None:
    item, message = BAD[name]
    refused = run(tmp_path, csv_of(PEOPLE[:2]), {"items": [item], "epsilon": 1}, "--yes")
    assert refused.exit_code == 2
    assert message in refused.output
    assert "Releasing" not in refused.output


def test_a_plan_is_written_as_it_is_read() -> None:
    items = [
        {"kind": "sum", "questions": ["pay"], "people": 3, "where": [{"column": "sex", "in": ["", "a"]}]},
        {"kind": "histogram", "questions": ["age"], "breaks": ["0.5", "20"]},
        {"kind": "quantiles", "questions": ["age"], "levels": ["0.25"]},
    ]
    plan = parse_plan({"format": 1, "items": items, "epsilon": 1})
    assert plan_json(plan)["items"] == items
    assert parse_plan(plan_json(plan)) == plan


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            {"kind": "count", "where": [{"column": "party", "equal": "red"}]},
            "answers to party were randomised",
        ),
        (
            {"kind": "histogram", "question": "hours", "breaks": [0, 6]},
            "must be a number that is known exactly",
        ),
        ({"kind": "sum", "question": "hours"}, "must be a number that is known exactly"),
        ({"kind": "variance", "question": "hours"}, "must be a number that is known exactly"),
        ({"kind": "quantiles", "question": "party"}, "must be a number that is known exactly"),
    ],
)
def test_randomised_answers_are_neither_added_up_nor_a_condition(item: dict[str, Any], message: str) -> None:
    """What arrived of them is not what people entered."""
    asked = question("party", ("red", "blue"), [coin()]), question("hours", (), [coin()], (0.0, 12.0), 2)
    release = InventedSurvey(asked).releasing([item], "1")
    with pytest.raises(InputError, match=message):
        release([(0, {"party": [0], "hours": [1]})])
