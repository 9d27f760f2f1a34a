"""Writing a survey in the editor, without scripts: every button, and that nothing typed is ever lost."""

import html
import math
import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings

from server.output.languages import RESPONDENT_LANGUAGES
from server.people import survey_access
from server.study import surveys
from server.study.definitions.definition_reader import parse_definition
from server.study.editing import carry_out_action, new_document
from tests.conftest import NewDatabase
from tests.support import editor_form, factories, strategies
from tests.support.factories import Published, dump
from tests.support.scale import choose_size

KINDS = [
    "yes_no",
    "select_one",
    "select_multiple",
    "scale",
    "number",
    "binned_number",
    "text",
    "section",
    "check",
]


@pytest.fixture(scope="module")
def prepared_editor(sqlite: NewDatabase) -> editor_form.Prepared:
    """Three yes/no questions, written once: most tests begin with them."""
    return editor_form.prepare(sqlite(True), "Exams", "Copied?", "Paid?", "Sat?")


@pytest.fixture
def database_url(request: pytest.FixtureRequest, sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here happens before anything reaches a database."""
    return editor_form.copy_prepared(request, "three", sqlite(True))


@pytest.fixture
def three(prepared_editor: editor_form.Prepared, app: Flask) -> editor_form.Editor:
    """The editor with three yes/no questions."""
    return prepared_editor.open(app)


def alert(editor: editor_form.Editor) -> str:
    """The list of what is wrong."""
    return html.unescape(editor.page.partition('role="alert"')[2].partition("</ul>")[0])


def wrong(editor: editor_form.Editor, path: str) -> str:
    """What is said below a field."""
    found = re.search(rf'id="wrong-{re.escape(path)}">(.*?)</p>', editor.page)
    return html.unescape(found[1]) if found else ""


# Nothing is lost


@pytest.mark.scaled
@settings(
    max_examples=choose_size(15, 400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(document=strategies.documents())
def test_every_survey_passes_through_the_editor_unchanged(
    document: dict[str, Any], signed_in: FlaskClient, database_url: str
) -> None:
    """Imported, shown, sent as it is and exported: the same document, whatever it holds."""
    slug = factories.draft(database_url, document)
    editor = editor_form.edit(signed_in, slug)
    states = dump(database_url)["drafts"]

    editor.press("keep")

    assert editor.answer.status_code == 200
    assert editor.document == document
    assert dump(database_url)["drafts"] == states, "what changes nothing is no new state"


def test_nothing_is_kept_before_something_is_sent(signed_in: FlaskClient, database_url: str) -> None:
    assert editor_form.new(signed_in).answer.status_code == 200
    assert not dump(database_url)["surveys"]


def test_survey_is_kept_as_it_was_written(signed_in: FlaskClient) -> None:
    editor = editor_form.new(signed_in)
    editor.type(
        {
            "title": "  Exámenes ",
            "introduction": "\r\nQuién pregunta\r\ny para qué",
            "language": "es",
            "questions[0].text": "¿Ha copiado\r\nalguna vez?",
        }
    )

    answer = editor.press("save", follow=False).answer

    assert answer.status_code == 303
    assert "/edit" not in answer.location
    kept = signed_in.get(f"{answer.location}/definition.json").get_json()
    assert (kept["language"], kept["title"]) == ("es", "Exámenes")
    assert kept["introduction"] == "Quién pregunta\ny para qué"
    assert kept["questions"] == [
        {
            "name": "q1",
            "kind": "yes_no",
            "text": "¿Ha copiado\nalguna vez?",
            "design": {"mechanism": "coin_flip"},
        }
    ]
    slug = answer.location.rpartition("/")[2]
    assert editor_form.edit(signed_in, slug)["introduction"] == "\r\nQuién pregunta\r\ny para qué"


def test_a_new_survey_may_ask_for_consent_and_an_age(three: editor_form.Editor) -> None:
    three.type(consent="This is **voluntary**.", least_age="18").press("keep")
    assert "strength" in three.document  # as every survey of the editor's has
    definition = parse_definition(three.document)
    assert (definition.consent, definition.least_age) == ("This is **voluntary**.", 18)


def test_unfinished_survey_is_kept_and_says_what_is_missing(
    signed_in: FlaskClient, database_url: str
) -> None:
    editor = editor_form.new(signed_in).type(introduction="<b>Kept</b>\r\n&amp;").press("add")

    editor.press("save")

    assert editor["introduction"] == "<b>Kept</b>\r\n&amp;"
    said = alert(editor)
    assert re.findall(r'href="#at-([^"]+)"', said) == ["title", "questions[0].text", "questions[1].text"]
    assert all(name in said for name in ("Title", "Question 1, wording", "Question 2, wording"))
    assert 'id="at-questions[1].text"' in editor.page
    overview = signed_in.get(editor.path).text
    assert "Untitled survey" in overview
    assert "Question 2, wording" in overview
    assert "Publish" not in overview
    assert "Question 1, wording" in signed_in.get(f"{editor.path}/preview").text
    assert "Untitled survey" in signed_in.get("/manage/surveys").text
    assert signed_in.post(f"{editor.path}/publish").status_code == 422
    assert not dump(database_url)["survey_versions"]

    editor.type({"questions[0].kind": "select_one"}).press("renew-0").press("save")
    for path in (editor.path, f"{editor.path}/preview"):
        said = signed_in.get(path).text
        assert "Question 1, answer 1" in said
        assert "downloaded files" not in said  # names are made from the texts that are missing


def test_what_is_missing_is_not_told_while_it_is_being_written(signed_in: FlaskClient) -> None:
    editor = editor_form.new(signed_in).press("add")

    assert "aria-invalid" not in editor.page
    assert not alert(editor)


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("title", "x" * 201, "at most 200 characters; it has 201"),
        ("introduction", "x" * 4001, "at most 4000 characters; it has 4001"),
        ("language", "xx", f"one of {', '.join(RESPONDENT_LANGUAGES)}; it is xx"),
        ("questions[0].text", "x" * 501, "at most 500 characters; it has 501"),
        ("questions[0].name", "1st", "must start with a letter"),
        ("questions[0].name", "q2", "must be unique; q2 stands twice"),
        ("questions[0].kind", "essay", "must be one of"),
        ("questions[0].design.mechanism", "dice", "must be one of"),
        ("budget", "much", "must be a number; it is much"),
        ("budget", "1,000", "must be a number; it is 1,000"),
        ("budget", "0", "must be from 0.001 to 1000; it is 0"),
        ("budget", "1e999", "must be a number; it is 1e999"),
        ("budget", "nan", "must be a number; it is nan"),
        ("budget", "１２", "must be a number; it is １２"),
        ("budget", "9" * 400, "must be a number"),
        ("plan.margin", "60", "must be from 0.001 to 0.5; it is 60"),
        ("plan.respondents", "1.5", "must be a whole number; it is 1.5"),
        ("plan.respondents", "-1", "must be from 1 to 10000000; it is -1"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_stays_as_it_was_typed(
    path: str, text: str, said: str, three: editor_form.Editor
) -> None:
    title = "Exams" if path != "title" else text

    three.type({path: text}).press("save")

    problem = wrong(three, path) or wrong(three, "questions[1].name")
    assert said in problem or said in alert(three)
    assert said in alert(three)
    assert three[path] == text or path.endswith("mechanism")
    assert three["title"] == title
    assert three.wordings[1:] == ["Paid?", "Sat?"]
    if problem:
        assert 'aria-invalid="true"' in three.page


@pytest.mark.parametrize(
    "name",
    [
        "questions[0].colour",
        "questions[0]",
        "questions[-1].text",
        "questions[99999].text",
        "questions[0].text.more",
        "questions.text",
        "questions[0].options.text",
        "questions[0].options[0]",
        "title[0]",
        "title.x",
        "__class__",
        "",
        "a" * 5000,
    ],
)
def test_field_of_no_survey_is_refused(name: str, three: editor_form.Editor, database_url: str) -> None:
    before = dump(database_url)

    answer = three.type({name: "x"}).press("keep").answer

    assert answer.status_code == 422
    assert "is not a field of a survey" in answer.text
    assert dump(database_url) == before


@pytest.mark.parametrize("path", ["title", "questions[0].text", "budget"])
def test_nul_and_half_characters_are_refused(path: str, three: editor_form.Editor, database_url: str) -> None:
    before = dump(database_url)

    assert three.type({path: "a\x00b"}).press("keep").answer.status_code == 422
    assert dump(database_url) == before


def test_empty_form_is_a_survey_with_everything_missing(signed_in: FlaskClient) -> None:
    answer = signed_in.post("/manage/surveys/new", data={})

    page = signed_in.get(answer.location).text
    assert "Title" in page
    assert page.count('role="alert"') == 1


def test_decimal_comma_is_understood_where_it_can_be_nothing_else(three: editor_form.Editor) -> None:
    three.type({"plan.margin": "0,05", "plan.respondents": "500", "budget": "3,5"}).press("keep")

    assert three.document["plan"] == {"margin": 0.05, "respondents": 500}
    assert three.document["budget"] == 3.5


def test_a_margin_is_shown_in_points_as_its_label_says(three: editor_form.Editor) -> None:
    for typed, shown, margin in (("5", "5%", 0.05), ("0,0725", "7.25%", 0.0725), ("0.5%", "0.5%", 0.005)):
        three.type({"plan.margin": typed, "plan.respondents": "500"}).press("keep")
        assert three.document["plan"]["margin"] == margin
        assert f'name="plan.margin" value="{shown}"' in re.sub(r"\s+", " ", three.answer.text)

        three.type({"plan.margin": shown}).press("keep")
        assert three.document["plan"]["margin"] == margin


# Buttons


@pytest.mark.parametrize("kind", KINDS)
def test_question_of_each_kind_is_added(kind: str, three: editor_form.Editor) -> None:
    three.type(added=kind).press("add")

    assert [entry["kind"] for entry in three.document["questions"]] == ["yes_no"] * 3 + [kind]
    assert three.document["questions"][3]["name"] == "q4"
    assert "Question 4 was added." in three.page


def test_unknown_kind_is_added_as_yes_or_no(three: editor_form.Editor) -> None:
    three.type(added="<script>").press("add")

    assert three.document["questions"][3]["kind"] == "yes_no"


@pytest.mark.parametrize(
    ("action", "wordings"),
    [
        ("delete-1", ["Copied!", "Sat?"]),
        ("duplicate-1", ["Copied!", "Paid?", "Paid?", "Sat?"]),
        ("up-1", ["Paid?", "Copied!", "Sat?"]),
        ("up-0", ["Copied!", "Paid?", "Sat?"]),
        ("down-1", ["Copied!", "Sat?", "Paid?"]),
        ("down-2", ["Copied!", "Paid?", "Sat?"]),
        ("renew-1", ["Copied!", "Paid?", "Sat?"]),
    ],
)
def test_button_does_its_work_and_keeps_what_was_typed(
    action: str, wordings: list[str], three: editor_form.Editor
) -> None:
    three.type({"questions[0].text": "Copied!"}).press(action)

    assert three.wordings == wordings
    names = [entry["name"] for entry in three.document["questions"]]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "action",
    [
        "delete-3",
        "delete--1",
        "delete-",
        "delete-x",
        "delete-" + "9" * 5000,
        "delete-²",
        "delete-1-1",
        "up-7",
        "delete_option-0-0",
        "option_up-0-1",
        "nonsense",
        "",
    ],
)
def test_button_about_something_that_is_not_there_does_nothing(
    action: str, three: editor_form.Editor
) -> None:
    three.press(action)

    assert three.wordings == ["Copied?", "Paid?", "Sat?"]


def test_all_questions_can_be_deleted_and_added_again(signed_in: FlaskClient) -> None:
    editor = editor_form.write_questions(editor_form.new(signed_in), "One", "Only?").press("delete-0")
    assert editor.wordings == []

    editor.press("add").type({"questions[0].text": "Another?"}).press("keep")

    assert editor.wordings == ["Another?"]
    assert editor.document["strength"] == {"gamma": 0.25}


def test_answers_are_added_moved_and_deleted(three: editor_form.Editor) -> None:
    three.type({"added": "select_one"}).press("add").press("add_option-3")
    path = "questions[3].options[{}].text"
    three.type({path.format(0): "Sí, a menudo", path.format(1): "No", path.format(2): "1 vez"})

    three.press("option_up-3-2").press("keep")

    question = three.document["questions"][3]
    assert question["options"] == [
        {"name": "si_a_menudo", "text": "Sí, a menudo"},
        {"name": "o_1_vez", "text": "1 vez"},
        {"name": "no", "text": "No"},
    ]
    three.press("option_down-3-0").press("delete_option-3-2")
    assert [option["name"] for option in three.document["questions"][3]["options"]] == [
        "o_1_vez",
        "si_a_menudo",
    ]


# Names


def _with_options(three: editor_form.Editor) -> editor_form.Editor:
    three.type(added="select_one").press("add")
    three.type({"questions[3].text": "Which?", "questions[3].options[0].text": "Ye"})
    return three.type({"questions[3].options[1].text": "No"}).press("keep")


def test_name_of_an_answer_follows_its_text_until_somebody_sets_it(three: editor_form.Editor) -> None:
    editor = _with_options(three)
    assert editor["questions[3].options[0].name"] == "ye"

    editor.type({"questions[3].options[0].text": "Yesterday"}).press("keep")
    assert editor["questions[3].options[0].name"] == "yesterday"

    editor.type({"questions[3].options[0].name": "past"}).press("keep")
    editor.type({"questions[3].options[0].text": "Last week"}).press("keep")
    assert editor["questions[3].options[0].name"] == "past"


def test_published_names_stay_when_texts_change(three: editor_form.Editor) -> None:
    editor = _with_options(three)
    assert editor.client.post(f"{editor.path}/publish").status_code == 303

    editor.type({"questions[3].options[0].text": "Yesterday"}).press("keep")

    assert editor["questions[3].options[0].name"] == "ye"


def test_conditions_follow_new_names(three: editor_form.Editor) -> None:
    editor = _with_options(three)
    editor.press("add").type({"questions[4].text": "When?", "questions[4].show_if.question": "q4"})
    editor.press("renew-4").type({"questions[4].show_if.any_of": ["", "ye"]}).press("keep")

    editor.type({"questions[3].name": "which", "questions[3].options[0].name": "y"}).press("keep")

    assert editor.document["questions"][4]["show_if"] == {"question": "which", "any_of": ["y"]}


def test_name_left_empty_is_made(three: editor_form.Editor) -> None:
    three.type({"questions[1].name": ""}).press("keep")

    assert [entry["name"] for entry in three.document["questions"]] == ["q1", "q2", "q3"]


# Kinds and designs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", KINDS)
def test_kind_is_changed_and_what_can_be_kept_is_kept(start: str, kind: str, signed_in: FlaskClient) -> None:
    editor = editor_form.new(signed_in)
    editor.type({"questions[0].kind": start, "questions[0].text": "Kept?", "title": "T"}).press("renew-0")
    if "questions[0].options[0].text" in editor.page:
        for place, text in enumerate(["Low", "High"]):
            editor.type({f"questions[0].options[{place}].text": text})

    editor.type({"questions[0].kind": kind}).press("keep")

    (entry,) = editor.document["questions"]
    assert (entry["kind"], entry["text"]) == (kind, "Kept?")
    offered = ("select_one", "select_multiple", "scale", "check")
    if kind in offered and start in offered:
        assert [option["text"] for option in entry["options"]] == ["Low", "High"]
    assert ("options" in entry) == (kind in offered)
    assert ("design" in entry) == (kind not in ("text", "section", "check"))
    editor.press("keep")
    assert editor.answer.status_code == 200


@pytest.mark.parametrize(
    ("mechanism", "needs"),
    [
        ("warner", {"truth"}),
        ("forced_response", {"truth", "yes"}),
        ("unrelated_question", {"truth", "prevalence", "innocuous"}),
        ("kuk", {"if_yes", "if_no"}),
        ("crosswise", {"prevalence", "innocuous"}),
    ],
)
def test_design_brings_the_fields_it_needs_at_the_strength_of_two_coins(
    mechanism: str, needs: set[str], three: editor_form.Editor
) -> None:
    three.type({"questions[0].design.mechanism": mechanism}).press("renew-0")

    design = three.document["questions"][0]["design"]
    assert design.keys() == {"mechanism", *needs}
    assert f'name="questions[0].design.{min(needs)}"' in three.page
    assert float(three["budget"]) == pytest.approx(3 * math.log(3), abs=1e-4)
    three.type({f"questions[0].design.{name}": "" for name in needs}).press("save")
    assert wrong(three, f"questions[0].design.{min(needs)}") in ("Is required.", "Must not be empty.")


def test_prefer_not_to_say_brings_the_design_that_offers_it(three: editor_form.Editor) -> None:
    three.type({"questions[0].prefer_not_to_say": "true"}).press("renew-0")
    assert three.document["questions"][0]["design"] == {"mechanism": "k_ary"}
    assert three.document["questions"][0]["prefer_not_to_say"] is True

    three.type({"questions[0].prefer_not_to_say": []}).press("renew-0")

    assert three.document["questions"][0]["design"] == {"mechanism": "coin_flip"}


def test_best_design_says_what_was_chosen_and_why(signed_in: FlaskClient, database_url: str) -> None:
    """By Wang et al. (2017): k-ary response for k < 3 e^epsilon + 2, which is 10.15 at epsilon 1."""
    for number, said in ((10, "one draw over all answers"), (11, "a coin for each answer")):
        options = [{"name": f"o{place}", "text": f"Option {place}"} for place in range(number)]
        entry = {"name": "q", "kind": "select_one", "text": "Which?", "options": options}
        entry["design"] = {"mechanism": "best_choice", "epsilon": 1}
        slug = factories.draft(database_url, factories.definition(questions=[entry]))

        assert f"Chosen: {said}" in editor_form.edit(signed_in, slug).page


# Conditions


_OPTIONS = [[], [{"name": "a", "text": "A"}]]


@pytest.mark.parametrize(
    ("kind", "design", "entry"),
    [
        *(
            ("select_one", {"mechanism": name, "epsilon": 1}, {"options": options})
            for name in ("best_choice", "k_ary", "unary", "symmetric_unary")
            for options in _OPTIONS
        ),
        *(
            ("select_one", {"mechanism": "k_ary", "gamma": 0.25}, {"options": options})
            for options in _OPTIONS
        ),
        *(
            ("scale", {"mechanism": name, "epsilon": 1}, {"options": options})
            for name in ("ordinal", "k_ary")
            for options in _OPTIONS
        ),
        ("select_multiple", {"mechanism": "coin_flip", "epsilon": 1}, {"options": []}),
        *(
            ("number", {"mechanism": "stochastic_rounding", "epsilon": 1}, numbers)
            for numbers in (
                {},
                {"low": 0, "step": 1},
                {"low": "x", "high": 9, "step": 1},
                {"low": 9, "high": 0, "step": 1},
                {"low": 0, "high": 10**400, "step": 1},
            )
        ),
        (
            "binned_number",
            {"mechanism": "k_ary", "epsilon": 1},
            {"low": 0, "high": 9, "step": 1, "cuts": ["x"]},
        ),
    ],
)
def test_question_without_its_answers_has_no_picture_yet(
    kind: str,
    design: dict[str, Any],
    entry: dict[str, Any],
    signed_in: FlaskClient,
    database_url: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The page of a draft is whole at every step of its writing, and nothing in it fails."""
    known = {"name": "q1", "kind": "yes_no", "text": "?", "design": {"mechanism": "coin_flip", "gamma": 0.25}}
    unfinished = {"name": "q2", "kind": kind, "text": "?", "design": design, **entry}
    slug = factories.draft_unfinished(
        database_url,
        {"format": 2, "language": "en", "title": "T", "introduction": "", "questions": [known, unfinished]},
    )

    answer = signed_in.get(f"/manage/surveys/{slug}/edit")

    assert answer.status_code == 200
    assert answer.text.count('<figure class="odds">') == 1
    assert not caplog.records


def test_condition_asks_for_answers_and_for_what_the_others_report(three: editor_form.Editor) -> None:
    three.type({"questions[2].show_if.question": "q1"}).press("renew-2")
    assert three.document["questions"][2]["show_if"] == {"question": "q1", "any_of": []}
    assert three.document["questions"][2]["otherwise"] == "no"

    three.type({"questions[2].show_if.any_of": ["", "yes"]}).press("save")

    assert "/edit" not in three.answer.request.path
    three = editor_form.edit(three.client, three.answer.request.path.rpartition("/")[2])
    assert three.names("questions[2].show_if.any_of") == ["", "yes"]
    three.type({"questions[2].show_if.question": ""}).press("keep")
    assert three.document["questions"][2].keys() == {"name", "kind", "text", "design"}


@pytest.mark.parametrize("action", ["delete-0", "down-0", "up-1"])
def test_condition_on_a_question_that_is_gone_is_told_at_its_field(
    action: str, three: editor_form.Editor
) -> None:
    three.type({"questions[1].show_if.question": "q1"}).press("renew-1")
    three.type({"questions[1].show_if.any_of": ["", "yes"]}).press("keep")

    three.press(action)

    assert "must name a question that stands before this one; it is q1" in three.page.lower()
    asking = next(entry for entry in three.document["questions"] if "show_if" in entry)
    assert asking["show_if"] == {"question": "q1", "any_of": ["yes"]}


def test_condition_on_a_number_asks_for_a_range(three: editor_form.Editor) -> None:
    three.type({"questions[0].kind": "number"}).press("renew-0")
    three.type({"questions[1].show_if.question": "q1"}).press("renew-1")

    three.type({"questions[1].show_if.from": "5", "questions[1].show_if.to": "9.5"}).press("keep")

    assert three.document["questions"][1]["show_if"] == {"question": "q1", "from": 5, "to": 9.5}


def test_ranges_are_typed_with_commas(three: editor_form.Editor) -> None:
    three.type({"questions[0].kind": "binned_number"}).press("renew-0")
    for text, cuts in (("1, 5,10", [1, 5, 10]), ("0.5; 2", [0.5, 2]), ("1, x", [1, "x"])):
        three.type({"questions[0].cuts": text}).press("keep")
        assert three.document["questions"][0]["cuts"] == cuts
    assert three["questions[0].cuts"] == "1, x"
    assert "must be a number; it is x" in wrong(three, "questions[0].cuts").lower()


# The budget


def test_new_survey_gives_each_question_two_fair_coins(three: editor_form.Editor) -> None:
    assert three.document["strength"] == {"gamma": 0.25}
    assert 0 <= float(three["budget"]) - 3 * math.log(3) < 1e-4
    preview = three.client.get(f"{three.path}/preview/survey.json").get_json()["definition"]
    assert [question["designs"][0]["weights"] for question in preview["questions"]] == [
        [[3 << 30, 1 << 30], [1 << 30, 3 << 30]]
    ] * 3


@pytest.mark.parametrize(
    ("action", "questions"), [("add", 4), ("delete-0", 2), ("duplicate-0", 4), ("up-1", 3)]
)
def test_every_question_keeps_its_strength_when_others_come_and_go(
    action: str, questions: int, three: editor_form.Editor
) -> None:
    three.type(budget="6").press("keep")

    three.press(action)

    assert three["budget"] == str(2 * questions)


def test_slider_sets_the_budget(three: editor_form.Editor) -> None:
    """gamma 0.4: ln(0.9 / 0.1) = ln 9 for each of three questions."""
    three.type(slider="0.4").press("keep")

    assert three.document["strength"] == {"gamma": 0.4}
    assert (three["slider"], three["budget"]) == ("0.4", "6.5917")


@pytest.mark.parametrize("slider", ["0.5", "0", "-1", "x", "", "nan", "1e-300"])
def test_slider_out_of_its_range_changes_nothing(slider: str, three: editor_form.Editor) -> None:
    before = three.document

    three.type(slider=slider).press("keep")

    assert three.document == before


def test_division_by_hand_keeps_every_strength_and_equal_shares_come_back(three: editor_form.Editor) -> None:
    before = three.document

    three.type(division="by_hand").press("keep")
    by_hand = three.document
    assert not {"budget", "strength"} & by_hand.keys()
    assert [entry["design"]["gamma"] for entry in by_hand["questions"]] == [0.25] * 3
    assert three["questions[0].design.gamma"] == "0.25"

    three.type(division="equal").press("keep")
    assert three.document == before


def test_question_with_a_strength_of_its_own_keeps_it_under_another_design(
    signed_in: FlaskClient, database_url: str
) -> None:
    document = factories.definition([0.25, 0.1])
    editor = editor_form.edit(signed_in, factories.draft(database_url, document))
    assert "slider" not in dict(editor.read().fields)

    editor.type({"questions[0].kind": "select_one"}).press("renew-0").press("add")

    designs = [entry["design"] for entry in editor.document["questions"]]
    assert designs[0] == {"mechanism": "best_choice", "epsilon": pytest.approx(math.log(3))}
    assert designs[1] == {"mechanism": "coin_flip", "gamma": 0.1}
    assert designs[2] == {"mechanism": "coin_flip", "gamma": 0.25}


def test_what_is_spent_is_always_shown(three: editor_form.Editor) -> None:
    spent = three.page.partition('id="spent"')[2].partition("</p>")[0]

    assert "3.30" in spent
    assert html.unescape(three.page).replace("\N{NO-BREAK SPACE}", " ").count("· ε 1.10") == 3, "of each"


# Undo, redo, and others who write


def test_steps_are_undone_and_done_again_across_visits(three: editor_form.Editor) -> None:
    slug = three.path.rpartition("/")[2]
    three.press("delete-0")
    again = editor_form.edit(three.client, slug)

    again.press("undo")
    assert again.wordings == ["Copied?", "Paid?", "Sat?"]
    assert editor_form.edit(three.client, slug).press("redo").wordings == ["Paid?", "Sat?"]


def test_undo_takes_back_what_was_just_typed_and_redo_brings_it_again(three: editor_form.Editor) -> None:
    three.type(title="Typed").press("undo")
    assert three["title"] == "Exams"

    three.press("redo")
    assert three["title"] == "Typed"


def test_new_words_after_an_undo_end_what_could_be_done_again(three: editor_form.Editor) -> None:
    three.press("delete-0").press("undo").type(title="Other").press("keep").press("redo")

    assert three["title"] == "Other"
    assert three.wordings == ["Copied?", "Paid?", "Sat?"]


def test_undo_ends_at_the_beginning(three: editor_form.Editor) -> None:
    for _ in range(30):
        three.press("undo")

    assert three.answer.status_code == 200
    assert "There is nothing more to go back to." in three.page


def test_last_200_states_are_kept(three: editor_form.Editor, database_url: str) -> None:
    slug = three.path.rpartition("/")[2]
    before = three.document
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        for number in range(195):
            surveys.save_draft(session, survey, {**before, "title": f"Title {number}"})
    three = editor_form.edit(three.client, slug)
    for number in range(195, 210):
        three.type(title=f"Title {number}").press("keep")

    assert len(dump(database_url)["drafts"]) == 200
    three.press("undo")
    assert three["title"] == "Title 208"


def test_save_that_changes_nothing_makes_no_state(three: editor_form.Editor, database_url: str) -> None:
    before = dump(database_url)["drafts"]

    three.press("keep").press("save")

    assert dump(database_url)["drafts"] == before


def test_two_windows_do_not_overwrite_each_other(three: editor_form.Editor, database_url: str) -> None:
    slug = three.path.rpartition("/")[2]
    other = editor_form.edit(three.client, slug)
    three.type(title="First").press("keep")
    before = dump(database_url)

    other.type({"title": "Second", "questions[0].text": "Second?"}).press("keep")

    assert other.answer.status_code == 409
    assert dump(database_url) == before
    assert (other["title"], other["questions[0].text"]) == ("Second", "Second?")
    assert f'href="/manage/surveys/{slug}/edit"' in other.page
    other.press("keep")
    assert other.answer.status_code == 409, "still to be decided"
    other.press("mine")
    assert (other["title"], other.wordings[0]) == ("Second", "Second?")
    assert other.press("undo")["title"] == "First", "the other one's words are not lost either"


def test_use_mine_asks_again_when_there_are_newer_words(three: editor_form.Editor) -> None:
    other = editor_form.edit(three.client, three.path.rpartition("/")[2])
    three.type(title="First").press("keep")
    other.type(title="Second").press("keep")
    three.type(title="Third").press("keep")

    assert other.press("mine").answer.status_code == 409
    assert other.press("mine").answer.status_code == 200
    assert other["title"] == "Second"


def test_form_of_a_state_that_was_undone_is_overtaken(three: editor_form.Editor) -> None:
    three.press("delete-0")
    other = editor_form.edit(three.client, three.path.rpartition("/")[2])
    three.press("undo").type(title="New").press("keep")

    assert other.type(title="Old").press("keep").answer.status_code == 409


@pytest.mark.parametrize("base", ["x", "-1", "999999", "9" * 50, "²"])
def test_form_of_no_state_is_overtaken_or_taken_as_the_newest(base: str, three: editor_form.Editor) -> None:
    answer = three.type(base=base, title="Kept").press("keep").answer

    assert answer.status_code in (200, 409)
    assert three["title"] == "Kept"


# Publishing


def test_draft_that_changed_since_it_was_looked_at_is_not_published(
    three: editor_form.Editor, database_url: str
) -> None:
    page = three.client.get(three.path).text
    looked_at = page.partition('name="draft" value="')[2].partition('"')[0]
    three.type(title="Changed").press("keep")

    assert three.client.post(f"{three.path}/publish", data={"draft": looked_at}).status_code == 409
    assert not dump(database_url)["survey_versions"]
    three.press("undo")
    assert three.client.post(f"{three.path}/publish", data={"draft": looked_at}).status_code == 303


def test_draft_of_another_researcher_is_out_of_reach(
    app: Any, three: editor_form.Editor, database_url: str
) -> None:
    stranger = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url, owner="stranger"))
    before = dump(database_url)["drafts"]

    assert stranger.get(f"{three.path}/edit").status_code == 404
    assert stranger.post(f"{three.path}/edit", data={"title": "Mine"}).status_code == 404
    assert dump(database_url)["drafts"] == before


