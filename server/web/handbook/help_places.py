"""Where the guide says more about a page of researchers, so that its *Help* leads there."""

from functools import cache

from server.web.handbook.chapter_writer import find_address
from server.web.handbook.chapters import read_handbook

PLACES = {
    "account": ("guide/colleagues", "signing-in-with-a-password-and-a-code"),
    "completions": ("panels", "a-code-of-their-own"),
    "colleagues": ("guide/colleagues", "inviting-colleagues"),
    "editor": ("guide/questions", "the-kinds-of-questions"),
    "elsewhere": ("guide/results", "data-from-elsewhere"),
    "explanations": ("guide/results", "explaining-an-answer"),
    "imports": ("guide/importing", "importing"),
    "invitations": ("guide/running", "invitations-one-response-for-each-code"),
    "keeping": ("guide/keeping", "keeping-and-deleting"),
    "links": ("guide/running", "strata-a-link-for-each-group"),
    "log": ("guide/colleagues", "the-log"),
    "manage": ("guide/first-survey", "a-first-survey-in-five-minutes"),
    "paper": ("paper", "a-survey-on-paper"),
    "people": ("guide/colleagues", "inviting-colleagues"),
    "programs": ("api", "signing-in"),
    "release_builder": ("guide/releases", "making-a-release"),
    "releases": ("guide/releases", "releases"),
    "searches": ("guide/releases", "releases"),
    "results": ("guide/results", "results"),
    "schedule": ("guide/running", "times-a-limit-a-pause"),
    "settings": ("guide/colleagues", "signing-in-with-a-password-and-a-code"),
    "lesson_board": ("teaching", "in-the-lesson"),
    "simulate": ("guide/rehearsing", "rehearsing-with-made-up-people"),
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
