"""Every catalogue is complete, and people are answered in their language."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from babel.messages import Message
from babel.messages.pofile import write_po
from flask.testing import FlaskClient

from server.output.formatting import day, integer
from server.output.languages import FOR_RESPONDENTS, RESPONDENT_LANGUAGES, TRANSLATED
from server.study import surveys
from server.study.kinds import KINDS
from tests.support import factories
from tests.support.catalogue_words import TRANSLATIONS, catalogue, messages, texts
from tests.support.complete_catalogues import compile_complete

VALUE = r"%\(\w+\)(?:[sd]|\.\df)"
PLACEHOLDER = re.compile(VALUE + r"|\{\w+\}|</?\w+>")
STRAIGHT = re.compile(r"(?<=\w)'(?=\w|\s)")
"""An apostrophe as programs have it; people read the one that printers use, on every page and in every report."""
SPANISH = {"Accept-Language": "es"}


def flaws(message: Message) -> list[str]:
    """What is wrong with the translation of one message."""
    ours, theirs = texts(message.id), texts(message.string)
    found = [
        f"{name}: {ours[0]!r}"
        for name, wrong in (("fuzzy", message.fuzzy), ("empty", not all(theirs)))
        if wrong
    ]
    found += [f"a straight apostrophe: {text!r}" for text in (*ours, *theirs) if STRAIGHT.search(text)]
    for translated, text in zip_longest(theirs, ours, fillvalue=ours[-1]):
        if not translated:
            continue
        if sorted(PLACEHOLDER.findall(translated)) != sorted(PLACEHOLDER.findall(text)):
            found.append(f"other placeholders: {translated!r}")
        if "python-format" in message.flags and "%" in re.sub(VALUE, "", translated.replace("%%", "")):
            found.append(f"a bare percent sign: {translated!r}")
    return found


def test_collecting_the_messages_again_changes_nothing(tmp_path: Path) -> None:
    again = tmp_path / "translations"
    shutil.copytree(TRANSLATIONS, again)
    make = [
        "make",
        "messages",
        "--old-file=.venv/.installed",
        f"PY={sys.executable}",
        f"TRANSLATIONS={again}",
    ]
    subprocess.run(make, cwd=factories.ROOT, check=True, capture_output=True)
    for language in (*TRANSLATED, *FOR_RESPONDENTS):
        for name in ("messages.po", "messages.mo"):
            path = Path(language) / "LC_MESSAGES" / name
            assert (again / path).read_bytes() == (TRANSLATIONS / path).read_bytes(), (
                f"run make messages: {path}"
            )


@pytest.mark.parametrize("language", [*TRANSLATED, *FOR_RESPONDENTS])
def test_every_message_is_translated_with_the_same_placeholders(language: str) -> None:
    assert len(messages(language)) > 200
    assert [flaw for message in messages(language) for flaw in flaws(message)] == []


def test_a_flawed_translation_is_noticed() -> None:
    assert flaws(Message("Send", "")) == ["empty: 'Send'"]
    assert flaws(Message("Send", "Enviar", flags=["fuzzy"])) == ["fuzzy: 'Send'"]
    assert flaws(Message("{k} of {n}", "{k} de {m}")) == ["other placeholders: '{k} de {m}'"]
    assert flaws(Message("10 %%: %(n)d", "10 %: %(n)d", flags=["python-format"])) == [
        "a bare percent sign: '10 %: %(n)d'"
    ]
    assert flaws(Message("nobody's", "de nadie")) == ['a straight apostrophe: "nobody\'s"']
    assert flaws(Message("nobody’s", "l'avis")) == ['a straight apostrophe: "l\'avis"']
    assert flaws(Message("${q} = 'x'", "${q} = 'x'")) == []
    assert flaws(Message(("1 of %(n)s", "%(k)s of %(n)s"), ("1 de %(n)s", "%(k)s de %(n)s"))) == []
    assert (
        flaws(Message(("1 of %(n)s", "%(k)s of %(n)s"), ("uno", "uno"))) == ["other placeholders: 'uno'"] * 2
    )


def test_a_language_with_a_gap_is_not_offered(tmp_path: Path) -> None:
    """Its compiled catalogue, without which nobody is offered it, is withdrawn; be the gap one form of a plural."""
    assert {"fr", "pt", "ar"} <= set(FOR_RESPONDENTS) <= set(RESPONDENT_LANGUAGES)
    for gap in (("Uma", ""), "", "fuzzy", None):
        kept = catalogue("pt")
        for message in kept:
            if gap is not None and message.pluralizable == isinstance(gap, tuple) and message.id:
                message.string = "Uma" if gap == "fuzzy" else gap
                message.flags |= {"fuzzy"} if gap == "fuzzy" else set()
                break
        folder = tmp_path / "pt" / "LC_MESSAGES"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "messages.po").open("wb") as file:
            write_po(file, kept)
        assert compile_complete(tmp_path, "pt") == (gap is not None)
        assert (folder / "messages.mo").exists() == (gap is None)


def test_what_respondents_read_is_in_every_catalogue() -> None:
    """Each text of their templates, as the catalogue of the whole interface names where it stands; answers we word."""
    theirs = (
        "templates/respond/",
        "templates/base.html",
        "templates/_headline.html",
        "templates/errors/error.html",
    )
    wanted = {
        str(message.id)
        for message in messages("es")
        if any(name.startswith(theirs) for name, _ in message.locations)
    }
    assert len(wanted) > 300
    wanted |= {text for kind in KINDS.values() for text in kind.fixed.values()}
    for language in FOR_RESPONDENTS:
        assert wanted - {str(message.id) for message in messages(language)} == set()


@pytest.mark.parametrize("language", FOR_RESPONDENTS)
def test_whatever_a_respondent_is_refused_with_is_translated(
    client: FlaskClient, survey: factories.Published, language: str
) -> None:
    """Each odd response, look and address is refused in other words than in English."""
    bodies: list[dict[str, Any]] = [
        {"json": survey.response(**changes)}
        for changes in (
            {"reports": [7, 0]},
            {"reports": [0]},
            {"reports": "x"},
            {"reports": [0.5, 0]},
            {"reports": [999, 0]},
            {"id": "x"},
            {"version": "x"},
            {"version": "0" * 64},
            {"invitation": "x"},
            {"more": 1},
        )
    ]
    bodies += [{"json": []}, {"json": {}}, {"data": b"{}", "content_type": "text/plain"}]
    bodies += [
        {"data": data, "content_type": "application/json"}
        for data in (
            b"",
            b"{",
            b"\xff",
            b"NaN",
            b'{"id": 1, "id": 1}',
            b'["\\u0000"]',
            b'["\\ud800"]',
            b"[" * 5000,
            b" " * 90000,
        )
    ]
    asked = [(survey.url, body) for body in bodies]
    asked += [("/s/nothing/responses", bodies[0]), (f"/s/{survey.slug}/receipt.json", {"json": {}})]
    asked += [
        (f"/s/{survey.slug}/{name}.json", {"json": {name: "x"}}) for name in ("code", "receipt", "withdrawal")
    ]
    asked += [(f"/s/{survey.slug}/nothing/at/all", {"data": {}})]
    for address, body in asked:
        english, theirs = (
            client.post(address, headers={"Accept-Language": code}, **body) for code in ("en", language)
        )
        assert english.status_code == theirs.status_code >= 400
        said = [
            (answer.json or {}).get("error", {}).get("message") or answer.text for answer in (english, theirs)
        ]
        assert said[0] != said[1], (address, body, said)


@pytest.mark.parametrize(
    ("changes", "field_name", "message"),
    [
        ({"reports": [7, 0]}, "reports[0]", "debe ser un número entero de 0 a 1; es 7"),
        ({"reports": [0]}, "reports", "debe tener 2 elementos, uno por pregunta; tiene 1"),
        ({"id": "x"}, "id", "debe tener 32 cifras hexadecimales en minúscula; es x"),
    ],
)
def test_a_refusal_comes_in_the_language_asked_for(
    client: FlaskClient,
    survey: factories.Published,
    changes: dict[str, object],
    field_name: str,
    message: str,
) -> None:
    answer = client.post(survey.url, json=survey.response(**changes), headers=SPANISH)
    assert answer.status_code == 422
    assert answer.json == {"error": {"field": field_name, "message": message}}


def test_dates_and_numbers_are_written_in_spanish(
    signed_in: FlaskClient, survey: factories.Published
) -> None:
    overview = signed_in.get(f"/manage/surveys/{survey.slug}?lang=es").text
    assert day(surveys.today(), "es") in overview
    assert "ε = 1,51" in overview
    assert re.search(r"<output [^>]*>γ = 0,25</output>", signed_in.get("/manage/surveys/new").text)
    assert integer(1537, "es") == "1537"
    assert integer(15370, "es") == "15.370"


def test_a_problem_in_the_editor_names_the_field_in_spanish(signed_in: FlaskClient) -> None:
    form = {"title": "", "questions[0].kind": "yes_no", "questions[0].text": "", "language": "es"}
    page = signed_in.post("/manage/surveys/new?lang=es", data=form, follow_redirects=True).text
    alert = page.partition('role="alert"')[2].partition("</ul>")[0]
    told = re.findall(r"<a [^>]*>([^<]*)</a>: ([^<]*)</li>", alert)
    assert ("Título", "no debe estar vacío") in told
    assert ("Pregunta 1, enunciado", "no debe estar vacío") in told


def find_texts(source: str) -> Iterator[str]:
    """Whatever a module of the server hands to gettext as it stands there."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _name_of(node.func) in {"_", "N_", "E_", "gettext", "ngettext"}:
            for given in node.args[: 2 if _name_of(node.func) == "ngettext" else 1]:
                if isinstance(given, ast.Constant) and isinstance(given.value, str):
                    yield given.value


def _name_of(called: ast.expr) -> str:
    return (
        called.id
        if isinstance(called, ast.Name)
        else called.attr
        if isinstance(called, ast.Attribute)
        else ""
    )


def test_no_text_is_missed_when_they_are_collected() -> None:
    """As one that stands inside a formatted string in double quotes would be."""
    collected = {text for message in messages("es") for text in texts(message.id)}
    missed = {
        (path.name, text)
        for path in (factories.ROOT / "server").rglob("*.py")
        for text in find_texts(path.read_text("utf-8"))
        if text not in collected
    }
    assert missed == set()
    assert list(find_texts("f\"{text} {_('Not collected.')}\"")) == ["Not collected."]
