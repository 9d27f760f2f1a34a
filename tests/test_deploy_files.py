"""The files of docs/deploy/: linted by the tools for them, agreeing with the program; the command of the unit runs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import yaml

from server.config import from_environment, marks_folder, secrets_key
from server.store.engines import make_engine
from server.study.definitions.definition_reader import DEFINITION_LIMIT
from server.web import serving
from server.web.front import messages
from server.web.views.imports import ARCHIVE_LIMIT
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import ROOT
from tests.support.forked_servers import ForkedServer
from tests.support.proxies import DEPLOY
from tests.support.proxy_programs import find_libraries, find_program

BIN = Path(sys.executable).parent
UNIT = (DEPLOY / "moneda.service").read_text("utf-8")
COMPOSE: Any = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
PAGE = (ROOT / "docs" / "operating.md").read_text("utf-8")


def run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False)


def test_every_file_is_named_on_the_page() -> None:
    # Docker finds it by its name.
    names = {path.name for path in DEPLOY.iterdir()} - {"Dockerfile.dockerignore"}
    assert set(re.findall(r"\(deploy/([\w.-]+)\)", PAGE)) == names


def test_the_commands_of_the_page_are_commands() -> None:
    """What can be looked at here: paths, Moneda's own words and Make's."""
    lines = [
        line.strip()
        for text in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
        for line in text.splitlines()
    ]
    assert all(line.startswith(("# ",)) or not line for line in lines)
    text = "\n".join(lines)
    for path in re.findall(r"/opt/moneda/(docs/\S+)|--file (docs/\S+)", text):
        assert (ROOT / "".join(path)).is_file()
    for words in re.findall(r"python -m server (\w+ \w+)", text):
        assert factories.run("sqlite:////nowhere/x", *words.split(), "--help").exit_code == 0
    assert ".venv/.installed" in text
    assert "$(VENV)/.installed:" in (ROOT / "Makefile").read_text("utf-8")


def test_a_certificate_is_renewed_beside_nginx() -> None:
    """Both want port 80: what is given when it is made, certbot does again whenever it renews."""
    (line,) = re.findall(r"# certbot certonly --standalone .*", PAGE)
    assert "listen 80;" in (DEPLOY / "nginx.conf").read_text("utf-8")
    assert '--pre-hook "systemctl stop nginx" --post-hook "systemctl start nginx"' in line


def test_the_first_account_gets_a_link_to_the_public_address(
    sqlite: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONEDA_PUBLIC_URL", "https://survey.example.org")
    done = factories.run(sqlite(False), "user", "add", "Ana", "--administrator")
    assert "https://survey.example.org/manage/sign-in/" in done.output


def test_what_is_left_out_of_an_installation_is_what_nothing_runs(tmp_path: Path) -> None:
    packages = tmp_path / "an environment" / "lib" / "python3.11" / "site-packages"
    left = {"numpy/lib/tests/a.py", "scipy/stats/tests/data/b.npz", "Crypto/SelfTest/Hash/c.py"}
    kept = {"numpy/testing/a.py", "scipy/stats/b.py", "Crypto/Hash/c.py", "flask/tests/d.py", "tests/e.py"}
    for name in left | kept:
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).touch()
    script = DEPLOY / "leave-out.sh"
    assert run("sh", script, tmp_path / "an environment").returncode == 0
    assert {str(path.relative_to(packages)) for path in packages.rglob("*") if path.is_file()} == kept
    assert run("sh", script).returncode != 0  # and not the folder that somebody happens to be in
    for text in ((ROOT / "Makefile").read_text("utf-8"), DOCKERFILE, PAGE):
        assert re.search(r"sh \S*leave-out\.sh \S*(\.venv|\$\(VENV\))$", text, re.MULTILINE)


# --- Containers ----------------------------------------------------------------


def test_the_dockerfile_is_clean() -> None:
    done = run(BIN / "hadolint", "--no-color", DEPLOY / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


def test_a_careless_dockerfile_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(
        DOCKERFILE.replace("--no-cache-dir ", "").replace("USER 10001", "USER root")
    )
    assert run(BIN / "hadolint", tmp_path / "Dockerfile").returncode == 1


def test_what_the_dockerfile_copies_is_what_the_program_needs_and_is_let_in() -> None:
    copied = set(re.findall(r"^COPY (?!--)(\S+) ", DOCKERFILE, re.MULTILINE))
    lists = {"requirements.txt", "docs/deploy/requirements-collecting.txt"}
    assert copied == {"${LIST}", "docs/deploy/leave-out.sh", "client", "docs", "templates", "server"}
    assert set(re.findall(r"LIST=(\S+)", DOCKERFILE)) == lists
    copied = copied - {"${LIST}"} | {"requirements.txt"}  # the other list is in docs/
    assert all((ROOT / name).exists() for name in copied)
    copied = {name for name in copied if not name.startswith("docs/")}
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert {line.removeprefix("!") for line in ignored if line.startswith("!")} == copied
    assert "*" in ignored


def test_the_image_runs_as_nobody_in_particular_and_its_settings_are_settings() -> None:
    assert re.search(r"^USER 10001$", DOCKERFILE, re.MULTILINE)
    settings = dict(re.findall(r"^(?:ENV| {3}) (\w+)=(\S+)", DOCKERFILE, re.MULTILINE))
    assert from_environment(settings).database_url == "sqlite:////data/moneda.sqlite3"
    assert marks_folder(settings) == Path("/data")
    # Whatever else it writes is there as well: the rest of its root is read-only.
    assert secrets_key(settings).parent == Path("/data")
    assert re.findall(r"^VOLUME (.+)$", DOCKERFILE, re.MULTILINE) == ["/data"]
    command = json.loads(re.findall(r"^CMD (.+)$", DOCKERFILE, re.MULTILINE)[-1])
    refused = factories.run_forked("sqlite:////nowhere/x", *command)
    assert "MONEDA_PUBLIC_URL must name" in refused.stderr  # an image that is only started says what to set


def test_the_health_check_of_the_image_checks(installation: factories.Served) -> None:
    (checking,) = re.findall(r"HEALTHCHECK[^\n]*\\\n +CMD (\[.+\])", DOCKERFILE)
    _python, *arguments = json.loads(checking)
    for url, status in ((installation.url, 0), (f"http://127.0.0.1:{factories.free_port()}", 1)):
        here = [each.replace("http://127.0.0.1:8000", url) for each in arguments]
        assert run(sys.executable, *here).returncode == status


def test_the_compose_file_fits_its_schema() -> None:
    done = run(BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")
    assert done.returncode == 0, done.stdout


def test_a_compose_file_with_a_wrong_key_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "compose.yaml"
    path.write_text((DEPLOY / "compose.yaml").read_text("utf-8").replace("read_only:", "readonly:"))
    assert run(BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", path).returncode == 1


def test_what_the_compose_file_sets_is_understood() -> None:
    service = COMPOSE["services"]["moneda"]
    filled = {
        name: re.sub(r"\$\{(\w+):\?[^}]+\}", r"\1.example", str(value))
        for name, value in service["environment"].items()
    }
    config = from_environment(filled)
    (address,) = {str(network.network_address) for network in config.proxies}
    assert address == COMPOSE["services"]["proxy"]["networks"]["front"]["ipv4_address"]
    assert config.secure
    assert service["read_only"] is True
    assert service["user"] == "10001"
    exposed = [name for name, each in COMPOSE["services"].items() if "ports" in each]
    assert exposed == ["proxy"]
    assert not {"database", "proxy"} & set(service["command"])
    help_of = factories.run("sqlite:////nowhere/x", "serve", "--help").output
    assert all(word in help_of for word in service["command"] if word.startswith("--"))


def test_what_the_compose_file_tells_postgresql_is_understood(postgresql: NewDatabase) -> None:
    told = [word.removeprefix("-c").split("=") for word in COMPOSE["services"]["database"]["command"][1:]]
    engine = make_engine(postgresql(False))
    with engine.begin() as connection:
        for name, value in told:
            connection.execute(
                sa.text("SELECT set_config(:name, :value, true)"), {"name": name, "value": value}
            )
    engine.dispose()
    assert len(told) == 3


# --- Tor ------------------------------------------------------------------------


def look_at_torrc(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What Tor says of its file. The folders are the test's, as it looks at those too."""
    (folder / "torrc").write_text(text.replace("/var/lib/tor", str(folder)))
    command = [find_program("tor"), "--verify-config", "--defaults-torrc", os.devnull]
    paths = ["--DataDirectory", folder / "data", "-f", folder / "torrc"]
    environment = {**os.environ, "HOME": str(folder)}
    if libraries := find_libraries("tor"):
        environment["LD_LIBRARY_PATH"] = libraries
    words = [str(each) for each in (*command, *paths)]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment)


