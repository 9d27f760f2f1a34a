"""What the server deletes of a survey by itself, as reports state it."""

from collections.abc import Iterator

from server.output.documents import Block
from server.reports.contents.methods import make_paragraph
from server.reports.report_words import ReportWords
from server.study.retention import PART_NAMES, Retention


def describe_retention(words: ReportWords, kept: Retention) -> Iterator[Block]:
    """After how many days what goes; nothing where nothing does."""
    _ = words.gettext
    parts = [
        _("%(field)s: %(text)s", field=_(name), text=words.integer(day))
        for name, day in zip(PART_NAMES, kept.days, strict=False)
    ]
    if parts:
        yield make_paragraph(
            _(
                "The server deletes by itself, in days after the survey was closed: %(parts)s. Backups, copies and "
                "files that were made before are not deleted by this.",
                parts="; ".join(parts),
            )
        )
