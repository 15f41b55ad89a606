// Page data built in memory: an encoder of the format, and recordings of any size for tests and benchmarks.
import {gzipSync} from 'node:zlib';
import {pageMagic} from '../data.js';

/** @typedef {number[] | bigint[] | Int32Array | Float64Array} Column */

/**
 * Varints encodes integers as zigzag LEB128.
 * @param {ArrayLike<number | bigint>} values
 * @returns {Uint8Array}
 */
export function varints(values) {
  let out = new Uint8Array(values.length * 2 + 16), n = 0;
  for (let i = 0; i < values.length; i++) {
    if (n + 10 > out.length) {
      const larger = new Uint8Array(out.length * 2);
      larger.set(out);
      out = larger;
    }
    const v = values[i];
    if (typeof v === 'number' && v >= -0x40000000 && v < 0x40000000) {
      let u = ((v << 1) ^ (v >> 31)) >>> 0;
      for (; u >= 0x80; u >>>= 7) out[n++] = (u & 0x7f) | 0x80;
      out[n++] = u;
      continue;
    }
    const big = BigInt(v);
    let u = BigInt.asUintN(64, (big << 1n) ^ (big >> 63n));
    for (; u >= 0x80n; u >>= 7n) out[n++] = Number(u & 0x7fn) | 0x80;
    out[n++] = Number(u);
  }
  return out.subarray(0, n);
}

/** @param {ArrayLike<number | bigint>} values */
function differences(values) {
  return Array.from({length: values.length}, (_, i) => BigInt(values[i]) - (i > 0 ? BigInt(values[i - 1]) : 0n));
}

/** @param {ArrayLike<number | bigint>} values */
function smallDifferences(values) {
  for (let i = 0; i < values.length; i++) if (typeof values[i] === 'bigint') return differences(values);
  const numbers = /** @type {ArrayLike<number>} */ (values);
  return Array.from({length: values.length}, (_, i) => numbers[i] - (i > 0 ? numbers[i - 1] : 0));
}

/**
 * Encode writes page data. Columns are 'int' unless their name is time ('delta') or in floats.
 * @param {Record<string, any>} header without tables
 * @param {Record<string, Record<string, ArrayLike<number | bigint>>>} tables
 * @returns {Uint8Array}
 */
export function encode(header, tables) {
  return encodePieces(header, tables, () => true, header.strings?.length).data;
}

/**
 * EncodePieces writes page data and its rest, which has the columns that are not first, and the strings from a number on.
 * @param {Record<string, any>} header without tables
 * @param {Record<string, Record<string, ArrayLike<number | bigint>>>} tables
 * @param {(table: string, column: string) => boolean} isFirst
 * @param {number} strings
 */
export function encodePieces(header, tables, isFirst, strings) {
  /** @type {Record<string, {rows: number, columns: Record<string, {at: number, length: number, type: string}>}>} */
  const infos = {};
  let at = 0;
  const [first, later] = [true, false].map((wanted) => {
    const parts = [];
    for (const [name, columns] of Object.entries(tables)) {
      infos[name] ??= {rows: Object.values(columns)[0]?.length ?? 0, columns: {}};
      for (const [column, values] of Object.entries(columns).filter(([c]) => isFirst(name, c) === wanted)) {
        const {type, part} = encodeColumn(name, column, values);
        infos[name].columns[column] = {at, length: part.length, type};
        parts.push(part);
        at += part.length;
      }
    }
    return parts;
  });
  const head = {version: 1, ...header, strings: header.strings?.slice(0, strings), tables: infos};
  return {data: piece(pageMagic, head, first), rest: piece('', header.strings?.slice(strings) ?? [], later)};
}

/**
 * @param {string} table
 * @param {string} column
 * @param {ArrayLike<number | bigint>} values
 */
function encodeColumn(table, column, values) {
  if (table === 'counter_values' && column === 'value') {
    return {type: 'float', part: new Uint8Array(Float64Array.from(/** @type {number[]} */ (values)).buffer)};
  }
  if (column === 'time') return {type: 'delta', part: varints(smallDifferences(values))};
  return {type: 'int', part: varints(values)};
}

/**
 * @param {string} magic
 * @param {unknown} json
 * @param {Uint8Array[]} columns
 */
