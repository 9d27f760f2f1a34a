"""Answers that were chosen or compared with noise, in words: what was chosen, and what chance may have done."""

import math
from collections.abc import Sequence

from server.releases import Released
from server.reports.report_words import ReportWords


def say_most_common(words: ReportWords, answer: str) -> tuple[str, str]:
    """The answer that was chosen as the most common one, which has no interval; and what that means."""
    _ = words.gettext
    return (
        _("“%(answer)s” was chosen as the most common answer.", answer=answer),
        _("Chance had a part in the choice. How sure it is, this release does not tell."),
    )


def say_top(words: ReportWords, entry: Released, answers: Sequence[str]) -> tuple[str, str]:
    """The answers that were chosen as the most common ones, in no order; and how far off the choice may be."""
    _ = words.gettext
    confidence = words.level(entry.confidence)
    off = words.integer(math.ceil(float(entry.notes["people_off"])))
    if len(answers) == 1:
        return (
            say_most_common(words, answers[0])[0],
            _(
                "Chance had a part in the choice. In %(confidence)s of 100 such choices or more, it is the answer with "
                "the largest estimated number, or one whose estimated number is lower by at most %(off)s people.",
                confidence=confidence,
                off=off,
            ),
        )
    names = _quote_all(words, answers)
    return (
        _(
            "Chosen as the %(number)s most common answers: %(answers)s.",
            number=words.integer(len(answers)),
            answers=names,
        ),
        _(
            "They are in no order. Chance had a part in the choice. In %(confidence)s of 100 such choices or more, "
            "each answer is among the %(number)s with the largest estimated numbers, or its own is lower than theirs "
            "by at most %(off)s people.",
            confidence=confidence,
            number=words.integer(len(answers)),
            off=off,
        ),
    )


def say_exceeding(
    words: ReportWords, entry: Released, above: Sequence[str], below: Sequence[str]
) -> tuple[str, str]:
    """Which answers came out above a share; and what that means."""
    _ = words.gettext
    share = words.number(float(100 * (entry.item.share or 0)))
    names = _quote_all(words, above)
    if entry.item.limit is not None:
        limit = words.integer(entry.item.limit)
        sentence = (
            _("Found to be given by more than %(limit)s people: %(answers)s.", limit=limit, answers=names)
            if above
            else _("No answer was found to be given by more than %(limit)s people.", limit=limit)
        )
    else:
        sentence = (
            _("Found to be above %(share)s of 100: %(answers)s.", share=share, answers=names)
            if above
            else _("No answer was found to be above %(share)s of 100.", share=share)
        )
    parts = []
    if below:
        parts.append(_("Not found to be above: %(answers)s.", answers=_quote_all(words, below)))
    parts.append(_("Chance had a part in each comparison. How sure they are, this release does not tell."))
    return sentence, " ".join(parts)


def _quote_all(words: ReportWords, names: Sequence[str]) -> str:
    return ", ".join(words.gettext("“%(headline)s”", headline=name) for name in names)
