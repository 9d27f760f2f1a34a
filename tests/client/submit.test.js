import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { afterEach, beforeEach, test } from 'node:test';

import { erase, keep, markSent, recall, send, writeBody } from '../../client/submit.js';

const BODY = writeBody('8c1f02b7d4e65ae98c1f02b7d4e65ae9', 'a'.repeat(64), [0, 1, 1], [1, 1, 1]);
const QUICK = { pause: 4, longest: 16 };

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
  assert.deepEqual(await send(url, BODY, { ...QUICK, language: 'es' }), { status: 201 });
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
  assert.deepEqual(await send(url, BODY, QUICK), { status: 200 });
});

test('a success without a readable body is a success', async () => {
  respond = (_, response) => status(201, 'stored')(response);
  assert.deepEqual(await send(url, BODY, QUICK), { status: 201 });
});

for (const [name, fail] of [
  ['a dropped connection', (response) => response.destroy()],
  ...[408, 423, 425, 429, 500, 502, 503, 504].map((code) => [`status ${code}`, status(code)]),
]) {
  test(`after ${name} the same bytes are sent again`, async () => {
    respond = failing(3, fail);
    const retries = [];
    await send(url, BODY, { ...QUICK, onRetry: (attempt) => retries.push(attempt) });
    assert.deepEqual(arrived.map(({ body }) => body), Array(4).fill(BODY));
    assert.deepEqual(retries, [1, 2, 3]);
  });
}

test('a server that does not answer is given up on, and tried again', async () => {
  respond = failing(1, () => {});
  await send(url, BODY, { ...QUICK, patience: 50 });
  assert.deepEqual(arrived.map(({ body }) => body), [BODY, BODY]);
});

for (const code of [400, 403, 404, 409, 410, 413, 415, 422]) {
  test(`status ${code} is final and carries the server's words`, async () => {
    respond = (_, response) => status(code, '{"error": {"field": "reports", "message": "Se esperaban 3."}}')(response);
    await assert.rejects(send(url, BODY, QUICK), { status: code, field: 'reports', message: 'Se esperaban 3.', again: false });
    assert.equal(arrived.length, 1);
  });
}

test('a refusal whose body is lost is still a refusal', async () => {
  respond = (_, response) => status(413, '{"error"')(response);
  await assert.rejects(send(url, BODY, QUICK), { status: 413, message: '', again: false });
});

const PAGE = { 'content-type': 'text/html; charset=utf-8' };
for (const [name, fail] of [
  ['a redirect', (response) => response.writeHead(302, { location: '/log-in' }).end()],
  ['a page that says 200', status(200, '<h1>Log in</h1>', PAGE)],
  ['a page that says 403', status(403, '<h1>Not from here</h1>', PAGE)],
]) {
  test(`${name} from a gateway is neither a receipt nor a refusal: the same bytes are sent again`, async () => {
    respond = failing(2, fail);
    assert.deepEqual(await send(url, BODY, QUICK), { status: 201 });
    assert.deepEqual(arrived.map(({ method, body }) => [method, body]), Array(3).fill(['POST', BODY]));
  });
}

test('it gives up after the last attempt, and may be asked again', async () => {
  respond = failing(Infinity, status(503));
  await assert.rejects(send(url, BODY, { ...QUICK, attempts: 4 }), { status: 503, again: true });
  assert.equal(arrived.length, 4);
});

test('without a connection it gives up, and may be asked again', async () => {
  respond = failing(Infinity, (response) => response.destroy());
  await assert.rejects(send(url, BODY, { ...QUICK, attempts: 2 }), { status: 0, again: true });
});

test('pauses grow up to the longest, by chance between half and the whole', async () => {
  const times = [];
  respond = (_, response) => {
    times.push(performance.now());
    status(503)(response);
  };
  await assert.rejects(send(url, BODY, { attempts: 5, pause: 40, longest: 100 }), { status: 503 });
  [40, 80, 100, 100].forEach((longest, index) => {
    const waited = times[index + 1] - times[index];
    assert.ok(waited >= longest / 2 - 2 && waited < longest + 2000, `pause ${index + 1}: ${waited} ms`);
  });
});

/** The part of Web Storage that is used, for Node, which has none. */
function provideStorage(storage) {
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, get: storage });
}

test('a body is kept as it is, until it is replaced by a mark without id and reports', () => {
  const held = new Map();
  provideStorage(() => ({
    getItem: (key) => held.get(key) ?? null,
    setItem: (key, value) => held.set(key, value),
    removeItem: (key) => held.delete(key),
  }));
  assert.deepEqual(recall('exam'), {});
  keep('exam', BODY);
  assert.deepEqual([...held], [['moneda:exam', BODY]]);
  assert.deepEqual(recall('exam'), { pending: BODY });
  assert.deepEqual(recall('other'), {});
  markSent('exam', 'a'.repeat(64));
  assert.deepEqual([...held], [['moneda:exam', `{"sent":"${'a'.repeat(64)}"}`]]);
  assert.deepEqual(recall('exam'), { sent: 'a'.repeat(64) });
  erase('exam');
  assert.equal(held.size, 0);
  for (const rubbish of ['', '{', 'null', '7', '[]', '{"sent": 1}']) {
    held.set('moneda:exam', rubbish);
    assert.deepEqual(recall('exam'), {});
  }
});

test('storage that throws is done without', () => {
  provideStorage(() => { throw new Error('SecurityError'); });
  keep('exam', BODY);
  markSent('exam', 'a');
  erase('exam');
  assert.deepEqual(recall('exam'), {});
});
