"""A finding of a public report as a picture: its sentence above the drawing, how sure it is and whose it is below."""

from collections.abc import Iterator

from server.output.charts.drawing import LINE, WIDTH, drawing, text, wrap_text
from server.output.documents import Chart
from server.output.typesetting import is_right_to_left, size_of
from server.reports.contents.finding_texts import explain_sureness
from server.reports.contents.public_document import list_notices
from server.reports.public_page import ShownFinding, find_shown
from server.reports.public_source import Published
from server.reports.report_words import ReportWords

_GAP, _EDGE = 6, 16
_MOST = 12
"""Lines of one text."""
_NARROW = 1.15
"""How many more letters fit than `wrap_text` reckons with: whole sentences are no capitals alone."""


def draw_picture(locale: str, published: Published, name: str, page: str) -> Chart | None:
    """Whoever meets it without the report reads what was asked, by whom, and where the rest is; None: no such one."""
    words = ReportWords(locale)
    shown = find_shown(words, published, name)
    if shown is None:
        return None
    finding = shown.finding
    parts: list[str] = []
    y = 0.0
    above = [*((asked.text, "soft") for asked in finding.wordings), (finding.sentence, "strong")]
    if finding.among is not None:
        above.insert(-1, (f"{words.gettext('Only in:')} {finding.among.text}", "soft"))
    if shown.released:
        above.insert(-1, (shown.released, "soft"))
    for sentence, look in [*above, (finding.meaning, "")]:
        y = _write(parts, sentence, look, y)
    for chart in shown.charts:
        width, height = size_of(chart.svg)
        parts.append(f'<g transform="translate(0 {y + 2 * _GAP:g})">{_place(chart.svg, width, height)}</g>')
        y += height + 3 * _GAP
        y = _write(parts, chart.reading, "mark", y)
    for sentence in _list_below(words, published, shown, page):
        y = _write(parts, sentence, "mark", y)
    told = [finding.meaning, *(chart.alternative for chart in shown.charts)]
    inside = f'<g transform="translate({_EDGE} {_EDGE})">{"".join(parts)}</g>'
    made = drawing(finding.sentence, filter(None, told), [inside], y + 2 * _EDGE - _GAP, WIDTH + 2 * _EDGE)
    return Chart(made.svg, finding.sentence, made.alternative)


def _list_below(words: ReportWords, published: Published, shown: ShownFinding, page: str) -> Iterator[str]:
    yield explain_sureness(words, shown.finding.entry)
    for notice in list_notices(words, published):
        yield notice.text.text
    asked = (published.newest.definition.title, published.study.sponsor or published.study.conductor)
    yield " · ".join(filter(None, asked))
    yield page


def _write(parts: list[str], sentence: str, style: str, y: float) -> float:
    """Lines of a text below `y`; where they end."""
    if not sentence:
        return y
    x, anchor = (WIDTH, "end") if is_right_to_left(sentence) else (0, "start")
    lines = wrap_text(sentence, WIDTH * _NARROW, _MOST)
    parts += [text(x, y + LINE * place + 11, words, style, anchor) for place, words in enumerate(lines)]
    return y + LINE * len(lines) + _GAP


def _place(svg: str, width: float, height: float) -> str:
    return svg.replace("<svg ", f'<svg width="{width:g}" height="{height:g}" ', 1)
