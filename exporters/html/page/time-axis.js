// Axes of time: ticks, their text, and times that users type.

/**
 * niceStep returns the smallest step of 1, 2 or 5 times a power of ten, or a usual number of seconds, minutes, hours or
 * days, that is at least min nanoseconds.
 * @param {number} min
 * @returns {number}
 */
export function niceStep(min) {
  if (min <= 1e10) {
    const power = 10 ** Math.floor(Math.log10(Math.max(1, min)));
    return [1, 2, 5, 10].map((f) => f * power).find((step) => step >= min) ?? 10 * power;
  }
  const seconds = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
  const usual = seconds.find((s) => s * 1e9 >= min);
  if (usual) {
    return usual * 1e9;
  }
  const days = min / 86400e9;
  const power = 10 ** Math.floor(Math.log10(days));
  return ([1, 2, 5, 10].map((f) => f * power).find((step) => step >= days) ?? 10 * power) * 86400e9;
}

/**
 * roundUnit returns the largest power of ten that does not exceed the time of a pixel, at least 1: times that users
 * choose are rounded to it.
 * @param {number} perPixel nanoseconds
 * @returns {number}
 */
export function roundUnit(perPixel) {
  return 10 ** Math.floor(Math.log10(Math.max(1, perPixel)));
}

/**
 * tickText returns a time as text with the precision of the distance between ticks: 1m20s, 1.25s.
 * @param {number} ns
 * @param {number} step distance between ticks in nanoseconds
 * @returns {string}
 */
export function tickText(ns, step) {
  const sign = ns < 0 ? '-' : '';
  const t = Math.abs(ns);
  if (step < 1e9) {
    const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9)));
    const minutes = Math.floor(t / 60e9);
    const seconds = ((t - minutes * 60e9) / 1e9).toFixed(digits) + 's';
    return sign + (minutes > 0 ? minutes + 'm' : '') + seconds;
  }
  const s = Math.round(t / 1e9);
  const parts = [Math.floor(s / 86400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60, s % 60];
  const text = parts.map((n, i) => (n > 0 ? n + 'dhms'[i] : '')).join('');
  return text === '' ? '0s' : sign + text;
}

/**
 * ticksBetween returns the multiples of a step in [from, to], at most 1,000.
 * @param {number} from
 * @param {number} to
 * @param {number} step
 * @returns {number[]}
 */
export function ticksBetween(from, to, step) {
  const first = Math.ceil(from / step);
  const n = Math.min(1000, Math.floor(to / step) - first + 1);
  return Array.from({length: Math.max(0, n)}, (_, i) => (first + i) * step);
}

const typedUnits = new Map([
  ['ns', 1], ['us', 1e3], ['µs', 1e3], ['ms', 1e6], ['s', 1e9], ['', 1e9], ['m', 60e9], ['h', 3600e9],
]);

/**
 * parseTime returns the nanoseconds of a time that a user typed: seconds, or a number with one of the units ns, us, µs,
 * ms, s, m and h. It returns null for an empty text and NaN for an invalid one.
 * @param {string} text
 * @returns {number | null}
 */
export function parseTime(text) {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === '') {
    return null;
  }
  const part = /(-?\d+(?:\.\d*)?|-?\.\d+)\s*(ns|us|µs|ms|s|m|h|)\s*/y;
  let total = 0;
  while (part.lastIndex < trimmed.length) {
    const match = part.exec(trimmed);
    if (!match) {
      return NaN;
    }
    total += Number(match[1]) * (typedUnits.get(match[2]) ?? NaN);
  }
  return Math.round(total);
}

/**
 * typedTime returns a time as parseTime reads it: in seconds, without digits that are zero.
 * @param {number | null} ns
 * @returns {string}
 */
export function typedTime(ns) {
  return ns === null ? '' : (ns / 1e9).toFixed(9).replace(/\.?0+$/, '');
}
