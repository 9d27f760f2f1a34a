"""Every sentence of results by stratum, and of two strata compared."""

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from tests.support import factories
from tests.support.catalogue_words import pseudo

if TYPE_CHECKING:
    from tests.support.every_page import Reader

REPORTED = {"first": 500, "wave": 502, "more": 546, "most": 740, "all": 990, "none": 10, "low": 250}
REPORTED |= {"few": 4, "beside": 20}
"""Of 1,000 reports how many are Yes: two that are alike, just apart, clearly apart, and further than is possible."""


def walk_compared(owner: "Reader", database: str) -> None:
    """Strata that differ by every amount, of a share, a mean and several answers."""
    number = {"kind": "number", "low": 0, "high": 10, "step": 1}
    rounding = {"mechanism": "stochastic_rounding", "epsilon": 1.0986}
    options = [{"name": f"o{place}", "text": pseudo(f"option {place}")} for place in range(3)]
    questions = [
        factories.question("q", pseudo("asked"), 0.25),
        {"name": "cups", "text": pseudo("cups"), **number, "design": rounding},
        {
            "name": "way",
            "kind": "select_one",
            "text": pseudo("way"),
            "options": options,
            "design": {"mechanism": "k_ary", "epsilon": 1},
        },
        {"name": "glass", "text": pseudo("glass"), **number, "prefer_not_to_say": True, "design": rounding},
    ]
    document = {**factories.definition(title=pseudo("Compared"), questions=questions), "language": "es"}
    survey = factories.publish(database, document, minimum=10)
    paths = {name: pseudo(name) for name in (*REPORTED, "nobody")}
    paths["inside"] = f"{paths['low']} > {pseudo('inside')}"
    lines = [path for name, path in paths.items() if name != "low"]
    links = factories.plant(database, survey.slug, "\n".join(lines))
    for name, yes in REPORTED.items():
        # Nobody gave a number to the last question in the stratum where most is reported.
        rows = [
            ([1, 1, 0, 2 if name == "all" else 1], yes),
            ([0, 0, 1, 2 if name == "all" else 0], 1000 - yes),
        ]
        if name in ("few", "beside"):  # the second is the smallest that could tell what the first holds
            rows = [([1, 1, 0, 0], yes)]
        factories.store(database, survey, rows, links[paths["inside" if name == "low" else name]])
    factories.store(database, survey, [([1, 1, 0, 1], 500), ([0, 0, 1, 0], 500)])
    factories.close(database, survey.slug)
    home = f"/manage/surveys/{survey.slug}"
    pairs = (
        *(("first", "more"), ("first", "most"), ("most", "first"), ("all", "none"), ("first", "first")),
        *(("first", "wave"), ("low", "inside"), ("few", "first"), ("nobody", "first")),
    )
    for question in ("q", "cups", "way", "glass"):
        for pair in pairs:
            both = dict(zip(("first_stratum", "second_stratum"), (paths[name] for name in pair), strict=True))
            owner.get(f"{home}/results?{urlencode({'question': question, **both})}")
    without = {"first_stratum": "<without stratum>", "second_stratum": paths["first"]}
    for figure in (
        "results",
        "comparison.svg",
        "comparison.png",
        "comparison.csv",
        "strata.svg",
        "strata.png",
    ):
        owner.get(f"{home}/{figure}?{urlencode(without)}")
    owner.get(f"{home}/comparison.csv")  # of nothing
