"""Every sentence of a question in several surveys, one after the other."""

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from server.study.retention import Deleted
from tests.support import factories
from tests.support.catalogue_words import pseudo
from tests.support.factories import Published

if TYPE_CHECKING:
    from tests.support.every_page import Reader

YES = (300, 500, 700, 700, 700, 500, 300, 500, 522, 544, 522, 500)
"""Of 1,000 reports of each survey how many are Yes: it rises, stays, falls, and just does either."""
SERIES = ((0, 1, 2), (2, 3, 4), (4, 5, 6), (7, 8, 9), (9, 10, 11))
FARTHER = {0: 20, 2: 980}
"""The same of weaker coins in the first and the third, else 500: no step that can be leads through that."""
_NUMBER = {"kind": "number", "low": 0, "high": 10, "step": 1}
_NO_COIN = {"prefer_not_to_say": True, "design": {"mechanism": "k_ary", "epsilon": 1}}


def walk_waves(owner: "Reader", database: str) -> None:
    """Trends of every direction, of a share, a mean and several answers; and what is no wave of another."""
    waves = [_publish(database) for _ in YES]
    for place, (survey, yes) in enumerate(zip(waves, YES, strict=True)):
        _store(database, survey, yes, FARTHER.get(place, 500))
    for series in SERIES:
        for question in ("q", "cups"):
            _compare(owner, question, [waves[place] for place in series])
    _compare(owner, "way", [waves[place] for place in SERIES[1]])
    for question in ("odd", "odd_cups"):
        _compare(owner, question, waves[:3])

    words = _publish(database, {"text": pseudo("asked otherwise")})
    coins = _publish(database, {"design": {"mechanism": "coin_flip", "gamma": 0.4}})
    made_up, other, nobody = _publish(database), _publish(database, _NO_COIN), _publish(database)
    factories.settle(database, made_up.slug, simulated=True)
    for survey in (words, coins, made_up, other):
        _store(database, survey, 400)
    _compare(owner, "q", [waves[0], words, coins, made_up, other, nobody])
    # Beside a coin for each answer: where strata count by their populations, no answer is told by itself.
    apart, weighted = _publish(database, way={"mechanism": "unary", "epsilon": 2}), _publish(database)
    (link,) = factories.plant(database, weighted.slug, f"{pseudo('North')}, 5000").values()
    _store(database, apart, 400)
    _store(database, weighted, 400, link=link)
    _compare(owner, "way", [apart, weighted, waves[0]])
    solo = factories.definition(title=pseudo("Alone"), questions=[factories.question("solo", pseudo("solo"))])
    alone = factories.publish(database, solo, minimum=10)
    factories.store(database, alone, [([0], 40)])
    owner.get(f"/manage/surveys/{alone.slug}/results?open=surveys")
    factories.settle(database, nobody.slug, deleted=Deleted.COUNTS)
    _compare(owner, "q", [waves[0], nobody])


def _publish(
    database: str, first: dict[str, Any] | None = None, way: dict[str, Any] | None = None
) -> Published:
    options = [{"name": f"o{place}", "text": pseudo(f"option {place}")} for place in range(3)]
    rounding = {"mechanism": "stochastic_rounding"}
    questions = [
        {**factories.question("q", pseudo("asked"), 0.25), **(first or {})},
        {"name": "cups", "text": pseudo("cups"), **_NUMBER, "design": {**rounding, "epsilon": 1.0986}},
        {
            "name": "way",
            "kind": "select_one",
            "text": pseudo("way"),
            "options": options,
            "design": way or {"mechanism": "k_ary", "epsilon": 1},
        },
        factories.question("odd", pseudo("odd"), 0.1),
        {"name": "odd_cups", "text": pseudo("odd cups"), **_NUMBER, "design": {**rounding, "epsilon": 0.4}},
    ]
    document = {**factories.definition(title=pseudo("Wave")), "questions": questions, "language": "es"}
    return factories.publish(database, document, minimum=10)


def _store(database: str, survey: Published, yes: int, farther: int = 500, link: str = "") -> None:
    apart = survey.definition["questions"][2]["design"]["mechanism"] == "unary"
    rows = []
    for place in range(1000):
        one, other = int(place < yes), int(place < farther)
        rows.append(([one, one, *([one, 0, 0] if apart else [one]), other, other], 1))
    factories.store(database, survey, rows, link)
    factories.close(database, survey.slug)


def _compare(owner: "Reader", question: str, surveys: list[Published]) -> None:
    first, *others = (survey.slug for survey in surveys)
    asked = urlencode([("open", "surveys"), ("question", question), *(("survey", slug) for slug in others)])
    owner.get(f"/manage/surveys/{first}/results?{asked}")
