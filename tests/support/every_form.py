"""Every form of the researchers' pages, as it is sent when everything is in order."""

import html
import io
import json
import secrets
from collections.abc import Callable, Mapping
from typing import Any

import pyotp
import sqlalchemy as sa

from server import people
from server.people import api_tokens, survey_access
from server.store.models import InvitationBatch, Researcher
from server.study import surveys, ticket_keys
from server.study.blind_signatures import open_signer
from server.study.completion_codes import MEANT, write_code
from server.study.study_sheets import parse_study_sheet
from server.study.study_sheets.sheet_forms import write_form
from server.web.webhooks import webhook_rows
from tests.support import factories, foreign_data
from tests.support.every_page import fill_editor
from tests.support.factories import Published
from tests.support.full_installation import (
    ADMINISTRATOR,
    EDITOR,
    OWNER,
    VIEWER,
    Scene,
    hash_secret,
    invitation,
    member,
)
from tests.support.release_form import COUNT, Builder, build, set_budget
from tests.support.sign_in_form import PASSWORD
from tests.support.study_form import study_document

Form = Mapping[str, Any]


def handing_in(scene: Scene) -> Form:
    """A code that is good, as somebody made it who has the key."""
    with factories.writing(scene.database_url) as session:
        found = surveys.find_link(session, scene.slug)
        assert found is not None
        found[0].completions = True
        ticket_keys.make_completion_key(session, found[0])
        modulus = ticket_keys.find_completion_modulus(session, found[0].id)
        assert modulus is not None
        sign = open_signer(ticket_keys.open_key(session.connection(), modulus))
    return {"codes": write_code("0" * 12, sign(b"0" * 12 + MEANT))}


def set_columns(scene: Scene, person: str, **values: object) -> None:
    """Set columns of somebody's account."""
    with factories.writing(scene.database_url) as session:
        session.execute(sa.update(Researcher).where(Researcher.id == scene.numbers[person]).values(**values))


def with_codes(scene: Scene) -> Form:
    """The stranger has a password and codes, and gives the password."""
    set_columns(scene, "stranger", password_hash=factories.hash_password(PASSWORD), totp_sealed="sealed")
    return {"current": PASSWORD}


def setting_codes_up(scene: Scene) -> Form:
    set_columns(scene, "stranger", password_hash=factories.hash_password(PASSWORD), totp_sealed=None)
    secret = pyotp.random_base32()
    return {"secret": secret, "code": pyotp.TOTP(secret).now()}


def without_password(scene: Scene, form: Form) -> Form:
    set_columns(scene, "stranger", password_hash=None, totp_sealed=None)
    return form


def somebody(scene: Scene) -> Form:
    """A colleague who was just added."""
    with factories.writing(scene.database_url) as session:
        return {"person": people.add(session, "Somebody", administrator=True).id}


def close_survey(scene: Scene) -> Form:
    factories.close(scene.database_url, scene.slug)
    return {}


def pause_survey(scene: Scene) -> Form:
    factories.settle(scene.database_url, scene.slug, paused=True)
    return {}


def batch(scene: Scene) -> Form:
    """A batch of two codes, which the form holds."""
    codes = factories.invite(scene.database_url, scene.slug, 2)
    with factories.writing(scene.database_url) as session:
        number = session.scalar(sa.select(sa.func.max(InvitationBatch.id)))
    return {"codes": "\r\n".join(codes), "in path": {"batch": number}}


def translating(scene: Scene) -> Form:
    page = scene.people[EDITOR].get(f"/manage/surveys/{scene.slug}/translations?to=fr").text
    return {
        "base": page.partition('name="base" value="')[2].partition('"')[0],
        "to": "fr",
        "text-0": "Examens",
    }


def keying(_scene: Scene) -> Form:
    """Two sheets of paper."""
    return {"version": "1", "batch": secrets.token_hex(16), "sheets": "AB\r\nBA"}


def issuing(scene: Scene) -> Form:
    """Codes for a link that asks for them."""
    factories.settle(scene.database_url, scene.slug, by_invitation=True)
    return {"size": "2", "label": "Class 3B", "stratum": ""}


def link_report(scene: Scene) -> Form:
    """A survey with a public report."""
    scene.people[OWNER].post(f"/manage/surveys/{scene.slug}/releases/link")
    return {}


