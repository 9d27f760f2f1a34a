"""What is kept for so many days after closing: said beforehand, never longer, gone afterwards, and said so everywhere.

Time passes by moving the moment of closing into the past; the job of a serving process does the rest.
"""

import html
import json
import re
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server.people import survey_access
from server.store.engines import make_engine, migrate_within
from server.store.own_tables import KINDS
from server.study.surveys import now
from server.web.housekeeping import Housekeeper
from tests.conftest import NewDatabase
from tests.support import factories, sample_archives
from tests.support.backups import back_up, restore, run_with
from tests.support.factories import dump
from tests.support.release_form import build, set_budget, share

DAY = timedelta(days=1)
WHOLE = {"keep_rows": "30", "keep_counts": "60", "keep_rest": "365"}
FILES = ("results", "report.html", "report.pdf", "report.xlsx", "report.csv", "report.json")
QUIET = ("", "keeping", "log", "releases")
"""Pages that show nothing of responses."""
A_MINUTE = timedelta(minutes=1)


def home(slug: str, page: str = "") -> str:
    return f"/manage/surveys/{slug}{page}"


def say(client: FlaskClient, slug: str, **days: str) -> tuple[int, str]:
    answer = client.post(home(slug, "/retention"), data=days, headers={"Accept-Language": "en"})
    return answer.status_code, html.unescape(answer.text)


def let_pass(app: Flask, database_url: str, slug: str, days: int, short: timedelta = timedelta()) -> None:
    """Let so many days be over since closing, and two processes look at once."""
    factories.settle(database_url, slug, closed_at=now() - days * DAY + short)
    engine = make_engine(database_url)
    other = Housekeeper(engine)
    other.start()
    factories.keep_house(app)
    other.stop(60)
    engine.dispose()
    factories.keep_house(app)  # where one was overtaken by the other


def is_held(database_url: str, table: str) -> bool:
    return any(rows for name, rows in dump(database_url).items() if name == table)


def log_of(client: FlaskClient, slug: str) -> str:
    return client.get(home(slug, "/log"), headers={"Accept-Language": "en"}).text


def status_of(client: FlaskClient, slug: str, page: str) -> int:
    return client.get(home(slug, f"/{page}" if page else ""), headers={"Accept-Language": "en"}).status_code


