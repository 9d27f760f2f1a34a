"""The layers of the architecture, read from the imports and tried out in a process."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from server.cli import main
from server.config import OPTIONAL_PACKAGES
from tests.support.factories import ROOT

ALONE = """
import importlib, pkgutil, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        outside = {"flask", "flask_babel", "werkzeug", "jinja2", "babel", "sqlalchemy", "alembic", "click", "granian"}
        top, _, rest = name.partition(".")
        if top in outside or (top == "server" and rest and rest.partition(".")[0] != "privacy"):
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
import server.privacy
for module in pkgutil.walk_packages(server.privacy.__path__, "server.privacy."):
    print(importlib.import_module(module.name).__name__)
"""

IMPORT_LINTER = "from importlinter.cli import lint_imports_command as run; run()"


def _run(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def copied_sources(tmp_path: Path) -> Path:
    """A copy of the sources, to break."""
    shutil.copytree(ROOT / "server", tmp_path / "server", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_contract_of_the_layers_is_kept() -> None:
    done = _run(ROOT, IMPORT_LINTER, "--no-logo", "--no-cache")

    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("privacy/estimators/parts.py", "import sqlalchemy", "The mathematics knows no web"),
        ("privacy/designs/design.py", "from server.store import engines", "The mathematics knows no web"),
        (
            "collect/responses/open_links.py",
            "import flask",
            "A response is accepted without the web framework",
        ),
        ("web/views/manage.py", "from server.web.views import results", "Views never import each other"),
        (
            "study/surveys/survey_links.py",
            "from server import reports",
            "Each layer imports only those below it",
        ),
        ("store/engines.py", "from server import study", "Each layer imports only those below it"),
        ("utils.py", "", "Each layer imports only those below it"),
    ],
)
def test_broken_layer_is_found(module: str, line: str, contract: str, copied_sources: Path) -> None:
    path = copied_sources / "server" / module
    path.write_text(line + "\n" + (path.read_text() if path.exists() else ""))

    done = _run(copied_sources, IMPORT_LINTER, "--no-logo", "--no-cache")

    assert done.returncode == 1
    broken = [line for line in done.stdout.splitlines() if line.endswith(" BROKEN")]
    assert any(line.startswith(contract) for line in broken)


def test_mathematics_runs_where_nothing_else_can_be_imported() -> None:
    done = _run(ROOT, ALONE)

    assert done.returncode == 0, done.stderr
    assert {"server.privacy.designs", "server.privacy.estimators"} <= set(done.stdout.split())


@pytest.mark.parametrize("line", ["import sqlalchemy", "from server import config", "import flask"])
def test_mathematics_that_imports_more_is_caught(line: str, copied_sources: Path) -> None:
    (copied_sources / "server" / "privacy" / "wrong.py").write_text(line + "\n")

    done = _run(copied_sources, ALONE)

    assert done.returncode == 1
    assert "is blocked" in done.stderr


def test_importing_the_application_does_nothing(tmp_path: Path) -> None:
    """No file is written, no address is opened and nothing is said when modules are imported."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "forbidden, seen = {'socket.bind', 'socket.connect', 'sqlite3.connect', 'os.mkdir'}, []\n"
        "sys.addaudithook(lambda event, _: event in forbidden and seen.append(event))\n"
        "import server.web.app, server.cli\n"
        "print(seen)"
    )

    done = _run(tmp_path, code, str(ROOT))

    assert (done.stdout, done.stderr) == ("[]\n", "")
    assert list(tmp_path.iterdir()) == []


def test_the_commands_are_listed_without_loading_any(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from server.cli import main; main(['--help'], standalone_mode=False)\n"
        "print('loaded', *sys.modules)"
    )

    listed, _, loaded = _run(tmp_path, code, str(ROOT)).stdout.partition("\nloaded ")

    assert not {"numpy", "sqlalchemy", "flask", "server.cli.common"} & set(loaded.split()), loaded
    context = click.Context(main)
    lines = dict(re.findall(r"^  (\S+) +(.+)$", listed.partition("Commands:")[2], re.MULTILINE))
    assert list(lines) == main.list_commands(context)
    for name, line in lines.items():
        command = main.get_command(context, name)
        assert command is not None
        assert command.get_short_help_str(200).startswith(line.removesuffix("...")), name


