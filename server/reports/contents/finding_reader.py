"""From an entry of the ledger to what it found: its figures, question by question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from server.output.documents import Text
from server.releases import STRATUM, Figure, Released
from server.releases.plans.items import ItemKind
from server.reports.contents import cell_texts, finding_texts, selection_texts
from server.reports.contents.estimate_sections import MOST_DRAWN
from server.reports.contents.figures import QuestionsByVersion, part, place
from server.reports.contents.finding_values import (
    FindingRange,
    Picture,
    ReleaseFinding,
    find_highest,
    range_of_mean,
    range_of_share,
    rank,
)
from server.reports.estimate_values import value_range
from server.reports.findings import Says
from server.reports.report_words import ReportWords
from server.study.definitions import Definition, Question
from server.study.kinds.kind import PREFER_NOT_TO_SAY

_WEIGHTED = {"share": "weighted_share", "mean": "weighted_mean"}


def read_entry(
    words: ReportWords, entry: Released, questions: QuestionsByVersion
) -> Iterator[ReleaseFinding]:
    """What an entry found; of what was only booked, nothing."""
    match entry.item.kind:
        case ItemKind.COUNT | ItemKind.HIERARCHY:
            yield from _read_counts(words, entry)
        case ItemKind.MOST_COMMON | ItemKind.TOP | ItemKind.EXCEEDING | ItemKind.SEARCH if entry.figures:
            yield _read_selection(words, entry, questions)
        case ItemKind.DECLARED | ItemKind.SEARCH:  # of which there is no number, or none yet
            return
        case _:
            yield from _read_estimates(words, entry, questions)


def _among(entry: Released) -> Text | None:
    return Text(" > ".join(entry.item.stratum), from_survey=True) if entry.item.stratum else None


def _quote(entry: Released, questions: QuestionsByVersion, names: Sequence[str]) -> tuple[Text, ...]:
    found = [(name, questions.question(name, entry.covers)) for name in names]
    return tuple(
        Text(name, code=True) if one is None else cell_texts.quote_question(*one) for name, one in found
    )


def _explain_counts(words: ReportWords, entry: Released) -> str:
    """What the numbers are; where they stand, if there are too many to be drawn."""
    parts = [finding_texts.explain_count(words)]
    if len({figure.place for figure in entry.figures}) > MOST_DRAWN:
        section = words.gettext("What was released, with every number")
        parts.append(
            words.gettext("These are too many to draw: they stand under “%(section)s”.", section=section)
        )
    return " ".join(parts)


def _read_counts(words: ReportWords, entry: Released) -> Iterator[ReleaseFinding]:
    """Numbers of people: of all of them the head of a report tells."""
    top, tree = entry.total, entry.item.kind == ItemKind.HIERARCHY
    if tree:
        sentence = finding_texts.say_tree(words)
    elif top is not None and entry.item.stratum:
        sentence = finding_texts.say_count(words, top)
    else:
        return
    yield ReleaseFinding(
        str(entry.entry),
        entry,
        (),
        (),
        _among(entry),
        sentence,
        _explain_counts(words, entry),
        Picture.TREE if tree else Picture.NOTHING,
    )


def _read_selection(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> ReleaseFinding:
    names = {figure: place(words, entry, figure, questions).text for figure in entry.figures}
    if entry.item.kind == ItemKind.MOST_COMMON:
        (chosen,) = names.values()
        said = selection_texts.say_most_common(words, chosen)
    elif entry.item.kind == ItemKind.TOP:
        said = selection_texts.say_top(words, entry, list(names.values()))
    else:
        above, below = (
            [name for figure, name in names.items() if figure.statistic == "above" and figure.value == value]
            for value in (1, 0)
        )
        said = selection_texts.say_exceeding(words, entry, above, below)
    own = entry.item.questions if len(entry.item.questions) == 1 else ()
    return ReleaseFinding(
        str(entry.entry),
        entry,
        entry.item.questions,
        _quote(entry, questions, own),
        _among(entry),
        *said,
        Picture.NOTHING,
    )


def _read_estimates(
    words: ReportWords, entry: Released, questions: QuestionsByVersion
) -> Iterator[ReleaseFinding]:
    """Of each question its answers, its mean, and both by stratum; of several which answers go together."""
    shown = [figure for figure in entry.figures if figure.low is not None and figure.high is not None]
    alone = dict.fromkeys(figure.place[-1][0] for figure in shown if figure.place)
    for name in alone:
        found = questions.question(name, entry.covers)
        if found is not None:
            own = [figure for figure in shown if figure.place and figure.place[-1][0] == name]
            yield from _OfQuestion(words, entry, questions, *found).read(own)
    joint = [
        figure
        for figure in shown
        if figure.statistic == "share"
        and len(figure.place) > 1
        and all(variable != STRATUM for variable, _ in figure.place)
    ]
    if joint:
        yield _read_joint(words, entry, questions, joint)


@dataclass(frozen=True)
class _OfQuestion:
    """What an entry says of one question."""

    words: ReportWords
    entry: Released
    questions: QuestionsByVersion
    definition: Definition
    question: Question

    def read(self, figures: Sequence[Figure]) -> Iterator[ReleaseFinding]:
        """Its findings: of everybody, then by stratum."""
        for statistic, weighted in _WEIGHTED.items():
            alone = [figure for figure in figures if len(figure.place) == 1]
            # By population where that was paid for; else every response counts the same.
            by_population = [figure for figure in alone if figure.statistic == weighted]
            everybody = by_population or [figure for figure in alone if figure.statistic == statistic]
            strata = [
                figure
                for figure in figures
                if figure.statistic == statistic and len(figure.place) == 2 and figure.place[0][0] == STRATUM
            ]
            if everybody:
                read = self._read_mean if statistic == "mean" else self._read_shares
                yield read(everybody, weighted=bool(by_population))
            if len(strata) > 1:
                yield from self._read_strata(strata)

    def _read_shares(self, figures: Sequence[Figure], *, weighted: bool) -> ReleaseFinding:
        words, question = self.words, self.question
        found = {figure.place[0][1]: range_of_share(self._label(figure), figure) for figure in figures}
        if question.answers == ("no", "yes") and "yes" in found:
            found.pop("no", None)  # it is what is left
        refused = [found.pop(PREFER_NOT_TO_SAY)] if PREFER_NOT_TO_SAY in found and len(found) > 1 else []
        in_order = question.traits.levels or question.traits.in_ranges
        ranges = (*(found.values() if in_order else rank(list(found.values()))), *refused)
        if len(ranges) > 1:
            highest = find_highest(ranges)
            sentence = finding_texts.say_answers(words, highest)
            meaning = finding_texts.explain_answers(words, ranges, highest, weighted)
            return self._make("", sentence, meaning, Picture.BARS, ranges, highest, weighted=weighted)
        (only,) = ranges
        picture = Picture.BARS if only.says == Says.IMPOSSIBLE else Picture.DOTS
        said = finding_texts.say_share(words, only), finding_texts.explain_share(words, only, weighted)
        return self._make("", *said, picture, ranges, only, weighted=weighted)

    def _read_mean(self, figures: Sequence[Figure], *, weighted: bool) -> ReleaseFinding:
        words, question = self.words, self.question
        ends = value_range(question)
        assert ends is not None  # it has a mean
        only = range_of_mean(self._label(figures[0]), figures[0], ends)
        said = (
            finding_texts.say_mean(words, question, only),
            finding_texts.explain_mean(words, self.definition, question, only, weighted),
        )
        return self._make("mean", *said, Picture.LINES, (only,), only, ends=ends, weighted=weighted)

    def _read_strata(self, figures: Sequence[Figure]) -> Iterator[ReleaseFinding]:
        """By stratum, of a mean or of one answer: Yes, or the only one that there is."""
        words, question = self.words, self.question
        ends = value_range(question) if figures[0].statistic == "mean" else None
        answers = dict.fromkeys(figure.place[1][1] for figure in figures)
        answer = (
            "" if ends is not None else "yes" if question.answers == ("no", "yes") else next(iter(answers))
        )
        if len(answers) > 2 or answer not in answers or (len(answers) == 2 and answer != "yes"):
            return  # many answers in many strata are a table
        chosen = [figure for figure in figures if figure.place[1][1] == answer]
        labels = [part(words, self.entry, figure.place[0], self.questions) for figure in chosen]
        ranges = rank(
            [
                range_of_share(label, figure) if ends is None else range_of_mean(label, figure, ends)
                for label, figure in zip(labels, chosen, strict=True)
            ]
        )
        highest = find_highest(ranges)
        named = part(words, self.entry, chosen[0].place[1], self.questions).text if ends is None else ""
        said = finding_texts.say_strata(words, highest, named), finding_texts.explain_strata(words, ranges)
        picture, about = (Picture.BARS, "groups") if ends is None else (Picture.LINES, "mean-groups")
        yield self._make(about, *said, picture, tuple(ranges), highest, ends=ends)

    def _make(
        self,
        about: str,
        sentence: str,
        meaning: str,
        picture: Picture,
        ranges: Sequence[FindingRange],
        headline: FindingRange | None,
        *,
        ends: tuple[float, float] | None = None,
        weighted: bool = False,
    ) -> ReleaseFinding:
        names = (self.question.name,)
        return ReleaseFinding(
            "-".join(filter(None, [str(self.entry.entry), *names, about])),
            self.entry,
            names,
            _quote(self.entry, self.questions, names),
            _among(self.entry),
            sentence,
            meaning,
            picture,
            tuple(ranges),
            headline,
            ends,
            weighted,
        )

    def _label(self, figure: Figure) -> Text:
        return part(self.words, self.entry, figure.place[-1], self.questions)


def _read_joint(
    words: ReportWords, entry: Released, questions: QuestionsByVersion, figures: Sequence[Figure]
) -> ReleaseFinding:
    ranges = tuple(range_of_share(place(words, entry, figure, questions), figure) for figure in figures)
    highest = find_highest(ranges)
    names = tuple(name for name, _ in figures[0].place)
    return ReleaseFinding(
        f"{entry.entry}-together",
        entry,
        names,
        _quote(entry, questions, names),
        _among(entry),
        finding_texts.say_combination(words, highest),
        finding_texts.explain_combination(words),
        Picture.TABLE if len(names) == 2 else Picture.NOTHING,
        ranges,
        highest,
    )
