"""The map in CONTRIBUTING is that of the code: its rooms, and the answers to what newcomers ask."""

import ast
import re
import tomllib

from jinja2 import Environment, meta

from server.study import smallest_group
from tests.support.factories import ROOT

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
TEMPLATES = ROOT / "templates"


def section(heading: str) -> str:
    after = CONTRIBUTING.split(f"\n{heading}\n", 1)[1]
    return re.split(r"^#+ ", after, maxsplit=1, flags=re.MULTILINE)[0]


def answer_to(question: str) -> str:
    """What is said under a question, up to the next."""
    return section("### Finding things").split(f"*{question}")[1].split("\n- ")[0]


def first_line(room: str) -> str:
    source = (ROOT / "server" / room / "__init__.py").read_text("utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]


def drawn_rooms() -> list[tuple[str, str]]:
    picture = section("## The rooms").split("```text\n")[1].split("```")[0]
    return re.findall(r"^  (\w+)/ +(.+)$", picture, re.MULTILINE)


def test_the_picture_names_every_room_in_the_order_that_is_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    order = [name for layer in layers for name in layer.split(" | ") if name not in ("__main__", "config")]
    assert [room for room, _ in drawn_rooms()] == order
    packages = {path.parent.name for path in (ROOT / "server").glob("*/__init__.py")}
    assert set(order) == packages
    assert len(order) == 13, "CONTRIBUTING says thirteen"


def test_each_room_says_its_purpose_in_the_same_words() -> None:
    assert drawn_rooms() == [(room, first_line(room)) for room, _ in drawn_rooms()]
    assert all(line.endswith(".") for _, line in drawn_rooms())


def test_the_smallest_group_is_decided_where_it_is_said() -> None:
    assert "`server/study/smallest_group.py`" in answer_to("Where is the number 10")
    assert smallest_group.DEFAULT_MINIMUM == 10


def templates_of(*names: str) -> set[str]:
    """These templates and all that they extend, include or import."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            parsed = Environment(extensions=["jinja2.ext.i18n"], autoescape=True).parse(
                (TEMPLATES / name).read_text("utf-8")
            )
            waiting += [other for other in meta.find_referenced_templates(parsed) if other]
    return found


def test_respondents_pages_are_made_of_what_is_said() -> None:
    named = re.findall(r"`templates/([\w./]+)`", answer_to("What may I change"))
    used = templates_of(*(f"respond/{path.name}" for path in (TEMPLATES / "respond").glob("*.html")))
    outside = {name for name in used if not name.startswith("respond/")}
    assert "respond/" in named
    assert {name for name in named if name != "respond/"} == outside


def test_the_ledger_is_written_by_whom_it_is_said() -> None:
    writers = set()
    for path in (ROOT / "server").rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        names = [getattr(call.func, "id", getattr(call.func, "attr", "")) for call in calls]
        inserted = [
            ast.unparse(call.args[0])
            for call, name in zip(calls, names, strict=True)
            if name == "insert" and call.args
        ]
        if "LedgerEntry" in names or any(text.endswith("LedgerEntry") for text in inserted):
            writers.add(str(path.relative_to(ROOT)))
    assert writers
    assert set(re.findall(r"`(server/[\w./]+\.py)`", answer_to("Who writes to the ledger?"))) == writers


def test_there_are_ten_words_and_each_has_a_home() -> None:
    rows = re.findall(
        r"^\| \*(\w+)\* \| (.+?) \| `([^`]+)` \|$", section("### Ten words that are ours"), re.MULTILINE
    )
    assert len(rows) == len({word for word, *_ in rows}) == 10
    assert [place for *_, place in rows if not (ROOT / place).exists()] == []


FILLED = re.compile(
    r"^\s*(?:if \(kinds\.\w+\) )?(?:Object\.assign\()?(kinds|way|toys)\.\w+(?:\.\w+)?(?: =|, )", re.MULTILINE
)
MADE = re.compile(r"^export const (kinds|way|toys) =", re.MULTILINE)


def added_by_modules() -> dict[str, tuple[str, set[str]]]:
    """Of each object that the browser's modules share: where it is made, and which modules put something in."""
    sources = {path.name: path.read_text("utf-8") for path in (ROOT / "client").glob("*.js")}
    return {
        shared: (
            next(name for name, source in sources.items() if shared in MADE.findall(source)),
            {name for name, source in sources.items() if shared in FILLED.findall(source)},
        )
        for shared in ("kinds", "way", "toys")
    }


def test_who_adds_what_in_the_browser_is_said() -> None:
    table = section("## What the browser's modules add to each other")
    rows = re.findall(r"^\| `(\w+)`[^|]*\| `([\w.]+)` \| (.+) \|$", table, re.MULTILINE)
    said = {shared: (made, set(re.findall(r"`([\w.]+)`", filled))) for shared, made, filled in rows}
    assert said == added_by_modules()
