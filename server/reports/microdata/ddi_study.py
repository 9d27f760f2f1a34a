"""A study as DDI-Codebook describes it: citation, subject, method and access, each as far as the sheet states it."""

import re
import xml.etree.ElementTree as ET

from server import __version__
from server.inputs import N_
from server.output.languages import load_catalogue
from server.reports.report import Report
from server.study.definitions import list_languages, translate_definition
from server.study.study_sheets.sheet_fields import SAMPLINGS

_ILLEGAL = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even as a reference."""
_LANGUAGE = "xml:lang"
_RANDOMISED = N_(
    "Every answer was randomised on the device used to answer, or by throws of their own, before "
    "it was sent, with chances that are known: the "
    "variables hold these reports, and not what was answered. Each variable states its chances."
)
WEIGHTS = N_(
    "Rows have no weights. Where strata have populations, estimates are weighted by these, which strata.csv lists."
)


def add_element(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
    """An element with a text. Attributes that are empty are left out, and what XML cannot hold of either."""
    known = {name: _ILLEGAL.sub("", value) for name, value in attributes.items() if value}
    element = ET.SubElement(parent, tag, known)
    element.text = _ILLEGAL.sub("", text) or None
    return element


def add_in_language(parent: ET.Element, tag: str, text: str, language: str) -> ET.Element:
    """An element with a text in a language."""
    element = add_element(parent, tag, text)
    element.set(_LANGUAGE, language)
    return element


def find_field_days(report: Report) -> tuple[str, str] | None:
    """The first and the last day in the field: as the sheet states them, else of the responses that are shown."""
    study = report.study
    if study.field_begin or study.field_end:
        return study.field_begin, study.field_end
    if not report.days:
        return None
    first, last = min(day.first for day in report.days), max(day.last for day in report.days)
    return first.isoformat(), last.isoformat()


def add_study(book: ET.Element, report: Report) -> None:
    """The description of the study; every element in the order that the schema has it."""
    study = add_element(book, "stdyDscr")
    _add_citation(study, report)
    _add_subject(study, report)
    _add_method(study, report)
    _add_access(study, report)


def _add_citation(parent: ET.Element, report: Report) -> None:
    sheet = report.study
    citation = add_element(parent, "citation")
    titles = add_element(citation, "titlStmt")
    languages = list_languages(report.definition)
    own = {code: translate_definition(report.definition, code).title for code in languages}
    (language, title), *others = (sheet.title or own).items()
    add_in_language(titles, "titl", title, language)
    for code, text in others:
        add_in_language(titles, "parTitl", text, code)
    if sheet.doi:
        add_element(titles, "IDNo", sheet.doi, agency="DOI")
    add_element(titles, "IDNo", report.slug, agency="Moneda")
    if sheet.authors:
        responsible = add_element(citation, "rspStmt")
        for author in sheet.authors:
            add_element(responsible, "AuthEnty", author.name, affiliation=author.affiliation)
    production = add_element(citation, "prodStmt")
    for name in dict.fromkeys((sheet.conductor, sheet.sponsor)):
        if name:
            add_element(production, "producer", name)
    made = report.made_on.isoformat()
    add_element(production, "prodDate", made, date=made)
    add_element(production, "software", "Moneda", version=__version__)
    if sheet.funder:
        add_element(production, "fundAg", sheet.funder)
    if sheet.contact_name or sheet.contact_email:
        distribution = add_element(citation, "distStmt")
        add_element(
            distribution, "contact", sheet.contact_name or sheet.contact_email, email=sheet.contact_email
        )
    version = add_element(citation, "verStmt")
    add_element(version, "version", str(report.version_number), date=report.published_on.isoformat())
    add_element(version, "notes", f"SHA-256 {report.version}")


def _add_subject(parent: ET.Element, report: Report) -> None:
    sheet = report.study
    info = add_element(parent, "stdyInfo")
    if sheet.keywords:
        subject = add_element(info, "subject")
        for keyword in sheet.keywords:
            add_element(subject, "keyword", keyword)
    introductions = {
        code: translate_definition(report.definition, code).introduction
        for code in list_languages(report.definition)
    }
    for code, text in introductions.items():
        if text:
            add_in_language(info, "abstract", text, code)
    summary = add_element(info, "sumDscr")
    for event, day in zip(("start", "end"), find_field_days(report) or (), strict=False):
        if day:
            add_element(summary, "collDate", day, date=day, event=event)
    for code, text in sheet.population.items():
        add_in_language(summary, "universe", text, code)
    add_element(summary, "dataKind", "Survey data, randomised response")


def _add_method(parent: ET.Element, report: Report) -> None:
    sheet = report.study
    say = load_catalogue(report.definition.language).gettext
    method = add_element(parent, "method")
    collection = add_element(method, "dataColl")
    sampling = (say(SAMPLINGS[sheet.sampling]) if sheet.sampling else "", sheet.recruitment)
    for text in filter(None, sampling):
        add_element(collection, "sampProc", text)
    if sheet.frame:
        frame = add_element(collection, "sampleFrame")
        add_element(frame, "txt", sheet.frame)
    if sheet.planned_respondents:
        size = add_element(collection, "targetSampleSize")
        add_element(size, "sampleSize", str(sheet.planned_respondents))
    if sheet.mode:
        add_element(collection, "collMode", sheet.mode)
    add_element(collection, "weight", say(WEIGHTS))
    if sheet.quality:
        add_element(collection, "cleanOps", sheet.quality)
    add_element(method, "notes", say(_RANDOMISED), type="randomised response")
    if sheet.limitations:
        appraisal = add_element(method, "anlyInfo")
        add_element(appraisal, "dataAppr", sheet.limitations)


def _add_access(parent: ET.Element, report: Report) -> None:
    if report.study.licence:
        use = add_element(add_element(parent, "dataAccs"), "useStmt")
        add_element(use, "conditions", report.study.licence)
