// The comparison of two recordings: what ntconv diff found, as a table. The flame graph shows the same in colors.
import {button, el, replace} from './dom.js';
import {isPartial} from './joint.js';
import {change, list, number, points, quantity, visible} from './units.js';

/** @typedef {import('./model.js').Store} Store */
/** @typedef {import('./model.js').State} State */
/** @typedef {import('./model.js').Trace} Trace */
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
 * @typedef {{before: {input: string}, after: {input: string, kind?: string}, sample_type: string, unit: string,
 *   per?: string, significant_functions: number, tested_functions: number, untested_functions: number, total: Change,
 *   functions: FunctionChange[], sections: Section[]}} Difference
 */
/** @typedef {'self' | 'total'} Member the values of functions themselves, or with their callees */

const maxChanges = 100;

/**
 * ChangePercent returns a relative change: +25.6%, new or gone.
 * @param {Change} c
 * @param {boolean} [common] whether both recordings have what has the value
 */
export function changePercent(c, common = false) {
  if (c.before === 0) return c.after === 0 ? '' : common ? 'from 0' : 'new';
  if (c.after === 0) return common ? 'to 0' : 'gone';
  return change(c.change_percent ?? 100 * c.change / c.before, '%');
}

/**
 * ShownChanges returns the functions to list, the largest change of the shown member first. Functions without a value
 * of this member are omitted.
 * @param {Difference} diff
 * @param {Member} member
 * @param {boolean} onlySignificant
 */
export function shownChanges(diff, member, onlySignificant) {
  return diff.functions.filter((f) => (f[member].before !== 0 || f[member].after !== 0) &&
    (!onlySignificant || !['not-significant', 'not-tested'].includes(verdictOf(f, member))))
    .sort((a, b) => Math.abs(b[member].change) - Math.abs(a[member].change));
}

/**
 * VerdictOf returns the verdict on the shown member of a function. The verdict of diff is on both members.
 * @param {FunctionChange} f
 * @param {Member} member
 */
export function verdictOf(f, member) {
  const c = f[member], share = member === 'self' ? f.self_share : f.total_share, word = c.change > 0 ? 'more' : 'less';
  if (c.significant) return f.verdict === word + '-with-total' && !share.significant ? f.verdict : word;
  if (share.significant) return share.change > 0 ? 'larger-share' : 'smaller-share';
  return f.verdict === 'not-tested' ? 'not-tested' : 'not-significant';
}

/**
 * ChangeColumns are the cells of a change, the most important ones first: narrow screens show the first ones.
 * @param {Change} c
 * @param {string} unit
 * @param {Change} [share] change of the share of the total, in percentage points
 * @param {boolean} [common] whether both recordings have what has the value
 * @returns {[text: string, className: string][]}
 */
export function changeColumns(c, unit, share, common = false) {
  /** @param {Change} x */
  const direction = (x) => (!x.significant ? '' : x.change > 0 ? ' more' : ' less');
  /** @type {[string, string][]} */
  const shares = share ? [[points(share.change), 'number' + direction(share)]] : [];
  return [
    [change(c.change, unit), 'number' + direction(c)], [changePercent(c, common), 'number' + direction(c)], ...shares,
    [quantity(c.before, unit), 'number'], [quantity(c.after, unit), 'number'],
    [c.margin === undefined ? '' : '±' + quantity(c.margin, unit), 'number quiet'],
  ];
}

/**
 * @param {Change} c
 * @param {string} unit
 * @param {Change} [share]
 * @param {boolean} [common]
 */
