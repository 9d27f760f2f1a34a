"""Somebody who opens every page of the site in every state that it can be in."""

import html
import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from datetime import date, timedelta
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode, urlsplit

import pyotp
import sqlalchemy as sa

from server.people import change_log, sign_ins, survey_access
from server.reports.formats import FORMATS, PAGE
from server.simulation import Assumptions, simulate
from server.store.models import RecoveryCode, Researcher, Search, Stratum, Survey, Untidied
from server.store.own_tables import batches_of
from server.study import surveys
from tests.support import factories, sample_archives, sample_xlsforms
from tests.support.catalogue_words import pseudo
from tests.support.collecting_pages import walk_collecting
from tests.support.compared_pages import walk_compared
from tests.support.completion_pages import walk_completions
from tests.support.folded_parts import ALL_OPEN
from tests.support.foreign_data import walk_foreign_data
from tests.support.form_client import end_fields
from tests.support.lesson_pages import walk_lessons
from tests.support.respondent_pages import walk_respondents
from tests.support.retention_pages import walk_retention
from tests.support.sign_in_form import FIREFOX
from tests.support.study_pages import walk_study
from tests.support.ticket_pages import walk_tickets
from tests.support.wave_pages import walk_waves
from tests.support.webhook_pages import walk_webhooks

SPANISH = {"Accept-Language": "es"}
NOTHING: Mapping[str, object] = MappingProxyType({})
BUSY = 5
"""How often an import is tried."""
FOLDED = 5
"""How often a page with folded parts is shown folded first; what stands for a folded part is always the same."""


class Reader:
    """A browser that reads Spanish, follows redirects and keeps every page that it was shown."""

    def __init__(self, site: factories.Served, secret: str = "") -> None:
        self.host = urlsplit(site.url).netloc
        self.cookies: SimpleCookie = SimpleCookie()
        self.pages: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.requests: list[tuple[str, str]] = []
        self.folded: Counter[str] = Counter()
        self.status = 0
        if secret:
            self.get(f"/manage/sign-in/{secret}")
            self.post(f"/manage/sign-in/{secret}")

    def get(self, path: str) -> None:
        self._ask("GET", path)

    def post(self, path: str, body: bytes | Mapping[str, object] = NOTHING, **headers: str) -> None:
        if isinstance(body, Mapping):
            body = urlencode(end_fields(body.items()), doseq=True).encode()
            headers["Content_Type"] = "application/x-www-form-urlencoded"
        self._ask("POST", path, body, {name.replace("_", "-"): value for name, value in headers.items()})

    def send(self, form: tuple[bytes, str]) -> None:
        """Import a file, again where the server says that it is busy."""
        for _ in range(BUSY):
            self.post("/manage/surveys/import", form[0], Content_Type=form[1])
            if self.status != 503:
                return
            time.sleep(1)

    @property
    def last(self) -> str:
        """The page that was shown last."""
        return list(self.pages.values())[-1]

    def _ask(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = SPANISH) -> None:
        page = urlsplit(path).path.rpartition("/")[2]
        if method == "GET" and self.folded[page] >= FOLDED and ALL_OPEN not in path:
            path = _open_all(path)
        cookies = "; ".join(f"{cookie.key}={cookie.value}" for cookie in self.cookies.values())
        with closing(HTTPConnection(self.host, timeout=60)) as connection:
            connection.request(method, path, body, {**SPANISH, **headers, "Cookie": cookies})
            answer = connection.getresponse()
            content, kind = answer.read(), answer.headers.get_content_type()
        self.requests.append((method, path))
        self.status = answer.status
        self.cookies.load(answer.getheader("Set-Cookie", ""))
        seen = f"{len(self.requests)}. {method} {path}: {answer.status}"
        if answer.status in (302, 303):
            self.get(answer.headers["Location"])
        elif kind == "text/html":
            self.pages[seen] = content.decode()
            for later in re.findall('data-screens="([^"]+)"', self.pages[seen]):
                self.get(html.unescape(later))
            if 'class="not-here"' in self.pages[seen] and ALL_OPEN not in path:
                self.folded[page] += 1
                self.get(_open_all(path))
        elif answer.status >= 400:
            refused = json.loads(content)
            problems = refused["errors"] if kind == "application/problem+json" else [refused["error"]]
            self.errors[seen] = " ".join(problem["message"] for problem in problems)


def _open_all(path: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}{ALL_OPEN}"


def wrapped_definition(title: str = "Exams") -> dict[str, Any]:
    """A definition whose own texts are in brackets, so that they pass for translated."""
    questions = [
        factories.question(name, pseudo(f"{name}?"), gamma) for name, gamma in (("a", 0.25), ("b", 0.25))
    ]
    own = {"title": pseudo(title), "introduction": pseudo("Who asks"), "language": "es"}
    return factories.definition(**own, questions=questions)


def walk_margins(owner: Reader, database: str) -> None:
    """Results that are as precise as planned, or not yet, for one check or many; weighted too."""
    for margin in (0.5, 0.01):
        plan = {"respondents": 1_000, "margin": margin}
        ordinal = {
            **{
                "name": "c",
                "kind": "scale",
                "text": pseudo("c"),
                "design": {"mechanism": "ordinal", "epsilon": 3},
            },
            "options": [{"name": f"o{place}", "text": pseudo(f"level {place}")} for place in range(3)],
        }
        document = wrapped_definition()
        document = {**document, "questions": [*document["questions"], ordinal], "plan": plan}
        survey = factories.publish(database, document)
        names = pseudo("north"), pseudo("south")
        links = factories.plant(database, survey.slug, "\n".join(f"{name}; 1000" for name in names))
        for link in links.values():
            factories.store(database, survey, [([1, 1, 1], 200), ([0, 0, 2], 300)], link)
        factories.close(database, survey.slug)
        for query in ("", "?interval=anytime"):
            owner.get(f"/manage/surveys/{survey.slug}/results{query}")


def fill_editor(title: str, *wordings: str, action: str = "save", **more: str) -> dict[str, object]:
    """The fields of the editor for a survey of yes/no questions."""
    fields: dict[str, object] = {
        "title": title,
        "introduction": "",
        "language": "es",
        "action": action,
        **more,
    }
    for place, wording in enumerate(wordings):
        entry = f"questions[{place}]"
        fields |= {f"{entry}.kind": "yes_no", f"{entry}.text": wording}
        fields[f"{entry}.design.mechanism"] = "coin_flip"
    return fields


def everything() -> dict[str, Any]:
    """A survey of every kind and design, with conditions, whose own words are known again."""

    def make_options(*names: str) -> list[dict[str, str]]:
        return [{"name": name, "text": pseudo(name)} for name in names]

    devices: list[dict[str, Any]] = [
        {"mechanism": "warner", "truth": 0.7},
        {"mechanism": "forced_response", "truth": 0.5, "yes": 0.25},
        {"mechanism": "unrelated_question", "truth": 0.5, "prevalence": 0.5, "innocuous": pseudo("harmless")},
        {"mechanism": "kuk", "if_yes": 0.7, "if_no": 0.3},
        {"mechanism": "crosswise", "prevalence": 0.25, "innocuous": pseudo("harmless")},
        # One of 100 people has a sentence of its own.
        {"mechanism": "kuk", "if_yes": 0.7, "if_no": 0.01},
        {"mechanism": "crosswise", "prevalence": 0.99, "innocuous": pseudo("harmless")},
    ]
    grid = {"low": 0, "high": 10, "step": 1, "unit": pseudo("hours")}
    entries: list[dict[str, Any]] = [
        *({"kind": "yes_no", "control": True, "design": device} for device in devices),
        {"kind": "yes_no", "prefer_not_to_say": True, "design": {"mechanism": "k_ary", "epsilon": 1}},
        {"kind": "number", **grid, "design": {"mechanism": "stochastic_rounding", "epsilon": 4.6}},
        {"kind": "binned_number", **grid, "cuts": [5], "design": {"mechanism": "best_choice", "epsilon": 1}},
        {"kind": "section", "body": pseudo("body")},
        {"kind": "text"},
        {"kind": "check", "options": make_options("a", "b"), "correct": "a", "feedback": pseudo("feedback")},
    ]
    refused = {"show_if": {"question": "e7", "any_of": ["prefer_not_to_say"]}}
    unsaid = {"prefer_not_to_say": True, "otherwise": 0}
    entries += [
        {"kind": "select_multiple", "options": make_options("a", "b"), "design": {"mechanism": "coin_flip"}},
        {"kind": "number", **grid, "design": {"mechanism": "stochastic_rounding"}, **refused, **unsaid},
    ]
    entries[-2] |= {"show_if": {"question": "e8", "from": 1, "to": 2}, "otherwise": []}
    entries += [
        {"kind": "select_one", "options": make_options("a", "b"), "design": {"mechanism": mechanism}}
        for mechanism in ("k_ary", "unary", "symmetric_unary")
    ]
    many = make_options(*(f"o{place}" for place in range(30)))
    best = {"mechanism": "best_choice", "epsilon": 1}
    entries.append({"kind": "select_one", "options": many, "design": best})
    entries += [
        {"kind": "scale", "options": make_options("a", "b", "c"), "design": {"mechanism": mechanism}}
        for mechanism in ("ordinal", "k_ary")
    ]
    entries[-1] |= {**refused, "otherwise": "a"}
    named = [{"name": f"e{place}", "text": pseudo("asked"), **entry} for place, entry in enumerate(entries)]
    fixed = {"format": 1, "language": "es", "title": pseudo("All"), "introduction": ""}
    return {**fixed, "budget": 100, "questions": named}


