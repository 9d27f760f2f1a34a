import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { Refusal, canonical, checkDefinition, checkDesign, checkShown, checkSurvey, exactEpsilon, fingerprint, loadSurvey } from '../../client/design.js';
import { read } from './vectors.js';

const { designs } = read('designs');
const vector = read('definition');

/** A fresh copy of the definition with one thing changed. */
function changed(change) {
  const definition = structuredClone(vector.definition);
  change(definition, definition.questions[0].designs[0]);
  return definition;
}

const refuses = (act, check) => assert.throws(act, (error) => error instanceof Refusal && error.check === check);

test('weights and epsilon of every vector are accepted or refused for what is wrong with them', () => {
  for (const { name, weights, epsilon_shown: shown, refused_for: check } of designs) {
    const act = () => checkShown(shown, exactEpsilon(weights));
    if (check) refuses(act, check);
    else assert.doesNotThrow(act, name);
  }
});

test('two fair coins give ln 3', () => {
  assert.equal(exactEpsilon([[3 * 2 ** 30, 2 ** 30], [2 ** 30, 3 * 2 ** 30]]), Math.log(3));
});

test('rows of different length are refused', () => {
  refuses(() => exactEpsilon([[2 ** 31, 2 ** 31], [2 ** 32]]), 'rows');
  refuses(() => exactEpsilon([]), 'rows');
  refuses(() => exactEpsilon([null, null]), 'rows');
});

test('odds agree with the weights to the nearest person', () => {
  // 1/8 of 100 people is 12.5: 12 and 13 are equally near, 11 and 14 are not.
  const weights = [[7 * 2 ** 29, 2 ** 29], [2 ** 29, 7 * 2 ** 29]];
  const design = (no, yes) => ({ weights, epsilon: 1.946, odds: { people: 100, counts: [[100 - no, no], [100 - yes, yes]] } });
  for (const [no, yes] of [[12, 88], [13, 87], [12, 87]]) checkDesign(design(no, yes));
  for (const [no, yes] of [[11, 88], [14, 87], [12, 89], [12, 86], [12.5, 87.5]]) refuses(() => checkDesign(design(no, yes)), 'odds');
  for (const people of [0, -100, 1.5, 2 ** 21, '100', undefined]) {
    refuses(() => checkDesign({ ...design(12, 88), odds: { people, counts: [[88, 12], [12, 88]] } }), 'odds');
  }
  refuses(() => checkDesign({ ...design(12, 88), odds: { people: 100, counts: [[88, 12]] } }), 'odds');
  refuses(() => checkDesign({ ...design(12, 88), odds: undefined }), 'odds');
});

test('canonical JSON and its fingerprint are those of the vector', async () => {
  assert.equal(canonical(vector.definition), vector.canonical);
  assert.equal(await fingerprint(vector.definition), vector.sha256);
});

test('the vector is accepted whole', async () => {
  const survey = { definition: vector.definition, version: vector.sha256 };
  assert.deepEqual(await checkSurvey(survey, vector.sha256), vector.definition);
});

test('a definition other than the pinned one is refused', async () => {
  const other = changed((definition) => { definition.title += ' '; });
  const refusal = (check) => (error) => error instanceof Refusal && error.check === check;
  await assert.rejects(checkSurvey({ definition: other, version: vector.sha256 }, vector.sha256), refusal('hash'));
  await assert.rejects(checkSurvey({ definition: vector.definition, version: '0'.repeat(64) }, vector.sha256), refusal('changed'));
  for (const nothing of [null, {}, [], { version: vector.sha256 }]) {
    await assert.rejects(checkSurvey(nothing, vector.sha256), Refusal);
  }
});

