"""What Prometheus may read: nothing of a survey or a person, and nothing finer than an hour of what respondents do."""

import gzip
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection

import pytest
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from server.config import Address, from_environment
from server.web.watching.hourly_counts import HOUR, HourlyCounts, is_publishing_time
from server.web.watching.metrics_port import SiteMetrics
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, Served

NOON = 1_800_000_000.0 - 1_800_000_000.0 % HOUR
LIVE = {"moneda_build_info", "moneda_start_time_seconds", "moneda_ready"}
"""What moves with nobody."""


def metrics_of(app: Flask) -> SiteMetrics:
    found: SiteMetrics = app.extensions["moneda.front"].metrics
    return found


def read(metrics: SiteMetrics) -> str:
    """What Prometheus is given."""
    registry = CollectorRegistry()
    registry.register(metrics)
    return generate_latest(registry).decode()


def values(text: str, name: str) -> dict[tuple[str, ...], float]:
    """The series of one name: values by their labels."""
    return {
        tuple(sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


def answer(client: FlaskClient, survey: Published, code: str) -> None:
    """All that a respondent's browser may ask, and what is refused, damaged or made up."""
    page = client.get(f"/s/{survey.slug}").text
    for path in re.findall(r'(?:src|href)="(/client/[^"]+)"', page)[:2]:
        assert client.get(path).status_code == 200
    client.get(f"/s/{survey.slug}/survey.json")
    client.post(f"/s/{survey.slug}/code.json", json={"invitation": code})
    body = survey.response(invitation=code)
    assert [client.post(survey.url, json=body).status_code for _ in range(2)] == [201, 200]
    client.post(survey.url, json=survey.response(invitation=code))
    client.post(survey.url, json=survey.response([9, 9]))
    client.post(survey.url, data=b'{"id": "', content_type="application/json")
    client.get(f"/s/{survey.slug}x")
    client.get("/made-up/by-a-stranger")
    client.open(f"/s/{survey.slug}", method="BREW")


def test_a_respondent_moves_nothing_before_the_hour_is_over(
    app: Flask, client: FlaskClient, survey: Published, database_url: str
) -> None:
    """The same bytes with one more respondent as without; at the hour that respondent is counted."""
    first, second = factories.invite(database_url, survey.slug, 2)
    metrics = metrics_of(app)
    answer(client, survey, first)
    metrics.counts.publish(NOON)
    without = [read(metrics) for _ in range(3)]

    answer(client, survey, second)

    assert {*without, read(metrics)} == {without[0]}
    metrics.counts.publish(NOON + HOUR)
    after = read(metrics)
    stored = "/s/<slug>/responses", "201"
    requests = "moneda_requests_total"
    assert values(without[0], requests)[stored] == 1
    assert values(after, requests)[stored] == 2
    for name in ("moneda_groups_total", "moneda_group_items_total"):
        assert values(after, name)["responses",] > values(without[0], name)["responses",]
    assert values(after, "moneda_syncs_total")[()] > values(without[0], "moneda_syncs_total")[()]


def test_counts_that_are_published_as_they_are_made_would_be_noticed(
    app: Flask, client: FlaskClient, survey: Published, database_url: str
) -> None:
    """The broken twin: it publishes whenever it is read."""
    first, second = factories.invite(database_url, survey.slug, 2)
    metrics = metrics_of(app)

    def read_live() -> str:
        metrics.counts.publish(NOON)
        return read(metrics)

    answer(client, survey, first)
    without = read_live()
    answer(client, survey, second)
    assert read_live() != without


def test_nothing_names_a_survey_a_person_or_a_process(
    app: Flask, client: FlaskClient, signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    (code,) = factories.invite(database_url, survey.slug, 1)
    answer(client, survey, code)
    signed_in.get(f"/manage/surveys/{survey.slug}")
    client.get("/ready")
    metrics = metrics_of(app)
    metrics.counts.publish(NOON)
    text = read(metrics)

    for secret in (survey.slug, survey.version, code, "made-up", "stranger", "127.0.0.1", "BREW"):
        assert secret not in text
    families = list(text_string_to_metric_families(text))
    assert all(family.name.startswith("moneda_") for family in families)
    assert not [family for family in families if family.name.endswith("_created")]
    labels = {label for family in families for sample in family.samples for label in sample.labels}
    assert labels == {"version", "part", "route", "status", "le", "queue", "of"}
    routes = {key[0] for key in values(text, "moneda_requests_total")}
    known = {rule.rule for rule in app.url_map.iter_rules()} | {"/health", "/ready", "other"}
    assert (
        {"/s/<slug>", "/s/<slug>/code.json", "/manage/surveys/<slug>", "/ready", "other"} <= routes <= known
    )


def test_before_the_first_full_hour_only_what_moves_with_nobody_is_told(
    app: Flask, client: FlaskClient, survey: Published
) -> None:
    client.post(survey.url, json=survey.response())
    families = list(text_string_to_metric_families(read(metrics_of(app))))
    told = {family.name: [sample.value for sample in family.samples] for family in families}
    hourly = {name: found for name, found in told.items() if name not in LIVE}
    assert hourly.pop("moneda_counted_until_seconds") == hourly.pop("moneda_syncs") == [0]
    assert not any(hourly.values())


def test_a_part_that_is_not_ready_is_told_at_once(app: Flask) -> None:
    assert values(read(metrics_of(app)), "moneda_ready") == {("database",): 1, ("schema",): 1, ("disk",): 1}


@pytest.mark.parametrize(
    ("minutes", "counted", "expected"),
    [
        (0, 60, True),
        (0.5, 60.5, True),
        (0, 59, True),
        (0, 58, False),  # it has just begun to count
        (1, 62, False),  # it comes late
        (37, 134, False),  # the machine was asleep
        (59.99, 119.99, False),
        (60, 60, True),
    ],
)
def test_it_is_published_on_the_hour_and_an_hour_after_the_last(
    minutes: float, counted: float, expected: bool
) -> None:
    assert is_publishing_time(NOON + minutes * 60, counted * 60) is expected


def test_a_clock_that_is_set_makes_no_hour_shorter(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of a second before the hour it is set to one hour later."""
    counts = HourlyCounts(app.extensions["moneda.engine"], {}, dict)
    begun = time.monotonic()

    def tell_time() -> float:
        passed = time.monotonic() - begun
        return NOON - 0.2 + passed + (HOUR if passed > 0.1 else 0)

    monkeypatch.setattr(time, "time", tell_time)
    counts.start()
    time.sleep(0.5)
    counts.stop()
    assert counts.copy.at == 0


def test_durations_are_counted_up_to_bounds(app: Flask) -> None:
    counts = HourlyCounts(app.extensions["moneda.engine"], {}, dict)
    for seconds in (0.001, 0.01, 0.2, 99.0):
        counts.count("/", "200", seconds)
    counts.publish(NOON)
    assert counts.copy.requests == {("/", "200"): (2, 0, 0, 1, 0, 0, 0, 1)}


# --- The port ------------------------------------------------------------------


@pytest.fixture
def watched_server(sqlite: NewDatabase) -> Iterator[tuple[Served, int]]:
    """A server with a port for metrics."""
    port = factories.free_port()
    with factories.serving(sqlite(True), MONEDA_METRICS=str(port)) as served:
        yield served, port


def fetch(port: int, path: str = "/metrics", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """What the port answers, but for its clock."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers=headers)
    found = connection.getresponse()
    said = {name: value for name, value in found.getheaders() if name != "Date"}
    body = found.read()
    connection.close()
    return found.status, said, body


def test_the_port_of_a_server_says_the_same_with_a_respondent_and_without(
    watched_server: tuple[Served, int],
) -> None:
    served, port = watched_server
    survey = factories.publish(served.database_url)
    before = fetch(port)
    assert before[0] == 200
    assert b"moneda_ready" in before[2]

    assert factories.ask(f"{served.url}/s/{survey.slug}")[0] == 200
    assert factories.ask(served.url + survey.url, survey.response())[0] == 201

    assert fetch(port) == before
    packed = fetch(port, **{"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed[2]) == before[2]
    assert factories.ask(f"{served.url}/metrics")[0] == 404


def test_the_port_is_this_machines_own_unless_the_setting_says_otherwise() -> None:
    assert from_environment({}).metrics is None
    for text, expected in (
        ("9464", Address("127.0.0.1", 9464)),
        ("0.0.0.0:9464", Address("0.0.0.0", 9464)),  # noqa: S104 - what is asked for
        ("[::1]:9464", Address("::1", 9464)),
    ):
        assert from_environment({"MONEDA_METRICS": text}).metrics == expected
    for wrong in ("x", "0", "65536", "127.0.0.1", "host:", ":x", "-1"):
        with pytest.raises(ValueError, match="MONEDA_METRICS must be a port from 1 to 65535"):
            from_environment({"MONEDA_METRICS": wrong})


def test_a_port_that_is_taken_is_named(sqlite: NewDatabase) -> None:
    # In a process of its own: setting the log up closes the handlers of all libraries that this one has loaded.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = factories.run_forked(
            sqlite(True), "serve", "--port", str(factories.free_port()), MONEDA_METRICS=str(port)
        )
    assert done.returncode == 2
    assert f"cannot serve on 127.0.0.1 port {port}" in done.stderr
    assert "choose another in MONEDA_METRICS" in done.stderr


@pytest.mark.parametrize("workers", [1, 2])
def test_the_port_of_the_site_is_not_taken_for_metrics(postgresql: NewDatabase, workers: int) -> None:
    """Nor by the last of several processes."""
    port = factories.free_port()
    done = factories.run_forked(
        postgresql(True),
        *("serve", "--workers", str(workers), "--port", str(port)),
        MONEDA_METRICS=str(port + 1 - workers),
    )
    assert done.returncode == 2
    assert f"{port} is both" in done.stderr
    assert "is on http" not in done.stdout


def test_each_worker_has_a_port(postgresql: NewDatabase) -> None:
    port = factories.free_port()
    with factories.serving(postgresql(True), workers=2, MONEDA_METRICS=str(port)):
        for place in range(2):
            while True:  # the server answers when one of its workers does; the other may still be on its way
                with suppress(ConnectionError):
                    assert fetch(port + place)[0] == 200
                    break
                time.sleep(0.05)
