// The charts of the time strip: which exist, and their values per bin. It has no access to the document.

import {BinSum, binDistinct, binLatest, binMaxima, binQuantiles} from './bins.js';
import {selected} from './model.js';
import {addTo, spanIndex, spansIn, valueWithUnit} from './spans-data.js';
import {bytes, duration, number, quantity} from './units.js';

/** Names of the series of ntconv with sizes after each collection. */
export const heapSeries = 'heap-after-gc', promotedSeries = 'promoted-by-gc';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').State} State */
/** @typedef {import('./model.js').Kind} Kind */
/** @typedef {import('./bins.js').Bins} Bins */
/**
 * ChartSeries are the values of a series. color is a CSS property. over is whether a series of a stacked chart is drawn
 * over the stack as a line, because it is a part of it.
 * @typedef {{label: string, color: string, values: ArrayLike<number | null>, over?: boolean}} ChartSeries
 */
/**
 * ChartData are the values of a chart. The series of a stacked chart are added up.
 * @typedef {{series: ChartSeries[], stacked: boolean, style: 'area' | 'line' | 'bars' | 'points'}} ChartData
 */
/**
 * A ChartInfo describes a chart. open is whether it is shown at first; counter is whether it shows a counter.
 * @typedef {{
 *   id: string, title: string, unit: string, open: boolean, counter: boolean, minWidth: number,
 *   compute: (state: State, bins: Bins) => ChartData
 * }} ChartInfo
 */

/** The number of charts that are open at first. */
const maxOpenCharts = 6;

/**
 * chartsOf returns the charts for which a trace has data.
 * @param {Trace} trace
 * @returns {ChartInfo[]}
 */
export function chartsOf(trace) {
  const charts = [
    ...timedCharts(trace), ...requestCharts(trace), ...allocationCharts(trace), ...heapCharts(trace),
    ...pauseCharts(trace), ...threadCharts(trace), ...exceptionCharts(trace), ...waitCharts(trace),
  ];
  for (let i = maxOpenCharts; i < charts.length; i++) {
    charts[i].open = false;
  }
  return [...charts, ...counterCharts(trace)];
}

/**
 * formatChartValue returns a value of a chart with its unit.
 * @param {number} value
 * @param {string} unit
 * @returns {string}
 */
export function formatChartValue(value, unit) {
  switch (unit) {
    case 'bytes/s':
      return bytes(value) + '/s';
    case 'nanoseconds':
      return duration(value);
    case 'threads': case 'cores': case '/s': case 'requests':
      return number(Math.abs(value) < 100 ? Number(value.toFixed(2)) : Math.round(value)) + (unit === '/s' ? '/s' : '');
  }
  return quantity(value, unit);
}

/**
 * wholeStrip returns a state that selects the same as state, but at all times.
 * @param {State} state
 * @returns {State}
 */
export function wholeStrip(state) {
  return {...state, from: null, to: null};
}

/**
 * @param {Trace} trace
 * @param {string} name
 * @returns {Kind | undefined} the kind if it has samples
 */
export function kindWithSamples(trace, name) {
  return trace.kinds.find((k) => k.name === name && k.samples.rows > 0);
}

/**
 * @param {Trace} trace
 * @returns {ChartInfo[]}
 */
function timedCharts(trace) {
  /** @type {ChartInfo[]} */
  const charts = [];
  for (const [name, title, unit] of [['cpu', 'CPU time', 'cores'], ['wall', 'Threads by state', 'threads']]) {
    const kind = kindWithSamples(trace, name);
    if (kind && valueWithUnit(kind, 'nanoseconds') >= 0) {
      const compute = (/** @type {State} */ state, /** @type {Bins} */ bins) => timeByState(trace, state, kind, bins);
      charts.push({id: name, title, unit, open: true, counter: false, minWidth: kind.bin_ns, compute});
    }
  }
  return charts;
}

/**
 * @param {Trace} trace
 * @returns {ChartInfo[]}
 */