def test_a_command_loads_no_site_and_no_large_package_before_it_needs_them(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from server.cli import main\n"
        "for name in ('user', 'tidy', 'survey', 'backup'): main([name, '--help'], standalone_mode=False)\n"
        "print('loaded', *sys.modules)"
    )

    loaded = set(_run(tmp_path, code, str(ROOT)).stdout.rpartition("\nloaded ")[2].split())

    assert "server.cli.backup_commands" in loaded
    large = {f"scipy.{part}" for part in ("optimize", "sparse", "special", "stats")}
    large |= {"granian", "flask", "alembic", "server.web.app"}
    assert not (large | set(OPTIONAL_PACKAGES)) & loaded


def test_linear_algebra_has_one_thread_unless_the_operator_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1])\n"
        "import server.__main__, numpy, scipy.linalg\n"
        "print(os.environ['OPENBLAS_NUM_THREADS'], len(os.listdir('/proc/self/task')))"
    )
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert _run(tmp_path, code, str(ROOT)).stdout == "1 1\n"
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    assert _run(tmp_path, code, str(ROOT)).stdout.startswith("2 ")


def test_what_serves_loads_every_part_of_scipy_that_is_used() -> None:
    """SciPy loads a part when it is first used: a visitor would wait for it."""
    sources = {path: path.read_text() for path in (ROOT / "server").rglob("*.py")}
    pattern = re.compile(r"\b(scipy(?:\.[a-z_]+)+)(?=\.[a-z_]+\()|^ +from (scipy[a-z_.]+)", re.MULTILINE)
    used = {first or second for first, second in pattern.findall("".join(sources.values()))}
    assert {"scipy.optimize", "scipy.optimize.elementwise", "scipy.linalg"} <= used

    loaded = list_imported(ast.parse(sources[ROOT / "server/web/serving.py"]))

    assert [
        part for part in sorted(used) if not any(f"{name}.".startswith(f"{part}.") for name in loaded)
    ] == []


def find_handed_on(sources: dict[str, str]) -> list[str]:
    """Names that a module imports from one that has only imported them itself, and is not the face of a room."""
    trees = {name: ast.parse(text) for name, text in sources.items()}
    imported = {name: list_imported(tree) for name, tree in trees.items()}
    return [
        f"{name} takes {alias.name} from {node.module}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in imported
        for alias in node.names
        if alias.name in imported[node.module] and f"{node.module}.{alias.name}" not in sources
    ]


def list_imported(tree: ast.Module) -> set[str]:
    """What a module imports and does not list as its own in `__all__`; nothing of a face, which is only imports."""
    kept: set[str] = set()
    names: set[str] = set()
    is_face = True
    for node in tree.body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            kept = set(ast.literal_eval(node.value))
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            is_face = False
    return set() if is_face else names - kept


def test_names_are_taken_from_where_they_are_defined_or_from_the_face_of_a_room() -> None:
    sources = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path.read_text(
            "utf-8"
        )
        for path in (ROOT / "server").rglob("*.py")
    }
    assert find_handed_on(sources) == []


def test_a_name_that_is_handed_on_is_noticed() -> None:
    sources = {
        "room": '"""A face."""\nfrom room.inner import thing',
        "room.inner": "from math import tau\ndef thing(): ...",
        "a": "from room import thing",
        "b": "from room.inner import tau",
    }
    assert find_handed_on(sources) == ["b takes tau from room.inner"]


OF_REPORTS = ("words/", "documents/", "public/", "_macros.html")
"""The templates that documents are written with; all others are pages'."""


def test_reports_reach_into_no_template_of_a_page() -> None:
    named = {
        (path.name, template)
        for path in (ROOT / "server" / "reports").rglob("*.py")
        for template in re.findall(r"[\"']([\w/]+\.html)[\"']", path.read_text("utf-8"))
    }
    assert "words/findings.html" in {template for _, template in named}
    assert [place for place in named if not place[1].startswith(OF_REPORTS)] == []


def test_what_pages_and_documents_word_alike_is_text_and_of_neither() -> None:
    sources = {path.name: path.read_text("utf-8") for path in (ROOT / "templates" / "words").glob("*.html")}
    assert sources
    for name, source in sources.items():
        assert not re.search(r"</?[a-z]", source), f"{name} writes an element"
        for template in re.findall(r'\{% from "([^"]+)"', source):
            assert template.startswith(("words/", "_macros.html")), f"{name} reaches into {template}"
