// Properties of requests and spans: quantiles, the order of waterfalls, and sums of activities.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {decode} from '../data.js';
import {Store, Trace} from '../model.js';
import {activityOf, rootOf, routesOf, spansIn, waterfallOf} from '../spans-data.js';
import {idleNodes, spanIndex} from '../span-samples.js';
import {clientCalls, fewRequestsDoubt, linkNote} from '../spans.js';
import {coverage} from '../waterfall.js';
import {encode, random, synthetic} from './synthetic.js';

const trace = new Trace(decode(synthetic({samples: 3000, spans: 400, slices: 600})));

test('quantiles of routes equal a computation by brute force', () => {
  const list = Array.from({length: trace.spans.rows}, (_, i) => i);
  const routes = routesOf(trace, list);
  assert.equal(routes.reduce((sum, route) => sum + route.count, 0), list.length);
  for (const route of routes) {
    const own = list.filter((i) => trace.spans.name[i] === route.name);
    assert.deepEqual(route.spans, own);
    const sorted = own.map((i) => trace.spans.duration[i]).filter((d) => d >= 0).sort((a, b) => a - b);
    for (const [got, percent] of [[route.p50, 50], [route.p95, 95], [route.p99, 99], [route.max, 100]]) {
      assert.equal(got, sorted[Math.ceil(sorted.length * percent / 100) - 1]);
    }
    assert.equal(route.total, sorted.reduce((a, b) => a + b, 0));
  }
  assert.deepEqual(routes.map((r) => r.total), routes.map((r) => r.total).sort((a, b) => b - a));
});

test('a waterfall has each descendant once, after its parent, children by start', () => {
  for (let root = 0; root < trace.spans.rows; root++) {
    const order = waterfallOf(trace, root);
    const within = trace.spansWithin(root);
    assert.equal(order.length, within.reduce((a, b) => a + b, 0));
    assert.deepEqual(order[0], {span: root, depth: 0});
    const place = new Map(order.map(({span}, i) => [span, i]));
    order.slice(1).forEach(({span, depth}, i) => {
      const parent = trace.spans.parent[span];
      const at = place.get(parent);
      assert.ok(at !== undefined && at <= i && order[at].depth === depth - 1);
      const sibling = order.slice(1, i + 1).filter((other) => trace.spans.parent[other.span] === parent).pop();
      assert.ok(!sibling || trace.spans.time[sibling.span] <= trace.spans.time[span]);
    });
    assert.equal(rootOf(trace, root), waterfallRoot(root));
  }
});

/** @param {number} span @returns {number} */
function waterfallRoot(span) {
  return trace.spans.parent[span] < 0 ? span : waterfallRoot(trace.spans.parent[span]);
}

test('cycles of parents end', () => {
  const broken = new Trace(decode(synthetic({spans: 8})));
  broken.spans.parent.set([1, 2, 0, 3, 3, 0, 5, 6]);
  assert.deepEqual(waterfallOf(broken, 0).map(({span}) => span).sort(), [0, 1, 2, 5, 6, 7]);
  assert.deepEqual(waterfallOf(broken, 3).map(({span}) => span), [3, 4]);
  assert.ok([0, 1, 2].includes(rootOf(broken, 7)));
});

test('the activities of single spans add up to those of all', () => {
  const list = Array.from({length: trace.spans.rows}, (_, i) => i);
  const all = activityOf(trace, list);
  let time = 0;
  let allocated = 0;
  for (const span of list) {
    const one = activityOf(trace, [span]);
    time += one.time;
    allocated += one.allocated;
    const states = [...one.states.values()].reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(states - one.time) <= 1e-9 * one.time);
  }
  assert.ok(Math.abs(time - all.time) <= 1e-9 * all.time);
  assert.ok(Math.abs(allocated - all.allocated) <= 1e-9 * allocated);
  const samples = trace.kinds[0].samples;
  const limit = samples.span.reduce((sum, span, i) => sum + (span >= 0 ? samples.values[0][i] : 0), 0);
  assert.ok(all.time > 0 && all.time <= limit);
});

test('the time of samples before gaps is stated', () => {
  const values = [{type: 'wall', unit: 'nanoseconds'}];
  const kinds = [{name: 'wall', one: 's', many: 's', bin_ns: 0, long_ns: 100, values, main: 0}];
  const info = {duration_ns: 1000, links: '2 of 2 samples linked to spans'};
  const gap = new Trace(decode(encode({version: 1, strings: ['', 'r'], trace: info, kinds}, {
    threads: {process: [-1], tid: [1]}, spans: {time: [0], name: [1], parent: [-1], duration: [500], thread: [0]},
    samples_wall: {time: [0, 50], thread: [0, 0], node: [-1, -1], span: [0, 0], value_0: [50, 300]},
  })));
  const activity = activityOf(gap, [0]);
  assert.equal(activity.long, 300);
  assert.match(coverage(activity, 500), /^350ns of 500ns covered by 2 samples, 300ns of it by samples before gaps/);
  assert.match(linkNote(gap), /2 of 2 samples linked to spans/);
  assert.equal(linkNote(trace), '');
});

/**
 * smallTrace has spans on one thread: 0 lasts from 100 to 200, and its children 1 from 120 to 150 and 2 from 180 to 230.
 * @param {[time: number, value: number, span: number, node: number][]} samples
 * @param {number} [bin]
 */
