// The rows of the tables of the page. It has no access to the document.

import {counterTitle, counterUnit, heapSeries, kindWithSamples, promotedSeries} from './chart-data.js';
import {firstAtLeast, frameManaged, groupByKey, inRange, overlaps} from './model.js';
import {selected, valueOf} from './selection.js';
import {addTo, valueWithUnit} from './span-samples.js';
import {intervalsOfKind} from './threads-layout.js';
import {functionTotals} from './totals.js';
import {groupSamples} from './stacks.js';
import {count} from './units.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').State} State */
/** @typedef {import('./model.js').Kind} Kind */
/** @typedef {import('./stacks.js').Group} Group */

/** @typedef {{id: number, name: string, module: string, flat: number, cumulative: number}} MethodRow */

/**
 * methodRows returns the functions of the selected samples. With just my code, values of other functions belong to the
 * nearest caller that is my code.
 * @param {Trace} trace
 * @param {State} state
 * @returns {{rows: MethodRow[], total: number, unit: string, type: string}}
 */
export function methodRows(trace, state) {
  const groups = groupSamples(trace, state);
  const mine = state.mine ? mineFunctions(trace) : null;
  const {flat, cumulative, total} = functionTotals(trace, mine ? groups.map((g) => foldedGroup(trace, g)) : groups);
  /** @type {MethodRow[]} */
  const rows = [];
  for (let id = 0; id < flat.length; id++) {
    if ((flat[id] !== 0 || cumulative[id] !== 0) && (!mine || mine[id])) {
      const module = trace.str(trace.functions.module[id]);
      rows.push({id, name: trace.functionName(id), module, flat: flat[id], cumulative: cumulative[id]});
    }
  }
  const {unit, type} = valueOf(trace, state);
  return {rows, total, unit, type};
}

/**
 * @param {Trace} trace
 * @returns {Uint8Array} 1 for functions of the program
 */
function mineFunctions(trace) {
  const mine = new Uint8Array(trace.functions.rows);
  const {frames} = trace;
  for (let i = 0; i < frames.rows; i++) {
    if (frames.mine[i] && frames.function[i] >= 0) {
      mine[frames.function[i]] = 1;
    }
  }
  return mine;
}

/**
 * foldedGroup moves the values of nodes to their nearest ancestors of the program.
 * @param {Trace} trace
 * @param {Group} grouped
 * @returns {Group}
 */
function foldedGroup(trace, grouped) {
  const {frame, parent} = trace.nodes;
  let none = grouped.none;
  /** @type {number[]} */
  const nodes = [];
  /** @type {number[]} */
  const weights = [];
  for (let i = 0; i < grouped.nodes.length; i++) {
    let node = grouped.nodes[i];
    while (node >= 0 && !(frame[node] >= 0 && trace.frames.mine[frame[node]])) {
      node = parent[node];
    }
    if (node < 0) {
      none += grouped.weights[i];
    } else {
      nodes.push(node);
      weights.push(grouped.weights[i]);
    }
  }
  return {...grouped, nodes: Int32Array.from(nodes), weights: Float64Array.from(weights), none};
}

/**
 * A SubjectRow adds up the samples of one subject: a type, or an exception.
 * @typedef {{name: string, samples: number, sums: number[], first: number, last: number}} SubjectRow
 */

/**
 * subjectRows groups the selected samples of a kind by subject. The subject of the state does not restrict it.
 * @param {Trace} trace
 * @param {State} state
 * @param {Kind} kind
 * @returns {SubjectRow[]}
 */
export function subjectRows(trace, state, kind) {
  const {subject, time, values, count: added} = kind.samples;
  /** @type {Map<number, SubjectRow>} */
  const rows = new Map();
  for (const i of selected(trace, {...state, subject: ''}, kind.index)) {
    let row = rows.get(subject[i]);
    if (!row) {
      row = {name: trace.str(subject[i]), samples: 0, sums: values.map(() => 0), first: time[i], last: time[i]};
      rows.set(subject[i], row);
    }
    row.samples += added[i];
    row.last = time[i];
    for (let v = 0; v < values.length; v++) {
      row.sums[v] += values[v][i];
    }
  }
  return [...rows.values()];
}

