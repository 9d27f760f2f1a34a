"""The public report as a page: what was found first, all else folded; a figure by itself; how answers are protected."""

import html
import io
import re
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import pytest
from PIL import Image

from server import reports
from server.output.documents import Paragraph, to_html
from server.releases import STRATUM, Budget, Figure
from server.releases.plans.items import Item, ItemKind
from server.reports import Published
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.finding_charts import draw_finding
from server.reports.contents.protection import describe_coin, describe_loss, describe_noise, explain_ranges
from server.reports.contents.release_charts import draw_entry
from server.reports.contents.release_findings import list_findings
from server.reports.public_page import Addresses, write_figure, write_public_page
from server.reports.public_source import NOTHING, PublishedVersion
from server.reports.report_words import ReportWords
from server.reports.social_card import draw_card
from server.study.definitions.definition_reader import parse_definition
from server.study.study_sheets import StudySheet
from tests.support import every_kind, factories, report_readers, sample_ledger

ADDRESSES = Addresses(
    "https://a.example/r/x", "https://a.example/r/x/card.png", "https://a.example/r/x/figure/{name}"
)
SHARE = "“Yes” is true of 23~to~40~of~100.".replace("~", "\N{NO-BREAK SPACE}")
HOSTILE = 'Red" onload="alert(1)"><b>'


