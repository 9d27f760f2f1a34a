"""RSA blind signatures (RFC 9474), the signer's part, with keys of 2048 bits and SHA-384.

RSABSSA-SHA384-PSS-Randomized for tickets; for completion codes RSABSSA-SHA384-PSSZERO-Deterministic, whose signature of
a message is always the same, so that whoever has the key can make it anew and need not be shown it.

Who asks sends a number that says nothing of the message, and makes of the answer a signature that the signer has never
seen. Here are keys, the signature of such a number, and the check of what came of it; `client/blinding.js` blinds.
"""

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from Crypto.Math.Numbers import Integer
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

KEY_BITS = 2048
SIGNATURE_LENGTH = KEY_BITS // 8
"""Bytes of a modulus, of a blinded message and of a signature."""
PREFIX_LENGTH = 32
"""Random bytes that a message begins with, so that whoever signs cannot have chosen it."""
_EXPONENT = 65537
_SALT_LENGTH = 48
_PADDING = padding.PSS(padding.MGF1(hashes.SHA384()), _SALT_LENGTH)


@dataclass(frozen=True, repr=False)
class SigningKey:
    """A modulus, and the exponent that signs, which is secret."""

    modulus: bytes
    exponent: int


def make_key() -> SigningKey:
    """A new key, of the system's own randomness."""
    made = rsa.generate_private_key(_EXPONENT, KEY_BITS).private_numbers()
    return SigningKey(made.public_numbers.n.to_bytes(SIGNATURE_LENGTH, "big"), made.d)


def is_below(blinded: bytes, modulus: bytes) -> bool:
    """Whether this can be a blinded message: as long as the modulus, and smaller."""
    return len(blinded) == len(modulus) and blinded < modulus


def sign_blinded(key: SigningKey, blinded: bytes) -> bytes:
    """The signature of a blinded message (`BlindSign` of the RFC).

    How long it takes says nothing of the exponent: the number is multiplied by a random one before, as against timing.

    Raises
    ------
    ArithmeticError
        If what was computed is no signature; handing it out could tell the key.
    """
    modulus, message = Integer.from_bytes(key.modulus), Integer.from_bytes(blinded)
    mask = Integer.random_range(min_inclusive=2, max_exclusive=modulus)
    masked = message * pow(mask, _EXPONENT, modulus) % modulus
    signature = pow(masked, Integer(key.exponent), modulus) * mask.inverse(modulus) % modulus
    again = pow(signature, _EXPONENT, modulus).to_bytes(len(key.modulus))
    if not hmac.compare_digest(again, blinded):
        raise ArithmeticError("the blind signature does not verify")
    return bytes(signature.to_bytes(len(key.modulus)))


def open_signer(key: SigningKey) -> Callable[[bytes], bytes]:
    """Signs messages without a salt: what comes of the same message is always the same, blinded or not."""
    modulus = int.from_bytes(key.modulus, "big")
    p, q = rsa.rsa_recover_prime_factors(modulus, _EXPONENT, key.exponent)
    numbers = rsa.RSAPrivateNumbers(
        p=p,
        q=q,
        d=key.exponent,
        dmp1=rsa.rsa_crt_dmp1(key.exponent, p),
        dmq1=rsa.rsa_crt_dmq1(key.exponent, q),
        iqmp=rsa.rsa_crt_iqmp(p, q),
        public_numbers=rsa.RSAPublicNumbers(_EXPONENT, modulus),
    )
    private = numbers.private_key()
    unsalted = padding.PSS(padding.MGF1(hashes.SHA384()), 0)
    return lambda message: private.sign(message, unsalted, hashes.SHA384())


def is_signed(modulus: bytes, message: bytes, signature: bytes) -> bool:
    """Whether this is a signature of a message, its random beginning included, under the key with this modulus."""
    try:
        _public(modulus).verify(signature, message, _PADDING, hashes.SHA384())
    except InvalidSignature:
        return False
    return True


@lru_cache(maxsize=1024)
def _public(modulus: bytes) -> rsa.RSAPublicKey:
    return rsa.RSAPublicNumbers(_EXPONENT, int.from_bytes(modulus, "big")).public_key()
