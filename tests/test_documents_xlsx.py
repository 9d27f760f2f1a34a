"""A document as a workbook, read by another program: numbers are numbers, and texts are only texts."""

from dataclasses import replace

import pytest

from server.output.documents import Number, Text, to_xlsx
from tests.support import sample_documents

ROWS = [
    (Text("Yes"), sample_documents.share(0.0525), Number(None, "–")),
    (Text("=1+1"), sample_documents.share(-0.25), Number(1234, "1,234", "#,##0")),
]


def test_a_table_is_a_sheet_with_numbers_that_are_numbers() -> None:
    sheet = sample_documents.workbook(to_xlsx(sample_documents.document(sample_documents.table(ROWS))))[
        "Shares"
    ]

    assert [[cell.value for cell in row] for row in sheet["A1:C3"]] == [
        ["Answer", "Column 1", "Column 2"],
        ["Yes", 0.0525, "–"],
        ["=1+1", -0.25, 1234],
    ]
    assert [sheet[place].number_format for place in ("B2", "C3")] == ["0.0%", "#,##0"]
    assert [cell.data_type for row in sheet["A2:C3"] for cell in row] == ["s", "n", "s", "s", "n", "n"]
    assert sheet.freeze_panes == "B2"
    assert sheet["A1"].font.bold
    assert [sheet["A5"].value, sheet["A6"].value] == ["Shares", "A note below."]


@pytest.mark.parametrize("value", [0.1 + 0.2, 1 / 3, 1e-12, -2.5e-7, 123456789.123456])
def test_numbers_keep_sixteen_digits(value: float) -> None:
    document = sample_documents.document(
        sample_documents.table([(Text("Yes"), sample_documents.share(value))])
    )

    assert sample_documents.workbook(to_xlsx(document))["Shares"]["B2"].value == pytest.approx(
        value, rel=5e-16
    )


def test_the_first_sheet_holds_the_text_and_leads_to_the_tables() -> None:
    book = sample_documents.workbook(
        to_xlsx(sample_documents.document(sample_documents.table(ROWS), title="Exams: [all] / none?"))
    )
    sheet = book.worksheets[0]

    assert book.sheetnames == ["Exams all none", "Shares"]
    written = [[cell.value for cell in row if cell.value is not None] for row in sheet.iter_rows()]
    assert [row for row in written if row] == [
        ["Exams: [all] / none?"],
        ["Report of today"],
        ["Estimates"],
        ["¿Copió alguna vez?"],
        ["Shares"],
        ["Method"],
        ["Respondents are simulated."],
        ["Source"],
        ["Respondents", 4000],
        ["Hash", "0a1b" * 16],
    ]
    (link,) = [cell.hyperlink for row in sheet.iter_rows() for cell in row if cell.hyperlink]
    assert link.location == "'Shares'!A1"
    assert book.properties.title == "Exams: [all] / none?"


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("https://example.org")', "https://example.org", "{=1}"],
)
def test_no_text_becomes_a_formula_or_a_link(text: str) -> None:
    table = replace(
        sample_documents.table([(Text(text), Text(text))], caption=text), columns=(text, text), notes=(text,)
    )
    book = sample_documents.workbook(to_xlsx(sample_documents.document(table, title=text, own=text)))

    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value == text]
    assert len(cells) == 9
    assert all(cell.data_type == "s" for cell in cells)
    links = [cell.hyperlink for cell in cells if cell.hyperlink]
    assert [link.target for link in links] == [None]


@pytest.mark.parametrize(
    ("captions", "names"),
    [
        (["x" * 40, "x" * 40, "X" * 35], ["x" * 31, "x" * 27 + " (2)", "X" * 27 + " (3)"]),
        (["a/b\\c?d*e[f]g:h", "'quoted'", ""], ["a b c d e f g h", "quoted", "-"]),
        (["History", "history", "Exam survey"], ["History (2)", "history (3)", "Exam survey (2)"]),
        (["x" * 30 + " 'y", "O'Higgins", "\x01"], ["x" * 30, "O'Higgins", "\ufffd"]),
    ],
)
def test_names_of_sheets_are_valid_and_all_different(captions: list[str], names: list[str]) -> None:
    tables = [sample_documents.table(ROWS, f"t{place}", caption) for place, caption in enumerate(captions)]

    book = sample_documents.workbook(to_xlsx(sample_documents.document(*tables)))

    assert book.sheetnames == ["Exam survey", *names]
    links = [
        cell.hyperlink.location for row in book.worksheets[0].iter_rows() for cell in row if cell.hyperlink
    ]
    assert links == ["'{}'!A1".format(name.replace("'", "''")) for name in names]


def test_the_same_document_gives_the_same_bytes() -> None:
    made = to_xlsx(sample_documents.document(sample_documents.table(ROWS)))

    assert to_xlsx(sample_documents.document(sample_documents.table(ROWS))) == made
    assert to_xlsx(sample_documents.document(sample_documents.table(ROWS), title="Another survey")) != made


def test_what_a_cell_cannot_hold_is_seen_to_be_missing() -> None:
    rows = [(Text("a" * 40_000), Text("b\x00c\ud800d"), Number(2**60 + 1, "1,152,921,504,606,846,977"))]

    sheet = sample_documents.workbook(to_xlsx(sample_documents.document(sample_documents.table(rows))))[
        "Shares"
    ]

    assert sheet["A2"].value == "a" * 32_766 + "…"
    assert sheet["B2"].value == "b\ufffdc\ufffdd"
    assert sheet["C2"].value == "1,152,921,504,606,846,977"
