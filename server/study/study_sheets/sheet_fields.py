"""What the fields of a study sheet are called on its page, for refusals that name them and for reports."""

from server.inputs import N_

STUDY_FIELDS = {
    "authors": N_("Authors"),
    "completion_code": N_("Completion code"),
    "completion_link": N_("Link back to the panel"),
    "conductor": N_("Who conducts it"),
    "contact_email": N_("E-mail address"),
    "contact_name": N_("Contact"),
    "doi": N_("DOI"),
    "ethics_board": N_("Ethics board"),
    "ethics_number": N_("Number of its approval"),
    "field_begin": N_("First day in the field"),
    "field_end": N_("Last day in the field"),
    "frame": N_("Sampling frame"),
    "funder": N_("Who pays"),
    "hand_over": N_("Words on the tablet"),
    "help_lines": N_("Where to find help"),
    "keywords": N_("Keywords"),
    "languages": N_("Languages"),
    "licence": N_("Licence of the data"),
    "limitations": N_("Limitations"),
    "logo": N_("Logo"),
    "mode": N_("Mode"),
    "planned_margin": N_("Planned margin"),
    "planned_respondents": N_("Planned number of respondents"),
    "population": N_("Population"),
    "preregistration": N_("Preregistration"),
    "public": N_("Publish this sheet"),
    "quality": N_("Processing and quality"),
    "recruitment": N_("Recruitment"),
    "sampling": N_("How respondents were chosen"),
    "shown": N_("Show respondents who asks"),
    "shown_contact": N_("Contact, as respondents read it"),
    "shown_name": N_("Who asks, as respondents read it"),
    "sponsor": N_("Who asks"),
    "study": N_("Study sheet"),
    "thanks": N_("Words of thanks"),
}
"""By the name that a refusal gives; `title` is called as it is of a survey."""
AUTHOR_PARTS = {
    "name": N_("Name of author %(number)d"),
    "orcid": N_("ORCID iD of author %(number)d"),
    "affiliation": N_("Affiliation of author %(number)d"),
}
"""By the path inside an author."""
IN_LANGUAGE = N_("%(field)s (%(language)s)")
"""A text that is written in several languages."""
SAMPLINGS = {
    "probability": N_("by chance, each with a known probability (a probability sample)"),
    "nonprobability": N_("not by chance: who came, was at hand or volunteered (a nonprobability sample)"),
    "everyone": N_("not at all: everybody in the population was asked"),
}
"""How respondents were chosen, by what a sheet says."""
