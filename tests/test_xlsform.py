"""XLSForm workbooks: what is taken of them, and how."""

from typing import Any

import pytest

from server.study.xlsform import parse_xlsform
from tests.support import sample_xlsforms
from tests.support.sample_xlsforms import (
    PLAIN_CHOICES,
    YES_NO,
    entries,
    expect_refusal,
    form,
    parse_rows,
    why,
)


def test_a_kobo_form_in_its_own_language() -> None:
    imported = parse_xlsform(sample_xlsforms.kobo())

    definition = imported.definition
    assert (definition.language, definition.title) == ("es", "Tabaco y salud")
    assert [(entry["name"], entry["kind"], entry["text"]) for entry in entries(imported)] == [
        ("welcome", "text", "Gracias por **participar**."),
        ("tobacco", "section", "Tabaco"),
        ("smokes", "yes_no", "¿Fumas?"),
        ("how_often", "select_one", "¿Con qué frecuencia fumas?"),
        ("cigarettes", "number", "¿Cuántos cigarrillos al día?"),
        ("help", "select_multiple", "¿Qué te ayudó?"),
        ("wish", "number", "¿Cuánto deseas dejarlo?"),
    ]
    how_often = entries(imported)[3]
    assert how_often["show_if"] == {"question": "smokes", "any_of": ["yes"]}
    assert how_often["otherwise"] == "na"
    assert [option["text"] for option in how_often["options"]] == ["Cada día", "Menos a menudo", "No aplica"]
    assert entries(imported)[4] | {"low": 0, "high": 100, "step": 1} == entries(imported)[4]


def test_a_kobo_form_in_the_language_that_was_chosen() -> None:
    imported = parse_xlsform(sample_xlsforms.kobo(), "en")

    assert imported.definition.language == "en"
    assert entries(imported)[2]["text"] == "Do you smoke?"
    # The other labels are translations, each of the text that it stands beside.
    spanish = imported.definition.translations["es"]
    assert list(imported.definition.translations) == ["es"]
    assert spanish["Do you smoke?"] == "¿Fumas?"
    assert spanish["Thank you for **taking part**."] == "Gracias por **participar**."
    assert "Cada día" in spanish.values()
    assert "Anything else?" not in spanish  # which was not taken


def test_everything_else_is_listed_with_its_place() -> None:
    listed = parse_xlsform(sample_xlsforms.kobo()).not_taken

    places = {(note.sheet, note.places, note.column, note.value) for note in listed}
    assert {
        ("survey", "2", "type", "start"),
        ("survey", "3", "type", "end"),
        ("survey", "4", "type", "today"),
        ("survey", "5", "type", "deviceid"),
        ("survey", "8", "hint::Español (es)", "Cualquier tabaco"),
        ("survey", "8–10, 12", "required", "yes"),
        ("survey", "9", "appearance", "minimal"),
        ("survey", "10", "constraint_message::English (en)", "From 0 to 100"),
        ("survey", "14", "type", "decimal"),
        ("survey", "15", "type", "text"),
        ("survey", "16", "type", "geopoint"),
        ("survey", "17", "type", "calculate"),
        ("settings", "", "form_id", "form_id"),
    } <= places
    assert all(note.message for note in listed)


def test_each_question_gets_two_fair_coins() -> None:
    imported = parse_xlsform(sample_xlsforms.kobo())

    document = imported.definition.as_json()
    assert (document["format"], document["strength"], "budget" in document) == (2, {"gamma": 0.25}, False)
    designs = [entry["design"] for entry in document["questions"] if "design" in entry]
    assert all(list(design) == ["mechanism"] for design in designs)
    assert imported.definition.questions[0].designs[0].weights.tolist() == [
        [3 << 30, 1 << 30],
        [1 << 30, 3 << 30],
    ]


@pytest.mark.parametrize(
    "written",
    [
        "select_one color",
        "Select_One color",
        "select one color",
        "select one from color",
        "SELECT_ONE  color ",
        "select_one\u00a0color",
        "select1 color",
        "select_one Color",
    ],
)
def test_a_type_is_known_however_it_is_written(written: str) -> None:
    (entry,) = entries(parse_rows([written, "q", "Which?"]))

    assert entry["kind"] == "select_one"
    assert [option["name"] for option in entry["options"]] == ["red", "green", "na"]


