"""What a backup says of studies that still run, what it leaves out of them on request, and how much memory it takes."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.backups import KEY, back_up, key_of, restore, rows_of, run_with, start
from tests.support.scale import choose_size

MISSING = "Responses are missing"
MEGABYTES = 300
# What a process had at most counts from what the one had that started it: so a small one does.
MEASURED = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "server", *sys.argv[1:]])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)
"""


def test_a_backup_says_which_surveys_still_run_and_what_it_tells_of_them(
    sqlite: NewDatabase, tmp_path: Path
) -> None:
    url = sqlite(True)
    closed = factories.publish(url)
    factories.close(url, closed.slug)
    assert "running" not in back_up(url, tmp_path / "a").stderr
    open_one = factories.publish(url)
    told = back_up(url, tmp_path / "b").stderr
    assert f"Still taking responses: {open_one.slug}." in told
    assert "what arrived in between" in told
    assert "which of them were used" not in told
    factories.invite(url, open_one.slug, 3)
    assert "which of them were used" in back_up(url, tmp_path / "c").stderr
    assert (
        "are left out; in the copy it is closed" in back_up(url, tmp_path / "d", "--without-running").stderr
    )


def test_what_tells_of_a_running_study_is_left_out_and_nobody_is_let_in_twice(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    """What waits and all codes are not in the copy, which agrees, says so and is closed; others are whole."""
    url, new = new_database(True), new_database(False)
    survey, whole = factories.publish(url, minimum=10), factories.publish(url, minimum=10)
    factories.store(url, survey, [([0, 1], 21), ([1, 1], 12), ([0, 0], 2)])
    factories.store(url, whole, [([0, 1], 33)])
    factories.close(url, whole.slug)
    codes = factories.invite(url, survey.slug, 4)
    before = rows_of(url)
    shown, waiting = sum(row[3] for row in before["batches"] if row[1] >> 32 == 1), before["cells"][0][4]
    assert (shown + waiting, waiting > 0) == (35, True)

    back_up(url, tmp_path / "b", "--without-running")
    assert rows_of(url) == before
    restore(new, tmp_path / "b")

    after = rows_of(new)
    assert [len(after["responses"]), len(after["invitations"]), len(after["invitation_batches"])] == [
        shown + 33,
        0,
        0,
    ]
    assert {row[5] for row in after["cells"]} == {b""}
    assert factories.run(new, "recount").exit_code == 0
    assert factories.run(new, "tidy").exit_code == 0
    assert factories.run(new, "recount").exit_code == 0
    with factories.serving(new) as served:
        refused, _, answer = factories.ask(served.url + survey.url, survey.response(invitation=codes[0]))
        assert (refused, b"closed" in answer) == (410, True), answer
    for slug, missing in ((survey.slug, True), (whole.slug, False)):
        report = run_with(new, "report", slug, "--json")
        assert f'"incomplete": {str(missing).lower()}' in report.stdout
        assert (MISSING in run_with(new, "report", slug, "--format", "html").stdout) is missing


def test_the_pages_of_such_a_copy_say_what_is_missing(
    signed_in: FlaskClient, survey: factories.Published, database_url: str
) -> None:
    pages = ("", "/results", "/invitations")
    sentences = (MISSING, MISSING, "left its codes out")
    for incomplete in (False, True):
        factories.settle(database_url, survey.slug, incomplete=incomplete)
        for page, sentence in zip(pages, sentences, strict=True):
            text = signed_in.get(f"/manage/surveys/{survey.slug}{page}").get_data(as_text=True)
            assert (sentence in text) is incomplete, page


@pytest.mark.scaled
def test_neither_side_holds_the_whole_database_in_memory(new_database: NewDatabase, tmp_path: Path) -> None:
    url, new = new_database(True), new_database(False)
    survey = factories.publish(url)
    for _ in range(choose_size(1, 20)):
        factories.store(url, survey, [([0, 1], 25_000), ([1, 0], 25_000)])
    for database, *command in (
        (url, "backup", "--recipient", str(KEY.to_public())),
        (new, "restore", *key_of(tmp_path / "b")),
    ):
        process = start(database, *command, str(tmp_path / "b"), code=MEASURED)
        said = process.communicate()[0]
        assert process.returncode == 0, said
        assert int(said.split()[-1]) / 1024 < MEGABYTES
