import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Refusal, checkDefinition, kinds, rowsOf } from '../../client/design.js';
import { selectMultiple } from '../../client/options.js';
import { published, stated, twoByTwo } from './published.js';

kinds.select_multiple = selectMultiple;

const PART = 2 ** 25; // 2^32 / 128
const options = ['a', 'b', 'c'].map((name) => ({ name, text: name.toUpperCase() }));
const thirds = stated([0, 1, 2].map((truth) => [0, 1, 2].map((report) => (truth === report ? 64 : 32) * PART)));
const fair = twoByTwo(96 * PART, 32 * PART); // each box loses ln 3
const oue = twoByTwo(96 * PART, 64 * PART); // ticking 2, unticking 3/2
const refuses = (act, check) => assert.throws(act, (error) => error instanceof Refusal && error.check === check);
const definition = (question, epsilon) => ({ format: 1, questions: [published(question, epsilon)], epsilon });

test('one of several, whole: the row of the option, and its design loses what it says', () => {
  const question = { kind: 'select_one', options, designs: [thirds] };
  assert.deepEqual(options.map(({ name }) => rowsOf(question, name)), thirds.weights.map((row) => [row]));
  for (const none of ['d', undefined, 0, ['a']]) assert.deepEqual(rowsOf(question, none), [undefined]);
  checkDefinition(definition(question, 0.6932)); // ln 2 = 0.69314...
  refuses(() => checkDefinition(definition(question, 0.6931)), 'epsilon');
  refuses(() => checkDefinition(definition({ ...question, options: options.slice(1) }, 0.6932)), 'format');
  refuses(() => checkDefinition(definition({ ...question, prefer_not_to_say: true }, 0.6932)), 'format');
});

test('a scale is sent whole; preferring not to say is one more answer', () => {
  const question = { kind: 'scale', options: options.slice(1), prefer_not_to_say: true, designs: [thirds] };
  assert.deepEqual(rowsOf(question, 'prefer_not_to_say'), [thirds.weights[2]]);
  checkDefinition(definition(question, 0.6932));
  refuses(() => checkDefinition(definition({ ...question, designs: [fair, fair, fair] }, 1.3863)), 'format');
});

test('one of several, as boxes: exactly one is ticked', () => {
  const question = { kind: 'select_one', options, designs: [oue, oue, oue] };
  const [empty, ticked] = oue.weights;
  assert.deepEqual(rowsOf(question, 'b'), [empty, ticked, empty]);
  assert.deepEqual(rowsOf(question, 'd'), [undefined]);
});

test('boxes of which one is ticked lose the worst ticking times the worst unticking of another', () => {
  const question = (designs) => ({ kind: 'select_one', options: options.slice(0, designs.length), designs });
  // ticking: (64/128)/(32/128) = 2; unticking: (96/128)/(64/128) = 3/2. ln 3 = 1.0986.
  checkDefinition(definition(question([oue, oue, oue]), 1.0987));
  refuses(() => checkDefinition(definition(question([oue, oue, oue]), 2.0795)), 'epsilon'); // not the sum, 3 ln 2
  // fair: ticking 3, unticking 3. Of two boxes, 3 x 3/2 or 2 x 3: ln 6 = 1.7917...
  checkDefinition(definition(question([fair, oue]), 1.7918));
  // The worst two may not be one box: not 3 x 3 = 9, ln 9 = 2.1972.
  refuses(() => checkDefinition(definition(question([fair, oue]), 2.1973)), 'epsilon');
  refuses(() => checkDefinition(definition(question([fair, fair, oue]), 1.7918)), 'epsilon');
  checkDefinition(definition(question([fair, fair, oue]), 2.1973));
});

test('tick all that apply: a row for each box, and the losses add up', () => {
  const question = { kind: 'select_multiple', options, designs: [fair, fair, fair] };
  const [empty, ticked] = fair.weights;
  assert.deepEqual(rowsOf(question, ['a', 'c']), [ticked, empty, ticked]);
  assert.deepEqual(rowsOf(question, []), [empty, empty, empty]);
  checkDefinition(definition(question, 3.2959)); // 3 ln 3
  refuses(() => checkDefinition(definition(question, 1.0987)), 'epsilon');
  checkDefinition(definition({ ...question, options: options.slice(1), prefer_not_to_say: true }, 3.2959));
  for (const designs of [[], [fair, fair], [fair, fair, fair, fair], [thirds, fair, fair], [{}, fair, fair]]) {
    refuses(() => checkDefinition(definition({ ...question, designs }, 3.2959)), 'format');
  }
});

test('one box that is wrong is found among many', () => {
  const spoiled = (change) => {
    const designs = structuredClone([fair, fair, fair]);
    change(designs[2]);
    return definition({ kind: 'select_multiple', options, designs }, 3.2959);
  };
  refuses(() => checkDefinition(spoiled((design) => { design.weights[1][0] += 1; })), 'rows');
  refuses(() => checkDefinition(spoiled((design) => { design.epsilon = 1; })), 'epsilon');
  refuses(() => checkDefinition(spoiled((design) => { design.odds.counts[0] = [97, 31]; })), 'odds');
});
