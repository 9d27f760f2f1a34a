"""The responses to a survey's versions, and which questions of theirs are the same."""

from server.waves.sameness import identities
from server.waves.sources import Asked, Byte, Wave, by_option, places_of, same_question

__all__ = [
    "Asked",
    "Byte",
    "Wave",
    "by_option",
    "identities",
    "places_of",
    "same_question",
]
