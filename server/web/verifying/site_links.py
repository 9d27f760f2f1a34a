"""The addresses that somebody types: of a site, and of the links of its surveys."""

import re
from urllib.parse import urlsplit

_SLUG = re.compile("[A-Za-z0-9_-]{1,64}")


def read_site(url: str) -> str:
    """The scheme, host and port of an address.

    Raises
    ------
    ValueError
        Where it has more than these, or is none.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.username is not None:
        raise ValueError(f"URL must be https:// and a host, as https://survey.example; it is {url!r}")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(f"URL must end after the host: links of surveys come after it; it is {url!r}")
    return f"{parts.scheme}://{parts.netloc}"


def read_link(site: str, text: str) -> str:
    """The last part of a link, of what somebody typed: a whole address of this site, a path, or that part alone.

    Raises
    ------
    ValueError
        Where it is none.
    """
    slug = text.removeprefix(site).removeprefix("/s/").partition("#")[0].partition("?")[0]
    if not _SLUG.fullmatch(slug):
        raise ValueError(f"a link must begin with {site}/s/, or be what follows that; it is {text!r}")
    return slug
