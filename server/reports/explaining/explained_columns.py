"""All rows of an explanation as data of a likelihood, or of normal equations, and where predictors stand in them."""

import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.explaining import Predictor
from server.privacy.estimators.explanation_limits import refuse_combinations
from server.privacy.estimators.latent_likelihood import MOST_WRITTEN_OUT, LatentData
from server.privacy.estimators.number_explaining import NumberData
from server.privacy.estimators.outcome_levels import OutcomeModel
from server.privacy.estimators.sampled_rows import RowSample
from server.privacy.estimators.stratum_samples import StratumSample
from server.reports.explaining.alike_rows import combine_chances, sum_alike
from server.reports.explaining.chosen_columns import CoinColumn, ExplainedModel, KnownColumn
from server.reports.explaining.explained_rows import ExplainableRows
from server.reports.population_weights import Weigh, weigh_nothing

Floats = NDArray[np.float64]
NOBODY = N_(
    "must be answered together with what it may go with; nobody whose answers are shown was asked all"
)
NOTHING_SHOWN = N_("needs responses; none is shown yet")
_SLIGHTLY = 1e-4
"""How far a number is moved, in its unit here, for its average effect."""


@dataclass(frozen=True, eq=False)
class ExplainedStep:
    """What a coefficient is of: a step of a predictor, and the answer that it makes likelier, of several."""

    name: str
    answer: int | None = None


