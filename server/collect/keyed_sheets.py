"""What somebody types of sheets of paper, or a CSV file -> the report string of each sheet; all of it, or a refusal."""

from collections.abc import Iterator, Sequence
from io import BytesIO

from server.inputs import N_, InputError, Problem, refuse, shorten_value
from server.inputs.csv_rows import check_length, read_rows, refuse_cell
from server.study.by_hand import PaperQuestion, read_key

TYPED_LIMIT = 50
"""Most sheets that are typed at once."""
FILE_LIMIT = 5_000
"""Most sheets of a file."""


def parse_typed(text: str, questions: Sequence[PaperQuestion]) -> list[bytes]:
    """A line for each sheet, a letter for each question; empty lines and spaces mean nothing.

    Raises
    ------
    InputError
        Naming every line that is wrong: which letters it may have, and what it has.
    """
    lines = [(number, "".join(line.split())) for number, line in enumerate(text.splitlines(), start=1)]
    typed = [(number, line) for number, line in lines if line]
    if not 1 <= len(typed) <= TYPED_LIMIT:
        template = N_("must have from %(low)d to %(high)d lines; it has %(length)d")
        raise refuse(422, "sheets", template, low=1, high=TYPED_LIMIT, length=len(typed))
    problems = [problem for number, line in typed for problem in _check_line(number, line, questions)]
    if problems:
        raise InputError(422, problems)
    return [_pack(line, questions) for _, line in typed]


def parse_sheets(content: bytes, questions: Sequence[PaperQuestion]) -> list[bytes]:
    """A row for each sheet, a letter in the column of each question, which has its name.

    Raises
    ------
    InputError
        Naming row and column, which letters it may have, and what it has.
    """
    names = [each.question.name for each in questions]
    rows, _separator = read_rows(BytesIO(content), names, None)
    header = next(rows)
    places = [header.index(name) for name in names]
    found = []
    for number, row in enumerate(rows, start=2):
        check_length([row], number - 1, len(header))
        if number - 1 > FILE_LIMIT:
            raise refuse(422, "data", N_("must have at most %(limit)d rows; it has more"), limit=FILE_LIMIT)
        cells = [row[place] for place in places]
        for name, cell, question in zip(names, cells, questions, strict=True):
            if read_key(question, cell) is None:
                template = N_("must be one of %(limit)s; it is %(value)s")
                raise refuse_cell(number, name, template, cell, limit=", ".join(question.keys))
        found.append(_pack(cells, questions))
    if not found:
        raise refuse(422, "data", N_("must have a row for each sheet; it has none"))
    return found


def _check_line(number: int, line: str, questions: Sequence[PaperQuestion]) -> Iterator[Problem]:
    field = f"lines[{number}]"
    if len(line) != len(questions):
        template = N_("must have %(limit)d letters, one for each question; it has %(length)d")
        yield Problem(field, template, {"limit": len(questions), "length": len(line)})
        return
    for place, (letter, question) in enumerate(zip(line, questions, strict=True), start=1):
        if read_key(question, letter) is None:
            template = N_("must have one of %(limit)s for question %(number)d; it has %(value)s")
            values = {
                "limit": ", ".join(question.keys),
                "number": place,
                "value": shorten_value(letter),
            }
            yield Problem(field, template, values)


def _pack(cells: Sequence[str], questions: Sequence[PaperQuestion]) -> bytes:
    read = (read_key(each, cell) for each, cell in zip(questions, cells, strict=True))
    return bytes(report for report in read if report is not None)
