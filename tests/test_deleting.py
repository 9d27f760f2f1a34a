"""Deleted for good: no byte of a survey's texts, links, codes and reports is left in the database's files."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from server import archives
from server.inputs import normalise_code
from server.people import survey_access
from server.store.engines import make_engine
from tests.support import factories
from tests.support.order_traces import content

WORDS = {
    "title": "Zqxjtitle",
    "question": "Zqxjquestion",
    "option": "Zqxjoption",
    "draft": "Zqxjdraft",
    "stratum": "Zqxjstratum",
    "batch": "Zqxjbatch",
    "colleague": "Zqxjcolleague",
}
REPORTS = bytes([17, 41, 3, 29, 44, 8, 36, 12, 47, 22, 5, 31, 49, 26])
"""Numbers of options that stand in this order nowhere else."""


def document() -> dict[str, Any]:
    """A survey whose texts and reports are known again wherever they are."""
    options = [{"name": f"o{k}", "text": f"{WORDS['option']} {k}"} for k in range(50)]
    asked = {"kind": "select_one", "options": options, "design": {"mechanism": "k_ary", "epsilon": 1}}
    questions = [{**asked, "name": f"q{k}", "text": f"{WORDS['question']} {k}"} for k in range(len(REPORTS))]
    return factories.definition(title=WORDS["title"], questions=questions)


def fill(client: FlaskClient, database_url: str) -> dict[str, bytes]:
    """A survey with everything that belongs to one; what is known again of it."""
    if not database_url.startswith("sqlite"):
        # PostgreSQL would compress long texts, and nothing would be known again.
        on_postgresql(database_url, "ALTER TABLE drafts ALTER document SET STORAGE EXTERNAL")
        on_postgresql(database_url, "ALTER TABLE survey_versions ALTER published SET STORAGE EXTERNAL")
    survey = factories.publish(database_url, document())
    links = factories.plant(database_url, survey.slug, f"{WORDS['stratum']} 1\n{WORDS['stratum']} 2")
    codes = factories.invite(database_url, survey.slug, 30)
    with factories.writing(database_url) as session:
        session.execute(sa.text("UPDATE invitation_batches SET label = :label"), {"label": WORDS["batch"]})
    for code in codes[:20]:
        body = survey.response(list(REPORTS), invitation=code)
        assert client.post(survey.url, json=body).status_code == 201
    factories.save(database_url, survey.slug, {**document(), "introduction": WORDS["draft"]})
    joined = factories.account(database_url, WORDS["colleague"].lower())
    factories.join(database_url, survey.slug, joined, "editor")
    known = {name: word.encode() for name, word in WORDS.items() if name != "colleague"}
    known |= {f"link of {name}": slug.encode() for name, slug in links.items()}
    known |= {"link": survey.slug.encode(), "version": survey.version.encode(), "reports": REPORTS}
    known["code"] = hashlib.sha256(normalise_code(codes[0]).encode()).digest()
    return known


def read_files(database_url: str) -> bytes:
    """All bytes of the files that hold the database, as they are on the disk."""
    url = sa.make_url(database_url)
    if url.get_backend_name() == "sqlite":
        main = Path(str(url.database))
        return b"".join(path.read_bytes() for path in main.parent.glob(f"{main.name}*"))
    on_postgresql(database_url, "CHECKPOINT")
    ((folder,),) = on_postgresql(database_url, "SHOW data_directory")
    ((number,),) = on_postgresql(
        database_url, "SELECT oid FROM pg_database WHERE datname = current_database()"
    )
    return b"".join(content(path) for path in Path(folder, "base", str(number)).iterdir())


def on_postgresql(database_url: str, statement: str) -> list[Any]:
    """Have the server do this outside of a transaction."""
    engine = make_engine(database_url)
    with engine.connect() as connection:
        result = connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(statement)
        rows: list[Any] = list(result) if result.returns_rows else []
    engine.dispose()
    return rows


def count_left(database_url: str, known: dict[str, bytes]) -> dict[str, int]:
    """How often each thing that is known again stands in the files."""
    whole = read_files(database_url)
    return {name: whole.count(words) for name, words in known.items() if words in whole}


@pytest.fixture
def slug(signed_in: FlaskClient, database_url: str) -> str:
    """Another survey, which is to stay."""
    kept = factories.publish(database_url)
    for _ in range(3):
        assert signed_in.post(kept.url, json=kept.response()).status_code == 201
    return kept.slug


def test_no_byte_of_a_deleted_survey_is_left(signed_in: FlaskClient, database_url: str, slug: str) -> None:
    before = factories.dump(database_url)
    known = fill(signed_in, database_url)
    assert count_left(database_url, known).keys() == known.keys()  # a search that finds nothing shows nothing
    if not database_url.startswith("sqlite"):
        # What autovacuum does one day: its statistics hold the commonest values themselves.
        on_postgresql(database_url, "ANALYZE")
    survey = known["link"].decode()

    answer = signed_in.post(f"/manage/surveys/{survey}/delete", data={"confirmation": WORDS["title"]})

    assert answer.status_code == 303
    housekeeper = signed_in.application.extensions["moneda.housekeeper"]
    housekeeper.start()
    housekeeper.stop(600)
    after = factories.dump(database_url)
    changed = sorted(name for name in before if before[name] != after[name])
    assert changed == ["audit_entries", "researchers"]  # the deletion, and the colleague's account
    # In the installation's log, and on PostgreSQL in the statistics on that one; nowhere else.
    assert count_left(database_url, known) in ({"link": 1}, {"link": 2})
    assert signed_in.get(f"/manage/surveys/{survey}").status_code == 404
    assert signed_in.get(f"/manage/surveys/{slug}").status_code == 200


def test_what_is_deleted_but_not_tidied_is_found(
    signed_in: FlaskClient, database_url: str, slug: str
) -> None:
    """The broken twin: the same rows deleted, and the files left as they are."""
    known = fill(signed_in, database_url)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, known["link"].decode())
        assert found is not None
        archives.delete(session, found)

    assert len(count_left(database_url, known)) > 5
