"""Ten tasks of somebody who has never seen the site, done by what is written on it; none may take a step more.

They press what can be pressed and fill in what has a label, as its words name it, and never type an address. Every
press and every field is counted; CONTRIBUTING.md has the numbers in a table.
"""

import re
import secrets
from collections.abc import Callable

import pytest
from playwright.sync_api import Download, Locator, Page, expect

from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, sign_in
from tests.support import factories

CONTRIBUTING = (factories.ROOT / "CONTRIBUTING.md").read_text("utf-8")
STEPS = {
    name: (int(clicks), int(fields))
    for name, clicks, fields in re.findall(r"^\| ([^|]+\S) \| (\d+) \| (\d+) \|$", CONTRIBUTING, re.MULTILINE)
}
"""By task: presses, and fields."""


class Newcomer:
    """Somebody who does what the page offers, and is counted."""

    def __init__(self, page: Page, served: factories.Served) -> None:
        self.page = page
        self.served = served
        self.title = f"Exams {secrets.token_hex(4)}"  # others use the same site
        self.presses = 0
        self.fields = 0

    def press(self, name: str | re.Pattern[str]) -> None:
        """Press the first thing that is called so: what has a role, else what folds."""
        found = self.page.get_by_role("button", name=name, exact=True)
        for role in ("link", "checkbox"):
            found = found.or_(self.page.get_by_role(role, name=name, exact=True))  # type: ignore[arg-type]
        found = found.or_(self.page.locator("summary").filter(has_text=name))
        found.filter(visible=True).first.click()
        self.presses += 1

    def fill(self, label: str | re.Pattern[str], text: str) -> None:
        """Fill in the first field that is called so, or choose in it."""
        field = self.page.get_by_label(label, exact=True).filter(visible=True).first
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(label=text)
        else:
            field.fill(text)
        self.fields += 1

    def download(self, name: str) -> Download:
        """Press what gives a file."""
        with self.page.expect_download() as arriving:
            self.press(name)
        return arriving.value

    def read(self, text: str | re.Pattern[str]) -> Locator:
        """Find something written on the page."""
        found = self.page.get_by_text(text).filter(visible=True).first
        expect(found).to_be_visible()
        return found

    def wait_until_saved(self) -> None:
        """The page says so."""
        expect(self.page.get_by_role("status").filter(has_text="Saved").first).to_be_visible()


def exams(person: Newcomer, *, published: bool = True, questions: int = 1) -> factories.Published | None:
    """A survey of theirs: one that is open, or a draft."""
    wordings = "Have you copied?", "Have you paid?", "Have you lied?", "Have you stolen?", "Have you cheated?"
    asked = [factories.question(f"q{place}", wordings[place]) for place in range(questions)]
    document = factories.definition(title=person.title, questions=asked)
    if published:
        return factories.publish(person.served.database_url, document, minimum=10)
    factories.draft(person.served.database_url, document)
    return None


def make_answered_exams(person: Newcomer) -> factories.Published:
    """One that many answered in three strata."""
    survey = exams(person)
    assert survey is not None
    links = factories.plant(person.served.database_url, survey.slug, "North\nSouth\nCoast")
    for link, yes in zip(links.values(), (300, 420, 700), strict=True):
        factories.store(person.served.database_url, survey, [([1], yes), ([0], 1_000 - yes)], link)
    return survey


def publish_a_first_survey(person: Newcomer) -> None:
    person.page.goto(f"/manage/sign-in/{factories.sign_in_secret(person.served.database_url)}")
    person.press("Sign in")
    person.press("New survey")
    person.fill("Title", person.title)
    person.fill("Wording", "Have you ever copied in an exam?")
    person.wait_until_saved()
    person.press("Save the draft")
    person.press("Publish version 1")
    person.read("Share this link")


def see_what_respondents_see(person: Newcomer) -> None:
    exams(person, published=False)
    sign_in(person.page, person.served.database_url)
    person.press(person.title)
    person.press("Preview")
    person.read("Preview: nothing is sent or stored.")


def tell_the_higher_of_two_strata(person: Newcomer) -> None:
    """Also whether that is sure: the sentence says it, or that the responses do not tell."""
    make_answered_exams(person)
    sign_in(person.page, person.served.database_url)
    person.press(person.title)
    person.press("Results")
    person.fill("Second", "Coast")
    person.press("Compare")
    person.read(re.compile(r"Of 100, “Yes” is true of \d+\sto\s\d+ more in Coast than in North\."))


