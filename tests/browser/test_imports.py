"""Files and templates in a real browser: what they make, by keyboard too, and that nothing in them ever runs."""

import json
import re
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, PHONE, Desk, press_on, sign_in
from tests.support import factories, sample_archives, sample_xlsforms
from tests.support.sample_archives import IMPORT

HOSTILE = [
    "<script>globalThis.ran = 1</script>",
    "<img src=x onerror='globalThis.ran = 1'>",
    "<svg onload='globalThis.ran = 1'></svg>",
    "\"><iframe srcdoc='<script>parent.ran = 1</script>'></iframe>",
    "' autofocus onfocus='globalThis.ran = 1' x='",
    "</textarea></template></title></style><script>globalThis.ran = 1</script>",
    "[go](javascript:globalThis.ran=1) [go](JaVaScRiPt:globalThis.ran=1) [go](data:text/html,<script>ran=1</script>)",
    "[go](https://example.org/'onclick='globalThis.ran=1) ![see](https://example.org/x.png) **<b onclick=ran=1>x</b>**",
    "{{ 7*7 }}${7*7}{% raw %}#{7*7} &lt;script&gt;globalThis.ran = 1&lt;/script&gt;",
    "\u202e\u2066>tpircs/<\u2069 \u200f__proto__ constructor",
]
TEXTS = [" ".join(['">', *HOSTILE[place::4]]) for place in range(4)]
"""Short enough for a title, and each becomes an element wherever it is not escaped, also in an attribute."""
UNIT = "'\"></title></textarea><b onload=ran=1>"
"""The same, short enough for a unit: a longer text that is cut in the middle of an element becomes none."""
FIRSTS = range(len(TEXTS))
"""Which of them a file begins with: its texts hold them in turn, each somewhere and, over all files, in every place."""
FOREIGN = (
    "script:not([src]), img:not(.qr), iframe:not([src^='/']), object, embed, main b, "
    "[onerror], [onload], [onfocus], [onclick], [srcdoc], a[href^='javascript' i], a[href^='data' i]"
)
"""What the pages themselves never hold."""


def in_turn(first: int) -> Iterator[str]:
    """The hostile texts, over and over, from this one on."""
    return islice(cycle(TEXTS), first, None)


def hostile_definition(first: int) -> dict[str, Any]:
    """Every kind of entry, with a hostile text wherever a file may hold a text."""
    said = in_turn(first).__next__

    def options() -> list[dict[str, str]]:
        return [{"name": f"o{k}", "text": f"{k} {said()}"} for k in range(3)]

    def numbers() -> dict[str, Any]:
        return {"low": 0, "high": 4, "step": 1, "unit": UNIT}

    device = {"mechanism": "crosswise", "prevalence": 0.25, "innocuous": said()}
    entries: list[dict[str, Any]] = [
        {"kind": "text", "text": said()},
        {"kind": "section", "text": said(), "body": said()},
        {"kind": "check", "text": said(), "options": options(), "correct": "o1", "feedback": said()},
        {"kind": "yes_no", "text": said(), "design": {"mechanism": "coin_flip"}},
        {"kind": "yes_no", "text": said(), "design": device},
        {"kind": "select_one", "text": said(), "options": options(), "design": {"mechanism": "best_choice"}},
        {
            "kind": "select_multiple",
            "text": said(),
            "options": options(),
            "design": {"mechanism": "coin_flip"},
        },
        {"kind": "scale", "text": said(), "options": options(), "design": {"mechanism": "ordinal"}},
        {"kind": "number", "text": said(), **numbers(), "design": {"mechanism": "stochastic_rounding"}},
        {"kind": "binned_number", "text": said(), **numbers(), "cuts": [2], "design": {"mechanism": "k_ary"}},
    ]
    named = [{"name": f"e{place}", **entry} for place, entry in enumerate(entries)]
    fixed = {"format": 1, "language": "en", "title": said(), "introduction": said(), "budget": 20}
    return {**fixed, "questions": named}


def expect_unharmed(page: Page) -> None:
    """Nothing of an imported text became an element, and nothing ran."""
    assert page.evaluate("globalThis.ran") is None
    for frame in page.frames:
        assert frame.evaluate(f"Array.from(document.querySelectorAll(`{FOREIGN}`), (e) => e.outerHTML)") == []