/**
 * listedIntervals returns the intervals of a kind that overlap the selection.
 * @param {Trace} trace
 * @param {State} state
 * @param {string} name
 * @param {boolean} covers whether intervals of the kind occupy all threads of a process
 * @returns {number[]}
 */
export function listedIntervals(trace, state, name, covers) {
  const v = trace.intervals;
  const within = state.span >= 0 && !covers ? trace.spansWithin(state.span) : null;
  return intervalsOfKind(trace, name, state, covers).filter((i) =>
    overlaps(state, v.time[i], v.duration[i]) && (!within || (v.span[i] >= 0 && within[v.span[i]] === 1)));
}

/**
 * lengthOf returns the duration of an interval; one that did not end lasts to the end of the trace.
 * @param {Trace} trace
 * @param {number} i
 * @returns {number}
 */
export function lengthOf(trace, i) {
  const v = trace.intervals;
  return v.duration[i] < 0 ? Math.max(0, trace.end - v.time[i]) : v.duration[i];
}

/**
 * knownLength returns the duration of an interval as the samples of its kind count it: the time that the runtime reports
 * for a lock, or else the time between its events.
 * @param {Trace} trace
 * @param {number} i
 * @returns {number} NaN if it did not end
 */
export function knownLength(trace, i) {
  const v = trace.intervals;
  if (v.duration[i] < 0) {
    return NaN;
  }
  const reported = attributeOf(trace, v.attributes[i], 'dotnet.lock.wait_ns');
  return reported === '' || Number.isNaN(Number(reported)) ? v.duration[i] : Number(reported);
}

/**
 * attributeOf returns the first of the attributes with one of the keys, or "".
 * @param {Trace} trace
 * @param {number} set
 * @param {...string} keys
 * @returns {string}
 */
export function attributeOf(trace, set, ...keys) {
  const attributes = trace.attributesOf(set);
  for (const key of keys) {
    const found = attributes.find(([k]) => k === key);
    if (found) {
      return found[1];
    }
  }
  return '';
}

/**
 * A WaitRow adds up the waits for one thing. Waits without an end count in open only. longest is NaN if no wait ended; at
 * is the interval of the longest wait. holders counts the owners of a lock by ID of thread, methods the functions that wait.
 * @typedef {{
 *   name: string, waits: number, open: number, total: number, longest: number, at: number, threads: Set<number>,
 *   holders: Map<string, number>, methods: Map<string, number>
 * }} WaitRow
 */

/**
 * waitRows groups waits by an attribute.
 * @param {Trace} trace
 * @param {State} state
 * @param {string} name kind of intervals
 * @param {string} key of the attribute
 * @returns {WaitRow[]}
 */
export function waitRows(trace, state, name, key) {
  const v = trace.intervals;
  const kind = kindWithSamples(trace, name);
  /** @type {Map<string, WaitRow>} */
  const rows = new Map();
  for (const i of listedIntervals(trace, state, name, false)) {
    const id = attributeOf(trace, v.attributes[i], key);
    let row = rows.get(id);
    if (!row) {
      const label = id === '' ? 'unknown' : key === 'dotnet.lock.id' ? hexadecimal(id) : id;
      row = {
        name: label, waits: 0, open: 0, total: 0, longest: NaN, at: i, threads: new Set(), holders: new Map(),
        methods: new Map(),
      };
      rows.set(id, row);
    }
    addWait(row, i, v.thread[i], knownLength(trace, i));
    const holder = attributeOf(trace, v.attributes[i], 'dotnet.lock.owner_thread_id');
    if (holder !== '' && holder !== '0') {
      addTo(row.holders, threadWithId(trace, v.thread[i], holder), 1);
    }
    const method = kind ? waitingMethod(trace, kind, i) : '';
    if (method !== '') {
      addTo(row.methods, method, 1);
    }
  }
  return [...rows.values()];
}

/**
 * @param {WaitRow} row
 * @param {number} interval
 * @param {number} thread
 * @param {number} length NaN if the wait did not end
 */
function addWait(row, interval, thread, length) {
  row.threads.add(thread);
  if (Number.isNaN(length)) {
    row.open++;
    return;
  }
  row.waits++;
  row.total += length;
  if (!(length <= row.longest)) {
    row.longest = length;
    row.at = interval;
  }
}

