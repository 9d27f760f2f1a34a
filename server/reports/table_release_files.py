"""What was released from a table, as files: every number as JSON, or a document with its figures."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from server.output.documents import Document, to_html, to_pdf, to_xlsx
from server.releases import Released
from server.reports.contents.table_release_document import build_table_document

_DOCUMENTS: Mapping[str, Callable[[Document], str | bytes]] = {
    ".html": to_html,
    ".pdf": to_pdf,
    ".xlsx": to_xlsx,
}
"""By the ending of the file; whatever ends otherwise is JSON."""
DOCUMENT_ENDINGS = tuple(_DOCUMENTS)


@dataclass(frozen=True)
class TableRun:
    """One run: what was released, what it lost together, and every number of it as JSON."""

    released: Sequence[Released]
    lost: tuple[Decimal, Decimal]
    document: Mapping[str, Any]

    def write(self, ending: str, language: str) -> bytes:
        """The content of a file that ends so; `language` is that of a document."""
        to_file = _DOCUMENTS.get(ending.lower())
        if to_file is None:
            return f"{json.dumps(self.document, ensure_ascii=False, indent=2)}\n".encode()
        written = to_file(build_table_document(self.released, self.lost, language))
        return written if isinstance(written, bytes) else written.encode()
