"""A survey's own texts, whom each question was asked, and who was let in: as programs read them."""

from collections.abc import Iterator, Sequence
from typing import Any

from server.reports.admission import Admission
from server.reports.codebook import mechanism_of, parameters_of
from server.study.definitions import Definition, Question, SurveySection


def texts_json(definition: Definition) -> dict[str, Any]:
    """Its language, its introduction, and what stands among the questions, as its definition has it.

    `before` is the name of the question that follows, null at the end.
    """
    return {
        "language": definition.language,
        "introduction": definition.introduction,
        "texts": [
            {**entry.as_json(), "before": following}
            for entry, following in _followed(definition)
            if not isinstance(entry, Question)
        ],
    }


def routing_json(question: Question) -> dict[str, Any]:
    """Whom a question was shown, what stands for all others, and how its answers were randomised."""
    document = question.as_json()
    return {
        "show_if": document.get("show_if"),
        "otherwise": document.get("otherwise"),
        "mechanism": mechanism_of(question),
        "parameters": parameters_of(question),
    }


def admissions_json(admissions: Sequence[Admission]) -> list[dict[str, Any]]:
    """Who was let in, version by version; `strata` is null where it is about every link."""
    return [
        {
            "version": each.version,
            "strata": None if each.strata is None else list(each.strata),
            "ways": list(each.ways),
            "known": each.known,
        }
        for each in admissions
    ]


def text_rows(definition: Definition) -> Iterator[tuple[str, str, str]]:
    """Name, kind and Markdown of each text: the introduction, then what stands among the questions."""
    if definition.introduction:
        yield "", "introduction", definition.introduction
    for entry in definition.entries:
        if isinstance(entry, SurveySection):
            yield entry.name, entry.kind, "\n\n".join(filter(None, (entry.text, entry.body)))
        elif not isinstance(entry, Question):
            yield entry.name, entry.kind, entry.text


def _followed(definition: Definition) -> Iterator[tuple[Any, str | None]]:
    following: str | None = None
    found = []
    for entry in reversed(definition.entries):
        found.append((entry, following))
        if isinstance(entry, Question):
            following = entry.name
    yield from reversed(found)
