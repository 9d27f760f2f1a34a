"""What models found, as JSON: every number, null where there is none."""

from typing import Any

from server.output.formatting import finite
from server.reports.elsewhere.models.model_parts import FoundModel


def model_json(found: FoundModel) -> dict[str, Any]:
    """A model: what it is, of which rows, and what it says."""
    stated, finding = found.stated, found.finding
    return {
        "name": stated.name,
        "model": stated.kind.name,
        "text": stated.text,
        "columns": {role: column.header for role, column in stated.model.columns.items()},
        "rows": found.used,
        "left_out": found.left_out,
        "groups": [{"cell": name, "rows": rows} for name, rows in found.groups],
        "weighted": finding.freedom is not None,
        "degrees_of_freedom": finding.freedom,
        "estimates": [
            {
                "name": each.name,
                "value": finite(each.value),
                "standard_error": finite(each.standard_error),
                "interval": [finite(limit) for limit in each.interval],
                "possible": each.possible,
            }
            for each in finding.estimates
        ],
        "tests": [
            {
                "name": each.name,
                "statistic": finite(each.statistic),
                "degrees_of_freedom": each.degrees_of_freedom,
                **({} if each.denominator is None else {"denominator": each.denominator}),
                "p_value": finite(each.p_value),
                "verdict": each.verdict,
            }
            for each in finding.tests
        ],
        "remarks": list(finding.remarks),
        "assumes": stated.kind.assumes,
        "source": stated.kind.source,
    }
