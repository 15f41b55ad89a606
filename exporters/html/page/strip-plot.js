// One chart of the time strip, drawn by uPlot.

import {formatChartValue} from './chart-data.js';
import {binEdges} from './bins.js';
import {cssColor, el} from './dom.js';
import {axisTicks, roundUnit} from './time-axis.js';
import {exactTime} from './units.js';
import {uPlot} from './vendor.js';

/** @typedef {import('./chart-data.js').ChartInfo} ChartInfo */
/** @typedef {import('./chart-data.js').ChartData} ChartData */
/** @typedef {import('./bins.js').Bins} Bins */
/**
 * PlotEvents are called by a chart: range after a range was dragged, reset after a double click, moved after the cursor
 * moved to a time, or left with null. Times are in nanoseconds. selection returns the selected range.
 * @typedef {{
 *   range: (from: number, to: number) => void, reset: () => void, moved: (time: number | null) => void,
 *   selection: () => {from: number | null, to: number | null}
 * }} PlotEvents
 */

/** The height of a chart without its axis of time, and the height of the axis, in CSS pixels. */
const plotHeight = 60;
const axisHeight = 26;

/** StripPlot is one chart with its title and legend. */
export class StripPlot {
  /**
   * @param {ChartInfo} info
   * @param {PlotEvents} events
   */
  constructor(info, events) {
    this.info = info;
    this.events = events;
    this.legend = el('span', {class: 'chart-legend'});
    this.note = el('span', {class: 'chart-note'});
    this.holder = el('div', {class: 'chart-plot', role: 'img'});
    this.root = el('div', {class: 'chart'}, el('div', {class: 'chart-head'},
      el('span', {class: 'chart-title'}, info.title, ' ', this.note), this.legend), this.holder);
    /** @type {uPlot | null} */
    this.plot = null;
    /** @type {HTMLElement[]} */
    this.readouts = [];
    /** @type {ChartData | null} */
    this.shown = null;
    /** @type {Bins} */
    this.bins = {from: 0, width: 1, count: 1};
  }

  /**
   * show draws the values.
   * @param {ChartData} data
   * @param {Bins} bins
   * @param {number} width in CSS pixels
   * @param {{from: number, to: number}} range that the axis shows
   * @param {boolean} axis whether the axis of time is shown
   */
  show(data, bins, width, range, axis) {
    this.plot?.destroy();
    this.shown = data;
    this.bins = bins;
    this.note.textContent = data.note ?? '';
    this.fillLegend(data);
    const columns = plotColumns(data, bins);
    const options = this.options(data, width, range, axis);
    this.plot = new uPlot(options, columns, this.holder);
    this.holder.setAttribute('aria-label', this.summary());
    this.readout(null);
  }

  /** destroy releases the chart. */
  destroy() {
    this.plot?.destroy();
    this.plot = null;
    this.root.remove();
  }

  /**
   * @param {ChartData} data
   */
  fillLegend(data) {
    this.legend.replaceChildren();
    this.readouts = data.series.map((series) => {
      const value = el('span', {class: 'chart-value'});
      const swatch = el('span', {class: 'swatch', style: {background: `var(${series.color})`}});
      this.legend.append(el('span', {class: 'chart-key'}, swatch, series.label, ' ', value));
      return value;
    });
  }

  /**
   * @param {ChartData} data
   * @param {number} width
   * @param {{from: number, to: number}} range
   * @param {boolean} axis
   * @returns {uPlot.Options}
   */
  options(data, width, range, axis) {
    const size = width < 520 ? 50 : 64;
    return {
      width, height: plotHeight + (axis ? axisHeight : 4), legend: {show: false}, padding: [8, 8, axis ? 0 : 4, 0],
      scales: {
        x: {time: false, range: [range.from / 1e9, range.to / 1e9]},
        y: data.style === 'points' ? {distr: 3, range: (_u, min, max) => powersAround(min, max)}
          : {range: (_u, _min, max) => yRange(data, max)},
      },
      series: [{}, ...plotSeries(data)],
      axes: [timeAxis(axis), valueAxis(this.info.unit, size, data.style === 'points')],
      cursor: this.cursorOptions(),
      hooks: {
        setSelect: [(u) => this.selectedRange(u)],
        setCursor: [(u) => this.cursorMoved(u)],
        draw: [(u) => shadeOutside(u, this.events.selection())],
      },
    };
  }

  /** @returns {uPlot.Cursor} */
  cursorOptions() {
    return {
      y: false, points: {show: false}, sync: {key: 'strip'}, drag: {x: true, y: false, setScale: false},
      dataIdx: (u, _series, closest, x) => (u.data[0][closest] > x && closest > 0 ? closest - 1 : closest),
      bind: {
        dblclick: () => () => {
          this.events.reset();
          return null;
        },
      },
    };
  }

