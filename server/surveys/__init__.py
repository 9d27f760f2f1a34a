"""Surveys: found by their links, published from drafts, open or not at a moment."""

from server.drafts import draft, draft_document, redo, save_draft, undo
from server.surveys.families import family_of, note_of
from server.surveys.finding import (
    HAS_ARRIVED,
    Shut,
    find,
    find_for,
    find_link,
    find_shut,
    is_slug,
    lock,
    new_slug,
    role_in,
    shared_with,
)
from server.surveys.publishing import (
    close,
    create,
    definition_of,
    enter,
    mark_untidied,
    publish,
    published_version,
)
from server.surveys.standings import Standing, now, standing, today

__all__ = [
    "HAS_ARRIVED",
    "Shut",
    "Standing",
    "close",
    "create",
    "definition_of",
    "draft",
    "draft_document",
    "enter",
    "family_of",
    "find",
    "find_for",
    "find_link",
    "find_shut",
    "is_slug",
    "lock",
    "mark_untidied",
    "new_slug",
    "note_of",
    "now",
    "publish",
    "published_version",
    "redo",
    "role_in",
    "save_draft",
    "shared_with",
    "standing",
    "today",
    "undo",
]
