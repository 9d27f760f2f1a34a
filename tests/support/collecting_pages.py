"""How collecting goes, in every state, for the walk over all pages."""

from typing import TYPE_CHECKING

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
    closed = factories.publish(database, factories.definition(title=pseudo("Closed"), language="es"))
    factories.close(database, closed.slug)
    owner.get("/manage/surveys")
