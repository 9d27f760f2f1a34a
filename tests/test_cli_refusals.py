"""Bad input to `python -m server`: exit status 2, a message with field, range and value, no traceback."""

import json
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from server.cli import main
from server.output.languages import LANGUAGES, RESPONDENT_LANGUAGES
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import dump, run_forked

ESTIMATE = ["estimate", "--gamma", "0.25", "--counts", "600,400"]


def _expect_refusal(arguments: list[str], database_url: str, text: str | bytes = "") -> str:
    """Run in this process (the test of a real process is below); the message."""
    runner = CliRunner(env={"DATABASE_URL": database_url})
    result = runner.invoke(main, arguments, input=text)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert "Error: " in result.stderr
    return " ".join(result.stderr.partition("Error: ")[2].split())


def _asking(*questions: object) -> dict[str, object]:
    return factories.definition(questions=list(questions))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gamma", "0.5"], "gamma must be in the open interval (0, 1/2); it is 0.5"),
        (["--gamma", "0"], "gamma must be in the open interval (0, 1/2); it is 0.0"),
        (["--gamma", "-0.25"], "gamma must be in the open interval (0, 1/2); it is -0.25"),
        (["--gamma", "nan"], "gamma must be in the open interval (0, 1/2); it is nan"),
        (["--gamma", "1e-12"], "gamma must be in (0, 1/2) and at least 2**-32; it is 1e-12"),
        (["--gamma", "a lot"], "Invalid value for '--gamma': 'a lot' is not a valid float."),
        (["--counts", "600"], "shape is (1,)"),
        (["--counts", "1,2,3"], "shape is (3,)"),
        (["--counts", "-1,2"], "counts must not be negative; they are [-1, 2]"),
        (["--counts", "0,0"], "counts must have"),
        (["--counts", "1.5,2"], "must be two whole numbers, NO,YES; it is '1.5,2'"),
        (["--counts", "many,few"], "must be two whole numbers, NO,YES; it is 'many,few'"),
        (["--counts", ""], "must be two whole numbers, NO,YES; it is ''"),
        (["--counts", "9223372036854775807,9223372036854775807"], "it is 18446744073709551614"),
        (["--counts", f"{10**30},1"], "1000000000000000000000000000000"),
        (["--confidence", "1"], "confidence must be in the open interval (0, 1); it is 1.0"),
        (["--confidence", "nan"], "confidence must be in the open interval (0, 1); it is nan"),
        (["--options", "3"], "--options must be given with --mechanism, which is missing"),
        (["--epsilon", "3"], "--epsilon must be given with --mechanism, which is missing"),
        (["--engine", "spark"], "--engine must be given with --archive, which is missing"),
        (["--prefer-not-to-say"], "--prefer-not-to-say must be given with --low, which is missing"),
        (["--interval", "narrow"], "'narrow' is not one of 'by_size', 'wilson', "),
    ],
)
def test_bad_number_is_refused(arguments: list[str], message: str) -> None:
    said = _expect_refusal([*ESTIMATE, *arguments], "sqlite:////proc/nowhere/x.sqlite3")

    assert message in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not JSON", "file: must be a survey definition (.json) or an XLSForm (.xlsx)"),
        (b"\xff\xfe", "file: must be a survey definition (.json) or an XLSForm (.xlsx)"),
        ("", "file: must be chosen, and must not be empty"),
        ("{not JSON", "file: must be JSON; it is not from character 1 on"),
        (b"{\xff\xfe", "file: must be UTF-8; byte 1 is not"),
        (b"PK\x03\x04", "file: must be a whole .xlsx workbook"),
        ("[]", "definition: must be an object; it is []"),
        ("{}", "format: is required"),
        ("[" * 100_000, "file: must not be nested this deeply"),
        ("{" + " " * 1_048_576, "file: must be at most 1048576 bytes; it has more"),
        (factories.definition(title="x" * 10_000), "title: must have at most 200 characters; it has 10000"),
        (
            factories.definition(introduction="x" * 10_000),
            "introduction: must have at most 4000 characters; it has 10000",
        ),
        (factories.definition(title=" \n\t"), "title: must not be empty"),
        (factories.definition(title=None), "title: must be text; it is null"),
        (factories.definition(title="\x00"), "title: must not contain a NUL character"),
        (
            factories.definition(language="xx"),
            f"language: must be one of {', '.join(RESPONDENT_LANGUAGES)}; it is xx",
        ),
        (factories.definition(format=3), "format: must be one of 1, 2; it is 3"),
        (factories.definition(colour="red"), "colour: is not known here; allowed: "),
        (factories.definition([]), "questions: must not be empty"),
        (factories.definition([0.25] * 101), "questions: must have at most 100 entries; it has 101"),
        (factories.definition([0.5]), "questions[0].design.gamma: must be from 0.001 to 0.499; it is 0.5"),
        (factories.definition([0.25, 0]), "questions[1].design.gamma: must be from 0.001 to 0.499; it is 0"),
        (factories.definition([True]), "questions[0].design.gamma: must be a number; it is true"),
        (
            _asking(factories.question("Copied")),
            "questions[0].name: must start with a letter",
        ),
        (
            _asking(factories.question("a\nb")),
            "questions[0].name: must start with a letter",
        ),
        (
            _asking(factories.question(text="x" * 501)),
            "questions[0].text: must have at most 500",
        ),
        (
            _asking(factories.question(), factories.question()),
            "questions[1].name: must be unique; copied stands twice",
        ),
    ],
    ids=lambda value: str(value)[-50:],
)
def test_bad_definition_is_refused(
    text: str | bytes | dict[str, object], message: str, sqlite: NewDatabase
) -> None:
    database_url = sqlite(True)
    before = dump(database_url)

    sent = json.dumps(text) if isinstance(text, dict) else text
    said = _expect_refusal(["survey", "import", "-"], database_url, sent)

    assert message in said
    assert dump(database_url) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["survey", "export"],
        ["survey", "publish"],
        ["survey", "close"],
        ["simulate"],
        ["report"],
    ],
)
def test_unknown_survey_is_named(arguments: list[str], sqlite: NewDatabase) -> None:
    for slug in ("nosuchsurvey", "=1+1", "a" * 1000):
        assert f"survey {slug!r} is not known" in _expect_refusal([*arguments, slug], sqlite(True))


