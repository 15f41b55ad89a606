// The flame graph: its tools, the trees it shows, the legend, and the table with the same contents.
import {button, coalesced, copyText, el, isDark, replace, select} from './dom.js';
import {canHideWaits, valueOf} from './selection.js';
import {groupSamples} from './stacks.js';
import {callerTree, callTree, keeps, namesOf, sandwich} from './tree.js';
import {flatTotals, functionTotals, matchTotal, searchNames} from './totals.js';
import {codeGroups, changeColor, groupsOfFunctions, hash, huesOfModules, moduleColor} from './palette.js';
import {FlameCanvas} from './flame-canvas.js';
import {changeText, describe, flameTable, stackText, tooltip, valueText} from './flame-text.js';
import {hasStacks, Joint, scaleText} from './joint.js';
import {percent} from './units.js';

/** @typedef {import('./model.js').Store} Store */
/** @typedef {import('./model.js').State} State */
/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./tree.js').Source} Source */
/** @typedef {import('./flame-text.js').Facts} Facts */
/** @typedef {import('./joint.js').Normalization} Normalization */

/** Members of the state that need other trees; other changes only need another picture. */
const treeMembers = ['from', 'to', 'kind', 'value', 'process', 'thread', 'span', 'subject', 'mine', 'waits', 'layout',
  'towers'];
const maxLegend = 12;

