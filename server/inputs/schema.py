"""The shipped JSON Schema of a definition, and its violations in words."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache, partial
from itertools import islice
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from server.config import SCHEMAS
from server.inputs.problems import N_, Problem, shorten_value

_PROBLEMS_LIMIT = 1000


@cache
def schema(name: str = "survey") -> dict[str, Any]:
    """A shipped schema, decoded: of a survey's definition, or of an archive's manifest."""
    document: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    return document


def schema_limit(*path: str) -> int:
    """A limit stated in the schema (for `maxlength` in forms), by its path there."""
    value: Any = schema()
    for step in path:
        value = value[step]
    return int(value)


def is_possible(value: object, *path: str) -> bool:
    """Whether a survey's schema takes a value at a path there."""
    return bool(make_validator("survey", *path).is_valid(value))


def violations(document: object, name: str = "survey", *path: str) -> list[Problem]:
    """Every violation of a schema, or of what stands at a path there (of the first 1000), as the schema orders them."""
    found = islice(make_validator(name, *path).iter_errors(document), _PROBLEMS_LIMIT)
    errors = sorted(found, key=partial(_position, list(schema(name)["properties"])))
    problems = [problem for error in errors for problem in _problems(error)]
    # An empty text breaks two rules of the schema that say the same.
    return list({(found.field, found.message): found for found in problems}.values())


@cache
def make_validator(name: str, *path: str) -> Any:
    """What checks a document against a schema, or against what stands at a path there."""
    rules: Any = schema(name)
    for step in path:
        rules = rules[step]
    return _Validator(rules)


def _check_all(
    validator: Any, parts: Sequence[dict[str, Any]], value: object, _rules: object
) -> Iterator[ValidationError]:
    """Do what the keyword `allOf` asks for, and pass over parts that speak of another kind at once.

    The library tries whether a part speaks of this kind: for ten kinds that is most of what a definition takes.
    """
    for number, part in enumerate(parts):
        if _may_speak_of(part, value):
            yield from validator.descend(value, part, schema_path=number)


def _may_speak_of(part: dict[str, Any], value: object) -> bool:
    if not isinstance(value, dict) or "else" in part:
        return True
    wanted = part.get("if", {}).get("properties", {})
    return not any(
        name in value and value[name] != rule.get("const", value[name]) for name, rule in wanted.items()
    )


_Validator = extend(Draft202012Validator, {"allOf": _check_all})  # type: ignore[no-untyped-call]


def _position(order: list[str], error: ValidationError) -> tuple[tuple[int, str], ...]:
    """Order problems as the document and the editor show them: fields as the schema lists them."""
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
    "integer": N_("must be a whole number; it is %(value)s"),
    "boolean": N_("must be true or false; it is %(value)s"),
    "number or string": N_("must be a number, or text; it is %(value)s"),
    "string or object": N_("must be text, or an object; it is %(value)s"),
    "string or array": N_("must be text, or a list; it is %(value)s"),
    "integer or object": N_("must be a whole number, or an object; it is %(value)s"),
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
_EMPTY = N_("must not be empty")
_ONE_LINE = N_("must be one line; it has a line break")
_NAME = N_(
    "must start with a letter and have up to 40 lower-case letters, digits or underscores; it is %(value)s"
)
_PATTERNS = {r"\S": _EMPTY, r"^[a-z][a-z0-9_]{0,39}$(?!\n)": _NAME}


def _problems(error: ValidationError) -> list[Problem]:
    """Say what a violated keyword of the schema means, with its limit and the value refused."""
    field, keyword = _field(error.absolute_path), str(error.validator)
    value, limit, rules = cast(tuple[Any, Any, Any], (error.instance, error.validator_value, error.schema))
    if keyword == "required":
        # The library tells of each missing name by itself, and names it in its message only.
        missing = error.message.split("'")[1]
        return [Problem(f"{field}.{missing}".lstrip("."), N_("is required"), {})]
    if keyword == "additionalProperties":
        allowed = rules["properties"]
        template = N_("is not known here; allowed: %(allowed)s")
        return [
            Problem(f"{field}.{shorten_value(name)}".lstrip("."), template, {"allowed": ", ".join(allowed)})
            for name in value
            if name not in allowed
        ]
    if keyword == "type":
        template = _TYPES[" or ".join(limit) if isinstance(limit, list) else limit]
    elif keyword == "minItems" and limit == 1:
        template = _EMPTY
    elif keyword == "pattern":
        template = _PATTERNS.get(limit) or (_ONE_LINE if value.strip() else _EMPTY)
    else:
        template = _KEYWORDS[keyword]
        limit = ", ".join(map(str, limit)) if isinstance(limit, list) else shorten_value(limit)
    values = {
        "limit": limit,
        "low": _figure(rules.get("minimum")),
        "high": _figure(rules.get("maximum")),
        "value": shorten_value(json.dumps(value) if _is_quoted_number(value) else value),
        "length": len(value) if isinstance(value, str | list) else 0,
    }
    return [Problem(field or "definition", template, values)]


def _is_quoted_number(value: object) -> bool:
    """Whether a text looks like a number: without its quotes one would read that a number must be a number."""
    return isinstance(value, str) and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value) is not None


def _figure(limit: float | None) -> str:
    return "" if limit is None else format(Decimal(repr(limit)).normalize(), "f")
