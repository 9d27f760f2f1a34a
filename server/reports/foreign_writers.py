"""The report on data from elsewhere in each of its formats: for pages and for the command line."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from server.output.documents import Document
from server.reports.contents.elsewhere_document import build_elsewhere_document
from server.reports.elsewhere import ForeignData
from server.reports.elsewhere.model_numbers import model_json
from server.reports.elsewhere.sample_numbers import sample_json
from server.reports.explaining import ExplainedAnswer, explanation_json
from server.reports.formats import DRAWN, FileContent
from server.reports.json_report import questions_json


@dataclass(frozen=True, eq=False)
class ForeignReport:
    """What was found in data from elsewhere; with what an answer goes with, if that was asked."""

    data: ForeignData
    explained: ExplainedAnswer | None

    def draw(self, language: str) -> Document:
        """The report in its reader's language."""
        return build_elsewhere_document(self.data, self.explained, language)

    def as_json(self) -> dict[str, Any]:
        """Every number."""
        made = self.data.report
        document = {
            "title": made.definition.title,
            "study_sha256": self.data.study.sha256,
            "software": made.software,
            "n": made.n,
            "left_out": self.data.table.left_out,
            "versions": list(made.versions),
            "weights": self.data.study.weights,
            "strata_cut": made.strata_cut,
            "questions": questions_json(made),
        }
        if self.data.sample is not None:
            document["sampling"] = sample_json(made.definition, self.data.sample)
        if self.data.models:
            document["models"] = [model_json(each) for each in self.data.models]
        if self.explained is not None:
            document["explanation"] = explanation_json(self.explained)
        return document


def _draw(write: Callable[[Document], FileContent], report: ForeignReport, language: str) -> FileContent:
    return write(report.draw(language))


def _list(report: ForeignReport, _language: str) -> FileContent:
    return json.dumps(report.as_json(), ensure_ascii=False, indent=2) + "\n"


FOREIGN_WRITERS: Mapping[str, Callable[[ForeignReport, str], FileContent]] = {
    **{ending: partial(_draw, write) for ending, write in DRAWN.items()},
    "json": _list,
}
"""By the endings of `FORMATS`, which says what each is called."""
