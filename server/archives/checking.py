"""What an archive says -> checked values. Nothing is stored, and no database is asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from server.archives import layout
from server.archives.archive_reader import Archive, name_entry_in_problems
from server.archives.layout import Document
from server.archives.ledger_reader import read_ledger
from server.archives.manifest_reader import read_manifest
from server.archives.table_reader import ResponseRows, ResponseTable, invitation_rows, response_rows
from server.inputs import N_, InputError, form_fields, parse_form, parse_json, refuse, shorten_value
from server.output.progress import ProgressReporter, report_no_progress
from server.reports.day_counts import Period
from server.study import editing
from server.study.definitions import Definition, Question, version_of
from server.study.definitions.definition_reader import DEFINITION_LIMIT, parse_definition
from server.study.definitions.own_texts import keep_readable
from server.study.definitions.published_reader import parse_published
from server.study.definitions.reading_designs import are_usable
from server.study.strata.tree import SEPARATOR

_PUBLISHED_LIMIT = 64 * 1024 * 1024
"""A definition with its designs written out takes that much more room."""
STORING = 19
"""How many times as long as the check of a response its storing takes, between others that write."""


@dataclass(frozen=True)
class Version:
    """A published version: its bytes, their SHA-256, what they say, and how many responses it has, on which days."""

    number: int
    sha256: str
    published: bytes
    published_on: date
    definition: Definition
    responses: int
    days: tuple[Period, ...]

    @property
    def reports(self) -> bytes:
        """How many reports each byte of a response can have."""
        return bytes(design.weights.shape[1] for design in self.definition.designs)

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each byte of a response."""
        return tuple(column for question in self.definition.questions for column in question.columns)


@dataclass(frozen=True)
class Checked:
    """Everything that an archive says; responses and invitations are read again when they are stored."""

    manifest: Document
    draft: Document
    ledger: Document
    versions: tuple[Version, ...]

    @property
    def responses(self) -> int:
        """How many there are, of all versions."""
        return sum(version.responses for version in self.versions)

    def response_rows(self, archive: Archive, version: Version) -> Iterator[ResponseRows]:
        """The responses to a version, in large parts."""
        table = ResponseTable(
            layout.RESPONSES.format(version.number),
            version.columns,
            version.reports,
            version.responses,
            "modes" in self.manifest,
        )
        paths = [SEPARATOR.join(stratum["names"]) for stratum in self.manifest["strata"]]
        return response_rows(archive, table, paths)

    def invitation_rows(self, archive: Archive) -> Iterator[Sequence[tuple[bytes, int, bool]]]:
        """The invitations, in large parts."""
        return invitation_rows(archive, [batch["size"] for batch in self.manifest["batches"]])


def check(archive: Archive, report_progress: ProgressReporter = report_no_progress) -> Checked:
    """Check everything that an archive says.

    Raises
    ------
    InputError
        Naming the entry, the place in it, and what was refused.
    """
    manifest = read_manifest(archive)
    versions = tuple(
        _version(archive, number, stated) for number, stated in enumerate(manifest["versions"], 1)
    )
    for number, version in enumerate(versions):
        if version.sha256 in {other.sha256 for other in versions[:number]}:
            template = N_("must be unique; %(value)s stands twice")
            raise refuse(422, f"{layout.MANIFEST}: versions[{number}].sha256", template, value=version.sha256)
    checked = Checked(manifest, _draft(archive), read_ledger(archive, manifest), versions)
    done = 0
    for version in versions:
        for rows in checked.response_rows(archive, version):
            done += len(rows.reports)
            report_progress(done, (1 + STORING) * checked.responses)
    for _ in checked.invitation_rows(archive):
        pass
    for name in layout.entry_names(len(versions)):  # to the end, where the checksum stands
        if name in (layout.README, layout.STRATA, layout.BATCHES, layout.LOG) or "codebook" in name:
            for _chunk in archive.chunks(name):
                pass
    return checked


def _draft(archive: Archive) -> Document:
    """The draft; unfinished, it is read as the editor would read a form that holds it."""
    limit = 4 * DEFINITION_LIMIT
    with name_entry_in_problems(layout.DRAFT):
        document = parse_json(archive.read(layout.DRAFT, limit), limit)
        try:
            return parse_definition(document).as_json()
        except InputError:
            if not isinstance(document, dict):
                raise
        fields = form_fields(document)
        typed = parse_form(
            (name, text)
            for name, texts in fields.items()
            for text in (texts if isinstance(texts, list) else [texts])
        )
        blank = {"name": "", "kind": "", "text": ""}
        entries = [{**blank, **entry} for entry in typed.get("questions", [])]
        before = {**typed, "format": document.get("format"), "questions": entries}
        if translations := keep_readable(document.get("translations")):
            before["translations"] = translations
        return editing.settle_document(typed, before, equal=editing.equal_division(before), rename=False)


def _version(archive: Archive, number: int, manifest: Document) -> Version:
    name = layout.PUBLISHED.format(number)
    with name_entry_in_problems(name):
        published = archive.read(name, _PUBLISHED_LIMIT)
        found = version_of(published)
        if found != manifest["sha256"]:
            template = N_("must have the SHA-256 %(limit)s; it has %(value)s")
            raise refuse(422, "", template, limit=shorten_value(manifest["sha256"]), value=found)
        return Version(
            number=number,
            sha256=found,
            published=published,
            published_on=date.fromisoformat(manifest["published_on"]),
            definition=parse_frozen(published),
            responses=int(manifest["responses"]),
            days=tuple(
                Period(
                    date.fromisoformat(period["first"]), date.fromisoformat(period["last"]), int(period["n"])
                )
                for period in manifest["days"]
            ),
        )


def parse_frozen(published: bytes) -> Definition:
    """What published bytes say, if they are what publishing writes.

    Raises
    ------
    InputError
        If they are not.
    """
    document = parse_json(published, _PUBLISHED_LIMIT)
    try:
        definition = parse_published(document)
        whole = definition.to_canonical() == published and all(map(_usable, definition.questions))
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        whole = False
    if not whole:
        raise refuse(422, "", N_("must be a survey as Moneda publishes it, byte for byte"))
    return definition


def _usable(question: Question) -> bool:
    """Whether the designs that are written out are as many and as large as the answers need, and can be inverted."""
    usual = replace(question, stored_designs=()).designs
    return [each.weights.shape for each in question.designs] == [
        each.weights.shape for each in usual
    ] and are_usable(question.designs)
