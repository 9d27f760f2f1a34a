"""The study sheet of a survey: typed once, kept as it was typed, and said by everything that reports on the study."""

import csv
import io
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator

from server.inputs import InputError
from server.store.models import StudySheetRow
from server.study.study_sheets import StudySheet, parse_study_sheet
from server.study.study_sheets.datacite import describe_for_datacite
from server.study.study_sheets.identifiers import (
    is_email,
    is_web_address,
    normalise_doi,
    normalise_orcid,
)
from server.study.study_sheets.sheet_forms import close_gaps, read_form, write_form
from tests.support import factories, sample_archives, sample_releases
from tests.support.factories import Published, run
from tests.support.study_form import study_document

SECRETS = ["curie@example.org", "Curie, Marie", "Ministry of Education", "CE-2026/17"]


def save(client: FlaskClient, slug: str, **changes: Any) -> None:
    """Fill the sheet in on its page."""
    fields = write_form(parse_study_sheet(study_document(**changes)))
    assert client.post(f"/manage/surveys/{slug}/study", data=fields).status_code == 303


def respond(database_url: str, survey: Published) -> None:
    factories.store(database_url, survey, [([1, 0], 60), ([0, 1], 60)])


def test_what_is_typed_on_the_page_is_what_the_page_shows(signed_in: FlaskClient, survey: Published) -> None:
    path = f"/manage/surveys/{survey.slug}/study"
    fields = write_form(parse_study_sheet(study_document()))
    assert signed_in.post(path, data=fields).status_code == 303
    page = signed_in.get(path).text
    for text in ("Institute of Surveys", "curie@example.org", "0000-0002-1825-0097", "5%", "exams; copying"):
        assert f'value="{text}"' in page
    assert "invited by letter,\nreminded once</textarea>" in page
    # Nothing was changed: nothing is written.
    signed_in.post(path, data=fields)
    log = signed_in.get(f"/manage/surveys/{survey.slug}/log").text
    assert log.count("changed the study sheet") == 1
    assert "E-mail address" in log
    assert not any(secret in log for secret in SECRETS)


def test_the_page_is_folded_with_what_is_filled_in_beside_each_name(
    signed_in: FlaskClient, survey: Published
) -> None:
    """A text of the survey's own is asked for in its languages, and in others once it is written there."""
    path = f"/manage/surveys/{survey.slug}/study"
    page = signed_in.get(path).text
    assert page.count('<details class="part"') == 7
    assert page.count('<details class="part" open') == 1, "the first, as long as nothing is saved"
    assert 'name="population.en"' in page
    assert 'name="population.es"' not in page
    save(signed_in, survey.slug, population={"en": "Students", "es": "Estudiantes"}, title={})
    page = signed_in.get(path).text
    assert 'name="population.es"' in page
    assert "Who asks, Who pays, Who conducts it</span></summary>" in page
    assert '<details class="part" open' not in page
    wrong = signed_in.post(path, data={"doi": "1"}).text
    assert wrong.partition('name="doi"')[0].rpartition("<details")[2].startswith(' class="part" open>')


def test_a_sheet_begins_with_what_is_planned_and_keeps_nothing_by_itself(
    signed_in: FlaskClient, database_url: str
) -> None:
    plan = {"respondents": 1234, "margin": 0.05}
    slug = factories.draft(database_url, factories.definition(plan=plan))
    address = f"/manage/surveys/{slug}/study"
    for _ in range(2):  # looking saves nothing
        page = signed_in.get(address).text
        assert re.search(r'name="planned_respondents"[^>]*value="1234"', page)
        assert re.search(r'name="planned_margin"[^>]*value="5%"', page)
        assert re.search(r'name="state"[^>]*value="0"', page)
    assert signed_in.post(address, data={"state": "0", "sponsor": "Nobody"}).status_code == 303
    assert not re.search(r'name="planned_respondents"[^>]*value="1234"', signed_in.get(address).text)


def test_a_refused_sheet_shows_what_was_typed_and_changes_nothing(
    signed_in: FlaskClient, survey: Published
) -> None:
    path = f"/manage/surveys/{survey.slug}/study"
    wrong = {
        "sponsor": "Ministry",
        "authors[3].name": "Curie, Marie",
        "authors[3].orcid": "0000-0002-1825-0098",
        "field_begin": "2026-03-02",
        "field_end": "2026-03-01",
        "contact_email": "curie",
    }
    answer = signed_in.post(path, data=wrong)
    assert answer.status_code == 422
    for text in wrong.values():
        assert f'value="{text}"' in answer.text
    for named in ("ORCID iD of author 1:", "Last day in the field:", "E-mail address:"):
        assert named in answer.text
    assert "must not be before 2026-03-02; it is 2026-03-01" in answer.text
    assert "Ministry" not in signed_in.get(path).text


