"""Tables. What must always hold is a named constraint here, not a habit elsewhere."""

import hashlib
import secrets
from datetime import date, datetime
from enum import IntEnum, StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    metadata = sa.MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        }
    )


def _new_identity() -> str:
    return secrets.token_hex(16)


def _first_link(context: Any) -> Any:
    return context.get_current_parameters()["slug"]


class State(StrEnum):
    """Whether a survey takes responses."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"


class Role(StrEnum):
    """What a researcher may do with a survey; each may do what those before it may."""

    VIEWER = "viewer"
    EDITOR = "editor"
    OWNER = "owner"

    @property
    def rank(self) -> int:
        """Greater for who may do more."""
        return list(Role).index(self)

    def allows(self, needed: "Role") -> bool:
        """Whether somebody in this role may do what `needed` may."""
        return self.rank >= needed.rank


class Mode(IntEnum):
    """How answers were randomised and collected."""

    BROWSER = 0
    PAPER = 1


class Researcher(Base):
    """Somebody who designs surveys.

    `login` and `password_hash` (Argon2) are missing until they are chosen: the first researcher
    comes in by a one-time link. `totp_sealed` is the secret of the app for codes, under a key that is not in the
    database (`server.store.sealed_secrets`). `totp_step` is the last time step whose code was used, so that
    none is used twice. Administrators invite colleagues and help those who are locked out; they
    see no surveys but their own.
    """

    __tablename__ = "researchers"
    __table_args__ = (sa.Index("uq_researchers_login", "login", unique=True),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(200))
    login: Mapped[str | None] = mapped_column(sa.String(200))
    password_hash: Mapped[str | None] = mapped_column(sa.String(200))
    totp_step: Mapped[int | None]
    administrator: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    disabled_on: Mapped[date | None]
    totp_sealed: Mapped[str | None] = mapped_column(sa.Text)


class RecoveryCode(Base):
    """A code that stands in once for a researcher's lost authenticator; only its hash is kept."""

    __tablename__ = "recovery_codes"
    __table_args__ = (sa.CheckConstraint("length(secret_hash) = 32", name="secret_hash_is_sha256"),)

    secret_hash: Mapped[bytes] = mapped_column(sa.LargeBinary(32), primary_key=True)
    researcher_id: Mapped[int] = mapped_column(sa.ForeignKey(Researcher.id, ondelete="CASCADE"), index=True)


class SignInLink(Base):
    """A link that signs a researcher in once; only the hash of its secret is kept."""

    __tablename__ = "sign_in_links"
    __table_args__ = (sa.CheckConstraint("length(secret_hash) = 32", name="secret_hash_is_sha256"),)

    secret_hash: Mapped[bytes] = mapped_column(sa.LargeBinary(32), primary_key=True)
    researcher_id: Mapped[int] = mapped_column(sa.ForeignKey(Researcher.id, ondelete="CASCADE"))
    expires_at: Mapped[datetime]


class SignIn(Base):
    """A researcher signed in on one browser; only the hash of the cookie's secret is kept.

    `device` is a family of browsers and systems ("Firefox, Linux"), to know one's own again.
    """

    __tablename__ = "sign_ins"
    __table_args__ = (sa.CheckConstraint("length(secret_hash) = 32", name="secret_hash_is_sha256"),)

    secret_hash: Mapped[bytes] = mapped_column(sa.LargeBinary(32), primary_key=True)
    researcher_id: Mapped[int] = mapped_column(sa.ForeignKey(Researcher.id, ondelete="CASCADE"))
    expires_at: Mapped[datetime]
    started_on: Mapped[date | None]
    seen_on: Mapped[date | None]
    device: Mapped[str | None] = mapped_column(sa.String(100))

    researcher: Mapped[Researcher] = relationship()


