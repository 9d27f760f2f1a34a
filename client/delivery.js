// The last screens: what will be sent, the receipt, and what this device remembers.

import { kinds, way } from './design.js';
import { copy, make, quote, reader, show } from './page.js';
import { alone, persist, post, withoutCode, withWork } from './posting.js';
import { drop, erase, keep, markSent, markShown, recall } from './submit.js';

const NOTICED = 1000; // ms of work after Send until the page says so
const PATIENT = 3; // failed attempts until the page says more than that the connection is poor

let reviewed = false; // whether what this visit's review has shown is kept

/** A preview sends nothing, and on a tablet that is handed round the next one is somebody else. */
const forgets = (page) => 'preview' in page || 'tablet' in page;
const recallNote = (page) => (forgets(page) ? {} : recall(page));

/** Shows what an earlier visit left here, if it did; what waits is sent. */
way.greet = (page) => {
  const { sent } = recallNote(page);
  if (sent) {
    way.dropPage?.(); // of a visit that was cut off
    const part = withErasing(copy('already'), page);
    way.showCode?.(part);
    show(part, { focus: false });
  }
  return Boolean(sent) || way.resume(page);
};

/** Sends what an earlier visit left to be sent, or shows what its review has shown. */
way.resume = (page) => {
  const { pending, shown, to } = recallNote(page);
  if (pending) deliver(page, pending, { to, waiting: true, now: true });
  else if (shown) {
    if (history.state?.screen) history.go(-history.state.screen);
    if ('shut' in page) show(withErasing(copy('moved'), page));
    else deliver(page, way.sign(shown), { screen: 'reviewed' });
  }
  return Boolean(pending ?? shown);
};

/** Shows what can be sent, and keeps it: loaded again, the page flips no second coin. Another one may have been quicker. */
way.review = (page, body, options) => {
  const { id } = JSON.parse(body);
  const held = recallNote(page);
  if (held.sent || held.pending || (reviewed ? held.id !== id : held.id)) {
    options.onLeave();
    if (!way.greet(page)) show(copy('erased'));
  } else {
    reviewed = !forgets(page) && markShown(page, body);
    if (reviewed) way.keepClaim?.(id);
    deliver(page, body, options);
  }
};

