"""What one request carries: its configuration and its database session."""

from flask import current_app, g
from sqlalchemy.orm import Session

from server.config import Config


def config() -> Config:
    """The application's configuration."""
    value: Config = current_app.extensions["moneda.config"]
    return value


def session() -> Session:
    """The request's database session; it may write unless the request is a GET or HEAD."""
    value: Session = g.session
    return value
