"""A table from elsewhere with its study file -> the `Report` that it would give had it been collected here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from server.collect.tallies import Tally, count_cells
from server.collect.waves import Wave, WaveQuestion, places_of, same_question
from server.inputs import N_, refuse
from server.inputs.csv_rows import ReportProgress, report_no_progress
from server.privacy.estimators.sample_designs import SampleDesign
from server.reports.elsewhere.foreign_table import ForeignTable, read_foreign_table
from server.reports.elsewhere.model_estimates import estimate_models
from server.reports.elsewhere.models.model_parts import FittedModel
from server.reports.elsewhere.sample_estimates import SampleReport, estimate_sample
from server.reports.elsewhere.sample_tables import Comparable
from server.reports.elsewhere.study_file import StudyFile
from server.reports.estimate_values import QuestionReport
from server.reports.question_estimates import estimate_question, post_stratified
from server.reports.report import Report
from server.study import surveys
from server.study.smallest_group import Unseen

CONFIDENCE = 0.95
MOST_WEIGHTS = 200
"""Different weights: rows of one weight are a stratum of the estimates."""


@dataclass(frozen=True, eq=False)
class ForeignData:
    """What was read, and the report on it. Nothing of it is stored."""

    study: StudyFile
    table: ForeignTable
    report: Report
    sample: SampleReport | None
    models: tuple[FittedModel, ...]

    @property
    def has_questions(self) -> bool:
        """Whether there are questions, estimated by their designs; else there are models alone."""
        return bool(self.report.questions)


def read_foreign_data(
    file: IO[bytes], study: StudyFile, report_progress: ReportProgress = report_no_progress
) -> ForeignData:
    """Read a table and estimate what it says.

    Raises
    ------
    InputError
        Naming the row, the column, what may be there, and what is.
    """
    table = read_foreign_table(file, study, report_progress)
    report = _report(study, table)
    sample = None
    if study.sampling is not None:
        questions = [same_question(question.name, report.waves) for question in study.definition.questions]
        known = Comparable(study.covariates, study.nodes, questions, report.waves)
        sample = estimate_sample(study.sampling, table, known, CONFIDENCE)
    drawn = None if table.weights is None else SampleDesign(table.weights)
    if sample is not None:
        drawn = sample.drawn.design
    cells = report.weigh(report.waves) if study.models else None
    counted = None
    if cells is not None:
        cell_of = cells.cell_of[table.place]
        counted = cell_of < len(cells.shares)
        drawn = _draw_from_strata(cell_of[counted], cells.shares)
    models = estimate_models(study.models, table, drawn, CONFIDENCE, counted)
    return ForeignData(study, table, report, sample, models)


def _report(study: StudyFile, table: ForeignTable) -> Report:
    strata = places_of(study.nodes)
    places, shares = table.place, None
    if table.weights is not None:
        places, shares = _group_weights(table.weights, str(study.weights))
        strata = [None] * len(shares)
    waves = tuple(_wave(study, table, number, strata, places) for number in study.definitions)
    questions = [same_question(question.name, waves) for question in study.definition.questions]
    today = surveys.today()
    return Report(
        definition=study.definition,
        slug="elsewhere",
        version_number=waves[0].number,
        version=study.sha256,
        published_on=today,
        made_on=today,
        simulated=False,
        confidence=CONFIDENCE,
        minimum=1,
        withheld=False,
        unseen=Unseen(0, 0, 0),
        pooled=True,
        waves=waves,
        unweighted=tuple(estimate_question(each, range(len(strata)), CONFIDENCE) for each in questions),
        nodes=study.nodes if shares is None else (),
        days=(),
        left_out=(),
        without_left_out=False,
        merged=False,
        incomplete=False,
        populations_since=study.populations_since,
        admissions=(),
        stated_hidden=frozenset(),
        by_row=None if shares is None else tuple(_estimate_by_weight(each, shares) for each in questions),
    )


def _draw_from_strata(cell_of: NDArray[np.int64], shares: NDArray[np.float64]) -> SampleDesign:
    """Rows of strata that count by their populations: as in the estimates, how many each has of them is known."""
    sizes = np.bincount(cell_of, minlength=len(shares))
    return SampleDesign((shares / sizes * len(cell_of))[cell_of], strata=cell_of)


def _estimate_by_weight(
    question_versions: Sequence[WaveQuestion], shares: NDArray[np.float64]
) -> QuestionReport:
    """A question whose rows of one weight are a part; of versions that did not ask it nothing counts."""
    own = np.where(np.sum([one.wave.sizes for one in question_versions], axis=0) > 0, shares, 0.0)
    parts = [[place] for place in range(len(shares))]
    return post_stratified(
        question_versions, parts, (own / own.sum()).tolist(), CONFIDENCE, one_partition=False
    )


def _group_weights(
    weights: NDArray[np.float64], column: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The place of each row among the different weights, and what all rows of each count together."""
    different, places = np.unique(weights, return_inverse=True)
    if len(different) > MOST_WEIGHTS:
        template = N_(
            "must have at most %(limit)s different numbers; it has %(length)d. Round them to groups"
        )
        raise refuse(422, f"data.{column}", template, limit=MOST_WEIGHTS, length=len(different))
    sizes = np.bincount(places)
    if len(different) > 1 and sizes.min() < 2:
        template = N_(
            "must hold each number in two rows or more; %(value)s stands once. Round them to groups"
        )
        raise refuse(422, f"data.{column}", template, value=f"{different[sizes.argmin()]:g}")
    masses = different * sizes
    return places.astype(np.int64), masses / masses.sum()


def _wave(
    study: StudyFile,
    table: ForeignTable,
    number: int,
    strata: Sequence[int | None],
    places: NDArray[np.int64],
) -> Wave:
    definition = study.definitions[number]
    own = table.version == number
    at = places[own]
    patterns = table.patterns(definition, own)
    ones = np.ones(len(at), np.int64)
    margins = [
        count_cells(at * reports + patterns[:, byte], ones, len(strata) * reports).reshape(-1, reports)
        for byte, design in enumerate(definition.designs)
        for reports in (design.weights.shape[1],)
    ]

    def pieces() -> Iterator[tuple[int, Tally]]:
        for place in np.unique(at).tolist():
            yield place, Tally(patterns[at == place], ones[at == place])

    return Wave(
        number,
        definition,
        strata,
        np.concatenate(margins, axis=1) if margins else np.zeros((len(strata), 0), np.int64),
        count_cells(at, ones, len(strata)),
        pieces,
    )
