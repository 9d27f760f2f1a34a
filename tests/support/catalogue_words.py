"""What the catalogues hold, and which words of a page they do not."""

import re
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser

from babel.messages import Catalog, Message
from babel.messages.pofile import read_po

from server import __version__
from server.output.languages import RESPONDENT_LANGUAGES
from tests.support import factories

TRANSLATIONS = factories.ROOT / "server" / "translations"
OPEN, CLOSE = "⟦", "⟧"
NAMES = [
    "Moneda",
    "SHA-256",
    "SVG",
    "PNG",
    *("HTML", "PDF", "Excel", "CSV", "JSON"),
    "make run",
    re.escape(__version__),
    *(language.name for language in RESPONDENT_LANGUAGES.values()),
    *(name for language in RESPONDENT_LANGUAGES.values() for name in language.digits.values()),
]
COVARIATE = r"\b(?:sex|female|male)\b"
"""Names in data from elsewhere (`foreign_data`), which are their owner's also where they are drawn."""
ADDRESS, HASH, SLUG = r"https?://\S+", r"\b[0-9a-f]{8,64}\b", r"\b[2-9b-df-hj-np-tv-xz]{12}\b"
ZONE = r"\b(?:UTC|[A-Z][a-z]+/[A-Z]\w+)\b"
SPANISH_DATE, FILLED_IN_BY_A_SCRIPT = r"\d+ de [a-z]+ de \d{4}", r"\{\w+\}"
POWER_OF_TEN = "10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+"
DATA = re.compile(
    "|".join(
        [*NAMES, COVARIATE, ADDRESS, HASH, SLUG, ZONE, SPANISH_DATE, FILLED_IN_BY_A_SCRIPT, POWER_OF_TEN]
    )
)
"""What may stand on a page untranslated."""
READ_ATTRIBUTES = set(
    "alt aria-description aria-label aria-roledescription aria-valuetext label placeholder title".split()
)
CODE_ATTRIBUTES = set(
    "data-buy data-by data-check data-claim data-copy data-counts data-definition data-device data-entry "
    "data-family data-forgets data-keeps data-left data-look data-made data-many data-mark data-modules "
    "data-offline data-one data-part data-place data-plans data-preview data-problem data-progress "
    "data-refresh data-refuses data-release data-renews data-responses data-results data-rooms data-round "
    "data-screens data-shut data-some data-spends data-stated data-sure data-truth data-trying "
    "data-unsaved data-version data-view data-why data-withdraws".split()
)
"""Read by scripts only; every other data- attribute holds a text that a script shows."""


NOT_IN_SPANISH = {"Its words are in English: there is no list of such words in your language."}
"""What is said in other languages alone."""


