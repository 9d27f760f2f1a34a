// Is my response in, and take it back: by the receipt alone. It leaves this page in the body of a request only, and is kept nowhere.

import { write } from './digits.js';
import { post } from './posting.js';
import { scanned } from './scanned.js';
import { read, spell } from './words.js';

const form = document.getElementById('receipt');
const field = form.querySelector('textarea');
const problem = form.querySelector('[role="alert"]');
const status = form.querySelector('[role="status"]');
const withdrawal = document.getElementById('withdrawal');
const TRIES = 4; // while the server has too much to do

let asking = false;
let found = null; // the receipt whose response is in

/** Says one thing, and takes back what was said before. */
function tell(element, text = '') {
  for (const other of [problem, status]) other.textContent = other === element ? text : '';
}

async function readField() {
  const { receipt, wrong, ...values } = await read(field.value);
  if (receipt) return receipt;
  tell(problem, problem.dataset[wrong].replace(/\{(\w+)\}/g, (_, name) => (
    typeof values[name] === 'number' ? write(values[name], document.documentElement.lang) : values[name])));
  field.focus();
  return null;
}

async function ask(url, receipt) {
  if (asking) return;
  asking = true;
  const text = field.value;
  tell(status, status.dataset.asking);
  const { status: answered, read: body } = await send(url, JSON.stringify({ receipt }));
  const said = answered === 200 ? (await body)?.status : null;
  asking = false;
  if (url === form.dataset.check && field.value !== text) return; // it is about another receipt than the one that stands there now
  found = said === 'stored' ? receipt : null;
  withdrawal.hidden = !found;
  if (said) tell(status, status.dataset[url === form.dataset.withdraws ? 'out' : said]);
  else tell(problem, problem.dataset[answered === 503 ? 429 : answered] ?? problem.dataset.lost);
}

/** Once more after a pause, where the server asks for that: asking or taking back twice is the same as once. */
async function send(url, body) {
  for (let tries = 1; ; tries += 1) {
    const answer = await post(url, body, { language: document.documentElement.lang });
    if (![429, 503].includes(answer.status) || tries === TRIES) return answer;
    await new Promise((resume) => { setTimeout(resume, Math.max(answer.after, 1000 * tries)); });
  }
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const receipt = await readField();
  if (receipt) ask(form.dataset.check, receipt);
});

field.addEventListener('input', () => {
  tell();
  found = null;
  withdrawal.hidden = true;
});

withdrawal.addEventListener('click', () => {
  if (!found) return;
  ask(form.dataset.withdraws, found).then(() => field.focus());
});

if (scanned) {
  spell(scanned, field.lang).then((words) => {
    field.value = words;
    document.getElementById('scanned').hidden = false;
  });
}
