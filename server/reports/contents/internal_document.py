"""The internal report: from the stored noisy responses."""

from collections.abc import Iterator, Sequence

from server.output.charts import PAPER_CSS
from server.output.documents import Block, Document, Facts, Paragraph, Section, Text
from server.releases.values import Ledger
from server.reports.contents import article, cell_texts, methods, release_sections, stratum_sections
from server.reports.contents.admission_sections import describe_admission
from server.reports.contents.comparison_sections import describe_comparisons
from server.reports.contents.diagnostic_sections import diagnostics
from server.reports.contents.disclosure_sections import (
    describe_missing,
    describe_precision,
    describe_response,
    list_references,
)
from server.reports.contents.estimate_sections import estimates
from server.reports.contents.explanation_section import build_explanation
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.finding_sections import build_lead
from server.reports.contents.ledger_sections import describe_ledger
from server.reports.contents.mode_sections import describe_modes
from server.reports.contents.protection import describe_repetition
from server.reports.contents.question_sections import questions
from server.reports.contents.retention_sentences import describe_retention
from server.reports.contents.study_sections import cite_report, describe_study, say_who_asked
from server.reports.contents.survey_sections import describe_surveys
from server.reports.contents.text_sections import quote_prose, texts
from server.reports.contents.together_sections import describe_together
from server.reports.explaining import ExplainedAnswer
from server.reports.references import list_report_references
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.reports.stratum_comparison import Compared
from server.reports.survey_comparison import ComparedSurveys
from server.reports.survey_texts import INCOMPLETE

_SHORT = 600
"""Letters of an introduction that stands before what was found."""


def build_internal_document(
    report: Report,
    book: Ledger,
    locale: str,
    explained: ExplainedAnswer | None = None,
    compared: Sequence[Compared] = (),
    surveys: Sequence[ComparedSurveys] = (),
) -> Document:
    """The document of a report, with the survey's ledger; if asked, what an answer goes with, and comparisons.

    Those of strata are `compared`, those of it with other `surveys`.
    """
    words = ReportWords(locale)
    definition = report.definition
    first = build_lead(words, report)
    return Document(
        title=cell_texts.quote_text(definition, definition.title),
        subtitle=_subtitle(words, report),
        language=locale,
        sections=(*first, *_sections(words, report, book, explained, compared, surveys)),
        blocks=tuple(_opening(words, report)),
        paper_css=PAPER_CSS,
        lead=len(first),
    )


def _subtitle(words: ReportWords, report: Report) -> str:
    _ = words.gettext
    parts = [
        _("Report of %(day)s", day=words.day(report.made_on)),
        _count(words, report),
        _(
            "version %(number)d, published %(day)s",
            number=report.version_number,
            day=words.day(report.published_on),
        ),
    ]
    if len(report.versions) > 1:
        numbers = ", ".join(map(str, sorted(report.versions)))
        parts.append(_("versions %(numbers)s together", numbers=numbers))
    return " · ".join(parts)


def _count(words: ReportWords, report: Report) -> str:
    n = words.integer(report.n)
    if report.unseen.number:
        return words.gettext("%(num)s responses shown", num=n)  # one alone never is
    return words.ngettext("%(num)s response", "%(num)s responses", report.n, num=n)


def _is_short(report: Report) -> bool:
    """Whether the introduction, which says who asks, leaves the first page to what was found."""
    return len(report.definition.introduction) <= _SHORT


def _opening(words: ReportWords, report: Report) -> Iterator[Block]:
    _ = words.gettext
    if report.simulated:
        yield Paragraph(Text(_("This is a demonstration: its respondents are simulated.")), notice=True)
    if report.incomplete:
        yield Paragraph(Text(_(INCOMPLETE)), notice=True)
    yield from say_who_asked(words, report.study)
    if _is_short(report):
        yield from quote_prose(report.definition, report.definition.introduction)
    yield Paragraph(
        Text(
            _(
                "An internal report, from the stored noisy responses: for those who run the survey, and whoever "
                "checks their work under the same terms. What of it may be published, “For an article” says."
            )
        )
    )
    minimum = words.integer(report.minimum)
    if report.unseen.number:
        number = words.integer(report.unseen.number)
        text = _(
            "Fewer than %(number)s more responses are not shown yet; they are shown in groups of at least "
            "%(minimum)s.",
            number=number,
            minimum=minimum,
        )
        yield Paragraph(Text(text))
    if report.left_out:
        numbers = ", ".join(map(str, report.left_out))
        text = _(
            "Versions with fewer than %(minimum)s responses are left out: %(numbers)s.",
            minimum=minimum,
            numbers=numbers,
        )
        yield Paragraph(Text(text))
    if report.without_left_out:
        text = _(
            "Fewer than %(minimum)s responses that came through the survey’s own link, without stratum, are "
            "left out.",
            minimum=minimum,
        )
        yield Paragraph(Text(text))


