"""Respondents' pages in languages of theirs alone: lines from right to left, and another language in the middle."""

import re

from playwright.sync_api import Page, expect

from server.output.languages import RESPONDENT_LANGUAGES
from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, Respondent, change_language, sign_in
from tests.support import factories

NUMBER = {
    "name": "hours",
    "kind": "number",
    "text": "How many hours?",
    "low": 0,
    "high": 60,
    "step": 0.5,
    "design": {"mechanism": "stochastic_rounding", "epsilon": 1.5},
}
SURVEY = factories.definition(
    questions=[factories.question("copied", "Have you ever copied in an exam?"), NUMBER]
)


def test_a_language_is_changed_in_the_middle_and_nothing_is_lost(
    open_page: Opener, installation: factories.Served, inspector: Inspector
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    page = open_page(**PHONE, locale="ar-EG")
    arab = Respondent(page, survey.slug, "ar").open()
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    inspector.look(page, "the introduction in Arabic")
    arab.start(2)
    # Chosen, and not taken yet.
    arab.radio("No").check()
    inspector.look(page, "a question in Arabic")
    french = change_language(arab, "fr")
    expect(page.locator("html")).not_to_have_attribute("dir", "rtl")
    expect(french.radio("No")).to_be_checked()
    expect(page.locator(".top")).to_contain_text("1 sur 2")
    french.choose("No")
    # Digits as somebody types them whose keyboard has others; what is shown has those of codes and addresses.
    field = page.get_by_role("textbox")
    field.fill("١٢٫٥")
    arab = change_language(french, "ar")
    expect(field).to_have_value("١٢٫٥")
    arab.button("Next").click()
    review = "Of your answers, only what the coins decided leaves this device"
    expect(arab.heading(review)).to_be_visible()
    body = arab.sent_body()
    arab.button("Back").click()
    expect(field).to_have_value("12.5")

    # Where it cannot be had, it is said so, and nothing changes.
    page.route("**/s/*?lang=pt", lambda route: route.abort())
    open_page.watch(page).expect("Failed to load resource")
    page.locator(".languages summary").click()
    page.locator(".languages a[lang=pt]").click()
    expect(page.locator(".languages")).to_contain_text(
        arab.say(
            "The language could not be changed. Your answers are still here. Check your connection and try again."
        )
    )
    expect(field).to_have_value("12.5")
    page.unroute("**/s/*?lang=pt")

    page.locator(".languages a[lang=pt]").click()
    portuguese = Respondent(page, survey.slug, "pt")
    expect(portuguese.button("Next")).to_be_visible()
    portuguese.button("Next").click()
    expect(portuguese.heading(review)).to_be_visible()
    assert portuguese.sent_body() == body  # the same coins, and the same receipt
    # Loaded again, it is in the language that was chosen last.
    page.reload()
    expect(portuguese.heading("This is what you were about to send")).to_be_visible()
    portuguese.send()
    assert len(factories.list_responses(installation.database_url)) >= 1


def test_a_survey_is_read_in_the_reader_s_language_and_what_is_missing_as_it_is(
    open_page: Opener, installation: factories.Served
) -> None:
    """One set of answers: whichever language they were given in, they are the same bytes, and counted together."""
    french = {
        "Exams": "Examens",
        "Have you ever copied in an exam?": "Avez-vous déjà copié ?",
        "Hello": "Bonjour",
    }
    document = {**SURVEY, "introduction": "Hello", "translations": {"fr": french}}
    survey = factories.publish(installation.database_url, document)
    page = open_page(**PHONE, locale="fr-CA")
    reader = Respondent(page, survey.slug, "fr").open()
    expect(page.locator("#about h2")).to_have_text("Examens")
    expect(page.locator("#about .own").first).to_have_text("Bonjour")
    expect(page.locator("#about .own").first).to_have_attribute("lang", "fr")
    reader.start(2)
    expect(page.locator("h1")).to_have_text("Avez-vous déjà copié ?")
    expect(page.get_by_role("radio", name="Oui", exact=True)).to_be_visible()
    # In a language that it was not translated into, it is what it was written in, and says so.
    arab = change_language(reader, "ar")
    expect(page.locator("h1")).to_have_text("Have you ever copied in an exam?")
    expect(page.locator("h1")).to_have_attribute("lang", "en")
    expect(page.locator("h1")).to_have_attribute("dir", "auto")
    reader = change_language(arab, "fr")
    reader.choose("Yes")
    # A text that is missing.
    expect(page.locator("h1")).to_have_text("How many hours?")
    expect(page.locator("h1")).to_have_attribute("lang", "en")
    page.get_by_role("textbox").fill("7,5")
    reader.button("Next").click()
    reader.send()


def test_numbers_are_written_as_the_reader_reads_them_also_in_a_survey_of_another_language(
    open_page: Opener, installation: factories.Served
) -> None:
    """A comma is for thousands in English and for decimals in Spanish: 999,999 would be a thousand."""
    wide = {"kind": "number", "low": 0, "high": 999_999, "step": 1}
    questions = [
        {
            **wide,
            "name": "cost",
            "text": "What did it cost?",
            "design": {"mechanism": "stochastic_rounding", "epsilon": 1.0},
        },
        {
            **wide,
            "name": "paid",
            "kind": "binned_number",
            "text": "What was paid?",
            "cuts": [10_000],
            "design": {"mechanism": "k_ary", "epsilon": 1.0},
        },
    ]
    survey = factories.publish(installation.database_url, factories.definition(questions=questions))
    page = open_page(**PHONE, locale="es")
    visit = Respondent(page, survey.slug, "es").open()
    expect(page.locator("#odds")).to_contain_text("999.999")
    visit.start(2)
    for number, last in (("123456", "999.999"), ("12345", "10.000 to 999.999")):
        expect(page.locator("#range")).to_have_text("Un número entero de 0 a 999.999.")
        field = page.get_by_role("textbox")
        field.fill(number)
        expect(page.locator("main")).to_contain_text(last)
        assert re.findall(r"\d,\d", page.locator("main").inner_text()) == []
        visit.button("Next").click()


def test_what_explains_and_what_takes_back_is_in_the_readers_language(
    open_page: Opener, installation: factories.Served, inspector: Inspector
) -> None:
    survey = factories.publish(installation.database_url, SURVEY)
    page = open_page(**PHONE, locale="ar", color_scheme="dark")
    arab = Respondent(page, survey.slug, "ar")
    for place, heading in (("/how", "How this works"), ("/receipt", "Is my response in?")):
        arab.open(place)
        expect(arab.heading(heading)).to_be_visible()
        inspector.look(page, f"{place} in Arabic")
        page.locator(".languages summary").click()
        page.locator(".languages a[lang=fr]").click()
        expect(Respondent(page, survey.slug, "fr").heading(heading)).to_be_visible()


def read_latin_digits(page: Page) -> list[str]:
    """What stands on the screen with digits as codes have them, but what is a name, a code or sent."""
    found: list[str] = page.evaluate(
        """() => {
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            const found = [];
            const apart = 'template, script, style, code, pre, output, .words, nav, [translate="no"]';
            while (walker.nextNode()) {
                const { data, parentElement } = walker.currentNode;
                const text = data.replace('SHA-256', '').trim();
                if (/[0-9]/.test(text) && !parentElement.closest(apart)) found.push(text);
            }
            return found;
        }"""
    )
    return found


def choose_digits(page: Page, system: str) -> None:
    """Take other digits, for the screen that is shown."""
    page.locator(".languages summary").click()
    page.get_by_role("link", name=RESPONDENT_LANGUAGES["ar"].digits[system], exact=True).click()
    shown = "html[data-digits=arab]" if system == "arab" else "html:not([data-digits])"
    expect(page.locator(shown)).to_be_attached()


def test_digits_are_chosen_and_every_screen_follows(
    open_page: Opener, installation: factories.Served, inspector: Inspector
) -> None:
    """What is sent does not, nor do codes and addresses; who reads another language has no such choice."""
    survey = factories.publish(installation.database_url, SURVEY)
    page = open_page(**PHONE, locale="ar-EG")
    arab = Respondent(page, survey.slug, "ar").open()
    expect(page.locator("#odds")).to_contain_text("100")
    assert read_latin_digits(page) != []
    choose_digits(page, "arab")
    expect(page.locator("#odds")).to_contain_text("١٠٠")
    assert page.url.endswith("?lang=ar-u-nu-arab")
    for summary in page.locator("main summary").all():
        summary.click()
    expect(page.locator("#test-here button").first).to_be_visible()
    page.locator("#test-here button").first.click()
    expect(page.locator("#test-here [role=status]").first).to_contain_text("٠٠")
    assert read_latin_digits(page) == []
    inspector.look(page, "the introduction in Arabic, with Eastern Arabic digits")

    page.locator(".primary").click()
    expect(page.locator(".top")).to_contain_text("١ من ٢")
    arab.radio("No").check()
    assert read_latin_digits(page) == []
    # In the middle, back and forth: what is chosen stays.
    choose_digits(page, "latn")
    expect(page.locator(".top")).to_contain_text("1 من 2")
    expect(arab.radio("No")).to_be_checked()
    choose_digits(page, "arab")
    arab.choose("No")
    field = page.get_by_role("textbox")
    field.fill("70")
    arab.button("Next").click()
    expect(page.locator("#missing")).to_contain_text("٦٠")
    field.fill("12.5")
    arab.button("Next").click()
    review = "Of your answers, only what the coins decided leaves this device"
    expect(arab.heading(review)).to_be_visible()
    body = arab.sent_body()
    assert read_latin_digits(page) == []
    arab.button("Back").click()
    expect(field).to_have_value("١٢٫٥")
    arab.button("Next").click()
    expect(arab.heading(review)).to_be_visible()
    choose_digits(page, "latn")
    assert arab.sent_body() == body
    choose_digits(page, "arab")
    with page.expect_request("**/responses") as sent:
        arab.send()
    assert sent.value.post_data == body
    assert sent.value.headers["accept-language"] == "ar"
    assert read_latin_digits(page) == []
    # Another visit: nothing of this browser knows it.
    assert page.context.cookies() == []
    assert "arab" not in page.evaluate("JSON.stringify(localStorage)")

    for place in ("/how", "/receipt"):
        arab.open(f"{place}?lang=ar-u-nu-arab")
        expect(page.locator("html[data-digits=arab]")).to_be_attached()
        if place == "/how":
            expect(page.locator("#odds")).to_contain_text("١٠٠")
        assert read_latin_digits(page) == []
    page.locator("textarea").fill("abandon ability")
    page.locator(".primary").click()
    expect(page.locator("#unworded")).to_contain_text("٢")
    assert read_latin_digits(page) == []
    Respondent(page, survey.slug, "fr").open("?lang=fr")
    page.locator(".languages summary").click()
    expect(page.get_by_role("navigation")).to_have_count(1)


def test_translations_stand_beside_their_texts_and_no_link_loses_them(
    open_page: Opener, installation: factories.Served
) -> None:
    page = open_page(**DESK)
    sign_in(page, installation.database_url)
    slug = factories.draft(installation.database_url, factories.definition())
    page.goto(f"/manage/surveys/{slug}/translations?to=ar")
    field = page.get_by_label("Question 1?")
    text, beside = page.get_by_text("Question 1?").bounding_box(), field.bounding_box()
    assert text is not None
    assert beside is not None
    assert beside["x"] >= text["x"] + text["width"]
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    field.press_sequentially("سؤال")
    page.get_by_role("link", name="Preview").click(no_wait_after=True)
    expect(field).to_have_value("سؤال")
    page.get_by_role("button", name="Save the translations").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    page.get_by_role("link", name="Preview").click()
    page.wait_for_url("**/preview?lang=ar")
    assert asked == ["beforeunload"]
