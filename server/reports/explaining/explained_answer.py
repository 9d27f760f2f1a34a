"""Which answer, by what -> the likelihood over all rows, and what it says of each predictor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, InputError, refuse
from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.explaining import ExplainedEffect, Explanation, Predictor, explain
from server.privacy.estimators.latent_likelihood import LatentData, do_nothing
from server.privacy.estimators.regression import LikelihoodRatioTest
from server.reports.explaining.chosen_columns import (
    CoinColumn,
    KnownColumn,
    choose_outcome,
    choose_predictor,
    refuse_same,
)
from server.reports.explaining.explained_rows import ExplainableRows

Floats = NDArray[np.float64]
NOBODY = N_(
    "must be answered together with what it may go with; nobody whose answers are shown was asked all"
)
NOTHING_SHOWN = N_("needs responses; none is shown yet")
_SLIGHTLY = 1e-4
"""How far a number is moved, in its unit here, for its average effect."""
_LARGEST_KEY = 1 << 62


@dataclass(frozen=True, eq=False)
class ExplainedPredictor:
    """A predictor, and what each step of it does: a level against the first one, or a number by one."""

    column: CoinColumn | KnownColumn
    steps: tuple[tuple[str, ExplainedEffect], ...]
    reference: str
    test: LikelihoodRatioTest

    @property
    def name(self) -> str:
        """As it was asked for."""
        return self.column.name

    @property
    def randomised(self) -> bool:
        """Whether it is seen through coins."""
        return isinstance(self.column, CoinColumn)


@dataclass(frozen=True, eq=False)
class ExplainedAnswer:
    """An answer, what it goes with, of how many rows; `weighted` rows count as much as their weights."""

    name: str
    outcome: CoinColumn
    rows: int
    weighted: bool
    versions: tuple[int, ...]
    predictors: tuple[ExplainedPredictor, ...]
    explanation: Explanation


def explain_answer(
    rows: ExplainableRows, name: str, by: Sequence[str], on_step: Callable[[], None] = do_nothing
) -> ExplainedAnswer:
    """Fit a logistic model of an answer on predictors, each by its name; `on_step` may raise an error to end it.

    Raises
    ------
    InputError
        If a name is of nothing that can be explained or explain, or there is nobody to learn from.
    """
    outcome = choose_outcome(rows, name)
    if not by:
        raise refuse(422, "by", N_("must name what the answer may go with"))
    chosen = [choose_predictor(rows, each) for each in by]
    refuse_same(outcome, chosen)
    made = _Columns(rows, outcome, chosen)
    try:
        data = replace(made.data, on_step=on_step)
        found = explain(data, made.predictors, rows.report.confidence)
    except InputError:  # of whoever waits for it
        raise
    except ValueError as error:
        raise refuse(422, "by", N_("must be fit for an explanation: %(value)s"), value=str(error)) from None
    predictors = tuple(
        ExplainedPredictor(
            column,
            tuple(zip(names[1:] or ("+1",), effects, strict=True)),
            names[0] if names else "",
            test,
        )
        for column, names, effects, test in zip(
            made.columns, made.levels, found.effects, found.tests, strict=True
        )
    )
    predictors = tuple(
        sorted(predictors, key=lambda each: chosen.index(each.column))
    )  # as they were asked for
    return ExplainedAnswer(outcome.name, outcome, made.rows, made.weighted, made.versions, predictors, found)


class _Columns:
    """All rows as a `LatentData`, those that are alike once, and where each predictor stands in it."""

    def __init__(
        self, rows: ExplainableRows, outcome: CoinColumn, chosen: Sequence[CoinColumn | KnownColumn]
    ) -> None:
        known = [column for column in chosen if isinstance(column, KnownColumn)]
        coins = [column for column in chosen if isinstance(column, CoinColumn)]
        self.columns: list[CoinColumn | KnownColumn] = [*known, *coins]
        asking = set(outcome.bytes_of).intersection(*(column.bytes_of for column in coins))
        outcomes, others, values, counts = [], [], [], []
        self.rows, versions, self.weighted = 0, [], False
        for block in rows.blocks():
            if block.wave.number not in asking or not len(block.counts):
                continue
            versions.append(block.wave.number)
            self.rows += int(block.tally.n)
            self.weighted |= bool((block.counts != block.tally.counts).any())
            both = [outcome.chances(block), *(column.chances(block) for column in coins)]
            table = np.stack([column.values(block) for column in known], axis=1) if known else None
            alike, sums = _sum_alike(both, table, block.counts)
            outcomes.append(both[0][alike])
            others.append(_combine([each[alike] for each in both[1:]], len(alike)))
            values.append(np.zeros((len(alike), 0)) if table is None else table[alike])
            counts.append(sums)
        if not counts:
            raise refuse(422, "explain", NOBODY if rows.report.n else NOTHING_SHOWN)
        self.versions = tuple(dict.fromkeys(versions))
        self._build(
            np.concatenate(counts), np.concatenate(values), np.concatenate(outcomes), np.concatenate(others)
        )

    def _build(self, counts: Floats, values: Floats, outcome: Floats, others: Floats) -> None:
        """Columns of what is known, centred, so that the intercept is of people in the middle; dummies of answers."""
        masses = counts / counts.sum()
        made: list[Floats] = [np.ones(len(counts))]
        self.levels: list[tuple[str, ...]] = []
        self.predictors: list[Predictor] = []
        coins = [column for column in self.columns if isinstance(column, CoinColumn)]
        for place, column in enumerate(self.columns[: len(self.columns) - len(coins)]):
            own = values[:, place]
            if not column.levels:
                mean = float(masses @ own)
                spread = (
                    2 * float(np.sqrt(masses @ (own - mean) ** 2)) or 1.0
                )  # Gelman (2008): as a column of 0 and 1
                moved = [
                    EffectSetting(True, (len(made),), (step,), moves=True) for step in (-_SLIGHTLY, _SLIGHTLY)
                ]
                pair = (moved[0], moved[1])
                self.predictors.append(Predictor((len(made),), (pair,), spread))
                self.levels.append(())
                made.append((own - mean) / spread)
                continue
            some = [level for level in range(len(column.levels)) if (own == level).any()]
            if len(some) < 2:
                raise refuse(
                    422, "by", N_("must differ between people; %(value)s does not"), value=column.name
                )
            first = len(made)
            means = [float(masses @ (own == level)) for level in some[1:]]
            made += [(own == level) - mean for level, mean in zip(some[1:], means, strict=True)]
            where = tuple(range(first, len(made)))
            self.predictors.append(Predictor(where, _pair_known(where, means)))
            self.levels.append(tuple(column.levels[level] for level in some))
        combinations = list(product(*(range(len(column.levels)) for column in coins)))
        marks = [(k, level) for k, column in enumerate(coins) for level in range(1, len(column.levels))]
        dummies = np.array(
            [[float(found[k] == level) for k, level in marks] for found in combinations], dtype=np.float64
        ).reshape(len(combinations), len(marks))
        for number, column in enumerate(coins):
            marked = [place for place, (k, _) in enumerate(marks) if k == number]
            where = tuple(len(made) + place for place in marked)
            self.predictors.append(Predictor(where, _pair_answers(tuple(marked))))
            self.levels.append(column.levels)
        self.data = LatentData(counts, np.stack(made, axis=1), outcome, others, dummies)


def _pair_known(
    where: tuple[int, ...], means: Sequence[float]
) -> tuple[tuple[EffectSetting, EffectSetting], ...]:
    """Everybody at the first level, and at each other one."""
    base = tuple(-mean for mean in means)
    return tuple(
        (
            EffectSetting(True, where, base),
            EffectSetting(True, where, tuple((k == level) - mean for k, mean in enumerate(means))),
        )
        for level in range(len(means))
    )


def _pair_answers(own: tuple[int, ...]) -> tuple[tuple[EffectSetting, EffectSetting], ...]:
    nobody = tuple(0.0 for _ in own)
    return tuple(
        (
            EffectSetting(False, own, nobody),
            EffectSetting(False, own, tuple(float(k == level) for k in range(len(own)))),
        )
        for level in range(len(own))
    )


def _sum_alike(
    chances: Sequence[Floats], table: Floats | None, counts: Floats
) -> tuple[NDArray[np.intp], Floats]:
    """A row for all that have the same chances and the same known values, and how much each stands for."""
    keys, span = np.zeros(len(counts), dtype=np.int64), 1
    for column in np.concatenate([*chances, *([] if table is None else [table])], axis=1).T:
        # One column after the other: sorting numbers is many times faster than sorting rows.
        found, place = np.unique(column, return_inverse=True)
        if span * len(found) >= _LARGEST_KEY:
            found_keys, keys = np.unique(keys, return_inverse=True)
            span = len(found_keys)
        keys, span = keys * len(found) + place, span * len(found)
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return first, np.bincount(back, weights=counts).astype(np.float64)


def _combine(chances: Sequence[Floats], rows: int) -> Floats:
    """Of every combination of truths, the last varying fastest, shape (rows, combinations)."""
    found = np.ones((rows, 1))
    for own in chances:
        found = (found[:, :, None] * own[:, None, :]).reshape(rows, -1)
    return found
