// Another language in the middle of a survey: the page's own texts change where they stand. Answers and coins stay as they are,
// and what is asked for is the same whatever they are.

import { way } from './design.js';
import { fetchPage, fetchScreens } from './page.js';

const PATIENCE = 10000; // ms

/** Changes the language in place while `isBegun`, to that of the page at `address`, and draws the screen again. */
way.reword = async (address, isBegun, redraw) => {
  const page = await fetchPage(address, PATIENCE);
  const later = page?.querySelector('main')?.dataset.screens;
  const screens = later && await fetchScreens(later, PATIENCE);
  if (screens) page.body.append(...screens.querySelectorAll('template'));
  if (!isBegun()) return; // sent meanwhile: the last screens stay in the language they are in
  if (page && fits(page)) {
    const entered = readInputs();
    take(page);
    history.replaceState(history.state, '', new URL(address).search + location.hash);
    redraw();
    enter(entered);
    way.keepPage?.(true); // loaded again, it is asked for by this address
  } else {
    const languages = document.querySelector('.languages');
    languages.querySelector('[role="status"]').textContent = languages.dataset.failed;
  }
};

/** Whether it is the same page: of this version of the survey, and of this release. */
function fits(page) {
  const version = (of) => of.querySelector('main')?.dataset.version;
  const scripts = (of) => Array.from(of.querySelectorAll('head script'), (script) => script.getAttribute('src'));
  const ours = scripts(document);
  return version(page) === version(document) && scripts(page).every((script) => ours.includes(script)) && texts().every((element) => find(page, element));
}

const texts = () => Array.from(document.querySelectorAll('template, .languages, .skip, .notice'));
const find = (page, { id, className }) => (id ? page.getElementById(id) : page.querySelector(`.${className}`));

function take(page) {
  const { lang, dir, dataset: { digits } } = page.documentElement;
  Object.assign(document.documentElement, { lang, dir });
  if (digits) document.documentElement.dataset.digits = digits;
  else delete document.documentElement.dataset.digits;
  const { screens } = page.querySelector('main').dataset;
  if (screens) document.querySelector('main').dataset.screens = screens;
  for (const element of texts()) {
    const there = document.importNode(find(page, element), true);
    if (element.localName === 'a') element.textContent = there.textContent; // what it does is listened to
    else element.replaceWith(there);
  }
}

const inputs = () => Array.from(document.querySelectorAll('main input'));

function readInputs() {
  return inputs().map(({ value, checked }) => ({ value, checked }));
}

/** What was chosen or typed, and not taken yet. */
function enter(entered) {
  const fields = inputs();
  if (fields.length !== entered.length) return;
  fields.forEach((field, place) => {
    const { value, checked } = entered[place];
    if (field.type === 'radio' || field.type === 'checkbox') field.checked = checked;
    else field.value = value;
    if (checked) field.dispatchEvent(new Event('change', { bubbles: true }));
    else if (field.value && field.type === 'text') field.dispatchEvent(new Event('input', { bubbles: true }));
  });
}
