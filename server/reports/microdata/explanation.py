"""What the microdata say about themselves, in every language of the interface."""

import fnmatch
import platform
from collections.abc import Collection
from textwrap import fill

import numpy as np
from babel.support import NullTranslations

from server.inputs import N_
from server.output.languages import LANGUAGES, load_catalogue
from server.reports.microdata.ddi_study import WEIGHTS, find_field_days
from server.reports.report import Report
from server.reports.survey_texts import INCOMPLETE

_OPENING = (
    N_(
        "The noisy responses behind a report, and two scripts that recompute its estimates. Every answer was "
        "randomised on the device used to answer, or by throws of their own, before it was sent: "
        "any row may be another than its sender "
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
            "the survey’s own link. There are no ids and no days, and the rows are sorted: their order says "
            "nothing. A report is empty where the version did not have the column"
        ),
    ),
    ("responses.parquet", N_("the same, as Parquet")),
    (
        "codebook.csv",
        N_(
            "what columns and reports mean, the mechanism of each with its parameters, and the chances with which "
            "a true answer becomes a report, exactly `numerator` of `denominator`, for each version; where `pooled` "
            "is false the question was another one then, and is not estimated with the newest. `shown_if` and "
            "`otherwise` are whom a question was shown and what all others report, `text.es` and the like texts in "
            "the survey’s other languages; a row of the kind `missing` says why a column is empty. Its first rows "
            "say what stands in place of a stratum, if there are strata"
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
    (
        "analysis.ipynb",
        N_(
            "the whole analysis as a notebook for Jupyter: each question with its design by hand and with "
            "estimate.py, every number beside what the report says, and a picture where there is matplotlib"
        ),
    ),
    ("analysis.qmd", N_("the same for Quarto")),
    (
        "fit.py",
        N_(
            "a logistic regression of the answer behind the reports of one column on the largest strata, with Python "
            "and NumPy: `python fit.py COLUMN WEIGHTS`. Rows count by a column of weights that was added to "
            "responses.csv, or all the same with `responses`; without WEIGHTS by the populations of strata, where rows "
            "name them all. `estimate SLUG --explain` has the same numbers, other predictors and better intervals, and "
            "says where the responses do not tell"
        ),
    ),
    ("fit.R", N_("the same with R alone: `Rscript fit.R COLUMN WEIGHTS`")),
    (
        "other_packages.csv",
        N_(
            "what to pass to the packages rr and RRreg of R for each column. Their matrices are ours transposed: "
            "with us a row is a true answer, with them a column is"
        ),
    ),
    ("questionnaire.md", N_("what respondents read, in every language of the survey")),
    (
        "definition_*.json",
        N_(
            "the survey as it was published, designs included; the SHA-256 of the file is the name of the version"
        ),
    ),
    ("ddi.xml", N_("study, columns and answers as DDI-Codebook 2.5, for data archives")),
    ("datacite.json", N_("the study as metadata of DataCite, for a repository that gives a DOI")),
    ("CITATION.cff", N_("how to cite the data, in the Citation File Format")),
    ("sha256sums.txt", N_("checksums of all other files: `sha256sum -c sha256sums.txt`")),
)
_CSV = N_("In CSV files a text that a spreadsheet would take for a formula begins with an apostrophe.")
_WAITING = N_(
    "The survey was open when this was made: fewer than %(number)s more responses, which were not shown yet, are "
    "not in it."
)
_LABELLED = N_(
    "The same rows with labels, for SPSS (.sav) and Stata (.dta), are downloads beside this one, in each language of "
    "the survey."
)
_LICENCE = N_("Licence of the data: %(licence)s.")
_NO_LICENCE = N_("No licence of the data is stated: ask whoever made the survey before you pass them on.")
_FIELD = N_("In the field: %(days)s.")
_SOFTWARE = N_("Made with %(software)s, Python %(python)s and NumPy %(numpy)s.")
_SIMULATED = N_("These respondents are simulated.")


def readme(report: Report, names: Collection[str]) -> str:
    """The text of README.txt, on the files of these names: once in each language of the interface."""
    parts = [_write_readme(report, names, load_catalogue(code)) for code in LANGUAGES]
    return f"{'-' * 80}\n\n".join(parts)


def _write_readme(report: Report, names: Collection[str], translations: NullTranslations) -> str:
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
    for pattern, text in _FILES:
        if found := fnmatch.filter(names, pattern):
            paragraphs.append(fill(f"{', '.join(found)}: {say(text)}.", 80, subsequent_indent="  "))
    paragraphs += [fill(say(text), 80) for text in (WEIGHTS, _CSV, _LABELLED)]
    licence = report.study.licence
    paragraphs.append(fill(say(_LICENCE) % {"licence": licence} if licence else say(_NO_LICENCE), 80))
    if days := find_field_days(report):
        paragraphs.append(fill(say(_FIELD) % {"days": " – ".join(day or "…" for day in days)}, 80))
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    paragraphs.append(fill(say(_SOFTWARE) % {"software": report.software, **versions}, 80))
    return "\n\n".join(paragraphs) + "\n\n"
