"""Answers compared between groups of a sample: of what is known, or of another question, read through its coins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from server.collect.waves import Wave, WaveQuestion
from server.inputs import N_, refuse, shorten_value
from server.privacy.estimators.sample_designs import SampleDesign
from server.privacy.estimators.sampled_joint import SURE
from server.privacy.estimators.sampled_ratios import (
    RatioEstimates,
    WaldTest,
    compare_with_zero,
    estimate_ratios,
)
from server.privacy.estimators.weighted_rows import (
    WeightedEstimate,
    WeightedOddsRatio,
    pick_difference,
    pick_estimate,
    pick_odds_ratio,
)
from server.reports.elsewhere.covariates import Covariate
from server.reports.elsewhere.foreign_table import ForeignTable
from server.reports.elsewhere.sample_answers import Grouping, SampleAnswers
from server.reports.elsewhere.sample_margins import STRATUM
from server.reports.elsewhere.sampling import StatedTable
from server.study.definitions import Question
from server.study.strata import Node, walk

MOST_GROUPS = 20
"""Of a table."""


@dataclass(frozen=True, eq=False)
class SampleLine:
    """An answer by its number, or the mean: in each group, and how far that is above the first group's.

    Of an answer `odds` are its odds in each other group over those in the first; None where they are not told.
    """

    index: int | None
    groups: tuple[WeightedEstimate, ...]
    differences: tuple[WeightedEstimate, ...]
    odds: tuple[WeightedOddsRatio | None, ...]
    test: WaldTest


@dataclass(frozen=True, eq=False)
class SampleTable:
    """A question by groups. `sizes` are the groups' shares; `other` is the question that groups are answers of."""

    question: Question
    by: str
    other: Question | None
    names: tuple[str, ...]
    sizes: tuple[WeightedEstimate, ...]
    lines: tuple[SampleLine, ...]


@dataclass(frozen=True, eq=False)
class Comparable:
    """What a study file says of what answers can be compared by."""

    covariates: Sequence[Covariate]
    nodes: Sequence[Node]
    questions: Sequence[Sequence[WaveQuestion]]
    waves: Sequence[Wave]

    def find_question(self, name: str, field: str) -> Sequence[WaveQuestion]:
        """As every version asked it."""
        known = {own[0].question.name: own for own in self.questions}
        if name not in known:
            template = N_("must be one of %(limit)s; it is %(value)s")
            raise refuse(422, field, template, limit=", ".join(known), value=shorten_value(name))
        return known[name]

    def find_groups(self, name: str, table: ForeignTable, field: str) -> Grouping:
        """A covariate of categories, the largest strata, or a question whose answers have one coin together."""
        found = self._find(name, table, field)
        if len(found.names) > MOST_GROUPS:
            template = N_("must have at most %(limit)d groups; it has %(length)d")
            raise refuse(422, field, template, limit=MOST_GROUPS, length=len(found.names))
        return found

    def _find(self, name: str, table: ForeignTable, field: str) -> Grouping:
        for covariate in self.covariates:
            if covariate.name == name and covariate.categories:
                return Grouping(covariate.categories, table.covariates[name].astype(np.int64))
        if name == STRATUM and self.nodes:
            numbers = np.array(
                [-1, *(number for number, node in enumerate(self.nodes) for _ in walk([node]))], np.int64
            )
            return Grouping(tuple(node.stratum.name for node in self.nodes), numbers[table.place])
        names = [covariate.name for covariate in self.covariates if covariate.categories]
        names += [STRATUM] * bool(self.nodes)
        fitting = {
            own[0].question.name: own
            for own in self.questions
            if not any(one.question.encoding.by_answer or one.question.encoding.between_ends for one in own)
        }
        if name not in fitting:
            template = N_("must be one of %(limit)s; it is %(value)s")
            limit = ", ".join([*names, *fitting])
            raise refuse(422, field, template, limit=limit, value=shorten_value(name))
        return Grouping(fitting[name][0].question.answers, versions=fitting[name])


def make_sample_tables(
    tables: Sequence[StatedTable],
    known: Comparable,
    table: ForeignTable,
    answers: SampleAnswers,
    sample: SampleDesign,
    confidence: float,
) -> tuple[SampleTable, ...]:
    """Each table that the study file asks for.

    Raises
    ------
    InputError
        Naming the field, if a question or what it is compared by is none, or nobody was asked both.
    """
    made = []
    for place, own in enumerate(tables):
        field = f"sampling.tables[{place}]"
        versions = known.find_question(own.question, f"{field}.question")
        groups = known.find_groups(own.by, table, f"{field}.by")
        if groups.versions and own.by == own.question:
            template = N_("must name no question twice; that of %(value)s is there already")
            raise refuse(422, f"{field}.by", template, value=own.by)
        sizes = estimate_ratios(answers.measure_groups(groups), sample)
        small = bool(groups.versions) & (sizes.values < SURE * np.sqrt(np.diag(sizes.covariance)))
        lines = []
        for index, parts in answers.list_parts(versions):
            divided = answers.divide(parts, groups)
            if not divided:
                template = N_("must be asked together with %(value)s, in some version")
                raise refuse(422, f"{field}.question", template, value=own.by)
            ratios = estimate_ratios(divided, sample)
            told = replace(ratios, values=np.where(small, np.nan, ratios.values))
            lines.append(_compare(index, told, confidence))
        made.append(
            SampleTable(
                versions[0].question,
                own.by,
                groups.versions[0].question if groups.versions else None,
                groups.names,
                tuple(pick_estimate(sizes, number, confidence) for number in range(len(groups.names))),
                tuple(lines),
            )
        )
    return tuple(made)


def _compare(index: int | None, ratios: RatioEstimates, confidence: float) -> SampleLine:
    """All groups against the first one; the test is of those that are told of."""
    places = range(len(ratios.values))
    there = [place for place in places if np.isfinite(ratios.values[place])]
    contrast = np.eye(len(there))[1:] - np.eye(len(there))[:1]
    with np.errstate(invalid="ignore"):  # some are infinite where the rows do not tell how much they vary
        covariance = contrast @ ratios.covariance[np.ix_(there, there)] @ contrast.T
    freedom = int(ratios.degrees_of_freedom[there].min()) if there else 0
    return SampleLine(
        index,
        tuple(pick_estimate(ratios, place, confidence) for place in places),
        tuple(pick_difference(ratios, 0, place, confidence) for place in places[1:]),
        tuple(
            None if index is None else pick_odds_ratio(ratios, 0, place, confidence) for place in places[1:]
        ),
        compare_with_zero(contrast @ ratios.values[there], covariance, freedom),
    )