function threadCharts(trace) {
  const kind = kindWithSamples(trace, 'cpu') ?? kindWithSamples(trace, 'wall');
  if (!kind) {
    return [];
  }
  const compute = (/** @type {State} */ state, /** @type {Bins} */ bins) => threadsThatRan(trace, state, kind, bins);
  const minWidth = Math.max(kind.bin_ns, 1e6);
  return [{id: 'ran', title: 'Threads that ran', unit: 'threads', open: true, counter: false, minWidth, compute}];
}

const stateColors = new Map([
  ['Managed', '--chart-run'], ['External', '--chart-native'], ['waiting', '--chart-wait'], ['CPU', '--chart-run'],
]);

/**
 * timeByState returns the time of threads per time: the average number of threads in each state.
 * @param {Trace} trace
 * @param {State} state
 * @param {Kind} kind
 * @param {Bins} bins
 * @returns {ChartData}
 */
function timeByState(trace, state, kind, bins) {
  const {samples} = kind;
  const values = samples.values[valueWithUnit(kind, 'nanoseconds')];
  /** @type {Map<string, BinSum>} */
  const sums = new Map();
  const method = new BinSum(bins);
  const within = state.method < 0 ? null : nodesWithFunction(trace, state.method);
  for (const i of selected(trace, wholeStrip(state), kind.index)) {
    const node = samples.node[i];
    const waits = node >= 0 && trace.waitNodes[node] === 1;
    const label = waits ? 'waiting' : trace.str(samples.state[i]) || (kind.name === 'cpu' ? 'CPU' : 'running');
    let sum = sums.get(label);
    if (!sum) {
      sum = new BinSum(bins);
      sums.set(label, sum);
    }
    const length = kind.bin_ns > 0 ? kind.bin_ns : values[i];
    sum.spread(samples.time[i], length, values[i]);
    if (within && node >= 0 && within[node]) {
      method.spread(samples.time[i], length, values[i]);
    }
  }
  const order = [...stateColors.keys()];
  const series = [...sums].sort(([a], [b]) => rankOf(order, a) - rankOf(order, b) || (a < b ? -1 : 1))
    .map(([label, sum], i) => seriesOf(label, stateColors.get(label) ?? paletteColor(i + 3), sum, bins.width));
  if (within) {
    series.push({...seriesOf(trace.functionName(state.method), '--chart-mark', method, bins.width), over: true});
  }
  return {series, stacked: true, style: 'area'};
}

/**
 * @param {string[]} order
 * @param {string} label
 * @returns {number}
 */
function rankOf(order, label) {
  const i = order.indexOf(label);
  return label === 'waiting' ? order.length + 1 : i < 0 ? order.length : i;
}

/**
 * paletteColor returns the CSS property of a color for the i-th thing of a chart.
 * @param {number} i
 * @returns {string}
 */
export function paletteColor(i) {
  return '--chart-' + (i % 6 + 1);
}

/**
 * @param {string} label
 * @param {string} color
 * @param {BinSum} sum
 * @param {number} divisor
 * @returns {ChartSeries}
 */
function seriesOf(label, color, sum, divisor) {
  return {label, color, values: sum.sums().map((v) => v / divisor)};
}

/**
 * nodesWithFunction marks the nodes whose stack contains a function.
 * @param {Trace} trace
 * @param {number} fn
 * @returns {Uint8Array}
 */
export function nodesWithFunction(trace, fn) {
  const {nodes, frames} = trace;
  const within = new Uint8Array(nodes.rows);
  for (let i = 0; i < nodes.rows; i++) {
    const own = nodes.frame[i] >= 0 && frames.function[nodes.frame[i]] === fn;
    within[i] = own || (nodes.parent[i] >= 0 && within[nodes.parent[i]]) ? 1 : 0;
  }
  return within;
}

/**
 * @param {Trace} trace
 * @param {State} state
 * @param {Kind} kind
 * @param {Bins} bins
 * @returns {ChartData}
 */
