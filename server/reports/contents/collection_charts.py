"""How collecting goes, drawn for pages and paper: responses per day, and strata against their targets."""

from server.output import charts
from server.output.charts import DayBar, PlottedEstimate
from server.output.documents import Chart
from server.reports.chart_shapes import bars
from server.reports.collection_progress import CollectionProgress, StratumProgress
from server.reports.contents.estimate_sections import percent_label
from server.reports.day_counts import Period, Timeline
from server.reports.report import Report
from server.reports.report_words import ReportWords


def draw_days(words: ReportWords, report: Report) -> Chart:
    """Bars whose area is their number; of two periods or more."""
    timeline = report.timeline
    periods = timeline.periods
    caption = name_timeline(words, timeline)
    drawn = [
        DayBar(bar.start, bar.width, bar.height, f"{span(words, period)}: {words.integer(period.n)}")
        for bar, period in zip(bars(periods), periods, strict=True)
    ]
    most = words.integer(round(timeline.highest))
    made = charts.bars(caption, drawn, words.day(periods[0].first), words.day(periods[-1].last), most)
    return Chart(made.svg, caption, made.alternative)


def name_timeline(words: ReportWords, timeline: Timeline) -> str:
    """What its bars are."""
    return words.gettext("Responses per week") if timeline.weekly else words.gettext("Responses per day")


def span(words: ReportWords, period: Period) -> str:
    """A day, or from the first to the last of several."""
    if period.days == 1:
        return words.day(period.first)
    return words.gettext("%(low)s to %(high)s", low=words.day(period.first), high=words.day(period.last))


def draw_targets(words: ReportWords, progress: CollectionProgress) -> Chart:
    """Of each stratum that has a target, which part of it is shown; none where it is withheld, or nothing is."""
    caption = words.gettext("Strata and their targets")
    rows = [
        PlottedEstimate(
            stratum.name,
            _word(words, stratum),
            stratum.reached if stratum.n else None,
            None,
            depth=stratum.depth - 1,
        )
        for stratum in progress.strata
        if stratum.target
    ]
    made = charts.histogram(caption, rows, charts.part_axis(progress.scale), percent_label)
    return Chart(made.svg, caption, made.alternative)


def _word(words: ReportWords, stratum: StratumProgress) -> str:
    if stratum.n is None:
        return words.gettext("withheld")
    if not stratum.n:
        return words.gettext("none shown")
    return words.gettext(
        "%(n)s of %(target)s", n=words.integer(stratum.n), target=words.integer(stratum.target or 0)
    )
