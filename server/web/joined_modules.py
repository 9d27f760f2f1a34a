"""The scripts of respondents' pages in a few files, made of the modules of `client/` when the server starts.

On a poor network each file more costs time, and comments cost bytes. So a page loads a few files, at once: what every
page needs, what only some do, and the way through it. They hold every module as a function that gives what it
exports, and run those that the page names, in the order of `JOINED`. What is loaded later, in files of its own,
imports from these. The code is that of the modules, line by line, without comments and indentation: the same bytes on
every machine.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from server.web.respondent_modules import JOINED, LATER

_FILES = {module: file for file, modules in JOINED.items() for module in modules}
_IMPORT = re.compile(r"^import (?:(\{.*\}) from )?'\./(\w+)\.js';\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function|class) (\w+))", re.MULTILINE)
_COMMENT = re.compile(
    r"""^\ *(?://[^\n]*|/\*\*.*?\*/)\n | \ +//\ [^'"`\n]*(?=\n)""", re.MULTILINE | re.DOTALL | re.VERBOSE
)
"""Whole lines, and what follows code; no quotation mark after it, so that no string is cut."""
_INDENTATION = re.compile(r"^ +|^\n", re.MULTILINE)


def join_modules(sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files that are made of the modules, by their names."""
    made = {}
    for file, modules in JOINED.items():
        texts = [sources[name].decode() for name in modules]
        parts = [
            *_import_others(texts, file),
            "const named = document.querySelector('script[data-modules]').dataset.modules.split(' ');\n",
            *map(_wrap_module, modules, texts),
            f"export {{ {', '.join(map(_name_exports, modules))} }};\n",
        ]
        made[file] = "".join(parts).encode()
    for name in LATER:
        text = sources[name].decode()
        made[name_later(name)] = "".join([*_import_others([text]), _bind_imports(_shorten(text))]).encode()
    return made


def find_file(module: str) -> str:
    """The file that a page loads a module in."""
    return name_later(module) if module in LATER else _FILES[module]


def name_later(module: str) -> str:
    """The file of a module that pages load later."""
    return f"respondent_{module}"


def _wrap_module(name: str, source: str) -> str:
    exports = _EXPORT.findall(source)
    body = _EXPORT.sub("", _bind_imports(_shorten(source)))
    return (
        f"const {_name_exports(name)} = named.includes('{name}') && (() => {{\n{body}"
        f"return {{ {', '.join(exports)} }};\n}})();\n"
    )


def _import_others(texts: Iterable[str], file: str = "") -> Iterator[str]:
    """What modules of a file import from those of others."""
    wanted: dict[str, list[str]] = {}
    for text in texts:
        for _names, module in _IMPORT.findall(text):
            home, name = _FILES[f"{module}.js"], _name_exports(f"{module}.js")
            if home != file and name not in wanted.setdefault(home, []):
                wanted[home].append(name)
    for home, names in wanted.items():
        yield f"import {{ {', '.join(names)} }} from './{home}';\n"


def _shorten(source: str) -> str:
    return _INDENTATION.sub("", _COMMENT.sub("", source))


def _bind_imports(source: str) -> str:
    """Instead of importing, take what the function of the other module has given.

    Raises
    ------
    ValueError
        If an import takes more than one line.
    """

    def bind(match: re.Match[str]) -> str:
        names, module = match.groups()
        return f"const {names} = {_name_exports(f'{module}.js')};\n" if names else ""

    bound = _IMPORT.sub(bind, source)
    if left := re.search(r"^import\b.*", bound, re.MULTILINE):
        raise ValueError(f"imports must stand on a line each, to be joined; found {left[0]!r}")
    return bound


def _name_exports(module: str) -> str:
    return module.replace(".", "_")
