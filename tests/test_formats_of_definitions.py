"""Both formats of definitions: 1 keeps its hash and its meaning for ever, 2 states what a researcher chose itself."""

import json
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from server.inputs import InputError
from server.inputs.definition_forms import form_fields, parse_form
from server.privacy.designs import coin_flip
from server.study import editing
from server.study.definitions import version_of
from server.study.definitions.definition_reader import parse_definition
from server.study.definitions.published_reader import parse_published
from tests.support import editor_form, factories, sample_archives, strategies

FOLDER = Path(__file__).parent / "vectors" / "format1"
VECTORS = [
    pytest.param(vector, id=f"{path.stem}-{place}")
    for path in sorted(FOLDER.glob("*.json"))
    for place, vector in enumerate(json.loads(path.read_text("utf-8"))["definitions"])
]
POSITIONS = [place / 100 for place in range(1, 50)]
Document = dict[str, Any]


def edit_document(document: Document, changes: Document | None = None, **controls: Any) -> Document:
    """What the editor keeps of a document's form, sent as it is but for some changes and controls."""
    typed = parse_form(
        (name, text)
        for name, texts in form_fields({**document, **(changes or {})}).items()
        for text in (["", *texts] if isinstance(texts, list) else [texts])
    )
    return editing.settle_document(typed, document, **{"equal": editing.equal_division(document), **controls})


def after(document: Document, *actions: str) -> Document:
    """The document after some of the editor's buttons."""
    for action in actions:
        document = editing.carry_out_action(document, action).document
    return document


def questions(count: int, **more: Any) -> Document:
    """So many yes/no questions that state no strength."""
    asked = {"kind": "yes_no", "text": "?", "design": {"mechanism": "coin_flip"}}
    made = factories.definition(questions=[{"name": f"q{place}", **asked} for place in range(count)])
    return {**made, "format": 2, **more}


# Format 1


@pytest.mark.parametrize("vector", VECTORS)
def test_a_definition_of_format_1_keeps_its_hash(vector: Document) -> None:
    definition = parse_definition(vector["definition"])
    published = definition.to_canonical()

    assert (version_of(published), definition.epsilon) == (vector["sha256"], vector["epsilon"])
    assert definition.as_json() == edit_document(vector["definition"]) == vector["definition"]
    assert parse_published(json.loads(published)).to_canonical() == published


def test_the_vectors_would_tell_another_hash() -> None:
    """A broken twin: the same in format 2 means the same, and nothing of it has the hash."""
    for vector in (parameters.values[0] for parameters in VECTORS):
        now = parse_definition({**vector["definition"], "format": 2})
        assert (version_of(now.to_canonical()) == vector["sha256"], now.epsilon) == (False, vector["epsilon"])


@given(strategies.documents().filter(lambda document: "strength" not in document))
def test_what_both_formats_can_state_means_the_same_in_both(document: Document) -> None:
    first, second = (
        json.loads(parse_definition({**document, "format": known}).to_canonical()) for known in (1, 2)
    )

    assert (first.pop("format"), second.pop("format")) == (1, 2)
    assert first == second


def test_an_archive_of_format_1_is_imported_as_it_was_written(
    signed_in: FlaskClient, database_url: str
) -> None:
    """Written by the code of the time when format 1 was the only one."""
    packed = (FOLDER / "archive.zip").read_bytes()
    before = sample_archives.entries(packed)

    answer = sample_archives.send(signed_in, packed)

    assert answer.status_code == 201
    slug = answer.text.partition('<a class="button primary" href="/manage/surveys/')[2].partition('"')[0]
    entries = sample_archives.entries(sample_archives.export(signed_in, slug))
    kept = ["draft.json", *(f"versions/{number}/{name}" for number in (1, 2) for name in KEPT)]
    assert {name: entries[name] for name in kept} == {name: before[name] for name in kept}
    # The codebook has had columns added at its end since.
    for number in (1, 2):
        now, then = (each[f"versions/{number}/codebook.csv"].splitlines() for each in (entries, before))
        assert all(new.startswith(old) for new, old in zip(now, then, strict=True))
    assert signed_in.get(f"/manage/surveys/{slug}/results").status_code == 200


KEPT = ("published.json", "responses.csv")


def test_a_draft_of_format_1_becomes_format_2_when_a_strength_is_chosen_and_not_before() -> None:
    old = questions(3, format=1, budget=6)

    for changed in (
        edit_document(old, gamma=0.38),
        edit_document(old, {"title": "Other"}),
        after(old, "up-1"),
    ):
        assert (changed["format"], changed["budget"], "strength" in changed) == (1, 6, False)
    for changed, strength in (
        (edit_document(old, gamma=0.3), {"gamma": 0.3}),
        (after(old, "add"), {"epsilon": 2}),
        (after(old, "delete-0"), {"epsilon": 2}),
    ):
        assert (changed["format"], changed["strength"], "budget" in changed) == (2, strength, False)


