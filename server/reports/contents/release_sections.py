"""What was released, entry by entry: its figures as a table, and as a chart where they make one."""

from collections.abc import Iterator, Sequence
from datetime import date

from server.output.documents import Block, Cell, Facts, Paragraph, Section, Table, Text
from server.releases import Released
from server.releases.plans.plan_reader import ItemKind
from server.reports.contents import cell_texts
from server.reports.contents.figures import STATISTICS, QuestionsByVersion, numbers, place
from server.reports.contents.ledger_sections import NEIGHBOURS, WORDS, describe_coverage, mechanism
from server.reports.contents.release_charts import draw_entry
from server.reports.report_words import ReportWords


def sections(
    words: ReportWords, released: Sequence[Released], asked: QuestionsByVersion
) -> Iterator[Section]:
    """A section for each entry of the ledger."""
    for each in released:
        title = words.gettext(
            "%(entry)s. %(what)s", entry=each.entry, what=words.macro(WORDS, "kind_name", each.item)
        )
        yield Section(f"entry-{each.entry}", Text(title), tuple(_blocks(words, each, asked)))


def _blocks(words: ReportWords, each: Released, asked: QuestionsByVersion) -> Iterator[Block]:
    _ = words.gettext
    if each.item.kind == ItemKind.DECLARED:
        yield from _declared(words, each)
        return
    facts: list[tuple[str, Cell]] = []
    for name in each.item.questions:
        found = asked.question(name, each.covers)
        facts.append(
            (_("Question"), Text(name, code=True) if found is None else cell_texts.quote_question(*found))
        )
    if each.item.stratum:
        facts.append((_("Stratum"), Text(" > ".join(each.item.stratum), own=True)))
    if each.item.share is not None:
        facts.append((_("Limit"), cell_texts.share(words, float(each.item.share))))
    facts += [
        (_("Noise"), Text(mechanism(words, each))),
        (_("Privacy loss, ε"), cell_texts.format_spent(words, each.epsilon)),
    ]
    if each.delta:
        facts.append((_("Failure probability, δ"), cell_texts.format_spent(words, each.delta)))
    facts += [
        (_("Between neighbours"), Text(_(NEIGHBOURS[each.neighbours]))),
        (_("Responses covered"), Text(describe_coverage(words, each.covers))),
    ]
    facts += weighted_by(words, each)
    yield Facts(tuple(facts))
    if each.figures:
        yield _table(words, each, asked)
    yield from draw_entry(words, each, asked)


def _declared(words: ReportWords, each: Released) -> Iterator[Block]:
    _ = words.gettext
    text = _(
        "No number belongs to this entry. The survey's owner declared that so much was spent where this ledger could "
        "not know of it, as after a backup was restored."
    )
    yield Paragraph(Text(text))
    loss = cell_texts.format_spent(words, each.epsilon), cell_texts.format_spent(words, each.delta)
    yield Facts(((_("Privacy loss, ε"), loss[0]), (_("Failure probability, δ"), loss[1])))


def _table(words: ReportWords, each: Released, asked: QuestionsByVersion) -> Table:
    _ = words.gettext
    confidence = words.level(each.confidence)
    columns = (
        _("Of"),
        _("what"),
        _("value"),
        _("standard error"),
        _("%(confidence)s %% interval, from", confidence=confidence),
        _("to"),
    )
    rows = tuple(
        (
            place(words, each, figure, asked),
            Text(_(STATISTICS[figure.statistic])),
            *numbers(words, each, figure, asked),
        )
        for figure in each.figures
    )
    caption = _("Released, entry %(entry)s", entry=each.entry)
    return Table(f"released-{each.entry}", caption, columns, rows)


def weighted_by(words: ReportWords, each: Released) -> list[tuple[str, Cell]]:
    """Which populations its weighted numbers count, since when these stood, which strata do not stand alone."""
    _ = words.gettext
    people = each.notes.get("weighted_population")
    if people is None:
        return []
    since = each.notes.get("populations_since")
    if isinstance(since, str):
        text = _(
            "%(people)s people in all, as the strata have stood since %(day)s",
            people=words.integer(int(people)),
            day=words.day(date.fromisoformat(since)),
        )
    else:
        text = _(
            "%(people)s people in all, as the strata stood on %(day)s; since when was not recorded",
            people=words.integer(int(people)),
            day=words.day(each.covers.until),
        )
    facts: list[tuple[str, Cell]] = [(_("Weighted by populations"), Text(text))]
    for name, label in (
        ("strata_together", _("Strata taken together")),
        ("strata_not_used", _("Strata not used, counted as those beside them")),
    ):
        if name in each.notes:
            facts.append((label, Text(str(each.notes[name]), own=True)))
    return facts


def explain_errors(words: ReportWords) -> Paragraph:
    """What the errors and intervals of released numbers hold."""
    text = words.gettext(
        "Errors and intervals of numbers of people hold the noise of the release alone; those of shares and "
        "means hold coins, sampling and noise together. Only numbers that are called weighted count strata by "
        "their populations; in all others every response counts the same."
    )
    return Paragraph(Text(text))
