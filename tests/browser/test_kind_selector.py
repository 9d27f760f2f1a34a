"""The list of kinds in the editor, on a phone."""

import pytest

from tests.browser.conftest import Opener
from tests.browser.site_users import SURVEY, sign_in
from tests.browser.test_appearance import NARROW
from tests.support import factories


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_kind_that_is_chosen_is_read_whole(
    language: str, open_page: Opener, installation: factories.Served
) -> None:
    draft = factories.draft(installation.database_url, SURVEY)
    page = open_page(**NARROW, locale=language)
    sign_in(page, installation.database_url)
    page.goto(f"/manage/surveys/{draft}/edit")
    lists = page.locator(".adding select")
    assert lists.count() > 0
    for kinds in lists.all():
        # As wide as it would like to be for its longest name, or as the page.
        wished, given = kinds.evaluate(
            """list => {
                const given = list.getBoundingClientRect().width;
                const twin = list.cloneNode(true);
                twin.style.cssText = 'position: absolute; width: max-content';
                document.body.append(twin);
                const wished = twin.getBoundingClientRect().width;
                twin.remove();
                return [wished, given];
            }"""
        )
        assert given >= min(wished, 320 - 64)
