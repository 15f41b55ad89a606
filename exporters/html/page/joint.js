// Two recordings as one: functions with the same name in both, and the values of the first one normalized.
import {groupSamples, groupTotal} from './stacks.js';
import {namesOf} from './tree.js';
import {initialState} from './model.js';

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
   */
  constructor(trace, before) {
    this.trace = trace;
    this.before = before;
    const after = namesOf(trace), old = namesOf(before);
    /** @type {Map<string, number>} */
    const byName = new Map(), byModule = new Map();
    for (let i = trace.functions.rows - 1; i >= 0; i--) {
      byName.set(after.name(i), i);
      byModule.set(after.module(i) + '!' + after.name(i), i);
    }
    /** @type {number[]} functions that only the recording before has */
    this.gone = [];
    this.ids = Int32Array.from({length: before.functions.rows}, (_, i) => {
      const known = byModule.get(old.module(i) + '!' + old.name(i)) ?? byName.get(old.name(i));
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
   * Sources returns both recordings as sources of a tree: first the recording after, then the one before.
   * @param {State} state
   * @param {boolean} towers
   * @param {Normalization} normalization
   * @returns {Source[]}
   */
  sources(state, towers, normalization) {
    const groups = groupSamples(this.trace, state, towers), old = this.stateBefore(state);
    const oldGroups = old ? groupSamples(this.before, old, towers) : [];
    const scale = this.scale(normalization, state, groupTotal(groups), groupTotal(oldGroups));
    return [
      {trace: this.trace, groups, ids: null, scale: 1},
      {trace: this.before, groups: oldGroups, ids: this.ids, scale},
    ];
  }

  /**
   * @param {Normalization} normalization
   * @param {State} state
   * @param {number} total
   * @param {number} before
   */
  scale(normalization, state, total, before) {
    if (normalization === 'share') return before > 0 ? total / before : 1;
    if (normalization === 'recorded') return 1;
    const length = (state.to ?? this.trace.end) - (state.from ?? this.trace.begin);
    return length / (this.before.end - this.before.begin);
  }
}
