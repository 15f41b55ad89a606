// Numbers about spans: requests by route, quantiles, and what happened during one request. It has no access to the
// document.

import {coveredTime, quantileOf} from './bins.js';
import {firstAtLeast, groupByKey} from './model.js';
import {addTo, piecesOf, spanIndex, timedKinds, valueWithUnit} from './span-samples.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').Kind} Kind */

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
 * spans; time is larger if several threads worked for them at once. long is the part of time that belongs to samples so
 * long that their thread was not sampled meanwhile; unknown, and 0, for samples that were added up.
 * @typedef {{
 *   kind: string, samples: number, time: number, covered: number, long: number, states: Map<string, number>,
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
 * activityOf adds up what threads did during spans. Samples belong to their innermost span, so the activities of a span
 * and of its descendants can be added.
 * @param {Trace} trace
 * @param {number[]} spans
 * @returns {Activity}
 */
export function activityOf(trace, spans) {
  const timed = timedKinds.map((name) => trace.kinds.find((k) => k.name === name && k.samples.rows > 0)).find((k) => k);
  const alloc = trace.kinds.find((k) => k.name === 'alloc');
  /** @type {Activity} */
  const out = {
    kind: timed ? timed.name : '', samples: 0, time: 0, covered: 0, long: 0, states: new Map(), functions: new Map(),
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
 * @param {Trace} trace
 * @param {Kind} kind
 * @param {number[]} spans
 * @param {Activity} out
 */
function addTimed(trace, kind, spans, out) {
  const pieces = piecesOf(trace, kind);
  const {samples} = kind;
  const lengths = samples.values[Math.max(0, valueWithUnit(kind, 'nanoseconds'))];
  const limit = kind.long_ns > 0 && kind.bin_ns === 0 ? kind.long_ns : Infinity;
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
      out.long += lengths[i] > limit ? time : 0;
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
