"""What everybody who runs a survey may look at, and what two looks tell together."""

import csv
import io
import json
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyreadstat
from flask.testing import FlaskClient

from server.reports.formats import FORMATS
from tests.support import factories
from tests.support.collected_numbers import read_listed, read_rows

PAGES = (
    "",
    "results?interval=once&row=q1&column=q2",
    "explain?explain=q1&by=q2",
    *(f"report.{ending}" for ending in FORMATS if ending != "json"),
    "links",
    "strata",
    "log",
    "keeping",
    "releases",
    "releases/new",
)
"""Of a survey, seen by its owner: at each look some of them, and the report as JSON always."""
SOME = 4

Group = tuple[str, ...]
"""Whose responses are counted: of which version, and of which stratum down from the top."""


@dataclass(frozen=True)
class Look:
    """What was seen at one moment.

    `counts` are numbers of responses that stand somewhere, `hidden` the strata of which none is told,
    `rows` the noisy responses to each version, `placed` the same beside the paths of their strata, `steps` other
    numbers that follow how many have responded, `texts` everything as it was shown.
    """

    open: bool
    counts: Mapping[Group, int]
    hidden: Set[Group]
    rows: Mapping[int, Counter[tuple[str, ...]]]
    placed: Mapping[int, Counter[tuple[str, ...]]]
    steps: Mapping[str, int]
    texts: Mapping[str, bytes]


@dataclass
class Looker:
    """Somebody who looks at a survey, and remembers."""

    client: FlaskClient
    database_url: str
    slug: str
    random: Random
    versions: int = 1
    looks: list[Look] = field(default_factory=list)

    def look(self, *, is_open: bool) -> None:
        """At the results, the responses and the refusals, and by chance at some of everything else."""
        report = json.loads(self._get("report.json") or '{"n": 0, "days": [], "questions": []}')
        texts = {page: self._get(page) for page in ("results", "invitations")}
        texts["report.json"] = json.dumps(report).encode()
        texts["surveys"] = self.client.get("/manage/surveys").data
        found = dict(_counts(report))
        found |= _count_collected(report["n"], texts["results"].decode())
        found["listed",], _said = read_listed(texts["surveys"].decode(), self.slug)
        counts = {group: n for group, n in found.items() if n is not None}
        rows: dict[int, Counter[tuple[str, ...]]] = {}
        placed: dict[int, Counter[tuple[str, ...]]] = {}
        for number in range(1, self.versions + 1):
            texts[f"responses {number}"] = body = self._get(f"responses.csv?version={number}")
            placed[number], numbers = _rows(body)
            rows[number] = Counter()
            for (_path, *reports), times in placed[number].items():
                rows[number][tuple(reports)] += times
            counts |= {(f"version {number}", *group): n for group, n in numbers.items()}
        if is_open:
            texts |= self._refusals()
        for name in self.random.sample(sorted(self._others), SOME):
            texts[name] = self._others[name]()
            if name == "microdata":
                counts |= _microdata(texts[name])
            if name == "responses.dta":
                counts |= _count_labelled(texts[name])
        hidden = found.keys() - counts.keys()
        self.looks.append(Look(is_open, counts, hidden, rows, placed, _steps(texts), texts))

    @cached_property
    def _others(self) -> Mapping[str, Callable[[], bytes]]:
        commands = (("report", self.slug), ("report", self.slug, "--format", "responses"))
        return {
            **{page: partial(self._get, page) for page in PAGES},
            **{" ".join(words): partial(self._run, *words) for words in commands},
            "microdata": partial(self._get, "microdata.zip"),
            "responses.dta": partial(self._get, "responses.dta"),
            "ddi.xml": partial(self._get, "ddi.xml"),
            "public": lambda: self.client.get(f"/r/{self.slug}").data,
        }

    def _run(self, *words: str) -> bytes:
        return factories.run(self.database_url, *words).stdout_bytes

    def _get(self, page: str) -> bytes:
        answer = self.client.get(f"/manage/surveys/{self.slug}/{page}".removesuffix("/"), buffered=True)
        assert answer.status_code in (200, 409), (page, answer.status_code)
        return answer.data if answer.status_code == 200 else b""

    def _refusals(self) -> dict[str, bytes]:
        """What is said to whoever wants more of an open survey than they get."""
        listed = re.findall(r'name="name\.(\d+)"', self._get("strata").decode())
        asked = {
            "export.zip": {},
            "schedule": {"time_zone": "UTC", "minimum": "3", "cap": "3"},
            "strata": {"action": f"delete-{listed[-1]}"} if listed else {"action": "add"},
        }
        answers = {
            page: self.client.post(f"/manage/surveys/{self.slug}/{page}", data=form)
            for page, form in asked.items()
        }
        assert {answer.status_code for answer in answers.values()} <= {409, 422}
        return {f"refused {page}": answer.data for page, answer in answers.items()}


