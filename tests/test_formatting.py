"""What is not certain never reads as 100 %, and what is not nothing never as 0, wherever shares and chances are."""

import math
import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import server
from server.output.documents import Words
from server.output.formatting import (
    MINUS,
    bind_units,
    chance,
    count_digits,
    decimal,
    epsilon,
    fraction,
    integer,
    join_list,
    level,
    margin,
    measure,
    moment,
    number,
    percent,
    ratio,
    tenths,
)
from server.output.languages import RESPONDENT_LANGUAGES
from server.privacy.planning import belief_after_report
from server.reports.answer_names import AnswerTexts
from server.reports.contents import cell_texts
from server.study.answer_texts import quantity
from server.study.definitions.definition_reader import parse_definition
from tests.support import every_kind

SHARES = {
    0.0: "0.0",
    1.0: "100.0",
    0.3251: "32.5",
    0.99949: "99.9",
    0.9996: "99.96",
    99_990 / 100_000: "99.99",
    0.99999999: "99.999999",
    0.0004: "0.04",
    1e-6: "0.0001",
    -0.0003: "−0.03",
    1.0002: "100.02",
    # Computing is not more exact, nor are chances in 2**-32.
    1e-17: "0.0",
    1 - 2e-16: "100.0",
    math.nan: "–",
}


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("locale", ["en", "es"])
def test_a_share_seems_none_or_all_only_if_it_is(share: float, locale: str) -> None:
    shown = SHARES[share] if locale == "en" else SHARES[share].replace(".", ",")
    assert percent(share, locale) == shown


@pytest.mark.parametrize("locale", ["en", "es", "pt", "fr"])
@pytest.mark.parametrize("value", [-12_004, -2004, 7, 2004, 9999, 10_000, 1_234_567])
def test_a_sentence_and_a_table_write_the_same_mean_alike(value: int, locale: str) -> None:
    """A mean of 2004 was 2004 in a sentence, and 2.004 in the table below it."""
    assert measure(value, locale, 5000) == number(value, locale)


@pytest.mark.parametrize("value", [1e18, 1e30, 1.7976931348623157e308])
def test_a_number_of_any_size_can_be_written(value: float) -> None:
    """A test statistic of data from elsewhere may be of any."""
    for written in (
        number(value, "en"),
        integer(int(value), "en"),
        measure(value, "en", 1e-5),
        tenths(value, "en"),
    ):
        assert float(written.replace(",", "")) == value


@settings(max_examples=500, deadline=None, derandomize=True, database=None)
@given(st.floats(1e-8, 0.5))
def test_whatever_it_is_the_number_of_decimals_suffices(small: float) -> None:
    for share in (small, 1 - small, -small, 1 + small):
        if min(abs(share), abs(share - 1)) >= 1e-8:
            shown = float(percent(share, "en").replace(MINUS, "-"))
            assert shown not in (0, 100)
            assert float(fraction(share)) not in (0, 1)
            assert abs(shown - 100 * share) <= 0.05 + 1e-9


@pytest.mark.parametrize("locale", RESPONDENT_LANGUAGES)
def test_a_number_that_people_read_is_below_zero_by_a_minus_sign(locale: str) -> None:
    """A hyphen is half as wide as a plus, and a line may end behind it."""
    written = [
        percent(-0.32, locale),
        percent(-0.00001, locale),
        integer(-12_004, locale),
        decimal(-0.25, locale),
        number(-10.5, locale),
        measure(-3.25, locale, 30),
        tenths(-2.0, locale),
        ratio(-6.03, locale),
        quantity(-10, "°C", locale),
    ]
    assert [text.count("−") for text in written] == [1] * len(written)
    assert "-" not in "".join(written)


def test_all_numbers_that_people_read_are_written_in_one_place() -> None:
    files = Path(server.__file__).parent.rglob("*.py")
    importing = [path.name for path in files if "babel.numbers" in path.read_text(encoding="utf-8")]
    assert importing == ["formatting.py"]


