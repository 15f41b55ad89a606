// Decoding of page data, version 1: a header in JSON, tables of columns, and a rest. docs/html.md describes the format.

/** @typedef {{at: number, length: number, type: string}} ColumnInfo */
/** @typedef {{rows: number, columns: Record<string, ColumnInfo>}} TableInfo */
/** @typedef {{what: string, command?: string}} Ability */
/** @typedef {{type: string, unit: string, error?: number}} ValueType */
/**
 * @typedef {{name: string, doc: string, one: string, many: string, bin_ns: number, long_ns: number,
 *   values: ValueType[], main: number,
 *   estimated: boolean}} KindInfo
 */
/**
 * @typedef {{process: number, provider: string, name: string, title: string, unit: string, kind: string,
 *   statistic: string, tags: string}} SeriesInfo
 */
/**
 * @typedef {{name: string, format: string, program: string, command: string, runtime: string, machine: string,
 *   start: string, start_ns: string, duration_ns: number, events: number, lost: number, incomplete: boolean,
 *   links: string, notes: string[], can: Ability[], cannot: Ability[]}} TraceInfo
 */
/**
 * @typedef {{version: number, generator: string, strings: string[], trace: TraceInfo, kinds: KindInfo[],
 *   series: SeriesInfo[], tables: Record<string, TableInfo>}} Header
 */

export const pageMagic = 'ntcpage1';

/** Data is a decoded header and the tables, whose columns are decoded when they are first used. */
export class Data {
  /**
   * @param {Header} header
   * @param {Uint8Array} columns the bytes after the header
   */
  constructor(header, columns) {
    this.header = header;
    /** @type {{at: number, bytes: Uint8Array}[]} columns of the data and of its rest; a column is in one of them */
    this.pieces = [{at: 0, bytes: columns}];
    /** @type {Map<string, Table>} */
    this.tables = new Map();
  }

  /**
   * AddRest adds the columns and the strings of the rest.
   * @param {Uint8Array} rest
   */
  addRest(rest) {
    const {json, columns} = readPiece(rest, 0, 'rest of the page data');
    if (!Array.isArray(json)) throw new Error('rest of the page data: want a list of strings');
    for (const text of json) this.header.strings.push(String(text));
    const last = this.pieces[this.pieces.length - 1];
    this.pieces.push({at: last.at + last.bytes.length, bytes: columns});
  }

  /**
   * Bytes returns the bytes of a column, or null if they are outside of the data that has been read.
   * @param {ColumnInfo} column
   */
  bytes({at, length}) {
    for (const piece of this.pieces) {
      const begin = at - piece.at;
      if (begin >= 0 && length >= 0 && begin + length <= piece.bytes.length) return piece.bytes.subarray(begin, begin + length);
    }
    return null;
  }

  /**
   * Table returns a table. A table that the data lacks has no rows.
   * @param {string} name
   * @returns {Table}
   */
  table(name) {
    let table = this.tables.get(name);
    if (!table) {
      const info = Object.hasOwn(this.header.tables, name) ? this.header.tables[name] : {rows: 0, columns: {}};
      table = new Table(name, info, this);
      this.tables.set(name, table);
    }
    return table;
  }
}

/** Table decodes the columns of one table. */
export class Table {
  /**
   * @param {string} name
   * @param {TableInfo} info
   * @param {Data} data
   */
  constructor(name, info, data) {
    this.name = name;
    this.info = info;
    this.data = data;
    this.rows = info.rows;
    /** @type {Map<string, Float64Array | Int32Array>} */
    this.cache = new Map();
  }

  /**
   * Has reports whether the table has a column.
   * @param {string} column
   */
  has(column) {
    return Object.hasOwn(this.info.columns, column);
  }

  /**
   * Numbers returns a column of times, durations or values. The rows of an absent column have the value absent.
   * @param {string} column
   * @param {number} [absent]
   * @returns {Float64Array}
   */
  numbers(column, absent = 0) {
    const key = 'numbers ' + column;
    let out = /** @type {Float64Array | undefined} */ (this.cache.get(key));
    if (!out) {
      out = new Float64Array(this.rows);
      this.fill(column, out, absent);
      this.cache.set(key, out);
    }
    return out;
  }

