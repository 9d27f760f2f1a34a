// Conditions. They decide which screens are shown, here in the browser; every question is reported by everybody.

import { rowsOf, way } from './design.js';

/** Whether a condition names an earlier question, and the answer of those who are not shown this one is an answer. */
way.leadsTo = (entry, earlier) => (
  earlier.some(({ designs, name }) => designs && name === entry.show_if.question)
  && (!entry.designs || rowsOf(entry, entry.otherwise).every(Boolean)));

/** Whether the answers lead to an entry; who is not shown a question has its `otherwise`. */
way.isShown = ({ show_if: condition }, entries, answers) => {
  if (!condition) return true;
  const { question, any_of: names, from, to } = condition;
  const gate = entries.find(({ name }) => name === question);
  const answer = way.isShown(gate, entries, answers) ? answers.get(question) : gate.otherwise;
  return names ? [answer].flat().some((name) => names.includes(name)) : from <= answer && answer <= to;
};
