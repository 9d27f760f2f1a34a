"""Somebody who opens every page of the site in every state that it can be in."""

import json
from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode, urlsplit

from server import surveys
from server.simulation import Assumptions, simulate
from tests import factories, xlsforms
from tests.words import pseudo

SPANISH = {"Accept-Language": "es"}


class Reader:
    """A browser that reads Spanish, follows redirects and keeps every page that it was shown."""

    def __init__(self, site: factories.Served, secret: str = "") -> None:
        self.host = urlsplit(site.url).netloc
        self.cookies: SimpleCookie = SimpleCookie()
        self.pages: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.requests: list[tuple[str, str]] = []
        if secret:
            self.get(f"/manage/sign-in/{secret}")
            self.post(f"/manage/sign-in/{secret}")

    def get(self, path: str) -> None:
        self._ask("GET", path)

    def post(self, path: str, body: bytes | Mapping[str, object] = b"", **headers: str) -> None:
        if isinstance(body, Mapping):
            body = urlencode(body, doseq=True).encode()
            headers["Content_Type"] = "application/x-www-form-urlencoded"
        self._ask("POST", path, body, {name.replace("_", "-"): value for name, value in headers.items()})

    def _ask(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = SPANISH) -> None:
        cookies = "; ".join(f"{cookie.key}={cookie.value}" for cookie in self.cookies.values())
        with closing(HTTPConnection(self.host, timeout=60)) as connection:
            connection.request(method, path, body, {**SPANISH, **headers, "Cookie": cookies})
            answer = connection.getresponse()
            content, kind = answer.read(), answer.headers.get_content_type()
        self.requests.append((method, path))
        self.cookies.load(answer.getheader("Set-Cookie", ""))
        seen = f"{len(self.requests)}. {method} {path}: {answer.status}"
        if answer.status in (302, 303):
            self.get(answer.headers["Location"])
        elif kind == "text/html":
            self.pages[seen] = content.decode()
        elif answer.status >= 400:
            self.errors[seen] = json.loads(content)["error"]["message"]


def wrapped_definition(title: str = "Exams") -> dict[str, Any]:
    """A definition whose own texts are in brackets, so that they pass for translated."""
    questions = [
        factories.question(name, pseudo(f"{name}?"), gamma) for name, gamma in (("a", 0.25), ("b", 0.25))
    ]
    return factories.definition(title=pseudo(title), introduction=pseudo("Who asks"), questions=questions)


def edited(title: str, *wordings: str, action: str = "save", **more: str) -> dict[str, object]:
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

    def offered(*names: str) -> list[dict[str, str]]:
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
        {"kind": "check", "options": offered("a", "b"), "correct": "a", "feedback": pseudo("feedback")},
    ]
    refused = {"show_if": {"question": "e7", "any_of": ["prefer_not_to_say"]}}
    unsaid = {"prefer_not_to_say": True, "otherwise": 0}
    entries += [
        {"kind": "select_multiple", "options": offered("a", "b"), "design": {"mechanism": "coin_flip"}},
        {"kind": "number", **grid, "design": {"mechanism": "stochastic_rounding"}, **refused, **unsaid},
    ]
    entries[-2] |= {"show_if": {"question": "e8", "from": 1, "to": 2}, "otherwise": []}
    entries += [
        {"kind": "select_one", "options": offered("a", "b"), "design": {"mechanism": mechanism}}
        for mechanism in ("k_ary", "unary", "symmetric_unary")
    ]
    many = offered(*(f"o{place}" for place in range(30)))
    best = {"mechanism": "best_choice", "epsilon": 1}
    entries.append({"kind": "select_one", "options": many, "design": best})
    entries += [
        {"kind": "scale", "options": offered("a", "b", "c"), "design": {"mechanism": mechanism}}
        for mechanism in ("ordinal", "k_ary")
    ]
    entries[-1] |= {**refused, "otherwise": "a"}
    named = [{"name": f"e{place}", "text": pseudo("asked"), **entry} for place, entry in enumerate(entries)]
    fixed = {"format": 1, "language": "es", "title": pseudo("All"), "introduction": ""}
    return {**fixed, "budget": 100, "questions": named}


def telling() -> dict[str, Any]:
    """A survey whose results give reason for every remark, depending on what arrives."""

    def offered(*names: str) -> list[dict[str, str]]:
        return [{"name": name, "text": pseudo(name)} for name in names]

    coin = {"mechanism": "coin_flip", "gamma": 0.25}
    control = {"kind": "yes_no", "control": True, "design": coin}
    number = {"kind": "number", "low": 0, "high": 10, "step": 1}
    number["design"] = {"mechanism": "stochastic_rounding", "epsilon": 1}
    chosen = {"kind": "select_one", "options": offered("a", "b", "c")}
    chosen["design"] = {"mechanism": "k_ary", "epsilon": 1}
    ticked = {"kind": "select_multiple", "options": offered("a", "b"), "otherwise": ["a"]}
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
    survey = factories.publish(database, everything())
    owner.get(f"/s/{survey.slug}")
    for respondents in (0, 40):
        with factories.writing(database) as session:
            found = surveys.find(session, survey.slug)
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
            assert factories.ask(site.url + told.url, told.response(reports))[0] == 201
        owner.get(f"/manage/surveys/{told.slug}/results")
        owner.get(f"/manage/surveys/{told.slug}/report.html")
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


