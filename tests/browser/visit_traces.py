"""Everything that a visit leaves behind: requests, storage, history, the page itself."""

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from playwright.sync_api import Page, Route, expect

from server.store.models import Survey
from server.store.own_tables import invitations_of, purchases_of, responses_of, tickets_of
from server.web.joined_modules import find_file
from tests.browser.conftest import Opener
from tests.browser.recorder import Recorder
from tests.browser.site_users import PHONE, Respondent
from tests.support import factories

Traces = dict[str, Any]
Leak = tuple[str, str, str]
"""A file of the page, a passage of it, and what is put in its place."""

# Every coin is the same and every id is the same, so that two visits may differ in nothing but the truth.
FIXED_CHANCE = """
Crypto.prototype.getRandomValues = function (array) {
  if (array instanceof Uint32Array) return array.fill(%s);
  for (const place of array.keys()) array[place] = 16 + place;
  return array;
};
Math.random = () => 0;
"""
COINS = {"No": 0, "Yes": 2**32 - 1}  # the report under gamma 1/4, whatever the truth

STORED = """async () => {
  const databases = await indexedDB.databases();
  const root = await navigator.storage.getDirectory();
  const files = [];
  for await (const name of root.keys()) files.push(name);
  const cached = [];
  for (const name of await caches.keys()) {
    cached.push([name, (await (await caches.open(name)).keys()).map(({ url }) => url)]);
  }
  return {
    local: Object.entries(localStorage),
    session: Object.entries(sessionStorage),
    databases, files, cached,
    locks: Object.values(await navigator.locks.query()).flat().map(({ name, mode }) => [name, mode]),
    workers: (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope),
    cookie: document.cookie,
    history: [history.length, history.state, location.href, history.scrollRestoration],
    window: [name, document.title, document.referrer],
    globals: Object.keys(globalThis).filter((key) => !/^(__playwright|__pw)/.test(key)),
  };
}"""

DOCUMENT = """() => ({
  html: document.documentElement.outerHTML,
  controls: Array.from(document.querySelectorAll('*'), (element) => [
    element.localName, element.checked, element.value, element.selectedIndex, element.open, element.hidden,
    Object.keys(element), element.scrollTop, element.shadowRoot?.innerHTML,
  ]),
  focus: document.activeElement.outerHTML,
  selection: String(getSelection()),
})"""


# What the browser itself lists, told apart from what a test put in its place: where the clock of a page stands still,
# Playwright's answers the page that there is nothing in the list.
LISTED = """(() => {
  const marks = performance.getEntries().filter(({ entryType }) => /^(mark|measure)$/.test(entryType));
  return {
    // Files arrive in any order, before anything was answered.
    loaded: performance.getEntriesByType('resource').map(({ name }) => name).sort(),
    marked: marks.map(({ name }) => name),
  };
})()"""


