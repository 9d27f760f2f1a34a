"""What the fields of forms about response codes and versions are called on their pages."""

from server.inputs import N_

CODE_FIELDS = {
    "batch": N_("Batch"),
    "codes": N_("Codes"),
    "label": N_("Name of the batch"),
    "link": N_("Link"),
    "sheet": N_("Sheet"),
    "sheets": N_("Sheets"),
    "size": N_("How many"),
    "version": N_("Version"),
}
"""By the name that a refusal gives."""
