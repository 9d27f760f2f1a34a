"""Which answer, by what -> the likelihood over all rows, and what it says of each predictor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from server.inputs import N_, InputError, refuse
from server.privacy.estimators.answer_pairs import follows_pairs
from server.privacy.estimators.explained_effects import ExplainedEffect, Explanation
from server.privacy.estimators.explaining import explain
from server.privacy.estimators.latent_likelihood import do_nothing
from server.privacy.estimators.number_explaining import explain_number
from server.privacy.estimators.regression import LikelihoodRatioTest
from server.reports.explaining.chosen_columns import (
    CoinColumn,
    ExplainedModel,
    KnownColumn,
    choose_outcome,
    choose_predictor,
    refuse_same,
)
from server.reports.explaining.explained_columns import ExplainedColumns, ExplainedStep
from server.reports.explaining.explained_rows import ExplainableRows
from server.reports.population_weights import Weigh, Weighed, weigh_nothing


@dataclass(frozen=True, eq=False)
class ExplainedPredictor:
    """A predictor, and what each step of it does: a level against the first one, or a number by one."""

    column: CoinColumn | KnownColumn
    steps: tuple[tuple[ExplainedStep, ExplainedEffect], ...]
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
    """An answer, what it goes with, of how many rows; `weighted` rows count, and vary, as they were drawn.

    Where strata count by their populations, `weighed` says how, and `unweighted` is the same with every response
    counting the same; where they do elsewhere and could not here, it is `not_weighed`.

    `model` says what an effect is of: the odds of a Yes, or of a higher level; those of each answer against the first
    one; or a number itself. Where weeks are a predictor, `unknown` says of how many they are not known.
    """

    name: str
    outcome: CoinColumn
    model: ExplainedModel
    rows: int
    weighted: bool
    versions: tuple[int, ...]
    predictors: tuple[ExplainedPredictor, ...]
    explanation: Explanation
    unknown: int | None = None
    weighed: Weighed | None = None
    unweighted: "ExplainedAnswer | None" = None
    not_weighed: bool = False

    @property
    def combinations(self) -> int:
        """Of the answers, among the predictors, that are seen through coins."""
        return prod(self._sizes)

    @property
    def follows_pairs(self) -> bool:
        """Whether how often those occur is taken to follow from single answers and pairs of them."""
        return follows_pairs(self._sizes)

    @property
    def _sizes(self) -> list[int]:
        columns = (predictor.column for predictor in self.predictors)
        return [len(column.levels) for column in columns if isinstance(column, CoinColumn)]


def explain_answer(
    rows: ExplainableRows, name: str, by: Sequence[str], on_step: Callable[[], None] = do_nothing
) -> ExplainedAnswer:
    """Fit a model of an answer on predictors, each by its name; `on_step` may raise an error to end it.

    Once with strata that count by their populations, where they do and what counts then allows it, and once without.

    Raises
    ------
    InputError
        If a name is of nothing that can be explained or explain, or there is nobody to learn from.
    """
    outcome, model = choose_outcome(rows, name)
    if not by:
        raise refuse(422, "by", N_("must name what the answer may go with"))
    chosen = [choose_predictor(rows, each) for each in by]
    refuse_same(outcome, chosen)
    try:
        plain = _fit(rows, outcome, model, chosen, on_step)
    except InputError:  # of whoever waits for it
        raise
    except ValueError as error:
        raise refuse(422, "by", N_("must be fit for an explanation: %(value)s"), value=str(error)) from None
    if rows.weigh is weigh_nothing:
        return plain
    try:
        weighted = _fit(rows, outcome, model, chosen, on_step, rows.weigh)
    except InputError:
        raise
    except ValueError:  # of strata that are withheld nothing may be left
        return replace(plain, not_weighed=True)
    return plain if weighted.weighed is None else replace(weighted, unweighted=plain)


def _fit(
    rows: ExplainableRows,
    outcome: CoinColumn,
    model: ExplainedModel,
    chosen: Sequence[CoinColumn | KnownColumn],
    on_step: Callable[[], None],
    weigh: Weigh = weigh_nothing,
) -> ExplainedAnswer:
    made, confidence = ExplainedColumns(rows, outcome, model, chosen, weigh), rows.report.confidence
    if model == "linear":
        found = explain_number(made.make_equations(), made.predictors, confidence, made.sample)
    else:
        found = explain(made.make_likelihood(on_step), made.predictors, confidence, made.sample)
    predictors = tuple(
        ExplainedPredictor(column, tuple(zip(steps, effects, strict=True)), names[0] if names else "", test)
        for column, names, steps, effects, test in zip(
            made.columns, made.levels, made.steps, found.effects, found.tests, strict=True
        )
    )
    predictors = tuple(
        sorted(predictors, key=lambda each: chosen.index(each.column))
    )  # as they were asked for
    return ExplainedAnswer(
        outcome.name,
        outcome,
        model,
        made.rows,
        made.sample is not None,
        made.versions,
        predictors,
        found,
        made.unknown,
        None if made.strata is None else made.strata.weighed,
    )
