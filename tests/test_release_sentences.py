"""No sentence about a column of a table says more than what was released of it."""

import io
import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from server.releases import Figure, Released
from server.releases.dividing import divide
from server.releases.noise_shapes import ChoiceOdds, read_noise
from server.releases.plans.items import Item, ItemKind
from server.releases.plans.plan_reader import parse_plan
from server.releases.table_columns import parse_columns
from server.releases.table_files import read_table
from server.releases.table_releases import release_table, table_source
from server.releases.values import Covers
from server.reports.contents.finding_texts import explain_sureness
from server.reports.contents.noise_chart import show_noise
from server.reports.contents.release_sections import explain_errors, sections
from server.reports.contents.release_sentences import say_entry, share_sureness
from server.reports.contents.table_release_document import NO_SURVEY
from server.reports.report_words import ReportWords
from tests.support import sample_ledger

OPEN = "Chance leaves more than half of what is possible open."
SURE = (
    "Each range by itself holds the number without noise in about 95 of 100 such releases; "
    "of 100 ranges, about 5 miss it."
)
BEYOND = "The noise took it beyond what is possible."


def of_table(item: Item, figures: Sequence[Figure], **notes: float) -> Released:
    covers = Covers((), "table", sample_ledger.COVERS.until, None)
    return replace(sample_ledger.entry(1, item, list(figures)), covers=covers, notes=notes)


def say(item: Item, figures: Sequence[Figure], **notes: float) -> list[tuple[str, ...]]:
    said = say_entry(ReportWords("en"), of_table(item, figures, **notes), NO_SURVEY)
    return [tuple(map(read, pair)) for pair in said]


