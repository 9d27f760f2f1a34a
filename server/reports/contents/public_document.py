"""The public report: from published definitions and releases alone."""

from collections.abc import Iterator

from server.output.charts import PAPER_CSS
from server.output.documents import Block, Document, Facts, Paragraph, Section, Text
from server.releases.plans.plan_reader import ItemKind
from server.reports.contents import article, cell_texts, methods, release_sections
from server.reports.contents.admission_sections import describe_admission
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.ledger_sections import describe_ledger
from server.reports.contents.question_sections import questions
from server.reports.contents.text_sections import quote_prose, texts
from server.reports.public_source import Published
from server.reports.report_words import ReportWords
from server.reports.survey_texts import INCOMPLETE


def build_public_document(published: Published, locale: str) -> Document:
    """The document that everybody may read."""
    words = ReportWords(locale)
    definition = published.newest.definition
    return Document(
        title=cell_texts.quote_text(definition, definition.title),
        subtitle=_subtitle(words, published),
        language=locale,
        sections=tuple(_sections(words, published)),
        blocks=tuple(_opening(words, published)),
        paper_css=PAPER_CSS,
    )


def _subtitle(words: ReportWords, published: Published) -> str:
    _ = words.gettext
    newest = published.newest
    parts = [
        _(
            "version %(number)d, published %(day)s",
            number=newest.number,
            day=words.day(newest.published_on),
        )
    ]
    if published.released_on is not None:
        parts.insert(0, _("Public report of %(day)s", day=words.day(published.released_on)))
    return " · ".join(parts)


def _opening(words: ReportWords, published: Published) -> Iterator[Block]:
    _ = words.gettext
    definition = published.newest.definition
    if published.simulated:
        yield Paragraph(Text(_("This is a demonstration: its respondents are simulated.")), notice=True)
    if published.incomplete:
        yield Paragraph(Text(_(INCOMPLETE)), notice=True)
    yield from quote_prose(definition, definition.introduction)
    yield Paragraph(
        Text(
            _(
                "A public report. Answers were randomised before they were sent, and everything here draws on a "
                "budget that bounds how much any one person's response can change it. How much that is, is said "
                "below."
            )
        )
    )


def _sections(words: ReportWords, published: Published) -> Iterator[Section]:
    _ = words.gettext
    newest, book = published.newest, published.ledger
    definition = newest.definition
    yield Section(
        "questions", Text(_("Questions")), (questions(words, definition),), tuple(texts(words, definition))
    )
    asked = QuestionsByVersion({version.number: version.definition for version in published.versions})
    inside = tuple(release_sections.sections(words, book.released, asked))
    first = (
        release_sections.explain_errors(words)
        if inside
        else methods.make_paragraph(_("Nothing was released yet."))
    )
    yield Section("results", Text(_("What was released")), (first,), inside)
    yield Section(
        "collected",
        Text(_("How the answers were collected")),
        (*methods.describe_coins(words, published.asked), *describe_admission(words, published.admissions)),
    )
    yield Section("method", Text(_("Method")), tuple(_method(words, published)))
    yield Section(
        "ledger-of-releases",
        Text(_("Central releases: spent and left")),
        tuple(describe_ledger(words, book, names=False)),
    )
    yield Section("limits", Text(_("Limits")), tuple(methods.limits(words)))
    if any(each.item.kind != ItemKind.DECLARED for each in book.released):
        yield Section("article", Text(_("For an article")), tuple(article.public(words, published)))
    cite = _(
        "Public survey report, version %(number)d (%(hash)s), up to entry %(entry)s of its ledger. Made with "
        "%(software)s.",
        number=newest.number,
        hash=newest.sha256[:12],
        entry=words.integer(len(book.released)),
        software=published.software,
    )
    entries = [
        (_("SHA-256 of version %(number)d", number=version.number), Text(version.sha256, code=True))
        for version in published.versions
    ]
    facts = (
        *entries,
        (_("Software"), Text(published.software)),
        (_("Cite as"), Text(f"{definition.title}. {cite}")),
    )
    yield Section("source", Text(_("Source")), (Facts(facts),))
    yield Section("exact-designs", Text(_("Codebook")), (methods.codebook(words, published.asked),))


def _method(words: ReportWords, published: Published) -> Iterator[Block]:
    _ = words.gettext
    kinds = {each.item.kind for each in published.ledger.released}
    if kinds - {ItemKind.SHUFFLED, ItemKind.DECLARED}:
        yield methods.make_paragraph(
            _(
                "What is released is counts of reports with noise added, whose size follows from the loss that was "
                "allowed. Every share and mean is computed from those noisy counts alone: its error and interval "
                "hold the coins, the sampling of respondents and the noise together."
            )
        )
    if ItemKind.SHUFFLED in kinds:
        yield methods.make_paragraph(
            _(
                "The exact tallies were released without more noise: they are counts of reports that a coin had "
                "changed already, and nothing tells whose each one is. Their loss follows from that (shuffling; "
                "Feldman, McMillan and Talwar 2021)."
            )
        )
    yield from methods.encodings(words, published.newest.definition.questions)