  /**
   * Indexes returns a column of references, indexes of strings and other small integers.
   * @param {string} column
   * @param {number} [absent]
   * @returns {Int32Array}
   */
  indexes(column, absent = 0) {
    const key = 'indexes ' + column;
    let out = /** @type {Int32Array | undefined} */ (this.cache.get(key));
    if (!out) {
      out = new Int32Array(this.rows);
      this.fill(column, out, absent);
      this.cache.set(key, out);
    }
    return out;
  }

  /**
   * @param {string} column
   * @param {Float64Array | Int32Array} out
   * @param {number} absent
   */
  fill(column, out, absent) {
    if (!this.has(column)) {
      out.fill(absent);
      return;
    }
    const info = this.info.columns[column], bytes = this.data.bytes(info);
    if (!bytes) throw new Error(`column ${column} of table ${this.name}: outside of the data`);
    const complete = decodeColumn(bytes, info.type, out);
    if (!complete) throw new Error(`column ${column} of table ${this.name}: want ${this.rows} rows, got other data`);
  }
}

/**
 * DecodeColumn decodes the rows of a column into out. It returns false if the bytes do not have exactly these rows.
 * @param {Uint8Array} bytes
 * @param {string} type
 * @param {Float64Array | Int32Array} out
 * @returns {boolean}
 */
export function decodeColumn(bytes, type, out) {
  if (type === 'float') {
    if (bytes.length !== out.length * 8) return false;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let i = 0; i < out.length; i++) out[i] = view.getFloat64(i * 8, true);
    return true;
  }
  if (type === 'int') return decodeVarints(bytes, out) === bytes.length;
  if (type !== 'delta') return false;
  const end = decodeVarints(bytes, out);
  return addDifferences(bytes, out) && end === bytes.length;
}

/**
 * DecodeVarints decodes zigzag LEB128 varints of at most 64 bits and returns the offset after the last one, or -1.
 * @param {Uint8Array} bytes
 * @param {Float64Array | Int32Array} out
 * @returns {number}
 */
function decodeVarints(bytes, out) {
  let at = 0;
  for (let i = 0; i < out.length; i++) {
    let byte = bytes[at++];
    if (byte < 0x80) {
      out[i] = (byte >>> 1) ^ -(byte & 1);
      continue;
    }
    let bits = byte & 0x7f, shift = 7;
    const begin = at - 1;
    do {
      byte = bytes[at++];
      if (byte === undefined) return -1;
      if (shift < 28) bits |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80 && shift < 70);
    if (byte >= 0x80) return -1;
    out[i] = shift <= 28 ? (bits >>> 1) ^ -(bits & 1) : Number(exactVarint(bytes, begin));
  }
  return at > bytes.length ? -1 : at;
}

/**
 * ExactVarint decodes the zigzag varint that begins at an offset.
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {bigint}
 */
function exactVarint(bytes, at) {
  let low = 0, factor = 1, i = at;
  for (; bytes[i] >= 0x80 && i < at + 6; i++, factor *= 128) low += (bytes[i] & 0x7f) * factor;
  if (bytes[i] < 0x80) {
    low += bytes[i] * factor; // At most 49 bits: exact in a double.
    return BigInt(low % 2 === 1 ? -(low + 1) / 2 : low / 2);
  }
  let bits = 0n, shift = 0n;
  for (i = at; ; i++, shift += 7n) {
    bits |= BigInt(bytes[i] & 0x7f) << shift;
    if (bytes[i] < 0x80) break;
  }
  bits = BigInt.asUintN(64, bits);
  return (bits >> 1n) ^ -(bits & 1n);
}

/**
 * AddDifferences replaces differences by values. Sums beyond 2^53 are added up as integers of any size, so that
 * rounding errors do not add up.
 * @param {Uint8Array} bytes
 * @param {Float64Array | Int32Array} out
 * @returns {boolean}
 */
function addDifferences(bytes, out) {
  let sum = 0;
  for (let i = 0; i < out.length; i++) {
    sum += out[i];
    if (!Number.isSafeInteger(sum)) return addExactDifferences(bytes, out);
    out[i] = sum;
  }
  return true;
}

