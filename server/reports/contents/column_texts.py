"""What releases from a table found, in words: no sentence says more than the noise allows."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from server.output.formatting import count_measured
from server.releases import STRATUM, Figure, Released
from server.releases.plans.items import ItemKind
from server.releases.plans.row_conditions import RowCondition
from server.releases.table_columns import EMPTY
from server.reports.contents import finding_texts
from server.reports.contents.figures import QuestionsByVersion, numbers, part, span, width_of
from server.reports.contents.finding_values import find_highest, range_of_mean, range_of_share
from server.reports.findings import Says
from server.reports.report_words import ReportWords

_SIGNS = {"equal": "=", "in": "in", "at_least": ">=", "more_than": ">", "at_most": "<=", "less_than": "<"}

FindingTexts = tuple[str, str]
"""What was found, and what that means."""


@dataclass(frozen=True)
class _Column:
    """As the sentences of a mean ask for a question: a column has no unit of its own."""

    unit: str = ""


def word_condition(condition: RowCondition) -> str:
    """A condition on one line."""
    values = ", ".join(value or EMPTY for value in condition.values)
    return f"{condition.column} {_SIGNS[condition.test]} {values}"


def say_columns(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> Iterator[FindingTexts]:
    """The sentences of an entry about columns of a table."""
    of = {figure.statistic: figure for figure in entry.figures}
    if "sum" in of:
        yield _say_sum(words, entry, of["sum"], questions)
    elif "variance" in of:
        yield _say_spread(words, entry, of["variance"], of["standard_deviation"], questions)
    elif "quantile" in of:
        yield _say_quantiles(words, entry, questions)
    elif "mean" in of:
        yield _say_mean(words, entry, of["mean"], questions)
    else:
        yield from _say_shares(words, entry, questions)


def _say_sum(
    words: ReportWords, entry: Released, figure: Figure, questions: QuestionsByVersion
) -> FindingTexts:
    """Cut to what is possible: where no number is below 0, no sum is, and the same above."""
    ends = span(entry, figure, questions)
    assert ends is not None  # it is of a number
    least, most = 0 if ends[0] >= 0 else -math.inf, 0 if ends[1] <= 0 else math.inf
    possible = figure.within(least, most)
    if possible.low == possible.high and possible != figure:
        return words.gettext("So near 0 that noise hides the sum."), ""
    low, high = _word_limits(words, entry, possible, questions)
    value = numbers(words, entry, possible, questions)[0].text
    return (
        words.gettext("The sum is %(low)s to %(high)s.", low=low, high=high),
        words.gettext("Best guess: %(guess)s.", guess=value),
    )


def _word_limits(
    words: ReportWords, entry: Released, figure: Figure, questions: QuestionsByVersion
) -> tuple[str, str]:
    """An interval as its chart has it, but rounded outwards: no sentence is more exact than the interval."""
    ends = span(entry, figure, questions)
    assert ends is not None  # it is of a number
    assert figure.low is not None
    assert figure.high is not None
    width = width_of(figure.statistic, ends)
    step = 10.0 ** -count_measured(width)
    low, high = math.floor(figure.low / step) * step, math.ceil(figure.high / step) * step
    return words.measure(low, width), words.measure(high, width)


def _say_spread(
    words: ReportWords, entry: Released, variance: Figure, deviation: Figure, questions: QuestionsByVersion
) -> FindingTexts:
    _ = words.gettext
    low, high = _word_limits(words, entry, deviation, questions)
    least, most = _word_limits(words, entry, variance, questions)
    parts = [_("Its square, the variance, is %(low)s to %(high)s.", low=least, high=most)]
    if deviation.value is not None:
        guess = numbers(words, entry, deviation, questions)[0].text
        parts.insert(0, _("Best guess: %(guess)s.", guess=guess))
    return _("The standard deviation is %(low)s to %(high)s.", low=low, high=high), " ".join(parts)


def _say_quantiles(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> FindingTexts:
    """One after the other; how far off they may be is known in rows alone, and said of the worst."""
    _ = words.gettext
    found = []
    for figure in entry.figures:
        number = numbers(words, entry, figure, questions)[0].text
        share = words.number(float(100 * Decimal(figure.place[-1][1])))
        found.append(_("at most %(share)s %% below %(number)s", share=share, number=number))
    off = max(float(entry.notes[f"rows_off_{figure.place[-1][1]}"]) for figure in entry.figures)
    return (
        _("Chosen as numbers with so many of the rows below them: %(numbers)s.", numbers="; ".join(found)),
        _(
            "Chance had a part in the choice. In %(confidence)s of 100 such choices or more, at most %(rows)s rows too "
            "many lie below such a number, or above it.",
            confidence=words.level(entry.confidence),
            rows=words.integer(math.ceil(off)),
        ),
    )


def _say_mean(
    words: ReportWords, entry: Released, figure: Figure, questions: QuestionsByVersion
) -> FindingTexts:
    ends = span(entry, figure, questions)
    if ends is None or figure.low is None or figure.high is None:
        return "", ""
    extent = range_of_mean(part(words, entry, figure.place[-1], questions), figure, ends)
    sentence = words.macro(finding_texts.SENTENCES, "mean_range", _Column(), extent)
    if extent.says == Says.IMPOSSIBLE:
        return sentence, _explain_impossible(words)
    if extent.says == Says.NOT_TOLD:
        return sentence, finding_texts.explain_open(words)
    guess = "" if extent.guess is None else words.number(extent.guess)
    return sentence, guess and words.gettext("Best guess: %(guess)s.", guess=guess)


def _explain_impossible(words: ReportWords) -> str:
    """Rows are what they are: nothing but noise takes a number of theirs there."""
    return words.gettext("The noise took it beyond what is possible.")


def _say_shares(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> Iterator[FindingTexts]:
    """Of each column by itself; what places have is a table, of which no sentence tells."""
    alone: dict[str, list[Figure]] = {}
    for figure in entry.figures:
        known = figure.statistic == "share" and figure.low is not None and len(figure.place) == 1
        if known and figure.place[0][0] != STRATUM:
            alone.setdefault(figure.place[0][0], []).append(figure)
    for name, figures in alone.items():
        of = f"{name} – " if len(alone) > 1 else ""
        ranges = [
            range_of_share(part(words, entry, figure.place[0], questions), figure) for figure in figures
        ]
        if len(ranges) == 1 or entry.item.kind == ItemKind.EXCEEDING:  # of which others are not known
            for own in ranges:
                meaning = (
                    _explain_impossible(words)
                    if own.says == Says.IMPOSSIBLE
                    else finding_texts.explain_share(words, own, False)
                )
                yield of + finding_texts.say_share(words, own), meaning
        else:
            highest = find_highest(ranges)
            yield (
                of + finding_texts.say_answers(words, highest),
                finding_texts.explain_answers(words, ranges, highest, False),
            )
