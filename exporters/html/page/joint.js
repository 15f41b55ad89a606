// Two recordings as one: functions with the same name in both, and the values of the first one normalized.
import {groupSamples, groupTotal} from './stacks.js';
import {namesOf} from './tree.js';
import {hasRange, initialState} from './model.js';
import {number, visible} from './units.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').State} State */
/** @typedef {import('./tree.js').Names} Names */
/** @typedef {import('./tree.js').Source} Source */
/** @typedef {'recorded' | 'time' | 'share'} Normalization */

/** Joint has the functions of a recording, and after them those that only the recording before has. */
export class Joint {
  /**
   * @param {Trace} trace
   * @param {Trace} before
   * @param {import('./compare.js').Difference | null} [diff] with the functions whose names changed
   */
  constructor(trace, before, diff) {
    this.trace = trace;
    this.before = before;
    const after = namesOf(trace), old = namesOf(before);
    /** @type {Map<string, number>} */
    const byName = new Map(), byModule = new Map();
    for (let i = trace.functions.rows - 1; i >= 0; i--) {
      byName.set(after.name(i), i);
      byModule.set(after.module(i) + '!' + after.name(i), i);
    }
    const renamed = new Map((diff?.functions ?? []).filter((f) => f.renamed_from)
      .map((f) => [visible(f.renamed_from ?? ''), byName.get(visible(f.function))]));
    /** @type {number[]} functions that only the recording before has */
    this.gone = [];
    this.ids = Int32Array.from({length: before.functions.rows}, (_, i) => {
      const known = byModule.get(old.module(i) + '!' + old.name(i)) ?? byName.get(old.name(i)) ?? renamed.get(old.name(i));
      return known ?? trace.functions.rows + this.gone.push(i) - 1;
    });
    this.functions = trace.functions.rows + this.gone.length;
    /** @type {Names} */
    this.names = {
      name: (id) => (id < trace.functions.rows ? after.name(id) : old.name(this.gone[id - trace.functions.rows])),
      module: (id) => (id < trace.functions.rows ? after.module(id) : old.module(this.gone[id - trace.functions.rows])),
    };
  }

  /**
   * StateBefore returns the selection in the recording before. Ranges, threads and spans of one recording have no
   * counterpart in another one, so only the kind, its value, the type and waits apply. It returns null if the recording
   * lacks the kind.
   * @param {State} state
   * @returns {State | null}
   */
  stateBefore(state) {
    const kind = this.trace.kinds[state.kind];
    const other = this.before.kinds.find((k) => k.name === kind?.name);
    const type = kind?.values[state.value]?.type;
    const value = other ? other.values.findIndex((v) => v.type === type) : -1;
    if (!other || value < 0) return null;
    return {...initialState(this.before), kind: other.index, value, subject: state.subject, waits: state.waits};
  }

  /**
   * NoComparison returns a sentence on why the selection cannot be compared, or an empty string if it can.
   * @param {State} state
   * @param {boolean} towers whether each thread is a tower; the recordings have different threads
   */
  noComparison(state, towers = false) {
    if (isPartial(state)) return 'No comparison: the selection applies to AFTER only.';
    if (!this.stateBefore(state)) return 'No comparison: BEFORE has no samples of this kind.';
    return towers ? 'No comparison by thread: the recordings have different threads.' : '';
  }

  /**
   * Sources returns both recordings as sources of a tree: first the recording after, then the one before. It returns
   * only the recording after if the selection cannot be compared.
   * @param {State} state
   * @param {boolean} towers
   * @param {Normalization} normalization
   * @returns {Source[]}
   */
  sources(state, towers, normalization) {
    const groups = groupSamples(this.trace, state, towers), old = this.stateBefore(state);
    /** @type {Source} */
    const after = {trace: this.trace, groups, ids: null, scale: 1};
    if (!old || this.noComparison(state, towers) !== '') return [after];
    const oldGroups = groupSamples(this.before, old, towers);
    const scale = this.scale(normalization, groupTotal(groups), groupTotal(oldGroups));
    return [after, {trace: this.before, groups: oldGroups, ids: this.ids, scale}];
  }

  /**
   * @param {Normalization} normalization
   * @param {number} total
   * @param {number} before
   */
  scale(normalization, total, before) {
    if (normalization === 'share') return before > 0 && total > 0 ? total / before : 1;
    if (normalization === 'recorded') return 1;
    return (this.trace.end - this.trace.begin) / (this.before.end - this.before.begin);
  }
}

/**
 * IsPartial reports whether a part of a recording is selected that no other recording has: a range, a process, a thread
 * or a span.
 * @param {State} state
 */
export function isPartial(state) {
  return hasRange(state) || state.process >= 0 || state.thread >= 0 || state.span >= 0;
}

/**
 * ScaleText states how the values before are scaled, or is empty if they are not.
 * @param {Normalization} normalization
 * @param {number} scale
 */
export function scaleText(normalization, scale) {
  if (scale === 1 || normalization === 'recorded') return '';
  return `scaled x${number(scale)} ` + (normalization === 'time' ? 'for its length' : 'to the same total');
}

/** @type {WeakMap<import('./model.js').Kind, boolean>} */
const kindsWithStacks = new WeakMap();

/**
 * HasStacks reports whether a sample of a kind has a stack with a frame.
 * @param {Trace} trace
 * @param {import('./model.js').Kind | undefined} kind
 */
export function hasStacks(trace, kind) {
  if (!kind || trace.frames.rows === 0) return false;
  let has = kindsWithStacks.get(kind);
  if (has === undefined) {
    const {frame} = trace.nodes;
    has = kind.samples.node.some((node) => node >= 0 && node < frame.length && frame[node] >= 0);
    kindsWithStacks.set(kind, has);
  }
  return has;
}

/**
 * KindWithStacks returns the first kind that has a flame graph, in this recording or in the one before, or -1.
 * @param {Trace} trace
 * @param {Trace | null} before
 */
export function kindWithStacks(trace, before) {
  return trace.kinds.findIndex((kind) => hasStacks(trace, kind) ||
    (before && hasStacks(before, before.kinds.find((k) => k.name === kind.name))));
}
