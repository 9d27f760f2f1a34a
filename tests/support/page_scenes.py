"""A database with a survey in each state that people see most, which pictures and walks are taken of."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from server import people, releases
from server.people import survey_access
from server.releases import report_links
from server.releases.plans.plan_reader import parse_plan
from server.releases.searches import ask_search, open_search, parse_terms
from server.simulation import Assumptions, draw_people
from server.study import study_sheets, surveys
from server.study.definitions.definition_reader import parse_definition
from tests.support import completion_claims, factories, ticket_buyers, wide_survey

Document = dict[str, Any]
LONGEST = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
STRATA = (("North", 4_000, 900), ("South", 2_500, 700), ("Islands", 120, 4), ("Coast", 900, 400))
"""Name, population, respondents: of one fewer than are shown."""
DAYS = 12
COINS = {"mechanism": "coin_flip", "gamma": 0.25}
CODES = 20
"""So many visitors can buy a ticket in a scene."""


@dataclass(frozen=True)
class SurveysInStates:
    """Surveys in every state, by what they are called here: their slugs; and what else addresses hold."""

    database_url: str
    language: str
    names: Mapping[str, str]

    def address(self, path: str) -> str:
        """An address with what belongs into its braces."""
        return path.format(**self.names)


def build_scene(database_url: str, language: str = "en", *, long: bool = False) -> SurveysInStates:
    """Put a survey in each state into a database; `long`: the owner's words are as long as words get."""
    maker = _Maker(database_url, language, long)
    draft = factories.draft(database_url, maker.document())
    names = {
        "draft": draft,
        "unfinished": factories.draft_unfinished(database_url, {**maker.document(), "title": ""}),
        "few": maker.make_answered("few", {"": 4}),
        "empty": maker.publish("empty").slug,
        "busy": maker.busy(),
        "closed": maker.publish("closed").slug,
        "early": maker.publish("early").slug,
        "archived": maker.publish("archived").slug,
        "invited": maker.publish("invited").slug,
        "paid": completion_claims.publish(database_url, maker.document()).slug,
        "thrown": maker.thrown(),
        "wide": wide_survey.publish(database_url, maker.document("wide"), maker.say),
        **maker.make_ticketed(),
    }
    factories.settle(database_url, names["few"], tablet=True)
    factories.settle(database_url, names["early"], opens_at=surveys.now() + timedelta(days=2))
    for name in ("closed", "archived"):
        factories.close(database_url, names[name])
    maker.search(names["closed"])
    factories.settle(database_url, names["archived"], archived_on=datetime.now(UTC).date())
    factories.invite(database_url, names["invited"], 30)
    maker.speak(names["few"])
    names["report"] = maker.release(names["busy"])
    names["joining"] = maker.invite_colleague(names["busy"])
    names["guide"] = {"en": "guide/results", "es": "guia/resultados"}[language]
    return SurveysInStates(database_url, language, names)


def make_link_of_password(database_url: str, login: str) -> str:
    """The secret of a sign-in link of a new researcher who has chosen a password."""
    return factories.link_of(
        database_url, factories.account(database_url, login, "correct horse battery staple")
    )


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
            "bad": ("scale", "How bad do you find it?", "¿Cómo de grave te parece?"),
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

    def make_answered(self, title: str, sizes: Mapping[str, int]) -> str:
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

    def thrown(self) -> str:
        """A survey that is answered on paper, too: two answers, and more and longer ones."""
        document = self.document("paper")
        options = self.options(
            (
                "never",
                "Never in all the years that I studied here",
                "Nunca en todos los años que estudié aquí",
            ),
            (
                "once",
                "Once or twice, in an exam that did not count",
                "Una o dos veces, en un examen que no contaba",
            ),
            ("often", "More often than that", "Más veces"),
        )
        chosen = {"mechanism": "k_ary", "epsilon": math.log(4)}
        text = self.say("How often?", "¿Cuántas veces?")
        often = {"name": "often", "kind": "select_one", "text": text, "options": options, "design": chosen}
        document["questions"] = [document["questions"][0] | {"design": COINS}, often]
        return factories.publish(self.database_url, document, minimum=10).slug

    def make_ticketed(self) -> dict[str, str]:
        """A survey whose codes buy tickets, and codes: each is bought with once."""
        document = self.document("tickets")
        document["questions"] = [document["questions"][0] | {"design": COINS}]
        slug = ticket_buyers.publish(self.database_url, document=document)[0].slug
        codes = factories.invite(self.database_url, slug, CODES)
        return {"ticketed": slug, "codes": " ".join(code.replace("-", "") for code in codes)}

    def speak(self, slug: str) -> None:
        """What whoever asks says on the tablet."""
        words = self.say("We come from the students' union.", "Venimos del sindicato de estudiantes.")
        with factories.writing(self.database_url) as session:
            found = survey_access.find(session, slug)
            assert found is not None
            sheet = study_sheets.parse_study_sheet({"hand_over": {self.language: words}})
            study_sheets.save_study_sheet(session, found, sheet)

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
        others = [
            {"kind": "table", "questions": ["copied", "reason"]},
            {"kind": "table", "question": "copied", "by_stratum": True},
            {"kind": "mean", "question": "hours", "by_stratum": True},
            {"kind": "most_common", "question": "reason"},
            {"kind": "top", "question": "reason", "how_many": 2},
            {"kind": "exceeding", "questions": ["copied", "reason"], "share": 0.2, "positives": 2},
        ]
        with factories.writing(self.database_url) as session:
            found = survey_access.find(session, slug)
            assert found is not None
            releases.set_budget(session, found, 3, 0, "unbounded", None)
            for several, epsilon in ((items, 1.5), (others, 1.2)):
                plan = parse_plan({"format": 1, "items": several, "epsilon": epsilon})
                releases.make(session, found, plan, None)
            return report_links.make_link(session, found).slug

    def invite_colleague(self, slug: str) -> str:
        """The secret of an invitation to a survey."""
        with factories.writing(self.database_url) as session:
            inviter = people.first_researcher(session)
            return people.invite(session, inviter, "Ana", survey_access.find(session, slug), "editor")

    def search(self, slug: str) -> None:
        """A search of a closed survey that was asked one thing."""
        with factories.writing(self.database_url) as session:
            found = survey_access.find(session, slug)
            assert found is not None
            releases.set_budget(session, found, 2, 0, "unbounded", None)
            terms = parse_terms({"share": "0.2", "positives": 3, "epsilon": 1})
            ask_search(session, found, open_search(session, found, terms, None), "copied", "yes")
