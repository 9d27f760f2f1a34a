"""The central budget of a survey, everything that was released from it, and the link to the public report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import groupby

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import get_locale, gettext

from server import releases
from server.inputs import N_, InputError, Problem, number_or_text, refuse, shorten_value
from server.output.documents import Section, rows
from server.people.change_log import Action
from server.privacy.planning import belief_after_report
from server.releases import Shuffling
from server.releases.noise_shapes import read_noise
from server.releases.offers import questions_of
from server.releases.plans.plan_reader import ItemKind
from server.releases.report_links import current_link, make_link, revoke_link
from server.releases.values import Ledger, Released
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.finding_texts import explain_sureness
from server.reports.contents.noise_chart import ShownNoise, show_noise
from server.reports.contents.release_sections import sections
from server.reports.contents.release_sentences import share_sureness
from server.reports.report_words import ReportWords
from server.store.models import Role, Survey
from server.study import study_sheets, surveys
from server.web.context import public_address, session
from server.web.problem_texts import describe
from server.web.security import on_survey, record, researcher

blueprint = Blueprint("releases", __name__, url_prefix="/manage/surveys/<slug>/releases")

EVEN = 0.5
"""The belief that the pages say what becomes of."""


@dataclass(frozen=True)
class NewRelease:
    """What was released together."""

    number: int
    entries: Sequence[Released]

    @property
    def first(self) -> Released:
        """When, by whom and of which responses is the same for all."""
        return self.entries[0]

    @property
    def epsilon(self) -> Decimal:
        """What all of it lost."""
        return sum((entry.epsilon for entry in self.entries), Decimal(0))


@blueprint.get("")
@on_survey(Role.VIEWER)
def page(survey: Survey) -> ResponseReturnValue:
    """What may still be lost, and what was released for the rest."""
    return _page(survey, notice=request.args.get("said", ""))


@blueprint.post("/budget")
@on_survey(Role.OWNER)
def set_budget(survey: Survey) -> ResponseReturnValue:
    """Decide on the budget, before the first release."""
    typed = {name: request.form.get(name, "").strip() for name in ("epsilon", "delta", "neighbours")}
    try:
        made = releases.set_budget(
            session(),
            survey,
            str(number_or_text(typed["epsilon"])),
            str(number_or_text(typed["delta"] or "0")),
            typed["neighbours"],
            researcher(),
        )
    except InputError as error:
        session().rollback()
        return _page(survey, typed, error), error.status
    record(Action.BUDGET_SET, survey, epsilon=made.epsilon, delta=made.delta)
    session().commit()
    return redirect(url_for(".page", slug=survey.slug, said="budget"), 303)


@blueprint.post("/declared")
@on_survey(Role.OWNER)
def declare(survey: Survey) -> ResponseReturnValue:
    """Book what was spent where this database cannot know it, as after it was restored."""
    typed = {name: request.form.get(name, "").strip() for name in ("spent", "spent_delta")}
    try:
        if "sure" not in request.form:
            raise refuse(422, "sure", N_("must be ticked"))
        epsilon, delta = (str(number_or_text(text)) for text in (typed["spent"], typed["spent_delta"] or "0"))
        made = releases.declare_spent(session(), survey, epsilon, delta, researcher())
    except InputError as error:
        session().rollback()
        return _page(survey, typed, _rename_fields(error)), error.status
    record(Action.DECLARED, survey, epsilon=made.entries[0].epsilon)
    session().commit()
    return redirect(url_for(".page", slug=survey.slug, said="declared"), 303)


@blueprint.get("/<number>")
@on_survey(Role.VIEWER)
def one(survey: Survey, number: str) -> ResponseReturnValue:
    """One release with all its numbers."""
    ledger = releases.read_ledger(session(), survey)
    found = [made for made in _group_by_release(ledger) if str(made.number) == number]
    if not found:
        raise refuse(
            404, "release", N_("is not one of this survey; it is %(value)s"), value=shorten_value(number)
        )
    return render_template(
        "releases/one.html",
        survey=survey,
        made=found[0],
        budget=ledger.budget,
        asked=questions_of(survey),
        language=surveys.draft_document(survey)["language"],
        sections=_sections(survey, found[0]),
        sure=partial(explain_sureness, ReportWords(str(get_locale()))),
        sure_of_all=share_sureness(ReportWords(str(get_locale())), found[0].entries),
        show_noise=_show_noise,
        rows=rows,
        said=request.args.get("said", ""),
    )


@blueprint.post("/link")
@on_survey(Role.OWNER)
def link(survey: Survey) -> ResponseReturnValue:
    """Make a link to the public report."""
    if survey.current is None:
        raise refuse(409, "survey", N_("must be published first; a draft has no results"))
    if current_link(session(), survey) is None:
        make_link(session(), survey)
        record(Action.REPORT_LINKED, survey)
    session().commit()
    return redirect(url_for(".page", slug=survey.slug, said="linked"), 303)


@blueprint.post("/link/revoke")
@on_survey(Role.OWNER)
def revoke(survey: Survey) -> ResponseReturnValue:
    """End the link to the public report."""
    if revoke_link(session(), survey):
        record(Action.REPORT_UNLINKED, survey)
    session().commit()
    return redirect(url_for(".page", slug=survey.slug, said="revoked"), 303)


def _page(
    survey: Survey,
    typed: Mapping[str, str] | None = None,
    error: InputError | None = None,
    notice: str = "",
) -> str:
    ledger = releases.read_ledger(session(), survey)
    public = current_link(session(), survey)
    problems = () if error is None else error.problems
    price = None
    if ledger.budget is not None and survey.current is not None:
        price = releases.shuffling_price(session(), survey)
    return render_template(
        "releases/ledger.html",
        survey=survey,
        ledger=ledger,
        made=_group_by_release(ledger)[::-1],
        asked=questions_of(survey),
        language=surveys.draft_document(survey)["language"],
        belief=_belief,
        price=price if isinstance(price, Shuffling) else None,
        unshuffled=describe(price)[1] if isinstance(price, Problem) else "",
        shuffled=next((each for each in ledger.released if each.item.kind == ItemKind.SHUFFLED), None),
        unstated=study_sheets.read_study_sheet(session(), survey).sheet.is_empty,
        public=None if public is None else public_address(url_for("public.page", slug=public.slug)),
        typed=typed or {},
        problems=[_describe_problem(problem) for problem in problems],
        bad={problem.field for problem in problems},
        said=notice,
    )


def _group_by_release(ledger: Ledger) -> list[NewRelease]:
    """What was released, by release, oldest first."""
    return [
        NewRelease(number, tuple(entries))
        for number, entries in groupby(ledger.released, key=lambda entry: entry.release)
    ]


def _sections(survey: Survey, made: NewRelease) -> list[Section]:
    """The numbers of a release, as every report has them."""
    questions = QuestionsByVersion.of_survey(survey)
    return list(sections(ReportWords(str(get_locale())), made.entries, questions))


def _show_noise(entry: Released) -> ShownNoise | None:
    """What chance did in an entry."""
    words = ReportWords(str(get_locale()))
    return show_noise(words, entry.item.kind, read_noise(entry), entry.confidence)


def _rename_fields(error: InputError) -> InputError:
    """With the names of the fields of this form: elsewhere ε is that of a release."""
    names = {"epsilon": "spent", "delta": "spent_delta"}
    found = [
        Problem(names.get(each.field, each.field), each.template, each.values) for each in error.problems
    ]
    return InputError(error.status, found)


def _describe_problem(problem: Problem) -> tuple[str, str]:
    """As everywhere, but for the name of the page's own field: elsewhere ε is what one release may lose."""
    name, message = describe(problem)
    return (gettext("Budget ε for all releases together") if problem.field == "epsilon" else name), message


def _belief(epsilon: Decimal) -> tuple[float, float]:
    """How little and how much somebody can believe afterwards of what was as likely as not before."""
    most = belief_after_report(float(epsilon), EVEN)
    return 1 - most, most
