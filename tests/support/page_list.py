"""Every page of the site in the states that people see most, as one list that pictures and walks draw from.

A page is an address in a scene (`tests.support.page_scenes`), who opens it, and what they do there first.
"""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

from tests.support.page_acts import (
    answer_all,
    answer_on_tablet,
    answer_one,
    begin_tablet,
    buy_ticket,
    choose_every_item,
    choose_items,
    hand_tablet_over,
    keep_in_library,
    open_third,
    rehearse,
    see_what_is_sent,
    show_foreign_report,
    spend_too_much,
    take_completion_code,
)
from tests.support.page_scenes import SurveysInStates

VISITOR, OWNER, NEWCOMER, WITH_PASSWORD = "visitor", "owner", "newcomer", "somebody with a password"


@dataclass(frozen=True)
class PageState:
    """A page in a state.

    Attributes
    ----------
    name : str
        What its pictures are called.
    path : str
        Its address; in braces what the scene knows.
    who : str
        Who opens it.
    act : callable or None
        What they do there, until it looks as it is to look.
    status : int
        What the server answers.
    often : bool
        Whether it is among the ten that are seen most.
    """

    name: str
    path: str
    who: str = OWNER
    act: Callable[[Page, SurveysInStates], None] | None = None
    status: int = 200
    often: bool = False


