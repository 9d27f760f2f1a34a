"""The rows of a table from elsewhere that are left out, as something in them is missing."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from server.reports.elsewhere.study_columns import ABSENT, LEFT_OUT
from server.reports.elsewhere.study_file import StudyFile


def find_left_out(study: StudyFile, codes: Mapping[str, NDArray[np.int32]], rows: int) -> NDArray[np.bool_]:
    """Which rows miss a cell of a column that is read, shape (rows,).

    An empty cell where the version of a row does not have the column is none that is missing.
    """
    left = np.zeros(rows, bool)
    for column in codes.values():
        left |= column == LEFT_OUT
    if "" not in study.missing or len(study.definitions) == 1:
        return left
    for number, definition in study.definitions.items():
        own = codes["version"] == number
        for name in {name for question in definition.questions for name in question.columns}:
            left |= own & (codes[study.cells[name].header] == ABSENT)
    return left
