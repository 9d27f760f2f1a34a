"""Questions that a researcher keeps for other surveys, and questions that are pasted as a list."""

import html
import re
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from server.store.models import LibraryQuestion, Researcher
from server.study.question_library import MOST_KEPT
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.editor_form import Editor, edit, new
from tests.support.full_installation import EDITOR, OWNER, Scene

LISTED = """
1. Have you ever copied in an exam?

2) Which of these did you use?
   - Notes
   – A phone
\tAnother person
     Prefer not to say
• is no answer without its question? no: it is one of the question above
Have you paid for it?
 * Yes
 * No
"""
OPTIONS = [{"name": "rarely", "text": "Rarely"}, {"name": "often", "text": "Often"}]


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here is the same on every database."""
    return sqlite(True)


def read_said(editor: Editor) -> str:
    found = re.search(r'id="said"[^>]*>(.*?)</p>', editor.page)
    assert found is not None
    return html.unescape(found[1])


def list_kept(editor: Editor) -> list[tuple[str, str]]:
    """Numbers and words of what stands in the library."""
    shown = re.findall(r'<option value="(\d+)" dir="auto">(.*?)</option>', editor.page)
    return [(number, html.unescape(text)) for number, text in shown]


def rich(name: str) -> dict[str, Any]:
    """A question with a condition, answers and a strength of its own."""
    return {
        "name": name,
        "kind": "select_one",
        "text": "How often?",
        "options": OPTIONS,
        "prefer_not_to_say": True,
        "design": {"mechanism": "k_ary", "epsilon": 0.5},
        "show_if": {"question": "q1", "any_of": ["yes"]},
        "otherwise": "rarely",
    }


def test_a_question_goes_from_one_survey_to_another(signed_in: FlaskClient, database_url: str) -> None:
    first = factories.definition(questions=[factories.question("q1", "Have you?"), rich("often")])
    editor = edit(signed_in, factories.draft(database_url, first))
    assert "It is empty." in editor.page
    before = editor.document
    editor.press("keep_question-1")
    assert read_said(editor) == "Question 2 is in your library now."
    assert editor.document == before, "the survey stays as it is"
    assert read_said(editor.press("keep_question-1")) == "Question 2 is in your library already."

    other = edit(signed_in, factories.draft(database_url, factories.definition([0.25])))
    ((number, text),) = list_kept(other)
    assert text == "How often? · One of several"
    other.type(kept=number).press("insert_question").type(kept=number).press("insert_question")
    assert read_said(other) == "Question 3 was added."
    own = {name: value for name, value in rich("often").items() if name not in ("show_if", "otherwise")}
    assert other.document["questions"][1:] == [own, {**own, "name": "often_2"}]


def test_what_is_inserted_is_as_strong_as_the_survey_has_it(
    signed_in: FlaskClient, database_url: str
) -> None:
    strong = {name: value for name, value in rich("a").items() if name not in ("show_if", "otherwise")}
    edit(signed_in, factories.draft(database_url, factories.definition(questions=[strong]))).press(
        "keep_question-0"
    )
    shared = factories.definition([0.25], format=2, strength={"gamma": 0.1})
    shared["questions"][0]["design"] = {"mechanism": "coin_flip"}
    editor = edit(signed_in, factories.draft(database_url, shared))
    editor.type(kept=list_kept(editor)[0][0]).press("insert_question")
    assert editor.document["questions"][1]["design"] == {"mechanism": "k_ary"}
    assert editor.document["strength"] == {"gamma": 0.1}


def test_library_is_emptied_and_surveys_keep_what_they_have(
    signed_in: FlaskClient, database_url: str
) -> None:
    editor = edit(signed_in, factories.draft(database_url, factories.definition([0.25, 0.3])))
    editor.press("keep_question-0").press("keep_question-1")
    assert len(list_kept(editor)) == 2
    number = list_kept(editor)[0][0]
    editor.type(kept=number).press("insert_question")
    editor.type(kept=number).press("forget_question")
    assert read_said(editor) == "It is no longer in your library. Surveys that have it keep it."
    assert [other for other, _ in list_kept(editor)] != [number]
    assert len(list_kept(editor)) == 1
    assert len(editor.document["questions"]) == 3


def test_a_question_without_words_is_not_kept_and_a_full_library_says_so(
    signed_in: FlaskClient, database_url: str
) -> None:
    editor = new(signed_in)
    assert "has no wording yet" in read_said(editor.press("keep_question-0"))
    assert list_kept(editor) == []
    editor.type({"questions[0].text": "Have you?"}).press("keep_question-0")
    with factories.writing(database_url) as session:
        (owner,) = session.scalars(sa.select(LibraryQuestion.researcher_id))
        entry = b'{"name": "q", "kind": "yes_no", "text": "%d", "design": {"mechanism": "coin_flip"}}'
        session.add_all(
            LibraryQuestion(researcher_id=owner, entry=entry % number) for number in range(MOST_KEPT - 1)
        )
    editor.type({"questions[0].text": "One more?"}).press("keep_question-0")
    assert (
        read_said(editor) == "Your library is full: it holds no more than 500 questions. Take one out first."
    )
    for action in ("keep_question-7", "keep_question-x", "insert_question", "forget_question"):
        editor.type(kept="0" if action == "keep_question-7" else "99999").press(action)
    assert len(list_kept(editor)) == MOST_KEPT
    assert len(editor.document["questions"]) == 1


def test_nobody_else_sees_takes_or_deletes_it_and_it_goes_with_the_account(scene: Scene) -> None:
    owner, editor = (edit(scene.people[person], scene.slug) for person in (OWNER, EDITOR))
    owner.press("keep_question-0")
    ((number, _),) = list_kept(owner)
    for action in ("insert_question", "forget_question"):
        editor = edit(scene.people[EDITOR], scene.slug)
        count = len(editor.document["questions"])
        editor.type(kept=number).press(action)
        assert list_kept(editor) == []
        assert len(editor.document["questions"]) == count
    assert len(list_kept(edit(scene.people[OWNER], scene.slug))) == 1
    edit(scene.people[EDITOR], scene.slug).press("keep_question-0")
    with factories.writing(scene.database_url) as session:
        session.execute(sa.delete(Researcher).where(Researcher.id == scene.numbers[EDITOR]))
        assert session.scalars(sa.select(LibraryQuestion.researcher_id)).all() == [scene.numbers[OWNER]]


def test_a_list_is_shown_as_it_is_understood_and_then_added(
    signed_in: FlaskClient, database_url: str
) -> None:
    editor = edit(signed_in, factories.draft(database_url, factories.definition([0.25])))
    editor.type(list=LISTED).press("read_list")
    understood = editor.page.partition('id="understood"')[2]
    assert "3 questions are understood" in understood
    assert editor["list"].replace("\r\n", "\n").strip() == LISTED.strip()
    assert len(editor.document["questions"]) == 1, "nothing is added by looking"

    editor.press("take_list")
    assert read_said(editor) == "Added from the list. The first of them is question 2."
    assert editor["list"].strip() == ""
    copied, used, paid = editor.document["questions"][1:]
    assert (copied["kind"], copied["text"]) == ("yes_no", "Have you ever copied in an exam?")
    assert (used["kind"], used["text"]) == ("select_one", "Which of these did you use?")
    assert [option["text"] for option in used["options"]] == [
        "Notes",
        "A phone",
        "Another person",
        "is no answer without its question? no: it is one of the question above",
    ]
    assert used["prefer_not_to_say"] is True
    assert used["options"][0]["name"] == "notes"
    assert (paid["kind"], "options" in paid) == ("yes_no", False)
    assert all(entry["design"] for entry in (copied, used, paid))
    assert len({entry["name"] for entry in editor.document["questions"]}) == 4


def test_spanish_answers_are_known_as_well(signed_in: FlaskClient, database_url: str) -> None:
    editor = edit(signed_in, factories.draft(database_url, factories.definition([0.25], language="es")))
    editor.type(list="¿Ha copiado?\n- sí\n- NO\n- Prefiero no decirlo").press("take_list")
    asked = editor.document["questions"][1]
    assert (asked["kind"], asked["prefer_not_to_say"]) == ("yes_no", True)


def test_what_is_pasted_from_other_programs_keeps_its_words(
    signed_in: FlaskClient, database_url: str
) -> None:
    """A list with numbers and letters, bullets and boxes of forms, rows of a spreadsheet; a full stop is no number."""
    editor = edit(signed_in, factories.draft(database_url, factories.definition([0.25])))
    pasted = (
        "1. Did you pay Mr. B. Smith in the last month. Or before?\n"
        "2.\tHow often?\na.\tNever\n(b) Once\n"
        "II. Who asked?\n-Ana\n☐ Bo\n[ ] Nobody\n"
        "How long?\tAn hour\t\tA day\n"
        "a) Do letters alone make questions?"
    )
    editor.type(list=pasted).press("take_list")
    assert [
        (asked["text"], *(option["text"] for option in asked.get("options", ())))
        for asked in editor.document["questions"][1:]
    ] == [
        ("Did you pay Mr. B. Smith in the last month. Or before?",),
        ("How often?", "Never", "Once"),
        ("II. Who asked?", "Ana", "Bo", "Nobody"),
        ("How long?", "An hour", "A day"),
        ("Do letters alone make questions?",),
    ]


@pytest.mark.parametrize(
    ("lines", "name", "message"),
    [
        ("- An answer\nA question?", "Line 1", "is an answer, and no question stands above it"),
        ("Fine?\n\nOne?\n - alone", "Line 3", "must have no answers below it, or 2 to 50; it has 1"),
        ("Fine?\n" + "x" * 501, "Line 2", "must have 1 to 500 characters; it has 501"),
        ("Q?\n - " + "x" * 201 + "\n - b", "Line 2", "must have 1 to 200 characters; it has 201"),
        ("Q?\n - \n - b\n - c", "Line 2", "must have 1 to 200 characters; it has 0"),
        ("Q?\tb\t" + "x" * 201, "Line 1", "must have 1 to 200 characters; it has 201"),
        ("Q?\tb", "Line 1", "must have no answers below it, or 2 to 50; it has 1"),
        ("Q?\n - Same\n - same.", "Line 1", "has the same answer twice below it"),
        (" \n", "List of questions", "must hold 1 to 99 questions; it holds 0"),
        ("Q?\n" * 100, "List of questions", "must hold 1 to 99 questions; it holds 100"),
    ],
)
def test_a_list_that_cannot_be_read_is_kept_with_what_is_wrong_by_line(
    lines: str, name: str, message: str, signed_in: FlaskClient, database_url: str
) -> None:
    editor = edit(signed_in, factories.draft(database_url, factories.definition([0.25])))
    before = editor.document
    for action in ("read_list", "take_list"):
        editor.type({"list": lines, "title": "Typed meanwhile"}).press(action)
        assert editor.answer.status_code == 422
        assert f"<strong>{name}:</strong> {message}" in html.unescape(editor.page)
        assert editor["list"].replace("\r\n", "\n").rstrip("\n") == lines.rstrip("\n")
        assert editor.document == {**before, "title": "Typed meanwhile"}, "what was typed beside it is kept"


def test_every_problem_of_a_list_is_named_at_once(signed_in: FlaskClient, database_url: str) -> None:
    editor = edit(signed_in, factories.draft(database_url, factories.definition([0.25])))
    editor.type(list="- a\nQ?\n - alone\n" + "x" * 600).press("take_list")
    assert re.findall(r"<strong>(Line \d):", editor.page) == ["Line 1", "Line 2", "Line 4"]


def test_a_full_survey_takes_no_list_and_nothing_of_the_library(
    signed_in: FlaskClient, database_url: str
) -> None:
    editor = edit(signed_in, factories.draft(database_url, factories.definition([0.01] * 100)))
    editor.type(list="One more?").press("take_list")
    assert "cannot be taken: the survey has as many questions as it can have" in editor.page
    editor = edit(signed_in, editor.path.rpartition("/")[2]).press("keep_question-0")
    editor.type(kept=list_kept(editor)[0][0]).press("insert_question")
    assert len(editor.document["questions"]) == 100


def test_a_list_begins_a_new_survey(signed_in: FlaskClient) -> None:
    editor = new(signed_in).type(title="Listed", list="A?\nB?").press("read_list")
    assert "2 questions are understood" in editor.page
    editor.press("take_list")
    assert editor.wordings[-2:] == ["A?", "B?"]
