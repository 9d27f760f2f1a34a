"""What a researcher is told before publishing: the respondents' headline, wording asked twice, brackets left over."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from server.privacy.planning import Headline
from server.study import gallery
from server.study.definitions.definition_reader import parse_definition
from server.study.editing import find_alike, find_repeated
from tests.support import factories

WORDS = {
    Headline.NOBODY_SURE: "Nobody can be sure of your answers",
    Headline.MUCH: "The coins hide much, not all",
    Headline.SOME: "Chance changes some answers; all together tell a lot",
}
SURVEYS = {
    Headline.NOBODY_SURE: [0.1, 0.1],
    Headline.MUCH: [0.15] * 4,
    Headline.SOME: [0.25] * 6,
}
OPEN = "[your name or organisation]"


def page(client: FlaskClient, slug: str, name: str) -> str:
    answer = client.get(f"/manage/surveys/{slug}{name}")
    assert answer.status_code == 200
    return html.unescape(answer.text)


def publish(client: FlaskClient, slug: str, **form: str) -> TestResponse:
    return client.post(f"/manage/surveys/{slug}/publish", data={"despite_plan": "yes", **form})


def find_promised(text: str) -> list[str]:
    return re.findall(r'<strong class="promised">(.*?)</strong>', text)


@pytest.mark.parametrize("headline", SURVEYS)
def test_the_editor_and_the_step_before_publishing_show_what_respondents_will_read(
    headline: Headline, signed_in: FlaskClient, client: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, factories.definition(SURVEYS[headline]))
    edited, looked_at = page(signed_in, slug, "/edit"), page(signed_in, slug, "")
    assert find_promised(edited) == find_promised(looked_at) == [WORDS[headline]]
    better = [WORDS[other] for other in list(Headline)[: list(Headline).index(headline)]]
    for text in (edited, looked_at):
        assert re.findall(r"For “(.*?)” it takes", text) == better
    assert publish(signed_in, slug).status_code == 303
    assert f"<h1>{WORDS[headline]}</h1>" in client.get(f"/s/{slug}").text


def test_what_is_said_of_a_better_headline_leads_to_it(signed_in: FlaskClient, database_url: str) -> None:
    questions = factories.definition([0.25] * 6)["questions"]
    shared = [{**entry, "design": {"mechanism": "coin_flip"}} for entry in questions]
    slug = factories.draft(database_url, factories.definition(questions=shared, budget=6.6))
    said = re.findall(
        r"For “([^”]*)” it takes [\d,]+ respondents for [^“]*? γ = ([\d.]+) for each of the 6 questions\."
        r"[^“]*?Or keep (\d) questions? as (?:it is|they are)\. All answers[^“]*? at most ε = ([\d.]+)\.",
        page(signed_in, slug, "/edit"),
        re.DOTALL,
    )
    assert [words for words, *_ in said] == [WORDS[Headline.NOBODY_SURE], WORDS[Headline.MUCH]]
    for (_, gamma, kept, loss), headline in zip(said, Headline, strict=False):
        for reached, beyond in (
            (factories.definition(questions=shared, budget=float(loss)), float(loss) + 1e-3),
            (factories.definition([float(gamma)] * 6), None),
            (factories.definition(questions=shared[: int(kept)], budget=1.1 * int(kept)), None),
        ):
            assert parse_definition(reached).guesses.headline == headline
            if beyond is not None:
                assert parse_definition({**reached, "budget": beyond}).guesses.headline != headline
        for further in (
            factories.definition([float(gamma) + 0.001] * 6),
            factories.definition(questions=shared[: int(kept) + 1], budget=1.1 * (int(kept) + 1)),
        ):
            assert parse_definition(further).guesses.headline != headline


def test_wording_asked_twice_is_noticed(signed_in: FlaskClient, database_url: str) -> None:
    texts = ["Have you copied?", "Have you paid?", "have  you\tCopied?", "Have you paid? ", "Other?"]
    questions: list[dict[str, Any]] = [
        factories.question(f"q{place}", text.strip()) for place, text in enumerate(texts)
    ]
    questions[2]["text"] = "have  you Copied?"
    slug = factories.draft(database_url, factories.definition(questions=questions))
    for name in ("/edit", ""):
        text = page(signed_in, slug, name)
        assert re.findall(r"Questions ([\d, ]+) ask the same in the same words", text) == ["1, 3", "2, 4"]
        assert "worded almost alike" not in text
    other = factories.draft(database_url, factories.definition())
    assert "ask the same" not in page(signed_in, other, "/edit") + page(signed_in, other, "")


SAME = [
    ("Have you copied?", "Have you copied"),
    ("¿Ha robado algo?", "Ha robado algo."),
    ("¿Ha visitado un café?", "¿Ha visitado un cafe?"),
    ("Have you, ever, paid?", "have you ever paid"),
]
ALIKE = [
    ("Have you ever copied?", "Have you copied?"),
    ("Did you steal a phone?", "Did you steal the phone?"),
    ("¿Ha copiado en el examen?", "¿Ha copiado en un examen?"),
    ("¿Has robado en tu trabajo?", "¿Has robado alguna vez en tu trabajo?"),
    ("Have you ever paid a bribe?", "Have you ever payed bribes?"),
]
OTHERS = [
    ("Have you copied?", "Have you paid?"),
    ("Have you ever taken cannabis?", "Have you ever taken cocaine?"),
    (
        "In the last 12 months, have you taken cannabis without a prescription of a doctor?",
        "In the last 12 months, have you taken cocaine without a prescription of a doctor?",
    ),
    ("¿Le han pegado en casa durante el último año?", "¿Le han pegado en clase durante el último año?"),
    ("Did you vote in 2023?", "Did you vote in 2024?"),
]


@pytest.mark.parametrize(
    ("pairs", "said"), [(SAME, "in the same words"), (ALIKE, "almost alike"), (OTHERS, "")]
)
def test_small_changes_of_the_words_are_asked_about(
    signed_in: FlaskClient, database_url: str, pairs: list[tuple[str, str]], said: str
) -> None:
    for pair in pairs:
        questions = [factories.question(f"q{place}", text) for place, text in enumerate(pair)]
        slug = factories.draft(database_url, factories.definition(questions=questions))
        for name in ("/edit", ""):
            text = page(signed_in, slug, name)
            found = re.findall(
                r"Questions 1, 2 (?:ask the same|are worded).*?(in the same words|almost alike)", text
            )
            assert found == [said] * bool(said), pair


def test_no_template_asks_anything_twice() -> None:
    for path in Path(gallery.__file__).parent.glob("*.json"):
        document = json.loads(path.read_text("utf-8"))
        assert find_repeated(document) + find_alike(document) == [], path


def make_bracketed() -> dict[str, Any]:
    return factories.definition(
        introduction=f"We are {OPEN}. See [our site](https://example.org).",
        questions=[{**factories.question(), "text": "Did you in [month]?"}],
    )


def test_text_in_brackets_is_noticed_and_stays_only_when_that_is_ticked(
    signed_in: FlaskClient, client: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, make_bracketed())
    for name in ("/edit", ""):
        told = page(signed_in, slug, name)
        noticed = re.findall(r'translate="no">(\[.*?\])</span>', told)
        assert noticed == [OPEN, "[month]"]
    refused = publish(signed_in, slug)
    assert refused.status_code == 409
    assert f"must be replaced, or confirmed to stay; it is {OPEN}, [month]" in html.unescape(refused.text)
    assert client.get(f"/s/{slug}").status_code == 404
    assert 'name="keep_brackets"' in refused.text
    assert publish(signed_in, slug, keep_brackets="yes").status_code == 303
    assert client.get(f"/s/{slug}").status_code == 200


def test_a_plan_that_falls_short_is_asked_about_with_the_tick_kept(
    signed_in: FlaskClient, database_url: str
) -> None:
    slug = factories.draft(database_url, {**make_bracketed(), "plan": {"respondents": 10, "margin": 0.05}})
    asked = signed_in.post(f"/manage/surveys/{slug}/publish", data={"keep_brackets": "yes"})
    assert asked.status_code == 409
    assert '<input type="hidden" name="keep_brackets" value="yes">' in asked.text


def test_a_link_is_no_text_in_brackets(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.draft(
        database_url, factories.definition(introduction="See [us](https://example.org), [ ].")
    )
    assert "square brackets" not in page(signed_in, slug, "/edit") + page(signed_in, slug, "")
    assert publish(signed_in, slug).status_code == 303


def test_the_command_line_asks_for_the_same(database_url: str) -> None:
    slug = factories.draft(database_url, make_bracketed())
    refused = factories.run(database_url, "survey", "publish", slug)
    assert refused.exit_code == 2
    assert OPEN in refused.stderr
    assert factories.run(database_url, "survey", "publish", slug, "--keep-brackets").exit_code == 0


def test_every_template_shows_its_headline(signed_in: FlaskClient) -> None:
    text = signed_in.get("/manage/gallery?lang=en").text
    assert text.count("Nobody can be sure of your answer") == 6