/**
 * hexadecimal returns a decimal ID as the runtime and debuggers write addresses.
 * @param {string} id
 * @returns {string}
 */
export function hexadecimal(id) {
  return /^\d{1,20}$/.test(id) ? '0x' + BigInt(id).toString(16) : id;
}

/**
 * threadWithId returns the name of a thread of the process to which another thread belongs.
 * @param {Trace} trace
 * @param {number} other
 * @param {string} id
 * @returns {string}
 */
function threadWithId(trace, other, id) {
  const {tid, process} = trace.threads;
  const i = tid.findIndex((t, k) => String(t) === id && (other < 0 || process[k] === process[other]));
  return i < 0 ? 'thread ' + id : trace.threadName(i);
}

/** @type {WeakMap<object, {starts: Int32Array, order: Int32Array, times: Float64Array}>} */
const samplesByThread = new WeakMap();

/**
 * waitingMethod returns the function that waits, from the sample of the thread that is nearest to a wait.
 * @param {Trace} trace
 * @param {Kind} kind
 * @param {number} interval
 * @returns {string} empty if it is unknown
 */
function waitingMethod(trace, kind, interval) {
  const {samples} = kind;
  let index = samplesByThread.get(kind);
  if (!index) {
    const groups = groupByKey(samples.thread, trace.threads.rows);
    index = {...groups, times: Float64Array.from(groups.order, (i) => samples.time[i])};
    samplesByThread.set(kind, index);
  }
  const v = trace.intervals;
  const thread = v.thread[interval];
  if (thread < 0 || thread >= trace.threads.rows || kind.bin_ns > 0) {
    return '';
  }
  const {starts, order, times} = index;
  const time = v.time[interval];
  const next = firstAtLeast(times, time, starts[thread], starts[thread + 1]);
  const near = [next, next - 1].filter((k) => k >= starts[thread] && k < starts[thread + 1])
    .sort((a, b) => Math.abs(times[a] - time) - Math.abs(times[b] - time))[0];
  const known = near !== undefined && Math.abs(times[near] - time) <= lengthOf(trace, interval) + 1e6;
  return known ? callerOfWait(trace, samples.node[order[near]]) : '';
}

/**
 * callerOfWait returns the innermost function of the program on a stack, or else the innermost that does not wait.
 * @param {Trace} trace
 * @param {number} node
 * @returns {string}
 */
function callerOfWait(trace, node) {
  const {nodes, frames} = trace;
  let caller = '';
  for (let n = node; n >= 0; n = nodes.parent[n]) {
    const frame = nodes.frame[n];
    if (frame >= 0 && frames.mine[frame]) {
      return trace.functionName(frames.function[frame]);
    }
    if (frame >= 0 && caller === '' && !frames.waits[frame] && frames.kind[frame] === frameManaged) {
      caller = trace.functionName(frames.function[frame]);
    }
  }
  return caller;
}

/**
 * mostFrequent returns the most frequent key, and how many others there are.
 * @param {Map<string, number>} counts
 * @returns {string}
 */
export function mostFrequent(counts) {
  const [first, ...others] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return !first ? '' : others.length === 0 ? first[0] : `${first[0]} and ${count(others.length, 'other')}`;
}

/**
 * A CollectionRow is one garbage collection. Its duration is NaN if it did not end. Unknown numbers are NaN, unknown texts
 * are empty.
 * @typedef {{
 *   id: number, number: number, generation: string, reason: string, type: string, time: number, duration: number,
 *   pause: number, heap: number, promoted: number
 * }} CollectionRow
 */

/**
 * collectionRows returns the collections that overlap the selection.
 * @param {Trace} trace
 * @param {State} state
 * @returns {CollectionRow[]}
 */
