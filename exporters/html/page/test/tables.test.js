// Properties of the tables: totals, order, and copied text.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {sortRows, tableText} from '../data-table.js';
import {decode} from '../data.js';
import {Store, Trace} from '../model.js';
import {selected} from '../selection.js';
import {collectionRows, countOf, countedSamples, counterRows, kindsOfTables, listedIntervals} from '../tables-data.js';
import {methodRows, mostFrequent, subjectRows, waitRows} from '../tables-data.js';
import {fewSamplesDoubt, firstTable} from '../tables.js';
import {functionTotals} from '../totals.js';
import {groupSamples} from '../stacks.js';
import {encode, hostileNames, synthetic} from './synthetic.js';

const trace = new Trace(decode(synthetic({samples: 4000, slices: 500})));

test('methods have the numbers of the flame graph, and flat values are at most the total', () => {
  const {state} = new Store(trace);
  for (const patch of [{}, {from: 1e9, to: 4e9}, {thread: 2}, {waits: false}, {kind: 1, value: 1}]) {
    const chosen = {...state, ...patch};
    const {rows, total} = methodRows(trace, chosen);
    const {flat, cumulative, total: want} = functionTotals(trace, groupSamples(trace, chosen));
    assert.equal(total, want);
    let sum = 0;
    for (const row of rows) {
      assert.equal(row.flat, flat[row.id]);
      assert.equal(row.cumulative, cumulative[row.id]);
      assert.ok(row.cumulative >= row.flat - 1e-6 * row.flat);
      sum += row.flat;
    }
    assert.ok(sum <= total * (1 + 1e-9));
  }
});

test('just my code lists functions of the program only, and keeps the total', () => {
  const {state} = new Store(trace);
  const all = methodRows(trace, state);
  const mine = methodRows(trace, {...state, mine: true});
  assert.ok(Math.abs(mine.total - all.total) < 1e-6 * all.total);
  const cumulative = new Map(all.rows.map((row) => [row.id, row.cumulative]));
  for (const row of mine.rows) {
    assert.ok(Math.abs(row.cumulative - (cumulative.get(row.id) ?? 0)) <= 1e-6 * row.cumulative);
    assert.ok(row.flat >= (all.rows.find((other) => other.id === row.id)?.flat ?? 0) - 1e-6 * row.flat);
  }
});

test('the rows of types add up to the selected samples', () => {
  const {state} = new Store(trace);
  const {alloc, bytes} = kindsOfTables(trace);
  assert.ok(alloc);
  for (const patch of [{}, {from: 2e9, to: 3e9}, {subject: 'no such type'}]) {
    const rows = subjectRows(trace, {...state, ...patch}, alloc);
    const indexes = selected(trace, {...state, ...patch, subject: ''}, alloc.index);
    const want = indexes.reduce((sum, i) => sum + alloc.samples.values[bytes][i], 0);
    const got = rows.reduce((sum, row) => sum + row.sums[bytes], 0);
    assert.ok(Math.abs(got - want) <= 1e-9 * want);
    assert.equal(new Set(rows.map((row) => row.name)).size, rows.length);
    assert.ok(rows.every((row) => countOf(alloc, row) >= 0 && row.first <= row.last));
  }
});

test('waits are grouped without loss', () => {
  const {state} = new Store(trace);
  for (const kind of new Set(Array.from(trace.intervals.kind, (k) => trace.str(k)))) {
    const rows = waitRows(trace, state, kind, 'http.route');
    const list = listedIntervals(trace, state, kind, false);
    assert.equal(rows.reduce((sum, row) => sum + row.waits, 0), list.length);
    assert.ok(rows.every((row) => row.longest <= row.total));
  }
});

