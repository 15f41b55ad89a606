// The time strip: charts over the recording under one cursor. A range that is dragged restricts the page.

import {makeBins} from './bins.js';
import {chartsOf} from './chart-data.js';
import {button, coalesced, el, select} from './dom.js';
import {StripPlot} from './strip-plot.js';
import {niceStep, parseTime, typedTime} from './time-axis.js';
import {duration, exactTime} from './units.js';

/** @typedef {import('./model.js').Store} Store */
/** @typedef {import('./chart-data.js').ChartInfo} ChartInfo */

/** Changes of these members of the state change the values of charts. */
const chartMembers = ['process', 'thread', 'span', 'subject', 'method', 'waits', 'theme'];

/** The width in pixels that fits on paper: A4 and Letter with margins of 10 mm and more. */
const printWidth = 680;

/**
 * createStrip creates the time strip.
 * @param {HTMLElement} root
 * @param {Store} store
 */
export function createStrip(root, store) {
  const charts = chartsOf(store.trace);
  if (charts.length === 0) {
    root.append(el('h2', null, 'Time'), el('p', {class: 'empty'}, 'The recording has nothing that could be shown over time.'));
    return;
  }
  const strip = new Strip(store, charts);
  root.append(strip.bar, strip.area, strip.status);
  strip.observe();
}

/** Strip is the view of all charts. */
class Strip {
  /**
   * @param {Store} store
   * @param {ChartInfo[]} charts
   */
  constructor(store, charts) {
    this.store = store;
    this.charts = charts;
    this.open = new Set(charts.filter((chart) => chart.open).map((chart) => chart.id));
    /** @type {Map<string, StripPlot>} */
    this.plots = new Map();
    this.zoomed = false;
    /** The time under the cursor, and where a range began that the keyboard extends. @type {number | null} */
    this.cursor = null;
    /** @type {number | null} */
    this.anchor = null;
    this.width = 0;
    this.status = el('div', {class: 'offscreen', 'aria-live': 'polite'});
    this.readout = el('output', {class: 'strip-time'});
    this.area = this.createArea();
    this.fromInput = this.timeInput('from');
    this.toInput = this.timeInput('to');
    this.resetButton = button('Whole recording', () => this.reset(), {class: 'small'});
    this.bar = this.createBar();
    this.redraw = coalesced(() => this.draw());
    this.reshade = coalesced(() => this.shade());
  }

  /** observe draws the charts and keeps them up to date. */
  observe() {
    new ResizeObserver(() => {
      if (this.area.clientWidth !== this.width) {
        this.redraw();
      }
    }).observe(this.area);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', this.redraw);
    window.addEventListener('beforeprint', () => this.print(Math.min(this.area.clientWidth, printWidth) + 'px'));
    window.addEventListener('afterprint', () => this.print(''));
    this.store.subscribe((_state, changed) => {
      const range = changed.has('from') || changed.has('to');
      if (chartMembers.some((name) => changed.has(name)) || (range && this.zoomed)) {
        this.redraw();
      }
      if (range) {
        this.showRange();
        this.reshade();
      }
    });
    this.showRange();
    this.redraw();
  }

  /** @returns {HTMLElement} */
  createArea() {
    const area = el('div', {
      class: 'strip-area', tabindex: '0', role: 'group',
      'aria-label': 'Charts over time. Left and right arrows move the cursor, with Shift they select a range, ' +
        'Page Up and Page Down move the range, Escape selects the whole recording.',
    });
    area.addEventListener('keydown', (event) => this.key(event));
    area.addEventListener('mouseleave', () => this.moved(null));
    return area;
  }

  /** @returns {HTMLElement} */
  createBar() {
    const zoom = el('input', {type: 'checkbox', on: {change: () => {
      this.zoomed = zoom.checked;
      this.redraw();
    }}});
    return el('div', {class: 'bar strip-bar'}, el('h2', null, 'Time'),
      el('label', null, 'From ', this.fromInput), el('label', null, 'to ', this.toInput), this.resetButton,
      el('label', null, zoom, ' zoom to range'), this.chooser(), this.counterChooser(), this.readout);
  }

