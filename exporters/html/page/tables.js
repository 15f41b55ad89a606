// The tables of the page: methods, types, exceptions, locks, collections, compilations and slowest requests.

import {DataTable} from './data-table.js';
import {button, coalesced, el} from './dom.js';
import {withoutMethod} from './model.js';
import {isFailed, spansIn} from './spans-data.js';
import {spanIndex} from './span-samples.js';
import {hasIntervals} from './threads-layout.js';
import {collectionRows, compilationRows, countOf, exceptionMessages, kindsOfTables} from './tables-data.js';
import {countedSamples, counterRows, lengthOf, methodRows, mostFrequent, subjectRows, waitRows} from './tables-data.js';
import {formatChartValue, heapSeries, kindWithSamples, promotedSeries} from './chart-data.js';
import {bytes, count, duration, exactTime, number, percent, quantity} from './units.js';

/** @typedef {import('./model.js').Store} Store */
/** @typedef {import('./model.js').State} State */
/** @typedef {import('./model.js').Kind} Kind */
/** @typedef {import('./tables-data.js').MethodRow} MethodRow */
/** @typedef {import('./tables-data.js').SubjectRow} SubjectRow */
/** @typedef {import('./tables-data.js').WaitRow} WaitRow */
/** @typedef {import('./tables-data.js').CollectionRow} CollectionRow */
/** @typedef {import('./tables-data.js').CompilationRow} CompilationRow */
/** @typedef {import('./tables-data.js').CounterRow} CounterRow */
/**
 * A TablePage is one tab. update computes its rows and returns a sentence about them.
 * @typedef {{id: string, title: string, root: HTMLElement, update: () => string}} TablePage
 */

/** Changes of these members do not change the rows. */
const ignoredMembers = new Set(['theme', 'layout', 'towers', 'search', 'module']);

/**
 * createTables creates the tables for which a trace has data.
 * @param {HTMLElement} root
 * @param {Store} store
 */
export function createTables(root, store) {
  const pages = [
    ...methodPages(store), ...allocationPages(store), ...exceptionPages(store), ...lockPages(store),
    ...collectionPages(store), ...compilationPages(store), ...requestPages(store),
    ...counterPages(store),
  ];
  if (pages.length === 0) {
    root.append(el('p', {class: 'empty'}, 'The recording has nothing that could be listed.'));
    return;
  }
  const tabs = new TableTabs(pages);
  root.append(el('h2', {class: 'offscreen'}, 'Tables'), tabs.list, tabs.note, tabs.panel);
  const redraw = coalesced(() => tabs.update());
  store.subscribe((_state, changed) => {
    if ([...changed].some((name) => !ignoredMembers.has(name))) {
      redraw();
    }
  });
  tabs.show(firstTable(store, pages.map((page) => page.id)));
}

/**
 * firstTable returns the table that is shown first. Methods have no names if the samples have no stacks: then it is the
 * table of their subjects.
 * @param {Store} store
 * @param {string[]} ids of the tables
 * @returns {number}
 */
export function firstTable(store, ids) {
  const kind = store.trace.kinds[store.state.kind];
  if (!kind || kind.samples.rows === 0 || kind.samples.node.some((node) => node >= 0)) {
    return 0;
  }
  const ofKind = ids.indexOf(kind.name === 'alloc' ? 'types' : kind.name);
  return ofKind >= 0 ? ofKind : Math.min(1, ids.length - 1);
}

const fewSamples = 5;

/**
 * fewSamplesDoubt states that a value is estimated from few samples.
 * @param {Kind | undefined} kind
 * @param {number} samples
 * @returns {string} empty if it is not
 */
export function fewSamplesDoubt(kind, samples) {
  return kind?.estimated && samples < fewSamples
    ? `Estimated from ${count(samples, 'sample')}: the value may be far from the truth` : '';
}

