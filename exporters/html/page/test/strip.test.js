// Properties of the time strip: sums over bins, quantiles, and the text of its axis.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {BinSum, binLatest, binMaxima, binOf, binPeaks, binQuantiles, coveredTime, joinByKey, makeBins} from '../bins.js';
import {quantileOf} from '../bins.js';
import {chartsOf, formatChartValue, nodesWithFunction, wholeStrip} from '../chart-data.js';
import {decode} from '../data.js';
import {Store, Trace} from '../model.js';
import {selected} from '../selection.js';
import {maximumAt, plotColumns, powersAround} from '../strip-plot.js';
import {axisTicks, niceStep, parseTime, roundUnit, tickText, ticksBetween, typedTime} from '../time-axis.js';
import {encode, random, synthetic} from './synthetic.js';

/** @param {ArrayLike<number>} values */
const total = (values) => Array.from(values).reduce((a, b) => a + b, 0);

/** @param {number} a @param {number} b @param {string} [message] */
function near(a, b, message) {
  assert.ok(Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b)), `${message ?? ''} ${a} and ${b}`);
}

test('bins cover the range without gaps', () => {
  const next = random(1);
  for (let i = 0; i < 500; i++) {
    const from = Math.floor(next() * 1e12) - 5e11;
    const to = from + 1 + Math.floor(next() * 10 ** (1 + next() * 17));
    const max = 1 + Math.floor(next() * 2000);
    const bins = makeBins(from, to, max, next() < 0.3 ? 1e6 : 0);
    assert.ok(bins.count >= 1 && bins.count <= max && Number.isInteger(bins.width));
    assert.ok(bins.from + bins.count * bins.width >= to && bins.from + (bins.count - 1) * bins.width < to);
    assert.equal(binOf(bins, from), 0);
  }
});

test('the sums of bins and what lies outside are the total', () => {
  const next = random(2);
  for (let round = 0; round < 50; round++) {
    const bins = makeBins(1000, 1000 + Math.floor(next() * 1e6) + 10, 1 + Math.floor(next() * 300));
    const sum = new BinSum(bins);
    const brute = new Float64Array(bins.count);
    let all = 0;
    for (let i = 0; i < 300; i++) {
      const time = Math.floor(next() * 1.2e6) - 1e5;
      const length = next() < 0.2 ? 0 : Math.floor(next() * 10 ** (next() * 7));
      const value = next() < 0.5 ? length : Math.floor(next() * 1000);
      all += value;
      sum.spread(time, length, value);
      for (let b = 0; b < bins.count; b++) {
        const from = bins.from + b * bins.width;
        const overlap = Math.min(time + length, from + bins.width) - Math.max(time, from);
        brute[b] += length === 0 ? (binOf(bins, time) === b ? value : 0) : value * Math.max(0, overlap) / length;
      }
    }
    const sums = sum.sums();
    near(total(sums) + sum.outside, all, 'total');
    sums.forEach((v, b) => assert.ok(Math.abs(v - brute[b]) < 1e-3 + 1e-9 * brute[b], `bin ${b}: ${v}, want ${brute[b]}`));
  }
});

test('whole durations are added up exactly', () => {
  const bins = makeBins(0, 1e9, 1000);
  const sum = new BinSum(bins);
  for (let t = 0; t < 1e9; t += 1e6) {
    sum.spread(t, 1e6, 1e6);
  }
  assert.equal(total(sum.sums()), 1e9);
  assert.ok(sum.sums().every((v) => v === bins.width));
});

test('peaks, maxima, latest values and quantiles equal a computation by brute force', () => {
  const next = random(3);
  for (let round = 0; round < 40; round++) {
    const bins = makeBins(0, 1000, 1 + Math.floor(next() * 60));
    const n = Math.floor(next() * 200);
    const times = Float64Array.from({length: n}, () => Math.floor(next() * 1200) - 100).sort();
    const ends = times.map((t) => t + Math.floor(next() * 90));
    const values = Float64Array.from({length: n}, () => Math.floor(next() * 50));
    const peaks = binPeaks(bins, times, ends);
    const maxima = binMaxima(bins, times, values);
    const latest = binLatest(bins, times, values);
    const [p50, p99] = binQuantiles(bins, times, values, [50, 99]);
    for (let b = 0; b < bins.count; b++) {
      const low = b * bins.width;
      const high = low + bins.width;
      const all = Array.from(times.keys());
      const moments = Array.from({length: high - low}, (_, k) => low + k);
      const open = moments.map((t) => all.filter((i) => times[i] <= t && Math.max(ends[i], times[i] + 1) > t).length);
      assert.equal(peaks[b], Math.max(...open), `bin ${b} of ${bins.count}`);
      const own = all.filter((i) => times[i] >= low && times[i] < high);
      assert.equal(maxima[b], Math.max(0, ...own.map((i) => values[i])));
      assert.equal(latest[b], own.length === 0 ? null : values[own[own.length - 1]]);
      const sorted = own.map((i) => values[i]).sort((x, y) => x - y);
      for (const [got, percent] of /** @type {const} */ ([[p50, 50], [p99, 99]])) {
        assert.equal(got[b], own.length === 0 ? null : sorted[Math.max(1, Math.ceil(sorted.length * percent / 100)) - 1]);
      }
    }
  }
});

