"""What the microdata say about themselves, in every language of the interface."""

from collections.abc import Collection
from textwrap import fill

from babel.support import NullTranslations

from server.inputs import N_
from server.output.languages import LANGUAGES, load_catalogue
from server.reports.report import Report
from server.reports.survey_texts import INCOMPLETE

_OPENING = (
    N_(
        "The noisy responses behind a report, and two scripts that recompute its estimates. Every answer was "
        "randomised on the respondent's own device before it was sent: any row may be another than its sender "
        "entered, and a report of 1 is not an admission. Keep the file as the report is kept: it holds the single "
        "responses, and a release with central privacy does not."
    ),
    N_("Do not try to find out who somebody is. Estimates are unbiased for what was entered."),
)
_FILES = (
    (
        "responses.csv",
        N_(
            "a row for each response: the number of the version that was answered, its stratum, where the survey "
            "has strata, and a report for each column. In place of a stratum that may not be named stands the "
            "smallest one around it that may, or <withheld> where there is none; <without stratum> came through "
            "the survey's own link. There are no ids and no days, and the rows are sorted: their order says "
            "nothing. A report is empty where the version did not have the column"
        ),
    ),
    ("responses.parquet", N_("the same, as Parquet")),
    (
        "codebook.csv",
        N_(
            "what columns and reports mean, the mechanism of each with its parameters, and the chances with which "
            "a true answer becomes a report, exactly `numerator` of `denominator`, for each version; where `pooled` "
            "is false the question was another one then, and is not estimated with the newest. Its first rows say "
            "what stands in place of a stratum, if there are strata"
        ),
    ),
    ("strata.csv", N_("the strata, their populations, and whether responses name them")),
    (
        "estimates.csv",
        N_(
            "what the report says, a row for each estimate. `interval` is the method of its interval: wilson "
            "(Wilson 1927), score (Tango 1998) or exact; added, of several versions or strata (Zou and Donner "
            "2008); fieller, of the mean of those who answered (Fieller 1954)"
        ),
    ),
    (
        "estimate.py",
        N_(
            "recomputes the estimates with Python and NumPy: `python estimate.py`; with the word `csv` with all "
            "digits, with `compare` beside what the report says. Not recomputed: numbers weighted with strata that "
            "are taken together or not used, and strata that no row names"
        ),
    ),
    ("estimate.R", N_("the same with R alone, no package: `Rscript estimate.R`")),
)
_CSV = N_("In CSV files a text that a spreadsheet would take for a formula begins with an apostrophe.")
_WAITING = N_(
    "The survey was open when this was made: fewer than %(number)s more responses, which were not shown yet, are "
    "not in it."
)
_SIMULATED = N_("These respondents are simulated.")


def readme(report: Report, names: Collection[str]) -> str:
    """The text of README.txt, on the files of these names: once in each language of the interface."""
    parts = [_written(report, names, load_catalogue(code)) for code in LANGUAGES]
    return f"{'-' * 80}\n\n".join(parts)


def _written(report: Report, names: Collection[str], translations: NullTranslations) -> str:
    say = translations.gettext
    about = f"{report.definition.title}\n{report.slug} · {report.made_on.isoformat()} · {report.software}"
    paragraphs = [about]
    if report.simulated:
        paragraphs.append(say(_SIMULATED))
    if report.incomplete:
        paragraphs.append(fill(say(INCOMPLETE), 80))
    if report.unseen.number:
        paragraphs.append(fill(say(_WAITING) % {"number": report.unseen.number}, 80))
    paragraphs += [fill(say(text), 80) for text in _OPENING]
    paragraphs += [
        fill(f"{name}: {say(text)}.", 80, subsequent_indent="  ") for name, text in _FILES if name in names
    ]
    paragraphs.append(fill(say(_CSV), 80))
    return "\n\n".join(paragraphs) + "\n\n"
