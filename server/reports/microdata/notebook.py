"""The whole analysis of microdata as a notebook: for Jupyter (nbformat 4) and for Quarto."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from server.inputs import N_
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES, load_catalogue
from server.reports.codebook import mechanism_of, parameters_of
from server.reports.report import Report

_ABOUT = N_(
    "This notebook estimates every question of a survey whose answers were randomised before they were sent. It needs "
    "Python with NumPy, and the other files of the folder that it lies in; with matplotlib it draws a picture too."
)
_READ = N_(
    "The noisy responses, and the chances of each design, as estimate.py beside this notebook reads them:"
)
_QUESTION = N_("Mechanism: %(mechanism)s, %(parameters)s")
_BY_HAND = N_(
    "A design has a row for each true answer and a column for each report. The shares of the reports times its inverse "
    "are the estimated shares of the answers, each version and column by itself; the table puts versions together."
)
_COMPARE = N_("Every number beside what the report says, in estimates.csv:")
_DRAW = N_("Shares with their intervals, as far as all responses tell:")

_SETUP = """\
import sys

import numpy as np

sys.path.insert(0, ".")
import estimate

files = estimate.Files()
found = list(estimate.estimates(files))


def show(question):
    print(f"{'answer':24} {'group':8} {'weighting':12} {'n':>8} {'estimate':>10} {'low':>10} {'high':>10}")
    for asked, answer, statistic, group, stratum, weighting, n, value, error, low, high in found:
        if asked == question and not stratum:
            name = answer or statistic
            print(f"{name:24} {group:8} {weighting:12} {n:8} {value:10.6f} {low:10.6f} {high:10.6f}")


def by_hand(question):
    for version, columns in files.questions.get(question, {}).items():
        for column in columns:
            counts = column.counts.sum(axis=0)
            print(f"version {version}, column {column.first['column']}: reports {counts}")
            print(column.design)
            if counts.sum():
                print("estimated shares:", counts / counts.sum() @ np.linalg.inv(column.design))


print(f"{len(found)} estimates, confidence {estimate.CONFIDENCE}")"""
_CHECK = "assert estimate.compare(found)"
_PICTURE = """\
try:
    import matplotlib.pyplot as plt
except ImportError:
    print("matplotlib is not installed: no picture is drawn, and nothing else is missing")
else:
    shares = [row for row in found if row[2] == "share" and row[3] == "all" and row[5] == "responses"]
    figure, axes = plt.subplots(figsize=(7, 1 + 0.3 * len(shares)), layout="constrained")
    for place, row in enumerate(shares):
        axes.plot(row[9:11], [place, place], color="black")
        axes.plot(row[7], place, "o", color="black")
    axes.axvspan(-1000, 0, color="0.9")
    axes.axvspan(1, 1000, color="0.9")
    axes.set_xlim(min([0, *(row[9] for row in shares)]) - 0.02, max([1, *(row[10] for row in shares)]) + 0.02)
    axes.set_yticks(range(len(shares)), [f"{row[0]}: {row[1]}" for row in shares])
    axes.invert_yaxis()
    plt.show()"""

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


@dataclass(frozen=True)
class _NotebookCell:
    """A piece of a notebook: a text in Markdown, or code."""

    kind: str
    source: str


def write_jupyter(report: Report) -> str:
    """The notebook as Jupyter reads it, not run yet."""
    cells: list[dict[str, Any]] = [
        {
            "cell_type": cell.kind,
            "id": f"cell-{number}",
            "metadata": {},
            "source": cell.source,
            **({"execution_count": None, "outputs": []} if cell.kind == "code" else {}),
        }
        for number, cell in enumerate(_list_cells(report), start=1)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def write_quarto(report: Report) -> str:
    """The same for Quarto."""
    # Quarto reads a title as Markdown, and runs what stands in it as code.
    title = json.dumps(_quote(report.definition.title), ensure_ascii=False)
    head = f"---\ntitle: {title}\njupyter: python3\n---"
    parts = [
        f"```{{python}}\n{cell.source}\n```" if cell.kind == "code" else cell.source
        for cell in _list_cells(report)
    ]
    return "\n\n".join([head, *parts]) + "\n"


def _list_cells(report: Report) -> Iterator[_NotebookCell]:
    language = report.definition.language
    say = load_catalogue(language if language in LANGUAGES else DEFAULT_LANGUAGE).gettext
    yield _NotebookCell("markdown", f"# {_quote(report.definition.title)}\n\n{_quote(say(_ABOUT))}")
    yield _NotebookCell("markdown", _quote(say(_READ)))
    yield _NotebookCell("code", _SETUP)
    yield _NotebookCell("markdown", _quote(say(_BY_HAND)))
    yield from _list_questions(report, say)
    yield _NotebookCell("markdown", _quote(say(_COMPARE)))
    yield _NotebookCell("code", _CHECK)
    yield _NotebookCell("markdown", _quote(say(_DRAW)))
    yield _NotebookCell("code", _PICTURE)


def _list_questions(report: Report, say: Callable[[str], str]) -> Iterator[_NotebookCell]:
    for question in report.definition.questions:
        parameters = json.dumps(parameters_of(question), ensure_ascii=False)
        mechanism = say(_QUESTION) % {"mechanism": mechanism_of(question), "parameters": parameters}
        heading = f"## {_quote(question.name)}\n\n{_quote(question.text)}\n\n{_quote(mechanism)}"
        yield _NotebookCell("markdown", heading)
        yield _NotebookCell("code", f"by_hand({question.name!r})\nshow({question.name!r})")


def _quote(text: str) -> str:
    """A text in one line, in which Markdown, HTML and Quarto find nothing of theirs."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))
