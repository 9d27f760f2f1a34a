"""Estimates from rows of a table from elsewhere that count differently, and how they were drawn."""

from collections.abc import Iterator

from server.inputs import N_
from server.output.documents import Block, Cell, Table, Text
from server.reports.contents import cell_texts
from server.reports.contents.methods import make_paragraph
from server.reports.elsewhere.sample_estimates import UNEVEN, SampleReport, SampleRow
from server.reports.report import Report
from server.reports.report_words import ReportWords

EVEN_ROWS = N_(
    "Findings, and all tables but those under “Estimates for the population”, count every row once, however the rows "
    "were drawn."
)


def describe_sample(words: ReportWords, report: Report, found: SampleReport) -> Iterator[Block]:
    """What makes rows count differently, and a line for each share and mean."""
    _ = words.gettext
    yield make_paragraph(" ".join(_list_sentences(words, found)))
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
    )
    notes = (
        _(
            "Intervals are by linearisation and Student’s t, over clusters, or over rows where there are none. They "
            "need some dozens of these to hold."
        ),
        _(
            "The design effect is the variance over that of as many rows drawn evenly and one by one. Estimates are "
            "not cut at 0 or 100 %%."
        ),
    )
    yield Table(
        "population-estimates", title, columns, tuple(_row(words, report, row) for row in found.rows), notes
    )


def _list_sentences(words: ReportWords, found: SampleReport) -> Iterator[str]:
    _, sampling = words.gettext, found.sampling
    if sampling.weights is not None:
        yield _("Weights are those of the column %(name)s.", name=sampling.weights)
    elif sampling.margins:
        yield _("Every row has the same weight at first.")
    else:
        yield _("Every row has the same weight.")
    if sampling.margins:
        names = ", ".join(margin.covariate for margin in sampling.margins)
        yield _(
            "Weights were raked to the population’s shares by: %(names)s. Intervals make up for what these tell.",
            names=names,
        )
    if found.clusters is not None:
        yield _(
            "Rows were drawn in %(count)s clusters, named by the column %(name)s.",
            count=words.integer(found.clusters),
            name=sampling.clusters,
        )
    if sampling.population is not None:
        yield _(
            "Rows were drawn without replacement from %(count)s people, as if each had had the same chance.",
            count=words.integer(sampling.population),
        )
    if found.uneven:
        yield _(UNEVEN)
    yield _(
        "Kish’s design effect of the weights: %(effect)s.", effect=words.number(float(f"{found.kish:.3g}"))
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
    )
