"""What models found, as JSON: every number, null where there is none."""

from typing import Any

from server.output.formatting import finite
from server.reports.elsewhere.models.model_parts import FittedModel


def model_json(fitted_model: FittedModel) -> dict[str, Any]:
    """A model: what it is, of which rows, and what it says."""
    stated, finding = fitted_model.specification, fitted_model.finding
    return {
        "name": stated.name,
        "model": stated.kind.name,
        "text": stated.text,
        "columns": {role: column.header for role, column in stated.model.columns.items()},
        "rows": fitted_model.used,
        "left_out": fitted_model.left_out,
        "groups": [{"cell": name, "rows": rows} for name, rows in fitted_model.groups],
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
