// The way through a survey: introduction, one entry a screen, delivery.
// Answers and coins live in the closure of begin() only, and are dropped when Send is pressed.

import { answersOf, checkKeys, kinds, loadSurvey, rowsOf, statedBy, way } from './design.js';
import { copy, fetchScreens, groupLabels, labelGroups, labelOf, languageOf, make, own, quote, show, toys, translate } from './page.js';
import { drawCoins, randomId, randomize } from './randomize.js';
import { drop, dropClaim, dropPage, recall, spentBefore, writeBody } from './submit.js';

const page = document.querySelector('main').dataset;
const preview = 'preview' in page;
// By the texts that the page holds for a script, what it must have brought: without it answers would go another way than is said.
const BRINGS = { invitation: 'admit', ticketed: 'holdsTicket', consent: 'agree', age: 'agree', 'tablet-hand-over': 'handOver' };
const BRINGS_LATER = { sending: 'review', uninvited: 'lookAt', ticketed: 'buy', completion: 'takeCompletionKey' };
const NOTICED = 8000; // ms of waiting for what comes later until the page says so
const apart = preview || 'tablet' in page; // the history has no steps of it, and this device no notes
let later = null; // a promise of what nobody needs before Start
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
  else if (!brought(BRINGS)) refuse('scripts');
  else if (way.handOver) await begin(await way.handOver(survey));
  else {
    const left = !apart && Object.keys(recall(page)).length > 0;
    if (left) {
      if (!await loadLater()) return;
      survey.then(checkKeys).catch(() => {}); // for a ticket, or a code at the end
      if (way.greet(page)) return;
    }
    await begin(await survey);
  }
}

function brought(parts) {
  return Object.entries(parts).every(([texts, part]) => !document.getElementById(texts) || way[part]);
}

/** What nobody needs before Start comes once the first screen is there: all of it, by everybody, so that it tells nothing. Whether it did. */
function loadLater() {
  later ??= way.review ? Promise.resolve(true) : Promise.all([addScreens(), ...addFiles()]).then((came) => {
    const whole = came.every(Boolean) && brought(BRINGS_LATER);
    if (!whole) refuse('scripts');
    return whole;
  });
  return later;
}

/** The texts of screens, of this version of the survey and this release. */
async function addScreens() {
  const screens = await fetchScreens(page.screens);
  const { version, release } = screens?.querySelector('main')?.dataset ?? {};
  if (version !== page.version || !document.querySelector(`link[href="${release}"]`)) return false;
  document.body.append(...screens.querySelectorAll('template, .symbols'));
  return true;
}

function addFiles() {
  const files = copy('later');
  const came = Array.from(files.querySelectorAll('script, link'), (file) => new Promise((resolve) => {
    file.async = false; // one after another
    file.addEventListener('load', () => resolve(true));
    file.addEventListener('error', () => resolve(file.localName === 'link'));
  }));
  document.head.append(files);
  return came;
}

function refuse(check) {
  if (!declined) show(copy('refusal', { check }, 'check')); // else nothing is asked for any more
}

function begin({ title, introduction, language, translations, questions: entries, epsilon: total, ...asks }) {
  const asked = entries.filter(({ designs }) => designs);
  const n = asked.length;
  const last = entries.length + 1; // screen 0 introduces, k shows entry k - 1, the last one sends
  // Before the first question is shown: one coin for every report to come.
  let coins = drawCoins(asked.flatMap(({ designs }) => designs).length);
  let answers = new Map(); // by name, of questions that were shown
  let screen = 0;
  let hasRead = false; // the whole introduction
  let byHand = null; // whether the reader throws, once a question was shown
  let id = apart ? randomId() : null; // the receipt, once nothing is missing any more
  const isShown = (entry) => way.isShown(entry, entries, answers);

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
  const preparing = prepare();
  const prepared = preparing.catch(() => false);
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('.languages a');
    if (!link || !answers || !id) return; // until all is here, it leads where it says: what is to come may never
    event.preventDefault();
    event.stopPropagation();
    way.reword(link.href, () => answers, () => {
      quote(document.querySelector('#title'), title);
      open(screen);
    });
  }, true);

  /** Whether all is here that comes after Start. */
  async function prepare() {
    if (!await loadLater()) return false;
    offerChecks();
    if (entries.some(({ kind }) => kinds[kind].screen && !kinds[kind].ask)) throw new Error('a kind of question has no screen');
    await checkKeys();
    id = (way.drawReceipt ?? randomId)();
    if (document.getElementById('throws')) {
      // By everybody, so that it tells nothing.
      const files = copy('throws');
      files.querySelector('script').addEventListener('load', offerThrows);
      document.head.append(files);
    }
    if (apart || declined) return true;
    way.work?.(id, page.responses); // so that it is done when it is needed
    way.keepPage?.();
    return true;
  }

  /** How to check, in its fold, once that is here. */
  function offerChecks() {
    const fold = document.getElementById('checks');
    if (!fold || fold.children.length > 1 || !document.getElementById('checking')) return;
    fold.append(copy('checking', { n, total, version: page.version }));
    fold.querySelector('#strength').append(...toys.groups.flatMap(({ question, heading }) => [heading(), copy('epsilon', { epsilon: statedBy(question) })]));
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
    const wanted = id ? Math.min(nearest(place, place < screen ? -1 : 1), firstOpen()) : 0;
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
    const part = copy('introduction', { n, total });
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
    const [about, byHandHere] = [find('#about'), find('#by-hand')];
    find('.screen').addEventListener('toggle', function play({ target }) {
      if (about.contains(target) || byHandHere.contains(target)) return;
      this.removeEventListener('toggle', play, true);
      if (toys.fill) toys.fill();
      else prepared.then((came) => came && document.head.append(copy('play')));
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
    find('.primary').addEventListener('click', (event) => {
      if (id) return;
      event.stopImmediatePropagation();
      wait(event.currentTarget, unread);
    });
    way.admit?.(part);
    find('.primary').addEventListener('click', () => {
      byHand ??= Boolean(document.querySelector('#by-hand input')?.checked);
      if (answers && !screen) go(1);
    });
    find('.aside').addEventListener('click', async () => {
      declined = true;
      forget();
      way.dropTicket?.();
      if (!apart) await Promise.race([clear(), new Promise((resume) => { setTimeout(resume, NOTICED); })]);
      show(copy('declined'));
    });
    show(part, options);
    offerChecks();
    offerThrows();
    // Start stays in view where there is room for it: what does not lie above it could be missed.
    const fits = beginning.getBoundingClientRect().bottom <= actions.getBoundingClientRect().top;
    if (!rest.length && fits) tick.remove();
  }

  /** What this visit or an earlier one has kept goes, though what comes later may never come. */
  async function clear() {
    drop(page);
    dropClaim(page);
    await (way.dropPage ?? dropPage)();
  }

  /** Start was heard, and is pressed again once nothing is missing. */
  async function wait(start, status) {
    if (start.getAttribute('aria-disabled') === 'true') return;
    start.setAttribute('aria-disabled', 'true');
    const noticed = setTimeout(() => { status.textContent = status.dataset.late; }, NOTICED);
    await prepared;
    clearTimeout(noticed);
    status.replaceChildren();
    start.removeAttribute('aria-disabled');
    if (id && answers && !screen) document.querySelector('main .primary').click(); // Back and Forward draw another
  }

  function showEntry(entry) {
    const { kind, name, text, designs } = entry;
    const { ask = way.askOne, screen: template = 'question' } = byHand && designs ? way.askByHand(entry) : kinds[kind];
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

  return preparing;
}
