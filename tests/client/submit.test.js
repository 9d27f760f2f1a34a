import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { afterEach, beforeEach, test } from 'node:test';

import { alone, persist, post } from '../../client/posting.js';
import { erase, keep, markSent, markShown, recall, spentBefore, writeBody } from '../../client/submit.js';

const BODY = writeBody('8c1f02b7d4e65ae98c1f02b7d4e65ae9', 'a'.repeat(64), [0, 1, 1], [1, 1, 1]);
const QUICK = { pause: 4, longest: 16 };
const LONG = { pause: 3600000, longest: 3600000 }; // nothing but a wake ends such a pause in time

/** Attempts over a real connection, until one is answered for good. */
const send = (address, body, { language, patience, ...how }) => persist(() => post(address, body, { language, patience }), how);

let server;
let url;
let arrived; // what reached the server: {method, headers, body}, in order
let respond; // (attempt from 1, response)

beforeEach(async () => {
  arrived = [];
  server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      arrived.push({ method: request.method, headers: request.headers, body: Buffer.concat(chunks).toString('latin1') });
      respond(arrived.length, response);
    });
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  url = `http://127.0.0.1:${server.address().port}/s/exam/responses`;
});

afterEach(() => new Promise((closed) => {
  server.closeAllConnections();
  server.close(closed);
}));

const JSON_TYPE = { 'content-type': 'application/json' };
const status = (code, body = '{}', headers = JSON_TYPE) => (response) => response.writeHead(code, headers).end(body);
const OVER = '{"error": {"field": "survey", "message": "is closed"}}';
const failing = (times, fail) => (attempt, response) => (attempt <= times ? fail(response) : status(201)(response));

test('the body that is shown is the JSON that is promised', () => {
  assert.deepEqual(JSON.parse(BODY), { id: '8c1f02b7d4e65ae98c1f02b7d4e65ae9', version: 'a'.repeat(64), reports: [0, 1, 1] });
});

test('every body of a survey has the same length', () => {
  const [few, many] = [[0, 7, 0], [1, 16, 255]].map((reports) => writeBody('8c'.repeat(16), 'a'.repeat(64), reports, [1, 16, 255]));
  assert.equal(few.length, many.length);
  assert.deepEqual([few, many].map((body) => JSON.parse(body).reports), [[0, 7, 0], [1, 16, 255]]);
});

test('a response is posted once, as JSON, without a cookie or a referrer', async () => {
  respond = failing(0);
  assert.equal((await send(url, BODY, { ...QUICK, language: 'es' })).status, 201);
  const [{ method, headers, body }] = arrived;
  assert.equal(arrived.length, 1);
  assert.equal(method, 'POST');
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['accept-language'], 'es');
  assert.equal(headers.cookie, undefined);
  assert.equal(headers.referer, undefined);
  assert.equal(body, BODY);
});

test('200, the same again, is a success', async () => {
  respond = (_, response) => status(200)(response);
  assert.equal((await send(url, BODY, QUICK)).status, 200);
});

test('a success without a readable body is a success', async () => {
  respond = (_, response) => status(201, 'stored')(response);
  assert.equal((await send(url, BODY, QUICK)).status, 201);
});

for (const [name, fail] of [
  ['a dropped connection', (response) => response.destroy()],
  ...[400, 404, 408, 411, 413, 423, 425, 429, 500, 502, 503, 504].map((code) => [`status ${code}`, status(code)]),
]) {
  test(`after ${name} the same bytes are sent again`, async () => {
    respond = failing(3, fail);
    const retries = [];
    await send(url, BODY, { ...QUICK, onRetry: (tries) => retries.push(tries) });
    assert.deepEqual(arrived.map(({ body }) => body), Array(4).fill(BODY));
    assert.deepEqual(retries, [1, 2, 3]);
  });
}

test('a server that does not answer is given up on, and tried again', async () => {
  respond = failing(1, () => {});
  await send(url, BODY, { ...QUICK, patience: 50 });
  assert.deepEqual(arrived.map(({ body }) => body), [BODY, BODY]);
});

for (const code of [403, 409, 410, 415, 422]) {
  test(`status ${code} is final and carries the server's words`, async () => {
    respond = (_, response) => status(code, '{"error": {"field": "reports", "message": "Se esperaban 3."}}')(response);
    await assert.rejects(send(url, BODY, QUICK), { status: code, field: 'reports', message: 'Se esperaban 3.', again: false });
    assert.equal(arrived.length, 1);
  });
}

