"""What the fields of the form for data from elsewhere are called on its page, and the places of a table."""

from server.inputs import N_

STUDY_FILE = N_("Study file")
TABLE = N_("Table")
FOREIGN_FIELDS = {
    "by": N_("What it may go with"),
    "data": TABLE,
    "explain": N_("Answer to explain"),
    "format": N_("Format"),
    "study_file": STUDY_FILE,
}
CELL = N_("Row %(row)s, column %(column)s")
ROW = N_("Row %(row)s")
COLUMN = N_("Column %(column)s")
