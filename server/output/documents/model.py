"""A document, whatever it is about: headings, paragraphs, facts, tables and charts, in one language.

It is a value without a look. Whoever makes one has written every text in the reader's language
and every number as it is to be read; a number keeps its full precision beside that, for formats
that calculate.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from server.output.charts import Axis, PlottedEstimate
from server.output.markdown import Passage


@dataclass(frozen=True)
class Number:
    """A number as it is read, and as it is.

    Attributes
    ----------
    value : float, int or None
        Full precision, in the unit that `form` says; None where there is none ("–").
    text : str
        As it is read, in the document's language.
    form : str
        How a spreadsheet shows it: a number format of Excel in its English spelling, such as "0.0%".
    """

    value: float | int | None
    text: str
    form: str = "General"


@dataclass(frozen=True)
class Text:
    """A text. One of the survey's own (`from_survey`) is in `language` and may run right to left."""

    text: str
    from_survey: bool = False
    language: str = ""
    strong: bool = False
    code: bool = False


Cell = Text | Number
"""What stands in a table."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; a notice stands out."""

    text: Text
    notice: bool = False


@dataclass(frozen=True)
class Prose:
    """A text of the survey's own that its researcher wrote in Markdown, in `language`."""

    passages: tuple[Passage, ...]
    language: str


@dataclass(frozen=True)
class Facts:
    """Names and what they stand for, such as the software and its version."""

    entries: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True)
class Table:
    """A table: its first column heads the rows.

    `name` is unique in the document, in small letters, digits and hyphens; a spreadsheet names
    the sheet `short`, or after `caption` where that has 31 letters at most.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    short: str = ""


@dataclass(frozen=True)
class Plot:
    """The estimates that a chart shows, for a spreadsheet, which draws them itself; `form` is as of a `Number`.

    Where `bars` are drawn, they begin at 0.
    """

    points: tuple[PlottedEstimate, ...]
    axis: Axis
    form: str
    bars: bool = True


@dataclass(frozen=True)
class Chart:
    """A drawing. Everything it shows is told in `alternative` as well, and in a table beside it.

    `svg` is one <svg> element with a viewBox. It names colours by classes only: pages have their
    own rules for them, in light and dark; paper has `Document.paper_css`.
    """

    svg: str
    caption: str
    alternative: str
    plot: Plot | None = None
    reading: str = ""
    """How to read the drawing, where its marks do not say so themselves."""


@dataclass(frozen=True)
class FindingBlock:
    """What was found in a sentence, what it means, what must be known of it, and the figures that show it.

    The title of its section is what it was found of; or the sentence, which is empty here then. `tells`: whether
    the sentence states something as found.
    """

    sentence: str
    meaning: str = ""
    notes: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    tells: bool = True


@dataclass(frozen=True)
class FindingList:
    """What was found, a sentence each beside what it was found of; what it means, and its figures, stand elsewhere."""

    findings: tuple[tuple[Text, str], ...]


Block = Paragraph | Prose | Facts | Table | Chart | FindingBlock | FindingList


@dataclass(frozen=True)
class Section:
    """A heading and what is below it."""

    name: str
    title: Text
    blocks: tuple[Block, ...] = ()
    sections: tuple["Section", ...] = ()


@dataclass(frozen=True)
class Document:
    """A whole document. `language` is that of its own words, not that of the survey's.

    The first `lead` sections tell the whole in short.
    """

    title: Text
    subtitle: str
    language: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...] = ()
    paper_css: str = field(default="", repr=False)
    lead: int = 0

    def walk(self) -> Iterator[tuple[int, Section]]:
        """Every section with its depth, 1 for the outermost, in reading order."""
        waiting = [(1, section) for section in reversed(self.sections)]
        while waiting:
            depth, section = waiting.pop()
            yield depth, section
            waiting += [(depth + 1, part) for part in reversed(section.sections)]

    def tables(self) -> Iterator[Table]:
        """Every table, in reading order."""
        for blocks in (self.blocks, *(section.blocks for _, section in self.walk())):
            yield from (block for block in blocks if isinstance(block, Table))
