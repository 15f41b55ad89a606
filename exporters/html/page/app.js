// The page: reads the data, creates the parts, and handles keys and colors.
import {decode, decompress} from './data.js';
import {el, isDark, replace} from './dom.js';
import {Store, Trace} from './model.js';
import {createHead, showLinks} from './head.js';
import {createFilters, everything} from './filters.js';
import {createFlame} from './flame.js';
import {createCompare} from './compare.js';
import {kindWithStacks} from './joint.js';
import {createStrip} from './strip.js';
import {createTables} from './tables.js';
import {createSpans} from './spans.js';
import {createThreads} from './threads.js';

/** @type {[key: string, action: string, part?: string][]} keys, and the part that they need */
const keyList = [
  ['/', 'search functions', 'flame'], ['?', 'list the keys'], ['t', 'automatic, dark or light colors'],
  ['m', 'my code only, or all frames', 'flame'], ['w', 'show or hide waits', 'flame'],
  ['v', 'by call, inverted or sandwich', 'flame'],
  ['k', 'next kind of samples; Shift+K: previous one', 'filters'], ['r', 'select all: remove the selection'],
  ['Arrow keys', 'flame graph: caller, callee, neighbors; with Shift: pan', 'flame'],
  ['Enter, Backspace', 'flame graph: zoom to the frame, to its caller', 'flame'],
  ['Escape', 'flame graph: show all', 'flame'],
  ['+ and -', 'flame graph: zoom; also Ctrl and the wheel', 'flame'],
  ['s', 'flame graph: sandwich of the frame', 'flame'], ['c', 'flame graph: copy the stack', 'flame'],
  ['Arrow keys, Page Up and Down', 'time: move the cursor, the range; with Shift: change the range; Escape: no range', 'time'],
  ['W and S, A and D', 'threads: zoom in and out, move', 'threads'],
  ['N and P, Enter', 'threads: next and previous slice, select it', 'threads'],
  ['F and R', 'threads: zoom to the slice, select the visible time', 'threads'],
];

/**
 * KeysOf returns the keys of a page that has some parts.
 * @param {[id: string, name: string][]} parts the visible parts, in the order of their numbers
 * @returns {[key: string, action: string][]}
 */
export function keysOf(parts) {
  const ids = new Set(parts.map(([id]) => id));
  /** @type {[key: string, action: string][]} */
  const numbers = parts.map(([, name], i) => [String(i + 1), 'go to ' + name]);
  return [...keyList.filter(([, , needs]) => !needs || needs === 'filters' || ids.has(needs))
    .map(([key, action]) => /** @type {[string, string]} */ ([key, action])), ...numbers];
}

/** @type {[id: string, name: string][]} */
const allParts = [['time', 'Time'], ['compare', 'Comparison'], ['flame', 'Flame graph'], ['tables', 'Tables'],
  ['spans', 'Requests'], ['threads', 'Threads']];

/**
 * Part returns an element of the skeleton.
 * @param {string} id
 * @returns {HTMLElement}
 */
function part(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error('the page lacks its part ' + id);
  return found;
}

/**
 * ReadBlock decompresses a block of data, or returns null if the page lacks it.
 * @param {string} id
 * @returns {Promise<Uint8Array | null>}
 */
async function readBlock(id) {
  const block = document.getElementById(id);
  if (!block) return null;
  const bytes = await reading(`the element "${id}" is not base64 of gzip data, or it is truncated`,
    () => decompress(block.textContent ?? ''));
  block.remove(); // The text is large and not needed again.
  return bytes;
}

/**
 * Reading calls read. If it fails, the error has a sentence of the page, not of the browser.
 * @template T
 * @param {string} damage what is wrong with the data if the browser cannot read it
 * @param {() => T | Promise<T>} read
 * @param {boolean} [quoted] whether errors of the page's own code are quoted
 * @returns {Promise<T>}
 */
async function reading(damage, read, quoted = false) {
  try {
    return await read();
  } catch (error) {
    console.error(error);
    throw new Error(damageText(damage, error, quoted), {cause: error});
  }
}

/**
 * DamageText returns a sentence on data that cannot be read. Messages of browsers differ and say nothing about the
 * page, so only errors of the page's own code are quoted; they are of no subclass of Error.
 * @param {string} damage
 * @param {unknown} error
 * @param {boolean} quoted
 */
