// A flame graph on a canvas: drawing, zoom, pan, and the focused frame, by pointer and by keys.
import {coalesced, cssColor, el, fitCanvas} from './dom.js';
import {firstAfter} from './model.js';
import {count} from './units.js';
import {layOut, Layout, frameHeight, shortName, viewOf} from './flame-layout.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./flame-layout.js').View} View */
/**
 * Picture is what a canvas shows. Lit nodes keep their color while others fade, if there are lit nodes at all.
 * @typedef {{tree: Tree, values: number[], color: (node: number, dark: boolean) => string, label: string,
 *   lit: ((node: number) => boolean) | null}} Picture
 */
/**
 * @typedef {{describe: (picture: Picture, node: number) => string,
 *   hover: (picture: Picture, box: {node: number, merged: number, value: number} | null, x: number, y: number) => void,
 *   focus: (picture: Picture, node: number) => void, command: (name: string, node: number) => boolean}} Handlers
 */

const font = '11px ui-sans-serif, system-ui, "Segoe UI", sans-serif';
const maxZoom = 1e-9;
const maxPrintedRows = 40;

export class FlameCanvas {
  /**
   * @param {Handlers} handlers
   * @param {{up: boolean, name: string}} options up draws the root at the bottom
   */
  constructor(handlers, options) {
    this.handlers = handlers;
    this.up = options.up;
    this.live = el('div', {class: 'offscreen', 'aria-live': 'polite'});
    this.canvas = el('canvas', {class: 'flame-canvas', tabindex: '0', role: 'application',
      'aria-roledescription': 'flame graph', 'aria-label': options.name + '. Arrow keys move between frames, Enter ' +
      'zooms, Escape shows all. The table below has the same contents.'});
    this.space = el('div', {class: 'flame-space'}, this.canvas);
    this.scroll = el('div', {class: 'flame-scroll'}, this.space);
    this.notPrinted = el('p', {class: 'print-note'});
    this.root = el('div', {class: 'flame-graph'}, this.scroll, this.notPrinted, this.live);
    /** @type {Picture | null} */
    this.picture = null;
    /** @type {View} */
    this.view = {from: 0, to: 1};
    this.layout = new Layout();
    this.layoutKey = '';
    this.focused = 0;
    this.hovered = -1;
    this.dark = false;
    this.charWidth = 0;
    this.printing = false;
    this.drawnSize = ''; // The observer of the size also reports the size at which the first picture was drawn.
    this.animation = 0;
    this.redraw = coalesced(() => this.draw());
    this.listen();
  }

  listen() {
    new ResizeObserver(() => {
      if (this.drawnSize !== this.scroll.clientWidth + 'x' + this.scroll.clientHeight) this.redraw();
    }).observe(this.scroll);
    window.addEventListener('beforeprint', () => this.print(true));
    window.addEventListener('afterprint', () => this.print(false));
    this.scroll.addEventListener('scroll', () => this.redraw());
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.canvas.addEventListener('focus', () => this.redraw());
    this.canvas.addEventListener('blur', () => this.redraw());
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    this.canvas.addEventListener('pointerleave', () => this.hover(-1, 0, 0));
    this.canvas.addEventListener('pointerdown', (event) => this.press(event));
    this.canvas.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
  }

  /**
   * Show shows a picture. The view and the focused node stay if the tree is the same.
   * @param {Picture} picture
   * @param {boolean} dark
   */
  show(picture, dark) {
    if (this.picture?.tree !== picture.tree) {
      this.view = {from: 0, to: 1};
      this.focused = 0;
      this.hover(-1, 0, 0);
      cancelAnimationFrame(this.animation);
      if (this.up) requestAnimationFrame(() => (this.scroll.scrollTop = this.scroll.scrollHeight));
    }
    this.picture = picture;
    this.dark = dark;
    this.layoutKey = '';
    this.redraw();
  }

  /** Width returns the width in pixels. */
  get width() {
    return this.scroll.clientWidth;
  }

