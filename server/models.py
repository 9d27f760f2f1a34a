"""Tables. What must always hold is a named constraint here, not a habit elsewhere."""

from datetime import date, datetime
from enum import StrEnum

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


class State(StrEnum):
    """Whether a survey takes responses."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"


class Researcher(Base):
    """Somebody who designs surveys."""

    __tablename__ = "researchers"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(200))


class SignInLink(Base):
    """A link that signs a researcher in once; only the hash of its secret is kept."""

    __tablename__ = "sign_in_links"
    __table_args__ = (sa.CheckConstraint("length(secret_hash) = 32", name="secret_hash_is_sha256"),)

    secret_hash: Mapped[bytes] = mapped_column(sa.LargeBinary(32), primary_key=True)
    researcher_id: Mapped[int] = mapped_column(sa.ForeignKey(Researcher.id, ondelete="CASCADE"))
    expires_at: Mapped[datetime]


class SignIn(Base):
    """A researcher signed in on one browser; only the hash of the cookie's secret is kept."""

    __tablename__ = "sign_ins"
    __table_args__ = (sa.CheckConstraint("length(secret_hash) = 32", name="secret_hash_is_sha256"),)

    secret_hash: Mapped[bytes] = mapped_column(sa.LargeBinary(32), primary_key=True)
    researcher_id: Mapped[int] = mapped_column(sa.ForeignKey(Researcher.id, ondelete="CASCADE"))
    expires_at: Mapped[datetime]

    researcher: Mapped[Researcher] = relationship()


class Survey(Base):
    """A survey: which of its drafts stands now, and whether it takes responses."""

    __tablename__ = "surveys"
    __table_args__ = (
        sa.UniqueConstraint("slug"),
        sa.CheckConstraint("state IN ('draft', 'open', 'closed')", name="state_is_known"),
        sa.CheckConstraint("draft_number >= 1", name="draft_number_is_positive"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(sa.String(32))
    owner_id: Mapped[int] = mapped_column(sa.ForeignKey(Researcher.id), index=True)
    state: Mapped[str] = mapped_column(sa.String(8), default=State.DRAFT)
    simulated: Mapped[bool] = mapped_column(default=False)
    created_on: Mapped[date]
    draft_number: Mapped[int] = mapped_column(default=1, server_default=sa.text("1"))

    versions: Mapped[list["SurveyVersion"]] = relationship(
        order_by="SurveyVersion.number", back_populates="survey"
    )

    @property
    def current(self) -> "SurveyVersion | None":
        """The newest published version."""
        return self.versions[-1] if self.versions else None


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


class Response(Base):
    """One response: a random id, the version it answers, one byte for each report, the day.

    Nothing else may ever be added that could join it to a person. The key is random and
    there is no rowid, so that SQLite keeps rows in the order of random numbers and no query
    tells in which order they arrived. Who holds the files still finds traces of it: in the
    layout of SQLite's pages, in its write-ahead log and, on PostgreSQL, in ctid and xmin.
    """

    __tablename__ = "responses"
    __table_args__ = (
        sa.CheckConstraint("length(id) = 16", name="id_is_128_bits"),
        sa.CheckConstraint("length(reports) >= 1", name="reports_are_present"),
        sa.Index("ix_responses_version_id_reports", "version_id", "reports"),
        {"sqlite_with_rowid": False},
    )

    id: Mapped[bytes] = mapped_column(sa.LargeBinary(16), primary_key=True)
    version_id: Mapped[int] = mapped_column(sa.ForeignKey(SurveyVersion.id))
    reports: Mapped[bytes] = mapped_column(sa.LargeBinary)
    day: Mapped[date]
