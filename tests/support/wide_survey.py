"""A survey that has the most of everything: twelve questions, forty strata, each kind of release."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from server import releases
from server.people import survey_access
from server.releases.plans.plan_reader import parse_plan
from server.simulation import Assumptions, draw_people
from server.study.definitions.definition_reader import parse_definition
from tests.support import factories

STRATA, EACH = 40, 50
"""So many strata, and respondents in each."""
PLACES = (
    ("home", "At home", "En casa"),
    ("class", "In class", "En clase"),
    ("library", "In a library", "En una biblioteca"),
    ("way", "On the way", "Por el camino"),
    ("none", "Nowhere", "En ningún sitio"),
)
RELEASED: list[dict[str, Any]] = [
    {"kind": "count"},
    {"kind": "share", "question": "copied", "option": "yes"},
    {"kind": "mean", "question": "hours", "by_stratum": True},
    {"kind": "histogram", "question": "where"},
    {"kind": "table", "questions": ["copied", "reason"]},
    {"kind": "most_common", "question": "reason"},
    {"kind": "top", "question": "where", "how_many": 3},
    {"kind": "exceeding", "questions": ["copied", "copied_1", "copied_2"], "share": 0.2, "values": True},
    {"kind": "hierarchy"},
]


def publish(database_url: str, document: dict[str, Any], say: Callable[[str, str], str]) -> str:
    """Publish, answer and release it; its slug. `document` has the first five questions, `say` words of the owner."""
    five = document["questions"]
    where = {
        "name": "where",
        "kind": "select_one",
        "text": say("Where do you study most of the time?", "¿Dónde estudias la mayor parte del tiempo?"),
        "options": [{"name": name, "text": say(english, spanish)} for name, english, spanish in PLACES],
        "design": {"mechanism": "best_choice"},
    }
    again = [
        {**asked, "name": f"{asked['name']}_{year}", "text": f"{asked['text']} ({say('year', 'año')} {year})"}
        for year in (1, 2)
        for asked in five[:3]
    ]
    document |= {"questions": [*five, where, *again], "budget": 12}
    survey = factories.publish(database_url, document, minimum=10)
    lines = "\n".join(
        f"{say('District', 'Distrito')} {number:02}, {900 + number}" for number in range(STRATA)
    )
    links = factories.plant(database_url, survey.slug, lines).values()
    assumed = Assumptions({"copied.yes": 0.3, "reason.time": 0.5, "where.home": 0.5}, {"hours": 12.0})
    people = draw_people(parse_definition(document), EACH * STRATA, assumed)
    rows = [tuple(row) for row in people.reports().tolist()]
    day = datetime.now(UTC).date()
    for place, link in enumerate(links):
        factories.store(database_url, survey, list(Counter(rows[place::STRATA]).items()), link, day)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        releases.set_budget(session, found, 12, 0, "unbounded", None)
        releases.make(session, found, parse_plan({"format": 1, "items": RELEASED, "epsilon": 9}), None)
    return survey.slug
