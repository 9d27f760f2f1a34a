"""Chapters of the help, found by their English names."""

from server.web.handbook import Chapter, read_handbook


def find_chapter(name: str, language: str) -> Chapter:
    """The chapter of an English name, in a language."""
    chapters = read_handbook().chapters
    return chapters[chapters[name].others.get(language, name)]
