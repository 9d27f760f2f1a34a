"""Every route, as owner, editor, viewer, stranger, administrator who is a stranger, and signed out.

The routes come from the application: one that is not in `LEAST` fails. Those that programs call take a token,
and no sign-in of a browser: they are held to their table in `test_programs`.
"""

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from server.reports import LABELLED
from server.reports.formats import FORMATS, PAGE
from server.reports.question_figures import FIGURE_FORMATS, PICTURE_FORMATS
from server.store.models import InvitationBatch, Stratum
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.full_installation import (
    ADMINISTRATOR,
    ANYBODY,
    EDITOR,
    OWNER,
    SIGNED_IN,
    VIEWER,
    Scene,
    hash_secret,
    invitation,
    member,
    routes,
)

TEACHING = ("contents", "again", "difference", "noise", "audit", "classroom", "cards")
LEAST = {
    "home": ANYBODY,
    "client": ANYBODY,
    "client_manifest": ANYBODY,
    "help.contents": ANYBODY,
    "help.chapter": ANYBODY,
    "help.picture": ANYBODY,
    **{f"teaching.{page}": ANYBODY for page in TEACHING},
    "account.sign_in": ANYBODY,
    "account.sign_in_with_password": ANYBODY,
    "account.sign_in_link": ANYBODY,
    "account.redeem": ANYBODY,
    "account.sign_out": ANYBODY,
    "joining.page": ANYBODY,
    "joining.accept": ANYBODY,
    "respond.page": ANYBODY,
    "respond.definition": ANYBODY,
    "respond.screens": ANYBODY,
    "respond.how": ANYBODY,
    "respond.tablet": ANYBODY,
    "respond.store": ANYBODY,
    "respond.look": ANYBODY,
    "respond.sell": ANYBODY,
    "respond.complete": ANYBODY,
    "respond.receipt": ANYBODY,
    "respond.logo": ANYBODY,
    "respond.check_receipt": ANYBODY,
    "respond.take_back": ANYBODY,
    "manage.home": ANYBODY,
    "manage.surveys_page": SIGNED_IN,
    "manage.overview": VIEWER,
    "manage.publish": EDITOR,
    "manage.close": EDITOR,
    "manage.preview": VIEWER,
    "manage.preview_definition": VIEWER,
    "manage.export": VIEWER,
    "manage.export_form": VIEWER,
    "editor.new": SIGNED_IN,
    "editor.create": SIGNED_IN,
    "editor.edit": EDITOR,
    "editor.save": EDITOR,
    "elsewhere.page": SIGNED_IN,
    "elsewhere.analyse": SIGNED_IN,
    "imports.page": SIGNED_IN,
    "imports.import_file": SIGNED_IN,
    "imports.templates": SIGNED_IN,
    "power.page": SIGNED_IN,
    "pending_work.progress": SIGNED_IN,
    "imports.use_template": SIGNED_IN,
    "simulate.form": EDITOR,
    "simulate.preview": EDITOR,
    "simulate.run": EDITOR,
    "public.page": ANYBODY,
    "public.figure": ANYBODY,
    **{f"public.figure_{ending}": ANYBODY for ending in PICTURE_FORMATS},
    "public.card": ANYBODY,
    **{f"public.report_{ending}": ANYBODY for ending in FORMATS if ending != PAGE},
    "releases.page": VIEWER,
    **{f"release_figures.figure_{ending}": VIEWER for ending in FIGURE_FORMATS},
    "releases.one": VIEWER,
    "releases.set_budget": OWNER,
    "releases.declare": OWNER,
    "releases.link": OWNER,
    "releases.revoke": OWNER,
    "release_builder.form": EDITOR,
    "release_builder.quote_price": EDITOR,
    "release_builder.make": EDITOR,
    "release_builder.exact": EDITOR,
    "release_builder.plan_file": EDITOR,
    "searches.page": VIEWER,
    "searches.one": VIEWER,
    "searches.quote": EDITOR,
    "searches.create": EDITOR,
    "searches.ask": EDITOR,
    "webhooks.page": EDITOR,
    "webhooks.create": EDITOR,
    "webhooks.add_trial": EDITOR,
    "webhooks.revoke": EDITOR,
    "results.live": VIEWER,
    "explanations.page": VIEWER,
    **{f"results.report_{ending}": VIEWER for ending in FORMATS},
    "results.microdata": VIEWER,
    **{f"results.responses_{ending}": VIEWER for ending in LABELLED},
    "results.study_description": VIEWER,
    "results.study_file": VIEWER,
    "results.responses_csv": VIEWER,
    "results.strata_csv": VIEWER,
    "results.codebook_csv": VIEWER,
    **{f"results.figure_{ending}": VIEWER for ending in FIGURE_FORMATS},
    **{f"result_figures.strata_{ending}": VIEWER for ending in PICTURE_FORMATS},
    **{
        f"result_figures.{name}_{ending}": VIEWER
        for name in ("versions", "days", "targets", "explained")
        for ending in FIGURE_FORMATS
    },
    **{f"result_figures.comparison_{ending}": VIEWER for ending in FIGURE_FORMATS},
    **{f"result_figures.crossing_{ending}": VIEWER for ending in FIGURE_FORMATS},
    **{f"result_figures.groups_{ending}": VIEWER for ending in FIGURE_FORMATS},
    "links.page": VIEWER,
    "links.table": VIEWER,
    "links.sheet": VIEWER,
    "links.qr_svg": VIEWER,
    "links.qr_png": VIEWER,
    "links.edit": EDITOR,
    "links.save": EDITOR,
    "study_sheet.page": EDITOR,
    "translating.page": EDITOR,
    "translating.save": EDITOR,
    "study_sheet.save": EDITOR,
    "study_sheet.datacite_file": EDITOR,
    "schedule.page": EDITOR,
    "schedule.save": EDITOR,
    "schedule.pause": EDITOR,
    "schedule.resume": EDITOR,
    "paper.page": EDITOR,
    "paper.form": EDITOR,
    "paper.enter": EDITOR,
    "completions.page": EDITOR,
    "completions.check": EDITOR,
    "completions.table": EDITOR,
    "invitations.page": EDITOR,
    "invitations.issue": EDITOR,
    "invitations.withdraw": EDITOR,
    "invitations.table": EDITOR,
    "invitations.links": EDITOR,
    "invitations.sheet": EDITOR,
    "lesson_board.start": SIGNED_IN,
    "lesson_board.make": SIGNED_IN,
    "lesson_board.board": VIEWER,
    "keeping.page": VIEWER,
    "keeping.duplicate": VIEWER,
    "keeping.archive": OWNER,
    "keeping.export": OWNER,
    "keeping.retain": OWNER,
    "keeping.delete": OWNER,
    "people.page": OWNER,
    "people.invite": OWNER,
    "people.withdraw": OWNER,
    "people.change_role": OWNER,
    "people.remove": OWNER,
    "people.hand_over": OWNER,
    "log.of_survey": EDITOR,
    "log.of_installation": ADMINISTRATOR,
    "colleagues.page": ADMINISTRATOR,
    "colleagues.invite": ADMINISTRATOR,
    "colleagues.withdraw": ADMINISTRATOR,
    "colleagues.disable": ADMINISTRATOR,
    "colleagues.enable": ADMINISTRATOR,
    "colleagues.make_administrator": ADMINISTRATOR,
    "colleagues.unmake_administrator": ADMINISTRATOR,
    "colleagues.give_link": ADMINISTRATOR,
    "programs.reference": ANYBODY,
    "programs.description": ANYBODY,
    "programs.tokens": SIGNED_IN,
    "programs.make_token": SIGNED_IN,
    "programs.revoke_token": SIGNED_IN,
    "settings.page": SIGNED_IN,
    "settings.save": SIGNED_IN,
    "settings.codes": SIGNED_IN,
    "settings.turn_codes_on": SIGNED_IN,
    "settings.turn_codes_off": SIGNED_IN,
    "settings.renew_recovery": SIGNED_IN,
    "settings.end_sign_in": SIGNED_IN,
}
"""The least that somebody must be for each route."""

