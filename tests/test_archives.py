"""A survey as one file: what it holds, that it is the same elsewhere, and what its bytes do not tell."""

import csv
import io
import json
import random
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from server.archives.archive_reader import Archive
from server.config import Config
from server.store.models import Stratum, Survey, SurveyVersion
from server.store.own_tables import responses_of
from server.study import surveys
from tests.conftest import NewDatabase
from tests.support import every_kind, factories, sample_archives
from tests.support.front_client import create_app
from tests.support.sample_archives import CODES, change_manifest, entries, export, import_archive

on_sqlite = pytest.mark.parametrize("new_database", ["sqlite"], indirect=True)
"""Where nothing depends on the kind of database."""


@contextmanager
def elsewhere(database_url: str) -> Iterator[FlaskClient]:
    """Another installation, and a researcher who has signed in there."""
    app = create_app(Config(database_url=database_url))
    try:
        yield factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    finally:
        app.extensions["moneda.engine"].dispose()


def results(client: FlaskClient, slug: str, *, copied: bool = False) -> dict[str, Any]:
    """What is downloaded of the results, of each version and of all; who was let in is unknown of a copy."""
    home = f"/manage/surveys/{slug}"
    alone = ("report.json", "responses.csv", "codebook.csv")
    paths = [
        "report.json",
        "report.csv",
        *(f"{name}?version={number}" for number in (1, 2) for name in alone),
    ]
    answers = {path: client.get(f"{home}/{path}") for path in paths}
    assert {path: answer.status_code for path, answer in answers.items()} == dict.fromkeys(paths, 200)
    found: dict[str, Any] = {path: answer.data for path, answer in answers.items()}
    for path in paths:
        if path.startswith("report.json"):
            found[path], known = sample_archives.without_admission(answers[path].text)
            assert known == {not copied}
        elif path == "report.csv":
            rows = answers[path].text.splitlines()
            found[path] = [row for row in rows if ",forging." not in row]
    return found


def test_a_study_has_the_same_results_elsewhere(
    signed_in: FlaskClient, database_url: str, sqlite: NewDatabase, postgresql: NewDatabase
) -> None:
    slug = sample_archives.study(signed_in, database_url)
    body = export(signed_in, slug)
    made_on_sqlite = database_url.startswith("sqlite")

    with elsewhere((postgresql if made_on_sqlite else sqlite)(True)) as other:
        assert import_archive(other, body) == slug
        assert results(other, slug, copied=True) == results(signed_in, slug)
        again = entries(export(other, slug))

    here = entries(body)
    assert [name for name in here if here[name] != again[name]] == ["batches.csv", "log.csv"]


@pytest.mark.parametrize("shared", [False, True], ids=["own devices", "a tablet"])
def test_everything_but_ids_is_the_same_elsewhere(
    signed_in: FlaskClient, database_url: str, sqlite: NewDatabase, shared: bool
) -> None:
    slug = sample_archives.study(signed_in, database_url)
    # Everybody by invitation, or a tablet: not both.
    factories.settle(
        *(database_url, slug),
        offline=True,
        forgets=True,
        by_invitation=not shared,
        tablet=shared,
        works=True,
        keep_rows=900,
        keep_rest=1000,
    )
    target = sqlite(True)
    with elsewhere(target) as other:
        import_archive(other, export(signed_in, slug))

    assert read_database(target) == read_database(database_url)
    factories.settle(target, slug, minimum=2)
    assert read_database(target) != read_database(database_url)
    ids = [{row[0] for row in factories.list_responses(url)} for url in (database_url, target)]
    assert len(ids[0]) == len(ids[1]) == 4 * 5 + 3 * 4 + 5
    assert not ids[0] & ids[1]


def read_database(database_url: str) -> list[Any]:
    """What a database with one survey says of it, without the numbers of rows."""
    with factories.writing(database_url) as session:
        (survey,) = session.scalars(sa.select(Survey))
        others = {"id", "draft_number", "tidied_on", "may_release"}  # a copy releases nothing: test_rights
        names = {attribute.key for attribute in sa.inspect(Survey).column_attrs} - others
        rows = responses_of(survey.id).c
        settings = {name: getattr(survey, name) for name in names}
        parent = sa.orm.aliased(Stratum)
        tree = sa.select(Stratum.name, Stratum.population, Stratum.slug, parent.name).outerjoin(
            parent, Stratum.parent_id == parent.id
        )
        stored = (
            sa.select(SurveyVersion.number, Stratum.slug, rows.day, rows.reports)
            .join(SurveyVersion, rows.version_id == SurveyVersion.id)
            .outerjoin(Stratum, rows.stratum_id == Stratum.id)
        )
        versions = sa.select(
            SurveyVersion.number,
            SurveyVersion.sha256,
            SurveyVersion.published,
            SurveyVersion.reports,
            SurveyVersion.published_on,
        )
        queries = (tree, versions, stored)
        tables = [sorted(map(repr, session.execute(query))) for query in queries]
    return [settings, surveys_draft(database_url), *tables]


