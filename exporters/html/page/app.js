// The page: reads the data, creates the parts, and handles keys and colors.
import {decode, decompress} from './data.js';
import {el, replace} from './dom.js';
import {Store, Trace} from './model.js';
import {createHead} from './head.js';
import {createFilters, everything} from './filters.js';
import {createFlame} from './flame.js';
import {createCompare} from './compare.js';
import {createStrip} from './strip.js';
import {createTables} from './tables.js';
import {createSpans} from './spans.js';
import {createThreads} from './threads.js';

/** @type {[key: string, action: string][]} */
const keyList = [
  ['/', 'search functions'], ['?', 'list the keys'], ['t', 'automatic, dark or light colors'],
  ['m', 'my code only, or all frames'], ['w', 'show or hide waits'], ['v', 'by call, inverted or sandwich'],
  ['k', 'next kind of samples; Shift+K: previous one'], ['r', 'select all: remove the selection'],
  ['1 … 7', 'go to a part of the page'],
  ['Arrow keys', 'flame graph: caller, callee, neighbors; with Shift: pan'],
  ['Enter, Backspace', 'flame graph: zoom to the frame, to its caller'], ['Escape', 'flame graph: show all'],
  ['+ and -', 'flame graph: zoom; also Ctrl and the wheel'], ['s', 'flame graph: sandwich of the frame'],
  ['c', 'flame graph: copy the stack'],
  ['Arrow keys, Page Up and Down', 'time: move the cursor, the range; with Shift: change the range; Escape: no range'],
  ['W and S, A and D', 'threads: zoom in and out, move'], ['N and P, Enter', 'threads: next and previous slice, select it'],
  ['F and R', 'threads: zoom to the slice, select the visible time'],
];

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
  const bytes = await decompress(block.textContent ?? '');
  block.remove(); // The text is large and not needed again.
  return bytes;
}

/**
 * @param {string} what
 * @param {unknown} error
 */
function failure(what, error) {
  const reason = error instanceof Error ? error.message : String(error);
  return el('p', {class: 'failure', role: 'alert'}, what + ': ' + reason);
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

/** @param {Store} store */
function applyTheme(store) {
  const {theme} = store.state;
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
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
 * Reveal scrolls to a part and focuses it.
 * @param {string} id
 */
function reveal(id) {
  const root = part(id);
  root.tabIndex = -1;
  root.scrollIntoView({block: 'start'});
  root.focus({preventScroll: true});
}

/** @returns {[id: string, name: string][]} */
function visibleParts() {
  return allParts.filter(([id]) => !part(id).hidden);
}

function showKeys() {
  const dialog = document.getElementById('keys');
  if (!(dialog instanceof HTMLDialogElement)) return;
  const close = el('button', {type: 'button', on: {click: () => dialog.close()}}, 'Close');
  replace(dialog, el('h2', null, 'Keys'), el('dl', {class: 'keys'}, keyList.map(([key, action]) =>
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
 * ShowParts creates the parts: first those that a reader sees first, then the others, so that the first picture does
 * not wait for them.
 * @param {Store} store
 * @param {any} diff
 */
async function showParts(store, diff) {
  applyTheme(store);
  store.subscribe((_, changed) => {
    if (changed.has('theme')) applyTheme(store);
  });
  part('compare').hidden = !store.before;
  part('spans').hidden = store.trace.spans.rows === 0;
  createPart('head', (root) => createHead(root, store, {parts: visibleParts, showKeys}));
  part('main').hidden = false;
  createPart('filters', (root) => createFilters(root, store));
  createPart('flame', (root) => createFlame(root, store));
  createPart('compare', (root) => createCompare(root, store, diff));
  listenToKeys(store);
  printInLight(store);
  part('status').hidden = true;
  await nextPicture();
  performance.mark('first picture');
  createPart('time', (root) => createStrip(root, store));
  await nextPicture();
  createPart('tables', (root) => createTables(root, store));
  if (!part('spans').hidden) createPart('spans', (root) => createSpans(root, store));
  await nextPicture();
  createPart('threads', (root) => createThreads(root, store));
  replace(part('foot'), 'Written by ' + (store.trace.header.generator || 'ntconv') +
    '. This file contains everything it shows; it sends and loads nothing.');
  document.documentElement.dataset.ready = 'true';
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

/** Main reads the data and shows it, or says in a sentence why that is impossible. */
export async function main() {
  try {
    const bytes = await readBlock('data');
    if (!bytes) throw new Error('the page contains no data');
    const before = await readBlock('before'), diff = await readBlock('diff');
    const trace = new Trace(decode(bytes));
    document.title = (trace.trace.program || trace.trace.name || 'Recording') + ' – ntconv';
    const store = new Store(trace, before ? new Trace(decode(before)) : null);
    await showParts(store, diff ? JSON.parse(new TextDecoder().decode(diff)) : null);
  } catch (error) {
    console.error(error);
    part('status').hidden = true;
    document.body.insertBefore(failure('The recording cannot be shown', error), document.body.firstChild);
    document.documentElement.dataset.ready = 'failed';
  }
}

if (typeof document !== 'undefined' && document.getElementById('data')) main();