HOME = "/manage/surveys/{busy}"
PAGES: tuple[PageState, ...] = (
    PageState("home", "/", VISITOR),
    PageState("help", "/help", VISITOR),
    PageState("help-guide", "/help/{guide}", VISITOR, often=True),
    PageState("help-found", "/help?q=moneda", VISITOR),
    PageState("reference", "/api", VISITOR),
    PageState("teach", "/teach", VISITOR),
    PageState("teach-again", "/teach/again", VISITOR),
    PageState("teach-difference", "/teach/difference", VISITOR),
    PageState("teach-noise", "/teach/noise", VISITOR),
    PageState("teach-audit", "/teach/audit", VISITOR),
    PageState("teach-class", "/teach/class", VISITOR),
    PageState("teach-cards", "/teach/cards", VISITOR),
    PageState("sign-in", "/manage/sign-in", VISITOR),
    PageState("sign-in-link", "/manage/sign-in/used-already", VISITOR),
    PageState("nothing-here", "/nowhere", VISITOR, status=404),
    PageState("introduction", "/s/{busy}", VISITOR, often=True),
    PageState("question", "/s/{busy}", VISITOR, answer_one, often=True),
    PageState("review", "/s/{busy}", VISITOR, answer_all, often=True),
    PageState("review-open", "/s/{busy}", VISITOR, see_what_is_sent),
    PageState("how", "/s/{busy}/how", VISITOR),
    PageState("tablet", "/s/{few}/tablet", VISITOR),
    PageState("tablet-desk", "/s/{few}/tablet", VISITOR, begin_tablet),
    PageState("tablet-handed", "/s/{few}/tablet", VISITOR, hand_tablet_over),
    PageState("tablet-thanks", "/s/{few}/tablet", VISITOR, answer_on_tablet),
    PageState("tablet-off", "/s/{busy}/tablet", VISITOR),
    PageState("respond-receipt", "/s/{busy}/receipt", VISITOR),
    PageState("respond-receipt-closed", "/s/{closed}/receipt", VISITOR, status=410),
    PageState("introduction-code", "/s/{invited}", VISITOR),
    PageState("ticket", "/s/{ticketed}", VISITOR, buy_ticket),
    PageState("completion-code", "/s/{paid}", VISITOR, take_completion_code),
    PageState("respond-closed", "/s/{closed}", VISITOR, status=410),
    PageState("respond-early", "/s/{early}", VISITOR, status=423),
    PageState("respond-unknown", "/s/bcdfghjkmnpq", VISITOR, status=404),
    PageState("public-report", "/r/{report}", VISITOR, often=True),
    PageState("public-unknown", "/r/bcdfghjkmnpq", VISITOR, status=404),
    PageState("joining", "/manage/invitation/{joining}", VISITOR),
    PageState("surveys-none", "/manage/surveys", NEWCOMER),
    PageState("surveys", "/manage/surveys", often=True),
    PageState("gallery", "/manage/gallery"),
    PageState("import", "/manage/surveys/import"),
    PageState("power", "/manage/power?planned=1000"),
    PageState("elsewhere", "/manage/elsewhere"),
    PageState("elsewhere-report", "/manage/elsewhere", OWNER, show_foreign_report),
    PageState("new-survey", "/manage/surveys/new"),
    PageState("editor", "/manage/surveys/{draft}/edit", often=True),
    PageState("editor-open", "/manage/surveys/{draft}/edit", OWNER, open_third),
    PageState("editor-library", "/manage/surveys/{draft}/edit", OWNER, keep_in_library),
    PageState("editor-twelve", "/manage/surveys/{wide}/edit"),
    PageState("editor-problems", "/manage/surveys/{unfinished}/edit?check=1"),
    PageState("translations", "/manage/surveys/{draft}/translations?to=fr"),
    PageState("preview", "/manage/surveys/{draft}/preview"),
    PageState("overview-draft", "/manage/surveys/{draft}"),
    PageState("overview-unfinished", "/manage/surveys/{unfinished}"),
    PageState("overview", HOME, often=True),
    PageState("overview-closed", "/manage/surveys/{closed}"),
    PageState("overview-archived", "/manage/surveys/{archived}"),
    PageState("simulate", "/manage/surveys/{draft}/simulate"),
    PageState("simulate-look", "/manage/surveys/{draft}/simulate/look"),
    PageState("simulate-found", "/manage/surveys/{draft}/simulate", OWNER, rehearse),
    PageState("simulate-twelve", "/manage/surveys/{wide}/simulate", OWNER, rehearse),
    PageState("links", f"{HOME}/links", often=True),
    PageState("links-sheet", f"{HOME}/links/sheet"),
    PageState("strata", f"{HOME}/strata"),
    PageState("class-begun", "/manage/class"),
    PageState("class-board", f"{HOME}/board"),
    PageState("invitations-none", "/manage/surveys/{empty}/invitations"),
    PageState("invitations", "/manage/surveys/{invited}/invitations"),
    PageState("completions-none", "/manage/surveys/{empty}/completions"),
    PageState("completions", "/manage/surveys/{paid}/completions"),
    PageState("paper", f"{HOME}/paper"),
    PageState("paper-entry", "/manage/surveys/{thrown}/paper"),
    PageState("paper-none", "/manage/surveys/{empty}/paper"),
    PageState("schedule", f"{HOME}/schedule"),
    PageState("study-sheet", f"{HOME}/study"),
    PageState("results-none", "/manage/surveys/{empty}/results"),
    PageState("results-few", "/manage/surveys/{few}/results"),
    PageState("results", f"{HOME}/results", often=True),
    PageState("results-anytime", f"{HOME}/results?interval=anytime"),
    PageState(
        "results-compared", f"{HOME}/results?open=surveys&first_stratum=North&second_stratum=South#compare"
    ),
    PageState("results-together", f"{HOME}/results?row=copied&column=bad#joint"),
    PageState("results-forty", "/manage/surveys/{wide}/results"),
    PageState("explain", f"{HOME}/explain"),
    PageState("explain-found", f"{HOME}/explain?explain=copied&by=stratum&by=reason#found"),
    PageState("explain-number", f"{HOME}/explain?explain=hours&by=stratum&by=trend#found"),
    PageState("explain-scale", f"{HOME}/explain?explain=bad&by=copied&by=trend#found"),
    PageState("explain-refused", f"{HOME}/explain?explain=hours&by=week&by=trend", status=422),
    PageState("releases-none", "/manage/surveys/{empty}/releases"),
    PageState("releases", f"{HOME}/releases"),
    PageState("release", f"{HOME}/releases/1"),
    PageState("release-every", "/manage/surveys/{wide}/releases/1"),
    PageState("release-kinds", f"{HOME}/releases/2"),
    PageState("release-new", f"{HOME}/releases/new"),
    PageState("release-price", f"{HOME}/releases/new", OWNER, choose_items),
    PageState("release-price-every", "/manage/surveys/{wide}/releases/new", OWNER, choose_every_item),
    PageState("release-refused", f"{HOME}/releases/new", OWNER, spend_too_much),
    PageState("searches", "/manage/surveys/{closed}/releases/searches"),
    PageState("search", "/manage/surveys/{closed}/releases/searches/1"),
    PageState("people", f"{HOME}/people"),
    PageState("webhooks", f"{HOME}/webhooks"),
    PageState("log", f"{HOME}/log"),
    PageState("keeping", f"{HOME}/keeping"),
    PageState("keeping-archived", "/manage/surveys/{archived}/keeping"),
    PageState("account", "/manage/account"),
    PageState("codes", "/manage/account/codes", WITH_PASSWORD),
    PageState("programs", "/manage/account/programs"),
    PageState("colleagues", "/manage/colleagues"),
    PageState("log-of-all", "/manage/log"),
)
"""What is missed here, `tests/test_page_list.py` names."""
