"""How microdata are cited where they are deposited: DataCite's JSON, and CITATION.cff made of the same."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from server.reports.report import Report
from server.study.study_sheets.datacite import describe_for_datacite


def describe_deposit(report: Report) -> dict[str, Any]:
    """What the study sheet states, as metadata of DataCite; the year is that of the file."""
    definition = report.definition
    return describe_for_datacite(report.study, definition.title, definition.language, report.made_on.year)


def write_datacite(report: Report) -> str:
    """`describe_deposit` as a file."""
    return json.dumps(describe_deposit(report), ensure_ascii=False, indent=2) + "\n"


def write_citation(report: Report) -> str:
    """The same as a file of the Citation File Format 1.2, as far as that has fields for it.

    Texts are quoted as JSON quotes them, which is YAML too.
    """
    stated = describe_deposit(report)
    lines = [
        "cff-version: 1.2.0",
        "type: dataset",
        f"message: {_quote('If you use these data, please cite them as below.')}",
        f"title: {_quote(stated['titles'][0]['title'])}",
        "authors:",
        *(line for creator in stated["creators"] for line in _write_author(creator)),
        f"version: {_quote(str(report.version_number))}",
        f"date-released: {report.made_on.isoformat()}",
    ]
    if "doi" in stated:
        lines.append(f"doi: {_quote(stated['doi'])}")
    licences = [rights.get("rightsIdentifier") for rights in stated.get("rightsList", ())]
    lines += (f"license: {_quote(licence)}" for licence in licences if licence)
    if subjects := stated.get("subjects"):
        lines.append("keywords:")
        lines += (f"  - {_quote(subject['subject'])}" for subject in subjects)
    return "\n".join(lines) + "\n"


def _write_author(creator: Mapping[str, Any]) -> Iterator[str]:
    """A person where the family name is known; else a name as it is, of whatever has it."""
    fields: dict[str, str] = {"name": creator["name"]}
    if "familyName" in creator:
        fields = {"family-names": creator["familyName"], "given-names": creator["givenName"]}
        for identifier in creator.get("nameIdentifiers", ()):
            fields["orcid"] = identifier["nameIdentifier"]
        for place in creator.get("affiliation", ()):
            fields["affiliation"] = place["name"]
    for number, (name, text) in enumerate(fields.items()):
        yield f"  {' ' if number else '-'} {name}: {_quote(text)}"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
