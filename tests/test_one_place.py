"""What has one table is complete where people read of it: a new line there is missed nowhere."""

import re

import pytest

from server.reports.formats import FORMATS, PAGE
from tests.factories import ROOT


def first_column(path: str, beginning: str) -> list[str]:
    """The first cell of each row of the table of a text that begins like this."""
    text = (ROOT / path).read_text("utf-8")
    lines = text.split(f"\n| {beginning} |")[1].split("\n\n")[0].splitlines()[2:]
    return [line.split("|")[1].strip() for line in lines]


@pytest.mark.parametrize(
    ("path", "heading"), [("docs/reports.md", "format"), ("docs/informes.md", "formato")]
)
def test_every_format_of_a_report_is_described(path: str, heading: str) -> None:
    *described, microdata = first_column(path, heading)

    assert [name.casefold() for name in described] == list(FORMATS)
    assert re.fullmatch("micro[dD]at[ao]s?", microdata)


def test_a_format_says_one_thing_once() -> None:
    assert [entry.ending for entry in FORMATS.values()] == list(FORMATS)
    assert len({entry.content_type for entry in FORMATS.values()}) == len(FORMATS)
    assert PAGE in FORMATS
