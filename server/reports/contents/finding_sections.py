"""What was found: of each question a sentence with its figure; how answers were protected, how sure one can be."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from server.output.documents import Chart, FindingBlock, FindingList, Paragraph, Section, Text
from server.output.typesetting import size_of
from server.reports.contents import cell_texts
from server.reports.contents.article import describe_weights
from server.reports.contents.estimate_sections import MOST_ROWS, draw_mean, draw_shares, list_remarks
from server.reports.contents.protection import explain_coin
from server.reports.contents.version_charts import describe_course, draw_course
from server.reports.estimate_values import QuestionReport
from server.reports.findings import ShareFinding, interpret_question
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.reports.version_courses import follow_versions
from server.study.definitions import SurveySection

_ROOM = 400
"""Points of the first page that what was found may take, so that the rest of it fits below."""
_HEADING, _NOTE, _UNIT = 45, 12, 0.65
"""Points of a question with what is between two of them, of a remark, of a unit of a drawing: about as in print."""


def build_lead(words: ReportWords, report: Report) -> tuple[Section, ...]:
    """What the first page of the internal report says."""
    rest = _describe_protection(words, report), _describe_sureness(words, report)
    found = list_findings(words, report)
    return order_lead(words, found, tuple(_list_sentences(found)), rest)


def _list_sentences(section: Section) -> Iterator[tuple[Text, str]]:
    """What was asked, and what was found of it."""
    yield from (
        (section.title, block.sentence) for block in section.blocks if isinstance(block, FindingBlock)
    )
    for inner in section.sections:
        yield from _list_sentences(inner)


def order_lead(
    words: ReportWords,
    section: Section,
    texts: tuple[tuple[Text, str], ...],
    rest: tuple[Section, ...],
) -> tuple[Section, ...]:
    """What was found, then what is said of all of it.

    Where figures would fill the first page, it has the sentences alone (`texts`), and the figures stand at the end.
    """
    if _measure(section) <= _ROOM:
        return section, *rest
    listed = Section(section.name, section.title, (*section.blocks, FindingList(texts)))
    figures = Section("figures", Text(words.gettext("Each finding with its figure")))
    return listed, *rest, replace(figures, sections=section.sections)


def _measure(section: Section) -> float:
    """About how high findings are in print, in points."""
    height = sum(map(_measure, section.sections))
    for block in section.blocks:
        if isinstance(block, FindingBlock):
            drawn = sum(size_of(chart.svg)[1] for chart in block.charts)
            height += _HEADING + _UNIT * drawn + _NOTE * max(len(block.notes) - 1, 0)
    return height


def say_finding(words: ReportWords, report: Report, entry: QuestionReport) -> str:
    """What the responses to a question say, by intervals of one look: the sentence of the page of results."""
    if not entry.n:
        return cell_texts.describe_nobody(words, report)
    found = interpret_question(entry, anytime=False)
    return words.macro("words/findings.html", "sentence", found, report.definition.language)


def list_findings(words: ReportWords, report: Report) -> Section:
    """A section for each question, below the headings of the survey's own."""
    numbers = {entry.question.name: number for number, entry in enumerate(report.questions, start=1)}
    sections: list[Section] = []
    heading: Section | None = None
    inside: list[Section] = []

    def close() -> None:
        if heading is None:
            sections.extend(inside)
        elif inside:
            sections.append(Section(heading.name, heading.title, (), tuple(inside)))
        inside.clear()

    for part in report.outline():
        if isinstance(part, SurveySection):
            close()
            name = f"findings-part-{len(sections) + 1}"
            heading = Section(name, cell_texts.quote_text(report.definition, part.text))
        else:
            title = cell_texts.quote_question(report.definition, part.question)
            block = _describe(words, report, part)
            inside.append(Section(f"finding-{numbers[part.question.name]}", title, (block,)))
    close()
    return Section("findings", Text(words.gettext("What was found")), (), tuple(sections))


def _describe(words: ReportWords, report: Report, entry: QuestionReport) -> FindingBlock:
    notes = list_remarks(words, report, entry)
    if not entry.n:
        return FindingBlock(say_finding(words, report, entry), notes=tuple(notes), tells=False)
    number = words.ngettext("%(num)s response", "%(num)s responses", entry.n, num=words.integer(entry.n))
    charts = tuple(_draw(words, report, entry))
    course = follow_versions(report, entry, anytime=False)
    if course is not None:
        notes.append(describe_course(words, course, report.definition.language))
        charts += (draw_course(words, course),)
    tells = interpret_question(entry, anytime=False).tells
    return FindingBlock(say_finding(words, report, entry), notes=(number, *notes), charts=charts, tells=tells)


def _draw(words: ReportWords, report: Report, entry: QuestionReport) -> Iterator[Chart]:
    """Its shares, as many to a chart as fit on a page, in the order of the finding; its mean."""
    shares: Sequence[ShareFinding] = interpret_question(entry, anytime=False).shares
    for first in range(0, len(shares), MOST_ROWS):
        rows = [share.row for share in shares[first : first + MOST_ROWS]]
        yield draw_shares(words, report, entry, rows)
    if entry.mean is not None:
        yield draw_mean(words, report, entry, entry.mean)


def _describe_protection(words: ReportWords, report: Report) -> Section:
    blocks = tuple(explain_coin(words, tuple(report.answered.definitions.values())))
    return Section("protected", Text(words.gettext("How answers were protected")), blocks)


def _describe_sureness(words: ReportWords, report: Report) -> Section:
    _ = words.gettext
    blocks = (
        _(
            "Each range by itself covers the number that it stands for in about %(confidence)s of 100 surveys made "
            "like this one, if the respondents were drawn at random; of 100 ranges, about %(missed)s miss it. It "
            "allows for chance in who was asked, and for the coins; not for those who did not answer, nor for answers "
            "that are not true. It is made for one look, at a moment fixed beforehand.",
            confidence=words.level(report.confidence),
            missed=words.level(1 - report.confidence),
        ),
        _("In a figure the dot, or the end of the bar, is the best guess; the line is the range.")
        + " "
        + describe_weights(words, report),
    )
    title = Text(_("How sure one can be"))
    return Section("sure", title, tuple(Paragraph(Text(text)) for text in blocks))
