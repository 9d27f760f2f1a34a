"""The form on paper: every throw of its tables counted, both languages read back, and why others have none."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from server.output.languages import RESPONDENT_LANGUAGES
from server.people import survey_access
from server.privacy.designs import TOTAL, Throws, coin_flip, k_ary, plan_throws
from server.store.models import SurveyVersion
from server.study.by_hand import KEYS, list_paper_obstacles, list_paper_questions
from server.study.by_hand.throw_tables import ThrowRow, list_rows
from server.study.by_hand.throwing import list_obstacles
from server.study.definitions.definition_reader import parse_definition
from server.study.kinds.designing import DEVICES
from tests.support import factories
from tests.support.factories import ROOT
from tests.support.pdf_reader import Piece, list_pieces, pages

FACES = {"coin": (0, 1), "die": tuple(range(1, 7)), "disc": tuple(range(10))}
"""What each device shows; of a coin, 0 is heads."""
OPTIONS = ("money", "time", "fun", "other")
WHY = {
    "name": "why",
    "kind": "select_one",
    "text": "Why did you?",
    "options": [{"name": name, "text": name.title()} for name in OPTIONS],
    "design": {"mechanism": "k_ary", "epsilon": 1.0986122886681098},
}
DISC = factories.question("q3", "Question 3?", 0.2)
DOCUMENT = factories.definition(
    format=2,
    introduction="We ask about **exams**.",
    consent="I know what this is for.",
    least_age=16,
    questions=[
        factories.question("q1", "Have you copied?", 0.25),
        {"name": "part", "kind": "section", "text": "More of it"},
        WHY,
        DISC,
    ],
    translations={"es": {"Exams": "Exámenes", "Have you copied?": "¿Has copiado?", "Money": "Dinero"}},
)
DESIGNS = [coin_flip(place / 100) for place in range(1, 50)] + [k_ary(4, 1.0986122886681098), k_ary(3, 1.0)]


MADE = {
    "warner": {"truth": 0.75},
    "forced_response": {"truth": 2 / 3, "yes": 1 / 6},
    "unrelated_question": {"truth": 0.5, "prevalence": 0.5, "innocuous": "Heads?"},
    "kuk": {"if_yes": 0.75, "if_no": 0.25},
    "crosswise": {"prevalence": 0.25, "innocuous": "Born in spring?"},
}
"""Designs of Yes or No whose chances three throws can give."""
STRONG = ("coin_flip", "k_ary", "ordinal", "unary", "symmetric_unary", "stochastic_rounding")
"""Those that are stated by their strength: here that of two fair coins."""


@pytest.mark.parametrize("page", ["paper.md", "papel.md"])
def test_the_page_says_which_designs_have_a_form(page: str) -> None:
    rows = re.findall(
        r"^\| ([^|]*`[^|]+) \| (\w+) \|", (ROOT / "docs" / page).read_text("utf-8"), re.MULTILINE
    )
    said = {name: word for names, word in rows for name in re.findall(r"`(\w+)`", names)}
    assert set(said) == {*DEVICES, *STRONG}
    for name, word in said.items():
        assert (word in ("yes", "sí")) is not any(list_obstacles(publish_entries(name))), name
    # The twin: Warner's design whose opposite is likelier has none.
    assert any(list_obstacles(publish_entries("warner", truth=0.25)))


def publish_entries(mechanism: str, **parameters: Any) -> list[dict[str, Any]]:
    """The entries of a published survey with a question under a design."""
    if mechanism in MADE or mechanism == "coin_flip":
        stated = {"mechanism": mechanism, **MADE.get(mechanism, {"gamma": 0.25}), **parameters}
        question = {"name": "q", "kind": "yes_no", "text": "Q?", "design": stated}
    elif mechanism == "stochastic_rounding":
        question = {"name": "q", "kind": "number", "text": "Q?", "low": 0, "high": 10, "step": 1}
        question |= {"design": {"mechanism": mechanism, "epsilon": 1.0986122886681098}}
    else:
        kind = "scale" if mechanism == "ordinal" else "select_one"
        question = {**WHY, "kind": kind, "design": {"mechanism": mechanism, "epsilon": 1.0986122886681098}}
    definition = parse_definition(factories.definition(format=2, questions=[question]))
    entries: list[dict[str, Any]] = json.loads(definition.to_canonical())["questions"]
    return entries


def read_version(database_url: str, slug: str) -> SurveyVersion:
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        assert survey.current is not None
        session.expunge(survey.current)
        return survey.current


def count_shares(throws: Throws, rows: Sequence[ThrowRow]) -> list[list[Fraction]]:
    """What comes of a table for each true answer, every outcome of the throws counted."""
    outcomes = list(product(FACES[throws.device], repeat=throws.times))
    answers = range(len(throws.chance))
    shares = [[Fraction() for _ in answers] for _ in answers]
    for outcome in outcomes:
        (row,) = [row for row in rows if row.holds(outcome)]
        for truth in answers:
            shares[truth][truth if row.answer is None else row.answer] += Fraction(1, len(outcomes))
    return shares


def differs(shares: Sequence[Sequence[Fraction]], weights: Sequence[Sequence[int]]) -> bool:
    """Whether shares are others than those of weights, which are rounded by less than one for each answer."""
    return any(
        abs(share * TOTAL - weight) >= len(weights)
        for row, own in zip(shares, weights, strict=True)
        for share, weight in zip(row, own, strict=True)
    )


@pytest.mark.parametrize("backwards", [False, True])
def test_every_outcome_of_a_table_is_counted_and_gives_the_design(backwards: bool) -> None:
    for design in DESIGNS:
        throws = plan_throws(design)
        if throws is None:  # k_ary(3, 1.0) is none that can be thrown
            continue
        order = list(range(len(throws.chance)))[:: -1 if backwards else 1]
        rows = list(list_rows(throws, order))
        assert not differs(count_shares(throws, rows), design.weights.tolist())


def test_a_table_with_one_outcome_moved_is_noticed() -> None:
    """The twin: an outcome more that keeps the own answer, and one fewer that gives the first."""
    for design in DESIGNS:
        throws = plan_throws(design)
        if throws is None:
            continue
        moved = replace(throws, own=throws.own + 1, chance=(throws.chance[0] - 1, *throws.chance[1:]))
        rows = list(list_rows(moved, range(len(moved.chance))))
        assert differs(count_shares(moved, rows), design.weights.tolist())


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            (
                "Exams",
                "Have you copied?",
                "This survey is meant for people of 16 years or more.",
                "Throw 2 coins, one after the other.",
                "Throw the die once.",
                "Spin the clip once.",
                "In 2 of 4 throws, each as likely as the others, you write the letter of your own answer.",
                "In 4 of 10 throws",
                "More of it",
            ),
        ),
        (
            "es",
            ("Exámenes", "¿Has copiado?", "Lanza 2 monedas, una tras otra.", "Dinero", "Why did you?"),
        ),
    ],
)
def test_the_form_says_who_asks_what_and_how_to_throw(
    database_url: str, tmp_path: Path, language: str, said: Sequence[str]
) -> None:
    survey = factories.publish(database_url, DOCUMENT)
    file = tmp_path / "form.pdf"

    done = factories.run(
        database_url, "survey", "paper", survey.slug, "--to", str(file), "--language", language
    )

    assert done.exit_code == 0, done.output
    text = read_text(file)
    for words in (*said, "We ask about", "I know what this is for.", survey.version[:8]):
        assert join_text(words) in text, words
    for key in KEYS[:4]:
        assert key in text
    again = tmp_path / "again.pdf"
    assert (
        factories.run(
            database_url, "survey", "paper", survey.slug, "--to", str(again), "--language", language
        ).exit_code
        == 0
    )
    assert again.read_bytes() == file.read_bytes()


def print_form(database_url: str, folder: Path, printed: str, /, **changes: Any) -> list[list[Piece]]:
    """What stands where on each page of the form of a survey."""
    survey = factories.publish(database_url, factories.definition(format=2, **changes))
    file = folder / "printed.pdf"
    done = factories.run(
        database_url, "survey", "paper", survey.slug, "--to", str(file), "--language", printed
    )
    assert done.exit_code == 0, done.output
    return list_pieces(file.read_bytes())


@pytest.mark.parametrize("language", RESPONDENT_LANGUAGES)
def test_the_disc_is_the_same_wherever_lines_begin(database_url: str, tmp_path: Path, language: str) -> None:
    page, *_ = print_form(database_url, tmp_path, language, questions=[DISC])

    fields = [piece for piece in page if b" 15 Tf" in piece.drawn]
    lines = [piece for piece in page if b" 0.6 w " in piece.drawn]

    assert [field.text.strip() for field in fields] == list("0123456789")
    assert {(line.x, line.y) for line in lines} == {(lines[0].x, lines[0].y)}
    assert len(lines) == 10
    for field in fields:
        assert math.dist((field.x, field.y), (lines[0].x, lines[0].y)) < 31 / 25.4 * 72
        assert (field.x > lines[0].x) == (int(field.text) < 5)


def test_a_form_follows_the_digits_that_are_chosen(database_url: str, tmp_path: Path) -> None:
    """Every number of it, but the hash of its version and what whoever asks wrote."""
    document = factories.definition(
        format=2, title="Room 12", consent="Fine.", least_age=16, questions=[{**DISC, "text": "Which?"}]
    )
    survey = factories.publish(database_url, document)
    said = {}
    for reading in ("ar", "ar-u-nu-arab"):
        file = tmp_path / f"{reading}.pdf"
        arguments = "survey", "paper", survey.slug, "--to", str(file), "--language", reading
        assert factories.run(database_url, *arguments).exit_code == 0
        text = "".join(piece.text for page in list_pieces(file.read_bytes()) for piece in page)
        said[reading] = text.replace("Room 12", "").replace(survey.version[:8], "")

    assert re.findall("[0-9]", said["ar-u-nu-arab"]) == []
    assert set(re.findall("[٠-٩]", said["ar-u-nu-arab"])) == set("٠١٢٣٤٥٦٧٨٩")
    # The twin: a form with the other digits has the numbers that this one must not have.
    assert set(re.findall("[0-9]", said["ar"])) == set("0123456789")


@pytest.mark.parametrize("language", RESPONDENT_LANGUAGES)
def test_coins_that_are_thrown_together_stand_on_one_line(
    database_url: str, tmp_path: Path, language: str
) -> None:
    """One below the others would look like another throw."""
    page, *_ = print_form(
        database_url, tmp_path, language, questions=[factories.question("q1", "Have you copied?", 0.125)]
    )

    heights = Counter(round(piece.y, 1) for piece in page if b" 0.7 w " in piece.drawn)

    assert set(heights.values()) == {3}
    assert len(heights) == 5


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("written", ["en", "ar"])
def test_marks_of_a_question_stand_in_its_own_direction(
    database_url: str, tmp_path: Path, language: str, written: str
) -> None:
    question = factories.question("q1", "Have you copied?", 0.25)
    page, *_ = print_form(database_url, tmp_path, language, language=written, questions=[question])

    (asked,) = [piece.text for piece in page if "copied" in piece.text]

    assert asked.strip().endswith("copied?")


def test_a_long_title_hides_no_version(database_url: str, tmp_path: Path) -> None:
    title = "Of copying in exams, and what comes of it. " * 4
    page, *_ = print_form(database_url, tmp_path, "en", title=title, questions=[DISC])

    (version,) = [piece for piece in page if piece.text.startswith("version 1, ")]
    (number,) = [piece for piece in page if piece.text.startswith("1 / ")]

    assert version.y == number.y
    assert version.x < number.x


def test_a_question_that_is_longer_than_a_page_goes_on_on_the_next(database_url: str, tmp_path: Path) -> None:
    options = [{"name": f"o{place}", "text": f"{place} " + "many words " * 17} for place in range(10)]
    design = {"mechanism": "k_ary", "epsilon": 4.51085950651685}  # ln 91: thrown with a disc, twice
    long = {**WHY, "text": "word\n\n\n" * 70, "options": options, "design": design}

    printed = print_form(database_url, tmp_path, "en", questions=[long])

    for page in printed:
        (number,) = [piece for piece in page if f" / {len(printed)}" in piece.text]
        assert [piece for piece in page if piece.y <= number.y and piece.text and piece.y != number.y] == []


def join_text(text: str) -> str:
    """Without what typesetting changes: spaces and ends of lines."""
    return "".join(text.split())


def read_text(file: Path) -> str:
    return join_text("".join(page.text for page in pages(file.read_bytes())))


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (factories.question("q1", "Odd?", 0.2001), "has chances that three throws"),
        (
            {**WHY, "kind": "select_multiple", "design": {"mechanism": "coin_flip", "epsilon": 4.0}},
            "may have several",
        ),
        ({**WHY, "design": {"mechanism": "unary", "epsilon": 1.0}}, "sends each of its answers apart"),
        (
            {**factories.question("q1"), "design": {"mechanism": "kuk", "if_yes": 0.8, "if_no": 0.2}},
            "is randomised by a device of its own",
        ),
    ],
)
def test_what_cannot_be_thrown_is_named_and_there_is_no_form(
    database_url: str, tmp_path: Path, entry: dict[str, Any], why: str
) -> None:
    document = factories.definition(questions=[factories.question("easy", "Easy?", 0.25), entry])
    survey = factories.publish(database_url, document)
    file = tmp_path / "form.pdf"

    done = factories.run(database_url, "survey", "paper", survey.slug, "--to", str(file))

    assert done.exit_code == 2
    assert f"questions[1]: {why}" in done.stderr
    assert "questions[0]" not in done.stderr
    assert not file.exists()
    assert list_paper_obstacles(read_version(database_url, survey.slug))


def test_no_command_writes_over_a_file_that_is_there(database_url: str, tmp_path: Path) -> None:
    survey = factories.publish(database_url)
    file = tmp_path / "mine.html"
    file.write_text("mine")
    for option, arguments in (
        ("--to", ("survey", "paper", survey.slug, "--to")),
        ("FILE.xlsx", ("survey", "form", survey.slug)),
        ("--output", ("report", survey.slug, "--output")),
        ("--output", ("manifest", "--output")),
    ):
        done = factories.run(database_url, *arguments, str(file))
        assert done.exit_code == 2
        said = f"{option} must be a new file that can be written; {str(file)!r} is not: it is there already"
        assert said in done.stderr
        assert file.read_text() == "mine"
    assert factories.run(database_url, "manifest", "--output", "/dev/null").exit_code == 0  # holds nothing


def test_no_command_writes_a_file_that_is_called_as_standard_output_is(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = factories.publish(database_url)
    monkeypatch.chdir(tmp_path)
    for option, arguments in (
        ("--to", ("survey", "paper", survey.slug, "--to")),
        ("FILE.xlsx", ("survey", "form", survey.slug, "--")),
        ("--output", ("report", survey.slug, "--format", "html", "--output")),
        ("--output", ("manifest", "--output")),
    ):
        done = factories.run(database_url, *arguments, "-")
        assert done.exit_code == 2
        assert (
            f"{option} must be a new file that can be written; '-' is not: for a pipe, name /dev/stdout"
            in (done.stderr)
        )
    assert list(tmp_path.iterdir()) == []
    # These take no pipe, so none is named.
    for option, arguments in (
        ("FILE", ("backup", "--")),
        ("FILE", ("signing-key", "--")),
        ("--zip", ("survey", "export", survey.slug, "--zip")),
        ("--output", ("manifest", "--sign", "secret", "--output")),
    ):
        done = factories.run(database_url, *arguments, "-")
        assert done.exit_code == 2
        assert done.stderr.strip().endswith(f"{option} must be a new file that can be written; '-' is not")
    assert list(tmp_path.iterdir()) == []


def test_conditions_are_in_the_way(database_url: str, tmp_path: Path) -> None:
    shown = {
        **factories.question("q2", "How often?"),
        "show_if": {"question": "q1", "any_of": ["yes"]},
        "otherwise": "no",
    }
    survey = factories.publish(
        database_url, factories.definition(questions=[factories.question("q1"), shown])
    )

    done = factories.run(database_url, "survey", "paper", survey.slug, "--to", str(tmp_path / "form.pdf"))

    assert (done.exit_code, "questions[1]: is shown only after certain answers" in done.stderr) == (2, True)


def test_more_answers_than_letters_are_in_the_way(database_url: str) -> None:
    options = [{"name": f"o{place}", "text": f"Option {place}"} for place in range(len(KEYS) + 1)]
    design = {"mechanism": "k_ary", "epsilon": 3.2188758248682006}  # ln 25: thrown with a disc
    survey = factories.publish(
        database_url, factories.definition(questions=[{**WHY, "options": options, "design": design}])
    )

    found = [problem.template for problem in list_paper_obstacles(read_version(database_url, survey.slug))]

    assert "has more than %(limit)d answers, and one letter has to tell them" in found


def test_letters_are_those_that_are_told_apart_and_yes_comes_first(database_url: str) -> None:
    survey = factories.publish(database_url, DOCUMENT)

    first, why, _ = list_paper_questions(read_version(database_url, survey.slug))

    assert not set("ILO") & set(KEYS)
    assert (first.keys, first.order) == ("AB", (1, 0))
    assert (why.keys, why.order) == ("ABCD", (0, 1, 2, 3))
