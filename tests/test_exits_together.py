"""What all files of a survey tell together: no sum or difference of their numbers is about fewer than the minimum.

Random closed surveys with strata and two versions; the report of all versions and of each, the noisy
responses, the microdata, the archive and the archive folder, and all of it again of the copy that an archive becomes.
"""

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from flask.testing import FlaskClient

from server.collect.reportable_groups import choose_left_out
from tests.support import factories, sample_archives
from tests.support.scale import choose_size

MINIMUM = 5
TREES = (
    ("A", "B", "C", "D"),
    ("North > A", "North > B", "South > C", "South > D", "E"),
    ("North > Up > A", "North > Up > B", "North > C", "D"),
)
SIZES = (0, 1, 3, 5, 6, 9, 20, 30, 40, 50)

NO_STRATUM, WITHHELD = "<without stratum>", "<withheld>"

Group = tuple[int, str]
"""The number of the version and the path of the link's stratum, "" for the survey's own."""


@dataclass
class Known:
    """Sums over groups that somebody knows: of each a row of ones and zeros, and the sum."""

    sizes: Mapping[Group, int]
    rows: list[list[float]] = field(default_factory=list)

    def add(self, groups: Sequence[Group], number: int, said: str) -> None:
        """Note a number that is told; it must be the sum of these groups."""
        assert sum(self.sizes[group] for group in groups) == number, said
        self.rows.append([float(group in groups) for group in self.sizes])

    def find_told(self, minimum: int) -> list[tuple[Group, ...]]:
        """Every union of groups with some, and fewer responses than the minimum, that follows from the sums.

        A union follows exactly if its row is in the span; a group without responses adds nothing.
        """
        names, counts = list(self.sizes), np.array(list(self.sizes.values()))
        empty = np.eye(len(names))[counts == 0]
        span = np.linalg.svd(np.vstack([*self.rows, *empty]), full_matrices=False)
        basis = span[2][span[1] > 1e-9]
        every = ((np.arange(1, 2 ** len(names))[:, None] >> np.arange(len(names))) & 1).astype(float)
        few = every[((every @ counts) > 0) & ((every @ counts) < minimum)]
        left = np.abs(few - few @ basis.T @ basis).max(axis=1, initial=0)
        return [tuple(name for name, own in zip(names, row, strict=True) if own) for row in few[left < 1e-9]]


@dataclass(frozen=True)
class Study:
    """A closed survey whose responses the test knows."""

    slug: str
    paths: tuple[str, ...]
    sizes: Mapping[Group, int]

    def list_kept(self) -> list[Group]:
        """The groups that stand for themselves: without versions and an own link that are left out."""
        table = [[self.sizes[number, path] for path in ("", *self.paths)] for number in (1, 2)]
        versions, own = choose_left_out(table, MINIMUM)
        return [group for group in self.sizes if group[0] - 1 not in versions and not (own and not group[1])]


def study(database_url: str, seed: int) -> Study:
    """A random one."""
    draw = random.Random(seed)
    paths = draw.choice(TREES)
    first = factories.publish(database_url, minimum=MINIMUM)
    links = {"": first.slug, **factories.plant(database_url, first.slug, "\n".join(paths))}
    again = draw.choice(({}, {"title": "Another"}))
    second = factories.publish(database_url, factories.definition((0.25, 0.05), **again), first.slug)
    sizes = {(number, path): draw.choice(SIZES) for number in (1, 2) for path in ("", *paths)}
    for (number, path), size in sizes.items():
        rows = Counter((draw.randrange(2), draw.randrange(2)) for _ in range(size))
        if rows:
            factories.store(database_url, (first, second)[number - 1], list(rows.items()), links[path])
    factories.close(database_url, first.slug)
    return Study(first.slug, paths, sizes)