test('every part of a definition is checked', () => {
  assert.doesNotThrow(() => checkDefinition(vector.definition));
  refuses(() => checkDefinition(changed((_, design) => { design.weights[1][0] += 1; })), 'rows');
  refuses(() => checkDefinition(changed((_, design) => { design.epsilon = 1.0986; })), 'epsilon');
  refuses(() => checkDefinition(changed((_, design) => { design.epsilon = 1.0988; })), 'epsilon');
  refuses(() => checkDefinition(changed((_, design) => { design.odds.counts[0] = [80, 20]; })), 'odds');
  // 2 ln 3 = 2.19722...: the sum is rounded up once; 2 x 1.0987 would be one step too many.
  for (const total of [2.1972, 2.1974, 0, null, '2.1973']) {
    refuses(() => checkDefinition(changed((definition) => { definition.epsilon = total; })), 'epsilon');
  }
  assert.doesNotThrow(() => checkDefinition(changed((definition) => { definition.format = 2; })));
  for (const format of [0, 3, '2', null, [1]]) {
    refuses(() => checkDefinition(changed((definition) => { definition.format = format; })), 'format');
  }
  refuses(() => checkDefinition(changed((definition) => { definition.questions = []; })), 'format');
  refuses(() => checkDefinition(changed((definition) => { definition.questions[1].kind = 'other'; })), 'format');
  refuses(() => checkDefinition(changed((definition) => { definition.questions[1].designs.pop(); })), 'format');
  refuses(() => checkDefinition(changed((_, design) => { design.weights[0] = [2 ** 31, 2 ** 30, 2 ** 30]; })), 'format');
});

test('what a question loses is stated once more for the whole of it, in new versions', () => {
  const stating = (epsilon) => changed(({ questions: [question] }) => { question.epsilon = epsilon; });
  assert.doesNotThrow(() => checkDefinition(stating(1.0987)));
  for (const epsilon of [1.0986, 1.0988, 0, '1.0987']) refuses(() => checkDefinition(stating(epsilon)), 'epsilon');
});

test('an entry that this page does not know, or that hides a design, is refused', () => {
  const adding = (entry) => changed(({ questions }) => { questions.push(entry); });
  for (const entry of [null, {}, { kind: 'song', text: 'T' }, { kind: 'toString' }, { kind: '__proto__' }, { name: 'q', kind: 'yes_no', text: 'Q?' }]) {
    refuses(() => checkDefinition(adding(entry)), 'format');
  }
});

test('counts of three or more share all people out, each within one of what the weights give', () => {
  // 100/7 = 14.28...; the largest remainders give one row 15s and 14s that add up to 100.
  const seventh = Math.floor(2 ** 32 / 7);
  const row = [2 ** 32 - 6 * seventh, seventh, seventh, seventh, seventh, seventh, seventh];
  const weights = row.map(() => row);
  const design = (counts) => ({ weights, epsilon: 0, odds: { people: 100, counts: weights.map(() => counts) } });
  checkDesign(design([15, 15, 14, 14, 14, 14, 14]));
  checkDesign(design([14, 14, 14, 14, 14, 15, 15]));
  for (const counts of [[14, 14, 14, 14, 14, 14, 14], [16, 14, 14, 14, 14, 14, 14], [15, 15, 15, 15, 14, 13, 13], [15, 15, 14, 14, 14, 14.5, 13.5]]) {
    refuses(() => checkDesign(design(counts)), 'odds');
  }
});

test('a survey that does not arrive is refused as such', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/whole') response.end(JSON.stringify({ definition: vector.definition, version: vector.sha256 }));
    else if (request.url === '/html') response.end('<h1>Sign in to this network</h1>');
    else response.writeHead(500).end();
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const base = `http://127.0.0.1:${server.address().port}`;
  const lost = (error) => error instanceof Refusal && error.check === 'load';
  assert.deepEqual(await loadSurvey(`${base}/whole`, vector.sha256), vector.definition);
  await assert.rejects(loadSurvey(`${base}/html`, vector.sha256), lost);
  await assert.rejects(loadSurvey(`${base}/error`, vector.sha256), lost);
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await assert.rejects(loadSurvey(`${base}/whole`, vector.sha256), lost);
});
