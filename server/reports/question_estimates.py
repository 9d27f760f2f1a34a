"""(the responses to some versions, a question, some strata) -> what is estimated of it."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from server.collect.waves import Byte, WaveQuestion, by_option
from server.privacy.designs import Design
from server.reports.estimate_values import QuestionReport
from server.reports.report_columns import ReportColumn


def estimate_question(
    question_versions: Sequence[WaveQuestion],
    places: Sequence[int],
    confidence: float,
    *,
    split: bool | None = None,
) -> QuestionReport:
    """Of the responses from some places in the list of strata, each counting the same.

    `split`: answer by answer or not, where it is to be as of other versions than these.
    """
    return _report(question_versions, [list(places)], None, confidence, split=split)


def post_stratified(
    versions: Sequence[WaveQuestion],
    places: Sequence[Sequence[int]],
    weights: Sequence[float],
    confidence: float,
    *,
    one_partition: bool,
) -> QuestionReport:
    """Of a population whose strata have these shares of it, each with the responses from its own places.

    `one_partition`: whether the parts are those of every look, however many responses there are.
    """
    return _report(versions, places, weights, confidence, one_partition=one_partition)


def _report(
    versions: Sequence[WaveQuestion],
    groups: Sequence[Sequence[int]],
    weights: Sequence[float] | None,
    confidence: float,
    *,
    one_partition: bool = True,
    split: bool | None = None,
) -> QuestionReport:
    question = versions[0].question
    split = by_option(versions) if split is None else split
    some = [one for one in versions if one.wave.n] or versions[:1]
    waves = [(one.wave.number, one.bytes(split)) for one in some]
    names = question.columns
    if split and len(names) == 1:
        names = tuple(f"{question.name}.{answer}" for answer in question.answers)
    places = np.concatenate([np.asarray(group) for group in groups])
    starts = np.cumsum([0, *(len(group) for group in groups[:-1])])

    def add_up(counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of each group's places, shape (groups, reports)."""
        return (
            counts[places] if len(places) == len(groups) else np.add.reduceat(counts[places], starts, axis=0)
        )

    columns = tuple(
        _column(
            name,
            [(wave, bytes_[place]) for wave, bytes_ in waves],
            len(groups),
            add_up,
            weights,
            confidence,
            one_partition=one_partition,
        )
        for place, name in enumerate(names)
    )
    return QuestionReport(question, tuple(wave for wave, _ in waves), split, columns)


def _column(
    name: str,
    bytes_of: Sequence[tuple[int, Byte]],
    groups: int,
    add_up: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    weights: Sequence[float] | None,
    confidence: float,
    *,
    one_partition: bool,
) -> ReportColumn:
    """A byte of some versions: in each group a part for each design, reports of one design counted together."""
    versions: dict[Design, tuple[int, ...]] = {}
    counts: dict[Design, NDArray[np.int64]] = {}
    for version, byte in bytes_of:
        own = add_up(byte.counts)
        versions[byte.design] = (*versions.get(byte.design, ()), version)
        counts[byte.design] = counts.get(byte.design, 0) + own
    together = np.stack(list(counts.values()), axis=1)
    shares = None
    if weights is not None:
        sizes = together.sum(axis=2)
        shares = (np.array(weights)[:, None] * sizes / sizes.sum(axis=1, keepdims=True)).ravel()
    return ReportColumn(
        name,
        tuple(versions.values()) * groups,
        tuple(counts) * groups,
        together.reshape(-1, together.shape[2]),
        shares,
        confidence,
        one_partition,
    )
