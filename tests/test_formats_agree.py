"""Every number of a report is the same in HTML, PDF, XLSX, CSV and JSON, each of them read by itself.

The study holds every kind of question, two versions, strata of which one is withheld, and a release
of each kind. Twins, with one number that is wrong in one format, are all found.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cache

import pytest

from server import releases, reports
from server.output.documents import Document, FindingBlock, Number, Section, Table, to_html, to_pdf, to_xlsx
from server.people import survey_access
from server.reports.formats import FORMATS
from tests.conftest import NewDatabase
from tests.support import factories, report_numbers, report_readers, sample_documents, sample_report

TITLE = "Every kind"
LANGUAGES = ("en", "es")


@dataclass(frozen=True)
class Files:
    """A report in all formats; of the PDF, its text."""

    locale: str
    html: str
    print: str
    xlsx: bytes
    csv: str
    json: str


@dataclass(frozen=True, eq=False)
class Study:
    """The reports of the study: documents, CSV and JSON, "internal" and "public"."""

    documents: dict[tuple[str, str], Document]
    csv: dict[str, str]
    json: dict[str, str]

    @cache  # noqa: B019 - there is one study
    def files(self, kind: str, locale: str) -> Files:
        """One report in all formats."""
        document = self.documents[kind, locale]
        text = report_readers.pdf_text(to_pdf(document), TITLE)
        return Files(locale, to_html(document), text, to_xlsx(document), self.csv[kind], self.json[kind])


@pytest.fixture(scope="module")
def study(sqlite: NewDatabase) -> Study:
    database_url = sqlite(True)
    slug = sample_report.study(database_url)
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        ledger = releases.read_ledger(session, survey)
        report, published = reports.read(session, survey), reports.read_published(session, survey, ledger)
        documents = {
            (kind, locale): write(locale)
            for kind, write in (
                ("internal", lambda locale: reports.build_internal_document(report, ledger, locale)),
                ("public", lambda locale: reports.build_public_document(published, locale)),
            )
            for locale in LANGUAGES
        }
        return Study(
            documents,
            {"internal": reports.to_csv(report), "public": reports.public_csv(published)},
            {"internal": reports.to_json(report, ledger), "public": reports.public_json(published)},
        )


def differences(report: Files) -> list[str]:
    """Where the page, the text of the PDF and the workbook of a report are not the same."""
    page = report_readers.page(report.html)
    return [
        *report_readers.print_differs(page, report.print),
        *report_readers.workbook_differs(page, report.xlsx, report.locale),
        *report_readers.texts_differ(page, report.xlsx, report.locale),
    ]


def internal_differences(report: Files) -> list[str]:
    """And where its CSV and JSON are not."""
    tables = sheets(report)
    return [
        *differences(report),
        *unequal(report_numbers.from_csv(report.csv), report_numbers.from_json(report.json)),
        *estimates_differ(tables["estimates"], report.csv, "population"),
        *estimates_differ(tables["estimates-unweighted"], report.csv, "responses"),
        *strata_differ(tables, report.csv),
        *released_differ(tables, report_numbers.released_json(report.json)),
        *days_differ(tables["days"], report.json),
    ]


def public_differences(report: Files) -> list[str]:
    """The same of a public report."""
    csv = report_numbers.released_csv(report.csv)
    return [
        *differences(report),
        *unequal(csv, report_numbers.released_json(report.json)),
        *released_differ(sheets(report), csv),
    ]


def sheets(report: Files) -> dict[str, list[list[object]]]:
    """The rows of the tables of a workbook, without headers, by the name that the page has for each."""
    tables = report_readers.page(report.html).tables
    return {
        table.name: [[cell.value for cell in row] for row in sheet.iter_rows(2, len(table.rows) + 1)]
        for table, sheet in zip(tables, report_readers.table_sheets(report.xlsx), strict=True)
    }


def unequal(csv: report_numbers.Figures, json: report_numbers.Figures) -> Iterator[str]:
    """CSV and JSON hold the same at full precision."""
    if not csv:
        yield "nothing in the CSV"
    for key in csv.keys() | json.keys():
        if csv.get(key) != json.get(key):
            yield f"{key}: {csv.get(key)} in the CSV, {json.get(key)} in the JSON"


def estimates_differ(rows: list[list[object]], csv: str, weighting: str) -> Iterator[str]:
    """A table of estimates has the rows of the CSV that are about all, weighted so."""
    wanted = [
        (row["text"], row["answer_text"], report_numbers.numbers(row, report_numbers.NUMBERS))
        for found in report_numbers.read_shown_rows(csv).values()
        for row in found
        if row["group"] == "all" and row["weighting"] == weighting
    ]
    if len(wanted) != len(rows):
        yield f"{len(rows)} rows of estimates, {len(wanted)} in the CSV"
    for row, (question, answer, numbers) in zip(rows, wanted, strict=False):
        if (
            row[0] != question
            or answer not in ("", in_english(row[1]))
            or not same(without_remark(row)[2:], numbers)
        ):
            yield f"{row} is {question}, {answer}, {numbers} in the CSV"


def without_remark(row: list[object]) -> list[object]:
    """A row whose last cell is a number, as where no remark stands behind it."""
    return row if isinstance(row[-1], float) else row[:-1]


def in_english(answer: object) -> str:
    """An answer of a page as the CSV has it: in the survey's language, with a hyphen, and never as a formula."""
    text = str(answer).replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-")
    text = {"Sí": "Yes", "Prefiero no decirlo": "Prefer not to say"}.get(text, text)
    if re.search(r"\d", text):
        text = re.sub(r"(\d) a (-?\d)", r"\1 to \2", text).replace(",", ".")
    return f"'{text}" if text.startswith("-") else text


