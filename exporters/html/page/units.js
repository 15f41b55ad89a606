// Quantities as text, formatted as internal/data/message of ntconv formats them.

const nanosPerUnit = new Map([['nanoseconds', 1], ['microseconds', 1e3], ['milliseconds', 1e6], ['seconds', 1e9]]);
const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/**
 * Quantity formats a value of a sample type: times as duration, bytes as bytes, and others as number, with their unit
 * unless they are counts.
 * @param {number} x
 * @param {string} unit
 * @returns {string}
 */
export function quantity(x, unit) {
  const nanos = nanosPerUnit.get(unit);
  if (nanos) {
    if (Math.abs(x) < 2 ** 63 / nanos) return duration(x * nanos);
    return number(x * (nanos / 1e9)) + 's';
  }
  switch (unit) {
    case 'bytes': return bytes(x);
    case 'percent': case '%': return number(x) + '%';
    case 'count': case '': return number(x);
  }
  return number(x) + ' ' + unit;
}

/**
 * Change formats a difference of two values, with its sign.
 * @param {number} x
 * @param {string} unit
 */
export function change(x, unit) {
  return (x > 0 ? '+' : '') + quantity(x, unit);
}

/**
 * Points formats a difference of two percentages, in percentage points: +0.41 pp.
 * @param {number} x
 */
export function points(x) {
  return (x < 0 ? '' : '+') + fixed(x, 2) + ' pp';
}

/**
 * Duration formats nanoseconds with three digits in the syntax of Go: 885µs, 7.04s, 2m30s.
 * @param {number} ns
 * @returns {string}
 */
export function duration(ns) {
  const sign = ns < 0 ? '-' : '';
  const n = Math.round(Math.abs(ns));
  let unit = 1;
  while (Math.floor(n / unit) >= 1000 && n < 60e9) unit *= 10;
  if (n >= 60e9) unit = 1e9;
  const r = Math.round(n / unit) * unit;
  if (r === 0) return '0s';
  if (r >= 60e9) return sign + clock(r / 1e9);
  const [name, factor] = r >= 1e9 ? ['s', 1e9] : r >= 1e6 ? ['ms', 1e6] : r >= 1e3 ? ['µs', 1e3] : ['ns', 1];
  return sign + Number((r / Number(factor)).toPrecision(4)) + name;
}

/** @param {number} seconds */
function clock(seconds) {
  const s = Math.round(seconds), hours = Math.floor(s / 3600);
  return (hours > 0 ? hours + 'h' : '') + Math.floor(s % 3600 / 60) + 'm' + s % 60 + 's';
}

/**
 * ExactTime formats a time of a recording to 1 µs, or 1 ns if it is not a multiple of 1 µs: 1.234567s.
 * @param {number} ns
 * @returns {string}
 */
export function exactTime(ns) {
  const sign = ns < 0 ? '-' : '';
  const n = Math.round(Math.abs(ns)), whole = Math.floor(n / 1e9);
  const digits = String(n % 1e9).padStart(9, '0').replace(/(000){1,3}$/, '');
  return sign + group(whole) + (digits ? '.' + digits : '') + 's';
}

/**
 * Bytes formats bytes with three digits, in units of 1024: 7.63 MiB.
 * @param {number} x
 * @returns {string}
 */
export function bytes(x) {
  let i = 0, v = x;
  for (; Math.abs(v) >= 999.5 && i < byteUnits.length - 1; i++) v /= 1024;
  return number(v) + ' ' + byteUnits[i];
}

/**
 * Number formats a number with three digits, and all digits before the point: 27.1, 1,234. Integers have no point.
 * @param {number} x
 * @returns {string}
 */
export function number(x) {
  const a = Math.abs(x);
  if (!Number.isFinite(x)) return String(x);
  if (a >= 1e15) return exponent(Number(x.toPrecision(3)));
  if (a >= 999.5 || Number.isInteger(x)) return group(Math.sign(x) * Math.round(a));
  if (a >= 99.95) return fixed(x, 0);
  if (a >= 9.995) return fixed(x, 1);
  if (a >= 0.01) return fixed(x, 2);
  const short = Number(x.toPrecision(2));
  return Math.abs(short) < 1e-4 ? exponent(short) : String(short);
}

/** @param {number} x */
function exponent(x) {
  return x.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/**
 * Fixed formats a number with a number of decimals. It rounds ties to even digits, as Go does and toFixed does not.
 * @param {number} x
 * @param {number} digits
 * @returns {string}
 */
export function fixed(x, digits) {
  const long = Math.abs(x).toFixed(digits + 25);
  const cut = long.length - 25, kept = digits === 0 ? long.slice(0, cut - 1) : long.slice(0, cut);
  if (/^50*$/.test(long.slice(cut)) && Number(kept[kept.length - 1]) % 2 === 0) return (x < 0 ? '-' : '') + kept;
  return x.toFixed(digits);
}

/**
 * Group formats an integer with commas between groups of three digits.
 * @param {number} n
 * @returns {string}
 */
export function group(n) {
  return String(n === 0 ? 0 : n).replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * Percent formats n as a percentage of a total: 27.1%, "under 0.1%" for less than 0.05%.
 * @param {number} n
 * @param {number} of
 * @returns {string}
 */
export function percent(n, of) {
  if (!(of > 0) || !(n > 0)) return '0%';
  if (n <= Math.floor(of / 2000)) return 'under 0.1%';
  return fixed(100 * n / of, 1) + '%';
}

/**
 * Count formats a number with its noun.
 * @param {number} n
 * @param {string} one
 * @param {string} [many] the plural, by default one with an s
 */
export function count(n, one, many) {
  return group(n) + ' ' + (n === 1 ? one : many || one + 's');
}

/**
 * StateText returns what a thread did in a state of a sample.
 * @param {string} state empty if it is unknown
 */
export function stateText(state) {
  return {'': 'running', Managed: 'managed code', External: 'external (native) code'}[state] ?? state;
}

/**
 * List joins words: a, b and c.
 * @param {string[]} words
 */
export function list(words) {
  if (words.length < 2) return words.join('');
  return words.slice(0, -1).join(', ') + ' and ' + words[words.length - 1];
}

/**
 * DateTime formats a time in RFC 3339 as 2006-01-02 15:04:05.000 UTC.
 * @param {string} text
 * @returns {string} empty if text is not a time
 */
export function dateTime(text) {
  const date = new Date(text.replace(/(\.\d{3})\d+/, '$1'));
  if (text === '' || Number.isNaN(date.getTime())) return '';
  return date.toISOString().replace('T', ' ').replace('Z', ' UTC');
}

/**
 * Visible escapes characters that are invisible or change the direction of text, as Go strings escape them.
 * @param {string} text
 * @returns {string}
 */
export function visible(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (c) => escapes.get(c) ?? (c < '\x80' ? '\\x' + hex(c, 2) : '\\u' + hex(c, 4)));
}

const escapes = new Map([['\n', '\\n'], ['\t', '\\t'], ['\r', '\\r'], ['\b', '\\b'], ['\f', '\\f'], ['\v', '\\v'],
  ['\x07', '\\a']]);

/**
 * @param {string} c
 * @param {number} width
 */
function hex(c, width) {
  return c.charCodeAt(0).toString(16).padStart(width, '0');
}
