"""The ledger of an archive -> a checked document, whose prices fit into its budget."""

import math
from decimal import Decimal

from server.archives.archive_reader import Archive, name_entry_in_problems
from server.archives.layout import RELEASES, Document
from server.archives.ledger_writer import releases_of
from server.archives.manifest_reader import check_moment
from server.archives.table_reader import check_day, check_hash, describe_misspelling
from server.inputs import N_, InputError, parse_json, refuse
from server.inputs.schema import violations
from server.releases.budgets import read_released
from server.releases.plans.plan_reader import MOST_DELTA, MOST_EPSILON, format_decimal, parse_decimal
from server.releases.plans.plan_reader import ItemKind as ItemKind
from server.releases.rights import RightKind
from server.releases.spending import sum_losses
from server.releases.values import Budget, Figure, Released
from server.store.models import State

_LIMIT = 64 * 1024 * 1024


def read_ledger(archive: Archive, manifest: Document) -> Document:
    """What an archive says of a survey's budget and releases.

    Raises
    ------
    InputError
        Naming the place, and what was refused: what does not belong together, or was never paid for.
    """
    with name_entry_in_problems(RELEASES):
        document: Document = parse_json(archive.read(RELEASES, _LIMIT), _LIMIT)
        problems = violations(document, "ledger")
        if problems:
            raise InputError(422, problems)
        _check(document, manifest)
    return document


def _check(document: Document, manifest: Document) -> None:
    budget = document.get("budget")
    _check_right(document["right"], budget)
    if budget is None:
        if document["releases"]:
            raise refuse(422, "budget", N_("is required where there are releases"))
        return
    granted = Budget(
        _decimal(budget["epsilon"], "budget.epsilon", MOST_EPSILON),
        _decimal(budget["delta"], "budget.delta", MOST_DELTA),
        budget["neighbours"],
    )
    check_moment(budget["set_at"], "budget.set_at")
    if document["releases"] and manifest["state"] == State.DRAFT:
        raise refuse(422, "releases", N_("must be empty while the survey is a draft"))
    for place, release in enumerate(document["releases"]):
        field = f"releases[{place}]"
        check_moment(release["made_at"], f"{field}.made_at")
        check_day(release["made_at"][:10], f"{field}.made_at")
        for row, entry in enumerate(release["entries"]):
            _check_entry(entry, f"{field}.entries[{row}]", granted, len(manifest["strata"]))
    # What was declared counts for everybody, as nobody knows whom it was about: it may go beyond the budget.
    released = [
        each
        for each in _read(document, len(manifest["versions"]), granted)
        if each.item.kind != ItemKind.DECLARED
    ]
    for name, lost, whole in zip(
        ("epsilon", "delta"),
        sum_losses(granted.neighbours, released),
        (granted.epsilon, granted.delta),
        strict=True,
    ):
        if lost > whole:
            template = N_("must be at least what the releases lost together, %(limit)s; it is %(value)s")
            raise refuse(
                422, f"budget.{name}", template, limit=format_decimal(lost), value=format_decimal(whole)
            )


def _check_right(right: Document, budget: Document | None) -> None:
    """A right names all that it needs; a part is one of a budget."""
    if right["kind"] == RightKind.NONE:
        return
    for name in ("token", "server", "epsilon", "delta"):
        if name not in right:
            raise refuse(422, f"right.{name}", N_("is required"))
    if right["kind"] == RightKind.SHARE and budget is None:
        raise refuse(422, "budget", N_("is required where a part of it goes along"))
    most = (MOST_EPSILON, MOST_DELTA)
    if budget is not None:
        most = (
            _decimal(budget["epsilon"], "budget.epsilon", MOST_EPSILON),
            _decimal(budget["delta"], "budget.delta", MOST_DELTA),
        )
    for name, limit in zip(("epsilon", "delta"), most, strict=True):
        _decimal(right[name], f"right.{name}", limit)


def _check_entry(entry: Document, field: str, budget: Budget, strata: int) -> None:
    _decimal(entry["epsilon"], f"{field}.epsilon", MOST_EPSILON)
    _decimal(entry["delta"], f"{field}.delta", MOST_DELTA)
    check_hash(entry["asked"], f"{field}.asked")
    if entry["neighbours"] != budget.neighbours:
        template = N_("must be %(limit)s, as the budget says; it is %(value)s")
        raise refuse(422, f"{field}.neighbours", template, limit=budget.neighbours, value=entry["neighbours"])
    for place, number in enumerate(entry.get("strata", [])):
        if number == 0 or number > strata:
            template = N_("must be the number of a stratum; it is %(value)s")
            raise refuse(422, f"{field}.strata[{place}]", template, value=number)


def _decimal(text: str, field: str, most: Decimal) -> Decimal:
    """A loss as it is stored."""
    number = parse_decimal(text, field, Decimal(0), most)
    if format_decimal(number) != text:
        raise describe_misspelling(field, text, format_decimal(number))
    return number


def _read(document: Document, versions: int, budget: Budget) -> list[Released]:
    """What was released, as it will be read from the database."""
    found: list[Released] = []
    for place, release in enumerate(releases_of(document, {})):
        for row, entry in enumerate(release.entries):
            field = f"releases[{place}].entries[{row}]"
            try:
                found.append(read_released(len(found) + 1, entry))
                whole = _is_whole(found[-1], versions, budget)
            except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
                whole = False
            if not whole:
                raise refuse(422, field, N_("must be a release as Moneda keeps it; it is not"))
    return found


def _is_whole(released: Released, versions: int, budget: Budget) -> bool:
    """Whether everything that is shown of a release is what it should be."""
    covers, declared = released.covers, released.item.kind == ItemKind.DECLARED
    return (
        0 < released.confidence < 1
        and bool(covers.versions)
        and set(covers.versions) <= set(range(1, versions + 1))
        and covers.state in (State.OPEN, State.CLOSED)
        and (declared or (covers.respondents is None) == (budget.neighbours == "unbounded"))
        and (covers.respondents is None or covers.respondents >= 0)
        and released.item.epsilon in (None, released.epsilon)
        and all(isinstance(note, int | float | str) for note in released.notes.values())
        and (released.item.kind == ItemKind.SEARCH or bool(released.figures) != declared)
        and all(map(_is_figure, released.figures))
    )


def _is_figure(figure: Figure) -> bool:
    numbers: tuple[object, ...] = (figure.value, figure.standard_error, figure.low, figure.high)
    texts = [figure.statistic, *(text for pair in figure.place for text in pair)]
    return all(isinstance(text, str) for text in texts) and all(
        number is None or (isinstance(number, int | float) and math.isfinite(number)) for number in numbers
    )