class Wire:
    """Every request of a page, as Chromium's own network layer reports it: the headers that were really
    sent, in their order, and the body."""

    def __init__(self, page: Page) -> None:
        self.requests: dict[str, dict[str, Any]] = {}
        self._loaders: dict[str, tuple[str, str]] = {}
        self._coming: dict[str, str] = {}  # what has not come whole, and the document that asked
        self._owing: set[str] = set()  # whose headers are still to be told
        self.session = page.context.new_cdp_session(page)
        self.session.on("Network.requestWillBeSent", self._will_be_sent)
        self.session.on("Network.requestWillBeSentExtraInfo", self._note_sent)
        self.session.on("Network.responseReceived", self._note_answered)
        self.session.on("Network.loadingFinished", lambda event: self._coming.pop(event["requestId"], None))
        self.session.on("Network.loadingFailed", self._note_failed)
        self.session.on(
            "Network.webSocketCreated", lambda event: self._entry(event).update(socket=event["url"])
        )
        self.session.send("Network.enable", {"maxPostDataSize": 65536})

    def _entry(self, event: dict[str, Any]) -> dict[str, Any]:
        return self.requests.setdefault(event["requestId"], {})

    def sent_by_document(self) -> list[str]:
        """What the document that is shown sent, and the questions it fetched, where it was not refused an answer."""
        loader = self._frame()["loaderId"]
        return [url for url, of in self._loaders.values() if of == loader]

    def waited_for(self) -> list[str]:
        """What is on its way to the document that is shown, and requests whose headers the browser has yet to tell."""
        loader = self._frame()["loaderId"]
        open_ids = {each for each, of in self._coming.items() if of == loader} | self._owing
        return [self.requests[each].get("url", "") for each in open_ids]

    def read_loading(self) -> Traces:
        """What the browser keeps of its document's loading, read where no script of the page or of Playwright is."""
        world = self.session.send("Page.createIsolatedWorld", {"frameId": self._frame()["id"]})
        context = world["executionContextId"]
        asked = {"contextId": context, "expression": LISTED, "returnByValue": True}
        found: Traces = self.session.send("Runtime.evaluate", asked)["result"]["value"]
        return found

    def _frame(self) -> dict[str, Any]:
        frame: dict[str, Any] = self.session.send("Page.getFrameTree")["frameTree"]["frame"]
        return frame

    def _will_be_sent(self, event: dict[str, Any]) -> None:
        request = event["request"]
        if request["method"] == "POST" or request["url"].endswith("/survey.json"):
            self._loaders[event["requestId"]] = (request["url"], event["loaderId"])
        if event.get("type") != "Fetch":  # what a script asks for may be left unread, and never ends
            self._coming[event["requestId"]] = event["loaderId"]
        self._entry(event).update(
            method=request["method"],
            url=request["url"] + request.get("urlFragment", ""),
            headers=list(request["headers"].items()),
            body=request.get("postData"),
            kind=event.get("type"),
        )

    def _note_sent(self, event: dict[str, Any]) -> None:
        self._entry(event)["sent"] = list(event["headers"].items())
        self._owing.discard(event["requestId"])

    def _note_answered(self, event: dict[str, Any]) -> None:
        if event["hasExtraInfo"] and "sent" not in self._entry(event):
            self._owing.add(event["requestId"])

    def _note_failed(self, event: dict[str, Any]) -> None:
        self._loaders.pop(event["requestId"], None)
        self._coming.pop(event["requestId"], None)


# What comes after a screen is shown: the words of a receipt take the place of its number.
SPELLED = (
    "() => [...document.querySelectorAll('.receipt output')].every((it) => /^\\D+$/.test(it.textContent))"
    " && !document.querySelector('.receipt details[hidden]')"
)
# What is done under a lock is not over yet, though the screen may say so already.
LOCKED = "async () => Object.values(await navigator.locks.query()).flat().map(({ name }) => name)"
LOOKS = 250
"""How often it is asked whether everything is listed."""


def traces(page: Page, wire: Wire) -> Traces:
    """All of it, in a form that can be compared."""
    # The browser lists what was sent when its answer has come whole, which the page does not wait for.
    sent = wire.sent_by_document()
    for _ in range(LOOKS):
        spelled = page.evaluate(SPELLED)  # before the list is read: what writes the words is on it as well
        locked = page.evaluate(LOCKED)
        listed = wire.read_loading()
        missing = set(sent) - set(listed["loaded"]) | set(wire.waited_for())
        if spelled and not locked and not missing:
            break
        page.wait_for_timeout(20)
    else:
        raise AssertionError(f"not over: {missing}, {locked}; or a receipt without words")
    entries = wire.session.send("Page.getNavigationHistory")
    return {
        "requests": order_files(list(wire.requests.values())),
        "stored": {**page.evaluate(STORED), **listed},
        "document": page.evaluate(DOCUMENT),
        "cookies": [(cookie["name"], cookie["value"]) for cookie in page.context.cookies()],
        "entries": [
            entries["currentIndex"],
            [(entry["url"], entry["title"], entry["transitionType"]) for entry in entries["entries"]],
        ],
    }


