"""What chance does to the answers of a question that is being written, as a picture."""

from flask_babel import gettext
from markupsafe import Markup

from server.output.charts import Drawing, OddsBar, odds_bars
from server.study.answer_texts import answer_text
from server.study.definitions import Question

_MOST_ROWS = 12


def draw_odds(question: Question, language: str) -> Markup:
    """A bar for each answer that can be entered; where all are treated alike, one."""
    return Markup(_draw(question, language).svg)  # noqa: S704 - a drawing escapes its texts


def _draw(question: Question, language: str) -> Drawing:
    design = question.designs[0]
    counts, people = design.odds.counts, design.odds.people
    if question.encoding.by_answer:
        names = [gettext("does not choose it"), gettext("chooses it")]
    else:
        texts = (answer_text(question, row, language) for row in range(len(counts)))
        names = [
            text.strip() or gettext("answer %(number)d", number=row) for row, text in enumerate(texts, 1)
        ]
        if len(counts) > 2 and design.treats_options_alike():
            counts, names = counts[:1], [gettext("any answer")]
    every = range(len(counts))
    rows = every if len(every) <= _MOST_ROWS else (0, len(counts) // 2, len(counts) - 1)
    bars = [
        OddsBar(
            names[row],
            counts[row],
            row,
            gettext(
                "%(answer)s: of %(people)s people %(kept)s arrive with what they entered",
                people=people,
                answer=names[row],
                kept=counts[row][row],
            ),
        )
        for row in rows
    ]
    return odds_bars(gettext("What arrives: dark as it was entered, pale as another answer"), bars)
