"""What the columns of the noisy responses hold, as CSV: a row for each column, truth and report."""

import json
from collections.abc import Iterator, Sequence

from server.privacy.designs import TOTAL, round_up
from server.reports.answer_names import AnswerTexts
from server.reports.csv_cells import csv_text
from server.reports.estimate_values import value_range
from server.reports.stratum_estimates import NO_STRATUM, WITHHELD_STRATUM
from server.study.definitions import Definition, Question, list_languages, translate_definition

CODEBOOK = (
    "column,question,text,kind,encoding,mechanism,parameters,truth,truth_text,code,report,report_text,"
    "probability,numerator,denominator,epsilon,question_epsilon,low,high,step,shown_if,otherwise"
).split(",")
"""The columns of a codebook; `name_translated` are those for another language of the survey."""
_TRANSLATED = ("text", "truth_text", "report_text")

STRATA = {
    NO_STRATUM: "came through the survey's own link, which belongs to no stratum",
    WITHHELD_STRATUM: "came from a stratum that may not be named, as too few came from it or from one beside it, "
    "or through the survey's own link where telling that apart would tell of few",
}
"""What stands in the column of strata in place of a path, and what it means."""
WEIGHTS = (
    "rows have no weights; where strata have populations (strata.csv, if it comes along), what a report weights by "
    "population counts the rows of each smallest stratum for its part of the population, and nothing else does"
)


def codebook_csv(definition: Definition, *, strata: bool) -> str:
    """The codebook of a version, with the values that stand in place of a stratum where there is that column."""
    languages = list_languages(definition)[1:]
    rows: list[Sequence[object]] = [
        [*CODEBOOK, *name_translated(languages)],
        *(strata_rows() if strata else ()),
    ]
    return csv_text([*rows, *codebook_rows(definition, languages)])


def name_translated(languages: Sequence[str]) -> list[str]:
    """The columns that follow `CODEBOOK`: `text.es` and so on, for each further language of a survey."""
    return [f"{name}.{language}" for language in languages for name in _TRANSLATED]


def codebook_rows(definition: Definition, languages: Sequence[str] = ()) -> Iterator[Sequence[object]]:
    """A row for each column, truth and report, under the names in `CODEBOOK` and `name_translated`.

    The probabilities of a column, a row for each truth, are its design: each is `numerator` of
    `denominator`, exactly. `low` and `high` are what its first and its last numeric truth stand for;
    where there is a `step`, numbers between them were rounded to one of the two at random, so as to
    keep their mean. `shown_if` is whom a question was shown and `otherwise` what all others report, as JSON
    of the definition; empty where everybody was shown it.
    """
    texts = AnswerTexts(definition)
    translated = [translate_definition(definition, language) for language in languages]
    others = [
        (AnswerTexts(one), {question.name: question for question in one.questions}) for one in translated
    ]
    for question in definition.questions:
        low, high = value_range(question) or ("", "")
        step = question.grid.step if question.encoding.between_ends and question.grid else ""
        how = mechanism_of(question), json.dumps(parameters_of(question), ensure_ascii=False)
        routing = routing_cells(question)
        for number, (column, design) in enumerate(zip(question.columns, question.designs, strict=True)):
            asked = (column, question.name, question.text, question.kind, question.encoding, *how)
            labels = list(zip(_names(question, number), texts.of_column(question, number), strict=True))
            further = [
                (asked_there[question.name].text, words.of_column(asked_there[question.name], number))
                for words, asked_there in others
            ]
            for truth, weights in enumerate(design.weights.tolist()):
                for code, weight in enumerate(weights):
                    chances = (float(design.matrix[truth, code]), weight, TOTAL)
                    losses = (design.epsilon, question.epsilon)
                    said = [
                        cell for text, answers in further for cell in (text, answers[truth], answers[code])
                    ]
                    whole = (*asked, *labels[truth], code, *labels[code], *chances, *losses, low, high, step)
                    yield *whole, *routing, *said


def strata_rows() -> Iterator[Sequence[object]]:
    """What stands in the column `stratum` in place of a path, and how rows count by it."""
    rows = [{"kind": "stratum", "code": value, "report_text": meaning} for value, meaning in STRATA.items()]
    for row in (*rows, {"kind": "weights", "report_text": WEIGHTS}):
        yield [{"column": "stratum", **row}.get(name, "") for name in CODEBOOK]


def missing_row(column: str) -> Sequence[object]:
    """What an empty cell of a column means in a version that does not have it."""
    row = {"column": column, "kind": "missing", "report_text": "not asked in this version"}
    return [row.get(name, "") for name in CODEBOOK]


def routing_cells(question: Question) -> tuple[str, str]:
    """Whom it was shown and what stands for the others, as JSON of the definition; nothing where everybody was."""
    document = question.as_json()
    shown, otherwise = (
        json.dumps(document[name], ensure_ascii=False) if name in document else ""
        for name in ("show_if", "otherwise")
    )
    return shown, otherwise


def mechanism_of(question: Question) -> str:
    """The name of the mechanism that randomised a question, as in a survey definition."""
    if question.choice.mechanism == "best_choice":
        return "unary" if question.encoding.by_answer else "k_ary"
    return question.choice.mechanism


def parameters_of(question: Question) -> dict[str, object]:
    """The parameters of its mechanism as they were stated; of one that the survey decides, its loss in nats."""
    stated = dict(question.choice.parameters)
    return {**stated, "epsilon": round_up(question.epsilon)} if question.choice.by_share else stated


def _names(question: Question, number: int) -> Sequence[str]:
    """The name of each row of the design of a column."""
    if question.encoding.by_answer:
        answer = question.answers[number]
        return f"not {answer}", answer
    return question.answers
