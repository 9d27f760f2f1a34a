"""What a report says of questions together, as programs read it: one list that JSON and CSV are written from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from server.output.formatting import finite
from server.privacy.estimators import ConditionalShare
from server.reports.answer_names import AnswerTexts
from server.reports.crossing import Crossed, CrossedSide, JointShare
from server.reports.report import Report
from server.reports.three_together import PairWithin, ThreeTogether

Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class TogetherRow:
    """A number of some questions together.

    Attributes
    ----------
    statistic : str
        "joint share"; or of the chosen answers "share among those who gave the first", "share among the others",
        "difference", "odds ratio", "phi"; where the second question is a number, "mean among …". Of three questions
        "…, within the last": among those who gave the last answer, which names its question as the others do.
    answers : tuple of str
        One of each question; empty for a number.
    interval : str
        How it was computed; empty where there is none.
    confidence : float or None
        Of this interval by itself; of those of two groups, and of what follows from them, together.
    """

    statistic: str
    answers: tuple[str, ...]
    answer_texts: tuple[str, ...]
    value: float | None
    standard_error: float | None
    ends: Ends
    interval: str
    confidence: float | None

    def as_json(self) -> dict[str, Any]:
        """As in `report --json`."""
        return {
            "statistic": self.statistic,
            "answers": list(self.answers),
            "answer_texts": list(self.answer_texts),
            "estimate": finite(self.value),
            "standard_error": finite(self.standard_error),
            "interval": None if not self.interval else [finite(end) for end in self.ends],
            "kind": self.interval or None,
            "confidence": self.confidence,
        }


def together_json(report: Report) -> list[dict[str, Any]]:
    """An entry for each that was asked for; without rows where there are too many answers."""
    return [
        {
            "questions": [side.question.name for side in together.sides],
            "texts": [side.question.text for side in together.sides],
            "versions": list(together.versions),
            "n": together.n,
            **_weighting_json(together),
            "too_large": together.too_large,
            "rows": [row.as_json() for row in list_rows(report, together)],
            "unweighted": None if together.plain is None else _plain_json(report, together.plain),
        }
        for together in report.crossings
    ]


def name_weighting(together: Crossed | ThreeTogether) -> str:
    """What counts in a row of a CSV: "population", that of each stratum, or "responses", each the same."""
    return "responses" if together.strata is None else "population"


def _weighting_json(crossing: Crossed | ThreeTogether) -> dict[str, Any]:
    """Whether strata count by their populations, and which do not stand alone."""
    if crossing.strata is None:
        return {"weighting": "responses"}
    weighed = crossing.strata.weighed
    together = [list(paths) for paths in weighed.together]
    return {
        "weighting": str(weighed.weighting),
        "taken_together": together,
        "not_used": list(weighed.unused),
    }


def _plain_json(report: Report, plain: Crossed | ThreeTogether) -> dict[str, Any]:
    return {"n": plain.n, "rows": [row.as_json() for row in list_rows(report, plain)]}


def list_cells(report: Report) -> Iterator[Mapping[str, object]]:
    """The same as rows of the report's CSV: by the names of its columns, the weighted ones first."""
    both = ((together, together.plain) for together in report.crossings)
    for together in (one for pair in both for one in pair if one is not None):
        questions = [side.question for side in together.sides]
        for row in list_rows(report, together):
            yield {
                "question": " × ".join(question.name for question in questions),
                "kind": "together",
                "text": " × ".join(question.text for question in questions),
                "answer": " × ".join(row.answers),
                "answer_text": " × ".join(row.answer_texts),
                "versions": " ".join(map(str, together.versions)),
                "group": "all",
                "weighting": name_weighting(together),
                "statistic": row.statistic,
                "n": together.n,
                "estimate": finite(row.value),
                "standard_error": finite(row.standard_error),
                "interval_low": finite(row.ends[0]),
                "interval_high": finite(row.ends[1]),
                "confidence": row.confidence,
                "interval": row.interval,
                "more_fewer_than": report.unseen.number or "",
            }


def list_rows(report: Report, together: Crossed | ThreeTogether) -> Iterator[TogetherRow]:
    """Every number of it; none where there are too many answers."""
    if together.too_large:
        return
    texts = AnswerTexts(report.definition)
    if isinstance(together, ThreeTogether):
        for at, cell in zip(together.list_places(), together.list_cells(), strict=True):
            named = [
                name_given(texts, *own) for own in zip(together.sides, together.answers, at, strict=True)
            ]
            yield _cell_row(report, named, cell)
        for pair in together.pairs:
            yield from _within_rows(texts, together, pair)
        return
    if together.numeric:
        for index in range(len(together.row.question.answers)):
            yield from _group_rows(together, [_name(texts, together.row, index)], index)
        return
    for row, line in enumerate(together.cells or ()):
        for column, cell in enumerate(line):
            yield _cell_row(
                report, [_name(texts, together.row, row), _name(texts, together.column, column)], cell
            )
    yield from _pair_rows(texts, together)