  /** @param {uPlot} u */
  selectedRange(u) {
    const {left, width} = u.select;
    if (width < 2) {
      return;
    }
    const from = u.posToVal(left, 'x') * 1e9;
    const to = u.posToVal(left + width, 'x') * 1e9;
    const unit = roundUnit((to - from) / width);
    u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    this.events.range(Math.round(from / unit) * unit, Math.round(to / unit) * unit);
  }

  /** @param {uPlot} u */
  cursorMoved(u) {
    const left = u.cursor.left ?? -1;
    this.readout(left < 0 ? null : (u.cursor.idx ?? null));
    this.events.moved(left < 0 ? null : u.posToVal(left, 'x') * 1e9);
  }

  /**
   * moveTo moves the cursor to a time without telling the other charts; null removes it.
   * @param {number | null} time
   */
  moveTo(time) {
    const u = this.plot;
    u?.setCursor(time === null ? {left: -10, top: -10} : {left: u.valToPos(time / 1e9, 'x'), top: 4}, false);
    if (u) {
      this.readout(time === null ? null : (u.cursor.idx ?? null));
    }
  }

  /**
   * readout shows the values of a bin in the legend, or the largest values. A line has its last value.
   * @param {number | null} bin
   */
  readout(bin) {
    this.shown?.series.forEach((series, i) => {
      let k = Math.min(bin ?? 0, this.bins.count - 1);
      while (this.shown?.style === 'line' && k > 0 && series.values[k] === null) {
        k--;
      }
      const at = series.values[k];
      const text = bin === null ? this.largest(i) : at === null ? 'none' : formatChartValue(at, this.info.unit);
      this.readouts[i].textContent = text;
    });
  }

  /**
   * @param {number} i
   * @returns {string}
   */
  largest(i) {
    const at = maximumAt(this.shown?.series[i].values ?? []);
    return at < 0 ? '' : 'max ' + formatChartValue(Number(this.shown?.series[i].values[at]), this.info.unit);
  }

  /**
   * summary describes the chart in words.
   * @returns {string}
   */
  summary() {
    const parts = (this.shown?.series ?? []).map((series) => {
      const at = maximumAt(series.values);
      if (at < 0) {
        return series.label + ' no values';
      }
      const time = exactTime(Math.round(this.bins.from + at * this.bins.width));
      return `${series.label} at most ${formatChartValue(Number(series.values[at]), this.info.unit)} at ${time}`;
    });
    const note = this.shown?.note ? `, ${this.shown.note}` : '';
    return `${this.info.title}${note}: ${parts.join(', ')}`;
  }
}

/**
 * maximumAt returns the index of the first largest value, or -1 if there is none.
 * @param {ArrayLike<number | null>} values
 * @returns {number}
 */
export function maximumAt(values) {
  let at = -1;
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (v !== null && (at < 0 || v > Number(values[at]))) {
      at = i;
    }
  }
  return at;
}

/**
 * plotColumns returns the columns of a chart for uPlot. Stacked series are added up and come in reverse order, so that
 * smaller sums are drawn over larger ones. The last value is repeated at the end of the last bin.
 * @param {ChartData} data
 * @param {Bins} bins
 * @returns {uPlot.AlignedData}
 */
export function plotColumns(data, bins) {
  /** @type {(number | null)[][]} */
  const columns = data.series.map((series) => Array.from(series.values));
  if (data.stacked) {
    for (let k = 1; k < columns.length; k++) {
      if (!data.series[k].over) {
        columns[k] = columns[k].map((v, i) => Number(v) + Number(columns[k - 1][i]));
      }
    }
  }
  for (const column of columns) {
    column.push(data.style === 'area' ? (column[column.length - 1] ?? null) : null);
  }
  const lines = columns.filter((_, k) => data.series[k].over);
  const areas = columns.filter((_, k) => !data.series[k].over).reverse();
  return [Array.from(binEdges(bins)), ...areas, ...lines];
}

/**
 * plotSeries returns the series in the order of plotColumns.
 * @param {ChartData} data
 * @returns {uPlot.Series[]}
 */
function plotSeries(data) {
  const areas = data.series.filter((series) => !series.over).reverse();
  const lines = data.series.filter((series) => series.over);
  const paths = uPlot.paths.stepped?.({align: 1});
  return [
    ...areas.map((series) => seriesStyle(data.style, cssColor(series.color))),
    ...lines.map((series) => ({...seriesStyle('line', cssColor(series.color)), paths, points: {show: false}})),
  ];
}

/**
 * @param {ChartData['style']} style
 * @param {string} color
 * @returns {uPlot.Series}
 */
