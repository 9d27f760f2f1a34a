"""The switches of a survey: what is on or off of all of it.

Forms, the command, programs, archives, copies and the log read this table. A switch has one name: of the column, the
field of the form, the command's option, what programs send and what an archive states. By that, find what it does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from server.inputs import N_, Problem
from server.people.change_log import Action
from server.store.models import Survey


class Until(Enum):
    """Until when a switch can be turned."""

    CLOSED = "closed"
    ON = "on"
    """Once a survey is published, on and never off."""
    PUBLISHED = "published"


class Exclusion(NamedTuple):
    """Another setting that may not be on beside a switch, the field that is refused then, and what is said."""

    other: str
    field: str
    message: str


@dataclass(frozen=True)
class Switch:
    """One switch.

    Attributes
    ----------
    label : str
        What pages call it.
    heading : str
        What it stands under among *Times and limits*; those with the same one stand together.
    hint : tuple of str
        Sentences beside it there. What depends on the survey or the server, the page adds.
    option : str
        What the command says of it.
    off, on : Action
        What the log says of turning it.
    until : Until
        Until when it can be turned, and `late`, what is said afterwards.
    excludes : tuple of Exclusion
        What may not be on beside it.
    copied : bool
        Whether a copy of the survey has it, too: respondents of the copy are told the same.
    """

    label: str
    heading: str
    hint: tuple[str, ...]
    option: str
    off: Action
    on: Action
    until: Until = Until.CLOSED
    late: str = ""
    excludes: tuple[Exclusion, ...] = ()
    copied: bool = False


SWITCHES: Mapping[str, Switch] = {
    "offline": Switch(
        N_("Once opened, it can be answered without a network"),
        N_("Without a network"),
        (
            N_(
                "The device keeps the page and the questions until the answers have arrived, or the respondent "
                "declines or erases: until then, whoever looks at the device can tell that this survey was "
                "opened on it. It never keeps an answer. What was sent without a network waits there, and goes "
                "by itself when the network is back and the page is open."
            ),
        ),
        "Once opened, it can be answered without a network.",
        Action.OFFLINE_FORBIDDEN,
        Action.OFFLINE_ALLOWED,
    ),
    "tickets": Switch(
        N_("Each code is exchanged for a ticket first, and the ticket lets one response in"),
        N_("Keeping codes and responses apart"),
        (
            N_(
                "For surveys by invitation whose respondents must not have to trust whoever runs this site. "
                "The server signs a ticket without seeing it, so that nothing in a response leads to its "
                "code, even where everything that arrives was noted; and still each code lets one response "
                "in."
            ),
            N_(
                "Times and addresses can still be compared, so leave days between handing out codes and "
                "closing. Whoever fetches a ticket and does not answer has used a code; who loses the device "
                "or its data loses the ticket."
            ),
            N_(
                "It must be chosen before the survey is published, with all strata in place, at most "
                "%(limit)d links; afterwards neither this nor links or invitations change. Not together with "
                "answering without a network."
            ),
        ),
        "Codes buy tickets, and these let responses in.",
        Action.TICKETS_OFF,
        Action.TICKETS_ON,
        Until.PUBLISHED,
        N_("must stay as it was when the survey was published: its definition names the keys, or none"),
        excludes=(
            Exclusion(
                "offline",
                "offline",
                N_("must be left out where codes buy tickets: for these a network is needed"),
            ),
        ),
        copied=True,
    ),
    "completions": Switch(
        N_("Everybody who finishes gets a code of their own"),
        N_("For panels that pay"),
        (
            N_(
                "Each code is good once, as proof for a panel that somebody finished: paste what the panel "
                "hands you under Completion codes, and read which are good. The server signs a code without "
                "seeing it, so that nothing leads from it to a response, even where everything that arrives "
                "was noted."
            ),
            N_(
                "Times can still be compared by whoever knows when somebody finished. It must be chosen "
                "before the survey is published. Not together with a tablet that is handed round."
            ),
        ),
        "Everybody who finishes gets a code of their own.",
        Action.COMPLETIONS_OFF,
        Action.COMPLETIONS_ON,
        Until.PUBLISHED,
        N_(
            "must stay as it was when the survey was published: its definition names the key of its codes, or none"
        ),
        excludes=(
            Exclusion(
                "tablet",
                "completions",
                N_(
                    "must be left out where many people answer on one tablet: their codes would come when they are gone"
                ),
            ),
        ),
        copied=True,
    ),
    "tablet": Switch(
        N_("Many people may answer on one tablet"),
        N_("On a shared device"),
        (
            N_(
                "For interviewers who hand a tablet from one person to the next, also where there is no "
                "network for days. Answers wait there as the coins left them, without order or time, and go "
                "together. Not for links that ask for codes: a tablet cannot check them without a network."
            ),
        ),
        "Many people may answer on one tablet.",
        Action.TABLET_FORBIDDEN,
        Action.TABLET_ALLOWED,
        # Without a network nobody can tell whether a code was used, and a refusal would come when its owner is gone.
        excludes=(
            Exclusion(
                "by_invitation",
                "tablet",
                N_(
                    "must be off where everybody needs the code of an invitation: a tablet cannot check codes"
                ),
            ),
        ),
    ),
    "forgets": Switch(
        N_("Leave no note on the device that the survey was answered"),
        N_("On a shared device"),
        (
            N_(
                "For phones that a family shares. As a rule, a device that has answered says so when the "
                "survey is opened again. Ticked, its page keeps nothing there once the answers have arrived; "
                "while they wait to be sent they are kept, and the device shows that. Devices that answered "
                "before keep their note."
            ),
            N_(
                "What it costs: nothing keeps the same person from answering again by accident. Each time "
                "flips new coins, so that of whoever answers twice, twice the ε can be learned; nor does the "
                "page of another wave say what both tell together."
            ),
            N_(
                "Where a code is asked for, a second answer takes a second code; but whoever finds a used "
                "code reads that it was used."
            ),
            N_("Once the survey is published, this can be switched on, never off: respondents were told."),
        ),
        "It leaves no note on a device that answered.",
        Action.NOTES_KEPT,
        Action.NOTES_LEFT_OUT,
        Until.ON,
        N_("must stay on once a survey is published: respondents were told that no note is left"),
        copied=True,
    ),
    "works": Switch(
        N_("A device works before an open link takes its response"),
        N_("Against robots"),
        (
            N_(
                "About %(seconds)s seconds of an old phone, while the questions are read, so that one "
                "machine cannot send thousands of made-up responses in a moment. It makes them dearer, not "
                "impossible. A code of an invitation stands in for it."
            ),
        ),
        "A device works before an open link takes its response.",
        Action.WORK_NOT_ASKED,
        Action.WORK_ASKED,
        copied=True,
    ),
}
"""By name, in the order of the page."""


def list_on(survey: Survey) -> frozenset[str]:
    """The switches of a survey that are on."""
    return frozenset(name for name in SWITCHES if getattr(survey, name))


def name_action(name: str, *, on: bool) -> Action:
    """What the log says of turning a switch."""
    return SWITCHES[name].on if on else SWITCHES[name].off


def find_problems(
    settings: Mapping[str, object], changed: Mapping[str, object], *, published: bool
) -> Iterator[Problem]:
    """What speaks against settings as they are wanted, of which some are changed."""
    for name, switch in SWITCHES.items():
        late = {Until.CLOSED: False, Until.ON: changed.get(name) is False, Until.PUBLISHED: name in changed}
        if published and late[switch.until]:
            yield Problem(name, switch.late, {})
        for other, field, message in switch.excludes:
            if settings[name] and settings[other] and {name, other} & changed.keys():
                yield Problem(field, message, {})
