"""Estimates by stratum, and how many responded where and when."""

from collections.abc import Iterator, Sequence

from server.output import charts
from server.output.charts import PlottedGroup
from server.output.documents import Block, Cell, Chart, Paragraph, Plot, Section, Table, Text
from server.reports.contents import cell_texts
from server.reports.contents.collection_charts import draw_days, name_timeline, span
from server.reports.contents.estimate_sections import (
    MOST_DRAWN,
    PERCENT,
    figures,
    keep_remarks,
    percent_label,
    remark_on,
    word_estimate,
)
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow
from server.reports.forest import figures as figures_of
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.reports.stratum_estimates import StratumReport


def days(words: ReportWords, report: Report) -> Iterator[Block]:
    """Responses per day, days with few of them together; per week where there are many days."""
    timeline = report.timeline
    periods = timeline.periods
    if len(periods) < 2:
        return
    _ = words.gettext
    weeks = _(
        "A week is from Monday to Sunday; the first and the last one may not be whole. Days that are taken together "
        "count in the week in which the last of them is."
    )
    notes = (
        *((weeks,) if timeline.weekly else ()),
        _(
            "Days with fewer than %(minimum)s responses are taken together with others.",
            minimum=words.integer(report.minimum),
        ),
        _(
            "A response counts on the day from which it was shown, which may be later than the day on which it came: "
            "the last ones are shown when the survey is closed."
        ),
    )
    rows = tuple(
        (Text(span(words, period)), cell_texts.count(words, period.days), cell_texts.count(words, period.n))
        for period in periods
    )
    head = _("Week") if timeline.weekly else _("Day")
    yield Table("days", name_timeline(words, timeline), (head, _("days"), _("responses")), rows, notes)
    yield draw_days(words, report)


def describe_tree(words: ReportWords, report: Report) -> Iterator[Block]:
    """The tree of strata with the responses of each, as far as they may be told."""
    _ = words.gettext
    most = max((entry.n for entry in report.unweighted), default=0)
    entry = next((entry for entry in report.unweighted if entry.n == most), None)
    groups = [] if entry is None else report.strata(entry)
    if not groups:
        return
    caption = _("Responses by stratum")
    rows = tuple(
        (
            name(words, group),
            cell_texts.count(words, group.population),
            cell_texts.count(words, group.n),
            Text(_("withheld") if group.withheld else ""),
        )
        for group in groups
    )
    columns = (_("Stratum"), _("population"), _("responses"), _("remark"))
    notes = () if not any(group.withheld for group in groups) else (withheld_note(words, report),)
    yield Table("strata", caption, columns, rows, notes)
    if len(groups) <= MOST_DRAWN:
        made = charts.tree(caption, [_branch(words, group) for group in groups])
        yield Chart(made.svg, caption, made.alternative)


def by_stratum(words: ReportWords, report: Report) -> Iterator[Section]:
    """A section for each question, if there are strata."""
    for number, entry in enumerate(report.questions, start=1):
        groups = report.told_strata(entry)
        if groups and entry.n:
            blocks = tuple(_blocks(words, report, entry, groups, number))
            yield Section(
                f"stratum-{number}", cell_texts.quote_question(report.definition, entry.question), blocks
            )


def withheld_note(words: ReportWords, report: Report) -> str:
    """Why some groups say nothing."""
    return words.gettext(
        "Withheld are strata with fewer than %(minimum)s responses, to all versions or to one, and, where a "
        "difference would tell what they hold, the next smallest beside them.",
        minimum=words.integer(report.minimum),
    )


def name(words: ReportWords, group: StratumReport) -> Text:
    """What a group is called: the tree's top, a stratum with those it is in, or those without one."""
    _ = words.gettext
    if group.own_link:
        return Text(_("Without stratum"))
    if group.depth:
        return Text(group.path, from_survey=True)
    weighted = group.weighted
    return Text(_("All strata") if weighted else _("All responses"), strong=True)


def _branch(words: ReportWords, group: StratumReport) -> PlottedGroup:
    label = group.name if group.depth and not group.own_link else name(words, group).text
    shown = words.gettext("withheld") if group.n is None else words.integer(group.n)
    return PlottedGroup(group.depth, label, shown, group.n)


