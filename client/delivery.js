// The last screens: what will be sent, the receipt, and what this device remembers.

import { kinds, way } from './design.js';
import { copy, make, quote, show } from './page.js';
import { erase, keep, markSent, recall, send } from './submit.js';

/** Shows what an earlier visit left on this device, if it did. */
export function greet(page) {
  const { sent, pending } = 'preview' in page ? {} : recall(page.slug);
  if (sent) show(withErasing(copy('already'), page), { focus: false });
  if (pending) deliver(page, pending, { waiting: true });
  return Boolean(sent || pending);
}

/** Shows `body`, sends it when asked, and hands over the receipt. */
export function deliver(page, body, { waiting = false, asked = [], onBack, onSend } = {}) {
  const { id, reports } = JSON.parse(body);
  const form = make('form', { class: 'screen' }, copy(waiting ? 'waiting' : 'review'), copy('sending', { n: reports.length }));
  const details = form.querySelector('details');
  const aside = form.querySelector('.back, .erase'); // no way aside while sending
  const button = form.querySelector('.primary');
  const status = form.querySelector('[role="status"]');
  let state = 'ready'; // then busy, perhaps failed, busy again
  details.addEventListener('toggle', () => {
    form.querySelector('pre').textContent = details.open ? body : '';
    form.querySelector('.words').replaceChildren(...(details.open ? say(asked, reports) : []));
  });
  if (onBack) aside.addEventListener('click', onBack);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (state === 'busy') return;
    aside.hidden = true;
    if (state === 'ready' && !waiting) {
      onSend();
      // Another window may have answered meanwhile: one answer is enough.
      if (greet(page)) return;
    }
    state = 'busy';
    button.setAttribute('aria-disabled', 'true');
    status.textContent = status.dataset.sending;
    deposit().then(() => finish(page, id), fail);
  });
  show(withErasing(form, page), { header: waiting, focus: !waiting });

  async function deposit() {
    if ('preview' in page) return;
    keep(page.slug, body);
    await send(page.responses, body, {
      language: document.documentElement.lang,
      onRetry: () => { status.textContent = status.dataset.slow; },
    });
    markSent(page.slug, page.version);
    way.leave?.();
  }

  function fail(error) {
    const asking = way.readmit?.(error, body, asked);
    if (asking) show(withErasing(asking, page));
    else if (error.again) {
      state = 'failed';
      aside.hidden = !waiting;
      button.removeAttribute('aria-disabled');
      button.textContent = button.dataset.again;
      status.textContent = status.dataset.failed;
    } else {
      // Stored nowhere, so it is not kept here.
      erase(page.slug);
      show(copy('refused', error, 'status'));
    }
  }
}

/** Every question with what its reports stand for. */
function say(asked, reports) {
  const left = [...reports];
  return asked.map((question) => make('li', {}, quote(make('span', {}), question.text),
    ...kinds[question.kind].codes(question).map(({ about, names }) => {
      const report = left.shift();
      return make('p', { dir: 'auto' }, `${about ? `${about}: ` : ''}${report} = ${names[report]}`);
    })));
}

function finish(page, id) {
  const part = withErasing(copy('sent'), page);
  const receipt = part.querySelector('output');
  const copied = part.querySelector('.copied');
  receipt.textContent = id.match(/.{4}/g).join(' ');
  part.querySelector('.copy').addEventListener('click', async () => {
    // Where pages may not write to the clipboard, the receipt is selected, to be copied by hand.
    const done = await navigator.clipboard?.writeText(receipt.textContent).then(() => true, () => false);
    if (!done) getSelection().selectAllChildren(receipt);
    copied.textContent = copied.dataset[done ? 'done' : 'selected'];
  });
  show(part, { header: false });
}

function withErasing(part, page) {
  part.querySelector('.erase')?.addEventListener('click', () => {
    erase(page.slug);
    show(copy('erased'));
  });
  return part;
}
