// A field for a number.

import { addOption } from './choices.js';
import { PASS, kinds } from './design.js';
import { bins, figures, withUnit } from './number_labels.js';
import { binOf, gridOf } from './numbers.js';
import { put, quote } from './page.js';
import { readDecimal } from './typed_number.js';

kinds.number.ask = askNumber;
kinds.binned_number.ask = askNumber;

function askNumber(form, question, chosen) {
  const { low, high, step, cuts } = question;
  const grid = gridOf(question);
  const values = { low: figures.format(low), high: withUnit(high, question), step: withUnit(step, question) };
  const input = form.querySelector('#number');
  const missing = form.querySelector('#missing');
  const range = form.querySelector('#range');
  const bin = form.querySelector('#bin');
  const shape = step === 1 && Number.isInteger(low) ? 'whole' : 'steps';
  const pass = question.prefer_not_to_say && addOption(form, 'checkbox', question, PASS, chosen === PASS);
  input.inputMode = low < 0 ? 'text' : shape === 'whole' ? 'numeric' : 'decimal';
  input.value = typeof chosen === 'number' ? figures.format(chosen, { useGrouping: false }) : '';
  quote(form.querySelector('.unit'), question.unit ?? '');
  range.textContent = put(range.dataset[shape], values);
  const read = () => {
    const value = readDecimal(input.value, step);
    return grid.steps(value ?? NaN) < 0 ? null : value;
  };
  const sayBin = () => {
    const value = cuts && read();
    bin.textContent = typeof value === 'number' ? put(bin.dataset.text, { range: bins(question)[binOf(question, value)] }) : '';
  };
  input.addEventListener('input', () => {
    if (pass) pass.checked = false;
    sayBin();
  });
  pass?.addEventListener?.('change', () => {
    if (pass.checked) input.value = bin.textContent = '';
  });
  sayBin();
  return () => {
    if (pass?.checked) return { answer: PASS };
    const answer = read();
    const said = input.value.trim();
    const problem = put(missing.dataset[said ? 'refused' : 'empty'], { range: range.textContent, typed: said });
    return { answer, problem, at: answer === null ? input : null };
  };
}
