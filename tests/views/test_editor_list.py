"""The editor's list of questions, without scripts: one is open, and what is done with several at once."""

import re

import pytest
from flask import Flask

from server.study.editing import LEAST_STRENGTH, MOST_STRENGTH, carry_out_action, new_document, spending
from tests.conftest import NewDatabase
from tests.support import editor_form

WORDINGS = ["A?", "B?", "C?", "D?", "E?"]


@pytest.fixture(scope="module")
def prepared_editor(sqlite: NewDatabase) -> editor_form.Prepared:
    """Five yes/no questions, written once: nearly every test begins with them."""
    return editor_form.prepare(sqlite(True), "Five", *WORDINGS)


@pytest.fixture
def database_url(request: pytest.FixtureRequest, sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here happens before anything reaches a database."""
    return editor_form.copy_prepared(request, "five", sqlite(True))


@pytest.fixture
def five(prepared_editor: editor_form.Prepared, app: Flask) -> editor_form.Editor:
    """The editor with five yes/no questions."""
    return prepared_editor.open(app)


def list_open(editor: editor_form.Editor) -> list[int]:
    """The places of the entries that are folded out."""
    cards = re.findall(r'<details class="entry"[^>]*data-place="(\d+)"([^>]*)>', editor.page)
    assert len(cards) == len(editor.document["questions"])
    return [int(place) for place, rest in cards if "open" in rest]


def list_selected(editor: editor_form.Editor) -> list[int]:
    """The places whose boxes are ticked."""
    return [int(place) for place in editor.names("selected")]


def select(editor: editor_form.Editor, *places: int) -> editor_form.Editor:
    return editor.type({"selected": [str(place) for place in places]})


def read_said(editor: editor_form.Editor) -> str:
    found = re.search(r'id="said"[^>]*>([^<]*)<', editor.page)
    assert found is not None
    return found[1]


# One is open


def test_no_question_is_open_until_one_is_asked_for(five: editor_form.Editor) -> None:
    assert list_open(editor_form.edit(five.client, five.path.rpartition("/")[2])) == []
    assert list_open(five.press("down-1")) == [2]
    assert list_open(five.press("add")) == [5]


def test_only_the_first_question_with_something_wrong_is_open_and_each_says_so(
    five: editor_form.Editor,
) -> None:
    five.type({"questions[1].text": "", "questions[3].text": ""}).press("save")

    assert list_open(five) == [1]
    lines = re.findall(r'<details class="entry".*?</summary>', five.page, re.DOTALL)
    assert ["please look at it" in line for line in lines] == [False, True, False, True, False]
    assert 'href="#at-questions[3].text"' in five.page


# Where one goes


@pytest.mark.parametrize(
    ("action", "order"),
    [
        ("move-0-3", "BCDAE"),
        ("move-3-0", "DABCE"),
        ("move-4-3", "ABCED"),
        ("move-2-2", "ABCDE"),
        ("move-0-5", "ABCDE"),
        ("move-7-0", "ABCDE"),
        ("move-0", "ABCDE"),
        ("move-0-x", "ABCDE"),
    ],
)
def test_question_goes_to_the_place_where_it_was_dropped(
    five: editor_form.Editor, action: str, order: str
) -> None:
    five.type({"questions[0].text": "A!?"}).press(action)

    assert "".join(wording[0] for wording in five.wordings) == order
    assert "A!?" in five.wordings, "what was just typed went with it"
    assert read_said(five).startswith("Now question") == (order != "ABCDE")


# Several


@pytest.mark.parametrize(
    ("action", "places", "order", "after"),
    [
        ("selected_up", [1, 3], "BADCE", [0, 2]),
        ("selected_up", [0, 1, 3], "ABDCE", [0, 1, 2]),
        ("selected_down", [0, 2], "BADCE", [1, 3]),
        ("selected_down", [1, 3, 4], "ACBDE", [2, 3, 4]),
        ("selected_down", [3, 4], "ABCDE", [3, 4]),
        ("selected_delete", [0, 4], "BCD", []),
        ("selected_duplicate", [0, 2], "ABCACDE", [3, 4]),
        ("selected_up", [], "ABCDE", []),
        ("selected_up", [9], "ABCDE", []),
        ("selected_nonsense", [1], "ABCDE", [1]),
        ("keep", [1, 2], "ABCDE", [1, 2]),
    ],
)
def test_several_are_moved_copied_and_deleted_together(
    five: editor_form.Editor, action: str, places: list[int], order: str, after: list[int]
) -> None:
    before = five.document
    select(five, *places).press(action)

    assert "".join(wording[0] for wording in five.wordings) == order
    assert list_selected(five) == after
    names = [entry["name"] for entry in five.document["questions"]]
    assert len(set(names)) == len(names)
    if before != five.document:
        assert read_said(five)
        five.press("undo")
        assert five.document == before


def test_all_can_be_deleted_and_come_back(five: editor_form.Editor) -> None:
    select(five, 0, 1, 2, 3, 4).press("selected_delete")
    assert five.wordings == []
    assert five.press("undo").wordings == WORDINGS


@pytest.mark.parametrize("typed", ["0.01", "0.5", "0,5", "6.9"])
def test_several_get_one_strength_and_the_others_keep_theirs(five: editor_form.Editor, typed: str) -> None:
    others = spending(five.document).entries
    select(five, 1, 2).type(together=typed).press("selected_strength")

    wanted = float(typed.replace(",", "."))
    spent = spending(five.document).entries
    assert spent[1] == spent[2] == pytest.approx(wanted, abs=1e-6)
    assert [spent[place] for place in (0, 3, 4)] == pytest.approx([others[place] for place in (0, 3, 4)])
    assert list_selected(five) == [1, 2]
    assert read_said(five) == "Set. Each question has a strength of its own now."


@pytest.mark.parametrize("typed", ["", "x", "0.009", "7", "-1", "1e9", "nan", "inf", '"><b>', "9" * 5000])
def test_strength_out_of_range_changes_nothing_and_names_the_range(
    five: editor_form.Editor, typed: str
) -> None:
    before = five.document
    select(five, 1, 2).type(together=typed).press("selected_strength")

    assert five.document == before
    assert list_selected(five) == [1, 2]
    assert five["together"] == typed[:40]
    assert "Strength ε of each must be a number from 0.01 to 6.9" in five.page
    assert "<b>" not in five.page.partition('id="together"')[2].partition("</fieldset>")[0]


@pytest.mark.parametrize("strength", [LEAST_STRENGTH, 0.3, 1, MOST_STRENGTH])
def test_no_question_of_any_kind_reveals_more_than_was_asked_for_together(strength: float) -> None:
    """A design whose range ends before would have kept another strength and said it was set."""
    document = new_document("en")
    for kind in ("select_one", "select_multiple", "scale", "number", "binned_number", "text", "check"):
        document = carry_out_action(document, "add", kind).document
    step = carry_out_action(document, "selected_strength", selected=range(8), strength=strength)

    spent = [epsilon for epsilon in spending(step.document).entries if epsilon is not None]
    assert len(spent) == 6
    assert spent == pytest.approx([strength] * 6, abs=1e-6)


def test_question_whose_device_fixes_its_strength_keeps_it(five: editor_form.Editor) -> None:
    five.type({"questions[1].design.mechanism": "crosswise"}).press("renew-1")
    device = five.document["questions"][1]["design"]
    select(five, 0, 1).type(together="0.5").press("selected_strength")

    assert five.document["questions"][1]["design"] == device
    assert spending(five.document).entries[0] == pytest.approx(0.5, abs=1e-6)
