"""What a report tells of strata that rows may not name: sums over the versions that it counts together.

A stratum whose responses are too few in one version is named by no row, and yet a report tells of it what all versions
together found. So much is told here, and no more: how often each report stands in each column.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from server.archives.folders.folder_layout import ArchiveFolderError, Document, code_strata
from server.collect.batches import Margin
from server.collect.waves import Wave, WaveQuestion, same_question
from server.reports import Report


def sum_strata(report: Report) -> list[Document]:
    """For each group of versions that every question counts together, what the report tells by stratum.

    Raises
    ------
    ArchiveFolderError
        If two of these versions have different columns of reports for one question.
    """
    codes = code_strata(report.nodes, report.hidden)
    return [_sum_group(report, waves, codes) for waves in report.alike if _find_shared(report, waves)]


def spread_sums(
    sums: Document, waves: Mapping[int, tuple[Margin, int]], places: Mapping[str, int], number: int
) -> dict[int, tuple[Margin, Margin]]:
    """Margins and sizes by place (of `number`) for each version of a group, so that together they are the sums.

    The first version has them, less what the others, whose strata are not known, add in the first place.

    Parameters
    ----------
    waves : mapping
        Of each version its margin and number of responses, from all rows.
    """
    first, *others = sums["versions"]
    found = {}
    margins = np.zeros((number, len(waves[first][0])), dtype=np.int64)
    sizes = np.zeros(number, dtype=np.int64)
    for code, part in sums["strata"].items():
        margins[places[code]] += np.array(part["counts"], dtype=np.int64)
        sizes[places[code]] += part["responses"]
    for version in others:
        margin, n = waves[version]
        own_margins = np.zeros((number, len(margin)), dtype=np.int64)
        own_sizes = np.zeros(number, dtype=np.int64)
        own_margins[0], own_sizes[0] = margin, n
        found[version] = own_margins, own_sizes
        for start, source, width in sums["columns"][str(version)]:
            margins[0, start : start + width] -= margin[source : source + width]
        sizes[0] -= n
    return {first: (margins, sizes), **found}


def _find_shared(report: Report, waves: Sequence[Wave]) -> list[dict[int, WaveQuestion]]:
    """The report's questions that these versions asked, of each what it is in every one of them."""
    numbers = {wave.number for wave in waves}
    found = []
    for question in report.definition.questions:
        asked = {one.wave.number: one for one in same_question(question.name, report.waves) if one.wave.n}
        if numbers <= asked.keys():
            found.append({number: asked[number] for number in numbers})
    return found


def _sum_group(report: Report, waves: Sequence[Wave], codes: Mapping[int | None, str]) -> Document:
    first, *others = waves
    margins = np.zeros_like(first.margins)
    columns: dict[str, list[tuple[int, int, int]]] = {str(wave.number): [] for wave in others}
    for asked in _find_shared(report, waves):
        own = asked[first.number]
        width = sum(design.weights.shape[1] for design in own.question.designs)
        for number, there in asked.items():
            if there.question.designs != own.question.designs:
                template = "versions {} and {} ask {!r} with other columns: their strata cannot be archived"
                raise ArchiveFolderError(template.format(first.number, number, own.question.name))
            source = there.wave.margins[:, there.column : there.column + width]
            margins[:, own.column : own.column + width] += source
            if number != first.number:
                columns[str(number)].append((own.column, there.column, width))
    sizes = np.sum([wave.sizes for wave in waves], axis=0)
    strata: dict[str, Document] = {}
    for place, stratum in enumerate(first.strata):
        if sizes[place]:
            part = strata.setdefault(codes[stratum], {"responses": 0, "counts": [0] * margins.shape[1]})
            part["responses"] += int(sizes[place])
            part["counts"] = (np.array(part["counts"]) + margins[place]).tolist()
    return {
        "versions": [wave.number for wave in waves],
        "columns": {number: [list(each) for each in parts] for number, parts in columns.items()},
        "strata": strata,
    }
