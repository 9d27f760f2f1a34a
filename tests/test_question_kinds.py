"""The registry of kinds: the schema knows the same ones, and nothing else tests which kind a question is."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from server.inputs.schema import schema
from server.releases.claims.question_cases import list_mechanisms
from server.simulation import Assumptions, draw_people
from server.study import editing
from server.study.answer_texts import answer_text
from server.study.definitions import Question
from server.study.definitions.definition_reader import parse_definition
from server.study.kinds import KINDS, Encoding, Kind
from server.study.kinds.designing import DEVICES
from server.web.page_parts import parts_of
from server.web.respondent_modules import EXTRAS

ROOT = Path(__file__).parent.parent
NAMED = re.compile(
    r"\b(kind|encoding)[\"'\]]*\s*(==|!=|not in|in)\s.*[\"']" + f"({'|'.join([*KINDS, *Encoding])})[\"']"
)
"""A test for a kind or an encoding by its name."""
APART = ("server/study/kinds/", "server/study/xlsform/", "server/reports/microdata/scripts/")
"""The kinds themselves, types of another format that share some names, and a script that leaves the house alone."""


def designs() -> Iterator[tuple[Kind, str]]:
    return ((KINDS[kind], mechanism) for kind, mechanism in list_mechanisms() if mechanism not in DEVICES)


def ask(kind: Kind, mechanism: str) -> Question:
    entry: dict[str, Any] = {"name": "q", "kind": kind.name, "text": "Asked?", **kind.example}
    strength = {"gamma": 0.25} if mechanism in kind.by_gamma else {"epsilon": 1}
    entry["design"] = {"mechanism": mechanism, **strength}
    if mechanism in kind.refusal_only:
        entry["prefer_not_to_say"] = True
    document = {"format": 1, "language": "en", "title": "T", "introduction": "", "questions": [entry]}
    return parse_definition(document).questions[0]


def test_schema_and_registry_know_the_same_kinds() -> None:
    stated = schema()["properties"]["questions"]["items"]["properties"]["kind"]["enum"]
    assert (
        [*KINDS, *editing.NOT_SENT]
        == stated
        == [entry["if"]["properties"]["kind"]["const"] for entry in rules()]
    )


def rules() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = schema()["properties"]["questions"]["items"]["allOf"]
    return found


@pytest.mark.parametrize(("kind", "mechanism"), [*designs()], ids=lambda value: getattr(value, "name", value))
def test_a_kind_says_all_that_is_asked_of_it(kind: Kind, mechanism: str) -> None:
    question = ask(kind, mechanism)
    for answer in question.traits.list_answers(question):
        assert len(question.truths(answer)) == len(question.designs) == len(question.columns)
    with pytest.raises(ValueError, match="answer to q must be"):
        question.truths("none of them")
    texts = [answer_text(question, place, "en") for place in range(len(question.answers))]
    assert len(set(texts)) == len(texts)
    assert all(texts)
    assert question.traits.list_estimands(question)
    assert len(question.designs) <= kind.most_bytes(question.as_json())


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_made_up_people_answer_every_kind(kind: Kind) -> None:
    question = ask(kind, next(mechanism for known, mechanism in designs() if known is kind))
    document = {"format": 1, "language": "en", "title": "T", "introduction": ""}
    definition = parse_definition({**document, "questions": [question.as_json()]})
    people = draw_people(definition, 200, Assumptions())
    assert people.reports().shape == (200, len(question.designs))
    assert all(0 <= share <= 1 for share in people.find_entered()["q"].shares)
    assert (people.find_entered()["q"].mean is None) == (question.ends is None)
    assert np.unique(people.reports()).size > 1


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_a_page_holds_the_parts_that_its_kind_names(kind: Kind) -> None:
    question = ask(kind, next(mechanism for known, mechanism in designs() if known is kind))
    document = {
        "format": 1,
        "language": "en",
        "title": "T",
        "introduction": "",
        "questions": [question.as_json()],
    }
    parts = parts_of(parse_definition(document).to_canonical())
    modules = {part for part in kind.page_parts if part.endswith(".js")}
    assert modules <= {module for module, _ in EXTRAS}
    assert modules <= set(parts.modules)
    texts = "".join(path.read_text("utf-8") for path in (ROOT / "templates/respond").glob("_*.html"))
    assert all(f'"{part}" in parts' in texts for part in kind.page_parts - modules)


def test_nothing_else_tests_which_kind_a_question_is() -> None:
    files = [*(ROOT / "server").rglob("*.py"), *(ROOT / "templates").rglob("*.html")]
    assert len(files) > 400
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in files
        if not str(path.relative_to(ROOT)).startswith(APART)
        for line in path.read_text("utf-8").splitlines()
        if NAMED.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        'if question.kind == "scale":',
        'return question.encoding in ("one_hot", "boxes")',
        """{% elif entry.kind in ("number", "binned_number") %}""",
        "if entry['kind'] != 'yes_no':",
    ],
)
def test_a_test_for_a_kind_is_found(line: str) -> None:
    assert NAMED.search(line)
