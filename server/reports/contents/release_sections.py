"""What was released, entry by entry: its figures as a table, and as a chart where they make one."""

from collections.abc import Iterator, Sequence
from datetime import date

from server.output.documents import Block, Cell, Facts, FindingBlock, Paragraph, Section, Table, Text
from server.releases import Released
from server.releases.plans.plan_reader import ItemKind
from server.reports.contents import cell_texts
from server.reports.contents.column_texts import word_condition
from server.reports.contents.figures import OF_ROWS, STATISTICS, QuestionsByVersion, numbers, place
from server.reports.contents.finding_texts import explain_sureness
from server.reports.contents.ledger_sections import NEIGHBOURS, OF_TABLES, WORDS, describe_coverage, mechanism
from server.reports.contents.release_charts import draw_entry
from server.reports.contents.release_sentences import list_untold, say_found, share_sureness
from server.reports.report_words import ReportWords


def sections(
    words: ReportWords, released: Sequence[Released], questions: QuestionsByVersion
) -> Iterator[Section]:
    """A section for each entry of the ledger; `explain_errors` says before them what is true of all."""
    apart = not share_sureness(words, released)
    for entry in released:
        title = Text(name_entry(words, entry))
        yield Section(f"entry-{entry.entry}", title, tuple(_blocks(words, entry, questions, apart)))


def name_entry(words: ReportWords, entry: Released) -> str:
    """An entry's number, and what it is."""
    of_rows = entry.covers.of_table and entry.item.kind == ItemKind.COUNT
    what = words.gettext("Number of rows") if of_rows else words.macro(WORDS, "kind_name", entry.item)
    return words.gettext("%(entry)s. %(what)s", entry=entry.entry, what=what)


def _blocks(
    words: ReportWords, entry: Released, questions: QuestionsByVersion, apart: bool
) -> Iterator[Block]:
    _ = words.gettext
    if entry.item.kind == ItemKind.DECLARED:
        yield from _describe_declared(words, entry)
        return
    facts: list[tuple[str, Cell]] = []
    for name in entry.item.questions:
        found = questions.question(name, entry.covers)
        facts.append(
            (_("Column"), Text(name, code=True))
            if entry.covers.of_table
            else (
                _("Question"),
                Text(name, code=True) if found is None else cell_texts.quote_question(*found),
            )
        )
    if entry.item.stratum:
        facts.append((_("Stratum"), Text(" > ".join(entry.item.stratum), from_survey=True)))
    if entry.item.where:
        conditions = "; ".join(map(word_condition, entry.item.where))
        facts.append((_("Only rows where"), Text(conditions, code=True)))
    if entry.item.share is not None:
        facts.append((_("Limit"), cell_texts.share(words, float(entry.item.share))))
    if entry.item.limit is not None:
        facts.append((_("Limit, people"), cell_texts.count(words, entry.item.limit)))
    if entry.item.kind == ItemKind.SEARCH:
        facts += [
            (_("Answers above, at most"), cell_texts.count(words, entry.item.positives)),
            (
                _("Typical noise of a comparison, people"),
                cell_texts.real(words, float(entry.notes["noise_people"])),
            ),
        ]
    facts += [
        (_("Noise"), Text(mechanism(words, entry))),
        (_("Privacy loss, ε"), cell_texts.format_spent(words, entry.epsilon)),
    ]
    if entry.delta:
        facts.append((_("Failure probability, δ"), cell_texts.format_delta(words, entry.delta)))
    facts += [
        (_("What it hides"), Text(_((OF_TABLES if entry.covers.of_table else NEIGHBOURS)[entry.neighbours]))),
        _describe_rows(words, entry),
    ]
    facts += state_populations(words, entry)
    yield Facts(tuple(facts))
    yield from show_found(words, entry, questions)
    if apart:
        yield from _explain_sureness(explain_sureness(words, entry))
    if entry.figures:
        yield _table(words, entry, questions)


