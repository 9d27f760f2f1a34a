"""`python -m server release`: central releases of a survey, or of a table that is not one."""

from decimal import Decimal
from pathlib import Path
from typing import IO, Any

import click

from server import releases
from server.cli.common import (
    JSON,
    check_file_name,
    database_session,
    print_document,
    require_survey,
    survey_to_change,
)
from server.cli.release_output import (
    announce_work,
    ask_agreement,
    costs_json,
    decode_plan,
    print_figures,
    print_ledger,
    print_nothing,
    print_priced,
)
from server.cli.table_release_command import BudgetPlace, TableFiles, release_from_table
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.people import change_log
from server.people.change_log import Action
from server.releases import Released
from server.releases.basis import load_basis
from server.releases.plans.plan_reader import ReleasePlan, format_decimal, parse_plan
from server.releases.pricing import cells_digest, price, require_cells
from server.reports.contents.figures import QuestionsByVersion
from server.reports.ledger_files import entry_json, ledger_json
from server.reports.table_release_files import DOCUMENT_ENDINGS

_BUDGET = ("budget_epsilon", "budget_delta", "neighbours")


@click.command()
@click.argument("slug", required=False)
@click.option(
    "--budget-epsilon", metavar="EPSILON", help="Set what all releases may lose, before the first one."
)
@click.option("--budget-delta", metavar="DELTA", help="Failure probability of the budget; 0 without it.")
@click.option(
    "--neighbours",
    type=click.Choice(["unbounded", "bounded"]),
    help="Of the budget: a response is added or removed (unbounded), or says something else.",
)
@click.option(
    "--declare",
    metavar="EPSILON",
    help="Book what was spent where the database cannot know it, as after a backup was restored; 0 for nothing.",
)
@click.option("--declare-delta", metavar="DELTA", help="The delta of what is declared; 0 without it.")
@click.option("--plan", type=click.File("rb"), help="What to release (JSON; - for standard input).")
@click.option(
    "--data",
    type=click.File("rb"),
    help="Release from this table (CSV) instead of a survey; the plan declares its columns.",
)
@click.option(
    "--yes", is_flag=True, help="Release it; without this, only the costs are printed, or you are asked."
)
@click.option(
    "--output",
    "outputs",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="Write what was released from a table into this new file: a document with figures where it ends in "
    f"{', '.join(DOCUMENT_ENDINGS)}, else JSON. Repeatable.",
)
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    default=DEFAULT_LANGUAGE,
    show_default=True,
    help="Of the documents.",
)
@click.option(
    "--ledger",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the budget of the table in this file; with --budget-epsilon where there is none yet.",
)
@JSON
def release(
    slug: str | None,
    declare: str | None,
    declare_delta: str | None,
    plan: IO[bytes] | None,
    data: IO[bytes] | None,
    yes: bool,
    outputs: tuple[Path, ...],
    language: str,
    ledger: Path | None,
    as_json: bool,
    **budget: str | None,
) -> None:
    """Print what was released of a survey and what is left of its budget; set the budget; release more.

    With --plan, the costs and expected errors are printed before anything is spent. With --data
    and --ledger, what a run loses is added up in that file, and checked against its budget before a number is
    printed; without --ledger nothing is stored, and nothing adds up the runs.
    """
    given = [name for name in _BUDGET if budget[name] is not None]
    if data is not None and (declare is not None or declare_delta is not None):
        raise click.UsageError("--declare needs SLUG; the runs of a table are in its --ledger")
    if (slug is None) == (data is None):
        raise click.UsageError("either SLUG or --data must be given, and not both")
    if ledger is not None and data is None:
        raise click.UsageError("--ledger needs --data; the ledger of a survey is kept with it")
    of_table = data is not None and ledger is not None and "neighbours" not in given
    if given and not of_table and (plan is not None or data is not None):
        other = "--plan" if plan is not None else "--data"
        raise click.UsageError(f"--{given[0].replace('_', '-')} must not be given with {other}")
    if data is not None:
        if ledger is not None:
            check_file_name(ledger, "--ledger")
        # One ledger, by whatever link it is named: else each link would become a ledger of its own.
        path = None if ledger is None else ledger.resolve()
        kept = BudgetPlace(path, budget["budget_epsilon"], budget["budget_delta"])
        release_from_table(data, plan, yes, TableFiles(outputs, language), as_json, kept)
        return
    if outputs:
        raise click.UsageError("--output needs --data; what is released of a survey is kept with it")
    assert slug is not None
    if declare_delta is not None and declare is None:
        raise click.UsageError("--declare-delta needs --declare")
    if declare is not None:
        if given or plan is not None:
            raise click.UsageError("--declare must stand alone")
        _declare(slug, declare, declare_delta or "0")
    if plan is not None:
        _from_survey(slug, parse_plan(decode_plan(plan)), yes, as_json)
        return
    if given:
        _set_budget(slug, **budget)
    with database_session() as session:
        survey = require_survey(session, slug)
        found, questions = releases.read_ledger(session, survey), QuestionsByVersion.of_survey(survey)
    if as_json:
        print_document({"survey": slug, **ledger_json(found, names=True)}, as_json)
    else:
        print_ledger(found, questions)


