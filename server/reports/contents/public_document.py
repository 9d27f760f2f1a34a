"""The public report: from published definitions and releases alone."""

from collections.abc import Iterator

from server.output.charts import PAPER_CSS
from server.output.documents import Block, Document, Facts, FindingBlock, Paragraph, Section, Text
from server.releases.plans.plan_reader import ItemKind
from server.reports.contents import article, cell_texts, methods, release_sections
from server.reports.contents.admission_sections import describe_admission
from server.reports.contents.disclosure_sections import (
    describe_missing,
    describe_released_rate,
    list_references,
)
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.finding_charts import draw_finding
from server.reports.contents.finding_sections import order_lead
from server.reports.contents.finding_texts import say_count
from server.reports.contents.finding_values import Picture
from server.reports.contents.ledger_sections import describe_ledger
from server.reports.contents.protection import (
    describe_certainty,
    describe_coin,
    describe_loss,
    describe_noise,
    describe_repetition,
)
from server.reports.contents.question_sections import questions
from server.reports.contents.release_findings import (
    explain_finding,
    find_answered,
    list_findings,
    tell_counting,
)
from server.reports.contents.retention_sentences import describe_retention
from server.reports.contents.study_sections import cite_report, describe_study, say_who_asked
from server.reports.contents.text_sections import quote_prose, texts
from server.reports.public_source import Published
from server.reports.references import list_public_references
from server.reports.report_words import ReportWords
from server.reports.survey_texts import INCOMPLETE


