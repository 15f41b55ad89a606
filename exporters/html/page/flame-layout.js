// Layout of a flame graph: which boxes a part of a tree has on the screen. Boxes narrower than a limit are merged with
// their neighbors, so that the boxes of a row always add up.

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {{from: number, to: number}} View fractions of the root */

export const frameHeight = 18;
const maxDepth = 4000;

/**
 * Layout holds boxes, row by row from the root, in each row from left to right. Merged is 0 for one node, or else the
 * number of nodes in the box.
 */
export class Layout {
  constructor() {
    /** @type {number[]} the node, or the parent of merged nodes */
    this.node = [];
    /** @type {number[]} */
    this.x = [];
    /** @type {number[]} */
    this.width = [];
    /** @type {number[]} */
    this.merged = [];
    /** @type {number[]} */
    this.value = [];
    /** @type {number[]} index of the first box of each row, and the number of boxes */
    this.rowStart = [];
  }

  get rows() {
    return this.rowStart.length - 1;
  }

  /**
   * At returns the index of the box at a position, or -1.
   * @param {number} row
   * @param {number} x
   */
  at(row, x) {
    if (row < 0 || row >= this.rows) return -1;
    let low = this.rowStart[row], high = this.rowStart[row + 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.x[middle] + this.width[middle] <= x) low = middle + 1;
      else high = middle;
    }
    return low < this.rowStart[row + 1] && this.x[low] <= x ? low : -1;
  }

  /**
   * Find returns the index of the box of a node, or of the merged box that contains it, or -1.
   * @param {Tree} tree
   * @param {number} node
   */
  find(tree, node) {
    const row = tree.depth[node];
    if (row >= this.rows) return -1;
    let inMerged = -1;
    for (let i = this.rowStart[row]; i < this.rowStart[row + 1]; i++) {
      if (this.merged[i] === 0 && this.node[i] === node) return i;
      if (this.merged[i] > 0 && this.node[i] === tree.parent[node]) inMerged = i;
    }
    return inMerged;
  }
}

/**
 * LayOut computes the boxes of the part of a tree that a view shows.
 * @param {Tree} tree
 * @param {number[]} values of the nodes
 * @param {View} view
 * @param {number} width in pixels
 * @param {number} [minWidth] boxes narrower than this are merged
 * @returns {Layout}
 */
export function layOut(tree, values, view, width, minWidth = 1) {
  const out = new Layout();
  out.rowStart.push(0);
  const all = values[0];
  if (!(all > 0) || !(width > 0)) return out;
  const scale = width / (view.to - view.from) / all;
  /** @type {number[]} begins of the boxes of the row, as values */
  let begins = [0];
  addBox(out, 0, -view.from * all * scale, all * scale, 0, all);
  out.rowStart.push(1);
  while (begins.length > 0 && out.rows < maxDepth) {
    begins = addRow(out, tree, values, begins, view.from * all, scale, width, minWidth);
    if (out.node.length === out.rowStart[out.rowStart.length - 1]) break;
    out.rowStart.push(out.node.length);
  }
  return out;
}

/**
 * AddRow adds the children of the boxes of the last row, and returns their begins.
 * @param {Layout} out
 * @param {Tree} tree
 * @param {number[]} values
 * @param {number[]} begins
 * @param {number} origin
 * @param {number} scale
 * @param {number} width
 * @param {number} minWidth
 * @returns {number[]}
 */
function addRow(out, tree, values, begins, origin, scale, width, minWidth) {
  const first = out.rowStart[out.rowStart.length - 2], last = out.rowStart[out.rowStart.length - 1];
  /** @type {number[]} */
  const next = [];
  for (let b = first; b < last; b++) {
    if (out.merged[b] > 0) continue;
    const parent = out.node[b];
    let at = begins[b - first], run = 0, runBegin = at;
    /** @param {number} end */
    const flush = (end) => {
      if (run > 0 && place(out, parent, runBegin, end, run, origin, scale, width)) next.push(runBegin);
      run = 0;
    };
    for (const child of tree.children(parent)) {
      const value = values[child];
      if (!(value > 0)) continue;
      const narrow = value * scale < minWidth;
      if (narrow) {
        if (run++ === 0) runBegin = at;
      } else {
        flush(at);
        if (place(out, child, at, at + value, 0, origin, scale, width)) next.push(at);
      }
      at += value;
      if (run > 0 && (at - runBegin) * scale >= 2 * width) flush(at);
    }
    flush(at);
  }
  return next;
}

/**
 * @param {Layout} out
 * @param {number} node
 * @param {number} begin
 * @param {number} end
 * @param {number} merged
 * @param {number} origin
 * @param {number} scale
 * @param {number} width
 */
function place(out, node, begin, end, merged, origin, scale, width) {
  const x = (begin - origin) * scale, w = (end - begin) * scale;
  if (x + w <= 0 || x >= width) return false;
  addBox(out, node, x, w, merged, end - begin);
  return true;
}

/**
 * @param {Layout} out
 * @param {number} node
 * @param {number} x
 * @param {number} w
 * @param {number} merged
 * @param {number} value
 */
function addBox(out, node, x, w, merged, value) {
  out.node.push(node);
  out.x.push(x);
  out.width.push(w);
  out.merged.push(merged);
  out.value.push(value);
}

/**
 * ViewOf returns the view in which a node has the full width.
 * @param {Tree} tree
 * @param {number[]} values
 * @param {number} node
 * @returns {View}
 */
export function viewOf(tree, values, node) {
  let begin = 0;
  for (let i = node; i > 0; i = tree.parent[i]) {
    for (const sibling of tree.children(tree.parent[i])) {
      if (sibling === i) break;
      begin += Math.max(0, values[sibling]);
    }
  }
  const all = values[0] || 1;
  return {from: begin / all, to: Math.max(begin + values[node], begin + all * 1e-12) / all};
}

/**
 * ShortName returns as much of a name as fits: without parameters, then without its namespace, then truncated.
 * @param {string} name
 * @param {number} characters
 * @returns {string} empty if there is no room
 */
export function shortName(name, characters) {
  if (characters < 3) return '';
  if (name.length <= characters) return name;
  let short = name.length > 2000 ? name.slice(0, 2000) : name;
  const parenthesis = short.indexOf('(', 1);
  if (parenthesis > 0) short = short.slice(0, parenthesis);
  if (short.length <= characters) return short;
  const parts = short.split('.');
  const last = parts.slice(-2).join('.');
  if (parts.length > 2 && last.length <= characters) return last;
  const method = parts[parts.length - 1];
  if (method !== '' && method.length <= characters) return method;
  return (method || short).slice(0, characters - 1) + '…';
}
