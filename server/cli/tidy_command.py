"""`python -m server tidy`: what a study leaves behind in the files is taken away."""

import click

from server import archives
from server.cli.common import JSON, database_session, print_document
from server.collect import tidying
from server.config import from_environment
from server.store.engines import make_engine
from server.study import surveys


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
    """Close surveys whose time is over, and tidy what was closed or deleted, or left by an import that died.

    A running server does the same by itself. What all surveys share is written anew here however long
    that takes; where it is very large, others wait meanwhile. Ends with exit status 1 if somebody kept
    reading or writing; try again later, or stop the server.
    """
    with database_session() as session:
        archives.give_up_late(session, surveys.now())
        tidying.close_over(session, surveys.now())
    reason = _tidy_or_explain(tidying.Patience(wait, holds_up=True))
    print_document({"finished": reason is None, "reason": reason}, as_json)
    if reason is not None:
        ctx.exit(1)


def tidy_after(what: str) -> None:
    """Tidy at the end of another command, and say so where it could not be done."""
    reason = _tidy_or_explain(tidying.Patience(tidying.LONG_PATIENCE))
    if reason is not None:
        click.echo(
            f"{what}, but the stored files still tell in which order responses came: {reason}. "
            "A running server tries again by itself; without one, run `python -m server tidy`.",
            err=True,
        )


def _tidy_or_explain(patience: tidying.Patience) -> str | None:
    """Tidy; why that was not finished, or None."""
    engine = make_engine(from_environment().database_url)
    try:
        tidying.tidy(engine, patience)
    except tidying.UnfinishedError as error:
        return str(error)
    finally:
        engine.dispose()
    return None
