"""docs/disclosure.md against a report: what it names is there, and the numbers are right."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from statistics import NormalDist
from typing import Any

import jsonschema
import numpy as np
import pypdf
import pytest

from server import reports
from server.collect import response_codes
from server.output.documents import to_html, to_pdf
from server.people import survey_access
from server.releases import Figure, Released
from server.releases.values import Ledger
from server.reports import Published, Report
from server.reports.contents.ledger_sections import MECHANISMS
from server.reports.interval_names import SENTENCES
from server.reports.public_source import NOTHING
from server.reports.reference_table import REFERENCES
from server.reports.references import OF_DESIGNS, OF_INTERVALS, OF_RELEASES
from server.study import surveys
from server.study.study_sheets import parse_study_sheet, save_study_sheet
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.factories import ROOT
from tests.support.sample_ledger import ledger
from tests.support.study_form import study_document

DOCUMENTS = {"en": "disclosure.md", "es": "divulgacion.md"}
CODES = 200
SIZES = {"North": (90, 60), "South": (30, 60)}


@pytest.fixture(scope="module")
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here happens after everything was read."""
    return sqlite(True)


@pytest.fixture(scope="module")
def survey(database_url: str) -> factories.Published:
    """Every kind of question, two strata with populations, all by invitation, closed, with a full study sheet."""
    asked = {**every_kind.document(), "introduction": "The university asks."}
    survey = factories.publish(database_url, asked, minimum=10)
    links = factories.plant(database_url, survey.slug, "North, 900\nSouth, 300")
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        save_study_sheet(session, found, parse_study_sheet(study_document()))
    bytes_ = sum(len(question.designs) for question in read(database_url, survey).definition.questions)
    patterns = [[(place * place + k) % 2 for place in range(bytes_)] for k in range(2)]
    for name, sizes in SIZES.items():
        answer_by_code(database_url, survey, list(zip(patterns, sizes, strict=True)), links[name])
    factories.close(database_url, survey.slug)
    return survey


def answer_by_code(
    database_url: str,
    survey: factories.Published,
    rows: list[tuple[list[int], int]],
    link: str = "",
    spare: int = 0,
) -> None:
    """Issue codes, and use one for each of these responses and `spare` more."""
    codes = factories.invite(database_url, survey.slug, CODES, link)
    factories.store(database_url, survey, rows, link, surveys.today() - timedelta(3))
    used = codes[: sum(number for _row, number in rows) + spare]
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        response_codes.spend(session.connection(), [(found.id, code.replace("-", "")) for code in used])


def read(database_url: str, survey: factories.Published) -> Report:
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        return reports.read(session, found)


@pytest.fixture(scope="module")
def report(database_url: str, survey: factories.Published) -> Report:
    return read(database_url, survey)


def find_values(document: Any, path: list[str]) -> Iterator[Any]:
    """Whatever stands at a path; `[]` after a name is each entry of its list."""
    if not path:
        yield document
        return
    name, rest = path[0], path[1:]
    inside = document.get(name.removesuffix("[]")) if isinstance(document, dict) else None
    for value in (inside or []) if name.endswith("[]") else [inside]:
        yield from find_values(value, rest)


def list_missing(text: str, document: Any, written: dict[str, str]) -> list[str]:
    """What the tables of a document name that a report lacks: a path in its JSON, or words of one of its formats."""
    rows = [line.split("|") for line in text.splitlines() if re.match(r"\| \d+\. ", line)]
    assert len(rows) == 11 + 7, "AAPOR's items in section III A and B"
    missing = []
    for _start, _item, said, paths, *_rest in rows:
        missing += [
            path
            for path in re.findall(r"`([^`]+)`", paths)
            if all(value in (None, "", []) for value in find_values(document, path.split(".")))
        ]
        for words in re.findall(r"\*\*([^*]+)\*\*", said):
            missing += [f"{words} in {name}" for name, page in written.items() if words not in page]
    return missing


