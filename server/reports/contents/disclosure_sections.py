"""What a journal asks of a survey beside its estimates: the flow, item missingness, weights, precision, references."""

from collections.abc import Iterable, Iterator, Sequence

from server.inputs import N_
from server.output import charts
from server.output.charts import FlowStep
from server.output.documents import Block, Chart, Paragraph, Section, Table, Text
from server.output.formatting import margin
from server.reports.achieved_precision import FROM, AchievedPrecision, list_precision
from server.reports.contents import cell_texts
from server.reports.contents.methods import make_paragraph
from server.reports.public_source import Published
from server.reports.reference_table import Reference
from server.reports.released_rate import find_released_rate
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.reports.response_rates import PARTICIPATION_RATE, InvitedCodes, name_rate
from server.study.definitions import Question

_RESULTS = {
    "share": N_("share"),
    "shares": N_("share of each answer"),
    "boxes": N_("share of each box"),
    "mean": N_("mean"),
}


ALL_ISSUED = N_(
    "No response is partial. Whether a code reached somebody of the population is not known, so every code issued "
    "counts as an invitation, also where its batch was withdrawn; the rate is the lowest that fits."
)


def describe_response(words: ReportWords, report: Report) -> Iterator[Block]:
    """The response rate under AAPOR's name, or why there is none; the flow from invitations to responses."""
    _ = words.gettext
    invited = report.invited
    if invited is None:
        yield make_paragraph(_say_no_rate(words, report))
        return
    yield make_paragraph(_say_rate(words, report, invited))
    steps = (
        (_("Invited: codes issued"), invited.issued),
        (_("Answered: codes used"), invited.used),
        (_("Counted: responses in this report"), report.n),
    )
    caption = _("From invitations to responses")
    rows = tuple((Text(name), cell_texts.count(words, number)) for name, number in steps)
    withdrawn = words.integer(invited.withdrawn)
    note = _("Of the codes issued, %(num)s are in batches that were withdrawn since.", num=withdrawn)
    yield Table("flow", caption, (_("Step"), _("number")), rows, (note,))
    unused = "" if invited.used is None else words.integer(invited.issued - invited.used)
    left = [_("%(num)s codes not used", num=unused) if unused else "", "", ""]
    made = charts.flow(
        caption,
        [
            FlowStep(name, _("not told") if number is None else words.integer(number), beside)
            for (name, number), beside in zip(steps, left, strict=True)
        ],
    )
    yield Chart(made.svg, caption, made.alternative)


def _say_no_rate(words: ReportWords, report: Report) -> str:
    _ = words.gettext
    if not report.pooled:
        return _(
            "A response rate is told for all versions together only: codes are not issued for one of them."
        )
    return _("No response rate: no code was issued here, and how many people saw the link is not known.")


def _say_rate(words: ReportWords, report: Report, invited: InvitedCodes) -> str:
    _ = words.gettext
    if not invited.closed:
        return _(
            "No response rate yet: how many codes were used is told once the survey is closed. %(issued)s were issued.",
            issued=words.integer(invited.issued),
        )
    if invited.used is None:
        return _(
            "No response rate: how many codes were used is told only where every response counts here and came with "
            "a code. %(issued)s were issued.",
            issued=words.integer(invited.issued),
        )
    numbers = {
        "rate": words.percent(invited.rate),
        "used": words.integer(invited.used),
        "issued": words.integer(invited.issued),
    }
    if name_rate(report.study) == PARTICIPATION_RATE:
        sentence = _(
            "Participation rate, as AAPOR calls it where those invited are no probability sample: %(rate)s, %(used)s "
            "of %(issued)s codes issued.",
            **numbers,
        )
    else:
        sentence = _(
            "Response rate (AAPOR RR1): %(rate)s, %(used)s of %(issued)s codes issued.",
            **numbers,
        )
    return f"{sentence} {_(ALL_ISSUED)}"


def describe_released_rate(words: ReportWords, published: Published) -> Iterator[Paragraph]:
    """The response rate as a release tells it; nothing where none does."""
    _ = words.gettext
    rate = find_released_rate(published)
    if rate is None:
        return
    numbers = {"issued": words.integer(rate.issued), "rate": words.percent(rate.value)}
    if name_rate(published.study) == PARTICIPATION_RATE:
        sentence = _(
            "Participation rate, as AAPOR calls it where those invited are no probability sample: %(rate)s of "
            "%(issued)s codes issued.",
            **numbers,
        )
    else:
        sentence = _("Response rate (AAPOR RR1): %(rate)s of %(issued)s codes issued.", **numbers)
    if not rate.exact:
        noise = _(
            "Noise was added to the number of responses: with %(confidence)s %% confidence the rate is %(low)s to "
            "%(high)s.",
            confidence=words.level(rate.confidence),
            low=words.percent(rate.low),
            high=words.percent(rate.high),
        )
        sentence = f"{sentence} {noise}"
    yield make_paragraph(f"{sentence} {_(ALL_ISSUED)}")


