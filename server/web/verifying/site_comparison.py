"""Compares a running site with this release: every file, and the pages of links, at each of several visits."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from flask import Flask

from server.output.languages import list_readings
from server.web.page_manifest import PATH
from server.web.verifying.answer_checks import AnswerChecker
from server.web.verifying.visitors import (
    ENCODINGS,
    LONGEST,
    VISITORS,
    Fetcher,
    FetchError,
    SiteAnswer,
    Visitor,
)

_AT_ONCE = 4
"""Requests under way."""
_ENGLISH = tuple(visitor for visitor in VISITORS if visitor.language == "English")
"""Who asks for what is beside a survey's page in each language by its address, as links of such a page do."""
_BEFORE = "before the visits"
"""When the front page is asked for once more than other pages: whether there is a site."""
_SAME_IN_PART = (
    "headers agree, and nothing foreign is loaded; not compared otherwise: no survey could be read here"
)
Check = Callable[[SiteAnswer, Visitor], list[str]]
"""What is wrong with an answer to a visitor."""


class UnreachableError(Exception):
    """The site answered nothing at all."""


@dataclass(frozen=True)
class SiteFinding:
    """One thing that was compared, and what differs: each problem with the visits that met it.

    What is not `whole` was compared by its headers and by what it loads alone.
    """

    what: str
    problems: tuple[str, ...]
    whole: bool

    @property
    def outcome(self) -> tuple[str, ...]:
        """What differs, or in how far nothing does."""
        return self.problems or ("same" if self.whole else _SAME_IN_PART,)


@dataclass(frozen=True)
class SiteComparison:
    """What was compared, what each link's page says of its survey, and the SHA-256 of pages by path and
    language, and of logos by path.

    Paths `with_workers` are those of pages that have a content security policy of their own.
    """

    findings: tuple[SiteFinding, ...]
    data: dict[str, dict[str, str]]
    pages: dict[tuple[str, str], bytes]
    logos: dict[str, bytes]
    with_workers: frozenset[str]

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not any(finding.problems for finding in self.findings)


@dataclass(frozen=True)
class _Target:
    what: str
    path: str
    check: Check
    visitors: tuple[Visitor, ...] = VISITORS
    whole: bool = True

    @property
    def visits(self) -> int:
        return len(ENCODINGS) * len(self.visitors)


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
    """What is asked for, by whom, and what was found so far."""

    def __init__(self, app: Flask, manifest: Mapping[str, Any]) -> None:
        self._checker = AnswerChecker(app, manifest)
        self._files = [*manifest["files"], PATH]

    async def compare(
        self, fetcher: Fetcher, slugs: Sequence[str], tell: Callable[[int, int], None]
    ) -> SiteComparison:
        """Visit every file, the front page and the pages of links as each visitor, twice."""
        first: list[str] = []
        try:
            first = self._checker.check_file(
                "/", await fetcher.fetch("/", VISITORS[0], ENCODINGS[0]), VISITORS[0]
            )
        except FetchError as error:
            if not error.reached:
                raise UnreachableError(str(error)) from None
            first = [str(error)]
        for slug in slugs:
            await self._read_survey(fetcher, slug)
        targets = [target for slug in slugs for target in self._list_link(slug)]
        targets += [_Target("front page", "/", partial(self._checker.check_file, "/"))]
        for reading, name in list_readings():
            check = partial(self._checker.check_file, path := f"/?lang={reading}")
            targets.append(_Target(f"front page, in {name}", path, check, _ENGLISH))
        targets += [_Target(path, path, partial(self._checker.check_file, path)) for path in self._files]
        met: dict[str, dict[str, list[str]]] = {target.what: {} for target in targets}
        met["front page"] |= {problem: [f"{VISITORS[0].name}, {_BEFORE}"] for problem in first}
        places = asyncio.Semaphore(_AT_ONCE)
        # Beside the loop, and one at a time: a page that differs is compared with thousands, and whatever is on its
        # way meanwhile would seem to have come too late.
        checking = asyncio.Lock()
        done, visits = 0, sum(target.visits for target in targets)
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

        async def visit_all(chosen: Sequence[_Target]) -> None:
            for turn, visitor in product(range(len(ENCODINGS)), VISITORS):
                await asyncio.gather(
                    *(visit(target, visitor, turn) for target in chosen if visitor in target.visitors)
                )

        await visit_all(targets)
        logos = [
            _Target(f"logo of {slug}", f"/s/{slug}/logo/{name}.png", partial(self._checker.check_logo, name))
            for slug, name in sorted(self._checker.logos)
        ]
        met |= {logo.what: {} for logo in logos}
        visits += sum(logo.visits for logo in logos)
        await visit_all(logos)
        targets += logos
        return SiteComparison(
            tuple(_conclude(target, met[target.what]) for target in targets),
            self._checker.data,
            self._checker.pages,
            {f"/s/{slug}/logo/{name}.png": bytes.fromhex(name) for slug, name in self._checker.logos},
            frozenset(self._checker.with_workers),
        )

    async def _read_survey(self, fetcher: Fetcher, slug: str) -> None:
        """What the pages of a link are compared by; every visitor must then be given the same."""
        try:
            answer = await fetcher.fetch(f"/s/{slug}/survey.json", VISITORS[0], ENCODINGS[0])
        except FetchError:
            self._checker.expect_survey(slug, None)
        else:
            self._checker.expect_survey(slug, answer)

    def _list_link(self, slug: str) -> list[_Target]:
        page = partial(self._checker.check_page, slug)
        drawn = self._checker.is_survey_known(slug)
        return [
            _Target(f"page of {slug}", f"/s/{slug}", partial(page, None)),
            *(
                _Target(f"page of {slug}, in {name}", f"/s/{slug}?lang={reading}", partial(page, reading))
                for reading, name in list_readings()
            ),
            _Target(
                f"survey of {slug}",
                f"/s/{slug}/survey.json",
                partial(self._checker.check_survey, slug),
                whole=drawn,
            ),
            *(
                _Target(
                    f"{what} of {slug}{named}",
                    f"/s/{slug}/{page}{asked}",
                    partial(check, slug, reading),
                    who,
                    whole,
                )
                for what, page, check, whole in (
                    ("screens", "screens", self._checker.check_screens, drawn),
                    ("explanation", "how", self._checker.check_how, drawn),
                    ("tablet", "tablet", self._checker.check_tablet, drawn),
                    ("receipts", "receipt", self._checker.check_receipt, True),
                )
                for reading, named, asked, who in (
                    (None, "", "", VISITORS),
                    *((code, f", in {name}", f"?lang={code}", _ENGLISH) for code, name in list_readings()),
                )
            ),
        ]


def _conclude(target: _Target, problems: Mapping[str, Sequence[str]]) -> SiteFinding:
    return SiteFinding(
        target.what,
        tuple(f"{problem} ({_name_visits(met, target.visits)})" for problem, met in problems.items()),
        target.whole,
    )


def _name_visits(met: Sequence[str], visits: int) -> str:
    if sum(not one.endswith(_BEFORE) for one in met) == visits:
        return "each of the visits"
    return "; ".join(met)