def _blocks(
    words: ReportWords, report: Report, entry: QuestionReport, groups: Sequence[StratumReport], number: int
) -> Iterator[Block]:
    _ = words.gettext
    weighted = any(group.weighted for group in groups)
    confidence = words.level(report.confidence)
    columns: tuple[str, ...] = (
        _("Stratum"),
        _("Answer"),
        *((_("weighted"),) if weighted else ()),
        _("responses"),
        _("estimate"),
        _("standard error"),
        _("%(confidence)s %% interval, from", confidence=confidence),
        _("to"),
    )
    rows = [row for group in groups for row in _rows(words, report, entry, group, weighted)]
    notes: tuple[str, ...] = (withheld_note(words, report),) * any(group.withheld for group in groups)
    columns, rows, notes = keep_remarks(words, columns, rows, notes)
    caption = _("By stratum: %(question)s", question=entry.question.text)
    yield Table(f"strata-{number}", caption, columns, tuple(rows), notes)
    chosen = figures_of(entry)
    if len(chosen) == 1 and len(groups) <= MOST_DRAWN:
        yield draw_strata(words, report, groups, *chosen[0])


def _rows(
    words: ReportWords, report: Report, entry: QuestionReport, group: StratumReport, weighted: bool
) -> Iterator[tuple[Cell, ...]]:
    _ = words.gettext
    head, n = name(words, group), cell_texts.count(words, group.n)
    how: tuple[Cell, ...] = ()
    if weighted:
        how = (Text(_("by population") if group.weighted else _("no")),)
    if group.report is None:
        said_so = Text(_("withheld") if group.withheld else cell_texts.describe_nobody(words, report))
        yield (head, said_so, *how, n, *[cell_texts.share(words, None)] * 4, Text(""))
        return
    for _name, figure in figures_of(group.report):
        numbers = *figures(words, figure), remark_on(words, figure)
        yield (head, label(words, report, entry, figure), *how, n, *numbers)


def label(words: ReportWords, report: Report, entry: QuestionReport, figure: ShareRow | ReportMean) -> Text:
    """What a figure is of: an answer, or the mean."""
    if isinstance(figure, ShareRow):
        return cell_texts.answer(report.definition, entry.question, figure.index)
    return Text(words.macro("words/estimates.html", "mean_label", entry.question, figure))


def draw_strata(
    words: ReportWords,
    report: Report,
    groups: Sequence[StratumReport],
    which: str,
    chosen: ShareRow | ReportMean,
) -> Chart:
    """One figure in every group, the whole survey's behind all of them; a group that is withheld says so."""
    _ = words.gettext
    found = [None if group.report is None else dict(figures_of(group.report))[which] for group in groups]
    shown = [None if figure is None or figure.value is None else figure for figure in found]
    rows = [
        charts.PlottedEstimate(
            group.name if group.depth and not group.own_link else name(words, group).text,
            _word_group(words, report, group, figure),
            None if figure is None else figure.value,
            None if figure is None else figure.interval(anytime=False),
            depth=max(group.depth - 1, 0),
        )
        for group, figure in zip(groups, shown, strict=True)
    ]
    caption = _("By stratum, with %(confidence)s %% intervals", confidence=words.level(report.confidence))
    reached = [figure.interval(anytime=False) for figure in shown if figure is not None]
    behind = None if shown[0] is None else shown[0].value
    if isinstance(chosen, ShareRow):
        mark: charts.Label = percent_label
        axis, form = charts.share_axis(reached), PERCENT
    else:
        lows, highs = (
            [chosen.low, *(low for low, _ in reached)],
            [chosen.high, *(high for _, high in reached)],
        )
        axis = charts.mean_axis(chosen.low, chosen.high, (min(lows), max(highs)))
        mark, form = words.number, cell_texts.measure(words, None, chosen.high - chosen.low).form
    made = charts.estimates(caption, rows, axis, mark, behind)
    points = tuple(row for row in rows if row.value is not None)
    plot = Plot(points, axis, form, bars=isinstance(chosen, ShareRow)) if points else None
    return Chart(made.svg, caption, made.alternative, plot)


def _word_group(
    words: ReportWords, report: Report, group: StratumReport, figure: ShareRow | ReportMean | None
) -> str:
    if figure is not None:
        return word_estimate(words, figure)
    if group.withheld:
        return words.gettext("withheld")
    return words.gettext("No mean.") if group.n else cell_texts.describe_nobody(words, report)


def left_to_a_file(words: ReportWords) -> Paragraph:
    """Where the estimates of deeper strata are."""
    return Paragraph(
        Text(
            words.gettext(
                "There are so many strata that estimates of deeper ones are in a file of their own: the page of "
                "results has it for each question."
            )
        )
    )


def introduce_tables(words: ReportWords) -> Paragraph:
    """What the tables by stratum say."""
    return Paragraph(
        Text(
            words.gettext(
                "Where it says so, every stratum counts as much as its population (post-stratification); "
                "elsewhere every response counts the same."
            )
        )
    )