@pytest.mark.parametrize(
    "written", ["select_multiple color", "Select Multiple from color", "select all that apply color"]
)
def test_several_answers(written: str) -> None:
    (entry,) = entries(parse_rows([written, "q", "Which?"]))

    assert (entry["kind"], entry["design"]) == ("select_multiple", {"mechanism": "coin_flip"})


@pytest.mark.parametrize(
    ("names", "labels", "kind"),
    [
        (("yes", "no"), ("Yes", "No"), "yes_no"),
        ((1, 0), ("Sí", "No"), "yes_no"),
        (("n", "y"), ("No.", " YES "), "yes_no"),
        (("yes", "no"), ("Yes, often", "No, never"), "select_one"),
        (("1", "0"), ("Male", "Female"), "select_one"),
    ],
)
def test_yes_and_no_are_told_by_what_they_say(
    names: tuple[Any, Any], labels: tuple[str, str], kind: str
) -> None:
    choices = [["list_name", "name", "label"], *(["l", *pair] for pair in zip(names, labels, strict=True))]

    (entry,) = entries(parse_rows(["select_one l", "q", "Really?"], choices=choices))

    assert entry["kind"] == kind


def test_conditions_find_yes_and_no_under_their_old_names() -> None:
    choices = [["list_name", "name", "label"], ["l", 1, "Sí"], ["l", 0, "No"], *PLAIN_CHOICES[1:]]

    imported = parse_rows(
        ["select_one l", "first", "Really?"],
        ["select_one color", "second", "Which?", "${first} = 1"],
        choices=choices,
    )

    assert entries(imported)[1]["show_if"] == {"question": "first", "any_of": ["yes"]}


def test_prefer_not_to_say_is_our_own_answer() -> None:
    pns = ["yn", "99", "Prefer not to say"]

    yes_no, one, several = entries(
        parse_rows(
            ["select_one yn", "a", "A?"],
            ["select_one color", "b", "B?"],
            ["select_multiple color", "c", "C?"],
            choices=[*PLAIN_CHOICES, pns, ["color", "ref", "Prefiero no contestar."]],
        )
    )

    assert (yes_no["kind"], yes_no["design"]) == ("yes_no", {"mechanism": "k_ary"})
    assert all(entry["prefer_not_to_say"] is True for entry in (yes_no, one, several))
    assert len(one["options"]) == len(several["options"]) == 3


@pytest.mark.parametrize(
    ("kind", "constraint", "grid"),
    [
        ("integer", ". >= 0 and . <= 100", (0, 100, 1)),
        ("integer", ".>=0 and .<=100", (0, 100, 1)),
        ("Integer", ".>0 AND .<10", (1, 9, 1)),
        ("int", "(. >= 18) and (. <= 99)", (18, 99, 1)),
        ("integer", "(.>=18)and(.<=99)", (18, 99, 1)),
        ("integer", "0 <= . and 10 >= .", (0, 10, 1)),
        ("integer", ". ≥ -5 and . ≤ 5", (-5, 5, 1)),
        ("integer", ". >= 0.5 and . < 9.5 and . < 8", (1, 7, 1)),
        ("decimal", ". >= 0 and . <= 24", (0, 24, 0.01)),
        ("decimal", ". > 0 and . < 1", (0.01, 0.99, 0.01)),
        ("decimal", ". >= 0.125 and . <= 0.5", (0.125, 0.5, 0.001)),
        ("decimal", ". >= 0 and . <= 100000", (0, 100000, 0.1)),
    ],
)
def test_a_number_between_bounds(kind: str, constraint: str, grid: tuple[float, float, float]) -> None:
    (entry,) = entries(parse_rows([kind, "q", "How much?", None, constraint]))

    assert (entry["low"], entry["high"], entry["step"]) == grid
    assert (entry["kind"], entry["design"]) == ("number", {"mechanism": "stochastic_rounding"})


@pytest.mark.parametrize(
    ("kind", "constraint", "reason"),
    [
        ("integer", None, "a lowest and a highest number are needed"),
        ("integer", ". < 10", "a lowest and a highest number are needed"),
        ("decimal", ".>=0", "a lowest and a highest number are needed"),
        ("integer", ". >= 0 and . <= ${age}", "only a constraint such as"),
        ("integer", "regex(., '^[0-9]{2}$')", "only a constraint such as"),
        ("integer", ". >= 0 or . <= 9", "only a constraint such as"),
        ("integer", ". >= 10 and . <= 1", "the lowest number must be below the highest"),
        ("integer", ". = 7", "a lowest and a highest"),
        ("integer", ". >= 0 and . <= 99999999999", "a number may have at most 1048576 steps"),
        ("decimal", ". >= 0.000001 and . <= 1000", "a number may have at most 1048576 steps"),
    ],
)
def test_a_number_without_usable_bounds_is_not_taken(kind: str, constraint: str | None, reason: str) -> None:
    imported = parse_rows(["select_one yn", "a", "A?"], [kind, "q", "How much?", None, constraint])

    assert len(entries(imported)) == 1
    if constraint != ". = 7":
        assert why(imported, constraint or kind).startswith(reason)
    else:
        assert any(note.value == constraint for note in imported.not_taken)