test('intervals of one key are joined, and covered time is counted once', () => {
  const joined = joinByKey([0, 5, 6, 20, 20], [10, 8, 15, 21, 21], [1, 1, 1, 1, 2]);
  assert.deepEqual(joined, {starts: [0, 10, 20, 20], ends: [10, 15, 21, 21]});
  assert.equal(Math.max(...binPeaks(makeBins(0, 30, 3), joined.starts, joined.ends)), 2);
  assert.equal(coveredTime([6, 0, 5, 20], [15, 10, 8, 21]), 16);
});

test('peaks do not depend on the width of bins, and counts are counts', () => {
  const trace = new Trace(decode(synthetic({samples: 40, seconds: 1, spans: 40})));
  const {state} = new Store(trace);
  const charts = new Map(chartsOf(trace).map((chart) => [chart.id, chart]));
  const largest = (/** @type {string} */ id, /** @type {number} */ bins) => {
    const values = charts.get(id)?.compute(state, makeBins(trace.begin, trace.end, bins)).series[0].values ?? [];
    return values[maximumAt(values)];
  };
  for (const id of ['flight', 'ran']) {
    assert.equal(largest(id, 1), largest(id, 500), id);
    assert.equal(largest(id, 10), largest(id, 5000), id);
  }
  assert.ok(Number(largest('exceptions', 1e6)) <= 40 * 1.5e6);
  assert.equal(charts.get('exceptions')?.unit, 'count');
  assert.equal(charts.get('alloc')?.maxBins, 100);
  assert.match(charts.get('alloc')?.compute(state, makeBins(0, 1e9, 100)).note ?? '', /^mean per 10ms$/);
});

test('counters: statistics share a chart, and the usual ones are open if there is nothing else', () => {
  const names = ['cpu-usage', 'working-set', 'gc-heap-size', 'alloc-rate', 'threadpool-thread-count',
    'threadpool-queue-length', 'other'];
  const statistics = ['mean', 'standard_deviation', 'min', 'max', 'count'];
  const series = [...names.flatMap((name) => statistics.map((statistic) =>
    ({process: 0, provider: 'System.Runtime', name, title: name, unit: 'B', kind: 'mean', statistic, tags: ''}))),
  {process: 0, provider: 'Shop', name: 'orders', title: '', unit: '{order}', kind: 'counter', statistic: 'rate', tags: 'a=b'}];
  const header = {strings: [''], kinds: [], series, trace: {name: '', duration_ns: 1e9, notes: [], can: [], cannot: []}};
  const trace = new Trace(decode(encode(header, {processes: {pid: [1]}, counter_values: {
    series: series.map((_, i) => i), time: series.map(() => 5), value: series.map((_, i) => i)}})));
  const charts = chartsOf(trace);
  assert.equal(charts.length, names.length + 1);
  assert.deepEqual(charts.filter((chart) => chart.open).map((chart) => chart.title),
    ['cpu-usage', 'working-set', 'gc-heap-size', 'alloc-rate', 'threadpool-thread-count', 'orders, rate, a=b']);
  const data = charts[0].compute(new Store(trace).state, makeBins(0, 10, 10));
  assert.deepEqual(data.series.map((s) => [s.label, s.values[5]]), [['mean', 0], ['min', 2], ['max', 3]]);
  assert.deepEqual([charts[0].unit, charts[7].unit, charts[7].group], ['bytes', 'order/s', 'Shop']);
});

test('quantiles have the rank of internal/data/distribution', () => {
  assert.ok(Number.isNaN(quantileOf([], 50)));
  assert.deepEqual([1, 50, 95, 99, 100].map((p) => quantileOf([1, 2, 3, 4], p)), [1, 2, 4, 4, 4]);
  assert.equal(quantileOf(Array.from({length: 200}, (_, i) => i + 1), 99), 198);
});

