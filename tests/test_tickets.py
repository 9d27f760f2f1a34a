"""Tickets: a code buys one, a response spends it, and whoever keeps everything cannot tell which came of which."""

import dataclasses
import hashlib
import json
import math
import random
from collections.abc import Mapping
from datetime import datetime

import pytest
from flask.testing import FlaskClient

from server.archives.checking import parse_frozen
from server.collect import acceptance, response_codes, responses
from server.collect.responses import Sale
from server.collect.submissions import parse_submission
from server.inputs import InputError
from server.study import strata, surveys
from server.study.blind_signatures import SigningKey, is_signed, open_signer, sign_blinded
from server.study.definitions import version_of
from server.study.definitions.definition_reader import parse_definition
from server.study.definitions.published_reader import parse_published
from server.study.schedule import schedule_of
from server.study.ticket_keys import drop_links, is_named, open_key
from server.web.page_parts import parts_of
from server.web.verifying.shells import parse_survey
from tests.support import factories, ticket_buyers
from tests.support.factories import dump, list_responses, writing
from tests.support.ticket_buyers import EXPONENT, Blinded, draw, find_key

NOW = datetime(2024, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times
VECTORS = json.loads((factories.ROOT / "tests/vectors/blind_signatures.json").read_text())


def send(database_url: str, link: str, body: Mapping[str, object]) -> tuple[int, str]:
    """Status and field."""
    with writing(database_url) as session:
        try:
            taken = responses.accept(session.connection(), link, json.dumps(body).encode(), NOW)
        except InputError as error:
            return error.status, error.problems[0].field
    return taken.value, ""


def buy(database_url: str, link: str, code: str, blinded: Blinded) -> Sale:
    sale = ticket_buyers.buy(database_url, link, code, blinded, NOW)
    assert isinstance(sale, Sale), sale
    return sale


def refuse(database_url: str, link: str, code: str, blinded: Blinded) -> tuple[int, str]:
    error = ticket_buyers.buy(database_url, link, code, blinded, NOW)
    assert isinstance(error, InputError)
    return error.status, error.problems[0].field


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_the_server_signs_and_checks_as_the_rfc_does(case: dict[str, str]) -> None:
    """RFC 9474, appendix A. The browser's part is held to the same in `tests/client/blinding.test.js`."""
    key = SigningKey(bytes.fromhex(VECTORS["n"]), int(VECTORS["d"], 16))
    message, signature = bytes.fromhex(case["msg_prefix"] + case["msg"]), bytes.fromhex(case["sig"])
    assert sign_blinded(key, bytes.fromhex(case["blinded_msg"])).hex() == case["blind_sig"]
    assert is_signed(key.modulus, message, signature) == bool(case["salt"])  # no ticket goes without one
    assert not is_signed(key.modulus, message + b"\0", signature)
    assert not is_signed(key.modulus, message, signature[:-1] + bytes([signature[-1] ^ 1]))
    assert case["salt"] or open_signer(key)(message) == signature
    encoded = ticket_buyers.encode(message, bytes.fromhex(case["salt"]), 4095)
    n, r = int(VECTORS["n"], 16), pow(int(case["inv"], 16), -1, int(VECTORS["n"], 16))
    assert int.from_bytes(encoded, "big") * pow(r, EXPONENT, n) % n == int(case["blinded_msg"], 16)


def test_a_key_that_computes_wrongly_hands_nothing_out() -> None:
    """What a computer that errs would answer can tell the key."""
    key = SigningKey(bytes.fromhex(VECTORS["n"]), int(VECTORS["d"], 16) ^ 4)
    with pytest.raises(ArithmeticError):
        sign_blinded(key, bytes.fromhex(VECTORS["cases"][0]["blinded_msg"]))


def test_a_code_buys_a_ticket_that_lets_one_response_in(database_url: str) -> None:
    survey, _ = ticket_buyers.publish(database_url)
    code, other = factories.invite(database_url, survey.slug, 2)
    blinded = draw(find_key(database_url, survey.slug))
    sale = buy(database_url, survey.slug, code, blinded)
    ticket = blinded.finish(sale.signature)
    body = survey.response(ticket=ticket)
    outcomes = [
        send(database_url, survey.slug, each)
        for each in (
            survey.response(),
            survey.response(invitation=other),
            survey.response(ticket=ticket[:-4] + "AAAA"),
            survey.response(ticket=ticket, invitation=other),
            survey.response(reports=[0, 7], ticket=ticket),
            body,
            body,  # a retry
            survey.response(ticket=ticket),
        )
    ]
    assert outcomes == [
        (422, "ticket"),
        (410, "invitation"),
        (422, "ticket"),
        (410, "invitation"),
        (422, "reports[1]"),
        (201, ""),
        (200, ""),
        (409, "ticket"),
    ]
    # Bought or spent, the same message again is answered alike; another one is not.
    assert buy(database_url, survey.slug, code, blinded) == sale
    assert refuse(database_url, survey.slug, code, draw(blinded.modulus)) == (409, "invitation")
    assert refuse(database_url, survey.slug, "0000-0000-0000-0000", blinded) == (422, "invitation")
    assert len(list_responses(database_url)) == 1
    assert dump(database_url)["tickets"] == [(hashlib.sha256(blinded.drawn).digest(),)]
    assert sorted(row[2] for row in dump(database_url)["invitations"]) == [False, True]


def test_of_two_responses_with_one_ticket_that_come_together_one_is_stored(database_url: str) -> None:
    survey, _ = ticket_buyers.publish(database_url)
    (code,) = factories.invite(database_url, survey.slug, 1)
    blinded = draw(find_key(database_url, survey.slug))
    ticket = blinded.finish(buy(database_url, survey.slug, code, blinded).signature)
    bodies = [json.dumps(survey.response(ticket=ticket)).encode() for _ in range(2)]
    with writing(database_url) as session:
        arrivals = [responses.Arrival(survey.slug, parse_submission(body)) for body in bodies]
        first, second = responses.accept_all(session.connection(), arrivals, NOW, responses.Links())
    assert first == responses.Acceptance.STORED
    assert isinstance(second, InputError)
    assert (second.status, second.problems[0].field) == (409, "ticket")


def test_a_ticket_is_good_at_its_own_link_alone(database_url: str) -> None:
    survey, slugs = ticket_buyers.publish(database_url, "Spain\nKenya")
    other, _ = ticket_buyers.publish(database_url)
    (code,) = factories.invite(database_url, survey.slug, 1, slugs["Spain"])
    keys = {slug: find_key(database_url, slug) for slug in (*slugs.values(), survey.slug, other.slug)}
    assert len(set(keys.values())) == 4
    blinded = draw(keys[slugs["Spain"]])
    assert refuse(database_url, slugs["Kenya"], code, draw(keys[slugs["Kenya"]])) == (422, "invitation")
    ticket = blinded.finish(buy(database_url, slugs["Spain"], code, blinded).signature)
    for slug in (slugs["Kenya"], survey.slug):
        assert send(database_url, slug, survey.response(ticket=ticket)) == (422, "ticket")
    assert send(database_url, other.slug, other.response(ticket=ticket)) == (422, "ticket")
    assert send(database_url, slugs["Spain"], survey.response(ticket=ticket)) == (201, "")


def test_the_definition_names_the_keys_and_a_new_version_the_same(database_url: str) -> None:
    survey, slugs = ticket_buyers.publish(database_url, "Spain\nKenya")
    moduli = [find_key(database_url, slug) for slug in (survey.slug, *slugs.values())]
    changed = factories.publish(database_url, factories.definition((0.25,)), survey.slug)
    with writing(database_url) as session:
        found = surveys.find_link(session, survey.slug)
        assert found is not None
        documents = [json.loads(version.published) for version in found[0].versions]
        assert [version_of(version.published) for version in found[0].versions] == [
            survey.version,
            changed.version,
        ]
        assert all(
            surveys.definition_of(version).to_canonical() == version.published
            for version in found[0].versions
        )
        again = surveys.publish(session, found[0])
        assert again.sha256 == changed.version
    links = (survey.slug, *slugs.values())
    named = {link_name(link): fingerprint(modulus) for link, modulus in zip(links, moduli, strict=True)}
    assert len(named) == 3
    assert [document["ticket_keys"] for document in documents] == [named, named]
    assert "exponent" not in repr(documents)
    assert not any(link in repr(documents) for link in links), "who has one link is told no other"


def link_name(link: str) -> str:
    return hashlib.sha256(b"Moneda link " + link.encode()).hexdigest()[:16]


def fingerprint(modulus: bytes) -> str:
    return hashlib.sha256(modulus).hexdigest()


def test_a_link_is_named_as_browsers_name_it() -> None:
    """`tests/client/blinding.test.js` reads the same vectors."""
    vector = json.loads((factories.ROOT / "tests/vectors/ticket_keys.json").read_text())
    own, other = vector["links"]
    keys = tuple(vector["named"].items())
    moduli = bytes.fromhex(VECTORS["n"]), b"\0"
    assert [[is_named(keys, link, key) for key in moduli] for link in (own, other)] == [
        [True, False],
        [False, True],
    ]
    assert [is_named(drop_links(keys), own, key) for key in (*moduli, b"\1")] == [True, True, False]
    assert not is_named((*keys, *((f"{k:016}", "0" * 64) for k in range(49))), own, moduli[0])


def test_what_an_older_release_published_stays_until_something_is_changed(database_url: str) -> None:
    """Its definition says which keys there are, and not of which links: it is read for ever, and its page says so."""
    survey, slugs = ticket_buyers.publish(database_url, "Spain\nKenya", older=True)
    moduli = [find_key(database_url, slug) for slug in (survey.slug, *slugs.values())]
    with writing(database_url) as session:
        found = surveys.find_link(session, survey.slug)
        assert found is not None
        current = found[0].current
        assert current is not None
        definition = surveys.definition_of(current)
        assert json.loads(current.published)["ticket_keys"] == sorted(map(fingerprint, moduli))
        assert parse_frozen(current.published) == definition
        assert surveys.is_published(found[0], surveys.draft(found[0]))
        assert surveys.publish(session, found[0]).sha256 == survey.version
        assert "any_key" in parts_of(current.published, invited=True)
        assert "any_key" not in parts_of(current.published)
    (code,) = factories.invite(database_url, survey.slug, 1, slugs["Spain"])
    blinded = draw(moduli[1])
    ticket = blinded.finish(buy(database_url, slugs["Spain"], code, blinded).signature)
    changed = factories.publish(database_url, factories.definition((0.25,)), survey.slug)
    with writing(database_url) as session:
        found = surveys.find_link(session, survey.slug)
        assert found is not None
        published = found[0].versions[-1].published
    assert sorted(json.loads(published)["ticket_keys"].values()) == sorted(map(fingerprint, moduli))
    assert parse_frozen(published).to_canonical() == published
    assert "any_key" not in parts_of(published, invited=True)
    # Bought by the older one, good at the next: the key of the link is the same.
    assert send(database_url, slugs["Spain"], changed.response(ticket=ticket)) == (201, "")


def test_a_definition_that_names_one_key_says_as_much_without_a_link(database_url: str) -> None:
    survey, _ = ticket_buyers.publish(database_url, older=True)
    with writing(database_url) as session:
        found = surveys.find_link(session, survey.slug)
        assert found is not None
        published = found[0].versions[-1].published
    assert len(json.loads(published)["ticket_keys"]) == 1
    assert "any_key" not in parts_of(published, invited=True)


@pytest.mark.parametrize("older", [False, True])
def test_whoever_compares_notices_the_key_of_another_link(
    client: FlaskClient, database_url: str, older: bool
) -> None:
    """Where links are named; an older definition holds all of them to be as good, and its page says so."""
    survey, slugs = ticket_buyers.publish(database_url, "Spain\nKenya", older=older)
    said = "A site that lies could sell people of your link tickets under different keys"
    assert (said in client.get(f"/s/{survey.slug}").text) == older
    spain, kenya = slugs.values()
    body = client.get(f"/s/{spain}/survey.json").data
    own, foreign = (ticket_buyers.write_text(find_key(database_url, slug)) for slug in (spain, kenya))
    assert parse_survey(spain, body).version == survey.version
    for slug, sold in ((spain, body.replace(own.encode(), foreign.encode())), (kenya, body)):
        if older:
            assert parse_survey(slug, sold).version == survey.version
        else:
            with pytest.raises(
                ValueError, match="ticket_key must be the one that the definition gives this link"
            ):
                parse_survey(slug, sold)


@pytest.mark.parametrize(
    "stated",
    [
        {"": "0" * 64},
        {"0" * 15: "0" * 64},
        {"0" * 16: "0" * 63},
        {"0" * 15 + "G": "0" * 64},
        {"0" * 16: ["0" * 64]},
        ["0" * 16],
        "0" * 64 + "\n",
    ],
)
def test_a_definition_says_keys_of_links_or_is_refused(stated: object) -> None:
    document = json.loads(parse_definition(factories.definition()).to_canonical())
    with pytest.raises(InputError) as refused:
        parse_published({**document, "ticket_keys": stated})
    assert refused.value.problems[0].field.startswith("ticket_keys")


def test_what_is_stored_holds_no_secret_and_nothing_that_leads_from_a_ticket_to_a_code(
    database_url: str,
) -> None:
    survey, _ = ticket_buyers.publish(database_url)
    (code,) = factories.invite(database_url, survey.slug, 1)
    blinded = draw(find_key(database_url, survey.slug))
    ticket = blinded.finish(buy(database_url, survey.slug, code, blinded).signature)
    assert send(database_url, survey.slug, survey.response(ticket=ticket)) == (201, "")
    rows = dump(database_url)
    hashed = response_codes.code_hash(code.replace("-", ""))
    assert [row[0] for row in rows["invitations"]] == [hashed]
    assert rows["purchases"] == [(hashed, hashlib.sha256(blinded.sent).digest())]
    ((_modulus, _survey, _stratum, sealed, _completes),) = rows["ticket_keys"]
    checked = factories.run(database_url, "check")
    assert checked.exit_code == 0, checked.output
    assert str(sealed).isascii()
    with pytest.raises(ValueError, match="invalid literal"):
        int(str(sealed), 16)


def test_closing_forgets_purchases_tickets_and_what_signs(database_url: str) -> None:
    survey, _ = ticket_buyers.publish(database_url)
    codes = factories.invite(database_url, survey.slug, 2)
    blinded = draw(find_key(database_url, survey.slug))
    ticket = blinded.finish(buy(database_url, survey.slug, codes[0], blinded).signature)
    assert send(database_url, survey.slug, survey.response(ticket=ticket)) == (201, "")
    factories.close(database_url, survey.slug)
    rows = dump(database_url)
    assert (rows["purchases"], rows["tickets"]) == ([], [])
    assert [row[3] for row in rows["ticket_keys"]] == [None]
    assert refuse(database_url, survey.slug, codes[1], draw(blinded.modulus)) == (410, "survey")
    assert factories.run(database_url, "tidy").exit_code == 0
    assert factories.run(database_url, "check").exit_code == 0


def test_how_many_bought_is_told_in_steps(database_url: str) -> None:
    survey, _ = ticket_buyers.publish(database_url)
    factories.settle(database_url, survey.slug, minimum=5)
    codes = factories.invite(database_url, survey.slug, 20)
    key = find_key(database_url, survey.slug)
    told = [buy(database_url, survey.slug, code, draw(key)).among for code in codes]
    # Of steps of 6, the smallest of 3, 6, 12, ... from the minimum of 5 on; never whether nearly all have.
    assert told == [0] * 5 + [6] * 6 + [12] * 9


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"by_invitation": False, "tickets": True}, "tickets"),
        ({"by_invitation": True, "tickets": True, "offline": True}, "offline"),
    ],
)
def test_tickets_need_codes_and_a_network(settings: dict[str, bool], field: str, database_url: str) -> None:
    slug = factories.draft(database_url, factories.definition())
    with writing(database_url) as session:
        link = surveys.find_link(session, slug)
        assert link is not None
        turned = schedule_of(link[0]).turn(settings)
        schedule = dataclasses.replace(turned, by_invitation=settings["by_invitation"])
        with pytest.raises(InputError) as refused:
            acceptance.set_schedule(session, link[0], schedule, NOW)
    assert [problem.field for problem in refused.value.problems] == [field]


