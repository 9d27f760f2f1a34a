"""Estimates from rows of a table from elsewhere that count differently, and how they were drawn."""

import math
from collections.abc import Iterator, Mapping

from server.inputs import N_
from server.output.documents import Block, Cell, Table, Text
from server.reports.contents import cell_texts
from server.reports.contents.methods import make_paragraph
from server.reports.contents.sample_table_section import draw_sample_tables
from server.reports.contents.sample_together_section import draw_sampled_together
from server.reports.elsewhere.sample_estimates import UNEVEN, SampleReport, SampleRow
from server.reports.elsewhere.sample_margins import FEWEST_ROWS
from server.reports.elsewhere.sampling import Sampling, StatedReplicates
from server.reports.report import Report
from server.reports.report_words import ReportWords

EVEN_ROWS = N_(
    "Findings, and all tables but those under “Estimates for the population”, count every row once, however the rows "
    "were drawn."
)
EVEN_ROWS_BUT_MODELS = N_(
    "Findings, and all tables but those under “Estimates for the population” and “Models”, count every row once, "
    "however the rows were drawn."
)


def describe_sample(words: ReportWords, report: Report, sample_report: SampleReport) -> Iterator[Block]:
    """What makes rows count differently, and a line for each share and mean."""
    _ = words.gettext
    yield make_paragraph(say_drawing(words, sample_report))
    title = _("Estimates for the population")
    columns = (
        _("Question"),
        _("Answer"),
        _("responses"),
        _("estimate"),
        _("standard error"),
        _("%(confidence)s %% interval, from", confidence=words.level(report.confidence)),
        _("to"),
        _("design effect"),
        _("effective number of rows"),
    )
    by_drawing = N_(
        "Intervals are by linearisation and Student’s t, over clusters, or over rows where there are none. They need "
        "some dozens of these to hold."
    )
    by_replicates = N_(
        "Intervals are by replicate weights and Student’s t. They need some dozens of clusters, or of rows where there "
        "are none, to hold."
    )
    notes = (
        _(by_drawing if sample_report.sampling.replicates is None else by_replicates),
        _(
            "The design effect is the variance over that of as many rows drawn evenly and one by one; the effective "
            "number of rows is how many of these would say as much. Estimates are not cut at 0 or 100 %%."
        ),
    )
    yield Table(
        "population-estimates",
        title,
        columns,
        tuple(_row(words, report, row) for row in sample_report.rows),
        notes,
    )
    yield from draw_sample_tables(words, report, sample_report.tables)
    yield from draw_sampled_together(words, report, sample_report.together)


def say_drawing(words: ReportWords, sample_report: SampleReport) -> str:
    """What makes rows count differently."""
    return " ".join(_list_sentences(words, sample_report))


def _list_sentences(words: ReportWords, sample_report: SampleReport) -> Iterator[str]:
    _, sampling = words.gettext, sample_report.sampling
    if sampling.weights is not None:
        yield _("Weights are those of the column %(name)s.", name=sampling.weights)
    elif sampling.margins:
        yield _("Every row has the same weight at first.")
    else:
        yield _("Every row has the same weight.")
    if sampling.margins:
        names = ", ".join(margin.name for margin in sampling.margins)
        yield _(
            "Weights were raked to the population’s shares by: %(names)s. Intervals make up for what these tell.",
            names=names,
        )
    for margin, total in sample_report.rescaled:
        yield _(
            "The shares of %(margin)s add up to %(total)s, not to 1 or 100: each counts as its part of that.",
            margin=margin,
            total=words.number(total),
        )
    for margin, groups in sample_report.collapsed:
        yield _(
            "Of %(margin)s, groups of fewer than %(fewest)s rows were taken together with the one beside: %(groups)s.",
            margin=margin,
            fewest=words.integer(FEWEST_ROWS),
            groups=" + ".join(groups),
        )
    if sample_report.strata is not None:
        yield from _say_strata(words, sample_report, sample_report.strata)
    if sample_report.clusters is not None:
        yield _(
            "Rows were drawn in %(count)s clusters, named by the column %(name)s.",
            count=words.integer(sample_report.clusters),
            name=sampling.clusters,
        )
    if sampling.population is not None:
        yield from _say_population(words, sampling, clusters=sample_report.clusters is not None)
    if sampling.replicates is not None:
        yield from _say_replicates(words, sample_report, sampling.replicates)
    if sample_report.uneven:
        yield _(UNEVEN)
    yield _(
        "Kish’s design effect of the weights: %(effect)s.",
        effect=words.number(float(f"{sample_report.kish:.3g}")),
    )


def _say_strata(words: ReportWords, sample_report: SampleReport, strata: int) -> Iterator[str]:
    _ = words.gettext
    yield _(
        "Rows were drawn apart from %(count)s strata, named by the column %(name)s.",
        count=words.integer(strata),
        name=sample_report.sampling.strata,
    )
    lonely = sample_report.drawn.design.units.lonely
    if lonely:
        yield words.ngettext(
            "Of %(num)s of them a single cluster or row was drawn: it is held against the mean of all, which makes "
            "intervals rather too wide.",
            "Of %(num)s of them a single cluster or row was drawn: each is held against the mean of all, which makes "
            "intervals rather too wide.",
            lonely,
            num=words.integer(lonely),
        )


def _say_population(words: ReportWords, sampling: Sampling, *, clusters: bool) -> Iterator[str]:
    _, stated = words.gettext, sampling.population
    total = sum(stated.values()) if isinstance(stated, Mapping) else stated
    count = words.integer(total or 0)
    if clusters:
        yield _(
            "They were drawn without replacement from %(count)s clusters, as if each had had the same chance, and "
            "everybody in them was asked.",
            count=count,
        )
        return
    yield _(
        "Rows were drawn without replacement from %(count)s people, as if each had had the same chance.",
        count=count,
    )


def _say_replicates(
    words: ReportWords, sample_report: SampleReport, replicate_plan: StatedReplicates
) -> Iterator[str]:
    _, replicates = words.gettext, sample_report.drawn.design.replicates
    count = words.integer(replicates.count if replicates is not None else 0)
    if replicate_plan.columns:
        yield _(
            "Variances are of %(count)s columns of replicate weights (%(kind)s).",
            count=count,
            kind=replicate_plan.kind,
        )
    elif replicate_plan.kind == "jackknife":
        yield _(
            "Variances are of a jackknife, which left out each of %(count)s clusters or rows in turn.",
            count=count,
        )
    else:
        yield _(
            "Variances are of a bootstrap: clusters or rows drawn again %(count)s times within strata (Rao and Wu "
            "1988), with the seed %(seed)s.",
            count=count,
            seed=replicate_plan.seed,
        )


def _row(words: ReportWords, report: Report, row: SampleRow) -> tuple[Cell, ...]:
    estimate, question = row.estimate, row.question
    numbers = (estimate.value, estimate.standard_error, *estimate.interval)
    if row.index is None:
        assert question.ends is not None
        width = float(question.ends[1]) - float(question.ends[0])
        answer = Text(words.gettext("mean"))
        cells = [cell_texts.measure(words, number, width) for number in numbers]
    else:
        answer = cell_texts.answer(report.definition, question, row.index)
        cells = [cell_texts.share(words, number) for number in numbers]
    return (
        cell_texts.quote_question(report.definition, question),
        answer,
        cell_texts.count(words, estimate.n),
        *cells,
        cell_texts.measure(words, estimate.design_effect, 10),
        cell_texts.count(words, round(estimate.effective_n) if math.isfinite(estimate.effective_n) else None),
    )
