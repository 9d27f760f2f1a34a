"""What was asked, in the survey's own words."""

from server.definitions import Definition, Question, Section
from server.documents import Cell, Table, Text, Words
from server.reports.contents import cells
from server.reports.contents.texts import asked_of


def questions(words: Words, definition: Definition) -> Table:
    """Their wording, under the headings of the survey's own, with the answers that were offered, and to whom."""
    _ = words.gettext
    rows = []
    heading = ""
    headed = any(isinstance(entry, Section) for entry in definition.entries)
    routed = any(question.show_if for question in definition.questions)
    names = {question.name: question for question in definition.questions}
    for entry in definition.entries:
        if isinstance(entry, Section):
            heading = entry.text
        if entry.name not in names:
            continue
        question = names[entry.name]
        part = (cells.own(definition, heading),) if headed else ()
        rows.append(
            (
                cells.asked(definition, question),
                Text(question.name, code=True),
                *part,
                _offered(words, definition, question),
                *(_routed(words, definition, question) if routed else ()),
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


def _routed(words: Words, definition: Definition, question: Question) -> tuple[Cell, Cell]:
    """Whom it was shown, and what is reported for the others."""
    if question.show_if is None:
        return asked_of(words, definition, question), Text("–")
    otherwise = words.macro("results/_estimates.html", "otherwise_text", question)
    return asked_of(words, definition, question), cells.own(definition, otherwise)


def _offered(words: Words, definition: Definition, question: Question) -> Text:
    """What could be answered."""
    _ = words.gettext
    if question.encoding == "line" and question.grid is not None:
        low, high = (words.number(end) for end in (question.grid.low, question.grid.high))
        text = _("%(low)s to %(high)s", low=low, high=high)
        if question.unit:
            text = f"{text}\N{NO-BREAK SPACE}{question.unit}"
        more = [cells.answer(words, definition, question, k).text for k in range(2, len(question.answers))]
        return Text("; ".join([text, *more]))
    shown = [cells.answer(words, definition, question, index) for index in range(len(question.answers))]
    text = "; ".join(answer.text for answer in shown)
    own = any(answer.own for answer in shown)
    return Text(text, own=own, language=definition.language if own else "")
