"""XLSForm workbooks: files that are refused, and what a file may not cost."""

import io
import json
import re
import struct
import zipfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from server.inputs import InputError
from server.study.definitions.definition_reader import parse_definition
from server.study.xlsform import Imported, parse_xlsform
from tests.support import sample_xlsforms
from tests.support.sample_xlsforms import (
    HEAD,
    PLAIN_CHOICES,
    YES_NO,
    Rows,
    entries,
    expect_refusal,
    form,
    workbook,
)


def test_a_form_of_which_nothing_can_be_taken_is_refused_with_every_reason() -> None:
    message = expect_refusal(form([HEAD, ["text", "a", "A?"], ["geopoint", "b", "B?"], ["note", "c", "C"]]))

    assert "must hold a question that can be taken" in message
    assert "survey 2 type: free text cannot be randomised" in message
    assert "survey 3 type: a place on the map" in message


@pytest.mark.parametrize(
    ("sheets", "said"),
    [
        ({"Sheet1": [["a"]]}, "must have a sheet “survey” with rows; the sheets are: Sheet1"),
        ({"survey": []}, "must have a sheet “survey” with rows"),
        ({"survey": [["name", "label"], ["a", "A?"]]}, "must have a column “type”"),
        ({"survey": [["type", "name"], ["select_one yn", "a"]]}, "must have a column “label”"),
        ({"survey": [["type", "name", "label"]]}, "must hold a question that can be taken"),
        ({"survey": [HEAD, ["select_one yn", "a", "A?"]]}, "the list yn has no choices"),
        (
            {"survey": [HEAD, ["select_one yn", "a", "A?"]], "choices": [["a"], ["b"]]},
            "the list yn has no choices",
        ),
    ],
)
def test_sheets_and_columns_that_are_missing_are_named(sheets: dict[str, Rows], said: str) -> None:
    assert said in expect_refusal(workbook(sheets))


def test_sheets_are_found_whatever_their_case() -> None:
    body = workbook(
        {" Survey ": [HEAD, ["select_one yn", "a", "A?"]], "CHOICES": PLAIN_CHOICES, "Notes": [["x"]]}
    )

    imported = parse_xlsform(body)

    assert len(imported.definition.questions) == 1
    assert [note.sheet for note in imported.not_taken] == [
        "Notes",
        "choices",
    ]  # its list of colours is unused


def test_a_workbook_with_too_many_rows_or_cells_is_refused() -> None:
    rows = [["note", f"n{k}", "N"] for k in range(5_001)]
    assert "at most 5000 rows in each sheet; survey has more" in expect_refusal(form([HEAD, *rows]), 413)
    wide = [["note", f"n{k}", "N", *range(60)] for k in range(1_000)]
    assert "at most 50000 cells" in expect_refusal(form([HEAD, *wide]), 413)


def test_a_hundred_thousand_rows_are_refused() -> None:
    rows = "".join(
        f'<row r="{k}"><c r="A{k}" t="inlineStr"><is><t>note</t></is></c></row>' for k in range(1, 100_001)
    )
    xml = (
        sample_xlsforms.sheet_xml(form([HEAD])).partition("<sheetData")[0]
        + f"<sheetData>{rows}</sheetData></worksheet>"
    )

    assert "at most 50000 cells" in expect_refusal(
        sample_xlsforms.repack_workbook(form([HEAD]), sheet1=xml.encode()), 413
    )


def test_rows_and_columns_that_a_file_only_claims_cost_nothing() -> None:
    body = form([HEAD, ["select_one yn", "a", "A?"]], PLAIN_CHOICES)
    far = '<row r="99999999999"><c r="A99999999999" t="inlineStr"><is><t>x</t></is></c></row></sheetData>'
    wide = '<c r="XFD2" t="inlineStr"><is><t>x</t></is></c></row></sheetData>'
    claims = re.sub(
        '<dimension ref="[^"]+"', '<dimension ref="A1:XFD1048576"', sample_xlsforms.sheet_xml(body)
    )
    for xml in (
        claims,
        claims.replace("</row></sheetData>", wide),
        claims.replace("</sheetData>", far),
        claims.replace("</sheetData>", "<row/>" * 40_000 + "</sheetData>"),
    ):
        imported = parse_xlsform(sample_xlsforms.repack_workbook(body, sheet1=xml.encode()))
        assert len(imported.definition.questions) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "this is an .xls file or an encrypted one"),
        (b"PK\x03\x04", "cut off or is something else"),
        (b"PK\x05\x06" + bytes(18), "cut off or is something else"),
        (b"", "cut off or is something else"),
        (b"type,name,label\n", "cut off or is something else"),
    ],
)
def test_other_files_are_refused(body: bytes, said: str) -> None:
    assert said in expect_refusal(body)


