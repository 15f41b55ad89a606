// Functions that pprof's pages lack. patches inserts this file into the script of a page.

// shownName returns the part of a name that a search is about: without the types of parameters, which the boxes of a
// flame graph mostly have no room for, unless the expression contains an escaped parenthesis.
function shownName(name, expression) {
  if (expression.includes('\\(') || !name.endsWith(')')) return name;
  let depth = 0;
  for (let i = name.length - 1; i > 0; i--) {
    if (name[i] == ')') depth++;
    if (name[i] == '(' && --depth == 0) return name.slice(0, i);
  }
  return name;
}

// matchText returns the value and the share of the shown stacks with a match, counted once each, before another text.
function matchText(matches, pivots, stacks, percentText) {
  if (matches.size == 0) return '';
  const shown = new Set(pivots.flatMap((p) => stacks.Sources[p].Places.map((place) => place.Stack)));
  let sum = 0;
  for (const m of matches) {
    for (const place of stacks.Sources[m].Places) {
      if (shown.delete(place.Stack)) sum += Math.abs(stacks.Stacks[place.Stack].Value);
    }
  }
  return 'matches ' + percentText(sum) + ' │ ';
}
var matchAlarm = null;

// pprofUnitText replaces pprof's own function. It formats a value in s, B or another unit as message.Quantity does.
function pprofUnitText(value, unit) {
  const sign = value < 0 ? '-' : '';
  let v = Math.abs(value);
  if (unit == 's' && Number(v.toPrecision(3)) >= 60) {
    v = Math.round(v);
    const hours = Math.floor(v / 3600);
    return sign + (hours > 0 ? hours + 'h' : '') + Math.floor(v % 3600 / 60) + 'm' + v % 60 + 's';
  }
  if (unit == 's') {
    const [name, factor] = [['s', 1], ['ms', 1e3], ['µs', 1e6]].find((u) => v * u[1] >= 1) || ['ns', 1e9];
    return sign + (v == 0 ? '0s' : Number((v * factor).toPrecision(3)) + name);
  }
  if (unit == 'B') {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
    while (v >= 999.5 && units.length > 1) {
      v /= 1024;
      units.shift();
    }
    unit = ' ' + units[0];
  }
  if (Number.isInteger(v) || v >= 999.5) return sign + Math.round(v).toLocaleString('en-US') + unit;
  return sign + (v < 0.01 ? v.toPrecision(2) : v.toFixed(v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2)) + unit;
}