def walk(site: factories.Served) -> list[Reader]:
    """Open every page in every state that it can be in."""
    database, document = site.database_url, wrapped_definition()
    draft = factories.draft(database, document)
    mixed = wrapped_definition()
    mixed["questions"][0]["design"]["gamma"] = 0.1
    different = factories.draft(database, mixed)
    empty, chance, impossible, closed, changed = (factories.publish(database, document) for _ in range(5))
    for survey, responses in ((chance, 8), (impossible, 80)):
        for _ in range(responses):
            factories.ask(site.url + survey.url, survey.response([0, 1]))
    factories.close(database, closed.slug)
    with factories.writing(database) as session:
        shown = surveys.find(session, chance.slug)
        assert shown is not None
        shown.simulated = True

    stranger = Reader(site)
    stranger.get("/")
    stranger.get(f"/s/{empty.slug}")
    stranger.get(
        f"/s/{factories.publish(database, {**document, 'questions': document['questions'][:1]}).slug}"
    )
    for slug in ("unknown", closed.slug, draft):
        stranger.get(f"/s/{slug}")
        stranger.get(f"/s/{slug}/survey.json")
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
    owner.get("/manage/surveys/new")
    owner.get(f"/manage/surveys/{different}/edit")
    owner.post("/manage/surveys/new", edited(pseudo("New"), pseudo("c?"), action="add"))
    owner.post("/manage/surveys/new", edited(pseudo("New"), pseudo("c?"), pseudo("d?"), action="delete-0"))
    owner.post("/manage/surveys/new", edited(pseudo("New"), pseudo("c?"), budget="0"))
    owner.post("/manage/surveys/new", edited(pseudo("New"), pseudo("c?"), division="by_hand"))
    unfinished = factories.unfinished(
        database,
        {
            **everything(),
            "title": "",
            "budget": 0,
            "questions": [{"name": "q", "kind": "yes_no", "text": ""}] * 12,
        },
    )
    whole = factories.draft(database, everything())
    for survey in (unfinished, whole):
        for page in ("", "/edit", "/edit?check=1", "/preview", "/simulate"):
            owner.get(f"/manage/surveys/{survey}{page}")
        for said in ("added", "duplicated", "moved", "deleted", "undone", "redone", "nothing"):
            owner.get(f"/manage/surveys/{survey}/edit?said={said}&at=0")
    owner.post(f"/manage/surveys/{whole}/edit", edited(pseudo("Old"), pseudo("c?"), base="1", action="undo"))
    owner.post(f"/manage/surveys/{whole}/edit", edited(pseudo("Overtaken"), pseudo("c?"), base="2"))
    owner.post("/manage/surveys/new", edited(pseudo("New"), pseudo("c?")))
    owner.get("/manage/surveys/import")
    owner.get("/manage/gallery")
    owner.post("/manage/gallery", {"template": "none", "language": "es"})
    forms = (xlsforms.leaving_out(1), xlsforms.leaving_out(501), xlsforms.leaving_out(502, questions=2))
    for body in (b"", b"\xff", b'{"format": 1}', *forms):
        part = (
            b'--X\r\nContent-Disposition: form-data; name="definition"; filename="a"\r\n\r\n%b\r\n--X--\r\n'
            % body
        )
        owner.post("/manage/surveys/import", part, Content_Type="multipart/form-data; boundary=X")
    for query in ("", "?gamma=0.1&questions=3", "?gamma=0.49", "?gamma=0.7"):
        owner.get(f"/manage/consequences{query}")
    owner.post(f"/manage/surveys/{unfinished}/simulate", {})
    walk_results(owner, site)
    factories.save(database, changed.slug, wrapped_definition("Changed"))
    for survey in (draft, *(published.slug for published in (empty, chance, impossible, closed, changed))):
        for page in (
            "",
            "/edit",
            "/preview",
            "/preview/survey.json",
            "/definition.json",
            "/qr.svg",
            "/results",
        ):
            owner.get(f"/manage/surveys/{survey}{page}")
        for page in (
            "report.html",
            "report.csv",
            "report.json",
            "responses.csv",
            "codebook.csv",
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
    owner.post("/manage/surveys/new", edited(pseudo("x"), pseudo("c?")), Sec_Fetch_Site="cross-site")
    with factories.writing(database) as session:
        session.connection().exec_driver_sql("DROP TABLE responses")
    owner.get(f"/manage/surveys/{chance.slug}/results")
    owner.post("/manage/sign-out")
    return [stranger, newcomer, owner]
