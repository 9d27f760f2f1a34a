"""Passwords and codes: what may be chosen, what is told, and how guessing ends. SQLite only."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from pathlib import Path

import pyotp
import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient

from server.config import Config
from server.people import second_factors, sign_ins, throttling
from server.people.passwords import hash_password
from server.people.throttling import AttemptKind, count_attempt, refuses_attempts
from server.store.engines import open_session
from server.store.models import FailedAttempt, Researcher
from server.store.sealed_secrets import seal
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.front_client import create_app
from tests.support.sign_in_form import CHANGED, PASSWORD, alert, enter, is_in, save, turn_on

BROWSERS = {
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0": "Firefox, Linux",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
    "Safari/537.36": "Chrome, Windows",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
    "Safari/537.36 Edg/126.0.0.0": "Edge, Windows",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 "
    "Safari/605.1.15": "Safari, macOS",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.5 Mobile/15E148 Safari/604.1": "Safari, iOS",
    "Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 "
    "Chrome/121.0.0.0 Mobile Safari/537.36": "Samsung Internet, Android",
    "curl/8.5": "",
    "<script>alert(1)</script>": "",
}


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    return sqlite(True)


def count(app: Flask, who: str, failures: int, kind: AttemptKind = AttemptKind.ADDRESS) -> None:
    """As if there had been so many failures already."""
    with open_session(app.extensions["moneda.engine"], writes=True) as session, session.begin():
        for _ in range(failures):
            count_attempt(session, kind, who)


def stored_attempts(database_url: str) -> list[tuple[int, ...]]:
    """What is counted: number, second, end and how many."""
    with factories.writing(database_url) as session:
        columns = (FailedAttempt.slot, FailedAttempt.at, FailedAttempt.until, FailedAttempt.n)
        return [tuple(row) for row in session.execute(sa.select(*columns).order_by(FailedAttempt.at))]


def test_password_is_the_same_however_it_is_composed(app: Flask, database_url: str) -> None:
    """U+00E9 against e + U+0301, and a ligature against its letters: NFKC makes them one."""
    factories.account(database_url, "zoë", "caf\u00e9 con leche ﬁno".replace("ﬁ", "fi"))
    browser = app.test_client()

    assert enter(browser, "zoe\u0308", "cafe\u0301 con leche \ufb01no").status_code == 303


def test_long_password_is_refused_before_any_work(app: Flask, ana: int) -> None:
    for text in ("x" * 129, "x" * 1_000_000, "\ufdfa" * 100):
        answer = enter(app.test_client(), "ana", text)
        assert answer.status_code == 422
        assert "12 to 128 characters" in alert(answer)
        assert text not in answer.text


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"password": "x" * 11, "again": "x" * 11}, 422, "must have 12 to 128 characters; it has 11"),
        ({"password": "x" * 129, "again": "x" * 129}, 422, "must have 12 to 128 characters; it has 129"),
        ({"password": "\ufb01" * 65, "again": "\ufb01" * 65}, 422, "it has 130"),
        (
            {"password": "my name is ANA", "again": "my name is ANA"},
            422,
            "must not contain your sign-in name",
        ),
        ({"password": CHANGED, "again": CHANGED + "x"}, 422, "the same password once more"),
        ({"login": "an"}, 422, "must have 3 to 100 characters"),
        ({"login": "a" * 101}, 422, "must have 3 to 100 characters"),
        ({"login": "ana maria"}, 422, "no spaces"),
        ({"login": "ana\x00"}, 422, "no spaces"),
        ({"login": "BEN"}, 409, "is taken"),
        ({"name": ""}, 422, "must have 1 to 200 characters"),
        ({"name": "a" * 201}, 422, "must have 1 to 200 characters"),
        ({"name": "a\u202eb"}, 422, "must have 1 to 200 characters"),
        ({"current": "wrong"}, 403, "is not the password"),
        ({"current": ""}, 403, "is not the password"),
    ],
)
def test_account_is_refused_by_field_with_what_was_typed_kept(
    changes: dict[str, str], status: int, said: str, browser: FlaskClient, database_url: str
) -> None:
    factories.account(database_url, "ben")
    before = factories.dump(database_url)

    answer = save(browser, **changes)

    assert answer.status_code == status
    assert said in alert(answer)
    assert factories.dump(database_url) == before
    if "login" in changes and "\x00" not in changes["login"]:
        assert f'value="{changes["login"]}"' in answer.text


@pytest.mark.parametrize("length", [12, 128])
def test_passwords_at_the_limits_are_taken(
    length: int, app: Flask, browser: FlaskClient, database_url: str
) -> None:
    password = "y" * length
    assert save(browser, password=password, again=password).status_code == 303
    assert enter(app.test_client(), "ana", password).status_code == 303
    assert enter(app.test_client(), "ana", PASSWORD).status_code == 403


def test_a_hash_takes_the_work_that_its_library_asks_for() -> None:
    """In a Python of its own: the other tests take a cheap one (`tests/support/cheap_hashes.py`)."""
    code = "from server.people.passwords import hash_password; print(hash_password('correct horse battery'))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=factories.ROOT, capture_output=True, text=True, check=True
    )
    # RFC 9106, section 4, the second recommended option: 64 MiB, 3 rounds, 4 lanes.
    assert done.stdout.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    weak = hash_password("correct horse battery")
    assert weak.startswith("$argon2id$v=19$m=8,t=1,p=1$")


def test_hash_is_argon2_and_renewed_when_its_parameters_are_old(
    app: Flask, ana: int, database_url: str
) -> None:
    weak = PasswordHasher(time_cost=1, memory_cost=16, parallelism=1).hash(PASSWORD.encode())
    with factories.writing(database_url) as session:
        found = session.get_one(Researcher, ana)
        assert found.password_hash.startswith("$argon2id$")
        found.password_hash = weak

    assert enter(app.test_client(), "ana", "wrong password").status_code == 403
    with factories.writing(database_url) as session:
        assert session.get_one(Researcher, ana).password_hash == weak
    assert enter(app.test_client(), "ana", PASSWORD).status_code == 303
    with factories.writing(database_url) as session:
        renewed = session.get_one(Researcher, ana).password_hash
    assert not PasswordHasher().check_needs_rehash(renewed)
    assert enter(app.test_client(), "ana", PASSWORD).status_code == 303


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_codes_are_those_of_rfc_6238(seconds: int, code: str) -> None:
    """Appendix B, SHA1, the last six of its eight digits; the secret is "12345678901234567890" in base32."""
    secret, step = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", seconds // 30

    assert second_factors.step_of(secret, code[-6:], seconds) == step
    assert second_factors.step_of(secret, f" {code[-6:-3]} {code[-3:]}", seconds) == step
    for later in (-30, 30):
        assert second_factors.step_of(secret, code[-6:], seconds + later) == step
    for later in (-60, 60):
        assert second_factors.step_of(secret, code[-6:], seconds + later) is None
    assert second_factors.step_of(secret, code, seconds) is None


def test_code_counts_only_once_the_app_has_shown_one(browser: FlaskClient, app: Flask) -> None:
    page = browser.get("/manage/account/codes").text
    secret = re.findall(r'name="secret" value="([A-Z2-7]{32})"', page)[0]
    wrong = browser.post("/manage/account/codes", data={"secret": secret, "code": "1"})

    assert (wrong.status_code, secret in wrong.text) == (422, True)
    for odd in ("", "a", secret.lower(), secret + "A", "'" * 32):
        assert browser.post("/manage/account/codes", data={"secret": odd, "code": "1"}).status_code == 422
    assert enter(app.test_client(), "ana", PASSWORD).status_code == 303


def test_turning_codes_off_and_renewing_them_need_the_password(app: Flask, browser: FlaskClient) -> None:
    _secret, recovery = turn_on(browser)
    for path in ("off", "recovery"):
        assert browser.post(f"/manage/account/codes/{path}", data={"current": "wrong"}).status_code == 403

    renewed = browser.post("/manage/account/codes/recovery", data={"current": PASSWORD})
    assert renewed.status_code == 200
    assert enter(app.test_client(), "ana", PASSWORD, recovery[0]).status_code == 403
    assert browser.post("/manage/account/codes/off", data={"current": PASSWORD}).status_code == 303
    assert enter(app.test_client(), "ana", PASSWORD).status_code == 303


def test_wrong_codes_are_limited_for_an_account_once_its_password_was_right(
    app: Flask, browser: FlaskClient, ana: int
) -> None:
    _secret, recovery = turn_on(browser)
    count(app, str(ana), 9, AttemptKind.ACCOUNT)
    assert enter(app.test_client(), "ana", PASSWORD, "1", "8.8.8.8").status_code == 403

    # The right one, from elsewhere; until then it would have been let in.
    assert enter(app.test_client(), "ana", PASSWORD, recovery[0], "8.8.4.4").status_code == 403
    assert is_in(browser)


def test_wrong_passwords_lock_nobody_out_but_who_sends_them(app: Flask, ana: int) -> None:
    """Other addresses, and other people behind a proxy on the same machine, sign in as before."""
    count(app, "8.8.8.8", 99)
    statuses = [enter(app.test_client(), "ana", "wrong", "", "8.8.8.8").status_code for _ in range(2)]
    assert statuses == [403, 429]
    assert "wait 10 minutes" in alert(enter(app.test_client(), "ana", PASSWORD, "", "8.8.8.8"))

    # An address that the client gives itself does not help.
    forged = enter(app.test_client(), "ana", PASSWORD, "", "8.8.8.8", X_Forwarded_For="8.8.4.4")
    assert forged.status_code == 429
    assert enter(app.test_client(), "ana", PASSWORD, "", "8.8.4.4").status_code == 303


def test_behind_a_proxy_each_client_is_counted_by_itself(database_url: str, ana: int) -> None:
    app = create_app(
        Config(database_url=database_url, proxies=(ip_network("127.0.0.1"), ip_network("10.0.0.0/8")))
    )
    for known in ("192.0.2.1", "2001:db8:1:2::/64"):
        count(app, known, 100)

    def behind(named: str, proxy: str = "127.0.0.1") -> int:
        return enter(app.test_client(), "ana", PASSWORD, "", proxy, X_Forwarded_For=named).status_code

    # Only what the proxies wrote, which is the end, counts; one network of IPv6 is one client.
    assert behind("198.51.100.1, 192.0.2.1") == 429
    assert behind("192.0.2.1, 198.51.100.1") == 303
    assert behind("2001:db8:1:2:3:4:5:6") == 429
    assert behind("2001:db8:1:3:3:4:5:6") == 303
    assert behind("nonsense") == 303
    assert behind("198.51.100.1, 192.0.2.1, 10.1.2.3", "::ffff:10.0.0.1") == 429
    assert behind("192.0.2.1", "192.168.0.1") == 303
    app.extensions["moneda.engine"].dispose()


def set_clock(monkeypatch: pytest.MonkeyPatch, moment: float) -> None:
    """Let attempts be counted at this moment."""
    monkeypatch.setattr(throttling.time, "time", lambda: moment)


def test_what_is_counted_is_no_address_and_another_number_ten_minutes_later(
    app: Flask, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has 24 bits, and comes from a key outside the database."""
    for moment in (1_800_000_000, 1_800_000_599, 1_800_000_600):
        set_clock(monkeypatch, moment)
        count(app, "192.0.2.1", 1)
    set_clock(monkeypatch, 1_800_000_601)
    monkeypatch.setenv("MONEDA_SECRETS_KEY", str(tmp_path / "another.key"))
    seal("a secret", 1)  # which makes one
    count(app, "192.0.2.1", 1)

    slots = [slot for slot, _at, _until, _n in stored_attempts(database_url)]
    # The first was forgotten when the last two were counted.
    assert len(slots) == len(set(slots)) == 3
    assert all(0 <= slot < 2**24 for slot in slots)


