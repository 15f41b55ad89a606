// Properties of the timeline of threads: rows without overlaps, searches, and boxes that show each slice once.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {decode} from '../data.js';
import {Trace, firstAfter, firstAtLeast, groupByKey} from '../model.js';
import {galloping, makeRows, visibleRange, visitRow} from '../threads-layout.js';
import {fitText, placeLanes} from '../threads-draw.js';
import {hasLanes, hitAt, laneAt, legendOf, longestSlices} from '../threads-facts.js';
import {SampleLanes, buildLanes} from '../threads-lanes.js';
import {encode, random, synthetic} from './synthetic.js';

/**
 * @param {() => number} next
 * @param {number} n
 * @param {number} longest
 */
function randomSlices(next, n, longest) {
  const start = Float64Array.from({length: n}, () => Math.floor(next() * 1000)).sort();
  const end = start.map((t) => t + (next() < 0.2 ? 0 : Math.floor(next() * longest)));
  return {start, end, id: Int32Array.from(start.keys())};
}

test('rows have no overlaps, and no slice is lost', () => {
  const next = random(1);
  for (let round = 0; round < 200; round++) {
    const list = randomSlices(next, Math.floor(next() * 80), 60);
    const times = new Map(Array.from(list.id, (id, i) => [id, [list.start[i], list.end[i]]]));
    const {rows, crowded} = makeRows(list.start, list.end, list.id, 100);
    assert.equal(crowded, 0);
    /** @type {Map<number, number>} */
    const rowOf = new Map();
    rows.forEach((row, r) => {
      for (let i = 0; i < row.id.length; i++) {
        rowOf.set(row.id[i], r);
        assert.deepEqual([row.start[i], row.end[i]], times.get(row.id[i]));
        assert.ok(i === 0 || row.start[i] >= row.end[i - 1]);
      }
      assert.equal(row.total[row.id.length], row.end.reduce((sum, e, i) => sum + e - row.start[i], 0));
    });
    assert.equal(rowOf.size, times.size);
  }
});

test('slices that nest are below the slices that contain them', () => {
  const next = random(6);
  for (let round = 0; round < 100; round++) {
    /** @type {[number, number, number][]} */
    const nested = [];
    const add = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ depth) => {
      nested.push([from, to, depth]);
      for (let t = from; depth < 6 && to - t > 4; t += 1 + Math.floor(next() * (to - t))) {
        const end = t + 1 + Math.floor(next() * (to - t - 1));
        add(t, end, depth + 1);
        t = end;
      }
    };
    add(0, 500, 0);
    nested.sort((a, b) => a[0] - b[0]);
    const column = (/** @type {number} */ k) => Float64Array.from(nested, (slice) => slice[k]);
    const {rows} = makeRows(column(0), column(1), Int32Array.from(nested.keys()));
    rows.forEach((row, r) => row.id.forEach((id) => assert.equal(nested[id][2], r)));
  }
});

test('slices without a free row share the last one and are counted', () => {
  const n = 50;
  const ids = Int32Array.from({length: n}, (_, i) => i);
  const {rows, crowded} = makeRows(new Float64Array(n), new Float64Array(n).fill(10), ids, 4);
  assert.equal(rows.length, 4);
  assert.equal(crowded, n - 4);
  assert.equal(rows.reduce((sum, row) => sum + row.id.length, 0), n);
  assert.equal(rows[3].total[rows[3].id.length], 10);
});

test('searches equal brute force', () => {
  const next = random(2);
  for (let round = 0; round < 300; round++) {
    const list = randomSlices(next, Math.floor(next() * 60), 40);
    const {rows} = makeRows(list.start, list.end, list.id, 100);
    const from = Math.floor(next() * 1100) - 50;
    const to = from + 1 + Math.floor(next() * 300);
    for (const row of rows) {
      const [first, last] = visibleRange(row, from, to);
      const want = Array.from(row.id.keys()).filter((i) => row.start[i] < to &&
        (row.end[i] > from || (row.start[i] === row.end[i] && row.start[i] === from)));
      assert.deepEqual(Array.from({length: last - first}, (_, i) => first + i), want);
      const low = Math.floor(next() * row.id.length);
      const least = Array.from(row.end).findIndex((e, i) => i >= low && e >= from);
      assert.equal(galloping(row.end, from, low), least < 0 ? row.id.length : least);
      assert.equal(firstAtLeast(row.start, from, 0, row.id.length), row.start.filter((s) => s < from).length);
      assert.equal(firstAfter(row.start, from, 0, row.id.length), row.start.filter((s) => s <= from).length);
    }
  }
});

