"""XLSForm workbooks: what is not taken is listed, whatever the cells hold."""

import io
import json
from typing import Any

import pytest

from server.study.xlsform import parse_xlsform
from tests.support import factories, sample_xlsforms
from tests.support.sample_xlsforms import HEAD, PLAIN_CHOICES, Rows, entries, form, parse_rows, why


@pytest.mark.parametrize(
    "kind",
    "text calculate geopoint geotrace geoshape image audio video file date time dateTime barcode acknowledge "
    "rank hidden start end today deviceid phonenumber username email audit trigger xml-external unheard_of".split(),
)
def test_types_that_cannot_be_randomised_are_listed(kind: str) -> None:
    imported = parse_rows(["select_one yn", "a", "A?"], [kind, "q", "What?"])

    assert len(entries(imported)) == 1
    assert why(imported, kind)


def test_choices_from_elsewhere_other_and_repeats_are_listed() -> None:
    imported = parse_rows(
        ["select_one yn or_other", "a", "A?"],
        ["select_one_from_file cities.csv", "b", "B?"],
        ["select_one nothing", "c", "C?"],
        ["begin_repeat", "r", "Children"],
        ["select_one yn", "d", "D?"],
        ["end_repeat"],
        ["select_one yn", "e", "E?"],
    )

    assert [entry["name"] for entry in entries(imported)] == ["a", "e"]
    assert why(imported, "select_one_from_file cities.csv") == "its choices are in another file"
    assert why(imported, "select_one nothing") == "the list nothing has no choices on the sheet “choices”"
    assert [note.rows for note in imported.not_taken if "repeats" in note.message] == [(5,), (6,)]
    assert "or_other" in {note.value for note in imported.not_taken}


def test_names_are_made_to_fit_and_told() -> None:
    imported = parse_rows(
        ["select_one yn", "Año de Nacimiento", "A?"],
        ["select_one yn", "año_de_nacimiento", "B?"],
        ["select_one yn", "1st", "C?"],
        ["select_one yn", None, "D?"],
        ["select_one yn", "x" * 60, "E?"],
        ["select_one yn", "名前", "F?"],
    )

    names = [entry["name"] for entry in entries(imported)]
    assert names == [
        "ano_de_nacimiento",
        "ano_de_nacimiento_2",
        "question_1st",
        "question",
        "x" * 40,
        "question_2",
    ]
    assert "ano_de_nacimiento" in why(imported, "Año de Nacimiento")


def test_a_condition_on_a_name_that_two_questions_have_is_not_taken() -> None:
    imported = parse_rows(
        ["select_one yn", "a", "A?"],
        ["select_one yn", "a", "B?"],
        ["note", "n", "Hello", "${a} = 'yes'"],
    )

    assert [entry["name"] for entry in entries(imported)] == ["a", "a_2", "n"]
    assert "show_if" not in entries(imported)[2]


def test_choices_with_faults_are_listed() -> None:
    choices: Rows = [
        ["list_name", "name", "label", "order", "image"],
        ["l", "a", "A", 1, "a.png"],
        ["l", "a", "Again", 2],
        ["l", "b", "A", 3],
        ["l", None, "Nameless", 4],
        [None, "c", "Listless", 5],
        ["l", "d", None, 6],
        ["unused", "z", "Z", 7],
    ]

    imported = parse_rows(["select_one l", "q", "Which?"], choices=choices)

    (entry,) = entries(imported)
    assert entry["options"] == [{"name": "a", "text": "A"}, {"name": "d", "text": "d"}]
    messages = [note.message for note in imported.not_taken]
    assert "another choice of its list reads the same" in messages
    assert "this name stands in its list already" in messages
    assert {"a", "Nameless", "c", "d", "unused", "order", "image"} <= {n.value for n in imported.not_taken}


@pytest.mark.parametrize("length", [0, 1, 51])
def test_a_list_of_the_wrong_length_is_not_taken(length: int) -> None:
    options = [["l", f"n{k}", f"Choice {k}"] for k in range(length)]

    imported = parse_rows(
        ["select_one yn", "a", "A?"], ["select_one l", "q", "Which?"], choices=[*PLAIN_CHOICES, *options]
    )

    assert len(entries(imported)) == 1
    assert why(imported, "select_one l")


def test_texts_that_are_too_long_are_not_cut() -> None:
    imported = parse_rows(
        ["select_one yn", "a", "A?"],
        ["select_one yn", "b", "b" * 501],
        ["note", "c", "c" * 4001],
        ["select_one l", "d", "D?"],
        choices=[*PLAIN_CHOICES, ["l", "x", "x" * 201], ["l", "y", "Y"]],
        settings=[["form_title"], ["t" * 201]],
    )

    assert [entry["name"] for entry in entries(imported)] == ["a"]
    assert imported.definition.title == "t" * 200
    assert sum("characters" in note.message for note in imported.not_taken) == 4


