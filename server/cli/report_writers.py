"""What `report` may be asked for, and what writes each kind of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import IO, TypeVar

from sqlalchemy.orm import Session

from server import releases, reports
from server.cli.common import require_survey
from server.reports import Compared, ComparedSurveys
from server.reports.chosen_strata import compare_chosen
from server.reports.chosen_surveys import compare_chosen_surveys
from server.reports.chosen_together import parse_together
from server.reports.explaining import ExplainedAnswer, explain_answer, of_report
from server.reports.formats import FORMATS, Finish, InternalReport, PublicReport
from server.store.models import Survey
from server.study import strata, surveys

Write = Callable[[IO[bytes]], None]
Source = TypeVar("Source")


@dataclass(frozen=True)
class ReportRequest:
    """What a report shall hold: a version or all, questions together, an answer to explain.

    Strata and other surveys to compare; and its languages.
    """

    number: int | None
    language: str
    labels: str | None
    together: tuple[str, ...]
    answer: str | None
    by: tuple[str, ...]
    strata: tuple[tuple[str, str, str], ...] = ()
    surveys: tuple[tuple[str, str], ...] = ()

    def read(self, session: Session, survey: Survey) -> reports.Report:
        """The report, of which something must be shown."""
        made = _read_shown(session, survey, self.number)
        return replace(made, together=parse_together(made.definition, self.together))

    def explain(self, made: reports.Report) -> ExplainedAnswer | None:
        """What the answer goes with; None where none is to be explained."""
        return None if self.answer is None else explain_answer(of_report(made), self.answer, self.by)

    def compare(self, made: reports.Report) -> tuple[Compared, ...]:
        """Each question in the two strata that it was asked for."""
        return tuple(compare_chosen(made, *asked, anytime=False) for asked in self.strata)

    def compare_surveys(self, session: Session, made: reports.Report) -> tuple[ComparedSurveys, ...]:
        """Each question in the other surveys that it was asked for."""
        find = partial(require_survey, session)
        return tuple(
            compare_chosen_surveys(session, made, question, slugs.split(","), find, anytime=False)
            for question, slugs in self.surveys
        )


def _read_shown(session: Session, survey: Survey, number: int | None) -> reports.Report:
    made = reports.read(session, survey, number)
    reports.require_shown(made)
    return made


def list_internal_writers(session: Session, survey: Survey, request: ReportRequest) -> Mapping[str, Write]:
    """What writes the report from the stored responses, and what goes with it, by kind; each part is made once."""
    version = surveys.published_version(survey, request.number)
    definition = surveys.definition_of(version)
    made = cache(lambda: request.read(session, survey))
    pooled = cache(lambda: _read_shown(session, survey, None))
    read_ledger = partial(releases.read_ledger, session, survey)
    source = cache(
        lambda: InternalReport(
            made(),
            read_ledger,
            request.language,
            request.explain(made()),
            request.compare(made()),
            request.compare_surveys(session, made()),
        )
    )

    def responses(file: IO[bytes]) -> None:
        reports.require_shown(pooled(), version.number)
        reports.write_responses(pooled(), definition, version.number, file)

    return {
        **{
            entry.ending: _whole(partial(_finish, entry.prepare_internal, source))
            for entry in FORMATS.values()
        },
        "microdata": lambda file: reports.write_microdata(made(), file),
        **{ending: partial(_write_labelled, made, ending, request.labels) for ending in reports.LABELLED},
        "ddi": _whole(lambda: reports.write_ddi(made())),
        "responses": responses,
        "strata": lambda file: reports.write_strata(
            made(), [entry.question.name for entry in made().questions], file
        ),
        "codebook": _whole(
            lambda: reports.codebook_csv(definition, strata=bool(strata.tree(session, survey)))
        ),
    }


def _write_labelled(
    made: Callable[[], reports.Report], ending: str, labels: str | None, file: IO[bytes]
) -> None:
    reports.write_labelled(made(), ending, labels, file)


def list_public_writers(session: Session, survey: Survey, language: str) -> Mapping[str, Write]:
    """What writes the report from releases alone, by format."""
    surveys.published_version(survey, None)
    published = reports.read_published(session, survey, releases.read_ledger(session, survey))
    source = cache(lambda: PublicReport(published, language))
    return {
        entry.ending: _whole(partial(_finish, entry.prepare_public, source)) for entry in FORMATS.values()
    }


def _finish(prepare: Callable[[Source], Finish], source: Callable[[], Source]) -> str | bytes:
    return prepare(source())()


def _whole(make: Callable[[], str | bytes]) -> Write:
    """Writes what is made in one piece."""

    def write(file: IO[bytes]) -> None:
        made = make()
        file.write(made if isinstance(made, bytes) else made.encode())

    return write
