"""What each entry of a ledger found, in the same words on pages, in reports and on the command line."""

from collections.abc import Sequence

from server.releases import Released
from server.releases.plans.items import ItemKind
from server.reports.contents import finding_texts
from server.reports.contents.column_texts import FindingTexts, say_columns
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.finding_reader import read_entry
from server.reports.contents.finding_values import ReleaseFinding
from server.reports.report_words import ReportWords


def say_entry(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> tuple[FindingTexts, ...]:
    """Its sentences, each with what it means; none where nothing was found, or where only a table tells it.

    What it means ends with how sure ranges are: a sentence is copied and printed by itself.
    """
    sure = finding_texts.explain_sureness(words, entry)
    return tuple(
        (sentence, " ".join(filter(None, (meaning, sure))))
        for sentence, meaning in say_found(words, entry, questions)
    )


def share_sureness(words: ReportWords, released: Sequence[Released]) -> str:
    """How sure the ranges of all these entries are, to be said once; empty where they differ in it, or have none."""
    ranged = {finding_texts.explain_sureness(words, entry): entry.confidence for entry in released}
    ranged.pop("", None)
    if len(ranged) < 2:
        return "".join(ranged)
    if len(set(ranged.values())) > 1:
        return ""
    level = finding_texts.explain_level(words, min(ranged.values()))
    return f"{level} {words.gettext('Ranges of numbers of responses hold the noise alone.')}"


def say_found(
    words: ReportWords, entry: Released, by_version: QuestionsByVersion
) -> tuple[FindingTexts, ...]:
    """Its sentences, each with what it means, but for how sure ranges are: that is said once for all of them."""
    if entry.item.kind in (ItemKind.COUNT, ItemKind.HIERARCHY) and entry.total is not None:
        say = finding_texts.say_rows if entry.covers.of_table else finding_texts.say_count
        return ((say(words, entry.total), finding_texts.explain_count(words)),)
    # What several questions say together comes first: its figure stands beside it.
    findings = sorted(read_entry(words, entry, by_version), key=lambda finding: -len(finding.questions))
    found = [(_name_question(entry, finding), finding.meaning) for finding in findings]
    if entry.covers.of_table:
        found += say_columns(words, entry, by_version)
    return tuple(said for said in found if said[0])


def list_untold(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> frozenset[str]:
    """Those of its sentences that state nothing as found."""
    findings = read_entry(words, entry, questions)
    return frozenset(_name_question(entry, finding) for finding in findings if not finding.tells)


def _name_question(entry: Released, finding: ReleaseFinding) -> str:
    """The sentence; of one question among several also which."""
    if len(entry.item.questions) > 1 and len(finding.wordings) == 1:
        return f"{finding.wordings[0].text} – {finding.sentence}"
    return finding.sentence
