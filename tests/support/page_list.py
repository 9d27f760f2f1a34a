"""Every page of the site in the states that people see most, as one list that pictures and walks draw from.

A scene is a database in which there is a survey in each state; a page is an address in it, who opens it,
and what they do there first.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import Page, expect

from server import releases
from server.people import survey_access
from server.releases import report_links
from server.releases.plans.plan_reader import parse_plan
from server.releases.searches import ask_search, open_search, parse_terms
from server.simulation import Assumptions, draw_people
from server.study import surveys
from server.study.definitions.definition_reader import parse_definition
from tests.browser.site_users import Respondent
from tests.support import completion_claims, factories, foreign_data

Document = dict[str, Any]
VISITOR, OWNER, NEWCOMER = "visitor", "owner", "newcomer"
LONGEST = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
STRATA = (("North", 4_000, 900), ("South", 2_500, 700), ("Islands", 120, 4), ("Coast", 900, 400))
"""Name, population, respondents: of one fewer than are shown."""
DAYS = 12


@dataclass(frozen=True)
class Scene:
    """Surveys in every state, by what they are called here: their slugs; and what else addresses hold."""

    database_url: str
    language: str
    names: Mapping[str, str]

    def address(self, path: str) -> str:
        """An address with what belongs into its braces."""
        return path.format(**self.names)


@dataclass(frozen=True)
class PageState:
    """A page in a state.

    Attributes
    ----------
    name : str
        What its pictures are called.
    path : str
        Its address; in braces what the scene knows.
    who : str
        Who opens it.
    act : callable or None
        What they do there, until it looks as it is to look.
    status : int
        What the server answers.
    often : bool
        Whether it is among the ten that are seen most.
    """

    name: str
    path: str
    who: str = OWNER
    act: Callable[[Page, Scene], None] | None = None
    status: int = 200
    often: bool = False


def build_scene(database_url: str, language: str = "en", *, long: bool = False) -> Scene:
    """Put a survey in each state into a database; `long`: the owner's words are as long as words get."""
    maker = _Maker(database_url, language, long)
    draft = factories.draft(database_url, maker.document())
    names = {
        "draft": draft,
        "unfinished": factories.unfinished(database_url, {**maker.document(), "title": ""}),
        "few": maker.answered("few", {"": 4}),
        "empty": maker.publish("empty").slug,
        "busy": maker.busy(),
        "closed": maker.publish("closed").slug,
        "early": maker.publish("early").slug,
        "archived": maker.publish("archived").slug,
        "invited": maker.publish("invited").slug,
        "paid": completion_claims.publish(database_url, maker.document()).slug,
    }
    factories.settle(database_url, names["few"], tablet=True)
    factories.settle(database_url, names["early"], opens_at=surveys.now() + timedelta(days=2))
    for name in ("closed", "archived"):
        factories.close(database_url, names[name])
    maker.search(names["closed"])
    factories.settle(database_url, names["archived"], archived_on=datetime.now(UTC).date())
    factories.invite(database_url, names["invited"], 30)
    names["report"] = maker.release(names["busy"])
    names["guide"] = {"en": "guide", "es": "guia"}[language]
    return Scene(database_url, language, names)


