"""`python -m server`: much of what the pages do, and what only an operator does.

Commands that report something print a table, or JSON with `--json`. Bad input ends with exit status 2 and
a message that names what was wrong.
"""

import ast
from importlib import import_module
from importlib.resources import files
from typing import Any, Final

import click

from server import __version__

MODULES: Final = {
    "serve": "serve_commands",
    "demo": "serve_commands",
    "survey": "survey_commands",
    "simulate": "survey_commands",
    "estimate": "estimate_command",
    "analyse": "analyse_command",
    "plan": "plan_command",
    "release": "release_command",
    "report": "report_command",
    "archive": "archive_command",
    "audit": "audit_command",
    "tidy": "tidy_command",
    "recount": "recount_command",
    "vouch": "vouch_command",
    "check": "check_command",
    "rotate-key": "rotate_key_command",
    "backup": "backup_commands",
    "restore": "backup_commands",
    "user": "user_commands",
    "manifest": "manifest_commands",
    "signing-key": "manifest_commands",
    "verify": "verify_command",
}
"""Where each command is. A command loads what it needs, and nothing of the others."""


class _Commands(click.Group):
    """Loads a command when it is called; turns what the layers below refuse into a usage error.

    That is a message and exit status 2, without a traceback.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODULES:
            return None
        command = getattr(import_module(f"server.cli.{MODULES[cmd_name]}"), cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List them without loading any: together they take seconds."""
        commands = [click.Command(name, help=_read_help(name)) for name in MODULES]
        room = formatter.width - 6 - max(map(len, MODULES))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(str(command.name), command.get_short_help_str(room)) for command in commands]
            )

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ValueError as error:
            raise click.UsageError(str(error)) from error
        except click.ClickException:
            raise
        except Exception as error:
            # Imported here: most commands get by without a database.
            from server.config import OTHER_LISTS, find_missing_package
            from server.store.failures import find_failure
            from server.web.database_start import UnusableError

            if isinstance(error, UnusableError):
                raise _Unusable(str(error)) from error
            missing = find_missing_package(error)
            if missing is not None:
                listed = OTHER_LISTS.get(missing, "requirements.txt")
                raise _Unusable(
                    f"this needs {missing}, which is not installed; install what {listed} lists"
                ) from error
            failure = find_failure(error)
            if failure is None:
                raise
            raise _Unusable(f"{failure.value}; look what was done before you run this again") from error


def _read_help(name: str) -> str | None:
    """What a command says of itself, from its source."""
    source = files(__name__).joinpath(f"{MODULES[name]}.py").read_text(encoding="utf-8")
    function = name.replace("-", "_")
    for found in ast.parse(source).body:
        if isinstance(found, ast.FunctionDef) and found.name == function:
            return ast.get_docstring(found)
    raise AssertionError(f"{MODULES[name]} has no function {function}")


class _Unusable(click.ClickException):
    """One line on standard error, and the exit status of what cannot be used."""

    exit_code = 2


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="Moneda")
def main() -> None:
    """Moneda: surveys whose answers are randomised before they are sent."""