/**
 * @param {Uint8Array} bytes
 * @param {Float64Array | Int32Array} out
 * @returns {boolean}
 */
function addExactDifferences(bytes, out) {
  let at = 0, sum = 0n;
  for (let i = 0; i < out.length; i++) {
    if (at >= bytes.length) return false;
    sum += exactVarint(bytes, at);
    while (bytes[at] >= 0x80) at++;
    at++;
    out[i] = Number(sum);
  }
  return true;
}

/**
 * Decode decodes decompressed page data. The error of malformed data says what is wrong with it.
 * @param {Uint8Array} bytes
 * @returns {Data}
 */
export function decode(bytes) {
  const magic = String.fromCharCode(...bytes.subarray(0, pageMagic.length));
  if (magic !== pageMagic) throw new Error('not page data: want ' + pageMagic + ' at byte 0');
  const {json, columns} = readPiece(bytes, pageMagic.length, 'page data');
  const raw = /** @type {Partial<Header>} */ (json);
  if (raw.version !== 1) throw new Error('page data has version ' + raw.version + ', want 1');
  return new Data(withDefaults(raw), columns);
}

/**
 * ReadPiece reads a length, JSON of this length and the columns after it.
 * @param {Uint8Array} bytes
 * @param {number} at of the length
 * @param {string} what
 * @returns {{json: any, columns: Uint8Array}}
 */
function readPiece(bytes, at, what) {
  const begin = at + 4;
  if (bytes.length < begin) throw new Error(`truncated ${what}: no header`);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
  if (begin + length > bytes.length) throw new Error(`truncated ${what}: the header has ${length} bytes`);
  const end = begin + length;
  return {json: JSON.parse(new TextDecoder().decode(bytes.subarray(begin, end))), columns: bytes.subarray(end)};
}

/**
 * @param {Partial<Header>} raw
 * @returns {Header}
 */
function withDefaults(raw) {
  /** @type {TraceInfo} */
  const trace = {
    name: '', format: '', program: '', command: '', runtime: '', machine: '', start: '', start_ns: '0',
    duration_ns: 0, events: 0, lost: 0, incomplete: false, links: '', ...raw.trace,
    notes: raw.trace?.notes ?? [], can: raw.trace?.can ?? [], cannot: raw.trace?.cannot ?? [],
  };
  /** @type {KindInfo[]} */
  const kinds = (raw.kinds ?? []).map((k) => (
    {...k, doc: k.doc ?? '', bin_ns: k.bin_ns ?? 0, long_ns: k.long_ns ?? 0, main: k.main ?? 0, values: k.values ?? []}));
  return {
    version: 1, generator: raw.generator ?? '', strings: raw.strings ?? [''], trace, kinds,
    series: raw.series ?? [], tables: raw.tables ?? {},
  };
}

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
function fromBase64(text) {
  const native = /** @type {{fromBase64?: (text: string) => Uint8Array<ArrayBuffer>}} */ (/** @type {any} */ (Uint8Array));
  if (native.fromBase64) return native.fromBase64(text);
  const binary = atob(text), out = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) out[i] = binary.charCodeAt(i);
  return out;
}

/**
 * Decompress decodes base64 and gzip.
 * @param {string} base64
 * @returns {Promise<Uint8Array>}
 */
export async function decompress(base64) {
  if (typeof DecompressionStream === 'undefined') {
    throw new Error('this browser cannot decompress the data (it has no DecompressionStream); ' +
      'open the page in Chromium 80, Firefox 113, Safari 16.4 or a later version');
  }
  const compressed = new ReadableStream({start: (controller) => {
    controller.enqueue(fromBase64(base64.trim()));
    controller.close();
  }});
  return readAll(compressed.pipeThrough(new DecompressionStream('gzip')).getReader());
}

/**
 * ReadAll reads a stream by its chunks, because a Response or a Blob would wait for the parser of the page in between.
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader
 * @returns {Promise<Uint8Array>}
 */
async function readAll(reader) {
  /** @type {Uint8Array[]} */
  const chunks = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value);
    size += next.value.length;
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}
