"""The code of a receipt, as client/qr.js draws it in Node: the same as segno's, and read as a phone reads it."""

import json
import random
import secrets
import subprocess
from pathlib import Path

import pytest
import segno

from tests.support import factories
from tests.support.code_reader import read_code
from tests.support.scale import choose_size

ENCODER = factories.ROOT / "client" / "qr.js"
FULL = {4: 62, 5: 84, 6: 106, 7: 122, 8: 152, 9: 180, 10: 213, 11: 251, 12: 287, 13: 331, 14: 362}
"""The most bytes in a code of each version, level M (ISO/IEC 18004, table 7)."""
LONGEST_HOST = 253
"""Characters of a name that the DNS has (RFC 1035)."""

RUN = """
const { encode } = await import(process.argv[1]);
let texts = '';
for await (const part of process.stdin) texts += part;
console.log(JSON.stringify(JSON.parse(texts).map(encode)));
"""


def encode(texts: list[str], encoder: Path = ENCODER) -> list[list[str] | None]:
    command = ["node", "--input-type=module", "--eval", RUN, "--", encoder.as_uri()]
    ran = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    rows: list[list[str] | None] = json.loads(ran.stdout)
    return rows


def address(bytes_in_all: int) -> str:
    """Where a new receipt is looked for, on a host whose name fills that many bytes."""
    rest = f"/s/bcdf23ghjk45/receipt#{secrets.token_hex(16)}"
    return f"{('https://' + 'example.' * 50)[: bytes_in_all - len(rest)]}{rest}"


def drawn_by_segno(text: str) -> list[str]:
    matrix = segno.make_qr(text, mode="byte", error="m", boost_error=False, mask=0).matrix
    return ["".join(map(str, map(int, line))) for line in matrix]


def says(code: list[str], text: str) -> bool:
    try:
        return read_code(code) == text
    except ValueError:
        return False


@pytest.mark.scaled
def test_full_codes_are_those_of_segno() -> None:
    """Where something is left to fill, segno 1.6 puts a byte more than the standard says, which readers skip."""
    texts = [address(length) for length in FULL.values() for _ in range(choose_size(10, 500))]
    codes = encode(texts)
    assert {(len(code) - 17) // 4 for code in codes if code} == FULL.keys()
    assert all(code == drawn_by_segno(text) for code, text in zip(codes, texts, strict=True))


@pytest.mark.scaled
def test_a_code_of_any_length_says_its_text() -> None:
    chance = random.Random(7)
    texts = [address(chance.randint(67, 120)) for _ in range(choose_size(2000, 20000))]
    texts += [address(length) for length in range(120, 363, choose_size(9, 1))]
    texts += ["", "é", "a" * 15, f"http://127.0.0.1:8000/s/bcdf23ghjk45/receipt#{'0' * 32}"]
    assert [read_code(code or []) for code in encode(texts)] == texts


def test_the_longest_address_there_can_be_has_a_code() -> None:
    longest = f"https://{'a' * LONGEST_HOST}:65535/s/bcdf23ghjk45/receipt#{'f' * 32}"
    (code, none) = encode([longest, "a" * 363])
    assert code is not None
    assert read_code(code) == longest
    assert none is None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("0x11d", "0x12d", id="another field for the parity"),
        pytest.param("(x + y) % 2", "y % 2", id="another mask than is said"),
        pytest.param("place - n + long", "0", id="blocks that overlap"),
        pytest.param("right === 8 ? 3 : 2", "2", id="the dotted column filled"),
    ],
)
def test_an_encoder_that_is_off_is_caught(right: str, wrong: str, tmp_path: Path) -> None:
    """The broken twins: each draws codes that no phone reads."""
    source = ENCODER.read_text("utf-8")
    assert right in source
    twin = tmp_path / "qr.mjs"
    twin.write_text(source.replace(right, wrong), "utf-8")
    text = address(FULL[12])
    (code,) = encode([text], twin)
    assert code is not None
    assert code != drawn_by_segno(text)
    assert not says(code, text)