def test_bad_simulation_is_refused(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    draft = factories.draft(database_url, factories.definition())
    slug = factories.publish(database_url).slug
    before = dump(database_url)

    for arguments, message in [
        ([draft], "survey: must be open; publish it first"),
        ([slug, "--respondents", "0"], "respondents: must be from 1 to 1000000; it is 0"),
        ([slug, "--respondents", "1000001"], "respondents: must be from 1 to 1000000; it is 1000001"),
        ([slug, "--respondents", "ten"], "'ten' is not a valid integer"),
        ([slug, "--share", "q3=0.5"], "share: must be one of q1, q2; it is q3"),
        ([slug, "--share", "=0.5"], "share: must be one of q1, q2; it is"),
        ([slug, "--share", "q1"], "share must be NAME=NUMBER; it is 'q1'"),
        ([slug, "--share", "q1=half"], "share must be NAME=NUMBER; it is 'q1=half'"),
        ([slug, "--share", "q1=1.01"], "share q1: must be from 0 to 1; it is 1.01"),
        ([slug, "--share", "q1=nan"], "share q1: must be from 0 to 1; it is nan"),
    ]:
        assert message in _expect_refusal(["simulate", *arguments], database_url)
    factories.close(database_url, slug)
    assert "survey: must be open" in _expect_refusal(["simulate", slug], database_url)
    assert dump(database_url)["responses"] == before["responses"] == []


def test_bad_report_is_refused(sqlite: NewDatabase, tmp_path: Path) -> None:
    database_url = sqlite(True)
    draft = factories.draft(database_url, factories.definition())
    slug = factories.publish(database_url).slug
    nowhere = str(tmp_path / "nowhere" / "report.csv")

    for arguments, message in [
        ([draft], "must be published first"),
        ([slug, "--version", "2"], "version: must be from 1 to 1; it is 2"),
        ([slug, "--version", "0"], "version: must be from 1 to 1; it is 0"),
        ([slug, "--format", "doc"], "'doc' is not one of 'html', 'pdf', 'xlsx', 'csv', 'json'"),
        ([slug, "--format", "csv", "--output", nowhere], "nowhere"),
        ([slug, "--output", str(tmp_path / "report.doc")], "--output must end in one of .html, .pdf"),
        ([slug, "--language", "xx"], f"'xx' is not one of {', '.join(map(repr, LANGUAGES))}"),
    ]:
        assert message in _expect_refusal(["report", *arguments], database_url)
    assert "state: must be open" in _expect_refusal(["survey", "close", draft], database_url)
    assert list(tmp_path.iterdir()) == []


def test_file_that_is_missing_is_named(sqlite: NewDatabase, tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"

    assert str(missing) in _expect_refusal(["survey", "import", str(missing)], sqlite(True))


@pytest.mark.parametrize(
    "database_url",
    [
        "mysql://localhost/x",
        "sqlite:////proc/nowhere/x.sqlite3",
        "sqlite:///pyproject.toml",
        "postgresql://secret:word@127.0.0.1:1/x",
    ],
)
def test_database_that_cannot_be_used_is_said_without_a_traceback(database_url: str) -> None:
    said = _expect_refusal(["survey", "export", "any"], database_url)

    assert "DATABASE_URL must" in said
    assert "secret:word" not in said


def test_port_that_is_taken_is_named(sqlite: NewDatabase) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        done = run_forked(sqlite(True), "serve", "--port", str(port))

    assert done.returncode == 2
    assert f"cannot serve on 127.0.0.1 port {port}" in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Moneda" not in done.stdout  # no address is announced that is somebody else's


@pytest.mark.parametrize("port", ["0", "65536", "http"])
def test_port_out_of_range_is_refused(port: str, sqlite: NewDatabase) -> None:
    assert port in _expect_refusal(["serve", "--port", port], sqlite(True))
