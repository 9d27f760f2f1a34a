"""`python -m server verify`: whether a running site serves the pages of this release."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from server.cli.common import JSON, check_new_file, make_plain, open_new_file, print_table, show_progress
from server.config import Config
from server.output.languages import LANGUAGES
from server.web.app import create_app
from server.web.assets import read_assets
from server.web.manifest_signatures import ENDING, check_signature
from server.web.page_manifest import list_differing_files, make_manifest, write_manifest
from server.web.verifying import CANNOT_SEE
from server.web.verifying.site_links import read_link, read_site

if TYPE_CHECKING:
    from server.web.verifying.site_comparison import SiteComparison

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("url")
@click.argument("links", nargs=-1)
@click.option(
    "--manifest", "manifest_file", type=FILE, help="The manifest that the release was published with."
)
@click.option("--public-key", type=FILE, help="Whose signature that manifest must have, in a file beside it.")
@click.option(
    "--webcat", type=FILE, help="Write what WEBCAT's tools sign into this new file, where all is the same."
)
@click.option(
    "--language", type=click.Choice(list(LANGUAGES)), help="The one language of pages that WEBCAT knows."
)
@JSON
@click.pass_context
def verify(
    ctx: click.Context,
    url: str,
    links: tuple[str, ...],
    manifest_file: Path | None,
    public_key: Path | None,
    webcat: Path | None,
    language: str | None,
    as_json: bool,
) -> None:
    """Compare the site at URL with this release, as respondents see it; status 1 where anything differs.

    Fetches every file, the front page and the pages of LINKS as a phone, a desk computer and Tor Browser, in three
    languages, twice; from any machine, without a database. Status 2 where the site cannot be reached.
    """
    from server.web.verifying.site_comparison import UnreachableError  # needs httpx
    from server.web.verifying.webcat_manifest import make_webcat_manifest

    if public_key is not None and manifest_file is None:
        raise click.UsageError("--public-key needs --manifest, the file that was signed")
    if (webcat is None) != (language is None):
        raise click.UsageError(
            "--webcat and --language go together: a manifest of WEBCAT has pages in one language"
        )
    if webcat is not None:
        check_new_file(webcat, "--webcat")  # before a site is compared
    site = read_site(url)
    manifest = make_manifest(read_assets())
    signed = None if manifest_file is None else _check_release(manifest, manifest_file, public_key)
    slugs = list(dict.fromkeys(read_link(site, link) for link in links))
    try:
        compared = _compare(site, slugs, manifest)
    except UnreachableError as error:
        raise _UnreachableSite(f"{site} cannot be reached: {error}") from error
    if as_json:
        _print_json(site, signed, compared)
    else:
        _print_table(signed, compared, bool(slugs))
    if not compared.agrees:
        ctx.exit(1)
    if webcat is not None and language is not None:
        document = make_webcat_manifest(site, manifest, compared.pages, compared.logos, language)
        with open_new_file(webcat, "--webcat") as target:
            target.write((json.dumps(document, indent=1) + "\n").encode())
        _warn_of_workers(compared)


def _print_json(site: str, signed: str | None, compared: "SiteComparison") -> None:
    document = {
        "site": site,
        "signed": signed,
        "agrees": compared.agrees,
        "compared": [
            {"what": found.what, "problems": found.problems, "whole": found.whole}
            for found in compared.findings
        ],
        "data": compared.data,
        "cannot_see": CANNOT_SEE,
    }
    click.echo(json.dumps(document, ensure_ascii=False))


def _print_table(signed: str | None, compared: "SiteComparison", linked: bool) -> None:
    if signed is not None:
        click.echo(make_plain(f"The manifest is signed: {signed}"))
    rows = [[found.what, said] for found in compared.findings for said in found.outcome]
    print_table(["what", "result"], rows)
    for slug, data in compared.data.items():
        stated = "; ".join(f"{name}: {value}" for name, value in data.items())
        click.echo(make_plain(f"What the page of {slug} says of its survey: {stated}"))
    if not linked:
        click.echo("No link was given, so the page of no survey was compared.")
    click.echo(CANNOT_SEE)


def _warn_of_workers(compared: "SiteComparison") -> None:
    if compared.with_workers:
        named = ", ".join(sorted(compared.with_workers))
        click.echo(
            make_plain(
                f"WEBCAT will block {named}: a page that may be kept without a network has a content security "
                "policy of its own, which this manifest cannot name."
            ),
            err=True,
        )


class _UnreachableSite(click.ClickException):
    """One line on standard error."""

    exit_code = 2


def _check_release(manifest: dict[str, Any], file: Path, public_key: Path | None) -> str | None:
    """What was signed along, where a signature is asked for. The manifest must be that of this checkout."""
    try:
        content = file.read_bytes()
        signed = None
        if public_key is not None:
            signature = file.with_name(file.name + ENDING).read_bytes()
            signed = check_signature(content, signature, public_key)
    except OSError as error:
        raise click.UsageError(f"{error.filename} cannot be read: {error.strerror}") from error
    if content != write_manifest(manifest):
        differing = list_differing_files(manifest, content)
        named = ", ".join(differing[:5]) + (f" and {len(differing) - 5} more" if len(differing) > 5 else "")
        raise click.UsageError(
            f"{file} is not the manifest of this checkout, from which pages are drawn to compare them: check the "
            f"release out that it is of (these differ: {named or 'none of the files'})"
        )
    return signed


def _compare(site: str, slugs: list[str], manifest: dict[str, Any]) -> "SiteComparison":
    from server.web.verifying.site_comparison import compare_site

    # An application needs a database; this one has an empty one that nobody asks.
    with tempfile.TemporaryDirectory() as folder, show_progress("Comparing") as tell:
        app = create_app(Config(database_url=f"sqlite:///{Path(folder) / 'none.sqlite3'}"))
        return asyncio.run(compare_site(app, manifest, site, slugs, tell))