def note_report(known: Known, made: Study, report: Mapping[str, Any], versions: Sequence[int]) -> None:
    """What a report tells."""
    kept = [group for group in made.list_kept() if group[0] in versions]
    known.add(kept, report["n"], "n")
    for question in report["questions"]:
        for part in question["parts"]:
            own = [group for group in kept if group[0] in part["versions"]]
            known.add(own, sum(part["counts"]), "part")
        for path, number in tree(question["strata"], ()) if "strata" in question else ():
            inside = [
                group for group in kept if path in ((), *above(group[1])) and group[0] in question["versions"]
            ]
            if path == ("",):
                inside = [group for group in kept if not group[1]]
            if number is not None:
                known.add(inside, number, f"stratum {path}")


def tree(node: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int | None]]:
    yield path, node["n"]
    for inside in node.get("strata", ()):
        yield from tree(inside, (*path, inside["name"] or ""))


def above(path: str) -> list[tuple[str, ...]]:
    """A stratum and those around it."""
    names = tuple(path.split(" > "))
    return [names[:length] for length in range(1, len(names) + 1)] if path else []


def note_rows(known: Known, made: Study, number: int, found: Mapping[str, int], named: set[str]) -> None:
    """What single responses tell: how many there are of each stratum that may be named, of none, and withheld."""

    def standing(path: str) -> str:
        otherwise = NO_STRATUM if not path and NO_STRATUM in found else WITHHELD
        return next(
            (" > ".join(each) for each in reversed(above(path)) if " > ".join(each) in named), otherwise
        )

    assert found.keys() <= {*named, NO_STRATUM, WITHHELD}
    for path in {*named, NO_STRATUM, WITHHELD}:
        if own := [group for group in made.list_kept() if group[0] == number and standing(group[1]) == path]:
            known.add(own, found.get(path, 0), f"rows of {path}")


def note_files(known: Known, made: Study, client: FlaskClient, slug: str) -> None:
    """What all files of a survey tell but its archive."""
    home = f"/manage/surveys/{slug}"

    def get(page: str) -> bytes:
        answer = client.get(f"{home}/{page}")
        assert answer.status_code in (200, 409), page
        return answer.data if answer.status_code == 200 else b""

    everything = get("report.json")
    if everything and not json.loads(everything).get("withheld"):
        note_report(known, made, json.loads(everything), (1, 2))
    named: set[str] = set()
    if packed := get("microdata.zip"):
        parts = sample_archives.entries(packed)
        named = {row["stratum"] for row in table(parts["strata.csv"]) if row["named"] == "true"}
        rows = table(parts["responses.csv"])
        for number in {group[0] for group in made.list_kept()}:
            own = Counter(row["stratum"] for row in rows if row["version"] == str(number))
            note_rows(known, made, number, own, named)
    for number in (1, 2):
        if (alone := get(f"report.json?version={number}")) and json.loads(alone)["n"]:
            note_report(known, made, json.loads(alone), (number,))
        if responses := get(f"responses.csv?version={number}"):
            note_rows(known, made, number, Counter(row["stratum"] for row in table(responses)), named)


def note_archive(known: Known, made: Study, body: bytes) -> None:
    """What an archive tells."""
    parts = sample_archives.entries(body)
    manifest = json.loads(parts["manifest.json"])
    named = {" > ".join(each["names"]) for each in manifest["strata"] if "merged" not in each}
    for number in {group[0] for group in made.list_kept()}:
        rows = table(parts[f"versions/{number}/responses.csv"])
        # An archive has no word for either: what may not be named and what has no stratum are one group.
        note_rows(known, made, number, Counter(row["stratum_path"] or WITHHELD for row in rows), named)
        days = manifest["versions"][number - 1]["days"]
        assert all(period["n"] >= MINIMUM for period in days)


