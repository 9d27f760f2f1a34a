"""The check that a new one begins as: whether it is understood that a record may differ from the answer."""

from typing import Any

from server.inputs.problems import N_
from server.output.languages import load_catalogue

_TEXT = N_("Suppose you entered No. Could the record say Yes?")
_OPTIONS = {"possible": N_("Yes, chance may do that"), "impossible": N_("No, it says what I entered")}
_FEEDBACK = N_(
    "It could: chance may put a Yes in the place of a No, and a No in the place of a Yes. "
    "So a record is no proof of what you entered."
)


def write_check(language: str) -> dict[str, Any]:
    """Its question, answers and feedback, in the survey's language."""
    say = load_catalogue(language).gettext
    return {
        "text": say(_TEXT),
        "options": [{"name": name, "text": say(text)} for name, text in _OPTIONS.items()],
        "correct": "possible",
        "feedback": say(_FEEDBACK),
    }
