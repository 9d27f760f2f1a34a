"""Manifests are signed in minisign's format: its own program takes our keys and signatures, and we take its."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.config import DATA
from tests.support.minisign_program import run_minisign

NOWHERE = "http://127.0.0.1:9"
"""Nothing listens there: what is asked of a manifest is asked before."""


def run(*arguments: str, typed: str = "") -> Result:
    """Run a command in this process; apart, as it may run a loop, and this thread have that of a browser's tests."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(CliRunner().invoke, main, list(arguments), input=typed).result()


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A folder with a key pair and a signed manifest, all made by our commands."""
    made = run("signing-key", str(tmp_path / "moneda.key"), typed="correct horse\ncorrect horse\n")
    assert made.exit_code == 0, made.output
    signed = run(
        "manifest",
        "--output",
        str(tmp_path / "manifest.json"),
        "--sign",
        str(tmp_path / "moneda.key"),
        typed="correct horse\n",
    )
    assert signed.exit_code == 0, signed.output
    return tmp_path


def test_minisign_takes_our_keys_and_signatures(ours: Path) -> None:
    checked = run_minisign(ours, "-V", "-p", "moneda.key.pub", "-m", "manifest.json")
    assert checked.returncode == 0, checked.stderr
    assert "Signature and comment signature verified" in checked.stdout
    (ours / "other").write_text("other")
    signed = run_minisign(ours, "-S", "-s", "moneda.key", "-m", "other", typed="correct horse\n")
    assert signed.returncode == 0, signed.stderr
    assert run_minisign(ours, "-V", "-p", "moneda.key.pub", "-m", "other").returncode == 0
    with (ours / "manifest.json").open("a") as file:
        file.write(" ")
    assert run_minisign(ours, "-V", "-p", "moneda.key.pub", "-m", "manifest.json").returncode == 1


def verify(folder: Path, key: str = "moneda.key.pub") -> Result:
    """Compare a site that is not there with the manifest in a folder."""
    return run(
        "verify", NOWHERE, "--manifest", str(folder / "manifest.json"), "--public-key", str(folder / key)
    )


def test_we_take_minisigns_keys_and_signatures(ours: Path) -> None:
    run_minisign(ours, "-G", "-W", "-p", "theirs.pub", "-s", "theirs.key")
    signed = run_minisign(ours, "-S", "-s", "theirs.key", "-m", "manifest.json")
    assert signed.returncode == 0, signed.stderr
    done = verify(ours, "theirs.pub")
    assert done.exit_code == 2
    assert f"{NOWHERE} cannot be reached" in done.output


def test_what_is_not_signed_by_that_key_is_compared_with_nothing(ours: Path) -> None:
    assert "cannot be reached" in verify(ours).output, "as it was signed, it gets as far as the site"
    run("signing-key", str(ours / "other.key"), typed="a\na\n")
    assert "not signed by the key" in verify(ours, "other.key.pub").output
    content = (ours / "manifest.json").read_bytes()
    (ours / "manifest.json").write_bytes(content + b" ")
    assert "not signed by the key" in verify(ours).output
    (ours / "manifest.json").write_bytes(content)
    (ours / "manifest.json.minisig").unlink()
    assert "manifest.json.minisig cannot be read" in verify(ours).output
    (ours / "manifest.json.minisig").write_text("no signature")
    done = verify(ours)
    assert done.exit_code == 2
    assert "not signed by the key" in done.output


def test_manifest_of_another_release_is_named_with_what_differs(ours: Path) -> None:
    path = ours / "manifest.json"
    content = path.read_text()
    place = content.index('answer.js": "') + len('answer.js": "')
    path.write_text(content[:place] + "0" * 64 + content[place + 64 :])
    done = run("verify", NOWHERE, "--manifest", str(path))
    assert done.exit_code == 2
    assert "(these differ: client/answer.js)" in done.output.replace("\n", " ")
    for odd in ("[]", "[" * 100_000):
        path.write_text(odd)
        assert "a manifest must be what" in run("verify", NOWHERE, "--manifest", str(path)).output


def test_keys_are_private_and_never_overwritten_nor_among_data(ours: Path) -> None:
    assert (ours / "moneda.key").stat().st_mode & 0o777 == 0o600
    again = run("signing-key", str(ours / "moneda.key"), typed="x\nx\n")
    assert again.exit_code == 2
    assert "must be a new file" in again.output
    among = run("signing-key", str(DATA / "moneda.key"), typed="x\nx\n")
    assert "a secret key must not be in" in among.output
    assert not (DATA / "moneda.key").exists()
    wrong = run(
        "manifest", "--output", str(ours / "m.json"), "--sign", str(ours / "moneda.key"), typed="wrong\n"
    )
    assert wrong.exit_code == 2
    assert "cannot sign" in wrong.output
    assert not (ours / "m.json").exists()
