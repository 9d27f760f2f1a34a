"""What is wrong with each answer of a site, beside what this release would have answered."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse
from werkzeug.wrappers import Response

from server.output.languages import DEFAULT_LANGUAGE
from server.study.study_sheets import SurveySender
from server.web.page_manifest import PATH
from server.web.respondent_page import PublishedSurvey
from server.web.response_headers import OFFLINE_POLICY
from server.web.sender_parts import read_stated_sender
from server.web.verifying.answer_differences import compare_answers, compare_headers
from server.web.verifying.page_matches import PageDifference, PageMatch, Shell, match_page
from server.web.verifying.page_references import find_foreign_references
from server.web.verifying.shells import ShellDrawer, parse_survey
from server.web.verifying.visitors import SiteAnswer, Visitor

_Draw = Callable[[str, str, PublishedSurvey], Iterable[Shell]]
_WORKER = ' data-offline="'
"""In what a page says that may keep itself."""
_FORGETS = re.compile(rb'<main [^>]*" data-forgets[ >]')


class AnswerChecker:
    """What is expected of every answer, and what the pages said that were met so far.

    Attributes
    ----------
    data : dict of str to dict of str to str
        What each link's page says of its survey, by link.
    pages : dict of (str, str) to bytes
        The SHA-256 of pages by path and language.
    logos : set of (str, str)
        The pictures that pages show, by link and SHA-256.
    with_workers : set of str
        The paths of pages whose content security policy is their own, as it names the worker that keeps them.
    """

    def __init__(self, app: Flask, manifest: Mapping[str, Any]) -> None:
        self.data: dict[str, dict[str, str]] = {}
        self.pages: dict[tuple[str, str], bytes] = {}
        self.logos: set[tuple[str, str]] = set()
        self.with_workers: set[str] = set()
        self._beside: dict[tuple[str, str], dict[str, str]] = {}
        self._pinned = frozenset(manifest["files"])
        self._drawer = ShellDrawer(app)
        self._app = app
        self._picture = Response(mimetype="image/png", headers=manifest["headers"])
        self._own: dict[tuple[str, str], TestResponse] = {}
        self._surveys: dict[str, tuple[SiteAnswer | None, PublishedSurvey | None]] = {}
        # Of texts that were compared already: most visitors are given the same one.
        self._loaded: dict[tuple[str, bytes], list[str]] = {}
        self._matched: dict[tuple[str, str, bytes], PageMatch | PageDifference] = {}

    def expect_survey(self, slug: str, answer: SiteAnswer | None) -> None:
        """Take the first answer to a request for a survey, if any: every visitor must be given the same."""
        survey = self._accept_survey(slug, answer) if answer and answer.status == 200 else None
        self._surveys[slug] = answer, survey

    def is_survey_known(self, slug: str) -> bool:
        """Whether the pages that a link has while it takes responses can be drawn."""
        return self._surveys[slug][1] is not None

    def _accept_survey(self, slug: str, answer: SiteAnswer) -> PublishedSurvey | None:
        """A survey of which pages can be drawn."""
        try:
            survey = parse_survey(slug, answer.body)
            next(iter(self._drawer.draw_open(slug, DEFAULT_LANGUAGE, survey, forgets=False)))
        except Exception:  # a document that is none of ours may break whatever reads it
            return None
        return survey

    def _expect(self, path: str, accepted: str = "") -> TestResponse:
        """What this release answers."""
        if (path, accepted) not in self._own:
            self._own[path, accepted] = self._app.test_client().get(
                path, headers={"Accept-Language": accepted}
            )
        return self._own[path, accepted]

    def check_file(self, path: str, answer: SiteAnswer, visitor: Visitor) -> list[str]:
        """What is wrong with a file, or with the front page."""
        if path == "/":
            self.pages[path, visitor.choose_language(path)] = hashlib.sha256(answer.body).digest()
        return compare_answers(answer, self._expect(path, visitor.accepted))

    def check_survey(self, slug: str, answer: SiteAnswer, visitor: Visitor) -> list[str]:
        """What is wrong with the survey itself, as programs read it."""
        first, survey = self._surveys[slug]
        problems = compare_headers(answer, self._expect(PATH))
        # A refusal has words in the visitor's language, which no page shows.
        if (
            first is None
            or answer.status != first.status
            or (survey is not None and answer.body != first.body)
        ):
            problems.append("not what the first request for it was given")
        if answer.status == 200 and survey is None:
            problems.append("not a published survey with its own fingerprint")
        return problems

    def check_page(
        self, slug: str, requested_language: str | None, answer: SiteAnswer, visitor: Visitor
    ) -> list[str]:
        """What is wrong with a link's page, in the language asked for or else in that of the visitor."""
        language = requested_language or visitor.choose_language(f"/s/{slug}")
        survey = self._surveys[slug][1]
        # A page that says so is compared with those that do: half as many are drawn.
        forgets = _FORGETS.search(answer.body) is not None
        shells = (
            self._drawer.draw_shut(slug, language, forgets=forgets)
            if survey is None
            else self._drawer.draw_open(slug, language, survey, forgets=forgets)
        )
        problems, found = self._match(slug, f"/s/{slug}", language, answer, shells)
        if (answer.status == 200) != (survey is not None):
            problems.append(f"answers with status {answer.status}")
        if found is None:
            return problems
        if survey is not None:
            found |= {"title": survey.definition.title, "version": survey.version}
            if keys := survey.definition.ticket_keys:
                found["ticket keys"] = f"{len(keys)}{'' if keys[0][0] else ', not said of which links'}"
        return problems + self._compare_data(self.data.setdefault(slug, {}), language, found)

    def check_how(
        self, slug: str, requested_language: str | None, answer: SiteAnswer, visitor: Visitor
    ) -> list[str]:
        """What is wrong with the page that explains."""
        return self._check_while_open(slug, "how", requested_language, answer, visitor, self._drawer.draw_how)

    def check_screens(
        self, slug: str, requested_language: str | None, answer: SiteAnswer, visitor: Visitor
    ) -> list[str]:
        """What is wrong with what the page loads once its first screen is there."""
        return self._check_while_open(
            slug, "screens", requested_language, answer, visitor, self._drawer.draw_screens
        )

    def check_tablet(
        self, slug: str, requested_language: str | None, answer: SiteAnswer, visitor: Visitor
    ) -> list[str]:
        """What is wrong with the page for a tablet."""
        return self._check_while_open(
            slug, "tablet", requested_language, answer, visitor, self._drawer.draw_tablet
        )

    def check_logo(self, name: str, answer: SiteAnswer, visitor: Visitor) -> list[str]:
        """What is wrong with the picture of this name, its SHA-256."""
        problems = compare_headers(answer, self._picture)
        if answer.status != 200 or hashlib.sha256(answer.body).hexdigest() != name:
            problems.append("not the picture that its name says")
        return problems

    def check_receipt(
        self, slug: str, requested_language: str | None, answer: SiteAnswer, visitor: Visitor
    ) -> list[str]:
        """What is wrong with the page where a receipt is looked for."""
        page = f"/s/{slug}/receipt"
        language = requested_language or visitor.choose_language(page)
        problems, found = self._match(slug, page, language, answer, self._drawer.draw_receipt(slug, language))
        known = found is None or found["state"] == str(answer.status)
        return problems + [f"answers with status {answer.status}"] * (not known)

    def _check_while_open(
        self,
        slug: str,
        name: str,
        requested_language: str | None,
        answer: SiteAnswer,
        visitor: Visitor,
        draw: _Draw,
    ) -> list[str]:
        """While the survey takes no responses, its numbers are known to the site alone: only what the page loads is."""
        survey = self._surveys[slug][1]
        if survey is None:
            return self._read(slug, answer)[0]
        page = f"/s/{slug}/{name}"
        language = requested_language or visitor.choose_language(page)
        problems, found = self._match(slug, page, language, answer, draw(slug, language, survey))
        problems += [f"answers with status {answer.status}"] * (answer.status != 200)
        # Their data are the survey's settings in words: in each language the same for every visitor.
        known = self._beside.setdefault((page, language), {})
        return problems + self._compare_data(known, language, found or {})

    def _read(self, slug: str, answer: SiteAnswer) -> tuple[list[str], str]:
        """The text of a page, and what is wrong with its headers and with what it loads beside its own logo."""
        try:
            text = answer.body.decode()
        except UnicodeDecodeError:
            return [*compare_headers(answer, self._expect("/")), "not UTF-8"], ""
        # Whether the page may say so, its shell shows.
        policy = OFFLINE_POLICY if _WORKER in text else ""
        problems = compare_headers(answer, self._expect("/"), policy)
        logo = read_stated_sender(text).logo
        own: set[str] = set()
        if re.fullmatch("[0-9a-f]{64}", logo):
            own.add(f"/s/{slug}/logo/{logo}.png")
            self.logos.add((slug, logo))
        key = slug, hashlib.sha256(answer.body).digest()
        if key not in self._loaded:
            self._loaded[key] = find_foreign_references(text, self._pinned | own)
        return problems + self._loaded[key], text

    def _match(
        self, slug: str, page: str, language: str, answer: SiteAnswer, shells: Iterable[Shell]
    ) -> tuple[list[str], dict[str, str] | None]:
        """What is wrong with a page at a path, and its data where it is one of these shells."""
        problems, text = self._read(slug, answer)
        if _WORKER in text:
            self.with_workers.add(page)
        key = page, language, hashlib.sha256(answer.body).digest()
        if key not in self._matched:
            named = self._drawer.name_sender(slug, language, text, shells)
            self._matched[key] = match_page(text, named)
        matched = self._matched[key]
        if isinstance(matched, PageDifference):
            return [*problems, matched.describe()], None
        self._drawer.note_match(matched.shell)
        self.pages[page, language] = key[2]
        found = dict(matched.data)
        if (sender := read_stated_sender(text)) != SurveySender():
            found["sender"] = json.dumps(sender.as_json(), ensure_ascii=False)
        return problems, found

    @staticmethod
    def _compare_data(known: dict[str, str], language: str, slots: Mapping[str, str]) -> list[str]:
        problems = []
        for slot, text in slots.items():
            name, value = slot, text
            if slot in ("opens", "sender"):  # a time as the language writes it, words in the language
                name = f"{slot} ({language})"
            elif slot == "population":
                value = str(int(re.sub("[.,٬\u202f]", "", text)))
            if known.setdefault(name, value) != value:
                problems.append(f"its {name} is {value!r}, and was {known[name]!r} before")
        return problems