@pytest.mark.parametrize(
    ("parameters", "grid"),
    [
        ("start=0 end=10 step=1", (0, 10, 1)),
        ("start=0; end=100; step=5", (0, 100, 5)),
        ("start = 1 , end = 3 , step = 0.5", (1, 3, 0.5)),
        ("end=7", (1, 7, 1)),
        (None, (1, 10, 1)),
    ],
)
def test_a_range(parameters: str | None, grid: tuple[float, float, float]) -> None:
    (entry,) = entries(parse_rows(["range", "q", "How much?", None, None, parameters]))

    assert (entry["kind"], entry["low"], entry["high"], entry["step"]) == ("number", *grid)


@pytest.mark.parametrize(
    "parameters", ["start=0 end=10 step=3", "start=10 end=0", "start=a end=5", "step=0", "step=-1"]
)
def test_a_range_that_does_not_come_out_even_is_not_taken(parameters: str) -> None:
    imported = parse_rows(["select_one yn", "a", "A?"], ["range", "q", "How much?", None, None, parameters])

    assert len(entries(imported)) == 1
    assert why(imported, parameters)


def test_a_likert_appearance_is_an_ordered_scale() -> None:
    levels = [["l", f"v{k}", f"Level {k}"] for k in range(1, 6)]

    (entry,) = entries(
        parse_rows(
            ["select_one l", "q", "How much?", None, None, None, "likert"],
            choices=[["list_name", "name", "label"], *levels],
        )
    )

    assert (entry["kind"], entry["design"]) == ("scale", {"mechanism": "k_ary"})


def test_groups_become_sections_and_end_nowhere_in_particular() -> None:
    imported = parse_rows(
        ["begin group", "g", "Work\n and home"],
        ["begin_group", "inner"],
        ["select_one yn", "a", "A?"],
        ["end group"],
        ["end_group"],
        ["end_group"],
    )

    assert [(entry["kind"], entry["text"]) for entry in entries(imported)] == [
        ("section", "Work and home"),
        ("yes_no", "A?"),
    ]
    assert (
        why(imported, "begin_group") == "the group has no label; its questions were taken without a heading"
    )
    assert why(imported, "end_group") == "no group is open here"


def test_a_heading_too_long_for_a_section_is_a_text() -> None:
    imported = parse_rows(["begin_group", "g", "word " * 60], ["select_one yn", "a", "A?"], ["end_group"])

    assert entries(imported)[0]["kind"] == "text"


@pytest.mark.parametrize(
    ("relevant", "condition"),
    [
        ("${color} = 'red'", {"any_of": ["red"]}),
        ('${color}="red"', {"any_of": ["red"]}),
        ("selected(${color}, 'green')", {"any_of": ["green"]}),
        ("Selected( ${ color } , 'green' )", {"any_of": ["green"]}),
        ("${color} = 'green' or ${color} = 'red'", {"any_of": ["red", "green"]}),
        ("${color} != 'na'", {"any_of": ["red", "green"]}),
        ("not(selected(${color}, 'na'))", {"any_of": ["red", "green"]}),
        ("(${color} = 'red')", {"any_of": ["red"]}),
        ("selected(${several}, 'red')", {"question": "several", "any_of": ["red"]}),
        ("${number} > 3", {"question": "number", "from": 4, "to": 10}),
        ("${number} >= 3 and ${number} < 5", {"question": "number", "from": 3, "to": 4}),
        ("${number} = 7", {"question": "number", "from": 7, "to": 7}),
        ("${number} < 2.5", {"question": "number", "from": 0, "to": 2}),
    ],
)
def test_simple_conditions(relevant: str, condition: dict[str, Any]) -> None:
    imported = parse_rows(
        ["select_one color", "color", "Which?"],
        ["select_multiple color", "several", "Which?"],
        ["range", "number", "How many?", None, None, "start=0 end=10"],
        ["select_one color", "q", "And?", relevant],
    )

    assert entries(imported)[3]["show_if"] == {"question": "color", **condition}
    assert entries(imported)[3]["otherwise"] == "na"


