// Drawing of the timeline of threads on a canvas.

import {cssColor} from './dom.js';
import {visitRow} from './threads-layout.js';
import {niceStep, tickText, ticksBetween} from './time-axis.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./threads-layout.js').Row} Row */
/** @typedef {import('./threads-lanes.js').Lane} Lane */
/** @typedef {import('./threads-lanes.js').SampleLanes} SampleLanes */
/**
 * A PlacedLane is a lane at its place, in CSS pixels from the top of all lanes. head is the height of the heading of the
 * process above it, samples the height of its samples.
 * @typedef {{lane: Lane, top: number, height: number, head: number, samples: number}} PlacedLane
 */
/**
 * A LaneView is what the canvas shows: a part of the time and of the lanes.
 * @typedef {{from: number, to: number, left: number, width: number, height: number, scroll: number}} LaneView
 */

export const rowHeight = 14;
const samplesHeight = 10;
const lanePadding = 5;
const processHeight = 20;
/** The height of the axis of time at the top. */
export const timeAxisHeight = 20;
/** The width in pixels from which a slice shows its name. */
const minTextWidth = 26;

/**
 * placeLanes stacks lanes.
 * @param {Lane[]} lanes
 * @param {(lane: Lane) => boolean} hasSamples
 * @param {boolean} headings whether processes have headings
 * @returns {{placed: PlacedLane[], height: number}}
 */
export function placeLanes(lanes, hasSamples, headings) {
  /** @type {PlacedLane[]} */
  const placed = [];
  let top = 0;
  let process = -1;
  for (const lane of lanes) {
    const head = headings && lane.process !== process ? processHeight : 0;
    process = lane.process;
    const samples = hasSamples(lane) ? samplesHeight : 0;
    const height = head + lanePadding + Math.max(rowHeight, samples + lane.rows.length * rowHeight);
    placed.push({lane, top, height, head, samples});
    top += height;
  }
  return {placed, height: top};
}

/**
 * rowTop returns the top of a row of a lane.
 * @param {PlacedLane} placed
 * @param {number} row
 * @returns {number}
 */
export function rowTop(placed, row) {
  return placed.top + placed.head + 2 + placed.samples + row * rowHeight;
}

/**
 * SliceKinds are the kinds of intervals that have colors of their own, as CSS properties, and what the legend calls them.
 * @type {[kind: string, label: string, color: string][]}
 */
export const sliceKinds = [
  ['gc', 'collections', '--slice-gc'], ['gc_finalizers', 'finalizers', '--slice-gc'],
  ['gc_pause', 'GC pauses', '--slice-pause'], ['suspension', 'suspensions', '--slice-pause'],
  ['jit', 'compilations', '--slice-jit'], ['background_jit', 'background compilations', '--slice-jit'],
  ['contention', 'locks', '--slice-lock'], ['wait', 'waits', '--slice-wait'],
  ['thread_pool_queue', 'queues', '--slice-queue'], ['thread_pool_io_queue', 'queues of input and output', '--slice-queue'],
  ['exception', 'exceptions', '--slice-error'],
];
const sliceColors = new Map(sliceKinds.map(([kind, , color]) => [kind, color]));