def test_tor_takes_its_file_and_leads_to_the_server_of_nginx_for_it(tmp_path: Path) -> None:
    text = (DEPLOY / "torrc").read_text("utf-8")
    done = look_at_torrc(text, tmp_path)
    assert done.returncode == 0, done.stdout
    (address,) = re.findall(r"^HiddenServicePort 80 (\S+)$", text, re.MULTILINE)
    assert f"listen {address};" in (DEPLOY / "onion-nginx.conf").read_text("utf-8")


def test_a_wrong_word_in_the_file_of_tor_is_noticed(tmp_path: Path) -> None:
    text = (DEPLOY / "torrc").read_text("utf-8")
    assert look_at_torrc(text.replace("SafeLogging", "SaferLogging"), tmp_path).returncode == 1


# --- nginx ------------------------------------------------------------------------


def test_no_server_of_nginx_keeps_a_log_or_tells_its_version() -> None:
    """Also that of plain HTTP, which only sends people on: what it is asked for is a respondent's link as well."""
    servers = [
        block
        for name in ("nginx.conf", "onion-nginx.conf")
        for block in re.findall(
            r"^server \{.*?^\}", (DEPLOY / name).read_text("utf-8"), re.MULTILINE | re.DOTALL
        )
    ]
    assert len(servers) == 3
    for line in ("access_log off;", "error_log /var/log/nginx/moneda.log emerg;", "server_tokens off;"):
        assert all(line in block for block in servers), line


