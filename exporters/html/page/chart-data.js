// The charts of the time strip: which exist, and their values per bin. It has no access to the document.

import {BinSum, binLatest, binMaxima, binPeaks, binQuantiles, joinByKey} from './bins.js';
import {selected} from './selection.js';
import {spanIndex, valueWithUnit} from './span-samples.js';
import {spansIn} from './spans-data.js';
import {hasIntervals, intervalsOfKind} from './threads-layout.js';
import {duration, number, quantity, stateText} from './units.js';

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
 * ChartData are the values of a chart. The series of a stacked chart are added up. note states what the value of a bin is,
 * such as "mean per 20ms".
 * @typedef {{series: ChartSeries[], stacked: boolean, style: 'area' | 'line' | 'bars' | 'points', note?: string}} ChartData
 */
/**
 * A ChartInfo describes a chart. open is whether it is shown at first; counter is whether it shows a counter, and group
 * its provider. maxBins bounds the bins: peaks of rates depend on the width of bins.
 * @typedef {{
 *   id: string, title: string, unit: string, open: boolean, counter: boolean, group?: string, minWidth: number,
 *   maxBins?: number, compute: (state: State, bins: Bins) => ChartData
 * }} ChartInfo
 */

/** The number of charts that are open at first. */
const maxOpenCharts = 6;
/** The largest number of bins of charts that show rates. */
const maxRateBins = 100;
/** The largest number of bins of charts that count. */
const maxCountBins = 300;

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
  return [...charts, ...counterCharts(trace, charts.length === 0)];
}

/**
 * formatChartValue returns a value of a chart with its unit.
 * @param {number} value
 * @param {string} unit
 * @returns {string}
 */
export function formatChartValue(value, unit) {
  if (unit.endsWith('/s')) {
    return formatChartValue(value, unit.slice(0, -2)) + '/s';
  }
  switch (unit) {
    case 'threads': case 'cores': case 'requests': case '':
      return number(Math.abs(value) < 100 ? Number(value.toFixed(2)) : Math.round(value));
  }
  return quantity(value, unit);
}

/**
 * meanNote states that the values of bins are means.
 * @param {Bins} bins
 * @returns {string}
 */
