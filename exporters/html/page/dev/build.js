// Assembles a page from page data, as exporters/html does, to try the page without Go:
//   node dev/build.js OUT.html DATA.page [BEFORE.page DIFF.json]
import {readFileSync, writeFileSync} from 'node:fs';
import {createHash} from 'node:crypto';
import {gzipSync} from 'node:zlib';
import {pathToFileURL} from 'node:url';

const page = new URL('../', import.meta.url);
/** @param {string} name */
const read = (name) => readFileSync(new URL(name, page), 'utf8');

/** ModuleNames returns the modules of the page, in order. */
export function moduleNames() {
  return read('modules.txt').split('\n').map((line) => line.trim()).filter((line) => line !== '');
}

/**
 * Script concatenates the modules.
 * @returns {string}
 */
export function script() {
  const library = read('vendor/uPlot.esm.js').replace(/^export \{ uPlot as default \};$/m, '')
    .replace(/^export /gm, '');
  const parts = ["'use strict';\n{\nconst uPlot = (() => {\n" + library + '\nreturn uPlot; })();\n'];
  for (const name of moduleNames()) {
    const lines = read(name).split('\n').filter((line) => !line.startsWith('import '));
    parts.push(lines.map((line) => line.replace(/^export /, '')).join('\n'));
  }
  return parts.join('\n') + '}\n';
}

/** @param {string} text */
const hash = (text) => "'sha256-" + createHash('sha256').update(text).digest('base64') + "'";

/**
 * Assemble returns a page.
 * @param {{data: Uint8Array, rest?: Uint8Array, before?: Uint8Array, diff?: Uint8Array}} blocks
 * @returns {string}
 */
export function assemble(blocks) {
  const code = '\n' + script();
  const styles = ['vendor/uPlot.min.css', 'page.css', 'page-views.css'];
  const css = '\n' + styles.map(read).join('\n');
  const policy = `default-src 'none'; script-src ${hash(code)}; style-src ${hash(css)}; img-src data: blob:; ` +
    "base-uri 'none'; form-action 'none'";
  /** @param {string[]} ids */
  const elements = (...ids) => ids.map((id) => {
    const bytes = /** @type {Record<string, any>} */ (blocks)[id];
    return bytes ? `<script type="text/plain" id="${id}">${gzipSync(bytes).toString('base64')}</script>\n` : '';
  }).join('');
  /** @type {Record<string, string>} */
  const values = {policy, title: 'ntconv', css, data: elements('data', 'before', 'diff'), code, rest: elements('rest')};
  return read('index.html').replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [out, data, before, diff] = process.argv.slice(2);
  writeFileSync(out, assemble({
    data: readFileSync(data), before: before ? readFileSync(before) : undefined,
    diff: diff ? readFileSync(diff) : undefined,
  }));
}
