"""What a report says, in one language, as a `Document` that every format is written from."""

from server.reports.contents.internal import internal
from server.reports.contents.public import public

__all__ = ["internal", "public"]
