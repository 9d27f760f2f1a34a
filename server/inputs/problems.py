"""What is wrong with an input, in words that are translated where they are shown."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


def N_(message: str) -> str:  # noqa: N802 - gettext's own name for "mark, do not translate yet"
    """Mark a message for the catalogues; it is translated where it is shown."""
    return message


def E_(message: str) -> str:  # noqa: N802 - as above
    """Mark what only researchers read, in a file of which respondents read other texts."""
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


def shorten_value(value: object) -> str:
    """A refused value, short enough and plain enough to be repeated to its sender."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = "".join(c if unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return f"{text[:60]}…" if len(text) > 60 else text
