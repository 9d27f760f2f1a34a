"""The researcher's texts are drawn in reports as in the browser: vectors that its tests read too."""

import json
from typing import Any

import pytest

from server.output.markdown import Run, parse_markdown
from tests.support.factories import ROOT

TEXTS = json.loads((ROOT / "tests" / "vectors" / "markdown.json").read_text("utf-8"))["texts"]


def drawn(run: Run) -> list[str]:
    marks = "s" * run.strong + "e" * run.emphasis
    return [run.text, marks, run.href] if run.href else [run.text, marks] if marks else [run.text]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_text_is_read_as_the_browser_reads_it(text: str, expected: list[Any]) -> None:
    found = parse_markdown(text)

    assert [
        ["ul" if each.items else "p", [[drawn(run) for run in line] for line in each.lines]] for each in found
    ] == expected


def test_where_nothing_can_be_followed_a_link_has_its_address() -> None:
    (passage,) = parse_markdown("- [us](mailto:ana@example.org)\n- [https://a.org](https://a.org)")

    assert passage.text == "• us (ana@example.org)\n• https://a.org"
