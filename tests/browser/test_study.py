"""A whole study on the served site: designed, published, answered, watched, taken elsewhere.

Twenty questions of every kind, twelve strata in a tree of three levels, 5,000 made-up respondents (20,000 in
`make test-long`) of whom a quarter need an invitation. What they enter is drawn with declared shares, randomised by
the Python twin of the browser's code, and posted as a browser posts it.
"""

import csv
import io
import json
import random
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from server import reports
from server.collect import response_counts
from server.people import survey_access
from server.reports import QuestionReport, Report
from server.reports.stratum_estimates import StratumReport, Weighting
from server.simulation import Assumptions, Entered
from server.simulation.made_up_people import People, draw_people
from server.store.engines import make_engine, open_session
from server.study.definitions import Definition
from server.study.definitions.definition_reader import parse_definition
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, Desk, sign_in
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.scale import choose_size

KINDS = (
    *["yes_no"] * 6,
    *["select_one"] * 3,
    *["select_multiple"] * 2,
    *["scale"] * 4,
    *["number"] * 3,
    *["binned_number"] * 2,
)
STATES = {"North": 3, "Centre": 5, "South": 4}
PLACES = [
    f"Country > {state} > {state} {number}" for state, size in STATES.items() for number in range(1, size + 1)
]
POPULATIONS = {path: 10_000 * (place + 1) for place, path in enumerate(PLACES)}
YES = {path: 0.05 + 0.04 * place for place, path in enumerate(PLACES)}
"""The declared share of "yes" to the first question in each stratum; all other shares are the same everywhere."""
SIZES = {path: choose_size(310 + 20 * place, 1_240 + 80 * place) for place, path in enumerate(PLACES)}
"""How many answer in each stratum: in proportion to nothing, so that weights matter; 5,040 or 20,160 in all."""
CLIENTS = 8
JOINT = 1 - 1e-10
"""Confidence of an interval that none of the thousand values here leaves once in a million runs."""
MOST_MISSED = 9
"""Of the 240 questions by stratum, those with a value outside its 99.9 % interval. They are independent, and each
has at most five values: ten or more have a chance below that of Poisson's with mean 1.2, 6e-7."""

Job = tuple[str, bytes]
Rows = NDArray[np.uint8]


@dataclass(frozen=True)
class Study:
    """What the test knows of its study: by stratum the link, and the people behind it."""

    slug: str
    version: str
    definition: Definition
    links: Mapping[str, str]
    people: Mapping[str, People]
    entered: Mapping[str, Mapping[str, Entered]]


def _design_survey(page: Page) -> str:
    """Twenty questions, written in the editor as somebody would; the survey's slug."""
    desk = Desk(page)
    desk.link("New survey").click()
    desk.field("Title").fill("Work and life")
    desk.part(1, "Wording").fill("Question 1?")
    for place, kind in enumerate(KINDS[1:], start=2):
        desk.add(kind, f"Question {place}?")
        texts = desk.entry(place).locator("[name$='.text'][name*='options']")
        for number in range(texts.count()):
            texts.nth(number).fill(f"Answer {number + 1}")
    desk.await_saved()
    desk.button("Save the draft").click()
    page.get_by_role("button", name="Publish version 1").click()
    # Whoever plans for too few respondents is asked again.
    expect(page.locator("#link")).to_be_visible()
    return desk.slug


def _add_strata(page: Page, slug: str) -> dict[str, str]:
    """Twelve strata, pasted with their populations; the link of each."""
    page.goto(f"/manage/surveys/{slug}/strata")
    page.locator("#lines").fill("\n".join(f"{path}, {POPULATIONS[path]}" for path in PLACES))
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("status")).to_be_visible()
    return _links(page, slug)


def _links(page: Page, slug: str) -> dict[str, str]:
    """The link of each stratum."""
    table = page.request.get(f"/manage/surveys/{slug}/links.csv").text()
    rows = list(csv.DictReader(io.StringIO(table)))
    return {row["stratum"]: row["link"].rpartition("/")[2] for row in rows if row["stratum"]}


