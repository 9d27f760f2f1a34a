"""The first page of a PDF tells the whole: what was found, how answers were protected, how sure one can be."""

from typing import Any

import pytest

from server import reports
from server.output.documents import Document, FindingBlock, Paragraph, to_pdf
from server.people import survey_access
from server.reports.public_source import NOTHING
from server.simulation import Assumptions, simulate
from tests.conftest import NewDatabase
from tests.support import every_kind, factories, report_readers, sample_documents

COIN = {"mechanism": "coin_flip", "gamma": 0.25}
OPTIONS = {"time": 0.4, "ease": 0.2, "others": 0.15, "nothing": 0.25}
SHORT: list[dict[str, Any]] = [
    {"name": "copied", "kind": "yes_no", "text": "Have you copied in an exam?", "design": COIN},
    {
        "name": "why",
        "kind": "select_one",
        "text": "What makes one copy?",
        "options": every_kind.options(OPTIONS),
        "design": {"mechanism": "k_ary", "epsilon": 1.5},
    },
    {
        "name": "hours",
        "kind": "number",
        "text": "How many hours a week do you study?",
        "low": 0,
        "high": 60,
        "step": 1,
        "design": {"mechanism": "stochastic_rounding", "epsilon": 1.5},
    },
]


@pytest.fixture(scope="module", params=["short", "long"])
def documents(request: pytest.FixtureRequest, sqlite: NewDatabase) -> tuple[str, list[Document]]:
    """The internal report on a survey in both languages, and whether the survey is short or long."""
    database_url = sqlite(True)
    shares = {"copied.yes": 0.3} | {f"why.{name}": share for name, share in OPTIONS.items()}
    assumptions, definition = Assumptions(shares, {"hours": 22.0}), factories.definition(questions=SHORT)
    definition["introduction"] = "The students' council asks, to see what would help."
    if request.param == "long":
        assumptions = Assumptions(every_kind.assumed_shares(), every_kind.assumed_means())
        definition = {**every_kind.document(), "introduction": "Why we ask. " * 200}
    slug = factories.publish(database_url, definition).slug
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        for _ in simulate(session, survey, 1_000, assumptions):
            pass
        survey.simulated = True
        report = reports.read(session, survey)
        made = [reports.build_internal_document(report, NOTHING, locale) for locale in ("en", "es")]
    return request.param, made


def told(document: Document) -> tuple[list[str], list[str]]:
    """The sentences of findings, and the paragraphs about them, that a document begins with."""
    found, said = [], []
    for depth, section in document.walk():
        if depth == 1 and section.name == document.sections[document.lead].name:
            break
        found += [block.sentence for block in section.blocks if isinstance(block, FindingBlock)]
        said += [block.text.text for block in section.blocks if isinstance(block, Paragraph)]
    return found, said


def test_the_first_page_tells_the_whole(documents: tuple[str, list[Document]]) -> None:
    length, made = documents
    for document in made:
        (first, *_) = sample_documents.reader(to_pdf(document)).pages
        page = report_readers.plain(first.extract_text())
        sentences, said = told(document)

        assert report_readers.plain(document.title.text) in page
        assert report_readers.plain(document.subtitle) in page
        assert len(said) == 4
        assert [text for text in said if report_readers.plain(text) not in page] == []
        on_it = [sentence for sentence in sentences if report_readers.plain(sentence) in page]
        if length == "short":
            assert on_it == sentences
            assert "council" in page
        else:
            assert len(on_it) >= 3
            assert "Why we ask." not in page


def test_what_was_found_stands_first_where_there_is_room(documents: tuple[str, list[Document]]) -> None:
    length, made = documents
    expected = ["findings", "protected", "sure"] if length == "short" else ["protected", "sure", "findings"]

    for document in made:
        assert [section.name for section in document.sections[: document.lead]] == expected
