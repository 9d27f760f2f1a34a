"""Sheets of paper that are keyed in: stored once, whole or not at all, and counted in cells of their own."""

import hashlib
import json
from datetime import UTC, datetime
from math import log
from pathlib import Path
from unicodedata import normalize

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from server.collect import batches, response_counts
from server.collect.submissions import hash_receipt
from server.people import survey_access
from server.store.models import Mode
from server.store.own_tables import cells_of, responses_of
from server.study import surveys
from tests.support import every_kind, factories
from tests.support.paper_sheets import key_in

MINIMUM = 3
YES, NO = b"\1", b"\0"


@pytest.fixture
def published_survey(database_url: str) -> factories.Published:
    return factories.publish(database_url, factories.definition([0.25, 0.25]), minimum=MINIMUM)


def read_rows(database_url: str, survey: factories.Published) -> list[tuple[bytes, int, int | None]]:
    """The reports of each stored response, how it was collected, and its stratum."""
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        rows = responses_of(found.id).c
        selected = session.execute(sa.select(rows.reports, rows.mode, rows.stratum_id))
        return sorted(((bytes(reports), mode, stratum) for reports, mode, stratum in selected), key=repr)


def test_sheets_are_stored_as_the_reports_that_their_letters_stand_for(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    done = key_in(database_url, published_survey.slug, tmp_path / "sheets.csv", ["AB", "bb", "AA"], "--json")

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {"survey": published_survey.slug, "sheets": 3, "stored": 3}
    assert [row[:2] for row in read_rows(database_url, published_survey)] == [
        (NO + NO, Mode.PAPER),
        (YES + NO, Mode.PAPER),
        (YES + YES, Mode.PAPER),
    ]
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, published_survey.slug)
        assert survey is not None
        assert batches.recount(session.connection(), survey.id).agrees
    assert factories.run(database_url, "check").exit_code == 0


