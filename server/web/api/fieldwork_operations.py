"""Strata, links and invitations for programs."""

from typing import Any

from flask_babel import gettext

from server.collect import invitation_batches
from server.inputs import N_
from server.output.printing import invitation_link
from server.people.change_log import Action
from server.store.models import InvitationBatch, Role, Survey
from server.study import strata
from server.web.api.operations import Reply, operation
from server.web.api.problem_replies import write_problem
from server.web.context import link_to, session
from server.web.security import record
from server.web.survey_records import record_populations, record_strata


@operation(
    "GET", "/surveys/<slug>/strata", N_("The strata, each before those below it"), Role.VIEWER, gives="strata"
)
def list_strata(survey: Survey) -> Reply:
    """With their ids, which invitations name."""
    return Reply(_strata_json(survey))


@operation(
    "POST",
    "/surveys/<slug>/strata",
    N_("Add strata by their paths, all or none; one that is there already gets a population"),
    Role.EDITOR,
    takes="strata_lines",
    gives="strata",
)
def add_strata(survey: Survey, body: Any) -> Reply:
    """As the box to paste lists into does."""
    people = strata.populations_of(strata.tree(session(), survey))
    lines = [
        strata.StratumLine(
            number, tuple(strata.parse_name(name) for name in line["path"]), line.get("population")
        )
        for number, line in enumerate(body["strata"], start=1)
    ]
    added = strata.add_strata(session(), survey, lines)
    record_strata(survey, added, len(lines))
    record_populations(survey, people)
    return Reply(_strata_json(survey))


@operation(
    "GET",
    "/surveys/<slug>/links",
    N_("The links to give to respondents, and whom they let in"),
    Role.VIEWER,
    gives="links",
)
def list_links(survey: Survey) -> Reply:
    """The survey's own, and that of every stratum without strata below it."""
    invited = strata.invited_links(session(), survey)
    links: list[dict[str, Any]] = [
        {"stratum": None, "population": None, "link": link_to(survey.link), "by_invitation": None in invited}
    ]
    links += [
        {
            "stratum": list(node.names),
            "population": node.population,
            "link": link_to(node.stratum.slug),
            "by_invitation": node.stratum.id in invited,
        }
        for node in strata.list_leaves(strata.tree(session(), survey))
    ]
    return Reply({"links": links})


@operation(
    "GET",
    "/surveys/<slug>/invitations",
    N_("Which invitations were issued; never their codes"),
    Role.EDITOR,
    gives="batches",
)
def list_invitations(survey: Survey) -> Reply:
    """Newest first; how many were used in steps, as everywhere."""
    return Reply({"batches": [_batch_json(each) for each in invitation_batches.batches(session(), survey)]})


@operation(
    "POST",
    "/surveys/<slug>/invitations",
    N_("Issue codes that let one response in each; they stand in this answer and nowhere else"),
    Role.EDITOR,
    takes="issue",
    gives="codes",
    status=201,
    keyed=True,
)
def issue_invitations(survey: Survey, body: Any) -> Reply:
    """Sent again with the same key, it says that it was done, and issues nothing: the codes are not kept."""
    stratum = None
    if body.get("stratum") is not None:
        stratum = strata.find(session(), survey, body["stratum"]).stratum
    invitation_batches.check_new_label(session(), survey, " ".join(body["label"].split()))
    batch, codes = invitation_batches.issue(session(), survey, stratum, body["size"], body["label"])
    record(Action.INVITATIONS_ISSUED, survey, count=batch.size, label=batch.label)
    link = link_to(survey.link if stratum is None else stratum.slug)
    issued = {
        "id": batch.id,
        "codes": [{"code": code, "link": invitation_link(link, code)} for code in codes],
    }
    message = gettext(
        "These codes were issued already, and are kept nowhere. Withdraw them and issue others."
    )
    problem = write_problem(gettext("That cannot be done"), 409, [("invitation", message)])
    return Reply(issued, retry_answer=(409, problem))


@operation(
    "POST",
    "/surveys/<slug>/invitations/<int:batch>/withdraw",
    N_("Let the codes of a batch that were not used let nobody in any more"),
    Role.EDITOR,
    gives="batches",
)
def withdraw_invitations(survey: Survey, batch: int) -> Reply:
    """Withdrawn once, it stays so."""
    found = invitation_batches.find_batch(session(), survey, batch)
    if found.withdrawn_on is None:
        invitation_batches.withdraw(session(), found)
        record(Action.INVITATIONS_WITHDRAWN, survey, label=found.label)
    return list_invitations(survey)


def _strata_json(survey: Survey) -> dict[str, Any]:
    return {
        "strata": [
            {"id": node.stratum.id, "path": list(node.names), "population": node.population}
            for node in strata.walk(strata.tree(session(), survey))
        ]
    }


def _batch_json(issued: invitation_batches.Issued) -> dict[str, Any]:
    batch: InvitationBatch = issued.batch
    return {
        "id": batch.id,
        "stratum": batch.stratum_id,
        "label": batch.label,
        "size": batch.size,
        "used_at_least": issued.used,
        "issued_on": batch.issued_on.isoformat(),
        "withdrawn_on": None if batch.withdrawn_on is None else batch.withdrawn_on.isoformat(),
    }
