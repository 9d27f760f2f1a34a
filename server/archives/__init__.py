"""A survey as a whole: copied, put away, deleted for good, or packed and unpacked elsewhere; all of them, as a backup.

An archive is a ZIP file that says everything of a survey: its settings, draft and published
versions byte for byte, its strata, its responses without ids and days, small strata as a part of
those around them, and what its releases spent. Its bytes follow from the content. What is unpacked is
checked as a whole before anything of it is stored. Functions take a Session and never commit, but for
`unpack`, which stores what nobody sees yet in turns with others who write.
"""

from server.archives.archive_reader import looks_like_archive
from server.archives.archive_writer import check_packable, pack
from server.archives.arriving import are_late, give_up_late
from server.archives.disposition import check_confirmed, delete, duplicate, put_away, take_out
from server.archives.due_deletions import are_due, delete_due, list_deleted
from server.archives.importing import Unpacked, unpack
