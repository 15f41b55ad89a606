// Layout of the timeline of threads: rows of slices that do not overlap, and searches in them. It has no access to the
// document.

import {firstAfter, firstAtLeast} from './model.js';

/** @typedef {import('./model.js').Trace} Trace */

/**
 * A Row holds slices that do not overlap, sorted by time. id is the slice: an interval, or a span if it is at least the
 * number of intervals. total[i] is the duration of the slices before i.
 * @typedef {{start: Float64Array, end: Float64Array, id: Int32Array, total: Float64Array}} Row
 */

/** maxRows bounds the rows of one lane. Slices that need more share the last one, where they may overlap. */
export const maxRows = 24;

/** Slices that are narrower, in pixels, are merged with others. */
const minSliceWidth = 1.5;

/**
 * packRows assigns slices to rows. Slices must be sorted by start. Each slice goes to the first row that is free at its
 * start, so if all slices nest, each is below the slices that contain it.
 * @param {ArrayLike<number>} start
 * @param {ArrayLike<number>} end
 * @param {number} [limit] maximum number of rows
 * @returns {{row: Int32Array, rows: number, crowded: number}} crowded is the number of slices that found no free row
 */
export function packRows(start, end, limit = maxRows) {
  const row = new Int32Array(start.length);
  const free = new Float64Array(limit).fill(-Infinity); // the end of the last slice of each row
  let rows = 0;
  let crowded = 0;
  for (let i = 0; i < start.length; i++) {
    let r = 0;
    while (r < limit && free[r] > start[i]) {
      r++;
    }
    if (r === limit) {
      r = limit - 1;
      crowded++;
    }
    row[i] = r;
    free[r] = Math.max(free[r], end[i]);
    rows = Math.max(rows, r + 1);
  }
  return {row, rows, crowded};
}

/**
 * makeRows returns the rows of one lane. Slices of equal start are ordered so that the longer one comes first. The
 * slices of the last row may overlap if crowded is not 0; their ends are then made monotonic for the search.
 * @param {Float64Array} start sorted
 * @param {Float64Array} end
 * @param {Int32Array} id
 * @param {number} [limit]
 * @returns {{rows: Row[], crowded: number}}
 */
export function makeRows(start, end, id, limit = maxRows) {
  longerFirst(start, end, id);
  const packed = packRows(start, end, limit);
  const sizes = new Int32Array(packed.rows);
  for (let i = 0; i < packed.row.length; i++) {
    sizes[packed.row[i]]++;
  }
  /** @type {Row[]} */
  const rows = Array.from(sizes, (size) => ({
    start: new Float64Array(size), end: new Float64Array(size), id: new Int32Array(size),
    total: new Float64Array(size + 1),
  }));
  const next = new Int32Array(packed.rows);
  for (let i = 0; i < packed.row.length; i++) {
    const r = rows[packed.row[i]];
    const at = next[packed.row[i]]++;
    const before = at > 0 ? r.end[at - 1] : -Infinity;
    r.start[at] = start[i];
    r.end[at] = Math.max(before, end[i]);
    r.id[at] = id[i];
    r.total[at + 1] = r.total[at] + Math.max(0, end[i] - Math.max(start[i], before));
  }
  return {rows, crowded: packed.crowded};
}

/**
 * longerFirst sorts slices of equal start by descending end. Runs of equal starts are short.
 * @param {Float64Array} start
 * @param {Float64Array} end
 * @param {Int32Array} id
 */
function longerFirst(start, end, id) {
  for (let i = 1; i < start.length; i++) {
    if (start[i] !== start[i - 1] || end[i] <= end[i - 1]) {
      continue;
    }
    let from = i - 1;
    while (from > 0 && start[from - 1] === start[i]) {
      from--;
    }
    let to = i + 1;
    while (to < start.length && start[to] === start[i]) {
      to++;
    }
    const order = Array.from({length: to - from}, (_, k) => from + k).sort((a, b) => end[b] - end[a] || a - b);
    const ends = order.map((k) => end[k]);
    const ids = order.map((k) => id[k]);
    for (let k = 0; k < order.length; k++) {
      end[from + k] = ends[k];
      id[from + k] = ids[k];
    }
    i = to - 1;
  }
}

/**
 * galloping returns the first index at or after low whose value is at least t, or the length. It is fast if that index
 * is near low.
 * @param {ArrayLike<number>} values
 * @param {number} t
 * @param {number} low
 * @returns {number}
 */
export function galloping(values, t, low) {
  let step = 1;
  let high = low;
  while (high < values.length && values[high] < t) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  return firstAtLeast(values, t, low, Math.min(high, values.length));
}

/**
 * visibleRange returns the slices [first, last) of a row that overlap [from, to). A slice without a duration overlaps
 * if it is in the range.
 * @param {{start: Float64Array, end: Float64Array}} row
 * @param {number} from
 * @param {number} to
 * @returns {[number, number]}
 */
export function visibleRange(row, from, to) {
  let first = firstAfter(row.end, from, 0, row.end.length);
  while (first > 0 && row.end[first - 1] === from && row.start[first - 1] === from) {
    first--; // without a duration, at the start of the range
  }
  return [first, Math.max(first, firstAtLeast(row.start, to, first, row.start.length))];
}

/**
 * visitRow calls visit for each box that shows the slices of a row in [from, to): a slice, or several slices that end in
 * the same pixel. Each visible slice is in one box, and there are at most two boxes per pixel, so the time does not
 * depend on the number of slices. Boxes may extend beyond 0 and width.
 * @param {{start: Float64Array, end: Float64Array}} row
 * @param {number} from
 * @param {number} to
 * @param {number} width in pixels
 * @param {(left: number, right: number, first: number, next: number) => void} visit the box has slices [first, next)
 */
export function visitRow(row, from, to, width, visit) {
  const scale = width / (to - from);
  const [begin, last] = visibleRange(row, from, to);
  for (let i = begin; i < last;) {
    const left = (row.start[i] - from) * scale;
    let next = i + 1;
    if ((row.end[i] - from) * scale - left < minSliceWidth) {
      const pixelEnd = from + (Math.floor(left) + 1) / scale;
      next = Math.min(last, galloping(row.end, pixelEnd, next));
    }
    visit(left, (row.end[next - 1] - from) * scale, i, next);
    i = next;
  }
}

/**
 * intervalsOfKind returns the intervals of a kind that belong to the selected process and thread.
 * @param {Trace} trace
 * @param {string} name
 * @param {{process: number, thread: number}} state
 * @param {boolean} covers whether intervals of the kind occupy all threads of a process
 * @returns {number[]}
 */
export function intervalsOfKind(trace, name, state, covers) {
  const v = trace.intervals;
  const kind = trace.header.strings.indexOf(name);
  /** @type {number[]} */
  const out = [];
  for (let i = 0; kind >= 0 && i < v.rows; i++) {
    const thread = v.thread[i];
    const otherProcess = state.process >= 0 && thread >= 0 && trace.threads.process[thread] !== state.process;
    if (v.kind[i] === kind && !otherProcess && (covers || state.thread < 0 || state.thread === thread)) {
      out.push(i);
    }
  }
  return out;
}

/**
 * hasIntervals reports whether a trace has intervals of a kind.
 * @param {Trace} trace
 * @param {string} name
 * @returns {boolean}
 */
export function hasIntervals(trace, name) {
  const kind = trace.header.strings.indexOf(name);
  return kind >= 0 && trace.intervals.kind.includes(kind);
}