export function collectionRows(trace, state) {
  const v = trace.intervals;
  const pauses = pausesOf(trace, state);
  return listedIntervals(trace, state, 'gc', true).map((id) => {
    const facts = new Map(trace.attributesOf(v.attributes[id]));
    const known = numberOf(facts, 'dotnet.gc.pause_ns');
    const pause = Number.isNaN(known) ? pauseWithin(trace, pauses, id) : known;
    return {
      id, number: numberOf(facts, 'dotnet.gc.number'), generation: facts.get('dotnet.gc.heap.generation') ?? '',
      reason: facts.get('dotnet.gc.reason') ?? '', type: facts.get('dotnet.gc.type') ?? '', time: v.time[id],
      duration: knownLength(trace, id), pause, heap: sizeAfter(trace, id, heapSeries),
      promoted: sizeAfter(trace, id, promotedSeries),
    };
  });
}

/**
 * @param {Map<string, string>} facts
 * @param {string} key
 * @returns {number} NaN if the attribute is absent or not a number
 */
function numberOf(facts, key) {
  const text = facts.get(key);
  return text === undefined || text === '' ? NaN : Number(text);
}

/**
 * pauseWithin returns how long pauses overlap a collection.
 * @param {Trace} trace
 * @param {{ids: number[], times: number[], longest: number}} pauses
 * @param {number} id
 * @returns {number} NaN if the trace has no pauses
 */
function pauseWithin(trace, pauses, id) {
  const v = trace.intervals;
  const {ids, times, longest} = pauses;
  const end = v.time[id] + lengthOf(trace, id);
  let sum = 0;
  for (let k = firstAtLeast(times, v.time[id] - longest, 0, times.length); k < times.length && times[k] < end; k++) {
    sum += Math.max(0, Math.min(end, times[k] + lengthOf(trace, ids[k])) - Math.max(v.time[id], times[k]));
  }
  return ids.length === 0 ? NaN : sum;
}

/**
 * pausesOf returns the pauses of the selected process that ended, sorted by time, and the duration of the longest one: no pause
 * that overlaps a time begins earlier than that before it.
 * @param {Trace} trace
 * @param {State} state
 */
function pausesOf(trace, state) {
  const {duration} = trace.intervals;
  const ids = intervalsOfKind(trace, 'gc_pause', {...state, thread: -1}, true).filter((i) => duration[i] >= 0);
  const times = ids.map((i) => trace.intervals.time[i]);
  return {ids, times, longest: ids.reduce((most, i) => Math.max(most, lengthOf(trace, i)), 0)};
}

/**
 * sizeAfter returns the value of a series that a collection reported, NaN if it is unknown.
 * @param {Trace} trace
 * @param {number} id
 * @param {string} name
 * @returns {number}
 */
function sizeAfter(trace, id, name) {
  const v = trace.intervals;
  const thread = v.thread[id];
  const process = thread < 0 ? -1 : trace.threads.process[thread];
  const {times, values} = reportedSizes(trace, process, name);
  const at = firstAtLeast(times, v.time[id], 0, times.length);
  const limit = v.time[id] + lengthOf(trace, id) + 1e9; // the size is reported soon after the collection
  return at < times.length && times[at] <= limit ? values[at] : NaN;
}

/** @type {WeakMap<object, Map<string, {times: number[], values: number[]}>>} */
const sizesOf = new WeakMap();

/**
 * @param {Trace} trace
 * @param {number} process or -1 for any
 * @param {string} name of the series
 * @returns {{times: number[], values: number[]}} sorted by time
 */
function reportedSizes(trace, process, name) {
  const cache = sizesOf.get(trace) ?? new Map();
  sizesOf.set(trace, cache);
  const key = name + ' ' + process;
  let sizes = cache.get(key);
  if (!sizes) {
    const {all, rows, series, time, value} = trace.counters;
    const wanted = all.map((s) => s.provider === 'ntconv' && s.name === name && (process < 0 || s.process === process));
    const own = Array.from({length: rows}, (_, i) => i).filter((i) => wanted[series[i]]);
    const order = own.sort((a, b) => time[a] - time[b]);
    sizes = {times: order.map((i) => time[i]), values: order.map((i) => value[i])};
    cache.set(key, sizes);
  }
  return sizes;
}

/**
 * A CompilationRow is one compilation. Unknown sizes are NaN.
 * @typedef {{
 *   id: number, name: string, il: number, code: number, duration: number, time: number, thread: number
 * }} CompilationRow
 */

