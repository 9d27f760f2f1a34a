"""Who could answer: whoever had the link, or by invitation only."""

from collections.abc import Iterator, Sequence

from server.inputs import N_
from server.output.documents import Block, Paragraph, Table, Text
from server.reports.admission import INVITATION, LINK, Admission
from server.reports.contents import cell_texts
from server.reports.report_words import ReportWords

_WAYS: dict[tuple[str, ...], str] = {
    (): N_("not known"),
    (LINK,): N_("everybody who had the link"),
    (INVITATION,): N_("by invitation only, one response for each code"),
    (INVITATION, LINK): N_(
        "some of the time everybody who had the link, some of the time by invitation only, one response for each code"
    ),
}


def describe_admission(words: ReportWords, admissions: Sequence[Admission]) -> Iterator[Block]:
    """Who could answer: one sentence where that was the same throughout, else a table by version and link."""
    _ = words.gettext
    if len({(each.strata, each.ways, each.known) for each in admissions}) == 1:
        yield Paragraph(Text(admitted_sentence(words, admissions)))
        return
    rows = tuple(
        (cell_texts.count(words, each.version), _links(words, each), Text(_way(words, each)))
        for each in admissions
    )
    yield Table("admission", _("Who could answer"), (_("version"), _("links"), _("let in")), rows)


def admitted_sentence(words: ReportWords, admissions: Sequence[Admission]) -> str:
    """Who could answer, in a sentence, version by version where that differed."""
    _ = words.gettext
    said_of = {(each.strata, each.ways, each.known): each for each in admissions}
    parts = [_way(words, each) for each in said_of.values()]
    if len(said_of) > 1:
        parts = [
            _(
                "to version %(version)s (%(links)s) %(way)s",
                version=each.version,
                links=_links(words, each).text,
                way=_way(words, each),
            )
            for each in admissions
        ]
    return _("Who could answer: %(ways)s.", ways="; ".join(parts))


def _links(words: ReportWords, admission: Admission) -> Text:
    if admission.strata is None:
        return Text(words.gettext("all links"))
    own = words.gettext("the survey's own link")
    return Text("; ".join(path or own for path in admission.strata), own=True)


def _way(words: ReportWords, admission: Admission) -> str:
    way = words.gettext(_WAYS[admission.ways])
    if admission.known or not admission.ways:
        return way
    return words.gettext("%(way)s, as far as is known", way=way)
