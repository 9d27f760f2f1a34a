"""A definition -> an XLSForm workbook for KoboToolbox, ODK and SurveyCTO: what is asked, without the coins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from io import BytesIO

from server.inputs.problems import N_, Problem
from server.output.documents.xlsx_cells import fit_text
from server.output.languages import RESPONDENT_LANGUAGES, load_catalogue
from server.study.answer_texts import word_answer
from server.study.definitions import (
    Check,
    Condition,
    Definition,
    Entry,
    Grid,
    Question,
    SurveySection,
    SurveyText,
)
from server.study.definitions.translated_definition import list_languages
from server.study.kinds import Encoding
from server.study.xlsform.fitting_names import fit_name
from server.study.xlsform.own_rows import (
    AGREED,
    BODY,
    CONSENT,
    INTRODUCTION,
    LEAST_AGE,
    MARK,
    NUMBER,
    SECTION,
)
from server.study.xlsform.sheet_heads import TITLE

_MADE = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)  # the same definition gives the same bytes
_REFERENCE, _NO_REFERENCE = "${", "$ {"
"""What a form takes for the name of a question, and how it is written where it is none."""

_WARNING = N_(
    "This form asks without chance: whoever collects with it reads true answers. Nothing that Moneda promises "
    "respondents holds for it."
)
_CHECK = N_("was left out: it asks about the coins, and whoever fills in this form throws none")
_OTHERWISE = N_("has no answer in the file from those who are not asked it")
_CUTS = N_("asks for the number itself: its ranges are not in the file")
_NO_REFUSAL = N_("asks for a number: “Prefer not to say” is not in the file")
_CONTROL = N_("is a control item, which the file does not say")


@dataclass(frozen=True)
class WrittenForm:
    """The bytes of a workbook, and what of the survey is not in it; the field of each is an entry's name."""

    body: bytes
    left_out: tuple[Problem, ...]


def write_xlsform(definition: Definition, reader: str) -> WrittenForm:
    """What a survey asks, as an XLSForm with a column for each of its languages.

    Whoever collects with it reads true answers: designs are no part of a form. A sheet that other programs pass over
    says so, and what was left out, in the language of its `reader`. The same definition gives the same bytes. Where a
    text has no translation its cell is empty. A column that they pass over too says what `parse_xlsform` takes each
    row for.
    """
    writer = _FormWriter(definition)
    writer.add_all()
    return WrittenForm(_pack(writer, reader), tuple(writer.left_out))


@dataclass
class _FormWriter:
    """The rows of a form while they are collected: cells by the headings of their columns."""

    definition: Definition
    survey: list[dict[str, str]] = field(default_factory=list)
    choices: list[dict[str, str]] = field(default_factory=list)
    left_out: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.languages = list_languages(self.definition)
        self._names = {entry.name for entry in self.definition.entries}
        self._questions = {question.name: question for question in self.definition.questions}

    def add_all(self) -> None:
        """What stands before the questions, and these."""
        definition = self.definition
        if definition.introduction:
            self._add_note("introduction", definition.introduction, INTRODUCTION)
        if definition.consent:
            self._add_note("consent_text", definition.consent, CONSENT)
            self._add_tick("consent", N_("I have read this and agree to take part"), AGREED)
        if definition.least_age is not None:
            age = str(definition.least_age)
            self._add_tick("age", N_("I am at least {age} years old"), f"{LEAST_AGE} {age}", age)
        for section, entries in _group(definition.entries):
            if section is None or not entries:
                for entry in (*filter(None, [section]), *entries):
                    self._add(entry)
                continue
            self.survey.append(
                {"type": "begin_group", "name": section.name, MARK: SECTION}
                | self._labels("label", section.text)
            )
            self._add_body(section)
            for entry in entries:
                self._add(entry)
            self.survey.append({"type": "end_group"})

    def _add(self, entry: Entry) -> None:
        match entry:
            case Check():
                self._leave_out(entry, _CHECK)
            case SurveyText():
                self.survey.append(self._row(entry, "note", entry.text))
            case SurveySection():
                self.survey.append(self._row(entry, "note", entry.text) | {MARK: SECTION})
                self._add_body(entry)
            case Question():
                self._add_question(entry)

    def _add_question(self, question: Question) -> None:
        kind: str
        more: dict[str, str] = {}
        if question.grid is not None:
            kind, more = _ask_number(question.grid)
        else:
            several = question.encoding is Encoding.BOXES
            kind = f"{'select_multiple' if several else 'select_one'} {question.name}"
            if question.traits.levels:
                more = {"appearance": "likert"}
            self._add_choices(question)
        mark = NUMBER if question.grid is not None else question.kind
        row = self._row(question, kind, question.text) | {"required": "yes"} | more | {MARK: mark}
        if question.unit:
            row |= self._labels("hint", question.unit)
        self.survey.append(row)
        for holds, template in (
            (question.otherwise is not None, _OTHERWISE),
            (question.grid is not None and question.grid.cuts, _CUTS),
            (question.grid is not None and question.prefer_not_to_say, _NO_REFUSAL),
            (question.control, _CONTROL),
        ):
            if holds:
                self._leave_out(question, template)

    def _add_choices(self, question: Question) -> None:
        options = {option.name: option.text for option in question.options}
        for answer in question.answers:
            if answer in options:
                labels = self._labels("label", options[answer])
            else:
                labels = {
                    _head("label", language): word_answer(answer, language) for language in self.languages
                }
            self.choices.append({"list_name": question.name, "name": answer} | labels)

    def _row(self, entry: Entry, kind: str, text: str) -> dict[str, str]:
        row = {"type": kind, "name": entry.name} | self._labels("label", text)
        if entry.show_if is not None:
            row["relevant"] = self._write_condition(entry.show_if)
        return row

    def _add_note(self, name: str, text: str, mark: str) -> None:
        row = {"type": "note", "name": fit_name(name, self._names, "text")} | self._labels("label", text)
        self.survey.append(row | {MARK: mark})

    def _add_body(self, section: SurveySection) -> None:
        if not section.body:
            return
        self._add_note(f"{section.name}_text", section.body, BODY)
        if section.show_if is not None:
            self.survey[-1]["relevant"] = self._write_condition(section.show_if)

    def _add_tick(self, name: str, text: str, mark: str, age: str = "") -> None:
        row = {
            "type": "acknowledge",
            "name": fit_name(name, self._names, "text"),
            "required": "yes",
            MARK: mark,
        }
        for language in self.languages:
            row[_head("label", language)] = load_catalogue(language).gettext(text).replace("{age}", age)
        self.survey.append(row)

    def _labels(self, meaning: str, text: str) -> dict[str, str]:
        """A text in each language that has it: what is not translated is no translation in the file either."""
        said = {self.definition.language: text}
        for language in self.languages[1:]:
            if text in (known := self.definition.translations[language]):
                said[language] = known[text]
        return {_head(meaning, language): _write_plainly(words) for language, words in said.items()}

    def _write_condition(self, condition: Condition) -> str:
        asked = f"${{{condition.question}}}"
        if condition.span is not None:
            low, high = (_plain(number) for number in condition.span)
            return f"{asked} >= {low} and {asked} <= {high}"
        several = self._questions[condition.question].encoding is Encoding.BOXES
        parts = [
            f"selected({asked}, '{answer}')" if several else f"{asked} = '{answer}'"
            for answer in condition.any_of
        ]
        return " or ".join(parts)

    def _leave_out(self, entry: Entry, template: str) -> None:
        self.left_out.append(Problem(entry.name, template, {}))


