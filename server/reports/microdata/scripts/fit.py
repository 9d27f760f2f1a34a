"""Logistic regression of the answer behind the reports of a column, on the largest strata; with Python and NumPy.

    python fit.py                    of the column below
    python fit.py COLUMN             of another one whose reports are 0 and 1
    python fit.py COLUMN WEIGHTS     rows count by WEIGHTS: a column of numbers above 0 that was added to
                                     responses.csv, or `responses`: each row the same

A report of 1 comes from an answer of 1 with the chance `high`, and from any other with the chance `low`: both are in
codebook.csv, for each version. So the chance of a report of 1 is low + (high - low) times the logistic curve.

Unless WEIGHTS says otherwise, strata count by their populations where strata.csv has that of each smallest one and
rows name them all. Standard errors of rows that count differently are by how people vary inside each stratum (the
sandwich of Binder 1983, corrected where a coefficient hangs on a few, Bell and McCaffrey 2002); never below what the
likelihood says.

Not fitted here: an answer to another question as a predictor, whose own coins have to be taken into account, weeks,
clusters, and strata that a report takes together. Where the survey is, `python -m server estimate SLUG --explain COLUMN
--by QUESTION` does it. From a table to which columns were added, with the survey's study file, `python -m server
analyse` does with `--explain`, but for weeks. The notebook beside this file has each answer by itself, and no
regression.
"""

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

COLUMN = sys.argv[1] if len(sys.argv) > 1 else "<column>"
WEIGHTS = sys.argv[2] if len(sys.argv) > 2 else ""
FOLDER = Path(__file__).parent


def read(name: str) -> Iterator[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def read_weight(number: int, row: dict[str, str]) -> float:
    """What a row counts; the first row of a file has the names of its columns."""
    if WEIGHTS in ("", "responses"):
        return 1.0
    if WEIGHTS not in row:
        sys.exit(f"{WEIGHTS} is no column of responses.csv")
    text = row[WEIGHTS] or ""
    try:
        weight = float(text)
    except ValueError:
        weight = 0.0
    if not 1e-6 <= weight <= 1e6:
        sys.exit(
            f"responses.csv, row {number}, column {WEIGHTS}: must be a number from 0.000001 to 1000000; "
            f"it is {text!r}"
        )
    return weight


def inside(path: str, other: str) -> bool:
    return path == other or path.startswith(f"{other} > ")


def find_errors(score: Any, bread: Any, weight: Any, count: Any, strata: Any) -> Any:
    """The sandwich: of scores, a row for `count` people each, around the means of their strata."""
    size = np.bincount(strata, count)
    if size.min() < 2:
        sys.exit(
            "A stratum has a single response: how people vary inside it is not known. Use estimate --explain."
        )

    def take_apart(numbers: Any) -> Any:
        means = np.array([np.bincount(strata, count * column) / size for column in numbers.T]).T
        return (count * (size / (size - 1))[strata])[:, None] * (numbers - means[strata])

    pulls = weight[:, None] * score
    drawn = np.diag(bread @ take_apart(pulls).T @ pulls @ bread)
    found = []
    for place, direction in enumerate(bread):
        towards = pulls @ direction
        once, twice = towards[:, None] * (score @ bread), towards[:, None] * pulls
        total, both = count @ towards**2, (count[:, None] * pulls).T @ pulls
        left = total - 2 * (take_apart(twice) * once).sum() + (both * (take_apart(once).T @ once)).sum()
        found.append(max(drawn[place] * max(total / max(left, total / 1e6), 1), bread[place, place]))
    return np.sqrt(found)


chances: dict[str, list[float]] = {}  # of a report of 1, by version: from an answer of 0, from an answer of 1
for row in read("codebook.csv"):
    if row["column"] == COLUMN and row["pooled"] == "true" and row["code"] == "1":
        chances.setdefault(row["version"], []).append(int(row["numerator"]) / int(row["denominator"]))
if not chances or any(len(pair) != 2 for pair in chances.values()):
    sys.exit(f"{COLUMN} is no column of codebook.csv whose reports are 0 and 1")
every = Counter(
    (row["version"], row.get("stratum", ""), row[COLUMN], read_weight(number, row))
    for number, row in enumerate(read("responses.csv"), 2)
)
cells = {cell: people for cell, people in every.items() if cell[0] in chances}
tree = list(read("strata.csv")) if (FOLDER / "strata.csv").exists() else []
leaves = {row["stratum"]: row for row in tree if row["leaf"] == "true"}
told = all(row["population"] and row["named"] == "true" for row in leaves.values())
by_population = not WEIGHTS and bool(leaves) and told and leaves.keys() <= {cell[1] for cell in cells}
if by_population:
    cells = {cell: people for cell, people in cells.items() if cell[1] in leaves}
if not cells:
    sys.exit("there are no responses")
paths = [row["stratum"] for row in tree]
largest = [path for path in paths if not any(inside(path, other) for other in paths if other != path)]
largest.append("(others)" if tree else "all")
of_cell = [next((place for place, top in enumerate(largest) if inside(cell[1], top)), -1) for cell in cells]
level = np.array(of_cell) % len(largest)
some = np.unique(level)
low, high = np.array([chances[cell[0]] for cell in cells]).T
count, report = np.array([[people, int(cell[2])] for cell, people in cells.items()], float).T
x = np.column_stack([np.ones(len(cells)), level[:, None] == some[1:]]).astype(float)
weight, strata = np.array([cell[3] for cell in cells]), np.zeros(len(cells), int)
if by_population:
    strata = np.array([list(leaves).index(cell[1]) for cell in cells])
    sizes = np.array([float(row["population"]) for row in leaves.values()])
    weight = (sizes / np.bincount(strata, count))[strata]
weight = weight * (count.sum() / (count @ weight))

# The fit, in six lines: iteratively weighted least squares (Fisher's scoring).
b, s, p, slope = np.zeros(x.shape[1]), count, count, x
for _ in range(100):
    s = 1 / (1 + np.exp(-np.clip(x @ b, -40, 40)))
    p, slope = low + (high - low) * s, ((high - low) * s * (1 - s))[:, None] * x
    information = slope.T @ (slope * (weight * count / (p * (1 - p)))[:, None])
    b += np.linalg.pinv(information) @ (slope.T @ (weight * count * (report - p) / (p * (1 - p))))

if not np.abs(b).max() < 20:
    sys.exit(
        "The responses leave a coefficient without an end: these numbers are none. Use estimate --explain."
    )
pull = (report - p) / (p * (1 - p))
observed = weight * count * (pull**2 * slope[:, 0] ** 2 - pull * slope[:, 0] * (1 - 2 * s))
bread = np.linalg.inv(x.T @ (x * observed[:, None]))
same = not by_population and WEIGHTS in ("", "responses")
errors = np.sqrt(np.diag(bread)) if same else find_errors(pull[:, None] * slope, bread, weight, count, strata)
if isinstance(sys.stdout, io.TextIOWrapper):
    sys.stdout.reconfigure(encoding="utf-8")  # the names of strata, into a file on any system
sys.stdout.write(f"rows count by: {'population' if by_population else WEIGHTS or 'responses'}\n")
names = [largest[place] for place in some]
for name, value, error in zip([f"(intercept: {names[0]})", *names[1:]], b, errors, strict=True):
    sys.stdout.write(f"{name}\t{value:.12g}\t{error:.12g}\n")