def _study(page: Page, slug: str, links: Mapping[str, str]) -> Study:
    """The people: as many in each stratum, all of them answering as declared."""
    published = page.request.get(f"/s/{slug}/survey.json").json()
    definition = parse_definition(page.request.get(f"/manage/surveys/{slug}/definition.json").json())
    first = definition.questions[0].name
    people = {
        path: draw_people(definition, number, Assumptions({f"{first}.yes": YES[path]}, {}))
        for path, number in SIZES.items()
    }
    entered = {path: each.find_entered() for path, each in people.items()}
    return Study(slug, published["version"], definition, links, people, entered)


def _codes(page: Page, slug: str) -> dict[str, list[str]]:
    """Codes for a quarter of the people of each stratum; from now on, nobody comes in without one, by new links."""
    page.goto(f"/manage/surveys/{slug}/schedule")
    page.get_by_label("By invitation only").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("The links that were out are closed")
    codes = {}
    for path, size in SIZES.items():
        page.goto(f"/manage/surveys/{slug}/invitations")
        page.get_by_label("How many").fill(str(size // 4))
        page.get_by_label("Name of the batch").fill(path)
        page.get_by_label("For the link of").select_option(label=path)
        page.get_by_role("button", name="Issue the codes").click()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download as a table (CSV)").click()
        rows = csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8")))
        codes[path] = [row["code"] for row in rows]
    return codes


def _jobs(
    study: Study, rows: Mapping[str, Rows], codes: Mapping[str, Sequence[str]] | None = None
) -> list[Job]:
    """The links and bodies of responses, in a random order; each with a code if there are any."""
    jobs = []
    for path, reports_sent in rows.items():
        for place, row in enumerate(reports_sent.tolist()):
            body: dict[str, Any] = {"id": secrets.token_hex(16), "version": study.version, "reports": row}
            if codes is not None:
                body["invitation"] = codes[path][place].replace("-", "")
            jobs.append((study.links[path], json.dumps(body).encode()))
    random.shuffle(jobs)
    return jobs


def _post_all(url: str, jobs: Sequence[Job]) -> list[int]:
    """One client: posts over one connection; the statuses."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=300)
    statuses = []
    for link, body in jobs:
        connection.request("POST", f"/s/{link}/responses", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
    connection.close()
    return statuses


def _post(url: str, jobs: Sequence[Job]) -> None:
    with ThreadPoolExecutor(CLIENTS) as clients:
        shares = [jobs[client::CLIENTS] for client in range(CLIENTS)]
        statuses = Counter(chain.from_iterable(clients.map(lambda share: _post_all(url, share), shares)))
    assert statuses == {201: len(jobs)}


def _report(database_url: str, slug: str, confidence: float) -> tuple[Report, dict[str, list[StratumReport]]]:
    """The report with intervals of this confidence, and every question by stratum."""
    engine = make_engine(database_url)
    with open_session(engine, writes=False) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        report = reports.read(session, survey, confidence=confidence)
        by_stratum = {entry.question.name: report.strata(entry) for entry in report.questions}
    engine.dispose()
    return report, by_stratum


def _find_missed(study: Study, by_stratum: Mapping[str, Sequence[StratumReport]]) -> dict[str, set[str]]:
    """By the path of the group, the questions with a true value outside its interval: "" is the whole country."""
    missed: dict[str, set[str]] = {}
    for name, groups in by_stratum.items():
        for group in groups:
            inside = [
                path for path in PLACES if f"{path} > ".startswith(f"{group.path} > " if group.path else "")
            ]
            assert group.report is not None
            for truth, (low, high) in _values(study, group.report, inside):
                if not low <= truth <= high:
                    missed.setdefault(group.path, set()).add(name)
    return missed


def _values(
    study: Study, entry: QuestionReport, inside: Sequence[str]
) -> Iterator[tuple[float, tuple[float, float]]]:
    """What is true of the population of some strata, and the interval, of each share and the mean."""
    entered = [study.entered[path][entry.question.name] for path in inside]
    weights = [POPULATIONS[path] for path in inside]
    for row in entry.shown:
        yield (
            float(np.average([one.shares[row.index] for one in entered], weights=weights)),
            row.interval(False),
        )
    if entry.mean is not None:
        assert entry.mean.estimate is not None
        means = np.array([one.mean for one in entered], dtype=float)
        yield float(np.average(means, weights=weights)), entry.mean.estimate.interval


def _count_shown(database_url: str, slug: str) -> int:
    """How many responses are shown to anybody."""
    engine = make_engine(database_url)
    with open_session(engine, writes=False) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        shown = sum(response_counts.count_shown(session, survey).values())
    engine.dispose()
    return shown


@pytest.mark.scaled
def test_a_study_from_the_editor_to_another_installation(
    open_page: Opener, installation: factories.Served, sqlite: NewDatabase
) -> None:
    page = open_page(**DESK)
    sign_in(page, installation.database_url)
    slug = _design_survey(page)
    links = _add_strata(page, slug)
    assert list(links) == PLACES
    study = _study(page, slug, links)
    assert len(study.definition.questions) == 20
    assert {question.kind for question in study.definition.questions} == set(KINDS)

    watched = open_page(**DESK)
    sign_in(watched, installation.database_url)
    sent = {path: people.reports() for path, people in study.people.items()}
    invited = {path: size // 4 for path, size in SIZES.items()}
    total = sum(SIZES.values())
    assert total >= choose_size(5_000, 20_000)
    _post(installation.url, _jobs(study, {path: rows[invited[path] :] for path, rows in sent.items()}))
    watched.goto(f"/manage/surveys/{slug}/results")
    count = watched.locator("#live .figures dd").first
    shown = _count_shown(installation.database_url, slug)
    waiting = 2 * 10 * len(PLACES)  # twice the minimum that a new survey has, by each link
    assert 0 < total - sum(invited.values()) - shown < waiting
    expect(count).to_have_text(f"{shown:,}")

    codes = _codes(page, slug)
    invitations = replace(study, links=_links(page, slug))
    assert not set(invitations.links.values()) & set(links.values())
    _post(
        installation.url,
        _jobs(invitations, {path: rows[: invited[path]] for path, rows in sent.items()}, codes),
    )
    # Nobody loaded this page again: it looked for itself.
    shown = _count_shown(installation.database_url, slug)
    assert 0 < total - shown < waiting
    expect(count).to_have_text(f"{shown:,}", timeout=30_000)
    open_page.close(watched)

    # Closing shows those that waited.
    page.goto(f"/manage/surveys/{slug}")
    page.get_by_text("Close the survey").click()
    page.get_by_role("button", name="Close it now").click()
    expect(page.get_by_text("Close the survey")).to_have_count(0)
    report, by_stratum = _report(installation.database_url, slug, JOINT)
    assert report.n == total
    assert {len(groups) for groups in by_stratum.values()} == {1 + 1 + 3 + 12}
    assert {groups[0].weighting for groups in by_stratum.values()} == {Weighting.BY_POPULATION}
    assert _find_missed(study, by_stratum) == {}
    missed = _find_missed(study, _report(installation.database_url, slug, 0.999)[1])
    # As in tests/test_kinds_estimates.py: four of twenty questions would miss once in a million runs.
    assert len(missed.get("", ())) <= 3
    assert sum(len(missed.get(path, ())) for path in PLACES) <= MOST_MISSED

    page.goto(f"/manage/surveys/{slug}/keeping")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export everything").click()
    with factories.serving(sqlite(True)) as elsewhere:
        there = open_page(**DESK, base_url=elsewhere.url)
        sign_in(there, elsewhere.database_url)
        there.goto("/manage/surveys/import")
        there.locator("#definition").set_input_files(
            {
                "name": "study.zip",
                "mimeType": "application/zip",
                "buffer": Path(download.value.path()).read_bytes(),
            }
        )
        there.locator("main form button").click()
        there.wait_for_url("**/manage/surveys/import")
        for name in ("report.csv", "responses.csv"):
            mine, theirs = (who.request.get(f"/manage/surveys/{slug}/{name}").text() for who in (page, there))
            assert theirs == mine, name
            assert mine
        mine, theirs = (
            who.request.get(f"/manage/surveys/{slug}/report.json").json() for who in (page, there)
        )
        # What was switched before is told by the log, which stays where it was written.
        admitted = {"version": 1, "strata": None}
        assert mine.pop("admission") == [{**admitted, "ways": ["invitation", "link"], "known": True}]
        assert theirs.pop("admission") == [{**admitted, "ways": ["invitation"], "known": False}]
        # Codes of a closed survey stay where they were issued; some here came without one, so there is no rate.
        assert (mine.pop("invited")["used"], theirs.pop("invited")) == (None, None)
        assert theirs == mine
