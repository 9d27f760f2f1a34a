"""Estimates from rows that count differently, as JSON: every number, null where there is none."""

from typing import Any

from server.output.formatting import finite
from server.privacy.estimators.sampled_ratios import WaldTest
from server.privacy.estimators.weighted_rows import WeightedEstimate, WeightedOddsRatio
from server.reports.elsewhere.sample_estimates import SampleReport, SampleRow
from server.reports.elsewhere.sample_margins import FittedMargin
from server.reports.elsewhere.sample_tables import SampleTable
from server.reports.elsewhere.sample_together import SampleTogether, list_sampled_rows
from server.reports.elsewhere.sampling import StatedReplicates
from server.study.definitions import Definition, Question


def sample_json(definition: Definition, sample_report: SampleReport) -> dict[str, Any]:
    """How rows were drawn, and what was estimated."""
    sampling, units = sample_report.sampling, sample_report.drawn.design.units
    clusters, strata = sample_report.clusters, sample_report.strata
    return {
        "weights": sampling.weights,
        "margins": [_margin_json(margin) for margin in sample_report.drawn.margins],
        "clusters": None if clusters is None else {"column": sampling.clusters, "count": clusters},
        "strata": None
        if strata is None
        else {"column": sampling.strata, "count": strata, "of_one": units.lonely},
        "population": sampling.population,
        "replicates": None
        if sampling.replicates is None
        else _replicates_json(sampling.replicates, sample_report),
        "raking_rounds": sample_report.drawn.rounds,
        "kish_design_effect": sample_report.kish,
        "estimates": [_row_json(row) for row in sample_report.rows],
        "tables": [_table_json(table) for table in sample_report.tables],
        "together": [_together_json(definition, each) for each in sample_report.together],
    }


def _together_json(definition: Definition, together: SampleTogether) -> dict[str, Any]:
    return {
        "questions": [side.question.name for side in together.sides],
        "texts": [side.question.text for side in together.sides],
        "versions": list(together.versions),
        "n": together.n,
        "rows": [row.as_json() for row in list_sampled_rows(definition, together)],
    }


def _margin_json(margin: FittedMargin) -> dict[str, Any]:
    stated = margin.margin
    crossed = len(stated.covariates) > 1
    return {
        **({"covariates": list(stated.covariates)} if crossed else {"covariate": stated.name}),
        "groups": [
            {
                "of": [list(cell) if crossed else cell[0] for cell in group],
                "share": share / stated.total,
            }
            for group, share in zip(stated.groups, stated.shares, strict=True)
        ],
        "shares_sum": stated.total,
        "taken_together": [list(own) for own in margin.together],
    }


def _replicates_json(replicate_plan: StatedReplicates, sample_report: SampleReport) -> dict[str, Any]:
    replicates = sample_report.drawn.design.replicates
    made = not replicate_plan.columns
    return {
        "kind": replicate_plan.kind,
        "made": made,
        "count": None if replicates is None else replicates.count,
        "seed": replicate_plan.seed if made and replicate_plan.kind == "bootstrap" else None,
    }


def _row_json(row: SampleRow) -> dict[str, Any]:
    return {
        "question": row.question.name,
        **_name_statistic(row.question, row.index),
        **_estimate_json(row.estimate),
    }


def _name_statistic(question: Question, index: int | None) -> dict[str, Any]:
    return {
        "answer": None if index is None else question.answers[index],
        "statistic": "mean" if index is None else "share",
    }


def _estimate_json(estimate: WeightedEstimate) -> dict[str, Any]:
    return {
        "n": estimate.n,
        "value": finite(estimate.value),
        "standard_error": finite(estimate.standard_error),
        "interval": [finite(limit) for limit in estimate.interval],
        "degrees_of_freedom": estimate.degrees_of_freedom,
        "design_effect": finite(estimate.design_effect),
        "effective_n": finite(estimate.effective_n),
    }


def _table_json(table: SampleTable) -> dict[str, Any]:
    return {
        "question": table.question.name,
        "by": table.by,
        "groups": [
            {"name": name, "share": _estimate_json(size)}
            for name, size in zip(table.names, table.sizes, strict=True)
        ],
        "lines": [
            {
                **_name_statistic(table.question, line.index),
                "groups": [_estimate_json(own) for own in line.groups],
                "differences": [_estimate_json(own) for own in line.differences],
                "odds_ratios": [None if own is None else _odds_json(own) for own in line.odds],
                "test": _test_json(line.test),
            }
            for line in table.lines
        ],
    }


def _odds_json(odds: WeightedOddsRatio) -> dict[str, Any]:
    return {
        "value": finite(odds.value),
        "log_standard_error": odds.log_error,
        "interval": [finite(limit) for limit in odds.interval],
        "degrees_of_freedom": odds.degrees_of_freedom,
    }


def _test_json(test: WaldTest) -> dict[str, Any]:
    return {
        "statistic": finite(test.statistic),
        "degrees_of_freedom": list(test.degrees_of_freedom),
        "p_value": finite(test.p_value),
    }
