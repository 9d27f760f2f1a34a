"""What a public report is made from: published definitions and settings, which are public, and releases alone."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sqlalchemy.orm import Session

from server import __version__
from server.collect import invitation_batches
from server.releases.values import Ledger, Spent
from server.reports.admission import Admission, admissions
from server.reports.version_designs import VersionDesigns
from server.store.models import Survey
from server.study import strata, study_sheets, surveys
from server.study.definitions import Definition
from server.study.retention import UNLIMITED, Retention, retention_of
from server.study.study_sheets import UNSTATED, StudySheet

NOTHING = Ledger(None, (), Spent(Decimal(0), Decimal(0), Decimal(0), None, 1e-6))
"""The ledger of a survey without a budget."""


@dataclass(frozen=True)
class PublishedVersion:
    """A version of a survey, as everybody may see it."""

    number: int
    sha256: str
    published_on: date
    definition: Definition


@dataclass(frozen=True)
class Published:
    """A survey as the public knows it: its versions, the newest first, and what was released.

    Without its address: who reads what was found is not let in to answer. `study` is what its researchers say of
    it, and `issued` how many codes they issued (None for none), if they have marked that as public. A survey that is
    `divided` has strata or versions, of which reports leave those out that are too small.
    """

    simulated: bool
    versions: tuple[PublishedVersion, ...]
    ledger: Ledger
    admissions: tuple[Admission, ...]
    incomplete: bool
    software: str = f"Moneda {__version__}"
    study: StudySheet = UNSTATED
    kept: Retention = UNLIMITED
    issued: int | None = None
    divided: bool = False

    @property
    def newest(self) -> PublishedVersion:
        """The newest version."""
        return self.versions[0]

    @property
    def designs(self) -> VersionDesigns:
        """What the versions asked, and with which coins."""
        return VersionDesigns({version.number: version.definition for version in self.versions})

    @property
    def released_on(self) -> date | None:
        """The day of the newest release: the report changes with releases, and not with days."""
        return max((each.made_at.date() for each in self.ledger.released), default=None)


def read_published(session: Session, survey: Survey, ledger: Ledger) -> Published:
    """A survey that was published, and its ledger."""
    versions = tuple(
        PublishedVersion(version.number, version.sha256, version.published_on, surveys.definition_of(version))
        for version in reversed(survey.versions)
    )
    study = study_sheets.read_study_sheet(session, survey).sheet.for_everybody
    return Published(
        survey.simulated,
        versions,
        ledger,
        admissions(session, survey),
        survey.incomplete,
        kept=retention_of(survey),
        study=study,
        issued=invitation_batches.count_issued_codes(session, survey) if study.public else None,
        divided=len(versions) > 1 or bool(strata.tree(session, survey)),
    )
