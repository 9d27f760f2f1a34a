"""`python -m server manifest`: the same bytes on every machine, and those that the server has."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from server.web.joined_modules import name_later
from server.web.respondent_modules import JOINED, LATER
from tests.support.factories import ROOT


def print_manifest(folder: Path, **settings: str) -> bytes:
    """What a process of its own prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    command = [sys.executable, "-m", "server", "manifest", "--json"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True).stdout


def test_manifest_is_the_same_wherever_it_is_made_and_served(client: FlaskClient, tmp_path: Path) -> None:
    here = print_manifest(ROOT, PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C.UTF-8")
    there = print_manifest(tmp_path, PYTHONHASHSEED="2", TZ="Asia/Tokyo", LC_ALL="C", LANGUAGE="es")
    answer = client.get("/client/manifest.json")
    assert here == there == answer.data
    assert answer.content_type == "application/json"


def test_manifest_names_every_file_by_its_own_hash(client: FlaskClient) -> None:
    manifest = client.get("/client/manifest.json").get_json()
    names = {path.name for path in (ROOT / "client").iterdir()}
    names |= {*JOINED, *map(name_later, LATER)}
    assert {address.rpartition("/")[2] for address in manifest["files"]} == names
    for address, digest in manifest["files"].items():
        assert hashlib.sha256(client.get(address).data).hexdigest() == digest, address
    for path, digest in manifest["sources"].items():
        assert hashlib.sha256((ROOT / path).read_bytes()).hexdigest() == digest, path
    templates = {path.relative_to(ROOT).as_posix() for path in (ROOT / "templates").rglob("*.html")}
    assert templates <= manifest["sources"].keys()
    assert "server/translations/es/LC_MESSAGES/messages.mo" in manifest["sources"]
    page = client.get("/")
    sent = {name: page.headers[name] for name in manifest["headers"]}
    assert sent == manifest["headers"]


def test_manifest_changes_with_each_file(tmp_path: Path) -> None:
    """A copy of the checkout, with one byte more in a template: one entry differs; what editors leave is in none."""
    for name in ("server", "client", "templates"):
        subprocess.run(["cp", "-rp", ROOT / name, tmp_path / name], check=True)
    before = json.loads(print_manifest(tmp_path, PYTHONPATH=str(tmp_path)))
    for stray in (".DS_Store", "answer.js~", "answer.js.orig"):
        (tmp_path / "client" / stray).write_text("left", "utf-8")
    changed = tmp_path / "templates" / "respond" / "survey.html"
    changed.write_text(changed.read_text("utf-8") + "\n", "utf-8")
    after = json.loads(print_manifest(tmp_path, PYTHONPATH=str(tmp_path)))
    assert before.pop("sources").items() ^ after.pop("sources").items() == {
        ("templates/respond/survey.html", digest)
        for digest in (
            hashlib.sha256((ROOT / "templates/respond/survey.html").read_bytes()).hexdigest(),
            hashlib.sha256(changed.read_bytes()).hexdigest(),
        )
    }
    assert before == after


@pytest.mark.skipif(shutil.which("git") is None, reason="no checkout without git")
def test_a_checkout_has_the_same_bytes_where_git_is_set_to_other_line_ends(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "core.autocrlf=true", *words], cwd=tmp_path, check=True)

    for name in (".gitattributes", "client/answer.js", "templates/base.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    git("init", "--quiet")
    git("add", ".")
    for name in ("client/answer.js", "templates/base.html"):
        (tmp_path / name).unlink()
    git("checkout", "--quiet", ".")
    for name in ("client/answer.js", "templates/base.html"):
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes()
