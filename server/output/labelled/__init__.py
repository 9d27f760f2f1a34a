"""Tables of codes with labels, as SPSS and Stata read them: written a part after the other, in little memory."""

from server.output.labelled.code_table import MISSING, CodeTable, CodeVariable
from server.output.labelled.spss_file import write_spss
from server.output.labelled.stata_file import MOST_VARIABLES, write_stata
from server.output.labelled.variable_names import name_variables