function meanNote(bins) {
  return 'mean per ' + duration(bins.width);
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
  const minWidth = kind.bin_ns;
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
    .map(([label, sum], i) => seriesOf(stateText(label), stateColors.get(label) ?? paletteColor(i + 3), sum, bins.width));
  if (within) {
    series.push({...seriesOf(trace.functionName(state.method), '--chart-mark', method, bins.width), over: true});
  }
  return {series, stacked: true, style: 'area', note: meanNote(bins)};
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
 * threadsThatRan returns how many threads ran at one time, at most.
 * @param {Trace} trace
 * @param {State} state
 * @param {Kind} kind
 * @param {Bins} bins
 * @returns {ChartData}
 */
function threadsThatRan(trace, state, kind, bins) {
  const values = threadPeaks(kind, selected(trace, {...wholeStrip(state), waits: false}, kind.index), bins);
  const series = [{label: 'threads', color: '--chart-run', values}];
  return {series, stacked: false, style: 'area', note: 'most at one time'};
}

/**
 * threadPeaks returns how many threads have samples at one time, at most, for each bin.
 * @param {Kind} kind
 * @param {Int32Array} rows of its samples, in time order
 * @param {Bins} bins
 * @returns {Float64Array}
 */
function threadPeaks(kind, rows, bins) {
  const {samples} = kind;
  const timed = valueWithUnit(kind, 'nanoseconds');
  const lengths = kind.bin_ns > 0 || timed < 0 ? null : samples.values[timed];
  const times = new Float64Array(rows.length);
  const ends = new Float64Array(rows.length);
  const threads = new Int32Array(rows.length);
  for (let k = 0; k < rows.length; k++) {
    times[k] = samples.time[rows[k]];
    ends[k] = times[k] + (lengths ? lengths[rows[k]] : kind.bin_ns);
    threads[k] = samples.thread[rows[k]];
  }
  const joined = joinByKey(times, ends, threads);
  return binPeaks(bins, joined.starts, joined.ends);
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
    rateOf(trace, state, kind, value, bins);
  const [minWidth, maxBins] = [kind.bin_ns, maxRateBins];
  return [{id: 'alloc', title: 'Allocation rate', unit: 'bytes/s', open: true, counter: false, minWidth, maxBins, compute}];
}

/**
 * sumOf adds up the values of the selected samples.
 * @param {Trace} trace
 * @param {State} state
 * @param {Kind} kind
 * @param {number} value
 * @param {Bins} bins
 * @returns {BinSum}
 */
function sumOf(trace, state, kind, value, bins) {
  const {time, values} = kind.samples;
  const sum = new BinSum(bins);
  for (const i of selected(trace, wholeStrip(state), kind.index)) {
    sum.spread(time[i], kind.bin_ns, values[value][i]);
  }
  return sum;
}

/**
 * rateOf returns the bytes of the selected samples per second.
 * @param {Trace} trace
 * @param {State} state
 * @param {Kind} kind
 * @param {number} value
 * @param {Bins} bins
 * @returns {ChartData}
 */
function rateOf(trace, state, kind, value, bins) {
  const series = [seriesOf('allocated', '--chart-alloc', sumOf(trace, state, kind, value, bins), bins.width / 1e9)];
  return {series, stacked: false, style: 'area', note: meanNote(bins)};
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
  const labelOf = (/** @type {number} */ id) => (trace.processes.rows > 1 ? trace.processName(all[id].process) : 'value');
  const compute = (/** @type {State} */ state, /** @type {Bins} */ bins) => counterData(trace, state, used, bins, labelOf);
  const title = 'Heap after collections';
  return [{id: 'heap', title, unit: all[used[0]].unit || 'bytes', open: true, counter: false, minWidth: 0, compute}];
}

/**
 * counterData returns the last values of counters in each bin.
 * @param {Trace} trace
 * @param {State} state
 * @param {number[]} ids
 * @param {Bins} bins
 * @param {(id: number) => string} labelOf
 * @returns {ChartData}
 */
function counterData(trace, state, ids, bins, labelOf) {
  const {all, rows, series, time, value} = trace.counters;
  /** @type {ChartSeries[]} */
  const out = [];
  for (const id of ids) {
    if (state.process >= 0 && all[id].process >= 0 && all[id].process !== state.process) {
      continue;
    }
    const own = Array.from({length: rows}, (_, i) => i).filter((i) => series[i] === id);
    const values = binLatest(bins, own.map((i) => time[i]), own.map((i) => value[i]));
    out.push({label: labelOf(id), color: paletteColor(out.length), values});
  }
  return {series: out, stacked: false, style: 'line'};
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
    const pauses = intervalsOfKind(trace, 'gc_pause', state, true).filter((i) => v.duration[i] >= 0);
    const values = binMaxima(bins, pauses.map((i) => v.time[i]), pauses.map((i) => v.duration[i]));
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
    const sum = kind && value >= 0 ? sumOf(trace, state, kind, value, bins) : new BinSum(bins);
    for (const i of kind && value >= 0 ? [] : intervalsOfKind(trace, 'exception', state, false)) {
      sum.add(trace.intervals.time[i], 1);
    }
    const series = [seriesOf('thrown', '--chart-error', sum, 1)];
    return /** @type {ChartData} */ ({series, stacked: false, style: 'bars', note: 'count per ' + duration(bins.width)});
  };
  const [minWidth, maxBins] = [kind?.bin_ns ?? 0, maxCountBins];
  return [{id: 'exceptions', title: 'Exceptions', unit: 'count', open: true, counter: false, minWidth, maxBins, compute}];
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
 * waitingThreads returns how many threads wait at one time, at most; the mean for samples that were added up.
 * @param {Trace} trace
 * @param {State} state
 * @param {Kind | undefined} kind whose samples are the waits, or undefined if the intervals are
 * @param {string} name
 * @param {Bins} bins
 * @returns {ChartData}
 */
function waitingThreads(trace, state, kind, name, bins) {
  const [label, color] = ['waiting', '--chart-lock'];
  if (kind && kind.bin_ns > 0) {
    const sum = sumOf(trace, state, kind, valueWithUnit(kind, 'nanoseconds'), bins);
    return {series: [seriesOf(label, color, sum, bins.width)], stacked: false, style: 'area', note: meanNote(bins)};
  }
  let values;
  if (kind) {
    values = threadPeaks(kind, selected(trace, wholeStrip(state), kind.index), bins);
  } else {
    const v = trace.intervals;
    const waits = intervalsOfKind(trace, name, state, false);
    const ends = waits.map((i) => (v.duration[i] < 0 ? trace.end : v.time[i] + v.duration[i]));
    const joined = joinByKey(waits.map((i) => v.time[i]), ends, waits.map((i) => v.thread[i]));
    values = binPeaks(bins, joined.starts, joined.ends);
  }
  return {series: [{label, color, values}], stacked: false, style: 'area', note: 'most at one time'};
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
    const own = spansIn(trace, requests, wholeStrip(state));
    const values = binPeaks(bins, own.map((i) => s.time[i]), own.map((i) => end[i]));
    const series = [{label: 'in flight', color: '--chart-request', values}];
    return /** @type {ChartData} */ ({series, stacked: false, style: 'area', note: 'most at one time'});
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

/** Counters that are shown first, if the recording has no other charts. */
const firstCounters = [
  /^(cpu-usage|.*\bcpu\.time)$/, /^(working-set|.*\bworking_set)$/, /^(gc-heap-size|.*\bheap\.size)$/,
  /^(alloc-rate|.*\btotal_allocated)$/, /^(threadpool-|.*\bthread_pool\.)/,
];
/** Statistics that have the unit of their counter and one scale: they share a chart. */
const levels = new Set(['', 'mean', 'min', 'max', 'median', 'p50', 'p75', 'p90', 'p95', 'p99', 'p999', 'last', 'value']);

/**
 * counterGroups returns the counters of a trace: lists of series that share a chart. The deviations and counts of means
 * are in the table of counters only.
 * @param {Trace} trace
 * @returns {number[][]}
 */
export function counterGroups(trace) {
  const {all, series} = trace.counters;
  const used = new Set(series);
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  all.forEach(({process, provider, name, tags, kind, statistic}, id) => {
    const dropped = kind === 'mean' && (statistic === 'count' || statistic === 'standard_deviation');
    if (used.has(id) && provider !== 'ntconv' && !dropped) {
      const key = JSON.stringify([process, provider, name, tags, levels.has(statistic) ? '' : statistic]);
      groups.set(key, [...(groups.get(key) ?? []), id]);
    }
  });
  return [...groups.values()];
}

/**
 * openCounters returns the counters that are shown first: one of each usual name, then those of the program, then others
 * with usual names.
 * @param {Trace} trace
 * @param {number[][]} groups
 * @returns {Set<number[]>}
 */
function openCounters(trace, groups) {
  const info = (/** @type {number[]} */ group) => trace.counters.all[group[0]];
  const rate = (/** @type {number[]} */ group) => {
    const {kind, name, statistic} = info(group);
    const grows = kind === 'counter' && !/\.(count|length)$/.test(name);
    return Number(grows !== (statistic === 'rate'));
  };
  const sorted = [...groups].sort((a, b) => rate(a) - rate(b));
  const usual = firstCounters.map((name) => sorted.filter((group) => name.test(info(group).name)));
  const own = sorted.filter((group) => !/^(System|Microsoft)\./.test(info(group).provider));
  const rest = [...own, ...usual.flatMap((list) => list.slice(1)), ...sorted];
  return new Set([...new Set([...usual.flatMap((list) => list.slice(0, 1)), ...rest])].slice(0, maxOpenCharts));
}

/**
 * @param {Trace} trace
 * @param {boolean} open whether some are open at first
 * @returns {ChartInfo[]}
 */
function counterCharts(trace, open) {
  const {all} = trace.counters;
  const groups = counterGroups(trace);
  const shown = open ? openCounters(trace, groups) : new Set();
  return groups.map((ids) => {
    const compute = (/** @type {State} */ state, /** @type {Bins} */ bins) =>
      counterData(trace, state, ids, bins, (id) => all[id].statistic || 'value');
    return {
      id: 'counter-' + ids[0], title: counterTitle(trace, ids[0], ids.length === 1), unit: counterUnit(trace, ids[0]),
      open: shown.has(ids), counter: true, group: all[ids[0]].provider, minWidth: 0, compute,
    };
  });
}

const counterUnits = new Map([['By', 'bytes'], ['B', 'bytes'], ['s', 'seconds'], ['ms', 'milliseconds']]);

/**
 * counterUnit returns the unit of a series, as units.js names units.
 * @param {Trace} trace
 * @param {number} id
 * @returns {string}
 */
export function counterUnit(trace, id) {
  const {unit, statistic} = trace.counters.all[id];
  if (statistic === 'count') {
    return 'count';
  }
  const plain = counterUnits.get(unit) ?? unit.replace(/^\{(.*)\}$/, '$1');
  return statistic === 'rate' ? plain + '/s' : plain;
}

/**
 * counterTitle names a series.
 * @param {Trace} trace
 * @param {number} id
 * @param {boolean} statistics whether the title includes the statistic
 * @returns {string}
 */
export function counterTitle(trace, id, statistics) {
  const {title, name, tags, statistic, process} = trace.counters.all[id];
  const parts = [title || name || 'counter'];
  if (statistic && statistics) {
    parts.push(statistic.replace(/_/g, ' '));
  }
  if (tags) {
    parts.push(tags);
  }
  if (trace.processes.rows > 1) {
    parts.push(trace.processName(process));
  }
  return parts.join(', ');
}