@dataclass
class ShownTexts(HTMLParser):
    """The texts of a page in reading order, and the attributes that are shown or read aloud."""

    parts: list[str] = field(default_factory=list)
    """Joined once: a text that grows by each part is copied as often, and pages of results have ten thousands."""
    attributes: list[str] = field(default_factory=list)
    skipped: str = ""
    quoted: int = 0
    """How deep inside an element that holds somebody's own words, or those of docs/."""

    def __post_init__(self) -> None:
        super().__init__()

    @property
    def text(self) -> str:
        """All of its texts."""
        return "".join(self.parts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._part(tag)
        if tag in ("script", "style"):
            self.skipped = tag
        inside = self.quoted > 0
        # What a file of docs/ says is no message: it is there in its language, or says in which.
        if inside or ("translate", "no") in attrs or ("class", "from-docs") in attrs:
            self.quoted += 1  # no void element stands in such a text
            if not inside:  # what a script may put there is ours
                self.attributes += [value or "" for name, value in attrs if _is_put_in(name)]
            return
        button = ("type", "submit") in attrs or ("type", "button") in attrs
        described = tag == "meta" and (
            ("name", "description") in attrs or ("property", "og:image:alt") in attrs
        )
        for name, value in attrs:
            shown = name in READ_ATTRIBUTES or _is_put_in(name)
            if shown or (name == "value" and button) or (name == "content" and described):
                self.attributes.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        self._part(tag)
        self.quoted -= self.quoted > 0
        if tag == self.skipped:
            self.skipped = ""

    def handle_data(self, data: str) -> None:
        if not self.skipped and not self.quoted:
            self.parts.append(data)

    def _part(self, tag: str) -> None:
        # Emphasis is inside a message; any other element begins a new word.
        if tag not in ("b", "strong"):
            self.parts.append("\n")


def _is_put_in(name: str) -> bool:
    return name.startswith("data-") and name not in CODE_ATTRIBUTES


@cache
def outside(text: str) -> tuple[str, ...]:
    """The words of a text that are neither inside the brackets of a message nor data."""
    pieces, _messages = _divide(text)
    return tuple(word for piece in pieces for word in _find_words(piece))


@cache
def _divide(text: str) -> tuple[list[str], set[str]]:
    """What stands outside all brackets, in its order, and what the outermost ones hold, with them."""
    pieces, inside, depth, opened = [], set(), 0, 0
    place = 0
    for part in re.split(f"([{OPEN}{CLOSE}])", text):
        if part == OPEN and depth == 0:
            opened = place
        place += len(part)
        depth += (part == OPEN) - (part == CLOSE)
        assert depth >= 0, f"unbalanced: {text!r}"
        if depth == 0:
            if part == CLOSE:
                inside.add(text[opened:place])
            else:
                pieces.append(part)
    assert depth == 0, f"unbalanced: {text!r}"
    return pieces, inside


@cache
def _find_words(piece: str) -> tuple[str, ...]:
    """The words of what no message holds: most of it, white space and signs, stands on many pages."""
    words = re.findall(r"[^\W\d_]+", DATA.sub(" ", piece))
    return tuple(word for word in words if word not in ("ε", "γ", "δ"))


def find_untranslated(html: str) -> list[str]:
    """The words of a page that no catalogue holds."""
    return [word for text in shown_on(html) for word in outside(text)]


@cache
def shown_on(html: str) -> tuple[str, ...]:
    """The text of a page, and what is said by its attributes."""
    page = ShownTexts()
    page.feed(html)
    page.close()
    return page.text, *page.attributes


def pseudo(text: str) -> str:
    return f"{OPEN}{text}{CLOSE}"


def catalogue(language: str) -> Catalog:
    with (TRANSLATIONS / language / "LC_MESSAGES" / "messages.po").open("rb") as file:
        return read_po(file, locale=language)


def messages(language: str) -> list[Message]:
    return [message for message in catalogue(language) if message.id]


def texts(value: str | tuple[str, ...] | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def missing_on(pages: list[str]) -> list[str]:
    """The templates' messages that are on none of the pages."""
    # Each once: most are on hundreds of pages. A message that is filled in with others holds them.
    joined = "\0".join(
        sorted({message for html in pages for text in shown_on(html) for message in _divide(text)[1]})
    )

    # Once filled in, a number may be kept on a line with its unit (`bind_units`).
    joined = f"{joined}\0{joined.replace(chr(0xA0), ' ')}"

    # What is filled in may be a message itself, which is filled in with one.
    filled = rf"[^{OPEN}{CLOSE}]*"
    for _ in range(2):
        filled = rf"(?:[^{OPEN}{CLOSE}]|{OPEN}{filled}{CLOSE})*"

    def somewhere(text: str) -> bool:
        plain = re.sub(r"</?\w+>", "", text).replace("%%", "%")
        first, *others = re.split(r"%\(\w+\)(?:[sd]|\.\df)", plain)
        if not others:  # which is found much faster
            return pseudo(first) in joined
        pattern = filled.join(re.escape(part) for part in (first, *others))
        return re.search(pseudo(pattern), joined) is not None

    templates = (
        m for m in messages("es") if any(file.startswith("templates/") for file, _line in m.locations)
    )
    asked = (text for message in templates for text in texts(message.id) if text not in NOT_IN_SPANISH)
    return [text for text in asked if not somewhere(text)]
