// Trees of functions: by call, inverted, and the callers and callees of one function. All sums are exact: each selected
// sample counts once in the root. Children are built when they are first used, so that a picture costs what it shows.
import {functionOf, stacksOf} from './stacks.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./stacks.js').Group} Group */
/** @typedef {import('./stacks.js').Stacks} Stacks */
/**
 * Source is one recording of a tree. Ids maps its functions to the functions of the tree, or is null if they are the
 * same. Scale multiplies its values.
 * @typedef {{trace: Trace, groups: Group[], ids: Int32Array | null, scale: number}} Source
 */
/** @typedef {{name: (id: number) => string, module: (id: number) => string}} Names */
/** @typedef {{label?: string, towers?: boolean, mine?: boolean}} TreeOptions */

const noStack = 'no stack';
const notMine = 'not my code';

/** Tree is a tree of functions with values. Node 0 is the root. */
export class Tree {
  /**
   * @param {Names} names
   * @param {string} label of the root
   * @param {number} sources number of recordings, 1 or 2
   */
  constructor(names, label, sources) {
    this.names = names;
    this.labels = [label];
    /** @type {number[]} index of a function, or -1 - index of a label */
    this.id = [-1];
    this.parent = [-1];
    this.depth = [0];
    /** @type {number[][]} per recording */
    this.totals = Array.from({length: sources}, () => [0]);
    /** @type {number[][]} per recording; complete once the children of a node are built */
    this.selfs = Array.from({length: sources}, () => [0]);
    /** @type {(number[] | undefined)[]} */
    this.lists = [undefined];
    /** @type {(Map<number, number> | undefined)[]} nodes by ID, per parent */
    this.byId = [undefined];
    /** @type {Map<number, (() => void)[]>} what builds the children of a node */
    this.pending = new Map();
  }

  get total() {
    return this.totals[0];
  }

  get self() {
    return this.selfs[0];
  }

  get size() {
    return this.id.length;
  }

  /**
   * Child returns the child of a node with an ID, which it adds if necessary.
   * @param {number} parent
   * @param {number} id
   * @returns {number}
   */
  child(parent, id) {
    const siblings = (this.byId[parent] ??= new Map());
    const known = siblings.get(id);
    if (known !== undefined) return known;
    const node = this.id.length;
    siblings.set(id, node);
    this.id.push(id);
    this.parent.push(parent);
    this.depth.push(this.depth[parent] + 1);
    for (let s = 0; s < this.totals.length; s++) {
      this.totals[s].push(0);
      this.selfs[s].push(0);
    }
    this.lists.push(undefined);
    this.byId.push(undefined);
    return node;
  }

  /**
   * Label returns the child of a node with a text in place of a function.
   * @param {number} parent
   * @param {string} text
   */
  label(parent, text) {
    let index = this.labels.indexOf(text, 1);
    if (index < 0) index = this.labels.push(text) - 1;
    return this.child(parent, -1 - index);
  }

  /**
   * Later sets what adds children to a node when they are first used.
   * @param {number} node
   * @param {() => void} build
   */
  later(node, build) {
    const builds = this.pending.get(node);
    if (builds) builds.push(build);
    else this.pending.set(node, [build]);
  }

  /**
   * Children returns the children of a node, the largest first.
   * @param {number} node
   * @returns {number[]}
   */
  children(node) {
    let list = this.lists[node];
    if (list) return list;
    const builds = this.pending.get(node);
    this.pending.delete(node);
    for (const build of builds ?? []) build();
    list = [...(this.byId[node]?.values() ?? [])];
    const [a, b] = this.totals;
    list.sort((x, y) => a[y] - a[x] || (b ? b[y] - b[x] : 0) || this.id[x] - this.id[y]);
    this.lists[node] = list;
    this.byId[node] = undefined;
    return list;
  }

  /** @param {number} node */
  name(node) {
    const id = this.id[node];
    return id < 0 ? this.labels[-1 - id] : this.names.name(id);
  }

  /** @param {number} node */
  module(node) {
    const id = this.id[node];
    return id < 0 ? '' : this.names.module(id);
  }

  /**
   * Path returns the nodes from the root to a node.
   * @param {number} node
   * @returns {number[]}
   */
  path(node) {
    const out = [];
    for (let i = node; i >= 0; i = this.parent[i]) out.push(i);
    return out.reverse();
  }

  /**
   * Add adds a value to a node itself and to its total.
   * @param {number} s
   * @param {number} node
   * @param {number} value
   */
  add(s, node, value) {
    this.totals[s][node] += value;
    this.selfs[s][node] += value;
  }
}

