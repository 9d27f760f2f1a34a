"""What a survey's releases were allowed to lose, what each lost, and what is left."""

from collections.abc import Iterator, Sequence

from server.inputs import N_
from server.output.documents import Block, Cell, Facts, Number, Paragraph, Table, Text
from server.output.formatting import chance, scientific
from server.privacy.planning import belief_after_report
from server.releases.values import Covers, Ledger, Released
from server.reports.contents import cell_texts
from server.reports.report_words import ReportWords

WORDS = "words/releases.html"
"""Where the pages of releases have their words for what was released."""
NEIGHBOURS = {
    "unbounded": N_("one response added or removed"),
    "bounded": N_("one response said something else, by the same link and at the same time"),
}
OF_TABLES = {
    "unbounded": N_("all that one person adds to the table"),
    "bounded": N_("what one row of the table says"),
}
"""The same of a table that is no survey."""


def describe_ledger(words: ReportWords, book: Ledger, *, names: bool) -> Iterator[Block]:
    """The budget, what was spent and every entry; `names`: also who made it."""
    _ = words.gettext
    if book.restored:
        text = _(
            "The database may have been restored from a backup: what was released or given away since, if "
            "anything, is missing here. Nothing more is released until the survey’s owner has declared it."
        )
        yield Paragraph(Text(text), notice=True)
    if book.budget is None:
        if not book.restored:
            yield Paragraph(Text(_("No central budget was set, and nothing was released.")))
        return
    yield Paragraph(
        Text(
            _(
                "Everything released draws on one budget, set before the first release and never raised. A loss "
                "ε says how well two cases can be told apart that differ in this: %(neighbours)s.",
                neighbours=_(NEIGHBOURS[book.budget.neighbours]),
            )
        )
    )
    if book.released and not book.restored:
        yield Paragraph(Text(meaning(words, book)))
    spent = book.spent
    entries: list[tuple[str, Number]] = [
        (_("Budget, ε"), cell_texts.format_spent(words, book.budget.epsilon)),
        (_("Spent, ε"), cell_texts.format_spent(words, spent.epsilon)),
        (_("Left, ε"), cell_texts.format_left(words, book.left)),
        (_("Sum of all entries, ε"), cell_texts.format_spent(words, spent.sequential)),
    ]
    if book.budget.delta or spent.delta:
        entries += [
            (_("Budget, δ"), cell_texts.format_delta(words, book.budget.delta)),
            (_("Spent, δ"), cell_texts.format_delta(words, spent.delta)),
        ]
    if spent.best is not None:
        name = _(
            "Smallest bound known for all of it at δ = %(delta)s, ε", delta=words.number(spent.best_delta)
        )
        entries.append((name, cell_texts.epsilon(words, spent.best)))
    yield Facts(tuple(entries))
    if book.released:
        yield _entries(words, book.released)
        yield _releases(words, book.released, names)


def meaning(words: ReportWords, book: Ledger) -> str:
    """What was spent can do to what somebody believes: of taking part, or of one answer against another."""
    assert book.budget is not None
    most = belief_after_report(float(book.spent.epsilon), 0.5)
    low, high = (chance(belief, words.locale) for belief in (1 - most, most))
    if book.budget.neighbours == "unbounded":
        text = words.gettext(
            "Somebody who thinks it 50 %% likely that a person took part, once, can come to think it "
            "%(low)s %% to %(high)s %% likely from all releases together, and no further.",
            low=low,
            high=high,
        )
    else:
        text = words.gettext(
            "Somebody who thinks one of two answers of a person who took part once 50 %% likely can come to think it "
            "%(low)s %% to %(high)s %% likely from all releases together, and no further.",
            low=low,
            high=high,
        )
    if book.spent.delta:
        text += " " + words.gettext(
            "As δ is not 0, it may go further in rare cases, which δ = %(delta)s bounds.",
            delta=scientific(book.spent.delta, words.locale),
        )
    return text


def _entries(words: ReportWords, released: Sequence[Released]) -> Table:
    _ = words.gettext
    rows: list[tuple[Cell, ...]] = [
        (
            cell_texts.count(words, record.entry),
            cell_texts.count(words, record.release),
            Text(words.macro(WORDS, "kind_name", record.item)),
            Text(", ".join(record.item.questions), code=True),
            Text(mechanism(words, record)),
            cell_texts.format_spent(words, record.epsilon),
            cell_texts.format_delta(words, record.delta),
        )
        for record in released
    ]
    columns = (_("Entry"), _("release"), _("what"), _("questions"), _("noise"), "ε", "δ")
    return Table("ledger", _("Ledger"), columns, tuple(rows))


def _releases(words: ReportWords, released: Sequence[Released], names: bool) -> Table:
    """What all entries of a release have in common, told once."""
    _ = words.gettext
    rows: dict[tuple[Cell, ...], None] = {}
    for record in released:
        by = Text(record.made_by or _("command line"), from_survey=bool(record.made_by))
        row: tuple[Cell, ...] = (
            cell_texts.count(words, record.release),
            Text(words.moment(record.made_at)),
            *([by] if names else []),
            Text(describe_coverage(words, record.covers)),
            Text(record.software),
        )
        rows.setdefault(row)
    columns = (
        _("Release"),
        _("when"),
        *([_("by whom")] if names else []),
        _("responses covered"),
        _("Software"),
    )
    return Table("ledger-releases", _("The releases of the ledger"), columns, tuple(rows))


MECHANISMS = {
    "geometric": N_("geometric"),
    "hierarchy": N_("geometric, on every level"),
    "laplace": N_("Laplace"),
    "gaussian": N_("Gaussian"),
    "noisy_maximum": N_("noisy maximum"),
    "exponential": N_("exponential mechanism"),
    "sparse_vector": N_("sparse vector"),
    "shuffling": N_("shuffling"),
    "declared": N_("declared by the owner"),
}


def mechanism(words: ReportWords, released: Released) -> str:
    """What drew the noise."""
    name = MECHANISMS.get(released.mechanism)
    return released.mechanism if name is None else words.gettext(name)


def describe_coverage(words: ReportWords, about: Covers) -> str:
    """Which responses a release is about."""
    return words.macro(WORDS, "covered", about)
