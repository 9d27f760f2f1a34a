"""What files are called: whatever a survey's title is, a name that every system stores, and no header breaks on."""

import re
import unicodedata
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from werkzeug.http import parse_options_header

from server.output.file_names import attachment, name_file

DAY = date(2026, 11, 23)
DEVICES = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{number}" for port in ("com", "lpt") for number in "0123456789"),
}
"""What Windows keeps for itself (Microsoft, Naming Files, Paths, and Namespaces), with any ending."""
FORBIDDEN = set('<>:"/\\|?*')
"""The same page; on other systems only the slash."""


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("What students do in exams", "What students do in exams, 2026-11-23.pdf"),
        ("¿Qué hacen en los exámenes?", "¿Qué hacen en los exámenes, 2026-11-23.pdf"),
        ('Exams: all/none \\ "some"', "Exams all none some, 2026-11-23.pdf"),
        ("Two\nlines\r\n\tand more", "Two lines and more, 2026-11-23.pdf"),
        ("../../.profile", "profile, 2026-11-23.pdf"),
        ("con.exe", "_con.exe, 2026-11-23.pdf"),
        ("CON", "CON, 2026-11-23.pdf"),
        ("📝 Exams 🙈", "📝 Exams 🙈, 2026-11-23.pdf"),
        ("هل غششت؟", "هل غششت؟, 2026-11-23.pdf"),
        ("an\u202efdp.exe", "anfdp.exe, 2026-11-23.pdf"),
        ("می\u200cخواهم", "می\u200cخواهم, 2026-11-23.pdf"),
        ("word " * 60, f"{'word ' * 29}word, 2026-11-23.pdf"),
        ("ü" * 300, f"{'ü' * 75}, 2026-11-23.pdf"),
        ("", "2026-11-23.pdf"),
        (" .. ", "2026-11-23.pdf"),
    ],
)
def test_a_file_is_called_by_its_title_and_the_day(title: str, name: str) -> None:
    assert name_file(title, day=DAY, ending="pdf") == name


def test_what_a_file_holds_stands_between_both() -> None:
    assert name_file("Exams", "internal report", "", day=DAY, ending="csv") == (
        "Exams, internal report, 2026-11-23.csv"
    )


@pytest.mark.parametrize(
    ("title", "fallback"),
    [
        ("¿Qué hacen? 100 %", "Que hacen 100, 2026-11-23.pdf"),
        ("هل غششت؟", "2026-11-23.pdf"),
        ('ﬁnal; "x"', "final x, 2026-11-23.pdf"),
    ],
)
def test_a_program_that_knows_ascii_alone_finds_a_name_too(title: str, fallback: str) -> None:
    header = attachment(name_file(title, day=DAY, ending="pdf"))

    assert header.startswith(f"attachment; filename=\"{fallback}\"; filename*=UTF-8''")


def unsafe(name: str, ending: str) -> list[str]:
    """Why some system would not store a file of this name as it is called."""
    stem = name.partition(".")[0].strip().casefold()
    reasons = {
        "empty or hidden": not name or name[0] in ". ",
        "a device": stem in DEVICES,
        "forbidden": bool(FORBIDDEN & set(name)),
        "unseen": any(
            unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp", "Co", "Cn") for letter in name
        ),
        "turned around": any(
            unicodedata.bidirectional(letter)
            in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
            for letter in name
        ),
        "too long": len(name.encode(errors="replace")) > 255,
        "another ending": not name.endswith(f", {DAY}.{ending}") and name != f"{DAY}.{ending}",
        "more than one space": "  " in name,
    }
    return [reason for reason, is_so in reasons.items() if is_so]


ODD = st.sampled_from("/\\:*?\"<>|.\n\r\t\0\u202e\u2028\u200d🙈é\u0301ß漢ह\ud800%;=,' ~")
TITLES = st.one_of(
    st.text(st.one_of(st.characters(), ODD), max_size=300),
    st.builds(lambda name, rest: name + rest, st.sampled_from(sorted(DEVICES)), st.text(ODD, max_size=4)),
)


@given(TITLES, TITLES, TITLES)
@example("con.", "", "")
@example("e" + "\u0301" * 200, "", "")
@example("a" * 149 + "e\u0301", "", "")
def test_no_title_gives_a_name_that_a_system_refuses_or_a_header_that_breaks(
    title: str, what: str, more: str
) -> None:
    name = name_file(title, what, more, day=DAY, ending="pdf")

    assert unsafe(name, "pdf") == []
    header = attachment(name)
    assert re.fullmatch(r"[\x20-\x7e]+", header)
    kind, options = parse_options_header(header)
    assert (kind, options) == ("attachment", {"filename": name})
    fallback = re.fullmatch(r'attachment; filename="([^"\\%]*)"; .*', header)
    assert fallback is not None
    assert unsafe(fallback[1], "pdf") == []


def test_names_that_a_system_refuses_are_noticed() -> None:
    """The broken twins: each is found by one of the reasons above."""
    for name in (
        ".hidden, 2026-11-23.pdf",
        "con.a, 2026-11-23.pdf",
        "a/b, 2026-11-23.pdf",
        "a\nb, 2026-11-23.pdf",
        "a\u202eb, 2026-11-23.pdf",
        f"{'a' * 250}, 2026-11-23.pdf",
        "a, 2026-11-23.pdf.exe",
        "a  b, 2026-11-23.pdf",
    ):
        assert len(unsafe(name, "pdf")) == 1, name
