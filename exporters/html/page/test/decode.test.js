// Properties of the decoder: each value comes back, and malformed data is an error with a sentence.
import assert from 'node:assert/strict';
import {gzipSync} from 'node:zlib';
import {test} from 'node:test';
import {decode, decodeColumn, decompress} from '../data.js';
import {Trace, initialState} from '../model.js';
import {selected} from '../selection.js';
import {groupSamples} from '../stacks.js';
import {functionTotals} from '../totals.js';
import {encode, encodePieces, hostileNames, random, synthetic, syntheticPieces, varints} from './synthetic.js';

/** @param {bigint[]} values */
function roundTrip(values) {
  const out = new Float64Array(values.length);
  assert.ok(decodeColumn(varints(values), 'int', out));
  return [...out];
}

test('varints of up to 64 bits decode to the nearest double', () => {
  const values = [0n, -1n, 1n, 63n, 64n, -64n, -65n, 2n ** 31n, -(2n ** 31n), 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 3n,
    2n ** 63n - 1n, -(2n ** 63n)];
  for (let bits = 0n; bits < 63n; bits++) values.push(2n ** bits - 1n, 2n ** bits, -(2n ** bits), 2n ** bits + 1n);
  assert.deepEqual(roundTrip(values), values.map(Number));
});

test('integers below 2^53 decode exactly', () => {
  const next = random(7);
  const values = Array.from({length: 5000}, () => BigInt(Math.floor((next() - 0.5) * 2 ** (1 + next() * 52))));
  assert.deepEqual(roundTrip(values), values.map(Number));
});

test('differences of large times do not add up rounding errors', () => {
  const times = Array.from({length: 4000}, (_, i) => 315360000000000000n + BigInt(i) * 7n);
  const data = decode(encode({kinds: []}, {losses: {time: times}}));
  assert.deepEqual([...data.table('losses').numbers('time')], times.map(Number));
  const negative = decode(encode({kinds: []}, {losses: {time: [-(2n ** 62n), 5n, 2n ** 62n]}}));
  assert.deepEqual([...negative.table('losses').numbers('time')], [-(2 ** 62), 5, 2 ** 62]);
});

test('malformed columns are errors', () => {
  const out = new Float64Array(2);
  assert.ok(!decodeColumn(Uint8Array.of(1), 'int', out));
  assert.ok(!decodeColumn(Uint8Array.of(1, 1, 1), 'int', out));
  assert.ok(!decodeColumn(Uint8Array.of(1, 0x80), 'int', out));
  assert.ok(!decodeColumn(new Uint8Array(12).fill(0x80), 'int', out));
  assert.ok(!decodeColumn(new Uint8Array(15), 'float', out));
  assert.ok(!decodeColumn(new Uint8Array(2), 'unknown', out));
});

test('malformed data is an error with a sentence', () => {
  const good = synthetic({samples: 10, nodes: 10, functions: 5});
  assert.throws(() => decode(new Uint8Array(0)), /not page data/);
  assert.throws(() => decode(good.subarray(0, 10)), /truncated/);
  assert.throws(() => decode(good.subarray(0, 100)), /truncated/);
  assert.throws(() => {
    const trace = new Trace(decode(good.subarray(0, good.length - 300)));
    trace.waitNodes.at(0);
    for (const table of Object.keys(trace.header.tables)) {
      for (const column of Object.keys(trace.header.tables[table].columns)) trace.data.table(table).numbers(column);
    }
  }, /outside of the data/);
  assert.throws(() => new Trace(decode(encode({kinds: []}, {nodes: {parent: [1, 0], frame: [0, 0]}}))), /precede/);
});

test('absent tables and columns have defaults', () => {
  const trace = new Trace(decode(encode({kinds: [{name: 'wall', values: [{type: 'wall', unit: 'nanoseconds'}]}]},
    {samples_wall: {time: [5, 6]}, unknown: {column: [1]}})));
  const {samples} = trace.kinds[0];
  assert.deepEqual([samples.rows, samples.node[0], samples.span[1], samples.count[0], samples.values[0][0]], [2, -1, -1, 1, 0]);
  assert.equal(trace.spans.rows, 0);
  assert.equal(trace.threadName(-1), 'no thread');
  assert.deepEqual(trace.attributesOf(0), []);
  assert.equal(new Trace(decode(encode({}, {}))).kinds.length, 0);
});

test('synthetic data decompresses and decodes', async () => {
  const bytes = synthetic({hostile: true});
  const data = decode(await decompress(gzipSync(bytes).toString('base64')));
  const trace = new Trace(data);
  assert.equal(trace.kinds[0].samples.rows, 2000);
  const time = trace.kinds[0].samples.time;
  assert.ok(time.every((t, i) => i === 0 || t >= time[i - 1]));
  assert.ok(hostileNames.length < trace.functions.rows);
  // eslint-disable-next-line no-control-regex
  for (const text of trace.strings) assert.doesNotMatch(text, /[\u0000-\u001f\u202e\u200b]/);
});

test('extreme sizes decode', () => {
  for (const options of [{samples: 0, nodes: 0, functions: 0, kinds: 0, slices: 0, spans: 0, threads: 0},
    {samples: 1, nodes: 1, functions: 1, kinds: 1, slices: 1, spans: 1, threads: 1}, {kinds: 300}]) {
    assert.ok(new Trace(decode(synthetic(options))).end > 0);
  }
  assert.ok(new Trace(decode(synthetic({seconds: 315360000}))).end > 3e17);
  assert.ok(new Trace(decode(synthetic({begin: -5e9}))).begin < 0);
});

test('spans outside of the recording do not extend its time', () => {
  const data = decode(synthetic({}));
  const trace = new Trace(data);
  trace.spans.time[0] = -2e17;
  assert.ok(trace.begin >= 0 && trace.end >= trace.trace.duration_ns);
});

test('the data suffices for the first picture, and with its rest it is that of one piece', () => {
  const options = {samples: 500, spans: 20, slices: 30}, pieces = syntheticPieces(options);
  const whole = new Trace(decode(synthetic(options))), trace = new Trace(decode(pieces.data));
  /** @param {Trace} t */
  const picture = (t) => functionTotals(t, groupSamples(t, initialState(t)));
  assert.deepEqual(picture(trace), picture(whole));
  assert.throws(() => trace.end, /outside of the data/);
  trace.addRest(pieces.rest);
  assert.deepEqual(trace.strings, whole.strings);
  for (const [name, table] of Object.entries(whole.header.tables)) {
    for (const column of Object.keys(table.columns)) {
      assert.deepEqual(trace.data.table(name).numbers(column), whole.data.table(name).numbers(column), name + '.' + column);
    }
  }
  const state = {...initialState(trace), from: 1e9, thread: 1};
  assert.deepEqual(selected(trace, state), selected(whole, state));
});

test('a malformed rest is an error with a sentence', () => {
  const {data, rest} = encodePieces({kinds: [], strings: ['', 'a']}, {losses: {time: [1, 2]}}, () => false, 1);
  for (const bad of [new Uint8Array(0), rest.subarray(0, 3), rest.subarray(0, 6)]) {
    assert.throws(() => decode(data).addRest(bad), /truncated rest/);
  }
  assert.throws(() => decode(data).addRest(Buffer.from('\u0002\0\0\0{}')), /want a list of strings/);
  const short = decode(data);
  short.addRest(rest.subarray(0, rest.length - 1));
  assert.throws(() => short.table('losses').numbers('time'), /outside of the data/);
});
