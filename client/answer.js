// The way through a survey: introduction, one entry a screen, delivery.
// Answers and coins live in the closure of begin() only, and are dropped when Send is pressed.

import { answersOf, kinds, loadSurvey, rowsOf, statedBy, way } from './design.js';
import { askOne, copy, groupLabels, labelGroups, labelOf, languageOf, make, own, quote, show, toys, translate } from './page.js';
import { drawCoins, randomId, randomize } from './randomize.js';
import { drop, recall, spentBefore, writeBody } from './submit.js';

const page = document.querySelector('main').dataset;
const preview = 'preview' in page;
// By the texts that the page holds for a script, what it must have brought: without it answers would go another way than is said.
const BRINGS = { invitation: 'admit', ticketed: 'buy', completion: 'takeCompletionKey', consent: 'agree', age: 'agree', 'tablet-hand-over': 'handOver' };
const apart = preview || 'tablet' in page; // the history has no steps of it, and this device no notes
let sending = null; // a promise of what sends
let missed = false; // whether it did not come
let declined = false;

start().catch((error) => {
  refuse(error.check ?? 'unknown');
  throw error;
});

async function start() {
  const survey = loadSurvey(page.definition, page.version); // by everybody: it tells nothing
  survey.catch(() => {});
  if (!isSecureContext) refuse('https');
  else if (!globalThis.crypto?.getRandomValues || !crypto.subtle) refuse('coins');
  else if (Object.entries(BRINGS).some(([texts, part]) => document.getElementById(texts) && !way[part])) refuse('scripts');
  else if (way.handOver) begin(await way.handOver(survey));
  else {
    const left = !apart && Object.keys(recall(page)).length > 0;
    if (left) await loadSending();
    if (left && way.greet(page)) return;
    begin(await survey);
    await loadSending();
    way.keepPage?.();
  }
}

/** What sends comes once the first screen is there, and before any entry is: by everybody, so that it tells nothing. */
function loadSending() {
  sending ??= new Promise((resolve) => {
    if (way.review) {
      resolve();
      return;
    }
    const files = copy('what-sends');
    const script = files.querySelector('script');
    script.addEventListener('load', () => (way.review ? resolve() : miss()));
    script.addEventListener('error', miss);
    document.head.append(files);
  });
  return sending;
}

function miss() {
  missed = true;
  if (!declined) refuse('scripts'); // else nothing is asked for any more
}

function refuse(check) {
  show(copy('refusal', { check }, 'check'));
}

