// The timeline of threads: slices and samples, zoomed by wheel and keys.

import {button, coalesced, el, fitCanvas} from './dom.js';
import {rangeOfTimes} from './tables.js';
import {LanePainter, placeLanes, rowTop, sliceName, timeAxisHeight} from './threads-draw.js';
import {factsOf, hasLanes, hitAt, laneAt, legendOf, longestSlices, sliceTimes} from './threads-facts.js';
import {ThreadsInput} from './threads-input.js';
import {SampleLanes, buildLanes} from './threads-lanes.js';
import {roundUnit} from './time-axis.js';
import {count, duration, exactTime, group} from './units.js';

/** @typedef {import('./model.js').Store} Store */
/** @typedef {import('./threads-draw.js').PlacedLane} PlacedLane */
/** @typedef {import('./threads-draw.js').LaneView} LaneView */
/** @typedef {import('./threads-facts.js').LaneHit} LaneHit */

/** The shortest time that the timeline shows, in nanoseconds. */
const minViewTime = 200;
/** The number of slices that the table lists. */
const maxListed = 100;

/**
 * createThreads creates the timeline of threads.
 * @param {HTMLElement} root
 * @param {Store} store
 */
export function createThreads(root, store) {
  const {trace} = store;
  if (!hasLanes(trace)) {
    root.hidden = true;
    return;
  }
  const view = new ThreadsView(store);
  root.append(...view.parts());
  new ThreadsInput(view);
  view.observe();
}

