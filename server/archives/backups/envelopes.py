"""The encryption of backups: age, by `pyrage`, in a stream.

A file begins with `MAGIC` and a length of four bytes. With a public key that length is 0, and an age file follows. With
a passphrase so many bytes of an age file follow that the passphrase opens (scrypt), and which holds the private key of
the second age file, the rest: `pyrage` streams for keys only. The `age` program opens both by hand.
"""

import io
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

import pyrage

MAGIC = b"moneda backup 1\n"
SHORTEST_PASSPHRASE = 12
"""Characters of a passphrase; whoever has the file may try as many as they like."""
_LONGEST_KEY = 4096


class DamagedError(ValueError):
    """A file that is no whole backup, or not opened by what was given; says which, in one sentence."""


@dataclass(frozen=True)
class Lock:
    """What a backup is encrypted to: a passphrase, or an age public key."""

    passphrase: str | None = None
    recipient: str | None = None


@dataclass(frozen=True)
class Unlock:
    """What opens a backup: a passphrase, or the text of an age identity file."""

    passphrase: str | None = None
    identity: str | None = None


def encrypt_chunks(chunks: Iterable[bytes], file: IO[bytes], lock: Lock) -> None:
    """Write chunks to a file as they come, encrypted.

    Raises
    ------
    ValueError
        If the passphrase is too short, or the public key is none.
    """
    if lock.recipient is not None:
        header, recipient = b"", _parse_recipient(lock.recipient)
    else:
        passphrase = lock.passphrase or ""
        if len(passphrase) < SHORTEST_PASSPHRASE:
            raise ValueError(
                f"the passphrase must have at least {SHORTEST_PASSPHRASE} characters; it has {len(passphrase)}"
            )
        key = pyrage.x25519.Identity.generate()
        header, recipient = pyrage.passphrase.encrypt(str(key).encode(), passphrase), key.to_public()
    file.write(MAGIC + len(header).to_bytes(4, "big") + header)
    reader = _ChunkReader(chunks)
    writer = _Writer(file)
    try:
        pyrage.encrypt_io(reader, writer, [recipient])
    except pyrage.EncryptError:  # which says of another error its text alone
        raise reader.failure or writer.failure or AssertionError("age failed by itself") from None


@contextmanager
def decrypt_file(file: IO[bytes], unlock: Unlock) -> Iterator[IO[bytes]]:
    """What a file holds, to be read once from its beginning to its end; the file is read from its beginning.

    Whoever has read all of it knows that it is whole only when the block ends without an error.

    Raises
    ------
    DamagedError
        If it is no backup, is cut or changed, or is not opened by this.
    """
    file.seek(0)
    identities = _read_header(file, unlock)
    reading, writing = os.pipe()
    failures: list[BaseException] = []

    def decrypt() -> None:
        try:
            with os.fdopen(writing, "wb") as plain:
                pyrage.decrypt_io(file, plain, identities)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=decrypt)
    thread.start()
    try:
        with os.fdopen(reading, "rb") as plain:
            try:
                yield plain
            except Exception:
                # What is read amiss may be the consequence of an end that came too early.
                with suppress(OSError):
                    while plain.read(1 << 20):
                        pass
                thread.join()
                _raise_first(failures)
                raise
            if plain.read(1):
                raise DamagedError("the file is no backup: something follows its end")
    finally:
        thread.join()
    _raise_first(failures)


def _raise_first(failures: list[BaseException]) -> None:
    for error in failures:
        if isinstance(error, pyrage.DecryptError):
            raise DamagedError(_describe(error)) from None
        raise DamagedError("the file is damaged or cut, and nothing of it can be trusted") from error


def _describe(error: Exception) -> str:
    if "No matching keys" in str(error):
        return "the file was encrypted to another key"
    return "the file is damaged or cut, and nothing of it can be trusted"


def _read_header(file: IO[bytes], unlock: Unlock) -> list[pyrage.x25519.Identity]:
    if file.read(len(MAGIC)) != MAGIC:
        raise DamagedError(
            "the file is no backup that this version of Moneda knows, or its beginning is damaged"
        )
    length_bytes = file.read(4)
    length = int.from_bytes(length_bytes, "big")
    header = file.read(length) if length <= _LONGEST_KEY else b""
    if len(length_bytes) != 4 or len(header) != length:
        raise DamagedError("the file is damaged or cut, and nothing of it can be trusted")
    if not header:
        if unlock.identity is None:
            raise DamagedError("the file was encrypted to a public key; give its private key with --identity")
        return _parse_identities(unlock.identity)
    if unlock.passphrase is None:
        raise DamagedError("the file was encrypted to a passphrase, and not to a public key")
    try:
        key = pyrage.passphrase.decrypt(header, unlock.passphrase)
    except pyrage.DecryptError:
        raise DamagedError("the passphrase does not open the file, or its beginning is damaged") from None
    return [pyrage.x25519.Identity.from_str(key.decode())]


def _parse_recipient(text: str) -> pyrage.x25519.Recipient:
    try:
        return pyrage.x25519.Recipient.from_str(text.strip())
    except pyrage.RecipientError:
        raise ValueError(f"the public key must be one of age's, as age1...; it is {text!r}") from None


def _parse_identities(text: str) -> list[pyrage.x25519.Identity]:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    try:
        found = [pyrage.x25519.Identity.from_str(line) for line in lines]
    except pyrage.IdentityError:
        found = []
    if not found:
        raise ValueError(
            "the file of --identity must hold private keys of age, as AGE-SECRET-KEY-1..., one a line"
        )
    return found


class _ChunkReader(io.RawIOBase):
    """A file that is read from chunks as they come."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""
        self.failure: BaseException | None = None

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._rest:
            try:
                chunk = next(self._chunks, None)
            except BaseException as error:
                self.failure = error
                raise
            if chunk is None:
                return b""
            self._rest = chunk
        size = len(self._rest) if size < 0 else size
        given, self._rest = self._rest[:size], self._rest[size:]
        return given


class _Writer:
    """A file, and why it could not be written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.failure: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            return self._file.write(data)
        except OSError as error:
            self.failure = error
            raise

    def flush(self) -> None:
        self._file.flush()
