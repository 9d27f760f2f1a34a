"""`python -m server estimate`: from counts of reports, or archive folders, to shares and means, without a database."""

from pathlib import Path

import click
from click.core import ParameterSource

from server import reports
from server.archives.folders import ENGINES
from server.cli.archive_command import print_archives
from server.cli.common import (
    JSON,
    print_document,
    print_table,
    require_beside,
    require_survey,
    snapshot_session,
)
from server.cli.comparison_output import COMPARE, SURVEYS, print_comparison, print_surveys
from server.cli.described_design import MECHANISMS, describe_design
from server.cli.explain_output import BY, EXPLAIN, print_explanation
from server.cli.report_writers import ReportRequest
from server.cli.result_output import mean_cells, share_cells
from server.output.formatting import level
from server.output.languages import DEFAULT_LANGUAGE
from server.privacy.designs import Design, round_up
from server.privacy.estimators import (
    INTERVALS,
    SMALL,
    AnsweredMeanEstimate,
    MeanEstimate,
    ShareEstimate,
    estimate_answered_mean,
    estimate_mean,
    estimate_shares,
    impossible_share_test,
)
from server.reports.chosen_strata import compare_chosen
from server.reports.comparison_values import comparison_json
from server.reports.explaining import explain_answer, explanation_json, of_report, write_p
from server.reports.survey_values import surveys_json

BY_SIZE = "by_size"
"""The interval that a survey's report shows."""

_NEEDS = (
    ("options", "mechanism"),
    ("epsilon", "mechanism"),
    ("engine", "folders"),
    ("master", "folders"),
    ("refusals", "low"),
)
"""Options that would change nothing without another."""


@click.command()
@click.argument("slug", required=False)
@EXPLAIN
@BY
@COMPARE
@SURVEYS
@click.option("--gamma", type=float, help="Of the coin flip, in (0, 1/2).")
@click.option("--mechanism", type=click.Choice(list(MECHANISMS)), help="Instead of --gamma, with --epsilon.")
@click.option("--options", type=int, default=2, show_default=True, help="Of k_ary and ordinal.")
@click.option("--epsilon", type=float, help="Privacy loss of the answer, in nats.")
@click.option(
    "--design",
    "matrix",
    metavar="FILE|JSON",
    help="Instead of --gamma: a row for each truth, of chances or of weights out of 2^32.",
)
@click.option("--counts", metavar="NO,YES", help="Reports received, one number for each report.")
@click.option(
    "--archive",
    "folders",
    multiple=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Instead: every survey in this folder, which `archive` has written; repeatable.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    show_default=True,
    help="What counts the folders of --archive.",
)
@click.option(
    "--master",
    metavar="MASTER",
    help="Where --engine spark runs: local[N], or spark://HOST:PORT of a cluster.",
)
@click.option("--low", type=float, help="What the first answer stands for: estimates a mean, too.")
@click.option("--high", type=float, help="What the last answer stands for.")
@click.option(
    "--prefer-not-to-say", "refusals", is_flag=True, help="The very last answer stands for no number."
)
@click.option("--confidence", default=0.95, show_default=True)
@click.option(
    "--interval",
    type=click.Choice((BY_SIZE, *INTERVALS)),
    default=BY_SIZE,
    show_default=True,
    help=f"by_size: exact of fewer than {SMALL} reports, as in a survey's report; else wilson.",
)
@JSON
def estimate(
    slug: str | None,
    answer: str | None,
    by: tuple[str, ...],
    strata: tuple[tuple[str, str, str], ...],
    surveys: tuple[tuple[str, str], ...],
    gamma: float | None,
    mechanism: str | None,
    options: int,
    epsilon: float | None,
    matrix: str | None,
    counts: str | None,
    folders: tuple[Path, ...],
    engine: str,
    master: str | None,
    low: float | None,
    high: float | None,
    refusals: bool,
    confidence: float,
    interval: str,
    as_json: bool,
) -> None:
    """Estimate true shares from counts of reports, or of the surveys in archive folders, without a database.

    With the SLUG of a survey, --explain an answer of it by others, or by the strata, or --compare two strata; or a
    question in other --surveys, too.
    """
    if slug is not None:
        _explain_or_compare(slug, answer, by, strata, surveys, as_json)
        return
    if answer is not None or by or strata or surveys:
        raise click.UsageError(
            "--explain, --by, --compare and --surveys need the SLUG of a survey; it is missing"
        )
    if folders:
        _refuse_counts(click.get_current_context(), ("folders", "engine", "master"), "--archive")
        print_archives(folders, engine, master, as_json)
        return
    if counts is None:
        raise click.UsageError("--counts or --archive must be given; both are missing")
    for name, needed in _NEEDS:
        require_beside(click.get_current_context(), name, needed)
    design = describe_design(gamma, mechanism, options, epsilon, matrix)
    numbers = _counts(counts, design)
    if interval == BY_SIZE:
        interval = "exact" if sum(numbers) < SMALL else "wilson"
    share_estimate = estimate_shares(numbers, design, confidence, interval)
    mean: MeanEstimate | AnsweredMeanEstimate | None = None
    if low is not None or high is not None:
        if low is None or high is None:
            raise click.UsageError("--low and --high must be given together; one is missing")
        estimator = estimate_answered_mean if refusals else estimate_mean
        mean = estimator(numbers, design, low, high, confidence, interval)
    result = {**reports.estimate_json(share_estimate), "epsilon": design.epsilon}
    if mean is not None:
        result["mean"] = reports.mean_json(mean)
    if as_json:
        print_document(result, as_json)
        return
    heading = f"{level(confidence, 'en')}% interval ({interval})"
    _print_estimates(numbers, design, share_estimate, mean, heading)


