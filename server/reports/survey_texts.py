"""A survey's own texts, whom each question was asked, and who was let in: as programs read them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from server.inputs import N_
from server.reports.admission import Admission
from server.reports.codebook import mechanism_of, parameters_of
from server.study.definitions import Definition, Question, SurveySection
from server.study.study_sheets import StudySheet

INCOMPLETE = N_(
    "Responses are missing: this survey comes from a backup that left out what was not shown yet when it was made."
)


def texts_json(definition: Definition) -> dict[str, Any]:
    """Its language, introduction and consent, and what stands among the questions, as its definition has it.

    `before` is the name of the question that follows, null at the end.
    """
    return {
        "language": definition.language,
        "introduction": definition.introduction,
        **{name: value for name, value in definition.as_json().items() if name in ("consent", "least_age")},
        "texts": [
            {**entry.as_json(), "before": following}
            for entry, following in _list_followers(definition)
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


@dataclass(frozen=True)
class QuotedText:
    """A text of the survey's own: its name (none of the introduction), its kind, its Markdown.

    `show_if` is whom it was shown, as in the definition; None where that was everybody.
    """

    name: str
    kind: str
    text: str
    show_if: Mapping[str, Any] | None


def list_texts(definition: Definition) -> Iterator[QuotedText]:
    """The introduction, what people agreed to, then what stands among the questions."""
    if definition.introduction:
        yield QuotedText("", "introduction", definition.introduction, None)
    if definition.consent:
        yield QuotedText("", "consent", definition.consent, None)
    for entry in definition.entries:
        if isinstance(entry, Question):
            continue
        text = entry.text
        if isinstance(entry, SurveySection):
            text = "\n\n".join(filter(None, (entry.text, entry.body)))
        yield QuotedText(entry.name, entry.kind, text, entry.as_json().get("show_if"))


def list_study_texts(study: StudySheet) -> Iterator[tuple[str, str]]:
    """The path of each field of a study sheet that says something, and what it says."""
    for name, value in study.as_json().items():
        if name == "authors":
            for place, author in enumerate(value):
                yield from ((f"authors[{place}].{part}", text) for part, text in author.items())
        elif isinstance(value, dict):
            yield from ((f"{name}.{code}", text) for code, text in value.items())
        elif isinstance(value, list):
            yield name, "; ".join(value)
        elif name != "public":
            yield name, str(value)


def _list_followers(definition: Definition) -> Iterator[tuple[Any, str | None]]:
    following: str | None = None
    found = []
    for entry in reversed(definition.entries):
        found.append((entry, following))
        if isinstance(entry, Question):
            following = entry.name
    yield from reversed(found)