const PAGE = { 'content-type': 'text/html; charset=utf-8' };
for (const [name, fail] of [
  ['a redirect', (response) => response.writeHead(302, { location: '/log-in' }).end()],
  ['a page that says 200', status(200, '<h1>Log in</h1>', PAGE)],
  ['a page that says 403', status(403, '<h1>Not from here</h1>', PAGE)],
  ['JSON that says 403', status(403, '{"message": "Missing Authentication Token"}')],
  ['JSON that says 410 and is cut', status(410, '{"error"')],
  ['JSON of our own that says 404', status(404, '{"error": {"field": "survey", "message": "is not known"}}')],
]) {
  test(`${name} from a gateway is neither a receipt nor a refusal: the same bytes are sent again`, async () => {
    respond = failing(2, fail);
    assert.equal((await send(url, BODY, QUICK)).status, 201);
    assert.deepEqual(arrived.map(({ method, body }) => [method, body]), Array(3).fill(['POST', BODY]));
  });
}

test('it never gives up by itself', async () => {
  respond = failing(40, status(503));
  await send(url, BODY, { pause: 1, longest: 1 });
  assert.deepEqual(arrived.map(({ body }) => body), Array(41).fill(BODY));
});

test('what is over is attempted no more, and is neither a success nor a refusal', async () => {
  const outcomes = [{ status: 503 }, { over: true }];
  assert.deepEqual(await persist(async () => outcomes.shift(), QUICK), { over: true });
});

test('pauses grow up to the longest, by chance between half and the whole', async () => {
  const times = [];
  respond = (attempt, response) => {
    times.push(performance.now());
    status(attempt < 5 ? 503 : 410, OVER)(response);
  };
  await assert.rejects(send(url, BODY, { pause: 40, longest: 100 }), { status: 410 });
  [40, 80, 100, 100].forEach((longest, index) => {
    const waited = times[index + 1] - times[index];
    assert.ok(waited >= longest / 2 - 2 && waited < longest + 2000, `pause ${index + 1}: ${waited} ms`);
  });
});

test('a wake ends a pause', async () => {
  respond = failing(2, status(503));
  const wakes = new EventTarget();
  const retries = [];
  const onRetry = (tries) => {
    retries.push(tries);
    setTimeout(() => wakes.dispatchEvent(new Event('wake')));
  };
  assert.equal((await send(url, BODY, { ...LONG, wakes, onRetry })).status, 201);
  assert.deepEqual(retries, [1, 2]);
});

test('a wake while an attempt is under way makes no second one beside it, but another right after it', async () => {
  const wakes = new EventTarget();
  let under = 0;
  let most = 0;
  let attempts = 0;
  const attempt = async () => {
    attempts += 1;
    under += 1;
    most = Math.max(most, under);
    for (let wake = 0; wake < 3; wake += 1) wakes.dispatchEvent(new Event('wake'));
    await new Promise((resume) => setTimeout(resume, 5));
    under -= 1;
    return { status: attempts < 4 ? 0 : 200 };
  };
  await persist(attempt, { ...LONG, wakes });
  assert.deepEqual([attempts, most], [4, 1]);
});

const DATE = 'Sun, 06 Nov 1994 08:49:37 GMT'; // a server whose clock and this device's agree on nothing
for (const [name, code, headers, seconds] of [
  ['seconds', 503, { 'retry-after': '1' }, 1],
  ['a time by its own clock', 503, { date: DATE, 'retry-after': 'Sun, 06 Nov 1994 08:49:38 GMT' }, 1],
  ['too many requests', 429, { 'retry-after': '1' }, 1],
  ['a gateway that wants to be left alone', 503, { 'content-type': 'text/html', 'retry-after': '1' }, 1],
]) {
  test(`Retry-After, ${name}: no attempt before it, whatever wakes the page`, async () => {
    const times = [];
    const wakes = new EventTarget();
    respond = (attempt, response) => {
      times.push(performance.now());
      status(attempt === 1 ? code : 201, '{}', { ...JSON_TYPE, ...(attempt === 1 && headers) })(response);
    };
    const busy = setInterval(() => wakes.dispatchEvent(new Event('wake')), 20);
    const asked = [];
    await send(url, BODY, { ...LONG, wakes, onRetry: (tries, error, after) => asked.push(after) });
    clearInterval(busy);
    assert.deepEqual(asked, [1000 * seconds]);
    // Timers may fire a little early.
    assert.ok(times[1] - times[0] >= 1000 * seconds - 50, `${times[1] - times[0]} ms`);
  });
}

