"""Names of questions and options for exports, and the references that follow them."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from server.study.definitions import PREFER_NOT_TO_SAY

_LONGEST = 40


def free_name(base: str, taken: Collection[str]) -> str:
    """`base`, or the first of base_2, base_3, ... that is not taken."""
    name, number = base[:_LONGEST], 1
    while name in taken:
        number += 1
        ending = f"_{number}"
        name = base[: _LONGEST - len(ending)] + ending
    return name


def next_name(taken: Collection[str]) -> str:
    """The first of q1, q2, ... that is not taken."""
    return next(name for name in (f"q{number}" for number in range(1, len(taken) + 2)) if name not in taken)


def name_of_text(text: str, place: int) -> str:
    """A name made from an option's text: "Sí, a menudo" -> si_a_menudo."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    if not name:
        return f"option_{place + 1}"
    return (name if name[0].isalpha() else f"o_{name}")[:_LONGEST].rstrip("_")


def name_options(entry: Mapping[str, Any], before: Mapping[str, Any], *, follow: bool) -> dict[str, Any]:
    """Give a name to each option that has a text and none; with `follow`, a name that was made follows its text."""
    made: list[dict[str, Any]] = []
    old = before.get("options", [])
    same = len(old) == len(entry["options"])
    taken = {PREFER_NOT_TO_SAY} | {option["name"] for option in entry["options"] if option.get("name")}
    for place, option in enumerate(entry["options"]):
        name, text = option.get("name", ""), option.get("text", "")
        if follow and same and name and name == old[place].get("name") and text != old[place].get("text"):
            was_made = re.fullmatch(
                re.escape(name_of_text(old[place].get("text", ""), place)) + r"(_\d+)?", name
            )
            if was_made:
                taken.discard(name)
                name = ""
        if not name and text.strip():
            name = free_name(name_of_text(text, place), taken)
            taken.add(name)
        made.append({"name": name, "text": text})
    return {**entry, "options": made}


def renamed_options(entry: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, str]:
    """Options' old names and their new ones, where a form or a text changed them."""
    old, new = before.get("options", []), entry.get("options", [])
    if len(old) != len(new):
        return {}
    pairs = ((was.get("name"), now.get("name")) for was, now in zip(old, new, strict=True))
    return {was: now for was, now in pairs if was and now and was != now}


def follow_names(
    entry: dict[str, Any], questions: Mapping[str, str], options: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """An entry whose references follow new names of questions, and of options by the question's new name."""
    condition = entry.get("show_if")
    own = options.get(entry.get("name", ""), {})
    if condition is not None:
        gate = questions.get(condition.get("question", ""), condition.get("question", ""))
        names = options.get(gate, {})
        condition = {**condition, "question": gate}
        if "any_of" in condition:
            condition["any_of"] = [names.get(name, name) for name in condition["any_of"]]
        entry = {**entry, "show_if": condition}
    if own and "otherwise" in entry:
        answer = entry["otherwise"]
        many = isinstance(answer, list)
        renamed = [own.get(name, name) for name in answer] if many else own.get(answer, answer)
        entry = {**entry, "otherwise": renamed}
    if own and "correct" in entry:
        entry = {**entry, "correct": own.get(entry["correct"], entry["correct"])}
    return entry