def test_each_part_goes_on_its_day_and_every_page_says_so(
    app: Flask, signed_in: FlaskClient, database_url: str, tmp_path: Path
) -> None:
    slug = sample_archives.study(signed_in, database_url)
    assert set_budget(signed_in, slug).status_code == 303
    builder = build(signed_in, slug)
    builder.typed["epsilon"] = ["0.5"]
    builder.tick({"kind": "count"}).press()
    assert builder.pay().status_code == 303
    released = dump(database_url)["released_values"]
    link = signed_in.post(home(slug, "/releases/link"), headers={"Accept-Language": "en"})
    assert link.status_code == 303
    (public,) = [row[0] for row in dump(database_url)["report_links"]]
    told = signed_in.get(f"/r/{public}").text
    status, said = say(signed_in, slug, **WHOLE)
    assert status == 303, said
    results = signed_in.get(home(slug, "/report.json")).get_json()

    let_pass(app, database_url, slug, 30, A_MINUTE)  # a minute is left
    assert is_held(database_url, "responses")
    factories.settle(database_url, slug, closed_at=now() - 30 * DAY)
    for page in ("", "results", "keeping"):
        assert status_of(signed_in, slug, page) == 200
    assert is_held(database_url, "responses")  # nobody deletes by looking
    let_pass(app, database_url, slug, 30)

    assert not is_held(database_url, "responses")
    actions = [row for row in dump(database_url)["audit_entries"] if "rows deleted" in row]
    assert len(actions) == 1
    assert "deleted each response as a row of its own" in log_of(signed_in, slug)
    assert "the server" in log_of(signed_in, slug)
    after = signed_in.get(home(slug, "/report.json")).get_json()
    assert after["questions"] == results["questions"]  # which come from counts
    for page in ("responses.csv", "microdata.zip", "results", "report.pdf", "keeping", ""):
        assert status_of(signed_in, slug, page) == 200, page
    (counted,) = json.loads(run_with(database_url, "recount", slug, "--json").stdout)
    assert (counted["agrees"], counted["deleted"]) == (True, True)
    assert run_with(database_url, "check").exit_code == 0
    body = sample_archives.export(signed_in, slug)

    let_pass(app, database_url, slug, 60, A_MINUTE)
    assert is_held(database_url, "batches")
    let_pass(app, database_url, slug, 60)

    assert not any(is_held(database_url, name) for name in ("batches", "cells", "counters", "removals"))
    assert "deleted the counts of responses" in log_of(signed_in, slug)
    assert "made release" in log_of(signed_in, slug)
    for page in (
        *FILES,
        "responses.csv",
        "microdata.zip",
        "responses.dta",
        "ddi.xml",
        "strata.csv",
        "figure.svg",
    ):
        answer = signed_in.get(home(slug, f"/{page}"), headers={"Accept-Language": "en"})
        assert (answer.status_code, "the server deleted them" in answer.text) == (410, True), page
        if page.endswith(".json"):
            assert set(answer.get_json()) == {"error"}
            continue
        said = re.sub(r"\s+", " ", html.unescape(answer.text))
        today = f"{now():%B} {now().day}, {now().year}"
        assert (
            f"{today}: each response as a row of its own. So many days after closing it was to be kept: 30."
            in said
        )
        assert f"{today}: the counts: how often" in said
        assert "it was to be kept: 60." in said
        assert "365" not in said, "what is still there is not said to be gone"
        assert "What was released stays, with what it takes to read it" in said
        assert f'href="{home(slug, "/releases")}"' in said
    for page in (
        "",
        "keeping",
        "invitations",
        "log",
        "releases",
        "releases/new",
        "links",
        "strata",
        "schedule",
    ):
        assert status_of(signed_in, slug, page) in (200, 404), page
    assert "responses deleted" in signed_in.get("/manage/surveys", headers={"Accept-Language": "en"}).text
    assert signed_in.post(home(slug, "/export.zip")).status_code == 410
    builder = build(signed_in, slug)
    builder.tick(share("q1")).press()
    assert builder.pay().status_code == 410
    assert dump(database_url)["released_values"] == released
    for command in (("recount", slug), ("check",)):
        assert run_with(database_url, *command).exit_code == 0
    for command in (("report", slug), ("archive", slug, "--to", str(tmp_path))):
        done = run_with(database_url, *command)
        assert (done.exit_code, "the server deleted them" in done.stderr) == (2, True), done.output
    assert is_held(database_url, "invitation_batches")

    let_pass(app, database_url, slug, 365, A_MINUTE)
    assert is_held(database_url, "invitation_batches")
    let_pass(app, database_url, slug, 365)

    for name in ("invitations", "invitation_batches", *(kind.name for kind in KINDS)):
        assert not is_held(database_url, name), name
    assert dump(database_url)["released_values"] == released
    assert len(dump(database_url)["drafts"]) == 1
    log = log_of(signed_in, slug)
    assert "deleted everything but releases" in log
    assert "set after how many days" in log
    assert "made release" not in log
    # What was published is as it was, but for what is deleted when.
    assert "The server deletes by itself" in signed_in.get(f"/r/{public}").text
    without = re.compile(r"<p[^>]*>The server deletes by itself.*?</p>\s*")
    assert without.sub("", signed_in.get(f"/r/{public}").text) == without.sub("", told)
    for page in QUIET:
        assert status_of(signed_in, slug, page) == 200, page
    assert signed_in.get(f"/s/{slug}").status_code == 410
    assert run_with(database_url, "check").exit_code == 0
    assert dump(database_url)["untidied"] == []

    # The file that was taken before comes with its days, and what is over by now goes.
    copy = sample_archives.import_archive(signed_in, body)
    factories.settle(database_url, copy, closed_at=now() - 400 * DAY)
    factories.keep_house(app)
    assert status_of(signed_in, copy, "results") == 410


def test_days_can_only_become_fewer_once_respondents_were_told(
    signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition())
    assert say(signed_in, slug, keep_rows="30")[0] == 303
    assert say(signed_in, slug, keep_rows="90")[0] == 303  # nobody was told
    factories.publish(database_url, factories.definition(), slug)
    before = dump(database_url)
    for days, why in (
        ({"keep_rows": "91"}, "can only become less once a survey is published: at most 90; it is 91"),
        ({"keep_rows": ""}, "at most 90; it is –"),
        ({"keep_rows": "0"}, "must be a whole number from 1 to 36500; it is 0"),
        ({"keep_rows": "1.5"}, "must be a whole number from 1 to 36500; it is 1.5"),
        ({"keep_rows": "90", "keep_counts": "89"}, "must be at least 90"),
        ({"keep_rows": "90", "keep_rest": "36501"}, "must be a whole number from 1 to 36500; it is 36501"),
    ):
        status, said = say(signed_in, slug, **days)
        assert (status, why in said) == (422, True), said
    assert dump(database_url) == before
    assert say(signed_in, slug, keep_rows="60", keep_counts="60")[0] == 303
    assert "rows 60, counts 60" in log_of(signed_in, slug)
    how = signed_in.get(f"/s/{slug}/how", headers={"Accept-Language": "en"}).text
    assert re.findall(r"<td>(\d+)</td>", how.partition("How long it is kept")[2]) == ["60", "60"]
    assert say(signed_in, slug, keep_rows="60", keep_counts="60", keep_rest="61")[0] == 303
    # Whoever closes it again does not begin to count again.
    factories.close(database_url, slug)
    factories.settle(database_url, slug, closed_at=now() - 10 * DAY)
    assert signed_in.post(home(slug, "/close")).status_code == 303
    assert "It was closed on" in signed_in.get(home(slug, "/keeping"), headers={"Accept-Language": "en"}).text
    (row,) = [row for row in dump(database_url)["surveys"]]
    assert now() - 11 * DAY < max(cell for cell in row if hasattr(cell, "hour")) < now() - 9 * DAY