@dataclass(frozen=True)
class _Maker:
    database_url: str
    language: str
    long: bool

    def say(self, english: str, spanish: str) -> str:
        """The owner's words."""
        text = {"en": english, "es": spanish}[self.language]
        return f"{text} {LONGEST}" if self.long else text

    def options(self, *named: tuple[str, str, str]) -> list[Document]:
        return [{"name": name, "text": self.say(english, spanish)} for name, english, spanish in named]

    def document(self, title: str = "") -> Document:
        """Five questions of five kinds."""
        asked = {
            "copied": ("yes_no", "Have you ever copied in an exam?", "¿Has copiado alguna vez en un examen?"),
            "reason": ("select_one", "What was the reason?", "¿Cuál fue el motivo?"),
            "used": ("select_multiple", "Which of these did you use?", "¿Qué usaste?"),
            "bad": ("scale", "How bad do you find it?", "¿Qué grave te parece?"),
            "hours": ("number", "How many hours did you study?", "¿Cuántas horas estudiaste?"),
        }
        questions: list[Document] = [
            {"name": name, "kind": kind, "text": self.say(english, spanish)}
            for name, (kind, english, spanish) in asked.items()
        ]
        yes_no, reason, used, bad, hours = questions
        yes_no["design"] = {"mechanism": "coin_flip"}
        reason |= {
            "options": self.options(
                ("time", "No time", "Falta de tiempo"), ("hard", "Too hard", "Muy difícil")
            ),
            "prefer_not_to_say": True,
            "design": {"mechanism": "best_choice"},
        }
        used |= {
            "options": self.options(("notes", "Notes", "Apuntes"), ("phone", "A phone", "Un móvil")),
            "design": {"mechanism": "coin_flip"},
        }
        levels = ("no", "Not bad", "Nada"), ("so", "Rather bad", "Algo"), ("very", "Very bad", "Muy grave")
        bad |= {"options": self.options(*levels), "design": {"mechanism": "ordinal"}}
        unit = self.say("hours", "horas")[:40].strip()
        hours |= {
            "low": 0,
            "high": 40,
            "step": 1,
            "unit": unit,
            "design": {"mechanism": "stochastic_rounding"},
        }
        return factories.definition(
            title=f"{self.say('Exam survey', 'Encuesta sobre exámenes')} {title}".strip(),
            introduction=self.say("Five questions about exams.", "Cinco preguntas sobre exámenes."),
            language=self.language,
            questions=questions,
            budget=6,
            plan={"respondents": 2_500, "margin": 0.1},
        )

    def publish(self, title: str) -> factories.Published:
        return factories.publish(self.database_url, self.document(title), minimum=10)

    def answered(self, title: str, sizes: Mapping[str, int]) -> str:
        """A survey with so many responses by each link, over some days."""
        survey = self.publish(title)
        self.answer(survey, sizes)
        return survey.slug

    def answer(self, survey: factories.Published, sizes: Mapping[str, int]) -> None:
        definition = parse_definition(self.document())
        assumed = Assumptions({"copied.yes": 0.3, "reason.time": 0.5, "used.notes": 0.4}, {"hours": 12.0})
        for link, size in sizes.items():
            rows = [tuple(row) for row in draw_people(definition, size, assumed).reports().tolist()]
            for ago in range(DAYS):
                day = datetime.now(UTC).date() - timedelta(days=ago)
                if chosen := Counter(rows[ago::DAYS]):
                    factories.store(self.database_url, survey, list(chosen.items()), link, day)

    def busy(self) -> str:
        """An open survey in strata that many have answered."""
        survey = self.publish("")
        lines = [f"{self.say(name, name)}, {population}" for name, population, _ in STRATA]
        links = factories.plant(self.database_url, survey.slug, "\n".join(lines)).values()
        self.answer(survey, {link: size for link, (_, _, size) in zip(links, STRATA, strict=True)})
        return survey.slug

    def release(self, slug: str) -> str:
        """The public report of some releases; its slug."""
        items = [
            {"kind": "count"},
            {"kind": "share", "question": "copied", "option": "yes"},
            {"kind": "histogram", "question": "reason"},
            {"kind": "mean", "question": "hours"},
            {"kind": "hierarchy"},
        ]
        with factories.writing(self.database_url) as session:
            found = survey_access.find(session, slug)
            assert found is not None
            releases.set_budget(session, found, 3, 0, "unbounded", None)
            releases.make(session, found, parse_plan({"format": 1, "items": items, "epsilon": 1.5}), None)
            return report_links.make_link(session, found).slug

    def search(self, slug: str) -> None:
        """A search of a closed survey that was asked one thing."""
        with factories.writing(self.database_url) as session:
            found = survey_access.find(session, slug)
            assert found is not None
            releases.set_budget(session, found, 2, 0, "unbounded", None)
            terms = parse_terms({"share": "0.2", "positives": 3, "epsilon": 1})
            ask_search(session, found, open_search(session, found, terms, None), "copied", "yes")


def _begin(page: Page, scene: Scene) -> Respondent:
    visit = Respondent(page, scene.names["busy"], scene.language)
    visit.start(5)
    return visit


