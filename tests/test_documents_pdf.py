"""A document as a PDF, read by another program: everything is in it, tagged, whatever its texts are."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

import pypdf
import pytest

from server.output.documents import (
    Block,
    Chart,
    Document,
    Facts,
    FindingBlock,
    Paragraph,
    Section,
    Text,
    to_pdf,
)
from server.output.typesetting import MISSING
from tests.support import sample_documents

SHARES = sample_documents.table(
    [
        (Text("Yes"), sample_documents.share(0.05), sample_documents.share(None)),
        (Text("No"), sample_documents.share(1.0), sample_documents.share(0.4)),
    ]
)
LEFT, RIGHT = 56.6, 595.3 - 56.6
"""Where the text of a page may begin and end, in points: A4 with margins of 20 mm."""


def plain(text: str) -> str:
    """A text without what breaks its lines, and with letters in place of their ligatures."""
    return re.sub(r"[\s\u200b]", "", unicodedata.normalize("NFKC", text))


def text_of(document: Document) -> str:
    return plain("".join(page.extract_text() for page in sample_documents.reader(to_pdf(document)).pages))


def elements(node: pypdf.generic.PdfObject) -> Iterator[pypdf.generic.DictionaryObject]:
    """The structure elements of a PDF, in reading order."""
    node = node.get_object()
    if isinstance(node, list):
        for part in node:
            yield from elements(part)
    elif isinstance(node, dict):
        if "/S" in node:
            yield node
        if "/K" in node:
            yield from elements(node["/K"])


def test_everything_of_a_document_is_in_its_text() -> None:
    document = sample_documents.document(SHARES)

    said = text_of(document)

    for expected in (
        *(
            "Exam survey",
            "Report of today",
            "Estimates",
            "¿Copió alguna vez?",
            "Shares",
            "Answer",
            "Column 2",
        ),
        *("Yes 5.0 % –", "No 100.0 % 40.0 %", "A note below.", "Drawing", "Drawn 40.0 %", "How to read it."),
        *("Respondents are simulated.", "Respondents 4,000", "0a1b" * 16, "1 / 1"),
    ):
        assert plain(expected) in said


def test_it_is_tagged_with_title_language_headings_and_headers_and_says_what_its_charts_show() -> None:
    reader = sample_documents.reader(to_pdf(sample_documents.document(SHARES)))
    root = reader.trailer["/Root"]
    found = list(elements(root["/StructTreeRoot"]))
    kinds = [str(node["/S"]) for node in found]

    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert reader.metadata is not None
    assert reader.metadata.title == "Exam survey"
    assert b"<pdfuaid:part>1</pdfuaid:part>" in root["/Metadata"].get_object().get_data()
    assert [kind for kind in kinds if re.fullmatch(r"/H\d|/Title", kind)] == ["/Title", "/H1", "/H1", "/H2"]
    assert [kinds.count(kind) for kind in ("/Table", "/TH", "/TD", "/Figure")] == [1, 3, 6, 1]
    assert [node["/Alt"] for node in found if "/Alt" in node] == ["Yes: 40.0 %"]
    first, second, (third,) = reader.outline
    assert [first.title, second.title, third.title] == ["Estimates", "Method", "Source"]


def test_a_note_below_several_tables_is_said_once() -> None:
    """The others have its number, and the page where it stands where that is not theirs."""
    first, other, alone = (sample_documents.table(SHARES.rows, f"t{place}") for place in range(3))
    alone = replace(alone, notes=("For this one.",))

    said = text_of(sample_documents.document(first, other, alone))

    assert said.count(plain("A note below.")) == 1
    assert plain("1 A note below.") in said
    assert plain("1 p. 1") not in said
    assert plain("For this one.") in said
    assert said.count(plain("Shares1")) == 2
    long = replace(alone, rows=SHARES.rows * 40)
    assert plain("1 p. 1") in text_of(sample_documents.document(first, long, other))


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("Año: “¿Copió?” – 3 € … İş", "Año: “¿Copió?” – 3 € … İş"),
        ("漢字 \U0010fffd 😀 غششت", "漢字 \U0010fffd 😀 غششت"),
        ("W" * 80, "W" * 80),
        ("Two\nlines\x01 \ttogether", "Two lines together"),
    ],
)
def test_titles_bookmarks_and_alternatives_have_letters_that_no_font_has(title: str, written: str) -> None:
    """They are texts of the file, and not set in type: viewers show them in fonts of their own."""
    document = sample_documents.document(SHARES, title=title)
    first, second = document.sections
    blocks = (*first.blocks[:-1], replace(first.blocks[-1], alternative=title))
    sections = (
        replace(first, title=Text(title, from_survey=True), blocks=blocks),
        replace(second, sections=(replace(second.sections[0], title=Text(title)),)),
    )

    reader = sample_documents.reader(to_pdf(replace(document, sections=sections)))

    root = reader.trailer["/Root"]
    assert reader.metadata is not None
    assert reader.metadata.title == written
    outer, _, (inner,) = reader.outline
    assert [outer.title, inner.title] == [written, written]
    found = list(elements(root["/StructTreeRoot"]))
    assert [node["/Alt"] for node in found if "/Alt" in node] == [written]
    assert [str(node["/S"]) for node in found if re.fullmatch("/H[0-9]", str(node["/S"]))] == [
        "/H1",
        "/H1",
        "/H2",
    ]


def test_the_same_document_gives_the_same_bytes() -> None:
    made = to_pdf(sample_documents.document(SHARES))

    assert to_pdf(sample_documents.document(SHARES)) == made
    assert to_pdf(sample_documents.document(SHARES, title="Another survey")) != made
    assert b"/CreationDate" not in made


def test_the_header_of_a_long_table_stands_on_every_page() -> None:
    rows = [(Text(f"Answer {place}"), sample_documents.share(place / 1000)) for place in range(150)]
    pages = sample_documents.reader(to_pdf(sample_documents.document(sample_documents.table(rows)))).pages

    texts = [plain(page.extract_text()) for page in pages]
    assert len(texts) > 2
    holding = [text for text in texts if re.search(r"Answer\d", text)]
    assert len(holding) > 2
    assert all("AnswerColumn1" in text for text in holding)


@pytest.mark.parametrize("before", range(36, 48, 2))
def test_no_row_of_a_short_table_is_left_alone_on_another_page(before: int) -> None:
    """Wherever on a page it begins."""
    short = [(Text(f"Row {place}"), sample_documents.share(place / 10)) for place in range(10)]
    lines = [(Text(f"Line {place}"), Text("")) for place in range(before)]
    document = sample_documents.document(
        sample_documents.table(lines, "before"), sample_documents.table(short, "short", "Short")
    )

    pages = [plain(page.extract_text()) for page in sample_documents.reader(to_pdf(document)).pages]

    assert len({number for number, text in enumerate(pages) if re.search(r"Row\d", text)}) == 1


ABOUT: dict[str, Block] = {
    "facts": Facts(tuple((f"Fact {place}", Text("told")) for place in range(4))),
    "paragraph": Paragraph(Text("Fact 1")),
}


DRAWN = (Chart(sample_documents.CHART, "Drawing", "Yes: 40.0 %"),)


@pytest.mark.parametrize("about", ABOUT)
@pytest.mark.parametrize("before", range(36, 48, 2))
def test_what_a_finding_is_about_stands_on_its_page(before: int, about: str) -> None:
    """Wherever on a page the heading falls, facts or a paragraph, and the finding, follow it there."""
    lines = tuple(Paragraph(Text(f"Line {place}")) for place in range(before))
    section = Section("found", Text("Found"), (*lines, ABOUT[about], FindingBlock("Found so", charts=DRAWN)))
    whole = replace(sample_documents.document(), sections=(section,))

    pages = [plain(page.extract_text()) for page in sample_documents.reader(to_pdf(whole)).pages]

    holding = {number for number, text in enumerate(pages) if re.search(r"Fact\d|Foundso", text)}
    assert len(holding) == 1


def test_numbers_end_at_the_same_place() -> None:
    rows = [
        (Text(f"{value} of 100"), sample_documents.share(value / 100)) for value in sample_documents.NUMBERS
    ]
    (page,) = sample_documents.reader(to_pdf(sample_documents.document(sample_documents.table(rows)))).pages

    starts = {text: left for text, left in sample_documents.pieces(page) if text.endswith("%")}
    # A figure of Libertinus Serif is 0.465 em wide (its own table of widths), and the letters here have 9 points.
    assert starts["5.0\xa0%"] - starts["100.0\xa0%"] == pytest.approx(2 * 0.465 * 9, abs=0.1)
    assert starts["0.0\xa0%"] == pytest.approx(starts["5.0\xa0%"], abs=0.1)


def test_what_rows_have_in_common_heads_them_on_every_page() -> None:
    rows = [(Text(head), Text(f"{head[0]}{place}")) for head in ("First", "Second") for place in range(100)]
    pages = sample_documents.reader(to_pdf(sample_documents.document(sample_documents.table(rows)))).pages

    said = [plain(page.extract_text()) for page in pages]
    assert "Answer·Column1FirstF0F1F2" in said[0]
    assert all(text.count("Answer·Column1") == 1 for text in said[:4])
    assert any("F99SecondS0S1" in text for text in said)
    for head in ("First", "Second"):
        assert (
            sum(head in text for text in said)
            == sum(bool(re.search(rf"{head[0]}\d", text)) for text in said)
            > 1
        )


def test_a_table_with_too_many_columns_is_laid_on_several() -> None:
    values = [place / 40 for place in range(40)]
    rows = [(Text(f"Row {letter}"), *(sample_documents.share(value) for value in values)) for letter in "ab"]
    pages = sample_documents.reader(to_pdf(sample_documents.document(sample_documents.table(rows)))).pages

    pieces = [piece for page in pages for piece in sample_documents.pieces(page)]
    said = "".join(plain(text) for text, _ in pieces)
    assert all(said.count(plain(sample_documents.share(value).text)) >= 2 for value in values)
    assert 2 <= said.count("Rowa") <= 4
    assert all(LEFT <= left <= RIGHT - 10 for text, left in pieces)


@pytest.mark.parametrize("word", ["W" * 300, "long-" * 60, "漢" * 300])
def test_no_word_leaves_the_page(word: str) -> None:
    rows = [(Text(word), sample_documents.share(0.5), Text(word)) for _ in range(2)]
    pages = sample_documents.reader(
        to_pdf(sample_documents.document(sample_documents.table(rows), title=word[:200], own=word))
    ).pages

    assert all(LEFT <= left <= RIGHT for page in pages for _, left in sample_documents.pieces(page))


@pytest.mark.parametrize(
    "text",
    [
        '#emph[x] $x$ `raw` *b* _i_ \\ // /* */ <a> @a = b - c #import "@preview/x:1.0.0" #panic() ~ -- \' "',
        "{{ title }} {title} %(title)s </path>'/><script>",
        "¿Copió alguna vez? ÁÉÍÓÚÜÑ áéíóúüñ “…”",
        "Έχετε αντιγράψει ποτέ;",
        "Списывали ли вы?",
    ],
)
def test_a_text_is_never_more_than_a_text(text: str) -> None:
    rows = [(Text(text, from_survey=True, language="es"), Text(text, code=True))]

    said = text_of(sample_documents.document(sample_documents.table(rows), title=text, own=text))

    assert said.count(plain(text)) >= 5  # the foot of the page holds the title too


@pytest.mark.parametrize("text", ["האם העתקת אי פעם?", "هل غششت في امتحان؟", "क्या आपने नकल की?"])
def test_other_scripts_are_set_in_the_fonts_that_are_at_hand(text: str) -> None:
    # Letters of a word may stand in another order, or as one with their neighbour.
    assert set(plain(text)) <= set(text_of(sample_documents.document(SHARES, own=text)))


def test_a_text_that_runs_from_right_to_left_begins_at_the_right() -> None:
    (page,) = sample_documents.reader(
        to_pdf(sample_documents.document(SHARES, own="האם העתקת אי פעם?"))
    ).pages

    starts = [left for text, left in sample_documents.pieces(page) if re.search("[א-ת]", text)]
    assert starts
    assert min(starts) > RIGHT / 2


@pytest.mark.parametrize("letter", ["\U0010fffd", "\x01", "\ud800"])
def test_a_letter_that_no_font_has_is_seen_to_be_missing(letter: str) -> None:
    chart = sample_documents.CHART.replace(
        "Drawn", f"Dr{letter}wn" if letter == "\U0010fffd" else "Dr\ufffdwn"
    )
    document = sample_documents.document(SHARES, own=f"Be{letter}fore")
    first = document.sections[0]
    blocks = (*first.blocks[:-1], replace(first.blocks[-1], svg=chart))

    said = text_of(replace(document, sections=(replace(first, blocks=blocks), *document.sections[1:])))

    assert f"Be{MISSING}fore" in said
    assert f"Dr{MISSING}wn" in said
    # Nothing else is.
    assert said.count(MISSING) == 2


@pytest.mark.parametrize(
    ("word", "pictures"),
    [("يوماً", True), ("क्या", True), ("☕️", True), ("\U0010fffd\u093f", False), ("¿Sí?", False)],
)
def test_a_chart_with_letters_of_several_glyphs_is_a_picture(word: str, pictures: bool) -> None:
    document = sample_documents.document(SHARES, own="Before")  # its letters would be known elsewhere
    first = document.sections[0]
    chart = replace(first.blocks[-1], svg=sample_documents.CHART.replace("Drawn", word))
    document = replace(document, sections=(replace(first, blocks=(*first.blocks[:-1], chart)),))

    pdf = to_pdf(document)

    assert (b"/Subtype/Image" in pdf, b"/Width 1080/Height 180" in pdf) == (pictures, pictures)
    said = plain("".join(page.extract_text() for page in sample_documents.reader(pdf).pages))
    assert "Before" in said  # the text around it stays text
    assert ("40.0%" in said.partition("Drawing")[2]) == (not pictures)


def test_a_document_without_sections_or_rows_is_one_too() -> None:
    empty = replace(sample_documents.document(), sections=(), blocks=(replace(SHARES, rows=()),))

    assert plain("Shares Answer Column 1 Column 2 A note below.") in text_of(empty)