def telling() -> dict[str, Any]:
    """A survey whose results give reason for every remark, depending on what arrives."""

    def make_options(*names: str) -> list[dict[str, str]]:
        return [{"name": name, "text": pseudo(name)} for name in names]

    coin = {"mechanism": "coin_flip", "gamma": 0.25}
    control = {"kind": "yes_no", "control": True, "design": coin}
    number = {"kind": "number", "low": 0, "high": 10, "step": 1}
    number["design"] = {"mechanism": "stochastic_rounding", "epsilon": 1}
    chosen = {"kind": "select_one", "options": make_options("a", "b", "c")}
    chosen["design"] = {"mechanism": "k_ary", "epsilon": 1}
    ticked = {"kind": "select_multiple", "options": make_options("a", "b"), "otherwise": ["a"]}
    ticked |= {
        "design": {"mechanism": "coin_flip", "epsilon": 2},
        "show_if": {"question": "e4", "any_of": ["a"]},
    }
    entries = [control, control, control, {"kind": "yes_no", "design": coin}, chosen, number]
    entries += [
        {**number, "unit": pseudo("h"), "prefer_not_to_say": True},
        ticked,
        {**ticked, "otherwise": []},
    ]
    named = [{"name": f"e{place}", "text": pseudo("asked"), **entry} for place, entry in enumerate(entries)]
    return {**factories.definition(title=pseudo("Told")), "language": "es", "questions": named}


def walk_results(owner: Reader, site: factories.Served) -> None:
    """Results and trials of every kind of question, with every remark on them."""
    database = site.database_url
    walk_headlines(owner, database)
    survey = factories.publish(database, everything())
    owner.get(f"/s/{survey.slug}")
    for respondents in (0, 40):
        with factories.writing(database) as session:
            found = survey_access.find(session, survey.slug)
            assert found is not None
            for _ in simulate(session, found, respondents, Assumptions()) if respondents else ():
                pass
            found.simulated = False
        for page in ("", "/results", "/report.html", "/simulate"):
            owner.get(f"/manage/surveys/{survey.slug}{page}")
    # Above and below what chance explains, within it; everybody, nobody, one in four; no number at all.
    for responses in (3, 80):
        told = factories.publish(database, telling())
        for place in range(responses):
            reports = [1, 0, int(place % 4 == 0), int(responses == 3), 0, 1, 2, 1, 1, 0, 0]
            _respond(site, told, reports)
        owner.get(f"/manage/surveys/{told.slug}/results")
        owner.get(f"/manage/surveys/{told.slug}/report.html")
    owner.get(f"/manage/surveys/{told.slug}/explain")  # answers of every kind
    owner.get(f"/manage/surveys/{survey.slug}/results?row=q1&column=q1")
    for row, column in (("e0", "e0"), ("e5", "e0"), ("e5", "e5")):
        owner.get(f"/manage/surveys/{told.slug}/results?row={row}&column={column}")
    # Two answers that go together, or keep apart, or of which nothing is told.
    few = factories.publish(database, wrapped_definition())
    factories.store(database, few, [([1, 1], 20), ([1, 0], 15), ([0, 1], 15), ([0, 0], 20)])
    owner.get(f"/manage/surveys/{few.slug}/results?row=a&column=b")
    for asked in ("", "?explain=a&by=b", "?by=b"):
        owner.get(f"/manage/surveys/{few.slug}/explain{asked}")
    weekly = factories.publish(database, wrapped_definition())
    for day in (date(2026, 5, 4), date(2026, 5, 11)):
        factories.store(database, weekly, [([1, 1], 20), ([0, 0], 20)], day=day)
    for asked in ("by=week", "by=trend", "by=week&by=trend"):
        owner.get(f"/manage/surveys/{weekly.slug}/explain?explain=a&{asked}")
    for same, other in ((4000, 1000), (1000, 4000), (400, 400)):
        paired = factories.publish(database, wrapped_definition())
        factories.store(database, paired, [([1, 1], same), ([0, 0], same), ([1, 0], other), ([0, 1], other)])
        for page in ("results", "crossing.svg", "crossing.png", "groups.png", "groups.csv", "crossing.csv"):
            owner.get(f"/manage/surveys/{paired.slug}/{page}?row=a&column=b")
        number = {
            **{"name": "n", "kind": "number", "text": pseudo("n"), "low": 0, "high": 10, "step": 1},
            "design": {"mechanism": "stochastic_rounding", "epsilon": 3},
        }
        asked = [wrapped_definition()["questions"][0], number]
        paired = factories.publish(database, {**wrapped_definition(), "questions": asked})
        alike = (
            2500 + (same - other) // 4
        )  # the coins leave less to be seen of a number: more would be impossible
        unlike = 5000 - alike
        rows = [([1, 1], alike), ([0, 0], alike), ([1, 0], unlike), ([0, 1], unlike)]
        factories.store(database, paired, rows)
        for page in ("results", "groups.svg", "crossing.svg"):
            owner.get(f"/manage/surveys/{paired.slug}/{page}?row=a&column=n")
    owner.get(f"/manage/surveys/{paired.slug}/groups.svg")  # of nothing
    walk_margins(owner, database)
    trial = f"/manage/surveys/{told.slug}/simulate"
    owner.post(trial, {"respondents": "1"})
    owner.post(trial, {"respondents": "20", "share e3.yes": "40", "mean e5": "3"})
    owner.post(trial, {"respondents": "0", "share e3.yes": "101", "mean e5": "11", "mean e6": "x"})
    owner.post(
        trial,
        {"respondents": "1.5", "share e4.a": "90", "share e4.b": "90", "share e6.prefer_not_to_say": "-1"},
    )
    for respondents, margin in ((100, 0.05), (10_000_000, 0.5)):
        plan = {"respondents": respondents, "margin": margin}
        planned = factories.draft(database, {**everything(), "plan": plan})
        owner.get(f"/manage/surveys/{planned}")
        owner.get(f"/manage/surveys/{planned}/edit")
        owner.post(f"/manage/surveys/{planned}/publish")
    walk_strata(owner, database)
    walk_compared(owner, database)
    walk_waves(owner, database)
    walk_collecting(owner, database)


def walk_headlines(owner: Reader, database: str) -> None:
    """First screens: one answer or several, Yes or not, under each headline; groups; what is said before."""
    answers = [{"name": f"o{place}", "text": pseudo(f"option {place}")} for place in range(3)]
    chosen = {"name": "chosen", "kind": "select_one", "text": pseudo("chosen"), "options": answers}
    surveys_of = [[0.25], [0.4], [0.48], [0.499], [0.1] * 2, [0.25] * 2, [0.3] * 3, [0.49] * 3]
    documents = [
        factories.definition(gammas, title=pseudo("Headline"), language="es") for gammas in surveys_of
    ]
    design = {"mechanism": "k_ary", "epsilon": 1}
    documents.append(
        factories.definition(title=pseudo("Chosen"), language="es", questions=[{**chosen, "design": design}])
    )
    for document in documents:
        for entry in document["questions"]:
            entry["text"] = pseudo(entry["text"])
        survey = factories.publish(database, document)
        owner.get(f"/s/{survey.slug}")
    groups = factories.plant(database, survey.slug, f"{pseudo('One')}; 1\n{pseudo('More')}; 1200")
    for slug in groups.values():
        owner.get(f"/s/{slug}")
    # Before publishing: one weak question, the same one twice, brackets that nobody filled in.
    same = [factories.question(name, pseudo("Same?"), 0.4) for name in ("a", "b")]
    left = {"title": pseudo("Left"), "language": "es", "introduction": f"[{pseudo('your name')}]"}
    for questions in (same[:1], same):
        home = (
            f"/manage/surveys/{factories.draft(database, factories.definition(questions=questions, **left))}"
        )
        owner.get(home)
        owner.get(f"{home}/edit")
        owner.post(f"{home}/publish")


