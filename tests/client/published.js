/** Made-up designs as they are published, of weights whose numbers are easily known. */
import { exactEpsilon } from '../../client/design.js';

const WHOLE = 2 ** 32;

/** A design with everything that is stated about it; counts of people are exact for multiples of 2^32 / 128. */
export function stated(weights) {
  return {
    weights,
    epsilon: Math.ceil(exactEpsilon(weights) * 1e4) / 1e4,
    odds: { people: 128, counts: weights.map((row) => row.map((weight) => (128 * weight) / WHOLE)) },
  };
}

/** Rows (no, yes), given the first weight of each. */
export const twoByTwo = (no, yes) => stated([[no, WHOLE - no], [yes, WHOLE - yes]]);

/** A question that is sent, with its whole loss. */
export const published = (question, epsilon = question.designs[0].epsilon) => ({ name: 'q', text: 'Q?', ...question, epsilon });