def tell_a_newspaper(person: Newcomer) -> None:
    """A sentence that says no more than the interval allows, to be pasted."""
    make_answered_exams(person)
    sign_in(person.page, person.served.database_url)
    person.press(person.title)
    person.press("Results")
    person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    said = person.read(
        re.compile(r"“Yes” is true of \d+\sto\s\d+\sof\s100\. Best guess:\s\d+\.")
    ).inner_text()
    person.press("Copy the sentence")
    person.read(re.compile("^Copied$"))
    sure = "Each range by itself holds the truth in about 95 of 100 such surveys; of 100 ranges, about 5 miss it."
    copied = person.page.evaluate("navigator.clipboard.readText()")
    assert copied.split() == f"{said} {sure}".split()


def protect_one_question_more(person: Newcomer) -> None:
    exams(person, published=False, questions=5)
    sign_in(person.page, person.served.database_url)
    person.press(person.title)
    person.press("Edit")
    person.press("Select question 4")
    person.fill(re.compile("Strength ε of each"), "0.5")
    person.press("Set their strength")
    person.wait_until_saved()
    person.read(re.compile(r"ε\s0\.50"))


def ask_the_same_in_spanish(person: Newcomer) -> None:
    """A copy, whose texts are translated by hand."""
    exams(person)
    sign_in(person.page, person.served.database_url)
    person.press(person.title)
    person.press("Keep or delete")
    person.fill("Title of the copy", "Exámenes")
    person.press("Duplicate")
    person.press("Edit")
    person.press("Introduction and language")
    person.fill("Language of your texts", "Español")
    person.fill("Wording", "¿Has copiado?")
    person.wait_until_saved()
    person.press("Save the draft")
    person.read("¿Has copiado?")


def rehearse_with_made_up_people(person: Newcomer) -> None:
    """What a thousand would let one say."""
    exams(person, published=False)
    sign_in(person.page, person.served.database_url)
    person.press(person.title)
    person.press("Try it with made-up people")
    person.fill("Made-up respondents", "1000")
    person.press("Simulate")
    person.read("What 1,000 made-up people would give")


def give_each_school_a_link(person: Newcomer) -> None:
    exams(person)
    sign_in(person.page, person.served.database_url)
    person.press(person.title)
    person.press("Links")
    person.press("Add strata")
    person.fill("One on each line", "North school\nSouth school")
    person.press("Add")
    person.press("Back to the links")
    person.read("South school")


def let_a_colleague_look(person: Newcomer) -> None:
    exams(person)
    sign_in(person.page, person.served.database_url)
    person.press(person.title)
    person.press("People")
    person.fill("Name of the colleague to invite", "Eva")
    person.press("Make an invitation")
    person.read(re.compile("Give this link to Eva"))


def take_the_data_away(person: Newcomer) -> None:
    """The noisy responses, with scripts that compute the estimates again."""
    make_answered_exams(person)
    sign_in(person.page, person.served.database_url)
    person.press(person.title)
    person.press("Results")
    assert person.download("Noisy responses with scripts").suggested_filename.endswith(".zip")


TASKS: dict[str, Callable[[Newcomer], None]] = {
    "Publish a first survey, from the link that the server prints": publish_a_first_survey,
    "See what respondents will see": see_what_respondents_see,
    "Which of two strata is higher, and is that sure?": tell_the_higher_of_two_strata,
    "What may I tell the newspaper?": tell_a_newspaper,
    "Make question 4 more private": protect_one_question_more,
    "Ask the same in Spanish": ask_the_same_in_spanish,
    "What would a thousand people let me say?": rehearse_with_made_up_people,
    "Give each of two schools a link of its own": give_each_school_a_link,
    "Let a colleague look": let_a_colleague_look,
    "Take the data to R or Python": take_the_data_away,
}


@pytest.mark.parametrize("task", TASKS)
def test_a_task_takes_the_steps_that_are_written_down(
    task: str, open_page: Opener, installation: factories.Served
) -> None:
    person = Newcomer(open_page(**DESK), installation)
    TASKS[task](person)
    assert (person.presses, person.fields) == STEPS[task]


def test_every_task_is_written_down() -> None:
    assert STEPS.keys() == TASKS.keys()