def note_folder(known: Known, made: Study, folder: Path) -> None:
    """What an archive folder tells: rows of each version, and sums of versions that reports count together."""
    (manifest,) = (json.loads(path.read_bytes()) for path in folder.glob("survey=*/_manifest.json"))
    numbers = {" > ".join(each["names"]): number for number, each in enumerate(manifest["strata"], 1)}
    told: list[tuple[list[int], dict[str, int]]] = []
    for number in sorted({group[0] for group in made.list_kept()}):
        own = [file for file in manifest["files"] if file["version"] == number]
        told.append(([number], {file["stratum"]: file["responses"] for file in own}))
        for file in own:
            (path,) = folder.glob(f"survey=*/{file['path']}")
            (counted,) = duckdb.read_parquet(str(path)).aggregate("sum(_count)").fetchall()
            assert counted == (file["responses"],)
    for sums in manifest["sums"]:
        strata = {code: part["responses"] for code, part in sums["strata"].items()}
        told.append((sums["versions"], strata))
    for versions, strata in told:
        inside: dict[str, list[Group]] = {code: [] for code in strata}
        for group in made.list_kept():
            if group[0] in versions and sum(made.sizes[number, group[1]] for number in versions):
                around = [numbers[" > ".join(names)] for names in reversed(above(group[1]))]
                own_code = f"s{numbers[group[1]] if group[1] else 0}"
                code = next(
                    each for each in (own_code, *(f"w{one}" for one in (*around, 0))) if each in strata
                )
                inside[code].append(group)
        for code, groups in inside.items():
            known.add(groups, strata[code], f"{code} of {versions}")


def table(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


@pytest.mark.scaled
def test_no_difference_of_files_tells_of_fewer_than_the_minimum(
    signed_in: FlaskClient, database_url: str, tmp_path: Path
) -> None:
    for seed in range(choose_size(6, 100)):
        made = study(database_url, seed)
        known = Known(made.sizes)
        folder = tmp_path / str(seed)
        if factories.run(database_url, "archive", made.slug, "--to", str(folder)).exit_code == 0:
            note_folder(known, made, folder)
        body = sample_archives.export(signed_in, made.slug)
        note_files(known, made, signed_in, made.slug)
        note_archive(known, made, body)
        copy = sample_archives.import_archive(signed_in, body)
        note_files(known, made, signed_in, copy)
        assert (
            sample_archives.entries(sample_archives.pack(database_url, copy))["versions/1/responses.csv"]
            == (sample_archives.entries(body)["versions/1/responses.csv"])
        )
        assert known.find_told(MINIMUM) == [], f"study {seed}"


def test_an_archive_that_names_every_stratum_is_caught(signed_in: FlaskClient, database_url: str) -> None:
    """The twin: what an archive told when it named the stratum of every response."""
    made = study(database_url, 0)
    known = Known(made.sizes)
    note_files(known, made, signed_in, made.slug)
    assert known.find_told(MINIMUM) == []
    for group in made.sizes:
        known.add([group], made.sizes[group], "named")
    assert known.find_told(MINIMUM)


def test_a_single_difference_is_caught() -> None:
    """The twin: a stratum that follows by subtraction."""
    known = Known({(1, "A"): 20, (1, "B"): 3, (2, "A"): 0})
    known.add([(1, "A"), (1, "B")], 23, "all")
    assert known.find_told(MINIMUM) == []
    known.add([(1, "A")], 20, "one")
    assert ((1, "B"),) in known.find_told(MINIMUM)


def test_twelve_strata_of_one_person_each_are_named_nowhere(
    signed_in: FlaskClient, database_url: str
) -> None:
    """As a researcher tried it: each link went to one person, and the smallest group shown is 10."""
    survey = factories.publish(database_url, minimum=10)
    links = factories.plant(database_url, survey.slug, "\n".join(f"Person {k}" for k in range(12)))
    for link in links.values():
        factories.store(database_url, survey, [([1, 0], 1)], link)
    factories.close(database_url, survey.slug)

    body = sample_archives.export(signed_in, survey.slug)

    rows = table(sample_archives.entries(body)["versions/1/responses.csv"])
    assert len(rows) == 12
    assert {(row["stratum"], row["stratum_path"]) for row in rows} == {("", "")}
    copy = sample_archives.import_archive(signed_in, body)
    assert "Person" not in signed_in.get(f"/manage/surveys/{copy}/responses.csv").text
    shown = signed_in.get(f"/manage/surveys/{copy}/report.json").get_json()
    assert shown["n"] == 12
    assert {part["n"] for part in shown["questions"][0]["strata"]["strata"]} == {None}