def test_failures_count_for_as_long_as_is_said_and_are_then_deleted(
    app: Flask, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address for 10 minutes, though its number changes meanwhile; the job that keeps house deletes the rest."""

    def is_refused(kind: AttemptKind, who: str) -> bool:
        with open_session(app.extensions["moneda.engine"], writes=False) as session:
            return refuses_attempts(session, kind, who)

    start = 1_800_000_599.0
    set_clock(monkeypatch, start)
    count(app, "192.0.2.1", 99)
    count(app, "7", 9, AttemptKind.ACCOUNT)
    set_clock(monkeypatch, start + 2)
    assert not is_refused(AttemptKind.ADDRESS, "192.0.2.1")
    count(app, "192.0.2.1", 1)
    count(app, "7", 1, AttemptKind.ACCOUNT)
    for later, refused in ((600, (True, True)), (601, (False, True)), (903, (False, False))):
        set_clock(monkeypatch, start + later)
        found = is_refused(AttemptKind.ADDRESS, "192.0.2.1"), is_refused(AttemptKind.ACCOUNT, "7")
        assert (later, found) == (later, refused)
    count(app, "7", 40, AttemptKind.ACCOUNT)
    set_clock(monkeypatch, start + 24 * 60 * 60)
    assert is_refused(AttemptKind.ACCOUNT, "7")
    assert not is_refused(AttemptKind.ACCOUNT, "8")

    factories.keep_house(app)
    assert {at for _slot, at, _until, _n in stored_attempts(database_url)} == {
        int(start) + s for s in (0, 2, 903)
    }
    set_clock(monkeypatch, start + 48 * 60 * 60)
    factories.keep_house(app)
    assert not stored_attempts(database_url)


def test_a_flood_from_many_addresses_takes_little_room(
    app: Flask, database_url: str, ana: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttling, "MOST_ROWS", 5)
    set_clock(monkeypatch, 1_800_000_000)
    count(app, str(ana), 1, AttemptKind.ACCOUNT)  # which counts for longer, and so stays
    for number in range(20):
        set_clock(monkeypatch, 1_800_000_000 + number)
        count(app, f"192.0.2.{number}", 1)

    found = [at - 1_800_000_000 for _slot, at, _until, _n in stored_attempts(database_url)]
    assert found == [0, 16, 17, 18, 19]


def test_without_a_key_a_process_counts_by_itself(
    app: Flask, ana: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "damaged").write_text("nonsense")
    monkeypatch.setenv("MONEDA_SECRETS_KEY", str(tmp_path / "damaged"))
    count(app, "8.8.8.8", 99)

    answers = [enter(app.test_client(), "ana", "wrong", "", "8.8.8.8").status_code for _ in range(2)]
    assert answers == [403, 429]
    assert enter(app.test_client(), "ana", PASSWORD, "", "8.8.4.4").status_code == 303
    assert "counted by this process alone" in caplog.text

    monkeypatch.setenv("MONEDA_SECRETS_KEY", str(tmp_path / "missing"))
    caplog.clear()
    assert enter(app.test_client(), "ana", PASSWORD, "", "8.8.8.8").status_code == 429
    assert (caplog.text, (tmp_path / "missing").exists()) == ("", False)


def test_a_crowd_at_the_door_keeps_nobody_out(app: Flask, ana: int) -> None:
    """30 wrong passwords at once, and the right one behind them: it waits for its turn, and comes in."""
    with ThreadPoolExecutor(31) as people:
        crowd = [people.submit(enter, app.test_client(), "ana", f"wrong password {n}") for n in range(30)]
        right = people.submit(enter, app.test_client(), "ana", PASSWORD)

    assert right.result().status_code == 303
    assert {each.result().status_code for each in crowd} == {403}


@pytest.mark.parametrize(("agent", "device"), BROWSERS.items(), ids=lambda text: text[-20:])
def test_device_is_a_family_of_browsers_and_systems(agent: str, device: str) -> None:
    assert sign_ins._device(agent) == device


def test_wrong_current_passwords_are_limited(app: Flask, browser: FlaskClient, ana: int) -> None:
    count(app, str(ana), 9, AttemptKind.ACCOUNT)
    assert [save(browser, current="wrong").status_code for _ in range(2)] == [403, 429]
    assert is_in(browser)


def test_no_answer_tells_what_was_wrong(app: Flask, database_url: str, ana: int) -> None:
    factories.account(database_url, "nobody-yet")
    factories.account(database_url, "gone", PASSWORD)
    secret = pyotp.random_base32()
    with factories.writing(database_url) as session:
        for researcher in session.scalars(sa.select(Researcher)):
            if researcher.login == "gone":
                researcher.disabled_on = sa.func.current_date()
            if researcher.login == "ana":
                researcher.totp_sealed = seal(secret, researcher.id)
    tried = [
        ("unknown", PASSWORD, ""),
        ("ana", "not the password", ""),
        ("ana", "not the password", pyotp.TOTP(secret).now()),
        ("ana", PASSWORD, ""),
        ("ana", PASSWORD, "000000000"),
        ("nobody-yet", "", ""),
        ("nobody-yet", PASSWORD, ""),
        ("gone", PASSWORD, ""),
        ("\x00", PASSWORD, ""),
        ("", "", ""),
    ]
    before = factories.dump(database_url)

    answers = [(enter(app.test_client(), *attempt), attempt[0]) for attempt in tried]

    assert {answer.status_code for answer, _ in answers} == {403}
    assert len({alert(answer) for answer, _ in answers}) == 1
    assert not any("Set-Cookie" in answer.headers for answer, _ in answers)
    assert factories.dump(database_url) == before
