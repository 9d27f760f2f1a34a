"""What a respondent's page must hold for a survey: only what its entries need, for a poor network."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from server.privacy.designs import Throws
from server.study.by_hand import arrives_as_answer, plan_by_hand
from server.study.kinds import KINDS
from server.web.respondent_modules import (
    AFTER_START,
    BASE,
    EXTRAS,
    MODULES_AFTER_START,
    WITH_TEXTS,
    list_files,
)


@dataclass(frozen=True)
class PageParts:
    """What a survey holds: its kinds, the named designs of its yes/no questions, and what else asks for a part."""

    names: frozenset[str]
    questions: int
    reports: int
    language: str
    throws: tuple[Throws, ...] | None = None
    """How each question can be thrown by hand; None where that is not offered."""
    translated: frozenset[str] = frozenset()
    """The other languages of the survey's own texts."""

    def __contains__(self, name: str) -> bool:
        return name in self.names

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """The page's scripts, dependencies first."""
        return (
            *BASE,
            "posting.js",
            "delivery.js",
            "choices.js",
            *(module for module, asked_by in EXTRAS if self.names & {module, *asked_by}),
            "rewording.js",
            "answer.js",
        )

    @property
    def later_files(self) -> tuple[str, ...]:
        """The files that come once the first screen is there; none where that may be any, or takes part in sending."""
        if self.names & {"preview", "tablet"}:
            return ()
        return tuple(file for file in list_files(self.modules) if file in AFTER_START)

    @property
    def explaining_modules(self) -> tuple[str, ...]:
        """The scripts of the page that explains: what words the survey's numbers."""
        others = {
            "posting.js",
            "delivery.js",
            "choices.js",
            "preview.js",
            "consent.js",
            "blocks.js",
            "ticks.js",
            "typed_number.js",
            "field.js",
            "codes.js",
            "invitation.js",
            "ticket.js",
            "code_use.js",
            "blinding.js",
            "ticket_purchase.js",
            "completion.js",
            "work.js",
            "offline.js",
            "rewording.js",
            "answer.js",
        }
        return (*(module for module in self.modules if module not in others), "how.js")

    @property
    def late_modules(self) -> tuple[str, ...]:
        """The scripts of the page that takes no answers now, but still sends what waits on a device."""
        asked = {
            "codes.js": {"invited"},
            "invitation.js": {"invited"},
            "ticket.js": {"ticketed"},
            "code_use.js": {"invited"},
            "blinding.js": {"ticketed", "completions"},
            "ticket_purchase.js": {"ticketed"},
            "completion.js": {"completions"},
            "work.js": {"work"},
        }
        return (
            *BASE,
            "posting.js",
            "delivery.js",
            *(module for module, names in asked.items() if names & self.names),
            "late.js",
        )

    @property
    def templates(self) -> tuple[str, ...]:
        """The files that hold the texts of those scripts that run before *Start*."""
        return _list_templates([name for name in self.modules if name not in MODULES_AFTER_START])

    @property
    def later_templates(self) -> tuple[str, ...]:
        """The files that hold the texts of the others."""
        return _list_templates([name for name in self.modules if name in MODULES_AFTER_START])

    @property
    def explaining_templates(self) -> tuple[str, ...]:
        """The files that hold the texts of the scripts of the page that explains."""
        return _list_templates(self.explaining_modules)

    @property
    def devices(self) -> dict[str, int]:
        """What somebody needs who throws by hand, with the most throws for a question."""
        found: dict[str, int] = {}
        for throws in self.throws or ():
            found[throws.device] = max(throws.times, found.get(throws.device, 0))
        return found

    @property
    def other_fixed(self) -> dict[str, str]:
        """The answers that we word, beside Yes and No, which every page knows: by name, to be translated."""
        fixed = (kind.fixed for name, kind in KINDS.items() if name in self.names)
        return {name: text for names in fixed for name, text in names.items() if name not in ("yes", "no")}

    @property
    def styled(self) -> bool:
        """Whether the style sheet of other kinds is needed."""
        return bool(self.templates or self.later_templates) or "markdown.js" in self.modules

    @property
    def arrives_as_yes(self) -> bool:
        """Whether every answer is Yes or No, and arrives as such."""
        others = {name for name, kind in KINDS.items() if not kind.by_device}
        return not self.names & {"prefer_not_to_say", "kuk", "crosswise", *others}


def _list_templates(modules: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"respond/_{module[:-3]}.html" for module in modules if module in WITH_TEXTS)


def parts_of(
    published: bytes,
    *,
    preview: bool = False,
    invited: bool = False,
    stratum: bool = False,
    work: bool = False,
    offline: bool = False,
    forgets: bool = False,
    tablet: bool = False,
) -> PageParts:
    """What the page of a published definition must hold.

    Behind a link that asks for an invitation or has a stratum, on a server that asks for work, of a survey that can
    be answered without a network, leaves no note or is answered on a tablet that is handed round.
    """
    document: dict[str, Any] = json.loads(published)
    designs = [entry["designs"] for entry in document["questions"] if "designs" in entry]
    asked_for = {
        "preview": preview,
        "invited": invited,
        "stratum": stratum,
        "work": work,
        "offline": offline,
        "forgets": forgets,
        "tablet": tablet,
    }
    names = {*_names(document), *(name for name, wanted in asked_for.items() if wanted)}
    if "ticket_keys" in document:
        names |= {"tickets", "ticketed"} if invited else {"tickets"}
        # A version from before links were named: with one key, it says as much.
        if invited and isinstance(document["ticket_keys"], list) and len(document["ticket_keys"]) > 1:
            names.add("any_key")
    if "completion_key" in document:
        names.add("completions")
    return PageParts(
        frozenset(names),
        questions=len(designs),
        reports=sum(map(len, designs)),
        language=document["language"],
        throws=plan_by_hand(document["questions"]),
        translated=frozenset(document.get("translations", ())),
    )


def _names(document: dict[str, Any]) -> Iterator[str]:
    # What Markdown could mean something else by; other texts of the first screen are plain.
    first = f"{document['introduction']}\n{document.get('consent', '')}"
    if re.search(r"[*\[]|^ *- ", first, re.MULTILINE):
        yield "markdown"
    yield from {"consent", "least_age"} & document.keys()
    questions = [entry for entry in document["questions"] if "designs" in entry]
    if len({json.dumps([entry["kind"], entry["designs"]]) for entry in questions}) > 2:
        yield "many"
    for entry in document["questions"]:
        yield entry["kind"]
        yield from {"show_if", "prefer_not_to_say"} & entry.keys()
    for entry in questions:
        kind = KINDS[entry["kind"]]
        yield from kind.page_parts
        if kind.by_device:
            yield entry["design"]["mechanism"]
            if _can_be_played(entry):
                yield "play"
        elif not kind.several and len(entry["designs"]) > 1:
            yield "boxes"


def _can_be_played(question: dict[str, Any]) -> bool:
    """Whether a coin leaves both answers as they are or replaces both by the same one, so that it has two faces."""
    rows = question["designs"][0]["weights"]
    return arrives_as_answer(question) and len(rows) == 2 and bool(rows[0][0] >= rows[1][0])
