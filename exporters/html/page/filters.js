// The bar with the selection that all parts of the page share: kind, process, thread, type, and what else is selected.
import {button, coalesced, el, replace, select} from './dom.js';
import {isPartial} from './joint.js';
import {withoutMethod} from './model.js';
import {selected, valueOf} from './selection.js';
import {count, duration, exactTime, percent, quantity} from './units.js';

/** @typedef {import('./model.js').Store} Store */
/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').State} State */

const maxChoices = 500;

/**
 * @param {Trace} trace
 * @param {Store} store
 */
function kindSelect(trace, store) {
  return select('Kind', trace.kinds.map((kind) => [String(kind.index),
    kind.name + ' · ' + count(kind.samples.rows, kind.one || 'sample', kind.many)]),
  String(store.state.kind), (value) => store.set({kind: Number(value)}));
}

/**
 * @param {Trace} trace
 * @param {Store} store
 */
function valueSelect(trace, store) {
  const values = trace.kinds[store.state.kind]?.values ?? [];
  if (values.length < 2) return null;
  return select('Value', values.map((value, i) => [String(i), value.type]), String(store.state.value),
    (value) => store.set({value: Number(value)}));
}

/**
 * @param {string} label
 * @param {number} rows
 * @param {(i: number) => string} name
 * @param {number} value
 * @param {(value: number) => void} change
 */
function rowSelect(label, rows, name, value, change) {
  if (rows < 2) return null;
  /** @type {[string, string][]} */
  const options = [['-1', 'all ' + label]];
  for (let i = 0; i < Math.min(rows, maxChoices); i++) options.push([String(i), name(i).slice(0, 80)]);
  if (value >= maxChoices) options.push([String(value), name(value).slice(0, 80)]);
  return select(label, options, String(value), (v) => change(Number(v)));
}

/** @type {WeakMap<Float64Array, Map<number, number>>} */
const knownSums = new WeakMap();

/**
 * SubjectSums adds up the values of each type, once per column of values.
 * @param {Int32Array} subjects
 * @param {Float64Array} values
 */
function subjectSums(subjects, values) {
  let sums = knownSums.get(values);
  if (!sums) {
    sums = new Map();
    for (let i = 0; i < subjects.length; i++) {
      if (subjects[i] > 0) sums.set(subjects[i], (sums.get(subjects[i]) ?? 0) + values[i]);
    }
    knownSums.set(values, sums);
  }
  return sums;
}

/**
 * SubjectSelect lists the types of a kind that have the largest values.
 * @param {Trace} trace
 * @param {Store} store
 */
function subjectSelect(trace, store) {
  const kind = trace.kinds[store.state.kind];
  if (!kind) return null;
  const sums = subjectSums(kind.samples.subject, valueOf(trace, store.state).values);
  if (sums.size < 2) return null;
  const sorted = [...sums].sort((a, b) => b[1] - a[1]).slice(0, maxChoices);
  const names = sorted.map(([subject]) => trace.str(subject));
  const {subject: current} = store.state;
  if (current !== '' && !names.includes(current)) names.push(current);
  /** @type {[string, string][]} */
  const options = names.map((name) => [name, name.slice(0, 80)]);
  return select('type', [['', 'all types'], ...options], current, (value) => store.set({subject: value}));
}

/**
 * Chips returns what is selected and has no list, each with a button that removes it.
 * @param {Trace} trace
 * @param {Store} store
 */
function chips(trace, store) {
  const {state} = store;
  /** @type {[string, Partial<State>][]} */
  const out = [];
  if (state.from !== null || state.to !== null) {
    const from = state.from ?? trace.begin, to = state.to ?? trace.end;
    out.push([`${exactTimeRange(from, to)} (${duration(to - from)})`, {from: null, to: null}]);
  }
  if (state.span >= 0) out.push(['span ' + trace.spanName(state.span).slice(0, 80), {span: -1}]);
  if (state.method >= 0) {
    out.push(['method ' + trace.functionName(state.method).slice(0, 80), withoutMethod(state)]);
  }
  if (state.module !== '') out.push(['module ' + state.module.slice(0, 80), {module: ''}]);
  return out.map(([text, patch]) => button(text + ' ×', () => store.set(patch), {class: 'chip', title: 'Remove: ' + text}));
}

