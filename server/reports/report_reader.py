"""(survey, its versions, strata, responses) -> a `Report` value."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from server.collect import batches, response_counts
from server.collect.reportable_groups import find_reportable
from server.collect.waves import Wave, places_of, same_question
from server.reports.admission import admissions
from server.reports.code_counts import count_invited
from server.reports.collection_modes import split_by_mode
from server.reports.day_counts import periods, sum_days
from server.reports.question_estimates import estimate_question
from server.reports.report import Report
from server.store.models import State, Survey, SurveyVersion
from server.study import strata, study_sheets, surveys
from server.study.retention import retention_of
from server.study.smallest_group import Unseen, limit_unseen
from server.study.strata import Node


def read(
    session: Session, survey: Survey, number: int | str | None = None, confidence: float = 0.95
) -> Report:
    """The report on a survey's responses: of all versions, or of the one with this number.

    Raises
    ------
    InputError
        If the survey is a draft, or has no such version.
    """
    version = surveys.published_version(survey, number)
    report = _estimate_questions(session, survey, version, pooled=number is None, confidence=confidence)
    modes = None
    if report.pooled:  # of one version alone, what is told apart could be another part
        told = find_reportable(response_counts.count_shown(session, survey), survey).keys
        versions = {each.number: each for each in survey.versions}
        chosen = [versions[wave.number] for wave in report.waves]
        modes = split_by_mode(session, survey, chosen, report.nodes, told, report.hidden)
    return replace(report, invited=count_invited(session, survey, report), modes=modes)


def _estimate_questions(
    session: Session, survey: Survey, version: SurveyVersion, *, pooled: bool, confidence: float
) -> Report:
    """Estimate every question of a version: pooled with the same questions of other ones, or alone."""
    collected = response_counts.read_shown(session, survey)
    nodes = strata.tree(session, survey)
    days = response_counts.count_shown_by_day(session, survey)
    ways = batches.count_ways(session, survey)
    places = places_of(nodes)
    told = find_reportable(collected.sizes, survey)
    older = [each for each in reversed(survey.versions) if any(key[0] == each.id for key in told.keys)]
    chosen = [version, *(each for each in older if pooled and each.id != version.id)]
    waves = tuple(Wave.of(each, places, collected, told.keys) for each in chosen)
    entries = [same_question(question.name, waves) for question in waves[0].definition.questions]
    return Report(
        definition=waves[0].definition,
        slug=survey.slug,
        version_number=version.number,
        version=version.sha256,
        published_on=version.published_on,
        made_on=surveys.today(),
        simulated=survey.simulated,
        confidence=confidence,
        minimum=survey.minimum,
        withheld=not any(wave.n for wave in waves)
        and any(key[0] in {each.id for each in chosen} for key in collected.sizes),
        unseen=_count_unseen(survey, nodes, len(survey.versions) if pooled else 1, ways),
        pooled=pooled,
        waves=waves,
        unweighted=tuple(
            estimate_question(question_versions, range(len(places)), confidence)
            for question_versions in entries
        ),
        nodes=nodes,
        days=periods(sum_days(days, told.keys, {each.id for each in chosen}), survey.minimum),
        left_out=told.versions_left_out if pooled else (),
        without_left_out=told.without_left_out,
        merged=survey.merged,
        incomplete=survey.incomplete,
        populations_since=survey.populations_since,
        admissions=tuple(
            each for each in admissions(session, survey) if each.version in {wave.number for wave in waves}
        ),
        study=study_sheets.read_study_sheet(session, survey).sheet.for_reports,
        kept=retention_of(survey),
    )


def _count_unseen(survey: Survey, nodes: Sequence[Node], versions: int, ways: int) -> Unseen:
    """What waits of so many versions, collected in so many ways."""
    if survey.state != State.OPEN:
        return Unseen(0, 0, 0)
    return limit_unseen(survey.minimum, len(strata.list_leaves(nodes)), versions, ways)
