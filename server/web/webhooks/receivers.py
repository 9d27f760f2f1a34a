"""Where webhooks may go: `https` addresses with a name, on public networks."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from server.inputs import N_, refuse, shorten_value

PORTS = (443, 8443)
URL_LIMIT = 500
_NAME = re.compile(
    r"(?=.{4,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])"
)
_RESERVED_ENDINGS = (".onion", ".local", ".localhost", ".internal", ".test", ".invalid", ".home.arpa")

# Named one by one: what Python calls global differs between its versions.
_NOT_PUBLIC_V4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)
_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")
"""Global unicast; what carries an IPv4 address (::ffff:0:0/96, 64:ff9b::/96) lies outside, or below."""
_NOT_PUBLIC_V6 = tuple(
    map(
        ipaddress.IPv6Network,
        ("2001::/23", "2001:db8::/32", "2002::/16", "3ffe::/16", "3fff::/20", "2620:4f:8000::/48"),
    )
)
_ISATAP = 0x5EFE
"""In any network: what stands before an IPv4 address in the lower half (RFC 5214, section 6.1), beside one bit that
says whether that address is a public one."""
_ISATAP_MASK = 0xFDFFFFFF


@dataclass(frozen=True)
class Receiver:
    """Where a webhook is sent: a name, a port, and what stands behind them."""

    host: str
    port: int
    path: str


def parse_receiver(text: str) -> str:
    """An address as it was typed, if a webhook may be sent there as far as its words tell.

    Raises
    ------
    InputError
        422 on `url`.
    """
    url = text.strip()
    if (
        not url
        or len(url) > URL_LIMIT
        or not url.isascii()
        or not url.isprintable()
        or " " in url
        or "\\" in url
    ):
        template = N_("must have 1 to %(limit)s characters of ASCII without spaces; it is %(value)s")
        raise refuse(422, "url", template, limit=URL_LIMIT, value=shorten_value(text) or "-")
    try:
        parts = urlsplit(url)
        port = PORTS[0] if parts.port is None else parts.port
        host = parts.hostname or ""
    except ValueError:
        parts, port, host = urlsplit(""), 0, ""
    if parts.scheme != "https" or "@" in parts.netloc or parts.fragment or parts.netloc.endswith(":"):
        template = N_("must begin with https:// and hold no name, password or fragment; it is %(value)s")
        raise refuse(422, "url", template, value=shorten_value(url))
    if _NAME.fullmatch(host) is None or host.endswith(_RESERVED_ENDINGS):
        template = N_(
            "must name a public host, as hooks.example.org, and no number in its place; it is %(value)s"
        )
        raise refuse(422, "url", template, value=shorten_value(host) or "-")
    if port not in PORTS:
        template = N_("must be on port %(choices)s; it is %(value)s")
        raise refuse(422, "url", template, choices=", ".join(map(str, PORTS)), value=port)
    return url


def split_receiver(url: str) -> Receiver:
    """The parts of an address that `parse_receiver` has let pass."""
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Receiver(str(parts.hostname), parts.port or PORTS[0], path)


def is_public(address: str) -> bool:
    """Whether a numeric address is one of the public internet: no loopback, no network of one's own, nothing mapped."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv4Address):
        return not any(found in network for network in _NOT_PUBLIC_V4)
    if (int(found) >> 32) & _ISATAP_MASK == _ISATAP:
        return False
    return found in _PUBLIC_V6 and not any(found in network for network in _NOT_PUBLIC_V6)
