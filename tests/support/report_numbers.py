"""The numbers of a report as CSV, JSON and workbooks hold them: by what they are of, at full precision."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Key = tuple[str, ...]
Figures = dict[Key, tuple[float | None, ...]]

NUMBERS = "n,share_reported,estimate,within_range,standard_error,interval_low,interval_high".split(",")
"""Columns of the CSV of a report; a mean has no reported share."""
RELEASED = "value,standard_error,interval_low,interval_high".split(",")
"""Columns of the CSV of releases."""


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a CSV that hold figures: the survey's own texts, and what is disclosed of the study, are none."""
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    return [row for row in rows if row["statistic"] not in ("text", "disclosure")]


def numbers(row: Mapping[str, str], columns: Sequence[str]) -> tuple[float | None, ...]:
    """Some cells of a row, as numbers."""
    return tuple(float(row[column]) if row[column] else None for column in columns)


def from_csv(text: str) -> Figures:
    """Every estimate of a report, by question, answer, group, stratum and weighting."""
    return {
        # A text that could be a formula has a quotation mark before it.
        (
            row["question"],
            row["answer"].removeprefix("'") or "mean",
            *(row[name] for name in ("group", "stratum", "weighting")),
        ): numbers(row, NUMBERS)
        for row in rows_of(text)
    }


def from_json(text: str) -> Figures:
    """The same, of the JSON of the report."""
    found: Figures = {}
    for question in json.loads(text)["questions"]:
        if question["unweighted"] is not None:
            for key, values in _list_figures(question, question["answers"]):
                found[(question["name"], key, "all", "", "population")] = values
        for key, values in _list_figures(question["unweighted"] or question, question["answers"]):
            found[(question["name"], key, "all", "", "responses")] = values
        if "strata" in question:
            found |= _groups(question, question["strata"])
    return found


def _groups(question: Mapping[str, Any], group: Mapping[str, Any]) -> Figures:
    found: Figures = {}
    weighted = group["weighting"] == "by population"
    kind = "without stratum" if group["without_stratum"] else "stratum" if group["path"] else "all"
    if kind != "all" or weighted:
        by = "population" if weighted else "responses"
        # Where nothing is said of a group, each of its figures is there and empty.
        known = dict(_list_figures(group["found"] or question, question["answers"]))
        for key, values in known.items():
            said = values if group["found"] is not None else (None,) * len(values)
            found[(question["name"], key, kind, group["path"], by)] = said
    for inner in group.get("strata", ()):
        found |= _groups(question, inner)
    return found


def _list_figures(
    document: Mapping[str, Any], answers: Sequence[str]
) -> Iterator[tuple[str, tuple[float | None, ...]]]:
    """Every figure of one group's estimates."""
    if "boxes" in document:
        for box in document["boxes"]:
            yield box["name"], _share(box["estimate"], 1)
    else:
        for place, answer in enumerate(answers):
            # The ends that a number was rounded to are no answers.
            if answers[:2] != ["low", "high"] or place > 1:
                yield answer, _share(document["estimate"], place)
    if "mean" in document:
        estimate = document["mean"]["estimate"]
        if estimate is None:
            yield "mean", (None,) * len(NUMBERS)
        else:
            values = [estimate[name] for name in ("n", "mean", "within_range", "standard_error")]
            yield "mean", (values[0], None, *values[1:], *estimate["interval"])


def _share(estimate: Mapping[str, Any] | None, place: int) -> tuple[float | None, ...]:
    if estimate is None:
        return (None,) * len(NUMBERS)
    names = ("observed", "shares", "within_range", "standard_errors")
    return (estimate["n"], *(estimate[name][place] for name in names), *estimate["intervals"][place])


def read_shown_rows(text: str) -> dict[str, list[dict[str, str]]]:
    """Of each question, the rows of the CSV of a report that people read: of two answers, the second alone."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in rows_of(text):
        found.setdefault(row["question"], []).append(row)
    for question, rows in found.items():
        if {row["answer"] for row in rows} == {"no", "yes"}:
            found[question] = [row for row in rows if row["answer"] == "yes"]
    return found


def released_csv(text: str) -> Figures:
    """Every figure of a public report, by entry and what it is of."""
    return {
        (
            row["entry"],
            row["statistic"],
            *(row[f"{name}_{place}"].removeprefix("'") for place in range(1, 5) for name in ("of", "is")),
        ): (
            *numbers(row, RELEASED),
            *numbers(row, ("epsilon", "delta", "confidence")),
        )
        for row in rows_of(text)
    }


def released_json(text: str) -> Figures:
    """The same, of its JSON."""
    document = json.loads(text)
    found: Figures = {}
    for entry in document.get("ledger", document)["entries"]:
        for figure in entry["figures"]:
            pairs = [cell for name, value in figure["place"] for cell in (name.removeprefix("*"), value)]
            key = (str(entry["entry"]), figure["statistic"], *pairs, *[""] * (8 - len(pairs)))
            values = [figure[name] for name in ("value", "standard_error", "low", "high")]
            found[key] = (*values, entry["epsilon"], entry["delta"], entry["confidence"])
    return found
