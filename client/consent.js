// What is agreed to before the first question: the researcher's own text, and an age. Nothing of it is sent or kept.

import { way } from './design.js';
import { copy, own } from './page.js';

const agreed = new Set(); // what was ticked, for whoever comes back to the first screen

way.agree = (part, { consent, least_age: age }) => {
  const [start, decline] = ['.primary', '.aside'].map((name) => part.querySelector(`.actions ${name}`));
  const section = document.createElement('div');
  if (consent) ask('consent');
  if (age) ask('age', { age });
  if (consent) own.write(section.querySelector('.own'), consent);
  section.querySelector('.younger')?.addEventListener('click', () => decline.click());
  part.querySelector('.actions').before(...section.childNodes);

  function ask(name, values) {
    const asked = copy(name, values);
    const tick = asked.querySelector('input');
    const missing = asked.querySelector('.error');
    tick.checked = agreed.has(name);
    tick.addEventListener('change', () => {
      agreed[tick.checked ? 'add' : 'delete'](name);
      missing.replaceChildren();
    });
    start.addEventListener('click', (event) => {
      if (tick.checked) return;
      event.stopImmediatePropagation(); // nothing is sent before, not even a code
      missing.textContent = missing.dataset.text;
      tick.focus({ preventScroll: true }); // at the edge, Start would lie over what is said
      missing.scrollIntoView({ block: 'center' });
    });
    section.append(asked);
  }
};
