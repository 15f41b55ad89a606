// Reads the current snapshots of Iceberg tables with icebird, and prints a line of JSON for each: rows, and per column the number of
// values and the sum of the integers modulo 2^64.
//
//   node icebird.mjs METADATA.json...
import { open, readFile } from 'node:fs/promises'
import { inflateRawSync } from 'node:zlib'
import { icebergRead } from 'icebird'

// icebird reads over HTTP; the tables have paths. It cannot decompress most Avro files, whose compressed blocks have no header: it
// gets them without compression.
globalThis.fetch = async (name, init) => {
  const range = /bytes=(\d+)-(\d+)/.exec(new Headers(init?.headers).get('Range') ?? '')
  if (!range) {
    const body = await readFile(name)
    return new Response(name.endsWith('.avro') ? inflated(body) : body, { status: 200 })
  }
  const from = Number(range[1])
  const body = Buffer.alloc(Number(range[2]) + 1 - from)
  const file = await open(name)
  await file.read(body, 0, body.length, from)
  await file.close()
  return new Response(body, { status: 206 })
}

// inflated returns an Avro file without compression.
function inflated(file) {
  let at = 4
  const long = () => {
    let n = 0n
    for (let shift = 0n; ; shift += 7n) {
      n |= BigInt(file[at] & 127) << shift
      if (file[at++] < 128) return Number(n >> 1n ^ -(n & 1n))
    }
  }
  const bytes = () => {
    const n = long()
    return file.subarray(at, at += n)
  }
  const encoded = n => {
    const out = []
    for (n *= 2; n > 127; n = Math.floor(n / 128)) out.push(n % 128 + 128)
    return Buffer.from([...out, n])
  }
  const withLength = b => [encoded(b.length), b]
  let codec = 'null'
  const out = [file.subarray(0, 4)]
  for (let count = long(); count !== 0; count = long()) {
    if (count < 0) { long(); count = -count }
    out.push(encoded(count))
    for (; count > 0; count--) {
      const key = bytes()
      let value = bytes()
      if (key.toString() === 'avro.codec') {
        codec = value.toString()
        value = Buffer.from('null')
      }
      out.push(...withLength(key), ...withLength(value))
    }
  }
  const sync = file.subarray(at, at += 16)
  out.push(encoded(0), sync)
  while (at < file.length) {
    out.push(encoded(long()))
    const block = bytes()
    out.push(...withLength(codec === 'deflate' ? inflateRawSync(block) : block), sync)
    at += 16
  }
  return Buffer.concat(out)
}

for (const name of process.argv.slice(2)) {
  const metadata = JSON.parse(await readFile(name, 'utf8'))
  const rows = await icebergRead({ tableUrl: metadata.location, metadata })
  const columns = {}
  for (const row of rows) {
    for (const [key, value] of Object.entries(row)) {
      if (value === null || value === undefined) continue
      const c = columns[key] ??= { values: 0, sum: 0n }
      c.values++
      if (typeof value === 'bigint' || Number.isInteger(value)) c.sum = BigInt.asIntN(64, c.sum + BigInt(value))
    }
  }
  const text = (_, v) => typeof v === 'bigint' ? v.toString() : v
  console.log(JSON.stringify({ rows: rows.length, columns }, text))
}
