"""Which other surveys a reader of a report asks to compare it with, and by which question."""

from collections.abc import Callable, Sequence

from sqlalchemy.orm import Session

from server.inputs import N_, refuse, shorten_value
from server.privacy.estimators.latent_likelihood import do_nothing
from server.reports.questions_by_survey import DatedReport, Unusable
from server.reports.report import Report
from server.reports.report_reader import read
from server.reports.survey_comparison import ComparedSurveys, compare_surveys
from server.store.models import Survey
from server.study.retention import has_counts

FIELD = "survey"
"""What an address names each of them by."""
MOST = 12
"""Surveys in one comparison."""
_UNUSABLE = {
    Unusable.NOT_ASKED: N_("does not ask that question with the same answers; it is %(value)s"),
    Unusable.NOBODY: N_("cannot be compared: nobody’s answers are shown of %(value)s yet"),
    Unusable.DESIGNS: N_(
        "cannot be compared: chance changes all answers of %(value)s at once, not each by itself"
    ),
}

Find = Callable[[str], Survey]
"""Gives the survey behind a link, if its reader may see its results; refuses else, as if there were none."""


def read_surveys(
    session: Session,
    report: Report,
    question: str,
    slugs: Sequence[str],
    find: Find,
    *,
    anytime: bool,
    on_step: Callable[[], None] = do_nothing,
) -> ComparedSurveys:
    """A question of a report's in other surveys, too, by their links; what cannot be compared is left out, and named.

    Raises
    ------
    InputError
        422 where the question is not known, a survey is named twice, or the report is of one version alone; whatever
        `find` refuses; 409 where a survey was never published, 410 where its responses were deleted; and what `on_step`
        raises, before each survey and limit.
    """
    if not report.pooled:
        raise refuse(422, FIELD, N_("is compared by all versions together; the report is of one of them"))
    names = [entry.question.name for entry in report.questions]
    if question not in names:
        template = N_("must be one of %(limit)s; it is %(value)s")
        raise refuse(422, "question", template, limit=", ".join(names), value=shorten_value(question) or "-")
    if not 1 <= len(slugs) < MOST:
        raise refuse(
            422, FIELD, N_("must be 1 to %(limit)s; there are %(value)s"), limit=MOST - 1, value=len(slugs)
        )
    for place, slug in enumerate(slugs):
        if slug == report.slug or slug in slugs[:place]:
            raise refuse(
                422,
                FIELD,
                N_("must each be another one; %(value)s is there twice"),
                value=shorten_value(slug),
            )
    own = DatedReport.of(report, find(report.slug))
    others = []
    for slug in slugs:
        on_step()
        survey = find(slug)
        if not has_counts(survey):  # else it would be said of the survey whose report this is
            template = N_(
                "cannot be compared: the server deleted the responses of %(value)s, as its days were over"
            )
            raise refuse(410, FIELD, template, value=survey.slug)
        others.append(DatedReport.of(read(session, survey), survey))
    return compare_surveys(own, others, question, anytime=anytime, on_step=on_step)


def compare_chosen_surveys(
    session: Session,
    report: Report,
    question: str,
    slugs: Sequence[str],
    find: Find,
    *,
    anytime: bool,
    on_step: Callable[[], None] = do_nothing,
) -> ComparedSurveys:
    """The same where every survey must be there.

    Raises
    ------
    InputError
        As `read_surveys`, and 409 where one of them cannot be compared.
    """
    compared = read_surveys(session, report, question, slugs, find, anytime=anytime, on_step=on_step)
    for survey in compared.left_out:
        assert survey.unusable is not None
        raise refuse(409, FIELD, _UNUSABLE[survey.unusable], value=survey.slug)
    return compared
