"""What a researcher types or pastes -> names and populations: by hand, as a list, from a spreadsheet."""

import re
import unicodedata
from dataclasses import dataclass

from server.inputs import N_, InputError, Problem, refuse, shorten_value
from server.inputs.decoding import check_text
from server.study.strata.tree import DEEPEST, MOST_STRATA

LONGEST_NAME = 200
LARGEST_POPULATION = 10_000_000_000

# A number of people: plain digits, or in groups of three as any language writes them.
_NUMBER = r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+|\d+"
_WHOLE = re.compile(_NUMBER, re.ASCII)
_COUNTED = re.compile(rf"(?P<path>.*?)\s*[\t;,]\s*(?P<number>{_NUMBER})\s*", re.ASCII)
# It ends in what was meant as a number, and is none: better refused than taken for a name.
_NO_COUNT = re.compile(r"[^\t;,]*[\t;,]\s*(?P<number>[-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*", re.ASCII)
_HEADER = re.compile(r"(path|stratum)\s*[\t;,]\s*population", re.IGNORECASE)


@dataclass(frozen=True)
class StratumLine:
    """A stratum to add: its number in what was pasted, the names down to it, and its population if given."""

    number: int
    names: tuple[str, ...]
    population: int | None = None


def parse_name(text: str) -> str:
    """The name of a stratum, with single spaces.

    Raises
    ------
    InputError
        On the field `name`: too long, empty, or with characters that no name has.
    """
    check_text(text, "name")
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not 1 <= len(name) <= LONGEST_NAME:
        template = N_("a name must have 1 to %(limit)s characters; it has %(length)s")
        raise refuse(422, "name", template, limit=LONGEST_NAME, length=len(name))
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise refuse(
            422,
            "name",
            N_("a name must not contain control characters; it is %(value)s"),
            value=shorten_value(name),
        )
    if name.startswith(">") or name.endswith(">") or " > " in name:
        # Paths are written with it, in exports too.
        template = N_("a name must not contain “>” between spaces, or begin or end with it; it is %(value)s")
        raise refuse(422, "name", template, value=shorten_value(name))
    return name


def parse_population(text: str) -> int | None:
    """A population as it was typed; None if nothing was.

    Raises
    ------
    InputError
        On the field `population`, if it is no whole number in its range.
    """
    text = text.strip()
    if not text:
        return None
    digits = re.sub(r"\D", "", text, flags=re.ASCII) if _WHOLE.fullmatch(text) else ""
    if not digits or len(digits) > 20 or not 1 <= int(digits) <= LARGEST_POPULATION:
        template = N_("its population must be a whole number from 1 to %(limit)s; it is %(value)s")
        raise refuse(422, "population", template, limit=LARGEST_POPULATION, value=shorten_value(text))
    return int(digits)


def parse_lines(text: str) -> tuple[StratumLine, ...]:
    """Each line a stratum: its path, then if it is known its population.

    A path is written "Spain > Madrid > Getafe", or with one column for each level as it comes
    from a spreadsheet. The population follows after a tab, semicolon or comma.

    Raises
    ------
    InputError
        Naming every line that is wrong, by `lines[number]`, or `lines` for all of them.
    """
    check_text(text, "lines")
    given = [
        (number, line)
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1)
        if line.strip()
    ]
    if given and _HEADER.fullmatch(given[0][1].strip()):
        del given[0]
    if not 1 <= len(given) <= MOST_STRATA:
        template = N_("must be 1 to %(limit)s lines; it has %(length)s")
        raise refuse(422, "lines", template, limit=MOST_STRATA, length=len(given))
    read, problems = [], []
    seen: dict[tuple[str, ...], int] = {}
    for number, line in given:
        try:
            parsed = _line(number, line)
            first = seen.setdefault(tuple(name.casefold() for name in parsed.names), number)
            if first != number:
                raise refuse(422, "name", N_("is the same stratum as line %(first)s"), first=first)
            read.append(parsed)
        except InputError as error:
            problems += [Problem(f"lines[{number}]", each.template, each.values) for each in error.problems]
    if problems:
        raise InputError(422, problems)
    return tuple(read)


def _line(number: int, line: str) -> StratumLine:
    counted = _COUNTED.fullmatch(line)
    mistaken = None if counted else _NO_COUNT.fullmatch(line)
    population = parse_population((counted or mistaken or {"number": ""})["number"])
    path = (counted["path"] if counted else line).strip(" \r\n")
    if len(path) > 1 and path[0] == path[-1] == '"':
        path = path[1:-1].replace('""', '"')
    parts = re.split("\t", path.strip("\t")) if "\t" in path else re.split(r"\s>\s", path)
    if len(parts) > DEEPEST:
        template = N_("must be at most %(limit)s levels deep; it has %(length)s")
        raise refuse(422, "name", template, limit=DEEPEST, length=len(parts))
    return StratumLine(number, tuple(parse_name(part) for part in parts), population)