def read_number(text: str, before: str, after: str) -> int:
    """The number between two texts, which stands there once."""
    (found,) = re.findall(rf"\s{before} (\d+){after}", text)
    return int(found)


def test_proxies_wait_no_longer_than_moneda() -> None:
    """Nor shorter: what is silent is let go by the proxy before Moneda does, and the longest import arrives."""
    nginx, onion, caddy = (
        (DEPLOY / name).read_text("utf-8") for name in ("nginx.conf", "onion-nginx.conf", "Caddyfile")
    )
    header = serving.HEADER_TIMEOUT / 1000
    assert read_number(nginx, "keepalive_timeout", "s;") < header
    assert read_number(caddy, "keepalive", "s\n") < header
    headers = [read_number(each, "client_header_timeout", "s;") for each in (nginx, onion)]
    assert [*headers, read_number(caddy, "read_header", "s\n")] == [header] * 3
    longest = messages.DEADLINE + (ARCHIVE_LIMIT + DEFINITION_LIMIT) / messages.SLOWEST_UPLOAD
    assert longest <= 60 * read_number(caddy, "read_body", "m\n") < longest + 60
    assert f"on which nothing was asked for {header:.0f} seconds" in PAGE
    assert f"or after {read_number(caddy, 'read_body', 'm')} minutes" in PAGE


def test_nginx_takes_as_many_as_moneda() -> None:
    """Of each visitor two connections: the visitor's, and its own to Moneda."""
    assert int(PAGE.split("]*/worker_connections ")[1].split("/")[0]) >= 2 * serving.CONNECTIONS
    assert int(PAGE.split("worker_rlimit_nofile ")[1].split(";")[0]) >= 4 * serving.CONNECTIONS


# --- The unit --------------------------------------------------------------------


def read_unit(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)