export function damageText(damage, error, quoted) {
  const own = error instanceof Error && error.name === 'Error' ? error.message : '';
  if (/^(this browser|page data has version)/.test(own)) return 'The recording cannot be shown: ' + own + '.';
  return 'The data in this page is damaged: ' + ((quoted && own) || damage) + '. Write the page again.';
}

/**
 * @param {string} what
 * @param {unknown} error
 */
function failure(what, error) {
  const reason = error instanceof Error ? error.message : String(error);
  return el('p', {class: 'failure', role: 'alert'}, what ? what + ': ' + reason : reason);
}

/**
 * Create creates a part. Its error is shown in its place, and the other parts stay.
 * @param {string} id
 * @param {(root: HTMLElement) => void} create
 */
function createPart(id, create) {
  const root = part(id);
  try {
    create(root);
  } catch (error) {
    console.error(error);
    replace(root, failure('This part cannot be shown', error));
  }
}

/**
 * ApplyTheme sets the colors of the page, also those of the browser if the theme is automatic.
 * @param {Store} store
 */
function applyTheme(store) {
  document.documentElement.dataset.theme = isDark(store.state.theme) ? 'dark' : 'light';
}

/**
 * PrintInLight prints a dark page in light colors.
 * @param {Store} store
 */
function printInLight(store) {
  let theme = store.state.theme;
  window.addEventListener('beforeprint', () => {
    theme = store.state.theme;
    store.set({theme: 'light'});
  });
  window.addEventListener('afterprint', () => store.set({theme}));
}

/**
 * Reveal scrolls to a part and focuses it, or its picture, which has keys of its own.
 * @param {string} id
 */
function reveal(id) {
  const root = part(id);
  const picture = root.querySelector('canvas[tabindex]');
  root.tabIndex = -1;
  root.scrollIntoView({block: 'start'});
  (picture instanceof HTMLElement ? picture : root).focus({preventScroll: true});
}

/** @returns {[id: string, name: string][]} */
function visibleParts() {
  return allParts.filter(([id]) => !part(id).hidden);
}

function showKeys() {
  const dialog = document.getElementById('keys');
  if (!(dialog instanceof HTMLDialogElement)) return;
  const close = el('button', {type: 'button', on: {click: () => dialog.close()}}, 'Close');
  replace(dialog, el('h2', null, 'Keys'), el('dl', {class: 'keys'}, keysOf(visibleParts()).map(([key, action]) =>
    el('div', null, el('dt', null, el('kbd', null, key)), el('dd', null, action)))), close);
  dialog.showModal();
}

/**
 * NextKind returns the next kind with samples.
 * @param {Store} store
 * @param {number} step
 */
function nextKind(store, step) {
  const {kinds} = store.trace, n = kinds.length;
  for (let i = 1; i <= n; i++) {
    const index = (store.state.kind + step * i + n * i) % n;
    if (kinds[index].samples.rows > 0) return index;
  }
  return store.state.kind;
}

/**
 * KeyActions returns what keys do, unless a part of the page handles them.
 * @param {Store} store
 * @returns {Record<string, () => void>}
 */
function keyActions(store) {
  const themes = /** @type {const} */ ({auto: 'dark', dark: 'light', light: 'auto'});
  const layouts = /** @type {const} */ ({calls: 'inverted', inverted: 'sandwich', sandwich: 'calls'});
  return {
    '?': showKeys,
    '/': () => {
      const input = document.querySelector('#flame .search');
      if (input instanceof HTMLInputElement) {
        input.focus();
        input.select();
      }
    },
    t: () => store.set({theme: themes[store.state.theme]}),
    m: () => store.set({mine: !store.state.mine}),
    w: () => store.set({waits: !store.state.waits}),
    v: () => store.set({layout: layouts[store.state.layout]}),
    k: () => store.set({kind: nextKind(store, 1)}),
    K: () => store.set({kind: nextKind(store, -1)}),
    r: () => store.set(everything),
  };
}

/** @param {Store} store */
function listenToKeys(store) {
  const actions = keyActions(store);
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement ||
      event.target instanceof HTMLTextAreaElement || document.querySelector('dialog[open]')) return;
    const target = visibleParts()[Number(event.key) - 1];
    if (/^[1-9]$/.test(event.key) && target) reveal(target[0]);
    else if (Object.hasOwn(actions, event.key)) actions[event.key]();
    else return;
    event.preventDefault();
  });
}