def publish(document: object = None, **changed: object) -> Published:
    """A survey of every kind, and a release of each kind."""
    definition = parse_definition(every_kind.document() if document is None else document)
    version = PublishedVersion(1, "a" * 64, date(2026, 5, 1), definition)
    values = {"ledger": sample_ledger.ledger(), **changed}
    return Published(False, (version,), admissions=(), incomplete=False, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_page_has_every_table_of_the_document_and_what_was_found_before_them(language: str) -> None:
    published = publish()
    page = write_public_page(published, language, addresses=ADDRESSES)
    whole = to_html(reports.build_public_document(published, language))
    assert report_readers.page(page).tables == report_readers.page(whole).tables
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    assert page.count("<h1") == 1
    first = [page.index(f'id="{name}"') for name in ("found-2-coin", "protection", "certainty")]
    folded = [page.index(f'id="{name}"') for name in ("questions", "results", "method", "exact-designs")]
    assert sorted(first + folded) == first + folded
    assert page.index("<table") > page.index('<details class="folded')
    assert set(re.findall(r'href="#([^"]*)"', page)) <= {*ids, "heads", "disc"}


def test_the_page_runs_nothing_and_loads_nothing() -> None:
    page = write_public_page(publish(), "en", addresses=ADDRESSES)
    assert re.findall(r"<(?:script|link|img|iframe|object|style [a-z])", page) == []
    assert "style=" not in page


def test_a_file_has_no_way_to_anywhere_else() -> None:
    page = write_public_page(publish(), "en")
    outside = (address for address in re.findall(r'(?:href|src|content)="([^"]*)"', page) if "//" in address)
    assert list(outside) == []
    assert "iframe" not in page
    assert "og:" not in page


def test_what_networks_show_of_it_has_no_number() -> None:
    page = write_public_page(publish(), "en", addresses=ADDRESSES)
    said = dict(re.findall(r'<meta (?:name|property)="([^"]*)" content="([^"]*)">', page))
    for name in ("description", "og:title", "og:description", "og:image:alt"):
        assert said[name]
        assert not re.search(r"\d", said[name]), name
    assert said["og:image"] == ADDRESSES.card
    assert said["twitter:card"] == "summary_large_image"


def test_who_asked_stands_above_the_title_where_it_is_known() -> None:
    def line(**known: str) -> str:
        page = write_public_page(publish(study=StudySheet(**known, public=True)), "en")
        (found,) = re.findall(r'<p class="about">(.*?)</p>', page)
        return str(found)

    assert line() == "Published on May 1, 2026 · 601 responses by May 9, 2026"
    assert line(sponsor="Institute of <Education>").startswith(
        "Institute of &lt;Education&gt; · Published on"
    )
    days = {"field_begin": "2026-05-02", "field_end": "2026-05-20"}
    assert line(conductor="Team A", **days).startswith(
        "Team A · In the field: May 2, 2026 to May 20, 2026 · 601"
    )


def test_how_many_answered_is_not_said_where_it_was_not_released() -> None:
    book = sample_ledger.ledger()
    without = tuple(
        entry for entry in book.released if entry.item.kind not in (ItemKind.COUNT, ItemKind.HIERARCHY)
    )
    page = write_public_page(publish(ledger=replace(book, released=without)), "en")
    assert '<p class="about">Published on May 1, 2026 · Responses by May 9, 2026</p>' in page
    text = re.sub("<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert not re.search(r"\b(601|609|613|617)\b", text)


def test_a_survey_of_which_nothing_was_released_says_so() -> None:
    page = write_public_page(publish(ledger=NOTHING), "en")
    assert "Nothing was released yet." in page
    assert 'class="found' not in page
    assert "Noise was added" not in page

    book = sample_ledger.ledger()
    counts = tuple(entry for entry in book.released if entry.item.kind == ItemKind.COUNT)
    page = write_public_page(publish(ledger=replace(book, released=counts)), "en")
    assert "Nothing was released yet." not in page
    assert "Of the answers, nothing was released yet." in page


def by_stratum(*islands: Figure) -> Published:
    """A release by stratum in which nothing is told of the Islands, whatever their estimate."""
    told = [
        Figure("share", ((STRATUM, path), ("coin", "yes")), value, 0.03, value - 0.06, value + 0.06)
        for path, value in (("Coast", 0.25), ("North", 0.5))
    ]
    entry = sample_ledger.entry(
        1, Item(ItemKind.SHARE, ("coin",), option="yes", by_stratum=True), [islands[0], *told]
    )
    means = [
        Figure("mean", ((STRATUM, path), ("cups", "")), value, 0.1, value - 0.2, value + 0.2)
        for path, value in (("Coast", 2.0), ("North", 4.0))
    ]
    mean = sample_ledger.entry(2, Item(ItemKind.MEAN, ("cups",), by_stratum=True), [islands[1], *means])
    return publish(ledger=replace(sample_ledger.ledger(), released=(entry, mean)))


def test_where_nothing_is_told_no_bar_and_no_dot_is_drawn_and_it_stands_last() -> None:
    words = ReportWords("en")
    share = Figure("share", ((STRATUM, "Islands"), ("coin", "yes")), 1.9, 2.0, -2.1, 5.9)
    mean = Figure("mean", ((STRATUM, "Islands"), ("cups", "")), -3.0, 14.0, -31.0, 35.0)
    published = by_stratum(share, mean)
    shares, means = list_findings(words, published)
    asked = QuestionsByVersion({1: published.newest.definition})
    for finding, drawn, said, end in (
        (shares, 'class="bar"', "0~to~100~of~100", "100"),
        (means, 'class="dot"', "−10 to 30~cups", "30"),
    ):
        assert [one.label.text for one in finding.ranges] == ["North", "Coast", "Islands"]
        (chart,) = draw_finding(words, finding, asked)
        assert chart.svg.count(drawn) == 2
        assert "Islands: " + said.replace("~", "\N{NO-BREAK SPACE}") in chart.alternative
        # All rows share one axis, which nothing impossible of the Islands stretches.
        marks = re.findall(r'class="mark"[^>]*>([^<]*)<', chart.svg)
        assert len(marks) <= 3
        assert marks[-1] == end


def test_a_drawn_table_has_no_impossible_share_and_the_table_beside_it_has_it() -> None:
    def cell(stratum: str, answer: str, value: float, error: float) -> Figure:
        place = ((STRATUM, stratum), ("coin", answer))
        return Figure("share", place, value, error, value - 2 * error, value + 2 * error)

    figures = [
        cell("Islands", "no", 1.165, 0.6),
        cell("Islands", "yes", -0.165, 0.6),
        cell("North", "no", 0.75, 0.02),
        cell("North", "yes", 0.25, 0.02),
    ]
    entry = sample_ledger.entry(1, Item(ItemKind.TABLE, ("coin",), by_stratum=True), figures)
    published = publish(ledger=replace(sample_ledger.ledger(), released=(entry,)))
    words, asked = ReportWords("en"), QuestionsByVersion({1: published.newest.definition})
    (chart,) = draw_entry(words, entry, asked)
    assert "116.5" not in chart.svg
    assert "16.5" not in chart.svg
    assert "Islands × No: – (0.0–100.0)" in chart.alternative
    assert chart.svg.count("heat-0") == 2
    assert chart.svg.count("heat-5") == 1
    assert "116.5" in write_public_page(published, "en")


def test_the_snippet_of_a_figure_keeps_the_words_of_an_answer_in_their_quotes() -> None:
    document = every_kind.document()
    party = next(entry for entry in document["questions"] if entry["name"] == "party")
    party["options"][0]["text"] = HOSTILE
    document["title"] = 'The "second" survey'
    entry = sample_ledger.entry(
        1,
        Item(ItemKind.SHARE, ("party",), option="red"),
        [Figure("share", (("party", "red"),), 0.3, 0.01, 0.28, 0.32)],
    )
    page = write_public_page(
        publish(document, ledger=replace(sample_ledger.ledger(), released=(entry,))),
        "en",
        addresses=ADDRESSES,
    )
    (shown,) = re.findall(r'<pre [^>]*><code translate="no">(.*?)</code>', page)
    assert "<" not in shown
    snippet = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&#34;", '"').replace("&amp;", "&")
    assert re.fullmatch(
        r'<iframe src="[^"<>]*" title="[^"<>]*" width="100%" height="\d+" loading="lazy"></iframe>', snippet
    )
    (title,) = re.findall(r'title="([^"]*)"', snippet)
    assert html.unescape(title).startswith('Figure of the survey “The "second" survey”: ')


def test_a_figure_by_itself_has_its_sentence_and_a_way_to_the_report() -> None:
    published = publish()
    page = write_figure(published, "en", "2-coin", ADDRESSES.page)
    assert page is not None
    assert f"<h1>{SHARE}</h1>" in page
    assert page.count("<svg") == 3  # the dots, and how they are read
    assert f'href="{ADDRESSES.page}" target="_blank"' in page
    assert "Option red" not in page
    assert "demonstration" not in page
    assert write_figure(published, "en", "2-nothing", ADDRESSES.page) is None
    simulated = write_figure(replace(published, simulated=True), "en", "2-coin", ADDRESSES.page)
    assert simulated is not None
    assert "This is a demonstration" in simulated


def test_a_figure_that_was_released_anew_says_so_and_stays() -> None:
    book = sample_ledger.ledger()
    again = replace(book.released[1], entry=9)
    published = publish(ledger=replace(book, released=(*book.released, again)))
    old, new = (write_figure(published, "en", name, ADDRESSES.page) for name in ("2-coin", "9-coin"))
    assert old is not None
    assert new is not None
    assert "by another number" in old
    assert "by another number" not in new
    assert 'id="found-2-coin"' not in write_public_page(published, "en")


def test_one_question_that_was_released_twice_stands_below_one_heading_with_what_tells_them_apart() -> None:
    book = sample_ledger.ledger()
    first = replace(book.released[1], covers=replace(book.released[1].covers, versions=(1, 2)))
    again = replace(book.released[1], entry=9, release=2, made_at=datetime(2026, 6, 1, 9))  # noqa: DTZ001
    published = publish(ledger=replace(book, released=(first, again)))
    (newest,) = published.versions
    published = replace(published, versions=(replace(newest, number=2), newest))
    page = write_public_page(published, "en")
    (group,) = re.findall(r'<section class="asked-once".*?</section>', page, re.DOTALL)
    assert page.count("Yes by coin?</span></h2>") == 1
    assert re.findall(r"<h3 [^>]*>(.*?)</h3>", group) == [SHARE] * 2
    assert re.findall(r'<p class="asked">(.*?)</p>', group) == [
        "Released on May 9, 2026 · versions 1, 2",
        "Released on June 1, 2026 · version 1",
    ]
    assert (
        "Released on May 9" not in write_public_page(publish(), "en").split('class="more"')[0]
    )  # all of one day


def test_how_answers_were_protected_takes_two_sentences_twice_and_the_rest_is_folded_with_the_method() -> (
    None
):
    page = write_public_page(publish(), "en")
    (box,) = re.findall(r'<section class="protected".*?</section>', page, re.DOTALL)
    halves = box.split('id="publishing"')
    assert [len(re.findall(r"\. [A-Z]|\.</p>", half)) for half in halves] == [2, 2]
    assert "Noise was added once more before anything was published." in halves[1]
    method = page[page.index('id="method"') :]
    assert "from all releases together, and no further." in method
    assert "Of whoever answered more than once, more can be learned." in method


def join_paragraphs(blocks: object) -> str:
    return " ".join(block.text.text for block in blocks if isinstance(block, Paragraph))  # type: ignore[attr-defined]


def test_what_is_said_of_coins_is_that_of_the_version_that_hides_least() -> None:
    words = ReportWords("en")
    weak, strong = (parse_definition(factories.definition([gamma])) for gamma in (0.45, 0.05))
    versions = tuple(
        PublishedVersion(number, "a" * 64, date(2026, 5, number), definition)
        for number, definition in ((2, strong), (1, weak))
    )
    both = replace(publish(), versions=versions)
    assert f"right at most {weak.guesses.right} times in 100" in join_paragraphs(describe_coin(words, both))
    assert weak.guesses.right > strong.guesses.right
    assert "could be right nearly always" in join_paragraphs(describe_coin(words, publish()))


def test_what_is_said_of_noise_is_true_of_every_kind_of_release() -> None:
    words, book = ReportWords("en"), sample_ledger.ledger()
    exact = sample_ledger.entry(9, Item(ItemKind.SHUFFLED), [], "shuffling")
    bounded = Budget(Decimal(2), Decimal("0.00001"), "bounded")

    def describe(**changed: object) -> str:
        published = publish(ledger=replace(book, **changed))  # type: ignore[arg-type]
        return join_paragraphs([*describe_noise(words, published), *describe_loss(words, published)])

    assert "before anything was published" in describe()
    assert "As δ is not 0" in describe()
    assert "anything but the number of responses" in describe(budget=bounded)
    both = describe(budget=bounded, released=(*book.released, exact))
    assert "Only where all tallies were released exactly, none was added" in both
    alone = describe(budget=bounded, released=(exact,))
    assert "without more noise" in alone
    assert "Noise was added" not in alone
    assert describe_noise_of_nothing(words) == ""


def describe_noise_of_nothing(words: ReportWords) -> str:
    return join_paragraphs(describe_noise(words, publish(ledger=NOTHING)))


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (
            (ItemKind.SHARE,),
            "Each range by itself holds the truth in about 95 of 100 such surveys; of 100 ranges, about 5 miss it.",
        ),
        # A choice has no range, and that of a number of people is about something else.
        (
            (ItemKind.SHARE, ItemKind.MOST_COMMON, ItemKind.COUNT),
            "Each range by itself holds the truth in about 95 of 100 such surveys; of 100 ranges, about 5 miss it.",
        ),
        (
            (ItemKind.SHARE, ItemKind.MEAN),
            "Each range by itself holds the truth in about 50 to 95 of 100 such surveys; "
            "of 100 ranges, about 5 to 50 miss it.",
        ),
        (
            (ItemKind.COUNT,),
            "Each range by itself holds the number without noise in about 50 of 100 such releases; "
            "of 100 ranges, about 50 miss it.",
        ),
        (
            (ItemKind.COUNT, ItemKind.MOST_COMMON),
            "Each range by itself holds the number without noise in about 50 of 100 such releases; "
            "of 100 ranges, about 50 miss it.",
        ),
        ((ItemKind.MOST_COMMON,), ""),
    ],
)
def test_how_sure_ranges_are_is_said_of_those_there_are(kinds: tuple[ItemKind, ...], said: str) -> None:
    """All but the share were released at a confidence of 50 %."""
    ledger = sample_ledger.ledger()
    released = [
        replace(entry, confidence=0.95 if entry.item.kind == ItemKind.SHARE else 0.5)
        for entry in ledger.released
        if entry.item.kind in kinds
    ]
    published = publish(ledger=replace(ledger, released=tuple(released)))

    explained = explain_ranges(ReportWords("en"), published)

    read = explained.replace("\N{NO-BREAK SPACE}", " ")
    assert read.startswith(said) if said else read == ""
    page = write_public_page(published, "en", addresses=ADDRESSES)
    assert page.split('id="results"')[0].count("Each range by itself") == bool(said)


@pytest.mark.parametrize("title", ["Exam", "Exam survey", "Copying in exams at two schools", "Words " * 40])
def test_the_picture_for_networks_is_filled_whatever_the_length_of_the_title(title: str) -> None:
    """Ink of the title reaches below the middle, and stays within the edges."""
    picture = Image.open(io.BytesIO(draw_card(title))).convert("L").point(lambda shade: 255 * (shade < 80))
    box = picture.getbbox()
    assert box is not None
    left, _top, right, bottom = box
    assert picture.height * 0.6 < bottom < picture.height * 0.95
    assert left > 0
    assert right < picture.width
