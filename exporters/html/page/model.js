// The recording that a page shows, the state that all views share, and the selection of samples.
import {visible} from './units.js';

/** @typedef {import('./data.js').Data} Data */
/** @typedef {import('./data.js').ValueType} ValueType */
/**
 * @typedef {{rows: number, time: Float64Array, thread: Int32Array, node: Int32Array, state: Int32Array,
 *   subject: Int32Array, span: Int32Array, source: Int32Array, count: Float64Array, values: Float64Array[]}} Samples
 */
/**
 * @typedef {{index: number, name: string, doc: string, one: string, many: string, bin_ns: number, long_ns: number,
 *   values: ValueType[],
 *   main: number, estimated: boolean, samples: Samples}} Kind
 */
/**
 * @typedef {{from: number | null, to: number | null, kind: number, value: number, process: number, thread: number,
 *   span: number, subject: string, method: number, mine: boolean, waits: boolean, search: string, module: string,
 *   layout: 'calls' | 'inverted' | 'sandwich', towers: boolean, theme: 'auto' | 'light' | 'dark'}} State
 */

// Kinds of frames.
export const frameManaged = 0;
export const frameNative = 1;
export const frameKernel = 2;
export const frameLabel = 3;
export const frameUnresolved = 4;

/**
 * Trace is one recording. Its tables are objects of columns; strings in columns are indexes for str.
 */
export class Trace {
  /** @param {Data} data */
  constructor(data) {
    this.data = data;
    this.header = data.header;
    this.trace = data.header.trace;
    this.strings = data.header.strings.map(visible);
    this.processes = readProcesses(data);
    this.threads = readThreads(data);
    this.frames = readFrames(data);
    this.functions = readFunctions(data);
    this.nodes = readNodes(data);
    this.intervals = readIntervals(data);
    this.spans = readSpans(data);
    this.counters = readCounters(data);
    this.losses = readLosses(data);
    /** @type {Kind[]} */
    this.kinds = data.header.kinds.map((info, index) => ({...info, index, samples: readSamples(data, info)}));
    /** @type {{begin: number, end: number} | null} */
    this.times = null;
    /** @type {Uint8Array | null} */
    this.waiting = null;
    /** @type {Map<string, Int32Array>} */
    this.selections = new Map();
    /** @type {Map<number, Uint8Array>} */
    this.spanTrees = new Map();
  }

  /**
   * AddRest adds the rest of the data. Before it, only the tables of stacks, processes and threads, and the stacks, types,
   * counts and values of the first kind with stacks may be used.
   * @param {Uint8Array} rest
   */
  addRest(rest) {
    const known = this.header.strings.length;
    this.data.addRest(rest);
    for (let i = known; i < this.header.strings.length; i++) this.strings.push(visible(this.header.strings[i]));
  }

  /** Begin returns the first time that is shown, normally 0. */
  get begin() {
    return (this.times ??= bounds(this)).begin;
  }

  /** End returns the last time that is shown. */
  get end() {
    return (this.times ??= bounds(this)).end;
  }

  /** WaitNodes has 1 for each node whose stack waits. */
  get waitNodes() {
    return (this.waiting ??= waitingNodes(this));
  }

  /**
   * Str returns a string with invisible characters escaped.
   * @param {number} i
   * @returns {string}
   */
  str(i) {
    return this.strings[i] ?? '';
  }

  /**
   * AttributesOf returns the attributes of a row of attribute_sets.
   * @param {number} set
   * @returns {[key: string, value: string][]}
   */
  attributesOf(set) {
    const end = this.data.table('attribute_sets').indexes('end');
    if (set < 0 || set >= end.length) return [];
    const attributes = this.data.table('attributes');
    const keys = attributes.indexes('key'), values = attributes.indexes('value');
    /** @type {[string, string][]} */
    const out = [];
    for (let i = set > 0 ? end[set - 1] : 0; i < end[set]; i++) out.push([this.str(keys[i]), this.str(values[i])]);
    return out;
  }

  /**
   * ThreadName returns the name of a thread and its ID.
   * @param {number} i
   * @returns {string}
   */
  threadName(i) {
    if (i < 0 || i >= this.threads.rows) return 'no thread';
    const name = this.str(this.threads.name[i]), tid = 'thread ' + this.threads.tid[i];
    return name === '' ? tid : name.includes(String(this.threads.tid[i])) ? name : name + ' (' + tid + ')';
  }

