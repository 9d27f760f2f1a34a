"""Write all that the database holds into an encrypted file, look whether one is whole, and make a database of it."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click
import sqlalchemy as sa

from server.archives import backups
from server.cli.common import JSON, check_file_name, print_document
from server.collect.withdrawal_lists import Withdrawals, read_lists
from server.config import backup_passphrase, from_environment, marks_folder
from server.store.private_files import open_new
from server.web.database_start import check_address, open_existing

IDENTITY = click.option(
    "--identity",
    type=click.Path(exists=True, dir_okay=False),
    help="The file with the private key (age), if it was encrypted to a public one.",
)
FILE = click.argument("file", type=click.Path(dir_okay=False))


@click.command()
@FILE
@click.option(
    "--verify", is_flag=True, help="Write nothing: read FILE to its end and hold it against its hashes."
)
@click.option(
    "--recipient", metavar="KEY", help="Encrypt to this public key (age1...) and not to a passphrase."
)
@IDENTITY
@click.option(
    "--without-running",
    is_flag=True,
    help="Leave out codes and what is not shown yet of surveys that take responses; they are closed in the copy.",
)
@JSON
def backup(
    file: str, verify: bool, recipient: str | None, identity: str | None, without_running: bool, as_json: bool
) -> None:
    """Write all that the database holds into a new file, encrypted, while the server runs.

    The passphrase is asked for, or taken from MONEDA_BACKUP_PASSPHRASE.
    """
    if verify:
        if recipient is not None or without_running:
            raise click.UsageError(
                "--verify writes nothing; --recipient and --without-running are for writing"
            )
        with _open(file) as opened:
            print_document(_describe(backups.verify_backup(opened, _unlock(identity))), as_json)
        return
    if identity is not None:
        raise click.UsageError("--identity opens a file; to write one, give a public key with --recipient")
    check_file_name(Path(file), "FILE")
    if os.path.lexists(file):
        raise click.UsageError(f"FILE must be a new file; {file!r} is there already")
    lock = backups.Lock(recipient=recipient) if recipient else backups.Lock(_ask_passphrase(new=True))
    engine = open_existing(from_environment().database_url)
    try:
        written = _write(engine, Path(file), lock, without_running)
    finally:
        engine.dispose()
    for line in _warnings(written.running, without_running):
        click.echo(line, err=True)
    document = {
        "file": file,
        "bytes": Path(file).stat().st_size,
        "surveys": written.rows.get("surveys", 0),
        "running": len(written.running),
        "rows": sum(written.rows.values()),
    }
    print_document(document, as_json)


@click.command()
@FILE
@IDENTITY
@click.option(
    "--withdrawals",
    "places",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="A list of what was taken back, or a folder of such lists (several times); by default those beside the new "
    "database and in data/, or the folder that MONEDA_MARKS names.",
)
@JSON
def restore(file: str, identity: str | None, places: tuple[Path, ...], as_json: bool) -> None:
    """Make a new database, the one that DATABASE_URL names, of a backup; nothing there is overwritten.

    The whole file is looked at before anything begins. Of surveys that were published nothing is released
    before their owners have declared what was spent since the backup was made. Responses that were taken back
    since are taken back again, where a list beside the database says so.
    """
    database_url = from_environment().database_url
    check_address(database_url)
    withdrawals = read_lists(places or _find_folders(database_url))
    if places and not withdrawals:
        raise click.UsageError("--withdrawals must name lists, or folders of files that end in .withdrawn")
    with _open(file) as opened:
        unlock = _unlock(identity)
        with _progress("Restoring rows") as report_progress:
            contents, replayed = backups.restore_backup(
                database_url, opened, unlock, withdrawals, report_progress
            )
    document = {**_describe(contents), "withdrawals": replayed}
    click.echo(
        f"Everything is as it was at {document['made_at']} (UTC), also what was changed since on purpose: passwords, "
        "recovery codes and roles are the old ones, who was shut out is let in, surveys that were closed take "
        "responses, codes that were used or withdrawn and tickets that were used let in, completion codes that were "
        "checked are good once more, and what was deleted is back. Change that before you let anybody in.",
        err=True,
    )
    click.echo(_say_replayed(withdrawals, replayed), err=True)
    print_document(document, as_json)


def _find_folders(database_url: str) -> list[Path]:
    """Where lists of what was taken back may be: beside the new database, and where those of other databases are."""
    url = sa.make_url(database_url)
    beside = [Path(str(url.database)).resolve().parent] if url.get_backend_name() == "sqlite" else []
    return [folder for folder in dict.fromkeys([*beside, marks_folder().resolve()]) if folder.is_dir()]


def _say_replayed(withdrawals: Withdrawals, replayed: int) -> str:
    if not withdrawals:
        return (
            "No list of what was taken back was there: responses that were taken back since the backup are back, and "
            "only who has a receipt can change that. If there is such a list (its name ends in .withdrawn), remove "
            "this database and restore again with --withdrawals."
        )
    return (
        f"Taken back again, as the lists say: {replayed}. Of surveys that were closed or deleted since the backup no "
        "list tells any more what was taken back."
    )


def _write(engine: sa.Engine, path: Path, lock: backups.Lock, without_running: bool) -> backups.BackupSummary:
    """Write it; if that fails, or is killed, there is no file of that name."""
    try:
        with open_new(path) as opened, _progress("Writing rows") as report_progress:
            written = backups.write_backup(
                engine,
                opened,
                lock,
                without_running=without_running,
                report_progress=lambda rows: report_progress(rows, 0),
            )
    except OSError as error:
        raise click.UsageError(
            f"FILE must be a new file that can be written; {str(path)!r}: {error.strerror}"
        ) from error
    return written


def _describe(contents: backups.Contents) -> dict[str, Any]:
    beginning = contents.beginning
    return {
        "software": beginning["software"],
        "made_at": beginning["made_at"],
        "revision": contents.revision,
        "surveys": len(beginning["surveys"]),
        "incomplete": len(beginning["incomplete"]),
        "rows": sum(contents.rows.values()),
    }


def _warnings(running: tuple[backups.Running, ...], without_running: bool) -> Iterator[str]:
    if not running:
        return
    names = ", ".join(each.slug for each in running)
    yield f"Still taking responses: {names}."
    yield (
        "Two copies of a running survey tell what arrived in between, and this one which responses were counted "
        "together. Keep as few as you can bear, and delete them when it is closed."
    )
    if without_running:
        yield "Its codes, and responses that are not shown yet, are left out; in the copy it is closed."
    elif any(each.invited for each in running):
        yield (
            "Whoever opens this one and knows the codes of a survey by invitation sees which of them were used. "
            "--without-running leaves out codes and what is not shown yet."
        )
    else:
        yield "--without-running leaves out what is not shown yet."


@contextmanager
def _open(file: str) -> Iterator[IO[bytes]]:
    try:
        opened = Path(file).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise click.UsageError(f"FILE must be a file that can be read; {file!r}: {error.strerror}") from error
    with opened:
        yield opened


def _unlock(identity: str | None) -> backups.Unlock:
    if identity is not None:
        return backups.Unlock(identity=Path(identity).read_text("utf-8", "replace"))
    return backups.Unlock(_ask_passphrase(new=False))


def _ask_passphrase(*, new: bool) -> str:
    given = backup_passphrase()
    if given is not None:
        try:
            given.encode()
        except UnicodeEncodeError:
            raise click.UsageError("MONEDA_BACKUP_PASSPHRASE must be text in UTF-8") from None
        return given
    if not sys.stdin.isatty():
        raise click.UsageError(
            "the passphrase is asked for on a terminal, and there is none; set MONEDA_BACKUP_PASSPHRASE"
        )
    typed: str = click.prompt("Passphrase of the backup", hide_input=True, confirmation_prompt=new, err=True)
    return typed


@contextmanager
def _progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A bar, or a number where it is not known how many there are."""
    with click.progressbar(length=1, label=label, file=sys.stderr, show_pos=True) as bar:

        def report_progress(done: int, of: int) -> None:
            bar.length = max(of, done + 1 if not of else 1)
            bar.update(done - bar.pos)

        yield report_progress
