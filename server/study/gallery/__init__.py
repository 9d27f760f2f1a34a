"""Ready surveys to begin with, in every language of the site.

Each is a definition file beside this module, named after the template and its language, with
its budget and its plan. Words in [square brackets] are the researcher's to replace.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from server.inputs import N_
from server.output.languages import LANGUAGES
from server.study.definitions import Definition
from server.study.definitions.definition_reader import parse_definition

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Template:
    """A survey to begin with: what it is called and when it serves, for translation, and its texts by language."""

    name: str
    title: str
    use: str
    definitions: Mapping[str, Definition]


_DESCRIBED = (
    (
        "one_question",
        N_("One sensitive question"),
        N_(
            "The smallest survey that works: what counts is said first, then one question with a period of time. "
            "Ask so that Yes is the sensitive answer."
        ),
    ),
    (
        "battery",
        N_("Four items in a row"),
        N_(
            "Four things that people did or did not do. One of them is impossible, so that its estimate shows "
            "whether people followed the instructions; a check that is never sent explains the coins. With 3,300 "
            "people, three in ten who answer at random are noticed in 91 of 100 such surveys."
        ),
    ),
    (
        "scale",
        N_("A scale and a number"),
        N_(
            "An ordered scale with “prefer not to say”, and a number that is asked only of some people. "
            "All of them report it: the others as 0, which is true of them."
        ),
    ),
    (
        "wave",
        N_("Before and after"),
        N_(
            "The first of two rounds with the same questions and designs. Make the second one from it, before "
            "anybody answers. It is planned for the difference between the rounds, ± 10 points, which takes "
            "twice the respondents. “Other surveys”, on the results of either, compares them."
        ),
    ),
    (
        "known_share",
        N_("A share that is known"),
        N_(
            "One of two questions is about something that records tell of the whole group: if its estimate is far "
            "from that, so may be the other. With 1,400 people, where it is true of six in ten and a fifth of these "
            "deny it, that is noticed in 85 of 100 such surveys."
        ),
    ),
    (
        "split_sample",
        N_("One question for two halves"),
        N_(
            "The survey of one half of the people. The other half gets a duplicate in which chance changes fewer "
            "answers; whom which link reaches is drawn. With 950 in each half, and 0.40 as the other strength γ, "
            "a fifth in this half and a tenth in the other are told apart in 83 of 100 such studies. “Other surveys”, "
            "on the results of either, compares them."
        ),
    ),
)


@cache
def templates() -> tuple[Template, ...]:
    """All templates, in the order in which the gallery shows them."""
    return tuple(
        Template(name, title, use, {language: _read(name, language) for language in LANGUAGES})
        for name, title, use in _DESCRIBED
    )


CARD = "red_card"
"""The question of the survey for a class, in every language."""


@cache
def read_class_survey(language: str) -> Definition:
    """The survey that a class plays with cards: nothing is left to fill in, and nothing is asked about anybody."""
    return _read("class", language)


def find(name: str) -> Template | None:
    """The template of this name."""
    return next((template for template in templates() if template.name == name), None)


def _read(name: str, language: str) -> Definition:
    return parse_definition(json.loads((_FOLDER / f"{name}.{language}.json").read_text("utf-8")))
