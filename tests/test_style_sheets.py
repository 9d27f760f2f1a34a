"""Style sheets are sent without comments, and with every rule that their file in `client/` has."""

import pytest

from server.output.documents.html import SHEETS, style
from server.web.assets import CLIENT, read_assets


def cut_comments(sheet: str) -> str:
    """By its signs, one after the other: within quotation marks nothing is a comment."""
    kept, place, quote = [], 0, ""
    while place < len(sheet):
        if not quote and sheet.startswith("/*", place):
            place = sheet.index("*/", place) + 2
            continue
        if sheet[place] in "\"'" and quote in ("", sheet[place]):
            quote = "" if quote else sheet[place]
        kept.append(sheet[place])
        place += 1
    return "".join(kept)


@pytest.mark.parametrize("name", sorted(path.name for path in CLIENT.glob("*.css")))
def test_a_sheet_is_sent_with_all_that_it_says_but_its_comments(name: str) -> None:
    written = (CLIENT / name).read_text("utf-8")
    sent = read_assets().contents[name].decode()
    assert "/*" not in sent
    assert sent.split() == cut_comments(written).split()


def test_there_are_comments_to_leave_out() -> None:
    assert "/*" in (CLIENT / "style.css").read_text("utf-8")


def test_a_report_holds_the_sheets_as_they_are_sent() -> None:
    sent = read_assets().contents
    assert style(SHEETS) == "\n" + "".join(sent[name].decode() for name in SHEETS)