def answer_one(page: Page, scene: Scene) -> None:
    """The first question, answered."""
    _begin(page, scene).radio("Yes").check()


def answer_all(page: Page, scene: Scene) -> None:
    """Up to the screen that sends: of each question the first answer, or a number."""
    visit = _begin(page, scene)
    for _ in range(5):
        before = page.locator("main h1").element_handle()
        field = (
            page.get_by_role("radio").or_(page.get_by_role("checkbox")).or_(page.get_by_role("textbox")).first
        )
        if field.get_attribute("type") in ("radio", "checkbox"):
            field.check()
        else:
            field.fill("7")
        visit.button("Next").click()
        page.wait_for_function("before => !before.isConnected", arg=before)


def see_what_is_sent(page: Page, scene: Scene) -> None:
    """The screen that sends, with exactly what will be sent."""
    answer_all(page, scene)
    Respondent(page, "", scene.language).sent_body()


def publish_first(page: Page, scene: Scene) -> None:
    """What is asked before a survey goes out that falls short of its plan."""
    page.locator("main form[action$='/publish'] button.primary").first.click()
    page.wait_for_load_state("networkidle")


def rehearse(page: Page, scene: Scene) -> None:
    """The report of made-up people."""
    page.locator("form.assumptions button.primary").click()
    expect(page.locator("#found")).to_be_visible()


def open_third(page: Page, scene: Scene) -> None:
    """One question of the editor's list, open."""
    page.locator(".entry").nth(2).locator("summary").first.click()


def show_foreign_report(page: Page, scene: Scene) -> None:
    """A report on data from elsewhere, below the form that asked for it."""
    for name, body in foreign_data.FILES.items():
        page.locator(f"#{name}").set_input_files({"name": name, "mimeType": "text/plain", "buffer": body})
    page.locator("#elsewhere .foot button.primary").click()
    expect(page.locator("#found")).to_be_focused()


def choose_items(page: Page, scene: Scene) -> None:
    """A release, looked at before it is paid for."""
    for box in page.get_by_label("Most common answer, without any number").all()[:2]:
        box.check()
    page.locator("#builder .foot button.primary").click()
    page.wait_for_load_state("networkidle")


