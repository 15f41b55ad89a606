// What samples say about spans: each span has the parts of the samples that lie in it. It has no access to the document.
import {firstAtLeast, groupByKey} from './model.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').Kind} Kind */

/**
 * A SpanIndex contains what is derived from the table of spans, once per trace. Children are sorted by time.
 * @typedef {{
 *   end: Float64Array, children: {starts: Int32Array, order: Int32Array, times: Float64Array},
 *   requests: Int32Array, roots: Int32Array, noun: string
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
  const index = {end, children, requests: list, roots: Int32Array.from(roots), noun};
  spanIndexes.set(trace, index);
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
export function piecesOf(trace, kind) {
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

/** Roles of frames in the thread pool, as page data numbers them. */
export const idleWait = 3;
const poolThread = 1;

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
  const out = new Uint8Array(nodes.rows);
  for (let i = 0; i < nodes.rows; i++) {
    const above = nodes.parent[i] < 0 ? 0 : out[nodes.parent[i]];
    const own = nodes.frame[i] < 0 ? 0 : frames.pool[nodes.frame[i]];
    out[i] = own === poolThread || (above === poolThread && own !== 0) ? own : above;
  }
  idleNodesOf.set(trace, out);
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

/** Kinds whose samples describe a thread for a time, so that a part of a sample can lie in a span; the preferred one first. */
export const timedKinds = ['wall', 'cpu'];

/**
 * TimedColumn returns the index of the values of a kind that can lie in a span in part, or -1.
 * @param {Kind} kind
 */
function timedColumn(kind) {
  return timedKinds.includes(kind.name) ? valueWithUnit(kind, 'nanoseconds') : -1;
}

/** @type {WeakMap<Uint8Array, Map<string, Float64Array>>} by the spans */
const knownShares = new WeakMap();

/**
 * ValuesWithin returns a column of values of a kind with only what lies in some spans: of samples that describe a time, the
 * parts in these spans. The result is shared: do not change it.
 * @param {Trace} trace
 * @param {Kind} kind
 * @param {number} value index of the column
 * @param {number} span the values of this span and its descendants
 * @returns {Float64Array}
 */
export function valuesWithin(trace, kind, value, span) {
  const within = trace.spansWithin(span), key = kind.index + ' ' + value;
  let known = knownShares.get(within);
  if (!known) knownShares.set(within, known = new Map());
  let out = known.get(key);
  if (!out) known.set(key, out = shares(trace, kind, value, span));
  return out;
}

/**
 * @param {Trace} trace
 * @param {Kind} kind
 * @param {number} value
 * @param {number} span
 */
function shares(trace, kind, value, span) {
  const {samples} = kind;
  if (value !== timedColumn(kind)) {
    const marks = samplesWithin(trace, kind, span);
    return (samples.values[value] ?? new Float64Array(samples.rows)).map((v, i) => (marks[i] ? v : 0));
  }
  const within = trace.spansWithin(span), pieces = piecesOf(trace, kind), out = new Float64Array(samples.rows);
  pieces.sample.forEach((sample, k) => {
    if (within[pieces.span[k]]) out[sample] += pieces.time[k];
  });
  return out;
}

/**
 * SamplesWithin marks the samples of a kind that lie in some spans at least partly.
 * @param {Trace} trace
 * @param {Kind} kind
 * @param {number} span
 * @returns {Uint8Array}
 */
export function samplesWithin(trace, kind, span) {
  const within = trace.spansWithin(span), {samples} = kind, out = new Uint8Array(samples.rows);
  if (timedColumn(kind) < 0) return out.map((_, i) => (samples.span[i] >= 0 && within[samples.span[i]] ? 1 : 0));
  const pieces = piecesOf(trace, kind);
  pieces.sample.forEach((sample, k) => {
    if (within[pieces.span[k]]) out[sample] = 1;
  });
  return out;
}
