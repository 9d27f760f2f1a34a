"""What an answer goes with, as a part of a document: a table, a drawing of the odds ratios, and what must be known."""

import math
from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial

from server.inputs import N_
from server.output import charts, formatting
from server.output.charts import PlottedEstimate
from server.output.documents import Block, Cell, Chart, Number, Section, Table, Text
from server.privacy.estimators.explained_effects import ExplainedEffect
from server.privacy.estimators.limits import normal_quantile
from server.reports.chart_shapes import count_doublings, ratio_axis
from server.reports.contents import cell_texts
from server.reports.contents.methods import make_paragraph
from server.reports.explaining import ExplainedAnswer, ExplainedPredictor, say_effect
from server.reports.explaining.chosen_columns import CoinColumn, KnownColumn
from server.reports.explaining.explained_columns import ExplainedStep
from server.reports.explaining.explained_notes import list_notes
from server.reports.explaining.explained_rows import OTHERS, STRATUM, TREND, WEEK
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.reports.weighting_notes import UNWEIGHTED, list_weighting
from server.study.answer_texts import answer_text
from server.study.definitions import Definition


def build_explanation(words: ReportWords, report: Report, explained: ExplainedAnswer) -> Section:
    """The section of a report about what an answer goes with."""
    title = words.gettext("What “%(answer)s” goes with", answer=explained.name)
    plain = explained.unweighted
    below = () if plain is None else tuple(describe_explanation(words, report, plain, _UNWEIGHTED))
    sections = (Section("explanation-unweighted", Text(words.gettext(UNWEIGHTED)), below),) if below else ()
    return Section(
        "explanation", Text(title), tuple(describe_explanation(words, report, explained)), sections
    )


_UNWEIGHTED = "explained-unweighted"
_POINTS = 100
_OPEN_RANGES = N_("%(estimate)s (at least %(low)s)"), N_("%(estimate)s (at most %(high)s)")
_KNOWN = {STRATUM: N_("Stratum"), WEEK: N_("Week, each by itself"), TREND: N_("Week, as a trend")}


def describe_explanation(
    words: ReportWords, report: Report, explained: ExplainedAnswer, name: str = "explained"
) -> Iterator[Block]:
    """A row for each step of each predictor, the odds ratios drawn, and what must be known of all."""
    _, found = words.gettext, explained.explanation
    named = ExplainedNames(words, report.definition)
    steps = [
        (predictor, step, effect) for predictor in explained.predictors for step, effect in predictor.steps
    ]

    def write(value: float, digits: int) -> str:
        return formatting.ratio(value, words.locale, digits)

    rows: list[tuple[Cell, ...]] = [
        (
            named.call_column(predictor.column),
            named.call_step(explained, predictor, step),
            Text(say_effect(explained, effect, words.gettext, write)),
            *_average(words, explained, effect),
            cell_texts.p_value(words, predictor.test.p_value),
        )
        for predictor, step, effect in steps
    ]
    title = _("What “%(answer)s” goes with", answer=explained.name)
    first = named.call_answer(explained.outcome, 0) if explained.outcome.levels else ""
    notes = tuple(list_notes(explained, words.gettext, first, words.p_value, words.integer))
    yield make_paragraph(_say_of_whom(words, report, explained))
    short = ""
    if name == _UNWEIGHTED:
        title, short = f"{title} · {_('not weighted')}", _("Explained, unweighted")
    yield Table(name, title, _name_columns(words, explained), tuple(rows), notes, short)
    if explained.model != "linear":
        yield _draw(words, named, explained, steps)
    template = N_(
        "All of these together: likelihood-ratio test, chi-squared %(statistic)s, degrees of freedom %(freedom)s, "
        "%(p)s."
    )
    if explained.model == "linear":
        template = N_(
            "All of these together: Wald test, chi-squared %(statistic)s, degrees of freedom %(freedom)s, %(p)s."
        )
    if not math.isnan(found.test.p_value):
        yield make_paragraph(
            _(
                template,
                statistic=words.number(round(found.test.statistic, 2)),
                freedom=words.integer(found.test.degrees_of_freedom),
                p=words.p_value(found.test.p_value),
            )
        )


def _name_columns(words: ReportWords, explained: ExplainedAnswer) -> tuple[str, ...]:
    _ = words.gettext
    confidence = words.level(explained.explanation.confidence)
    odds = _("Odds, with their %(confidence)s %% interval", confidence=confidence)
    average = _("likelier on average, in points")
    if explained.model == "linear":
        odds = _("Mean, with its %(confidence)s %% interval", confidence=confidence)
        return _("Predictor"), _("Step"), odds, _("p value")
    if explained.model == "cumulative":
        average = _("levels higher on average")
    within = _("with its %(confidence)s %% interval", confidence=confidence)
    return _("Predictor"), _("Step"), odds, average, within, _("p value")


