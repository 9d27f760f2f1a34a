"""What was asked, in the survey's own words."""

from server.output.documents import Cell, Table, Text
from server.reports.contents import cell_texts
from server.reports.contents.text_sections import describe_readers
from server.reports.report_words import ReportWords
from server.study.answer_texts import otherwise_text, span_text
from server.study.definitions import Definition, Question, SurveySection


def questions(words: ReportWords, definition: Definition) -> Table:
    """Their wording, under the headings of the survey's own, with the answers that were offered, and to whom."""
    _ = words.gettext
    rows = []
    heading = ""
    headed = any(isinstance(entry, SurveySection) for entry in definition.entries)
    routed = any(question.show_if for question in definition.questions)
    names = {question.name: question for question in definition.questions}
    for entry in definition.entries:
        if isinstance(entry, SurveySection):
            heading = entry.text
        if entry.name not in names:
            continue
        question = names[entry.name]
        part = (cell_texts.quote_text(definition, heading),) if headed else ()
        rows.append(
            (
                cell_texts.quote_question(definition, question),
                Text(question.name, code=True),
                *part,
                _list_answers(definition, question),
                *(_describe_routing(words, definition, question) if routed else ()),
            )
        )
    columns = (
        _("Question"),
        _("name"),
        *((_("section"),) if headed else ()),
        _("answers offered"),
        *((_("shown to those who answered"), _("everybody else reports")) if routed else ()),
    )
    notes = (_("Every respondent reports every question."),) if routed else ()
    return Table("questions-asked", _("Questions"), columns, tuple(rows), notes)


def _describe_routing(words: ReportWords, definition: Definition, question: Question) -> tuple[Cell, Cell]:
    """Whom it was shown, and what is reported for the others."""
    if question.show_if is None:
        return describe_readers(words, definition, question), Text("–")
    otherwise = cell_texts.quote_text(definition, otherwise_text(question, definition.language))
    return describe_readers(words, definition, question), otherwise


def _list_answers(definition: Definition, question: Question) -> Text:
    """What could be answered."""
    if question.encoding.between_ends and question.grid is not None:
        text = span_text(question.grid, question.unit, definition.language)
        more = [
            cell_texts.answer(definition, question, k).text
            for k in range(question.first_answer, len(question.answers))
        ]
        return cell_texts.quote_text(definition, "; ".join([text, *more]))
    shown = [cell_texts.answer(definition, question, index) for index in range(len(question.answers))]
    return cell_texts.quote_text(definition, "; ".join(answer.text for answer in shown))
