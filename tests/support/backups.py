"""Backups of made-up studies: written, restored, cut and changed by the command line."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from server.cli import main
from tests.support import factories

PASSPHRASE = "correct horse battery"
ANEW = {"revisions", "sign_ins", "sign_in_links", "colleague_invitations", "api_tokens", "kept_replies"}
"""Tables that no backup has."""


def run_with(url: str, *arguments: str, passphrase: str = PASSPHRASE) -> Result:
    """A command with a passphrase in its environment."""
    settings = {"DATABASE_URL": url, "MONEDA_BACKUP_PASSPHRASE": passphrase}
    return CliRunner(env=settings).invoke(main, arguments)


def back_up(url: str, file: Path, *options: str) -> Result:
    """Write a backup, which must go well."""
    done = run_with(url, "backup", str(file), *options)
    assert done.exit_code == 0, done.output
    return done


def restore(url: str, file: Path, *options: str) -> Result:
    """Restore a backup, which must go well."""
    done = run_with(url, "restore", str(file), *options)
    assert done.exit_code == 0, done.output
    return done


def start(url: str, *arguments: str, code: str = "") -> subprocess.Popen[str]:
    """A command in a process of its own, which a test may end; begun by `code` if there is some."""
    environment = factories.environment(url, MONEDA_BACKUP_PASSPHRASE=PASSPHRASE)
    begun = ["-c", code] if code else ["-m", "server"]
    return subprocess.Popen(
        [sys.executable, *begun, *arguments],
        cwd=factories.ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def beside(url: str) -> set[str]:
    """The files of a SQLite database and all that stands beside it under its name."""
    path = Path(url.removeprefix("sqlite:///"))
    return {name.removeprefix(path.name) for name in os.listdir(path.parent) if name.startswith(path.name)}


def rows_of(url: str) -> dict[str, Any]:
    """Every row, but for what each database makes anew."""
    return {name: rows for name, rows in factories.dump(url).items() if name not in ANEW}
