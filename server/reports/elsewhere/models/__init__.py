"""Models of data from elsewhere: what a study file's `models` may state, each estimated from its own columns.

A design says what chance did to one answer. A model also leaves something else unknown: who cheats, how common the
harmless trait is, who answers without reading. To add one:

1. a module here, with a frozen dataclass that is a `Model` (`columns`: what it reads, by the roles that it gives them;
   `estimate`: from the values of rows that have them all) and a `ModelKind` that says what it is called, what it
   assumes, where it comes from, and how it is read;
2. its line in `MODELS` below;
3. in `server/schemas/elsewhere.schema.json` its name in the `enum` of `models`, its `if`, and its members in `$defs`
   (of the members of all, `model`, `name` and `text`, too);
4. its row in `docs/analyse.md`, and its tests.

The terminal, JSON, the page and every format draw what `estimate` gives and ask for nothing else. `model_parts` has
what a model is made of, `model_columns` reads columns and groups.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from server.inputs import N_, refuse
from server.reports.elsewhere.models.cheating_model import CHEATING
from server.reports.elsewhere.models.double_list_model import DOUBLE_LIST
from server.reports.elsewhere.models.extended_crosswise_model import EXTENDED_CROSSWISE
from server.reports.elsewhere.models.inattention_model import INATTENTIVE_CROSSWISE
from server.reports.elsewhere.models.item_count_model import ITEM_COUNT
from server.reports.elsewhere.models.item_sum_model import ITEM_SUM
from server.reports.elsewhere.models.lie_detector_model import LIE_DETECTOR
from server.reports.elsewhere.models.model_parts import ModelKind, ModelSpecification
from server.reports.elsewhere.models.several_baselines_model import SEVERAL_BASELINES
from server.reports.elsewhere.models.unknown_prevalence_model import UNKNOWN_PREVALENCE
from server.reports.elsewhere.study_columns import check_unique

MODELS: Mapping[str, ModelKind] = {
    kind.name: kind
    for kind in (
        UNKNOWN_PREVALENCE,
        CHEATING,
        EXTENDED_CROSSWISE,
        INATTENTIVE_CROSSWISE,
        ITEM_COUNT,
        DOUBLE_LIST,
        ITEM_SUM,
        LIE_DETECTOR,
        SEVERAL_BASELINES,
    )
}


def read_models(documents: Sequence[Mapping[str, Any]]) -> tuple[ModelSpecification, ...]:
    """What a study file's `models` state, which the schema has passed.

    Raises
    ------
    InputError
        Naming the field.
    """
    found = []
    for place, entry in enumerate(documents):
        field, kind = f"models[{place}]", MODELS[entry["model"]]
        name = entry["name"].strip()
        if not name:
            raise refuse(422, f"{field}.name", N_("must not be empty"))
        model = kind.read(entry, field)
        check_unique([column.header for column in model.columns.values()], field)
        found.append(ModelSpecification(kind, name, entry.get("text", "").strip() or name, model))
    check_unique([each.name for each in found], "models")
    return tuple(found)
