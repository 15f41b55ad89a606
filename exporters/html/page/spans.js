// Requests and spans: by route, one by one, and one of them as a waterfall.

import {DataTable} from './data-table.js';
import {coalesced, el, select} from './dom.js';
import {routesOf, spansIn} from './spans-data.js';
import {spanIndex} from './span-samples.js';
import {numberColumn, requestTable, withoutEnd} from './tables.js';
import {count, duration, number} from './units.js';
import {Waterfall} from './waterfall.js';

/** @typedef {import('./model.js').Store} Store */
/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./spans-data.js').Route} Route */

/**
 * createSpans creates the view of requests and spans.
 * @param {HTMLElement} root
 * @param {Store} store
 */
export function createSpans(root, store) {
  if (store.trace.spans.rows === 0) {
    root.append(el('p', {class: 'empty'}, 'The recording has no requests or spans.'));
    return;
  }
  const view = new SpansView(store);
  root.append(...view.parts());
  const redraw = coalesced(() => view.draw());
  const members = ['from', 'to', 'process', 'thread', 'span'];
  store.subscribe((_state, changed) => {
    if (members.some((name) => changed.has(name))) {
      redraw();
    }
  });
  view.draw();
}

class SpansView {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    const index = spanIndex(store.trace);
    this.noun = index.noun;
    this.lists = {requests: index.requests, roots: index.roots, all: Int32Array.from(store.trace.spans.time, (_, i) => i)};
    this.listed = /** @type {'requests' | 'roots' | 'all'} */ ('requests');
    this.route = -1;
    this.routes = this.routeTable();
    this.single = requestTable(store, 'span');
    this.waterfall = new Waterfall(store);
    this.note = el('p', {class: 'note'});
    this.singleTitle = el('h3');
  }

  /** @returns {HTMLElement[]} */
  parts() {
    /** @type {[string, string][]} */
    const lists = [['requests', `${this.noun}s`], ['roots', 'spans without a parent'], ['all', 'all spans']];
    if (this.noun !== 'request') {
      lists.splice(1, 1); // the requests are these spans
    }
    const which = select('Which spans are listed', lists, 'requests', (value) => {
      this.listed = /** @type {keyof typeof this.lists} */ (value);
      this.route = -1;
      this.draw();
    });
    return [
      el('div', {class: 'bar'}, el('h2', null, 'Requests and spans'), el('label', null, 'List ', which), this.note),
      el('div', {class: 'spans-grid'},
        el('div', {class: 'by-name'}, el('h3', null, 'By name'), this.routes.root),
        el('div', null, this.singleTitle, this.single.root)),
      this.waterfall.root,
    ];
  }

  /** @returns {DataTable<Route>} */
  routeTable() {
    const {trace} = this.store;
    const time = (/** @type {string} */ key, /** @type {string} */ title, /** @type {(r: Route) => number} */ value) =>
      numberColumn(key, title, 'nanoseconds', value);
    return new DataTable({
      caption: 'Spans by name', sort: 'total', one: 'name', many: 'names',
      pick: (route) => {
        this.route = this.route === route.name ? -1 : route.name;
        this.draw();
      },
      isPicked: (route) => this.route === route.name,
      columns: [
        {key: 'name', title: 'Name', text: (r) => trace.str(r.name) || 'unnamed span', wide: true},
        numberColumn('count', 'Count', 'count', (r) => r.count),
        {key: 'errors', title: 'Errors', text: (r) => (r.errors > 0 ? number(r.errors) : ''), value: (r) => r.errors},
        time('p50', 'p50', (r) => r.p50),
        {...time('p95', 'p95', (r) => r.p95), doubt: (r) => fewRequestsDoubt(r, 95, 20)},
        {...time('p99', 'p99', (r) => r.p99), doubt: (r) => fewRequestsDoubt(r, 99, 100)},
        time('max', 'Max', (r) => r.max), time('total', 'Total', (r) => r.total),
      ],
    });
  }

  /** draw lists the spans of the selection. */
  draw() {
    const {trace, state} = this.store;
    const spans = spansIn(trace, this.lists[this.listed], state);
    const routes = routesOf(trace, spans);
    if (this.route >= 0 && !routes.some((route) => route.name === this.route)) {
      this.route = -1;
    }
    this.routes.setRows(routes);
    const chosen = this.route < 0 ? spans : spans.filter((i) => trace.spans.name[i] === this.route);
    this.single.setRows(chosen);
    this.singleTitle.textContent = this.route < 0 ? 'One by one' : 'One by one: ' + trace.str(this.route);
    const noun = this.listed === 'requests' ? this.noun : 'span';
    const open = routes.reduce((sum, route) => sum + route.open, 0);
    const rest = this.listed === 'requests' ? this.otherRoots() + clientCalls(trace) : '';
    this.note.textContent = `${count(spans.length, noun)}${withoutEnd(open)}. ${rest}Choose one to see its waterfall.` +
      linkNote(trace);
    this.waterfall.show(state.span);
  }

  /** otherRoots states what the list of requests does not have. */
  otherRoots() {
    if (this.noun !== 'request') {
      return '';
    }
    const {trace, state} = this.store;
    const listed = new Set(this.lists.requests);
    const others = spansIn(trace, this.lists.roots, state).filter((i) => !listed.has(i));
    const longest = others.reduce((most, i) => Math.max(most, trace.spans.duration[i]), 0);
    return 'Requests are the spans of servers and consumers' + (others.length === 0 ? '. ' :
      `; ${count(others.length, 'other span')} without a parent, up to ${duration(longest)}, can be listed above. `);
  }
}

/**
 * fewRequestsDoubt states that a quantile is the duration of the slowest spans only.
 * @param {{count: number, open: number}} route
 * @param {number} percent
 * @param {number} needed spans
 * @returns {string} empty if there are enough spans
 */
export function fewRequestsDoubt(route, percent, needed) {
  const durations = route.count - route.open;
  return durations < needed ? `Of ${count(durations, 'duration')}: p${percent} says little with fewer than ${needed}` : '';
}

/**
 * linkNote states by what evidence samples are linked to spans.
 * @param {Trace} trace
 * @returns {string} empty if it is unknown
 */
export function linkNote(trace) {
  const {links} = trace.trace;
  return links === '' ? '' : ` ${links}: label is a label of the sample, activity its activity ID, thread the span ` +
    'that was active on its thread.';
}

/**
 * clientCalls states how many samples of the kind requests are calls of clients, which are not listed as requests.
 * @param {Trace} trace
 * @returns {string} empty if there are none
 */
export function clientCalls(trace) {
  const samples = trace.kinds.find((kind) => kind.name === 'requests')?.samples;
  const kinds = samples ? Array.from(samples.span, (span) => (span < 0 ? '' : trace.str(trace.spans.kind[span]))) : [];
  const calls = kinds.filter((kind) => kind === 'client' || kind === 'producer').length;
  return calls === 0 || calls === kinds.length ? ''
    : `The kind requests has ${kinds.length}, ${calls} of them client calls. `;
}