  /**
   * @param {'from' | 'to'} end
   * @returns {HTMLInputElement}
   */
  timeInput(end) {
    const input = el('input', {
      type: 'text', class: 'time-input', inputmode: 'decimal', size: '9', spellcheck: 'false', autocomplete: 'off',
      placeholder: end === 'from' ? 'begin' : 'end', title: 'Seconds after the start, or a time such as 350ms or 1m20s',
      'aria-label': end === 'from' ? 'Range from, in seconds' : 'Range to, in seconds',
    });
    input.addEventListener('change', () => {
      const time = parseTime(input.value);
      input.setAttribute('aria-invalid', String(Number.isNaN(time)));
      if (!Number.isNaN(time)) {
        const other = end === 'from' ? this.store.state.to : this.store.state.from;
        this.select(end === 'from' ? time : other, end === 'from' ? other : time);
      }
    });
    return input;
  }

  /** @returns {HTMLElement | null} */
  chooser() {
    const plain = this.charts.filter((chart) => !chart.counter);
    if (plain.length < 2) {
      return null;
    }
    const boxes = plain.map((chart) => {
      const box = el('input', {type: 'checkbox', checked: this.open.has(chart.id)});
      box.addEventListener('change', () => this.toggle(chart.id, box.checked));
      return el('label', null, box, ' ' + chart.title);
    });
    return el('details', {class: 'menu'}, el('summary', null, 'Charts'), el('div', {class: 'menu-body'}, boxes));
  }

  /** @returns {HTMLElement | null} */
  counterChooser() {
    const counters = this.charts.filter((chart) => chart.counter);
    if (counters.length === 0) {
      return null;
    }
    const chooser = select('Show a counter, or hide it', [['', 'Counter …']], '', (id) => {
      if (id !== '') {
        this.toggle(id, !this.open.has(id));
      }
      chooser.value = '';
    });
    for (const provider of new Set(counters.map((chart) => chart.group ?? ''))) {
      const own = counters.filter((chart) => (chart.group ?? '') === provider);
      chooser.append(el('optgroup', {label: provider || 'other'},
        own.map((chart) => el('option', {value: chart.id}, chart.title))));
    }
    return chooser;
  }

  /**
   * @param {string} id
   * @param {boolean} show
   */
  toggle(id, show) {
    if (show) {
      this.open.add(id);
    } else {
      this.open.delete(id);
    }
    this.redraw();
  }

  /**
   * print draws the charts at once in another width, because paper has one of its own and does not wait for a frame.
   * @param {string} width
   */
  print(width) {
    this.area.style.width = width;
    this.draw();
  }

  /** range returns the times that the axis shows. */
  range() {
    const {trace, state} = this.store;
    const from = this.zoomed ? (state.from ?? trace.begin) : trace.begin;
    return {from, to: Math.max(from + 1, this.zoomed ? (state.to ?? trace.end) : trace.end)};
  }

  /** draw computes and draws all open charts. */
  draw() {
    this.width = this.area.clientWidth;
    if (this.width === 0) {
      return; // not visible; the observer draws it when it is
    }
    const range = this.range();
    const shown = this.charts.filter((chart) => this.open.has(chart.id));
    for (const [id, plot] of this.plots) {
      if (!this.open.has(id)) {
        plot.destroy();
        this.plots.delete(id);
      }
    }
    shown.forEach((chart, i) => {
      const plot = this.plotOf(chart);
      const most = Math.min(chart.maxBins ?? Infinity, this.width / (chart.unit === 'nanoseconds' ? 4 : 2));
      const bins = makeBins(range.from, range.to, most, chart.minWidth);
      this.area.append(plot.root);
      plot.show(chart.compute(this.store.state, bins), bins, this.width, range, i === shown.length - 1);
    });
  }

