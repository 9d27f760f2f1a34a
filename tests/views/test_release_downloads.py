"""What was released, on its page: in a sentence, as figures, and as files of these."""

import csv
import html
import io
import re

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from server.cli import main
from tests.support import factories
from tests.support.factories import Published
from tests.support.sample_releases import grant, ledger, release

ENGLISH = {"Accept-Language": "en"}
ITEMS = (
    {"kind": "count"},
    {"kind": "share", "question": "q1", "option": "yes"},
    {"kind": "table", "questions": ["q1", "q2"]},
    {"kind": "table", "question": "q1", "by_stratum": True},
    {"kind": "hierarchy"},
    {"kind": "most_common", "question": "q1"},
    {"kind": "exceeding", "questions": ["q1", "q2"], "share": 0.2, "positives": 1},
)


@pytest.fixture
def released_survey(database_url: str) -> Published:
    """A survey of which everything was released."""
    survey = factories.publish(database_url)
    factories.plant(database_url, survey.slug, "North\nSouth")
    factories.store(database_url, survey, [([1, 0], 70), ([0, 1], 50)])
    grant(database_url, survey.slug)
    release(database_url, survey.slug, *ITEMS, epsilon="1")
    return survey


def read_page(client: FlaskClient, survey: Published) -> str:
    page = client.get(f"/manage/surveys/{survey.slug}/releases/1", headers=ENGLISH)
    assert page.status_code == 200
    return page.text


def find_sentences(page: str) -> list[str]:
    return [html.unescape(text) for text in re.findall(r'<p class="found"[^>]*>([^<]+)</p>', page)]


def test_every_figure_of_a_release_can_be_taken_as_files(
    signed_in: FlaskClient, database_url: str, released_survey: Published
) -> None:
    page = read_page(signed_in, released_survey)
    files = [html.unescape(at) for at in re.findall(r'download href="([^"]+/figure\.[^"]+)"', page)]
    drawings = [at for at in files if ".svg" in at]
    assert {re.search(r"entry=(\d+)", at)[1] for at in files} == {str(n) for n in range(1, len(ITEMS) + 1)}  # type: ignore[index]

    for address in files:
        answer = signed_in.get(address, headers=ENGLISH)
        assert answer.status_code == 200, address
        assert answer.headers["Content-Disposition"].startswith("attachment")
        if ".svg" in address:
            # It stands alone, and is what the page shows.
            assert answer.text.startswith("<svg")
            assert "xmlns=" in answer.text
            (alternative,) = re.findall("<desc>([^<]+)</desc>", answer.text)
            assert alternative.replace("\xa0", " ") in page
        elif ".png" in address:
            assert answer.data[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(drawings) * 3 == len(files)

    for entry in ledger(database_url, released_survey.slug).released:
        answer = signed_in.get(
            f"/manage/surveys/{released_survey.slug}/releases/figure.csv?entry={entry.entry}"
        )
        rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
        assert [(row["statistic"], row["value"], row["interval_low"]) for row in rows] == [
            (
                figure.statistic,
                "" if figure.value is None else str(figure.value),
                "" if figure.low is None else str(figure.low),
            )
            for figure in entry.figures
        ]


@pytest.mark.parametrize("query", ["", "?entry=99", "?entry=1&figure=0", "?entry=1&figure=9"])
def test_a_figure_that_there_is_not_is_refused(
    signed_in: FlaskClient, released_survey: Published, query: str
) -> None:
    assert (
        signed_in.get(f"/manage/surveys/{released_survey.slug}/releases/figure.svg{query}").status_code == 404
    )


def test_the_page_and_the_command_line_say_the_same(
    signed_in: FlaskClient, database_url: str, released_survey: Published
) -> None:
    said = find_sentences(read_page(signed_in, released_survey))

    printed = CliRunner(env={"DATABASE_URL": database_url}).invoke(main, ["release", released_survey.slug])

    assert printed.exit_code == 0, printed.output
    output = printed.output.replace("\xa0", " ")
    assert len(said) >= len(ITEMS)
    for sentence in said:
        assert re.search(rf"^Entry \d+, [^:]+: {re.escape(sentence)}", output, re.MULTILINE), sentence


def test_what_chance_does_is_shown_or_said_to_depend_on_the_answers(
    signed_in: FlaskClient, released_survey: Published
) -> None:
    page = read_page(signed_in, released_survey)

    assert page.count('<details class="noise-shape"') == len(ITEMS)
    assert "which takes some of it away" in page  # of the tree
    assert "for each 100 times that the most common answer is chosen" in page
    assert "no curve can show it without telling of that" in page  # of the comparisons
