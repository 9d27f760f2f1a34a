"""What is released exactly as it arrived, in no order, on trial: one report hides among the others."""

import math
from functools import partial
from typing import Any

import numpy as np

from server.privacy.auditing.cases import Case, Finding, approximate
from server.privacy.auditing.dealing import freeze_output
from server.privacy.auditing.report_coins import coins_of
from server.privacy.designs import TOTAL
from server.releases.claims.invented_people import InventedSurvey, Person, coin, name_case, question
from server.releases.kinds import Shuffling, draw_item, shuffling_of
from server.releases.plans.plan_reader import Item, ItemKind

_CROWD = 100


def cases() -> list[Case]:
    """Neighbours differ in what one person entered."""
    return [_audit_tallies()]


def _audit_tallies() -> Case:
    """All reports exactly as they arrived, one person's among those of others who entered No."""
    price = _price()
    return Case(
        f"release of a survey, bounded: shuffled, {_CROWD} responses",
        float(price.epsilon),
        partial(_shuffled_loss, float(price.delta)),
        lambda: _exactly(1),
        name_case("shuffled", "geometric", "bounded"),
    )


def _crowd(yes: int) -> tuple[InventedSurvey, list[Person]]:
    survey = InventedSurvey(
        (question("smokes", ("no", "yes"), [coin()]),), "bounded", local_epsilon=coin().epsilon
    )
    return survey, [(0, {"smokes": [int(place < yes)]}) for place in range(_CROWD)]


def _price() -> Shuffling:
    survey, people = _crowd(0)
    found = shuffling_of(survey.source(people).shape)
    assert isinstance(found, Shuffling)
    return found


def _exactly(yes: int) -> Any:
    survey, people = _crowd(yes)
    source = survey.source(people)
    price = _price()
    item = Item(ItemKind.SHUFFLED, epsilon=price.epsilon, delta=price.delta)
    found = draw_item(item, source, "items[0]", 0.95)
    return freeze_output((found.figures, dict(found.notes)))


def _shuffled_loss(delta: float) -> Finding:
    """What is told of each number of reports, with its chance: that of the others' coins and of one person's."""
    no, yes = (coins_of(coin())[:, 1] / TOTAL).tolist()
    others = np.array(
        [math.comb(_CROWD - 1, k) * no**k * (1 - no) ** (_CROWD - 1 - k) for k in range(_CROWD)]
    )
    chances = [np.convolve(others, [1 - own, own]) for own in (no, yes)]
    told: dict[Any, list[float]] = {}
    for number, both in enumerate(zip(*chances, strict=True)):
        known = told.setdefault(_exactly(number), [0.0, 0.0])
        known[0], known[1] = known[0] + both[0], known[1] + both[1]
    first, second = np.array(list(told.values())).T
    return approximate(np.minimum(first, 1.0), np.minimum(second, 1.0), delta)
