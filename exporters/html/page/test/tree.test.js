// Properties of trees: for any selection, all of them add up to the selected samples.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {decode} from '../data.js';
import {everything} from '../filters.js';
import {layOut, shortName, viewOf} from '../flame-layout.js';
import {changeText} from '../flame-text.js';
import {hasStacks, isPartial, Joint, kindWithStacks, scaleText} from '../joint.js';
import {Store, Trace, initialState} from '../model.js';
import {selected} from '../selection.js';
import {functionOf, groupSamples, groupTotal} from '../stacks.js';
import {activityOf, waterfallOf} from '../spans-data.js';
import {flatTotals, functionTotals, matchTotal, searchNames} from '../totals.js';
import {callerTree, callTree, keeps, namesOf, sandwich} from '../tree.js';
import {group} from '../units.js';
import {encode, random, synthetic} from './synthetic.js';

/** @typedef {import('../model.js').State} State */
/** @typedef {import('../tree.js').Tree} Tree */

const trace = new Trace(decode(synthetic({samples: 3000, nodes: 2000, functions: 120, depth: 25, seed: 5})));
const names = namesOf(trace);
const worked = Array.from({length: trace.spans.rows}, (_, i) => i).find((i) => activityOf(trace, [i]).time > 0) ?? -1;

/** @param {number} a @param {number} b @param {string} [what] */
function near(a, b, what) {
  assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b)), `${what ?? ''}: ${a} and ${b}`);
}

/** @param {Tree} tree */
function expandAll(tree) {
  const open = [0];
  for (let node = open.pop(); node !== undefined; node = open.pop()) open.push(...tree.children(node));
}

/**
 * CheckSums checks that each node has the value of its children and its own.
 * @param {Tree} tree
 */
function checkSums(tree) {
  expandAll(tree);
  tree.totals.forEach((total, s) => {
    const sums = tree.selfs[s].slice();
    for (let i = tree.size - 1; i > 0; i--) sums[tree.parent[i]] += total[i];
    for (let i = 0; i < tree.size; i++) near(total[i], sums[i], 'node ' + i);
  });
}

/** @returns {State[]} */
function states() {
  const all = initialState(trace), next = random(9);
  return [all, {...all, waits: false}, {...all, mine: true}, {...all, mine: true, waits: false, thread: 3},
    {...all, thread: 2}, {...all, process: 0}, {...all, span: worked}, {...all, from: 2e9, to: 5e9}, {...all, from: 9e9, to: 1e9},
    {...all, kind: 1, value: 1}, {...all, kind: 1, subject: 'System.String'},
    ...Array.from({length: 10}, () => ({...all, from: next() * 5e9, to: 5e9 + next() * 5e9, thread: Math.floor(next() * 8),
      waits: next() < 0.5, mine: next() < 0.5, kind: Math.floor(next() * 3), value: 0}))];
}

/** @param {State} state */
function selectedSum(state) {
  // Samples of a span count as far as they lie in it, as its waterfall states.
  if (state.span >= 0) return activityOf(trace, waterfallOf(trace, state.span).map((row) => row.span)).time;
  const {samples} = trace.kinds[state.kind];
  let sum = 0;
  for (let i = 0; i < samples.rows; i++) {
    const thread = samples.thread[i], node = samples.node[i];
    const {time} = samples;
    if ((state.from !== null && time[i] < state.from) || (state.to !== null && time[i] >= state.to)) continue;
    if (state.thread >= 0 && thread !== state.thread) continue;
    if (state.process >= 0 && trace.threads.process[thread] !== state.process) continue;
    if (state.subject && trace.str(samples.subject[i]) !== state.subject) continue;
    if (!state.waits && node >= 0 && trace.waitNodes[node]) continue;
    sum += samples.values[state.value][i];
  }
  return sum;
}

/** @param {State} state @param {boolean} [towers] */
function sourcesOf(state, towers) {
  return [{trace, groups: groupSamples(trace, state, towers), ids: null, scale: 1}];
}

test('all trees add up to the selected samples', () => {
  assert.ok(worked >= 0);
  for (const state of states()) {
    const want = selectedSum(state);
    near(groupTotal(groupSamples(trace, state)), want, 'groups');
    for (const towers of [false, true]) {
      for (const build of [callTree, callerTree]) {
        const tree = build(names, sourcesOf(state, towers), {towers, mine: state.mine});
        near(tree.total[0], want, build.name);
        checkSums(tree);
      }
    }
  }
});

