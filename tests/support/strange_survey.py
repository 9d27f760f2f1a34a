"""A survey that strains what files of other programs take: Arabic, emoji, long texts, reserved words, two versions."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from server import reports
from server.people import survey_access
from server.reports.report import Report
from server.study.study_sheets import parse_study_sheet
from tests.support import factories
from tests.support.study_form import study_document

LONG = "a_name_of_more_than_thirty_two_letters"
ARABIC = "هل نسخت في الامتحان؟ "
FAMILY = "👩\N{ZERO WIDTH JOINER}👧"


def document(**changes: object) -> dict[str, Any]:
    """In Arabic, partly in Spanish: reserved words, names that shorten to one, 50 options, long texts, emoji."""
    options = [{"name": f"o{number}", "text": f"{FAMILY * 30} {number}"} for number in range(50)]
    boxes = [{"name": name, "text": text} for name, text in (("if", "Ja; nein"), ("i", "\x0b\t=1"))]
    questions: list[dict[str, Any]] = [
        factories.question("if", ARABIC * 20),
        factories.question("all", f"{FAMILY}?"),
        factories.question("str3", "Once?"),
        factories.question(f"{LONG}_1", "First?"),
        factories.question(f"{LONG}_2", "Second?"),
        {
            "name": "fifty",
            "kind": "select_one",
            "text": "Which?",
            "options": options,
            "design": {"mechanism": "k_ary", "epsilon": 2.0},
            "prefer_not_to_say": True,
        },
        {
            "name": LONG,
            "kind": "select_multiple",
            "text": "Which of them?",
            "options": boxes,
            "design": {"mechanism": "coin_flip", "epsilon": 2.0},
            "show_if": {"question": "if", "any_of": ["yes"]},
            "otherwise": [],
        },
        {
            "name": "level",
            "kind": "scale",
            "text": "How much?",
            "options": [{"name": f"l{number}", "text": f"Level {number}"} for number in range(3)],
            "design": {"mechanism": "ordinal", "epsilon": 2.0},
        },
    ]
    spanish = {
        ARABIC * 20: "¿Copiaste? " + "ñ" * 300,
        "Once?": "¿Una vez?",
        "Level 0": "Nada",
        "Exams": "Exámenes",
    }
    fixed = {"language": "ar", "translations": {"es": spanish}, "questions": questions}
    return factories.definition(**{**fixed, **changes})


def next_document() -> dict[str, Any]:
    """The next version: one question is gone, one is new, one has other words."""
    first = document()
    kept = [entry for entry in first["questions"] if entry["name"] != "str3"]
    kept[1] = {**kept[1], "text": "Really?"}
    return {**first, "questions": [*kept, factories.question("new", "New?")]}


@contextmanager
def open_strange(database_url: str) -> Iterator[Report]:
    """The report on both versions, closed, in two strata with populations, with a study sheet; while it can be read."""
    draw = random.Random(1)
    survey = factories.publish(database_url, document())
    links = factories.plant(database_url, survey.slug, f"{FAMILY * 40} > A, 10\n{FAMILY * 40} > B, 20")
    for version in (survey, factories.publish(database_url, next_document(), survey.slug)):
        with factories.writing(database_url) as session:
            found = survey_access.find(session, survey.slug)
            assert found is not None
            most = next(one.reports for one in found.versions if one.sha256 == version.version)
        for path, link in links.items():
            if " > " in path:
                rows = [([draw.randrange(many) for many in most], 1) for _ in range(60)]
                factories.store(database_url, version, rows, link)
    factories.close(database_url, survey.slug)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        yield replace(reports.read(session, found), study=parse_study_sheet(study_document()))