  /**
   * ProcessName returns the name of a process and its ID.
   * @param {number} i
   * @returns {string}
   */
  processName(i) {
    if (i < 0 || i >= this.processes.rows) return 'no process';
    const name = this.str(this.processes.name[i]), pid = 'process ' + this.processes.pid[i];
    return name === '' ? pid : name + ' (' + pid + ')';
  }

  /**
   * SpanName returns the name of a span.
   * @param {number} i
   * @returns {string}
   */
  spanName(i) {
    return i < 0 || i >= this.spans.rows ? 'no span' : this.str(this.spans.name[i]) || 'unnamed span';
  }

  /**
   * FunctionName returns the name of a function.
   * @param {number} i
   * @returns {string}
   */
  functionName(i) {
    return i < 0 || i >= this.functions.rows ? '' : this.str(this.functions.name[i]) || 'unnamed function';
  }

  /**
   * SpansWithin returns for each span whether it is a span or one of its descendants.
   * @param {number} span
   * @returns {Uint8Array} 1 for these spans
   */
  spansWithin(span) {
    let within = this.spanTrees.get(span);
    if (!within) {
      within = descendants(this.spans.parent, span);
      if (this.spanTrees.size > 16) this.spanTrees.clear();
      this.spanTrees.set(span, within);
    }
    return within;
  }
}

/**
 * Descendants marks a row and all rows below it. Parents may have any order, and malformed data may have cycles.
 * @param {Int32Array} parent
 * @param {number} root
 * @returns {Uint8Array}
 */
function descendants(parent, root) {
  const within = new Uint8Array(parent.length); // 0 unknown, 1 within, 2 outside, 3 on the path
  if (root >= 0 && root < parent.length) within[root] = 1;
  for (let i = 0; i < parent.length; i++) {
    let at = i;
    while (at >= 0 && at < parent.length && within[at] === 0) {
      within[at] = 3;
      at = parent[at];
    }
    const mark = at >= 0 && at < parent.length && within[at] === 1 ? 1 : 2;
    for (at = i; at >= 0 && at < parent.length && within[at] === 3; at = parent[at]) within[at] = mark;
  }
  return within.map((mark) => (mark === 1 ? 1 : 0));
}

/**
 * Lazy returns an object whose members are computed when they are first used.
 * @template {Record<string, any>} T
 * @param {{[K in keyof T]: () => T[K]}} members
 * @returns {T}
 */
function lazy(members) {
  const out = {};
  for (const [name, compute] of Object.entries(members)) {
    Object.defineProperty(out, name, {
      configurable: true, enumerable: true,
      get() {
        const value = compute();
        Object.defineProperty(out, name, {value, enumerable: true, writable: false});
        return value;
      },
    });
  }
  return /** @type {T} */ (out);
}

/** @param {Data} data */
function readProcesses(data) {
  const t = data.table('processes');
  return {
    rows: t.rows, pid: t.numbers('pid'), name: t.indexes('name'), command: t.indexes('command'),
    runtime: t.indexes('runtime'),
  };
}

/** @param {Data} data */
function readThreads(data) {
  const t = data.table('threads');
  return {
    rows: t.rows, process: t.indexes('process', -1), tid: t.numbers('tid'), name: t.indexes('name'),
    first: t.numbers('first'), last: t.numbers('last'),
  };
}

/** @param {Data} data */
function readFrames(data) {
  const t = data.table('frames');
  const functions = t.indexes('function', -1);
  if (!data.table('functions').rows) functions.forEach((_, i) => (functions[i] = i));
  return {
    rows: t.rows, name: t.indexes('name'), module: t.indexes('module'), file: t.indexes('file'),
    line: t.indexes('line'), kind: t.indexes('kind'), mine: t.indexes('mine'), waits: t.indexes('waits'), pool: t.indexes('pool'),
    function: functions,
  };
}

/** @param {Data} data */
function readFunctions(data) {
  // Without a table of functions, each frame is a function.
  const t = data.table('functions').rows ? data.table('functions') : data.table('frames');
  return {rows: t.rows, name: t.indexes('name'), module: t.indexes('module')};
}

/** @param {Data} data */
function readNodes(data) {
  const t = data.table('nodes');
  const parent = t.indexes('parent', -1), depth = new Int32Array(t.rows);
  for (let i = 0; i < t.rows; i++) {
    if (parent[i] >= i) throw new Error(`table nodes: row ${i} has the parent ${parent[i]}, which does not precede it`);
    depth[i] = parent[i] < 0 ? 0 : depth[parent[i]] + 1;
  }
  return {rows: t.rows, parent, frame: t.indexes('frame', -1), omitted: t.indexes('omitted'), depth};
}