function begin({ title, introduction, language, translations, questions: entries, epsilon: total, ...asks }) {
  const asked = entries.filter(({ designs }) => designs);
  const n = asked.length;
  const last = entries.length + 1; // screen 0 introduces, k shows entry k - 1, the last one sends
  // Before the first question is shown: one coin for every report to come.
  const id = (way.drawReceipt ?? randomId)();
  let coins = drawCoins(asked.flatMap(({ designs }) => designs).length);
  let answers = new Map(); // by name, of questions that were shown
  let screen = 0;
  let hasRead = false; // the whole introduction
  let byHand = null; // whether the reader throws, once a question was shown
  const isShown = (entry) => way.isShown(entry, entries, answers);
  if (!apart) way.work?.(id, page.responses); // so that it is done when it is needed

  Object.assign(own, { lang: language, translations: translations ?? {} });
  toys.groups = groupLabels(asked);
  quote(document.querySelector('#title'), title);
  history.scrollRestoration = 'manual'; // every screen begins at its heading
  addEventListener('popstate', ({ state }) => {
    if (answers && Number.isInteger(state?.screen)) arrive(state.screen);
  });
  // Loaded again in the middle: back to where the way began.
  if (history.state?.screen) history.go(-history.state.screen);
  else if (!apart) history.replaceState({ screen }, '');
  if (!way.preview?.(entries, (place) => (answers ? open(place) : location.reload()))) showIntroduction({ focus: false });
  document.addEventListener('click', async (event) => {
    const link = event.target.closest?.('.languages a');
    if (!link || !answers || missed) return;
    event.preventDefault();
    event.stopPropagation();
    await loadSending();
    way.reword(link.href, () => answers, () => {
      quote(document.querySelector('#title'), title);
      open(screen);
    });
  }, true);
  if (document.getElementById('throws')) {
    // By everybody, so that it tells nothing, and once the first screen is there.
    const files = copy('throws');
    files.querySelector('script').addEventListener('load', offerThrows);
    document.head.append(files);
  }

  function offerThrows() {
    if (byHand === null) way.offerThrows?.(document.getElementById('by-hand'), asked);
  }

  /** The next place that is on the way, up or down. */
  function nearest(place, by) {
    const entry = entries[place - 1];
    return entry && (!isShown(entry) || kinds[entry.kind].isSkipped?.(entry)) ? nearest(place + by, by) : place;
  }

  const firstOpen = () => 1 + entries.findIndex((entry) => entry.designs && isShown(entry) && !answers.has(entry.name)) || last;

  /** History holds a step for every entry, shown or not: its length does not tell the way. */
  function go(by) {
    const place = nearest(screen + by, by);
    if (apart) open(place < last ? place : firstOpen());
    else if (by < 0) history.go(place - screen);
    else {
      for (let step = screen + 1; step <= place; step += 1) history.pushState({ screen: step }, '', way.address);
      open(place);
    }
  }

  /** The browser's Back and Forward may lead off the way. */
  function arrive(place) {
    const wanted = way.review ? Math.min(nearest(place, place < screen ? -1 : 1), firstOpen()) : 0;
    if (wanted === place) open(place);
    else history.go(wanted - place);
  }

  function open(place) {
    screen = place;
    if (place === 0) showIntroduction();
    else if (place < last) showEntry(entries[place - 1]);
    else showReview();
  }

  function showIntroduction(options) {
    const part = copy('introduction', { n, total, version: page.version });
    const find = (selector) => part.querySelector(selector);
    quote(find('h2'), title);
    // Who asks and what for, before the coin; the rest is a fold away.
    const [first, ...rest] = translate(introduction).split(/\n\s*\n/);
    const spokenIn = languageOf(introduction);
    const [beginning, more] = part.querySelectorAll('.own');
    own.write(beginning, first, spokenIn);
    const fold = more.parentElement;
    const tick = find('#about .option');
    const read = tick.querySelector('input');
    const unread = find('#unread');
    const actions = find('.actions');
    read.checked = hasRead;
    read.addEventListener('change', () => unread.replaceChildren());
    if (rest.length) {
      own.write(more, rest.join('\n\n'), spokenIn);
      more.after(tick); // it can be ticked once that is unfolded
    } else fold.remove();
    find('#odds').append(...labelGroups());
    find('#strength').append(...toys.groups.flatMap(({ question, heading }) => [heading(), copy('epsilon', { epsilon: statedBy(question) })]));
    const [about, byHandHere] = [find('#about'), find('#by-hand')];
    find('.screen').addEventListener('toggle', function play({ target }) {
      if (about.contains(target) || byHandHere.contains(target)) return;
      this.removeEventListener('toggle', play, true);
      if (toys.fill) toys.fill();
      else document.head.append(copy('play'));
    }, true);
    const spent = apart ? 0 : spentBefore(page);
    if (spent) {
      // What leaves 99 of 100 guesses right, 98, ...
      const rooms = JSON.parse(document.getElementById('round').dataset.rooms).filter((room) => spent <= room);
      actions.before(copy('round', { right: 100 - rooms.length, sure: rooms.length ? 'no' : 'yes' }, 'sure'));
    }
    find('.primary').addEventListener('click', (event) => {
      hasRead = read.checked || !read.isConnected;
      if (hasRead) return;
      event.stopImmediatePropagation(); // nothing is sent before, not even a code
      fold.open = true;
      unread.textContent = unread.dataset.text;
      (rest.length ? fold.firstElementChild : read).focus();
    });
    way.agree?.(part, asks);
    way.admit?.(part);
    find('.primary').addEventListener('click', async ({ currentTarget }) => {
      byHand ??= Boolean(document.querySelector('#by-hand input')?.checked);
      if (!way.review) {
        currentTarget.setAttribute('aria-disabled', 'true'); // it was heard
        await loadSending();
      }
      if (answers && !screen) go(1);
    });
    find('.aside').addEventListener('click', async () => {
      forget();
      if (!apart) drop(page);
      way.dropClaim?.();
      way.dropTicket?.();
      if ('offline' in page) await loadSending(); // what an earlier visit has kept goes as well
      await way.dropPage?.();
      declined = true;
      show(copy('declined'));
    });
    show(part, options);
    offerThrows();
    // Start stays in view where there is room for it: what does not lie above it could be missed.
    const fits = beginning.getBoundingClientRect().bottom <= actions.getBoundingClientRect().top;
    if (!rest.length && fits) tick.remove();
  }

  function showEntry(entry) {
    const { kind, name, text, designs } = entry;
    const { ask = askOne, screen: template = 'question' } = byHand && designs ? way.askByHand(entry) : kinds[kind];
    const form = make('form', { class: `screen ${kind}`, autocomplete: 'off' }, copy(template, { k: asked.indexOf(entry) + 1, n }));
    const find = (selector) => form.querySelector(selector);
    const missing = find('#missing');
    quote(find('h1'), text).className = text.length > 150 ? 'long' : '';
    way.place?.(form, entry, entries.slice(0, screen - 1).filter(isShown));
    Object.assign(find('progress'), { max: last, value: screen });
    if (designs) find('.label')?.append(labelOf(entry));
    const read = ask(form, entry, answers.get(name));
    form.addEventListener('input', () => missing?.replaceChildren());
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const { answer, at, problem = missing?.dataset.text, again } = read();
      if (again) showEntry(entry);
      else if (at) {
        missing.textContent = problem;
        at.focus();
      } else {
        if (designs) answers.set(name, answer);
        go(1);
      }
    });
    find('.back').addEventListener('click', () => go(-1));
    show(form, { header: false });
  }

  function showReview() {
    const rows = asked.flatMap((question) => rowsOf(question, isShown(question) ? answers.get(question.name) : question.otherwise));
    const reports = byHand
      ? asked.map((question) => answersOf(question).indexOf(answers.get(question.name)))
      : rows.map((row, byte) => randomize(0, coins[byte], [row]));
    const body = way.sign(writeBody(id, page.version, reports, rows.map((row) => row.length - 1)));
    way.review(page, body, { asked, screen: byHand ? 'review-by-hand' : 'review', onBack: () => go(-1), onLeave: forget });
  }

  /** Once Send is pressed only the body exists: no second attempt meets a second coin. */
  function forget() {
    document.querySelector('.languages').hidden = true; // elsewhere, what waits could be lost
    coins?.fill(0);
    coins = answers = null;
    if (!apart && screen) history.go(-screen);
    screen = 0;
  }
}
