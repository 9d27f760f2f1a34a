"""One Spanish word for each thing, and one kind of quotation marks, wherever people read Spanish."""

import re
from collections.abc import Iterator

import pytest

from server.web.handbook import read_handbook
from tests.support.catalogue_words import catalogue
from tests.support.factories import ROOT

CHOSEN = {
    "comprobante": r"\brecibos?\b",
    "intensidad": r"(?<!\ba )\bfuerzas?\b",
    "inofensiva": r"\binocu[oa]s?\b",
    "«»": "[“”]",
    "comandos": r"\blíneas? de órdenes\b",
}
"""What is said, and what is not said for it."""


def texts() -> Iterator[tuple[str, str]]:
    """Everything in Spanish: where it stands, and what it says."""
    for message in catalogue("es"):
        if message.id:
            said = message.string if isinstance(message.string, str) else " | ".join(message.string)
            yield str(message.id), said
    chapters = [
        ROOT / "docs" / chapter.file
        for chapter in read_handbook().chapters.values()
        if chapter.language == "es"
    ]
    for path in (*chapters, *ROOT.glob("server/study/gallery/*.es.json")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            yield f"{path.name}, line {number}", line


@pytest.mark.parametrize("chosen", CHOSEN)
def test_one_word_is_kept_to(chosen: str) -> None:
    other = re.compile(CHOSEN[chosen], re.IGNORECASE)
    assert [(where, said) for where, said in texts() if other.search(said)] == []


def test_the_other_words_would_be_noticed() -> None:
    said = "Guarda el recibo de la pregunta inocua: su fuerza es “mayor” en la línea de órdenes."
    assert all(re.search(other, said) for other in CHOSEN.values())
    assert len(list(texts())) > 2000
