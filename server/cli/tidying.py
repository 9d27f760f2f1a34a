"""`python -m server tidy`: what a study leaves behind in the files is taken away."""

import click

from server import surveys, tidying
from server.cli.common import JSON, database_session, print_document
from server.config import from_environment
from server.db import make_engine


@click.command()
@click.option(
    "--wait",
    default=tidying.LONG_PATIENCE,
    show_default=True,
    type=click.FloatRange(0, 3600),
    help="Seconds to wait for others who read or write.",
)
@JSON
@click.pass_context
def tidy(ctx: click.Context, wait: float, as_json: bool) -> None:
    """Close surveys whose time is over, and rewrite the stored files so that they tell of no order.

    Ends with exit status 1 if somebody kept reading or writing; try again later, or stop the server.
    """
    with database_session() as session:
        tidying.close_over(session, surveys.now())
    reason = _unfinished(wait)
    print_document({"finished": reason is None, "reason": reason}, as_json)
    if reason is not None:
        ctx.exit(1)


def _unfinished(wait: float) -> str | None:
    """Tidy; why that was not finished, or None."""
    engine = make_engine(from_environment().database_url)
    try:
        tidying.tidy(engine, wait)
    except tidying.UnfinishedError as error:
        return str(error)
    finally:
        engine.dispose()
    return None


def tidy_after(what: str) -> None:
    """Tidy at the end of another command, and say so where it could not be done."""
    reason = _unfinished(tidying.LONG_PATIENCE)
    if reason is not None:
        click.echo(
            f"{what}, but the stored files still tell in which order responses came: {reason}. "
            "Run `python -m server tidy` once nobody uses the database, or open any page as a researcher.",
            err=True,
        )