HOME = "/manage/surveys/{busy}"
PAGES: tuple[PageState, ...] = (
    PageState("home", "/", VISITOR),
    PageState("help", "/help", VISITOR),
    PageState("help-guide", "/help/{guide}", VISITOR, often=True),
    PageState("help-found", "/help?q=moneda", VISITOR),
    PageState("reference", "/api", VISITOR),
    PageState("teach", "/teach", VISITOR),
    PageState("teach-again", "/teach/again", VISITOR),
    PageState("teach-difference", "/teach/difference", VISITOR),
    PageState("teach-noise", "/teach/noise", VISITOR),
    PageState("teach-audit", "/teach/audit", VISITOR),
    PageState("teach-class", "/teach/class", VISITOR),
    PageState("teach-cards", "/teach/cards", VISITOR),
    PageState("sign-in", "/manage/sign-in", VISITOR),
    PageState("sign-in-link", "/manage/sign-in/used-already", VISITOR),
    PageState("nothing-here", "/nowhere", VISITOR, status=404),
    PageState("introduction", "/s/{busy}", VISITOR, often=True),
    PageState("question", "/s/{busy}", VISITOR, answer_one, often=True),
    PageState("review", "/s/{busy}", VISITOR, answer_all, often=True),
    PageState("review-open", "/s/{busy}", VISITOR, see_what_is_sent),
    PageState("how", "/s/{busy}/how", VISITOR),
    PageState("tablet", "/s/{few}/tablet", VISITOR),
    PageState("tablet-off", "/s/{busy}/tablet", VISITOR),
    PageState("respond-receipt", "/s/{busy}/receipt", VISITOR),
    PageState("respond-receipt-closed", "/s/{closed}/receipt", VISITOR, status=410),
    PageState("introduction-code", "/s/{invited}", VISITOR),
    PageState("respond-closed", "/s/{closed}", VISITOR, status=410),
    PageState("respond-early", "/s/{early}", VISITOR, status=423),
    PageState("respond-unknown", "/s/bcdfghjkmnpq", VISITOR, status=404),
    PageState("public-report", "/r/{report}", VISITOR, often=True),
    PageState("public-unknown", "/r/bcdfghjkmnpq", VISITOR, status=404),
    PageState("surveys-none", "/manage/surveys", NEWCOMER),
    PageState("surveys", "/manage/surveys", often=True),
    PageState("gallery", "/manage/gallery"),
    PageState("import", "/manage/surveys/import"),
    PageState("power", "/manage/power?planned=1000"),
    PageState("elsewhere", "/manage/elsewhere"),
    PageState("elsewhere-report", "/manage/elsewhere", OWNER, show_foreign_report),
    PageState("new-survey", "/manage/surveys/new"),
    PageState("editor", "/manage/surveys/{draft}/edit", often=True),
    PageState("editor-open", "/manage/surveys/{draft}/edit", OWNER, open_third),
    PageState("editor-problems", "/manage/surveys/{unfinished}/edit?check=1"),
    PageState("translations", "/manage/surveys/{draft}/translations?to=fr"),
    PageState("preview", "/manage/surveys/{draft}/preview"),
    PageState("overview-draft", "/manage/surveys/{draft}"),
    PageState("overview-unfinished", "/manage/surveys/{unfinished}"),
    PageState("overview", HOME, often=True),
    PageState("overview-closed", "/manage/surveys/{closed}"),
    PageState("overview-archived", "/manage/surveys/{archived}"),
    PageState("simulate", "/manage/surveys/{draft}/simulate"),
    PageState("simulate-look", "/manage/surveys/{draft}/simulate/look"),
    PageState("simulate-found", "/manage/surveys/{draft}/simulate", OWNER, rehearse),
    PageState("links", f"{HOME}/links", often=True),
    PageState("links-sheet", f"{HOME}/links/sheet"),
    PageState("strata", f"{HOME}/strata"),
    PageState("class-begun", "/manage/class"),
    PageState("class-board", f"{HOME}/board"),
    PageState("invitations-none", "/manage/surveys/{empty}/invitations"),
    PageState("invitations", "/manage/surveys/{invited}/invitations"),
    PageState("completions-none", "/manage/surveys/{empty}/completions"),
    PageState("completions", "/manage/surveys/{paid}/completions"),
    PageState("paper", f"{HOME}/paper"),
    PageState("paper-none", "/manage/surveys/{empty}/paper"),
    PageState("schedule", f"{HOME}/schedule"),
    PageState("study-sheet", f"{HOME}/study"),
    PageState("results-none", "/manage/surveys/{empty}/results"),
    PageState("results-few", "/manage/surveys/{few}/results"),
    PageState("results", f"{HOME}/results", often=True),
    PageState("results-anytime", f"{HOME}/results?interval=anytime"),
    PageState("results-compared", f"{HOME}/results?first_stratum=North&second_stratum=South#compare"),
    PageState("results-together", f"{HOME}/results?row=copied&column=bad#joint"),
    PageState("explain", f"{HOME}/explain"),
    PageState("explain-found", f"{HOME}/explain?explain=copied&by=stratum&by=reason#found"),
    PageState("releases-none", "/manage/surveys/{empty}/releases"),
    PageState("releases", f"{HOME}/releases"),
    PageState("release", f"{HOME}/releases/1"),
    PageState("release-new", f"{HOME}/releases/new"),
    PageState("release-price", f"{HOME}/releases/new", OWNER, choose_items),
    PageState("searches", "/manage/surveys/{closed}/releases/searches"),
    PageState("search", "/manage/surveys/{closed}/releases/searches/1"),
    PageState("people", f"{HOME}/people"),
    PageState("log", f"{HOME}/log"),
    PageState("keeping", f"{HOME}/keeping"),
    PageState("keeping-archived", "/manage/surveys/{archived}/keeping"),
    PageState("account", "/manage/account"),
    PageState("programs", "/manage/account/programs"),
    PageState("colleagues", "/manage/colleagues"),
    PageState("log-of-all", "/manage/log"),
)
"""What is missed here, `tests/test_page_list.py` names."""
