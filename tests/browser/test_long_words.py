"""Words wider than a phone, in every place where a survey has words."""

from typing import Any

import pytest

from tests.browser.conftest import Opener
from tests.browser.site_users import Respondent, sign_in
from tests.browser.test_appearance import NARROW, WORD, fits
from tests.support import factories

LONG = WORD[:180]
OPTIONS = [{"name": f"o{number}", "text": f"{LONG}{number}"} for number in range(3)]
ENTRIES: dict[str, dict[str, Any]] = {
    "yes_no": factories.question("q", LONG),
    "select_one": {"options": OPTIONS, "design": {"mechanism": "best_choice", "epsilon": 1}},
    "select_multiple": {"options": OPTIONS, "design": {"mechanism": "coin_flip", "epsilon": 1}},
    "scale": {"options": OPTIONS, "design": {"mechanism": "ordinal", "epsilon": 1}},
    "number": {
        **{"low": 0, "high": 9, "step": 1, "unit": LONG[:40]},
        "design": {"mechanism": "stochastic_rounding", "epsilon": 1},
    },
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_no_page_grows_wider_than_a_phone(
    kind: str, open_page: Opener, installation: factories.Served
) -> None:
    question = {"name": "q", "kind": kind, "text": LONG, **ENTRIES[kind]}
    plan = {"respondents": 9_000, "margin": 0.1}
    definition = factories.definition(title=LONG, introduction=LONG, questions=[question], plan=plan)
    survey = factories.publish(installation.database_url, definition)
    links = factories.plant(installation.database_url, survey.slug, f"{LONG[:100]}\n{LONG[1:90]}").values()
    columns = len(OPTIONS) if kind == "select_multiple" else 1
    for link in links:
        factories.store(installation.database_url, survey, [([1] * columns, 300), ([0] * columns, 40)], link)
    page = open_page(**NARROW)
    sign_in(page, installation.database_url)
    wide = []
    home = f"/manage/surveys/{survey.slug}"
    addresses = [f"{home}{path}" for path in ("", "/edit", "/results", "/explain", "/simulate", "/releases")]
    if kind == "yes_no":  # the others say nothing of the questions
        addresses += ["/manage/surveys", *(f"{home}/{path}" for path in ("links", "people", "schedule"))]
    for address in addresses:
        page.goto(address)
        if not fits(page):
            wide.append((address, page.evaluate("document.documentElement.scrollWidth")))
    visit = Respondent(page, survey.slug).open()
    if not fits(page):
        wide.append(("introduction", page.evaluate("document.documentElement.scrollWidth")))
    visit.start(1)
    if not fits(page):
        wide.append(("question", page.evaluate("document.documentElement.scrollWidth")))
    assert wide == []