/** LanePainter draws lanes. Create another one when the theme changes. */
export class LanePainter {
  /** @param {Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.text = cssColor('--text');
    this.muted = cssColor('--quiet');
    this.line = cssColor('--line');
    this.panel = cssColor('--panel');
    this.accent = cssColor('--accent');
    this.sliceText = cssColor('--slice-text');
    this.run = cssColor('--chart-run');
    this.native = cssColor('--chart-native');
    this.wait = cssColor('--chart-wait');
    /** Colors of slices by string of their kind. @type {Map<number, string>} */
    this.byKind = new Map();
    this.spanColors = [1, 2, 3, 4, 5, 6].map((i) => cssColor('--slice-span-' + i));
    this.errorColor = cssColor('--slice-error');
  }

  /**
   * sliceColor returns the color of a slice.
   * @param {number} id
   * @returns {string}
   */
  sliceColor(id) {
    const {intervals, spans} = this.trace;
    if (id >= intervals.rows) {
      return this.spanColors[spans.name[id - intervals.rows] % this.spanColors.length];
    }
    const kind = intervals.kind[id];
    let color = this.byKind.get(kind);
    if (color === undefined) {
      const name = this.trace.str(kind);
      const fallback = name.startsWith('exception') ? this.errorColor : this.spanColors[kind % this.spanColors.length];
      color = sliceColors.has(name) ? cssColor(sliceColors.get(name) ?? '') : fallback;
      this.byKind.set(kind, color);
    }
    return color;
  }

  /**
   * paint draws the visible lanes.
   * @param {CanvasRenderingContext2D} ctx
   * @param {LaneView} view
   * @param {PlacedLane[]} placed
   * @param {SampleLanes | null} samples
   * @param {{thread: number, lane: PlacedLane | null, slice: number}} marked the selected thread, and the focus
   */
  paint(ctx, view, placed, samples, marked) {
    ctx.clearRect(0, 0, view.left + view.width, view.height);
    ctx.font = '11px system-ui, sans-serif';
    ctx.textBaseline = 'middle';
    this.paintGrid(ctx, view);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, timeAxisHeight, view.left + view.width, view.height - timeAxisHeight);
    ctx.clip();
    const bottom = view.scroll + view.height - timeAxisHeight;
    for (const p of placed) {
      if (p.top + p.height >= view.scroll && p.top <= bottom) {
        this.paintLane(ctx, view, p, samples, marked);
      }
    }
    ctx.restore();
  }

  /**
   * @param {CanvasRenderingContext2D} ctx
   * @param {LaneView} view
   */
  paintGrid(ctx, view) {
    const step = niceStep((view.to - view.from) * 100 / view.width);
    ctx.textAlign = 'left';
    for (const t of ticksBetween(view.from, view.to, step)) {
      const x = Math.round(view.left + (t - view.from) * view.width / (view.to - view.from));
      ctx.fillStyle = this.line;
      ctx.fillRect(x, 0, 1, view.height);
      ctx.fillStyle = this.muted;
      ctx.fillText(tickText(t, step), x + 4, timeAxisHeight / 2);
    }
    ctx.fillStyle = this.line;
    ctx.fillRect(0, timeAxisHeight - 1, view.left + view.width, 1);
  }

  /**
   * @param {CanvasRenderingContext2D} ctx
   * @param {LaneView} view
   * @param {PlacedLane} p
   * @param {SampleLanes | null} samples
   * @param {{thread: number, lane: PlacedLane | null, slice: number}} marked
   */
  paintLane(ctx, view, p, samples, marked) {
    const offset = timeAxisHeight - view.scroll;
    const top = p.top + offset;
    ctx.fillStyle = this.line;
    ctx.fillRect(0, Math.round(top + p.height) - 1, view.left + view.width, 1);
    if (marked.lane === p || (marked.thread >= 0 && p.lane.thread === marked.thread)) {
      ctx.fillStyle = this.accent;
      ctx.globalAlpha = 0.1;
      ctx.fillRect(0, top + p.head, view.left + view.width, p.height - p.head - 1);
      ctx.globalAlpha = 1;
    }
    this.paintLabels(ctx, view, p, top);
    ctx.save();
    ctx.beginPath();
    ctx.rect(view.left, top, view.width, p.height);
    ctx.clip();
    if (samples && p.samples > 0) {
      this.paintSamples(ctx, view, samples, p, top + p.head + 2);
    }
    p.lane.rows.forEach((row, r) => this.paintRow(ctx, view, row, rowTop(p, r) + offset, marked.slice));
    ctx.restore();
  }

  /**
   * @param {CanvasRenderingContext2D} ctx
   * @param {LaneView} view
   * @param {PlacedLane} p
   * @param {number} top
   */
  paintLabels(ctx, view, p, top) {
    if (p.head > 0) {
      ctx.font = '600 11px system-ui, sans-serif';
      ctx.fillStyle = this.text;
      ctx.fillText(fitText(this.trace.processName(p.lane.process), view.left + view.width - 12), 6, top + p.head / 2 + 1);
      ctx.font = '11px system-ui, sans-serif';
    }
    ctx.fillStyle = p.lane.thread < 0 ? this.muted : this.text;
    ctx.fillText(fitText(p.lane.title, view.left - 12), 8, top + p.head + 2 + rowHeight / 2);
  }

  /**
   * paintRow draws the slices of a row. Merged slices are drawn in blocks of up to four pixels with the color of the
   * first slice, darker the more of their time they cover.
   * @param {CanvasRenderingContext2D} ctx
   * @param {LaneView} view
   * @param {Row} row
   * @param {number} y
   * @param {number} focus slice
   */
  paintRow(ctx, view, row, y, focus) {
    const perPixel = (view.to - view.from) / view.width;
    const block = {x: 0, width: 0, level: 0, slice: -1};
    const flush = () => {
      if (block.width > 0) {
        ctx.fillStyle = this.sliceColor(block.slice);
        ctx.globalAlpha = 0.35 + 0.15 * block.level;
        ctx.fillRect(block.x, y, block.width, rowHeight - 2);
        ctx.globalAlpha = 1;
        block.width = 0;
      }
    };
    visitRow(row, view.from, view.to, view.width, (left, right, first, next) => {
      if (next - first === 1) {
        flush();
        this.paintSlice(ctx, view, row.id[first], left, right, y, focus);
        return;
      }
      const x = Math.floor(view.left + left);
      const level = Math.ceil(Math.min(1, (row.total[next] - row.total[first]) / perPixel) * 4);
      if (x === block.x + block.width && level === block.level && block.width > 0 && block.width < 4) {
        block.width++;
        return;
      }
      flush();
      Object.assign(block, {x, width: 1, level, slice: row.id[first]});
    });
    flush();
  }

  /**
   * @param {CanvasRenderingContext2D} ctx
   * @param {LaneView} view
   * @param {number} id
   * @param {number} left
   * @param {number} right
   * @param {number} y
   * @param {number} focus slice
   */
  paintSlice(ctx, view, id, left, right, y, focus) {
    const height = rowHeight - 2;
    const x = Math.round(Math.max(view.left - 2, view.left + left)); // whole pixels are faster
    const width = Math.max(1, Math.round(Math.min(view.left + view.width + 2, view.left + right)) - x);
    ctx.fillStyle = this.sliceColor(id);
    ctx.fillRect(x, y, width > 3 ? width - 1 : width, height);
    if (id === focus) {
      ctx.strokeStyle = this.text;
      ctx.lineWidth = 1.5;
      ctx.strokeRect(x + 0.75, y + 0.75, Math.max(1, width - 2), height - 1.5);
    }
    if (width >= minTextWidth) {
      ctx.fillStyle = this.sliceText;
      ctx.fillText(fitText(sliceName(this.trace, id), width - 8), x + 4, y + height / 2 + 0.5);
    }
  }

  /**
   * paintSamples draws samples as bars: the running part of their time from the bottom, the waiting part above.
   * @param {CanvasRenderingContext2D} ctx
   * @param {LaneView} view
   * @param {SampleLanes} samples
   * @param {PlacedLane} p
   * @param {number} y
   */
  paintSamples(ctx, view, samples, p, y) {
    const boxes = samples.of(p.lane.thread);
    const {state} = samples.kind.samples;
    const external = this.trace.header.strings.indexOf('External');
    const height = samplesHeight - 2;
    visitRow(boxes, view.from, view.to, view.width, (left, right, first, next) => {
      const x = Math.floor(view.left + Math.max(-2, left));
      const width = Math.max(1, Math.ceil(view.left + Math.min(view.width + 2, right)) - x);
      const length = boxes.end[next - 1] - boxes.start[first];
      const share = length > 0 ? Math.min(1, (boxes.running[next] - boxes.running[first]) / length) : 1;
      const gap = width > 4 ? 1 : 0;
      if (share < 1) {
        ctx.fillStyle = this.wait;
        ctx.fillRect(x, y, width - gap, height);
      }
      if (share > 0) {
        const part = Math.max(1, share * height);
        ctx.fillStyle = external >= 0 && state[boxes.id[first]] === external ? this.native : this.run;
        ctx.fillRect(x, y + height - part, width - gap, part);
      }
    });
  }

  /**
   * shade covers the time that is not selected, and shows a range that is being dragged.
   * @param {CanvasRenderingContext2D} ctx
   * @param {LaneView} view
   * @param {{from: number | null, to: number | null}} range
   */
  shade(ctx, view, range) {
    const at = (/** @type {number} */ t) =>
      view.left + Math.min(view.width, Math.max(0, (t - view.from) * view.width / (view.to - view.from)));
    const from = range.from === null ? view.left : at(range.from);
    const to = range.to === null ? view.left + view.width : at(range.to);
    ctx.fillStyle = this.panel;
    ctx.globalAlpha = 0.7;
    ctx.fillRect(view.left, timeAxisHeight, from - view.left, view.height);
    ctx.fillRect(to, timeAxisHeight, view.left + view.width - to, view.height);
    ctx.globalAlpha = 1;
  }
}

/** The average width of a character of the font of lanes, in CSS pixels. Texts are fitted with it, without measuring. */
const characterWidth = 6.1;

/**
 * fitText shortens a text to a width.
 * @param {string} text
 * @param {number} width
 * @returns {string}
 */
export function fitText(text, width) {
  const n = Math.floor(width / characterWidth);
  return text.length <= n ? text : n < 2 ? '' : text.slice(0, n - 1) + '…';
}

/**
 * sliceName returns the name of a slice.
 * @param {Trace} trace
 * @param {number} id
 * @returns {string}
 */
export function sliceName(trace, id) {
  const {intervals} = trace;
  if (id >= intervals.rows) {
    return trace.spanName(id - intervals.rows);
  }
  return trace.str(intervals.name[id]) || trace.str(intervals.kind[id]);
}
