"""What a process does before it takes requests, so that nobody waits for it who looks at results first."""

from flask import Flask
from jinja2 import meta

from server.web.first_results import prepare_results

PAGE = "results/live.html"


def list_needed(app: Flask, name: str) -> set[str]:
    """A template with all that it names, and that these name."""
    loader = app.jinja_env.loader
    assert loader is not None
    source, _path, _fresh = loader.get_source(app.jinja_env, name)
    named = meta.find_referenced_templates(app.jinja_env.parse(source))
    return {name}.union(*(list_needed(app, other) for other in named if other))


def test_every_template_of_results_is_compiled(app: Flask) -> None:
    def list_compiled() -> set[str]:
        cache = app.jinja_env.cache
        assert cache is not None
        return {name for _loader, name in cache}

    needed = list_needed(app, PAGE)
    assert len(needed) > 12
    assert not needed <= list_compiled()

    prepare_results(app)

    assert needed - list_compiled() == set()