def answer_everything(page: Page) -> int:
    """Go through all of a survey's screens, choosing something on each; how many there were."""
    page.locator(".actions .primary").first.click()
    for screens in range(40):
        expect_unharmed(page)
        if page.locator("pre").count():
            page.locator("summary").first.click()
            expect_unharmed(page)
            return screens
        before = page.locator("main").inner_html()
        if page.locator("fieldset input[type=radio]").count():
            page.locator("fieldset input[type=radio]").last.check()
        elif page.locator("fieldset input[type=checkbox]").count():
            page.locator("fieldset input[type=checkbox]").first.check()
        elif page.locator("main input").count():
            page.locator("main input").first.fill("2")
        expect_unharmed(page)
        page.locator(".actions button").last.click()
        page.wait_for_function("before => document.querySelector('main').innerHTML !== before", arg=before)
    raise AssertionError("the survey has no end")


def begin(page: Page, served: factories.Served) -> None:
    """Sign in as somebody new, whose list of surveys is empty."""
    page.goto(f"/manage/sign-in/{factories.sign_in_secret(served.database_url, owner='newcomer')}")
    page.locator("main form button").click()
    page.wait_for_url("**/manage/surveys")


@pytest.mark.parametrize("first", FIRSTS)
def test_nothing_in_an_imported_definition_runs(
    open_page: Opener, installation: factories.Served, first: int
) -> None:
    survey = factories.publish(installation.database_url, hostile_definition(first))
    # So that results say something.
    factories.store(installation.database_url, survey, [([0] * 9, 30), ([1] * 9, 20)])
    page = open_page(**DESK)
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    page.goto(f"/s/{survey.slug}")
    expect(page.locator(".actions .primary").first).to_be_visible()
    assert answer_everything(page) >= 10
    sign_in(page, installation.database_url)
    home = f"/manage/surveys/{survey.slug}"
    for path in ("", "/edit", "/preview", "/results"):
        page.goto(home + path)
        page.wait_for_load_state("networkidle")
        expect_unharmed(page)
    report = page.request.get(f"{home}/report.html").text()
    page.goto("about:blank")
    page.set_content(report)  # as a file, without the headers that would stop a script
    expect_unharmed(page)


def test_a_text_that_became_an_element_is_noticed(open_page: Opener, installation: factories.Served) -> None:
    for text in (*TEXTS, UNIT):
        for unescaped in (text, f"<p title='{text}'>", f'<p title="{text}">'):
            page = open_page()
            page.goto("about:blank")
            page.set_content(f"<main>{unescaped}</main>")
            with pytest.raises(AssertionError):
                expect_unharmed(page)


@pytest.mark.parametrize("first", FIRSTS)
def test_nothing_in_an_imported_form_runs(
    open_page: Opener, installation: factories.Served, tmp_path: Path, first: int
) -> None:
    said = in_turn(first).__next__
    rows = [
        ["type", "name", "label", said()],
        ["note", "n", said(), said()],
        ["select_one l", said(), said(), said()],
        [said(), said(), said(), said()],
        ["range", "r", said(), said()],
    ]
    choices = [["list_name", "name", "label"], ["l", said(), said()], ["l", "b", f"{said()}!"]]
    path = tmp_path / "form.xlsx"
    path.write_bytes(sample_xlsforms.form(rows, choices, [["form_title"], [said()]]))
    page = open_page(**DESK)
    sign_in(page, installation.database_url)
    page.goto("/manage/surveys/import")
    desk = Desk(page)
    desk.field("File").set_input_files(path)
    desk.button("Import").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The draft was made")
    expect_unharmed(page)
    desk.link("Open the editor").click()
    page.wait_for_load_state("networkidle")
    expect_unharmed(page)


