"""What the teaching pages compute: expected values by hand, by enumeration, or from another program."""

import json
import math
import re
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats

from server.privacy.auditing import published_errors
from server.privacy.auditing.cases import CONFIDENCE, judge
from server.web.handbook import read_handbook
from server.web.lessons import differencing, failing_mechanisms, larger_classes
from server.web.lessons.drawn_noise import COUNT, KINDS, DrawnNoise, sort_into_columns
from server.web.lessons.failing_mechanisms import list_failures
from server.web.lessons.lesson_fields import LOSSES
from server.web.lessons.repeated_questions import COINS, ask_repeatedly, count_knowledge, find_coin


@pytest.mark.parametrize("kept", COINS)
def test_a_coin_keeps_as_many_answers_as_its_name_says(kept: str) -> None:
    assert np.diag(find_coin(kept).matrix) == pytest.approx([int(kept) / 100] * 2, abs=1e-9)


def guess_by_enumeration(kept: float, times: int) -> float:
    """The part of right guesses by majority, over all reports that there can be; a draw is guessed by chance."""
    right = 0.0
    for reports in product((True, False), repeat=times):
        same = sum(reports)
        likely = kept**same * (1 - kept) ** (times - same)
        right += likely * (1.0 if 2 * same > times else 0.5 if 2 * same == times else 0.0)
    return right


@pytest.mark.parametrize("times", [1, 2, 3, 5, 10])
def test_guesses_are_right_as_often_as_all_reports_say(times: int) -> None:
    for kept in COINS:
        known = count_knowledge(find_coin(kept), times)
        assert known.right == pytest.approx(guess_by_enumeration(int(kept) / 100, times), abs=1e-8)
        # In the worst case all reports agree.
        odds = (int(kept) / (100 - int(kept))) ** times
        assert known.most == math.ceil(100 * odds / (1 + odds) - 1e-5)


def test_beliefs_follow_from_how_many_more_reports_say_red() -> None:
    asked = ask_repeatedly(find_coin("75"), 1, 12)
    ahead = np.cumsum([1 if each.reported else -1 for each in asked])
    assert [each.belief for each in asked] == pytest.approx(1 / (1 + 3.0**-ahead))


def test_reports_are_the_coins() -> None:
    """Wrong with probability 1e-6 each; the twin, a coin that keeps 60, is told apart."""
    reports = [each.reported for _ in range(500) for each in ask_repeatedly(find_coin("75"), 1, 8)]
    low, high = stats.binom.interval(1 - 1e-6, len(reports), 0.75)
    assert low <= sum(reports) <= high
    assert not low <= 0.6 * len(reports) <= high


@pytest.mark.parametrize("row", differencing.TABLE, ids=lambda row: row.name)
def test_the_difference_is_the_secret(row: differencing.TableRow) -> None:
    found = differencing.attack(row.name, "1")
    assert found.everyone - found.others == row.copied
    assert [apart for *_, apart in found.noisy] == [first - second for first, second, _ in found.noisy]


