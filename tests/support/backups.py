"""Backups of made-up studies: written, restored, cut and changed by the command line.

They are encrypted to a key, as opening one by a passphrase takes seconds of the processor on purpose. What passphrases
do is tested by themselves (`tests/test_backups.py`).
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyrage
import sqlalchemy as sa
from click.testing import CliRunner, Result

from server.cli import main
from server.store.engines import make_engine
from tests.support import factories

PASSPHRASE = "correct horse battery"
KEY = pyrage.x25519.Identity.generate()
ANEW = {
    "revisions",
    "sign_ins",
    "sign_in_links",
    "colleague_invitations",
    "api_tokens",
    "kept_replies",
    "failed_attempts",
}
"""Tables that no backup has."""


def run_with(url: str, *arguments: str, passphrase: str = PASSPHRASE) -> Result:
    """A command with a passphrase in its environment."""
    settings = {"DATABASE_URL": url, "MONEDA_BACKUP_PASSPHRASE": passphrase}
    return CliRunner(env=settings).invoke(main, arguments)


def back_up(url: str, file: Path, *options: str) -> Result:
    """Write a backup, which must go well; `key_of` opens it, unless it was encrypted to another key."""
    done = run_with(url, "backup", str(file), "--recipient", str(KEY.to_public()), *options)
    assert done.exit_code == 0, done.output
    return done


def key_of(file: Path) -> tuple[str, str]:
    """The option that opens a backup of `back_up`: its key is written beside it."""
    beside = file.with_name(f"{file.name}.key")
    beside.write_text(str(KEY))
    return "--identity", str(beside)


def restore(url: str, file: Path, *options: str) -> Result:
    """Restore a backup of `back_up`, or one that other `options` open, which must go well."""
    done = run_with(url, "restore", str(file), *(options or key_of(file)))
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


def is_untouched(url: str) -> bool:
    """Whether there is still nothing."""
    if url.startswith("sqlite"):
        return not Path(url.removeprefix("sqlite:///")).exists()
    engine = make_engine(url)
    tables = sa.inspect(engine).get_table_names()
    engine.dispose()
    return tables == []


def rows_of(url: str) -> dict[str, Any]:
    """Every row, but for what each database makes anew."""
    return {name: rows for name, rows in factories.dump(url).items() if name not in ANEW}