/**
 * ShowParts creates the parts: first those that a reader sees first, then, when the rest of the data has been read, the
 * others, so that the first picture does not wait for them. Until then nothing can be selected.
 * @param {Store} store
 * @param {any} diff
 */
async function showParts(store, diff) {
  applyTheme(store);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => applyTheme(store));
  store.subscribe((_, changed) => {
    if (changed.has('theme')) applyTheme(store);
  });
  showWhatExists(store);
  createPart('head', (root) => createHead(root, store, {parts: visibleParts, showKeys}));
  part('main').hidden = false;
  part('main').inert = true;
  createPart('filters', (root) => createFilters(root, store));
  if (!part('flame').hidden) createPart('flame', (root) => createFlame(root, store, diff));
  createPart('compare', (root) => createCompare(root, store, diff,
    () => reveal(part('flame').hidden ? 'tables' : 'flame')));
  document.getElementById('status')?.remove();
  await nextPicture();
  performance.mark('first picture');
  await readRest(store.trace);
  part('main').inert = false;
  listenToKeys(store);
  printInLight(store);
  createPart('time', (root) => createStrip(root, store));
  await nextPicture();
  createPart('tables', (root) => createTables(root, store));
  if (!part('spans').hidden) createPart('spans', (root) => createSpans(root, store));
  await nextPicture();
  createPart('threads', (root) => createThreads(root, store));
  replace(part('foot'), 'Written by ' + (store.trace.header.generator || 'ntconv') +
    '. This file contains everything it shows; it sends and loads nothing.');
  showLinks(part('head'), visibleParts());
  document.documentElement.dataset.ready = 'true';
}

/**
 * ReadRest adds the rest of the data, which follows the script in the page, unless that has been done.
 * @param {Trace} trace
 */
async function readRest(trace) {
  if (document.readyState === 'loading') {
    await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, {once: true}));
  }
  const rest = await readBlock('rest');
  if (rest) await reading('the element "rest" has an invalid header', () => trace.addRest(rest), true);
}

/**
 * ShowWhatExists hides the parts that the recording has no data for, and selects the first kind that has stacks.
 * @param {Store} store
 */
function showWhatExists(store) {
  const {trace, before} = store, kind = kindWithStacks(trace, before);
  if (kind >= 0) store.set({kind});
  if (before) part('main').dataset.compared = '';
  part('compare').hidden = !before;
  part('spans').hidden = trace.spans.rows === 0;
  part('flame').hidden = kind < 0;
  if (kind >= 0) return;
  const skip = document.querySelector('.skip');
  if (skip instanceof HTMLElement) skip.hidden = true;
}

/** NextPicture waits until the browser has drawn. A hidden page draws nothing, so the wait is bounded. */
function nextPicture() {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 200);
    requestAnimationFrame(() => setTimeout(() => {
      clearTimeout(timer);
      resolve(undefined);
    }));
  });
}

/**
 * TraceOf decodes a recording.
 * @param {string} id of its element
 * @param {Uint8Array} bytes
 */
function traceOf(id, bytes) {
  return reading(`the element "${id}" has an invalid header or table`, () => new Trace(decode(bytes)), true);
}

/** Main reads the data and shows it, or says in a sentence why that is impossible. */
export async function main() {
  try {
    const bytes = await readBlock('data');
    if (!bytes) throw new Error('the page contains no data');
    const before = await readBlock('before'), diff = await readBlock('diff');
    const trace = await traceOf('data', bytes);
    document.title = (trace.trace.program || trace.trace.name || 'Recording') + ' – ntconv';
    if (before) await readRest(trace); // its first kind may be one that only BEFORE has stacks of
    const store = new Store(trace, before ? await traceOf('before', before) : null);
    await showParts(store, diff && await reading('the element "diff" is not JSON',
      () => JSON.parse(new TextDecoder().decode(diff))));
  } catch (error) {
    console.error(error);
    document.getElementById('status')?.remove();
    const stated = error instanceof Error && error.message.startsWith('The ');
    document.body.insertBefore(failure(stated ? '' : 'The recording cannot be shown', error), document.body.firstChild);
    document.documentElement.dataset.ready = 'failed';
  }
}

if (typeof document !== 'undefined' && document.getElementById('data')) main();
