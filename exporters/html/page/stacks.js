// Selected samples added up by stack: the input of all trees.
import {selected, valueOf} from './selection.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').State} State */
/**
 * Group holds the selected samples of one tower, added up by node. None is the value of samples without a stack.
 * @typedef {{label: string, nodes: Int32Array, weights: Float64Array, none: number}} Group
 */

/** @type {WeakMap<Int32Array, Map<string, Group[]>>} groups of selected samples, by value: several views use them */
const grouped = new WeakMap();

/**
 * GroupSamples adds up samples by node: in one group, or in one per thread. The result is shared: do not change it.
 * @param {Trace} trace
 * @param {State} state
 * @param {boolean} [towers]
 * @returns {Group[]}
 */
export function groupSamples(trace, state, towers = false) {
  const kind = trace.kinds[state.kind];
  if (!kind) return [];
  const rows = selected(trace, state), key = state.value + (towers ? ' by thread' : '');
  let known = grouped.get(rows);
  if (!known) grouped.set(rows, known = new Map());
  let groups = known.get(key);
  if (!groups) known.set(key, groups = addUpGroups(trace, state, kind, rows, towers));
  return groups;
}

/**
 * @param {Trace} trace
 * @param {State} state
 * @param {import('./model.js').Kind} kind
 * @param {Int32Array} rows
 * @param {boolean} towers
 * @returns {Group[]}
 */
function addUpGroups(trace, state, kind, rows, towers) {
  const {values} = valueOf(trace, state);
  if (!towers) return [addUpSamples(trace, 'all', rows, kind.samples.node, values)];
  /** @type {Map<number, number[]>} */
  const byThread = new Map();
  for (const row of rows) {
    const thread = kind.samples.thread[row], list = byThread.get(thread);
    if (list) list.push(row);
    else byThread.set(thread, [row]);
  }
  return [...byThread].map(([thread, list]) =>
    addUpSamples(trace, trace.threadName(thread), list, kind.samples.node, values));
}

/**
 * GroupTotal returns the sum of the values of groups.
 * @param {Group[]} groups
 * @returns {number}
 */
export function groupTotal(groups) {
  let sum = 0;
  for (const group of groups) {
    sum += group.none;
    for (const weight of group.weights) sum += weight;
  }
  return sum;
}

/**
 * @param {Trace} trace
 * @param {string} label
 * @param {ArrayLike<number>} rows
 * @param {Int32Array} node
 * @param {Float64Array} values
 * @returns {Group}
 */
function addUpSamples(trace, label, rows, node, values) {
  const {weightOf, position} = scratch(trace);
  const nodes = new Int32Array(rows.length);
  let n = 0, none = 0;
  for (let i = 0; i < rows.length; i++) {
    const at = node[rows[i]];
    if (at < 0 || at >= position.length) {
      none += values[rows[i]];
      continue;
    }
    if (position[at] < 0) {
      position[at] = n;
      nodes[n++] = at;
    }
    weightOf[at] += values[rows[i]];
  }
  const used = nodes.slice(0, n).sort(), weights = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    weights[i] = weightOf[used[i]];
    weightOf[used[i]] = 0;
    position[used[i]] = -1;
  }
  return {label, nodes: used, weights, none};
}

/** @type {WeakMap<Trace, {weightOf: Float64Array, position: Int32Array}>} */
const scratches = new WeakMap();

/**
 * Scratch returns columns with a value per node: zeros, and -1. Their user restores them.
 * @param {Trace} trace
 */
function scratch(trace) {
  let columns = scratches.get(trace);
  if (!columns) {
    const {rows} = trace.nodes;
    columns = {weightOf: new Float64Array(rows), position: new Int32Array(rows).fill(-1)};
    scratches.set(trace, columns);
  }
  return columns;
}

/**
 * FunctionOf returns the function of a node, or -1.
 * @param {Trace} trace
 * @param {number} node
 */
export function functionOf(trace, node) {
  const frame = trace.nodes.frame[node];
  return frame < 0 ? -1 : trace.frames.function[frame];
}

/**
 * Stacks is the part of the prefix tree of a recording that has values. Its rows are the nodes of a group and their
 * ancestors, in the order of the nodes: a row follows its parent.
 * @typedef {{nodes: Int32Array, self: Float64Array, sums: Float64Array, firstChild: Int32Array, sibling: Int32Array,
 *   firstRoot: number}} Stacks
 */

/**
 * StacksOf builds the stacks of a group.
 * @param {Trace} trace
 * @param {Group} group
 * @param {number} scale factor of all values
 * @returns {Stacks}
 */
export function stacksOf(trace, group, scale) {
  const {parent} = trace.nodes, {position} = scratch(trace);
  /** @type {number[]} */
  const used = [];
  for (const leaf of group.nodes) {
    for (let node = leaf; node >= 0 && position[node] < 0; node = parent[node]) {
      position[node] = 0;
      used.push(node);
    }
  }
  const nodes = Int32Array.from(used).sort(), n = nodes.length;
  const self = new Float64Array(n), firstChild = new Int32Array(n).fill(-1), sibling = new Int32Array(n).fill(-1);
  for (let i = 0; i < n; i++) position[nodes[i]] = i;
  group.nodes.forEach((node, i) => {
    self[position[node]] += group.weights[i] * scale;
  });
  const sums = self.slice();
  let firstRoot = -1;
  for (let i = n - 1; i >= 0; i--) {
    const caller = parent[nodes[i]], p = caller < 0 ? -1 : position[caller];
    if (p < 0) {
      sibling[i] = firstRoot;
      firstRoot = i;
    } else {
      sums[p] += sums[i];
      sibling[i] = firstChild[p];
      firstChild[p] = i;
    }
  }
  for (let i = 0; i < n; i++) position[nodes[i]] = -1;
  return {nodes, self, sums, firstChild, sibling, firstRoot};
}
