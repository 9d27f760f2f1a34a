"""The links of a survey: its own and those of its strata, with QR codes, as a page, a table and a sheet.

The strata are changed on one form that holds them all, so that no button loses what was typed.
"""

import io
import re
from collections.abc import Collection, Mapping

import segno
from flask import Blueprint, Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from server.collect import batches
from server.inputs import N_, InputError, refuse
from server.people.change_log import Action
from server.reports.csv_cells import csv_text
from server.store.models import Role, State, Survey
from server.study import strata, surveys
from server.study.smallest_group import Unseen, limit_unseen
from server.study.strata import Node, StratumProblem
from server.web.context import attach_file, link_to, session
from server.web.download_names import name_of_survey_file
from server.web.problem_texts import describe
from server.web.security import on_survey, record
from server.web.survey_records import record_populations, record_strata

blueprint = Blueprint("links", __name__, url_prefix="/manage/surveys/<slug>")

FOLDED = 60
"""With more strata than this, those below another one are folded at first."""
_FIELD = re.compile(r"(name|population|access)\.(\d{1,18})", re.ASCII)
_ACCESS = {
    True: Action.STRATUM_BY_INVITATION,
    False: Action.STRATUM_BY_LINK,
    None: Action.STRATUM_AS_ABOVE,
}
_BUTTON = re.compile(r"(up|down|delete|below)-(\d{1,18})", re.ASCII)


@blueprint.get("/links")
@on_survey(Role.VIEWER)
def page(survey: Survey) -> ResponseReturnValue:
    """Every link, to copy and to print."""
    nodes = strata.tree(session(), survey)
    return render_template(
        "manage/links.html",
        survey=survey,
        nodes=nodes,
        leaves=strata.list_leaves(nodes),
        folded=sum(1 for _ in strata.walk(nodes)) > FOLDED,
        invited=strata.invited_links(session(), survey),
        link_to=link_to,
    )


@blueprint.get("/links.csv")
@on_survey(Role.VIEWER)
def table(survey: Survey) -> ResponseReturnValue:
    """Every link as CSV; the survey's own has no stratum. `access` says whom it lets in."""
    invited = strata.invited_links(session(), survey)
    own = ("", "", link_to(survey.link), strata.write_access(None in invited))
    rows = [
        (
            node.path,
            node.population,
            link_to(node.stratum.slug),
            strata.write_access(node.stratum.id in invited),
        )
        for node in strata.list_leaves(strata.tree(session(), survey))
    ]
    text = csv_text([("stratum", "population", "link", "access"), own, *rows])
    response = Response(text, mimetype="text/csv")
    return attach_file(response, name_of_survey_file(survey, gettext("links"), "csv"))


@blueprint.get("/links/sheet")
@on_survey(Role.VIEWER)
def sheet(survey: Survey) -> ResponseReturnValue:
    """A QR code for every stratum, to print; without strata that of the survey."""
    return render_template(
        "manage/sheet.html",
        survey=survey,
        document=surveys.draft_document(survey),
        leaves=strata.list_leaves(strata.tree(session(), survey)),
        invited=strata.invited_links(session(), survey),
        link_to=link_to,
    )


@blueprint.get("/qr/<link>.svg")
@on_survey(Role.VIEWER)
def qr_svg(survey: Survey, link: str) -> ResponseReturnValue:
    """A link as a QR code that can be printed in any size."""
    return Response(_qr(survey, link, kind="svg", scale=8), mimetype="image/svg+xml")


@blueprint.get("/qr/<link>.png")
@on_survey(Role.VIEWER)
def qr_png(survey: Survey, link: str) -> ResponseReturnValue:
    """A link as a QR code for programs that take no SVG: about 600 pixels wide."""
    return Response(_qr(survey, link, kind="png", scale=16), mimetype="image/png")


@blueprint.get("/strata")
@on_survey(Role.EDITOR)
def edit(survey: Survey) -> ResponseReturnValue:
    """The tree, to be changed and added to."""
    return _edit(survey, at=request.args.get("at", ""), notice=request.args.get("said", ""))


@blueprint.post("/strata")
@on_survey(Role.EDITOR)
def save(survey: Survey) -> ResponseReturnValue:
    """Keep everything that was typed, then do what the button says."""
    try:
        answer = _save_link(survey, request.form)
    except InputError as error:
        session().rollback()
        return _edit(survey, error=error, typed=request.form), error.status
    session().commit()
    return answer