/** ThreadsView is the timeline. */
export class ThreadsView {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.trace = store.trace;
    /** @type {import('./threads-lanes.js').Lane[] | null} */
    this.lanes = null;
    /** @type {PlacedLane[]} */
    this.placed = [];
    this.total = 0;
    /** @type {SampleLanes | null} */
    this.samples = null;
    /** @type {LanePainter | null} */
    this.painter = null;
    /** @type {LaneView} */
    this.view = {from: this.trace.begin, to: this.trace.end, left: 150, width: 1, height: 1, scroll: 0};
    /** @type {LaneHit | null} */
    this.focus = null;
    /** @type {{from: number, to: number} | null} */
    this.dragged = null;
    this.canvas = el('canvas', {
      tabindex: '0', role: 'application', 'aria-roledescription': 'timeline',
      'aria-label': 'Timeline of threads. W and S zoom, A and D or left and right arrows move in time, up and down ' +
        'arrows choose a lane, N and P the next and previous slice, Enter selects it, F zooms to it, ' +
        'R selects the time that is shown, Escape shows everything.',
    });
    this.space = el('div');
    this.scroller = el('div', {class: 'threads-scroll'}, this.canvas, this.space);
    this.tip = el('div', {class: 'tip', hidden: true});
    this.detail = el('div', {class: 'threads-detail', 'aria-live': 'polite'});
    this.filter = el('input', {
      type: 'search', class: 'filter', placeholder: 'Filter threads', 'aria-label': 'Filter threads', spellcheck: 'false',
    });
    this.note = el('span', {class: 'counted'});
    this.listed = el('div', {class: 'table-scroll'});
    this.list = el('details', {class: 'threads-list', on: {toggle: () => this.listSlices()}},
      el('summary', null, 'Slices as a table'), this.listed);
    /** Whether the timeline was near the visible part of the page. Until then, it costs nothing. */
    this.seen = false;
    this.redraw = coalesced(() => this.draw());
    this.relayout = coalesced(() => this.layout());
  }

  /** @returns {HTMLElement[]} */
  parts() {
    this.filter.addEventListener('input', this.relayout);
    const bar = el('div', {class: 'bar'}, el('h2', null, 'Threads'),
      button('+', () => this.zoom(0.5, 0.5), {class: 'small', 'aria-label': 'Zoom in', title: 'Zoom in (W)'}),
      button('−', () => this.zoom(2, 0.5), {class: 'small', 'aria-label': 'Zoom out', title: 'Zoom out (S)'}),
      button('All', () => this.showAll(), {class: 'small', title: 'Show the selected range (Escape)'}),
      button('Select this time', () => this.selectView(), {class: 'small', title: 'Restrict the page to the time shown (R)'}),
      this.filter, this.note);
    const legend = legendOf(this.trace).map(({label, color}) =>
      el('span', {class: 'chart-key'}, el('span', {class: 'swatch', style: {background: `var(${color})`}}), label));
    return [bar, el('div', {class: 'threads-legend'}, legend), this.scroller, this.detail, this.list, this.tip];
  }

  /** listSlices lists the slices that are visible, if the list is open. */
  listSlices() {
    if (!this.list.open || !this.lanes) {
      return;
    }
    const {from, to} = this.view;
    const {slices, all} = longestSlices(this.trace, this.placed, from, to, maxListed);
    const heads = ['Slice', 'Thread', 'Start', 'Duration'].map((text, i) =>
      el('th', {scope: 'col', class: i < 2 ? 'text' : 'number'}, text));
    const rows = slices.map(({id, lane, time, length}) => el('tr', null,
      el('th', {scope: 'row', class: 'text wide'}, sliceName(this.trace, id)), el('td', {class: 'text'}, lane),
      el('td', {class: 'number'}, exactTime(time)), el('td', {class: 'number'}, length < 0 ? 'not ended' : duration(length))));
    const which = slices.length < all ? `The longest ${group(slices.length)} of ${count(all, 'slice')}` : count(all, 'slice');
    this.listed.replaceChildren(el('table', {class: 'data'},
      el('caption', null, `${which} from ${exactTime(Math.round(from))} to ${exactTime(Math.round(to))}`),
      el('thead', null, el('tr', null, heads)), el('tbody', null, rows)));
  }

  /** observe draws the timeline and keeps it up to date. The lanes are built when it first becomes visible. */
  observe() {
    new ResizeObserver(() => this.seen && this.relayout()).observe(this.scroller);
    const near = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) {
        this.seen = true;
        near.disconnect();
        this.relayout();
      }
    }, {rootMargin: '600px'});
    near.observe(this.scroller);
    window.addEventListener('beforeprint', () => {
      this.seen = true;
      this.layout();
      this.draw();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.repaint());
    this.scroller.addEventListener('scroll', this.redraw);
    this.store.subscribe((state, changed) => {
      if (changed.has('from') || changed.has('to')) {
        this.showAll();
      }
      if (changed.has('kind') || changed.has('process')) {
        this.relayout();
      }
      if (changed.has('theme')) {
        this.repaint();
      }
      if (changed.has('thread') || changed.has('span')) {
        this.reveal(state.thread);
        this.redraw();
      }
    });
    this.showAll();
  }

  repaint() {
    this.painter = null;
    this.redraw();
  }

  /** layout places the lanes that the state and the filter allow. */
  layout() {
    if (this.scroller.clientWidth === 0 || !this.seen) {
      return; // not visible
    }
    const {state} = this.store;
    const kind = this.trace.kinds[state.kind];
    if (kind && this.samples?.kind !== kind) {
      const {waitNodes} = this.trace;
      this.samples = new SampleLanes(this.trace, kind, (node) => node >= 0 && waitNodes[node] === 1);
    }
    this.lanes ??= buildLanes(this.trace);
    const text = this.filter.value.toLowerCase();
    const hasSamples = (/** @type {{thread: number}} */ lane) => (this.samples?.count(lane.thread) ?? 0) > 0;
    const used = this.lanes.filter((lane) => lane.slices > 0 || hasSamples(lane));
    const shown = used.filter((lane) => (state.process < 0 || lane.process === state.process) &&
      (text === '' || lane.title.toLowerCase().includes(text)));
    const {placed, height} = placeLanes(shown, hasSamples, this.trace.processes.rows > 1);
    this.placed = placed;
    this.total = height;
    this.focus = null;
    const slices = shown.reduce((sum, lane) => sum + lane.slices, 0);
    const hidden = this.lanes.length - shown.length;
    this.note.textContent = `${count(shown.length, 'lane')}, ${count(slices, 'slice')}` +
      (hidden > 0 ? `, ${count(hidden, 'lane')} without contents or filtered` : '');
    this.resize();
  }

  resize() {
    const width = this.scroller.clientWidth;
    const limit = Math.max(220, Math.min(window.innerHeight * 0.7, 720));
    const height = Math.min(limit, this.total + timeAxisHeight + 2);
    const left = width < 600 ? 96 : 170;
    this.scroller.classList.toggle('no-lanes', this.placed.length === 0);
    this.view = {...this.view, left, width: Math.max(1, width - left), height};
    this.scroller.style.height = height + 'px';
    this.space.style.height = Math.max(0, this.total + timeAxisHeight + 2 - height) + 'px';
    this.redraw();
  }

  draw() {
    if (!this.lanes) {
      return; // layout calls draw
    }
    this.painter ??= new LanePainter(this.trace);
    this.view.scroll = this.scroller.scrollTop;
    const {view} = this;
    const ctx = fitCanvas(this.canvas, view.left + view.width, view.height);
    const {thread, span, from, to} = this.store.state;
    const slice = this.focus?.slice ?? (span >= 0 ? this.trace.intervals.rows + span : -1);
    this.painter.paint(ctx, view, this.placed, this.samples, {thread, lane: this.focus?.placed ?? null, slice});
    const range = this.dragged ?? {from, to};
    if (range.from !== null || range.to !== null) {
      this.painter.shade(ctx, view, range);
    }
    this.listSlices();
  }

  /** showAll shows the selected range. */
  showAll() {
    const {state} = this.store;
    this.setView(state.from ?? this.trace.begin, state.to ?? this.trace.end);
  }

  /**
   * setView shows a part of the time. It keeps within the recording.
   * @param {number} from
   * @param {number} to
   */
  setView(from, to) {
    const {begin, end} = this.trace;
    const length = Math.min(end - begin, Math.max(minViewTime, to - from));
    const start = Math.min(end - length, Math.max(begin, from));
    this.view = {...this.view, from: start, to: start + length};
    this.redraw();
  }

  /**
   * zoom changes the length of the time that is shown. The time at a place stays there.
   * @param {number} factor
   * @param {number} at from 0, the left end, to 1
   */
  zoom(factor, at) {
    const {from, to} = this.view;
    const length = Math.max(minViewTime, (to - from) * factor);
    const start = from + (to - from) * at - length * at;
    this.setView(start, start + length);
  }

  /**
   * pan moves by a part of the time that is shown.
   * @param {number} part
   */
  pan(part) {
    const {from, to} = this.view;
    this.setView(from + (to - from) * part, to + (to - from) * part);
  }

  /**
   * timeAt returns the time at a place of the canvas.
   * @param {number} x in CSS pixels
   * @returns {number}
   */
  timeAt(x) {
    const {from, to, left, width} = this.view;
    return from + (x - left) * (to - from) / width;
  }

  /**
   * hit returns what is at a place of the canvas.
   * @param {number} x
   * @param {number} y
   * @returns {LaneHit | null}
   */
  hit(x, y) {
    if (y < timeAxisHeight) {
      return null;
    }
    const {from, to, width, scroll} = this.view;
    const height = y - timeAxisHeight + scroll;
    if (x < this.view.left) {
      const placed = laneAt(this.placed, height);
      return placed ? {placed, row: -1, index: -1, slice: -1, sample: -1, merged: 0, total: 0} : null;
    }
    return hitAt(this.placed, this.samples, this.timeAt(x), height, (to - from) / width);
  }

  /**
   * choose focuses what is at a place and describes it under the timeline.
   * @param {LaneHit | null} hit
   */
  choose(hit) {
    this.focus = hit;
    this.describe();
    this.redraw();
  }

  /** describe shows the facts about the focus, and what can be selected. */
  describe() {
    const hit = this.focus;
    if (!hit) {
      this.detail.replaceChildren();
      return;
    }
    const [title, ...lines] = factsOf(this.trace, hit, this.samples);
    const {thread} = hit.placed.lane;
    const buttons = [];
    if (hit.slice >= 0) {
      const {time, length, span} = sliceTimes(this.trace, hit.slice);
      const range = rangeOfTimes(time, length < 0 ? this.trace.end - time : length);
      buttons.push(button('Select its time', () => this.store.set(range), {class: 'small'}));
      if (span >= 0) {
        buttons.push(button('Select its span', () => this.store.set({span}), {class: 'small'}));
      }
    }
    if (thread >= 0) {
      buttons.push(button('Select this thread', () => this.store.set({thread}), {class: 'small'}));
    }
    buttons.push(button('Close', () => this.choose(null), {class: 'small'}));
    this.detail.replaceChildren(el('div', {class: 'bar'}, el('strong', null, title), buttons),
      el('ul', null, lines.map((line) => el('li', null, line))));
  }

  /** select selects the focus on the page: a span, or else the time of the slice, or the thread. */
  select() {
    const hit = this.focus;
    if (!hit) {
      return;
    }
    const {thread} = hit.placed.lane;
    if (hit.slice >= this.trace.intervals.rows) {
      this.store.set({span: hit.slice - this.trace.intervals.rows});
    } else if (hit.slice >= 0) {
      const {time, length} = sliceTimes(this.trace, hit.slice);
      this.store.set(rangeOfTimes(time, length < 0 ? this.trace.end - time : length));
    } else if (thread >= 0) {
      this.store.set({thread: this.store.state.thread === thread ? -1 : thread});
    }
  }

  /** selectView restricts the page to the time that is shown. */
  selectView() {
    const {from, to} = this.view;
    const {begin, end} = this.trace;
    this.store.set(from <= begin && to >= end ? {from: null, to: null} : this.rounded(from, to));
  }

  /**
   * rounded returns a range with ends that are as exact as the picture.
   * @param {number} from
   * @param {number} to
   * @returns {{from: number, to: number}}
   */
  rounded(from, to) {
    const unit = roundUnit((this.view.to - this.view.from) / this.view.width);
    return {from: Math.round(from / unit) * unit, to: Math.round(to / unit) * unit};
  }

  /**
   * reveal scrolls to the lane of a thread.
   * @param {number} thread
   */
  reveal(thread) {
    const placed = thread < 0 ? undefined : this.placed.find((p) => p.lane.thread === thread);
    if (placed) {
      this.scrollTo(placed, 0);
    }
  }

  /**
   * scrollTo scrolls a row into view.
   * @param {PlacedLane} placed
   * @param {number} row
   */
  scrollTo(placed, row) {
    const top = row > 0 ? rowTop(placed, row) : placed.top;
    const height = this.view.height - timeAxisHeight;
    if (top < this.scroller.scrollTop) {
      this.scroller.scrollTop = top;
    } else if (top + placed.height > this.scroller.scrollTop + height) {
      this.scroller.scrollTop = Math.min(top, top + placed.height - height);
    }
  }

  /**
   * moveLane moves the focus to another lane.
   * @param {number} by
   */
  moveLane(by) {
    const now = this.focus ? this.placed.indexOf(this.focus.placed) : by > 0 ? -1 : this.placed.length;
    const placed = this.placed[Math.min(this.placed.length - 1, Math.max(0, now + by))];
    if (placed) {
      this.scrollTo(placed, 0);
      this.choose({placed, row: -1, index: -1, slice: -1, sample: -1, merged: 0, total: 0});
    }
  }

  /**
   * moveSlice moves the focus to the next or previous slice of its row, or of the first row of its lane, and shows it.
   * @param {number} by
   */
  moveSlice(by) {
    const placed = this.focus?.placed ?? this.placed[0];
    const r = Math.max(0, this.focus?.row ?? 0);
    const row = placed?.lane.rows[r];
    if (!row || row.id.length === 0) {
      return;
    }
    const {from, to} = this.view;
    const first = Math.max(0, row.start.findIndex((start) => start >= from));
    const before = this.focus && this.focus.index >= 0 ? this.focus.index + by : first;
    const index = Math.min(row.id.length - 1, Math.max(0, before));
    const start = row.start[index];
    if (start < from || start > to - (to - from) * 0.05) {
      this.setView(start - (to - from) * 0.2, start + (to - from) * 0.8);
    }
    this.scrollTo(placed, r);
    this.choose({placed, row: r, index, slice: row.id[index], sample: -1, merged: 1, total: 0});
  }

  /** zoomToFocus shows the slice that has the focus. */
  zoomToFocus() {
    if (this.focus && this.focus.slice >= 0) {
      const {time, length} = sliceTimes(this.trace, this.focus.slice);
      const whole = Math.max(minViewTime, length < 0 ? this.trace.end - time : length);
      this.setView(time - whole * 0.1, time + whole * 1.1);
    }
  }

  /**
   * showTip shows what is at a place next to the pointer, or hides it.
   * @param {LaneHit | null} hit
   * @param {number} x in the window
   * @param {number} y
   */
  showTip(hit, x, y) {
    this.tip.hidden = !hit || (hit.slice < 0 && hit.sample < 0);
    if (this.tip.hidden || !hit) {
      return;
    }
    const [title, ...lines] = factsOf(this.trace, hit, this.samples);
    this.tip.replaceChildren(el('strong', null, title), ...lines.map((line) => el('div', null, line)));
    const {offsetWidth, offsetHeight} = this.tip;
    this.tip.style.left = Math.max(4, Math.min(x + 14, window.innerWidth - offsetWidth - 8)) + 'px';
    this.tip.style.top = (y + 18 + offsetHeight > window.innerHeight ? Math.max(4, y - offsetHeight - 12) : y + 18) + 'px';
  }

  /**
   * drag shows a range while it is dragged.
   * @param {{from: number, to: number} | null} range
   */
  drag(range) {
    this.dragged = range;
    this.note.title = range ? `${duration(range.to - range.from)} from ${exactTime(Math.round(range.from))}` : '';
    this.redraw();
  }
}
