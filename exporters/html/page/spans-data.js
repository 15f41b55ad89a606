// Numbers about spans: requests by route, quantiles, and what happened during one request. It has no access to the
// document.

import {coveredTime, quantileOf} from './bins.js';
import {firstAtLeast} from './model.js';
import {groupByKey} from './threads-layout.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').Kind} Kind */

/**
 * A SpanIndex contains what is derived from the table of spans, once per trace. Children are sorted by time.
 * @typedef {{
 *   end: Float64Array, children: {starts: Int32Array, order: Int32Array, times: Float64Array}, requests: Int32Array, noun: string
 * }} SpanIndex
 */

/** @type {WeakMap<object, SpanIndex>} */
const spanIndexes = new WeakMap();

/**
 * spanIndex returns the index of the spans of a trace. Requests are the spans of servers and consumers; if there are
 * none, they are the spans without a parent.
 * @param {Trace} trace
 * @returns {SpanIndex}
 */
export function spanIndex(trace) {
  const known = spanIndexes.get(trace);
  if (known) {
    return known;
  }
  const s = trace.spans;
  const end = new Float64Array(s.rows);
  /** @type {number[]} */
  const served = [];
  /** @type {number[]} */
  const roots = [];
  for (let i = 0; i < s.rows; i++) {
    end[i] = s.duration[i] < 0 ? Math.max(s.time[i], trace.end) : s.time[i] + s.duration[i];
    const kind = trace.str(s.kind[i]);
    if (kind === 'server' || kind === 'consumer') {
      served.push(i);
    }
    if (s.parent[i] < 0) {
      roots.push(i);
    }
  }
  const list = Int32Array.from(served.length > 0 ? served : roots).sort((a, b) => s.time[a] - s.time[b] || a - b);
  const noun = served.length > 0 ? 'request' : 'root span';
  const children = {...groupByKey(s.parent, s.rows), times: new Float64Array(0)};
  for (let i = 0; i < s.rows; i++) {
    children.order.subarray(children.starts[i], children.starts[i + 1]).sort((a, b) => s.time[a] - s.time[b] || a - b);
  }
  children.times = Float64Array.from(children.order, (child) => s.time[child]);
  const index = {end, children, requests: list, noun};
  spanIndexes.set(trace, index);
  return index;
}

/**
 * spansIn returns the spans of a list that overlap the selected range and belong to the selected process and thread.
 * @param {Trace} trace
 * @param {ArrayLike<number>} list
 * @param {{from: number | null, to: number | null, process: number, thread: number}} state
 * @returns {number[]}
 */
export function spansIn(trace, list, state) {
  const {end} = spanIndex(trace);
  const s = trace.spans;
  const from = state.from ?? -Infinity;
  const to = state.to ?? Infinity;
  /** @type {number[]} */
  const out = [];
  for (let k = 0; k < list.length; k++) {
    const i = list[k];
    const inTime = s.time[i] < to && (end[i] > from || s.time[i] >= from);
    const inProcess = state.process < 0 || s.process[i] === state.process;
    if (inTime && inProcess && (state.thread < 0 || s.thread[i] === state.thread)) {
      out.push(i);
    }
  }
  return out;
}

/**
 * A Route describes the spans of one name. Times are in nanoseconds. Spans that did not end are counted, but have no
 * duration: quantiles are NaN if no span ended.
 * @typedef {{
 *   name: number, count: number, errors: number, open: number, p50: number, p95: number, p99: number, max: number,
 *   total: number, spans: number[]
 * }} Route
 */

/**
 * routesOf groups spans by name.
 * @param {Trace} trace
 * @param {number[]} list
 * @returns {Route[]} by descending total
 */
export function routesOf(trace, list) {
  const s = trace.spans;
  /** @type {Map<number, number[]>} */
  const byName = new Map();
  for (const i of list) {
    const spans = byName.get(s.name[i]);
    if (spans) {
      spans.push(i);
    } else {
      byName.set(s.name[i], [i]);
    }
  }
  const routes = Array.from(byName, ([name, spans]) => routeOf(trace, name, spans));
  return routes.sort((a, b) => b.total - a.total || b.count - a.count);
}

