"""The responses to a survey's versions, and which questions of theirs are the same."""

from server.collect.waves.blocks import Block, groups_of, in_groups
from server.collect.waves.report_counts import Byte, Wave, WaveQuestion, by_option, places_of, same_question
from server.collect.waves.sameness import identities