@pytest.mark.parametrize("locale", ["en", "es"])
def test_a_report_has_what_the_document_names(report: Report, locale: str) -> None:
    text = (ROOT / "docs" / DOCUMENTS[locale]).read_text("utf-8")
    made = reports.build_internal_document(report, ledger(), locale)
    pages = pypdf.PdfReader(io.BytesIO(to_pdf(made))).pages
    pdf = " ".join(" ".join(page.extract_text().split()) for page in pages)
    written = {"HTML": to_html(made), "PDF": pdf}
    document = json.loads(reports.to_json(report, ledger()))

    assert list_missing(text, document, written) == []
    # The broken twins: a report without one of them, and a document that names what there is not.
    assert list_missing(text, {**document, "invited": None}, written)[0].startswith("invited.")
    assert list_missing(text.replace("`study.frame`", "`study.frames`"), document, written) == [
        "study.frames"
    ]
    word = {"en": "**Limits**", "es": "**Límites**"}[locale]
    assert len(list_missing(text.replace(word, "**Bounds**"), document, written)) == len(written)


def test_the_documents_name_the_same() -> None:
    english, spanish = (
        re.findall(r"`([^`]+)`", (ROOT / "docs" / name).read_text("utf-8")) for name in DOCUMENTS.values()
    )
    assert [path for path in english if path != "this"] == [path for path in spanish if path != "así"]


def test_the_response_rate_is_complete_responses_to_all_codes(report: Report) -> None:
    invited = json.loads(reports.to_json(report))["invited"]

    assert invited == {"issued": 400, "withdrawn": 0, "used": 240, "rate": 0.6, "rate_name": "AAPOR RR1"}
    document = reports.build_internal_document(report, NOTHING, "en")
    flow = next(table for table in document.tables() if table.name == "flow")
    assert [row[1].text for row in flow.rows] == ["400", "240", "240"]
    html = to_html(document).replace("\N{NO-BREAK SPACE}", " ")
    assert "Response rate (AAPOR RR1): 60.0 %, 240 of 400 codes issued." in html
    assert "Invited: codes issued: 400 (160 codes not used); Answered: codes used: 240" in html
    volunteers = replace(report, study=replace(report.study, sampling="nonprobability"))
    assert json.loads(reports.to_json(volunteers))["invited"]["rate_name"] == "AAPOR participation rate"
    assert "Response rate (AAPOR" not in to_html(reports.build_internal_document(volunteers, NOTHING, "en"))


@pytest.mark.parametrize(
    ("closed", "without", "spare", "used"),
    [(True, 0, 0, 60), (False, 0, 0, None), (True, 1, 0, None), (True, 0, 1, None)],
)
def test_used_codes_are_told_only_where_they_tell_no_more_than_the_responses(
    database_url: str, closed: bool, without: int, spare: int, used: int | None
) -> None:
    """Not of an open survey, nor where one came without a code, or a code let one in that is not counted here."""
    survey = factories.publish(database_url, factories.definition([0.25]), minimum=10)
    answer_by_code(database_url, survey, [([0], 40), ([1], 20)], spare=spare)
    if without:
        factories.store(database_url, survey, [([0], without)])
    if closed:
        factories.close(database_url, survey.slug)

    report = read(database_url, survey)
    assert report.invited is not None
    assert (report.invited.issued, report.invited.used) == (CODES, used)
    said = to_html(reports.build_internal_document(report, NOTHING, "en"))
    assert ("Response rate (AAPOR RR1)" in said) == (used is not None)
    assert ("not told" in said) == (used is None)


def test_without_codes_there_is_no_rate_and_no_flow(database_url: str) -> None:
    survey = factories.publish(database_url, factories.definition([0.25]))
    factories.store(database_url, survey, [([0], 40), ([1], 20)])

    document = reports.build_internal_document(read(database_url, survey), NOTHING, "en")
    assert "flow" not in {table.name for table in document.tables()}
    assert "No response rate: no code was issued here" in to_html(document)


def test_the_design_effect_is_that_of_the_responses_one_by_one(report: Report) -> None:
    """Kish (1992): one plus the squared coefficient of variation of the weights of all responses."""
    north, south = (sum(sizes) for sizes in SIZES.values())
    weights = np.repeat([0.75 / north, 0.25 / south], [north, south])
    expected = 1 + (weights.std() / weights.mean()) ** 2

    for entry in report.questions:
        assert entry.design_effect == pytest.approx(expected)
    assert all(entry.design_effect is None for entry in report.unweighted)
    found = json.loads(reports.to_json(report))
    assert {round(question["design_effect"], 9) for question in found["questions"]} == {round(expected, 9)}
    assert {round(one["effective"], 6) for one in found["precision"]} == {
        round((north + south) / expected, 6)
    }