def _counts(report: Mapping[str, Any]) -> Iterator[tuple[Group, int | None]]:
    """None where a stratum is withheld."""
    yield ("n",), report["n"]
    if report.get("modes"):
        # Which strata are told apart may change with what is withheld: then it is another group.
        whole = "some" if report["modes"]["left_out"] else "all"
        for mode, n in report["modes"]["n"].items():
            yield ("mode", mode, whole), n
    yield ("days",), sum(period["n"] for period in report["days"])
    for question in report["questions"]:
        # From which version on: a question that asks something else now is another, of other people.
        versions = {version for part in question["parts"] for version in part["versions"]}
        yield ("question", question["name"], f"since {min(versions)}"), sum(question["counts"])
        for part in question["parts"]:
            yield ("part", question["name"], *map(str, part["versions"])), sum(part["counts"])
    for question in report["questions"][:1]:
        if "strata" in question:
            yield from _tree(question["strata"], ("stratum",))


def _tree(node: Mapping[str, Any], path: Group) -> Iterator[tuple[Group, int | None]]:
    yield path, node["n"]
    for inside in node.get("strata", []):
        yield from _tree(inside, (*path, inside["name"] or "(own link)"))


def _count_collected(n: int, page: str) -> dict[Group, int | None]:
    """What the page of results counts of strata, in all versions together."""
    rows = read_rows(page)
    return {("collected",): n, **{("collected", *path): number for path, (number, _said) in rows.items()}}


def _rows(body: bytes) -> tuple[Counter[tuple[str, ...]], dict[Group, int]]:
    """The path and the reports of each row, and how many rows there are of each path."""
    if not body:
        return Counter(), {}
    header, *lines = csv.reader(io.StringIO(body.decode(), newline=""))
    reports = [place for place, column in enumerate(header) if column.startswith("q")]
    has_paths = header[0] == "stratum"
    found = Counter((line[0] if has_paths else "", *(line[place] for place in reports)) for line in lines)
    numbers = {("rows",): len(lines)}
    if has_paths:
        numbers |= {("rows", path): n for path, n in Counter(line[0] for line in lines).items()}
    return found, numbers


def _microdata(packed: bytes) -> dict[Group, int]:
    if not packed:
        return {}
    with zipfile.ZipFile(io.BytesIO(packed)) as archive, tempfile.TemporaryDirectory() as folder:
        archive.extractall(folder)
        text = (Path(folder) / "responses.csv").read_text("utf-8")
    versions = Counter(line.partition(",")[0] for line in text.splitlines()[1:])
    return {("microdata", number): n for number, n in versions.items()}


def _count_labelled(file: bytes) -> dict[Group, int]:
    """As many as `_microdata`."""
    if not file:
        return {}
    with tempfile.NamedTemporaryFile(suffix=".dta") as written:
        written.write(file)
        written.flush()
        columns, _meta = pyreadstat.read_dta(written.name, output_format="dict")
    return {
        ("microdata", str(number)): n
        for number, n in Counter(np.asarray(columns["version"]).tolist()).items()
    }


def _steps(texts: Mapping[str, bytes]) -> dict[str, int]:
    """Numbers in words: of used codes, and the smallest cap that is allowed."""
    found = {}
    for place, number in enumerate(re.findall(r"at least (\d+) used", texts["invitations"].decode())):
        found[f"used {place}"] = int(number)
    if limit := re.search(r"must be at least (\d+)", texts.get("refused schedule", b"").decode()):
        found["cap"] = int(limit[1])
    return found