/**
 * @param {Trace} trace
 * @param {number} name
 * @param {number[]} spans
 * @returns {Route}
 */
function routeOf(trace, name, spans) {
  const s = trace.spans;
  const durations = Float64Array.from(spans.filter((i) => s.duration[i] >= 0), (i) => s.duration[i]).sort();
  let total = 0;
  for (const d of durations) {
    total += d;
  }
  return {
    name,
    count: spans.length,
    errors: spans.reduce((n, i) => n + (isFailed(trace, i) ? 1 : 0), 0),
    open: spans.length - durations.length,
    p50: quantileOf(durations, 50),
    p95: quantileOf(durations, 95),
    p99: quantileOf(durations, 99),
    max: quantileOf(durations, 100),
    total,
    spans,
  };
}

/**
 * isFailed reports whether a span has the status error.
 * @param {Trace} trace
 * @param {number} span
 * @returns {boolean}
 */
export function isFailed(trace, span) {
  return trace.str(trace.spans.status[span]).toLowerCase() === 'error';
}

/**
 * waterfallOf returns a span and its descendants in the order of a waterfall: each span before its children, children
 * by start. Cycles of parents, which malformed traces may contain, end at the first span that repeats.
 * @param {Trace} trace
 * @param {number} root
 * @returns {{span: number, depth: number}[]}
 */
export function waterfallOf(trace, root) {
  const {children} = spanIndex(trace);
  const s = trace.spans;
  const seen = new Set([root]);
  /** @type {{span: number, depth: number}[]} */
  const out = [];
  const stack = [{span: root, depth: 0}];
  for (let top = stack.pop(); top; top = stack.pop()) {
    out.push(top);
    const below = Array.from(children.order.subarray(children.starts[top.span], children.starts[top.span + 1]));
    below.sort((a, b) => s.time[b] - s.time[a] || b - a);
    for (const span of below) {
      if (!seen.has(span)) {
        seen.add(span);
        stack.push({span, depth: top.depth + 1});
      }
    }
  }
  return out;
}

/**
 * rootOf returns the outermost ancestor of a span within the trace, at most depth levels above.
 * @param {Trace} trace
 * @param {number} span
 * @returns {number}
 */
export function rootOf(trace, span) {
  const {parent} = trace.spans;
  const seen = new Set([span]);
  while (parent[span] >= 0 && !seen.has(parent[span])) {
    span = parent[span];
    seen.add(span);
  }
  return span;
}

/**
 * Activity is what threads did during spans: time by state and by function of the leaf frame, allocated bytes by type,
 * and waits. Sums of values are in the unit of their kind. covered is for how long at least one sample describes the
 * spans; time is larger if several threads worked for them at once.
 * @typedef {{
 *   kind: string, samples: number, time: number, covered: number, states: Map<string, number>,
 *   functions: Map<number, number>, allocated: number, types: Map<number, number>,
 *   waits: Map<string, {count: number, time: number}>
 * }} Activity
 */

/** @type {WeakMap<object, {starts: Int32Array, order: Int32Array}>} */
const samplesBySpan = new WeakMap();

/**
 * @param {Trace} trace
 * @param {Kind} kind
 */
function samplesOfSpans(trace, kind) {
  let index = samplesBySpan.get(kind);
  if (!index) {
    index = groupByKey(kind.samples.span, trace.spans.rows);
    samplesBySpan.set(kind, index);
  }
  return index;
}

/**
 * valueWithUnit returns the first value of a kind with a unit, preferring the main one, or -1.
 * @param {Kind} kind
 * @param {string} unit
 * @returns {number}
 */
export function valueWithUnit(kind, unit) {
  if (kind.values[kind.main]?.unit === unit) {
    return kind.main;
  }
  return kind.values.findIndex((v) => v.unit === unit);
}

/**
 * activityOf adds up what threads did during spans. Samples belong to their innermost span, so the activities of a span
 * and of its descendants can be added.
 * @param {Trace} trace
 * @param {number[]} spans
 * @returns {Activity}
 */
