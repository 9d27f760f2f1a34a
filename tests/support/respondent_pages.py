"""What respondents see beside the questions, and the screens on which it is written, for the walk over all pages."""

from typing import TYPE_CHECKING, Any

from server.people import survey_access
from server.study import study_sheets
from server.study.definitions.own_texts import list_texts
from tests.support import factories
from tests.support.catalogue_words import pseudo

if TYPE_CHECKING:
    from tests.support.every_page import Reader


def walk_respondents(
    owner: "Reader", stranger: "Reader", database_url: str, document: dict[str, Any]
) -> None:
    """Consent and age, answering without a network, who asks; and every state of the translations."""
    asking = {**document, "consent": pseudo("I agree"), "least_age": 18}
    survey = factories.publish(database_url, asking)
    factories.settle(database_url, survey.slug, offline=True, forgets=True, tablet=True)
    stranger.get(f"/s/{survey.slug}")
    stranger.get(f"/s/{survey.slug}/tablet")
    stranger.get(f"/s/{survey.slug}/how")
    owner.get(f"/manage/surveys/{survey.slug}/schedule")
    shown = {
        "sponsor": pseudo("Union"),
        "contact_name": pseudo("Ana"),
        "contact_email": "1@2.34",
        "shown": "yes",
        "hand_over.es": pseudo("From"),
        "thanks.es": pseudo("Thanks"),
        "help_lines.es": pseudo("Line") + ": 116 123",
        "completion_code": "12",
        "completion_link": "https://1.23/",
    }
    owner.post(f"/manage/surveys/{survey.slug}/study", shown)
    stranger.get(f"/s/{survey.slug}/tablet")
    owner.post(f"/manage/surveys/{survey.slug}/study", {"shown": "yes", "completion_link": "1"})
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        study_sheets.save_logo(session, found, b"a picture")
    owner.get(f"/manage/surveys/{survey.slug}/study")
    stranger.get(f"/s/{survey.slug}")
    stranger.get(f"/s/{survey.slug}/receipt")
    stranger.get(f"/s/{survey.slug}/logo/{'0' * 64}.png")

    draft = factories.draft(database_url, asking)
    home = f"/manage/surveys/{draft}"
    owner.get(f"{home}/translations")
    texts = list_texts(asking)
    whole = {"to": "fr", **{f"text-{place}": str(place) for place in range(len(texts))}}
    for base, left in enumerate((2, 1, 0), start=1):
        kept = {name: text for name, text in whole.items() if name not in [f"text-{k}" for k in range(left)]}
        owner.post(f"{home}/translations", {**kept, "base": str(base)})
        owner.get(f"{home}/edit")
        owner.get(f"{home}/preview")
    # Respondents of either language would read one text in the other.
    owner.post(f"{home}/study", {"thanks.fr": "1", f"help_lines.{asking['language']}": "2"})
    for page in ("edit", "translations?to=fr", "translations"):
        owner.get(f"{home}/{page}")
    for wrong in ({"to": "xx"}, {"to": "fr", "text-0": "1" * 8001}, {"to": "fr", "base": "1", "text-0": "1"}):
        owner.post(f"{home}/translations", {"base": "4", **wrong})
