"""How answers were protected, and how sure one can be of what was found: in words for everybody."""

from collections.abc import Iterator, Sequence

from server.output.documents import Block
from server.releases.plans.items import ItemKind
from server.reports.contents.finding_texts import explain_level, explain_sureness
from server.reports.contents.ledger_sections import meaning
from server.reports.contents.methods import limits, make_paragraph
from server.reports.public_source import Published
from server.reports.report_words import ReportWords
from server.study.definitions import Definition

_WITHOUT_INTERVAL = {ItemKind.MOST_COMMON, ItemKind.TOP, ItemKind.EXCEEDING, ItemKind.SEARCH}
_OF_PEOPLE = {ItemKind.COUNT, ItemKind.HIERARCHY}
_BOTH = 2
_NEARLY_ALWAYS = 99
"""Of 100 guesses, as on respondents' pages."""


def describe_coin(words: ReportWords, published: Published) -> Iterator[Block]:
    """In two sentences: what chance did to each answer; how much that hides, of the version that hides least."""
    yield from explain_coin(words, [version.definition for version in published.versions])


def explain_coin(words: ReportWords, definitions: Sequence[Definition]) -> Iterator[Block]:
    """The same of the versions that have these definitions."""
    _ = words.gettext
    yield make_paragraph(
        _(
            "Chance took part in every answer before anything was sent: what arrived of a person may be only the "
            "coin’s."
        )
    )
    definition = max(definitions, key=lambda one: one.guesses.right)
    guesses, number = definition.guesses, len(definition.questions)
    if number == _BOTH:
        text = _say_both(words, guesses.right)
    elif guesses.right > _NEARLY_ALWAYS:
        text = words.ngettext(
            "Still, somebody who saw the answer of one person arrive, and had to choose between that person and "
            "another, could be right nearly always.",
            "Still, somebody who saw all %(num)s answers of one person arrive, and had to choose between that "
            "person and another, could be right nearly always.",
            number,
            num=number,
        )
    else:
        text = words.ngettext(
            "Somebody who saw the answer of one person arrive, and had to choose between that person and another, "
            "would be right at most %(right)s times in 100. By guessing: 50.",
            "Somebody who saw all %(num)s answers of one person arrive, and had to choose between that person and "
            "another, would be right at most %(right)s times in 100. By guessing: 50.",
            number,
            num=number,
            right=guesses.right,
        )
    yield make_paragraph(text)


def _say_both(words: ReportWords, right: int) -> str:
    """As of one answer and of many: of two."""
    _ = words.gettext
    if right > _NEARLY_ALWAYS:
        return _(
            "Still, somebody who saw both answers of one person arrive, and had to choose between that person and "
            "another, could be right nearly always."
        )
    return _(
        "Somebody who saw both answers of one person arrive, and had to choose between that person and another, would "
        "be right at most %(right)s times in 100. By guessing: 50.",
        right=right,
    )


def describe_repetition(words: ReportWords) -> Block:
    """Of whom more can be learned than is said of everybody."""
    return make_paragraph(words.gettext("Of whoever answered more than once, more can be learned."))


def describe_noise(words: ReportWords, published: Published) -> Iterator[Block]:
    """What was done to the numbers before they were published."""
    _ = words.gettext
    book = published.ledger
    kinds = _list_released(published)
    if book.budget is None or not kinds:
        return
    if kinds - {ItemKind.SHUFFLED}:
        text = (
            _("Noise was added once more before anything was published.")
            if book.budget.neighbours == "unbounded"
            else _("Noise was added once more before anything but the number of responses was published.")
        )
        text += " " + _(
            "How much follows from a budget that was set before the first release and is never raised."
        )
        if ItemKind.SHUFFLED in kinds:
            text += " " + _("Only where all tallies were released exactly, none was added: coins hide them.")
    else:
        text = _(
            "The tallies were released exactly, without more noise: coins hide what each person answered. What "
            "that may tell is booked on a budget that was set before, and is never raised."
        )
    yield make_paragraph(text)


def describe_loss(words: ReportWords, published: Published) -> Iterator[Block]:
    """What all numbers together may tell of somebody."""
    book = published.ledger
    if book.budget is not None and not book.restored and _list_released(published):
        yield make_paragraph(meaning(words, book))


def _list_released(published: Published) -> set[str]:
    """The kinds of what was released here, without what an owner says was spent elsewhere."""
    return {entry.item.kind for entry in published.ledger.released} - {ItemKind.DECLARED}


def describe_certainty(words: ReportWords, published: Published) -> Iterator[Block]:
    """What the ranges hold, how often they are wrong, and what they say nothing of."""
    _ = words.gettext
    entries = [entry for entry in published.ledger.released if entry.item.kind != ItemKind.DECLARED]
    estimates = [entry for entry in entries if entry.item.kind not in _WITHOUT_INTERVAL | _OF_PEOPLE]
    if any(explain_sureness(words, entry) for entry in estimates):
        yield make_paragraph(explain_ranges(words, published))
        yield make_paragraph(
            _(
                "The ranges of what people answered hold three kinds of chance together: the coins, who happened to "
                "answer, and whatever noise was added before publishing."
            )
        )
    if any(entry.item.kind in _OF_PEOPLE for entry in entries):
        yield make_paragraph(_("Ranges of numbers of responses hold the noise alone."))
    if any(entry.item.kind in _WITHOUT_INTERVAL for entry in entries):
        yield make_paragraph(_("What was chosen or compared with noise has no range: it may be wrong."))
    yield from limits(words)


def explain_ranges(words: ReportWords, published: Published) -> str:
    """How often ranges hold the truth; where numbers of people alone have ranges, what these hold; empty without."""
    ranged = [entry for entry in published.ledger.released if explain_sureness(words, entry)]
    levels = sorted({entry.confidence for entry in ranged if entry.item.kind not in _OF_PEOPLE})
    if not levels:
        return " ".join(dict.fromkeys(explain_sureness(words, entry) for entry in ranged))
    if len(levels) > 1:
        return words.gettext(
            "Each range by itself holds the truth in about %(low)s to %(high)s of 100 such surveys; of 100 ranges, "
            "about %(fewest)s to %(most)s miss it.",
            low=words.level(levels[0]),
            high=words.level(levels[-1]),
            fewest=words.level(1 - levels[-1]),
            most=words.level(1 - levels[0]),
        )
    return explain_level(words, levels[0])
