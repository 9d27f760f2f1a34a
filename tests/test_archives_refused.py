"""Archives that somebody cut off, damaged or made up: refused by name, with nothing changed."""

import html
import io
import json
import os
import re
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from server.config import Config
from server.study.definitions import version_of
from server.web.views.imports import ARCHIVE_LIMIT
from tests.conftest import NewDatabase
from tests.support import factories, sample_archives
from tests.support.front_client import create_app
from tests.support.sample_archives import (
    Change,
    archive_of,
    change_manifest,
    entries,
    in_directory,
    with_entry,
    with_text,
    without,
)

FIRST = "versions/1/responses.csv"
PUBLISHED = "versions/1/published.json"
CODES = "invitations.csv"
ROW = ",,0,0\r\n"
HEAD, HASH = b"code_sha256,batch,spent\r\n", b"a" * 64
TWO = b"%s,1,true\r\n%s,1,true\r\n" % (HASH, b"b" * 64)


@dataclass(frozen=True)
class Site:
    """An installation with a study that was exported."""

    client: FlaskClient
    database_url: str
    body: bytes


@pytest.fixture(scope="module")
def site(sqlite: NewDatabase) -> Iterator[Site]:
    database_url = sqlite(True)
    app = create_app(Config(database_url=database_url))
    client = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    slug = sample_archives.study(client, database_url)
    yield Site(client, database_url, sample_archives.export(client, slug))
    app.extensions["moneda.engine"].dispose()


def expect_refusal(site: Site, body: bytes, name: str = "survey.zip") -> tuple[int, str]:
    """Status and page of an archive that is refused and changes nothing."""
    before = factories.dump(site.database_url)
    answer = sample_archives.send(site.client, body, name)
    assert factories.dump(site.database_url) == before
    assert "Traceback" not in answer.text
    return answer.status_code, html.unescape(re.sub(r"<[^>]*>", "", answer.text))


def add_link(body: bytes) -> bytes:
    """With an entry that is a link to another file."""
    file = io.BytesIO(body)
    with zipfile.ZipFile(file, "a") as archive:
        entry = zipfile.ZipInfo("log2.csv")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    return file.getvalue()


def also_stated(more: dict[str, Any]) -> Change:
    """With more in the manifest."""

    def change(body: bytes) -> bytes:
        manifest = json.loads(entries(body)["manifest.json"])
        return with_entry("manifest.json", json.dumps(manifest | more).encode())(body)

    return change


def double_entry(body: bytes) -> bytes:
    """With one name twice."""
    file = io.BytesIO(body)
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("log.csv", "at_utc,who,what\r\n")
    return file.getvalue()


def compressed_otherwise(body: bytes) -> bytes:
    return archive_of(entries(body), zipfile.ZIP_BZIP2)


def with_wrong_bytes(body: bytes) -> bytes:
    """With an entry whose bytes are not those of its checksum."""
    stored = archive_of(entries(body), zipfile.ZIP_STORED)
    return stored.replace(b"Everything of one survey", b"Everything of two survey", 1)


def with_two_published_alike(body: bytes) -> bytes:
    parts = entries(body)
    body = with_entry("versions/2/published.json", parts[PUBLISHED])(body)
    sha256 = parts["manifest.json"].partition(b'"sha256": "')[2][:64].decode()
    return change_manifest("versions", 1, "sha256", value=sha256)(body)


def with_a_slug_twice(body: bytes) -> bytes:
    slug = entries(body)["manifest.json"].partition(b'"slug": "')[2][:12].decode()
    return change_manifest("strata", 0, "slug", value=slug)(body)


def change_version(old: str, new: str) -> Change:
    """With a published version that says something else, under its own SHA-256."""

    def change(body: bytes) -> bytes:
        body = with_text(PUBLISHED, old, new)(body)
        return change_manifest("versions", 0, "sha256", value=version_of(entries(body)[PUBLISHED]))(body)

    return change


def with_batch(size: int, stratum: int, codes: bytes = b"") -> Change:
    """With a batch of invitations, and these of it."""
    batch = {"label": "Class 3B", "issued_on": "2026-01-01", "size": size, "stratum": stratum}
    return lambda body: with_entry(CODES, HEAD + codes)(change_manifest("batches", value=[batch])(body))