def order_files(requests: list[Traces]) -> list[Traces]:
    """Files, questions and later screens are asked for side by side, in any order; all else keeps its place."""
    found: list[Traces] = []
    named = re.compile(r"/client/|/survey\.json$|/screens\?lang=")
    for asked_for, run in itertools.groupby(requests, key=lambda it: bool(named.search(it.get("url", "")))):
        found += sorted(run, key=lambda it, asked_for=asked_for: str(it["url"]) if asked_for else "")
    return found


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two traces differ; empty when they are the same to the last byte."""
    if type(one) is type(other) and isinstance(one, dict) and list(one) == list(other):
        return [found for key in one for found in differences(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for k, (a, b) in pairs for found in differences(a, b, f"{place}[{k}]")]
    return [] if type(one) is type(other) and one == other else [f"{place}: {one!r} / {other!r}"]


def find_missed(found: Sequence[str], places: Sequence[str]) -> list[str]:
    """Of the places, each a pattern, those where no difference was found."""
    return [place for place in places if not any(re.match(rf"\.{place}", difference) for difference in found)]


def forget_responses(database_url: str) -> None:
    """Empty the tables of responses and tickets, so that the same id is new again, and so is every code."""
    with factories.writing(database_url) as session:
        for number in session.scalars(sa.select(Survey.id)).all():
            for table in (responses_of(number), purchases_of(number), tickets_of(number)):
                session.execute(sa.delete(table))
            session.execute(sa.update(invitations_of(number)).values(spent=False))


def without_integrity(page: Page, slug: str) -> None:
    """Serve the survey's page, and its later screens, without their hashes, as a server that was taken over could."""

    def strip_integrity(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=re.sub(r' integrity="[^"]*"', "", answer.text()))

    page.route(re.compile(rf"/s/{slug}(/screens\?.*)?$"), strip_integrity)


def rewritten(page: Page, leaks: Sequence[Leak]) -> None:
    """Serve modules with these passages changed, in the files that the page loads them in."""

    def change_files(route: Route) -> None:
        answer = route.fetch()
        text = answer.text()
        for file, old, new in leaks:
            if route.request.url.endswith(f"/{find_file(file)}"):
                # In a joined file each module begins with its name.
                before, mark, source = text.rpartition(f"named.includes('{file}')")
                own, following, rest = source.partition("named.includes(")
                assert own.count(old) == 1, f"{file} should hold {old!r} once"
                text = before + mark + own.replace(old, new) + following + rest
        route.fulfill(response=answer, body=text)

    for name in {find_file(file) for file, _old, _new in leaks}:
        page.route(f"**/client/*/{name}", change_files)


ALL_CAME = """() => {
  const came = new Set(performance.getEntriesByType('resource').map(({ name }) => name));
  const files = [...document.getElementById('later').content.querySelectorAll('script, link')];
  const named = files.map((file) => file.getAttribute('src') ?? file.getAttribute('href'));
  const { screens } = document.querySelector('main').dataset;
  return [screens, ...named].every((address) => came.has(new URL(address, location).href));
}"""


def await_files(page: Page) -> None:
    """Wait for what everybody loads after the first screen, all of it, and own coins where they are offered."""
    if page.locator("#later").count():
        page.wait_for_function(ALL_CAME)
    if page.locator("#throws").count():
        expect(page.locator("#by-hand details")).to_be_attached()


def record_visit(
    open_page: Opener,
    recorder: Recorder,
    served: factories.Served,
    survey: factories.Published,
    truth: Any,
    behave: Callable[[Respondent, Any], None],
    coins: str = "No",
    leaks: Sequence[Leak] = (),
    complaint: str = "",
    fragment: str = "",
) -> Traces:
    """One visit on a new device."""
    forget_responses(served.database_url)
    recorder.forget()
    page = open_page(**PHONE, base_url=recorder.url)
    page.add_init_script(FIXED_CHANCE % COINS[coins])
    if leaks:
        without_integrity(page, survey.slug)
        rewritten(page, leaks)
    if complaint:
        open_page.watch(page).expect(complaint)
    wire = Wire(page)
    visit = Respondent(page, survey.slug).open(fragment)
    await_files(page)
    behave(visit, truth)
    left = traces(page, wire)
    open_page.close(page)
    return {**left, "bytes": recorder.requests()}
