// Properties of requests and spans: quantiles, the order of waterfalls, and sums of activities.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {decode} from '../data.js';
import {Store, Trace} from '../model.js';
import {activityOf, rootOf, routesOf, spanIndex, spansIn, waterfallOf} from '../spans-data.js';
import {random, synthetic} from './synthetic.js';

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
  const want = samples.span.reduce((sum, span, i) => sum + (span >= 0 ? samples.values[0][i] : 0), 0);
  assert.ok(Math.abs(all.time - want) <= 1e-9 * want);
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
