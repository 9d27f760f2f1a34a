"""What is assumed of people who do not exist: true shares and means, held against the definition."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from server.inputs import N_, InputError, Problem
from server.study.definitions import PREFER_NOT_TO_SAY, Definition, Question

USUAL_PREFER_NOT_TO_SAY = 0.05


@dataclass(frozen=True)
class Assumptions:
    """Assumed true shares, by "question.answer" or (the share of yes) by "question", and means by question."""

    shares: Mapping[str, float] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)


def assumption_names(definition: Definition) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What shares and what means may be assumed of: the keys of `Assumptions`."""
    shares = tuple(
        f"{question.name}.{answer}" for question in definition.questions for answer in own_answers(question)
    )
    return shares, tuple(question.name for question in definition.questions if question.grid is not None)


def own_answers(question: Question) -> tuple[str, ...]:
    """The answers that a share may be assumed of: of a number, whose mean is assumed, only that none is given."""
    if question.grid is not None:
        return question.answers[-1:] if question.prefer_not_to_say else ()
    return question.answers if question.traits.main is None else question.answers[1:]


def usual_share(question: Question, answer: str) -> float | None:
    """What is assumed of an answer when nothing is said; None where the answers share the rest evenly."""
    if answer == PREFER_NOT_TO_SAY:
        return USUAL_PREFER_NOT_TO_SAY
    return 0.0 if question.control else question.traits.usual_share


def check(definition: Definition, assumptions: Assumptions) -> Assumptions:
    """The assumptions with every key written out.

    Raises
    ------
    InputError
        With every key that is not known, every share and mean out of its range, and every
        question whose shares do not add up.
    """
    shares = {_key(definition, name): value for name, value in assumptions.shares.items()}
    known, numbers = assumption_names(definition)
    problems = [
        *_unknown("share", shares, known, definition),
        *_unknown("mean", assumptions.means, numbers, definition),
        *(
            _outside(f"share {name}", value, 0, 1)
            for name, value in assumptions.shares.items()
            if not 0 <= value <= 1
        ),
    ]
    if not problems:
        for question in definition.questions:
            problems += _of_question(question, shares, assumptions.means.get(question.name))
    if problems:
        raise InputError(422, problems)
    return Assumptions(shares, dict(assumptions.means))


def probabilities(question: Question, assumptions: Assumptions) -> dict[str, float]:
    """The chance of each answer of which exactly one is given; those that are not assumed share the rest evenly.

    A number's answers are here "a number" (the empty name) and "prefer not to say".
    """
    names = question.answers if question.grid is None else ("", *own_answers(question))
    given = _read_shares(question, assumptions.shares)
    rest = 1 - sum(given.values())
    for name in own_answers(question):
        usual = usual_share(question, name)
        if name not in given and usual is not None:
            given[name] = min(usual, max(rest, 0.0))
            rest -= given[name]
    others = [name for name in names if name not in given]
    return {name: given.get(name, max(rest, 0.0) / max(len(others), 1)) for name in names}


def share_of_each_box(question: Question, assumptions: Assumptions) -> dict[str, float]:
    """The share of people who tick each box; "prefer not to say" excludes the others, which leave room for it."""
    given = _read_shares(question, assumptions.shares)
    boxes = [name for name in question.answers if name != PREFER_NOT_TO_SAY]
    shares = {name: given.get(name, question.traits.usual_share or 0.0) for name in boxes}
    if question.prefer_not_to_say:
        room = 1 - max((given[name] for name in boxes if name in given), default=0.0)
        refusing = given.get(PREFER_NOT_TO_SAY, min(USUAL_PREFER_NOT_TO_SAY, room))
        shares = {name: min(share, 1 - refusing) for name, share in shares.items()}
        shares[PREFER_NOT_TO_SAY] = refusing
    return shares


def assumed_mean(question: Question, assumptions: Assumptions) -> float:
    """Of a number; the middle of its range where nothing is assumed."""
    assert question.grid is not None
    middle = (question.grid.low + question.grid.high) / 2
    return assumptions.means.get(question.name, middle)


def _read_shares(question: Question, shares: Mapping[str, float]) -> dict[str, float]:
    return {
        answer: shares[f"{question.name}.{answer}"]
        for answer in own_answers(question)
        if f"{question.name}.{answer}" in shares
    }


def _key(definition: Definition, name: str) -> str:
    """The name of a yes/no question stands for its share of yes."""
    return next((key for key, short in _short_names(definition).items() if short == name), name)


def _short_names(definition: Definition) -> dict[str, str]:
    """Keys of shares for which the question's name may stand alone."""
    asked = definition.questions
    return {f"{entry.name}.{entry.traits.main}": entry.name for entry in asked if entry.traits.main}


def _unknown(
    what: str, given: Mapping[str, float], known: tuple[str, ...], definition: Definition
) -> Iterator[Problem]:
    short = _short_names(definition)
    names = ", ".join(short.get(name, name) for name in known)
    for name in given:
        if name not in known:
            yield Problem(
                what, N_("must be one of %(limit)s; it is %(value)s"), {"limit": names, "value": name}
            )


def _of_question(question: Question, shares: Mapping[str, float], mean: float | None) -> Iterator[Problem]:
    given = _read_shares(question, shares)
    total = math.fsum(given.values())
    if question.encoding.several:
        refusing = given.pop(PREFER_NOT_TO_SAY, 0.0)
        for answer, share in given.items():
            if share > 1 - refusing + 1e-9:
                yield _outside(f"share {question.name}.{answer}", share, 0, 1 - refusing)
    elif total > 1 + 1e-9:
        template = N_("must add up to at most %(limit)s over its answers; they add up to %(value)s")
        yield Problem(f"share {question.name}", template, {"limit": 1, "value": round(total, 9)})
    elif len(given) == len(question.answers) and total < 1 - 1e-9:
        template = N_("must add up to %(limit)s when every answer has one; they add up to %(value)s")
        yield Problem(f"share {question.name}", template, {"limit": 1, "value": round(total, 9)})
    if mean is not None and question.grid is not None:
        low, high = question.grid.low, question.grid.high
        if not low <= mean <= high:
            yield _outside(f"mean {question.name}", mean, low, high)


def _outside(field: str, value: float, low: float, high: float) -> Problem:
    template = N_("must be from %(low)s to %(high)s; it is %(value)s")
    return Problem(field, template, {"low": low, "high": high, "value": value})
