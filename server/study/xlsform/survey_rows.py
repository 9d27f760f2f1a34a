"""The rows of the survey sheet -> the entries of a definition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from server.inputs.problems import N_
from server.inputs.schema import schema_limit
from server.study.xlsform import types
from server.study.xlsform.choices import Choices, choices_of
from server.study.xlsform.fitting_names import fit_name
from server.study.xlsform.notes import Notes
from server.study.xlsform.number_ranges import Range, of_constraint, of_parameters
from server.study.xlsform.own_rows import (
    LISTED,
    MARK,
    SECTION,
    read_listed,
    read_unit,
    take_body,
    take_opening,
)
from server.study.xlsform.routing import RoutedQuestion, otherwise, route
from server.study.xlsform.sheet_heads import SheetRow, find_meaning, note_unused

SHEET = "survey"
KNOWN = frozenset(("type", "name", "relevant", "constraint", "parameters", "appearance", "disabled", MARK))
_ALWAYS = frozenset(("type", "name", "relevant", "disabled", MARK))
_SWITCHED_OFF = frozenset(("yes", "true", "true()"))

_NO_LABEL = N_("there is no wording in the chosen language")
_NO_LIST = N_("the list %(list)s has no choices on the sheet “choices”")
_OPTIONS = N_("a list must have %(low)d to %(high)d choices here; it has %(length)d")
_TOO_LONG = N_("must have at most %(limit)s characters; it has %(length)d")
_LONG_CHOICE = N_("a choice must have at most %(limit)s characters; one of its list has %(length)d")
_NEEDS_OTHERWISE = N_(
    "everyone is asked: hiding it needs an answer that says “does not apply”, for those who are not asked"
)
_GROUP_ROUTE = N_("the condition of a group is not taken; give it to each of its questions")
_EMPTY_GROUP = N_("the group has no label; its questions were taken without a heading")
_RENAMED = N_("the name became %(name)s: names are unique, start with a letter and have no capitals")
_PIPED = N_("it refers to an answer, which is not filled in: the text was taken as it is written")
_TOO_MANY = N_("a survey has at most %(limit)d entries")
_NOT_OPEN = N_("no group is open here")
_NEVER_ENDS = N_(
    "the group never ends; it was read as if it ended with the last row, or with the group around it"
)
_DISABLED = N_("the row is switched off")


@dataclass
class Reader:
    """Reads the survey sheet line by line; `entries` grows by what is taken, `opening` by what stands before them."""

    lists: Mapping[str, tuple[SheetRow, ...]]
    notes: Notes
    entries: list[dict[str, Any]] = field(default_factory=list)
    opening: dict[str, Any] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _sources: dict[str, RoutedQuestion | None] = field(default_factory=dict)
    _lists_taken: dict[str, Choices] = field(default_factory=dict)
    _open: list[tuple[str, SheetRow]] = field(default_factory=list)

    @property
    def lists_asked(self) -> frozenset[str]:
        """The lists that some question uses."""
        return frozenset(self._lists_taken)

    def read(self, lines: Sequence[SheetRow]) -> None:
        """Take what can be taken of each line, and note the rest."""
        for line in lines:
            kind = types.type_of(line.text("type"))
            if line.text("disabled").casefold() in _SWITCHED_OFF:
                self._note(line, "disabled", _DISABLED, value=line.text("name") or line.text("type"))
            elif take_opening(line, self.opening) or take_body(line, self.entries):
                continue
            elif kind.kind.startswith(("begin_", "end_")):
                self._group(line, kind.kind)
            elif not line.text("type"):
                text = line.text("name") or (line.label.text if line.label else "")
                self._note(line, "type", N_("the row has no type"), value=text)
            elif self._repeats:
                self._note(line, "type", types.REPEAT)
            elif not kind.kind:
                self._note(line, "type", kind.reason, kind.values)
            elif line.label is None:
                self._note(line, "type", _NO_LABEL)
            else:
                self._entry(line, kind)
        self._end(0)

    @property
    def _repeats(self) -> bool:
        return any(what == "repeat" for what, _line in self._open)

    def _end(self, first: int) -> None:
        """End the groups from this one on, though their rows do not say so."""
        for _what, line in self._open[first:]:
            self._note(line, "type", _NEVER_ENDS)
        del self._open[first:]

    def _entry(self, line: SheetRow, kind: types.Type) -> None:
        if kind.kind == "note" and line.text(MARK) == SECTION:
            self._heading(line)
            return
        if kind.kind == "note":
            self._read_shown(line, "text", schema_limit("$defs", "text", "properties", "text", "maxLength"))
            return
        if kind.kind in ("select_one", "select_multiple"):
            self._selection(line, kind)
            return
        if kind.kind == "range":
            found, used = of_parameters(line.text("parameters")), "parameters"
        else:
            found, used = of_constraint(line.text("constraint"), whole=kind.kind == "integer"), "constraint"
        if found.problem:
            self._note(line, found.column, found.problem, found.values)
            return
        asked, taken = _number(found), _ALWAYS | {used}
        if unit := read_unit(line):
            asked["unit"] = unit
            taken |= {place for place, cell in line.cells.items() if find_meaning(cell.header) == "hint"}
        self._question(line, asked, {}, None, taken)

    def _selection(self, line: SheetRow, kind: types.Type) -> None:
        several = kind.kind == "select_multiple"
        if kind.list_name not in self.lists:
            self._note(line, "type", _NO_LIST, {"list": kind.list_name or "?"})
            return
        if kind.list_name not in self._lists_taken:
            self._lists_taken[kind.list_name] = self._read_list(line, self.lists[kind.list_name])
        choices = self._lists_taken[kind.list_name]
        rules = "boxes" if several else "options"
        low, high = (schema_limit("$defs", rules, limit) for limit in ("minItems", "maxItems"))
        if not low <= len(choices.options) <= high:
            self._note(line, "type", _OPTIONS, {"low": low, "high": high, "length": len(choices.options)})
            return
        if choices.too_long:
            longest = schema_limit("$defs", "option", "properties", "text", "maxLength")
            self._note(line, "type", _LONG_CHOICE, {"limit": longest, "length": len(choices.too_long)})
            return
        if kind.rest:
            self._note(line, "type", types.OTHER, value=kind.rest)
        used = _ALWAYS
        if several:
            asked = choices.boxes()
        elif "likert" in line.text("appearance").casefold().split():
            asked, used = choices.levels(), _ALWAYS | {"appearance"}
        else:
            asked = choices.kind_of_one()
        self._question(line, asked, choices.names, choices.other, used)

    def _read_list(self, line: SheetRow, listed: Sequence[SheetRow]) -> Choices:
        mark = line.text(MARK)
        found = read_listed(listed, mark) if mark in LISTED else None
        return choices_of(listed, self.notes) if found is None else found

    def _question(
        self,
        line: SheetRow,
        question: Mapping[str, Any],
        names: Mapping[str, str],
        other: str | None,
        used: frozenset[str],
    ) -> None:
        entry = self._read_shown(line, "", schema_limit("$defs", "yes_no", "properties", "text", "maxLength"))
        if entry is None:
            return
        entry.update(question)
        if "show_if" in entry:
            answer = otherwise(entry, other)
            if answer is None:
                del entry["show_if"]
                self._note(line, "relevant", _NEEDS_OTHERWISE)
            else:
                entry["otherwise"] = answer
        if line.text(MARK):  # whatever asks here is answered: nothing is lost
            used |= {place for place, cell in line.cells.items() if find_meaning(cell.header) == "required"}
        note_unused(SHEET, line, used, self.notes)
        original = line.text("name")
        if original:
            # Of two questions with one name, nobody can say which is meant.
            self._sources[original] = None if original in self._sources else RoutedQuestion(entry, names)

    def _read_shown(self, line: SheetRow, kind: str, longest: int) -> dict[str, Any] | None:
        """An entry with a name, a text and a condition; None if there is no room for it."""
        assert line.label is not None  # lines without one are noted before
        text = line.label.text
        if len(text) > longest:
            self._note(line, "label", _TOO_LONG, {"limit": longest, "length": len(text)}, text)
            return None
        limit = schema_limit("properties", "questions", "maxItems")
        if len(self.entries) >= limit:
            self._note(line, "type", _TOO_MANY, {"limit": limit})
            return None
        if "${" in text:
            self._note(line, "label", _PIPED, value=text)
        original = line.text("name")
        name = fit_name(original, self._names, kind or "question")
        if original and name != original:
            self._note(line, "name", _RENAMED, {"name": name})
        entry: dict[str, Any] = {"name": name, "kind": kind, "text": text}
        if line.text("relevant"):
            found = route(line.text("relevant"), self._sources)
            if found.show_if is None:
                self._note(line, "relevant", found.problem)
            else:
                entry["show_if"] = found.show_if
        if kind:
            note_unused(SHEET, line, _ALWAYS, self.notes)
        self.entries.append(entry)
        return entry

    def _group(self, line: SheetRow, kind: str) -> None:
        edge, what = kind.split("_")
        if edge == "end":
            kinds = [kind for kind, _line in self._open]
            if what in kinds:
                place = len(kinds) - 1 - kinds[::-1].index(what)
                self._end(place + 1)
                self._open.pop()
            else:
                self._note(line, "type", _NOT_OPEN)
            return
        self._open.append((what, line))
        if self._repeats:
            self._note(line, "type", types.REPEAT)
            return
        if line.label is None:
            self._note(line, "type", _EMPTY_GROUP)
            note_unused(SHEET, line, _ALWAYS, self.notes)
        else:
            self._heading(line)
        if line.text("relevant"):
            self._note(line, "relevant", _GROUP_ROUTE)

    def _heading(self, line: SheetRow) -> None:
        assert line.label is not None  # the caller has looked
        own = line.text(MARK) == SECTION and "\n" not in line.label.text
        section = line.label.text if own else " ".join(line.label.text.split())
        longest = schema_limit("$defs", "section", "properties", "text", "maxLength")
        group = types.type_of(line.text("type")).kind == "begin_group"
        kept = {name: cell for name, cell in line.cells.items() if not group or name != "relevant"}
        plain = SheetRow(line.number, kept, line.label)
        if len(section) > longest:  # a long one is a text rather than a heading
            self._read_shown(plain, "text", schema_limit("$defs", "text", "properties", "text", "maxLength"))
            return
        entry = self._read_shown(
            plain, "section", schema_limit("$defs", "text", "properties", "text", "maxLength")
        )
        if entry is not None:
            entry["text"] = section

    def _note(
        self,
        line: SheetRow,
        column: str,
        template: str,
        values: Mapping[str, object] | None = None,
        value: str | None = None,
    ) -> None:
        header = line.label.header if column == "label" and line.label else line.header(column)
        self.notes.add(
            SHEET,
            line.number,
            header,
            line.text(column) if value is None else value,
            template,
            **(values or {}),
        )


def _number(bounds: Range) -> dict[str, Any]:
    return {"kind": "number", **bounds.grid, "design": {"mechanism": "stochastic_rounding"}}