function smallTrace(samples, bin = 0) {
  const names = ['', 'server', 'internal', 'wall', 'System.Threading.PortableThreadPool.WorkerThread.WorkerThreadStart()',
    'System.Threading.LowLevelLifoSemaphore.WaitForSignal(int)', 'System.Threading.ThreadPoolWorkQueue.Dispatch()',
    'Shop.Run()'];
  const column = (/** @type {number} */ i) => samples.map((sample) => sample[i]);
  const kind = {name: 'wall', one: 'sample', many: 'samples', bin_ns: bin, main: 0, estimated: false,
    values: [{type: 'wall', unit: 'nanoseconds'}]};
  const about = {name: 't', duration_ns: 1000, notes: [], can: [], cannot: []};
  const header = {strings: names, kinds: [kind], series: [], trace: about};
  return new Trace(decode(encode(header, {
    threads: {process: [0], tid: [7]}, processes: {pid: [1]},
    frames: {name: [4, 5, 6, 7], function: [0, 1, 2, 3], pool: [1, 3, 2, 0]}, functions: {name: [4, 5, 6, 7]},
    nodes: {parent: [-1, 0, 0, 2, 3], frame: [0, 1, 2, 3, 1]},
    samples_wall: {time: column(0), value_0: column(1), span: column(2), node: column(3), thread: samples.map(() => 0)},
    spans: {time: [100, 120, 180], duration: [100, 30, 50], parent: [-1, 0, 0], kind: [1, 2, 2], thread: [0, 0, 0],
      name: [1, 2, 2], process: [0, 0, 0]},
  })));
}

test('a sample counts for the spans that were open during it, and for nothing else', () => {
  const small = smallTrace([[110, 50, 0, 3], [160, 1000, 0, 3]]);
  const times = [0, 1, 2].map((span) => activityOf(small, [span]).time);
  assert.deepEqual(times, [10 + 10 + 20, 30, 50]); // 110-120, 150-160 and 160-180; 120-150; 180-230
  const all = activityOf(small, [0, 1, 2]);
  assert.equal(all.time, 120);
  assert.equal(all.covered, 120);
  assert.equal(all.samples, 2);
  assert.equal(coverage(all, 130), '120ns of 130ns covered by 2 samples');
  assert.equal(coverage(activityOf(smallTrace([[110, 50, -1, 3]]), [0]), 100), '0s of 100ns covered by samples');
  assert.equal(coverage(activityOf(smallTrace([]), [0]), 100), '');
});

test('the idle wait of the thread pool is not work of a span, waits of its work items are', () => {
  const small = smallTrace([[130, 5, 1, 1], [140, 5, 1, 4]]);
  assert.deepEqual(Array.from(idleNodes(small), (mark) => mark === 3), [false, true, false, false, false]);
  const activity = activityOf(small, [1]);
  assert.equal(activity.time, 5);
  assert.equal(activity.samples, 1);
});

test('added up samples never exceed the span', () => {
  const activity = activityOf(smallTrace([[100, 25, 1, 3], [100, 25, 1, 2]], 100), [1]);
  assert.ok(activity.time <= 30 + 1e-9 && activity.covered <= 30);
});

test('no thread has more time in a span than the span lasted', () => {
  const crowded = new Trace(decode(synthetic({samples: 4000, spans: 300, seconds: 1, seed: 9})));
  const {time, span, thread} = crowded.kinds[0].samples;
  const {end} = spanIndex(crowded);
  const next = random(6);
  span.forEach((_, i) => {
    const open = Array.from(end.keys()).filter((s) => crowded.spans.time[s] <= time[i] && end[s] > time[i]);
    span[i] = open.length > 0 ? open[Math.floor(next() * open.length)] : -1;
    thread[i] = Math.floor(next() * 2);
  });
  for (let s = 0; s < end.length; s++) {
    const {time: sum, covered, states} = activityOf(crowded, [s]);
    const length = end[s] - crowded.spans.time[s];
    assert.ok(sum <= 2 * length * (1 + 1e-9) && covered <= length * (1 + 1e-9), `${s}: ${sum} of ${length}`);
    assert.ok(Math.abs([...states.values()].reduce((a, b) => a + b, 0) - sum) <= 1e-6);
  }
});

test('quantiles of few requests, and client calls, are pointed out', () => {
  assert.equal(fewRequestsDoubt({count: 100, open: 0}, 99, 100), '');
  assert.equal(fewRequestsDoubt({count: 100, open: 1}, 99, 100), 'Of 99 durations: p99 says little with fewer than 100');
  assert.equal(clientCalls(trace), '');
});

test('spans of a range overlap it', () => {
  const {state} = new Store(trace);
  const {requests, end, noun} = spanIndex(trace);
  assert.equal(noun, 'request');
  const next = random(5);
  for (let i = 0; i < 100; i++) {
    const from = next() * 1e10;
    const to = from + next() * 1e9;
    const got = spansIn(trace, requests, {...state, from, to});
    const want = Array.from(requests).filter((s) => trace.spans.time[s] < to &&
      (end[s] > from || trace.spans.time[s] >= from));
    assert.deepEqual(got, want);
  }
  assert.deepEqual(spansIn(trace, requests, state), Array.from(requests));
});