test('waits without an end count in no total', () => {
  const names = ['', 'contention', 'dotnet.lock.id', '255', 'dotnet.lock.wait_ns', '12',
    'dotnet.lock.owner_thread_id', '9', 'Run', 'gc'];
  const header = {strings: names, series: [], trace: {name: '', duration_ns: 1000, notes: [], can: [], cannot: []},
    kinds: [{name: 'contention', one: '', many: '', bin_ns: 0, main: 0, estimated: false,
      values: [{type: 'delay', unit: 'nanoseconds'}]}]};
  const small = new Trace(decode(encode(header, {
    processes: {pid: [1]}, threads: {process: [0, 0], tid: [7, 9], name: [0, 8]},
    frames: {name: [8], function: [0], mine: [1]}, functions: {name: [8]}, nodes: {parent: [-1], frame: [0]},
    samples_contention: {time: [10, 30], thread: [0, 0], node: [0, 0], value_0: [12, 20]},
    intervals: {kind: [1, 1, 1, 9, 9], time: [10, 30, 40, 50, 60], duration: [10, 20, -1, 5, -1], thread: [0, 0, 0, 0, 0],
      attributes: [0, 1, 1, -1, -1], name: [0, 0, 0, 0, 0]},
    attribute_sets: {end: [3, 5]}, attributes: {key: [2, 4, 6, 2, 6], value: [3, 5, 7, 3, 7]},
  })));
  const {state} = new Store(small);
  const [row] = waitRows(small, state, 'contention', 'dotnet.lock.id');
  const samples = small.kinds[0].samples;
  assert.equal(row.total, samples.values[0].reduce((a, b) => a + b, 0));
  assert.deepEqual([row.name, row.waits, row.open, row.longest, row.at], ['0xff', samples.rows, 1, 20, 1]);
  assert.deepEqual([mostFrequent(row.holders), mostFrequent(row.methods)], ['Run (thread 9)', 'Run']);
  assert.deepEqual(collectionRows(small, state).map((r) => r.duration), [5, NaN]);
});

test('counters are described by series', () => {
  const rows = counterRows(trace, new Store(trace).state);
  assert.equal(rows.length, 1);
  assert.deepEqual([rows[0].values, rows[0].min, rows[0].max, rows[0].last], [8, 30e6, 40.5e6, 40.5e6]);
  assert.ok(Math.abs(rows[0].mean - 35.25e6) < 1);
});

test('the first table has names, and few samples are pointed out', () => {
  const store = new Store(new Trace(decode(synthetic({nodes: 0, spans: 0}))));
  assert.equal(firstTable(store, ['methods', 'types', 'exceptions']), 1);
  store.set({kind: 2});
  assert.equal(firstTable(store, ['methods', 'types', 'exceptions']), 2);
  assert.equal(firstTable(new Store(trace), ['methods', 'types']), 0);
  const {alloc} = kindsOfTables(trace);
  assert.match(fewSamplesDoubt(alloc, 4), /4 samples/);
  assert.equal(fewSamplesDoubt(alloc, 5), '');
  assert.equal(fewSamplesDoubt(trace.kinds[0], 1), '');
});

test('the samples of functions are counted', () => {
  const {state} = new Store(trace);
  const counts = countedSamples(trace, {...state, kind: 1, value: 1});
  const limit = trace.kinds[1].samples.rows;
  assert.ok(counts.every((n) => n >= 0 && n <= limit) && counts.some((n) => n > 0));
});

test('sorting is stable and puts unknown numbers last', () => {
  const rows = [{n: 2, t: 'b10'}, {n: NaN, t: 'a'}, {n: 1, t: 'b9'}, {n: 2, t: 'c'}];
  /** @type {import('../data-table.js').Column<{n: number, t: string}>} */
  const number = {key: 'n', title: 'N', text: (r) => String(r.n), value: (r) => r.n};
  /** @type {import('../data-table.js').Column<{n: number, t: string}>} */
  const text = {key: 't', title: 'T', text: (r) => r.t};
  assert.deepEqual(sortRows(rows, number, false).map((r) => r.t), ['b10', 'c', 'b9', 'a']);
  assert.deepEqual(sortRows(rows, number, true).map((r) => r.t), ['b9', 'b10', 'c', 'a']);
  assert.deepEqual(sortRows(rows, text, true).map((r) => r.t), ['a', 'b9', 'b10', 'c']);
});

test('copied text has one line per row and no formulas', () => {
  const names = [...hostileNames, '=1+1', '+x', '-x', '@x', 'a\tb\nc'];
  /** @type {import('../data-table.js').Column<string>[]} */
  const columns = [
    {key: 'name', title: 'Name', text: (name) => name},
    {key: 'length', title: 'Length', unit: 'bytes', text: () => '', value: (name) => name.length},
    {key: 'none', title: 'None', text: () => '', value: () => NaN},
  ];
  const lines = tableText(columns, names).split('\n');
  assert.equal(lines.length, names.length + 2);
  assert.equal(lines[0], 'Name\tLength (bytes)\tNone');
  for (const line of lines.slice(1, -1)) {
    assert.equal(line.split('\t').length, 3);
    assert.ok(!/^[=+\-@]/.test(line), line);
  }
});