  /**
   * @param {ChartInfo} chart
   * @returns {StripPlot}
   */
  plotOf(chart) {
    let plot = this.plots.get(chart.id);
    if (!plot) {
      plot = new StripPlot(chart, {
        range: (from, to) => this.select(from, to),
        reset: () => this.reset(),
        moved: (time) => this.moved(time),
        selection: () => this.store.state,
      });
      this.plots.set(chart.id, plot);
    }
    return plot;
  }

  /** shade draws the charts again, without computing them. */
  shade() {
    for (const plot of this.plots.values()) {
      plot.plot?.redraw(false);
    }
  }

  /** @param {number | null} time */
  moved(time) {
    this.cursor = time ?? this.cursor;
    this.readout.textContent = time === null ? '' : 'at ' + exactTime(Math.round(time / 1e3) * 1e3);
  }

  /**
   * select selects a range of the recording, in any order of its ends. A range outside of it selects everything.
   * @param {number | null} from
   * @param {number | null} to
   */
  select(from, to) {
    const {begin, end} = this.store.trace;
    const [a, b] = from !== null && to !== null && from > to ? [to, from] : [from, to];
    const low = a === null || a <= begin ? null : a;
    const high = b === null || b >= end ? null : b;
    const empty = (low !== null && low >= end) || (high !== null && high <= begin) || (low !== null && low === high);
    this.store.set(empty ? {from: null, to: null} : {from: low, to: high});
    this.showRange();
  }

  /** reset selects the whole recording. */
  reset() {
    this.anchor = null;
    this.store.set({from: null, to: null});
  }

  /** showRange shows the selected range in the inputs and announces it. */
  showRange() {
    const {trace, state} = this.store;
    this.fromInput.value = typedTime(state.from);
    this.toInput.value = typedTime(state.to);
    const all = state.from === null && state.to === null;
    this.resetButton.disabled = all;
    const from = state.from ?? trace.begin;
    const to = state.to ?? trace.end;
    this.status.textContent = all ? 'The whole recording is selected.'
      : `Selected ${duration(to - from)}, from ${exactTime(from)} to ${exactTime(to)}.`;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== this.area) {
      return;
    }
    const range = this.range();
    const step = Math.max(1, niceStep((range.to - range.from) / 300));
    const moves = new Map([
      ['ArrowLeft', () => this.step(-step, event.shiftKey)], ['ArrowRight', () => this.step(step, event.shiftKey)],
      ['Home', () => this.step(-Infinity, event.shiftKey)], ['End', () => this.step(Infinity, event.shiftKey)],
      ['PageUp', () => this.slide(-1)], ['PageDown', () => this.slide(1)], ['Escape', () => this.reset()],
    ]);
    const move = moves.get(event.key);
    if (move) {
      event.preventDefault();
      event.stopPropagation();
      move();
    }
  }

  /**
   * step moves the cursor, and extends the range to it.
   * @param {number} by
   * @param {boolean} extend
   */
  step(by, extend) {
    const range = this.range();
    const start = this.cursor ?? (range.from + range.to) / 2;
    const unit = Number.isFinite(by) ? Math.abs(by) : 1;
    const target = Math.round((start + by) / unit) * unit;
    this.cursor = Math.round(Math.min(range.to, Math.max(range.from, Number.isFinite(by) ? target : by)));
    for (const plot of this.plots.values()) {
      plot.moveTo(this.cursor);
    }
    this.moved(this.cursor);
    if (extend) {
      this.anchor ??= Math.round(start / unit) * unit;
      this.select(Math.round(this.anchor), this.cursor);
      return;
    }
    this.anchor = null;
    const values = [...this.plots.values()].map((plot) => plot.info.title + ' ' + plot.legend.textContent);
    this.status.textContent = exactTime(this.cursor) + ': ' + values.join('; ');
  }

  /**
   * slide moves the selected range by its length.
   * @param {number} direction
   */
  slide(direction) {
    const {trace, state} = this.store;
    if (state.from === null && state.to === null) {
      return;
    }
    const from = state.from ?? trace.begin;
    const to = state.to ?? trace.end;
    const by = Math.max(trace.begin - from, Math.min(trace.end - to, direction * (to - from)));
    if (by !== 0) {
      this.select(from + by, to + by);
    }
  }
}
