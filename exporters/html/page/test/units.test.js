// Quantities equal those of internal/data/message, whose tests have the same cases.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import * as units from '../units.js';

const {bytes, change, count, dateTime, duration, exactTime, fixed, group, list, number, percent, points, quantity,
  visible} = units;

test('durations', () => {
  const cases = /** @type {[number, string][]} */ ([[0, '0s'], [1, '1ns'],
    [-1500, '-1.5µs'], [885000, '885µs'], [7.04e9, '7.04s'],
    [999.6e6, '1s'], [999400000, '999ms'], [59.9996e9, '1m0s'], [150e9, '2m30s'], [3600e9, '1h0m0s'], [3.1536e17, '87600h0m0s'],
    [12345678, '12.3ms'], [999999, '1ms'], [1e9 - 1, '1s']]);
  for (const [ns, want] of cases) assert.equal(duration(ns), want);
});

test('numbers', () => {
  const cases = /** @type {[number, string][]} */ ([[0, '0'], [27.12, '27.1'], [1234, '1,234'], [1234567.8, '1,234,568'],
    [0.5, '0.50'], [9.996, '10.0'], [99.96, '100'], [999.6, '1,000'], [0.001234, '0.0012'], [0.00001, '1e-05'], [1e15, '1e+15'],
    [1.2345e20, '1.23e+20'], [-5.25, '-5.25'], [-1234, '-1,234'], [10.25, '10.2'], [10.75, '10.8'], [0.125, '0.12']]);
  for (const [x, want] of cases) assert.equal(number(x), want);
});

test('quantities', () => {
  assert.equal(quantity(8e6, 'bytes'), '7.63 MiB');
  assert.equal(bytes(999), '999 B');
  assert.equal(bytes(1023), '1.00 KiB');
  assert.equal(quantity(1.5, 'milliseconds'), '1.5ms');
  assert.equal(quantity(12, 'count'), '12');
  assert.equal(quantity(12.5, '%'), '12.5%');
  assert.equal(quantity(3, 'widgets'), '3 widgets');
  assert.equal(change(5e6, 'nanoseconds'), '+5ms');
  assert.equal(quantity(1e19, 'nanoseconds'), '10,000,000,000s');
});

test('shares, counts, times', () => {
  assert.deepEqual([percent(271, 1000), percent(1, 10000), percent(0, 5), percent(5, 0)], ['27.1%', 'under 0.1%', '0%', '0%']);
  assert.deepEqual([count(1, 'query', 'queries'), count(1234, 'query', 'queries'), count(2, 'sample')],
    ['1 query', '1,234 queries', '2 samples']);
  assert.deepEqual([points(0.4149), points(-6.31), points(0)], ['+0.41 pp', '-6.31 pp', '+0.00 pp']);
  assert.equal(list(['a', 'b', 'c']), 'a, b and c');
  assert.equal(group(-1234567), '-1,234,567');
  assert.equal(fixed(2.5, 0), '2');
  assert.deepEqual([1.5e9, -1234567, 0, 1].map(exactTime),
    ['1.500s', '-0.001234567s', '0s', '0.000000001s']);
  assert.equal(dateTime('2026-11-21T06:52:55.805123456Z'), '2026-11-21 06:52:55.805 UTC');
  assert.equal(dateTime(''), '');
  assert.equal(visible('a\u202eb\n\u0000é😀\ud800'), 'a\\u202eb\\n\\x00é😀\\ud800');
});
