"""The survey's own texts, in its own words: what respondents read beside the questions, and who was shown what."""

from collections.abc import Iterator
from itertools import islice

from server.output.documents import Block, Cell, Facts, Paragraph, Prose, Section, Text
from server.output.markdown import parse_markdown
from server.reports.contents import cell_texts
from server.reports.report_words import ReportWords
from server.study.answer_texts import word_span
from server.study.definitions import Check, Definition, Entry, Question, SurveySection


def quote_prose(definition: Definition, text: str) -> Iterator[Prose]:
    """A text of the survey's own in Markdown, if there is any."""
    if passages := parse_markdown(text):
        yield Prose(passages, definition.language)


def texts(words: ReportWords, definition: Definition) -> Iterator[Section]:
    """What people agreed to, then a section for each text that stands among the questions, in reading order."""
    agreed: list[Block] = [*quote_prose(definition, definition.consent)]
    if definition.least_age is not None:
        age = words.gettext(
            "%(field)s: %(text)s", field=words.gettext("Least age"), text=definition.least_age
        )
        agreed.append(Paragraph(Text(age)))
    if agreed:
        yield Section("consent", Text(words.gettext("Consent and age")), tuple(agreed))
    for number, (place, entry) in enumerate(_list_passages(definition), start=1):
        blocks = (*_quote_entry(definition, entry), *_facts(words, definition, entry, place))
        yield Section(f"text-{number}", _title(words, definition, entry), blocks)


def describe_readers(words: ReportWords, definition: Definition, entry: Entry) -> Text:
    """Whom an entry was shown: everybody, or those who gave certain answers before."""
    condition = entry.show_if
    if condition is None:
        return Text(words.gettext("everybody"))
    earlier = next(each for each in definition.questions if each.name == condition.question)
    if condition.span is None:
        places = [earlier.answers.index(answer) for answer in condition.any_of]
        given = "; ".join(cell_texts.answer(definition, earlier, place).text for place in places)
    else:
        given = word_span(*condition.span, earlier.unit, definition.language)
    return cell_texts.quote_text(definition, f"{earlier.text}: {given}")


def _list_passages(definition: Definition) -> Iterator[tuple[int, Entry]]:
    """What is no question and says something, with its place."""
    for place, entry in enumerate(definition.entries):
        if not isinstance(entry, Question) and not (isinstance(entry, SurveySection) and not entry.body):
            yield place, entry


def _title(words: ReportWords, definition: Definition, entry: Entry) -> Text:
    if isinstance(entry, SurveySection):
        return cell_texts.quote_text(definition, entry.text)
    if isinstance(entry, Check):
        return Text(words.gettext("Check question, never sent"))
    return Text(words.gettext("Text to read"))


def _quote_entry(definition: Definition, entry: Entry) -> Iterator[Block]:
    if isinstance(entry, SurveySection):
        yield from quote_prose(definition, entry.body or "")
    else:
        yield from quote_prose(definition, entry.text)
    if isinstance(entry, Check):
        yield from quote_prose(definition, "\n".join(f"- {option.text}" for option in entry.options))
        yield from quote_prose(definition, entry.feedback)


def _facts(words: ReportWords, definition: Definition, entry: Entry, place: int) -> Iterator[Facts]:
    """Where it stands, and who was shown it."""
    _ = words.gettext
    after = (each for each in islice(definition.entries, place, None) if isinstance(each, Question))
    following = next(after, None)
    facts: list[tuple[str, Cell]] = []
    if isinstance(entry, Check):
        right = next(option.text for option in entry.options if option.name == entry.correct)
        facts.append((_("Right answer"), cell_texts.quote_text(definition, right)))
    if following is not None:
        facts.append((_("Stands before"), cell_texts.quote_question(definition, following)))
    if entry.show_if is not None:
        facts.append((_("Shown to those who answered"), describe_readers(words, definition, entry)))
    if facts:
        yield Facts(tuple(facts))
