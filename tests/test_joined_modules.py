"""What respondents' pages run is the modules of `client/`, and no other code: joined, the same each time."""

import re
from itertools import product

import pytest

from server.web.assets import CLIENT, read_assets
from server.web.joined_modules import join_modules, name_later
from server.web.page_parts import PageParts
from server.web.respondent_modules import JOINED, LATER, list_files

MODULES = (*(name for names in JOINED.values() for name in names), *LATER)


def read_code(text: str) -> list[str]:
    """Lines without indentation, `import`, `export` and what only comments."""
    uncommented = re.sub(r"^ */\*\*.*?\*/$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = (re.sub(r"^export ", "", line.strip()) for line in uncommented.splitlines())
    return [line for line in lines if line and not line.startswith(("//", "import "))]


def test_joined_files_hold_every_line_of_their_modules_in_order_and_nothing_else() -> None:
    made = {name: content.decode() for name, content in read_assets().contents.items()}
    files = {**JOINED, **{name_later(name): (name,) for name in LATER}}
    for file, modules in files.items():
        left = made[file].splitlines()
        for module in modules:
            for line in read_code((CLIENT / module).read_text()):
                added = []
                # A remark behind a line may be left out, the line itself never.
                while not (
                    left[0] == line or re.fullmatch(r" +// [^'\"`]*", line.removeprefix(left[0]) or "x")
                ):
                    added.append(left.pop(0))
                left.pop(0)
                for extra in added:
                    assert re.fullmatch(
                        r"const named = document\.querySelector\('script\[data-modules\]'\)"
                        r"\.dataset\.modules\.split\(' '\);"
                        r"|const \w+_js = named\.includes\('\w+\.js'\) && \(\(\) => \{"
                        r"|const \{ [\w, :]+ \} = \w+_js;|import \{ [\w, ]+ \} from '\./respondent\w*\.js';"
                        r"|return \{ [\w, ]* \};|return \{  \};|\}\)\(\);",
                        extra,
                    ), extra
        assert all(
            re.fullmatch(r"return \{ [\w, ]*\};|\}\)\(\);|export \{ [\w, ]+ \};", line) for line in left
        )


@pytest.mark.parametrize("asked", [*product((False, True), repeat=5)])
def test_a_page_names_every_file_that_runs_with_its_fingerprint(asked: tuple[bool, ...]) -> None:
    """An import of a file that the page does not name would load it without integrity, and not without a network."""
    invited, ticketed, completions, whole, tablet = asked
    ways = {
        "invited": invited,
        "ticketed": invited and ticketed,
        "completions": completions,
        "tablet": tablet,
    }
    names = {name for name, wanted in ways.items() if wanted} | (set() if invited else {"work"})
    kinds = {"options.js", "labels.js", "numbers.js", "field.js", "ticks.js", "check", "show_if"}
    parts = PageParts(frozenset(names | (kinds if whole else set())), 1, 1, "en")
    made = read_assets().contents
    # A page for a tablet has no other beside it.
    for modules in (parts.modules, *([] if tablet else [parts.explaining_modules, parts.late_modules])):
        files = {*list_files(modules)}
        imported = {
            found for name in files for found in re.findall(r"from '\./(\w+\.js)'", made[name].decode())
        }
        assert imported <= files, modules


def test_joining_is_reproducible_and_notices_a_change_of_any_module() -> None:
    sources = {path.name: path.read_bytes() for path in CLIENT.iterdir()}
    assert join_modules(sources) == join_modules(dict(reversed(sources.items())))
    for name in MODULES:
        changed = {**sources, name: sources[name] + b"globalThis.more = 1;\n"}
        assert join_modules(changed) != join_modules(sources), name


def test_no_module_has_a_text_over_several_lines_that_joining_would_change() -> None:
    for name in MODULES:
        for line in (CLIENT / name).read_text().splitlines():
            assert line.count("`") % 2 == 0, (name, line)
