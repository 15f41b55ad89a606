// Values per function and per stack: flat, cumulative, and the share of stacks with a match.
import {functionOf} from './stacks.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./stacks.js').Group} Group */

/** @type {WeakMap<Trace, Uint8Array>} */
const repeatedNodes = new WeakMap();

/**
 * Repeated marks nodes whose function is also the function of an ancestor, so that the cumulative value of a recursive
 * function counts each sample once.
 * @param {Trace} trace
 * @returns {Uint8Array}
 */
function repeated(trace) {
  let marks = repeatedNodes.get(trace);
  if (!marks) {
    marks = markRepeated(trace);
    repeatedNodes.set(trace, marks);
  }
  return marks;
}

/**
 * @param {Trace} trace
 * @returns {Uint8Array}
 */
function markRepeated(trace) {
  const {rows, parent} = trace.nodes;
  const firstChild = new Int32Array(rows + 1).fill(-1), sibling = new Int32Array(rows).fill(-1);
  for (let i = rows - 1; i >= 0; i--) {
    const p = parent[i] < 0 ? rows : parent[i];
    sibling[i] = firstChild[p];
    firstChild[p] = i;
  }
  const open = new Int32Array(trace.functions.rows + 1), marks = new Uint8Array(rows);
  for (let i = firstChild[rows]; i >= 0;) {
    const f = functionOf(trace, i) + 1;
    marks[i] = f > 0 && open[f] > 0 ? 1 : 0;
    open[f]++;
    if (firstChild[i] >= 0) {
      i = firstChild[i];
      continue;
    }
    let at = i;
    open[functionOf(trace, at) + 1]--;
    while (at >= 0 && sibling[at] < 0) {
      at = parent[at];
      if (at >= 0) open[functionOf(trace, at) + 1]--;
    }
    i = at < 0 ? -1 : sibling[at];
  }
  return marks;
}

/**
 * FlatTotals returns the flat value of each function, and the value of all samples.
 * @param {Trace} trace
 * @param {Group[]} groups
 * @param {(node: number) => boolean} [keep] the nodes that are shown: others are folded into their callers. Default: all
 * @returns {{flat: Float64Array, total: number}}
 */
export function flatTotals(trace, groups, keep = () => true) {
  const flat = new Float64Array(trace.functions.rows);
  let total = 0;
  for (const group of groups) {
    total += group.none;
    group.nodes.forEach((node, i) => {
      total += group.weights[i];
      let at = node;
      while (at >= 0 && !keep(at)) at = trace.nodes.parent[at];
      const f = at < 0 ? -1 : functionOf(trace, at);
      if (f >= 0) flat[f] += group.weights[i];
    });
  }
  return {flat, total};
}

/**
 * FunctionTotals returns the flat and the cumulative value of each function, and the value of all samples.
 * @param {Trace} trace
 * @param {Group[]} groups
 * @returns {{flat: Float64Array, cumulative: Float64Array, total: number}}
 */
export function functionTotals(trace, groups) {
  const {rows, parent} = trace.nodes, {flat, total} = flatTotals(trace, groups);
  const cumulative = new Float64Array(trace.functions.rows), sums = new Float64Array(rows);
  for (const group of groups) {
    group.nodes.forEach((node, i) => {
      sums[node] += group.weights[i];
    });
  }
  const again = repeated(trace);
  for (let i = rows - 1; i >= 0; i--) {
    if (sums[i] === 0) continue;
    const f = functionOf(trace, i);
    if (f >= 0 && !again[i]) cumulative[f] += sums[i];
    if (parent[i] >= 0) sums[parent[i]] += sums[i];
  }
  return {flat, cumulative, total};
}

/**
 * MatchTotal returns the value of the samples whose stack has a matching function, counted once each.
 * @param {Trace} trace
 * @param {Group[]} groups
 * @param {(id: number) => boolean} matches whether a function matches
 * @returns {number}
 */
export function matchTotal(trace, groups, matches) {
  const {rows, parent} = trace.nodes;
  const has = new Uint8Array(rows);
  for (let i = 0; i < rows; i++) {
    const f = functionOf(trace, i);
    if ((parent[i] >= 0 && has[parent[i]]) || (f >= 0 && matches(f))) has[i] = 1;
  }
  let sum = 0;
  for (const group of groups) {
    group.nodes.forEach((node, i) => {
      if (has[node]) sum += group.weights[i];
    });
  }
  return sum;
}

/** @type {WeakMap<import('./tree.js').Names, string[]>} */
const lowerNames = new WeakMap();

/**
 * @param {import('./tree.js').Names} names
 * @param {number} functions
 */
function lowerTexts(names, functions) {
  let texts = lowerNames.get(names);
  if (!texts) {
    texts = Array.from({length: functions}, (_, i) => (names.module(i) + '!' + names.name(i)).toLowerCase());
    lowerNames.set(names, texts);
  }
  return texts;
}

/** @typedef {{matches: Uint8Array, count: number, expression: boolean, error: string}} Search */

/**
 * SearchNames marks the functions whose name, or module!name, matches a search: as text, or as regular expression if no
 * name contains the text. Case is ignored.
 * @param {import('./tree.js').Names} names
 * @param {number} functions number of functions
 * @param {string} search
 * @returns {Search}
 */
export function searchNames(names, functions, search) {
  const matches = new Uint8Array(functions);
  if (search === '') return {matches, count: 0, expression: false, error: ''};
  const lower = search.toLowerCase(), texts = lowerTexts(names, functions);
  let n = mark(matches, (i) => texts[i].includes(lower));
  if (n > 0) return {matches, count: n, expression: false, error: ''};
  try {
    const expression = new RegExp(search, 'iu');
    n = mark(matches, (i) => expression.test(names.name(i)) || expression.test(names.module(i) + '!' + names.name(i)));
    return {matches, count: n, expression: true, error: ''};
  } catch {
    return {matches, count: 0, expression: false, error: 'no name contains this text'};
  }
}

/**
 * @param {Uint8Array} matches
 * @param {(i: number) => boolean} test
 */
function mark(matches, test) {
  let n = 0;
  for (let i = 0; i < matches.length; i++) if (test(i)) n += matches[i] = 1;
  return n;
}
