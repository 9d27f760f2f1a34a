import { readFileSync } from 'node:fs';

/** The vectors that pytest reads too. */
export const read = (name) => JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8'));
