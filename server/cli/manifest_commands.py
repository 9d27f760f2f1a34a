"""`python -m server manifest` and `signing-key`: what this release's pages are made of, and by whom that is signed."""

from pathlib import Path

import click

from server.cli.common import JSON, check_new_file, open_new_file, print_table
from server.web import manifest_signatures
from server.web.assets import read_assets
from server.web.page_manifest import make_manifest, write_manifest

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@JSON
@click.option("--output", type=FILE, help="Write the JSON into this new file.")
@click.option("--sign", type=FILE, help="Sign that file with this secret key, into another one beside it.")
def manifest(as_json: bool, output: Path | None, sign: Path | None) -> None:
    """Print the SHA-256 of each file that this release's pages are made of.

    With --json the very bytes that a server of this release has at /client/manifest.json, on any machine.
    """
    made = make_manifest(read_assets())
    content = write_manifest(made)
    if sign is not None and output is None:
        raise click.UsageError("--sign needs --output, the file to sign")
    if output is not None:
        if sign is not None:
            signed_file = output.with_name(output.name + manifest_signatures.ENDING)
            for path in (output, signed_file):  # before anybody types a passphrase
                check_new_file(path, "--output")
            passphrase = click.prompt("Passphrase", hide_input=True, err=True)
            comment = f"Moneda {made['version']}, files {made['fingerprint']}"
            signature = manifest_signatures.sign(content, sign, passphrase, comment)
            with open_new_file(signed_file, "--output") as signed:
                signed.write(signature)
        with open_new_file(output, "--output") as target:
            target.write(content)
    elif as_json:
        click.echo(content, nl=False)
    else:
        rows = [
            [name, digest] for part in ("files", "sources") for name, digest in sorted(made[part].items())
        ]
        print_table(["file", "SHA-256"], rows)


@click.command("signing-key")
@click.argument("file", type=FILE)
def signing_key(file: Path) -> None:
    """Make a key to sign manifests with: the secret one in FILE, encrypted to a passphrase, the public one in FILE.pub.

    For whoever publishes releases, on a machine that is no server. Programs that know minisign can use both.
    """
    for path in (file, manifest_signatures.name_public(file)):
        check_new_file(path, "FILE")
    passphrase = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    public = manifest_signatures.make_keys(file, passphrase)
    click.echo(f"Keep {file} to yourself. Publish {public}:")
    click.echo(public.read_text("utf-8"), nl=False)
