"""Figures of several groups or questions as files: by stratum, and two strata compared."""

from collections.abc import Callable

from flask import Blueprint, request
from flask.typing import ResponseReturnValue
from flask_babel import get_locale, gettext

from server import reports
from server.inputs import N_, refuse
from server.output.documents import Block, Chart
from server.people import survey_access
from server.reports import Compared, Report
from server.reports.collection_progress import CollectionProgress
from server.reports.contents.collection_charts import draw_days, draw_targets
from server.reports.contents.compared_charts import draw_compared
from server.reports.contents.crossed_charts import draw_groups, draw_table
from server.reports.contents.explanation_section import describe_explanation
from server.reports.contents.stratum_sections import draw_strata
from server.reports.contents.version_charts import draw_course
from server.reports.crossing_tables import crossing_csv, groups_csv
from server.reports.figure_tables import comparison_csv, days_csv, explained_csv, targets_csv, versions_csv
from server.reports.question_figures import PICTURE_FORMATS
from server.reports.report_words import ReportWords
from server.reports.version_courses import VersionCourse
from server.store.models import Role, Survey
from server.study import surveys
from server.study.planning import find_planned_number
from server.web.context import send_download, session
from server.web.download_names import name_of_report
from server.web.explanation_choice import read_explanation
from server.web.report_opening import open_report
from server.web.result_choices import (
    CrossingChoice,
    StrataChoice,
    choose_anytime,
    choose_figure,
    choose_question,
)
from server.web.security import on_survey
from server.web.versions_choice import VersionsChoice

blueprint = Blueprint("result_figures", __name__, url_prefix="/manage/surveys/<slug>")

MOST_DRAWN = 60
"""Groups in a drawing; the deepest levels are left out where there are more."""


def draw_by_stratum(report: Report, words: ReportWords) -> Chart:
    """The estimate that the address names, in every stratum of the upper levels."""
    entry = choose_question(report)
    which = choose_figure(entry)
    forest = reports.forest(report, entry, which, MOST_DRAWN)
    if forest is None or not entry.n:
        raise refuse(409, "question", N_("has no responses that are shown yet"))
    groups = [group for group, _figure in forest.groups][:MOST_DRAWN]
    return draw_strata(words, report, groups, which, forest.chosen)


def draw_comparison(report: Report, words: ReportWords) -> Chart:
    """The two strata that the address names."""
    return draw_compared(words, report, _compare(report))


def draw_crossing(report: Report, words: ReportWords) -> Chart:
    """The table of the two questions that the address names."""
    table = draw_table(words, report, CrossingChoice(report).chosen)
    if table is None:
        raise refuse(409, "column", N_("has too many answers for a picture"))
    return table


def draw_in_groups(report: Report, words: ReportWords) -> Chart:
    """The answers to these two questions that the address names, in groups."""
    return draw_groups(words, report, CrossingChoice(report).chosen)


def draw_versions(report: Report, words: ReportWords) -> Chart:
    """The question that the address names, version by version."""
    return draw_course(words, _follow(report))


def _follow(report: Report) -> VersionCourse:
    return VersionsChoice(report, choose_anytime()).choose()


def draw_per_day(report: Report, words: ReportWords) -> Chart:
    """Responses per day or week, where there is more than one."""
    if len(report.timeline.periods) < 2:
        raise refuse(409, "days", N_("must be two at least, to be drawn"))
    return draw_days(words, report)


def draw_reached(report: Report, words: ReportWords) -> Chart:
    """The strata against their targets."""
    progress = _follow_strata(report)
    if not progress.has_targets:
        raise refuse(409, "strata", N_("have no targets"))
    return draw_targets(words, progress)


def draw_explained(report: Report, words: ReportWords) -> Chart:
    """The odds ratios of what the address names; a mean has none."""
    for block in _explain(report, words):
        if isinstance(block, Chart):
            return block
    raise refuse(409, "explain", N_("is a mean, of which there is no drawing"))


def _explain(report: Report, words: ReportWords) -> list[Block]:
    explained = read_explanation(report)
    if explained is None:
        raise refuse(422, "explain", N_("is required"))
    return list(describe_explanation(words, report, explained))


def _follow_strata(report: Report) -> CollectionProgress:
    survey = survey_access.find(session(), report.slug)
    assert survey is not None
    planned = find_planned_number(survey, surveys.draft_document(survey))
    progress = reports.follow_strata(report, planned)
    if progress is None:
        raise refuse(409, "strata", N_("have no responses that are shown yet"))
    return progress


def _compare(report: Report) -> Compared:
    found = StrataChoice(report, choose_question(report), choose_anytime()).compare()
    if found is None or found.obstacle is not None:
        raise refuse(409, "second_stratum", N_("cannot be compared with the first"))
    return found


def _offer(name: str, ending: str, content_type: str, write: Callable[[Report], str | bytes]) -> None:
    """Give a file its address."""
    what = {
        "strata": N_("By stratum"),
        "versions": N_("Version by version"),
        "days": N_("Responses per day"),
        "targets": N_("Strata and their targets"),
        "explained": N_("What it goes with"),
        "comparison": N_("Two strata compared"),
        "crossing": N_("Two questions together"),
        "groups": N_("One question in groups of another"),
    }[name]

    @on_survey(Role.VIEWER)
    def figure(survey: Survey) -> ResponseReturnValue:
        """A figure of the results as a file."""
        with open_report(survey, request.args.get("version")) as (report, _session):
            reports.require_shown(report)
            return send_download(write(report), content_type, name_of_report(report, ending, gettext(what)))

    blueprint.add_url_rule(f"/{name}.{ending}", f"{name}_{ending}", figure)


def _offer_drawing(name: str, draw: Callable[[Report, ReportWords], Chart]) -> None:
    for ending, chosen in PICTURE_FORMATS.items():

        def write(report: Report, to_file: Callable[[Chart], str | bytes] = chosen.write) -> str | bytes:
            return to_file(draw(report, ReportWords(str(get_locale()))))

        _offer(name, ending, chosen.content_type, write)


_offer_drawing("strata", draw_by_stratum)
_offer_drawing("comparison", draw_comparison)
_offer_drawing("crossing", draw_crossing)
_offer_drawing("groups", draw_in_groups)
_offer_drawing("versions", draw_versions)
_offer("versions", "csv", "text/csv", lambda report: versions_csv(report, _follow(report)))
_offer_drawing("days", draw_per_day)
_offer("days", "csv", "text/csv", days_csv)
_offer_drawing("targets", draw_reached)
_offer("targets", "csv", "text/csv", lambda report: targets_csv(report, _follow_strata(report)))
_offer_drawing("explained", draw_explained)
_offer(
    "explained",
    "csv",
    "text/csv",
    lambda report: explained_csv(_explain(report, ReportWords(str(get_locale())))),
)
_offer("crossing", "csv", "text/csv", lambda report: crossing_csv(report, CrossingChoice(report).chosen))
_offer("groups", "csv", "text/csv", lambda report: groups_csv(report, CrossingChoice(report).chosen))
_offer("comparison", "csv", "text/csv", lambda report: comparison_csv(report, _compare(report)))
