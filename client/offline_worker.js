// Answers for a survey's page with what that page has kept, while there is no network; as long as there is one, with what comes from there.
// Where nothing comes through, neither an answer nor an error, it is as if there were none. A page that is not the kept one any more, for
// whatever reason, ends it.

const { registration } = globalThis;
const cacheName = `moneda:${new URL(registration.scope).pathname}`;
const PATIENCE = 10000; // ms; through a new connection of 50 kbit/s and 1,000 ms a page came after 4 s, without looking up its name
let silent = false; // nothing came for what was asked last: until a page is opened, nobody waits for that once more

addEventListener('fetch', (event) => {
  if (event.request.method === 'GET') event.respondWith(answer(event.request));
});

async function answer(request) {
  const opens = request.mode === 'navigate';
  const asked = await find(request);
  const kept = asked ?? (opens ? await find(request, { ignoreSearch: true }) : null); // maybe in another language
  if (!kept) return fetch(request);
  if (silent && !opens) return kept;
  let timer;
  const late = new Promise((resume) => { timer = setTimeout(resume, PATIENCE); });
  const came = await Promise.race([ask(request), late]).catch(() => null);
  clearTimeout(timer);
  silent = !came;
  if (silent) return kept;
  // A gateway that fails says nothing of the survey.
  const { status } = came.answered;
  if (opens && asked && status >= 200 && status < 500 && came.text !== await kept.text()) await leave();
  return came.answered;
}

const find = (request, options) => caches.match(request, { cacheName, ignoreVary: true, ...options });

/** What comes from the network, once it is here as a whole. */
async function ask(request) {
  const answered = await fetch(request);
  return { answered, text: await answered.clone().text() };
}

async function leave() {
  await caches.delete(cacheName);
  await registration.unregister();
}