def test_more_entries_than_a_survey_has_are_listed() -> None:
    imported = parse_rows(*(["select_one yn", f"q{k}", f"Question {k}?"] for k in range(103)))

    assert len(entries(imported)) == 100
    (note,) = [note for note in imported.not_taken if "at most 100 entries" in note.message]
    assert note.places == "102–104"


def test_rows_without_a_wording_or_a_type_are_listed() -> None:
    imported = parse_rows(["select_one yn", "a", "A?"], ["select_one yn", "b"], [None, "c", "C?"])

    assert len(entries(imported)) == 1
    assert {note.value for note in imported.not_taken} >= {"select_one yn", "c"}


def test_cells_are_read_as_their_authors_see_them() -> None:
    imported = parse_rows(
        ["  select_one\u00a0yn\u00a0", " a\u00a0", "\u00a0Really?\u200b \n", None, None, None],
        ["range", 7, 2.0, None, None, "start=0 end=4"],
        ["range", True, False, None, None, "start=0 end=4"],
        ["select_one n", "c", "_x000D_\r\nC?"],
        choices=[*PLAIN_CHOICES, ["n", 1, 1.5], ["n", 2.0, "2"], [" n ", "3", 3]],
    )

    assert [entry["text"] for entry in entries(imported)] == ["Really?", "2", "false", "C?"]
    assert entries(imported)[0]["name"] == "a"
    assert [option["text"] for option in entries(imported)[3]["options"]] == ["1.5", "2", "3"]


def test_formulas_are_never_calculated_and_errors_are_named() -> None:
    body = taken_with_xml(
        '<c r="C3" t="str"><f>HYPERLINK("http://example.org","B?")</f><v>B?</v></c>',
        '<c r="C4"><f>1+1</f></c>',
        '<c r="C5" t="e"><f>1/0</f><v>#DIV/0!</v></c>',
    )

    imported = parse_xlsform(body, "en")

    assert [question.text for question in imported.definition.questions] == ["A?", "B?"]
    assert why(imported, "#DIV/0!") == "the cell holds an error instead of a value"
    assert (
        sum(note.message == "there is no wording in the chosen language" for note in imported.not_taken) == 1
    )
    (note,) = [note for note in imported.not_taken if "no wording" in note.message]
    assert note.rows == (4, 5)


def taken_with_xml(*cells: str) -> bytes:
    """A form whose labels in rows 3, 4, ... are written by hand."""
    rows = [["select_one yn", f"q{k}", f"MARK{k}"] for k in range(len(cells))]
    body = form([HEAD[:3], ["select_one yn", "a", "A?"], *rows], PLAIN_CHOICES)
    xml = sample_xlsforms.sheet_xml(body)
    for k, cell in enumerate(cells, start=3):
        start = xml.index(f'<c r="C{k}"')
        xml = xml[:start] + cell + xml[xml.index("</c>", start) + 4 :]
    return sample_xlsforms.repack_workbook(body, sheet1=xml.encode())


def test_formulas_whose_result_was_not_stored_are_named() -> None:
    """As programs write them that do not calculate: what they stand for is not known here."""
    written = '=CONCATENATE("${a} = ", "1")'
    rows = [
        HEAD[:4],
        ["select_one yn", "a", "A?"],
        ["note", "b", "B", written],
        ["select_one yn", "c", '="C" & "?"'],
    ]

    imported = parse_xlsform(form(rows, [*PLAIN_CHOICES[:3], ["yn", "maybe", "=A1"]]))

    assert [entry["name"] for entry in entries(imported)] == ["a", "b"]
    assert why(imported, written).startswith("the cell holds a formula without its result")
    assert {
        (note.sheet, note.rows, note.column) for note in imported.not_taken if "formula" in note.message
    } == {("survey", (3,), "relevant"), ("survey", (4,), "label"), ("choices", (4,), "label")}
    # The result of this one was stored: it is an empty text.
    empty = taken_with_xml('<c r="C3" t="str"><f>IF(A1="","",A1)</f><v></v></c>')
    assert not [note for note in parse_xlsform(empty).not_taken if "formula" in note.message]


def test_merged_cells_count_once() -> None:
    from openpyxl import load_workbook

    book = load_workbook(
        io.BytesIO(form([HEAD, ["select_one yn", "a", "A?"], ["select_one yn", "b", "B?"]], PLAIN_CHOICES))
    )
    book["survey"].merge_cells("C2:C3")
    file = io.BytesIO()
    book.save(file)

    imported = parse_xlsform(file.getvalue(), "en")

    assert [question.name for question in imported.definition.questions] == ["a"]


