"""A question as each of several surveys asks it, and whether it is the same one."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from server.reports.estimate_values import QuestionReport
from server.reports.report import Report
from server.store.models import Survey
from server.study.definitions import Definition, Question


class SurveyLabel(StrEnum):
    """What a survey is called by, beside its title."""

    TITLE = "title"
    DAY = "day"
    LINK = "link"


class Unusable(StrEnum):
    """Why a survey is in no comparison."""

    NOT_ASKED = "not_asked"
    NOBODY = "nobody"
    DESIGNS = "designs"


@dataclass(frozen=True, eq=False)
class DatedReport:
    """What a survey found and when it was first published; `place` orders surveys of one day."""

    report: Report
    since: date
    place: int

    @classmethod
    def of(cls, report: Report, survey: Survey) -> "DatedReport":
        """Of a survey that was published."""
        return cls(report, min(version.published_on for version in survey.versions), survey.id)


@dataclass(frozen=True, eq=False)
class QuestionInSurvey:
    """A question in one survey of several; `entry` is None where it is not asked there, and `unusable` says why not.

    `other_words`, `other_coins`: than in the survey whose report this is. `told_by` is what tells it from another one
    of its title, if there is one.
    """

    dated: DatedReport
    entry: QuestionReport | None
    unusable: Unusable | None
    other_words: bool
    other_coins: bool
    told_by: SurveyLabel
    own_link: bool = False

    @property
    def slug(self) -> str:
        """What addresses call it."""
        return self.dated.report.slug

    @property
    def title(self) -> str:
        """As respondents read it."""
        return self.dated.report.definition.title

    @property
    def since(self) -> date:
        """When it was first published."""
        return self.dated.since

    @property
    def simulated(self) -> bool:
        """Whether its respondents are made up."""
        return self.dated.report.simulated

    @property
    def n(self) -> int:
        """Number of responses."""
        return 0 if self.entry is None else self.entry.n


def describe_shape(definition: Definition, question: Question) -> dict[str, Any]:
    """What two questions have in common that may be compared: kind, answers and who is asked, but no words or coins."""
    shape = {
        name: value
        for name, value in question.as_json().items()
        if name not in ("name", "text", "options", "design", "control")
    }
    shape["answers"] = list(question.answers)
    if question.show_if is not None:
        asked = {each.name: each for each in definition.questions}
        earlier = describe_shape(definition, asked[question.show_if.question])
        shape["show_if"] = {**question.show_if.as_json(), "of": earlier}
    return shape


def find_same(definition: Definition, name: str, other: Definition) -> Question | None:
    """The question of that name in another survey, if it has the same kind and answers and the same are asked."""
    ours = next(each for each in definition.questions if each.name == name)
    theirs = next((each for each in other.questions if each.name == name), None)
    if theirs is None or describe_shape(definition, ours) != describe_shape(other, theirs):
        return None
    return theirs
