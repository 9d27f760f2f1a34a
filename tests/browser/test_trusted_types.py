"""No script makes HTML of a text, in browsers that know Trusted Types; on three pages one reads pages of this site."""

from tests.browser.conftest import Opener
from tests.browser.site_users import DESK, sign_in
from tests.support import factories

WRITE = "() => { try { document.createElement('p').innerHTML = '<b>'; return '' } catch ({ name }) { return name } }"
CREATE = (
    "(name) => { try { trustedTypes.createPolicy(name, {}); return '' } catch ({ name }) { return name } }"
)


def test_a_text_never_becomes_html(open_page: Opener, installation: factories.Served) -> None:
    survey = factories.publish(installation.database_url)
    page = open_page(**DESK)
    watch = open_page.watch(page)
    watch.expect(
        "This document requires 'TrustedHTML' assignment|violates the following Content Security Policy"
    )
    watch.allow("TrustedHTML|trusted-types|TrustedTypePolicy")
    sign_in(page, installation.database_url)
    home = f"/manage/surveys/{survey.slug}"
    parsing = {f"{home}/results", "/manage/surveys/new"}
    for address in (f"/s/{survey.slug}", "/", "/help", home, *parsing):
        page.goto(address)
        assert page.evaluate(WRITE) == "TypeError", address
        assert page.evaluate(CREATE, "default") == "TypeError", address
        # On the pages that have a policy it exists already, and none is made twice.
        assert page.evaluate(CREATE, "fetched-page") == "TypeError", address