/**
 * compilationRows returns the compilations that overlap the selection.
 * @param {Trace} trace
 * @param {State} state
 * @returns {CompilationRow[]}
 */
export function compilationRows(trace, state) {
  const v = trace.intervals;
  return listedIntervals(trace, state, 'jit', false).map((id) => {
    const facts = new Map(trace.attributesOf(v.attributes[id]));
    return {
      id, name: facts.get('code.function.name') || trace.str(v.name[id]), il: numberOf(facts, 'dotnet.jit.il_size'),
      code: numberOf(facts, 'dotnet.jit.code_size'), duration: knownLength(trace, id), time: v.time[id],
      thread: v.thread[id],
    };
  });
}

/**
 * exceptionMessages returns the last message of each type of exception in the selection.
 * @param {Trace} trace
 * @param {State} state
 * @returns {Map<string, string>}
 */
export function exceptionMessages(trace, state) {
  /** @type {Map<string, string>} */
  const messages = new Map();
  for (const i of listedIntervals(trace, state, 'exception', false)) {
    const facts = new Map(trace.attributesOf(trace.intervals.attributes[i]));
    const type = facts.get('exception.type') ?? trace.str(trace.intervals.name[i]);
    messages.set(type, facts.get('exception.message') ?? '');
  }
  return messages;
}

/**
 * countOf returns the number of things that a row adds up: the value with the unit count, or else the samples.
 * @param {Kind} kind
 * @param {SubjectRow} row
 * @returns {number}
 */
export function countOf(kind, row) {
  const value = kind.values.findIndex((v) => v.unit === 'count' || v.unit === 'objects');
  return value < 0 ? row.samples : row.sums[value];
}

/**
 * kindsOfTables returns the kinds that have tables of their own.
 * @param {Trace} trace
 */
export function kindsOfTables(trace) {
  const alloc = kindWithSamples(trace, 'alloc');
  return {
    alloc, bytes: alloc ? valueWithUnit(alloc, 'bytes') : -1,
    exceptions: kindWithSamples(trace, 'exceptions') ?? kindWithSamples(trace, 'exception'),
    contention: kindWithSamples(trace, 'contention'),
  };
}

/**
 * A CounterRow describes one series of a counter in the selected time.
 * @typedef {{
 *   id: number, name: string, provider: string, unit: string, values: number, last: number, min: number, max: number,
 *   mean: number
 * }} CounterRow
 */

/**
 * counterRows returns the series that have values in the selected time.
 * @param {Trace} trace
 * @param {State} state
 * @returns {CounterRow[]}
 */
export function counterRows(trace, state) {
  const {all, rows, series, time, value} = trace.counters;
  /** @type {Map<number, CounterRow & {at: number}>} */
  const found = new Map();
  for (let i = 0; i < rows; i++) {
    const id = series[i];
    const other = !all[id] || (state.process >= 0 && all[id].process >= 0 && all[id].process !== state.process);
    if (other || !inRange(state, time[i])) {
      continue;
    }
    const row = found.get(id) ?? {
      id, name: counterTitle(trace, id, true), provider: all[id].provider, unit: counterUnit(trace, id), values: 0, last: NaN,
      min: Infinity, max: -Infinity, mean: 0, at: -Infinity,
    };
    found.set(id, row);
    row.values++;
    row.min = Math.min(row.min, value[i]);
    row.max = Math.max(row.max, value[i]);
    row.mean += (value[i] - row.mean) / row.values;
    if (time[i] >= row.at) {
      row.at = time[i];
      row.last = value[i];
    }
  }
  return [...found.values()];
}

/**
 * countedSamples returns how many selected samples each function is in: on the stack, as leaf or not.
 * @param {Trace} trace
 * @param {State} state
 * @returns {Float64Array}
 */
export function countedSamples(trace, state) {
  const kind = trace.kinds[state.kind];
  const {node, count: added} = kind.samples;
  const rows = selected(trace, state);
  const nodes = Int32Array.from(rows, (i) => node[i]).filter((n) => n >= 0);
  const weights = Float64Array.from(rows.filter((i) => node[i] >= 0), (i) => added[i]);
  return functionTotals(trace, [{label: '', nodes, weights, none: 0}]).cumulative;
}
