"""The log: lines of text or of JSON, without a word of what a respondent sent, and without the minute.

A line says what failed and where in the code (`describe_failure`). Its time is the hour: a failure that was met by a
respondent tells that somebody came. Other libraries' lines are not repeated, since what they quote may be a statement
with its values, or a request: it is said which library it was, where in its code, and what kind of error it met.
"""

import json
import logging
import sys
import threading
from pathlib import Path
from time import gmtime, monotonic, strftime
from typing import Any, Final

from server.config import Config
from server.store.failures import Failure, describe_failure

_OWN: Final = "server"
_SERVER: Final = "_granian"
"""What is written under just this name is about processes: which was started, which has ended."""
_FORMATTER: Final = f"{__name__}.LogLines"
_FILTER: Final = f"{__name__}.SaidSeldom"
SELDOM: Final = 1800.0
"""Seconds before it is said again that another version has upgraded the database."""


def configure_log(config: Config) -> dict[str, Any]:
    """How `logging.config.dictConfig` sets up a process; granian does so in each that it starts.

    The level is for Moneda's own lines. Of others, only warnings and what is worse are written at all: below that,
    some say what they do, with every value.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": _FORMATTER, "as_json": config.log_format == "json"}},
        "filters": {"seldom": {"()": _FILTER}},
        "handlers": {
            "lines": {
                "class": "logging.StreamHandler",
                "formatter": "lines",
                "filters": ["seldom"],
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"handlers": ["lines"], "level": "WARNING"},
        "loggers": {
            _OWN: {"level": config.log_level.upper()},
            _SERVER: {"level": "ERROR"},
            "granian.access": {"level": "CRITICAL"},
        },
    }


def log_uncaught() -> None:
    """Let the log describe what nobody caught; by itself Python would write the whole error to standard error."""

    def describe_uncaught(uncaught: Any) -> None:
        error = uncaught.exc_value
        text = "an error without a name" if error is None else describe_failure(error)
        logging.getLogger(__name__).error("%s that nobody caught", text)

    threading.excepthook = describe_uncaught
    sys.unraisablehook = describe_uncaught


class SaidSeldom(logging.Filter):
    """Keeps back what every request and job of a process says from the moment that another version overtook it."""

    def __init__(self) -> None:
        super().__init__()
        self._again = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        if Failure.OUTDATED.value not in record.getMessage():
            return True
        now = monotonic()
        if now < self._again:
            return False
        self._again = now + SELDOM
        return True


class LogLines(logging.Formatter):
    """Writes a record as one line."""

    def __init__(self, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """The line; what else belongs to the record is left out, its traceback too."""
        line = {
            "hour": strftime("%Y-%m-%dT%HZ", gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _describe(record),
        }
        return json.dumps(line, ensure_ascii=False) if self._as_json else " ".join(line.values())


def _describe(record: logging.LogRecord) -> str:
    own = record.name == _SERVER or record.name.partition(".")[0] == _OWN
    said = [
        " ".join(record.getMessage().split())
        if own
        else f"a line of another library, from {Path(record.pathname).name}:{record.lineno}"
    ]
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        said.append(describe_failure(error))
    return ": ".join(said)