function piece(magic, json, columns) {
  const text = Buffer.from(JSON.stringify(json)), length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([Buffer.from(magic, 'ascii'), length, text, ...columns]);
}

/**
 * Random returns a generator of pseudo-random numbers in [0, 1) (mulberry32), the same in each run.
 * @param {number} seed
 */
export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export class Strings {
  constructor() {
    this.list = [''];
    this.index = new Map([['', 0]]);
  }

  /** @param {string} text */
  of(text) {
    let i = this.index.get(text);
    if (i === undefined) {
      i = this.list.push(text) - 1;
      this.index.set(text, i);
    }
    return i;
  }
}

/**
 * Options of a synthetic recording. Length is in nanoseconds.
 * @typedef {{samples?: number, functions?: number, nodes?: number, depth?: number, threads?: number, kinds?: number,
 *   slices?: number, spans?: number, seconds?: number, begin?: number, hostile?: boolean, seed?: number,
 *   name?: string, slowdown?: number}} Options
 */

export const hostileNames = ['</script><script>alert(1)</script>', '<img src=x onerror=alert(1)>', '__proto__',
  'constructor', 'toString', '\u202Egnp.exe', 'line\nfeed\ttab', '\u0000nul', '\ud800lone', 'a'.repeat(70000),
  '"quotes\' &amp; `ticks`', 'javascript:alert(1)', '${injected}', '{{template}}', '😀 emoji', '$&', '\u200b'];

const methods = ['Handle', 'Invoke', 'Parse', 'Serialize', 'Find', 'Sort', 'Encode', 'Read', 'Write', 'MoveNext'];
const modules = ['Shop', 'Shop.Data', 'System.Private.CoreLib', 'System.Text.Json', 'Microsoft.AspNetCore.Http',
  'System.Linq', 'Npgsql', 'libcoreclr.so', 'libc.so.6', 'vmlinux'];

/**
 * @param {Strings} strings
 * @param {Required<Options>} o
 */
