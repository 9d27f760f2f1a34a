"""The documents say what is there, all of it, and nothing that is not."""

import copy
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
import rfc8785
from babel.messages.pofile import read_po

from server.cli import main
from server.cli.serve_commands import demo
from server.config import backup_passphrase, from_environment, marks_folder, secrets_key
from server.inputs import InputError
from server.output.languages import LANGUAGES
from server.privacy.accounting import shuffle_amplification
from server.privacy.designs import coin_flip, round_up
from server.privacy.planning import belief_after_report
from server.releases.dividing import divide, expect_results
from server.releases.plans.plan_reader import parse_plan
from server.releases.survey_shapes import Coins, Leaf, Shape, Variable, VariableVersion
from server.simulation import demonstration
from server.study import planning
from server.study.definitions import version_of
from server.study.definitions.definition_reader import parse_definition
from server.study.xlsform import types, workbook
from tests.support.help_reader import find_chapter, read_guide

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
DEFINITION = (ROOT / "docs" / "definition.md").read_text("utf-8")
DEFINICION = (ROOT / "docs" / "definicion.md").read_text("utf-8")
DOCUMENTS = [README, *(path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md"))]


def commands(group: click.Group, prefix: str = "") -> set[str]:
    names: set[str] = set()
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        names |= (
            commands(command, f"{prefix}{name} ") if isinstance(command, click.Group) else {prefix + name}
        )
    return names


COMMANDS = {"commands.md": "| command | what it does |", "comandos.md": "| comando | qué hace |"}
"""The pages of commands, and how their tables begin."""


def table_of_commands(page: str) -> str:
    return (ROOT / "docs" / page).read_text("utf-8").split(COMMANDS[page])[1].split("\n\n")[0]


@pytest.mark.parametrize("page", COMMANDS)
def test_the_page_of_commands_names_every_command_and_no_other(page: str) -> None:
    named = {
        re.sub(r"( [A-Z]+)+$", "", name)
        for name in re.findall(r"^\| `([^`]+)` \|", table_of_commands(page), re.MULTILINE)
    }
    assert named == commands(main)


def find_command(name: str) -> click.Command:
    found: click.Command = main
    for part in name.split():
        assert isinstance(found, click.Group)
        inner = found.get_command(click.Context(found), part)
        assert inner is not None, name
        found = inner
    return found


def test_the_pages_of_commands_name_options_that_there_are_and_the_same_ones() -> None:
    found = []
    for page in COMMANDS:
        rows = re.findall(
            r"^\| `([a-z0-9 -]+?)(?: [A-Z]+)*` \| (.+) \|$", table_of_commands(page), re.MULTILINE
        )
        assert len(rows) == len(commands(main))
        found.append([(name, sorted(re.findall(r"`(--[a-z-]+)", said))) for name, said in rows])
    for name, named in found[0]:
        options = {option for parameter in find_command(name).params for option in parameter.opts}
        assert set(named) <= options, name
    assert found[0] == found[1]


def test_every_make_target_in_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    texts = [*DOCUMENTS, (ROOT / "CONTRIBUTING.md").read_text("utf-8")]
    named = {target for text in texts for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)}
    assert {"run", "demo", "test"} <= named <= targets


def test_ci_calls_the_readmes_test_commands_and_nothing_else() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    calls = [line for line in lines if line and not line.startswith(("#", "set ", "cd "))]
    # Before them it chooses the Python that runs them.
    assert calls[0].startswith("if /usr/bin/python3 -c 'import ensurepip, sys; sys.exit(not (3, 11) <= ")
    assert calls[1:3] == ["  export PYTHON=/usr/bin/python3", "fi"]
    assert calls[3:] == ["make test", "make test-spark"]


@pytest.mark.parametrize(("page", "heading"), [("operating.md", "Settings"), ("operacion.md", "Ajustes")])
def test_every_setting_is_documented_and_every_documented_setting_is_read(page: str, heading: str) -> None:
    table = (ROOT / "docs" / page).read_text("utf-8").split(f"## {heading}")[1].split("\n## ")[0]
    named = set(re.findall(r"^\| `([A-Z_]+)`", table, re.MULTILINE))

    asked: set[str] = set()

    class Recorder(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:
            asked.add(key)
            return super().get(key, default)

    from_environment(Recorder())
    marks_folder(Recorder())
    backup_passphrase(Recorder())
    secrets_key(Recorder())
    assert named == asked


BLOCKS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", DEFINITION, re.DOTALL)]


def whole(block: Any) -> dict[str, Any]:
    """A whole definition around an example of the manual, which may be one entry or some."""
    if isinstance(block, dict) and "format" in block:
        return block
    entries = [block] if isinstance(block, dict) else block
    sent = {"kind": "yes_no", "text": "?", "design": {"mechanism": "coin_flip", "gamma": 0.25}}
    example = {**BLOCKS[0], "questions": [*entries, {"name": "one_that_is_sent", **sent}]}
    return example


@pytest.mark.parametrize("block", [block for block in BLOCKS if "weights" not in block], ids=str)
def test_every_example_in_the_manual_is_a_definition(block: Any) -> None:
    document = whole(block)
    assert parse_definition(document).as_json() == document


def test_the_manual_has_an_example_of_every_kind_and_names_every_mechanism() -> None:
    schema = json.loads((ROOT / "server" / "schemas" / "survey.schema.json").read_text("utf-8"))
    kinds = set(schema["properties"]["questions"]["items"]["properties"]["kind"]["enum"])
    shown = {
        entry["kind"] for block in BLOCKS if "weights" not in block for entry in whole(block)["questions"]
    }
    assert shown == kinds
    rules = [schema["$defs"][kind]["properties"].get("design") for kind in kinds]
    mechanisms = {name for rule in rules if rule for name in rule["properties"]["mechanism"]["enum"]}
    for text in (DEFINITION.split("## Designs")[1], DEFINICION.split("## Diseños")[1]):
        table = text.split("\n## ")[0]
        assert set(re.findall(r"^\| `([a-z_]+)`", table, re.MULTILINE)) == mechanisms


def test_the_published_design_in_the_manual_is_the_examples() -> None:
    (design,) = [block for block in BLOCKS if "weights" in block]
    published = json.loads(parse_definition(BLOCKS[0]).to_canonical())
    assert published["questions"][0]["designs"] == [design]


def test_what_the_manual_says_of_forms_is_so() -> None:
    section = DEFINITION.split("## XLSForm")[1].split("\n## ")[0]
    for limit in (workbook.ROWS_LIMIT, f"{workbook.CELLS_LIMIT:,}", f"{workbook.COLUMNS_LIMIT}th"):
        assert f"{limit}" in section
    assert f"{workbook.WORKBOOK_LIMIT >> 20} MiB ({workbook.UNPACKED_LIMIT >> 20} MiB unpacked)" in section
    taken = {name for name in types.ALLOWED.split(", ") if name != "end_group"}
    assert {name for name in taken if f"`{name}`" in section} == taken


def test_the_hash_can_be_recomputed_as_the_manual_says() -> None:
    published = parse_definition(BLOCKS[0]).to_canonical()
    plain = json.dumps(json.loads(published), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert plain.encode() == published == rfc8785.dumps(json.loads(published))
    assert hashlib.sha256(plain.encode()).hexdigest() == version_of(published)


@pytest.mark.parametrize(
    ("field", "inside", "outside"),
    [
        ("title", "t" * 200, "t" * 201),
        ("introduction", "i" * 4000, "i" * 4001),
        ("text", "q" * 500, "q" * 501),
        ("name", "a" * 40, "a" * 41),
        ("gamma", 0.499, 0.4991),
        ("gamma", 0.001, 0.0009),
    ],
)
def test_limits_in_the_manual_are_the_limits(field: str, inside: Any, outside: Any) -> None:
    limit = {"title": "200", "introduction": "4000", "text": "500", "name": "39"}.get(field, str(inside))
    assert limit in DEFINITION

    def with_value(value: Any) -> dict[str, Any]:
        document = copy.deepcopy(BLOCKS[0])
        question = document["questions"][0]
        place = {"title": document, "introduction": document, "gamma": question["design"]}.get(
            field, question
        )
        place[field] = value
        return document

    parse_definition(with_value(inside))
    with pytest.raises(InputError):
        parse_definition(with_value(outside))


# --- The guides ----------------------------------------------------------------

PICTURE = re.compile(r"!?\[([^\]]*)\]\(([\w./-]+\.png)\)")


@cache
def catalogue() -> dict[str, str]:
    """Every text of the pages in English, with the Spanish one."""
    path = ROOT / "server" / "translations" / "es" / "LC_MESSAGES" / "messages.po"
    with path.open("rb") as file:
        messages = read_po(file, locale="es")
    pairs: dict[str, str] = {}
    for message in messages:
        if message.pluralizable:
            pairs |= dict(zip(message.id, message.string, strict=True))
        elif message.id:
            pairs[message.id] = message.string
    return pairs


def find_texts(quoted: str) -> list[tuple[str, str]]:
    """Texts of the pages that may read like this, in both languages; what they leave open is open."""
    whole, opened = texts()
    return [pair for pair in (*whole.get(quoted, ()), *opened) if reads(pair[0], quoted)]


OPEN = re.compile(r"(%\(\w+\)[sd]|{\w+})")
"""What a text leaves open."""


@cache
def texts() -> tuple[dict[str, list[tuple[str, str]]], list[tuple[str, str]]]:
    """The texts with letters of their own: those that read in one way only, by how, and those that leave some open."""
    whole: dict[str, list[tuple[str, str]]] = {}
    opened = []
    for english, spanish in catalogue().items():
        if len(re.findall(r"[^\W\d_]", OPEN.sub("", english))) > 2:
            if OPEN.search(english):
                opened.append((english, spanish))
            else:
                whole.setdefault(fill_signs(english), []).append((english, spanish))
    return whole, opened


def fill_signs(text: str) -> str:
    return text.replace("%%", "%").replace("\N{NO-BREAK SPACE}", " ")


@cache
def pattern(text: str) -> re.Pattern[str]:
    parts = OPEN.split(fill_signs(text))
    return re.compile("".join(".+" if place % 2 else re.escape(part) for place, part in enumerate(parts)))


def reads(text: str, quoted: str) -> bool:
    return pattern(text).fullmatch(quoted) is not None


def quotes(chapter: str, language: str) -> list[str]:
    text = read_guide(language) if chapter == "guide" else find_chapter(chapter, language).source
    return re.findall(r"\*\*([^*]+)\*\*", text)


def test_every_picture_exists_is_described_and_is_shown_somewhere() -> None:
    shown = set()
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for description, name in PICTURE.findall(path.read_text("utf-8")):
            assert description.strip(), name
            shown.add((path.parent / name).resolve())
    assert shown == {path.resolve() for path in (ROOT / "docs" / "images").iterdir()}


@pytest.mark.parametrize(
    ("chapter", "least"),
    [("guide", 50), ("checklist", 5), ("troubleshooting", 5), ("ethics", 2), ("data-plan", 2)],
)
def test_what_chapters_quote_is_on_the_pages_in_their_language(chapter: str, least: int) -> None:
    english, spanish = quotes(chapter, "en"), quotes(chapter, "es")
    assert len(english) == len(spanish) >= least
    for ours, theirs in zip(english, spanish, strict=True):
        assert find_texts(ours), f"{ours!r} is on no page"
        found = [text for _, text in find_texts(ours)]
        assert any(reads(text, theirs) for text in found), f"{theirs!r} should read like {found}"


def test_a_quote_that_is_on_no_page_is_noticed() -> None:
    assert find_texts("Publish version 1")
    assert not find_texts("Publish version")
    assert not find_texts("Send it all")


def test_the_guides_have_the_same_parts() -> None:
    shapes = []
    for code, language in LANGUAGES.items():
        text = read_guide(code)
        headings = re.findall(r"^(#+) (.+)$", text, re.MULTILINE)
        pictures = [name.replace("guia-", "guide-") for _, name in PICTURE.findall(text)]
        assert all(language.guide in name for _, name in PICTURE.findall(text))
        marks = re.findall(r"^ *([-|>]|\d+\.|#+) ", text, re.MULTILINE)
        shapes.append(([level for level, _ in headings], pictures, marks))
    assert shapes[0] == shapes[1]


def rows(language: str, beginning: str) -> list[list[float]]:
    """The numbers of the guide's table that begins like this, a list for each row; words are left out."""
    table = read_guide(language).split(f"\n| {beginning} |")[1].split("\n\n")[0].splitlines()[2:]
    thousands, point = (",", ".") if language == "en" else (".", ",")
    found = []
    for line in table:
        cells = [cell.strip().removesuffix(" %") for cell in line.strip("|").split("|")]
        numbers = [cell.replace(thousands, "").replace(point, ".") for cell in cells]
        found.append([float(number) for number in numbers if re.fullmatch(r"[\d.]+", number)])
    return found


def plan_question(question: dict[str, Any]) -> planning.QuestionPlan:
    """The plan of one question, for intervals of +- 5 points."""
    document = {"format": 1, "language": "en", "title": "t", "introduction": ""}
    question = {"name": "q", "text": "?", **question}
    return planning.plan(parse_definition({**document, "questions": [question]})).questions[0]


def options(number: int) -> list[dict[str, str]]:
    return [{"name": f"o{place}", "text": f"{place}"} for place in range(number)]


TWO_COINS = 1.0987  # ln 3, rounded up
COSTS = (
    {"kind": "yes_no", "design": {"mechanism": "coin_flip", "gamma": 0.25}},
    {"kind": "yes_no", "prefer_not_to_say": True, "design": {"mechanism": "k_ary", "epsilon": TWO_COINS}},
    {
        "kind": "select_one",
        "options": options(4),
        "design": {"mechanism": "best_choice", "epsilon": TWO_COINS},
    },
    {
        "kind": "select_one",
        "options": options(8),
        "design": {"mechanism": "best_choice", "epsilon": TWO_COINS},
    },
    {
        "kind": "select_multiple",
        "options": options(4),
        "design": {"mechanism": "coin_flip", "epsilon": TWO_COINS},
    },
    {
        **{"kind": "number", "low": 0, "high": 80, "step": 1},
        "design": {"mechanism": "stochastic_rounding", "epsilon": TWO_COINS},
    },
    {
        **{"kind": "binned_number", "low": 0, "high": 80, "step": 1, "cuts": [10, 20, 40]},
        "design": {"mechanism": "best_choice", "epsilon": TWO_COINS},
    },
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_numbers_in_the_guides_are_those_of_the_plan(language: str) -> None:
    strengths = rows(language, "γ")
    assert [row[0] for row in strengths] == [0.1, 0.15, 0.2, 0.25, 0.3, 0.4]
    for row in strengths:
        made = plan_question({"kind": "yes_no", "design": {"mechanism": "coin_flip", "gamma": row[0]}})
        counts = made.question.designs[0].odds.counts
        epsilon, target = round_up(made.epsilon, 2), made.targets[0]
        belief, price = round(made.belief * 100, 1), round(target.price, 1)
        assert row[1:] == [epsilon, counts[0][1], counts[1][1], belief, target.respondents, price]

    costs = rows(language, {"en": "question", "es": "pregunta"}[language])
    assert costs == [[plan_question(question).respondents] for question in COSTS]

    scale = {"kind": "scale", "options": options(5)}
    designs = [
        {**scale, "design": {"mechanism": name, "epsilon": TWO_COINS}} for name in ("ordinal", "k_ary")
    ]
    scales = rows(language, {"en": "design", "es": "diseño"}[language])
    assert scales == [[target.respondents for target in plan_question(design).targets] for design in designs]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_numbers_in_the_guides_are_those_of_releases(language: str) -> None:
    question = parse_definition(whole({"name": "q", "text": "?", **COSTS[0]})).questions[0]
    asked = (VariableVersion(1, (Coins(2, question.designs[0]),)),)
    variable = Variable("q", "q", ("no", "yes"), False, False, 0, None, None, asked)
    shape = Shape("unbounded", (1,), (variable,), (Leaf((), ()),), True, None)
    items = [{"kind": "count"}, {"kind": "share", "question": "q", "option": "yes"}]

    def compute_errors(epsilon: float, people: int) -> list[float]:
        priced = [{**item, "epsilon": epsilon} for item in items]
        plan = {"format": 1, "division": "given", "items": priced, "people": people}
        count, share = expect_results(divide(parse_plan(plan), shape), shape)
        assert count.error is not None
        assert share.margin is not None
        return [round_up(count.error, 1), round_up(share.margin * 100, 1)]

    prices = rows(language, {"en": "ε of one number", "es": "ε de un número"}[language])
    assert [row[0] for row in prices] == [0.05, 0.1, 0.25, 1]
    for row in prices:
        noise, margins = row[1], row[2:]
        assert [compute_errors(row[0], people) for people in (500, 1000, 5000)] == [
            [noise, each] for each in margins
        ]

    for row in rows(language, {"en": "budget ε", "es": "presupuesto ε"}[language]):
        even, seldom = belief_after_report(row[0], 0.5), belief_after_report(row[0], 0.1)
        assert row[1:] == [round(100 * each, 1) for each in (1 - even, even, seldom)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guides_say_what_exact_tallies_cost(language: str) -> None:
    heading = {"en": "## Exact tallies", "es": "## Recuentos exactos"}[language]
    section = read_guide(language).split(heading)[1].split("\n#")[0].replace(",", ".")
    coins = coin_flip(gamma=0.25).epsilon
    for respondents, questions, digits in ((1000, 1, 2), (5000, 1, 2), (5000, 4, 2), (1000, 4, 1)):
        price = shuffle_amplification(respondents, questions * coins, respondents**-2).epsilon
        assert f" {round_up(price, digits)}" in section


def test_the_documents_say_how_many_people_the_demonstration_simulates() -> None:
    people = f"{demonstration.RESPONDENTS:,} simulated respondents"
    texts = [README, (ROOT / "Makefile").read_text("utf-8"), str(demo.help)]
    assert [people in text for text in texts] == [True] * 3