function changeCells(c, unit, share, common) {
  return changeColumns(c, unit, share, common).map(([text, name]) => el('td', {class: name}, text));
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
 * ComparedValue returns the kind and the value that were compared, if the recording has them.
 * @param {Trace} trace
 * @param {Difference} diff
 * @returns {Partial<State>}
 */
export function comparedValue(trace, diff) {
  for (const kind of trace.kinds) {
    const value = kind.values.findIndex((v) => v.type === diff.sample_type);
    if (value >= 0 && (!diff.after.kind || diff.after.kind === kind.name)) return {kind: kind.index, value};
  }
  return {};
}

/** @type {Record<string, string>} kinds of samples whose types a section lists */
const kindOfSection = {'Allocations by type': 'alloc', 'Exceptions by type': 'exceptions'};

/**
 * SubjectLinks returns what selects a type that a section lists, or null if the section lists no types or the recording
 * has no sample of the type.
 * @param {Trace} trace
 * @param {string} section
 * @returns {(name: string) => Partial<State> | null}
 */
export function subjectLinks(trace, section) {
  const kind = Object.hasOwn(kindOfSection, section) ?
    trace.kinds.find((k) => k.name === kindOfSection[section]) : undefined;
  const known = new Set([...new Set(kind?.samples.subject ?? [])].map((subject) => trace.str(subject)));
  return (name) => (kind && name !== '' && known.has(visible(name)) ? {kind: kind.index, subject: visible(name)} : null);
}

/**
 * ChangeRow returns a row. If it has a patch, a click on it shows what it is about.
 * @param {string} name
 * @param {HTMLElement[]} cells
 * @param {string} title
 * @param {(() => void) | null} show
 */
function changeRow(name, cells, title, show) {
  const click = () => {
    if (String(window.getSelection()) === '') show?.(); // Selecting text to copy it is no click.
  };
  return el('tr', show ? {class: 'link-row', on: {click}} : null,
    el('th', {scope: 'row'}, show ? el('button', {type: 'button', class: 'link', title}, name) : name), cells);
}

const sharesText = 'Share is the change of the share of the total in percentage points (pp).';

/**
 * @param {Difference} diff
 * @param {Store} store
 * @param {{member: Member, onlySignificant: boolean}} view
 * @param {() => void} reveal
 */
function functionTable(diff, store, view, reveal) {
  const {member} = view, rows = shownChanges(diff, member, view.onlySignificant);
  const byName = functionsByName(store), value = comparedValue(store.trace, diff);
  const body = rows.slice(0, maxChanges).map((f) => {
    const method = byName.get(visible(f.function));
    const name = visible(f.function) + (f.renamed_from ? ' (before: ' + visible(f.renamed_from) + ')' : '');
    const show = method === undefined ? null : () => {
      store.set({...value, method, layout: 'sandwich'});
      reveal();
    };
    const share = member === 'self' ? f.self_share : f.total_share, verdict = verdictOf(f, member);
    return changeRow(name, [...changeCells(f[member], diff.unit, share, f.status === 'common'),
      el('td', null, verdicts[verdict] ?? verdict)], 'Callers and callees of this function', show);
  });
  return el('div', {class: 'scroll-x'}, el('table', {class: 'data'},
    el('caption', null, rows.length > maxChanges ?
      `The ${maxChanges} largest changes of ${number(rows.length)} functions. ${sharesText}` : rows.length > 0 ? sharesText :
        view.onlySignificant ? 'No function changed significantly.' : 'No function has a value.'),
    rows.length === 0 ? null : el('thead', null, headRow('function', true)), el('tbody', null, body)));
}

/** @param {Store} store @returns {Map<string, number>} */
function functionsByName(store) {
  const byName = new Map();
  for (let i = store.trace.functions.rows - 1; i >= 0; i--) byName.set(store.trace.functionName(i), i);
  return byName;
}

/**
 * @param {string} first
 * @param {boolean} functions whether the table lists functions, with their share and the verdict
 */
function headRow(first, functions) {
  const numbers = ['change', 'relative', ...(functions ? ['share'] : []), 'before', 'after', '95% margin'];
  /** @param {string} name */
  const title = (name) => (name === 'share' ? 'Change of the share of the total, in percentage points' : null);
  return el('tr', null, el('th', {scope: 'col'}, first),
    numbers.map((name) => el('th', {scope: 'col', class: 'number', title: title(name)}, name)),
    functions ? el('th', {scope: 'col'}, 'verdict') : null);
}

/**
 * @param {Section} section
 * @param {Store} store
 * @param {() => void} reveal
 */
function sectionTable(section, store, reveal) {
  const patchOf = subjectLinks(store.trace, section.name);
  const rows = section.rows.slice(0, maxChanges * 5).map((row) => {
    const patch = patchOf(row.name);
    return changeRow(visible(row.name), changeCells(row, row.unit), 'Select the samples of this type', patch && (() => {
      store.set(patch);
      reveal();
    }));
  });
  return el('details', null, el('summary', null, section.name + ' · ' + section.rows.length),
    el('div', {class: 'scroll-x'}, el('table', {class: 'data'}, el('thead', null, headRow('name', false)),
      el('tbody', null, rows))));
}

/**
 * CreateCompare adds the comparison to the page.
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {Difference | null} diff
 * @param {() => void} reveal scrolls to the flame graph
 */
export function createCompare(root, store, diff, reveal) {
  if (!store.before) return;
  root.hidden = false;
  if (!diff) {
    replace(root, el('h2', null, 'Comparison'), el('p', {class: 'quiet'}, missingText(store)));
    return;
  }
  /** @type {{member: Member, onlySignificant: boolean}} */
  const view = {member: 'total', onlySignificant: diff.significant_functions > 0};
  const table = el('div');
  /** @param {Member} member @param {string} text @param {string} title */
  const memberButton = (member, text, title) => button(text, () => {
    view.member = member;
    draw();
  }, {title, data: {member}});
  const members = [memberButton('self', 'Self', 'Values of functions themselves'),
    memberButton('total', 'With callees', 'Values of functions with what they call')];
  const significant = button('Only significant', () => {
    view.onlySignificant = !view.onlySignificant;
    draw();
  });
  const draw = () => {
    for (const b of members) b.setAttribute('aria-pressed', String(b.dataset.member === view.member));
    significant.setAttribute('aria-pressed', String(view.onlySignificant));
    replace(table, functionTable(diff, store, view, reveal));
  };
  draw();
  const note = el('p', {class: 'quiet', hidden: true},
    'The comparison is that of the whole recordings: the selection of a part applies to AFTER, in the other views.');
  store.subscribe((state) => {
    note.hidden = !isPartial(state);
  });
  replace(root, el('h2', null, 'Comparison'), el('p', null, verdictSentence(diff)), note, el('div', {class: 'tools'},
    el('div', {class: 'segments', role: 'group', 'aria-label': 'Values'}, members), significant), table,
  diff.sections.map((section) => sectionTable(section, store, reveal)));
}

/** @param {Store} store */
export function missingText(store) {
  const {trace, before} = store;
  const names = trace.kinds.map((kind) => kind.name).filter((name) => before?.kinds.some((k) => k.name === name));
  if (names.length === 0) return 'The recordings have no kind of samples in common, so they cannot be compared.';
  return `Both recordings have samples of ${list(names)}. The flame graph shows more than before in red and less in ` +
    'blue. ntconv diff prints what is significant.';
}