def build_public_document(published: Published, locale: str) -> Document:
    """The document that everybody may read."""
    words = ReportWords(locale)
    definition = published.newest.definition
    first = _lead(words, published)
    return Document(
        title=cell_texts.quote_text(definition, definition.title),
        subtitle=_subtitle(words, published),
        language=locale,
        sections=(*first, *_sections(words, published)),
        blocks=tuple(_opening(words, published)),
        paper_css=PAPER_CSS,
        lead=len(first),
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
    yield from list_notices(words, published)
    yield from say_who_asked(words, published.study)
    yield Paragraph(Text(describe_report(words)))


def list_notices(words: ReportWords, published: Published) -> Iterator[Paragraph]:
    """What whoever reads a report must know before anything else."""
    _ = words.gettext
    if published.simulated:
        yield Paragraph(Text(_("This is a demonstration: its respondents are simulated.")), notice=True)
    if published.incomplete:
        yield Paragraph(Text(_(INCOMPLETE)), notice=True)


def describe_report(words: ReportWords) -> str:
    """What a public report is, in two sentences."""
    return words.gettext(
        "What arrived from each person may not be what that person answered: chance took part, on "
        "the device they used or by throws of their own. "
        "Of all together it can still be told how common things are, within a range."
    )


def describe_answered(words: ReportWords, published: Published) -> str:
    """How many answered and until when, as far as releases say it; empty before the first one."""
    answered = find_answered(published)
    if answered is not None:
        number = say_count(words, answered.figure).rstrip(".")
        return words.gettext("%(responses)s by %(day)s", responses=number, day=words.day(answered.until))
    until = max((entry.covers.until for entry in published.ledger.released), default=None)
    return "" if until is None else words.gettext("Responses by %(day)s", day=words.day(until))


def _findings(words: ReportWords, published: Published, questions: QuestionsByVersion) -> Iterator[Section]:
    findings = list_findings(words, published)
    for number, found in enumerate(findings, start=1):
        charts = draw_finding(words, found, questions)
        above = [] if charts else [Paragraph(wording) for wording in found.wordings]
        if found.among is not None:
            above.append(Paragraph(found.among))
        block = FindingBlock("", explain_finding(words, found, findings), charts=charts)
        yield Section(f"finding-{number}", Text(found.sentence), (*above, block))


def _list_sentences(
    words: ReportWords, published: Published, questions: QuestionsByVersion
) -> Iterator[tuple[Text, str]]:
    """What each finding says beside what was asked; a tree of numbers says nothing without its picture."""
    findings = list_findings(words, published)
    for release_finding in findings:
        if release_finding.picture == Picture.TREE:
            continue
        of = [questions.question(name, release_finding.entry.covers) for name in release_finding.questions]
        about = [cell_texts.quote_question(*one) for one in of if one is not None]
        about += [] if release_finding.among is None else [release_finding.among]
        if about:
            named = Text(" × ".join(one.text for one in about), from_survey=True, language=about[0].language)
        else:
            named = Text(words.gettext("All responses"))
        yield named, " ".join([release_finding.sentence, *tell_counting(words, release_finding, findings)])


def _lead(words: ReportWords, published: Published) -> tuple[Section, ...]:
    """What the first page says."""
    _ = words.gettext
    questions = QuestionsByVersion({version.number: version.definition for version in published.versions})
    findings = tuple(_findings(words, published, questions))
    sentence = describe_answered(words, published)
    first: list[Block] = [methods.make_paragraph(f"{sentence}.")] if sentence else []
    released = published.ledger.released
    if not released:
        first.append(methods.make_paragraph(_("Nothing was released yet.")))
    elif all(entry.item.kind == ItemKind.COUNT for entry in released):
        first.append(methods.make_paragraph(_("Of the answers, nothing was released yet.")))
    found = Section("findings", Text(_("What was found")), tuple(first), findings)
    coin, noise = tuple(describe_coin(words, published)), tuple(describe_noise(words, published))
    rest = (
        Section("protection", Text(_("How answers were protected")), coin),
        *([Section("publishing", Text(_("Before publishing")), noise)] if noise else []),
        Section("certainty", Text(_("How sure one can be")), tuple(describe_certainty(words, published))),
    )
    return order_lead(words, found, tuple(_list_sentences(words, published, questions)), rest)


def _sections(words: ReportWords, published: Published) -> Iterator[Section]:
    _ = words.gettext
    newest, book = published.newest, published.ledger
    definition = newest.definition
    by_version = QuestionsByVersion({version.number: version.definition for version in published.versions})
    yield Section(
        "questions",
        Text(_("The questions, word by word")),
        (*quote_prose(definition, definition.introduction), questions(words, definition)),
        tuple(texts(words, definition)),
    )
    inside = tuple(release_sections.sections(words, book.released, by_version))
    if inside:
        explained = (*release_sections.explain_errors(words, book.released), cell_texts.explain_dash(words))
        yield Section("results", Text(_("What was released, with every number")), explained, inside)
    tables = dict.fromkeys(
        each.item.questions
        for each in book.released
        if each.item.kind == ItemKind.TABLE and len(each.item.questions) > 1
    )
    yield Section(
        "collected",
        Text(_("How the answers were collected")),
        (
            *methods.describe_coins(words, published.designs),
            *describe_admission(words, published.admissions, published.designs, tables),
            *describe_released_rate(words, published),
            describe_missing(words, [one.question for one in published.designs.questions]),
            *describe_retention(words, published.kept),
        ),
    )
    yield from describe_study(words, published.study)
    yield Section("method", Text(_("Method")), tuple(_method(words, published)))
    yield Section(
        "ledger-of-releases",
        Text(_("The budget: what was spent, and what is left")),
        tuple(describe_ledger(words, book, names=False)),
    )
    if any(each.item.kind != ItemKind.DECLARED for each in book.released):
        yield Section("article", Text(_("For an article")), tuple(article.public(words, published)))
    yield list_references(words, list_public_references(published))
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
        (_("Cite as"), cite_report(words, published.study, definition.title, cite)),
    )
    yield Section("source", Text(_("Source and citation")), (Facts(facts),))
    yield Section("exact-designs", Text(_("Codebook")), (methods.codebook(words, published.designs),))


def _method(words: ReportWords, published: Published) -> Iterator[Block]:
    _ = words.gettext
    kinds = {each.item.kind for each in published.ledger.released}
    yield describe_repetition(words)
    yield from describe_loss(words, published)
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
