"""What gets a second look: few tests that failed, none of them about probabilities."""

import pytest

from tests.support.rerun_failures import NEVER, ROOT, refusal


def test_few_failed_tests_get_a_second_look() -> None:
    assert refusal(1, ["tests/test_http.py::test_a", "tests/browser/test_editor.py::test_b[es]"]) is None


@pytest.mark.parametrize(
    ("status", "failed", "why"),
    [
        (2, ["tests/test_http.py::test_a"], "status 2"),  # interrupted
        (1, [], "0 tests failed"),
        (1, [f"tests/test_http.py::test_{number}" for number in range(4)], "4 tests failed"),
        (1, ["tests/test_http.py::test_a", "tests/privacy/test_noise.py::test_b"], "test_noise"),
        (1, ["tests/browser/test_traffic_kinds.py::test_c"], "test_traffic_kinds"),
    ],
)
def test_others_have_failed(status: int, failed: list[str], why: str) -> None:
    refused = refusal(status, failed)
    assert refused is not None
    assert why in refused


def test_what_never_gets_one_is_there() -> None:
    assert all(list(ROOT.glob(f"{name}*")) for name in NEVER)
