// A table that can be sorted, filtered and copied. Long tables show their first rows and how many there are.

import {button, coalesced, copyText, el} from './dom.js';
import {count, group} from './units.js';

/**
 * A Column shows one value of each row. Text columns have no value. unit is part of the title in copied text. share is
 * the length of a bar, from 0 to 1. doubt states why a value says little, or is empty: such values are quiet.
 * @template Row
 * @typedef {{
 *   key: string, title: string, text: (row: Row) => string, value?: (row: Row) => number, unit?: string, help?: string,
 *   share?: (row: Row) => number, wide?: boolean, doubt?: (row: Row) => string
 * }} Column
 */

/**
 * TableOptions describe a table. pick is called when a row is chosen; isPicked marks the chosen rows. doubt states why all
 * values of a row say little.
 * @template Row
 * @typedef {{
 *   caption: string, columns: Column<Row>[], sort: string, ascending?: boolean, one: string, many: string,
 *   pick?: (row: Row) => void, isPicked?: (row: Row) => boolean, hint?: string,
 *   doubt?: (row: Row) => string
 * }} TableOptions
 */

const firstRows = 25;
const moreRows = 250;

/**
 * DataTable is a table of rows in the document.
 * @template Row
 */
export class DataTable {
  /** @param {TableOptions<Row>} options */
  constructor(options) {
    this.options = options;
    this.sort = {key: options.sort, ascending: options.ascending ?? false};
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Row[]} */
    this.shown = [];
    this.limit = firstRows;
    this.redraw = coalesced(() => this.draw());
    this.filter = el('input', {
      type: 'search', class: 'filter', placeholder: 'Filter', 'aria-label': 'Filter ' + options.caption,
      spellcheck: 'false', on: {input: () => this.redraw()},
    });
    this.counted = el('span', {class: 'counted', 'aria-live': 'polite'});
    this.copied = button('Copy as TSV', () => this.copy(), {class: 'small'});
    this.caption = el('caption', {class: 'offscreen'}, options.caption);
    this.head = el('thead');
    this.body = el('tbody');
    this.more = el('div', {class: 'table-more'});
    this.root = el('div', {class: 'table-view'},
      el('div', {class: 'bar'}, this.filter, this.counted, this.copied),
      el('div', {class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': options.caption},
        el('table', {class: 'data'}, this.caption, this.head, this.body)),
      this.more);
    this.drawHead();
  }

  /**
   * setRows replaces all rows.
   * @param {Row[]} rows
   */
  setRows(rows) {
    this.rows = rows;
    this.draw();
  }

  drawHead() {
    const cells = this.options.columns.map((column) => {
      const sorted = this.sort.key === column.key;
      const order = this.sort.ascending ? 'ascending' : 'descending';
      const arrow = this.sort.ascending ? '▲' : '▼';
      const mark = el('span', {class: 'sort-mark', 'aria-hidden': 'true'}, sorted ? arrow : '');
      const head = button(column.title, () => this.sortBy(column), {title: column.help, class: 'sort'});
      head.append(mark);
      return el('th', {scope: 'col', class: classOf(column), 'aria-sort': sorted ? order : 'none'}, head);
    });
    this.head.replaceChildren(el('tr', null, cells));
  }

  /** @param {Column<Row>} column */
  sortBy(column) {
    const same = this.sort.key === column.key;
    this.sort = {key: column.key, ascending: same ? !this.sort.ascending : !column.value};
    const index = this.options.columns.indexOf(column);
    this.drawHead();
    this.head.querySelectorAll('button')[index].focus();
    this.draw();
  }

