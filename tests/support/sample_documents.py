"""Documents made by hand, and what is read from the files that the writers make of them."""

from collections.abc import Sequence
from functools import cache
from io import BytesIO

import pypdf
from openpyxl import Workbook, load_workbook

from server.output.documents import Chart, Document, Facts, Number, Paragraph, Section, Table, Text

CHART = (
    '<svg class="chart" viewBox="0 0 360 60" role="img"><title>Shares</title><desc>Yes: 40.0 %</desc>'
    '<rect class="bar" x="100" y="20" width="80" height="20"/><text x="190" y="35">Drawn 40.0 %</text></svg>'
)
NUMBERS = (0, 5, 40, 100)


def share(value: float | None) -> Number:
    """A share as it is read in English."""
    return Number(value, "–" if value is None else f"{100 * value:.1f}\N{NO-BREAK SPACE}%", "0.0%")


def table(rows: Sequence[tuple[Text | Number, ...]], name: str = "shares", caption: str = "Shares") -> Table:
    """A table with as many columns as its rows have cells."""
    columns = ("Answer", *(f"Column {place}" for place in range(1, len(rows[0]))))
    return Table(name, caption, columns, tuple(rows), notes=("A note below.",))


def document(*tables: Table, title: str = "Exam survey", own: str = "¿Copió alguna vez?") -> Document:
    """Every kind of block, and these tables."""
    facts = Facts((("Respondents", Number(4000, "4,000", "#,##0")), ("Hash", Text("0a1b" * 16, code=True))))
    inner = Section("source", Text("Source"), (facts,))
    sections = (
        Section(
            "estimates",
            Text("Estimates"),
            (
                Paragraph(Text(own, from_survey=True, language="es")),
                *tables,
                Chart(CHART, "Drawing", "Yes: 40.0 %", reading="How to read it."),
            ),
        ),
        Section(
            "method", Text("Method"), (Paragraph(Text("Respondents are simulated."), notice=True),), (inner,)
        ),
    )
    return Document(
        Text(title, from_survey=True, language="es"),
        "Report of today",
        "en",
        sections,
        paper_css=".bar { fill: #8fb5ac }",
    )


def reader(pdf: bytes) -> pypdf.PdfReader:
    """A PDF by another program."""
    return pypdf.PdfReader(BytesIO(pdf))


def pieces(page: pypdf.PageObject) -> list[tuple[str, float]]:
    """The texts of a page, each with the place where it begins, in points from the left."""
    found: list[tuple[str, float]] = []

    def note(text: str, matrix: Sequence[float], place: Sequence[float], *_: object) -> None:
        if text.strip():
            found.append((text.strip(), matrix[0] * place[4] + matrix[4]))

    page.extract_text(visitor_text=note)
    return found


@cache
def workbook(xlsx: bytes) -> Workbook:
    """A workbook by another program."""
    return load_workbook(BytesIO(xlsx))
