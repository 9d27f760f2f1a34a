"""`python -m server audit`: every claim of the privacy library on trial, beside published ones that fail."""

import json
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import click

from server.cli.worker_ends import watch_parent

if TYPE_CHECKING:
    from server.privacy.auditing.cases import Verdict


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def audit(ctx: click.Context, as_json: bool) -> None:
    """Audit every mechanism that can be run here, and published ones that are known to be wrong.

    Ends with exit status 1 if a shipped mechanism loses more than it claims, if its trial could not have
    certified 1.3 times the claim, if something that can be run is not in the table, or if a wrong
    mechanism is not caught.
    """
    # Imported here: it brings every mechanism with it, which no other command needs.
    from server.releases.claims.registered_functions import find_missing
    from server.releases.claims.whole_audit import cases, judge_all

    tried = cases()
    verdicts: list[Verdict] = []
    with click.progressbar(
        judge_all(begin=watch_parent), length=len(tried), label="Auditing", file=sys.stderr
    ) as bar:
        verdicts.extend(bar)
    if as_json:
        rows = json.dumps([_row(verdict) for verdict in verdicts], ensure_ascii=False, indent=2)
        # JSON has no infinity, but a number too large for a float is read as one.
        for name in ("certified_epsilon", "detectable"):
            rows = rows.replace(f'"{name}": Infinity', f'"{name}": 1e999')
        click.echo(rows)
    else:
        _print(verdicts)
    lacking = find_missing(tried)
    for name in lacking:
        click.echo(f"Not in the table: {name}", err=True)
    if lacking or not all(verdict.as_it_should_be for verdict in verdicts):
        ctx.exit(1)


def _row(verdict: "Verdict") -> dict[str, Any]:
    return {
        "mechanism": verdict.mechanism,
        "claimed_epsilon": verdict.claimed_epsilon,
        "certified_epsilon": verdict.certified_epsilon,
        "detectable": verdict.detectable,
        "event": verdict.event,
        "shipped": verdict.shipped,
        "verdict": verdict.verdict,
    }


def _print(verdicts: "list[Verdict]") -> None:
    width = max(len(verdict.mechanism) for verdict in verdicts)
    for shipped, title in ((True, "Shipped"), (False, "Published, and wrong")):
        chosen = [verdict for verdict in verdicts if verdict.shipped is shipped]
        click.echo(f"{title:{width}}  claimed  certified  detectable  verdict          event")
        for verdict in chosen:
            event = textwrap.shorten(verdict.event, 90, placeholder=" ...")
            click.echo(
                f"{verdict.mechanism:{width}}  {verdict.claimed_epsilon:7.4f}  "
                f"{verdict.certified_epsilon:9.4f}  {verdict.detectable:10.4f}  {verdict.verdict:15}  {event}"
            )
        good = sum(verdict.as_it_should_be for verdict in chosen)
        click.echo(f"{good} of {len(chosen)} {'not refuted' if shipped else 'caught'}.\n")
    click.echo(
        "Certified: the loss itself where it is computed (detectable: inf), else a lower bound that is wrong with "
        "probability 1e-8 (1e-6 over the whole table).\n"
        "Detectable: the largest loss that could have been certified. What is not refuted is not proved."
    )
