"""Signatures after the Standard Webhooks specification 1.0, so that its libraries verify them."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping

PREFIX = "whsec_"
_BYTES = 32


def new_signing_secret() -> str:
    """256 random bits, as the specification writes them."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> Mapping[str, str]:
    """The three headers that say which message this is, when it is sent (seconds since 1970), and that it is ours."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{message_id}.{timestamp}.".encode() + body
    signature = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{signature}",
    }
