"""Cards with invitations: everything is on them, whatever the title says, and the same data give the same bytes."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
import segno

from server.output.printing import Cards, invitation_sheet
from tests.support import pdf_reader

SHARED = Cards(
    title="Encuesta de exámenes",
    heading="Invitaciones",
    words="Escanea el cuadro, o abre la dirección de abajo y escribe el código.",
    alternative="Código QR del enlace",
    language="es",
    link="https://encuestas.example.org/s/abcdefghjkmn",
)
CODES = [f"{place:04}-ABCD-EFGH-JKMN" for place in range(12)]


def plain(text: str) -> str:
    """A text without what breaks its lines."""
    return re.sub(r"[\s\u200b]", "", text)


def expected_modules(text: str) -> set[tuple[int, int]]:
    """The dark modules of the smallest QR code of level M, by segno."""
    matrix = segno.make_qr(text, error="m", boost_error=False, mask=0).matrix
    return {(column, row) for row, line in enumerate(matrix) for column, dark in enumerate(line) if dark}


def text_of(shared: Cards, codes: Sequence[str] = CODES[:1]) -> str:
    return plain("".join(page.text for page in pdf_reader.pages(invitation_sheet(shared, codes))))


def test_ten_cards_on_a_page_each_with_title_words_address_code_and_qr_code() -> None:
    pages = pdf_reader.pages(invitation_sheet(SHARED, CODES))

    assert [len(page.codes) for page in pages] == [10, 2]
    for page, codes in zip(pages, (CODES[:10], CODES[10:]), strict=True):
        card = (SHARED.title, SHARED.words, "encuestas.example.org/s/abcdefghjkmn")
        assert plain(page.text) == plain("".join("".join((*card, code)) for code in codes))
    drawn = [code for page in pages for code in page.codes]
    assert drawn == [expected_modules(f"{SHARED.link}#{code.replace('-', '')}") for code in CODES]
    # The broken twin: a code drawn for its neighbour would be seen.
    assert drawn[0] != drawn[1]


def test_the_same_data_give_the_same_bytes() -> None:
    sheet = invitation_sheet(SHARED, CODES[:1])

    assert invitation_sheet(SHARED, CODES[:1]) == sheet
    assert invitation_sheet(SHARED, CODES[1:2]) != sheet
    assert b"/CreationDate" not in sheet


def test_a_sheet_is_tagged_with_its_title_its_language_and_what_its_pictures_are() -> None:
    sheet = invitation_sheet(SHARED, CODES[:1])

    def text(words: str) -> bytes:
        return words.encode("utf-16-be").hex().upper().encode()

    assert b"/Lang(es)" in sheet
    assert b"/Marked true" in sheet
    assert b"/Title<FEFF%b>" % text("Invitaciones: Encuesta de exámenes") in sheet
    assert b"/S/Figure" in sheet
    assert b"/Alt<FEFF%b>" % text("Código QR del enlace") in sheet


@pytest.mark.parametrize(
    "title",
    [
        '#emph[x] $x$ `raw` *b* _i_ \\ // /* */ <a> @a = b - c #import "@preview/x:1.0.0" #panic() ~ -- \' "',
        "{{ title }} {title} %(title)s </path>'/><script>",
        "¿Copió alguna vez? ÁÉÍÓÚÜÑ áéíóúüñ “…”",
        "Έχετε αντιγράψει ποτέ;",
        "Списывали ли вы?",
    ],
)
def test_a_title_is_never_more_than_a_text(title: str) -> None:
    assert text_of(replace(SHARED, title=title)).startswith(plain(title + SHARED.words))


@pytest.mark.parametrize("title", ["האם העתקת אי פעם?", "هل غششت في امتحان؟", "क्या आपने नकल की?"])
def test_other_scripts_are_set_in_the_fonts_that_are_at_hand(title: str) -> None:
    # Letters of a word may stand in another order, or as one with their neighbour.
    said = text_of(replace(SHARED, title=title)).removesuffix(text_of(replace(SHARED, title="")))

    assert set(said) == set(plain(title))


def test_without_a_font_for_its_title_a_card_does_without_it() -> None:
    assert text_of(replace(SHARED, title="\U0010fffd")) == text_of(replace(SHARED, title=""))


@pytest.mark.parametrize("title", ["W" * 200, "Wort " * 40, "漢" * 200, "a" * 35, "An, " * 22])
def test_the_longest_title_leaves_room_for_the_rest(title: str) -> None:
    (page,) = pdf_reader.pages(invitation_sheet(replace(SHARED, title=title), CODES[:10]))

    assert len(page.codes) == 10
    assert all(code in page.text for code in CODES[:10])
    assert plain(page.text).count(plain(SHARED.words)) == 10


@pytest.mark.parametrize(
    "link", ["http://127.0.0.1:8000/s/abcdefghjkmn", f"https://{'long.' * 14}example.org/s/x"]
)
def test_an_address_that_is_not_usual_is_whole(link: str) -> None:
    assert link.removeprefix("https://") in text_of(replace(SHARED, link=link))
