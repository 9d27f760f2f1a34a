"""What was released from a table, as files: every number as JSON, or a document with its figures."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from server.releases import Released
from server.reports.contents.table_release_document import build_table_document
from server.reports.formats import DRAWN

DOCUMENT_ENDINGS = tuple(f".{ending}" for ending in DRAWN)
"""Of a file that is a document; whatever ends otherwise is JSON."""


@dataclass(frozen=True)
class TableRun:
    """One run: what was released, what it lost together, and every number of it as JSON."""

    released: Sequence[Released]
    lost: tuple[Decimal, Decimal]
    document: Mapping[str, Any]

    def write(self, ending: str, language: str) -> bytes:
        """The content of a file that ends so; `language` is that of a document."""
        to_file = DRAWN.get(ending.lower().removeprefix("."))
        if to_file is None:
            return f"{json.dumps(self.document, ensure_ascii=False, indent=2)}\n".encode()
        written = to_file(build_table_document(self.released, self.lost, language))
        return written if isinstance(written, bytes) else written.encode()