function seriesStyle(style, color) {
  switch (style) {
    case 'area':
      return {fill: color, stroke: color, width: 0, points: {show: false}, paths: uPlot.paths.stepped?.({align: 1})};
    case 'bars':
      return {fill: color, width: 0, points: {show: false}, paths: uPlot.paths.bars?.({align: 1, size: [1, 6, 2]})};
    case 'points':
      return {stroke: color, width: 0, paths: () => null, points: {show: true, size: 4, fill: color, width: 0}};
  }
  return {stroke: color, width: 1.5, spanGaps: true, points: {show: true, size: 3, fill: color}};
}

/**
 * @param {ChartData} data
 * @param {number} max
 * @returns {[number, number]}
 */
function yRange(data, max) {
  let low = 0;
  if (data.style === 'line') {
    for (const series of data.series) {
      for (let i = 0; i < series.values.length; i++) {
        low = Math.min(low, series.values[i] ?? 0);
      }
    }
  }
  return [low, max > low ? max + (max - low) * 0.05 : low + 1];
}

/**
 * powersAround returns the powers of ten around the values of a logarithmic axis.
 * @param {number | null} min
 * @param {number | null} max
 * @returns {[number, number]}
 */
export function powersAround(min, max) {
  const low = 10 ** Math.floor(Math.log10(Math.max(1, min ?? 1)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(1, max ?? 1)));
  return [low, high > low ? high : low * 10];
}

/** Distances of ticks in whole things, in bytes, and on a logarithmic axis. */
const decimalSteps = Array.from({length: 40}, (_, i) => [1, 2, 5][i % 3] * 10 ** (Math.floor(i / 3) - 1));
const binarySteps = Array.from({length: 63}, (_, i) => 2 ** i);

/** The least distance between ticks of time, in CSS pixels. */
const tickSpace = 90;

/**
 * timeAxis has its own ticks: those of the library have steps of 2.5, and text that is rounded to two digits.
 * @param {boolean} show
 * @returns {uPlot.Axis}
 */
function timeAxis(show) {
  /** @type {string[]} */
  let texts = [];
  return {
    size: show ? axisHeight : 0, stroke: cssColor('--quiet'), font: '10px system-ui, sans-serif', gap: 6,
    grid: {stroke: cssColor('--line'), width: 1}, ticks: {show: false}, space: tickSpace,
    splits: (u, _axis, min, max) => {
      const axis = axisTicks(min * 1e9, max * 1e9, u.bbox.width / window.devicePixelRatio, tickSpace);
      texts = axis.texts;
      return axis.ticks.map((t) => t / 1e9);
    },
    values: () => (show ? texts : texts.map(() => '')),
  };
}

/**
 * @param {string} unit
 * @param {number} size
 * @param {boolean} logarithmic
 * @returns {uPlot.Axis}
 */
function valueAxis(unit, size, logarithmic) {
  return {
    size, stroke: cssColor('--quiet'), font: '10px system-ui, sans-serif', gap: 4, space: 22,
    grid: {stroke: cssColor('--line'), width: 1}, ticks: {show: false},
    values: (_u, splits) => splits.map((v) => formatChartValue(v, unit)),
    ...(logarithmic ? {splits: powersShown, filter: (_u, splits) => splits}
      : {incrs: unit.startsWith('bytes') ? binarySteps : decimalSteps}),
  };
}

/**
 * powersShown returns the powers of ten at which a logarithmic axis has lines: about three.
 * @param {uPlot} u
 * @returns {number[]}
 */
function powersShown(u) {
  const low = Math.round(Math.log10(u.scales.y.min ?? 1));
  const high = Math.round(Math.log10(u.scales.y.max ?? 1));
  const step = Math.max(1, Math.ceil((high - low) / 3));
  return Array.from({length: Math.floor((high - low) / step) + 1}, (_, i) => 10 ** (low + i * step));
}

/**
 * shadeOutside covers the parts of a chart that are not selected.
 * @param {uPlot} u
 * @param {{from: number | null, to: number | null}} selection
 */
function shadeOutside(u, selection) {
  if (selection.from === null && selection.to === null) {
    return;
  }
  const {left, top, width, height} = u.bbox;
  const clamp = (/** @type {number} */ x) => Math.min(left + width, Math.max(left, x));
  const from = selection.from === null ? left : clamp(u.valToPos(selection.from / 1e9, 'x', true));
  const to = selection.to === null ? left + width : clamp(u.valToPos(selection.to / 1e9, 'x', true));
  u.ctx.save();
  u.ctx.globalAlpha = 0.72;
  u.ctx.fillStyle = cssColor('--panel');
  u.ctx.fillRect(left, top, from - left, height);
  u.ctx.fillRect(to, top, left + width - to, height);
  u.ctx.globalAlpha = 1;
  u.ctx.fillStyle = cssColor('--accent');
  u.ctx.fillRect(from - 1, top, 1, height);
  u.ctx.fillRect(to, top, 1, height);
  u.ctx.restore();
}