def test_precision_is_held_against_what_the_sheet_planned(report: Report) -> None:
    found = json.loads(reports.to_json(report))["precision"]
    coin = next(one for one in found if one["question"] == "coin")
    low, high = report.question("coin").rows[1].interval(anytime=False)
    assert coin["reached"] == pytest.approx((high - low) / 2)
    assert {one["planned"] for one in found} == {0.05}
    # Fleiss, Levin and Paik (2003), chapter 4, for a coin that lets three quarters through: λ = 1/4 + share / 2.
    n, z, normal = int(coin["effective"]), NormalDist().inv_cdf(0.975), NormalDist()
    null, true = 0.5, 0.525
    distance, deviation = (true - null) * n**0.5, (true * (1 - true)) ** 0.5
    tails = [normal.cdf((side * distance - z * 0.5) / deviation) for side in (1, -1)]
    assert coin["power"] == pytest.approx(sum(tails))
    unplanned = json.loads(reports.to_json(replace(report, study=replace(report.study, planned_margin=None))))
    assert {(one["planned"], one["power"]) for one in unplanned["precision"]} == {(None, None)}


def test_every_method_has_its_works() -> None:
    schema = (ROOT / "server" / "schemas" / "survey.schema.json").read_text("utf-8")
    mechanisms = set(re.findall(r'"mechanism":\s*\{\s*"const":\s*"([a-z_]+)"', schema))
    assert len(mechanisms) > 8
    assert mechanisms - {"best_choice"} == OF_DESIGNS.keys()  # which becomes k_ary or unary
    assert {word for name in SENTENCES for word in name.split()} == OF_INTERVALS.keys()
    assert OF_RELEASES.keys() == MECHANISMS.keys()
    named = {
        name for of in (OF_DESIGNS, OF_INTERVALS, OF_RELEASES) for names in of.values() for name in names
    }
    assert named <= REFERENCES.keys()
    assert list(REFERENCES) == sorted(REFERENCES)
    for reference in REFERENCES.values():
        assert 1900 < reference.year < 2030
        assert not reference.doi or re.fullmatch(r"10\.\d{4,}/\S+", reference.doi)


def test_a_report_cites_what_it_uses_and_nothing_else(database_url: str, report: Report) -> None:
    survey = factories.publish(database_url, factories.definition([0.25]))
    factories.store(database_url, survey, [([0], 800), ([1], 700)])
    plain = read(database_url, survey)

    cited = [work["authors"].partition(",")[0] for work in json.loads(reports.to_json(plain))["references"]]
    assert cited == ["Dwork", "Robbins", "Warner", "Waudby-Smith", "Wilson"]
    html = to_html(reports.build_internal_document(plain, NOTHING, "es"))
    assert '<span translate="no" dir="auto">Warner, S. L. (1965). Randomized response' in html
    more = {
        work["authors"].partition(",")[0]
        for work in json.loads(reports.to_json(report, ledger()))["references"]
    }
    assert {"Kish", "Cochran", "American Association for Public Opinion Research", "Ghosh"} <= more
    rows = list(csv.DictReader(io.StringIO(reports.to_csv(report), newline="")))
    told = [row["text"] for row in rows if row["kind"] == "reference"]
    works = json.loads(reports.to_json(report))["references"]
    assert [text.partition(" (")[0] for text in told] == [work["authors"] for work in works]


def read_public(database_url: str, survey: factories.Published, book: Ledger) -> Published:
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        return reports.read_published(session, found, book)


