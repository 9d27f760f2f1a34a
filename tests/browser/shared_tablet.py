"""An interviewer and the people who answer on one tablet, and what the tablet keeps."""

import json
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser import question_screens as screens
from tests.browser.site_users import Respondent
from tests.support import factories

PIN = "824193"
QUESTIONS = [
    screens.make_question("stole", "yes_no", "Have you ever taken something from work?", "coin_flip",
        design={"gamma": 0.25}),
    screens.make_question("cash", "number", "What did it cost?", "stochastic_rounding", low=0, high=999_999, step=1),
]  # fmt: skip
DOCUMENT = screens.survey(*QUESTIONS)
"""A truth of six digits is found wherever it is left."""

READ_RECORD = """async () => {
  const database = await new Promise((resolve, reject) => {
    const asked = indexedDB.open(`moneda:${location.pathname}`);
    Object.assign(asked, { onsuccess: () => resolve(asked.result), onerror: () => reject(asked.error) });
  });
  const asked = database.transaction('tablet').objectStore('tablet').get('tablet');
  await new Promise((resolve) => { asked.onsuccess = resolve; });
  database.close();
  const { slots, key, pin, ...rest } = asked.result;
  const hex = Array.from(slots, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const width = 2 * (rest.size + 28);
  const split = hex.match(new RegExp(`.{${width}}`, 'g'));
  return { ...rest, slots: split, pin: pin && Object.keys(pin), takes: key.extractable };
}"""


_LESS_WORK = """{
  const { deriveBits } = SubtleCrypto.prototype;
  SubtleCrypto.prototype.deriveBits = function (how, ...rest) {
    return deriveBits.call(this, { ...how, iterations: 1 }, ...rest);
  };
}"""


def lessen_work(page: Page) -> None:
    """Let a PIN be hashed at once on this page, where a test is about something else than its 600,000 rounds.

    That the page asks for so many is in `tests/client/pin.test.js`; tablets that are not made so hash as they do.
    """
    page.add_init_script(_LESS_WORK)


def publish_for_tablet(served: factories.Served, document: dict[str, Any] = DOCUMENT) -> factories.Published:
    survey = factories.publish(served.database_url, document)
    factories.settle(served.database_url, survey.slug, tablet=True)
    return survey


def begin(page: Page, slug: str, language: str = "en") -> Respondent:
    """An interviewer chooses a PIN, waits until the tablet needs no network, and hands it over."""
    visit = Respondent(page, slug, language).open("/tablet")
    choose_pin(visit)
    visit.button("Back to handing over").click()
    await_hand_over(visit)
    return visit


def choose_pin(visit: Respondent) -> None:
    """Choose one on the screen that asks for it, and wait until the page is kept."""
    visit.page.get_by_label(visit.say("PIN"), exact=True).fill(PIN)
    visit.button("Begin").click()
    kept = visit.say("This page is kept on the tablet: it also works without a network.")
    expect(visit.page.get_by_text(kept)).to_be_visible()


def begin_unkept(page: Page, slug: str) -> Respondent:
    """The same on a tablet that never keeps the page, so that a test may change what it loads."""
    lessen_work(page)
    page.add_init_script("ServiceWorkerContainer.prototype.register = async () => { throw new Error(); };")
    visit = Respondent(page, slug).open("/tablet")
    page.get_by_label("PIN", exact=True).fill(PIN)
    visit.button("Begin").click()
    visit.button("Back to handing over").click()
    await_hand_over(visit)
    return visit


def await_hand_over(visit: Respondent) -> None:
    expect(visit.heading("Hand the tablet over")).to_be_visible()


def answer_all(visit: Respondent, truth: str, cost: int) -> None:
    """One person, from Start to the screen that thanks."""
    visit.button("Start").click()
    screens.begin(visit)
    for question, given in zip(QUESTIONS, (truth, cost), strict=True):
        screens.answer(visit, question, given)
    visit.button("Send").click()
    expect(visit.heading("Thank you. You are done.")).to_be_visible()


def hand_back(visit: Respondent) -> None:
    visit.button("Clear the screen").click()
    await_hand_over(visit)


def open_desk(visit: Respondent, pin: str = PIN) -> None:
    """The interviewer's screen."""
    visit.button("For the interviewer").click()
    visit.page.get_by_label(visit.say("PIN"), exact=True).fill(pin)
    visit.button("Open").click()


def await_waiting(visit: Respondent, people: int, waiting: int) -> None:
    """Both counts, on the screen that is handed over."""
    said = "People who have answered: {people}. Waiting to be sent: {waiting}."
    expect(visit.page.get_by_text(visit.say(said, people=people, waiting=waiting))).to_be_visible()


def read_heap(page: Page) -> str:
    """Every text that the page's scripts could still reach, or that was not collected yet."""
    network = page.context.new_cdp_session(page)
    parts: list[str] = []
    network.on("HeapProfiler.addHeapSnapshotChunk", lambda event: parts.append(event["chunk"]))
    network.send("HeapProfiler.collectGarbage")
    network.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False})
    network.detach()
    return "\n".join(json.loads("".join(parts))["strings"])