def test_an_open_survey_and_one_without_days_keep_everything(
    app: Flask, signed_in: FlaskClient, database_url: str
) -> None:
    kept, open_still = factories.publish(database_url), factories.publish(database_url)
    for survey in (kept, open_still):
        factories.store(database_url, survey, [([1, 0], 40)])
    assert say(signed_in, open_still.slug, **WHOLE)[0] == 303
    factories.close(database_url, kept.slug)
    factories.settle(database_url, kept.slug, closed_at=now() - 4000 * DAY)
    factories.keep_house(app)
    assert len(dump(database_url)["responses"]) == 80
    assert status_of(signed_in, open_still.slug, "results") == 200


def test_what_is_due_in_a_restored_backup_goes_before_anything_is_answered(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    url, other = new_database(True), new_database(False)
    if url.startswith("sqlite"):
        other = f"sqlite:///{tmp_path / 'restored.sqlite3'}"
    survey = factories.publish(url)
    factories.store(url, survey, [([1, 0], 40)])
    factories.close(url, survey.slug)
    factories.settle(url, survey.slug, keep_rows=5, keep_counts=6)
    file = tmp_path / "backup"
    back_up(url, file)
    restore(other, file)
    assert len(dump(other)["responses"]) == 40
    factories.settle(other, survey.slug, closed_at=now() - 20 * DAY)  # as if it lay there meanwhile

    done = run_with(other, "report", survey.slug)

    assert done.exit_code == 2, done.output
    assert "the server deleted them" in done.stderr
    rows = dump(other)
    assert rows["responses"] == rows["batches"] == []


def test_a_survey_whose_closing_time_went_by_while_no_server_ran_counts_from_that_time(
    database_url: str,
) -> None:
    """Nobody had closed it, as in a backup from while it was open: a command must not answer from it all the same."""
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([1, 0], 40)])
    factories.settle(
        database_url, survey.slug, keep_rows=5, keep_counts=6, closes_at=now() - 6 * DAY + A_MINUTE
    )
    assert run_with(database_url, "report", survey.slug).exit_code == 0
    rows = dump(database_url)
    assert (len(rows["responses"]), bool(rows["batches"])) == (0, True)
    factories.settle(database_url, survey.slug, closes_at=now() - 6 * DAY, closed_at=now() - 6 * DAY)
    done = run_with(database_url, "report", survey.slug)
    assert (done.exit_code, "the server deleted them" in done.stderr) == (2, True), done.output
    assert not is_held(database_url, "batches")


def test_one_that_is_over_is_left_alone_until_its_days_are(database_url: str) -> None:
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([1, 0], 40)])
    factories.settle(database_url, survey.slug, keep_rows=5, closes_at=now() - 5 * DAY + A_MINUTE)
    assert run_with(database_url, "report", survey.slug).exit_code == 0
    assert len(dump(database_url)["responses"]) == 40


def test_a_copy_that_a_backup_closes_counts_from_a_closing_time_that_went_by(
    sqlite: NewDatabase, tmp_path: Path
) -> None:
    url, other = sqlite(True), f"sqlite:///{tmp_path / 'restored.sqlite3'}"
    survey = factories.publish(url)
    factories.settle(url, survey.slug, keep_rows=5, closes_at=now() - 4 * DAY)
    back_up(url, tmp_path / "backup", "--without-running")
    restore(other, tmp_path / "backup")
    with factories.writing(other) as session:
        copy = survey_access.find(session, survey.slug)
        assert copy is not None
        assert (copy.state, copy.closed_at) == ("closed", copy.closes_at)


def test_surveys_that_were_closed_before_count_from_the_upgrade(empty_database_url: str) -> None:
    engine = make_engine(empty_database_url)
    with engine.execution_options(moneda_writes=True).begin() as connection:
        migrate_within(connection, "0024")
        connection.execute(sa.text("INSERT INTO researchers (id, name) VALUES (1, 'A')"))
        for number, state in enumerate(("draft", "open", "closed"), 1):
            connection.execute(
                sa.text(
                    "INSERT INTO surveys (id, slug, link, owner_id, state, simulated, created_on) "
                    "VALUES (:number, :slug, :slug, 1, :state, false, '2026-01-01')"
                ),
                {"number": number, "slug": f"s{number}", "state": state},
            )
        before = now()
        migrate_within(connection, "0025")
    with engine.connect() as connection:
        found = connection.execute(sa.text("SELECT state, closed_at, deleted FROM surveys ORDER BY id")).all()
    engine.dispose()
    assert [(row.state, row.closed_at is None, row.deleted) for row in found] == [
        ("draft", True, 0),
        ("open", True, 0),
        ("closed", False, 0),
    ]
    assert str(found[2].closed_at)[:19] >= f"{before:%Y-%m-%d %H:%M:%S}"
