"""Who asks: on every page of respondents at once, with a logo that is nothing but a picture, and in no report."""

import hashlib
import io
import json
import re
import zlib
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from PIL import Image, ImageDraw, PngImagePlugin

from server.store.models import StudySheetRow
from server.study.study_sheets import split_line
from tests.support import factories, sample_archives
from tests.support.factories import Published

SHEET: dict[str, Any] = {
    "sponsor": 'The <b>union</b> & "friends"',
    "contact_name": "Ana Pérez, +34 923 29 44 00",
    "contact_email": "ana@example.org",
    "shown": "yes",
    "thanks.en": "You help us to see\nwhat would be fair.",
    "thanks.es": "Nos ayudas.",
    "help_lines.en": "Samaritans: 116 123\nAdvice: https://example.org/advice",
    "completion_code": "C1A2B3",
    "completion_link": "https://panel.example/complete?cc=C1A2B3&x=1",
}
SECRET = "taken at home"


def draw(form: str, size: tuple[int, int] = (600, 200)) -> bytes:
    """A picture with an opaque and a transparent half, and words in its metadata."""
    picture = Image.new(
        "RGB" if form == "JPEG" else "RGBA", size, "white" if form == "JPEG" else (0, 0, 0, 0)
    )
    ImageDraw.Draw(picture).rectangle((0, 0, size[0] // 2, size[1]), fill="#17544a")
    exif = Image.Exif()
    exif[0x010E] = SECRET
    words = PngImagePlugin.PngInfo()
    words.add_text("Comment", SECRET)
    file = io.BytesIO()
    picture.save(file, form, exif=exif, **({"pnginfo": words} if form == "PNG" else {}))
    return file.getvalue() + SECRET.encode()


def save(client: FlaskClient, slug: str, logo: bytes | None = None, **changes: str) -> Any:
    """Send the page of the study sheet, with a picture."""
    upload = {} if logo is None else {"logo": (io.BytesIO(logo), "logo.png")}
    fields = {**SHEET, **changes, **upload}
    return client.post(f"/manage/surveys/{slug}/study", data=fields, content_type="multipart/form-data")


def logo_of(database_url: str) -> bytes:
    with factories.writing(database_url) as session:
        logo = session.scalars(sa.select(StudySheetRow.logo)).one()
    assert logo is not None
    return logo


def link_of(survey: Published) -> str:
    return f"/s/{survey.slug}"


def sent_lines(page: str) -> set[str]:
    return {line for line in page.splitlines() if "You help us" in line or "Samaritans" in line}


def test_who_asks_is_on_every_page_whatever_its_state(
    signed_in: FlaskClient, client: FlaskClient, database_url: str, survey: Published
) -> None:
    plain = client.get(link_of(survey)).text
    assert 'id="sender"' not in plain
    assert save(signed_in, survey.slug, draw("PNG")).status_code == 303
    logo = logo_of(database_url)
    address = f"{link_of(survey)}/logo/{hashlib.sha256(logo).hexdigest()}.png"
    pages = {
        path: client.get(link_of(survey) + path) for path in ("", "/screens", "/how", "/receipt", "/tablet")
    }
    factories.settle(database_url, survey.slug, paused=True)
    pages["paused"] = client.get(link_of(survey))
    factories.settle(database_url, survey.slug, paused=False)
    factories.close(database_url, survey.slug)
    pages["closed"] = client.get(link_of(survey))
    pages["closed receipt"] = client.get(f"{link_of(survey)}/receipt")
    for state, answer in pages.items():
        page = answer.text
        assert "The &lt;b&gt;union&lt;/b&gt; &amp; &#34;friends&#34;</strong>" in page, state
        assert 'href="tel:+34923294400">+34 923 29 44 00</a>' in page, state
        assert 'href="mailto:ana@example.org"' in page, state
        assert f'<img src="{address}" alt="The &lt;b&gt;union' in page, state
    # Words for the end are loaded before anything was answered; once it is closed, too: what waits on a device is
    # sent from there.
    assert len(sent_lines(pages["/screens"].text)) == 3
    assert sent_lines(pages["closed"].text) <= sent_lines(pages["/screens"].text)
    spanish = client.get(f"{link_of(survey)}/screens", headers={"Accept-Language": "es"}).text
    assert '<div lang="es" dir="ltr"><p>Nos ayudas.</p></div>' in spanish
    assert '<ul lang="en" dir="ltr"><li>Samaritans: <a href="tel:116123">116 123</a></li>' in spanish
    served = client.get(address)
    assert (served.status_code, served.mimetype, served.data) == (200, "image/png", logo)
    assert served.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in served.headers
    assert client.get(f"{link_of(survey)}/logo/{'0' * 64}.png").status_code == 404


def test_nothing_is_shown_before_somebody_chooses_to(
    signed_in: FlaskClient, client: FlaskClient, survey: Published
) -> None:
    assert save(signed_in, survey.slug, draw("PNG"), shown="").status_code == 303
    page = client.get(link_of(survey)).text
    for unsaid in ("union", "Ana", "ana@example.org", "<img"):
        assert unsaid not in page
    assert "Samaritans" in page
    refused = save(signed_in, survey.slug, sponsor="", contact_name="", contact_email="")
    assert refused.status_code == 422
    assert "Who asks:</strong> must not be empty where respondents are shown who asks" in refused.text
    assert "Contact:</strong> must not be empty, nor the e-mail address" in refused.text
    for link in (
        "http://panel.example/",
        "javascript:alert(1)",
        "panel.example",
        "https://a.example/{{PID}}",
    ):
        refused = save(signed_in, survey.slug, completion_link=link)
        assert refused.status_code == 422, link
        assert "Link back to the panel:</strong> must be an address that begins with https://" in refused.text


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_logo_is_drawn_anew_small_and_without_what_came_with_it(
    signed_in: FlaskClient, database_url: str, survey: Published, form: str
) -> None:
    assert SECRET.encode() in draw(form)
    assert save(signed_in, survey.slug, draw(form)).status_code == 303
    logo = logo_of(database_url)
    assert SECRET.encode() not in logo
    with Image.open(io.BytesIO(logo)) as picture:
        assert (picture.format, picture.size, picture.info) == ("PNG", (192, 64), {})
        left, right = picture.convert("RGB").getpixel((5, 30)), picture.convert("RGB").getpixel((185, 30))
    assert isinstance(left, tuple)
    assert sum(abs(have - want) for have, want in zip(left, (0x17, 0x54, 0x4A), strict=True)) < 12
    assert right == (255, 255, 255)


def test_the_noisiest_logo_is_small(signed_in: FlaskClient, database_url: str, survey: Published) -> None:
    noise = Image.effect_noise((700, 250), 200).convert("RGB")
    file = io.BytesIO()
    noise.save(file, "PNG")
    assert save(signed_in, survey.slug, file.getvalue()).status_code == 303
    assert len(logo_of(database_url)) < 14_000


def claim_size(across: int, down: int) -> bytes:
    """The beginning of a PNG that says it is so large."""
    file = bytearray(draw("PNG"))
    file[16:24] = across.to_bytes(4, "big") + down.to_bytes(4, "big")
    file[29:33] = zlib.crc32(file[12:29]).to_bytes(4, "big")
    return bytes(file)


def draw_two() -> bytes:
    """A JPEG that brings a second picture, as some cameras make them."""
    file = io.BytesIO()
    Image.new("RGB", (60, 20)).save(file, "MPO", save_all=True, append_images=[Image.new("RGB", (60, 20))])
    return file.getvalue()


REFUSED = {
    "SVG": (
        b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>',
        422,
        "this is an SVG or a page",
    ),
    "SVG after a mark": (b"\xef\xbb\xbf\n<svg onload='x()'/>", 422, "this is an SVG or a page"),
    "cut": (draw("PNG")[:400], 422, "must be a whole PNG, JPEG or WebP picture"),
    "GIF": (b"GIF89a" + b"\x01\x00" * 10, 422, "must be a whole PNG, JPEG or WebP picture"),
    "words": (b"no picture", 422, "must be a whole PNG, JPEG or WebP picture"),
    "long": (b"\x89PNG" + b"x" * (1 << 20), 413, "must be at most 1048576 bytes; it has more"),
    "large": (claim_size(2_001, 2_000), 413, "must have at most 4000000 pixels; it has more"),
    "huge": (claim_size(50_000, 50_000), 413, "must have at most 4000000 pixels; it has more"),
    "many passes": (draw("JPEG") + b"\xff\xda" * 31, 413, "this one asks for more than 30 passes"),
    "two pictures": (draw_two() + b"\xff\xda" * 31, 413, "this one asks for more than 30 passes"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_small_picture_is_refused_and_changes_nothing(
    signed_in: FlaskClient, client: FlaskClient, survey: Published, case: str
) -> None:
    body, status, said = REFUSED[case]
    answer = save(signed_in, survey.slug, body)
    assert answer.status_code == status
    assert "<strong>Logo:</strong>" in answer.text
    assert said in answer.text
    assert 'value="ana@example.org"' in answer.text
    assert 'id="sender"' not in client.get(link_of(survey)).text


def test_a_logo_stays_until_it_is_taken_away_and_the_log_names_it(
    signed_in: FlaskClient, client: FlaskClient, survey: Published
) -> None:
    save(signed_in, survey.slug, draw("PNG"))
    save(signed_in, survey.slug, contact_name="Bea")
    assert "<img" in client.get(link_of(survey)).text
    assert save(signed_in, survey.slug, no_logo="yes").status_code == 303
    assert "<img" not in client.get(link_of(survey)).text
    assert "Logo" in signed_in.get(f"/manage/surveys/{survey.slug}/log").text


def test_no_report_has_what_is_for_respondents_alone(
    signed_in: FlaskClient, client: FlaskClient, database_url: str, survey: Published
) -> None:
    only = {
        name: text for name, text in SHEET.items() if name.startswith(("thanks", "help_lines", "completion"))
    }
    address = f"/manage/surveys/{survey.slug}"
    assert signed_in.post(f"{address}/study", data=only).status_code == 303
    factories.store(database_url, survey, [([1, 0], 60), ([0, 1], 60)])
    report = signed_in.get(f"{address}/report.html").text
    assert "Samaritans" not in report
    assert "not stated" not in report, "a sheet with nothing for reports says nothing in them"
    save(signed_in, survey.slug, public="yes")
    for file in ("report.html", "report.json"):
        text = signed_in.get(f"{address}/{file}").text
        assert "Ana Pérez" in text or "Ana P\\u00e9rez" in text
        assert "Samaritans" not in text
        assert "You help us" not in text
        assert "C1A2B3" not in text


def test_it_goes_with_copies_and_archives(
    signed_in: FlaskClient, database_url: str, survey: Published
) -> None:
    factories.settle(database_url, survey.slug, minimum=10)
    factories.close(database_url, survey.slug)
    save(signed_in, survey.slug, draw("PNG"))
    imported = sample_archives.import_archive(signed_in, sample_archives.export(signed_in, survey.slug))
    copied = signed_in.post(f"/manage/surveys/{survey.slug}/duplicate", data={"title": "Again"})
    assert copied.status_code == 303
    assert "<img" in signed_in.get(f"/manage/surveys/{imported}/study").text
    with factories.writing(database_url) as session:
        rows = session.execute(sa.select(StudySheetRow.document, StudySheetRow.logo)).all()
    assert len(rows) == 3
    assert len({row.logo for row in rows}) == 1
    assert all(json.loads(row.document)["shown"] for row in rows)
    # The code is one study's: a copy has none.
    assert sorted("completion_code" in row.document for row in rows) == [False, True, True]
    assert sorted("completion_link" in row.document for row in rows) == [False, True, True]


@pytest.mark.parametrize("logo", ["PHN2Zy8+", "not base64!", "====="])
def test_an_archive_with_another_file_for_a_logo_is_refused(
    signed_in: FlaskClient, database_url: str, survey: Published, logo: str
) -> None:
    factories.settle(database_url, survey.slug, minimum=10)
    factories.close(database_url, survey.slug)
    packed = sample_archives.export(signed_in, survey.slug)
    change = sample_archives.change_manifest("logo", value=logo)
    answer = sample_archives.send(signed_in, change(packed))
    assert answer.status_code == 422
    assert "<strong>manifest.json: logo:</strong>" in answer.text


def test_a_running_server_shows_a_change_at_once(installation: factories.Served) -> None:
    survey = factories.publish(installation.database_url)
    link = installation.url + link_of(survey)

    def change(document: dict[str, Any]) -> None:
        done = factories.run(
            installation.database_url, "survey", "study", survey.slug, "-", text=json.dumps(document)
        )
        assert done.exit_code == 0, done.output

    sheet = {"sponsor": "Union", "contact_name": "Ana", "shown": True}
    assert 'id="sender"' not in httpx.get(link).text
    change(sheet)
    assert "Union</strong>" in httpx.get(link).text
    change({**sheet, "contact_name": "Bea, +1 555 0100"})
    for _ in range(2):
        assert 'Bea, <a href="tel:+15550100">' in httpx.get(link).text


@pytest.mark.parametrize(
    ("line", "before", "shown", "address"),
    [
        ("Samaritans: 116 123", "Samaritans: ", "116 123", "tel:116123"),
        ("Ana, +34 (923) 29-44.00", "Ana, ", "+34 (923) 29-44.00", "tel:+34923294400"),
        ("Union help@example.org", "Union ", "help@example.org", "mailto:help@example.org"),
        ("See https://example.org/a?b=1", "See ", "https://example.org/a?b=1", "https://example.org/a?b=1"),
        ("javascript:alert(1)", "javascript:alert(1)", "", ""),
        ("Room B, ground floor", "Room B, ground floor", "", ""),
        ("116", "", "116", "tel:116"),
    ],
)
def test_the_number_or_address_at_the_end_of_a_line_is_a_link(
    line: str, before: str, shown: str, address: str
) -> None:
    assert split_line(line) == (before, shown, address)


READ = {
    "shown_name": {"ar": "النقابة"},
    "shown_contact": {"ar": "لجنة الأخلاقيات: 923 29 44 00"},
    "thanks": {"es": "Nos ayudas.", "en": "You help us.", "ar": "شكراً لك.", "fr": "Merci à vous."},
    "help_lines": {"en": "Samaritans: 116 123", "es": "Esperanza: 717 003 717", "ar": "للمساعدة: 116 123"},
}


def test_whatever_respondents_read_may_be_in_each_language_of_the_survey(
    signed_in: FlaskClient, client: FlaskClient, database_url: str
) -> None:
    """Where it is not, they read it in the survey's own language, marked as that, not in the first that was typed."""
    document = factories.definition(
        language="es", translations={"ar": {"Exams": "امتحانات"}, "fr": {"Exams": "Examens"}}
    )
    survey = factories.publish(database_url, document)
    page = f"/manage/surveys/{survey.slug}"
    form = signed_in.get(f"{page}/study").text
    for name in ("shown_name", "shown_contact", "hand_over", "thanks", "help_lines"):
        assert re.findall(rf'name="{name}\.(\w+)"', form) == ["es", "fr", "ar"], name
    typed = {f"{name}.{code}": text for name, texts in READ.items() for code, text in texts.items()}
    assert save(signed_in, survey.slug, **{"thanks.en": "", "help_lines.en": "", **typed}).status_code == 303
    shown = {
        code: client.get(f"{link_of(survey)}/screens?lang={code}").text for code in ("ar", "fr", "pt", "es")
    }
    assert '<div lang="ar" dir="rtl"><p>شكراً لك.</p></div>' in shown["ar"]
    assert '<ul lang="ar" dir="rtl"><li>للمساعدة: <a href="tel:116123">116 123</a></li></ul>' in shown["ar"]
    assert '<strong lang="ar" dir="rtl">النقابة</strong>' in shown["ar"]
    assert '<span lang="ar" dir="rtl">لجنة الأخلاقيات: <a href="tel:923294400">' in shown["ar"]
    assert '<div lang="fr" dir="ltr"><p>Merci à vous.</p></div>' in shown["fr"]
    for code in ("fr", "pt", "es"):
        assert '<ul lang="es" dir="ltr"><li>Esperanza:' in shown[code], code
        assert '<strong dir="auto">The &lt;b&gt;union' in shown[code], code
    # Whoever writes the survey is told what is still to be written, beside the survey's own texts.
    editor = signed_in.get(f"{page}/edit").text
    assert "Still to be written in Français, on the study sheet: Where to find help." in editor
    assert "Still to be written in العربية" not in editor
    french = signed_in.get(f"{page}/translations?to=fr").text
    assert "Still to be written in this language, on the study sheet: Where to find help." in french
    own = len(re.findall('class="side-by-side missing"', french))
    assert f'>Français</span></a> <span class="fine">{own + 1} texts are missing<' in french
    # Archives and copies have all of it, and no report has any.
    factories.settle(database_url, survey.slug, minimum=10)
    factories.close(database_url, survey.slug)
    imported = sample_archives.import_archive(signed_in, sample_archives.export(signed_in, survey.slug))
    with factories.writing(database_url) as session:
        kept = [json.loads(text) for text in session.scalars(sa.select(StudySheetRow.document))]
    assert imported
    assert [{name: each[name] for name in READ} for each in kept] == [READ, READ]
    assert "النقابة" not in signed_in.get(f"{page}/report.html").text


def test_words_on_the_tablet_are_in_the_surveys_languages_and_short(
    signed_in: FlaskClient, client: FlaskClient, database_url: str
) -> None:
    """Between what the page itself says, which stays as it is; another language takes the first that there is."""
    document = factories.definition(translations={"ar": {"Exams": "امتحانات"}})
    survey = factories.publish(database_url, document)
    factories.settle(database_url, survey.slug, tablet=True)
    fields = signed_in.get(f"/manage/surveys/{survey.slug}/study").text
    assert [code for code in ("en", "es", "fr", "pt", "ar") if f'name="hand_over.{code}"' in fields] == [
        "en",
        "ar",
    ]
    said = {
        "hand_over.en": "We come from the union <b>.\nIt is about exams.",
        "hand_over.ar": "نحن من النقابة.",
    }
    assert save(signed_in, survey.slug, **said).status_code == 303
    for language, words in (
        ("en", "We come from the union &lt;b&gt;."),
        ("ar", "نحن"),
        ("fr", "We come from"),
    ):
        page = client.get(f"/s/{survey.slug}/tablet?lang={language}").text
        screen = page.partition('<template id="tablet-hand-over">')[2].partition("</template>")[0]
        assert words in screen, language
        # The page's own words stand before and after, and there are as many as without.
        assert (screen.count("<p>"), screen.index('class="lead"') < screen.index(words)) == (
            2 if language != "ar" else 1,
            True,
        )
    assert (
        "We come" not in client.get(f"/s/{survey.slug}").text.partition("data-stated")[2].partition("\n")[2]
    )
    refused = save(signed_in, survey.slug, **{"hand_over.ar": "a" * 301})
    assert refused.status_code == 422
    assert (
        "Words on the tablet (العربية):</strong> must have at most 300 characters; it has 301" in refused.text
    )
