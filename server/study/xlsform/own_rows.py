"""The column by which a form that we wrote is known again: what each row is here, where its type does not say.

Other programs pass over it. A row that somebody has changed so that it no longer fits is read as in any other form.
"""

import re
from collections.abc import Sequence
from typing import Any

from server.inputs.schema import schema_limit
from server.study.definitions import PREFER_NOT_TO_SAY
from server.study.definitions.look_alikes import strip_unseen
from server.study.kinds import KINDS
from server.study.xlsform.choices import Choices, find_other
from server.study.xlsform.fitting_names import fits_as_name
from server.study.xlsform.sheet_heads import SheetRow

MARK = "moneda"
"""The heading of the column, and the name of the sheet that people read."""
INTRODUCTION, CONSENT, AGREED, LEAST_AGE = "introduction", "consent", "agreed", "least_age"
SECTION, BODY, NUMBER = "section", "body", "number"
LISTED = tuple(kind.name for kind in KINDS.values() if not kind.asks_number)
"""Kinds of questions whose rows name a list."""


def take_opening(line: SheetRow, opening: dict[str, Any]) -> bool:
    """Whether a row is what stands before the questions; then `opening` has it, as a definition does."""
    mark, _, number = line.text(MARK).partition(" ")
    if line.label is None or mark not in (INTRODUCTION, CONSENT, AGREED, LEAST_AGE):
        return False
    text = line.label.text
    if mark == AGREED:  # its tick, which every page has by itself
        return CONSENT in opening
    if mark == LEAST_AGE:
        low, high = (schema_limit("properties", LEAST_AGE, limit) for limit in ("minimum", "maximum"))
        said = re.search(rf"(?<!\d){number}(?!\d)", text) if re.fullmatch("[1-9][0-9]{0,2}", number) else None
        if said is None or not low <= int(number) <= high:
            return False
        opening[LEAST_AGE] = int(number)
    elif len(text) > schema_limit("properties", mark, "maxLength"):
        return False
    else:
        opening[mark] = text
    return True


def take_body(line: SheetRow, entries: Sequence[dict[str, Any]]) -> bool:
    """Whether a row is what stands below the heading before it; then that has it."""
    if line.text(MARK) != BODY or line.label is None or not entries:
        return False
    last = entries[-1]
    longest = schema_limit("$defs", SECTION, "properties", "body", "maxLength")
    if last["kind"] != SECTION or "body" in last or len(line.label.text) > longest:
        return False
    last["body"] = line.label.text
    return True


def read_unit(line: SheetRow) -> str:
    """The unit of a number, which the form gives as a hint."""
    longest = schema_limit("$defs", NUMBER, "properties", "unit", "maxLength")
    found = line.hint is not None and line.text(MARK) == NUMBER and line.hint.text
    return found if found and len(found) <= longest and "\n" not in found else ""


def read_listed(lines: Sequence[SheetRow], kind: str) -> Choices | None:
    """A list of a kind's answers exactly as it stands; None where it is none that we would have written."""
    labels = {line.text("name"): line.label.text for line in lines if line.label is not None}
    options = {name: text for name, text in labels.items() if name != PREFER_NOT_TO_SAY}
    longest = schema_limit("$defs", "option", "properties", "text", "maxLength")
    looks = {strip_unseen(text) for text in options.values()}
    if len(labels) < len(lines) or len(looks) < len(options) or not all(map(fits_as_name, labels)):
        return None
    if any(len(text) > longest or "\n" in text for text in options.values()):
        return None
    fixed = KINDS[kind].fixed
    if fixed and options.keys() != fixed.keys():
        return None
    return Choices(
        tuple({"name": name, "text": text} for name, text in options.items()),
        {name: name for name in labels},
        PREFER_NOT_TO_SAY in labels,
        kind if fixed else "",
        find_other(options),
    )