/** @param {Data} data */
function readIntervals(data) {
  const t = data.table('intervals');
  return lazy({
    rows: () => t.rows, kind: () => t.indexes('kind'), name: () => t.indexes('name'), time: () => t.numbers('time'),
    duration: () => t.numbers('duration', -1), thread: () => t.indexes('thread', -1), span: () => t.indexes('span', -1),
    attributes: () => t.indexes('attributes', -1),
  });
}

/** @param {Data} data */
function readSpans(data) {
  const t = data.table('spans');
  return lazy({
    rows: () => t.rows, trace_id: () => t.indexes('trace_id'), span_id: () => t.indexes('span_id'),
    parent: () => t.indexes('parent', -1),
    name: () => t.indexes('name'), kind: () => t.indexes('kind'), time: () => t.numbers('time'),
    duration: () => t.numbers('duration', -1),
    status: () => t.indexes('status'), message: () => t.indexes('message'), scope: () => t.indexes('scope'),
    source: () => t.indexes('source'),
    process: () => t.indexes('process', -1), thread: () => t.indexes('thread', -1), attributes: () => t.indexes('attributes', -1),
  });
}

/** @param {Data} data */
function readCounters(data) {
  const t = data.table('counter_values');
  const all = data.header.series;
  return lazy({
    all: () => all, rows: () => t.rows, series: () => t.indexes('series', -1), time: () => t.numbers('time'),
    value: () => t.numbers('value'),
  });
}

/** @param {Data} data */
function readLosses(data) {
  const t = data.table('losses');
  return lazy({
    rows: () => t.rows, time: () => t.numbers('time'), thread: () => t.indexes('thread', -1), lost: () => t.numbers('lost'),
  });
}

/**
 * @param {Data} data
 * @param {{name: string, values: ValueType[]}} kind
 * @returns {Samples}
 */
function readSamples(data, kind) {
  const t = data.table('samples_' + kind.name);
  return lazy({
    rows: () => t.rows, time: () => t.numbers('time'), thread: () => t.indexes('thread', -1),
    node: () => t.indexes('node', -1),
    state: () => t.indexes('state'), subject: () => t.indexes('subject'), span: () => t.indexes('span', -1),
    source: () => t.indexes('source'), count: () => t.numbers('count', 1),
    values: () => kind.values.map((_, i) => t.numbers('value_' + i)),
  });
}

/**
 * Bounds returns the time of the recording, and of its samples, in nanoseconds after the begin of the trace. A program may state
 * any times of its spans, so spans and the rest count only if the recording has no duration.
 * @param {Trace} trace
 */
function bounds(trace) {
  let begin = 0, end = Math.max(0, trace.trace.duration_ns);
  /** @param {Float64Array} time @param {Float64Array} [length] */
  const include = (time, length) => {
    for (let i = 0; i < time.length; i++) {
      const last = length && length[i] > 0 ? time[i] + length[i] : time[i];
      if (time[i] < begin) begin = time[i];
      if (last > end) end = last;
    }
  };
  for (const kind of trace.kinds) include(kind.samples.time);
  if (end === 0) {
    include(trace.intervals.time, trace.intervals.duration);
    include(trace.spans.time, trace.spans.duration);
    include(trace.counters.time);
  }
  return {begin, end: Math.max(end, begin + 1)};
}

/**
 * WaitingNodes marks nodes whose stack waits: the leaf, or its nearest ancestor that is not native, is a function in
 * which threads wait.
 * @param {Trace} trace
 * @returns {Uint8Array}
 */
function waitingNodes(trace) {
  const {nodes, frames} = trace;
  const waiting = new Uint8Array(nodes.rows);
  for (let i = 0; i < nodes.rows; i++) {
    const frame = nodes.frame[i], parent = nodes.parent[i];
    const kind = frame < 0 ? frameUnresolved : frames.kind[frame];
    const native = kind === frameNative || kind === frameKernel || kind === frameUnresolved;
    if (frame >= 0 && frames.waits[frame]) waiting[i] = 1;
    else if (native && parent >= 0) waiting[i] = waiting[parent];
  }
  return waiting;
}

/**
 * HasRange reports whether a part of the recording is selected.
 * @param {State} state
 */
export function hasRange(state) {
  return state.from !== null || state.to !== null;
}

/**
 * InRange reports whether a time is in the selected range.
 * @param {State} state
 * @param {number} time
 */
