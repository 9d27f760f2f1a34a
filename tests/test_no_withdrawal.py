"""Nothing can find or remove a response once it was sent: every text says so, and none promises anything else."""

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from server.output.languages import LANGUAGES
from tests.support import factories

DOCS = Path(__file__).parents[1] / "docs"
SAID = {
    "en": "After you press Send your answers cannot be found or removed.",
    "es": "Después de pulsar Enviar, tus respuestas no se pueden encontrar ni eliminar.",
}
GUIDES = {code: DOCS / f"{language.guide}.md" for code, language in LANGUAGES.items()}
PROMISES = re.compile(
    r"name your answers later|number of your receipt and tell|número de tu recibo y nos|or withdrew,|o se retiró"
)
"""What was promised before, and could not be kept."""
OWED = {
    "en": (
        *(
            "right at most […] times in 100",
            "ask this to […]",
            "The purpose of the study",
            "Later publication",
        ),
        *("cannot be skipped", "which order answers arrived", "may link the order of arrival"),
    ),
    "es": (
        *(
            "como mucho […] veces de 100",
            "esto para […]",
            "El propósito del estudio",
            "Publicación posterior",
        ),
        *("No se pueden saltar", "en qué orden llegaron", "pueden enlazar el orden de llegada"),
    ),
}
"""What the wordings of a guide for respondents and for boards must tell beside it."""


@pytest.mark.parametrize("language", SAID)
def test_guides_say_that_nothing_is_taken_back(language: str) -> None:
    text = GUIDES[language].read_text("utf-8")
    assert SAID[language] in text
    assert not PROMISES.findall(text)
    for said in OWED[language]:
        assert said in text, said


@pytest.mark.parametrize("language", SAID)
def test_the_page_says_so_before_anything_is_sent(
    client: FlaskClient, database_url: str, language: str
) -> None:
    survey = factories.publish(database_url, factories.definition(language=language))
    page = client.get(f"/s/{survey.slug}", headers={"Accept-Language": language}).text
    sending = page.partition('<template id="sending">')[2].partition("</template>")[0]
    assert SAID[language] in sending
    assert not PROMISES.findall(page)


def test_a_promise_is_caught() -> None:
    """The twin: the sentences of before."""
    for said in (
        "unless you keep the number of your receipt and tell us",
        "Note it only if you want to be able to name your answers later.",
        "salvo que conserves el número de tu recibo y nos lo digas",
    ):
        assert PROMISES.search(said), said