ALLOWED = {
    SIGNED_IN: {OWNER, EDITOR, VIEWER, "stranger", ADMINISTRATOR},
    VIEWER: {OWNER, EDITOR, VIEWER},
    EDITOR: {OWNER, EDITOR},
    OWNER: {OWNER},
    ADMINISTRATOR: {ADMINISTRATOR},
}


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """Who may do what does not depend on the database."""
    return sqlite(True)


def refusal(answer: TestResponse) -> str:
    """How somebody is kept out; empty for who is let in, whatever the page has to say then."""
    if answer.status_code == 302 and answer.location == "/manage/sign-in":
        return "sign in first"
    if answer.status_code == 404 and "is not known; check the link" in answer.text:
        return "no such survey"
    return "not allowed" if answer.status_code == 403 else ""


def expect_answer(person: str, least: str, rule: Rule) -> str:
    """What somebody must be told."""
    if person == "signed out":
        return "sign in first"
    if person in ALLOWED[least]:
        return ""
    if "slug" in rule.arguments and person in ("stranger", ADMINISTRATOR):
        return "no such survey"
    return "not allowed"


def for_browsers(app: Flask) -> list[tuple[str, Rule]]:
    """Every route but those that programs call."""
    return [(method, rule) for method, rule in routes(app) if not rule.endpoint.startswith("api.")]


def test_every_route_is_in_the_table(app: Flask) -> None:
    assert {rule.endpoint for _method, rule in for_browsers(app)} == LEAST.keys()


