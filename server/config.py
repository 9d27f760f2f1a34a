"""Configuration: frozen, read once from the environment, without a fallback secret (there is no secret)."""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).parent.parent
"""The folder that holds `server`, `client`, `templates` and `docs`."""
DOCS = ROOT / "docs"
TRANSLATIONS = ROOT / "server" / "translations"
SCHEMAS = ROOT / "server" / "schemas"
DATA = ROOT / "data"

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

OPTIONAL_PACKAGES = ("duckdb", "httpx", "minisign", "opendp", "typst")
"""Most of them large, without which a server collects and reports all the same (`requirements-collecting.txt`)."""
OTHER_LISTS = {"pyspark": "requirements-spark.txt"}
"""Where a package is listed that `requirements.txt` does without."""

SWITCH = ("off", "on")
LOG_FORMATS = ("text", "json")
LOG_LEVELS = ("debug", "info", "warning", "error")

_LOOPBACK = re.compile(r"(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]{1,5})?")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Address:
    """Where something listens."""

    host: str
    port: int


class ProofOfWork(StrEnum):
    """Whose open links ask for it: none, those of surveys that are set to, or all."""

    OFF = "off"
    BY_SURVEY = "by-survey"
    ALWAYS = "always"

    def is_asked(self, works: bool) -> bool:
        """Whether by the open links of a survey that is set to `works`, or not to."""
        return self is ProofOfWork.ALWAYS or (self is ProofOfWork.BY_SURVEY and works)


@dataclass(frozen=True)
class Config:
    """Settings of one installation.

    Attributes
    ----------
    database_url : str
        SQLAlchemy URL; SQLite in `data/` unless `DATABASE_URL` says otherwise.
    public_urls : tuple of str
        Where people reach the site (`MONEDA_PUBLIC_URL`), without a slash at the end, the
        most important first; without any, only this machine does.
    proxies : tuple of networks
        Whose word counts about where a request comes from (`MONEDA_TRUSTED_PROXIES`).
    metrics : Address, optional
        Where Prometheus may read (`MONEDA_METRICS`).
    webhooks : bool
        Whether this server may send them (`MONEDA_WEBHOOKS`): it then connects to others, who learn where it is.
    proof_of_work : ProofOfWork
        Where a device works for some seconds before an open link takes its response (`MONEDA_PROOF_OF_WORK`).
    log_format, log_level : str
        How log lines are written (`MONEDA_LOG_FORMAT`), and from which level on (`MONEDA_LOG_LEVEL`).
    """

    database_url: str = f"sqlite:///{DATA / 'moneda.sqlite3'}"
    public_urls: tuple[str, ...] = ()
    proxies: tuple[Network, ...] = ()
    metrics: Address | None = None
    webhooks: bool = False
    proof_of_work: ProofOfWork = ProofOfWork.OFF
    log_format: str = LOG_FORMATS[0]
    log_level: str = "warning"

    @property
    def secure(self) -> bool:
        """Whether the site is reached over https, somewhere."""
        return any(url.startswith("https://") for url in self.public_urls)

    def find_site(self, host: str) -> str | None:
        """Where the site is for a request that names this host: an address of ours, never a host made up.

        Without a public address only this machine is believed, with whatever port, since a
        tunnel may end there; None for any other host.
        """
        for url in self.public_urls:
            if _origin(url) == _origin(f"{urlsplit(url).scheme}://{host}"):
                return url
        if self.public_urls:
            return self.public_urls[0]
        return f"http://{host}" if is_loopback(host) else None

    def is_own(self, origin: str, host: str) -> bool:
        """Whether a page of this site has this origin; `host` is what the request names as its own."""
        ours = self.public_urls or ((f"http://{host}",) if is_loopback(host) else ())
        found = _origin(origin)
        return found is not None and found in [_origin(url) for url in ours]

    def find_address(self, host: str, port: int) -> str:
        """Where a site that listens there is reached: from this machine or, if set, by the public."""
        shown = f"[{host}]" if ":" in host else host
        return next(iter(self.public_urls), f"http://{shown}:{port}")