def describe_missing(words: ReportWords, questions: Sequence[Question]) -> Paragraph:
    """That no answer is missing, and what that means where questions had conditions or could be declined."""
    _ = words.gettext
    parts = [
        _(
            "Item missingness: no answer is missing, by design. A response is taken only with a report of every "
            "question of its version, and nothing is imputed."
        )
    ]
    if any(question.show_if for question in questions):
        parts.append(
            _(
                "Whoever was not shown a question reports the answer declared for that case, through the same coins, "
                "and counts in its shares."
            )
        )
    if any(question.prefer_not_to_say for question in questions):
        parts.append(
            _(
                "Where declining to answer is itself an answer, its share is estimated like those of the others, and "
                "it is not missing."
            )
        )
    return make_paragraph(" ".join(parts))


def describe_precision(words: ReportWords, report: Report) -> Iterator[Block]:
    """What weighting costs, and how precise each result is beside what was planned."""
    _ = words.gettext
    effects = [entry.design_effect for entry in report.questions if entry.design_effect is not None]
    if effects:
        low, high = (words.number(round(value, 2)) for value in (min(effects), max(effects)))
        numbers = low if low == high else _("%(low)s to %(high)s", low=low, high=high)
        yield make_paragraph(
            _(
                "Design effect of the weights (Kish 1992): %(numbers)s. So many times as many responses are needed as "
                "without weights, if answers vary as much in every stratum; standard errors and intervals include it.",
                numbers=numbers,
            )
        )
    achieved = list_precision(report)
    if not achieved:
        return
    yield make_paragraph(" ".join(_say_planned(words, report, achieved)))
    planned = [one.margin.planned for one in achieved if one.margin.planned is not None]
    powers = any(one.power is not None for one in achieved)
    rows = tuple(
        (
            cell_texts.quote_question(report.definition, one.margin.entry.question),
            Text(_(_RESULTS[one.margin.what])),
            cell_texts.count(words, one.margin.entry.n),
            cell_texts.count(words, int(one.effective)),
            cell_texts.share(words, one.margin.reached),
            *((cell_texts.share(words, one.margin.planned),) if planned else ()),
            *((cell_texts.share(words, one.power),) if powers else ()),
        )
        for one in achieved
    )
    columns = (
        _("Question"),
        _("Result"),
        _("responses"),
        _("effective number"),
        _("margin reached, ±"),
        *((_("margin planned, ±"),) if planned else ()),
        *((_("power"),) if powers else ()),
    )
    notes = [
        _(
            "A margin is half of the widest interval for one look, in percentage points; of a mean, in percent of its "
            "range. The effective number is that of the responses, over the design effect of weighting."
        )
    ]
    if powers:
        notes.append(
            _(
                "Power: about how likely so many responses show that a share is not %(share)s, if in truth it is the "
                "planned margin above that; two-sided at 5 %%, by the normal approximation (Fleiss, Levin and Paik "
                "2003). For questions with two answers under one design.",
                share=words.percent(FROM),
            )
        )
    yield Table("precision", _("Precision reached"), columns, rows, tuple(notes))


def _say_planned(words: ReportWords, report: Report, achieved: Sequence[AchievedPrecision]) -> Iterator[str]:
    _ = words.gettext
    study = report.study
    if study.planned_respondents is not None:
        yield _(
            "%(planned)s responses were planned, and %(num)s are counted.",
            planned=words.integer(study.planned_respondents),
            num=words.integer(report.n),
        )
    if study.planned_margin is None:
        yield _("The study sheet states no planned margin to hold these against.")
    elif achieved[0].margin.planned is None:
        yield _("The planned margin is at 95 %%, and these intervals are not: they are not compared.")
    else:
        yield _(
            "A margin of ± %(margin)s points was planned, and %(reached)s of %(num)s results reach it.",
            margin=margin(study.planned_margin * 100, words.locale),
            reached=words.integer(sum(one.margin.suffices for one in achieved)),
            num=words.integer(len(achieved)),
        )


def list_references(words: ReportWords, references: Iterable[Reference]) -> Section:
    """The works that the methods of this report come from."""
    cited = tuple(Paragraph(Text(reference.cite(), from_survey=True)) for reference in references)
    sentence = words.gettext("The works that the methods of this report come from, and no others.")
    return Section("references", Text(words.gettext("References")), (make_paragraph(sentence), *cited))