def test_a_second_column_of_the_same_meaning_is_not_taken() -> None:
    rows = [["type", "name", "label", "Label", "name"], ["select_one yn", "a", "A?", "Z?", "z"]]

    imported = parse_xlsform(form(rows), "en")

    assert [(question.name, question.text) for question in imported.definition.questions] == [("a", "A?")]
    assert {note.value for note in imported.not_taken} >= {"Label", "name"}


def test_of_two_translations_of_one_text_the_first_stays_and_the_other_is_listed() -> None:
    head = ["type", "name", "label::English (en)", "label::Español (es)", "hint::Español (es)"]
    rows = [
        head,
        ["select_one yn", "a", "Other?", "¿Otro?", "¿Cuál?"],
        ["select_one yn", "b", "Other?", "¿Otra?", None],
        ["select_one yn", "c", "Other?", " ¿Otro? ", None],
        ["calculate", "d", "Yes", "Así es", None],  # not taken, so that it is no translation of anything
    ]

    imported = parse_xlsform(form(rows), "en")

    assert imported.definition.as_json()["translations"]["es"]["Other?"] == "¿Otro?"
    listed = [
        (note.rows, note.value) for note in imported.not_taken if "another translation" in note.template
    ]
    assert ((3,), "¿Otra?") in listed
    assert len(listed) == 1, listed


def test_the_command_imports_a_form_and_says_what_it_left(tmp_path: Any) -> None:
    database = f"sqlite:///{tmp_path / 'cli.sqlite3'}"
    path = tmp_path / "form.xlsx"
    path.write_bytes(sample_xlsforms.kobo())

    shown = factories.run(database, "survey", "import", str(path))
    assert shown.exit_code == 0
    assert "Tabaco y salud" in shown.stdout
    assert "not taken: survey 15 type: text: free text cannot be randomised" in shown.stderr

    answer = factories.run(database, "survey", "import", str(path), "--language", "en", "--json")
    document = json.loads(answer.stdout)
    assert {"sheet", "rows", "column", "said", "why"} == set(document["not_taken"][0])
    exported = json.loads(factories.run(database, "survey", "export", document["survey"]).stdout)
    assert exported["language"] == "en"

    path.write_bytes(sample_xlsforms.kobo()[:1000])
    broken = factories.run(database, "survey", "import", str(path))
    assert broken.exit_code == 2
    assert "must be a whole .xlsx workbook" in broken.stderr
    assert "Traceback" not in broken.stderr


@pytest.mark.parametrize("off", ["yes", "YES", "true", "TRUE()"])
def test_rows_that_are_switched_off_are_not_asked(off: str) -> None:
    rows = [
        ["type", "name", "label", "disabled"],
        ["select_one yn", "a", "A?", "no"],
        ["select_one yn", "b", "B?", off],
        ["note", "c", "C", off],
        ["select_one yn", "d", "D?", None],
    ]
    imported = parse_xlsform(form(rows, PLAIN_CHOICES), "en")

    assert [entry["name"] for entry in entries(imported)] == ["a", "d"]
    assert [why(imported, name) for name in ("b", "c")] == ["the row is switched off"] * 2
    assert {note.sheet for note in imported.not_taken if "disabled" not in note.column} <= {"choices"}


def test_groups_that_never_end_are_listed() -> None:
    imported = parse_rows(
        ["begin_group", "outer", "Outer"],
        ["begin_group", "inner", "Inner"],
        ["select_one yn", "a", "A?"],
        ["end_group"],
        ["begin_repeat", "within", "Within"],
        ["end_group"],
        ["select_one yn", "b", "B?"],
        ["begin_group", "last", "Last"],
        ["select_one yn", "c", "C?"],
    )

    assert [entry["name"] for entry in entries(imported) if "design" in entry] == ["a", "b", "c"]
    open_ended = [note.rows for note in imported.not_taken if note.message.startswith("the group never ends")]
    assert open_ended == [(6,), (9,)]


def test_choices_that_look_alike_are_one() -> None:
    choices = [
        ["list_name", "name", "label"],
        *(["l", f"c{n}", text] for n, text in enumerate(("Caf\u00e9", "Cafe\u0301", "Tea", "Te\u200ba"))),
    ]
    imported = parse_rows(["select_one l", "a", "A?"], choices=choices)

    assert [option["name"] for option in entries(imported)[0]["options"]] == ["c0", "c2"]
    assert [note.message for note in imported.not_taken] == ["another choice of its list reads the same"] * 2
