"""The noisy responses of a report, and what recomputes its estimates from them: one ZIP file."""

from server.reports.microdata.archive import write_microdata