export function inRange(state, time) {
  return (state.from === null || time >= state.from) && (state.to === null || time < state.to);
}

/**
 * Overlaps reports whether an interval, or a point in time, is partly in the selected range. An interval with a
 * negative duration has not ended.
 * @param {State} state
 * @param {number} time
 * @param {number} duration
 */
export function overlaps(state, time, duration) {
  if (state.to !== null && time >= state.to) return false;
  return state.from === null || time >= state.from || duration < 0 || time + duration > state.from;
}

/**
 * FirstAfter returns the first index in [low, high) whose value exceeds t, or high. Values must be sorted.
 * @param {ArrayLike<number>} values
 * @param {number} t
 * @param {number} low
 * @param {number} high
 * @returns {number}
 */
export function firstAfter(values, t, low, high) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] > t) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/**
 * FirstAtLeast returns the first index in [low, high) whose value is at least t, or high. Values must be sorted.
 * @param {ArrayLike<number>} values
 * @param {number} t
 * @param {number} low
 * @param {number} high
 * @returns {number}
 */
export function firstAtLeast(values, t, low, high) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] >= t) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/**
 * FirstKind returns the kind that a page shows first: the first one with samples, or 0.
 * @param {Trace} trace
 */
export function firstKind(trace) {
  return Math.max(0, trace.kinds.findIndex((kind) => kind.samples.rows > 0));
}

/**
 * InitialState returns the state in which everything of a recording is selected.
 * @param {Trace} trace
 * @returns {State}
 */
export function initialState(trace) {
  const kind = firstKind(trace);
  return {
    from: null, to: null, kind, value: trace.kinds[kind]?.main ?? 0, process: -1, thread: -1, span: -1, subject: '',
    method: -1, mine: false, waits: true, search: '', module: '', layout: 'calls', towers: false, theme: 'auto',
  };
}

/**
 * WithoutMethod is the patch that selects no method; its sandwich ends with it.
 * @param {State} state
 * @returns {Partial<State>}
 */
export function withoutMethod({layout}) {
  return {method: -1, layout: layout === 'sandwich' ? 'calls' : layout};
}

/** Store holds the state that all views of a page share. */
export class Store {
  /**
   * @param {Trace} trace
   * @param {Trace | null} [before] the recording that trace is compared with
   */
  constructor(trace, before = null) {
    this.trace = trace;
    this.before = before;
    /** @type {State} */
    this.state = initialState(trace);
    /** @type {Set<(state: State, changed: Set<string>) => void>} */
    this.listeners = new Set();
  }

  /**
   * Set changes the state and calls the listeners if a member has a different value. Another kind resets value to its
   * main one and subject to all, unless the patch sets them.
   * @param {Partial<State>} patch
   */
  set(patch) {
    const full = {...patch};
    if (patch.kind !== undefined && patch.kind !== this.state.kind) {
      full.value ??= this.trace.kinds[patch.kind]?.main ?? 0;
      full.subject ??= '';
    }
    /** @type {Record<string, unknown>} */
    const old = this.state;
    const changed = new Set(Object.entries(full).filter(([name, value]) => old[name] !== value).map(([name]) => name));
    if (changed.size === 0) return;
    this.state = {...this.state, ...full};
    for (const listener of [...this.listeners]) listener(this.state, changed);
  }

  /**
   * Subscribe calls a listener after each change, until the result is called.
   * @param {(state: State, changed: Set<string>) => void} listener
   * @returns {() => void}
   */
  subscribe(listener) {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }
}

/**
 * groupByKey groups the rows of a table by a key from 0 to keys-1 and omits rows with other keys: the rows of key k
 * are order[starts[k]] to order[starts[k+1]-1], in the order of the table.
 * @param {ArrayLike<number>} key
 * @param {number} keys
 * @returns {{starts: Int32Array, order: Int32Array}}
 */
export function groupByKey(key, keys) {
  const starts = new Int32Array(keys + 1);
  for (let i = 0; i < key.length; i++) {
    if (key[i] >= 0 && key[i] < keys) {
      starts[key[i] + 1]++;
    }
  }
  for (let k = 0; k < keys; k++) {
    starts[k + 1] += starts[k];
  }
  const order = new Int32Array(starts[keys]);
  const next = starts.slice();
  for (let i = 0; i < key.length; i++) {
    if (key[i] >= 0 && key[i] < keys) {
      order[next[key[i]]++] = i;
    }
  }
  return {starts, order};
}