def _print_estimates(
    numbers: list[int],
    design: Design,
    estimate: ShareEstimate,
    mean: MeanEstimate | AnsweredMeanEstimate | None,
    heading: str,
) -> None:
    answers = (
        ["no", "yes"] if design.weights.shape == (2, 2) else [f"{k + 1}" for k in range(len(estimate.shares))]
    )
    rows = [
        [answer, *_repeat_report(numbers, k), *share_cells(estimate, k)] for k, answer in enumerate(answers)
    ]
    rows += [] if mean is None else [["(mean)", "-", *mean_cells(mean)]]
    print_table(["answer", "reported", "estimate", "standard error", heading], rows)
    click.echo(f"n = {estimate.n}, epsilon = {round_up(design.epsilon)}. {design.odds_label()}")
    if estimate.impossible:
        p_value = impossible_share_test(numbers, design)
        chance = "chance may have it so" if p_value >= reports.UNLIKELY else "chance hardly explains it"
        click.echo(
            f"Outside 0 to 1: no true shares give such reports in expectation; {chance} ({write_p(p_value)})."
        )


def _explain_or_compare(
    slug: str,
    answer: str | None,
    by: tuple[str, ...],
    strata: tuple[tuple[str, str, str], ...],
    beside: tuple[tuple[str, str], ...],
    as_json: bool,
) -> None:
    """What an answer of a survey goes with, or how strata or surveys differ, of the responses that reports show."""
    _refuse_counts(click.get_current_context(), ("slug", "answer", "by", "strata", "surveys"), "a SLUG")
    if [answer is not None, bool(strata), bool(beside)].count(True) != 1 or (by and answer is None):
        raise click.UsageError(
            "--explain, with --by, or --compare or --surveys must be given with a SLUG: one of the three"
        )
    with snapshot_session() as session:
        made = reports.read(session, require_survey(session, slug))
        reports.require_shown(made)
        if beside:
            wanted = ReportRequest(None, DEFAULT_LANGUAGE, None, (), None, (), surveys=beside)
            across = wanted.compare_surveys(session, made)
            if as_json:
                print_document({"survey_comparisons": [surveys_json(one) for one in across]}, as_json)
                return
            for several in across:
                print_surveys(several)
            return
        if answer is None:
            compared = [compare_chosen(made, *asked, anytime=False) for asked in strata]
            if as_json:
                print_document({"comparisons": [comparison_json(one) for one in compared]}, as_json)
                return
            for found in compared:
                print_comparison(found)
            return
        explained = explain_answer(of_report(made), answer, by)
    if as_json:
        print_document(explanation_json(explained), as_json)
        return
    print_explanation(explained)


def _refuse_counts(context: click.Context, beside: tuple[str, ...], given: str) -> None:
    """Beside --archive, or a survey, stands nothing that is about counts."""
    for parameter in context.command.params:
        if parameter.name in (*beside, "as_json"):
            continue
        if context.get_parameter_source(str(parameter.name)) == ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} must not be given with {given}")


def _counts(text: str, design: Design) -> list[int]:
    try:
        return [int(count) for count in text.split(",")]
    except ValueError:
        reports_possible = design.weights.shape[1]
        wanted = "two whole numbers, NO,YES" if reports_possible == 2 else f"{reports_possible} whole numbers"
        raise click.BadParameter(f"must be {wanted}; it is {text!r}") from None


def _repeat_report(numbers: list[int], code: int) -> list[str]:
    """How often the report of the same number came; a design may have other reports than truths."""
    return [str(numbers[code]) if code < len(numbers) else "-"]
