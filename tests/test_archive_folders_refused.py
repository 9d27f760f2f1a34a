"""Archive folders whose writers are killed or meet, which are damaged, or which hold a survey twice."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from server.archives.folders.folder_layout import seal
from server.archives.folders.folder_rows import hash_file
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published
from tests.test_archive_folders import archive, estimate, manifests, read_report

WATCHED = ("open", "os.mkdir", "os.rename", "os.chmod", "os.listdir", "shutil.rmtree")
"""Steps at which a writer can be killed, as Python tells them: anything that touches the folder."""


def small_survey(database_url: str, yes: int = 7, title: str = "Exams") -> Published:
    """A closed survey that somebody answered."""
    survey = factories.publish(database_url, factories.definition(title=title), minimum=5)
    factories.store(database_url, survey, [([1, 0], yes), ([0, 1], 9)])
    factories.close(database_url, survey.slug)
    return survey


def fork(work: Callable[[], int]) -> int:
    """Do something in a process of its own, which ends with what it returns."""
    child = os.fork()
    if child:
        return child
    try:
        os._exit(work())
    except BaseException:
        os._exit(99)


def end_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def write_watched(database_url: str, slug: str, folder: Path, watch: Callable[[str], None]) -> int:
    """Archive a survey; `watch` is told each step that touches the folder."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in WATCHED and arguments and str(arguments[0]).startswith(str(folder)):
            watch(event)

    sys.addaudithook(hook)
    return factories.run(database_url, "archive", slug, "--to", str(folder)).exit_code


def test_a_killed_writer_leaves_the_folder_as_it_was(database_url: str, tmp_path: Path) -> None:
    before, after = small_survey(database_url), small_survey(database_url, 20)
    folder = tmp_path / "archive"
    archive(database_url, folder, before.slug)
    known = estimate(folder)
    step, appeared = 0, False
    while True:
        step += 1
        left = [step]

        def kill(_event: str, left: list[int] = left) -> None:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

        ended = end_of(fork(lambda: write_watched(database_url, after.slug, folder, kill)))
        found = estimate(folder)
        assert found.pop(before.slug) == known[before.slug]
        if found:  # the step after which nothing but tidying up is left
            assert found[after.slug]["questions"] == read_report(database_url, after.slug)["questions"]
            appeared = True
            break
        assert ended == -signal.SIGKILL, step
    assert appeared
    assert step > 12  # folders, rows, definition and manifest, and each put on the disk
    (again,) = archive(database_url, folder, after.slug)
    assert again["archive"] == "already there"
    assert not list(folder.glob("_writing-*"))


def test_two_writers_do_not_harm_each_other(database_url: str, tmp_path: Path) -> None:
    """One that is about to give its folder its name, while another archives the same survey, and one more."""
    same, other = small_survey(database_url), small_survey(database_url, 20)
    folder = tmp_path / "archive"
    reading, writing = os.pipe()

    def wait(event: str) -> None:
        if event == "os.rename":
            os.read(reading, 1)

    first = fork(lambda: write_watched(database_url, same.slug, folder, wait))
    while not list(folder.glob("_writing-*/_manifest.json")):
        os.sched_yield()
    written = archive(database_url, folder, same.slug, other.slug)
    assert [each["archive"] for each in written] == ["written", "written"]
    assert list(folder.glob("_writing-*"))  # the first one's, which the second has left alone
    os.write(writing, b"!")
    assert end_of(first) == 0
    assert not list(folder.glob("_writing-*"))
    found = estimate(folder)
    for survey in (same, other):
        assert found[survey.slug]["questions"] == read_report(database_url, survey.slug)["questions"]


def refusal(*folders: Path) -> str:
    """How an archive folder is refused."""
    arguments = [argument for folder in folders for argument in ("--archive", str(folder))]
    result = factories.run("", "estimate", *arguments, "--json")
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return result.stderr.splitlines()[-1]


def rewrite(survey: Path, **changes: object) -> None:
    """Change a manifest, so that its own hash is right."""
    path = survey / "_manifest.json"
    document = {**json.loads(path.read_bytes()), **changes}
    path.write_text(json.dumps(seal({name: value for name, value in document.items() if name != "sha256"})))


def with_file(survey: Path, **changes: object) -> None:
    rewrite(
        survey,
        files=[{**file, **changes} for file in json.loads((survey / "_manifest.json").read_bytes())["files"]],
    )