test('the first level of the inverted tree has the flat values', () => {
  for (const state of states().filter((s) => !s.mine)) {
    const tree = callerTree(names, sourcesOf(state), {});
    const {flat, cumulative, total} = functionTotals(trace, groupSamples(trace, state));
    const seen = new Float64Array(flat.length);
    for (const node of tree.children(0)) if (tree.id[node] >= 0) seen[tree.id[node]] = tree.total[node];
    flat.forEach((value, f) => near(value, seen[f], 'function ' + f));
    near(total, tree.total[0]);
    assert.deepEqual(flat, flatTotals(trace, groupSamples(trace, state)).flat);
    assert.ok(cumulative.every((value, f) => value >= flat[f] - 1e-6 && value <= total + 1e-6));
  }
});

test('cumulative values count each sample once', () => {
  const state = initialState(trace), {samples} = trace.kinds[0];
  const want = new Float64Array(trace.functions.rows);
  for (let i = 0; i < samples.rows; i++) {
    const on = new Set();
    for (let node = samples.node[i]; node >= 0; node = trace.nodes.parent[node]) on.add(functionOf(trace, node));
    for (const f of on) want[f] += samples.values[0][i];
  }
  const {cumulative} = functionTotals(trace, groupSamples(trace, state));
  want.forEach((value, f) => near(cumulative[f], value, 'function ' + f));
});

test('both halves of a sandwich have the cumulative value', () => {
  for (const state of states()) {
    const {cumulative} = functionTotals(trace, groupSamples(trace, state));
    for (const method of [0, 1, 2, 17, 60, 119]) {
      const {callers, callees} = sandwich(names, sourcesOf(state), method, {mine: state.mine});
      near(callers.total[0], cumulative[method], 'callers');
      near(callees.total[0], cumulative[method], 'callees');
      checkSums(callers);
      checkSums(callees);
    }
  }
});

test('trees of my code have no other functions', () => {
  const mine = new Set();
  trace.frames.mine.forEach((own, i) => own && mine.add(trace.frames.function[i]));
  for (const build of [callTree, callerTree]) {
    const tree = build(names, sourcesOf(initialState(trace)), {mine: true});
    expandAll(tree);
    for (const id of tree.id) assert.ok(id < 0 || mine.has(id));
  }
});

test('rows of boxes add up, and boxes are ordered', () => {
  const tree = callTree(names, sourcesOf(initialState(trace)), {});
  const layout = layOut(tree, tree.total, {from: 0, to: 1}, 900);
  assert.ok(layout.rows > 5);
  for (let row = 0; row < layout.rows; row++) {
    let end = -1e-6;
    for (let i = layout.rowStart[row]; i < layout.rowStart[row + 1]; i++) {
      assert.ok(layout.x[i] >= end - 1e-6);
      end = layout.x[i] + layout.width[i];
      assert.equal(layout.at(row, layout.x[i] + layout.width[i] / 2), i);
      if (layout.merged[i] === 0) near(layout.width[i], tree.total[layout.node[i]] / tree.total[0] * 900);
    }
    assert.ok(end <= 900 + 1e-6);
  }
  // The boxes below a box, with narrow ones merged, have the value of its callees.
  const below = new Map();
  for (let i = 1; i < layout.node.length; i++) {
    const parent = layout.merged[i] > 0 ? layout.node[i] : tree.parent[layout.node[i]];
    below.set(parent, (below.get(parent) ?? 0) + layout.value[i]);
  }
  for (const [parent, sum] of below) near(sum, tree.total[parent] - tree.self[parent]);
});

test('zoom shows a node in the full width', () => {
  const tree = callTree(names, sourcesOf(initialState(trace)), {});
  expandAll(tree);
  for (let node = 0; node < tree.size; node += 37) {
    const layout = layOut(tree, tree.total, viewOf(tree, tree.total, node), 900), box = layout.find(tree, node);
    assert.ok(box >= 0 && Math.abs(layout.x[box]) < 0.01 && Math.abs(layout.width[box] - 900) < 0.01, 'node ' + node);
  }
});

test('names become shorter without becoming other names', () => {
  assert.equal(shortName('Shop.Orders.Find(string, int)', 99), 'Shop.Orders.Find(string, int)');
  assert.equal(shortName('Shop.Orders.Find(string, int)', 17), 'Shop.Orders.Find');
  assert.equal(shortName('Shop.Orders.Find(string, int)', 12), 'Orders.Find');
  assert.equal(shortName('Shop.Orders.Find(string, int)', 3), 'Fi…');
  assert.equal(shortName('Shop', 2), '');
});

