// Colors of functions: by module, in groups of hues by what kind of code it is, and by change in a comparison.
import {frameKernel, frameLabel, frameManaged, frameNative} from './model.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {'mine' | 'managed' | 'native' | 'kernel' | 'label' | 'unresolved'} CodeGroup */

/**
 * CodeGroups has the hues and the saturation of the groups.
 * @type {Record<CodeGroup, {hue: number, spread: number, saturation: number, name: string}>}
 */
export const codeGroups = {
  mine: {hue: 18, spread: 34, saturation: 78, name: 'my code'},
  managed: {hue: 150, spread: 100, saturation: 42, name: 'libraries'},
  native: {hue: 220, spread: 30, saturation: 10, name: 'native code'},
  kernel: {hue: 340, spread: 20, saturation: 24, name: 'kernel'},
  label: {hue: 285, spread: 20, saturation: 40, name: 'labels'},
  unresolved: {hue: 0, spread: 0, saturation: 0, name: 'unresolved'},
};

/** @type {Map<number, CodeGroup>} */
const groupOfKind = new Map([[frameManaged, 'managed'], [frameNative, 'native'], [frameKernel, 'kernel'],
  [frameLabel, 'label']]);

/**
 * GroupsOfFunctions returns the group of each function, by its first frame.
 * @param {Trace} trace
 * @returns {CodeGroup[]}
 */
export function groupsOfFunctions(trace) {
  const {rows, kind, mine, function: functions} = trace.frames;
  /** @type {CodeGroup[]} */
  const groups = Array.from({length: trace.functions.rows}, () => 'unresolved');
  for (let i = rows - 1; i >= 0; i--) {
    if (functions[i] < 0 || functions[i] >= groups.length) continue;
    groups[functions[i]] = mine[i] ? 'mine' : groupOfKind.get(kind[i]) ?? 'unresolved';
  }
  return groups;
}

/**
 * Hash returns a number for a text, the same in each page.
 * @param {string} text
 */
export function hash(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < Math.min(text.length, 200); i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return (h ^ (h >>> 15)) >>> 0;
}

/**
 * HuesOfModules returns the position of each module in the hues of its group, from 0 to 1. Steps by the golden ratio
 * keep the modules that come first far apart.
 * @param {Trace} trace
 * @param {CodeGroup[]} groups of the functions
 * @returns {Map<string, number>}
 */
export function huesOfModules(trace, groups) {
  /** @type {Map<string, number>} */
  const hues = new Map(), used = new Map();
  const sizes = new Map();
  for (const module of trace.functions.module) sizes.set(module, (sizes.get(module) ?? 0) + 1);
  const order = trace.functions.module.map((_, i) => i);
  order.sort((a, b) => sizes.get(trace.functions.module[b]) - sizes.get(trace.functions.module[a]) || a - b);
  for (const i of order) {
    const name = trace.str(trace.functions.module[i]);
    if (hues.has(name)) continue;
    const rank = used.get(groups[i]) ?? 0;
    used.set(groups[i], rank + 1);
    hues.set(name, rank * 0.618034 % 1);
  }
  return hues;
}

/**
 * ModuleColor returns the color of a module. Shade, from 0 to 2, separates neighbors.
 * @param {number} position in the hues of the group, from 0 to 1
 * @param {CodeGroup} group
 * @param {boolean} dark
 * @param {number} [shade]
 * @returns {string}
 */
export function moduleColor(position, group, dark, shade = 1) {
  const {hue, spread, saturation} = codeGroups[group];
  const angle = Math.round(hue + position * spread), light = (dark ? 31 : 76) + shade * 2 + Math.round(position * 4);
  return `hsl(${angle} ${Math.round(dark ? saturation * 0.62 : saturation)}% ${light}%)`;
}

/**
 * ChangeColor returns the color of a change: red if a value grew, blue if it fell. Change is a share of the total.
 * @param {number} change from -1 to 1
 * @param {boolean} dark
 */
export function changeColor(change, dark) {
  if (change === 0) return dark ? 'hsl(220 6% 33%)' : 'hsl(220 10% 88%)';
  // The square root keeps small changes visible.
  const strength = Math.min(1, Math.sqrt(Math.abs(change)) * 1.8), hue = change > 0 ? 6 : 214;
  const light = dark ? 30 + strength * 10 : 90 - strength * 30;
  return `hsl(${hue} ${Math.round(18 + strength * 62)}% ${Math.round(light)}%)`;
}