function threadsThatRan(trace, state, kind, bins) {
  const {samples} = kind;
  const timed = valueWithUnit(kind, 'nanoseconds');
  const chosen = selected(trace, {...wholeStrip(state), waits: false}, kind.index);
  const times = new Float64Array(chosen.length);
  const ends = new Float64Array(chosen.length);
  const threads = new Int32Array(chosen.length);
  for (let k = 0; k < chosen.length; k++) {
    const i = chosen[k];
    times[k] = samples.time[i];
    ends[k] = times[k] + (kind.bin_ns > 0 ? kind.bin_ns : timed < 0 ? 0 : samples.values[timed][i]);
    threads[k] = samples.thread[i];
  }
  const values = binDistinct(bins, times, ends, threads, trace.threads.rows);
  return {series: [{label: 'threads', color: '--chart-run', values}], stacked: false, style: 'area'};
}

/**
 * @param {Trace} trace
 * @returns {ChartInfo[]}
 */
function allocationCharts(trace) {
  const kind = kindWithSamples(trace, 'alloc');
  const value = kind ? valueWithUnit(kind, 'bytes') : -1;
  if (!kind || value < 0) {
    return [];
  }
  const compute = (/** @type {State} */ state, /** @type {Bins} */ bins) =>
    rateOf(trace, state, kind, value, 'allocated', '--chart-alloc', bins);
  const minWidth = kind.bin_ns;
  return [{id: 'alloc', title: 'Allocation rate', unit: 'bytes/s', open: true, counter: false, minWidth, compute}];
}

/**
 * rateOf returns the values of the selected samples per second.
 * @param {Trace} trace
 * @param {State} state
 * @param {Kind} kind
 * @param {number} value
 * @param {string} label
 * @param {string} color
 * @param {Bins} bins
 * @returns {ChartData}
 */
function rateOf(trace, state, kind, value, label, color, bins) {
  const {time, values} = kind.samples;
  const sum = new BinSum(bins);
  for (const i of selected(trace, wholeStrip(state), kind.index)) {
    sum.spread(time[i], kind.bin_ns, values[value][i]);
  }
  return {series: [seriesOf(label, color, sum, bins.width / 1e9)], stacked: false, style: 'area'};
}

/**
 * @param {Trace} trace
 * @returns {ChartInfo[]}
 */
function heapCharts(trace) {
  const {all} = trace.counters;
  const ids = all.map((_, i) => i).filter((i) => all[i].provider === 'ntconv' && all[i].name === heapSeries);
  const used = ids.filter((id) => trace.counters.series.includes(id));
  if (used.length === 0) {
    return [];
  }
  const compute = (/** @type {State} */ state, /** @type {Bins} */ bins) => counterData(trace, state, used, bins, true);
  const title = 'Heap after collections';
  return [{id: 'heap', title, unit: all[used[0]].unit || 'bytes', open: true, counter: false, minWidth: 0, compute}];
}

/**
 * counterData returns the last values of counters in each bin.
 * @param {Trace} trace
 * @param {State} state
 * @param {number[]} ids
 * @param {Bins} bins
 * @param {boolean} byProcess whether a series is named after its process
 * @returns {ChartData}
 */
function counterData(trace, state, ids, bins, byProcess) {
  const {all, rows, series, time, value} = trace.counters;
  /** @type {ChartSeries[]} */
  const out = [];
  for (const id of ids) {
    if (state.process >= 0 && all[id].process >= 0 && all[id].process !== state.process) {
      continue;
    }
    /** @type {number[]} */
    const times = [];
    /** @type {number[]} */
    const values = [];
    for (let i = 0; i < rows; i++) {
      if (series[i] === id) {
        times.push(time[i]);
        values.push(value[i]);
      }
    }
    const label = byProcess && trace.processes.rows > 1 ? trace.processName(all[id].process) : 'value';
    out.push({label, color: paletteColor(out.length), values: binLatest(bins, times, values)});
  }
  return {series: out, stacked: false, style: 'line'};
}