/** Shows `body`, sends it when asked, or `now`, until it has arrived, and hands over the receipt. */
function deliver(page, body, { to = page.responses, waiting = false, now = false, screen = 'review', asked = [], onBack, onLeave } = {}) {
  const { id, reports, invitation, ticket } = JSON.parse(body);
  const first = () => copy(waiting ? 'waiting' : screen, { keeps: reviewed || 'preview' in page ? 'yes' : 'no' }, 'keeps');
  const form = make('form', { class: 'screen' }, first(), copy('sending', { n: reports.length, by: to === page.responses ? 'this' : 'other' }, 'by'));
  const details = form.querySelector('details');
  let asides = form.querySelectorAll('.back, .erase'); // no way aside while sending
  const button = form.querySelector('.primary');
  const status = form.querySelector('[role="status"]');
  const wakes = new EventTarget();
  const stop = new AbortController();
  let kept = recallNote(page).id === id;
  let claimed = waiting;
  let begun = false;
  const works = way.work && !invitation && !ticket && !('preview' in page); // a code stands in for work
  let sent = works ? withWork(body, '…') : body; // as it is posted, once its work is done
  details.addEventListener('toggle', () => {
    form.querySelector('pre').textContent = details.open ? sent : '';
    form.querySelector('.words').replaceChildren(...(details.open ? say(asked, reports) : []));
  });
  form.querySelector('.back')?.addEventListener('click', onBack);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (button.getAttribute('aria-disabled') === 'true') return;
    if (begun) hurry();
    else begin();
  });
  show(withErasing(form, page, stop, onLeave), { header: !onBack, focus: Boolean(onBack) });
  if (now) begin();
  else sign();

  /** With the work of this hour, where it is asked for. */
  async function sign() {
    if (!works || way.keepBody) return; // it is of the hour in which it is sent
    const noticed = setTimeout(() => begun && !waiting && tell(status.dataset.working), NOTICED);
    sent = withWork(body, await way.work(id, to));
    clearTimeout(noticed);
    if (status.textContent === status.dataset.working) tell(status.dataset.sending);
    if (details.open) form.querySelector('pre').textContent = sent;
  }

  function begin() {
    begun = true;
    onLeave?.();
    hurry();
    listen();
    deposit().finally(() => stop.abort()).then(({ over }) => (over ? yieldTo() : finish(page, id)), fail);
  }

  function hurry() {
    for (const aside of asides) aside.hidden = true;
    button.setAttribute('aria-disabled', 'true');
    status.textContent = status.dataset.sending;
    wake();
  }

  function wake() {
    wakes.dispatchEvent(new Event('wake'));
  }

  /** Reasons to try at once: a connection, a reader, another page that was quicker. */
  function listen() {
    const { signal } = stop;
    addEventListener('online', wake, { signal });
    addEventListener('pageshow', ({ persisted }) => persisted && wake(), { signal });
    addEventListener('storage', () => kept && recall(page).pending !== body && wake(), { signal });
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && wake(), { signal });
  }

  async function deposit() {
    if ('preview' in page) return {};
    if (way.keepBody) return { kept: await way.keepBody(body) };
    const outcome = await persist(() => alone(page.round, attempt), { wakes, onRetry });
    if (!outcome.over) {
      way.leave?.();
      await way.dropPage?.();
    }
    return outcome;
  }

  /** One page of this survey at a time is here. */
  async function attempt() {
    if (!claim()) return { over: true };
    await sign();
    if (stop.signal.aborted) return { over: true };
    const outcome = await post(to, sent, { language: reader(), signal: stop.signal });
    if (stop.signal.aborted) return { over: true };
    if (outcome.status === 428) way.setClock?.(outcome.date);
    // What was erased meanwhile, on another page, leaves no note either.
    if ((outcome.status === 200 || outcome.status === 201) && (!kept || recall(page).id === id)) markSent(page);
    return outcome;
  }

  /** Whether this is still to be sent: another page may have answered, sent it, or erased it. */
  function claim() {
    const held = recall(page);
    if (stop.signal.aborted || held.sent || (kept ? held.id !== id : held.pending) || (held.pending && !claimed)) return false;
    kept = keep(page, body, to);
    if (kept) way.keepClaim?.(id);
    claimed = true;
    return true;
  }

  function onRetry(tries, error, after) {
    const { dataset } = status;
    const why = { '404 survey': dataset.gone, '423 survey': dataset.paused }[`${error.status} ${error.field}`];
    const poor = tries < PATIENT && !after && !why;
    if (poor && error.status === 428) return; // for an hour of another clock
    tell(poor ? dataset.slow : `${why ? `${why} ` : ''}${dataset[kept ? 'kept' : 'open']}`);
    if (poor) return;
    if (!waiting) wait();
    for (const aside of asides) aside.hidden = false;
    button.textContent = button.dataset.again;
    // Not before the server wants to be asked again; then it is by itself.
    button.setAttribute('aria-disabled', after > 0);
  }

  /** From here on the screen is what it will be when the link is opened again. */
  function wait() {
    waiting = true;
    while (form.firstChild !== details) form.firstChild.remove();
    form.prepend(first());
    asides = withErasing(form, page, stop).querySelectorAll('.erase');
  }

  /** Said once, however often it is tried. */
  function tell(text) {
    if (status.textContent !== text) status.textContent = text;
  }

  function yieldTo() {
    // Erased here, this page shows so already.
    if (form.isConnected && !way.greet(page)) show(copy('erased'));
  }

  function fail(error) {
    const { field, status: refused } = error;
    const shut = field === 'link' || field === 'replaced_link';
    const asking = way.readmit?.(error, body, asked);
    if (asking) show(withErasing(asking, page));
    else if (field === 'invitation' && refused === 410) deliver(page, withoutCode(body), { to, waiting: true, now: true, asked });
    else if (shut && kept && markShown(page, body)) {
      // Stored nowhere: it may go by another link, maybe by this page's own.
      if (to !== page.responses || 'shut' in page) way.resume(page);
      else location.reload();
    } else {
      // Stored nowhere, so it is not kept here.
      drop(page);
      way.dropClaim?.();
      way.dropPage?.();
      show(copy('refused', { why: shut ? 'shut' : refused, ...error, message: error.message }, 'why'));
    }
  }
}

way.deliver = deliver;

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
  if (way.thank) {
    way.thank(id);
    return;
  }
  const keeps = 'preview' in page || recall(page).sent ? 'yes' : 'no';
  const part = withErasing(copy('sent', { keeps }, 'keeps'), page);
  way.showCode?.(part, id); // asks before what spells the receipt is loaded: always in this order
  fillReceipt(part, id);
  show(part, { header: false });
}

/** Shows the receipt, as a number until its words are here. */
export function fillReceipt(part, id) {
  const receipt = part.querySelector('output');
  const copied = part.querySelector('.copied');
  const unspelled = part.querySelector('.unspelled');
  receipt.textContent = id.match(/.{4}/g).join(' ');
  // Words take its place, where they come: of a release that was replaced meanwhile they do not.
  const scripts = copy('spelling');
  for (const script of scripts.querySelectorAll('script')) script.async = false;
  scripts.querySelector('.list').addEventListener('error', () => { unspelled.hidden = false; });
  document.head.append(scripts);
  part.querySelector('.copy')?.addEventListener('click', async () => {
    // Where pages may not write to the clipboard, the receipt is selected, to be copied by hand.
    const done = await navigator.clipboard?.writeText(receipt.textContent).then(() => true, () => false);
    if (!done) getSelection().selectAllChildren(receipt);
    copied.textContent = copied.dataset[done ? 'done' : 'selected'];
  });
}

function withErasing(part, page, sending, onLeave) {
  part.querySelector('.erase')?.addEventListener('click', async () => {
    sending?.abort();
    onLeave?.();
    if (!('preview' in page)) erase(page);
    way.dropTicket?.();
    way.dropClaim?.();
    await way.dropPage?.();
    show(copy('erased'));
  });
  return part;
}
