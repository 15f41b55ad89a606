// The lanes of the timeline of threads: which slices and samples each thread has. It has no access to the document.

import {groupByKey} from './model.js';
import {makeRows} from './threads-layout.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').Kind} Kind */
/** @typedef {import('./threads-layout.js').Row} Row */

/**
 * A Lane is a thread, or what a process has apart from its threads: operations of the runtime, spans that do not nest
 * on a thread, work items in queues. thread is -1 for the latter.
 * @typedef {{process: number, thread: number, title: string, rows: Row[], slices: number, crowded: number}} Lane
 */

/**
 * SampleBoxes are the samples of one thread as durations, sorted by time. running[i] is the running time of the samples
 * before i: of those that do not end in a function that waits.
 * @typedef {{start: Float64Array, end: Float64Array, id: Int32Array, running: Float64Array}} SampleBoxes
 */

const laneRuntime = 0;
const laneSpans = 1;
const laneQueues = 2;
const processLanes = ['Runtime', 'Spans', 'Queues'];

/** Kinds of intervals that occupy a process, and those that occupy no thread. */
const runtimeKinds = new Set(['gc', 'gc_pause', 'suspension']);
const queueKinds = new Set(['thread_pool_queue', 'thread_pool_io_queue']);

/**
 * A SliceList is a list of slices, sorted by start.
 * @typedef {{start: Float64Array, end: Float64Array, id: Int32Array}} SliceList
 */

/**
 * buildLanes returns the lanes that have slices, and all threads, in the order of the timeline: by process, first the
 * lanes of the process, then its threads.
 * @param {Trace} trace
 * @returns {Lane[]}
 */
export function buildLanes(trace) {
  const threads = trace.threads.rows;
  const processes = Math.max(1, trace.processes.rows);
  const keys = threads + 3 * processes;
  const intervals = groupByKey(intervalLanes(trace, threads), keys);
  const spans = groupByKey(spanLanes(trace, threads), keys);
  /** @type {SliceList[][]} spans that do not nest on their thread, by process */
  const moved = Array.from({length: processes}, () => []);
  /** @type {Lane[]} */
  const lanes = [];
  for (let thread = 0; thread < threads; thread++) {
    const process = Math.max(0, trace.threads.process[thread]);
    const nested = splitNested(trace, sliceListOf(trace, intervals, spans, thread));
    moved[process].push(nested.others);
    lanes.push(laneOf(process, thread, laneTitle(trace, thread), nested.list));
  }
  for (let process = 0; process < processes; process++) {
    for (let lane = 0; lane < processLanes.length; lane++) {
      const own = sliceListOf(trace, intervals, spans, threads + 3 * process + lane);
      const list = lane === laneSpans ? joinSlices([own, ...moved[process]]) : own;
      if (list.id.length > 0) {
        lanes.push(laneOf(process, -1, processLanes[lane], list));
      }
    }
  }
  return lanes.map((lane, i) => ({lane, i})).sort((a, b) => compareLanes(trace, a, b)).map(({lane}) => lane);
}

/**
 * laneTitle returns the ID of a thread and its name. The ID comes first, because many threads have the same name.
 * @param {Trace} trace
 * @param {number} thread
 * @returns {string}
 */
function laneTitle(trace, thread) {
  return `${trace.threads.tid[thread]} ${trace.str(trace.threads.name[thread])}`.trim();
}

/**
 * @param {Trace} trace
 * @param {{lane: Lane, i: number}} a
 * @param {{lane: Lane, i: number}} b
 * @returns {number}
 */
function compareLanes(trace, a, b) {
  if (a.lane.process !== b.lane.process) {
    return a.lane.process - b.lane.process;
  }
  if ((a.lane.thread < 0) !== (b.lane.thread < 0)) {
    return a.lane.thread < 0 ? -1 : 1;
  }
  if (a.lane.thread < 0) {
    return a.i - b.i;
  }
  return trace.threads.first[a.lane.thread] - trace.threads.first[b.lane.thread] || a.i - b.i;
}

/**
 * @param {number} process
 * @param {number} thread
 * @param {string} title
 * @param {SliceList} list
 * @returns {Lane}
 */
function laneOf(process, thread, title, list) {
  const {rows, crowded} = makeRows(list.start, list.end, list.id);
  return {process, thread, title, rows, slices: list.id.length, crowded};
}

