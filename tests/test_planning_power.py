"""What it takes to show a difference: `plan --null` and `plan --against`, held against the tests themselves."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from lxml import etree
from scipy.stats import norm

from server.cli import main
from server.privacy.designs import coin_flip, custom, ordinal, warner
from server.privacy.planning import (
    compare_groups,
    compare_means,
    respondents_for_power,
    respondents_for_power_two_samples,
)

COIN = ("--mechanism", "coin_flip", "--gamma", "0.25", "--share", "0.1")


def plan(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["plan", *COIN, *arguments])


def document(*arguments: str) -> dict[str, Any]:
    done = plan(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_one_share_against_a_fixed_one() -> None:
    found = document("--null", "0", "--sides", "1", "--respondents", "483")
    assert found["respondents"] == found["respondents_in_all"] == 483  # methods.md
    assert found["planned_power"] == pytest.approx(0.8006, abs=5e-5)
    said = plan("--null", "0", "--sides", "1", "--respondents", "500").stdout
    assert said.startswith(
        "483 respondents show a share of 0.1 to differ from 0 with a chance of at least 0.8 (one-"
    )
    assert re.search(r"^500 +0\.81", said, re.MULTILINE)
    assert (
        "with a chance of at least 0.9999999 (" in plan("--null", "0", "--power", "0.9999999").stdout
    )  # never of 1


def test_two_groups_of_different_size() -> None:
    found = document("--against", "0.2", "--ratio", "2", "--power", "0.9")
    expected = respondents_for_power_two_samples(0.1, 0.2, coin_flip(0.25), power=0.9, ratio=2)
    assert (found["respondents"], found["respondents_in_all"]) == (expected, 3 * expected)
    said = plan("--against", "0.2", "--ratio", "2", "--power", "0.9").stdout
    assert f"{expected} respondents with a share of 0.1 and {2 * expected} with one of 0.2 show" in said


def test_curves_rise_to_what_is_needed_and_fall_with_the_coin() -> None:
    found = document("--against", "0.2", "--respondents", "5000")
    sizes = [point["respondents"] for point in found["over_respondents"]]
    powers = [point["power"] for point in found["over_respondents"]]
    assert sizes[-1] == 5000
    assert powers == sorted(powers)
    assert [power >= 0.8 for power in powers] == [size >= found["respondents"] for size in sizes]
    needed = {point["gamma"]: point["respondents"] for point in found["over_gamma"]}
    assert needed[0.25] == found["respondents"]
    assert list(needed.values()) == sorted(needed.values(), reverse=True)


@pytest.mark.parametrize("over", ["respondents", "gamma"])
def test_a_curve_is_a_drawing_by_itself(tmp_path: Path, over: str) -> None:
    written = tmp_path / "curve.svg"
    assert plan("--null", "0.3", "--curve", str(written), "--over", over).exit_code == 0
    drawn = etree.fromstring(written.read_bytes())
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert drawn.find(".//{http://www.w3.org/2000/svg}path") is not None


@pytest.mark.parametrize(("size", "reached"), [(1.0, True), (0.7, False)], ids=["needed", "fewer"])
def test_simulated_studies_reach_the_power_that_was_planned(size: float, reached: bool) -> None:
    """The normal test of a share of reports, by hand; with fewer than planned it shows too little."""
    needed = respondents_for_power(0.1, 0.3, coin_flip(0.25))
    asked = round(size * needed)
    yes = np.random.default_rng(4).binomial(asked, 0.25 + 0.5 * 0.1, size=20_000)
    null = 0.25 + 0.5 * 0.3
    shown = np.abs(yes / asked - null) > 1.959964 * np.sqrt(null * (1 - null) / asked)
    assert (abs(shown.mean() - 0.8) < 0.03) == reached


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--power", "0.9"), "either --null or --against must be given"),
        (("--null", "0.1"), "--share and --null must be different numbers; both are 0.1"),
        (("--against", "1.5"), "--against must be from 0 to 1; it is 1.5"),
        (("--null", "0", "--power", "1"), "--power must be between 0 and 1; it is 1.0"),
        (("--null", "0", "--alpha", "0"), "--alpha must be between 0 and 1; it is 0.0"),
        (("--null", "0", "--ratio", "2"), "--ratio must not be given with --null"),
        (("--null", "0", "--margin", "5"), "--margin and --confidence must not be given"),
        (("--null", "nan"), "--null must be from 0 to 1; it is nan"),
    ],
)
def test_what_makes_no_test_is_refused(arguments: tuple[str, ...], said: str) -> None:
    done = plan(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_survey_has_no_such_test() -> None:
    survey = CliRunner().invoke(main, ["plan", "unknown", "--null", "0"])
    assert survey.exit_code == 2
    assert "--null" in survey.stderr


def read(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["plan", *arguments, "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


ROUNDED = ("--mechanism", "stochastic_rounding", "--epsilon", "1.0986122886681098")
LEVELS = ("--mechanism", "ordinal", "--options", "3", "--epsilon", "1")


def test_a_mean_is_planned_in_its_own_unit() -> None:
    """12 of 0 to 40 hours is three tenths of the way: as a share of 0.3 under the coin of the same loss."""
    hours = read(*ROUNDED, "--mean", "12", "--against", "16", "--low", "0", "--high", "40")
    shares = read("--mechanism", "coin_flip", "--gamma", "0.25", "--share", "0.3", "--against", "0.4")
    assert (hours["estimate"], shares["estimate"]) == ("mean", "share")
    assert hours["respondents"] == shares["respondents"] > 1000
    assert hours["over_gamma"] == shares["over_gamma"]
    fixed = read(*ROUNDED, "--mean", "12", "--null", "10", "--low", "0", "--high", "40", "--sides", "1")
    assert fixed["respondents"] == respondents_for_power(0.3, 0.25, coin_flip(0.25), sides=1)


def test_one_of_many_answers_is_planned_by_whether_it_arrived() -> None:
    asked = ("--mechanism", "k_ary", "--options", "4", "--epsilon", "1.0986122886681098")
    found = read(*asked, "--share", "0.1", "--against", "0.2")
    arrived = custom([[5 / 6, 1 / 6], [1 / 2, 1 / 2]])
    assert found["respondents"] == respondents_for_power_two_samples(0.1, 0.2, arrived)


def test_a_scale_is_planned_by_the_shares_of_all_levels() -> None:
    low, high = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
    both = [",".join(map(str, own)) for own in (low, high)]
    mean = read(*LEVELS, "--share", both[0], "--against", both[1])
    assert mean["respondents"] == compare_means([low, high], [ordinal(3, 1)] * 2).respondents(0.8)
    level = read(*LEVELS, "--share", both[0], "--against", both[1], "--answer", "1")
    assert level["respondents"] == compare_means([low, high], [ordinal(3, 1)] * 2, answer=0).respondents(0.8)
    fixed = read(*LEVELS, "--share", both[0], "--null", "2")
    assert fixed["respondents"] == compare_means([low], [ordinal(3, 1)], null=0.5).respondents(0.8)


def test_a_second_design_and_waves_of_any_size() -> None:
    found = document("--against", "0.2", "--second", "warner:truth=0.9", "--ratio", "2")
    expected = compare_groups([0.1, 0.2], [coin_flip(0.25), warner(0.9)], (1, 2)).respondents(0.8)
    assert (found["respondents"], found["second"]) == (expected, "warner:truth=0.9")
    assert found["over_gamma"][-1]["respondents"] < found["over_gamma"][0]["respondents"]
    waves = ("--against", "0.15", "--against", "0.2", "--ratio", "2", "--ratio", "1")
    trend = document(*waves)
    expected = compare_groups([0.1, 0.15, 0.2], [coin_flip(0.25)] * 3, (1, 2, 1)).respondents(0.8)
    assert (trend["respondents"], trend["respondents_in_all"]) == (expected, 4 * expected)
    said = plan(*waves).stdout
    assert said.startswith(f"Waves of {expected} (0.1), {2 * expected} (0.15), {expected} (0.2) respondents")


def power_of_rr(design: str, p: float, n: int, values: tuple[float, ...], alpha: float, sides: int) -> float:
    """`power.rr.test` as its paper says it (Blair, Imai and Zhou 2015), from the information of one response."""
    c, d = {"mirrored": (2 * p - 1, 1 - p), "forced-known": (p, (1 - p) / 2)}[design]

    def error(share: float, information_of_latent: bool) -> float:
        yes = c * share + d
        if information_of_latent:
            information = c**2 * (yes / yes**2 + (1 - yes) / (1 - yes) ** 2)
        else:
            information = c**2 * (1 / yes + 1 / (1 - yes))
        return float(1 / np.sqrt(n * information))

    mirrored = design == "mirrored"
    *true, null = values
    scatter = float(np.hypot.reduce([error(share, mirrored) for share in true]))
    claimed = error(null, mirrored) * np.sqrt(len(true))
    distance, centre = (true[0] - null, 0) if len(true) == 1 else (true[0] - true[1], 0)
    limit = centre + norm.isf(alpha / sides) * claimed
    lower = norm.cdf(-limit, distance, scatter) if sides == 2 else 0
    return float(norm.sf(limit, distance, scatter) + lower)


GRIDS = {
    "mirrored": ("--mechanism", "warner", "--truth", "0.75"),
    "forced-known": ("--mechanism", "forced_response", "--truth", "0.75", "--yes", "0.125"),
}


def test_the_grids_of_rr_are_printed() -> None:
    """Two designs, one group and two, one side and two; chances that a design holds exactly. Another chance fails."""
    rows, told = 0, 0
    for name, mechanism in GRIDS.items():
        for sides in (1, 2):
            for rest, others in (
                (("--null", "0"), (0,)),
                (("--against", "0.02", "--null", "0.02"), (0.02, 0.02)),
            ):
                options = ("--each-share", "0.03:0.15:0.01", "--each-size", "250,500,1000,2000,2500")
                found = read(*mechanism, *rest, *options, "--alpha", "0.01", "--sides", str(sides))["grid"]
                for row in found:
                    values = (row["share"], *others)
                    expected = power_of_rr(name, 0.75, row["respondents"], values, 0.01, sides)
                    assert row["power"] == pytest.approx(expected, abs=1e-9)
                    wrong = power_of_rr(name, 0.76, row["respondents"], values, 0.01, sides)
                    told += row["power"] != pytest.approx(wrong, abs=1e-9)
                    rows += 1
    assert rows == 520
    assert told > 450
    printed = CliRunner().invoke(main, ["plan", *GRIDS["mirrored"], "--null", "0", *options]).stdout
    assert printed.splitlines()[0].split() == "share with 250 with 500 with 1000 with 2000 with 2500".split()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*COIN, "--null", "0", "--second", "warner:truth=0.8"), "--second must be given with --against"),
        ((*COIN, "--against", "0.2", "--second", "dice"), "--second must be one of coin_flip, warner"),
        ((*COIN, "--against", "0.2", "--second", "warner:truth=x"), "--second must name numbers"),
        ((*COIN, "--against", "0.2", "--second", "warner:gamma=0.3"), "--truth must be given with --second"),
        ((*COIN, "--against", "0.2", "--against", "0.1"), "true values must differ from the null"),
        (
            (*COIN, "--against", "0.2", "--ratio", "2", "--ratio", "3"),
            "--ratio must be given once, or once for",
        ),
        ((*COIN, "--null", "0", "--low", "0"), "--low and --high must be given for a mean alone"),
        ((*COIN, "--null", "0", "--answer", "1"), "--answer must be left out but with an ordinal design"),
        (
            (*ROUNDED, "--mean", "50", "--null", "1", "--high", "40"),
            "--share must be from 0 to 40; it is 50.0",
        ),
        (
            (*ROUNDED, "--mean", "5", "--null", "1", "--high", "-1"),
            "--low must be below --high; they are 0 and -1",
        ),
        (
            (*LEVELS, "--share", "0.2", "--null", "2"),
            "--share must be 3 numbers from 0 to 1, one for each answer",
        ),
        ((*LEVELS, "--share", "0.2,0.2,0.2", "--null", "2"), "--share must have the sum 1; it is 0.6"),
        ((*LEVELS, "--share", "0.2,0.6,0.2", "--null", "9"), "--null must be from 1 to 3; it is 9.0"),
        ((*LEVELS, "--share", "0.2,0.6,0.2", "--null", "2", "--answer", "4"), "--answer must be from 1 to 3"),
        ((*COIN[:4], "--null", "0", "--each-share", "0.1"), "must be given together; one is missing"),
        ((*COIN, "--null", "0", "--each-share", "0", "--each-size", "9"), "--share must not be given with"),
        (
            (*COIN[:4], "--null", "0", "--each-share", "0:1:0", "--each-size", "9"),
            "--each-share must be 1 to 1000 numbers",
        ),
        (
            (*COIN[:4], "--null", "0", "--each-share", "0.1", "--each-size", "0.5"),
            "--each-size must be whole numbers from 1 to 10000000; one is 0.5",
        ),
    ],
)
def test_other_plans_that_cannot_be_are_refused(arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(main, ["plan", *arguments])
    assert done.exit_code == 2, done.output
    assert said in done.stderr
