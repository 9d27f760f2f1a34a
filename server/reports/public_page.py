"""The public report as a web page that needs nothing else, and each of its figures by itself."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from server.output import documents
from server.output.documents import Block, Chart, Document, Section, Text
from server.output.typesetting import size_of
from server.reports.contents import build_public_document
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.finding_charts import draw_finding
from server.reports.contents.finding_texts import explain_sureness
from server.reports.contents.finding_values import Picture, ReleaseFinding
from server.reports.contents.methods import make_paragraph
from server.reports.contents.protection import explain_ranges
from server.reports.contents.public_document import describe_answered, describe_report, list_notices
from server.reports.contents.release_findings import explain_finding, list_all_findings
from server.reports.contents.study_sections import say_days
from server.reports.public_source import Published
from server.reports.question_figures import PICTURE_FORMATS
from server.reports.report_words import ReportWords

SHEETS = ("style.css", "drawings.css", "report.css", "public.css")
"""The style sheets inside the page."""
_BESIDE = 320
"""Pixels of a frame beside its drawings, enough on a phone for what sentences usually take; more is scrolled to."""
_READ_FIRST = ("findings", "protection", "publishing", "certainty", "figures")
_KEPT_FOLDED = ("ledger-of-releases", "exact-designs")
"""What paper does without: the file for a spreadsheet has it."""


class Download(NamedTuple):
    """A file of the same report."""

    name: str
    url: str


class LanguageLink(NamedTuple):
    """A language of the page's own words."""

    code: str
    name: str
    url: str


@dataclass(frozen=True)
class Addresses:
    """Where the page is, if it is anywhere: a file is nowhere.

    Attributes
    ----------
    page, card : str
        Of the page itself and of its picture for social networks, with the site's name.
    figures : str
        Of a figure, where "{name}" is the finding's.
    """

    page: str
    card: str
    figures: str

    def figure(self, finding: ReleaseFinding) -> str:
        """Where a figure is by itself."""
        return self.figures.replace("{name}", finding.name)

    def picture(self, finding: ReleaseFinding, ending: str) -> str:
        """Where it is as a picture."""
        return self.figures.replace("{name}", f"{finding.name}.{ending}")

    def snippet(self, shown: "ShownFinding", title: str) -> str:
        """What another page shows it with, in a frame with a title. An answer's own words stay inside their quotes."""
        frame = Markup('<iframe src="{}" title="{}" width="100%" height="{}" loading="lazy"></iframe>')
        height = _BESIDE + math.ceil(sum(size_of(chart.svg)[1] for chart in shown.charts))
        return str(frame.format(self.figure(shown.finding), title, height))


@dataclass(frozen=True)
class ShownFinding:
    """A finding as the page shows it: with its charts, how it was asked, and what tells it from its like."""

    finding: ReleaseFinding
    released: str
    charts: tuple[Chart, ...]
    facts: tuple[tuple[str, str], ...]


def write_public_page(
    published: Published,
    locale: str,
    document: Document | None = None,
    *,
    addresses: Addresses | None = None,
    languages: Sequence[LanguageLink] = (),
    downloads: Sequence[Download] = (),
) -> str:
    """The page; as a file, it has no way to anywhere else."""
    words = ReportWords(locale)
    whole = build_public_document(published, locale) if document is None else document
    sections: Mapping[str, Section] = {section.name: section for section in whole.sections}
    shown = [one for one in _show(words, published) if not one.finding.replaced]
    ranges = explain_ranges(words, published)
    return documents.to_html(
        whole,
        "public/report.html",
        SHEETS,
        published=published,
        lead=describe_report(words),
        about=_describe_page(words, published),
        notices=tuple(list_notices(words, published)),
        groups=[tuple(group) for _, group in groupby(shown, key=_name_group)],
        ranges=ranges,
        dotted=any(one.finding.picture == Picture.DOTS for one in shown),
        protection=sections["protection"],
        publishing=sections.get("publishing"),
        certainty=_leave_out(sections["certainty"], ranges),
        nothing=sections["findings"].blocks if not shown else (),
        folded=[section for section in whole.sections if section.name not in _READ_FIRST],
        kept_folded=_KEPT_FOLDED,
        walk=_walk,
        addresses=addresses,
        pictures=PICTURE_FORMATS,
        languages=languages,
        downloads=downloads,
    )


