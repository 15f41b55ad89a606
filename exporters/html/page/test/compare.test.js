// The comparison, and the sentences of the page about what it lacks.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {damageText, keysOf} from '../app.js';
import {changeColumns, comparedValue, missingText, shownChanges, subjectLinks, verdictOf, verdictSentence} from '../compare.js';
import {decode, decompress} from '../data.js';
import {describe} from '../flame-text.js';
import {answersSummary} from '../head.js';
import {Store, Trace} from '../model.js';
import {Tree} from '../tree.js';
import {synthetic, toBase64} from './synthetic.js';

/** @typedef {import('../compare.js').Change} Change */
/** @typedef {import('../compare.js').Difference} Difference */

/**
 * @param {number} before
 * @param {number} after
 * @param {boolean} [significant]
 * @returns {Change}
 */
const changed = (before, after, significant = false) => ({before, after, change: after - before, significant});

/**
 * @param {string} name
 * @param {Change} self
 * @param {Change} total
 * @param {string} verdict
 */
const row = (name, self, total, verdict) => ({function: name, status: 'common', verdict, self, total,
  self_share: changed(1, 1.5), total_share: changed(10, 3.69, verdict === 'more')});

/** @type {Difference} */
const diff = {
  before: {input: 'a'}, after: {input: 'b', kind: 'wall'}, sample_type: 'wall', unit: 'nanoseconds', significant_functions: 2,
  tested_functions: 3, untested_functions: 1, total: changed(7.04e9, 8.85e9), sections: [],
  functions: [
    row('Outer', changed(0, 0), changed(3e9, 4e9, true), 'more'),
    row('Small', changed(1e6, 2e6), changed(1e6, 2e6), 'not-tested'),
    row('Inner', changed(5e8, 9e8, true), changed(5e8, 9e8, true), 'more-with-total'),
    row('Less', changed(2e9, 1e9), changed(4e9, 1e9), 'not-significant'),
  ],
};

test('functions are sorted by the change of the shown member, and those without its value are omitted', () => {
  /** @param {'self' | 'total'} member @param {boolean} only */
  const names = (member, only) => shownChanges(diff, member, only).map((f) => f.function);
  assert.deepEqual(names('total', false), ['Less', 'Outer', 'Inner', 'Small']);
  assert.deepEqual(names('self', false), ['Less', 'Inner', 'Small']);
  assert.deepEqual(names('total', true), ['Outer', 'Inner']);
  assert.deepEqual(names('self', true), ['Inner']);
  assert.equal(diff.functions[0].function, 'Outer'); // The order of the input stays.
});

test('the verdict is that of the shown member', () => {
  /** @param {'self' | 'total'} member */
  const verdicts = (member) => diff.functions.map((f) => verdictOf(f, member));
  assert.deepEqual(verdicts('total'), ['more', 'not-tested', 'more-with-total', 'not-significant']);
  assert.deepEqual(verdicts('self'), ['not-significant', 'not-tested', 'more-with-total', 'not-significant']);
  const smaller = {...diff.functions[0], total: changed(1, 1)};
  assert.equal(verdictOf(smaller, 'total'), 'smaller-share');
  assert.equal(changeColumns(changed(0, 2), 'count', undefined, true)[1][0], 'from 0');
  assert.equal(changeColumns(changed(0, 2), 'count')[1][0], 'new');
});

test('cells begin with the change, and share is in percentage points', () => {
  const [outer] = diff.functions;
  assert.deepEqual(changeColumns(outer.total, 'nanoseconds', outer.total_share), [
    ['+1s', 'number more'], ['+33.3%', 'number more'],
    ['-6.31 pp', 'number less'], ['3s', 'number'], ['4s', 'number'], ['', 'number quiet']]);
  assert.deepEqual(changeColumns({...changed(0, 5), margin: 2}, 'count').map(([text]) => text), ['+5', 'new', '0', '5', '±2']);
});

test('the verdict states totals and the number of significant functions', () => {
  assert.equal(verdictSentence(diff), 'wall: 7.04s before, 8.85s after (+25.7%; within the sampling error); ' +
    '2 of 3 tested functions changed significantly.');
});

