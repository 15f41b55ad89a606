// One request as a waterfall: the span and its descendants, and what their threads did, waited for and allocated.

import {button, el, replace} from './dom.js';
import {activityOf, isFailed, waterfallOf} from './spans-data.js';
import {spanIndex} from './span-samples.js';
import {intervalsOfKind} from './threads-layout.js';
import {lengthOf} from './tables-data.js';
import {niceStep, tickText, ticksBetween} from './time-axis.js';
import {bytes, count, duration, exactTime, group, percent, stateText} from './units.js';

/** @typedef {import('./model.js').Store} Store */
/** @typedef {import('./spans-data.js').Activity} Activity */

const firstSpans = 60;
const moreSpans = 250;
/** The number of pauses that the row of pauses shows one by one. */
const maxPauseMarks = 200;
const topRows = 8;

/** Waterfall shows one span and its descendants. */
export class Waterfall {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.root = el('div', {class: 'waterfall'});
    this.span = -1;
    this.detail = -1;
    this.limit = firstSpans;
    /** @type {{span: number, depth: number}[]} */
    this.order = [];
    this.detailBox = el('div', {class: 'span-detail', 'aria-live': 'polite'});
    /** @type {{from: number, to: number}} */
    this.range = {from: 0, to: 1};
  }

  /**
   * show shows a span, or nothing if it is -1.
   * @param {number} span
   */
  show(span) {
    if (span !== this.span) {
      this.limit = firstSpans;
      this.detail = span;
    }
    this.span = span;
    this.draw();
  }

  draw() {
    const {trace} = this.store;
    if (this.span < 0) {
      this.root.replaceChildren();
      return;
    }
    this.order = waterfallOf(trace, this.span);
    const {end} = spanIndex(trace);
    const s = trace.spans;
    const from = this.order.reduce((t, {span}) => Math.min(t, s.time[span]), Infinity);
    const to = this.order.reduce((t, {span}) => Math.max(t, end[span]), -Infinity);
    this.range = {from, to: Math.max(to, from + 1)};
    const rows = this.order.slice(0, this.limit).map((row) => this.row(row.span, row.depth));
    const table = el('table', {class: 'data waterfall-table'},
      el('caption', {class: 'offscreen'}, `Waterfall of ${trace.spanName(this.span)}`),
      el('thead', null, this.headRow()), el('tbody', null, this.pauseRow(), rows));
    replace(this.root, this.heading(), el('div', {class: 'table-scroll'}, table), this.moreButton(), this.detailBox);
    this.drawDetail();
  }

  /** @returns {HTMLElement} */
  heading() {
    const {trace} = this.store;
    const s = trace.spans;
    const parent = s.parent[this.span];
    const length = s.duration[this.span] < 0 ? 'not ended' : duration(s.duration[this.span]);
    const facts = [length, 'at ' + exactTime(s.time[this.span]), count(this.order.length, 'span')];
    const message = trace.str(s.message[this.span]);
    return el('div', {class: 'waterfall-head'},
      el('h3', null, trace.spanName(this.span)), el('span', {class: 'quiet'}, facts.join(' · ')),
      isFailed(trace, this.span) && el('span', {class: 'failed'}, 'error' + (message ? ': ' + message : '')),
      parent >= 0 && button('Parent: ' + trace.spanName(parent), () => this.store.set({span: parent}), {class: 'small'}),
      button('Show its time', () => this.selectTime(), {class: 'small', title: 'Restrict the page to the time of the span'}),
      button('Close', () => this.store.set({span: -1}), {class: 'small'}));
  }

  selectTime() {
    const {end} = spanIndex(this.store.trace);
    this.store.set({from: this.store.trace.spans.time[this.span], to: end[this.span]});
  }

  /** @returns {HTMLElement} */
  headRow() {
    const {from, to} = this.range;
    const step = niceStep((to - from) / 5);
    const ticks = ticksBetween(0, (to - from) * 0.97, step).map((t) =>
      el('span', {class: 'tick', style: {left: this.percentOf(from + t)}}, tickText(t, step)));
    const heads = ['On threads', 'Waited', 'Allocated'].map((text) => el('th', {scope: 'col', class: 'number'}, text));
    return el('tr', null, el('th', {scope: 'col', class: 'text'}, 'Span'),
      el('th', {scope: 'col', class: 'bars'}, el('span', {class: 'offscreen'}, 'Time'), ticks),
      el('th', {scope: 'col', class: 'number'}, 'Duration'), heads);
  }

  /**
   * @param {number} time
   * @returns {string}
   */
  percentOf(time) {
    const {from, to} = this.range;
    return Math.min(100, Math.max(0, 100 * (time - from) / (to - from))).toFixed(3) + '%';
  }

  /**
   * pauseRow shows the pauses of the process during the request.
   * @returns {HTMLElement | null}
   */
  pauseRow() {
    const {trace} = this.store;
    const v = trace.intervals;
    const {from, to} = this.range;
    const process = trace.spans.process[this.span];
    const pauses = intervalsOfKind(trace, 'gc_pause', {process, thread: -1}, true)
      .filter((i) => v.time[i] < to && v.time[i] + lengthOf(trace, i) > from);
    if (pauses.length === 0) {
      return null;
    }
    const overlap = (/** @type {number} */ i) => Math.min(to, v.time[i] + lengthOf(trace, i)) - Math.max(from, v.time[i]);
    const marks = pauses.slice(0, maxPauseMarks).map((i) =>
      this.bar('span-bar pause', v.time[i], v.time[i] + lengthOf(trace, i), trace.str(v.name[i])));
    const total = pauses.reduce((sum, i) => sum + overlap(i), 0);
    const rest = pauses.length > maxPauseMarks ? `, first ${group(maxPauseMarks)} shown` : '';
    return el('tr', {class: 'pauses'},
      el('th', {scope: 'row', class: 'text'}, `${count(pauses.length, 'GC pause')}${rest}`), el('td', {class: 'bars'}, marks),
      el('td', {class: 'number'}, duration(total)), el('td'), el('td'), el('td'));
  }

  /**
   * @param {string} name class
   * @param {number} from
   * @param {number} to
   * @param {string} title
   * @returns {HTMLElement}
   */
  bar(name, from, to, title) {
    const left = this.percentOf(from);
    const width = (Number.parseFloat(this.percentOf(to)) - Number.parseFloat(left)).toFixed(3) + '%';
    return el('span', {class: name, title, style: {left, width}});
  }

  /**
   * @param {number} span
   * @param {number} depth
   * @returns {HTMLElement}
   */
  row(span, depth) {
    const {trace} = this.store;
    const s = trace.spans;
    const {end} = spanIndex(trace);
    const activity = activityOf(trace, [span]);
    const waited = waitedIn(activity);
    const failed = isFailed(trace, span);
    const name = trace.spanName(span);
    const title = `${name}, ${trace.str(s.kind[span])}, from ${exactTime(s.time[span])}`;
    const picked = el('button', {type: 'button', class: 'pick', title, 'aria-pressed': String(span === this.detail)}, name);
    picked.style.paddingLeft = Math.min(20, depth) * 0.8 + 'em';
    const line = el('tr', {class: span === this.detail ? 'pickable picked' : 'pickable', data: {span}},
      el('th', {scope: 'row', class: 'text wide'}, picked),
      el('td', {class: 'bars'}, this.bar(failed ? 'span-bar error' : 'span-bar', s.time[span], end[span], title)),
      el('td', {class: 'number', data: {label: 'Duration'}}, s.duration[span] < 0 ? 'not ended' : duration(s.duration[span])),
      el('td', {class: 'number', data: {label: 'On threads'}, title: coverage(activity, end[span] - s.time[span]) || undefined},
        activity.samples > 0 ? duration(activity.time) : ''),
      el('td', {class: 'number', data: {label: 'Waited'}}, waited > 0 ? duration(waited) : ''),
      el('td', {class: 'number', data: {label: 'Allocated'}}, activity.allocated > 0 ? bytes(activity.allocated) : ''));
    line.addEventListener('click', () => this.pick(span));
    return line;
  }

  /** @param {number} span */
  pick(span) {
    this.detail = span;
    for (const line of this.root.querySelectorAll('tr[data-span]')) {
      const picked = line instanceof HTMLElement && line.dataset.span === String(span);
      line.classList.toggle('picked', picked);
      line.querySelector('button')?.setAttribute('aria-pressed', String(picked));
    }
    this.drawDetail();
  }

  /** @returns {HTMLElement | null} */
  moreButton() {
    const rest = this.order.length - this.limit;
    if (rest <= 0) {
      return null;
    }
    return el('div', {class: 'table-more'}, `${group(this.limit)} of ${count(this.order.length, 'span')} shown `,
      button(`Show ${group(Math.min(rest, moreSpans))} more`, () => {
        this.limit += moreSpans;
        this.draw();
      }, {class: 'small'}));
  }

  /** drawDetail shows what happened in the chosen span, together with its descendants. */
  drawDetail() {
    const {trace} = this.store;
    const spans = waterfallOf(trace, this.detail).map(({span}) => span);
    const activity = activityOf(trace, spans);
    const length = spanIndex(trace).end[this.detail] - trace.spans.time[this.detail];
    const below = spans.length > 1 ? ` and ${count(spans.length - 1, 'descendant')}` : '';
    const attributes = trace.attributesOf(trace.spans.attributes[this.detail]);
    this.detailBox.replaceChildren(
      el('h4', null, trace.spanName(this.detail) + below),
      el('div', {class: 'detail-grid'}, threadsBox(this.store, activity, length), waitsBox(activity),
        typesBox(this.store, activity), listBox('Attributes', attributes.map(([key, value]) => [key, value]), 'none')));
  }
}

