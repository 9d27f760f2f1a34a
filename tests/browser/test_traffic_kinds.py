"""With the coins fixed, visits leave the same bytes whatever was answered, of every kind, and whichever way it led."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import question_screens
from tests.browser.conftest import Opener
from tests.browser.question_screens import ANSWERS, CHECK, QUESTIONS, TEXT
from tests.browser.recorder import Recorder, recording
from tests.browser.site_users import Respondent
from tests.browser.visit_traces import COINS, Leak, differences, find_missed, record_visit
from tests.support import factories


@pytest.fixture(scope="module")
def recorder(installation: factories.Served) -> Iterator[Recorder]:
    """The server, behind something that keeps what is sent to it."""
    with recording(installation.url) as running:
        yield running


def everything_answered(visit: Respondent, which: int) -> None:
    """Answer a question of every kind with one of two answers; the check wrongly and again, or not at all."""
    question_screens.begin(visit)
    question_screens.go_on(visit)  # a text
    question_screens.go_on(visit)  # a section
    for name, question in QUESTIONS.items():
        question_screens.answer(visit, question, ANSWERS[name][which])
    for option in CHECK["options"] if which else ():
        visit.page.get_by_role("radio", name=option["text"]).check()
    question_screens.go_on(visit)
    visit.send()


IF_YES = {"show_if": {"question": "stole", "any_of": ["yes"]}}
DEPENDENT = {
    "taken": "time",
    "often": "never",
    "pills": [],
    "any": ["prefer_not_to_say"],
    "hours": 0,
    "cash": "prefer_not_to_say",
    "age": 16,
    "boxed": "goods",
}
"""What is asked after a Yes, with the answer of everybody else."""

ROUTED = question_screens.survey(
    QUESTIONS["stole"],
    {**TEXT, **IF_YES},
    *({**QUESTIONS[name], **IF_YES, "otherwise": otherwise} for name, otherwise in DEPENDENT.items()),
    {**CHECK, **IF_YES},
    QUESTIONS["told"],
)


def way_taken(visit: Respondent, truth: str) -> None:
    """Three questions for a No, ten for a Yes."""
    question_screens.begin(visit)
    rest_of_the_way(visit, truth)


def rest_of_the_way(visit: Respondent, truth: str) -> None:
    question_screens.answer(visit, QUESTIONS["stole"], truth)
    if truth == "yes":
        question_screens.go_on(visit)
        for name in DEPENDENT:
            question_screens.answer(visit, QUESTIONS[name], ANSWERS[name][0])
        question_screens.go_on(visit)
    question_screens.answer(visit, QUESTIONS["told"], "yes")
    visit.send()


def way_changed(visit: Respondent, truth: str) -> None:
    """Begin the other way, come back, and take this one."""
    question_screens.begin(visit)
    question_screens.answer(visit, QUESTIONS["stole"], {"yes": "no", "no": "yes"}[truth])
    visit.page.go_back()
    expect(visit.page.get_by_role("heading", level=1)).to_have_text(QUESTIONS["stole"]["text"])
    rest_of_the_way(visit, truth)


@pytest.mark.parametrize("coins", COINS)
@pytest.mark.parametrize(
    ("document", "behave", "truths"),
    [
        (question_screens.everything(), everything_answered, (0, 1)),
        (ROUTED, way_taken, ("yes", "no")),
        (ROUTED, way_changed, ("yes", "no")),
    ],
    ids=["every kind", "way", "changed way"],
)
def test_answers_of_every_kind_and_the_way_they_lead_leave_the_same_bytes(
    open_page: Opener,
    recorder: Recorder,
    installation: factories.Served,
    document: dict[str, Any],
    behave: Callable[[Respondent, Any], None],
    truths: tuple[Any, Any],
    coins: str,
) -> None:
    survey = factories.publish(installation.database_url, document)
    one, other = (
        record_visit(open_page, recorder, installation, survey, truth, behave, coins) for truth in truths
    )
    assert differences(one, other) == []
    (posted,) = (request for request in one["requests"] if request["method"] == "POST")
    # Every coin is below the first weight of every row, or above all of them but the last.
    designs = [design for question in read_published(survey, installation) for design in question["designs"]]
    last = [len(design["weights"][0]) - 1 for design in designs]
    assert json.loads(posted["body"])["reports"] == (last if coins == "Yes" else [0] * len(last))


def read_published(survey: factories.Published, served: factories.Served) -> list[dict[str, Any]]:
    """The questions of a survey that are sent, as they are published."""
    _, _, body = factories.ask(f"{served.url}/s/{survey.slug}/survey.json")
    return [entry for entry in json.loads(body)["definition"]["questions"] if "designs" in entry]


LEAKING_WAYS: dict[str, tuple[list[Leak], list[str]]] = {
    "in what is sent, its history and what is stored": (
        [
            ("answer.js", "way.sign(writeBody(", "way.sign(' '.repeat(answers.size) + writeBody("),
            (
                "answer.js",
                "for (let step = screen + 1; step <= place; step += 1)"
                " history.pushState({ screen: step }, '', way.address);",
                "history.pushState({ screen: place }, '', way.address);",
            ),
            (
                "answer.js",
                "coins?.fill(0);",
                "sessionStorage.setItem('answers', JSON.stringify([...answers]));"
                " localStorage.setItem('n', asked.filter(isShown).length);",
            ),
        ],
        [r"requests\[\d+\]\.body: ", r"stored\.history\[0\]: ", r"stored\.session\[", r"stored\.local\["],
    ),
    "by a request for each screen": (
        [("answer.js", "function showEntry(entry) {", "function showEntry(entry) { fetch('/');")],
        [r"requests: "],
    ),
}
"""Pages that leak which questions were shown, and every place where it must be seen."""

LEAKING_SCREENS: list[Leak] = [
    (
        "blocks.js",
        "says.replaceChildren(part);",
        "says.replaceChildren(part); sessionStorage.setItem('check', target.value);",
    ),
    (
        "field.js",
        "if (pass?.checked) return",
        "document.title = input.value; if (pass?.checked) return",
    ),
    (
        "ticks.js",
        "if (!target.checked) return;",
        "if (!target.checked) return; fetch('/');",
    ),
]
"""A check in storage, a number in the title, and a request for each tick."""


@pytest.mark.parametrize("page", LEAKING_WAYS)
def test_a_page_that_leaks_the_way_is_caught_wherever_it_does(
    open_page: Opener, recorder: Recorder, installation: factories.Served, page: str
) -> None:
    survey = factories.publish(installation.database_url, ROUTED)
    leaks, places = LEAKING_WAYS[page]
    yes, no = (
        record_visit(open_page, recorder, installation, survey, truth, way_taken, leaks=leaks)
        for truth in ("yes", "no")
    )
    found = differences(yes, no)
    assert find_missed(found, places) == [], found


def test_screens_that_leak_their_answers_are_caught(
    open_page: Opener, recorder: Recorder, installation: factories.Served
) -> None:
    survey = factories.publish(installation.database_url, question_screens.everything())
    one, other = (
        record_visit(
            open_page, recorder, installation, survey, which, everything_answered, leaks=LEAKING_SCREENS
        )
        for which in (0, 1)
    )
    found = differences(one, other)
    assert find_missed(found, [r"stored\.session", r"stored\.window\[1\]: ", r"requests: "]) == [], found