class Survey(Base):
    """A survey: which of its drafts stands now, and whether and when it takes responses.

    An open survey takes responses from `opens_at` to `closes_at` (UTC; the researcher writes
    them in `time_zone`), up to `cap` of them, unless it is `paused`; where `by_invitation`,
    only with a code that was not used yet, but by links of strata that are open. Groups of fewer than
    `minimum` responses are withheld wherever results are shown. What respondents leave behind is in tables that
    each survey has of its own (`own_tables`); `tidied_on` says since when these tell nothing but their content.
    A survey with `arriving_until` is being imported: nobody sees it, and after that moment it is given up.
    `merged` says that some of the responses without stratum came, elsewhere, by links of strata that were too
    small to travel by themselves. `identity` is kept by copies that archives become. `may_release` says from
    what it releases: its "own" budget; a "share" of another copy's, beside the first `inherited` releases, which
    came along; nothing, as a "copy"; or nothing any more, as it "moved".
    Since `populations_since` no population of a stratum has changed: estimates are weighted by them.
    One that is `incomplete` came from a backup that left out what was not shown yet when it was made.
    One that is `offline` can be answered without a network, once its page was opened; one that `forgets` leaves no
    note on a device on which it was answered; one for the `tablet` may be answered by many people on one device; before
    one that `works` takes a response by an open link, a device works for it, where the operator allows that. With
    `tickets`, a code buys one, and a response spends it; with `completions`, each response is good for one code.
    It was closed at `closed_at`; so many days later the server deletes rows, counts and everything but releases, where
    `keep_rows`, `keep_counts` and `keep_rest` say so; `deleted` is how far that is (`server.study.retention`).
    `slug` names the survey for good; `link` is what respondents are given, the same until it is replaced.
    """

    __tablename__ = "surveys"
    __table_args__ = (
        sa.UniqueConstraint("slug"),
        sa.Index("uq_surveys_link", "link", unique=True),
        sa.CheckConstraint("state IN ('draft', 'open', 'closed')", name="state_is_known"),
        sa.CheckConstraint("draft_number >= 1", name="draft_number_is_positive"),
        sa.CheckConstraint("cap >= 1", name="cap_is_positive"),
        sa.CheckConstraint("minimum >= 1", name="minimum_is_positive"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(sa.String(32))
    owner_id: Mapped[int] = mapped_column(sa.ForeignKey(Researcher.id), index=True)
    state: Mapped[str] = mapped_column(sa.String(8), default=State.DRAFT)
    simulated: Mapped[bool] = mapped_column(default=False)
    created_on: Mapped[date]
    draft_number: Mapped[int] = mapped_column(default=1, server_default=sa.text("1"))
    paused: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    by_invitation: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    opens_at: Mapped[datetime | None]
    closes_at: Mapped[datetime | None]
    time_zone: Mapped[str] = mapped_column(sa.String(64), default="UTC", server_default="UTC")
    cap: Mapped[int | None]
    minimum: Mapped[int] = mapped_column(server_default=sa.text("10"))
    archived_on: Mapped[date | None]
    tidied_on: Mapped[date | None]
    arriving_until: Mapped[datetime | None]
    merged: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    identity: Mapped[str] = mapped_column(sa.String(32), default=_new_identity, server_default=sa.text("''"))
    may_release: Mapped[str] = mapped_column(sa.String(8), default="own", server_default="own")
    inherited: Mapped[int] = mapped_column(default=0, server_default=sa.text("0"))
    share_epsilon: Mapped[str | None] = mapped_column(sa.String(40))
    share_delta: Mapped[str | None] = mapped_column(sa.String(40))
    populations_since: Mapped[date | None]
    link: Mapped[str] = mapped_column(sa.String(32), default=_first_link, server_default=sa.text("''"))
    incomplete: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    offline: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    closed_at: Mapped[datetime | None]
    keep_rows: Mapped[int | None]
    keep_counts: Mapped[int | None]
    keep_rest: Mapped[int | None]
    deleted: Mapped[int] = mapped_column(default=0, server_default=sa.text("0"))
    forgets: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    tablet: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    tickets: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    works: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    completions: Mapped[bool] = mapped_column(default=False, server_default=sa.false())

    versions: Mapped[list["SurveyVersion"]] = relationship(
        order_by="SurveyVersion.number", back_populates="survey"
    )

    @property
    def current(self) -> "SurveyVersion | None":
        """The newest published version."""
        return self.versions[-1] if self.versions else None


class Revision(Base):
    """A number that triggers raise with every change of what a survey's links show; see `server.store.revisions`."""

    __tablename__ = "revisions"

    survey_id: Mapped[int] = mapped_column(
        sa.ForeignKey(Survey.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    number: Mapped[int]


class Member(Base):
    """A colleague's role in a survey. Its one owner is `Survey.owner_id` and has no row here."""

    __tablename__ = "members"
    __table_args__ = (sa.CheckConstraint("role IN ('viewer', 'editor')", name="role_is_known"),)

    survey_id: Mapped[int] = mapped_column(
        sa.ForeignKey(Survey.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    researcher_id: Mapped[int] = mapped_column(
        sa.ForeignKey(Researcher.id, ondelete="CASCADE"), primary_key=True, autoincrement=False, index=True
    )
    role: Mapped[str] = mapped_column(sa.String(8))

    researcher: Mapped[Researcher] = relationship()


class ApiToken(Base):
    """What a program of a researcher signs in with; only the hash of its secret is kept.

    It may do what `role` may, never more than the researcher's own role in a survey allows; in one survey only
    where `survey_id` names it.
    """

    __tablename__ = "api_tokens"
    __table_args__ = (
        sa.CheckConstraint("length(secret_hash) = 32", name="secret_hash_is_sha256"),
        sa.CheckConstraint("role IN ('viewer', 'editor')", name="role_is_known"),
    )

    secret_hash: Mapped[bytes] = mapped_column(sa.LargeBinary(32), primary_key=True)
    researcher_id: Mapped[int] = mapped_column(sa.ForeignKey(Researcher.id, ondelete="CASCADE"), index=True)
    survey_id: Mapped[int | None] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"), index=True)
    role: Mapped[str] = mapped_column(sa.String(8))
    name: Mapped[str] = mapped_column(sa.String(100))
    made_on: Mapped[date]
    expires_at: Mapped[datetime]
    seen_on: Mapped[date | None]

    researcher: Mapped[Researcher] = relationship()
    survey: Mapped[Survey | None] = relationship()


class KeptReply(Base):
    """What a program was answered under a key of its own, for a day: asked again with that key, nothing is done twice.

    `request_hash` tells whether the same was asked again.
    """

    __tablename__ = "kept_replies"
    __table_args__ = (sa.CheckConstraint("length(request_hash) = 32", name="request_hash_is_sha256"),)

    researcher_id: Mapped[int] = mapped_column(
        sa.ForeignKey(Researcher.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    key: Mapped[str] = mapped_column(sa.String(100), primary_key=True)
    survey_id: Mapped[int | None] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"), index=True)
    request_hash: Mapped[bytes] = mapped_column(sa.LargeBinary(32))
    status: Mapped[int]
    body: Mapped[str] = mapped_column(sa.Text)
    kept_at: Mapped[datetime]


class FailedAttempt(Base):
    """How many sign-ins failed in a second (`at`, since 1970), of all addresses or accounts that share a number.

    `server.people.throttling` says how `slot` is made; a row counts no more, and is deleted, from `until` on.
    """

    __tablename__ = "failed_attempts"

    slot: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    until: Mapped[int] = mapped_column(sa.BigInteger, index=True)
    n: Mapped[int]


class ColleagueInvitation(Base):
    """A link that makes a colleague an account, or a member of a survey, once; only its hash is kept."""

    __tablename__ = "colleague_invitations"
    __table_args__ = (
        sa.CheckConstraint("length(secret_hash) = 32", name="secret_hash_is_sha256"),
        sa.CheckConstraint("role IN ('viewer', 'editor')", name="role_is_known"),
    )

    secret_hash: Mapped[bytes] = mapped_column(sa.LargeBinary(32), primary_key=True)
    inviter_id: Mapped[int] = mapped_column(sa.ForeignKey(Researcher.id, ondelete="CASCADE"), index=True)
    survey_id: Mapped[int | None] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"), index=True)
    role: Mapped[str | None] = mapped_column(sa.String(8))
    name: Mapped[str] = mapped_column(sa.String(200))
    expires_at: Mapped[datetime]

    inviter: Mapped[Researcher] = relationship()
    survey: Mapped[Survey | None] = relationship()


class AuditEntry(Base):
    """What a researcher changed, and when. Nothing that respondents do is ever written here.

    `researcher_id` is missing for what was done on the command line; `details` is JSON.
    """

    __tablename__ = "audit_entries"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    researcher_id: Mapped[int | None] = mapped_column(sa.ForeignKey(Researcher.id, ondelete="SET NULL"))
    survey_id: Mapped[int | None] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"), index=True)
    action: Mapped[str] = mapped_column(sa.String(40))
    details: Mapped[str] = mapped_column(sa.Text)

    researcher: Mapped[Researcher | None] = relationship()


class Stratum(Base):
    """A part of the population, in a tree; the link of a part without parts of its own carries it.

    `parent_id` is missing for those right under the survey. `slug` is a link like the survey's own.
    `by_invitation` is missing where it is as the stratum above it, or the survey; `server.study.strata` decides.
    `merged` says that its responses came here with an archive as those of the stratum around it; `identity`
    stays when it is renamed, and in copies.
    """

    __tablename__ = "strata"
    __table_args__ = (
        sa.UniqueConstraint("slug"),
        sa.CheckConstraint("population >= 1", name="population_is_positive"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    survey_id: Mapped[int] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"), index=True)
    parent_id: Mapped[int | None] = mapped_column(sa.ForeignKey("strata.id", ondelete="CASCADE"), index=True)
    position: Mapped[int]
    name: Mapped[str] = mapped_column(sa.String(200))
    population: Mapped[int | None] = mapped_column(sa.BigInteger)
    slug: Mapped[str] = mapped_column(sa.String(32))
    merged: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    identity: Mapped[str] = mapped_column(sa.String(32), default=_new_identity, server_default=sa.text("''"))
    by_invitation: Mapped[bool | None]


class ClosedLink(Base):
    """A link of a survey, or of a stratum, that was replaced by another one when invitations were switched on."""

    __tablename__ = "closed_links"

    slug: Mapped[str] = mapped_column(sa.String(32), primary_key=True)
    survey_id: Mapped[int] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"), index=True)
    stratum_id: Mapped[int | None] = mapped_column(sa.ForeignKey(Stratum.id, ondelete="CASCADE"), index=True)


class InvitationBatch(Base):
    """Invitations issued together, for a link: the survey's own or that of a stratum."""

    __tablename__ = "invitation_batches"
    __table_args__ = (sa.CheckConstraint("size >= 1", name="size_is_positive"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    survey_id: Mapped[int] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"), index=True)
    stratum_id: Mapped[int | None] = mapped_column(sa.ForeignKey(Stratum.id, ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(sa.String(200))
    issued_on: Mapped[date]
    size: Mapped[int]
    withdrawn_on: Mapped[date | None]


class TicketKey(Base):
    """What the tickets of a link are signed with, blindly: the survey's own link, or that of a stratum.

    `modulus` is public. `exponent_sealed` is the secret, under a key that is not in the database; once the survey is
    closed there is none. One that `completes` signs the completion codes of the whole survey instead, and stays:
    with it codes are checked, and nobody's response is found.
    """

    __tablename__ = "ticket_keys"
    __table_args__ = (sa.CheckConstraint("length(modulus) = 256", name="modulus_has_2048_bits"),)

    modulus: Mapped[bytes] = mapped_column(sa.LargeBinary(256), primary_key=True)
    survey_id: Mapped[int] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"), index=True)
    stratum_id: Mapped[int | None] = mapped_column(sa.ForeignKey(Stratum.id, ondelete="CASCADE"), index=True)
    exponent_sealed: Mapped[str | None] = mapped_column(sa.Text)
    completes: Mapped[bool] = mapped_column(default=False, server_default=sa.false())

    @property
    def owner(self) -> str:
        """Whose the secret is, as `server.store.sealed_secrets` holds it."""
        return f"ticket-{hashlib.sha256(self.modulus).hexdigest()}"


class AcceptedCode(Base):
    """A completion code that was found good, so that it is good once; nothing leads from it to a response."""

    __tablename__ = "accepted_codes"

    survey_id: Mapped[int] = mapped_column(
        sa.ForeignKey(Survey.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    code: Mapped[str] = mapped_column(sa.String(20), primary_key=True)


class Draft(Base):
    """A state of a survey's draft: any document that the editor makes, finished or not.

    Numbers grow and are never given twice, so that one names the same words for good.
    """

    __tablename__ = "drafts"
    __table_args__ = (sa.CheckConstraint("number >= 1", name="number_is_positive"),)

    survey_id: Mapped[int] = mapped_column(
        sa.ForeignKey(Survey.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    document: Mapped[bytes] = mapped_column(sa.LargeBinary)


class StudySheetRow(Base):
    """What reports and respondents' pages say of a survey's study, as JSON; `number` grows with every change.

    `logo` is the PNG that respondents' pages show beside who asks, as `server.inputs.logos` made it.
    """

    __tablename__ = "study_sheets"
    __table_args__ = (sa.CheckConstraint("number >= 1", name="number_is_positive"),)

    survey_id: Mapped[int] = mapped_column(
        sa.ForeignKey(Survey.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    number: Mapped[int]
    document: Mapped[str] = mapped_column(sa.Text)
    logo: Mapped[bytes | None] = mapped_column(sa.LargeBinary)


class LibraryQuestion(Base):
    """A question that a researcher keeps for other surveys: an entry of a draft, as JSON; it goes with the account."""

    __tablename__ = "library_questions"

    id: Mapped[int] = mapped_column(primary_key=True)
    researcher_id: Mapped[int] = mapped_column(sa.ForeignKey(Researcher.id, ondelete="CASCADE"), index=True)
    entry: Mapped[bytes] = mapped_column(sa.LargeBinary)


class SurveyVersion(Base):
    """A published version: its canonical bytes and their SHA-256. Triggers refuse every change.

    `reports` holds one byte for each byte of a response: how many reports its design has.
    It follows from `published` and stands here so that the intake need not parse that.
    """

    __tablename__ = "survey_versions"
    __table_args__ = (
        sa.UniqueConstraint("survey_id", "number"),
        sa.UniqueConstraint("survey_id", "sha256"),
        sa.CheckConstraint("number >= 1", name="number_is_positive"),
        sa.CheckConstraint("length(sha256) = 64", name="sha256_is_hexadecimal"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    survey_id: Mapped[int] = mapped_column(sa.ForeignKey(Survey.id))
    number: Mapped[int]
    sha256: Mapped[str] = mapped_column(sa.String(64))
    published: Mapped[bytes] = mapped_column(sa.LargeBinary)
    reports: Mapped[bytes] = mapped_column(sa.LargeBinary)
    published_on: Mapped[date]

    survey: Mapped[Survey] = relationship(back_populates="versions")


class PrivacyBudget(Base):
    """What a survey's releases may lose together. Once there is a release, nothing in it can change.

    Losses are decimal texts, so that sums of them are exact.
    """

    __tablename__ = "privacy_budgets"
    __table_args__ = (
        sa.CheckConstraint("neighbours IN ('bounded', 'unbounded')", name="neighbours_are_known"),
    )

    survey_id: Mapped[int] = mapped_column(
        sa.ForeignKey(Survey.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    epsilon: Mapped[str] = mapped_column(sa.String(40))
    delta: Mapped[str] = mapped_column(sa.String(40))
    neighbours: Mapped[str] = mapped_column(sa.String(10))
    set_at: Mapped[datetime]


class Release(Base):
    """Things that were released together, in one transaction: when, by whom, from which responses.

    `made_by` is the researcher's name at that time, or empty for the command line. `covers` is
    JSON. Triggers refuse every change of releases, ledger entries and released values, and
    deleting them unless their survey is deleted.
    """

    __tablename__ = "releases"
    __table_args__ = (
        sa.UniqueConstraint("survey_id", "number"),
        sa.CheckConstraint("number >= 1", name="number_is_positive"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    survey_id: Mapped[int] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"))
    number: Mapped[int]
    made_at: Mapped[datetime]
    researcher_id: Mapped[int | None] = mapped_column(sa.ForeignKey(Researcher.id), index=True)
    made_by: Mapped[str] = mapped_column(sa.String(200))
    software: Mapped[str] = mapped_column(sa.String(40))
    covers: Mapped[str] = mapped_column(sa.Text)

    entries: Mapped[list["LedgerEntry"]] = relationship(
        order_by="LedgerEntry.position", back_populates="release"
    )


class LedgerEntry(Base):
    """A row of the ledger: what was released, by which mechanism, at which loss, between which neighbours.

    `what` is the item as it was asked for, JSON; `asked` the SHA-256 of what makes two of them
    the same question. `strata` is JSON: the ids of the smallest strata whose responses it
    covers, or null for all responses.
    """

    __tablename__ = "ledger_entries"
    __table_args__ = (
        sa.UniqueConstraint("release_id", "position"),
        sa.CheckConstraint("position >= 1", name="position_is_positive"),
        sa.CheckConstraint("length(asked) = 32", name="asked_is_sha256"),
        sa.CheckConstraint("neighbours IN ('bounded', 'unbounded')", name="neighbours_are_known"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    release_id: Mapped[int] = mapped_column(sa.ForeignKey(Release.id, ondelete="CASCADE"))
    position: Mapped[int]
    what: Mapped[str] = mapped_column(sa.Text)
    asked: Mapped[bytes] = mapped_column(sa.LargeBinary(32))
    mechanism: Mapped[str] = mapped_column(sa.String(40))
    epsilon: Mapped[str] = mapped_column(sa.String(40))
    delta: Mapped[str] = mapped_column(sa.String(40))
    neighbours: Mapped[str] = mapped_column(sa.String(10))
    strata: Mapped[str] = mapped_column(sa.Text)

    release: Mapped[Release] = relationship(back_populates="entries")
    released: Mapped["ReleasedValue"] = relationship(back_populates="entry")
    answers: Mapped[list["SearchAnswer"]] = relationship(order_by="SearchAnswer.number")


class ReleasedValue(Base):
    """What an entry of the ledger paid for, JSON. No entry is without it, and it is never without its entry."""

    __tablename__ = "released_values"

    entry_id: Mapped[int] = mapped_column(
        sa.ForeignKey(LedgerEntry.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    document: Mapped[str] = mapped_column(sa.Text)

    entry: Mapped[LedgerEntry] = relationship(back_populates="released")


class Search(Base):
    """What a search needs to go on (`server.releases.searches`); without it, it has ended. No backup or archive has it.

    `sealed` is the noise of its threshold, under a key that is not in the database; `paid` the number of the debit that
    paid for it.
    """

    __tablename__ = "searches"

    entry_id: Mapped[int] = mapped_column(
        sa.ForeignKey(LedgerEntry.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    sealed: Mapped[str] = mapped_column(sa.Text)
    paid: Mapped[int]


class SearchAnswer(Base):
    """What a search was asked, and whether that was above; `asked` as in `LedgerEntry`. Triggers refuse every change.

    `place` is that of its figure, JSON: a stratum where it is about one, a question and an answer.
    """

    __tablename__ = "search_answers"
    __table_args__ = (
        sa.UniqueConstraint("entry_id", "asked"),
        sa.CheckConstraint("number >= 1", name="number_is_positive"),
        sa.CheckConstraint("length(asked) = 32", name="asked_is_sha256"),
    )

    entry_id: Mapped[int] = mapped_column(
        sa.ForeignKey(LedgerEntry.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    asked: Mapped[bytes] = mapped_column(sa.LargeBinary(32))
    place: Mapped[str] = mapped_column(sa.Text)
    above: Mapped[bool]
    answered_at: Mapped[datetime]


class GivenRight(Base):
    """A right to release that went along with an archive: the whole ("move") or a part of the budget ("share").

    It was debited before the file could be downloaded; the same file is made again from this row.
    """

    __tablename__ = "given_rights"
    __table_args__ = (sa.CheckConstraint("kind IN ('move', 'share')", name="kind_is_known"),)

    token: Mapped[str] = mapped_column(sa.String(32), primary_key=True)
    survey_id: Mapped[int] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"), index=True)
    kind: Mapped[str] = mapped_column(sa.String(8))
    server: Mapped[str] = mapped_column(sa.String(32))
    epsilon: Mapped[str] = mapped_column(sa.String(40))
    delta: Mapped[str] = mapped_column(sa.String(40))
    made_at: Mapped[datetime]


class Debit(Base):
    """The name of something that was spent of a survey, given away or declared; see `server.releases.spending_marks`.

    `number` grows with each of them. Of a declaration, `answers` is the name that was not known here.
    """

    __tablename__ = "debits"

    survey_id: Mapped[int] = mapped_column(
        sa.ForeignKey(Survey.id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    token: Mapped[str] = mapped_column(sa.String(32))
    answers: Mapped[str | None] = mapped_column(sa.String(32))


class TakenRight(Base):
    """A right that came here with an archive; it stays when the survey is deleted, so that it comes once."""

    __tablename__ = "taken_rights"

    token: Mapped[str] = mapped_column(sa.String(32), primary_key=True)


class Server(Base):
    """The name under which archives give rights to this database; one row.

    `sealed_by` is the public half of the key under which secrets are sealed (`server.store.sealed_secrets`), as
    servers on PostgreSQL note it: all of them need the same.
    """

    __tablename__ = "servers"

    id: Mapped[str] = mapped_column(sa.String(32), primary_key=True)
    sealed_by: Mapped[str | None] = mapped_column(sa.String(100))


class ReportLink(Base):
    """A link to a survey's public report, made from its releases alone, until it is revoked."""

    __tablename__ = "report_links"

    slug: Mapped[str] = mapped_column(sa.String(32), primary_key=True)
    survey_id: Mapped[int] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"), index=True)
    made_on: Mapped[date]
    revoked_on: Mapped[date | None]


class Untidied(Base):
    """A mark: since a survey was closed or deleted, the stored files may still tell of what was there.

    Written in the transaction that closes or deletes, and taken away by `tidying`. The survey may be
    gone; without one, the mark is for what all surveys share. `rewritten` says that only the
    database's log is left to do, `reason` what was in the way of the last attempt, if there was one.
    """

    __tablename__ = "untidied"

    id: Mapped[int] = mapped_column(primary_key=True)
    survey_id: Mapped[int | None]
    since: Mapped[datetime]
    rewritten: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    reason: Mapped[str | None] = mapped_column(sa.Text)


class Webhook(Base):
    """Where a program is told of what became of a survey; see `server.web.webhooks`.

    `secret_sealed` is what messages are signed with, under a key that is not in the database. On `looked_on` it was
    last looked what there is to tell. It ends with the survey, and when whoever set it up may not change that any
    more.
    """

    __tablename__ = "webhooks"

    id: Mapped[str] = mapped_column(sa.String(32), primary_key=True, default=_new_identity)
    survey_id: Mapped[int] = mapped_column(sa.ForeignKey(Survey.id, ondelete="CASCADE"), index=True)
    researcher_id: Mapped[int] = mapped_column(sa.ForeignKey(Researcher.id, ondelete="CASCADE"), index=True)
    url: Mapped[str] = mapped_column(sa.Text)
    secret_sealed: Mapped[str] = mapped_column(sa.Text)
    made_on: Mapped[date]
    looked_on: Mapped[date]

    survey: Mapped[Survey] = relationship()
    researcher: Mapped[Researcher] = relationship()


class WebhookDelivery(Base):
    """A message to the receiver of a webhook, under the name that it has there (`webhook-id`), and how far it is.

    `at` is the hour whose pages it tells of, or when a trial was asked for. It is sent at `next_at`, or later; whoever
    sends it sets that to when others may take it for abandoned. It is over once there is an `outcome`; `trouble`
    is why the last attempt failed, with the `status` of the answer if there was one.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        sa.CheckConstraint("attempts >= 0", name="attempts_are_counted"),
        sa.CheckConstraint("outcome IN ('delivered', 'given up')", name="outcome_is_known"),
    )

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    webhook_id: Mapped[str] = mapped_column(
        sa.String(32), sa.ForeignKey(Webhook.id, ondelete="CASCADE"), index=True
    )
    event: Mapped[str] = mapped_column(sa.String(40))
    at: Mapped[datetime]
    next_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0, server_default=sa.text("0"))
    outcome: Mapped[str | None] = mapped_column(sa.String(10))
    trouble: Mapped[str | None] = mapped_column(sa.String(20))
    status: Mapped[int | None]

    webhook: Mapped[Webhook] = relationship()
