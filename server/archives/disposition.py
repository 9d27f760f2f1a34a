"""What becomes of a survey: a copy, a place in the archive, or nothing at all."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.archives.stratum_copies import StratumCopy, copy_tree
from server.collect.untidied_surveys import mark_untidied
from server.collect.withdrawal_lists import forget_withdrawals
from server.inputs import N_, parse_form, refuse, shorten_value
from server.store.models import Researcher, State, Survey, SurveyVersion
from server.study import strata, study_sheets, surveys
from server.study.retention import retention_of, set_retention
from server.study.switches import SWITCHES, list_on


def duplicate(
    session: Session, survey: Survey, owner: Researcher, title: str = "", *, with_strata: bool = False
) -> Survey:
    """A new draft with the same questions; with a title of its own if one is given, and with the same strata if wished.

    Its study sheet says what holds of it too (`StudySheet.copy_for_another`).

    Raises
    ------
    InputError
        If the title is none that a text can be.
    """
    title = title.strip()
    document = surveys.draft_document(survey)
    document = {**document, "family": surveys.family_of(survey, document)}
    if title:
        document = {**document, **parse_form([("title", title)]), "questions": document["questions"]}
    copy = surveys.create(session, owner, document)
    copy.minimum, copy.by_invitation, copy.time_zone = survey.minimum, survey.by_invitation, survey.time_zone
    for name in list_on(survey):
        setattr(copy, name, SWITCHES[name].copied)
    stored = study_sheets.read_study_sheet(session, survey)
    study_sheets.save_study_sheet(session, copy, stored.sheet.copy_for_another())
    study_sheets.save_logo(session, copy, stored.logo)
    set_retention(copy, retention_of(survey))
    if with_strata:
        copy_tree(session, copy, [_part(node) for node in strata.walk(strata.tree(session, survey))])
    session.flush()
    return copy


def _part(node: strata.Node) -> StratumCopy:
    """The same stratum with a link of its own."""
    stratum = node.stratum
    return StratumCopy(
        node.names, stratum.population, surveys.new_slug(), by_invitation=stratum.by_invitation
    )


def put_away(survey: Survey) -> None:
    """Put a survey into the archive, where nothing changes it.

    Raises
    ------
    InputError
        409 if it still takes responses.
    """
    if survey.state == State.OPEN:
        raise refuse(409, "survey", N_("must be closed first; it may still take responses"))
    survey.archived_on = surveys.today()


def take_out(survey: Survey) -> None:
    """Take a survey out of the archive again."""
    survey.archived_on = None


def check_confirmed(survey: Survey, typed: str) -> None:
    """Refuse what is neither the survey's title nor its link's name.

    Raises
    ------
    InputError
        422 naming what was typed.
    """
    document: dict[str, Any] = surveys.draft_document(survey)
    title = " ".join(str(document["title"]).split())
    typed = " ".join(typed.split())
    if not typed or typed not in (title, survey.slug):
        template = N_("must be exactly the survey’s title, or %(limit)s; it is %(value)s")
        raise refuse(422, "confirmation", template, limit=survey.slug, value=shorten_value(typed))


def delete(session: Session, survey: Survey) -> None:
    """Delete a survey and everything that belongs to it.

    `tidying` drops the tables of its own once this is committed: nothing leads to them any more, and it
    keeps nobody waiting.

    Raises
    ------
    InputError
        503 if the list of what was taken back of it cannot be written.
    """
    slug = survey.slug
    session.execute(sa.delete(SurveyVersion).where(SurveyVersion.survey_id == survey.id))
    # What else belongs to it goes with it: strata, batches, drafts, members, invitations of colleagues, the log.
    session.execute(sa.delete(Survey).where(Survey.id == survey.id))
    forget_withdrawals(session.connection(), slug)
    session.expunge(survey)
    mark_untidied(session, survey.id)
