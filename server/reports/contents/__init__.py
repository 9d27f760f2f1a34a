"""What a report says, in one language, as a `Document` that every format is written from."""

from server.reports.contents.internal_document import build_internal_document
from server.reports.contents.public_document import build_public_document
