"""`python -m server manifest`: what this release's pages are made of."""

import click

from server.cli.common import JSON, print_table
from server.web.assets import read_assets
from server.web.page_manifest import make_manifest, write_manifest


@click.command()
@JSON
def manifest(as_json: bool) -> None:
    """Print the SHA-256 of each file that this release's pages are made of.

    With --json the very bytes that a server of this release has at /client/manifest.json, on any machine.
    """
    made = make_manifest(read_assets())
    if as_json:
        click.echo(write_manifest(made), nl=False)
        return
    rows = [[name, digest] for part in ("files", "sources") for name, digest in sorted(made[part].items())]
    print_table(["file", "SHA-256"], rows)
