"""Who could answer: whoever had the link, or by invitation only."""

import math
from collections.abc import Iterable, Iterator, Sequence

from server.inputs import N_
from server.output.documents import Block, Cell, Number, Paragraph, Table, Text
from server.reports.admission import INVITATION, LINK, Admission
from server.reports.contents import cell_texts
from server.reports.forged_moves import ForgedMove, has_open_link, list_moves, measure_joint_move
from server.reports.report_words import ReportWords
from server.reports.version_designs import VersionDesigns

ANY_NUMBER = N_(
    "Whoever had an open link could answer any number of times, and nobody can tell. "
    "Of somebody who answered twice, up to twice the ε of one response can be learned."
)
_WAYS: dict[tuple[str, ...], str] = {
    (): N_("not known"),
    (LINK,): N_("everybody who had the link"),
    (INVITATION,): N_("by invitation only, one response for each code"),
    (INVITATION, LINK): N_(
        "some of the time everybody who had the link, some of the time by invitation only, one response for each code"
    ),
}


def describe_admission(
    words: ReportWords,
    admissions: Sequence[Admission],
    designs: VersionDesigns,
    tables: Iterable[Sequence[str]] = (),
) -> Iterator[Block]:
    """Who could answer, and where that was everybody, what made-up responses could move.

    `tables` are those of several questions, by their names, that the report has.
    """
    yield from _describe_ways(words, admissions)
    if has_open_link(admissions):
        yield from _describe_forging(words, designs, tables)


def _describe_ways(words: ReportWords, admissions: Sequence[Admission]) -> Iterator[Block]:
    """One sentence where it was the same throughout, else a table by version and link."""
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
    text = _("Who could answer: %(ways)s.", ways="; ".join(parts))
    return f"{text} {_(ANY_NUMBER)}" if has_open_link(admissions) else text


def _describe_forging(
    words: ReportWords, designs: VersionDesigns, tables: Iterable[Sequence[str]]
) -> Iterator[Block]:
    _ = words.gettext
    yield Paragraph(
        Text(
            _(
                "Suppose that 1 in 100 of the responses behind a number were made up in the worst way (in each "
                "stratum, where strata are weighted): the table says by how much it could be off at most. Numbers of "
                "people move by as large a part of the responses. What divides one estimate by another, such as a mean "
                "among those who answered, can move over its whole range. Of answers that are closer than that, "
                "another may be the most common."
            )
        )
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            cell_texts.quote_question(move.question.definition, move.question.question),
            *([Text(", ".join(map(str, move.question.versions)))] if designs.differ else []),
            _share(words, move.share),
            _mean(words, move),
        )
        for move in list_moves(designs)
    )
    known = {one.question.name for one in designs.questions}  # a ledger may be told beside fewer versions
    rows += tuple(_together(words, designs, names) for names in tables if set(names) <= known)
    versions = (_("versions"),) if designs.differ else ()
    columns = (_("Question"), *versions, _("a share, by at most"), _("the mean, by at most"))
    caption = _("If 1 in 100 responses were made up: how far off a number could be")
    yield Table("forging", caption, columns, rows, short=_("Made-up responses"))


def _together(words: ReportWords, version_designs: VersionDesigns, names: Sequence[str]) -> tuple[Cell, ...]:
    """A table of several questions, whichever versions it is of."""
    known = [[one for one in version_designs.questions if one.question.name == name] for name in names]
    designs = [[design for one in some for design in one.question.designs] for some in known]
    definition = known[0][0].definition
    text = " × ".join(some[0].question.text for some in known)
    versions = [Text("")] if version_designs.differ else []
    move = _share(words, measure_joint_move(designs))
    return (cell_texts.quote_text(definition, text), *versions, move, Number(None, cell_texts.NOTHING, "0.0"))


def _share(words: ReportWords, move: float | None) -> Number:
    if move is None:
        return Number(None, cell_texts.NOTHING, "0.0%")
    rounded = math.ceil(move * 1000 - 1e-9) / 1000
    number = cell_texts.share(words, rounded)
    points = words.gettext("%(points)s points", points=number.text.removesuffix("\N{NO-BREAK SPACE}%"))
    return Number(rounded, points, "0.0%")


def _mean(words: ReportWords, move: ForgedMove) -> Number:
    ends = move.question.question.ends
    if move.whole_range:
        return Number(None, words.gettext("anything"), "0.0")
    if move.mean is None or ends is None:
        return Number(None, cell_texts.NOTHING, "0.0")
    width = float(ends[1] - ends[0])
    step = 10.0 ** -min(max(3 - math.floor(math.log10(width)), 0), 10)
    return cell_texts.measure(words, math.ceil(move.mean / step - 1e-9) * step, width)


def _links(words: ReportWords, admission: Admission) -> Text:
    if admission.strata is None:
        return Text(words.gettext("all links"))
    own = words.gettext("the survey’s own link")
    return Text("; ".join(path or own for path in admission.strata), from_survey=True)


def _way(words: ReportWords, admission: Admission) -> str:
    way = words.gettext(_WAYS[admission.ways])
    if admission.known or not admission.ways:
        return way
    return words.gettext("%(way)s, as far as is known", way=way)
