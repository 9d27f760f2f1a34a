"""The randomise.js that is served draws from the published design: exact tests, and twins that fail them.

All the tests here together raise a false alarm once in a million runs. They draw 60,000 reports for each truth:
of 20,000, a design that is off by 0.02 would pass one time in eight at that rate; of 60,000, once in 10^8.
"""

from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page
from scipy import stats

from tests import factories
from tests.browser.conftest import Opener
from tests.browser.people import Respondent

REPORTS = 60_000
GAMMAS = (0.25, 0.4)
OFF = 0.02
BYTES = 4
ALARM = 1e-6 / (2 * len(GAMMAS) + BYTES)  # of one test: every truth of every design, every byte of the coins

DRAW = """async ([url, definition, n, off]) => {
  const { drawCoins, randomize } = await import(url);
  const { questions } = (await (await fetch(definition)).json()).definition;
  return questions.map(({ designs: [{ weights }] }) => weights.map(([no, yes], truth) => {
    const shift = Math.round(off * 2 ** 32);
    const used = weights.map(() => [no - shift, yes + shift]);
    let reported = 0;
    for (const coin of drawCoins(n)) reported += randomize(truth, coin, used);
    return { yes: yes / 2 ** 32, reported };
  }));
}"""

COINS = """async ([url, n]) => {
  const { drawCoins } = await import(url);
  const bytes = new Uint8Array(drawCoins(n).buffer);
  const counts = [0, 1, 2, 3].map(() => new Array(256).fill(0));
  bytes.forEach((byte, place) => { counts[place % 4][byte] += 1; });
  return counts;
}"""


@dataclass(frozen=True)
class Acceptance:
    """The exact equal-tailed binomial test: the numbers of Yes reports that do not raise an alarm."""

    yes: float

    @property
    def limits(self) -> tuple[float, float]:
        expected = stats.binom(REPORTS, self.yes)
        return expected.ppf(ALARM / 2), expected.isf(ALARM / 2)

    def passes(self, reported: int) -> bool:
        least, most = self.limits
        return bool(least <= reported <= most)

    def chance_of_alarm(self, yes: float) -> float:
        """The chance that reports which are Yes with another chance raise an alarm."""
        least, most = self.limits
        actual = stats.binom(REPORTS, yes)
        return float(actual.cdf(least - 1) + actual.sf(most))


@pytest.fixture
def page(open_page: Opener, served: factories.Served) -> Page:
    """A respondent's page whose questions have one of the designs each."""
    survey = factories.publish(served.database_url, factories.definition(gammas=GAMMAS))
    opened = open_page()
    Respondent(opened, survey.slug).open()
    return opened


def served_url(page: Page) -> str:
    return str(page.locator("script[src*='/randomize.js']").evaluate("script => script.src"))


def drawn(page: Page, off: float = 0.0) -> list[list[dict[str, Any]]]:
    """For each question and truth: the design's chance of Yes, and how many of the reports drawn were Yes."""
    definition = page.locator("main").get_attribute("data-definition")
    found: list[list[dict[str, Any]]] = page.evaluate(DRAW, [served_url(page), definition, REPORTS, off])
    return found


def test_reports_follow_the_published_design(page: Page) -> None:
    questions = drawn(page)
    assert [[entry["yes"] for entry in entries] for entries in questions] == [
        [pytest.approx(0.5 - gamma, abs=1e-9), pytest.approx(0.5 + gamma, abs=1e-9)] for gamma in GAMMAS
    ]
    for entry in (entry for entries in questions for entry in entries):
        assert Acceptance(entry["yes"]).passes(entry["reported"]), entry


@pytest.mark.parametrize("off", [OFF, -OFF])
def test_a_randomiser_that_is_off_is_caught(page: Page, off: float) -> None:
    for entry in (entry for entries in drawn(page, off) for entry in entries):
        assert not Acceptance(entry["yes"]).passes(entry["reported"]), entry


@pytest.mark.parametrize("gamma", GAMMAS)
def test_the_test_has_the_power_it_needs(gamma: float) -> None:
    for yes in (0.5 - gamma, 0.5 + gamma):
        assert Acceptance(yes).chance_of_alarm(yes) <= ALARM
        for off in (OFF, -OFF):
            assert Acceptance(yes).chance_of_alarm(yes + off) > 1 - 1e-8


def test_every_byte_of_the_coins_is_uniform_across_the_platforms_limit(page: Page) -> None:
    counts = page.evaluate(COINS, [served_url(page), REPORTS])
    assert REPORTS * BYTES > 3 * 65_536  # getRandomValues gives 65,536 bytes at most: four calls
    assert [sum(cells) for cells in counts] == [REPORTS] * BYTES
    for cells in counts:
        assert stats.chisquare(cells).pvalue > ALARM
