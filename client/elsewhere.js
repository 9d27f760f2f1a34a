// Data from elsewhere: what comes back is put in place, so that the files which were chosen stay chosen. Without this
// module the page works, too, and after each answer they have to be chosen again. It computes nothing.

import { readPage } from './fetched_page.js';
import { saveAnswer } from './saved_answer.js';
import { tellWaiting } from './waiting.js';

const form = document.getElementById('elsewhere');
const status = form.querySelector('[role="status"]');
const { done, saved, refused, failed } = form.dataset;
let working = false;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (working) return;
  working = true;
  const { submitter } = event;
  submitter.setAttribute('aria-disabled', 'true');
  const stop = tellWaiting(status, form.dataset, form);
  const body = new FormData(form, submitter);
  const said = await fetch(form.getAttribute('action'), { method: 'POST', body })
    .then(take)
    .catch(() => failed);
  stop();
  status.textContent = said;
  submitter.removeAttribute('aria-disabled');
  working = false;
});

/** Puts an answer where it belongs; returns what is said of it. */
async function take(answer) {
  if (answer.redirected) location.assign(answer.url); // nobody is signed in any more
  const name = await saveAnswer(answer);
  if (name) {
    put('refused', []);
    return saved.replace('{name}', name);
  }
  const page = await readPage(answer);
  page.querySelector('.chosen-again')?.remove();
  const problems = page.getElementById('refused') ?? page.querySelector('main');
  put('refused', problems.childNodes);
  put('outcome', page.getElementById('outcome')?.childNodes ?? []);
  document.querySelector('#refused [tabindex], #found')?.focus();
  return answer.ok ? done : refused;
}

function put(place, nodes) {
  document.getElementById(place).replaceChildren(...nodes);
}
