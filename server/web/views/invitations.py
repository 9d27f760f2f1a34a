"""Invitations of a survey: issue codes, hand them over once, withdraw what was not used.

The codes exist in the answer to `issue` and nowhere else: the page that it shows sends them along
when it asks for a table or a sheet of them, and the server forgets them again.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from flask import Blueprint, Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import force_locale, gettext

from server import reports
from server.collect import invitation_batches, response_codes
from server.collect.invitation_batches import Issued
from server.inputs import N_, InputError, parse_whole_number, refuse, shorten_value
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.output.printing import SHEET_LIMIT, Cards, invitation_link, invitation_sheet
from server.people.change_log import Action
from server.reports.csv_cells import csv_text
from server.store.models import InvitationBatch, Role, State, Stratum, Survey
from server.study import strata, surveys
from server.study.retention import has_counts
from server.web.body_limits import LONG_FORM, limit_body
from server.web.context import attach_file, link_to, session
from server.web.download_names import name_of_survey_file
from server.web.problem_texts import describe
from server.web.security import on_survey, record

blueprint = Blueprint("invitations", __name__, url_prefix="/manage/surveys/<slug>/invitations")

_AT_ONCE = 5_000  # codes asked for in one query


@blueprint.get("")
@on_survey(Role.EDITOR)
def page(survey: Survey) -> ResponseReturnValue:
    """What was issued, and the form for more."""
    return _page(survey, {})


@blueprint.post("")
@limit_body(LONG_FORM)
@on_survey(Role.EDITOR)
def issue(survey: Survey) -> ResponseReturnValue:
    """Issue codes, and show them this once."""
    try:
        stratum = _stratum(survey)
        label = " ".join(request.form.get("label", "").split())
        invitation_batches.check_new_label(session(), survey, label)
        batch, codes = invitation_batches.issue(session(), survey, stratum, _size(), label)
    except InputError as error:
        session().rollback()
        return _page(survey, request.form, error), error.status
    record(Action.INVITATIONS_ISSUED, survey, count=batch.size, label=batch.label)
    session().commit()
    starts = range(0, batch.size, SHEET_LIMIT)
    return render_template(
        "manage/invitations_issued.html",
        survey=survey,
        batch=batch,
        codes=codes,
        link=_link(survey, batch),
        path=_paths(survey).get(batch.stratum_id, ""),
        sheets=[(start // SHEET_LIMIT, start + 1, min(start + SHEET_LIMIT, batch.size)) for start in starts],
    )


@blueprint.post("/<batch>/withdraw")
@limit_body(LONG_FORM)
@on_survey(Role.EDITOR)
def withdraw(survey: Survey, batch: str) -> ResponseReturnValue:
    """Let the codes that were not used let nobody in any more."""
    found = _batch(survey, batch)
    if found.withdrawn_on is None:
        invitation_batches.withdraw(session(), found)
        record(Action.INVITATIONS_WITHDRAWN, survey, label=found.label)
        session().commit()
    return redirect(url_for(".page", slug=survey.slug), 303)


@blueprint.post("/<batch>/codes.csv")
@limit_body(LONG_FORM)
@on_survey(Role.EDITOR, changes=False)
def table(survey: Survey, batch: str) -> ResponseReturnValue:
    """Codes and their links as CSV."""
    found = _batch(survey, batch)
    codes, link = _codes(found), _link(survey, found)
    text = csv_text([("code", "link"), *((code, invitation_link(link, code)) for code in codes)])
    return _file(text, survey, found, "csv", "text/csv")


@blueprint.post("/<batch>/links.txt")
@limit_body(LONG_FORM)
@on_survey(Role.EDITOR, changes=False)
def links(survey: Survey, batch: str) -> ResponseReturnValue:
    """A link on each line."""
    found = _batch(survey, batch)
    link = _link(survey, found)
    text = "".join(f"{invitation_link(link, code)}\r\n" for code in _codes(found))
    return _file(text, survey, found, "txt", "text/plain")


@blueprint.post("/<batch>/sheet.pdf")
@limit_body(LONG_FORM)
@on_survey(Role.EDITOR, changes=False)
def sheet(survey: Survey, batch: str) -> ResponseReturnValue:
    """Cards to cut out, in the survey's language: so many as one sheet holds, `sheet` says which."""
    found = _batch(survey, batch)
    number = request.form.get("sheet", "0")
    start = (
        SHEET_LIMIT * int(number) if re.fullmatch(r"[0-9]{1,3}", number) else invitation_batches.SIZE_LIMIT
    )
    codes = _codes(found)[start : start + SHEET_LIMIT]
    if not codes:
        raise refuse(
            422, "sheet", N_("must be one of this batch; it is %(value)s"), value=shorten_value(number)
        )
    cards, name = _cards(survey, _link(survey, found)), _name(survey, found, "pdf", int(number) + 1)
    # Nothing waits for the database while the sheet is made.
    session().rollback()
    return attach_file(Response(invitation_sheet(cards, codes), mimetype="application/pdf"), name)