def walk_strata(owner: Reader, database: str) -> None:
    """Live results of two versions and of strata: withheld, left out, weighted or not; pairs of questions."""

    def make_questions(*gammas: float, more: bool = False) -> dict[str, Any]:
        questions = [
            factories.question(f"q{place}", pseudo(f"asked {place}"), gamma)
            for place, gamma in enumerate(gammas)
        ]
        many = [{"name": f"o{place}", "text": pseudo(f"option {place}")} for place in range(13)]
        design = {"mechanism": "k_ary", "epsilon": 3}
        questions += [
            {
                "name": f"m{place}",
                "kind": "select_one",
                "text": pseudo("many"),
                "options": many,
                "design": design,
            }
            for place in range(2 if more else 0)
        ]
        questions += [
            {
                "name": "cups",
                "kind": "number",
                "text": pseudo("cups"),
                **{"low": 0, "high": 10, "step": 1, "prefer_not_to_say": True},
                "design": {"mechanism": "stochastic_rounding", "epsilon": 3},
            }
        ]
        return {**factories.definition(title=pseudo("Strata"), questions=questions), "language": "es"}

    def rows(*counts: int) -> list[tuple[list[int], int]]:
        """Both, the first only, the second only, neither; nobody gave a number to the last of them."""
        reports = [1, 1, 0], [1, 0, 1], [0, 1, 0], [0, 0, 2]
        return list(zip(reports, counts, strict=False))

    glass = dict(make_questions(more=True)["questions"][-1])
    del glass["prefer_not_to_say"]
    high, low = (factories.publish(database, {**make_questions(), "questions": [glass]}) for _ in range(2))
    owner.get(f"/manage/surveys/{high.slug}/figure.svg")  # of nothing yet
    factories.plant(database, high.slug, "\n".join(pseudo(f"of many {place}") for place in range(25)))
    # About as many as if everybody had entered the most, and the least.
    factories.store(database, high, [([1], 953), ([0], 47)])
    factories.store(database, low, [([1], 47), ([0], 953)])
    for page in ("results", "figure.csv", "figure.png"):
        owner.get(f"/manage/surveys/{high.slug}/{page}")
    owner.get(f"/manage/surveys/{low.slug}/results")
    owner.get(f"/manage/surveys/{low.slug}/explain")  # a number alone
    levels = [{"name": f"o{place}", "text": pseudo(f"level {place}")} for place in range(33)]
    scale = {"kind": "scale", "options": levels, "design": {"mechanism": "ordinal", "epsilon": 3}}
    scales = [{"name": name, "text": pseudo(name), **scale} for name in ("a", "b")]
    long = factories.publish(database, {**make_questions(), "questions": scales})
    factories.store(database, long, [([k, 32 - k], 1) for k in range(33)])
    for page in ("results", "crossing.svg"):
        owner.get(f"/manage/surveys/{long.slug}/{page}?row=a&column=b")
    plan = {"plan": {"respondents": 900, "margin": 0.1}}
    survey = factories.publish(database, {**make_questions(0.25, 0.25), **plan}, minimum=10)
    factories.store(database, survey, rows(*[100] * 4))
    owner.get(f"/manage/surveys/{survey.slug}/results?row=q0&column=q1")
    small = factories.publish(
        database, {**make_questions(0.25), "plan": {"respondents": 20, "margin": 0.1}}, minimum=10
    )
    home = f"/manage/surveys/{small.slug}"
    factories.plant(database, small.slug, pseudo("A"))
    factories.store(database, small, [([1], 4)])
    owner.get(home)  # fewer are planned than may wait
    factories.close(database, small.slug)
    owner.get(f"{home}/results")
    owner.get(f"{home}/report.json")
    survey = factories.publish(database, {**make_questions(0.25, 0.25), **plan}, minimum=10)
    home = f"/manage/surveys/{survey.slug}"
    factories.store(database, survey, rows(4))
    owner.get(f"{home}/results")
    owner.get(f"{home}/report.json")
    a, b, c = (pseudo(name) for name in "ABC")
    links = factories.plant(database, survey.slug, f"{a} > {b}, 90\n{a} > {c}, 10\n{b}")
    first, second, other = (links[path] for path in (f"{a} > {b}", f"{a} > {c}", b))
    newer = factories.publish(database, make_questions(0.2, 0.25, more=True), survey.slug)
    factories.store(database, newer, [([1, 1, 0, 0, 0], 3)], first)
    for page in ("results", "results?row=q0&column=q1", "report.html", "strata", "edit", "keeping", ""):
        owner.get(f"{home}/{page}".removesuffix("/"))
    # From here on all are shown that are not too few.
    factories.close(database, survey.slug)
    owner.get(f"{home}/results")
    for day, counts in enumerate([(240, 210, 210, 340), (20, 10, 10, 10)], start=1):
        factories.store(database, survey, rows(*counts), first, date(2026, 5, day))
    factories.store(database, survey, rows(0, 0, 0, 50), second, date(2026, 5, 3))
    # Left out: a version, and those without stratum. No population of one, then of all.
    for _ in range(2):
        for query in (
            "",
            "?row=q0&column=q1",
            "?row=q0&column=q1&column_answer=q1-0",
            "?question=cups&figure=mean",
        ):
            owner.get(f"{home}/results{query}")
        owner.get(f"{home}/report.html")
        factories.plant(database, survey.slug, f"{b}, 40")
    factories.store(database, survey, rows(30, 10, 10, 10), other, date(2026, 5, 8))
    owner.get(f"{home}/results")  # weighted
    owner.get(f"{home}/results?row=q0&column=q1&interval=once")
    both = [([1, 1, 0, 0, 0], 300), ([0, 0, 12, 12, 1], 500), ([1, 0, 1, 0, 2], 20)]
    factories.store(database, newer, both, second, date(2026, 5, 9))
    factories.store(database, survey, rows(9, 9), "", date(2026, 5, 9))
    small = factories.plant(database, survey.slug, f"{c} > {a}, 40\n{c} > {b}, 40")[f"{c} > {a}"]
    factories.store(database, survey, rows(4), small)
    for query in ("", "?row=m0&column=m1", "?version=1", "?row=q0&column=cups", "?interval=x"):
        owner.get(f"{home}/results{query}")
    owner.get(f"{home}/report.html")
    factories.settle(database, survey.slug, cap=5000)
    factories.plant(database, survey.slug, "\n".join(f"{c} > {pseudo(str(place))}" for place in range(300)))
    for page in ("results", "report.html", "strata.csv", "strata.csv?question=cups"):
        owner.get(f"{home}/{page}")


def walk_weighting(owner: Reader, site: factories.Served) -> None:
    """Results of strata that are weighted by population, and of those that for one reason or another are not."""
    database = site.database_url
    north, south = pseudo("North"), pseudo("South")
    for lines, each in (("{0}\n{1}", 5), ("{0}, 500\n{1}, 300", 1), ("{0}, 500\n{1}, 300", 5)):
        survey = factories.publish(database, wrapped_definition(), minimum=5)
        links = factories.plant(database, survey.slug, lines.format(north, south)).values()
        for link in ("", *links):
            factories.store(database, survey, [([1, 0], each if link else 5)], link)
        factories.close(database, survey.slug)
        home = f"/manage/surveys/{survey.slug}"
        for since in ({}, {"populations_since": None}):
            factories.settle(database, survey.slug, **since)
            for query in ("", "?interval=anytime"):
                owner.get(f"{home}/results{query}")


