"""A whole study with a visitor who carries marks: address, browser, referrer, account, code, receipt. None is left.

Each mark is looked for in whatever form it could be kept: as text, bytes, hexadecimal, base64 or hash. That the search
finds what is there is shown by what has to be there: the hash of the sign-in of the account, and of the code.
"""

import base64
import hashlib
import ipaddress
import re
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from server.reports.formats import FORMATS
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.backups import back_up, restore
from tests.support.factories import Published, Served

ADDRESS: Final = "2001:db8:5ca1:ab1e:5ca1:ab1e:5ca1:ab1e"
BROWSER: Final = "MarkedBrowser/5.1"
REFERRER: Final = "https://marked-referrer.example/whence"
QUERY: Final = "marked-person-of-a-panel"
MANY = 20
"""Others who answer, so that something is shown."""


def forms_of(mark: bytes) -> Iterator[bytes]:
    """What a mark may look like where somebody kept it."""
    for kept in (mark, *(hashlib.new(name, mark).digest() for name in ("md5", "sha1", "sha256", "blake2b"))):
        yield kept
        yield kept.hex().encode()
        yield base64.b64encode(kept).rstrip(b"=")
        yield base64.urlsafe_b64encode(kept).rstrip(b"=")


def find_marks(marks: Mapping[str, bytes], places: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Which mark stands in which place."""
    return [
        (name, place)
        for name, mark in marks.items()
        for place, content in places.items()
        if any(form in content or form.upper() in content for form in forms_of(mark))
    ]


def visit(served: Served, survey: Published, body: Mapping[str, object], account: str) -> None:
    """What a marked browser sends: a visit, a look at the code, what is refused, and twice what is taken."""
    headers = {
        "X-Forwarded-For": ADDRESS,
        "Forwarded": f'for="[{ADDRESS}]"',
        "User-Agent": BROWSER,
        "Referer": REFERRER,
        "Cookie": account,
    }
    page = f"{served.url}/s/{survey.slug}"
    status, _, content = factories.ask(f"{page}?PROLIFIC_PID={QUERY}", **headers)
    assert status == 200
    files = re.findall(r'(?:src|href)="(/client/[^"]+)"', content.decode())
    assert files
    for path in (*files, f"/s/{survey.slug}/survey.json"):
        assert factories.ask(served.url + path, **headers)[0] == 200
    assert factories.ask(f"{page}/code.json", {"invitation": body["invitation"]}, **headers)[0] == 200
    assert factories.ask(served.url + survey.url, {**body, "reports": [9]}, **headers)[0] == 422
    assert [factories.ask(served.url + survey.url, body, **headers)[0] for _ in range(2)] == [201, 200]
    assert factories.ask(f"{page}/nowhere/{QUERY}", **headers)[0] == 404


def write_rows(database_url: str) -> bytes:
    """Every cell of every table."""
    tables = factories.dump(database_url).values()
    cells = (cell for table in tables for row in table for cell in row)
    return b"\0".join(cell if isinstance(cell, bytes) else str(cell).encode() for cell in cells)


def read_everything(
    served: Served, cookie: str, survey: Published, folder: Path, metrics: int, copy: str
) -> dict[str, bytes]:
    """Whatever can be read of a study: every row, every file, a backup, all that its owner may download, metrics."""
    backup = folder / "backup"
    back_up(served.database_url, backup)
    restore(copy, backup)
    backup.unlink()
    found = {
        "rows": write_rows(served.database_url),
        "backup": write_rows(copy),
        "metrics": urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics").read(),
    }
    home = f"{served.url}/manage/surveys/{survey.slug}"
    pages = ("results", "log", "invitations", "keeping", *(f"report.{ending}" for ending in FORMATS))
    for page in pages:
        status, _, content = factories.ask(f"{home}/{page}", Cookie=cookie)
        assert status == 200, page
        found[page] = content
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            found[file.name] = file.read_bytes()
    return found


def sign_in(served: Served) -> str:
    """The cookie of a researcher's account."""
    _, _, page = factories.ask(served.sign_in_link)
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', page.decode()))
    status, headers, _ = factories.fill_in(served.sign_in_link, fields)
    assert status == 303
    return str(headers["Set-Cookie"]).partition(";")[0]


@pytest.mark.parametrize("closing", [False, True], ids=["open", "closed"])
def test_nothing_of_whoever_answered_is_found_anywhere(
    new_database: NewDatabase, tmp_path: Path, closing: bool
) -> None:
    url = new_database(True)
    survey = factories.publish(url, minimum=10)
    factories.settle(url, survey.slug, by_invitation=True)
    (code,) = factories.invite(url, survey.slug, 1)
    factories.store(url, survey, [([0, 1], MANY), ([1, 0], MANY)])
    body = survey.response([1, 1], invitation=code)
    port = factories.free_port()
    log = tmp_path / "server.log"
    settings = {
        "MONEDA_TRUSTED_PROXIES": "127.0.0.1",
        "MONEDA_METRICS": str(port),
        "MONEDA_LOG_LEVEL": "debug",
    }
    with log.open("w") as written, factories.serving(url, written, **settings) as served:
        cookie = sign_in(served)
        before = factories.dump(url)
        visit(served, survey, body, cookie)
        changed = {name for name, table in factories.dump(url).items() if table != before[name]}
        if closing:
            factories.close(url, survey.slug)
            assert factories.run(url, "tidy").exit_code == 0
        if url.startswith("sqlite"):
            for file in Path(url.removeprefix("sqlite:///")).parent.glob(f"{Path(url).name}*"):
                (tmp_path / f"database-{file.name}").write_bytes(file.read_bytes())
        found = read_everything(served, cookie, survey, tmp_path, port, new_database(False))
    found["log"] = log.read_bytes()

    # What a response changes is the survey's own; an account that answered stands nowhere beside it.
    assert changed <= {"responses", "cells", "batches", "counters", "invitations", "invitation_batches"}, (
        changed
    )
    marks = {
        "address": ADDRESS.encode(),
        "address as 16 bytes": ipaddress.ip_address(ADDRESS).packed,
        "browser": BROWSER.encode(),
        "referrer": REFERRER.encode(),
        "query": QUERY.encode(),
        "code as printed": code.encode(),
        "code": code.replace("-", "").encode(),
        "receipt": (receipt := bytes.fromhex(str(body["id"]))),
        "fingerprint": hashlib.sha256(receipt).digest()[:16],
        "account": cookie.partition("=")[2].encode(),
    }
    hits = set(find_marks(marks, found))
    # Codes and sign-ins are stored as hashes, before anybody answers and after; no backup holds a sign-in. So are
    # receipts, but until the survey is closed and tidied only.
    stored = {("code", "rows"), ("code", "backup"), ("account", "rows")}
    if not closing:
        stored |= {("fingerprint", "rows"), ("fingerprint", "backup")}
    assert stored <= hits
    hashed = {name for name, _ in stored}
    assert {hit for hit in hits - stored if not (hit[0] in hashed and hit[1].startswith("database"))} == set()
