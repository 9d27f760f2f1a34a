"""What has one table is complete where people read of it: a new line there is missed nowhere."""

import json
import re

import pytest

from server.output.languages import (
    DEFAULT_LANGUAGE,
    FOR_RESPONDENTS,
    LANGUAGES,
    RESPONDENT_LANGUAGES,
    TRANSLATED,
)
from server.reports.formats import FORMATS, PAGE
from server.study.switches import SWITCHES
from tests.support.factories import ROOT

SCHEMAS = ("archive.schema.json", "api.schema.json")


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


def test_every_language_has_its_catalogue_its_gallery_and_its_guide() -> None:
    catalogues = (ROOT / "server" / "translations").glob("*/LC_MESSAGES/messages.po")
    assert {path.parts[-3] for path in catalogues} == {*TRANSLATED, *FOR_RESPONDENTS}
    gallery = [path.name.split(".")[:2] for path in (ROOT / "server" / "study" / "gallery").glob("*.json")]
    names = {name for name, _ in gallery}
    assert sorted(map(tuple, gallery)) == sorted((name, code) for name in names for code in LANGUAGES)
    for language in LANGUAGES.values():
        assert (ROOT / "docs" / language.guide / "README.md").is_file()


def test_a_file_of_a_survey_may_be_in_every_language_and_in_no_other() -> None:
    schema = json.loads((ROOT / "server" / "schemas" / "survey.schema.json").read_text("utf-8"))
    assert schema["properties"]["language"]["enum"] == list(RESPONDENT_LANGUAGES)
    assert list(schema["properties"]["translations"]["properties"]) == list(RESPONDENT_LANGUAGES)
    study = json.loads((ROOT / "server" / "schemas" / "study.schema.json").read_text("utf-8"))
    for texts in ("spoken", "words"):
        assert list(study["$defs"][texts]["properties"]) == list(RESPONDENT_LANGUAGES)


def test_no_two_languages_are_called_the_same() -> None:
    called = [name for language in RESPONDENT_LANGUAGES.values() for name in language.called]
    assert len(set(called)) == len(called)
    assert [code for code, language in RESPONDENT_LANGUAGES.items() if code not in language.called] == []
    assert [name for name in called if name != name.casefold()] == []
    assert DEFAULT_LANGUAGE in LANGUAGES


def test_every_switch_of_a_survey_is_known_wherever_it_goes() -> None:
    read = {path: json.loads((ROOT / "server" / "schemas" / path).read_text("utf-8")) for path in SCHEMAS}
    archive, programs = read["archive.schema.json"]["properties"], read["api.schema.json"]["$defs"]
    assert list(programs["settings"]["properties"]) == list(SWITCHES)
    assert set(programs["survey"]["required"]) >= set(SWITCHES)
    assert [programs["survey"]["properties"][name]["type"] for name in SWITCHES] == ["boolean"] * len(
        SWITCHES
    )
    assert [archive[name]["const"] for name in SWITCHES] == [True] * len(SWITCHES)
    for path, mark in (("docs/commands.md", "`--{}`"), ("docs/api.md", "`{}`")):
        text = (ROOT / path).read_text("utf-8")
        assert [name for name in SWITCHES if mark.format(name) not in text] == []


def test_a_format_says_one_thing_once() -> None:
    assert [entry.ending for entry in FORMATS.values()] == list(FORMATS)
    assert len({entry.content_type for entry in FORMATS.values()}) == len(FORMATS)
    assert PAGE in FORMATS
