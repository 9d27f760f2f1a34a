"""What an archive says to whoever opens it by hand."""

from babel.support import NullTranslations

from server.archives import layout
from server.inputs import N_
from server.store.models import Survey

_LINES = (
    (
        None,
        N_("Everything of one survey, exported from Moneda. Import this file as it is on another Moneda."),
    ),
    (
        None,
        N_(
            "Every answer in it was randomised on the device used to answer, or by throws of "
            "their own. Keep it safe all the same: it "
            "holds single responses. Strata that are too small to be shown are in it as a part of the one around "
            "them; versions, and responses without stratum, that are too few by themselves are not in it."
        ),
    ),
    (layout.MANIFEST, N_("settings, versions, strata and batches of invitations; import reads it")),
    (layout.DRAFT, N_("the draft, as a survey definition")),
    (layout.PUBLISHED, N_("a published version, byte for byte; its SHA-256 is in the manifest")),
    (
        layout.RESPONSES,
        N_(
            "its responses, one row each: the number and the path of the smallest stratum around it that may be "
            "named, in some surveys how it was collected, then a report for each column of the codebook. They have "
            "no days and are sorted by what they hold: their order says nothing"
        ),
    ),
    (layout.CODEBOOK, N_("what the columns and reports mean, and the chances of the coins")),
    (
        layout.STRATA,
        N_(
            "strata with their paths, populations, links, and whether they say to be open or by invitation, to be "
            "read"
        ),
    ),
    (layout.BATCHES, N_("batches of invitations, to be read")),
    (
        layout.INVITATIONS,
        N_(
            "the SHA-256 of each invitation’s code, the number of its batch, and whether it was used; none of a "
            "closed survey, where it would tell how many of a stratum have responded"
        ),
    ),
    (
        layout.RELEASES,
        N_("the budget for releases, what was released from it, and at what price; import reads it"),
    ),
    (layout.LOG, N_("who changed what, and when (UTC), to be read")),
)


def readme(survey: Survey, translations: NullTranslations) -> str:
    """The text of README.txt."""
    lines = []
    for name, message in _LINES:
        text = translations.gettext(message)
        lines.append(f"{text}\n" if name is None else f"{name.format('N')}: {text}")
    if survey.simulated:
        lines.append("\n" + translations.gettext(N_("These respondents are simulated.")))
    return "\n".join(lines) + "\n"