  /**
   * Print draws all rows for paper, up to a limit, or the visible ones again.
   * @param {boolean} printing
   */
  print(printing) {
    this.printing = printing;
    this.draw();
    const omitted = this.layout.rows - this.rows;
    this.notPrinted.textContent = printing && omitted > 0 ? count(omitted, 'further row is', 'further rows are') +
      ' not printed.' : '';
  }

  /** Rows returns the number of rows that can be shown. */
  get rows() {
    const rows = Math.max(1, this.layout.rows);
    return this.printing ? Math.min(maxPrintedRows, rows) : rows;
  }

  updateLayout() {
    const key = [this.view.from, this.view.to, this.width].join();
    if (!this.picture || key === this.layoutKey) return;
    this.layoutKey = key;
    this.layout = layOut(this.picture.tree, this.picture.values, this.view, this.width);
    this.space.style.height = Math.max(1, this.layout.rows) * frameHeight + 'px';
  }

  /** Draw draws the visible rows. */
  draw() {
    if (!this.picture || this.width === 0) return;
    this.updateLayout();
    const all = this.rows * frameHeight, height = this.printing ? all : Math.min(this.scroll.clientHeight, all);
    this.drawnSize = this.width + 'x' + this.scroll.clientHeight;
    const context = fitCanvas(this.canvas, this.width, height);
    context.fillStyle = this.printing ? '#fff' : cssColor('--panel');
    context.fillRect(0, 0, this.width, height);
    context.font = font;
    context.textBaseline = 'middle';
    this.charWidth ||= context.measureText('abcdefghijklmnopqrstuvwxyzABCDEFGH.').width / 35;
    const top = !this.printing ? this.scroll.scrollTop : this.up ? this.rowTop(this.rows - 1) : 0;
    const a = this.rowAt(top), b = this.rowAt(top + height);
    const last = Math.min((this.printing ? this.rows : this.layout.rows) - 1, Math.max(a, b));
    for (let row = Math.max(0, Math.min(a, b)); row <= last; row++) this.drawRow(context, row, this.rowTop(row) - top);
    if (!this.printing) this.drawFocus(context, top);
  }

  /** @param {number} y in the space of all rows */
  rowAt(y) {
    const row = Math.floor(y / frameHeight);
    return this.up ? this.layout.rows - 1 - row : row;
  }

