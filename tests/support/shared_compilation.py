"""What applications and engines read and compile, kept from test to test: nearly every test makes both anew.

Templates, addresses and statements become code by what they say alone, so what one application or engine has compiled
holds for the next. A server that runs for long compiles each once, too.
"""

import atexit
import os
import shutil
import tempfile
from copy import copy
from functools import cache
from threading import Lock
from types import CodeType
from typing import Any

import sqlalchemy as sa
from flask import Flask
from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache
from werkzeug.routing import Map, Rule, RuleFactory

from server.web import assets, page_manifest


def keep() -> None:
    """Let every application and engine of this process take what an earlier one has compiled."""
    # Jinja compares each template's source with that of the code before it takes it.
    Flask.jinja_options = {"bytecode_cache": _Templates(_find_folder())}
    Flask.url_map_class = _Map
    for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        _share_statements(dialect)
    _share_files()


def compile_templates(app: Flask) -> None:
    """Compile every page's template, for processes that begin as a copy of this one."""
    for name in app.jinja_env.list_templates(extensions=["html"]):
        app.jinja_env.get_template(name)


def _share_files() -> None:
    """Read and hash what reaches browsers once: nothing in the checkout changes while tests run."""
    make_anew = page_manifest.make_manifest
    assets.read_assets = read = cache(assets.read_assets)

    @cache
    def make_once() -> dict[str, Any]:
        return make_anew(read())

    def make(known: assets.Assets) -> dict[str, Any]:
        return make_once() if known is read() else make_anew(known)

    page_manifest.make_manifest = make


def _find_folder() -> str:
    """Where the processes of one run leave compiled templates to each other: the first of them makes it."""
    if _FOLDER not in os.environ:
        os.environ[_FOLDER] = tempfile.mkdtemp(prefix="moneda-templates-")
        atexit.register(shutil.rmtree, os.environ[_FOLDER])
    return os.environ[_FOLDER]


_FOLDER = "MONEDA_TEST_TEMPLATES"


class _Templates(FileSystemBytecodeCache):
    """Code itself, and its bytes for other processes: reading these takes as long as all else of getting a template."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.kept: dict[str, tuple[str, CodeType]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self.kept.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code
            return
        super().load_bytecode(bucket)
        if bucket.code is not None:
            self.kept[bucket.key] = (bucket.checksum, bucket.code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None
        self.kept[bucket.key] = (bucket.checksum, bucket.code)
        super().dump_bytecode(bucket)


class _Map(Map):
    """The addresses of an application: of what making one takes, most is to read them and to put them in their order.

    They are taken in when somebody first asks for them: from an application before, where it had just the same.
    """

    kept: dict[tuple[object, ...], tuple[Any, dict[Any, list[Rule]]]] = {}  # noqa: RUF012 - one for all applications

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.added: list[Rule] = []
        super().__init__(*arguments, **options)

    def add(self, rulefactory: RuleFactory) -> None:
        for rule in rulefactory.get_rules(self):
            # As it is now, as a map does that takes routes in at once: an application may change it later.
            if rule.merge_slashes is None:
                rule.merge_slashes = self.merge_slashes
            self.added.append(rule)
        self._remap = True

    def update(self) -> None:
        if not self._remap:
            return
        with _ONE_AT_A_TIME:
            if not self._remap:
                return
            ways = self.merge_slashes, self.strict_slashes, self.host_matching, *self.converters.items()
            key = *ways, *map(_describe, self.added)
            if key not in self.kept:
                self.kept[key] = self._take_in()
            self._matcher, self._rules_by_endpoint = self.kept[key]
            self._remap = False

    def _take_in(self) -> tuple[Any, dict[Any, list[Rule]]]:
        made = Map(
            strict_slashes=self.strict_slashes,
            merge_slashes=self.merge_slashes,
            host_matching=self.host_matching,
            converters=self.converters,
        )
        for rule in self.added:
            made.add(copy(rule))
        made.update()
        return made._matcher, made._rules_by_endpoint


_ONE_AT_A_TIME = Lock()


def _describe(rule: Any) -> tuple[object, ...]:
    """All in which a route can differ from another."""
    place = (rule.rule, rule.endpoint, rule.subdomain, rule.host, repr(rule.defaults), rule.redirect_to)
    ways = (rule.strict_slashes, rule.merge_slashes, rule.build_only, rule.alias, rule.websocket)
    methods = None if rule.methods is None else frozenset(rule.methods)
    return (*place, *ways, methods, rule.provide_automatic_options)


def _share_statements(dialect: type[sa.Dialect]) -> None:
    """Make engines of one kind of database share compiled statements: `server.store.engines` makes all of them.

    SQLAlchemy keeps them for each engine, and looks them up by the dialect, which is another object in each.
    """
    kept = LRUCache[Any, Any](2000)

    def share(_: type[sa.Dialect], engine: sa.Engine) -> None:
        engine._compiled_cache = kept

    dialect.engine_created = classmethod(share)  # type: ignore[assignment]
    dialect.__eq__ = lambda one, other: type(one) is type(other)  # type: ignore[assignment,method-assign]
    dialect.__hash__ = lambda one: hash(type(one))  # type: ignore[method-assign]
