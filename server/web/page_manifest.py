"""The manifest of this release's pages: the SHA-256 of each file that reaches a browser, made of this checkout.

Files of `client/` reach it as they are, style sheets without their comments, under the address that is named. Templates
and translations reach it filled in, so those are named by where they are in the repository. The bytes are the same on
every machine that has the same files: they hold no time, no path and no order but that of names.
"""

import hashlib
import json
from typing import Any

from server import __version__
from server.config import ROOT, TRANSLATIONS
from server.web.assets import Assets
from server.web.response_headers import headers

FORMAT = 1
PATH = "/client/manifest.json"
TEMPLATES = ROOT / "templates"


def make_manifest(assets: Assets) -> dict[str, Any]:
    """The manifest, to be written by `write_manifest`."""
    sources = [*TEMPLATES.rglob("*.html"), *TRANSLATIONS.rglob("*.mo")]
    return {
        "format": FORMAT,
        "version": __version__,
        "fingerprint": assets.fingerprint,
        "files": {
            f"/client/{assets.fingerprint}/{name}": _hash(content)
            for name, content in assets.contents.items()
        },
        "sources": {path.relative_to(ROOT).as_posix(): _hash(path.read_bytes()) for path in sources},
        "headers": headers(secure=False),
    }


def write_manifest(manifest: dict[str, Any]) -> bytes:
    """The bytes that are served, printed and signed."""
    return (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode()


def list_differing_files(ours: dict[str, Any], content: bytes) -> list[str]:
    """Names of files that only one of two manifests has, or that differ; the other one is read from its bytes.

    Raises
    ------
    ValueError
        Where it is no manifest.
    """
    try:
        there = _list_files(json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError("a manifest must be what `manifest --json` prints; it is not") from None
    here = _list_files(ours)
    return sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))


def _list_files(manifest: dict[str, Any]) -> dict[str, str]:
    """Without what the address of a file says of the others."""
    files = {f"client/{address.rpartition('/')[2]}": digest for address, digest in manifest["files"].items()}
    return {**files, **manifest["sources"]}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
