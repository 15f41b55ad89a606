// Creation of elements. Names in traces are untrusted: text becomes text nodes only, never HTML.

/** @typedef {Node | string | number | null | undefined | false} Child */
/**
 * @typedef {{class?: string, on?: Record<string, (event: any) => void>, data?: Record<string, string | number>,
 *   style?: Record<string, string>} & Record<string, unknown>} Props
 */

/**
 * El creates an element. Props are attributes, except class, on (event listeners), data (data- attributes) and style
 * (properties, which a content security policy allows scripts to set). False, null and undefined attributes are absent,
 * true ones are empty. Children are nodes or text.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) setProp(element, name, value);
  append(element, ...children);
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {string} name
 * @param {any} value
 */
function setProp(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name === 'class') {
    element.className = value;
  } else if (name === 'on') {
    for (const [event, listener] of Object.entries(/** @type {Record<string, (event: any) => void>} */ (value))) {
      element.addEventListener(event, listener);
    }
  } else if (name === 'data') {
    for (const [key, text] of Object.entries(value)) element.dataset[key] = String(text);
  } else if (name === 'style') {
    for (const [key, text] of Object.entries(value)) element.style.setProperty(key, String(text));
  } else {
    element.setAttribute(name, value === true ? '' : String(value));
  }
}

/**
 * Append appends nodes and text.
 * @param {Node} parent
 * @param {...(Child | Child[])} children
 */
export function append(parent, ...children) {
  for (const child of children.flat()) {
    if (child === undefined || child === null || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * Replace replaces all children of an element.
 * @param {HTMLElement} parent
 * @param {...(Child | Child[])} children
 */
export function replace(parent, ...children) {
  parent.replaceChildren();
  append(parent, ...children);
}

/**
 * Button creates a button.
 * @param {string} text
 * @param {(event: MouseEvent) => void} click
 * @param {Props} [props]
 */
export function button(text, click, props) {
  return el('button', {type: 'button', ...props, on: {click}}, text);
}

/**
 * Select creates a list of options, one of which is selected.
 * @param {string} label for screen readers and as a tooltip
 * @param {[value: string, text: string][]} options
 * @param {string} value
 * @param {(value: string) => void} change
 */
export function select(label, options, value, change) {
  const list = el('select', {'aria-label': label, title: label, on: {change: () => change(list.value)}},
    options.map(([v, text]) => el('option', {value: v}, text)));
  list.value = value;
  return list;
}

/**
 * Coalesced returns a function that calls draw once before the next picture, however often it is called itself.
 * @param {() => void} draw
 * @returns {() => void}
 */
export function coalesced(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
}

/**
 * FitCanvas gives a canvas the size in CSS pixels and returns its context, scaled to the resolution of the screen.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @returns {CanvasRenderingContext2D}
 */
export function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
  }
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser cannot draw on a canvas');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/**
 * CssColor returns the value of a custom property of the page, such as --text.
 * @param {string} name
 * @returns {string}
 */
export function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/**
 * CopyText copies text to the clipboard. Pages that were opened from a file may lack navigator.clipboard.
 * @param {string} text
 * @returns {Promise<boolean>}
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el('textarea', {class: 'offscreen', 'aria-hidden': 'true'});
    area.value = text;
    document.body.appendChild(area);
    const focused = document.activeElement;
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return copied;
  }
}

/**
 * IsDark reports whether the page is dark.
 * @param {'auto' | 'light' | 'dark'} theme
 */
export function isDark(theme) {
  return theme === 'dark' || (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
}
