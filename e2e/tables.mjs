// Reads Parquet files with several readers in JavaScript. For each file named on standard input and each reader it prints a line of JSON
// with the number of rows and, per column, the number of NULLs and a sum: of numbers (timestamps in microseconds), of lengths of strings
// and bytes, of numbers of elements of lists and maps. hyparquet also reports false statistics, indexes, bloom filters and sort orders.
//
// Files are read by row groups and by columns, so that they may be larger than the memory of JavaScript. polars, which takes far longer
// than the others for a small file, reads the first file with the same columns, and each file with the argument "all".
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { parquetMetadataAsync, parquetScan, parquetSchema } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { tableFromIPC } from 'apache-arrow'
import { checkColumn, checkGroup } from './tables_layout.mjs'

const require = createRequire(import.meta.url)
const wasm = require('parquet-wasm')
const polars = optional('nodejs-polars') // installed apart from the others, because its lock file names packages that some registries lack

function optional(name) {
  try { return require(name) } catch { return null }
}

// A Sum adds up a column. Numbers are added as such while the result is exact, because that takes a tenth of the time.
class Sum {
  nulls = 0
  large = 0n
  small = 0

  add(v) {
    if (v === null || v === undefined) {
      this.nulls++
      return
    }
    if (typeof v === 'bigint') {
      if (v > 0x7fffffffn || v < -0x7fffffffn) {
        this.large += v
        return
      }
      v = Number(v)
    }
    const n = typeof v === 'number' ? (Number.isSafeInteger(v) ? v : 0) : size(v)
    this.small += n
    if (!Number.isSafeInteger(this.small)) {
      this.large += BigInt(this.small - n) + BigInt(n)
      this.small = 0
    }
  }

  all(values) {
    for (const v of values) this.add(v)
    return this
  }

  toJSON() { return { nulls: this.nulls, sum: (this.large + BigInt(this.small)).toString() } }
}

// size returns the contribution to the sum of its column of a value that is not a number.
function size(v) {
  if (typeof v === 'string') return Buffer.byteLength(v)
  if (typeof v === 'boolean') return v ? 1 : 0
  return v.length ?? v.size ?? Object.keys(v).length
}

// hyparquet is a reader in JavaScript alone. It reads each column by its offset index.
async function hyparquet(file, metadata) {
  const parsers = { timestampFromMicroseconds: n => n, dateFromDays: n => n }
  const scan = await parquetScan({ file, metadata, compressors, utf8: false, parsers })
  const columns = {}, wrong = []
  for (const c of parquetSchema(metadata).children) columns[c.element.name] = new Sum()
  let from = 0
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows)
    checkGroup(group, wrong)
    for (const column of Object.keys(columns)) {
      const values = await scan.readColumn({ column, rowStart: from, rowEnd: from + rows })
      if (values.length !== rows) throw new Error(`${values.length} values of column ${column} in ${rows} rows`)
      columns[column].all(values)
      checkColumn(file, group, column, values, wrong)
    }
    from += rows
  }
  return { rows: from, columns, wrong }
}

// parquet-wasm is the reader of arrow-rs.
async function arrow(file, metadata) {
  const bytes = new Uint8Array(file)
  const columns = {}
  let rows = 0
  const groups = metadata.row_groups.length > 1 ? metadata.row_groups.map((_, i) => ({ rowGroups: [i] })) : [undefined]
  for (const options of groups) {
    const table = tableFromIPC(wasm.readParquet(bytes, options).intoIPCStream())
    rows += table.numRows
    for (const field of table.schema.fields) {
      const vector = table.getChild(field.name)
      columns[field.name] ??= new Sum()
      if (/^(Timestamp|Int64|Date)/.test(field.type)) columns[field.name].all(stored(vector))
      else if (/^(List|Map)/.test(field.type)) columns[field.name].all(lengths(vector))
      else if (/^(Binary|Utf8)/.test(field.type)) columns[field.name].all(lengths(vector))
      else columns[field.name].all(vector)
    }
  }
  return { rows, columns }
}

// stored yields the values of a column without conversion, because a vector rounds timestamps to milliseconds.
function* stored(vector) {
  for (const part of vector.data) {
    for (let i = 0; i < part.length; i++) yield part.getValid(i) ? part.values[i] : null
  }
}

// lengths yields the lengths of strings in bytes, and the numbers of elements of lists and maps.
function* lengths(vector) {
  for (const part of vector.data) {
    for (let i = 0; i < part.length; i++) yield part.getValid(i) ? part.valueOffsets[i + 1] - part.valueOffsets[i] : null
  }
}

const slice = 100_000 // rows of polars at a time

// polars is the reader of polars, which is not that of arrow-rs. A query takes milliseconds, so one converts all columns. polars has no value
// in JavaScript for bytes, and rounds 64-bit numbers: they are converted to strings.
async function pl(file, metadata, name) {
  const columns = {}, long = [], other = []
  for (const { element: { name, type, converted_type: converted } } of parquetSchema(metadata).children) {
    if (type === 'BYTE_ARRAY' && !converted) continue
    columns[name] = new Sum()
    if (type === 'INT64' || converted === 'DATE') long.push(name)
    else other.push(name)
  }
  const frame = polars.readParquet(name)
  for (const [i, column] of frame.columns.entries()) {
    columns[column] ??= { nulls: frame.nullCount().row(0)[i], sum: null }
  }
  for (let at = 0; at < frame.height; at += slice) {
    const part = frame.height > slice ? frame.slice(at, slice) : frame
    for (const series of other.length > 0 ? part.select(...other).getColumns() : []) columns[series.name].all(series.toArray())
    if (long.length === 0) continue
    for (const series of part.select(polars.col(long).cast(polars.Int64).cast(polars.Utf8)).getColumns()) {
      columns[series.name].all(series.toArray().map(v => v === null ? null : BigInt(v)))
    }
  }
  return { rows: frame.height, columns }
}

const seen = new Set()
// isNew reports whether no earlier file had the same columns.
function isNew(metadata) {
  const columns = JSON.stringify(metadata.schema)
  return !seen.has(columns) && seen.add(columns)
}

const everything = process.argv[2] === 'all'
for await (const name of createInterface({ input: process.stdin })) {
  const data = fs.readFileSync(name)
  const file = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
  for (const [reader, read] of Object.entries({ hyparquet, 'arrow-rs': arrow, ...(polars && { polars: pl }) })) {
    let found
    try {
      const metadata = await parquetMetadataAsync(file)
      if (reader === 'polars' && !everything && !isNew(metadata)) continue
      found = await read(file, metadata, name)
    } catch (err) { found = { error: String(err) } }
    console.log(JSON.stringify({ file: name, reader, ...found }))
  }
}