  /** @param {number} row */
  rowTop(row) {
    return (this.up ? this.layout.rows - 1 - row : row) * frameHeight;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} row
   * @param {number} y
   */
  drawRow(context, row, y) {
    const {layout, picture, width} = this, dark = this.dark && !this.printing; // Paper is light.
    if (!picture) return;
    const text = dark ? '#f1f3f5' : '#14181d', fadedText = dark ? '#9aa1ab' : '#707780';
    const faded = dark ? '#2b2f36' : '#eceef1', rest = dark ? '#4a5059' : '#c9ced6';
    for (let i = layout.rowStart[row]; i < layout.rowStart[row + 1]; i++) {
      const left = Math.max(0, layout.x[i]), right = Math.min(width, layout.x[i] + layout.width[i]);
      const node = layout.node[i], w = right - left;
      const lit = !picture.lit || (layout.merged[i] === 0 && picture.lit(node));
      context.fillStyle = !lit ? faded : layout.merged[i] > 0 ? rest : picture.color(node, dark);
      context.fillRect(left, y, w > 2.5 ? w - 0.7 : w, frameHeight - 1);
      if (w < 24 || layout.merged[i] > 0) continue;
      const name = shortName(picture.tree.name(node), Math.floor((w - 6) / this.charWidth));
      if (name === '') continue;
      context.fillStyle = lit ? text : fadedText;
      context.fillText(name, left + 3, y + frameHeight / 2, w - 5);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} top
   */
  drawFocus(context, top) {
    if (!this.picture) return;
    const boxes = [[this.hovered, 1]];
    if (document.activeElement === this.canvas) boxes.push([this.layout.find(this.picture.tree, this.focused), 2]);
    context.strokeStyle = cssColor('--text');
    for (const [box, line] of boxes) {
      if (box < 0) continue;
      const left = Math.max(0, this.layout.x[box]);
      const right = Math.min(this.width, this.layout.x[box] + this.layout.width[box]);
      context.lineWidth = line;
      const y = this.rowTop(this.rowOf(box)) - top;
      context.strokeRect(left + line / 2, y + line / 2, Math.max(1, right - left - line), frameHeight - 1 - line);
    }
  }

  /** @param {number} box */
  rowOf(box) {
    return firstAfter(this.layout.rowStart, box, 1, this.layout.rows) - 1;
  }

  /**
   * BoxAt returns the index of the box below the pointer, or -1.
   * @param {MouseEvent} event
   */
  boxAt(event) {
    const rect = this.canvas.getBoundingClientRect();
    const y = event.clientY - rect.top + this.scroll.scrollTop;
    return this.layout.at(this.rowAt(y), event.clientX - rect.left);
  }

  /** @param {PointerEvent} event */
  move(event) {
    this.hover(this.boxAt(event), event.clientX, event.clientY);
  }

  /**
   * @param {number} box
   * @param {number} x
   * @param {number} y
   */
  hover(box, x, y) {
    if (this.picture) {
      const {node, merged, value} = this.layout;
      const found = box < 0 ? null : {node: node[box], merged: merged[box], value: value[box]};
      this.handlers.hover(this.picture, found, x, y);
    }
    if (box === this.hovered) return;
    this.hovered = box;
    this.redraw();
  }

  /**
   * Press pans while the pointer moves, and zooms to a frame if it does not move.
   * @param {PointerEvent} event
   */
  press(event) {
    if (event.button !== 0) return;
    const begin = {...this.view}, x = event.clientX, y = event.clientY, top = this.scroll.scrollTop;
    let moved = false;
    /** @param {PointerEvent} e */
    const drag = (e) => {
      moved ||= Math.abs(e.clientX - x) + Math.abs(e.clientY - y) > 4;
      if (!moved || event.pointerType === 'touch') return;
      const shift = (x - e.clientX) / this.width * (begin.to - begin.from);
      this.setView(begin.from + shift, begin.to + shift);
      this.scroll.scrollTop = top + y - e.clientY;
    };
    const end = () => {
      this.canvas.removeEventListener('pointermove', drag);
      this.canvas.removeEventListener('pointerup', release);
      this.canvas.removeEventListener('pointercancel', end);
    };
    /** @param {PointerEvent} e */
    const release = (e) => {
      end();
      const box = this.boxAt(e);
      if (moved || box < 0) return;
      this.focusNode(this.layout.node[box]);
      this.zoomTo(this.layout.node[box]);
    };
    this.canvas.addEventListener('pointermove', drag);
    this.canvas.addEventListener('pointerup', release);
    this.canvas.addEventListener('pointercancel', end);
    if (event.pointerType !== 'touch') this.canvas.setPointerCapture(event.pointerId);
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      event.preventDefault();
      const rect = this.canvas.getBoundingClientRect();
      this.zoomBy(Math.exp(event.deltaY * 0.003), (event.clientX - rect.left) / this.width);
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      event.preventDefault();
      const shift = (event.deltaX || event.deltaY) / this.width * (this.view.to - this.view.from);
      this.setView(this.view.from + shift, this.view.to + shift);
    }
  }

  /**
   * SetView shows a part of the root, clamped to the root.
   * @param {number} from
   * @param {number} to
   */
  setView(from, to) {
    const size = Math.min(1, Math.max(maxZoom, to - from)), begin = Math.min(1 - size, Math.max(0, from));
    this.view = {from: begin, to: begin + size};
    this.redraw();
  }

  /**
   * ZoomBy multiplies the shown part of the root by a factor, around a position from 0 to 1.
   * @param {number} factor
   * @param {number} [at]
   */
  zoomBy(factor, at = 0.5) {
    const size = this.view.to - this.view.from, next = Math.min(1, size * factor);
    const from = this.view.from + (size - next) * at;
    this.setView(from, from + next);
  }