/** TableTabs shows one of several tables. */
class TableTabs {
  /** @param {TablePage[]} pages */
  constructor(pages) {
    this.pages = pages;
    this.current = 0;
    this.note = el('p', {class: 'note'});
    this.panel = el('div', {role: 'tabpanel', id: 'tables-panel'});
    this.tabs = pages.map((page, i) => button(page.title, () => this.show(i), {
      role: 'tab', id: 'tables-tab-' + page.id, 'aria-controls': 'tables-panel', class: 'tab',
    }));
    this.list = el('div', {class: 'tabs', role: 'tablist', 'aria-label': 'Tables'}, this.tabs);
    this.list.addEventListener('keydown', (event) => this.key(event));
  }

  /** @param {number} index */
  show(index) {
    this.current = index;
    this.tabs.forEach((tab, i) => {
      tab.setAttribute('aria-selected', String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
    });
    this.panel.setAttribute('aria-labelledby', this.tabs[index].id);
    this.panel.replaceChildren(this.pages[index].root);
    this.update();
  }

  update() {
    this.note.textContent = this.pages[this.current].update();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const n = this.tabs.length;
    const targets = new Map([
      ['ArrowRight', (this.current + 1) % n], ['ArrowLeft', (this.current + n - 1) % n], ['Home', 0], ['End', n - 1],
    ]);
    const target = targets.get(event.key);
    if (target !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      this.show(target);
      this.tabs[target].focus();
    }
  }
}

/**
 * startTime returns a time with microseconds.
 * @param {number} ns
 * @returns {string}
 */
function startTime(ns) {
  return exactTime(Math.round(ns / 1e3) * 1e3);
}

/**
 * timeColumn shows when something began.
 * @template {{time: number}} Row
 * @returns {import('./data-table.js').Column<Row>}
 */
function timeColumn() {
  return {key: 'time', title: 'Start', unit: 'nanoseconds', text: (r) => startTime(r.time), value: (r) => r.time};
}

/**
 * numberColumn shows a number, which may be NaN if it is unknown.
 * @template Row
 * @param {string} key
 * @param {string} title
 * @param {string} unit
 * @param {(row: Row) => number} value
 * @param {string} [help]
 * @returns {import('./data-table.js').Column<Row>}
 */
export function numberColumn(key, title, unit, value, help) {
  const text = (/** @type {Row} */ row) => (Number.isNaN(value(row)) ? '' : quantity(value(row), unit));
  return {key, title, unit: unit === 'count' ? undefined : unit, text, value, help};
}

/**
 * @param {Store} store
 * @returns {TablePage[]}
 */
function methodPages(store) {
  const {trace} = store;
  if (!trace.kinds.some((kind) => kind.samples.rows > 0)) {
    return [];
  }
  let total = 0;
  let unit = '';
  /** @type {Float64Array | null} samples by function, for kinds that are estimated */
  let samples = null;
  const amount = (/** @type {number} */ v) => quantity(v, unit);
  const share = (/** @type {number} */ v) => (total > 0 ? v / total : 0);
  /** @type {DataTable<MethodRow>} */
  const table = new DataTable({
    caption: 'Methods', sort: 'flat', one: 'method', many: 'methods',
    columns: [
      {key: 'name', title: 'Method', text: (r) => r.name, wide: true},
      {key: 'flat', title: 'Flat', text: (r) => amount(r.flat), value: (r) => r.flat, help: 'In the method itself'},
      {key: 'flat%', title: 'Flat share', text: (r) => percent(r.flat, total), value: (r) => r.flat,
        share: (r) => share(r.flat)},
      {key: 'cum', title: 'Cumulative', text: (r) => amount(r.cumulative), value: (r) => r.cumulative,
        help: 'In the method and what it calls'},
      {key: 'cum%', title: 'Cum. share', text: (r) => percent(r.cumulative, total), value: (r) => r.cumulative,
        share: (r) => share(r.cumulative)},
      {key: 'module', title: 'Module', text: (r) => r.module},
    ],
    pick: (row) => store.set(store.state.method === row.id ? withoutMethod(store.state) :
      {method: row.id, layout: 'sandwich'}),
    isPicked: (row) => store.state.method === row.id,
    doubt: (row) => (samples ? fewSamplesDoubt(trace.kinds[store.state.kind], samples[row.id]) : ''),
  });
  const update = () => {
    const data = methodRows(trace, store.state);
    ({total, unit} = data);
    samples = trace.kinds[store.state.kind]?.estimated ? countedSamples(trace, store.state) : null;
    table.setRows(data.rows);
    return `${data.type}: ${quantity(total, unit)} in total. ` +
      'A click on a method shows its callers and callees in the flame graph.';
  };
  return [{id: 'methods', title: 'Methods', root: table.root, update}];
}

/**
 * subjectPicker returns what a row of subjects selects.
 * @param {Store} store
 * @param {Kind} kind
 */
function subjectPicker(store, kind) {
  const isPicked = (/** @type {SubjectRow} */ row) =>
    store.state.kind === kind.index && store.state.subject !== '' && store.state.subject === row.name;
  const pick = (/** @type {SubjectRow} */ row) =>
    store.set({kind: kind.index, subject: isPicked(row) ? '' : row.name});
  return {pick, isPicked};
}

/**
 * @param {Store} store
 * @returns {TablePage[]}
 */
function allocationPages(store) {
  const {alloc, bytes: value} = kindsOfTables(store.trace);
  if (!alloc || value < 0) {
    return [];
  }
  let total = 0;
  const size = (/** @type {SubjectRow} */ row) => row.sums[value];
  /** @type {DataTable<SubjectRow>} */
  const table = new DataTable({
    caption: 'Types allocated', sort: 'bytes', one: 'type', many: 'types', ...subjectPicker(store, alloc),
    doubt: (row) => fewSamplesDoubt(alloc, row.samples),
    columns: [
      {key: 'name', title: 'Type', text: (r) => r.name || '(unknown type)', wide: true},
      {...numberColumn('bytes', 'Allocated', 'bytes', size), help: alloc.estimated ? 'Estimated from samples' : ''},
      {key: 'share', title: 'Share', text: (r) => percent(size(r), total), value: size, share: (r) => size(r) / total},
      numberColumn('count', 'Count', 'count', (r) => countOf(alloc, r)),
      numberColumn('samples', 'Samples', 'count', (r) => r.samples),
    ],
  });
  const update = () => {
    const rows = subjectRows(store.trace, store.state, alloc);
    total = rows.reduce((sum, row) => sum + size(row), 0);
    table.setRows(rows);
    const how = alloc.estimated ? ', estimated from samples' : '';
    return `${bytes(total)} allocated${how}. A type selects its allocations in the flame graph.`;
  };
  return [{id: 'types', title: 'Types allocated', root: table.root, update}];
}

/**
 * @param {Store} store
 * @returns {TablePage[]}
 */
function exceptionPages(store) {
  const {trace} = store;
  const {exceptions} = kindsOfTables(trace);
  if (!exceptions) {
    return waitPages(store, 'exception', 'exception.type', 'Exceptions', ['exception', 'exceptions']);
  }
  let total = 0;
  /** @type {Map<string, string>} */
  let messages = new Map();
  const thrown = (/** @type {SubjectRow} */ row) => countOf(exceptions, row);
  /** @type {DataTable<SubjectRow>} */
  const table = new DataTable({
    caption: 'Exceptions', sort: 'count', one: 'type', many: 'types', ...subjectPicker(store, exceptions),
    columns: [
      {key: 'name', title: 'Exception', text: (r) => r.name || '(unknown type)', wide: true},
      numberColumn('count', 'Thrown', 'count', thrown),
      {key: 'share', title: 'Share', text: (r) => percent(thrown(r), total), value: thrown,
        share: (r) => thrown(r) / total},
      {...numberColumn('first', 'First', 'nanoseconds', (r) => r.first), text: (r) => startTime(r.first)},
      {...numberColumn('last', 'Last', 'nanoseconds', (r) => r.last), text: (r) => startTime(r.last)},
      {key: 'message', title: 'Last message', text: (r) => messages.get(r.name) ?? '', wide: true},
    ],
  });
  const update = () => {
    const rows = subjectRows(trace, store.state, exceptions);
    total = rows.reduce((sum, row) => sum + thrown(row), 0);
    messages = exceptionMessages(trace, store.state);
    table.setRows(rows);
    return `${count(total, 'exception')} thrown. An exception selects the stacks that throw it.`;
  };
  return [{id: 'exceptions', title: 'Exceptions', root: table.root, update}];
}

/**
 * rangePicker returns what a row that happened at some time selects: its part of the recording, and the kind of samples
 * that describes it.
 * @template Row
 * @param {Store} store
 * @param {(row: Row) => {from: number, to: number}} rangeOf
 * @param {number} [kind]
 */
function rangePicker(store, rangeOf, kind) {
  const patchOf = (/** @type {Row} */ row) => (kind === undefined ? rangeOf(row) : {...rangeOf(row), kind});
  const isPicked = (/** @type {Row} */ row) => {
    const {from, to} = rangeOf(row);
    return store.state.from === from && store.state.to === to;
  };
  const pick = (/** @type {Row} */ row) => store.set(isPicked(row) ? {from: null, to: null} : patchOf(row));
  return {pick, isPicked};
}

/**
 * rangeOfTimes returns a range that contains at least a microsecond.
 * @param {number} time
 * @param {number} length
 */
export function rangeOfTimes(time, length) {
  return {from: time, to: time + Math.max(1000, length)};
}

/**
 * @param {Store} store
 * @returns {TablePage[]}
 */
function lockPages(store) {
  return [
    ...waitPages(store, 'contention', 'dotnet.lock.id', 'Locks', ['lock', 'locks']),
    ...waitPages(store, 'wait', 'dotnet.wait.source', 'Waits', ['source', 'sources']),
  ];
}

/**
 * waitPages lists waits of threads by an attribute.
 * @param {Store} store
 * @param {string} name
 * @param {string} key
 * @param {string} title
 * @param {[string, string]} nouns
 * @returns {TablePage[]}
 */
function waitPages(store, name, key, title, nouns) {
  const {trace} = store;
  if (!hasIntervals(trace, name)) {
    return [];
  }
  let total = 0;
  const kind = kindWithSamples(trace, name)?.index;
  const locks = name === 'contention';
  /** @type {DataTable<WaitRow>} */
  const table = new DataTable({
    caption: title, sort: 'total', one: nouns[0], many: nouns[1],
    ...rangePicker(store, (/** @type {WaitRow} */ row) => rangeOfTimes(trace.intervals.time[row.at], lengthOf(trace, row.at)),
      kind),
    columns: [
      {key: 'name', title: nouns[0][0].toUpperCase() + nouns[0].slice(1), text: (r) => r.name, wide: true},
      numberColumn('count', 'Count', 'count', (r) => r.waits),
      numberColumn('total', 'Total', 'nanoseconds', (r) => r.total),
      {key: 'share', title: 'Share', text: (r) => percent(r.total, total), value: (r) => r.total,
        share: (r) => r.total / total},
      numberColumn('mean', 'Mean', 'nanoseconds', (r) => r.total / (r.waits || NaN)),
      numberColumn('longest', 'Longest', 'nanoseconds', (r) => r.longest),
      {...numberColumn('at', 'Longest at', 'nanoseconds', (/** @type {WaitRow} */ r) => trace.intervals.time[r.at]),
        text: (r) => startTime(trace.intervals.time[r.at])},
      numberColumn('threads', 'Threads', 'count', (r) => r.threads.size),
      ...(locks ? [{key: 'holder', title: 'Held by', text: holderOf}] : []),
      ...(kind === undefined ? [] : [{key: 'method', title: 'Waiting in', text: waitingIn}]),
    ],
  });
  const update = () => {
    const rows = waitRows(trace, store.state, name, key);
    total = rows.reduce((sum, row) => sum + row.total, 0);
    table.setRows(rows);
    const sum = (/** @type {(row: WaitRow) => number} */ value) => rows.reduce((n, row) => n + value(row), 0);
    return `${count(sum((row) => row.waits), locks ? 'wait' : nouns[0])}, ${duration(total)} in total` +
      `${withoutEnd(sum((row) => row.open))}. A row selects the time of its longest wait.`;
  };
  return [{id: name, title, root: table.root, update}];
}

/** @param {WaitRow} row */
function holderOf(row) {
  return mostFrequent(row.holders);
}

/** @param {WaitRow} row */
function waitingIn(row) {
  return mostFrequent(row.methods);
}

/**
 * withoutEnd states how many rows did not end, for the note of a table.
 * @param {number} open
 * @returns {string}
 */
export function withoutEnd(open) {
  return open > 0 ? `, ${number(open)} without an end` : '';
}

/**
 * @param {Store} store
 * @returns {TablePage[]}
 */
function collectionPages(store) {
  if (!hasIntervals(store.trace, 'gc')) {
    return [];
  }
  /** @param {string} name */
  const has = (name) => store.trace.counters.all.some((series) => series.provider === 'ntconv' && series.name === name);
  const heap = has(heapSeries) ? [numberColumn('heap', 'Heap after', 'bytes', heapOf)] : [];
  const promoted = has(promotedSeries) ? [numberColumn('promoted', 'Promoted', 'bytes', promotedBy)] : [];
  /** @type {DataTable<CollectionRow>} */
  const table = new DataTable({
    caption: 'Garbage collections', sort: 'pause', one: 'collection', many: 'collections',
    ...rangePicker(store, (/** @type {CollectionRow} */ row) => rangeOfTimes(row.time, lengthOf(store.trace, row.id))),
    columns: [
      {key: 'number', title: 'Number', text: (r) => (Number.isNaN(r.number) ? 'GC' : number(r.number)),
        value: (r) => r.number},
      timeColumn(),
      {key: 'generation', title: 'Generation', text: (r) => r.generation.replace(/^gen/, 'gen ')},
      {key: 'reason', title: 'Reason', text: (r) => r.reason},
      {key: 'type', title: 'Type', text: (r) => r.type},
      numberColumn('pause', 'Pause', 'nanoseconds', (r) => r.pause, 'How long the program was suspended'),
      numberColumn('duration', 'Duration', 'nanoseconds', (r) => r.duration),
      ...heap, ...promoted,
    ],
  });
  const update = () => {
    const rows = collectionRows(store.trace, store.state);
    table.setRows(rows);
    const pauses = rows.reduce((sum, row) => sum + (row.pause || 0), 0);
    const open = rows.filter((row) => Number.isNaN(row.duration)).length;
    return `${count(rows.length, 'collection')}${withoutEnd(open)}; they paused the program for ${duration(pauses)}. ` +
      'A row selects its time.';
  };
  return [{id: 'collections', title: 'Collections', root: table.root, update}];
}

/** @param {CollectionRow} row */
function heapOf(row) {
  return row.heap;
}

/** @param {CollectionRow} row */
function promotedBy(row) {
  return row.promoted;
}

/**
 * @param {Store} store
 * @returns {TablePage[]}
 */
function compilationPages(store) {
  const {trace} = store;
  if (!hasIntervals(trace, 'jit')) {
    return [];
  }
  /** @type {DataTable<CompilationRow>} */
  const table = new DataTable({
    caption: 'Compilations', sort: 'duration', one: 'compilation', many: 'compilations',
    ...rangePicker(store, (/** @type {CompilationRow} */ row) => rangeOfTimes(row.time, lengthOf(trace, row.id))),
    columns: [
      {key: 'name', title: 'Method', text: (r) => r.name, wide: true},
      numberColumn('duration', 'Duration', 'nanoseconds', (r) => r.duration),
      timeColumn(),
      numberColumn('il', 'IL size', 'bytes', (r) => r.il),
      numberColumn('code', 'Code size', 'bytes', (r) => r.code),
      {key: 'thread', title: 'Thread', text: (r) => trace.threadName(r.thread)},
    ],
  });
  const update = () => {
    const rows = compilationRows(trace, store.state);
    table.setRows(rows);
    const ended = rows.filter((row) => !Number.isNaN(row.duration));
    const sum = ended.reduce((total, row) => total + row.duration, 0);
    return `${count(ended.length, 'compilation')}, ${duration(sum)}${withoutEnd(rows.length - ended.length)}. ` +
      'A row selects its time.';
  };
  return [{id: 'compilations', title: 'Compilations', root: table.root, update}];
}

/**
 * requestTable returns a table of single spans.
 * @param {Store} store
 * @param {string} noun
 * @returns {DataTable<number>}
 */
export function requestTable(store, noun) {
  const {trace} = store;
  const s = trace.spans;
  const length = (/** @type {number} */ i) => (s.duration[i] < 0 ? NaN : s.duration[i]);
  return new DataTable({
    caption: `Slowest ${noun}s`, sort: 'duration', one: noun, many: noun + 's',
    pick: (i) => store.set({span: store.state.span === i ? -1 : i}),
    isPicked: (i) => store.state.span === i,
    columns: [
      {key: 'name', title: 'Name', text: (i) => trace.spanName(i), wide: true},
      {...numberColumn('duration', 'Duration', 'nanoseconds', length),
        text: (i) => (s.duration[i] < 0 ? 'not ended' : duration(s.duration[i]))},
      {...numberColumn('time', 'Start', 'nanoseconds', (/** @type {number} */ i) => s.time[i]),
        text: (i) => startTime(s.time[i])},
      {key: 'status', title: 'Status', text: (i) => (isFailed(trace, i) ? 'error' : trace.str(s.status[i]))},
      {key: 'thread', title: 'Thread', text: (i) => (s.thread[i] < 0 ? '' : trace.threadName(s.thread[i]))},
      {key: 'trace', title: 'Trace ID', text: (i) => trace.str(s.trace_id[i])},
    ],
  });
}

/**
 * @param {Store} store
 * @returns {TablePage[]}
 */
function requestPages(store) {
  const {requests, noun} = spanIndex(store.trace);
  if (requests.length === 0) {
    return [];
  }
  const table = requestTable(store, noun);
  const update = () => {
    table.setRows(spansIn(store.trace, requests, store.state));
    return `A ${noun} selects its samples, and shows its waterfall under Requests and spans.`;
  };
  return [{id: 'requests', title: `Slowest ${noun}s`, root: table.root, update}];
}

/**
 * @param {Store} store
 * @returns {TablePage[]}
 */
function counterPages(store) {
  const {trace} = store;
  if (trace.counters.rows === 0) {
    return [];
  }
  /** @param {string} key @param {string} title @param {(row: CounterRow) => number} value */
  const amount = (key, title, value) =>
    ({key, title, text: (/** @type {CounterRow} */ r) => formatChartValue(value(r), r.unit), value});
  /** @type {DataTable<CounterRow>} */
  const table = new DataTable({
    caption: 'Counters', sort: 'name', ascending: true, one: 'series', many: 'series',
    columns: [
      {key: 'name', title: 'Counter', text: (r) => r.name, wide: true},
      amount('last', 'Last', (r) => r.last), amount('min', 'Min', (r) => r.min), amount('max', 'Max', (r) => r.max),
      amount('mean', 'Mean', (r) => r.mean), numberColumn('values', 'Values', 'count', (r) => r.values),
      {key: 'unit', title: 'Unit', text: (r) => r.unit}, {key: 'provider', title: 'Provider', text: (r) => r.provider},
    ],
  });
  const update = () => {
    const rows = counterRows(trace, store.state);
    table.setRows(rows);
    return `${count(rows.reduce((sum, row) => sum + row.values, 0), 'value')} in the selected time.`;
  };
  return [{id: 'counters', title: 'Counters', root: table.root, update}];
}
