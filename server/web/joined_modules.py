"""The scripts of respondents' pages in one file, made of the modules of `client/` when the server starts.

On a poor network each file more costs a round trip, and comments cost bytes. So a page loads one file, which holds
every module as a function that gives what it exports, and names those that its survey needs: they run in the order of
the file. What is loaded later, in files of its own, imports from that one. The code is that of the modules, line by
line, without comments and indentation: the same bytes on every machine.
"""

import re
from collections.abc import Mapping

from server.web.page_parts import JOINED, LATER

JOINED_NAME = "respondent.js"

_IMPORT = re.compile(r"^import (?:(\{.*\}) from )?'\./(\w+)\.js';\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function|class) (\w+))", re.MULTILINE)
_COMMENT = re.compile(
    r"""^\ *(?://[^\n]*|/\*\*.*?\*/)\n | \ +//\ [^'"`\n]*(?=\n)""", re.MULTILINE | re.DOTALL | re.VERBOSE
)
"""Whole lines, and what follows code; no quotation mark after it, so that no string is cut."""
_INDENTATION = re.compile(r"^ +|^\n", re.MULTILINE)


def join_modules(sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files that are made of the modules, by their names."""
    parts = [
        "const named = document.querySelector('script[data-modules]').dataset.modules.split(' ');\n",
        *(_wrap_module(name, sources[name].decode()) for name in JOINED),
        f"export {{ {', '.join(_name_exports(name) for name in JOINED)} }};\n",
    ]
    made = {JOINED_NAME: "".join(parts).encode()}
    for name in LATER:
        made[name_later(name)] = _import_joined(sources[name].decode()).encode()
    return made


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


def _import_joined(source: str) -> str:
    found = [_name_exports(f"{module}.js") for _names, module in _IMPORT.findall(source)]
    return f"import {{ {', '.join(found)} }} from './{JOINED_NAME}';\n{_bind_imports(_shorten(source))}"


def _shorten(source: str) -> str:
    return _INDENTATION.sub("", _COMMENT.sub("", source))


def _bind_imports(source: str) -> str:
    """Instead of importing, take what the function of the other module has given.

    Raises
    ------
    ValueError
        If an import takes more than one line.
    """

    def bind(found: re.Match[str]) -> str:
        names, module = found.groups()
        return f"const {names} = {_name_exports(f'{module}.js')};\n" if names else ""

    bound = _IMPORT.sub(bind, source)
    if left := re.search(r"^import\b.*", bound, re.MULTILINE):
        raise ValueError(f"imports must stand on a line each, to be joined; found {left[0]!r}")
    return bound


def _name_exports(module: str) -> str:
    return module.replace(".", "_")
