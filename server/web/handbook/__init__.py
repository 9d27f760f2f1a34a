"""The files of docs/ as pages under /help: read, written as HTML, and searched."""

from server.web.handbook.chapter_writer import find_address, write_chapter
from server.web.handbook.chapters import Chapter, Handbook, read_handbook
from server.web.handbook.help_pictures import measure_picture, read_picture
from server.web.handbook.help_places import find_place
from server.web.handbook.section_search import LONGEST_QUERY, Hits, list_words, search_sections
