"""A document as a workbook, read by another program: numbers are numbers, and texts are only texts."""

from dataclasses import replace

import pytest
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from server.output.charts import PlottedEstimate, mean_axis, share_axis
from server.output.documents import Chart, Document, FindingBlock, Number, Plot, Section, Text, to_xlsx
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

    assert book.sheetnames == ["Report", "Shares"]
    written = [[cell.value for cell in row if cell.value is not None] for row in sheet.iter_rows()]
    assert [row for row in written if row] == [
        ["Exams: [all] / none?"],
        ["Report of today"],
        ["The other sheets"],
        [
            "Each holds one table; its name leads there. Numbers have all their digits, and are shown as in the "
            "report, whose text goes on below."
        ],
        ["Shares", "Shares"],
        ["Estimates"],
        ["¿Copió alguna vez?"],
        ["Shares"],
        ["Method"],
        ["Respondents are simulated."],
        ["Source"],
        ["Respondents", 4000],
        ["Hash", "0a1b" * 16],
    ]
    links = [cell.hyperlink for row in sheet.iter_rows() for cell in row if cell.hyperlink]
    assert [link.location for link in links] == ["'Shares'!A1"] * 2
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
    assert len(cells) == 10 + (text in book.sheetnames)
    assert all(cell.data_type == "s" for cell in cells)
    links = [cell.hyperlink for sheet in book for row in sheet.iter_rows() for cell in row if cell.hyperlink]
    assert [link.target for link in links] == [None, None]


@pytest.mark.parametrize(
    ("captions", "names"),
    [
        (["x" * 40, "x" * 40, "X" * 35], ["x" * 31, "x" * 27 + " (2)", "X" * 27 + " (3)"]),
        (["a/b\\c?d*e[f]g:h", "'quoted'", ""], ["a b c d e f g h", "quoted", "-"]),
        (["History", "history", "Report"], ["History (2)", "history (3)", "Report (2)"]),
        (["x" * 30 + " 'y", "O'Higgins", "\x01"], ["x" * 30, "O'Higgins", "-"]),
        (
            ["What forged responses could move by"] * 2,
            ["What forged responses could", "What forged responses could (2)"],
        ),
    ],
)
def test_names_of_sheets_are_valid_and_all_different(captions: list[str], names: list[str]) -> None:
    tables = [sample_documents.table(ROWS, f"t{place}", caption) for place, caption in enumerate(captions)]

    book = sample_documents.workbook(to_xlsx(sample_documents.document(*tables)))

    assert book.sheetnames == ["Report", *names]
    links = [
        cell.hyperlink.location for row in book.worksheets[0].iter_rows() for cell in row if cell.hyperlink
    ]
    assert links == ["'{}'!A1".format(name.replace("'", "''")) for name in names] * 2


def test_a_long_caption_leaves_the_name_of_its_sheet_to_what_is_shorter() -> None:
    long = replace(
        sample_documents.table(ROWS, caption="By stratum: have you ever copied in it?"), short="By stratum, 1"
    )
    fitting = replace(sample_documents.table(ROWS, name="b", caption="By stratum"), short="By stratum, 2")

    book = sample_documents.workbook(to_xlsx(sample_documents.document(long, fitting)))

    assert book.sheetnames == ["Report", "By stratum, 1", "By stratum"]


BARS = (
    PlottedEstimate("=1+1", "29 %", 0.29, (0.24, 0.34), "Which?"),
    PlottedEstimate("No", "-2 %", -0.02, (-0.1, 0.06)),
    PlottedEstimate("Nobody", "–", None, None),
)
DOT = (PlottedEstimate("Mean", "2.4", 2.4, (2.125, 2.75)),)


def with_charts() -> Document:
    """A document that begins with a finding, and has a chart beside a table."""
    shares = Plot(BARS, share_axis([(-0.1, 0.34)]), "0.0%")
    mean = Plot(DOT, mean_axis(1, 5, (2.125, 2.75)), "0.000", bars=False)
    chart = Chart(sample_documents.CHART, "Shares", "Yes: 40.0 %", shares)
    average = replace(chart, caption="Average", plot=mean)
    found = FindingBlock(
        "Between 24 and 34 of 100. Best guess: 29.", notes=("1,000 responses",), charts=(chart, average)
    )
    made = sample_documents.document(sample_documents.table(ROWS))
    first, *rest = made.sections
    lead = Section("finding-1", Text("Which?", from_survey=True), (found,))
    beside = replace(first, blocks=(*first.blocks[:-1], replace(chart, alternative="Beside")))
    return replace(made, sections=(lead, beside, *rest), lead=1)