  /**
   * selectRows returns the rows that match the filter, in the order of the table.
   * @returns {Row[]}
   */
  selectRows() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
    const texts = this.options.columns.filter((column) => !column.value);
    const matches = words.length === 0 ? [...this.rows] : this.rows.filter((row) => {
      const text = texts.map((column) => column.text(row)).join('\n').toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const column = this.options.columns.find((c) => c.key === this.sort.key);
    return column ? sortRows(matches, column, this.sort.ascending) : matches;
  }

  /** draw shows the rows. The focus stays at its place. */
  draw() {
    this.shown = this.selectRows();
    const focused = this.body.contains(document.activeElement)
      ? [...this.body.rows].findIndex((row) => row.contains(document.activeElement)) : -1;
    const visible = this.shown.slice(0, this.limit);
    this.body.replaceChildren(...visible.map((row) => this.rowElement(row)));
    if (focused >= 0) {
      this.body.rows[Math.min(focused, this.body.rows.length - 1)]?.querySelector('button')?.focus();
    }
    this.drawCount(visible.length);
  }

  /** @param {number} visible */
  drawCount(visible) {
    const {one, many} = this.options;
    const all = this.rows.length;
    const filtered = this.shown.length < all ? ` (${group(all)} without the filter)` : '';
    const total = this.shown.length;
    this.counted.textContent = visible < total ? `${group(visible)} of ${count(total, one, many)} shown${filtered}`
      : count(total, one, many) + filtered;
    const rest = total - visible;
    const more = rest <= 0 ? [] : [
      button(`Show ${group(Math.min(moreRows, rest))} more`, () => this.showMore(moreRows), {class: 'small'}),
    ];
    this.more.replaceChildren(...more);
    this.copied.disabled = total === 0;
  }

  /** @param {number} rows */
  showMore(rows) {
    const next = this.limit;
    this.limit += rows;
    this.draw();
    this.body.rows[next]?.querySelector('button')?.focus({preventScroll: true});
  }

  /**
   * @param {Row} row
   * @returns {HTMLTableRowElement}
   */
  rowElement(row) {
    const {columns, pick, isPicked} = this.options;
    const picked = isPicked?.(row) ?? false;
    const doubt = this.options.doubt?.(row) || undefined;
    const line = el('tr', {class: (picked ? 'picked' : '') + (doubt ? ' doubtful' : ''), title: doubt});
    columns.forEach((column, i) => {
      const text = column.text(row);
      const props = {type: 'button', class: 'pick', 'aria-pressed': String(picked), title: text};
      const shown = i === 0 && pick ? el('button', props, text || '(none)') : text;
      const cell = i === 0 ? el('th', {scope: 'row', class: classOf(column)}, shown)
        : this.valueCell(column, row, shown);
      if (column.share) {
        const width = Math.round(1000 * Math.min(1, Math.max(0, column.share(row)))) / 10;
        cell.append(el('span', {class: 'cell-bar', style: {width: width + '%'}}));
      }
      line.append(cell);
    });
    if (pick) {
      line.classList.add('pickable');
      line.addEventListener('click', () => {
        if (document.getSelection()?.isCollapsed ?? true) {
          pick(row);
        }
      });
    }
    return line;
  }

  /**
   * @param {Column<Row>} column
   * @param {Row} row
   * @param {string | HTMLElement} shown
   * @returns {HTMLTableCellElement}
   */
  valueCell(column, row, shown) {
    const doubt = column.doubt?.(row) || undefined;
    const title = doubt ?? (column.value ? undefined : column.text(row));
    return el('td', {class: classOf(column) + (doubt ? ' doubtful' : ''), title}, shown);
  }

  /** copy puts all rows that match the filter on the clipboard. */
  async copy() {
    const done = await copyText(tableText(this.options.columns, this.shown));
    this.copied.textContent = done ? 'Copied' : 'Not copied';
    setTimeout(() => {
      this.copied.textContent = 'Copy as TSV';
    }, 1500);
  }
}

/**
 * @template Row
 * @param {Column<Row>} column
 * @returns {string}
 */
function classOf(column) {
  return column.value ? 'number' : column.wide ? 'text wide' : 'text';
}

/**
 * sortRows sorts rows by a column. The sort is stable, and rows without a number are last.
 * @template Row
 * @param {Row[]} rows
 * @param {Column<Row>} column
 * @param {boolean} ascending
 * @returns {Row[]}
 */
export function sortRows(rows, column, ascending) {
  const sign = ascending ? 1 : -1;
  const {value, text} = column;
  if (value) {
    const keyed = rows.map((row) => ({row, key: value(row)}));
    keyed.sort((a, b) => Number(Number.isNaN(a.key)) - Number(Number.isNaN(b.key)) || sign * (a.key - b.key) || 0);
    return keyed.map(({row}) => row);
  }
  const keyed = rows.map((row) => ({row, key: text(row)}));
  const {compare} = new Intl.Collator('en', {numeric: true});
  return keyed.sort((a, b) => sign * compare(a.key, b.key)).map(({row}) => row);
}

/**
 * tableText returns a table as tab-separated text. Numbers have all their digits, and shares are fractions. Texts that a
 * spreadsheet would read as a formula begin with an apostrophe.
 * @template Row
 * @param {Column<Row>[]} columns
 * @param {Row[]} rows
 * @returns {string}
 */
export function tableText(columns, rows) {
  const lines = [columns.map((c) => (c.unit ? `${c.title} (${c.unit})` : c.title)).join('\t')];
  for (const row of rows) {
    lines.push(columns.map((column) => {
      if (column.value) {
        const value = column.share ? column.share(row) : column.value(row);
        return Number.isNaN(value) ? '' : String(value);
      }
      const text = column.text(row).replace(/[\t\r\n]+/g, ' ');
      return /^[=+\-@]/.test(text) ? "'" + text : text;
    }).join('\t'));
  }
  return lines.join('\n') + '\n';
}
