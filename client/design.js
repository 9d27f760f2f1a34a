// The published definition, and the checks it must pass before a question is shown.
// Weights, epsilon and odds are compared with each other: what randomises is what is stated.

import { checkRow, hex } from './randomize.js';

const WHOLE = 2 ** 32;
const FLOAT_NOISE = 1e-9;

/** A definition that must not be answered; `check` names what failed. */
export class Refusal extends Error {
  constructor(check, detail) {
    super(`${check}: ${detail}`);
    this.check = check;
  }
}

/** Fetch the definition, and check it against the version that the page is pinned to. */
export async function loadSurvey(url, pinned, credentials = 'omit') {
  let survey;
  try {
    const answer = await fetch(url, { credentials, cache: 'no-store', referrerPolicy: 'no-referrer' });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    survey = await answer.json();
  } catch (error) {
    throw new Refusal('load', error.message);
  }
  return checkSurvey(survey, pinned);
}

export async function checkSurvey(survey, pinned) {
  refuseUnless(survey?.version === pinned, 'changed', 'another version is pinned');
  refuseUnless(await fingerprint(survey.definition) === pinned, 'hash', 'SHA-256 differs from the version');
  checkDefinition(survey.definition);
  return survey.definition;
}

/** Lowercase hexadecimal SHA-256 of the canonical JSON (RFC 8785). */
export async function fingerprint(value) {
  const bytes = new TextEncoder().encode(canonical(value));
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)}}`;
}

/** Throws a Refusal unless every design, and the total, is what it says. */
export function checkDefinition({ format, questions, epsilon }) {
  const known = format === 1 && questions?.length > 0 && questions.every(({ kind, designs }) => (
    kind === 'yes_no' && designs?.length === 1 && designs[0].weights?.length === 2
    && designs[0].weights.every((row) => row?.length === 2)));
  refuseUnless(known, 'format', 'expected yes_no questions with one 2 x 2 design each');
  checkShown(epsilon, questions.reduce((sum, { designs }) => sum + checkDesign(designs[0]), 0));
}

/** Check weights, epsilon and odds; returns the exact epsilon. */
export function checkDesign({ weights, epsilon, odds }) {
  const exact = exactEpsilon(weights);
  checkShown(epsilon, exact);
  checkOdds(odds, weights);
  return exact;
}

/** ln of the worst ratio of two weights in one column; a zero against a non-zero is refused. */
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

/** The epsilon shown is the exact one rounded up to 4 decimals, neither less nor more. */
export function checkShown(shown, exact) {
  const honest = [exact - FLOAT_NOISE, exact + FLOAT_NOISE].some((value) => Math.ceil(value * 1e4) / 1e4 === shown);
  refuseUnless(honest, 'epsilon', `${shown} is shown where the weights give ${exact}`);
}

/** Each count is the whole number of people nearest to what the weights give. */
function checkOdds(odds, weights) {
  const { people, counts } = odds ?? {};
  // Up to 2^20 people the products below are exact.
  const sound = Number.isInteger(people) && people > 0 && people <= 2 ** 20 && counts?.length === weights.length
    && weights.every((row, truth) => counts[truth]?.length === row.length && row.every((weight, report) => (
      Number.isSafeInteger(counts[truth][report])
      && Math.abs(counts[truth][report] * WHOLE - people * weight) <= WHOLE / 2)));
  refuseUnless(sound, 'odds', 'counts do not follow from the weights');
}

function refuseUnless(condition, check, detail) {
  if (!condition) throw new Refusal(check, detail);
}