def from_environment(environment: Mapping[str, str] = os.environ) -> Config:
    """Read the configuration.

    Raises
    ------
    ValueError
        If a setting cannot be used; the message names the variable and its value.
    """
    config = Config()
    database_url = environment.get("DATABASE_URL") or config.database_url
    for plain in ("postgres://", "postgresql://"):
        if database_url.startswith(plain):
            database_url = "postgresql+psycopg://" + database_url.removeprefix(plain)
    if not database_url.startswith(("sqlite:///", "postgresql+psycopg://")):
        raise ValueError("DATABASE_URL must start with sqlite:/// or postgresql://; it does not")
    public_urls = tuple(url.rstrip("/") for url in _split_list(environment.get("MONEDA_PUBLIC_URL", "")))
    for url in public_urls:
        if not _origin(url):
            raise ValueError(
                f"MONEDA_PUBLIC_URL must start with http:// or https:// and a host; it is {url!r}"
            )
    proxies = tuple(_network(text) for text in _split_list(environment.get("MONEDA_TRUSTED_PROXIES", "")))
    metrics = environment.get("MONEDA_METRICS", "")
    return Config(
        database_url=database_url,
        public_urls=public_urls,
        proxies=proxies,
        metrics=_read_address("MONEDA_METRICS", metrics) if metrics else None,
        webhooks=_choose(environment, "MONEDA_WEBHOOKS", SWITCH, SWITCH[0]) == SWITCH[1],
        proof_of_work=ProofOfWork(
            _choose(environment, "MONEDA_PROOF_OF_WORK", tuple(ProofOfWork), config.proof_of_work)
        ),
        log_format=_choose(environment, "MONEDA_LOG_FORMAT", LOG_FORMATS, config.log_format),
        log_level=_choose(environment, "MONEDA_LOG_LEVEL", LOG_LEVELS, config.log_level),
    )


def marks_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where it is marked, outside a PostgreSQL database, what was spent: `MONEDA_MARKS`, else `data/`."""
    return Path(environment.get("MONEDA_MARKS") or DATA)


def secrets_key(environment: Mapping[str, str] = os.environ) -> Path:
    """The file of the key under which the database's secrets are sealed: `MONEDA_SECRETS_KEY`, else in `data/`."""
    return Path(environment.get("MONEDA_SECRETS_KEY") or DATA / "secrets.key")


def backup_passphrase(environment: Mapping[str, str] = os.environ) -> str | None:
    """What backups are encrypted to and opened by (`MONEDA_BACKUP_PASSPHRASE`); None where it is to be asked for."""
    return environment.get("MONEDA_BACKUP_PASSPHRASE") or None


def find_missing_package(error: BaseException) -> str | None:
    """The package that an import did not find, where a server may do without it."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return name if name in OPTIONAL_PACKAGES or name in OTHER_LISTS else None


def is_loopback(host: str) -> bool:
    """Whether a host, with or without a port, is this machine."""
    return _LOOPBACK.fullmatch(host) is not None


def _split_list(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        raise ValueError(
            f"MONEDA_TRUSTED_PROXIES must be addresses or networks, as 127.0.0.1 or 10.0.0.0/8; it has {text!r}"
        ) from None


def _read_address(name: str, text: str) -> Address:
    """An address to listen on: a port of this machine alone, or a host and a port."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65536:
        raise ValueError(
            f"{name} must be a port from 1 to 65535, or host:port, as 127.0.0.1:9464; it is {text!r}"
        )
    return Address(host, int(port))


def _choose(environment: Mapping[str, str], name: str, choices: tuple[str, ...], default: str) -> str:
    value = environment.get(name) or default
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; it is {value!r}")
    return value


def _origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an address; none for what is no address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or parts.username is not None:
        return None
    return parts.scheme, parts.hostname, port or _PORTS[parts.scheme]
