// Pointer, wheel and keys of the timeline of threads.

/** @typedef {import('./threads.js').ThreadsView} ThreadsView */

/** Movements of the pointer of fewer pixels are clicks. */
const clickDistance = 4;

/** ThreadsInput moves a timeline as the user asks for. */
export class ThreadsInput {
  /** @param {ThreadsView} view */
  constructor(view) {
    this.view = view;
    const {canvas} = view;
    /** @type {{x: number, y: number, from: number, to: number, scroll: number, range: boolean, moved: boolean} | null} */
    this.drag = null;
    /** The pointers that touch the canvas, and their places. @type {Map<number, number>} */
    this.touches = new Map();
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', (event) => this.cancel(event));
    canvas.addEventListener('pointerleave', () => view.showTip(null, 0, 0));
    canvas.addEventListener('dblclick', (event) => this.doubleClick(event));
    canvas.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  /**
   * placeOf returns the place of an event on the canvas.
   * @param {MouseEvent} event
   */
  placeOf(event) {
    const box = this.view.canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0) {
      return;
    }
    const {x, y} = this.placeOf(event);
    const {from, to} = this.view.view;
    this.touches.set(event.pointerId, x);
    this.drag = {x, y, from, to, scroll: this.view.scroller.scrollTop, range: event.shiftKey, moved: false};
    this.view.canvas.setPointerCapture(event.pointerId);
    this.view.showTip(null, 0, 0);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const {x, y} = this.placeOf(event);
    const {view, drag} = this;
    if (!drag) {
      const hit = view.hit(x, y);
      view.canvas.style.cursor = hit && (hit.slice >= 0 || hit.sample >= 0 || x < view.view.left) ? 'pointer' : 'grab';
      view.showTip(x < view.view.left ? null : hit, event.clientX, event.clientY);
      return;
    }
    if (this.touches.size === 2) {
      this.pinch(event.pointerId, x);
      return;
    }
    drag.moved ||= Math.abs(x - drag.x) > clickDistance || Math.abs(y - drag.y) > clickDistance;
    if (!drag.moved) {
      return;
    }
    if (drag.range) {
      const [a, b] = [view.timeAt(drag.x), view.timeAt(x)];
      view.drag({from: Math.min(a, b), to: Math.max(a, b)});
      return;
    }
    view.canvas.style.cursor = 'grabbing';
    const by = (drag.x - x) * (drag.to - drag.from) / view.view.width;
    view.setView(drag.from + by, drag.to + by);
    view.scroller.scrollTop = drag.scroll + drag.y - y;
  }

  /**
   * pinch zooms by two fingers.
   * @param {number} pointer
   * @param {number} x
   */
  pinch(pointer, x) {
    const before = [...this.touches.values()];
    this.touches.set(pointer, x);
    const after = [...this.touches.values()];
    const {left, width} = this.view.view;
    const factor = Math.abs(before[0] - before[1]) / Math.max(1, Math.abs(after[0] - after[1]));
    this.view.zoom(Math.min(4, Math.max(0.25, factor)), ((after[0] + after[1]) / 2 - left) / width);
    if (this.drag) {
      this.drag.moved = true;
    }
  }

  /** @param {PointerEvent} event */
  up(event) {
    const {drag, view} = this;
    this.touches.delete(event.pointerId);
    if (!drag || this.touches.size > 0) {
      return;
    }
    this.drag = null;
    const range = view.dragged;
    view.drag(null);
    if (drag.range && range) {
      view.store.set(view.rounded(range.from, range.to));
    } else if (!drag.moved) {
      this.click(event);
    }
  }

  /** @param {PointerEvent} event */
  cancel(event) {
    this.touches.delete(event.pointerId);
    this.drag = null;
    this.view.drag(null);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const {x, y} = this.placeOf(event);
    const {view} = this;
    const hit = view.hit(x, y);
    view.choose(hit);
    if (hit && (x < view.view.left || hit.slice >= view.trace.intervals.rows)) {
      view.select();
    }
  }

  /** @param {MouseEvent} event */
  doubleClick(event) {
    const {x, y} = this.placeOf(event);
    const hit = this.view.hit(x, y);
    if (hit && hit.slice >= 0) {
      this.view.choose(hit);
      this.view.zoomToFocus();
    } else {
      this.view.showAll();
    }
  }

  /**
   * wheel zooms if the timeline has the focus or Ctrl is pressed, so that the page can be scrolled over it. Horizontal
   * movements, or Shift, move in time.
   * @param {WheelEvent} event
   */
  wheel(event) {
    const {view} = this;
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const across = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0;
    if (across !== 0) {
      event.preventDefault();
      view.pan(across * unit / view.view.width);
    } else if (event.ctrlKey || event.metaKey || document.activeElement === view.canvas) {
      event.preventDefault();
      const {x} = this.placeOf(event);
      const at = Math.min(1, Math.max(0, (x - view.view.left) / view.view.width));
      view.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * unit * 0.002))), at);
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const {view} = this;
    const middle = () => this.middle();
    const actions = new Map([
      ['w', () => view.zoom(0.7, middle())], ['s', () => view.zoom(1 / 0.7, middle())], ['+', () => view.zoom(0.7, middle())],
      ['-', () => view.zoom(1 / 0.7, middle())], ['a', () => view.pan(-0.15)], ['d', () => view.pan(0.15)],
      ['arrowleft', () => view.pan(-0.15)], ['arrowright', () => view.pan(0.15)],
      ['arrowup', () => view.moveLane(-1)], ['arrowdown', () => view.moveLane(1)],
      ['n', () => view.moveSlice(1)], ['p', () => view.moveSlice(-1)], ['enter', () => view.select()],
      ['f', () => view.zoomToFocus()], ['r', () => view.selectView()], ['escape', () => this.escape()],
    ]);
    const action = actions.get(event.key.toLowerCase());
    if (action) {
      event.preventDefault();
      event.stopPropagation();
      action();
    }
  }

  /** middle returns where keys zoom: at the focus, if it is visible, or else in the middle. */
  middle() {
    const {focus, view, trace} = this.view;
    if (!focus || focus.slice < 0) {
      return 0.5;
    }
    const n = trace.intervals.rows;
    const time = focus.slice < n ? trace.intervals.time[focus.slice] : trace.spans.time[focus.slice - n];
    const at = (time - view.from) / (view.to - view.from);
    return at >= 0 && at <= 1 ? at : 0.5;
  }

  /** escape shows everything, or leaves the focus first. */
  escape() {
    if (this.view.focus) {
      this.view.choose(null);
    } else {
      this.view.showAll();
    }
  }
}