def strata_differ(tables: dict[str, list[list[object]]], csv: str) -> Iterator[str]:
    """A table for each question has the rows of the CSV that are about all, weighted where they can be, and strata."""
    chosen = ["n", "estimate", "standard_error", "interval_low", "interval_high"]
    found = [rows for name, rows in tables.items() if name.startswith("strata-")]
    wanted = list(report_numbers.read_shown_rows(csv).values())
    if len(found) != len(wanted):
        yield f"{len(found)} tables of strata for {len(wanted)} questions"
    for rows, expected in zip(found, wanted, strict=False):
        known = [row for row in rows if any(isinstance(cell, float) for cell in row)]
        whole = [row for row in expected if row["group"] == "all"]
        weighted = [row for row in whole if row["weighting"] == "population"]
        stated = (weighted or whole) + [row for row in expected if row["group"] == "stratum" and row["n"]]
        if len(known) != len(stated):
            yield f"{len(known)} rows of strata, {len(stated)} in the CSV"
        for row, one in zip(known, stated, strict=False):
            if one["stratum"] not in ("", row[0]) or not same(
                without_remark(row)[-5:], report_numbers.numbers(one, chosen)
            ):
                yield f"{row} is {one} in the CSV"


def released_differ(tables: dict[str, list[list[object]]], wanted: report_numbers.Figures) -> Iterator[str]:
    """The tables of releases have the figures of the CSV; where it has no number, they have no cell.

    They are in its order, but all figures of one thing, such as a pair of answers, stand together.
    """
    together: dict[tuple[str, ...], report_numbers.Figures] = {}
    for key, numbers in wanted.items():
        together.setdefault((key[0], *key[2:]), {})[key] = numbers
    wanted = {key: numbers for figures in together.values() for key, numbers in figures.items()}
    rows = [
        (name[9:], row) for name, table in tables.items() if name.startswith("released-") for row in table
    ]
    if len(rows) != len(wanted) or not rows:
        yield f"{len(rows)} figures, {len(wanted)} in the CSV"
    for (entry, row), (key, numbers) in zip(rows, wanted.items(), strict=False):
        if entry != key[0] or not same(row[2:] or ["–"] * 4, numbers[:4]):
            yield f"{row} is {key}, {numbers} in the CSV"
    losses = dict.fromkeys((key[0], *numbers[4:6]) for key, numbers in wanted.items())
    booked = [(str(row[0]), row[5], row[6]) for row in tables["ledger"]]
    if booked != list(losses):
        yield f"{booked} in the ledger, {list(losses)} in the CSV"


def days_differ(rows: list[list[object]], text: str) -> Iterator[str]:
    """The responses of each day, or of some days; of a long survey, of each week in which the last of them stands."""
    days = json.loads(text)["days"]
    wanted = [day["n"] for day in days]
    if len(rows) < len(days):
        weeks = Counter[tuple[int, int]]()
        for day in days:
            weeks[date.fromisoformat(day["last"]).isocalendar()[:2]] += day["n"]
        wanted = list(weeks.values())
    if [row[2] for row in rows] != wanted or len(wanted) < 2:
        yield f"{rows} are {wanted} in the JSON"


def same(cells: list[object], numbers: tuple[float | None, ...]) -> bool:
    """Whether cells of a workbook hold these numbers; it keeps sixteen digits."""
    if len(cells) != len(numbers):
        return False
    for cell, number in zip(cells, numbers, strict=True):
        if number is None:
            if cell != "–":
                return False
        elif not isinstance(cell, int | float) or cell != pytest.approx(number, rel=1e-15, abs=0):
            return False
    return True


