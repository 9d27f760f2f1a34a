"""(survey, version, tally) -> a `Report` value."""

from dataclasses import dataclass
from datetime import date

from server import __version__, responses, surveys
from server.definitions import Definition, Question
from server.models import Survey, SurveyVersion
from server.privacy.designs import Design
from server.privacy.estimators import ShareEstimate, estimate_shares, impossible_share_test
from server.responses import Tally


@dataclass(frozen=True)
class QuestionReport:
    """One question: its design, the reports counted after the coins, the estimate (None before any)."""

    question: Question
    design: Design
    counts: tuple[int, ...]
    estimate: ShareEstimate | None
    impossible_p_value: float | None


@dataclass(frozen=True)
class Report:
    """Everything that a report shows, in whatever format."""

    definition: Definition
    slug: str
    version_number: int
    version: str
    published_on: date
    made_on: date
    simulated: bool
    n: int
    confidence: float
    questions: tuple[QuestionReport, ...]
    software: str = f"Moneda {__version__}"

    @property
    def widest(self) -> float:
        """Width of the widest interval, as a share; 0 before the first response."""
        intervals = [entry.estimate.intervals[1] for entry in self.questions if entry.estimate is not None]
        return max((float(high - low) for low, high in intervals), default=0.0)


def build(survey: Survey, version: SurveyVersion, tally: Tally, confidence: float = 0.95) -> Report:
    """Estimate every question of a version from its tally."""
    definition = surveys.definition_of(version)
    questions = []
    byte = 0
    for question in definition.questions:
        for design in question.designs:
            counts = responses.counts(tally, byte, design.weights.shape[1])
            some = bool(counts.sum())
            questions.append(
                QuestionReport(
                    question=question,
                    design=design,
                    counts=tuple(counts.tolist()),
                    estimate=estimate_shares(counts, design, confidence) if some else None,
                    impossible_p_value=impossible_share_test(counts, design) if some else None,
                )
            )
            byte += 1
    return Report(
        definition=definition,
        slug=survey.slug,
        version_number=version.number,
        version=version.sha256,
        published_on=version.published_on,
        made_on=surveys.today(),
        simulated=survey.simulated,
        n=sum(tally.values()),
        confidence=confidence,
        questions=tuple(questions),
    )