@pytest.mark.parametrize(
    "relevant",
    [
        "${color} = 'red' and ${number} > 3",
        "${color} = ${number}",
        "${number} > 3 or ${number} < 1",
        "${number} != 3",
        "${number} > 10",
        "${several} = 'red'",
        "${color} = 'blue'",
        "${later} = 'yes'",
        "${nobody} = 'yes'",
        "count-selected(${several}) > 1",
        "true()",
        "${color} =",
        "((((" * 200,
        "not(" * 300 + "selected(${color}, 'red')" + ")" * 300,
    ],
)
def test_other_conditions_are_not_taken_and_listed(relevant: str) -> None:
    imported = parse_rows(
        ["select_one color", "color", "Which?"],
        ["select_multiple color", "several", "Which?"],
        ["range", "number", "How many?", None, None, "start=0 end=10"],
        ["select_one color", "q", "And?", relevant],
        ["select_one yn", "later", "Later?"],
    )

    assert "show_if" not in entries(imported)[3]
    assert [note for note in imported.not_taken if note.column == "relevant" and note.rows == (5,)]


def test_a_question_without_an_honest_answer_for_others_is_asked_of_everyone() -> None:
    imported = parse_rows(
        ["select_one yn", "a", "A?"],
        ["select_one yn", "b", "B?", "${a} = 'yes'"],
        ["range", "c", "C?", "${a} = 'yes'"],
        ["note", "d", "For you only", "${a} = 'yes'"],
    )

    _, b, c, d = entries(imported)
    assert "show_if" not in b
    assert "show_if" not in c
    assert d["show_if"] == {"question": "a", "any_of": ["yes"]}
    assert why(imported, "${a} = 'yes'").startswith("everyone is asked")


@pytest.mark.parametrize(
    ("labels", "settings", "fallback", "language"),
    [
        (["label"], None, "es", "es"),
        (["label"], "English (en)", "es", "en"),
        (["label::Spanish"], None, "en", "es"),
        (["label::es"], None, "en", "es"),
        (["label:Español"], None, "en", "es"),
        (["label::Español (es-MX)"], None, "en", "es"),
        (["label::English", "label::Español"], None, "es", "es"),
        (["label::English", "label::Español"], None, "en", "en"),
        (["label::English", "label::Español"], "español", "en", "es"),
        (["label::German (de)", "label::English"], "German (de)", "es", "en"),
        (["label::French (fr)", "label::English"], "French (fr)", "es", "fr"),
    ],
)
def test_the_language_is_the_one_the_form_states(
    labels: list[str], settings: str | None, fallback: str, language: str
) -> None:
    rows = [["type", "name", *labels], ["select_one yn", "a", *["A?"] * len(labels)]]
    stated = [["form_title", "default_language"], ["T", settings]] if settings else ()

    imported = parse_xlsform(form(rows, YES_NO, stated), None, fallback)

    assert imported.definition.language == language
    assert len(imported.definition.questions) == 1


def test_a_label_of_no_language_stands_in_where_one_is_missing() -> None:
    rows = [
        ["type", "name", "label", "label::Español (es)"],
        ["select_one yn", "a", "A?", "¿A?"],
        ["select_one yn", "b", "B?"],
    ]

    imported = parse_xlsform(form(rows), "es")

    assert [question.text for question in imported.definition.questions] == ["¿A?", "B?"]


def test_a_form_in_a_language_of_respondents_alone_is_taken() -> None:
    rows = [
        ["type", "name", "label::Français (fr)", "label::العربية", "label::Deutsch (de)"],
        ["select_one yn", "a", "Vrai ?", "صحيح؟", "Wahr?"],
    ]

    imported = parse_xlsform(form(rows))

    assert (imported.definition.language, imported.definition.translations) == (
        "fr",
        {"ar": {"Vrai ?": "صحيح؟"}},
    )
    assert [note.message for note in imported.not_taken if note.column == "label::Deutsch (de)"] == [
        "respondents’ pages are not in this language"
    ]


def test_a_form_in_no_language_of_respondents_is_refused() -> None:
    rows = [["type", "name", "label::Deutsch (de)"], ["select_one yn", "a", "Wahr?"]]

    assert "there is no wording in the chosen language" in expect_refusal(form(rows))
