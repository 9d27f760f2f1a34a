"""The report on data from elsewhere: the findings and tables of every report, and nothing about how we collect."""

from collections.abc import Iterator

from server.output.charts import PAPER_CSS
from server.output.documents import Document, Paragraph, Section, Text
from server.reports.contents import cell_texts, methods, stratum_sections
from server.reports.contents.diagnostic_sections import diagnostics
from server.reports.contents.estimate_sections import estimates
from server.reports.contents.explanation_section import build_explanation
from server.reports.contents.finding_sections import list_findings
from server.reports.contents.methods import make_paragraph
from server.reports.contents.model_section import describe_models
from server.reports.contents.question_sections import questions
from server.reports.contents.sample_section import EVEN_ROWS, EVEN_ROWS_BUT_MODELS, describe_sample
from server.reports.elsewhere import ForeignData
from server.reports.explaining import ExplainedAnswer
from server.reports.report_words import ReportWords


def build_elsewhere_document(data: ForeignData, explained: ExplainedAnswer | None, locale: str) -> Document:
    """The document of a report on a table from elsewhere, with an explanation, if one was asked for."""
    words, report = ReportWords(locale), data.report
    _ = words.gettext
    count = words.ngettext("%(num)s response", "%(num)s responses", report.n, num=words.integer(report.n))
    origin = _(
        "These data were collected elsewhere. How answers were randomised is known from the study file alone; "
        "nothing here shows that it was done so."
    )
    blocks = [make_paragraph(origin)]
    if data.table.left_out:
        missing = _(
            "Left out, because something in them is missing: %(num)s of %(total)s rows. Results are about the others; "
            "people who leave out an answer may differ from them.",
            num=words.integer(data.table.left_out),
            total=words.integer(report.n + data.table.left_out),
        )
        blocks.append(Paragraph(Text(missing), notice=True))
    if data.sample is not None and data.has_questions:
        even = EVEN_ROWS_BUT_MODELS if data.models else EVEN_ROWS
        blocks.append(Paragraph(Text(_(even)), notice=True))
    return Document(
        title=cell_texts.quote_text(report.definition, report.definition.title),
        subtitle=" · ".join((_("Report of %(day)s", day=words.day(report.made_on)), count)),
        language=locale,
        sections=tuple(_sections(words, data, explained)),
        blocks=tuple(blocks),
        paper_css=PAPER_CSS,
    )


def _sections(words: ReportWords, data: ForeignData, explained: ExplainedAnswer | None) -> Iterator[Section]:
    _, report = words.gettext, data.report
    facts = _(
        "Study file (SHA-256): %(hash)s. Made with %(software)s.",
        hash=report.version,
        software=report.software,
    )
    source = Section("source", Text(_("Source")), (make_paragraph(facts),))
    if not data.has_questions:
        yield describe_models(words, data)
        yield source
        return
    yield list_findings(words, report)
    yield Section("results", Text(_("Estimates")), tuple(estimates(words, report)))
    if data.sample is not None:
        title = _("Estimates for the population")
        yield Section("population", Text(title), tuple(describe_sample(words, report, data.sample)))
    inside = tuple(stratum_sections.by_stratum(words, report))
    if inside:
        yield Section(
            "by-stratum", Text(_("By stratum")), (stratum_sections.introduce_tables(words),), inside
        )
    if data.models:
        yield describe_models(words, data)
    if explained is not None:
        yield build_explanation(words, report, explained)
    yield Section("questions", Text(_("Questions")), (questions(words, report.definition),))
    yield Section("method", Text(_("Method")), tuple(methods.estimators(words, report, live=False)))
    yield Section("checks", Text(_("Diagnostics")), tuple(diagnostics(words, report)))
    yield Section("limits", Text(_("Limits")), tuple(methods.limits(words)))
    yield source
    yield Section("exact-designs", Text(_("Codebook")), (methods.codebook(words, report.designs),))
