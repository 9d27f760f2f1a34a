// Entries that are shown and never sent: texts, sections, and a question about the procedure.

import { addOption } from './choices.js';
import { kinds, way } from './design.js';
import './markdown.js';
import { copy, labelGroups, own, quote } from './page.js';

/** Under which section an entry stands. A text has no heading of its own. */
way.place = (form, { kind }, before) => {
  const section = before.findLast((entry) => entry.kind === 'section');
  if (kind === 'text') quote(form.querySelector('h1'), section?.text ?? document.querySelector('#title').textContent).className = '';
  else if (section) quote(form.querySelector('.under'), section.text);
};

Object.assign(kinds.text, {
  ask: (form, { text }) => {
    own.write(form.querySelector('.own'), text);
    return () => ({});
  },
});

Object.assign(kinds.section, {
  isSkipped: ({ body }) => !body,
  ask: (form, { body = '' }) => {
    own.write(form.querySelector('.own'), body);
    return () => ({});
  },
});

/** May be tried again and may be passed: what is chosen is forgotten with the screen. */
Object.assign(kinds.check, {
  ask: (form, entry) => {
    const { options, correct, feedback } = entry;
    const says = form.querySelector('[role="status"]');
    const numbers = form.querySelector('.in-numbers');  // to be read by whoever wants to, not read out at each try
    for (const { name } of options) addOption(form, 'radio', entry, name, false);
    form.addEventListener('change', ({ target }) => {
      const part = copy(target.value === correct ? 'right' : 'wrong');
      own.write(part.querySelector('.own'), feedback);
      says.replaceChildren(part);
      if (numbers.hasChildNodes()) return;
      numbers.append(copy('in-numbers'));
      numbers.lastElementChild.append(...labelGroups());
    });
    return () => ({});
  },
});
