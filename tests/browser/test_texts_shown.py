"""The researcher's texts and a question about the procedure, which are shown and never sent."""

import pytest
from playwright.sync_api import expect

from tests.browser import question_screens
from tests.browser.conftest import Opener
from tests.browser.question_screens import CHECK, QUESTIONS, TEXT
from tests.browser.site_users import PHONE, Respondent
from tests.support import factories


def test_a_question_about_the_procedure_answers_at_once_may_be_passed_and_is_never_sent(
    open_page: Opener, installation: factories.Served
) -> None:
    visit = question_screens.open_survey(
        open_page, installation, question_screens.survey(CHECK, QUESTIONS["stole"])
    )
    page = visit.page
    expect(visit.button("Start · 1 question")).to_be_visible()
    question_screens.begin(visit)
    for choice, verdict in [("The researcher", "Not quite."), ("Nobody", "That is right.")]:
        page.get_by_role("radio", name=choice).check()
        said = f"{verdict} Every answer passes a coin on this device."
        expect(page.get_by_role("status")).to_contain_text(said, use_inner_text=True)
    question_screens.go_on(visit)
    page.go_back()
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    question_screens.go_on(visit)
    question_screens.answer(visit, QUESTIONS["stole"], "no")
    assert len(question_screens.sent_reports(visit, installation)) == 1


HOSTILE = """**bold *and* italic** and *more*, <img src=x onerror="fail()"> &amp; [good](https://example.org/a?b=c)
second line [mail](mailto:a@example.org) [bad](javascript:fail()) [data](data:text/html,x) [http](http://example.org)
[upper](HTTPS://example.org) [broken](https://exa mple.org) [quote](https://example.org/"onclick="fail())

- first **item**
- second

last * alone ** and [open"""


@pytest.mark.parametrize("place", ["introduction", "text"])
def test_a_text_is_built_of_a_few_elements_and_nothing_in_it_runs(
    open_page: Opener, installation: factories.Served, place: str
) -> None:
    entries = [{**TEXT, "text": HOSTILE}] if place == "text" else []
    introduction = HOSTILE if place == "introduction" else ""
    visit = question_screens.open_survey(
        open_page,
        installation,
        question_screens.survey(*entries, QUESTIONS["stole"], introduction=introduction),
    )
    if place == "text":
        question_screens.begin(visit)
    else:
        visit.page.get_by_text("More about this survey").click()
    prose = visit.page.locator("main .own")
    links = prose.locator("a").evaluate_all(
        "all => all.map((a) => [a.textContent, a.getAttribute('href'), a.target, a.rel])"
    )
    safe = ["_blank", "noopener noreferrer"]
    assert links == [
        ["good", "https://example.org/a?b=c", *safe],
        ["mail", "mailto:a@example.org", *safe],
    ]
    names = prose.locator("*").evaluate_all(
        "all => [...new Set(all.map(({ localName }) => localName))].sort()"
    )
    assert names == ["a", "br", "em", "li", "p", "strong", "ul"]
    assert prose.locator("li").all_inner_texts() == ["first item", "second"]
    said = "\n".join(prose.all_inner_texts())
    for kept in (
        '<img src=x onerror="fail()"> &amp;',
        "[bad](javascript:fail())",
        "last * alone ** and [open",
    ):
        assert kept in said
    assert prose.locator("strong").first.inner_text() == "bold and italic"


def test_the_researchers_own_words_and_all_answers_stay_in_the_surveys_language(
    open_page: Opener, installation: factories.Served
) -> None:
    slug = factories.publish(installation.database_url, question_screens.survey(QUESTIONS["any"])).slug
    visit = Respondent(open_page(**PHONE, locale="es"), slug, "es").open()
    question_screens.begin(visit)
    marked = visit.page.locator(".option span").evaluate_all("all => all.map((span) => span.lang)")
    assert marked == ["en"] * 5
    assert visit.page.locator(".option span").all_inner_texts()[3:] == ["None of these", "Prefer not to say"]