def test_a_form_is_imported_with_the_keyboard_alone_on_a_phone_in_spanish(
    open_page: Opener, installation: factories.Served, tmp_path: Path
) -> None:
    path = tmp_path / "encuesta.xlsx"
    path.write_bytes(sample_xlsforms.kobo())
    page = open_page(viewport=PHONE["viewport"], locale="es")
    desk = Desk(page, "es")
    begin(page, installation)
    press_on(page, desk.link("Import a survey"), "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(desk.say("Import a survey"))
    with page.expect_file_chooser() as chooser:
        press_on(page, desk.field("File"), "Enter")
    chooser.value.set_files(path)
    press_on(page, desk.button("Import"), "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(desk.say("The draft was made"))
    expect(page.get_by_role("cell", name="geopoint")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
    press_on(page, desk.link("Open the editor"), "Enter")
    page.wait_for_url("**/edit*")


def test_a_file_that_is_refused_is_named_first(
    open_page: Opener, installation: factories.Served, tmp_path: Path
) -> None:
    path = tmp_path / "data.csv"
    path.write_text("type,name,label\n")
    page = open_page(**DESK)
    open_page.watch(page).expect("422")
    desk = Desk(page)
    sign_in(page, installation.database_url)
    page.goto("/manage/surveys/import")
    desk.field("File").set_input_files(path)
    desk.button("Import").click()
    alert = page.get_by_role("alert")
    expect(alert).to_be_focused()
    expect(alert).to_contain_text("data.csv")


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_template_is_chosen_and_opens_in_the_editor(
    open_page: Opener, installation: factories.Served, language: str
) -> None:
    page = open_page(viewport=PHONE["viewport"], locale=language)
    desk = Desk(page, language)
    begin(page, installation)
    press_on(page, desk.link("Start from a template"), "Enter")
    expect(page.get_by_role("heading", level=2)).to_have_count(6)
    for summary in page.locator("summary").all():
        summary.press("Enter")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
    page.get_by_role("button", name=desk.say("Use this template")).nth(2).press("Enter")
    page.wait_for_url("**/edit*")
    title = {"en": "Mood and alcohol in the last 30 days", "es": "Ánimo y alcohol en los últimos 30 días"}
    expect(page.locator("[name=title]")).to_have_value(title[language])


def test_an_import_is_sent_once_and_says_how_long_it_takes(
    open_page: Opener, installation: factories.Served, tmp_path: Path
) -> None:
    page = open_page()
    sign_in(page, installation.database_url)
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(factories.definition(title="Sent once")), "utf-8")
    page.clock.install()
    page.goto("/manage/surveys/import")
    page.wait_for_load_state("networkidle")
    # As if it were on its way for as long as this test wants.
    page.evaluate(
        "addEventListener('submit', (event) => {"
        " window.sent = (window.sent ?? 0) + !event.defaultPrevented; event.preventDefault(); })"
    )
    page.locator("#definition").set_input_files(path)
    button = page.get_by_role("button", name="Import", exact=True)
    said = page.locator(".foot + [role=status]")
    expect(said).to_be_empty()
    button.click()
    expect(said).to_contain_text("Importing. Leave the page open")
    button.click(force=True)  # as somebody who is impatient
    page.clock.run_for(3_000)
    expect(said).to_contain_text(re.compile(r"\d seconds so far\."))
    assert page.evaluate("window.sent") == 1


def test_how_far_an_import_has_come_is_said_while_it_goes_on(
    open_page: Opener, installation: factories.Served, tmp_path: Path
) -> None:
    """On a real import that takes some seconds, under a name that only this form has."""
    survey = factories.publish(installation.database_url, minimum=3)
    factories.store(installation.database_url, survey, [([1, 0], 30_000)])
    factories.close(installation.database_url, survey.slug)
    path = tmp_path / "survey.zip"
    path.write_bytes(sample_archives.pack(installation.database_url, survey.slug))
    page = open_page()
    sign_in(page, installation.database_url)
    page.goto(IMPORT)
    page.locator("#definition").set_input_files(path)
    # While a form is on its way, a page can be asked nothing: it keeps what it said for the page that comes next.
    page.evaluate(
        "new MutationObserver(([{ target }]) => {"
        " const said = target.closest('[role=status]') ?? target.parentElement?.closest('[role=status]');"
        " if (said) sessionStorage.said = `${sessionStorage.said ?? ''}${said.textContent}\\n`;"
        "}).observe(document.body, { subtree: true, childList: true, characterData: true })"
    )
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("30,000 responses")).to_be_visible()
    said = page.evaluate("sessionStorage.said")
    shares = [int(share) for share in re.findall(r"\d seconds so far\. (\d+)\s% are done\.", said)]
    assert shares, said
    assert shares == sorted(shares)
    assert 0 < shares[-1] < 100
