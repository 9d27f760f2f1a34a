"""Completion codes: one for each response that is stored, good once, and whoever keeps everything cannot tell whose."""

import json
import math
import random
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server.collect import checked_codes, responses
from server.collect.checked_codes import CodeVerdict
from server.collect.submissions import hash_receipt
from server.inputs import InputError
from server.people import survey_access
from server.study import surveys
from server.study.blind_signatures import SigningKey, open_signer
from server.study.completion_codes import MEANT, group_code, is_genuine, read_code, split_codes
from server.study.ticket_keys import open_key
from tests.support import completion_claims, factories
from tests.support.completion_claims import DrawnClaim, claim, draw, find_key, publish
from tests.support.factories import Published, dump, writing
from tests.support.ticket_buyers import EXPONENT, encode, write_text

NOW = datetime(2024, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times


def send(database_url: str, survey: Published, drawn: DrawnClaim, **more: object) -> None:
    """A response whose receipt is that of a claim."""
    body = json.dumps(survey.response(id=drawn.receipt, **more)).encode()
    with writing(database_url) as session:
        responses.accept(session.connection(), survey.slug, body, NOW)


def finish(database_url: str, survey: Published, reports: Sequence[int] = ()) -> str:
    """The code of somebody who answers."""
    return completion_claims.finish(database_url, survey.slug, survey.version, reports)


def check(database_url: str, survey: Published, *codes: str) -> list[str]:
    with writing(database_url) as session:
        found = surveys.find_link(session, survey.slug)
        assert found is not None
        return [str(each.verdict) for each in completion_claims.check_codes(session, found[0], codes)]


def test_who_finishes_gets_a_code_that_is_good_once(database_url: str) -> None:
    survey = publish(database_url)
    code, other = finish(database_url, survey), finish(database_url, survey)
    assert len({code, other}) == 2
    grouped = group_code(code).lower().replace("0", "o")
    assert read_code(grouped) == code
    assert check(database_url, survey, grouped, code) == ["good", "repeated"]
    assert check(database_url, survey, code, other) == ["accepted", "good"]
    assert [row[1] for row in sorted(dump(database_url)["accepted_codes"])] == sorted([code, other])


def test_the_same_is_answered_alike_and_nothing_is_stored_of_it(database_url: str) -> None:
    """So a lost answer, a page that is loaded again or a server that was killed costs nobody their code."""
    survey = publish(database_url)
    drawn = draw(find_key(database_url, survey.slug))
    send(database_url, survey, drawn)
    before = dump(database_url)
    first, second = (claim(database_url, survey.slug, drawn, NOW) for _ in range(2))
    assert first == second
    assert dump(database_url) == before


def test_nobody_gets_a_code_without_a_response_nor_two_for_one(database_url: str) -> None:
    survey = publish(database_url)
    key = find_key(database_url, survey.slug)
    mine, other = draw(key), draw(key)
    assert claim(database_url, survey.slug, mine, NOW) == (404, "blinded")
    send(database_url, survey, mine)
    assert claim(database_url, survey.slug, other, NOW) == (404, "blinded")
    large = DrawnClaim(key, "", b"\xff" * 256, 1)
    send(database_url, survey, large)
    assert claim(database_url, survey.slug, large, NOW) == (422, "blinded")
    assert claim(database_url, "2222222222222222", mine, NOW) == (404, "survey")
    plain = factories.publish(database_url)
    send(database_url, plain, mine)
    assert claim(database_url, plain.slug, mine, NOW) == (410, "blinded")


def test_taking_a_response_back_gives_no_code_and_takes_none(database_url: str) -> None:
    survey = publish(database_url)
    code = finish(database_url, survey)
    early, late = draw(find_key(database_url, survey.slug)), draw(find_key(database_url, survey.slug))
    for drawn in (early, late):
        send(database_url, survey, drawn)
    signed = claim(database_url, survey.slug, late, NOW)
    assert isinstance(signed, bytes)
    for drawn in (early, late):
        with writing(database_url) as session:
            receipt = hash_receipt(bytes.fromhex(drawn.receipt))
            responses.take_back(session.connection(), survey.slug, receipt, NOW)
        assert claim(database_url, survey.slug, drawn, NOW) == (404, "blinded")
    assert check(database_url, survey, code, late.finish(signed)) == ["good", "good"]


def test_codes_stay_good_when_the_survey_is_closed_and_nobody_gets_another(database_url: str) -> None:
    survey = publish(database_url)
    code = finish(database_url, survey)
    late = draw(find_key(database_url, survey.slug))
    send(database_url, survey, late)
    factories.close(database_url, survey.slug)
    assert factories.run(database_url, "tidy").exit_code == 0
    assert claim(database_url, survey.slug, late, NOW) == (410, "survey")
    assert check(database_url, survey, code) == ["good"]
    assert factories.run(database_url, "check").exit_code == 0


def test_made_up_codes_and_those_of_other_surveys_are_none(database_url: str) -> None:
    """A tag is guessed once in 2^40 tries; two letters exchanged are no code."""
    survey, other = publish(database_url), publish(database_url)
    code, foreign = finish(database_url, survey), finish(database_url, other)
    changed = code[:-1] + ("0" if code[-1] != "0" else "1")
    moved = ("0" if code[0] != "0" else "1") + code[1:]
    assert check(database_url, survey, foreign, changed, moved, "0" * 20, "hello", code) == ["false"] * 5 + [
        "good"
    ]
    plain = factories.publish(database_url)
    with pytest.raises(InputError, match="here is no key"):
        check(database_url, plain, code)
    for codes in ((), (code,) * (checked_codes.MOST_AT_ONCE + 1)):
        with pytest.raises(InputError, match="from 1 to 2000"):
            checked_codes.check_number(codes)


def test_the_operator_cannot_link_and_the_twin_that_does_not_blind_is_caught(database_url: str) -> None:
    """Who notes all that arrives has, of each response, what was sent to be signed; and later the codes.

    For any of these and any code there is a factor that blinds the one to the other, and exactly one. The factor is
    drawn evenly, so every pair is as likely; this computes it for all pairs. The twin sends what is to be signed as it
    is: its factor is 1 for its own code, and for no other.
    """
    survey = publish(database_url)
    key = find_key(database_url, survey.slug)
    with writing(database_url) as session:
        secret = open_key(session.connection(), key)
    made = [draw(key) for _ in range(6)]
    for drawn in made:
        send(database_url, survey, drawn)
        assert isinstance(claim(database_url, survey.slug, drawn, NOW), bytes)
    received = [drawn.sent for drawn in made]
    random.Random(7).shuffle(received)
    n = int.from_bytes(key, "big")
    for sent in received:
        for drawn in made:
            factor = find_factor(secret, sent, drawn.letters)
            encoded = int.from_bytes(encode(drawn.letters.encode() + MEANT, b"", n.bit_length() - 1), "big")
            assert math.gcd(factor, n) == 1
            assert encoded * pow(factor, EXPONENT, n) % n == int.from_bytes(sent, "big")
            assert factor > 2**1024  # a smaller one would be found by chance once in 2**1024
    twin = draw(key, factor=1)
    assert find_factor(secret, twin.sent, twin.letters) == 1
    assert find_factor(secret, twin.sent, made[0].letters) > 2**1024


def find_factor(key: SigningKey, sent: bytes, letters: str) -> int:
    """The one factor that blinds these letters to what was sent."""
    n = int.from_bytes(key.modulus, "big")
    encoded = int.from_bytes(encode(letters.encode() + MEANT, b"", n.bit_length() - 1), "big")
    return pow(int.from_bytes(sent, "big") * pow(encoded, -1, n), key.exponent, n)


def test_what_is_stored_of_a_response_leads_to_no_code(database_url: str) -> None:
    """Row by row the same as of a survey without codes; what was found good names no row, and lies in its own order."""
    survey, plain = publish(database_url), factories.publish(database_url)
    codes = [finish(database_url, survey, reports=[1, 0]) for _ in range(9)]
    for _ in range(9):
        send(database_url, plain, draw(find_key(database_url, survey.slug)), reports=[1, 0])
    assert check(database_url, survey, *codes) == ["good"] * 9
    with writing(database_url) as session:
        ours, theirs = (surveys.find_link(session, each.slug) for each in (survey, plain))
        assert ours is not None
        assert theirs is not None
        kept = checked_codes.list_accepted(session, ours[0])
    assert kept == sorted(codes)
    rows = dump(database_url)
    text = json.dumps(rows["responses"], default=repr)
    assert [code for code in codes if code in text or code[:12] in text] == []
    assert len({len(row) for row in rows["responses"]}) == 1


def test_rows_keep_no_order_in_which_codes_were_checked(database_url: str) -> None:
    """Checked day by day, the order of the codes would be that of the days of the responses."""
    survey = publish(database_url)
    codes = [finish(database_url, survey) for _ in range(6)]
    for code in codes:
        assert check(database_url, survey, code) == ["good"]
    with writing(database_url) as session:
        place = "rowid" if session.get_bind().dialect.name == "sqlite" else "ctid"
        found = list(session.scalars(sa.text(f"SELECT code FROM accepted_codes ORDER BY {place}")))  # noqa: S608
    assert found == sorted(codes)


def test_the_page_checks_and_the_file_has_what_was_good(signed_in: FlaskClient, database_url: str) -> None:
    survey = publish(database_url)
    codes = [finish(database_url, survey) for _ in range(3)]
    here = f"/manage/surveys/{survey.slug}/completions"
    assert "Check codes" in signed_in.get(here).text
    answer = signed_in.post(here, data={"codes": f"{group_code(codes[0])}\n{codes[1]}\n{codes[1]} nonsense"})
    assert (answer.status_code, answer.text.count("good, for the first time")) == (200, 3)
    assert "<code>nonsense</code>" in answer.text
    again = signed_in.post(here, data={"codes": codes[0]})
    assert "good, but checked before" in again.text
    refused = signed_in.post(here, data={"codes": ""})
    assert (refused.status_code, "from 1 to 2000" in refused.text) == (422, True)
    table = signed_in.get(f"{here}/accepted.csv").text.split()
    assert table == ["code", *sorted(map(group_code, codes[:2]))]
    assert "checked completion codes: 2 were good" in signed_in.get(f"/manage/surveys/{survey.slug}/log").text
    plain = factories.publish(database_url)
    assert "gives no codes" in signed_in.get(f"/manage/surveys/{plain.slug}/completions").text


def test_nobody_waits_to_write_while_codes_are_checked(
    app: Flask, signed_in: FlaskClient, database_url: str
) -> None:
    """Two thousand codes take seconds; what is asked of the database before and after takes none."""
    survey = publish(database_url)
    codes = [finish(database_url, survey) for _ in range(2)]
    with completion_claims.noting_connections(app.extensions["moneda.engine"]) as used:
        page = signed_in.post(f"/manage/surveys/{survey.slug}/completions", data={"codes": " ".join(codes)})
    assert page.text.count("good, for the first time") == 3
    assert used == [0, 0]


def test_the_command_says_which_are_good(database_url: str) -> None:
    survey = publish(database_url)
    code = finish(database_url, survey)
    found = factories.run(
        database_url, "survey", "completions", survey.slug, "-", "--json", text=f"{code} x {code}"
    )
    assert json.loads(found.stdout) == {
        "survey": survey.slug,
        "good": [code],
        "repeated": [code],
        "accepted": [],
        "false": ["x"],
    }


def test_a_file_of_any_length_is_one_list(database_url: str, tmp_path: Path) -> None:
    survey = publish(database_url)
    code = finish(database_url, survey)
    file = tmp_path / "codes.csv"
    lines = [code, *["x"] * checked_codes.MOST_AT_ONCE, code]
    file.write_text("\n".join(lines))
    found = factories.run(database_url, "survey", "completions", survey.slug, str(file), "--json")
    counts = {name: len(rows) for name, rows in json.loads(found.stdout).items() if name != "survey"}
    assert counts == {"good": 1, "repeated": 1, "accepted": 0, "false": checked_codes.MOST_AT_ONCE}
    file.write_text(" \n")
    refused = factories.run(database_url, "survey", "completions", survey.slug, str(file))
    assert (refused.exit_code, "codes: must be at least one" in refused.stderr) == (2, True)


def test_codes_are_read_as_tables_lists_and_mails_hold_them() -> None:
    """Who finished must not be called a cheat for a comma."""
    first, second = "DW6KHXRZM83EQGT6EQ6S", "T64FFJ3NQTEHGFDM7JRS"
    grouped = group_code(first)
    for text in (
        grouped,
        grouped.replace("-", " "),
        f"  {grouped.replace('-', chr(0xA0))}\r\n",
        f'"{grouped}"',
        f"“{grouped}”",
        f"<{grouped}>;",
        f"({grouped}).",
    ):
        assert [read_code(each) for each in split_codes(text)] == [first], text
    for text in (
        f"{grouped},{second}",
        f"{first}\n{second}",
        f"{first} {second}",
        f'"{first}";"{second}"',
        f"{first}\t{second}",
        f"{grouped.replace('-', ' ')}\n{group_code(second).replace('-', ' ')}",
    ):
        assert [read_code(each) for each in split_codes(text)] == [first, second], text
    assert split_codes(f"code,day\n{grouped},2026-05-06") == ["code", "day", grouped, "2026-05-06"]
    assert split_codes(" \n,;\n") == []


def test_over_http_every_answer_has_one_length(client: FlaskClient, database_url: str) -> None:
    survey = publish(database_url)
    key = find_key(database_url, survey.slug)
    lengths = set()
    for reports in ([0, 0], [1, 1], [0, 1]):
        drawn = draw(key)
        assert client.post(survey.url, json=survey.response(reports, id=drawn.receipt)).status_code == 201
        answer = client.post(f"/s/{survey.slug}/completion.json", json={"blinded": write_text(drawn.sent)})
        assert (answer.status_code, sorted(answer.json or {})) == (200, ["signature"])
        lengths.add(len(answer.data))
    assert len(lengths) == 1
    for body, status in (({}, 422), ({"blinded": "?"}, 422), ({"blinded": write_text(draw(key).sent)}, 404)):
        assert client.post(f"/s/{survey.slug}/completion.json", json=body).status_code == status
    assert client.get(f"/s/{survey.slug}/completion.json").status_code == 405


def test_the_definition_names_the_key_and_a_new_version_the_same(
    client: FlaskClient, database_url: str
) -> None:
    survey = publish(database_url)
    first = client.get(f"/s/{survey.slug}/survey.json").json
    changed = factories.publish(database_url, factories.definition((0.25,)), survey.slug)
    second = client.get(f"/s/{changed.slug}/survey.json").json
    assert first is not None
    assert second is not None
    assert first["definition"]["completion_key"] == second["definition"]["completion_key"]
    assert (
        first["completion_key"] == second["completion_key"] == write_text(find_key(database_url, survey.slug))
    )


def test_a_code_is_made_of_its_letters_alone(database_url: str) -> None:
    """The twin takes a code for good whose tag is that of another: it is caught."""
    survey = publish(database_url)
    codes = [finish(database_url, survey) for _ in range(2)]
    key = find_key(database_url, survey.slug)
    with writing(database_url) as session:
        sign = open_signer(open_key(session.connection(), key))
    assert [is_genuine(code, sign) for code in codes] == [True, True]
    assert not is_genuine(codes[0][:12] + codes[1][12:], sign)
    assert not is_genuine(codes[0], lambda message: sign(message + b"."))
    assert set(CodeVerdict) == {"good", "repeated", "accepted", "false"}


def test_a_copy_has_a_key_of_its_own_and_an_archive_none(database_url: str, tmp_path: Path) -> None:
    survey = publish(database_url)
    code = finish(database_url, survey)
    run = partial(factories.run, database_url, "survey")
    copy = json.loads(run("duplicate", survey.slug, "--json").stdout)["survey"]
    again = factories.publish(database_url, survey.definition, copy)
    assert find_key(database_url, again.slug) != find_key(database_url, survey.slug)
    assert check(database_url, again, code) == ["false"]
    file = tmp_path / "survey.zip"
    refused = run("export", survey.slug, "--zip", str(file))
    assert (refused.exit_code, "must be closed first" in refused.stderr) == (2, True)
    factories.close(database_url, survey.slug)
    assert run("export", survey.slug, "--zip", str(file)).exit_code == 0
    brought = json.loads(run("import", str(file), "--json").stdout)["survey"]
    with writing(database_url) as session:
        found = survey_access.find(session, brought)
        assert found is not None
        assert found.completions
        with pytest.raises(InputError, match="here is no key"):
            completion_claims.check_codes(session, found, [code])
    assert check(database_url, survey, code) == ["good"]


def test_the_page_says_beforehand_that_the_key_cannot_be_opened(
    signed_in: FlaskClient, database_url: str
) -> None:
    """What was found good before is still known: as in a backup that leaves out what tells of running surveys."""
    survey = publish(database_url)
    code = finish(database_url, survey)
    assert check(database_url, survey, code) == ["good"]
    factories.lose_keys(database_url, survey.slug)
    page = signed_in.get(f"/manage/surveys/{survey.slug}/completions").text
    assert ("None can be checked here" in page, "Check the codes" in page) == (True, False)
    assert "completions/accepted.csv" in page


def test_pages_name_completion_codes_among_what_is_kept_and_deleted(
    signed_in: FlaskClient, database_url: str
) -> None:
    """They stay when the counts go, and go with the rest."""
    survey = publish(database_url)
    assert check(database_url, survey, finish(database_url, survey)) == ["good"]
    factories.close(database_url, survey.slug)
    factories.settle(database_url, survey.slug, keep_counts=1, closed_at=NOW)
    factories.run(database_url, "recount", survey.slug)  # most commands delete what is due first
    assert len(dump(database_url)["accepted_codes"]) == 1
    page = signed_in.get(f"/manage/surveys/{survey.slug}/keeping").text
    assert "what the pages Invitations and Completion codes, the log and the drafts say" in page
    assert "Codes of invitations, completion codes and their key" in page


def test_once_all_but_releases_is_due_key_and_codes_go(signed_in: FlaskClient, database_url: str) -> None:
    survey = publish(database_url)
    code = finish(database_url, survey)
    assert check(database_url, survey, code) == ["good"]
    factories.close(database_url, survey.slug)
    factories.settle(database_url, survey.slug, keep_rest=1, closed_at=NOW)
    factories.run(database_url, "recount", survey.slug)  # most commands delete what is due first
    rows = dump(database_url)
    assert (rows["accepted_codes"], rows["ticket_keys"]) == ([], [])
    page = signed_in.get(f"/manage/surveys/{survey.slug}/completions").text
    assert "None can be checked here" in page
    assert "None is known here." in page
    assert ("None yet." in page, "Check the codes" in page) == (False, False)
