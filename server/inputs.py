"""Untrusted bytes, JSON and forms become frozen values here, or an `InputError`.

Nothing behind this module sees unchecked input. A message is an English template with
named values, marked for translation with `N_` and translated at the edge, so that this
module (and with it the intake of responses) needs no web framework.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from server.definitions import CoinFlip, Definition, Question

RESPONSE_LIMIT = 16 * 1024
"""Largest body of a response, in bytes."""
DEFINITION_LIMIT = 1024 * 1024
"""Largest survey definition, in bytes."""

_DEPTH_LIMIT = 32
_SCHEMA = Path(__file__).parent / "schemas" / "survey.schema.json"
_HEX_ID = re.compile(r"[0-9a-f]{32}\Z")
_HEX_VERSION = re.compile(r"[0-9a-f]{64}\Z")


def N_(message: str) -> str:  # noqa: N802 - gettext's own name for "mark, do not translate yet"
    """Mark a message for the catalogues; it is translated where it is shown."""
    return message


@dataclass(frozen=True)
class Problem:
    """One thing wrong: the field, and a message template with the values it names."""

    field: str
    template: str
    values: Mapping[str, object]

    @property
    def message(self) -> str:
        return self.template % self.values


class InputError(ValueError):
    """Input that was refused, with the HTTP status that says so best."""

    def __init__(self, status: int, problems: Sequence[Problem]) -> None:
        self.status = status
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{problem.field}: {problem.message}" for problem in problems))


def refuse(status: int, field: str, template: str, **values: object) -> InputError:
    """An `InputError` with one problem."""
    return InputError(status, [Problem(field, template, values)])


@dataclass(frozen=True)
class Submission:
    """A response as it arrives: well formed, not yet held against its survey."""

    id: bytes
    version: str
    reports: bytes


def shown(value: object) -> str:
    """A refused value, short enough and plain enough to be repeated to its sender."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = "".join(c if unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return f"{text[:60]}…" if len(text) > 60 else text


def parse_json(body: bytes, limit: int) -> Any:
    """Decode one JSON text, strictly: UTF-8, no duplicate names, no NaN, no NUL, bounded."""
    if len(body) > limit:
        raise refuse(413, "body", N_("must be at most %(limit)d bytes; it has more"), limit=limit)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse(
            400, "body", N_("must be UTF-8; byte %(position)d is not"), position=error.start
        ) from None
    try:
        value = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except InputError:
        raise
    except RecursionError:
        raise refuse(400, "body", N_("must not be nested this deeply")) from None
    except json.JSONDecodeError as error:
        raise refuse(
            400, "body", N_("must be JSON; it is not from character %(position)d on"), position=error.pos
        ) from None
    except ValueError:
        # The interpreter's own limit on the digits of one integer.
        raise refuse(400, "body", N_("must not hold a number of thousands of digits")) from None
    _check_text(value)
    return value


def parse_submission(body: bytes) -> Submission:
    """`{"id", "version", "reports"}` -> a `Submission`; ranges depend on the survey and come later."""
    value = parse_json(body, RESPONSE_LIMIT)
    if not isinstance(value, dict):
        raise refuse(422, "body", N_("must be a JSON object; it is %(value)s"), value=shown(value))
    for name in value.keys() - {"id", "version", "reports"}:
        raise refuse(422, shown(name), N_("is not a field of a response; allowed: id, version, reports"))
    for name in ("id", "version", "reports"):
        if name not in value:
            raise refuse(422, name, N_("is required"))
    if not (isinstance(value["id"], str) and _HEX_ID.match(value["id"])):
        raise refuse(
            422,
            "id",
            N_("must be 32 hexadecimal digits in lower case; it is %(value)s"),
            value=shown(value["id"]),
        )
    if not (isinstance(value["version"], str) and _HEX_VERSION.match(value["version"])):
        raise refuse(
            422,
            "version",
            N_("must be 64 hexadecimal digits in lower case; it is %(value)s"),
            value=shown(value["version"]),
        )
    return Submission(bytes.fromhex(value["id"]), value["version"], _parse_reports(value["reports"]))


def parse_definition(document: object) -> Definition:
    """A decoded survey definition -> a `Definition`; every problem is reported, each with its field."""
    problems = [_problem(error) for error in sorted(_validator().iter_errors(document), key=_position)]
    if problems:
        raise InputError(422, problems)
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


def parse_form(form: Mapping[str, str], names: Iterable[str], texts: Iterable[str]) -> dict[str, Any]:
    """The fields of the editor -> a definition document, still to be checked by `parse_definition`.

    Browsers send line ends as CR LF; definitions hold LF. A question without a name gets
    the first free one.
    """
    document: dict[str, Any] = {
        "format": 1,
        "language": form.get("language", ""),
        "title": form.get("title", ""),
        "introduction": form.get("introduction", "").replace("\r\n", "\n"),
        "questions": [],
    }
    gamma = _number(form.get("gamma", ""))
    kept, wordings = list(names), list(texts)
    if len(kept) != len(wordings):
        raise refuse(422, "questions", N_("must have one name for each text"))
    free = (f"q{number}" for number in range(1, 1_000_000) if f"q{number}" not in kept)
    for name, text in zip(kept, wordings, strict=True):
        document["questions"].append(
            {
                "name": name or next(free),
                "kind": "yes_no",
                "text": text.replace("\r\n", "\n"),
                "design": {"mechanism": "coin_flip", "gamma": gamma},
            }
        )
    _check_text(document)
    return document


def schema_limit(*path: str) -> int:
    """A limit stated in the schema (for `maxlength` in forms), by its path there."""
    value: Any = _schema()
    for step in path:
        value = value[step]
    return int(value)


def _parse_reports(reports: object) -> bytes:
    if not isinstance(reports, list):
        raise refuse(
            422, "reports", N_("must be a list of whole numbers; it is %(value)s"), value=shown(reports)
        )
    for index, report in enumerate(reports):
        # bool is a subclass of int; true must not pass for 1.
        if type(report) is not int or not 0 <= report <= 255:
            raise refuse(
                422,
                f"reports[{index}]",
                N_("must be a whole number from 0 to 255; it is %(value)s"),
                value=shown(report),
            )
    return bytes(reports)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise refuse(400, shown(twice), N_("must stand only once in its object"))
    return value


def _no_constant(name: str) -> Any:
    raise refuse(400, "body", N_("must be JSON; %(value)s is not"), value=name)


def _check_text(value: Any, field: str = "", depth: int = 0) -> None:
    """Refuse what no database or reader can hold: NUL, lone surrogates, bottomless nesting."""
    if depth > _DEPTH_LIMIT:
        raise refuse(400, "body", N_("must not be nested this deeply"))
    if isinstance(value, str):
        if "\x00" in value:
            raise refuse(422, field or "body", N_("must not contain a NUL character"))
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise refuse(422, field or "body", N_("must not contain half of a surrogate pair"))
    elif isinstance(value, dict):
        for name, item in value.items():
            _check_text(name, shown(name), depth)
            _check_text(item, f"{field}.{name}" if field else name, depth + 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_text(item, f"{field}[{index}]", depth + 1)


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
    """Order problems as they stand in the document: numbers by value, names as text."""
    return tuple((step, "") if isinstance(step, int) else (-1, step) for step in error.absolute_path)


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
