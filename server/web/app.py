"""The factory: it assembles, and nothing happens when this module is imported."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any
from urllib.parse import urlencode

import sqlalchemy as sa
from flask import Flask, Response, abort, current_app, g, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import Babel, get_locale
from jinja2 import StrictUndefined
from sqlalchemy.exc import SQLAlchemyError

from server import __version__
from server.collect.proofs_of_work import SECONDS_OF_AN_OLD_PHONE
from server.config import ROOT, TRANSLATIONS, Config, from_environment
from server.output.formatting import filters
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES, RESPONDENT_LANGUAGES
from server.output.markdown import strip_marks
from server.releases.kinds import title_of
from server.reports.findings import is_told, list_marks
from server.store.engines import NAME, SERVING_PATIENCE, make_engine, open_session
from server.store.failures import describe_failure
from server.store.schema_fit import watch_revision
from server.study.answer_texts import FOR_TEMPLATES
from server.study.study_sheets import split_line
from server.web import api, assets, error_pages, form_ends, page_manifest, response_headers, security, views
from server.web.api.operations import blueprint as operations_of_programs
from server.web.body_limits import FORM, find_limit
from server.web.digit_choice import add_digits, find_digits, list_digits
from server.web.handbook import find_place
from server.web.housekeeping import Housekeeper
from server.web.language_choice import LANGUAGE_COOKIE, VARIES, choose_language, find_offered
from server.web.respondent_modules import OF_RECEIPTS, WORD_LISTS, list_files
from server.web.webhooks.deliverer import Deliverer
from server.web.work_progress import WorkTable

for _module in iter_modules(api.__path__):
    import_module(f"{api.__name__}.{_module.name}")  # each adds its operations
VIEWS = tuple(import_module(f"{views.__name__}.{each.name}") for each in iter_modules(views.__path__))
"""Every module of `server.web.views`: each has a `blueprint`."""


def create_app(config: Config | None = None, name: str = NAME) -> Flask:
    """The WSGI application on a database that `server.store.engines.migrate` has prepared.

    `server.web.front` stands before it wherever it is served: it takes responses, and what arrives here is whole.
    `name` is what PostgreSQL calls its connections.
    """
    config = config or from_environment()
    app = Flask(__name__, template_folder=str(ROOT / "templates"), static_folder=None)
    app.request_class = form_ends.FormRequest
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals["form_end"] = form_ends.FIELD
    app.jinja_env.globals.update(FOR_TEMPLATES, title_of=title_of, split_line=split_line)
    app.jinja_env.globals.update(is_told=is_told, list_marks=list_marks)
    app.jinja_env.filters[strip_marks.__name__] = strip_marks
    app.extensions["moneda.config"] = config
    app.extensions["moneda.engine"] = make_engine(config.database_url, SERVING_PATIENCE, name)
    watch_revision(app.extensions["moneda.engine"])
    # Whoever serves the application starts it, and stops it in the end.
    app.extensions["moneda.housekeeper"] = Housekeeper(app.extensions["moneda.engine"])
    app.extensions["moneda.deliverer"] = Deliverer(app.extensions["moneda.engine"], config)
    app.extensions["moneda.works"] = WorkTable()
    _add_languages(app, config)
    _add_client_files(app)
    _add_sessions(app)
    app.before_request(security.refuse_other_origins)
    app.before_request(_limit_body)
    app.before_request(form_ends.refuse_cut_forms)
    app.after_request(response_headers.add_headers)
    for view in VIEWS:
        app.register_blueprint(view.blueprint)
    app.register_blueprint(operations_of_programs)
    # No redirects by the router: they would name the host, and http, that a request claims.
    app.url_map.merge_slashes = False
    app.add_url_rule("/", "home", _home)
    error_pages.register(app)
    return app


def _home() -> ResponseReturnValue:
    return render_template("home.html")


def _limit_body() -> None:
    """As the front does; a file of an upload goes to the disk, and what else a form holds into memory."""
    limit = find_limit(current_app, request.endpoint)
    request.max_content_length = limit.size
    request.max_form_memory_size = FORM.size if limit.upload else limit.size


def _add_languages(app: Flask, config: Config) -> None:
    Babel(
        app,
        default_locale=DEFAULT_LANGUAGE,
        default_translation_directories=str(TRANSLATIONS),
        locale_selector=lambda: choose_language(request),
    )

    app.after_request(_remember_language)
    app.jinja_env.globals["help_on"] = lambda blueprint: find_place(blueprint, _read_locale())
    add_digits(app, filters(_read_locale))
    app.context_processor(lambda: _say_everywhere(config))


def _say_everywhere(config: Config) -> dict[str, Any]:
    """What every page may say: of its language, its reader and this installation."""
    locale = _read_locale()
    return {
        "locale": locale,
        "direction": RESPONDENT_LANGUAGES[locale].direction,
        "word_lists": WORD_LISTS,
        "words_language": locale if locale in WORD_LISTS else "en",
        **_list_languages(),
        "digits_here": find_digits(),
        "version_of_moneda": __version__,
        "may": security.may,
        "reader": security.get_reader(),
        "sends_webhooks": config.webhooks,
        "proof_of_work": config.proof_of_work.value,
        "asks_for_work": config.proof_of_work.is_asked,
        "seconds_of_work": round(SECONDS_OF_AN_OLD_PHONE),
    }


def _read_locale() -> str:
    return str(get_locale() or DEFAULT_LANGUAGE)


def _list_languages() -> dict[str, list[Any]]:
    """Code, name and address of the page in each language, and its choices of digits."""
    here = request.method in ("GET", "HEAD") and request.endpoint is not None
    path = url_for(request.endpoint, **(request.view_args or {})) if here and request.endpoint else "/"
    # Not by url_for: what somebody put into the query must not become one of its own arguments.
    asked = request.args.to_dict() if here else {}
    offered = find_offered(request.path) if here else LANGUAGES
    return {
        "languages": [
            (code, language.name, f"{path}?{urlencode({**asked, 'lang': code})}")
            for code, language in offered.items()
        ],
        "digit_choices": list_digits(path, asked, offered),
    }


def _remember_language(response: Response) -> Response:
    # Only for researchers: a respondent's browser is given no cookie at all.
    wanted = request.args.get("lang")
    if request.path.startswith(security.COOKIE_PATH) and wanted in LANGUAGES:
        response.set_cookie(
            LANGUAGE_COOKIE,
            wanted,
            max_age=31536000,
            path=security.COOKIE_PATH,
            httponly=True,
            samesite="Lax",
        )
    response.headers.add("Vary", VARIES)
    return response


def _add_client_files(app: Flask) -> None:
    known = app.extensions["moneda.assets"] = assets.read_assets()

    def client_file(fingerprint: str, name: str) -> Response:
        if fingerprint != known.fingerprint or name not in known.integrity:
            abort(404)
        response: Response = app.make_response(known.contents[name])
        response.mimetype = assets.TYPES.get(Path(name).suffix, "text/plain")
        if name not in OF_RECEIPTS:
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        if name == assets.OFFLINE_WORKER:
            response.headers["Service-Worker-Allowed"] = "/s/"
        return response

    manifest = page_manifest.write_manifest(page_manifest.make_manifest(known))

    def client_manifest() -> Response:
        return Response(manifest, mimetype="application/json")

    app.add_url_rule("/client/<fingerprint>/<name>", "client", client_file)
    app.add_url_rule(page_manifest.PATH, "client_manifest", client_manifest)
    app.jinja_env.globals["client_url"] = lambda name: url_for(
        "client", fingerprint=known.fingerprint, name=name
    )
    app.jinja_env.globals["client_integrity"] = known.integrity.__getitem__
    app.jinja_env.globals["script_files"] = list_files


def _add_sessions(app: Flask) -> None:
    engine: sa.Engine = app.extensions["moneda.engine"]

    def open_for_request() -> None:
        # Opening is lazy: a request that asks nothing of the database does not touch it.
        g.session = open_session(engine, writes=request.method not in security.SAFE_METHODS)

    def close_after_request(_error: BaseException | None) -> None:
        opened = g.pop("session", None)
        if opened is None:
            return
        try:
            opened.close()
        except SQLAlchemyError as error:
            # What was answered is whole, and what it says was stored is: only the connection cannot be used again.
            app.logger.error("%s after an answer was made", describe_failure(error))
            opened.invalidate()

    app.before_request(open_for_request)
    app.teardown_appcontext(close_after_request)
