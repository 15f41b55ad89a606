// Properties of the tables: totals, order, and copied text.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {sortRows, tableText} from '../data-table.js';
import {decode} from '../data.js';
import {Store, Trace, selected} from '../model.js';
import {countOf, kindsOfTables, listedIntervals, methodRows, subjectRows, waitRows} from '../tables-data.js';
import {functionTotals} from '../totals.js';
import {groupSamples} from '../stacks.js';
import {hostileNames, synthetic} from './synthetic.js';

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