  /**
   * ZoomTo gives a node the full width.
   * @param {number} node
   */
  zoomTo(node) {
    if (!this.picture) return;
    const target = viewOf(this.picture.tree, this.picture.values, node), begin = {...this.view};
    cancelAnimationFrame(this.animation);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.setView(target.from, target.to);
      return;
    }
    const started = performance.now();
    const step = () => {
      const part = Math.min(1, (performance.now() - started) / 140), eased = 1 - (1 - part) ** 3;
      this.setView(begin.from + (target.from - begin.from) * eased, begin.to + (target.to - begin.to) * eased);
      if (part < 1) this.animation = requestAnimationFrame(step);
    };
    step();
  }

  /** Reset shows the whole root. */
  reset() {
    this.focusNode(0);
    this.zoomTo(0);
  }

  /**
   * FocusNode makes a node the focused one, and describes it to screen readers.
   * @param {number} node
   */
  focusNode(node) {
    if (!this.picture) return;
    this.focused = node;
    this.live.textContent = this.handlers.describe(this.picture, node);
    this.handlers.focus(this.picture, node);
    this.reveal(node);
    this.redraw();
  }

  /**
   * Reveal scrolls and pans so that a node is visible.
   * @param {number} node
   */
  reveal(node) {
    if (!this.picture) return;
    const {tree, values} = this.picture;
    const y = this.rowTop(Math.min(tree.depth[node], Math.max(0, this.layout.rows - 1)));
    if (y < this.scroll.scrollTop) this.scroll.scrollTop = y;
    const bottom = y + frameHeight - this.scroll.clientHeight;
    if (bottom > this.scroll.scrollTop) this.scroll.scrollTop = bottom;
    const target = viewOf(tree, values, node);
    if (target.to <= this.view.from || target.from >= this.view.to) {
      const size = this.view.to - this.view.from, from = (target.from + target.to - size) / 2;
      this.setView(from, from + size);
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.picture || event.ctrlKey || event.metaKey || event.altKey) return;
    const {tree} = this.picture, node = this.focused;
    const actions = this.actions(tree, node, event.shiftKey);
    const flipped = new Map([['ArrowUp', 'ArrowDown'], ['ArrowDown', 'ArrowUp']]);
    const name = (this.up && flipped.get(event.key)) || event.key;
    const action = Object.hasOwn(actions, name) ? actions[name] : null;
    if (action) action();
    else if (!this.handlers.command(event.key, node)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * @param {Tree} tree
   * @param {number} node
   * @param {boolean} shift
   * @returns {Record<string, () => void>}
   */
  actions(tree, node, shift) {
    const size = this.view.to - this.view.from;
    /** @param {number} step */
    const sideways = (step) => (shift ? this.setView(this.view.from + step * size / 8, this.view.to + step * size / 8) :
      this.neighbor(step));
    return {
      ArrowDown: () => this.focusNode(tree.children(node)[0] ?? node),
      ArrowUp: () => this.focusNode(Math.max(0, tree.parent[node])),
      ArrowLeft: () => sideways(-1),
      ArrowRight: () => sideways(1),
      Home: () => this.focusNode(0),
      Enter: () => this.zoomTo(node),
      Backspace: () => {
        this.focusNode(Math.max(0, tree.parent[node]));
        this.zoomTo(this.focused);
      },
      Escape: () => this.reset(),
      '+': () => this.zoomBy(1 / 1.5),
      '=': () => this.zoomBy(1 / 1.5),
      '-': () => this.zoomBy(1.5),
    };
  }

  /**
   * Neighbor focuses the frame to the left or to the right of the focused one.
   * @param {number} step
   */
  neighbor(step) {
    if (!this.picture) return;
    const {tree, values} = this.picture, depth = tree.depth[this.focused];
    const siblings = tree.children(Math.max(0, tree.parent[this.focused])).filter((n) => values[n] > 0);
    const at = siblings.indexOf(this.focused) + step;
    if (this.focused > 0 && siblings[at] !== undefined) {
      this.focusNode(siblings[at]);
      return;
    }
    this.updateLayout();
    let box = this.layout.find(tree, this.focused) + step;
    const [first, end] = [this.layout.rowStart[depth], this.layout.rowStart[depth + 1]];
    while (box >= first && box < end && this.layout.merged[box] > 0) box += step;
    if (box >= first && box < end) this.focusNode(this.layout.node[box]);
  }
}
