"""`python -m server`: everything the pages do, and what only an operator does.

Every command prints a table, or JSON with `--json`. Bad input ends with exit status 2 and
a message that names what was wrong.
"""

from typing import Any

import click

from server import __version__
from server.cli.auditing import audit
from server.cli.estimating import estimate
from server.cli.planning import plan
from server.cli.releasing import release
from server.cli.reporting import report
from server.cli.running import demo, serve
from server.cli.surveys import simulate, survey
from server.cli.tidying import tidy
from server.cli.users import user


class _Commands(click.Group):
    """Turns what the layers below refuse into a usage error: a message, exit status 2, no traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ValueError as error:
            raise click.UsageError(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="Moneda")
def main() -> None:
    """Moneda: surveys whose answers are randomised in the respondent's own browser."""


for command in (serve, demo, survey, simulate, estimate, plan, release, report, audit, tidy, user):
    main.add_command(command)
