// Labels, codes and trials of designs that are more than Yes and No, and the devices that named designs come from.

import { kinds } from './design.js';
import { copy, labelYesNo, picture, quote, says, textsOf } from './page.js';

/** What arrives where it is neither Yes nor No. */
const arrivals = ({ design: { mechanism } }) => ({ kuk: [says().black, says().red], crosswise: [says().different, says().same] })[mechanism];

const whole = { label: labelWhole, codes: (question) => [{ names: textsOf(question) }] };
const oneHot = boxes('label-one-hot', () => [says().unchosen, says().chosen]);

/** Label, codes and trial of a choice that is sent whole, or as a box for each answer. */
export const ofChoice = Object.fromEntries(Object.keys(oneHot).map((name) => [
  name, (question, options) => (question.designs.length > 1 ? oneHot : whole)[name]?.(question, options)]));

if (kinds.select_one) Object.assign(kinds.select_one, ofChoice);
if (kinds.select_multiple) Object.assign(kinds.select_multiple, boxes('label-boxes', () => [says().unticked, says().ticked]));
// A scale, and whatever else is sent whole and says nothing of its own.
for (const kind of Object.values(kinds)) if (kind.names && !kind.label) Object.assign(kind, whole);
Object.assign(kinds.yes_no, {
  label: (question, options) => (question.prefer_not_to_say ? labelWhole(question, options) : labelDevice(question, options)),
  codes: (question) => [{ names: arrivals(question) ?? textsOf(question) }],
});

/** How the device of a named design works, in the chances that its definition states. */
function labelDevice(question, options) {
  const { mechanism, innocuous, ...chances } = question.design;
  const part = labelYesNo(question, { ...options, template: arrivals(question) ? `label-${mechanism}` : 'label' });
  if (document.getElementById(`story-${mechanism}`)) {
    const story = copy(`story-${mechanism}`, Object.fromEntries(Object.entries(chances).map(([name, chance]) => [name, 100 * chance])));
    if (innocuous) quote(story.querySelector('q'), innocuous);
    part.append(story);
  }
  return part;
}

/** All answers alike, or near ones likelier than far ones. */
function labelWhole({ designs: [{ weights, odds: { people, counts } }] }, { across } = {}) {
  const alike = weights.every((row, truth) => row.every((weight, report) => weight === weights[0][Number(truth !== report)]));
  const kept = counts.map((row, truth) => row[truth]);
  const [least, most] = [Math.min(...kept), Math.max(...kept)];
  if (alike) return picture(copy('label-whole', { people, kept: kept[0], rest: people - kept[0], others: counts.length - 1 }), people, [kept[0]], across);
  return picture(copy('label-scale', { people, least, most }), people, [[least, most]], across);
}

/** Label, codes and trial of boxes, each by itself. */
export function boxes(template, names) {
  return {
    label({ designs: [{ odds: { people, counts: [[, empty], [, ticked]] } }] }, { across } = {}) {
      const part = copy(template);
      part.append(picture(copy('label-box', { people, empty, ticked }), people, [empty, ticked], across));
      return part;
    },
    codes: (question) => textsOf(question).map((about) => ({ about, names: names() })),
    trial: ({ designs: [{ weights }] }) => ({ cases: names().map((name, truth) => ({ name, row: weights[truth] })), arrives: names() }),
  };
}
