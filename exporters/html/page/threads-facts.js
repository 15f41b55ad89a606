// What the timeline of threads shows at a place, in words.

import {visibleRange} from './threads-layout.js';
import {rowHeight, rowTop, sliceKinds, sliceName} from './threads-draw.js';
import {count, duration, exactTime, list, quantity, stateText} from './units.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./threads-draw.js').PlacedLane} PlacedLane */
/** @typedef {import('./threads-lanes.js').SampleLanes} SampleLanes */
/**
 * A LaneHit is what is at a place: a slice, several slices (merged), a sample, or only a lane. IDs are -1 if absent.
 * @typedef {{
 *   placed: PlacedLane, row: number, index: number, slice: number, sample: number, merged: number, total: number
 * }} LaneHit
 */

/**
 * laneAt returns the lane at a height.
 * @param {PlacedLane[]} placed
 * @param {number} y from the top of all lanes
 * @returns {PlacedLane | undefined}
 */
export function laneAt(placed, y) {
  let low = 0;
  let high = placed.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (placed[middle].top + placed[middle].height <= y) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return y >= 0 ? placed[low] : undefined;
}

/**
 * hitAt returns what is at a time and a height.
 * @param {PlacedLane[]} placed
 * @param {SampleLanes | null} samples
 * @param {number} time
 * @param {number} y from the top of all lanes
 * @param {number} perPixel nanoseconds per pixel
 * @returns {LaneHit | null}
 */
export function hitAt(placed, samples, time, y, perPixel) {
  const p = laneAt(placed, y);
  if (!p) {
    return null;
  }
  const hit = {placed: p, row: -1, index: -1, slice: -1, sample: -1, merged: 0, total: 0};
  const from = time - perPixel;
  const to = time + perPixel;
  const row = Math.floor((y - rowTop(p, 0)) / rowHeight);
  if (row >= 0 && row < p.lane.rows.length) {
    return {...hit, row, ...sliceIn(p.lane.rows[row], from, to, time)};
  }
  if (samples && p.samples > 0 && y >= p.top + p.head && y < rowTop(p, 0)) {
    const boxes = samples.of(p.lane.thread);
    const [first, next] = visibleRange(boxes, from, to);
    if (next > first) {
      return {...hit, sample: boxes.id[first], merged: next - first, total: boxes.end[next - 1] - boxes.start[first]};
    }
  }
  return hit;
}

/**
 * @param {import('./threads-layout.js').Row} row
 * @param {number} from
 * @param {number} to
 * @param {number} time
 */
function sliceIn(row, from, to, time) {
  const [first, next] = visibleRange(row, from, to);
  if (next === first) {
    return {slice: -1, index: -1, merged: 0, total: 0};
  }
  let index = first; // the slice at the time itself, or else the first one nearby
  for (let i = first; i < Math.min(next, first + 64); i++) {
    if (row.start[i] <= time) {
      index = i;
    }
  }
  return {slice: row.id[index], index, merged: next - first, total: row.total[next] - row.total[first]};
}

/**
 * factsOf returns lines about a place, the first one as title.
 * @param {Trace} trace
 * @param {LaneHit} hit
 * @param {SampleLanes | null} samples
 * @returns {string[]}
 */
export function factsOf(trace, hit, samples) {
  const lines = hit.slice >= 0 ? sliceFacts(trace, hit.slice)
    : hit.sample >= 0 && samples ? sampleFacts(trace, samples, hit.sample) : [hit.placed.lane.title];
  if (hit.merged > 2) {
    lines.push(`${count(hit.merged, hit.slice >= 0 ? 'slice' : 'sample')} here, ${duration(hit.total)}: zoom in to see each`);
  }
  if (hit.slice < 0 && hit.sample < 0) {
    lines.push(count(hit.placed.lane.slices, 'slice'));
    if (hit.placed.lane.crowded > 0) {
      lines.push(`${count(hit.placed.lane.crowded, 'slice')} of them overlap others in the last row`);
    }
  }
  return lines;
}

/**
 * sliceTimes returns when a slice began and how long it lasted; -1 if it did not end.
 * @param {Trace} trace
 * @param {number} id
 * @returns {{time: number, length: number, thread: number, set: number, span: number}}
 */
export function sliceTimes(trace, id) {
  const n = trace.intervals.rows;
  const table = id < n ? trace.intervals : trace.spans;
  const i = id < n ? id : id - n;
  const span = id < n ? trace.intervals.span[i] : i;
  return {time: table.time[i], length: table.duration[i], thread: table.thread[i], set: table.attributes[i], span};
}

/**
 * @param {Trace} trace
 * @param {number} id
 * @returns {string[]}
 */
