"""What would make a draft better: each a step that one button takes, with what would follow from it."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from server.inputs.schema import is_possible
from server.privacy.designs import gamma_of
from server.privacy.planning import Headline, most_loss
from server.study.definitions import Strength
from server.study.editing.budget_shares import sketch_questions, with_strength
from server.study.editing.entry_shapes import strength_name
from server.study.editing.settling import divided_equally
from server.study.kinds import KINDS
from server.study.planning import Outlook, foresee, planned_margin, planned_respondents

Document = dict[str, Any]

_SHAPE = ("kind", "design", "low", "high", "step", "cuts", "prefer_not_to_say")
"""What of an entry, beside the number of its answers, decides how many people it needs."""


@dataclass(frozen=True)
class Advice:
    """A step: the name of its button, the draft after it, and what that takes and reveals.

    Attributes
    ----------
    gamma
        What every question would have whose strength can be set; None where the step leaves strengths alone.
    number
        The question that it is about, from 1; None where it is about all.
    """

    action: str
    document: Document
    after: Outlook
    gamma: float | None = None
    number: int | None = None


def foresee_draft(document: Mapping[str, Any]) -> Outlook | None:
    """What a draft takes and reveals, as far as its questions are known by now; None without any."""
    questions = {place + 1: question for place, question in sketch_questions(document).items()}
    try:
        outlook = foresee(questions, planned_respondents(document), planned_margin(document))
        # Guesses are counted here, where it may fail, and kept.
        return outlook if outlook is not None and outlook.guesses.right else None
    except (
        ArithmeticError,
        ValueError,
    ):  # of a design that nothing can be estimated from, or of no loss there is
        return None


def advise(document: Mapping[str, Any], now: Outlook | None) -> tuple[Advice, ...]:
    """The steps worth taking in a draft that takes and reveals what `now` says; what cannot be done is left out."""
    if now is None:
        return ()
    return (
        *_mend_plan(document, now),
        *_fit_plan(document, now),
        *_promise(document, now),
        *_serve(document),
    )


def take_advice(document: Mapping[str, Any], action: str) -> Document | None:
    """The draft after the step whose button has this name; None if there is no such step any more."""
    steps = advise(document, foresee_draft(document))
    return next((step.document for step in steps if step.action == action), None)


def _mend_plan(document: Mapping[str, Any], now: Outlook) -> Iterator[Advice]:
    """Plan for as many as it takes, or want what the planned ones give."""
    if now.enough:
        return
    yield from _step("plan_enough", _with_plan(document, now.needed, now.margin))
    if now.respondents is not None and now.reached is not None:
        reached = math.ceil(now.reached * 1e3) / 1e3  # thousandths, as margins are shown and stored
        yield from _step("accept_margin", _with_plan(document, now.respondents, reached))


def _with_plan(document: Mapping[str, Any], respondents: int, margin: float) -> Document | None:
    plan = {"respondents": respondents, "margin": margin}
    possible = all(is_possible(plan[name], "properties", "plan", "properties", name) for name in plan)
    return {**document, "plan": plan} if possible else None


def _fit_plan(document: Mapping[str, Any], now: Outlook) -> Iterator[Advice]:
    """The best protection, in hundredths of gamma, with which the planned respondents are enough."""
    if now.respondents is None or not _can_be_set(document):
        return
    different = _leave_alike_out(document)
    least, most = 1, 49
    if not _is_enough(different, most):
        return
    while least < most:
        middle = (least + most) // 2
        if _is_enough(different, middle):
            most = middle
        else:
            least = middle + 1
    for step in _equally("fit_plan", document, most / 100):
        weaker, better = step.after.epsilon > now.epsilon, step.after.epsilon < now.epsilon
        if (weaker and not now.enough) or (better and now.enough):
            yield step


def _leave_alike_out(document: Mapping[str, Any]) -> Document:
    """The same with one question of each shape: those that chance treats alike need as many people."""
    shapes = {
        json.dumps([{name: entry.get(name) for name in _SHAPE}, len(entry.get("options", ()))]): entry
        for entry in document["questions"]
    }
    return {**document, "questions": list(shapes.values())}


def _is_enough(document: Mapping[str, Any], hundredths: int) -> bool:
    after = foresee_draft(_of_one_strength(document, hundredths / 100))
    return after is not None and bool(after.enough)


def _promise(document: Mapping[str, Any], now: Outlook) -> Iterator[Advice]:
    """The strength of every question with which respondents read more."""
    free = [place for place, entry in enumerate(document["questions"]) if strength_name(entry)]
    fixed = math.fsum(plan.epsilon for plan in now.questions if plan.number - 1 not in free)
    above = list(Headline)[: list(Headline).index(now.guesses.headline)]
    for headline in above:
        room = math.floor(most_loss(headline) * 1e3) / 1e3 - fixed
        if not free or room <= 0:
            continue
        for step in _equally(f"promise_{headline}", document, _floor_gamma(room / len(free))):
            if step.after.guesses.headline == headline:
                yield step


def _floor_gamma(loss: float) -> float:
    try:
        return math.floor(gamma_of(loss) * 1e3) / 1e3
    except ValueError:  # less than any coin of 32 bits loses
        return 0.0


def _serve(document: Mapping[str, Any]) -> Iterator[Advice]:
    """Scales of which only the average is reliable: the design that serves the share of each answer, too."""
    for place, entry in enumerate(document["questions"]):
        kind = KINDS.get(entry["kind"])
        design = entry.get("design", {})
        serving = kind.design_of_use if kind else {}
        if "for_shares" in serving and design.get("mechanism") == serving.get("for_average"):
            entries = list(document["questions"])
            entries[place] = {**entry, "design": {**design, "mechanism": serving["for_shares"]}}
            action = f"for_shares-{place}"
            yield from _step(action, {**document, "questions": entries}, number=place + 1)


def _equally(action: str, document: Mapping[str, Any], gamma: float) -> Iterator[Advice]:
    if gamma > 0:
        yield from _step(action, _of_one_strength(document, gamma), gamma)


def _can_be_set(document: Mapping[str, Any]) -> bool:
    return any(strength_name(entry) for entry in document["questions"])


def _of_one_strength(document: Mapping[str, Any], gamma: float) -> Document:
    return with_strength(divided_equally(document), Strength("gamma", gamma))


def _step(
    action: str, document: Document | None, gamma: float | None = None, number: int | None = None
) -> Iterator[Advice]:
    after = None if document is None else foresee_draft(document)
    if document is not None and after is not None:
        yield Advice(action, document, after, gamma, number)
