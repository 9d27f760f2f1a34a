"""(the responses to some versions, a question, some strata) -> what is estimated of it."""

from collections.abc import Sequence

from server.collect.waves import Asked, by_option
from server.reports.columns import Column, Part, merged
from server.reports.questions import QuestionReport


def estimated(asked: Sequence[Asked], places: Sequence[int], confidence: float) -> QuestionReport:
    """Of the responses from some places in the list of strata, each counting the same."""
    return _report(asked, [list(places)], None, confidence)


def post_stratified(
    asked: Sequence[Asked],
    places: Sequence[Sequence[int]],
    weights: Sequence[float],
    confidence: float,
    *,
    one_partition: bool,
) -> QuestionReport:
    """Of a population whose strata have these shares of it, each with the responses from its own places.

    `one_partition`: whether the parts are those of every look, however many responses there are.
    """
    return _report(asked, places, weights, confidence, one_partition=one_partition)


def _report(
    asked: Sequence[Asked],
    groups: Sequence[Sequence[int]],
    weights: Sequence[float] | None,
    confidence: float,
    *,
    one_partition: bool = True,
) -> QuestionReport:
    question, split = asked[0].question, by_option(asked)
    some = [one for one in asked if one.wave.n] or asked[:1]
    waves = [(one.wave.number, one.bytes(split)) for one in some]
    names = question.columns
    if split and len(names) == 1:
        names = tuple(f"{question.name}.{answer}" for answer in question.answers)
    columns = []
    for place, name in enumerate(names):
        parts: list[Part] = []
        shares: list[float] = []
        for number, group in enumerate(groups):
            own = merged(
                [
                    Part((wave,), bytes_[place].design, bytes_[place].counts[list(group)].sum(axis=0))
                    for wave, bytes_ in waves
                ]
            )
            parts += own
            if weights is not None:
                n = sum(part.n for part in own)
                shares += [weights[number] * part.n / n for part in own]
        given = tuple(shares) if weights is not None else None
        columns.append(Column(name, tuple(parts), given, confidence, one_partition))
    return QuestionReport(question, tuple(wave for wave, _ in waves), split, tuple(columns))