def put_report(survey: Path, report: str) -> None:
    """Write rows with a report that nobody can send, and a manifest to match."""
    (rows,) = survey.rglob("*.parquet")
    new = rows.with_name("new")
    duckdb.sql(
        f"COPY (SELECT {report} AS q1, 0::UTINYINT AS q2, 16::BIGINT AS _count) TO '{new}' (FORMAT parquet)"
    )
    new.replace(rows)
    size, found = hash_file(rows)
    with_file(survey, bytes=size, sha256=found, rows=1)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no manifest": (lambda s: (s / "_manifest.json").unlink(), "_manifest.json cannot be read: No such file"),
    "no JSON": (lambda s: (s / "_manifest.json").write_text("{"), "must be JSON"),
    "no object": (lambda s: (s / "_manifest.json").write_text("[]"), "must be of format 1"),
    "format": (lambda s: rewrite(s, format=2), "must be of format 1, the one that is known here; it is 2"),
    "edited": (
        lambda s: (s / "_manifest.json").write_text(
            (s / "_manifest.json").read_text().replace("Moneda", "Coin")
        ),
        "was changed: its SHA-256 is another one",
    ),
    "missing": (lambda s: next(s.rglob("*.parquet")).unlink(), "cannot be read: No such file"),
    "cut": (lambda s: cut(next(s.rglob("*.parquet"))), "is not the file that the manifest names"),
    "definition": (lambda s: cut(s / "_version-1.json"), "is not the file that the manifest names"),
    "no definition": (lambda s: (s / "_version-1.json").unlink(), "cannot be read: No such file"),
    "foreign": (lambda s: (s / "version=1" / "note.txt").write_text("x"), "no manifest names it"),
    "foreign rows": (
        lambda s: shutil.copy(
            next(s.rglob("*.parquet")), s / "version=1" / "stratum=s0" / "responses-00002.parquet"
        ),
        "no manifest names it",
    ),
    "link": (lambda s: (s / "version=2").symlink_to("/"), "no manifest names it"),
    "outside": (lambda s: with_file(s, path="../../etc/passwd"), "files[0].path"),
    "stratum": (
        lambda s: with_file(s, path="version=1/stratum=s9/responses-00001.parquet", stratum="s9"),
        "of a version or stratum that it does not name",
    ),
    "responses": (lambda s: with_file(s, responses=15), "their responses add up"),
    "renamed": (
        lambda s: s.rename(s.with_name(f"survey={'0' * 32}")),
        "holds another survey than its name says",
    ),
    "beside": (lambda s: (s.parent / "notes").mkdir(), "does not belong into an archive folder"),
    "report": (lambda s: put_report(s, "2::UTINYINT"), "q1 must hold 16 reports from 0 to 1; it holds 0"),
    "null": (lambda s: put_report(s, "NULL::UTINYINT"), "q1 must hold 16 reports from 0 to 1; it holds 0"),
    "empty": (shutil.rmtree, "holds no survey"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_not_whole_is_refused_by_name(
    damage: str, sqlite: Callable[[bool], str], tmp_path: Path
) -> None:
    database_url = sqlite(True)
    survey = small_survey(database_url)
    archive(database_url, tmp_path / "a", survey.slug)
    (folder,) = (tmp_path / "a").iterdir()
    do, said = DAMAGE[damage]
    do(folder)
    assert said in refusal(tmp_path / "a")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    assert "no folder that can be read" in refusal(tmp_path / "nothing")
    (tmp_path / "file").write_text("x")
    assert factories.run("", "estimate", "--archive", str(tmp_path / "file")).exit_code == 2
    result = factories.run("", "estimate", "--archive", str(tmp_path), "--counts", "1,2")
    assert result.exit_code == 2
    assert "--counts must not be given with --archive" in result.stderr
    assert "--counts or --archive must be given" in factories.run("", "estimate").stderr


def test_only_closed_surveys_are_archived(database_url: str, tmp_path: Path) -> None:
    survey = factories.publish(database_url, minimum=5)
    factories.store(database_url, survey, [([1, 0], 20)])
    folder = tmp_path / "archive"
    for slug, said in (
        (survey.slug, "must be closed before it is archived; it is open"),
        (
            factories.draft(database_url, factories.definition()),
            "must be closed before it is archived; it is draft",
        ),
        ("a/b", "is not known"),
        ("..", "is not known"),
        ("=x", "is not known"),
        ("ñ\x1b", "is not known"),
    ):
        result = factories.run(database_url, "archive", slug, "--to", str(folder))
        assert result.exit_code == 2, slug
        assert said in result.stderr
        assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_named(database_url: str, tmp_path: Path) -> None:
    survey = small_survey(database_url)
    (tmp_path / "file").write_text("x")
    result = factories.run(database_url, "archive", survey.slug, "--to", str(tmp_path / "file" / "archive"))
    assert result.exit_code == 2
    assert "the archive must be a folder that can be written" in result.stderr


def test_archives_of_several_servers_are_read_together(sqlite: Callable[[bool], str], tmp_path: Path) -> None:
    here, there = sqlite(True), sqlite(True)
    one, other = small_survey(here), small_survey(there, 20)
    archive(here, tmp_path / "here", one.slug)
    archive(there, tmp_path / "there", other.slug)
    both = estimate(tmp_path / "here", tmp_path / "there")
    # The same definition, asked of others: two surveys, which their hash tells to be alike.
    assert len({survey["version"]["sha256"] for survey in both.values()}) == 1
    assert both[one.slug]["questions"] == read_report(here, one.slug)["questions"]
    assert both[other.slug]["questions"] == read_report(there, other.slug)["questions"]
    shutil.copytree(tmp_path / "here", tmp_path / "there", dirs_exist_ok=True)
    assert estimate(tmp_path / "there") == both
    result = factories.run(
        "", "estimate", "--archive", str(tmp_path / "here"), "--archive", str(tmp_path / "there")
    )
    assert result.exit_code == 0
    assert "holds a survey that is counted already" in result.stderr


def test_a_restored_copy_counts_once(
    sqlite: Callable[[bool], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONEDA_BACKUP_PASSPHRASE", "a long passphrase")
    here, there = sqlite(True), sqlite(False)
    survey = small_survey(here)
    archive(here, tmp_path / "a", survey.slug)
    assert factories.run(here, "backup", str(tmp_path / "backup")).exit_code == 0
    assert factories.run(there, "restore", str(tmp_path / "backup")).exit_code == 0
    before = {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.*")}
    (done,) = archive(there, tmp_path / "a", survey.slug)
    assert done["archive"] == "already there"
    archive(there, tmp_path / "b", survey.slug)
    assert estimate(tmp_path / "a", tmp_path / "b") == estimate(tmp_path / "a")
    assert {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.*")} == before


def test_another_copy_of_a_survey_is_refused(sqlite: Callable[[bool], str], tmp_path: Path) -> None:
    """Somebody changed what it says, or its copy was answered by others: the same people may be in both."""
    database_url = sqlite(True)
    survey = small_survey(database_url)
    archive(database_url, tmp_path / "a", survey.slug)
    factories.settle(database_url, survey.slug, minimum=6)
    result = factories.run(database_url, "archive", survey.slug, "--to", str(tmp_path / "a"))
    assert result.exit_code == 2
    assert "holds another copy of it" in result.stderr
    assert [manifest["minimum"] for manifest in manifests(tmp_path / "a")] == [5]
    archive(database_url, tmp_path / "b", survey.slug)
    assert "different copies of one survey" in refusal(tmp_path / "a", tmp_path / "b")


def test_files_are_for_their_owner_alone(sqlite: Callable[[bool], str], tmp_path: Path) -> None:
    database_url = sqlite(True)
    archive(database_url, tmp_path / "a", small_survey(database_url).slug)
    for path in [tmp_path / "a", *(tmp_path / "a").rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_simulated_respondents_are_named_as_such(sqlite: Callable[[bool], str], tmp_path: Path) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url, minimum=5)
    assert factories.run(database_url, "simulate", survey.slug, "--respondents", "50").exit_code == 0
    factories.close(database_url, survey.slug)
    archive(database_url, tmp_path / "a", survey.slug)
    assert estimate(tmp_path / "a")[survey.slug]["simulated"] is True
    said = factories.run("", "estimate", "--archive", str(tmp_path / "a")).stdout
    assert said.startswith("SIMULATED. ")
    assert "These respondents are simulated." in said


def test_a_name_that_duckdb_cannot_read_is_refused_in_a_sentence(sqlite: NewDatabase, tmp_path: Path) -> None:
    database_url = sqlite(True)
    survey = small_survey(database_url)
    folder = tmp_path / "back\\slash"
    done = factories.run(database_url, "archive", survey.slug, "--to", str(folder))
    assert done.exit_code == 0, done.output
    refused = factories.run(database_url, "estimate", "--archive", str(folder))
    assert refused.exit_code == 2
    assert "no folder with a backslash" in refused.output
    assert "Traceback" not in refused.output
    link = tmp_path / "another"
    link.symlink_to(folder)
    assert factories.run(database_url, "estimate", "--archive", str(link)).exit_code == 0