test('charts show the total of the samples', () => {
  const trace = new Trace(decode(synthetic({samples: 3000})));
  const {state} = new Store(trace);
  const charts = chartsOf(trace);
  const ids = charts.map((chart) => chart.id);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ['wall', 'alloc', 'heap', 'ran', 'exceptions', 'flight', 'latency']) {
    assert.ok(ids.includes(id), id);
  }
  const bins = makeBins(trace.begin, trace.end, 500);
  const kind = trace.kinds.findIndex((k) => k.name === 'alloc');
  const alloc = charts[ids.indexOf('alloc')].compute({...state, from: 5, to: 6}, bins);
  const value = trace.kinds[kind].values.findIndex((v) => v.unit === 'bytes');
  const want = Array.from(selected(trace, wholeStrip(state), kind), (i) => trace.kinds[kind].samples.values[value][i]);
  near(total(/** @type {Float64Array} */ (alloc.series[0].values)) * bins.width / 1e9, total(want), 'allocated');
  for (const chart of charts) {
    const data = chart.compute(state, bins);
    const columns = plotColumns(data, bins);
    assert.ok(columns.every((column) => column.length === bins.count + 1), chart.id);
    assert.equal(columns.length, data.series.length + 1);
  }
});

test('a method is marked in all stacks that contain it', () => {
  const trace = new Trace(decode(synthetic()));
  const marks = nodesWithFunction(trace, 3);
  marks.forEach((mark, node) => {
    let has = 0;
    for (let n = node; n >= 0; n = trace.nodes.parent[n]) {
      has ||= trace.frames.function[trace.nodes.frame[n]] === 3 ? 1 : 0;
    }
    assert.equal(mark, has);
  });
});

test('steps of axes are the smallest that are wide enough, and ticks differ', () => {
  const next = random(4);
  for (let i = 0; i < 1000; i++) {
    const min = 10 ** (next() * 14);
    const step = niceStep(min);
    assert.ok(step >= min * (1 - 1e-9) && step <= Math.max(10, min * 3.1), `${min}: ${step}`);
    const from = Math.floor(next() * 1e14);
    const ticks = ticksBetween(from, from + step * 7, step);
    assert.ok(ticks.length >= 6 && ticks.length <= 8);
    assert.equal(new Set(ticks.map((t) => tickText(t, step))).size, ticks.length, `${ticks} by ${step}`);
  }
  for (let i = 0; i < 500; i++) {
    const from = Math.floor(next() * 10 ** (next() * 14));
    const length = Math.floor(1 + 10 ** (next() * 14));
    const {ticks, texts} = axisTicks(from, from + length, 300 + next() * 1500, 90);
    assert.ok(ticks.length >= 1 || length < 20, `${from} ${length}`);
    texts.forEach((text, k) => {
      assert.equal(parseTime(text), ticks[k], text);
      assert.ok(k === 0 || text !== texts[k - 1]);
    });
  }
  assert.equal(tickText(12.5e9, 2.5e9), '12.5s');
  assert.equal(tickText(2.5e7, 2.5e7), '0.025s');
  assert.equal(tickText(1.25e9, 5e7), '1.25s');
  assert.equal(tickText(80e9, 2e10), '1m20s');
  assert.equal(tickText(-3e6, 1e6), '-0.003s');
});

test('times that are typed are read again', () => {
  assert.equal(parseTime(''), null);
  assert.equal(parseTime('1.5'), 1.5e9);
  assert.equal(parseTime('350ms'), 35e7);
  assert.equal(parseTime(' 1m 20s'), 80e9);
  assert.equal(parseTime('12 µs'), 12e3);
  assert.equal(parseTime('-1m20s'), -80e9);
  for (const text of ['-', 'x', '1x', '1,5', '--1', '1e3', 's']) {
    assert.ok(Number.isNaN(parseTime(text)), text);
  }
  for (const time of [0, 1, -1, 123456789, 3.6e12]) {
    assert.equal(parseTime(typedTime(time)), time);
  }
  assert.equal(roundUnit(0.5), 1);
  assert.equal(roundUnit(17.4e6), 1e7);
});

test('values of charts', () => {
  assert.equal(formatChartValue(1048576, 'bytes/s'), '1 MiB/s');
  assert.equal(formatChartValue(2.345, 'threads'), '2.35');
  assert.equal(formatChartValue(1234567, 'nanoseconds'), '1.23ms');
  assert.equal(maximumAt([null, 2, 5, 5]), 2);
  assert.equal(maximumAt([null]), -1);
  assert.deepEqual(powersAround(150, 4000), [100, 10000]);
  assert.deepEqual(powersAround(null, null), [1, 10]);
});