function sliceFacts(trace, id) {
  const {time, length, thread, set, span} = sliceTimes(trace, id);
  const lines = [sliceName(trace, id), `${length < 0 ? 'not ended' : duration(length)}, from ${exactTime(time)}`];
  if (thread >= 0) {
    lines.push(trace.threadName(thread));
  }
  if (id >= trace.intervals.rows) {
    const s = trace.spans;
    const facts = [trace.str(s.kind[span]), trace.str(s.status[span]), trace.str(s.message[span])];
    lines.push('span' + facts.filter((text) => text !== '').map((text) => ', ' + text).join(''));
  } else if (span >= 0) {
    lines.push('in ' + trace.spanName(span));
  }
  return [...lines, ...trace.attributesOf(set).slice(0, 12).map(([key, value]) => `${key}: ${value}`)];
}

/**
 * @param {Trace} trace
 * @param {SampleLanes} samples
 * @param {number} i
 * @returns {string[]}
 */
function sampleFacts(trace, samples, i) {
  const {kind} = samples;
  const s = kind.samples;
  const values = kind.values.map((type, v) => quantity(s.values[v][i], type.unit));
  const leaf = stackNames(trace, s.node[i], 1)[0] ?? 'no stack';
  const lines = [leaf, `${kind.one}, ${values.join(', ')}, at ${exactTime(s.time[i])}`];
  const state = s.state[i] > 0 ? stateText(trace.str(s.state[i])) : '';
  const waits = s.node[i] >= 0 && trace.waitNodes[s.node[i]] === 1;
  const about = [state, waits ? 'waiting' : '', trace.str(s.subject[i])].filter((text) => text !== '');
  if (about.length > 0) {
    lines.push(about.join(', '));
  }
  if (s.span[i] >= 0) {
    lines.push('in ' + trace.spanName(s.span[i]));
  }
  return [...lines, ...stackNames(trace, s.node[i], 12).slice(1).map((name) => '← ' + name)];
}

/**
 * stackNames returns the functions of a stack, innermost first.
 * @param {Trace} trace
 * @param {number} node
 * @param {number} limit
 * @returns {string[]}
 */
export function stackNames(trace, node, limit) {
  /** @type {string[]} */
  const names = [];
  for (let n = node; n >= 0 && names.length < limit; n = trace.nodes.parent[n]) {
    const frame = trace.nodes.frame[n];
    const name = frame < 0 ? '' : trace.functionName(trace.frames.function[frame]) || trace.str(trace.frames.name[frame]);
    names.push(name || 'merged frames');
  }
  return names;
}

/**
 * legendOf returns what the colors of the timeline mean: those that a trace uses.
 * @param {Trace} trace
 * @returns {{label: string, color: string}[]} color is a CSS property
 */
export function legendOf(trace) {
  /** @type {{label: string, color: string}[]} */
  const out = [];
  if (trace.kinds.some((kind) => kind.samples.rows > 0)) {
    const states = trace.kinds.some((kind) => kind.name === 'wall' && kind.samples.rows > 0);
    out.push({label: states ? stateText('Managed') : 'samples', color: '--chart-run'});
    if (states) {
      out.push({label: stateText('External'), color: '--chart-native'});
    }
    out.push({label: 'waiting', color: '--chart-wait'});
  }
  const kinds = new Set(Array.from(new Set(trace.intervals.kind), (kind) => trace.str(kind)));
  for (const color of new Set(sliceKinds.map(([, , own]) => own))) {
    const labels = sliceKinds.filter(([kind, , own]) => own === color && kinds.has(kind)).map(([, label]) => label);
    if (labels.length > 0) {
      out.push({label: list(labels), color});
    }
  }
  if (trace.spans.rows > 0) {
    out.push({label: 'spans, a color per name', color: '--slice-span-1'});
  }
  return out;
}

/**
 * hasLanes reports whether anything in a trace belongs to a lane.
 * @param {Trace} trace
 * @returns {boolean}
 */
export function hasLanes(trace) {
  return trace.intervals.rows > 0 || trace.spans.rows > 0 ||
    trace.kinds.some((kind) => kind.samples.thread.some((thread) => thread >= 0));
}

/**
 * longestSlices returns the longest slices that are visible, the text alternative of the timeline.
 * @param {Trace} trace
 * @param {PlacedLane[]} placed
 * @param {number} from
 * @param {number} to
 * @param {number} limit
 * @returns {{slices: {id: number, lane: string, time: number, length: number}[], all: number}} length is -1 without an end
 */
export function longestSlices(trace, placed, from, to, limit) {
  /** @type {{id: number, lane: string, time: number, length: number}[]} */
  const slices = [];
  for (const {lane} of placed) {
    for (const row of lane.rows) {
      const [first, next] = visibleRange(row, from, to);
      for (let i = first; i < next; i++) {
        const {time, length} = sliceTimes(trace, row.id[i]);
        slices.push({id: row.id[i], lane: lane.title, time, length});
      }
    }
  }
  const known = (/** @type {{time: number, length: number}} */ s) => (s.length < 0 ? trace.end - s.time : s.length);
  slices.sort((a, b) => known(b) - known(a) || a.time - b.time || a.id - b.id);
  return {slices: slices.slice(0, limit), all: slices.length};
}
