"""A document -> a study sheet, or every field that is wrong."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from server.inputs import N_, InputError, Problem, shorten_value
from server.inputs.schema import violations
from server.study.study_sheets.identifiers import is_email, is_web_address, normalise_doi, normalise_orcid
from server.study.study_sheets.sheet_values import BY_LANGUAGE, Author, StudySheet

_SCHEMA = "study"
_PASSAGES = {
    "population",
    "hand_over",
    "thanks",
    "help_lines",
    "frame",
    "recruitment",
    "quality",
    "limitations",
}
"""Texts that may have several lines."""
_FIRST, _LAST = date(1900, 1, 1), date(2199, 12, 31)


def parse_study_sheet(document: Any) -> StudySheet:
    """Read a study sheet, and leave out what is empty.

    Raises
    ------
    InputError
        422 with everything that is wrong, by the path of its field.
    """
    problems = [_call_list(problem) for problem in violations(document, _SCHEMA)]
    if problems:
        raise InputError(422, problems)
    stated = {name: _tidy(value) for name, value in document.items()}
    problems = [*_check_lines(stated), *_check_authors(stated), *_check_names(stated), *_check_days(stated)]
    problems += _check_shown(stated)
    if problems:
        raise InputError(422, problems)
    authors = tuple(
        Author(author["name"], normalise_orcid(author.get("orcid", "")) or "", author.get("affiliation", ""))
        for author in stated.get("authors", ())
    )
    stated |= {
        "authors": authors,
        "keywords": tuple(dict.fromkeys(filter(None, stated.get("keywords", ())))),
        "doi": normalise_doi(stated.get("doi", "")) or "",
    }
    for name in BY_LANGUAGE:
        stated[name] = {code: text for code, text in stated.get(name, {}).items() if text}
    if "planned_respondents" in stated:
        stated["planned_respondents"] = int(stated["planned_respondents"])  # JSON's 1.0 is a whole number
    if "planned_margin" in stated:
        stated["planned_margin"] = float(stated["planned_margin"])
    return StudySheet(**stated)


def _call_list(problem: Problem) -> Problem:
    """A problem of one keyword is one of their field."""
    return replace(problem, field=re.sub(r"keywords\[\d+\]", "keywords", problem.field))


def _tidy(value: Any) -> Any:
    """The same without space around texts; lines end as in every document."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n").strip()
    if isinstance(value, list):
        return [_tidy(each) for each in value]
    if isinstance(value, dict):
        return {name: _tidy(each) for name, each in value.items()}
    return value


def _list_texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for place, inside in enumerate(value):
            yield from _list_texts(inside, f"{path}[{place}]" if path != "keywords" else path)
    elif isinstance(value, dict):
        for name, inside in value.items():
            yield from _list_texts(inside, f"{path}.{name}" if path else name)


def _check_lines(sheet: Mapping[str, Any]) -> Iterator[Problem]:
    """No control character, nothing that turns the direction of what follows; a line break in passages alone."""
    for path, text in _list_texts(dict(sheet), ""):
        whole = path.partition(".")[0] in _PASSAGES
        allowed = "\n\t" if whole else ""
        if not whole and "\n" in text:
            yield Problem(path, N_("must be one line; it has a line break"), {})
        elif any(
            letter not in allowed
            and (unicodedata.category(letter) == "Cc" or letter in "\u202a\u202b\u202c\u202d\u202e")
            for letter in text
        ):
            template = N_("must not contain control characters; it is %(value)s")
            yield Problem(path, template, {"value": shorten_value(text)})


def _check_authors(sheet: Mapping[str, Any]) -> Iterator[Problem]:
    for place, author in enumerate(sheet.get("authors", ())):
        if not author["name"]:
            yield Problem(f"authors[{place}].name", N_("must not be empty"), {})
        orcid = author.get("orcid", "")
        if orcid and normalise_orcid(orcid) is None:
            template = N_(
                "must be an ORCID iD, as 0000-0002-1825-0097, whose last character fits the others; it is %(value)s"
            )
            yield Problem(f"authors[{place}].orcid", template, {"value": shorten_value(orcid)})
    known = Counter(normalise_orcid(author.get("orcid", "")) for author in sheet.get("authors", ()))
    for place, author in enumerate(sheet.get("authors", ())):
        orcid = normalise_orcid(author.get("orcid", ""))
        if orcid is not None and known[orcid] > 1:
            template = N_("must be unique; %(value)s stands twice")
            yield Problem(f"authors[{place}].orcid", template, {"value": orcid})


def _check_names(sheet: Mapping[str, Any]) -> Iterator[Problem]:
    doi, address, email = (sheet.get(name, "") for name in ("doi", "preregistration", "contact_email"))
    link = sheet.get("completion_link", "")
    if doi and normalise_doi(doi) is None:
        template = N_("must be a DOI, as 10.1234/abc; it is %(value)s")
        yield Problem("doi", template, {"value": shorten_value(doi)})
    if address and not is_web_address(address):
        template = N_("must be an address that begins with https:// or http://; it is %(value)s")
        yield Problem("preregistration", template, {"value": shorten_value(address)})
    if link and not (is_web_address(link) and link.lower().startswith("https:")):
        template = N_(
            'must be an address that begins with https://, without a password or any of these: <>"{}; it is %(value)s'
        )
        yield Problem("completion_link", template, {"value": shorten_value(link)})
    if email and not is_email(email):
        template = N_("must be an e-mail address, as name@example.org; it is %(value)s")
        yield Problem("contact_email", template, {"value": shorten_value(email)})


def _check_shown(sheet: Mapping[str, Any]) -> Iterator[Problem]:
    """Whoever is named to respondents can be asked."""
    if not sheet.get("shown"):
        return
    if not sheet.get("sponsor"):
        yield Problem("sponsor", N_("must not be empty where respondents are shown who asks"), {})
    if not sheet.get("contact_name") and not sheet.get("contact_email"):
        template = N_("must not be empty, nor the e-mail address, where respondents are shown who asks")
        yield Problem("contact_name", template, {})


def _check_days(sheet: Mapping[str, Any]) -> Iterator[Problem]:
    days = {}
    for name in ("field_begin", "field_end"):
        text = sheet.get(name, "")
        day = _read_day(text)
        if text and day is None:
            template = N_("must be a day from 1900-01-01 to 2199-12-31, as 2026-03-01; it is %(value)s")
            yield Problem(name, template, {"value": shorten_value(text)})
        days[name] = day
    begin, end = days["field_begin"], days["field_end"]
    if begin is not None and end is not None and end < begin:
        template = N_("must not be before %(limit)s; it is %(value)s")
        yield Problem("field_end", template, {"limit": begin.isoformat(), "value": end.isoformat()})


def _read_day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text and _FIRST <= day <= _LAST else None
