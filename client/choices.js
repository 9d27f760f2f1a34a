// Answers to choose among, as screens after Start list them: one of several, or as many as apply.

import { answersOf, way } from './design.js';
import { copy, quote, textOf } from './page.js';

/** A radio button or checkbox for an answer. */
export function addOption(form, type, question, value, checked) {
  const part = copy('option');
  const input = Object.assign(part.querySelector('input'), { type, name: 'answer', value, checked });
  quote(part.querySelector('span'), textOf(question, value));
  form.querySelector('fieldset').append(part);
  return input;
}

/** As screens list them: Yes before No. */
export function listAnswers(question) {
  const names = answersOf(question);
  if (question.kind === 'yes_no') names.splice(0, 2, 'yes', 'no');
  return names;
}

/** One answer of several. Returns what reads it, or names the input to go to. */
export function askOne(form, question, chosen) {
  const inputs = listAnswers(question).map((name) => addOption(form, 'radio', question, name, name === chosen));
  return () => {
    const answer = inputs.find(({ checked }) => checked)?.value;
    return { answer, at: answer ? null : inputs[0] };
  };
}

way.askOne = askOne; // of every kind that has no screen of its own