def test_a_form_from_an_older_state_is_shown_again_and_not_saved(
    signed_in: FlaskClient, survey: Published
) -> None:
    path = f"/manage/surveys/{survey.slug}/study"
    save(signed_in, survey.slug)
    late = signed_in.post(path, data={"state": "0", "sponsor": "Somebody else"})
    assert late.status_code == 409
    assert 'value="Somebody else"' in late.text
    assert "Ministry of Education" in signed_in.get(path).text
    again = {"state": "1", "sponsor": "Somebody else"}
    assert signed_in.post(path, data=again).status_code == 303
    assert "Ministry of Education" not in signed_in.get(path).text


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"doi": "10.12/x"}, "doi", "as 10.1234/abc; it is 10.12/x"),
        ({"doi": "10.1234/a b"}, "doi", "must be a DOI"),
        ({"preregistration": "javascript:alert(1)"}, "preregistration", "https:// or http://"),
        ({"preregistration": "https://user:password@osf.io/"}, "preregistration", "https:// or http://"),
        ({"contact_email": "curie@example"}, "contact_email", "it is curie@example"),
        ({"field_begin": "2026-02-30"}, "field_begin", "1900-01-01 to 2199-12-31"),
        ({"field_begin": "1899-12-31"}, "field_begin", "it is 1899-12-31"),
        ({"field_end": "2026-02-28"}, "field_end", "must not be before 2026-03-01"),
        ({"planned_respondents": 0}, "planned_respondents", "from 1 to 10000000; it is 0"),
        ({"planned_margin": 0.6}, "planned_margin", "from 0.0001 to 0.5; it is 0.6"),
        ({"sponsor": "x" * 301}, "sponsor", "at most 300 characters; it has 301"),
        ({"sponsor": "one\ntwo"}, "sponsor", "must be one line"),
        ({"limitations": "x" * 4001}, "limitations", "at most 4000 characters; it has 4001"),
        ({"population": {"fr": "x"}}, "population.fr", "is not known here"),
        ({"mode": "\u202eweb"}, "mode", "control characters"),
        ({"keywords": ["x" * 101]}, "keywords", "at most 100 characters"),
        ({"authors": [{"name": ""}]}, "authors[0].name", "must not be empty"),
        ({"authors": [{"name": "A", "orcid": "0000-0002-1825-0098"}]}, "authors[0].orcid", "ORCID iD"),
        ({"unknown": "x"}, "unknown", "is not known here"),
    ],
)
def test_what_is_wrong_is_named_with_its_range_and_value(
    change: Mapping[str, Any], field: str, said: str
) -> None:
    with pytest.raises(InputError) as refused:
        parse_study_sheet(study_document(**change))
    assert [problem.field for problem in refused.value.problems] == [field]
    assert said in str(refused.value)


def test_identifiers_are_known_by_their_syntax_and_check_digit() -> None:
    """ORCID's own examples: support.orcid.org, "Structure of the ORCID Identifier"."""
    for known in ("0000-0002-1825-0097", "0000-0001-5109-3700", "0000-0002-1694-233X"):
        assert normalise_orcid(known) == normalise_orcid(f"https://orcid.org/{known}") == known
        for place in range(18):
            if known[place].isdigit():
                other = f"{known[:place]}{(int(known[place]) + 1) % 10}{known[place + 1 :]}"
                assert normalise_orcid(other) is None
    assert normalise_doi("https://doi.org/10.1000/182") == normalise_doi("doi:10.1000/182") == "10.1000/182"
    assert [normalise_doi(text) for text in ("11.1000/182", "10.1/x", "10.1000/", "")] == [None] * 4
    assert is_web_address("HTTPS://osf.io/x?y=1#z")
    assert not any(map(is_web_address, ("osf.io/x", "ftp://osf.io", "https://", "https://a:b", "http://[")))
    assert is_email("a.b+c@example.co.uk")
    assert not any(map(is_email, ("a@b", "a b@c.de", "a@b.", "@b.de", "a@b..de", "a@@b.de")))


def test_a_sheet_survives_its_form_and_its_document() -> None:
    sheet = parse_study_sheet(study_document())
    assert sheet.as_json() == study_document()
    assert parse_study_sheet(sheet.as_json()) == sheet
    assert parse_study_sheet(read_form(close_gaps(write_form(sheet).items()).items())) == sheet
    assert parse_study_sheet({}) == parse_study_sheet(read_form([])) == StudySheet()
    assert StudySheet().is_empty
    assert not sheet.is_empty