/**
 * intervalsOfKind returns the intervals of a kind that belong to the selected process and thread.
 * @param {Trace} trace
 * @param {string} name
 * @param {{process: number, thread: number}} state
 * @param {boolean} covers whether intervals of the kind occupy all threads of a process
 * @returns {number[]}
 */
export function intervalsOfKind(trace, name, state, covers) {
  const v = trace.intervals;
  const kind = trace.header.strings.indexOf(name);
  /** @type {number[]} */
  const out = [];
  for (let i = 0; kind >= 0 && i < v.rows; i++) {
    const thread = v.thread[i];
    const otherProcess = state.process >= 0 && thread >= 0 && trace.threads.process[thread] !== state.process;
    if (v.kind[i] === kind && !otherProcess && (covers || state.thread < 0 || state.thread === thread)) {
      out.push(i);
    }
  }
  return out;
}

/**
 * hasIntervals reports whether a trace has intervals of a kind.
 * @param {Trace} trace
 * @param {string} name
 * @returns {boolean}
 */
export function hasIntervals(trace, name) {
  const kind = trace.header.strings.indexOf(name);
  return kind >= 0 && trace.intervals.kind.includes(kind);
}

/**
 * @param {Trace} trace
 * @returns {ChartInfo[]}
 */
function pauseCharts(trace) {
  if (!hasIntervals(trace, 'gc_pause')) {
    return [];
  }
  const compute = (/** @type {State} */ state, /** @type {Bins} */ bins) => {
    const v = trace.intervals;
    const pauses = intervalsOfKind(trace, 'gc_pause', state, true);
    const lengths = pauses.map((i) => (v.duration[i] < 0 ? trace.end - v.time[i] : v.duration[i]));
    const values = binMaxima(bins, pauses.map((i) => v.time[i]), lengths);
    const series = [{label: 'longest', color: '--chart-gc', values}];
    return /** @type {ChartData} */ ({series, stacked: false, style: 'bars'});
  };
  return [{id: 'pauses', title: 'GC pauses', unit: 'nanoseconds', open: true, counter: false, minWidth: 0, compute}];
}

/**
 * @param {Trace} trace
 * @returns {ChartInfo[]}
 */
function exceptionCharts(trace) {
  const kind = kindWithSamples(trace, 'exceptions') ?? kindWithSamples(trace, 'exception');
  const value = kind ? valueWithUnit(kind, 'count') : -1;
  if (value < 0 && !hasIntervals(trace, 'exception')) {
    return [];
  }
  const compute = (/** @type {State} */ state, /** @type {Bins} */ bins) => {
    if (kind && value >= 0) {
      return rateOf(trace, state, kind, value, 'thrown', '--chart-error', bins);
    }
    const sum = new BinSum(bins);
    for (const i of intervalsOfKind(trace, 'exception', state, false)) {
      sum.add(trace.intervals.time[i], 1);
    }
    const series = [seriesOf('thrown', '--chart-error', sum, bins.width / 1e9)];
    return /** @type {ChartData} */ ({series, stacked: false, style: 'area'});
  };
  const minWidth = kind?.bin_ns ?? 0;
  return [{id: 'exceptions', title: 'Exceptions', unit: '/s', open: true, counter: false, minWidth, compute}];
}

/**
 * @param {Trace} trace
 * @returns {ChartInfo[]}
 */
function waitCharts(trace) {
  /** @type {ChartInfo[]} */
  const charts = [];
  for (const [name, title] of [['contention', 'Threads waiting for locks'], ['wait', 'Threads in waits']]) {
    const kind = kindWithSamples(trace, name);
    const timed = kind ? valueWithUnit(kind, 'nanoseconds') : -1;
    if (timed < 0 && !hasIntervals(trace, name)) {
      continue;
    }
    const compute = (/** @type {State} */ state, /** @type {Bins} */ bins) =>
      waitingThreads(trace, state, timed < 0 ? undefined : kind, name, bins);
    charts.push({id: name, title, unit: 'threads', open: true, counter: false, minWidth: kind?.bin_ns ?? 0, compute});
  }
  return charts;
}

