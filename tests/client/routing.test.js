import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Refusal, checkDefinition, kinds, way } from '../../client/design.js';
import { number } from '../../client/numbers.js';
import { selectMultiple } from '../../client/options.js';
import '../../client/routing.js';
import { published, twoByTwo } from './published.js';

Object.assign(kinds, { number, select_multiple: selectMultiple, text: {} });

const fair = twoByTwo(3 * 2 ** 30, 2 ** 30);
const yesNo = (name, more = {}) => published({ name, kind: 'yes_no', designs: [fair], ...more });
const if_ = (question, ...any_of) => ({ show_if: { question, any_of } });
const shown = (entries, answers) => entries.filter((entry) => way.isShown(entry, entries, new Map(Object.entries(answers)))).map(({ name }) => name);

test('an answer leads to what is shown for it', () => {
  const entries = [yesNo('a'), yesNo('b', { ...if_('a', 'yes'), otherwise: 'no' }), { name: 't', kind: 'text', text: 'T', ...if_('a', 'no') }];
  assert.deepEqual(shown(entries, {}), ['a']);
  assert.deepEqual(shown(entries, { a: 'yes' }), ['a', 'b']);
  assert.deepEqual(shown(entries, { a: 'no' }), ['a', 't']);
});

test('who was not shown a question counts as answering its otherwise, whatever was entered before', () => {
  const entries = [
    yesNo('a'),
    yesNo('b', { ...if_('a', 'yes'), otherwise: 'no' }),
    yesNo('c', { ...if_('b', 'no'), otherwise: 'no' }),
    yesNo('d', { ...if_('b', 'yes'), otherwise: 'no' }),
  ];
  assert.deepEqual(shown(entries, { a: 'no' }), ['a', 'c']);
  assert.deepEqual(shown(entries, { a: 'yes', b: 'yes' }), ['a', 'b', 'd']);
  assert.deepEqual(shown(entries, { a: 'no', b: 'yes' }), ['a', 'c']); // changed back at a: b does not count
});

test('any of several names, and any of the ticked boxes', () => {
  const entries = [
    { name: 'a', kind: 'select_multiple', designs: [] },
    { name: 'b', kind: 'text', ...if_('a', 'x', 'prefer_not_to_say') },
  ];
  for (const [ticked, led] of [[['x'], true], [['y', 'x'], true], [['y'], false], [[], false], [['prefer_not_to_say'], true]]) {
    assert.equal(shown(entries, { a: ticked }).includes('b'), led, ticked);
  }
});

test('numbers lead from one to another, both included; preferring not to say leads nowhere', () => {
  const entries = [{ name: 'a', kind: 'number', designs: [] }, { name: 'b', kind: 'text', show_if: { question: 'a', from: 0, to: 2.5 } }];
  for (const [value, led] of [[0, true], [2.5, true], [1, true], [-0.5, false], [3, false], ['prefer_not_to_say', false], [undefined, false]]) {
    assert.equal(shown(entries, { a: value }).includes('b'), led, `${value}`);
  }
});

test('a condition on nothing before it, and an otherwise that is no answer, are refused', () => {
  const check = (...entries) => checkDefinition({ format: 1, questions: entries, epsilon: 2.1973 });
  const refuses = (...entries) => assert.throws(() => check(...entries), (error) => error instanceof Refusal && error.check === 'format');
  check(yesNo('a'), yesNo('b', { ...if_('a', 'yes'), otherwise: 'no' }));
  refuses(yesNo('a', { ...if_('b', 'yes'), otherwise: 'no' }), yesNo('b'));
  refuses(yesNo('a'), yesNo('b', { ...if_('b', 'yes'), otherwise: 'no' }));
  refuses(yesNo('a'), yesNo('b', { ...if_('c', 'yes'), otherwise: 'no' }));
  refuses({ name: 't', kind: 'text', text: 'T' }, yesNo('a'), yesNo('b', { ...if_('t', 'yes'), otherwise: 'no' }));
  for (const otherwise of [undefined, 'maybe', 'prefer_not_to_say', 0]) refuses(yesNo('a'), yesNo('b', { ...if_('a', 'yes'), otherwise }));
  const grid = { low: 0, high: 10, step: 1 };
  const many = (otherwise) => published({ name: 'b', kind: 'number', ...grid, designs: [fair], ...if_('a', 'yes'), otherwise });
  check(yesNo('a'), many(3));
  for (const otherwise of [3.5, 11, 'prefer_not_to_say']) refuses(yesNo('a'), many(otherwise));
});

test('without the module that knows conditions, a condition is refused', () => {
  const leadsTo = way.leadsTo;
  delete way.leadsTo;
  assert.throws(() => checkDefinition({ format: 1, questions: [yesNo('a'), yesNo('b', { ...if_('a', 'yes'), otherwise: 'no' })], epsilon: 2.1973 }), Refusal);
  way.leadsTo = leadsTo;
});
