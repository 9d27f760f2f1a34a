"""A survey as a form on paper: who asks, what is asked, how each answer is thrown, and a box for the one letter."""

import json
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any, Final

from server.output.documents import Words
from server.output.languages import split_reading
from server.output.markdown import Run, parse_markdown
from server.output.typesetting import SPOKEN, change_texts, in_a_process, is_right_to_left, replace_controls
from server.privacy.designs.throws import FACES
from server.store.models import SurveyVersion
from server.study.answer_texts import answer_text
from server.study.by_hand.answer_keys import PaperQuestion, list_paper_questions
from server.study.by_hand.throw_tables import ThrowRow
from server.study.definitions import Definition, Question, SurveySection, SurveyText, translate_definition
from server.study.study_sheets.senders import SurveySender
from server.study.surveys import definition_of

_FORM: Final = Path(__file__).with_name("paper_form.typ")


def make_paper_form(version: SurveyVersion, sender: SurveySender, reading: str = "") -> bytes:
    """The form of a published version as a PDF, in a language of respondents' pages; the survey's own without one.

    `reading` may name digits beside the language (`name_reading`). What the researcher wrote and did not translate
    stays as it is. The same data give the same bytes.

    Raises
    ------
    InputError
        409, naming each question that cannot be answered on paper and why.
    ModuleNotFoundError
        If typst is not installed.
    """
    questions = list_paper_questions(version)
    written = definition_of(version)
    words = Words(*split_reading(reading or written.language))
    definition = translate_definition(written, words.locale)
    data = _describe_form(version, definition, questions, sender, words)
    order = {"source": _FORM.read_text("utf-8"), "data": change_texts(data, replace_controls)}
    return in_a_process("server.output.typesetting", json.dumps(order).encode())


def _describe_form(
    version: SurveyVersion,
    definition: Definition,
    questions: Sequence[PaperQuestion],
    sender: SurveySender,
    words: Words,
) -> dict[str, Any]:
    _ = words.gettext
    devices = _find_devices(questions)
    lines = [part for part in (sender.name.text, sender.contact.text, sender.email) if part]
    return {
        "language": words.locale,
        "pages": words.write_digits("1 / 1"),
        "numbering": words.write_digits("1."),
        "fields": [words.write_digits(str(field)) for field in range(FACES["disc"])],
        "title": {**_quote(definition, definition.title), SPOKEN: " ".join(definition.title.split())},
        "version": _("version %(number)d, %(hash)s", number=version.number, hash=version.sha256[:8]),
        "sender": [_quote(definition, " · ".join(lines))] if lines else [],
        "introduction": _lay_out(definition, definition.introduction),
        "agree": _("Do you agree to take part?"),
        "consent": _lay_out(definition, definition.consent),
        "age": ""
        if definition.least_age is None
        else _("This survey is meant for people of {age} years or more.").replace(
            "{age}", words.integer(definition.least_age)
        ),
        "declining": _("If you would rather not take part, hand the form back empty, or not at all."),
        "headline": _call(words, "headline", definition.guesses.headline, len(questions)),
        "total": _call(words, "total", definition.guesses, len(questions)),
        "how": _("How to answer"),
        "needed": _("You need:") + " " + words.join_list([*_name_devices(words, devices)]) + ".",
        "disc": "disc" in devices,
        "steps": [
            _("Read a question and answer it in your head. Write nothing yet."),
            _("Throw as the question says, where nobody else can see it, and once only."),
            _(
                "The table says what to write for what you threw: the letter of your own answer, or another letter."
            ),
            _(
                "Write that letter into the box, and nothing else: no name, no second letter, no mark beside an answer."
            ),
            _("Keep to that throw. Choosing among several would weaken your protection."),
        ],
        "threw": _("You threw"),
        "write": _("Write"),
        "box": _("Your letter:"),
        "entries": list(_list_entries(words, definition, questions)),
    }


def _list_entries(
    words: Words, definition: Definition, questions: Sequence[PaperQuestion]
) -> Iterator[dict[str, Any]]:
    thrown = iter(questions)
    number = 0
    for entry in definition.entries:
        if isinstance(entry, Question):
            number += 1
            yield {
                "number": words.integer(number),
                **_describe_question(words, definition, entry, next(thrown)),
            }
        elif isinstance(entry, SurveySection):
            passages = _lay_out(definition, entry.body or "")
            yield {"kind": "text", "title": _quote(definition, entry.text), "passages": passages}
        elif isinstance(entry, SurveyText):
            passages = _lay_out(definition, entry.text)
            yield {"kind": "text", "title": _quote(definition, ""), "passages": passages}


