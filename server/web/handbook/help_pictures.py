"""The pictures of docs/: how large each is, and the fingerprint that its address carries."""

import hashlib
import struct
from dataclasses import dataclass
from pathlib import PurePosixPath

from server.config import DOCS

IMAGES = PurePosixPath("images")
"""Their folder, seen from docs/."""


@dataclass(frozen=True)
class HelpPicture:
    """A PNG: its width and height in pixels, and the beginning of its SHA-256.

    With the latter in its address another picture has another one, and a copy in a cache is never an old one.
    """

    width: int
    height: int
    fingerprint: str


def read_picture(name: str) -> bytes:
    """The bytes of a picture.

    Raises
    ------
    FileNotFoundError
        If there is none of this name.
    """
    # Compared with the names that there are: what a request asks for never becomes a path.
    for path in (DOCS / IMAGES).glob("*.png"):
        if path.name == name:
            return path.read_bytes()
    raise FileNotFoundError(f"docs/{IMAGES} holds no picture {name!r}")


def measure_picture(content: bytes) -> HelpPicture:
    """What a page says of a picture before it is loaded, so that nothing moves when it comes."""
    width, height = struct.unpack(">II", content[16:24])  # of the chunk IHDR, which comes first
    return HelpPicture(width, height, hashlib.sha256(content).hexdigest()[:16])
