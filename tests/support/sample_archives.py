"""Archives of surveys for the tests: a study to be packed, and archives that somebody has tampered with."""

import io
import json
import secrets
import struct
import zipfile
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from server import archives
from server.people import survey_access
from server.store.engines import make_engine, snapshot
from server.store.models import Server
from tests.support import factories
from tests.support.form_client import write_multipart

IMPORT = "/manage/surveys/import"
TREE = "North > =Oslo; 3000\nNorth > Umeå; 1000\nSouth; 9000"
CODES = 12

Change = Callable[[bytes], bytes]


def study(client: FlaskClient, database_url: str) -> str:
    """A closed survey by invitation with two versions, strata, and responses to each; its slug."""
    document = factories.definition([0.25, 0.1], title="=Exams – ¿sí?")
    first = factories.publish(database_url, document, minimum=3)
    links = factories.plant(database_url, first.slug, TREE)
    factories.settle(
        database_url,
        first.slug,
        cap=500,
        time_zone="Europe/Madrid",
        opens_at=datetime(2026, 1, 1, 8),  # noqa: DTZ001
        closes_at=datetime(2199, 1, 1, 8, 30),  # noqa: DTZ001
    )
    slugs = [first.slug, links["North > =Oslo"], links["North > Umeå"], links["South"]]
    respond(client, first, slugs, 5)
    changed = factories.definition([0.25, 0.05], title="=Exams – ¿sí?")
    second = factories.publish(database_url, changed, first.slug)
    respond(client, second, slugs[1:], 4)
    codes = factories.invite(database_url, first.slug, CODES, links["South"])
    for code in codes[:5]:
        body = second.response([1, 0], invitation=code)
        assert client.post(f"/s/{links['South']}/responses", json=body).status_code == 201
    factories.save(database_url, first.slug, factories.definition([0.3], title="Next"))
    factories.close(database_url, first.slug)
    return first.slug


def respond(client: FlaskClient, survey: factories.Published, slugs: list[str], each: int) -> None:
    """Send some responses by each of these links, not all the same."""
    for place, slug in enumerate(slugs):
        for number in range(each):
            body = survey.response([number % 2, int(number == place)])
            assert client.post(f"/s/{slug}/responses", json=body).status_code == 201


def export(client: FlaskClient, slug: str) -> bytes:
    """The archive of a survey."""
    answer = client.post(f"/manage/surveys/{slug}/export.zip")
    assert (answer.status_code, answer.mimetype) == (200, "application/zip")
    assert answer.content_length == len(answer.data)
    return answer.data


def send(client: FlaskClient, body: bytes, name: str = "survey.zip") -> TestResponse:
    """Import a file."""
    form, kind = form_of(body, name)
    return client.post(IMPORT, data=form, content_type=kind)


def form_of(body: bytes, name: str = "survey.zip") -> tuple[bytes, str]:
    """The form that sends a file, and its type."""
    head = f'Content-Disposition: form-data; name="definition"; filename="{name}"\r\n\r\n'
    return write_multipart(head.encode() + body, boundary="X--X")


def import_archive(client: FlaskClient, body: bytes) -> str:
    """Import an archive; the slug of the new survey."""
    answer = send(client, body)
    assert answer.status_code == 201, answer.text
    return answer.text.partition('<a class="button primary" href="/manage/surveys/')[2].partition('"')[0]


def without_admission(report: str) -> tuple[dict[str, Any], set[bool]]:
    """A report as JSON but for who was let in, and whether that is known: of a copy, nobody knows it.

    Also without codes: those of a closed survey stay where they were issued; and without what made-up responses
    could move, which is told of whatever anybody may have answered.
    """
    said = json.loads(report)
    del said["invited"], said["forging"]
    return said, {each["known"] for each in said.pop("admission")}


def pack(database_url: str, slug: str) -> bytes:
    """The archive as the layer below the pages writes it, without an entry in the log."""
    engine, file = make_engine(database_url), io.BytesIO()
    with snapshot(engine) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        archives.pack(session, survey, file)
    engine.dispose()
    return file.getvalue()


def moving(database_url: str, body: bytes, kind: str = "move", epsilon: str = "0") -> bytes:
    """An archive with which the survey moves to this database, budget and all, or with a part of it."""
    with factories.writing(database_url) as session:
        server = session.scalars(sa.select(Server.id)).one()
    ledger = json.loads(entries(body)["releases.json"])
    ledger["right"] = {
        "kind": kind,
        "token": secrets.token_hex(16),
        "server": server,
        "epsilon": epsilon,
        "delta": "0",
    }
    return with_entry("releases.json", json.dumps(ledger).encode())(body)


def entries(body: bytes) -> dict[str, bytes]:
    """What each entry holds."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(parts: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of these entries."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def with_entry(name: str, content: bytes) -> Change:
    """Put this entry into an archive, in place of the one of that name."""
    return lambda body: archive_of({**entries(body), name: content})


def without(name: str) -> Change:
    """Leave this entry out."""
    return lambda body: archive_of({key: value for key, value in entries(body).items() if key != name})


def with_text(name: str, old: str, new: str) -> Change:
    """Replace a text in an entry, where it stands first."""

    def change(body: bytes) -> bytes:
        text = entries(body)[name].decode()
        assert old in text
        return with_entry(name, text.replace(old, new, 1).encode())(body)

    return change


def change_manifest(*path: str | int, value: Any = None) -> Change:
    """Say something else at a place of the manifest, or nothing."""

    def change(body: bytes) -> bytes:
        manifest = json.loads(entries(body)["manifest.json"])
        node = manifest
        for step in path[:-1]:
            node = node[step]
        if value is None:
            del node[path[-1]]
        else:
            node[path[-1]] = value
        return with_entry("manifest.json", json.dumps(manifest).encode())(body)

    return change


def in_directory(offset: int, form: str, value: int) -> Change:
    """Change a number in the last entry of the archive's directory."""

    def change(body: bytes) -> bytes:
        changed = bytearray(body)
        place = changed.rindex(b"PK\x01\x02") + offset
        changed[place : place + struct.calcsize(form)] = struct.pack(form, value)
        return bytes(changed)

    return change
