"""A receipt alone finds and removes a response, while its survey is open: texts say so, and none anything else."""

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.support import factories
from tests.support.help_reader import read_guide

DOCS = Path(__file__).parents[1] / "docs"
SAID = {
    "en": (
        "After you press Send, you can find or remove your answers among the others with your receipt, while the "
        "survey is open; this site offers no other way. Whoever runs the survey can delete them all together."
    ),
    "es": (
        "Después de pulsar Enviar, con tu comprobante puedes encontrar o eliminar tus respuestas entre las demás, "
        "mientras la encuesta esté abierta; este sitio no ofrece otra manera. Quien lleva la encuesta puede borrarlas "
        "todas juntas."
    ),
}
UNTRUE = re.compile(
    r"answers? cannot be (found or removed|taken back)|no se puede[n]? encontrar ni eliminar\.|You need it for nothing"
    r"|number of your receipt and tell|número de tu recibo y nos|promise no withdrawal after sending"
)
"""What was said before there was a way to take a response back, or before that could be kept."""
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
def test_guides_say_how_an_answer_is_taken_back(language: str) -> None:
    text = read_guide(language)
    assert SAID[language] in text
    for said in OWED[language]:
        assert said in text, said


@pytest.mark.parametrize("language", SAID)
def test_the_page_says_so_before_anything_is_sent(
    client: FlaskClient, database_url: str, language: str
) -> None:
    survey = factories.publish(database_url, factories.definition(language=language))
    page = client.get(f"/s/{survey.slug}/screens", headers={"Accept-Language": language}).text
    sending = page.partition('<template id="sending">')[2].partition("</template>")[0]
    assert SAID[language] in sending
    assert not UNTRUE.findall(page)


def test_no_text_says_anything_else() -> None:
    root = DOCS.parent
    files = [
        root / "README.md",
        *DOCS.rglob("*.md"),
        *(root / "templates").rglob("*.html"),
        *(root / "server" / "study" / "gallery").glob("*.json"),
        *(root / "server" / "translations").rglob("*.po"),
    ]
    assert [file.name for file in files if UNTRUE.search(file.read_text("utf-8"))] == []


def test_an_untrue_sentence_is_caught() -> None:
    """The twin: the sentences of before."""
    for said in (
        "After you press Send your answers cannot be found or removed.",
        "Después de pulsar Enviar, tu respuesta no se puede encontrar ni eliminar.",
        "unless you keep the number of your receipt and tell us",
        "You need it for nothing, and your answers cannot be taken back by it.",
    ):
        assert UNTRUE.search(said), said
