"""What a public report says in sentences is never more than the intervals of its releases allow, in either language."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import chain

import numpy as np
import pytest

from server.output.documents.vocabulary import environment_of
from server.releases import STRATUM, Covers, Figure, Released
from server.releases.plans.items import Item, ItemKind
from server.reports import Published
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.finding_charts import draw_finding
from server.reports.contents.finding_reader import read_entry
from server.reports.contents.finding_values import Picture, ReleaseFinding
from server.reports.contents.release_findings import find_answered, list_all_findings, list_findings
from server.reports.contents.release_sections import show_found
from server.reports.findings import Says
from server.reports.public_source import PublishedVersion
from server.reports.report_words import ReportWords
from server.study.definitions.definition_reader import parse_definition
from tests.support import every_kind, sample_ledger
from tests.support.sampling import choose
from tests.support.scale import scale

Interval = tuple[float, float]
DEFINITION = parse_definition(every_kind.document())
ASKED = QuestionsByVersion({1: DEFINITION})
LANGUAGES = {
    "en": {
        "hundred": "of 100",
        "more": "That is more than half",
        "fewer": "That is fewer than half",
        "nothing": "do not tell",
        "leader": "is the most common of these answers",
        "highest": "is more common in",
    },
    "es": {
        "hundred": "de cada 100",
        "more": "Es más de la mitad",
        "fewer": "Es menos de la mitad",
        "nothing": "no lo dicen",
        "leader": "es la más frecuente de estas respuestas",
        "highest": "es más frecuente en",
    },
}


def publish(*released: Released) -> Published:
    """A survey of every kind, of which this was released."""
    book = sample_ledger.ledger()
    version = PublishedVersion(1, "a" * 64, date(2026, 5, 1), DEFINITION)
    ledger = type(book)(book.budget, released, book.spent, book.left, book.left_delta)
    return Published(False, (version,), ledger, (), False)


def make_figure(statistic: str, value: float, interval: Interval, *place: tuple[str, str]) -> Figure:
    return Figure(statistic, place, value, 0.1, *interval)


def release_share(value: float, interval: Interval, number: int = 1) -> Released:
    """The share of those who say yes."""
    figure = make_figure("share", value, interval, ("coin", "yes"))
    return sample_ledger.entry(number, Item(ItemKind.SHARE, ("coin",), option="yes"), [figure])


def read(words: ReportWords, entry: Released) -> ReleaseFinding:
    (finding,) = read_entry(words, entry, ASKED)
    return finding


def draw_intervals(name: str) -> Iterator[tuple[float, Interval]]:
    """A quarter of 10,000 with each commit, all in `make test-long`."""
    quarters = range(4)
    taken = quarters if scale() == "long" else [choose(name, quarters)]
    return chain.from_iterable(make_up_intervals(2_500, 15 + quarter) for quarter in taken)


def make_up_intervals(number: int, seed: int = 15) -> Iterator[tuple[float, Interval]]:
    """Estimates and intervals of every width, around every share, and beyond the possible ones."""
    rng = np.random.default_rng(seed)
    for middle, half in zip(rng.uniform(-0.3, 1.3, number), 10 ** rng.uniform(-4, 0.3, number), strict=True):
        low, high = middle - half * rng.uniform(0, 1), middle + half * rng.uniform(0, 1)
        if rng.random() < 0.1:  # ends that are whole numbers of 100
            low, high = round(low, 2), round(high, 2)
        yield float(middle), (float(min(low, high)), float(max(low, high)))


def read_claim(sentence: str, says: Says) -> tuple[float, float] | None:
    """Which numbers a sentence leaves possible; None where it says of none that it is not."""
    sentence = sentence.replace("\N{MINUS SIGN}", "-")
    numbers = [float(text.replace(",", ".")) for text in re.findall(r"-?\d+(?:[.,]\d+)?", sentence)]
    match says:
        case Says.BETWEEN | Says.NOT_TOLD:
            return numbers[0], numbers[1]
        case Says.AT_MOST:
            return -np.inf, numbers[0]
        case Says.AT_LEAST:
            return numbers[0], np.inf
        case Says.IMPOSSIBLE:
            return None


def says_too_much(sentence: str, says: Says, interval: Interval, ends: Interval = (0, 100)) -> bool:
    """Whether a sentence leaves out a possible number that the interval, in its own unit, holds."""
    claim = read_claim(sentence, says)
    low, high = (min(max(end, ends[0]), ends[1]) for end in interval)
    # So far apart are numbers of this size that are not the same.
    return claim is not None and not (claim[0] <= low + 1e-9 and high - 1e-9 <= claim[1])


def means_too_much(meaning: str, interval: Interval, language: str) -> bool:
    """Whether half is named although the interval holds it."""
    said = LANGUAGES[language]
    return (said["more"] in meaning and interval[0] <= 0.5) or (
        said["fewer"] in meaning and interval[1] >= 0.5
    )


@pytest.mark.scaled
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_of_a_share_says_more_than_its_interval(language: str) -> None:
    words, said, halves = ReportWords(language), set(), set()
    for value, interval in draw_intervals(f"share {language}"):
        found = read(words, release_share(value, interval))
        headline = found.headline
        assert headline is not None
        hundredths = 100 * interval[0], 100 * interval[1]
        assert not says_too_much(found.sentence, headline.says, hundredths), (found.sentence, interval)
        assert not means_too_much(found.meaning, interval, language), (found.meaning, interval)
        assert LANGUAGES[language]["hundred"] in found.sentence.replace("\N{NO-BREAK SPACE}", " ")
        possible = [min(max(end, 0), 100) for end in hundredths]
        if possible[1] - possible[0] > 50:
            assert LANGUAGES[language]["nothing"] in found.sentence
        assert found.tells == (LANGUAGES[language]["nothing"] not in found.sentence)
        assert headline.guess is None or headline.low <= headline.guess <= headline.high
        said.add(headline.says)
        halves |= {name for name in ("more", "fewer") if LANGUAGES[language][name] in found.meaning}
    assert said == set(Says)
    assert halves == {"more", "fewer"}


@pytest.mark.scaled
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_of_a_mean_says_more_than_its_interval(language: str) -> None:
    words, said = ReportWords(language), set()
    question = next(each for each in DEFINITION.questions if each.name == "cups")
    assert question.ends is not None
    first, last = question.ends
    for value, interval in draw_intervals(f"mean {language}"):
        low, high = (first + (last - first) * end for end in interval)
        middle = first + (last - first) * value
        figure = make_figure("mean", middle, (low, high), ("cups", ""))
        found = read(words, sample_ledger.entry(1, Item(ItemKind.MEAN, ("cups",)), [figure]))
        assert found.headline is not None
        said.add(found.headline.says)
        assert not says_too_much(found.sentence, found.headline.says, (low, high), (first, last)), found
    assert said == set(Says)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_answer_is_called_the_most_common_only_where_its_interval_is_above_all_others(
    language: str,
) -> None:
    words, rng = ReportWords(language), np.random.default_rng(17)
    answers = next(each for each in DEFINITION.questions if each.name == "party").answers
    leaders = 0
    for _ in range(2_000):
        shares = rng.dirichlet(np.full(len(answers), 0.7))
        halves = 10 ** rng.uniform(-3, -0.3, len(answers))
        figures = [
            make_figure("share", share, (share - half, share + half), ("party", answer))
            for answer, share, half in zip(answers, shares, halves, strict=True)
        ]
        found = read(words, sample_ledger.entry(1, Item(ItemKind.HISTOGRAM, ("party",)), figures))
        highest = LANGUAGES[language]["leader"] in found.sentence
        above = [
            all(
                one - half > other + wide
                for j, (other, wide) in enumerate(zip(shares, halves, strict=True))
                if j != i
            )
            for i, (one, half) in enumerate(zip(shares, halves, strict=True))
        ]
        assert highest == any(above) == found.tells
        if highest:
            assert found.headline is not None
            assert found.headline.label.text in found.sentence
            leaders += 1
            chosen = above.index(True)
            assert found.headline.value == pytest.approx(shares[chosen])
            assert not means_too_much(found.meaning, found.headline.interval, language)
    assert 0 < leaders < 2_000


def test_a_sentence_that_rounds_to_the_nearest_says_too_much() -> None:
    words, caught = ReportWords("en"), 0
    for value, interval in make_up_intervals(200):
        found = read(words, release_share(value, interval)).headline
        assert found is not None
        near = [min(max(round(100 * end), 0), 100) for end in interval]
        if found.says != Says.BETWEEN or near[0] == near[1]:
            continue
        sentence = words.macro("words/findings.html", "share_range", found, "Yes")
        numbers = iter(near)
        twin = re.sub(r"\d+(?=\sto)|\d+(?=\sof)", lambda _, left=numbers: str(next(left)), sentence)
        caught += says_too_much(twin, found.says, (100 * interval[0], 100 * interval[1]))
    assert caught > 10


def test_a_meaning_that_takes_the_best_guess_for_the_interval_says_too_much() -> None:
    words = ReportWords("en")
    found = read(words, release_share(0.6, (0.45, 0.75)))
    assert not means_too_much(found.meaning, (0.45, 0.75), "en")
    assert means_too_much(f"{found.meaning} That is more than half.", (0.45, 0.75), "en")


@pytest.mark.parametrize(
    ("interval", "picture", "circles"),
    [
        ((0.24, 0.34), Picture.DOTS, (24, 10, 66)),
        ((-0.02, 0.054), Picture.DOTS, (0, 6, 94)),
        ((0.951, 1.2), Picture.DOTS, (95, 5, 0)),
        ((-0.3, -0.1), Picture.BARS, (0, 0, 0)),
    ],
)
def test_the_dots_are_the_numbers_of_the_sentence(
    interval: Interval, picture: Picture, circles: tuple[int, int, int]
) -> None:
    words = ReportWords("en")
    found = read(words, release_share(sum(interval) / 2, interval))
    assert found.picture == picture
    (chart,) = draw_finding(words, found, ASKED)
    drawn = tuple(chart.svg.count(f'<circle class="{look}"') for look in ("sure", "may", "not"))
    assert drawn == circles


def test_what_has_no_interval_says_that_it_does_not_tell_how_sure_it_is() -> None:
    found = list_findings(ReportWords("en"), publish(*sample_ledger.ledger().released))
    without = [one for one in found if one.entry.item.kind in (ItemKind.MOST_COMMON, ItemKind.EXCEEDING)]
    assert len(without) == 2
    assert all("this release does not tell" in one.meaning for one in without)


def test_what_was_released_anew_takes_the_place_of_what_it_repeats() -> None:
    words = ReportWords("en")
    first, later = release_share(0.3, (0.2, 0.4)), release_share(0.29, (0.25, 0.33), number=2)
    (shown,) = list_findings(words, publish(first, later))
    assert shown.entry.entry == 2
    assert [one.replaced for one in list_all_findings(words, publish(first, later))] == [True, False]
    # The broken twin: what is about fewer versions is no repetition.
    wider = replace(first, covers=Covers((1, 2), "open", date(2026, 5, 9), None))
    assert len(list_findings(words, publish(wider, later))) == 2


def test_of_one_release_what_was_asked_for_itself_is_shown() -> None:
    words = ReportWords("en")
    figures = [make_figure("share", 0.3, (0.1, 0.5), ("coin", "yes"))]
    beside = sample_ledger.entry(2, Item(ItemKind.TABLE, ("coin", "party")), figures)
    (shown,) = list_findings(words, publish(release_share(0.3, (0.2, 0.4)), beside))
    assert shown.entry.entry == 1
    (later,) = list_findings(words, publish(release_share(0.3, (0.2, 0.4)), replace(beside, release=2)))
    assert later.entry.entry == 2


def test_a_group_is_called_higher_only_where_its_interval_says_so() -> None:
    words = ReportWords("en")

    def release_shares(high_of_peru: float) -> Released:
        figures = [
            make_figure("share", 0.3, (0.2, 0.4), ("coin", "yes")),
            *(
                make_figure("share", (low + high) / 2, (low, high), (STRATUM, path), ("coin", answer))
                for path, low, high in (("Spain", 0.35, 0.5), ("Peru", 0.1, high_of_peru))
                for answer in ("no", "yes")
            ),
        ]
        item = Item(ItemKind.TABLE, ("coin",), by_stratum=True)
        return sample_ledger.entry(1, item, figures)

    apart, over = (list(read_entry(words, release_shares(high), ASKED))[1] for high in (0.3, 0.36))
    assert apart.sentence == "“Yes” is more common in Spain than in the other groups."
    assert over.sentence == "These responses do not tell where “Yes” is the most common."


@pytest.mark.parametrize(("interval", "tells"), [((0.25, 0.35), True), ((0.1, 0.9), False)])
def test_a_sentence_that_states_nothing_does_not_look_like_a_finding(interval: Interval, tells: bool) -> None:
    (block,) = show_found(ReportWords("en"), release_share(0.3, interval), ASKED)
    assert block.tells == tells
    assert tells == ("do not tell" not in block.sentence)
    page = environment_of("en").get_template("documents/_blocks.html").module
    assert ("data-unsure" in str(page.block(block))) != tells  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("item", "statistic", "notes", "tells"),
    [
        (Item(ItemKind.MOST_COMMON, ("coin",)), "most_common", {}, False),
        (Item(ItemKind.EXCEEDING, ("coin",), share=Decimal("0.1")), "above", {}, False),
        (Item(ItemKind.TOP, ("coin",), how_many=1), "top", {"people_off": 12.0}, True),
    ],
)
def test_a_choice_of_which_nobody_says_how_sure_it_is_does_not_look_like_a_finding(
    item: Item, statistic: str, notes: dict[str, float], tells: bool
) -> None:
    chosen = Figure(statistic, (("coin", "yes"),), 1.0)
    entry = replace(sample_ledger.entry(1, item, [chosen]), notes=notes)
    (block,) = show_found(ReportWords("en"), entry, ASKED)
    assert block.tells == tells == ("such choices or more" in block.meaning)


@pytest.mark.parametrize("groups", [3, 40])
def test_numbers_of_groups_are_drawn_or_said_to_stand_elsewhere(groups: int) -> None:
    words = ReportWords("en")
    figures = [make_figure("respondents", 90, (80, 100))]
    figures += [make_figure("respondents", 9, (5, 13), (STRATUM, f"Place {each}")) for each in range(groups)]
    entry = sample_ledger.entry(1, Item(ItemKind.HIERARCHY), figures)
    finding = read(words, entry)
    assert bool(draw_finding(words, finding, ASKED)) == (groups == 3)
    assert ("under “What was released, with every number”" in finding.meaning) == (groups == 40)


def test_how_many_answered_is_said_only_as_it_was_released() -> None:
    count = sample_ledger.entry(1, Item(ItemKind.COUNT), [Figure("respondents", (), 613, 2.1, 609, 617)])
    assert find_answered(publish(release_share(0.3, (0.2, 0.4)))) is None
    found = find_answered(publish(count, release_share(0.3, (0.2, 0.4), number=2)))
    assert found is not None
    assert found.figure.value == 613
    inside = Item(ItemKind.COUNT, stratum=("Peru",))
    figure = Figure("respondents", ((STRATUM, "Peru"),), 613, 2.1, 609, 617)
    assert find_answered(publish(sample_ledger.entry(1, inside, [figure]))) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_release_is_found_under_a_name_of_its_own(language: str) -> None:
    words = ReportWords(language)
    found = list_all_findings(words, publish(*sample_ledger.ledger().released))
    names = [one.name for one in found]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[0-9a-z_-]+", name) for name in names)
    assert {one.entry.entry for one in found} == set(range(2, 10))  # the first is in the head of a report
    assert Decimal("0.2") in {one.entry.item.share for one in found}
    assert {one.picture for one in found} >= {
        Picture.DOTS,
        Picture.BARS,
        Picture.LINES,
        Picture.TABLE,
        Picture.TREE,
    }
