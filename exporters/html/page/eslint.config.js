// Rules beyond the common ones: small functions, and no way from text to HTML or code.
import js from '@eslint/js';

/** @param {string} name @returns {[string, 'readonly']} */
function readonly(name) {
  return [name, 'readonly'];
}

const browser = Object.fromEntries(['document', 'window', 'navigator', 'location', 'history', 'requestAnimationFrame',
  'cancelAnimationFrame', 'getComputedStyle', 'matchMedia', 'DecompressionStream', 'ReadableStream', 'TextDecoder',
  'TextEncoder', 'URL', 'Node', 'Element', 'HTMLElement', 'HTMLInputElement', 'HTMLSelectElement',
  'HTMLTextAreaElement', 'HTMLCanvasElement', 'HTMLButtonElement', 'HTMLDetailsElement', 'HTMLDialogElement',
  'HTMLTableRowElement', 'ResizeObserver', 'IntersectionObserver', 'atob', 'btoa', 'performance', 'setTimeout',
  'clearTimeout', 'setInterval', 'clearInterval', 'console', 'queueMicrotask', 'Path2D', 'Event', 'KeyboardEvent',
  'MouseEvent', 'PointerEvent', 'WheelEvent', 'CustomEvent', 'DOMMatrix', 'structuredClone'].map(readonly));
const node = Object.fromEntries(['process', 'Buffer', 'console', 'performance', 'TextEncoder', 'TextDecoder', 'Blob',
  'Response', 'DecompressionStream', 'URL'].map(readonly));

const htmlFromText = ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'setHTMLUnsafe', 'createContextualFragment',
  'srcdoc', 'write', 'writeln', 'parseFromString'].map((property) => ({
  selector: `MemberExpression[property.name='${property}']:not([object.name='stdout'])`,
  message: 'Text must not become HTML: use el of dom.js.',
}));

export default [
  {ignores: ['vendor/', 'node_modules/']},
  js.configs.recommended,
  {
    languageOptions: {ecmaVersion: 2023, sourceType: 'module', globals: browser},
    linterOptions: {reportUnusedDisableDirectives: 'error'},
    rules: {
      'no-restricted-syntax': ['error', ...htmlFromText,
        {selector: "Literal[value='innerHTML']", message: 'Text must not become HTML.'}],
      'no-eval': 'error', 'no-implied-eval': 'error', 'no-new-func': 'error', 'no-var': 'error', 'prefer-const': 'error',
      eqeqeq: 'error', 'no-shadow': 'error', 'no-implicit-globals': 'error', 'no-else-return': 'error',
      'max-lines': ['error', {max: 600}], 'max-len': ['error', {code: 130, ignoreRegExpLiterals: true}],
      'max-lines-per-function': ['error', {max: 50, skipComments: true, skipBlankLines: true, IIFEs: true}],
      complexity: ['error', 20],
    },
  },
  {files: ['test/**', 'eslint.config.js'], languageOptions: {globals: node},
    rules: {'max-lines-per-function': 'off', complexity: 'off'}},
  {files: ['test/**', 'eslint.config.js'], rules: {'no-restricted-syntax': 'off'}},
];