def test_every_internal_report_says_what_the_sheet_says(
    signed_in: FlaskClient, database_url: str, survey: Published
) -> None:
    respond(database_url, survey)
    save(signed_in, survey.slug, public=False)
    home = f"/manage/surveys/{survey.slug}"
    stated = {name: value for name, value in study_document().items() if name != "public"}
    assert signed_in.get(f"{home}/report.json").json["study"] == stated
    rows = list(csv.DictReader(io.StringIO(signed_in.get(f"{home}/report.csv").text)))
    written = {row["question"]: row["text"] for row in rows if row["kind"] == "study"}
    assert written["authors[0].orcid"] == "0000-0002-1825-0097"
    assert written["population.en"].startswith("Students")
    page = signed_in.get(f"{home}/report.html").text
    for text in (
        "Ministry of Education",
        "curie@example.org",
        "March 1, 2026 to April 15, 2026",
        "± 5 points",
        "Curie, Marie; Meitner, Lise. Copying in exams, a national study. In the field: March 1, 2026 to April 15, "
        "2026. Survey report, version 1",
        "https://doi.org/10.1234/moneda.5</dd>",
    ):
        assert text in page


def test_what_a_report_has_to_disclose_is_said_to_be_missing_once_anything_is_stated(
    signed_in: FlaskClient, database_url: str, survey: Published
) -> None:
    respond(database_url, survey)
    report = f"/manage/surveys/{survey.slug}/report.html"
    assert "not stated" not in signed_in.get(report).text
    signed_in.post(f"/manage/surveys/{survey.slug}/study", data={"sponsor": "Ministry"})
    page = signed_in.get(report).text
    assert page.count("not stated") == 11
    for field in ("Who pays", "Population", "Sampling frame", "How respondents were chosen", "Limitations"):
        assert re.search(rf"<dt>{field}</dt>\s*<dd>\s*not stated", page), field
    for field in ("Ethics board", "DOI", "E-mail address", "Keywords"):
        assert field not in page


def test_an_empty_sheet_is_asked_for_before_the_first_release_and_never_required(
    signed_in: FlaskClient, database_url: str, survey: Published
) -> None:
    respond(database_url, survey)
    page = f"/manage/surveys/{survey.slug}/releases"
    sample_releases.grant(database_url, survey.slug, 2)
    assert "The study sheet is empty" in signed_in.get(page).text
    sample_releases.release(database_url, survey.slug, {"kind": "count"}, epsilon=1)
    assert "The study sheet is empty" not in signed_in.get(page).text


def test_a_sheet_that_is_filled_in_is_not_asked_for(signed_in: FlaskClient, survey: Published) -> None:
    save(signed_in, survey.slug, public=False)
    assert "The study sheet is empty" not in signed_in.get(f"/manage/surveys/{survey.slug}/releases").text


@pytest.mark.parametrize("public", [False, True])
def test_the_public_report_says_it_only_where_that_was_ticked(
    signed_in: FlaskClient, database_url: str, survey: Published, public: bool
) -> None:
    respond(database_url, survey)
    save(signed_in, survey.slug, public=public)
    sample_releases.grant(database_url, survey.slug, 2)
    signed_in.post(f"/manage/surveys/{survey.slug}/releases/link")
    found = re.search(r"/r/\w+", signed_in.get(f"/manage/surveys/{survey.slug}/releases").text)
    assert found is not None
    link = found[0]
    for ending in ("", "/report.json", "/report.csv"):
        text = signed_in.get(f"{link}{ending}").text
        assert [secret in text for secret in SECRETS] == [public] * len(SECRETS), ending


def test_a_copy_has_the_sheet_without_what_names_the_study_alone(
    signed_in: FlaskClient, survey: Published
) -> None:
    save(signed_in, survey.slug)
    made = signed_in.post(f"/manage/surveys/{survey.slug}/duplicate", data={"title": "Copy"})
    page = signed_in.get(f"{made.headers['Location']}/study").text
    assert "Ministry of Education" in page
    assert [
        text for text in ("10.1234/moneda.5", "2026-04-15", "osf.io", '"readers" checked') if text in page
    ] == []


def test_an_archive_brings_the_sheet_along(
    signed_in: FlaskClient, database_url: str, survey: Published
) -> None:
    save(signed_in, survey.slug)
    factories.close(database_url, survey.slug)
    factories.settle(database_url, survey.slug, minimum=3)
    sample_archives.import_archive(signed_in, sample_archives.export(signed_in, survey.slug))
    with factories.writing(database_url) as session:
        rows = session.scalars(sa.select(StudySheetRow)).all()
        assert len(rows) == 2
        assert all(json.loads(row.document) == study_document() for row in rows)


def test_the_command_prints_and_replaces_it(database_url: str, survey: Published) -> None:
    command = ("survey", "study", survey.slug)
    replaced = run(database_url, *command, "-", text=json.dumps(study_document()))
    assert json.loads(replaced.stdout) == study_document()
    assert json.loads(run(database_url, *command).stdout) == study_document()
    refused = run(database_url, *command, "-", text='{"doi": "x"}')
    assert (refused.exit_code, "doi" in refused.stderr) == (2, True)
    assert json.loads(run(database_url, *command).stdout) == study_document()


