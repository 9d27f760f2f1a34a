"""What is deleted as its days are over goes in pieces: who is killed between two of them leaves nothing half-shown."""

import json
import signal
from datetime import timedelta
from itertools import chain, cycle

import sqlalchemy as sa
from flask.testing import FlaskClient

from server.archives.due_deletions import PIECE
from server.store.own_tables import KINDS, responses_of
from server.study.surveys import now
from tests.support import factories
from tests.support.backups import run_with
from tests.support.factories import dump
from tests.support.forked_servers import ForkedServer

ROWS, CODES = 3 * PIECE + 8, 2 * PIECE + 5
GONE = ("rows deleted", "counts deleted", "rest deleted")


def make_due(database_url: str) -> str:
    """A closed survey with several pieces of responses and codes, all of whose days are over."""
    survey = factories.publish(database_url)
    reports = [(first, second) for first in (0, 1) for second in (0, 1)]
    factories.store(database_url, survey, [(each, ROWS // 4) for each in reports])
    factories.settle(database_url, survey.slug, by_invitation=True)
    factories.invite(database_url, survey.slug, CODES)
    factories.close(database_url, survey.slug)
    days = {"keep_rows": 1, "keep_counts": 2, "keep_rest": 3}
    factories.settle(database_url, survey.slug, closed_at=now() - timedelta(days=9), **days)
    return survey.slug


def delete_until(database_url: str, commit: int) -> tuple[int, str]:
    """Begin to delete, and be killed before this commit; the status, and what was said."""
    environment = factories.environment(database_url)
    process = ForkedServer([database_url, str(commit)], environment, module="tests.support.killed_deletions")
    said = process.communicate(120)
    assert process.returncode is not None
    return process.returncode, said


def read_log(database_url: str) -> list[str]:
    """Which parts the log says are gone, in order."""
    rows = sorted(dump(database_url)["audit_entries"])
    return [part for row in rows for part in GONE if part in row]


def check(database_url: str) -> int:
    return run_with(database_url, "check").exit_code


def test_killed_between_pieces(signed_in: FlaskClient, database_url: str) -> None:
    """Killed before the first commit, the second, the third; then after a piece or several, until none is left."""
    slug = make_due(database_url)
    home = f"/manage/surveys/{slug}"
    told = signed_in.get(f"{home}/report.json").get_json()["questions"]
    whole = {name: len(rows) for name, rows in dump(database_url).items()}
    halves: set[str] = set()
    for commit in chain((1, 2, 3), cycle((4, 4, 9))):
        status, _said = delete_until(database_url, commit)
        rows = dump(database_url)
        if status == 0:
            break
        assert status == -signal.SIGKILL

        halves |= {name for name in ("responses", "invitations") if 0 < len(rows[name]) < whole[name]}
        logged = read_log(database_url)
        assert logged == list(GONE[: len(logged)])
        for part, names in zip(logged, (["responses"], ["batches", "cells", "counters"]), strict=False):
            assert not any(rows[name] for name in names), part
        report = signed_in.get(f"{home}/report.json")
        counted = [len(rows[name]) == whole[name] for name in ("batches", "cells", "counters")]
        assert report.status_code == 410 or (report.get_json()["questions"] == told and all(counted))
        assert [signed_in.get(f"{home}/{page}").status_code for page in ("keeping", "log")] == [200, 200]
        if len(rows["invitations"]) < whole["invitations"]:
            assert not rows["invitation_batches"], "its pages would show fewer codes each time"
        assert check(database_url) == 0, commit

    assert halves == {"responses", "invitations"}, "it was killed half-way through each"
    assert not any(rows[kind.name] for kind in KINDS)
    assert read_log(database_url) == list(GONE)
    assert delete_until(database_url, 0)[1] == "0\n"
    assert read_log(database_url) == list(GONE), "nothing is left to do"


def test_a_command_that_comes_after_goes_on_first(database_url: str) -> None:
    slug = make_due(database_url)
    assert delete_until(database_url, 4)[0] == -signal.SIGKILL
    assert 0 < len(dump(database_url)["responses"]) < ROWS

    (counted,) = json.loads(run_with(database_url, "recount", slug, "--json").stdout)

    assert (counted["agrees"], counted["deleted"]) == (True, True)
    assert not dump(database_url)["responses"]
    assert read_log(database_url) == list(GONE)


def test_no_transaction_deletes_more_than_a_piece(database_url: str) -> None:
    make_due(database_url)
    assert delete_until(database_url, 0) == (0, f"{PIECE}\n")
    assert read_log(database_url) == list(GONE)


def test_rows_that_go_before_it_is_said_so_are_noticed(database_url: str) -> None:
    """The twin: pieces that are deleted of a survey which still counts as whole."""
    make_due(database_url)
    assert check(database_url) == 0
    with factories.writing(database_url) as session:
        rows = responses_of(1)
        some = sa.select(rows.c.id).order_by(rows.c.id).limit(PIECE)
        session.execute(sa.delete(rows).where(rows.c.id.in_(some)))
    assert check(database_url) == 1