def walk_releases(owner: Reader, stranger: Reader, site: factories.Served) -> Reader:
    """The budget, plans of every kind and division, releases, and the public report; who else was there."""
    database = site.database_url
    survey = factories.publish(database, everything())
    home = f"/manage/surveys/{survey.slug}/releases"
    viewer = Reader(site, factories.link_of(database, number := factories.account(database, "eva")))
    factories.join(database, survey.slug, number, "viewer")
    for reader in (owner, viewer):
        reader.get(home)
    owner.get(f"{home}/new")
    owner.post(f"{home}/exact")
    owner.post(f"{home}/budget", {"epsilon": "0", "delta": "1", "neighbours": "x"})
    north, south = pseudo("North"), pseudo("South")
    factories.plant(database, survey.slug, f"{north}\n{south}")
    with factories.writing(database) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        for _ in simulate(session, found, 60, Assumptions()):
            pass
        found.simulated = False

    def item(kind: str, *questions: str, **more: object) -> str:
        document = {"kind": kind, **({"questions": questions} if questions else {}), **more}
        return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))

    def look(items: list[str], press: Mapping[str, str] | None = None, **more: object) -> None:
        """Look at a plan; then pay for it where the page lets one."""
        form: dict[str, object] = {"item": items, "epsilon": "0.5", "people": "60", **more}
        owner.post(f"{home}/new", form)
        hidden = dict(re.findall(r'name="(plan|looked|cells)" form="builder" value="([^"]+)"', owner.last))
        if press is not None:
            owner.post(
                home, {**form, **{name: html.unescape(text) for name, text in hidden.items()}, **press}
            )

    def state(neighbours: str, delta: str = "0.0005", epsilon: str = "90") -> None:
        owner.post(f"{home}/budget", {"epsilon": epsilon, "delta": delta, "neighbours": neighbours})

    count, yes = item("count"), item("share", "e0", option="yes")
    state("unbounded")
    for page in ("", "?said=budget", "/new"):
        owner.get(f"{home}{page}")
    viewer.get(home)
    look([])
    look([count], epsilon="90")
    look([count, yes], division="errors")
    look([count, yes, item("mean", "e8"), item("mean", "e19")], division="proportions")
    errors = {f"amount {each}": "3" for each in (count, yes, item("mean", "e8"))}
    look([count, yes, item("mean", "e8")], division="errors", **errors)
    look([count, yes, item("mean", "e8")], division="errors", **{**errors, f"amount {count}": "x"})
    look([count], people="", epsilon="0.00001")
    look([yes], people="")
    look([item("mean", "e99")])
    look([], side1="e0", action="table")
    look([], side1="e0", side2="e1", action="table")
    look([], exceeding="e0", share="10", positives="0", action="exceeding")
    look([], exceeding="e0", share="10", positives="1", action="exceeding")
    look([item("exceeding", "e20", positives=1, share="0.1"), item("mean", "e8", by_stratum=True)])
    look([], stratum="", part=count, action="part")
    mean = item("mean", "e8")
    look([mean], **{f"noise {mean}": "gaussian", "delta": "0.0006"})
    wanted = [
        *(count, yes, mean, item("hierarchy"), item("histogram", "e20"), item("most_common", "e20")),
        item("top", "e20", how_many=2),
        *(item("table", "e0", "e1"), item("table", "e0", by_stratum=True), item("share", "e20", option="a")),
        *(
            item("exceeding", "e0", "e1", positives=1, share="0.1", values=True),
            item("count", stratum=[north]),
        ),
    ]
    noises = {f"noise {count}": "laplace", f"noise {mean}": "gaussian", "delta": "0.0001"}
    noises[f"noise {item('most_common', 'e20')}"] = "exponential"
    look(wanted, {}, **noises)
    look(wanted, {"sure": "yes", "people": "61"}, **noises)
    look(wanted, {"sure": "yes"}, **noises)
    look(wanted, {"sure": "yes"}, **noises)
    for form in ({}, {"share": "10", "epsilon": "0.5"}, {"limit": "3", "epsilon": "0.5", "most": "9"}):
        for path in ("", "/price"):
            owner.post(f"{home}/searches{path}", form)
    for reader in (owner, viewer):
        reader.get(f"{home}/searches")
    owner.get(f"{home}/searches/1")
    owner.post(f"{home}/plan.json", {"item": [count], "epsilon": "1"})
    owner.post(f"{home}/plan.json", {"item": [count], "epsilon": "x"})
    look([item("count", stratum=[south])], {"sure": "yes"})
    look([item("mean", "e14")], epsilon="90")
    look([yes], epsilon="90")
    other = item("mean", "e14")
    look([other], **{f"noise {other}": "gaussian", "delta": "0.0005"})
    state("bounded")
    owner.get(f"{home}/1?said=known")
    for file in re.findall(r"/figure\.\w+\?[^\"]+", owner.last):
        owner.get(home + html.unescape(file))
    owner.get(f"{home}/99")
    owner.get(f"/manage/surveys/{survey.slug}/log")
    owner.post(f"{home}/link")
    for reader in (owner, viewer):
        reader.get(home)
    address = re.findall(r"/r/\w{12}", owner.last)[0]
    for ending in FORMATS:
        stranger.get(address if ending == PAGE else f"{address}/report.{ending}")
        owner.get(f"/manage/surveys/{survey.slug}/report.{ending}")
    stranger.get(address)
    figures = sorted(set(re.findall(r"/figure/[0-9a-z_-]+", stranger.last)))
    beside = (f"/figure/{entry}-e0" for entry in range(1, 13))  # what other entries say of the same
    pictures = (*(f"{figure}.svg" for figure in figures), f"{figures[0]}.png")
    for figure in (*figures, *beside, *pictures, "/figure/nothing", "/card.png"):
        stranger.get(f"{address}{figure}")
    for file in ("microdata.zip", "responses.sav", "responses.dta?language=?", "ddi.xml"):
        owner.get(f"/manage/surveys/{survey.slug}/{file}")
    owner.post(f"{home}/link/revoke")
    for page in ("", *figures[:1]):
        stranger.get(f"{address}{page}")
    stranger.get("/r/bcdfghjkmnpq")
    # Bounded: the number is public, and exact tallies can be had.
    for responses, minimum, budget in ((1, 2, "20"), (1, 1, "20"), (500, 2, "0.01"), (500, 2, "20")):
        told = factories.publish(database, wrapped_definition(), minimum=minimum)
        factories.store(database, told, [([1, 0], responses)])
        home = f"/manage/surveys/{told.slug}/releases"
        state("bounded", "0.001", budget)
        owner.get(home)
        owner.get(f"{home}/new")
        for form in ({}, {"sure": "yes", "epsilon": "0.001"}, {"sure": "yes", "epsilon": "20"}):
            owner.post(f"{home}/exact", form)
        look([item("share", "a", option="yes")], {"sure": "yes"}, epsilon="0.001")
        owner.get(home)
    draft = factories.draft(database, wrapped_definition())
    home = f"/manage/surveys/{draft}/releases"
    state("bounded")
    owner.get(f"{home}/new")
    owner.get(home)
    owner.post(f"{home}/link")
    return viewer


def walk_links(owner: Reader, site: factories.Served) -> None:
    """Links, strata, times and limits of surveys in every state."""
    database = site.database_url
    draft = factories.draft(database, wrapped_definition())
    bare, full, many, closed = (factories.publish(database, wrapped_definition()) for _ in range(4))
    factories.close(database, closed.slug)
    factories.plant(database, full.slug, pseudo_path("A > B, 30"))
    parts = "\n".join(pseudo_path(f"A > {number}") for number in range(70))
    divided, *_, part = factories.plant(database, many.slug, parts).values()
    owner.get(f"/s/{divided}")
    owner.get(f"/s/{part}/how")
    # Numbers whose singular differs from the plural: room for one response.
    for minimum in (2, 1):
        _set_limits(database, full.slug, cap=1, minimum=minimum)
        owner.get(f"/manage/surveys/{full.slug}/results")
    assert factories.ask(site.url + full.url, full.response())[0] == 201
    for slug in (draft, bare.slug, full.slug, many.slug, closed.slug):
        images = (f"/qr/{slug}.svg", f"/qr/{slug}.png", "/qr/unknown.svg")
        for page in ("", "/links", "/links.csv", "/links/sheet", "/strata", "/schedule", *images):
            owner.get(f"/manage/surveys/{slug}{page}")
    for cap in (2, 1_000):
        _set_limits(database, full.slug, cap=cap, minimum=1)
        factories.ask(site.url + full.url, full.response())
        owner.get(f"/manage/surveys/{full.slug}")
    strata = f"/manage/surveys/{full.slug}/strata"
    for said in ("saved", "added", "delete", "below"):
        owner.get(f"{strata}?said={said}&at=1")
    owner.post(strata, {"lines": f"{pseudo_path('C, 0')}\n>", "action": "add"})
    owner.post(strata, {"lines": pseudo_path("C"), "action": "add"})
    times = {"time_zone": "Europe/Madrid", "opens_at": "2199-07-01T09:00", "closes_at": "2199-08-01T09:00"}
    form = {**times, "cap": "", "minimum": "10"}
    schedule = f"/manage/surveys/{bare.slug}/schedule"
    owner.post(schedule, {**form, "cap": "x", "minimum": "2"})
    owner.post(schedule, {**form, "opens_at": "2026-03-29T02:30", "closes_at": "2026-10-25T02:30"})
    owner.post(schedule, form)
    owner.get(f"/manage/surveys/{bare.slug}")
    for action in ("pause", "resume", "pause"):
        owner.post(f"/manage/surveys/{many.slug}/{action}")
    owner.get(f"/manage/surveys/{many.slug}")
    owner.get("/manage/surveys")
    owner.post(f"/manage/surveys/{closed.slug}/pause")
    owner.post(f"/manage/surveys/{closed.slug}/schedule", {"minimum": "20"})


