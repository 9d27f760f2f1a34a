"""A report's survey and the columns of its responses as DDI-Codebook 2.5, for data archives."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from server import __version__
from server.output.labelled import CodeTable, CodeVariable
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES, load_catalogue
from server.privacy.designs import TOTAL
from server.reports.codebook import mechanism_of, parameters_of
from server.reports.contents.text_sections import describe_readers
from server.reports.csv_cells import neutralise_text
from server.reports.microdata.ddi_study import add_element, add_in_language, add_study
from server.reports.microdata.labelled_responses import label_responses
from server.reports.microdata.response_table import ReportResponses
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.study.answer_texts import otherwise_text
from server.study.definitions import Definition, Question, list_languages, translate_definition

_NAMESPACE = "ddi:codebook:2_5"
_SCHEMA = "http://www.ddialliance.org/Specification/DDI-Codebook/2.5/XMLSchema/codebook.xsd"
_FILE = "F1"
_BY_NUMBER = ("version", "stratum")
"""Columns of the rows that are no question's."""


def write_ddi(report: Report) -> bytes:
    """The survey as DDI-Codebook 2.5: the study sheet, the file of responses, and each of its columns.

    Texts are there in every language of the survey. Variables are called as the columns of `responses.csv`, and state
    question, answers, condition and, version by version, the mechanism with the chances of its reports. `report` shows
    something (`require_shown`).
    """
    book = ET.Element(
        "codeBook",
        {
            "xmlns": _NAMESPACE,
            "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
            "xsi:schemaLocation": f"{_NAMESPACE} {_SCHEMA}",
            "version": "2.5",
            "xml:lang": report.definition.language,
        },
    )
    _add_document(book, report)
    add_study(book, report)
    tables = {code: label_responses(report, code) for code in list_languages(report.definition)}
    _add_file(book, report, tables[report.definition.language])
    data = add_element(book, "dataDscr")
    names = ["version", *["stratum"] * ReportResponses(report).by_stratum, *ReportResponses(report).columns]
    for place, name in enumerate(names):
        _add_variable(
            data, name, place, {code: table.variables[place] for code, table in tables.items()}, report
        )
    ET.indent(book)
    written: str = ET.tostring(book, "unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{written}\n'.encode()


def _add_document(book: ET.Element, report: Report) -> None:
    """What wrote it, and when."""
    citation = add_element(add_element(book, "docDscr"), "citation")
    add_element(add_element(citation, "titlStmt"), "titl", report.definition.title)
    production = add_element(citation, "prodStmt")
    made = report.made_on.isoformat()
    add_element(production, "prodDate", made, date=made)
    add_element(production, "software", "Moneda", version=__version__)


def _add_file(book: ET.Element, report: Report, table: CodeTable) -> None:
    described = add_element(book, "fileDscr", ID=_FILE)
    text = add_element(described, "fileTxt")
    add_element(text, "fileName", "responses.csv")
    add_element(text, "fileCont", table.notes[0])
    size = add_element(text, "dimensns")
    add_element(size, "caseQnty", str(report.n))
    add_element(size, "varQnty", str(len(table.variables)))
    add_element(text, "fileType", "text/csv; charset=utf-8")


def _add_variable(
    data: ET.Element, name: str, place: int, variables: dict[str, CodeVariable], report: Report
) -> None:
    first = next(iter(variables.values()))
    questions = [] if name in _BY_NUMBER else _find_questions(report, name)
    nature = "ordinal" if first.ordered else "nominal"
    added = add_element(
        data, "var", ID=f"V{place + 1}", name=name, files=_FILE, intrvl="discrete", nature=nature
    )
    for language, variable in variables.items():
        add_in_language(added, "labl", variable.label, language)
    if questions:
        _version, definition, question = questions[0]
        literal = add_element(added, "qstn")
        for language in variables:
            translated = translate_definition(definition, language)
            add_in_language(literal, "qstnLit", _find_question(translated, question.name).text, language)
        for language in variables:
            add_in_language(added, "universe", _say_asked(definition, question.name, language), language)
    by_text = name == "stratum"
    for code in first.codes:
        category = add_element(added, "catgry")
        # In the file of responses a stratum is called by its path, as CSV has it.
        add_element(category, "catValu", neutralise_text(first.codes[code]) if by_text else str(code))
        for language, variable in variables.items():
            add_in_language(category, "labl", variable.codes[code], language)
    if first.missing:
        missing = add_element(added, "catgry", missing="Y")
        for language, variable in variables.items():
            add_in_language(missing, "labl", variable.missing, language)
    add_element(added, "varFormat", type="character" if by_text else "numeric")
    for version, _definition, question in questions:
        add_element(added, "notes", _describe_chances(version, question, name), type="mechanism")


def _find_questions(report: Report, column: str) -> Sequence[tuple[int, Definition, Question]]:
    """The question that a column belongs to in each version that has it, the newest first."""
    return [
        (wave.number, wave.definition, question)
        for wave in report.waves
        for question in wave.definition.questions
        if column in question.columns
    ]


def _find_question(definition: Definition, name: str) -> Question:
    return next(question for question in definition.questions if question.name == name)


def _say_asked(definition: Definition, name: str, language: str) -> str:
    """Whom it was shown, and what is reported for all others."""
    translated = translate_definition(definition, language)
    question = _find_question(translated, name)
    words = ReportWords(language if language in LANGUAGES else DEFAULT_LANGUAGE)
    say = load_catalogue(words.locale).gettext
    shown = describe_readers(words, translated, question).text
    if question.show_if is None:
        return shown
    otherwise = otherwise_text(question, language)
    return f"{say('shown to those who answered')}: {shown}; {say('everybody else reports')}: {otherwise}"


def _describe_chances(version: int, question: Question, column: str) -> str:
    """Its mechanism in one version: a row for each true answer, how often of `TOTAL` it becomes each report."""
    design = question.designs[question.columns.index(column)]
    stated = {
        "version": version,
        "mechanism": mechanism_of(question),
        "parameters": parameters_of(question),
        "truth_by_report": design.weights.tolist(),
        "of": TOTAL,
    }
    return json.dumps(stated, ensure_ascii=False)