def test_no_sign_in_of_a_browser_lets_a_program_in(scene: Scene) -> None:
    for method, rule in routes(scene.app):
        if rule.endpoint.startswith("api."):
            answer = scene.people[OWNER].open(scene.path(rule), method=method, data=b"")
            assert answer.status_code == 401, rule.endpoint


def test_every_route_lets_in_whom_the_table_names_and_nobody_else(scene: Scene) -> None:
    wrong, refused, allowed = [], 0, 0
    guarded = [(method, rule) for method, rule in for_browsers(scene.app) if LEAST[rule.endpoint] != ANYBODY]
    people = {**scene.people, "signed out": scene.app.test_client()}

    def ask(person: str, method: str, rule: Rule, wanted: str) -> None:
        answer = people[person].open(scene.path(rule), method=method, headers={"Accept-Language": "en"})
        answer.close()
        if refusal(answer) != wanted or answer.status_code >= 500:
            wrong.append((person, method, rule.rule, answer.status_code, refusal(answer), wanted))

    before = factories.dump(scene.database_url)
    for method, rule in guarded:
        for person in people:
            if wanted := expect_answer(person, LEAST[rule.endpoint], rule):
                ask(person, method, rule, wanted)
                refused += 1
    assert wrong == []
    assert factories.dump(scene.database_url) == before

    for method, rule in guarded:
        for person in ALLOWED[LEAST[rule.endpoint]]:
            ask(person, method, rule, "")
            allowed += 1
            if method == "POST" and "slug" in rule.arguments:
                scene.replace_survey()  # it may be closed or deleted now
    assert wrong == []
    assert min(refused, allowed) > 100


def test_a_route_that_lets_a_viewer_write_is_noticed(scene: Scene) -> None:
    """The walk's own test: the same pages, judged by a table that asks for more."""
    rule = next(rule for _method, rule in routes(scene.app) if rule.endpoint == "manage.overview")
    answer = scene.people[VIEWER].get(scene.path(rule))
    assert refusal(answer) != expect_answer(VIEWER, EDITOR, rule)
    assert refusal(answer) == expect_answer(VIEWER, VIEWER, rule)


def test_ids_of_another_survey_lead_nowhere(scene: Scene) -> None:
    """The owner of a survey sends what names a person, an invitation, a stratum, a batch, a version of another."""
    theirs = scene.slug
    factories.publish(scene.database_url, factories.definition([0.2, 0.1]), theirs)
    factories.plant(scene.database_url, theirs, "North\nSouth")
    codes = factories.invite(scene.database_url, theirs, 2)
    guest = hash_secret(invitation(scene, OWNER, to_survey=True))
    with factories.writing(scene.database_url) as session:
        number = session.scalars(sa.select(InvitationBatch.id)).one()
        strata = session.scalars(sa.select(Stratum)).all()
    scene.new_survey()
    scene.people[OWNER].post(f"/manage/surveys/{scene.slug}/people/remove", data=member(scene))
    viewer, here = scene.numbers[VIEWER], f"/manage/surveys/{scene.slug}"
    before = factories.dump(scene.database_url)
    owner = scene.people[OWNER]

    tried = [
        owner.post(f"{here}/people/{page}", data={"person": viewer, "role": "editor"})
        for page in ("role", "remove", "hand-over")
    ]
    tried.append(owner.post(f"{here}/people/withdraw", data={"invitation": guest}))
    tried.append(scene.people[ADMINISTRATOR].post("/manage/colleagues/withdraw", data={"invitation": guest}))
    for stratum in strata:
        tried += [
            owner.post(f"{here}/strata", data={"action": f"{button}-{stratum.id}"})
            for button in ("up", "down", "delete", "below")
        ]
        tried.append(owner.post(f"{here}/strata", data={f"name.{stratum.id}": "Mine", "action": "save"}))
        tried.append(owner.post(f"{here}/strata", data={"lines": "X", "under": stratum.id, "action": "add"}))
        tried.append(owner.post(f"{here}/invitations", data={"size": 1, "label": "x", "stratum": stratum.id}))
        tried += [owner.get(f"{here}/qr/{stratum.slug}.{kind}") for kind in ("svg", "png")]
    tried += [owner.get(f"{here}/qr/{theirs}.{kind}") for kind in ("svg", "png")]
    tried += [
        owner.post(f"{here}/invitations/{number}/{page}", data={"codes": codes[0]})
        for page in ("withdraw", "codes.csv", "links.txt", "sheet.pdf")
    ]
    pages = ("results", "report.html", "report.csv", "report.json", "responses.csv", "codebook.csv")
    tried += [owner.get(f"{here}/{page}?version=2") for page in pages]
    tried.append(owner.get(f"{here}/preview/survey.json?draft=2"))

    assert [(a.request.path, a.status_code) for a in tried if a.status_code not in (404, 409, 422)] == []
    assert factories.dump(scene.database_url) == before
