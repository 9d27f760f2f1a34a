"""Sheets of paper for programs."""

from typing import Any

from server.collect.keyed_sheets import parse_typed
from server.collect.paper_batches import PaperBatch, enter_batch, parse_batch_name
from server.inputs import N_
from server.people.change_log import Action
from server.store.models import Role, Survey
from server.study import strata, surveys
from server.study.by_hand import list_paper_questions
from server.web.api.operations import Reply, operation
from server.web.context import session
from server.web.security import record


@operation(
    "POST",
    "/surveys/<slug>/sheets",
    N_(
        "Store sheets of paper that were keyed in, all or none; a batch that is sent again is not stored twice"
    ),
    Role.EDITOR,
    takes="sheets",
    gives="stored_sheets",
)
def enter_sheets(survey: Survey, body: Any) -> Reply:
    """As the page does; the name of the batch stands for a key."""
    version = surveys.published_version(survey, body["version"])
    stratum = None
    if body.get("stratum") is not None:
        stratum = strata.find(session(), survey, body["stratum"]).stratum
    reports = parse_typed("\n".join(body["sheets"]), list_paper_questions(version))
    batch = PaperBatch(parse_batch_name(body["batch"]), version, stratum, reports)
    stored = enter_batch(session(), survey, batch, surveys.now())
    if stored:
        record(Action.SHEETS_KEYED, survey, version=version.number)
    return Reply({"sheets": len(reports), "stored": stored})
