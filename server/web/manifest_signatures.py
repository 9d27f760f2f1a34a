"""Signatures of manifests, in the format of minisign: whoever has that program can make and check them as well.

Keys are made where releases are signed, and no server needs one: a server that is taken over can sign nothing.
"""

import os
from pathlib import Path

from server.config import DATA

ENDING = ".minisig"
"""What is added to the name of a file for that of its signature."""


class SignatureError(ValueError):
    """A key or a signature that cannot be used, or does not fit."""


def name_public(secret: Path) -> Path:
    """Where the public key is that belongs to a secret one."""
    return secret.with_name(f"{secret.name}.pub")


def make_keys(secret: Path, passphrase: str) -> Path:
    """Write a new secret key, encrypted, and beside it the public one, whose path is returned.

    Raises
    ------
    SignatureError
        Where a file is there already, or the folder is that of a server's data.
    """
    from minisign import KeyPair

    if secret.resolve().is_relative_to(DATA.resolve()):
        raise SignatureError(f"a secret key must not be in {DATA}, where a server keeps its data")
    public = name_public(secret)
    pair = KeyPair.generate()
    pair.secret_key.encrypt(passphrase)
    _write_new(secret, bytes(pair.secret_key), 0o600)
    _write_new(public, bytes(pair.public_key), 0o644)
    return public


def sign(content: bytes, secret: Path, passphrase: str, comment: str) -> bytes:
    """A signature, with a comment that is signed along.

    Raises
    ------
    SignatureError
        Where there is no such key, or the passphrase does not open it.
    """
    from minisign import Error, SecretKey

    try:
        with SecretKey.from_bytes(secret.read_bytes()) as key:
            key.decrypt(passphrase)
            return bytes(key.sign(content, trusted_comment=comment)) + b"\n"
    except Error as error:
        raise SignatureError(f"{secret} cannot sign: {error}") from error


def check_signature(content: bytes, signature: bytes, public: Path) -> str:
    """The comment that was signed along.

    Raises
    ------
    SignatureError
        Where it is not a signature of this content by this key.
    """
    from minisign import Error, PublicKey, Signature

    try:
        read = Signature.from_bytes(signature)
        PublicKey.from_bytes(public.read_bytes()).verify(content, read)
    except Error as error:
        raise SignatureError(f"not signed by the key in {public}: {error}") from error
    return read.trusted_comment


def _write_new(path: Path, content: bytes, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise SignatureError(f"{path} must be a new file; it is there already") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(content + b"\n")