def _set_budget(
    slug: str, budget_epsilon: str | None, budget_delta: str | None, neighbours: str | None
) -> None:
    if budget_epsilon is None:
        raise click.UsageError("--budget-epsilon must be given to set a budget; it is missing")
    with database_session() as session:
        found = survey_to_change(session, slug)
        made = releases.set_budget(
            session, found, budget_epsilon, budget_delta or "0", neighbours or "unbounded", None
        )
        change_log.record(session, None, Action.BUDGET_SET, found, epsilon=made.epsilon, delta=made.delta)


def _declare(slug: str, epsilon: str, delta: str) -> None:
    with database_session() as session:
        found = survey_to_change(session, slug)
        made = releases.declare_spent(session, found, epsilon, delta, None)
        change_log.record(session, None, Action.DECLARED, found, epsilon=made.entries[0].epsilon)


def _from_survey(slug: str, plan: ReleasePlan, yes: bool, as_json: bool) -> None:
    with database_session() as session:
        survey = require_survey(session, slug)
        basis = load_basis(session, survey)
        priced, questions = price(basis, plan), QuestionsByVersion.of_survey(survey)
        left = basis.ledger.left
        cells = "" if priced.paying is None else cells_digest(basis, priced.paying)
    # Asked between two transactions: nobody else has to wait for the answer.
    document: dict[str, Any] = {
        "survey": slug,
        "plan": costs_json(priced.expected.values()),
        "epsilon": float(priced.epsilon),
        "delta": float(priced.delta),
        "left": float(left),
    }
    if not as_json:
        print_priced(plan, priced, left)
    if priced.paying is not None and not ask_agreement(yes, as_json):
        print_nothing(document, as_json)
        return
    made = dict(priced.known)
    if priced.paying is not None:
        with announce_work("Releasing"):
            paid, left = _make(slug, priced.paying, cells)
        made |= dict(zip(priced.expected, paid, strict=True))
    released = [made[place] for place in sorted(made)]
    if as_json:
        document |= {"left": float(left), "released": [entry_json(entry, names=True) for entry in released]}
        print_document(document, as_json)
    else:
        print_figures(released, questions)
        click.echo(f"Left of the budget: epsilon {format_decimal(left)}.")


def _make(slug: str, plan: ReleasePlan, cells: str) -> tuple[tuple[Released, ...], Decimal]:
    """Pay for a plan; what was released, and what is left of the budget."""
    with database_session() as session:
        survey = survey_to_change(session, slug)
        basis = load_basis(session, survey)
        require_cells(basis, plan, cells)
        made = releases.make(session, survey, plan, None, basis)
        after = releases.read_ledger(session, survey)
        new = after.released[len(basis.asked) :]
        if new:
            spent = format_decimal(after.spent.epsilon - basis.ledger.spent.epsilon)
            change_log.record(session, None, Action.RELEASED, survey, number=new[0].release, epsilon=spent)
    return made, after.left
