"""The budget of a table that is not a survey: a file beside it, in which every run is written down.

A run is added to all before it, whatever strata it was about: people may have moved between two states of a
table. The file is written as a whole and renamed, so that it is never half-written, and locked from
when it is read until then. Two files, or an older copy of one, are two budgets: nobody here can tell.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from server import __version__
from server.inputs import N_, InputError, parse_json, refuse, shorten_value
from server.releases.plans.plan_reader import (
    MOST_DELTA,
    MOST_EPSILON,
    format_decimal,
    item_json,
    parse_decimal,
)
from server.releases.spending import sum_losses
from server.releases.values import Budget, Released
from server.store.private_files import replace_file
from server.study import surveys

FORMAT = 1
_LIMIT = 64 * 1024 * 1024
_FIELDS = {"format", "neighbours", "budget", "runs"}


@dataclass(frozen=True)
class TableLedger:
    """What the releases from a table may lose together, and what each run lost: as they stand in the file.

    `person` is the column that says whose rows they are; without it a row is a person.
    """

    budget: Budget
    runs: tuple[dict[str, Any], ...] = ()
    person: str | None = None

    @property
    def spent(self) -> tuple[Decimal, Decimal]:
        """Epsilon and delta of all runs."""
        return (
            sum((Decimal(run["epsilon"]) for run in self.runs), Decimal(0)),
            sum((Decimal(run["delta"]) for run in self.runs), Decimal(0)),
        )

    @property
    def left(self) -> Decimal:
        """Of the budget's epsilon."""
        return self.budget.epsilon - self.spent[0]

    def with_run(self, made: Sequence[Released]) -> "TableLedger":
        """The same with one more run.

        Raises
        ------
        InputError
            409 on `epsilon` or `delta`, naming what is left, if the budget does not suffice.
        """
        lost = sum_losses(self.budget.neighbours, made)
        whole = self.budget.epsilon, self.budget.delta
        for name, before, more, most in zip(("epsilon", "delta"), self.spent, lost, whole, strict=True):
            if before + more > most:
                template = N_(
                    "must leave what the releases together may lose at %(limit)s or less; "
                    "%(left)s is left, and this needs %(value)s"
                )
                left = format_decimal(most - before)
                raise refuse(
                    409, name, template, limit=format_decimal(most), left=left, value=format_decimal(more)
                )
        run = {
            "made_at": surveys.now().isoformat(timespec="seconds"),
            "software": f"Moneda {__version__}",
            "epsilon": format_decimal(lost[0]),
            "delta": format_decimal(lost[1]),
            "items": [item_json(each.item) for each in made],
        }
        return replace(self, runs=(*self.runs, run))


def read_ledger(
    path: Path, neighbours: str, epsilon: str | None, delta: str | None, person: str | None = None
) -> TableLedger:
    """The ledger in a file; where there is none yet, a new one with the budget that is given.

    Raises
    ------
    InputError
        If there is neither a file nor a budget; if both are there and differ; if the file is damaged, or
        its neighbours, or whom it takes for a person, are others than the plan's.
    """
    if not path.exists():
        if epsilon is None:
            template = N_("must be there, or a budget be given with it: %(limit)s")
            raise refuse(422, "ledger", template, limit="--budget-epsilon")
        return TableLedger(_budget(neighbours, epsilon, delta or "0"), person=person)
    ledger = _parse(path.read_bytes())
    stated = ledger.budget
    if stated.neighbours != neighbours:
        template = N_("must be %(limit)s, as the ledger says; it is %(value)s")
        raise refuse(409, "neighbours", template, limit=stated.neighbours, value=neighbours)
    if ledger.person != person:
        template = N_("must be %(limit)s, as the ledger says; it is %(value)s")
        raise refuse(409, "person", template, limit=_quote(ledger.person), value=_quote(person))
    if epsilon is not None and _budget(neighbours, epsilon, delta or "0") != stated:
        template = N_("must stay as the ledger says, epsilon %(epsilon)s and delta %(delta)s")
        raise refuse(
            409,
            "budget",
            template,
            epsilon=format_decimal(stated.epsilon),
            delta=format_decimal(stated.delta),
        )
    return ledger


def write_ledger(path: Path, ledger: TableLedger) -> None:
    """Put a ledger in the place of the one before; once this returns, it is on the disk.

    Raises
    ------
    OSError
        If it cannot be written; then the one before is still there.
    """
    document = {
        "format": FORMAT,
        "neighbours": ledger.budget.neighbours,
        "budget": {
            "epsilon": format_decimal(ledger.budget.epsilon),
            "delta": format_decimal(ledger.budget.delta),
        },
        "runs": list(ledger.runs),
        **({} if ledger.person is None else {"person": ledger.person}),
    }
    replace_file(path, f"{json.dumps(document, ensure_ascii=False, indent=2)}\n".encode())


def _quote(person: str | None) -> str:
    return shorten_value('""' if person is None else person)


def _budget(neighbours: str, epsilon: object, delta: object) -> Budget:
    return Budget(
        parse_decimal(epsilon, "budget.epsilon", Decimal(0), MOST_EPSILON, above=True),
        parse_decimal(delta, "budget.delta", Decimal(0), MOST_DELTA),
        neighbours,
    )


def _parse(content: bytes) -> TableLedger:
    document = parse_json(content, _LIMIT, "ledger")
    try:
        whole = document.keys() - {"person"} == _FIELDS and document["format"] == FORMAT
        person = document.get("person")
        whole = whole and (person is None or isinstance(person, str))
        neighbours, stated, runs = document["neighbours"], document["budget"], document["runs"]
        whole = whole and neighbours in ("unbounded", "bounded") and stated.keys() == {"epsilon", "delta"}
        budget = _budget(neighbours, stated["epsilon"], stated["delta"])
        for run in runs:
            for name, most in (("epsilon", budget.epsilon), ("delta", budget.delta)):
                whole = whole and isinstance(run[name], str)
                parse_decimal(run[name], name, Decimal(0), most)
        ledger = TableLedger(budget, tuple(runs), person)
        whole = whole and ledger.spent[0] <= budget.epsilon and ledger.spent[1] <= budget.delta
    except (AttributeError, KeyError, TypeError, InputError):
        whole = False
    if not whole:
        template = N_("must be a ledger as it was written here, and add up; it begins with %(value)s")
        raise refuse(422, "ledger", template, value=shorten_value(content[:40].decode("utf-8", "replace")))
    return ledger
