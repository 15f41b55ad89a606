// Text about frames of a flame graph: the tooltip, the description for screen readers, stacks to copy, and the table.
import {el} from './dom.js';
import {change, count, percent, quantity} from './units.js';

/** @typedef {import('./tree.js').Tree} Tree */
/**
 * Facts are what text needs to know beyond the tree. Totals are the values of all selected samples by function. Scale
 * is the factor of the values before, scaled states it.
 * @typedef {{unit: string, type: string, widths: number, totals: () => {flat: Float64Array, cumulative: Float64Array,
 *   total: number}, place: (id: number) => string, inverted: boolean, scale: number, scaled: string}} Facts
 */

/**
 * @param {number} n
 * @param {number} of
 */
function share(n, of) {
  return of > 0 ? percent(n, of) : '0%';
}

/**
 * ValueText returns a value with its share.
 * @param {number} value
 * @param {number} of
 * @param {string} unit
 */
export function valueText(value, of, unit) {
  return quantity(value, unit) + ' (' + share(value, of) + ')';
}

/**
 * ChangeText describes how the value of a node changed, or is empty without a recording before. It states the value
 * before as it was recorded, and the factor by which the comparison scales it.
 * @param {Tree} tree
 * @param {number} node
 * @param {Pick<Facts, 'unit' | 'scale' | 'scaled'>} facts
 */
export function changeText(tree, node, facts) {
  const before = tree.totals[1]?.[node], {unit} = facts;
  if (before === undefined) return '';
  const difference = tree.total[node] - before;
  if (before === 0) return 'new; before 0';
  const recorded = 'before ' + quantity(before / facts.scale, unit) + (facts.scaled ? ', ' + facts.scaled : '');
  if (tree.total[node] === 0) return 'gone; ' + recorded;
  return `${change(difference, unit)} (${change(100 * difference / before, '%')}); ${recorded}`;
}

/**
 * Describe returns the facts about a node in one sentence.
 * @param {Tree} tree
 * @param {number} node
 * @param {Facts} facts
 */
export function describe(tree, node, facts) {
  const children = tree.children(node).length; // Also completes the value of the node itself.
  const all = tree.total[0], parts = [tree.name(node)];
  if (tree.module(node)) parts.push('module ' + tree.module(node));
  parts.push(valueText(tree.total[node], all, facts.unit));
  if (!facts.inverted && tree.id[node] >= 0) parts.push('itself ' + quantity(tree.self[node], facts.unit));
  const changed = changeText(tree, node, facts);
  if (changed) parts.push(changed);
  parts.push(children === 0 ? 'no ' + (facts.inverted ? 'callers' : 'callees') :
    count(children, facts.inverted ? 'caller' : 'callee'));
  return parts.join(', ');
}

/**
 * Tooltip returns the lines about a box below the pointer.
 * @param {Tree} tree
 * @param {{node: number, merged: number, value: number}} box
 * @param {Facts} facts
 * @returns {HTMLElement[]}
 */
export function tooltip(tree, box, facts) {
  const all = tree.totals[facts.widths][0], {unit} = facts;
  if (box.merged > 0) {
    return [el('b', null, box.merged + (box.merged === 1 ? ' narrow frame' : ' narrow frames, together')),
      el('div', null, valueText(box.value, all, unit), '; zoom to see more')];
  }
  const {node} = box, id = tree.id[node];
  tree.children(node); // Completes the value of the node itself.
  const rows = [el('b', null, shorten(tree.name(node)))];
  const place = [tree.module(node), id >= 0 ? facts.place(id) : ''].filter((text) => text !== '').join(' · ');
  if (place) rows.push(el('div', {class: 'quiet'}, shorten(place)));
  rows.push(row('here', valueText(tree.total[node], tree.total[0], unit)));
  if (!facts.inverted && id >= 0 && tree.self[node] !== tree.total[node]) {
    rows.push(row('here, itself', valueText(tree.self[node], tree.total[0], unit)));
  }
  const changed = changeText(tree, node, facts);
  if (changed) rows.push(row('change', changed));
  const {flat, cumulative, total} = facts.totals();
  if (id >= 0 && id < flat.length) {
    rows.push(row('flat', valueText(flat[id], total, unit)));
    rows.push(row('cumulative', valueText(cumulative[id], total, unit)));
  }
  return rows;
}

/**
 * @param {string} name
 * @param {string} value
 */
function row(name, value) {
  return el('div', {class: 'fact'}, el('span', {class: 'quiet'}, name), el('span', null, value));
}

/** @param {string} text */
function shorten(text) {
  return text.length > 400 ? text.slice(0, 399) + '…' : text;
}

/**
 * StackText returns the stack of a node as text, innermost function first.
 * @param {Tree} tree
 * @param {number} node
 * @param {Facts} facts
 */
export function stackText(tree, node, facts) {
  const path = tree.path(node).filter((i) => tree.id[i] >= 0 || i === 0);
  const frames = facts.inverted ? path : path.reverse();
  const lines = frames.filter((i) => tree.id[i] >= 0).map((i) => {
    const module = tree.module(i);
    return '   at ' + tree.name(i) + (module ? ' in ' + module : '');
  });
  return [`${facts.type}: ${valueText(tree.total[node], tree.total[0], facts.unit)}`, ...lines].join('\n') + '\n';
}

const maxTableRows = 400;

/**
 * FlameTable returns the frames of a tree that have a share of at least 0.5%, as table.
 * @param {Tree} tree
 * @param {Facts} facts
 * @returns {HTMLElement}
 */
export function flameTable(tree, facts) {
  const values = tree.totals[facts.widths], rows = [];
  /** @type {number[]} */
  const open = [0];
  for (let node = open.pop(); node !== undefined && rows.length < maxTableRows; node = open.pop()) {
    rows.push(tableRow(tree, node, facts));
    const children = tree.children(node).filter((child) => values[child] >= values[0] / 200);
    open.push(...children.reverse());
  }
  const head = ['level', 'function', 'module', 'total', 'share', ...(facts.inverted ? [] : ['self'])];
  if (tree.totals.length > 1) head.push('change');
  return el('table', {class: 'data'},
    el('caption', null, 'Frames with at least 0.5%, ' + (facts.inverted ?
      'innermost first. The level is the distance from the callee.' : 'outermost first. The level is the depth of the call.')),
    el('thead', null, el('tr', null, head.map((text) => el('th', {scope: 'col'}, text)))),
    el('tbody', null, rows));
}

/**
 * @param {Tree} tree
 * @param {number} node
 * @param {Facts} facts
 */
function tableRow(tree, node, facts) {
  tree.children(node); // Completes the value of the node itself.
  const cells = [
    el('td', {class: 'number'}, tree.depth[node]),
    el('th', {scope: 'row', style: {'padding-left': Math.min(12, tree.depth[node]) * 8 + 6 + 'px'}}, shorten(tree.name(node))),
    el('td', null, shorten(tree.module(node))),
    el('td', {class: 'number'}, quantity(tree.total[node], facts.unit)),
    el('td', {class: 'number'}, share(tree.total[node], tree.total[0])),
  ];
  if (!facts.inverted) cells.push(el('td', {class: 'number'}, quantity(tree.self[node], facts.unit)));
  if (tree.totals.length > 1) cells.push(el('td', {class: 'number'}, changeText(tree, node, facts)));
  return el('tr', null, cells);
}
