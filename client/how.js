// The page that explains: a survey's own numbers, and its coin to play with.

import { loadSurvey } from './design.js';
import { groupLabels, labelGroups, own, toys } from './page.js';

const page = document.querySelector('main').dataset;
const { language, translations, questions } = await loadSurvey(page.definition, page.version);

Object.assign(own, { lang: language, translations: translations ?? {} });
toys.groups = groupLabels(questions.filter(({ designs }) => designs));
document.getElementById('odds').replaceChildren(...labelGroups());
toys.fill();
