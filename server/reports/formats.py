"""The formats of a report: one line of `FORMATS` each, which pages, addresses, the command line and tests read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from server.inputs import N_
from server.output import documents
from server.output.documents import Document
from server.releases.values import Ledger
from server.reports.comparison_values import comparison_json, comparison_rows
from server.reports.contents import build_internal_document, build_public_document
from server.reports.csv_report import to_csv
from server.reports.explaining import ExplainedAnswer, explanation_json, explanation_rows
from server.reports.json_report import to_json
from server.reports.ledger_files import public_csv, public_json
from server.reports.public_page import write_public_page
from server.reports.public_source import Published
from server.reports.report import Report
from server.reports.stratum_comparison import Compared
from server.reports.survey_comparison import ComparedSurveys
from server.reports.survey_values import survey_rows, surveys_json

FileContent = str | bytes
Finish = Callable[[], FileContent]
"""The rest of writing a file, which reads nothing of the database any more."""


@dataclass(frozen=True)
class InternalReport:
    """What the report from stored responses is written from; its parts are made when a format needs them, and once."""

    report: Report
    read_ledger: Callable[[], Ledger]
    language: str
    explained: ExplainedAnswer | None = None
    compared: tuple[Compared, ...] = ()
    surveys: tuple[ComparedSurveys, ...] = ()

    @cached_property
    def ledger(self) -> Ledger:
        """The survey's ledger."""
        return self.read_ledger()

    @cached_property
    def document(self) -> Document:
        """The report in its reader's language."""
        return build_internal_document(
            self.report, self.ledger, self.language, self.explained, self.compared, self.surveys
        )


@dataclass(frozen=True)
class PublicReport:
    """What the report from releases alone is written from."""

    published: Published
    language: str

    @cached_property
    def document(self) -> Document:
        """The report in its reader's language."""
        return build_public_document(self.published, self.language)


@dataclass(frozen=True)
class Format:
    """A format: how its files end and what they are called, what they are sent as, and what writes both reports.

    The ending is also its name on the command line. A format is `worded` where its texts are in the
    reader's language, `binary` where a terminal cannot show it. What draws it from a document draws other
    documents, too: of data from elsewhere, and of what is released from a table.
    """

    ending: str
    name: str
    content_type: str
    prepare_internal: Callable[[InternalReport], Finish]
    prepare_public: Callable[[PublicReport], Finish]
    link: str = N_("Report as %(name)s")
    worded: bool = False
    binary: bool = False
    draw: Callable[[Document], FileContent] | None = None


def _draw(
    ending: str,
    name: str,
    content_type: str,
    write: Callable[[Document], FileContent],
    *,
    link: str = Format.link,
    binary: bool = False,
) -> Format:
    """A format that is drawn from the document that either report is."""

    def prepare(source: InternalReport | PublicReport) -> Finish:
        return partial(write, source.document)

    return Format(ending, name, content_type, prepare, prepare, link, worded=True, binary=binary, draw=write)


def _list(
    ending: str,
    name: str,
    content_type: str,
    write_internal: Callable[[InternalReport], FileContent],
    write_public: Callable[[Published], FileContent],
) -> Format:
    """A format for programs, written from the numbers themselves."""

    def prepare_internal(source: InternalReport) -> Finish:
        text = write_internal(source)
        return lambda: text

    def prepare_public(source: PublicReport) -> Finish:
        return partial(write_public, source.published)

    return Format(ending, name, content_type, prepare_internal, prepare_public)


def _list_rows(source: InternalReport) -> str:
    explained = () if source.explained is None else explanation_rows(source.explained)
    compared = *comparison_rows(source.report, source.compared), *survey_rows(source.report, source.surveys)
    return to_csv(source.report, (*compared, *explained))


def _write_json(source: InternalReport) -> str:
    more: dict[str, object] = {}
    if source.compared:
        more["comparisons"] = [comparison_json(one) for one in source.compared]
    if source.surveys:
        more["survey_comparisons"] = [surveys_json(one) for one in source.surveys]
    if source.explained is not None:
        more["explanation"] = explanation_json(source.explained)
    return to_json(source.report, source.ledger, more)


SPREADSHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PAGE = "html"
"""The ending of the format that is read at the public report's own address."""

FORMATS: Mapping[str, Format] = {
    entry.ending: entry
    for entry in (
        Format(
            PAGE,
            "HTML",
            "text/html",
            lambda source: partial(documents.to_html, source.document),
            lambda source: partial(write_public_page, source.published, source.language, source.document),
            worded=True,
            draw=documents.to_html,
        ),
        _draw("pdf", "PDF", "application/pdf", documents.to_pdf, binary=True),
        _draw("xlsx", "Excel", SPREADSHEET, documents.to_xlsx, link=N_("Report for %(name)s"), binary=True),
        _list("csv", "CSV", "text/csv", _list_rows, public_csv),
        _list(
            "json",
            "JSON",
            "application/json",
            _write_json,
            public_json,
        ),
    )
}
"""By their endings, in the order in which pages and the command line name them."""
DRAWN: Mapping[str, Callable[[Document], FileContent]] = {
    ending: entry.draw for ending, entry in FORMATS.items() if entry.draw is not None
}
"""What writes a document, of whatever it is, in each format that shows one."""
