"""An archive folder -> what its surveys are, every file held against the manifests."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import rfc8785

from server.archives.checking import parse_frozen
from server.archives.folders.folder_layout import (
    FORMAT,
    MANIFEST,
    PUBLISHED,
    SURVEY,
    WRITING,
    ArchiveFolderError,
    Document,
    name_columns,
)
from server.archives.folders.folder_rows import hash_file
from server.archives.folders.tallying import DataFile, DataSet
from server.inputs import InputError, parse_json
from server.inputs.schema import violations
from server.study.definitions import Definition, version_of

_MANIFEST_LIMIT = 256 << 20
_PUBLISHED_LIMIT = 64 << 20


@dataclass(frozen=True, eq=False)
class ArchivedSurvey:
    """A survey in an archive folder: where it is, its manifest, and its versions' definitions by their numbers."""

    folder: Path
    manifest: Document
    definitions: Mapping[int, Definition]

    @property
    def identity(self) -> str:
        """What copies of it have in common."""
        return str(self.manifest["identity"])

    def data_sets(self) -> list[DataSet]:
        """The files of each version that has responses."""
        return [
            DataSet(
                self.identity,
                version["number"],
                tuple(version["columns"]),
                tuple(version["reports"]),
                tuple(
                    DataFile((self.folder / file["path"]).absolute(), file["stratum"], file["responses"])
                    for file in self.manifest["files"]
                    if file["version"] == version["number"]
                ),
            )
            for version in self.manifest["versions"]
            if version["responses"]
        ]


def read_archives(archives: Sequence[Path]) -> tuple[list[ArchivedSurvey], list[str]]:
    """The surveys of archive folders, by their identities, and the folders that hold a survey once more.

    Raises
    ------
    ArchiveFolderError
        If one of them is no archive folder, something in it is missing, changed or foreign, or two hold
        different copies of one survey.
    """
    found: dict[str, ArchivedSurvey] = {}
    again: list[str] = []
    for archive in archives:
        for folder in _survey_folders(archive):
            survey = _read_survey(folder)
            other = found.setdefault(survey.identity, survey)
            if other is survey:
                continue
            if other.manifest["content"] != survey.manifest["content"]:
                raise ArchiveFolderError(
                    f"{folder} and {other.folder} hold different copies of one survey: their respondents may be the "
                    "same people; leave one of them out"
                )
            again.append(str(folder))
    return [found[identity] for identity in sorted(found)], again


def _survey_folders(archive: Path) -> Iterator[Path]:
    try:
        entries = sorted(archive.iterdir())
    except OSError as error:
        raise ArchiveFolderError(
            f"{str(archive)!r} is no folder that can be read: {error.strerror}"
        ) from error
    folders = [entry for entry in entries if not entry.name.startswith(WRITING)]
    for folder in folders:
        if not SURVEY.fullmatch(folder.name) or not folder.is_dir():
            raise ArchiveFolderError(f"{folder} does not belong into an archive folder")
    if not folders:
        raise ArchiveFolderError(f"{str(archive)!r} holds no survey")
    yield from folders


def _read_survey(folder: Path) -> ArchivedSurvey:
    manifest = _read_manifest(folder)
    definitions = {}
    for version in manifest["versions"]:
        path = folder / PUBLISHED.format(version["number"])
        published = _read(path, _PUBLISHED_LIMIT)
        if version_of(published) != version["sha256"]:
            raise ArchiveFolderError(
                f"{path} is not the file that the manifest names: its SHA-256 is another one"
            )
        try:
            definition = parse_frozen(published)
        except InputError as error:
            raise ArchiveFolderError(f"{path}: {error}") from error
        columns = [column for question in definition.questions for column in question.columns]
        reports = [design.weights.shape[1] for design in definition.designs]
        if [*name_columns(columns)] != version["columns"] or reports != version["reports"]:
            raise ArchiveFolderError(
                f"{folder / MANIFEST}: version {version['number']} has other columns there"
            )
        definitions[version["number"]] = definition
    _check_files(folder, manifest)
    return ArchivedSurvey(folder, manifest, definitions)


def _read_manifest(folder: Path) -> Document:
    path = folder / MANIFEST
    try:
        document = parse_json(_read(path, _MANIFEST_LIMIT), _MANIFEST_LIMIT)
    except InputError as error:
        raise ArchiveFolderError(f"{path}: {error}") from error
    stated = document.get("format") if isinstance(document, dict) else None
    if stated != FORMAT:
        raise ArchiveFolderError(
            f"{path} must be of format {FORMAT}, the one that is known here; it is {stated!r}"
        )
    problems = violations(document, "archive_folder")
    if problems:
        raise ArchiveFolderError(f"{path}: {InputError(422, problems)}")
    manifest: Document = document
    rest = {name: value for name, value in manifest.items() if name != "sha256"}
    if hashlib.sha256(rfc8785.dumps(rest)).hexdigest() != manifest["sha256"]:
        raise ArchiveFolderError(f"{path} was changed: its SHA-256 is another one than it says")
    if folder.name != f"survey={manifest['identity']}":
        raise ArchiveFolderError(f"{folder} holds another survey than its name says, {manifest['identity']}")
    _check_numbers(path, manifest)
    return manifest


def _check_numbers(path: Path, manifest: Document) -> None:
    """Refuse what contradicts itself although its hash is right."""
    versions = {version["number"]: version["responses"] for version in manifest["versions"]}
    files = manifest["files"]
    summed = dict.fromkeys(versions, 0)
    highest = len(manifest["strata"])
    for file in files:
        place = f"version={file['version']}/stratum={file['stratum']}/"
        if file["version"] not in summed or int(file["stratum"][1:]) > highest:
            raise ArchiveFolderError(
                f"{path}: {file['path']} is of a version or stratum that it does not name"
            )
        if not file["path"].startswith(place):
            raise ArchiveFolderError(f"{path}: {file['path']} must be in {place}")
        summed[file["version"]] += file["responses"]
    unique = {file["path"] for file in files}
    if len(versions) != len(manifest["versions"]) or len(unique) != len(files) or summed != versions:
        raise ArchiveFolderError(f"{path}: versions and files must be unique, and their responses add up")


def _check_files(folder: Path, manifest: Document) -> None:
    stated = {file["path"]: file for file in manifest["files"]}
    known = {MANIFEST, *(PUBLISHED.format(version["number"]) for version in manifest["versions"]), *stated}
    for name in _walk_names(folder):
        if name not in known:
            raise ArchiveFolderError(
                f"{folder / name} does not belong into an archive folder: no manifest names it"
            )
    for name, file in stated.items():
        path = folder / name
        try:
            found = hash_file(path)
        except OSError as error:
            raise ArchiveFolderError(f"{path} cannot be read: {error.strerror}") from error
        if found != (file["bytes"], file["sha256"]):
            raise ArchiveFolderError(
                f"{path} is not the file that the manifest names: its SHA-256 is another one"
            )


def _walk_names(folder: Path) -> Iterable[str]:
    """Everything in a folder that is no folder, and folders that lead elsewhere."""
    for inner, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(inner) / name).is_symlink()]
        for name in [*links, *files]:
            yield (Path(inner) / name).relative_to(folder).as_posix()


def _read(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        raise ArchiveFolderError(f"{path} cannot be read: {error.strerror}") from error