def give_budget(scene: Scene) -> Form:
    """A survey with a budget, of which something is declared."""
    set_budget(scene.people[OWNER], scene.slug)
    return {"spent": "0.5", "spent_delta": "0", "sure": "yes"}


def look_at_price(scene: Scene) -> Builder:
    """An editor who has seen what it costs to tell how many responded."""
    set_budget(scene.people[OWNER], scene.slug)
    return build(scene.people[EDITOR], scene.slug).tick(COUNT).type(epsilon="0.5").press()


def crowd_survey(scene: Scene) -> Form:
    """So many responses that exact tallies can be paid for."""
    with factories.writing(scene.database_url) as session:
        survey = survey_access.find(session, scene.slug)
        assert survey is not None
        version = Published(scene.slug, survey.versions[0].sha256, {})
    factories.store(scene.database_url, version, [([1, 0], 2000)])
    set_budget(scene.people[OWNER], scene.slug, "20", "0.001", "bounded")
    return {"epsilon": "20", "sure": "yes"}


def prepare_search(scene: Scene) -> Form:
    """A closed survey with a budget, and the price of a search of it."""
    set_budget(scene.people[OWNER], scene.slug)
    factories.close(scene.database_url, scene.slug)
    return {"share": "10", "positives": "1", "epsilon": "0.5", "entries": "0", "sure": "yes"}


def asking(scene: Scene) -> Form:
    """A question for a search that was opened."""
    home = f"/manage/surveys/{scene.slug}/releases/searches"
    made = scene.people[EDITOR].post(home, data=prepare_search(scene))
    number = int(made.headers["Location"].partition("?")[0].rpartition("/")[2])
    page = scene.people[EDITOR].get(f"{home}/{number}").text
    chosen = html.unescape(page.partition('<option value="[')[2].partition('"')[0])
    return {"asked": f"[{chosen}", "stratum": "", "in path": {"search": number}}


def with_token(scene: Scene) -> Form:
    """A token of the stranger's, to be revoked."""
    with factories.writing(scene.database_url) as session:
        stranger = session.get_one(Researcher, scene.numbers["stranger"])
        secret = api_tokens.create_token(session, stranger, None, "viewer", "nightly", "30")
    return {"token": hash_secret(secret)}


def with_webhook(scene: Scene) -> Form:
    """A webhook of the survey."""
    with factories.writing(scene.database_url) as session:
        survey = survey_access.find(session, scene.slug)
        assert survey is not None
        editor = session.get_one(Researcher, scene.numbers[EDITOR])
        url = "https://hooks.example.org/"
        return {"webhook": webhook_rows.create_webhook(session, survey, editor, url)[0].id}