export function activityOf(trace, spans) {
  const timed = ['wall', 'cpu'].map((name) => trace.kinds.find((k) => k.name === name && k.samples.rows > 0)).find((k) => k);
  const alloc = trace.kinds.find((k) => k.name === 'alloc');
  /** @type {Activity} */
  const out = {
    kind: timed ? timed.name : '', samples: 0, time: 0, covered: 0, states: new Map(), functions: new Map(),
    allocated: 0, types: new Map(), waits: new Map(),
  };
  if (timed) {
    addTimed(trace, timed, spans, out);
  }
  for (const span of spans) {
    if (alloc) {
      addAllocated(trace, alloc, span, out);
    }
  }
  addWaits(trace, spans, out);
  return out;
}

/**
 * @template K
 * @param {Map<K, number>} map
 * @param {K} key
 * @param {number} value
 */
export function addTo(map, key, value) {
  map.set(key, (map.get(key) ?? 0) + value);
}

/**
 * Pieces are the parts of samples that lie within spans: piece k is of a sample, lasts from start to end, and counts time
 * nanoseconds. The pieces of span s are order[starts[s]] to order[starts[s+1]-1].
 * @typedef {{
 *   sample: number[], span: number[], start: number[], end: number[], time: number[], starts: Int32Array,
 *   order: Int32Array
 * }} Pieces
 */

/** @type {WeakMap<object, Pieces>} */
const piecesOfKind = new WeakMap();

/**
 * piecesOf divides the samples of a kind among the spans that were open during them. A sample describes its thread for a
 * time, which may begin in a span and end after it: only what overlaps a span counts for the span, and what overlaps its
 * children on the thread counts for them. Idle waits of the thread pool are not work of a span.
 * @param {Trace} trace
 * @param {Kind} kind
 * @returns {Pieces}
 */
function piecesOf(trace, kind) {
  const known = piecesOfKind.get(kind);
  if (known) {
    return known;
  }
  const {samples} = kind;
  const values = samples.values[Math.max(0, valueWithUnit(kind, 'nanoseconds'))];
  const idle = idleNodes(trace);
  /** @type {Pieces} */
  const out = {
    sample: [], span: [], start: [], end: [], time: [], starts: new Int32Array(0), order: new Int32Array(0),
  };
  for (let i = 0; i < samples.rows; i++) {
    const span = samples.span[i];
    if (span < 0 || span >= trace.spans.rows || (samples.node[i] >= 0 && idle[samples.node[i]] === idleWait)) {
      continue;
    }
    if (kind.bin_ns > 0) { // several samples were added up, all of them of this span
      divideSample(trace, i, span, samples.time[i], samples.time[i] + kind.bin_ns, values[i], null, out);
    } else {
      divideSample(trace, i, span, samples.time[i], samples.time[i] + values[i], values[i], samples.thread, out);
    }
  }
  Object.assign(out, groupByKey(out.span, trace.spans.rows));
  limitPieces(trace, kind, out);
  piecesOfKind.set(kind, out);
  return out;
}

/**
 * divideSample adds the pieces of one sample: to its span, to those children of it that begin during the sample on the
 * same thread, and after the end of the span to its ancestors.
 * @param {Trace} trace
 * @param {number} sample
 * @param {number} span
 * @param {number} from
 * @param {number} to
 * @param {number} value
 * @param {Int32Array | null} threads of samples, null to count the sample for its own span only
 * @param {Pieces} out
 */
function divideSample(trace, sample, span, from, to, value, threads, out) {
  const {end, children} = spanIndex(trace);
  const s = trace.spans;
  let at = Math.max(from, s.time[span]);
  /** @param {number} owner @param {number} until */
  const add = (owner, until) => {
    if (until > at) {
      out.sample.push(sample);
      out.span.push(owner);
      out.start.push(at);
      out.end.push(until);
      out.time.push(Math.min(value, until - at));
      at = until;
    }
  };
  /** @param {number} owner @param {number} level */
  const fill = (owner, level) => {
    const last = Math.min(to, end[owner]);
    const stop = threads && level < 64 ? children.starts[owner + 1] : 0;
    for (let k = firstAtLeast(children.times, at, children.starts[owner], stop); k < stop; k++) {
      const child = children.order[k];
      if (s.time[child] >= last) {
        break;
      }
      if (s.thread[child] === threads?.[sample] && end[child] > at) {
        add(owner, s.time[child]);
        fill(child, level + 1);
      }
    }
    add(owner, last);
  };
  for (let owner = span, level = 0; owner >= 0 && level < 64 && (level === 0 || threads); owner = s.parent[owner], level++) {
    fill(owner, 0);
  }
}