/**
 * @param {number} from
 * @param {number} to
 */
function exactTimeRange(from, to) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, to - from))) - 2);
  return exactTime(Math.round(from / unit) * unit) + ' to ' + exactTime(Math.round(to / unit) * unit);
}

/**
 * Summary states the value of the selection, and in a comparison that a selection of a part applies to one recording.
 * @param {Trace} trace
 * @param {State} state
 * @param {boolean} compared
 */
function summary(trace, state, compared) {
  const kind = trace.kinds[state.kind];
  if (!kind) return '';
  const rows = selected(trace, state), {values, unit} = valueOf(trace, state);
  let sum = 0, all = 0, samples = 0;
  for (const row of rows) {
    sum += values[row];
    samples += kind.samples.count[row];
  }
  for (const value of kind.samples.values[state.value] ?? []) all += value;
  return `${quantity(sum, unit)} in ${count(samples, kind.one || 'sample', kind.many)}` +
    (sum !== all ? ` (${percent(sum, all)} of ${quantity(all, unit)})` : '') + estimateText(kind, state) +
    (compared && isPartial(state) ? ', of AFTER' : '');
}

/**
 * KindText explains the name of a kind.
 * @param {import('./model.js').Kind | undefined} kind
 */
export function kindText(kind) {
  return kind && kind.doc !== '' ? kind.name + ': ' + kind.doc : '';
}

/**
 * EstimateText states that values are estimates, and the standard error of their total.
 * @param {import('./model.js').Kind} kind
 * @param {State} state
 */
export function estimateText(kind, state) {
  const error = kind.values[state.value]?.error ?? 0;
  return !kind.estimated ? '' : error > 0 ? `, estimated (standard error of the total: ${percent(error, 1)})` : ', estimated';
}

/**
 * RowsToSelect returns how many processes and threads can be selected: none if nothing on the page belongs to one.
 * @param {Trace} trace
 */
function rowsToSelect(trace) {
  const {intervals, spans, kinds} = trace;
  const used = intervals.rows > 0 || spans.rows > 0 || kinds.some((kind) => kind.samples.rows > 0);
  return {processes: used ? trace.processes.rows : 0, threads: used ? trace.threads.rows : 0};
}

/**
 * Everything is the patch that removes the selection. Hidden waits stay hidden: that is how a kind is shown, such as my code.
 * @type {Partial<State>}
 */
export const everything = {from: null, to: null, process: -1, thread: -1, span: -1, subject: '', method: -1, module: '',
  search: ''};

/**
 * CreateFilters adds the bar to the page.
 * @param {HTMLElement} root
 * @param {Store} store
 */
export function createFilters(root, store) {
  const {trace} = store;
  const draw = coalesced(() => {
    const {state} = store;
    const focused = document.activeElement instanceof HTMLSelectElement ? document.activeElement.title : '';
    const isAll = Object.entries(everything).every(([name, value]) => state[/** @type {keyof State} */ (name)] === value);
    const {processes, threads} = rowsToSelect(trace);
    const parts = [trace.kinds.length > 0 ? kindSelect(trace, store) : null, valueSelect(trace, store),
      rowSelect('processes', processes, (i) => trace.processName(i), state.process,
        (process) => store.set({process})),
      rowSelect('threads', threads, (i) => trace.threadName(i), state.thread, (thread) => store.set({thread})),
      subjectSelect(trace, store), ...chips(trace, store)];
    root.hidden = isAll && parts.every((part) => part === null); // Without samples there may be nothing to choose.
    replace(root, el('div', {class: 'tools'}, parts,
      el('span', {class: 'summary', 'aria-live': 'polite'}, summary(trace, state, store.before !== null)),
      el('span', {class: 'summary'}, kindText(trace.kinds[state.kind])),
      isAll ? null : button('Select all', () => store.set(everything), {title: 'Remove the selection (r)'})));
    const again = [...root.querySelectorAll('select')].find((list) => list.title === focused);
    again?.focus();
  });
  store.subscribe((_, changed) => {
    if (!(changed.size === 1 && (changed.has('theme') || changed.has('search')))) draw();
  });
  draw();
}
