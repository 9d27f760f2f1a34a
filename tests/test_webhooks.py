"""What webhooks tell, when, to whom and how often: over real TLS, with a clock that the tests give."""

import base64
import hashlib
import hmac
import json
import logging
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from server.config import from_environment
from server.people import members, survey_access
from server.store.engines import open_session
from server.store.models import Researcher, Webhook, WebhookDelivery
from server.store.sealed_secrets import unseal
from server.study import surveys
from server.web.webhooks import webhook_rows
from server.web.webhooks.deliverer import Deliverer
from server.web.webhooks.deliveries import PAUSES
from server.web.webhooks.posting import Poster
from server.web.webhooks.webhook_events import HOUR, find_round
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.backups import back_up, restore
from tests.support.webhook_receivers import (
    NAME,
    Receiver,
    delivering,
    make_certificate,
    make_poster,
    receiving,
    reply,
    set_up,
)

PLAN = {"respondents": 20, "margin": 0.3}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Answers 204."""
    with receiving() as found:
        yield found


def deliver(deliverer: Deliverer, moment: datetime) -> int:
    """What the job does when the clock shows a moment; how many messages were sent."""
    deliverer.look_for_events(moment)
    return deliverer.send_waiting(lambda: moment)


def deliveries(url: str) -> list[WebhookDelivery]:
    with factories.writing(url) as session:
        return list(session.scalars(sa.select(WebhookDelivery).order_by(WebhookDelivery.event)))


def publish_planned(url: str, minimum: int = 1) -> factories.Published:
    return factories.publish(url, factories.definition(plan=PLAN), minimum=minimum)


def list_told(receiver: Receiver) -> list[str]:
    return [json.loads(each.body)["type"] for each in receiver.arrived]


def test_a_closed_survey_is_told_once_signed_and_without_data(database_url: str, receiver: Receiver) -> None:
    survey = publish_planned(database_url)
    number, secret = set_up(database_url, survey.slug)
    factories.store(database_url, survey, [((0, 1), 7), ((1, 1), 4)])
    factories.close(database_url, survey.slug)
    moment = find_round(surveys.now())
    with delivering(database_url, make_poster(receiver), public_urls=("https://m.example",)) as deliverer:
        assert [deliver(deliverer, moment + timedelta(days=day)) for day in range(3)] == [1, 0, 0]
    (arrived,) = receiver.arrived
    assert arrived.line == "POST /told?key=1 HTTP/1.1"
    # Not by the code that signs: as the specification says it, with this secret as the page showed it.
    key = base64.b64decode(secret.removeprefix("whsec_"))
    identity, timestamp = arrived.headers["webhook-id"], arrived.headers["webhook-timestamp"]
    signed = b".".join([identity.encode(), timestamp.encode(), arrived.body])
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert arrived.headers["webhook-signature"] == f"v1,{expected}"
    assert int(timestamp) == int(moment.replace(tzinfo=UTC).timestamp())
    assert len(key) == 32
    assert json.loads(arrived.body) == {
        "type": "survey.closed",
        "timestamp": f"{moment:%Y-%m-%dT}{HOUR:02}:00:00Z",
        "data": {"survey": survey.slug, "address": f"https://m.example/manage/surveys/{survey.slug}"},
    }
    assert arrived.headers.keys() == {
        *("host", "accept-encoding", "content-length", "content-type", "user-agent"),
        *("webhook-id", "webhook-timestamp", "webhook-signature"),
    }
    assert number not in str(arrived)


def test_a_trial_is_sent_once_and_the_example_of_the_docs_verifies_it(
    database_url: str, receiver: Receiver
) -> None:
    survey = publish_planned(database_url)
    number, secret = set_up(database_url, survey.slug, days_ago=0)
    with factories.writing(database_url) as session:
        webhook_rows.add_trial(session, session.get_one(Webhook, number))
    receiver.answer = reply(500)
    with delivering(database_url, make_poster(receiver)) as deliverer:
        now = surveys.now()
        assert deliver(deliverer, now) == 1
        assert deliver(deliverer, now + timedelta(hours=1)) == 0
    (arrived,) = receiver.arrived
    assert json.loads(arrived.body) == {
        "type": "webhook.trial",
        "timestamp": f"{deliveries(database_url)[0].at:%Y-%m-%dT%H:%M:%SZ}",
        "data": {"survey": survey.slug},
    }
    example: dict[str, Any] = {}
    page = (factories.ROOT / "docs/api.md").read_text("utf-8")
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[-1], example)  # noqa: S102 - the example itself
    verify = example["verify"]
    assert verify(secret, arrived.headers, arrived.body)
    assert not verify(secret, arrived.headers, arrived.body + b" ")
    assert not verify("whsec_" + base64.b64encode(bytes(32)).decode(), arrived.headers, arrived.body)
    late = {**arrived.headers, "webhook-timestamp": str(int(arrived.headers["webhook-timestamp"]) - 600)}
    assert not verify(secret, late, arrived.body)


def test_what_is_sent_is_the_same_whatever_was_answered(
    new_database: NewDatabase, receiver: Receiver
) -> None:
    """But for the names that chance gave: the sizes, the words and the moment."""
    shapes = []
    for rows in ([((0, 0), 20)], [((1, 1), 400), ((0, 1), 3)]):
        url = new_database(True)
        survey = publish_planned(url)
        set_up(url, survey.slug)
        factories.store(url, survey, rows)
        factories.close(url, survey.slug)
        before = len(receiver.arrived)
        with delivering(url, make_poster(receiver)) as deliverer:
            deliver(deliverer, find_round(surveys.now()))
        shapes.append(
            sorted(
                (each.body.replace(survey.slug.encode(), b"*" * 12), *sorted(each.headers))
                for each in receiver.arrived[before:]
            )
        )
    assert len(shapes[0]) == 2
    assert shapes[0] == shapes[1]


def test_the_planned_number_is_that_of_the_page_at_the_hour(
    installation: factories.Served, receiver: Receiver
) -> None:
    """Each response is sent by itself; the job runs after each, all day long."""
    url = installation.database_url
    survey = publish_planned(url, minimum=5)
    set_up(url, survey.slug)
    hour = find_round(surveys.now())
    with delivering(url, make_poster(receiver)) as deliverer:
        for number in range(30):
            assert factories.ask(installation.url + survey.url, survey.response())[0] == 201
            # From just after the hour to just before the next: nothing that arrives meanwhile is told.
            assert deliver(deliverer, hour + timedelta(seconds=1, minutes=45 * number)) == 0, number
        shown = find_shown(url, survey.slug)
        assert shown >= 20
        assert deliver(deliverer, hour + timedelta(days=1, seconds=-1)) == 0
        assert deliver(deliverer, hour + timedelta(days=1)) == 1
    assert list_told(receiver) == ["survey.planned_number_reached"]


def find_shown(url: str, slug: str) -> int:
    done = factories.run(url, "report", slug, "--format", "json")
    number: int = json.loads(done.stdout)["n"]
    return number


def test_responses_that_wait_to_be_shown_are_not_told_of(
    installation: factories.Served, receiver: Receiver
) -> None:
    """24 are stored, but groups are of 15: the page shows fewer than the 20 that are planned, and so does the job."""
    url = installation.database_url
    survey = publish_planned(url, minimum=15)
    set_up(url, survey.slug)
    for _ in range(24):
        assert factories.ask(installation.url + survey.url, survey.response())[0] == 201
    assert find_shown(url, survey.slug) < 20
    with delivering(url, make_poster(receiver)) as deliverer:
        assert deliver(deliverer, find_round(surveys.now())) == 0
    assert receiver.arrived == []


@pytest.mark.parametrize("status", [500, 404, 301, 200])
def test_it_is_sent_again_with_growing_pauses_and_then_given_up(database_url: str, status: int) -> None:
    survey = publish_planned(database_url)
    set_up(database_url, survey.slug)
    factories.close(database_url, survey.slug)
    with receiving(reply(status)) as receiver, delivering(database_url, make_poster(receiver)) as deliverer:
        moment = find_round(surveys.now())
        deliver(deliverer, moment)
        if status == 200:
            assert deliver(deliverer, moment + timedelta(days=9)) == 0
            assert [(each.outcome, each.attempts) for each in deliveries(database_url)] == [("delivered", 1)]
            return
        for pause in PAUSES:
            assert deliver(deliverer, moment + pause - timedelta(seconds=1)) == 0
            moment += pause
            assert deliver(deliverer, moment) == 1
        assert deliver(deliverer, moment + timedelta(days=30)) == 0
        assert len(receiver.arrived) == len(PAUSES) + 1 == 9
        assert len({each.headers["webhook-id"] for each in receiver.arrived}) == 1
        assert len({each.headers["webhook-signature"] for each in receiver.arrived}) == 9
        assert len({each.body for each in receiver.arrived}) == 1
    (delivery,) = deliveries(database_url)
    assert (delivery.outcome, delivery.status, delivery.attempts) == ("given up", status, 9)
    assert timedelta(days=3) < sum(PAUSES, timedelta()) < timedelta(days=4)
    assert list(PAUSES) == sorted(PAUSES)


def test_a_receiver_that_wants_nothing_any_more_is_let_be(database_url: str) -> None:
    survey = publish_planned(database_url)
    set_up(database_url, survey.slug)
    factories.close(database_url, survey.slug)
    with (
        receiving(reply(410)) as receiver,
        delivering(database_url, make_poster(receiver)) as deliverer,
    ):
        assert [deliver(deliverer, find_round(surveys.now()) + timedelta(days=day)) for day in range(5)] == [
            *(1, 0, 0, 0, 0)
        ]
    assert deliveries(database_url)[0].outcome == "given up"


def test_no_transaction_is_open_while_something_is_sent(database_url: str) -> None:
    """The receiver itself changes the survey, before it answers."""
    survey = publish_planned(database_url)
    set_up(database_url, survey.slug)
    factories.close(database_url, survey.slug)
    with receiving() as receiver:
        answer = receiver.answer

        def change(connection: object) -> None:
            factories.settle(database_url, survey.slug, time_zone="Europe/Madrid")
            with factories.writing(database_url) as session:
                session.execute(sa.update(WebhookDelivery).values(trouble=None))
            answer(connection)  # type: ignore[arg-type]

        receiver.answer = change
        with delivering(database_url, make_poster(receiver)) as deliverer:
            assert deliver(deliverer, find_round(surveys.now())) == 1
    assert deliveries(database_url)[0].outcome == "delivered"


PROCESS = """
import ssl, sys
from datetime import datetime
from server.config import Config
from server.store.engines import make_engine
from server.web.webhooks.deliverer import Deliverer
from server.web.webhooks.posting import Poster
url, certificate, port, moment = sys.argv[1:]
now = datetime.fromisoformat(moment)
trusted = ssl.create_default_context(cafile=certificate)
poster = Poster(trusted, lambda *_: [(2, ("127.0.0.1", int(port)))], lambda _: True)
deliverer = Deliverer(make_engine(url), Config(database_url=url, webhooks=True), poster)
print("ready", flush=True)
input()
deliverer.look_for_events(now)
print(deliverer.send_waiting(lambda: now), flush=True)
"""


def test_of_several_processes_one_sends_each_message(postgresql: NewDatabase, receiver: Receiver) -> None:
    url = postgresql(True)
    for _ in range(12):
        survey = publish_planned(url)
        set_up(url, survey.slug)
        factories.store(url, survey, [((0, 1), 30)])
        factories.close(url, survey.slug)
    certificate, _ = make_certificate(NAME)
    moment = find_round(surveys.now()).isoformat()
    command = [sys.executable, "-c", PROCESS, url, str(certificate), str(receiver.port), moment]
    running = [
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=factories.ROOT,
            env=factories.environment(url),
        )
        for _ in range(3)
    ]
    for each in running:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in running:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    sent = [int(each.communicate()[0]) for each in running]
    assert [each.returncode for each in running] == [0, 0, 0]
    assert sum(sent) == 24
    assert len({each.headers["webhook-id"] for each in receiver.arrived}) == len(receiver.arrived) == 24
    assert {(each.outcome, each.attempts) for each in deliveries(url)} == {("delivered", 1)}


def test_what_a_process_left_behind_is_sent_by_another_under_the_same_name(
    database_url: str, receiver: Receiver
) -> None:
    survey = publish_planned(database_url)
    set_up(database_url, survey.slug)
    factories.close(database_url, survey.slug)
    moment = find_round(surveys.now())
    poster = make_poster(receiver, timeout=60)
    receiver.answer = lambda _connection: dying.stop()
    with delivering(database_url, poster) as dying:
        deliver(dying, moment)
    (left,) = deliveries(database_url)
    assert (left.outcome, left.attempts) == (None, 1)
    receiver.answer = reply()
    with delivering(database_url, make_poster(receiver)) as other:
        assert deliver(other, moment + timedelta(seconds=119)) == 0
        assert deliver(other, moment + timedelta(seconds=121)) == 1
    assert len({each.headers["webhook-id"] for each in receiver.arrived}) == 1
    assert [(each.outcome, each.attempts) for each in deliveries(database_url)] == [("delivered", 2)]


def test_the_job_stops_while_a_receiver_keeps_it_waiting(database_url: str) -> None:
    survey = publish_planned(database_url)
    set_up(database_url, survey.slug)
    factories.close(database_url, survey.slug)
    asked = threading.Event()
    with receiving() as receiver:

        def keep_waiting(connection: object) -> None:
            asked.set()
            connection.recv(1)  # type: ignore[attr-defined]

        receiver.answer = keep_waiting
        with delivering(database_url, make_poster(receiver, timeout=600)) as deliverer:
            deliverer.start()
            assert asked.wait(60)
            deliverer.stop()
            assert "webhooks" not in [thread.name for thread in threading.enumerate()]


def test_a_real_server_sends_nothing_unless_its_operator_says_so(sqlite: NewDatabase) -> None:
    """And where it may, nothing to this machine: the name leads here, and the page says so."""
    url = sqlite(True)
    survey = publish_planned(url)
    set_up(url, survey.slug)
    with factories.writing(url) as session:
        session.execute(sa.update(Webhook).values(url="https://localhost/"))
    factories.close(url, survey.slug)
    with factories.serving(url):
        pass
    assert deliveries(url) == []
    with factories.serving(url, MONEDA_WEBHOOKS="on"):
        for _ in range(600):
            found = deliveries(url)
            if found and found[0].trouble:
                break
            threading.Event().wait(0.1)
    assert [(each.trouble, each.outcome) for each in found] == [("address", None)]


def test_the_setting_is_off_unless_it_is_on() -> None:
    assert [from_environment({"MONEDA_WEBHOOKS": text}).webhooks for text in ("", "off", "on")] == [
        False,
        False,
        True,
    ]
    with pytest.raises(ValueError, match="MONEDA_WEBHOOKS must be one of off, on; it is 'yes'"):
        from_environment({"MONEDA_WEBHOOKS": "yes"})


def test_webhooks_end_with_the_survey_and_with_whoever_set_them_up(
    database_url: str, receiver: Receiver
) -> None:
    survey = publish_planned(database_url)
    number = factories.account(database_url, "ana")
    for change in (members.remove_member, partial(members.change_role, role="viewer")):
        factories.join(database_url, survey.slug, number, "editor")
        with factories.writing(database_url) as session:
            found = survey_access.find(session, survey.slug)
            assert found is not None
            ana = session.get_one(Researcher, number)
            webhook_rows.create_webhook(session, found, ana, "https://hooks.example.org/")
            session.flush()
            change(session, found, ana)
            assert session.scalars(sa.select(Webhook)).all() == []
    set_up(database_url, survey.slug)
    factories.close(database_url, survey.slug)
    with delivering(database_url, make_poster(receiver)) as deliverer:
        deliver(deliverer, find_round(surveys.now()))
        assert (
            factories.run(database_url, "survey", "delete", survey.slug, "--confirm", survey.slug).exit_code
            == 0
        )
        assert deliveries(database_url) == []
        assert deliver(deliverer, find_round(surveys.now()) + timedelta(days=2)) == 0


def test_nothing_is_sent_for_somebody_who_is_shut_out(database_url: str, receiver: Receiver) -> None:
    survey = publish_planned(database_url)
    set_up(database_url, survey.slug)
    factories.close(database_url, survey.slug)
    moment = find_round(surveys.now())
    with delivering(database_url, make_poster(receiver)) as deliverer:
        deliverer.look_for_events(moment)
        with factories.writing(database_url) as session:
            session.execute(sa.update(Researcher).values(disabled_on=surveys.today()))
        assert deliver(deliverer, moment + timedelta(days=1)) == 0
        with factories.writing(database_url) as session:
            session.execute(sa.update(Researcher).values(disabled_on=None))
        assert deliver(deliverer, moment + timedelta(days=2)) == 1


def test_secrets_are_sealed_checked_and_get_a_new_key(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    key = tmp_path / "secrets.key"
    monkeypatch.setenv("MONEDA_SECRETS_KEY", str(key))
    survey = publish_planned(database_url)
    number, secret = set_up(database_url, survey.slug)
    factories.close(database_url, survey.slug)
    assert secret.removeprefix("whsec_") not in repr(factories.dump(database_url))
    assert factories.run(database_url, "check").exit_code == 0
    old = key.read_text()
    done = factories.run(database_url, "rotate-key", "--json")
    assert (done.exit_code, json.loads(done.stdout)["sealed"]) == (0, 1)
    assert old not in key.read_text()
    with factories.writing(database_url) as session:
        assert unseal(session.get_one(Webhook, number).secret_sealed, number) == secret
    new = key.read_text()
    key.unlink()
    checked = factories.run(database_url, "check")
    assert (checked.exit_code, f"webhook {number}" in checked.stdout) == (1, True)
    moment = find_round(surveys.now())
    with delivering(database_url, make_poster(receiver)) as deliverer:
        deliver(deliverer, moment)
        assert (receiver.arrived, deliveries(database_url)[0].trouble) == ([], "key")
        key.write_text(new)
        assert deliver(deliverer, moment + PAUSES[0]) == 1


def test_a_copy_of_the_database_tells_the_same_under_the_same_name(
    sqlite: NewDatabase, tmp_path: Path, receiver: Receiver
) -> None:
    """So that a receiver which keeps the names of messages takes each once."""
    url, copy = sqlite(True), sqlite(False)
    survey = publish_planned(url)
    set_up(url, survey.slug)
    back_up(url, tmp_path / "b")
    restore(copy, tmp_path / "b")
    moment = find_round(surveys.now())
    for each in (url, copy):
        factories.close(each, survey.slug)
        with delivering(each, make_poster(receiver)) as deliverer:
            assert deliver(deliverer, moment) == 1
    assert len({each.headers["webhook-id"] for each in receiver.arrived}) == 1


def test_the_log_of_the_server_names_no_receiver(
    database_url: str, caplog: pytest.LogCaptureFixture, receiver: Receiver
) -> None:
    survey = publish_planned(database_url)
    set_up(database_url, survey.slug)
    factories.close(database_url, survey.slug)
    with caplog.at_level(logging.DEBUG), delivering(database_url, Poster()) as deliverer:
        deliver(deliverer, find_round(surveys.now()))
        assert NAME not in caplog.text


def test_one_survey_that_cannot_be_read_keeps_no_other_from_being_told(
    database_url: str, receiver: Receiver
) -> None:
    spoilt, survey = publish_planned(database_url), publish_planned(database_url)
    for each in (spoilt, survey):
        set_up(database_url, each.slug)
        factories.close(database_url, each.slug)
    with delivering(database_url, make_poster(receiver)) as deliverer:
        with open_session(deliverer._engine, writes=True) as session, session.begin():
            found = survey_access.find(session, spoilt.slug)
            assert found is not None
            session.connection().exec_driver_sql(f"DROP TABLE batches_{found.id}")
        assert deliver(deliverer, find_round(surveys.now())) == 1
    assert list_told(receiver) == ["survey.closed"]
