"""Names that others give out: a DOI, an ORCID iD, an address on the web, an e-mail address."""

import re
from urllib.parse import urlsplit

_DOI = re.compile(r"10\.[0-9]{4,9}/[!-~]+")
"""ASCII that can be seen: what registration agencies give out (Crossref allows no other letters)."""
_DOI_ADDRESS = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_ORCID = re.compile(r"[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]")
_ORCID_ADDRESS = re.compile(r"https?://orcid\.org/", re.IGNORECASE)
_EMAIL = re.compile(r"[^@\s<>()\[\]\\,;:\"]+@[^@\s.<>()\[\]\\,;:\"]+(?:\.[^@\s.<>()\[\]\\,;:\"]+)+")


def normalise_doi(text: str) -> str | None:
    """A DOI without an address before it; None if it is none."""
    bare = _DOI_ADDRESS.sub("", text.strip(), count=1)
    return bare if _DOI.fullmatch(bare) else None


def normalise_orcid(text: str) -> str | None:
    """An ORCID iD without an address before it; None if it is none.

    Its last character is a check digit over the others (ISO 7064, MOD 11-2).
    """
    bare = _ORCID_ADDRESS.sub("", text.strip(), count=1).removesuffix("/").upper()
    if _ORCID.fullmatch(bare) is None:
        return None
    digits, check = bare[:-1].replace("-", ""), bare[-1]
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    expected = (12 - total % 11) % 11
    return bare if check == ("X" if expected == 10 else str(expected)) else None


def is_web_address(text: str) -> bool:
    """Whether it begins with https:// or http:// and names a host; no name or password, and nothing unseen."""
    if re.fullmatch(r"[^\s\x00-\x1f\x7f<>\"\\^`{|}]+", text) is None:
        return False
    try:
        parts = urlsplit(text)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    return parts.scheme.lower() in ("https", "http") and bool(host) and "@" not in parts.netloc


def is_email(text: str) -> bool:
    """Whether it has the form of an e-mail address; whether anybody reads it, nothing here knows."""
    return _EMAIL.fullmatch(text) is not None