def surveys_draft(database_url: str) -> dict[str, Any]:
    with factories.writing(database_url) as session:
        (survey,) = session.scalars(sa.select(Survey))
        return surveys.draft_document(survey)


@on_sqlite
def test_every_kind_of_question_comes_back(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, every_kind.document(), minimum=3)
    with factories.writing(database_url) as session:
        (possible,) = session.scalars(sa.select(SurveyVersion.reports))
    rng = random.Random(5)
    rows = [([rng.randrange(number) for number in possible], 1) for _ in range(300)]
    factories.store(database_url, survey, rows)
    factories.close(database_url, survey.slug)
    copy = import_archive(signed_in, export(signed_in, survey.slug))

    (one, known), (two, known_of_copy) = (
        sample_archives.without_admission(signed_in.get(f"/manage/surveys/{slug}/report.json").text)
        for slug in (survey.slug, copy)
    )
    assert two == {**one, "survey": copy}
    assert (known, known_of_copy) == ({True}, {False})


@on_sqlite
def test_the_same_content_gives_the_same_bytes(signed_in: FlaskClient, database_url: str) -> None:
    slug = sample_archives.study(signed_in, database_url)
    body = sample_archives.pack(database_url, slug)
    assert sample_archives.pack(database_url, slug) == body
    factories.settle(database_url, slug, cap=501)
    assert sample_archives.pack(database_url, slug) != body


@on_sqlite
def test_rows_are_sorted_by_what_they_hold_and_have_no_ids(signed_in: FlaskClient, database_url: str) -> None:
    slug = sample_archives.study(signed_in, database_url)
    ids = [bytes(row[0]) for row in factories.list_responses(database_url)]  # type: ignore[call-overload]

    found = entries(export(signed_in, slug))

    whole = b"".join(found.values())
    assert not [row_id for row_id in ids if row_id in whole or row_id.hex().encode() in whole]
    header, *rows = csv.reader(io.StringIO(found["versions/1/responses.csv"].decode()))
    assert header == ["stratum", "stratum_path", "q1", "q2"]
    assert {(row[0], row[1]) for row in rows} == {
        *(("", ""), ("2", "North > =Oslo"), ("3", "North > Umeå"), ("4", "South"))
    }
    assert rows == sorted(rows)
    assert len(rows) == 20


@on_sqlite
def test_no_text_of_a_table_starts_a_formula(signed_in: FlaskClient, database_url: str) -> None:
    slug = sample_archives.study(signed_in, database_url)
    factories.plant(database_url, slug, "=1+1; 5")
    found = entries(export(signed_in, slug))

    assert "'=1+1" in found["strata.csv"].decode()
    for name in (name for name in found if name.endswith(".csv")):
        cells = [cell for row in csv.reader(io.StringIO(found[name].decode())) for cell in row]
        assert not [cell for cell in cells if cell[:1] in set("=+@") or (cell[:1] == "-" and cell != "-")], (
            name
        )
    assert json.loads(found["manifest.json"])["strata"][-1]["names"] == ["=1+1"]


@on_sqlite
def test_a_closed_survey_takes_no_invitations_along(signed_in: FlaskClient, database_url: str) -> None:
    """How many of a stratum's were used would tell how many have responded there."""
    slug = sample_archives.study(signed_in, database_url)
    found = entries(export(signed_in, slug))
    assert found["invitations.csv"] == b"code_sha256,batch,spent\r\n"
    assert json.loads(found["manifest.json"])["batches"] == []
    assert len(list(csv.reader(io.StringIO(found["batches.csv"].decode())))) == 2


@on_sqlite
def test_the_invitations_of_a_draft_go_along(
    signed_in: FlaskClient, database_url: str, sqlite: NewDatabase
) -> None:
    slug = factories.draft(database_url, factories.definition())
    factories.invite(database_url, slug, CODES)
    body, target = export(signed_in, slug), sqlite(True)
    codes = [line.split(b",")[0] for line in entries(body)["invitations.csv"].splitlines()[1:]]
    assert codes == sorted(codes)
    with elsewhere(target) as other:
        import_archive(other, body)
    for name in ("invitations", "invitation_batches"):
        assert factories.dump(target)[name] == factories.dump(database_url)[name]


def test_a_second_copy_gets_new_links_and_leaves_invitations_where_they_are(
    signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition())
    factories.plant(database_url, slug, sample_archives.TREE)
    factories.invite(database_url, slug, CODES)
    before = factories.dump(database_url)

    answer = sample_archives.send(signed_in, export(signed_in, slug))

    assert answer.status_code == 201
    assert "4 links are new" in answer.text
    assert "no invitations" in answer.text
    after = factories.dump(database_url)
    assert all(after[name] == before[name] for name in ("invitations", "invitation_batches"))
    slugs = [row[1] for row in after["surveys"]]
    assert len(set(slugs)) == 2