def _name(texts: AnswerTexts, side: CrossedSide, index: int) -> tuple[str, str]:
    return side.question.answers[index], texts.of(side.question)[index]


def name_given(texts: AnswerTexts, side: CrossedSide, chosen: int, index: int) -> tuple[str, str]:
    """An answer, as files name it; of a question that stands for its chosen answer, whether that was given."""
    if not side.split:
        return _name(texts, side, index)
    name, text = _name(texts, side, chosen)
    return (name, text) if index else (f"not {name}", f"not {text}")


def _cell_row(report: Report, named: Sequence[tuple[str, str]], cell: JointShare) -> TogetherRow:
    names, texts = zip(*named, strict=True)
    kind = "exact" if cell.guaranteed else "score"
    return TogetherRow(
        "joint share", names, texts, cell.share, cell.standard_error, cell.interval, kind, report.confidence
    )


def _pair_rows(texts: AnswerTexts, together: Crossed) -> Iterator[TogetherRow]:
    """Of the two chosen answers."""
    named = [
        _name(texts, together.row, together.chosen[0]),
        _name(texts, together.column, together.chosen[1]),
    ]
    names, said = zip(*named, strict=True)
    compared, association = together.comparison, together.association
    kind = _kind(compared.gave)
    yield from _group_rows(together, named, together.chosen[0])
    for statistic, value, ends in (
        ("difference", together.difference, compared.difference_limits),
        ("odds ratio", association.odds_ratio.value, compared.odds_ratio),
    ):
        yield TogetherRow(statistic, names, said, value, None, ends, kind, compared.confidence)
    yield TogetherRow("phi", names, said, together.phi, None, (None, None), "", None)


def _within_rows(texts: AnswerTexts, together: ThreeTogether, pair: PairWithin) -> Iterator[TogetherRow]:
    """Of the chosen answers of two questions among those who gave an answer to the third, which is named last."""
    chosen = [(place, 1 if together.sides[place].split else together.answers[place]) for place in pair.pair]
    named = [
        name_given(texts, together.sides[place], together.answers[place], index)
        for place, index in (*chosen, (pair.third, pair.answer))
    ]
    (first, second, third), said = zip(*named, strict=True)
    questions = [together.sides[place].question.name for place in (*pair.pair, pair.third)]
    names = tuple(
        f"{question}: {answer}" for question, answer in zip(questions, (first, second, third), strict=True)
    )
    compared = pair.compared
    for who, group in (("those who gave the first", compared.gave), ("the others", compared.others)):
        yield TogetherRow(
            f"share among {who}, within the last",
            names,
            said,
            group.possible,
            None,
            group.interval,
            _kind(group),
            compared.confidence,
        )
    kind = _kind(compared.gave)
    for statistic, value, ends in (
        ("difference", pair.difference, compared.difference_limits),
        ("odds ratio", pair.odds_ratio, compared.odds_ratio),
    ):
        what = f"{statistic}, within the last"
        yield TogetherRow(what, names, said, value, None, ends, kind, compared.confidence)
    yield TogetherRow("phi, within the last", names, said, pair.phi, None, (None, None), "", None)


def _group_rows(together: Crossed, named: Sequence[tuple[str, str]], index: int) -> Iterator[TogetherRow]:
    """The chosen answer, or the mean, among those who gave an answer and among the others."""
    compared = together.groups[index] if together.numeric else together.comparison
    what, low, width = "share", 0.0, 1.0
    if together.numeric:
        what, low, width = "mean", together.ends[0], together.ends[1] - together.ends[0]
    names, texts = zip(*named, strict=True)
    for who, group in (("those who gave the first", compared.gave), ("the others", compared.others)):
        value = None if group.possible is None else low + width * group.possible
        ends = low + width * group.interval[0], low + width * group.interval[1]
        statistic = f"{what} among {who}"
        yield TogetherRow(statistic, names, texts, value, None, ends, _kind(group), compared.confidence)


def _kind(group: ConditionalShare) -> str:
    return "exact" if group.kind == "exact" else "score"
