"""Days in a table from elsewhere, as what an answer goes with."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.factories import question
from tests.test_analyse import analyse_study
from tests.test_explain_outcomes import read_explanation

FIRST = date(2026, 4, 27)
_rng = np.random.default_rng(4)
ROWS, WEEKS = 2400, 6
days = _rng.integers(0, 7 * WEEKS, ROWS)
truth = _rng.random(ROWS) < 1 / (1 + np.exp(1.5 - 0.06 * days))
reports = np.where(_rng.random(ROWS) < 0.75, truth, ~truth).astype(int)
DATA = "\n".join(
    ["cheated,came,number"]
    + [f"{reports[k]},{(FIRST + timedelta(days=int(days[k]))).isoformat()},{days[k]}" for k in range(ROWS)]
)


def explain_by(folder: Path, dates: str, by: str = "came") -> dict[str, Any]:
    covariates = [{"name": "came", "dates": dates}, {"name": "number", "low": 0, "high": 99}]
    stated = {"format": 1, "survey": {"questions": [question("cheated")]}, "covariates": covariates}
    return read_explanation(folder, stated, DATA + "\n", "--explain", "cheated", "--by", by)


def test_days_are_a_number_that_grows_by_one_each_day_or_week(tmp_path: Path) -> None:
    """The truth is 0.06 a day; a column of the same days as numbers is fitted alike."""
    (daily,) = explain_by(tmp_path, "by_day")["predictors"][0]["steps"]
    (weekly,) = explain_by(tmp_path, "by_week")["predictors"][0]["steps"]
    (number,) = explain_by(tmp_path, "by_day", "number")["predictors"][0]["steps"]
    assert daily["coefficient_interval"][0] < 0.06 < daily["coefficient_interval"][1]
    assert weekly["coefficient"] == pytest.approx(7 * daily["coefficient"], rel=1e-6)
    assert number["coefficient"] == pytest.approx(daily["coefficient"], rel=1e-6)


def test_weeks_are_levels_from_monday_on(tmp_path: Path) -> None:
    (found,) = explain_by(tmp_path, "weeks")["predictors"]
    assert found["reference"] == "2026-04-27/2026-05-03"
    assert [step["step"][:10] for step in found["steps"]] == [
        (FIRST + timedelta(days=7 * week)).isoformat() for week in range(1, WEEKS)
    ]
    assert found["steps"][-1]["odds_ratio_interval"][0] > 1


REFUSED = {
    "no day": ([{"name": "came", "dates": "by_day"}], "1,2026-02-30", "must be a day like 2026-05-01"),
    "another way to write it": (
        [{"name": "came", "dates": "weeks"}],
        "1,20260501",
        "must be a day like 2026-05-01",
    ),
    "also a number": (
        [{"name": "came", "dates": "by_day", "low": 1, "high": 2}],
        "1,2026-05-01",
        "covariates[0].low: must not be given together with dates",
    ),
    "also categories": (
        [{"name": "came", "dates": "by_day", "categories": ["a", "b"]}],
        "1,2026-05-01",
        "covariates[0].dates: must not be given together with categories",
    ),
    "another unit": ([{"name": "came", "dates": "by_year"}], "1,2026-05-01", "covariates[0].dates"),
}


@pytest.mark.parametrize(("covariates", "row", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_day_is_named(tmp_path: Path, covariates: list[Any], row: str, said: str) -> None:
    stated = {"format": 1, "survey": {"questions": [question("cheated")]}, "covariates": covariates}
    done = analyse_study(tmp_path, stated, f"cheated,came\n{row}\n")
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_column_of_days_may_name_who_was_drawn_together(tmp_path: Path) -> None:
    stated = {"format": 1, "survey": {"questions": [question("cheated")]}}
    stated |= {"covariates": [{"name": "came", "dates": "by_day"}], "sampling": {"strata": "came"}}
    rows = [f"{k % 2},2026-05-{1 + k % 2:02}" for k in range(40)]
    done = analyse_study(tmp_path, stated, "\n".join(["cheated,came", *rows]) + "\n")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("dates", ["by_day", "by_week", "weeks"])
def test_a_day_that_all_came_on_is_named_as_no_predictor(tmp_path: Path, dates: str) -> None:
    stated = {"format": 1, "survey": {"questions": [question("cheated")]}}
    stated |= {"covariates": [{"name": "came", "dates": dates}]}
    rows = [f"{k % 2},2026-05-04" for k in range(40)]
    table = "\n".join(["cheated,came", *rows]) + "\n"
    done = analyse_study(tmp_path, stated, table, "--explain", "cheated", "--by", "came")
    assert done.exit_code == 2
    assert "must differ between people; came does not" in done.stderr


def test_the_first_and_the_last_week_of_the_calendar_are_weeks(tmp_path: Path) -> None:
    """9999 ends on a Friday, and no day comes after it."""
    stated = {"format": 1, "survey": {"questions": [question("cheated")]}}
    stated |= {"covariates": [{"name": "came", "dates": "weeks"}]}
    rows = [f"{k % 2},{('0001-01-01', '9999-12-31')[k // 2 % 2]}" for k in range(80)]
    table = "\n".join(["cheated,came", *rows]) + "\n"
    (found,) = read_explanation(tmp_path, stated, table, "--explain", "cheated", "--by", "came")["predictors"]
    assert found["reference"] == "0001-01-01/0001-01-07"
    assert [step["step"] for step in found["steps"]] == ["9999-12-27/9999-12-31"]