def _group(entries: Sequence[Entry]) -> Iterator[tuple[SurveySection | None, list[Entry]]]:
    """The entries under each heading that everybody sees; what is asked under another has a condition of its own."""
    section: SurveySection | None = None
    under: list[Entry] = []
    for entry in entries:
        if isinstance(entry, SurveySection) and entry.show_if is None:
            yield section, under
            section, under = entry, []
        else:
            under.append(entry)
    yield section, under


def _ask_number(grid: Grid) -> tuple[str, dict[str, str]]:
    """The type of a number's row, and the cells that say what it may be."""
    low, high, step = (_plain(number) for number in (grid.low, grid.high, grid.step))
    if grid.step == 1 and isinstance(grid.low, int):
        return "integer", {"constraint": f". >= {low} and . <= {high}"}
    return "range", {"parameters": f"start={low} end={high} step={step}"}


def _write_plainly(text: str) -> str:
    """A text in which nothing stands that a form would take for the name of a question."""
    return text.replace(_REFERENCE, _NO_REFERENCE)


def _plain(number: float) -> str:
    """A number without an exponent."""
    return format(Decimal(repr(number)), "f")


def _head(meaning: str, language: str) -> str:
    """The heading of a column of texts in a language, as other programs know it."""
    return f"{meaning}::{RESPONDENT_LANGUAGES[language].name} ({language})"


def _list_left_out(writer: _FormWriter, reader: str) -> list[dict[str, str]]:
    """What the sheet for people says: the warning above all, and then an entry in each row."""
    say = load_catalogue(reader).gettext
    warning = say(_WARNING)
    left = [{say(N_("entry")): problem.field, warning: say(problem.template)} for problem in writer.left_out]
    return left or [{warning: ""}]


def _pack(writer: _FormWriter, reader: str) -> bytes:
    # Here, so that the server itself does without it.
    from xlsxwriter import Workbook

    definition = writer.definition
    own = f"{RESPONDENT_LANGUAGES[definition.language].name} ({definition.language})"
    sheets = {
        "survey": writer.survey,
        "choices": writer.choices,
        "settings": [
            {"form_title": _write_plainly(definition.title), "default_language": own}
            | {
                _head(TITLE, language): _write_plainly(known[definition.title])
                for language, known in definition.translations.items()
                if definition.title in known
            }
        ],
        MARK: _list_left_out(writer, reader),
    }
    file = BytesIO()
    with Workbook(file, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}) as book:
        book.set_properties({"created": _MADE})
        bold, wrapped = book.add_format({"bold": True}), book.add_format({"text_wrap": True, "valign": "top"})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            heads = list(dict.fromkeys(head for row in rows for head in row))
            sheet.freeze_panes(1, 0)
            for column, head in enumerate(heads):
                sheet.set_column(column, column, 40 if "::" in head or " " in head else 18)
                sheet.write_string(0, column, head, bold)
                for line, row in enumerate(rows, 1):
                    if head in row:
                        sheet.write_string(line, column, fit_text(row[head]), wrapped)
    return file.getvalue()
