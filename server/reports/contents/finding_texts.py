"""The findings of a public report in words: no sentence says more than its interval allows."""

from collections.abc import Sequence

from server.releases import Figure, Released
from server.releases.plans.items import ItemKind
from server.reports.contents.finding_values import FindingRange, says_something, some_overlap
from server.reports.findings import Says
from server.reports.report_words import ReportWords
from server.study.answer_texts import answer_text
from server.study.definitions import Definition, Question

SENTENCES = "words/findings.html"
"""Where the page of results has the same sentences."""
HALF = 50


def say_share(words: ReportWords, extent: FindingRange) -> str:
    """Of how many of 100 an answer is true."""
    return words.macro(SENTENCES, "share_range", extent, extent.label.text)


def explain_share(words: ReportWords, extent: FindingRange, weighted: bool) -> str:
    """What the sentence of a share means."""
    _ = words.gettext
    parts = []
    if extent.says == Says.IMPOSSIBLE:
        parts.append(_impossible(words))
    elif extent.says == Says.NOT_TOLD:
        parts.append(explain_open(words))
    else:
        if extent.guess is not None:
            parts.append(_("Best guess: %(guess)s of 100.", guess=extent.guess))
        if extent.says == Says.AT_MOST:
            parts.append(_("It may be nobody at all."))
        elif extent.says == Says.AT_LEAST:
            parts.append(_("It may be everybody."))
        elif extent.low > HALF:
            parts.append(_("That is more than half."))
        elif extent.high < HALF:
            parts.append(_("That is fewer than half."))
    return _join(words, parts, weighted)


def say_answers(words: ReportWords, highest: FindingRange | None) -> str:
    """Which of several answers is the most common."""
    if highest is None:
        return words.gettext("These responses do not tell which answer is the most common.")
    return words.gettext("“%(answer)s” is the most common of these answers.", answer=highest.label.text)


def explain_answers(
    words: ReportWords, ranges: Sequence[FindingRange], highest: FindingRange | None, weighted: bool
) -> str:
    """The share of the most common answer, if it is known; and how to read the others."""
    parts = []
    if highest is not None:
        parts.append(say_share(words, highest))
        if says_something(highest):
            parts.append(explain_share(words, highest, False))
    if some_overlap(ranges):
        parts.append(words.gettext("Where two ranges overlap, either answer may be the more common."))
    return _join(words, parts, weighted)


def say_mean(words: ReportWords, question: Question, extent: FindingRange) -> str:
    """What a number is on average."""
    return words.macro(SENTENCES, "mean_range", question, extent)


def explain_mean(
    words: ReportWords, definition: Definition, question: Question, extent: FindingRange, weighted: bool
) -> str:
    """What the sentence of a mean means."""
    _ = words.gettext
    parts = []
    if extent.says == Says.IMPOSSIBLE:
        parts.append(_impossible(words))
    elif extent.says == Says.NOT_TOLD:
        parts.append(explain_open(words))
    elif extent.guess is not None:
        guess = words.macro("_macros.html", "with_unit", words.number(extent.guess), question.unit)
        parts.append(_("Best guess: %(guess)s.", guess=guess))
    if question.traits.levels:
        number = len(question.traits.name_answers(question))
        first, last = (answer_text(question, place, definition.language) for place in (0, number - 1))
        parts.append(
            _(
                "The answers are counted from 1 (“%(first)s”) to %(number)s (“%(last)s”).",
                first=first,
                number=number,
                last=last,
            )
        )
    if question.prefer_not_to_say:
        parts.append(_("It is the average of those who gave an answer."))
    return _join(words, parts, weighted)


def say_strata(words: ReportWords, highest: FindingRange | None, answer: str) -> str:
    """Where an answer is the most common; without an answer, where the average is the highest."""
    _ = words.gettext
    if highest is None:
        return (
            _("These responses do not tell where “%(answer)s” is the most common.", answer=answer)
            if answer
            else _("These responses do not tell where the average is the highest.")
        )
    group = highest.label.text
    return (
        _("“%(answer)s” is more common in %(group)s than in the other groups.", answer=answer, group=group)
        if answer
        else _("The average is higher in %(group)s than in the other groups.", group=group)
    )


def explain_strata(words: ReportWords, ranges: Sequence[FindingRange]) -> str:
    """How groups are compared."""
    if not some_overlap(ranges):
        return ""
    return words.gettext("Where two ranges overlap, either group may be the higher.")


def say_combination(words: ReportWords, highest: FindingRange | None) -> str:
    """Which answers to several questions go together most often."""
    if highest is None:
        return words.gettext("These responses do not tell which combination of answers is the most common.")
    return words.gettext("The most common combination is %(answers)s.", answers=highest.label.text)


def explain_combination(words: ReportWords) -> str:
    """What the cells of a table are."""
    return words.gettext("Each cell says of how many of 100 both are true, at least and at most.")


def say_rows(words: ReportWords, figure: Figure) -> str:
    """How many rows of a table there are."""
    if figure.high is not None and figure.high < 0:
        return words.gettext("So few rows that noise hides their number.")
    low, high = (max(int(end or 0), 0) for end in (figure.low, figure.high))
    return words.gettext("%(low)s to %(high)s rows.", low=words.integer(low), high=words.integer(high))


def say_count(words: ReportWords, figure: Figure) -> str:
    """How many responded: exactly where that is public, else between limits."""
    value = int(figure.value or 0)
    if figure.low is None or figure.high is None or figure.low == figure.high:
        return words.ngettext("%(num)s response.", "%(num)s responses.", value, num=words.integer(value))
    if figure.high < 0:
        return words.gettext("So few responses that noise hides their number.")
    return words.gettext(
        "%(low)s to %(high)s responses.",
        low=words.integer(max(int(figure.low), 0)),
        high=words.integer(int(figure.high)),
    )


def say_tree(words: ReportWords) -> str:
    """What a tree of numbers of responses is headed by."""
    return words.gettext("How many responses came from each group")


def explain_count(words: ReportWords) -> str:
    """What the numbers of responses, or of rows, are."""
    return words.gettext("Noise was added to every number here that is not public.")


def explain_sureness(words: ReportWords, entry: Released) -> str:
    """How often ranges like those of an entry hold what they are about; empty where it has none."""
    if not any(figure.low is not None and figure.low != figure.high for figure in entry.figures):
        return ""
    if entry.covers.of_table or entry.item.kind in (ItemKind.COUNT, ItemKind.HIERARCHY):
        return words.gettext(
            "Each range by itself holds the number without noise in about %(confidence)s of 100 such releases; of 100 "
            "ranges, about %(missed)s miss it.",
            confidence=words.level(entry.confidence),
            missed=words.level(1 - entry.confidence),
        )
    return explain_level(words, entry.confidence)


def explain_level(words: ReportWords, confidence: float) -> str:
    """How often ranges of one confidence hold the truth: each by itself, not all of them at once."""
    return words.gettext(
        "Each range by itself holds the truth in about %(confidence)s of 100 such surveys; of 100 ranges, about "
        "%(missed)s miss it.",
        confidence=words.level(confidence),
        missed=words.level(1 - confidence),
    )


def _impossible(words: ReportWords) -> str:
    return words.gettext(
        "What arrived is beyond what is possible: by chance, or because some did not answer as the survey asks."
    )


def explain_open(words: ReportWords) -> str:
    """Why an estimate is not called a finding."""
    return words.gettext("Chance leaves more than half of what is possible open.")


def _join(words: ReportWords, parts: Sequence[str], weighted: bool) -> str:
    note = [words.gettext("Each group counts as much as its population.")] if weighted else []
    return " ".join([*parts, *note])
