"""`python -m server check`: the database is held against what must always be so."""

import json

import click
import sqlalchemy as sa

from server.archives import invariants
from server.cli.common import JSON, existing_session, print_table, show_steps
from server.store.engines import snapshot


@click.command()
@click.option("--quick", is_flag=True, help="Look at no row that respondents left behind, as at each start.")
@JSON
@click.pass_context
def check(ctx: click.Context, quick: bool, as_json: bool) -> None:
    """Hold the database against what must always be so, a line for each; status 1 when something is not.

    Nothing of it is changed, nor upgraded. Published versions have their hashes, the triggers that refuse changes
    are there, ledgers are within their budgets, rows refer to what is there, and responses are counted as they are
    stored.
    """
    by_name: dict[str, list[str]] = {name: [] for name in (invariants.QUICK if quick else invariants.FULL)}
    with existing_session(writes=False) as session, show_steps("Checking", len(by_name)) as begin:
        findings = invariants.find_broken(session, quick=quick, begin=begin)
    for finding in findings:
        by_name[finding.name].append(finding.problem)
    if as_json:
        click.echo(json.dumps([{"name": name, "problems": found} for name, found in by_name.items()]))
    else:
        lines = [[name, problem] for name, found in by_name.items() for problem in found or ["holds"]]
        print_table(["invariant", "result"], lines)
    if findings:
        ctx.exit(1)


def check_at_start(engine: sa.Engine) -> None:
    """Refuse to serve a database in which something does not hold that is quick to look at.

    Raises
    ------
    BrokenError
        Naming what, in one line.
    """
    with snapshot(engine) as session:
        findings = invariants.find_broken(session, quick=True)
    if findings:
        told = "; ".join(f"{each.name}: {each.problem}" for each in findings[:3])
        more = f" (and {len(findings) - 3} more)" if len(findings) > 3 else ""
        raise BrokenError(
            f"the database is not as it must be: {told}{more}; `python -m server check` says all of it"
        )


class BrokenError(click.ClickException):
    """One line on standard error."""

    exit_code = 2
