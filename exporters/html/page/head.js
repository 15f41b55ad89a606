// The head of the page: what was recorded, where and when, losses, and what the recording can answer.
import {append, button, el, replace} from './dom.js';
import {count, dateTime, duration, group, percent} from './units.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').Store} Store */
/** @typedef {import('./data.js').Ability} Ability */

/**
 * LossSentence states in one sentence what the recording lacks.
 * @param {{events: number, lost: number, incomplete: boolean}} trace
 */
export function lossSentence(trace) {
  const parts = [];
  if (trace.lost > 0) {
    parts.push(`${count(trace.lost, 'event')} (${percent(trace.lost, trace.lost + trace.events)}) ` +
      (trace.lost === 1 ? 'was lost' : 'were lost'));
  }
  if (trace.incomplete) parts.push('the recording is incomplete: its end is missing');
  if (parts.length === 0) return 'No events were lost.';
  const text = parts.join('; ');
  return text[0].toUpperCase() + text.slice(1) + '.';
}

/**
 * Facts returns a list of names and values, without those that are unknown.
 * @param {[name: string, value: string][]} facts
 */
function factList(facts) {
  return el('dl', {class: 'facts'}, facts.filter(([, value]) => value !== '').map(([name, value]) =>
    el('div', null, el('dt', null, name), el('dd', null, value))));
}

/**
 * @param {Trace} trace
 * @param {string} title
 */
function describeTrace(trace, title) {
  const t = trace.trace;
  return el('div', {class: 'recording'},
    title ? el('h2', null, title) : null,
    factList([
      ['recording', t.name], ['runtime', t.runtime], ['machine', t.machine], ['started', dateTime(t.start)],
      ['length', duration(t.duration_ns)], ['events', group(t.events)], ['format', t.format], ['command', t.command],
    ]),
    el('p', {class: t.lost > 0 || t.incomplete ? 'loss warning' : 'loss'}, lossSentence(t), ' ', t.notes.slice(0, 2).join(' ')),
    t.notes.length > 2 ? el('details', null, el('summary', null, count(t.notes.length - 2, 'more note')),
      el('ul', null, t.notes.slice(2).map((note) => el('li', null, note)))) : null);
}

/**
 * @param {string} title
 * @param {Ability[]} abilities
 */
function abilityList(title, abilities) {
  if (abilities.length === 0) return null;
  return el('div', null, el('h3', null, title), el('ul', {class: 'abilities'}, abilities.map((a) =>
    el('li', null, el('span', null, a.what), a.command ? el('code', null, a.command) : null))));
}

/**
 * AnswersSummary states how many questions a recording answers and how many it cannot answer.
 * @param {number} can
 * @param {number} cannot
 */
export function answersSummary(can, cannot) {
  if (can === 0) return `What this recording cannot show (${cannot})`;
  return `This recording answers ${count(can, 'question')}` +
    (cannot > 0 ? `; ${count(cannot, 'question needs', 'questions need')} another recording` : '');
}

/** @param {Trace} trace */
function answers(trace) {
  const {can, cannot} = trace.trace;
  if (can.length + cannot.length === 0) return null;
  const summary = el('summary', null, answersSummary(can.length, cannot.length));
  return el('details', {class: 'answers'}, summary, el('div', {class: 'columns'},
    abilityList('It shows', can), abilityList('It cannot show', cannot)));
}

/**
 * ShowLinks hides the links to parts that the page does not have.
 * @param {HTMLElement} root of the head
 * @param {[id: string, name: string][]} parts
 */
export function showLinks(root, parts) {
  const known = new Set(parts.map(([id]) => '#' + id));
  for (const link of root.querySelectorAll('nav a')) {
    const target = link.getAttribute('href') ?? '';
    if (link instanceof HTMLElement && target.startsWith('#')) link.hidden = !known.has(target);
  }
}

/**
 * CreateHead adds the head to the page.
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {{parts: () => [id: string, name: string][], showKeys: () => void}} page
 */
export function createHead(root, store, page) {
  const {trace, before} = store, t = trace.trace;
  const theme = button('', () => {
    const next = /** @type {const} */ ({auto: 'dark', dark: 'light', light: 'auto'});
    store.set({theme: next[store.state.theme]});
  }, {title: 'Colors of the page (t)', class: 'plain'});
  const showTheme = () => {
    theme.textContent = {auto: 'Automatic colors', dark: 'Dark', light: 'Light'}[store.state.theme];
  };
  showTheme();
  store.subscribe((_, changed) => {
    if (changed.has('theme')) showTheme();
  });
  const links = el('nav', {'aria-label': 'Parts of the page'}, page.parts().map(([id, name]) => el('a', {href: '#' + id}, name)));
  if (location.pathname === '/page') { // served by ntconv view, next to the pages of pprof
    append(links, el('a', {href: '/flamegraph', title: 'The pages of pprof'}, 'pprof'));
  }
  replace(root,
    el('div', {class: 'bar'}, el('h1', null, t.program || t.name || 'Recording'), links,
      el('span', {class: 'spring'}), theme, button('Keys', page.showKeys, {title: 'List the keys (?)', class: 'plain'})));
  if (before) {
    append(root, el('div', {class: 'columns'}, describeTrace(before, 'Before'), describeTrace(trace, 'After')));
  } else {
    append(root, describeTrace(trace, ''));
  }
  append(root, answers(trace));
}
