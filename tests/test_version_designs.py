"""What a report says of coins and losses is true of whoever answered: of every version, not of the newest alone.

Two versions, the second with weaker coins for one question, other words for another, and without a third.
"""

import csv
import io
import json
from collections.abc import Iterator
from math import log

import pytest
from flask.testing import FlaskClient

from server import releases, reports
from server.output.documents import Document, Number, Paragraph, Table
from server.people import survey_access
from server.reports.version_designs import VersionDesigns
from server.study.definitions.definition_reader import parse_definition
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published
from tests.support.sample_ledger import ledger

FIRST = [factories.question("kept", "Kept?", 0.25), factories.question("words", "Old words?", 0.25)]
FIRST += [factories.question("same", "The same?", 0.2), factories.question("gone", "Gone?", 0.1)]
SECOND = [factories.question("kept", "Kept?", 0.1), factories.question("words", "New words?", 0.25), FIRST[2]]
LOST = {"kept": (log(3), log(3 / 2)), "words": (log(3), log(3)), "same": (log(7 / 3), log(7 / 3))}
"""Of each question in the first and the second version: gamma 1/4 is 3 to 1, 1/5 is 7 to 3, 1/10 is 3 to 2."""
TOTAL = (sum(first for first, _ in LOST.values()) + log(3 / 2), sum(second for _, second in LOST.values()))


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """What is written of versions does not depend on the database."""
    return sqlite(True)


def versions(database_url: str, *asked: list[dict[str, object]]) -> Published:
    """A closed survey with a version for each list of questions, each answered by 40."""
    survey = factories.publish(database_url, factories.definition(questions=asked[0]), minimum=10)
    slug = survey.slug
    for questions in asked:
        survey = factories.publish(database_url, factories.definition(questions=questions), slug)
        factories.store(database_url, survey, [([0] * len(questions), 25), ([1] * len(questions), 15)])
    factories.close(database_url, slug)
    return survey


def documents(database_url: str, survey: Published, locale: str) -> Iterator[Document]:
    """The internal report and the public one."""
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        report = reports.read(session, found)
        yield reports.build_internal_document(report, releases.read_ledger(session, found), locale)
        yield reports.build_public_document(reports.read_published(session, found, ledger()), locale)


def table(document: Document, name: str) -> Table:
    (found,) = (table for table in document.tables() if table.name == name)
    return found


def paragraphs(document: Document) -> list[str]:
    return [
        block.text.text.replace("\N{NO-BREAK SPACE}", " ")
        for _, section in document.walk()
        for block in section.blocks
        if isinstance(block, Paragraph)
    ]


@pytest.mark.parametrize("locale", ["en", "es"])
def test_coins_and_losses_of_every_version_are_told(database_url: str, locale: str) -> None:
    survey = versions(database_url, FIRST, SECOND)

    for document in documents(database_url, survey, locale):
        told = table(document, "designs")
        rows = [(row[0].text, row[1].text, row[-1]) for row in told.rows]
        assert {len(row) for row in told.rows} == {len(told.columns)}
        assert [row[:2] for row in rows[:-2]] == [
            ("Kept?", "2"),
            ("Kept?", "1"),
            ("New words?", "2"),
            ("Old words?", "1"),
            ("The same?", "1, 2"),
            ("Gone?", "1"),
        ]
        losses = [loss.value for *_, loss in rows if isinstance(loss, Number)]
        wanted = [log(3 / 2), log(3), log(3), log(3), log(7 / 3), log(3 / 2), TOTAL[1], TOTAL[0]]
        assert losses == pytest.approx(wanted, abs=1e-4)
        assert [numbers for _, numbers, _ in rows[-2:]] == ["2", "1"]
        exact = table(document, "codebook")
        assert {(row[0].text, row[1].text) for row in exact.rows} == {row[:2] for row in rows[:-2]}


