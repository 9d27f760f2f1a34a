"""The researcher's texts are drawn in reports as in the browser: vectors that its tests read too."""

import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from server.output.markdown import Run, parse_markdown, strip_marks
from tests.support import factories
from tests.support.factories import ROOT

TEXTS = json.loads((ROOT / "tests" / "vectors" / "markdown.json").read_text("utf-8"))["texts"]


def describe_run(run: Run) -> list[str]:
    marks = "s" * run.strong + "e" * run.emphasis
    return [run.text, marks, run.href] if run.href else [run.text, marks] if marks else [run.text]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_text_is_read_as_the_browser_reads_it(text: str, expected: list[Any]) -> None:
    found = parse_markdown(text)

    assert [
        ["ul" if each.items else "p", [[describe_run(run) for run in line] for line in each.lines]]
        for each in found
    ] == expected


def test_where_nothing_can_be_followed_a_link_has_its_address() -> None:
    (passage,) = parse_markdown("- [us](mailto:ana@example.org)\n- [https://a.org](https://a.org)")

    assert passage.text == "• us (ana@example.org)\n• https://a.org"


def test_where_a_text_is_only_listed_its_marks_are_left_out(
    signed_in: FlaskClient, database_url: str
) -> None:
    text = "About **paid work**:\n\n- *all* of it\n- a part"
    assert strip_marks(text) == "About paid work: • all of it • a part"
    assert strip_marks("3 * 4 is no mark") == "3 * 4 is no mark"

    entries = [{"kind": "text", "name": "about", "text": text}, factories.question(text="Was it **much**?")]
    slug = factories.publish(database_url, factories.definition(questions=entries)).slug
    for page in ("", "/edit"):
        shown = signed_in.get(f"/manage/surveys/{slug}{page}").text
        assert "About paid work: • all of it" in shown
        assert "Was it **much**?" in shown  # what is no Markdown stays as it was written