def archive(parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return file.getvalue()


def test_archives_that_are_no_workbook_are_refused() -> None:
    for parts in ({"a.txt": b"a"}, {"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}):
        assert "cut off or is something else" in expect_refusal(archive(parts))
    assert "cannot be read" in expect_refusal(archive({"[Content_Types].xml": b"<a/>"}))
    assert "cannot be read" in expect_refusal(archive({"[Content_Types].xml": b"no xml"}))


def test_workbooks_whose_archive_was_damaged_are_refused() -> None:
    parts = {"[Content_Types].xml": b"<a/>"}
    whole, otherwise = archive(parts), archive(parts, zipfile.ZIP_LZMA)
    no_text, entry = bytearray(whole), whole.index(b"PK\x01\x02")
    no_text[entry + 9] |= 0x08  # its name is UTF-8, it says
    no_text[entry + 46] = 0xFF
    for body in (whole[:4] + whole[7:], bytes(no_text), otherwise, otherwise.replace(b"]\0", b"\xff\xff", 1)):
        assert "cut off or is something else" in expect_refusal(body)


def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_parsed() -> None:
    bomb = archive({"[Content_Types].xml": b"<a/>", "xl/big.xml": bytes(17 * 1024 * 1024)})
    assert len(bomb) < 100_000
    assert "must unpack to at most 16777216 bytes" in expect_refusal(bomb, 413)
    liar = bytearray(bomb)  # says that it is small, in the local header and in the directory
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = liar.rindex(signature)
        liar[place + offset : place + offset + 4] = struct.pack("<I", 10)
    assert expect_refusal(bytes(liar))
    assert "at most 1048576 bytes" in expect_refusal(b"PK\x03\x04" + bytes(1024 * 1024), 413)
    assert "must unpack to at most" in expect_refusal(archive({f"{k}": b"" for k in range(1_001)}), 413)
    tags = sample_xlsforms.sheet_xml(form([HEAD])).replace("</row>", "<c/>" * 600_000 + "</row>")
    assert "at most 50000 cells" in expect_refusal(
        sample_xlsforms.repack_workbook(form([HEAD]), sheet1=tags.encode()), 413
    )


def test_an_encrypted_archive_is_refused() -> None:
    body = bytearray(form([HEAD]))
    place = body.index(b"PK\x01\x02")
    body[place + 8] |= 1
    assert "without a password" in expect_refusal(bytes(body))


def test_entities_are_not_expanded() -> None:
    laughs = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>'
    outside = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'
    for part in ("sheet1", "[Content_Types]", "workbook", "workbook.xml.rels"):
        for xml in (laughs, outside):
            assert "cannot be read" in expect_refusal(
                sample_xlsforms.repack_workbook(form([HEAD, ["note", "a", "A"]]), **{part: xml})
            )


def test_texts_in_a_table_of_their_own_as_excel_saves_them_are_read() -> None:
    assert entries(parse_xlsform(sample_xlsforms.as_excel_saves_it(sample_xlsforms.kobo()))) == entries(
        parse_xlsform(sample_xlsforms.kobo())
    )


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9, 0.99])
def test_a_file_that_was_cut_off_is_refused(fraction: float) -> None:
    body = sample_xlsforms.kobo()
    assert expect_refusal(body[: int(len(body) * fraction)])


WORDS = [
    *(
        "select_one yn",
        "select_multiple yn",
        "integer",
        "decimal",
        "range",
        "note",
        "begin_group",
        "end_group",
    ),
    *(
        "begin_repeat",
        "end_repeat",
        "text",
        "yn",
        "yes",
        "no",
        "Yes",
        "No",
        "type",
        "name",
        "label",
        "label::es",
    ),
    *(
        "list_name",
        "relevant",
        "constraint",
        "parameters",
        "form_title",
        "default_language",
        "hint",
        "${a} = 'yes'",
    ),
    *(
        ". >= 0 and . <= 9",
        ".>0 and .<1e9",
        "start=0 end=5 step=0",
        "selected(${a}, 'x')",
        "${a} > 3",
        "a",
        "b",
        "1",
    ),
    *(
        "=1+1",
        "#REF!",
        "<script>alert(1)</script>",
        "\u202eabc",
        "_x000D_",
        "prefer_not_to_say",
        "Does not apply",
    ),
]
CELLS = st.one_of(
    st.none(),
    st.sampled_from(WORDS),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), max_size=30),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.dates(),
)
SHEET = st.lists(st.lists(CELLS, max_size=8), max_size=8)
TYPED = st.lists(
    st.tuples(st.sampled_from(WORDS), CELLS, CELLS, CELLS, CELLS, CELLS, st.none() | st.just("likert")),
    max_size=8,
).map(lambda rows: [HEAD, *rows])
LISTED = st.lists(st.tuples(st.sampled_from(["yn", "l"]), CELLS, CELLS), max_size=8).map(
    lambda rows: [["list_name", "name", "label"], *rows]
)


@given(
    survey=SHEET | TYPED, choices=SHEET | LISTED, settings=SHEET, language=st.sampled_from(["en", "es", None])
)
@example(survey=[HEAD, ["select_one yn", "a", "A?"]], choices=YES_NO, settings=[], language=None)
def test_whatever_the_cells_hold_there_is_a_survey_or_a_reason(
    survey: Rows, choices: Rows, settings: Rows, language: str | None
) -> None:
    found = read_or_refused(form(survey, choices, settings), language)
    if isinstance(found, InputError):
        assert [problem.message for problem in found.problems]
        return
    document = json.loads(json.dumps(found.definition.as_json()))
    definition = parse_definition(document)
    assert definition.as_json() == document
    assert definition.to_canonical()
    assert all(note.message and note.as_problem().message for note in found.not_taken)


def read_or_refused(body: bytes, language: str | None = None) -> Imported | InputError:
    """What comes of a file; no other exception may."""
    try:
        return parse_xlsform(body, language)
    except InputError as error:
        return error


KOBO = sample_xlsforms.kobo()


@given(st.data())
def test_a_damaged_file_is_read_or_refused(data: st.DataObject) -> None:
    body = bytearray(KOBO)
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    read_or_refused(bytes(body))
