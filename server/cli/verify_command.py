"""`python -m server verify`: whether a running site serves the pages of this release."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from server.cli.common import JSON, make_plain, print_table, show_progress
from server.config import Config
from server.web.app import create_app
from server.web.assets import read_assets
from server.web.page_manifest import make_manifest
from server.web.verifying.site_links import read_link, read_site

if TYPE_CHECKING:
    from server.web.verifying.site_comparison import SiteComparison


@click.command()
@click.argument("url")
@click.argument("links", nargs=-1)
@JSON
@click.pass_context
def verify(ctx: click.Context, url: str, links: tuple[str, ...], as_json: bool) -> None:
    """Compare the site at URL with this release, as respondents see it; status 1 where anything differs.

    Fetches every file, the front page and the pages of LINKS as a phone, a desk computer and Tor Browser, in three
    languages, twice; from any machine, without a database. Status 2 where the site cannot be reached.
    """
    from server.web.verifying.site_comparison import CANNOT_SEE, UnreachableError  # needs httpx

    site = read_site(url)
    slugs = list(dict.fromkeys(read_link(site, link) for link in links))
    try:
        compared = _compare(site, slugs)
    except UnreachableError as error:
        raise _UnreachableSite(f"{site} cannot be reached: {error}") from error
    if as_json:
        document = {
            "site": site,
            "agrees": compared.agrees,
            "compared": [{"what": found.what, "problems": found.problems} for found in compared.findings],
            "data": compared.data,
            "cannot_see": CANNOT_SEE,
        }
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        rows = [
            [found.what, problem] for found in compared.findings for problem in found.problems or ("same",)
        ]
        print_table(["what", "result"], rows)
        for slug, data in compared.data.items():
            said = "; ".join(f"{name}: {value}" for name, value in data.items())
            click.echo(make_plain(f"What the page of {slug} says of its survey: {said}"))
        click.echo(CANNOT_SEE)
    if not compared.agrees:
        ctx.exit(1)


class _UnreachableSite(click.ClickException):
    """One line on standard error."""

    exit_code = 2


def _compare(site: str, slugs: list[str]) -> "SiteComparison":
    from server.web.verifying.site_comparison import compare_site

    # An application needs a database; this one has an empty one that nobody asks.
    with tempfile.TemporaryDirectory() as folder, show_progress("Comparing") as tell:
        app = create_app(Config(database_url=f"sqlite:///{Path(folder) / 'none.sqlite3'}"))
        return asyncio.run(compare_site(app, make_manifest(read_assets()), site, slugs, tell))