FORMS: Mapping[str, tuple[str, Callable[[Scene], Form]]] = {
    "account.sign_in_with_password": (
        "signed out",
        lambda scene: {**with_codes(scene), "login": "the-stranger", "password": PASSWORD},
    ),
    "account.redeem": (
        "signed out",
        lambda scene: {
            "in path": {"secret": factories.link_of(scene.database_url, scene.numbers[VIEWER])},
        },
    ),
    "account.sign_out": ("signed out", lambda scene: {}),
    "joining.accept": (
        "stranger",
        lambda scene: {"in path": {"secret": invitation(scene, OWNER, to_survey=True)}},
    ),
    "editor.create": (OWNER, lambda scene: fill_editor("New", "Why?")),
    "editor.save": (EDITOR, lambda scene: fill_editor("Changed", "Why?")),
    "elsewhere.analyse": (
        OWNER,
        lambda scene: (
            {name: (io.BytesIO(body), name) for name, body in foreign_data.FILES.items()}
            | {"explain": "cheated", "by": "sex", "format": "json"}
        ),
    ),
    "imports.import_file": (
        OWNER,
        lambda scene: {"definition": (io.BytesIO(json.dumps(factories.definition()).encode()), "a.json")},
    ),
    "imports.use_template": (OWNER, lambda scene: {"template": "scale", "language": "en"}),
    "lesson_board.make": (OWNER, lambda scene: {"language": "en"}),
    "simulate.run": (EDITOR, lambda scene: {"respondents": "10"}),
    "manage.publish": (EDITOR, lambda scene: {}),
    "manage.close": (EDITOR, lambda scene: {}),
    "people.invite": (OWNER, lambda scene: {"name": "Guest", "role": "viewer"}),
    "people.withdraw": (
        OWNER,
        lambda scene: {"invitation": hash_secret(invitation(scene, OWNER, to_survey=True))},
    ),
    "people.change_role": (OWNER, lambda scene: member(scene, role="editor")),
    "people.remove": (OWNER, member),
    "people.hand_over": (OWNER, member),
    "colleagues.invite": (ADMINISTRATOR, lambda scene: {"name": "Guest"}),
    "colleagues.withdraw": (
        ADMINISTRATOR,
        lambda scene: {"invitation": hash_secret(invitation(scene, ADMINISTRATOR, to_survey=False))},
    ),
    "colleagues.disable": (ADMINISTRATOR, somebody),
    "colleagues.enable": (ADMINISTRATOR, somebody),
    "colleagues.make_administrator": (ADMINISTRATOR, somebody),
    "colleagues.unmake_administrator": (ADMINISTRATOR, somebody),
    "colleagues.give_link": (ADMINISTRATOR, somebody),
    "programs.make_token": (
        "stranger",
        lambda scene: {"name": "nightly", "survey": "", "role": "viewer", "days": "30"},
    ),
    "programs.revoke_token": ("stranger", with_token),
    "settings.save": (
        "stranger",
        lambda scene: without_password(
            scene, {"name": "Strange", "login": "strange", "password": PASSWORD, "again": PASSWORD}
        ),
    ),
    "settings.turn_codes_on": ("stranger", setting_codes_up),
    "settings.turn_codes_off": ("stranger", with_codes),
    "settings.renew_recovery": ("stranger", with_codes),
    "settings.end_sign_in": ("stranger", lambda scene: {"sign_in": "others"}),
    "links.save": (EDITOR, lambda scene: {"lines": "North\r\nSouth", "action": "add"}),
    "translating.save": (EDITOR, translating),
    "study_sheet.save": (EDITOR, lambda scene: write_form(parse_study_sheet(study_document()))),
    "schedule.save": (EDITOR, lambda scene: {"cap": "500", "minimum": "10", "time_zone": "UTC"}),
    "schedule.pause": (EDITOR, lambda scene: {}),
    "schedule.resume": (EDITOR, pause_survey),
    "webhooks.create": (EDITOR, lambda scene: {"url": "https://hooks.example.org/told"}),
    "webhooks.add_trial": (EDITOR, with_webhook),
    "webhooks.revoke": (EDITOR, with_webhook),
    "paper.enter": (EDITOR, keying),
    "completions.check": (EDITOR, handing_in),
    "invitations.issue": (EDITOR, issuing),
    "invitations.withdraw": (EDITOR, batch),
    "invitations.table": (EDITOR, batch),
    "invitations.links": (EDITOR, batch),
    "invitations.sheet": (EDITOR, batch),
    "releases.set_budget": (
        OWNER,
        lambda scene: {"epsilon": "1", "delta": "0", "neighbours": "unbounded"},
    ),
    "releases.declare": (OWNER, give_budget),
    "releases.link": (OWNER, lambda scene: {}),
    "releases.revoke": (OWNER, link_report),
    "release_builder.quote_price": (EDITOR, lambda scene: look_at_price(scene).form),
    "release_builder.plan_file": (EDITOR, lambda scene: look_at_price(scene).form),
    "release_builder.make": (EDITOR, lambda scene: {**look_at_price(scene).form, "sure": "yes"}),
    "release_builder.exact": (EDITOR, crowd_survey),
    "searches.quote": (EDITOR, prepare_search),
    "searches.create": (EDITOR, prepare_search),
    "searches.ask": (EDITOR, asking),
    "keeping.duplicate": (VIEWER, lambda scene: {"title": "Copy"}),
    "keeping.archive": (OWNER, close_survey),
    "keeping.export": (OWNER, close_survey),
    "keeping.retain": (OWNER, lambda scene: {"keep_rows": "30"}),
    "keeping.delete": (OWNER, lambda scene: {"confirmation": scene.slug}),
}
"""Who sends each form of /manage, and what it holds when it is in order; "in path" goes into the address."""
CHANGES_NOTHING = {
    "elsewhere.analyse",
    "simulate.run",
    "release_builder.quote_price",
    "release_builder.plan_file",
    "searches.quote",
    "invitations.table",
    "invitations.links",
    "invitations.sheet",
    "account.sign_in_with_password",
    "account.sign_out",
}
"""They only show something; the last two begin and end a sign-in, which the account's page lists."""