def walk_people(owner: Reader, site: factories.Served) -> list[Reader]:
    """Accounts, sign-ins, colleagues, people of a survey and logs; who else was there."""
    database, password = site.database_url, "correct horse battery"
    survey = factories.publish(database, wrapped_definition())
    people, settings = f"/manage/surveys/{survey.slug}/people", "/manage/account"
    chosen = {"name": pseudo("Ana"), "login": "ana", "password": password, "again": password}
    ana, ben, gone = (factories.account(database, name) for name in ("ana", "ben", "gone"))

    # Somebody chooses a password and sets codes up.
    hers = Reader(site, factories.link_of(database, ana))
    hers.get("/manage/surveys")
    hers.get(settings)
    hers.get(f"{settings}/codes")
    hers.post(settings, {**chosen, "password": "short", "again": ""})
    hers.post(settings, chosen)
    secret = pyotp.random_base32()
    hers.get(f"{settings}/codes")
    hers.post(f"{settings}/codes", {"secret": secret, "code": "x"})
    hers.post(f"{settings}/codes", {"secret": secret, "code": pyotp.TOTP(secret).now()})
    hers.get(settings)
    owner.get("/manage/colleagues")
    with factories.writing(database) as session:
        spent = session.scalars(sa.select(RecoveryCode).limit(9)).all()
        for code in spent:
            session.delete(code)
    stranger = Reader(site)
    stranger.get(f"/manage/sign-in/{factories.link_of(database, ana)}")
    for form in ({}, {"login": "ana", "password": "x" * 200}):
        stranger.post("/manage/sign-in", form)
    with factories.writing(database) as session:
        sign_ins.sign_in(session, session.get_one(Researcher, ana), FIREFOX)
    hers.get(settings)
    hers.post(f"{settings}/codes/recovery", {"current": password})
    hers.post(f"{settings}/codes/off", {"current": "wrong"})
    hers.post(f"{settings}/codes/off", {"current": password})
    hers.post(f"{settings}/sign-ins/end", {"sign_in": "others"})
    hers.post(f"{settings}/sign-ins/end", {"sign_in": "0"})

    # Programs: tokens of every sort, and what they did.
    programs = f"{settings}/programs"
    hers.get(programs)
    hers.post(programs, {"name": "", "survey": "", "role": "king", "days": "0"})
    for role, chosen_survey in (("viewer", survey.slug), ("editor", "")):
        owner.post(programs, {"name": "Nightly", "survey": chosen_survey, "role": role, "days": "30"})
    token = "Bearer " + re.findall(r"moneda_[\w-]+", owner.last)[0]
    for key, body in (("", b"{}"), ("first", b"{}"), ("first", json.dumps(wrapped_definition()).encode())):
        owner.post(
            "/api/v1/surveys", body, Authorization=token, Idempotency_Key=key, Content_Type="application/json"
        )
    owner.post(
        f"/api/v1/surveys/{survey.slug}/strata",
        b'{"strata": [{"path": ["North"]}]}',
        Authorization=token,
        Content_Type="application/json",
    )
    owner.get(f"/manage/surveys/{survey.slug}/log")
    owner.get(programs)
    tokens = re.findall(r'name="token" value="(\w+)"', owner.last)
    owner.post(f"{programs}/revoke", {"token": tokens[0]})
    owner.post(f"{programs}/revoke", {"token": "0"})
    owner.get("/api")
    owner.get("/api/v1/openapi.json")
    owner.get("/client/manifest.json")

    # Colleagues: invited, helped, shut out.
    owner.post("/manage/colleagues/invite", {"name": ""})
    owner.post("/manage/colleagues/invite", {"name": "Guest"})
    for where in (people, "/manage/colleagues"):
        for role in ("editor", "viewer"):
            owner.post(f"{where}/invite", {"name": "Guest", "role": role})
            link = re.findall(r"/manage/invitation/[\w-]+", list(owner.pages.values())[-1])[0]
            for reader in (stranger, hers, owner):
                reader.get(link)
            stranger.post(link, {**chosen, "login": "x"})
            hers.post(link)
    for action in ("administrator", "no-administrator", "link", "disable", "enable", "administrator"):
        owner.post(f"/manage/colleagues/{action}", {"person": ben})
    owner.post("/manage/colleagues/disable", {"person": gone})
    owner.post("/manage/colleagues/link", {"person": gone})
    hers.get("/manage/colleagues")

    # People of a survey.
    for person, role in ((ben, "editor"), (gone, "viewer")):
        factories.join(database, survey.slug, person, role)
    owner.post(f"{people}/invite", {"name": "Guest", "role": "king"})
    for role in ("editor", "viewer"):
        owner.post(f"{people}/invite", {"name": "Guest", "role": role})
    guests = re.findall(r'name="invitation" value="(\w+)"', list(owner.pages.values())[-1])
    owner.post(f"{people}/withdraw", {"invitation": guests[0]})
    owner.post("/manage/colleagues/withdraw", {"invitation": guests[0]})
    owner.post(f"{people}/role", {"person": ben, "role": "viewer"})
    owner.post(f"{people}/remove", {"person": gone})
    owner.post(f"{people}/hand-over", {"person": gone})

    # Logs: of a survey, of accounts with many entries, of nothing.
    owner.get(f"/manage/surveys/{survey.slug}/log")
    owner.get(f"/manage/surveys/{factories.draft(database, wrapped_definition())}/log")
    with factories.writing(database) as session:
        for _ in range(100):
            change_log.record(session, None, change_log.Action.COLLEAGUE_ADDED, None, name="Guest")
    owner.get("/manage/log")
    owner.post(f"{people}/hand-over", {"person": ben})
    return [hers, stranger]


def walk_paper(owner: Reader, site: factories.Served) -> None:
    """A survey on paper: its form, sheets that are right and wrong, and what stands in the way of others."""
    database = site.database_url
    one = wrapped_definition()
    easy = {
        **one,
        "questions": [factories.question("q1", pseudo("Copied?")), factories.question("q2", pseudo("Sat?"))],
    }
    hard = {**easy, "questions": [*easy["questions"], factories.question("q3", pseudo("Odd?"), 0.2001)]}
    survey = factories.publish(database, easy)
    factories.store(database, survey, [([0, 1], 3)])
    page = f"/manage/surveys/{survey.slug}/paper"
    owner.get(page)
    form = {"version": "1", "batch": "a" * 32, "sheets": "AB"}
    for changed in (
        {},
        {},
        {"sheets": "AX\nA"},
        {"sheets": ""},
        {"batch": "x"},
        {"stratum": "99"},
        {"sheets": "BB"},
    ):
        owner.post(page, {**form, **changed})
    owner.get(f"{page}?said=stored")
    owner.get(f"{page}?said=known")
    factories.settle(database, survey.slug, cap=2)
    owner.post(page, {**form, "batch": "b" * 32})
    factories.settle(database, survey.slug, cap=None, by_invitation=True)
    owner.get(page)
    owner.post(page, {**form, "batch": "c" * 32})
    factories.settle(database, survey.slug, by_invitation=False)
    factories.plant(database, survey.slug, pseudo("A"))
    owner.get(page)
    factories.publish(database, {**easy, "introduction": pseudo("Again.")}, survey.slug)
    owner.get(page)
    factories.close(database, survey.slug)
    owner.get(page)
    owner.get(f"/manage/surveys/{survey.slug}/results")
    owner.get(f"/manage/surveys/{survey.slug}/log")
    # Of one part too few: only of the first is it told how each way was taken.
    both = factories.publish(database, easy, minimum=3)
    links = list(factories.plant(database, both.slug, "\n".join(map(pseudo, "ABC"))).values())
    factories.store(database, both, [([0, 1], 9)], links[0])
    with factories.writing(database) as session:
        parts = session.scalars(
            sa.select(Stratum.id).where(Stratum.slug.in_(links)).order_by(Stratum.id)
        ).all()
    for part, number in zip(parts, (9, 6, 1), strict=True):
        sheets = {"batch": f"{number}" * 32, "stratum": part, "sheets": "AB\n" * number}
        owner.post(f"/manage/surveys/{both.slug}/paper", {**form, **sheets})
    factories.close(database, both.slug)
    owner.get("/manage/surveys")
    other = factories.publish(database, hard)
    owner.get(f"/manage/surveys/{other.slug}/paper")
    owner.get(f"/manage/surveys/{other.slug}/paper/form.pdf")


