// Tick all that apply. None is an answer too, and has a box of its own, so that an empty screen is never an answer.

import { addOption } from './choices.js';
import { PASS, answersOf, kinds } from './design.js';

kinds.select_multiple.ask = ask;

function ask(form, question, chosen) {
  const add = (name, checked) => addOption(form, 'checkbox', question, name, checked);
  const names = answersOf(question);
  const ticks = names.filter((name) => name !== PASS).map((name) => add(name, Boolean(chosen?.includes(name))));
  const alone = [add('', chosen?.length === 0)];
  if (names.includes(PASS)) alone.push(add(PASS, Boolean(chosen?.includes(PASS))));
  form.addEventListener('change', ({ target }) => {
    if (!target.checked) return;
    for (const other of alone.includes(target) ? [...ticks, ...alone] : alone) other.checked = other === target;
  });
  return () => {
    const ticked = [...ticks, ...alone].filter(({ checked }) => checked).map(({ value }) => value);
    return { answer: ticked.filter(Boolean), at: ticked.length ? null : ticks[0] };
  };
}
