"""Respondents' pages in languages of theirs alone: lines from right to left, and another language in the middle."""

from playwright.sync_api import expect

from tests.browser.axe_inspector import Inspector
from tests.browser.conftest import Opener
from tests.browser.site_users import PHONE, Respondent, change_language
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
    open_page: Opener, served: factories.Served, inspector: Inspector
) -> None:
    survey = factories.publish(served.database_url, SURVEY)
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
    assert len(factories.stored(served.database_url)) >= 1


def test_a_survey_is_read_in_the_reader_s_language_and_what_is_missing_as_it_is(
    open_page: Opener, served: factories.Served
) -> None:
    """One set of answers: whichever language they were given in, they are the same bytes, and counted together."""
    french = {
        "Exams": "Examens",
        "Have you ever copied in an exam?": "Avez-vous déjà copié ?",
        "Hello": "Bonjour",
    }
    document = {**SURVEY, "introduction": "Hello", "translations": {"fr": french}}
    survey = factories.publish(served.database_url, document)
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


def test_what_explains_and_what_takes_back_is_in_the_readers_language(
    open_page: Opener, served: factories.Served, inspector: Inspector
) -> None:
    survey = factories.publish(served.database_url, SURVEY)
    page = open_page(**PHONE, locale="ar", color_scheme="dark")
    arab = Respondent(page, survey.slug, "ar")
    for place, heading in (("/how", "How this works"), ("/receipt", "Is my response in?")):
        arab.open(place)
        expect(arab.heading(heading)).to_be_visible()
        inspector.look(page, f"{place} in Arabic")
        page.locator(".languages summary").click()
        page.locator(".languages a[lang=fr]").click()
        expect(Respondent(page, survey.slug, "fr").heading(heading)).to_be_visible()