/**
 * NamesOf returns the functions of a recording as names of a tree.
 * @param {Trace} trace
 * @returns {Names}
 */
export function namesOf(trace) {
  return {name: (id) => trace.functionName(id), module: (id) => trace.str(trace.functions.module[id])};
}

/**
 * Keeps returns a test of the nodes that a tree has. Other nodes are folded into their callers.
 * @param {Trace} trace
 * @param {boolean} mine
 * @param {number} [always] a function that is kept in any case
 * @returns {(node: number) => boolean}
 */
export function keeps(trace, mine, always = -1) {
  const {frame} = trace.nodes, {mine: own, function: functions} = trace.frames;
  /** @param {number} node */
  const known = (node) => frame[node] >= 0 && functions[frame[node]] >= 0;
  if (!mine) return known;
  return (node) => known(node) && (own[frame[node]] !== 0 || functions[frame[node]] === always);
}

/**
 * AddTowers calls add for each group of each recording, with the node that is the root of its stacks. The totals of
 * these nodes are complete afterwards.
 * @param {Tree} tree
 * @param {Source[]} sources
 * @param {TreeOptions} options
 * @param {(s: number, group: Group, root: number) => void} add
 */
function addTowers(tree, sources, options, add) {
  sources.forEach((source, s) => {
    for (const group of source.groups) {
      const root = options.towers ? tree.label(0, group.label) : 0;
      let sum = group.none * source.scale;
      for (const weight of group.weights) sum += weight * source.scale;
      if (group.none !== 0) tree.add(s, tree.label(root, noStack), group.none * source.scale);
      for (let i = root; i >= 0; i = tree.parent[i]) tree.totals[s][i] += sum;
      add(s, group, root);
    }
  });
}

/** Callees adds the callees of stacks to a tree. */
class Callees {
  /**
   * @param {Tree} tree
   * @param {number} s
   * @param {Source} source
   * @param {Stacks} stacks
   * @param {(node: number) => boolean} keep
   */
  constructor(tree, s, source, stacks, keep) {
    this.tree = tree;
    this.s = s;
    this.source = source;
    this.stacks = stacks;
    this.keep = keep;
  }

  /**
   * Below adds the callees of rows of the stacks as children of a node.
   * @param {number} node
   * @param {number[]} firsts the first callee of each row
   * @param {number} folded the node to which the values of folded rows belong
   */
  below(node, firsts, folded) {
    const {tree, s, stacks, source} = this;
    /** @type {Map<number, number[]>} first callees by child */
    const found = new Map();
    const open = firsts.filter((first) => first >= 0);
    for (let row = open.pop(); row !== undefined; row = open.pop()) {
      if (stacks.sibling[row] >= 0) open.push(stacks.sibling[row]);
      const at = stacks.nodes[row];
      if (!this.keep(at)) {
        this.fold(node, folded, stacks.self[row]);
        if (stacks.firstChild[row] >= 0) open.push(stacks.firstChild[row]);
        continue;
      }
      const id = functionOf(source.trace, at);
      const child = tree.child(node, source.ids ? source.ids[id] : id);
      tree.totals[s][child] += stacks.sums[row];
      tree.selfs[s][child] += stacks.self[row];
      const list = found.get(child);
      if (list) list.push(stacks.firstChild[row]);
      else found.set(child, [stacks.firstChild[row]]);
    }
    for (const [child, list] of found) tree.later(child, () => this.below(child, list, child));
  }

  /**
   * @param {number} node
   * @param {number} folded
   * @param {number} value
   */
  fold(node, folded, value) {
    if (value === 0) return;
    if (folded === node) this.tree.selfs[this.s][node] += value;
    else this.tree.add(this.s, this.tree.label(node, notMine), value);
  }
}

/**
 * CallTree builds the tree of callers and callees, outermost function first.
 * @param {Names} names
 * @param {Source[]} sources
 * @param {TreeOptions} options
 * @returns {Tree}
 */
export function callTree(names, sources, options) {
  const tree = new Tree(names, options.label ?? 'all', sources.length);
  const keep = sources.map((source) => keeps(source.trace, options.mine ?? false));
  addTowers(tree, sources, options, (s, group, root) => tree.later(root, () => {
    const stacks = stacksOf(sources[s].trace, group, sources[s].scale);
    new Callees(tree, s, sources[s], stacks, keep[s]).below(root, [stacks.firstRoot], -1);
  }));
  return tree;
}

/** Cursors are the nodes at which stacks continue upward, and their values. */
class Cursors {
  constructor() {
    /** @type {number[]} */
    this.nodes = [];
    /** @type {number[]} */
    this.values = [];
  }

