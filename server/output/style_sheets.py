"""Style sheets of `client/` as they are sent: comments help whoever reads the file, and cost everybody else bytes."""

import re

_COMMENT = re.compile(r" */\*.*?\*/", re.DOTALL)
_INDENTATION = re.compile(r"^\s+", re.MULTILINE)
"""That of a line, and empty lines."""


def shorten_sheet(source: str) -> str:
    """The rules line by line, without comments and indentation: the same bytes on every machine."""
    return _INDENTATION.sub("", _COMMENT.sub("", source))
