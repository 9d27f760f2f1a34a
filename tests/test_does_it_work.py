"""What the guides say of weights, differences and of finding out whether asking in this way works: their numbers.

The studies that they cite are named there; what is held here is what Moneda works out itself.
"""

import re
import shlex
from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from server.cli import main
from server.output.languages import LANGUAGES
from server.privacy.designs import coin_flip
from server.privacy.estimators import estimate_shares
from server.privacy.planning import compare_groups, respondents_for_power
from server.reports.estimate_remarks import UNLIKELY
from tests.support.help_reader import read_guide

HEADINGS = {"en": "## Does it work?", "es": "## ¿Funciona?"}
WEIGHING = {"en": "## Weighting", "es": "## Ponderar"}
APART = {"en": "## Differences between groups", "es": "## Diferencias entre grupos"}
FEW = {1: ("1 in 10", "1 de cada 10"), 2: ("2 in 10", "2 de cada 10")}
DENYING = {0.1: ("a tenth", "una décima"), 0.2: ("a fifth", "una quinta")}


def read_section(language: str, heading: str) -> str:
    return read_guide(language).split(f"\n{heading}\n")[1].split("\n#")[0]


def read_rows(language: str) -> list[tuple[str, list[float], int]]:
    """Of each row what is wrong, the gammas, and the people."""
    rows = []
    for line in read_section(language, HEADINGS[language]).splitlines():
        if re.match(r"\| .*\d", line) and "80" not in line.split("|")[3]:
            wrong, gammas, people = (cell.strip() for cell in line.split("|")[1:4])
            numbers = [float(each.replace(",", ".")) for each in re.findall(r"0[.,]\d+", gammas)]
            rows.append((wrong, numbers, int(re.sub(r"\D", "", people))))
    return rows


def plan(wrong: str, gammas: Sequence[float]) -> int:
    """The people that the row's own words take."""
    first, *others = map(coin_flip, gammas)
    if others:
        shares = [int(each) / 100 for each in re.findall(r"(\d+) %", wrong)]
        return compare_groups(shares, [first, *others]).respondents(0.8)
    if "%" in wrong:
        (known,) = (int(each) / 100 for each in re.findall(r"(\d+) %", wrong))
        (denied,) = (part for part, words in DENYING.items() if any(each in wrong for each in words))
        return respondents_for_power(known * (1 - denied), known, first)
    (tenths,) = (number for number, words in FEW.items() if any(each in wrong for each in words))
    return respondents_for_power(tenths / 20, 0.0, first, alpha=UNLIKELY, sides=1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guides_say_how_many_people_notice_what_is_wrong(language: str) -> None:
    rows = read_rows(language)
    assert len(rows) == 8
    assert [people for _, _, people in rows] == [plan(wrong, gammas) for wrong, gammas, _ in rows]
    # The twin: with the coins of another row none is right.
    assert all(plan(wrong, [gamma - 0.02 for gamma in gammas]) != people for wrong, gammas, people in rows)
    assert [row[1:] for row in rows] == [row[1:] for row in read_rows("en")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_commands_beside_the_table_print_its_numbers(language: str) -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", read_section(language, HEADINGS[language]), re.DOTALL)
    people = []
    for line in block.splitlines():
        command = line.removeprefix(".venv/bin/python -m server ")
        done = CliRunner().invoke(main, shlex.split(command))
        assert done.exit_code == 0, done.output
        people.append(int(done.output.split()[0].replace(",", "")))
    assert people == [483, 542, 876]
    assert {*people} < {people for _, _, people in read_rows(language)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guides_say_what_weighting_and_subtracting_cost(language: str) -> None:
    """Kish's number of rows; and two shares with their half-widths, of 950 people each."""
    responses, most, told = map(int, re.findall(r"(?:1,000|1000|800|640)", weighing := read_whole(language)))
    weights = [0.5 / most] * most + [0.5 / (responses - most)] * (responses - most)
    assert told == pytest.approx(sum(weights) ** 2 / sum(each**2 for each in weights)), weighing
    section = read_section(language, APART[language]).replace(",", ".")
    found = [float(each) for each in re.findall(r"± (\d\.\d)", section)]
    halves = []
    for gamma, yes in ((0.25, 333), (0.4, 171)):
        errors = estimate_shares([950 - yes, yes], coin_flip(gamma)).standard_errors
        halves.append(round(196 * float(errors[1]), 1))
    assert found == [*halves, round((halves[0] ** 2 + halves[1] ** 2) ** 0.5, 1)]


def read_whole(language: str) -> str:
    """The section on weights with its thousands as plain digits."""
    return re.sub(r"(\d),(\d{3})", r"\1\2", read_section(language, WEIGHING[language]))
