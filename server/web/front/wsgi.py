"""A request as Flask is given it."""

import io
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO

from server.web.front.messages import Scope


def make_environ(scope: Scope, body: BinaryIO | None = None, length: int = 0) -> dict[str, Any]:
    """The WSGI environment (PEP 3333) of an ASGI request whose body is there in whole."""
    server = scope.get("server") or ("localhost", 80)
    client = scope.get("client") or ("", 0)
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        # WSGI hands over the bytes of the path as if they were Latin-1.
        "PATH_INFO": scope["path"].encode("utf-8", "surrogateescape").decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": str(client[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body if body is not None else io.BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        if name == "content-type":
            environ["CONTENT_TYPE"] = value
        elif name not in ("content-length", "transfer-encoding"):
            key = "HTTP_" + name.upper().replace("-", "_")
            if name == "host" and not _is_name(value):
                value = ""
            environ[key] = f"{environ[key]},{value}" if key in environ else value
    environ["CONTENT_LENGTH"] = str(length)
    return environ


def _is_name(host: str) -> bool:
    """Whether the DNS could hold it. Of one that it could not, werkzeug makes no address, not even for an error page.

    What else is no host counts as none there as well.
    """
    try:
        host.partition(":")[0].encode("idna")
    except UnicodeError:
        return False
    return True


def make_get(path: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """The environment of a GET that nobody's browser sent."""
    return make_environ(
        {
            "method": "GET",
            "path": path,
            "query_string": b"",
            "http_version": "1.1",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        }
    )
