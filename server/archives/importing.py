"""An archive -> a survey here: the same versions, responses and links, as far as these are free.

It is stored in parts, between which others write, and comes into sight with the last of them, as a whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import IO

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.archives.archive_reader import Archive, open_archive
from server.archives.arriving import PATIENCE, give_up, go_on
from server.archives.checking import Checked, check
from server.archives.invitation_codes import hold_copies, store_codes
from server.archives.layout import Document
from server.archives.ledger_writer import store_ledger
from server.archives.manifest_reader import list_leaf_numbers
from server.archives.response_writer import store_responses
from server.archives.stratum_copies import StratumCopy, copy_tree
from server.output.progress import ProgressReporter, report_no_progress
from server.releases.rights import MayRelease, take_right
from server.store.engines import TakingTurns
from server.store.models import ClosedLink, Researcher, State, Stratum, Survey, SurveyVersion
from server.study import drafts, study_sheets, surveys
from server.study.retention import KEPT_FIELDS
from server.study.switches import SWITCHES


@dataclass(frozen=True)
class Unpacked:
    """The survey that was made, and what could not be as it was.

    `new_links` had to be made because others have theirs here; `left_invitations` says that its
    invitations are known here already, from another copy, and were left there; `raised_minimum`, that the
    archive states a smaller group than a copy here, whose minimum it got.
    """

    survey: Survey
    responses: int
    links: int
    new_links: int
    left_invitations: bool
    raised_minimum: bool


def unpack(
    session: Session,
    owner: Researcher,
    file: IO[bytes],
    turns: TakingTurns,
    report_progress: ProgressReporter = report_no_progress,
) -> Unpacked:
    """Make a survey of an archive; all of it is checked before the database is asked for anything more.

    An open survey comes paused: its respondents still have the other one. What the caller has done is
    committed by `turns` first, so that nobody waits for the checks, and then the parts are. The last is left
    to the caller: with it the survey comes into sight, and without it nothing is kept.

    Raises
    ------
    InputError
        Naming the entry, the place in it, and what was refused.
    """
    turns.give_way()
    with open_archive(file) as archive:
        checked = check(archive, report_progress)
        survey = _survey(owner, checked.manifest)
        survey.minimum = max(survey.minimum, _known_minimum(session, survey))
        surveys.enter_survey(session, survey)
        number = survey.id
        try:
            return _store(session, survey, archive, checked, turns, report_progress)
        except BaseException:
            give_up(session, number)
            raise


def _store(
    session: Session,
    survey: Survey,
    archive: Archive,
    checked: Checked,
    turns: TakingTurns,
    report_progress: ProgressReporter,
) -> Unpacked:
    drafts.begin_draft(session, survey, checked.draft)
    if "study" in checked.manifest:
        study = study_sheets.parse_study_sheet(checked.manifest["study"])
        study_sheets.save_study_sheet(session, survey, study)
    study_sheets.save_logo(session, survey, checked.manifest.get("logo"))
    ids = copy_tree(
        session,
        survey,
        [
            StratumCopy(
                tuple(stated["names"]),
                _whole(stated.get("population")),
                surveys.new_slug(),
                "merged" in stated,
                stated["identity"],
                stated.get("by_invitation"),
            )
            for stated in checked.manifest["strata"]
        ],
    )
    for version in checked.versions:
        stored = SurveyVersion(
            number=version.number,
            sha256=version.sha256,
            published=version.published,
            reports=version.reports,
            published_on=version.published_on,
        )
        survey.versions.append(stored)
    store_ledger(session, survey, checked.ledger, ids)
    session.flush()
    turns.give_way()
    store_responses(session, survey, archive, checked, ids, turns, report_progress)
    has_codes = store_codes(session, survey, archive, checked, ids, turns)
    return Unpacked(
        survey=survey,
        responses=checked.responses,
        # Those that lead somewhere: the survey's own, and those of strata without others below.
        links=1 + len(list_leaf_numbers(checked.manifest)),
        new_links=_come_into_sight(session, survey, checked, ids),
        left_invitations=not has_codes,
        raised_minimum=survey.minimum != checked.manifest["minimum"],
    )


def _known_minimum(session: Session, survey: Survey) -> int:
    """The smallest group that published copies here show: a file may not lower what no page lowers."""
    of_copies = sa.select(sa.func.max(Survey.minimum)).where(
        Survey.identity == survey.identity, sa.exists().where(SurveyVersion.survey_id == Survey.id)
    )
    return session.scalar(of_copies) or 0


def _come_into_sight(
    session: Session, survey: Survey, checked: Checked, ids: Mapping[int | None, int | None]
) -> int:
    """Let the survey be what it was, with the right and the links that it brings; how many had to be made anew."""
    go_on(session, survey)
    hold_copies(session)
    manifest = checked.manifest
    asked = [manifest["slug"], *(stratum["slug"] for stratum in manifest["strata"])]
    asked += [manifest["link"]] if "link" in manifest else []
    slugs = _free_slugs(session, asked)
    own = len(asked) - 1 if "link" in manifest else 0
    of_survey = sa.select(Stratum).where(Stratum.survey_id == survey.id)
    found: dict[int | None, Stratum] = {stratum.id: stratum for stratum in session.scalars(of_survey)}
    for number in range(1, len(manifest["strata"]) + 1):
        found[ids[number]].slug = slugs[number]
    survey.slug, survey.link = slugs[0], slugs[own]
    survey.state = State(manifest["state"])
    if (
        survey.state == State.CLOSED
    ):  # an older archive does not say when; nothing is deleted earlier than was told
        survey.closed_at = min(_moment(manifest.get("closed_at")) or surveys.now(), surveys.now())
    take_right(session, survey, checked.ledger["right"], len(checked.ledger["releases"]))
    survey.simulated, survey.incomplete = "simulated" in manifest, "incomplete" in manifest
    survey.arriving_until = None
    session.flush()
    return sum(asked[place] != slugs[place] for place in {own, *list_leaf_numbers(manifest)})


def _free_slugs(session: Session, slugs: Sequence[str]) -> list[str]:
    """The same links where nobody here has them, else new ones."""
    taken: set[str] = set()
    for start in range(0, len(slugs), 500):
        some = slugs[start : start + 500]
        for column in (Survey.slug, Survey.link, Stratum.slug, ClosedLink.slug):
            taken |= set(session.scalars(sa.select(column).where(column.in_(some))))
    return [surveys.new_slug() if slug in taken else slug for slug in slugs]


def _survey(owner: Researcher, manifest: Document) -> Survey:
    """What is stored of a survey on its way in: its settings, with a link that nobody was told."""
    return Survey(
        slug=surveys.new_slug(),
        owner_id=owner.id,
        state=State.DRAFT,
        created_on=date.fromisoformat(manifest["created_on"]),
        draft_number=1,
        paused="paused" in manifest or manifest["state"] == State.OPEN,
        by_invitation="by_invitation" in manifest,
        **{name: name in manifest for name in SWITCHES},
        opens_at=_moment(manifest.get("opens_at")),
        closes_at=_moment(manifest.get("closes_at")),
        time_zone=manifest["time_zone"],
        cap=_whole(manifest.get("cap")),
        **{field: _whole(manifest.get(field)) for field in KEPT_FIELDS},
        minimum=int(manifest["minimum"]),
        merged="merged" in manifest,
        identity=manifest["identity"],
        may_release=MayRelease.COPY,
        arriving_until=surveys.now() + PATIENCE,
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)  # JSON's 1.0 is a whole number