def cells_of(book: Workbook, formula: str) -> list[object]:
    """What the cells hold that a chart refers to."""
    name, _, place = formula.rpartition("!")
    first, _, last = place.replace("$", "").partition(":")
    return [cell.value for (cell,) in book[name.strip("'")][f"{first}:{last or first}"]]


def read_charts(book: Workbook, sheet: Worksheet) -> list[list[list[object]]]:
    """Of each chart of a sheet, what it names, its values, and how far its error bars reach down and up."""
    found = []
    for chart in sheet._charts:
        (series,) = chart.series
        bars = series.errBars
        assert (bars.errBarType, bars.errValType) == ("both", "cust")
        ranges = series.cat.strRef.f, series.val.numRef.f, bars.minus.numRef.f, bars.plus.numRef.f
        found.append([cells_of(book, formula) for formula in ranges])
    return found


def test_charts_are_drawn_by_the_spreadsheet_from_its_cells_with_intervals_as_error_bars() -> None:
    book = sample_documents.workbook(to_xlsx(with_charts()))
    text, table, data = book.worksheets

    assert book.sheetnames == ["Report", "Shares", "Chart data"]
    assert [type(chart).__name__ for chart in text._charts] == ["BarChart", "LineChart"]
    for sheet, expected in ((text, (BARS, DOT)), (table, (BARS,))):
        for (names, values, down, up), points in zip(read_charts(book, sheet), expected, strict=True):
            assert names == [f"{point.heading} {point.label}".strip() for point in points]
            for value, below, above, point in zip(values, down, up, points, strict=True):
                if point.value is None:
                    assert (value, below, above) == ("–", "–", "–")
                    continue
                assert isinstance(value, float)
                assert isinstance(below, float)
                assert isinstance(above, float)
                assert point.interval == pytest.approx((value - below, value + above), abs=1e-12)
                assert value == point.value
    assert [cell.value for cell in data[2]] == ["Shares", "Which? =1+1", 0.29, 0.24, 0.34, *drawn_ends(0)]
    assert [cell.data_type for cell in data[2]] == ["s", "s", "n", "n", "n", "n", "n"]
    assert [data[place].number_format for place in ("C2", "F2", "C5", "F5")] == [
        "0.0%",
        "0.0%",
        "0.000",
        "0.000",
    ]
    assert data.freeze_panes == "B2"


def drawn_ends(place: int) -> tuple[float, float]:
    """How far the interval of a bar reaches down and up, as sixteen digits have it."""
    point = BARS[place]
    assert point.value is not None
    assert point.interval is not None
    low, high = point.interval
    return pytest.approx(point.value - low), pytest.approx(high - point.value)


def test_axes_of_charts_hold_all_that_is_possible_and_every_interval() -> None:
    book = sample_documents.workbook(to_xlsx(with_charts()))

    shares, mean = book.worksheets[0]._charts
    assert [axis.scaling.min for axis in (shares.y_axis, mean.y_axis)] == [-0.25, 1]
    assert [axis.scaling.max for axis in (shares.y_axis, mean.y_axis)] == [1, 5]
    # The first answer stands on top, the axis below the last.
    assert shares.x_axis.scaling.orientation == "maxMin"
    assert shares.y_axis.crosses == "max"


def test_what_was_found_stands_before_what_the_other_sheets_hold() -> None:
    sheet = sample_documents.workbook(to_xlsx(with_charts())).worksheets[0]

    said = [row[0].value for row in sheet.iter_rows() if row[0].value is not None]
    assert said[2:5] == ["Which?", "Between 24 and 34 of 100. Best guess: 29.", "1,000 responses"]
    assert said[5] == "The other sheets"
    assert said[7:9] == ["Shares", "Chart data"]


def test_sheets_are_printed_on_a4_as_wide_as_a_page_without_charts_beside_tables() -> None:
    text, table, data = sample_documents.workbook(to_xlsx(with_charts())).worksheets

    for sheet, turned in ((text, "portrait"), (table, "portrait"), (data, "landscape")):
        assert (sheet.page_setup.paperSize, sheet.page_setup.orientation) in ((9, turned), ("9", turned))
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert (sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight) in ((1, 0), (None, 0))
    assert table.print_area == "'Shares'!$A$1:$C$6"
    assert table.print_title_rows == "$1:$1"


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
