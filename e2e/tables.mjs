// What readers of Parquet in JavaScript find in files: for each file named on standard input and each reader one line of JSON with the number
// of rows and, per column, the number of NULLs and a sum: of numbers (timestamps in microseconds), of lengths of texts and bytes, of numbers of
// elements of lists and maps.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { tableFromIPC } from 'apache-arrow'

const require = createRequire(import.meta.url)
const wasm = require('parquet-wasm')
const polars = optional('nodejs-polars') // installed apart from the others, because its lock file names packages that some registries lack

function optional(name) {
  try { return require(name) } catch { return null }
}

const utf8 = new TextEncoder()

// weigh returns what a value adds to the sum of its column.
function weigh(v) {
  switch (typeof v) {
    case 'bigint': return v
    case 'number': return Number.isSafeInteger(v) ? BigInt(v) : 0n
    case 'boolean': return v ? 1n : 0n
    case 'string': return BigInt(utf8.encode(v).length)
  }
  if (v instanceof Date) return BigInt(v.getTime()) * 1000n
  if (v instanceof Uint8Array) return BigInt(v.length)
  if (v instanceof Map) return BigInt(v.size)
  if (Array.isArray(v)) return BigInt(v.length)
  if (typeof v.length === 'number') return BigInt(v.length)
  if (typeof v.size === 'number') return BigInt(v.size)
  return BigInt(Object.keys(v).length)
}

function column(values) {
  let nulls = 0, sum = 0n
  for (const v of values) {
    if (v === null || v === undefined) nulls++
    else sum += weigh(v)
  }
  return { nulls, sum: sum.toString() }
}

// hyparquet is a reader in JavaScript alone.
async function hyparquet(data) {
  const file = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
  const micros = { timestampFromMicroseconds: n => n }
  const rows = await parquetReadObjects({ file, compressors, utf8: false, parsers: micros })
  const columns = {}
  for (const name of Object.keys(rows[0] ?? {})) columns[name] = column(rows.map(r => r[name]))
  return { rows: rows.length, columns }
}

// binary returns the names of the columns that hold bytes.
async function binary(data) {
  const { schema } = await parquetMetadataAsync(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength))
  return new Set(schema.filter(e => e.type === 'BYTE_ARRAY' && !e.converted_type).map(e => e.name))
}

// parquet-wasm is the reader of arrow-rs.
async function arrow(data) {
  const table = tableFromIPC(wasm.readParquet(new Uint8Array(data)).intoIPCStream())
  const columns = {}
  for (const field of table.schema.fields) {
    const vector = table.getChild(field.name)
    columns[field.name] = column(String(field.type).startsWith('Timestamp') ? micros(vector) : vector)
  }
  return { rows: table.numRows, columns }
}

// micros yields the values of a column of timestamps, which the vector would round to milliseconds.
function* micros(vector) {
  for (const part of vector.data) {
    for (let i = 0; i < part.length; i++) yield part.getValid(i) ? part.values[i] : null
  }
}

// exact returns the values of a series of polars, whose numbers in JavaScript have 53 bits.
function exact(series) {
  const type = String(series.dtype)
  if (!/Int64|Datetime/.test(type) || /List|Struct/.test(type)) return series.toArray()
  return series.cast(polars.Int64).cast(polars.Utf8).toArray().map(v => v === null ? null : BigInt(v))
}

// polars is the reader of polars, which is not that of arrow-rs.
async function pl(data, name) {
  const bytes = await binary(data) // polars has no value in JavaScript for them
  const frame = polars.readParquet(name)
  const columns = {}
  for (const c of frame.columns) {
    const series = frame.getColumn(c)
    columns[c] = bytes.has(c) ? { nulls: series.nullCount(), sum: null } : column(exact(series))
  }
  return { rows: frame.height, columns }
}

for await (const name of createInterface({ input: process.stdin })) {
  const data = fs.readFileSync(name)
  for (const [reader, read] of Object.entries({ hyparquet, arrow, ...(polars && { polars: pl }) })) {
    let found
    try { found = await read(data, name) } catch (err) { found = { error: String(err) } }
    console.log(JSON.stringify({ file: name, reader, ...found }))
  }
}