/**
 * waitingThreads returns the average number of threads that wait.
 * @param {Trace} trace
 * @param {State} state
 * @param {Kind | undefined} kind whose samples are the waits, or undefined if the intervals are
 * @param {string} name
 * @param {Bins} bins
 * @returns {ChartData}
 */
function waitingThreads(trace, state, kind, name, bins) {
  const sum = new BinSum(bins);
  if (kind) {
    const values = kind.samples.values[valueWithUnit(kind, 'nanoseconds')];
    for (const i of selected(trace, wholeStrip(state), kind.index)) {
      sum.spread(kind.samples.time[i], kind.bin_ns > 0 ? kind.bin_ns : values[i], values[i]);
    }
  } else {
    const v = trace.intervals;
    for (const i of intervalsOfKind(trace, name, state, false)) {
      const length = v.duration[i] < 0 ? trace.end - v.time[i] : v.duration[i];
      sum.spread(v.time[i], length, length);
    }
  }
  return {series: [seriesOf('waiting', '--chart-lock', sum, bins.width)], stacked: false, style: 'area'};
}

/**
 * @param {Trace} trace
 * @returns {ChartInfo[]}
 */
function requestCharts(trace) {
  const {requests, noun, end} = spanIndex(trace);
  if (requests.length === 0) {
    return [];
  }
  const s = trace.spans;
  const flight = (/** @type {State} */ state, /** @type {Bins} */ bins) => {
    const sum = new BinSum(bins);
    for (const i of spansIn(trace, requests, wholeStrip(state))) {
      sum.spread(s.time[i], end[i] - s.time[i], end[i] - s.time[i]);
    }
    const series = [seriesOf('in flight', '--chart-request', sum, bins.width)];
    return /** @type {ChartData} */ ({series, stacked: false, style: 'area'});
  };
  const latency = (/** @type {State} */ state, /** @type {Bins} */ bins) => {
    const ended = spansIn(trace, requests, wholeStrip(state)).filter((i) => s.duration[i] >= 0);
    const [p50, max] = binQuantiles(bins, ended.map((i) => s.time[i]), ended.map((i) => s.duration[i]), [50, 100]);
    const series = [
      {label: 'slowest', color: '--chart-error', values: max}, {label: 'median', color: '--chart-request', values: p50},
    ];
    return /** @type {ChartData} */ ({series, stacked: false, style: 'points'});
  };
  const served = noun === 'request';
  const names = served ? ['Requests in flight', 'Latency by start'] : ['Root spans open', 'Root spans by start'];
  return [
    {id: 'flight', title: names[0], unit: 'requests', open: true, counter: false, minWidth: 0, compute: flight},
    {id: 'latency', title: names[1], unit: 'nanoseconds', open: true, counter: false, minWidth: 0, compute: latency},
  ];
}

/**
 * @param {Trace} trace
 * @returns {ChartInfo[]}
 */
function counterCharts(trace) {
  /** @type {Map<number, number>} */
  const rows = new Map();
  for (const series of trace.counters.series) {
    addTo(rows, series, 1);
  }
  /** @type {ChartInfo[]} */
  const charts = [];
  trace.counters.all.forEach((info, id) => {
    if (!rows.has(id) || info.provider === 'ntconv') {
      return;
    }
    const compute = (/** @type {State} */ state, /** @type {Bins} */ bins) =>
      counterData(trace, state, [id], bins, false);
    const title = counterTitle(trace, id);
    charts.push({id: 'counter-' + id, title, unit: info.unit, open: false, counter: true, minWidth: 0, compute});
  });
  return charts;
}

/**
 * @param {Trace} trace
 * @param {number} id
 * @returns {string}
 */
function counterTitle(trace, id) {
  const {title, name, tags, statistic, process} = trace.counters.all[id];
  const parts = [title || name || 'counter'];
  if (statistic) {
    parts.push(statistic);
  }
  if (tags) {
    parts.push(tags);
  }
  if (trace.processes.rows > 1) {
    parts.push(trace.processName(process));
  }
  return parts.join(', ');
}
