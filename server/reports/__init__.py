"""What a survey found: one `Report` value, and its writers.

A report is a function of published versions, the tallies of the responses to them and the tree of
strata; every number that a writer shows is the report's. The HTML report is one file that needs
nothing else; numbers in CSV and JSON are full precision, and texts in CSV cannot start a
spreadsheet formula.
"""

from server.reports.codebook import codebook_csv
from server.reports.codes import used_codes
from server.reports.columns import Column
from server.reports.contents import internal, public
from server.reports.crossing import Crossed, can_be_crossed, crossed
from server.reports.documents import estimate_json, mean_json, to_json
from server.reports.forest import Forest, figures, forest
from server.reports.ledgers import public_csv, public_json
from server.reports.microdata import write_microdata
from server.reports.pictures import bars, highest, ratio_chart
from server.reports.publishing import Published, published
from server.reports.questions import Mean, QuestionReport, ShareRow, value_range
from server.reports.reading import read
from server.reports.remarks import UNLIKELY
from server.reports.report import Report, require_shown
from server.reports.strata import StratumReport
from server.reports.tables import to_csv, write_responses, write_strata
from server.reports.weighting import Weighting

__all__ = [
    "UNLIKELY",
    "Column",
    "Crossed",
    "Forest",
    "Mean",
    "Published",
    "QuestionReport",
    "Report",
    "ShareRow",
    "StratumReport",
    "Weighting",
    "bars",
    "can_be_crossed",
    "codebook_csv",
    "crossed",
    "estimate_json",
    "figures",
    "forest",
    "highest",
    "internal",
    "mean_json",
    "public",
    "public_csv",
    "public_json",
    "published",
    "ratio_chart",
    "read",
    "require_shown",
    "to_csv",
    "to_json",
    "used_codes",
    "value_range",
    "write_microdata",
    "write_responses",
    "write_strata",
]
