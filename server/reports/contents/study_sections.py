"""What a study sheet says, as a document has it: each field that was filled in, and who asked."""

from collections.abc import Iterator
from datetime import date

from server.output.documents import Block, Cell, Facts, Number, Paragraph, Section, Text
from server.output.formatting import number
from server.reports.contents import cell_texts
from server.reports.report_words import ReportWords
from server.study.study_sheets import Author, StudySheet, choose_language
from server.study.study_sheets.sheet_fields import SAMPLINGS, STUDY_FIELDS

_PLAIN = (
    "sponsor,funder,conductor,population,frame,sampling,recruitment,mode,languages,field,planned_respondents,"
    "planned_margin,quality,limitations,ethics_board,ethics_number,contact_name,contact_email,licence,"
    "preregistration,keywords"
).split(",")
"""In this order; authors and DOI follow."""
_DISCLOSED = frozenset(
    "sponsor,funder,conductor,population,frame,sampling,recruitment,mode,languages,field,quality,limitations".split(
        ","
    )
)
"""What AAPOR has a report disclose and nothing but a sheet knows (Code of Ethics, section III.A, of 2021).

The rest of that list is in the report without it: the wording of questions, how many answered, how exact that is,
and how it was weighted.
"""


def describe_study(words: ReportWords, study: StudySheet) -> Iterator[Section]:
    """The section about the study, if its sheet says anything."""
    facts = tuple(list_facts(words, study))
    if facts:
        yield Section("study", Text(words.gettext("The study")), (Facts(facts),))


def say_who_asked(words: ReportWords, study: StudySheet) -> Iterator[Block]:
    """A line for the beginning of a report: who asks, who conducts it, and when people answered."""
    _ = words.gettext
    parts = [
        _("%(field)s: %(text)s", field=_(STUDY_FIELDS[name]), text=text)
        for name, text in (("sponsor", study.sponsor), ("conductor", study.conductor))
        if text
    ]
    if study.field_begin or study.field_end:
        parts.append(_("%(field)s: %(text)s", field=_("In the field"), text=say_days(words, study)))
    if parts:
        yield Paragraph(Text(" · ".join(parts), from_survey=True))


def cite_report(words: ReportWords, study: StudySheet, questionnaire: str, rest: str) -> Text:
    """How to cite a report: authors and days in the field, if they are stated, a title, and the DOI."""
    title = choose_language(study.title, words.locale)
    names = "; ".join(author.name for author in study.authors)
    days = say_days(words, study)
    fielded = (
        words.gettext("%(field)s: %(text)s", field=words.gettext("In the field"), text=days) if days else ""
    )
    parts = [
        f"{part.rstrip('.')}." for part in (names, title[1] if title else questionnaire, fielded) if part
    ]
    return Text(" ".join([*parts, rest, *([f"https://doi.org/{study.doi}"] if study.doi else [])]))


def list_facts(words: ReportWords, study: StudySheet) -> Iterator[tuple[str, Cell]]:
    """What each field is called, and what it says; of those that are empty, what a report has to disclose.

    Nothing at all of a sheet that says nothing.
    """
    if study.is_empty:
        return
    for name in _PLAIN:
        cell = _state_field(words, study, name)
        if cell is not None:
            yield _call_field(words, name), cell
        elif name in _DISCLOSED:
            yield _call_field(words, name), Text(words.gettext("not stated"))
    if study.authors:
        yield words.gettext("Authors"), Text("; ".join(map(_write_author, study.authors)), from_survey=True)
    if study.doi:
        yield words.gettext("DOI"), Text(f"https://doi.org/{study.doi}", from_survey=True)


def _call_field(words: ReportWords, name: str) -> str:
    """What a field is called; "field" are the days in the field."""
    return words.gettext("In the field") if name == "field" else words.gettext(STUDY_FIELDS[name])


def _state_field(words: ReportWords, study: StudySheet, name: str) -> Cell | None:
    """What a field says; None where it is empty."""
    if name == "field":
        sentence = say_days(words, study)
        return Text(sentence) if sentence else None
    if name == "population":
        found = choose_language(study.population, words.locale)
        return None if found is None else Text(found[1], from_survey=True, language=found[0])
    if name == "sampling":
        return Text(words.gettext(SAMPLINGS[study.sampling])) if study.sampling else None
    if name == "planned_respondents":
        planned = study.planned_respondents
        return None if planned is None else cell_texts.count(words, planned)
    if name == "planned_margin":
        return None if study.planned_margin is None else _write_margin(words, study.planned_margin)
    if name == "keywords":
        return Text("; ".join(study.keywords), from_survey=True) if study.keywords else None
    text: str = getattr(study, name)
    return Text(text, from_survey=True) if text else None


def say_days(words: ReportWords, study: StudySheet) -> str:
    """When people answered; empty where no day is stated."""
    begin, end = (
        words.day(date.fromisoformat(text)) if text else "" for text in (study.field_begin, study.field_end)
    )
    if begin and end:
        return words.gettext("%(begin)s to %(end)s", begin=begin, end=end)
    if begin:
        return words.gettext("from %(begin)s on", begin=begin)
    return words.gettext("until %(end)s", end=end) if end else ""


def _write_margin(words: ReportWords, value: float) -> Number:
    chosen = number(round(value * 100, 8), words.locale)
    return Number(value, words.gettext("± %(points)s points", points=chosen), "0.0%")


def _write_author(author: Author) -> str:
    about = [author.affiliation] if author.affiliation else []
    about += [f"https://orcid.org/{author.orcid}"] if author.orcid else []
    return f"{author.name} ({', '.join(about)})" if about else author.name
