"""A studio that takes the guides' pictures of the real site in a real browser, and the made-up survey in them."""

import base64
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from playwright.sync_api import Browser, BrowserContext, Page

from server.output.languages import LANGUAGES
from tests.browser.site_users import DESK, PHONE, Respondent
from tests.support import factories

IMAGES = factories.ROOT / "docs" / "images"
MOST_BYTES = 120_000
PREFIX = {code: language.guide for code, language in LANGUAGES.items()}

Document = dict[str, Any]
Say = Callable[[str, str], str]

PIXELS = """async (png) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let text = '';
  for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
  return [image.width, image.height, btoa(text)];
}"""


@dataclass(frozen=True)
class Studio:
    """Takes pictures of a server in a language."""

    browser: Browser
    served: factories.Served
    language: str
    blank: Page

    def say(self, english: str, spanish: str) -> str:
        """One of two wordings."""
        return spanish if self.language == "es" else english

    def context(self, **options: Any) -> BrowserContext:
        context = self.browser.new_context(
            **{"base_url": self.served.url, "locale": self.language, **options}
        )
        context.set_default_timeout(20_000)
        return context

    def phone(self, slug: str, **options: Any) -> Respondent:
        """Somebody who opens a survey on a phone."""
        page = self.context(**PHONE, device_scale_factor=1.5, **options).new_page()
        return Respondent(page, slug, self.language).open()

    def take(self, page: Page, name: str, height: int = 0) -> None:
        """One picture, without a pointer over anything; of a desk's page with this height."""
        if height:
            page.set_viewport_size({"width": DESK["viewport"]["width"], "height": height})
        page.mouse.move(0, 0)
        page.wait_for_load_state("networkidle")
        page.evaluate("document.fonts.ready")
        self.keep(page.screenshot(animations="disabled"), name)

    def keep(self, png: bytes, name: str) -> None:
        """Write a picture, made small."""
        path = IMAGES / f"{PREFIX[self.language]}-{name}.png"
        picture = with_palette(self.blank, png)
        path.write_bytes(picture)
        print(f"{path.relative_to(factories.ROOT)}: {len(picture):,} bytes")
        assert len(picture) <= MOST_BYTES, f"{name} should have at most {MOST_BYTES:,} bytes"


def with_palette(page: Page, png: bytes) -> bytes:
    """The same picture with at most 256 colours: a fraction of its size, and nobody sees a difference."""
    width, height, text = page.evaluate(PIXELS, base64.b64encode(png).decode())
    pixels = np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, 4)[:, :3].astype(np.uint32)
    colours = pixels @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    for kept in (0xFFFFFF, 0xFCFCFC, 0xF8F8F8, 0xF0F0F0, 0xE0E0E0):
        groups, codes = np.unique(colours & kept, return_inverse=True)
        if len(groups) <= 256:
            break
    # A group is shown as its most frequent colour, so that papers and inks stay exactly what they are.
    distinct, first, counts = np.unique(colours, return_index=True, return_counts=True)
    palette = np.zeros(len(groups), np.uint32)
    for place in np.argsort(counts):
        palette[codes[first[place]]] = distinct[place]
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = codes.reshape(height, width)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", b"".join(int(colour).to_bytes(3, "big") for colour in palette)),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


def questions(say: Say) -> dict[str, Document]:
    """Of a made-up survey about extra jobs, by name."""

    def options(*named: tuple[str, str, str]) -> list[Document]:
        return [{"name": name, "text": say(english, spanish)} for name, english, spanish in named]

    undeclared = {
        "kind": "yes_no",
        "text": say(
            "In the last 12 months, have you done paid work that was not declared?",
            "En los últimos 12 meses, ¿has hecho algún trabajo pagado sin declararlo?",
        ),
        "design": {"mechanism": "coin_flip"},
    }
    reason = {
        "kind": "select_one",
        "text": say(
            "Why did you take up your last extra job?", "¿Por qué aceptaste tu último trabajo extra?"
        ),
        "options": options(
            ("money", "I needed the money", "Necesitaba el dinero"),
            ("asked", "Somebody asked me to", "Alguien me lo pidió"),
            ("none", "I had no extra job", "No tuve ningún trabajo extra"),
        ),
        "prefer_not_to_say": True,
        "design": {"mechanism": "best_choice"},
    }
    boxes = {
        "kind": "select_multiple",
        "text": say(
            "Which of these have you done for pay without declaring it?",
            "¿Qué has hecho a cambio de dinero sin declararlo?",
        ),
        "options": options(
            ("repairs", "Repairs or building", "Reparaciones u obras"),
            ("care", "Cleaning or care", "Limpieza o cuidados"),
            ("lessons", "Lessons or translations", "Clases o traducciones"),
        ),
        "design": {"mechanism": "coin_flip"},
    }
    hours = {
        "kind": "number",
        "text": say(
            "How many hours did you work in extra jobs last week?",
            "¿Cuántas horas dedicaste la semana pasada a trabajos extra?",
        ),
        **{"low": 0, "high": 40, "step": 1, "unit": say("hours", "horas")},
        "design": {"mechanism": "stochastic_rounding"},
    }
    control = {
        "kind": "yes_no",
        "text": say("Have you worked on 30 February?", "¿Has trabajado el 30 de febrero?"),
        "control": True,
        "design": {"mechanism": "coin_flip"},
    }
    named = {"undeclared": undeclared, "reason": reason, "boxes": boxes, "hours": hours, "control": control}
    return {name: {"name": name, **question} for name, question in named.items()}


def survey(studio: Studio, *names: str, budget: float, **more: Any) -> Document:
    """A definition with these questions."""
    asked = questions(studio.say)
    title = studio.say("Extra jobs", "Trabajos extra")
    entries = [asked[name] for name in names]
    return factories.definition(
        language=studio.language, title=title, questions=entries, budget=budget, **more
    )
