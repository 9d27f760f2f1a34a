// The published definition, and the checks it must pass before a question is shown: what randomises is what is stated.

import { checkRow, hex } from './randomize.js';

const WHOLE = 2 ** 32;
const FLOAT_NOISE = 1e-9;
export const PASS = 'prefer_not_to_say';
let checked = null; // the survey, with the keys that come with it

/** Kinds of entries; those with `names` are sent. Other modules add theirs, and what those with a `screen` of their own `ask`. */
export const kinds = {
  __proto__: null, yes_no: { names: () => ['no', 'yes'] }, text: { screen: 'block' }, section: { screen: 'block' }, check: { screen: 'check' },
};

/** Who is shown what; routing.js knows conditions, invitation.js codes. */
export const way = { isShown: () => true, sign: (body) => body };

/** The answers' names, in the order of rows, or of boxes. */
export const answersOf = (question) => [...kinds[question.kind].names(question), ...(question.prefer_not_to_say ? [PASS] : [])];

/** For each report, the row of weights to draw it from; undefined if the answer is none. */
export const rowsOf = (question, answer) => (
  kinds[question.kind].rows?.(question, answer) ?? [question.designs[0].weights[answersOf(question).indexOf(answer)]]);

/** A definition that must not be answered; `check` names what failed. */
export class Refusal extends Error {
  constructor(check, detail) {
    super(`${check}: ${detail}`);
    this.check = check;
  }
}

/** Fetch the definition, as the page has asked for it already, and check it against the page's version. */
export async function loadSurvey(url, pinned) {
  let survey;
  try {
    const answer = await fetch(url, { referrerPolicy: 'no-referrer' });
    if ([410, 423].includes(answer.status)) throw new Refusal('standing', answer.status);
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    survey = await answer.json();
  } catch (error) {
    throw error.check ? error : new Refusal('load', error.message);
  }
  return checkSurvey(survey, pinned);
}

export async function checkSurvey(survey, pinned) {
  refuseUnless(survey?.version === pinned, 'changed', 'another version');
  refuseUnless(await fingerprint(survey.definition) === pinned, 'hash', 'SHA-256 differs');
  checkDefinition(survey.definition);
  checked = survey;
  return survey.definition;
}

/** The keys that come with the survey, once what uses them is here: refused unless its own hash names them. */
export async function checkKeys() {
  const { definition: named, ticket_key: ticket, completion_key: completion } = checked;
  if (way.takeKey) refuseUnless(await way.takeKey(ticket, named.ticket_keys), 'key', 'the key of tickets differs');
  if (way.takeCompletionKey) refuseUnless(await way.takeCompletionKey(completion, named.completion_key), 'hash', 'the key of completion codes differs');
}

/** SHA-256 of the canonical JSON (RFC 8785). */
export async function fingerprint(value) {
  const bytes = new TextEncoder().encode(canonical(value));
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)}}`;
}

/** Refuses unless designs, questions and the total lose what they say. */
export function checkDefinition({ format, questions: entries, epsilon }) {
  const asked = [1, 2].includes(format) && Array.isArray(entries) && entries.every((entry, place) => (
    kinds[entry?.kind] && !kinds[entry.kind].names === !entry.designs
    && (!entry.show_if || way.leadsTo?.(entry, entries.slice(0, place))))) && entries.filter(({ designs }) => designs);
  refuseUnless(asked.length, 'format', 'expected questions of known kinds');
  checkShown(epsilon, asked.reduce((sum, question) => {
    const loss = (kinds[question.kind].loss ?? lossOfWhole)(question);
    checkShown(statedBy(question), loss);
    return sum + loss;
  }, 0));
}

/** Versions from before there were other kinds state epsilon in the design alone. */
export const statedBy = ({ epsilon, designs }) => epsilon ?? designs[0].epsilon;

/** The loss of one design, whose rows are the answers. */
export function lossOfWhole(question) {
  checkShape(question, 1, answersOf(question).length);
  return checkDesign(question.designs[0]);
}

/** So many square designs of this size. */
export function checkShape({ designs }, boxes, size) {
  const fits = designs.length === boxes && designs.every(({ weights }) => (
    weights?.length === size && weights.every((row) => row?.length === size)));
  refuseUnless(fits, 'format', `expected ${boxes} of ${size} x ${size}`);
}

/** Checks a design; returns its exact epsilon. */
export function checkDesign({ weights, epsilon, odds }) {
  const exact = exactEpsilon(weights);
  checkShown(epsilon, exact);
  checkOdds(odds, weights);
  return exact;
}

/** ln of the worst ratio of two weights in one column. */
export function exactEpsilon(weights) {
  try {
    weights.forEach(checkRow);
  } catch (error) {
    throw new Refusal('rows', error.message);
  }
  refuseUnless(weights.length && weights.every((row) => row.length === weights[0].length), 'rows', 'rows differ in length');
  return Math.log(Math.max(...weights[0].map((_, report) => {
    const column = weights.map((row) => row[report]);
    const [least, most] = [Math.min(...column), Math.max(...column)];
    refuseUnless(least > 0 || most === 0, 'epsilon', 'a report gives a truth away');
    return most === 0 ? 1 : most / least;
  })));
}

/** The exact epsilon is shown rounded up to 4 decimals, neither less nor more. */
export function checkShown(shown, exact) {
  const honest = [exact - FLOAT_NOISE, exact + FLOAT_NOISE].some((value) => Math.ceil(value * 1e4) / 1e4 === shown);
  refuseUnless(honest, 'epsilon', `${shown} is not ${exact}`);
}

/** Rows share the people out, to the nearest; three or more may miss it by one to add up. */
function checkOdds(odds, weights) {
  const { people, counts } = odds ?? {};
  // Up to 2^20 people the products below are exact.
  const sound = Number.isInteger(people) && people > 0 && people <= 2 ** 20 && counts?.length === weights.length
    && weights.every((row, truth) => (
      counts[truth]?.length === row.length && counts[truth].reduce((sum, count) => sum + count, 0) === people
      && row.every((weight, report) => (
        Number.isInteger(counts[truth][report])
        && Math.abs(counts[truth][report] * WHOLE - people * weight) <= (row.length > 2 ? WHOLE - 1 : WHOLE / 2)))));
  refuseUnless(sound, 'odds', 'counts differ from weights');
}

export function refuseUnless(condition, check, detail) {
  if (!condition) throw new Refusal(check, detail);
}
