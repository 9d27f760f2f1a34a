"""The figures of what was released, as files: drawings of an entry of the ledger, and its numbers."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from flask import Blueprint, request
from flask.typing import ResponseReturnValue
from flask_babel import get_locale, gettext

from server import releases
from server.inputs import N_, refuse, shorten_value
from server.output.documents import Chart
from server.releases import Released
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.release_charts import draw_entry
from server.reports.ledger_files import entry_csv
from server.reports.question_figures import PICTURE_FORMATS
from server.reports.report_words import ReportWords
from server.store.models import Role, Survey
from server.web.context import send_download, session
from server.web.download_names import name_of_survey_file
from server.web.security import on_survey

blueprint = Blueprint("release_figures", __name__, url_prefix="/manage/surveys/<slug>/releases")


_Thing = TypeVar("_Thing")


def _choose(field: str, things: Mapping[str, _Thing]) -> _Thing:
    """What the address names."""
    asked = request.args.get(field, "")
    if asked not in things:
        raise refuse(404, field, N_("is not one of this survey; it is %(value)s"), value=shorten_value(asked))
    return things[asked]


def _draw(survey: Survey, entry: Released) -> Chart:
    drawn = draw_entry(ReportWords(str(get_locale())), entry, QuestionsByVersion.of_survey(survey))
    return _choose("figure", {str(number): chart for number, chart in enumerate(drawn, 1)})


def _offer(ending: str, content_type: str, write: Callable[[Survey, Released], str | bytes]) -> None:
    """Give a file its address, which names the entry, and of a drawing which of its figures."""

    @on_survey(Role.VIEWER)
    def figure(survey: Survey) -> ResponseReturnValue:
        """A figure of a release as a file."""
        ledger = releases.read_ledger(session(), survey)
        entry = _choose("entry", {str(found.entry): found for found in ledger.released})
        name = name_of_survey_file(survey, gettext("entry %(number)d", number=entry.entry), ending)
        return send_download(write(survey, entry), content_type, name)

    blueprint.add_url_rule(f"/figure.{ending}", f"figure_{ending}", figure)


def _offer_drawing(ending: str) -> None:
    chosen = PICTURE_FORMATS[ending]
    _offer(ending, chosen.content_type, lambda survey, entry: chosen.write(_draw(survey, entry)))


for _ending in PICTURE_FORMATS:
    _offer_drawing(_ending)
_offer("csv", "text/csv", lambda survey, entry: entry_csv(entry, survey.simulated))