COMPARE = {"internal": internal_differences, "public": public_differences}


@pytest.mark.parametrize("locale", LANGUAGES)
@pytest.mark.parametrize("kind", COMPARE)
def test_a_report_is_the_same_in_all_formats(study: Study, kind: str, locale: str) -> None:
    assert COMPARE[kind](study.files(kind, locale)) == []


@pytest.mark.parametrize("locale", LANGUAGES)
@pytest.mark.parametrize("kind", COMPARE)
def test_what_was_found_is_the_same_sentence_in_a_page_in_print_and_in_a_workbook(
    study: Study, kind: str, locale: str
) -> None:
    report = study.files(kind, locale)
    sentences = [
        block.sentence or section.title.text
        for _, section in study.documents[kind, locale].walk()
        for block in section.blocks
        if isinstance(block, FindingBlock)
    ]

    assert len(sentences) >= len(sample_report.ASKED) - 1
    cells = [row[0].value for row in sample_documents.workbook(report.xlsx).worksheets[0].iter_rows()]
    for sentence in sentences:
        assert sentence in report_readers.page(report.html).parts
        assert report_readers.plain(sentence) in report.print
        assert sentence in cells


def test_the_reports_hold_what_is_compared(study: Study) -> None:
    assert {each.name for each in fields(Files)} - {"locale"} | {"pdf"} == FORMATS.keys() | {"print"}
    internal, public = (sheets(study.files(kind, "en")) for kind in COMPARE)

    assert (
        sum(name.startswith("strata-") for name in internal) == len(sample_report.ASKED) - 1
    )  # one is a heading
    for tables in (internal, public):
        assert sum(name.startswith("released-") for name in tables) == len(sample_report.ITEMS)
    assert ["South > Duna", "withheld"] in [row[:2] for row in internal["strata-1"]]


def alter_number(document: Document, name: str) -> Document:
    """A twin of a document: the first number of a table is another one."""

    def other(table: Table) -> Table:
        first, *rest = table.rows
        place = next(place for place, cell in enumerate(first) if isinstance(cell, Number) and cell.value)
        cell = first[place]
        assert isinstance(cell, Number)
        assert cell.value is not None
        digit = re.sub(r"\d", lambda found: str((int(found[0]) + 1) % 10), cell.text, count=1)
        changed = replace(
            cell, value=cell.value + 1 if isinstance(cell.value, int) else 1.2 * cell.value, text=digit
        )
        return replace(table, rows=((*first[:place], changed, *first[place + 1 :]), *rest))

    def within(section: Section) -> Section:
        blocks = tuple(
            other(block) if isinstance(block, Table) and block.name == name else block
            for block in section.blocks
        )
        return replace(section, blocks=blocks, sections=tuple(map(within, section.sections)))

    return replace(document, sections=tuple(map(within, document.sections)))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("internal", name) for name in ("estimates", "strata-3", "days", "diagnostics")),
        *(("public", name) for name in ("released-1", "released-10", "ledger", "designs", "codebook")),
    ],
)
def test_a_number_that_is_wrong_in_a_page_or_a_workbook_is_found(study: Study, kind: str, name: str) -> None:
    report, twin = study.files(kind, "en"), alter_number(study.documents[kind, "en"], name)

    assert COMPARE[kind](replace(report, html=to_html(twin)))
    assert COMPARE[kind](replace(report, xlsx=to_xlsx(twin)))


def test_a_number_that_is_wrong_in_print_is_found(study: Study) -> None:
    twin = alter_number(study.documents["public", "en"], "released-10")

    report = replace(study.files("public", "en"), print=report_readers.pdf_text(to_pdf(twin), TITLE))

    assert len(public_differences(report)) > 1


@pytest.mark.parametrize("kind", COMPARE)
def test_a_number_that_is_wrong_in_csv_or_json_is_found(study: Study, kind: str) -> None:
    report = study.files(kind, "en")

    assert COMPARE[kind](replace(report, csv=misprint_number(report.csv, "")))
    assert COMPARE[kind](
        replace(report, json=misprint_number(report.json, r'"(?:shares|value)": (?:\[\s*)?'))
    )


def misprint_number(text: str, before: str) -> str:
    """A text with another digit in its first long number behind something."""
    found = re.search(before + r"-?\d+\.\d{6,}", text)
    assert found is not None
    place = found[0].index(".") + found.start() + 6
    return f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}"
