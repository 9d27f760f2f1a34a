"""What answers are called in files for programs: in the survey's language, so that none is without a text."""

from server.output.formatting import MINUS
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES, RESPONDENT_LANGUAGES
from server.reports.report_words import ReportWords
from server.study.answer_texts import answer_text
from server.study.definitions import Definition, Question


class AnswerTexts:
    """The texts of a survey's answers: the researcher's as written, ours in the survey's language where we have it."""

    def __init__(self, definition: Definition) -> None:
        language = definition.language.partition("-")[0]
        self._words = ReportWords(language if language in LANGUAGES else DEFAULT_LANGUAGE)
        self._respondents = language if language in RESPONDENT_LANGUAGES else DEFAULT_LANGUAGE
        self._found: dict[str, tuple[str, ...]] = {}

    def of(self, question: Question) -> tuple[str, ...]:
        """A text for each of a question's answers; the two ends of a number are that number."""
        if question.name not in self._found:
            places = range(len(question.answers))
            self._found[question.name] = tuple(self._text(question, place) for place in places)
        return self._found[question.name]

    def of_column(self, question: Question, number: int) -> tuple[str, ...]:
        """A text for each row of the design of one of its columns: of one answer, not chosen and chosen."""
        texts = self.of(question)
        if question.encoding.by_answer:
            return self._words.gettext("not: %(answer)s", answer=texts[number]), texts[number]
        return texts

    def _text(self, question: Question, place: int) -> str:
        text = answer_text(question, place, self._respondents).replace("\N{NO-BREAK SPACE}", " ")
        return (
            text if question.options else text.replace(MINUS, "-")
        )  # a researcher's own text stays as it is