def walk_invitations(owner: Reader, stranger: Reader, site: factories.Served) -> None:
    """Codes of surveys in every state, and what their respondents are asked and told."""
    database = site.database_url
    one = wrapped_definition()
    one["questions"] = one["questions"][:1]
    for document in (one, wrapped_definition()):
        survey = factories.publish(database, document)
        page = f"/manage/surveys/{survey.slug}/invitations"
        owner.get(page)
        codes = factories.invite(database, survey.slug, 2)
        stranger.get(f"/s/{survey.slug}")
    owner.get(page)
    owner.get(f"/manage/surveys/{survey.slug}")
    (slug,) = factories.plant(database, survey.slug, pseudo("A")).values()
    stranger.get(f"/s/{slug}")
    for form in (
        {"size": "1", "label": pseudo("one")},
        {"size": "1001", "label": pseudo("many")},
        {"size": "1", "label": pseudo("one")},
        {"size": "x", "label": pseudo("x")},
        {"size": "0", "label": pseudo("x")},
        {"size": "1", "label": ""},
        {"size": "1", "label": pseudo("x"), "stratum": "0"},
    ):
        owner.post(page, form)
    for wrong in ({"codes": "x"}, {"codes": codes[0], "sheet": "7"}):
        owner.post(f"{page}/1/sheet.pdf", wrong)
    number = max(
        row[0]
        for row in factories.dump(database)["invitation_batches"]
        if row[1:3] == (_id(database, survey.slug), None)
    )
    answered = survey.response(invitation=codes[0])
    for sent in (
        answered,
        {**answered, "id": "0" * 32},
        survey.response(invitation="x"),
        survey.response(invitation="0" * 16),
        survey.response(),
    ):
        stranger.post(survey.url, json.dumps(sent).encode(), Content_Type="application/json")
    factories.settle(database, survey.slug, minimum=1)
    owner.get(page)
    factories.settle(database, survey.slug, minimum=2, by_invitation=False)
    stranger.post(
        survey.url, json.dumps(survey.response(invitation=codes[1])).encode(), Content_Type="application/json"
    )
    owner.get(page)
    for action in ("codes.csv", "links.txt", "sheet.pdf", "withdraw"):
        owner.post(f"{page}/{number}/{action}", {"codes": ""})
    owner.post(f"{page}/999/withdraw")
    factories.invite(database, survey.slug, 1)
    owner.get(page)
    factories.close(database, survey.slug)
    owner.get(page)
    # Closed, with several batches of a link: how many codes of it were used is told exactly.
    several = factories.publish(database, wrapped_definition())
    (slug,) = factories.plant(database, several.slug, pseudo("A")).values()
    for link in ("", slug) * 2:
        factories.invite(database, several.slug, 2, link)
    factories.close(database, several.slug)
    owner.get(f"/manage/surveys/{several.slug}/invitations")


def walk_access(owner: Reader, stranger: Reader, site: factories.Served) -> None:
    """Strata that are open or by invitation, whose codes are looked at, and people who are made up there."""
    database = site.database_url
    survey = factories.publish(database, wrapped_definition())
    home = f"/manage/surveys/{survey.slug}"
    lines = "\n".join(pseudo_path(line) for line in ("A > B, 30", "A > C, 60", "D"))
    links = list(factories.plant(database, survey.slug, lines).items())
    pages = ("", "/links", "/links/sheet", "/strata", "/schedule", "/invitations", "/simulate", "/log")
    owner.get(f"{home}/invitations")
    with factories.writing(database) as session:
        found_link = surveys.find_link(session, links[1][1])
        assert found_link is not None
        assert found_link[1] is not None
        first = found_link[1].id
    for typed in ("x", "open", "", "invited"):
        owner.post(f"{home}/strata", {f"access.{first}": typed})
        for page in pages:
            owner.get(f"{home}{page}")
    owner.post(f"{home}/strata", {f"access.{first + 1}": "invited"})
    for page in pages:
        owner.get(f"{home}{page}")
    owner.post(f"{home}/invitations", {"size": "1", "label": pseudo("x"), "stratum": str(first - 1)})
    owner.post(f"{home}/invitations", {"size": "1", "label": pseudo("x"), "stratum": str(first)})
    owner.post(f"{home}/strata", {f"access.{first}": "open"})
    owner.get(f"{home}/invitations")
    for stratum in ("", links[0][0], "x"):
        owner.post(f"{home}/simulate", {"respondents": "10", "stratum": stratum})
    looks = [{}, *({"invitation": code} for code in ("0" * 16, "?")), *[{"invitation": "0" * 16}] * 101]
    for look in looks:
        stranger.post(
            f"/s/{links[2][1]}/code.json", json.dumps(look).encode(), Content_Type="application/json"
        )
    over = factories.publish(database, wrapped_definition()).slug
    factories.close(database, over)
    receipts = [(over, "0" * 32), *((links[2][1], typed) for typed in (1, *["0" * 32] * 101))]
    for link, receipt in [*receipts, (links[2][1], None)]:
        asked = {} if receipt is None else {"receipt": receipt}
        stranger.post(f"/s/{link}/receipt.json", json.dumps(asked).encode(), Content_Type="application/json")
    body = json.dumps({"receipt": "0" * 32}).encode()
    stranger.post(f"/s/{links[2][1]}/withdrawal.json", body, Content_Type="application/json")
    stranger.get(f"/s/{links[2][1]}/receipt")
    factories.close(database, survey.slug)
    stranger.get(f"/s/{links[2][1]}/receipt")
    owner.post(f"{home}/strata", {f"access.{first}": "invited"})


def walk_switches(owner: Reader, stranger: Reader, site: factories.Served) -> None:
    """Invitations switched on and off in published surveys, whose links are closed by it."""
    fields = {"time_zone": "UTC", "opens_at": "", "closes_at": "", "cap": "", "minimum": "10"}
    for strata in ("", f"{pseudo('A')}\n{pseudo('B')}"):
        survey = factories.publish(site.database_url, wrapped_definition())
        if strata:
            factories.plant(site.database_url, survey.slug, strata)
        number = _id(site.database_url, survey.slug)
        owner.post(f"/manage/surveys/{survey.slug}/schedule", {**fields, "by_invitation": "yes"})
        stranger.get(f"/s/{survey.slug}")
        stranger.get(f"/s/{survey.slug}/survey.json")
        stranger.get(f"/s/{survey.slug}/how")
        with factories.writing(site.database_url) as session:
            renewed = session.get_one(Survey, number).slug
        owner.get(f"/manage/surveys/{renewed}/schedule")
        owner.post(f"/manage/surveys/{renewed}/schedule", fields)
    # Closed or deleted, and only the database's log is left to do: somebody reads from it.
    gone = factories.publish(site.database_url, wrapped_definition()).slug
    with closing(sqlite3.connect(str(sa.make_url(site.database_url).database))) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM surveys").fetchall()
        factories.close(site.database_url, renewed)
        with factories.writing(site.database_url) as session:
            session.execute(sa.update(Untidied).where(Untidied.survey_id == number).values(rewritten=True))
        owner.get(f"/manage/surveys/{renewed}")
        owner.get("/manage/surveys")
        owner.post(f"/manage/surveys/{gone}/delete", {"confirmation": gone})


def walk_scales(owner: Reader, database: str) -> None:
    """A scale of many levels in the editor, under a design for the average and under one for its shares."""
    options = [{"name": f"o{place}", "text": pseudo(f"o{place}")} for place in range(7)]
    for mechanism in ("ordinal", "k_ary"):
        scale = {"name": "s", "kind": "scale", "text": pseudo("s"), "options": options}
        plan = {"respondents": 1000, "margin": 0.05}
        document = factories.definition(
            title=pseudo("Scale"),
            language="es",
            questions=[{**scale, "design": {"mechanism": mechanism, "epsilon": 1}}],
        )
        draft = factories.draft(database, {**document, "plan": plan})
        owner.get(f"/manage/surveys/{draft}/edit")


def walk_advice(owner: Reader, database: str) -> None:
    """The editor where too few, too many and no people are planned; a full library; lists read and refused."""
    document = wrapped_definition()
    coins = [{**entry, "design": {"mechanism": "coin_flip"}} for entry in document["questions"]]
    device = {**coins[0], "name": "device", "design": {"mechanism": "warner", "truth": 0.8}}
    for gamma, respondents in ((0.25, 1), (0.25, 300), (0.25, 9000), (0.4, None)):
        plan = {} if respondents is None else {"plan": {"respondents": respondents, "margin": 0.05}}
        asked = {**document, "format": 2, "strength": {"gamma": gamma}, "questions": [*coins, device], **plan}
        draft = factories.draft(database, asked)
        for page in ("edit", "simulate/look"):
            owner.get(f"/manage/surveys/{draft}/{page}")
    form = fill_editor(pseudo("Lists"), pseudo("c?"))
    owner.post("/manage/surveys/new", {**form, "action": "keep_question-0"})
    owner.get("/manage/surveys/new")
    a, b, c, refusal = map(pseudo, ("a?", "b", "c", "Prefer not to say"))
    right = f"{a}\n- {b}\n- {c}\n- {refusal}"
    wrong = f"- {c}\n{a}\n- {b}\n- {b}\n{pseudo('x' * 501)}\n{a}\n- {c}"
    for text in (right, f"{a}\n{pseudo('d?')}", wrong, "", pseudo("x" * 100_001), f"{a}\n" * 101):
        owner.post("/manage/surveys/new", {**form, "action": "read_list", "list": text})


