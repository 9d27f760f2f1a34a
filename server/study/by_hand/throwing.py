"""Which surveys can be thrown by hand, and what stands in the way of others: the one rule for pages and paper."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from server.inputs import N_, Problem
from server.privacy.designs import Design, Throws, plan_throws
from server.study.kinds import KINDS


def plan_by_hand(entries: Sequence[dict[str, Any]]) -> tuple[Throws, ...] | None:
    """How the questions of a published definition are thrown.

    All of them or none: who throws would show by the others what they leave to a machine.
    """
    if any(list_obstacles(entries)):
        return None
    planned = (_plan_question(entry) for entry in entries if "designs" in entry)
    return tuple(throws for throws in planned if throws is not None)


def list_obstacles(entries: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """What stands in the way, by the places of questions: a person must be able to work out alone what is recorded."""
    place = 0
    for entry in entries:
        if "designs" not in entry:
            if "show_if" in entry:
                yield Problem("survey", N_("has a text that is shown only after certain answers"), {})
            continue
        template = _find_obstacle(entry)
        if template is not None:
            yield Problem(f"questions[{place}]", template, {})
        place += 1


def _find_obstacle(entry: Mapping[str, Any]) -> str | None:
    kind = KINDS[entry["kind"]]
    if "show_if" in entry:
        return N_("is shown only after certain answers")
    if kind.several:
        return N_("may have several answers, and each would take throws of its own")
    if kind.asks_number:
        return N_("asks for a number, which nobody can throw by hand")
    if len(entry["designs"]) > 1:
        return N_("sends each of its answers apart, and each would take throws of its own")
    if not arrives_as_answer(entry):
        return N_("is randomised by a device of its own, and what arrives is no answer")
    if _plan_question(entry) is None:
        return N_("has chances that three throws of coins, dice or a disc cannot give")
    return None


def arrives_as_answer(question: Mapping[str, Any]) -> bool:
    """Whether what is recorded is an answer: not a colour, nor the same or different."""
    return question["design"]["mechanism"] not in ("kuk", "crosswise")


def _plan_question(entry: Mapping[str, Any]) -> Throws | None:
    return plan_throws(Design(entry["designs"][0]["weights"]))