@pytest.mark.parametrize("version", ["abc", "0", "2", "1.0", "-1", "9" * 40])
def test_a_version_that_does_not_exist_is_refused_with_the_range(
    signed_in: FlaskClient, survey: Published, version: str
) -> None:
    answer = signed_in.get(f"/manage/surveys/{survey.slug}/report.json?version={version}")
    assert answer.status_code == 404
    assert "from 1 to 1" in answer.json["error"]["message"]


def test_a_new_scale_serves_its_shares_and_one_button_serves_the_average_alone(
    three: editor_form.Editor,
) -> None:
    """Five levels at the loss of two fair coins and 5 points; numbers as in the table of the guide."""
    three.type({"questions[0].kind": "scale"}).press("renew-0")
    for place in range(5):
        if place > 1:
            three.press("add_option-0")
        three.type({f"questions[0].options[{place}].text": f"Level {place}"})
    three.press("keep")

    assert three.document["questions"][0]["design"]["mechanism"] == "k_ary"
    # The budget of three questions is rounded down: at the loss of two fair coins it is 4,609 and 104,814.
    said = html.unescape(three.page)
    assert "One draw over all answers”, 4,610 respondents" in said
    assert "Near answers more often”, 104,833 and 3,027." in said

    # Six levels more and a smaller loss: near answers take fewer for the average.
    before = three.document["questions"][0]["design"]
    for place in range(5, 11):
        three.press("add_option-0").type({f"questions[0].options[{place}].text": f"Level {place}"})
    three.type(budget="2.1").press("keep")
    assert "for_average-0" in three.read().values("action")
    three.press("for_average-0")
    assert three.document["questions"][0]["design"] == {**before, "mechanism": "ordinal"}
    assert "it serves the average alone" in three.page
    three.press("for_shares-0")
    assert three.document["questions"][0]["design"] == before
    # Of what is no scale, or may have one design only, the buttons do nothing.
    kept = three.document
    three.press("for_average-1")
    assert three.document == kept
    three.type({"questions[0].prefer_not_to_say": "true"}).press("for_average-0")
    assert three.document["questions"][0]["design"]["mechanism"] == "k_ary"


@pytest.mark.parametrize(
    ("language", "says"), [("en", "Yes, chance may do that"), ("es", "Sí, el azar puede hacerlo")]
)
def test_a_new_check_is_ready_in_the_language_of_the_survey(language: str, says: str) -> None:
    document = carry_out_action(new_document(language), "add", "check").document
    check = document["questions"][-1]
    assert {option["name"]: option["text"] for option in check["options"]}[check["correct"]] == says
    first = {**document["questions"][0], "text": "Asked?"}
    complete = {**document, "title": "Ready", "questions": [first, check]}
    assert parse_definition(complete).as_json()["questions"][1]["feedback"] == check["feedback"]
