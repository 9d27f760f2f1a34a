"""What respondents were asked, to read: every version, in every language of the survey, as Markdown."""

from collections.abc import Iterator

from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES, RESPONDENT_LANGUAGES
from server.reports.answer_names import AnswerTexts
from server.reports.contents.text_sections import describe_readers
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.study.answer_texts import otherwise_text, span_text
from server.study.definitions import (
    Check,
    Definition,
    Entry,
    Question,
    SurveySection,
    list_languages,
    translate_definition,
)


def write_questionnaire(report: Report) -> str:
    """The texts of all versions of a report, the newest first, each once in every language it has."""
    parts = [
        "\n\n".join(_write_version(wave.number, translate_definition(wave.definition, language)))
        for wave in report.waves
        for language in list_languages(wave.definition)
    ]
    return "\n\n---\n\n".join(parts) + "\n"


def _write_version(number: int, definition: Definition) -> Iterator[str]:
    language = definition.language
    words = ReportWords(language if language in LANGUAGES else DEFAULT_LANGUAGE)
    about = words.gettext("Version %(number)d", number=number)
    yield f"# {definition.title}"
    yield f"{about} · {RESPONDENT_LANGUAGES[language].name}" if language in RESPONDENT_LANGUAGES else about
    yield from filter(None, (definition.introduction, definition.consent))
    texts = AnswerTexts(definition)
    for entry in definition.entries:
        if isinstance(entry, Question):
            yield f"## {entry.name}"
        yield f"## {entry.text}" if isinstance(entry, SurveySection) else entry.text
        if isinstance(entry, SurveySection) and entry.body:
            yield entry.body
        if answers := list(_list_answers(entry, texts, language)):
            yield "\n".join(f"- {answer}" for answer in answers)
        if entry.show_if is not None:
            yield f"*{words.gettext('Shown to those who answered')}: {describe_readers(words, definition, entry).text}*"
            if isinstance(entry, Question):
                otherwise = otherwise_text(entry, language)
                yield f"*{words.gettext('everybody else reports')}: {otherwise}*"


def _list_answers(entry: Entry, texts: AnswerTexts, language: str) -> Iterator[str]:
    """What could be answered; of a number, what it may lie between."""
    if isinstance(entry, Check):
        yield from (option.text for option in entry.options)
    if isinstance(entry, Question):
        if entry.encoding.between_ends and entry.grid is not None:
            yield span_text(entry.grid, entry.unit, language)
        yield from texts.of(entry)[entry.first_answer :]
