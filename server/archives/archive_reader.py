"""The bytes of an archive -> its entries: named, counted and measured before any is read.

Nothing is unpacked onto the disk, so that no name can lead anywhere. Python's reader gives no
more of an entry than the directory says, so that what the directory says bounds what is read;
the directory itself is measured first, because reading it takes a thousand times its room.
"""

import os
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from server.archives.layout import MANIFEST, UNPACKED_LIMIT, VERSIONS_LIMIT, entry_names
from server.inputs import N_, InputError, Problem, refuse, shorten_value

_DIRECTORY_LIMIT = 1024 * 1024
"""Bytes; that of an archive with the most versions has a third of it."""
_END = b"PK\x05\x06"
_END_SIZE = 22
_LONG_END = b"PK\x06\x07"
_LONG_END_SIZE = 20
_CHUNK = 1 << 16
_LINE_LIMIT = 1 << 16


def looks_like_archive(name: str, beginning: bytes) -> bool:
    """Whether a file is meant as an archive of a survey, rather than as a workbook, which is a ZIP file too."""
    return beginning.startswith(b"PK") and (
        name.casefold().endswith(".zip") or beginning[30 : 30 + len(MANIFEST)] == MANIFEST.encode()
    )


class Archive:
    """An archive that was measured, and whose entries have the right names."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def read(self, name: str, limit: int) -> bytes:
        """All of an entry.

        Raises
        ------
        InputError
            If it has more bytes than `limit`, or is damaged.
        """
        size = self._archive.getinfo(name).file_size
        if size > limit:
            template = N_("must be at most %(limit)d bytes; it has more")
            raise refuse(413, name, template, limit=limit)
        return b"".join(self.chunks(name))

    def chunks(self, name: str) -> Iterator[bytes]:
        """An entry in parts of bounded size."""
        left = self._archive.getinfo(name).file_size
        with _whole(name), self._archive.open(name) as stream:
            while chunk := stream.read(_CHUNK):
                left -= len(chunk)
                yield chunk
        if left:  # it says that it has more; a checksum does not tell
            raise _refuse_damage(name)

    def lines(self, name: str) -> Iterator[str]:
        """The lines of a text, with their ends."""
        rest = b""
        for chunk in self.chunks(name):
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > _LINE_LIMIT:
                template = N_("must have rows of at most %(limit)d bytes; one has more")
                raise refuse(413, name, template, limit=_LINE_LIMIT)
            yield from (_decode_line(name, line + b"\n") for line in lines)
        if rest:
            yield _decode_line(name, rest)


@contextmanager
def open_archive(file: IO[bytes]) -> Iterator[Archive]:
    """Open and measure an archive.

    Raises
    ------
    InputError
        Naming the entry: if it leads outside, is a link, encrypted, twice or not known here, if
        one is missing, or if all would unpack to too much. Or if this is no whole ZIP file.
    """
    _measure_directory(file)
    with _whole("file"), zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        for entry in entries:
            _check_entry(entry)
        if sum(entry.file_size for entry in entries) > UNPACKED_LIMIT:
            raise _too_much()
        names = [entry.filename for entry in entries]
        _check_names(names)
        yield Archive(archive)


@contextmanager
def name_entry_in_problems(name: str) -> Iterator[None]:
    """Say of every problem in which entry it stands."""
    try:
        yield
    except InputError as error:
        problems = [
            problem
            if problem.field == name
            else Problem(
                f"{name}: {problem.field}" if problem.field else name, problem.template, problem.values
            )
            for problem in error.problems
        ]
        raise InputError(error.status, problems) from None


def _measure_directory(file: IO[bytes]) -> None:
    """Look at the end of the file, where the size of the directory stands."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_SIZE - _LONG_END_SIZE))
    ending = file.read()
    end = ending[-_END_SIZE:]
    # Python looks for the end elsewhere if there is a comment. Ours have none.
    if not end.startswith(_END) or not end.endswith(b"\0\0"):
        raise _refuse_damage("file")
    directory = int.from_bytes(end[12:16], "little")
    if directory > _DIRECTORY_LIMIT or ending[:-_END_SIZE].startswith(_LONG_END):
        raise _too_much()


def _check_entry(entry: zipfile.ZipInfo) -> None:
    name = entry.orig_filename
    mode = entry.external_attr >> 16
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or "\\" in name or ":" in name or name.startswith("/") or stat.S_ISLNK(mode):
        raise refuse(
            422,
            shorten_value(name),
            N_("must not lead out of the archive: no path upwards, no drive, no link"),
        )
    if entry.flag_bits & 0x41:
        raise refuse(422, shorten_value(name), N_("must not be encrypted"))
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise refuse(422, shorten_value(name), N_("must be compressed by DEFLATE or not at all"))
    if entry.header_offset < 0:  # the beginning of the file is gone
        raise _refuse_damage(shorten_value(name))


def _check_names(names: list[str]) -> None:
    counted = Counter(names)
    expected = entry_names(min(VERSIONS_LIMIT, sum(name.endswith("/published.json") for name in counted)))
    for name, count in counted.items():
        if name not in expected:
            template = N_("is no part of a survey’s archive; import the file as it was exported")
            raise refuse(422, shorten_value(name), template)
        if count > 1:
            raise refuse(422, name, N_("must stand only once in the archive"))
    for name in expected:
        if name not in counted:
            raise refuse(422, name, N_("is missing from the archive"))


@contextmanager
def _whole(name: str) -> Iterator[None]:
    """Whatever is wrong with the bytes of a ZIP file is said of this entry."""
    try:
        yield
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, UnicodeDecodeError):
        raise _refuse_damage(name) from None


def _refuse_damage(name: str) -> InputError:
    template = N_("must be whole, as Moneda exported it; it is cut off, damaged or something else")
    return refuse(422, name, template)


def _too_much() -> InputError:
    template = N_("must unpack to at most %(limit)d bytes; this one has more")
    return refuse(413, "file", template, limit=UNPACKED_LIMIT)


def _decode_line(name: str, line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        template = N_("must be UTF-8; byte %(position)d is not")
        raise refuse(400, name, template, position=error.start) from None
