"""Closed surveys as Parquet: an archive folder, which any program reads and any number of servers write.

Rows are what every file with single responses holds; what a report tells beyond them travels as sums. A survey is
a folder of its own, under its identity, and appears in one step.
"""

from server.archives.folders.folder_report import ArchivedReport, report_archived
from server.archives.folders.folder_writer import ArchiveOutcome, archive_survey, check_closed
from server.archives.folders.tally_engines import ENGINES, open_engine
