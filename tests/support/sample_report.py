"""A study with everything that a report can hold: questions of every kind, two versions, strata, releases."""

from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from server import releases
from server.people import survey_access
from server.releases.plans.plan_reader import parse_plan
from server.simulation import Assumptions, draw_people
from server.study import surveys
from server.study.definitions.definition_reader import parse_definition
from tests.support import every_kind, factories

STRATA = (
    ("North > Alba", 12_000, 900),
    ("North > Boca", 8_000, 600),
    ("South > Casa", 20_000, 1_200),
    ("South > Duna", 500, 4),
)
"""Path, population and respondents; of one fewer than are shown, so that another one is withheld beside it."""
DAYS = 9
ASKED = (
    "coin",
    "dice",
    "paid",
    "moon",
    "second",
    "party",
    "town",
    "drugs",
    "trust",
    "cups",
    "mugs",
    "bins",
    "after",
)
"""Of `kinds`, one of each kind, and each way to pool and to count."""
ITEMS: tuple[dict[str, Any], ...] = (
    {"kind": "count"},
    {"kind": "count", "stratum": ["North"]},
    {"kind": "share", "question": "coin", "option": "yes"},
    {"kind": "share", "question": "drugs", "option": "pills", "noise": "laplace"},
    {"kind": "histogram", "question": "party"},
    {"kind": "histogram", "question": "bins"},
    {"kind": "mean", "question": "cups"},
    {"kind": "mean", "question": "mugs"},
    {"kind": "table", "questions": ["coin", "party"]},
    {"kind": "table", "questions": ["coin"], "by_stratum": True},
    {"kind": "hierarchy"},
    {"kind": "most_common", "question": "party"},
    {"kind": "top", "question": "party", "how_many": 2},
    {
        "kind": "exceeding",
        "questions": ["coin", "moon", "dice"],
        "share": 0.2,
        "positives": 2,
        "values": True,
    },
)
"""What is released."""


def study(database_url: str) -> str:
    """The survey; its slug."""
    asked = [entry for entry in every_kind.document()["questions"] if entry["name"] in ASKED]
    first = {**every_kind.document(), "introduction": "Two lines,\nof «text».", "questions": asked}
    slug = factories.publish(database_url, first, minimum=10).slug
    text = "\n".join(f"{path}, {population}" for path, population, _ in STRATA)
    links = factories.plant(database_url, slug, text)
    answer(database_url, slug, links, 0)
    changed = [entry | ({"text": "Changed?"} if entry["name"] == "after" else {}) for entry in asked]
    factories.publish(database_url, {**first, "questions": changed}, slug)
    answer(database_url, slug, links, 1)
    factories.close(database_url, slug)
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        survey.simulated = True
        releases.set_budget(session, survey, Decimal(20), Decimal(0), "unbounded", None)
        plan = {"format": 1, "items": list(ITEMS), "division": "equally", "epsilon": 13}
        releases.make(session, survey, parse_plan(plan), None)
    return slug


def answer(database_url: str, slug: str, links: dict[str, str], version: int) -> None:
    """Let made-up people answer the newest version, half of all in each of two."""
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        assert survey.current is not None
        document = surveys.definition_of(survey.current).as_json()
        published = factories.Published(slug, survey.current.sha256, document)
    shares = {
        key: share for key, share in every_kind.assumed_shares().items() if key.partition(".")[0] in ASKED
    }
    means = {name: mean for name, mean in every_kind.assumed_means().items() if name in ASKED}
    assumptions = Assumptions(shares, means)
    generator = np.random.default_rng(version)
    for path, _, people in STRATA:
        rows = draw_people(parse_definition(document), people // 2, assumptions).reports()
        days = generator.integers(0, DAYS, len(rows))
        for day in range(DAYS):
            chosen = Counter(map(tuple, rows[days == day].tolist()))
            if chosen:
                on = date(2026, 5, 1) + timedelta(days=day)
                factories.store(database_url, published, list(chosen.items()), links[path], on)
