// Compares the metadata of a Parquet file with its values: bounds and numbers of NULLs of pages and column chunks, bloom filters
// and the order of rows. A reader that skips parts of a file depends on them, and does not report errors in them.
import { hashParquetValue, readBloomFilter, sbbfContains } from 'hyparquet/src/bloom.js'
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js'

const ids = new Set(['trace_id', 'span_id']) // columns with bloom filters

// checkGroup checks that each column of a row group has what readers need to skip pages and row groups.
export function checkGroup(group, wrong) {
  for (const { meta_data: meta, ...chunk } of group.columns) {
    const name = meta.path_in_schema.join('.')
    if (!chunk.column_index_offset || !chunk.offset_index_offset) wrong.push(`column ${name} has no page index`)
    if (meta.statistics?.null_count === undefined) wrong.push(`column ${name} has no statistics`)
    if (!ids.has(name) && meta.bloom_filter_offset) wrong.push(`column ${name}: a bloom filter that is not promised`)
  }
}

// checkColumn checks the metadata of a column of a row group against its values. Those of lists and maps have bounds of elements, which
// are not checked.
export function checkColumn(file, group, column, values, wrong) {
  const at = group.columns.findIndex(c => c.meta_data.path_in_schema.length === 1 && c.meta_data.path_in_schema[0] === column)
  if (at < 0) return
  const report = what => wrong.push(`column ${column}: ${what}`)
  const chunk = group.columns[at], meta = chunk.meta_data
  checkPages(pagesOf(file, chunk, values.length), values, meta.type, report)
  const { null_count: nulls } = meta.statistics ?? {}
  const found = values.reduce((n, v) => n + isNull(v), 0)
  if (nulls !== undefined && Number(nulls) !== found) report(`${nulls} NULLs in the statistics, ${found} in the column`)
  if (meta.bloom_filter_offset) checkBloom(file, meta, values, report)
  else if (ids.has(column) && found < values.length) report('bloom filter is missing')
  const [sorting] = group.sorting_columns ?? []
  if (sorting?.column_idx === at) checkSorted(values, sorting, report)
}

const isNull = v => v === null || v === undefined ? 1 : 0

// pagesOf returns the pages of a column chunk as its indexes describe them.
function pagesOf(file, chunk, rows) {
  const index = thrift(file, chunk.column_index_offset, chunk.column_index_length)
  const { field_1: locations } = thrift(file, chunk.offset_index_offset, chunk.offset_index_length)
  return locations.map((page, i) => ({
    from: Number(page.field_3), to: i + 1 < locations.length ? Number(locations[i + 1].field_3) : rows,
    empty: index.field_1[i], min: index.field_2[i], max: index.field_3[i], nulls: index.field_5?.[i],
  }))
}

function thrift(file, offset, length) {
  return deserializeTCompactProtocol({ view: new DataView(file, Number(offset), length), offset: 0 })
}

function checkPages(pages, values, type, report) {
  for (const [i, page] of pages.entries()) {
    const [min, max] = page.empty ? [] : [bound(page.min, type), bound(page.max, type)]
    let nulls = 0
    for (let row = page.from; row < page.to; row++) {
      const v = values[row]
      if (isNull(v)) nulls++
      else if (page.empty) return report(`page ${i} is said to have no value, row ${row} has ${v}`)
      else if (below(v, min) || below(max, v)) return report(`page ${i} is said to be from ${min} to ${max}, row ${row} is ${v}`)
    }
    if (page.nulls !== undefined && Number(page.nulls) !== nulls) return report(`page ${i} is said to have ${page.nulls} NULLs and has ${nulls}`)
  }
}

// bound returns a smallest or largest value as it is stored.
function bound(bytes, type) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (type) {
    case 'BOOLEAN': return view.getUint8(0) !== 0
    case 'INT32': return view.getInt32(0, true)
    case 'INT64': return view.getBigInt64(0, true)
    case 'DOUBLE': return view.getFloat64(0, true)
    case 'BYTE_ARRAY': return Buffer.from(bytes)
  }
  throw new Error(`bounds of type ${type}`)
}

// below compares texts by their bytes, as the specification does. NaN is below nothing.
function below(a, b) {
  if (typeof a === 'object' || typeof b === 'object') return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
  return a < b
}

function checkBloom(file, meta, values, report) {
  const from = Number(meta.bloom_filter_offset)
  const view = new DataView(file, from, meta.bloom_filter_length ?? file.byteLength - from)
  const filter = readBloomFilter({ view, offset: 0 })
  if (!filter) return report('a bloom filter of an unknown kind')
  for (const v of new Set(values)) {
    if (isNull(v)) continue
    const hash = hashParquetValue(v, { type: 'BYTE_ARRAY', converted_type: 'UTF8' })
    if (hash === undefined) return report(`no hash of ${v}`)
    if (!sbbfContains(filter.blocks ?? filter, hash)) return report(`the bloom filter lacks ${v}`)
  }
}

function checkSorted(values, { descending }, report) {
  for (let row = 1; row < values.length; row++) {
    const [a, b] = descending ? [values[row], values[row - 1]] : [values[row - 1], values[row]]
    if (b < a) return report(`rows are not sorted at row ${row} of the row group`)
  }
}