def test_what_an_attacker_can_know_is_e_to_the_loss() -> None:
    # 1 / (1 + e^-1) = 0.7311, after five times 0.9933.
    assert differencing.attack("Ana", "1").right[:3] == [(1, 74), (2, 89), (5, 100)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_number_tells_more_than_the_loss(kind: str, loss: str) -> None:
    drawn = DrawnNoise(kind, LOSSES[loss])
    places = drawn.places()
    here, without = (np.array(drawn.chances(places, count)) for count in (COUNT, COUNT - 1))
    assert max(here / without) == pytest.approx(math.exp(LOSSES[loss]), rel=1e-6)
    assert max(without / here) == pytest.approx(math.exp(LOSSES[loss]), rel=1e-6)
    assert places[int(here.argmax())] == COUNT
    assert len(places) < 400


@pytest.mark.parametrize(("kind", "shape"), [("geometric", stats.dlaplace), ("laplace", stats.laplace)])
def test_curves_are_those_of_scipy(kind: str, shape: stats.rv_continuous) -> None:
    drawn = DrawnNoise(kind, LOSSES["0.5"])
    places = [6.0, 9.0, 10.0, 13.0]
    away = np.array(places) - COUNT
    expected = stats.dlaplace.pmf(away, 0.5) if kind == "geometric" else stats.laplace.pdf(away, scale=2)
    assert drawn.chances(places, COUNT) == pytest.approx(expected, rel=1e-3)
    assert drawn.typical == pytest.approx(shape.std(0.5) if kind == "geometric" else math.sqrt(8), rel=1e-3)


def test_columns_hold_every_draw_once() -> None:
    values = [*range(5, 16), 10, 10, 10]
    columns = sort_into_columns(values, 5, 15)
    assert columns[5] == (9.5, 10.5, 4 / len(values))
    assert sum((end - begin) * height for begin, end, height in columns) == pytest.approx(1)
    wide = sort_into_columns(values, -50, 70)
    assert sum((end - begin) * height for begin, end, height in wide) == pytest.approx(1)


def test_intervals_of_a_made_up_class_hold_the_truth_as_often_as_they_say() -> None:
    """400 looks at 1,000 answers: fewer than 88 % held with probability below 1e-6 where 95 % are; of the twin many."""
    looks = [larger_classes.play_class(30)[-1] for _ in range(400)]
    held = sum(look.interval[0] <= 0.3 <= look.interval[1] for look in looks)
    least = stats.binom.ppf(1e-6, 400, 0.94)
    assert held >= least
    assert sum(look.interval[0] <= 0.4 <= look.interval[1] for look in looks) < least
    assert [look.answers for look in larger_classes.play_class(0)] == list(larger_classes.SIZES)


def test_every_wrong_mechanism_is_explained_with_the_claim_that_it_has() -> None:
    tried = [(case.mechanism, case.claimed_epsilon) for case in published_errors.cases()]
    assert [(failure.mechanism, failure.claimed) for failure in list_failures()] == tried
    rows = json.loads(failing_mechanisms.FILE.read_text("utf-8"))
    assert {row["verdict"] for row in rows} == {"caught"}
    assert len({failure.title for failure in list_failures()}) == len(rows)


def test_what_was_certified_follows_from_what_was_counted() -> None:
    """By SciPy's beta distribution: Clopper and Pearson's limits of two chances, a quarter of the error each."""
    error = (1 - CONFIDENCE) / 4
    counted = [failure for failure in list_failures() if failure.hits is not None]
    assert len(counted) == 9
    for failure in counted:
        assert failure.hits is not None
        more, less, runs = failure.hits
        low = stats.beta.ppf(error, more, runs - more + 1)
        high = stats.beta.isf(error, less + 1, runs - less)
        assert failure.certified == pytest.approx(math.log(low / high), rel=1e-6)
        assert failure.found_loss > failure.claimed


def test_what_is_computed_is_computed_again() -> None:
    computed = [failure for failure in list_failures() if failure.hits is None]
    cases = {case.mechanism: case for case in published_errors.cases()}
    assert len(computed) == 2
    for failure in computed:
        assert judge(cases[failure.mechanism]).certified_epsilon == pytest.approx(failure.certified)


def test_nothing_is_said_to_be_worse_than_was_certified() -> None:
    for failure in list_failures():
        assert failure.certified_odds <= math.exp(failure.certified)
        assert failure.found_loss <= failure.certified
        assert failure.claimed_odds >= math.exp(failure.claimed)
    assert failing_mechanisms.round_down(18.5176) == 18.5
    assert failing_mechanisms.round_down(472.98) == 472


@pytest.mark.parametrize(("name", "point"), [("teaching", "."), ("ensenanza", ",")])
def test_answers_of_the_sheets_are_what_the_pages_show(name: str, point: str) -> None:
    sections = {section.title[-8:]: section.text for section in read_handbook().chapters[name].sections}
    (answers,) = (text for title, text in sections.items() if title in ("Answers", "spuestas"))
    numbers = Counter(text.replace(",", ".") for text in re.findall(r"\d+(?:[.,]\d+)?", answers))
    drawn = DrawnNoise("geometric", LOSSES["1"])
    wide = DrawnNoise("geometric", LOSSES["0.1"])
    coin = find_coin("75")
    for shown in (
        f"{100 * count_knowledge(coin, 10).right:.0f}",
        f"{100 * (27 / 28):.0f}",  # three reports that agree, odds 27 to 1
        f"{100 * count_knowledge(find_coin('60'), 1).right:.0f}",
        f"{differencing.attack('Ana', '0.5').right[0][1]}",
        f"{100 * drawn.chances([COUNT], COUNT)[0]:.0f}",
        f"{math.e:.2f}",
        f"{drawn.typical:.2f}",
        f"{wide.typical:.1f}",
    ):
        assert numbers[shown], shown
    copied = [row.name for row in differencing.TABLE if row.copied]
    assert all(person in answers for person in copied)
    assert not any(row.name in answers for row in differencing.TABLE if not row.copied)
    assert f"1{point}36" in answers