  /**
   * @param {number} node
   * @param {number} value
   */
  push(node, value) {
    this.nodes.push(node);
    this.values.push(value);
  }
}

/** Callers adds the callers of stacks to a tree. */
class Callers {
  /**
   * @param {Tree} tree
   * @param {number} s
   * @param {Source} source
   * @param {(node: number) => boolean} keep
   */
  constructor(tree, s, source, keep) {
    this.tree = tree;
    this.s = s;
    this.source = source;
    this.keep = keep;
  }

  /**
   * Above adds the functions at cursors as children of a node.
   * @param {number} node
   * @param {ArrayLike<number>} cursors
   * @param {ArrayLike<number>} values
   * @param {number} rest the node to which the values of stacks without a further caller belong
   */
  above(node, cursors, values, rest) {
    const {tree, s, source} = this, {trace, ids} = source, {parent} = trace.nodes;
    /** @type {Map<number, Cursors>} */
    const found = new Map();
    for (let i = 0; i < cursors.length; i++) {
      let at = cursors[i];
      while (at >= 0 && !this.keep(at)) at = parent[at];
      if (at < 0) {
        if (rest === node) tree.selfs[s][node] += values[i];
        else tree.add(s, tree.label(node, notMine), values[i]);
        continue;
      }
      const id = functionOf(trace, at), child = tree.child(node, ids ? ids[id] : id);
      tree.totals[s][child] += values[i];
      let next = found.get(child);
      if (!next) found.set(child, next = new Cursors());
      next.push(parent[at], values[i]);
    }
    for (const [child, next] of found) tree.later(child, () => this.above(child, next.nodes, next.values, child));
  }
}

/**
 * CallerTree builds the inverted tree: the functions with flat values, and below them their callers.
 * @param {Names} names
 * @param {Source[]} sources
 * @param {TreeOptions} options
 * @returns {Tree}
 */
export function callerTree(names, sources, options) {
  const tree = new Tree(names, options.label ?? 'all', sources.length);
  const callers = sources.map((source, s) => new Callers(tree, s, source, keeps(source.trace, options.mine ?? false)));
  addTowers(tree, sources, options, (s, group, root) => tree.later(root, () => {
    const {scale} = sources[s];
    callers[s].above(root, group.nodes, scale === 1 ? group.weights : group.weights.map((w) => w * scale), -1);
  }));
  return tree;
}

/**
 * Sandwich builds the callers and the callees of a function. Both roots have its cumulative value: a stack in which
 * the function is its own caller counts once, at the outermost call.
 * @param {Names} names
 * @param {Source[]} sources
 * @param {number} id of the function in the tree
 * @param {TreeOptions} options
 * @returns {{callers: Tree, callees: Tree}}
 */
export function sandwich(names, sources, id, options) {
  const callees = new Tree(names, names.name(id), sources.length);
  const callers = new Tree(names, names.name(id), sources.length);
  sources.forEach((source, s) => {
    const method = source.ids ? source.ids.indexOf(id) : id, keep = keeps(source.trace, options.mine ?? false, method);
    for (const group of source.groups) {
      const stacks = stacksOf(source.trace, group, source.scale);
      const rows = outermostCalls(source.trace, stacks, method), above = new Cursors();
      for (const row of rows) {
        above.push(source.trace.nodes.parent[stacks.nodes[row]], stacks.sums[row]);
        callees.totals[s][0] += stacks.sums[row];
        callees.selfs[s][0] += stacks.self[row];
        callers.totals[s][0] += stacks.sums[row];
      }
      const firsts = rows.map((row) => stacks.firstChild[row]);
      callees.later(0, () => new Callees(callees, s, source, stacks, keep).below(0, firsts, 0));
      callers.later(0, () => new Callers(callers, s, source, keep).above(0, above.nodes, above.values, 0));
    }
  });
  return {callers, callees};
}

/**
 * OutermostCalls returns the rows of stacks that call a function which is not their caller already.
 * @param {Trace} trace
 * @param {Stacks} stacks
 * @param {number} method
 * @returns {number[]}
 */
function outermostCalls(trace, stacks, method) {
  const out = [], open = [stacks.firstRoot];
  for (let row = open.pop(); row !== undefined; row = open.pop()) {
    if (row < 0) continue;
    open.push(stacks.sibling[row]);
    if (method >= 0 && functionOf(trace, stacks.nodes[row]) === method) out.push(row);
    else open.push(stacks.firstChild[row]);
  }
  return out;
}
