"""`python -m server rotate-key`: what the database has sealed gets a new key."""

import click

from server.cli.common import JSON, existing_session, print_document
from server.config import secrets_key
from server.people.resealing import reseal
from server.store.sealed_secrets import LostKeyError


@click.command("rotate-key")
@JSON
def rotate_key(as_json: bool) -> None:
    """Seal the secrets of researchers' apps for codes and of webhooks under a new key, and forget the old one.

    Those of the one database that DATABASE_URL names: what another has sealed under the same file is lost.
    """
    with existing_session(writes=True) as session:
        try:
            number = reseal(session)
        except LostKeyError as error:
            raise click.UsageError(f"{error}; nothing was changed") from error
        except OSError as error:
            raise click.UsageError(
                f"{secrets_key()} must be a file that can be written: {error.strerror}"
            ) from error
    if not number:
        raise click.UsageError(
            f"this database has sealed nothing, so {secrets_key()} is left as it is; does DATABASE_URL name the right "
            "one?"
        )
    print_document({"key": str(secrets_key()), "sealed": number}, as_json)
