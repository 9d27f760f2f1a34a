"""How it was done, in plain words: the coins, the designs, the estimators, what they do not tell."""

from collections.abc import Iterator, Sequence

from server.output.documents import Block, Cell, Paragraph, Table, Text
from server.privacy.designs import Design
from server.reports.codebook import mechanism_of
from server.reports.contents import cell_texts
from server.reports.estimate_values import ReportMean
from server.reports.interval_names import SENTENCES
from server.reports.report import Report
from server.reports.report_columns import ReportColumn
from server.reports.report_words import ReportWords
from server.reports.version_designs import VersionDesigns
from server.study.definitions import Definition, Question


def make_paragraph(text: str) -> Paragraph:
    """A paragraph of our own words."""
    return Paragraph(Text(text))


def describe_coins(words: ReportWords, designs: VersionDesigns) -> Iterator[Block]:
    """The coins of every version, in words and in counts of people, and what they cost."""
    _ = words.gettext
    yield make_paragraph(
        _(
            "Chance took part in every answer before anything was sent, on the device used to "
            "answer, or by throws of their own, so that "
            "any stored answer may be another than its sender entered. The estimates undo the coins for the group as a "
            "whole; they are unbiased for the shares of what people entered."
        )
    )
    rows: list[tuple[Cell, ...]] = [
        (
            cell_texts.quote_question(one.definition, one.question),
            *_numbers(designs, one.versions),
            Text(_name_design(words, one.question)),
            Text(words.macro("_macros.html", "odds_label", one.question, one.definition.language)),
            cell_texts.epsilon(words, one.question.epsilon),
        )
        for one in designs.questions
    ]
    together = Text(_("All questions together, for one response"), strong=True)
    rows += [
        (together, *_numbers(designs, versions), Text(""), Text(""), cell_texts.epsilon(words, loss))
        for versions, loss in designs.losses
    ]
    caption = _("What the coins do to each question’s answers, and the privacy loss ε of one response")
    columns = (_("Question"), *_head(words, designs), _("Design"), _("Odds"), "ε")
    yield Table("designs", caption, columns, tuple(rows), short=_("What the coins do"))


def _head(words: ReportWords, designs: VersionDesigns) -> tuple[str, ...]:
    """The head of a column that says which versions a row is about, where they differ."""
    return (words.gettext("versions"),) if designs.differ else ()


def _numbers(designs: VersionDesigns, versions: Sequence[int]) -> tuple[Text, ...]:
    """Its cell."""
    return (Text(", ".join(map(str, versions))),) if designs.differ else ()


def _name_design(words: ReportWords, question: Question) -> str:
    """What the design is called, as in the editor, and the harmless question that it draws on."""
    names, mechanism = "words/designs.html", mechanism_of(question)
    called = words.macro(names, "design_name", question.kind, mechanism)
    innocuous = dict(question.choice.parameters).get("innocuous")
    if innocuous is None:
        return called
    return f"{called}. {words.macro(names, 'parameter_name', mechanism, 'innocuous')}: {innocuous}"


def estimators(words: ReportWords, report: Report, *, live: bool = True) -> Iterator[Block]:
    """How estimates, errors and intervals were computed; where it is `live`, there is a page of results."""
    _ = words.gettext
    questions = [entry.question for entry in report.questions]
    yield make_paragraph(
        _(
            "Estimates: method of moments, unclipped. Standard errors: binomial, with n − 1. Intervals: %(methods)s. "
            "An estimate outside 0 to 100 %% is shown and flagged, with an exact one-sided binomial test.",
            methods=interval_methods(words, report) or _("none yet"),
        )
    )
    if not live:
        text = _(
            "These intervals hold for one look at a moment fixed beforehand. Whoever checked along the way and stopped "
            "when they liked needs wider ones, which JSON has."
        )
        yield make_paragraph(text)
    else:
        yield make_paragraph(
            _(
                "These intervals, like a plan, hold for one look at a moment fixed beforehand. Whoever checked along "
                "the way and stopped when they liked needs wider ones: the page of results, CSV and JSON have them too."
            )
        )
    if any(len(entry.shown) > 1 for entry in report.questions):
        yield make_paragraph(
            _(
                "Several answers of one question: each interval stands by itself, and the test of shares outside "
                "0 to 100 %% counts all of them (Bonferroni); where a scale’s near answers are likelier than far "
                "ones, it is a score test."
            )
        )
    if len(report.versions) > 1:
        yield make_paragraph(
            _(
                "Versions: a question is pooled over the versions that ask it of the same people in the same "
                "words, with the same answers. The responses to each version are estimated under its own design, "
                "and the estimates are added, weighted by their responses; the variances add up likewise."
            )
        )
    yield from encodings(words, questions)
    if any(entry.mean is not None and entry.question.prefer_not_to_say for entry in report.questions):
        yield make_paragraph(
            _(
                "Means of those who answered are ratios of two estimates: standard error by the delta method, "
                "interval by Fieller (1954)."
            )
        )


