// Properties of the source files that the assembly of the page depends on.
import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {test} from 'node:test';

const page = new URL('../', import.meta.url);
/** @param {string} name */
const read = (name) => readFileSync(new URL(name, page), 'utf8');
const modules = read('modules.txt').split('\n').filter((line) => line !== '');

test('modules.txt lists each module once', () => {
  const files = readdirSync(page).filter((f) => f.endsWith('.js') && !['vendor.js', 'eslint.config.js'].includes(f));
  assert.deepEqual([...modules].sort(), files.sort());
});

test('modules follow the modules that they import, on lines of their own', () => {
  modules.forEach((name, i) => {
    for (const line of read(name).split('\n').filter((l) => l.startsWith('import'))) {
      const match = /^import \{[\w$, ]+\} from '\.\/([\w.-]+)';$/.exec(line);
      assert.ok(match, name + ': ' + line);
      const at = modules.indexOf(match[1]);
      assert.ok(match[1] === 'vendor.js' || (at >= 0 && at < i), `${name} imports ${match[1]}, which follows it`);
    }
  });
});

test('top-level names are unique', () => {
  /** @type {Map<string, string>} */
  const owners = new Map();
  for (const name of modules) {
    for (const line of read(name).split('\n')) {
      const match = /^(?:export )?(?:async )?(?:function\*?|class|const|let|var) +(\w+|[{[].*?[}\]])/.exec(line);
      for (const id of match ? match[1].split(/\W+/).filter((part) => part !== '') : []) {
        assert.equal(owners.get(id), undefined, `${id} is declared in ${owners.get(id)} and ${name}`);
        owners.set(id, name);
      }
    }
  }
  assert.ok(!owners.has('uPlot'));
});

test('exports are functions, classes and constants', () => {
  for (const name of modules) {
    for (const line of read(name).split('\n').filter((l) => l.startsWith('export'))) {
      assert.match(line, /^export (async )?(function|class|const) /, name);
    }
  }
});

test('text never becomes HTML or code', () => {
  for (const name of modules) {
    assert.doesNotMatch(read(name), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc/, name);
    assert.doesNotMatch(read(name), /\bfetch\(|XMLHttpRequest|WebSocket|https?:\/\//, name);
  }
});