/**
 * intervalLanes returns the lane of each interval: a thread, or the number of threads plus a lane of a process.
 * @param {Trace} trace
 * @param {number} threads
 * @returns {Int32Array}
 */
function intervalLanes(trace, threads) {
  const v = trace.intervals;
  const lanes = new Int32Array(v.rows);
  /** @type {Map<number, number>} */
  const byKind = new Map();
  for (let i = 0; i < v.rows; i++) {
    let lane = byKind.get(v.kind[i]);
    if (lane === undefined) {
      const kind = trace.str(v.kind[i]);
      lane = runtimeKinds.has(kind) ? laneRuntime : queueKinds.has(kind) ? laneQueues : -1;
      byKind.set(v.kind[i], lane);
    }
    const thread = v.thread[i];
    const process = thread < 0 ? 0 : Math.max(0, trace.threads.process[thread]);
    lanes[i] = lane < 0 && thread >= 0 ? thread : threads + 3 * process + Math.max(laneRuntime, lane);
  }
  return lanes;
}

/**
 * spanLanes returns the lane of each span, as intervalLanes does.
 * @param {Trace} trace
 * @param {number} threads
 * @returns {Int32Array}
 */
function spanLanes(trace, threads) {
  const s = trace.spans;
  const lanes = new Int32Array(s.rows);
  for (let i = 0; i < s.rows; i++) {
    lanes[i] = s.thread[i] >= 0 ? s.thread[i] : threads + 3 * Math.max(0, s.process[i]) + laneSpans;
  }
  return lanes;
}

/** @typedef {{starts: Int32Array, order: Int32Array}} Groups */

/**
 * sliceListOf returns the slices of a lane, merged from intervals and spans. The ID of a span is its index plus the
 * number of intervals.
 * @param {Trace} trace
 * @param {Groups} intervals
 * @param {Groups} spans
 * @param {number} lane
 * @returns {SliceList}
 */
function sliceListOf(trace, intervals, spans, lane) {
  const a = sortedSlices(trace.intervals, intervals, lane, 0, trace.end);
  const b = sortedSlices(trace.spans, spans, lane, trace.intervals.rows, trace.end);
  return a.id.length === 0 ? b : b.id.length === 0 ? a : joinSlices([a, b]);
}

/**
 * @param {{time: Float64Array, duration: Float64Array}} table
 * @param {Groups} groups
 * @param {number} lane
 * @param {number} firstID
 * @param {number} traceEnd
 * @returns {SliceList}
 */
function sortedSlices(table, groups, lane, firstID, traceEnd) {
  const order = groups.order.subarray(groups.starts[lane], groups.starts[lane + 1]);
  const list = emptySlices(order.length);
  let sorted = true;
  for (let k = 0; k < order.length; k++) {
    const i = order[k];
    const start = table.time[i];
    list.start[k] = start;
    list.end[k] = table.duration[i] < 0 ? Math.max(start, traceEnd) : start + table.duration[i];
    list.id[k] = firstID + i;
    sorted &&= k === 0 || list.start[k - 1] <= start;
  }
  return sorted ? list : sortSlices(list);
}

/**
 * @param {number} n
 * @returns {SliceList}
 */
function emptySlices(n) {
  return {start: new Float64Array(n), end: new Float64Array(n), id: new Int32Array(n)};
}

/**
 * @param {SliceList} list
 * @returns {SliceList}
 */
function sortSlices(list) {
  const order = Int32Array.from(list.id.keys()).sort((a, b) => list.start[a] - list.start[b] || a - b);
  const out = emptySlices(order.length);
  for (let k = 0; k < order.length; k++) {
    out.start[k] = list.start[order[k]];
    out.end[k] = list.end[order[k]];
    out.id[k] = list.id[order[k]];
  }
  return out;
}

/**
 * joinSlices merges sorted lists.
 * @param {SliceList[]} lists
 * @returns {SliceList}
 */
function joinSlices(lists) {
  const used = lists.filter((list) => list.id.length > 0);
  if (used.length === 1) {
    return used[0];
  }
  if (used.length !== 2) {
    return sortSlices(concatSlices(used));
  }
  const [a, b] = used;
  const out = emptySlices(a.id.length + b.id.length);
  for (let k = 0, i = 0, j = 0; k < out.id.length; k++) {
    const first = j === b.id.length || (i < a.id.length && a.start[i] <= b.start[j]);
    const from = first ? a : b;
    const at = first ? i++ : j++;
    out.start[k] = from.start[at];
    out.end[k] = from.end[at];
    out.id[k] = from.id[at];
  }
  return out;
}