def test_the_paragraph_for_an_article_has_the_losses_of_every_version(database_url: str) -> None:
    survey = versions(database_url, FIRST, SECOND)

    for document in documents(database_url, survey, "en"):
        (methods,) = (text for text in paragraphs(document) if "local differential privacy" in text)
        first = (
            "Version 1: a coin flip, γ = 0.25, ε = 1.10 (kept, words); a coin flip, γ = 0.2, ε = 0.85 (same); a coin "
            "flip, γ = 0.1, ε = 0.41 (gone); all questions together have ε = 3.45 for one response."
        )
        second = (
            "Version 2: a coin flip, γ = 0.1, ε = 0.41 (kept); a coin flip, γ = 0.25, ε = 1.10 (words); a coin flip, "
            "γ = 0.2, ε = 0.85 (same); all questions together have ε = 2.36 for one response."
        )
        assert f"{first} {second}" in methods
    assert "80 responses to versions 1, 2 of the questionnaire are analysed." in next(
        text
        for document in documents(database_url, survey, "en")
        for text in paragraphs(document)
        if "are analysed" in text
    )


def test_programs_and_the_page_state_the_most_that_anybody_lost(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = versions(database_url, FIRST, SECOND)
    home = f"/manage/surveys/{survey.slug}"

    told = json.loads(signed_in.get(f"{home}/report.json").text)
    assert told["epsilon"] == pytest.approx(max(TOTAL), abs=1e-4)
    found = {question["name"]: question for question in told["questions"]}
    assert found["kept"]["versions"] == [2, 1]
    assert found["words"]["versions"] == [2]
    wanted = {name: max(losses) for name, losses in LOST.items()}
    assert {name: question["epsilon"] for name, question in found.items()} == pytest.approx(wanted, abs=1e-9)
    rows = csv.DictReader(io.StringIO(signed_in.get(f"{home}/report.csv").text.removeprefix("\ufeff")))
    for row in (row for row in rows if row["statistic"] != "disclosure"):
        assert float(row["epsilon"]) == found[row["question"]]["epsilon"]

    page = signed_in.get(f"{home}/results?open=odds", headers={"Accept-Language": "en"}).text
    assert "each response at most ε = 3.45" in page
    assert "Gone?" in page
    alone = signed_in.get(f"{home}/results?version=2&open=odds", headers={"Accept-Language": "en"}).text
    assert "each response ε = 2.36" in alone
    assert "Gone?" not in alone


def test_versions_with_the_same_coins_are_told_once(database_url: str) -> None:
    """The second only has another title."""
    survey = factories.publish(database_url, factories.definition(questions=SECOND), minimum=10)
    factories.store(database_url, survey, [([0, 1, 0], 40)])
    renamed = factories.definition(questions=SECOND, title="Another")
    survey = factories.publish(database_url, renamed, survey.slug)
    factories.store(database_url, survey, [([1, 1, 0], 40)])

    for document in documents(database_url, survey, "en"):
        assert len(table(document, "designs").columns) == 4
        assert len(table(document, "designs").rows) == 4
        (methods,) = (text for text in paragraphs(document) if "local differential privacy" in text)
        assert "All questions together have ε = 2.36 for one response." in methods


def test_another_title_is_no_other_coin() -> None:
    """And a loss is the largest of the versions that are asked for."""
    one = parse_definition(factories.definition(questions=SECOND))
    other = parse_definition(factories.definition(questions=SECOND, title="Another"))
    weaker = parse_definition(factories.definition(questions=FIRST))

    assert not VersionDesigns({2: other, 1: one}).differ
    assert VersionDesigns({2: one, 1: weaker}).differ
    assert VersionDesigns({2: one, 1: weaker}).loss("kept", (2,)) == pytest.approx(log(3 / 2), abs=1e-9)
    assert VersionDesigns({2: one, 1: weaker}).loss("kept", (2, 1)) == pytest.approx(log(3), abs=1e-9)