def read(text: str) -> str:
    """As somebody reads it: wherever lines may end."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("value", "low", "high", "meaning"),
    [
        (50.0, 40.0, 60.0, f"Best guess: 50. {SURE}"),
        (130.0, 121.0, 139.0, f"{BEYOND} {SURE}"),
        (-9.0, -12.0, -3.0, f"{BEYOND} {SURE}"),
        (130.0, 0.0, 119.0, f"{OPEN} {SURE}"),
        (None, 0.0, 119.0, f"{OPEN} {SURE}"),
    ],
)
def test_a_mean_that_is_not_known_has_no_best_guess(
    value: float | None, low: float, high: float, meaning: str
) -> None:
    figure = Figure("mean", (("age", ""),), value, 1.0, low, high)

    ((_sentence, explained),) = say(Item(ItemKind.MEAN, ("age",)), [figure], lowest=0.0, highest=119.0)

    assert explained == meaning


def test_nobody_answers_a_table_wrongly() -> None:
    figure = Figure("share", (("sex", "male"),), -0.2, 0.05, -0.3, -0.1)

    ((_sentence, explained),) = say(Item(ItemKind.SHARE, ("sex",), option="male"), [figure])

    assert explained == f"{BEYOND} {SURE}"


def test_a_quantile_is_told_as_the_number_that_was_chosen() -> None:
    """Half of the rows may have that very number: rounded up, they would all lie below it."""
    item = Item(ItemKind.QUANTILES, ("pay",), levels=(Decimal("0.25"),))
    figure = Figure("quantile", (("pay", "0.25"),), 3437.5)

    ((sentence, _meaning),) = say(item, [figure], lowest=-100.0, highest=9000.0, **{"rows_off_0.25": 3.2})

    # As many as that, and no more: of rows that all have the same number none lies below it.
    assert sentence.endswith("rows below them: at most 25 % below 3437.5.")


def test_answers_that_came_out_above_are_not_held_against_others_that_were_not_counted() -> None:
    item = Item(ItemKind.EXCEEDING, ("sex",), share=Decimal("0.1"), positives=2, values=True)
    above = [Figure("above", (("sex", name),), value) for name, value in (("a", 1), ("b", 1), ("c", None))]
    shares = [
        Figure("share", (("sex", name),), value, 0.01, value - 0.02, value + 0.02)
        for name, value in (("a", 0.2), ("b", 0.12))
    ]

    found = [sentence for sentence, _meaning in say(item, [*above, *shares])]

    assert found[1:] == ["“a” is true of 18 to 22 of 100.", "“b” is true of 10 to 14 of 100."]


@pytest.mark.parametrize(
    ("item", "figure", "expected"),
    [
        (Item(ItemKind.COUNT), Figure("respondents", (), 1999, 5.0, 1989, 2009), SURE),
        (Item(ItemKind.COUNT), Figure("respondents", (), 2000, 0.0, 2000, 2000), ""),  # public already
        (
            Item(ItemKind.SHARE, ("copied",), option="yes"),
            Figure("share", (("copied", "yes"),), 0.28, 0.02, 0.24, 0.33),
            "Each range by itself holds the truth in about 90 of 100 such surveys; of 100 ranges, about 10 miss it.",
        ),
        (Item(ItemKind.MOST_COMMON, ("copied",)), Figure("most_common", (("copied", "yes"),), None), ""),
    ],
)
def test_a_sentence_with_a_range_says_how_sure_it_is(item: Item, figure: Figure, expected: str) -> None:
    """Copied or printed by itself, it must not be taken for certain."""
    of_survey = item.kind == ItemKind.SHARE
    entry = replace(sample_ledger.entry(1, item, [figure]), confidence=0.9 if of_survey else 0.95)

    assert read(explain_sureness(ReportWords("en"), entry)) == expected


def test_what_is_true_of_the_ranges_of_all_entries_is_said_once() -> None:
    """Where they differ, once below each entry: never below each of its sentences."""
    words, ranged = ReportWords("en"), "Each range by itself"
    count = sample_ledger.entry(1, Item(ItemKind.COUNT), [Figure("respondents", (), 1999, 5.0, 1989, 2009)])
    both = [Figure("share", (("copied", answer),), 0.28, 0.02, 0.24, 0.33) for answer in ("yes", "no")]
    shares = sample_ledger.entry(2, Item(ItemKind.HISTOGRAM, ("copied",)), both)
    for entries, said, below in (
        ((count, count), SURE, 0),
        ((shares, shares), "Each range by itself holds the truth", 0),
        ((count, shares), "Ranges of numbers of responses hold the noise alone.", 0),
        ((count, replace(shares, confidence=0.5)), "", 1),
    ):
        before = share_sureness(words, entries)
        assert said in read(before)
        assert bool(said) == bool(before)
        assert [str(section).count(ranged) for section in sections(words, entries, NO_SURVEY)] == [below] * 2
        assert sum(str(one).count(ranged) for one in explain_errors(words, entries)) == bool(said)


def test_what_is_behind_is_told_of_each_option_by_itself() -> None:
    """All rows have one number: any other is five rows off, and there are thousands of them."""
    rows = table_source(
        read_table(
            io.BytesIO(b"pay\n" + b"5000\n" * 10),
            parse_columns({"columns": {"pay": {"low": 0, "high": 9000, "step": 1}}}),
            lambda _: None,
        )
    )
    asked = {"kind": "quantiles", "question": "pay"}
    plan = divide(parse_plan({"format": 1, "items": [asked], "epsilon": 1}), rows.shape)
    made = [release_table(plan, rows)[0] for _ in range(100)]
    off = sum(entry.figures[0].value != 5000 for entry in made)
    shape = read_noise(made[0])
    assert isinstance(shape, ChoiceOdds)

    shown = show_noise(ReportWords("en"), ItemKind.QUANTILES, shape, 0.95)

    assert off > 90
    assert 100 * math.exp(-5 * shape.rate) < 10  # of a given one: said of all of them, that would be wrong
    assert shown is not None
    assert shown.chart is not None
    assert "That holds of each by itself" in shown.text
    assert "one given number" in shown.chart.caption


def test_limits_at_one_place_are_told_once() -> None:
    shown = show_noise(ReportWords("en"), ItemKind.MOST_COMMON, ChoiceOdds(50.0), 0.95)

    assert shown is not None
    assert shown.chart is not None
    assert read(shown.chart.alternative) == "by 1: at most 1 of 100."


def test_answers_are_quoted_as_the_language_does() -> None:
    item = Item(ItemKind.TOP, ("sex",), how_many=2)
    figures = [Figure("top", (("sex", name),), None) for name in ("a", "b")]

    ((sentence, _meaning),) = say_entry(ReportWords("es"), of_table(item, figures, people_off=3.0), NO_SURVEY)

    assert "«a», «b»" in sentence
    assert "“" not in sentence
