"""Compares a running site with this release: every file, and the pages of links, at each of several visits."""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from server.output.languages import (
    DEFAULT_LANGUAGE,
    list_digit_readings,
    list_readings,
)
from server.study.study_sheets import SurveySender
from server.web.page_manifest import PATH
from server.web.respondent_page import PublishedSurvey
from server.web.security import OFFLINE_POLICY
from server.web.sender_parts import read_stated
from server.web.verifying.answer_differences import compare_answers, compare_headers
from server.web.verifying.page_matches import PageDifference, Shell, match_page
from server.web.verifying.page_references import find_foreign_references
from server.web.verifying.shells import ShellDrawer, parse_survey
from server.web.verifying.visitors import (
    ENCODINGS,
    LONGEST,
    VISITORS,
    Fetcher,
    FetchError,
    SiteAnswer,
    Visitor,
)

_FORGETS = re.compile(rb'<main [^>]*" data-forgets[ >]')
_AT_ONCE = 4
"""Requests under way."""
Check = Callable[[SiteAnswer, Visitor], list[str]]
"""What is wrong with an answer to a visitor."""


class UnreachableError(Exception):
    """The site answered nothing at all."""


@dataclass(frozen=True)
class SiteFinding:
    """One thing that was compared, and what differs: each problem with the visits that met it."""

    what: str
    problems: tuple[str, ...]


@dataclass(frozen=True)
class SiteComparison:
    """What was compared, what each link's page says of its survey, and the SHA-256 of pages by path and language."""

    findings: tuple[SiteFinding, ...]
    data: dict[str, dict[str, str]]
    pages: dict[tuple[str, str], bytes]

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not any(finding.problems for finding in self.findings)


@dataclass(frozen=True)
class _Target:
    what: str
    path: str
    check: Check


async def compare_site(
    app: Flask,
    manifest: Mapping[str, Any],
    site: str,
    slugs: Sequence[str],
    tell: Callable[[int, int], None],
    longest: float = LONGEST,
) -> SiteComparison:
    """Compare one site with what `app`, an application of this release which serves nobody, answers itself.

    Each request ends after `longest` seconds.

    Raises
    ------
    UnreachableError
        Where the first request reaches no server.
    """
    async with Fetcher(site, longest) as fetcher:
        return await _SiteComparer(app, manifest).compare(fetcher, slugs, tell)