class ExplainedColumns:
    """What is known of rows, first, then answers: those that are alike once.

    `columns` are predictors in that order, and beside each its `predictors`, the `levels` it has, and its `steps`.
    `unknown` says how many are left out as their week is not known, where weeks are a predictor. With `weigh` strata
    count by their populations, where they can (`strata`).
    """

    def __init__(
        self,
        rows: ExplainableRows,
        outcome: CoinColumn,
        model: ExplainedModel,
        chosen: Sequence[CoinColumn | KnownColumn],
        weigh: Weigh = weigh_nothing,
    ) -> None:
        self._outcome, self._model = outcome, model
        self._known = [column for column in chosen if isinstance(column, KnownColumn)]
        self._coins = [column for column in chosen if isinstance(column, CoinColumn)]
        self.columns: list[CoinColumn | KnownColumn] = [*self._known, *self._coins]
        self.levels: list[tuple[str, ...]] = []
        self.predictors: list[Predictor] = []
        self.steps: list[tuple[ExplainedStep, ...]] = []
        asking = set(outcome.bytes_of).intersection(*(column.bytes_of for column in self._coins))
        self.strata = weigh([wave for wave in rows.report.waves if wave.number in asking]) if asking else None
        self._read(rows, asking)
        if rows.sample is not None:
            self._counts *= self.rows / self._counts.sum()
        self._build_known()
        self._build_answers()

    def _read(self, rows: ExplainableRows, asking: Container[int]) -> None:
        numeric = self._model == "linear"
        seen: list[list[Floats]] = []
        values, counts, back, places, cells = [], [], [], [], []
        self.rows, versions, start = 0, [], 0
        weekly = rows.weekly if any(column.weekly for column in self._known) else None
        for block in rows.blocks() if weekly is None else weekly.blocks():
            if block.wave.number not in asking:
                continue
            if self.strata is not None:
                block = block.keep(self.strata.cell_of[block.places] < len(self.strata.shares))
            if not len(block.counts):
                continue
            versions.append(block.wave.number)
            self.rows += int(block.tally.n)
            both = [
                self._outcome.guess_number(block) if numeric else self._outcome.chances(block),
                *((column.guess if numeric else column.chances)(block) for column in self._coins),
            ]
            table = (
                np.stack([column.values(block) for column in self._known], axis=1) if self._known else None
            )
            if self.strata is not None:  # rows of a stratum alone stand together
                cell = self.strata.cell_of[block.places].astype(np.float64)[:, None]
                table = cell if table is None else np.concatenate([table, cell], axis=1)
            alike, own, sums = sum_alike(both, table, block.counts)
            if self.strata is not None:
                assert table is not None
                cells.append(table[alike, -1].astype(np.int64))
                table = table[:, :-1]
            seen.append([found[alike] for found in both])
            values.append(np.zeros((len(alike), 0)) if table is None else table[alike])
            counts.append(sums)
            if rows.sample is not None:
                back.append(start + own)
                places.append(block.rows)
            start += len(alike)
        if not counts and self.strata is not None:
            raise ValueError("strata that count must have responses to all of it")
        if not counts:
            raise refuse(422, "explain", NOBODY if rows.report.n else NOTHING_SHOWN)
        self.versions = tuple(dict.fromkeys(versions))
        self.unknown = None if weekly is None else weekly.count_unknown(self.versions)
        self._counts, self._values = np.concatenate(counts), np.concatenate(values)
        self._seen = [np.concatenate(parts) for parts in zip(*seen, strict=True)]
        self.sample: RowSample | None = None
        if rows.sample is not None:
            self.sample = RowSample(
                np.concatenate(places), np.concatenate(back).astype(np.int64), rows.sample
            )
        elif self.strata is not None:
            made = StratumSample.of(self._counts, np.concatenate(cells), self.strata.shares)
            self.sample, self._counts = made, made.counts

    def _build_known(self) -> None:
        """Columns of what is known, centred, so that the intercept is of people in the middle."""
        counts = self._counts
        masses = counts / counts.sum()
        made: list[Floats] = [np.ones(len(counts))]
        for place, column in enumerate(self._known):
            own = self._values[:, place]
            if (own == own[0]).all():
                if self.strata is not None:
                    raise ValueError(f"{column.name} must differ between people that count")
                raise refuse(
                    422, "by", N_("must differ between people; %(value)s does not"), value=column.name
                )
            if not column.levels:
                mean = float(masses @ own)
                # Gelman (2008): as a column of 0 and 1
                spread = 2 * float(np.sqrt(masses @ (own - mean) ** 2))
                moved = [
                    EffectSetting(True, (len(made),), (step,), moves=True) for step in (-_SLIGHTLY, _SLIGHTLY)
                ]
                self._add((len(made),), ((moved[0], moved[1]),), (), spread)
                made.append((own - mean) / spread)
                continue
            some = [level for level in range(len(column.levels)) if (own == level).any()]
            first = len(made)
            means = [float(masses @ (own == level)) for level in some[1:]]
            made += [(own == level) - mean for level, mean in zip(some[1:], means, strict=True)]
            names = tuple(column.levels[level] for level in some)
            self._add(
                tuple(range(first, len(made))), _pair_known(tuple(range(first, len(made))), means), names
            )
        self._table = np.stack(made, axis=1)

    def _build_answers(self) -> None:
        """Dummies of the answers of each question but the first."""
        coins, width = self._coins, self._table.shape[1]
        marks = [(k, level) for k, column in enumerate(coins) for level in range(1, len(column.levels))]
        self._marks = marks
        for number, column in enumerate(coins):
            marked = tuple(place for place, (k, _) in enumerate(marks) if k == number)
            self._add(tuple(width + place for place in marked), _pair_answers(marked), column.levels)
        if self._model == "multinomial":
            every = width + len(marks)
            self.predictors = [self._repeat_by_answer(own, every) for own in self.predictors]
            self.steps = [
                tuple(
                    ExplainedStep(step.name, answer)
                    for answer in range(1, len(self._outcome.levels))
                    for step in own
                )
                for own in self.steps
            ]

    def _add(
        self,
        where: tuple[int, ...],
        pairs: tuple[tuple[EffectSetting, EffectSetting], ...],
        levels: tuple[str, ...],
        unit: float = 1.0,
    ) -> None:
        self.predictors.append(Predictor(where, pairs, unit))
        self.levels.append(levels)
        self.steps.append(tuple(ExplainedStep(name) for name in (levels[1:] or ("+1",))))

    def _repeat_by_answer(self, source: Predictor, every: int) -> Predictor:
        """Each of its columns in the linear predictor of each answer but the first, and how likely that answer is."""
        answers = range(len(self._outcome.levels) - 1)
        scores = [
            (np.arange(len(self._outcome.levels)) == answer + 1).astype(np.float64) for answer in answers
        ]
        return Predictor(
            tuple(answer * every + column for answer in answers for column in source.columns),
            tuple(pair for _ in answers for pair in source.pairs),
            source.unit,
            tuple(scores[answer] for answer in answers for _ in source.columns),
        )

    def make_likelihood(self, on_step: Callable[[], None]) -> LatentData:
        """Of every combination of answers to predictors, the last varying fastest; a ValueError of too many."""
        count = math.prod(len(column.levels) for column in self._coins)
        refuse_combinations(count)
        combinations = list(product(*(range(len(column.levels)) for column in self._coins)))
        dummies = np.array(
            [[float(found[k] == level) for k, level in self._marks] for found in combinations],
            dtype=np.float64,
        ).reshape(len(combinations), len(self._marks))
        parts, rows = tuple(self._seen[1:]), len(self._counts)
        others = combine_chances(parts, rows) if count <= MOST_WRITTEN_OUT else np.zeros((rows, 0))
        model: OutcomeModel = "multinomial" if self._model == "multinomial" else "cumulative"
        return LatentData(self._counts, self._table, self._seen[0], others, dummies, on_step, model, parts)

    def make_equations(self) -> NumberData:
        """Of a number."""
        ends = self._outcome.question.ends
        assert ends is not None
        guesses = [found[:, 1:] for found in self._seen[1:]]
        return NumberData(
            self._counts,
            self._table,
            self._seen[0][:, 0],
            self._seen[0][:, 1],
            np.concatenate([np.zeros((len(self._counts), 0)), *guesses], axis=1),
            np.array([k for k, _ in self._marks], dtype=np.int64),
            float(ends[1]) - float(ends[0]),
        )


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


def _pair_answers(answers: tuple[int, ...]) -> tuple[tuple[EffectSetting, EffectSetting], ...]:
    nobody = tuple(0.0 for _ in answers)
    return tuple(
        (
            EffectSetting(False, answers, nobody),
            EffectSetting(False, answers, tuple(float(k == level) for k in range(len(answers)))),
        )
        for level in range(len(answers))
    )
