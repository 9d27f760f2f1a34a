"""A figure of a public report in a frame of another site's page, and the report itself, which no frame shows."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import pytest

from server import releases
from server.people import survey_access
from server.releases import report_links
from tests.browser.axe_inspector import NARROW, Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK
from tests.support import factories, sample_releases


@pytest.fixture
def report(installation: factories.Served) -> str:
    """The address of a public report that tells a share."""
    survey = factories.publish(installation.database_url)
    factories.store(installation.database_url, survey, [([1, 0], 700), ([0, 1], 500)])
    sample_releases.grant(installation.database_url, survey.slug)
    sample_releases.release(
        installation.database_url, survey.slug, {"kind": "share", "questions": ["q1"], "option": "yes"}
    )
    with factories.writing(installation.database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        assert releases.read_ledger(session, found).released
        return f"{installation.url}/r/{report_links.make_link(session, found).slug}"


class Other(BaseHTTPRequestHandler):
    """A page of another site, with a frame of each address."""

    addresses: ClassVar[dict[str, str]] = {}

    def do_GET(self) -> None:
        frames = "".join(f'<iframe id="{name}" src="{url}"></iframe>' for name, url in self.addresses.items())
        body = f"<!doctype html><title>Other</title>{frames}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def other(report: str) -> Iterator[str]:
    """The address of such a page: of the figure, and of the report itself."""
    Other.addresses = {"figure": f"{report}/figure/1-q1?lang=en", "page": f"{report}?lang=en"}
    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_another_site_shows_a_figure_and_nothing_else(open_page: Opener, report: str, other: str) -> None:
    page, inspector = open_page(**DESK), Inspector()
    open_page.watch(page).expect(f"request to another host: {other}")
    open_page.watch(page).expect("frame-ancestors 'none'")
    page.goto(other)
    assert "is true of" in page.frame_locator("#figure").locator("h1").inner_text()
    assert page.frame_locator("#page").locator("h1").count() == 0
    page.goto(f"{report}/figure/1-q1?lang=en")
    inspector.look(page, "a figure by itself")
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    assert inspector.problems == [], "\n".join(inspector.problems)
