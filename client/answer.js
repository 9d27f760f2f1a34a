// The respondent's way through a survey: introduction, one question a screen, then delivery.
// Truths and coins live in the closure of begin() only, and are dropped when Send is pressed.

import { groupDesigns, oddsLabel, testCoin, tryCoin } from './coin.js';
import { deliver, greet } from './delivery.js';
import { loadSurvey } from './design.js';
import { copy, make, quote, show } from './page.js';
import { drawCoins, randomId, randomize } from './randomize.js';
import { writeBody } from './submit.js';

const page = document.querySelector('main').dataset;

start().catch((error) => {
  refuse(error.check ?? 'unknown');
  throw error;
});

async function start() {
  if (!isSecureContext) refuse('https');
  else if (!globalThis.crypto?.getRandomValues || !crypto.subtle) refuse('coins');
  else if (!greet(page)) begin(await loadSurvey(page.definition, page.version, 'preview' in page ? 'same-origin' : 'omit'));
}

function refuse(check) {
  const part = copy('refusal', { check });
  for (const reason of part.querySelectorAll('[data-check]')) reason.hidden = reason.dataset.check !== check;
  show(part);
}

function begin({ title, introduction, language, questions, epsilon: total }) {
  const n = questions.length; // screen 0 introduces, 1 ... n ask, n + 1 sends
  // Before the first question is shown: one coin for every report to come.
  const id = randomId();
  let coins = drawCoins(n);
  let truths = questions.map(() => null);
  let screen = 0;

  quote(document.querySelector('#title'), title, language);
  history.scrollRestoration = 'manual'; // every screen begins at its heading
  history.replaceState({ screen }, '');
  addEventListener('popstate', ({ state }) => {
    if (truths && Number.isInteger(state?.screen)) open(state.screen);
  });
  showIntroduction({ focus: false });

  function open(wanted) {
    screen = Math.min(wanted, truths.indexOf(null) + 1 || n + 1);
    if (screen === 0) showIntroduction();
    else if (screen <= n) showQuestion(screen - 1);
    else showReview();
  }

  function advance() {
    history.pushState({ screen: screen + 1 }, '');
    open(screen + 1);
  }

  function showIntroduction(options) {
    const part = copy('introduction', { n, total, version: page.version });
    const about = part.querySelector('#about');
    quote(about.querySelector('h2'), title, language);
    quote(about.querySelector('p'), introduction, language);
    const groups = groupDesigns(questions);
    for (const { design, numbers } of groups) {
      const values = { n: numbers.length, list: numbers.join(', '), epsilon: design.epsilon };
      const add = (place, piece) => part.querySelector(place).append(groups.length > 1 ? copy('group', values) : '', piece);
      add('#odds', oddsLabel(design, { dots: true }));
      add('#try-here', tryCoin(design));
      add('#test-here', testCoin(design));
      add('#strength', copy('epsilon', values));
    }
    part.querySelector('.primary').addEventListener('click', advance);
    show(part, options);
  }

  function showQuestion(index) {
    const { text, designs: [design] } = questions[index];
    const form = make('form', { class: 'screen', autocomplete: 'off' }, copy('question', { k: index + 1, n }));
    quote(form.querySelector('h1'), text, language).className = text.length > 150 ? 'long' : '';
    Object.assign(form.querySelector('progress'), { max: n + 1, value: index + 1 });
    form.querySelector('.label').append(oddsLabel(design));
    const missing = form.querySelector('#missing');
    const inputs = [...form.querySelectorAll('.option')].map((option) => {
      const input = make('input', { type: 'radio', name: 'answer', value: option.dataset.truth, autocomplete: 'off', 'aria-describedby': 'missing' });
      input.checked = Number(input.value) === truths[index] && truths[index] !== null;
      option.prepend(input);
      return input;
    });
    form.addEventListener('change', () => { missing.textContent = ''; });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const chosen = inputs.find((input) => input.checked);
      if (chosen) {
        truths[index] = Number(chosen.value);
        advance();
      } else {
        missing.textContent = missing.dataset.text;
        inputs[0].focus();
      }
    });
    form.querySelector('.back').addEventListener('click', () => history.back());
    show(form, { header: false });
  }

  function showReview() {
    const reports = truths.map((truth, index) => randomize(truth, coins[index], questions[index].designs[0].weights));
    deliver(page, writeBody(id, page.version, reports), {
      onBack: () => history.back(),
      // From here on only the body exists: a second attempt cannot meet a second coin.
      onSend: () => {
        coins.fill(0);
        coins = truths = null;
        history.go(-screen);
      },
    });
  }
}