def _leave_out(section: Section, sentence: str) -> Section:
    """A section without what the page says further up."""
    return replace(
        section, blocks=tuple(block for block in section.blocks if block != make_paragraph(sentence))
    )


def write_figure(published: Published, locale: str, name: str, page: str) -> str | None:
    """One figure with its sentence, for other sites' pages, with a link to the page; None where there is none."""
    words = ReportWords(locale)
    shown = find_shown(words, published, name)
    if shown is None:
        return None
    sure = explain_sureness(words, shown.finding.entry)
    return _write_frame(words, published=published, shown=shown, page=page, ranges=sure)


def write_withdrawn_figure(locale: str, day: str) -> str:
    """What stands in its place once the report was withdrawn."""
    return _write_frame(ReportWords(locale), shown=None, day=day)


def _write_frame(words: ReportWords, **values: object) -> str:
    page = words.environment.get_template("public/figure.html")
    return page.render(
        language=words.locale,
        style=documents.style(SHEETS),
        policy=documents.policy(SHEETS),
        rows=documents.rows,
        **values,
    )


def _describe_page(words: ReportWords, published: Published) -> str:
    """Who asked, when, how many answered: what is known of it."""
    _ = words.gettext
    study = published.study
    days = say_days(words, study)
    parts = [
        study.sponsor or study.conductor,
        _("%(field)s: %(text)s", field=_("In the field"), text=days)
        if days
        else _("Published on %(day)s", day=words.day(published.versions[-1].published_on)),
        describe_answered(words, published),
    ]
    return " · ".join(filter(None, parts))


def find_shown(words: ReportWords, published: Published, name: str) -> ShownFinding | None:
    """A finding by its name; None where there is none."""
    return next((one for one in _show(words, published) if one.finding.name == name), None)


def _show(words: ReportWords, published: Published) -> Iterator[ShownFinding]:
    questions = QuestionsByVersion({version.number: version.definition for version in published.versions})
    findings = list_all_findings(words, published)
    for finding in findings:
        facts = tuple(_list_facts(words, finding, questions))
        released = " · ".join(_tell_release(words, published, finding, findings))
        beside = replace(finding, meaning=explain_finding(words, finding, findings))
        yield ShownFinding(beside, released, draw_finding(words, finding, questions), facts)


def _tell_release(
    words: ReportWords, published: Published, finding: ReleaseFinding, others: Sequence[ReleaseFinding]
) -> Iterator[str]:
    """When a finding was released, and of which versions: each where others differ in it."""
    _ = words.gettext
    if any(other.released_on != finding.released_on for other in others):
        yield _("Released on %(day)s", day=words.day(finding.released_on))
    if len(published.versions) > 1:
        numbers = sorted(finding.versions, key=int)
        yield words.ngettext(
            "version %(numbers)s", "versions %(numbers)s", len(numbers), numbers=", ".join(numbers)
        )


def _name_group(shown: ShownFinding) -> tuple[object, ...]:
    """What findings below one heading have in common: what was asked, of whom."""
    finding = shown.finding
    return (finding.wordings, finding.among) if finding.wordings else (finding.name,)


def _list_facts(
    words: ReportWords, finding: ReleaseFinding, questions: QuestionsByVersion
) -> Iterator[tuple[str, str]]:
    """How a finding was asked, and when it was released."""
    _ = words.gettext
    for name in finding.questions:
        found = questions.question(name, finding.entry.covers)
        if found is not None:
            definition, question = found
            odds = words.macro("_macros.html", "odds_label", question, definition.language)
            yield _("What the coin did: %(question)s", question=question.text), odds
    yield _("Released on"), words.day(finding.released_on)
    if finding.ranges:
        level = words.level(finding.entry.confidence)
        yield _("Ranges"), _("%(confidence)s %% intervals, rounded outwards", confidence=level)


def _walk(section: Section) -> Iterator[tuple[int, Text, str, tuple[Block, ...]]]:
    """What is below a heading: the depth of each heading, its text, its name and its blocks."""
    for depth, part in Document(Text(""), "", "", section.sections).walk():
        yield depth, part.title, part.name, part.blocks
