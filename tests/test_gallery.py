"""The templates: the same survey in both languages, sound, and as cheap as they say."""

import re

import pytest

from server.output.languages import LANGUAGES
from server.privacy.designs import coin_flip
from server.privacy.planning import Headline, compare_groups, power, respondents_for_margin_two_samples
from server.reports.estimate_remarks import UNLIKELY
from server.study.definitions import Definition, Question
from server.study.gallery import Template, find, templates
from server.study.planning import plan

SAID = {
    "en": (
        "After you press Send, you can find or remove your answers among the others with your receipt, while the "
        "survey is open; this site offers no other way. Whoever runs the survey can delete them all together."
    ),
    "es": (
        "Después de pulsar Enviar, con tu comprobante puedes encontrar o eliminar tus respuestas entre las demás, "
        "mientras la encuesta esté abierta; este sitio no ofrece otra manera. Quien lleva la encuesta puede borrarlas "
        "todas juntas."
    ),
}
OWED = {
    "en": ("cannot be skipped", "may see in which order answers arrived", "is published [where]"),
    "es": ("No se pueden saltar", "quizá vea en qué orden llegaron", "se publica [dónde]"),
}
"""What a consent tells beside it: nothing is skipped, what files may tell meanwhile, and that results are published."""


def each() -> list[tuple[Template, str]]:
    return [(template, language) for template in templates() for language in LANGUAGES]


@pytest.fixture(params=each(), ids=lambda pair: f"{pair[0].name}-{pair[1]}")
def definition(request: pytest.FixtureRequest) -> Definition:
    template, language = request.param
    found: Definition = template.definitions[language]
    assert found.language == language
    return found


def shape(definition: Definition) -> list[object]:
    """All of a survey but its words."""
    return [
        (
            entry.kind,
            len(entry.options) if isinstance(entry, Question) else 0,
            entry.show_if is None,
            [design.weights.tolist() for design in entry.designs] if isinstance(entry, Question) else None,
            isinstance(entry, Question) and (entry.control, entry.prefer_not_to_say, entry.grid),
        )
        for entry in definition.entries
    ]


def test_there_are_six_and_each_is_the_same_in_both_languages() -> None:
    names = ["one_question", "battery", "scale", "wave", "known_share", "split_sample"]
    assert [template.name for template in templates()] == names
    for template in templates():
        english, spanish = template.definitions["en"], template.definitions["es"]
        assert shape(english) == shape(spanish)
        assert (english.budget, english.plan) == (spanish.budget, spanish.plan)
        assert not {entry.text for entry in english.entries} & {entry.text for entry in spanish.entries} - {
            "Alcohol"
        }


def test_the_planned_respondents_are_enough(definition: Definition) -> None:
    planned = plan(definition)

    assert planned.shortfalls == ()
    assert planned.respondents is not None
    assert planned.respondents < 1.1 * planned.binding.respondents  # nor are people asked for nothing


def test_of_each_nobody_can_be_sure_and_the_texts_leave_that_to_the_page(definition: Definition) -> None:
    assert definition.guesses.headline == Headline.NOBODY_SURE
    assert not re.search(r"\b(nobody|no one|nadie)\b", definition.introduction, re.IGNORECASE)


def test_each_asks_for_consent_and_leaves_names_to_its_user(definition: Definition) -> None:
    words = {
        "en": ("voluntary", "[your name or organisation]"),
        "es": ("voluntario", "[tu nombre u organización]"),
    }

    for word in words[definition.language]:
        assert word in definition.introduction
    assert SAID[definition.language] in definition.introduction
    for owed in OWED[definition.language]:
        assert owed in definition.introduction
    assert "http" not in str(definition.as_json())
    assert re.search(r"\[.+\]\.", definition.introduction)


def test_the_budget_is_divided_and_used_up(definition: Definition) -> None:
    if definition.strength is None:
        assert definition.budget is not None
        assert definition.epsilon == pytest.approx(definition.budget, abs=2e-4)
    else:
        assert (definition.strength.as_json(), definition.designs) == ({"gamma": 0.25}, (coin_flip(0.25),))


def test_the_battery_has_four_items_a_control_and_a_check() -> None:
    battery = find_definition("battery")

    assert [question.kind for question in battery.questions] == ["yes_no"] * 4
    assert [question.control for question in battery.questions].count(True) == 1
    assert [entry.kind for entry in battery.entries].count("check") == 1


def test_the_scale_has_prefer_not_to_say_and_a_number_with_a_true_zero() -> None:
    scale = find_definition("scale")

    (level,) = [question for question in scale.questions if question.kind == "scale"]
    (number,) = [question for question in scale.questions if question.kind == "number"]
    assert level.prefer_not_to_say
    assert number.show_if is not None
    assert number.otherwise == 0


def test_the_wave_is_planned_for_the_difference_of_two_rounds() -> None:
    wave = find_definition("wave")

    design = wave.questions[0].designs[0]
    assert wave.plan is not None
    assert wave.plan.respondents >= respondents_for_margin_two_samples(0.1, design)


def test_each_that_tells_whether_it_works_says_how_often_it_would() -> None:
    """What its description says, from its own coins and the people that it is planned for; the twin is another coin."""
    control, known, split = (
        find_definition(name).questions for name in ("battery", "known_share", "split_sample")
    )
    (of_nobody,) = [question.designs[0] for question in control if question.control]
    half, other = split[0].designs[0], coin_flip(0.4)
    told = {
        # Of those who answer at random, half say Yes; the page notices at 5 %, above 0.
        "battery": power(people("battery"), 0.3 / 2, 0.0, of_nobody, alpha=UNLIKELY, sides=1),
        "known_share": power(people("known_share"), 0.6 * 0.8, 0.6, known[0].designs[0]),
        "split_sample": compare_groups([0.2, 0.1], [half, other]).power(people("split_sample")),
    }
    for name, chance in told.items():
        template = find(name)
        assert template is not None
        said = re.search(r"With ([\d,]+) .* in (\d+) of 100 such (?:surveys|studies)", template.use)
        assert said is not None
        assert int(said[1].replace(",", "")) == people(name)
        assert int(said[2]) == int(100 * chance)
    assert int(100 * power(people("known_share"), 0.48, 0.6, coin_flip(0.2))) != int(
        100 * told["known_share"]
    )


def test_a_template_that_is_not_there_is_not_found() -> None:
    assert find("nothing") is None


def people(name: str) -> int:
    planned = find_definition(name).plan
    assert planned is not None
    assert planned.respondents is not None
    return planned.respondents


def find_definition(name: str) -> Definition:
    template = find(name)
    assert template is not None
    return template.definitions["en"]
