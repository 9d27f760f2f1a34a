// Answers for a survey's page with what that page has kept, while there is no network; as long as there is one, with what comes from there.
// A page that is not the kept one any more, for whatever reason, ends it.

const { registration } = globalThis;
const cacheName = `moneda:${new URL(registration.scope).pathname}`;

addEventListener('fetch', (event) => {
  if (event.request.method === 'GET') event.respondWith(answer(event.request));
});

async function answer(request) {
  const kept = await caches.match(request, { cacheName, ignoreVary: true });
  try {
    const answered = await fetch(request);
    // A gateway that fails says nothing of the survey.
    const { status } = answered;
    if (kept && request.mode === 'navigate' && status >= 200 && status < 500 && await differ(answered, kept)) await leave();
    return answered;
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

const differ = async (answered, kept) => await answered.clone().text() !== await kept.clone().text();

async function leave() {
  await caches.delete(cacheName);
  await registration.unregister();
}
