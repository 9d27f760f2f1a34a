"""What stands inside a backup's encryption: a tar archive, compressed, of parts and, at last, a manifest of hashes.

Any machine can read it with `age` and `tar`. Parts are small, so that neither side holds much in memory. The first
member is `beginning.json`, the last `manifest.json`.
"""

import hashlib
import io
import json
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from server.archives.backups.envelopes import DamagedError

BEGINNING, MANIFEST = "beginning.json", "manifest.json"
FORMAT = 1
_PARTS = {
    "software": str,
    "revision": str,
    "made_at": str,
    "columns": dict,
    "own_columns": dict,
    "surveys": list,
    "incomplete": list,
}
"""What a beginning has: whoever knows a public key can write one that is whole, and not ours."""
_LEVEL = 6
_BLOCK = 512


@dataclass(frozen=True)
class TablePart:
    """Rows of a table, as lines of JSON."""

    table: str
    rows: int
    lines: bytes


@dataclass(frozen=True)
class Contents:
    """What a backup that was read whole says: its beginning, the rows of each table, and how many bytes all have."""

    beginning: dict[str, Any]
    rows: dict[str, int]
    size: int
    digest: str = field(repr=False)

    @property
    def revision(self) -> str:
        """Of the schema that the rows fit."""
        return str(self.beginning["revision"])


def pack_parts(beginning: dict[str, Any], parts: Iterable[TablePart]) -> Iterator[bytes]:
    """The bytes of a backup before its encryption, chunk by chunk."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)  # as gzip
    for block in _tar_blocks(beginning, parts):
        if packed := packer.compress(block):
            yield packed
    yield packer.flush()


def _tar_blocks(beginning: dict[str, Any], parts: Iterable[TablePart]) -> Iterator[bytes]:
    listed: list[list[Any]] = []
    rows: dict[str, int] = {}
    yield from _member(BEGINNING, _json(beginning))
    for number, part in enumerate(parts, 1):
        name = f"rows/{part.table}/{number:08}.jsonl"
        listed.append([name, len(part.lines), hashlib.sha256(part.lines).hexdigest()])
        rows[part.table] = rows.get(part.table, 0) + part.rows
        yield from _member(name, part.lines)
    first = hashlib.sha256(_json(beginning)).hexdigest()
    manifest = {"format": FORMAT, "beginning": first, "rows": rows, "members": listed}
    yield from _member(MANIFEST, _json(manifest))
    yield bytes(2 * _BLOCK)


def _member(name: str, content: bytes) -> Iterator[bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o600
    yield info.tobuf(tarfile.PAX_FORMAT)
    yield content
    yield bytes(-len(content) % _BLOCK)


def read_parts(plain: IO[bytes], take: "Taker") -> Contents:
    """Read a backup to its end, giving its beginning and then each part to `take`.

    Raises
    ------
    DamagedError
        If it holds anything but what its manifest says. What was taken by then counts for nothing.
    """
    try:
        return _read_members(_Unpacker(plain), take)
    except DamagedError:
        raise
    except (tarfile.TarError, zlib.error, EOFError, ValueError, LookupError, TypeError) as error:
        raise DamagedError("the file is damaged or cut, and nothing of it can be trusted") from error


class Taker:
    """Somebody who takes what is read, in its order."""

    def begin(self, beginning: dict[str, Any]) -> None:
        """What stands before all rows."""

    def take(self, part: TablePart) -> None:
        """Some rows of a table."""


def _read_members(plain: "_Unpacker", take: Taker) -> Contents:
    beginning: dict[str, Any] | None = None
    manifest: dict[str, Any] | None = None
    listed: list[list[Any]] = []
    rows: dict[str, int] = {}
    whole = hashlib.sha256()
    first = ""
    with tarfile.open(fileobj=plain, mode="r|") as archive:
        for info in archive:
            member = archive.extractfile(info)
            content = member.read() if member else b""
            whole.update(content)
            if beginning is None:
                beginning, first = _parse_beginning(info.name, content), hashlib.sha256(content).hexdigest()
                take.begin(beginning)
            elif info.name == MANIFEST:
                manifest = json.loads(content)
                break
            else:
                table, count = info.name.split("/")[1], content.count(b"\n")
                listed.append([info.name, len(content), hashlib.sha256(content).hexdigest()])
                rows[table] = rows.get(table, 0) + count
                take.take(TablePart(table, count, content))
    plain.read_rest()
    expected = {"format": FORMAT, "beginning": first, "rows": rows, "members": listed}
    if beginning is None or manifest != expected:
        raise DamagedError("the file does not hold what its list of hashes says")
    return Contents(beginning, rows, sum(size for _, size, _ in listed), whole.hexdigest())


def _parse_beginning(name: str, content: bytes) -> dict[str, Any]:
    beginning = json.loads(content) if name == BEGINNING else None
    if not isinstance(beginning, dict) or beginning.get("format") != FORMAT:
        raise DamagedError("the file was written in a form that this version of Moneda does not know")
    if not (
        all(isinstance(beginning.get(name), kind) for name, kind in _PARTS.items())
        and all(type(number) is int and number > 0 for number in beginning["surveys"])
        and len({*beginning["surveys"]}) == len(beginning["surveys"])
        and all(map(_are_columns, [*beginning["columns"].values(), *beginning["own_columns"].values()]))
    ):
        raise DamagedError("the file does not begin as Moneda begins one")
    return beginning


def _are_columns(described: object) -> bool:
    """Whether this is a list of pairs of texts."""
    return isinstance(described, list) and all(
        isinstance(column, list) and len(column) == 2 and all(isinstance(text, str) for text in column)
        for column in described
    )


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


class _Unpacker(io.RawIOBase):
    """Unpacks as it is read, with a limit to what is in memory."""

    def __init__(self, plain: IO[bytes]) -> None:
        self._plain = plain
        self._packed = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._packed.eof:
            packed = self._packed.unconsumed_tail or self._plain.read(1 << 16)
            if not packed:
                raise EOFError
            if unpacked := self._packed.decompress(packed, size if size > 0 else 1 << 16):
                return unpacked
        return b""

    def read_rest(self) -> None:
        """Read to the end, where nothing may follow."""
        while self.read(1 << 16):
            pass
        if self._packed.unused_data:
            raise EOFError