class ExplainedNames:
    """What is chosen to be explained, or to explain, in its own words."""

    def __init__(self, words: ReportWords, definition: Definition) -> None:
        self._words, self._definition = words, definition

    def call_column(self, column: CoinColumn | KnownColumn) -> Text:
        """A question as it was asked, one answer of it, the strata, or a column of what is known."""
        if isinstance(column, CoinColumn):
            place = column.question.answers.index("no") if column.flips else column.answer
            text = column.question.text
            return self._quote(text if place is None else f"{text} · {self.call_answer(column, place)}")
        if column.name == STRATUM or column.weekly:
            return Text(self.call_known(column.name))
        return Text(column.name, from_survey=True)

    def call_known(self, name: str) -> str:
        """What is known of responses to a survey."""
        return self._words.gettext(_KNOWN[name])

    def call_step(
        self, explained: ExplainedAnswer, predictor: ExplainedPredictor, step: ExplainedStep
    ) -> Text:
        """A level beside the one that it is compared with, or one more of a number; of several answers which."""
        called = self._call_level(predictor, step.name)
        if step.answer is None:
            return called
        answers = (self.call_answer(explained.outcome, place) for place in (step.answer, 0))
        return self._quote(f"{called.text}: {' / '.join(answers)}")

    def _call_level(self, predictor: ExplainedPredictor, step: str) -> Text:
        column, first = predictor.column, predictor.reference
        if isinstance(column, KnownColumn) and column.weekly:
            spans = " / ".join(self._call_weeks(level) for level in (step, first)) if first else ""
            return Text(spans or self._words.gettext("a week later"))
        if not first:
            return Text(step)
        if isinstance(column, KnownColumn):
            others = self._words.gettext("others")
            known = [others if level == OTHERS else level for level in (step, first)]
            return Text(" / ".join(known), from_survey=True)
        if column.answer is None:
            answers = column.question.answers
            return self._quote(
                " / ".join(self.call_answer(column, answers.index(level)) for level in (step, first))
            )
        chosen = self.call_answer(column, column.answer)
        return self._quote(f"{chosen} / {self._words.gettext('not: %(answer)s', answer=chosen)}")

    def _call_weeks(self, level: str) -> str:
        """From the first to the last day of a level of weeks."""
        first, last = (self._words.day(date.fromisoformat(day)) for day in level.split("/"))
        return self._words.gettext("%(low)s to %(high)s", low=first, high=last)

    def call_answer(self, column: CoinColumn, place: int) -> str:
        """An answer of its question, as respondents read it."""
        return answer_text(column.question, place, self._definition.language)

    def _quote(self, text: str) -> Text:
        return cell_texts.quote_text(self._definition, text)


def _say_of_whom(words: ReportWords, report: Report, explained: ExplainedAnswer) -> str:
    _, n = words.gettext, explained.rows
    parts = [words.ngettext("%(num)s response", "%(num)s responses", n, num=words.integer(n))]
    if not explained.weighted or explained.weighed is not None:
        parts.append(" ".join(list_weighting(explained.weighed, _)))
    if len(explained.versions) < len(report.versions):
        numbers = ", ".join(map(str, sorted(explained.versions)))
        parts.append(_("Only of versions %(numbers)s, which ask all of it.", numbers=numbers))
    return " · ".join(parts)


def _average(
    words: ReportWords, explained: ExplainedAnswer, effect: ExplainedEffect
) -> tuple[Number | Text, ...]:
    if explained.model == "linear":
        return ()
    times = 1 if explained.model == "cumulative" else _POINTS
    width = len(explained.outcome.levels) - 1.0 if explained.model == "cumulative" else _POINTS
    if not effect.tells:
        return cell_texts.measure(words, None, width), Text("–")
    average = cell_texts.measure(words, times * effect.average, width)
    if effect.open:  # the error says too little there: docs/privacy/regression.md has how often it covers
        return average, Text("–")
    reach = normal_quantile(explained.explanation.confidence) * effect.average_error
    extent = words.gettext(
        "%(low)s to %(high)s",
        low=words.measure(times * (effect.average - reach), width),
        high=words.measure(times * (effect.average + reach), width),
    )
    return average, Text(extent)


def _cut_open(effect: ExplainedEffect) -> tuple[float, float]:
    """An interval up to its odds ratio, on a side where it has no end."""
    low, high = effect.odds_ratio_interval
    return low or effect.odds_ratio, effect.odds_ratio if math.isinf(high) else high


def _draw(
    words: ReportWords,
    named: ExplainedNames,
    explained: ExplainedAnswer,
    steps: Sequence[tuple[ExplainedPredictor, ExplainedStep, ExplainedEffect]],
) -> Chart:
    """Odds ratios on one axis of doublings; where the responses do not tell, none is drawn."""
    axis = ratio_axis([_cut_open(effect) for _, _, effect in steps if effect.tells])
    write = partial(formatting.ratio, locale=words.locale)
    title, drawn, rows = words.gettext("Odds ratios"), None, []
    for predictor, step, effect in steps:
        low, high = effect.odds_ratio_interval
        sentence = words.gettext("not told")
        if effect.tells:
            digits = formatting.count_digits((effect.odds_ratio, low, high, 1.0))
            sentence = words.gettext(
                _OPEN_RANGES[low == 0] if effect.open else N_("%(estimate)s (%(low)s to %(high)s)"),
                estimate=write(effect.odds_ratio, digits=digits),
                low=write(low, digits=digits),
                high=write(high, digits=digits),
            )
        rows.append(
            PlottedEstimate(
                named.call_step(explained, predictor, step).text,
                sentence,
                count_doublings(effect.odds_ratio) if effect.tells else None,
                (count_doublings(low), count_doublings(high)) if effect.tells else None,
                "" if predictor is drawn else named.call_column(predictor.column).text,
            )
        )
        drawn = predictor
    made = charts.estimates(title, rows, axis, lambda mark: write(2.0**mark), 0.0)
    return Chart(made.svg, title, made.alternative)