test('a search is text, or else a regular expression', () => {
  const n = trace.functions.rows, state = initialState(trace), groups = groupSamples(trace, state);
  assert.equal(searchNames(names, n, '').count, 0);
  const text = searchNames(names, n, 'HANDLE'), expression = searchNames(names, n, 'Han.le\\d+\\(');
  assert.ok(text.count > 0 && !text.expression && expression.count > 0 && expression.expression);
  assert.match(searchNames(names, n, '((').error, /no name/);
  const all = new Uint8Array(n).fill(1);
  near(matchTotal(trace, groups, (id) => all[id] === 1), groupTotal(groups) - groups[0].none);
  assert.ok(matchTotal(trace, groups, (id) => text.matches[id] === 1) <= groupTotal(groups));
});

test('a comparison with itself has no change, and totals of both are kept', () => {
  const slower = new Trace(decode(synthetic({samples: 2000, nodes: 1500, functions: 150, depth: 25, seed: 6, slowdown: 2})));
  for (const [after, before] of [[trace, trace], [slower, trace], [trace, slower]]) {
    const joint = new Joint(after, before), state = initialState(after);
    for (const build of [callTree, callerTree]) {
      const tree = build(joint.names, joint.sources(state, false, 'recorded'), {});
      checkSums(tree);
      near(tree.totals[0][0], groupTotal(groupSamples(after, state)));
      near(tree.totals[1][0], groupTotal(groupSamples(before, initialState(before))));
      if (after === before) tree.total.forEach((value, i) => near(value, tree.totals[1][i]));
    }
    const shares = callTree(joint.names, joint.sources(state, false, 'share'), {});
    near(shares.totals[0][0], shares.totals[1][0]);
  }
});

test('flat values with my code only are those of the tree', () => {
  const state = {...initialState(trace), mine: true}, groups = groupSamples(trace, state);
  const {flat, total} = flatTotals(trace, groups, keeps(trace, true));
  const tree = callTree(namesOf(trace), [{trace, groups, ids: null, scale: 1}], {mine: true});
  checkSums(tree); // builds all of it
  const own = new Float64Array(trace.functions.rows);
  tree.self.forEach((value, node) => {
    if (tree.id[node] >= 0) own[tree.id[node]] += value;
  });
  own.forEach((value, id) => near(flat[id], value));
  assert.ok(flat.some((value) => value > 0) && total > 0);
  const foreign = Array.from(flat.keys()).filter((id) => !trace.frames.function.some((f, i) => f === id && trace.frames.mine[i]));
  assert.ok(foreign.length > 0 && foreign.every((id) => flat[id] === 0));
});

test('to select all leaves hidden waits hidden, and my code', () => {
  const store = new Store(trace, null);
  store.set({waits: false, mine: true, from: 5, thread: 0, search: 'x'});
  store.set(everything);
  assert.deepEqual([store.state.waits, store.state.mine, store.state.from, store.state.thread, store.state.search],
    [false, true, null, -1, '']);
});

test('a function that the compiler renumbered is one in the flame graph, as in the comparison', () => {
  /** @param {string} name */
  const recording = (name) => new Trace(decode(encode({version: 1, strings: ['', name, 'M'], trace: {duration_ns: 9},
    kinds: [{name: 'wall', one: 's', many: 's', values: [{type: 'wall', unit: 'nanoseconds'}]}]}, {
    functions: {name: [1], module: [2]}, frames: {name: [1], module: [2], function: [0]},
    nodes: {parent: [-1], frame: [0]}, samples_wall: {time: [0], node: [0], thread: [-1], value_0: [5]},
  })));
  const after = recording('A.M.lambda_1()'), before = recording('A.M.lambda_0()');
  const diff = /** @type {any} */ ({functions: [{function: 'A.M.lambda_1()', renamed_from: 'A.M.lambda_0()'}]});
  for (const [found, gone] of /** @type {[any, number][]} */ ([[null, 1], [diff, 0]])) {
    const joint = new Joint(after, before, found);
    assert.equal(joint.gone.length, gone);
    const tree = callTree(joint.names, joint.sources(initialState(after), false, 'recorded'), {});
    checkSums(tree); // builds all of it
    assert.deepEqual([...tree.total], gone === 0 ? [5, 5] : [5, 5, 0]);
  }
});