/**
 * waitedIn returns how long the threads of an activity waited.
 * @param {Activity} activity
 * @returns {number}
 */
export function waitedIn(activity) {
  let sum = 0;
  for (const {time} of activity.waits.values()) {
    sum += time;
  }
  return sum;
}

/**
 * @param {string} title
 * @param {string[][]} rows
 * @param {string} none
 * @param {string} [note]
 * @returns {HTMLElement}
 */
function listBox(title, rows, none, note) {
  const body = rows.length === 0 ? el('p', {class: 'quiet'}, none) : el('table', {class: 'data small'},
    el('caption', {class: 'offscreen'}, title),
    el('tbody', null, rows.map(([name, ...values]) => el('tr', null,
      el('th', {scope: 'row', class: 'text wide', title: name}, name),
      values.map((value) => el('td', {class: rows[0].length > 2 ? 'number' : 'text', title: value}, value))))));
  return el('div', {class: 'detail-box'}, el('h5', null, title), note && el('p', {class: 'quiet'}, note), body);
}

/**
 * @template K
 * @param {Map<K, number>} map
 * @returns {[K, number][]} the largest values first
 */
function largestFirst(map) {
  return [...map].sort((a, b) => b[1] - a[1]).slice(0, topRows);
}

/**
 * coverage states how much of a span samples describe.
 * @param {Activity} activity
 * @param {number} length of the span
 * @returns {string} empty if the recording has no samples of threads
 */
