"""The noisy responses of a report, and what recomputes its estimates from them: one ZIP file."""

from server.reports.microdata.archive import write_microdata
from server.reports.microdata.ddi_codebook import write_ddi
from server.reports.microdata.labelled_responses import LABELLED, write_labelled