def with_many_entries(body: bytes) -> bytes:
    """With so large a directory that reading it would fill the memory."""
    parts = entries(body)
    return archive_of({**parts, **{f"{number:08}.txt": b"" for number in range(20_000)}}, zipfile.ZIP_STORED)


BAD = {
    "path upwards": (with_entry("../log.csv", b"x"), 422, "../log.csv: must not lead out of the archive"),
    "path upwards inside": (with_entry("versions/../../x", b""), 422, "must not lead out"),
    "absolute path": (with_entry("/etc/passwd", b"x"), 422, "/etc/passwd: must not lead out"),
    "drive": (with_entry("C:x", b"x"), 422, "C:x: must not lead out"),
    "backslash": (with_entry("versions\\1\\x", b"x"), 422, "must not lead out"),
    "link": (add_link, 422, "log2.csv: must not lead out"),
    "another file": (with_entry("x.txt", b"x"), 422, "x.txt: is no part of a survey’s archive"),
    "folder": (with_entry("versions/", b""), 422, "versions/: is no part"),
    "third version": (with_entry("versions/3/codebook.csv", b""), 422, "versions/3/codebook.csv: is no part"),
    "twice": (double_entry, 422, "log.csv: must stand only once"),
    "missing": (without("log.csv"), 422, "log.csv: is missing"),
    "no manifest": (without("manifest.json"), 422, "manifest.json: is missing"),
    "encrypted": (in_directory(8, "<H", 1), 422, "log.csv: must not be encrypted"),
    "bzip2": (compressed_otherwise, 422, "manifest.json: must be compressed by DEFLATE"),
    "wrong checksum": (with_wrong_bytes, 422, "README.txt: must be whole"),
    "smaller than it says": (in_directory(24, "<I", 10_000), 422, "log.csv: must be whole"),
    "larger than it says": (in_directory(24, "<I", 10), 422, "log.csv: must be whole"),
    "more than it may": (in_directory(24, "<I", 1 << 30), 413, "must unpack to at most 1073741824 bytes"),
    "large directory": (with_many_entries, 413, "must unpack to at most"),
    "empty": (lambda body: b"PK\x05\x06" + bytes(18), 422, "is missing"),
    "without some of its beginning": (lambda body: body[:4] + body[7:], 422, "manifest.json: must be whole"),
    "comment": (lambda body: body + b"x", 422, "must be whole"),
    "format": (change_manifest("format", value=1), 422, "manifest.json: format: must be one of 2, 3; it is 1"),
    "no format": (change_manifest("format"), 422, "format: is required"),
    "more in the manifest": (change_manifest("ids", value=[1]), 422, "ids: is not known here"),
    "state": (change_manifest("state", value="gone"), 422, "must be one of draft, open, closed"),
    "draft with versions": (change_manifest("state", value="draft"), 422, "must be draft without published versions"),
    "minimum": (change_manifest("minimum", value=2), 422, "minimum: must be from 3 to 1000; it is 2"),
    "cap below the minimum": (change_manifest("cap", value=2), 422, "cap: must be at least 3, the smallest group"),
    "cap": (change_manifest("cap", value="9"), 422, "cap: must be a whole number; it is \"9\""),
    "switches that exclude each other": (
        also_stated({"completions": True, "tablet": True}),
        422,
        "completions: must be left out where many people answer on one tablet",
    ),
    "tickets without a network": (
        also_stated({"tickets": True, "offline": True}),
        422,
        "offline: must be left out where codes buy tickets",
    ),
    "tickets without their keys": (
        also_stated({"state": "open", "by_invitation": True, "tickets": True}),
        422,
        "tickets: must be left out of an open survey",
    ),
    "completion codes without their key": (
        also_stated({"state": "open", "completions": True}),
        422,
        "completions: must be left out of an open survey",
    ),
    "a tablet that checks codes": (
        also_stated({"by_invitation": True, "tablet": True}),
        422,
        "tablet: must be off where everybody needs the code of an invitation",
    ),
    "not a number": (with_text("manifest.json", '"cap": 500', '"cap": NaN'), 400, "NaN is not"),
    "not JSON": (with_entry("manifest.json", b"{"), 400, "must be JSON"),
    "no object": (with_entry("manifest.json", b"[]"), 422, "must be an object"),
    "slug": (change_manifest("slug", value="../../admin"), 422, "slug: must be written like"),
    "slug twice": (with_a_slug_twice, 422, "strata[0].slug: must be unique"),
    "day": (change_manifest("created_on", value="yesterday"), 422, "created_on: must be written like 2026-12-31"),
    "early day": (change_manifest("created_on", value="1999-01-01"), 422, "must be from 2000-01-01 to"),
    "late day": (change_manifest("versions", 0, "published_on", value="9999-12-31"), 422, "it is 9999-12-31"),
    "time": (change_manifest("opens_at", value="2026-01-01T08:00:00+01:00"), 422, "opens_at: must be written like"),
    "opens after it closes": (change_manifest("opens_at", value="2199-01-02T00:00:00"), 422,
        "closes_at: must be after"),
    "zone": (change_manifest("time_zone", value="Mars/Olympus"), 422, "must be a time zone; it is Mars/Olympus"),
    "stratum twice": (change_manifest("strata", 1, "names", value=["NORTH"]), 422, "NORTH stands twice"),
    "stratum in the air": (change_manifest("strata", 1, "names", value=["East", "x"]), 422, "which is missing"),
    "stratum's name": (change_manifest("strata", 3, "names", value=["a > b"]), 422, "a name must not contain"),
    "spaces in a name": (change_manifest("strata", 3, "names", value=["a  b"]), 422, "must be written like a b"),
    "population": (change_manifest("strata", 1, "population", value=0), 422, "population: must be from 1 to"),
    "populations": (change_manifest("strata", 0, "population", value=5), 422, "must be the sum of its parts, 4000"),
    "batch": (with_batch(12, 1), 422, "must be the number of a stratum with a link"),
    "batch too small": (with_batch(1, 4, TWO), 422, "of a batch that is not full; it is 1"),
    "hash": (change_manifest("versions", 0, "sha256", value="0" * 64), 422, f"must have the SHA-256 {'0' * 60}"),
    "published": (with_text(PUBLISHED, "Question 1?", "Question 9?"), 422, f"{PUBLISHED}: must have the SHA-256"),
    "published twice": (with_two_published_alike, 422, "versions[1].sha256: must be unique"),
    "spaces": (change_version('"format":1', '"format": 1'), 422, "as Moneda publishes it, byte for byte"),
    "epsilon": (change_version('"epsilon":1.0987', '"epsilon":0.0987'), 422, "byte for byte"),
    "weights": (change_version("3221225472,1073741824", "3221225472,1073741825"), 422, "byte for byte"),
    "no title": (change_version(',"title":"=Exams – ¿sí?"', ""), 422, "title: is required"),
    "draft": (with_entry("draft.json", b'{"questions": [1]}'), 422, "draft.json"),
    "strange draft": (with_entry("draft.json", b'{"title": {"a": [1]}}'), 422, "is not a field of a survey"),
    "no draft": (with_entry("draft.json", b'"x"'), 422, "must be an object"),
    "report": (with_text(FIRST, ROW, ",,2,0\r\n"), 422, "responses.csv[2].q1: must be a whole number from 0 to 1"),
    "large report": (with_text(FIRST, ROW, ",,0,256\r\n"), 422, "q2: must be a whole number"),
    "negative report": (with_text(FIRST, ROW, ",,-1,0\r\n"), 422, "it is -1"),
    "report not a number": (with_text(FIRST, ROW, ",,NaN,0\r\n"), 422, "it is NaN"),
    "no report": (with_text(FIRST, ROW, ",,,0\r\n"), 422, "q1: must be a whole number"),
    "fewer cells": (with_text(FIRST, ROW, ",,0\r\n"), 422, f"{FIRST}[2]: must have 4 cells; it has 3"),
    "more cells": (with_text(FIRST, ROW, ",,0,0,0\r\n"), 422, "must have 4 cells; it has 5"),
    "unknown stratum": (with_text(FIRST, ROW, "9,,0,0\r\n"), 422, "must be the number of a stratum; it is 9"),
    "path of another stratum": (with_text(FIRST, ROW, ",North,0,0\r\n"), 422, "[2].stratum_path: must be the path of"),
    "row less": (with_text(FIRST, ROW, "\r\n"), 422, "must have 4 cells; it has 0"),
    "rows": (with_text(FIRST, ROW, ""), 422, "as many rows as the manifest says, 20; it has 19"),
    "columns": (with_text(FIRST, "q1,q2", "q2,q1"), 422, f"{FIRST}: must begin with the columns stratum"),
    "no CSV": (with_text(FIRST, ROW, ',,"x,0,0\r\n'), 422, "must be CSV; it is not from row"),
    "no UTF-8": (with_entry(FIRST, b"stratum,\xff\r\n"), 400, f"{FIRST}: must be UTF-8"),
    "responses' day": (change_manifest("versions", 0, "days", 0, "first", value="20260101"), 422,
        "must be written like"),
    "days": (change_manifest("versions", 0, "days", value=[]), 422,
        "days: must be those of 20 responses; they are those of 0"),
    "days backwards": (change_manifest("versions", 0, "days", 0, "last", value="2026-01-01"), 422, "must be in order"),
    "no end of line": (with_entry(FIRST, bytes(20_000_000)), 413, "must have rows of at most 65536 bytes"),
    "code": (with_entry(CODES, HEAD + b"ab,1,true\r\n"), 422, "[2].code_sha256: must be written like"),
    "code's batch": (with_batch(12, 4, b"%s,2,true\r\n" % HASH), 422, "of a batch that is not full; it is 2"),
    "spent": (with_batch(12, 4, b"%s,1,maybe\r\n" % HASH), 422, "must be one of true, false; it is maybe"),
    "code twice": (with_batch(12, 4, b"%s,1,true\r\n" % HASH * 2), 422, "must be above the one before"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_named_and_nothing_is_changed(name: str, site: Site) -> None:
    change, status, said = BAD[name]
    found, page = expect_refusal(site, change(site.body))
    assert (found, said in page) == (status, True), page[page.find("problems") :][:600]


@pytest.mark.parametrize("fraction", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_refused(fraction: float, site: Site) -> None:
    assert expect_refusal(site, site.body[: int(len(site.body) * fraction)])[0] == 422


def test_a_bomb_costs_neither_memory_nor_a_change(site: Site) -> None:
    """A gigabyte of zeros in a megabyte is let in by its size, and refused at its first row."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries(site.body).items():
            with archive.open(name, "w") as entry:
                entry.write(content)
                for _ in range(960 if name == "versions/2/responses.csv" else 0):
                    entry.write(bytes(1 << 20))
    assert len(file.getvalue()) < 2_000_000

    tracemalloc.start()
    status, page = expect_refusal(site, file.getvalue())
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (status, "rows of at most" in page) == (413, True)
    assert most < 50_000_000


def test_overlapping_entries_are_refused(site: Site) -> None:
    """A bomb whose directory names the same compressed bytes again and again."""
    parts = entries(site.body)
    body = bytearray(archive_of(parts, zipfile.ZIP_STORED))
    places = [place for place in range(len(body)) if body[place : place + 4] == b"PK\x01\x02"]
    offset = struct.unpack_from("<I", body, places[1] + 42)[0]
    struct.pack_into("<I", body, places[2] + 42, offset)
    assert expect_refusal(site, bytes(body))[0] == 422


def test_strangers_send_no_archive(site: Site) -> None:
    """Without a sign-in, a request of more than a megabyte is not even read."""
    stranger = site.client.application.test_client()
    before = factories.dump(site.database_url)
    large = site.body + bytes(2 << 20)
    assert sample_archives.send(stranger, large).status_code == 413
    assert sample_archives.send(stranger, site.body).status_code == 302
    assert factories.dump(site.database_url) == before


def test_an_archive_may_be_large_and_nothing_else(site: Site) -> None:
    noise = os.urandom(2 << 20)
    assert expect_refusal(site, noise, "a.json")[0] == 413
    assert expect_refusal(site, b"PK\x03\x04" + noise, "a.xlsx")[0] == 413
    assert "must be whole" in expect_refusal(site, b"PK\x03\x04" + noise, "a.zip")[1]
    assert expect_refusal(site, b"PK\x03\x04" + bytes(ARCHIVE_LIMIT + (2 << 20)), "a.zip")[0] == 413


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_file_is_read_or_refused(site: Site, data: st.DataObject) -> None:
    body = bytearray(site.body)
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    answer = sample_archives.send(site.client, bytes(body))
    assert answer.status_code in (201, 400, 413, 422)
    assert "Traceback" not in answer.text
