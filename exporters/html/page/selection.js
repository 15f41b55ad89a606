// The selection: which samples the state shows, and with which values.
import {firstAtLeast} from './model.js';
import {samplesWithin, valuesWithin} from './span-samples.js';

/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').Kind} Kind */
/** @typedef {import('./model.js').State} State */

/** Kinds all samples of which wait: hiding waits would hide them all. */
const waitingKinds = new Set(['wait', 'contention', 'off-cpu']);

/**
 * CanHideWaits reports whether State.waits applies to a kind.
 * @param {Kind | undefined} kind
 * @returns {boolean}
 */
export function canHideWaits(kind) {
  return kind !== undefined && !waitingKinds.has(kind.name);
}

/**
 * Selected returns the indexes of the selected samples of a kind, in time order. A sample whose value is a duration is
 * selected if it begins in the range. The result is shared: do not change it.
 * @param {Trace} trace
 * @param {State} state
 * @param {number} [kindIndex] default: the kind of the state
 * @returns {Int32Array}
 */
export function selected(trace, state, kindIndex = state.kind) {
  const kind = trace.kinds[kindIndex];
  if (!kind) return new Int32Array(0);
  const hidden = !state.waits && canHideWaits(kind);
  const {from, to, process, thread, span, subject} = state;
  const key = JSON.stringify([kindIndex, from, to, process, thread, span, subject, hidden]);
  let out = trace.selections.get(key);
  if (!out) {
    out = selectSamples(trace, state, kind, hidden);
    if (trace.selections.size > 64) trace.selections.clear();
    trace.selections.set(key, out);
  }
  return out;
}

/**
 * @param {Trace} trace
 * @param {State} state
 * @param {Kind} kind
 * @param {boolean} hideWaits
 * @returns {Int32Array}
 */
function selectSamples(trace, state, kind, hideWaits) {
  const {samples} = kind;
  if (!hideWaits && isEverything(state)) return new Int32Array(samples.rows).map((_, i) => i); // needs no column
  const {thread, node, subject} = samples;
  const first = state.from === null ? 0 : firstAtLeast(samples.time, state.from, 0, samples.rows);
  const last = state.to === null ? samples.rows : firstAtLeast(samples.time, state.to, 0, samples.rows);
  const within = state.span < 0 ? null : samplesWithin(trace, kind, state.span);
  const process = trace.threads.process;
  const out = new Int32Array(Math.max(0, last - first));
  let n = 0;
  for (let i = first; i < last; i++) {
    if (state.thread >= 0 && thread[i] !== state.thread) continue;
    if (state.process >= 0 && (thread[i] < 0 || process[thread[i]] !== state.process)) continue;
    if (within && !within[i]) continue;
    if (state.subject !== '' && trace.str(subject[i]) !== state.subject) continue;
    if (hideWaits && node[i] >= 0 && trace.waitNodes[node[i]]) continue;
    out[n++] = i;
  }
  return out.subarray(0, n);
}

/**
 * IsEverything reports whether no sample of a kind is excluded, unless waits are hidden.
 * @param {State} state
 */
function isEverything({from, to, process, thread, span, subject}) {
  return from === null && to === null && process < 0 && thread < 0 && span < 0 && subject === '';
}

/**
 * ValueOf returns the unit and the column of values that the state shows. If a span is selected, the values are what lies in it.
 * @param {Trace} trace
 * @param {State} state
 * @returns {{type: string, unit: string, values: Float64Array}}
 */
export function valueOf(trace, state) {
  const kind = trace.kinds[state.kind];
  const type = kind?.values[state.value];
  const values = kind && state.span >= 0 ? valuesWithin(trace, kind, state.value, state.span) :
    kind?.samples.values[state.value] ?? new Float64Array(0);
  return {type: type?.type ?? '', unit: type?.unit ?? '', values};
}
