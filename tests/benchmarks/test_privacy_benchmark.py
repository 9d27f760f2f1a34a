"""The benchmark of the privacy library runs, and says of every peer what it took or why it is not measured."""

import pytest

from tests.benchmarks import privacy


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
