"""Definitions, forms and archives as nobody would write them: numbers at the ends, hostile texts, parts exchanged."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from server.inputs.schema import schema
from tests.support import sample_archives
from tests.support.strategies import documents

NUMBERS: list[Any] = [
    *(0, -0.0, -1, 1, 2, 3, 0.5, 0.1 + 0.2, 1e-3, 1e-9, 1e-300, 5e-324, 1.7976931348623157e308, -1e300),
    *(0.5 + sign * 10.0**-digits for digits in (3, 6, 8, 9, 10, 11, 12, 16) for sign in (1, -1)),
    *(10.0**-digits for digits in (6, 8, 9, 10, 12, 16)),
    *(1 - 10.0**-digits for digits in (6, 8, 9, 10, 12, 16)),
    *(2**31, 2**32, 2**53, 2**53 + 1, 2**63, 2**64, 10**30, 10**31 - 1, -(10**30), 10**400, 1000, 9999),
]
TEXTS = [
    *(
        "",
        " ",
        "\t",
        "\r\n",
        "a\nb",
        "\u2028",
        "\x1b[31m",
        "nan",
        "inf",
        "-Infinity",
        "1e999",
        "0x10",
        "１２",
        "٣",
    ),
    *(
        "\u202eabc\u202c",
        "\u2066\u2067",
        "\u200b",
        "\ufeff",
        "e\u0301" * 60,
        "\u0301",
        "ﷺ" * 50,
        "🏳️‍🌈" * 20,
        "ǅ",
    ),
    *(
        "\x00",
        "\ud800",
        "<script>alert(1)</script>",
        "{{ 7*7 }}",
        "{% raw %}",
        "%(x)s",
        "%s%n",
        "=1+1",
        "'\"`\\",
    ),
    *("prefer_not_to_say", "yes", "q", "day", "stratum", "x" * 199, "x" * 4000, "y" * 20_000, "a" * 41),
]
HOSTILE = [text for text in TEXTS if text.strip() and "\n" not in text and not {"\x00", "\ud800"} & set(text)]
TIMES = [
    *("0001-01-01T00:00:00", "0001-01-01", "9999-12-31T23:59:59", "9999-12-31", "1970-01-01", "0000-00-00"),
    *("2026-02-30", "2026-12-31T24:00:00", "2026-01-01T00:00:00+14:00", "10000-01-01T00:00:00", "-1"),
    *("1999-12-31T23:59:00", "2000-01-01T00:00:00", "2199-12-31T23:59:00", "2200-01-01T00:00:00"),
]
OTHERS: list[Any] = [None, True, False, [], {}, [[]], [None], {"": 0}, {"any_of": []}]

odd_values: st.SearchStrategy[Any] = st.one_of(
    *map(st.sampled_from, (NUMBERS, TEXTS, TIMES, OTHERS)),
    st.floats(allow_nan=False),
    st.integers(),
    st.text(),
).map(copy.deepcopy)


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of everything inside a decoded document."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield (*path, step)
        yield from places(item, (*path, step))


@st.composite
def bent(draw: st.DrawFn, document: Any, most: int = 3) -> Any:
    """A decoded document, with things in it exchanged, left out, repeated or added."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(0, most))):
        known = list(places(document))
        if not known:
            break
        *above, last = draw(st.sampled_from(known))
        node = document
        for step in above:
            node = node[step]
        match draw(st.integers(0, 9)):
            case 0:
                del node[last]
            case 1 if isinstance(node, list):
                node.append(copy.deepcopy(node[0]))
            case 1 | 2:
                other = document
                for step in draw(st.sampled_from(known)):
                    other = other[step] if step in other or isinstance(step, int) else other
                node[last] = copy.deepcopy(other)
            case 3 if isinstance(node, dict):
                node[draw(st.sampled_from(["", "x", "design", "questions", "epsilon", "\x00"]))] = draw(
                    odd_values
                )
            case _:
                node[last] = draw(odd_values)
    return document


