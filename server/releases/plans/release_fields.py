"""What the fields of releases, of their budget and of a plan's items are called on their pages."""

from server.inputs import N_

RELEASE_FIELDS = {
    "how_many": N_("How many answers"),
    "asked": N_("Question and answer"),
    "confidence": N_("Confidence of the intervals"),
    "delta": N_("Chance δ that the limit fails"),
    "division": N_("How ε is divided"),
    "epsilon": N_("ε of this release"),
    "exceeding": N_("Questions to compare"),
    "interval": N_("Intervals"),
    "item": N_("What to release"),
    "items": N_("What to release"),
    "limit": N_("Number of people to exceed"),
    "mark": N_("File that says what was spent"),
    "most": N_("Questions at most"),
    "neighbours": N_("What a release must hide"),
    "people": N_("Respondents you expect"),
    "positives": N_("How many to find"),
    "release": N_("Release"),
    "right": N_("Right to release"),
    "search": N_("The search"),
    "server": N_("Server"),
    "share": N_("Share to exceed"),
    "side2": N_("Second side"),
    "spent": N_("What was spent, ε"),
    "spent_delta": N_("What was spent, δ"),
    "sure": N_("I am sure"),
    "top": N_("Question whose answers are compared"),
}
"""By the name that a refusal gives."""
ITEM_PARTS = {
    "how_many": N_("how many answers"),
    "delta": "δ",
    "epsilon": "ε",
    "error": N_("error"),
    "kind": N_("kind"),
    "noise": N_("noise"),
    "option": N_("answer"),
    "questions": N_("questions"),
    "share": N_("share to exceed"),
    "stratum": N_("stratum"),
    "weight": N_("part"),
}
"""By the name inside an item of a plan."""
