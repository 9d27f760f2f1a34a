"""Surveys: found by their links, published from drafts, open or not at a moment."""

from server.study.drafts import draft, draft_document, draft_documents, redo, save_draft, undo
from server.study.surveys.families import family_of, note_of
from server.study.surveys.publication import (
    create,
    definition_of,
    enter_survey,
    is_published,
    publish,
    published_version,
)
from server.study.surveys.standings import Standing, find_closing, find_standing, now, today
from server.study.surveys.survey_links import Shut, find_link, find_shut, is_slug, new_slug
