"""A study sheet as metadata of DataCite (schema 4.5, in its JSON), for a repository that gives a DOI to the data."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from server.study.study_sheets.sheet_values import Author, StudySheet

_DOI = re.compile(r"10\.\d{4,9}/[-._;()/:a-zA-Z0-9]+")
"""What the schema takes as one; another that somebody has is an alternate identifier."""
_SPDX = re.compile(r"CC0-1\.0|CC-BY(-NC)?(-SA|-ND)?-[1-4]\.0|ODbL-1\.0|ODC-By-1\.0|PDDL-1\.0")
_TO_COME, _UNKNOWN = ":tba", ":unav"
"""DataCite's own words for what is required and is announced later, or cannot be had."""

_Document = dict[str, Any]


def describe_for_datacite(study: StudySheet, title: str, language: str, year: int) -> _Document:
    """Every field that the sheet states, and what the schema requires; nothing else is made up.

    Who publishes the data is for the repository to say, and stands as `:tba`. Without authors, whoever conducts the
    study, or asks, is its creator, or nobody that is known (`:unav`). The contact's e-mail address is in no field.

    Parameters
    ----------
    title, language : str
        Of the questionnaire.
    year : int
        In which the data are published, as far as that is known.
    """
    named = bool(study.doi and _DOI.fullmatch(study.doi))
    lists: Mapping[str, list[_Document]] = {
        "subjects": [{"subject": keyword} for keyword in study.keywords],
        "contributors": list(_list_contributors(study)),
        "dates": (
            [{"date": f"{study.field_begin}/{study.field_end}", "dateType": "Collected"}]
            if study.field_begin and study.field_end
            else []
        ),
        "alternateIdentifiers": (
            [{"alternateIdentifier": study.doi, "alternateIdentifierType": "DOI"}]
            if study.doi and not named
            else []
        ),
        "relatedIdentifiers": (
            [
                {
                    "relatedIdentifier": study.preregistration,
                    "relatedIdentifierType": "URL",
                    "relationType": "IsDocumentedBy",
                    "resourceTypeGeneral": "StudyRegistration",
                }
            ]
            if study.preregistration
            else []
        ),
        "rightsList": [_write_licence(study.licence)] if study.licence else [],
        "descriptions": list(_list_descriptions(study)),
        "fundingReferences": [{"funderName": study.funder}] if study.funder else [],
    }
    return {
        **({"doi": study.doi} if named else {}),
        "types": {"resourceType": "Survey data", "resourceTypeGeneral": "Dataset"},
        "creators": _list_creators(study),
        "titles": _list_titles(study, title, language),
        "publisher": {"name": _TO_COME},
        "publicationYear": str(year),
        "language": language,
        **{name: entries for name, entries in lists.items() if entries},
        "schemaVersion": "http://datacite.org/schema/kernel-4",
    }


def _list_creators(study: StudySheet) -> list[_Document]:
    if study.authors:
        return [_write_author(author) for author in study.authors]
    return [{"name": study.conductor or study.sponsor or _UNKNOWN}]


def _write_author(author: Author) -> _Document:
    """Somebody with an ORCID iD, or a family name before a comma, is a person; of others that is not known."""
    written: _Document = {"name": author.name}
    family, comma, given = (part.strip() for part in author.name.partition(","))
    if comma and family and given:
        written |= {"nameType": "Personal", "familyName": family, "givenName": given}
    if author.orcid:
        site = "https://orcid.org"
        identifier = {
            "nameIdentifier": f"{site}/{author.orcid}",
            "nameIdentifierScheme": "ORCID",
            "schemeUri": site,
        }
        written |= {"nameType": "Personal", "nameIdentifiers": [identifier]}
    if author.affiliation:
        written["affiliation"] = [{"name": author.affiliation}]
    return written


def _list_titles(study: StudySheet, title: str, language: str) -> list[_Document]:
    if not study.title:
        return [{"title": title, "lang": language}]
    first, *others = study.title.items()
    return [
        {"title": first[1], "lang": first[0]},
        *({"title": text, "lang": code, "titleType": "TranslatedTitle"} for code, text in others),
    ]


def _list_contributors(study: StudySheet) -> Iterator[_Document]:
    for name, part in (
        (study.conductor, "DataCollector"),
        (study.sponsor, "Sponsor"),
        (study.contact_name, "ContactPerson"),
    ):
        if name:
            yield {"name": name, "contributorType": part}


def _list_descriptions(study: StudySheet) -> Iterator[_Document]:
    for code, text in study.population.items():
        yield {"description": text, "descriptionType": "Abstract", "lang": code}
    for text in dict.fromkeys((study.frame, study.recruitment, study.mode, study.quality)):
        if text:
            yield {"description": text, "descriptionType": "Methods"}
    if study.limitations:
        yield {"description": study.limitations, "descriptionType": "Other"}


def _write_licence(licence: str) -> _Document:
    if _SPDX.fullmatch(licence) is None:
        return {"rights": licence}
    return {
        "rights": licence,
        "rightsIdentifier": licence,
        "rightsIdentifierScheme": "SPDX",
        "schemeUri": "https://spdx.org/licenses/",
    }
