"""Strata that are open or by invitation, whatever the survey is: one value decides, wherever somebody asks for it."""

import json
import random
import zipfile
from collections.abc import Iterator
from datetime import datetime
from io import BytesIO

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from server import archives
from server.collect import acceptance, invitation_batches, responses
from server.inputs import InputError
from server.people import survey_access
from server.store.engines import TakingTurns, make_engine, open_session
from server.store.models import Researcher, Survey
from server.store.own_tables import invitations_of
from server.study import schedule, strata, surveys
from server.study.strata import Node
from server.study.surveys import now
from tests.support import factories, sample_archives
from tests.support.factories import Published, dump, writing
from tests.support.scale import choose_size

NOW = datetime(2024, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times
SAID = (None, False, True)
TREE = (
    "Spain > Madrid > Getafe\nSpain > Madrid > Parla\nSpain > Murcia\nKenya > Nairobi\nKenya > Kisumu\nFrance"
)


def find_survey(session: Session, slug: str) -> Survey:
    survey = survey_access.find(session, slug)
    assert survey is not None
    return survey


def expect_invited(survey: Survey, nodes: tuple[Node, ...], above: bool | None = None) -> Iterator[int]:
    """The strata whose links ask for a code, worked out downwards, where the server looks upwards."""
    above = survey.by_invitation if above is None else above
    for node in nodes:
        said = node.stratum.by_invitation
        here = above if said is None else said
        if node.leaf and here:
            yield node.stratum.id
        yield from expect_invited(survey, node.children, here)


def say(database_url: str, slug: str, **texts: str) -> dict[str, str]:
    """Let strata, by their names, say "open", "invited" or nothing; all paths and their links' slugs then."""
    with writing(database_url) as session:
        survey = find_survey(session, slug)
        ids = {node.stratum.name: node.stratum.id for node in strata.walk(strata.tree(session, survey))}
        strata.change_access(session, survey, {ids[name]: text for name, text in texts.items()})
        return links_of(session, survey)


def links_of(session: Session, survey: Survey) -> dict[str, str]:
    return {node.path: node.stratum.slug for node in strata.walk(strata.tree(session, survey))}


def send_response(database_url: str, link: str, body: object) -> tuple[int, str]:
    """Status and field of what becomes of a response."""
    with writing(database_url) as session:
        try:
            return responses.accept(session.connection(), link, json.dumps(body).encode(), NOW).value, ""
        except InputError as error:
            return error.status, error.problems[0].field


@pytest.mark.scaled
def test_everybody_who_asks_is_told_the_same(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    """The link, the page, who issues codes, and what the tree says read downwards, for trees that say anything."""
    chance = random.Random(12)
    factories.plant(database_url, survey.slug, TREE)
    for _ in range(choose_size(12, 200)):
        with writing(database_url) as session:
            made = find_survey(session, survey.slug)
            made.by_invitation = chance.random() < 0.5
            for node in strata.walk(strata.tree(session, made)):
                node.stratum.by_invitation = chance.choice(SAID)
            session.flush()
            nodes = strata.tree(session, made)
            asking: set[int | None] = set(expect_invited(made, nodes)) | (
                {None} if made.by_invitation else set()
            )
            links = {None: made.slug} | {
                node.stratum.id: node.stratum.slug for node in strata.list_leaves(nodes)
            }
            assert strata.invited_links(session, made) == asking
        for number, link in links.items():
            asks = number in asking
            answer = send_response(database_url, link, survey.response())
            assert answer == ((422, "invitation") if asks else (201, "")), link
            assert ('<template id="invitation"' in client.get(f"/s/{link}").text) == asks
            with writing(database_url) as session:
                found_link = surveys.find_link(session, link)
                assert found_link is not None
                assert strata.is_invited(session, *found_link) == asks
                if asks:
                    assert len(invitation_batches.issue(session, *found_link, 1, "A")[1]) == 1
                else:
                    with pytest.raises(InputError) as refusal:
                        invitation_batches.issue(session, *found_link, 1, "A")
                    assert (refusal.value.status, refusal.value.problems[0].field) == (409, "stratum")
                session.rollback()


def test_one_part_by_invitation_and_the_others_open(survey: Published, database_url: str) -> None:
    old = factories.plant(database_url, survey.slug, "North\nSouth")
    links = say(database_url, survey.slug, North="invited")
    assert send_response(database_url, old["North"], survey.response()) == (410, "replaced_link")
    assert links["South"] == old["South"], "only what is by invitation now has a new link"
    with writing(database_url) as session:
        found_link = surveys.find_link(session, links["North"])
        assert found_link is not None
        (code,) = invitation_batches.issue(session, *found_link, 1, "By letter")[1]

    assert send_response(database_url, links["North"], survey.response()) == (422, "invitation")
    assert send_response(database_url, links["South"], survey.response()) == (201, "")
    assert send_response(database_url, survey.slug, survey.response()) == (201, "")
    assert send_response(database_url, links["South"], survey.response(invitation=code)) == (
        410,
        "invitation",
    )
    assert send_response(database_url, links["North"], survey.response(invitation=code)) == (201, "")
    assert send_response(database_url, links["North"], survey.response(invitation=code)) == (
        409,
        "invitation",
    )


def test_a_survey_by_invitation_may_have_an_open_part(survey: Published, database_url: str) -> None:
    factories.plant(database_url, survey.slug, "North > A\nNorth > B\nSouth")
    factories.settle(database_url, survey.slug, by_invitation=True)
    links = say(database_url, survey.slug, North="open", B="invited")
    answers = {path: send_response(database_url, link, survey.response()) for path, link in links.items()}
    refused = (422, "invitation")
    assert answers == {
        "North": (410, "link"), "North > A": (201, ""), "North > B": refused, "South": refused
    }  # fmt: skip


def test_a_part_that_is_added_below_is_as_the_one_above(survey: Published, database_url: str) -> None:
    factories.plant(database_url, survey.slug, "Spain > Madrid")
    say(database_url, survey.slug, Spain="invited")
    links = factories.plant(database_url, survey.slug, "Spain > Lugo")
    assert send_response(database_url, links["Spain > Lugo"], survey.response()) == (422, "invitation")


def test_switching_tells_which_links_it_touched(survey: Published, database_url: str) -> None:
    """Whoever gives touched links new addresses, or counts them, needs no other place to ask."""
    factories.plant(database_url, survey.slug, "Spain > Madrid\nSpain > Lugo\nKenya\nFrance")
    say(database_url, survey.slug, Kenya="open", Lugo="invited")
    with writing(database_url) as session:
        made = find_survey(session, survey.slug)
        ids = {node.stratum.name: node.stratum.id for node in strata.list_leaves(strata.tree(session, made))}
        following = {None, ids["Madrid"], ids["France"]}
        assert strata.following_links(session, made) == following

        def whole(value: bool) -> strata.Switched:
            return strata.switch(session, made, lambda: setattr(made, "by_invitation", value))

        assert whole(True) == strata.Switched(on=frozenset(following), off=frozenset())
        assert whole(True) == strata.Switched(frozenset(), frozenset())
        assert whole(False) == strata.Switched(on=frozenset(), off=frozenset(following))


def test_settings_that_are_saved_switch_by_the_same_rule(survey: Published, database_url: str) -> None:
    factories.plant(database_url, survey.slug, "North\nSouth")
    say(database_url, survey.slug, South="open")
    with writing(database_url) as session:
        made = find_survey(session, survey.slug)
        fields = {
            **schedule.format_schedule(schedule.schedule_of(made)),
            "minimum": "10",
            "by_invitation": "yes",
        }
        assert acceptance.set_schedule(session, made, schedule.parse_schedule(fields), now())["links"] == 2
        links = links_of(session, made)
    assert send_response(database_url, links["North"], survey.response()) == (422, "invitation")
    assert send_response(database_url, links["South"], survey.response()) == (201, "")


@pytest.mark.parametrize(("typed", "status"), [("closed", 422), ("yes", 422), ("invited", 404)])
def test_what_no_stratum_can_say_changes_nothing(
    signed_in: FlaskClient, survey: Published, database_url: str, typed: str, status: int
) -> None:
    factories.plant(database_url, survey.slug, "North")
    number = 1 if status == 422 else 99
    before = dump(database_url)
    answer = signed_in.post(
        f"/manage/surveys/{survey.slug}/strata", data={f"access.{number}": typed, "name.1": "New"}
    )
    assert answer.status_code == status
    assert dump(database_url) == before
    if status == 422:
        assert "must be one of open, invited; it is" in answer.text


def test_nothing_is_switched_in_a_closed_survey(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.plant(database_url, survey.slug, "North")
    factories.close(database_url, survey.slug)
    before = dump(database_url)
    answer = signed_in.post(f"/manage/surveys/{survey.slug}/strata", data={"access.1": "invited"})
    assert answer.status_code == 409
    assert dump(database_url) == before


def test_pages_show_and_change_it_and_it_is_on_record(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    home = f"/manage/surveys/{survey.slug}"
    factories.plant(database_url, survey.slug, "North\nSouth")
    assert "Issue the codes" not in signed_in.get(f"{home}/invitations").text

    answer = signed_in.post(f"{home}/strata", data={"access.1": "invited", "access.2": ""})

    assert answer.status_code == 303
    pages = {name: signed_in.get(f"{home}{name}").text for name in ("/strata", "/links", "", "/schedule")}
    for name in ("/strata", "/links"):
        assert pages[name].count('<span class="pill">by invitation</span>') == 1, name
    assert '<option value="invited" selected>' in pages["/strata"]
    assert "1 of them asks for the code of an invitation." in pages[""]
    assert "Only with an invitation: answers" not in pages[""]
    assert "Switching it on closes 2 links at once and for good" in pages["/schedule"]
    assert pages["/strata"].count("closes 1 link at once and for good") == 1
    assert ("links replaced", 1) in [
        (row[4], json.loads(str(row[5])).get("count")) for row in dump(database_url)["audit_entries"]
    ]
    assert "1 link of a stratum is so by itself, and stays as it is." in pages["/schedule"]
    table = signed_in.get(f"{home}/links.csv").text.splitlines()
    assert [row.rpartition(",")[2] for row in table] == ["access", "open", "invited", "open"]
    assert signed_in.get(f"{home}/links/sheet").text.count("Only with the code of an invitation.") == 1
    form = signed_in.get(f"{home}/invitations").text.partition("<select")[2].partition("</select>")[0]
    assert ("North" in form, "South" in form, "without stratum" in form) == (True, False, False)
    entry = [row for row in dump(database_url)["audit_entries"] if row[4] == "stratum by invitation"]
    assert [json.loads(str(row[5])) for row in entry] == [{"stratum": "North"}]

    assert signed_in.post(f"{home}/strata", data={"access.1": "open"}).status_code == 303
    assert '<span class="pill">by invitation</span>' not in signed_in.get(f"{home}/links").text


def test_codes_of_a_part_that_is_open_now_are_told_of(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.plant(database_url, survey.slug, "North\nSouth")
    links = say(database_url, survey.slug, North="invited", South="invited")
    with writing(database_url) as session:
        found_link = surveys.find_link(session, links["North"])
        assert found_link is not None
        invitation_batches.issue(session, *found_link, 3, "By letter")
    page = f"/manage/surveys/{survey.slug}/invitations"
    assert "not asked for at the moment" not in signed_in.get(page).text
    say(database_url, survey.slug, North="open")
    assert "not asked for at the moment" in signed_in.get(page).text


def unpack_strata(database_url: str, body: bytes) -> dict[str, bool | None]:
    """What the strata of a survey that is imported from an archive say."""
    engine = make_engine(database_url)
    with open_session(engine, writes=True) as session:  # which the import commits in parts
        researcher = session.get_one(Researcher, session.get_one(Survey, 1).owner_id)
        made = archives.unpack(session, researcher, BytesIO(body), TakingTurns(session)).survey
        says = {node.path: node.stratum.by_invitation for node in strata.walk(strata.tree(session, made))}
    engine.dispose()
    return says


SAYS = {"North": True, "North > A": None, "North > B": False, "South": None}


def test_an_archive_and_a_copy_keep_it(survey: Published, database_url: str) -> None:
    factories.plant(database_url, survey.slug, "North > A\nNorth > B\nSouth")
    say(database_url, survey.slug, North="invited", B="open")
    factories.settle(database_url, survey.slug, minimum=3)
    factories.close(database_url, survey.slug)
    assert unpack_strata(database_url, sample_archives.pack(database_url, survey.slug)) == SAYS
    with writing(database_url) as session:
        first = find_survey(session, survey.slug)
        owner = session.get_one(Researcher, first.owner_id)
        copy = archives.duplicate(session, first, owner, "Again", with_strata=True)
        nodes = strata.walk(strata.tree(session, copy))
        assert {node.path: node.stratum.by_invitation for node in nodes} == SAYS


def test_an_archive_of_the_format_before_is_read(survey: Published, database_url: str) -> None:
    """Its strata say nothing: they were all as the survey."""
    factories.plant(database_url, survey.slug, "North > A\nNorth > B\nSouth")
    factories.settle(database_url, survey.slug, minimum=3)
    factories.close(database_url, survey.slug)
    old = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(sample_archives.pack(database_url, survey.slug))) as new,
        zipfile.ZipFile(old, "w") as made,
    ):
        for name in new.namelist():
            text = new.read(name)
            if name == "manifest.json":
                assert text.count(b'"format": 3') == 1
                text = text.replace(b'"format": 3', b'"format": 2')
            made.writestr(name, text)
    assert unpack_strata(database_url, old.getvalue()) == dict.fromkeys(SAYS)


def test_open_and_invited_parts_have_one_smallest_group(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    """What is safe for the part whose people are known to whoever invites them holds for all."""
    factories.plant(database_url, survey.slug, "North\nSouth")
    links = say(database_url, survey.slug, North="invited")
    factories.settle(database_url, survey.slug, minimum=10)
    for link, number in ((links["North"], 9), (links["South"], 9), (survey.slug, 20)):
        factories.store(database_url, survey, [([0, 1], number)], link)
    factories.close(database_url, survey.slug)
    document = signed_in.get(f"/manage/surveys/{survey.slug}/report.json").json
    assert document is not None
    told = {
        group["path"]: group["n"]
        for question in document["questions"]
        for group in question["strata"]["strata"]
    }
    assert told == {"North": None, "South": None, "": 20}
    answer = signed_in.post(
        f"/manage/surveys/{survey.slug}/schedule",
        data={**schedule.format_schedule(stored_schedule(database_url, survey.slug)), "minimum": "9"},
    )
    assert answer.status_code == 422


def stored_schedule(database_url: str, slug: str) -> schedule.Schedule:
    with writing(database_url) as session:
        return schedule.schedule_of(find_survey(session, slug))


def test_no_code_of_another_part_lets_anybody_in(survey: Published, database_url: str) -> None:
    factories.plant(database_url, survey.slug, "North\nSouth\nEast")
    links = say(database_url, survey.slug, North="invited", South="invited")
    with writing(database_url) as session:
        found_link = surveys.find_link(session, links["North"])
        assert found_link is not None
        (code,) = invitation_batches.issue(session, *found_link, 1, "By letter")[1]
    assert send_response(database_url, links["South"], survey.response(invitation=code)) == (
        422,
        "invitation",
    )
    assert send_response(database_url, survey.slug, survey.response(invitation=code)) == (410, "invitation")
    with writing(database_url) as session:
        rows = session.execute(sa.select(sa.func.count()).select_from(invitations_of(1)))
        assert rows.scalar() == 1
