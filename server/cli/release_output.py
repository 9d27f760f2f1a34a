"""How the commands print what was released, and what it would cost."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import IO, Any

import click

from server.cli.common import make_plain, print_document, print_table
from server.inputs import parse_json
from server.output.formatting import fraction, level
from server.output.languages import DEFAULT_LANGUAGE
from server.releases import OWN_LINK, STRATUM, Expected, Figure, Ledger, Released
from server.releases.plans.plan_reader import PLAN_LIMIT, Item, ReleasePlan, format_decimal, item_json
from server.releases.pricing import Price
from server.reports.contents.column_texts import word_condition
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.release_sentences import say_entry
from server.reports.report_words import ReportWords
from server.study.strata.tree import SEPARATOR

_HIDES = {
    "unbounded": "also whether somebody took part (unbounded neighbours)",
    "bounded": "what people answered, not that they did (bounded neighbours)",
}


def item_name(item: Item) -> str:
    """What was asked for, on one line."""
    words = [item.kind, "" if item.how_many is None else str(item.how_many), " x ".join(item.questions)]
    words += [f"= {item.option}"] if item.option else []
    words += [f"above {format_decimal(item.share)}"] if item.share is not None else []
    words += ["by stratum"] if item.by_stratum else []
    words += [f"in {SEPARATOR.join(item.stratum)}"] if item.stratum else []
    words += ["where " + " and ".join(map(word_condition, item.where))] if item.where else []
    return " ".join(filter(None, words))


def print_ledger(ledger: Ledger, questions: QuestionsByVersion) -> None:
    """The budget, what is left of it, and a row for everything that was paid for."""
    budget, spent = ledger.budget, ledger.spent
    if ledger.restored:
        click.echo(
            "The database may have been restored from a backup. Nothing is released until what was spent since is "
            "declared: --declare EPSILON, 0 for nothing."
        )
    if budget is None:
        click.echo("No budget is set; set one with --budget-epsilon before the first release.")
        return
    click.echo(
        f"Budget: {_word_loss(budget.epsilon, budget.delta)}; a release hides {_HIDES[budget.neighbours]}."
    )
    left = format_decimal(ledger.left)
    click.echo(f"Spent: {_word_loss(spent.epsilon, spent.delta)}. Left: epsilon {left}.")
    if spent.best is not None:
        click.echo(
            f"All releases one after the other: epsilon {format_decimal(spent.sequential)}; "
            f"best known: {spent.best:.4f} at delta {spent.best_delta:g}."
        )
    if ledger.released:
        header = ["entry", "release", "made (UTC)", "by", "what", "mechanism", "epsilon", "delta"]
        print_table(header, [_entry_cells(released) for released in ledger.released])
        print_figures(ledger.released, questions)


def _word_loss(epsilon: Decimal, delta: Decimal) -> str:
    """A loss with the chance that it is more."""
    return f"epsilon {format_decimal(epsilon)}, delta {format_decimal(delta)}"


def _entry_cells(released: Released) -> list[str]:
    return [
        str(released.entry),
        str(released.release),
        released.made_at.isoformat(" ", "minutes"),
        released.made_by or "-",
        item_name(released.item),
        released.mechanism,
        format_decimal(released.epsilon),
        format_decimal(released.delta),
    ]


def print_figures(entries: Sequence[Released], questions: QuestionsByVersion) -> None:
    """A row for each number that was released, then what each entry found in words."""
    header = ["entry", "statistic", "of", "value", "standard error", "interval", "confidence"]
    print_table(
        header,
        [
            [
                str(released.entry),
                *_figure_cells(_clip_figure(released, figure)),
                f"{level(released.confidence, 'en')}%",
            ]
            for released in entries
            for figure in released.figures
        ],
    )

    for released in entries:
        for line in (*_weighted_lines(released), *_said_lines(released, questions)):
            click.echo(line)


def _weighted_lines(released: Released) -> Iterator[str]:
    """Which populations weighted numbers count, since when these stood, which strata do not stand alone."""
    notes = released.notes
    if "weighted_population" not in notes:
        return
    since = notes.get("populations_since")
    stood = f"have stood since {since}" if since else f"stood on {released.covers.until}"
    yield (
        f"Entry {released.entry}, weighted: by the populations of the strata as they {stood}, "
        f"{notes['weighted_population']} people in all."
    )
    if "strata_together" in notes:
        yield f"Entry {released.entry}, taken together: {notes['strata_together']}."
    if "strata_not_used" in notes:
        yield f"Entry {released.entry}, not used, counted as those beside them: {notes['strata_not_used']}."


def _said_lines(released: Released, questions: QuestionsByVersion) -> Iterator[str]:
    """What it found, in the sentences of its page and of reports."""
    for sentence, meaning in say_entry(ReportWords(DEFAULT_LANGUAGE), released, questions):
        yield f"Entry {released.entry}, {item_name(released.item)}: {make_plain(f'{sentence} {meaning}'.strip())}"


def _clip_figure(released: Released, figure: Figure) -> Figure:
    """A mean as it can be; --json has the number as it was released."""
    ends = [released.notes.get(name) for name in ("lowest", "highest")]
    if figure.statistic not in ("mean", "weighted_mean") or not all(
        isinstance(end, int | float) for end in ends
    ):
        return figure
    return figure.within(*(float(end) for end in ends if end is not None))


def _figure_cells(figure: Figure) -> list[str]:
    limits = "-"
    if figure.low is not None and figure.high is not None:
        limits = f"{_number(figure.low)} to {_number(figure.high)}"
    return [
        f"{figure.statistic}, not weighted" if figure.weighting == "responses" else figure.statistic,
        _place(figure),
        _number(figure.value),
        _number(figure.standard_error),
        limits,
    ]


def _place(figure: Figure) -> str:
    strata = {"": "(all)", OWN_LINK: "(without stratum)"}
    parts = [
        strata.get(answer, answer) if name == STRATUM else f"{name} = {answer}" if answer else name
        for name, answer in figure.place
    ]
    return ", ".join(parts) or "(all)"


def _number(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else fraction(value)


def print_priced(plan: ReleasePlan, priced: Price, left: Decimal) -> None:
    """What each item costs; what was released before costs nothing."""
    for place, entry in sorted(priced.known.items()):
        click.echo(f"{item_name(plan.items[place])}: released already (entry {entry.entry}), free.")
    if priced.paying is not None:
        print_costs(priced.expected.values())
        delta = f", delta {format_decimal(priced.delta)}" if priced.delta else ""
        cost = f"epsilon {format_decimal(priced.epsilon)}{delta}"
        click.echo(f"Takes from the budget: {cost}. Left: epsilon {format_decimal(left)}.")


def print_costs(costs: Iterable[Expected]) -> None:
    """What each item costs, and how exact it will be."""
    costs = tuple(costs)
    header = ["item", "epsilon", "delta", "error of the noise", "standard error in all", "in"]
    rows = [
        [
            item_name(cost.item),
            format_decimal(cost.epsilon),
            format_decimal(cost.delta),
            _error(cost.error),
            _error(cost.standard_error),
            cost.unit,
        ]
        for cost in costs
    ]
    print_table(header, rows)
    if any(cost.error is None and not cost.item.where for cost in costs):
        click.echo('Some errors depend on how many respond: state "people" in the plan to see them.')
    if any(cost.error is None and cost.item.where for cost in costs):
        click.echo('Some errors depend on how many rows fulfil the conditions: state "people" in the item.')


def _error(error: float | None) -> str:
    return "-" if error is None else f"{error:.4g}"


def costs_json(costs: Iterable[Expected]) -> list[dict[str, Any]]:
    """What each item costs, and how exact it will be, as JSON."""
    return [
        {
            "item": item_json(cost.item),
            "epsilon": float(cost.epsilon),
            "delta": float(cost.delta),
            "unit": cost.unit,
            "error": cost.error,
            "standard_error": cost.standard_error,
            "margin": cost.margin,
        }
        for cost in costs
    ]


def decode_plan(file: IO[bytes]) -> Any:
    """A plan, not checked yet."""
    return parse_json(file.read(PLAN_LIMIT + 1), PLAN_LIMIT, "plan")


def ask_agreement(yes: bool, quiet: bool) -> bool:
    """Whether to go on: said before, or asked for where somebody sits at the terminal."""
    return yes or (not quiet and sys.stdin.isatty() and click.confirm("Release it?"))


def print_nothing(document: dict[str, Any], as_json: bool) -> None:
    """Say that it was looked at only."""
    if as_json:
        print_document(document, as_json)
    click.echo("Nothing was released; add --yes to release it.", err=True)


@contextmanager
def announce_work(label: str) -> Iterator[None]:
    """Say that something may take a while."""
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:
        yield
        bar.update(1)
