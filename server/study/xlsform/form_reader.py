"""A workbook -> the survey that can be made of it, and what was not taken, with its place and the reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from server.inputs.problems import N_, InputError, Problem, refuse
from server.inputs.schema import schema_limit
from server.output.languages import RESPONDENT_LANGUAGES, load_catalogue
from server.study.definitions import FORMAT, Definition
from server.study.definitions.definition_reader import parse_definition
from server.study.definitions.own_texts import keep_used
from server.study.xlsform import choices, survey_rows
from server.study.xlsform.notes import Notes, SkippedCells
from server.study.xlsform.own_rows import MARK
from server.study.xlsform.sheet_heads import (
    TITLE,
    columns_of,
    label_languages,
    language_of,
    lines,
    note_unused,
    pair_texts,
)
from server.study.xlsform.workbook import Workbook, read_workbook

_LISTED = 100
_TWICE = N_(
    "its text has another translation where it stands first, which is taken for both; word one of them otherwise"
)
_TEXTS = (
    ("settings", "form_title", TITLE),
    (survey_rows.SHEET, "label", "label"),
    (choices.SHEET, "label", "label"),
    (survey_rows.SHEET, "hint", "hint"),
)
"""Where texts may be in several languages: sheets, and the meanings of columns of texts and of these in others. Of two
translations of one text the first stays."""


@dataclass(frozen=True)
class Imported:
    """A survey, and what of its form was not taken."""

    definition: Definition
    not_taken: tuple[SkippedCells, ...]


def parse_xlsform(body: bytes, language: str | None = None, fallback: str = "en") -> Imported:
    """A workbook -> the survey that can be made of it.

    Parameters
    ----------
    body : bytes
        The file.
    language : str, optional
        One of `RESPONDENT_LANGUAGES`: which labels are the survey's own texts; others are translations. Without it,
        the form's own language.
    fallback : str
        The language of a form that does not say.

    Raises
    ------
    InputError
        If this is no form, or nothing in it can be taken; the problems then say why.
    """
    book = read_workbook(body)
    notes = Notes()
    for sheet in [name for name in book.others if name.casefold() != MARK]:
        notes.add(sheet, None, "", "", N_("this sheet has no counterpart here"))
    _require_rows(book)
    settings = _settings(book, notes)
    language = language or _language(book, settings.get("default_language", ""), fallback)
    reader = _read(book, language, notes)
    if not any("design" in entry for entry in reader.entries):
        nothing = Problem("file", N_("must hold a question that can be taken; none of these can"), {})
        raise InputError(422, [nothing, *(note.as_problem() for note in notes.list_all()[:_LISTED])])
    document = {
        "format": FORMAT,
        "language": language,
        "title": _title(settings, language, notes),
        "introduction": "",
        **reader.opening,
        "strength": {"gamma": 0.25},  # two fair coins
        "questions": reader.entries,
    }
    translations = _translate(book, document, language, notes)
    return Imported(parse_definition({**document, "translations": translations}), notes.list_all())


def _require_rows(book: Workbook) -> None:
    """Refuse what has no rows of questions, or not the columns that each needs."""
    if not book.sheets.get(survey_rows.SHEET):
        raise refuse(
            422,
            "file",
            N_("must have a sheet “survey” with rows; the sheets are: %(value)s"),
            value=", ".join((*book.sheets, *book.others))[:200],
        )
    columns = columns_of(book.sheets[survey_rows.SHEET])
    for needed in ("type", "label"):
        if needed not in {column.meaning for column in columns.values()}:
            raise refuse(
                422,
                "file",
                N_("must have a column “%(column)s” on the sheet “survey”; it has: %(value)s"),
                column=needed,
                value=", ".join(column.header for column in columns.values())[:200],
            )


def _translate(
    book: Workbook, document: Mapping[str, Any], language: str, notes: Notes
) -> dict[str, dict[str, str]]:
    """What each text of a definition is in the other languages of the form; what no text of it is is left out."""
    paired = [
        (sheet, pair)
        for sheet, *meanings in _TEXTS
        for pair in pair_texts(book.sheets.get(sheet, ()), language, *meanings)
    ]
    translations: dict[str, dict[str, str]] = {}
    for _sheet, pair in paired:
        # In one line, and as it is written.
        for text, translation in (
            (_write_in_line(pair.text), _write_in_line(pair.translation)),
            (pair.text, pair.translation),
        ):
            translations.setdefault(pair.language, {}).setdefault(text, translation)
    used = keep_used({**document, "translations": translations})
    for sheet, pair in paired:
        text, translation = _write_in_line(pair.text), _write_in_line(pair.translation)
        chosen = used.get(pair.language, {})
        if text in chosen and _write_in_line(translations[pair.language][text]) != translation:
            notes.add(sheet, pair.row, pair.column, pair.translation, _TWICE)
    return used


def _write_in_line(text: str) -> str:
    return " ".join(text.split())


def _read(book: Workbook, language: str, notes: Notes) -> survey_rows.Reader:
    found = lines(
        choices.SHEET,
        book.sheets.get(choices.SHEET, ()),
        language,
        frozenset(("list_name", "name")),
        notes,
    )
    lists = choices.read_choices(found, notes)
    reader = survey_rows.Reader(lists, notes)
    reader.read(lines(survey_rows.SHEET, book.sheets[survey_rows.SHEET], language, survey_rows.KNOWN, notes))
    for name in lists.keys() - reader.lists_asked:
        rows = lists[name]
        notes.add(
            choices.SHEET,
            rows[0].number,
            rows[0].header("list_name"),
            rows[0].text("list_name"),
            N_("no question that was taken uses this list"),
        )
    return reader


def _settings(book: Workbook, notes: Notes) -> dict[str, str]:
    """What the sheet of settings says of title and language; the rest is noted."""
    known = frozenset(("form_title", "default_language"))
    rows = lines("settings", book.sheets.get("settings", ()), "en", known, notes)
    for row in rows[:1]:
        note_unused("settings", row, known, notes)
        return {name: row.text(name) for name in known}
    return {}


def _language(book: Workbook, text: str, fallback: str) -> str:
    """The form's own language: the one it states, else the only one of its labels that we have."""
    own = language_of(text)
    if own in RESPONDENT_LANGUAGES:
        return own
    columns = columns_of(book.sheets[survey_rows.SHEET])
    offered = [language for language in label_languages(columns) if language in RESPONDENT_LANGUAGES]
    return fallback if fallback in offered or not offered else offered[0]


def _title(settings: dict[str, str], language: str, notes: Notes) -> str:
    title = " ".join(settings.get("form_title", "").splitlines())
    limit = schema_limit("properties", "title", "maxLength")
    if len(title) > limit:
        template = N_("a title has at most %(limit)d characters; it was cut")
        notes.add("settings", None, "form_title", title, template, limit=limit)
    return title[:limit].strip() or load_catalogue(language).gettext(N_("Imported survey"))