def test_the_same_file_is_stored_once_and_the_same_sheets_under_another_name_again(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    file = tmp_path / "sheets.csv"
    for stored, options in (
        (2, ()),
        (0, ()),
        (2, ("--batch", "second pile")),
        (0, ("--batch", "second pile")),
    ):
        done = key_in(database_url, published_survey.slug, file, ["AB", "AB"], "--json", *options)
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["stored"] == stored
    assert len(read_rows(database_url, published_survey)) == 4

    # Nothing that is stored, or made of the name, tells in which order they lay.
    for stored, sheets in ((3, ["AB", "BA", "AA"]), (0, ["AA", "AB", "BA"])):
        done = key_in(database_url, published_survey.slug, file, sheets, "--json", "--batch", "third pile")
        assert json.loads(done.stdout)["stored"] == stored, done.output

    other = key_in(database_url, published_survey.slug, file, ["AB", "AA"], "--batch", "second pile")

    assert (other.exit_code, "batch: must be new" in other.stderr) == (2, True)
    more = key_in(database_url, published_survey.slug, file, ["AB", "AB", "AB"], "--batch", "second pile")
    assert (more.exit_code, "batch: must be new" in more.stderr) == (2, True)
    assert len(read_rows(database_url, published_survey)) == 7


def test_who_guesses_the_name_of_a_batch_neither_finds_nor_takes_back_nor_blocks_its_sheets(
    client: FlaskClient, database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    """Also before it is keyed in, by sending what a sheet's number was once made like, and by taking that back."""
    named = hashlib.sha256(f"{published_survey.version}\0pile".encode()).digest()
    guessed = [hashlib.sha256(named + place.to_bytes(4, "big")).digest()[:16].hex() for place in range(2)]
    for receipt in guessed:
        assert (
            client.post(published_survey.url, json=published_survey.response(id=receipt)).status_code == 201
        )
    taken_back = client.post(f"/s/{published_survey.slug}/withdrawal.json", json={"receipt": guessed[1]})
    assert taken_back.json == {"status": "absent"}

    file = tmp_path / "sheets.csv"
    for stored in (3, 0):
        done = key_in(
            database_url, published_survey.slug, file, ["AA", "AA", "AA"], "--json", "--batch", "pile"
        )
        assert json.loads(done.stdout)["stored"] == stored, done.output
    assert [row[:2] for row in read_rows(database_url, published_survey)] == [
        (NO + NO, Mode.BROWSER),
        *[(YES + YES, Mode.PAPER)] * 3,
    ]

    for stored_id, *_ in factories.list_responses(database_url):
        for receipt in (stored_id.hex(), *guessed[1:]):
            for what in ("receipt", "withdrawal", "receipt"):
                answer = client.post(f"/s/{published_survey.slug}/{what}.json", json={"receipt": receipt})
                assert (answer.status_code, answer.json) == (200, {"status": "absent"})
    assert len(read_rows(database_url, published_survey)) == 4


def test_a_batch_that_an_earlier_version_stored_is_stored_once(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    """Its sheets had numbers that a receipt could have, as those of browsers."""
    file, named = (
        tmp_path / "sheets.csv",
        hashlib.sha256(f"{published_survey.version}\0pile".encode()).digest(),
    )
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, published_survey.slug)
        assert survey is not None
        kept = {"version_id": survey.versions[0].id, "day": surveys.now().date(), "mode": Mode.PAPER}
        for place, reports in enumerate((YES + NO, NO + NO)):
            receipt = hashlib.sha256(named + place.to_bytes(4, "big")).digest()[:16]
            row = {"id": hash_receipt(receipt), "reports": reports, **kept}
            session.execute(sa.insert(responses_of(survey.id)).values(row))

    for sheets, status in ((["AB", "BB"], 0), (["AB", "AB"], 2)):
        done = key_in(database_url, published_survey.slug, file, sheets, "--json", "--batch", "pile")
        assert done.exit_code == status, done.output
    assert len(read_rows(database_url, published_survey)) == 2


def test_a_name_is_the_same_however_its_letters_are_composed(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    """As one keyboard types it, and as a file system of another machine hands it over."""
    file = tmp_path / "sheets.csv"
    for stored, form in ((1, "NFC"), (0, "NFD"), (0, "NFC")):
        name = normalize(form, "montón de María")
        done = key_in(database_url, published_survey.slug, file, ["AB"], "--json", "--batch", name)
        assert json.loads(done.stdout)["stored"] == stored, form
    assert len(read_rows(database_url, published_survey)) == 1


def test_bytes_that_are_no_text_are_refused_in_one_line(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    """As a shell hands them over: of a name, by its option; of the file, by its line."""
    file = tmp_path / "sheets.csv"
    for option in ("--batch", "--stratum"):
        done = key_in(database_url, published_survey.slug, file, ["AB"], option, "pile \udcff")
        assert done.exit_code == 2
        assert f"Error: {option} must be UTF-8; it is 'pile \\udcff'" in done.stderr
    file.write_bytes(file.read_bytes() + b"A,\xff\n")
    done = factories.run(database_url, "survey", "enter", published_survey.slug, str(file), "--version", "1")
    assert done.exit_code == 2
    assert "data: must be UTF-8; line 3 is not, at byte " in done.stderr
    assert read_rows(database_url, published_survey) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1,q2\nA,B\nC,A\n", "data[3].q1: must be one of A, B; it is C"),
        ("q1,q2\nA,\n", 'data[2].q2: must be one of A, B; it is ""'),
        ("q1,q2\nA,yes\n", "data[2].q2: must be one of A, B; it is yes"),
        ("q1,q2\nA\n", "data[2]: must have 2 cells; it has 1"),
        ("q1\nA\n", "must have a column for each name that is declared, also q2; it has q1"),
        ("q1,q2\n", "data: must have a row for each sheet; it has none"),
    ],
)
def test_what_is_wrong_is_named_by_row_and_column_and_nothing_is_stored(
    database_url: str, published_survey: factories.Published, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "sheets.csv"
    file.write_text(text, "utf-8")

    done = factories.run(database_url, "survey", "enter", published_survey.slug, str(file), "--version", "1")

    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert read_rows(database_url, published_survey) == []


def test_letters_that_are_left_out_are_named_as_none(database_url: str, tmp_path: Path) -> None:
    """Of nine answers the last is J: I is between the first and the last, and none."""
    nine = {
        "name": "nine",
        "kind": "select_one",
        "text": "Which?",
        "options": every_kind.options(dict.fromkeys("abcdefghi", 0)),
    }
    nine["design"] = {"mechanism": "k_ary", "epsilon": log(2)}
    survey = factories.publish(database_url, factories.definition(questions=[nine]))
    file = tmp_path / "sheets.csv"
    file.write_text("nine\nI\n", "utf-8")

    done = factories.run(database_url, "survey", "enter", survey.slug, str(file), "--version", "1")

    assert "data[2].nine: must be one of A, B, C, D, E, F, G, H, J; it is I" in done.stderr


def test_sheets_of_an_earlier_version_count_as_that_version(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    """Printed before the second version was published; browsers answer the newest alone."""
    factories.publish(database_url, factories.definition([0.2, 0.2]), published_survey.slug)

    for number, rows in ((1, ["AA"]), (2, ["BB"])):
        done = key_in(database_url, published_survey.slug, tmp_path / f"{number}.csv", rows, version=number)
        assert done.exit_code == 0, done.output

    with factories.writing(database_url) as session:
        survey = survey_access.find(session, published_survey.slug)
        assert survey is not None
        rows = responses_of(survey.id).c
        found = {
            number: reports for number, reports in session.execute(sa.select(rows.version_id, rows.reports))
        }
        assert [bytes(found[version.id]) for version in survey.versions] == [YES + YES, NO + NO]
    wrong = key_in(database_url, published_survey.slug, tmp_path / "3.csv", ["AA"], version=3)
    assert (wrong.exit_code, "version: must be from 1 to 2; it is 3" in wrong.stderr) == (2, True)


def test_sheets_count_for_their_stratum(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    factories.plant(database_url, published_survey.slug, "North > A\nNorth > B")

    for path, exit_code in (("North > A", 0), ("North", 2), ("South", 2)):
        done = key_in(database_url, published_survey.slug, tmp_path / "sheets.csv", ["AB"], "--stratum", path)
        assert done.exit_code == exit_code, done.output
    assert "stratum: must be the path of a stratum without strata below it; it is South" in done.stderr

    ((_reports, mode, stratum),) = read_rows(database_url, published_survey)
    assert (mode, stratum is not None) == (Mode.PAPER, True)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"paused": True}, "it is paused"),
        ({"opens_at": datetime(2100, 1, 1, tzinfo=UTC).replace(tzinfo=None)}, "it is not open yet"),
        ({"closes_at": datetime(2020, 1, 1, tzinfo=UTC).replace(tzinfo=None)}, "it is closed"),
        ({"by_invitation": True}, "link: must ask for no code"),
    ],
)
def test_what_takes_no_responses_takes_no_sheets(
    database_url: str,
    published_survey: factories.Published,
    tmp_path: Path,
    settings: dict[str, object],
    said: str,
) -> None:
    factories.settle(database_url, published_survey.slug, **settings)

    done = key_in(database_url, published_survey.slug, tmp_path / "sheets.csv", ["AB"])

    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert read_rows(database_url, published_survey) == []


def test_a_batch_that_was_stored_is_known_still_when_the_survey_is_closed(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    """Until the ids of its rows are drawn anew, it is told as stored; afterwards as refused, and never stored twice."""
    file = tmp_path / "sheets.csv"
    assert key_in(database_url, published_survey.slug, file, ["AB", "AA"]).exit_code == 0
    factories.settle(database_url, published_survey.slug, paused=True)
    assert (
        json.loads(key_in(database_url, published_survey.slug, file, ["AB", "AA"], "--json").stdout)["stored"]
        == 0
    )
    factories.close(database_url, published_survey.slug)
    assert factories.run(database_url, "tidy").exit_code == 0

    again = key_in(database_url, published_survey.slug, file, ["AB", "AA"])

    assert (again.exit_code, "it is closed" in again.stderr) == (2, True)
    assert len(read_rows(database_url, published_survey)) == 2


@pytest.mark.parametrize("waiting", [0, 1, 4])
def test_a_limit_refuses_by_what_is_shown_alone(
    database_url: str, published_survey: factories.Published, tmp_path: Path, waiting: int
) -> None:
    """Whether a batch fits must not tell how many are stored: up to five may wait, whether any does or not."""
    if waiting:
        factories.store(database_url, published_survey, [((0, 1), waiting)])
    factories.settle(database_url, published_survey.slug, cap=8)

    large = key_in(database_url, published_survey.slug, tmp_path / "large.csv", ["AB"] * 4)
    small = key_in(database_url, published_survey.slug, tmp_path / "small.csv", ["AB"] * 3)

    said = "cap: must leave room for all that may be stored by now and for these 4 sheets; it is 8"
    assert (large.exit_code, said in large.stderr) == (2, True), large.output
    assert small.exit_code == 0, small.output
    assert len(read_rows(database_url, published_survey)) == waiting + 3


def test_a_full_survey_says_so(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    factories.store(database_url, published_survey, [((0, 1), 3)])
    factories.settle(database_url, published_survey.slug, cap=3)

    done = key_in(database_url, published_survey.slug, tmp_path / "sheets.csv", ["AB"])

    assert (done.exit_code, "it has as many as it may have" in done.stderr) == (2, True), done.output


def test_paper_has_cells_of_its_own_and_estimates_take_both(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    factories.store(database_url, published_survey, [((1, 0), 4), ((0, 0), 4)])
    assert key_in(database_url, published_survey.slug, tmp_path / "sheets.csv", ["AB"] * 7).exit_code == 0

    with factories.writing(database_url) as session:
        survey = survey_access.find(session, published_survey.slug)
        assert survey is not None
        cells = cells_of(survey.id).c
        waiting = {mode: number for mode, number in session.execute(sa.select(cells.mode, cells.waiting_n))}
        by_mode = batches.count_sealed_by_mode(session, survey)
        shown = response_counts.count_shown(session, survey)
        assert batches.recount(session.connection(), survey.id).agrees
    assert waiting == {Mode.BROWSER: MINIMUM, Mode.PAPER: MINIMUM}
    key = next(iter(shown))
    assert by_mode == {(key, Mode.BROWSER): 5, (key, Mode.PAPER): 4}
    assert shown == {key: 9}
    factories.close(database_url, published_survey.slug)
    report = json.loads(factories.run(database_url, "report", published_survey.slug, "--json").stdout)
    assert report["n"] == 15
    assert report["questions"][0]["counts"] == [4, 11]


def test_a_few_from_paper_beside_others_are_never_shown(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    """Who keyed in nine of eleven could tell the other two by a subtraction: fewer than the minimum wait for good."""
    assert key_in(database_url, published_survey.slug, tmp_path / "sheets.csv", ["AB"] * 9).exit_code == 0
    factories.store(database_url, published_survey, [((0, 1), 2)])
    factories.close(database_url, published_survey.slug)

    report = json.loads(factories.run(database_url, "report", published_survey.slug, "--json").stdout)

    assert report["n"] == 9
    assert report["questions"][0]["counts"] == [0, 9]
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, published_survey.slug)
        assert survey is not None
        assert batches.recount(session.connection(), survey.id).agrees
    assert len(read_rows(database_url, published_survey)) == 11


def test_few_alone_are_shown_at_the_end_as_before(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    """The other side: where all came in one way, closing shows them all."""
    assert key_in(database_url, published_survey.slug, tmp_path / "sheets.csv", ["AB"] * 4).exit_code == 0
    factories.close(database_url, published_survey.slug)

    assert json.loads(factories.run(database_url, "report", published_survey.slug, "--json").stdout)["n"] == 4


def test_what_may_be_stored_and_not_shown_counts_both_ways(
    database_url: str, published_survey: factories.Published, tmp_path: Path
) -> None:
    """Fewer than six wait in each cell, and once sheets were keyed in there are two, whether anything waits or not."""
    told = "more_fewer_than"
    before = json.loads(factories.run(database_url, "report", published_survey.slug, "--json").stdout)
    assert key_in(database_url, published_survey.slug, tmp_path / "sheets.csv", ["AB"]).exit_code == 0

    after = json.loads(factories.run(database_url, "report", published_survey.slug, "--json").stdout)

    assert (before[told], after[told]) == (6, 11)