def _page(survey: Survey, form: Mapping[str, str], error: InputError | None = None) -> str:
    problems = () if error is None else error.problems
    nodes = strata.tree(session(), survey)
    batches = invitation_batches.batches(session(), survey)
    codes = Counter[int | None]()
    for issued in batches:
        codes[issued.batch.stratum_id] += issued.batch.size
    return render_template(
        "manage/invitations.html",
        survey=survey,
        batches=batches,
        of_link=Counter(issued.batch.stratum_id for issued in batches),
        codes=codes,
        used=_find_used(survey) if batches and survey.state == State.CLOSED else {},
        paths=_paths(survey),
        leaves=strata.list_leaves(nodes),
        invited=strata.invited_links(session(), survey),
        reminders=_write_reminders(survey) if _lets_in(survey, batches) else (),
        form=form,
        limits=invitation_batches,
        problems=[describe(problem) for problem in problems],
        bad={problem.field for problem in problems},
    )


def _lets_in(survey: Survey, batches: Sequence[Issued]) -> bool:
    """Whether a code that somebody got may still let a response in."""
    return survey.state != State.CLOSED and any(issued.batch.withdrawn_on is None for issued in batches)


def _write_reminders(survey: Survey) -> list[tuple[str, str, str]]:
    """A reminder that may go to everybody, in each language of the interface: its code, its name and the text."""
    written = []
    for code, language in LANGUAGES.items():
        with force_locale(code):
            text = gettext(
                "Some time ago we sent you a code for a survey. This reminder goes alike to everybody who got one, "
                "whether they have answered or not. If you have, thank you: there is nothing more to do. If you have "
                "not, you can still answer with the same code while the survey takes answers. Whether you take part "
                "is for you to choose."
            )
            if survey.tickets:  # the code is used then, and only that browser has what it bought
                text += " " + gettext(
                    "If you have fetched a ticket with your code but not answered yet, open the same link in the "
                    "browser where you fetched it."
                )
        written.append((code, language.name, text))
    return written


def _find_used(survey: Survey) -> Mapping[int | None, int]:
    if not has_counts(survey):
        return {}
    return reports.used_codes(session(), survey, reports.read(session(), survey))


def _stratum(survey: Survey) -> Stratum | None:
    number = request.form.get("stratum", "")
    return strata.find(session(), survey, number).stratum if number else None


def _size() -> int:
    return parse_whole_number(request.form.get("size", ""), "size", 1, invitation_batches.SIZE_LIMIT)


def _batch(survey: Survey, number: str) -> InvitationBatch:
    return invitation_batches.find_batch(
        session(), survey, int(number) if re.fullmatch(r"[0-9]{1,9}", number) else 0
    )


def _codes(batch: InvitationBatch) -> list[str]:
    """The codes that the page sends along, as they are printed: of this batch's link, and not withdrawn."""
    codes = [response_codes.normalise_code(line) or "" for line in request.form.get("codes", "").split()]
    for start in range(0, len(codes), _AT_ONCE):
        asked = {(batch.survey_id, code) for code in codes[start : start + _AT_ONCE]}
        known = response_codes.look_up(session().connection(), asked)
        if asked - known.keys() or {found.stratum_id for found in known.values()} != {batch.stratum_id}:
            raise refuse(422, "codes", N_("must be those that were issued for this link"))
    return [response_codes.group_letters(code) for code in codes]


def _paths(survey: Survey) -> dict[int | None, str]:
    """The path of each stratum that a batch may be for."""
    return {node.stratum.id: node.path for node in strata.list_leaves(strata.tree(session(), survey))}


def _link(survey: Survey, batch: InvitationBatch) -> str:
    stratum = None if batch.stratum_id is None else session().get_one(Stratum, batch.stratum_id)
    return link_to(survey.link if stratum is None else stratum.slug)


def _cards(survey: Survey, link: str) -> Cards:
    document = surveys.draft_document(survey)
    if survey.current is not None:
        document = surveys.definition_of(survey.current).as_json()
    # A draft may still be without a language.
    language = document["language"] if document["language"] in LANGUAGES else DEFAULT_LANGUAGE
    with force_locale(language):
        return Cards(
            title=document["title"].strip(),
            heading=gettext("Invitations"),
            words=gettext(
                "Scan the square, or open the address below and enter the code. "
                "It lets one answer in, and is not stored with it."
            ),
            alternative=gettext("QR code of the link"),
            language=language,
            link=link,
        )


def _file(text: str, survey: Survey, batch: InvitationBatch, ending: str, mimetype: str) -> Response:
    return attach_file(Response(text, mimetype=mimetype), _name(survey, batch, ending))


def _name(survey: Survey, batch: InvitationBatch, ending: str, sheet: int | None = None) -> str:
    what = gettext("invitations %(number)s", number=batch.id)
    return name_of_survey_file(survey, what if sheet is None else f"{what}-{sheet}", ending)
