"""Configuration: frozen, read once from the environment, without a fallback secret (there is no secret)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent.parent / "data"


@dataclass(frozen=True)
class Config:
    """Settings of one installation.

    Attributes
    ----------
    database_url : str
        SQLAlchemy URL; SQLite in `data/` unless `DATABASE_URL` says otherwise.
    public_url : str
        Where respondents reach the site (`MONEDA_PUBLIC_URL`), without a slash at the
        end; empty: as the request came in.
    """

    database_url: str = f"sqlite:///{DATA / 'moneda.sqlite3'}"
    public_url: str = ""

    @property
    def secure(self) -> bool:
        """Whether the site is reached over https, so that cookies may insist on it."""
        return self.public_url.startswith("https://")


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
    public_url = environment.get("MONEDA_PUBLIC_URL", "").rstrip("/")
    if public_url and not public_url.startswith(("http://", "https://")):
        raise ValueError(f"MONEDA_PUBLIC_URL must start with http:// or https://; it is {public_url!r}")
    return Config(database_url=database_url, public_url=public_url)