def test_the_public_report_has_no_rate_that_was_not_released_and_no_exact_number(
    database_url: str, survey: factories.Published
) -> None:
    published = replace(read_public(database_url, survey, ledger()), issued=None)
    page = reports.write_public_page(published, "en")

    assert "Item missingness: no answer is missing, by design" in page
    assert "Ghosh, A., Roughgarden, T. and Sundararajan, M. (2009)" in page
    for text in ("Response rate", "codes issued", "Design effect", "Precision reached"):
        assert text not in page
    document = json.loads(reports.public_json(published))
    schema = json.loads((ROOT / "server" / "schemas" / "public_report.schema.json").read_text("utf-8"))
    jsonschema.validate(document, schema)
    assert document["item_missing"] == 0
    assert not {"invited", "precision"} & document.keys()
    assert document["response_rate"] is None


def test_the_public_response_rate_is_a_released_number_of_responses_to_all_codes(
    database_url: str, survey: factories.Published
) -> None:
    first = ledger().released[0]
    covers = replace(first.covers, versions=(1,), state="closed", respondents=None)
    total = Figure("respondents", (), 252, 4.0, 243.0, 260.0)
    entry = replace(first, covers=covers, figures=(total,), confidence=0.95)
    published = read_public(database_url, survey, replace(ledger(), released=(entry,)))

    page = reports.write_public_page(published, "en").replace("\N{NO-BREAK SPACE}", " ")
    assert "Response rate (AAPOR RR1): 63.0 % of 400 codes issued." in page
    assert "with 95 % confidence the rate is 60.8 % to 65.0 %." in page
    document = json.loads(reports.public_json(published))
    schema = json.loads((ROOT / "server" / "schemas" / "public_report.schema.json").read_text("utf-8"))
    jsonschema.validate(document, schema)
    rate = document["response_rate"]
    assert (rate["issued"], rate["rate"], rate["interval"]) == (400, 252 / 400, [243 / 400, 260 / 400])
    written = {row["what"]: row["text"] for row in csv.DictReader(io.StringIO(reports.public_csv(published)))}
    assert written["response_rate.rate"] == str(252 / 400)
    # Noise may lead beyond everybody; then it is said all the same that there was some, or nothing is.
    beyond = replace(entry, figures=(Figure("respondents", (), 420, 12.0, 400.0, 440.0),))
    shown = reports.write_public_page(replace(published, ledger=replace(ledger(), released=(beyond,))), "en")
    assert "Noise was added to the number of responses" in shown
    exact = replace(entry, covers=replace(covers, respondents=240), figures=())
    whole = replace(published, ledger=replace(ledger(), released=(exact,)), divided=False)
    shown = reports.write_public_page(whole, "en")
    assert "Noise was added to the number of responses" not in shown
    assert "60.0\N{NO-BREAK SPACE}% of 400 codes issued" in shown

    def tells_rate(made: Published) -> bool:
        return json.loads(reports.public_json(made))["response_rate"] is not None

    def publish_release(changed: Released) -> Published:
        return replace(published, ledger=replace(ledger(), released=(changed,)))

    assert tells_rate(published)
    assert tells_rate(whole)
    assert published.divided
    assert not tells_rate(replace(whole, divided=True)), "the number leaves small groups out"
    for low, high in ((401.0, 440.0), (-32.0, -2.0)):
        assert not tells_rate(publish_release(replace(entry, figures=(replace(total, low=low, high=high),))))
    # What is not about all responses to a closed survey, or not of an inner group alone, says no rate.
    assert not tells_rate(publish_release(replace(entry, covers=replace(covers, state="open"))))
    assert not tells_rate(publish_release(replace(entry, covers=replace(covers, versions=(1, 2)))))
    assert not tells_rate(publish_release(replace(entry, item=replace(entry.item, stratum=("North",)))))
    opened = tuple(replace(each, ways=("link", "invitation")) for each in published.admissions)
    assert not tells_rate(replace(published, admissions=opened))
    assert not tells_rate(replace(published, incomplete=True))
    # Who has not marked the study sheet as public has not said how many were invited either.
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        save_study_sheet(session, found, parse_study_sheet({**study_document(), "public": False}))
    try:
        assert read_public(database_url, survey, ledger()).issued is None
    finally:
        with factories.writing(database_url) as session:
            found = survey_access.find(session, survey.slug)
            assert found is not None
            save_study_sheet(session, found, parse_study_sheet(study_document()))