def test_it_is_deleted_with_its_survey(signed_in: FlaskClient, database_url: str, survey: Published) -> None:
    save(signed_in, survey.slug)
    assert "curie@example.org" in repr(factories.dump(database_url))
    signed_in.post(f"/manage/surveys/{survey.slug}/delete", data={"confirmation": survey.slug})
    assert factories.dump(database_url)["study_sheets"] == []
    assert "curie@example.org" not in repr(factories.dump(database_url))


# The rules of DataCite's schema 4.5 for what is written here: required properties, controlled lists and patterns.
NAMED = {
    "type": "object",
    "required": ["name"],
    "properties": {"nameType": {"enum": ["Organizational", "Personal"]}},
}


def make_list_rule(*required: str, **lists: list[str]) -> dict[str, Any]:
    """The rule of a property whose entries are all different."""
    properties = {name: {"enum": values} for name, values in lists.items()}
    items = {"type": "object", "required": [*required], "properties": properties}
    return {"type": "array", "minItems": 1, "uniqueItems": True, "items": items}


DATACITE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["creators", "titles", "publisher", "publicationYear", "types", "schemaVersion"],
    "properties": {
        "doi": {"type": "string", "pattern": "^10.[0-9]{4,9}/[-._;()/:a-z0-9A-Z]+$"},
        "types": {
            "required": ["resourceTypeGeneral"],
            "properties": {"resourceTypeGeneral": {"const": "Dataset"}},
        },
        "creators": {"type": "array", "minItems": 1, "items": NAMED},
        "titles": make_list_rule(
            "title", titleType=["AlternativeTitle", "Subtitle", "TranslatedTitle", "Other"]
        ),
        "publisher": {"type": "object", "required": ["name"]},
        "publicationYear": {"type": "string", "pattern": "^[0-9]{4}$"},
        "language": {"type": "string"},
        "subjects": make_list_rule("subject"),
        "contributors": make_list_rule(
            "name", "contributorType", contributorType=["ContactPerson", "DataCollector", "Sponsor", "Other"]
        ),
        "dates": make_list_rule("date", "dateType", dateType=["Collected", "Created", "Issued", "Other"]),
        "alternateIdentifiers": make_list_rule("alternateIdentifier", "alternateIdentifierType"),
        "relatedIdentifiers": make_list_rule(
            *("relatedIdentifier", "relatedIdentifierType", "relationType"),
            relatedIdentifierType=["DOI", "URL"],
            relationType=["IsDocumentedBy", "References"],
            resourceTypeGeneral=["StudyRegistration", "Text"],
        ),
        "rightsList": make_list_rule("rights"),
        "descriptions": make_list_rule(
            "description",
            "descriptionType",
            descriptionType=["Abstract", "Methods", "TechnicalInfo", "Other"],
        ),
        "fundingReferences": make_list_rule("funderName"),
        "schemaVersion": {"const": "http://datacite.org/schema/kernel-4"},
    },
}


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"conductor": "Institute"},
        study_document(),
        study_document(doi="10.1234/a<b>", licence="Own terms", frame="The same", mode="The same"),
        study_document(field_end="", authors=[{"name": "Research group"}], title={"en": "A", "es": "B"}),
    ],
)
def test_metadata_for_datacite_keep_the_rules_of_its_schema(document: Mapping[str, Any]) -> None:
    found = describe_for_datacite(parse_study_sheet(document), "Exams", "en", 2026)
    assert [error.message for error in Draft202012Validator(DATACITE).iter_errors(found)] == []
    assert "curie@example.org" not in repr(found)


def test_metadata_for_datacite_say_what_the_sheet_says_and_invent_nothing(
    signed_in: FlaskClient, survey: Published
) -> None:
    address = f"/manage/surveys/{survey.slug}/study/datacite.json"
    empty = signed_in.get(address).json
    assert (empty["creators"], empty["publisher"]) == ([{"name": ":unav"}], {"name": ":tba"})
    save(signed_in, survey.slug)
    found = signed_in.get(address).json
    assert found["doi"] == "10.1234/moneda.5"
    assert found["dates"] == [{"date": "2026-03-01/2026-04-15", "dateType": "Collected"}]
    assert [creator["familyName"] for creator in found["creators"]] == ["Curie", "Meitner"]
    identifier = found["creators"][0]["nameIdentifiers"][0]["nameIdentifier"]
    assert identifier == "https://orcid.org/0000-0002-1825-0097"
    assert found["rightsList"][0]["rightsIdentifier"] == "CC-BY-4.0"
    assert found["fundingReferences"] == [{"funderName": "Science Fund, grant 1234"}]
