// Where a survey wants that: its page, its questions and the files of that page are kept on this device, so that it can go on without
// a network, until the visit ends. Nothing here knows an answer. Where a browser keeps nothing, so does this.

import { way } from './design.js';
import { dropPage, key } from './submit.js';

const { dataset: page } = document.querySelector('main');
const scope = location.pathname;
const name = key(scope);
let ends = new AbortController();
let kept = null; // or dropped
let policy = null;

const here = () => location.pathname + location.search; // without the code of an invitation

/** Begins once all is here. What fails, or is another version, is kept in no part; `again`, in another language, beside what is kept. */
way.keepPage = (again = false) => {
  kept = Promise.resolve(kept).then(keep).catch(() => again || dropPage());
  return kept;
};

/** Whether all of it is here, with what answers in place of the network; what is on its way is waited for, and not begun twice. */
export async function isPageKept() {
  await kept;
  try {
    const registration = await navigator.serviceWorker.getRegistration(scope);
    const own = registration && new URL(registration.scope).pathname === scope;
    return Boolean(own && await caches.match(here(), { cacheName: name, ignoreVary: true }));
  } catch {
    return false;
  }
}

/** Nothing is left of it when this has ended. */
way.dropPage = async () => {
  ends.abort();
  ends = new AbortController(); // it may be kept again
  await dropPage(); // at once, also where what began stalls
  kept = Promise.resolve(kept).then(() => dropPage());
  await kept;
  await dropOthers().catch(() => {});
};

/** The pages of this survey's other links, which may have been opened here before. */
async function dropOthers() {
  for (const cacheName of 'round' in page ? await caches.keys() : []) {
    const other = cacheName.slice(key('').length);
    const held = await caches.match(other, { cacheName, ignoreSearch: true, ignoreVary: true });
    if ((await held?.text())?.includes(` data-round="${page.round}"`)) await dropPage(other);
  }
}

async function keep() {
  const { signal } = ends;
  const cache = await caches.open(name);
  const asked = { cache: 'no-store', signal };
  const survey = await fetch(page.definition, asked);
  const { version } = await survey.clone().json();
  if (version !== page.version) throw new Error('another version');
  const addresses = [here(), ...(page.screens ? [page.screens] : [])];
  // Who answers next may read another language.
  if ('tablet' in page) addresses.push(scope, ...Array.from(document.querySelectorAll('.languages a'), ({ href }) => href));
  const pages = await Promise.all(addresses.map((address) => fetch(address, asked)));
  const texts = await Promise.all(pages.map((answer) => answer.clone().text()));
  if (!texts.every((text) => text.includes(`data-version="${page.version}"`))) throw new Error('another version');
  for (const [place, address] of addresses.entries()) await cache.put(address, pages[place]);
  await cache.put(page.definition, survey);
  const parts = [document, ...Array.from(document.querySelectorAll('template'), ({ content }) => content)];
  const files = parts.flatMap((part) => Array.from(part.querySelectorAll('[integrity]'), ({ src, href, integrity }) => [src ?? href, integrity]));
  const once = [...new Map(files)];
  const loaded = await Promise.all(once.map(([file, integrity]) => fetch(file, { integrity, signal })));
  // In the order of the page, not in that of arrival.
  for (const [place, [file]] of once.entries()) await cache.put(file, loaded[place]);
  policy ??= globalThis.trustedTypes?.createPolicy('offline-worker', { createScriptURL: () => page.offline }); // a page may make it once
  await navigator.serviceWorker.register(policy?.createScriptURL('') ?? page.offline, { scope });
  signal.throwIfAborted();
}
