"""XLSForms written from surveys: as another program reads them, and read again."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from server.inputs import InputError
from server.output.languages import RESPONDENT_LANGUAGES, load_catalogue
from server.study.definitions import Definition, Question
from server.study.definitions.definition_reader import parse_definition
from server.study.definitions.own_texts import list_texts
from server.study.xlsform import parse_xlsform, write_xlsform
from tests.support import factories, strategies
from tests.support.scale import choose_size

AFTER = {"question": "job", "any_of": ["paid", "both"]}
SURVEY: dict[str, Any] = {
    "format": 2,
    "language": "en",
    "title": "=Work ${and} rest",
    "introduction": "Who asks.",
    "consent": "I agree to **this**.",
    "least_age": 16,
    "strength": {"gamma": 0.25},
    "questions": [
        {"name": "last_year", "kind": "section", "text": "Last year", "body": "Think of it."},
        {
            "name": "job",
            "kind": "select_one",
            "text": "What work did you have?",
            "options": [
                {"name": "paid", "text": "Paid"},
                {"name": "both", "text": "Both"},
                {"name": "none", "text": "Does not apply"},
            ],
            "design": {"mechanism": "best_choice"},
        },
        {
            "name": "undeclared",
            "kind": "yes_no",
            "text": "Was it undeclared ${job}?",
            "show_if": AFTER,
            "otherwise": "no",
            "design": {"mechanism": "coin_flip"},
        },
        {"name": "aside", "kind": "section", "text": "Aside", "show_if": AFTER},
        {
            "name": "things",
            "kind": "select_multiple",
            "text": "Which?",
            "prefer_not_to_say": True,
            "options": [{"name": "a", "text": "A"}, {"name": "b", "text": "Does not apply"}],
            "design": {"mechanism": "coin_flip"},
        },
        {
            "name": "hours",
            "kind": "number",
            "text": "How many hours?",
            "low": 0,
            "high": 80,
            "step": 0.5,
            "unit": "hours",
            "design": {"mechanism": "stochastic_rounding"},
        },
        {
            "name": "more",
            "kind": "text",
            "text": "You ticked A.",
            "show_if": {"question": "things", "any_of": ["a"]},
        },
        {
            "name": "long_days",
            "kind": "text",
            "text": "Those are long days.",
            "show_if": {"question": "hours", "from": 40, "to": 80},
        },
    ],
    "translations": {
        "ar": {"Last year": "السنة الماضية", "Paid": "مدفوع", "hours": "ساعة", "=Work ${and} rest": "العمل"}
    },
}


def sheets_of(body: bytes) -> dict[str, list[dict[str, Any]]]:
    """The rows of each sheet by the headings of their columns."""
    found = {}
    for sheet in load_workbook(io.BytesIO(body)).worksheets:
        heads, *rows = sheet.iter_rows(values_only=True)
        found[sheet.title] = [
            {str(head): cell for head, cell in zip(heads, row, strict=True) if cell is not None}
            for row in rows
        ]
    return found


def convert(body: bytes) -> str:
    """The XForm that the converter of KoboToolbox and ODK makes of it."""
    # Here, as it takes long to import: every process that runs tests imports this file, and one of them runs it.
    from pyxform import xls2xform

    return str(xls2xform.convert(io.BytesIO(body), validate=False).xform)


def test_a_survey_in_two_languages() -> None:
    sheets = sheets_of(write_xlsform(parse_definition(SURVEY), "en").body)
    rows = {row.get("name", row["type"]): row for row in sheets["survey"]}
    english, arabic = "label::English (en)", "label::العربية (ar)"

    assert [row["type"] for row in sheets["survey"]] == [
        "note",
        "note",
        "acknowledge",
        "acknowledge",
        "begin_group",
        "note",
        "select_one job",
        "select_one undeclared",
        "note",
        "select_multiple things",
        "range",
        "note",
        "note",
        "end_group",
    ]
    assert (rows["last_year"][english], rows["last_year"][arabic]) == ("Last year", "السنة الماضية")
    assert rows["age"][english] == "I am at least 16 years old"
    assert rows["undeclared"]["relevant"] == "${job} = 'paid' or ${job} = 'both'"
    assert rows["undeclared"][english] == "Was it undeclared $ {job}?"  # no reference
    assert arabic not in rows["undeclared"]  # no translation: an empty cell, which nobody takes for one
    assert rows["more"]["relevant"] == "selected(${things}, 'a')"
    assert rows["long_days"]["relevant"] == "${hours} >= 40 and ${hours} <= 80"
    assert rows["hours"]["parameters"] == "start=0 end=80 step=0.5"
    assert rows["hours"]["hint::العربية (ar)"] == "ساعة"
    choices = [(row["list_name"], row["name"], row[english], row.get(arabic)) for row in sheets["choices"]]
    assert ("job", "paid", "Paid", "مدفوع") in choices
    assert ("job", "both", "Both", None) in choices
    assert ("undeclared", "yes", "Yes", "نعم") in choices
    assert sheets["settings"] == [
        {
            "form_title": "=Work $ {and} rest",
            "default_language": "English (en)",
            "moneda_title::العربية (ar)": "العمل",
        }
    ]
    (warning,) = (head for head in sheets["moneda"][0] if "reads true answers" in head)
    assert [row["entry"] for row in sheets["moneda"] if warning in row] == ["undeclared"]


def test_the_converter_of_other_programs_takes_it() -> None:
    xform = convert(write_xlsform(parse_definition(SURVEY), "en").body)
    assert "relevant=\" /data/last_year/job  = 'paid' or" in xform
    assert "السنة الماضية" in xform
    assert xform.count("<select1 ") == 2


@given(strategies.documents())
def test_any_survey_is_a_form(document: dict[str, Any]) -> None:
    definition = parse_definition(document)
    written = write_xlsform(definition, "es")
    convert(written.body)
    assert written == write_xlsform(definition, "es")
    if definition.questions:
        read = parse_xlsform(written.body).definition
        assert [question.name for question in read.questions] == [each.name for each in definition.questions]
        for ours, theirs in zip(definition.questions, read.questions, strict=True):
            assert compare(ours) == compare(theirs)


def keep_writable(document: dict[str, Any]) -> dict[str, Any]:
    """What of a document a form can hold: neither chance nor plans, nor what the file says that it leaves out."""
    kept: list[dict[str, Any]] = []
    for entry in document["questions"]:
        if entry["kind"] == "check" or entry.get("show_if", {}).get("question", "") not in (
            "",
            *(each["name"] for each in kept),
        ):
            continue
        entry = {name: value for name, value in entry.items() if name not in ("control", "design")}
        if "low" in entry:
            entry = {
                name: value for name, value in entry.items() if name not in ("cuts", "prefer_not_to_say")
            }
            entry["kind"] = "number"
        if "otherwise" in entry:
            entry = {name: value for name, value in entry.items() if name not in ("otherwise", "show_if")}
        if entry["kind"] in IMPORTED:
            entry["design"] = {"mechanism": IMPORTED[entry["kind"]]}
        if entry["kind"] == "yes_no" and entry.get("prefer_not_to_say"):
            entry["design"] = {"mechanism": "k_ary"}
        kept.append(entry)
    kept_whole = ("language", "title", "introduction", "consent", "least_age")
    return {name: document[name] for name in kept_whole if name in document} | {
        "format": 2,
        "questions": kept,
        "strength": {"gamma": 0.25},
    }


IMPORTED = {
    "yes_no": "coin_flip",
    "select_one": "best_choice",
    "scale": "k_ary",
    "select_multiple": "coin_flip",
    "number": "stochastic_rounding",
}
"""The designs that a form becomes."""


OUR_WORDS = {
    load_catalogue(language).gettext(word)
    for language in RESPONDENT_LANGUAGES
    for word in ("Yes", "No", "Prefer not to say")
}


def test_what_stands_before_the_questions_comes_back_and_what_is_missing_stays_missing() -> None:
    original = parse_definition({**SURVEY, "introduction": "Qui demande\u00a0?"})
    read = parse_xlsform(write_xlsform(original, "en").body).definition
    for name in ("title", "introduction", "consent", "least_age"):
        wanted = getattr(original, name)
        assert getattr(read, name) == (wanted.replace("${", "$ {") if name == "title" else wanted), name
    kept = {text.replace("${", "$ {"): said for text, said in original.translations["ar"].items()}
    assert read.translations == {"ar": kept}
    # Rows that somebody has changed are read as those of any other form.
    book = load_workbook(io.BytesIO(write_xlsform(original, "en").body))
    sheet = book["survey"]
    heads = [cell.value for cell in sheet[1]]
    label, mark = heads.index("label::English (en)") + 1, heads.index("moneda") + 1
    for row in range(2, sheet.max_row + 1):
        if sheet.cell(row, mark).value == "least_age 16":
            sheet.cell(row, label).value = "I am at least 18 years old"
        if sheet.cell(row, mark).value == "select_one":
            sheet.cell(row, mark).value = "introduction"
    changed = io.BytesIO()
    book.save(changed)
    again = parse_xlsform(changed.getvalue())
    assert again.definition.least_age is None
    assert again.definition.introduction == "What work did you have?"
    assert "an agreement is no answer; write it as a note" in [note.message for note in again.not_taken]


def order_answers(definition: Definition) -> Definition:
    """Conditions name answers in any order; a form, in that of the question."""
    entries = [
        replace(
            entry,
            show_if=entry.show_if and replace(entry.show_if, any_of=tuple(sorted(entry.show_if.any_of))),
        )
        for entry in definition.entries
    ]
    return replace(definition, entries=tuple(entries))


@pytest.mark.scaled
@settings(max_examples=choose_size(25, 1_000))
@given(strategies.documents(), st.data())
def test_whatever_a_form_can_hold_comes_back_equal(document: dict[str, Any], data: st.DataObject) -> None:
    """With each text translated or not, as it was: what is missing stays missing.

    No text is a word of ours for an answer, which a form has in every language.
    """
    document = keep_writable(document)
    texts = [text for text in list_texts(document) if "${" not in text]
    assume(OUR_WORDS.isdisjoint(texts))
    one_line = strategies.lines().map(
        lambda text: " ".join(text.split())
    )  # as forms are read: a tab is a space
    chosen = {
        language: data.draw(st.dictionaries(st.sampled_from(texts), one_line, max_size=4))
        for language in ("fr", "ar")
    }
    document["translations"] = {language: said for language, said in chosen.items() if said}
    try:
        definition = parse_definition(document)
    except InputError:  # two answers that look the same in a language
        reject()
    assume("${" not in json.dumps(document))
    imported = parse_xlsform(write_xlsform(definition, "en").body)
    assert order_answers(imported.definition) == order_answers(definition)
    assert imported.not_taken == ()


def compare(question: Question) -> tuple[object, ...]:
    """What a form can say of a question."""
    grid = question.grid and (question.grid.low, question.grid.high, question.grid.step)
    refusal = question.prefer_not_to_say and grid is None
    # Of two answers that differ in capitals alone, a form that is read takes one.
    options = {" ".join(option.text.split()).casefold() for option in question.options}
    return question.text.replace("${", "$ {"), options, grid, refusal


def test_conditions_and_translations_come_back() -> None:
    read: Definition = parse_xlsform(write_xlsform(parse_definition(SURVEY), "en").body).definition
    by_name = {entry.name: entry for entry in read.entries}
    for name in ("more", "long_days", "aside"):
        original = next(entry for entry in SURVEY["questions"] if entry["name"] == name)
        condition = by_name[name].show_if
        assert condition is not None
        assert condition.as_json() == original["show_if"]
    assert read.translations["ar"]["Last year"] == "السنة الماضية"


@pytest.mark.parametrize("language", ["fr", "pt", "ar"])
def test_answers_of_ours_are_known_again_in_each_language(language: str) -> None:
    document = factories.definition(
        language=language,
        questions=[
            {
                "name": "q",
                "kind": "yes_no",
                "text": "Q",
                "prefer_not_to_say": True,
                "design": {"mechanism": "k_ary", "epsilon": 1},
            }
        ],
    )
    (question,) = parse_xlsform(write_xlsform(parse_definition(document), "en").body).definition.questions
    assert (question.kind, question.prefer_not_to_say) == ("yes_no", True)


def test_the_page_and_the_command_give_the_same_file(
    database_url: str, signed_in: FlaskClient, tmp_path: Path
) -> None:
    slug = factories.draft(database_url, SURVEY)
    page = f"/manage/surveys/{slug}"
    answer = signed_in.get(f"{page}/form.xlsx")
    file = tmp_path / "form.xlsx"
    result = factories.run(database_url, "survey", "form", slug, str(file))

    assert result.exit_code == 0, result.output
    assert "not in the file: undeclared: has no answer in the file" in result.stderr
    assert answer.data == file.read_bytes()
    assert f"{page}/form.xlsx" in signed_in.get(page).text

    again = factories.run(database_url, "survey", "form", slug, str(file))
    assert again.exit_code == 2
    assert "must be a new file that can be written" in again.stderr
    assert answer.data == file.read_bytes()


def test_an_unfinished_draft_says_what_is_missing(database_url: str, signed_in: FlaskClient) -> None:
    slug = factories.draft_unfinished(database_url, factories.definition(title=""))
    page = f"/manage/surveys/{slug}"
    assert "form.xlsx" not in signed_in.get(page).text
    answer = signed_in.get(f"{page}/form.xlsx")
    assert answer.status_code == 422
    assert "title" in answer.text
