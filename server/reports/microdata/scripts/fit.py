"""Logistic regression of the answer behind the reports of a column, on strata; with Python and NumPy.

    python fit.py            of the column below
    python fit.py COLUMN     of another one whose reports are 0 and 1

A report of 1 comes from an answer of 1 with the chance `high`, and from any other with the chance `low`: both are in
codebook.csv, for each version. So the chance of a report of 1 is low + (high - low) times the logistic curve.

Not fitted here: an answer to another question as a predictor, whose own coins have to be taken into account, weeks, and
weights: rows have none, and each counts the same, whatever the population of its stratum. Where the survey is,
`python -m server estimate SLUG --explain COLUMN --by QUESTION` does the first two. From a table to which a column of
weights was added, with the survey's study file, `python -m server analyse` with `--explain` does the first and the
last. The notebook beside this file has each answer by itself, and no regression.
"""

import csv
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

COLUMN = sys.argv[1] if len(sys.argv) > 1 else "<column>"


def read(name: str) -> Iterator[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


chances: dict[str, list[float]] = {}  # of a report of 1, by version: from an answer of 0, from an answer of 1
for row in read("codebook.csv"):
    if row["column"] == COLUMN and row["pooled"] == "true" and row["code"] == "1":
        chances.setdefault(row["version"], []).append(int(row["numerator"]) / int(row["denominator"]))
if not chances or any(len(pair) != 2 for pair in chances.values()):
    sys.exit(f"{COLUMN} is no column of codebook.csv whose reports are 0 and 1")
every = Counter((row["version"], row.get("stratum", ""), row[COLUMN]) for row in read("responses.csv"))
cells = {cell: count for cell, count in every.items() if cell[0] in chances}
if not cells:
    sys.exit("there are no responses")
names = sorted({stratum for _, stratum, _ in cells})
low, high = np.array([chances[version] for version, _, _ in cells]).T
count, report = np.array([[count, int(cell[2])] for cell, count in cells.items()]).T
x = np.array([[1, *(stratum == name for name in names[1:])] for _, stratum, _ in cells], float)

# The fit, in six lines: iteratively weighted least squares (Fisher's scoring).
b, information = np.zeros(x.shape[1]), np.eye(x.shape[1])
for _ in range(100):
    s = 1 / (1 + np.exp(-np.clip(x @ b, -40, 40)))
    p, slope = low + (high - low) * s, ((high - low) * s * (1 - s))[:, None] * x
    information = slope.T @ (slope * (count / (p * (1 - p)))[:, None])
    b += np.linalg.pinv(information) @ (slope.T @ (count * (report - p) / (p * (1 - p))))

if not np.abs(b).max() < 20:
    sys.exit(
        "The responses leave a coefficient without an end: these numbers are none. Use estimate --explain."
    )
errors = np.sqrt(np.diag(np.linalg.inv(information)))
for name, value, error in zip([f"(intercept: {names[0] or 'all'})", *names[1:]], b, errors, strict=True):
    sys.stdout.write(f"{name}\t{value:.12g}\t{error:.12g}\n")