class _SiteComparer:
    """What is compared, what is expected, and what was found so far."""

    def __init__(self, app: Flask, manifest: Mapping[str, Any]) -> None:
        self._pinned = frozenset(manifest["files"])
        self._files = [*manifest["files"], PATH]
        self._drawer = ShellDrawer(app)
        self._app = app
        self._own: dict[tuple[str, str], TestResponse] = {}
        self._surveys: dict[str, tuple[SiteAnswer | None, PublishedSurvey | None]] = {}
        self._data: dict[str, dict[str, str]] = {}
        self._pages: dict[tuple[str, str], bytes] = {}
        # Of texts that were compared already: most visitors are given the same one.
        self._loaded: dict[tuple[str, bytes], list[str]] = {}
        self._matched: dict[tuple[str, str, bytes], dict[str, str] | PageDifference] = {}

    async def compare(
        self, fetcher: Fetcher, slugs: Sequence[str], tell: Callable[[int, int], None]
    ) -> SiteComparison:
        """Visit every file, the front page and the pages of links as each visitor, twice."""
        try:
            await fetcher.fetch("/", VISITORS[0], ENCODINGS[0])
        except FetchError as error:
            if not error.reached:
                raise UnreachableError(str(error)) from None
        for slug in slugs:
            await self._read_survey(fetcher, slug)
        targets = [target for slug in slugs for target in self._list_link(slug)]
        targets += [_Target("front page", "/", partial(self._check_file, "/"))]
        targets += [_Target(path, path, partial(self._check_file, path)) for path in self._files]
        met: dict[str, dict[str, list[str]]] = {target.what: {} for target in targets}
        places = asyncio.Semaphore(_AT_ONCE)
        # Beside the loop, and one at a time: a page that differs is compared with thousands, and whatever is on its
        # way meanwhile would seem to have come too late.
        checking = asyncio.Lock()
        done, visits = 0, len(targets) * len(ENCODINGS) * len(VISITORS)
        failed: set[str] = set()

        async def visit(target: _Target, visitor: Visitor, turn: int) -> None:
            nonlocal done
            problems: list[str] = []
            async with places:
                try:
                    # Not again, so that a site which never ends an answer cannot keep this from ending.
                    if target.what not in failed:
                        answer = await fetcher.fetch(target.path, visitor, ENCODINGS[turn])
                        async with checking:
                            problems = await asyncio.to_thread(target.check, answer, visitor)
                except FetchError as error:
                    failed.add(target.what)
                    problems = [f"{error}; not asked for again"]
            for problem in problems:
                met[target.what].setdefault(problem, []).append(f"{visitor.name}, visit {turn + 1}")
            done += 1
            tell(done, visits)

        for turn, visitor in product(range(len(ENCODINGS)), VISITORS):
            await asyncio.gather(*(visit(target, visitor, turn) for target in targets))
        return SiteComparison(
            tuple(_conclude(what, problems) for what, problems in met.items()), self._data, self._pages
        )

    async def _read_survey(self, fetcher: Fetcher, slug: str) -> None:
        """What the pages of a link are compared by; every visitor must then be given the same."""
        try:
            answer = await fetcher.fetch(f"/s/{slug}/survey.json", VISITORS[0], ENCODINGS[0])
        except FetchError:
            self._surveys[slug] = None, None
        else:
            self._surveys[slug] = answer, self._accept_survey(slug, answer) if answer.status == 200 else None

    def _accept_survey(self, slug: str, answer: SiteAnswer) -> PublishedSurvey | None:
        """A survey of which pages can be drawn."""
        try:
            survey = parse_survey(answer.body)
            next(iter(self._drawer.draw_open(slug, DEFAULT_LANGUAGE, survey, forgets=False)))
        except Exception:  # a document that is none of ours may break whatever reads it
            return None
        return survey

    def _list_link(self, slug: str) -> list[_Target]:
        page = partial(self._check_page, slug)
        return [
            _Target(f"page of {slug}", f"/s/{slug}", partial(page, None)),
            *(
                _Target(f"page of {slug}, in {name}", f"/s/{slug}?lang={reading}", partial(page, reading))
                for reading, name in list_readings()
            ),
            _Target(f"survey of {slug}", f"/s/{slug}/survey.json", partial(self._check_survey, slug)),
            *(
                _Target(f"{what} of {slug}{named}", f"/s/{slug}/{page}{asked}", partial(check, slug, reading))
                for what, page, check in (
                    ("explanation", "how", self._check_how),
                    ("tablet", "tablet", self._check_tablet),
                    ("receipts", "receipt", self._check_receipt),
                )
                # Digits that are no language's first are asked for by the address alone.
                for reading, named, asked in (
                    (None, "", ""),
                    *((code, f", in {name}", f"?lang={code}") for code, name in list_digit_readings()),
                )
            ),
        ]

    def _expect(self, path: str, accepted: str = "") -> TestResponse:
        """What this release answers."""
        if (path, accepted) not in self._own:
            self._own[path, accepted] = self._app.test_client().get(
                path, headers={"Accept-Language": accepted}
            )
        return self._own[path, accepted]

    def _check_file(self, path: str, answer: SiteAnswer, visitor: Visitor) -> list[str]:
        if path == "/":
            self._pages[path, visitor.choose_language(path)] = hashlib.sha256(answer.body).digest()
        return compare_answers(answer, self._expect(path, visitor.accepted))

    def _check_survey(self, slug: str, answer: SiteAnswer, visitor: Visitor) -> list[str]:
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

    def _check_page(self, slug: str, asked: str | None, answer: SiteAnswer, visitor: Visitor) -> list[str]:
        language = asked or visitor.choose_language(f"/s/{slug}")
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
        self._pages[f"/s/{slug}", language] = hashlib.sha256(answer.body).digest()
        if survey is not None:
            found |= {"title": survey.definition.title, "version": survey.version}
        return problems + self._compare_data(slug, language, found)

    def _check_how(self, slug: str, asked: str | None, answer: SiteAnswer, visitor: Visitor) -> list[str]:
        """While the survey takes no responses, its numbers are known to the site alone: only what the page loads is."""
        survey = self._surveys[slug][1]
        if survey is None:
            return self._read(slug, answer)[0]
        page = f"/s/{slug}/how"
        language = asked or visitor.choose_language(page)
        problems, _ = self._match(slug, page, language, answer, self._drawer.draw_how(slug, language, survey))
        return problems + [f"answers with status {answer.status}"] * (answer.status != 200)

    def _check_tablet(self, slug: str, asked: str | None, answer: SiteAnswer, visitor: Visitor) -> list[str]:
        """While the survey takes no responses, its numbers are known to the site alone: only what the page loads is."""
        survey = self._surveys[slug][1]
        if survey is None:
            return self._read(slug, answer)[0]
        page = f"/s/{slug}/tablet"
        language = asked or visitor.choose_language(page)
        shells = self._drawer.draw_tablet(slug, language, survey)
        problems, _ = self._match(slug, page, language, answer, shells)
        return problems + [f"answers with status {answer.status}"] * (answer.status != 200)

    def _check_receipt(self, slug: str, asked: str | None, answer: SiteAnswer, visitor: Visitor) -> list[str]:
        page = f"/s/{slug}/receipt"
        language = asked or visitor.choose_language(page)
        problems, found = self._match(slug, page, language, answer, self._drawer.draw_receipt(slug, language))
        known = found is None or found["state"] == str(answer.status)
        return problems + [f"answers with status {answer.status}"] * (not known)

    def _read(self, slug: str, answer: SiteAnswer) -> tuple[list[str], str]:
        """The text of a page, and what is wrong with its headers and with what it loads beside its own logo."""
        try:
            text = answer.body.decode()
        except UnicodeDecodeError:
            return [*compare_headers(answer, self._expect("/")), "not UTF-8"], ""
        # Whether the page may say so, its shell shows.
        policy = OFFLINE_POLICY if ' data-offline="' in text else ""
        problems = compare_headers(answer, self._expect("/"), policy)
        logo = read_stated(text).logo
        own = {f"/s/{slug}/logo/{logo}.png"} if re.fullmatch("[0-9a-f]{64}", logo) else set()
        key = slug, hashlib.sha256(answer.body).digest()
        if key not in self._loaded:
            self._loaded[key] = find_foreign_references(text, self._pinned | own)
        return problems + self._loaded[key], text

    def _match(
        self, slug: str, page: str, language: str, answer: SiteAnswer, shells: Iterable[Shell]
    ) -> tuple[list[str], dict[str, str] | None]:
        """What is wrong with a page at a path, and its data where it is one of these shells."""
        problems, text = self._read(slug, answer)
        key = page, language, hashlib.sha256(answer.body).digest()
        if key not in self._matched:
            named = self._drawer.name_sender(slug, language, text, shells)
            self._matched[key] = match_page(text, named)
        matched = self._matched[key]
        if isinstance(matched, PageDifference):
            return [*problems, matched.describe()], None
        found = dict(matched)
        if (sender := read_stated(text)) != SurveySender():
            found["sender"] = json.dumps(sender.as_json(), ensure_ascii=False)
        return problems, found

    def _compare_data(self, slug: str, language: str, found: Mapping[str, str]) -> list[str]:
        known = self._data.setdefault(slug, {})
        problems = []
        for slot, text in found.items():
            name, value = slot, text
            if slot in ("opens", "sender"):  # a time as the language writes it, words in the language
                name = f"{slot} ({language})"
            elif slot == "population":
                value = str(int(re.sub("[.,٬\u202f]", "", text)))
            if known.setdefault(name, value) != value:
                problems.append(f"its {name} is {value!r}, and was {known[name]!r} before")
        return problems


def _conclude(what: str, problems: Mapping[str, Sequence[str]]) -> SiteFinding:
    visits = len(ENCODINGS) * len(VISITORS)
    return SiteFinding(
        what,
        tuple(
            f"{problem} ({'each of the visits' if len(met) == visits else '; '.join(met)})"
            for problem, met in problems.items()
        ),
    )
