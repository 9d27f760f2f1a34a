"""The types of an XLSForm's rows: which are taken, and why the others are not."""

import re
from dataclasses import dataclass

from server.inputs.problems import N_

_SELECT = re.compile(
    r"(?P<how>select[ _](?:one|multiple)|select1|select all that apply)(?:[ _]from)?"
    r"(?P<elsewhere>[ _](?:file|external))?(?:\s+(?P<list>\S+)(?P<rest>.*))?",
    re.IGNORECASE,
)
_GROUP = re.compile(r"(begin|end)[ _](group|repeat)", re.IGNORECASE)
_PLAIN = {"int": "integer", "integer": "integer", "decimal": "decimal", "range": "range", "note": "note"}

_FREE = N_("free text cannot be randomised; offer answers to choose from")
_TIME = N_("a date or time cannot be randomised; ask for a number, or offer answers to choose from")
_PLACE = N_("a place on the map would give the respondent away")
_FILE = N_("a picture, a recording or a file cannot be randomised")
_META = N_("nothing about the device, the person or the time is recorded")
_CALCULATED = N_("nothing is calculated from answers")
_REFUSED = {
    **dict.fromkeys(("text", "string", "barcode"), _FREE),
    **dict.fromkeys(("date", "time", "datetime"), _TIME),
    **dict.fromkeys(("geopoint", "geotrace", "geoshape", "gps", "location", "start-geopoint"), _PLACE),
    **dict.fromkeys(("image", "photo", "audio", "video", "file", "background-audio"), _FILE),
    **dict.fromkeys(
        (
            "start",
            "end",
            "today",
            "deviceid",
            "phonenumber",
            "phone number",
            "username",
            "email",
            "simserial",
            "subscriberid",
            "audit",
        ),
        _META,
    ),
    **dict.fromkeys(("calculate", "hidden", "hidden geopoint"), _CALCULATED),
    "rank": N_("a ranking cannot be randomised; ask which of several comes first"),
    "acknowledge": N_("an agreement is no answer; write it as a note"),
    "trigger": N_("an agreement is no answer; write it as a note"),
}
ELSEWHERE = N_("its choices are in another file")
REPEAT = N_("a part that repeats would show how often it was filled in")
OTHER = N_("“other” with free text cannot be randomised; its question was taken without it")
_UNKNOWN = N_("this type is not known; taken are %(allowed)s")
ALLOWED = "select_one, select_multiple, integer, decimal, range, note, begin_group, end_group"


@dataclass(frozen=True)
class Type:
    """What a row is: select_one, select_multiple, integer, decimal, range, note, begin_group,
    end_group, begin_repeat, end_repeat, or "" with the reason why it is not taken."""

    kind: str
    list_name: str = ""
    rest: str = ""
    reason: str = ""

    @property
    def values(self) -> dict[str, object]:
        """What the reason's message names."""
        return {"allowed": ALLOWED} if self.reason == _UNKNOWN else {}


def type_of(text: str) -> Type:
    """`Select_One from yes_no or_other` -> Type("select_one", "yes_no", "or_other")."""
    name = " ".join(text.split())
    lower = name.casefold()
    group = _GROUP.fullmatch(lower)
    if group:
        return Type(f"{group[1]}_{group[2]}")
    if lower in _PLAIN:
        return Type(_PLAIN[lower])
    select = _SELECT.fullmatch(name)
    if select and select["elsewhere"]:
        return Type("", reason=ELSEWHERE)
    if select:
        single = select["how"].casefold() in ("select one", "select_one", "select1")
        kind = "select_one" if single else "select_multiple"
        return Type(kind, (select["list"] or "").casefold(), (select["rest"] or "").strip())
    return Type("", reason=_REFUSED.get(lower) or _REFUSED.get(lower.split(" ")[0], _UNKNOWN))
