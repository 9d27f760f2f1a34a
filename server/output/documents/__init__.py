"""Documents to hand in: one value, and a writer for each format. Nothing here knows what a survey is."""

from server.output.documents.html import policy, rows, style, to_html
from server.output.documents.model import (
    Block,
    Cell,
    Chart,
    Document,
    Facts,
    FindingBlock,
    FindingList,
    Number,
    Paragraph,
    Plot,
    Prose,
    Section,
    Table,
    Text,
)
from server.output.documents.pdf import to_pdf
from server.output.documents.vocabulary import Words, environment_of
from server.output.documents.xlsx import to_xlsx
