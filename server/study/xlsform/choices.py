"""The sheet of choices -> lists of options, with the names that they had."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from server.inputs.problems import N_
from server.inputs.schema import schema_limit
from server.output.languages import RESPONDENT_LANGUAGES
from server.study.answer_texts import word_answer
from server.study.definitions import PREFER_NOT_TO_SAY
from server.study.definitions.look_alikes import strip_unseen
from server.study.editing.entry_shapes import mechanisms
from server.study.kinds import KINDS
from server.study.xlsform.fitting_names import fit_name
from server.study.xlsform.notes import Notes
from server.study.xlsform.sheet_heads import SheetRow, reason

SHEET = "choices"
_USED = frozenset(("list_name", "name", "label"))


def _list_words(answer: str) -> frozenset[str]:
    """What an answer of ours is called in each language of respondents."""
    return frozenset(word_answer(answer, language).casefold() for language in RESPONDENT_LANGUAGES)


_YES = frozenset(("si",)) | _list_words("yes")
_NO = _list_words("no")
_PREFER_NOT = _list_words(PREFER_NOT_TO_SAY) | frozenset(
    (
        "prefer not to answer",
        "i prefer not to say",
        "i prefer not to answer",
        "prefiero no decir",
        "prefiero no contestar",
        "prefiero no responder",
    )
)
_DOES_NOT_APPLY = frozenset(
    (
        "does not apply",
        "does not apply to me",
        "not applicable",
        "n/a",
        "no aplica",
        "no me aplica",
        "no corresponde",
        "no procede",
    )
)


@dataclass(frozen=True)
class Choices:
    """One list as it was taken.

    `names` leads from the file's names to ours. `other` is the answer that stands for "does
    not apply", if there is one.
    `worded` is the kind of question whose answers these are, in our words; "" where there is none.
    """

    options: tuple[dict[str, str], ...]
    names: dict[str, str]
    prefer_not_to_say: bool
    worded: str
    other: str | None
    too_long: str = ""

    def kind_of_one(self) -> dict[str, Any]:
        """The kind, the options and the design of a question with one answer."""
        more: dict[str, Any] = {"prefer_not_to_say": True} if self.prefer_not_to_say else {}
        if self.worded:
            asked = {"kind": self.worded, **more}
            return {**asked, "design": {"mechanism": mechanisms(asked)[0]}}
        listed = {"kind": "select_one", "options": list(self.options)}
        return {**listed, **more, "design": {"mechanism": "best_choice"}}

    def levels(self) -> dict[str, Any]:
        """The kind, the options and the design of an ordered scale."""
        if self.worded and KINDS[self.worded].levels:
            return self.kind_of_one()
        more: dict[str, Any] = {"prefer_not_to_say": True} if self.prefer_not_to_say else {}
        listed = {"kind": "scale", "options": list(self.options)}
        return {**listed, **more, "design": {"mechanism": "k_ary"}}

    def boxes(self) -> dict[str, Any]:
        """The kind, the options and the design of a question with any number of answers."""
        more: dict[str, Any] = {"prefer_not_to_say": True} if self.prefer_not_to_say else {}
        listed = {"kind": "select_multiple", "options": list(self.options)}
        return {**listed, **more, "design": {"mechanism": "coin_flip"}}


def read_choices(lines: Sequence[SheetRow], notes: Notes) -> dict[str, tuple[SheetRow, ...]]:
    """The lines of each list by its name in lower case."""
    lists: dict[str, list[SheetRow]] = {}
    unused: set[str] = set()
    for line in lines:
        unused |= {cell.header for meaning, cell in line.cells.items() if meaning not in _USED}
        if not line.text("list_name"):
            text = line.text("name") or (line.label.text if line.label else "")
            notes.add(SHEET, line.number, "list_name", text, N_("the row names no list"))
            continue
        lists.setdefault(line.text("list_name").casefold(), []).append(line)
    for header in sorted(unused):
        notes.add(SHEET, None, header, header, reason(header))
    return {name: tuple(found) for name, found in lists.items()}


def choices_of(lines: Sequence[SheetRow], notes: Notes) -> Choices:
    """A list as the options of a question."""
    options: list[dict[str, str]] = []
    names: dict[str, str] = {}
    taken, texts = {PREFER_NOT_TO_SAY}, set[str]()
    prefer_not_to_say, other, too_long = False, None, ""
    longest = schema_limit("$defs", "option", "properties", "text", "maxLength")
    for line in lines:
        name = line.text("name")
        text = " ".join(line.label.text.split()) if line.label else name
        header = line.label.header if line.label else "label"
        if not name:
            notes.add(SHEET, line.number, "name", text, N_("the choice has no name"))
        elif name in names:
            notes.add(SHEET, line.number, "name", name, N_("this name stands in its list already"))
        elif normalise_text(text) in _PREFER_NOT and not prefer_not_to_say:
            prefer_not_to_say, names[name] = True, PREFER_NOT_TO_SAY
        elif strip_unseen(text).casefold() in texts:
            notes.add(SHEET, line.number, header, text, N_("another choice of its list reads the same"))
        else:
            if line.label is None:
                notes.add(SHEET, line.number, header, name, N_("the choice has no label; its name is shown"))
            too_long = too_long or (text if len(text) > longest else "")
            names[name] = fit_name(name, taken, "option")
            texts.add(strip_unseen(text).casefold())
            options.append({"name": names[name], "text": text})
            if normalise_text(text) in _DOES_NOT_APPLY:
                other = names[name]
    yes_no = _as_yes_no(options, names)
    if not yes_no:
        _note_changed(lines, names, notes)
    return Choices(tuple(options), names, prefer_not_to_say, "yes_no" if yes_no else "", other, too_long)


def find_other(options: Mapping[str, str]) -> str | None:
    """The name of the answer that stands for "does not apply", by what the answers say."""
    return next((name for name, text in options.items() if normalise_text(text) in _DOES_NOT_APPLY), None)


def normalise_text(text: str) -> str:
    """What a text says, whatever its case and full stop."""
    return text.casefold().strip(" .!¡")


def _as_yes_no(options: Sequence[dict[str, str]], names: dict[str, str]) -> bool:
    """Whether the options are Yes and No and nothing else; their names then become ours."""
    if len(options) != 2:
        return False
    answers = {option["name"]: normalise_text(option["text"]) for option in options}
    if not (set(answers.values()) & _YES and set(answers.values()) & _NO):
        return False
    renamed = {name: "yes" if text in _YES else "no" for name, text in answers.items()}
    for option in options:
        option["name"] = renamed[option["name"]]
    names.update({name: renamed[ours] for name, ours in names.items() if ours in renamed})
    return True


def _note_changed(lines: Sequence[SheetRow], names: dict[str, str], notes: Notes) -> None:
    for line in lines:
        name = line.text("name")
        ours = names.get(name, name)
        if ours not in (name, PREFER_NOT_TO_SAY):
            template = N_("the name became %(name)s: names start with a letter and have no capitals")
            notes.add(SHEET, line.number, "name", name, template, name=ours)