/**
 * limitPieces scales the pieces of a span so that no thread has more time than the span lasted. Samples of one thread
 * overlap if they are estimates, or sums.
 * @param {Trace} trace
 * @param {Kind} kind
 * @param {Pieces} pieces
 */
function limitPieces(trace, kind, pieces) {
  const {end} = spanIndex(trace);
  const {order, starts, sample, time} = pieces;
  for (let span = 0; span < trace.spans.rows; span++) {
    /** @type {Map<number, number>} */
    const sums = new Map();
    for (let k = starts[span]; k < starts[span + 1]; k++) {
      addTo(sums, kind.samples.thread[sample[order[k]]], time[order[k]]);
    }
    const length = end[span] - trace.spans.time[span];
    for (let k = starts[span]; k < starts[span + 1]; k++) {
      const sum = sums.get(kind.samples.thread[sample[order[k]]]) ?? 0;
      time[order[k]] *= sum > length ? length / sum : 1;
    }
  }
}

const poolThread = 1, poolWork = 2, idleWait = 3;
/** @type {WeakMap<object, Uint8Array>} */
const idleNodesOf = new WeakMap();

/**
 * idleNodes marks the stacks in which a thread of the thread pool waits for work.
 * @param {Trace} trace
 * @returns {Uint8Array} idleWait for these nodes
 */
export function idleNodes(trace) {
  const known = idleNodesOf.get(trace);
  if (known) {
    return known;
  }
  const {nodes, frames} = trace;
  const marks = Uint8Array.from({length: trace.functions.rows}, (_, i) => {
    const name = trace.functionName(i);
    return /\bPortableThreadPool[.+/]WorkerThread[.+/]WorkerThreadStart\b/.test(name) ? poolThread
      : /\bThreadPoolWorkQueue[.:]+Dispatch\b/.test(name) ? poolWork
        : /\bLowLevelLifoSemaphore[.:]+Wait/.test(name) ? idleWait : 0;
  });
  const out = new Uint8Array(nodes.rows);
  for (let i = 0; i < nodes.rows; i++) {
    const above = nodes.parent[i] < 0 ? 0 : out[nodes.parent[i]];
    const own = nodes.frame[i] < 0 ? 0 : marks[frames.function[nodes.frame[i]]] ?? 0;
    out[i] = own === poolThread || (above === poolThread && own !== 0) ? own : above;
  }
  idleNodesOf.set(trace, out);
  return out;
}

/**
 * @param {Trace} trace
 * @param {Kind} kind
 * @param {number[]} spans
 * @param {Activity} out
 */
function addTimed(trace, kind, spans, out) {
  const pieces = piecesOf(trace, kind);
  const {samples} = kind;
  const used = new Set();
  /** @type {number[]} */
  const list = [];
  for (const span of spans) {
    for (let k = pieces.starts[span]; k < pieces.starts[span + 1]; k++) {
      const piece = pieces.order[k];
      const i = pieces.sample[piece];
      const time = pieces.time[piece];
      list.push(piece);
      used.add(i);
      out.time += time;
      addTo(out.states, trace.str(samples.state[i]), time);
      const node = samples.node[i];
      if (node >= 0) {
        const frame = trace.nodes.frame[node];
        addTo(out.functions, frame < 0 ? -1 : trace.frames.function[frame], time);
      }
    }
  }
  out.samples = used.size;
  const covered = coveredTime(list.map((k) => pieces.start[k]), list.map((k) => pieces.end[k]));
  out.covered = kind.bin_ns > 0 ? Math.min(covered, out.time) : covered;
}

/**
 * @param {Trace} trace
 * @param {Kind} kind
 * @param {number} span
 * @param {Activity} out
 */
function addAllocated(trace, kind, span, out) {
  const {starts, order} = samplesOfSpans(trace, kind);
  const {samples} = kind;
  const values = samples.values[Math.max(0, valueWithUnit(kind, 'bytes'))];
  for (let k = starts[span]; k < starts[span + 1]; k++) {
    const i = order[k];
    out.allocated += values[i];
    addTo(out.types, samples.subject[i], values[i]);
  }
}

