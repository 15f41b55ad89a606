// The comparison of two recordings: what ntconv diff found, as a table. The flame graph shows the same in colors.
import {el, replace} from './dom.js';
import {change, list, number, quantity} from './units.js';

/** @typedef {import('./model.js').Store} Store */
/**
 * @typedef {{before: number, after: number, change: number, change_percent?: number, margin?: number, p?: number,
 *   significant: boolean}} Change
 */
/**
 * @typedef {{function: string, renamed_from?: string, status: string, verdict: string, self: Change, total: Change,
 *   self_share: Change, total_share: Change}} FunctionChange
 */
/** @typedef {{name: string, rows: (Change & {name: string, unit: string})[]}} Section */
/**
 * @typedef {{before: {input: string}, after: {input: string}, sample_type: string, unit: string, per?: string,
 *   significant_functions: number, tested_functions: number, untested_functions: number, total: Change,
 *   functions: FunctionChange[], sections: Section[]}} Difference
 */

const maxChanges = 100;

/**
 * ChangePercent returns a relative change: +25.6%, new or gone.
 * @param {Change} c
 */
export function changePercent(c) {
  if (c.before === 0) return c.after === 0 ? '' : 'new';
  if (c.after === 0) return 'gone';
  return change(c.change_percent ?? 100 * c.change / c.before, '%');
}

/**
 * @param {Change} c
 * @param {string} unit
 */
function changeCells(c, unit) {
  const direction = !c.significant ? '' : c.change > 0 ? ' more' : ' less';
  return [
    el('td', {class: 'number'}, quantity(c.before, unit)),
    el('td', {class: 'number'}, quantity(c.after, unit)),
    el('td', {class: 'number' + direction}, change(c.change, unit)),
    el('td', {class: 'number' + direction}, changePercent(c)),
    el('td', {class: 'number quiet'}, c.margin === undefined ? '' : '±' + quantity(c.margin, unit)),
  ];
}

/** @param {Difference} diff */
export function verdictSentence(diff) {
  const {total, unit} = diff;
  const whole = `${diff.sample_type}: ${quantity(total.before, unit)} before, ${quantity(total.after, unit)} after ` +
    `(${changePercent(total) || 'no change'}; ${total.significant ? 'significant' : 'within the sampling error'})`;
  const n = diff.significant_functions;
  const functions = n === 0 ? 'no function changed significantly' :
    `${number(n)} of ${number(diff.tested_functions)} tested functions changed significantly`;
  return `${whole}; ${functions}.`;
}

/** @type {Record<string, string>} */
const verdicts = {
  more: 'more', 'more-with-total': 'more, as the total', less: 'less', 'less-with-total': 'less, as the total',
  'larger-share': 'larger share', 'smaller-share': 'smaller share', 'not-significant': 'not significant',
  'not-tested': 'not tested',
};

/**
 * @param {Difference} diff
 * @param {Store} store
 * @param {'self' | 'total'} member
 * @param {boolean} onlySignificant
 */
function functionTable(diff, store, member, onlySignificant) {
  const rows = diff.functions.filter((f) => !onlySignificant || !['not-significant', 'not-tested'].includes(f.verdict));
  const byName = functionsByName(store);
  const body = rows.slice(0, maxChanges).map((f) => {
    const id = byName.get(f.function);
    const name = f.function + (f.renamed_from ? ' (before: ' + f.renamed_from + ')' : '');
    const show = () => id !== undefined && store.set({method: id, layout: 'sandwich'});
    return el('tr', null,
      el('th', {scope: 'row'}, id === undefined ? name : el('button', {type: 'button', class: 'link',
        title: 'Callers and callees of this function', on: {click: show}}, name)),
      changeCells(f[member], diff.unit), el('td', null, verdicts[f.verdict] ?? f.verdict));
  });
  return el('div', {class: 'scroll-x'}, el('table', {class: 'data'},
    el('caption', null, rows.length === 0 ? 'No function changed significantly.' : rows.length > maxChanges ?
      `The ${maxChanges} largest changes of ${number(rows.length)} functions.` : ''),
    rows.length === 0 ? null : el('thead', null, headRow('function', 'verdict')), el('tbody', null, body)));
}

/** @param {Store} store @returns {Map<string, number>} */
function functionsByName(store) {
  const byName = new Map();
  for (let i = store.trace.functions.rows - 1; i >= 0; i--) byName.set(store.trace.functionName(i), i);
  return byName;
}

/**
 * @param {string} first
 * @param {string} [last]
 */
function headRow(first, last) {
  const names = [first, 'before', 'after', 'change', 'relative', '95% margin', ...(last ? [last] : [])];
  return el('tr', null, names.map((name, i) => el('th', {scope: 'col', class: i > 0 && i < 6 ? 'number' : ''}, name)));
}

/** @param {Section} section */
function sectionTable(section) {
  return el('details', null, el('summary', null, section.name + ' · ' + section.rows.length),
    el('div', {class: 'scroll-x'}, el('table', {class: 'data'}, el('thead', null, headRow('name')),
      el('tbody', null, section.rows.slice(0, maxChanges * 5).map((row) =>
        el('tr', null, el('th', {scope: 'row'}, row.name), changeCells(row, row.unit)))))));
}

/**
 * CreateCompare adds the comparison to the page.
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {Difference | null} diff
 */
export function createCompare(root, store, diff) {
  if (!store.before) return;
  root.hidden = false;
  if (!diff) {
    replace(root, el('h2', null, 'Comparison'), el('p', {class: 'quiet'}, missingText(store)));
    return;
  }
  /** @type {'self' | 'total'} */
  let member = 'self';
  let onlySignificant = diff.significant_functions > 0;
  const table = el('div');
  const memberButton = el('button', {type: 'button', on: {click: () => {
    member = member === 'self' ? 'total' : 'self';
    draw();
  }}});
  const allButton = el('button', {type: 'button', on: {click: () => {
    onlySignificant = !onlySignificant;
    draw();
  }}}, 'Only significant');
  const draw = () => {
    memberButton.textContent = member === 'self' ? 'Self values' : 'Total values';
    memberButton.title = 'Values of functions themselves, or with their callees';
    allButton.setAttribute('aria-pressed', String(onlySignificant));
    replace(table, functionTable(diff, store, member, onlySignificant));
  };
  draw();
  replace(root, el('h2', null, 'Comparison'), el('p', null, verdictSentence(diff)),
    el('div', {class: 'tools'}, memberButton, allButton), table, diff.sections.map(sectionTable));
}

/** @param {Store} store */
function missingText(store) {
  const names = store.trace.kinds.map((kind) => kind.name).filter((name) => store.before?.kinds.some((k) => k.name === name));
  const shared = names.length === 0 ? 'The recordings have no kind of samples in common.' :
    'Both recordings have samples of ' + list(names) + '.';
  return shared + ' The flame graph shows more than before in red and less in blue. ntconv diff prints what is significant.';
}
