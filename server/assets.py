"""The files of `client/`, served as they are: their fingerprint and integrity hashes."""

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

CLIENT = Path(__file__).parent.parent / "client"


@dataclass(frozen=True)
class Assets:
    """Hashes of the client files as they were when the server started."""

    fingerprint: str
    integrity: dict[str, str]


def read_assets(folder: Path = CLIENT) -> Assets:
    """Hash every file; the fingerprint of all of them is part of their address, so that a copy
    in a cache can never be mixed with files of another release."""
    contents = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    together = hashlib.sha256()
    integrity = {}
    for name, content in contents.items():
        digest = hashlib.sha384(content).digest()
        together.update(name.encode() + digest)
        integrity[name] = f"sha384-{b64encode(digest).decode()}"
    return Assets(together.hexdigest()[:16], integrity)
