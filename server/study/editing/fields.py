"""A draft as a page shows it: what each field holds, and what is wrong with it."""

from collections.abc import Mapping, Sequence
from typing import Any

from server.inputs import MARGIN, form_fields, points_text


class Fields:
    """The fields of one page. It remembers which were shown, so that the page can carry the rest along.

    `problems` are (path, name, message). Those of a field that is still empty wait until
    `everything` is asked for: nobody wants to be told of a title while they begin to write it.
    """

    def __init__(
        self, document: Mapping[str, Any], problems: Sequence[tuple[str, str, str]], *, everything: bool
    ) -> None:
        self._values = form_fields(document)
        self._met: set[str] = set()
        self.problems = [problem for problem in problems if everything or self._is_typed(problem[0])]

    def text(self, path: str) -> str:
        """What a field holds."""
        self._met.add(path)
        value = self._values.get(path, "")
        text = value if isinstance(value, str) else ", ".join(value)
        return points_text(text) if path == MARGIN else text

    def names(self, path: str) -> list[str]:
        """What a list of names holds."""
        self._met.add(path)
        value = self._values.get(path, [])
        return [value] if isinstance(value, str) else value

    def wrong(self, path: str) -> list[str]:
        """What is wrong with a field, or with one of the entries of its list."""
        return [message for field, _, message in self.problems if field == path or _in_list(field, path)]

    def others(self, path: str) -> list[tuple[str, str]]:
        """Names and messages of what is wrong within `path`, but with no field that was shown."""
        return [
            (name, message)
            for field, name, message in self.problems
            if self.anchor(field) == path and field not in self._met
        ]

    def any_wrong(self, path: str) -> bool:
        """Whether something within `path` is wrong."""
        return any(_within(field, path) for field, _, _ in self.problems)

    def rest(self, path: str = "") -> list[tuple[str, str]]:
        """Fields within `path` that were not shown: what a kind before had, what no kind knows."""
        return [
            (field, text)
            for field, value in self._values.items()
            if field not in self._met and (not path or _within(field, path))
            for text in ([value] if isinstance(value, str) else ["", *value])
        ]

    def anchor(self, path: str) -> str:
        """The field to look at for a problem with `path`: itself, or the nearest around it that was shown."""
        while path and path not in self._met:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return path

    def place(self, path: str) -> str:
        """Say that something stands here that a problem may be about, though it is no field."""
        self._met.add(path)
        return path

    def _is_typed(self, path: str) -> bool:
        return any(
            value and (field == path or _in_list(path, field) or (_within(field, path) and "." in path))
            for field, value in self._values.items()
        )


def _in_list(field: str, path: str) -> bool:
    return field.startswith(f"{path}[") and "." not in field[len(path) :]


def _within(field: str, path: str) -> bool:
    return field == path or field.startswith((f"{path}.", f"{path}["))