def analyse(*arguments: object) -> subprocess.CompletedProcess[str]:
    found = shutil.which("systemd-analyze")
    assert found, "this test needs systemd-analyze: on Debian or Ubuntu, apt-get install systemd"
    return run(found, *arguments)


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    (tmp_path / "moneda.service").write_text(UNIT.replace("/opt/moneda/.venv/bin/python", sys.executable))
    done = analyse("verify", "--man=no", tmp_path / "moneda.service")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_unit_with_a_wrong_word_is_noticed(tmp_path: Path) -> None:
    wrong = UNIT.replace("/opt/moneda/.venv/bin/python", sys.executable).replace(
        "ProtectHome=", "ProtectHouse="
    )
    (tmp_path / "moneda.service").write_text(wrong)
    assert "ProtectHouse" in analyse("verify", "--man=no", tmp_path / "moneda.service").stderr


def test_the_unit_leaves_little_within_reach(tmp_path: Path) -> None:
    """By systemd's own scale from 0 (nothing) to 10; an unhardened unit has 9.2."""
    assert analyse("security", "--offline=yes", "--threshold=15", DEPLOY / "moneda.service").returncode == 0
    bare = "\n".join(
        line for line in UNIT.splitlines() if not re.match(r"(Protect|Private|Restrict|System)", line)
    )
    (tmp_path / "moneda.service").write_text(bare)
    assert analyse("security", "--offline=yes", "--threshold=15", tmp_path / "moneda.service").returncode != 0


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    """What /etc/moneda/environment sets, in a folder of this test."""
    # In single quotes, systemd reads it as a shell does.
    lines = shlex.split((DEPLOY / "environment").read_text("utf-8"), comments=True)
    pairs = [line.partition("=")[::2] for line in lines]
    (folder,) = read_unit("StateDirectory")
    return {name: value.replace(f"/var/lib/{folder}", str(tmp_path)) for name, value in pairs}


def test_the_settings_of_the_unit_are_understood(settings: dict[str, str], tmp_path: Path) -> None:
    config = from_environment(settings)
    assert config.metrics is not None
    assert config.secure
    # The unit lets it write there, and nowhere else.
    database = Path(str(sa.make_url(config.database_url).database)).parent
    assert {database, marks_folder(settings), secrets_key(settings).parent} == {tmp_path}
    documented = set(re.findall(r"^\| `([A-Z_]+)`", PAGE, re.MULTILINE))
    assert settings.keys() <= documented


@pytest.mark.parametrize("also", [" http://abc.onion", "/?a=1&b=$c;"])
def test_commands_read_the_settings_of_the_unit(settings: dict[str, str], tmp_path: Path, also: str) -> None:
    """By a shell, as the page says, also where somebody has written more between the quotes."""
    file = tmp_path / "environment"
    url = settings["MONEDA_PUBLIC_URL"]
    file.write_text((DEPLOY / "environment").read_text("utf-8").replace(url, url + also))
    command = f'set -a; . {shlex.quote(str(file))}; printf %s "$MONEDA_PUBLIC_URL"'
    assert "# set -a; . /etc/moneda/environment" in PAGE
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (url + also, "")


def test_the_command_of_the_unit_runs(settings: dict[str, str], tmp_path: Path) -> None:
    (command,) = read_unit("ExecStart")
    python, *arguments = shlex.split(command)
    assert python == "/opt/moneda/.venv/bin/python"
    assert arguments[:2] == ["-m", "server"]
    assert read_unit("EnvironmentFile") == ["/etc/moneda/environment"]
    port, metrics = str(factories.free_port()), str(factories.free_port())
    assert arguments[-2:] == ["--port", "8000"]
    environment = {**settings, "MONEDA_METRICS": metrics, "PATH": "/usr/bin"}
    server = ForkedServer([*arguments[2:-1], port], environment)
    for line in server.stdout:
        if line.startswith("Ctrl-C"):
            break
    while True:
        try:
            assert factories.ask(f"http://127.0.0.1:{port}/ready")[2] == b"ready\n"
            break
        except ConnectionError:
            assert server.poll() is None
    assert b"moneda_ready" in factories.ask(f"http://127.0.0.1:{metrics}/metrics")[2]
    server.send_signal(15)  # as systemd does
    assert server.wait(30) == 0
    server.stdout.close()
    assert (tmp_path / "moneda.sqlite3").stat().st_mode & 0o077 == 0
