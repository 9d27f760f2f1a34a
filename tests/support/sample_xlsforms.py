"""XLSForm workbooks as their users write them, made with the library that spreadsheets are usually made with."""

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from openpyxl import Workbook

from server.inputs import InputError
from server.study.xlsform import Imported, parse_xlsform

Rows = Sequence[Sequence[Any]]

YES_NO: Rows = [
    ["list_name", "name", "label::English (en)", "label::Español (es)"],
    ["yn", "yes", "Yes", "Sí"],
    ["yn", "no", "No", "No"],
]


def workbook(sheets: Mapping[str, Rows]) -> bytes:
    """A workbook with these rows."""
    book = Workbook()
    for sheet in book.worksheets:
        book.remove(sheet)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def form(survey: Rows, choices: Rows = YES_NO, settings: Rows = ()) -> bytes:
    """A form; without settings there is no such sheet."""
    sheets = {"survey": survey, "choices": choices}
    return workbook({**sheets, "settings": settings} if settings else sheets)


def kobo() -> bytes:
    """A health survey in two languages, as KoboToolbox's users write them."""
    return form(
        [
            [
                "type",
                "name",
                "label::English (en)",
                "label::Español (es)",
                "hint::English (en)",
                "hint::Español (es)",
                "required",
                "relevant",
                "constraint",
                "constraint_message::English (en)",
                "appearance",
                "parameters",
                "calculation",
            ],
            ["start", "start"],
            ["end", "end"],
            ["today", "today"],
            ["deviceid", "deviceid"],
            ["note", "welcome", "Thank you for **taking part**.", "Gracias por **participar**."],
            ["begin_group", "tobacco", "Tobacco", "Tabaco"],
            [
                "select_one yn",
                "smokes",
                "Do you smoke?",
                "¿Fumas?",
                "Any tobacco",
                "Cualquier tabaco",
                "yes",
            ],
            [
                "select_one freq",
                "how_often",
                "How often do you smoke?",
                "¿Con qué frecuencia fumas?",
                None,
                None,
                "yes",
                "${smokes} = 'yes'",
                None,
                None,
                "minimal",
            ],
            [
                "integer",
                "cigarettes",
                "How many cigarettes a day?",
                "¿Cuántos cigarrillos al día?",
                None,
                None,
                "yes",
                None,
                ". >= 0 and . <= 100",
                "From 0 to 100",
            ],
            ["end_group"],
            ["select_multiple helps", "help", "What helped you?", "¿Qué te ayudó?", None, None, "yes"],
            [
                "range",
                "wish",
                "How much do you wish to stop?",
                "¿Cuánto deseas dejarlo?",
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                "start=0 end=10 step=1",
            ],
            ["decimal", "weight", "Your weight in kg?", "¿Tu peso en kg?"],
            ["text", "comments", "Anything else?", "¿Algo más?"],
            ["geopoint", "where", "Where are you?", "¿Dónde estás?"],
            ["calculate", "score", *[None] * 10, "${cigarettes} * 7"],
        ],
        [
            *YES_NO,
            ["freq", "daily", "Daily", "Cada día"],
            ["freq", "weekly", "Less often", "Menos a menudo"],
            ["freq", "na", "Does not apply", "No aplica"],
            ["helps", "patches", "Patches", "Parches"],
            ["helps", "friends", "Friends", "Amigos"],
        ],
        [["form_title", "form_id", "default_language"], ["Tabaco y salud", "tobacco_v3", "Español (es)"]],
    )


def leaving_out(things: int, questions: int = 1, title: str = "") -> bytes:
    """A form of some questions, and of things that are not taken, each a row of the list."""
    asked = [["select_one yn", f"q{k}", f"Question {k}?"] for k in range(questions)]
    left = [[f"unheard_of_{k}", f"x{k}", "What?"] for k in range(things)]
    plain = [["list_name", "name", "label"], ["yn", "yes", "Yes"], ["yn", "no", "No"]]
    return form([["type", "name", "label"], *asked, *left], plain, [["form_title"], [title]] if title else ())


def repack_workbook(body: bytes, **changed: bytes) -> bytes:
    """The workbook with some parts of its archive replaced, or added, by their file names without folder."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            short = part.rsplit("/", 1)[-1].removesuffix(".xml")
            new.writestr(part, changed.pop(short, None) or old.read(part))
        for name, content in changed.items():
            new.writestr(name, content)
    return file.getvalue()


def sheet_xml(body: bytes, place: int = 1) -> str:
    """The XML of a sheet."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return archive.read(f"xl/worksheets/sheet{place}.xml").decode()


def as_excel_saves_it(body: bytes) -> bytes:
    """The workbook with its texts in a shared table, the first of them in two runs of different looks."""
    texts: list[str] = []

    def share_text(match: re.Match[str]) -> str:
        texts.append(match[2])
        return f'<c r="{match[1]}" t="s"><v>{len(texts) - 1}</v></c>'

    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        sheets = {
            name.rsplit("/", 1)[-1].removesuffix(".xml"): re.sub(
                r'<c r="(\w+)" t="inlineStr"><is><t(?: [^>]*)?>([^<]*)</t></is></c>',
                share_text,
                archive.read(name).decode(),
            ).encode()
            for name in archive.namelist()
            if name.startswith("xl/worksheets/sheet")
        }
        types = archive.read("[Content_Types].xml").decode()
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    items = [f'<si><t xml:space="preserve">{text}</t></si>' for text in texts]
    items[0] = f"<si><r><rPr><b/></rPr><t>{texts[0][:2]}</t></r><r><t>{texts[0][2:]}</t></r></si>"
    table = f'<sst xmlns="{space}">{"".join(items)}</sst>'
    part = (
        '<Override PartName="/xl/sharedStrings.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
    )
    changed = {**sheets, "[Content_Types]": types.replace("</Types>", part).encode()}
    return repack_workbook(body, **changed, **{"xl/sharedStrings.xml": table.encode()})


HEAD = ["type", "name", "label", "relevant", "constraint", "parameters", "appearance"]
PLAIN_CHOICES: Rows = [
    ["list_name", "name", "label"],
    ["yn", "yes", "Yes"],
    ["yn", "no", "No"],
    ["color", "red", "Red"],
    ["color", "green", "Green"],
    ["color", "na", "Does not apply"],
]


def parse_rows(
    *rows: list[Any], choices: Rows = PLAIN_CHOICES, settings: Rows = (), language: str | None = "en"
) -> Imported:
    return parse_xlsform(form([HEAD, *rows], choices, settings), language)


def entries(imported: Imported) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = imported.definition.as_json()["questions"]
    return found


def why(imported: Imported, said: str) -> str:
    """Why something was not taken; it must be listed exactly once."""
    (found,) = [note.message for note in imported.not_taken if note.value == said]
    return found


def expect_refusal(body: bytes, status: int = 422) -> str:
    with pytest.raises(InputError) as error:
        parse_xlsform(body)
    assert error.value.status == status
    return str(error.value)