def _describe_question(
    words: Words, definition: Definition, question: Question, paper: PaperQuestion
) -> dict[str, Any]:
    key = dict(zip(paper.order, paper.keys, strict=True))
    throws = paper.throws
    return {
        "kind": "question",
        "text": _quote(definition, question.text),
        "answers": [
            {"key": key[place], "text": _quote(definition, answer_text(question, place, definition.language))}
            for place in paper.order
        ],
        "throw": _say_throw(words, throws.device, throws.times),
        "rows": [_describe_row(words, row, key) for row in paper.rows],
        "kept": words.gettext(
            "In %(own)s of %(all)s throws, each as likely as the others, you write the letter of your own answer.",
            own=words.integer(throws.own),
            all=words.integer(throws.own + sum(throws.chance)),
        ),
    }


def _describe_row(words: Words, row: ThrowRow, key: dict[int, str]) -> dict[str, Any]:
    _ = words.gettext
    called = {0: _("heads"), 1: _("tails"), None: _("either")}
    names = {0: "heads", 1: "tails", None: "any"}
    span = ""
    if row.span is not None:
        first, last = map(words.write_digits, row.span)
        span = (
            first if first == last else _("{low} to {high}").replace("{low}", first).replace("{high}", last)
        )
    return {
        "coins": [[{"face": names[face], "word": called[face]} for face in line] for line in row.coins],
        "span": span,
        "key": "" if row.answer is None else key[row.answer],
        "record": _("the letter of your own answer"),
    }


def _say_throw(words: Words, device: str, times: int) -> str:
    _ = words.gettext
    number = words.integer(times)
    if device == "coin":
        if times == 1:
            return _("Throw one coin.")
        return _("Throw {times} coins, one after the other. Remember which came first.").replace(
            "{times}", number
        )
    if device == "die":
        if times == 1:
            return _("Throw the die once.")
        text = _("Throw the die {times} times. Set the numbers side by side: a 3 and then a 5 make 35.")
        return text.replace("{times}", number)
    if times == 1:
        return _("Spin the clip once. What counts is the field where the tip stops.")
    text = _("Spin the clip {times} times. Set the numbers side by side: a 3 and then a 5 make 35.")
    return text.replace("{times}", number)


def _find_devices(questions: Sequence[PaperQuestion]) -> dict[str, int]:
    """What somebody needs, with the most throws for a question."""
    found: dict[str, int] = {}
    for paper in questions:
        found[paper.throws.device] = max(paper.throws.times, found.get(paper.throws.device, 0))
    return found


def _name_devices(words: Words, devices: dict[str, int]) -> Iterator[str]:
    if "coin" in devices:
        number = devices["coin"]
        yield words.ngettext("%(number)s coin", "%(number)s coins", number, number=number)
    if "die" in devices:
        yield words.gettext("a die")
    if "disc" in devices:
        yield words.gettext("the disc on this form, with a paper clip to spin on the tip of a pencil")


def _call(words: Words, macro: str, *values: object) -> str:
    """What respondents' pages say of all answers together: no text in it is anybody's own."""
    module: Any = words.environment.get_template("_headline.html").module
    return words.write_digits(unescape(str(getattr(module, macro)(*values))).strip())


def _quote(definition: Definition, text: str) -> dict[str, Any]:
    return {"text": text, "language": definition.language, "rtl": is_right_to_left(text)}


def _lay_out(definition: Definition, text: str) -> list[dict[str, Any]]:
    return [
        {
            "items": passage.items,
            "language": definition.language,
            "rtl": is_right_to_left(passage.text),
            "lines": [[_lay_out_run(run) for run in line] for line in passage.lines],
        }
        for passage in parse_markdown(text)
    ]


def _lay_out_run(run: Run) -> dict[str, Any]:
    return {
        "text": run.text,
        "strong": run.strong,
        "emphasis": run.emphasis,
        "after": run.plain_text[len(run.text) :],
    }