@on_sqlite
def test_a_file_does_not_lower_the_smallest_group_shown(signed_in: FlaskClient, database_url: str) -> None:
    """What a page lets nobody do to a published survey, an edited file does not do either."""
    survey = factories.publish(database_url, minimum=10)
    factories.plant(database_url, survey.slug, "North\nSouth")
    factories.store(database_url, survey, [([0, 1], 40)])
    factories.close(database_url, survey.slug)
    body = change_manifest("minimum", value=3)(export(signed_in, survey.slug))

    answer = sample_archives.send(signed_in, body)

    assert (answer.status_code, "groups of fewer than 10 responses are not shown" in answer.text) == (
        201,
        True,
    )
    with factories.writing(database_url) as session:
        assert list(session.scalars(sa.select(Survey.minimum))) == [10, 10]
    again = sample_archives.send(signed_in, change_manifest("minimum", value=20)(body))
    assert "not shown, as in the copy" not in again.text  # one that is raised stays so
    with factories.writing(database_url) as session:
        assert max(session.scalars(sa.select(Survey.minimum))) == 20


@on_sqlite
def test_an_open_survey_comes_paused(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, minimum=3)
    sample_archives.respond(signed_in, survey, [survey.slug], 3)
    body = sample_archives.pack(
        database_url, survey.slug
    )  # open ones are not exported any more; earlier archives hold some

    copy = import_archive(signed_in, body)

    answer = signed_in.post(f"/s/{copy}/responses", json=survey.response())
    assert answer.status_code == 423
    assert signed_in.post(survey.url, json=survey.response()).status_code == 201


@on_sqlite
def test_a_survey_that_takes_responses_is_not_exported_where_that_would_tell_who(
    signed_in: FlaskClient, database_url: str
) -> None:
    many = factories.publish(database_url, minimum=3)
    sample_archives.respond(signed_in, many, [many.slug], 12)
    invited = factories.publish(database_url, minimum=3)
    sample_archives.respond(signed_in, invited, [invited.slug], 3)
    factories.invite(database_url, invited.slug, 3)
    for slug in (many.slug, invited.slug):
        answer = signed_in.post(f"/manage/surveys/{slug}/export.zip")
        assert (answer.status_code, "must be closed first" in answer.text) == (409, True)
        assert "must be closed first" in signed_in.get(f"/manage/surveys/{slug}/keeping").text
        factories.close(database_url, slug)
        export(signed_in, slug)


@on_sqlite
def test_drafts_come_back_finished_or_not(signed_in: FlaskClient, database_url: str) -> None:
    whole = factories.draft(database_url, every_kind.document())
    home = "/manage/surveys"
    typed = {"title": "", "introduction": "x\r\ny", "language": "es", "action": "add", "added": "select_one"}
    typed |= {
        "questions[0].kind": "yes_no",
        "questions[0].text": "",
        "questions[0].design.mechanism": "coin_flip",
    }
    started = signed_in.post(f"{home}/new", data=typed).location.split("/")[3]
    wrong = {
        **typed,
        "action": "save",
        "budget": "abc",
        "plan.margin": "7",
        "questions[0].show_if.question": "q9",
    }
    signed_in.post(f"{home}/{started}/edit", data=wrong)

    for slug in (whole, started):
        copy = import_archive(signed_in, export(signed_in, slug))
        documents = [signed_in.get(f"{home}/{each}/definition.json").get_json() for each in (slug, copy)]
        assert documents[0] == documents[1]
        assert signed_in.get(f"{home}/{copy}/edit").status_code == 200


def test_rows_are_read_wherever_the_parts_of_a_file_end() -> None:
    for end in range(65_534, 65_539):  # of the first row, around 64 KB
        table = [["a", "b" * (end - 4)], ["1", "ñ"], ["", "2"]]
        body = io.BytesIO()
        with zipfile.ZipFile(body, "w") as written:
            written.writestr("table.csv", "".join(f"{first},{second}\r\n" for first, second in table))
        with zipfile.ZipFile(body) as read:
            assert list(csv.reader(Archive(read).lines("table.csv"), strict=True)) == table


@on_sqlite
def test_the_file_says_in_the_readers_language_what_it_is(signed_in: FlaskClient, database_url: str) -> None:
    slug = sample_archives.study(signed_in, database_url)
    found = entries(export(signed_in, slug))
    for name in found:
        shown = name.replace("versions/1/", "versions/N/").replace("versions/2/", "versions/N/")
        assert shown == "README.txt" or shown in found["README.txt"].decode()
    log = list(csv.reader(io.StringIO(found["log.csv"].decode())))
    assert [row[2] for row in log] == ["what", "exported everything"]
