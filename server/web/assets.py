"""The files of `client/`, style sheets without comments, and those made of them: bytes, fingerprint and hashes."""

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

from server.config import ROOT
from server.output.style_sheets import shorten_sheet
from server.web.joined_modules import join_modules

CLIENT = ROOT / "client"
OFFLINE_WORKER = "offline_worker.js"
"""The one file that may answer in place of the network, for the surveys' pages alone."""
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class Assets:
    """The client files as they were when the server started, and their hashes.

    The bytes are kept, so that an upgrade under a running server cannot serve a file that
    differs from its published hash.
    """

    contents: dict[str, bytes]
    fingerprint: str
    integrity: dict[str, str]


def read_assets(folder: Path = CLIENT) -> Assets:
    """Hash every file; the fingerprint of all of them is part of their address, so that a copy
    in a cache can never be mixed with files of another release."""
    # What a system or an editor leaves beside them is none of the release.
    contents = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in TYPES}
    for name in contents:
        if name.endswith(".css"):
            contents[name] = shorten_sheet(contents[name].decode()).encode()
    contents |= join_modules(contents)
    together = hashlib.sha256()
    integrity = {}
    for name, content in contents.items():
        digest = hashlib.sha256(content).digest()
        together.update(name.encode() + digest)
        integrity[name] = f"sha256-{b64encode(digest).decode()}"
    return Assets(contents, together.hexdigest()[:8], integrity)