def show_found(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> Iterator[FindingBlock]:
    """What an entry found: its sentences, its charts beside the first of them."""
    said, drawn = say_found(words, entry, questions), tuple(draw_entry(words, entry, questions))
    if not said and drawn:
        said = (("", ""),)
    untold = list_untold(words, entry, questions)
    for number, (sentence, meaning) in enumerate(said):
        yield FindingBlock(sentence, meaning, charts=() if number else drawn, tells=sentence not in untold)


def _describe_rows(words: ReportWords, entry: Released) -> tuple[str, Cell]:
    """What was counted."""
    _, about = words.gettext, entry.covers
    if not about.of_table:
        return _("Responses covered"), Text(describe_coverage(words, about))
    day = words.day(about.until)
    if about.respondents is None:
        return _("Rows covered"), Text(_("those of the table on %(day)s", day=day))
    rows = words.integer(about.respondents)
    return _("Rows covered"), Text(_("%(rows)s, those of the table on %(day)s", rows=rows, day=day))


def _describe_declared(words: ReportWords, entry: Released) -> Iterator[Block]:
    _ = words.gettext
    text = _(
        "No number belongs to this entry. The survey’s owner declared that so much was spent where this ledger could "
        "not know of it, as after a backup was restored."
    )
    yield Paragraph(Text(text))
    loss = cell_texts.format_spent(words, entry.epsilon), cell_texts.format_delta(words, entry.delta)
    yield Facts(((_("Privacy loss, ε"), loss[0]), (_("Failure probability, δ"), loss[1])))


def _table(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> Table:
    _ = words.gettext
    confidence = words.level(entry.confidence)
    # Answers that were chosen have no number.
    numbered = entry.item.kind not in (ItemKind.MOST_COMMON, ItemKind.TOP)
    columns = (
        _("Of"),
        _("what"),
        *(
            (
                _("value"),
                _("standard error"),
                _("%(confidence)s %% interval, from", confidence=confidence),
                _("to"),
            )
            if numbered
            else ()
        ),
    )
    found: dict[tuple[tuple[str, str], ...], list[tuple[Cell, ...]]] = {}
    for figure in entry.figures:
        row = (
            place(words, entry, figure, questions),
            Text(_((OF_ROWS if entry.covers.of_table else STATISTICS)[figure.statistic])),
            *(numbers(words, entry, figure, questions) if numbered else ()),
        )
        found.setdefault(figure.place, []).append(row)
    # All that is told of a pair of answers stands together: a joint table tells up to three numbers of each.
    rows = tuple(row for together in found.values() for row in together)
    of = " × ".join(_name_asked(entry, questions)) or words.macro(WORDS, "kind_name", entry.item)
    caption = _("Released, entry %(entry)s: %(of)s", entry=entry.entry, of=of)
    return Table(f"released-{entry.entry}", caption, columns, rows, short=f"{entry.entry} {of}")


def _name_asked(entry: Released, by_version: QuestionsByVersion) -> Iterator[str]:
    """The questions, or columns, that an entry is of, as a spreadsheet names its sheet."""
    for name in entry.item.questions:
        found = by_version.question(name, entry.covers)
        yield name if found is None else found[1].text


def state_populations(words: ReportWords, entry: Released) -> list[tuple[str, Cell]]:
    """Which populations its weighted numbers count, since when these stood, which strata do not stand alone."""
    _ = words.gettext
    people = entry.notes.get("weighted_population")
    if people is None:
        return []
    since = entry.notes.get("populations_since")
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
            day=words.day(entry.covers.until),
        )
    facts: list[tuple[str, Cell]] = [(_("Weighted by populations"), Text(text))]
    for name, label in (
        ("strata_together", _("Strata taken together")),
        ("strata_not_used", _("Strata not used, counted as those beside them")),
    ):
        if name in entry.notes:
            facts.append((label, Text(str(entry.notes[name]), from_survey=True)))
    return facts


def explain_errors(words: ReportWords, released: Sequence[Released]) -> Iterator[Paragraph]:
    """What the errors and intervals of released numbers hold, and how sure they are."""
    text = words.gettext(
        "Errors and intervals of numbers of people hold the noise of the release alone; those of shares and "
        "means hold coins, sampling and noise together. Only numbers that are called weighted count strata by "
        "their populations; in all others every response counts the same."
    )
    yield Paragraph(Text(text))
    yield from explain_shared(words, released)


def explain_shared(words: ReportWords, released: Sequence[Released]) -> Iterator[Paragraph]:
    """How sure ranges are, where that is the same for all."""
    yield from _explain_sureness(share_sureness(words, released))


def _explain_sureness(text: str) -> Iterator[Paragraph]:
    if text:
        yield Paragraph(Text(text))
