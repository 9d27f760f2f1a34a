"""What models of data from elsewhere found, as a part of a document: a table for each, its tests, what it assumes."""

import math
from collections.abc import Iterator

from server.output.documents import Block, Cell, Section, Table, Text
from server.reports.contents import cell_texts
from server.reports.contents.estimate_sections import keep_remarks
from server.reports.contents.methods import make_paragraph
from server.reports.contents.sample_section import say_drawing
from server.reports.elsewhere import ForeignData
from server.reports.elsewhere.models.model_parts import FittedModel, ModelEstimate, ModelTest
from server.reports.report_words import ReportWords


def describe_models(words: ReportWords, data: ForeignData) -> Section:
    """The section of all models."""
    _ = words.gettext
    introduction = _(
        "Each of these models takes something beside the answers for unknown, and estimates it as well. Every row "
        "counts once."
    )
    blocks = [make_paragraph(introduction)]
    if any(model.finding.freedom is not None for model in data.models):
        drawn = _(
            "Each of these models takes something beside the answers for unknown, and estimates it as well, from rows "
            "that count, and vary, as they were drawn: by weighted means of each group, with standard errors by "
            "linearisation or replicate weights. How many people there are in all is left aside."
        )
        blocks = [make_paragraph(drawn)]
        if data.sample is not None and not data.has_questions:
            blocks.append(make_paragraph(say_drawing(words, data.sample)))
    inside = tuple(
        Section(
            f"model-{number}",
            Text(model.specification.text, from_survey=True, language=data.report.definition.language),
            tuple(_describe(words, data, model, number)),
        )
        for number, model in enumerate(data.models, 1)
    )
    return Section("models", Text(_("Models")), tuple(blocks), inside)


def _describe(
    words: ReportWords, data: ForeignData, fitted_model: FittedModel, number: int
) -> Iterator[Block]:
    _, kind, finding = words.gettext, fitted_model.specification.kind, fitted_model.finding
    yield make_paragraph(
        _(
            "%(model)s: %(source)s. %(assumes)s",
            model=_(kind.title),
            source=kind.source,
            assumes=_(kind.assumes),
        )
    )
    confidence = words.level(data.report.confidence)
    columns: tuple[str, ...] = (
        _("What is estimated"),
        _("estimate"),
        _("standard error"),
        _("%(confidence)s %% interval, from", confidence=confidence),
        _("to"),
    )
    rows = [
        (
            Text(_(each.label)),
            *_list_numbers(words, each),
            Text("" if each.possible else _("out of its range")),
        )
        for each in finding.estimates
    ]
    columns, kept, notes = keep_remarks(words, columns, rows, (_say_rows(words, fitted_model),))
    yield Table(
        f"model-{number}-estimates",
        _("%(name)s: estimates of the model", name=fitted_model.specification.name),
        columns,
        tuple(kept),
        notes,
        short=_("Model %(number)s", number=number),
    )
    for test in finding.tests:
        yield make_paragraph(_say_test(words, test))
    for remark in finding.remarks:
        yield make_paragraph(_(remark))


def _say_rows(words: ReportWords, fitted_model: FittedModel) -> str:
    _ = words.gettext
    sentence = _(
        "Rows used: %(used)s. Left out, as a cell is empty or of a group that is not in the model: %(left)s.",
        used=words.integer(fitted_model.used),
        left=words.integer(fitted_model.left_out),
    )
    freedom = fitted_model.finding.freedom
    if freedom is not None:
        sentence += " " + _(
            "Intervals are by Student’s t with %(freedom)s degrees of freedom.",
            freedom=words.integer(freedom),
        )
    if not fitted_model.groups:
        return sentence
    groups = ", ".join(f"{name} {words.integer(rows)}" for name, rows in fitted_model.groups)
    return sentence + " " + _("Of each group: %(groups)s.", groups=groups)


def _say_test(words: ReportWords, test: ModelTest) -> str:
    _ = words.gettext
    p_value = words.p_value(test.p_value)
    label, verdict = _(test.label), _(test.verdict)
    freedom = words.integer(test.degrees_of_freedom)
    if test.denominator is not None:
        freedom += f" / {words.integer(test.denominator)}"
    if not math.isfinite(test.statistic):
        return _("%(label)s: %(p)s. %(verdict)s", label=label, p=p_value, verdict=verdict)
    return _(
        "%(label)s: %(letter)s %(statistic)s, degrees of freedom %(freedom)s, %(p)s. %(verdict)s",
        label=label,
        letter=test.letter,
        statistic=words.number(round(test.statistic, 2)),
        freedom=freedom,
        p=p_value,
        verdict=verdict,
    )


def _list_numbers(words: ReportWords, estimate: ModelEstimate) -> tuple[Cell, ...]:
    numbers = (estimate.value, estimate.standard_error, *estimate.interval)
    if estimate.share:
        return tuple(cell_texts.share(words, number) for number in numbers)
    # Where all of them are 0, any range has room for them.
    width = max((abs(number) for number in numbers if math.isfinite(number)), default=0) or 1.0
    return tuple(cell_texts.measure(words, number, width) for number in numbers)
