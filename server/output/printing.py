"""Printed sheets: invitations as cards to cut out, ten on a page of A4.

The same data give the same bytes. Where no font has the letters of a title, the card does without
it. Codes pass through pipes, not through files.
"""

import json
import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

import segno

from server.output.typesetting import can_be_set, in_a_process, is_right_to_left, typeset

SHEET_LIMIT = 1_000
"""Cards on one sheet, a hundred pages: so many take some 150 MB while they are made."""

_TITLE_LIMIT = 150
_QUIET = 4  # modules around a QR code

_SOURCE = b"""
#let data = json(bytes(sys.inputs.data))
#set document(title: data.heading, date: none)
#set text(font: ("Libertinus Serif", "DejaVu Sans Mono"), size: 9.5pt, lang: data.language, hyphenate: false)
#set par(leading: 0.45em, spacing: 0.7em)
#let (width, height) = (105mm, 59.4mm)
#let cut = (paint: luma(150), thickness: 0.4pt, dash: "dashed")
#set page(paper: "a4", margin: 0pt, background: {
  place(line(start: (width, 0mm), end: (width, 297mm), stroke: cut))
  for row in range(1, 5) { place(line(start: (0mm, row * height), end: (210mm, row * height), stroke: cut)) }
})
#let mono(size, what) = text(font: "DejaVu Sans Mono", size: size * 1pt, dir: ltr, what)
#let title = text(size: data.size * 1pt, weight: "bold", dir: if data.rtl { rtl } else { ltr }, data.title)
#let words = block(width: 59mm, height: 36mm, clip: true, {
  if data.title != "" { align(if data.rtl { right } else { left }, title) }
  data.words
})
#let address = block(width: 95mm, mono(data.address_size, data.address))
#let qr(path) = {
  let side = str(data.side)
  let head = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " + side + " " + side + "'><path d='"
  image(bytes(head + path + "'/></svg>"), format: "svg", width: 37mm, alt: data.alternative)
}
#let card((code, path)) = {
  place(dx: 41mm, dy: 6mm, words)
  place(dx: 2mm, dy: 2mm, qr(path))
  place(dx: 6mm, dy: 43mm, address)
  place(dx: 6mm, dy: 49mm, mono(14, code))
}
#for cards in data.cards.chunks(10) {
  for (index, it) in cards.enumerate() {
    place(dx: calc.rem(index, 2) * width, dy: calc.quo(index, 2) * height, card(it))
  }
  pagebreak(weak: true)
}
"""


@dataclass(frozen=True)
class Cards:
    """What all cards of a sheet share.

    Attributes
    ----------
    title : str
        Of the survey, in whatever script.
    heading, words, alternative : str
        What the document is called, what to do with a card, and what its QR code is, in `language`.
    language : str
        Of those words: a code of ISO 639.
    link : str
        The link without a code.
    """

    title: str
    heading: str
    words: str
    alternative: str
    language: str
    link: str


def invitation_sheet(shared: Cards, codes: Sequence[str]) -> bytes:
    """The cards of at most SHEET_LIMIT codes ("XXXX-XXXX-XXXX-XXXX") as a tagged PDF."""
    order = json.dumps({"shared": asdict(shared), "codes": list(codes)}).encode()
    return in_a_process("server.output.printing", order)


def invitation_link(link: str, code: str) -> str:
    """The link that brings a code along, in the part of an address that browsers never send."""
    return f"{link}#{code.replace('-', '')}"


def qr_code(text: str) -> segno.QRCode:
    """A QR code. Every mask can be read; looking for the prettiest takes five times as long."""
    return segno.make_qr(text, error="m", boost_error=False, mask=0)


def _path(text: str) -> str:
    """The dark modules of a QR code as the path of an SVG: a box for each run in a row."""
    boxes = []
    for row, modules in enumerate(qr_code(text).matrix, start=_QUIET):
        column = _QUIET
        for dark, run in groupby(modules):
            width = len(list(run))
            if dark:
                boxes.append(f"M{column} {row}h{width}v1h-{width}z")
            column += width
    return "".join(boxes)


def _typeset(shared: Cards, codes: Sequence[str]) -> bytes:
    system_fonts = not can_be_set(shared.title, system_fonts=False)
    title = shared.title if not system_fonts or can_be_set(shared.title, system_fonts=True) else ""
    address = shared.link.removeprefix("https://")
    data = {
        "title": _shorten_title(title),
        "size": 14 if _width(title) <= 40 else 11 if _width(title) <= 90 else 9.5,
        "rtl": is_right_to_left(title),
        "heading": f"{shared.heading}: {title}" if title else shared.heading,
        "words": shared.words,
        "alternative": shared.alternative,
        "language": shared.language,
        "address": address,
        "address_size": max(min(9, 440 / len(address)), 5),
        "side": len(qr_code(invitation_link(shared.link, codes[0])).matrix) + 2 * _QUIET,
        "cards": [(code, _path(invitation_link(shared.link, code))) for code in codes],
    }
    return typeset(_SOURCE, data, system_fonts=system_fonts)


def _shorten_title(title: str) -> str:
    """As much of a title as a card holds; words that are longer than its lines may be broken."""
    kept = title
    while _width(kept) > _TITLE_LIMIT:
        kept = kept[:-1]
    kept = kept if kept == title else kept.rstrip() + "…"
    return re.sub(r"(\S{24})(?=\S{4})", "\\1\N{ZERO WIDTH SPACE}", kept)


def _width(text: str) -> int:
    """In letters of the usual width."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    sys.stdout.buffer.write(_typeset(Cards(**asked["shared"]), asked["codes"]))