def _sections(
    words: ReportWords,
    report: Report,
    book: Ledger,
    explained: ExplainedAnswer | None,
    compared: Sequence[Compared],
    surveys: Sequence[ComparedSurveys],
) -> Iterator[Section]:
    yield _describe_questions(words, report)
    yield _describe_results(words, report)
    yield from _list_strata(words, report)
    comparisons = describe_comparisons(words, report, compared), describe_surveys(words, report, surveys)
    yield from (
        section for section in (*comparisons, describe_together(words, report)) if section is not None
    )
    if explained is not None:
        yield build_explanation(words, report, explained)
    yield _describe_collecting(words, report)
    yield from describe_study(words, report.study)
    yield _describe_method(words, report)
    if report.n:
        checks = (*diagnostics(words, report), *describe_modes(words, report))
        yield Section("checks", Text(words.gettext("Diagnostics")), checks)
    yield _describe_releases(words, report, book)
    yield Section("limits", Text(words.gettext("Limits")), tuple(methods.limits(words)))
    if report.n:
        sentences = tuple(article.internal(words, report, book))
        yield Section("article", Text(words.gettext("For an article")), sentences)
    yield list_references(words, list_report_references(report, book))
    yield _describe_source(words, report)
    yield Section(
        "exact-designs", Text(words.gettext("Codebook")), (methods.codebook(words, report.designs),)
    )


def _describe_questions(words: ReportWords, report: Report) -> Section:
    definition = report.definition
    introduction = () if _is_short(report) else quote_prose(definition, definition.introduction)
    asked = (*introduction, questions(words, definition))
    return Section("questions", Text(words.gettext("Questions")), asked, tuple(texts(words, definition)))


def _describe_results(words: ReportWords, report: Report) -> Section:
    if report.n:
        found = tuple(estimates(words, report))
    else:
        found = (methods.make_paragraph(cell_texts.describe_nobody(words, report)),)
    return Section("results", Text(words.gettext("Estimates")), found)


def _list_strata(words: ReportWords, report: Report) -> Iterator[Section]:
    """How many came from where, and what was found there; nothing where nobody did."""
    arrived = (*stratum_sections.days(words, report), *stratum_sections.describe_tree(words, report))
    if arrived:
        yield Section("arrived", Text(words.gettext("Responses by day and stratum")), arrived)
    inside = tuple(stratum_sections.by_stratum(words, report))
    if inside or (report.strata_cut and report.n):
        notes = [stratum_sections.introduce_tables(words)] if inside else []
        notes += [stratum_sections.left_to_a_file(words)] if report.strata_cut else []
        yield Section("by-stratum", Text(words.gettext("By stratum")), tuple(notes), inside)


def _describe_collecting(words: ReportWords, report: Report) -> Section:
    return Section(
        "collected",
        Text(words.gettext("How the answers were collected")),
        (
            *methods.describe_coins(words, report.designs),
            *describe_admission(words, report.admissions, report.answered),
            *describe_response(words, report),
            describe_missing(words, [one.question for one in report.designs.questions]),
            *describe_retention(words, report.kept),
        ),
    )


def _describe_method(words: ReportWords, report: Report) -> Section:
    return Section(
        "method",
        Text(words.gettext("Method")),
        (
            describe_repetition(words),
            *methods.estimators(words, report),
            *describe_precision(words, report),
        ),
    )


def _describe_releases(words: ReportWords, report: Report, book: Ledger) -> Section:
    questions = QuestionsByVersion({wave.number: wave.definition for wave in report.waves})
    return Section(
        "releases",
        Text(words.gettext("Central releases: spent and left")),
        (
            *describe_ledger(words, book, names=True),
            *(release_sections.explain_errors(words, book.released) if book.released else ()),
        ),
        tuple(release_sections.sections(words, book.released, questions)),
    )


def _describe_source(words: ReportWords, report: Report) -> Section:
    """What a reader names this report by."""
    _ = words.gettext
    cite = _(
        "Survey report, version %(number)d (%(hash)s), %(day)s. Made with %(software)s.",
        number=report.version_number,
        hash=report.version[:12],
        day=words.day(report.made_on),
        software=report.software,
    )
    facts = (
        (_("Survey"), Text(report.slug, code=True)),
        (_("SHA-256 of the published definition"), Text(report.version, code=True)),
        (_("Software"), Text(report.software)),
        (_("Cite as"), cite_report(words, report.study, report.definition.title, cite)),
    )
    return Section("source", Text(_("Source")), (Facts(facts),))
