"""The manifest of this release's pages: the SHA-256 of each file that reaches a browser, as it is in the checkout.

Files of `client/` reach it as they are, under the address that is named. Templates and translations reach it filled
in, so those are named by where they are in the repository. The bytes are the same on every machine that has the same
files: they hold no time, no path and no order but that of names.
"""

import hashlib
import json
from typing import Any

from server import __version__
from server.config import ROOT, TRANSLATIONS
from server.web.assets import Assets
from server.web.security import headers

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


def differing_entries(ours: dict[str, Any], other: dict[str, Any], part: str) -> list[str]:
    """Names in one part of two manifests that only one of them has, or that differ."""
    names = {*ours[part], *other[part]}
    return sorted(name for name in names if ours[part].get(name) != other[part].get(name))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
