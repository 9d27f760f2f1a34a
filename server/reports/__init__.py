"""What a survey found: one `Report` value, and its writers.

A report is a function of published versions, the tallies of the responses to them and the tree of
strata; every number that a writer shows is the report's. The HTML report is one file that needs
nothing else; numbers in CSV and JSON are full precision, and texts in CSV cannot start a
spreadsheet formula.
"""

from server.reports.chart_shapes import RatioChart, bars, draw_spark, ratio_chart
from server.reports.chosen_together import can_be_crossed
from server.reports.code_counts import used_codes
from server.reports.codebook import codebook_csv
from server.reports.collection_progress import follow_strata
from server.reports.contents import build_internal_document, build_public_document
from server.reports.crossing import Crossed, cross_questions
from server.reports.crossing_findings import CrossedFinding, interpret_crossing
from server.reports.csv_report import to_csv, write_responses, write_strata
from server.reports.estimate_remarks import UNLIKELY
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow, value_range
from server.reports.findings import interpret_question
from server.reports.forest import Forest, figures, forest
from server.reports.json_report import estimate_json, mean_json, questions_json, to_json
from server.reports.leading_findings import lead_with
from server.reports.ledger_files import public_csv, public_json
from server.reports.listed_progress import follow_surveys
from server.reports.microdata import LABELLED, write_ddi, write_labelled, write_microdata
from server.reports.population_weights import Weighting
from server.reports.public_page import write_public_page
from server.reports.public_source import Published, read_published
from server.reports.reached_margins import measure_margins
from server.reports.refusing import require_shown
from server.reports.report import Report
from server.reports.report_columns import ReportColumn
from server.reports.report_reader import read
from server.reports.stratum_comparison import Compared, compare_strata
from server.reports.stratum_estimates import StratumReport
from server.reports.survey_comparison import ComparedSurveys