for (const [said, after] of [
  ['0', 0], ['7', 7000], ['86400', 3600000], ['1e3', 0], ['-5', 0], ['soon', 0], ['', 0],
  ['Sun, 06 Nov 1994 08:49:47 GMT', 10000], ['Sun, 06 Nov 1994 08:49:07 GMT', 0], ['Sun, 06 Nov 2094 08:49:37 GMT', 3600000],
]) {
  test(`Retry-After: ${said || '(empty)'} is ${after} ms, at most an hour`, async () => {
    respond = (_, response) => status(503, '{}', { ...JSON_TYPE, date: DATE, 'retry-after': said })(response);
    const { status: answered, after: asked } = await post(url, BODY);
    assert.deepEqual({ answered, asked }, { answered: 503, asked: after });
  });
}

test('an attempt that is called off ends at once', async () => {
  respond = () => {};
  const stop = new AbortController();
  const outcome = post(url, BODY, { signal: stop.signal });
  stop.abort();
  assert.deepEqual(await outcome, { status: 0 });
});

test('without locks a task runs all the same, and once', async () => {
  let runs = 0;
  assert.equal(await alone('exam', async () => { runs += 1; return 'done'; }), 'done');
  await assert.rejects(alone('exam', async () => { runs += 1; throw new RangeError('its own'); }), RangeError);
  assert.equal(runs, 2);
});

/** The part of Web Storage that is used, for Node, which has none. */
function provideStorage(storage) {
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, get: storage });
}

const TO = '/s/exam/responses';
const EXAM = { slug: 'exam', responses: TO, family: 'f', round: 'one', spends: '1500000000' };
const OTHER = { slug: 'other', responses: '/s/other/responses', family: 'f', round: 'two', spends: '2' };
const OF_A_STRATUM = { ...EXAM, slug: 'stratum', responses: '/s/stratum/responses' };

test('a body is kept as it is, until it is replaced by a mark without id and reports', () => {
  const held = new Map();
  const methods = {
    getItem: (key) => held.get(key) ?? null,
    setItem: (key, value) => held.set(key, value),
    removeItem: (key) => held.delete(key),
  };
  provideStorage(() => Object.assign(Object.create(methods), Object.fromEntries(held)));
  assert.deepEqual(recall(EXAM), {});
  const { id } = JSON.parse(BODY);
  assert.equal(keep(EXAM, BODY, TO), true);
  assert.deepEqual([...held], [['moneda:one', JSON.stringify({ pending: BODY, to: TO, of: 'f', spends: EXAM.spends })]]);
  assert.deepEqual([spentBefore(EXAM), spentBefore(OTHER), spentBefore({ ...OTHER, family: 'g' })], [0, 1500000000, 0]);
  for (const link of [EXAM, OF_A_STRATUM]) assert.deepEqual(recall(link), { pending: BODY, to: TO, id });
  assert.deepEqual(recall(OTHER), {});
  assert.equal(markShown(EXAM, BODY), true);
  for (const link of [EXAM, OF_A_STRATUM]) assert.deepEqual(recall(link), { shown: BODY, id });
  markSent(EXAM);
  assert.deepEqual([...held], [['moneda:f', '{"sent":{"one":1500000000}}']]);
  for (const link of [EXAM, OF_A_STRATUM]) assert.deepEqual(recall(link), { sent: true });
  assert.deepEqual([recall(OTHER), spentBefore(OTHER), spentBefore(EXAM)], [{}, 1500000000, 0]);
  markSent(OTHER);
  assert.deepEqual([...held], [['moneda:f', '{"sent":{"one":1500000000,"two":2}}']]);
  assert.equal(spentBefore({ ...OTHER, round: 'three' }), 1500000002);
  erase(EXAM);
  assert.equal(held.size, 0);
  for (const rubbish of ['', '{', 'null', '7', '[]', '{"sent": 1}', '{"shown": 1}', '{"shown": "{}"}']) {
    held.set('moneda:one', rubbish);
    held.set('moneda:f', rubbish);
    assert.deepEqual([recall(EXAM), spentBefore(EXAM)], [{}, 0]);
  }
});

test('storage that forgets keeps nothing', () => {
  provideStorage(() => ({ getItem: () => null, setItem() {}, removeItem() {} }));
  assert.equal(keep(EXAM, BODY, TO), false);
});

test('storage that throws is done without', () => {
  provideStorage(() => { throw new Error('SecurityError'); });
  assert.equal(keep(EXAM, BODY, TO), false);
  markSent(EXAM);
  erase(EXAM);
  assert.deepEqual([recall(EXAM), spentBefore(EXAM)], [{}, 0]);
});
