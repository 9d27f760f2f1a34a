"""`python -m server survey search`: questions one at a time, each answered above or below, for one price."""

from typing import Any

import click

from server.cli.common import (
    JSON,
    SLUG,
    WholeNumber,
    database_session,
    print_document,
    print_table,
    require_survey,
    survey_to_change,
)
from server.cli.release_output import ask_agreement
from server.inputs import number_or_text
from server.people import change_log
from server.people.change_log import Action
from server.releases import STRATUM
from server.releases.basis import load_basis
from server.releases.plans.plan_reader import format_decimal
from server.releases.searches import (
    SearchRecord,
    ask_search,
    find_search,
    list_searches,
    open_search,
    parse_terms,
    price_search,
)
from server.reports.ledger_files import search_json

_NUMBERED = WholeNumber(1)
_NUMBER = click.argument("number", type=_NUMBERED)


@click.group()
def search() -> None:
    """Find answers above a limit, asking one thing after the other, for a price that is paid once."""


@search.command("open")
@SLUG
@click.option("--share", help="The share to exceed, such as 0.2.")
@click.option("--limit", help="The number of people to exceed, in place of a share.")
@click.option("--positives", default="1", show_default=True, help="After how many answers above it ends.")
@click.option("--epsilon", required=True, help="What all of it may lose, whatever is asked.")
@click.option("--delta", default="0", show_default=True, help="Failure probability that may be granted.")
@click.option("--most", help="How many questions there will be at most; to be told the error of all of them.")
@click.option(
    "--yes", is_flag=True, help="Open it; without this, only the price is printed, or you are asked."
)
@JSON
def open_(slug: str, yes: bool, as_json: bool, **typed: str | None) -> None:
    """Open a search of a closed survey, and pay for it. The price and the error are printed before."""
    terms = parse_terms({name: number_or_text(text) for name, text in typed.items() if text is not None})
    with database_session() as session:
        basis = load_basis(session, require_survey(session, slug))
        price, left = price_search(basis, terms), basis.ledger.left
    document: dict[str, Any] = {
        "survey": slug,
        "epsilon": format_decimal(price.epsilon),
        "delta": format_decimal(price.delta),
        "noise_people": price.noise,
        "error_people": price.error,
        "left": format_decimal(left),
        "search": None,
    }
    if not as_json:
        print_table(["", ""], [[name, str(value)] for name, value in document.items() if value is not None])
    if ask_agreement(yes, as_json):
        with database_session() as session:
            survey = survey_to_change(session, slug)
            document["search"] = open_search(session, survey, terms, None)
            change_log.record(
                session,
                None,
                Action.SEARCH_OPENED,
                survey,
                number=document["search"],
                epsilon=document["epsilon"],
            )
    if as_json:
        print_document(document, as_json)
    elif document["search"] is not None:
        click.echo(f"Opened search {document['search']}.")


@search.command()
@SLUG
@_NUMBER
@click.argument("question")
@click.argument("answer")
@click.option("--stratum", multiple=True, help="One name from the top down for each; all responses without.")
@JSON
def ask(slug: str, number: int, question: str, answer: str, stratum: tuple[str, ...], as_json: bool) -> None:
    """Ask whether an ANSWER to a QUESTION is above the limit of a search; asked again, it is answered alike."""
    with database_session() as session:
        survey = survey_to_change(session, slug)
        before = len(find_search(session, survey, number).entry.figures)
        above = ask_search(session, survey, number, question, answer, stratum)
        session.flush()
        record = find_search(session, survey, number)
        if len(record.entry.figures) > before:
            change_log.record(session, None, Action.SEARCH_ASKED, survey, number=number, question=question)
    document = {"search": number, "above": above, "state": str(record.state), "found": record.hits}
    if as_json:
        print_document(document, as_json)
    else:
        click.echo("above" if above else "not above")


@search.command()
@SLUG
@click.argument("number", type=_NUMBERED, required=False)
@JSON
def show(slug: str, number: int | None, as_json: bool) -> None:
    """Print the searches of a survey, or one of them with what it was asked."""
    with database_session() as session:
        survey = require_survey(session, slug)
        found = list_searches(session, survey) if number is None else [find_search(session, survey, number)]
    if as_json:
        print_document({"survey": slug, "searches": [search_json(each) for each in found]}, as_json)
    elif number is None:
        print_table(["search", "limit", "epsilon", "asked", "found", "state"], [_row(each) for each in found])
    else:
        rows = []
        for figure in found[0].entry.figures:
            strata = [text for name, text in figure.place if name == STRATUM]
            rows.append(["".join(strata) or "-", *figure.place[-1], "above" if figure.value else "not above"])
        print_table(["stratum", "question", "answer", ""], rows)


def _row(record: SearchRecord) -> list[str]:
    item = record.entry.item
    limit = f"{item.limit} people" if item.share is None else format_decimal(item.share)
    return [
        str(record.number),
        limit,
        format_decimal(record.entry.epsilon),
        str(len(record.entry.figures)),
        f"{record.hits} of {item.positives}",
        str(record.state),
    ]
