// Sums of samples over equal parts of a range of time, in one pass over the samples.

/**
 * Bins divides a range of time, in nanoseconds, into bins of equal width. The last bin may end after the range.
 * @typedef {{from: number, width: number, count: number}} Bins
 */

/**
 * makeBins divides [from, to) into at most max bins. The width is a whole number of nanoseconds, so that sums of whole
 * durations stay exact, and at least minWidth.
 * @param {number} from
 * @param {number} to
 * @param {number} max
 * @param {number} [minWidth]
 * @returns {Bins}
 */
export function makeBins(from, to, max, minWidth = 1) {
  const length = Math.max(1, to - from);
  const width = Math.max(1, Math.ceil(minWidth), Math.ceil(length / Math.max(1, max)));
  return {from, width, count: Math.max(1, Math.ceil(length / width))};
}

/**
 * binEdges returns the starts of the bins and the end of the last one, in seconds.
 * @param {Bins} bins
 * @returns {Float64Array}
 */
export function binEdges(bins) {
  const x = new Float64Array(bins.count + 1);
  for (let i = 0; i < x.length; i++) {
    x[i] = (bins.from + i * bins.width) / 1e9;
  }
  return x;
}

/**
 * binOf returns the index of the bin that contains a time, or -1.
 * @param {Bins} bins
 * @param {number} time
 * @returns {number}
 */
export function binOf(bins, time) {
  const i = Math.floor((time - bins.from) / bins.width);
  return i >= 0 && i < bins.count ? i : -1;
}

/**
 * A BinSum adds up values over bins: of a moment, or spread evenly over a duration. What lies outside of the bins is
 * added to outside, so that the sums and outside together are always the total.
 */
export class BinSum {
  /** @param {Bins} bins */
  constructor(bins) {
    this.bins = bins;
    this.outside = 0;
    /** Partial bins. @type {Float64Array} */
    this.partial = new Float64Array(bins.count);
    /** Changes of the value per whole bin. @type {Float64Array} */
    this.change = new Float64Array(bins.count + 1);
  }

  /**
   * add adds a value at a moment.
   * @param {number} time
   * @param {number} value
   */
  add(time, value) {
    const i = binOf(this.bins, time);
    if (i < 0) {
      this.outside += value;
    } else {
      this.partial[i] += value;
    }
  }

  /**
   * spread adds a value evenly over [time, time + length). It takes constant time.
   * @param {number} time
   * @param {number} length
   * @param {number} value
   */
  spread(time, length, value) {
    if (!(length > 0)) {
      this.add(time, value);
      return;
    }
    const {from, width, count} = this.bins;
    const begin = Math.max(time, from);
    const end = Math.min(time + length, from + width * count);
    if (end <= begin) {
      this.outside += value;
      return;
    }
    const density = value / length;
    const inside = begin === time && end === time + length ? value : density * (end - begin);
    this.outside += value - inside;
    const first = Math.min(count - 1, Math.floor((begin - from) / width));
    const last = Math.min(count - 1, Math.floor((end - from) / width));
    if (first === last) {
      this.partial[first] += inside;
      return;
    }
    this.partial[first] += density * (from + (first + 1) * width - begin);
    this.partial[last] += density * (end - from - last * width);
    this.change[first + 1] += density * width;
    this.change[last] -= density * width;
  }

  /**
   * sums returns the sum of each bin.
   * @returns {Float64Array}
   */
  sums() {
    const out = this.partial.slice();
    let level = 0;
    for (let i = 0; i < out.length; i++) {
      level += this.change[i];
      out[i] += level;
      if (Math.abs(out[i]) < 1e-6) {
        out[i] = 0; // the remainder of a subtraction
      }
    }
    return out;
  }
}

/**
 * binMaxima returns the largest value of each bin, 0 for bins without one.
 * @param {Bins} bins
 * @param {ArrayLike<number>} times
 * @param {ArrayLike<number>} values
 * @returns {Float64Array}
 */
export function binMaxima(bins, times, values) {
  const out = new Float64Array(bins.count);
  for (let i = 0; i < times.length; i++) {
    const bin = binOf(bins, times[i]);
    if (bin >= 0 && values[i] > out[bin]) {
      out[bin] = values[i];
    }
  }
  return out;
}

/**
 * binLatest returns the last value of each bin, null for bins without a value. Times need not be sorted; if they are
 * equal, the later index wins.
 * @param {Bins} bins
 * @param {ArrayLike<number>} times
 * @param {ArrayLike<number>} values
 * @returns {(number | null)[]}
 */
export function binLatest(bins, times, values) {
  /** @type {(number | null)[]} */
  const out = new Array(bins.count).fill(null);
  const at = new Float64Array(bins.count).fill(-Infinity);
  for (let i = 0; i < times.length; i++) {
    const bin = binOf(bins, times[i]);
    if (bin >= 0 && times[i] >= at[bin]) {
      at[bin] = times[i];
      out[bin] = values[i];
    }
  }
  return out;
}