/** The kinds of intervals in which a thread waits, and their titles. */
const waitTitles = new Map([
  ['contention', 'Locks'],
  ['wait', 'Waits'],
  ['gc_pause', 'GC pauses'],
  ['thread_pool_queue', 'Thread pool queue'],
]);

/**
 * addWaits adds the parts of waits and pauses that lie within spans. A pause stops all threads of its process; other
 * waits belong to the span that they name, or else to the spans that were open on their thread.
 * @param {Trace} trace
 * @param {number[]} spans
 * @param {Activity} out
 */
function addWaits(trace, spans, out) {
  const {end} = spanIndex(trace);
  const s = trace.spans;
  const inside = new Set(spans);
  const begin = spans.reduce((t, i) => Math.min(t, s.time[i]), Infinity);
  const finish = spans.reduce((t, i) => Math.max(t, end[i]), -Infinity);
  const v = trace.intervals;
  const last = firstAtLeast(v.time, finish, 0, v.rows);
  for (let i = firstAtLeast(v.time, begin - longestInterval(trace), 0, last); i < last; i++) {
    const title = waitTitles.get(trace.str(v.kind[i]));
    if (title === undefined) {
      continue;
    }
    const from = v.time[i];
    const to = v.duration[i] < 0 ? trace.end : from + v.duration[i];
    const pause = title === 'GC pauses';
    const time = pause ? pausedTime(trace, spans, i, from, to) : waitedTime(trace, spans, inside, i, from, to);
    if (time >= 0) {
      const sum = out.waits.get(title) ?? {count: 0, time: 0};
      sum.count++;
      sum.time += time;
      out.waits.set(title, sum);
    }
  }
}

/**
 * pausedTime returns for how long an interval overlaps the outermost span of a list, the first one, or -1.
 * @param {Trace} trace
 * @param {number[]} spans
 * @param {number} interval
 * @param {number} from
 * @param {number} to
 * @returns {number}
 */
function pausedTime(trace, spans, interval, from, to) {
  const s = trace.spans;
  const {end} = spanIndex(trace);
  const thread = trace.intervals.thread[interval];
  const process = thread < 0 ? -1 : trace.threads.process[thread];
  for (const i of spans) {
    const overlap = Math.min(to, end[i]) - Math.max(from, s.time[i]);
    if (overlap >= 0 && (process < 0 || s.process[i] < 0 || s.process[i] === process)) {
      return overlap;
    }
  }
  return -1;
}

/**
 * waitedTime returns how much of a wait lies within the one of the spans that it belongs to, or -1.
 * @param {Trace} trace
 * @param {number[]} spans
 * @param {Set<number>} inside the same spans
 * @param {number} interval
 * @param {number} from
 * @param {number} to
 * @returns {number}
 */
function waitedTime(trace, spans, inside, interval, from, to) {
  const v = trace.intervals;
  const s = trace.spans;
  const {end} = spanIndex(trace);
  const thread = v.thread[interval];
  const named = v.span[interval];
  const owner = named >= 0 ? (inside.has(named) ? named : -1)
    : spans.find((i) => thread >= 0 && s.thread[i] === thread && s.time[i] <= from && to <= end[i]) ?? -1;
  return owner < 0 ? -1 : Math.max(0, Math.min(to, end[owner]) - Math.max(from, s.time[owner]));
}

/** @type {WeakMap<object, number>} */
const longest = new WeakMap();

/**
 * longestInterval returns the duration of the longest wait or pause of a trace: none that overlaps a time begins
 * earlier than that before it.
 * @param {Trace} trace
 * @returns {number}
 */
function longestInterval(trace) {
  let most = longest.get(trace);
  if (most === undefined) {
    most = 0;
    const v = trace.intervals;
    for (let i = 0; i < v.rows; i++) {
      if (waitTitles.has(trace.str(v.kind[i]))) {
        most = Math.max(most, v.duration[i] < 0 ? trace.end - v.time[i] : v.duration[i]);
      }
    }
    longest.set(trace, most);
  }
  return most;
}
