"""Where the guide says more about a page of researchers, so that its *Help* leads there."""

from functools import cache

from server.web.handbook.chapter_writer import find_address
from server.web.handbook.chapters import read_handbook

PLACES = {
    "account": ("guide", "signing-in-with-a-password-and-a-code"),
    "completions": ("panels", "a-code-of-their-own"),
    "colleagues": ("guide", "inviting-colleagues"),
    "editor": ("guide", "3-the-kinds-of-questions"),
    "elsewhere": ("guide", "data-from-elsewhere"),
    "explanations": ("guide", "explaining-an-answer"),
    "imports": ("guide", "6-importing"),
    "invitations": ("guide", "invitations-one-response-for-each-code"),
    "keeping": ("guide", "12-keeping-and-deleting"),
    "links": ("guide", "strata-a-link-for-each-group"),
    "log": ("guide", "the-log"),
    "manage": ("guide", "2-a-first-survey-in-five-minutes"),
    "paper": ("paper", "a-survey-on-paper"),
    "people": ("guide", "inviting-colleagues"),
    "programs": ("api", "signing-in"),
    "release_builder": ("guide", "making-a-release"),
    "releases": ("guide", "9-releases"),
    "searches": ("guide", "9-releases"),
    "results": ("guide", "8-results"),
    "schedule": ("guide", "times-a-limit-a-pause"),
    "settings": ("guide", "signing-in-with-a-password-and-a-code"),
    "lesson_board": ("teaching", "in-the-lesson"),
    "simulate": ("guide", "5-rehearsing-with-made-up-people"),
    "teaching": ("teaching", "teaching-with-moneda"),
    "webhooks": ("api", "webhooks"),
}
"""The English chapter and section of each blueprint. A translation has its sections in the same order."""


@cache
def find_place(blueprint: str | None, language: str) -> str:
    """The address in a language of what is said about the pages of a blueprint; else that of the contents."""
    book = read_handbook()
    if blueprint not in PLACES:
        return find_address(book.find_contents(language), language)
    name, anchor = PLACES[blueprint]
    original = book.chapters[name]
    number = [section.anchor for section in original.sections].index(anchor)
    translated = book.chapters[original.others.get(language, name)]
    return find_address(translated, language, translated.sections[number].anchor)