def _limits(rules: Any) -> list[Any]:
    low, high = rules.get("minimum", -1e9), rules.get("maximum", 1e9)
    return [low, high, *(number for number in NUMBERS if low <= number <= high)]


@st.composite
def nearly_equal(draw: st.DrawFn) -> dict[str, Any]:
    """A yes/no design whose two answers give nearly the same reports; in 32 bits maybe the very same."""
    apart = draw(st.sampled_from([0.1, 1e-3, 1e-6, 1e-8, 1e-9, 3e-10, 2e-10, 1e-10, 1e-12, 0]))
    here = draw(st.sampled_from([0.01, 0.25, 0.5, 0.75, 0.99]))
    return draw(
        st.sampled_from(
            [
                {"mechanism": "warner", "truth": 0.5 + apart},
                {"mechanism": "crosswise", "prevalence": 0.5 - apart, "innocuous": "x"},
                {"mechanism": "kuk", "if_yes": here, "if_no": here + apart},
                {
                    "mechanism": "unrelated_question",
                    "truth": 0.01 + apart,
                    "prevalence": here,
                    "innocuous": "x",
                },
                {"mechanism": "forced_response", "truth": 0.01 + apart, "yes": here},
                {"mechanism": "coin_flip", "gamma": 0.5 - apart},
            ]
        )
    )


@st.composite
def extreme(draw: st.DrawFn) -> Any:
    """A definition whose numbers are where the schema just allows them, and whose texts are hostile."""
    document = draw(documents())
    if draw(st.booleans()):
        document["plan"] = {name: draw(st.sampled_from(_limits(rules))) for name, rules in _PLAN.items()}
    if "budget" in document and draw(st.booleans()):
        document["budget"] = draw(st.sampled_from(_limits(schema()["properties"]["budget"])))
    for entry in document["questions"]:
        if "epsilon" in entry.get("design", {}) and draw(st.booleans()):
            entry["design"]["epsilon"] = draw(st.sampled_from([1e-6, 1e-3, 0.01, 8, 10, 16, 20]))
        if "correct" not in entry and "otherwise" not in entry and entry.get("options") and draw(_SELDOM):
            count = draw(st.sampled_from([2, 30, 60, 100]))
            entry["options"] = [{"name": f"o{k}", "text": f"{k}"} for k in range(count)]
        if draw(_SELDOM):
            entry["text"] = draw(st.sampled_from(HOSTILE))
    if draw(st.booleans()):
        near = {"name": "near_0", "kind": "yes_no", "text": "?", "design": draw(nearly_equal())}
        document["questions"].append(near)
    if draw(_SELDOM):
        document["title"] = draw(st.sampled_from(HOSTILE))[:200]
    return document


_SELDOM = st.integers(0, 3).map(lambda number: number == 0)
_PLAN = schema()["properties"]["plan"]["properties"]

odd_documents = st.one_of(extreme(), extreme(), documents().flatmap(bent), extreme().flatmap(bent))


@st.composite
def odd_archives(draw: st.DrawFn, whole: bytes) -> bytes:
    """An archive with one or two of its members edited."""
    parts = sample_archives.entries(whole)
    for name in draw(st.lists(st.sampled_from(sorted(parts)), min_size=1, max_size=2)):
        if name.endswith(".json"):
            edited = json.loads(parts[name])
            if name == "manifest.json" and draw(st.booleans()):
                field = draw(
                    st.sampled_from(["opens_at", "closes_at", "created_on", "minimum", "cap", "time_zone"])
                )
                edited[field] = draw(st.one_of(st.sampled_from(TIMES), odd_values))
            else:
                edited = draw(bent(edited))
            parts[name] = json.dumps(edited).encode("utf-8", "surrogatepass")
        else:
            lines = parts[name].decode("utf-8", "surrogatepass").split("\n")
            place = draw(st.integers(0, len(lines) - 1))
            cells = lines[place].split(",")
            cells[draw(st.integers(0, len(cells) - 1))] = str(draw(odd_values))
            lines[place] = ",".join(cells)
            parts[name] = "\n".join(lines).encode("utf-8", "surrogatepass")
    return sample_archives.archive_of(parts)