def interval_methods(words: ReportWords, report: Report) -> str:
    """The methods of the intervals that the report shows first, each once; nothing before the first response."""
    found: dict[str, None] = {}
    for entry in report.questions:
        figures: list[ReportColumn | ReportMean] = [row.column for row in entry.shown]
        for figure in [*figures, *([entry.mean] if entry.mean else [])]:
            found |= dict.fromkeys(figure.method.split(" of "))
    return "; ".join(words.gettext(SENTENCES[name]) for name in found if name)


def encodings(words: ReportWords, questions: Sequence[Question]) -> Iterator[Block]:
    """What must be known of how some kinds of questions were randomised."""
    _ = words.gettext
    by_answer = [question.encoding for question in questions if question.encoding.by_answer]
    if not all(encoding.several for encoding in by_answer):
        yield make_paragraph(
            _(
                "One of several, each option by itself: every option was randomised with a coin of its own, so that "
                "the estimated shares of a question need not add up to 100 %%."
            )
        )
    if any(encoding.several for encoding in by_answer):
        yield make_paragraph(
            _(
                "All that apply: every box was randomised with a coin of its own, and the privacy losses of the "
                "boxes add up."
            )
        )
    if any(question.ends is not None for question in questions):
        yield make_paragraph(
            _(
                "Means: a number is rounded at random to the lowest or the highest possible one, so that its mean "
                "stays, and that is randomised; the standard error includes both (Duchi, Jordan and Wainwright "
                "2013). The mean of a scale counts its levels 1, 2, 3 and so on."
            )
        )
    if any(question.show_if for question in questions):
        yield make_paragraph(
            _(
                "Every respondent reports every question. Whoever was not shown one reports, through the same "
                "coins, the answer declared for that case; shares and means are those of all respondents."
            )
        )


def limits(words: ReportWords) -> Iterator[Block]:
    """What no number here tells."""
    _ = words.gettext
    yield make_paragraph(
        _(
            "Estimates are unbiased for what people entered, not for what they did. Intervals hold for one check "
            "of the data, and for a sample drawn at random; they say nothing about who did not answer."
        )
    )


def codebook(words: ReportWords, version_designs: VersionDesigns) -> Table:
    """The exact designs; designs that several columns share once, options that are treated alike once."""
    _ = words.gettext
    rows = []
    for in_versions in version_designs.questions:
        question = cell_texts.quote_question(in_versions.definition, in_versions.question)
        of = (question, *_numbers(version_designs, in_versions.versions))
        rows += [(*of, *row) for row in _codes(words, in_versions.definition, in_versions.question)]
    columns = (
        _("Question"),
        *_head(words, version_designs),
        _("entered"),
        _("recorded as"),
        _("chance"),
        _("out of 2^32"),
        "ε",
    )
    return Table("codebook", _("Codebook"), columns, tuple(rows))


def _codes(words: ReportWords, definition: Definition, question: Question) -> Iterator[tuple[Cell, ...]]:
    _ = words.gettext
    if question.encoding.by_answer:
        ticked = (Text(_("an option not chosen")), Text(_("an option chosen")))
        for design in _distinct(question.designs):
            yield from _matrix(words, ticked, design)
        return
    (design,) = question.designs
    if not question.encoding.between_ends and len(question.answers) > 2 and design.treats_options_alike():
        first = Text(_("an answer"))
        for code, arrived in ((0, _("the same answer")), (1, _("each other answer"))):
            yield (first, Text(arrived), *_chance(words, design, 0, code))
    else:
        labels = tuple(
            cell_texts.answer(definition, question, index) for index in range(len(question.answers))
        )
        yield from _matrix(words, labels, design)


def _distinct(designs: Sequence[Design]) -> list[Design]:
    return list({design.weights.tobytes(): design for design in designs}.values())


def _matrix(words: ReportWords, labels: Sequence[Text], design: Design) -> Iterator[tuple[Cell, ...]]:
    more = [Text(str(code)) for code in range(len(labels), design.weights.shape[1])]  # of data from elsewhere
    for truth, entered in enumerate(labels):
        for code, arrived in enumerate([*labels, *more]):
            yield (entered, arrived, *_chance(words, design, truth, code))


def _chance(words: ReportWords, design: Design, truth: int, code: int) -> tuple[Cell, ...]:
    weight = int(design.weights[truth, code])
    chance = float(design.matrix[truth, code])
    return (
        cell_texts.share(words, chance),
        cell_texts.count(words, weight),
        cell_texts.epsilon(words, design.epsilon),
    )
