"""What a request asked for, without a word of what it asked for it: the pattern of its address."""

from functools import lru_cache
from typing import Final

from flask import Flask
from werkzeug.exceptions import HTTPException

from server.web.front.signs_of_life import HEALTH, READY

OTHER: Final = "other"
"""Whatever the site does not have: what strangers make up is not repeated."""


_KEPT: Final = 1_000
"""Most addresses whose patterns are remembered; finding one takes as long as reading a response."""
_LONGEST: Final = 200
"""Characters of an address that is remembered."""


class RoutePatterns:
    """The patterns of a site's addresses, as `/s/<slug>/responses`."""

    def __init__(self, app: Flask) -> None:
        self._routes = app.url_map.bind("")
        self._find_again = lru_cache(_KEPT)(self._find)

    def find(self, method: str, path: str) -> str:
        """The pattern of an address; that of no survey and no person is told from another's."""
        return (self._find_again if len(path) <= _LONGEST else self._find)(method, path)

    def _find(self, method: str, path: str) -> str:
        if path in (HEALTH, READY):
            return path
        try:
            rule, _values = self._routes.match(path, method, return_rule=True)
        except HTTPException:
            return OTHER
        return rule.rule