def walk_keeping(owner: Reader, site: factories.Served) -> None:
    """Copies, archives and deletions of surveys in every state, and archives that come back."""
    database = site.database_url
    draft, lonely, invited = (factories.draft(database, wrapped_definition()) for _ in range(3))
    one, opened, asked = (factories.publish(database, wrapped_definition(), minimum=3) for _ in range(3))
    factories.plant(database, lonely, pseudo_path("A"))
    factories.plant(database, opened.slug, "\n".join(map(pseudo_path, "AB")))
    for survey in (one, *[opened] * 2):
        assert factories.ask(site.url + survey.url, survey.response())[0] == 201
    # Its invitations are here in a first copy already.
    factories.invite(database, invited, 3)
    factories.close(database, one.slug)
    for slug in (draft, lonely, one.slug, opened.slug, asked.slug):
        owner.get(f"/manage/surveys/{slug}/keeping")
    packed = {slug: sample_archives.pack(database, slug) for slug in (one.slug, opened.slug, invited)}
    for slug, body in packed.items():
        owner.send(sample_archives.form_of(body))
        owner.post(f"/manage/surveys/{slug}/delete", {"confirmation": pseudo("nothing")})
        if slug != invited:
            owner.post(f"/manage/surveys/{slug}/delete", {"confirmation": slug})
            owner.send(sample_archives.form_of(body))
    owner.send(sample_archives.form_of(b"PK\x03\x04"))
    guarded = factories.publish(database, wrapped_definition(), minimum=10).slug
    owner.send(
        sample_archives.form_of(
            sample_archives.change_manifest("minimum", value=3)(sample_archives.pack(database, guarded))
        )
    )
    owner.send(sample_archives.form_of(sample_archives.pack(database, draft)))
    owner.post(f"/manage/surveys/{draft}/duplicate", {"title": pseudo("Copy")})
    owner.post(f"/manage/surveys/{one.slug}/export.zip")
    owner.post(f"/manage/surveys/{opened.slug}/archive")
    for slug in (one.slug, draft):
        owner.post(f"/manage/surveys/{slug}/archive")
        owner.get(f"/manage/surveys/{slug}")
        owner.get("/manage/surveys")
    owner.post(f"/manage/surveys/{draft}/edit", {"title": pseudo("x")})
    owner.post(f"/manage/surveys/{draft}/archive", {"out": "1"})
    walk_rights(owner, site)


def walk_rights(owner: Reader, site: factories.Served) -> None:
    """What copies may release: a part, everything, nothing, and each once more."""
    database = site.database_url
    shared, moved = (factories.publish(database, wrapped_definition(), minimum=3) for _ in range(2))
    for survey, kind in ((shared, "share"), (moved, "move")):
        home = f"/manage/surveys/{survey.slug}"
        owner.post(f"{home}/releases/budget", {"epsilon": "2", "delta": "0.001", "neighbours": "unbounded"})
        factories.close(database, survey.slug)
        owner.get(f"{home}/keeping")
        form = {"right": kind, "epsilon": "0.5", "delta": ""}
        owner.post(f"{home}/export.zip", {**form, "server": "?"})
        owner.post(f"{home}/export.zip", {**form, "server": "0123456789abcdef" * 2})
        owner.get(f"{home}/keeping")
        body = sample_archives.pack(database, survey.slug)
        owner.send(sample_archives.form_of(sample_archives.moving(database, body, kind, "0.5")))


def walk_searches(owner: Reader, site: factories.Served) -> None:
    """Searches that go on, have found, have been asked enough and have ended; and what is refused of them."""
    database = site.database_url
    survey = factories.publish(database, wrapped_definition())
    factories.plant(database, survey.slug, pseudo_path("North, 100"))
    factories.store(database, survey, [([1] * 2, 200)])
    factories.close(database, survey.slug)
    releases = f"/manage/surveys/{survey.slug}/releases"
    home = f"{releases}/searches"
    owner.post(f"{releases}/budget", {"epsilon": "100", "delta": "0.001", "neighbours": "unbounded"})
    owner.get(home)
    for changes in ({}, {"most": "9"}, {"epsilon": "101"}, {"epsilon": "100", "limit": "5"}, {"share": ""}):
        owner.post(f"{home}/price", {"share": "10", "positives": "2", "epsilon": "1", **changes})
    for opened, terms in enumerate(
        (
            {"limit": "1", "positives": "1"},
            {"limit": "1000000", "positives": "1", "most": "1"},
            {"share": "10", "positives": "9"},
        )
    ):
        form = {"epsilon": "20", "entries": str(opened), "sure": "yes", **terms}
        for missing in ("sure", "entries", ""):
            owner.post(home, {name: text for name, text in form.items() if name != missing})
        at = f"{home}/{opened + 1}"
        owner.get(at)
        chosen = [html.unescape(each) for each in re.findall(r'<option value="(\[[^"]+)"', owner.last)]
        for asked in ("", "[1]", '["x", "y"]', chosen[0], chosen[0], chosen[1]):
            owner.post(at, {"asked": asked, "stratum": ""})
            owner.get(at)
    owner.post(at, {"asked": chosen[0], "stratum": '["x"]'})
    with factories.writing(database) as session:
        session.execute(sa.delete(Search))
    owner.post(at, {"asked": chosen[1], "stratum": json.dumps(["x"])})
    for page in (home, at, releases, f"{releases}/1", f"{releases}/2", f"{home}/77"):
        owner.get(page)


def walk_restored(owner: Reader, site: factories.Served) -> None:
    """What was spent before a backup was restored has to be declared; also what is refused of it."""
    database = site.database_url
    survey = factories.publish(database, wrapped_definition())
    home = f"/manage/surveys/{survey.slug}"
    factories.plant(database, survey.slug, pseudo_path("North, 100"))
    factories.store(database, survey, [([0] * 2, 20)])
    limits = {"time_zone": "UTC", "opens_at": "", "closes_at": "", "cap": "", "minimum": "101"}
    owner.post(f"{home}/schedule", limits)
    factories.close(database, survey.slug)
    mark = Path(f"{sa.make_url(database).database}.spent")
    mark.unlink()
    owner.get(f"{home}/releases")
    budget = {"epsilon": "2", "delta": "0.001", "neighbours": "unbounded"}
    for _ in range(2):
        owner.post(f"{home}/releases/budget", budget)
    for page in ("releases/new", "report.html"):
        owner.get(f"{home}/{page}")
    for form in ({"spent": "0"}, {"spent": "7", "spent_delta": "1", "sure": "yes"}):
        owner.post(f"{home}/releases/declared", form)
    mark.with_name(f"{mark.name}.new").mkdir()
    owner.post(f"{home}/releases/declared", {"spent": "0", "sure": "yes"})
    mark.with_name(f"{mark.name}.new").rmdir()
    owner.post(f"{home}/archive")
    owner.get(f"{home}/releases")
    owner.post(f"{home}/archive", {"out": "1"})
    owner.post(f"{home}/releases/declared", {"spent": "1", "sure": "yes"})
    for page in ("releases/1", "report.html", "log"):
        owner.get(f"{home}/{page}")


def _respond(site: factories.Served, survey: factories.Published, reports: list[int]) -> None:
    """Send a response, again while the server asks for that."""
    body = survey.response(reports)
    for _ in range(60):
        status = factories.ask(site.url + survey.url, body)[0]
        if status != 503:
            break
        time.sleep(0.5)
    assert status in (200, 201)


def _id(database_url: str, slug: str) -> int:
    with factories.writing(database_url) as session:
        found = survey_access.find(session, slug)
        assert found is not None
        return found.id


def _set_limits(database_url: str, slug: str, *, cap: int, minimum: int) -> None:
    with factories.writing(database_url) as session:
        found = survey_access.find(session, slug)
        assert found is not None
        found.cap, found.minimum = cap, minimum


def pseudo_path(line: str) -> str:
    """A line for a stratum whose names are known again."""
    path, comma, population = line.partition(",")
    return " > ".join(map(pseudo, path.split(" > "))) + comma + population


def walk_help(stranger: Reader) -> None:
    """The help: chapters in both languages and in one, a picture, and whatever may be found."""
    for page in (
        "",
        "/guia",
        "/guia/resultados",
        "/privacy/LEEME",
        "/spark",
        "/images/0123456789abcdef/none.png",
        "/nothing",
    ):
        stranger.get(f"/help{page}")
    # Much, one section, some of the words, nothing; no word, too many.
    for query in ("a", "cortafuegos", "moneda zzzz", "zzzz", "?!", "a" * 300):
        stranger.get(f"/help?{urlencode({'q': query})}")