def _qr(survey: Survey, link: str, *, kind: str, scale: int) -> bytes:
    found = surveys.find_link(session(), link)
    if found is None or found[0].id != survey.id:
        raise refuse(404, "link", N_("is not one of this survey"))
    image = io.BytesIO()
    segno.make(link_to(link), error="m").save(image, kind=kind, scale=scale, border=4, light="white")
    return image.getvalue()


def _save_link(survey: Survey, form: Mapping[str, str]) -> ResponseReturnValue:
    typed: dict[str, dict[int, str]] = {"name": {}, "population": {}, "access": {}}
    for field, text in form.items():
        if found := _FIELD.fullmatch(field or ""):  # a part of a form may come without a name
            typed[found[1]][int(found[2])] = text
    people = strata.populations_of(strata.tree(session(), survey))
    changed = strata.change(session(), survey, typed["name"], typed["population"])
    if changed:
        record(Action.STRATA_CHANGED, survey, count=changed)
    closed = strata.count_closed_links(session(), survey)
    for change in strata.change_access(session(), survey, typed["access"]):
        record(_ACCESS[change.says], survey, stratum=change.path)
    closed = strata.count_closed_links(session(), survey) - closed
    if closed:
        record(Action.LINKS_REPLACED, survey, count=closed)
    notice, at = "saved", ""
    if form.get("lines", "").strip() or form.get("action") == "add":
        lines = strata.parse_lines(form.get("lines", ""))
        above = form.get("under", "")
        added = strata.add_strata(
            session(), survey, lines, strata.find(session(), survey, above) if above else None
        )
        record_strata(survey, added, len(lines))
        notice = "added"
    record_populations(survey, people)
    if button := _BUTTON.fullmatch(form.get("action", "")):
        notice, at = button[1], button[2]
        if notice in ("up", "down"):
            moved = strata.move(session(), survey, at, up=notice == "up")
            record(Action.STRATUM_MOVED, survey, stratum=moved.name)
        elif notice == "delete":
            removed = strata.remove(session(), survey, at)
            record(Action.STRATUM_REMOVED, survey, stratum=removed.path)
        else:
            strata.find(session(), survey, at)
    return redirect(url_for(".edit", slug=survey.slug, said=notice, at=at or None), 303)


def _edit(
    survey: Survey,
    *,
    error: InputError | None = None,
    typed: Mapping[str, str] | None = None,
    at: str = "",
    notice: str = "",
) -> str:
    nodes = strata.tree(session(), survey)
    everything = list(strata.walk(nodes))
    problems = () if error is None else error.problems
    bad = {problem.input for problem in problems if isinstance(problem, StratumProblem)}
    shown = {at, *(field.partition(".")[2] for field in bad)}
    invited = strata.invited_links(session(), survey)
    return render_template(
        "manage/strata.html",
        survey=survey,
        nodes=nodes,
        everything=everything,
        invited=invited,
        closing={node.stratum.id: _count_open(node, invited) for node in everything},
        write_access=strata.write_access,
        unseen=_find_unseen(survey, nodes),
        planned=None,
        most=strata.MOST_STRATA,
        deepest=strata.DEEPEST,
        opened=_above(nodes, shown) if len(everything) > FOLDED else {node.stratum.id for node in everything},
        bad=bad | {problem.field.partition("[")[0] for problem in problems},
        problems=[describe(problem) for problem in problems],
        typed=typed or {},
        at=at,
        said=notice,
    )


def _count_open(node: Node, invited: Collection[int | None]) -> int:
    """How many links of a stratum and of those below it ask for no code, and would be closed if it did."""
    return sum(leaf.stratum.id not in invited for leaf in strata.list_leaves([node]))


def _find_unseen(survey: Survey, nodes: Collection[Node]) -> Unseen | None:
    """What is not shown while the survey is open, if it still may be."""
    if survey.state == State.CLOSED:
        return None
    versions, ways = max(len(survey.versions), 1), batches.count_ways(session(), survey)
    return limit_unseen(survey.minimum, len(strata.list_leaves(nodes)), versions, ways)


def _above(nodes: Collection[Node], shown: Collection[str]) -> set[int]:
    """The strata that have one of these somewhere below them."""
    found = set()
    for node in nodes:
        if any(str(each.stratum.id) in shown for each in strata.walk(node.children)):
            found |= {node.stratum.id} | _above(node.children, shown)
    return found