function makeFrames(strings, o) {
  const next = random(o.seed);
  /** @type {Record<string, number[]>} */
  const functions = {name: [], module: []};
  /** @type {Record<string, number[]>} */
  const frames = {name: [], module: [], file: [], line: [], kind: [], mine: [], waits: [], function: []};
  for (let i = 0; i < o.functions; i++) {
    const m = i < 3 ? 2 : Math.floor(next() * modules.length), module = modules[m];
    const own = m < 2 || m === 6;
    let name = o.hostile && i < hostileNames.length ? hostileNames[i] :
      m > 6 ? 'sys_' + methods[i % methods.length].toLowerCase() + '_' + i :
        `${module}.Type${Math.floor(i / 7)}.${methods[i % methods.length]}${i}(string, int)`;
    const waits = i === 2 || (i > 10 && i % 23 === 0) ? 1 : 0;
    if (waits && !o.hostile) name = i === 2 ? 'System.Threading.Thread.Sleep(int)' : name.replace(/(\.|_)(\w+)\(/, '.WaitFor$2(');
    functions.name.push(strings.of(name));
    functions.module.push(strings.of(module));
    for (let line = 0; line < 2; line++) {
      frames.name.push(strings.of(name));
      frames.module.push(strings.of(module));
      frames.file.push(own ? strings.of(`/src/${module}/Type${Math.floor(i / 7)}.cs`) : 0);
      frames.line.push(own ? 10 + line * 7 : 0);
      frames.kind.push(m === 9 ? 2 : m > 6 ? 1 : 0);
      frames.mine.push(own ? 1 : 0);
      frames.waits.push(waits);
      frames.function.push(i);
    }
  }
  return {functions, frames};
}

/** @param {Required<Options>} o */
function makeNodes(o) {
  const next = random(o.seed + 1), frames = o.functions * 2;
  const parent = new Int32Array(o.nodes), frame = new Int32Array(o.nodes), depth = new Int32Array(o.nodes);
  for (let i = 0; i < o.nodes; i++) {
    // Most nodes continue a recent stack, so that stacks are deep; the others branch anywhere.
    let p = i === 0 ? -1 : next() < 0.8 ? i - 1 - Math.floor(next() * Math.min(i, 3)) : Math.floor(next() * i * next());
    while (p >= 0 && depth[p] >= o.depth) p = parent[p];
    parent[i] = p;
    depth[i] = p < 0 ? 0 : depth[p] + 1;
    frame[i] = Math.floor(next() * next() * frames);
  }
  return {parent, frame};
}

/**
 * @param {Required<Options>} o
 * @param {Strings} strings
 * @param {number} seed
 * @param {number} values
 */
function makeSamples(o, strings, seed, values) {
  const next = random(seed), n = o.samples, length = o.seconds * 1e9;
  const time = new Float64Array(n);
  for (let i = 0; i < n; i++) time[i] = Math.floor(o.begin + next() * length);
  time.sort();
  const states = [strings.of('Managed'), strings.of('External')];
  const types = ['System.String', 'System.Byte[]', 'Shop.Order'].map((t) => strings.of(t));
  /** @type {Record<string, ArrayLike<number>>} */
  const columns = {
    time, thread: Int32Array.from(time, () => Math.floor(next() * o.threads)),
    node: Int32Array.from(time, () => (o.nodes === 0 || next() < 0.01 ? -1 : Math.floor(next() * o.nodes))),
    state: Int32Array.from(time, () => states[next() < 0.6 ? 0 : 1]),
    subject: Int32Array.from(time, () => types[Math.floor(next() * types.length)]),
    span: Int32Array.from(time, () => (o.spans > 0 && next() < 0.5 ? Math.floor(next() * o.spans) : -1)),
  };
  for (let v = 0; v < values; v++) {
    columns['value_' + v] = Float64Array.from(time, () => Math.round((v === 0 ? 1e6 : 4096) * (0.5 + next()) * o.slowdown));
  }
  return columns;
}

/**
 * @param {Required<Options>} o
 * @param {Strings} strings
 */
function makeIntervals(o, strings) {
  const next = random(o.seed + 3), n = o.slices, length = o.seconds * 1e9;
  const time = new Float64Array(n);
  for (let i = 0; i < n; i++) time[i] = Math.floor(o.begin + next() * length);
  time.sort();
  const kinds = ['gc_pause', 'jit', 'contention', 'wait', 'gc'].map((k) => strings.of(k));
  return {
    time, kind: Int32Array.from(time, () => kinds[Math.floor(next() * kinds.length)]),
    name: Int32Array.from(time, () => strings.of('slice ' + Math.floor(next() * 20))),
    duration: Float64Array.from(time, () => Math.floor(next() * length / Math.max(1, n) * 20)),
    thread: Int32Array.from(time, () => Math.floor(next() * o.threads)),
    span: Int32Array.from(time, () => -1), attributes: Int32Array.from(time, () => -1),
  };
}

/**
 * @param {Required<Options>} o
 * @param {Strings} strings
 */
function makeSpans(o, strings) {
  const next = random(o.seed + 4), n = o.spans, length = o.seconds * 1e9;
  const rows = Array.from({length: n}, (_, i) => i);
  const time = Float64Array.from(rows, () => Math.floor(o.begin + next() * length)).sort();
  return {
    time, trace_id: rows.map((i) => strings.of('trace' + (i >> 2))), span_id: rows.map((i) => strings.of('span' + i)),
    parent: rows.map((i) => (i % 4 === 0 ? -1 : i - 1)),
    name: rows.map((i) => strings.of(i % 4 === 0 ? 'GET /orders/' + i % 3 : 'SELECT orders')),
    kind: rows.map((i) => strings.of(i % 4 === 0 ? 'server' : 'client')),
    duration: rows.map((i) => Math.floor(next() * 5e7 / (1 + i % 4))), status: rows.map(() => 0),
    process: rows.map(() => 0), thread: rows.map(() => Math.floor(next() * o.threads)), attributes: rows.map(() => 0),
  };
}

/** @param {Options} options @returns {Required<Options>} */
function complete(options) {
  const o = {samples: 2000, functions: 300, nodes: 3000, depth: 30, threads: 8, kinds: 3, slices: 200, spans: 60,
    seconds: 10, begin: 0, hostile: false, seed: 1, name: 'shop', slowdown: 1, ...options};
  return o;
}

/**
 * Synthetic returns page data in one piece.
 * @param {Options} [options]
 * @returns {Uint8Array}
 */
export function synthetic(options = {}) {
  const {header, tables} = recording(options);
  return encode(header, tables);
}

/**
 * SyntheticPieces returns page data and its rest.
 * @param {Options} [options]
 */
export function syntheticPieces(options = {}) {
  const {header, tables, stackTables, strings} = recording(options), kind = 'samples_' + header.kinds[0]?.name;
  return encodePieces(header, tables, (table, column) => stackTables.includes(table) ||
    (table === kind && /^(node|subject|count|value_)/.test(column)), strings);
}

/** @param {Options} options */
function recording(options) {
  const o = complete(options), strings = new Strings();
  const {functions, frames} = makeFrames(strings, o);
  const known = [
    {name: 'wall', one: 'sample', many: 'samples', values: [{type: 'wall', unit: 'nanoseconds'}]},
    {name: 'alloc', one: 'allocation', many: 'allocations',
      values: [{type: 'alloc_objects', unit: 'count'}, {type: 'alloc_space', unit: 'bytes'}], main: 1, estimated: true},
    {name: 'exceptions', one: 'exception', many: 'exceptions', values: [{type: 'exceptions', unit: 'count'}]},
  ];
  const kinds = Array.from({length: o.kinds}, (_, i) => ({main: 0, estimated: false, bin_ns: 0, ...(known[i] ??
    {name: 'kind' + i, one: 'event', many: 'events', values: [{type: 'kind' + i, unit: i % 2 ? 'nanoseconds' : 'widgets'}]})}));
  const threads = Array.from({length: o.threads}, (_, i) => i);
  /** @type {Record<string, Record<string, ArrayLike<number>>>} */
  const tables = {functions, frames, nodes: makeNodes(o),
    processes: {pid: [4242], name: [strings.of(o.hostile ? hostileNames[1] : o.name)], command: [0], runtime: [0]},
    threads: {process: threads.map(() => 0), tid: threads.map((i) => 100 + i),
      name: threads.map((i) => strings.of(i === 0 ? 'Main' : '.NET TP Worker')), first: threads.map(() => o.begin),
      last: threads.map(() => o.begin + o.seconds * 1e9)}};
  const stackTables = Object.keys(tables);
  let firstStrings = strings.list.length;
  kinds.forEach((kind, i) => {
    tables['samples_' + kind.name] = makeSamples({...o, samples: i < 3 ? o.samples : Math.min(o.samples, 20)}, strings,
      o.seed + 10 + i, kind.values.length);
    if (i === 0) firstStrings = strings.list.length;
  });
  tables.intervals = makeIntervals(o, strings);
  tables.spans = makeSpans(o, strings);
  tables.attribute_sets = {end: [1]};
  tables.attributes = {key: [strings.of('http.route')], value: [strings.of(o.hostile ? hostileNames[0] : '/orders')]};
  tables.counter_values = {series: threads.map(() => 0), time: threads.map((i) => o.begin + i * 1e8),
    value: threads.map((i) => 30e6 + i * 1.5e6)};
  const header = {
    generator: 'ntconv synthetic', strings: strings.list, kinds,
    series: [{process: 0, provider: 'ntconv', name: 'heap-after-gc', title: 'heap after collections', unit: 'bytes',
      kind: 'gauge', statistic: '', tags: ''}],
    trace: {
      name: o.name + '.nettrace', format: 'nettrace 6', program: o.hostile ? hostileNames[0] : o.name,
      command: '/opt/' + o.name, runtime: '.NET 10.0.1', machine: 'linux x64, 8 CPUs', start: '2026-11-21T06:52:55.805123456Z',
      start_ns: '1795157575805123456', duration_ns: o.seconds * 1e9, events: o.samples, lost: 0, incomplete: false,
      notes: ['27.1% of the frames are unresolved.'],
      can: [{what: 'where threads spend time', command: 'ntconv top ' + o.name + '.nettrace'}, {what: 'allocated types'}],
      cannot: [{what: 'CPU time', command: 'ntconv collect --profile cpu'}],
    },
  };
  return {header, tables, stackTables, strings: firstStrings};
}

/** @param {Uint8Array} data */
export function toBase64(data) {
  return gzipSync(data).toString('base64');
}