def test_format_1_knows_no_strength_and_a_strength_no_budget() -> None:
    for document, field in (
        (questions(1, format=1, strength={"gamma": 0.25}), "format"),
        (questions(1, budget=2, strength={"gamma": 0.25}), "budget"),
        (questions(1, strength={"gamma": 0.25, "epsilon": 1}), "strength.gamma"),
        (questions(1, strength={}), "strength.gamma"),
        (questions(1, strength={"gamma": 0.5}), "strength.gamma"),
        (questions(1, strength={"epsilon": 0}), "strength.epsilon"),
        (questions(1, format=3), "format"),
    ):
        with pytest.raises(InputError) as refused:
            parse_definition(document)
        assert [problem.field for problem in refused.value.problems] == [field]


# The slider


@pytest.mark.parametrize("gamma", POSITIONS)
def test_the_slider_comes_back_exactly_as_it_was_put(gamma: float) -> None:
    """At each of its positions, from 1 to 60 questions and back to 1; as a form with as many as its place, and 60."""
    document = edit_document(questions(1, strength={"gamma": 0.25 if gamma != 0.25 else 0.26}), gamma=gamma)
    for count in [*range(1, 61), *range(59, 0, -1)]:
        if count != len(document["questions"]):
            document = after(document, "add" if count > len(document["questions"]) else "delete-0")
        assert (len(document["questions"]), document["strength"]) == (count, {"gamma": gamma})
        if count in (60, POSITIONS.index(gamma) + 1):
            assert edit_document(document) == document
            assert editing.place_slider(editing.spending(document).strength) == gamma


@given(st.one_of(st.sampled_from(POSITIONS), st.floats(0.001, 0.499)))
def test_a_strength_is_the_coin_flip_that_it_names(gamma: float) -> None:
    made = parse_definition(questions(2, strength={"gamma": gamma}))

    assert made.designs == (coin_flip(gamma),) * 2
    assert made.as_json()["strength"] == {"gamma": gamma}


@given(st.one_of(st.sampled_from(POSITIONS), st.floats(0.01, 0.49)), st.integers(1, 6))
def test_by_hand_and_back_is_the_same_strength(gamma: float, count: int) -> None:
    document = questions(count, strength={"gamma": gamma})
    document["questions"][-1] |= {"prefer_not_to_say": True, "design": {"mechanism": "k_ary"}}

    by_hand = edit_document(document, equal=False)

    assert parse_definition(by_hand).designs == parse_definition(document).designs
    assert edit_document(by_hand, equal=True) == (
        document if count > 1 else {**document, "strength": {"epsilon": coin_flip(gamma).epsilon}}
    )


@given(st.floats(0.01, 6), st.integers(1, 6))
def test_a_typed_budget_divided_by_hand_gives_the_same_coins(share: float, count: int) -> None:
    document = questions(count, budget=share * count)

    by_hand = edit_document(document, equal=False)

    assert parse_definition(by_hand).designs == parse_definition(document).designs


def test_a_question_that_becomes_another_kind_and_back_has_the_gamma_that_was_typed() -> None:
    for gamma in POSITIONS:
        before = factories.definition([gamma])
        other = edit_document(before, _as_kind(before, "select_one"))
        assert other["questions"][0]["design"]["epsilon"] == coin_flip(gamma).epsilon
        assert edit_document(other, _as_kind(other, "yes_no"))["questions"][0]["design"] == {
            "mechanism": "coin_flip",
            "gamma": gamma,
        }


def _as_kind(document: Document, kind: str) -> Document:
    return {"questions": [{**document["questions"][0], "kind": kind}]}


# The field of the budget


def test_the_budget_shows_what_the_strength_makes_and_takes_its_place_when_it_is_typed(
    signed_in: FlaskClient, database_url: str
) -> None:
    editor = editor_form.edit(
        signed_in, factories.draft(database_url, questions(3, strength={"gamma": 0.25}))
    )
    assert (editor["budget"], editor["slider"]) == ("3.2959", "0.25")  # 3 ln 3 = 3.29583...

    editor.type(budget="6").press("keep")
    assert (editor.document["budget"], "strength" in editor.document) == (6, False)
    assert (editor["budget"], editor["slider"]) == ("6", "0.38")  # tanh(2 / 2) / 2 = 0.3807...

    editor.press("add")
    assert (editor["budget"], editor["slider"]) == ("8", "0.38")
    assert (editor.document["strength"], "budget" in editor.document) == ({"epsilon": 2}, False)

    editor.type(slider="0.3").press("keep")
    assert editor.document["strength"] == {"gamma": 0.3}
    assert editor["budget"] == "5.5452"  # 4 ln 4 = 5.54517...

    editor.type(budget="").press("save")
    assert not {"budget", "strength"} & editor.document.keys()
