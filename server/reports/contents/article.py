"""What of a survey goes into an article: which numbers, and a paragraph on methods with its own."""

from collections.abc import Iterator

from server.output.documents import Block, Paragraph, Text
from server.releases.plans.plan_reader import ItemKind
from server.releases.values import Ledger
from server.reports.contents.admission_sections import admitted_sentence
from server.reports.contents.ledger_sections import NEIGHBOURS, mechanism
from server.reports.contents.methods import interval_methods, make_paragraph
from server.reports.contents.randomisation_texts import describe_randomisation
from server.reports.population_weights import Weighting
from server.reports.public_source import Published
from server.reports.report import Report
from server.reports.report_words import ReportWords


def internal(words: ReportWords, report: Report, book: Ledger) -> Iterator[Block]:
    """Of the internal report: what of it may be published, and the methods."""
    _ = words.gettext
    if book.budget is not None:
        yield make_paragraph(
            _(
                "Nothing of this report: this survey has a budget for releases, and it bounds only what is "
                "released. Publish the numbers of the public report, with their intervals and its paragraph on methods."
            )
        )
        return
    if report.unseen.number:
        yield make_paragraph(
            _("Nothing yet: the survey is open. Close it, and take the numbers from the report made then.")
        )
    yield make_paragraph(
        _(
            "This survey has no budget for releases. If nobody was promised that noise is added to what is published, "
            "publish from one report, made once the survey is closed: estimates, standard errors and intervals for "
            "one look, with the number of responses and the ε of one response. They then hide what each person "
            "answered as well as the coins do, and not that somebody took part."
        )
    )
    yield make_paragraph(
        _(
            "Whoever chose the moment to stop after looking at results takes the intervals that hold at every look "
            "instead: CSV and JSON have them."
        )
    )
    yield make_paragraph(
        _(
            "Not the shares that were reported (they are the coins’ as much as the respondents'), responses by day, "
            "single responses, numbers of an earlier report beside those of a later one, or a group that is withheld."
        )
    )
    yield Paragraph(Text(_("Methods, to copy:"), strong=True))
    yield make_paragraph(" ".join(_sentences(words, report)))


def public(words: ReportWords, published: Published) -> Iterator[Block]:
    """Of the public report: all of it, and the methods."""
    _ = words.gettext
    yield make_paragraph(
        _(
            "Every number of this report, with its interval, and the losses of all releases together; numbers of "
            "people with their noise. Nothing else of the survey, as only this is within the budget."
        )
    )
    yield Paragraph(Text(_("Methods, to copy:"), strong=True))
    yield make_paragraph(" ".join(_public_sentences(words, published)))


def _sentences(words: ReportWords, report: Report) -> Iterator[str]:
    _ = words.gettext
    if report.simulated:
        yield _("The respondents are simulated.")
    numbers = words.integer(report.n)
    if len(report.versions) > 1:
        versions = ", ".join(map(str, sorted(report.versions)))
        yield _(
            "%(num)s responses to versions %(versions)s of the questionnaire are analysed.",
            num=numbers,
            versions=versions,
        )
    else:
        yield words.ngettext(
            "%(num)s response to version %(versions)s of the questionnaire is analysed.",
            "%(num)s responses to version %(versions)s of the questionnaire are analysed.",
            report.n,
            num=numbers,
            versions=report.versions[0],
        )
    yield admitted_sentence(words, report.admissions)
    yield describe_randomisation(words, report.answered)
    yield _(
        "Shares and means are estimated by the method of moments, with the inverse of each design, and are not cut "
        "at their range; standard errors are binomial, with n − 1."
    )
    confidence = words.level(report.confidence)
    yield _(
        "Intervals are for %(confidence)s %% and one look: %(methods)s.",
        confidence=confidence,
        methods=interval_methods(words, report),
    )
    if len(report.versions) > 1:
        yield _(
            "Responses to each version are estimated under its own design, and the estimates added in proportion to "
            "their number."
        )
    yield describe_weights(words, report)
    yield _("Of fewer than %(minimum)s responses nothing is shown.", minimum=words.integer(report.minimum))
    yield _source(words, report.software, report.version_number, report.version)


def describe_weights(words: ReportWords, report: Report) -> str:
    """Whether the first numbers are weighted, and how."""
    _ = words.gettext
    if report.weighting != Weighting.BY_POPULATION:
        return _("Not weighted: every response counts the same.")
    text = _("Estimates are weighted by the populations of the strata (post-stratification).")
    if report.populations_since is not None:
        text += " " + _(
            "Populations as they have stood since %(day)s.", day=words.day(report.populations_since)
        )
    if report.not_weighted:
        text += " " + _(
            "Not weighted, as no stratum has enough responses to them: %(questions)s.",
            questions=", ".join(report.not_weighted),
        )
    if report.collapsed:
        text += " " + _(
            "Where strata have too few responses, some are taken together, or count as those beside them."
        )
    return text


def _public_sentences(words: ReportWords, published: Published) -> Iterator[str]:
    _ = words.gettext
    book = published.ledger
    assert book.budget is not None  # it is what releases draw on
    if published.simulated:
        yield _("The respondents are simulated.")
    yield admitted_sentence(words, published.admissions)
    yield describe_randomisation(words, published.designs)
    paid = [each for each in book.released if each.item.kind != ItemKind.DECLARED]
    noises = dict.fromkeys(mechanism(words, each) for each in paid)
    yield _(
        "Everything published has noise added once more (central differential privacy; %(noises)s), under one "
        "budget of ε = %(budget)s and δ = %(delta)s for telling apart two data sets that differ in one thing: "
        "%(neighbours)s; ε = %(spent)s was spent.",
        noises=", ".join(noises),
        budget=words.number(float(book.budget.epsilon)),
        delta=words.number(float(book.budget.delta)),
        neighbours=_(NEIGHBOURS[book.budget.neighbours]),
        spent=words.number(float(book.spent.epsilon)),
    )
    if {each.item.kind for each in paid} - {ItemKind.SHUFFLED}:
        confidences = sorted({each.confidence for each in paid})
        yield _(
            "Shares and means are computed from the noisy numbers alone; their intervals (%(confidence)s %%) hold "
            "coins, sampling and noise together.",
            confidence=", ".join(map(words.level, confidences)),
        )
    yield _source(words, published.software, published.newest.number, published.newest.sha256)


def _source(words: ReportWords, software: str, version: int, sha256: str) -> str:
    return words.gettext(
        "Version %(version)s of the questionnaire, with all probabilities, was fixed before the first response to "
        "it, under the SHA-256 %(hash)s. Software: %(software)s.",
        version=version,
        hash=sha256,
        software=software,
    )