def find_told(looks: Sequence[Look], minimum: int) -> Iterator[str]:
    """What pairs of looks tell of fewer responses than the minimum; nothing, if all is well."""
    for one, other in combinations(looks, 2):
        yield from _of_numbers(one, other, minimum)
        yield from _of_rows(one, other, minimum)
        yield from _of_differences(one, other, minimum)
        if one.open == other.open and all(
            one.counts[group] == other.counts[group] for group in one.counts.keys() & other.counts.keys()
        ):
            for name in one.texts.keys() & other.texts.keys():
                if name == "log" and _count_entries(one) != _count_entries(other):
                    continue  # it says who keyed in sheets, and when, and not how many
                if one.texts[name] != other.texts[name] and one.steps == other.steps:
                    yield f"{name or 'overview'} differs where no number of responses does"


def _count_entries(look: Look) -> int:
    """How many times somebody keyed in sheets, as the log says it: without their number."""
    return len(re.findall(r">keyed in sheets of paper of version \d+<", look.texts["log"].decode()))


def _of_numbers(one: Look, other: Look, minimum: int) -> Iterator[str]:
    shrinks = _shrinks(one, other)
    for group in one.counts.keys() & other.counts.keys():
        if (
            not shrinks
            and _is_few(other.counts[group] - one.counts[group], minimum)
            and _same_paths(one, other, group)
        ):
            yield f"{group}: {one.counts[group]} becomes {other.counts[group]}"
    if one.open and other.open:
        for name in one.steps.keys() | other.steps.keys():
            change = other.steps.get(name, 0) - one.steps.get(name, 0)
            if _is_few(change, minimum):
                yield f"{name}: changes by {change}"


def _shrinks(one: Look, other: Look) -> bool:
    """Whether closing took rows away: numbers may then change by any number, as long as the rows are not a few."""
    return one.open and not other.open and any(one.rows[number] - other.rows[number] for number in one.rows)


def _same_paths(one: Look, other: Look, group: Group) -> bool:
    """Whether a row's path means the same in both: a stratum that is withheld gives its rows to the one around."""
    if "rows" not in group or group[-1] == "rows":
        return True
    within = [
        {each for each in look.counts if each[:2] == group[:2] and "rows" in each} for look in (one, other)
    ]
    return within[0] == within[1]


def _of_rows(one: Look, other: Look, minimum: int) -> Iterator[str]:
    for number in one.rows.keys() & other.rows.keys():
        gone, new = one.rows[number] - other.rows[number], other.rows[number] - one.rows[number]
        if one.open == other.open and 0 <= new.total() - gone.total() < minimum and (gone or new):
            yield f"the number of responses to version {number} grows by {new.total() - gone.total()}"
        if one.open == other.open and new.total() < gone.total():
            yield f"the number of responses to version {number} falls by {gone.total() - new.total()}"
        if 0 < new.total() + gone.total() < minimum:
            yield f"{(new + gone).total()} responses to version {number} stand alone: {list(new + gone)}"
        if one.hidden == other.hidden:  # else rows of a stratum that is withheld stand with the one around it
            here = one.placed[number] - other.placed[number] + (other.placed[number] - one.placed[number])
            for path, times in _count_by_path(here).items():
                if times < minimum:
                    yield f"{times} responses of {path!r} to version {number} stand alone"


def _count_by_path(rows: Mapping[tuple[str, ...], int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (path, *_reports), times in rows.items():
        found[path] += times
    return found


def _of_differences(one: Look, other: Look, minimum: int) -> Iterator[str]:
    """What is left of a stratum when those inside that are shown are taken off, now and before."""
    if _shrinks(one, other):
        return
    trees = "stratum", "collected"
    every = {group for look in (one, other) for group in (*look.counts, *look.hidden) if group[0] in trees}
    for path in every & one.counts.keys() & other.counts.keys():
        inside = {group for group in every if group[:-1] == path}
        for shown in (inside - one.hidden, inside - other.hidden):
            if shown & (one.hidden | other.hidden):
                continue  # one of them cannot be taken off
            left = [
                look.counts[path] - sum(look.counts.get(group, 0) for group in shown) for look in (one, other)
            ]
            if _is_few(left[1] - left[0], minimum):
                yield f"{path}: {left[1] - left[0]} more than before beside {sorted(shown)}"


def _is_few(change: int, minimum: int) -> bool:
    return 0 < abs(change) < minimum
