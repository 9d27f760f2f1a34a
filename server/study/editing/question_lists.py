"""A list of questions as text: one a line, the answers of each indented or after a dash below it."""

import re
from dataclasses import dataclass, replace

from server.inputs import N_, InputError, Problem, refuse, schema_limit
from server.inputs.decoding import check_text
from server.output.languages import LANGUAGES
from server.study.answer_texts import word_answer
from server.study.definitions import same_wording
from server.study.kinds import FIRST_KIND, KINDS, PREFER_NOT_TO_SAY

LONGEST_LIST = 100_000
"""Letters of a list; far beyond as many questions as a survey can have."""

_LONGEST_WORDING, _LONGEST_ANSWER, _MOST_ANSWERS = 500, 200, 50
_BULLET = r"(?:[-–—•*·▪◦○☐□]|\[ \]|\( \))"
_ANSWER = re.compile(rf"(?:\s+|(?={_BULLET}\s)|(?=[-–—•][^\W\d]))(?:{_BULLET}\s*)?(?P<text>.*)")
_NUMBERED = re.compile(r"\(?(?:\d{1,3}|[A-Za-z])[.)]\s+(?=\S)")
_CHOICE = next(
    kind.name for kind in KINDS.values() if kind.has_options and not kind.several and not kind.levels
)


@dataclass(frozen=True)
class ListedQuestion:
    """A question of a list: the number of its line, its wording, its answers; none of them where it asks yes or no."""

    line: int
    text: str
    answers: tuple[str, ...] = ()
    refusal: bool = False

    @property
    def kind(self) -> str:
        return _CHOICE if self.answers else FIRST_KIND


def read_list(text: str, room: int) -> tuple[ListedQuestion, ...]:
    """The questions of a list; the survey has room for so many.

    Numbers and letters before a line ("3.", "b)") are left out, and what has a letter below a question with a number
    is its answer, as are the further cells of a row of a spreadsheet. "Prefer not to say" becomes the answer that every
    question can offer, and a question whose other answers are Yes and No is one that asks that.

    Raises
    ------
    InputError
        Naming every line that is wrong, by `lines[number]`, or `list` for all of them.
    """
    check_text(text, "list")
    if len(text) > LONGEST_LIST:
        template = N_("must have at most %(limit)s characters; it has %(length)s")
        raise refuse(422, "list", template, limit=LONGEST_LIST, length=len(text))
    listed: list[ListedQuestion] = []
    problems: list[Problem] = []
    counted = False  # whether the question above has a number, so that what has a letter is its answer
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if not line.strip():
            continue
        found = _ANSWER.fullmatch(line)
        mark, words = _split_mark((found["text"] if found else line).strip())
        answer = found is not None or (counted and mark.strip("(")[:1].isalpha())
        cells = [words] if answer else words.split("\t")
        first, *others = (" ".join(cell.split()) for cell in cells if cell.strip() or answer)
        limits = [(first, _LONGEST_ANSWER if answer else _LONGEST_WORDING)]
        limits += [(other, _LONGEST_ANSWER) for other in others]
        wrong = next(((len(text), most) for text, most in limits if not 1 <= len(text) <= most), None)
        if answer and not listed:
            problems.append(_problem(number, N_("is an answer, and no question stands above it")))
        elif wrong is not None:
            template = N_("must have 1 to %(limit)s characters; it has %(length)s")
            problems.append(_problem(number, template, limit=wrong[1], length=wrong[0]))
        elif answer:
            listed[-1] = replace(listed[-1], answers=(*listed[-1].answers, first))
        else:
            listed.append(ListedQuestion(number, first, tuple(others)))
            counted = mark.strip("(")[:1].isdecimal()
    problems += [problem for question in listed for problem in _check_answers(question)]
    if problems:
        raise InputError(422, sorted(problems, key=lambda problem: int(problem.field[6:-1])))
    if not room:
        raise refuse(422, "list", N_("cannot be taken: the survey has as many questions as it can have"))
    if not 1 <= len(listed) <= room:
        template = N_("must hold 1 to %(limit)s questions; it holds %(length)s")
        raise refuse(422, "list", template, limit=room, length=len(listed))
    return tuple(map(_recognise, listed))


def _split_mark(words: str) -> tuple[str, str]:
    """The number or letter that a line begins with, and what follows."""
    mark = _NUMBERED.match(words)
    return (mark[0], words[mark.end() :]) if mark else ("", words)


def list_room(entries: int) -> int:
    """How many questions a survey takes that has so many entries."""
    return max(schema_limit("properties", "questions", "maxItems") - entries, 0)


def _check_answers(question: ListedQuestion) -> list[Problem]:
    answers = question.answers
    if answers and not 2 <= len(answers) <= _MOST_ANSWERS:
        template = N_("must have no answers below it, or 2 to %(limit)s; it has %(length)s")
        return [_problem(question.line, template, limit=_MOST_ANSWERS, length=len(answers))]
    if len({same_wording(answer) for answer in answers}) < len(answers):
        return [_problem(question.line, N_("has the same answer twice below it"))]
    return []


def _recognise(question: ListedQuestion) -> ListedQuestion:
    """The same with the answers that the software words: in their own kind, or offered beside the others."""
    refusals = {_word(PREFER_NOT_TO_SAY, language) for language in LANGUAGES}
    answers = tuple(answer for answer in question.answers if same_wording(answer) not in refusals)
    refusal = len(answers) < len(question.answers)
    if any({same_wording(answer) for answer in answers} == _list_fixed(language) for language in LANGUAGES):
        answers = ()
    elif len(answers) < 2:
        return question
    return replace(question, answers=answers, refusal=refusal)


def _list_fixed(language: str) -> set[str]:
    return {_word(answer, language) for answer in KINDS[FIRST_KIND].fixed}


def _word(answer: str, language: str) -> str:
    return same_wording(word_answer(answer, language))


def _problem(line: int, template: str, **values: object) -> Problem:
    return Problem(f"lines[{line}]", template, values)
