"""Charts: what is drawn is where it belongs, what it says can be read, and what is impossible is hatched."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.output import charts
from server.output.charts import DayBar, Drawing, PlottedEstimate, PlottedGroup
from server.output.charts.drawing import PAPER_CSS, WIDTH, estimate_width, wrap_text
from tests.support.factories import ROOT

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script> & \"quotes\" 'here'"
AXIS = charts.share_axis([(-0.1, 1.0)])
ROWS = [
    PlottedEstimate("Yes", "25.0 % (10.0 % to 40.0 %)", 0.25, (0.1, 0.4), "Have you copied?"),
    PlottedEstimate("No", "75.0 % (60.0 % to 90.0 %)", 0.75, (0.6, 0.9)),
    PlottedEstimate("Below", "-5.0 % (-10.0 % to 1.0 %)", -0.05, (-0.1, 0.01)),
    PlottedEstimate("Unknown", "–", None, None),
]
CELLS = [[(0.4, "40.0 %"), (0.1, "10.0 %")], [(0.5, "50.0 %"), (-0.02, "-2.0 %")]]
BRANCHES = [
    PlottedGroup(0, "All", "700", 700),
    PlottedGroup(1, "Spain", "500", 500),
    PlottedGroup(2, "Madrid", "300", 300),
    PlottedGroup(2, "Getafe", "withheld", None),
    PlottedGroup(1, "Peru", "200", 200),
]
BARS = [
    DayBar(0, 25, 100, "May 1: 40"),
    DayBar(25, 50, 25, "May 2 to May 3: 20"),
    DayBar(75, 25, 50, "May 4: 20"),
]


PAIRS = [
    [charts.TableCell(0.4, "40", "35 to 46"), charts.TableCell(-0.01, "0", "0 to 3", chosen=True)],
    [charts.TableCell(0.1, "10", "7 to 14"), charts.TableCell(0.51, "51", "40 to 60")],
]


def percent(mark: float) -> str:
    return f"{100 * mark:.0f} %"


STEPS = [charts.FlowStep("Invited", "500", "287 codes were not used"), charts.FlowStep("Answered", "213")]


def every_chart(rows: list[PlottedEstimate] = ROWS, name: str = "") -> dict[str, Drawing]:
    """One of each kind; `name` in place of every label."""
    rows = [replace(row, label=name or row.label, heading=name and row.heading) for row in rows]
    first, second = name or "North", name or "South"
    branches = [replace(branch, name=name or branch.name) for branch in BRANCHES]
    bars = [replace(bar, description=name or bar.description) for bar in BARS]
    return {
        "estimates": charts.estimates("Shares", rows, AXIS, percent),
        "histogram": charts.histogram("Bins", rows, AXIS, percent),
        "means": charts.means("Means", [(row, AXIS, percent) for row in rows]),
        "course": charts.course("Versions", rows, AXIS, percent),
        "heat map": charts.heat_map("Joint", [first, second], [first, second], CELLS),
        "wide heat map": charts.heat_map("Joint", [first], [first] * 9, [[(0.1, "10.0 %")] * 9]),
        "share table": charts.share_table("Pairs", [first, second], [first, second], [first, second], PAIRS),
        "flow": charts.flow("Flow", [replace(step, name=name or step.name) for step in STEPS]),
        "tree": charts.tree("Strata", branches),
        "bars": charts.bars("Days", bars, "May 1", "May 4", "40"),
    }


def parse_drawing(drawing: Drawing) -> ElementTree.Element:
    svg = drawing.svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return ElementTree.fromstring(svg)  # noqa: S314 - our own


def texts(drawing: Drawing) -> list[str]:
    return [text.text or "" for text in parse_drawing(drawing).iter(f"{SVG}text")]


def places(drawing: Drawing, tag: str, look: str) -> list[dict[str, float]]:
    """The numbers of all shapes of a class."""
    return [
        {name: float(value) for name, value in shape.attrib.items() if re.fullmatch(r"-?[\d.]+", value)}
        for shape in parse_drawing(drawing).iter(f"{SVG}{tag}")
        if look in shape.attrib.get("class", "").split()
    ]


def scale(drawing: Drawing) -> tuple[float, float]:
    """Where 0 and 100 % are drawn, as the labels below the axis say."""
    marks = {text.text: float(text.attrib["x"]) for text in parse_drawing(drawing).iter(f"{SVG}text")}
    return marks["0 %"], marks["100 %"]


def test_what_is_far_beyond_the_possible_is_cut_and_leaves_it_half_of_the_drawing() -> None:
    """Of 60 responses through weak coins: minus 300 to 120 %. An arrow goes on where nothing ends."""
    interval = (-3.0, 1.2)
    axis = charts.share_axis([interval])
    assert (axis.low, axis.high) == (-0.5, pytest.approx(1.3, abs=0.1))
    rows = [PlottedEstimate("Yes", "", -0.9, interval)]
    dotted, barred = charts.estimates("A", rows, axis, percent), charts.histogram("A", rows, axis, percent)
    none, whole = scale(dotted)
    assert whole - none > WIDTH / 2
    assert not places(dotted, "circle", "dot")  # the estimate lies farther
    for drawing in (dotted, barred):
        (drawn,) = (
            shape.attrib["d"]
            for shape in parse_drawing(drawing).iter(f"{SVG}path")
            if "range" in shape.get("class", "")
        )
        assert drawn.count("l-5 5l5 5") == 1
        assert "l5 5l-5 5" not in drawn
    assert drawn.count("v8") == 1  # ends on one side alone
    assert charts.part_axis(2.4).holds(2.4)


def test_words_of_two_lines_in_a_heat_map_keep_away_from_the_next_row() -> None:
    name = "Somebody asked me to"
    drawing = charts.heat_map("Joint", [name, name], ["No"], [[(0.5, "50")]] * 2)
    words = [text for text in parse_drawing(drawing).iter(f"{SVG}text") if text.attrib["x"] == "0"]
    first, second, third, fourth = (float(text.attrib["y"]) for text in words)
    assert third - second > second - first
    assert fourth - third == second - first


def test_each_of_two_times_is_named_however_long_its_name() -> None:
    names = ["1. Extra jobs of people in three towns", "2. Extra jobs of people in three towns, a year later"]
    drawing = charts.course("Surveys", [replace(ROWS[0], label=name) for name in names], AXIS, percent)
    assert " ".join(names) in " ".join(texts(drawing))


def test_long_numbers_leave_labels_their_room() -> None:
    said = "11.6 to 19.9 hours of undeclared work a week"
    drawing = charts.estimates("Means", [PlottedEstimate("Villanueva", said, 0.3, (0.2, 0.4))], AXIS, percent)
    assert texts(drawing)[:2] == ["Villanueva", said]
    longest = charts.estimates("Means", [PlottedEstimate("", 2 * f"{said} ", 0.3, (0.2, 0.4))], AXIS, percent)
    assert all(estimate_width(words) <= WIDTH for words in texts(longest))


@pytest.mark.parametrize("kind", every_chart())
def test_a_drawing_is_one_element_that_loads_and_runs_nothing_and_says_all_it_shows(kind: str) -> None:
    drawing = every_chart()[kind]
    root = parse_drawing(drawing)

    assert root.tag == f"{SVG}svg"
    assert root.attrib["role"] == "img"
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    assert width >= WIDTH
    assert height > 20
    title, description = root[0], root[1]
    assert (title.tag, description.tag) == (f"{SVG}title", f"{SVG}desc")
    assert drawing.alternative == f"{title.text}: {description.text}"
    allowed = "class x y x1 y1 x2 y2 cx cy r d width height text-anchor transform viewBox role".split()
    assert {name for element in root.iter() for name in element.attrib} <= set(allowed)
    said = {
        *(row.value_text for row in ROWS if kind in ("estimates", "histogram", "means")),
        *(words for line in CELLS for _, words in line if kind == "heat map"),
        *(f"{cell.number} ({cell.interval})" for line in PAIRS for cell in line if kind == "share table"),
        *(f"{branch.name}: {branch.value_text}" for branch in BRANCHES if kind == "tree"),
        *(bar.description for bar in BARS if kind == "bars"),
    }
    assert all(words in drawing.alternative for words in said)


@pytest.mark.parametrize("kind", every_chart())
def test_texts_stay_texts(kind: str) -> None:
    drawing = every_chart(name=HOSTILE)[kind]

    assert "<script" not in drawing.svg
    assert "alert(1)" in drawing.alternative
    assert not [element for element in parse_drawing(drawing).iter() if "script" in element.tag]


@pytest.mark.parametrize(
    "name", ["", "x" * 300, "A longer question, of several words? " * 9, "漢字の質問" * 20]
)
@pytest.mark.parametrize("kind", every_chart())
def test_nothing_is_drawn_outside(kind: str, name: str) -> None:
    root = parse_drawing(every_chart(name=name)[kind])
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    baselines: list[float] = []
    for element in root.iter():
        for attribute in ("x", "x1", "x2", "cx"):
            assert -0.01 <= float(element.attrib.get(attribute, 0)) <= width + 0.01
        for attribute in ("y", "y1", "y2", "cy"):
            assert -0.01 <= float(element.attrib.get(attribute, 0)) <= height + 0.01
        if element.tag == f"{SVG}rect":
            assert float(element.attrib["x"]) + float(element.attrib["width"]) <= width + 0.01
            assert float(element.attrib["y"]) + float(element.attrib["height"]) <= height + 0.01
            assert float(element.attrib["width"]) >= 0
        if element.tag == f"{SVG}text" and "text-anchor" not in element.attrib and kind != "wide heat map":
            assert float(element.attrib["x"]) + estimate_width(element.text or "") <= width + 20
            baselines.append(float(element.attrib["y"]))
    assert all(height > at for at in baselines)


def test_every_class_has_a_rule_on_pages_and_on_paper() -> None:
    used = {
        name
        for drawing in every_chart().values()
        for element in parse_drawing(drawing).iter()
        for name in element.attrib.get("class", "").split()
    } - {"drawing"}
    for rules in (PAPER_CSS, (ROOT / "client" / "drawings.css").read_text("utf-8")):
        assert used <= set(re.findall(r"\.([a-z]+(?:-\d)?)\b", rules))


def off(drawing: Drawing, rows: list[PlottedEstimate]) -> list[str]:
    """The rows whose dot or interval is not where it belongs."""
    zero, one = scale(drawing)
    dots = [dot["cx"] for dot in places(drawing, "circle", "dot")]
    ends = [
        tuple(map(float, found))
        for found in re.findall(r'class="range" d="M(-?[\d.]+) [\d.]+H(-?[\d.]+)"', drawing.svg)
    ]
    known = [row for row in rows if row.value is not None and row.interval is not None]
    assert len(dots) == len(ends) == len(known)
    wrong = []
    for row, dot, limits in zip(known, dots, ends, strict=True):
        assert row.value is not None
        assert row.interval is not None
        expected = [zero + number * (one - zero) for number in (row.value, *row.interval)]
        if max(abs(a - b) for a, b in zip((dot, *limits), expected, strict=True)) > 0.05:
            wrong.append(row.label)
    return wrong


def test_dots_and_intervals_are_where_the_axis_says() -> None:
    assert off(every_chart()["estimates"], ROWS) == []
    # The broken twin: a row that is drawn one point (of a hundred) to the right.
    moved = [replace(ROWS[0], value=0.26), *ROWS[1:]]
    assert off(every_chart(moved)["estimates"], ROWS) == ["Yes"]


def test_what_is_impossible_is_hatched_and_nothing_else() -> None:
    drawing = every_chart()["estimates"]
    zero, one = scale(drawing)
    outside = places(drawing, "rect", "outside")
    assert len(outside) == 2 * len(ROWS)
    for below, above in zip(outside[::2], outside[1::2], strict=True):
        assert below["x"] + below["width"] == pytest.approx(zero, abs=0.02)
        assert above["x"] == pytest.approx(one, abs=0.02)
    strokes = [
        (float(start), float(start) + 8)
        for path in re.findall(r'class="hatch" d="([^"]*)"', drawing.svg)
        for start in re.findall(r"M([\d.]+) [\d.]+l8", path)
    ]
    assert len(strokes) >= 2 * len(ROWS)
    assert all(end <= zero + 0.02 or start >= one - 0.02 for start, end in strokes)


def test_a_bar_reaches_from_zero_to_its_value() -> None:
    drawing = every_chart()["histogram"]
    zero, one = scale(drawing)
    values = [row.value for row in ROWS if row.value is not None]
    bars = places(drawing, "rect", "bar")
    for bar, value in zip(bars, values, strict=True):
        ends = sorted([zero, zero + value * (one - zero)])
        assert [bar["x"], bar["x"] + bar["width"]] == pytest.approx(ends, abs=0.05)


def test_each_mean_has_an_axis_of_its_own() -> None:
    row = PlottedEstimate("Mean", "4.15", 4.15, (1.9, 6.47), "How many?")
    axes = [charts.mean_axis(-10, 30, row.interval), charts.mean_axis(1, 5, (3.0, 4.9))]
    drawing = charts.means("Means", [(row, axis, str) for axis in axes])

    assert [text for text in texts(drawing) if re.fullmatch(r"-?\d+(\.\d)?", text)] == ["-10", "30", "1", "5"]
    first, second = (dot["cx"] for dot in places(drawing, "circle", "dot"))
    assert first < WIDTH / 2 < second


def test_the_larger_a_cell_the_darker_and_its_number_is_in_it() -> None:
    drawing = every_chart()["heat map"]
    cells = [(value, words) for line in CELLS for value, words in line]
    steps = [int(step) for step in re.findall(r'class="heat heat-(\d)"', drawing.svg)]
    boxes = places(drawing, "rect", "heat")

    assert steps == [4, 1, 5, 0]
    assert all(a[0] <= b[0] for a, b in pairwise(sorted(zip(steps, cells, strict=True))))
    written = {text.text: text.attrib for text in parse_drawing(drawing).iter(f"{SVG}text")}
    for box, (_, words) in zip(boxes, cells, strict=True):
        x, y = float(written[words]["x"]), float(written[words]["y"])
        assert box["x"] < x < box["x"] + box["width"]
        assert box["y"] < y < box["y"] + box["height"]


def test_a_tree_shows_each_group_under_its_own_and_withholds_what_is_withheld() -> None:
    drawing = every_chart()["tree"]
    bars = places(drawing, "rect", "bar")
    sizes = [branch.value for branch in BRANCHES if branch.value is not None]

    assert [bar["width"] / bars[0]["width"] for bar in bars] == pytest.approx(
        [size / 700 for size in sizes], abs=0.001
    )
    shown = {text.text: float(text.attrib["x"]) for text in parse_drawing(drawing).iter(f"{SVG}text")}
    assert shown["All"] < shown["Spain"] == shown["Peru"] < shown["Madrid"] == shown["Getafe"]
    assert "withheld" in shown
    joints = [tuple(map(float, found)) for found in re.findall(r"V([\d.]+)H(\d+)", drawing.svg)]
    assert len(joints) == len(BRANCHES) - 1
    assert all(joints)


def test_the_area_of_a_bar_is_its_number() -> None:
    boxes = places(every_chart()["bars"], "rect", "bar")
    areas = [box["width"] * box["height"] for box in boxes]

    assert [area / areas[0] for area in areas] == pytest.approx([1, 0.5, 0.5], abs=0.01)
    assert texts(every_chart()["bars"]) == ["40", "May 1", "May 4"]


words = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1), max_size=12
)


@given(words, st.integers(40, 400), st.integers(1, 3))
def test_wrapped_lines_fit_and_lose_nothing_without_saying_so(
    parts: list[str], width: int, most: int
) -> None:
    lines = wrap_text(" ".join(parts), width, most)

    assert 1 <= len(lines) <= most
    assert all(estimate_width(line) <= width for line in lines)
    whole = "".join(parts)
    together = "".join(lines).replace(" ", "")
    assert together == whole or (lines[-1].endswith("…") and whole.startswith(together[:-1]))


def test_a_long_list_has_its_axis_above_as_well() -> None:
    rows = [ROWS[0]] * 9
    assert texts(charts.estimates("Shares", rows, AXIS, percent)).count("50 %") == 2
    assert texts(charts.estimates("Shares", rows[:8], AXIS, percent)).count("50 %") == 1
