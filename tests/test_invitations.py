"""Invitations: each code lets one response in, at its link, and is kept as a hash alone."""

import hashlib
import json
import re
import secrets
from collections import Counter
from collections.abc import Mapping
from datetime import datetime

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect import invitation_batches, response_codes, responses
from server.inputs import CODE_ALPHABET, InputError
from server.people import survey_access
from server.store.models import InvitationBatch, Stratum, Survey
from tests.support import factories
from tests.support.factories import Published, dump, list_responses, writing

NOW = datetime(2024, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times


def _send(database_url: str, link: str, body: Mapping[str, object]) -> tuple[int, str, str]:
    """Status, field and message."""
    with writing(database_url) as session:
        try:
            taken = responses.accept(session.connection(), link, json.dumps(body).encode(), NOW)
        except InputError as error:
            return error.status, error.problems[0].field, error.problems[0].message
    return taken.value, "", ""


def _codes(database_url: str) -> list[tuple[bytes, int, bool]]:
    return [(bytes(key), batch, spent) for key, batch, spent in dump(database_url)["invitations"]]  # type: ignore[call-overload, misc]


def test_codes_are_random_grouped_and_kept_as_hashes(survey: Published, database_url: str) -> None:
    codes = factories.invite(database_url, survey.slug, 1000)

    assert len(set(codes)) == 1000
    assert all(re.fullmatch(r"([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}", code) for code in codes)
    # Each of 32 characters in each of 16 places: one is missing with probability 16 * 32 * (31/32)**1000 < 1e-11.
    plain = [code.replace("-", "") for code in codes]
    assert all(len(set(place)) == 32 for place in zip(*plain, strict=True))
    hashes = {hashlib.sha256(code.encode()).digest() for code in plain}
    assert {(key, spent) for key, _batch, spent in _codes(database_url)} == {(key, False) for key in hashes}
    ((_id, survey_id, stratum, label, _day, size, withdrawn),) = dump(database_url)["invitation_batches"]
    assert (survey_id, stratum, label, size, withdrawn) == (1, None, "Class 3B", 1000, None)


def test_every_byte_that_is_drawn_is_as_often_one_letter_as_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(secrets, "token_bytes", lambda number: bytes(range(256))[:number])

    letters = Counter("".join(invitation_batches.draw_codes(16)))

    assert letters == dict.fromkeys(CODE_ALPHABET, 8)


def test_codes_are_stored_by_one_statement(survey: Published, database_url: str) -> None:
    """Others wait until they are all there."""
    statements: list[bool] = []

    def look(_connection: object, _cursor: object, statement: str, *rest: object) -> None:
        if "INTO invitations_" in statement:
            statements.append(bool(rest[-1]))

    sa.event.listen(sa.Engine, "before_cursor_execute", look)
    factories.invite(database_url, survey.slug, 1000)
    sa.event.remove(sa.Engine, "before_cursor_execute", look)
    assert statements == [False]  # and not executed a thousand times


def test_code_lets_one_response_in(survey: Published, database_url: str) -> None:
    code, other = factories.invite(database_url, survey.slug, 2)
    body = survey.response(invitation=code)

    outcomes = [
        _send(database_url, survey.slug, each)[:2]
        for each in (
            survey.response(),  # without a code
            body,
            body,  # a retry
            {**body, "invitation": other},  # the same response is acknowledged, and the other code left alone
            {key: value for key, value in body.items() if key != "invitation"},
            survey.response(invitation=code),
            survey.response(invitation=other),
        )
    ]

    assert outcomes == [
        (422, "invitation"),
        (201, ""),
        (200, ""),
        (200, ""),
        (200, ""),
        (409, "invitation"),
        (201, ""),
    ]
    assert [spent for _key, _batch, spent in _codes(database_url)] == [True, True]
    assert len(list_responses(database_url)) == 2


def test_refused_response_does_not_spend_its_code(survey: Published, database_url: str) -> None:
    (code,) = factories.invite(database_url, survey.slug, 1)
    before = dump(database_url)

    for wrong in ({"reports": [0, 2]}, {"reports": [0]}, {"version": "0" * 64}, {"id": "x"}):
        assert _send(database_url, survey.slug, survey.response(invitation=code, **wrong))[0] in (409, 422)

    assert dump(database_url) == before
    assert _send(database_url, survey.slug, survey.response(invitation=code))[0] == 201


@pytest.mark.parametrize(
    "typed",
    [
        "0123-4567-89AB-CDEF",
        "0123456789abcdef",
        " oI23 4567\u20138 9ab\u00a0cd-ef\n",
        "OL23-4567-89AB-CDEF",
    ],
)
def test_code_is_taken_as_it_is_typed(typed: str) -> None:
    assert response_codes.normalise_code(typed) == "0123456789ABCDEF"


@pytest.mark.parametrize(
    "typed",
    ["", "0123-4567-89AB-CDE", "0123-4567-89AB-CDEFG", "U123-4567-89AB-CDEF", "٠١٢٣456789ABCDEF", "-" * 99],
)
def test_what_cannot_be_a_code_is_refused_before_it_is_looked_up(
    typed: str, survey: Published, database_url: str
) -> None:
    factories.invite(database_url, survey.slug, 1)
    status, field, message = _send(database_url, survey.slug, survey.response(invitation=typed))

    assert response_codes.normalise_code(typed) is None
    assert (status, field) == (422, "invitation")
    assert message.startswith("must be a code of 16 letters and digits; it is ")


@pytest.mark.parametrize("value", [None, 16, ["0123456789ABCDEF"], {}, True])
def test_code_that_is_no_text_is_refused(value: object, survey: Published, database_url: str) -> None:
    assert _send(database_url, survey.slug, survey.response(invitation=value))[:2] == (422, "invitation")


def test_unknown_and_foreign_codes_are_refused_in_the_same_words(
    survey: Published, database_url: str
) -> None:
    slugs = factories.plant(database_url, survey.slug, "Spain\nKenya")
    other = factories.publish(database_url)
    (here,) = factories.invite(database_url, survey.slug, 1, slugs["Spain"])
    (elsewhere,) = factories.invite(database_url, survey.slug, 1, slugs["Kenya"])
    (own,) = factories.invite(database_url, survey.slug, 1)
    (foreign,) = factories.invite(database_url, other.slug, 1)

    refusals = {
        _send(database_url, slugs["Spain"], survey.response(invitation=code))
        for code in (elsewhere, own, foreign, "0000-0000-0000-0000")
    }

    assert refusals == {(422, "invitation", "must be one that was issued for this link; it is not")}
    assert not list_responses(database_url)
    assert _send(database_url, slugs["Spain"], survey.response(invitation=here))[0] == 201
    # Also a used one tells nothing elsewhere.
    assert _send(database_url, slugs["Kenya"], survey.response(invitation=here)) in refusals


def test_survey_for_everybody_takes_no_codes(survey: Published, database_url: str) -> None:
    (code,) = factories.invite(database_url, survey.slug, 1)
    factories.settle(database_url, survey.slug, by_invitation=False)

    assert _send(database_url, survey.slug, survey.response(invitation=code))[:2] == (410, "invitation")
    assert _send(database_url, survey.slug, survey.response())[0] == 201


def test_withdrawn_codes_let_nobody_in_and_used_ones_stay_used(survey: Published, database_url: str) -> None:
    used, left = factories.invite(database_url, survey.slug, 2)
    kept = factories.invite(database_url, survey.slug, 1)[0]
    _send(database_url, survey.slug, survey.response(invitation=used))

    with writing(database_url) as session:
        batch = session.scalars(sa.select(InvitationBatch).where(InvitationBatch.size == 2)).one()
        invitation_batches.withdraw(session, batch)

    statuses = [
        _send(database_url, survey.slug, survey.response(invitation=code))[0] for code in (used, left, kept)
    ]
    assert statuses == [409, 422, 201]
    assert len(_codes(database_url)) == 2


@pytest.mark.parametrize(
    ("size", "used", "shown"),
    [(40, 0, 0), (40, 11, 0), (40, 12, 12), (40, 23, 12), (40, 24, 24), (40, 40, 24), (12, 12, 0), (5, 5, 0)],
)
def test_small_numbers_of_used_codes_are_not_shown(
    size: int, used: int, shown: int, survey: Published, database_url: str
) -> None:
    """Neither of those who answered nor of those who did not; minimum 10, so that a step is 12."""
    codes = factories.invite(database_url, survey.slug, size)
    factories.settle(database_url, survey.slug, minimum=10)
    with writing(database_url) as session:
        response_codes.spend(session.connection(), [(1, code.replace("-", "")) for code in codes[:used]])

    with writing(database_url) as session:
        found = session.get_one(InvitationBatch, 1)
        from_survey = invitation_batches.batches(session, _survey(session, survey.slug))

    assert [(issued.batch.id, issued.used) for issued in from_survey] == [(found.id, shown)]


@pytest.mark.parametrize(
    ("size", "label", "field"),
    [
        (0, "a", "size"),
        (100_001, "a", "size"),
        (1, "", "label"),
        (1, " ", "label"),
        (1, "a" * 201, "label"),
        (1, "a\x00b", "label"),
        (1, "a\u202eb", "label"),
    ],
)
def test_batch_that_cannot_be_is_refused(
    size: int, label: str, field: str, survey: Published, database_url: str
) -> None:
    before = dump(database_url)

    with writing(database_url) as session, pytest.raises(InputError) as refusal:
        invitation_batches.issue(session, _survey(session, survey.slug), None, size, label)

    assert (refusal.value.status, refusal.value.problems[0].field) == (422, field)
    assert dump(database_url) == before


def test_codes_are_issued_for_links_that_work_only(survey: Published, database_url: str) -> None:
    slugs = factories.plant(database_url, survey.slug, "Spain > Madrid")
    other = factories.publish(database_url)
    with writing(database_url) as session:
        strata = {stratum.slug: stratum for stratum in session.scalars(sa.select(Stratum))}
        for slug, stratum in ((survey.slug, slugs["Spain"]), (other.slug, slugs["Spain > Madrid"])):
            with pytest.raises(InputError) as refusal:
                invitation_batches.issue(session, _survey(session, slug), strata[stratum], 1, "a")
            assert (refusal.value.status, refusal.value.problems[0].field) == (422, "stratum")
    factories.close(database_url, other.slug)
    with writing(database_url) as session, pytest.raises(InputError) as refusal:
        invitation_batches.issue(session, _survey(session, other.slug), None, 1, "a")

    assert refusal.value.status == 409
    assert not _codes(database_url)


def _survey(session: Session, slug: str) -> Survey:
    found = survey_access.find(session, slug)
    assert found is not None
    return found
