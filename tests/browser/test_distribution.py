"""The randomize.js that is served draws from the published design: exact tests, and twins that fail them.

All the tests here together raise a false alarm once in a million runs. They draw 60,000 reports for each truth of a
yes/no design: of 20,000, one that is off by 0.02 would pass one time in eight at that rate; of 60,000, once in 10^7.
"""

from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from scipy import stats

from server.privacy.designs import TOTAL, weigh_between
from server.study.definitions import GridPoint
from server.study.definitions.definition_reader import parse_definition
from server.web.joined_modules import find_file
from tests.browser import question_screens
from tests.browser.conftest import Opener
from tests.browser.question_screens import ANSWERS, QUESTIONS
from tests.browser.site_users import Respondent
from tests.support import factories

REPORTS = 60_000
GAMMAS = (0.25, 0.4)
OFF = 0.02
BYTES = 4
OF_KINDS = 120_000  # reports for each byte of an answer to a question of another kind
BYTES_OF_KINDS = 2 * 26  # two answers to each question of every kind
ALARM = 1e-6 / (2 * len(GAMMAS) + BYTES + BYTES_OF_KINDS)  # of one test: every truth, every byte of the coins

DRAW = """async ([url, definition, n, off]) => {
  const { randomize_js: { drawCoins, randomize } } = await import(url);
  const { questions } = (await (await fetch(definition)).json()).definition;
  return questions.map(({ designs: [{ weights }] }) => weights.map(([no, yes], truth) => {
    const shift = Math.round(off * 2 ** 32);
    const used = weights.map(() => [no - shift, yes + shift]);
    let reported = 0;
    for (const coin of drawCoins(n)) reported += randomize(truth, coin, used);
    return { yes: yes / 2 ** 32, reported };
  }));
}"""

DRAW_KINDS = """async ([url, definition, answers, n, off]) => {
  const { design_js: { rowsOf }, randomize_js: { drawCoins, randomize } } = await import(url);
  const { questions } = (await (await fetch(definition)).json()).definition;
  const shift = Math.round(off * 2 ** 32);
  return questions.filter(({ designs }) => designs).flatMap((question) => (
    answers[question.name].flatMap((answer) => rowsOf(question, answer).map((row) => {
      const used = [row[0] - shift, ...row.slice(1, -1), row.at(-1) + shift];
      const counts = row.map(() => 0);
      for (const coin of drawCoins(n)) counts[randomize(0, coin, [used])] += 1;
      return counts;
    }))));
}"""

COINS = """async ([url, n]) => {
  const { randomize_js: { drawCoins } } = await import(url);
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
def page(open_page: Opener, installation: factories.Served) -> Page:
    """A respondent's page whose questions have one of the designs each."""
    survey = factories.publish(installation.database_url, factories.definition(gammas=GAMMAS))
    opened = open_page()
    Respondent(opened, survey.slug).open()
    return opened


def served_url(page: Page) -> str:
    return str(page.locator(f"script[src$='/{find_file('randomize.js')}']").evaluate("script => script.src"))


def draw_reports(page: Page, off: float = 0.0) -> list[list[dict[str, Any]]]:
    """For each question and truth: the design's chance of Yes, and how many of the reports drawn were Yes."""
    definition = page.locator("main").get_attribute("data-definition")
    found: list[list[dict[str, Any]]] = page.evaluate(DRAW, [served_url(page), definition, REPORTS, off])
    return found


def test_reports_follow_the_published_design(page: Page) -> None:
    questions = draw_reports(page)
    assert [[entry["yes"] for entry in entries] for entries in questions] == [
        [pytest.approx(0.5 - gamma, abs=1e-9), pytest.approx(0.5 + gamma, abs=1e-9)] for gamma in GAMMAS
    ]
    for entry in (entry for entries in questions for entry in entries):
        assert Acceptance(entry["yes"]).passes(entry["reported"]), entry


@pytest.mark.parametrize("off", [OFF, -OFF])
def test_a_randomiser_that_is_off_is_caught(page: Page, off: float) -> None:
    for entry in (entry for entries in draw_reports(page, off) for entry in entries):
        assert not Acceptance(entry["yes"]).passes(entry["reported"]), entry


@pytest.mark.parametrize("gamma", GAMMAS)
def test_the_test_has_the_power_it_needs(gamma: float) -> None:
    for yes in (0.5 - gamma, 0.5 + gamma):
        assert Acceptance(yes).chance_of_alarm(yes) <= ALARM
        for off in (OFF, -OFF):
            assert Acceptance(yes).chance_of_alarm(yes + off) > 1 - 1e-7


def test_every_byte_of_the_coins_is_uniform_across_the_platforms_limit(page: Page) -> None:
    counts = page.evaluate(COINS, [served_url(page), REPORTS])
    assert REPORTS * BYTES > 3 * 65_536  # getRandomValues gives 65,536 bytes at most: four calls
    assert [sum(cells) for cells in counts] == [REPORTS] * BYTES
    for cells in counts:
        assert stats.chisquare(cells).pvalue > ALARM


def expected_of_kinds() -> list[list[float]]:
    """The chances of each report for every byte of two answers to each question, as the server's designs give them."""
    chances = []
    for question in parse_definition(question_screens.everything()).questions:
        for answer in ANSWERS[question.name]:
            for truth, design in zip(question.truths(answer), question.designs, strict=True):
                row = weigh_between(design, *truth) if isinstance(truth, GridPoint) else design.weights[truth]
                chances.append((row / TOTAL).tolist())
    return chances


def drawn_of_kinds(open_page: Opener, served: factories.Served, off: float = 0.0) -> list[list[int]]:
    """What the page's own modules make of these answers, report by report."""
    page = open_page()
    slug = factories.publish(served.database_url, question_screens.everything()).slug
    expect(Respondent(page, slug).open().page.locator("main .primary")).to_be_visible()
    definition = page.locator("main").get_attribute("data-definition")
    counts: list[list[int]] = page.evaluate(
        DRAW_KINDS, [served_url(page), definition, ANSWERS, OF_KINDS, off]
    )
    return counts


def test_reports_of_every_kind_follow_the_design(open_page: Opener, installation: factories.Served) -> None:
    chances = expected_of_kinds()
    counts = drawn_of_kinds(open_page, installation)
    assert len(chances) == len(counts) == BYTES_OF_KINDS
    assert set(ANSWERS) == set(QUESTIONS)
    for observed, row in zip(counts, chances, strict=True):
        assert stats.chisquare(observed, [OF_KINDS * chance for chance in row]).pvalue > ALARM


@pytest.mark.parametrize("off", [OFF, -OFF])
def test_a_randomiser_that_is_off_is_caught_for_every_kind(
    open_page: Opener, installation: factories.Served, off: float
) -> None:
    chances = expected_of_kinds()
    for observed, row in zip(drawn_of_kinds(open_page, installation, off), chances, strict=True):
        assert stats.chisquare(observed, [OF_KINDS * chance for chance in row]).pvalue < ALARM


def test_the_test_of_every_kind_has_the_power_it_needs() -> None:
    for row in expected_of_kinds():
        limit = stats.chi2.isf(ALARM, len(row) - 1)
        shift = OF_KINDS * OFF**2 * (1 / row[0] + 1 / row[-1])
        # The variances are those of the design, which a shift of 0.02 hardly changes.
        assert stats.ncx2.cdf(limit, len(row) - 1, shift) < 1e-8
