"""How collecting goes, in every state, for the walk over all pages."""

from datetime import date
from typing import TYPE_CHECKING, Any

from tests.support import factories
from tests.support.catalogue_words import pseudo

if TYPE_CHECKING:
    from tests.support.every_page import Reader

PLAN = {"plan": {"respondents": 40, "margin": 0.1}}


def walk_collecting(owner: "Reader", database: str) -> None:
    """Surveys with and without a plan, a cap and populations; with one response, with few and with enough."""
    north, south = pseudo("North"), pseudo("South")
    populations = f"{north}, 300\n{south}, 100"
    lines = (
        (populations, {}, PLAN),  # nothing is shown yet
        (f"{north}\n{south}", {north: 1}, PLAN),
        (populations, {north: 1}, {}),
        (populations, {north: 20, south: 1}, PLAN),
        (populations, {north: 30, south: 10}, PLAN),
        ("\n".join(f"{north} > {pseudo(str(place))}" for place in range(20)), {"": 2}, PLAN),
    )
    for tree, sizes, plan in lines:
        document = factories.definition(title=pseudo("Collected"), language="es", **plan)
        for question in document["questions"]:
            question["text"] = pseudo(question["text"])
        # With a smallest group above 1, as in the fourth, some wait.
        survey = factories.publish(database, document, minimum=3 if sizes.get(north) == 20 else 1)
        links = factories.plant(database, survey.slug, tree)
        for name, number in sizes.items():
            factories.store(database, survey, [([1, 0], number)], links.get(name, ""))
        owner.get(f"/manage/surveys/{survey.slug}/results")
        if sizes.get(north) == 20:
            factories.settle(database, survey.slug, cap=50)
            owner.get(f"/manage/surveys/{survey.slug}/results")
            factories.close(database, survey.slug)  # the list has strata that are withheld
        if sizes == {north: 30, south: 10}:  # behind their targets, each
            factories.plant(database, survey.slug, f"{north}, 3000\n{south}, 1000")
            factories.settle(database, survey.slug, cap=900)
            owner.get(f"/manage/surveys/{survey.slug}/results")
    walk_figures(owner, database)
    closed = factories.publish(database, factories.definition(title=pseudo("Closed"), language="es"))
    factories.close(database, closed.slug)
    owner.get("/manage/surveys")


def walk_figures(owner: "Reader", database: str) -> None:
    """What can be taken along of results: versions, days, targets and explanations; and where there is none of them."""

    def ask(gamma: float, names: str = "ab") -> dict[str, Any]:
        asked = [factories.question(name, pseudo(f"{name}?"), gamma) for name in names]
        return factories.definition(title=pseudo("Taken"), language="es", questions=asked, **PLAN)

    survey = factories.publish(database, ask(0.25))
    home, kinds = f"/manage/surveys/{survey.slug}", ("days", "targets", "versions", "explained")
    asked = "?question=a&explain=a&by=stratum"
    for kind in kinds:
        owner.get(f"{home}/{kind}.svg{asked}")  # of nothing yet
    places = pseudo("North"), pseudo("South")
    links = factories.plant(database, survey.slug, "\n".join(f"{place}, 300" for place in places)).values()
    later = factories.publish(database, ask(0.2), survey.slug)
    for day, version in enumerate((survey, later), start=1):
        for link in links:
            factories.store(database, version, [([1, 1], 200), ([0, 0], 150)], link, date(2026, 5, day))
    owner.get(f"{home}/results")
    for kind in kinds:
        for ending in ("svg", "png", "csv"):
            owner.get(f"{home}/{kind}.{ending}{asked}")
    factories.store(database, later, [([1, 1], 200), ([0, 0], 150)], "", date(2026, 8, 1))
    owner.get(f"{home}/results?open=days")  # by weeks
    long = factories.publish(database, ask(0.25, "abcdefghi"))
    for version in (long, factories.publish(database, ask(0.2, "abcdefghi"), long.slug)):
        factories.store(database, version, [([1] * 9, 200), ([0] * 9, 150)])
    owner.get(f"/manage/surveys/{long.slug}/results?open=versions-a")
    walk_leaders(owner, database)


def walk_leaders(owner: "Reader", database: str) -> None:
    """An answer that is the most common, of how many is not told: beside another that fits nothing possible."""
    options = [{"name": name, "text": pseudo(name)} for name in ("c", "d")]
    ticked = {"name": "ticked", "kind": "select_multiple", "text": pseudo("ticked"), "options": options}
    ticked["design"] = {"mechanism": "coin_flip", "epsilon": 2.2}
    document = factories.definition(title=pseudo("Leading"), language="es", questions=[ticked])
    for ticks, nothing in ((250, 750), (10, 10)):
        survey = factories.publish(database, document)
        factories.store(database, survey, [([1, 0], ticks), ([0, 0], nothing)])
        owner.get(f"/manage/surveys/{survey.slug}/results")