class FlameView {
  /**
   * @param {HTMLElement} root
   * @param {Store} store
   * @param {import('./compare.js').Difference | null} diff
   */
  constructor(root, store, diff) {
    this.store = store;
    this.trace = store.trace;
    this.joint = store.before ? new Joint(store.trace, store.before, diff) : null;
    this.names = this.joint?.names ?? namesOf(store.trace);
    this.functions = this.joint?.functions ?? store.trace.functions.rows;
    this.groups = groupsOfFunctions(store.trace);
    this.hues = huesOfModules(store.trace, this.groups);
    /** @type {Normalization} */
    this.normalization = 'recorded'; // as ntconv diff compares
    this.widths = 0;
    /** @type {Source[]} */
    this.sources = [];
    /** @type {{tree: Tree, canvas: FlameCanvas, inverted: boolean}[]} */
    this.shown = [];
    /** @type {ReturnType<typeof functionTotals> | null} */
    this.totals = null;
    /** @type {Map<string, string>} */
    this.colors = new Map();
    this.search = searchNames(this.names, this.functions, '');
    this.searched = '';
    this.tipKey = '';
    this.focused = {tree: /** @type {Tree | null} */ (null), node: 0, inverted: false};
    this.build(root);
    const update = coalesced(() => this.update());
    let stale = true;
    this.update = () => {
      this.refresh(stale);
      stale = false;
    };
    store.subscribe((state, changed) => {
      stale ||= treeMembers.some((name) => changed.has(name)) || (changed.has('method') && state.layout === 'sandwich');
      update();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', update);
    this.update();
  }

  update() {}

  /** @param {HTMLElement} root */
  build(root) {
    this.calls = new FlameCanvas(this.handlers(false), {up: false, name: 'Flame graph'});
    this.callers = new FlameCanvas(this.handlers(true), {up: true, name: 'Callers'});
    this.tip = el('div', {class: 'tip', role: 'presentation', hidden: true});
    this.message = el('p', {class: 'quiet'});
    this.middle = el('div', {class: 'sandwich-method'});
    this.detail = el('div', {class: 'flame-detail'});
    this.legend = el('div', {class: 'legend', role: 'group', 'aria-label': 'Modules by flat value'});
    this.table = el('div', {class: 'scroll-x'});
    this.details = el('details', {class: 'flame-table', on: {toggle: () => this.fillTable()}},
      el('summary', null, 'The same as a table'), this.table);
    this.tools = el('div', {class: 'tools'});
    replace(root, el('h2', null, 'Flame graph'), this.tools, this.message, this.callers.root, this.middle,
      this.calls.root, this.detail, this.legend, this.details);
    document.body.appendChild(this.tip);
    this.buildTools();
  }

  buildTools() {
    const {store} = this;
    /** @type {[State['layout'], string, string][]} */
    const layouts = [['calls', 'By call', 'Callers above callees'],
      ['inverted', 'Inverted', 'Functions with the largest flat value, and below them their callers'],
      ['sandwich', 'Sandwich', 'Callers and callees of one function']];
    this.layoutButtons = layouts.map(([layout, text, title]) =>
      button(text, () => store.set({layout}), {title, data: {layout}}));
    this.mine = button('My code', () => store.set({mine: !store.state.mine}),
      {title: 'Only my code: other frames are folded into their callers (m)'});
    this.waits = button('Waits', () => store.set({waits: !store.state.waits}),
      {title: 'Include samples of threads that wait (w)'});
    this.towers = button('By thread', () => store.set({towers: !store.state.towers}),
      {title: 'One tower per thread, or all threads together'});
    this.input = el('input', {type: 'search', class: 'search', placeholder: 'Search: text or regular expression (/)',
      'aria-label': 'Search functions', spellcheck: 'false', on: {
        input: () => store.set({search: this.input?.value ?? ''}),
        keydown: (/** @type {KeyboardEvent} */ event) => this.searchKey(event),
      }});
    this.found = el('span', {class: 'found', 'aria-live': 'polite'});
    this.compareTools = this.comparisonTools();
    replace(this.tools ?? el('div'), el('div', {class: 'segments', role: 'group', 'aria-label': 'Layout'}, this.layoutButtons),
      el('div', {class: 'segments', role: 'group', 'aria-label': 'Frames and samples'}, this.mine, this.waits, this.towers),
      this.compareTools, button('Show all', () => this.reset(), {title: 'Zoom out (Escape)'}), this.input, this.found);
  }

  comparisonTools() {
    if (!this.joint) return null;
    return el('span', {class: 'segments'},
      select('Normalization', [['recorded', 'as recorded'], ['time', 'per second'], ['share', 'share of all']],
        this.normalization, (value) => {
          this.normalization = /** @type {Normalization} */ (value);
          this.refresh(true);
        }),
      select('Width of frames', [['0', 'width: after'], ['1', 'width: before']], '0', (value) => {
        this.widths = Number(value);
        this.refresh(true);
      }));
  }

  /** @param {KeyboardEvent} event */
  searchKey(event) {
    if (event.key === 'Escape' && this.input) {
      this.input.value = '';
      this.store.set({search: ''});
      this.calls?.canvas.focus();
    } else if (event.key === 'Enter') {
      this.calls?.canvas.focus();
    }
  }

  reset() {
    for (const {canvas} of this.shown) canvas.reset();
  }

  /**
   * Handlers returns what a canvas calls.
   * @param {boolean} callers whether the canvas shows the callers of a sandwich
   * @returns {import('./flame-canvas.js').Handlers}
   */
  handlers(callers) {
    const inverted = () => callers || this.store.state.layout === 'inverted';
    return {
      describe: (picture, node) => describe(picture.tree, node, this.facts(inverted())),
      hover: (picture, box, x, y) => this.showTip(picture.tree, box, inverted(), x, y),
      focus: (picture, node) => this.showDetail(picture.tree, node, inverted()),
      command: (name) => this.command(name),
    };
  }

  /** @param {string} name */
  command(name) {
    if (name === 'c') this.copyStack();
    else if (name === 's') this.showSandwich();
    else return false;
    return true;
  }

  /**
   * @param {boolean} inverted
   * @returns {Facts}
   */
  facts(inverted) {
    const {unit, type} = valueOf(this.trace, this.store.state);
    const scale = this.sources[1]?.scale ?? 1;
    return {unit, type, inverted, widths: this.shownWidths, totals: () => this.functionTotals(),
      place: (id) => this.place(id), scale, scaled: scaleText(this.normalization, scale)};
  }

  /** ShownWidths returns the index of the recording that determines the widths: AFTER unless there is a comparison. */
  get shownWidths() {
    return Math.min(this.widths, this.sources.length - 1);
  }

  functionTotals() {
    this.totals ??= functionTotals(this.trace, this.sources[0]?.groups ?? []);
    return this.totals;
  }

  /**
   * Place returns the source file of a function.
   * @param {number} id
   */
  place(id) {
    const {rows, function: functions, file, line} = this.trace.frames;
    for (let i = 0; i < rows; i++) {
      if (functions[i] === id && file[i] > 0) return this.trace.str(file[i]) + (line[i] > 0 ? ':' + line[i] : '');
    }
    return '';
  }

  /**
   * Refresh shows the state. With stale trees, it builds them.
   * @param {boolean} stale
   */
  refresh(stale) {
    const {state} = this.store;
    this.showTools(state);
    if (stale) this.buildTrees(state);
    if (stale || this.searched !== state.search) this.showSearch(state.search);
    const dark = isDark(state.theme);
    for (const {tree, canvas, inverted} of this.shown) {
      canvas.show({tree, values: tree.totals[this.shownWidths], label: '', lit: this.lit(tree, state),
        color: (node, d) => this.color(tree, node, d)}, dark);
      if (stale) this.showDetail(tree, 0, inverted);
    }
    this.showLegend(dark);
    this.fillTable();
  }

  /** @param {State} state */
  showTools(state) {
    for (const b of this.layoutButtons ?? []) press(b, b.dataset.layout === state.layout);
    press(this.mine, state.mine);
    press(this.waits, state.waits);
    press(this.towers, state.towers);
    if (this.waits) this.waits.disabled = !canHideWaits(this.trace.kinds[state.kind]);
    if (this.input && this.input.value !== state.search) this.input.value = state.search;
  }

  /** @param {State} state */
  buildTrees(state) {
    const towers = state.towers && state.layout !== 'sandwich';
    this.sources = this.joint ? this.joint.sources(state, towers, this.normalization) :
      [{trace: this.trace, groups: groupSamples(this.trace, state, towers), ids: null, scale: 1}];
    this.totals = null;
    const options = {towers, mine: state.mine};
    const {calls, callers} = this;
    if (!calls || !callers) return;
    if (state.layout === 'sandwich') {
      const method = this.sandwichMethod(state);
      const both = sandwich(this.names, this.sources, method, options);
      this.shown = [{tree: both.callers, canvas: callers, inverted: true}, {tree: both.callees, canvas: calls, inverted: false}];
      replace(this.middle ?? el('div'), el('b', null, this.names.name(method) || 'No function'),
        ' · callers above, callees below · ', valueText(both.callees.total[0], this.functionTotals().total,
          valueOf(this.trace, state).unit), ' · choose another one in the table of methods, or with S on a frame');
    } else {
      const inverted = state.layout === 'inverted';
      const build = inverted ? callerTree : callTree;
      this.shown = [{tree: build(this.names, this.sources, options), canvas: calls, inverted}];
    }
    this.showWhatExists(state, towers);
  }

  /**
   * ShowWhatExists hides what is useless without stacks or samples, and states why.
   * @param {State} state
   * @param {boolean} towers
   */
  showWhatExists(state, towers) {
    const stacks = this.hasStacks(state), isSandwich = state.layout === 'sandwich';
    const empty = !(this.shown[0].tree.totals[this.shownWidths][0] > 0);
    const graph = stacks && !empty;
    for (const [element, shown] of /** @type {[HTMLElement | null | undefined, boolean][]} */ ([
      [this.tools, stacks], [this.compareTools, this.sources.length > 1], [this.callers?.root, graph && isSandwich],
      [this.middle, stacks && isSandwich], [this.calls?.root, graph], [this.detail, graph], [this.legend, graph],
      [this.details, graph]])) {
      if (element) element.hidden = !shown;
    }
    const text = !stacks ? 'These samples have no stacks.' : empty ? emptyText :
      this.joint?.noComparison(state, towers) ?? '';
    if (this.message) {
      this.message.textContent = text;
      this.message.hidden = text === '';
    }
  }

  /** @param {State} state */
  hasStacks(state) {
    const kind = this.trace.kinds[state.kind], before = this.joint?.before;
    return hasStacks(this.trace, kind) ||
      (before !== undefined && hasStacks(before, before.kinds.find((k) => k.name === kind?.name)));
  }

  /** @param {State} state */
  sandwichMethod(state) {
    if (state.method >= 0) return state.method;
    const {flat} = flatTotals(this.trace, this.sources[0].groups);
    let best = 0;
    for (let i = 1; i < flat.length; i++) if (flat[i] > flat[best]) best = i;
    return best;
  }

  /** @param {string} search */
  showSearch(search) {
    this.searched = search;
    this.search = searchNames(this.names, this.functions, search);
    if (!this.found) return;
    const {matches, count, expression, error} = this.search;
    if (search === '') {
      this.found.textContent = '';
    } else if (count === 0) {
      this.found.textContent = error || 'no match';
    } else {
      const sum = matchTotal(this.trace, this.sources[0].groups, (id) => matches[id] === 1);
      const {total, cumulative} = this.functionTotals();
      const n = cumulative.reduce((found, v, id) => found + (v !== 0 ? matches[id] : 0), 0);
      this.found.textContent = valueText(sum, total, valueOf(this.trace, this.store.state).unit) + ' in ' + n +
        (n === 1 ? ' function' : ' functions') + (expression ? ', regular expression' : '');
    }
  }

  /**
   * @param {Tree} tree
   * @param {State} state
   * @returns {((node: number) => boolean) | null}
   */
  lit(tree, state) {
    if (state.search === '' && state.module === '') return null;
    const {matches} = this.search;
    return (node) => {
      const id = tree.id[node];
      if (id < 0) return false;
      return (state.search === '' || matches[id] === 1) && (state.module === '' || tree.module(node) === state.module);
    };
  }

  /**
   * @param {Tree} tree
   * @param {number} node
   * @param {boolean} dark
   */
  color(tree, node, dark) {
    if (tree.totals.length > 1) {
      const [after, before] = tree.totals;
      return changeColor((after[node] - before[node]) / (Math.max(after[0], before[0]) || 1), dark);
    }
    const id = tree.id[node];
    if (id < 0) return dark ? '#3a4049' : '#dfe3e8';
    const key = id + (dark ? 'd' : 'l');
    let color = this.colors.get(key);
    if (!color) {
      color = moduleColor(this.hues.get(tree.module(node)) ?? 0, this.groups[id], dark, hash(tree.name(node)) % 3);
      this.colors.set(key, color);
    }
    return color;
  }

  /** @param {boolean} dark */
  showLegend(dark) {
    if (!this.legend) return;
    if (this.sources.length > 1) {
      const swatches = [-0.3, -0.03, 0, 0.03, 0.3].map((c) => swatch(changeColor(c, dark)));
      const {scaled} = this.facts(false);
      replace(this.legend, el('span', null, 'less than before '), swatches, el('span', null, ' more than before' +
        (scaled ? '; BEFORE is ' + scaled : '')));
      return;
    }
    const keep = this.store.state.mine ? keeps(this.trace, true) : undefined;
    const {flat, total} = flatTotals(this.trace, this.sources[0]?.groups ?? [], keep), {module} = this.trace.functions;
    /** @type {Map<number, {value: number, group: import('./palette.js').CodeGroup}>} */
    const modules = new Map();
    flat.forEach((value, i) => {
      if (value === 0) return;
      const entry = modules.get(module[i]) ?? {value: 0, group: this.groups[i]};
      entry.value += value;
      modules.set(module[i], entry);
    });
    const sorted = [...modules].sort((a, b) => b[1].value - a[1].value).slice(0, maxLegend);
    const chosen = this.store.state.module;
    replace(this.legend, sorted.map(([index, {value, group}]) => {
      const name = this.trace.str(index);
      return el('button', {type: 'button', class: 'legend-item', title: name + ', ' + codeGroups[group].name,
        'aria-pressed': String(chosen !== '' && chosen === name),
        on: {click: () => this.store.set({module: chosen === name ? '' : name})}},
      swatch(moduleColor(this.hues.get(name) ?? 0, group, dark)), el('span', {class: 'legend-name'}, name || 'no module'),
      el('span', {class: 'quiet'}, percent(value, total)));
    }));
  }

  /**
   * @param {Tree} tree
   * @param {{node: number, merged: number, value: number} | null} box
   * @param {boolean} inverted
   * @param {number} x
   * @param {number} y
   */
  showTip(tree, box, inverted, x, y) {
    const {tip} = this;
    if (!tip) return;
    tip.hidden = !box;
    if (!box) return;
    const key = [box.node, box.merged, inverted].join();
    if (this.tipKey !== key) {
      replace(tip, tooltip(tree, box, this.facts(inverted)));
      this.tipKey = key;
    }
    const width = tip.offsetWidth, height = tip.offsetHeight;
    tip.style.left = Math.max(4, Math.min(x + 14, window.innerWidth - width - 4)) + 'px';
    tip.style.top = (y + 18 + height > window.innerHeight ? Math.max(4, y - height - 10) : y + 18) + 'px';
  }

  /**
   * @param {Tree} tree
   * @param {number} node
   * @param {boolean} inverted
   */
  showDetail(tree, node, inverted) {
    this.focused = {tree, node, inverted};
    this.tipKey = '';
    const facts = this.facts(inverted), id = tree.id[node];
    replace(this.detail ?? el('div'),
      el('span', {class: 'flame-text', title: tree.name(node)}, el('b', null, tree.name(node).slice(0, 300)),
        ' ', el('span', {class: 'quiet'}, [tree.module(node), valueText(tree.total[node], tree.total[0], facts.unit),
          changeText(tree, node, facts)].filter((text) => text !== '').join(' · '))),
      id >= 0 && id < this.trace.functions.rows ?
        button('Sandwich', () => this.showSandwich(), {title: 'Callers and callees of this function (s)'}) : null,
      id >= 0 ? button('Copy stack', () => this.copyStack(), {title: 'Copy the stack as text (c)'}) : null);
  }

  showSandwich() {
    const {tree, node} = this.focused, id = tree?.id[node] ?? -1;
    if (id >= 0 && id < this.trace.functions.rows) this.store.set({method: id, layout: 'sandwich'});
    else if (id >= 0 && this.found) this.found.textContent = 'only BEFORE has this function: no sandwich, which is of AFTER';
  }

  async copyStack() {
    const {tree, node, inverted} = this.focused;
    if (!tree) return;
    const copied = await copyText(stackText(tree, node, this.facts(inverted)));
    if (this.found) this.found.textContent = copied ? 'stack copied' : 'the browser does not allow copying';
  }

  fillTable() {
    if (!this.details?.open || !this.table) return;
    replace(this.table, this.shown.map(({tree, inverted}) => flameTable(tree, this.facts(inverted))));
  }
}

/**
 * @param {HTMLButtonElement | undefined} target
 * @param {boolean} pressed
 */
function press(target, pressed) {
  target?.setAttribute('aria-pressed', String(pressed));
}

/** @param {string} color */
function swatch(color) {
  return el('span', {class: 'swatch', style: {'background-color': color}});
}

const emptyText = 'No samples are selected. Choose another kind, or remove a part of the selection.';

/**
 * CreateFlame adds the flame graph to the page.
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {import('./compare.js').Difference | null} diff
 */
export function createFlame(root, store, diff) {
  new FlameView(root, store, diff);
}
