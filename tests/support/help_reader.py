"""The help's chapters, as tests name them: the guide for researchers as one text."""

from server.output.languages import LANGUAGES
from server.web.handbook import Chapter, read_handbook


def find_chapter(name: str, language: str) -> Chapter:
    """The chapter of an English name, in a language."""
    chapters = read_handbook().chapters
    return chapters[chapters[name].others.get(language, name)]


def read_guide(language: str) -> str:
    """All chapters of the guide for researchers in a language, one after the other as they are read."""
    book, folder = read_handbook(), LANGUAGES[language].guide
    names = [name for name in book.orders[language] if f"{name}/".startswith(f"{folder}/")]
    return "\n".join(book.chapters[name].source for name in names)
