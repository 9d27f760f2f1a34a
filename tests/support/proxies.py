"""The proxies of docs/deploy/, run as they stand there, but for addresses, certificates and folders."""

import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from types import MappingProxyType

from tests.support.factories import ROOT, free_port
from tests.support.proxy_programs import find_program

DEPLOY = ROOT / "docs" / "deploy"
NAME = "survey.example.org"


@dataclass(frozen=True)
class Proxy:
    """A running proxy: ports on 127.0.0.1, and the folder that holds whatever it writes."""

    secure: int
    plain: int
    folder: Path
    onion: int = 0

    def ask(
        self, method: str, path: str, body: bytes = b"", source: str = "127.0.0.2", **headers: str
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Over TLS, as somebody who comes from an address of this machine: status, headers, answer."""
        context = ssl.create_default_context(cafile=str(self.folder / "certificate.pem"))
        with closing(
            HTTPSConnection("localhost", self.secure, timeout=60, context=context, source_address=(source, 0))
        ) as connection:
            connection.request(method, path, body, {"Host": f"localhost:{self.secure}", **headers})
            answer = connection.getresponse()
            given = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, given, answer.read()

    def connect(self) -> ssl.SSLSocket:
        """A connection over TLS, for what comes in parts; whoever takes it closes it."""
        context = ssl.create_default_context(cafile=str(self.folder / "certificate.pem"))
        plain = socket.create_connection(("localhost", self.secure), timeout=60)
        return context.wrap_socket(plain, server_hostname="localhost")

    def ask_plainly(self, path: str) -> tuple[int, str]:
        """Without TLS: status and where it leads."""
        with closing(HTTPConnection("127.0.0.1", self.plain, timeout=60)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location", "")

    def read_files(self) -> str:
        """All that it has written, wherever."""
        kept = {"certificate.pem", "key.pem"}
        files = [each for each in self.folder.rglob("*") if each.is_file() and each.name not in kept]
        return "\n".join(f"{each}\n{each.read_text('utf-8', 'replace')}" for each in files)


@contextmanager
def run_nginx(
    folder: Path, secure: int, upstream: int, changes: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Proxy]:
    """nginx, with the example for a site and the one for an onion service."""
    plain, onion = free_port(), free_port()
    replaced = {
        "127.0.0.1:8000": f"127.0.0.1:{upstream}",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl;": f"listen 127.0.0.1:{secure} ssl;",
        "listen 127.0.0.1:8081;": f"listen 127.0.0.1:{onion};",
        f"/etc/letsencrypt/live/{NAME}/fullchain.pem": f"{folder}/certificate.pem",
        f"/etc/letsencrypt/live/{NAME}/privkey.pem": f"{folder}/key.pem",
        "/var/log/nginx/": f"{folder}/",
        **changes,
    }
    both = "\n".join((DEPLOY / name).read_text("utf-8") for name in ("nginx.conf", "onion-nginx.conf"))
    (folder / "sites.conf").write_text(_replace(both, replaced))
    places = " ".join(
        f"{each}_temp_path {folder}/{each};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # What Debian's own nginx.conf has around such files.
    (folder / "main.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log stderr;\n"
        f"{'user root;' if os.geteuid() == 0 else ''}\nevents {{}}\n"
        f"http {{ access_log {folder}/access.log; {places}\n"
        f"include {folder}/sites.conf; }}\n"
    )
    _make_certificate(folder)
    command = [str(find_program("nginx")), "-p", str(folder), "-e", "stderr", "-c", str(folder / "main.conf")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert "warn" not in checked.stderr
    with _running(command, Proxy(secure, plain, folder, onion)) as proxy:
        yield proxy


@contextmanager
def run_caddy(
    folder: Path, secure: int, upstream: int, changes: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Proxy]:
    """Caddy, with a certificate that is there, since nobody gives it one here."""
    plain = free_port()
    certificate = f"tls {folder}/certificate.pem {folder}/key.pem"
    replaced = {
        f"{{$SITE:{NAME}}} {{": f"{{$SITE:{NAME}}} {{\n{certificate}\n",
        "admin off": f"admin off\nhttp_port {plain}\nhttps_port {secure}\nskip_install_trust",
        **changes,
    }
    path = folder / "Caddyfile"
    path.write_text(_replace((DEPLOY / "Caddyfile").read_text("utf-8"), replaced))
    settings = {"SITE": f"https://localhost:{secure}", "UPSTREAM": f"127.0.0.1:{upstream}"}
    places = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    _make_certificate(folder)
    command = [str(find_program("caddy")), "run", "--config", str(path), "--adapter", "caddyfile"]
    with _running(command, Proxy(secure, plain, folder), {**os.environ, **settings, **places}) as proxy:
        yield proxy


PROXIES: dict[str, Callable[..., AbstractContextManager[Proxy]]] = {
    "nginx": run_nginx,
    "caddy": run_caddy,
}


@contextmanager
def _running(
    command: list[str], proxy: Proxy, environment: Mapping[str, str] | None = None
) -> Iterator[Proxy]:
    with (proxy.folder / "said").open("w") as said:
        process = subprocess.Popen(command, env=environment, stdout=said, stderr=said)
    try:
        while True:
            assert process.poll() is None, (proxy.folder / "said").read_text()
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", proxy.secure)) == 0:
                    break
            time.sleep(0.05)
        yield proxy
    finally:
        process.terminate()
        process.wait(30)


def _make_certificate(folder: Path) -> None:
    openssl = shutil.which("openssl")
    assert openssl, "the tests of the proxies need openssl: apt-get install openssl"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    keys = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem"), "-days", "2"]
    subprocess.run([openssl, "req", "-x509", *keys, *files, *subject], check=True, capture_output=True)


def _replace(text: str, replaced: Mapping[str, str]) -> str:
    for old, new in replaced.items():
        assert old in text, f"{old} is no longer there"
        text = text.replace(old, new)
    return text