test('a selection of a part of one recording is not compared', () => {
  const joint = new Joint(trace, trace), all = initialState(trace);
  for (const patch of [{from: 1e9}, {to: 2e9}, {process: 0}, {thread: 0}, {span: 0}]) {
    const state = {...all, ...patch};
    assert.ok(isPartial(state));
    assert.match(joint.noComparison(state), /^No comparison: the selection applies to AFTER only\.$/);
    assert.equal(joint.sources(state, false, 'recorded').length, 1);
    const tree = callTree(joint.names, joint.sources(state, false, 'recorded'), {});
    assert.equal(changeText(tree, 0, {unit: 'nanoseconds', scale: 1, scaled: ''}), '');
  }
  for (const patch of [{}, {kind: 1, value: 1, subject: 'System.String'}, {waits: false}, {mine: true}]) {
    assert.equal(joint.noComparison({...all, ...patch}), '');
    assert.equal(joint.sources({...all, ...patch}, false, 'recorded').length, 2);
  }
  assert.match(joint.noComparison(all, true), /by thread/);
  const other = new Trace(decode(synthetic({kinds: 1, samples: 50})));
  assert.match(new Joint(trace, other).noComparison({...all, kind: 1}), /BEFORE has no samples of this kind/);
  assert.equal(new Joint(trace, other).sources({...all, kind: 1}, false, 'share').length, 1);
});

test('values before are stated as recorded, with the factor that scales them', () => {
  const before = new Trace(decode(synthetic({seconds: 8, samples: 2000, nodes: 1500, seed: 6})));
  const joint = new Joint(trace, before), state = initialState(trace);
  const recorded = groupTotal(groupSamples(before, initialState(before))), after = groupTotal(groupSamples(trace, state));
  for (const [normalization, factor, text] of /** @type {const} */ ([
    ['recorded', 1, ''], ['time', 1.25, 'scaled x1.25 for its length'], ['share', after / recorded, 'to the same total']])) {
    const sources = joint.sources(state, false, normalization), {scale} = sources[1];
    near(scale, factor, normalization);
    assert.ok(scaleText(normalization, scale).endsWith(text));
    const tree = callTree(joint.names, sources, {}), scaled = scaleText(normalization, scale);
    near(tree.totals[1][0], recorded * factor);
    const change = changeText(tree, 0, {unit: 'count', scale, scaled});
    assert.ok(change.endsWith('; before ' + group(Math.round(recorded)) + (scaled ? ', ' + scaled : '')), change);
  }
});

test('the first kind with stacks is chosen', () => {
  assert.equal(kindWithStacks(trace, null), 0);
  const none = new Trace(decode(synthetic({nodes: 0, samples: 100})));
  assert.equal(kindWithStacks(none, null), -1);
  assert.equal(kindWithStacks(none, trace), 0);
  const values = [{type: 'n', unit: 'count'}], columns = {time: [1, 2], value_0: [1, 1]};
  const mixed = new Trace(decode(encode({strings: ['', 'a', 'b', 'f'], kinds: [{name: 'a', values}, {name: 'b', values}]},
    {frames: {name: [3]}, nodes: {parent: [-1], frame: [0]}, samples_a: {...columns, node: [-1, -1]},
      samples_b: {...columns, node: [-1, 0]}})));
  assert.deepEqual([0, 1, 2].map((kind) => hasStacks(mixed, mixed.kinds[kind])), [false, true, false]);
  assert.equal(kindWithStacks(mixed, null), 1);
});

test('the store reports what changed, once', () => {
  const store = new Store(trace);
  /** @type {string[][]} */
  const seen = [];
  const stop = store.subscribe((_, changed) => seen.push([...changed].sort()));
  store.set({thread: 1});
  store.set({thread: 1});
  store.set({kind: 1});
  store.set({subject: 'x'});
  store.set({kind: 2});
  stop();
  store.set({thread: 2});
  assert.deepEqual(seen, [['thread'], ['kind', 'value'], ['subject'], ['kind', 'subject', 'value']]);
});

test('spans with cycles do not hang', () => {
  const cyclic = new Trace(decode(synthetic({spans: 8})));
  cyclic.spans.parent.set([1, 2, 0, 2, 3, 7, -1, 6]);
  assert.deepEqual([...cyclic.spansWithin(2)], [1, 1, 1, 1, 1, 0, 0, 0]);
  assert.deepEqual([...cyclic.spansWithin(6)], [0, 0, 0, 0, 0, 1, 1, 1]);
  assert.equal(selected(cyclic, {...initialState(cyclic), span: 99}).length, 0);
});
