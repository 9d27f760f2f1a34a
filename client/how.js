// The page that explains: a survey's own numbers, and its coin to play with.

import { loadSurvey } from './design.js';
import { groupLabels, labelGroups, own, toys } from './page.js';

const page = document.querySelector('main').dataset;
loadSurvey(page.definition, page.version).then(explain);

function explain({ language, translations, questions }) {
  Object.assign(own, { lang: language, translations: translations ?? {} });
  toys.groups = groupLabels(questions.filter(({ designs }) => designs));
  document.getElementById('odds').replaceChildren(...labelGroups());
  toys.fill?.(); // coin.js, if it is here already
}
