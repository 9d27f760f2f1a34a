"""A survey's ledger, and its public report, as JSON and CSV."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from server.releases.budgets import covers_json, value_json
from server.releases.plans.plan_reader import format_decimal, item_json
from server.releases.searches import SearchRecord
from server.releases.values import STRATUM, Ledger, Released
from server.reports.answer_names import AnswerTexts
from server.reports.csv_cells import csv_text
from server.reports.disclosure_values import ITEM_MISSING
from server.reports.forged_moves import list_move_texts, moves_json
from server.reports.public_source import Published, PublishedVersion
from server.reports.references import list_public_references
from server.reports.released_rate import rate_json
from server.reports.survey_texts import (
    admissions_json,
    list_study_texts,
    list_texts,
    routing_json,
    texts_json,
)
from server.study.definitions import Question

_DEEPEST = 4
"""Pairs that say what a figure is of: three questions and a stratum."""
_PUBLIC = [
    *"simulated,entry,release,what".split(","),
    *(f"{name}_{place}" for place in range(1, _DEEPEST + 1) for name in ("of", "is")),
    *"statistic,weighting,value,standard_error,interval_low,interval_high,confidence".split(","),
    *"mechanism,epsilon,delta,neighbours,versions,until,respondents,made_at,software".split(","),
    *"populations_since,strata_together,strata_not_used,text".split(","),
]


def ledger_json(ledger: Ledger, *, names: bool) -> dict[str, Any]:
    """The budget, what was spent and left, and every entry with its figures; `names`: also who made it."""
    budget, spent = ledger.budget, ledger.spent
    return {
        "budget": None
        if budget is None
        else {
            "epsilon": float(budget.epsilon),
            "delta": float(budget.delta),
            "neighbours": budget.neighbours,
        },
        "spent": {
            "epsilon": float(spent.epsilon),
            "delta": float(spent.delta),
            "sequential": float(spent.sequential),
            "best": spent.best,
            "best_delta": spent.best_delta,
        },
        "left": float(ledger.left),
        "restored": ledger.restored,
        "entries": [entry_json(each, names) for each in ledger.released],
    }


def public_json(published: Published) -> str:
    """The public report as JSON."""
    newest = published.newest
    released_on = published.released_on
    document = {
        "title": newest.definition.title,
        "simulated": published.simulated,
        "incomplete": published.incomplete,
        "released_on": None if released_on is None else released_on.isoformat(),
        "software": published.software,
        "study": published.study.as_json(),
        "admission": admissions_json(published.admissions),
        "forging": moves_json(published.designs, published.admissions),
        "versions": [_version_json(version) for version in published.versions],
        "item_missing": ITEM_MISSING,
        "response_rate": rate_json(published),
        "references": [reference.as_json() for reference in list_public_references(published)],
        **ledger_json(published.ledger, names=False),
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def public_csv(published: Published) -> str:
    """What was released as CSV, long format: one row for each figure; then the survey's own texts, a row each.

    Columns `of_1`, `is_1`, ... say what it is of: a question and its answer, or "stratum" and a path.
    """
    rows: list[Sequence[object]] = [_PUBLIC]
    for record in published.ledger.released:
        rows += _list_rows(record, published.simulated)
    for text in list_texts(published.newest.definition):
        row = {
            "what": text.kind,
            "of_1": text.name,
            "statistic": "text",
            "versions": published.newest.number,
            "text": text.text,
        }
        rows.append((published.simulated, *(row.get(column, "") for column in _PUBLIC[1:])))
    for name, written in list_study_texts(published.study):
        said = {"what": "study", "of_1": name, "statistic": "text", "text": written}
        rows.append((published.simulated, *(said.get(column, "") for column in _PUBLIC[1:])))
    references = [("reference", reference.cite()) for reference in list_public_references(published)]
    moves = list_move_texts(published.designs, published.admissions)
    rate = [("", f"response_rate.{name}", str(value)) for name, value in (rate_json(published) or {}).items()]
    disclosed = [("", "item_missing", str(ITEM_MISSING)), *rate, *moves, *[("", *one) for one in references]]
    for question, what, written in disclosed:
        said = {"what": what, "of_1": question, "statistic": "disclosure", "text": written}
        rows.append((published.simulated, *(said.get(column, "") for column in _PUBLIC[1:])))
    return csv_text(rows)


def entry_csv(record: Released, simulated: bool) -> str:
    """An entry as CSV, in the columns of `public_csv`."""
    return csv_text([_PUBLIC, *_list_rows(record, simulated)])


def _list_rows(record: Released, simulated: bool) -> Iterator[Sequence[object]]:
    """A row for each figure of an entry; one without any, where only a loss was declared."""
    before = (simulated, record.entry, record.release, str(record.item.kind))
    about = record.covers
    after = (
        record.confidence,
        record.mechanism,
        float(record.epsilon),
        float(record.delta),
        record.neighbours,
        " ".join(map(str, about.versions)),
        about.until.isoformat(),
        about.respondents,
        record.made_at.isoformat(),
        record.software,
        *(record.notes.get(name, "") for name in ("populations_since", "strata_together", "strata_not_used")),
    )
    if not record.figures:  # declared: what was spent, and no number
        yield (*before, *[""] * (2 * _DEEPEST + 6), *after, "")
    for figure in record.figures:
        pairs = [cell for name, value in figure.place for cell in (_name(name), value)]
        place = [*pairs, *[""] * (2 * _DEEPEST - len(pairs))]
        numbers = (figure.value, figure.standard_error, figure.low, figure.high)
        yield (*before, *place, figure.statistic, figure.weighting, *numbers, *after, "")


def _name(name: str) -> str:
    return "stratum" if name == STRATUM else name


def entry_json(record: Released, names: bool) -> dict[str, Any]:
    """An entry of a ledger with everything that it paid for; `names`: also who made it."""
    found = value_json(record.figures, record.confidence, dict(record.notes))
    for written, figure in zip(found["figures"], record.figures, strict=True):
        written["weighting"] = figure.weighting
    return {
        "entry": record.entry,
        "release": record.release,
        "what": item_json(record.item),
        "mechanism": record.mechanism,
        "epsilon": float(record.epsilon),
        "delta": float(record.delta),
        "neighbours": record.neighbours,
        "made_at": record.made_at.isoformat(),
        **({"made_by": record.made_by} if names else {}),
        "software": record.software,
        "covers": covers_json(record.covers),
        **found,
    }


def search_json(record: SearchRecord) -> dict[str, Any]:
    """A search, how it stands, and what it was asked."""
    item = record.entry.item
    return {
        "search": record.number,
        "state": str(record.state),
        "share": None if item.share is None else format_decimal(item.share),
        "limit": item.limit,
        "positives": item.positives,
        "found": record.hits,
        "most": item.most,
        "epsilon": format_decimal(record.entry.epsilon),
        "delta": format_decimal(record.entry.delta),
        "noise_people": record.entry.notes["noise_people"],
        "error_people": record.entry.notes["error_people"],
        "answers": [
            {
                "question": figure.place[-1][0],
                "answer": figure.place[-1][1],
                "stratum": next((path for name, path in figure.place if name == STRATUM), None),
                "above": bool(figure.value),
            }
            for figure in record.entry.figures
        ],
    }


def _version_json(version: PublishedVersion) -> dict[str, Any]:
    return {
        "number": version.number,
        "sha256": version.sha256,
        "published_on": version.published_on.isoformat(),
        **texts_json(version.definition),
        "epsilon": version.definition.epsilon,
        "questions": [_question_json(version, question) for question in version.definition.questions],
    }


def _question_json(version: PublishedVersion, question: Question) -> dict[str, Any]:
    return {
        "name": question.name,
        "kind": question.kind,
        "text": question.text,
        "answers": list(question.answers),
        "answer_texts": list(AnswerTexts(version.definition).of(question)),
        **routing_json(question),
        "encoding": question.encoding,
        "epsilon": question.epsilon,
        "designs": [
            {
                "weights": design.weights.tolist(),
                "epsilon": design.epsilon,
                "odds": {"people": design.odds.people, "counts": [list(row) for row in design.odds.counts]},
            }
            for design in question.designs
        ],
    }