def test_files_for_programs_keep_the_hyphen_in_our_answers_and_a_researchers_own_as_they_are() -> None:
    choice = {
        "kind": "select_one",
        "name": "cold",
        "text": "How cold?",
        "options": [{"name": "very", "text": "−10 °C"}, {"name": "little", "text": "-1 °C"}],
        "design": {"mechanism": "k_ary", "epsilon": 1.0},
    }
    definition = parse_definition(
        {**every_kind.document(), "questions": [*every_kind.document()["questions"], choice]}
    )
    texts = {question.name: AnswerTexts(definition).of(question) for question in definition.questions}
    assert texts.pop("cold") == ("−10 °C", "-1 °C")
    ours = [text for found in texts.values() for text in found]
    assert "-10 cups" in ours
    assert not any(MINUS in text for text in ours)


def test_the_one_decimal_of_before_fails() -> None:
    assert f"{round(100 * 99_990 / 100_000, 1)}" == "100.0"


@pytest.mark.parametrize("locale", ["en", "es"])
@pytest.mark.parametrize("loss", [0.001, 1, 5, 10, 20, 40, 800])
def test_no_finite_loss_makes_a_belief_certain(loss: float, locale: str) -> None:
    belief = belief_after_report(loss, 0.5)
    for value in (belief, 1 - belief):
        digits = re.sub(r"[^0-9]", "", chance(value, locale))
        assert digits.strip("0")
        assert digits.strip("0") != "1" or chance(value, locale).startswith("<") or value > 1e-6
    if loss >= 40:
        assert chance(belief, "en") == "> 99.999999"
        assert chance(1 - belief, "en") == "< 0.000001"
    assert chance(belief_after_report(10, 0.1), "en") == "99.96"


def test_what_commands_print() -> None:
    assert [fraction(share) for share in (0.5, 0.99996, 0.00004, 0.0, 1.0)] == [
        "0.5000",
        "0.99996",
        "0.00004",
        "0.0000",
        "1.0000",
    ]
    # A limit that is 0 but for the rounding of its computation is not negative.
    assert (fraction(-3e-17), fraction(-0.0), fraction(-0.01)) == ("0.0000", "0.0000", "-0.0100")


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (7.7056, "7.8"),
        (7.0 + 1e-12, "7"),
        (12.5, "12.5"),
        (11.234, "11.3"),
        (0.0512, "0.052"),
        (0.0966, "0.097"),
        (0.5, "0.5"),
        (99.97, "100"),
        (1234.2, "1240"),
        (15_234, "15,300"),
        (0.0, "0"),
    ],
)
def test_a_margin_has_the_digits_that_its_size_deserves(size: float, shown: str) -> None:
    assert margin(size, "en") == shown


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_no_margin_reads_as_narrower_than_it_is_or_than_a_narrower_one(one: float, other: float) -> None:
    shown, beside = (float(margin(each, "en").replace(",", "")) for each in (one, other))
    assert one * (1 - 1e-8) <= shown <= one * 1.1 + 1e-8
    assert (shown - beside) * (one - other) >= 0


@pytest.mark.parametrize(("confidence", "shown"), [(0.95, "95"), (0.999, "99.9"), (0.9999, "99.99")])
def test_a_confidence_is_said_as_it_was_chosen(confidence: float, shown: str) -> None:
    assert level(confidence, "en") == shown


def test_a_spreadsheet_shows_as_many_decimals() -> None:
    words = Words("en")
    assert [cell_texts.share(words, share).form for share in (0.5, 0.9999, 1.0, None)] == [
        "0.0%",
        "0.00%",
        "0.0%",
        "0.0%",
    ]


@pytest.mark.parametrize(
    ("loss", "shown"),
    # The floats of these are a little above and a little below them.
    [
        (2.2, "2.20"),
        (11.4, "11.40"),
        (0.85, "0.85"),
        (1.1, "1.10"),
        (2.2001, "2.21"),
        (math.log(3), "1.10"),
        (5.5, "5.50"),
    ],
)
def test_a_privacy_loss_is_rounded_up_from_what_files_say(loss: float, shown: str) -> None:
    assert epsilon(loss, "en") == shown
    assert epsilon(loss, "es") == shown.replace(".", ",")