export function coverage(activity, length) {
  const samples = activity.samples === 0 ? 'samples' : count(activity.samples, 'sample');
  const long = activity.long === 0 ? ''
    : `, ${duration(activity.long)} of it by samples before gaps, in which the thread may have done something else`;
  return activity.kind === '' ? ''
    : `${duration(Math.min(length, activity.covered))} of ${duration(length)} covered by ${samples}${long}`;
}

/**
 * threadsBox shows what threads did, and how much of the span no sample describes.
 * @param {Store} store
 * @param {Activity} activity
 * @param {number} length of the span
 * @returns {HTMLElement}
 */
function threadsBox(store, activity, length) {
  const {trace} = store;
  const states = largestFirst(activity.states).map(([state, time]) => `${stateText(state)} ${duration(time)}`);
  const rest = Math.max(0, length - activity.covered);
  const all = activity.time + rest;
  const rows = largestFirst(activity.functions).map(([fn, time]) =>
    [trace.functionName(fn) || 'no function', duration(time), percent(time, all)]);
  if (activity.kind !== '' && rest > 0) {
    rows.push(['no sample: awaiting, or between samples', duration(rest), percent(rest, all)]);
  }
  const covered = coverage(activity, length);
  const note = activity.samples === 0 ? covered
    : `${covered}; ${duration(activity.time)} of ${activity.kind} time: ${states.join(', ')}`;
  return listBox('What its threads did', rows, 'no samples', note);
}

/**
 * @param {Activity} activity
 * @returns {HTMLElement}
 */
function waitsBox(activity) {
  const rows = [...activity.waits].sort((a, b) => b[1].time - a[1].time)
    .map(([title, {count: n, time}]) => [title, group(n), duration(time)]);
  return listBox('Waited for', rows, 'no waits recorded');
}

/**
 * @param {Store} store
 * @param {Activity} activity
 * @returns {HTMLElement}
 */
function typesBox(store, activity) {
  const rows = largestFirst(activity.types).map(([type, size]) =>
    [store.trace.str(type) || '(unknown type)', bytes(size), percent(size, activity.allocated)]);
  const note = activity.allocated > 0 ? bytes(activity.allocated) + ' in total' : undefined;
  return listBox('Allocated', rows, 'no allocations recorded', note);
}
