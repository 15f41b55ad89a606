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
 * digitsOf returns how many digits of a second the multiples of a step need, at most 9.
 * @param {number} step in nanoseconds
 * @returns {number}
 */
function digitsOf(step) {
  for (let digits = 0; digits < 9; digits++) {
    const units = step / 10 ** (9 - digits);
    if (Math.abs(units - Math.round(units)) <= 1e-6 * units) {
      return digits;
    }
  }
  return 9;
}

/**
 * tickText returns a time as text with all digits that multiples of a step need: 1m20s, 12.5s, 1.25s.
 * @param {number} ns
 * @param {number} step distance between ticks in nanoseconds
 * @returns {string}
 */
export function tickText(ns, step) {
  const digits = digitsOf(step);
  const unit = 10 ** (9 - digits);
  const t = Math.round(Math.abs(ns) / unit) * unit;
  const minutes = Math.floor(t / 60e9);
  const rest = t - minutes * 60e9;
  const seconds = rest > 0 || t === 0 || step < 1e9 ? (rest / 1e9).toFixed(digits) + 's' : '';
  const parts = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60];
  const sign = ns < 0 && t > 0 ? '-' : '';
  return sign + parts.map((n, i) => (n > 0 ? n + 'dhm'[i] : '')).join('') + seconds;
}

/**
 * axisTicks returns the ticks of an axis, in nanoseconds, and their texts. Adjacent ticks are at least space pixels apart.
 * @param {number} from
 * @param {number} to
 * @param {number} width in pixels
 * @param {number} space
 * @returns {{ticks: number[], texts: string[]}}
 */
export function axisTicks(from, to, width, space) {
  const step = niceStep((to - from) * space / Math.max(space, width));
  const ticks = ticksBetween(from, to, step);
  return {ticks, texts: ticks.map((t) => tickText(t, step))};
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
  ['d', 86400e9],
]);

/**
 * parseTime returns the nanoseconds of a time that a user typed: seconds, or a number with one of the units ns, us, µs,
 * ms, s, m, h and d. It returns null for an empty text and NaN for an invalid one.
 * @param {string} text
 * @returns {number | null}
 */
export function parseTime(text) {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === '') {
    return null;
  }
  const sign = trimmed.startsWith('-') ? -1 : 1;
  const typed = sign < 0 ? trimmed.slice(1) : trimmed;
  const part = /(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s|m|h|d|)\s*/y;
  let total = typed === '' ? NaN : 0;
  while (part.lastIndex < typed.length) {
    const match = part.exec(typed);
    if (!match) {
      return NaN;
    }
    total += Number(match[1]) * (typedUnits.get(match[2]) ?? NaN);
  }
  return total === 0 ? 0 : Math.round(total) * sign;
}

/**
 * typedTime returns a time as parseTime reads it: in seconds, without digits that are zero.
 * @param {number | null} ns
 * @returns {string}
 */
export function typedTime(ns) {
  return ns === null ? '' : (ns / 1e9).toFixed(9).replace(/\.?0+$/, '');
}
