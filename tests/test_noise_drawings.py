"""The noise of a release as it is drawn: its chances, and the limits that are told of it."""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from server.releases import Figure
from server.releases.noise_shapes import AddedNoise, ChoiceOdds, read_noise
from server.releases.noisy_cells import Noise
from server.releases.plans.items import Item, ItemKind
from server.reports.contents.noise_chart import draw_noise
from server.reports.report_words import ReportWords
from tests.support.sample_ledger import entry

NOISES = [
    Noise(kind, changes, epsilon, 1e-6 if kind == "gaussian" else 0.0)
    for kind, changes, epsilon in itertools.product(("geometric", "laplace", "gaussian"), (1, 2), (0.05, 1.0))
]


def inside(noise: Noise, half: int) -> float:
    """The share of draws from -half to half."""
    return float(noise.chances(np.arange(-half, half + 1)).sum())


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_limits_hold_as_often_as_they_say(noise: Noise, confidence: float) -> None:
    half = noise.reach(confidence)
    assert inside(noise, 60 * math.ceil(math.sqrt(noise.variance))) == pytest.approx(1, abs=1e-9)
    assert inside(noise, half) >= confidence
    assert half == 0 or inside(noise, half - 1) < confidence + 1e-3
    # The twin: noise of a scale a half larger within the same limits.
    wider = Noise(noise.kind, noise.changes, noise.epsilon / 1.5, noise.delta)
    assert inside(wider, half) < confidence or half == 0 or confidence == 0.5


def test_the_chances_are_those_of_the_textbook() -> None:
    """methods.md, section 3: (1 - a) / (1 + a) a^|k| with a = exp(-epsilon / sensitivity)."""
    a = math.exp(-0.7 / 2)
    found = Noise("geometric", 2, 0.7, 0.0).chances(np.array([-3, 0, 1]))
    assert found == pytest.approx([(1 - a) / (1 + a) * a**k for k in (3, 0, 1)])


def test_the_drawing_says_in_words_what_it_shows() -> None:
    chart = draw_noise(ReportWords("en"), AddedNoise(Noise("geometric", 1, 1.0, 0.0)), 0.95)
    said = chart.alternative.replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", " ")
    assert "In 95 of 100 such draws or more, the noise lies between -3 and 3" in said
    assert "1.36" in chart.alternative  # sqrt(2 a) / (1 - a)
    assert len(re.findall('class="bar"', chart.svg)) == 7
    assert "<title>How likely each amount of noise is</title>" in chart.svg
    wide = draw_noise(ReportWords("en"), AddedNoise(Noise("gaussian", 1, 0.01, 1e-6)), 0.95)
    assert wide.svg.count("<rect") == 1


@pytest.mark.parametrize("kind", ["geometric", "gaussian"])
def test_noise_that_reaches_far_is_drawn_by_few_points(kind: str) -> None:
    """Thousands of cells at the smallest loss: a number for each amount of noise would fill the memory."""
    noise = Noise(kind, 4096, 1e-9, 0.0) if kind == "geometric" else Noise(kind, 64, 0.01, 1e-6)
    svg = draw_noise(ReportWords("en"), AddedNoise(noise), 0.95).svg
    (path,) = re.findall('class="range thin" d="M([^"]+)"', svg)
    points = [tuple(map(float, point.split())) for point in path.split("L")]
    assert 200 < len(points) < 300
    left, right = points[: len(points) // 2], points[: len(points) // 2 : -1]
    assert [height for _, height in left] == [height for _, height in right]
    at_zero = points[len(points) // 2]
    assert min(height for _, height in points) == at_zero[1]  # likeliest, and at the top


def test_the_noise_of_an_entry_is_read_from_what_is_stored() -> None:
    count = entry(1, Item(ItemKind.COUNT), [Figure("respondents", (), 613, 2.1, 609, 617)])
    below = math.nextafter(0.1, 0)  # never more than is booked
    assert read_noise(count) == AddedNoise(Noise("geometric", 1, below, 0.0))
    chosen = entry(2, Item(ItemKind.MOST_COMMON, ("party",)), [], "noisy_maximum")
    assert read_noise(chosen) is None  # as it was released before its odds were noted
    assert read_noise(replace(chosen, notes={"log_odds_per_person": 0.1})) == ChoiceOdds(0.1)
    tree = replace(
        entry(3, Item(ItemKind.HIERARCHY), [], "hierarchy"), notes={"levels": 4, "l1_sensitivity": 4}
    )
    found = read_noise(tree)
    assert isinstance(found, AddedNoise)
    assert found.fitted
    # Four levels, each with a quarter; the twin, as if the whole loss were there on each, is another.
    assert (found.noise.changes, found.noise.epsilon) == (1, pytest.approx(0.1 / 4))
    total = read_noise(
        replace(entry(4, Item(ItemKind.SUM, ("pay",)), []), notes={"sum_sensitivity": 9000.0, "unit": 0.5})
    )
    assert total == AddedNoise(Noise("geometric", 18000, below, 0.0), 0.5)