/**
 * binPeaks returns for each bin how many intervals [start, end) are open at one time within it, at most. The result does
 * not depend on the width of bins: the maximum over all bins is the maximum over time. An interval without a duration
 * lasts a nanosecond.
 * @param {Bins} bins
 * @param {ArrayLike<number>} starts in any order
 * @param {ArrayLike<number>} ends
 * @returns {Float64Array}
 */
export function binPeaks(bins, starts, ends) {
  const begins = Float64Array.from(starts).sort();
  const finishes = new Float64Array(ends.length);
  for (let i = 0; i < finishes.length; i++) {
    finishes[i] = Math.max(ends[i], starts[i] + 1);
  }
  finishes.sort();
  const out = new Float64Array(bins.count);
  let b = 0;
  let f = 0;
  for (let bin = 0; bin < bins.count; bin++) {
    const low = bins.from + bin * bins.width;
    const high = low + bins.width;
    while (b < begins.length && begins[b] <= low) {
      b++;
    }
    while (f < finishes.length && finishes[f] <= low) {
      f++;
    }
    out[bin] = b - f;
    while (b < begins.length && begins[b] < high) {
      const start = begins[b++];
      while (finishes[f] <= start) {
        f++;
      }
      out[bin] = Math.max(out[bin], b - f);
    }
  }
  return out;
}

/**
 * joinByKey shortens intervals so that those of one key do not overlap: a thread counts once at a time. Starts must be
 * sorted. Intervals within earlier ones of their key are omitted; keys below 0 are no keys.
 * @param {ArrayLike<number>} starts
 * @param {ArrayLike<number>} ends
 * @param {ArrayLike<number>} keys
 * @returns {{starts: number[], ends: number[]}}
 */
export function joinByKey(starts, ends, keys) {
  /** @type {Map<number, number>} */
  const until = new Map();
  /** @type {{starts: number[], ends: number[]}} */
  const out = {starts: [], ends: []};
  for (let i = 0; i < starts.length; i++) {
    const before = keys[i] < 0 ? -Infinity : until.get(keys[i]) ?? -Infinity;
    const end = Math.max(ends[i], starts[i] + 1);
    if (end > before) {
      out.starts.push(Math.max(starts[i], before));
      out.ends.push(end);
      until.set(keys[i], end);
    }
  }
  return out;
}

/**
 * coveredTime returns for how long at least one of some intervals [start, end) lasts.
 * @param {number[]} starts in any order
 * @param {number[]} ends
 * @returns {number}
 */
export function coveredTime(starts, ends) {
  let covered = 0;
  let until = -Infinity;
  for (const i of Array.from(starts.keys()).sort((a, b) => starts[a] - starts[b])) {
    covered += Math.max(0, ends[i] - Math.max(until, starts[i]));
    until = Math.max(until, ends[i]);
  }
  return covered;
}

/**
 * quantileOf returns the value with the rank ⌈n·percent/100⌉ of sorted values, as internal/data/distribution defines
 * quantiles, NaN if there are no values.
 * @param {ArrayLike<number>} sorted
 * @param {number} percent from 1 to 100
 * @returns {number}
 */
export function quantileOf(sorted, percent) {
  const n = sorted.length;
  return n === 0 ? NaN : sorted[Math.max(1, Math.floor((n * percent + 99) / 100)) - 1];
}

/**
 * binQuantiles returns a quantile of the values of each bin for each percentage; null for bins without values.
 * @param {Bins} bins
 * @param {ArrayLike<number>} times
 * @param {ArrayLike<number>} values
 * @param {number[]} percents
 * @returns {(number | null)[][]}
 */
export function binQuantiles(bins, times, values, percents) {
  const starts = new Int32Array(bins.count + 1);
  for (let i = 0; i < times.length; i++) {
    const bin = binOf(bins, times[i]);
    if (bin >= 0) {
      starts[bin + 1]++;
    }
  }
  for (let i = 0; i < bins.count; i++) {
    starts[i + 1] += starts[i];
  }
  const grouped = new Float64Array(starts[bins.count]);
  const next = starts.slice();
  for (let i = 0; i < times.length; i++) {
    const bin = binOf(bins, times[i]);
    if (bin >= 0) {
      grouped[next[bin]++] = values[i];
    }
  }
  /** @type {(number | null)[][]} */
  const out = percents.map(() => new Array(bins.count).fill(null));
  for (let bin = 0; bin < bins.count; bin++) {
    const part = grouped.subarray(starts[bin], starts[bin + 1]).sort();
    for (let p = 0; p < percents.length && part.length > 0; p++) {
      out[p][bin] = quantileOf(part, percents[p]);
    }
  }
  return out;
}
