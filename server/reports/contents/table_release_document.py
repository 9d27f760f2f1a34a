"""What was released from a table that is no survey, as a document: each entry in words, drawn, and as a table."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from server.output.charts import PAPER_CSS
from server.output.documents import Block, Document, Facts, FindingBlock, Paragraph, Section, Text
from server.releases import Released
from server.releases.noise_shapes import read_noise
from server.reports.contents import cell_texts
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.ledger_sections import OF_TABLES
from server.reports.contents.noise_chart import show_noise
from server.reports.contents.release_sections import explain_shared, name_entry, sections
from server.reports.report_words import ReportWords

NO_SURVEY = QuestionsByVersion({})
"""What a survey asked, where there is none: columns are called by their names."""


def build_table_document(
    released: Sequence[Released], lost: tuple[Decimal, Decimal], locale: str
) -> Document:
    """The document of one run, which lost ε and δ together."""
    words = ReportWords(locale)
    _ = words.gettext
    return Document(
        title=Text(_("Releases from a table")),
        subtitle=_("Released on %(day)s", day=words.day(released[0].made_at.date())),
        language=locale,
        sections=(*sections(words, released, NO_SURVEY), _show_all_noise(words, released)),
        blocks=tuple(_introduce(words, released, lost)),
        paper_css=PAPER_CSS,
    )


def _show_all_noise(words: ReportWords, released: Sequence[Released]) -> Section:
    """What chance did in each entry, from its mechanism alone."""
    inside = []
    for entry in released:
        shown = show_noise(words, entry.item.kind, read_noise(entry), entry.confidence)
        if shown is not None:
            drawn = () if shown.chart is None else (shown.chart,)
            block = FindingBlock("", shown.text, tuple(chart.alternative for chart in drawn), drawn)
            inside.append(Section(f"noise-{entry.entry}", Text(name_entry(words, entry)), (block,)))
    return Section("noise", Text(words.gettext("The noise itself")), (), tuple(inside))


def _introduce(
    words: ReportWords, released: Sequence[Released], lost: tuple[Decimal, Decimal]
) -> Iterator[Block]:
    _ = words.gettext
    yield Paragraph(
        Text(
            _(
                "Noise was added to everything here, so that hardly anything can be learned about one person of the "
                "table. Intervals hold that noise alone: the rows are taken for all the people there are."
            )
        )
    )
    yield from explain_shared(words, released)
    yield cell_texts.explain_dash(words)
    yield Facts(
        (
            (_("Privacy loss of all of it, ε"), cell_texts.format_spent(words, lost[0])),
            *([(_("Failure probability, δ"), cell_texts.format_delta(words, lost[1]))] if lost[1] else []),
            (_("What it hides"), Text(_(OF_TABLES[released[0].neighbours]))),
            (_("Software"), Text(released[0].software)),
        )
    )