test('rows select what was compared, and types of allocations their samples', () => {
  const trace = new Trace(decode(synthetic({samples: 200})));
  assert.deepEqual(comparedValue(trace, diff), {kind: 0, value: 0});
  assert.deepEqual(comparedValue(trace, {...diff, after: {input: ''}, sample_type: 'alloc_space'}), {kind: 1, value: 1});
  assert.deepEqual(comparedValue(trace, {...diff, sample_type: 'cpu'}), {});
  const alloc = subjectLinks(trace, 'Allocations by type');
  assert.deepEqual(alloc('System.String'), {kind: 1, subject: 'System.String'});
  assert.equal(alloc('(further names)'), null);
  assert.equal(alloc(''), null);
  assert.equal(subjectLinks(trace, 'Counters')('System.String'), null);
  assert.equal(subjectLinks(trace, 'constructor')('System.String'), null);
});

test('without a common kind the page does not describe colors', () => {
  const wall = new Trace(decode(synthetic({samples: 20, kinds: 1})));
  const none = new Trace(decode(synthetic({samples: 20, kinds: 0})));
  assert.doesNotMatch(missingText(new Store(wall, none)), /\b(red|blue)\b/);
  assert.match(missingText(new Store(wall, wall)), /samples of wall\. The flame graph shows more than before in red/);
});

test('a page states what it cannot show', () => {
  assert.equal(answersSummary(0, 13), 'What this recording cannot show (13)');
  assert.equal(answersSummary(1, 0), 'This recording answers 1 question');
  assert.equal(answersSummary(2, 1), 'This recording answers 2 questions; 1 question needs another recording');
});

test('keys are those of the parts that exist', () => {
  const few = keysOf([['time', 'Time'], ['tables', 'Tables']]);
  assert.deepEqual(few.filter(([key]) => /^\d/.test(key)), [['1', 'go to Time'], ['2', 'go to Tables']]);
  assert.ok(!few.some(([key, action]) => key === '/' || /^(flame graph|threads):/.test(action)));
  const all = keysOf([['time', 'Time'], ['flame', 'Flame graph'], ['threads', 'Threads']]);
  assert.ok(all.some(([key]) => key === '/') && all.some(([, action]) => action.startsWith('threads: zoom')));
});

test('one callee is singular', () => {
  const tree = new Tree({name: () => 'f', module: () => ''}, 'all', 1);
  tree.child(0, 1);
  const facts = {unit: 'count', type: 'n', widths: 0, inverted: false, scale: 1, scaled: '', place: () => '',
    totals: () => ({flat: new Float64Array(0), cumulative: new Float64Array(0), total: 0})};
  assert.match(describe(tree, 0, facts), /, 1 callee$/);
  assert.match(describe(tree, 1, {...facts, inverted: true}), /, no callers$/);
});

test('damaged data has a sentence of the page, not of the browser', async () => {
  const good = toBase64(synthetic({samples: 100}));
  for (const text of ['', '%%%', good.slice(0, 400), good.slice(0, 40) + 'AAAA' + good.slice(44), 'AAAA']) {
    const error = await decompress(text).then(() => null, (e) => e);
    assert.ok(error, 'decompress ' + text.slice(0, 50));
    assert.equal(damageText('the element "data" is not base64 of gzip data', error, false),
      'The data in this page is damaged: the element "data" is not base64 of gzip data. Write the page again.');
  }
  assert.equal(damageText('x', new Error('truncated page data: no header'), true),
    'The data in this page is damaged: truncated page data: no header. Write the page again.');
  assert.equal(damageText('x', new RangeError('Invalid typed array length: -1'), true),
    'The data in this page is damaged: x. Write the page again.');
  assert.match(damageText('x', new Error('page data has version 2, want 1'), true),
    /^The recording cannot be shown: page data has version 2/);
  assert.match(damageText('x', new Error('this browser cannot decompress'), false), /^The recording cannot be shown: this browser/);
});
