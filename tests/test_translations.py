"""Every catalogue is complete, and people are answered in their language."""

import re
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest
from babel.messages import Message
from flask.testing import FlaskClient

from server.output.formatting import day, integer
from server.output.languages import TRANSLATED
from server.study import surveys
from tests.support import factories
from tests.support.catalogue_words import TRANSLATIONS, messages, texts

VALUE = r"%\(\w+\)(?:[sd]|\.\df)"
PLACEHOLDER = re.compile(VALUE + r"|\{\w+\}|</?\w+>")
SPANISH = {"Accept-Language": "es"}


def flaws(message: Message) -> list[str]:
    """What is wrong with the translation of one message."""
    ours, theirs = texts(message.id), texts(message.string)
    found = [
        f"{name}: {ours[0]!r}"
        for name, wrong in (("fuzzy", message.fuzzy), ("empty", not all(theirs)))
        if wrong
    ]
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
    for language in TRANSLATED:
        for name in ("messages.po", "messages.mo"):
            path = Path(language) / "LC_MESSAGES" / name
            assert (again / path).read_bytes() == (TRANSLATIONS / path).read_bytes(), (
                f"run make messages: {path}"
            )


@pytest.mark.parametrize("language", TRANSLATED)
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
    assert flaws(Message(("1 of %(n)s", "%(k)s of %(n)s"), ("1 de %(n)s", "%(k)s de %(n)s"))) == []
    assert (
        flaws(Message(("1 of %(n)s", "%(k)s of %(n)s"), ("uno", "uno"))) == ["other placeholders: 'uno'"] * 2
    )


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
