"""What WEBCAT's browser extension holds pages against, of a site that was compared, for its own tools to sign.

The format is that of webcat-cli's `manifest generate` (https://github.com/freedomofpress/webcat-cli, src/manifest.ts
at commit 002d30f), and of what the extension checks (https://github.com/freedomofpress/webcat, `validateManifest` at
commit 022e767). A path has one hash there, so the pages are those of one language, as they were when compared.
"""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

_INDEX = "index.html"
"""What WEBCAT calls the page of a path that ends with a slash."""


def make_webcat_manifest(
    site: str,
    manifest: Mapping[str, Any],
    pages: Mapping[tuple[str, str], bytes],
    logos: Mapping[str, bytes],
    language: str,
) -> dict[str, Any]:
    """The document, without signatures; `pages` has SHA-256 by path and language, `logos` by path.

    The extension lets a picture through that no path names, and holds one against its hash that is named.
    """
    files = {address: bytes.fromhex(digest) for address, digest in manifest["files"].items()}
    files |= logos
    for (path, spoken), digest in pages.items():
        if spoken == language:
            files[f"/{_INDEX}" if path == "/" else path] = digest
    return {
        "manifest": {
            "app": site,
            "version": manifest["version"],
            "default_csp": manifest["headers"]["Content-Security-Policy"],
            "default_index": _INDEX,
            # Whatever else is asked for must be the front page, which it is not: it is blocked.
            "default_fallback": f"/{_INDEX}",
            "files": {path: urlsafe_b64encode(files[path]).decode().rstrip("=") for path in sorted(files)},
            "wasm": [],
            "extra_csp": {},
        }
    }