def walk(site: factories.Served) -> list[Reader]:
    """Open every page in every state that it can be in."""
    database, document = site.database_url, wrapped_definition()
    draft = factories.draft(database, document)
    mixed = wrapped_definition()
    for question, gamma in zip(mixed["questions"], (0.1, 0.49), strict=True):
        question["design"]["gamma"] = gamma
    different = factories.draft(database, mixed)
    empty, chance, impossible, closed, changed = (factories.publish(database, document) for _ in range(5))
    for survey, responses in ((chance, 8), (impossible, 80)):
        for _ in range(responses):
            factories.ask(site.url + survey.url, survey.response([0, 1]))
    factories.close(database, closed.slug)
    with factories.writing(database) as session:
        shown = survey_access.find(session, chance.slug)
        assert shown is not None
        shown.simulated = shown.incomplete = True

    stranger = Reader(site)
    stranger.get("/")
    walk_help(stranger)
    stranger.get(f"/s/{empty.slug}")
    stranger.get(
        f"/s/{factories.publish(database, {**document, 'questions': document['questions'][:1]}).slug}"
    )
    # One of four at this strength is thrown with a die.
    options = [{"name": f"o{place}", "text": pseudo(f"Option {place}")} for place in range(4)]
    four = {"name": "why", "kind": "select_one", "text": pseudo("Why?"), "options": options}
    thrown = {**document, "format": 2, "strength": {"gamma": 0.25}}
    thrown["questions"] = [{**four, "design": {"mechanism": "k_ary"}}]
    stranger.get(f"/s/{factories.publish(database, thrown).slug}")
    early, paused, crowded, invited = (factories.publish(database, wrapped_definition()) for _ in range(4))
    code = factories.invite(database, invited.slug, 2)[0]
    factories.settle(database, early.slug, opens_at=surveys.now() + timedelta(days=2))
    factories.settle(database, paused.slug, paused=True)
    factories.settle(database, crowded.slug, cap=1)
    stranger.post(crowded.url, json.dumps(crowded.response()).encode(), Content_Type="application/json")
    for slug in ("unknown", closed.slug, draft, early.slug, paused.slug, crowded.slug):
        stranger.get(f"/s/{slug}")
        stranger.get(f"/s/{slug}/survey.json")
        stranger.get(f"/s/{slug}/how")
    for survey, more in (
        (early, {}),
        (paused, {}),
        (crowded, {}),
        (empty, {"invitation": code}),
        (invited, {}),
        (invited, {"invitation": "0" * 16}),
        (invited, {"invitation": "?"}),
        (invited, {"invitation": code}),
        (invited, {"invitation": code}),
    ):
        body = json.dumps(survey.response(**more)).encode()
        stranger.post(survey.url, body, Content_Type="application/json")
    for body in (
        b"{",
        b"[]",
        json.dumps(closed.response()).encode(),
        json.dumps(empty.response([7, 0])).encode(),
    ):
        for survey in (empty, closed):
            stranger.post(survey.url, body, Content_Type="application/json")
    stranger.post(empty.url, b"", Content_Type="text/plain")
    stranger.post(empty.url, b"{}", Content_Type="application/json", Sec_Fetch_Site="cross-site")
    stranger.get("/manage/sign-in")
    stranger.get("/manage/sign-in/secret")
    stranger.post("/manage/sign-in/secret")
    stranger.get("/nowhere")
    stranger.get("/client/0123456789abcdef/none.js")
    stranger.post("/")

    newcomer = Reader(site, factories.sign_in_secret(database, owner="newcomer"))
    newcomer.get("/manage/surveys")
    newcomer.get(f"/manage/surveys/{draft}")

    owner = Reader(site, factories.sign_in_secret(database))
    owner.get("/manage/")
    owner.get(f"/manage/progress/{'0' * 32}.json")
    owner.get(f"/manage/surveys/{chance.slug}/invitations")
    owner.get("/manage/surveys/new")
    for page in ("", "/edit"):
        owner.get(f"/manage/surveys/{different}{page}")
    owner.post("/manage/surveys/new", fill_editor(pseudo("New"), pseudo("c?"), action="add"))
    owner.post(
        "/manage/surveys/new", fill_editor(pseudo("New"), pseudo("c?"), pseudo("d?"), action="delete-0")
    )
    owner.post("/manage/surveys/new", fill_editor(pseudo("New"), pseudo("c?"), budget="0"))
    owner.post("/manage/surveys/new", fill_editor(pseudo("New"), pseudo("c?"), division="by_hand"))
    unfinished = factories.draft_unfinished(
        database,
        {
            **everything(),
            "title": "",
            "budget": 0,
            "questions": [{"name": "q", "kind": "yes_no", "text": ""}] * 12,
        },
    )
    hiding, whole = (factories.draft(database, survey) for survey in (telling(), everything()))
    owner.get(f"/manage/surveys/{hiding}/preview")
    for survey in (unfinished, whole):
        for page in ("", "/edit", "/edit?check=1", "/preview", "/simulate", "/simulate/look"):
            owner.get(f"/manage/surveys/{survey}{page}")
    # What is said above the list is the same above any list.
    for said in ("added", "duplicated", "moved", "deleted", "undone", "redone", "nothing"):
        owner.get(f"/manage/surveys/{different}/edit?said={said}&at=0")
    for said in ("kept", "kept_already", "wordless", "library_full", "forgotten", "listed", "advised"):
        owner.get(f"/manage/surveys/{different}/edit?said={said}&at=0")
    for said in ("moved_several", "copied_several", "strengthened", "strength_refused"):
        owner.get(f"/manage/surveys/{different}/edit?said={said}&selected=0-1&together=x")
    owner.post(
        f"/manage/surveys/{whole}/edit", fill_editor(pseudo("Old"), pseudo("c?"), base="1", action="undo")
    )
    owner.post(f"/manage/surveys/{whole}/edit", fill_editor(pseudo("Overtaken"), pseudo("c?"), base="2"))
    owner.post("/manage/surveys/new", fill_editor(pseudo("New"), pseudo("c?")))
    alike = [
        factories.question(name, pseudo(f"{name} copied?"), 0.25) for name in ("Have you", "Have you ever")
    ]
    alike = [{**entry, "name": f"q{place}"} for place, entry in enumerate(alike)]
    document = factories.definition(questions=alike, title=pseudo("Alike"), language="es")
    owner.get(f"/manage/surveys/{factories.draft(database, document)}/edit")
    owner.get("/manage/surveys/import")
    walk_foreign_data(owner)
    owner.get("/manage/gallery")
    owner.post("/manage/gallery", {"template": "none", "language": "es"})
    walk_lessons(stranger, owner, database)
    left = ((1, 1), (501, 1), (502, 2))
    forms = [sample_xlsforms.leaving_out(things, asked, pseudo("Imported")) for things, asked in left]
    for body in (b"", b"\xff", b'{"format": 1}', *forms):
        owner.send(sample_archives.form_of(body, "a"))
    owner.post("/manage/surveys/new", b"title=x", Content_Type="application/x-www-form-urlencoded")
    owner.post(f"/manage/surveys/{unfinished}/simulate", {})
    walk_results(owner, site)
    # What was walked is forgotten: each survey has tables of its own, which every connection reads when one changes.
    asked_again = draft, *(survey.slug for survey in (empty, chance, impossible, closed, changed))
    factories.forget_surveys(database, *asked_again)
    walk_weighting(owner, site)
    viewer = walk_releases(owner, stranger, site)
    factories.forget_surveys(database, *asked_again)
    walk_links(owner, site)
    walk_invitations(owner, stranger, site)
    walk_paper(owner, site)
    walk_access(owner, stranger, site)
    factories.forget_surveys(database, *asked_again)
    walk_switches(owner, stranger, site)
    walk_tickets(owner, stranger, site.database_url, wrapped_definition())
    walk_completions(owner, stranger, site.database_url, wrapped_definition())
    walk_scales(owner, database)
    walk_advice(owner, database)
    factories.forget_surveys(database, *asked_again)
    walk_study(owner, database, chance.slug)
    walk_respondents(owner, stranger, database, wrapped_definition())
    walk_webhooks(owner, database, factories.publish(database, wrapped_definition()).slug)
    factories.forget_surveys(database, *asked_again)
    others = walk_people(owner, site)
    walk_keeping(owner, site)
    walk_retention(owner, stranger, database, wrapped_definition())
    walk_restored(owner, site)
    walk_searches(owner, site)
    factories.save(database, changed.slug, wrapped_definition("Changed"))
    for survey in asked_again:
        for page in (
            "",
            "/edit",
            "/preview",
            "/preview/survey.json",
            "/definition.json",
            "/form.xlsx",
            "/results",
        ):
            owner.get(f"/manage/surveys/{survey}{page}")
        for page in (
            "report.html",
            "report.csv",
            "report.json",
            "responses.csv",
            "codebook.csv",
            "study.json",
            "results?version=9",
        ):
            owner.get(f"/manage/surveys/{survey}/{page}")
    for action, survey in (
        ("publish", closed.slug),
        ("publish", changed.slug),
        ("close", draft),
        ("close", empty.slug),
    ):
        owner.post(f"/manage/surveys/{survey}/{action}")
    owner.post("/manage/surveys/new", fill_editor(pseudo("x"), pseudo("c?")), Sec_Fetch_Site="cross-site")
    # A part of a page that cannot be drawn, and a page that cannot.
    with factories.writing(database) as session:
        days = json.dumps({"2026-05-01": 10**400, "2026-05-02": 10**400})
        found = survey_access.find(session, chance.slug)
        assert found is not None
        spoilt = batches_of(found.id)
        session.execute(sa.update(spoilt).values(days=days))
    owner.get(f"/manage/surveys/{chance.slug}/results")
    with factories.writing(database) as session:
        session.connection().exec_driver_sql(f"DROP TABLE {spoilt.name}")
    owner.get(f"/manage/surveys/{chance.slug}/results")
    owner.post("/manage/sign-out")
    return [stranger, newcomer, owner, viewer, *others]
