"""Compile catalogues that have no gap, and withdraw the others, so that a language is complete or not offered.

`python -m tests.support.complete_catalogues FOLDER LANGUAGE...`, by `make messages`.
"""

import sys
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po


def compile_complete(folder: Path, language: str) -> int:
    """How many texts are still to be translated; the compiled catalogue is there only where it is none."""
    source = folder / language / "LC_MESSAGES" / "messages.po"
    with source.open("rb") as file:
        catalogue = read_po(file, locale=language)
    gaps = sum(
        message.fuzzy or not all([message.string] if isinstance(message.string, str) else message.string)
        for message in catalogue
        if message.id
    )
    compiled = source.with_suffix(".mo")
    compiled.unlink(missing_ok=True)
    if not gaps:
        with compiled.open("wb") as file:
            write_mo(file, catalogue)
    return gaps


if __name__ == "__main__":
    for code in sys.argv[2:]:
        missing = compile_complete(Path(sys.argv[1]), code)
        print(f"{code}: {f'not offered: {missing} texts to translate' if missing else 'complete'}")
