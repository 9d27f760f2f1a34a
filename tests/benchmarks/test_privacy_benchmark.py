"""The benchmark of the privacy library runs, and says of every peer what it took or why it is not measured.

And the simulation of slopes runs, and is the one of the manual.
"""

import pytest

from tests.benchmarks import coverage_slopes, privacy
from tests.support.factories import ROOT


def test_every_part_and_every_peer_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(privacy, "N", 20_000)
    monkeypatch.setattr(privacy, "ROWS", 2_000)
    monkeypatch.setattr(privacy, "ROUNDS", 1)
    privacy.main()
    printed = capsys.readouterr().out
    parts = printed.split("\n\n")[1:]
    assert [part[:2] for part in parts] == ["1.", "2.", "3.", "4.", "5."]
    peers = [["diffprivlib", "pure"], ["pure", "multi"], ["statsmodels"], [], ["OpenDP"]]
    for part, names in zip(parts, peers, strict=True):
        assert "target" in part
        assert "Moneda" in part
        for name in names:
            (line, *_) = [line for line in part.splitlines()[1:] if name in line]
            assert "NOT MEASURED" in line or " ns each" in line or " ms" in line


def test_the_first_table_of_coverage_in_the_manual_has_every_slope_of_the_script() -> None:
    manual = (ROOT / "docs/privacy/regression.md").read_text("utf-8")
    printed = list(coverage_slopes.table(2, ["known"]))
    assert "\n".join(printed[:2]) in manual
    for case in coverage_slopes.CASES.values():
        for slope in coverage_slopes.name_slopes(case):
            assert f"| {case.name} | {case.people:,} | {slope} |" in manual
    assert [line.split(" | ")[2] for line in printed[2:]] == coverage_slopes.name_slopes(
        coverage_slopes.CASES["known"]
    )
