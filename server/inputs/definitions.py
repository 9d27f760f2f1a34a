"""Survey definitions and the editor's form -> a `Definition`, by the schema that is shipped."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from server.definitions import CoinFlip, Definition, Question
from server.inputs.decoding import check_text
from server.inputs.problems import N_, InputError, Problem, refuse, shown

DEFINITION_LIMIT = 1024 * 1024
"""Largest survey definition, in bytes."""

_PROBLEMS_LIMIT = 1000

_SCHEMA = Path(__file__).parents[1] / "schemas" / "survey.schema.json"


def parse_definition(document: object) -> Definition:
    """A decoded survey definition -> a `Definition`; every problem (of the first 1000) is reported with its field."""
    check_text(document)
    errors = islice(_validator().iter_errors(document), _PROBLEMS_LIMIT)
    problems = [_problem(error) for error in sorted(errors, key=_position)]
    if problems:
        # An empty text breaks two rules of the schema that say the same.
        raise InputError(422, list({(found.field, found.message): found for found in problems}.values()))
    assert isinstance(document, dict)  # the schema says so
    names: set[str] = set()
    for index, question in enumerate(document["questions"]):
        if question["name"] in names:
            field = f"questions[{index}].name"
            raise refuse(422, field, N_("must be unique; %(value)s stands twice"), value=question["name"])
        names.add(question["name"])
    return Definition(
        language=document["language"],
        title=document["title"].strip(),
        introduction=document["introduction"].strip(),
        questions=tuple(
            Question(
                name=question["name"],
                kind=question["kind"],
                text=question["text"].strip(),
                choice=CoinFlip(question["design"]["gamma"]),
            )
            for question in document["questions"]
        ),
    )


def parse_form(
    form: Mapping[str, str], names: Iterable[str], texts: Iterable[str], gammas: Iterable[str]
) -> dict[str, Any]:
    """The fields of the editor -> a definition document, still to be checked by `parse_definition`.

    Browsers send line ends as CR LF; definitions hold LF. A question without a name gets
    the first free one. The slider sets every question; while it stands where it stood, each
    question keeps the gamma it came with, so that saving an imported survey weakens nothing.
    """
    document: dict[str, Any] = {
        "format": 1,
        "language": form.get("language", ""),
        "title": form.get("title", ""),
        "introduction": form.get("introduction", "").replace("\r\n", "\n"),
        "questions": [],
    }
    gamma = _number(form.get("gamma", ""))
    moved = form.get("gamma") != form.get("gamma_before")
    kept, wordings, own = list(names), list(texts), list(gammas)
    own = own or [""] * len(kept)
    if not len(kept) == len(wordings) == len(own):
        raise refuse(422, "questions", N_("must have one name and one gamma for each text"))
    most = schema_limit("properties", "questions", "maxItems")
    if len(wordings) > 10 * most:  # nobody typed these; a few too many are shown again instead
        raise refuse(422, "questions", _KEYWORDS["maxItems"], limit=most, length=len(wordings))
    taken = set(kept)
    free = (f"q{number}" for number in range(1, 1_000_000) if f"q{number}" not in taken)
    for name, text, before in zip(kept, wordings, own, strict=True):
        document["questions"].append(
            {
                "name": name or next(free),
                "kind": "yes_no",
                "text": text.replace("\r\n", "\n"),
                "design": {
                    "mechanism": "coin_flip",
                    "gamma": _number(before) if before and not moved else gamma,
                },
            }
        )
    return document


def schema_limit(*path: str) -> int:
    """A limit stated in the schema (for `maxlength` in forms), by its path there."""
    value: Any = _schema()
    for step in path:
        value = value[step]
    return int(value)


def _number(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if abs(number) < float("inf") else text


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(_SCHEMA.read_text("utf-8"))
    return schema


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(_schema())


def _position(error: ValidationError) -> tuple[tuple[int, str], ...]:
    """Order problems as the document and the editor show them: fields as the schema lists them."""
    order = list(_schema()["properties"])
    return tuple(
        (step, "") if isinstance(step, int) else (order.index(step) if step in order else -1, step)
        for step in error.absolute_path
    )


def _field(path: Iterable[str | int]) -> str:
    field = ""
    for step in path:
        field += f"[{step}]" if isinstance(step, int) else f".{step}" if field else str(step)
    return field


_TYPES = {
    "object": N_("must be an object; it is %(value)s"),
    "array": N_("must be a list; it is %(value)s"),
    "string": N_("must be text; it is %(value)s"),
    "number": N_("must be a number; it is %(value)s"),
}
_KEYWORDS = {
    "const": N_("must be %(limit)s; it is %(value)s"),
    "enum": N_("must be one of %(limit)s; it is %(value)s"),
    "minimum": N_("must be from %(low)s to %(high)s; it is %(value)s"),
    "maximum": N_("must be from %(low)s to %(high)s; it is %(value)s"),
    "minLength": N_("must not be empty"),
    "maxLength": N_("must have at most %(limit)s characters; it has %(length)d"),
    "minItems": N_("must have at least %(limit)s entries; it has %(length)d"),
    "maxItems": N_("must have at most %(limit)s entries; it has %(length)d"),
}
_PATTERNS = {
    r"\S": N_("must not be empty"),
    r"^[a-z][a-z0-9_]{0,39}$(?!\n)": N_(
        "must start with a letter and have up to 40 lower-case letters, digits or underscores; it is %(value)s"
    ),
}


def _problem(error: ValidationError) -> Problem:
    """Say what a violated keyword of the schema means, with its limit and the value refused."""
    field, keyword = _field(error.absolute_path), str(error.validator)
    value, limit, schema = cast(tuple[Any, Any, Any], (error.instance, error.validator_value, error.schema))
    if keyword == "required":
        missing = next(name for name in limit if name not in value)
        return Problem(f"{field}.{missing}".lstrip("."), N_("is required"), {})
    if keyword == "additionalProperties":
        allowed = schema["properties"]
        extra = shown(next(name for name in value if name not in allowed))
        template = N_("is not known here; allowed: %(allowed)s")
        return Problem(f"{field}.{extra}".lstrip("."), template, {"allowed": ", ".join(allowed)})
    if keyword == "type":
        template = _TYPES[limit]
    elif keyword == "pattern":
        template = _PATTERNS[limit]
    else:
        template = _KEYWORDS[keyword]
        limit = ", ".join(map(str, limit)) if isinstance(limit, list) else limit
    length = len(value) if isinstance(value, str | list) else 0
    values = {
        "limit": limit,
        "low": schema.get("minimum"),
        "high": schema.get("maximum"),
        "value": shown(value),
        "length": length,
    }
    return Problem(field or "definition", template, values)
