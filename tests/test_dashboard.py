"""Files for Grafana and Prometheus: their series are published, all that are published shown, each alarm explained."""

import json
import re
from typing import Any

import pytest
import yaml
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from tests.support import factories
from tests.support.factories import ROOT, Published
from tests.test_metrics import NOON, metrics_of, read

DEPLOY = ROOT / "docs" / "deploy"
ALERTS: Any = yaml.safe_load((DEPLOY / "prometheus-alerts.yaml").read_text("utf-8"))
DASHBOARD: Any = json.loads((DEPLOY / "grafana-dashboard.json").read_text("utf-8"))
RULES: Any = [rule for group in ALERTS["groups"] for rule in group["rules"]]
SHOWN = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


@pytest.fixture
def published_labels(
    app: Flask, client: FlaskClient, survey: Published, database_url: str
) -> dict[str, set[str]]:
    """The labels of every series that a site publishes once all of it was used."""
    (code,) = factories.invite(database_url, survey.slug, 1)
    client.get(f"/s/{survey.slug}")
    client.get(f"/s/{survey.slug}")  # from memory: what it depends on is looked up
    client.post(f"/s/{survey.slug}/code.json", json={"invitation": code})
    client.post(survey.url, json=survey.response(invitation=code))
    metrics = metrics_of(app)
    metrics.counts.publish(NOON)
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(read(metrics)):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def list_series(expression: str) -> set[str]:
    return set(re.findall(r"\bmoneda_\w+", expression))


def test_every_series_of_the_dashboard_and_the_alarms_is_published(
    published_labels: dict[str, set[str]],
) -> None:
    alarmed = [rule["expr"] for rule in RULES]
    assert {name for text in SHOWN for name in list_series(text)} == published_labels.keys()
    assert {name for text in alarmed for name in list_series(text)} <= published_labels.keys()


def test_what_they_group_by_and_name_are_labels_of_these_series(
    published_labels: dict[str, set[str]],
) -> None:
    given = {"instance", "job"}  # by Prometheus
    named = [
        (target["expr"], target["legendFormat"])
        for panel in DASHBOARD["panels"]
        for target in panel["targets"]
    ]
    named += [(rule["expr"], rule["annotations"]["summary"]) for rule in RULES]
    for expression, words in named:
        known = given.union(*(published_labels[name] for name in list_series(expression)))
        grouped = re.findall(r"by \(([^)]+)\)", expression)
        used = {label.strip() for group in grouped for label in group.split(",")}
        used |= set(re.findall(r"[{,](\w+)[=!~]", expression))
        used |= set(re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", words))
        assert used <= known, expression


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    assert DASHBOARD["uid"] == "moneda"
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    (source,) = [each for each in DASHBOARD["templating"]["list"] if each["type"] == "datasource"]
    sources = {panel["datasource"]["uid"] for panel in DASHBOARD["panels"]}
    assert sources == {f"${{{source['name']}}}"}
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24


def test_the_page_on_operating_says_what_to_do_when_each_alarm_rings() -> None:
    text = (ROOT / "docs" / "operating.md").read_text("utf-8")
    table = text.split("| alarm | what to do |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == {rule["alert"] for rule in RULES}