/**
 * @param {SliceList[]} lists
 * @returns {SliceList}
 */
function concatSlices(lists) {
  const out = emptySlices(lists.reduce((n, list) => n + list.id.length, 0));
  let at = 0;
  for (const list of lists) {
    out.start.set(list.start, at);
    out.end.set(list.end, at);
    out.id.set(list.id, at);
    at += list.id.length;
  }
  return out;
}

/**
 * splitNested separates the spans that overlap an earlier slice of their thread without being inside it: they continue
 * on other threads. Intervals always stay.
 * @param {Trace} trace
 * @param {SliceList} list
 * @returns {{list: SliceList, others: SliceList}}
 */
function splitNested(trace, list) {
  const n = list.id.length;
  const out = new Uint8Array(n);
  /** @type {number[]} ends of the open slices */
  const open = [];
  let moved = 0;
  for (let i = 0; i < n; i++) {
    while (open.length > 0 && open[open.length - 1] <= list.start[i]) {
      open.pop();
    }
    const crosses = open.length > 0 && open[open.length - 1] < list.end[i];
    if (crosses && list.id[i] >= trace.intervals.rows) {
      out[i] = 1;
      moved++;
    } else if (!crosses) {
      open.push(list.end[i]);
    }
  }
  if (moved === 0) {
    return {list, others: emptySlices(0)};
  }
  return {list: pickSlices(list, out, 0, n - moved), others: pickSlices(list, out, 1, moved)};
}

/**
 * @param {SliceList} list
 * @param {Uint8Array} mark
 * @param {number} value
 * @param {number} count
 * @returns {SliceList}
 */
function pickSlices(list, mark, value, count) {
  const out = emptySlices(count);
  for (let i = 0, k = 0; i < mark.length; i++) {
    if (mark[i] === value) {
      out.start[k] = list.start[i];
      out.end[k] = list.end[i];
      out.id[k++] = list.id[i];
    }
  }
  return out;
}

/**
 * A SampleLanes object gives the samples of a kind by thread. It sorts out the samples of a thread when they are first
 * asked for.
 */
export class SampleLanes {
  /**
   * @param {Trace} trace
   * @param {Kind} kind
   * @param {(node: number) => boolean} isWaiting
   */
  constructor(trace, kind, isWaiting) {
    this.trace = trace;
    this.kind = kind;
    this.isWaiting = isWaiting;
    this.groups = groupByKey(kind.samples.thread, trace.threads.rows);
    /** @type {(SampleBoxes | undefined)[]} */
    this.known = [];
  }

  /**
   * count returns the number of samples of a thread.
   * @param {number} thread
   * @returns {number}
   */
  count(thread) {
    return thread < 0 ? 0 : this.groups.starts[thread + 1] - this.groups.starts[thread];
  }

  /**
   * of returns the samples of a thread. A sample lasts for its value if that is a time, but not beyond the next sample.
   * @param {number} thread
   * @returns {SampleBoxes}
   */
  of(thread) {
    return (this.known[thread] ??= this.boxes(thread));
  }

  /**
   * @param {number} thread
   * @returns {SampleBoxes}
   */
  boxes(thread) {
    const {samples, values, main} = this.kind;
    const order = this.groups.order.subarray(this.groups.starts[thread], this.groups.starts[thread + 1]);
    const n = order.length;
    const out = {start: new Float64Array(n), end: new Float64Array(n), id: order, running: new Float64Array(n + 1)};
    const timed = values[main].unit === 'nanoseconds';
    for (let k = 0; k < n; k++) {
      const i = order[k];
      const next = k + 1 < n ? samples.time[order[k + 1]] : Infinity;
      out.start[k] = samples.time[i];
      out.end[k] = Math.max(samples.time[i], Math.min(next, samples.time[i] + (timed ? samples.values[main][i] : 0)));
      const runs = !this.isWaiting(samples.node[i]);
      out.running[k + 1] = out.running[k] + (runs ? out.end[k] - out.start[k] : 0);
    }
    return out;
  }
}
