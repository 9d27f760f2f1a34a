"""The responses of a report as a table of codes with labels, for SPSS and Stata."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import IO

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse, shorten_value
from server.output.labelled import (
    MISSING,
    MOST_VARIABLES,
    CodeTable,
    CodeVariable,
    name_variables,
    write_spss,
    write_stata,
)
from server.output.languages import load_catalogue
from server.reports.answer_names import AnswerTexts
from server.reports.codebook import STRATA
from server.reports.csv_lines import NOT_ASKED
from server.reports.csv_report import stated_strata
from server.reports.microdata.response_table import ReportResponses
from server.reports.report import Report
from server.study.definitions import list_languages, translate_definition

LABELLED = {"sav": write_spss, "dta": write_stata}
"""What writes the responses with labels, by the ending of the file."""

_VERSION = N_("Version of the survey that was answered")
_STRATUM = N_("Stratum: the smallest one that may be named")
_NOT_ASKED = N_("Not asked in this version")
_NOTE = N_(
    "Noisy responses: every answer was randomised on the device used to answer, or by throws of "
    "their own, before it was sent, so any row may be "
    "another than its sender entered, and a report of 1 is not an admission. Shares of these reports are no estimates: "
    "the codebook of the survey has the chances that estimates are made with. The order of the rows says nothing."
)
_RENAMED = N_("%(name)s is the column %(column)s of the codebook.")


def write_labelled(report: Report, ending: str, language: str | None, file: IO[bytes]) -> None:
    """Write the rows of `write_microdata` for SPSS or Stata, with labels in one of the survey's languages.

    A part after the other: memory does not grow with the rows. `report` shows something (`require_shown`).

    Raises
    ------
    InputError
        If the survey has no texts in the language, or more columns than Stata takes.
    """
    table = label_responses(report, language)
    if ending == "dta" and len(table.variables) > MOST_VARIABLES:
        raise refuse(
            422,
            "responses",
            N_("must have at most %(limit)d columns for Stata; there are %(value)d"),
            limit=MOST_VARIABLES,
            value=len(table.variables),
        )
    LABELLED[ending](table, file)


def label_responses(report: Report, language: str | None) -> CodeTable:
    """The rows of a report; labels in its survey's own language where none is asked for."""
    languages = list_languages(report.definition)
    chosen = languages[0] if language is None else language
    if chosen not in languages:
        raise refuse(
            422,
            "language",
            N_("must be one of %(limit)s, which the survey has texts in; it is %(value)s"),
            limit=", ".join(languages),
            value=shorten_value(chosen),
        )
    responses = ReportResponses(report)
    say = load_catalogue(chosen).gettext
    known = {"version": say(_VERSION), "stratum": say(_STRATUM)}
    columns = ["version", *["stratum"] * responses.by_stratum, *responses.columns]
    names = name_variables(columns)
    paths = sorted(set(stated_strata(report).values())) if responses.by_stratum else []
    places = {path: place for place, path in enumerate(paths, start=1)}
    variables = [CodeVariable(names[0], known["version"], {}, max(wave.number for wave in report.waves))]
    if responses.by_stratum:
        codes = {place: path for path, place in places.items()}
        variables.append(CodeVariable(names[1], known["stratum"], codes, len(paths)))
    for column, name in zip(responses.columns, names[len(variables) :], strict=True):
        variables.append(_describe(name, column, report, chosen, say(_NOT_ASKED)))
    renamed = [
        say(_RENAMED) % {"name": name, "column": column}
        for name, column in zip(names, columns, strict=True)
        if name != column.replace(".", "_")
    ]
    meant = [f"{value}: {meaning}." for value, meaning in STRATA.items() if value in places]
    return CodeTable(
        translate_definition(report.definition, chosen).title,
        report.made_on,
        [say(_NOTE), *meant, *renamed, f"{report.slug} · {report.software}"],
        variables,
        report.n,
        partial(_code_rows, responses, places),
    )


def _describe(name: str, column: str, report: Report, language: str, not_asked: str) -> CodeVariable:
    """A variable of reports. Where versions word it differently, each says which it is of, the newest first."""
    asked: dict[int, str] = {}
    codes: dict[int, dict[int, str]] = {}
    levels = False
    for wave in report.waves:
        definition = translate_definition(wave.definition, language)
        texts = AnswerTexts(definition)
        for question in definition.questions:
            if column in question.columns:
                answers = texts.of_column(question, question.columns.index(column))
                # The answer first: labels are cut at their end, and those of one question would all be alike.
                by_answer = question.encoding.by_answer
                asked[wave.number] = f"{answers[1]}: {question.text}" if by_answer else question.text
                levels = question.traits.levels and not question.encoding.by_answer
                for code, answer in enumerate(answers):
                    codes.setdefault(code, {})[wave.number] = answer
    missing = not_asked if len(asked) < len(report.waves) else ""
    said = {code: _join_versions(answers) for code, answers in sorted(codes.items())}
    return CodeVariable(name, _join_versions(asked), said, max(said), missing, levels)


def _join_versions(labels: Mapping[int, str]) -> str:
    """A text where all versions say the same; else each with the versions that say so."""
    versions: dict[str, list[str]] = {}
    for version, text in labels.items():
        versions.setdefault(text, []).append(str(version))
    if len(versions) == 1:
        return next(iter(versions))
    return "; ".join(f"{text} [{', '.join(numbers)}]" for text, numbers in versions.items())


def _code_rows(responses: ReportResponses, places: Mapping[str, int]) -> Iterator[NDArray[np.int32]]:
    for part in responses.parts():
        cells = part.cells.astype(np.int32)
        cells[cells == NOT_ASKED] = MISSING
        beginning = [part.version, *([places[part.stratum]] if places else [])]
        heads = np.broadcast_to(np.array(beginning, np.int32), (len(cells), len(beginning)))
        yield np.concatenate([heads, cells], axis=1)
