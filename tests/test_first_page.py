"""The first page of a PDF tells the whole: what was found first, then how answers were protected, how sure one is."""

from datetime import date
from typing import Any

import pytest

from server import reports
from server.output.documents import Document, FindingBlock, FindingList, Paragraph, to_pdf, to_xlsx
from server.people import survey_access
from server.reports.public_source import NOTHING, PublishedVersion
from server.simulation import Assumptions, simulate
from server.study.definitions.definition_reader import parse_definition
from tests.conftest import NewDatabase
from tests.support import every_kind, factories, report_readers, sample_documents, sample_ledger

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


@pytest.fixture(scope="module", params=["en", "es"])
def public(request: pytest.FixtureRequest) -> Document:
    """The public report of a survey of many questions, from a ledger with many entries."""
    definition = parse_definition(every_kind.document())
    version = PublishedVersion(1, "a" * 64, date(2026, 5, 1), definition)
    published = reports.Published(False, (version,), sample_ledger.ledger(), admissions=(), incomplete=False)
    return reports.build_public_document(published, request.param)


def read_findings(document: Document) -> tuple[list[str], list[str]]:
    """The sentences of findings, and the paragraphs about them, that a document begins with."""
    found, said = [], []
    for depth, section in document.walk():
        if depth == 1 and section.name in ("figures", document.sections[document.lead].name):
            break
        for block in section.blocks:
            if isinstance(block, FindingBlock):
                found.append(block.sentence or section.title.text)
            elif isinstance(block, FindingList):
                found += [sentence for _, sentence in block.findings]
            elif isinstance(block, Paragraph) and depth == 1:
                said.append(block.text.text)
    return found, said


def read_first_page(document: Document) -> str:
    (first, *_) = sample_documents.reader(to_pdf(document)).pages
    return report_readers.plain(first.extract_text())


def test_the_first_page_tells_the_whole(documents: tuple[str, list[Document]]) -> None:
    length, made = documents
    for document in made:
        page = read_first_page(document)
        sentences, said = read_findings(document)

        assert report_readers.plain(document.title.text) in page
        assert report_readers.plain(document.subtitle) in page
        assert [text for text in sentences if report_readers.plain(text) not in page] == []
        if length == "short":
            assert [text for text in said if report_readers.plain(text) not in page] == []
            assert "council" in page
        else:
            assert "Why we ask." not in page


def test_the_first_page_of_a_public_report_tells_all_findings(public: Document) -> None:
    page = read_first_page(public)
    sentences, _ = read_findings(public)

    assert len(set(sentences)) > 5
    assert [text for text in sentences if report_readers.plain(text) not in page] == []


def test_what_was_found_stands_first(documents: tuple[str, list[Document]]) -> None:
    length, made = documents
    expected = ["findings", "protected", "sure", *(["figures"] if length == "long" else [])]

    for document in made:
        assert [section.name for section in document.sections[: document.lead]] == expected
        cells = [
            row[0].value or row[1].value
            for row in sample_documents.workbook(to_xlsx(document)).worksheets[0].iter_rows(max_col=2)
        ]
        titles = [section.title.text for section in document.sections[: document.lead]]
        assert sorted(titles, key=cells.index) == titles
