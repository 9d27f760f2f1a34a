"""The responses to a survey's versions, and which questions of theirs are the same."""

from server.collect.waves.blocks import Block, groups_of, in_groups
from server.collect.waves.sameness import identities
from server.collect.waves.sources import Asked, Byte, Wave, by_option, places_of, same_question

__all__ = [
    "Asked",
    "Block",
    "Byte",
    "Wave",
    "by_option",
    "groups_of",
    "identities",
    "in_groups",
    "places_of",
    "same_question",
]
