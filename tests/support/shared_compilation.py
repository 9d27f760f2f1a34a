"""What applications and engines read and compile, kept from test to test: nearly every test makes both anew.

Templates, addresses and statements become code by what they say alone, so what one application or engine has compiled
holds for the next. A server that runs for long compiles each once, too.
"""

from functools import cache
from types import CodeType, MethodType
from typing import Any

import sqlalchemy as sa
from flask import Flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache
from werkzeug.routing import Rule

from server.web import assets, page_manifest


def keep() -> None:
    """Let every application and engine of this process take what an earlier one has compiled."""
    # Jinja compares each template's source with that of the code before it takes it.
    Flask.jinja_options = {"bytecode_cache": _Templates()}
    Flask.url_rule_class = _Rule
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


class _Templates(BytecodeCache):
    """Code itself, not its bytes: reading these takes as long as all else that getting a template does."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, CodeType]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self.kept.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None
        self.kept[bucket.key] = (bucket.checksum, bucket.code)


class _Rule(Rule):
    """A route. Of what making an application takes, nine tenths are its addresses: read, and made into functions."""

    kept: dict[tuple[object, ...], Any] = {}  # noqa: RUF012 - one for all routes

    def compile(self) -> None:
        place = (self.rule, self.subdomain, self.host, repr(self.defaults))
        key = (*place, self.merge_slashes, self.map.host_matching, *self.map.converters.items())
        if key not in self.kept:
            super().compile()
            made: Any = self
            functions = made._build.__func__, made._build_unknown.__func__
            self.kept[key] = (self._parts, self._trace, self._converters, functions)
        self._parts, self._trace, self._converters, functions = self.kept[key]
        self.arguments.update(self._converters)
        self._build, self._build_unknown = (MethodType(each, self) for each in functions)


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