test('each visible slice is in one box, and the boxes are at most two per pixel', () => {
  const next = random(3);
  for (let round = 0; round < 200; round++) {
    const list = randomSlices(next, Math.floor(next() * 2000), 3);
    const {rows} = makeRows(list.start, list.end, list.id, 100);
    const width = 10 + Math.floor(next() * 100);
    const from = Math.floor(next() * 500);
    const to = from + 10 + Math.floor(next() * 1000);
    for (const row of rows) {
      let at = visibleRange(row, from, to)[0];
      let boxes = 0;
      visitRow(row, from, to, width, (left, right, first, following) => {
        assert.equal(first, at);
        assert.ok(following > first && right >= left);
        at = following;
        boxes++;
      });
      assert.equal(at, visibleRange(row, from, to)[1]);
      assert.ok(boxes <= 2 * width + 4, `${boxes} boxes in ${width} pixels`);
    }
  }
});

test('rows of a table are grouped in their order', () => {
  const {starts, order} = groupByKey([2, 0, -1, 2, 5, 0], 3);
  assert.deepEqual([...starts], [0, 2, 2, 4]);
  assert.deepEqual([...order], [1, 5, 0, 3]);
});

test('lanes have all slices and samples of a trace', () => {
  const trace = new Trace(decode(synthetic({slices: 3000, spans: 500, threads: 5})));
  const lanes = buildLanes(trace);
  const ids = lanes.flatMap((lane) => lane.rows.flatMap((row) => [...row.id])).sort((a, b) => a - b);
  assert.deepEqual(ids, Array.from({length: trace.intervals.rows + trace.spans.rows}, (_, i) => i));
  for (const kind of trace.kinds) {
    const samples = new SampleLanes(trace, kind, (node) => node >= 0 && trace.waitNodes[node] === 1);
    const all = lanes.flatMap((lane) => (lane.thread < 0 ? [] : [...samples.of(lane.thread).id]));
    assert.equal(all.length, kind.samples.thread.filter((thread) => thread >= 0).length);
    for (const lane of lanes.filter(({thread}) => thread >= 0)) {
      const boxes = samples.of(lane.thread);
      boxes.end.forEach((end, i) => assert.ok(i === 0 || boxes.start[i] >= boxes.end[i - 1], `${end}`));
    }
  }
});

test('what is drawn at a place is found there', () => {
  const trace = new Trace(decode(synthetic({slices: 2000, spans: 300, threads: 6})));
  const samples = new SampleLanes(trace, trace.kinds[0], () => false);
  const lanes = buildLanes(trace);
  const {placed, height} = placeLanes(lanes, (lane) => samples.count(lane.thread) > 0, true);
  assert.equal(placed[placed.length - 1].top + placed[placed.length - 1].height, height);
  for (let y = 0; y < height; y += 3) {
    const p = laneAt(placed, y);
    assert.ok(p && p.top <= y && y < p.top + p.height);
  }
  assert.equal(laneAt(placed, height), undefined);
  assert.equal(laneAt(placed, -1), undefined);
  for (const p of placed) {
    p.lane.rows.forEach((row, r) => {
      const i = Math.floor(row.id.length / 2);
      const y = p.top + p.head + 2 + p.samples + r * 14 + 7;
      assert.equal(hitAt(placed, samples, row.start[i], y, 0.4)?.slice, row.id[i]);
    });
  }
});

test('texts fit their width', () => {
  assert.equal(fitText('abcdef', 100), 'abcdef');
  assert.equal(fitText('abcdefghijklmnop', 40), 'abcde…');
  assert.equal(fitText('abcdef', 5), '');
});

test('the longest visible slices are listed, and the legend names what there is', () => {
  const shown = new Trace(decode(synthetic({slices: 300, spans: 50})));
  const {placed} = placeLanes(buildLanes(shown), () => false, false);
  const {slices, all} = longestSlices(shown, placed, shown.begin, shown.end, 100);
  assert.equal(all, 350);
  assert.equal(slices.length, 100);
  assert.equal(new Set(slices.map((slice) => slice.id)).size, 100);
  const lengths = slices.map((slice) => slice.length);
  assert.deepEqual(lengths, [...lengths].sort((a, b) => b - a));
  assert.equal(lengths[0], Math.max(...shown.intervals.duration, ...shown.spans.duration));
  const labels = legendOf(shown).map(({label}) => label);
  for (const label of ['managed code', 'external (native) code', 'waiting', 'GC pauses', 'locks', 'spans, a color per name']) {
    assert.ok(labels.includes(label), label);
  }
  const strings = ['', 'suspension', 'gc_finalizers', 'gc'];
  const runtime = new Trace(decode(encode({version: 1, strings, trace: {duration_ns: 9}, kinds: []},
    {intervals: {time: [0, 1, 2], kind: [1, 2, 3], duration: [1, 1, 1]}})));
  assert.deepEqual(legendOf(runtime).map(({label}) => label), ['collections and finalizers', 'suspensions']);
  assert.ok(hasLanes(shown));
  assert.ok(!hasLanes(new Trace(decode(synthetic({samples: 0, slices: 0, spans: 0})))));
});