@given(st.floats(0.001, 1000))
def test_a_privacy_loss_never_reads_as_less(loss: float) -> None:
    read = Decimal(epsilon(loss, "en").replace(",", ""))
    assert 0 <= read - Decimal(repr(loss)) < Decimal("0.01")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(6.0342, "6.03"), (0.04, "0.04"), (999_499_999, "999,000,000"), (1e18, "1 × 10¹⁸"), (math.inf, "∞")],
)
def test_a_ratio_is_written_however_large(value: float, shown: str) -> None:
    assert ratio(value, "en").replace("\N{NO-BREAK SPACE}", " ") == shown


@pytest.mark.parametrize(
    ("locale", "items", "said"),
    [
        ("en", "abc", "a, b, and c"),
        ("es", "abc", "a, b y c"),
        ("es", ("Apuntes", "Internet"), "Apuntes e Internet"),
        ("es", ("agua", "hielo"), "agua y hielo"),
        ("es", ("Apuntes", "Índices"), "Apuntes e Índices"),
        ("es", ("diésel", "híbrido"), "diésel e híbrido"),
        ("es", ("i",), "i"),
        ("fr", "ab", "a et b"),
        ("ar", "أبج", "أ وب وج"),
        ("ar", (), ""),
    ],
)
def test_things_are_joined_as_their_language_does(locale: str, items: Sequence[str], said: str) -> None:
    """CLDR 45's patterns, and the Real Academia's rule on "y" before the sound of "i"."""
    assert join_list(items, locale) == said


def test_the_comma_of_a_moment_is_that_of_its_language() -> None:
    time = datetime(2026, 11, 27, 7, 5)  # noqa: DTZ001 - in UTC, as the database holds times
    assert moment(time, "en") == "November 27, 2026, 07:05"
    assert moment(time, "es") == "27 de noviembre de 2026, 07:05"
    assert moment(time, "ar") == "27 نوفمبر 2026، 07:05"


@pytest.mark.parametrize(
    ("values", "digits"),
    [
        ((6.0342, 4.1, 8.9, 1.0), 3),
        ((1.0123, 1.0101, 1.0145, 1.0), 4),
        ((1.00052, 1.00031, 1.00073, 1.0), 5),
        ((1.0004, 1.00004, 1.0008, 1.0), 6),
        ((2.0, 2.0 + 1e-12, math.inf, 0.0), 3),  # as good as equal, and an end that is none
        ((1.0, 1.0 + 1.2e-8, 2.0), 9),
    ],
)
def test_as_many_digits_as_tell_an_estimate_from_its_ends(values: tuple[float, ...], digits: int) -> None:
    assert count_digits(values) == digits


@pytest.mark.parametrize(
    ("message", "bound"),
    [
        ("%(percent)s %% of the %(planned)s", "%(percent)s~%% of the %(planned)s"),
        ("For ± %(points)s points or better", "For ±~%(points)s~points or better"),
        ("± %(points)d", "±~%(points)d"),
        ("Margin you want (± points)", "Margin you want (±~points)"),
        ("%(low)s to %(high)s of 100.", "%(low)s~to~%(high)s~of~100."),
        ("%(low)s a %(high)s de cada 100", "%(low)s~a~%(high)s~de~cada~100"),
        ("Best guess: %(guess)s.", "Best guess:~%(guess)s."),
        ("Mejor estimación: %(guess)s de cada 100.", "Mejor estimación:~%(guess)s~de~cada~100."),
        (
            "must be from %(low)s to %(high)s; it is %(value)s",
            "must be from %(low)s to %(high)s; it is %(value)s",
        ),
        ("Which: %(answer)s", "Which: %(answer)s"),
        ("%(low)s من 100", "%(low)s~من~100"),
        ("3 of 4 · 100 responses, %(n)s of 1000", "3 of 4 · 100 responses, %(n)s of 1000"),
        ("γ = %(gamma)s for each", "γ~=~%(gamma)s for each"),
        ("at most ε = 0.5, and A x = b", "at most ε~=~0.5, and A x = b"),
        (
            "once a day, at 6:00 UTC or from %(when)s (UTC) on",
            "once a day, at 6:00~UTC or from %(when)s~(UTC) on",
        ),
        ("made-up people, SHA-256, an e-mail", "made-up people, SHA-256, an e-mail"),
    ],
)
def test_no_line_ends_between_a_number_and_its_sign(message: str, bound: str) -> None:
    assert bind_units(message) == bound.replace("~", "\N{NO-BREAK SPACE}")
