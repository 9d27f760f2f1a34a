"""A study sheet as the fields of a form, and back."""

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

from server.inputs import margin_text, number_or_text, points_text
from server.inputs.decoding import check_text
from server.study.study_sheets.sheet_values import BY_LANGUAGE, StudySheet

_AUTHOR = re.compile(r"authors\[(\d{1,2})\]\.(name|orcid|affiliation)")
_BY_LANGUAGE = re.compile(rf"({'|'.join(BY_LANGUAGE)})\.([a-z]{{2,3}})")
_TICKS = ("public", "shown")
_NUMBERS = ("planned_respondents", "planned_margin")
_TEXTS = tuple(each.name for each in dataclasses.fields(StudySheet) if each.type is str)


def write_form(sheet: StudySheet) -> dict[str, str]:
    """The fields of a form that shows a sheet."""
    stated = sheet.as_json()
    fields = {name: str(stated.get(name, "")) for name in _TEXTS}
    for name in BY_LANGUAGE:
        fields |= {f"{name}.{code}": text for code, text in stated.get(name, {}).items()}
    for place, author in enumerate(stated.get("authors", ())):
        fields |= {f"authors[{place}].{name}": text for name, text in author.items()}
    fields["keywords"] = "; ".join(sheet.keywords)
    fields["planned_respondents"] = str(sheet.planned_respondents or "")
    margin = "" if sheet.planned_margin is None else repr(sheet.planned_margin)
    fields["planned_margin"] = points_text(margin) if margin else ""
    fields |= {name: "yes" if getattr(sheet, name) else "" for name in _TICKS}
    return fields


def read_form(fields: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """What was typed, as a document that `parse_study_sheet` is still to check; other fields are passed over.

    What is empty is left out, but for authors: see `close_gaps`.

    Raises
    ------
    InputError
        If a field holds what no text may.
    """
    document: dict[str, Any] = {}
    authors: dict[int, dict[str, str]] = {}
    for name, text in fields:
        author, by_language = _AUTHOR.fullmatch(name), _BY_LANGUAGE.fullmatch(name)
        known = author or by_language or name in (*_TEXTS, *_NUMBERS, *_TICKS, "keywords")
        if not known:
            continue
        check_text(text, name)
        if author is not None:
            authors.setdefault(int(author[1]), {"name": ""})[author[2]] = text
        elif not text.strip():
            continue
        elif by_language is not None:
            document.setdefault(by_language[1], {})[by_language[2]] = text
        elif name == "keywords":
            document[name] = [each.strip() for each in re.split(r"[;,\n]", text) if each.strip()]
        elif name == "planned_margin":
            document[name] = number_or_text(margin_text(text))
        elif name == "planned_respondents":
            document[name] = number_or_text(text)
        elif name in _TICKS:
            document[name] = True
        else:
            document[name] = text
    document["authors"] = [authors[place] for place in sorted(authors)]
    return document


def close_gaps(fields: Iterable[tuple[str | None, str]]) -> dict[str, str]:
    """The fields of a form with those of authors numbered anew: without those of whom nothing is typed."""
    typed = {name: text for name, text in fields if name is not None}  # a part may come without a name
    places = {
        int(found[1]) for name, text in typed.items() if text.strip() and (found := _AUTHOR.fullmatch(name))
    }
    order = {place: number for number, place in enumerate(sorted(places))}
    closed = {name: text for name, text in typed.items() if not _AUTHOR.fullmatch(name)}
    for name, text in typed.items():
        found = _AUTHOR.fullmatch(name)
        if found is not None and int(found[1]) in order:
            closed[f"authors[{order[int(found[1])]}].{found[2]}"] = text
    return closed


def count_authors(fields: Iterable[str]) -> int:
    """Of how many authors a form has fields."""
    return len({found[1] for name in fields if (found := _AUTHOR.fullmatch(name))})
