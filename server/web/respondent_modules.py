"""The scripts that respondents' pages are made of: which module asks for which, and the files that hold them."""

from collections.abc import Collection, Mapping

from server.study.kinds.designing import DEVICES

BASE = ("randomize.js", "design.js", "submit.js", "digits.js", "page.js")

# Each module with what asks for it beside kinds of questions, which name theirs; dependencies first.
EXTRAS: tuple[tuple[str, set[str]], ...] = (
    ("preview.js", {"preview"}),
    ("routing.js", {"show_if"}),
    ("consent.js", {"consent", "least_age"}),
    ("markdown.js", {"markdown", "text", "section", "check"}),
    ("blocks.js", {"text", "section", "check"}),
    ("options.js", set()),
    ("labels.js", {"prefer_not_to_say", *DEVICES}),
    ("ticks.js", set()),
    ("numbers.js", set()),
    ("number_labels.js", {"field.js"}),
    ("typed_number.js", {"field.js"}),
    ("field.js", set()),
    ("codes.js", {"invited"}),
    ("invitation.js", {"invited"}),
    ("ticket.js", {"ticketed"}),
    ("code_use.js", {"invited"}),
    ("blinding.js", {"ticketed", "completions"}),
    ("ticket_purchase.js", {"ticketed"}),
    ("completion.js", {"completions"}),
    ("work.js", {"work"}),
    ("offline.js", {"offline", "tablet"}),
    ("slots.js", {"tablet"}),
    ("pin.js", {"tablet"}),
    ("tablet_record.js", {"tablet"}),
    ("tablet_outbox.js", {"tablet"}),
    ("tablet.js", {"tablet"}),
)
JOINED: Mapping[str, tuple[str, ...]] = {
    "respondent.js": BASE,
    "respondent_kinds.js": (
        "routing.js",
        "consent.js",
        "markdown.js",
        "options.js",
        "labels.js",
        "numbers.js",
        "number_labels.js",
    ),
    "respondent_admission.js": ("codes.js", "invitation.js", "ticket.js"),
    "respondent_sending.js": ("posting.js", "delivery.js", "choices.js", "offline.js", "rewording.js"),
    "respondent_screens.js": ("blocks.js", "ticks.js", "typed_number.js", "field.js"),
    "respondent_code_use.js": ("code_use.js",),
    "respondent_work.js": ("work.js",),
    "respondent_blinding.js": ("blinding.js", "completion.js"),
    "respondent_tickets.js": ("ticket_purchase.js",),
    "respondent_tablet.js": ("slots.js", "pin.js", "tablet_record.js", "tablet_outbox.js", "tablet.js"),
    "respondent_aside.js": ("preview.js", "how.js", "late.js"),
    "respondent_way.js": ("answer.js",),
}
"""The files that pages of respondents load (`server.web.joined_modules`) with their modules, dependencies first.

What most surveys need beside the base stands in one file, what few need in others: a browser asks for six at once, and
each more costs a poor network a way there and back. A file takes from those only that every page has which loads it.
"""
AFTER_START = (
    "respondent_sending.js",
    "respondent_screens.js",
    "respondent_code_use.js",
    "respondent_work.js",
    "respondent_blinding.js",
    "respondent_tickets.js",
)
"""Those of them that nobody needs before *Start*: they come once the first screen is there (`later_files`)."""
LATER = ("coin.js", "throws.js")
"""Modules that such a page loads when they are asked for, or once its first screen is there."""
MODULES_AFTER_START = frozenset(module for file in AFTER_START for module in JOINED[file])
WORD_LISTS = {"en": "words_en.js", "es": "words_es.js", "fr": "words_fr.js", "pt": "words_pt.js"}
"""The files with the words that receipts are told in, by language; in any other they are told in English."""
OF_RECEIPTS = frozenset(
    {"words.js", *WORD_LISTS.values(), "qr.js", "picture.js", "receipt_code.js"}
    | {"scanned.js", "digits.js", "posting.js", "receipt_page.js"}
)
"""What only those load who have answered: no browser's cache keeps it, which would tell that somebody did."""
WITH_TEXTS = {
    *(
        "blocks.js",
        "consent.js",
        "labels.js",
        "ticks.js",
        "number_labels.js",
        "field.js",
        "invitation.js",
        "code_use.js",
        "ticket.js",
        "completion.js",
        "tablet.js",
    ),
}


def list_files(modules: Collection[str]) -> list[str]:
    """The files that hold these modules, in the order in which a page loads them."""
    return [file for file, held in JOINED.items() if not set(held).isdisjoint(modules)]