def test_links_and_settings_stay_once_published(database_url: str) -> None:
    survey, slugs = ticket_buyers.publish(database_url, "Spain\nKenya")
    with writing(database_url) as session:
        link = surveys.find_link(session, survey.slug)
        assert link is not None
        found, schedule = link[0], schedule_of(link[0])
        numbers = [node.stratum.id for node in strata.walk(strata.tree(session, found))]
        changes = [
            lambda: strata.add_strata(session, found, strata.parse_lines("France")),
            lambda: strata.change_access(session, found, {numbers[0]: "open"}),
            lambda: strata.remove(session, found, numbers[0]),
            lambda: acceptance.set_schedule(session, found, schedule.turn({"tickets": False}), NOW),
            lambda: acceptance.set_schedule(
                session, found, dataclasses.replace(schedule, by_invitation=False), NOW
            ),
        ]
        for change in changes:
            with pytest.raises(InputError) as refused:
                change()
            assert refused.value.status in (409, 422)
            assert "must stay" in refused.value.problems[0].message
    assert len(slugs) == 2


def test_the_operator_cannot_link_and_the_twin_that_does_not_blind_is_caught(database_url: str) -> None:
    """Everything that was received, of purchases and of responses, each shuffled: who bought what fits every way.

    For any blinded message and any ticket there is a factor that blinds the one to the other, and exactly one. The
    browser draws each with the same probability, so that what was sent says nothing of the ticket. It is computed for
    all pairs. The twin sends what is to be signed as it is.
    """
    survey, _ = ticket_buyers.publish(database_url)
    *codes, last = factories.invite(database_url, survey.slug, 7)
    key = find_key(database_url, survey.slug)
    with writing(database_url) as session:
        secret = open_key(session.connection(), key)
    received, tickets = [], []
    for code in codes:
        blinded = draw(key)
        ticket = blinded.finish(buy(database_url, survey.slug, code, blinded).signature)
        assert send(database_url, survey.slug, survey.response(ticket=ticket)) == (201, "")
        received.append(blinded.sent)
        tickets.append(ticket_buyers.read_text(ticket)[32:])
    random.Random(7).shuffle(received)
    n = int.from_bytes(key, "big")
    for sent in received:
        for signature in tickets:
            factor = find_factor(secret, sent, signature)
            encoded = pow(int.from_bytes(signature, "big"), EXPONENT, n)
            assert math.gcd(factor, n) == 1
            assert encoded * pow(factor, EXPONENT, n) % n == int.from_bytes(sent, "big")
            assert factor > 2**1024  # a smaller one would be found by chance once in 2**1024
    plain = draw(key, factor=1)
    ticket = plain.finish(buy(database_url, survey.slug, last, plain).signature)
    assert find_factor(secret, plain.sent, ticket_buyers.read_text(ticket)[32:]) == 1


def find_factor(key: SigningKey, sent: bytes, signature: bytes) -> int:
    """The one factor that blinds what this signature signs to what was sent."""
    n = int.from_bytes(key.modulus, "big")
    signed = pow(int.from_bytes(sent, "big"), key.exponent, n)
    return signed * pow(int.from_bytes(signature, "big"), -1, n) % n


def test_each_message_becomes_each_number_by_exactly_one_factor() -> None:
    """Enumerated with a key so small that it can be: 61 * 53, and 17. The twin draws half of the factors."""
    n, exponent = 61 * 53, 17
    units = [number for number in range(1, n) if math.gcd(number, n) == 1]
    powers = [pow(factor, exponent, n) for factor in units]
    for message in units[:: len(units) // 40]:
        assert sorted(message * each % n for each in powers) == units
        assert sorted(message * each % n for each in powers[: len(units) // 2]) != units
